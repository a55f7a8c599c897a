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

use crate::ability::Lack;
use crate::error::Error;
use crate::findings::{Simulate, Simulated, Studied, Study};
use crate::interface::Interface;
use crate::options::Limits;
use crate::progress::Progress;
use crate::scratch::Scratch;
use crate::system;
use crate::worker::{Answer, Audit, Audited, Bench, Drive, Driven, Measured, Request};
use process::{Process, WorkerError};
pub use protocol::Reporter;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

pub struct Lab {
    workers: Workers,
    progress: Progress,
}

/// What several threads may ask at once.
struct Workers {
    process: Process,
    limits: Limits,
    scratch: PathBuf,
    begin: Instant,
    /// What the FMU was found to lack.
    lacks: Mutex<Vec<Lack>>,
}

impl Lab {
    /// The limits on memory and files hold for each request, that on time for all of them; the workers' folders are made in `scratch`.
    pub fn new(limits: &Limits, scratch: &Scratch, progress: Progress) -> Result<Lab, Error> {
        if limits.memory.is_some() && !system::LIMITS_MEMORY {
            return Err(Error::Request(
                "--memory-limit: this system does not limit a process's memory; leave it out".into(),
            ));
        }
        let (limits, scratch) = (limits.clone(), scratch.path().to_path_buf());
        let (begin, lacks) = (Instant::now(), Mutex::default());
        Ok(Lab { workers: Workers { process: Process::new()?, limits, scratch, begin, lacks }, progress })
    }

    /// Seconds that one request may take now.
    pub fn limit(&self) -> f64 {
        self.workers.limits.time.min(self.left())
    }

    /// Seconds that are left of all that requests may take together.
    pub fn left(&self) -> f64 {
        self.workers.left()
    }

    /// What the FMU was found to lack until now.
    pub fn lacks(&self) -> Vec<Lack> {
        self.workers.lacks()
    }

