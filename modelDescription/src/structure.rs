//! Repair `ModelStructure`: its three lists are what FMI says that they are.
//!
//! Outputs and InitialUnknowns follow from the variables, so they are computed; the dependencies that the
//! file gives are kept. Derivatives cannot be computed: their order is that of the states.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::conform::section;
use crate::error::Error;
use crate::literal;
use crate::model::{Causality, DependencyKind, Initial, Kind};
use crate::notes::Notes;
use crate::tree::{Element, Node};
use crate::variables::{Facts, value_element_mut};

pub(crate) fn repair_structure(
    root: &mut Element,
    facts: &mut [Facts],
    notes: &mut Notes,
) -> Result<(), Error> {
    if root.child("ModelStructure").is_none() {
        notes.warn("fmiModelDescription", root.line, "it has no <ModelStructure>; read as an empty one");
    }
    let is_model_exchange = root.child("ModelExchange").is_some();
    let structure = section(root, "ModelStructure");
    for name in ["Outputs", "Derivatives", "InitialUnknowns"] {
        if let Some(list) = structure.child_mut(name) {
            repair_list(list, facts, notes)?;
        }
    }
    if is_model_exchange && structure.child("Derivatives").is_none() {
        tell_unlisted(structure, facts, notes);
    }
    let derivatives: Vec<usize> = structure.section("Derivatives").filter_map(index).collect();
    let line = structure.child("Derivatives").map_or(0, |list| list.line);
    find_states(root, &derivatives, line, facts, notes);

    let structure = section(root, "ModelStructure");
    let outputs = (0..facts.len()).filter(|i| facts[*i].causality == Causality::Output).collect();
    complete(structure, "Outputs", &outputs, facts, notes);
    complete(structure, "InitialUnknowns", &initial_unknowns(&derivatives, facts), facts, notes);
    Ok(())
}

/// The 0-based variable of an `<Unknown>`.
pub(crate) fn index(unknown: &Element) -> Option<usize> {
    unknown.get("index").and_then(literal::parse_unsigned).and_then(|i| (i as usize).checked_sub(1))
}

fn repair_list(list: &mut Element, facts: &[Facts], notes: &mut Notes) -> Result<(), Error> {
    let states = list.name == "Derivatives";
    let name = list.name.clone();
    let mut seen = HashSet::new();
    let mut fault = None;
    list.retain(|unknown| {
        let text = unknown.get("index").unwrap_or("").to_string();
        let Some(variable) = index(unknown).filter(|i| *i < facts.len()) else {
            if states {
                let expected = format!("the index of a variable, 1 to {}", facts.len());
                fault.get_or_insert(bad_index(&text, unknown.line, expected));
            }
            notes.warn(&name, unknown.line, &format!("index=\"{text}\" is not that of a variable; left out"));
            return false;
        };
        if states && facts[variable].kind != Some(Kind::Real) {
            let expected = format!("a Real variable; \"{}\" is none", facts[variable].name);
            fault.get_or_insert(bad_index(&text, unknown.line, expected));
        }
        if !seen.insert(variable) {
            notes.warn(
                &name,
                unknown.line,
                &format!("\"{}\" is listed twice; read once", facts[variable].name),
            );
            return false;
        }
        repair_dependencies(unknown, &facts[variable].name, facts.len(), notes);
        true
    });
    fault.map_or(Ok(()), Err)
}

fn bad_index(value: &str, line: usize, expected: String) -> Error {
    let element = "<Unknown> in <Derivatives>".to_string();
    Error::BadAttribute { element, attribute: "index", value: value.into(), line, expected }
}

