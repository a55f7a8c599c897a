//! The integrator: brings the inner FMU from one communication point to the next.
//!
//! Between steps the inner FMU is in Continuous-Time Mode (or, after a discrete input or a parameter was
//! set, in Event Mode), holds the time and the states of [`Live`], and has the inputs that were set last.
//! Every buffer is allocated by [`Integrator::new`]; nothing below allocates, locks, logs or loops without
//! a bound.
//!
//! Time is counted in integer steps, t = base + count h, never accumulated.

use crate::event::Budget;
use crate::fault::Fault;
use crate::fmi::Fmu2;
use crate::jacobian::{Differentiator, Which};
use crate::lu::Factors;
use crate::plan::Plan;
use crate::status::Status;
use serde::{Deserialize, Serialize};

pub struct Integrator {
    pub plan: Plan,
    pub inner: Fmu2,
    pub live: Live,
    pub(crate) factors: Factors,
    pub(crate) differentiator: Differentiator,
    pub(crate) work: Workspace,
    /// Steps do not count now: events are looked for but not handled, no step is completed.
    pub(crate) rehearsing: bool,
}

/// All that changes from step to step: what a saved FMU state consists of, beside the inner FMU's own.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Live {
    base: f64,
    count: u64,
    pub time: f64,
    pub x: Vec<f64>,
    /// The last step's increment and length, and those of the step before: they give the error estimate.
    pub(crate) d: Vec<f64>,
    pub(crate) d_before: Vec<f64>,
    pub(crate) h_last: f64,
    pub(crate) h_before: f64,
    /// Event indicators at `time`, or at the last event while one is put off.
    pub(crate) z: Vec<f64>,
    pub(crate) jacobian: Vec<f64>,
    /// The h for which W is factored with `jacobian`; 0 when it is not.
    pub(crate) factored_for: f64,
    pub(crate) next_colour: usize,
    pub(crate) next_event: f64,
    /// Every entry of the Jacobian must be found anew.
    pub(crate) setup_needed: bool,
    /// An event that this communication step had no room for.
    pub(crate) event_put_off: bool,
    /// The inner FMU is in Event Mode because a discrete input or a parameter was set.
    pub(crate) in_event_mode: bool,
    /// A continuous input was set: an event indicator may have changed its sign.
    pub(crate) inputs_changed: bool,
    pub(crate) extrapolation: Extrapolation,
    pub steps: u64,
    pub events: u64,
    pub carried_events: u64,
}

/// Inputs with a slope: u(t) = value + slope (t - origin). Empty when the importer gives no derivatives.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Extrapolation {
    pub origin: f64,
    pub references: Vec<u32>,
    pub values: Vec<f64>,
    pub slopes: Vec<f64>,
    /// u at the time that was asked for last.
    pub current: Vec<f64>,
}

/// Buffers without memory from step to step.
pub(crate) struct Workspace {
    pub r: Vec<f64>,
    pub x_new: Vec<f64>,
    pub z_new: Vec<f64>,
    /// What |x| may not exceed.
    pub limit: Vec<f64>,
}

/// How a communication step is cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Division {
    pub steps: u64,
    pub h: f64,
    /// Not the step that the plan was made for.
    pub irregular: bool,
}

/// Largest relative deviation from m h that counts as rounding noise of the importer.
const NOISE: f64 = 1e-6;
/// A time event nearer than this part of h to a step's end is taken there.
const SNAP: f64 = 1e-6;
/// A state this many times its scale is lost.
const EXPLODED: f64 = 1e30;

impl Integrator {
    /// Check the plan and allocate everything.
    pub fn new(plan: Plan, inner: Fmu2) -> Result<Integrator, String> {
        plan.check()?;
        let factors = Factors::new(&plan.elimination, &plan.jacobian)?;
        let differentiator = Differentiator::new(&plan);
        let n = plan.states.names.len();
        let indicators = plan.events.indicators as usize;
        let work = Workspace {
            r: vec![0.0; n],
            x_new: vec![0.0; n],
            z_new: vec![0.0; indicators],
            limit: plan.states.nominals.iter().map(|nominal| EXPLODED * nominal.max(1.0)).collect(),
        };
        let mut integrator = Integrator {
            plan,
            inner,
            live: Live::default(),
            factors,
            differentiator,
            work,
            rehearsing: false,
        };
        integrator.forget();
        Ok(integrator)
    }

    /// Back to the state before initialisation.
    pub fn forget(&mut self) {
        let n = self.plan.states.names.len();
        self.live = Live {
            x: vec![0.0; n],
            d: vec![0.0; n],
            d_before: vec![0.0; n],
            z: vec![0.0; self.plan.events.indicators as usize],
            jacobian: vec![0.0; self.plan.jacobian.rows.len()],
            next_event: f64::INFINITY,
            setup_needed: true,
            ..Live::default()
        };
    }

