//! What was decided, as data: printed as JSON, or as text for people.

use crate::build::TimeGrid;
use crate::decide::{Certificate, Decision, Explored, WorstStep, standing};
use crate::interface::discrete_outputs;
use crate::libraries::Packed;
use crate::quantity::format_duration;
use crate::report::Figures;
use crate::source::Source;
use crate::worker::{Studied, quantiles};
use fmu_runtime::plan::{JacobianSource, Method, Policy};
use fmu_runtime::platform;
use serde::Serialize;
use std::path::{Path, PathBuf};

#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub model: String,
    pub generation_tool: String,
    pub states: usize,
    pub event_indicators: usize,
    pub inputs: usize,
    pub outputs: usize,
    pub explicit_states: usize,
    pub implicit_states: usize,
    pub nonzeros: usize,
    pub kept_nonzeros: usize,
    /// Slots of the factors, fill included.
    pub factor_nonzeros: usize,
    pub blocks: usize,
    pub largest_block: usize,
    pub tears: usize,
    pub colours: usize,
    /// Of them, in each internal step.
    pub colours_per_step: usize,
    pub evaluations_per_step: f64,
    /// What reading the outputs after a communication step adds.
    pub evaluations_for_outputs: f64,
    pub operations_per_step: u64,
    /// Most evaluations of an internal step without events.
    pub evaluations_worst_step: f64,
    /// Of a communication step, events included.
    pub worst_step: WorstStep,
    pub jacobian: String,
    pub jacobian_source: String,
    pub mode: String,
    pub partition: String,
    pub method: String,
    pub order: u32,
    /// `null`: nothing tells at run time whether the plan holds.
    pub watch: Option<WatchSummary>,
    pub time_invariant: bool,
    /// Communication step in seconds; the internal step is this over `substeps`.
    pub step: f64,
    pub step_reason: String,
    pub substeps: u32,
    pub spectral_radius: Option<f64>,
    #[serde(flatten)]
    pub certificate: Certificate,
    pub error: Option<f64>,
    pub explored: Explored,
    pub tolerance: f64,
    /// Per output (or state).
    pub errors: Vec<NamedError>,
    /// Of the outputs that are no Reals.
    pub discrete_errors: Vec<WrongShare>,
    /// How far two accurate solutions of the given run lie apart, where that was looked at: the error is not known better.
    pub reference_error: Option<f64>,
    pub verified_from: f64,
    pub verified_to: f64,
    /// The platform of the machine that verified the plan.
    pub verified_on: &'static str,
    /// Folders in `binaries/` of the new FMU.
    pub platforms: Vec<String>,
    /// Platforms that the new FMU does not have, though the model or fmu-build has a library for them, and why.
    pub platforms_missing: Vec<String>,
    pub samples: usize,
    pub events: u64,
    pub carried_events: u64,
    pub implicit: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_time_ns: Option<StepTime>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluation_time_ns: Option<f64>,
    pub warnings: Vec<String>,
    /// What modelDescription.xml had wrong, each by itself.
    pub repairs: Vec<String>,
    #[serde(skip)]
    pub written: PathBuf,
    /// What the pages draw.
    #[serde(skip)]
    pub figures: Figures,
}

#[derive(Clone, Debug, Serialize)]
pub struct NamedError {
    pub name: String,
    pub error: f64,
    /// It does not move in the runs, so that its error says nothing.
    pub still: bool,
    /// Most of the error are jumps that come a step early or late.
    pub late: bool,
}

/// An output that is no Real.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WrongShare {
    pub name: String,
    /// Share of the time in which its value is not that of the accurate solution.
    pub share: f64,
}

/// The watch of the plan, and what it did on the first run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct WatchSummary {
    /// Part of a state's size above which it speaks.
    pub threshold: f64,
    /// Then the step is done again with a new Jacobian.
    pub acts: bool,
    pub renewals: u64,
    /// Steps in which it spoke and could not be satisfied.
    pub outside: u64,
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct StepTime {
    pub p50: f64,
    pub p99_9: f64,
    pub max: f64,
}

impl StepTime {
    /// From sorted seconds.
    pub fn new(sorted: &[f64]) -> Option<StepTime> {
        quantiles(sorted).map(StepTime::from)
    }
}

