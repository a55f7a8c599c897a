//! Read a file that somebody named, whole and within bounds.
//!
//! What is named need not be a file: `<(simulate)` and `/dev/stdin` are pipes, `/dev/zero` has no end, and a
//! pipe may have nobody at its other end. A pipe with a writer is read like a file; nobody waits for ever,
//! and nothing endless is taken in.

use crate::system;
use std::io::{self, ErrorKind, Read};
use std::path::Path;
use std::time::{Duration, Instant};

/// How long and how much is waited for.
pub struct Patience {
    /// Bytes.
    pub most: u64,
    /// For somebody to open the other end of a pipe: a shell starts both sides at once.
    pub writer: Duration,
    /// For the next byte, of somebody who has it open.
    pub silence: Duration,
}

/// Why it was not read. `Display` continues "FILE cannot be read: ".
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("it is a folder; name a file in it")]
    IsFolder,
    #[error("it has more than {0} bytes; give a shorter piece of it")]
    TooLong(u64),
    #[error("it is a pipe, and nobody wrote into it within {} s; start what writes into it, or give a file", .0.as_secs())]
    NobodyWrites(Duration),
    #[error("it is a pipe or a device, and nothing came out of it for {} s; write its content to a file first", .0.as_secs())]
    Silent(Duration),
}

/// All bytes of `path`.
pub fn read(path: &Path, patience: &Patience) -> Result<Vec<u8>, Unreadable> {
    let mut file = system::open_without_waiting(path)?;
    let about = file.metadata()?;
    if about.is_dir() {
        return Err(Unreadable::IsFolder);
    }
    // Before anything is read: a file may be long and have no content on the disk.
    if about.is_file() && about.len() > patience.most {
        return Err(Unreadable::TooLong(patience.most));
    }
    let is_pipe = system::is_pipe(&about);
    let (mut bytes, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    let mut since = Instant::now();
    loop {
        match file.read(&mut buffer) {
            // The end; of a pipe that nobody opened yet, too.
            Ok(0) if is_pipe && bytes.is_empty() => {
                if since.elapsed() >= patience.writer {
                    return Err(Unreadable::NobodyWrites(patience.writer));
                }
            }
            Ok(0) => return Ok(bytes),
            Ok(count) => {
                bytes.extend_from_slice(&buffer[..count]);
                if bytes.len() as u64 > patience.most {
                    return Err(Unreadable::TooLong(patience.most));
                }
                since = Instant::now();
                continue;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if since.elapsed() >= patience.silence {
                    return Err(Unreadable::Silent(patience.silence));
                }
            }
            Err(error) => return Err(error.into()),
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs::{self, File};
    use std::io::Write;

    const SHORT: Patience =
        Patience { most: 100_000, writer: Duration::from_millis(300), silence: Duration::from_millis(300) };

    fn pipe(folder: &Path) -> std::path::PathBuf {
        let path = folder.join("pipe");
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }

    #[test]
    fn a_pipe_is_read_like_a_file_however_slowly_it_comes() {
        let folder = tempfile::tempdir().unwrap();
        let path = pipe(folder.path());
        let other = path.clone();
        let writer = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(50));
            let mut to = File::options().write(true).open(other).unwrap();
            for part in 0..20 {
                std::thread::sleep(Duration::from_millis(if part % 4 == 0 { 40 } else { 0 }));
                to.write_all(&[part; 1000]).unwrap();
            }
        });
        let patience =
            Patience { writer: Duration::from_secs(60), silence: Duration::from_secs(60), ..SHORT };
        let bytes = read(&path, &patience).unwrap();
        writer.join().unwrap();
        assert_eq!(bytes, (0..20).flat_map(|part| [part; 1000]).collect::<Vec<u8>>());
    }

    #[test]
    fn nobody_waits_for_ever() {
        let folder = tempfile::tempdir().unwrap();
        let path = pipe(folder.path());
        assert!(matches!(read(&path, &SHORT), Err(Unreadable::NobodyWrites(_))));
        let _silent = File::options().read(true).write(true).open(&path).unwrap();
        assert!(matches!(read(&path, &SHORT), Err(Unreadable::Silent(_))));
    }

    #[test]
    fn what_has_no_end_is_refused() {
        assert!(matches!(read(Path::new("/dev/zero"), &SHORT), Err(Unreadable::TooLong(100_000))));
        let folder = tempfile::tempdir().unwrap();
        let sparse = folder.path().join("sparse");
        File::create(&sparse).unwrap().set_len(1 << 40).unwrap();
        assert!(matches!(read(&sparse, &SHORT), Err(Unreadable::TooLong(_))));
        assert_eq!(read(Path::new("/dev/null"), &SHORT).unwrap(), b"");
        assert!(matches!(read(folder.path(), &SHORT), Err(Unreadable::IsFolder)));
        fs::write(&sparse, "text").unwrap();
        assert_eq!(read(&sparse, &SHORT).unwrap(), b"text");
    }
}
