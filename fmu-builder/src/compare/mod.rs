//! `fmu-build compare`: the original FMU and the real-time one, both driven by the user's own signals.
//!
//! The original is integrated accurately by the builder's reference solution, the exported FMU is stepped through its C functions,
//! each in a worker of its own. What is compared is what an importer reads at the communication points.
//!
//! | file | idea |
//! |---|---|
//! | `mod` | drive both, and gather what differs |
//! | `alone` | one FMU only: simulate it |
//! | `limits` | the errors that are accepted, per output |
//! | `table` | the trajectories as CSV |
//! | `text` | the answer for people, as JUnit's XML, as a page |

mod alone;
mod limits;
mod table;
mod text;

use crate::decide::{Switching, switching};
use crate::deviation::{Ranges, range};
use crate::error::Error;
use crate::experiment::Experiment;
use crate::findings::{Studied, Study};
use crate::finished::Finished;
use crate::interface::{Interface, discrete_outputs};
use crate::lab::Lab;
use crate::options::{CompareOptions, Compilation};
use crate::outputs::Outputs;
use crate::progress::Progress;
use crate::source::Source;
use crate::warning::{Warning, Warnings};
use crate::worker::{Drive, Driven};
use fmu_runtime::plan::Quantity;
use limits::Limited;
use serde::Serialize;

/// What the accurate run is computed to, relative.
const ACCURACY: f64 = 1e-7;
/// Numbers that a trajectory may have, and points.
const VALUES: u64 = 2_000_000;
const POINTS: u64 = 100_000;

/// How far the exported FMU is from the original, on each run.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    pub original: String,
    /// `null`: one FMU only was simulated.
    pub built: Option<String>,
    pub model: String,
    /// Communication step, seconds.
    pub step: f64,
    /// Over all runs.
    pub error: Option<f64>,
    pub runs: Vec<ComparedRun>,
    /// What is beyond a limit or failed; empty: nothing.
    pub failures: Vec<String>,
    #[serde(flatten)]
    pub warnings: Warnings,
    /// The table, where it is the answer.
    #[serde(skip)]
    pub csv: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize)]
pub struct ComparedRun {
    /// The file of inputs; empty without one.
    pub inputs: String,
    pub from: f64,
    pub to: f64,
    pub points: usize,
    /// The largest error of an output, root mean square over its range, and which has it.
    pub error: Option<f64>,
    pub worst: Option<String>,
    /// What `fmuBuild.error` said at the end.
    pub estimate: Option<f64>,
    pub outputs: Vec<ComparedOutput>,
    pub discrete: Vec<ComparedDiscrete>,
    /// Why a run ended early.
    pub failed: Option<String>,
    #[serde(skip)]
    pub recorded: Recorded,
}

/// One Real output, or state where there are no outputs.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedOutput {
    pub name: String,
    pub unit: Option<String>,
    /// It does not move in this run, so that its error says nothing.
    pub still: bool,
    /// How far it reaches, in its unit.
    pub range: f64,
    /// Root mean square of the deviation: of the range, and in its unit.
    pub rms: f64,
    pub rms_absolute: f64,
    /// The largest deviation, likewise, and when.
    pub peak: f64,
    pub peak_absolute: f64,
    pub peak_time: f64,
    /// The limits that it is beyond.
    pub beyond: Vec<String>,
}

/// An output that is no Real.
#[derive(Clone, Debug, Serialize)]
pub struct ComparedDiscrete {
    pub name: String,
    /// Share of the points at which its value is another.
    pub share: f64,
    /// The longest that it is another at a stretch, seconds and steps.
    pub delay: f64,
    pub delay_steps: u64,
}

/// Trajectories, for the table and the plots.
#[derive(Clone, Debug, Default)]
pub struct Recorded {
    pub names: Vec<String>,
    pub discrete_names: Vec<String>,
    pub times: Vec<f64>,
    pub reference: Vec<Vec<f64>>,
    pub built: Vec<Vec<f64>>,
    pub reference_discrete: Vec<Vec<i64>>,
    pub built_discrete: Vec<Vec<i64>>,
    pub estimates: Vec<f64>,
}

