//! What a worker may take from the machine, and where it may write. The worker applies it to itself before it
//! loads the FMU's library.
//!
//! It protects from accidents and from clumsy models, not from an attacker: the FMU's code can read what the
//! user can, send datagrams, and do to the worker whatever it likes.
//!
//! - Memory: a limit on the address space. A model that leaks gets no more; it does not take the machine with
//!   it.
//! - Files (Linux with Landlock): nothing can be written, made or removed but in the worker's own folder and
//!   in the unpacked FMU's `resources`. So the library cannot be swapped between two runs, nor can any of the
//!   user's files be touched.
//! - Network (Linux 6.7 and later): no TCP connection.
//! - Signals (Linux 6.12 and later): none can be sent to processes that the worker did not start.

use super::protocol::path;
use crate::system;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Confinement {
    /// Bytes of address space. None: no limit.
    pub memory: Option<u64>,
    /// Folders that may be written. None: the whole file system, the network, and signals to anybody.
    pub writable: Option<Vec<Folder>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Folder(#[serde(with = "path")] pub PathBuf);

impl Confinement {
    /// For this process, from now on. What the system cannot do is left out.
    pub fn apply(&self) -> Result<(), String> {
        system::limit_memory(self.memory);
        let Some(folders) = &self.writable else { return Ok(()) };
        let folders: Vec<PathBuf> = folders.iter().map(|folder| folder.0.clone()).collect();
        system::write_only_in(&folders).map_err(|error| format!("the sandbox cannot be made: {error}"))
    }
}
