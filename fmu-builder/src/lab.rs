//! The lab: asks the worker, shows progress, keeps the time limit.

use crate::child::{Child, ChildError};
use crate::error::Error;
use crate::progress::Progress;
use crate::worker::{Answer, Bench, Measured, Request, Simulate, Simulated, Studied, Study};
use std::cell::Cell;
use std::path::PathBuf;
use std::time::Duration;

pub struct Lab {
    child: Child,
    limit: Duration,
    scratch: PathBuf,
    progress: Progress,
    asked: Cell<u32>,
}

impl Lab {
    pub fn new(limit: f64, scratch: PathBuf, progress: Progress) -> Result<Lab, Error> {
        let limit = Duration::from_secs_f64(limit.min(1e6));
        Ok(Lab { child: Child::new()?, limit, scratch, progress, asked: Cell::new(0) })
    }

    /// Seconds that one request may take.
    pub fn limit(&self) -> f64 {
        self.limit.as_secs_f64()
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
        let number = self.asked.replace(self.asked.get() + 1);
        let folder = self.scratch.join(format!("worker-{number}"));
        std::fs::create_dir(&folder).map_err(Error::io("make", &folder))?;
        let answer =
            self.child.run(&request, self.limit, &folder, |status| self.progress.fraction(status.fraction));
        let _ = std::fs::remove_dir_all(&folder);
        Ok(answer?)
    }

    pub fn finish(&self) {
        self.progress.finish();
    }
}

fn mismatch() -> Error {
    ChildError::Garbled { what: "the answer", reason: "it answers another question".into() }.into()
}
