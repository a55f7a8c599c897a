//! A model that answers as it is told: as quietly as a model can be, or with whatever makes a step take most.
//!
//! Wild, no two evaluations agree, so that the watch speaks of every attempt and every higher order overshoots. Events
//! come as long as the step may handle them: state events whose search takes all its trials and ends at once behind the
//! start of the piece, so that nearly all of the step is left to be done again, or time events a thousandth of a step
//! apart. Legal models do less.

use fmu_runtime::model::{EventInfo, Model, StepInfo};
use fmu_runtime::plan::Plan;
use stepper::status::Status;

/// What the model does.
#[derive(Clone, Copy, Debug)]
pub struct Script {
    /// No two evaluations agree.
    pub wild: bool,
    /// Events in each internal step, and in the whole communication step.
    pub events_per_step: u32,
    pub events: u32,
    /// Bit k: event k of an internal step is a time event.
    pub timed: u32,
    /// Which trials of a search lie before the event.
    pub trials: Trials,
    /// A time event is announced for the end of each internal step, and put off by state events: a plan with a twin takes
    /// what lies before it in two, and each state event comes in the second part.
    pub announces: bool,
    /// Every completed step asks for Event Mode.
    pub asks: bool,
}

/// Which trials of a search lie before the event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trials {
    /// None: it is at once behind the start.
    None,
    /// The last one: then one more has to end behind the event.
    Last,
    /// The last but one, where a search can end one trial early.
    LastButOne,
    /// All but the first: the event is in the middle.
    AllButFirst,
}

impl Script {
    pub const QUIET: Script = Script {
        wild: false,
        events_per_step: 0,
        events: 0,
        timed: 0,
        trials: Trials::None,
        announces: false,
        asks: false,
    };
    pub const WILD: Script = Script { wild: true, ..Script::QUIET };
}

/// Wild derivatives lead so many sizes away in a step: even a small part of one is far beyond the watch and the limiter.
const FAR: f64 = 1e9;
/// Time events lie so many parts of a step apart.
const APART: f64 = 1.0 / 1024.0;

pub struct Adversary {
    pub script: Script,
    /// The internal step, how many of them a communication step has, and the trials of a search.
    h: f64,
    substeps: u32,
    bisections: u32,
    time: f64,
    x: Vec<f64>,
    evaluations: u64,
    /// The first step has begun. Initialisation finds a calm model: there the plan's own matrix is judged.
    begun: bool,
    /// Events so far in this communication step, and in its present internal step, which is the one of this number.
    handled: u32,
    in_step: (i64, u32),
    /// Parts of it that had no event since the last one.
    passed: u32,
    /// Trials of the search that is under way.
    search: Option<u32>,
    /// States were set since the indicators were read, and the event before has been read after.
    placed: bool,
    settled: bool,
    /// The model was evaluated where it stands.
    pub evaluated: bool,
}

impl Adversary {
    /// For steps of this plan whose internal ones have length `h`, from time 0 on.
    pub fn new(script: Script, plan: &Plan, h: f64) -> Adversary {
        Adversary {
            script,
            h,
            substeps: plan.step.substeps,
            bisections: plan.events.bisections,
            time: 0.0,
            x: vec![0.0; plan.states.names.len()],
            evaluations: 0,
            begun: false,
            handled: 0,
            in_step: (0, 0),
            passed: 0,
            search: None,
            placed: false,
            settled: false,
            evaluated: false,
        }
    }

    /// A communication step begins.
    pub fn begin_step(&mut self) {
        (self.handled, self.begun) = (0, true);
        // Indicators that are read before the states move tell of inputs, not of a step.
        self.placed = false;
    }

    /// The number of the internal step in which an instant lies; an end belongs to the step before it.
    fn step_of(&self, time: f64) -> i64 {
        (time / self.h - 1e-5).floor() as i64
    }

    /// Events that the present internal step has had.
    fn count_in_step(&mut self) -> u32 {
        let step = self.step_of(self.time);
        if self.in_step.0 != step {
            (self.in_step, self.passed) = ((step, 0), 0);
        }
        self.in_step.1
    }

    /// Another event may come, and is a time event.
    fn next(&mut self) -> Option<bool> {
        let count = self.count_in_step();
        let comes = self.handled < self.script.events && count < self.script.events_per_step;
        comes.then(|| self.script.timed >> (count % 32) & 1 == 1)
    }

