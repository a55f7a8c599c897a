//! What a communication step costs at most, events included: bounded time in numbers.

use fmu_runtime::lu::Operations;
use fmu_runtime::plan::{Plan, Policy};
use serde::Serialize;

/// The most that one communication step takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct WorstStep {
    /// Events that are handled in it; more wait for the next.
    pub events: u32,
    /// Evaluations of the model, those for the Jacobian included. A difference that the model refuses at the edge of its
    /// domain and that is taken the other way counts once.
    pub evaluations: f64,
    /// Calls of `fmi2GetEventIndicators`.
    pub indicator_calls: u32,
    pub operations: u64,
}

impl WorstStep {
    /// `per_colour`: evaluations that a colour of the Jacobian costs.
    pub fn new(plan: &Plan, operations: Operations, per_colour: f64) -> WorstStep {
        let events = plan.events.max_per_step;
        // Every event but those before the first piece ends a piece early.
        let pieces = plan.step.substeps + events;
        let setup = plan.jacobian.setup.len() as f64;
        let varying = plan.jacobian.policy.per_step(plan.jacobian.colours.len()) as f64;
        // Everything anew: in the first piece of a simulation, and unless rolling in each after an event.
        let anew = if let Policy::Rolling { .. } = plan.jacobian.policy { 1 } else { events + 1 };
        let fresh = f64::from(anew) * setup.max(varying) + f64::from(pieces - anew) * varying;
        let indicator_calls = match plan.events.indicators {
            0 => 0,
            // After each piece, while an event is located, after it; and once if inputs have changed.
            _ => pieces + events * (plan.events.bisections + 1) + 1,
        };
        WorstStep {
            events,
            evaluations: f64::from(pieces) + per_colour * fresh,
            indicator_calls,
            operations: u64::from(pieces) * (operations.refactor + operations.solve)
                + u64::from(anew) * operations.balance,
        }
    }
}
