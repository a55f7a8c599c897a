//! The Model-Exchange FMU as it came: unpacked, its description read, its binary found.

pub mod ability;
pub mod interface;

use crate::archive::{self, Unpacked};
use crate::error::Error;
use crate::experiment::{self, End, Experiment, Setting, Value};
use crate::findings::Declared;
use crate::near::did_you_mean;
use crate::options::{Compilation, Fmi, Limits, Run};
use crate::scratch::Scratch;
use crate::sources::{self, Compiled};
use crate::units::Units;
use crate::warning::IgnoredColumns;
use fmu_runtime::platform;
use fmu_runtime::value::Type;
use model_description::{
    Causality, Dependencies, DependencyKind, IntervalVariability, Kind, ModelDescription, ScalarVariable,
};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use interface::{Interface, type_of};

const DESCRIPTION: &str = "modelDescription.xml";
/// Bytes. A million variables take 150 to 400 megabytes, and as a tree fifteen times that: whoever sends more of it means to fill the
/// memory of this process, which has no limit of its own.
pub const LONGEST_DESCRIPTION: u64 = 512 << 20;

/// Event indicators that are believed: a hundred times what the largest models have, and eight megabytes for each vector of them.
const MOST_INDICATORS: usize = 1_000_000;

/// The description of the FMU `path`, unpacked in `root`, if it is not longer than `most`. `sizes`: values for structural
/// parameters, by name.
pub fn read_description(
    path: &Path,
    root: &Path,
    most: u64,
    sizes: &[(String, u64)],
) -> Result<ModelDescription, Error> {
    let file = root.join(DESCRIPTION);
    let found = std::fs::metadata(&file).map_err(Error::io("read", &file))?.len();
    if found > most {
        return Err(Error::LongDescription { path: path.into(), found, most });
    }
    let bytes = std::fs::read(&file).map_err(Error::io("read", &file))?;
    model_description::read_sized(&bytes, sizes)
        .map_err(|source| Error::Description { path: path.into(), source })
}

pub struct Source {
    pub path: PathBuf,
    pub description: ModelDescription,
    pub archive: Unpacked,
    /// The library that was made here of the FMU's sources.
    pub compiled: Option<Compiled>,
    /// Holds the unpacked FMU and the workers' files; removed on drop.
    pub scratch: Scratch,
    /// Index of each state's own variable, where the description tells.
    state_variables: Vec<Option<usize>>,
    /// References of outputs that are not compared.
    pub left_out: Vec<u32>,
    /// The version of FMI that the new FMU is of.
    pub written_as: Fmi,
}

