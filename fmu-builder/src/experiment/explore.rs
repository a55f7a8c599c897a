//! The scenarios that the builder invents: a plan must hold on the bench, and nobody knows the bench's inputs beforehand.
//!
//! Each continuous input is stepped and swept over its range, each discrete one goes through its values, all of them move at once by a
//! pseudo-random sequence, parameters are moved up and down by a factor, states start beside their start values. Everything is
//! deterministic: the same description, the same scenarios.

use super::bind::column;
use super::range::Ranges;
use super::signal::{self, Clock, Driven, Levels, Random};
use super::{Column, Experiment, Setting, Signal, Value};
use crate::inputs::InputTable;
use crate::interface::believable;
use model_description::{Causality, Initial, Kind, ModelDescription, ScalarVariable, Variability};

/// Parameters are multiplied or divided by this.
const FACTOR: f64 = 2.0;
/// States start off by this share of their size.
const BESIDE: f64 = 0.1;
/// Steps for which a pseudo-random level is held on average: short enough that a run of a few hundred steps sees several.
const DWELL: f64 = 50.0;
/// Inputs that are stepped and swept in turn in one run; of more, these are the first, and the others move pseudo-randomly.
const IN_TURN: usize = 8;

/// A run that the builder invented.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// What moves, for people: "inputs stepped in turn".
    pub name: String,
    pub experiment: Experiment,
    /// Communication steps.
    pub steps: u64,
}

/// All of them, and what was taken for granted.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Exploration {
    pub scenarios: Vec<Scenario>,
    /// The range of each input, and where it comes from.
    pub ranges: Vec<String>,
    /// Inputs that no scenario moves, and why.
    pub unmoved: Vec<String>,
}

/// Where and how long scenarios run.
#[derive(Clone, Copy, Debug)]
pub struct Extent {
    /// Communication step in seconds, and how many of them.
    pub step: f64,
    pub steps: u64,
    /// Scenarios. None: one of each kind that the model offers something for.
    pub count: Option<usize>,
}

/// Invent scenarios around `base`, whose start values count where nothing else is said. Fewer than asked for where the model
/// offers nothing to move.
pub fn explore(
    description: &ModelDescription,
    base: &Experiment,
    ranges: &Ranges,
    extent: Extent,
) -> Exploration {
    let mut found = Exploration::default();
    if extent.count == Some(0) || extent.steps == 0 {
        return found;
    }
    let mut explorer = Explorer {
        description,
        base,
        ranges,
        clock: Clock { start: base.start, step: extent.step, steps: extent.steps },
        driven: Vec::new(),
        columns: Vec::new(),
    };
    explorer.find_inputs(&mut found);
    let kinds = [
        Motion::Random(1),
        Motion::Steps,
        Motion::Parameters(1),
        Motion::Parameters(2),
        Motion::Sweeps,
        Motion::Starts(1),
        Motion::Random(2),
    ];
    let count = extent.count.unwrap_or(kinds.len());
    // More than these: other pseudo-random sequences, with and without other parameters.
    let more =
        (3u64..).flat_map(|seed| [Motion::Random(seed), Motion::Parameters(seed), Motion::Starts(seed)]);
    let more = more.take(if extent.count.is_some() { 3 * count } else { 0 });
    for motion in kinds.into_iter().chain(more) {
        if found.scenarios.len() < count {
            found.scenarios.extend(explorer.scenario(motion));
        }
    }
    found
}

