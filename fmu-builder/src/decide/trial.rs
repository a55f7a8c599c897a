//! Trials: plans judged, run with the code that ships over every run, and compared with the accurate solution.

mod choose;
mod twin;

use super::candidates::{Candidate, lengths};
use super::draft::{Cost, Draft, Shares};
use super::error::largest;
use super::switching::{self, Switching, switching};
use super::{ExploredRun, Peak, Problem, ReferenceRun, Told, WorstStep};
use crate::analysis::Mask;
use crate::analysis::verdict::{Age, Verdict, verdict};
use crate::lab::Lab;
use crate::options::{Budget, JacobianPolicy, Options, WatchMode};
use crate::quantity::amplification;
use crate::warning::{Asked, Warning, Warnings};
use crate::worker::{Simulate, Simulated};
use fmu_runtime::plan::{Method, Plan, Policy, Watch};
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
    /// Why it failed, or was not wanted.
    pub failed: Option<String>,
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
    worst_step: WorstStep,
    /// Within the user's budget; without one, within the communication step.
    fits: bool,
    verdict: Verdict,
    outcome: Option<Outcome>,
    failed: Option<String>,
    /// It was looked for only because others take long.
    in_need_of_time: bool,
}

/// What the runs showed.
#[derive(Default)]
struct Outcome {
    /// Of the first run.
    simulated: Simulated,
    /// Per quantity, the largest over the given runs.
    errors: Vec<f64>,
    errors_but_for_lateness: Vec<f64>,
    /// Of the outputs that are no Reals, on the given runs and on the invented ones.
    switching: Vec<Switching>,
    explored_switching: Vec<Switching>,
    /// The largest deviation of each quantity at a point of a given run.
    peaks: Vec<Peak>,
    /// The largest of the errors.
    error: Option<f64>,
    /// The invented runs, unless the given ones failed already.
    runs: Vec<ExploredRun>,
    /// The largest error over them.
    explored: Option<f64>,
    /// What the FMU would say of its error, for each run.
    told: Vec<Told>,
    /// Invented runs on which the FMU stops with an error, and why. That chooses against a plan; it refuses none.
    stopped: Vec<String>,
    /// Within the tolerance on the given runs, and on the others, or there not far from the fresh step.
    holds: bool,
}

impl Outcome {
    /// The largest error over all runs that came to their end.
    fn largest(&self) -> f64 {
        self.error.unwrap_or(0.0).max(self.explored.unwrap_or(0.0))
    }

    /// What plans are compared by: a run that stops is worse than any error.
    fn worst(&self) -> f64 {
        if self.stopped.is_empty() { self.largest() } else { f64::INFINITY }
    }

    /// The largest deviation at a point of the given runs.
    fn peak(&self) -> f64 {
        self.peaks.iter().map(|peak| peak.deviation).fold(0.0, f64::max)
    }

    /// Keep the larger ones.
    fn merge(&mut self, run: &ReferenceRun, simulated: &Simulated, step: f64) {
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
        if self.seconds(&plan, &draft.cost(&plan, Shares::default())) > PATIENCE {
            // Hundreds of colours in every step would take minutes: then a Jacobian that is renewed where it matters stands for a fresh one.
            let strict = Watch { threshold: self.threshold / 3.0, ..silent };
            plan = draft.plan(self.problem, Method::Lie, Policy::Watched, Some(strict), None);
        }
        let runs: Vec<&ReferenceRun> = self.runs.iter().collect();
        let answers = self.simulate("the fully implicit step", &plan, &runs);
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
        let second = self.simulate("the fully implicit step of second order", &plan, &again);
        for (&at, answer) in far.iter().zip(&second) {
            self.counts[at] &= error(&self.runs[at], answer).is_some_and(|error| error <= SENSELESS);
        }
        let counted = answers.iter().zip(&self.counts).filter(|(_, counts)| **counts);
        let sound = counted.filter_map(|(answer, _)| answer.as_ref().ok().filter(|it| it.failed.is_none()));
        let left = sound.map(|simulated| simulated.defect).fold(0.0, f64::max);
        self.outside = threshold((ABOVE_FRESH * left).max(self.threshold));
    }

