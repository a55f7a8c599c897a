//! The twin of the plan that was chosen: the same with a second integration at twice the internal step, by which the FMU tells its own error.
//!
//! With an even number of internal steps the twin takes half of them; with an odd one the FMU takes twice as many and the twin those of the
//! plan. Either way the finer solution is the FMU's. The twin needs a second instance of the model: some models may be
//! instantiated only once, some do not say so and disturb each other. So the run with the twin is compared with the run without, bit for
//! bit; where they differ the plan ships without.

use super::outcome::Outcome;
use super::{Judge, SHARE as ROOM, Tried, within};
use crate::assemble::Discretisation;
use crate::decide::draft::{Draft, Shares};
use crate::decide::{Problem, Told, telling};
use crate::findings::Simulate;
use crate::options::{Budget, TwinMode};
use crate::warning::Warning;
use fmu_runtime::plan::{Accuracy, ErrorSource, Method, Plan};
use fmu_runtime::value::Type;

/// The part of the twins' difference that is told as the FMU's error. Smooth runs have 1/(2^p - 1), which is 1, 1/3, 1/7 for the orders; where events
/// come late, or A is old, the order drops and 1.2 was seen. This is the geometric middle, three times either way from nearly all.
const SHARE: f64 = 0.4;
/// The same for a method of first order that no run at build has an error to compare with.
const SHARE_OF_FIRST_ORDER: f64 = 1.0;
/// Where the middle of the verified runs has more than twice that, theirs is told, and this at most.
const LARGEST_SHARE: f64 = 1.3;
/// What the error may be at most, in parts of the difference. More than 1 is seen where both overshoot the same way.
const BOUND: f64 = 1.8;
/// Of the error that is carried without a twin, the largest part in the verified runs is told, and this many times it; within these limits, so
/// that what says nothing on them (an estimate that is always everything, or nothing) is told as it is.
const ABOVE_SEEN: f64 = 1.2;
const CARRIED_SHARE: [f64; 2] = [0.02, 50.0];
/// What the error may be at most, in parts of what is told.
const CARRIED_BOUND: f64 = 1.4;
/// Smaller errors, in parts of the tolerance, tell nothing of the parts: the accurate solution has such itself.
const LEAST_ERROR: f64 = 0.01;
/// An error below this part of the tolerance, with an estimate beyond the tolerance, means that the twin's step is too long.
const MISLED: f64 = 0.1;
/// A quantity that moves by less than this part of its size stands still.
const STILL: f64 = 1e-9;
/// The estimate should be within these times the error.
const TRUSTED: [f64; 2] = [0.3, 3.0];

/// The plan with its twin.
pub(super) struct Twinned<'a> {
    pub problem: Problem<'a>,
    pub tried: Tried,
}

