//! The model description as plain data: what the rest of fmu-build reads.
//!
//! All indices are 0-based positions in `variables`; the file counts from 1.

use crate::error::Error;
use crate::fmi3::Fmi3;
use crate::literal;
use crate::tree::Document;

/// A modelDescription.xml of FMI 2.0 or 3.0, after the repairs that `warnings` tells of. One of FMI 3.0 is shown as scalars,
/// with the names of FMI 2.0; see `fmi3`.
///
/// The fields are a view: changing them does not change what `write` and `into_co_simulation` give.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelDescription {
    pub fmi_version: String,
    pub model_name: String,
    pub guid: String,
    pub description: Option<String>,
    pub author: Option<String>,
    pub version: Option<String>,
    pub generation_tool: Option<String>,
    pub generation_date_and_time: Option<String>,
    /// Absent in the file: 0.
    pub number_of_event_indicators: usize,
    pub model_exchange: Option<ModelExchange>,
    /// Whether the FMU is for Co-Simulation too.
    pub co_simulation: bool,
    pub default_experiment: DefaultExperiment,
    pub log_categories: Vec<String>,
    pub variables: Vec<ScalarVariable>,
    pub structure: ModelStructure,
    /// What was read tolerantly, by element, variable and line.
    pub warnings: Vec<String>,
    /// Parameters and inputs whose required start value is missing in the file and was made up
    /// (0, false, ""). Who can ask the FMU for the true value gives it to `set_start`.
    pub invented_starts: Vec<usize>,
    /// What FMI 3.0 has beyond these scalars; `None`: the file is one of FMI 2.0.
    pub fmi3: Option<Fmi3>,
    /// As read: what `write` gives.
    pub(crate) original: Document,
    /// As it should be, in FMI 2.0: what the fields above show and `into_co_simulation` starts from.
    pub(crate) repaired: Document,
}

