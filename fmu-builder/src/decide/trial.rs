//! Trials: plans judged, run with the code that ships over every run, and compared with the accurate solution.

mod choose;
mod finish;
mod outcome;
mod plans;
mod run;
mod twin;

use super::candidates::{Candidate, lengths};
use super::draft::{Cost, Draft, Shares};
use super::{Problem, ReferenceRun};
use crate::analysis::verdict::{Age, Verdict, verdict};
use crate::deviation::largest;
use crate::findings::Simulated;
use crate::lab::Lab;
use crate::options::{Budget, Options};
use crate::warning::Warnings;
use fmu_runtime::plan::{Method, Plan, Policy, Watch};
use outcome::Outcome;
use serde::Serialize;

/// One plan that was considered.
#[derive(Clone, Debug, Serialize)]
pub struct Trial {
    pub label: String,
    pub method: String,
    pub policy: String,
    pub kept_nonzeros: usize,
    pub evaluations_per_step: f64,
    pub evaluations_worst_step: f64,
    pub operations_per_step: u64,
    /// On the given runs. `None`: it was not run, or failed.
    pub error: Option<f64>,
    /// On the invented ones, the largest.
    pub explored_error: Option<f64>,
    /// The longest communication step without events, in parts of its length.
    pub longest_step_share: f64,
    /// Why it failed, or was not wanted.
    pub failed: Option<String>,
    /// Why another one was chosen.
    pub lost: Option<String>,
    pub chosen: bool,
}

/// The default budget: a share of the communication step, for its worst internal steps. A soft border: see `Judge::score`.
const SHARE: f64 = 0.1;
/// On invented runs a plan may err by this many times the error of the fresh, fully implicit step.
const FRESH_FACTOR: f64 = 2.0;
/// An error above the whole range of what is compared. A phase that is lost gives less: this run has left what the model is made for.
const SENSELESS: f64 = 1.0;
/// Seconds that all trials together may take, by the price of their evaluations and steps: a clock would decide differently from day to day.
const PATIENCE: f64 = 20.0;
/// Of these, what the fresh, fully implicit step may take.
const PATIENCE_FRESH: f64 = 5.0;
/// What takes longer is worth several processes.
const WORTH_PROCESSES: f64 = 1.0;
/// Seconds of a step beside its evaluations.
const STEP: f64 = 5e-7;
/// The watch speaks above this part of a state's size at most, and above this share of the tolerance where that is tighter.
const THRESHOLD: f64 = 3e-3;
const SHARE_OF_TOLERANCE: f64 = 0.3;
/// Where its threshold may lie: differences are good to sqrt(eps).
const THRESHOLDS: [f64; 2] = [1e-7, 1e-1];
/// A step is outside the plan where the watch finds this many times more than a fresh Jacobian leaves in 99 of 100 steps.
const ABOVE_FRESH: f64 = 2.0;

struct Tried {
    candidate: Candidate,
    plan: Plan,
    cost: Cost,
    /// Within the user's budget; without one, within the communication step.
    fits: bool,
    verdict: Verdict,
    outcome: Option<Outcome>,
    failed: Option<String>,
    /// It was looked for only because others take long.
    in_need_of_time: bool,
}

/// Runs trials and remembers what came out.
pub struct Judge<'a> {
    problem: &'a Problem<'a>,
    options: &'a Options,
    lab: &'a Lab,
    runs: &'a [ReferenceRun],
    /// Estimated seconds of the trials so far.
    spent: f64,
    tried: Vec<Tried>,
    /// Errors of the fresh, fully implicit step, one for each run.
    fresh: Vec<Option<f64>>,
    /// Runs that may choose.
    counts: Vec<bool>,
    threshold: f64,
    outside: f64,
    /// What is tried now is tried only because what was tried takes long.
    pub in_need_of_time: bool,
    /// Plans that were not tried, since all trials together would take too long.
    left_out: usize,
    pub warnings: Warnings,
}

