//! The summary as a few lines for people; the report uses some of the sentences too.

use super::words::evaluations;
use super::{DiscreteError, Summary, count, first_of, trim};
use crate::decide::WorstStep;
use crate::quantity::{format_duration, percent_to, share, significant};
use fmu_runtime::plan::Method;

impl Summary {
    /// For people, in blocks: the verdict; what a step costs and what that is worth; with `-v` the details. Warnings go to another
    /// place (see `main.rs`).
    pub fn text(&self, is_verbose: bool) -> String {
        let mut lines = vec![self.verdict.text(), String::new()];
        lines.push(format!(
            "{}: {}, {}, {}, {}",
            self.model,
            count(self.states, "continuous state"),
            count(self.event_indicators, "event indicator"),
            count(self.inputs, "input"),
            count(self.outputs, "output"),
        ));
        let mut line = |(name, text): (&str, String)| lines.push(format!("  {name:<10} {text}"));
        self.worth().into_iter().for_each(&mut line);
        if is_verbose {
            line(("", String::new()));
            self.details().into_iter().for_each(&mut line);
        }
        let hint = if is_verbose { "" } else { " (details: -v, or --report)" };
        lines.push(format!("wrote {}{hint}", self.written.display()));
        lines.iter().map(|line| line.trim_end()).collect::<Vec<_>>().join("\n")
    }

    /// What a step costs, and what is got for it.
    fn worth(&self) -> Vec<(&'static str, String)> {
        let inside = match self.substeps {
            1 => String::new(),
            m => format!(", {m} internal steps of {}", format_duration(self.step / m as f64)),
        };
        let mut lines =
            vec![("step", format!("{}{inside} ({})", format_duration(self.step), self.step_reason))];
        lines.push(("method", self.method_text()));
        if self.states > 0 {
            let each = self
                .evaluation_time_ns
                .map_or(String::new(), |time| format!(", {} each", format_duration(time * 1e-9)));
            lines.push((
                "cost",
                format!(
                    "{} of the model per communication step on average, {} at most on the given run{each}",
                    evaluations(self.evaluations_per_communication_step),
                    self.evaluations_worst_communication_step
                ),
            ));
        }
        lines.extend(self.saving_text().map(|text| ("saved", text)));
        lines.extend(self.explored_text().map(|text| ("explored", text)));
        lines
    }

    fn details(&self) -> Vec<(&'static str, String)> {
        let mut lines = Vec::new();
        if self.implicit_states > 0 {
            lines.push((
                "solution",
                format!(
                    "{}, the largest of {}, {}; {} operations",
                    count(self.blocks, "block"),
                    count(self.largest_block, "state"),
                    count(self.tears, "tear"),
                    self.operations_per_step
                ),
            ));
            lines.push(("Jacobian", self.jacobian_text()));
        }
        if self.states > 0 {
            lines.push(("internal", self.internal_text()));
        }
        if let Some(radius) = self.spectral_radius {
            let margin = self.certificate.margin_text().map_or(String::new(), |text| format!("; {text}"));
            let samples = count(self.samples, "sample");
            lines.push(("stability", format!("largest amplification {radius:.6} over {samples}{margin}")));
        }
        if let Some(error) = self.error {
            let worst = self.errors.iter().max_by(|a, b| a.error.total_cmp(&b.error));
            lines.push((
                "error",
                format!(
                    "{} of the range against the accurate solution{} (t = {} ... {} s)",
                    share(error),
                    worst.map_or(String::new(), |worst| format!(", worst in {}", worst.name)),
                    significant(self.verified_from),
                    significant(self.verified_to)
                ),
            ));
        }
        lines.extend(self.discrete_text().map(|text| ("switches", text)));
        if !self.ranges.is_empty() && self.explored.scenarios > 0 {
            lines.push(("ranges", first_of(&self.ranges, 3, "; ")));
        }
        lines.extend(self.watch_text().map(|text| ("watch", text)));
        lines.extend(self.estimate_text().map(|text| ("estimate", text)));
        if self.has_events() {
            lines.push(("events", format!("{} in that run; {}", self.events, self.worst_step_text())));
        }
        lines.extend(self.step_time_text().map(|text| ("step time", text)));
        lines.push(("platforms", self.platforms_text()));
        lines
    }

    fn explored_text(&self) -> Option<String> {
        let known = |error: Option<f64>| error.map_or("?".into(), share);
        (self.explored.scenarios > 0).then(|| {
            format!(
                "{}: {} at most{}; the fully implicit step with a fresh Jacobian has {}",
                count(self.explored.scenarios, "invented run"),
                known(self.explored.error),
                self.explored.worst().map_or(String::new(), |run| format!(
                    " in {} ({})",
                    run.worst.as_deref().unwrap_or("no output"),
                    run.name
                )),
                known(self.explored.fresh_error)
            )
        })
    }

