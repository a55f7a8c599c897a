//! The summary, from what was studied and decided.

use super::remarks::shortened;
use super::{NamedError, StepTime, Summary, WatchSummary, WrongShare, findings, repairs_line};
use crate::build::TimeGrid;
use crate::decide::{Decision, standing};
use crate::interface::discrete_outputs;
use crate::libraries::Packed;
use crate::report::Figures;
use crate::source::Source;
use crate::worker::Studied;
use fmu_runtime::plan::{JacobianSource, Policy};
use fmu_runtime::platform;
use std::path::Path;

impl Summary {
    pub fn new(
        source: &Source,
        studied: &Studied,
        decision: &Decision,
        grid: &TimeGrid,
        packed: Packed,
        output: &Path,
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
        let mut warnings = decision.warnings.clone();
        let still: Vec<&str> = watched
            .iter()
            .zip(standing(&studied.trajectory))
            .filter(|(_, still)| *still)
            .map(|(name, _)| name.as_str())
            .collect();
        if !still.is_empty() {
            warnings.push(format!(
                "what stands still in the given run certifies nothing: {}",
                shortened(&still.iter().map(|name| name.to_string()).collect::<Vec<_>>(), ", ")
            ));
        }
        let discrete_errors: Vec<WrongShare> = discrete_outputs(&source.description)
            .zip(&decision.wrong_shares)
            .map(|(output, &share)| WrongShare { name: output.name.clone(), share })
            .collect();
        let wrong = discrete_errors.iter().filter(|output| output.share > decision.tolerance);
        if let Some(worst) = wrong.max_by(|a, b| a.share.total_cmp(&b.share)) {
            warnings.push(format!(
                "the output {} has another value than the accurate solution for {:.2} % of the time",
                worst.name,
                100.0 * worst.share
            ));
        }
        warnings.extend(findings(studied, names));
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
        Summary {
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
            time_invariant: plan.model.time_invariant,
            step: grid.step,
            step_reason: grid.reason.clone(),
            substeps: plan.step.substeps,
            spectral_radius: decision.verdict.amplification,
            certificate: decision.certificate.clone(),
            error: decision.error,
            explored: decision.explored.clone(),
            tolerance: decision.tolerance,
            errors: watched
                .into_iter()
                .zip(&decision.errors)
                .zip(&decision.errors_but_for_lateness)
                .zip(standing(&studied.trajectory))
                .map(|(((name, &error), &rest), still)| NamedError {
                    name,
                    error,
                    still,
                    late: rest < 0.5 * error,
                })
                .collect(),
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
            evaluation_time_ns: Some(studied.evaluation_time * 1e9),
            warnings,
            repairs,
            written: output.into(),
            figures: Figures::new(source, studied, decision),
        }
    }
}
