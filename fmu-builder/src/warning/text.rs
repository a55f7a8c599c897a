//! The words of each warning: what was found, and what to do.

use super::{Asked, IgnoredColumns, LateSwitching, StudyRemark, ToleranceMissed, Warning};
use crate::experiment::InputRemark;
use crate::quantity::{eigenvalue, format_duration, percent, percent_to, round_up};
use crate::summary::{count, first_of};
use std::fmt::{Display, Formatter, Result};

impl Display for Warning {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match self {
            Warning::NotRealTime { seconds, step } => write!(
                f,
                "longest step {}, {} of the step: not a real-time FMU at {}. No plan that was tried holds and takes \
                 less; a --step of {} would do, or a faster target (--evaluation-time)",
                format_duration(*seconds),
                percent_to(seconds / step, 0),
                format_duration(*step),
                format_duration(round_up(*seconds))
            ),
            Warning::IgnoredColumns(ignored) => write!(f, "{ignored}; they are ignored"),
            Warning::Inputs(remark) => write!(f, "{remark}"),
            Warning::PeakTolerance { peak, tolerance } => write!(
                f,
                "the largest deviation at a point is {} of the range, more than the {} of --peak-tolerance; a \
                 shorter --step or more --substeps help",
                percent_to(*peak, 2),
                percent_to(*tolerance, 2)
            ),
            Warning::Chaotic { distance, error } => write!(
                f,
                "two accurate solutions of this run lie {} apart: the model is chaotic or nearly so, and the error \
                 of {} says little of the plan. Judge it by a shorter run (--stop)",
                percent(*distance),
                percent(*error)
            ),
            Warning::UncertainReference { distance, error } => write!(
                f,
                "two accurate solutions of this run lie {} apart from one event on, which comes at another time in \
                 each: the error of {} is known no better than that. Judge the plan by a run without this event \
                 (--stop, --inputs)",
                percent(*distance),
                percent(*error)
            ),
            Warning::ToleranceMissed(missed) => missed.fmt(f),
            Warning::LongStep { seconds, share } => write!(
                f,
                "the longest step takes about {}, {} of the communication step; no plan that holds takes clearly less",
                format_duration(*seconds),
                percent_to(*share, 0)
            ),
            Warning::LongEventStep { seconds, step, evaluations } => write!(
                f,
                "a step in which an event is handled may take up to {} evaluations of the model, {}, {} of the step: \
                 it is late then. Fewer entries of the Jacobian (--mode mixed, --rho) make it shorter",
                evaluations.round(),
                format_duration(*seconds),
                percent_to(seconds / step, 0)
            ),
            Warning::EvaluationTimesVary { least, most } => write!(
                f,
                "an evaluation of the model takes {} at one place of the runs and {} at another, as where a model \
                 iterates inside; the longest counts",
                format_duration(*least),
                format_duration(*most)
            ),
            Warning::NeedsTool => f.write_str(
                "the FMU says that it needs its tool at run time (needsExecutionTool=\"true\"); it ran here, but \
                 a test bench without that tool may not run it. Export it as a stand-alone FMU if you can",
            ),
            Warning::Lacks(lack) => lack.fmt(f),
            Warning::ToleranceBeyondReference { tolerance, accuracy } => write!(
                f,
                "a tolerance of {tolerance:e} cannot be shown to be kept: the accurate solution itself is computed \
                 to {accuracy:e} only. Ask for {:e} or more",
                10.0 * accuracy
            ),
            Warning::UnmovedInputs(inputs) => write!(
                f,
                "nothing moved these inputs, so that nothing is known of them: {}; give signals with --inputs or \
                 ranges with --range",
                first_of(inputs, 4, "; ")
            ),
            Warning::RunsLeftOut(runs) => {
                write!(f, "invented runs that were left out: {}", first_of(runs, 4, "; "))
            }
            Warning::GrowingMode { rate, step } => write!(
                f,
                "the model has a mode that grows with {rate:.4}/s, faster than a step of {} can follow (h lambda = \
                 {:.2}, and at 1 the step's equations are singular); a step of {} or less can",
                format_duration(*step),
                step * rate,
                format_duration(0.1 / rate)
            ),
            Warning::UnresolvedMode { eigenvalue: [re, im], steps_per_period, step } => write!(
                f,
                "the model oscillates faster than the step can show: the mode with eigenvalue {} has \
                 {steps_per_period:.1} steps per period, and is damped by the method instead; a step of {} would \
                 show it",
                eigenvalue(*re, *im),
                format_duration(*step)
            ),
            Warning::PartitionFailed { partition, why } => write!(f, "{partition}: {why}"),
            Warning::NothingToDrop { rho } => write!(f, "with --rho {rho} no entry can be dropped"),
            Warning::NoTwin { why } => write!(
                f,
                "there is no twin to tell the error at run time: {why}. fmuBuild.error is calibrated on the \
                 verified runs instead, and rougher"
            ),
            Warning::ExploredError { error } => write!(
                f,
                "on invented runs the error is up to {}, more than the tolerance, with this and every other plan \
                 that was tried; if your bench does such things, a shorter --step helps. What they do: see the \
                 report, --explore and --range",
                percent_to(*error, 2)
            ),
            Warning::StopsOnInventedRuns { stopped, runs, first } => write!(
                f,
                "the FMU stops with an error on {stopped} of {runs} invented runs, with this and every other plan \
                 that was tried: {first}"
            ),
            Warning::SenselessRuns { names, runs } => write!(
                f,
                "{} of {runs} invented runs chose nothing, since every plan fails there or is off by more than \
                 100 %: {}. They drive the model beyond what it is made for, or it is chaotic there; --range says \
                 where inputs lie",
                names.len(),
                names.join("; ")
            ),
            Warning::PlansLeftOut { plans, patience } => write!(
                f,
                "{plans} plans were not tried: with those that were, the trials take {patience} s or more"
            ),
            Warning::BoundExceeded { bound, seen } => write!(
                f,
                "a step of the verified runs took {seen} evaluations where {bound} were thought to be the most: an error of \
                 fmu-build, please report it. The bound that is printed is what was seen"
            ),
            Warning::NoWatch => write!(
                f,
                "the budget leaves no room for the watch: nothing tells at run time whether the plan holds"
            ),
            Warning::KeptUnstable { asked: Asked::Force, why } => {
                write!(f, "kept because of --force: {why}")
            }
            Warning::KeptUnstable { asked: Asked::Policy, why } => write!(f, "kept as asked for: {why}"),
            Warning::Alternates { amplification: [re, im], states } => write!(
                f,
                "a mode of the step{} alternates from step to step: one step multiplies it by {re:.2}{}, where \
                 the full step has no mode near the negative real axis. A shorter --step, a fresher Jacobian \
                 (--jacobian every) or --mode implicit avoid it",
                match states.is_empty() {
                    true => String::new(),
                    false => format!(" (seen in {})", states.join(", ")),
                },
                if *im > 0.0 { format!(" ± {im:.2}i") } else { String::new() }
            ),
            Warning::ShiftsFar { d1, d2, bound } => write!(
                f,
                "the entries that were dropped shift the modes of the step by d1 = {d1:.3} and d2 = {d2:.3} in sum, \
                 more than the {bound:.3} that carry a damped one to the stability border. At the samples the \
                 eigenvalues say that the plan holds; with other inputs or parameters it may not (--mode implicit \
                 drops nothing)"
            ),
            Warning::EstimateOff { estimate, error, run } => write!(
                f,
                "fmuBuild.error says {} where the error is {} ({run}): do not rely on it there",
                percent(*estimate),
                percent(*error)
            ),
            Warning::StepNotShortened { limit, left } => write!(
                f,
                "a shorter step was not tried: of the {} of --time-limit {} are left",
                format_duration(*limit),
                format_duration(*left)
            ),
            Warning::StandingStill(names) => write!(
                f,
                "what stands still in the given run certifies nothing: {}",
                first_of(names, 3, ", ")
            ),
            Warning::LateSwitching(late) => late.fmt(f),
            Warning::Halted(why) => {
                write!(f, "the accurate run ended early: {why}; what follows is not verified")
            }
            Warning::Study(remark) => remark.fmt(f),
            Warning::Truncated { steps } => write!(
                f,
                "the plan was verified over the first {steps} steps of the run only; shorten the run with --stop to \
                 choose what counts"
            ),
            Warning::CarriedEvents { steps, most } => write!(
                f,
                "{steps} steps had more events than one step handles ({most}); the rest waited for the next step"
            ),
            Warning::UndeclaredDependencies(entries) => write!(
                f,
                "ModelStructure denies dependencies that the model has: {}; they were added",
                entries_of(entries)
            ),
            Warning::NotConstant(entries) => write!(
                f,
                "dependenciesKind calls slopes constant that are not: {}; they are evaluated",
                entries_of(entries)
            ),
            Warning::WrongDirectionalDerivatives(wrong) => write!(
                f,
                "the FMU's directional derivatives are wrong {wrong}; differences are used, and the new FMU does \
                 not offer them"
            ),
            Warning::Renamed { ours, called } => write!(
                f,
                "the model has a variable {ours} of its own: fmu-build's is called {called} in the new FMU"
            ),
            Warning::FromSources(how) => write!(
                f,
                "the model's library was {how}; the new FMU has it for {} only",
                fmu_runtime::platform::HOST.name
            ),
            Warning::WrittenAsFmi2 => write!(
                f,
                "the model is one of FMI 3.0, the new FMU one of FMI 2.0: elements of arrays are variables of their own \
                 (x[1], x[2]), and clocks tick inside"
            ),
            Warning::Repairs(repairs) => match &repairs[..] {
                [one] => f.write_str(one),
                many => {
                    let remarks = count(many.len(), "remark");
                    write!(f, "modelDescription.xml, {remarks}: {}", first_of(many, 3, "; "))
                }
            },
            Warning::NoRealtimePriority(why) => f.write_str(why),
        }
    }
}

