//! `fmu-build bench`: what a step of a finished FMU costs on this machine.

use crate::error::Error;
use crate::experiment::{self, End, Experiment};
use crate::findings::{Computing, Took};
use crate::finished::Finished;
use crate::interface::{Interface, real_outputs};
use crate::lab::Lab;
use crate::options::BenchOptions;
use crate::outputs::Outputs;
use crate::progress::Progress;
use crate::quantity::{format_duration, significant};
use crate::report;
use crate::scratch::Scratch;
use crate::summary::{StepTime, count};
use crate::system;
use crate::warning::{IgnoredColumns, Warning, Warnings};
use crate::worker::{Audit, Audited, Bench, Reading, verdict};
use fmu_runtime::plan::Quantity;
use fmu_runtime::resources::INNER;
use model_description::Causality;
use serde::Serialize;

#[derive(Clone, Debug, Serialize)]
pub struct Benchmark {
    pub model: String,
    pub steps: usize,
    pub step: f64,
    /// Outputs that are read in every step; its time includes that.
    pub outputs_read: usize,
    pub step_time_ns: StepTime,
    pub p99: f64,
    /// Which step was the slowest.
    pub worst_step: usize,
    pub deadline: f64,
    pub overruns: usize,
    /// Of them, those that computed longer than the deadline; the others waited for the processor. `null`: the system does not tell.
    pub overruns_by_computing: Option<usize>,
    /// More overruns are a failure. `null`: neither `--deadline` nor `--max-overruns` was given.
    pub overruns_allowed: Option<u64>,
    /// What of the steps' time was computing.
    pub computing: Option<Computing>,
    /// How often the system took the processor away in the steps.
    pub involuntary_switches: Option<u64>,
    /// Requests of the runtime for memory, inside 1000 steps.
    pub allocations: Option<u64>,
    /// "fifo" or "normal".
    pub scheduler: &'static str,
    /// Of the model inside, the fastest of many, and what the fastest percent of the steps take of it.
    pub evaluation_time_ns: Option<f64>,
    pub step_to_evaluation: Option<f64>,
    /// What the model inside does that real time forbids, if that was asked for.
    pub audit: Option<Judged>,
    #[serde(flatten)]
    pub warnings: Warnings,
    #[serde(skip)]
    histogram: Vec<(f64, usize)>,
    /// Seconds, ascending.
    #[serde(skip)]
    pub sorted: Vec<f64>,
}

/// What was counted, and the verdict: no sentences if real time has nothing against it.
#[derive(Clone, Debug, Serialize)]
pub struct Judged {
    #[serde(flatten)]
    pub found: Audited,
    pub verdict: Vec<String>,
}

/// Steps in which the audit counts, and seconds for them, at most.
const AUDITED_STEPS: u64 = 1000;
const AUDIT_PATIENCE: f64 = 10.0;

const STEPS: u64 = 100_000;
const PATIENCE: f64 = 5.0;

