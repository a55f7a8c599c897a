//! Every sin that a tool is known to commit, one file each in `tests/data/nasty`.
//!
//! A file says in its first comments which warnings it must cause (`<!-- expect: … -->`). Whatever is
//! wrong in it must be right in what is written for Co-Simulation: read again, that causes no warning.
#![allow(clippy::unwrap_used)]

use model_description::*;

fn bytes(name: &str) -> Vec<u8> {
    std::fs::read(format!("{}/tests/data/nasty/{name}.xml", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn load(name: &str) -> ModelDescription {
    read(&bytes(name)).unwrap()
}

fn request() -> CoSimulation {
    CoSimulation {
        guid: "{2}".into(),
        generation_tool: "fmu-build".into(),
        model_identifier: "M".into(),
        step_size: 0.01,
        ..CoSimulation::default()
    }
}

fn converted(model: &ModelDescription) -> String {
    String::from_utf8(model.into_co_simulation(&request())).unwrap()
}

fn names() -> Vec<String> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/nasty");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path().file_stem().unwrap().to_str().unwrap().to_string())
        .collect();
    names.sort();
    names
}

fn variable<'a>(model: &'a ModelDescription, name: &str) -> &'a ScalarVariable {
    model.variables.iter().find(|v| v.name == name).unwrap_or_else(|| panic!("no variable {name}"))
}

#[test]
fn each_file_causes_the_warnings_that_it_expects() {
    let names = names();
    assert!(names.len() > 30);
    for name in names {
        let bytes = bytes(&name);
        let text = String::from_utf8(bytes.clone()).unwrap();
        let warnings = read(&bytes).unwrap().warnings;
        let expected = text.split("<!-- expect: ").skip(1).filter_map(|rest| rest.split(" -->").next());
        let mut count = 0;
        for part in expected {
            assert!(warnings.iter().any(|w| w.contains(part)), "{name}: no {part:?} in {warnings:#?}");
            count += 1;
        }
        assert_eq!(warnings.is_empty(), count == 0, "{name}: {warnings:#?}");
    }
}

/// A warning tells where to look.
#[test]
fn warnings_name_element_variable_and_line() {
    let warnings = load("start_forbidden").warnings;
    let first = "<Real> of variable \"a\" (line 9): start=\"3\" is not allowed for a variable that is calculated; left out";
    assert_eq!(warnings[0], first);
}

#[test]
fn what_is_written_needs_no_repair() {
    for name in names() {
        let model = load(&name);
        let again = read(converted(&model).as_bytes()).unwrap();
        assert!(again.warnings.is_empty(), "{name}: {:#?}", again.warnings);
        assert_eq!(again.variables.len(), model.variables.len(), "{name}");
    }
}

/// `write` repairs nothing: it gives back what was read.
#[test]
fn what_is_written_back_is_what_was_read() {
    for name in names() {
        let model = load(&name);
        let again = read(&model.write()).unwrap();
        assert_eq!(again.write(), model.write(), "{name}");
        assert_eq!(again.warnings.len(), model.warnings.len(), "{name}");
    }
}

#[test]
fn units_and_types_become_defined() {
    let text = converted(&load("unit_undefined"));
    for unit in ["N.m", "V"] {
        assert!(text.contains(&format!("<Unit name=\"{unit}\"/>")), "{text}");
    }
    let model = load("unit_undefined");
    assert_eq!(variable(&model, "b").unit.as_deref(), Some("V"), "through the declared type");
    assert_eq!(variable(&model, "c").unit, None, "an empty unit is none");

    let text = converted(&load("display_unit_undefined"));
    assert!(text.contains("displayUnit=\"turn\""), "a defined one stays");
    assert!(text.contains("<DisplayUnit name=\"m\"/>"), "its factor is one for sure");
    assert!(!text.contains("<DisplayUnit name=\"deg\""), "its factor is unknown");

    let text = converted(&load("type_undefined"));
    assert!(text.contains("<SimpleType name=\"Enumeration of d\">"), "{text}");
    for item in ["item2", "item3", "item4"] {
        assert!(text.contains(&format!("<Item name=\"{item}\"")), "from min to max: {text}");
    }
}

#[test]
fn combinations_become_legal() {
    let model = load("combinations");
    use {Causality as C, Initial as I, Variability as V};
    for (name, causality, variability, initial) in [
        ("a", C::Parameter, V::Fixed, Some(I::Exact)),
        ("b", C::Local, V::Discrete, Some(I::Calculated)),
        ("c", C::Parameter, V::Fixed, Some(I::Exact)),
        ("d", C::Input, V::Continuous, Some(I::Exact)),
        ("e", C::Output, V::Discrete, Some(I::Calculated)),
        ("t", C::Independent, V::Continuous, None),
        ("f", C::Local, V::Discrete, Some(I::Calculated)),
        ("g", C::CalculatedParameter, V::Fixed, Some(I::Calculated)),
        ("h", C::Input, V::Discrete, Some(I::Exact)),
    ] {
        let v = variable(&model, name);
        assert_eq!((v.causality, v.variability, v.initial), (causality, variability, initial), "{name}");
    }
}

/// Made up only where nothing else is legal, and listed so that the true value can be put in.
#[test]
fn start_values_are_made_up_for_parameters_and_inputs_only() {
    let mut model = load("start_missing");
    let start = |name: &str| variable(&model, name).start.clone();
    for (name, expected) in [("p", "0.0"), ("i", "0"), ("b", "false"), ("s", ""), ("e", "2")] {
        assert_eq!(start(name).as_deref(), Some(expected), "{name}");
    }
    for name in ["k", "l", "y"] {
        assert_eq!(
            (start(name), variable(&model, name).initial),
            (None, Some(Initial::Calculated)),
            "{name}"
        );
    }
    assert_eq!(model.invented_starts, [2, 3, 4, 5, 6]);
    model.set_start(2, "9.81");
    assert_eq!(model.invented_starts, [3, 4, 5, 6]);
    assert_eq!(variable(&model, "p").start_real(), Some(9.81));
    assert!(converted(&model).contains("start=\"9.81\""));
}

