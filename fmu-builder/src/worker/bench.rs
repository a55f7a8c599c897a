//! Drive a finished Co-Simulation FMU through its C interface and time every step.

use super::drive::{Opened, apply, open};
use super::session::{Session, Signals, said};
use super::stopwatch::Stopwatch;
use super::timing;
use crate::experiment::Experiment;
use crate::findings::Prices;
use crate::interface::Interface;
use crate::lab::Reporter;
use crate::lab::protocol::Refusal;
use crate::system;
use fmu_runtime::fmi::Fmu2;
use fmu_runtime::plan::Plan;
use fmu_runtime::resources;
use model_description::{Causality, Kind as VariableKind, ModelDescription};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;
use std::time::{Duration, Instant};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bench {
    /// The unpacked Co-Simulation FMU and its plan.
    #[serde(with = "crate::lab::protocol::path")]
    pub root: PathBuf,
    pub plan: Plan,
    pub experiment: Experiment,
    pub steps: u64,
    /// Seconds after which no more steps are begun.
    pub patience: f64,
    /// Wait for each step's time to come, as a test bench does.
    pub pace: bool,
    /// Ask for real-time priority.
    pub realtime: bool,
    /// What is read after every step.
    pub outputs: Reading,
    /// Value reference of the FMU's count of requests for memory.
    pub allocations: Option<u32>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Measured {
    /// Seconds of each step, in order, less the price of reading the clock.
    pub times: Vec<f64>,
    /// What of them was computing; empty where the system does not tell.
    pub computing: Vec<f64>,
    /// How often the system took the processor away meanwhile.
    pub switches: Option<u64>,
    /// Why there is no real-time priority though it was asked for.
    pub no_realtime: Option<String>,
    /// Requests for memory in as many steps again.
    pub allocations: Option<u64>,
    /// The step that failed, and why.
    pub failed: Option<String>,
    /// Seconds of one evaluation of the model inside.
    pub evaluation_time: Option<f64>,
}

/// Value references of the outputs, by type.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Reading {
    real: Vec<u32>,
    integer: Vec<u32>,
    boolean: Vec<u32>,
    text: Vec<u32>,
}

impl Reading {
    pub fn of(description: &ModelDescription) -> Reading {
        let mut reading = Reading::default();
        for variable in description.variables.iter().filter(|it| it.causality == Causality::Output) {
            match variable.kind {
                VariableKind::Real => &mut reading.real,
                VariableKind::Boolean => &mut reading.boolean,
                VariableKind::String => &mut reading.text,
                _ => &mut reading.integer,
            }
            .push(variable.value_reference);
        }
        reading
    }

    pub fn len(&self) -> usize {
        self.real.len() + self.integer.len() + self.boolean.len() + self.text.len()
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Read all of them, as an importer does.
    fn read(&self, fmu: &mut Fmu2, reals: &mut [f64], others: &mut [i32]) {
        if !self.real.is_empty() {
            let _ = fmu.get_real(&self.real, &mut reals[..self.real.len()]);
        }
        if !self.integer.is_empty() {
            let _ = fmu.get_integer(&self.integer, &mut others[..self.integer.len()]);
        }
        if !self.boolean.is_empty() {
            let _ = fmu.get_boolean(&self.boolean, &mut others[..self.boolean.len()]);
        }
        for &reference in &self.text {
            let _ = fmu.copy_string(reference);
        }
    }
}

/// Where the run was at some step: the model's evaluation is measured there.
struct Place {
    time: f64,
    x: Vec<f64>,
    /// One step before.
    before: Vec<f64>,
}

impl Bench {
    pub fn answer(self, reporter: &mut Reporter) -> Result<Measured, String> {
        let Opened { mut fmu, log, mut signals } = open(&self.root, &self.plan, &self.experiment, reporter)?;
        let start = self.experiment.start;
        let length = self.plan.step.h * self.plan.step.substeps as f64;
        let mut measured = Measured { times: Vec::with_capacity(self.steps as usize), ..Measured::default() };
        if self.realtime {
            measured.no_realtime = system::real_time_priority().err();
        }
        let (mut reals, mut others) = (vec![0.0; self.outputs.len()], vec![0; self.outputs.len()]);
        let (mut places, mut before): (Vec<Place>, Option<Vec<f64>>) = (Vec::new(), None);
        let stopwatch = Stopwatch::new();
        let switches = system::involuntary_switches();
        let begin = Instant::now();
        for k in 0..self.steps {
            let time = start + k as f64 * length;
            if self.pace {
                let due = Duration::from_secs_f64(k as f64 * length);
                // Sleep to just before, then watch the clock.
                let early = due.saturating_sub(begin.elapsed()).saturating_sub(Duration::from_micros(200));
                std::thread::sleep(early);
                while begin.elapsed() < due {
                    std::hint::spin_loop();
                }
            }
            apply(&mut fmu, &mut signals, time);
            let (status, took) = stopwatch.time(|| {
                let status = fmu.do_step(time, length);
                self.outputs.read(&mut fmu, &mut reals, &mut others);
                status
            });
            measured.times.push(took.wall);
            measured.computing.extend(took.computing);
            if !status.is_usable() {
                measured.failed =
                    Some(format!("fmi2DoStep at t = {time} returned {}{}", status.name(), said(&log)));
                break;
            }
            // At steps 2, 4, 8 …: early and late in the run.
            if (k + 2).is_power_of_two() {
                before = self.states(&mut fmu);
            }
            if (k + 1).is_power_of_two() {
                let (now, before) = (self.states(&mut fmu), before.take());
                places.extend(now.zip(before).map(|(x, before)| Place { time: time + length, x, before }));
            }
            if k % 256 == 0 {
                reporter.progress(k as f64 / self.steps as f64);
                if begin.elapsed().as_secs_f64() > self.patience {
                    break;
                }
            }
        }
        measured.switches =
            system::involuntary_switches().zip(switches).map(|(now, before)| now.saturating_sub(before));
        if measured.failed.is_none() {
            let done = measured.times.len() as u64;
            measured.allocations = self.allocations.and_then(|reference| {
                let time = |k: u64| start + (done + k) as f64 * length;
                allocations(&mut fmu, &mut signals, reference, time, length)
            });
        }
        drop(fmu); // the model inside may allow one instance only
        measured.evaluation_time = self.evaluation_time(places, reporter).ok().filter(|&time| time > 0.0);
        Ok(measured)
    }