/// Run the FMU `options.fmu` and measure its steps.
pub fn bench(options: &BenchOptions) -> Result<Benchmark, Error> {
    let mut outputs =
        Outputs::new([Some(options.fmu.as_path()), options.inputs.as_deref()].into_iter().flatten());
    let page = options.report.as_deref().map(|path| outputs.claim("the report", path)).transpose()?;
    if options.audit && !system::COUNTS_CALLS {
        return Err(Error::Request(
            "--audit needs the counters of Linux's kernel, which this system has not; use it on Linux".into(),
        ));
    }
    let scratch = Scratch::new()?;
    let finished = Finished::open(&options.fmu, scratch.path().join("fmu"))?;
    let step = finished.step();
    let allocations = finished.diagnostic(Quantity::Allocations);
    let Finished { root, plan, description, .. } = finished;
    let deadline = options.deadline.unwrap_or(step);
    let limit = options.limits.time;
    let start = description.default_experiment.start_time.unwrap_or(0.0);
    let asked = options.steps.map(|steps| start + steps as f64 * step);
    let mut experiment =
        Experiment { start, stop: asked.unwrap_or(start + STEPS as f64 * step), ..Experiment::default() };
    let mut warnings = Warnings::new();
    if let Some(path) = &options.inputs {
        let bound = experiment::bind(path, &description)?;
        if !bound.ignored.is_empty() {
            let inputs = description.variables.iter().filter(|it| it.causality == Causality::Input);
            let inputs = inputs.map(|it| it.name.clone()).take(12).collect();
            let columns = bound.ignored.clone();
            warnings.add(Warning::IgnoredColumns(IgnoredColumns { columns, inputs }));
        }
        experiment.take(bound, if asked.is_some() { End::Asked } else { End::Nobodys });
        warnings.extend(experiment.remarks.drain(..).map(Warning::Inputs));
    }
    let steps = ((experiment.stop - start) / step * (1.0 + 1e-9)).floor().max(1.0) as u64;
    let steps = options.steps.unwrap_or(steps);
    let lab = Lab::new(&options.limits, &scratch, Progress::new(options.progress))?;
    let audit = options.audit.then(|| {
        let variables = &description.variables;
        let outputs = real_outputs(&description).into_iter().map(|output| variables[output].value_reference);
        let mut interface = Interface::inside(root.join("resources").join(INNER), plan.clone());
        // Not our own diagnostics: the model inside does not know them.
        interface.outputs = outputs
            .filter(|reference| plan.variables.real.references.binary_search(reference).is_ok())
            .collect();
        Audit {
            interface,
            plan: plan.clone(),
            experiment: experiment.clone(),
            steps: AUDITED_STEPS,
            patience: AUDIT_PATIENCE.min(0.3 * limit),
        }
    });
    let reading = if options.outputs { Reading::of(&description) } else { Reading::default() };
    let outputs_read = reading.len();
    let measured = lab.bench(Bench {
        root,
        plan: plan.clone(),
        experiment,
        steps,
        patience: if options.steps.is_some() { 0.9 * limit } else { PATIENCE },
        pace: options.pace,
        realtime: options.realtime,
        outputs: reading,
        allocations,
    })?;
    if let Some(failed) = measured.failed {
        return Err(Error::Request(failed));
    }
    let audit = audit.map(|audit| lab.audit(audit)).transpose()?;
    lab.finish();
    let worst_step = (0..measured.times.len())
        .max_by(|&a, &b| measured.times[a].total_cmp(&measured.times[b]))
        .unwrap_or(0);
    let overruns = measured.times.iter().filter(|&&time| time > deadline).count();
    let took = |(&wall, &computing): (&f64, &f64)| Took { wall, computing: Some(computing) };
    let computing = Computing::of(measured.times.iter().zip(&measured.computing).map(took));
    let computed = measured.computing.iter().filter(|&&time| time > deadline).count();
    warnings.extend(measured.no_realtime.clone().map(Warning::NoRealtimePriority));
    let evaluation = measured.evaluation_time.map(|time| time * 1e9);
    let mut sorted = measured.times;
    sorted.sort_by(f64::total_cmp);
    let Some(step_time_ns) = StepTime::new(&sorted) else {
        return Err(Error::Request("no step was taken; ask for more with --steps".into()));
    };
    let benchmark = Benchmark {
        model: plan.model.name,
        steps: sorted.len(),
        step,
        outputs_read,
        p99: sorted[(sorted.len() - 1) * 99 / 100] * 1e9,
        step_time_ns,
        worst_step,
        deadline,
        overruns,
        overruns_by_computing: computing.map(|_| computed),
        overruns_allowed: match (options.max_overruns, options.deadline) {
            (None, None) => None,
            (most, _) => Some(most.unwrap_or(0)),
        },
        computing,
        involuntary_switches: measured.switches,
        allocations: measured.allocations,
        scheduler: if options.realtime && measured.no_realtime.is_none() { "fifo" } else { "normal" },
        evaluation_time_ns: evaluation,
        step_to_evaluation: evaluation.map(|time| sorted[sorted.len() / 100] * 1e9 / time),
        audit: audit.map(|found| Judged { verdict: verdict(&found), found }),
        warnings,
        histogram: histogram(&sorted),
        sorted,
    };
    if let Some(page) = page {
        outputs.write(page, report::benchmark(&benchmark).as_bytes())?;
    }
    outputs.commit()?;
    Ok(benchmark)
}

