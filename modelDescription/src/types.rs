//! Repair types and units: whatever a variable refers to is defined.
//!
//! A missing type or unit is defined by its name alone. A missing display unit is not: its factor is
//! unknown, and to define it would say that a degree is a radian. The attribute goes instead.

use std::collections::{HashMap, HashSet};

use crate::conform::section;
use crate::model::Kind;
use crate::notes::Notes;
use crate::tree::{Element, Node};
use crate::variables::{value_element, value_element_mut};

/// More items than this are not made up for an enumeration.
const ITEM_LIMIT: i64 = 1000;

pub(crate) fn repair_types(root: &mut Element, notes: &mut Notes) {
    drop_repeated(root, notes);
    complete_definitions(root, notes);
    let missing = repair_declared_types(root, notes);
    if !missing.is_empty() {
        let section = section(root, "TypeDefinitions");
        for simple_type in missing {
            section.push(simple_type, 2);
        }
    }
    repair_units(root, notes);
}

/// Define a unit if it is not defined.
pub(crate) fn ensure_unit(root: &mut Element, name: &str) {
    if root.section("UnitDefinitions").any(|u| u.get("name") == Some(name)) {
        return;
    }
    let mut unit = Element::new("Unit", &[("name", name)]);
    // The one unit that fmu-build itself brings along.
    if name == "s" {
        unit.push(Element::new("BaseUnit", &[("s", "1")]), 3);
    }
    section(root, "UnitDefinitions").push(unit, 2);
}

/// Of definitions with the same name the first holds; display units of the others go to it.
fn drop_repeated(root: &mut Element, notes: &mut Notes) {
    for list in ["UnitDefinitions", "TypeDefinitions"] {
        let Some(section) = root.child_mut(list) else { continue };
        let mut seen = HashSet::new();
        let mut displays: HashMap<String, Vec<Element>> = HashMap::new();
        section.retain(|definition| {
            let name = definition.get("name").unwrap_or("").to_string();
            if seen.insert(name.clone()) {
                return true;
            }
            notes.warn(
                &definition.name,
                definition.line,
                &format!("\"{name}\" is defined already; left out"),
            );
            let more = definition.elements().filter(|e| e.name == "DisplayUnit").cloned();
            displays.entry(name).or_default().extend(more);
            notes.keep_element(list, definition.clone());
            false
        });
        for unit in section.elements_mut() {
            for display in displays.remove(unit.get("name").unwrap_or("")).unwrap_or_default() {
                unit.push(display, 3);
            }
        }
    }
}

/// The type of a type comes first, and an enumeration has items.
fn complete_definitions(root: &mut Element, notes: &mut Notes) {
    let Some(section) = root.child_mut("TypeDefinitions") else { return };
    for simple_type in section.elements_mut() {
        // Some readers, FMPy among them, take the first node for the type, be it a comment.
        if let Some(at) = simple_type.children.iter().position(|node| node.as_element().is_some()) {
            let comments = simple_type.children[..at].iter().any(|node| !matches!(node, Node::Text(_)));
            if comments {
                simple_type.children[..=at].rotate_right(1);
            }
        }
        let name = simple_type.get("name").unwrap_or("").to_string();
        let line = simple_type.line;
        if let Some((Kind::Enumeration, value)) = value_element_mut(simple_type)
            && value.elements().next().is_none()
        {
            notes.warn("SimpleType", line, &format!("the enumeration \"{name}\" has no items; it gets one"));
            add_items(value, 1, 1);
        }
    }
}

fn add_items(enumeration: &mut Element, first: i64, last: i64) {
    for value in first..=last.max(first).min(first.saturating_add(ITEM_LIMIT)) {
        let value = value.to_string();
        enumeration.push(Element::new("Item", &[("name", &format!("item{value}")), ("value", &value)]), 4);
    }
}

