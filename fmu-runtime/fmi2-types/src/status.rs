//! `fmi2Status`: how a call ended. The order is the order of severity.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(i32)]
pub enum Status {
    Ok = 0,
    Warning = 1,
    Discard = 2,
    Error = 3,
    Fatal = 4,
    Pending = 5,
}

impl Status {
    /// What foreign code returned; a number that FMI does not know counts as an error.
    pub fn from_c(value: i32) -> Status {
        match value {
            0 => Status::Ok,
            1 => Status::Warning,
            2 => Status::Discard,
            4 => Status::Fatal,
            5 => Status::Pending,
            _ => Status::Error,
        }
    }

    /// The results of the call may be used.
    pub fn is_usable(self) -> bool {
        self <= Status::Warning
    }

    pub fn name(self) -> &'static str {
        match self {
            Status::Ok => "fmi2OK",
            Status::Warning => "fmi2Warning",
            Status::Discard => "fmi2Discard",
            Status::Error => "fmi2Error",
            Status::Fatal => "fmi2Fatal",
            Status::Pending => "fmi2Pending",
        }
    }
}
