//! From Model Exchange to Co-Simulation: the description of the FMU that fmu-build writes.
//!
//! Variables, value references, units, types, names and order stay, so that whoever used the one FMU can
//! use the other. What belongs to Model Exchange only goes: `<ModelExchange>`,
//! `numberOfEventIndicators`, `reinit`. `<Derivatives>` stays: FMI 2.0 allows it for Co-Simulation, and
//! it tells which variables are states.

use std::collections::HashSet;

use crate::conform::{insert_section, section};
use crate::literal::print_double;
use crate::model::{Kind, ModelDescription};
use crate::naming::is_structured;
use crate::structure::index;
use crate::tree::{Element, Node};
use crate::types::ensure_unit;

/// What the new description has to say.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CoSimulation {
    pub guid: String,
    /// Appended to the tool that is there: `old + this`.
    pub generation_tool: String,
    pub model_identifier: String,
    pub step_size: f64,
    /// What the FMU cuts it into; only a description of FMI 3.0 tells it.
    pub internal_step_size: f64,
    /// `None`: as it is in the file.
    pub start_time: Option<f64>,
    pub stop_time: Option<f64>,
    pub can_get_and_set_fmu_state: bool,
    pub can_serialize_fmu_state: bool,
    pub provides_directional_derivative: bool,
    pub can_be_instantiated_only_once_per_process: bool,
    /// Added to those that are there: name, description.
    pub log_categories: Vec<(String, String)>,
    /// Appended behind all variables, whose indices stay.
    pub diagnostics: Vec<Diagnostic>,
}

/// A variable that the runtime adds. FMI allows no start value for what is calculated, and no `continuous`
/// for a value that jumps: so it is local, discrete, calculated.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// Gets a suffix if the model has a variable of that name.
    pub name: String,
    pub value_reference: u32,
    pub kind: DiagnosticKind,
    /// Only for Real; defined if it is not.
    pub unit: Option<String>,
    pub description: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DiagnosticKind {
    Real,
    Integer,
    String,
    /// The time of the simulation, for a new FMU of FMI 3.0 whose model has no such variable.
    Time,
}

impl ModelDescription {
    /// The description of a pure Co-Simulation FMU, valid as far as the repairs go. Same input, same bytes.
    #[allow(clippy::wrong_self_convention)] // The model is still needed: it describes the FMU inside.
    pub fn into_co_simulation(&self, request: &CoSimulation) -> Vec<u8> {
        let mut document = self.repaired.clone();
        // A document type can only be that of something else: FMI has a schema.
        document.prolog.retain(|node| !matches!(node, Node::Doctype(_)));
        let root = &mut document.root;
        root.set("guid", &request.guid);
        let tool = match root.get("generationTool").filter(|old| !old.trim().is_empty()) {
            Some(old) => format!("{old} + {}", request.generation_tool),
            None => request.generation_tool.clone(),
        };
        root.set("generationTool", &tool);
        root.remove("numberOfEventIndicators");
        root.retain(|e| e.name != "ModelExchange" && e.name != "CoSimulation");
        insert_section(root, self.interface(request));

        let experiment = section(root, "DefaultExperiment");
        for (name, value) in [("startTime", request.start_time), ("stopTime", request.stop_time)] {
            if let Some(value) = value {
                experiment.set(name, &print_double(value));
            }
        }
        experiment.set("stepSize", &print_double(request.step_size));

        drop_nameless_states(root);
        for variable in section(root, "ModelVariables").elements_mut() {
            if let Some(real) = variable.child_mut(Kind::Real.element()) {
                real.remove("reinit");
            }
        }
        for (name, description) in &request.log_categories {
            let categories = section(root, "LogCategories");
            if !categories.elements().any(|category| category.get("name") == Some(name)) {
                categories.push(Element::new("Category", &[("name", name), ("description", description)]), 2);
            }
        }
        self.append_diagnostics(root, &request.diagnostics);
        let structured = root.get("variableNamingConvention") == Some("structured");
        let legal = |v: &Element| v.get("name").is_some_and(is_structured);
        if structured && !root.section("ModelVariables").all(legal) {
            root.set("variableNamingConvention", "flat");
        }
        crate::write::write(&document)
    }