    /// Policies that a mask is tried with, the preferred one first.
    fn policies(&self, method: Method, colours: usize, all: bool) -> Vec<Policy> {
        // Nothing varies: every policy is the frozen one.
        if colours == 0 {
            return vec![Policy::Frozen];
        }
        if !method.tableau().any_matrix {
            return vec![Policy::Every];
        }
        // One colour a step, two, four ...: how old a Jacobian may be the verdict and the run tell. All of them is every step.
        let doubled = std::iter::successors(Some(1u32), |per_step| per_step.checked_mul(2));
        let rolling = doubled
            .take_while(|&per_step| (per_step as usize) < colours.max(2))
            .map(|per_step| Policy::Rolling { per_step });
        let acts = self.options.watch == WatchMode::Act;
        match self.options.jacobian {
            JacobianPolicy::Every => vec![Policy::Every],
            JacobianPolicy::Rolling => rolling.collect(),
            JacobianPolicy::Frozen => vec![Policy::Frozen],
            JacobianPolicy::Watched => vec![Policy::Watched],
            JacobianPolicy::Auto if acts && !all => vec![Policy::Watched],
            JacobianPolicy::Auto => {
                let watched = acts.then_some(Policy::Watched);
                let others = std::iter::once(Policy::Frozen).chain(rolling).chain([Policy::Every]);
                watched.into_iter().chain(others).collect()
            }
        }
    }

    /// Try these masks with these methods, from the cheapest on, until none can be as cheap as the best so far. `all`: with every policy,
    /// and without fallback and watch where there is no room for them.
    pub fn try_out(&mut self, candidates: &[Candidate], methods: &[Method], all: bool) {
        let mut plans: Vec<(Candidate, Plan, Cost, WorstStep)> = Vec::new();
        let everything = Draft::new(self.problem, &Mask::full(self.problem.n));
        for candidate in candidates {
            let draft = Draft::new(self.problem, &candidate.mask);
            for &method in methods {
                for policy in self.policies(method, draft.colours(), all) {
                    let watch = match self.options.watch {
                        WatchMode::Off => None,
                        _ if candidate.mask.is_full() => {
                            Some(Watch { threshold: self.threshold, outside: self.outside, sums: true })
                        }
                        // What explicit rows leave is the method's own error: only what is far beyond it counts.
                        _ => Some(Watch { threshold: THRESHOLDS[1], outside: THRESHOLDS[1], sums: false }),
                    };
                    let falls_back = self.options.watch == WatchMode::Act && !self.options.force;
                    let fallback = (!candidate.mask.is_full() && falls_back).then(|| everything.fallback());
                    let whole = draft.plan(self.problem, method, policy, watch, fallback);
                    // With all that helps at run time, as far as there is room for it.
                    let variants = [
                        whole.clone(),
                        Plan { fallback: None, ..whole.clone() },
                        Plan { fallback: None, watch: None, ..whole },
                    ];
                    let rooms = if all { 3 } else { 1 };
                    let may = |plan: &&Plan| plan.watch.is_some() || policy != Policy::Watched;
                    let mut room = variants.iter().take(rooms).filter(may);
                    let fitting = room.find(|plan| self.fits(&draft.cost(plan, Shares::default())));
                    let plan = fitting.unwrap_or(&variants[0]).clone();
                    if self.tried.iter().any(|tried| tried.plan == plan) {
                        continue;
                    }
                    let (cost, worst) = (draft.cost(&plan, Shares::default()), draft.worst_step(&plan));
                    plans.push((candidate.clone(), plan, cost, worst));
                }
            }
        }
        let price = &self.problem.price;
        plans.sort_by(|a, b| a.2.seconds(price).total_cmp(&b.2.seconds(price)));
        for (candidate, plan, cost, worst_step) in plans {
            let fits = self.fits(&cost);
            let enough = self.enough().filter(|_| self.options.budget.is_none());
            let dearer = enough.is_some_and(|enough| cost.seconds(price) > enough);
            if dearer || !fits && self.satisfied() {
                continue;
            }
            if !candidate.mask.is_full() && !self.is_worth_dropping(&cost) {
                let verdict = Verdict { amplification: None, failure: None };
                let failed = Some("drops entries and would not save a third".into());
                self.tried.push(Tried {
                    candidate,
                    plan,
                    cost,
                    worst_step,
                    fits,
                    verdict,
                    outcome: None,
                    failed,
                    in_need_of_time: self.in_need_of_time,
                });
                continue;
            }
            if self.spent > PATIENCE && self.has_run() {
                self.left_out += 1;
                continue;
            }
            self.spent += self.seconds(&plan, &cost);
            self.try_plan(candidate, plan, cost, worst_step, fits);
        }
    }

