//! What a communication step costs at most, events included: bounded time in numbers.

use fmu_runtime::lu::Operations;
use fmu_runtime::method::{Tableau, WatchPoint};
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
    /// The same where a single event is handled: what most steps with events stay below.
    pub evaluations_one_event: f64,
    /// Calls of `fmi2GetEventIndicators`.
    pub indicator_calls: u32,
    pub operations: u64,
}

impl WorstStep {
    /// `per_colour`: evaluations that a colour of the Jacobian costs.
    pub fn new(plan: &Plan, operations: Operations, per_colour: f64) -> WorstStep {
        let tableau = plan.step.method.tableau();
        let (events, substeps) = (plan.events.max_per_step, plan.step.substeps);
        // Every event but those before the first piece ends a piece early.
        let pieces = 1 + events;
        let trials = match plan.events.indicators {
            0 => 0,
            // The last trial may lie before the event: then one more ends behind it.
            _ => plan.events.bisections + 1,
        };
        let setup = plan.jacobian.setup.len() as f64 * per_colour;
        let varying = plan.jacobian.policy.per_step(plan.jacobian.colours.len()) as f64 * per_colour;
        // Each piece may renew the whole Jacobian: those after events do before they begin, the first one may if it is done again.
        let watched = f64::from(u8::from(plan.jacobian.policy == Policy::Watched));
        let looks = u32::from(tableau.is_limited());
        let attempt = f64::from(tableau.evaluations(plan.model.time_invariant) + looks);
        // Where entries were dropped, a piece may be done once more with all of them.
        let fallback =
            plan.fallback.as_ref().map(|fallback| fallback.jacobian.setup.len() as f64 * per_colour);
        let once_more = f64::from(u8::from(fallback.is_some()));
        // A damped step of linearly implicit Euler ends elsewhere than where the watch looked.
        let looks_again = plan.watch.is_some() && tableau.watch == WatchPoint::End;
        let elsewhere = f64::from(u8::from(looks_again && plan.model.outputs_need_evaluation));
        let piece = |again: f64| {
            (1.0 + again) * (attempt + beside_stages(plan, &tableau))
                + elsewhere
                + setup.max(varying)
                + fallback.unwrap_or(0.0)
        };
        let (first, later) = (piece(watched + once_more), piece(once_more));
        // With a twin, pieces that meet a time event are taken in two.
        let halved = |events: u32| match plan.has_twin() {
            true => f64::from((2 * events).min(substeps + events)) * first,
            false => 0.0,
        };
        let with = |events: u32| {
            f64::from(substeps) * first
                + f64::from(events) * (later + f64::from(trials) * attempt)
                + halved(events)
        };
        let pieces = if plan.has_twin() { 2 * pieces } else { pieces };
        let indicator_calls = match plan.events.indicators {
            0 => 0,
            // After each piece, in each trial, after each event; and once if inputs have changed.
            _ => pieces + events * trials + events + 1,
        };
        // What a step that overshoots is shortened by takes one more.
        let damping = u64::from(tableau.is_limited());
        let solves = tableau.stages.len() as u64 + watch_solutions(plan, &tableau) + damping;
        let attempt_operations =
            tableau.gammas.len() as u64 * operations.refactor + solves * operations.solve;
        let halves = if plan.has_twin() { 2 } else { 1 };
        let again = halves * ((watched + once_more) as u64 + u64::from(events) * once_more as u64);
        let attempts = u64::from(pieces) + again + u64::from(events * trials);
        WorstStep {
            events: events * substeps,
            evaluations: with(events * substeps),
            evaluations_one_event: with(1),
            indicator_calls: indicator_calls * substeps,
            operations: u64::from(substeps)
                * (attempts * attempt_operations
                    + u64::from(pieces) * tableau.gammas.len() as u64 * operations.balance),
        }
    }
}

impl WorstStep {
    /// Together with that of the twin; `outputs`: evaluations for reading what the two are compared by.
    pub fn with_twin(self, twin: WorstStep, outputs: f64) -> WorstStep {
        WorstStep {
            events: self.events,
            evaluations: self.evaluations + twin.evaluations + outputs,
            evaluations_one_event: self.evaluations_one_event + twin.evaluations_one_event + outputs,
            indicator_calls: self.indicator_calls + twin.indicator_calls,
            operations: self.operations + twin.operations,
        }
    }
}

/// Evaluations beside the stages, at most: for the watch, and at the step's end.
pub fn beside_stages(plan: &Plan, tableau: &Tableau) -> f64 {
    f64::from(u8::from(watches_in_time(plan, tableau)) + u8::from(evaluates_end(plan, tableau)))
}

/// The watch needs f at x and the last stage's time: an evaluation, unless it follows from the step before.
pub fn watches_in_time(plan: &Plan, tableau: &Tableau) -> bool {
    let asks = tableau.watch_evaluations(plan.model.time_invariant) > 0;
    plan.watch.is_some() && tableau.watch == WatchPoint::LastStage && asks
}

/// The model is evaluated at the step's end: for the watch, to start the next step with, or because outputs wait for it.
pub fn evaluates_end(plan: &Plan, tableau: &Tableau) -> bool {
    let watches = plan.watch.is_some() && tableau.watch == WatchPoint::End;
    let carries = plan.model.time_invariant && plan.events.indicators > 0;
    watches || carries || plan.model.outputs_need_evaluation
}

/// Solutions that the watch takes in a step.
pub fn watch_solutions(plan: &Plan, tableau: &Tableau) -> u64 {
    plan.watch.map_or(0, |_| u64::from(tableau.watch_solutions()))
}