impl Display for InputRemark {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match self {
            InputRemark::BeginsLate { file, run } => {
                write!(
                    f,
                    "the input file begins at t = {file} s, the run at t = {run} s: until then its first row counts"
                )
            }
            InputRemark::EndsEarly { file, run } => {
                write!(
                    f,
                    "the input file ends at t = {file} s, the run at t = {run} s: from there on its last row counts"
                )
            }
            InputRemark::GoesOn { file, run } => {
                write!(
                    f,
                    "the input file goes on to t = {file} s, the run ends at t = {run} s: the rest of the file is not used"
                )
            }
            InputRemark::EndsTheRun { file, run } => {
                write!(
                    f,
                    "the run ends with the input file at t = {file} s, not at the FMU's own {run} s; --stop says otherwise"
                )
            }
            InputRemark::UnknownUnit { name, unit } => write!(
                f,
                "the input file gives {name} in {unit}, and the model does not say in which unit it is: taken as it is"
            ),
        }
    }
}

impl Display for IgnoredColumns {
    fn fmt(&self, f: &mut Formatter) -> Result {
        write!(
            f,
            "the input file's columns {} fit no input and no tunable parameter of the model (its inputs: {})",
            self.columns.join(", "),
            if self.inputs.is_empty() { "none".into() } else { self.inputs.join(", ") }
        )
    }
}