/// The attributes of `<ModelExchange>`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelExchange {
    pub model_identifier: String,
    pub needs_execution_tool: bool,
    pub completed_integrator_step_not_needed: bool,
    pub can_be_instantiated_only_once_per_process: bool,
    pub can_not_use_memory_management_functions: bool,
    pub can_get_and_set_fmu_state: bool,
    pub can_serialize_fmu_state: bool,
    pub provides_directional_derivative: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct DefaultExperiment {
    pub start_time: Option<f64>,
    pub stop_time: Option<f64>,
    pub tolerance: Option<f64>,
    pub step_size: Option<f64>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct ScalarVariable {
    pub name: String,
    pub value_reference: u32,
    pub description: Option<String>,
    pub causality: Causality,
    pub variability: Variability,
    /// The effective one: given, or the default of the table of FMI 2.0 (an input is `Exact`).
    /// `None` only for the independent variable.
    pub initial: Option<Initial>,
    pub kind: Kind,
    /// As the file writes it; see `start_real` and its like.
    pub start: Option<String>,
    /// Own, or that of the declared type.
    pub unit: Option<String>,
    pub nominal: Option<f64>,
    pub min: Option<f64>,
    pub max: Option<f64>,
    /// The variable that this one is the time derivative of.
    pub derivative: Option<usize>,
    /// Of the `<ScalarVariable>` in the file.
    pub line: usize,
}

impl ScalarVariable {
    pub fn start_real(&self) -> Option<f64> {
        self.start.as_deref().and_then(literal::parse_double)
    }

    /// For `Integer` and `Enumeration`.
    pub fn start_integer(&self) -> Option<i32> {
        self.start.as_deref().and_then(literal::int)?.parse().ok()
    }

    pub fn start_boolean(&self) -> Option<bool> {
        self.start.as_deref().and_then(literal::parse_boolean)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Causality {
    Parameter,
    CalculatedParameter,
    Input,
    Output,
    Local,
    Independent,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Variability {
    Constant,
    Fixed,
    Tunable,
    Discrete,
    Continuous,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Initial {
    Exact,
    Approx,
    Calculated,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Kind {
    Real,
    Integer,
    Boolean,
    String,
    Enumeration,
}

#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ModelStructure {
    pub outputs: Vec<Unknown>,
    /// The order is that of `fmi2GetContinuousStates`.
    pub derivatives: Vec<Unknown>,
    pub initial_unknowns: Vec<Unknown>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    pub variable: usize,
    pub dependencies: Dependencies,
}

/// Absent and empty are opposites in FMI.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Dependencies {
    /// Nothing was said: it may depend on every known.
    All,
    /// It depends on these only; on nothing if there are none. Ascending.
    Listed(Vec<(usize, DependencyKind)>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DependencyKind {
    Dependent,
    Constant,
    Fixed,
    Tunable,
    Discrete,
}

/// A continuous state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct State {
    /// The variable that holds its derivative.
    pub derivative: usize,
    /// The variable that holds the state itself; `None` if the file does not tell.
    pub state: Option<usize>,
}

impl ModelDescription {
    /// One per entry of `ModelStructure/Derivatives`, in the order of `fmi2GetContinuousStates`.
    pub fn states(&self) -> Vec<State> {
        let state =
            |u: &Unknown| State { derivative: u.variable, state: self.variables[u.variable].derivative };
        self.structure.derivatives.iter().map(state).collect()
    }

    /// The Model-Exchange part. Its `modelIdentifier` is a plain name: it is looked up as a file, and must not lead anywhere else.
    pub fn require_model_exchange(&self) -> Result<&ModelExchange, Error> {
        let exchange = self.model_exchange.as_ref();
        let exchange = exchange.ok_or_else(|| Error::NotModelExchange { model: self.model_name.clone() })?;
        match is_plain_name(&exchange.model_identifier) {
            true => Ok(exchange),
            false => Err(Error::BadIdentifier { found: exchange.model_identifier.clone() }),
        }
    }

    /// The file as it was read, in UTF-8, nothing lost and nothing repaired.
    pub fn write(&self) -> Vec<u8> {
        crate::write::write(&self.original)
    }

    /// Replace a start value in what `into_co_simulation` gives; meant for `invented_starts`.
    /// Nothing happens if the variable has none.
    pub fn set_start(&mut self, variable: usize, start: &str) {
        let Some(view) = self.variables.get_mut(variable).filter(|v| v.start.is_some()) else { return };
        let element =
            self.repaired.root.child_mut("ModelVariables").and_then(|v| v.elements_mut().nth(variable));
        if let Some(value) = element.and_then(|e| e.child_mut(view.kind.element())) {
            value.set("start", start);
            view.start = Some(start.to_string());
            self.invented_starts.retain(|v| *v != variable);
        }
    }
}

/// Can this be the name of a file, on every system, and nothing else?
fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 200
        && !name.starts_with('.')
        && !name.contains(|c: char| c.is_control() || "/\\:*?\"<>|".contains(c))
}

/// The words of the file for an enumeration.
macro_rules! words {
    ($type:ident, $method:ident: $($variant:ident $word:literal),+) => {
        impl $type {
            pub fn $method(self) -> &'static str {
                match self { $($type::$variant => $word),+ }
            }

            /// Case and space around do not matter.
            pub(crate) fn from_word(word: &str) -> Option<Self> {
                let word = word.trim();
                $(if word.eq_ignore_ascii_case($word) { return Some($type::$variant) })+
                None
            }
        }
    };
}

words!(Causality, word: Parameter "parameter", CalculatedParameter "calculatedParameter", Input "input",
    Output "output", Local "local", Independent "independent");
words!(Variability, word: Constant "constant", Fixed "fixed", Tunable "tunable", Discrete "discrete",
    Continuous "continuous");
words!(Initial, word: Exact "exact", Approx "approx", Calculated "calculated");
words!(Kind, element: Real "Real", Integer "Integer", Boolean "Boolean", String "String",
    Enumeration "Enumeration");
words!(DependencyKind, word: Dependent "dependent", Constant "constant", Fixed "fixed", Tunable "tunable",
    Discrete "discrete");
