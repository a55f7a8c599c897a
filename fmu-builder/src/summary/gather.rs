//! The summary, from what was studied and decided.

use super::remarks::shortened;
use super::{
    Accuracy, DiscreteError, EstimateSummary, Mark, NamedError, NamedFigure, StepTime, Summary, Timeliness,
    Verdict, WatchSummary, findings, repairs_line,
};
use crate::build::TimeGrid;
use crate::decide::{Decision, Ranges, Switching, Told, telling};
use crate::diagnostics;
use crate::interface::discrete_outputs;
use crate::libraries::Packed;
use crate::options::Options;
use crate::quantity::{format_duration, percent_to};
use crate::report::Figures;
use crate::source::Source;
use crate::worker::Studied;
use fmu_runtime::plan::{ErrorSource, JacobianSource, Policy};
use fmu_runtime::platform;

impl Summary {
    pub fn new(
        source: &Source,
        studied: &Studied,
        decision: &Decision,
        grid: &TimeGrid,
        packed: Packed,
        options: &Options,
    ) -> Summary {
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
        // In order of weight: what the plan misses, what the study could not see, what is wrong with the FMU, what was repaired.
        // What was measured comes first: a step that takes too long is worse than all others.
        let mut warnings = decision.time_warnings.clone();
        warnings.extend_from_slice(&decision.warnings);
        let standing = Ranges::of(&studied.trajectory, &studied.terms).standing();
        let still: Vec<&str> = watched
            .iter()
            .zip(&standing)
            .filter(|(_, still)| **still)
            .map(|(name, _)| name.as_str())
            .collect();
        if !still.is_empty() {
            warnings.push(format!(
                "what stands still in the given run certifies nothing: {}",
                shortened(&still.iter().map(|name| name.to_string()).collect::<Vec<_>>(), ", ")
            ));
        }
        let discrete_errors = discrete_errors(source, decision, grid.step);
        warnings.extend(switching_warning(&discrete_errors, decision.tolerance));
        warnings.extend(findings(studied, names));
        for (ours, called) in diagnostics::renamed(&source.description) {
            warnings.push(format!(
                "the model has a variable {ours} of its own: fmu-build's is called {called} in the new FMU"
            ));
        }
        if grid.truncated {
            warnings.push(format!(
                "the plan was verified over the first {} steps of the run only; shorten the run with --stop to choose what \
                 counts",
                grid.steps
            ));
        }
        if decision.simulated.carried_events > 0 {
            warnings.push(format!(
                "{} steps had more events than one step handles ({}); the rest waited for the next step",
                decision.simulated.carried_events, plan.events.max_per_step
            ));
        }
        let repairs = source.description.warnings.clone();
        warnings.extend(repairs_line(&repairs));
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
            errors,
            discrete_errors,
            reference_error: decision.reference_error,
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
            evaluation_time_ns: Some(decision.times.evaluation * 1e9),
            evaluation_time_worst_ns: Some(decision.times.worst_evaluation * 1e9),
            indicator_time_ns: decision.times.indicators.map(|time| time * 1e9),
            longest_step_ns: Some(decision.times.longest_step * 1e9),
            longest_step_share: Some(decision.times.load),
            time_warnings: decision.time_warnings.len(),
            ranges: decision.ranges.clone(),
            warnings,
            repairs,
            written: options.output.clone(),
            figures: Figures::new(source, studied, decision),
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
    let measured = decision.simulated.quantiles.map(|[_, _, longest]| longest);
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
fn switching_warning(outputs: &[DiscreteError], tolerance: f64) -> Option<String> {
    let wrong = outputs.iter().filter(|output| output.is_late() || output.worst_share() > tolerance);
    let worst = wrong.max_by(|a, b| {
        let key = |output: &DiscreteError| (output.worst_delay_steps(), output.worst_share());
        key(a).0.cmp(&key(b).0).then(key(a).1.total_cmp(&key(b).1))
    })?;
    let delay = worst.delay.max(worst.explored_delay);
    let runs = match worst.delay_steps >= worst.explored_delay_steps {
        true => "",
        false => " on invented runs",
    };
    Some(format!(
        "the output {} switches up to {} ({} communication steps) early or late{runs}, and has another value than the accurate solution for {} of the time: \
         inputs are held during a step, and a small error of a slow quantity shifts its events. A shorter --step helps",
        worst.name,
        format_duration(delay),
        worst.worst_delay_steps(),
        percent_to(worst.worst_share(), 2)
    ))
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
