//! Plans made of a mask: colours, elimination, then a method and a policy, with what a step of them costs.

use super::bound::{WorstStep, beside_stages, evaluates_end, watch_solutions, watches_in_time};
use super::problem::{CallTimes, Problem};
use crate::analysis::Mask;
use crate::assemble::{Choice, assemble};
use crate::findings::CLEARLY_CHEAPER;
use crate::structure::plan_parts;
use fmu_runtime::lu;
use fmu_runtime::plan::{Elimination, Fallback, Jacobian, JacobianSource, Method, Plan, Policy, Role, Watch};
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
    /// Readings of the event indicators in an internal step without events: at its end, and before it where inputs may have changed.
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

impl Cost {
    /// With a twin, which takes one internal step where the FMU takes two, and whose outputs are read as well.
    fn with_twin(self) -> Cost {
        Cost {
            evaluations_per_step: 1.5 * self.evaluations_per_step,
            evaluations_for_outputs: 2.0 * self.evaluations_for_outputs,
            operations_per_step: self.operations_per_step * 3 / 2,
            evaluations_worst_step: 1.5 * self.evaluations_worst_step,
            operations_worst_step: (self.operations_worst_step * 3).div_ceil(2),
            indicator_readings: 1.5 * self.indicator_readings,
            ..self
        }
    }
}

/// How often something that is not due in every step happened in the runs, in parts of the internal steps.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shares {
    /// The watch had the step done again.
    pub renewals: f64,
    /// It had the model evaluated once more: nothing was known of what time alone changes.
    pub watch_evaluations: f64,
}

/// What follows from a mask alone.
pub struct Draft {
    jacobian: Jacobian,
    elimination: Elimination,
    kept: usize,
    /// Evaluations that a colour costs.
    per_colour: f64,
    operations: lu::Operations,
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
        let operations = lu::operations(&elimination);
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
        Draft { jacobian, elimination, kept, per_colour, operations, computes_outputs }
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

    /// Of an internal step.
    pub fn cost(&self, plan: &Plan, shares: Shares) -> Cost {
        let tableau = plan.step.method.tableau();
        let fresh = plan.jacobian.policy.per_step(self.colours());
        let attempt =
            f64::from(tableau.evaluations(plan.model.time_invariant)) + beside_stages(plan, &tableau);
        // Where time does not matter a step begins with what the one before it ended with, unless the importer sets inputs.
        let driven = plan.variables.real.roles.contains(char::from(Role::ContinuousInput as u8));
        let (at_end, shared) = (evaluates_end(plan, &tableau), plan.model.time_invariant && !driven);
        let carried = f64::from(u8::from(at_end && shared));
        let outputs = self.computes_outputs && !at_end && !shared;
        // Where time matters the step before tells the watch what it changes, but for those that it does not know of.
        let told = match watches_in_time(plan, &tableau) && tableau.time_slope_is_free() {
            true => 1.0 - shares.watch_evaluations,
            false => 0.0,
        };
        let solves = tableau.stages.len() as u64 + watch_solutions(plan, &tableau);
        let refactor = tableau.gammas.len() as u64 * self.operations.refactor;
        let evaluations = attempt - carried + fresh as f64 * self.per_colour;
        // A spare stage is solved only where the limiter asks for it.
        let spare = u64::from(tableau.has_spare_stage()) * self.operations.solve;
        let operations = solves * self.operations.solve - spare + if fresh > 0 { refactor } else { 0 };
        // Where a higher order overshoots, its end is looked at.
        let looks = f64::from(u8::from(tableau.is_limited()));
        // Done again: the Jacobian with all that varies, the factors, the stages.
        let again = |jacobian: &Jacobian, operations: lu::Operations| {
            let evaluations = attempt + jacobian.setup.len() as f64 * self.per_colour;
            let gammas = tableau.gammas.len() as u64;
            (evaluations, gammas * operations.refactor + solves * operations.solve)
        };
        let (more, more_operations) = match plan.jacobian.policy {
            Policy::Watched => again(&self.jacobian, self.operations),
            _ => (0.0, 0),
        };
        // And once more with all entries.
        let (last, last_operations) = match &plan.fallback {
            Some(fallback) => again(&fallback.jacobian, lu::operations(&fallback.elimination)),
            None => (0.0, 0),
        };
        let cost = Cost {
            kept_nonzeros: self.kept,
            factor_nonzeros: self.elimination.cols.len() + self.elimination.outer.len(),
            evaluations_per_step: evaluations - told + shares.renewals * more,
            evaluations_for_outputs: f64::from(u8::from(outputs)),
            operations_per_step: operations + (shares.renewals * more_operations as f64) as u64,
            evaluations_worst_step: evaluations
                + looks
                + [more, last].iter().filter(|&&again| again > 0.0).map(|again| again + looks).sum::<f64>(),
            operations_worst_step: operations + spare + more_operations + last_operations,
            indicator_readings: match plan.events.indicators {
                0 => 0.0,
                _ => 1.0 + f64::from(u8::from(driven)) / f64::from(plan.step.substeps),
            },
            evaluates_end: at_end,
        };
        // The carried error takes a solution of its own.
        let carried = if plan.carries_error() { self.operations.solve } else { 0 };
        let cost = Cost {
            operations_per_step: cost.operations_per_step + carried,
            operations_worst_step: cost.operations_worst_step + carried,
            ..cost
        };
        if plan.has_twin() { cost.with_twin() } else { cost }
    }

    /// Of a communication step, events included.
    pub fn worst_step(&self, plan: &Plan) -> WorstStep {
        let own = WorstStep::new(plan, self.operations, self.per_colour);
        if !plan.has_twin() {
            return own;
        }
        let mut twin = plan.clone();
        twin.step.substeps /= 2;
        twin.accuracy = None;
        let outputs = self.cost(plan, Shares::default()).evaluations_for_outputs;
        own.with_twin(WorstStep::new(&twin, self.operations, self.per_colour), outputs)
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
