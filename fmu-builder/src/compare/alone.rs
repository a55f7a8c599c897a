//! One FMU only: simulate it. A Model-Exchange FMU accurately, one of ours step by step.

use super::{ComparedRun, Comparison, Recorded, Stepping, accurate, drive};
use crate::error::Error;
use crate::experiment::{self, End, Experiment};
use crate::finished::Finished;
use crate::interface::Interface;
use crate::lab::Lab;
use crate::options::{CompareOptions, Compilation};
use crate::progress::Progress;
use crate::scratch::Scratch;
use crate::source::Source;
use crate::warning::{Warning, Warnings};

/// Points of an accurate run whose FMU names no step.
const POINTS: f64 = 1000.0;

pub fn simulate(options: &CompareOptions) -> Result<Comparison, Error> {
    if !options.max_error.is_empty() || !options.max_peak.is_empty() {
        return Err(Error::Request(
            "--max-error and --max-peak compare two FMUs; name the real-time FMU behind the original".into(),
        ));
    }
    match Source::open(&options.original, &options.run, &Compilation::default(), &options.limits) {
        Ok(source) => original(options, &source),
        Err(refused) => {
            let scratch = Scratch::new()?;
            let finished = Finished::open(&options.original, scratch.path().join("fmu"));
            built(options, finished.map_err(|_| refused)?, &scratch)
        }
    }
}

fn original(options: &CompareOptions, source: &Source) -> Result<Comparison, Error> {
    let lab = Lab::new(&options.limits, &source.scratch, Progress::new(options.progress))?;
    let mut found = empty(options, &source.description.model_name);
    let files = options.run.inputs.iter().map(|path| path.display().to_string());
    for (experiment, file) in source.experiments(&options.run)?.iter().zip(files.chain([String::new()])) {
        let own = source.description.default_experiment.step_size.filter(|&step| step > 0.0);
        let span = experiment.stop - experiment.start;
        found.step = own.filter(|&step| step <= span).unwrap_or(span / POINTS);
        found.warnings.extend(source.ignored_columns(experiment).map(Warning::IgnoredColumns));
        found.warnings.extend(experiment.remarks.iter().cloned().map(Warning::Inputs));
        let stepping = Stepping::new(experiment, found.step, source.outputs().len())?;
        let (interface, studied) = accurate(source, experiment, &stepping, found.step, &lab)?;
        if let Some(halted) = &studied.halted {
            found.warnings.add(Warning::Halted(halted.clone()));
        }
        let quantities = studied.trajectory.first().map_or(0, Vec::len);
        found.runs.push(ComparedRun {
            inputs: file,
            from: experiment.start,
            to: studied.times.last().copied().unwrap_or_default(),
            points: studied.times.len(),
            recorded: Recorded {
                names: (0..quantities).map(|i| interface.quantity(i).to_string()).collect(),
                discrete_names: names_of_discrete(source),
                times: studied.times,
                reference: studied.trajectory,
                reference_discrete: studied.discrete,
                ..Recorded::default()
            },
            ..ComparedRun::default()
        });
    }
    lab.finish();
    Ok(found)
}

fn names_of_discrete(source: &Source) -> Vec<String> {
    crate::interface::discrete_outputs(&source.description).map(|output| output.name.clone()).collect()
}

fn built(options: &CompareOptions, finished: Finished, scratch: &Scratch) -> Result<Comparison, Error> {
    let lab = Lab::new(&options.limits, scratch, Progress::new(options.progress))?;
    let mut found = empty(options, &finished.plan.model.name);
    found.step = finished.step();
    if !options.run.set.is_empty() {
        return Err(Error::Request("--set goes with the original FMU; name it first".into()));
    }
    // Our own variables are not the model's.
    let mut interface = Interface::new(finished.root.clone(), &finished.description);
    let ours: Vec<u32> = finished.plan.diagnostics.iter().map(|diagnostic| diagnostic.reference).collect();
    ours.iter().for_each(|&reference| interface.leave_out(reference));
    interface.discrete_outputs.retain(|(reference, _)| !ours.contains(reference));
    let default = &finished.description.default_experiment;
    let start = options.run.start.or(default.start_time).unwrap_or(0.0);
    let files: Vec<Option<&std::path::Path>> = match options.run.inputs.is_empty() {
        true => vec![None],
        false => options.run.inputs.iter().map(|path| Some(path.as_path())).collect(),
    };
    for file in files {
        let mut experiment = Experiment { start, ..Experiment::default() };
        experiment.stop =
            options.run.stop.or(default.stop_time).filter(|&stop| stop > start).unwrap_or(start + 1.0);
        if let Some(path) = file {
            let end = if options.run.stop.is_some() { End::Asked } else { End::Fmus };
            experiment.take(experiment::bind(path, &finished.description)?, end);
        }
        found.warnings.extend(experiment.remarks.iter().cloned().map(Warning::Inputs));
        let stepping = Stepping::new(&experiment, found.step, interface.outputs.len())?;
        let driven = lab.drive(drive(&finished, &interface, &experiment, &stepping))?;
        let names = match interface.outputs.is_empty() {
            true => finished.plan.states.names.clone(),
            false => interface.output_names.clone(),
        };
        let inputs = file.map_or(String::new(), |path| path.display().to_string());
        let failures = driven.failed.iter().map(|why| format!("the exported FMU failed: {why}"));
        found.failures.extend(failures);
        found.runs.push(ComparedRun {
            inputs,
            from: start,
            to: driven.times.last().copied().unwrap_or_default(),
            points: driven.times.len(),
            estimate: driven.estimates.last().copied().filter(|estimate| estimate.is_finite()),
            failed: driven.failed,
            recorded: Recorded {
                names,
                times: driven.times,
                reference: driven.trajectory,
                estimates: driven.estimates,
                ..Recorded::default()
            },
            ..ComparedRun::default()
        });
    }
    lab.finish();
    Ok(found)
}

fn empty(options: &CompareOptions, model: &str) -> Comparison {
    Comparison {
        original: options.original.display().to_string(),
        built: None,
        model: model.into(),
        step: 0.0,
        error: None,
        runs: Vec::new(),
        failures: Vec::new(),
        warnings: Warnings::new(),
        csv: None,
    }
}
