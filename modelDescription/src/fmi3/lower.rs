//! The tree of FMI 3.0 to one of FMI 2.0: a scalar for each element of an array.
//!
//! What comes out is checked and repaired as a description of FMI 2.0, so that only what is special to FMI 3.0 is looked at
//! here: value references, dimensions, lists of start values, defaults that differ.

use std::collections::{BTreeMap, HashMap};

use super::{Array, Clock, Fmi3, IntervalVariability, StructuralParameter, Type};
use crate::error::Error;
use crate::literal;
use crate::model::Kind;
use crate::notes::Notes;
use crate::tree::{Document, Element, Node, local};

/// Scalars that are accepted: as a tree they take about a gigabyte.
pub(crate) const MOST_SCALARS: u64 = 1_000_000;
/// Dependencies of single scalars on single scalars that are written down; beyond that an array may depend on everything.
const MOST_DEPENDENCIES: usize = 4_000_000;

/// The same model as a description of FMI 2.0. `chosen` are values for structural parameters, by name.
pub(crate) fn lower(
    document: &Document,
    chosen: &[(String, u64)],
    notes: &mut Notes,
) -> Result<(Document, Fmi3), Error> {
    let root = &document.root;
    let mut lowered = Element { line: root.line, ..Element::new("fmiModelDescription", &[]) };
    lowered.set("fmiVersion", "2.0");
    copy(root, &mut lowered, &ROOT_ATTRIBUTES);
    for attribute in &root.attributes {
        if attribute.0.starts_with("xmlns:") {
            lowered.attributes.push(attribute.clone());
        }
    }
    let variables = Variables::of(root, chosen, notes)?;
    let indicators = variables.indicators(root, notes);
    lowered.set("numberOfEventIndicators", &indicators.to_string());
    for name in ["ModelExchange", "CoSimulation"] {
        if let Some(given) = child(root, name) {
            lowered.push(interface(given, name), 1);
        }
    }
    if let Some(units) = child(root, "UnitDefinitions") {
        push_section(&mut lowered, "UnitDefinitions", units.elements().map(without_annotations).collect());
    }
    if let Some(types) = child(root, "TypeDefinitions") {
        push_section(&mut lowered, "TypeDefinitions", types.elements().filter_map(simple_type).collect());
    }
    for name in ["LogCategories", "DefaultExperiment"] {
        if let Some(given) = child(root, name) {
            let mut copied = without_annotations(given);
            copied.name = name.into();
            if !copied.attributes.is_empty() || copied.elements().next().is_some() {
                lowered.push(copied, 1);
            }
        }
    }
    let mut list =
        Element { line: child(root, "ModelVariables").map_or(0, |e| e.line), ..Element::default() };
    list.name = "ModelVariables".into();
    let mut structure = Element::new("ModelStructure", &[]);
    structure.line = child(root, "ModelStructure").map_or(0, |e| e.line);
    variables.write(&mut list);
    variables.structure(root, &mut structure, notes);
    lowered.push(list, 1);
    lowered.push(structure, 1);
    let fmi3 = Fmi3 { arrays: variables.arrays, structure: variables.structural, clocks: variables.clocks };
    Ok((Document { prolog: Vec::new(), root: lowered, epilog: Vec::new() }, fmi3))
}

const ROOT_ATTRIBUTES: [(&str, &str); 10] = [
    ("modelName", "modelName"),
    ("instantiationToken", "guid"),
    ("description", "description"),
    ("author", "author"),
    ("version", "version"),
    ("copyright", "copyright"),
    ("license", "license"),
    ("generationTool", "generationTool"),
    ("generationDateAndTime", "generationDateAndTime"),
    ("variableNamingConvention", "variableNamingConvention"),
];

const INTERFACE_ATTRIBUTES: [(&str, &str); 6] = [
    ("modelIdentifier", "modelIdentifier"),
    ("needsExecutionTool", "needsExecutionTool"),
    ("canBeInstantiatedOnlyOncePerProcess", "canBeInstantiatedOnlyOncePerProcess"),
    ("canGetAndSetFMUState", "canGetAndSetFMUstate"),
    ("canSerializeFMUState", "canSerializeFMUstate"),
    ("providesDirectionalDerivatives", "providesDirectionalDerivative"),
];

