//! The invented scenarios, studied side by side.
//!
//! Each is a run of its own in a worker of its own: a scenario that crashes the model costs nothing but itself. The result does not depend
//! on how many of them run at a time.

use crate::experiment::{self, Exploration, Extent, Ranges, Scenario};
use crate::findings::{Studied, Study};
use crate::lab::Lab;
use crate::options::Options;
use crate::sense::Sense;
use crate::source::Source;

/// Samples along a scenario: there are several scenarios.
const SAMPLES: usize = 8;
/// Share of the time limit that one of them may take.
const PATIENCE: f64 = 0.1;
/// Share of the time that is left that they leave for what follows.
const TRIALS: f64 = 0.4;
/// A run that ends before this share of it tells too little.
const LEAST: f64 = 0.25;

/// Steps of a run that shows what one input does, such runs at most, and how often a range is narrowed tenfold.
const SCOUT: u64 = 100;
const SCOUTS: usize = 8;
const NARROWINGS: usize = 9;
/// Share of the time that is left which these runs leave to all others.
const SCOUTING: f64 = 0.8;

/// What the scenarios showed.
#[derive(Default)]
pub struct Scenarios {
    /// Those that could be run, with the steps that were reached.
    pub runs: Vec<(Scenario, Studied)>,
    /// Those that could not, and why.
    pub left_out: Vec<String>,
    /// The range of each input, and where it comes from.
    pub ranges: Vec<String>,
    /// Inputs that nothing moved, and why.
    pub unmoved: Vec<String>,
}

/// Invent scenarios around the given study and run each accurately. `step`: the communication step.
pub fn study_scenarios(
    source: &Source,
    options: &Options,
    given: &Study,
    sense: &Sense,
    step: f64,
    lab: &Lab,
) -> Scenarios {
    let ranges = options.run.ranges.iter().map(|range| (range.name.clone(), range.low, range.high));
    let mut ranges = Ranges { given: ranges.collect(), ..Ranges::default() };
    let states = given.interface.state_names.len();
    let extent = extent(states, step, given, options.run.explore);
    let base = &given.experiment;
    if extent.count != Some(0) {
        narrow(source, given, sense, &mut ranges, extent, lab);
    }
    let Exploration { scenarios, ranges, unmoved } =
        experiment::explore(&source.description, base, &ranges, extent);
    let studies = scenarios.iter().map(|scenario| study_of(given, scenario, step)).collect();
    // Something must be left for the trials.
    let answers = lab.study_all(studies, TRIALS * lab.left());
    let mut found = Scenarios { ranges, unmoved, ..Scenarios::default() };
    for (mut scenario, answer) in scenarios.into_iter().zip(answers) {
        match answer {
            Ok(studied) => {
                let reached = studied.times.len().saturating_sub(1) as u64;
                if (reached as f64) < LEAST * scenario.steps as f64 {
                    let why = studied.halted.as_deref().unwrap_or("it ended early");
                    found.left_out.push(format!("{}: {why}", scenario.name));
                    continue;
                }
                scenario.steps = reached;
                found.runs.push((scenario, studied));
            }
            Err(why) => found.left_out.push(format!("{}: {why}", scenario.name)),
        }
    }
    found
}

/// Narrow guessed ranges, by powers of ten, until the model's states and outputs keep their sizes with each input alone. A model that does not keep them however little an input moves tells nothing of
/// that input: then its guess stays.
fn narrow(source: &Source, given: &Study, sense: &Sense, ranges: &mut Ranges, extent: Extent, lab: &Lab) {
    let extent = Extent { steps: extent.steps.min(SCOUT), ..extent };
    let mut open: Option<Vec<String>> = None;
    for _ in 0..NARROWINGS {
        let mut scouts = experiment::scouts(&source.description, &given.experiment, ranges, extent);
        scouts.retain(|(name, _)| open.as_ref().is_none_or(|open| open.contains(name)));
        scouts.truncate(SCOUTS);
        if scouts.is_empty() {
            return;
        }
        let study = |(_, scenario): &(String, Scenario)| Study {
            samples: 0,
            ..study_of(given, scenario, extent.step)
        };
        let answers = lab.study_all(scouts.iter().map(study).collect(), SCOUTING * lab.left());
        let beyond = scouts.into_iter().zip(answers).filter(|(_, answer)| match answer {
            Ok(run) => !sense.holds(run),
            // What cannot be run at all is left to the scenarios to tell.
            Err(_) => false,
        });
        let beyond: Vec<String> = beyond.map(|((name, _), _)| name).collect();
        for name in &beyond {
            *ranges.narrowed.entry(name.clone()).or_insert(0) += 1;
        }
        open = Some(beyond);
    }
    for name in open.into_iter().flatten() {
        ranges.narrowed.remove(&name);
    }
}

/// As long as a model of this size can afford; every communication step is compared.
pub fn extent(states: usize, step: f64, given: &Study, count: Option<u32>) -> Extent {
    let (steps, most) = match states {
        0..=30 => (400, usize::MAX),
        31..=100 => (200, usize::MAX),
        101..=1000 => (60, 4),
        _ => (20, 2),
    };
    // Not longer than what was asked for.
    let span = given.experiment.stop - given.experiment.start;
    let steps = (span / step * (1.0 + 1e-9)).floor().min(steps as f64).max(1.0) as u64;
    let count = match count {
        Some(count) => Some(count as usize),
        None => (most < usize::MAX).then_some(most),
    };
    Extent { step, steps, count }
}

fn study_of(given: &Study, scenario: &Scenario, step: f64) -> Study {
    let mut study = given.clone();
    let start = scenario.experiment.start;
    study.grid = (1..=scenario.steps).map(|k| start + k as f64 * step).collect();
    study.experiment = scenario.experiment.clone();
    study.samples = SAMPLES;
    study.patience = PATIENCE / 0.5 * given.patience;
    study.missing_starts = Vec::new();
    study.thorough = false;
    study.given = false;
    study
}
