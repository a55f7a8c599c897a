//! What a person should read before the new FMU is trusted: warnings, as values.
//!
//! | file | idea |
//! |---|---|
//! | `mod` | the kinds of warnings, the most important first, and how much each weighs |
//! | `text` | their words |
//! | `list` | warnings in order of weight, as they are printed |
//!
//! A new kind of warning is a variant here, at its place in the order of weight, its severity and its name below, and its
//! words in `text`. Whoever finds it adds it to a [`Warnings`], which puts it where it belongs.

mod list;
mod text;

pub use list::Warnings;

use crate::ability::Lack;
use crate::experiment::InputRemark;
use serde::{Deserialize, Serialize};

/// One kind after the other in order of weight. Those of equal severity are printed in this order.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub enum Warning {
    /// The longest communication step takes longer than it may last.
    NotRealTime {
        seconds: f64,
        step: f64,
    },
    /// Columns of the input file that no variable of the model has.
    IgnoredColumns(IgnoredColumns),
    /// What else there is to say of the input file.
    Inputs(InputRemark),
    /// A quantity deviates at a point by more than `--peak-tolerance`.
    PeakTolerance {
        peak: f64,
        tolerance: f64,
    },
    /// Two accurate solutions part further and further: nobody can follow this run to its end.
    Chaotic {
        distance: f64,
        error: f64,
    },
    /// Two accurate solutions part at an event.
    UncertainReference {
        distance: f64,
        error: f64,
    },
    ToleranceMissed(ToleranceMissed),
    /// The longest communication step takes more than its default budget.
    LongStep {
        seconds: f64,
        share: f64,
    },
    /// A communication step in which one event is handled may take longer than it lasts.
    LongEventStep {
        seconds: f64,
        step: f64,
        evaluations: f64,
    },
    /// Shortest and longest evaluation of the model along the runs, in seconds.
    EvaluationTimesVary {
        least: f64,
        most: f64,
    },
    /// The FMU says that it runs only beside the tool that made it.
    NeedsTool,
    /// The FMU does not do what it says that it can; it is built without.
    Lacks(Lack),
    /// The tolerance is as small as the error of the accurate solution, `accuracy`.
    ToleranceBeyondReference {
        tolerance: f64,
        accuracy: f64,
    },
    /// Inputs that no run moved, and why.
    UnmovedInputs(Vec<String>),
    /// Invented runs that could not be studied, and why.
    RunsLeftOut(Vec<String>),
    /// A mode of the model grows too fast for the step.
    GrowingMode {
        rate: f64,
        step: f64,
    },
    /// An oscillation, by its eigenvalue, that has too few steps per period; and a step that would show it.
    UnresolvedMode {
        eigenvalue: [f64; 2],
        steps_per_period: f64,
        step: f64,
    },
    /// A partition could not be looked for.
    PartitionFailed {
        partition: String,
        why: String,
    },
    /// The `rho` that was asked for drops no entry.
    NothingToDrop {
        rho: f64,
    },
    /// Why the FMU has no twin, though one was wanted.
    NoTwin {
        why: String,
    },
    /// The error on invented runs is larger than the tolerance.
    ExploredError {
        error: f64,
    },
    /// The FMU stops on some of the invented runs, and what it says on the first.
    StopsOnInventedRuns {
        stopped: usize,
        runs: usize,
        first: String,
    },
    /// Invented runs on which every plan fails or is far off.
    SenselessRuns {
        names: Vec<String>,
        runs: usize,
    },
    /// Plans that were not tried, since the trials would take more than `patience` seconds.
    PlansLeftOut {
        plans: usize,
        patience: f64,
    },
    /// A step was seen to take more evaluations than the bound: an error of fmu-build's own. The bound was raised.
    BoundExceeded {
        bound: u64,
        seen: u64,
    },
    /// There is no room for the watch.
    NoWatch,
    /// A plan that is not stable everywhere was asked for.
    KeptUnstable {
        asked: Asked,
        why: String,
    },
    /// A mode that one step multiplies by this complex number, near the negative real axis, where the full step has none such.
    Alternates {
        amplification: [f64; 2],
        states: Vec<String>,
    },
    /// d1 and d2, and the bound that one of them is beyond.
    ShiftsFar {
        d1: f64,
        d2: f64,
        bound: f64,
    },
    /// On this run the FMU's estimate of its error is far from its error.
    EstimateOff {
        estimate: f64,
        error: f64,
        run: String,
    },
    /// Too little of the time limit was left for a shorter step.
    StepNotShortened {
        limit: f64,
        left: f64,
    },
    /// Quantities that do not move in the given run.
    StandingStill(Vec<String>),
    LateSwitching(LateSwitching),
    /// Why the accurate run ended early.
    Halted(String),
    Study(StudyRemark),
    /// The run is longer than what was verified.
    Truncated {
        steps: u64,
    },
    /// Steps with more events than one step handles.
    CarriedEvents {
        steps: u64,
        most: u32,
    },
    /// Dependencies that the description denies and the model has.
    UndeclaredDependencies(Vec<String>),
    /// Slopes that the description calls constant and that are not.
    NotConstant(Vec<String>),
    /// What is wrong with the directional derivatives.
    WrongDirectionalDerivatives(String),
    /// A variable of fmu-build's own has another name, since the model has one of its name.
    Renamed {
        ours: String,
        called: String,
    },
    /// How the model's library was made of its sources.
    FromSources(String),
    /// The model is one of FMI 3.0, the new FMU one of FMI 2.0.
    WrittenAsFmi2,
    /// What was wrong in modelDescription.xml.
    Repairs(Vec<String>),
    /// Why the benchmark ran without real-time priority.
    NoRealtimePriority(String),
}

