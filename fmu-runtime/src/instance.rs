//! The co-simulation life cycle: every call of the importer, checked against FMI's state machine.
//!
//! `CALLS` says which call is legal in which phase. Illegal calls and unknown value references give
//! `fmi2Error` and a message and change nothing.

mod clock;
mod estimate;
mod logging;
mod saved;
mod twin;
mod values;

use crate::component::{Component, Importer};
use crate::fault::Fault;
use crate::fmi::{Mode, SavedState};
use crate::integrator::{Counts, Division, Integrator, Remark};
use crate::memory;
use crate::messages;
use crate::plan::{ErrorSource, Plan};
use crate::resources::PLAN;
use crate::status::Status;
use crate::value::{Store, c_text};
use crate::version::Function;
use serde::{Deserialize, Serialize};
use std::ffi::{CStr, CString};
use std::fmt::Arguments;
use std::time::Instant;

use clock::{Clock, NOISE, Verdict, rounding};
use estimate::{Beyond, Estimate};
use logging::Filter;
use saved::Saved;
use twin::Twin;

pub use logging::CATEGORIES;

pub struct Instance<C: Component> {
    name: CString,
    importer: Box<dyn Importer>,
    filter: Filter,
    phase: Phase,
    integrator: Integrator<C>,
    /// The second integration, where the plan asks for one and the model gave a second instance.
    twin: Option<Twin<C>>,
    /// What the two say of the error.
    estimate: Option<Estimate>,
    variables: Store,
    start_time: f64,
    tolerance: Option<f64>,
    clock: Clock,
    terminated_by_model: bool,
    warned_about_step: bool,
    /// Wall-clock seconds of the last step, and steps that took longer than the time they simulate.
    step_time: f64,
    overruns: i32,
    allocations: u64,
    /// Reading the clock costs as much as a small model: only once somebody asked for these.
    measure_time: bool,
    #[allow(clippy::vec_box)] // addresses are handed out
    saved: Vec<Box<Saved>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Phase {
    Instantiated,
    Initialization,
    /// Ready for `fmi2DoStep`.
    Step,
    /// The model ended the simulation inside a step.
    StepFailed,
    Terminated,
    Error,
    Fatal,
}

/// A communication step that can be taken.
struct Admitted {
    length: f64,
    division: Division,
    /// The twin's.
    coarse: Option<Division>,
}

/// Which call is legal in which phase (FMI 2.0.4, section 4.2.4).
const CALLS: &[(Function, &[Phase])] = {
    use Phase::*;
    const ALIVE: &[Phase] = &[Instantiated, Initialization, Step, StepFailed, Terminated, Error];
    const INITIALISED: &[Phase] = &[Initialization, Step, StepFailed, Terminated, Error];
    &[
        (Function::SetDebugLogging, ALIVE),
        (Function::SetUp, &[Instantiated]),
        (Function::EnterInitializationMode, &[Instantiated]),
        (Function::ExitInitializationMode, &[Initialization]),
        (Function::Terminate, &[Step, StepFailed]),
        (Function::Reset, ALIVE),
        (Function::Get, INITIALISED),
        (Function::Set, &[Instantiated, Initialization, Step]),
        (Function::FmuState, ALIVE),
        (Function::DirectionalDerivative, INITIALISED),
        (Function::InputDerivatives, &[Instantiated, Initialization, Step]),
        (Function::OutputDerivatives, &[Step, StepFailed]),
        (Function::DoStep, &[Step]),
    ]
};

/// Internal steps in the longest communication step. A host that asks for more has mixed up its units; it would wait for
/// minutes or for ever.
const MOST_STEPS: u64 = 10_000_000;
/// Steps that are tried before the first one.
const REHEARSALS: usize = 3;

impl<C: Component> Instance<C> {
    /// Around a model that is instantiated already. `twin`: a second instance of it, where the plan asks for one and
    /// there is one.
    pub fn with_inner(
        name: &str,
        plan: Plan,
        mut inner: C,
        twin: Option<C>,
        importer: Box<dyn Importer>,
    ) -> Result<Instance<C>, String> {
        inner.forbid_calls_after_errors();
        if plan.model.writes_beyond {
            inner.make_room(plan.states.names.len(), plan.events.indicators as usize);
        }
        let damaged = |reason| format!("{PLAN} is damaged: {reason}");
        plan.check().map_err(damaged)?;
        let twin = twin.map(|twin| Twin::new(&plan, twin)).transpose().map_err(damaged)?;
        Ok(Instance {
            name: c_text(name),
            importer,
            filter: Filter::ALL,
            phase: Phase::Instantiated,
            variables: Store::new(&plan.variables),
            twin,
            estimate: plan.accuracy.as_ref().map(Estimate::new),
            integrator: Integrator::new(plan, inner).map_err(damaged)?,
            start_time: 0.0,
            tolerance: None,
            clock: Clock::default(),
            terminated_by_model: false,
            warned_about_step: false,
            step_time: 0.0,
            overruns: 0,
            allocations: 0,
            measure_time: false,
            saved: Vec::new(),
        })
    }