    /// What trying a plan of this cost takes on all runs, by its price.
    fn seconds(&self, plan: &Plan, cost: &Cost) -> f64 {
        let steps: u64 = self.runs.iter().map(|run| run.steps * u64::from(plan.step.substeps)).sum();
        steps as f64 * (cost.seconds(&self.problem.price_here) + STEP)
    }

    fn try_plan(&mut self, candidate: Candidate, plan: Plan, cost: Cost, worst_step: WorstStep, fits: bool) {
        let verdict = judge(self.problem, &candidate, &plan);
        let mut tried = Tried {
            candidate,
            plan,
            cost,
            worst_step,
            fits,
            verdict,
            outcome: None,
            failed: None,
            in_need_of_time: self.in_need_of_time,
        };
        if let Some(failure) = &tried.verdict.failure {
            let why = format!(
                "not stable with a Jacobian as old as it gets: amplification {} at {:.3} of the step",
                amplification(failure.amplification),
                failure.length
            );
            let asked = self.options.jacobian != JacobianPolicy::Auto;
            if !self.options.force && !asked {
                tried.failed = Some(why);
                self.tried.push(tried);
                return;
            }
            tried.candidate.warning.get_or_insert(Warning::KeptUnstable { asked: Asked::Policy, why });
        }
        let mut ran = self.run(&tried);
        // Another method leaves a defect of another size: where one of a hundred steps of the given run lies outside the plan though the watch
        // was heard, what counts as outside is too tight for this one.
        if let (Ok((outcome, _)), Some(watch)) = (&ran, &mut tried.plan.watch) {
            let steps = self.runs.first().map_or(0, |run| run.steps);
            let wider = threshold(ABOVE_FRESH * outcome.simulated.defect);
            if outcome.simulated.outside * 100 > steps && wider > watch.outside {
                watch.outside = wider;
                ran = self.run(&tried);
            }
        }
        match ran {
            Ok((outcome, shares)) => {
                let draft = Draft::new(self.problem, &tried.candidate.mask);
                tried.cost = draft.cost(&tried.plan, shares);
                if !fits {
                    let longer = "takes longer than the communication step";
                    let why = self.options.budget.map_or(longer, |_| "does not fit the budget");
                    tried.failed = Some(why.into());
                } else if !outcome.holds {
                    tried.failed = Some("misses the tolerance".into());
                }
                tried.outcome = Some(outcome);
            }
            Err(failed) => tried.failed = Some(failed),
        }
        self.tried.push(tried);
    }

