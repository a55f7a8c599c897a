//! What a worker may take from the machine, and where it may write. The worker applies it to itself before it
//! loads the FMU's library.
//!
//! It protects from accidents and from clumsy models, not from an attacker: the FMU's code can read what the user can, use the
//! network, and do to the worker whatever it likes.
//!
//! - Memory: a limit on the address space. A model that leaks gets no more; it does not take the machine with it.
//! - Files (Linux with Landlock): nothing can be written, made or removed but in the worker's own folder and in the unpacked FMU's `resources`.
//!   So the library cannot be swapped between two runs, nor can any of the user's files be touched.
//! - Signals (Linux 6.12 and later): none can be sent to processes that the worker did not start.

use super::protocol::path;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Confinement {
    /// Bytes of address space. None: no limit.
    pub memory: Option<u64>,
    /// Folders that may be written. None: the whole file system, and signals to anybody.
    pub writable: Option<Vec<Folder>>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Folder(#[serde(with = "path")] pub PathBuf);

impl Confinement {
    /// For this process, from now on. What the system cannot do is left out.
    pub fn apply(&self) -> Result<(), String> {
        limit(self.memory);
        match &self.writable {
            Some(folders) => {
                restrict(folders).map_err(|error| format!("the sandbox cannot be made: {error}"))
            }
            None => Ok(()),
        }
    }
}

/// The memory of this machine, in bytes: a model that wants more would only make it swap.
pub fn machine_memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

#[cfg(unix)]
fn limit(memory: Option<u64>) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    // A crash needs no dump of gigabytes.
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    if let Some(wanted) = memory {
        let most = getrlimit(Resource::As).maximum.map_or(wanted, |most| most.min(wanted));
        let _ = setrlimit(Resource::As, Rlimit { current: Some(most), maximum: Some(most) });
    }
}

#[cfg(not(unix))]
fn limit(_: Option<u64>) {}

#[cfg(target_os = "linux")]
fn restrict(folders: &[Folder]) -> Result<(), landlock::RulesetError> {
    use landlock::{
        ABI, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr, Scope,
        path_beneath_rules,
    };
    let write = AccessFs::from_write(ABI::V6);
    let devices =
        ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/shm"];
    let folders = folders.iter().map(|folder| folder.0.as_path());
    Ruleset::default()
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(write)?
        .scope(Scope::Signal)?
        .create()?
        .add_rules(path_beneath_rules(devices, write))?
        .add_rules(path_beneath_rules(folders, write))?
        .restrict_self()?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn restrict(_: &[Folder]) -> Result<(), std::convert::Infallible> {
    Ok(())
}