/// Of a variable's or a type's element; not `start`, which is a list for arrays, and not what refers to other variables.
const VALUE_ATTRIBUTES: [&str; 10] = [
    "declaredType",
    "quantity",
    "unit",
    "displayUnit",
    "relativeQuantity",
    "min",
    "max",
    "nominal",
    "unbounded",
    "reinit",
];

fn copy(from: &Element, to: &mut Element, names: &[(&str, &str)]) {
    for (theirs, ours) in names {
        if let Some(value) = from.get_loosely(theirs) {
            to.set(ours, value);
        }
    }
}

/// A child by its name, whatever its prefix.
pub(super) fn child<'a>(element: &'a Element, name: &str) -> Option<&'a Element> {
    element.elements().find(|e| local(&e.name) == name)
}

fn push_section(root: &mut Element, name: &str, elements: Vec<Element>) {
    if elements.is_empty() {
        return;
    }
    let mut section = Element::new(name, &[]);
    elements.into_iter().for_each(|element| section.push(element, 2));
    root.push(section, 1);
}

/// The same without what only FMI 3.0 has: annotations, and whether a display unit divides.
fn without_annotations(element: &Element) -> Element {
    let mut copied = Element { children: Vec::new(), ..element.clone() };
    copied.name = local(&element.name).into();
    copied.remove("inverse");
    for inner in element.elements().filter(|e| local(&e.name) != "Annotations") {
        copied.push(without_annotations(inner), 2);
    }
    copied
}

fn interface(given: &Element, name: &str) -> Element {
    let mut interface = Element { line: given.line, ..Element::new(name, &[]) };
    copy(given, &mut interface, &INTERFACE_ATTRIBUTES);
    if name == "ModelExchange" {
        // FMI 2.0 asks for the call unless it is not needed, FMI 3.0 does not unless it is.
        let needed = given.get_loosely("needsCompletedIntegratorStep").and_then(literal::parse_boolean);
        let not_needed = if needed == Some(true) { "false" } else { "true" };
        interface.set("completedIntegratorStepNotNeeded", not_needed);
    }
    interface
}

fn simple_type(given: &Element) -> Option<Element> {
    let kind = Type::from_element(local(&given.name).strip_suffix("Type")?)?;
    let scalar = kind.scalar()?;
    let mut simple = Element { line: given.line, ..Element::new("SimpleType", &[]) };
    copy(given, &mut simple, &[("name", "name"), ("description", "description")]);
    let mut value = Element { line: given.line, ..Element::new(scalar.element(), &[]) };
    copy_value(given, &mut value, scalar);
    for item in given.elements().filter(|e| local(&e.name) == "Item") {
        let fits = item.get("value").is_none_or(|value| literal::int(value).is_some());
        if fits {
            value.push(without_annotations(item), 4);
        }
    }
    simple.push(value, 3);
    Some(simple)
}

/// Attributes of values that FMI 2.0 has for this type. A bound that does not fit in 32 bits bounds nothing there.
fn copy_value(from: &Element, to: &mut Element, kind: Kind) {
    for name in VALUE_ATTRIBUTES {
        let Some(value) = from.get(name) else { continue };
        let known = match (name, kind) {
            ("declaredType", _) => true,
            (_, Kind::Real) => true,
            ("min" | "max", Kind::Integer | Kind::Enumeration) => literal::int(value).is_some(),
            ("quantity", Kind::Integer | Kind::Enumeration) => true,
            _ => false,
        };
        if known {
            to.set(name, value);
        }
    }
}

/// The variables of FMI 3.0, and where their scalars are.
struct Variables<'a> {
    elements: Vec<&'a Element>,
    /// One for each of `elements`.
    arrays: Vec<Array>,
    structural: Vec<StructuralParameter>,
    clocks: Vec<Clock>,
    /// Index in `arrays` by value reference.
    by_reference: HashMap<u32, usize>,
    /// References of variables that have no scalars: clocks and what was left out.
    without: HashMap<u32, usize>,
}