fn repair_dependencies(unknown: &mut Element, name: &str, variables: usize, notes: &mut Notes) {
    let line = unknown.line;
    let split = |text: &str| -> Vec<String> {
        text.split(|c: char| c.is_whitespace() || c == ',' || c == ';')
            .filter(|t| !t.is_empty())
            .map(str::to_string)
            .collect()
    };
    let kinds = unknown.get("dependenciesKind").map(split);
    let Some(text) = unknown.get("dependencies").map(str::to_string) else {
        if unknown.remove("dependenciesKind").is_some() {
            let what = format!(
                "\"{name}\" has dependenciesKind without dependencies; read as if it may depend on all"
            );
            notes.warn("Unknown", line, &what);
        }
        return;
    };
    let mut indices = Vec::new();
    for token in split(&text) {
        let index = literal::parse_unsigned(&token).map(|i| i as usize);
        match index.filter(|i| (1..=variables).contains(i)) {
            Some(index) => indices.push(index),
            None => {
                let what = format!(
                    "the dependency \"{token}\" of \"{name}\" is no variable; read as if it may depend on all"
                );
                notes.warn("Unknown", line, &what);
                unknown.remove("dependencies");
                unknown.remove("dependenciesKind");
                return;
            }
        }
    }
    let mut words: Vec<DependencyKind> = vec![DependencyKind::Dependent; indices.len()];
    if let Some(kinds) = &kinds {
        if kinds.len() == indices.len() {
            for (word, text) in words.iter_mut().zip(kinds) {
                match DependencyKind::from_word(text) {
                    Some(kind) => *word = kind,
                    None => {
                        let what =
                            format!("the dependenciesKind \"{text}\" of \"{name}\" is read as \"dependent\"");
                        notes.warn("Unknown", line, &what);
                    }
                }
            }
        } else {
            let what = format!(
                "\"{name}\" has {} dependencies and {} kinds; all are read as \"dependent\"",
                indices.len(),
                kinds.len()
            );
            notes.warn("Unknown", line, &what);
        }
    }
    if !indices.is_sorted_by(|a, b| a < b) {
        notes.warn("Unknown", line, &format!("the dependencies of \"{name}\" are not ascending; sorted"));
    }
    let mut sorted: BTreeMap<usize, DependencyKind> = BTreeMap::new();
    for (index, kind) in indices.into_iter().zip(words) {
        let entry = sorted.entry(index).or_insert(kind);
        if *entry != kind {
            *entry = DependencyKind::Dependent;
        }
    }
    let joined = |words: Vec<String>| words.join(" ");
    unknown.set("dependencies", &joined(sorted.keys().map(usize::to_string).collect()));
    if kinds.is_some() {
        unknown.set("dependenciesKind", &joined(sorted.values().map(|k| k.word().to_string()).collect()));
    }
}

/// A Model-Exchange FMU that marks derivatives but does not list them has no continuous states: Dymola exports models that way
/// which integrate themselves. What is not listed is not invented.
fn tell_unlisted(structure: &Element, facts: &[Facts], notes: &mut Notes) {
    let marked = facts.iter().filter(|fact| fact.derivative.is_some()).map(|fact| fact.name.clone());
    let marked: Vec<String> = marked.collect();
    if !marked.is_empty() {
        let what = format!(
            "it lists no <Derivatives>: the model is read as one without continuous states, although variables are marked \
             as derivatives: {}",
            shown(&marked)
        );
        notes.warn("ModelStructure", structure.line, &what);
    }
}

/// An entry of `Derivatives` must say whose derivative it is. An alias may, or its name `der(x)`.
fn find_states(
    root: &mut Element,
    derivatives: &[usize],
    line: usize,
    facts: &mut [Facts],
    notes: &mut Notes,
) {
    if derivatives.iter().all(|d| facts[*d].derivative.is_some()) {
        return;
    }
    let by_name: HashMap<&str, usize> = facts.iter().enumerate().map(|(i, f)| (f.name.as_str(), i)).collect();
    let mut by_reference: HashMap<u32, usize> = HashMap::new();
    for fact in facts.iter() {
        if let (Some(Kind::Real), Some(vr), Some(state)) = (fact.kind, fact.value_reference, fact.derivative)
        {
            by_reference.entry(vr).or_insert(state);
        }
    }
    let mut found: BTreeMap<usize, usize> = BTreeMap::new();
    for &derivative in derivatives.iter().filter(|d| facts[**d].derivative.is_none()) {
        let fact = &facts[derivative];
        let alias = fact.value_reference.and_then(|vr| by_reference.get(&vr)).copied();
        let inner = fact.name.strip_prefix("der(").and_then(|n| n.strip_suffix(')'));
        let named =
            inner.and_then(|n| by_name.get(n)).copied().filter(|i| facts[*i].kind == Some(Kind::Real));
        match alias.or(named).filter(|state| *state != derivative) {
            Some(state) => {
                let what = format!(
                    "\"{}\" does not say whose derivative it is; read as that of \"{}\"",
                    fact.name, facts[state].name
                );
                notes.warn("Derivatives", line, &what);
                found.insert(derivative, state);
            }
            None => {
                let what =
                    format!("\"{}\" does not say whose derivative it is; its state has no name", fact.name);
                notes.warn("Derivatives", line, &what);
            }
        }
    }
    let Some(section) = root.child_mut("ModelVariables") else { return };
    for (i, element) in section.elements_mut().enumerate() {
        if let Some(state) = found.get(&i)
            && let Some((_, value)) = value_element_mut(element)
        {
            value.set("derivative", &(state + 1).to_string());
            facts[i].derivative = Some(*state);
        }
    }
}

