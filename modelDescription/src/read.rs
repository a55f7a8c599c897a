//! Bytes to `ModelDescription`: parse, refuse, repair, and read the repaired tree into plain data.

use std::collections::HashMap;

use crate::conform::conform;
use crate::error::Error;
use crate::fmi3::lower;
use crate::literal;
use crate::model::{
    DefaultExperiment, Dependencies, DependencyKind, Kind, ModelDescription, ModelExchange, ModelStructure,
    ScalarVariable, Unknown,
};
use crate::naming::is_structured;
use crate::notes::Notes;
use crate::parse::parse;
use crate::structure::{index, repair_structure};
use crate::tree::{Document, Element, local};
use crate::types::repair_types;
use crate::variables::{Facts, repair_variables, value_element};
use crate::{annotate, namespaces};

/// Read a modelDescription.xml, tolerantly: see `ModelDescription::warnings` for what was not as it should be.
pub fn read(bytes: &[u8]) -> Result<ModelDescription, Error> {
    read_sized(bytes, &[])
}

/// Likewise, with other values than the file's own for structural parameters of FMI 3.0, by name.
pub fn read_sized(bytes: &[u8], sizes: &[(String, u64)]) -> Result<ModelDescription, Error> {
    let mut notes = Notes::default();
    let original = parse(bytes, &mut notes.warnings)?;
    let (mut repaired, fmi3) = match refuse(&original.root)? {
        Version::Two => (original.clone(), None),
        Version::Three => {
            let (lowered, fmi3) = lower(&original, sizes, &mut notes)?;
            (lowered, Some(fmi3))
        }
    };
    let facts = repair(&mut repaired, &mut notes)?;
    let mut model = view(original, repaired, &facts)?;
    model.warnings = notes.warnings;
    model.fmi3 = fmi3;
    Ok(model)
}

/// The version of FMI that a description is of.
enum Version {
    Two,
    Three,
}

/// What is no model description of FMI 2.0 or 3.0 at all.
fn refuse(root: &Element) -> Result<Version, Error> {
    let line = root.line;
    if !local(&root.name).eq_ignore_ascii_case("fmiModelDescription") {
        return Err(Error::NotModelDescription { found: root.name.clone(), line });
    }
    let missing = |attribute, next| Error::MissingAttribute {
        element: "<fmiModelDescription>".into(),
        attribute,
        line,
        next,
    };
    let Some(version) = root.get_loosely("fmiVersion") else {
        return Err(missing("fmiVersion", "fmu-build reads FMI 2.0 and 3.0; re-export the model"));
    };
    let trimmed = version.trim();
    let (known, token) = match trimmed.split('.').next() {
        // Beta versions of FMI 3.0 had other names and functions.
        Some("3") if !trimmed.contains("beta") && !trimmed.contains("alpha") => {
            (Version::Three, "instantiationToken")
        }
        _ if trimmed == "2" || trimmed.starts_with("2.0") => (Version::Two, "guid"),
        other => {
            let standard = match other {
                Some("1") => "FMI 1.0",
                Some("3") => "a draft of FMI 3.0",
                _ => "no version of FMI that is known",
            };
            return Err(Error::Version { found: version.into(), standard: standard.into(), line });
        }
    };
    if root.get_loosely(token).is_none() {
        return Err(missing(token, "the FMU cannot be instantiated without it; re-export the model"));
    }
    Ok(known)
}

fn repair(document: &mut Document, notes: &mut Notes) -> Result<Vec<Facts>, Error> {
    conform(document, notes);
    let root = &mut document.root;
    let line = root.line;
    if root.child("ModelVariables").is_none() {
        return Err(Error::MissingElement {
            element: "<fmiModelDescription>".into(),
            child: "<ModelVariables>",
            line,
            next: "a model without variables cannot be simulated; re-export it",
        });
    }
    let version = root.get("fmiVersion").unwrap_or("").to_string();
    if version != "2.0" {
        notes.warn("fmiModelDescription", line, &format!("fmiVersion=\"{version}\" is read as \"2.0\""));
        root.set("fmiVersion", "2.0");
    }
    if root.get("modelName").is_none() {
        let interface = root.child("ModelExchange").or_else(|| root.child("CoSimulation"));
        let name = interface.and_then(|i| i.get("modelIdentifier")).unwrap_or("unnamed").to_string();
        notes.warn("fmiModelDescription", line, &format!("it has no modelName; read as \"{name}\""));
        root.set("modelName", &name);
    }
    if let Some(experiment) = root.child_mut("DefaultExperiment") {
        repair_experiment(experiment, notes);
    }
    repair_types(root, notes);
    let mut facts = repair_variables(root, notes);
    // Before the structure, which refers to them: the first cause is the one to tell.
    for (element, facts) in root.section("ModelVariables").zip(&facts) {
        require_variable(element, facts)?;
    }
    repair_structure(root, &mut facts, notes)?;
    if root.get("variableNamingConvention") == Some("structured")
        && let Some(odd) = facts.iter().find(|f| !is_structured(&f.name))
    {
        let what = format!(
            "variableNamingConvention=\"structured\" does not hold for \"{}\"; read as \"flat\"",
            odd.name
        );
        notes.warn("fmiModelDescription", line, &what);
        root.set("variableNamingConvention", "flat");
    }
    annotate::append_kept(document, notes);
    namespaces::mend(&mut document.root, notes);
    Ok(facts)
}

