//! Plans made of a mask: colours, elimination, then a method and a policy, with what a step of them costs.

use super::bound::WorstStep;
use super::counted::{Counter, is_driven};
use super::problem::{CallTimes, Problem};
use crate::analysis::Mask;
use crate::assemble::{Choice, assemble};
use crate::findings::CLEARLY_CHEAPER;
use crate::structure::plan_parts;
use fmu_runtime::plan::{Elimination, Fallback, Jacobian, JacobianSource, Method, Plan, Policy, Watch};
use serde::Serialize;

/// Seconds per multiply-add of the solver, roughly; it only has to weigh against evaluations.
pub const OPERATION: f64 = 1e-9;
/// What a directional derivative costs at most, in evaluations, where they are used: a rule and not the measured price, which would go into
/// the certificate.
const DIRECTIONAL: f64 = CLEARLY_CHEAPER;
/// A dropped entry this much smaller than the smallest kept one of its row does not disturb a difference.
const NEGLIGIBLE: f64 = 1e-3;

/// What a step takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    pub kept_nonzeros: usize,
    /// Slots of the factors, fill included.
    pub factor_nonzeros: usize,
    /// Of an internal step without events, on average over the runs.
    pub evaluations_per_step: f64,
    /// What reading outputs after a communication step adds: the model is evaluated for them where no step is.
    pub evaluations_for_outputs: f64,
    pub operations_per_step: u64,
    /// The most that an internal step without events takes: the watch may have it done again.
    pub evaluations_worst_step: f64,
    pub operations_worst_step: u64,
    /// Readings of the event indicators in an internal step without events: at its end, and before it where inputs may
    /// have changed.
    #[serde(skip)]
    pub indicator_readings: f64,
    /// The one at the end comes after an evaluation there.
    #[serde(skip)]
    pub evaluates_end: bool,
}

impl Cost {
    /// Seconds of an internal step on average, with these times of the model's calls.
    pub fn seconds(&self, times: &CallTimes) -> f64 {
        self.evaluations_per_step * times.evaluation
            + self.indicator_seconds(times)
            + self.operations_per_step as f64 * OPERATION
    }

    /// The most that an internal step without events takes.
    pub fn worst_seconds(&self, times: &CallTimes) -> f64 {
        self.evaluations_worst_step * times.evaluation
            + self.indicator_seconds(times)
            + self.operations_worst_step as f64 * OPERATION
    }

    fn indicator_seconds(&self, times: &CallTimes) -> f64 {
        self.indicator_readings * if self.evaluates_end { times.indicators } else { times.indicators_alone }
    }
}

/// How often something that is not due in every step happened in the runs, in parts of the internal steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shares {
    /// The watch had the step done again.
    pub renewals: f64,
    /// It had the model evaluated once more: nothing was known of what time alone changes. `None` before any run.
    pub watch_evaluations: Option<f64>,
}

/// What follows from a mask alone.
pub struct Draft {
    jacobian: Jacobian,
    elimination: Elimination,
    kept: usize,
    /// Evaluations that a colour costs.
    per_colour: f64,
    /// Some output is more than a state.
    computes_outputs: bool,
}

impl Draft {
    pub fn new(problem: &Problem, mask: &Mask) -> Draft {
        let samples: Vec<Vec<f64>> =
            problem.studied.samples.iter().map(|sample| sample.jacobian.clone()).collect();
        let kept = mask.kept(&problem.pattern);
        let negligible = negligible(problem, &kept);
        let (mut jacobian, elimination) =
            plan_parts(&problem.pattern, &kept, &negligible, problem.h, &samples);
        let per_colour = if problem.directional {
            jacobian.source = JacobianSource::Directional;
            DIRECTIONAL
        } else {
            1.0
        };
        let kept = kept.iter().filter(|&&kept| kept).count();
        let interface = problem.interface;
        let is_state = |output: &u32| interface.state_references.contains(output);
        let computes_outputs =
            !interface.discrete_outputs.is_empty() || !interface.outputs.iter().all(is_state);
        Draft { jacobian, elimination, kept, per_colour, computes_outputs }
    }

    /// Colours that vary.
    pub fn colours(&self) -> usize {
        self.jacobian.colours.len()
    }

