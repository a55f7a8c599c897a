//! The main job, top to bottom: open, study, decide, pack.

use crate::assemble::Discretisation;
use crate::decide::{self, Decision, Parting, ReferenceRun};
use crate::effort::Effort;
use crate::error::Error;
use crate::experiment::Experiment;
use crate::findings::{Studied, Study};
use crate::interface::Interface;
use crate::lab::Lab;
use crate::moved::MovedRun;
use crate::options::{Fmi, Options};
use crate::outputs::Outputs;
use crate::pack::{self, CertificateFiles};
use crate::progress::Progress;
use crate::quantity::{format_duration, percent};
use crate::report;
use crate::scenarios::{extent, study_scenarios};
use crate::sense::Sense;
use crate::source::Source;
use crate::summary::Summary;
use crate::warning::{ToleranceMissed, Warning, Warnings};
use std::time::Instant;

/// Steps of a trial run, at most.
const STEPS: u64 = 200_000;
/// Internal steps that a run may consist of: beyond that a step is rounding of the time that it is added to.
const MOST_STEPS: f64 = 1e12;
/// Numbers that a trajectory may have.
const VALUES: u64 = 400_000;
/// Of the accurate solution, relative, unless the tolerance asks for more; and what it can be computed to.
const ACCURACY: f64 = 1e-6;
const FINEST: f64 = 1e-9;
/// The error says little of the plan where the accurate solution is uncertain by this part of it.
const UNCERTAIN: f64 = 0.3;
const SAMPLES: usize = 24;
/// How often a chosen step is shortened until the tolerance is met.
const REFINEMENTS: usize = 6;

/// Study the FMU `options.input`, decide how it is stepped, and write `options.output`.
pub fn build(options: &Options) -> Result<Summary, Error> {
    let inputs = options.run.inputs.iter().map(|path| path.as_path());
    let mut outputs = Outputs::new(inputs.chain([options.input.as_path()]));
    let fmu = outputs.claim("the new FMU", &options.output)?;
    let page = options.report.as_deref().map(|path| outputs.claim("the report", path)).transpose()?;
    let mut source = Source::open(&options.input, &options.run, &options.compilation, &options.limits)?;
    let own = if source.description.fmi3.is_some() { Fmi::Three } else { Fmi::Two };
    source.written_as = options.fmi.unwrap_or(own);
    let experiments = source.experiments(&options.run)?;
    let ignored = experiments.iter().find_map(|experiment| source.ignored_columns(experiment));
    if let (true, Some(ignored)) = (options.strict, &ignored) {
        return Err(Error::Request(format!("{ignored}; rename or remove them, or build without --strict")));
    }
    // The longest run: each of the others ends by itself.
    let span = |run: &&Experiment| run.stop - run.start;
    let longest = experiments.iter().max_by(|a, b| span(a).total_cmp(&span(b)));
    let mut grid = TimeGrid::choose(options, &source, longest.unwrap_or(&experiments[0]))?;
    let progress = Progress::new(options.progress);
    let lab = Lab::new(&options.limits, &source.scratch, progress)?;

    let mut attempt = loop {
        let mut interface = source.interface();
        lab.lacks().iter().for_each(|lack| lack.apply(&mut interface));
        source.left_out = lab.lacks().iter().filter_map(|lack| lack.output()).collect();
        let before = lab.left();
        let attempt = Attempt::new(options, &source, &interface, &experiments, &grid, &lab);
        if lab.lacking(&interface) {
            continue; // without what it was just found to lack
        }
        let mut attempt = attempt?;
        let decision = &attempt.decision;
        let order = decision.plan.step.method.tableau().order;
        // Where the accurate solution itself is uncertain a shorter step gains nothing.
        let certain = attempt.reference_error.is_none_or(|error| error <= options.tolerance);
        let took = before - lab.left();
        let missed = decision.error.is_some_and(|error| error > options.tolerance);
        if certain && missed && grid.refinements > 0 && lab.left() < 2.0 * took {
            let (limit, left) = (options.limits.total, lab.left());
            attempt.warnings.add(Warning::StepNotShortened { limit, left });
            break attempt;
        }
        if !certain || !grid.shorten(decision.error, options.tolerance, order) {
            break attempt;
        }
    };
    lab.finish();
    attempt.warnings.extend(lab.lacks().iter().cloned().map(Warning::Lacks));
    attempt.warnings.extend(ignored.map(Warning::IgnoredColumns));
    let remarks = experiments.iter().flat_map(|experiment| experiment.remarks.iter().cloned());
    attempt.warnings.extend(remarks.map(Warning::Inputs));
    let how = source.compiled.as_ref().map(|compiled| compiled.how.clone());
    attempt.warnings.extend(how.map(Warning::FromSources));
    let lowered = source.description.fmi3.is_some() && source.written_as == Fmi::Two;
    attempt.warnings.extend(lowered.then_some(Warning::WrittenAsFmi2));
    source.set_starts(&attempt.studied.starts);

    let (runtimes, packed) = options.libraries.runtimes_for(
        &source.library_names(),
        &source.root(),
        source.identifier(),
        source.written_as,
    );
    let summary = Summary::new(&source, &attempt, &grid, packed, options);
    if let (true, Some(objection)) = (options.strict, summary.verdict.objection()) {
        return Err(Error::Request(objection));
    }
    let decision = &attempt.decision;
    let certificate =
        CertificateFiles { html: report::certificate(&summary, decision), json: summary.certificate_json() };
    pack::pack(&source, &decision.plan, &certificate, runtimes, outputs.file(fmu), &options.output)?;
    if let Some(page) = page {
        outputs.write(page, report::report(&summary, decision).as_bytes())?;
    }
    outputs.commit()?;
    Ok(summary)
}

