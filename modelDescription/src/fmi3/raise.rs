//! The description of the new FMU in FMI 3.0, whatever version the model is of.
//!
//! It is made of the repaired scalars: those of an array become one variable again. A model of FMI 2.0 has value references that
//! are unique for each type only, and variables that share one; in FMI 3.0 every variable has its own.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::lower::child;
use super::{Array, Type};
use crate::convert::{CoSimulation, Diagnostic, DiagnosticKind};
use crate::literal::print_double;
use crate::model::{
    Causality, Dependencies, DependencyKind, Initial, Kind, ModelDescription, ScalarVariable, Unknown,
};
use crate::tree::{Document, Element, local};
use crate::types::ensure_unit;
use crate::variables::value_element;

impl ModelDescription {
    /// The variables of a new FMU of FMI 3.0, in the order of the description.
    pub fn shell(&self) -> Vec<Array> {
        if let Some(fmi3) = &self.fmi3 {
            return fmi3.arrays.clone();
        }
        let mut used: BTreeSet<u32> = BTreeSet::new();
        let largest = self.variables.iter().map(|it| it.value_reference).max().unwrap_or(0);
        let all: BTreeSet<u32> = self.variables.iter().map(|it| it.value_reference).collect();
        let after = (largest..=u32::MAX).skip(1).chain(0..largest);
        let mut free = after.filter(|reference| !all.contains(reference));
        let own = |(index, variable): (usize, &ScalarVariable)| {
            let given = variable.value_reference;
            let value_reference = if used.insert(given) { given } else { free.next().unwrap_or(given) };
            Array {
                name: variable.name.clone(),
                value_reference,
                kind: match variable.kind {
                    Kind::Real => Type::Float64,
                    Kind::Integer => Type::Int32,
                    Kind::Boolean => Type::Boolean,
                    Kind::String => Type::String,
                    Kind::Enumeration => Type::Enumeration,
                },
                dimensions: Vec::new(),
                variable: index,
                first: given,
                count: 1,
            }
        };
        self.variables.iter().enumerate().map(own).collect()
    }

    /// The description of a pure Co-Simulation FMU of FMI 3.0. Same input, same bytes.
    #[allow(clippy::wrong_self_convention)] // The model is still needed: it describes the FMU inside.
    pub fn into_co_simulation_3(&self, request: &CoSimulation) -> Vec<u8> {
        let mut repaired = self.repaired.root.clone();
        for unit in request.diagnostics.iter().filter_map(|diagnostic| diagnostic.unit.as_ref()) {
            ensure_unit(&mut repaired, unit);
        }
        let old = &repaired;
        let mut root = Element::new("fmiModelDescription", &[("fmiVersion", "3.0")]);
        root.set("modelName", &self.model_name);
        root.set("instantiationToken", &request.guid);
        for name in ["description", "author", "version", "copyright", "license"] {
            if let Some(value) = old.get(name) {
                root.set(name, value);
            }
        }
        let tool = match self.generation_tool.as_deref().filter(|tool| !tool.trim().is_empty()) {
            Some(tool) => format!("{tool} + {}", request.generation_tool),
            None => request.generation_tool.clone(),
        };
        root.set("generationTool", &tool);
        for name in ["generationDateAndTime", "variableNamingConvention"] {
            if let Some(value) = old.get(name) {
                root.set(name, value);
            }
        }
        // What annotations are written with.
        for (name, value) in old.attributes.iter().chain(&self.original.root.attributes) {
            if name.starts_with("xmlns:") {
                root.set(name, value);
            }
        }
        root.push(interface(request), 1);
        if let Some(units) = old.child("UnitDefinitions") {
            root.push(units.clone(), 1);
        }
        let types = self.types(old);
        if !types.is_empty() {
            let mut section = Element::new("TypeDefinitions", &[]);
            types.values().for_each(|(_, definition)| section.push(definition.clone(), 2));
            root.push(section, 1);
        }
        root.push(categories(old, request), 1);
        root.push(experiment(old, request), 1);
        let shell = self.shell();
        root.push(self.variables_3(old, &shell, &types, request), 1);
        root.push(self.structure_3(&shell), 1);
        if let Some(annotations) = self.annotations(old) {
            root.push(annotations, 1);
        }
        let flat = |name: &str| !crate::naming::is_structured(name);
        let mut names = shell.iter().map(|array| array.name.as_str());
        if root.get("variableNamingConvention") == Some("structured") && names.any(flat) {
            root.set("variableNamingConvention", "flat");
        }
        crate::write::write(&Document { prolog: Vec::new(), root, epilog: Vec::new() })
    }