impl<'a> Variables<'a> {
    fn of(root: &'a Element, chosen: &[(String, u64)], notes: &mut Notes) -> Result<Self, Error> {
        let mut variables = Variables {
            elements: Vec::new(),
            arrays: Vec::new(),
            structural: Vec::new(),
            clocks: Vec::new(),
            by_reference: HashMap::new(),
            without: HashMap::new(),
        };
        let given: Vec<&Element> =
            child(root, "ModelVariables").into_iter().flat_map(Element::elements).collect();
        for element in &given {
            if causality(element) == "structuralParameter" {
                let parameter = structural_parameter(element, chosen)?;
                variables.structural.push(parameter);
            }
        }
        let sizes: HashMap<u32, u64> =
            variables.structural.iter().map(|it| (it.value_reference, it.value)).collect();
        let (mut total, mut left_out) = (0u64, Vec::new());
        for element in given {
            let Some(kind) = Type::from_element(local(&element.name)) else {
                notes.warn(&element.name, element.line, "no type of FMI 3.0; the variable is left out");
                continue;
            };
            let name = named(element)?;
            let value_reference = reference(element, &name)?;
            if kind == Type::Clock {
                variables.clocks.push(clock(element, &name, value_reference, notes));
                variables.without.insert(value_reference, element.line);
                continue;
            }
            if kind == Type::Binary || !fits(element, kind) {
                left_out.push(name);
                variables.without.insert(value_reference, element.line);
                continue;
            }
            let dimensions = dimensions(element, &name, &sizes)?;
            let count = dimensions.iter().try_fold(1u64, |product, size| product.checked_mul(*size));
            total = total.saturating_add(count.unwrap_or(u64::MAX));
            if total > MOST_SCALARS {
                return Err(Error::TooManyScalars { name, line: element.line, limit: MOST_SCALARS });
            }
            let array = Array {
                name,
                value_reference,
                kind,
                dimensions: dimensions.iter().map(|size| *size as u32).collect(),
                variable: 0,
                first: value_reference,
                count: count.unwrap_or(0) as u32,
            };
            let at = variables.arrays.len();
            if let Some(first) = variables.by_reference.insert(value_reference, at) {
                return Err(Error::BadAttribute {
                    element: format!("<{}> \"{}\"", element.name, array.name),
                    attribute: "valueReference",
                    value: value_reference.to_string(),
                    line: element.line,
                    expected: format!(
                        "one that no other variable has; \"{}\" has it. Re-export the model",
                        variables.arrays[first].name
                    ),
                });
            }
            variables.arrays.push(array);
            variables.elements.push(element);
        }
        if !left_out.is_empty() {
            let shown = crate::structure::shown(&left_out);
            notes.warnings.push(format!(
                "these variables are left out, because fmu-build hands no binary values and no integers beyond 32 bits through: {shown}"
            ));
        }
        variables.number(total)?;
        Ok(variables)
    }

    /// Give every scalar its place and its value reference. Scalars keep theirs; elements of arrays follow one another.
    fn number(&mut self, total: u64) -> Result<(), Error> {
        let mut used: Vec<u32> = self.by_reference.keys().chain(self.without.keys()).copied().collect();
        used.sort_unstable();
        // Room for all of them in one piece: behind the last, or in the first gap that is wide enough.
        let needed = total.min(u64::from(u32::MAX));
        let ends = used.iter().map(|it| u64::from(*it) + 1).collect::<Vec<_>>();
        let begins = used.iter().map(|it| u64::from(*it)).skip(1).chain([u64::from(u32::MAX) + 1]);
        let gaps: Vec<(u64, u64)> = ends.into_iter().zip(begins).collect();
        let last = gaps.last().copied().unwrap_or((0, u64::from(u32::MAX) + 1));
        let mut wide = std::iter::once(last).chain(gaps).filter(|(from, to)| to - from >= needed);
        let mut next = wide.next().map_or(0, |(from, _)| from);
        let mut variable = 0;
        for array in &mut self.arrays {
            array.variable = variable;
            variable += array.count as usize;
            if array.count != 1 {
                array.first = next as u32;
                next += u64::from(array.count);
            }
        }
        Ok(())
    }

