//! The choice among the plans that were tried: what is accurate enough, and of that the cheapest.

use super::twin::{Twinned, doubts};
use super::{Judge, Outcome, PATIENCE, SHARE, Trial, Tried, load, policy_name};
use crate::decide::candidates::advice;
use crate::decide::error::largest;
use crate::decide::{Certificate, Cost, Decision, Explored, Problem, Times};
use crate::error::Error;
use crate::options::{Budget, Options, Partitioning, WatchMode};
use crate::quantity::format_duration;
use crate::summary::Moved;
use crate::warning::{ToleranceMissed, Warning};
use fmu_runtime::plan::Plan;

/// Costs this near to each other are equal.
const EQUAL_COST: f64 = 1.15;
/// Share of the tolerance that a plan may use on what was tried: the bench does what was not.
const MARGIN: f64 = 2.0 / 3.0;
/// How many times more such a margin may cost.
const MARGIN_COST: f64 = 2.5;
/// A plan with a shorter longest step must score so many times better than the one that is cheapest on average: a measured time decides only what is clear.
const CLEARLY_BETTER: f64 = 2.0;
/// How many times cheaper a plan must be for which entries are dropped.
const WORTH_DROPPING: f64 = 1.5;
/// Of plans that use more somewhere, those this near to the most accurate one are as good.
const AS_ACCURATE: f64 = 1.25;