    /// Definitions of types by name, in FMI 3.0; a type of the file keeps its kind.
    fn types(&self, old: &Element) -> BTreeMap<String, (Type, Element)> {
        let given = child(&self.original.root, "TypeDefinitions").into_iter().flat_map(Element::elements);
        let kinds: HashMap<&str, Type> = given
            .filter_map(|it| {
                Some((it.get("name")?, Type::from_element(local(&it.name).strip_suffix("Type")?)?))
            })
            .collect();
        let raise = |simple: &Element| {
            let name = simple.get("name")?;
            let (kind, value) = value_element(simple)?;
            let kind =
                kinds.get(name).copied().filter(|it| it.scalar() == Some(kind)).unwrap_or(match kind {
                    Kind::Real => Type::Float64,
                    Kind::Integer => Type::Int32,
                    Kind::Boolean => Type::Boolean,
                    Kind::String => Type::String,
                    Kind::Enumeration => Type::Enumeration,
                });
            let mut raised = Element::new(&format!("{}Type", kind.element()), &[("name", name)]);
            if let Some(description) = simple.get("description") {
                raised.set("description", description);
            }
            value.attributes.iter().for_each(|(name, value)| raised.set(name, value));
            for item in value.elements().filter(|it| it.name == "Item") {
                raised.push(item.clone(), 3);
            }
            Some((name.to_string(), (kind, raised)))
        };
        old.section("TypeDefinitions").filter_map(raise).collect()
    }

    fn variables_3(
        &self,
        old: &Element,
        shell: &[Array],
        types: &BTreeMap<String, (Type, Element)>,
        request: &CoSimulation,
    ) -> Element {
        let scalars: Vec<&Element> = old.section("ModelVariables").collect();
        let outer = outer_references(shell);
        let given: HashMap<&str, &Element> = child(&self.original.root, "ModelVariables")
            .into_iter()
            .flat_map(Element::elements)
            .filter_map(|it| Some((it.get("name")?, it)))
            .collect();
        let mut section = Element::new("ModelVariables", &[]);
        for array in shell {
            let mut element = Element::new(array.kind.element(), &[("name", &array.name)]);
            element.set("valueReference", &array.value_reference.to_string());
            if let Some(first) = self.variables.get(array.variable).filter(|_| array.count > 0) {
                self.describe_3(&mut element, first, scalars[array.variable], types);
                if let Some(state) = first.derivative.and_then(|state| outer.get(&state)) {
                    element.set("derivative", &state.to_string());
                }
            }
            // The schema wants dimensions, then start values of strings, then aliases.
            for size in &array.dimensions {
                element.push(Element::new("Dimension", &[("start", &size.to_string())]), 3);
            }
            let members = &self.variables[array.variable..array.variable + array.count as usize];
            set_start(&mut element, array, members);
            let original = self.fmi3.as_ref().and_then(|_| given.get(array.name.as_str()));
            for alias in
                original.into_iter().flat_map(|it| it.elements()).filter(|it| local(&it.name) == "Alias")
            {
                let mut copied = Element::new("Alias", &[]);
                copied.attributes.clone_from(&alias.attributes);
                element.push(copied, 3);
            }
            section.push(element, 2);
        }
        let names = self.diagnostic_names(request.diagnostics.iter().map(|it| it.name.as_str()));
        for (diagnostic, name) in request.diagnostics.iter().zip(names) {
            section.push(diagnostic_3(diagnostic, &name), 2);
        }
        section
    }