/// Steps per class of duration; classes double from one to the next.
fn histogram(sorted: &[f64]) -> Vec<(f64, usize)> {
    let mut classes: Vec<(f64, usize)> = Vec::new();
    for &time in sorted {
        let bound = 2f64.powf((time.max(1e-9) * 1e9).log2().floor() + 1.0) * 1e-9;
        match classes.last_mut() {
            Some((last, count)) if *last == bound => *count += 1,
            _ => classes.push((bound, 1)),
        }
    }
    classes
}

impl Benchmark {
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Why the command fails: more steps missed the deadline than are allowed; and by how much.
    pub fn failure(&self) -> Option<String> {
        let allowed = self.overruns_allowed.filter(|&most| self.overruns as u64 > most)?;
        let allowed = match allowed {
            0 => String::new(),
            most => format!("; {most} are allowed"),
        };
        let longest = 1e-9 * self.step_time_ns.max;
        let computed = match self.overruns_by_computing {
            Some(computed) if computed < self.overruns => {
                format!(" ({computed} of them by computing, the others waited for the processor)")
            }
            _ => String::new(),
        };
        Some(format!(
            "{} of {} steps missed the deadline of {}{computed}, the longest by {}, {} times as long as it may be{allowed}",
            self.overruns,
            self.steps,
            format_duration(self.deadline),
            format_duration(longest - self.deadline),
            significant(longest / self.deadline)
        ))
    }

    pub fn text(&self) -> String {
        let duration = |ns: f64| format_duration(ns * 1e-9);
        let mut lines = vec![
            format!(
                "{}: {} steps of {}, {} read after each",
                self.model,
                self.steps,
                format_duration(self.step),
                count(self.outputs_read, "output")
            ),
            format!(
                "  median {}, 99 % below {}, 99.9 % below {}, longest {} (step {})",
                duration(self.step_time_ns.p50),
                duration(self.p99),
                duration(self.step_time_ns.p99_9),
                duration(self.step_time_ns.max),
                self.worst_step
            ),
            format!(
                "  {} of {} steps missed the deadline of {}",
                self.overruns,
                self.steps,
                format_duration(self.deadline)
            ),
        ];
        if let Some(computing) = self.computing.filter(|computing| computing.interrupted_steps > 0) {
            let switches = self.involuntary_switches.filter(|&switches| switches > 0);
            let switches = switches.map_or(String::new(), |switches| {
                format!(
                    " ({} in all)",
                    count(switches as usize, "involuntary context switch").replace("switchs", "switches")
                )
            });
            lines.push(format!("  longest {}{switches}", computing.text()));
        }
        if let Some(allocations) = self.allocations {
            lines.push(format!(
                "  the runtime asked for memory {} in 1000 steps",
                count(allocations as usize, "time")
            ));
        }
        if self.scheduler == "fifo" {
            lines.push("  at real-time priority (SCHED_FIFO)".into());
        }
        if let (Some(time), Some(ratio)) = (self.evaluation_time_ns, self.step_to_evaluation) {
            lines.push(format!(
                "  an undisturbed step takes as long as {ratio:.1} evaluations of the model, {} each",
                duration(time)
            ));
        }
        if let Some(Judged { found, verdict }) = &self.audit {
            lines.extend(verdict.iter().map(|sentence| format!("  {sentence}")));
            if verdict.is_empty() {
                let steps = found.steps;
                lines.push(format!("  in {steps} steps this model did nothing that real time forbids"));
            }
            lines.extend(found.uncounted.iter().map(|what| format!("  not counted: {what}")));
        }
        let most = self.histogram.iter().map(|(_, count)| *count).max().unwrap_or(1);
        for (bound, count) in &self.histogram {
            // Logarithmic: the rare slow steps are what matters.
            let length = 50.0 * (1.0 + *count as f64).ln() / (1.0 + most as f64).ln();
            lines.push(format!(
                "  < {:>9} {:<50} {count}",
                format_duration(*bound),
                "#".repeat(length.round().max(1.0) as usize)
            ));
        }
        lines.join("\n")
    }
}
