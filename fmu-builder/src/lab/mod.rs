//! The lab: the boundary between the builder and foreign code, which runs in a child process.
//!
//! | file | idea |
//! |---|---|
//! | `mod` | asks one worker after the other, shows progress, keeps the limits |
//! | `process` | starts a worker, waits for its answer, ends it with everything that it started |
//! | `protocol` | what the two processes say to each other, and how it is encoded |
//!
//! What the worker does with a request is in `worker/`, beside this folder.

pub mod process;
pub mod protocol;

use crate::error::Error;
use crate::progress::Progress;
use crate::worker::{Answer, Bench, Measured, Request, Simulate, Simulated, Studied, Study};
use process::{Limits, Process, WorkerError};
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
    /// One request may take `limit` seconds; the workers' folders are made in `scratch`.
    pub fn new(limit: f64, scratch: PathBuf, progress: Progress) -> Result<Lab, Error> {
        let limits = Limits { time: Duration::from_secs_f64(limit.min(1e6)) };
        Ok(Lab { process: Process::new()?, limits, scratch, progress })
    }

    /// Seconds that one request may take.
    pub fn limit(&self) -> f64 {
        self.limits.time.as_secs_f64()
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
        let watch = |fraction| self.progress.fraction(fraction);
        Ok(self.process.run(&request, &self.limits, &self.scratch, watch)?)
    }

    pub fn finish(&self) {
        self.progress.finish();
    }
}

fn mismatch() -> Error {
    WorkerError::Garbled { what: "the answer", reason: "it answers another question".into() }.into()
}
