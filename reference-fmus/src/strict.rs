//! A strict judge of the calls that an instance gets, and faults on order.
//!
//! The model `strict` holds its importer to FMI's state machine to the letter. A call that is refused as
//! illegal (out of order, a variable that cannot be set now, a wrong number of states), any call but reading,
//! saved states, reset and freeing after `fmi2Error`, and any call at all after `fmi2Fatal` is a violation:
//! it is logged with [`ILLEGAL`], and from then on every call fails.
//!
//! An instance named `fault FUNCTION STATUS K`, as in `fault fmi2GetDerivatives discard 3`, does nothing at
//! the K-th call of that function but return that status; `twin fault …` is for an instance whose name goes
//! on with `.twin`. One named `null strings` answers each String with NULL and `fmi2OK`, as some tools do for
//! what nobody has set.

use fmi2_types::Status;

/// How the message of a violation begins.
pub const ILLEGAL: &str = "ILLEGAL";

pub struct Strict {
    fault: Option<Fault>,
    state: State,
    /// Strings are answered with NULL.
    pub null_strings: bool,
}

struct Fault {
    function: String,
    status: Status,
    /// Calls of the function until it fails; 0 afterwards.
    calls_left: u32,
}

#[derive(PartialEq)]
enum State {
    Sound,
    Error,
    Fatal,
    Violated,
}

/// What may be called after `fmi2Error`.
const AFTER_ERROR: [&str; 19] = [
    "fmi2SetDebugLogging",
    "fmi2FreeInstance",
    "fmi2Reset",
    "fmi2GetReal",
    "fmi2GetInteger",
    "fmi2GetBoolean",
    "fmi2GetString",
    "fmi2GetFMUstate",
    "fmi2SetFMUstate",
    "fmi2FreeFMUstate",
    "fmi2SerializedFMUstateSize",
    "fmi2SerializeFMUstate",
    "fmi2DeSerializeFMUstate",
    "fmi2GetDirectionalDerivative",
    "fmi2GetDerivatives",
    "fmi2GetEventIndicators",
    "fmi2GetContinuousStates",
    "fmi2GetNominalsOfContinuousStates",
    "fmi2GetStatus",
];

impl Strict {
    /// With the fault that the instance's name orders.
    pub fn new(name: &str) -> Strict {
        // The exported FMU's twin has the same name and more: an order of its own is for it alone.
        let order = match name.strip_suffix(".twin") {
            Some(name) => name.strip_prefix("twin fault "),
            None => name.strip_prefix("fault "),
        };
        let mut words = order.unwrap_or_default().split(' ');
        let mut fault = || {
            let function = words.next()?.to_owned();
            let status = match words.next()? {
                "discard" => Status::Discard,
                "error" => Status::Error,
                "fatal" => Status::Fatal,
                _ => return None,
            };
            Some(Fault { function, status, calls_left: words.next()?.parse().ok()? })
        };
        Strict { fault: fault(), state: State::Sound, null_strings: name == "null strings" }
    }

    /// Before a call: the status to return instead of carrying it out, with a message if it is a violation.
    pub fn before(&mut self, function: &str) -> Option<(Status, Option<String>)> {
        let forbidden = match self.state {
            State::Sound => false,
            State::Error => !AFTER_ERROR.contains(&function),
            State::Fatal => true,
            State::Violated => return Some((Status::Error, None)),
        };
        if forbidden {
            let after = if self.state == State::Fatal { "fmi2Fatal" } else { "fmi2Error" };
            self.state = State::Violated;
            return Some((Status::Error, Some(format!("{ILLEGAL} {function} after {after}"))));
        }
        let fault = self.fault.as_mut().filter(|fault| fault.function == function)?;
        if fault.calls_left == 0 {
            return None;
        }
        fault.calls_left -= 1;
        if fault.calls_left > 0 {
            return None;
        }
        match fault.status {
            Status::Error => self.state = State::Error,
            Status::Fatal => self.state = State::Fatal,
            _ => {}
        }
        Some((fault.status, None))
    }

    /// A call was refused: its message.
    pub fn refused(&mut self, function: &str, why: &str) -> String {
        self.state = State::Violated;
        format!("{ILLEGAL} {function}: {why}")
    }

    /// A reset, or a state from before the error, was carried out.
    pub fn recovered(&mut self, function: &str) {
        if self.state == State::Error && ["fmi2Reset", "fmi2SetFMUstate"].contains(&function) {
            self.state = State::Sound;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_comes_once_and_is_the_end_until_a_reset() {
        let mut strict = Strict::new("fault fmi2SetTime error 2");
        assert_eq!(strict.before("fmi2SetTime"), None);
        assert_eq!(strict.before("fmi2GetReal"), None);
        assert_eq!(strict.before("fmi2SetTime"), Some((Status::Error, None)));
        assert_eq!(strict.before("fmi2GetReal"), None);
        assert_eq!(strict.before("fmi2Reset"), None);
        strict.recovered("fmi2Reset");
        assert_eq!(strict.before("fmi2SetTime"), None);
        let mut strict = Strict::new("fault fmi2SetTime fatal 1");
        assert_eq!(strict.before("fmi2SetTime"), Some((Status::Fatal, None)));
        let said = strict.before("fmi2FreeInstance");
        assert_eq!(said, Some((Status::Error, Some("ILLEGAL fmi2FreeInstance after fmi2Fatal".into()))));
    }
}
