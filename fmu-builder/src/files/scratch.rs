//! A folder of our own in the temporary folder: for the unpacked FMU and the workers.
//!
//! Nobody else may look into it or change what lies there, least of all the library that is about to be
//! loaded. It goes with its value, or with a signal (`cleanup`). After a run that was killed it stays; the
//! next run knows it by its lock, which the system released, and removes it.

use crate::cleanup::{Entered, Leftover, enter};
use crate::error::Error;
use crate::system;
use std::fs::{self, File};
use std::io;
use std::path::Path;
use tempfile::TempDir;

const PREFIX: &str = "fmu-build-";
/// Held locked by its owner.
pub const LOCK: &str = "lock";

#[derive(Debug)]
pub struct Scratch {
    // Dropped in this order: Windows removes no folder with an open file in it.
    _lock: File,
    folder: TempDir,
    _entered: Entered,
}

impl Scratch {
    pub fn new() -> Result<Scratch, Error> {
        Scratch::within(&std::env::temp_dir())
    }

    fn within(parent: &Path) -> Result<Scratch, Error> {
        remove_stale(parent);
        let failed = || Error::io("make a temporary folder in", parent);
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX);
        system::make_private(&mut builder);
        let folder = builder.tempdir_in(parent).map_err(failed())?;
        let entered = enter(Leftover::Folder(folder.path().into()));
        let lock = File::create_new(folder.path().join(LOCK)).map_err(failed())?;
        // Where there are no locks, nothing is ever taken for stale.
        let _ = lock.try_lock();
        Ok(Scratch { folder, _lock: lock, _entered: entered })
    }

    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Remove the folders of runs that were killed. Failures are ignored: they are not ours to mend.
fn remove_stale(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else { return };
    let named = |name: &std::ffi::OsStr| name.as_encoded_bytes().starts_with(PREFIX.as_bytes());
    for entry in entries.flatten().filter(|entry| named(&entry.file_name())) {
        if is_stale(&entry.path()).unwrap_or(false) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

fn is_stale(folder: &Path) -> io::Result<bool> {
    let about = fs::symlink_metadata(folder)?;
    let lock = folder.join(LOCK);
    // A folder without a lock is another program's, or its owner is about to lock it.
    if !about.is_dir() || !system::is_ours(&about) || !fs::symlink_metadata(&lock)?.is_file() {
        return Ok(false);
    }
    crate::outputs::abandoned(&lock)
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::outputs::YOUNG;
    use std::os::unix::fs::PermissionsExt;
    use std::time::SystemTime;

    #[test]
    fn only_its_owner_may_look_into_it() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::within(parent.path()).unwrap();
        assert_eq!(fs::metadata(scratch.path()).unwrap().permissions().mode() & 0o777, 0o700);
        drop(scratch);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    /// Of four folders only the one whose owner is gone is removed.
    #[test]
    fn what_a_killed_run_left_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let at = |name: &str| parent.path().join(name);
        let alive = Scratch::within(parent.path()).unwrap();
        for name in ["fmu-build-killed", "fmu-build-without-lock", "other"] {
            fs::create_dir(at(name)).unwrap();
        }
        for name in ["fmu-build-killed", "other"] {
            let lock = File::create(at(name).join(LOCK)).unwrap();
            lock.set_modified(SystemTime::now() - 2 * YOUNG).unwrap();
        }
        std::os::unix::fs::symlink(at("other"), at("fmu-build-link")).unwrap();
        drop(Scratch::within(parent.path()).unwrap());
        assert!(alive.path().is_dir());
        assert!(!at("fmu-build-killed").exists());
        assert!(["fmu-build-without-lock", "other", "fmu-build-link"].iter().all(|name| at(name).exists()));
    }
}
