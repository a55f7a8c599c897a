//! Why a step could not be taken. Small and `Copy`: making one costs nothing inside a step.

use crate::plan::Plan;
use crate::status::Status;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// The inner FMU refused a call.
    Inner { call: &'static str, status: Status, time: f64 },
    /// A derivative that is not a number or infinite.
    Derivative { state: u32, value: f64, time: f64 },
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
            Fault::Inner { status: Status::Fatal, .. } => Status::Fatal,
            Fault::Terminated { .. } => Status::Discard,
            _ => Status::Error,
        }
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
            Fault::Inner { call, status, time } => {
                write!(f, "the model's {call} returned {} at t = {time}", status.name())
            }
            Fault::Derivative { state, value, time } => write!(
                f,
                "the derivative of {} is {value} at t = {time}; the last good state is kept",
                name(state)
            ),
            Fault::Diverged { state, value, time } => write!(
                f,
                "{} diverged to {value:e} at t = {time}; the last good state is kept. \
                 A smaller step (fmu-build --step) may help",
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
