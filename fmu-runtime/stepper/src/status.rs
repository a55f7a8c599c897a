//! How a call of the model ended. The order is the order of severity.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// The results may be used.
    Ok,
    /// The model cannot do this here; elsewhere, or later, it may.
    Discard,
    Error,
    /// Nothing may be called any more.
    Fatal,
}

impl Status {
    /// The results of the call may be used.
    #[inline]
    pub fn is_usable(self) -> bool {
        self == Status::Ok
    }
}
