//! Repair the variables: legal combinations of causality, variability, initial and start; names; derivatives.
//!
//! Source: FMI 2.0.4, section 2.2.7, the tables of variability, causality and initial.
//!
//! A start value is made up only where FMI wants one and no other reading is legal: parameters and inputs.
//! A local or an output that promises `exact` without saying the value is `calculated` instead: a made-up
//! start value would be written into the model by importers.

use std::collections::{HashMap, HashSet};

use crate::literal;
use crate::model::{Causality, Initial, Kind, Variability};
use crate::notes::Notes;
use crate::tree::Element;

/// A variable after its repair, as far as others need it.
pub(crate) struct Facts {
    pub name: String,
    pub value_reference: Option<u32>,
    pub kind: Option<Kind>,
    pub causality: Causality,
    pub variability: Variability,
    pub initial: Option<Initial>,
    pub derivative: Option<usize>,
    pub invented_start: bool,
}

pub(crate) fn repair_variables(root: &mut Element, notes: &mut Notes) -> Vec<Facts> {
    let Some(section) = root.child_mut("ModelVariables") else { return Vec::new() };
    repair_names(section, notes);
    let mut independent = None;
    let mut facts = Vec::new();
    for element in section.elements_mut() {
        notes.variable = Some(element.get("name").unwrap_or("").to_string());
        facts.push(repair_variable(element, &mut independent, notes));
    }
    repair_derivatives(section, &mut facts, notes);
    notes.variable = None;
    facts
}

/// The element that says the type of a variable or of a declared type.
pub(crate) fn value_element(element: &Element) -> Option<(Kind, &Element)> {
    element.elements().find_map(|e| Some((Kind::from_word(&e.name)?, e)))
}

pub(crate) fn value_element_mut(element: &mut Element) -> Option<(Kind, &mut Element)> {
    element.elements_mut().find_map(|e| Some((Kind::from_word(&e.name)?, e)))
}

fn repair_names(section: &mut Element, notes: &mut Notes) {
    let mut taken: HashSet<String> =
        section.elements().filter_map(|e| e.get("name")).map(str::to_string).collect();
    let mut seen: HashSet<String> = HashSet::with_capacity(taken.len());
    // Where to look for a free suffix: without it, many equal names would take quadratic time.
    let mut suffix: HashMap<String, usize> = HashMap::new();
    for element in section.elements_mut() {
        let Some(given) = element.get("name").map(str::to_string) else { continue };
        let name = given.replace(['\t', '\r', '\n'], " ");
        let mut unique = name.clone();
        if seen.contains(&name) || (name != given && taken.contains(&name)) {
            let next = suffix.entry(name.clone()).or_insert(2);
            while taken.contains(&unique) {
                unique = format!("{name}_{next}");
                *next += 1;
            }
        }
        if unique != given {
            notes.warnings.push(format!(
                "<ScalarVariable> \"{given}\" (line {}): the name {}; renamed to \"{unique}\"",
                element.line,
                if name == given { "is that of an earlier variable" } else { "holds a line end or tab" },
            ));
            element.set("name", &unique);
            taken.insert(unique.clone());
        }
        seen.insert(unique);
    }
}

