//! `fmi2CallbackFunctions`, and a message through its logger.
#![allow(unsafe_code)]

use crate::status::Status;
use std::ffi::{CStr, c_char, c_void};
use std::fmt;

/// `fmi2CallbackLogger`: environment, instance name, status, category, format, what the format names.
pub type Logger = unsafe extern "C" fn(*mut c_void, *const c_char, i32, *const c_char, *const c_char, ...);

/// `fmi2CallbackFunctions`: how an FMU reaches its host.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Callbacks {
    // Spelt out for cbindgen, which does not see through `Option<Logger>`.
    pub logger:
        Option<unsafe extern "C" fn(*mut c_void, *const c_char, i32, *const c_char, *const c_char, ...)>,
    pub allocate_memory: Option<unsafe extern "C" fn(usize, usize) -> *mut c_void>,
    pub free_memory: Option<unsafe extern "C" fn(*mut c_void)>,
    pub step_finished: Option<unsafe extern "C" fn(*mut c_void, i32)>,
    pub environment: *mut c_void,
}

impl Callbacks {
    /// A host that gave none.
    pub const NONE: Callbacks = Callbacks {
        logger: None,
        allocate_memory: None,
        free_memory: None,
        step_finished: None,
        environment: std::ptr::null_mut(),
    };

    /// Hand a message to the host, as a format without arguments: hosts written in languages that cannot take
    /// variable arguments show the format itself, so the text must be in it. Each `%` is doubled.
    ///
    /// Formats into a buffer on the stack, because an error inside a step must not allocate either. A message
    /// that is too long is cut.
    pub fn log(&self, instance: &CStr, status: Status, category: &CStr, message: fmt::Arguments) {
        let Some(logger) = self.logger else { return };
        let mut format = Format { bytes: [0; SIZE], used: 0 };
        let _ = fmt::write(&mut format, message);
        // SAFETY: the host's logger is called as FMI prescribes: C strings that outlive the call, and no
        // argument, which the format does not ask for either.
        unsafe {
            logger(
                self.environment,
                instance.as_ptr(),
                status as i32,
                category.as_ptr(),
                format.bytes.as_ptr().cast::<c_char>(),
            );
        }
    }
}

/// Bytes of the longest message, with its final zero.
const SIZE: usize = 1024;

/// A format string that prints a text as it is.
struct Format {
    bytes: [u8; SIZE],
    used: usize,
}

impl fmt::Write for Format {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            let mut utf8 = [0; 4];
            let written: &str = match character {
                '%' => "%%",
                '\0' => " ",
                _ => character.encode_utf8(&mut utf8),
            };
            let end = self.used + written.len();
            if end >= SIZE {
                return Err(fmt::Error); // full: the rest is cut
            }
            self.bytes[self.used..end].copy_from_slice(written.as_bytes());
            self.used = end;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A logger that takes no variable arguments, as hosts in Java, Python or Rust have.
    unsafe extern "C" fn plain(
        environment: *mut c_void,
        _: *const c_char,
        _: i32,
        _: *const c_char,
        format: *const c_char,
    ) {
        // SAFETY: the environment is the test's own string.
        let said = unsafe { &mut *environment.cast::<String>() };
        // SAFETY: a C string, by FMI's contract.
        said.push_str(&unsafe { CStr::from_ptr(format) }.to_string_lossy());
    }

    fn said(message: fmt::Arguments) -> String {
        let mut said = String::new();
        // SAFETY: on the platforms of these tests the same calling convention.
        let logger = unsafe { std::mem::transmute::<*const (), Logger>(plain as *const ()) };
        let environment = (&raw mut said).cast();
        let callbacks = Callbacks { logger: Some(logger), environment, ..Callbacks::NONE };
        callbacks.log(c"i", Status::Error, c"logStatusError", message);
        said
    }

    #[test]
    fn the_text_is_in_the_format() {
        assert_eq!(said(format_args!("{} is 5 % of {}", "x", 7)), "x is 5 %% of 7");
        assert_eq!(said(format_args!("%s%n\0")), "%%s%%n ");
    }

    /// Never inside a character, never between the two signs of a doubled one.
    #[test]
    fn a_long_message_is_cut() {
        for (repeated, written) in [("ä", "ä"), ("%", "%%"), ("x%", "x%%"), ("世", "世")] {
            let said = said(format_args!("{}", repeated.repeat(2000)));
            assert_eq!(said, written.repeat(2000)[..said.len()]);
            assert!(said.len() > SIZE - 5 && said.len() < SIZE, "{}", said.len());
            assert_eq!(said.matches('%').count() % 2, 0);
        }
    }
}
