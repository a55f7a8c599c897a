//! The summary, from what was studied and decided.

use super::{
    Accuracy, DiscreteError, EstimateSummary, Mark, NamedError, NamedFigure, StepTime, Summary, Timeliness,
    Verdict, WatchSummary, findings, repairs,
};
use crate::build::{Attempt, TimeGrid};
use crate::decide::{Decision, Switching, Told, telling};
use crate::deviation::Ranges;
use crate::diagnostics;
use crate::interface::discrete_outputs;
use crate::libraries::Packed;
use crate::options::Options;
use crate::report::Figures;
use crate::source::Source;
use crate::warning::{LateSwitching, Warning};
use fmu_runtime::plan::{ErrorSource, JacobianSource, Policy};
use fmu_runtime::platform;

impl Summary {
    pub fn new(
        source: &Source,
        attempt: &Attempt,
        grid: &TimeGrid,
        packed: Packed,
        options: &Options,
    ) -> Summary {
        let Attempt { studied, decision, .. } = attempt;
        let plan = &decision.plan;
        let names = &plan.states.names;
        let n = names.len();
        let elimination = &plan.elimination;
        let explicit = elimination.explicit as usize;
        let variables = &source.description.variables;
        let watched: Vec<String> = match source.outputs().is_empty() {
            true => names.clone(),
            false => source.outputs().iter().map(|&output| variables[output].name.clone()).collect(),
        };
        let mut implicit: Vec<u32> = elimination.order[explicit..].to_vec();
        implicit.sort_unstable();
        let mut warnings = attempt.warnings.clone();
        let standing = Ranges::of(&studied.trajectory, &studied.terms).standing();
        let still = watched.iter().zip(&standing).filter(|(_, still)| **still);
        let still: Vec<String> = still.map(|(name, _)| name.clone()).collect();
        if !still.is_empty() {
            warnings.add(Warning::StandingStill(still));
        }
        let discrete_errors = discrete_errors(source, decision, grid.step);
        warnings.extend(late_switching(&discrete_errors, decision.tolerance).map(Warning::LateSwitching));
        warnings.extend(findings(studied, names));
        if source.needs_execution_tool() {
            warnings.add(Warning::NeedsTool);
        }
        let renamed = diagnostics::renamed(&source.description).into_iter();
        warnings.extend(renamed.map(|(ours, called)| Warning::Renamed { ours, called }));
        if grid.truncated {
            warnings.add(Warning::Truncated { steps: grid.steps });
        }
        if decision.simulated.carried_events > 0 {
            let (steps, most) = (decision.simulated.carried_events, plan.events.max_per_step);
            warnings.add(Warning::CarriedEvents { steps, most });
        }
        let repaired = source.description.warnings.clone();
        warnings.extend(repairs(&repaired));
        let errors: Vec<NamedError> = watched
            .into_iter()
            .zip(&decision.errors)
            .zip(&decision.errors_but_for_lateness)
            .zip(&standing)
            .zip(&decision.peaks)
            .map(|((((name, &error), &rest), &still), peak)| NamedError {
                name,
                error,
                still,
                late: rest < 0.5 * error,
                peak: peak.deviation,
                peak_time: peak.time,
            })
            .collect();
        Summary {
            verdict: verdict(decision, &errors, grid.step, options),
            model: source.description.model_name.clone(),
            generation_tool: source.description.generation_tool.clone().unwrap_or_default(),
            states: n,
            event_indicators: plan.events.indicators as usize,
            inputs: variables.iter().filter(|v| v.causality == model_description::Causality::Input).count(),
            outputs: variables.iter().filter(|v| v.causality == model_description::Causality::Output).count(),
            explicit_states: explicit,
            implicit_states: n - explicit,
            nonzeros: studied.entries.len(),
            kept_nonzeros: decision.cost.kept_nonzeros,
            factor_nonzeros: decision.cost.factor_nonzeros,
            blocks: elimination.blocks.len(),
            largest_block: elimination.blocks.iter().map(|block| block.size as usize).max().unwrap_or(0),
            tears: elimination.blocks.iter().map(|block| block.tears as usize).sum(),
            colours: plan.jacobian.colours.len(),
            colours_per_step: plan.jacobian.policy.per_step(plan.jacobian.colours.len()),
            evaluations_per_step: decision.cost.evaluations_per_step,
            evaluations_for_outputs: decision.cost.evaluations_for_outputs,
            evaluations_per_communication_step: decision.simulated.evaluations
                + decision.simulated.twin_evaluations,
            evaluations_worst_communication_step: decision.simulated.worst_evaluations,
            operations_per_step: decision.cost.operations_per_step,
            evaluations_worst_step: decision.cost.evaluations_worst_step,
            worst_step: decision.worst_step,
            jacobian: match plan.jacobian.policy {
                Policy::Every => "every".into(),
                Policy::Rolling { .. } => "rolling".into(),
                Policy::Frozen => "frozen".into(),
                Policy::Watched => "watched".into(),
            },
            jacobian_source: match plan.jacobian.source {
                JacobianSource::Differences => "differences".into(),
                JacobianSource::Directional => "directional derivatives".into(),
            },
            mode: match (explicit, n - explicit) {
                (_, 0) => "explicit".into(),
                (0, _) => "implicit".into(),
                _ => "mixed".into(),
            },
            partition: decision.candidate.label.clone(),
            method: plan.step.method.name().into(),
            order: plan.step.method.tableau().order,
            watch: plan.watch.as_ref().filter(|_| n > 0).map(|watch| WatchSummary {
                threshold: watch.threshold,
                acts: plan.jacobian.policy == Policy::Watched,
                renewals: decision.simulated.renewals,
                outside: decision.simulated.outside,
            }),
            error_estimate: estimate(decision),
            time_invariant: plan.model.time_invariant,
            step: grid.step,
            step_reason: grid.reason.clone(),
            substeps: plan.step.substeps,
            spectral_radius: decision.verdict.amplification,
            certificate: decision.certificate.clone(),
            error: decision.error,
            explored: decision.explored.clone(),
            tolerance: decision.tolerance,
            trials: decision.trials.clone(),
            errors,
            discrete_errors,
            reference_error: attempt.reference_error,
            verified_from: studied.times.first().copied().unwrap_or_default(),
            verified_to: studied.times.last().copied().unwrap_or_default(),
            verified_on: platform::HOST.name,
            platforms: packed.folders,
            platforms_missing: packed.missing,
            samples: decision.samples,
            events: decision.simulated.events,
            carried_events: decision.simulated.carried_events,
            implicit: implicit.iter().map(|&state| names[state as usize].clone()).collect(),
            step_time_ns: decision.simulated.quantiles.map(StepTime::from),
            computing: decision.simulated.computing,
            evaluation_time_ns: Some(decision.times.evaluation * 1e9),
            evaluation_time_worst_ns: Some(decision.times.worst_evaluation * 1e9),
            indicator_time_ns: decision.times.indicators.map(|time| time * 1e9),
            longest_step_ns: Some(decision.times.longest_step * 1e9),
            longest_step_share: Some(decision.times.load),
            ranges: attempt.ranges.clone(),
            warnings,
            repairs: repaired,
            written: options.output.clone(),
            figures: Figures::new(source, attempt),
        }
    }
}

