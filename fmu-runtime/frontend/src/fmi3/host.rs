//! The importer of an FMU of FMI 3.0: a logger that takes a finished message.
#![allow(unsafe_code)]

use fmu_runtime::component::Importer;
use fmu_runtime::status::Status;
use fmu_runtime::version::Version;
use std::ffi::{CStr, c_char, c_void};
use std::fmt;

pub use fmi3_types::LogMessage;

#[derive(Clone, Copy)]
pub struct Logger {
    pub environment: *mut c_void,
    pub log_message: Option<LogMessage>,
}

// SAFETY: the environment is the host's and is only handed back to it, by the thread that calls the FMU.
unsafe impl Send for Logger {}
// SAFETY: likewise.
unsafe impl Sync for Logger {}

impl Importer for Logger {
    fn version(&self) -> Version {
        Version::Three
    }

    /// Formats into a buffer on the stack, because an error inside a step must not allocate either. A message that is too
    /// long is cut.
    fn log(&self, _instance: &CStr, status: Status, category: &CStr, message: fmt::Arguments) {
        let Some(log_message) = self.log_message else { return };
        let mut text = Text { bytes: [0; SIZE], used: 0 };
        let _ = fmt::write(&mut text, message);
        // SAFETY: the host's logger is called as FMI prescribes, with C strings that outlive the call.
        unsafe {
            log_message(
                self.environment,
                status as i32,
                category.as_ptr(),
                text.bytes.as_ptr().cast::<c_char>(),
            )
        }
    }
}

/// Bytes of the longest message, with its final zero.
const SIZE: usize = 1024;

struct Text {
    bytes: [u8; SIZE],
    used: usize,
}

impl fmt::Write for Text {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars().map(|character| if character == '\0' { ' ' } else { character }) {
            let end = self.used + character.len_utf8();
            if end >= SIZE {
                return Err(fmt::Error); // full: the rest is cut
            }
            character.encode_utf8(&mut self.bytes[self.used..end]);
            self.used = end;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    unsafe extern "C" fn keep(
        environment: *mut c_void,
        status: i32,
        _: *const c_char,
        message: *const c_char,
    ) {
        // SAFETY: the environment is the test's own, the message a C string.
        let (said, message) = unsafe { (&mut *environment.cast::<(i32, String)>(), CStr::from_ptr(message)) };
        *said = (status, message.to_string_lossy().into_owned());
    }

    /// As it is, signs of formats included; what is too long is cut between two characters.
    #[test]
    fn the_message_is_handed_on() {
        let mut said = (0, String::new());
        let logger = Logger { environment: (&raw mut said).cast(), log_message: Some(keep) };
        logger.log(c"i", Status::Warning, c"logStatusWarning", format_args!("5 % of {}\0", "x"));
        assert_eq!(said, (1, "5 % of x ".to_string()));
        logger.log(c"i", Status::Error, c"logStatusError", format_args!("{}", "ä".repeat(2000)));
        assert_eq!(said, (3, "ä".repeat((SIZE - 1) / 2)));
    }
}
