//! The Model-Exchange FMU as it came: unpacked, its description read, its binary found.

use crate::archive::{self, Unpacked};
use crate::error::Error;
use crate::experiment::{self, Experiment, Setting, Value};
use crate::options::Run;
use crate::scratch::Scratch;
use crate::worker::{Declared, Subject};
use fmu_runtime::plan::{
    self, Elimination, Events, Jacobian, Method, Model, Plan, Policy, States, Step, Table, Variables,
};
use fmu_runtime::platform;
use model_description::{
    Causality, Dependencies, DependencyKind, Kind, ModelDescription, ScalarVariable, Variability,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

pub struct Source {
    pub path: PathBuf,
    pub description: ModelDescription,
    pub archive: Unpacked,
    /// Holds the unpacked FMU and the workers' files; removed on drop.
    pub scratch: Scratch,
    /// Index of each state's own variable, where the description tells.
    state_variables: Vec<Option<usize>>,
}

/// Events per communication step, iterations per event.
const EVENTS_PER_STEP: u32 = 8;
const EVENT_ITERATIONS: u32 = 100;
/// Where the limiter of methods of higher order begins, in parts of a state's size.
const LIMIT: f64 = 1e-2;

impl Source {
    pub fn open(path: &Path) -> Result<Source, Error> {
        let scratch = Scratch::new()?;
        let root = scratch.path().join("fmu");
        std::fs::create_dir(&root).map_err(Error::io("make", &root))?;
        let archive = archive::unpack(path, &root)?;
        let file = root.join("modelDescription.xml");
        if !file.is_file() {
            let nested = archive.entries.iter().find(|entry| entry.name.ends_with("/modelDescription.xml"));
            let found = nested.map(|entry| entry.name.clone());
            return Err(Error::NoDescription { path: path.into(), found });
        }
        let bytes = std::fs::read(&file).map_err(Error::io("read", &file))?;
        let describe = |source| Error::Description { path: path.into(), source };
        let description = model_description::read(&bytes).map_err(describe)?;
        let exchange = description.require_model_exchange().map_err(describe)?;
        if exchange.needs_execution_tool {
            return Err(Error::NeedsTool { path: path.into() });
        }
        if !platform::HOST.library(&root, &exchange.model_identifier).is_file() {
            let mut found: Vec<String> = archive
                .entries
                .iter()
                .filter(|entry| !entry.is_dir)
                .filter_map(|entry| entry.name.strip_prefix("binaries/"))
                .map(|name| format!("binaries/{name}"))
                .collect();
            found.truncate(8);
            let platform = platform::HOST.name;
            let wanted = platform::HOST.entry(platform, &exchange.model_identifier);
            return Err(Error::NoBinary { path: path.into(), wanted, platform, found });
        }
        let state_variables = description.states().iter().map(|state| state.state).collect();
        Ok(Source { path: path.into(), description, archive, scratch, state_variables })
    }

    /// The folder of the unpacked FMU.
    pub fn root(&self) -> PathBuf {
        self.scratch.path().join("fmu")
    }

    /// Under which name the model's own front page stays in `documentation/`, if it has one: ours takes its place.
    pub fn documentation(&self) -> Option<String> {
        let has = |page: &str| {
            let name = format!("documentation/{page}");
            self.archive.entries.iter().any(|entry| entry.name.eq_ignore_ascii_case(&name))
        };
        if !has("index.html") {
            return None;
        }
        let more = (2..).map(|number| format!("model-{number}.html"));
        std::iter::once("model.html".to_string()).chain(more).find(|page| !has(page))
    }

    pub fn identifier(&self) -> &str {
        self.description.model_exchange.as_ref().map_or("", |exchange| &exchange.model_identifier)
    }

    /// The subject of study: the plan has everything that description and request alone decide. State events are located to
    /// within `precision` of a step.
    pub fn subject(&self, experiment: Experiment, h: f64, substeps: u32, precision: f64) -> Subject {
        let variables = &self.description.variables;
        Subject {
            root: self.root(),
            plan: self.plan(h, substeps, precision),
            experiment,
            tolerance: self.description.default_experiment.tolerance,
            outputs: self.outputs().iter().map(|&output| variables[output].value_reference).collect(),
            output_names: self.outputs().iter().map(|&output| variables[output].name.clone()).collect(),
            discrete_outputs: self
                .discrete_outputs()
                .iter()
                .map(|&output| (variables[output].value_reference, example(variables[output].kind)))
                .collect(),
        }
    }

    /// Real outputs: what trajectories are compared by.
    pub fn outputs(&self) -> Vec<usize> {
        let variables = self.description.variables.iter().enumerate();
        variables
            .filter(|(_, variable)| variable.causality == Causality::Output && variable.kind == Kind::Real)
            .map(|(index, _)| index)
            .collect()
    }

    /// Outputs of the other types: integers, enumerations, booleans, strings.
    pub fn discrete_outputs(&self) -> Vec<usize> {
        let variables = self.description.variables.iter().enumerate();
        variables
            .filter(|(_, variable)| variable.causality == Causality::Output && variable.kind != Kind::Real)
            .map(|(index, _)| index)
            .collect()
    }

    /// The description lists time among what a derivative depends on.
    pub fn time_declared(&self) -> bool {
        let variables = &self.description.variables;
        let derivatives = self.description.structure.derivatives.iter();
        derivatives.into_iter().any(|unknown| match &unknown.dependencies {
            Dependencies::All => false,
            Dependencies::Listed(listed) => {
                listed.iter().any(|(index, _)| variables[*index].causality == Causality::Independent)
            }
        })
    }

    fn plan(&self, h: f64, substeps: u32, precision: f64) -> Plan {
        let description = &self.description;
        let exchange = description.model_exchange.clone().unwrap_or_default();
        Plan {
            version: plan::VERSION,
            model: Model {
                name: description.model_name.clone(),
                identifier: exchange.model_identifier,
                inner_guid: description.guid.clone(),
                guid: String::new(),
                log_categories: description.log_categories.clone(),
                can_get_and_set_state: exchange.can_get_and_set_fmu_state,
                can_serialize_state: exchange.can_get_and_set_fmu_state && exchange.can_serialize_fmu_state,
                provides_directional_derivative: exchange.provides_directional_derivative,
                instantiate_only_once: exchange.can_be_instantiated_only_once_per_process,
                completed_step_needed: !exchange.completed_integrator_step_not_needed,
                time_invariant: false,
                outputs_need_evaluation: false,
            },
            step: Step { method: Method::Lie, h, substeps, limit: LIMIT },
            watch: None,
            fallback: None,
            states: self.states(),
            variables: self.variables(),
            jacobian: Jacobian {
                rows: Vec::new(),
                cols: Vec::new(),
                policy: Policy::Frozen,
                source: plan::Source::Differences,
                setup: Vec::new(),
                colours: Vec::new(),
            },
            elimination: Elimination::default(),
            events: Events {
                indicators: description.number_of_event_indicators as u32,
                bisections: (1.0 / precision).log2().ceil().clamp(1.0, 30.0) as u32,
                max_per_step: EVENTS_PER_STEP,
                max_iterations: EVENT_ITERATIONS,
            },
            diagnostics: Vec::new(),
        }
    }

    fn states(&self) -> States {
        let variables = &self.description.variables;
        let derivatives: Vec<usize> =
            self.description.states().iter().map(|state| state.derivative).collect();
        let names = self.state_variables.iter().zip(&derivatives);
        let references: Option<Vec<u32>> = self
            .state_variables
            .iter()
            .map(|variable| variable.map(|index| variables[index].value_reference))
            .collect();
        let nominal = |variable: &Option<usize>| self.nominal(*variable).unwrap_or(1.0);
        let nominals: Vec<f64> = self.state_variables.iter().map(nominal).collect();
        States {
            names: names
                .map(|(state, &derivative)| match state {
                    Some(state) => variables[*state].name.clone(),
                    None => format!("the state of {}", variables[derivative].name),
                })
                .collect(),
            derivative_references: match references {
                Some(_) => derivatives.iter().map(|&index| variables[index].value_reference).collect(),
                None => Vec::new(),
            },
            references: references.unwrap_or_default(),
            sizes: nominals.clone(),
            nominals,
        }
    }

    /// A state's nominal value, if the description gives a usable one.
    pub fn nominal(&self, variable: Option<usize>) -> Option<f64> {
        let nominal = self.description.variables[variable?].nominal?.abs();
        (nominal > 0.0 && nominal.is_finite()).then_some(nominal)
    }

    pub fn state_variable(&self, state: usize) -> Option<usize> {
        self.state_variables[state]
    }

    fn variables(&self) -> Variables {
        let table = |kinds: &[Kind]| {
            // Aliases share a reference: an input's right wins, then a parameter's.
            let mut letters: BTreeMap<u32, char> = BTreeMap::new();
            for variable in
                self.description.variables.iter().filter(|variable| kinds.contains(&variable.kind))
            {
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

    /// What the description says of each derivative's dependence on states.
    pub fn declared(&self) -> Vec<Declared> {
        let state_of: BTreeMap<usize, u32> = self
            .state_variables
            .iter()
            .enumerate()
            .filter_map(|(state, variable)| variable.map(|variable| (variable, state as u32)))
            .collect();
        // A dependency on an alias of a state is one on the state.
        let references: BTreeMap<u32, u32> = state_of
            .iter()
            .map(|(&variable, &state)| (self.description.variables[variable].value_reference, state))
            .collect();
        let complete = state_of.len() == self.state_variables.len();
        self.description
            .structure
            .derivatives
            .iter()
            .map(|unknown| match &unknown.dependencies {
                Dependencies::All => None,
                Dependencies::Listed(_) if !complete => None,
                Dependencies::Listed(listed) => {
                    let mut row: BTreeMap<u32, bool> = BTreeMap::new();
                    for (variable, kind) in listed {
                        let own = state_of.get(variable).copied();
                        let variable = &self.description.variables[*variable];
                        let alias = || {
                            let real = variable.kind == Kind::Real;
                            references.get(&variable.value_reference).copied().filter(|_| real)
                        };
                        if let Some(state) = own.or_else(alias) {
                            let constant = matches!(
                                kind,
                                DependencyKind::Constant | DependencyKind::Fixed | DependencyKind::Tunable
                            );
                            *row.entry(state).or_insert(constant) &= constant;
                        }
                    }
                    Some(row.into_iter().collect())
                }
            })
            .collect()
    }

    /// Outputs that the description lets depend on inputs directly: (output, its inputs, or `None` for any).
    pub fn feedthrough(&self) -> Vec<(String, Option<Vec<String>>)> {
        let variables = &self.description.variables;
        let any_input = variables.iter().any(|variable| variable.causality == Causality::Input);
        let outputs = self.description.structure.outputs.iter();
        outputs
            .filter_map(|unknown| {
                let inputs = match &unknown.dependencies {
                    Dependencies::All => any_input.then_some(None)?,
                    Dependencies::Listed(listed) => {
                        let known = listed.iter().map(|(index, _)| &variables[*index]);
                        let inputs = known.filter(|known| known.causality == Causality::Input);
                        let names: Vec<String> = inputs.map(|input| input.name.clone()).collect();
                        Some(names).filter(|names| !names.is_empty()).map(Some)?
                    }
                };
                Some((variables[unknown.variable].name.clone(), inputs))
            })
            .collect()
    }

    /// The runs that were asked for, with every name resolved: one for each file of inputs, or one without any.
    pub fn experiments(&self, run: &Run) -> Result<Vec<Experiment>, Error> {
        let default = &self.description.default_experiment;
        let start = run.start.or(default.start_time).unwrap_or(0.0);
        let stop = run.stop.or(default.stop_time.filter(|&stop| stop > start)).unwrap_or(start + 1.0);
        if stop <= start {
            return Err(Error::Request(format!(
                "the run would stop at {stop} s, not after its start at {start} s; give another --stop or --start"
            )));
        }
        for range in &run.ranges {
            if self.find(&range.name).is_none() {
                let (name, low, high) = (&range.name, range.low, range.high);
                return Err(Error::Request(format!(
                    "--range {name}={low}:{high}: {} has no variable {name}{}",
                    self.path.display(),
                    self.similar(name)
                )));
            }
        }
        let settings =
            run.set.iter().map(|(name, value)| self.setting(name, value)).collect::<Result<Vec<_>, _>>()?;
        let alone =
            Experiment { start, stop, settings, inputs: None, columns: Vec::new(), ignored: Vec::new() };
        if run.inputs.is_empty() {
            return Ok(vec![alone]);
        }
        let driven = run.inputs.iter().map(|path| {
            let bound = experiment::bind(path, &self.description)?;
            let (inputs, columns, ignored) = (Some(bound.table), bound.columns, bound.ignored);
            Ok(Experiment { inputs, columns, ignored, ..alone.clone() })
        });
        driven.collect()
    }

    /// What to say of columns of the input file that fit no variable.
    pub fn ignored_columns(&self, experiment: &Experiment) -> Option<String> {
        if experiment.ignored.is_empty() {
            return None;
        }
        let inputs = self.description.variables.iter().filter(|it| it.causality == Causality::Input);
        let inputs: Vec<&str> = inputs.map(|it| it.name.as_str()).take(12).collect();
        Some(format!(
            "the input file's columns {} fit no input and no tunable parameter of the model (its inputs: {})",
            experiment.ignored.join(", "),
            if inputs.is_empty() { "none".into() } else { inputs.join(", ") }
        ))
    }

    fn find(&self, name: &str) -> Option<&ScalarVariable> {
        self.description.variables.iter().find(|variable| variable.name == name)
    }

    fn setting(&self, name: &str, value: &str) -> Result<Setting, Error> {
        let Some(variable) = self.find(name) else {
            return Err(Error::Request(format!(
                "--set {name}={value}: {} has no variable {name}{}",
                self.path.display(),
                self.similar(name)
            )));
        };
        let wrong = |what: &str| {
            Error::Request(format!(
                "--set {name}={value}: {name} is {what}, and {value:?} is not; give such a value"
            ))
        };
        let value = match variable.kind {
            Kind::Real => Value::Real(
                value.parse().ok().filter(|v: &f64| v.is_finite()).ok_or_else(|| wrong("a Real"))?,
            ),
            Kind::Integer | Kind::Enumeration => {
                Value::Integer(value.parse().map_err(|_| wrong("an Integer"))?)
            }
            Kind::Boolean => match value {
                "true" | "1" => Value::Boolean(true),
                "false" | "0" => Value::Boolean(false),
                _ => return Err(wrong("a Boolean (true or false)")),
            },
            Kind::String => Value::Text(value.to_string()),
        };
        Ok(Setting { name: name.to_string(), reference: variable.value_reference, value })
    }

    /// The nearest name, as a hint: the same but for case or a path before it, or one that differs by little.
    fn similar(&self, name: &str) -> String {
        let lower = name.to_lowercase();
        let names = || self.description.variables.iter().map(|variable| variable.name.as_str());
        let same = names().find(|other| {
            let other = other.to_lowercase();
            other == lower || other.ends_with(&format!(".{lower}")) || lower.ends_with(&format!(".{other}"))
        });
        let likeness = |other: &str| strsim::normalized_damerau_levenshtein(&lower, &other.to_lowercase());
        let near = same.or_else(|| {
            let best = names().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
            (likeness(best) >= 0.7).then_some(best)
        });
        near.map_or(String::new(), |name| format!("; did you mean {name}?"))
    }

    /// Variables whose start value is missing in the file, though FMI demands one: the FMU itself is asked.
    pub fn invented_starts(&self) -> Vec<(u32, Value)> {
        let invented =
            self.description.invented_starts.iter().map(|&index| &self.description.variables[index]);
        invented.map(|variable| (variable.value_reference, example(variable.kind))).collect()
    }

    /// What it answered, in the same order.
    pub fn set_starts(&mut self, told: &[Option<Value>]) {
        for (index, value) in self.description.invented_starts.clone().into_iter().zip(told) {
            let text = match value {
                Some(Value::Real(value)) => format!("{value:?}"),
                Some(Value::Integer(value)) => value.to_string(),
                Some(Value::Boolean(value)) => value.to_string(),
                Some(Value::Text(value)) => value.clone(),
                None => continue,
            };
            self.description.set_start(index, &text);
        }
    }

    /// `count` value references that no variable uses.
    pub fn fresh_references(&self, count: usize) -> Vec<u32> {
        let used: std::collections::BTreeSet<u32> =
            self.description.variables.iter().map(|variable| variable.value_reference).collect();
        let first = used.last().map_or(0, |last| last.wrapping_add(1));
        // After the largest, or wherever there is room if that is at the very end.
        (first..=u32::MAX).chain(0..first).filter(|reference| !used.contains(reference)).take(count).collect()
    }
}

/// A value of this type.
fn example(kind: Kind) -> Value {
    match kind {
        Kind::Real => Value::Real(0.0),
        Kind::Integer | Kind::Enumeration => Value::Integer(0),
        Kind::Boolean => Value::Boolean(false),
        Kind::String => Value::Text(String::new()),
    }
}