    fn describe_3(
        &self,
        element: &mut Element,
        first: &ScalarVariable,
        scalar: &Element,
        types: &BTreeMap<String, (Type, Element)>,
    ) {
        if let Some(description) = &first.description {
            element.set("description", description);
        }
        element.set("causality", first.causality.word());
        element.set("variability", first.variability.word());
        let named = !matches!(first.causality, Causality::Input | Causality::Independent);
        if let Some(initial) = first.initial.filter(|_| named) {
            element.set("initial", initial.word());
        }
        let Some((_, value)) = value_element(scalar) else { return };
        for (name, text) in &value.attributes {
            let fits = match name.as_str() {
                "start" | "derivative" | "reinit" => false,
                "declaredType" => types.get(text).is_some_and(|(kind, _)| kind.element() == element.name),
                _ => true,
            };
            if fits {
                element.set(name, text);
            }
        }
    }

    fn structure_3(&self, shell: &[Array]) -> Element {
        let outer = outer_references(shell);
        let mut section = Element::new("ModelStructure", &[]);
        for (name, unknowns) in [
            ("Output", &self.structure.outputs),
            ("ContinuousStateDerivative", &self.structure.derivatives),
            ("InitialUnknown", &self.structure.initial_unknowns),
        ] {
            let mut order: Vec<u32> = Vec::new();
            let mut merged: HashMap<u32, Vec<&Unknown>> = HashMap::new();
            for unknown in unknowns {
                let Some(&reference) = outer.get(&unknown.variable) else { continue };
                // A derivative must say whose it is.
                if name == "ContinuousStateDerivative"
                    && self.variables[unknown.variable].derivative.is_none()
                {
                    continue;
                }
                let entry = merged.entry(reference).or_default();
                if entry.is_empty() {
                    order.push(reference);
                }
                entry.push(unknown);
            }
            for reference in order {
                let mut element = Element::new(name, &[("valueReference", &reference.to_string())]);
                if let Some((on, kinds)) = dependencies_3(&merged[&reference], &outer) {
                    element.set("dependencies", &on);
                    if !kinds.is_empty() {
                        element.set("dependenciesKind", &kinds);
                    }
                }
                section.push(element, 2);
            }
        }
        section
    }

    /// Vendors' annotations: those of the file, or of FMI 2.0 in their new form.
    fn annotations(&self, old: &Element) -> Option<Element> {
        let mut section = Element::new("Annotations", &[]);
        let given = child(&self.original.root, "Annotations").into_iter().flat_map(Element::elements);
        let own = given.filter(|it| local(&it.name) == "Annotation" && it.get("type").is_some());
        let tools = old.section("VendorAnnotations");
        for (annotation, kind) in own.map(|it| (it, "type")).chain(tools.map(|it| (it, "name"))) {
            let kind = annotation.get(kind).unwrap_or("unknown");
            let mut raised = Element::new("Annotation", &[("type", kind)]);
            raised.children.clone_from(&annotation.children);
            let declared = annotation.attributes.iter().filter(|(name, _)| name.starts_with("xmlns"));
            raised.attributes.extend(declared.cloned());
            section.push(raised, 2);
        }
        let filled = section.elements().next().is_some();
        filled.then_some(section)
    }
}

/// The value reference in the new FMU, by index of a scalar.
fn outer_references(shell: &[Array]) -> HashMap<usize, u32> {
    let members = |array: &Array| array.variable..array.variable + array.count as usize;
    shell.iter().flat_map(|it| members(it).map(|index| (index, it.value_reference))).collect()
}