    /// What a plan that drops entries can fall back to: this draft, with all of them.
    pub fn fallback(&self) -> Fallback {
        Fallback {
            jacobian: Jacobian { policy: Policy::Frozen, ..self.jacobian.clone() },
            elimination: self.elimination.clone(),
        }
    }

    pub fn plan(
        &self,
        problem: &Problem,
        method: Method,
        policy: Policy,
        watch: Option<Watch>,
        fallback: Option<Fallback>,
    ) -> Plan {
        assemble(
            problem.interface,
            problem.discretisation,
            Choice {
                method,
                jacobian: Jacobian { policy, ..self.jacobian.clone() },
                elimination: self.elimination.clone(),
                nominals: problem.nominals.clone(),
                sizes: problem.sizes.clone(),
                watch,
                fallback,
                outputs_need_evaluation: problem.studied.outputs_need_evaluation,
                time_invariant: problem.studied.time_invariant,
                wrong_directional: problem.studied.wrong_directional.is_some(),
            },
        )
    }

    /// Of an internal step: a communication step's over their number.
    pub fn cost(&self, plan: &Plan, shares: Shares) -> Cost {
        let counter = Counter::new(plan, self.per_colour);
        let (quiet, driven) = (counter.quiet(false), counter.quiet(true));
        let steps = f64::from(plan.step.substeps);
        // What the twin takes comes on top: half as many internal steps.
        let taken_steps = if plan.has_twin() { 1.5 * steps } else { steps };
        // Where inputs are set the model must be evaluated anew. Whether the watch asks for that the runs have shown.
        let watch = shares.watch_evaluations.map_or(quiet.watch, |share| share * taken_steps);
        let (evaluations, operations) = (driven.evaluations - driven.watch, driven.operations as f64);
        let (more, more_operations) = counter.renewed().map_or((0.0, 0.0), |renewed| {
            (renewed.evaluations - renewed.watch - evaluations, renewed.operations as f64 - operations)
        });
        let worst = counter.worst_quiet();
        // The importer's reading of outputs: of those of the twin as well, which are compared with ours.
        let shared = plan.model.time_invariant && !is_driven(plan);
        let outputs = self.computes_outputs && !driven.evaluated_end && !shared;
        let readers = if plan.has_twin() { 2.0 } else { 1.0 };
        Cost {
            kept_nonzeros: self.kept,
            factor_nonzeros: self.elimination.cols.len() + self.elimination.outer.len(),
            evaluations_per_step: (evaluations + watch + shares.renewals * more) / steps,
            evaluations_for_outputs: readers * f64::from(u8::from(outputs)),
            operations_per_step: ((operations + shares.renewals * more_operations) / steps) as u64,
            evaluations_worst_step: worst.evaluations / steps,
            operations_worst_step: worst.operations.div_ceil(u64::from(plan.step.substeps)),
            indicator_readings: driven.indicators as f64 / steps,
            evaluates_end: driven.evaluated_end,
        }
    }

    /// Of a communication step, events included.
    pub fn worst_step(&self, plan: &Plan) -> WorstStep {
        let outputs = match plan.has_twin() {
            true => self.cost(plan, Shares::default()).evaluations_for_outputs,
            false => 0.0,
        };
        WorstStep::new(&Counter::new(plan, self.per_colour), outputs)
    }
}

/// Entries that are not kept and, at every sample, far below the smallest kept one of their row.
fn negligible(problem: &Problem, kept: &[bool]) -> Vec<bool> {
    let pattern = &problem.pattern;
    let mut negligible = vec![false; pattern.len()];
    for row in 0..problem.n {
        let entries = pattern.range(row);
        if !entries.clone().any(|entry| kept[entry]) {
            continue;
        }
        for entry in entries.clone().filter(|&entry| !kept[entry]) {
            negligible[entry] = problem.studied.samples.iter().all(|sample| {
                let size = |entry: usize| sample.jacobian[entry].abs() * problem.nominals[pattern.col(entry)];
                let least = entries.clone().filter(|&other| kept[other]).map(size);
                size(entry) <= NEGLIGIBLE * least.fold(f64::INFINITY, f64::min)
            });
        }
    }
    negligible
}