/// A run for each input whose range is a guess, with nothing but that input stepped to both ends: it shows what the model answers.
pub fn scouts(
    description: &ModelDescription,
    base: &Experiment,
    ranges: &Ranges,
    extent: Extent,
) -> Vec<(String, Scenario)> {
    let clock = Clock { start: base.start, step: extent.step, steps: extent.steps };
    let mut explorer = Explorer { description, base, ranges, clock, driven: Vec::new(), columns: Vec::new() };
    explorer.find_inputs(&mut Exploration::default());
    let inputs = explorer.driven.iter().zip(&explorer.columns);
    let guessed = inputs.filter(|(one, _)| matches!(&one.levels, Levels::Between(range) if range.is_guess));
    let alone = guessed.map(|(one, column)| {
        let table = signal::steps(std::slice::from_ref(one), clock);
        let experiment =
            Experiment { columns: vec![column.clone()], ..explorer.experiment(table, Vec::new()) };
        (one.name.clone(), Scenario { name: format!("{} alone", one.name), experiment, steps: clock.steps })
    });
    alone.collect()
}

/// What moves in a scenario; numbers choose the pseudo-random sequence.
#[derive(Clone, Copy)]
enum Motion {
    Steps,
    Sweeps,
    Random(u64),
    Parameters(u64),
    Starts(u64),
}

struct Explorer<'a> {
    description: &'a ModelDescription,
    base: &'a Experiment,
    ranges: &'a Ranges,
    clock: Clock,
    driven: Vec<Driven>,
    columns: Vec<Column>,
}

