//! The lab: the boundary between the builder and foreign code, which runs in a child process.
//!
//! | file | idea |
//! |---|---|
//! | `mod` | asks one worker after the other, shows progress, keeps the limits |
//! | `process` | starts a worker, waits for its answer, ends it with everything that it started |
//! | `confine` | what a worker may take and where it may write |
//! | `protocol` | what the two processes say to each other, and how it is encoded |
//!
//! What the worker does with a request is in `worker/`, beside this folder.

pub mod confine;
pub mod process;
pub mod protocol;

use crate::error::Error;
use crate::options::Limits;
use crate::progress::Progress;
use crate::scratch::Scratch;
use crate::worker::{Answer, Bench, Measured, Request, Simulate, Simulated, Studied, Study};
use process::{Process, WorkerError};
pub use protocol::Reporter;
use std::path::PathBuf;
use std::time::Duration;

pub struct Lab {
    process: Process,
    limits: Limits,
    scratch: PathBuf,
    progress: Progress,
}

impl Lab {
    /// The limits hold for each request; the workers' folders are made in `scratch`.
    pub fn new(limits: &Limits, scratch: &Scratch, progress: Progress) -> Result<Lab, Error> {
        let (limits, scratch) = (limits.clone(), scratch.path().to_path_buf());
        Ok(Lab { process: Process::new()?, limits, scratch, progress })
    }

    /// Seconds that one request may take.
    pub fn limit(&self) -> f64 {
        self.limits.time
    }

    pub fn study(&self, study: Study) -> Result<Studied, Error> {
        match self.ask("studying the model", Request::Study(Box::new(study)))? {
            Answer::Study(studied) => Ok(*studied),
            _ => Err(mismatch()),
        }
    }

    pub fn simulate(&self, what: &str, simulate: Simulate) -> Result<Simulated, Error> {
        match self.ask(what, Request::Simulate(Box::new(simulate)))? {
            Answer::Simulate(simulated) => Ok(simulated),
            _ => Err(mismatch()),
        }
    }

    pub fn bench(&self, bench: Bench) -> Result<Measured, Error> {
        match self.ask("stepping", Request::Bench(Box::new(bench)))? {
            Answer::Bench(measured) => Ok(measured),
            _ => Err(mismatch()),
        }
    }

    fn ask(&self, stage: &str, request: Request) -> Result<Answer, Error> {
        self.progress.stage(stage);
        let limits = process::Limits {
            time: Duration::from_secs_f64(self.limits.time.min(1e6)),
            memory: self.limits.memory,
            writable: self.limits.sandbox.then(|| vec![request.resources()]),
        };
        let watch = |fraction| self.progress.fraction(fraction);
        Ok(self.process.run(&request, &limits, &self.scratch, watch)?)
    }

    pub fn finish(&self) {
        self.progress.finish();
    }
}

fn mismatch() -> Error {
    WorkerError::Garbled { what: "the answer", reason: "it answers another question".into() }.into()
}