fn repair_experiment(experiment: &mut Element, notes: &mut Notes) {
    let number = |e: &Element, name: &str| e.get(name).and_then(literal::parse_double);
    let start = number(experiment, "startTime").filter(|t| t.is_finite()).unwrap_or(0.0);
    for name in ["startTime", "stopTime", "tolerance", "stepSize"] {
        let Some(value) = number(experiment, name) else { continue };
        let fine = match name {
            "startTime" => value.is_finite(),
            "stopTime" => value.is_finite() && value >= start,
            _ => value.is_finite() && value > 0.0,
        };
        if !fine && let Some(text) = experiment.remove(name) {
            notes.warn(
                "DefaultExperiment",
                experiment.line,
                &format!("{name}=\"{text}\" makes no sense; left out"),
            );
            notes.keep_attribute("DefaultExperiment", name, &text);
        }
    }
}

/// The repaired tree as data; what is still wrong cannot be understood.
fn view(original: Document, repaired: Document, facts: &[Facts]) -> Result<ModelDescription, Error> {
    let root = &repaired.root;
    let text = |name: &str| root.get(name).map(str::to_string);
    let indicators = root.get("numberOfEventIndicators");
    let number_of_event_indicators = match indicators.map(|t| (t, literal::parse_unsigned(t))) {
        None => 0,
        Some((_, Some(count))) => count as usize,
        Some((value, None)) => {
            return Err(Error::BadAttribute {
                element: "<fmiModelDescription>".into(),
                attribute: "numberOfEventIndicators",
                value: value.into(),
                line: root.line,
                expected: "a number that is not negative; re-export the model".into(),
            });
        }
    };
    let types: HashMap<&str, &Element> =
        root.section("TypeDefinitions").filter_map(|t| Some((t.get("name")?, value_element(t)?.1))).collect();
    let variables = root
        .section("ModelVariables")
        .zip(facts)
        .map(|(e, f)| variable(e, f, &types))
        .collect::<Result<_, _>>()?;
    let list = |name: &str| -> Vec<Unknown> {
        root.child("ModelStructure").into_iter().flat_map(|s| s.section(name)).filter_map(unknown).collect()
    };
    let structure = ModelStructure {
        outputs: list("Outputs"),
        derivatives: list("Derivatives"),
        initial_unknowns: list("InitialUnknowns"),
    };
    let experiment = |name: &str| -> Option<f64> {
        root.child("DefaultExperiment").and_then(|e| e.get(name)).and_then(literal::parse_double)
    };
    Ok(ModelDescription {
        fmi_version: text("fmiVersion").unwrap_or_default(),
        model_name: text("modelName").unwrap_or_default(),
        guid: text("guid").unwrap_or_default(),
        description: text("description"),
        author: text("author"),
        version: text("version"),
        generation_tool: text("generationTool"),
        generation_date_and_time: text("generationDateAndTime"),
        number_of_event_indicators,
        model_exchange: root.child("ModelExchange").map(model_exchange).transpose()?,
        co_simulation: root.child("CoSimulation").is_some(),
        default_experiment: DefaultExperiment {
            start_time: experiment("startTime"),
            stop_time: experiment("stopTime"),
            tolerance: experiment("tolerance"),
            step_size: experiment("stepSize"),
        },
        log_categories: root
            .section("LogCategories")
            .filter_map(|c| c.get("name"))
            .map(str::to_string)
            .collect(),
        variables,
        structure,
        warnings: Vec::new(),
        invented_starts: (0..facts.len()).filter(|i| facts[*i].invented_start).collect(),
        fmi3: None,
        original,
        repaired,
    })
}

