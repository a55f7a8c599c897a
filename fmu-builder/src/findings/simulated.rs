//! What a trial run of a plan asks and what it finds.

use super::Computing;
use crate::experiment::Experiment;
use crate::interface::Interface;
use fmu_runtime::plan::Plan;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Simulate {
    pub interface: Interface,
    pub experiment: Experiment,
    /// The plan that is tried.
    pub plan: Plan,
    /// Communication steps, and how many of them lie between two recorded points.
    pub steps: u64,
    pub every: u64,
    /// Without the second instance, even where the plan asks for one.
    pub alone: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Simulated {
    /// The watched quantities at the start and at each recorded point that was reached.
    pub trajectory: Vec<Vec<f64>>,
    /// The outputs that are no Reals at the same points.
    pub discrete: Vec<Vec<i64>>,
    /// The estimated error at the same points, the step's end; and its parts: peak, what is left but for lateness, share of the time in which
    /// discrete outputs differ.
    pub estimates: Vec<f64>,
    /// The twin was lost on the way, or the plan has none.
    pub without_twin: bool,
    /// Communication steps in which the estimated error was beyond the tolerance.
    pub beyond_tolerance: u64,
    /// The step that failed, and why.
    pub failed: Option<String>,
    pub events: u64,
    pub carried_events: u64,
    /// Evaluations of the model in a communication step: on average, and at most.
    pub evaluations: f64,
    pub twin_evaluations: f64,
    pub worst_evaluations: u64,
    /// The watch's value: what 99 of 100 communication steps stay below, and the largest since the point before, for each recorded point.
    pub defect: f64,
    pub defects: Vec<f64>,
    /// Evaluations that it asked for to tell time from the matrix.
    pub watch_evaluations: u64,
    /// Steps that it had done again with a new Jacobian, and steps that could not be mended.
    pub renewals: u64,
    pub outside: u64,
    /// Wall-clock seconds of the steps, ascending; a run with many steps keeps the slowest and an even choice.
    pub step_times: Vec<f64>,
    /// Median, 99.9 % and longest of all of them.
    pub quantiles: Option<[f64; 3]>,
    /// What of that was computing, where the system tells.
    pub computing: Option<Computing>,
}

/// Median, 99.9 % and longest of sorted times.
pub fn quantiles(sorted: &[f64]) -> Option<[f64; 3]> {
    let last = sorted.len().checked_sub(1)?;
    Some([0.5, 0.999, 1.0].map(|share| sorted[(last as f64 * share).round() as usize]))
}

#[cfg(test)]
mod tests {
    use super::quantiles;

    #[test]
    fn quantiles_are_those_of_all_steps() {
        let times: Vec<f64> = (0..=10_000).map(f64::from).collect();
        assert_eq!(quantiles(&times), Some([5000.0, 9990.0, 10_000.0]));
        assert_eq!(quantiles(&[]), None);
    }
}
