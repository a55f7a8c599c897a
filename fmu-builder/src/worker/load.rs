//! Load a foreign FMU into the worker: the one place of the builder where foreign code begins to run.
#![allow(unsafe_code)]

use fmu_runtime::fmi::{Fmu2, Host, Instantiation, LoadError, Log};
use std::path::Path;
use std::sync::Arc;

/// Instantiate the FMU of a library; its messages are collected.
pub fn load(library: &Path, log: &Arc<Log>, request: &Instantiation) -> Result<Fmu2, LoadError> {
    // SAFETY: the user asked for this FMU to be run, and it runs in a process of its own, which answers one
    // request and ends: what it destroys is the worker.
    unsafe { Fmu2::load(library, Host::Collect(log.clone()), request) }
}
