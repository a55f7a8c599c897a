//! The integrator: brings the model from one communication point to the next.
//!
//! | file | idea |
//! |---|---|
//! | `live` | all that a simulation remembers |
//! | `advance` | a communication step: cut into internal steps, internal steps cut at events |
//! | `step` | the stages of one step |
//! | `solver` | the matrix A of a step: its entries and its factors |
//! | `amplification` | whether the plan's matrix holds with the importer's parameters |
//! | `watch` | what a step misses because of its matrix A, and the step done again |
//! | `carried` | the error carried on from step to step, for FMUs without a twin |
//! | `event` | state, time and step events, located by stepping again |
//! | `host` | what the host does between steps: values, slopes of inputs, Event Mode |
//! | `time_slope` | what time alone changes in f, for the watch |
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
mod event;
mod host;
mod live;
mod remark;
mod slopes;
mod solver;
mod step;
#[cfg(test)]
mod tests;
mod time_slope;
mod watch;

use crate::fault::Fault;
use crate::jacobian::Which;
use crate::method::Tableau;
use crate::model::{Call, Model};
use crate::plan::{Plan, Policy};
use crate::status::Status;

use solver::Solver;
use time_slope::EndOfStep;

pub use advance::Division;
pub use live::Live;
pub use remark::Remark;

pub struct Integrator<M> {
    pub plan: Plan,
    pub model: M,
    pub live: Live,
    pub(crate) tableau: Tableau,
    /// The plan's own and its fallback's.
    pub(crate) solvers: Vec<Solver>,
    end_of_step: Option<EndOfStep>,
    pub(crate) work: Workspace,
    /// Rehearsal: runs the step's code once so that it is in the cache. It must not change the model: events are
    /// not handled and completed steps are not told.
    pub(crate) rehearsing: bool,
    made: remark::Made,
}

/// Buffers without memory from step to step.
pub(crate) struct Workspace {
    /// f at x, where the first stage evaluates it.
    pub f_start: Vec<f64>,
    /// f at a later stage.
    pub f: Vec<f64>,
    /// k of each stage.
    pub k: Vec<Vec<f64>>,
    /// The step that is tried: its increment and where it leads.
    pub d: Vec<f64>,
    pub x_new: Vec<f64>,
    pub z_new: Vec<f64>,
    /// Where a stage evaluates the model.
    pub x_stage: Vec<f64>,
    /// ∂f/∂t, for methods that need it and for the watch; there with the time that it belongs to, if `slope_known`.
    pub f_time: Vec<f64>,
    pub slope_time: f64,
    pub slope_known: bool,
    /// f at x and the last stage's time, for the watch, if `watch_known`.
    pub f_watch: Vec<f64>,
    pub watch_known: bool,
    /// The watch's defect, and what of it the step's result misses.
    pub e: Vec<f64>,
    pub e_result: Vec<f64>,
    /// The share of the higher order that the limiter left.
    pub high: f64,
    /// Indicators at both ends of the interval that holds an event.
    pub z_before: Vec<f64>,
    pub z_after: Vec<f64>,
    /// What |x| may not exceed.
    pub limit: Vec<f64>,
    /// Of the states' sizes.
    pub inverse_sizes: Vec<f64>,
    /// Stages that take the evaluation of the stage before; likewise where time does not matter.
    pub shares: Vec<[bool; 2]>,
    /// The first stage is solved only where the step of lower order is asked for.
    pub has_spare_stage: bool,
    /// The model holds `live.x`.
    pub placed: bool,
    /// Time that the model holds.
    pub model_time: f64,
    /// The fallback has taken the step that is tried; the plan's own matrix takes the next.
    pub borrowed: bool,
    /// A later stage could not be evaluated: the step is the first stage alone, linearly implicit Euler.
    pub euler_only: bool,
    /// `f` is the model's at the end of the step that is tried.
    pub end_known: bool,
    /// The model's last evaluation was at `live.time` and `live.x`.
    pub evaluated_here: bool,
    /// The state that has the largest defect.
    pub worst_state: u32,
    /// The last step that was outside the plan: its worst state, its defect and where it ended.
    pub spoke: (u32, f64, f64),
    /// The embedded estimate of the step that is tried, relative to the states' sizes.
    pub estimate: f64,
}

impl Workspace {
    /// The stage takes f from `f_start`.
    pub fn is_at_start(&self, stage: usize, time_invariant: bool) -> bool {
        (1..=stage).all(|i| self.shares[i][usize::from(time_invariant)])
    }
}

/// A state this many times its scale is lost.
const EXPLODED: f64 = 1e30;