impl From<[f64; 3]> for StepTime {
    fn from(seconds: [f64; 3]) -> StepTime {
        let [p50, p99_9, max] = seconds.map(|time| time * 1e9);
        StepTime { p50, p99_9, max }
    }
}

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

    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Without what was measured on this machine: the FMU must not depend on the clock.
    pub fn certificate_json(&self) -> String {
        Summary { step_time_ns: None, evaluation_time_ns: None, ..self.clone() }.json()
    }

    /// A few lines for people.
    pub fn text(&self) -> String {
        let mut lines = vec![format!(
            "{}: {}, {}, {}, {}",
            self.model,
            count(self.states, "continuous state"),
            count(self.event_indicators, "event indicator"),
            count(self.inputs, "input"),
            count(self.outputs, "output"),
        )];
        let mut line = |name: &str, text: String| lines.push(format!("  {name:<10} {text}"));
        let inside = match self.substeps {
            1 => String::new(),
            m => format!(", {m} internal steps of {}", format_duration(self.step / m as f64)),
        };
        line("step", format!("{}{inside} ({})", format_duration(self.step), self.step_reason));
        line("method", self.method_text());
        if self.implicit_states > 0 {
            line(
                "solution",
                format!(
                    "{}, the largest of {}, {}; {} operations",
                    count(self.blocks, "block"),
                    count(self.largest_block, "state"),
                    count(self.tears, "tear"),
                    self.operations_per_step
                ),
            );
            line("Jacobian", self.jacobian_text());
        }
        if self.states > 0 {
            let time = self
                .evaluation_time_ns
                .map_or(String::new(), |time| format!(" of {} each", format_duration(time * 1e-9)));
            let worst = match self.evaluations_worst_step > self.evaluations_per_step {
                true => format!(" on average, {} at most", trim(self.evaluations_worst_step)),
                false => String::new(),
            };
            let outputs = match self.evaluations_for_outputs > 0.0 {
                true => "; one more where outputs are read",
                false => "",
            };
            line(
                "cost",
                format!("{} per internal step{worst}{time}{outputs}", evaluations(self.evaluations_per_step)),
            );
        }
        if let Some(text) = self.saving_text() {
            line("saved", text);
        }
        if let Some(radius) = self.spectral_radius {
            line(
                "stability",
                format!(
                    "largest amplification {radius:.6} over {}{}",
                    count(self.samples, "sample"),
                    self.certificate.margin_text().map_or(String::new(), |text| format!("; {text}"))
                ),
            );
        }
        if let Some(error) = self.error {
            let worst = self.errors.iter().max_by(|a, b| a.error.total_cmp(&b.error));
            line(
                "error",
                format!(
                    "{:.3} % of the range against the accurate solution{} (t = {} ... {} s)",
                    100.0 * error,
                    worst.map_or(String::new(), |worst| format!(", worst in {}", worst.name)),
                    self.verified_from,
                    self.verified_to
                ),
            );
        }
        if self.explored.scenarios > 0 {
            let percent =
                |error: Option<f64>| error.map_or("?".into(), |error| format!("{:.3} %", 100.0 * error));
            line(
                "explored",
                format!(
                    "{}: {} at most{}; the fully implicit step with a fresh Jacobian has {}",
                    count(self.explored.scenarios, "invented run"),
                    percent(self.explored.error),
                    self.explored.worst().map_or(String::new(), |run| format!(
                        " in {} ({})",
                        run.worst.as_deref().unwrap_or("no output"),
                        run.name
                    )),
                    percent(self.explored.fresh_error)
                ),
            );
        }
        if let Some(watch) = &self.watch {
            let spoke = match (watch.acts, watch.renewals, watch.outside) {
                (_, 0, 0) => "never spoke in that run".to_string(),
                (true, renewals, 0) => {
                    format!("renewed the Jacobian {} in that run", count(renewals as usize, "time"))
                }
                (_, _, outside) => format!("{} of that run were beyond it", count(outside as usize, "step")),
            };
            line(
                "watch",
                format!(
                    "a step may miss {:.2} % of a state's size by its Jacobian; {spoke}",
                    100.0 * watch.threshold
                ),
            );
        }
        if self.has_events() {
            line("events", format!("{} in that run; {}", self.events, self.worst_step_text()));
        }
        if let Some(time) = self.step_time_ns {
            let duration = |time: f64| format_duration(time * 1e-9);
            line(
                "step time",
                format!(
                    "median {}, 99.9 % below {}, longest {} (this machine, just now)",
                    duration(time.p50),
                    duration(time.p99_9),
                    duration(time.max)
                ),
            );
        }
        line("platforms", self.platforms_text());
        lines.extend(warning_lines(&self.warnings));
        lines.push(format!("wrote {}", self.written.display()));
        lines.join("\n")
    }

    /// Where the new FMU runs, where it was verified, and where it does not run.
    pub fn platforms_text(&self) -> String {
        let missing = match self.platforms_missing.is_empty() {
            true => String::new(),
            false => format!("; not packed: {}", self.platforms_missing.join(", ")),
        };
        format!("{}; verified on {}{missing}", self.platforms.join(", "), self.verified_on)
    }

    /// The error is larger than asked for.
    pub fn missed(&self) -> bool {
        self.error.is_some_and(|error| error > self.tolerance)
    }

    /// The method, and what of it is implicit.
    pub fn method_text(&self) -> String {
        let title =
            Method::ALL.iter().find(|method| method.name() == self.method).map(|method| method.title());
        let title = title.unwrap_or(&self.method);
        match self.mode.as_str() {
            _ if self.states == 0 => "no continuous states: events and outputs only".into(),
            "explicit" => format!("{title}; all states explicit"),
            _ => format!(
                "{title}, {} of {} implicit ({}); {} of {} Jacobian entries kept",
                self.implicit_states,
                count(self.states, "state"),
                self.partition,
                self.kept_nonzeros,
                self.nonzeros
            ),
        }
    }

    /// What mixed mode, sparsing and an old Jacobian save.
    pub fn saving_text(&self) -> Option<String> {
        let full = &self.certificate.fully_implicit;
        let saves = full.evaluations_per_step > self.evaluations_per_step
            || full.operations_per_step > self.operations_per_step;
        saves.then(|| {
            format!(
                "a fully implicit step with a fresh Jacobian takes {} and {}",
                evaluations(full.evaluations_per_step),
                count(full.operations_per_step as usize, "operation")
            )
        })
    }

    /// When and how the Jacobian is evaluated.
    pub fn has_events(&self) -> bool {
        self.event_indicators > 0 || self.events > 0
    }

    /// The bound of a communication step with events.
    pub fn worst_step_text(&self) -> String {
        let WorstStep { events, evaluations: most, evaluations_one_event, indicator_calls, operations } =
            self.worst_step;
        format!(
            "a step with one takes at most {}, one with {} or more {}, {} of the event indicators, {operations} operations",
            evaluations(evaluations_one_event),
            count(events as usize, "event"),
            trim(most),
            count(indicator_calls as usize, "reading"),
        )
    }

    pub fn jacobian_text(&self) -> String {
        let colours = count(self.colours, "colour");
        match self.jacobian.as_str() {
            _ if self.colours == 0 && self.has_events() => {
                "constant between events: evaluated at the start and after each".into()
            }
            _ if self.colours == 0 => "constant: evaluated once".into(),
            "frozen" => "evaluated at the start and after events and parameter changes".into(),
            "watched" => format!(
                "{colours}, evaluated at the start, after events and where a step shows that it has aged, by {}",
                self.jacobian_source
            ),
            "rolling" => {
                format!(
                    "{} of {colours} in each step, in turn, by {}",
                    self.colours_per_step, self.jacobian_source
                )
            }
            _ => format!("{colours} in each step, by {}", self.jacobian_source),
        }
    }
}