fn repair_variable(element: &mut Element, independent: &mut Option<String>, notes: &mut Notes) -> Facts {
    let line = element.line;
    let name = element.get("name").unwrap_or("").to_string();
    let value_reference = element.get("valueReference").and_then(literal::parse_unsigned);
    let kind = value_element(element).map(|(kind, _)| kind);
    let warn = |notes: &mut Notes, what: String| notes.warn("ScalarVariable", line, &what);

    let given = element.get("causality").map(str::to_string);
    let mut causality = Causality::Local;
    if let Some(word) = &given {
        causality = Causality::from_word(word).unwrap_or(Causality::Local);
        if causality == Causality::Independent {
            if kind != Some(Kind::Real) {
                causality = Causality::Local;
            } else if let Some(first) = independent {
                warn(notes, format!("the independent variable is \"{first}\" already"));
                causality = Causality::Local;
            } else {
                *independent = Some(name.clone());
            }
        }
    }
    let given_variability = element.get("variability").map(str::to_string);
    let mut variability = Variability::Continuous;
    if let Some(word) = &given_variability {
        match Variability::from_word(word) {
            Some(legal) => variability = legal,
            // The word of FMI 1.0.
            None if word.eq_ignore_ascii_case("parameter") && causality == Causality::Local => {
                causality = Causality::Parameter;
                variability = Variability::Fixed;
            }
            None => {}
        }
    }
    if given.as_deref().unwrap_or("local") != causality.word() {
        warn(
            notes,
            format!("causality=\"{}\" is read as \"{}\"", given.unwrap_or_default(), causality.word()),
        );
        element.set("causality", causality.word());
    }

    variability = legal_variability(kind, causality, variability);
    let default = initial_default(causality, variability);
    let given_initial = element.get("initial").map(str::to_string);
    let mut initial = given_initial.as_deref().and_then(Initial::from_word).or(default);
    if !is_legal_initial(causality, variability, initial) {
        initial = default;
    }
    let has_start = value_element(element).is_some_and(|(_, value)| value.get("start").is_some());
    let mut invented_start = false;
    if !has_start && matches!(initial, Some(Initial::Exact | Initial::Approx)) {
        match causality {
            Causality::Parameter | Causality::Input => invented_start = true,
            _ => {
                initial = Some(Initial::Calculated);
                if variability == Variability::Constant {
                    let local = causality == Causality::Local;
                    variability = if local { Variability::Fixed } else { Variability::Discrete };
                }
                warn(notes, "it has no start value to be exact or approximate; read as calculated".into());
            }
        }
    }
    if given_variability.as_deref().unwrap_or("continuous") != variability.word() {
        let was = given_variability.map_or("no variability".into(), |v| format!("variability=\"{v}\""));
        let of = kind.map_or("", Kind::element);
        warn(
            notes,
            format!("{was} is illegal for {} {of}; read as \"{}\"", causality.word(), variability.word()),
        );
        element.set("variability", variability.word());
    }
    // FMI forbids the attribute for inputs and the independent variable.
    let written = match causality {
        Causality::Input | Causality::Independent => None,
        _ => initial.map(Initial::word),
    };
    if let Some(was) = given_initial.filter(|was| Some(was.as_str()) != written) {
        let pair = format!("{} {}", variability.word(), causality.word());
        match written {
            Some(word) => {
                warn(notes, format!("initial=\"{was}\" is read as \"{word}\" ({pair})"));
                element.set("initial", word);
            }
            None => {
                warn(notes, format!("initial=\"{was}\" is not allowed ({pair}); left out"));
                element.remove("initial");
            }
        }
    } else if element.get("initial").is_none()
        && written.is_some()
        && initial != initial_default(causality, variability)
    {
        element.set("initial", written.unwrap_or_default());
    }
    if let Some((kind, value)) = value_element_mut(element) {
        repair_value(kind, value, initial, invented_start, notes);
    }
    Facts { name, value_reference, kind, causality, variability, initial, derivative: None, invented_start }
}

/// Start and nominal.
fn repair_value(kind: Kind, value: &mut Element, initial: Option<Initial>, invent: bool, notes: &mut Notes) {
    let line = value.line;
    if invent {
        let lowest = value.get("min").filter(|_| kind == Kind::Enumeration).unwrap_or("1").to_string();
        let start = match kind {
            Kind::Real => "0.0",
            Kind::Integer => "0",
            Kind::Boolean => "false",
            Kind::String => "",
            Kind::Enumeration => &lowest,
        };
        notes.warn(
            &value.name,
            line,
            &format!("it has no start value, but must have one; read as \"{start}\""),
        );
        value.set("start", start);
    } else if matches!(initial, None | Some(Initial::Calculated))
        && let Some(start) = value.remove("start")
    {
        let why =
            if initial.is_none() { "the independent variable" } else { "a variable that is calculated" };
        notes.warn(&value.name, line, &format!("start=\"{start}\" is not allowed for {why}; left out"));
        notes.keep_attribute(&value.name, "start", &start);
    }
    let useless = |text: &str| !literal::parse_double(text).is_some_and(|n| n.is_finite() && n > 0.0);
    if value.get("nominal").is_some_and(useless)
        && let Some(nominal) = value.remove("nominal")
    {
        notes.warn(&value.name, line, &format!("nominal=\"{nominal}\" is not positive; read as absent"));
        notes.keep_attribute(&value.name, "nominal", &nominal);
    }
}

