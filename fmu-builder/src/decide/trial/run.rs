//! One plan on all runs, with the code that ships.

use super::outcome::Outcome;
use super::{FRESH_FACTOR, Judge, Tried, WORTH_PROCESSES};
use crate::decide::draft::Shares;
use crate::decide::switching::{self, switching};
use crate::decide::{ExploredRun, ReferenceRun, Told};
use crate::deviation::largest;
use crate::findings::{Simulate, Simulated};
use fmu_runtime::plan::Plan;

impl Judge<'_> {
    /// The given runs first: a plan that misses the tolerance there need not be tried on the others.
    pub(super) fn run(&self, one: &Tried) -> Result<(Outcome, Shares), String> {
        let label = format!("trying: {}, {}", one.candidate.label, one.plan.step.method.name());
        let (mut renewals, mut watch_evaluations, mut steps) = (0, 0, 0);
        let given: Vec<&ReferenceRun> = self.runs.iter().filter(|run| run.given).collect();
        let seconds = self.seconds(&one.plan, &one.cost);
        let mut outcome: Option<Outcome> = None;
        for (run, simulated) in given.iter().zip(self.simulate(&label, &one.plan, &given, seconds)) {
            let simulated = simulated?;
            if let Some(failed) = simulated.failed {
                return Err(failed);
            }
            (renewals, steps) = (renewals + simulated.renewals, steps + run.steps);
            watch_evaluations += simulated.watch_evaluations;
            let mut known = outcome.take().unwrap_or_default();
            known.merge(run, &simulated, one.plan.step.h * f64::from(one.plan.step.substeps));
            known.told.push(Told::new(run, &simulated));
            known.most_calls = known.most_calls.max(simulated.worst_evaluations);
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
        for ((at, run), simulated) in
            explored.into_iter().zip(self.simulate(&label, &one.plan, &runs, seconds))
        {
            let (fresh, counts) = (self.fresh[at], self.counts[at]);
            let mut explored =
                ExploredRun { name: run.label.clone(), fresh_error: fresh, counts, ..ExploredRun::default() };
            let simulated = simulated.and_then(|simulated| match simulated.failed {
                Some(failed) => Err(failed),
                None => Ok(simulated),
            });
            match simulated {
                Ok(simulated) => {
                    outcome.most_calls = outcome.most_calls.max(simulated.worst_evaluations);
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

    pub(super) fn simulation(&self, plan: &Plan, run: &ReferenceRun) -> Simulate {
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
    /// `seconds`: what all of them take, by their price.
    pub(super) fn simulate(
        &self,
        label: &str,
        plan: &Plan,
        runs: &[&ReferenceRun],
        seconds: f64,
    ) -> Vec<Result<Simulated, String>> {
        let simulate = |run: &&ReferenceRun| self.simulation(plan, run);
        if runs.is_empty() {
            return Vec::new();
        }
        let answers =
            self.lab.simulate_all(label, runs.iter().map(simulate).collect(), seconds > WORTH_PROCESSES);
        answers.into_iter().map(|answer| answer.map_err(|error| error.to_string())).collect()
    }
}