    fn interface(&self, request: &CoSimulation) -> Element {
        let flag = |value: bool| if value { "true" } else { "false" };
        let mut interface = Element::new(
            "CoSimulation",
            &[
                ("modelIdentifier", &request.model_identifier),
                ("canHandleVariableCommunicationStepSize", "false"),
                ("canInterpolateInputs", "true"),
                ("maxOutputDerivativeOrder", "1"),
                ("canRunAsynchronuously", "false"),
                (
                    "canBeInstantiatedOnlyOncePerProcess",
                    flag(request.can_be_instantiated_only_once_per_process),
                ),
                ("canGetAndSetFMUstate", flag(request.can_get_and_set_fmu_state)),
                ("canSerializeFMUstate", flag(request.can_serialize_fmu_state)),
                ("providesDirectionalDerivative", flag(request.provides_directional_derivative)),
            ],
        );
        // What the FMU inside needs, the one around it needs.
        let inner = self.model_exchange.clone().unwrap_or_default();
        if inner.needs_execution_tool {
            interface.set("needsExecutionTool", "true");
        }
        if inner.can_not_use_memory_management_functions {
            interface.set("canNotUseMemoryManagementFunctions", "true");
        }
        interface
    }

    /// The names that variables of ours get: these, unless the model has such a variable.
    pub fn diagnostic_names<'a>(&self, wanted: impl Iterator<Item = &'a str>) -> Vec<String> {
        let mut taken: HashSet<String> = self.variables.iter().map(|v| v.name.clone()).collect();
        let free = |wanted: &str| {
            let numbered = (2..).map(|number: u64| format!("{wanted}_{number}"));
            let mut names = std::iter::once(wanted.to_owned()).chain(numbered);
            names.find(|name| taken.insert(name.clone())).unwrap_or_default()
        };
        wanted.map(free).collect()
    }

    fn append_diagnostics(&self, root: &mut Element, diagnostics: &[Diagnostic]) {
        let names = self.diagnostic_names(diagnostics.iter().map(|diagnostic| diagnostic.name.as_str()));
        for (diagnostic, name) in diagnostics.iter().zip(names) {
            let mut variable = Element::new(
                "ScalarVariable",
                &[
                    ("name", &name),
                    ("valueReference", &diagnostic.value_reference.to_string()),
                    ("description", &diagnostic.description),
                    ("causality", "local"),
                    ("variability", "discrete"),
                    ("initial", "calculated"),
                ],
            );
            let value = match (diagnostic.kind, &diagnostic.unit) {
                (DiagnosticKind::String, _) => Element::new("String", &[]),
                (DiagnosticKind::Integer, _) => Element::new("Integer", &[]),
                (DiagnosticKind::Real | DiagnosticKind::Time, None) => Element::new("Real", &[]),
                (DiagnosticKind::Real | DiagnosticKind::Time, Some(unit)) => {
                    ensure_unit(root, unit);
                    Element::new("Real", &[("unit", unit)])
                }
            };
            variable.push(value, 3);
            section(root, "ModelVariables").push(variable, 2);
        }
    }
}

/// `Derivatives` may only list variables that say whose derivative they are.
fn drop_nameless_states(root: &mut Element) {
    let said: Vec<bool> = root
        .section("ModelVariables")
        .map(|v| v.child(Kind::Real.element()).is_some_and(|real| real.get("derivative").is_some()))
        .collect();
    let structure = section(root, "ModelStructure");
    if let Some(list) = structure.child_mut("Derivatives") {
        list.retain(|unknown| index(unknown).is_some_and(|i| said.get(i) == Some(&true)));
    }
    structure.retain(|list| list.elements().next().is_some());
}
