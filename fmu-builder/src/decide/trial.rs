//! Trials: plans made of candidates, priced, run with the code that ships, compared with the accurate solution.

use super::candidates::{Candidate, unstable_when_aged};
use super::{Certificate, Cost, Decision, Material, Wish, WorstStep};
use crate::analysis::stale;
use crate::error::Error;
use crate::lab::Lab;
use crate::options::{Budget, JacobianPolicy};
use crate::quantity::format_duration;
use crate::structure::plan_parts;
use crate::worker::{Simulate, Simulated};
use fmu_runtime::lu;
use fmu_runtime::plan::{Plan, Policy, Source};
use serde::Serialize;
use std::time::Instant;

/// One plan that was considered.
#[derive(Clone, Debug, Serialize)]
pub struct Trial {
    pub label: String,
    pub policy: String,
    pub kept_nonzeros: usize,
    pub evaluations_per_step: f64,
    pub operations_per_step: u64,
    /// `None`: not run, because a cheaper one sufficed, or it failed.
    pub error: Option<f64>,
    /// Why it failed, or was not wanted.
    pub failed: Option<String>,
    pub chosen: bool,
}

/// Prices this near to each other are equal.
const EQUAL_PRICE: f64 = 1.1;
/// Seconds per multiply-add of the solver, roughly; it only has to weigh against evaluations.
const OPERATION: f64 = 1e-9;
/// A directional derivative is taken if it costs less than this many evaluations.
const CHEAPER: f64 = 0.8;
/// A dropped entry this much smaller than the smallest kept one of its row does not disturb a difference.
const NEGLIGIBLE: f64 = 1e-3;
/// Seconds that all trials together may take, roughly.
const PATIENCE: f64 = 30.0;
const MOST_TRIALS: usize = 60;

struct Priced {
    candidate: Candidate,
    plan: Plan,
    cost: Cost,
    worst_step: WorstStep,
    price: f64,
    /// Within the budget, if there is one.
    fits: bool,
}

/// Runs trials stage by stage and remembers what came out.
pub struct Judge<'a> {
    material: &'a Material<'a>,
    wish: &'a Wish,
    lab: &'a Lab,
    begin: Instant,
    priced: Vec<Priced>,
    trials: Vec<Trial>,
    results: Vec<Option<(Simulated, Vec<f64>)>>,
    /// Price of the cheapest within the tolerance so far.
    enough: Option<f64>,
    pub warnings: Vec<String>,
}