impl<M: Model> Integrator<M> {
    /// Check the plan and allocate everything.
    pub fn new(plan: Plan, model: M) -> Result<Integrator<M>, String> {
        plan.check()?;
        let tableau = plan.step.method.tableau();
        let solvers = Solver::all(&plan, &tableau)?;
        let n = plan.states.names.len();
        let indicators = plan.events.indicators as usize;
        let vector = || vec![0.0; n];
        let work = Workspace {
            f_start: vector(),
            f: vector(),
            k: vec![vector(); tableau.stages.len()],
            d: vector(),
            x_new: vector(),
            z_new: vec![0.0; indicators],
            x_stage: vector(),
            f_time: vector(),
            slope_time: 0.0,
            slope_known: false,
            f_watch: vector(),
            watch_known: false,
            e: vector(),
            e_result: vector(),
            high: 1.0,
            z_before: vec![0.0; indicators],
            z_after: vec![0.0; indicators],
            limit: plan.states.nominals.iter().map(|nominal| EXPLODED * nominal.max(1.0)).collect(),
            inverse_sizes: plan.states.sizes.iter().map(|size| 1.0 / size).collect(),
            shares: (0..tableau.stages.len())
                .map(|i| [false, true].map(|time_invariant| tableau.shares_evaluation(i, time_invariant)))
                .collect(),
            has_spare_stage: tableau.has_spare_stage(),
            borrowed: false,
            euler_only: false,
            end_known: false,
            evaluated_here: false,
            worst_state: 0,
            spoke: (0, 0.0, 0.0),
            placed: false,
            model_time: f64::NAN,
            estimate: 0.0,
        };
        let live = Live::new(&plan, &solvers);
        let end_of_step = plan.watch.and_then(|_| EndOfStep::new(&tableau));
        Ok(Integrator {
            plan,
            model,
            live,
            tableau,
            solvers,
            end_of_step,
            work,
            rehearsing: false,
            made: remark::Made::default(),
        })
    }

    /// Back to the state before initialisation.
    pub fn forget(&mut self) {
        self.live = Live::new(&self.plan, &self.solvers);
        self.made = remark::Made::default();
        self.unplace();
    }

    /// After the model left Initialization Mode: the first event iteration, then Continuous-Time Mode.
    pub fn start(&mut self, time: f64) -> Result<(), Fault> {
        self.live.begin(time);
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
        let h = self.plan.step.h;
        let evaluated = self.model.get_derivatives(&mut self.work.f_start).is_usable();
        if evaluated {
            self.choose_solver();
        }
        let ready = evaluated && self.renew_here().is_ok() && self.refactor(h).is_ok();
        // Some tools answer with values of their last evaluation: the last one is at the true states.
        self.restore();
        let known = self.model.get_derivatives(&mut self.live.derivatives).is_usable();
        self.live.derivatives_known = ready && known && self.plan.model.time_invariant;
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
        self.return_solver();
        self.unplace();
        if !self.live.in_event_mode {
            let timed = self.model.set_time(self.live.time).is_usable();
            // Inputs with a slope are set together with the time.
            if timed && self.live.extrapolation.is_empty() {
                self.work.model_time = self.live.time;
            }
            if !self.live.x.is_empty() {
                self.work.placed = self.model.set_continuous_states(&self.live.x).is_usable();
                if self.plan.model.outputs_need_evaluation {
                    let _ = self.model.get_derivatives(&mut self.work.f);
                }
            }
        }
    }

    /// Whatever the model holds, the next step sets it.
    fn unplace(&mut self) {
        self.work.placed = false;
        self.work.borrowed = false;
        self.work.model_time = f64::NAN;
    }

    /// Every entry of the Jacobian where the model stands, with derivatives `f_start`; all of them must be numbers. The model is left disturbed.
    fn renew_here(&mut self) -> Result<(), Fault> {
        let Integrator { model, live, solvers, work, .. } = self;
        let (solver, time) = (&mut solvers[live.solver], live.time);
        live.balance[live.solver].iter_mut().for_each(|balance| balance.forget());
        solver.differentiator.refresh(
            Which::Setup,
            model,
            &live.x,
            &work.f_start,
            &live.scales,
            time,
            &mut live.jacobian,
        )?;
        let bad = live.jacobian[..solver.entries].iter().position(|value| !value.is_finite());
        bad.map_or(Ok(()), |entry| {
            let state = solver.kept.iter().find(|kept| kept.2 == entry as u32).map_or(0, |kept| kept.0);
            Err(Fault::Pivot { state, time })
        })
    }

    /// Factor I - γ h A for each γ of the method.
    fn refactor(&mut self, h: f64) -> Result<(), Fault> {
        let Integrator { live, solvers, tableau, .. } = self;
        live.factored_for = 0.0;
        solvers[live.solver]
            .refactor(tableau, h, &live.jacobian, &mut live.balance[live.solver])
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
        if !self.tableau.estimate.is_empty() {
            return live.estimate;
        }
        if live.h_before == 0.0 || live.h_last == 0.0 {
            return 0.0;
        }
        let ratio = live.h_last / live.h_before;
        let increments = live.d.iter().zip(&live.d_before);
        increments
            .zip(&self.work.inverse_sizes)
            .map(|((d, before), inverse)| 0.5 * (d - ratio * before).abs() * inverse)
            .fold(0.0, f64::max)
    }

    /// f cannot change while only time passes.
    pub(crate) fn is_time_invariant(&self) -> bool {
        self.plan.model.time_invariant && self.live.extrapolation.is_empty()
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