    /// The states now, if the FMU tells them.
    fn states(&self, fmu: &mut Fmu2) -> Option<Vec<f64>> {
        let references = &self.plan.states.references;
        let mut x = vec![0.0; references.len()];
        let known = references.len() == self.plan.states.names.len() && !x.is_empty();
        let told = known && fmu.get_real(references, &mut x).is_usable() && x.iter().all(|x| x.is_finite());
        told.then_some(x)
    }

    /// Seconds of an evaluation of the model inside, by itself, at the places of the run; at its start, where these are not known.
    fn evaluation_time(self, places: Vec<Place>, reporter: &mut Reporter) -> Result<f64, Refusal> {
        let (h, scales) = (self.plan.step.h, self.plan.states.nominals.clone());
        let root = self.root.join("resources").join(resources::INNER);
        let interface = Interface::inside(root, self.plan);
        let mut session = Session::open(&interface, &self.experiment, reporter)?;
        if !interface.writes_beyond {
            session.inner.take_room();
        }
        // The last ones: most of the run. The machine has slow phases, which the steps, spread over a longer time, see less of.
        let start = Place { time: session.time, x: session.x.clone(), before: session.x.clone() };
        let from = places.len().saturating_sub(PHASES);
        let places = if places.is_empty() { std::slice::from_ref(&start) } else { &places[from..] };
        let mut prices = Prices::default();
        for phase in 0..PHASES {
            let place = &places[phase % places.len()];
            session.time = place.time;
            session.x.copy_from_slice(&place.x);
            // Where the model cannot be evaluated there in its first discrete mode, the other places count.
            let timing =
                timing::Timing { before: &place.before, h, scales: &scales, rows: None, seconds: PHASE };
            prices.0.extend(timing::measure(&mut session, &interface, &timing));
            std::thread::sleep(Duration::from_millis(50));
        }
        Ok(prices.evaluation())
    }
}

/// Times that the model's evaluation is measured, and seconds for each.
const PHASES: usize = 6;
const PHASE: f64 = 0.02;
/// Steps in which requests for memory are counted, apart from those that are timed: counting reads the clock.
const COUNTED: u64 = 1000;

fn allocations(
    fmu: &mut Fmu2,
    signals: &mut Option<Signals>,
    reference: u32,
    time: impl Fn(u64) -> f64,
    length: f64,
) -> Option<u64> {
    let mut count = [0];
    // The first reading begins the count.
    for _ in 0..2 {
        if !fmu.get_integer(&[reference], &mut count).is_usable() {
            return None;
        }
    }
    for k in 0..COUNTED {
        apply(fmu, signals, time(k));
        if !fmu.do_step(time(k), length).is_usable() {
            return None;
        }
    }
    fmu.get_integer(&[reference], &mut count).is_usable().then_some(count[0].max(0) as u64)
}