impl<'a> Judge<'a> {
    pub fn new(
        problem: &'a Problem<'a>,
        options: &'a Options,
        runs: &'a [ReferenceRun],
        lab: &'a Lab,
    ) -> Judge<'a> {
        let (tried, fresh, warnings) = (Vec::new(), vec![None; runs.len()], Warnings::new());
        let counts = runs.iter().map(|run| run.counts).collect();
        let threshold = speaks_above(options.tolerance);
        let outside = threshold;
        Judge {
            problem,
            options,
            lab,
            runs,
            spent: 0.0,
            tried,
            fresh,
            counts,
            threshold,
            outside,
            in_need_of_time: false,
            left_out: 0,
            warnings,
        }
    }

    /// Run the fresh, fully implicit step on every run: what the others are measured by, and what the watch must let pass.
    pub fn measure_fresh(&mut self, everything: &Candidate) {
        let draft = Draft::new(self.problem, &everything.mask);
        let policy = if draft.colours() == 0 { Policy::Frozen } else { Policy::Every };
        let silent = Watch { threshold: f64::MAX, outside: f64::MAX, sums: true };
        let mut plan = draft.plan(self.problem, Method::Lie, policy, Some(silent), None);
        let mut seconds = self.seconds(&plan, &draft.cost(&plan, Shares::default()));
        if seconds > PATIENCE_FRESH {
            // Hundreds of colours in every step would take minutes: then a Jacobian that is renewed where it matters stands for a fresh one.
            let strict = Watch { threshold: self.threshold / 3.0, ..silent };
            plan = draft.plan(self.problem, Method::Lie, Policy::Watched, Some(strict), None);
            seconds = self.seconds(&plan, &draft.cost(&plan, Shares::default()));
        }
        let runs: Vec<&ReferenceRun> = self.runs.iter().collect();
        let answers = self.simulate("the fully implicit step", &plan, &runs, seconds);
        let error = |run: &ReferenceRun, simulated: &Result<Simulated, String>| {
            let simulated = simulated.as_ref().ok().filter(|simulated| simulated.failed.is_none())?;
            largest(&run.ranges().errors(&run.trajectory, &simulated.trajectory))
        };
        self.fresh = self.runs.iter().zip(&answers).map(|(run, answer)| error(run, answer)).collect();
        // Invented runs on which it is far off, or fails, count only if a method of second order does better.
        let far = |&at: &usize| !self.runs[at].given && self.fresh[at].is_none_or(|error| error > SENSELESS);
        let far: Vec<usize> = (0..self.runs.len()).filter(far).collect();
        plan.step.method = Method::Ros2;
        let again: Vec<&ReferenceRun> = far.iter().map(|&at| &self.runs[at]).collect();
        let second = self.simulate("the fully implicit step of second order", &plan, &again, seconds);
        for (&at, answer) in far.iter().zip(&second) {
            self.counts[at] &= error(&self.runs[at], answer).is_some_and(|error| error <= SENSELESS);
        }
        let counted = answers.iter().zip(&self.counts).filter(|(_, counts)| **counts);
        let sound = counted.filter_map(|(answer, _)| answer.as_ref().ok().filter(|it| it.failed.is_none()));
        let left = sound.map(|simulated| simulated.defect).fold(0.0, f64::max);
        self.outside = threshold((ABOVE_FRESH * left).max(self.threshold));
    }

    /// The longest communication step without events, in parts of its length.
    fn load(&self, cost: &Cost) -> f64 {
        load(self.problem, cost)
    }

    /// Exactly. Nobody asked for the default budget: what takes longer than that share, and not longer than the step, fits.
    fn fits(&self, cost: &Cost) -> bool {
        within(self.options.budget.unwrap_or(Budget::Share(1.0)), self.problem, cost)
    }

    /// What a step costs on average, weighted by the square of how many times its longest one exceeds the default budget. Both sides of that border are nearly alike, and far beyond
    /// it plans with a shorter longest step win. Where all plans keep it, nothing measured is in here.
    fn score(&self, cost: &Cost) -> f64 {
        let beyond = (self.load(cost) / SHARE).max(1.0);
        cost.seconds(&self.problem.price) * beyond * beyond
    }

    fn holds(&self, one: &Tried) -> bool {
        one.fits && one.outcome.as_ref().is_some_and(|outcome| outcome.holds)
    }

    /// Some plan survived its runs.
    pub fn has_run(&self) -> bool {
        self.tried.iter().any(|one| one.outcome.is_some())
    }

    /// Some plan holds, however long it takes.
    pub fn holds_somehow(&self) -> bool {
        self.tried.iter().any(|one| one.outcome.as_ref().is_some_and(|outcome| outcome.holds))
    }

    /// Some plan holds and keeps the budget, the default one too.
    pub fn satisfied(&self) -> bool {
        self.tried.iter().any(|one| self.holds(one) && self.is_short(&one.cost))
    }

    /// Some plan holds, but none within the budget.
    pub fn is_tight(&self) -> bool {
        !self.tried.iter().any(|one| one.fits && self.is_short(&one.cost))
            || !self.satisfied() && self.tried.iter().any(|one| one.outcome.as_ref().is_some_and(|o| o.holds))
    }

    fn is_short(&self, cost: &Cost) -> bool {
        self.options.budget.is_some() || self.load(cost) <= SHARE
    }

    /// The cheapest within the tolerance so far, whether it fits or not.
    pub fn cheapest(&self) -> Option<Candidate> {
        let good = self.tried.iter().filter(|one| one.outcome.as_ref().is_some_and(|o| o.holds));
        let price = &self.problem.price;
        let best = good.min_by(|a, b| a.cost.seconds(price).total_cmp(&b.cost.seconds(price)))?;
        Some(best.candidate.clone())
    }
}