/// What any element depends on, as value references, and how; `None`: on everything.
fn dependencies_3(unknowns: &[&Unknown], outer: &HashMap<usize, u32>) -> Option<(String, String)> {
    let mut merged: BTreeMap<u32, DependencyKind> = BTreeMap::new();
    for unknown in unknowns {
        let Dependencies::Listed(listed) = &unknown.dependencies else { return None };
        for (index, kind) in listed {
            let Some(&reference) = outer.get(index) else { continue };
            let entry = merged.entry(reference).or_insert(*kind);
            if *entry != *kind {
                *entry = DependencyKind::Dependent;
            }
        }
    }
    let on: Vec<String> = merged.keys().map(u32::to_string).collect();
    let kinds: Vec<&str> = merged.values().map(|kind| kind.word()).collect();
    Some((on.join(" "), kinds.join(" ")))
}

/// One value for each element, where all have one.
fn set_start(element: &mut Element, array: &Array, members: &[ScalarVariable]) {
    if members.iter().any(|it| matches!(it.initial, None | Some(Initial::Calculated))) {
        return;
    }
    let starts: Option<Vec<&str>> = members.iter().map(|it| it.start.as_deref()).collect();
    let Some(starts) = starts else { return };
    if array.kind == Type::String {
        for start in starts {
            element.push(Element::new("Start", &[("value", start)]), 3);
        }
    } else {
        element.set("start", &starts.join(" "));
    }
}

fn interface(request: &CoSimulation) -> Element {
    let flag = |value: bool| if value { "true" } else { "false" };
    Element::new(
        "CoSimulation",
        &[
            ("modelIdentifier", &request.model_identifier),
            ("canBeInstantiatedOnlyOncePerProcess", flag(request.can_be_instantiated_only_once_per_process)),
            ("canGetAndSetFMUState", flag(request.can_get_and_set_fmu_state)),
            ("canSerializeFMUState", flag(request.can_serialize_fmu_state)),
            ("providesDirectionalDerivatives", flag(request.provides_directional_derivative)),
            ("canHandleVariableCommunicationStepSize", "false"),
            ("fixedInternalStepSize", &print_double(request.internal_step_size)),
            ("maxOutputDerivativeOrder", "1"),
            ("mightReturnEarlyFromDoStep", "false"),
            ("hasEventMode", "false"),
        ],
    )
}

fn categories(old: &Element, request: &CoSimulation) -> Element {
    let mut section =
        old.child("LogCategories").cloned().unwrap_or_else(|| Element::new("LogCategories", &[]));
    for (name, description) in &request.log_categories {
        if !section.elements().any(|category| category.get("name") == Some(name)) {
            section.push(Element::new("Category", &[("name", name), ("description", description)]), 2);
        }
    }
    if section.elements().next().is_none() {
        section.push(Element::new("Category", &[("name", "logStatusError")]), 2);
    }
    section
}

fn experiment(old: &Element, request: &CoSimulation) -> Element {
    let mut experiment = Element::new("DefaultExperiment", &[]);
    if let Some(given) = old.child("DefaultExperiment") {
        experiment.attributes.clone_from(&given.attributes);
    }
    for (name, value) in [("startTime", request.start_time), ("stopTime", request.stop_time)] {
        if let Some(value) = value {
            experiment.set(name, &print_double(value));
        }
    }
    experiment.set("stepSize", &print_double(request.step_size));
    experiment
}

fn diagnostic_3(diagnostic: &Diagnostic, name: &str) -> Element {
    let kind = match diagnostic.kind {
        DiagnosticKind::Real | DiagnosticKind::Time => Type::Float64,
        DiagnosticKind::Integer => Type::Int32,
        DiagnosticKind::String => Type::String,
    };
    let mut element = Element::new(
        kind.element(),
        &[
            ("name", name),
            ("valueReference", &diagnostic.value_reference.to_string()),
            ("description", &diagnostic.description),
        ],
    );
    let roles: &[(&str, &str)] = match diagnostic.kind {
        DiagnosticKind::Time => &[("causality", "independent"), ("variability", "continuous")],
        _ => &[("causality", "local"), ("variability", "discrete"), ("initial", "calculated")],
    };
    roles.iter().for_each(|(name, value)| element.set(name, value));
    if let Some(unit) = diagnostic.unit.as_ref().filter(|_| kind == Type::Float64) {
        element.set("unit", unit);
    }
    element
}
