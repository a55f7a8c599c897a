//! The operating system: all that differs between Unix and Windows, with one interface. No other file of the
//! builder asks which one it is.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
pub use unix::*;

#[cfg(windows)]
mod windows;
#[cfg(windows)]
pub use windows::*;