#[test]
fn numbers_are_read_as_they_were_meant() {
    let model = load("numbers");
    for (name, expected) in [
        ("a", 1e308),
        ("b", f64::INFINITY),
        ("c", f64::INFINITY),
        ("e", 1.0),
        ("f", 1.0),
        ("g", 1.5),
        ("h", 1e-3),
        ("i", 0.0),
    ] {
        assert_eq!(variable(&model, name).start_real(), Some(expected), "{name}");
    }
    assert!(variable(&model, "d").start_real().unwrap().is_nan());
    assert_eq!(variable(&model, "m").start_boolean(), Some(true));
    assert_eq!(variable(&model, "n").start_boolean(), Some(true));
    assert_eq!(variable(&model, "o").start_integer(), Some(3));
    assert_eq!((variable(&model, "l").nominal, variable(&model, "o").min), (None, None));
}

#[test]
fn lists_of_the_structure_become_what_fmi_says() {
    let of = |list: &[Unknown]| -> Vec<usize> { list.iter().map(|u| u.variable).collect() };
    let model = load("outputs_wrong");
    assert_eq!(of(&model.structure.outputs), [4, 2, 3], "the order given, then what was missing");
    let kept = Dependencies::Listed(vec![(0, DependencyKind::Dependent)]);
    assert_eq!(model.structure.outputs[0].dependencies, kept);
    assert_eq!(model.structure.outputs[1].dependencies, Dependencies::All);
    assert_eq!(of(&load("initial_unknowns_wrong").structure.initial_unknowns), [1, 2, 3, 4, 5]);
    assert_eq!(of(&load("initial_unknowns_missing").structure.initial_unknowns), [1]);
}

/// In doubt everything depends on everything: too much costs time, too little costs the result.
#[test]
fn doubtful_dependencies_are_read_conservatively() {
    use DependencyKind::{Constant, Dependent};
    let structure = load("dependencies_wrong").structure;
    let outputs: Vec<&Dependencies> = structure.outputs.iter().map(|u| &u.dependencies).collect();
    let listed = |list: &[(usize, DependencyKind)]| Dependencies::Listed(list.to_vec());
    assert_eq!(outputs[0], &listed(&[(0, Dependent), (1, Dependent)]));
    assert_eq!(outputs[1], &listed(&[(0, Dependent), (1, Constant)]));
    assert_eq!(outputs[2], &listed(&[(0, Dependent)]));
    assert_eq!(outputs[3], &Dependencies::All);
    assert_eq!(outputs[4], &listed(&[]), "blank is empty: on nothing");
    assert_eq!(structure.derivatives[0].dependencies, Dependencies::All);
}

#[test]
fn states_are_found_where_they_can_be() {
    let model = load("derivatives_nameless");
    let states: Vec<_> = model.states().iter().map(|s| (s.derivative, s.state)).collect();
    assert_eq!(states, [(5, Some(0)), (2, None), (4, Some(3))], "by alias, not at all, by name");
    let written = read(converted(&model).as_bytes()).unwrap();
    assert_eq!(written.states().len(), 2, "a state without a name cannot be written");

    let model = load("derivatives_missing");
    assert_eq!(
        model.states().len(),
        0,
        "what is not listed is no state: inline-integrated models are exported so"
    );
    assert_eq!(variable(&load("derivative_wrong"), "c").derivative, Some(0), "by name");
}

/// What the schema has no place for is in the annotations, with where it was.
#[test]
fn unknown_things_are_kept_in_an_annotation() {
    let text = converted(&load("unknown_things"));
    for kept in [
        "<Attribute of=\"fmiModelDescription\" name=\"vendorFlag\" value=\"yes\"/>",
        "<Extension level=\"3\"><inner>text</inner></Extension>",
        "<Attribute of=\"Real\" variable=\"a\" name=\"colour\" value=\"red\"/>",
        "stray",
        "yesterday",
    ] {
        assert!(text.contains(kept), "{kept} is not in {text}");
    }
    let text = converted(&load("annotations"));
    for kept in ["<one/>", "<!-- c -->", "<two x=\"1\"/>", "words", "<loose/>", "<three/>", "<a/>", "<b/>"] {
        assert!(text.contains(kept), "{kept} is not in {text}");
    }
    assert!(converted(&load("order")).contains("<!-- about the units -->\n<UnitDefinitions>"));
    let text = converted(&load("namespace_default"));
    assert!(text.contains("<thing xmlns=\"http://fmi-standard.org\"/>"), "an annotation keeps its namespace");
}

#[test]
fn names_become_unique_and_the_convention_true() {
    let names: Vec<String> = load("names_twice").variables.into_iter().map(|v| v.name).collect();
    assert_eq!(names, ["x", "der(x)", "a", "a_2", "a_3", "n m", "der(x)_2"]);
    for name in ["names_twice", "naming_structured"] {
        assert!(converted(&load(name)).contains("variableNamingConvention=\"flat\""), "{name}");
    }
}

#[test]
fn flags_are_read_in_any_spelling() {
    let model = load("flags");
    let exchange = model.require_model_exchange().unwrap();
    assert!(exchange.can_get_and_set_fmu_state && exchange.can_serialize_fmu_state);
    assert!(!exchange.needs_execution_tool);
}