impl Explorer<'_> {
    fn find_inputs(&mut self, found: &mut Exploration) {
        let inputs = self.description.variables.iter().filter(|it| it.causality == Causality::Input);
        for variable in inputs {
            let column = column(variable);
            let levels = match column.signal {
                Signal::Continuous | Signal::Real => {
                    let range = self.ranges.of_input(variable);
                    found.ranges.push(range.describe(variable));
                    Levels::Between(range)
                }
                Signal::Integer | Signal::Boolean => {
                    let values = self.ranges.values(variable);
                    if values.len() < 2 {
                        let why = "an Integer without min and max; give --range";
                        found.unmoved.push(format!("{} ({why})", variable.name));
                        continue;
                    }
                    let listed: Vec<String> = values.iter().map(f64::to_string).collect();
                    found.ranges.push(format!("{} = {}", variable.name, listed.join(", ")));
                    Levels::Of(values)
                }
                Signal::Text => {
                    found.unmoved.push(format!("{} (a String)", variable.name));
                    continue;
                }
            };
            self.driven.push(Driven { name: variable.name.clone(), start: self.start_of(variable), levels });
            self.columns.push(column);
        }
    }

    /// The value that a variable starts with in the base run.
    fn start_of(&self, variable: &ScalarVariable) -> f64 {
        let set = self.base.settings.iter().find(|setting| setting.name == variable.name);
        match set.map(|setting| &setting.value) {
            Some(Value::Real(value)) => *value,
            Some(Value::Integer(value)) => f64::from(*value),
            Some(Value::Boolean(value)) => f64::from(u8::from(*value)),
            Some(Value::Text(_)) => 0.0,
            None => match variable.kind {
                Kind::Real => variable.start_real().unwrap_or(0.0),
                Kind::Boolean => f64::from(u8::from(variable.start_boolean().unwrap_or(false))),
                _ => f64::from(variable.start_integer().unwrap_or(0)),
            },
        }
    }

    fn scenario(&self, motion: Motion) -> Option<Scenario> {
        let has_inputs = !self.driven.is_empty();
        let random = |seed: u64| signal::random(&self.driven, self.clock, DWELL, seed);
        let beside_inputs = if has_inputs { ", inputs pseudo-random" } else { "" };
        let in_turn = &self.driven[..self.driven.len().min(IN_TURN)];
        let (name, table, settings) = match motion {
            Motion::Steps => {
                ("inputs stepped in turn".to_string(), signal::steps(in_turn, self.clock), Vec::new())
            }
            Motion::Sweeps => {
                ("inputs swept in turn".to_string(), signal::sweeps(in_turn, self.clock), Vec::new())
            }
            Motion::Random(seed) => (format!("inputs pseudo-random, {seed}"), random(seed), Vec::new()),
            Motion::Parameters(seed) => {
                let settings = self.moved_parameters(seed);
                let list: Vec<&str> = settings.iter().map(|it| it.name.as_str()).take(4).collect();
                let rest = if settings.len() > 4 { " …" } else { "" };
                let name =
                    format!("parameters × 2 and ÷ 2, {seed} ({}{rest}){beside_inputs}", list.join(", "));
                (name, random(100 + seed), settings)
            }
            Motion::Starts(seed) => (
                format!("other start values, {seed}{beside_inputs}"),
                random(200 + seed),
                self.moved_starts(seed),
            ),
        };
        let moves = match motion {
            Motion::Parameters(_) | Motion::Starts(_) => !settings.is_empty(),
            _ => has_inputs,
        };
        moves.then(|| Scenario {
            name,
            experiment: self.experiment(table, settings),
            steps: self.clock.steps,
        })
    }

    fn experiment(&self, table: InputTable, settings: Vec<Setting>) -> Experiment {
        let bound = self.columns.iter().filter(|column| table.column(&column.name).is_some()).cloned();
        Experiment {
            start: self.base.start,
            stop: self.base.start + self.clock.steps as f64 * self.clock.step,
            settings: self.base.settings.iter().cloned().chain(settings).collect(),
            columns: bound.collect(),
            inputs: (!self.driven.is_empty()).then_some(table),
            ..Experiment::default()
        }
    }

    /// Every Real parameter up or down by the factor; of two seeds that follow each other, an odd and an even one, the second does the
    /// opposite of the first.
    fn moved_parameters(&self, seed: u64) -> Vec<Setting> {
        let mut random = Random::new(seed.div_ceil(2));
        let opposite = seed.is_multiple_of(2);
        let parameters = self.description.variables.iter().filter(|it| {
            it.causality == Causality::Parameter
                && it.kind == Kind::Real
                && matches!(it.variability, Variability::Fixed | Variability::Tunable)
        });
        self.settings(parameters, |variable| {
            let up = (random.unit() < 0.5) != opposite;
            self.ranges.scaled(variable, if up { FACTOR } else { 1.0 / FACTOR })
        })
    }

    /// Every state whose start value may be set, off by a share of its size.
    fn moved_starts(&self, seed: u64) -> Vec<Setting> {
        let mut random = Random::new(seed);
        let states = self.description.states();
        let variables = states.iter().filter_map(|state| self.description.variables.get(state.state?));
        let settable = variables.filter(|it| it.initial == Some(Initial::Exact) && it.start.is_some());
        self.settings(settable, |variable| {
            let start = variable.start_real()?;
            let nominal = variable.nominal.map(f64::abs).filter(|&nominal| believable(nominal, start.abs()));
            let size = nominal.map_or(start.abs(), |nominal| nominal.max(start.abs()));
            let value = start + BESIDE * (2.0 * random.unit() - 1.0) * size;
            let value = value.max(variable.min.unwrap_or(value)).min(variable.max.unwrap_or(value));
            (value.is_finite() && value != start).then_some(value)
        })
    }

    /// What the user has set stays as it is.
    fn settings<'a>(
        &self,
        variables: impl Iterator<Item = &'a ScalarVariable>,
        mut value: impl FnMut(&ScalarVariable) -> Option<f64>,
    ) -> Vec<Setting> {
        let mut settings: Vec<Setting> = Vec::new();
        for variable in variables {
            let Some(value) = value(variable) else { continue };
            let taken = |it: &Setting| it.reference == variable.value_reference || it.name == variable.name;
            if !self.base.settings.iter().chain(&settings).any(taken) {
                let (name, reference) = (variable.name.clone(), variable.value_reference);
                settings.push(Setting { name, reference, value: Value::Real(value) });
            }
        }
        settings
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn description(model: &str) -> ModelDescription {
        model_description::read(reference_fmus::find(model).unwrap().xml().as_bytes()).unwrap()
    }

    fn base() -> Experiment {
        Experiment { stop: 5.0, ..Experiment::default() }
    }

    const EXTENT: Extent = Extent { step: 1e-3, steps: 400, count: None };

    /// The drive line offers everything: continuous inputs with ranges, a discrete one, parameters, start values.
    #[test]
    fn a_model_with_inputs_and_parameters_gets_every_kind() {
        let found = explore(&description("drive-line"), &base(), &Ranges::default(), EXTENT);
        let names: Vec<&str> = found.scenarios.iter().map(|it| it.name.as_str()).collect();
        assert_eq!(names.len(), 7, "{names:?}");
        assert_eq!(found.ranges[0], "T_engine = -50 … 250 N.m (min, max)");
        assert_eq!(found.ranges.last().unwrap(), "gear = 1, 2, 3, 4, 5");
        let steps = &found.scenarios[1].experiment;
        assert_eq!(steps.columns.len(), 5);
        assert_eq!(steps.columns[4].signal, Signal::Integer);
        // Each parameter is once twice as large and once half as large.
        let value = |scenario: usize, name: &str| {
            let settings = &found.scenarios[scenario].experiment.settings;
            match settings.iter().find(|it| it.name == name).unwrap().value {
                Value::Real(value) => value,
                _ => panic!("{name} is a Real"),
            }
        };
        assert_eq!(value(2, "J_e") * value(3, "J_e"), 0.2 * 0.2);
        assert_ne!(value(2, "J_e"), 0.2);
        assert_eq!(found, explore(&description("drive-line"), &base(), &Ranges::default(), EXTENT));
    }

    #[test]
    fn a_model_without_inputs_is_moved_by_parameters_and_start_values() {
        let found = explore(&description("van-der-pol"), &base(), &Ranges::default(), EXTENT);
        assert_eq!(found.scenarios.len(), 3);
        assert!(found.scenarios.iter().all(|it| it.experiment.inputs.is_none()));
    }

    #[test]
    fn none_means_none_and_more_means_more() {
        let count = |count| {
            let extent = Extent { count: Some(count), ..EXTENT };
            explore(&description("two-mass"), &base(), &Ranges::default(), extent).scenarios.len()
        };
        assert_eq!((count(0), count(2), count(20)), (0, 2, 20));
    }

    /// What the user says comes first, then min and max, then a guess that says so.
    #[test]
    fn ranges_are_taken_where_they_are_known() {
        let ranges = Ranges { given: vec![("T_load".into(), -5.0, 5.0)], ..Ranges::default() };
        let found = explore(&description("dc-drive"), &base(), &ranges, EXTENT);
        assert_eq!(found.ranges, ["u = 12 … 36 V (start ± 50 %)", "T_load = -5 … 5 N.m (--range)"]);
        let pipe = explore(&description("pipe"), &base(), &Ranges::default(), EXTENT);
        assert!(pipe.ranges.iter().any(|text| text.starts_with("T_in = 560 … 840 K")), "{:?}", pipe.ranges);
    }

    /// What was set with --set is not moved, and inputs start from there.
    #[test]
    fn settings_of_the_user_stay() {
        let setting = |name: &str, reference, value| Setting {
            name: name.into(),
            reference,
            value: Value::Real(value),
        };
        let base = Experiment { settings: vec![setting("u", 9, 10.0), setting("R", 11, 0.7)], ..base() };
        let found = explore(&description("dc-drive"), &base, &Ranges::default(), EXTENT);
        for scenario in &found.scenarios {
            let of_r: Vec<_> = scenario.experiment.settings.iter().filter(|it| it.name == "R").collect();
            assert_eq!(of_r.len(), 1);
            let table = scenario.experiment.inputs.as_ref().unwrap();
            assert_eq!(table.value_held(table.column("u").unwrap(), 0.0), 10.0, "{}", scenario.name);
        }
    }
}
