//! The co-simulation life cycle: every call of the importer, checked against FMI's state machine.
//!
//! [`CALLS`] says which call is legal in which phase. Illegal calls and unknown value references give
//! `fmi2Error` and a message and change nothing.

mod saved;
mod values;

use crate::access::Access;
use crate::fault::Fault;
use crate::fmi::{Callbacks, Fmu2};
use crate::integrator::Integrator;
use crate::memory;
use crate::plan::Plan;
use crate::resources::PLAN;
use crate::status::Status;
use serde::{Deserialize, Serialize};
use std::ffi::{CStr, CString};
use std::fmt::Arguments;
use std::time::Instant;

use saved::Saved;
use values::Batch;

pub struct Instance {
    name: CString,
    host: Callbacks,
    logging: bool,
    phase: Phase,
    integrator: Integrator<Fmu2>,
    real: Access<f64>,
    integer: Access<i32>,
    boolean: Access<i32>,
    string: Access<CString>,
    start_time: f64,
    tolerance: Option<f64>,
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
    /// Changed values on their way to the inner FMU.
    batch: Batch,
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

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Call {
    SetDebugLogging,
    SetupExperiment,
    EnterInitializationMode,
    ExitInitializationMode,
    Terminate,
    Reset,
    Get,
    Set,
    FmuState,
    DirectionalDerivative,
    InputDerivatives,
    OutputDerivatives,
    DoStep,
}

/// Which call is legal in which phase (FMI 2.0.4, section 4.2.4).
const CALLS: &[(Call, &str, &[Phase])] = {
    use Phase::*;
    const ALIVE: &[Phase] = &[Instantiated, Initialization, Step, StepFailed, Terminated, Error];
    const INITIALISED: &[Phase] = &[Initialization, Step, StepFailed, Terminated, Error];
    &[
        (Call::SetDebugLogging, "fmi2SetDebugLogging", ALIVE),
        (Call::SetupExperiment, "fmi2SetupExperiment", &[Instantiated]),
        (Call::EnterInitializationMode, "fmi2EnterInitializationMode", &[Instantiated]),
        (Call::ExitInitializationMode, "fmi2ExitInitializationMode", &[Initialization]),
        (Call::Terminate, "fmi2Terminate", &[Step, StepFailed]),
        (Call::Reset, "fmi2Reset", ALIVE),
        (Call::Get, "fmi2Get*", INITIALISED),
        (Call::Set, "fmi2Set*", &[Instantiated, Initialization, Step]),
        (Call::FmuState, "fmi2*FMUstate", ALIVE),
        (Call::DirectionalDerivative, "fmi2GetDirectionalDerivative", INITIALISED),
        (Call::InputDerivatives, "fmi2SetRealInputDerivatives", &[Instantiated, Initialization, Step]),
        (Call::OutputDerivatives, "fmi2GetRealOutputDerivatives", &[Step, StepFailed]),
        (Call::DoStep, "fmi2DoStep", &[Step]),
    ]
};

const ERROR: &CStr = c"logStatusError";
const WARNING: &CStr = c"logStatusWarning";

/// A relative difference of the importer's time to ours, in steps, that is not rounding any more.
const TIME_SLACK: f64 = 0.01;
/// Steps that are tried before the first one.
const REHEARSALS: usize = 3;

impl Instance {
    /// Around an inner FMU that is instantiated already.
    pub fn with_inner(
        name: &str,
        plan: Plan,
        inner: Fmu2,
        host: Callbacks,
        logging: bool,
    ) -> Result<Instance, String> {
        let variables = &plan.variables;
        Ok(Instance {
            name: CString::new(name.replace('\0', "")).unwrap_or_default(),
            host,
            logging,
            phase: Phase::Instantiated,
            real: Access::new(&variables.real),
            integer: Access::new(&variables.integer),
            boolean: Access::new(&variables.boolean),
            string: Access::new(&variables.string),
            integrator: Integrator::new(plan, inner)
                .map_err(|reason| format!("{PLAN} is damaged: {reason}"))?,
            start_time: 0.0,
            tolerance: None,
            terminated_by_model: false,
            warned_about_step: false,
            step_time: 0.0,
            overruns: 0,
            allocations: 0,
            measure_time: false,
            saved: Vec::new(),
            batch: Batch::default(),
        })
    }

