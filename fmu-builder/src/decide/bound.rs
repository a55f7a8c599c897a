//! What a communication step costs at most, events included: bounded time in numbers, counted and not derived.

use super::counted::Counter;
use serde::Serialize;

/// The most that one communication step takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct WorstStep {
    /// Events that are handled in it; more wait for the next.
    pub events: u32,
    /// Evaluations of the model, those for the Jacobian included. A difference that the model refuses at the edge of its
    /// domain and that is taken the other way counts once.
    pub evaluations: f64,
    /// The same where a single event is handled: what most steps with events stay below.
    pub evaluations_one_event: f64,
    /// Calls of `fmi2GetEventIndicators`.
    pub indicator_calls: u32,
    pub operations: u64,
    /// Evaluations as calls, whatever each costs, without reading outputs: what a run counts.
    #[serde(skip)]
    pub calls: u64,
}

impl WorstStep {
    /// `outputs`: evaluations for reading what the FMU and its twin are compared by.
    pub fn new(counter: &Counter, outputs: f64) -> WorstStep {
        let (all, one) = (counter.worst(None), counter.worst(Some(1)));
        WorstStep {
            events: u32::try_from(all.events).unwrap_or(u32::MAX),
            evaluations: all.evaluations + outputs,
            evaluations_one_event: one.evaluations + outputs,
            indicator_calls: u32::try_from(all.indicators).unwrap_or(u32::MAX),
            operations: all.operations,
            calls: all.calls,
        }
    }

    /// Raised to a step that was seen to take more, which tells of an error of ours. True if it had to be.
    pub fn raise(&mut self, seen: u64) -> bool {
        if seen <= self.calls {
            return false;
        }
        let more = (seen - self.calls) as f64;
        self.evaluations += more;
        self.evaluations_one_event = self.evaluations_one_event.max(self.evaluations);
        self.calls = seen;
        true
    }
}