/// The watch's threshold for a tolerance.
fn speaks_above(tolerance: f64) -> f64 {
    THRESHOLD.min(SHARE_OF_TOLERANCE * tolerance).clamp(THRESHOLDS[0], THRESHOLDS[1])
}

/// The longest communication step without events, in parts of its length.
fn load(problem: &Problem, cost: &Cost) -> f64 {
    cost.worst_seconds(&problem.worst_times) / problem.discretisation.h
}

/// A communication step keeps the budget.
fn within(budget: Budget, problem: &Problem, cost: &Cost) -> bool {
    let substeps = f64::from(problem.discretisation.substeps);
    match budget {
        Budget::Time(most) => substeps * cost.worst_seconds(&problem.worst_times) <= most,
        Budget::Evaluations(most) => substeps * cost.evaluations_worst_step <= most,
        Budget::Share(share) => load(problem, cost) <= share,
    }
}

/// Where a threshold may lie, to a digit and a half: it is no measurement.
fn threshold(value: f64) -> f64 {
    let value = value.clamp(THRESHOLDS[0], THRESHOLDS[1]);
    let decade = 10f64.powf(value.log10().floor());
    ((value / decade * 2.0 * (1.0 - 1e-9)).ceil() / 2.0 * decade).min(THRESHOLDS[1])
}

/// The verdict of a plan: its method, its mask and its policy.
pub fn judge(problem: &Problem, candidate: &Candidate, plan: &Plan) -> Verdict {
    judge_at(problem, candidate, plan, &[])
}

/// The same, at more lengths of the step.
fn judge_at(problem: &Problem, candidate: &Candidate, plan: &Plan, more: &[f64]) -> Verdict {
    let step = problem.step(plan.step.method);
    let mut lengths = lengths(&candidate.mask);
    lengths.extend(more);
    with_age(problem, plan, |age| verdict(&step, &candidate.mask, age, &lengths, &problem.samples))
}

/// How old a plan's Jacobian may be. A rolling one has columns of every age up to one round through its colours; which is the oldest
/// differs from sample to sample.
pub fn with_age<T>(problem: &Problem, plan: &Plan, use_it: impl FnOnce(&Age) -> T) -> T {
    let colours = &plan.jacobian.colours;
    match plan.jacobian.policy {
        Policy::Frozen if !colours.is_empty() => use_it(&Age::Regime),
        Policy::Rolling { per_step } => {
            let mut colour_of = vec![None; problem.n];
            for (c, colour) in colours.iter().enumerate() {
                colour.columns.iter().for_each(|&column| colour_of[column as usize] = Some(c));
            }
            let age = |sample: usize, column: usize| match colour_of[column] {
                Some(colour) => ((colour + sample) % colours.len() / per_step as usize) as f64 * problem.h,
                None => 0.0,
            };
            use_it(&Age::Columns(&age))
        }
        _ => use_it(&Age::Fresh),
    }
}

pub fn policy_name(policy: Policy) -> String {
    match policy {
        Policy::Every => "every".into(),
        Policy::Rolling { per_step } => format!("rolling {per_step}"),
        Policy::Frozen => "frozen".into(),
        Policy::Watched => "watched".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the watch lets pass is a part of the tolerance, whatever that is; above 1 % it stays where it is.
    #[test]
    fn the_watch_follows_the_tolerance() {
        for tolerance in [1e-6, 1e-5, 1e-4, 1e-3, 5e-3] {
            assert!(speaks_above(tolerance) <= 0.31 * tolerance, "{tolerance}");
        }
        for tolerance in [0.01, 0.05, 0.5] {
            assert_eq!(speaks_above(tolerance), THRESHOLD, "{tolerance}");
        }
        assert!(threshold(3e-5) >= 3e-5 && threshold(3e-5) < 4e-5);
    }
}