    fn log(&self, status: Status, message: Arguments) {
        let category = logging::category(status);
        if self.filter.passes(category) {
            self.importer.log(&self.name, status, category, message);
        }
    }

    /// Say what is wrong, change nothing.
    pub fn refuse(&self, message: Arguments) -> Status {
        self.log(Status::Error, message);
        Status::Error
    }

    /// Null when the call is legal now; otherwise its status.
    fn illegal(&self, function: Function) -> Option<Status> {
        let (_, phases) = CALLS.iter().find(|(known, _)| *known == function)?;
        if phases.contains(&self.phase) {
            return None;
        }
        let name = self.importer.version().name(function);
        Some(self.refuse(format_args!("{name} is not allowed in the phase {:?}", self.phase)))
    }

    /// A call of the inner FMU failed: pass its status on, and remember that nothing goes on from here.
    fn failed(&mut self, function: Function, status: Status) -> Status {
        let version = self.integrator.model.version();
        let (name, returned) = (version.name(function), version.status(status));
        self.log(status, format_args!("the model's {name} returned {returned}"));
        match status {
            Status::Fatal => self.phase = Phase::Fatal,
            Status::Error => self.phase = Phase::Error,
            _ => {}
        }
        status
    }

    fn fault(&mut self, fault: Fault) -> Status {
        let status = messages::status(fault);
        let version = self.integrator.model.version();
        self.log(status, format_args!("{}", messages::explain_fault(fault, self.integrator.plan(), version)));
        self.phase = match fault {
            Fault::Terminated { .. } => Phase::StepFailed,
            _ if status == Status::Fatal => Phase::Fatal,
            _ => Phase::Error,
        };
        self.terminated_by_model = matches!(fault, Fault::Terminated { .. });
        status
    }

    pub fn set_debug_logging(&mut self, on: bool, categories: &[&CStr]) -> Status {
        if let Some(status) = self.illegal(Function::SetDebugLogging) {
            return status;
        }
        self.filter = Filter::new(on, categories);
        // The inner FMU is told of its own categories only: it may refuse others.
        let known = &self.integrator.plan().model.log_categories;
        let own: Vec<&CStr> = categories
            .iter()
            .copied()
            .filter(|category| known.iter().any(|known| known.as_bytes() == category.to_bytes()))
            .collect();
        if on && own.is_empty() && !categories.is_empty() {
            return Status::Ok; // all of them are ours
        }
        match self.integrator.model.set_debug_logging(on, &own) {
            status @ (Status::Error | Status::Fatal) if self.lost().is_some() => status,
            _ => Status::Ok,
        }
    }

    pub fn setup_experiment(&mut self, tolerance: Option<f64>, start: f64, stop: Option<f64>) -> Status {
        if let Some(status) = self.illegal(Function::SetUp) {
            return status;
        }
        if !start.is_finite() {
            return self.refuse(format_args!("the start time is {start}"));
        }
        if let Some(stop) = stop.filter(|&stop| stop.is_nan() || stop < start) {
            return self.refuse(format_args!("the stop time {stop} is before the start time {start}"));
        }
        self.start_time = start;
        self.tolerance = tolerance;
        self.clock.stop = stop;
        Status::Ok
    }

    pub fn enter_initialization_mode(&mut self) -> Status {
        if let Some(status) = self.illegal(Function::EnterInitializationMode) {
            return status;
        }
        let inner = &mut self.integrator.model;
        // No stop time: some tools then refuse the last step by one rounding error, and an importer may
        // always go on after it.
        let status = inner.set_up(self.tolerance, self.start_time, None);
        if !status.is_usable() {
            return self.failed(Function::SetUp, status);
        }
        let status = inner.enter_initialization_mode();
        if !status.is_usable() {
            return self.failed(Function::EnterInitializationMode, status);
        }
        if let Some(twin) = &mut self.twin {
            let (tolerance, start) = (self.tolerance, self.start_time);
            twin.call(Function::SetUp, |model| model.set_up(tolerance, start, None));
            twin.call(Function::EnterInitializationMode, C::enter_initialization_mode);
        }
        self.phase = Phase::Initialization;
        Status::Ok
    }