impl Display for ToleranceMissed {
    fn fmt(&self, f: &mut Formatter) -> Result {
        write!(
            f,
            "the error against the accurate solution is {}, more than the tolerance of {}{}; ",
            percent(self.error),
            percent(self.tolerance),
            if self.late { ", most of it jumps that come a step early or late" } else { "" }
        )?;
        match self.step {
            Some(step) => {
                write!(f, "a step of about {} would do (--step or --substeps)", format_duration(step))
            }
            None => f.write_str("no step that could be taken reaches it. Ask for a larger --tolerance"),
        }
    }
}

impl Display for LateSwitching {
    fn fmt(&self, f: &mut Formatter) -> Result {
        write!(
            f,
            "the output {} switches up to {} ({} communication steps) early or late{}, and has another value than \
             the accurate solution for {} of the time: inputs are held during a step, and a small error of a slow \
             quantity shifts its events. A shorter --step helps",
            self.output,
            format_duration(self.delay),
            self.delay_steps,
            if self.on_invented_runs { " on invented runs" } else { "" },
            percent_to(self.share, 2)
        )
    }
}

impl Display for StudyRemark {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match self {
            StudyRemark::NoJacobian { time } => write!(
                f,
                "the derivatives cannot be evaluated beside the states at t = {time}: there is no Jacobian there"
            ),
            StudyRemark::KeepsTraces { time } => write!(
                f,
                "the model does not come back to its derivatives after it was probed at t = {time}: it keeps traces \
                 of earlier evaluations"
            ),
            StudyRemark::NotSmooth { steps } => write!(
                f,
                "{steps} steps of the accurate run missed their tolerance: the model is not smooth there"
            ),
            StudyRemark::FewDigits { output } => write!(
                f,
                "the accurate run knows {output} to few digits only: it is a small difference of large states"
            ),
        }
    }
}

/// The first entries of a Jacobian, and how many more there are.
fn entries_of(entries: &[String]) -> String {
    const SHOWN: usize = 5;
    let more = match entries.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{}{more}", entries[..entries.len().min(SHOWN)].join(", "))
}