/// Drive both FMUs, or the one that is given.
pub fn compare(options: &CompareOptions) -> Result<Comparison, Error> {
    let read = [Some(options.original.as_path()), options.built.as_deref()].into_iter().flatten();
    let mut outputs = Outputs::new(read.chain(options.run.inputs.iter().map(|path| path.as_path())));
    let csv = options.csv.as_deref().map(|path| outputs.claim("the table", path)).transpose()?;
    let page = options.report.as_deref().map(|path| outputs.claim("the report", path)).transpose()?;
    let junit = options.junit.as_deref().map(|path| outputs.claim("the test results", path)).transpose()?;
    let mut found = match &options.built {
        Some(built) => both(options, built)?,
        None => alone::simulate(options)?,
    };
    let table = table::table(&found);
    match csv {
        Some(csv) => outputs.write(csv, table.as_bytes())?,
        None if found.built.is_none() => found.csv = Some(table),
        None => {}
    }
    if let Some(page) = page {
        outputs.write(page, crate::report::comparison(&found).as_bytes())?;
    }
    if let Some(junit) = junit {
        outputs.write(junit, found.junit().as_bytes())?;
    }
    outputs.commit()?;
    Ok(found)
}

fn both(options: &CompareOptions, built: &std::path::Path) -> Result<Comparison, Error> {
    let source = Source::open(&options.original, &options.run, &Compilation::default(), &options.limits)?;
    let finished = Finished::open(built, source.scratch.path().join("built"))?;
    if finished.plan.model.inner_guid != source.description.guid {
        return Err(Error::Request(format!(
            "{} was not built from {}: the model inside it has the GUID {}, this one {}; build it again, or name the FMU that it \
             was built from",
            built.display(),
            options.original.display(),
            finished.plan.model.inner_guid,
            source.description.guid
        )));
    }
    let experiments = source.experiments(&options.run)?;
    let limited = Limited::new(&source, &options.max_error, &options.max_peak)?;
    let lab = Lab::new(&options.limits, &source.scratch, Progress::new(options.progress))?;
    let mut found = Comparison {
        original: options.original.display().to_string(),
        built: Some(built.display().to_string()),
        model: source.description.model_name.clone(),
        step: finished.step(),
        error: None,
        runs: Vec::new(),
        failures: Vec::new(),
        warnings: Warnings::new(),
        csv: None,
    };
    let files = options.run.inputs.iter().map(|path| path.display().to_string());
    for (experiment, file) in experiments.iter().zip(files.chain([String::new()])) {
        found.warnings.extend(source.ignored_columns(experiment).map(Warning::IgnoredColumns));
        found.warnings.extend(experiment.remarks.iter().cloned().map(Warning::Inputs));
        let stepping = Stepping::new(experiment, finished.step(), source.outputs().len())?;
        let (interface, studied) = accurate(&source, experiment, &stepping, finished.plan.step.h, &lab)?;
        let driven = lab.drive(drive(&finished, &interface, experiment, &stepping))?;
        if let Some(halted) = &studied.halted {
            found.warnings.add(Warning::Halted(halted.clone()));
        }
        found.runs.push(run(&source, &interface, file, &stepping, studied, driven, &limited));
    }
    lab.finish();
    let errors = found.runs.iter().filter_map(|run| run.error);
    found.error = errors.max_by(f64::total_cmp);
    found.failures = found.runs.iter().flat_map(ComparedRun::failures).collect();
    Ok(found)
}

/// Communication steps of a run, and how many of them lie between two points.
struct Stepping {
    step: f64,
    steps: u64,
    every: u64,
}

impl Stepping {
    fn new(experiment: &Experiment, step: f64, outputs: usize) -> Result<Stepping, Error> {
        let steps = ((experiment.stop - experiment.start) / step * (1.0 + 1e-9)).floor();
        if steps < 1.0 {
            return Err(Error::Request(format!(
                "the run from {} s to {} s is shorter than the communication step of {step} s; give a later --stop",
                experiment.start, experiment.stop
            )));
        }
        let most = POINTS.min(VALUES / outputs.max(1) as u64).max(100);
        let every = (steps as u64).div_ceil(most);
        Ok(Stepping { step, steps: steps as u64 / every * every, every })
    }

    fn times(&self, start: f64) -> Vec<f64> {
        (1..=self.steps / self.every).map(|point| start + (point * self.every) as f64 * self.step).collect()
    }
}