    /// Evaluations of an internal step, and the longest step by its bound.
    fn internal_text(&self) -> String {
        let longest = self.longest_step_ns.zip(self.longest_step_share);
        let longest = longest.map_or(String::new(), |(time, part)| {
            let time = format_duration(time * 1e-9);
            format!("; longest step {time}, {} % of the step", trim((1e4 * part).ceil() / 100.0))
        });
        let worst = match self.evaluations_worst_step > self.evaluations_per_step {
            true => format!(
                " on average, {} at most but in the first one and after events, where the whole Jacobian is taken",
                trim(self.evaluations_worst_step)
            ),
            false => String::new(),
        };
        let outputs = match self.evaluations_for_outputs > 0.0 {
            true if self.evaluations_for_outputs > 1.0 => "; two more for outputs, the twin's among them",
            true => "; one more where outputs are read",
            false => "",
        };
        format!("{} per internal step{worst}{outputs}{longest}", evaluations(self.evaluations_per_step))
    }

    fn watch_text(&self) -> Option<String> {
        let watch = self.watch.as_ref()?;
        let spoke = match (watch.acts, watch.renewals, watch.outside) {
            (_, 0, 0) => "never spoke in that run".to_string(),
            (true, renewals, 0) => {
                format!("renewed the Jacobian {} in that run", count(renewals as usize, "time"))
            }
            (_, _, outside) => format!("{} of that run were beyond it", count(outside as usize, "step")),
        };
        Some(format!("a step may miss {} of a state's size by its Jacobian; {spoke}", share(watch.threshold)))
    }

    fn estimate_text(&self) -> Option<String> {
        let estimate = self.error_estimate.as_ref()?;
        let near = match (estimate.least_ratio, estimate.largest_ratio) {
            (Some(least), Some(largest)) => {
                format!("; it said {least:.1} to {largest:.1} times the error where that was worth telling")
            }
            _ => String::new(),
        };
        Some(match estimate.source {
            "twin" => format!(
                "fmuBuild.error tells the error by a twin of {}, a third of the cost{near}",
                count(estimate.substeps as usize, "internal step")
            ),
            _ => format!(
                "fmuBuild.error follows the steps' own estimates, calibrated on the verified runs; rougher than a twin{near}"
            ),
        })
    }

    fn step_time_text(&self) -> Option<String> {
        let time = self.step_time_ns?;
        let duration = |time: f64| format_duration(time * 1e-9);
        let computing = self.computing.filter(|computing| computing.interrupted_steps > 0);
        let longest = match computing {
            Some(computing) => format!("longest {}", computing.text()),
            None => format!("longest {}", duration(time.max)),
        };
        Some(format!(
            "median {}, 99.9 % below {}, {longest} (this machine, just now)",
            duration(time.p50),
            duration(time.p99_9)
        ))
    }

    /// Where the new FMU runs, where it was verified, and where it does not run.
    pub fn platforms_text(&self) -> String {
        let missing = match self.platforms_missing.is_empty() {
            true => String::new(),
            false => format!("; not packed: {}", self.platforms_missing.join(", ")),
        };
        format!("{}; verified on {}{missing}", self.platforms.join(", "), self.verified_on)
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

    /// How far the outputs that are no Reals are from the accurate solution.
    pub fn discrete_text(&self) -> Option<String> {
        let worst =
            |a: &&DiscreteError, b: &&DiscreteError| a.worst_delay_steps().cmp(&b.worst_delay_steps());
        let worst = self.discrete_errors.iter().max_by(worst)?;
        let share = self.discrete_errors.iter().map(DiscreteError::worst_share).fold(0.0, f64::max);
        let outputs = count(self.discrete_errors.len(), "discrete output");
        Some(match worst.worst_delay_steps() {
            0 => format!("{outputs}, as in the accurate solution at every communication point"),
            steps => format!(
                "{outputs}: at most {} early or late ({}), wrong for {} of the time",
                format_duration(worst.delay.max(worst.explored_delay)),
                count(steps as usize, "step"),
                percent_to(share, 3)
            ),
        })
    }

    /// The bound of a communication step with events.
    pub fn worst_step_text(&self) -> String {
        let WorstStep {
            events, evaluations: most, evaluations_one_event, indicator_calls, operations, ..
        } = self.worst_step;
        format!(
            "a step with one takes at most {}, one with {} or more {}, {} of the event indicators, {operations} operations",
            evaluations(evaluations_one_event),
            count(events as usize, "event"),
            trim(most),
            count(indicator_calls as usize, "reading"),
        )
    }

    /// When and how the Jacobian is evaluated.
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
