//! What must not stay behind when a signal ends this process: scratch folders, half-written outputs, workers.
//!
//! Values clean up after themselves when they are dropped; a signal drops nothing. So each of them is also
//! entered here as long as it lives, and Ctrl-C, TERM and HUP clear away what is entered, then end the
//! process as they would have done.
//!
//! KILL and a power cut leave no time for that: what they leave is recognised and removed by a later run, see
//! `scratch` and `outputs`.

use crate::system;
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Something that outlives a process which is killed.
#[derive(Debug, Clone)]
pub enum Leftover {
    Folder(PathBuf),
    File(PathBuf),
    /// A worker's process group, by the number of its leader.
    Group(u32),
}

#[derive(Default)]
pub struct Register {
    next: u64,
    entries: BTreeMap<u64, Leftover>,
}

static REGISTER: Mutex<Register> = Mutex::new(Register { next: 0, entries: BTreeMap::new() });

/// Keep signals out while files are renamed, or for the rest of the process's life once a signal has come:
/// whoever asks then waits for the end.
pub fn hold() -> MutexGuard<'static, Register> {
    REGISTER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// An entry of the register, until it is dropped.
#[derive(Debug)]
pub struct Entered(u64);

pub fn enter(leftover: Leftover) -> Entered {
    let mut register = hold();
    let number = register.next;
    register.next += 1;
    register.entries.insert(number, leftover);
    Entered(number)
}

impl Drop for Entered {
    fn drop(&mut self) {
        hold().entries.remove(&self.0);
    }
}

impl Register {
    fn clear_away(&self) {
        // Workers first: they write into the folders.
        for leftover in self.entries.values() {
            if let Leftover::Group(leader) = leftover {
                system::kill_group(*leader);
            }
        }
        for leftover in self.entries.values() {
            match leftover {
                Leftover::Group(_) => {}
                Leftover::File(path) => {
                    let _ = fs::remove_file(path);
                }
                // The main thread may be unpacking into it: what it adds meanwhile is removed at the next
                // attempt.
                Leftover::Folder(path) => {
                    let _ = (0..50).any(|_| {
                        let gone = fs::remove_dir_all(path).is_ok() || !path.exists();
                        if !gone {
                            std::thread::sleep(std::time::Duration::from_millis(5));
                        }
                        gone
                    });
                }
            }
        }
    }
}

/// From now on a signal that ends this process clears away first. For executables, not for libraries.
pub fn on_signals() {
    system::before_a_signal_ends_us(|| {
        let register = hold();
        register.clear_away();
        std::mem::forget(register); // nothing is entered or renamed any more
    });
}
