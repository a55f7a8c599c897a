//! The choice among the plans that were tried: what is accurate enough, and of that the cheapest.

use super::outcome::Outcome;
use super::twin::Twinned;
use super::{Judge, SHARE, Trial, Tried, policy_name};
use crate::decide::{Cost, Decision};
use crate::error::Error;
use crate::options::{Budget, Partitioning, Preference};
use crate::quantity::{format_duration, percent, percent_to};
use crate::warning::Warning;

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
        let safe = self.cheapest_within(self.margin());
        Some(match safe.is_some_and(|safe| safe <= MARGIN_COST * least) {
            true => self.margin(),
            false => tolerance,
        })
    }

    /// A plan that costs so much at least could still be chosen: on average, or by its longest step where no plan keeps
    /// the default budget yet.
    pub(super) fn could_win(&self, cost: &Cost) -> bool {
        let Some(least) = self.cheapest_within(self.options.tolerance) else { return true };
        if self.options.budget.is_some() {
            return true;
        }
        if self.options.prefer == Preference::Accuracy {
            return self.is_short(cost) || !self.satisfied();
        }
        let safe = self.cheapest_within(self.margin()).map(|safe| self.equal_cost() * safe);
        let enough = safe.unwrap_or(f64::INFINITY).min(MARGIN_COST * least).max(self.equal_cost() * least);
        if cost.seconds(&self.problem.price) <= enough {
            return true;
        }
        let limit = self.limit().unwrap_or(f64::INFINITY);
        let good = |one: &&Tried| {
            self.holds(one) && one.outcome.as_ref().is_some_and(|outcome| outcome.worst() <= limit)
        };
        let scores = self.tried.iter().filter(good).map(|one| self.score(&one.cost));
        !self.satisfied() && self.score(cost) < scores.fold(f64::INFINITY, f64::min)
    }

    /// The error that leaves room for what the bench does and nobody tried. Who prefers speed wants the tolerance alone.
    fn margin(&self) -> f64 {
        match self.options.prefer {
            Preference::Speed => self.options.tolerance,
            _ => MARGIN * self.options.tolerance,
        }
    }

    /// Costs this near to each other are equal, and the more accurate plan is taken.
    fn equal_cost(&self) -> f64 {
        if self.options.prefer == Preference::Speed { 1.0 } else { EQUAL_COST }
    }

    /// The best of those that were tried: see the head of this folder. With a budget of the user's own, the most accurate that fits.
    pub fn choose(mut self) -> Result<Decision, Error> {
        let worst = |one: &&Tried| one.outcome.as_ref().map_or(f64::INFINITY, Outcome::worst);
        let ran = |one: &&Tried| one.outcome.is_some();
        let best = match (self.contenders(), self.options.budget) {
            (good, None) if self.prefers_accuracy(&good) => {
                let short = good.into_iter().filter(|one| self.is_short(&one.cost));
                short.min_by(|a, b| worst(a).total_cmp(&worst(b)))
            }
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
        let mut trials: Vec<Trial> =
            self.tried.iter().map(|one| self.trial(one, &self.tried[best])).collect();
        trials[best].chosen = true;
        let chosen = self.tried.swap_remove(best);
        match self.twin(&chosen) {
            Ok(Twinned { problem, tried }) => {
                trials[best].chosen = false;
                trials.push(Trial {
                    label: format!("{}, with twin", tried.candidate.label),
                    chosen: true,
                    ..self.trial(&tried, &tried)
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
        let cheap = usual.into_iter().filter(|one| seconds(one) <= self.equal_cost() * least);
        let cheapest = cheap.min_by(|a, b| worst(a).total_cmp(&worst(b)))?;
        let score = |one: &Tried| self.score(&one.cost);
        let other = good.into_iter().min_by(|a, b| score(a).total_cmp(&score(b)))?;
        let clear = self.load(&cheapest.cost) > SHARE && CLEARLY_BETTER * score(other) <= score(cheapest);
        Some(if clear { other } else { cheapest })
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

    /// The most accurate of these is to be taken: some keep the default budget.
    fn prefers_accuracy(&self, good: &[&Tried]) -> bool {
        self.options.prefer == Preference::Accuracy && good.iter().any(|one| self.is_short(&one.cost))
    }

    /// A row of the table of what was tried; `best` was chosen.
    fn trial(&self, one: &Tried, best: &Tried) -> Trial {
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
            longest_step_share: self.load(&one.cost),
            failed: one.failed.clone(),
            lost: (!std::ptr::eq(one, best)).then(|| self.lost(one, best)),
            chosen: false,
        }
    }

    /// Why a plan was not chosen, by the rule that chose the other one.
    fn lost(&self, one: &Tried, best: &Tried) -> String {
        if let Some(failed) = &one.failed {
            return failed.clone();
        }
        let worst = |one: &Tried| one.outcome.as_ref().map_or(f64::INFINITY, Outcome::worst);
        let (error, least) = (worst(one), worst(best));
        let limit = self.limit().unwrap_or(AS_ACCURATE * least);
        let seconds = |one: &Tried| one.cost.seconds(&self.problem.price);
        let dearer = seconds(one) / seconds(best);
        if self.options.budget.is_none() && error > limit {
            return format!(
                "errs by up to {}, more than the {} that are left to it",
                percent(error),
                percent(limit)
            );
        }
        if !one.candidate.mask.is_full() && !self.is_worth_dropping(&one.cost) {
            return "drops entries and does not save a third".into();
        }
        if self.options.budget.is_some() || self.options.prefer == Preference::Accuracy {
            return match self.is_short(&one.cost) {
                true => format!("errs by {} where the chosen one errs by {}", percent(error), percent(least)),
                false => "does not keep the default budget".into(),
            };
        }
        if dearer > self.equal_cost() {
            return format!("costs {} more on average", percent_to(dearer - 1.0, 0));
        }
        if self.load(&one.cost) > self.load(&best.cost).max(SHARE) {
            return "its longest step takes too much of the communication step".into();
        }
        format!("costs about the same and errs by {} instead of {}", percent(error), percent(least))
    }

    /// Why there is no plan, and what would help.
    pub(super) fn nothing(&self) -> Error {
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