/// The accurate solution. What the FMU is found to lack is done without, as in a build.
fn accurate(
    source: &Source,
    experiment: &Experiment,
    stepping: &Stepping,
    h: f64,
    lab: &Lab,
) -> Result<(Interface, Studied), Error> {
    loop {
        let mut interface = source.interface();
        lab.lacks().iter().for_each(|lack| lack.apply(&mut interface));
        let studied = lab.study(Study {
            interface: interface.clone(),
            experiment: experiment.clone(),
            h,
            declared: source.declared(),
            grid: stepping.times(experiment.start),
            samples: 0,
            tolerance: ACCURACY,
            patience: 0.9 * lab.limit(),
            missing_starts: Vec::new(),
            time_declared: source.time_declared(),
            thorough: false,
            given: true,
        });
        if lab.lacking(&interface) {
            continue;
        }
        return Ok((interface, studied?));
    }
}

fn drive(finished: &Finished, interface: &Interface, experiment: &Experiment, stepping: &Stepping) -> Drive {
    let reals = match interface.outputs.is_empty() {
        true => finished.plan.states.references.clone(),
        false => interface.outputs.clone(),
    };
    Drive {
        root: finished.root.clone(),
        plan: finished.plan.clone(),
        experiment: experiment.clone(),
        steps: stepping.steps,
        every: stepping.every,
        reals,
        discrete: interface.discrete_outputs.clone(),
        error: finished.diagnostic(Quantity::Error),
    }
}

/// What differs on one run.
fn run(
    source: &Source,
    interface: &Interface,
    inputs: String,
    stepping: &Stepping,
    studied: Studied,
    driven: Driven,
    limited: &Limited,
) -> ComparedRun {
    let ranges = Ranges::of(&studied.trajectory, &studied.terms);
    let errors = ranges.errors(&studied.trajectory, &driven.trajectory);
    let peaks = ranges.peaks(&studied.trajectory, &driven.trajectory);
    let points = studied.trajectory.len().min(driven.trajectory.len());
    let deviation = |at: usize, i: usize| driven.trajectory[at][i] - studied.trajectory[at][i];
    let outputs =
        errors.iter().zip(&peaks).zip(ranges.standing()).enumerate().map(|(i, ((&rms, &peak), still))| {
            let squares: f64 = (0..points).map(|at| deviation(at, i).powi(2)).sum();
            let values = studied.trajectory.iter().map(|row| row[i]);
            let mut output = ComparedOutput {
                name: interface.quantity(i).to_string(),
                unit: source.unit(interface.quantity(i)),
                still,
                range: range(values).0,
                rms,
                rms_absolute: (squares / points.max(1) as f64).sqrt(),
                peak: peak.0,
                peak_absolute: deviation(peak.1, i).abs(),
                peak_time: studied.times[peak.1],
                beyond: Vec::new(),
            };
            output.beyond = limited.beyond(&output);
            output
        });
    let outputs: Vec<ComparedOutput> = outputs.collect();
    let worst = outputs.iter().max_by(|a, b| a.rms.total_cmp(&b.rms));
    let discrete_names: Vec<String> =
        discrete_outputs(&source.description).map(|output| output.name.clone()).collect();
    let switched = switching(&studied.discrete, &driven.discrete, stepping.every);
    let discrete =
        discrete_names.iter().zip(switched).map(|(name, Switching { share, delay })| ComparedDiscrete {
            name: name.clone(),
            share,
            delay: delay as f64 * stepping.step,
            delay_steps: delay,
        });
    ComparedRun {
        inputs,
        from: studied.times.first().copied().unwrap_or_default(),
        to: studied.times.get(points.saturating_sub(1)).copied().unwrap_or_default(),
        points,
        error: worst.map(|worst| worst.rms),
        worst: worst.map(|worst| worst.name.clone()),
        estimate: driven.estimates.last().copied().filter(|estimate| estimate.is_finite()),
        discrete: discrete.collect(),
        failed: driven.failed,
        recorded: Recorded {
            names: (0..outputs.len()).map(|i| interface.quantity(i).to_string()).collect(),
            discrete_names,
            times: studied.times,
            reference: studied.trajectory,
            built: driven.trajectory,
            reference_discrete: studied.discrete,
            built_discrete: driven.discrete,
            estimates: driven.estimates,
        },
        outputs,
    }
}

impl ComparedRun {
    /// What made it fail.
    fn failures(&self) -> Vec<String> {
        let beyond = self.outputs.iter().flat_map(|output| output.beyond.iter().cloned());
        let failed = self.failed.iter().map(|why| format!("the exported FMU failed: {why}"));
        let of = if self.inputs.is_empty() { String::new() } else { format!("{}: ", self.inputs) };
        failed.chain(beyond).map(|text| format!("{of}{text}")).collect()
    }
}
