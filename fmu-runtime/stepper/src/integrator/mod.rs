//! The integrator: brings the model from one communication point to the next.
//!
//! | file | idea |
//! |---|---|
//! | `fixed` | what the plan fixes: never changes, shared by integrators |
//! | `live` | the state: all that a simulation remembers |
//! | `point` | where something was evaluated, and what the model holds |
//! | `counts` | what a communication step took |
//! | `advance` | a step from top to bottom: communication step, internal step, watched step, attempt |
//! | `stages` | the parts of an attempt: evaluations, the Jacobian, solutions, their sum |
//! | `solver` | the matrix A of a step: its entries and its factors |
//! | `amplification` | whether the plan's matrix holds with the importer's parameters |
//! | `sizes` | the sizes that the watch measures by |
//! | `damping` | steps that overshoot are shortened |
//! | `watch` | what a step misses because of its matrix A |
//! | `time_slope` | what time alone changes in f, for the watch |
//! | `carried` | the error carried on from step to step, for FMUs without a twin |
//! | `event` | state, time and step events, located by stepping again |
//! | `host` | what the host does between steps: values, slopes of inputs, Event Mode |
//! | `slopes` | derivatives of outputs |
//! | `remark` | what the importer is told though the step was taken |
//!
//! Between steps the model is in Continuous-Time Mode (or, after a discrete input or a parameter was
//! set, in Event Mode), holds the time and the states of [`Live`], and has the inputs that were set last.
//! Every buffer is allocated by [`Integrator::new`]; nothing below allocates, locks, logs or loops without
//! a bound.

mod advance;
mod amplification;
mod carried;
mod counts;
mod damping;
mod event;
mod fixed;
mod host;
mod live;
mod point;
mod remark;
mod sizes;
mod slopes;
mod solver;
mod stages;
#[cfg(test)]
mod tests;
mod time_slope;
mod watch;

use crate::fault::Fault;
use crate::jacobian::{Point, Which};
use crate::lu::Balance;
use crate::model::{Call, Model};
use crate::plan::{Plan, Policy};
use crate::status::Status;
use std::sync::Arc;

use point::{Evaluated, Held};
use solver::Solver;

pub use advance::Division;
pub use counts::Counts;
pub use fixed::Fixed;
pub use host::Changes;
pub use live::Live;
pub use remark::Remark;

pub struct Integrator<M> {
    pub fixed: Arc<Fixed>,
    pub model: M,
    pub live: Live,
    /// The plan's own and its fallback's.
    solvers: Vec<Solver>,
    work: Workspace,
    held: Held,
    /// Of the communication step that is being taken.
    counts: Counts,
    /// Rehearsal: runs the step's code once so that it is in the cache. It must not change the model: events are
    /// not handled and completed steps are not told.
    rehearsing: bool,
    made: remark::Made,
}

/// Buffers without memory from step to step.
struct Workspace {
    /// f at x, where the first stage evaluates it.
    f_start: Vec<f64>,
    /// f at a later stage, or at the end of the step that is tried.
    f: Evaluated,
    /// k of each stage.
    k: Vec<Vec<f64>>,
    /// The step that is tried: its increment and where it leads.
    d: Vec<f64>,
    x_new: Vec<f64>,
    z_new: Vec<f64>,
    /// Where a stage evaluates the model.
    x_stage: Vec<f64>,
    /// ∂f/∂t, for methods that need it and for the watch.
    f_time: Vec<f64>,
    /// f at x and the last stage's time, for the watch.
    f_watch: Vec<f64>,
    /// The watch's defect, and what of it the step's result misses.
    e: Vec<f64>,
    e_result: Vec<f64>,
    /// Indicators at both ends of the interval that holds an event.
    z_before: Vec<f64>,
    z_after: Vec<f64>,
}

