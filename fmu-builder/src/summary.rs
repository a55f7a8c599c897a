//! What was decided, as data: printed as JSON, or as text for people.
//!
//! | file | idea |
//! |---|---|
//! | `gather` | the data, from what was studied and decided |
//! | `verdict` | is it accurate, is it in time |
//! | `text` | the lines for people |
//! | `remarks` | what the study and the description's repairs give to say |
//! | `words` | numbers with their nouns |

mod gather;
mod remarks;
mod text;
mod verdict;
mod words;

pub use remarks::{findings, repairs};
pub use verdict::{Accuracy, Mark, Moved, NamedFigure, Timeliness, Verdict};
pub use words::{count, first_of, trim};

use crate::decide::{Certificate, Explored, Told, Trial, WorstStep};
use crate::findings::{Computing, quantiles};
use crate::report::Figures;
use crate::warning::Warnings;
use serde::Serialize;
use std::path::PathBuf;

#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub model: String,
    /// Is it accurate, and is it in time?
    pub verdict: Verdict,
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
    /// Of an internal step, and the twin's half a step beside it.
    pub evaluations_per_step: f64,
    /// What reading the outputs after a communication step adds; with a twin, its own are read as well.
    pub evaluations_for_outputs: f64,
    /// Of a communication step on the first run, events and twin included: on average, and at most.
    pub evaluations_per_communication_step: f64,
    pub evaluations_worst_communication_step: u64,
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
    /// How the FMU tells its error at run time. `null`: it does not.
    pub error_estimate: Option<EstimateSummary>,
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
    /// What was tried, in order, and why it lost. Not inside the FMU: the longest steps are measured.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trials: Vec<Trial>,
    /// Per output (or state).
    pub errors: Vec<NamedError>,
    /// Of the outputs that are no Reals.
    pub discrete_errors: Vec<DiscreteError>,
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
    /// What of the steps' time was computing, where the system tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub computing: Option<Computing>,
    /// One evaluation of the model: the median along the runs, or as asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluation_time_ns: Option<f64>,
    /// The dearest one anywhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evaluation_time_worst_ns: Option<f64>,
    /// One reading of the event indicators.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub indicator_time_ns: Option<f64>,
    /// The longest communication step without events: what the budget is held against. And in parts of the communication step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_step_ns: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub longest_step_share: Option<f64>,
    /// In which ranges the invented runs move inputs, and where these come from.
    pub ranges: Vec<String>,
    #[serde(flatten)]
    pub warnings: Warnings,
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
    /// The largest deviation at a point, over the range, and when.
    pub peak: f64,
    pub peak_time: f64,
}

/// How the FMU tells its error, and how near that is on runs whose error is known.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EstimateSummary {
    /// `twin`: a second integration at twice the internal step; `carried`: what the steps' own estimates add up to.
    pub source: &'static str,
    /// Internal steps of the twin in a communication step; 0 without one.
    pub substeps: u32,
    /// Evaluations of the twin in a communication step, on average on the first run.
    pub evaluations: f64,
    /// The part of the difference that is told as the error, and what the error may be at most.
    pub share: f64,
    pub bound: f64,
    /// Estimate over error, the least and the largest over the runs with an error above a tenth of the tolerance. `null`: there is none.
    pub least_ratio: Option<f64>,
    pub largest_ratio: Option<f64>,
    pub runs: Vec<Told>,
}

/// An output that is no Real.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DiscreteError {
    pub name: String,
    /// Share of the time in which its value is not that of the accurate solution, on the given runs.
    pub share: f64,
    /// The longest that it is another at a stretch, in seconds and in communication steps: so much a switch is late, or early.
    pub delay: f64,
    pub delay_steps: u64,
    /// The same on the invented runs.
    pub explored_share: f64,
    pub explored_delay: f64,
    pub explored_delay_steps: u64,
}

impl DiscreteError {
    /// On all runs.
    pub fn worst_share(&self) -> f64 {
        self.share.max(self.explored_share)
    }

    pub fn worst_delay_steps(&self) -> u64 {
        self.delay_steps.max(self.explored_delay_steps)
    }

    /// A switch that is off by up to one step is read at the wrong side of a communication point: by rounding, or by less than a step.
    pub fn is_late(&self) -> bool {
        self.worst_delay_steps() > 1
    }
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
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// For the FMU, which must not depend on the clock.
    pub fn certificate_json(&self) -> String {
        self.unmeasured().json()
    }

    /// The same without what was measured on this machine.
    pub fn unmeasured(&self) -> Summary {
        Summary {
            verdict: Verdict { time: None, ..self.verdict.clone() },
            step_time_ns: None,
            computing: None,
            evaluation_time_ns: None,
            evaluation_time_worst_ns: None,
            indicator_time_ns: None,
            longest_step_ns: None,
            longest_step_share: None,
            trials: Vec::new(),
            warnings: self.warnings.unmeasured(),
            ..self.clone()
        }
    }

    /// The error is larger than asked for.
    pub fn missed(&self) -> bool {
        self.error.is_some_and(|error| error > self.tolerance)
    }

    pub fn has_events(&self) -> bool {
        self.event_indicators > 0 || self.events > 0
    }
}
