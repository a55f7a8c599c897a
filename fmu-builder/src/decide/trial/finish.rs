//! All that is known of the plan that was chosen: its decision, with what is to be said of it.

use super::twin::doubts;
use super::{Judge, PATIENCE, SHARE, Trial, Tried, load};
use crate::decide::candidates::advice;
use crate::decide::draft::Draft;
use crate::decide::{Certificate, Decision, Explored, Problem, Times};
use crate::deviation::largest;
use crate::error::Error;
use crate::options::{Options, WatchMode};
use crate::summary::Moved;
use crate::warning::{ToleranceMissed, Warning};
use fmu_runtime::plan::Plan;

impl Judge<'_> {
    /// All that is known of the plan that ships. `problem`: with its step.
    pub(super) fn finish(
        mut self,
        problem: &Problem,
        one: Tried,
        trials: Vec<Trial>,
    ) -> Result<Decision, Error> {
        let Tried { candidate, plan, cost, verdict, outcome, .. } = one;
        let Some(outcome) = outcome else { return Err(self.nothing()) };
        let mut worst_step = Draft::new(problem, &candidate.mask).worst_step(&plan);
        let bound = worst_step.calls;
        if worst_step.raise(outcome.most_calls) {
            self.warnings.add(Warning::BoundExceeded { bound, seen: outcome.most_calls });
        }
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
        let at_event = worst_step.evaluations_one_event * problem.worst_times.evaluation;
        if problem.interface.indicators > 0 && at_event > whole && load <= 1.0 {
            let evaluations = worst_step.evaluations_one_event;
            self.warnings.add(Warning::LongEventStep { seconds: at_event, step: whole, evaluations });
        }
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
        // Without an estimate there is none to doubt.
        self.warnings.extend(plan.accuracy.as_ref().and_then(|_| doubts(&outcome.told, tolerance)));
        let (certificate, spectra) = Certificate::new(problem, &candidate, &plan, &verdict);
        self.warnings.extend(certificate.warnings());
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