impl<'a> Judge<'a> {
    /// The chosen plan with its twin, or why there is none. Nothing is said where nobody would expect one.
    pub(super) fn twin(&self, one: &Tried) -> Result<Twinned<'a>, Option<String>> {
        let (mode, interface) = (self.options.twin, self.problem.interface);
        let step = self.problem.discretisation;
        if mode == TwinMode::Off || self.problem.n == 0 {
            return Err(None);
        }
        let asked_odd = self.options.substeps.is_some() && !step.substeps.is_multiple_of(2);
        if mode == TwinMode::Auto && asked_odd {
            return Err(None); // an odd number was asked for, and is taken
        }
        if interface.instantiate_only_once {
            return Err(Some("the model may be instantiated only once in a process".into()));
        }
        let halved = Discretisation { h: 0.5 * step.h, substeps: 2 * step.substeps, ..step };
        let quartered = Discretisation { h: 0.25 * step.h, substeps: 4 * step.substeps, ..step };
        let finer = if step.substeps.is_multiple_of(2) { [step, halved] } else { [halved, quartered] };
        let (mut why, mut coarse) = (None, None);
        for discretisation in finer {
            match self.twin_with(one, discretisation) {
                Ok(twinned) if coarse.is_none() && self.is_misled(&twinned.tried) => coarse = Some(twinned),
                Ok(twinned) => return Ok(twinned),
                Err(reason) => why = Some(why.unwrap_or(reason)),
            }
        }
        coarse.ok_or(why)
    }

    /// The twin's step is too long to tell anything: on a run at build the estimate is beyond the tolerance and the error below a tenth of it. Finer
    /// steps of both mend that, unless their number was asked for.
    fn is_misled(&self, tried: &Tried) -> bool {
        let Some(outcome) = tried.outcome.as_ref().filter(|_| self.options.substeps.is_none()) else {
            return false;
        };
        let counts = |told: &&Told| outcome.runs.iter().all(|run| run.counts || run.name != told.run);
        let tolerance = self.options.tolerance;
        outcome
            .told
            .iter()
            .filter(counts)
            .any(|told| told.estimate > tolerance && told.error < MISLED * tolerance)
    }

    fn twin_with(&self, one: &Tried, discretisation: Discretisation) -> Result<Twinned<'a>, String> {
        let problem =
            Problem::new(self.problem.interface, discretisation, self.problem.studied, self.options);
        let draft = Draft::new(&problem, &one.candidate.mask);
        let (method, policy) = (one.plan.step.method, one.plan.jacobian.policy);
        let alone = draft.plan(&problem, method, policy, one.plan.watch, one.plan.fallback.clone());
        let mut plan = Plan { accuracy: Some(self.accuracy(method)), ..alone };
        let cost = draft.cost(&plan, Shares::default());
        let fits = within(self.options.budget.unwrap_or(Budget::Share(ROOM)), &problem, &cost);
        if !fits && self.options.twin == TwinMode::Auto {
            return Err("the budget leaves no room for it".into());
        }
        let verdict = super::judge_at(&problem, &one.candidate, &plan, &[2.0]);
        if one.verdict.is_stable() && !verdict.is_stable() {
            return Err("the plan is not stable at both of their steps".into());
        }
        let candidate = one.candidate.clone();
        let mut tried = Tried {
            candidate,
            plan,
            cost,
            fits,
            verdict,
            outcome: None,
            failed: None,
            in_need_of_time: one.in_need_of_time,
        };
        let (mut outcome, shares) = self.run(&tried).map_err(|why| format!("with it {why}"))?;
        if outcome.simulated.without_twin {
            return Err("the model’s second instance does not get through the run".into());
        }
        self.is_undisturbed(&tried.plan, &outcome)?;
        plan = tried.plan;
        if let Some(accuracy) = &mut plan.accuracy {
            accuracy.claimed = outcome.largest();
            calibrate(accuracy, &mut outcome);
        }
        tried = Tried { cost: draft.cost(&plan, shares), plan, ..tried };
        tried.outcome = Some(outcome);
        Ok(Twinned { problem, tried })
    }

    /// The chosen plan with the error that its steps' own estimates add up to: where there is no twin. Nothing where that was not wanted, or
    /// its runs do not end as they did.
    pub(super) fn carried(&self, one: &Tried) -> Option<Tried> {
        let problem = self.problem;
        if self.options.twin == TwinMode::Off || problem.n == 0 {
            return None;
        }
        let ranges = problem.ranges.iter().zip(&problem.sizes);
        let ranges = ranges.map(|(&range, &size)| if range > STILL * size { range } else { size });
        let accuracy = Accuracy {
            source: ErrorSource::Carried,
            share: 1.0,
            bound: 1.0,
            outputs: Vec::new(),
            names: problem.names().to_vec(),
            // Nothing is known of the states but how far they move.
            lows: vec![0.0; problem.n],
            highs: vec![0.0; problem.n],
            sizes: vec![0.0; problem.n],
            ranges: ranges.collect(),
            integers: Vec::new(),
            booleans: Vec::new(),
            strings: Vec::new(),
            ..self.accuracy(one.plan.step.method)
        };
        let mut tried = Tried {
            candidate: one.candidate.clone(),
            plan: Plan { accuracy: Some(accuracy), ..one.plan.clone() },
            verdict: one.verdict.clone(),
            failed: one.failed.clone(),
            outcome: None,
            ..*one
        };
        let (mut outcome, shares) = self.run(&tried).ok()?;
        if let Some(accuracy) = &mut tried.plan.accuracy {
            accuracy.claimed = outcome.largest();
            calibrate_carried(accuracy, &mut outcome);
        }
        let draft = Draft::new(problem, &tried.candidate.mask);
        tried.cost = draft.cost(&tried.plan, shares);
        tried.outcome = Some(outcome);
        Some(tried)
    }

    /// The first run without the second instance is the same to the last bit.
    fn is_undisturbed(&self, plan: &Plan, outcome: &Outcome) -> Result<(), String> {
        let run = self.runs.iter().find(|run| run.given).ok_or("there is no run to try it on")?;
        let alone = Simulate { alone: true, ..self.simulation(plan, run) };
        let simulated =
            self.lab.simulate("trying: without the twin", alone).map_err(|error| error.to_string())?;
        let bits = |rows: &[Vec<f64>]| -> Vec<u64> { rows.iter().flatten().map(|y| y.to_bits()).collect() };
        let same = bits(&simulated.trajectory) == bits(&outcome.simulated.trajectory)
            && simulated.discrete == outcome.simulated.discrete;
        same.then_some(()).ok_or("two instances of the model disturb each other".into())
    }

    /// What is compared at run time: the quantities of the certificate.
    fn accuracy(&self, method: Method) -> Accuracy {
        let interface = self.problem.interface;
        let of_type = |wanted: Type| -> Vec<u32> {
            let outputs = interface.discrete_outputs.iter().filter(|(_, of)| *of == wanted);
            outputs.map(|(reference, _)| *reference).collect()
        };
        let quantities = self.runs.first().and_then(|run| run.trajectory.first()).map_or(0, Vec::len);
        Accuracy {
            source: ErrorSource::Twin,
            tolerance: self.options.tolerance,
            claimed: 0.0,
            share: if method.tableau().order == 1 { SHARE_OF_FIRST_ORDER } else { SHARE },
            bound: BOUND,
            outputs: interface.outputs.clone(),
            names: (0..quantities).map(|i| interface.quantity(i).to_string()).collect(),
            lows: (0..quantities).map(|i| self.hull(i).0).collect(),
            highs: (0..quantities).map(|i| self.hull(i).1).collect(),
            sizes: self.sizes(quantities),
            ranges: (0..quantities).map(|i| self.reach(i)).collect(),
            integers: of_type(Type::Integer),
            booleans: of_type(Type::Boolean),
            strings: of_type(Type::Text),
        }
    }

    /// Between what a quantity moves in the given runs.
    fn hull(&self, quantity: usize) -> (f64, f64) {
        let runs = self.runs.iter().filter(|run| run.given);
        let values = runs.flat_map(|run| &run.trajectory).map(|point| point[quantity]);
        let (low, high) =
            (values.clone().fold(f64::INFINITY, f64::min), values.fold(f64::NEG_INFINITY, f64::max));
        if low.is_finite() && high.is_finite() { (low, high) } else { (0.0, 0.0) }
    }

    /// How large each quantity is in the given runs.
    fn sizes(&self, quantities: usize) -> Vec<f64> {
        let mut sizes = vec![0.0; quantities];
        for run in self.runs.iter().filter(|run| run.given) {
            let found = run.ranges();
            let found = found.sizes().map(|size| if size.is_finite() { size } else { 0.0 });
            sizes.iter_mut().zip(found).for_each(|(size, found)| *size = f64::max(*size, found));
        }
        sizes
    }

    /// How far a quantity reaches in the middle of the runs that make sense and in which it moves.
    fn reach(&self, quantity: usize) -> f64 {
        let counted = self.runs.iter().zip(&self.counts).filter(|(run, counts)| run.given || **counts);
        let ranges = counted.filter_map(|(run, _)| run.ranges().moving().nth(quantity).flatten());
        let mut ranges: Vec<f64> = ranges.filter(|range| range.is_finite()).collect();
        middle(&mut ranges).unwrap_or(0.0)
    }
}

