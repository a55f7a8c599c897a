//! Why a step could not be taken. Small and `Copy`: making one costs nothing inside a step.

use crate::plan::Plan;
use crate::status::Status;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// The model refused a call.
    Model { call: &'static str, status: Status, time: f64 },
    /// A derivative that is not a number or infinite.
    Derivative { state: u32, value: f64, time: f64 },
    /// A state that an event made infinite or no number.
    State { state: u32, value: f64, time: f64 },
    /// An event indicator that is not a number.
    Indicator { indicator: u32, time: f64 },
    /// The next time event is not a number.
    EventTime { time: f64 },
    /// A state left every reasonable range.
    Diverged { state: u32, value: f64, time: f64 },
    /// I - h A cannot be inverted safely at this state's row.
    Pivot { state: u32, time: f64 },
    /// `fmi2NewDiscreteStates` asked for ever more iterations.
    EventIteration { limit: u32, time: f64 },
    /// The model ended the simulation.
    Terminated { time: f64 },
}

impl Fault {
    /// What the importer is told.
    pub fn status(self) -> Status {
        match self {
            Fault::Model { status: Status::Fatal, .. } => Status::Fatal,
            Fault::Terminated { .. } => Status::Discard,
            _ => Status::Error,
        }
    }

    /// A better approximation of the Jacobian may help.
    pub fn may_be_the_matrix(self) -> bool {
        let refused = matches!(self, Fault::Model { status: Status::Discard, .. });
        refused || matches!(self, Fault::Derivative { .. } | Fault::Diverged { .. } | Fault::Pivot { .. })
    }

    /// The message, with the names that the plan knows.
    pub fn explain(self, plan: &Plan) -> impl fmt::Display + '_ {
        Explained { fault: self, plan }
    }
}

struct Explained<'a> {
    fault: Fault,
    plan: &'a Plan,
}

impl fmt::Display for Explained<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |state: u32| self.plan.states.names.get(state as usize).map_or("?", |name| name.as_str());
        match self.fault {
            Fault::Model { call, status, time } => {
                write!(f, "the model's {call} returned {} at t = {time}", status.name())
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