/// For a terminal: the first ones.
pub fn warning_lines(warnings: &[String]) -> Vec<String> {
    const SHOWN: usize = 10;
    let mut lines: Vec<String> =
        warnings.iter().take(SHOWN).map(|warning| format!("warning: {warning}")).collect();
    if warnings.len() > SHOWN {
        lines.push(format!("and {} more (all in --json)", warnings.len() - SHOWN));
    }
    lines
}

/// What was wrong in the description, in one line.
pub fn repairs_line(repairs: &[String]) -> Option<String> {
    match repairs {
        [] => None,
        [one] => Some(one.clone()),
        many => {
            Some(format!("modelDescription.xml, {}: {}", count(many.len(), "remark"), shortened(many, "; ")))
        }
    }
}

/// The first few, and how many more there are.
fn shortened(what: &[String], separator: &str) -> String {
    const SHOWN: usize = 3;
    let more = match what.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("{separator}and {more} more"),
    };
    format!("{}{more}", what[..what.len().min(SHOWN)].join(separator))
}

/// What the study found to say of the FMU.
pub fn findings(studied: &Studied, names: &[String]) -> Vec<String> {
    let name = |state: u32| names.get(state as usize).map_or("?", String::as_str);
    let listed = |entries: &[(u32, u32)]| {
        let shown: Vec<String> = entries
            .iter()
            .take(5)
            .map(|&(row, col)| format!("der({}) on {}", name(row), name(col)))
            .collect();
        let more = entries.len() - shown.len();
        format!("{}{}", shown.join(", "), if more > 0 { format!(" and {more} more") } else { String::new() })
    };
    let mut found = Vec::new();
    let structure = &studied.structure;
    if !structure.lies.is_empty() {
        found.push(format!(
            "ModelStructure denies dependencies that the model has: {}; they were added",
            listed(&structure.lies)
        ));
    }
    if !structure.not_constant.is_empty() {
        found.push(format!(
            "dependenciesKind calls slopes constant that are not: {}; they are evaluated",
            listed(&structure.not_constant)
        ));
    }
    if let Some(wrong) = &studied.wrong_directional {
        found.push(format!(
            "the FMU's directional derivatives are wrong {wrong}; differences are used, and the new FMU does not offer them"
        ));
    }
    if let Some(halted) = &studied.halted {
        found.push(format!("the accurate run ended early: {halted}; what follows is not verified"));
    }
    found.extend(studied.notes.iter().cloned());
    found
}

pub fn count(number: usize, noun: &str) -> String {
    match number {
        0 => format!("no {noun}s"),
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

/// They may be fractional.
fn evaluations(number: f64) -> String {
    format!("{} {}", trim(number), if number == 1.0 { "evaluation" } else { "evaluations" })
}

pub fn trim(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

#[cfg(test)]
mod tests {
    use super::warning_lines;

    #[test]
    fn a_terminal_shows_ten_warnings() {
        let warnings: Vec<String> = (0..13).map(|i| format!("w{i}")).collect();
        assert_eq!(warning_lines(&warnings[..10]).len(), 10);
        let lines = warning_lines(&warnings);
        assert_eq!(
            (lines.len(), lines[0].as_str(), lines[10].as_str()),
            (11, "warning: w0", "and 3 more (all in --json)")
        );
    }
}
