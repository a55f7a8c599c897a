//! What the runs of a plan showed: its errors, given and invented, and what its steps took.

use crate::decide::switching::{self, Switching, switching};
use crate::decide::{ExploredRun, Peak, ReferenceRun, Told};
use crate::findings::Simulated;

/// What the runs showed.
#[derive(Default)]
pub(super) struct Outcome {
    /// Of the first run.
    pub simulated: Simulated,
    /// Per quantity, the largest over the given runs.
    pub errors: Vec<f64>,
    pub errors_but_for_lateness: Vec<f64>,
    /// Of the outputs that are no Reals, on the given runs and on the invented ones.
    pub switching: Vec<Switching>,
    pub explored_switching: Vec<Switching>,
    /// The largest deviation of each quantity at a point of a given run.
    pub peaks: Vec<Peak>,
    /// The largest of the errors.
    pub error: Option<f64>,
    /// The invented runs, unless the given ones failed already.
    pub runs: Vec<ExploredRun>,
    /// The largest error over them.
    pub explored: Option<f64>,
    /// What the FMU would say of its error, for each run.
    pub told: Vec<Told>,
    /// Invented runs on which the FMU stops with an error, and why. That chooses against a plan; it refuses none.
    pub stopped: Vec<String>,
    /// Within the tolerance on the given runs, and on the others, or there not far from the fresh step.
    pub holds: bool,
    /// Evaluations of the model in a communication step, as calls: the most on any run.
    pub most_calls: u64,
}

impl Outcome {
    /// The largest error over all runs that came to their end.
    pub fn largest(&self) -> f64 {
        self.error.unwrap_or(0.0).max(self.explored.unwrap_or(0.0))
    }

    /// What plans are compared by: a run that stops is worse than any error.
    pub fn worst(&self) -> f64 {
        if self.stopped.is_empty() { self.largest() } else { f64::INFINITY }
    }

    /// The largest deviation at a point of the given runs.
    pub fn peak(&self) -> f64 {
        self.peaks.iter().map(|peak| peak.deviation).fold(0.0, f64::max)
    }

    /// Keep the larger ones.
    pub fn merge(&mut self, run: &ReferenceRun, simulated: &Simulated, step: f64) {
        let (ranges, reference, found) = (run.ranges(), &run.trajectory, &simulated.trajectory);
        let new = ranges.peaks(reference, found);
        self.peaks.resize(self.peaks.len().max(new.len()), Peak::default());
        for (known, (deviation, at)) in self.peaks.iter_mut().zip(new) {
            if deviation > known.deviation {
                let time = run.experiment.start + (at as u64 * run.every) as f64 * step;
                *known = Peak { deviation, time };
            }
        }
        for (known, new) in [
            (&mut self.errors, ranges.errors(reference, found)),
            (&mut self.errors_but_for_lateness, ranges.errors_but_for_lateness(reference, found)),
        ] {
            known.resize(known.len().max(new.len()), 0.0);
            known.iter_mut().zip(new).for_each(|(known, new)| *known = known.max(new));
        }
        switching::merge(&mut self.switching, switching(&run.discrete, &simulated.discrete, run.every));
    }
}
