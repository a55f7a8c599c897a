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
use crate::system;
use crate::worker::{Answer, Audit, Audited, Bench, Measured, Request, Simulate, Simulated, Studied, Study};
use process::{Process, WorkerError};
pub use protocol::Reporter;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
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
        if limits.memory.is_some() && !system::LIMITS_MEMORY {
            return Err(Error::Request(
                "--memory-limit: this system does not limit a process's memory; leave it out".into(),
            ));
        }
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

    /// Several runs side by side, as many at a time as the limits say. The answers come in the order of the studies.
    pub fn study_all(&self, studies: Vec<Study>) -> Vec<Result<Studied, Error>> {
        self.progress.stage("studying invented runs");
        let requests = studies.into_iter().map(|study| Request::Study(Box::new(study))).collect();
        let answers = self.ask_all(requests).into_iter();
        answers
            .map(|answer| match answer? {
                Answer::Study(studied) => Ok(*studied),
                _ => Err(mismatch()),
            })
            .collect()
    }

    /// One plan on several runs, in one process where the FMU allows it to be instantiated again.
    pub fn simulate_all(&self, what: &str, runs: Vec<Simulate>) -> Vec<Result<Simulated, Error>> {
        let count = runs.len();
        if runs.iter().all(|run| !run.interface.instantiate_only_once) {
            match self.ask(what, Request::SimulateAll(runs.clone())) {
                Ok(Answer::SimulateAll(simulated)) if simulated.len() == count => {
                    return simulated.into_iter().map(Ok).collect();
                }
                // One of the runs brought the process down: each by itself tells which.
                _ => {}
            }
        }
        self.progress.stage(what);
        let requests = runs.into_iter().map(|run| Request::Simulate(Box::new(run))).collect();
        let answers = self.ask_all(requests).into_iter();
        answers
            .map(|answer| match answer? {
                Answer::Simulate(simulated) => Ok(simulated),
                _ => Err(mismatch()),
            })
            .collect()
    }

    pub fn bench(&self, bench: Bench) -> Result<Measured, Error> {
        match self.ask("stepping", Request::Bench(Box::new(bench)))? {
            Answer::Bench(measured) => Ok(measured),
            _ => Err(mismatch()),
        }
    }

    pub fn audit(&self, audit: Audit) -> Result<Audited, Error> {
        match self.ask("watching the model inside", Request::Audit(Box::new(audit)))? {
            Answer::Audit(audited) => Ok(audited),
            _ => Err(mismatch()),
        }
    }

    fn ask(&self, stage: &str, request: Request) -> Result<Answer, Error> {
        self.progress.stage(stage);
        let watch = |fraction| self.progress.fraction(fraction);
        Ok(self.process.run(&request, &process_limits(&self.limits, &request), &self.scratch, watch)?)
    }

    /// Ask as many workers at a time as there may be; each takes the next request that is left.
    fn ask_all(&self, requests: Vec<Request>) -> Vec<Result<Answer, Error>> {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let jobs = self.limits.jobs.map_or(processors, |jobs| jobs as usize).clamp(1, requests.len().max(1));
        let (process, limits, scratch) = (&self.process, &self.limits, &self.scratch);
        let next = AtomicUsize::new(0);
        let answers: Vec<Mutex<Option<Result<Answer, WorkerError>>>> =
            requests.iter().map(|_| Mutex::new(None)).collect();
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| {
                    while let Some((request, place)) = {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        requests.get(at).zip(answers.get(at))
                    } {
                        let limits = process_limits(limits, request);
                        let answer = process.run(request, &limits, scratch, |_| {});
                        if let Ok(mut place) = place.lock() {
                            *place = Some(answer);
                        }
                    }
                });
            }
        });
        let taken = answers.into_iter().map(|place| place.into_inner().ok().flatten());
        taken.map(|answer| answer.map_or_else(|| Err(mismatch()), |answer| Ok(answer?))).collect()
    }

    pub fn finish(&self) {
        self.progress.finish();
    }
}

fn process_limits(limits: &Limits, request: &Request) -> process::Limits {
    process::Limits {
        time: Duration::from_secs_f64(limits.time.min(1e6)),
        memory: limits.memory,
        writable: limits.sandbox.then(|| vec![request.resources()]),
    }
}

fn mismatch() -> Error {
    WorkerError::Garbled { what: "the answer", reason: "it answers another question".into() }.into()
}