impl Judge<'_> {
    /// Seconds per step of the cheapest plan that holds and errs by at most this on every run.
    fn cheapest_within(&self, error: f64) -> Option<f64> {
        let within = |one: &&Tried| one.outcome.as_ref().is_some_and(|outcome| outcome.worst() <= error);
        let costs = self.tried.iter().filter(|one| self.holds(one)).filter(within);
        costs.map(|one| one.cost.seconds(&self.problem.price)).min_by(f64::total_cmp)
    }

    /// The error that plans are chosen by, on every run: the tolerance with a margin, where that costs little more than without.
    fn limit(&self) -> Option<f64> {
        let tolerance = self.options.tolerance;
        let least = self.cheapest_within(tolerance)?;
        let safe = self.cheapest_within(MARGIN * tolerance);
        Some(match safe.is_some_and(|safe| safe <= MARGIN_COST * least) {
            true => MARGIN * tolerance,
            false => tolerance,
        })
    }

    /// Plans that take longer than this, in seconds per step, need not be tried.
    pub(super) fn enough(&self) -> Option<f64> {
        if !self.satisfied() {
            return None;
        }
        let least = self.cheapest_within(self.options.tolerance)?;
        let safe = self.cheapest_within(MARGIN * self.options.tolerance).map(|safe| EQUAL_COST * safe);
        Some(safe.unwrap_or(f64::INFINITY).min(MARGIN_COST * least).max(EQUAL_COST * least))
    }

    /// The best of those that were tried: see the head of this folder. With a budget of the user's own, the most accurate that fits.
    pub fn choose(mut self) -> Result<Decision, Error> {
        let worst = |one: &&Tried| one.outcome.as_ref().map_or(f64::INFINITY, Outcome::worst);
        let ran = |one: &&Tried| one.outcome.is_some();
        let best = match (self.contenders(), self.options.budget) {
            (good, None) if !good.is_empty() => self.balanced(good),
            (good, Some(_)) if !good.is_empty() => {
                good.into_iter().min_by(|a, b| worst(a).total_cmp(&worst(b)))
            }
            (_, budget) => {
                let fitting = self.tried.iter().filter(ran).filter(|one| one.fits);
                // The given runs first: a plan that misses them was not run on the invented ones, which it might have missed by more.
                let misses =
                    |one: &Tried| one.outcome.as_ref().and_then(|o| o.error) > Some(self.options.tolerance);
                let best =
                    fitting.min_by(|a, b| misses(a).cmp(&misses(b)).then(worst(a).total_cmp(&worst(b))));
                // Nobody asked for the default budget: what does not keep it is said, not refused.
                best.or_else(|| {
                    let all = self.tried.iter().filter(ran).filter(|_| budget.is_none());
                    all.min_by(|a, b| {
                        let holds = |one: &Tried| one.outcome.as_ref().is_some_and(|outcome| outcome.holds);
                        holds(b).cmp(&holds(a)).then(self.load(&a.cost).total_cmp(&self.load(&b.cost)))
                    })
                })
            }
        };
        let best = best.and_then(|best| self.tried.iter().position(|one| std::ptr::eq(one, best)));
        let Some(best) = best else { return Err(self.nothing()) };
        let mut trials: Vec<Trial> = self.tried.iter().map(trial).collect();
        trials[best].chosen = true;
        let chosen = self.tried.swap_remove(best);
        match self.twin(&chosen) {
            Ok(Twinned { problem, tried }) => {
                trials[best].chosen = false;
                trials.push(Trial {
                    label: format!("{}, with twin", tried.candidate.label),
                    chosen: true,
                    ..trial(&tried)
                });
                self.finish(&problem, tried, trials)
            }
            Err(why) => {
                self.warnings.extend(why.map(|why| Warning::NoTwin { why }));
                let chosen = self.carried(&chosen).unwrap_or(chosen);
                let problem = self.problem;
                self.finish(problem, chosen, trials)
            }
        }
    }

    /// All that is known of the plan that ships. `problem`: with its step.
    fn finish(mut self, problem: &Problem, one: Tried, trials: Vec<Trial>) -> Result<Decision, Error> {
        let Tried { candidate, plan, cost, worst_step, verdict, outcome, .. } = one;
        let Some(outcome) = outcome else { return Err(self.nothing()) };
        let order = plan.step.method.tableau().order;
        self.warnings.extend(advice(problem, order));
        let tolerance = self.options.tolerance;
        let missed = outcome.error.filter(|&error| error > tolerance).map(|error| {
            let late = largest(&outcome.errors_but_for_lateness).is_some_and(|rest| rest < 0.5 * error);
            missed(problem, self.options, &plan, error, late)
        });
        if let (true, Some(missed)) = (self.options.strict, missed) {
            return Err(Error::Strict(Warning::ToleranceMissed(missed)));
        }
        if let Some(most) = self.options.peak_tolerance.filter(|&most| outcome.peak() > most) {
            let beyond = Warning::PeakTolerance { peak: outcome.peak(), tolerance: most };
            if self.options.strict {
                return Err(Error::Strict(beyond));
            }
            self.warnings.add(beyond);
        }
        if let Some(error) = outcome.explored.filter(|&error| error > tolerance) {
            self.warnings.add(Warning::ExploredError { error });
        }
        if let Some(first) = outcome.stopped.first() {
            self.warnings.add(Warning::StopsOnInventedRuns {
                stopped: outcome.stopped.len(),
                runs: outcome.runs.len(),
                first: first.clone(),
            });
        }
        let senseless = outcome.runs.iter().filter(|run| !run.counts);
        let names: Vec<String> = senseless.map(|run| run.name.clone()).collect();
        if !names.is_empty() {
            self.warnings.add(Warning::SenselessRuns { names, runs: outcome.runs.len() });
        }
        let step = problem.discretisation;
        let whole = f64::from(step.substeps) * step.h;
        let load = load(problem, &cost);
        let too_long = self.too_long(load * whole, load);
        if let (true, true, Some(too_long)) = (self.options.strict, load > 1.0, &too_long) {
            return Err(Error::Strict(too_long.clone()));
        }
        self.warnings.extend(too_long);
        let prices = &self.problem.studied.prices;
        if prices.vary() && self.options.evaluation_time.is_none() {
            self.warnings.add(Warning::EvaluationTimesVary {
                least: prices.least_evaluation(),
                most: prices.worst_evaluation(),
            });
        }
        if self.left_out > 0 {
            self.warnings.add(Warning::PlansLeftOut { plans: self.left_out, patience: PATIENCE });
        }
        if plan.watch.is_none() && self.options.watch != WatchMode::Off && self.problem.n > 0 {
            self.warnings.add(Warning::NoWatch);
        }
        self.warnings.extend(candidate.warning.clone());
        self.warnings.extend(doubts(&outcome.told, tolerance));
        let (certificate, spectra) = Certificate::new(problem, &candidate, &plan, &verdict);
        let moves = |given: bool| {
            let runs = self.runs.iter().filter(|run| run.given == given);
            runs.flat_map(|run| run.ranges().standing()).any(|still| !still)
        };
        let has_moved = Moved { given: moves(true), invented: moves(false) };
        let explored = self.runs.iter().zip(&self.fresh).zip(&self.counts).filter(|((run, _), _)| !run.given);
        let counted = explored.clone().filter_map(|((_, fresh), counts)| fresh.filter(|_| *counts));
        let fresh_error = counted.max_by(f64::total_cmp);
        let explored = Explored {
            scenarios: explored.count(),
            error: outcome.explored,
            fresh_error,
            runs: outcome.runs,
        };
        Ok(Decision {
            error: outcome.error,
            errors: outcome.errors,
            errors_but_for_lateness: outcome.errors_but_for_lateness,
            switching: outcome.switching,
            explored_switching: outcome.explored_switching,
            peaks: outcome.peaks,
            explored,
            has_moved,
            told: outcome.told,
            verdict,
            samples: problem.samples.len(),
            cost,
            worst_step,
            certificate,
            spectra,
            tolerance: self.options.tolerance,
            plan: fmu_runtime::identity::sealed(plan),
            candidate,
            simulated: outcome.simulated,
            trials,
            times: Times {
                evaluation: self.options.evaluation_time.unwrap_or(self.problem.studied.prices.evaluation()),
                worst_evaluation: self.problem.worst_times.evaluation,
                indicators: match cost.indicator_readings > 0.0 {
                    true => Some(self.problem.studied.prices.indicators(cost.evaluates_end)),
                    false => None,
                },
                longest_step: load * whole,
                load,
            },
            missed,
            warnings: self.warnings,
        })
    }

    /// The rule of `--budget`'s default. The cheapest on average, of those within 15 % the most accurate; another one only where the longest step of this one is beyond the
    /// default budget and that of the other makes up for its cost twice.
    fn balanced<'a>(&self, good: Vec<&'a Tried>) -> Option<&'a Tried> {
        let worst = |one: &&Tried| one.outcome.as_ref().map_or(f64::INFINITY, Outcome::worst);
        let seconds = |one: &Tried| one.cost.seconds(&self.problem.price);
        // What was looked for because time is short does not decide what is cheapest: whether it was may have been a matter of a microsecond.
        let mut usual: Vec<&Tried> = good.iter().filter(|one| !one.in_need_of_time).copied().collect();
        if usual.is_empty() {
            usual.clone_from(&good);
        }
        let least = usual.iter().map(|one| seconds(one)).fold(f64::INFINITY, f64::min);
        let cheap = usual.into_iter().filter(|one| seconds(one) <= EQUAL_COST * least);
        let cheapest = cheap.min_by(|a, b| worst(a).total_cmp(&worst(b)))?;
        let score = |one: &Tried| self.score(&one.cost);
        let other = good.into_iter().min_by(|a, b| score(a).total_cmp(&score(b)))?;
        let clear = self.load(&cheapest.cost) > SHARE && CLEARLY_BETTER * score(other) <= score(cheapest);
        Some(if clear { other } else { cheapest })
    }

    /// The longest communication step takes so many seconds: more than it lasts, or more than the default budget.
    fn too_long(&self, seconds: f64, load: f64) -> Option<Warning> {
        let step = self.problem.discretisation;
        match load {
            _ if load > 1.0 => {
                Some(Warning::NotRealTime { seconds, step: f64::from(step.substeps) * step.h })
            }
            _ if load > SHARE && self.options.budget.is_none() => {
                Some(Warning::LongStep { seconds, share: load })
            }
            _ => None,
        }
    }

    /// Plans that cost and accuracy decide between: those that keep the tolerance with margin on every run, or else the most accurate ones that hold. Where there are plans with all
    /// entries, others only if they save a third: less is not worth their margins, unless somebody asked for it.
    fn contenders(&self) -> Vec<&Tried> {
        let holding: Vec<&Tried> = self.tried.iter().filter(|one| self.holds(one)).collect();
        let worst = |one: &&Tried| one.outcome.as_ref().map_or(f64::INFINITY, Outcome::worst);
        let least = holding.iter().map(worst).fold(f64::INFINITY, f64::min);
        let limit = self.limit().unwrap_or(AS_ACCURATE * least);
        let mut good: Vec<&Tried> = holding.into_iter().filter(|one| worst(one) <= limit).collect();
        good.retain(|one| one.candidate.mask.is_full() || self.is_worth_dropping(&one.cost));
        good
    }

    /// A plan of this cost would save enough to drop entries for it: beside the cheapest one with all entries among those that cost and accuracy decide between.
    pub(super) fn is_worth_dropping(&self, cost: &Cost) -> bool {
        let asked = self.options.budget.is_some()
            || self.options.rho.is_some()
            || self.options.mode == Partitioning::Mixed;
        let limit = self.limit().unwrap_or(f64::INFINITY);
        let is_good = |one: &&Tried| {
            one.candidate.mask.is_full()
                && one.outcome.as_ref().is_some_and(|outcome| outcome.worst() <= limit)
        };
        let full = self.tried.iter().filter(|one| self.holds(one)).filter(is_good);
        let seconds = |cost: &Cost| cost.seconds(&self.problem.price);
        let least = full.map(|one| seconds(&one.cost)).min_by(f64::total_cmp);
        asked || least.is_none_or(|least| WORTH_DROPPING * seconds(cost) <= least)
    }

    /// Why there is no plan, and what would help.
    fn nothing(&self) -> Error {
        let substeps = f64::from(self.problem.discretisation.substeps);
        let failure = self.tried.iter().filter(|one| one.fits).find_map(|one| one.failed.clone());
        let stable = self.tried.iter().filter(|one| one.verdict.is_stable() && !one.fits);
        let shortest = |a: &&Tried, b: &&Tried| self.load(&a.cost).total_cmp(&self.load(&b.cost));
        if let (Some(budget), Some(cheapest)) = (self.options.budget, stable.min_by(shortest)) {
            let evaluations = substeps * cheapest.cost.evaluations_worst_step;
            let seconds = substeps * cheapest.cost.worst_seconds(&self.problem.worst_times);
            let (allow, longer) = match budget {
                Budget::Evaluations(_) => (format!("{:.2}f", evaluations), ""),
                Budget::Time(_) => (format!("{:.0}us", (1e6 * seconds).ceil()), ""),
                Budget::Share(_) => (
                    format!("{:.0}%", (100.0 * self.load(&cheapest.cost)).ceil()),
                    ", or take a longer --step",
                ),
            };
            let fitting = failure.map_or(String::new(), |why| format!(" (what fits it: {why})"));
            return Error::Request(format!(
                "no stable plan fits the budget{fitting}: the cheapest ({}, {}, Jacobian {}) takes up to {evaluations:.2} evaluations, about {} for \
                 a communication step; allow that with --budget {allow}{longer}",
                cheapest.candidate.label,
                cheapest.plan.step.method.name(),
                policy_name(cheapest.plan.jacobian.policy),
                format_duration(seconds),
            ));
        }
        let why = failure.or_else(|| self.tried.iter().find_map(|one| one.failed.clone()));
        Error::Request(format!(
            "no plan survives the run with a step of {}: {}. Try a shorter --step",
            format_duration(self.problem.h),
            why.unwrap_or_else(|| "none could be run".into())
        ))
    }
}