/// What was found out and decided for one step size.
pub struct Attempt {
    pub studied: Studied,
    pub decision: Decision,
    /// In which ranges the invented runs moved inputs and parameters, and where these come from.
    pub ranges: Vec<String>,
    /// How far two accurate solutions of the given run lie apart, where that was looked at.
    pub reference_error: Option<f64>,
    /// To be drawn, where nothing moves in the given runs.
    pub moved: Option<MovedRun>,
    pub warnings: Warnings,
}

impl Attempt {
    /// Study the model on the given runs and on invented ones, and decide.
    fn new(
        options: &Options,
        source: &Source,
        interface: &Interface,
        experiments: &[Experiment],
        grid: &TimeGrid,
        lab: &Lab,
    ) -> Result<Attempt, Error> {
        let (first, others) =
            experiments.split_first().ok_or_else(|| Error::Request("there is no run".into()))?;
        let discretisation = Discretisation {
            h: grid.step / grid.substeps as f64,
            substeps: grid.substeps,
            // What the tolerance allows anywhere it allows in time: the step itself errs by more.
            precision: options.tolerance,
        };
        let study = Study {
            interface: interface.clone(),
            experiment: first.clone(),
            h: discretisation.h,
            declared: source.declared(),
            grid: grid.points(first),
            samples: SAMPLES,
            tolerance: accuracy(options.tolerance),
            patience: (0.5 * lab.limit()).min(0.3 * lab.left()),
            missing_starts: source.missing_starts(),
            time_declared: source.time_declared(),
            thorough: true,
            given: true,
        };
        let begin = Instant::now();
        let mut studied = lab.study(study.clone())?;
        let extent = extent(interface.state_names.len(), grid.step, &study, options.run.explore);
        let effort = Effort {
            studied: begin.elapsed().as_secs_f64(),
            points: studied.times.len() as u64,
            given_steps: experiments.len() as u64 * grid.steps,
            scenario_steps: extent.steps,
            scenarios: extent.count,
        };
        effort.tell(&studied, lab);
        let mut runs = vec![given_run("the given run", first, grid, &studied)?];
        let more = others.iter().map(|experiment| Study {
            experiment: experiment.clone(),
            grid: grid.points(experiment),
            missing_starts: Vec::new(),
            thorough: false,
            ..study.clone()
        });
        let answers = lab.study_all(more.collect(), 0.0);
        for (at, (experiment, answer)) in others.iter().zip(answers).enumerate() {
            let other = answer?;
            runs.push(given_run(&format!("given run {}", at + 2), experiment, grid, &other)?);
            studied.absorb(other, &study.declared);
        }
        let sense = Sense::new(source, interface, &studied);
        let scenarios = study_scenarios(source, options, &study, &sense, grid.step, lab);
        for (scenario, mut other) in scenarios.runs {
            runs.push(ReferenceRun {
                label: scenario.name,
                given: false,
                counts: true,
                experiment: scenario.experiment,
                steps: scenario.steps,
                every: 1,
                trajectory: other.trajectory.clone(),
                terms: other.terms.clone(),
                discrete: other.discrete.clone(),
            });
            sense.limit(&mut other);
            studied.absorb(other, &study.declared);
        }
        // A communication step that we choose ourselves is shortened instead.
        let decision = match grid.refinements {
            0 => decide::decide_with_substeps(interface, discretisation, &studied, &runs, options, lab)?,
            _ => decide::decide(interface, discretisation, &studied, &runs, options, lab)?,
        };
        let parting = decision.missed.and_then(|_| parting(&study, &runs[0], lab));
        let mut warnings = decision.warnings.clone();
        warnings.extend(decision.missed.map(|missed| {
            let uncertain = parting.as_ref().and_then(|parting| uncertain(&missed, parting));
            uncertain.unwrap_or(Warning::ToleranceMissed(missed))
        }));
        if options.tolerance < 10.0 * study.tolerance {
            let (tolerance, accuracy) = (options.tolerance, study.tolerance);
            warnings.add(Warning::ToleranceBeyondReference { tolerance, accuracy });
        }
        if !scenarios.unmoved.is_empty() {
            warnings.add(Warning::UnmovedInputs(scenarios.unmoved));
        }
        if !scenarios.left_out.is_empty() {
            warnings.add(Warning::RunsLeftOut(scenarios.left_out));
        }
        let reference_error = parting.map(|parting| parting.distance);
        let moved = MovedRun::find(&decision, &runs, interface, grid.step, lab);
        Ok(Attempt { studied, decision, ranges: scenarios.ranges, reference_error, moved, warnings })
    }
}