/// How much a warning weighs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// What was asked for is not kept.
    Serious,
    /// Something is not known, not verified or not as good as it could be.
    Caution,
    /// Something was wrong and is handled.
    Note,
}

/// Columns of the input file that fit nothing, and the inputs that the model has.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct IgnoredColumns {
    pub columns: Vec<String>,
    pub inputs: Vec<String>,
}

/// The error on the given runs is larger than the tolerance.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub struct ToleranceMissed {
    pub error: f64,
    pub tolerance: f64,
    /// Most of the error are jumps that come a step early or late.
    pub late: bool,
    /// A step in seconds that would do, if there is one that can be taken.
    pub step: Option<f64>,
}

/// An output that is no Real and switches at other times than the accurate solution.
#[derive(Clone, Debug, PartialEq, PartialOrd)]
pub struct LateSwitching {
    pub output: String,
    /// In seconds, and in communication steps.
    pub delay: f64,
    pub delay_steps: u64,
    /// The longest delay is that of an invented run.
    pub on_invented_runs: bool,
    /// Share of the time in which its value is wrong.
    pub share: f64,
}

/// Why an unstable plan was kept.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub enum Asked {
    /// `--force`.
    Force,
    /// The Jacobian's policy was asked for.
    Policy,
}

/// What the study of the model has to say of its run.
#[derive(Clone, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
pub enum StudyRemark {
    /// The derivatives cannot be evaluated beside the states at this time.
    NoJacobian { time: f64 },
    /// The model does not come back to its derivatives after it was probed.
    KeepsTraces { time: f64 },
    /// Steps of the accurate run that missed their tolerance.
    NotSmooth { steps: u64 },
    /// An output that is a small difference of large states.
    FewDigits { output: String },
}

impl Warning {
    pub fn severity(&self) -> Severity {
        match self {
            Warning::NotRealTime { .. }
            | Warning::IgnoredColumns(_)
            | Warning::PeakTolerance { .. }
            | Warning::Chaotic { .. }
            | Warning::UncertainReference { .. }
            | Warning::ToleranceMissed(_) => Severity::Serious,
            Warning::Inputs(InputRemark::EndsTheRun { .. } | InputRemark::GoesOn { .. })
            | Warning::UndeclaredDependencies(_)
            | Warning::NotConstant(_)
            | Warning::WrongDirectionalDerivatives(_)
            | Warning::Renamed { .. }
            | Warning::FromSources(_)
            | Warning::WrittenAsFmi2
            | Warning::Repairs(_)
            | Warning::NoRealtimePriority(_) => Severity::Note,
            _ => Severity::Caution,
        }
    }