    fn indicators(&self, root: &Element, notes: &mut Notes) -> u64 {
        let listed = child(root, "ModelStructure").into_iter().flat_map(Element::elements);
        let indicators = listed.filter(|e| local(&e.name) == "EventIndicator");
        let count = |e: &Element| match self.referred(e) {
            Some(array) => u64::from(array.count),
            None => {
                notes.warn("EventIndicator", e.line, "it refers to no variable; counted as one");
                1
            }
        };
        indicators.map(count).sum()
    }

    fn referred(&self, unknown: &Element) -> Option<&Array> {
        let reference = unknown.get("valueReference").and_then(literal::parse_unsigned)?;
        self.by_reference.get(&reference).map(|at| &self.arrays[*at])
    }

    fn write(&self, list: &mut Element) {
        let mut written = Vec::new();
        let mut aliases = Vec::new();
        for (element, array) in self.elements.iter().zip(&self.arrays) {
            let frozen = self.structural.iter().find(|it| it.value_reference == array.value_reference);
            let starts = starts(element, array, frozen);
            let derivative = element.get("derivative").and_then(literal::parse_unsigned);
            let state = derivative.and_then(|reference| self.by_reference.get(&reference));
            let state = state.map(|at| &self.arrays[*at]).filter(|state| state.count == array.count);
            for at in 0..array.count {
                let name = element_name(&array.name, &array.dimensions, at);
                let start = starts.get(at as usize).map(String::as_str);
                let state = state.map(|state| state.variable + at as usize + 1);
                written.push(scalar(element, array, &name, array.first + at, start, state, frozen.is_some()));
                for alias in element.elements().filter(|e| local(&e.name) == "Alias") {
                    let Some(other) = alias.get("name") else { continue };
                    let name = element_name(other, &array.dimensions, at);
                    aliases.push(alias_of(alias, element, array, &name, array.first + at, start));
                }
            }
        }
        // Behind all others, whose indices are already told.
        written.extend(aliases);
        for element in written {
            list.children.push(Node::Text("\n    ".into()));
            list.children.push(Node::Element(element));
        }
        list.children.push(Node::Text("\n  ".into()));
    }

    fn structure(&self, root: &Element, structure: &mut Element, notes: &mut Notes) {
        let mut states: HashMap<u32, ()> = HashMap::new();
        let listed: Vec<&Element> =
            child(root, "ModelStructure").into_iter().flat_map(Element::elements).collect();
        for derivative in listed.iter().filter(|e| local(&e.name) == "ContinuousStateDerivative") {
            let Some(array) = self.referred(derivative) else { continue };
            states.insert(array.value_reference, ());
            let at = self.by_reference.get(&array.value_reference).copied().unwrap_or(0);
            if let Some(state) = self.elements[at].get("derivative").and_then(literal::parse_unsigned) {
                states.insert(state, ());
            }
        }
        let mut room = MOST_DEPENDENCIES;
        for (theirs, ours) in [
            ("Output", "Outputs"),
            ("ContinuousStateDerivative", "Derivatives"),
            ("InitialUnknown", "InitialUnknowns"),
        ] {
            let mut list = Element::new(ours, &[]);
            let mut unknowns: BTreeMap<(usize, usize), Element> = BTreeMap::new();
            for (place, given) in listed.iter().filter(|e| local(&e.name) == theirs).enumerate() {
                if list.line == 0 {
                    list.line = given.line;
                }
                let Some(array) = self.referred(given) else {
                    let known = given.get("valueReference").and_then(literal::parse_unsigned);
                    if !known.is_some_and(|reference| self.without.contains_key(&reference)) {
                        let found = given.get("valueReference").unwrap_or("");
                        let what = format!("valueReference=\"{found}\" is not that of a variable; left out");
                        notes.warn(theirs, given.line, &what);
                    }
                    continue;
                };
                let element = self.elements[self.by_reference[&array.value_reference]];
                let open = matches!(causality(element), "output" | "calculatedParameter");
                // Indicators and clocked states, which FMI 2.0 does not list.
                if ours == "InitialUnknowns" && !open && !states.contains_key(&array.value_reference) {
                    continue;
                }
                let dependencies = self.dependencies(given, array.count, &mut room, notes);
                for at in 0..array.count as usize {
                    let index = array.variable + at + 1;
                    let mut unknown = Element { line: given.line, ..Element::new("Unknown", &[]) };
                    unknown.set("index", &index.to_string());
                    if let Some((indices, kinds)) = &dependencies {
                        unknown.set("dependencies", indices);
                        if let Some(kinds) = kinds {
                            unknown.set("dependenciesKind", kinds);
                        }
                    }
                    // The order of states is that of the file; FMI 2.0 wants unknowns of the start in that of the variables.
                    let order = if ours == "InitialUnknowns" { (index, place) } else { (place, index) };
                    unknowns.insert(order, unknown);
                }
            }
            if !unknowns.is_empty() {
                unknowns.into_values().for_each(|unknown| list.push(unknown, 3));
                structure.push(list, 2);
            }
        }
    }