impl Workspace {
    fn new(fixed: &Fixed) -> Workspace {
        let vector = || vec![0.0; fixed.plan.states.names.len()];
        let indicators = || vec![0.0; fixed.plan.events.indicators as usize];
        Workspace {
            f_start: vector(),
            f: Evaluated::new(vector()),
            k: vec![vector(); fixed.tableau.stages.len()],
            d: vector(),
            x_new: vector(),
            z_new: indicators(),
            x_stage: vector(),
            f_time: vector(),
            f_watch: vector(),
            e: vector(),
            e_result: vector(),
            z_before: indicators(),
            z_after: indicators(),
        }
    }
}

impl<M: Model> Integrator<M> {
    /// Check the plan and allocate everything.
    pub fn new(plan: Plan, model: M) -> Result<Integrator<M>, String> {
        Ok(Integrator::with(Arc::new(Fixed::new(plan)?), model))
    }

    /// Over a plan that other integrators may follow as well.
    pub fn with(fixed: Arc<Fixed>, model: M) -> Integrator<M> {
        Integrator {
            model,
            live: Live::new(&fixed.plan, &fixed.solvers),
            solvers: fixed.solvers.clone(),
            work: Workspace::new(&fixed),
            held: Held::NOTHING,
            counts: Counts::default(),
            rehearsing: false,
            made: remark::Made::default(),
            fixed,
        }
    }