/// The plan misses the tolerance: is the accurate solution to blame? It is computed once more, a hundred times more
/// accurately, and compared with the one that the plan was judged by.
fn parting(study: &Study, run: &ReferenceRun, lab: &Lab) -> Option<Parting> {
    let finer = Study {
        tolerance: 0.01 * study.tolerance,
        samples: 0,
        missing_starts: Vec::new(),
        thorough: false,
        ..study.clone()
    };
    let finer = lab.study(finer).ok()?;
    decide::parting(&run.ranges(), &finer.trajectory, &run.trajectory)
}

/// What to say instead of a missed tolerance where two accurate solutions lie so far apart that no step would do. Those
/// that part further and further show that nobody can follow this run to its end: the model is chaotic, or nearly so.
fn uncertain(missed: &ToleranceMissed, parting: &Parting) -> Option<Warning> {
    let (distance, error) = (parting.distance, missed.error);
    // A smaller part of the error is the plan's own, and a shorter step would help.
    let counts = parting.grows || distance > UNCERTAIN * error;
    if distance <= 0.5 * missed.tolerance || !counts {
        return None;
    }
    Some(match parting.grows {
        true => Warning::Chaotic { distance, error },
        false => Warning::UncertainReference { distance, error },
    })
}

/// What the accurate solution must be computed to, so that its own error is no part of the tolerance.
fn accuracy(tolerance: f64) -> f64 {
    ACCURACY.min(0.01 * tolerance).max(FINEST)
}

fn given_run(
    label: &str,
    experiment: &Experiment,
    grid: &TimeGrid,
    studied: &Studied,
) -> Result<ReferenceRun, Error> {
    let reached = studied.times.len().saturating_sub(1) as u64;
    if reached == 0 {
        let why = studied.halted.as_deref().unwrap_or("no reason was given");
        return Err(Error::Request(format!(
            "the model cannot be run from t = {}: {why}. Other start values (--set) or inputs (--inputs) may help",
            experiment.start
        )));
    }
    Ok(ReferenceRun {
        label: label.into(),
        given: true,
        counts: true,
        experiment: experiment.clone(),
        steps: reached * grid.every,
        every: grid.every,
        trajectory: studied.trajectory.clone(),
        terms: studied.terms.clone(),
        discrete: studied.discrete.clone(),
    })
}

/// The communication step and how the trial run is cut.
#[derive(Clone, Debug)]
pub struct TimeGrid {
    /// H, in seconds.
    pub step: f64,
    pub substeps: u32,
    /// Where it comes from, for people.
    pub reason: String,
    /// Communication steps of a trial run; every so many a point is recorded.
    pub steps: u64,
    pub every: u64,
    /// The whole experiment is longer than what is run.
    pub truncated: bool,
    /// Recorded points, at most.
    points: u64,
    span: f64,
    refinements: usize,
}

