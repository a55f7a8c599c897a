//! The FMU's interface: what its description alone says of names, references, roles and abilities.
//!
//! It is all that a worker needs to run the model, and one of the three values that a plan is made of (see `assemble`).

use crate::lab::protocol::path;
use fmu_runtime::plan::{self, Array, Clock, Inner, Interval, Plan, States, Table, Variables};
use fmu_runtime::value::Type;
use model_description::{
    Causality, Fmi3, IntervalVariability, Kind, ModelDescription, ScalarVariable, Variability,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Interface {
    /// The folder of the unpacked FMU.
    #[serde(with = "path")]
    pub root: PathBuf,
    pub name: String,
    /// `modelIdentifier`: the base name of its library.
    pub identifier: String,
    pub guid: String,
    pub log_categories: Vec<String>,
    pub can_get_and_set_state: bool,
    pub can_serialize_state: bool,
    pub provides_directional_derivative: bool,
    pub instantiate_only_once: bool,
    /// It may be evaluated at states beside its run, and `fmi2FreeInstance` may be called: false where that ends its process.
    pub can_be_moved: bool,
    pub can_be_freed: bool,
    /// It writes more values than it should into the vectors that it is given.
    pub writes_beyond: bool,
    /// Its event indicators are not always numbers: one that is none keeps its sign.
    pub indicators_may_be_nan: bool,
    /// `fmi2CompletedIntegratorStep` must be called after every step.
    pub completed_step_needed: bool,
    /// `DefaultExperiment tolerance`, for FMUs with solvers of their own.
    pub tolerance: Option<f64>,
    pub state_names: Vec<String>,
    /// Value references of the states and of their derivatives; both empty where some state has none.
    pub state_references: Vec<u32>,
    pub derivative_references: Vec<u32>,
    /// The states' nominal values, where the description gives usable ones.
    pub nominals: Vec<Option<f64>>,
    pub indicators: u32,
    pub variables: Variables,
    /// Real outputs whose trajectories are compared; without any, the states are.
    pub outputs: Vec<u32>,
    pub output_names: Vec<String>,
    /// Outputs that are no Reals, with their types.
    pub discrete_outputs: Vec<(u32, Type)>,
    /// What stands behind these scalars in an FMU of FMI 3.0.
    pub inner: Option<Inner>,
    /// The variables of the new FMU, where it is written as one of FMI 3.0.
    pub shell: Option<Vec<Array>>,
    /// The model has a variable for time.
    pub has_time: bool,
}

impl Interface {
    /// Of the FMU that is unpacked in `root`.
    pub fn new(root: PathBuf, description: &ModelDescription) -> Interface {
        let variables = &description.variables;
        let exchange = description.model_exchange.clone().unwrap_or_default();
        let states = description.states();
        let references = states.iter().map(|state| Some(variables[state.state?].value_reference));
        let references: Option<Vec<u32>> = references.collect();
        let derivatives = states.iter().map(|state| variables[state.derivative].value_reference);
        let outputs = real_outputs(description);
        Interface {
            root,
            name: description.model_name.clone(),
            identifier: exchange.model_identifier,
            guid: description.guid.clone(),
            log_categories: description.log_categories.clone(),
            can_get_and_set_state: exchange.can_get_and_set_fmu_state,
            can_serialize_state: exchange.can_get_and_set_fmu_state && exchange.can_serialize_fmu_state,
            provides_directional_derivative: exchange.provides_directional_derivative,
            instantiate_only_once: exchange.can_be_instantiated_only_once_per_process,
            can_be_moved: true,
            can_be_freed: true,
            writes_beyond: false,
            indicators_may_be_nan: false,
            completed_step_needed: !exchange.completed_integrator_step_not_needed,
            tolerance: description.default_experiment.tolerance,
            state_names: states
                .iter()
                .map(|state| match state.state {
                    Some(state) => variables[state].name.clone(),
                    None => format!("the state of {}", variables[state.derivative].name),
                })
                .collect(),
            derivative_references: references.as_ref().map_or(Vec::new(), |_| derivatives.collect()),
            state_references: references.unwrap_or_default(),
            nominals: states.iter().map(|state| nominal(description, state.state)).collect(),
            indicators: description.number_of_event_indicators as u32,
            variables: tables(description),
            outputs: outputs.iter().map(|&output| variables[output].value_reference).collect(),
            output_names: outputs.iter().map(|&output| variables[output].name.clone()).collect(),
            discrete_outputs: discrete_outputs(description)
                .map(|output| (output.value_reference, type_of(output.kind)))
                .collect(),
            inner: description.fmi3.as_ref().map(inner),
            shell: None,
            has_time: variables.iter().any(|variable| variable.causality == Causality::Independent),
        }
    }

    /// The same for a new FMU of FMI 3.0.
    pub fn written_as_fmi3(self, description: &ModelDescription) -> Interface {
        Interface { shell: Some(description.shell().iter().filter_map(array).collect()), ..self }
    }

    /// Of the FMU inside a finished one, unpacked in `root`: its plan tells what a session needs. Nothing is compared.
    pub fn inside(root: PathBuf, plan: Plan) -> Interface {
        let Plan { model, states, variables, events, inner, .. } = plan;
        Interface {
            root,
            name: model.name,
            identifier: model.identifier,
            guid: model.inner_guid,
            log_categories: model.log_categories,
            can_get_and_set_state: model.can_get_and_set_state,
            can_serialize_state: model.can_serialize_state,
            provides_directional_derivative: model.provides_directional_derivative,
            instantiate_only_once: model.instantiate_only_once,
            can_be_moved: true,
            can_be_freed: true,
            writes_beyond: model.writes_beyond,
            indicators_may_be_nan: events.may_be_nan,
            completed_step_needed: model.completed_step_needed,
            tolerance: None,
            state_names: states.names,
            state_references: states.references,
            derivative_references: states.derivative_references,
            nominals: states.nominals.into_iter().map(Some).collect(),
            indicators: events.indicators,
            variables,
            outputs: Vec::new(),
            output_names: Vec::new(),
            discrete_outputs: Vec::new(),
            inner,
            shell: None,
            has_time: true,
        }
    }

    /// The name of a quantity whose trajectory is compared.
    pub fn quantity(&self, index: usize) -> &str {
        match self.outputs.is_empty() {
            true => &self.state_names[index],
            false => &self.output_names[index],
        }
    }

    /// This output is not compared.
    pub fn leave_out(&mut self, reference: u32) {
        let kept: Vec<bool> = self.outputs.iter().map(|output| *output != reference).collect();
        let mut of_references = kept.iter();
        self.outputs.retain(|_| of_references.next() == Some(&true));
        let mut of_names = kept.iter();
        self.output_names.retain(|_| of_names.next() == Some(&true));
    }

    /// The plan's table of states.
    pub fn states(&self, nominals: Vec<f64>, sizes: Vec<f64>) -> States {
        States {
            names: self.state_names.clone(),
            references: self.state_references.clone(),
            derivative_references: self.derivative_references.clone(),
            nominals,
            sizes,
        }
    }

    /// `count` value references that no variable uses.
    pub fn fresh_references(&self, count: usize) -> Vec<u32> {
        let Variables { real, integer, boolean, string } = &self.variables;
        let tables = [real, integer, boolean, string];
        let scalars = tables.iter().flat_map(|table| &table.references).copied();
        let shell = self.shell.iter().flatten().map(|array| array.reference);
        let used: BTreeSet<u32> = scalars.chain(shell).collect();
        let first = used.last().map_or(0, |last| last.wrapping_add(1));
        // After the largest, or wherever there is room if that is at the very end.
        (first..=u32::MAX).chain(0..first).filter(|reference| !used.contains(reference)).take(count).collect()
    }
}

/// What the plan must know of an FMU of FMI 3.0.
fn inner(fmi3: &Fmi3) -> Inner {
    let mut arrays: Vec<Array> = fmi3.arrays.iter().filter_map(array).collect();
    arrays.sort_by_key(|array| array.reference);
    let changed = fmi3.structure.iter().filter(|it| it.changed);
    let structure = changed.filter_map(|it| Some((it.value_reference, plan_type(it.kind)?, it.value)));
    let clocks = fmi3.clocks.iter().filter(|clock| clock.input).filter_map(|clock| {
        let interval = match (clock.interval, clock.interval_seconds) {
            (IntervalVariability::Triggered, _) => return None,
            (IntervalVariability::Countdown, _) => Interval::Countdown,
            (IntervalVariability::Changing, _) => Interval::Changing,
            (IntervalVariability::Constant, Some(seconds)) => Interval::Constant(seconds),
            _ => Interval::Asked,
        };
        let shift = clock.shift_seconds.unwrap_or(0.0);
        Some(Clock { reference: clock.value_reference, interval, shift })
    });
    Inner { structure: structure.collect(), clocks: clocks.collect(), arrays }
}

fn array(array: &model_description::Array) -> Option<Array> {
    let model_description::Array { value_reference: reference, first, count, kind, .. } = *array;
    Some(Array { reference, kind: plan_type(kind)?, first, count })
}

/// The same type in a plan; binaries and clocks are in none.
fn plan_type(kind: model_description::Type) -> Option<plan::Type> {
    use model_description::Type as Described;
    Some(match kind {
        Described::Float32 => plan::Type::Float32,
        Described::Float64 => plan::Type::Float64,
        Described::Int8 => plan::Type::Int8,
        Described::UInt8 => plan::Type::UInt8,
        Described::Int16 => plan::Type::Int16,
        Described::UInt16 => plan::Type::UInt16,
        Described::Int32 => plan::Type::Int32,
        Described::UInt32 => plan::Type::UInt32,
        Described::Int64 => plan::Type::Int64,
        Described::UInt64 => plan::Type::UInt64,
        Described::Boolean => plan::Type::Boolean,
        Described::String => plan::Type::String,
        Described::Enumeration => plan::Type::Enumeration,
        Described::Binary | Described::Clock => return None,
    })
}

/// Real outputs, as indices of variables: what trajectories are compared by.
pub fn real_outputs(description: &ModelDescription) -> Vec<usize> {
    let variables = description.variables.iter().enumerate();
    variables
        .filter(|(_, variable)| variable.causality == Causality::Output && variable.kind == Kind::Real)
        .map(|(index, _)| index)
        .collect()
}

/// Outputs of the other types: integers, enumerations, booleans, strings.
pub fn discrete_outputs(description: &ModelDescription) -> impl Iterator<Item = &ScalarVariable> {
    let variables = description.variables.iter();
    variables.filter(|variable| variable.causality == Causality::Output && variable.kind != Kind::Real)
}

/// The type of the values of a variable.
pub fn type_of(kind: Kind) -> Type {
    match kind {
        Kind::Real => Type::Real,
        Kind::Integer | Kind::Enumeration => Type::Integer,
        Kind::Boolean => Type::Boolean,
        Kind::String => Type::Text,
    }
}

/// Can this be the nominal value of a state that has been seen to get so large? A million times off is beyond every unit's choice; a state that was seen at
/// rest only tells nothing against one of 1 or less.
pub fn believable(nominal: f64, magnitude: f64) -> bool {
    nominal <= 1e6 * magnitude.max(1.0) && nominal >= 1e-6 * magnitude.min(1.0)
}

/// A state's nominal value, if the description gives a usable one.
fn nominal(description: &ModelDescription, variable: Option<usize>) -> Option<f64> {
    let nominal = description.variables[variable?].nominal?.abs();
    (nominal > 0.0 && nominal.is_finite()).then_some(nominal)
}

fn tables(description: &ModelDescription) -> Variables {
    let table = |kinds: &[Kind]| {
        // Aliases share a reference: an input's right wins, then a parameter's.
        let mut letters: BTreeMap<u32, char> = BTreeMap::new();
        for variable in description.variables.iter().filter(|variable| kinds.contains(&variable.kind)) {
            let letter = match (variable.causality, variable.variability) {
                (Causality::Input, Variability::Continuous) => 'c',
                (Causality::Input, _) => 'd',
                (Causality::Parameter, Variability::Tunable) => 't',
                _ => 'r',
            };
            let rank = |letter| "rtdc".find(letter);
            let known = letters.entry(variable.value_reference).or_insert(letter);
            if rank(letter) > rank(*known) {
                *known = letter;
            }
        }
        Table { references: letters.keys().copied().collect(), roles: letters.values().collect() }
    };
    Variables {
        real: table(&[Kind::Real]),
        integer: table(&[Kind::Integer, Kind::Enumeration]),
        boolean: table(&[Kind::Boolean]),
        string: table(&[Kind::String]),
    }
}