    /// What the last communication step took, or the one that failed.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    pub fn plan(&self) -> &Plan {
        &self.fixed.plan
    }

    /// Back to the state before initialisation.
    pub fn forget(&mut self) {
        self.live = Live::new(&self.fixed.plan, &self.solvers);
        self.made = remark::Made::default();
        self.unplace();
    }

    /// After the model left Initialization Mode: the first event iteration, then Continuous-Time Mode.
    pub fn start(&mut self, time: f64) -> Result<(), Fault> {
        self.live.begin(time);
        self.settle(true)?;
        self.live.events = 0; // initialisation is none
        self.live.sizes.follow(&self.live.x, &self.fixed.plan.states.sizes);
        self.prepare();
        Ok(())
    }

    /// Have the first Jacobian and its factors before the first step, which then costs what the others do. Where
    /// the model cannot be evaluated yet (its inputs may be missing) that is left to the first step.
    fn prepare(&mut self) {
        if self.live.x.is_empty() {
            return;
        }
        let h = self.fixed.plan.step.h;
        let evaluated = self.model.get_derivatives(&mut self.work.f_start).is_usable();
        if evaluated {
            self.choose_solver();
        }
        let ready = evaluated && self.renew_here().is_ok() && self.refactor(h).is_ok();
        // Some tools answer with values of their last evaluation: the last one is at the true states.
        self.restore();
        let Integrator { fixed, model, live, .. } = self;
        let at = Some(live.point).filter(|_| ready && fixed.plan.model.time_invariant);
        if !model.get_derivatives(live.derivatives.at(at)).is_usable() {
            live.derivatives.at(None);
        }
        self.live.setup_needed = !ready;
    }

    /// From now on steps are rehearsed. Gives what they start from, or nothing if an event comes first anyhow.
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
        self.live.setup_needed = self.follow_live().is_err();
        self.restore();
    }

    /// Put the model back to the last good state, as well as it lets us.
    pub fn restore(&mut self) {
        self.live.return_solver();
        self.unplace();
        if !self.live.in_event_mode {
            let timed = self.model.set_time(self.live.time).is_usable();
            // Inputs with a slope are set together with the time.
            if timed && self.live.extrapolation.is_empty() {
                self.held.time = self.live.time;
            }
            if !self.live.x.is_empty() {
                if self.model.set_continuous_states(&self.live.x).is_usable() {
                    self.held.states = Some(self.live.point.states);
                }
                if self.fixed.plan.model.outputs_need_evaluation {
                    let _ = self.model.get_derivatives(self.work.f.at(None));
                }
            }
        }
    }

    /// Whatever the model holds, the next step sets it.
    fn unplace(&mut self) {
        self.held = Held::NOTHING;
        self.work.f.at(None); // names of points are given anew where an older state was put back
    }

    /// Every entry of the Jacobian where the model stands, with derivatives `f_start`; all of them must be numbers. The model is left disturbed.
    fn renew_here(&mut self) -> Result<(), Fault> {
        let Integrator { model, live, solvers, work, .. } = self;
        let (solver, time) = (&mut solvers[live.solver], live.time);
        live.balance[live.solver].iter_mut().for_each(|balance| balance.forget());
        let point = Point { x: &live.x, r: &work.f_start, scales: &live.scales, time };
        solver.differentiator.refresh(Which::Setup, model, point, &mut live.jacobian)?;
        let bad = live.jacobian[..solver.entries].iter().position(|value| !value.is_finite());
        bad.map_or(Ok(()), |entry| {
            let state = solver.kept.iter().find(|kept| kept.2 == entry as u32).map_or(0, |kept| kept.0);
            Err(Fault::Pivot { state, time })
        })
    }

    /// Factor I - γ h A for each γ of the method.
    fn refactor(&mut self, h: f64) -> Result<(), Fault> {
        let Integrator { fixed, live, solvers, counts, .. } = self;
        live.factored_for = 0.0;
        let gammas = fixed.tableau.gammas.len() as u64;
        counts.factorisations[live.solver] += gammas;
        let balanced = live.balance[live.solver].iter().all(Balance::is_known);
        counts.balances[live.solver] += if balanced { 0 } else { gammas };
        solvers[live.solver]
            .refactor(&fixed.tableau, h, &live.jacobian, &mut live.balance[live.solver])
            .map_err(|bad| Fault::Pivot { state: bad.state, time: live.time })?;
        live.factored_for = h;
        Ok(())
    }

    /// Go on from a saved state; the model was put back by its host.
    pub fn resume(&mut self, live: Live) -> Result<(), Fault> {
        self.live = live;
        self.follow_live()
    }

    /// After `live` was replaced by a saved one: the factors follow from it.
    fn follow_live(&mut self) -> Result<(), Fault> {
        self.unplace();
        match self.live.factored_for {
            0.0 => Ok(()),
            h => self.refactor(h),
        }
    }

    /// Call the model and turn an unusable status into a fault.
    pub(crate) fn call(&mut self, call: Call, function: impl FnOnce(&mut M) -> Status) -> Result<(), Fault> {
        let time = self.live.time;
        usable(call, function(&mut self.model), time)
    }

    /// Estimate of the last step's local error, relative to the states' sizes: the method's embedded one. Without one, the largest
    /// |h x''/2| h of the increments d, d' of two steps, x'' ~ (d/h - d'/h')/h. Costs no evaluation.
    pub fn error_estimate(&self) -> f64 {
        let live = &self.live;
        if !self.fixed.tableau.estimate.is_empty() {
            return live.estimate;
        }
        if live.h_before == 0.0 || live.h_last == 0.0 {
            return 0.0;
        }
        let ratio = live.h_last / live.h_before;
        let increments = live.d.iter().zip(&live.d_before);
        increments
            .zip(&self.fixed.inverse_sizes)
            .map(|((d, before), inverse)| 0.5 * (d - ratio * before).abs() * inverse)
            .fold(0.0, f64::max)
    }

    /// f cannot change while only time passes.
    pub(crate) fn is_time_invariant(&self) -> bool {
        self.fixed.plan.model.time_invariant && self.live.extrapolation.is_empty()
    }

    /// The Jacobian is renewed only when the watch speaks.
    pub(crate) fn is_watched(&self) -> bool {
        self.solvers[self.live.solver].policy == Policy::Watched
    }
}

/// A status that is not usable as a fault.
#[inline]
pub(crate) fn usable(call: Call, status: Status, time: f64) -> Result<(), Fault> {
    if status.is_usable() { Ok(()) } else { Err(Fault::Model { call, status, time }) }
}