fn model_exchange(element: &Element) -> Result<ModelExchange, Error> {
    let flag = |name: &str| element.get(name).and_then(literal::parse_boolean).unwrap_or(false);
    let Some(identifier) = element.get("modelIdentifier").map(str::trim).filter(|i| !i.is_empty()) else {
        return Err(Error::MissingAttribute {
            element: "<ModelExchange>".into(),
            attribute: "modelIdentifier",
            line: element.line,
            next: "it is the name of the binary; re-export the model",
        });
    };
    Ok(ModelExchange {
        model_identifier: identifier.to_string(),
        needs_execution_tool: flag("needsExecutionTool"),
        completed_integrator_step_not_needed: flag("completedIntegratorStepNotNeeded"),
        can_be_instantiated_only_once_per_process: flag("canBeInstantiatedOnlyOncePerProcess"),
        can_not_use_memory_management_functions: flag("canNotUseMemoryManagementFunctions"),
        can_get_and_set_fmu_state: flag("canGetAndSetFMUstate"),
        can_serialize_fmu_state: flag("canSerializeFMUstate"),
        provides_directional_derivative: flag("providesDirectionalDerivative"),
    })
}

/// What a variable cannot do without: its reference and its type.
fn require_variable<'a>(element: &'a Element, facts: &Facts) -> Result<(u32, Kind, &'a Element), Error> {
    let line = element.line;
    if element.get("name").is_none() {
        return Err(Error::MissingAttribute {
            element: "<ScalarVariable>".into(),
            attribute: "name",
            line,
            next: "every variable needs one; re-export the model",
        });
    }
    let own = || format!("<ScalarVariable> \"{}\"", facts.name);
    let Some(value_reference) = facts.value_reference else {
        return Err(match element.get("valueReference") {
            Some(value) => Error::BadAttribute {
                element: own(),
                attribute: "valueReference",
                value: value.into(),
                line,
                expected: format!("a number from 0 to {}; re-export the model", u32::MAX),
            },
            None => Error::MissingAttribute {
                element: own(),
                attribute: "valueReference",
                line,
                next: "the variable cannot be reached without it; re-export the model",
            },
        });
    };
    let Some((kind, value)) = value_element(element) else {
        return Err(Error::MissingElement {
            element: own(),
            child: "<Real>, <Integer>, <Boolean>, <String> or <Enumeration>",
            line,
            next: "its type is unknown; re-export the model",
        });
    };
    Ok((value_reference, kind, value))
}

fn variable(
    element: &Element,
    facts: &Facts,
    types: &HashMap<&str, &Element>,
) -> Result<ScalarVariable, Error> {
    let (value_reference, kind, value) = require_variable(element, facts)?;
    let declared = value.get("declaredType").and_then(|name| types.get(name));
    let resolved = |name: &str| value.get(name).or_else(|| declared.and_then(|t| t.get(name)));
    let number = |name: &str| resolved(name).and_then(literal::parse_double);
    Ok(ScalarVariable {
        name: facts.name.clone(),
        value_reference,
        description: element.get("description").map(str::to_string),
        causality: facts.causality,
        variability: facts.variability,
        initial: facts.initial,
        kind,
        start: value.get("start").map(str::to_string),
        unit: resolved("unit").map(str::to_string),
        nominal: number("nominal").filter(|n| n.is_finite() && *n > 0.0),
        min: number("min"),
        max: number("max"),
        derivative: facts.derivative,
        line: element.line,
    })
}

fn unknown(element: &Element) -> Option<Unknown> {
    let variable = index(element)?;
    let Some(dependencies) = element.get("dependencies") else {
        return Some(Unknown { variable, dependencies: Dependencies::All });
    };
    let kinds: Vec<&str> = element.get("dependenciesKind").map_or(Vec::new(), |k| k.split(' ').collect());
    let listed =
        dependencies.split(' ').filter_map(literal::parse_unsigned).enumerate().map(|(at, index)| {
            let kind =
                kinds.get(at).and_then(|k| DependencyKind::from_word(k)).unwrap_or(DependencyKind::Dependent);
            (index as usize - 1, kind)
        });
    Some(Unknown { variable, dependencies: Dependencies::Listed(listed.collect()) })
}