    /// Indices and kinds, each scalar of the unknown on each of what it depends on; `None`: on everything.
    fn dependencies(
        &self,
        given: &Element,
        count: u32,
        room: &mut usize,
        notes: &mut Notes,
    ) -> Option<(String, Option<String>)> {
        let text = given.get("dependencies")?;
        let kinds: Option<Vec<&str>> = given.get("dependenciesKind").map(|k| k.split_whitespace().collect());
        let mut scalars: BTreeMap<usize, Option<&str>> = BTreeMap::new();
        for (at, token) in text.split_whitespace().enumerate() {
            let reference = literal::parse_unsigned(token);
            let array = reference.and_then(|it| self.by_reference.get(&it)).map(|at| &self.arrays[*at]);
            let kind = kinds.as_ref().map(|kinds| kinds.get(at).copied().unwrap_or("dependent"));
            match array {
                Some(array) => {
                    let first = array.variable + 1;
                    scalars.extend((first..first + array.count as usize).map(|index| (index, kind)));
                }
                None if reference.is_some_and(|it| self.without.contains_key(&it)) => {}
                None => {
                    let what =
                        format!("the dependency \"{token}\" is no variable; read as if it may depend on all");
                    notes.warn(&given.name, given.line, &what);
                    return None;
                }
            }
        }
        let needed = scalars.len().saturating_mul(count as usize);
        if needed > *room {
            return None;
        }
        *room -= needed;
        let indices: Vec<String> = scalars.keys().map(usize::to_string).collect();
        let kinds =
            kinds.map(|_| scalars.values().map(|k| k.unwrap_or("dependent")).collect::<Vec<_>>().join(" "));
        Some((indices.join(" "), kinds))
    }
}

fn causality(element: &Element) -> &str {
    element.get("causality").unwrap_or("local").trim()
}

fn named(element: &Element) -> Result<String, Error> {
    element.get("name").map(str::to_string).ok_or_else(|| Error::MissingAttribute {
        element: format!("<{}>", element.name),
        attribute: "name",
        line: element.line,
        next: "every variable needs one; re-export the model",
    })
}

fn reference(element: &Element, name: &str) -> Result<u32, Error> {
    let own = format!("<{}> \"{name}\"", element.name);
    match element.get("valueReference") {
        None => Err(Error::MissingAttribute {
            element: own,
            attribute: "valueReference",
            line: element.line,
            next: "the variable cannot be reached without it; re-export the model",
        }),
        Some(value) => literal::parse_unsigned(value).ok_or_else(|| Error::BadAttribute {
            element: own,
            attribute: "valueReference",
            value: value.into(),
            line: element.line,
            expected: format!("a number from 0 to {}; re-export the model", u32::MAX),
        }),
    }
}