    fn log(&self, status: Status, category: &CStr, message: Arguments) {
        self.host.log(&self.name, status, category, message);
    }

    /// Say what is wrong, change nothing.
    fn refuse(&self, message: Arguments) -> Status {
        self.log(Status::Error, ERROR, message);
        Status::Error
    }

    /// Null when the call is legal now; otherwise its status.
    fn illegal(&self, call: Call) -> Option<Status> {
        let (_, name, phases) = CALLS.iter().find(|(known, _, _)| *known == call)?;
        if phases.contains(&self.phase) {
            return None;
        }
        Some(self.refuse(format_args!("{name} is not allowed in the phase {:?}", self.phase)))
    }

    /// A call of the inner FMU failed: pass its status on, and remember that nothing goes on from here.
    fn failed(&mut self, call: &str, status: Status) -> Status {
        self.log(status, ERROR, format_args!("the model's {call} returned {}", status.name()));
        match status {
            Status::Fatal => self.phase = Phase::Fatal,
            Status::Error => self.phase = Phase::Error,
            _ => {}
        }
        status
    }

    fn fault(&mut self, fault: Fault) -> Status {
        let status = fault.status();
        self.log(status, ERROR, format_args!("{}", fault.explain(&self.integrator.plan)));
        self.phase = match fault {
            Fault::Terminated { .. } => Phase::StepFailed,
            _ if status == Status::Fatal => Phase::Fatal,
            _ => Phase::Error,
        };
        self.terminated_by_model = matches!(fault, Fault::Terminated { .. });
        status
    }

    pub fn set_debug_logging(&mut self, on: bool, categories: &[&CStr]) -> Status {
        if let Some(status) = self.illegal(Call::SetDebugLogging) {
            return status;
        }
        self.logging = on;
        // Our own categories are not the inner FMU's; those that it does not know it may refuse.
        let _ = self.integrator.model.set_debug_logging(on, categories);
        Status::Ok
    }