    /// It lacks something that this interface promises: the build has to begin again, without.
    pub fn lacking(&self, interface: &Interface) -> bool {
        self.workers.lacking(interface)
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

    /// Several runs side by side, as many at a time as the limits say. The answers come in the order of the studies. `reserve`: seconds that they leave
    /// of the time for the whole build.
    pub fn study_all(&self, studies: Vec<Study>, reserve: f64) -> Vec<Result<Studied, Error>> {
        self.progress.stage("studying invented runs");
        let requests = studies.into_iter().map(|study| Request::Study(Box::new(study))).collect();
        let answers = self.ask_all(requests, reserve).into_iter();
        answers
            .map(|answer| match answer? {
                Answer::Study(studied) => Ok(*studied),
                _ => Err(mismatch()),
            })
            .collect()
    }

    /// One plan on several runs, in one process where the FMU allows it to be instantiated again; `side_by_side`, in as many
    /// as there may be at a time.
    pub fn simulate_all(
        &self,
        what: &str,
        runs: Vec<Simulate>,
        side_by_side: bool,
    ) -> Vec<Result<Simulated, Error>> {
        if runs.iter().all(|run| !run.interface.instantiate_only_once) {
            let groups = if side_by_side { self.jobs().min(runs.len()) } else { 1 };
            // One of the runs may bring its process down: then each by itself tells which.
            if let Some(simulated) = self.simulate_in_groups(what, &runs, groups.max(1)) {
                return simulated.into_iter().map(Ok).collect();
            }
        }
        self.progress.stage(what);
        let requests = runs.into_iter().map(|run| Request::Simulate(Box::new(run))).collect();
        let answers = self.ask_all(requests, 0.0).into_iter();
        answers
            .map(|answer| match answer? {
                Answer::Simulate(simulated) => Ok(simulated),
                _ => Err(mismatch()),
            })
            .collect()
    }

    /// So many processes, each with some of the runs; nothing if one of them fails.
    fn simulate_in_groups(&self, what: &str, runs: &[Simulate], groups: usize) -> Option<Vec<Simulated>> {
        // The longest first, each to the group that has least to do.
        let mut order: Vec<usize> = (0..runs.len()).collect();
        order.sort_by_key(|&at| std::cmp::Reverse(runs[at].steps));
        let mut members: Vec<(u64, Vec<usize>)> = vec![(0, Vec::new()); groups];
        for at in order {
            let group = members.iter_mut().min_by_key(|(steps, _)| *steps)?;
            (group.0, group.1) = (group.0 + runs[at].steps, [&group.1[..], &[at]].concat());
        }
        let request =
            |group: &[usize]| Request::SimulateAll(group.iter().map(|&at| runs[at].clone()).collect());
        let answers = match &members[..] {
            [(_, only)] => vec![self.ask(what, request(only))],
            several => {
                self.progress.stage(what);
                self.ask_all(several.iter().map(|(_, group)| request(group)).collect(), 0.0)
            }
        };
        let mut found: Vec<Option<Simulated>> = vec![None; runs.len()];
        for (answer, (_, group)) in answers.into_iter().zip(&members) {
            let Ok(Answer::SimulateAll(simulated)) = answer else { return None };
            if simulated.len() != group.len() {
                return None;
            }
            simulated.into_iter().zip(group).for_each(|(simulated, &at)| found[at] = Some(simulated));
        }
        found.into_iter().collect()
    }

    /// Processes at a time.
    pub fn jobs(&self) -> usize {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        self.workers.limits.jobs.map_or(processors, |jobs| jobs as usize).max(1)
    }

    /// Tell how long all of the work will take: `seconds` from now, for so many evaluations of the model.
    pub fn expect(&self, seconds: f64, evaluations: f64, evaluation: f64) {
        self.progress.expect(seconds, evaluations, evaluation);
    }

    pub fn bench(&self, bench: Bench) -> Result<Measured, Error> {
        match self.ask("stepping", Request::Bench(Box::new(bench)))? {
            Answer::Bench(measured) => Ok(measured),
            _ => Err(mismatch()),
        }
    }

    pub fn drive(&self, drive: Drive) -> Result<Driven, Error> {
        match self.ask("stepping", Request::Drive(Box::new(drive)))? {
            Answer::Drive(driven) => Ok(driven),
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
        Ok(self.workers.run(request, 0.0, |fraction| self.progress.fraction(fraction))?)
    }

    /// Ask as many workers at a time as there may be; each takes the next request that is left.
    fn ask_all(&self, requests: Vec<Request>, reserve: f64) -> Vec<Result<Answer, Error>> {
        let jobs = self.jobs().min(requests.len().max(1));
        let (workers, next) = (&self.workers, AtomicUsize::new(0));
        let requests: Vec<Mutex<Option<Request>>> =
            requests.into_iter().map(|request| Mutex::new(Some(request))).collect();
        let answers: Vec<Mutex<Option<Result<Answer, WorkerError>>>> =
            requests.iter().map(|_| Mutex::new(None)).collect();
        std::thread::scope(|scope| {
            for _ in 0..jobs {
                scope.spawn(|| {
                    while let Some((request, place)) = {
                        let at = next.fetch_add(1, Ordering::Relaxed);
                        requests.get(at).zip(answers.get(at))
                    } {
                        let request = request.lock().ok().and_then(|mut request| request.take());
                        let answer = request.map(|request| workers.run(request, reserve, |_| {}));
                        if let Ok(mut place) = place.lock() {
                            *place = answer;
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

impl Workers {
    fn left(&self) -> f64 {
        (self.limits.total - self.begin.elapsed().as_secs_f64()).max(0.0)
    }

    fn lacks(&self) -> Vec<Lack> {
        self.lacks.lock().map(|lacks| lacks.clone()).unwrap_or_default()
    }

    fn lacking(&self, interface: &Interface) -> bool {
        self.lacks().iter().any(|lack| !lack.ability.changes_nothing() && lack.concerns(interface))
    }

    fn learn(&self, lacks: Vec<Lack>) {
        let Ok(mut known) = self.lacks.lock() else { return };
        for lack in lacks {
            if !known.iter().any(|other| other.ability == lack.ability) {
                known.push(lack);
            }
        }
    }

    /// One request. What the FMU lacks is remembered; where an answer does not depend on it, it is asked again without.
    fn run(
        &self,
        mut request: Request,
        reserve: f64,
        mut watch: impl FnMut(f64),
    ) -> Result<Answer, WorkerError> {
        loop {
            let known = self.lacks();
            for interface in request.interfaces() {
                known
                    .iter()
                    .filter(|lack| lack.ability.changes_nothing())
                    .for_each(|lack| lack.apply(interface));
            }
            let left = self.left() - reserve;
            let lacking = request.interfaces().iter().any(|interface| self.lacking(interface));
            if lacking {
                return Err(WorkerError::Abandoned);
            }
            if left <= 0.0 {
                return Err(WorkerError::OutOfTime {
                    limit: Duration::from_secs_f64(self.limits.total.min(1e6)),
                });
            }
            let limits = process_limits(&self.limits, left, &request);
            match self.process.run_to_its_end(&request, &limits, &self.scratch, &mut watch) {
                Ok((answer, lack)) => {
                    self.learn(lack.into_iter().filter(|lack| lack.ability.changes_nothing()).collect());
                    return Ok(answer);
                }
                Err(error) => {
                    let lacks = error.lacks();
                    let again = lacks.iter().any(|lack| {
                        lack.ability.changes_nothing()
                            && request.interfaces().iter().any(|it| lack.concerns(it))
                    });
                    self.learn(lacks);
                    if !again {
                        return Err(error);
                    }
                }
            }
        }
    }
}

/// `left`: seconds that are left.
fn process_limits(limits: &Limits, left: f64, request: &Request) -> process::Limits {
    process::Limits {
        time: Duration::from_secs_f64(limits.time.min(left).min(1e6)),
        memory: limits.memory,
        writable: limits.sandbox.then(|| vec![request.resources()]),
    }
}

fn mismatch() -> Error {
    WorkerError::Garbled { what: "the answer", reason: "it answers another question".into() }.into()
}