    pub fn exit_initialization_mode(&mut self) -> Status {
        if let Some(status) = self.illegal(Function::ExitInitializationMode) {
            return status;
        }
        let status = self.integrator.model.exit_initialization_mode();
        if !status.is_usable() {
            return self.failed(Function::ExitInitializationMode, status);
        }
        if let Err(fault) = self.integrator.start(self.start_time) {
            return self.fault(fault);
        }
        if let Some(twin) = &mut self.twin {
            twin.start(self.start_time);
        }
        self.read_settable();
        self.phase = Phase::Step;
        self.rehearse();
        if let Some(estimate) = &mut self.estimate {
            estimate.forget();
        }
        self.compare();
        self.tell_remarks();
        self.lost().unwrap_or(Status::Ok)
    }

    /// The model has failed in a call whose answer was not needed: nothing goes on from here.
    fn lost(&mut self) -> Option<Status> {
        match self.integrator.model.mode() {
            Mode::Fatal => Some(self.failed(Function::Last, Status::Fatal)),
            Mode::Error | Mode::ErrorAtStart => Some(self.failed(Function::Last, Status::Error)),
            _ => None,
        }
    }

    /// Try the first step and forget it, a few times, as a solver tries steps that it then refuses: the one that counts
    /// finds code and data at hand. Only where the model can be put back to the last bit: some answer with values of
    /// their last evaluation, whatever time and states were set since.
    fn rehearse(&mut self) {
        if !self.integrator.plan().model.can_get_and_set_state {
            return;
        }
        let step = &self.integrator.plan().step;
        let length = step.h * f64::from(step.substeps);
        let (division, coarse) = self.divide(length);
        let values = self.variables.real.values.clone();
        let mut state = SavedState::empty();
        if self.integrator.model.get_fmu_state(&mut state).is_usable() {
            if let Some(begin) = self.integrator.begin_rehearsal() {
                for _ in 0..REHEARSALS {
                    self.integrator.rewind(&begin);
                    let _ = self.advance(length, division);
                }
                self.integrator.end_rehearsal(begin);
            }
            self.variables.real.values = values;
            let status = self.integrator.model.set_fmu_state(&state);
            if !status.is_usable() {
                self.failed(Function::SetFmuState, status);
            }
        }
        let _ = self.integrator.model.free_fmu_state(&mut state);
        if let (Some(twin), Some(coarse)) = (&mut self.twin, coarse) {
            twin.rehearse(length, coarse, REHEARSALS);
        }
    }

    pub fn terminate(&mut self) -> Status {
        if let Some(status) = self.illegal(Function::Terminate) {
            return status;
        }
        let status = self.integrator.model.terminate();
        if !status.is_usable() {
            return self.failed(Function::Terminate, status);
        }
        if let Some(twin) = self.twin.as_mut().filter(|twin| twin.is_on()) {
            let _ = twin.integrator.model.terminate();
        }
        self.phase = Phase::Terminated;
        Status::Ok
    }

    pub fn reset(&mut self) -> Status {
        if let Some(status) = self.illegal(Function::Reset) {
            return status;
        }
        let status = self.integrator.model.reset();
        if !status.is_usable() {
            return self.failed(Function::Reset, status);
        }
        self.integrator.forget();
        if let Some(twin) = &mut self.twin {
            twin.reset();
        }
        if let Some(estimate) = &mut self.estimate {
            estimate.forget();
        }
        self.variables.forget();
        self.phase = Phase::Instantiated;
        self.start_time = 0.0;
        self.tolerance = None;
        self.clock = Clock::default();
        self.terminated_by_model = false;
        self.warned_about_step = false;
        self.step_time = 0.0;
        self.overruns = 0;
        self.allocations = 0;
        Status::Ok
    }

    /// A communication step. Which points and lengths are accepted is said in `clock`.
    pub fn do_step(&mut self, time: f64, length: f64) -> Status {
        if let Some(status) = self.illegal(Function::DoStep) {
            return status;
        }
        let begin = self.measure_time.then(|| (Instant::now(), memory::requests()));
        let step = match self.admit(time, length) {
            Ok(Some(step)) => step,
            Ok(None) => return Status::Ok,
            Err(refusal) => return refusal,
        };
        let status = match self.advance(step.length, step.division) {
            Ok(()) => {
                if let (Some(twin), Some(coarse)) = (&mut self.twin, step.coarse) {
                    twin.advance(step.length, coarse);
                }
                self.clock.note(time, length);
                self.compare();
                self.tell_remarks();
                Status::Ok
            }
            Err(fault) => self.fault(fault),
        };
        if let Some((begin, requests)) = begin {
            self.allocations += memory::requests() - requests;
            self.step_time = begin.elapsed().as_secs_f64();
            self.overruns += (self.step_time > length) as i32;
        }
        status
    }