impl TimeGrid {
    fn choose(options: &Options, source: &Source, experiment: &Experiment) -> Result<TimeGrid, Error> {
        let span = experiment.stop - experiment.start;
        let substeps = options.substeps.unwrap_or(1).max(1);
        let own = source
            .description
            .default_experiment
            .step_size
            .filter(|&step| step > 0.0 && step <= span && span / step <= MOST_STEPS);
        let (step, reason, refinements) = match (options.step, own) {
            (Some(step), _) => (step, "as asked for".to_string(), 0),
            (None, Some(own)) => (own, "the FMU's own (DefaultExperiment stepSize)".to_string(), 0),
            (None, None) => (
                nice(span / 1000.0),
                format!("chosen: the FMU names none, and the run takes {}", format_duration(span)),
                REFINEMENTS,
            ),
        };
        if span / step * f64::from(substeps) > MOST_STEPS {
            return Err(Error::Request(format!(
                "a step of {} cuts the run of {} into {:.0e} steps, more than {MOST_STEPS:e}: time itself is not known that finely; give a longer --step",
                format_duration(step),
                format_duration(span),
                span / step * f64::from(substeps)
            )));
        }
        // A little more than the run is rounding.
        if step > span * (1.0 + 1e-9) {
            return Err(Error::Request(format!(
                "a step of {} is longer than the run of {} (from {} s to {} s); give a shorter --step or a later --stop",
                format_duration(step),
                format_duration(span),
                experiment.start,
                experiment.stop
            )));
        }
        // Many, so that a short transient is not missed; fewer where each costs the accurate run much.
        let (states, outputs) = (source.description.states().len(), source.outputs().len());
        let points = match states {
            0..=30 => 50_000,
            31..=100 => 5000,
            101..=1000 => 1000,
            _ => 400,
        };
        let watched = if outputs == 0 { states } else { outputs };
        let points = points.min(VALUES / watched.max(1) as u64).max(20);
        let mut grid = TimeGrid {
            step,
            substeps,
            reason,
            steps: 1,
            every: 1,
            truncated: false,
            points,
            span,
            refinements,
        };
        grid.cut();
        Ok(grid)
    }

    /// Points in time at which trajectories are compared.
    fn points(&self, experiment: &Experiment) -> Vec<f64> {
        let time = |i: u64| experiment.start + (i * self.every) as f64 * self.step;
        let own = ((experiment.stop - experiment.start) / self.step * (1.0 + 1e-9)).floor().max(1.0) as u64;
        let points = (self.steps.min(own) / self.every).max(1);
        (1..=points).map(time).collect()
    }

    fn cut(&mut self) {
        let all = (self.span / self.step * (1.0 + 1e-9)).floor().max(1.0);
        let most = (STEPS / self.substeps as u64).max(1000) as f64;
        self.truncated = all > most;
        let steps = all.min(most) as u64;
        self.every = steps.div_ceil(self.points).max(1);
        self.steps = steps / self.every * self.every;
    }

    /// A step that we chose ourselves is shortened until the tolerance is met. False: keep it.
    fn shorten(&mut self, error: Option<f64>, tolerance: f64, order: u32) -> bool {
        let Some(error) = error.filter(|&error| error > tolerance) else { return false };
        if self.refinements == 0 {
            return false;
        }
        self.refinements -= 1;
        let ratio = (tolerance / error).powf(1.0 / f64::from(order));
        let shorter = nice((self.step * ratio * 0.8).min(0.5 * self.step));
        if shorter < self.span * 1e-7 {
            return false;
        }
        self.step = shorter;
        self.reason =
            format!("chosen: the FMU names none; longer ones miss the tolerance of {}", percent(tolerance));
        self.cut();
        true
    }
}

/// The largest of 1, 2, 5 times a power of ten that is not above `value`.
fn nice(value: f64) -> f64 {
    let exponent = value.log10().floor();
    let mantissa = value / 10f64.powf(exponent);
    let digit = if mantissa >= 4.999_999 {
        5
    } else if mantissa >= 1.999_999 {
        2
    } else {
        1
    };
    // From its decimal text, so that 1e-3 is exactly the number that people write.
    format!("{digit}e{exponent}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::nice;

    #[test]
    fn nice_steps_are_the_numbers_that_people_write() {
        for (value, expected) in
            [(1e-3, 1e-3), (0.00999, 5e-3), (3.0, 2.0), (0.02, 0.02), (1.0, 1.0), (7e-7, 5e-7)]
        {
            assert_eq!(nice(value), expected);
        }
    }
}