fn structural_parameter(element: &Element, chosen: &[(String, u64)]) -> Result<StructuralParameter, Error> {
    let name = named(element)?;
    let value_reference = reference(element, &name)?;
    let bad = |value: &str, expected: &str| Error::BadAttribute {
        element: format!("<{}> \"{name}\"", element.name),
        attribute: "start",
        value: value.into(),
        line: element.line,
        expected: expected.into(),
    };
    let start = element.get("start").unwrap_or("");
    let own: u64 =
        start.trim().parse().map_err(|_| bad(start, "the size of an array; re-export the model"))?;
    let kind = Type::from_element(local(&element.name)).unwrap_or(Type::UInt64);
    let value = chosen.iter().rev().find(|(other, _)| *other == name).map_or(own, |(_, value)| *value);
    for (bound, allowed) in [("min", u64::ge as fn(&u64, &u64) -> bool), ("max", u64::le)] {
        let limit: Option<u64> = element.get(bound).and_then(|text| text.trim().parse().ok());
        if limit.is_some_and(|limit| !allowed(&value, &limit)) {
            let expected = format!("within {bound}=\"{}\"", limit.unwrap_or(0));
            return Err(bad(&value.to_string(), &expected));
        }
    }
    Ok(StructuralParameter { name, value_reference, kind, value, changed: value != own })
}

fn dimensions(element: &Element, name: &str, sizes: &HashMap<u32, u64>) -> Result<Vec<u64>, Error> {
    let given = element.elements().filter(|e| local(&e.name) == "Dimension");
    let size = |dimension: &Element| {
        let fixed = dimension.get("start").map(|text| (text, text.trim().parse::<u64>().ok()));
        let by_parameter = dimension
            .get("valueReference")
            .map(|text| (text, literal::parse_unsigned(text).and_then(|it| sizes.get(&it).copied())));
        let attribute = if fixed.is_some() { "start" } else { "valueReference" };
        match fixed.or(by_parameter) {
            Some((_, Some(size))) if size <= u64::from(u32::MAX) => Ok(size),
            found => Err(Error::BadAttribute {
                element: format!("<Dimension> of \"{name}\""),
                attribute,
                value: found.map_or("", |(text, _)| text).into(),
                line: dimension.line,
                expected: "a size, or the value reference of a structural parameter; re-export the model"
                    .into(),
            }),
        }
    };
    given.map(size).collect()
}

/// Its start values fit in FMI 2.0's type.
fn fits(element: &Element, kind: Type) -> bool {
    let wide = matches!(kind, Type::UInt32 | Type::Int64 | Type::UInt64 | Type::Enumeration);
    let start = element.get("start").unwrap_or("");
    !wide
        || start
            .split_whitespace()
            .all(|value| literal::int(value).is_some() || value.parse::<i128>().is_err())
}

fn clock(element: &Element, name: &str, value_reference: u32, notes: &mut Notes) -> Clock {
    let word = element.get("intervalVariability").unwrap_or("");
    let interval = IntervalVariability::from_word(word).unwrap_or_else(|| {
        let what = format!("intervalVariability=\"{word}\" of \"{name}\" is read as \"triggered\"");
        notes.warn("Clock", element.line, &what);
        IntervalVariability::Triggered
    });
    let number = |name: &str| element.get(name).and_then(literal::parse_double);
    let counted = |name: &str| Some(number(name)? / number("resolution").filter(|it| *it > 0.0)?);
    Clock {
        name: name.to_string(),
        value_reference,
        input: causality(element) == "input",
        interval,
        interval_seconds: number("intervalDecimal").or_else(|| counted("intervalCounter")),
        shift_seconds: number("shiftDecimal").or_else(|| counted("shiftCounter")),
        line: element.line,
    }
}

