//! What the importer is told of faults and remarks: the stepper's values in FMI's words.

use crate::fault::Fault;
use crate::integrator::Remark;
use crate::plan::Plan;
use crate::status::Status;
use crate::version::{Function, Version};
use std::fmt;

/// The status that the importer gets.
pub fn status(fault: Fault) -> Status {
    match fault {
        Fault::Model { status: stepper::status::Status::Fatal, .. } => Status::Fatal,
        Fault::Terminated { .. } => Status::Discard,
        _ => Status::Error,
    }
}

/// The message, with the names that the plan and the model's version of FMI know.
pub fn explain_fault(fault: Fault, plan: &Plan, version: Version) -> impl fmt::Display + '_ {
    ExplainedFault { fault, plan, version }
}

/// The message, with the names that the plan knows.
pub fn explain_remark(remark: Remark, plan: &Plan) -> impl fmt::Display + '_ {
    ExplainedRemark { remark, plan }
}

/// FMI's status for the stepper's.
pub fn status_of(status: stepper::status::Status) -> Status {
    match status {
        stepper::status::Status::Ok => Status::Ok,
        stepper::status::Status::Discard => Status::Discard,
        stepper::status::Status::Error => Status::Error,
        stepper::status::Status::Fatal => Status::Fatal,
    }
}

struct ExplainedFault<'a> {
    fault: Fault,
    plan: &'a Plan,
    version: Version,
}

impl fmt::Display for ExplainedFault<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |state: u32| self.plan.states.names.get(state as usize).map_or("?", |name| name.as_str());
        match self.fault {
            Fault::Model { call, status, time } => {
                let call = self.version.name(Function::Integration(call));
                let status = self.version.status(status_of(status));
                write!(f, "the model's {call} returned {status} at t = {time}")
            }
            Fault::Derivative { state, value, time } => write!(
                f,
                "the derivative of {} is {value} at t = {time}; the last good state is kept",
                name(state)
            ),
            Fault::State { state, value, time } => {
                write!(f, "the event at t = {time} made {} {value}; the last good state is kept", name(state))
            }
            Fault::Indicator { indicator, time } => write!(
                f,
                "event indicator {} is not a number at t = {time}; the last good state is kept",
                indicator + 1
            ),
            Fault::EventTime { time } => write!(
                f,
                "after the event at t = {time} the model asks for the next one at a time that is not a number; the last good state is kept"
            ),
            Fault::Diverged { state, value, time } => write!(
                f,
                "{} diverged to {value:e} at t = {time}; the last good state is kept. \
                 Build it again with inputs and parameters like these (--inputs, --set), or with a shorter --step",
                name(state)
            ),
            Fault::Pivot { state, time } => write!(
                f,
                "the step's equations are singular at {} at t = {time}; the last good state is kept. \
                 Another step (fmu-build --step) may help",
                name(state)
            ),
            Fault::EventIteration { limit, time } => {
                write!(f, "the event at t = {time} did not settle within {limit} iterations")
            }
            Fault::Terminated { time } => write!(f, "the model ended the simulation at t = {time}"),
        }
    }
}

struct ExplainedRemark<'a> {
    remark: Remark,
    plan: &'a Plan,
}

/// A share in per cent, without allocation: `0.31 %`, `2.3e7 %`.
struct Percent(f64);

impl fmt::Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match 100.0 * self.0 {
            value if !value.is_finite() => write!(f, "more than 1e300 %"),
            value if value.abs() >= 1e5 => write!(f, "{value:.1e} %"),
            value => write!(f, "{value:.2} %"),
        }
    }
}

impl fmt::Display for ExplainedRemark<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.remark {
            Remark::Fallback => write!(
                f,
                "with these parameters, inputs and start values the plan's partly implicit step is not stable: every step is taken \
                 fully implicit instead. Build the FMU with such values (--set, --inputs) for a plan that fits them"
            ),
            Remark::OutsidePlan { state, defect, time } => write!(
                f,
                "at t = {time} {} moves in a way that this FMU was not built for (defect {} of its size): results may be less accurate than \
                 certified. Build it with inputs and parameters like these (--inputs, --set), or with a shorter --step. \
                 fmuBuild.stepsOutsidePlan counts such steps",
                self.plan.states.names.get(state as usize).map_or("a state", String::as_str),
                Percent(defect)
            ),
            Remark::CarriedEvent { time } => write!(
                f,
                "more than {} events in one internal step at t = {time}: the rest wait for the next step. fmuBuild.carriedEvents counts such steps",
                self.plan.events.max_per_step
            ),
        }
    }
}