    /// After the inner FMU left Initialization Mode: the first event iteration, then Continuous-Time Mode.
    pub fn start(&mut self, time: f64) -> Result<(), Fault> {
        self.live.base = time;
        self.live.count = 0;
        self.live.time = time;
        self.settle(true)?;
        self.live.events = 0; // initialisation is none
        self.prepare();
        Ok(())
    }

    /// Have the first Jacobian and its factors before the first step, which then costs what the others do. Where
    /// the model cannot be evaluated yet (its inputs may be missing) that is left to the first step.
    fn prepare(&mut self) {
        if self.live.x.is_empty() {
            return;
        }
        let Integrator { plan, inner, live, factors, differentiator, work, .. } = self;
        let (h, time) = (plan.step.h, live.time);
        factors.rebalance();
        let ready = inner.get_derivatives(&mut work.r).is_usable()
            && differentiator
                .refresh(Which::Setup, inner, &live.x, &work.r, time, &mut live.jacobian)
                .is_ok()
            && live.jacobian.iter().all(|value| value.is_finite())
            && factors.refactor(h, &live.jacobian).is_ok();
        let _ = inner.set_continuous_states(&live.x);
        if ready {
            live.factored_for = h;
            live.setup_needed = false;
        }
    }

    /// From now on steps do not count: an event is looked for but not handled, none is completed. Gives what they start from, or nothing if
    /// an event comes first anyhow.
    pub fn begin_rehearsal(&mut self) -> Option<Live> {
        let waits = self.live.in_event_mode || self.live.event_put_off || self.live.setup_needed;
        self.rehearsing = !waits;
        self.rehearsing.then(|| self.live.clone())
    }

    /// Back to where the rehearsal began.
    pub fn rewind(&mut self, begin: &Live) {
        self.live.clone_from(begin);
        self.live.next_event = f64::INFINITY;
        self.restore();
    }

    pub fn end_rehearsal(&mut self, begin: Live) {
        self.rehearsing = false;
        self.live = begin;
        self.live.setup_needed = self.refactor().is_err();
    }

    /// How a communication step of length `length` will be cut.
    pub fn divide(&self, length: f64) -> Division {
        let h = self.plan.step.h;
        let m = self.plan.step.substeps as f64;
        let near = |steps: f64| (length - steps * h).abs() <= NOISE * h;
        if near(m) {
            return Division { steps: self.plan.step.substeps as u64, h, irregular: false };
        }
        let steps = (length / h - NOISE).ceil().max(1.0);
        if near(steps) {
            Division { steps: steps as u64, h, irregular: false }
        } else {
            Division { steps: steps as u64, h: length / steps, irregular: true }
        }
    }

    /// Take a communication step of this length.
    pub fn advance(&mut self, length: f64, division: Division) -> Result<(), Fault> {
        let mut budget = Budget::new(self.plan.events.max_per_step);
        if self.must_settle_first()? {
            self.event(&mut budget)?;
        }
        let start = self.live.time;
        for i in 1..=division.steps {
            let end = if division.irregular {
                if i == division.steps { start + length } else { start + i as f64 * division.h }
            } else {
                self.live.base + (self.live.count + 1) as f64 * division.h
            };
            self.internal_step(division.h, end, &mut budget)?;
            self.live.count += 1;
            self.live.time = end;
            self.live.steps += 1;
        }
        if division.irregular {
            self.live.base = self.live.time;
            self.live.count = 0;
        }
        Ok(())
    }

    /// One internal step of length `h` to the grid point `end`, cut at events.
    fn internal_step(&mut self, h: f64, end: f64, budget: &mut Budget) -> Result<(), Fault> {
        let snap = SNAP * h;
        let mut whole = true; // the first piece reaches `end` unless an event cuts it
        loop {
            let time_event = self.live.next_event <= end + snap && budget.left();
            let cut = time_event && self.live.next_event < end - snap;
            let stop = if cut { self.live.next_event.max(self.live.time) } else { end };
            let length = if whole && !cut { h } else { stop - self.live.time };
            if length > snap || (whole && !cut) {
                self.step(length, stop)?;
                if self.locate(length, budget)? {
                    whole = false;
                    continue;
                }
                self.accept(stop);
                if self.completed_step()? {
                    self.event(budget)?;
                }
            }
            whole = false;
            if !time_event {
                if self.live.next_event <= end + snap {
                    self.put_off();
                }
                return Ok(());
            }
            // The model must see a time that is not before its event, not even by an ulp.
            let at = self.live.next_event.max(stop);
            self.call("fmi2SetTime", |inner| inner.set_time(at))?;
            self.live.time = stop;
            self.event(budget)?;
            if stop >= end {
                return Ok(());
            }
        }
    }

    /// x := x_new at `time`.
    pub(crate) fn accept(&mut self, time: f64) {
        std::mem::swap(&mut self.live.x, &mut self.work.x_new);
        self.live.time = time;
    }

