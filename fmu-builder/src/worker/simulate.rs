//! Run a plan offline, with the code that the exported FMU ships, as an importer would: inputs at each
//! communication point, then a step.

use super::reference::ROUNDING;
use super::session::{self, Signals, instantiate, said};
use super::stopwatch::Stopwatch;
use super::study::number;
use crate::ability::{Ability, Lack};
use crate::findings::{Computing, Simulate, Simulated, Took, quantiles};
use crate::lab::Reporter;
use crate::lab::protocol::Refusal;
use fmu_runtime::fmi::Fmu2;
use fmu_runtime::instance::{Counters, Instance};

impl Simulate {
    pub fn answer(self, reporter: &mut Reporter) -> Result<Simulated, Refusal> {
        let Simulate { plan, experiment, .. } = &self;
        let (mut inner, log) = instantiate(&self.interface, reporter)?;
        session::set_start_values(&mut inner, experiment, &log)?;
        let twin = self.twin(reporter)?;
        let mut signals = Signals::of(experiment);
        let host = *inner.callbacks();
        let mut instance = Instance::with_inner(&plan.model.name, plan.clone(), inner, twin, Box::new(host))?;
        let fail = |call: &str| Err(format!("{call} failed{}", said(&log)).into());
        if !instance.setup_experiment(self.interface.tolerance, experiment.start, None).is_usable() {
            return fail("fmi2SetupExperiment");
        }
        reporter.phase("fmi2EnterInitializationMode");
        if !instance.enter_initialization_mode().is_usable() {
            return fail("fmi2EnterInitializationMode");
        }
        if let Some(signals) = &mut signals {
            apply(&mut instance, signals, experiment.start);
        }
        reporter.phase("fmi2ExitInitializationMode");
        if !instance.exit_initialization_mode().is_usable() {
            // The first step is rehearsed there, with saved states.
            let last = reporter.witness.last().unwrap_or_default();
            return match Ability::behind(last, "") {
                Some(ability @ Ability::SavedStates) if self.interface.can_get_and_set_state => {
                    Err(vec![Lack::new(ability, format!("{last} failed{}", said(&log)))].into())
                }
                _ => fail("fmi2ExitInitializationMode"),
            };
        }
        reporter.phase("a trial run (fmi2GetDerivatives)");
        let mut result = Simulated {
            trajectory: vec![self.watch(&mut instance)],
            estimates: vec![0.0],
            discrete: vec![self.discrete(&mut instance)],
            ..Simulated::default()
        };
        let step = plan.step.h * plan.step.substeps as f64;
        let mut times: Vec<Took> = Vec::with_capacity(self.steps.min(2_000_000) as usize);
        let stopwatch = Stopwatch::new();
        let begin_counters = instance.counters();
        let (mut before, mut watched_steps, mut largest) = (begin_counters, Vec::new(), 0.0);
        for k in 0..self.steps {
            let time = experiment.start + k as f64 * step;
            if let Some(signals) = &mut signals {
                apply(&mut instance, signals, time + ROUNDING * step);
            }
            let (status, took) = stopwatch.time(|| instance.do_step(time, step));
            times.push(took);
            if !status.is_usable() {
                let messages = log.messages();
                let why = messages.last().cloned().unwrap_or_else(|| status.name().to_string());
                result.failed = Some(why);
                break;
            }
            let now = instance.counters();
            let evaluations = |counters: &Counters| counters.evaluations + counters.twin_evaluations;
            result.worst_evaluations = result.worst_evaluations.max(evaluations(&now) - evaluations(&before));
            before = now;
            watched_steps.push(now.plan_defect);
            largest = f64::max(largest, now.plan_defect);
            if (k + 1) % self.every == 0 {
                result.defects.push(largest);
                largest = 0.0;
                let watched = self.watch(&mut instance);
                if let Some(i) = watched.iter().position(|value| !value.is_finite()) {
                    let name = self.interface.quantity(i);
                    result.failed = Some(format!("{name} is {} at t = {}", watched[i], time + step));
                    break;
                }
                result.trajectory.push(watched);
                result.estimates.push(now.error);
                result.discrete.push(self.discrete(&mut instance));
            }
            if k % 1024 == 0 {
                reporter.progress(k as f64 / self.steps as f64);
            }
        }
        let counted = instance.counters();
        (result.events, result.carried_events) = (counted.events, counted.carried_events);
        (result.renewals, result.outside) = (counted.renewals, counted.outside_plan);
        result.watch_evaluations = counted.watch_evaluations - begin_counters.watch_evaluations;
        let steps = times.len().max(1) as f64;
        result.evaluations = (counted.evaluations - begin_counters.evaluations) as f64 / steps;
        result.twin_evaluations = (counted.twin_evaluations - begin_counters.twin_evaluations) as f64 / steps;
        (result.without_twin, result.beyond_tolerance) = (!instance.has_twin(), counted.beyond_tolerance);
        watched_steps.sort_by(f64::total_cmp);
        result.defect = watched_steps.get(watched_steps.len() * 99 / 100).copied().unwrap_or(0.0);
        result.computing = Computing::of(times.iter().copied());
        let mut times: Vec<f64> = times.into_iter().map(|took| took.wall).collect();
        times.sort_by(f64::total_cmp);
        result.quantiles = quantiles(&times);
        result.step_times = thin(times);
        Ok(result)
    }

    /// A second instance of the model, where the plan asks for one.
    fn twin(&self, reporter: &mut Reporter) -> Result<Option<Fmu2>, Refusal> {
        if !self.plan.has_twin() || self.alone {
            return Ok(None);
        }
        let (mut twin, log) = instantiate(&self.interface, reporter)?;
        session::set_start_values(&mut twin, &self.experiment, &log)?;
        Ok(Some(twin))
    }

    fn discrete(&self, instance: &mut Instance<Fmu2>) -> Vec<i64> {
        let outputs = self.interface.discrete_outputs.iter();
        outputs.map(|&(reference, of)| number(instance.value(reference, of))).collect()
    }

    fn watch(&self, instance: &mut Instance<Fmu2>) -> Vec<f64> {
        if self.interface.outputs.is_empty() {
            return instance.states().to_vec();
        }
        let mut values = vec![0.0; self.interface.outputs.len()];
        // What cannot be read shows as NaN, never as a value.
        if !instance.get(&self.interface.outputs, &mut values).is_usable() {
            values.fill(f64::NAN);
        }
        values
    }
}

/// Set every input to its value at `time`; those that did not change cost nothing.
fn apply(instance: &mut Instance<Fmu2>, signals: &mut Signals, time: f64) {
    let (references, values) = signals.continuous_at(time, false);
    let _ = instance.set(references, values);
    for (reference, value) in signals.held_at(time) {
        let _ = instance.set_value(reference, &value);
    }
}

/// At most a few thousand of sorted times, for a histogram: all of the slowest, an even choice of the others.
fn thin(sorted: Vec<f64>) -> Vec<f64> {
    const SLOWEST: usize = 200;
    const OTHERS: usize = 2000;
    if sorted.len() <= SLOWEST + OTHERS {
        return sorted;
    }
    let (others, slowest) = sorted.split_at(sorted.len() - SLOWEST);
    let stride = others.len().div_ceil(OTHERS);
    others.iter().step_by(stride).chain(slowest).copied().collect()
}