    /// The given runs first: a plan that misses the tolerance there need not be tried on the others.
    fn run(&self, one: &Tried) -> Result<(Outcome, Shares), String> {
        let label = format!("trying: {}, {}", one.candidate.label, one.plan.step.method.name());
        let (mut renewals, mut watch_evaluations, mut steps) = (0, 0, 0);
        let given: Vec<&ReferenceRun> = self.runs.iter().filter(|run| run.given).collect();
        let mut outcome: Option<Outcome> = None;
        for (run, simulated) in given.iter().zip(self.simulate(&label, &one.plan, &given)) {
            let simulated = simulated?;
            if let Some(failed) = simulated.failed {
                return Err(failed);
            }
            (renewals, steps) = (renewals + simulated.renewals, steps + run.steps);
            watch_evaluations += simulated.watch_evaluations;
            let mut known = outcome.take().unwrap_or_default();
            known.merge(run, &simulated, one.plan.step.h * f64::from(one.plan.step.substeps));
            known.told.push(Told::new(run, &simulated));
            if known.simulated.trajectory.is_empty() {
                known.simulated = simulated;
            }
            outcome = Some(known);
        }
        let mut outcome = outcome.ok_or("there is no run to try it on")?;
        outcome.error = largest(&outcome.errors);
        outcome.holds = outcome.error.is_none_or(|error| error <= self.options.tolerance)
            && self.options.peak_tolerance.is_none_or(|most| outcome.peak() <= most);
        let explored: Vec<(usize, &ReferenceRun)> =
            self.runs.iter().enumerate().filter(|(_, run)| !run.given && outcome.holds).collect();
        let runs: Vec<&ReferenceRun> = explored.iter().map(|(_, run)| *run).collect();
        for ((at, run), simulated) in explored.into_iter().zip(self.simulate(&label, &one.plan, &runs)) {
            let (fresh, counts) = (self.fresh[at], self.counts[at]);
            let mut explored =
                ExploredRun { name: run.label.clone(), fresh_error: fresh, counts, ..ExploredRun::default() };
            let simulated = simulated.and_then(|simulated| match simulated.failed {
                Some(failed) => Err(failed),
                None => Ok(simulated),
            });
            match simulated {
                Ok(simulated) => {
                    if counts {
                        (renewals, steps) = (renewals + simulated.renewals, steps + run.steps);
                        watch_evaluations += simulated.watch_evaluations;
                    }
                    let errors = run.ranges().errors(&run.trajectory, &simulated.trajectory);
                    let error = largest(&errors).unwrap_or(0.0);
                    let worst = errors.iter().position(|&one| one == error && error > 0.0);
                    explored.worst =
                        worst.map(|quantity| self.problem.interface.quantity(quantity).to_string());
                    (explored.error, explored.outside) = (Some(error), simulated.outside);
                    if counts {
                        let found = switching(&run.discrete, &simulated.discrete, run.every);
                        switching::merge(&mut outcome.explored_switching, found);
                        outcome.explored = Some(outcome.explored.map_or(error, |known| known.max(error)));
                        outcome.told.push(Told::new(run, &simulated));
                        let limit = self.options.tolerance.max(FRESH_FACTOR * fresh.unwrap_or(0.0));
                        outcome.holds &= error <= limit;
                    }
                }
                // The fresh step does not survive it either, or is as far off.
                Err(_) if fresh.is_none() || !counts => {}
                Err(failed) => {
                    outcome.holds = false;
                    outcome.stopped.push(format!("{}: {failed}", run.label));
                }
            }
            outcome.runs.push(explored);
        }
        let steps = (steps * u64::from(one.plan.step.substeps)).max(1);
        let share = |count: u64| (count as f64 / steps as f64).min(1.0);
        let shares = Shares { renewals: share(renewals), watch_evaluations: Some(share(watch_evaluations)) };
        Ok((outcome, shares))
    }

    fn simulation(&self, plan: &Plan, run: &ReferenceRun) -> Simulate {
        Simulate {
            interface: self.problem.interface.clone(),
            experiment: run.experiment.clone(),
            plan: plan.clone(),
            steps: run.steps,
            every: run.every,
            alone: false,
        }
    }

    /// One plan on several runs; answers in their order.
    fn simulate(&self, label: &str, plan: &Plan, runs: &[&ReferenceRun]) -> Vec<Result<Simulated, String>> {
        let simulate = |run: &&ReferenceRun| self.simulation(plan, run);
        if runs.is_empty() {
            return Vec::new();
        }
        let answers = self.lab.simulate_all(label, runs.iter().map(simulate).collect());
        answers.into_iter().map(|answer| answer.map_err(|error| error.to_string())).collect()
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