impl<'a> Judge<'a> {
    pub fn new(material: &'a Material<'a>, wish: &'a Wish, lab: &'a Lab) -> Judge<'a> {
        Judge {
            material,
            wish,
            lab,
            begin: Instant::now(),
            priced: Vec::new(),
            trials: Vec::new(),
            results: Vec::new(),
            enough: None,
            warnings: Vec::new(),
        }
    }

    /// Nothing can be found that needs fewer evaluations.
    pub fn satisfied(&self) -> bool {
        (0..self.trials.len()).any(|i| {
            let good = self.results[i].is_some() && self.error_of(i) <= self.wish.tolerance;
            good && self.priced[i].fits && self.priced[i].cost.evaluations_per_step <= 1.0
        })
    }

    /// The cheapest within the tolerance so far.
    pub fn cheapest(&self) -> Option<Candidate> {
        let good = (0..self.trials.len())
            .filter(|&i| self.results[i].is_some() && self.error_of(i) <= self.wish.tolerance);
        let best = good.min_by(|&a, &b| self.priced[a].price.total_cmp(&self.priced[b].price))?;
        Some(self.priced[best].candidate.clone())
    }

    fn error_of(&self, i: usize) -> f64 {
        self.trials[i].error.unwrap_or(0.0)
    }

    /// Price the candidates and run them, from the cheapest on, until one is good enough.
    pub fn try_out(&mut self, candidates: &[Candidate]) {
        let mut priced: Vec<Priced> =
            candidates.iter().flat_map(|candidate| plans(self.material, candidate, self.wish)).collect();
        priced.sort_by(|a, b| a.price.total_cmp(&b.price));
        priced.truncate(MOST_TRIALS);
        for (i, one) in priced.into_iter().enumerate() {
            let mut trial = trial(&one);
            let dearer = self.enough.is_some_and(|price| one.price > EQUAL_PRICE * price);
            // With a budget the most accurate that fits is wanted, not the cheapest. What is within the tolerance but does
            // not fit shows what to trim.
            let mut result = None;
            if !dearer || self.wish.budget.is_some() && one.fits {
                if self.begin.elapsed().as_secs_f64() > PATIENCE && self.results.iter().any(Option::is_some) {
                    self.warnings.push(format!("plans after the first {i} were not tried: it took too long"));
                    return;
                }
                result = self.run(&one, &mut trial);
                if result.is_some() && !one.fits {
                    trial.failed = Some("does not fit the budget".into());
                }
            }
            self.results.push(result);
            self.trials.push(trial);
            self.priced.push(one);
        }
    }

    fn run(&mut self, one: &Priced, trial: &mut Trial) -> Option<(Simulated, Vec<f64>)> {
        let mut subject = self.material.subject.clone();
        subject.plan = one.plan.clone();
        let simulate = Simulate { subject, steps: self.wish.steps, every: self.wish.every };
        let simulated = match self.lab.simulate(&format!("trying: {}", one.candidate.label), simulate) {
            Ok(simulated) => simulated,
            Err(error) => {
                trial.failed = Some(error.to_string());
                return None;
            }
        };
        if let Some(failed) = &simulated.failed {
            trial.failed = Some(failed.clone());
            return None;
        }
        let errors = errors(&self.material.studied.trajectory, &simulated.trajectory);
        trial.error = largest(&errors);
        if trial.error.is_none_or(|error| error <= self.wish.tolerance) {
            let is_free = self.wish.jacobian == JacobianPolicy::Auto && !self.wish.force;
            if is_free && !stable_when_aged(self.material, one) {
                trial.failed = Some("not stable with a Jacobian as old as it gets".into());
                return None;
            }
            self.enough = Some(self.enough.map_or(one.price, |price| price.min(one.price)));
        }
        Some((simulated, errors))
    }

    /// The cheapest within the tolerance; of equally cheap ones, the most accurate.
    pub fn choose(mut self) -> Result<Decision, Error> {
        let run: Vec<usize> =
            (0..self.trials.len()).filter(|&i| self.results[i].is_some() && self.priced[i].fits).collect();
        let by_error = |&a: &usize, &b: &usize| self.error_of(a).total_cmp(&self.error_of(b));
        let best = match (self.enough, self.wish.budget) {
            (Some(price), None) => run
                .iter()
                .copied()
                .filter(|&i| {
                    self.error_of(i) <= self.wish.tolerance && self.priced[i].price <= EQUAL_PRICE * price
                })
                .min_by(by_error),
            _ => run.iter().copied().min_by(by_error),
        };
        let Some(best) = best else { return Err(self.nothing()) };
        if let Some(error) = self.trials[best].error.filter(|&error| error > self.wish.tolerance) {
            let message = missed(self.material, self.wish, error);
            if self.wish.strict {
                return Err(Error::Request(message));
            }
            self.warnings.push(message);
        }
        self.trials[best].chosen = true;
        let (simulated, errors) = self.results.swap_remove(best).unwrap_or_default();
        let one = self.priced.swap_remove(best);
        self.warnings.extend(one.candidate.warning.clone());
        let (certificate, spectra) = Certificate::new(self.material, &one.candidate);
        Ok(Decision {
            error: largest(&errors),
            errors,
            spectral_radius: one.candidate.spectral_radius,
            samples: self.material.samples(),
            cost: one.cost,
            worst_step: one.worst_step,
            certificate,
            spectra,
            tolerance: self.wish.tolerance,
            plan: one.plan,
            candidate: one.candidate,
            simulated,
            trials: self.trials,
            warnings: self.warnings,
        })
    }

    fn nothing(&self) -> Error {
        let cheapest = self.priced.iter().min_by(|a, b| a.price.total_cmp(&b.price));
        if let Some(cheapest) = cheapest.filter(|_| !self.priced.iter().any(|one| one.fits)) {
            return Error::Request(format!(
                "no stable plan fits the budget: the cheapest ({}, Jacobian {}) takes {:.2} evaluations, about {} for \
                 a communication step; allow more with --budget, or take a longer --step",
                cheapest.candidate.label,
                policy_name(cheapest.plan.jacobian.policy),
                cheapest.cost.evaluations_per_step * cheapest.plan.step.substeps as f64,
                format_duration(seconds_per_step(self.material, cheapest)),
            ));
        }
        let why = self.trials.iter().find_map(|trial| trial.failed.clone());
        Error::Request(format!(
            "no plan survives the run with a step of {}: {}. Try a shorter --step",
            format_duration(self.material.h),
            why.unwrap_or_else(|| "none could be run".into())
        ))
    }
}

/// First order: the error shrinks with h.
fn missed(material: &Material, wish: &Wish, error: f64) -> String {
    let shorter = material.h * wish.tolerance / error * 0.9;
    format!(
        "the error against the accurate solution is {:.3} %, more than the tolerance of {:.3} %; a step of about \
         {} would do (--step or --substeps)",
        100.0 * error,
        100.0 * wish.tolerance,
        format_duration(round_down(shorter))
    )
}

/// To one leading digit: advice is no measurement.
fn round_down(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor());
    (value / power).floor().max(1.0) * power
}