/// One start value for each scalar, as far as there are any. A single value is that of all elements.
fn starts(element: &Element, array: &Array, frozen: Option<&StructuralParameter>) -> Vec<String> {
    if let Some(parameter) = frozen {
        return vec![parameter.value.to_string()];
    }
    let given: Vec<String> = if array.kind == Type::String {
        let listed = element.elements().filter(|e| local(&e.name) == "Start");
        listed.filter_map(|e| e.get("value")).map(str::to_string).collect()
    } else if array.dimensions.is_empty() {
        element.get("start").map(str::to_string).into_iter().collect()
    } else {
        element.get("start").unwrap_or("").split_whitespace().map(str::to_string).collect()
    };
    match given.len() {
        1 => vec![given[0].clone(); array.count as usize],
        many if many == array.count as usize => given,
        // Of an array that has another size now: the FMU itself is asked.
        _ => Vec::new(),
    }
}

/// `x` and the place 5 of 2 × 4 elements: `x[2,2]`. The index of a derivative goes inside: `der(x[2,2])`.
pub(super) fn element_name(name: &str, dimensions: &[u32], at: u32) -> String {
    if dimensions.is_empty() {
        return name.to_string();
    }
    let mut rest = at;
    let mut indices: Vec<String> = dimensions
        .iter()
        .rev()
        .map(|size| {
            let index = rest % size + 1;
            rest /= size;
            index.to_string()
        })
        .collect();
    indices.reverse();
    let indices = indices.join(",");
    match name.strip_prefix("der(").and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) if !inner.contains([',', '(']) => format!("der({inner}[{indices}])"),
        _ => format!("{name}[{indices}]"),
    }
}

fn scalar(
    element: &Element,
    array: &Array,
    name: &str,
    value_reference: u32,
    start: Option<&str>,
    state: Option<usize>,
    frozen: bool,
) -> Element {
    let kind = array.kind.scalar().unwrap_or(Kind::Real);
    let mut variable = Element { line: element.line, ..Element::new("ScalarVariable", &[]) };
    variable.set("name", name);
    variable.set("valueReference", &value_reference.to_string());
    copy(element, &mut variable, &[("description", "description")]);
    if frozen {
        variable.set("causality", "local");
        variable.set("variability", "constant");
    } else {
        copy(element, &mut variable, &[("causality", "causality")]);
        variable.set("variability", element.get("variability").unwrap_or(default_variability(element, kind)));
        copy(element, &mut variable, &[("initial", "initial")]);
    }
    let mut value = Element { line: element.line, ..Element::new(kind.element(), &[]) };
    copy_value(element, &mut value, kind);
    if let Some(start) = start {
        value.set("start", start);
    }
    if let Some(state) = state {
        value.set("derivative", &state.to_string());
    }
    variable.push(value, 3);
    variable
}

fn default_variability(element: &Element, kind: Kind) -> &'static str {
    match causality(element) {
        "parameter" | "calculatedParameter" | "structuralParameter" => "fixed",
        _ if kind == Kind::Real => "continuous",
        _ => "discrete",
    }
}

/// Another name of the same value: a local variable, whatever the first one is.
fn alias_of(
    alias: &Element,
    element: &Element,
    array: &Array,
    name: &str,
    value_reference: u32,
    start: Option<&str>,
) -> Element {
    let kind = array.kind.scalar().unwrap_or(Kind::Real);
    let variability = element.get("variability").unwrap_or(default_variability(element, kind)).trim();
    let mut variable = Element { line: alias.line, ..Element::new("ScalarVariable", &[]) };
    variable.set("name", name);
    variable.set("valueReference", &value_reference.to_string());
    copy(alias, &mut variable, &[("description", "description")]);
    variable.set("causality", "local");
    variable.set("variability", variability);
    let mut value = Element { line: alias.line, ..Element::new(kind.element(), &[]) };
    copy_value(element, &mut value, kind);
    value.remove("reinit");
    if let Some(unit) = alias.get("displayUnit").filter(|_| kind == Kind::Real) {
        value.set("displayUnit", unit);
    }
    match (variability, start) {
        ("constant", Some(start)) => value.set("start", start),
        _ => variable.set("initial", "calculated"),
    }
    variable.push(value, 3);
    variable
}