fn middle(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

/// What part of the difference the error is, by the runs whose error is known. What was estimated on them follows.
fn calibrate(accuracy: &mut Accuracy, outcome: &mut Outcome) {
    let telling = outcome.told.iter().filter(|one| one.error > LEAST_ERROR * accuracy.tolerance);
    let parts = telling.map(|one| accuracy.share * one.error / one.estimate).filter(|part| part.is_finite());
    let Some(middle) = middle(&mut parts.collect::<Vec<f64>>()) else { return };
    let share = if middle > 2.0 * SHARE { middle.min(LARGEST_SHARE) } else { SHARE };
    rescale(accuracy, outcome, share, BOUND);
}

/// The largest error over what was carried, with room above it. Where no run has an error worth the name, what was carried there is nothing either.
fn calibrate_carried(accuracy: &mut Accuracy, outcome: &mut Outcome) {
    let most = outcome.told.iter().map(|one| one.estimate).fold(0.0, f64::max);
    let telling = outcome.told.iter().filter(|one| one.error > LEAST_ERROR * accuracy.tolerance);
    let parts = telling.map(|one| one.error / one.estimate).filter(|part| part.is_finite() && *part > 0.0);
    let part = match parts.max_by(f64::total_cmp) {
        Some(part) => ABOVE_SEEN * part,
        None if most > 0.0 => LEAST_ERROR * accuracy.tolerance / most,
        None => 1.0,
    };
    let share = part.clamp(CARRIED_SHARE[0], CARRIED_SHARE[1]);
    rescale(accuracy, outcome, share, CARRIED_BOUND * share);
}

/// Tell another part of the difference from now on, and on the runs that were made.
fn rescale(accuracy: &mut Accuracy, outcome: &mut Outcome, share: f64, bound: f64) {
    let times = share / accuracy.share;
    outcome.told.iter_mut().for_each(|one| one.estimate *= times);
    outcome.simulated.estimates.iter_mut().for_each(|estimate| *estimate *= times);
    (accuracy.share, accuracy.bound) = (share, bound);
}

/// A warning where the estimate is far from the error, on a run where there is something to tell.
pub(super) fn doubts(told: &[Told], tolerance: f64) -> Option<Warning> {
    let off = |one: &&Told| one.ratio().is_some_and(|ratio| !(TRUSTED[0]..=TRUSTED[1]).contains(&ratio));
    let distance = |one: &&Told| one.ratio().map_or(0.0, |ratio| ratio.ln().abs());
    let worst = telling(told, tolerance).filter(off).max_by(|a, b| distance(a).total_cmp(&distance(b)))?;
    Some(Warning::EstimateOff { estimate: worst.estimate, error: worst.error, run: worst.run.clone() })
}