    /// What is measured on this machine goes into no FMU: the same input makes the same bytes.
    pub fn is_measured(&self) -> bool {
        matches!(
            self,
            Warning::NotRealTime { .. }
                | Warning::LongStep { .. }
                | Warning::LongEventStep { .. }
                | Warning::EvaluationTimesVary { .. }
        )
    }

    /// Its name in `--json`.
    pub fn kind(&self) -> &'static str {
        match self {
            Warning::NotRealTime { .. } => "not_real_time",
            Warning::IgnoredColumns(_) => "ignored_columns",
            Warning::Inputs(InputRemark::BeginsLate { .. }) => "inputs_begin_late",
            Warning::Inputs(InputRemark::EndsEarly { .. }) => "inputs_end_early",
            Warning::Inputs(InputRemark::GoesOn { .. }) => "inputs_go_on",
            Warning::Inputs(InputRemark::EndsTheRun { .. }) => "inputs_end_the_run",
            Warning::Inputs(InputRemark::UnknownUnit { .. }) => "unknown_unit",
            Warning::PeakTolerance { .. } => "peak_tolerance",
            Warning::Chaotic { .. } => "chaotic",
            Warning::UncertainReference { .. } => "uncertain_reference",
            Warning::ToleranceMissed(_) => "tolerance_missed",
            Warning::LongStep { .. } => "long_step",
            Warning::LongEventStep { .. } => "long_event_step",
            Warning::EvaluationTimesVary { .. } => "evaluation_times_vary",
            Warning::NeedsTool => "needs_tool",
            Warning::Lacks(_) => "ability_lacking",
            Warning::ToleranceBeyondReference { .. } => "tolerance_beyond_reference",
            Warning::UnmovedInputs(_) => "unmoved_inputs",
            Warning::RunsLeftOut(_) => "runs_left_out",
            Warning::GrowingMode { .. } => "growing_mode",
            Warning::UnresolvedMode { .. } => "unresolved_mode",
            Warning::PartitionFailed { .. } => "partition_failed",
            Warning::NothingToDrop { .. } => "nothing_to_drop",
            Warning::NoTwin { .. } => "no_twin",
            Warning::ExploredError { .. } => "explored_error",
            Warning::StopsOnInventedRuns { .. } => "stops_on_invented_runs",
            Warning::SenselessRuns { .. } => "senseless_runs",
            Warning::PlansLeftOut { .. } => "plans_left_out",
            Warning::BoundExceeded { .. } => "bound_exceeded",
            Warning::NoWatch => "no_watch",
            Warning::KeptUnstable { .. } => "kept_unstable",
            Warning::Alternates { .. } => "alternates",
            Warning::ShiftsFar { .. } => "shifts_far",
            Warning::EstimateOff { .. } => "estimate_off",
            Warning::StepNotShortened { .. } => "step_not_shortened",
            Warning::StandingStill(_) => "standing_still",
            Warning::LateSwitching(_) => "late_switching",
            Warning::Halted(_) => "halted",
            Warning::Study(StudyRemark::NoJacobian { .. }) => "no_jacobian",
            Warning::Study(StudyRemark::KeepsTraces { .. }) => "keeps_traces",
            Warning::Study(StudyRemark::NotSmooth { .. }) => "not_smooth",
            Warning::Study(StudyRemark::FewDigits { .. }) => "few_digits",
            Warning::Truncated { .. } => "truncated",
            Warning::CarriedEvents { .. } => "carried_events",
            Warning::UndeclaredDependencies(_) => "undeclared_dependencies",
            Warning::NotConstant(_) => "not_constant",
            Warning::WrongDirectionalDerivatives(_) => "wrong_directional_derivatives",
            Warning::Renamed { .. } => "renamed",
            Warning::FromSources(_) => "from_sources",
            Warning::WrittenAsFmi2 => "written_as_fmi2",
            Warning::Repairs(_) => "repairs",
            Warning::NoRealtimePriority(_) => "no_realtime_priority",
        }
    }
}
