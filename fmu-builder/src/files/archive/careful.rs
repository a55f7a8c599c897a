//! A file that takes what is written even after it failed.
//!
//! The zip writer finishes its archive when it is dropped, and prints a line of its own if that does not
//! succeed. So a full disk is remembered here, and from then on the writer is told that all is well: its
//! writes count, its places are those that it expects.

use std::io::{self, Seek, SeekFrom, Write};

pub struct Careful<W> {
    file: W,
    failed: Option<io::Error>,
    /// Where the writer believes to be, and how long it believes the file to be.
    at: u64,
    end: u64,
}

impl<W: Write + Seek> Careful<W> {
    /// `file` is empty.
    pub fn new(file: W) -> Careful<W> {
        Careful { file, failed: None, at: 0, end: 0 }
    }

    /// Write what is left, and tell what went wrong first.
    pub fn finish(mut self) -> io::Result<()> {
        self.failed.map_or_else(|| self.file.flush(), Err)
    }

    /// Do it, unless something failed before; interruptions are the caller's.
    fn attempt<T>(&mut self, otherwise: T, action: impl FnOnce(&mut W) -> io::Result<T>) -> io::Result<T> {
        if self.failed.is_some() {
            return Ok(otherwise);
        }
        match action(&mut self.file) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => {
                self.failed = Some(error);
                Ok(otherwise)
            }
            other => other,
        }
    }
}

impl<W: Write + Seek> Write for Careful<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let count = self.attempt(bytes.len(), |file| file.write(bytes))?;
        self.at += count as u64;
        self.end = self.end.max(self.at);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.attempt((), |file| file.flush())
    }
}

impl<W: Write + Seek> Seek for Careful<W> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let place = match to {
            SeekFrom::Start(place) => Some(place),
            SeekFrom::Current(by) => self.at.checked_add_signed(by),
            SeekFrom::End(by) => self.end.checked_add_signed(by),
        };
        let place = place.ok_or(io::ErrorKind::InvalidInput)?;
        self.at = self.attempt(place, |file| file.seek(SeekFrom::Start(place)))?;
        Ok(self.at)
    }
}