/// Of a communication step, as predicted.
fn seconds_per_step(material: &Material, one: &Priced) -> f64 {
    let step = one.cost.evaluations_per_step * material.studied.evaluation_time
        + one.cost.operations_per_step as f64 * OPERATION;
    step * one.plan.step.substeps as f64
}

fn trial(one: &Priced) -> Trial {
    Trial {
        label: one.candidate.label.clone(),
        policy: policy_name(one.plan.jacobian.policy),
        kept_nonzeros: one.cost.kept_nonzeros,
        evaluations_per_step: one.cost.evaluations_per_step,
        operations_per_step: one.cost.operations_per_step,
        error: None,
        failed: None,
        chosen: false,
    }
}

fn policy_name(policy: Policy) -> String {
    match policy {
        Policy::Every => "every".into(),
        Policy::Rolling { per_step } => format!("rolling {per_step}"),
        Policy::Frozen => "frozen".into(),
        Policy::Watched => "watched".into(),
    }
}

/// A plan without its Jacobian policy.
pub struct Draft {
    plan: Plan,
    kept: usize,
    /// Evaluations that a colour costs.
    per_colour: f64,
    operations: lu::Operations,
}

impl Draft {
    pub fn new(material: &Material, kept: &[bool]) -> Draft {
        let samples: Vec<Vec<f64>> =
            material.studied.samples.iter().map(|sample| sample.jacobian.clone()).collect();
        let negligible = negligible(material, kept);
        let (jacobian, elimination) = plan_parts(&material.pattern, kept, &negligible, material.h, &samples);
        let operations = lu::operations(&elimination);
        let mut plan = material.subject.plan.clone();
        plan.states.nominals.clone_from(&material.scales);
        plan.states.sizes.clone_from(&material.scales);
        plan.jacobian = jacobian;
        plan.elimination = elimination;
        let evaluation = material.studied.evaluation_time;
        let per_colour = match material.studied.directional_time {
            Some(directional) if directional < CHEAPER * evaluation => {
                plan.jacobian.source = Source::Directional;
                // A measurement, but it goes into the certificate: coarse enough to repeat itself.
                2f64.powf((directional / evaluation).log2().round())
            }
            _ => 1.0,
        };
        Draft { plan, kept: kept.iter().filter(|&&kept| kept).count(), per_colour, operations }
    }

    pub fn cost(&self, policy: Policy) -> Cost {
        let colours = self.plan.jacobian.colours.len();
        let fresh = policy.per_step(colours);
        let refactored = policy.per_step(colours) > 0;
        Cost {
            kept_nonzeros: self.kept,
            factor_nonzeros: self.plan.elimination.cols.len() + self.plan.elimination.outer.len(),
            evaluations_per_step: 1.0 + fresh as f64 * self.per_colour,
            operations_per_step: self.operations.solve
                + if refactored { self.operations.refactor } else { 0 },
        }
    }
}

/// The candidate with each Jacobian policy that makes sense.
fn plans(material: &Material, candidate: &Candidate, wish: &Wish) -> Vec<Priced> {
    let draft = Draft::new(material, &candidate.kept);
    let colours = draft.plan.jacobian.colours.len();
    // Rounded to a power of 16, so that the same model is priced the same way every time.
    let evaluation = 16f64.powf((material.studied.evaluation_time * 1e9).max(1.0).log(16.0).round()) * 1e-9;
    let priced = |policy| {
        let mut plan = draft.plan.clone();
        plan.jacobian.policy = policy;
        let cost = draft.cost(policy);
        let price = cost.evaluations_per_step * evaluation + cost.operations_per_step as f64 * OPERATION;
        let worst_step = WorstStep::new(&plan, draft.operations, draft.per_colour);
        let mut one = Priced { candidate: candidate.clone(), plan, cost, worst_step, price, fits: true };
        one.fits = match wish.budget {
            None => true,
            Some(Budget::Time(seconds)) => seconds_per_step(material, &one) <= seconds,
            Some(Budget::Share(share)) => {
                let step = one.plan.step.h * one.plan.step.substeps as f64;
                seconds_per_step(material, &one) <= share * step
            }
            Some(Budget::Evaluations(count)) => {
                one.cost.evaluations_per_step * one.plan.step.substeps as f64 <= count
            }
        };
        one
    };
    policies(material, candidate, wish, colours).into_iter().map(priced).collect()
}