/// A step that would have to be so many times shorter is no advice.
const NO_ADVICE: f64 = 1e4;

/// What would help: the error shrinks with h to the power of the method's order; that of jumps which come late by a part of a step, with the
/// square root of h.
fn missed(problem: &Problem, options: &Options, plan: &Plan, error: f64, late: bool) -> ToleranceMissed {
    let order = if late { 0.5 } else { f64::from(plan.step.method.tableau().order) };
    let shorter = problem.h * (options.tolerance / error).powf(1.0 / order) * 0.9;
    let step = (shorter * NO_ADVICE >= problem.h).then(|| round_down(shorter));
    ToleranceMissed { error, tolerance: options.tolerance, late, step }
}

/// To one leading digit: advice is no measurement.
fn round_down(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    (value / power).floor().max(1.0) * power
}

fn trial(one: &Tried) -> Trial {
    Trial {
        label: one.candidate.label.clone(),
        method: one.plan.step.method.name().into(),
        policy: policy_name(one.plan.jacobian.policy),
        kept_nonzeros: one.cost.kept_nonzeros,
        evaluations_per_step: one.cost.evaluations_per_step,
        evaluations_worst_step: one.cost.evaluations_worst_step,
        operations_per_step: one.cost.operations_per_step,
        error: one.outcome.as_ref().and_then(|outcome| outcome.error),
        explored_error: one.outcome.as_ref().and_then(|outcome| outcome.explored),
        failed: one.failed.clone(),
        chosen: false,
    }
}