    /// This trial lies before the event.
    fn is_before(&self, trial: u32) -> bool {
        match self.script.trials {
            Trials::None => false,
            Trials::Last => trial == self.bisections,
            Trials::LastButOne => trial + 1 == self.bisections,
            Trials::AllButFirst => trial > 1,
        }
    }
}

impl Model for Adversary {
    fn set_time(&mut self, time: f64) -> Status {
        (self.time, self.evaluated) = (time, false);
        Status::Ok
    }

    fn set_inputs(&mut self, _: &[u32], _: &[f64]) -> Status {
        self.evaluated = false;
        Status::Ok
    }

    fn get_real(&mut self, _: &[u32], values: &mut [f64]) -> Status {
        values.fill(0.0);
        Status::Ok
    }

    fn set_continuous_states(&mut self, x: &[f64]) -> Status {
        self.x.copy_from_slice(x);
        (self.placed, self.evaluated) = (true, false);
        Status::Ok
    }

    fn get_continuous_states(&mut self, x: &mut [f64]) -> Status {
        x.copy_from_slice(&self.x);
        Status::Ok
    }

    fn get_derivatives(&mut self, derivatives: &mut [f64]) -> Status {
        self.evaluations += 1;
        self.evaluated = true;
        let k = self.evaluations as f64;
        let sign = if self.evaluations.is_multiple_of(2) { 1.0 } else { -1.0 };
        // The golden ratio's multiples: no two of them have the same fraction.
        let wild = sign * (1.0 + (0.618_033_988_749_895 * k).fract()) * FAR / self.h;
        derivatives.fill(if self.script.wild && self.begun { wild } else { 0.0 });
        Status::Ok
    }

    fn get_event_indicators(&mut self, indicators: &mut [f64]) -> Status {
        let crossed = if std::mem::take(&mut self.settled) {
            false
        } else if let Some(trial) = self.search {
            self.search = Some(trial + 1);
            !self.is_before(trial + 1)
        } else {
            let comes = std::mem::take(&mut self.placed) && self.next() == Some(false);
            let found = comes && (!self.script.announces || self.passed > 0);
            self.passed += 1;
            self.search = found.then_some(0);
            found
        };
        self.placed = false;
        indicators.fill(if crossed { -1.0 } else { 1.0 });
        Status::Ok
    }

    fn get_nominals(&mut self, nominals: &mut [f64]) -> Status {
        nominals.fill(1.0);
        Status::Ok
    }

    fn directional_derivative(&mut self, _: &[u32], _: &[u32], _: &[f64], result: &mut [f64]) -> Status {
        result.fill(0.0);
        Status::Ok
    }

    fn enter_event_mode(&mut self) -> Status {
        Status::Ok
    }

    fn new_discrete_states(&mut self) -> (Status, EventInfo) {
        self.count_in_step();
        self.in_step.1 += 1;
        self.handled += 1;
        self.search = None;
        let coming = self.next();
        self.passed = 0;
        let (here, all) = ((self.time / self.h + 1e-5).floor() as i64, i64::from(self.substeps));
        let Script { announces, timed, .. } = self.script;
        let next = match coming {
            Some(true) => Some(self.time + APART * self.h),
            Some(false) if announces => Some((here as f64 + 1.0 - APART) * self.h),
            // The next internal step, or the next communication step, has events of its own.
            None if announces || timed & 1 == 1 => {
                let step = self.step_of(self.time) + 1;
                let step = if self.handled < self.script.events { step } else { (step + all) / all * all };
                Some((step as f64 + if announces { 1.0 - APART } else { APART }) * self.h)
            }
            _ => None,
        };
        let changed = !self.x.is_empty();
        (Status::Ok, EventInfo { states_changed: changed, next_event_time: next, ..EventInfo::default() })
    }

    fn enter_continuous_time_mode(&mut self) -> Status {
        (self.settled, self.placed, self.evaluated) = (true, false, false);
        Status::Ok
    }

    fn completed_integrator_step(&mut self) -> (Status, StepInfo) {
        let asks = self.script.asks && self.next().is_some();
        (Status::Ok, StepInfo { enter_event_mode: asks, terminate: false })
    }
}