fn policies(material: &Material, candidate: &Candidate, wish: &Wish, colours: usize) -> Vec<Policy> {
    // Nothing varies: every policy is the frozen one.
    if colours == 0 {
        return vec![Policy::Frozen];
    }
    // One colour a step, two, four ...: how old a Jacobian may be the run tells. All of them is every step.
    let doubled = std::iter::successors(Some(1u32), |per_step| per_step.checked_mul(2));
    let rolling = doubled
        .take_while(|&per_step| (per_step as usize) < colours)
        .map(|per_step| Policy::Rolling { per_step });
    match wish.jacobian {
        JacobianPolicy::Every => vec![Policy::Every],
        JacobianPolicy::Rolling if colours == 1 => vec![Policy::Rolling { per_step: 1 }],
        JacobianPolicy::Rolling => rolling.collect(),
        JacobianPolicy::Frozen => vec![Policy::Frozen],
        JacobianPolicy::Auto => {
            let frozen = stable_when_stale(material, candidate).then_some(Policy::Frozen);
            frozen.into_iter().chain(rolling).chain([Policy::Every]).collect()
        }
    }
}

/// A Jacobian of one sample, used at any other.
fn stable_when_stale(material: &Material, candidate: &Candidate) -> bool {
    if material.dense.is_empty() {
        // Too large for pairs of samples: the trial run is the judge.
        return true;
    }
    // Pairs grow with the square of the samples.
    let stride = material.dense.len().div_ceil(if material.n > 60 { 4 } else { 8 });
    let samples: Vec<_> = material.dense.iter().step_by(stride).cloned().collect();
    stale::stale(&samples, &material.mask(&candidate.kept), material.h).is_ok_and(|stale| stale.stable)
}

/// A rolling Jacobian has columns of every age up to one round through its colours. Which is the oldest differs from sample to
/// sample.
fn stable_when_aged(material: &Material, one: &Priced) -> bool {
    let Policy::Rolling { per_step } = one.plan.jacobian.policy else { return true };
    let colours = &one.plan.jacobian.colours;
    let mut colour_of = vec![None; material.n];
    for (c, colour) in colours.iter().enumerate() {
        colour.columns.iter().for_each(|&column| colour_of[column as usize] = Some(c));
    }
    let age = |sample: usize, column: usize| match colour_of[column] {
        Some(colour) => {
            let turn = (colour + sample) % colours.len() / per_step as usize;
            turn as f64 * material.h
        }
        None => 0.0,
    };
    !unstable_when_aged(material, &material.mask(&one.candidate.kept), &age)
}

/// Entries that are not kept and, at every sample, far below the smallest kept one of their row.
fn negligible(material: &Material, kept: &[bool]) -> Vec<bool> {
    let pattern = &material.pattern;
    let mut negligible = vec![false; pattern.len()];
    for row in 0..material.n {
        let entries = pattern.range(row);
        if !entries.clone().any(|entry| kept[entry]) {
            continue;
        }
        for entry in entries.clone().filter(|&entry| !kept[entry]) {
            negligible[entry] = material.studied.samples.iter().all(|sample| {
                let size = |entry: usize| sample.jacobian[entry].abs() * material.scales[pattern.col(entry)];
                let least = entries.clone().filter(|&other| kept[other]).map(size);
                size(entry) <= NEGLIGIBLE * least.fold(f64::INFINITY, f64::min)
            });
        }
    }
    negligible
}

/// Root mean square of the deviation over the common points, divided by the reference's range, per quantity.
pub fn errors(reference: &[Vec<f64>], simulated: &[Vec<f64>]) -> Vec<f64> {
    let points = reference.len().min(simulated.len());
    if points < 2 {
        return Vec::new();
    }
    (0..reference[0].len())
        .map(|quantity| {
            let values = reference[..points].iter().map(|point| point[quantity]);
            let low = values.clone().fold(f64::INFINITY, f64::min);
            let high = values.clone().fold(f64::NEG_INFINITY, f64::max);
            let squares: f64 = values
                .zip(&simulated[..points])
                .map(|(value, point)| (value - point[quantity]).powi(2))
                .sum();
            let deviation = (squares / points as f64).sqrt();
            // What stands still is measured by its size, and zero by nothing.
            let size = low.abs().max(high.abs());
            let range = if high - low > 1e-9 * size { high - low } else { size.max(f64::MIN_POSITIVE) };
            if deviation <= 1e-12 * size { 0.0 } else { deviation / range }
        })
        .collect()
}

fn largest(errors: &[f64]) -> Option<f64> {
    (!errors.is_empty()).then(|| errors.iter().fold(0.0, |largest, &error| f64::max(largest, error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A constant offset of a tenth of the range is an error of 0.1; a standing quantity is measured by its size.
    #[test]
    fn error_is_rms_over_range() {
        let reference: Vec<Vec<f64>> = (0..=10).map(|k| vec![k as f64, 5.0, 0.0]).collect();
        let simulated: Vec<Vec<f64>> = reference.iter().map(|p| vec![p[0] + 1.0, 5.5, 0.0]).collect();
        let errors = errors(&reference, &simulated);
        for (error, expected) in errors.iter().zip([0.1, 0.1, 0.0]) {
            assert!((error - expected).abs() < 1e-12, "{error} is not {expected}");
        }
    }
}