/// `derivative` must be the index of a Real variable, and stand at one.
fn repair_derivatives(section: &mut Element, facts: &mut [Facts], notes: &mut Notes) {
    let by_name: HashMap<String, usize> =
        facts.iter().enumerate().map(|(i, f)| (f.name.clone(), i)).collect();
    for (own, element) in section.elements_mut().enumerate() {
        notes.variable = Some(facts[own].name.clone());
        let Some((_, value)) = value_element_mut(element) else { continue };
        let Some(text) = value.get("derivative").map(str::to_string) else { continue };
        let index = literal::parse_unsigned(&text).and_then(|i| (i as usize).checked_sub(1));
        let named = || by_name.get(text.as_str()).copied();
        let is_state = |i: &usize| *i != own && facts.get(*i).is_some_and(|f| f.kind == Some(Kind::Real));
        match index.or_else(named).filter(is_state) {
            Some(state) => {
                let proper = (state + 1).to_string();
                if proper != text.trim() {
                    notes.warn(
                        &value.name,
                        value.line,
                        &format!("derivative=\"{text}\" is read as \"{proper}\""),
                    );
                }
                value.set("derivative", &proper);
                facts[own].derivative = Some(state);
            }
            None => {
                let what =
                    format!("derivative=\"{text}\" is not the index of another Real variable; left out");
                notes.warn(&value.name, value.line, &what);
                notes.keep_attribute(&value.name, "derivative", &text);
                value.remove("derivative");
            }
        }
    }
}

fn legal_variability(kind: Option<Kind>, causality: Causality, given: Variability) -> Variability {
    use Variability::{Constant, Continuous, Discrete, Fixed, Tunable};
    let real = kind == Some(Kind::Real);
    match (causality, given) {
        (Causality::Parameter | Causality::CalculatedParameter, Fixed | Tunable) => given,
        (Causality::Parameter | Causality::CalculatedParameter, _) => Fixed,
        (Causality::Independent, _) => Continuous,
        (_, Continuous) if !real => Discrete,
        (_, Discrete | Continuous) => given,
        (Causality::Input, _) => {
            if real {
                Continuous
            } else {
                Discrete
            }
        }
        // Its value changes at no time after the start: discrete is the weakest legal promise.
        (Causality::Output, Fixed | Tunable) => Discrete,
        (Causality::Output | Causality::Local, Constant | Fixed | Tunable) => given,
    }
}

fn initial_default(causality: Causality, variability: Variability) -> Option<Initial> {
    match (causality, variability) {
        (Causality::Independent, _) => None,
        (Causality::Parameter | Causality::Input, _) | (_, Variability::Constant) => Some(Initial::Exact),
        _ => Some(Initial::Calculated),
    }
}

fn is_legal_initial(causality: Causality, variability: Variability, initial: Option<Initial>) -> bool {
    use Variability::{Constant, Fixed, Tunable};
    match (causality, variability) {
        (Causality::Independent, _) => initial.is_none(),
        (Causality::Parameter | Causality::Input, _) | (_, Constant) => initial == Some(Initial::Exact),
        (_, Fixed | Tunable) => matches!(initial, Some(Initial::Calculated | Initial::Approx)),
        _ => initial.is_some(),
    }
}