fn verdict(decision: &Decision, errors: &[NamedError], step: f64, options: &Options) -> Verdict {
    let figure = |value: f64, name: Option<&str>| NamedFigure { value, name: name.map(String::from) };
    let worst = errors.iter().max_by(|a, b| a.error.total_cmp(&b.error)).map(|worst| worst.name.as_str());
    let peak = errors.iter().max_by(|a, b| a.peak.total_cmp(&b.peak));
    let invented = decision.explored.worst().and_then(|run| run.worst.as_deref());
    let accuracy = Accuracy {
        mark: Mark::Unverified,
        tolerance: decision.tolerance,
        peak_tolerance: options.peak_tolerance,
        given: decision.error.map(|error| figure(error, worst)),
        peak: peak.map(|peak| figure(peak.peak, Some(&peak.name))),
        peak_time: peak.map(|peak| peak.peak_time),
        invented: decision.explored.error.map(|error| figure(error, invented)),
        invented_runs: decision.explored.scenarios,
        moved: decision.has_moved,
    };
    // What the machine took away is none of the FMU's.
    let wall = decision.simulated.quantiles.map(|[_, _, longest]| longest);
    let measured = decision.simulated.computing.map(|computing| computing.longest()).or(wall);
    let time = Timeliness::new(step, options.budget, decision.times.longest_step, measured);
    Verdict { accuracy: accuracy.judged(), time: Some(time) }
}

fn discrete_errors(source: &Source, decision: &Decision, step: f64) -> Vec<DiscreteError> {
    let of = |list: &[Switching], at: usize| list.get(at).copied().unwrap_or_default();
    let outputs = discrete_outputs(&source.description).enumerate();
    let errors = outputs.map(|(at, output)| {
        let (given, explored) = (of(&decision.switching, at), of(&decision.explored_switching, at));
        DiscreteError {
            name: output.name.clone(),
            share: given.share,
            delay: given.delay as f64 * step,
            delay_steps: given.delay,
            explored_share: explored.share,
            explored_delay: explored.delay as f64 * step,
            explored_delay_steps: explored.delay,
        }
    });
    errors.collect()
}

/// The output that is wrong for too long, at a stretch or altogether.
fn late_switching(outputs: &[DiscreteError], tolerance: f64) -> Option<LateSwitching> {
    let wrong = outputs.iter().filter(|output| output.is_late() || output.worst_share() > tolerance);
    let worst = wrong.max_by(|a, b| {
        let key = |output: &DiscreteError| (output.worst_delay_steps(), output.worst_share());
        key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1))
    })?;
    Some(LateSwitching {
        output: worst.name.clone(),
        delay: worst.delay.max(worst.explored_delay),
        delay_steps: worst.worst_delay_steps(),
        on_invented_runs: worst.delay_steps < worst.explored_delay_steps,
        share: worst.worst_share(),
    })
}

fn estimate(decision: &Decision) -> Option<EstimateSummary> {
    let accuracy = decision.plan.accuracy.as_ref()?;
    let ratios = telling(&decision.told, accuracy.tolerance).filter_map(Told::ratio);
    Some(EstimateSummary {
        source: match accuracy.source {
            ErrorSource::Twin => "twin",
            ErrorSource::Carried => "carried",
        },
        substeps: match accuracy.source {
            ErrorSource::Twin => decision.plan.step.substeps / 2,
            ErrorSource::Carried => 0,
        },
        evaluations: decision.simulated.twin_evaluations,
        share: accuracy.share,
        bound: accuracy.bound,
        least_ratio: ratios.clone().min_by(f64::total_cmp),
        largest_ratio: ratios.max_by(f64::total_cmp),
        runs: decision.told.clone(),
    })
}