    /// Tell the inner FMU that a step is complete; true if it asks for Event Mode.
    pub(crate) fn completed_step(&mut self) -> Result<bool, Fault> {
        if !self.plan.model.completed_step_needed || self.rehearsing {
            return Ok(false);
        }
        let time = self.live.time;
        let (status, enter_event_mode, terminate) = self.inner.completed_integrator_step();
        if !status.is_usable() {
            return Err(Fault::Inner { call: "fmi2CompletedIntegratorStep", status, time });
        }
        if terminate { Err(Fault::Terminated { time }) } else { Ok(enter_event_mode) }
    }

    /// dy/dt of Real variables where the inner FMU stands: their difference a little further along f.
    pub fn slopes(&mut self, references: &[u32], values: &mut [f64]) -> Result<(), Fault> {
        if self.live.in_event_mode {
            self.settle(false)?;
        }
        let ahead = 1e-3 * self.plan.step.h;
        let (time, before) = (self.live.time, &mut vec![0.0; values.len()][..]);
        self.call("fmi2GetReal", |inner| inner.get_real(references, before))?;
        let Integrator { inner, live, work, .. } = self;
        let mut status = if live.x.is_empty() { Status::Ok } else { inner.get_derivatives(&mut work.r) };
        for ((x_new, x), r) in work.x_new.iter_mut().zip(&live.x).zip(&work.r) {
            *x_new = x + ahead * r;
        }
        let usable = |status: Status, next: &mut dyn FnMut() -> Status| {
            if status.is_usable() { next() } else { status }
        };
        status = usable(status, &mut || inner.set_time(time + ahead));
        if !live.x.is_empty() {
            status = usable(status, &mut || inner.set_continuous_states(&work.x_new));
        }
        status = usable(status, &mut || inner.get_real(references, values));
        self.restore();
        if !status.is_usable() {
            return Err(Fault::Inner { call: "fmi2GetReal", status, time });
        }
        for (value, before) in values.iter_mut().zip(before) {
            *value = (*value - *before) / ahead;
        }
        Ok(())
    }

    /// Put the inner FMU back to the last good state, as well as it lets us.
    pub fn restore(&mut self) {
        if !self.live.in_event_mode {
            let _ = self.inner.set_time(self.live.time);
            if !self.live.x.is_empty() {
                let _ = self.inner.set_continuous_states(&self.live.x);
            }
        }
    }

    /// Call the inner FMU and turn an unusable status into a fault.
    pub(crate) fn call(
        &mut self,
        call: &'static str,
        function: impl FnOnce(&mut Fmu2) -> Status,
    ) -> Result<(), Fault> {
        let status = function(&mut self.inner);
        if status.is_usable() { Ok(()) } else { Err(Fault::Inner { call, status, time: self.live.time }) }
    }

    /// Estimate of the last step's local error, relative to the states' scale: the largest
    /// |h x''/2| h of the increments d, d' of two steps, x'' ~ (d/h - d'/h')/h. Costs no evaluation.
    pub fn error_estimate(&self) -> f64 {
        let live = &self.live;
        if live.h_before == 0.0 || live.h_last == 0.0 {
            return 0.0;
        }
        let ratio = live.h_last / live.h_before;
        let increments = live.d.iter().zip(&live.d_before);
        increments
            .zip(&self.plan.states.nominals)
            .map(|((d, before), nominal)| 0.5 * (d - ratio * before).abs() / nominal)
            .fold(0.0, f64::max)
    }

    /// After `live` was replaced by a saved one: the factors follow from it.
    pub fn refactor(&mut self) -> Result<(), Fault> {
        let h = self.live.factored_for;
        if h != 0.0 {
            self.factors
                .refactor(h, &self.live.jacobian)
                .map_err(|bad| Fault::Pivot { state: bad.state, time: self.live.time })?;
        }
        Ok(())
    }
}

impl Live {
    /// Both belong to the same plan, as far as sizes tell.
    pub(crate) fn fits(&self, other: &Live) -> bool {
        self.x.len() == other.x.len()
            && self.d.len() == other.d.len()
            && self.d_before.len() == other.d_before.len()
            && self.z.len() == other.z.len()
            && self.jacobian.len() == other.jacobian.len()
            && self.extrapolation.fits()
    }
}

impl Extrapolation {
    /// The importer gave du/dt. The value that it starts from is read when the step begins.
    pub fn set(&mut self, reference: u32, slope: f64) {
        match self.references.iter().position(|&known| known == reference) {
            Some(i) => self.slopes[i] = slope,
            None => {
                self.references.push(reference);
                self.slopes.push(slope);
                self.values.push(0.0);
                self.current.push(0.0);
            }
        }
    }

    pub fn at(&mut self, time: f64) -> (&[u32], &[f64]) {
        let span = time - self.origin;
        for ((current, value), slope) in self.current.iter_mut().zip(&self.values).zip(&self.slopes) {
            *current = value + slope * span;
        }
        (&self.references, &self.current)
    }

    /// A slope holds for one communication step.
    pub fn clear(&mut self) {
        self.references.clear();
        self.values.clear();
        self.slopes.clear();
        self.current.clear();
    }

    fn fits(&self) -> bool {
        let n = self.references.len();
        self.values.len() == n && self.slopes.len() == n && self.current.len() == n
    }
}
