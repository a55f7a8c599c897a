//! An invented run to draw, where nothing moves in the given one.
//!
//! A model at rest without inputs is followed by every plan without an error: its curves are flat and show nothing. The invented run with the largest
//! error is run once more, so that the report has something to show.

use crate::decide::{Decision, ReferenceRun};
use crate::findings::Simulate;
use crate::interface::Interface;
use crate::lab::Lab;

/// The watched quantities of a run, accurate and by the plan, at `times`.
#[derive(Clone, Debug, Default)]
pub struct MovedRun {
    /// What moves in it, for people.
    pub name: String,
    pub times: Vec<f64>,
    pub reference: Vec<Vec<f64>>,
    pub simulated: Vec<Vec<f64>>,
    /// Per quantity.
    pub errors: Vec<f64>,
}

impl MovedRun {
    /// Run it. `None` where something moves in a given run, or in no other. `step`: the communication step.
    pub fn find(
        decision: &Decision,
        runs: &[ReferenceRun],
        interface: &Interface,
        step: f64,
        lab: &Lab,
    ) -> Option<MovedRun> {
        let moves = |run: &&ReferenceRun| run.ranges().moving().any(|range| range.is_some());
        if runs.iter().filter(|run| run.given).any(|run| moves(&run)) {
            return None;
        }
        let error = |run: &ReferenceRun| {
            let known = decision.explored.runs.iter().find(|known| known.name == run.label && known.counts);
            known.and_then(|known| known.error)
        };
        let moving = runs.iter().filter(|run| !run.given).filter(moves);
        let run = moving
            .filter(|run| error(run).is_some())
            .max_by(|a, b| error(a).unwrap_or(0.0).total_cmp(&error(b).unwrap_or(0.0)))?;
        let simulate = Simulate {
            interface: interface.clone(),
            experiment: run.experiment.clone(),
            plan: decision.plan.clone(),
            steps: run.steps,
            every: run.every,
            alone: true,
        };
        let simulated = lab.simulate("an invented run, to draw it", simulate).ok()?.trajectory;
        let interval = step * run.every as f64;
        Some(MovedRun {
            name: run.label.clone(),
            times: (0..run.trajectory.len()).map(|k| run.experiment.start + k as f64 * interval).collect(),
            errors: run.ranges().errors(&run.trajectory, &simulated),
            reference: run.trajectory.clone(),
            simulated,
        })
    }
}