/// FMI 2.0.4, section 2.2.8: outputs and states that are not exact, calculated parameters.
fn initial_unknowns(derivatives: &[usize], facts: &[Facts]) -> BTreeSet<usize> {
    let open = |i: usize| matches!(facts[i].initial, Some(Initial::Approx | Initial::Calculated));
    let of_variables = (0..facts.len()).filter(|i| match facts[*i].causality {
        Causality::Output => open(*i),
        Causality::CalculatedParameter => true,
        _ => false,
    });
    let states = derivatives.iter().filter_map(|d| Some([*d, facts[*d].derivative?])).flatten();
    of_variables.chain(states.filter(|i| open(*i))).collect()
}

/// Take out of a list what does not belong, and append what is missing, without dependencies: on all.
fn complete(
    structure: &mut Element,
    name: &str,
    wanted: &BTreeSet<usize>,
    facts: &[Facts],
    notes: &mut Notes,
) {
    let line = structure.child(name).map_or(structure.line, |list| list.line);
    let given: BTreeSet<usize> = structure.section(name).filter_map(index).collect();
    let names = |set: &mut dyn Iterator<Item = &usize>| -> Vec<String> {
        set.map(|i| facts[*i].name.clone()).collect()
    };
    let extra = names(&mut given.difference(wanted));
    let missing = names(&mut wanted.difference(&given));
    if !extra.is_empty() {
        notes.warn(name, line, &format!("it lists what does not belong there; left out: {}", shown(&extra)));
    }
    if !missing.is_empty() {
        notes.warn(name, line, &format!("it does not list all that it must; added: {}", shown(&missing)));
    }
    if wanted.is_empty() {
        structure.retain(|e| e.name != name);
        return;
    }
    if structure.child(name).is_none() {
        // Outputs come first, InitialUnknowns last.
        structure.insert(Element::new(name, &[]), 2, |_| name != "Outputs");
    }
    let Some(list) = structure.child_mut(name) else { return };
    list.retain(|e| index(e).is_some_and(|i| wanted.contains(&i)));
    for i in wanted.difference(&given) {
        list.push(Element::new("Unknown", &[("index", &(i + 1).to_string())]), 3);
    }
    if name == "InitialUnknowns" {
        let sorted = list.elements().filter_map(index).is_sorted();
        if !sorted && missing.is_empty() {
            notes.warn(name, line, "it is not in the order of the variables; sorted");
        }
        if !sorted {
            sort(list);
        }
    }
}

/// Sort the elements; what stands between them stays where it is.
fn sort(list: &mut Element) {
    let mut elements: Vec<Element> = list.elements_mut().map(std::mem::take).collect();
    elements.sort_by_key(index);
    let mut elements = elements.into_iter();
    for node in &mut list.children {
        if let Node::Element(slot) = node
            && let Some(next) = elements.next()
        {
            *slot = next;
        }
    }
}

/// A list of names that stays readable.
pub(crate) fn shown(names: &[String]) -> String {
    const MANY: usize = 8;
    let head = names[..names.len().min(MANY)].join(", ");
    if names.len() > MANY { format!("{head} and {} more", names.len() - MANY) } else { head }
}