    pub fn setup_experiment(&mut self, tolerance: Option<f64>, start: f64, stop: Option<f64>) -> Status {
        if let Some(status) = self.illegal(Call::SetupExperiment) {
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
        Status::Ok
    }

    pub fn enter_initialization_mode(&mut self) -> Status {
        if let Some(status) = self.illegal(Call::EnterInitializationMode) {
            return status;
        }
        let inner = &mut self.integrator.model;
        // No stop time: some tools then refuse the last step by one rounding error, and an importer may
        // always go on after it.
        let status = inner.setup_experiment(self.tolerance, self.start_time, None);
        if !status.is_usable() {
            return self.failed("fmi2SetupExperiment", status);
        }
        let status = inner.enter_initialization_mode();
        if !status.is_usable() {
            return self.failed("fmi2EnterInitializationMode", status);
        }
        self.phase = Phase::Initialization;
        Status::Ok
    }

    pub fn exit_initialization_mode(&mut self) -> Status {
        if let Some(status) = self.illegal(Call::ExitInitializationMode) {
            return status;
        }
        let status = self.integrator.model.exit_initialization_mode();
        if !status.is_usable() {
            return self.failed("fmi2ExitInitializationMode", status);
        }
        if let Err(fault) = self.integrator.start(self.start_time) {
            return self.fault(fault);
        }
        self.read_settable();
        self.phase = Phase::Step;
        self.rehearse();
        Status::Ok
    }

    /// Try the first step and forget it, a few times, as a solver tries steps that it then refuses: the one that counts
    /// finds code and data at hand.
    fn rehearse(&mut self) {
        let Some(begin) = self.integrator.begin_rehearsal() else { return };
        let step = &self.integrator.plan.step;
        let length = step.h * step.substeps as f64;
        for _ in 0..REHEARSALS {
            self.integrator.rewind(&begin);
            let _ = self.do_step(begin.time, length);
        }
        self.integrator.rewind(&begin);
        self.integrator.end_rehearsal(begin);
        (self.step_time, self.overruns, self.allocations) = (0.0, 0, 0);
    }

    pub fn terminate(&mut self) -> Status {
        if let Some(status) = self.illegal(Call::Terminate) {
            return status;
        }
        let status = self.integrator.model.terminate();
        self.phase = Phase::Terminated;
        if status.is_usable() { Status::Ok } else { self.failed("fmi2Terminate", status) }
    }

    pub fn reset(&mut self) -> Status {
        if let Some(status) = self.illegal(Call::Reset) {
            return status;
        }
        let status = self.integrator.model.reset();
        if !status.is_usable() {
            return self.failed("fmi2Reset", status);
        }
        self.integrator.forget();
        self.real.forget();
        self.integer.forget();
        self.boolean.forget();
        self.string.forget();
        self.phase = Phase::Instantiated;
        self.start_time = 0.0;
        self.tolerance = None;
        self.terminated_by_model = false;
        self.step_time = 0.0;
        self.overruns = 0;
        self.allocations = 0;
        Status::Ok
    }

    pub fn do_step(&mut self, time: f64, length: f64) -> Status {
        if let Some(status) = self.illegal(Call::DoStep) {
            return status;
        }
        let begin = self.measure_time.then(|| (Instant::now(), memory::requests()));
        if !(length > 0.0 && length < f64::INFINITY) {
            return self.refuse(format_args!("the communication step is {length}; it must be positive"));
        }
        let h = self.integrator.plan.step.h;
        let here = self.integrator.live.time;
        if time.is_nan() || (time - here).abs() > TIME_SLACK * h + 1e-9 * here.abs() {
            return self.refuse(format_args!(
                "the communication point is {time}, but the last step ended at {here}"
            ));
        }
        let division = self.integrator.divide(length);
        let mut status = Status::Ok;
        if division.irregular && !self.warned_about_step {
            self.warned_about_step = true;
            status = Status::Warning;
            let built_for = h * self.integrator.plan.step.substeps as f64;
            self.log(
                status,
                WARNING,
                format_args!(
                    "the communication step is {length}, this FMU was built for {built_for}: it takes {} internal \
                     steps of {} now",
                    division.steps, division.h
                ),
            );
        }
        let extrapolated = !self.integrator.live.extrapolation.references.is_empty();
        if extrapolated {
            self.begin_extrapolation();
        }
        if let Err(fault) = self.integrator.advance(length, division) {
            self.integrator.restore();
            status = if self.integrator.rehearsing { Status::Error } else { self.fault(fault) };
        }
        if extrapolated {
            self.end_extrapolation();
        }
        if let Some((begin, requests)) = begin {
            self.allocations += memory::requests() - requests;
            self.step_time = begin.elapsed().as_secs_f64();
            self.overruns += (self.step_time > length) as i32;
        }
        status
    }

    /// Inputs with a slope start from the values that were set last.
    fn begin_extrapolation(&mut self) {
        let live = &mut self.integrator.live;
        live.extrapolation.origin = live.time;
        let extrapolation = &mut live.extrapolation;
        for (value, &reference) in extrapolation.values.iter_mut().zip(&extrapolation.references) {
            *value = self.real.find(reference).and_then(|index| self.real.values[index]).unwrap_or(0.0);
        }
    }

    /// A slope holds for one step; the inner FMU is left with the inputs at the step's end.
    fn end_extrapolation(&mut self) {
        let extrapolation = &mut self.integrator.live.extrapolation;
        for (&value, &reference) in extrapolation.current.iter().zip(&extrapolation.references) {
            if let Some(index) = self.real.find(reference) {
                self.real.values[index] = Some(value);
            }
        }
        extrapolation.clear();
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
            renewals: live.renewals,
            outside_plan: live.outside_plan,
            plan_defect: live.plan_defect,
        }
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
    /// Evaluations of the model, directional derivatives included.
    pub evaluations: u64,
    /// Steps done again with a new Jacobian because the watch spoke.
    pub renewals: u64,
    /// Steps in which it spoke and could not be satisfied.
    pub outside_plan: u64,
    pub plan_defect: f64,
}

impl Drop for Instance {
    fn drop(&mut self) {
        for saved in &mut self.saved {
            let _ = self.integrator.model.free_fmu_state(&mut saved.inner);
        }
    }
}