    /// The step that the host asks for, as we take it; none for a residue of its rounding, and a refusal where it cannot
    /// be taken.
    fn admit(&mut self, time: f64, length: f64) -> Result<Option<Admitted>, Status> {
        if !(length > 0.0 && length < f64::INFINITY) {
            return Err(self.refuse(format_args!("the communication step is {length}; it must be positive")));
        }
        let h = self.integrator.plan().step.h;
        let here = self.integrator.live.time;
        let verdict = self.clock.judge(time, here, h);
        if verdict == Verdict::Refuse {
            return Err(self.refuse(format_args!(
                "the communication point is {time}, but the last step ended at {here}"
            )));
        }
        if self.clock.is_over(time, h) {
            let stop = self.clock.stop.unwrap_or(time);
            return Err(self.refuse(format_args!("the step begins at {time}, after the stop time {stop}")));
        }
        // So small a step is a residue of rounding, or the way from our time to its end is what counts.
        let noise = NOISE * h + rounding(time);
        let ours = if length <= noise { time + length - here } else { length };
        if ours <= noise {
            self.clock.note(time, length);
            self.integrator.forget_slopes(); // they were for this one
            if let Some(twin) = &mut self.twin {
                twin.integrator.forget_slopes();
            }
            return Ok(None);
        }
        let (division, coarse) = self.divide(ours);
        if division.steps > MOST_STEPS {
            return Err(self.refuse(format_args!(
                "the communication step {length} takes {} internal steps of {h}; at most {MOST_STEPS} are taken \
                 at once",
                division.steps
            )));
        }
        if verdict == Verdict::Follow {
            self.integrator.rebase(time);
            if let Some(twin) = &mut self.twin {
                twin.integrator.rebase(time);
            }
        }
        if division.irregular && !self.warned_about_step {
            self.warned_about_step = true;
            self.tell_of_irregular_step(length, division);
        }
        Ok(Some(Admitted { length: ours, division, coarse }))
    }

    #[cold]
    fn tell_of_irregular_step(&self, length: f64, division: Division) {
        let step = &self.integrator.plan().step;
        let built_for = step.h * f64::from(step.substeps);
        self.log(
            Status::Warning,
            format_args!(
                "the communication step is {length}, this FMU was built for {built_for}: it takes {} internal \
                 steps of {} now",
                division.steps, division.h
            ),
        );
    }

    /// How a communication step is cut, and how the twin's is: in half as many.
    fn divide(&self, length: f64) -> (Division, Option<Division>) {
        if !self.has_twin_plan() {
            return (self.integrator.divide(length), None);
        }
        let (division, coarse) = self.integrator.divide_in_pairs(length);
        (division, Some(coarse))
    }

    /// The plan asks for a twin, whether there is one or not: the FMU's own steps do not depend on it.
    fn has_twin_plan(&self) -> bool {
        self.integrator.plan().has_twin()
    }

    /// Compare the two where they stand. Where there is nothing to compare with, the error is not known.
    fn compare(&mut self) {
        let Some(estimate) = &mut self.estimate else { return };
        let beyond = match (estimate.accuracy.source, &mut self.twin) {
            (ErrorSource::Carried, _) => estimate.note_carried(&self.integrator),
            (ErrorSource::Twin, Some(twin)) if twin.is_on() => estimate.compare(&mut self.integrator, twin),
            (ErrorSource::Twin, Some(_)) => {
                estimate.measure.count_unknown();
                return;
            }
            (ErrorSource::Twin, None) => return,
        };
        let Some(beyond) = beyond else { return };
        let Beyond { error, peak, output, late, discrete } = beyond;
        let (time, tolerance) = (self.integrator.live.time, estimate.accuracy.tolerance);
        if let Some(share) = discrete {
            self.log(
                Status::Warning,
                format_args!(
                    "at t = {time} a discrete output was another one for {:.2} % of the time so far than with twice the internal step: it \
                     may be wrong for longer than the tolerance of {:.2} %. A shorter --step helps. fmuBuild.stepsOutsidePlan counts \
                     such steps",
                    100.0 * share,
                    100.0 * tolerance
                ),
            );
            return;
        }
        let accuracy = self.integrator.plan().accuracy.as_ref();
        let name = accuracy.and_then(|it| it.names.get(output)).map_or("an output", String::as_str);
        self.log(
            Status::Warning,
            format_args!(
                "at t = {time} the error of {name} is estimated at {:.2} % of its range so far ({:.2} % at most){}: it may be more \
                 than the tolerance of {:.2} %. Build the FMU with inputs and parameters like these (--inputs, --set), or with a \
                 shorter --step. fmuBuild.stepsOutsidePlan counts such steps",
                100.0 * error,
                100.0 * peak,
                if late { ", most of it jumps that come a step early or late" } else { "" },
                100.0 * tolerance
            ),
        );
    }

