//! How long a build takes, told as soon as an evaluation of the model has been timed.

use crate::findings::Studied;
use crate::lab::Lab;

/// Plans that are tried on all runs, and evaluations of the model in each of their steps, as most builds have them.
const PLANS: f64 = 12.0;
const EVALUATIONS: f64 = 3.5;
/// Invented runs, where their number is not asked for.
const SCENARIOS: f64 = 7.0;

/// What the study of the given run took and what follows it.
pub struct Effort {
    /// Seconds of the study, and the points that it reached.
    pub studied: f64,
    pub points: u64,
    /// Communication steps of the given runs, and of each invented one, of which there are so many.
    pub given_steps: u64,
    pub scenario_steps: u64,
    pub scenarios: Option<usize>,
}

impl Effort {
    /// Tell how long the rest takes: the accurate solutions of the invented runs, then the plans on all runs.
    pub fn tell(&self, studied: &Studied, lab: &Lab) {
        let (evaluation, jobs) = (studied.prices.evaluation(), lab.jobs() as f64);
        if evaluation <= 0.0 || self.points == 0 {
            return;
        }
        let scenarios = self.scenarios.map_or(SCENARIOS, |count| count as f64);
        let invented = scenarios * self.scenario_steps as f64;
        let accurate = self.studied * invented / self.points as f64;
        let steps = self.given_steps as f64 + invented;
        let trials = PLANS * EVALUATIONS * steps * evaluation;
        // The given run is often as long as all others: two processes share the work of the trials at best.
        let seconds = accurate / jobs + trials / jobs.min(2.0);
        lab.expect(seconds, (accurate + trials) / evaluation, evaluation);
    }
}