/// The types that variables refer to and nobody defines.
fn repair_declared_types(root: &mut Element, notes: &mut Notes) -> Vec<Element> {
    let mut kinds: HashMap<String, Kind> = HashMap::new();
    for simple_type in root.section("TypeDefinitions") {
        if let (Some(name), Some((kind, _))) = (simple_type.get("name"), value_element(simple_type)) {
            kinds.insert(name.to_string(), kind);
        }
    }
    let mut missing = Vec::new();
    let Some(section) = root.child_mut("ModelVariables") else { return missing };
    for variable in section.elements_mut() {
        notes.variable = variable.get("name").map(str::to_string);
        let own = notes.variable.clone().unwrap_or_default();
        let Some((kind, value)) = value_element_mut(variable) else { continue };
        let line = value.line;
        if let Some(declared) = value.get("declaredType").map(str::to_string) {
            match kinds.get(&declared) {
                Some(defined) if *defined == kind => continue,
                Some(defined) => {
                    let what =
                        format!("declaredType=\"{declared}\" is of type {}; left out", defined.element());
                    notes.warn(kind.element(), line, &what);
                    notes.keep_attribute(kind.element(), "declaredType", &declared);
                    value.remove("declaredType");
                }
                None => {
                    let what = format!("declaredType=\"{declared}\" is not defined; defined");
                    notes.warn(kind.element(), line, &what);
                    missing.push(define(&declared, kind, value));
                    kinds.insert(declared, kind);
                    continue;
                }
            }
        }
        if kind == Kind::Enumeration {
            let mut name = format!("Enumeration of {own}");
            while kinds.contains_key(&name) {
                name.push('_');
            }
            notes.warn(
                kind.element(),
                line,
                &format!("it has no declaredType; \"{name}\" is defined for it"),
            );
            missing.push(define(&name, kind, value));
            value.set("declaredType", &name);
            kinds.insert(name, kind);
        }
    }
    notes.variable = None;
    missing
}

fn define(name: &str, kind: Kind, value: &Element) -> Element {
    let mut definition = Element::new(kind.element(), &[]);
    if kind == Kind::Enumeration {
        let number = |attribute: &str| value.get(attribute).and_then(|text| text.trim().parse::<i64>().ok());
        let first = number("min").unwrap_or(1);
        add_items(&mut definition, first, number("max").or(number("start")).unwrap_or(first));
    }
    let mut simple_type = Element::new("SimpleType", &[("name", name)]);
    simple_type.push(definition, 3);
    simple_type
}

fn repair_units(root: &mut Element, notes: &mut Notes) {
    let mut units: HashMap<String, HashSet<String>> = HashMap::new();
    for unit in root.section("UnitDefinitions") {
        let displays = unit.elements().filter(|e| e.name == "DisplayUnit");
        let displays = displays.filter_map(|e| e.get("name")).map(str::to_string);
        units.entry(unit.get("name").unwrap_or("").to_string()).or_default().extend(displays);
    }
    let mut missing: Vec<String> = Vec::new();
    let mut displays: HashSet<String> = HashSet::new();
    let mut of_types: HashMap<String, String> = HashMap::new();
    for list in ["TypeDefinitions", "ModelVariables"] {
        let Some(section) = root.child_mut(list) else { continue };
        for element in section.elements_mut() {
            let name = element.get("name").unwrap_or("").to_string();
            let whose = element.name.clone();
            let Some((Kind::Real, value)) = value_element_mut(element) else { continue };
            let warn = |notes: &mut Notes, line: usize, what: String| {
                notes.warnings.push(format!("<Real> of <{whose}> \"{name}\" (line {line}): {what}"));
            };
            for attribute in ["unit", "displayUnit"] {
                if value.get(attribute) == Some("") {
                    // Common and without meaning: not worth a warning for each variable.
                    value.remove(attribute);
                }
            }
            let unit = value.get("unit").map(str::to_string);
            let unit = unit.or_else(|| of_types.get(value.get("declaredType")?).cloned());
            if let Some(unit) = &unit {
                if !units.contains_key(unit) {
                    warn(notes, value.line, format!("the unit \"{unit}\" is not defined; defined"));
                    units.insert(unit.clone(), HashSet::new());
                    missing.push(unit.clone());
                }
                if list == "TypeDefinitions" {
                    of_types.insert(name.clone(), unit.clone());
                }
            }
            let Some(display) = value.get("displayUnit").map(str::to_string) else { continue };
            let known = unit.as_ref().and_then(|unit| units.get_mut(unit));
            match known {
                Some(known) if known.contains(&display) => {}
                // This factor is known: it is one.
                Some(known) if unit.as_deref() == Some(&display) => {
                    warn(
                        notes,
                        value.line,
                        format!("the display unit \"{display}\" is not defined; defined"),
                    );
                    known.insert(display.clone());
                    displays.insert(display);
                }
                _ => {
                    let what =
                        format!("the display unit \"{display}\" is not defined for its unit; left out");
                    warn(notes, value.line, what);
                    notes.variable = (list == "ModelVariables").then(|| name.clone());
                    notes.keep_attribute("Real", "displayUnit", &display);
                    notes.variable = None;
                    value.remove("displayUnit");
                }
            }
        }
    }
    for unit in missing {
        // Not `ensure_unit`: it searches, and thousands may be missing.
        section(root, "UnitDefinitions").push(Element::new("Unit", &[("name", &unit)]), 2);
    }
    if displays.is_empty() {
        return;
    }
    for unit in section(root, "UnitDefinitions").elements_mut() {
        let name = unit.get("name").unwrap_or("").to_string();
        if displays.remove(&name) {
            unit.push(Element::new("DisplayUnit", &[("name", &name)]), 3);
        }
    }
}