    /// What the importer should know though the call went well: each remark once, as a message.
    fn tell_remarks(&mut self) {
        while let Some(remark) = self.integrator.remark() {
            // What the watch could not mend is in the estimated error, if there is one.
            if matches!(remark, Remark::OutsidePlan { .. }) && self.estimates() {
                continue;
            }
            self.log(
                Status::Warning,
                format_args!("{}", messages::explain_remark(remark, self.integrator.plan())),
            );
        }
        if let Some((loss, version)) = self.twin.as_mut().and_then(Twin::news) {
            let (time, loss) = (self.integrator.live.time, loss.explain(version));
            self.log(
                Status::Warning,
                format_args!(
                    "the twin, by which this FMU tells its error, is lost at t = {time}: {loss}. The FMU goes on; fmuBuild.error keeps \
                     its last value, and fmuBuild.stepsOutsidePlan counts the steps from here on"
                ),
            );
        }
    }

    /// The error is being estimated.
    fn estimates(&self) -> bool {
        self.estimate.is_some() && self.twin.as_ref().is_some_and(Twin::is_on)
    }

    /// Step, or stay at the last good state.
    fn advance(&mut self, length: f64, division: Division) -> Result<(), Fault> {
        let Instance { integrator, variables, twin, .. } = self;
        let real = &mut variables.real;
        let known = |reference: u32| real.value(reference).copied();
        if let Some(twin) = twin {
            twin.begin_slopes(known);
        }
        let result =
            integrator.begin_slopes(known).and_then(|()| integrator.advance(length, division).map(drop));
        if result.is_err() {
            integrator.restore();
        }
        integrator.end_slopes(|reference, value| real.note(reference, value));
        result
    }

    pub fn last_successful_time(&self) -> f64 {
        self.integrator.live.time
    }

    /// What was counted since initialisation.
    pub fn counters(&self) -> Counters {
        let live = &self.integrator.live;
        Counters {
            events: live.events,
            carried_events: live.carried_events,
            evaluations: live.evaluations,
            twin_evaluations: self.twin.as_ref().map_or(0, |twin| twin.integrator.live.evaluations),
            watch_evaluations: live.watch_evaluations,
            renewals: live.renewals,
            outside_plan: live.outside_plan,
            plan_defect: live.plan_defect,
            error: self.estimate.as_ref().map_or(0.0, |estimate| estimate.measure.error()),
            beyond_tolerance: self.estimate.as_ref().map_or(0, |estimate| estimate.measure.beyond()),
        }
    }

    /// The twin is there and follows.
    pub fn has_twin(&self) -> bool {
        self.twin.as_ref().is_some_and(Twin::is_on)
    }

    /// What the last communication step took.
    pub fn taken(&self) -> &Counts {
        self.integrator.counts()
    }

    /// The continuous states at the last communication point.
    pub fn states(&self) -> &[f64] {
        &self.integrator.live.x
    }

    pub fn terminated_by_model(&self) -> bool {
        self.terminated_by_model
    }

    /// After a panic nothing is trusted.
    pub fn poison(&mut self) {
        self.phase = Phase::Fatal;
    }

    pub fn poisoned(&self) -> bool {
        self.phase == Phase::Fatal
    }
}

/// Counts since initialisation, and the watch's last value.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Counters {
    pub events: u64,
    /// Internal steps that ended with an event put off to the next.
    pub carried_events: u64,
    /// Evaluations of the model, directional derivatives included; and of these the ones that the watch asked for.
    pub evaluations: u64,
    pub watch_evaluations: u64,
    /// Those of the twin.
    pub twin_evaluations: u64,
    /// Steps done again with a new Jacobian because the watch spoke.
    pub renewals: u64,
    /// Steps in which it spoke and could not be satisfied.
    pub outside_plan: u64,
    pub plan_defect: f64,
    /// The estimated error, and the communication steps in which it was beyond the tolerance.
    pub error: f64,
    pub beyond_tolerance: u64,
}

impl<C: Component> Drop for Instance<C> {
    fn drop(&mut self) {
        for mut saved in std::mem::take(&mut self.saved) {
            let _ = self.free_state(&mut saved);
        }
    }
}
