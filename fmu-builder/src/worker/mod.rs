//! The worker: the child process in which foreign code runs. It answers one request and ends.

mod accurate_run;
mod audit;
mod bench;
mod checks;
mod compile;
mod drive;
mod load;
mod probe;
mod reference;
mod remarks;
mod resolution;
mod scales;
mod session;
mod simulate;
mod stopwatch;
mod study;
mod terms;
mod timing;

use crate::findings::{Simulate, Simulated, Studied, Study};
use crate::interface::Interface;
use crate::lab::protocol::{self, Reporter};
use fmu_runtime::resources::INNER;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::ExitCode;

pub use audit::{Audit, Audited, Conduct, Trace, Traced, verdict};
pub use bench::{Bench, Measured, Reading};
pub use compile::Compile;
pub use drive::{Drive, Driven};

#[derive(Serialize, Deserialize)]
pub enum Request {
    Study(Box<Study>),
    Simulate(Box<Simulate>),
    /// One plan on several runs, one after the other: not for FMUs of which a process may have one instance only.
    SimulateAll(Vec<Simulate>),
    Bench(Box<Bench>),
    Drive(Box<Drive>),
    Audit(Box<Audit>),
    /// Trace another worker.
    Trace(Trace),
    Compile(Box<Compile>),
}

impl Request {
    /// The interfaces of the FMU that it is about.
    pub fn interfaces(&mut self) -> Vec<&mut Interface> {
        match self {
            Request::Study(study) => vec![&mut study.interface],
            Request::Simulate(simulate) => vec![&mut simulate.interface],
            Request::SimulateAll(all) => all.iter_mut().map(|simulate| &mut simulate.interface).collect(),
            Request::Audit(audit) => vec![&mut audit.interface],
            Request::Bench(_) | Request::Drive(_) | Request::Trace(_) | Request::Compile(_) => Vec::new(),
        }
    }

    /// The folder into which some models write while they run.
    pub fn resources(&self) -> PathBuf {
        let inner = match self {
            Request::Study(study) => study.interface.root.clone(),
            Request::Simulate(simulate) => simulate.interface.root.clone(),
            Request::SimulateAll(all) => all.first().map(|it| it.interface.root.clone()).unwrap_or_default(),
            Request::Bench(bench) => bench.root.join("resources").join(INNER),
            Request::Drive(drive) => drive.root.join("resources").join(INNER),
            Request::Audit(audit) => audit.interface.root.clone(),
            Request::Trace(_) | Request::Compile(_) => PathBuf::new(),
        };
        inner.join("resources")
    }
}

#[derive(Serialize, Deserialize)]
pub enum Answer {
    Study(Box<Studied>),
    Simulate(Simulated),
    SimulateAll(Vec<Simulated>),
    Bench(Measured),
    Drive(Driven),
    Audit(Audited),
    Trace(Vec<Traced>),
    /// The library is there.
    Compile,
}

/// Answer and end, if this process was started as a worker: with the words `worker REQUEST`. A program that builds
/// FMUs calls this first, since its workers are the program itself, started again.
pub fn serve_if_asked() {
    let mut words = std::env::args_os().skip(1);
    if let (Some(word), Some(request), None) = (words.next(), words.next(), words.next())
        && word == "worker"
    {
        let code = serve(Path::new(&request));
        std::process::exit(if code == ExitCode::SUCCESS { 0 } else { 1 });
    }
}

/// The hidden `worker` command.
pub fn serve(request: &Path) -> ExitCode {
    protocol::serve(request, |request: Request, reporter: &mut Reporter| {
        Ok(match request {
            Request::Study(study) => Answer::Study(Box::new(study.answer(reporter)?)),
            Request::Simulate(simulate) => Answer::Simulate(simulate.answer(reporter)?),
            Request::SimulateAll(all) => {
                let mut answers = Vec::with_capacity(all.len());
                for simulate in all {
                    answers.push(match simulate.answer(reporter) {
                        Err(refusal) if refusal.lacks.is_empty() => {
                            Simulated { failed: Some(refusal.message), ..Simulated::default() }
                        }
                        answer => answer?,
                    });
                }
                Answer::SimulateAll(answers)
            }
            Request::Bench(bench) => Answer::Bench(bench.answer(reporter)?),
            Request::Drive(drive) => Answer::Drive(drive.answer(reporter)?),
            Request::Audit(audit) => Answer::Audit(audit.answer(reporter)?),
            Request::Trace(trace) => Answer::Trace(trace.answer(reporter)?),
            Request::Compile(compile) => {
                compile.answer(reporter)?;
                Answer::Compile
            }
        })
    })
}
