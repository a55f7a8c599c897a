//! Why a step could not be taken. Small and `Copy`: making one costs nothing inside a step.

use crate::model::Call;
use crate::status::Status;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Fault {
    /// The model refused a call.
    Model { call: Call, status: Status, time: f64 },
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
    /// The event asked for ever more iterations.
    EventIteration { limit: u32, time: f64 },
    /// The model ended the simulation.
    Terminated { time: f64 },
}

impl Fault {
    /// A better approximation of the Jacobian may help.
    pub fn may_be_the_matrix(self) -> bool {
        let refused = matches!(self, Fault::Model { status: Status::Discard, .. });
        refused || matches!(self, Fault::Derivative { .. } | Fault::Diverged { .. } | Fault::Pivot { .. })
    }
}