impl Source {
    /// Unpack the FMU, read its description, and find its library or make it of its sources.
    pub fn open(path: &Path, run: &Run, compilation: &Compilation, limits: &Limits) -> Result<Source, Error> {
        let scratch = Scratch::new()?;
        let root = scratch.path().join("fmu");
        std::fs::create_dir(&root).map_err(Error::io("make", &root))?;
        let archive = archive::unpack(path, &root)?;
        if !root.join(DESCRIPTION).is_file() {
            let nested = archive.entries.iter().find(|entry| entry.name.ends_with("/modelDescription.xml"));
            let found = nested.map(|entry| entry.name.clone());
            return Err(Error::NoDescription { path: path.into(), found });
        }
        let sizes = run.set.iter().filter_map(|(name, value)| Some((name.clone(), value.parse().ok()?)));
        let description = read_description(path, &root, LONGEST_DESCRIPTION, &sizes.collect::<Vec<_>>())?;
        let describe = |source| Error::Description { path: path.into(), source };
        let exchange = description.require_model_exchange().map_err(describe)?;
        let indicators = description.number_of_event_indicators;
        if indicators > MOST_INDICATORS {
            return Err(Error::Indicators { path: path.into(), found: indicators, most: MOST_INDICATORS });
        }
        refuse_triggered(path, &description)?;
        let has_binary = platform::HOST.library(&root, &exchange.model_identifier).is_file();
        let compiled = match has_binary && !compilation.from_sources {
            true => None,
            false => sources::compile(path, &root, &description, compilation, limits, &scratch)?,
        };
        if compilation.from_sources && compiled.is_none() {
            let why = "it brings no sources (no sources/buildDescription.xml, no <SourceFiles>); build it without --from-sources";
            return Err(Error::Sources { path: path.into(), why: why.into() });
        }
        if !has_binary && compiled.is_none() {
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
        Ok(Source {
            path: path.into(),
            description,
            archive,
            compiled,
            scratch,
            state_variables,
            left_out: Vec::new(),
            written_as: Fmi::Two,
        })
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

    /// Files of the archive, and the library that was made here.
    pub fn library_names(&self) -> Vec<String> {
        let files = self.archive.entries.iter().filter(|entry| !entry.is_dir).map(|entry| entry.name.clone());
        let mut names: Vec<String> = files.collect();
        names.extend(self.compiled.as_ref().map(|compiled| compiled.entry.clone()));
        names.sort();
        names.dedup();
        names
    }

    pub fn identifier(&self) -> &str {
        self.description.model_exchange.as_ref().map_or("", |exchange| &exchange.model_identifier)
    }

    /// The FMU says that it runs only beside the tool that made it. Many that say so do run alone.
    pub fn needs_execution_tool(&self) -> bool {
        self.description.model_exchange.as_ref().is_some_and(|exchange| exchange.needs_execution_tool)
    }

    pub fn interface(&self) -> Interface {
        let interface = Interface::new(self.root(), &self.description);
        match self.written_as {
            Fmi::Two => interface,
            Fmi::Three => interface.written_as_fmi3(&self.description),
        }
    }

    /// Real outputs: what trajectories are compared by.
    pub fn outputs(&self) -> Vec<usize> {
        let mut outputs = interface::real_outputs(&self.description);
        let variables = &self.description.variables;
        outputs.retain(|&output| !self.left_out.contains(&variables[output].value_reference));
        outputs
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

    pub fn state_variable(&self, state: usize) -> Option<usize> {
        self.state_variables[state]
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
            let (name, low, high) = (&range.name, range.low, range.high);
            let found = self.find(name);
            if let Some(variable) =
                found.filter(|it| !matches!(it.causality, Causality::Input | Causality::Parameter))
            {
                let what = match variable.causality {
                    Causality::Output => "an output",
                    Causality::Independent => "the time",
                    _ => "computed by the model",
                };
                return Err(Error::Request(format!(
                    "--range {name}={low}:{high}: {name} is {what}; a range says where an input or a parameter may be"
                )));
            }
            if found.is_none() {
                return Err(Error::Request(format!(
                    "--range {name}={low}:{high}: {} has no variable {name}{}",
                    self.path.display(),
                    self.similar(name)
                )));
            }
        }
        // Sizes of arrays were set when the description was read.
        let structure = self.description.fmi3.as_ref().map_or(&[][..], |fmi3| &fmi3.structure);
        let settable = run.set.iter().filter(|(name, _)| structure.iter().all(|size| size.name != *name));
        let settings =
            settable.map(|(name, value)| self.setting(name, value)).collect::<Result<Vec<_>, _>>()?;
        let alone = Experiment { start, stop, settings, ..Experiment::default() };
        if run.inputs.is_empty() {
            return Ok(vec![alone]);
        }
        let driven = run.inputs.iter().map(|path| {
            let mut experiment = alone.clone();
            let end = if run.stop.is_some() { End::Asked } else { End::Fmus };
            experiment.take(experiment::bind(path, &self.description)?, end);
            Ok(experiment)
        });
        driven.collect()
    }

    /// Columns of the experiment's input file that fit no variable.
    pub fn ignored_columns(&self, experiment: &Experiment) -> Option<IgnoredColumns> {
        if experiment.ignored.is_empty() {
            return None;
        }
        let inputs = self.description.variables.iter().filter(|it| it.causality == Causality::Input);
        let inputs = inputs.map(|it| it.name.clone()).take(12).collect();
        Some(IgnoredColumns { columns: experiment.ignored.clone(), inputs })
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
        did_you_mean(name, self.description.variables.iter().map(|variable| variable.name.as_str()))
    }

    /// The unit of a variable.
    pub fn unit(&self, name: &str) -> Option<String> {
        self.find(name).and_then(|variable| variable.unit.clone())
    }

    /// One of the quantities that are compared, by name; `option` is what names it.
    pub fn output_named(&self, option: &str, name: &str) -> Result<(), Error> {
        let outputs = self.outputs();
        let variables = &self.description.variables;
        let compared: Vec<&str> = match outputs.is_empty() {
            true => self.state_variables.iter().flatten().map(|&i| variables[i].name.as_str()).collect(),
            false => outputs.iter().map(|&i| variables[i].name.as_str()).collect(),
        };
        if compared.contains(&name) {
            return Ok(());
        }
        let what = match self.find(name) {
            Some(_) => "is no Real output",
            None => "is no variable",
        };
        Err(Error::Request(format!(
            "{option} {name}: {name} {what} of {}{}",
            self.path.display(),
            did_you_mean(name, compared.into_iter())
        )))
    }

    /// What a difference in `unit` is multiplied by to be one in the unit of the variable `name`.
    pub fn factor(&self, option: &str, name: &str, unit: &str) -> Result<f64, Error> {
        let own = self.unit(name);
        let found = Units::new(&self.description).conversion(unit, own.as_deref());
        found.map(|conversion| conversion.factor.abs()).ok_or_else(|| {
            let own = own.map_or("none that its description names".into(), |own| format!("{own:?}"));
            Error::Request(format!(
                "{option} {name}: {unit:?} cannot be converted to the unit of {name}, {own}; give it in that unit, or as a share \
                 of its range, such as 1%"
            ))
        })
    }

    /// Variables whose start value is missing in the file, though FMI demands one: the FMU itself is asked.
    pub fn missing_starts(&self) -> Vec<(u32, Type)> {
        let invented =
            self.description.invented_starts.iter().map(|&index| &self.description.variables[index]);
        invented.map(|variable| (variable.value_reference, type_of(variable.kind))).collect()
    }

    /// The values that it gave, in the same order.
    pub fn set_starts(&mut self, starts: &[Option<Value>]) {
        for (index, value) in self.description.invented_starts.clone().into_iter().zip(starts) {
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
}

/// A triggered input clock ticks when another FMU says so, at any time: a real-time FMU has nobody who would.
fn refuse_triggered(path: &Path, description: &ModelDescription) -> Result<(), Error> {
    let clocks = description.fmi3.iter().flat_map(|fmi3| &fmi3.clocks);
    let mut triggered = clocks.filter(|it| it.input && it.interval == IntervalVariability::Triggered);
    triggered.next().map_or(Ok(()), |clock| {
        Err(Error::Request(format!(
            "{}: modelDescription.xml, line {}: the clock {} is an input that another FMU triggers, which a Co-Simulation FMU of \
             fmu-build cannot offer; export the model with a periodic clock, or with the trigger as a Boolean input",
            path.display(),
            clock.line,
            clock.name
        )))
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn a_description_is_not_read_beyond_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(DESCRIPTION), "<x>".to_string() + &" ".repeat(1000)).unwrap();
        let error =
            |most| read_description(Path::new("in.fmu"), folder.path(), most, &[]).unwrap_err().to_string();
        let expected = "in.fmu: modelDescription.xml has 1003 bytes, more than the 1002 that are accepted; export the model with \
                        fewer variables";
        assert_eq!(error(1002), expected);
        assert!(error(1003).contains("not well-formed"));
    }
}
