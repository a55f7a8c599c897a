//! The C types of FMI 3.0 that are not numbers. `fmi3Boolean` and `fmi3Clock` are C's `bool`; a foreign one is read as `u8`,
//! because a Rust `bool` must be 0 or 1.

use std::ffi::{c_char, c_void};

/// `fmi3LogMessageCallback`: environment, status, category, message.
pub type LogMessage = unsafe extern "C" fn(*mut c_void, i32, *const c_char, *const c_char);

/// `fmi3IntervalQualifier`: what `fmi3GetIntervalDecimal` says of a clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum IntervalQualifier {
    NotYetKnown = 0,
    Unchanged = 1,
    Changed = 2,
}

impl IntervalQualifier {
    /// What foreign code wrote; a number that FMI does not know says nothing.
    pub fn from_c(value: i32) -> IntervalQualifier {
        match value {
            1 => IntervalQualifier::Unchanged,
            2 => IntervalQualifier::Changed,
            _ => IntervalQualifier::NotYetKnown,
        }
    }
}
