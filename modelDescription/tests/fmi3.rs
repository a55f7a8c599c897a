//! Descriptions of FMI 3.0: read as scalars, with their arrays told, and written as FMI 2.0.
#![allow(clippy::unwrap_used)]

use model_description::*;
use proptest::prelude::*;

const ROD: &[u8] = include_bytes!("data/fmi3/rod.xml");

fn model(variables: &str, structure: &str) -> String {
    format!(
        "<fmiModelDescription fmiVersion=\"3.0\" modelName=\"M\" instantiationToken=\"{{1}}\">\n\
         <ModelExchange modelIdentifier=\"M\"/>\n<ModelVariables>\n{variables}\n</ModelVariables>\n\
         <ModelStructure>{structure}</ModelStructure>\n</fmiModelDescription>"
    )
}

fn names(model: &ModelDescription) -> Vec<&str> {
    model.variables.iter().map(|variable| variable.name.as_str()).collect()
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

/// Scalars keep their value references; those of arrays follow one another behind all others.
#[test]
fn arrays_are_read_as_scalars() {
    let rod = read(ROD).unwrap();
    assert_eq!(rod.warnings, Vec::<String>::new());
    assert_eq!(rod.guid, "{rod3}");
    let exchange = rod.model_exchange.as_ref().unwrap();
    assert!(exchange.completed_integrator_step_not_needed, "FMI 3.0 asks for it where it is needed only");
    assert_eq!(names(&rod)[1..6], ["T[1]", "T[2]", "T[3]", "T[4]", "T[5]"]);
    assert_eq!(names(&rod)[6..8], ["der(T[1])", "der(T[2])"]);
    assert!(names(&rod).contains(&"temperature[5]") && !names(&rod).contains(&"sample"));
    let fmi3 = rod.fmi3.as_ref().unwrap();
    for array in &fmi3.arrays {
        for at in 0..array.count {
            let scalar = &rod.variables[array.variable + at as usize];
            assert_eq!(scalar.value_reference, array.first + at, "{}", array.name);
        }
        if array.dimensions.is_empty() {
            assert_eq!(array.first, array.value_reference, "{}", array.name);
        }
    }
    let mut references: Vec<u32> = fmi3.arrays.iter().flat_map(|it| it.first..it.first + it.count).collect();
    references.sort_unstable();
    let all = references.len();
    references.dedup();
    assert_eq!(references.len(), all, "a value reference stands for two scalars");
    let alias = rod.variables.iter().find(|it| it.name == "temperature[2]").unwrap();
    assert_eq!(alias.value_reference, rod.variables[2].value_reference);
}

/// The order of states is that of ContinuousStateDerivative, row by row; each derivative may depend on each element.
#[test]
fn states_and_dependencies_are_expanded() {
    let rod = read(ROD).unwrap();
    let states: Vec<usize> = rod.states().iter().map(|state| state.state.unwrap()).collect();
    assert_eq!(states, [1, 2, 3, 4, 5]);
    for unknown in &rod.structure.derivatives {
        let Dependencies::Listed(listed) = &unknown.dependencies else { panic!("they are listed") };
        let on: Vec<&str> = listed.iter().map(|(index, _)| rod.variables[*index].name.as_str()).collect();
        assert_eq!(on, ["T[1]", "T[2]", "T[3]", "T[4]", "T[5]", "u[1]", "u[2]", "gain"]);
    }
}

#[test]
fn structural_parameters_say_how_long_arrays_are() {
    let rod = read_sized(ROD, &[("n".into(), 12), ("gain".into(), 3)]).unwrap();
    assert_eq!(rod.states().len(), 12);
    let fmi3 = rod.fmi3.unwrap();
    assert_eq!((fmi3.structure[0].value, fmi3.structure[0].changed), (12, true));
    let n = rod.variables.iter().find(|it| it.name == "n").unwrap();
    assert_eq!((n.variability, n.start.as_deref()), (Variability::Constant, Some("12")));
    // There are five start values for twelve states: whoever has the FMU asks it for the others.
    let state = &rod.variables[1];
    assert_eq!((state.start.as_deref(), state.initial), (None, Some(Initial::Calculated)));
    assert!(read_sized(ROD, &[("n".into(), 0)]).unwrap_err().to_string().contains("within min=\"1\""));
}

#[test]
fn clocks_are_told_with_their_times() {
    let clocks = read(ROD).unwrap().fmi3.unwrap().clocks;
    assert_eq!((clocks[0].name.as_str(), clocks[0].input), ("sample", true));
    assert_eq!(clocks[0].interval, IntervalVariability::Constant);
    assert_eq!(clocks[0].interval_seconds, Some(0.05));
    let counted = model(
        "<Clock name=\"c\" valueReference=\"1\" causality=\"input\" intervalVariability=\"constant\" \
         resolution=\"1000\" intervalCounter=\"20\" shiftCounter=\"5\"/>",
        "",
    );
    let clock = read(counted.as_bytes()).unwrap().fmi3.unwrap().clocks[0].clone();
    assert_eq!((clock.interval_seconds, clock.shift_seconds), (Some(0.02), Some(0.005)));
}

/// What is written for Co-Simulation in FMI 2.0 is read again without a warning.
#[test]
fn what_is_written_is_right() {
    let written = read(ROD).unwrap().into_co_simulation(&request());
    let again = read(&written).unwrap();
    assert_eq!(again.warnings, Vec::<String>::new());
    assert!(again.fmi3.is_none() && again.co_simulation);
    assert_eq!(names(&again), names(&read(ROD).unwrap()));
    assert_eq!(read(&read(ROD).unwrap().write()).unwrap(), read(ROD).unwrap(), "the file itself is kept");
}

/// What is written for Co-Simulation in FMI 3.0 has the same variables, arrays as arrays, and is read again without a warning.
#[test]
fn arrays_are_arrays_again() {
    let rod = read(ROD).unwrap();
    let again = read(&rod.into_co_simulation_3(&request())).unwrap();
    assert_eq!(again.warnings, Vec::<String>::new());
    assert!(again.co_simulation && again.model_exchange.is_none());
    assert_eq!(names(&again), names(&rod));
    let shape = |model: &ModelDescription| -> Vec<(String, u32, Type, Vec<u32>)> {
        let arrays = model.fmi3.as_ref().unwrap().arrays.iter();
        arrays.map(|it| (it.name.clone(), it.value_reference, it.kind, it.dimensions.clone())).collect()
    };
    assert_eq!(shape(&again), shape(&rod));
    assert_eq!(again.structure.derivatives, rod.structure.derivatives);
    assert_eq!(again.states(), rod.states());
}

/// In FMI 2.0 a value reference is unique for its type, and aliases share one; in FMI 3.0 every variable has its own. The
/// shell says which scalar of the model each stands for.
#[test]
fn variables_of_fmi_2_get_references_of_their_own() {
    let two = "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"{1}\"><ModelExchange modelIdentifier=\"M\"/>\
         <ModelVariables><ScalarVariable name=\"a\" valueReference=\"1\"><Real/></ScalarVariable>\
         <ScalarVariable name=\"b\" valueReference=\"1\"><Real/></ScalarVariable>\
         <ScalarVariable name=\"i\" valueReference=\"1\" variability=\"discrete\"><Integer/></ScalarVariable>\
         <ScalarVariable name=\"c\" valueReference=\"7\"><Real/></ScalarVariable></ModelVariables>\
         <ModelStructure/></fmiModelDescription>";
    let shell = read(two.as_bytes()).unwrap().shell();
    let references: Vec<(u32, u32)> = shell.iter().map(|it| (it.value_reference, it.first)).collect();
    assert_eq!(references, [(1, 1), (8, 1), (9, 1), (7, 7)]);
}

#[test]
fn what_cannot_be_handed_through_is_left_out_by_name() {
    let text = model(
        "<Binary name=\"blob\" valueReference=\"1\"/>\
         <Int64 name=\"big\" valueReference=\"2\" causality=\"parameter\" start=\"5000000000\"/>\
         <Int64 name=\"small\" valueReference=\"3\" causality=\"parameter\" start=\"5\" max=\"9223372036854775807\"/>",
        "<Output valueReference=\"1\"/>",
    );
    let model = read(text.as_bytes()).unwrap();
    assert_eq!(names(&model), ["small"]);
    assert!(model.warnings.iter().any(|warning| warning.contains("blob, big")), "{:?}", model.warnings);
}

/// Sizes are multiplied before anything is made of them.
#[test]
fn a_billion_elements_are_refused_not_made() {
    let array = |dimensions: &str| {
        model(&format!("<Float64 name=\"a\" valueReference=\"1\">{dimensions}</Float64>"), "")
    };
    let thousand = "<Dimension start=\"1000\"/>";
    for (dimensions, expected) in [
        (thousand.repeat(3), "more than 1000000 scalars"),
        (thousand.repeat(40), "more than 1000000 scalars"),
        ("<Dimension start=\"4294967295\"/>".repeat(2), "more than 1000000 scalars"),
        ("<Dimension start=\"18446744073709551616\"/>".into(), "a size, or the value reference"),
        ("<Dimension valueReference=\"9\"/>".into(), "a size, or the value reference"),
        ("<Dimension/>".into(), "a size, or the value reference"),
    ] {
        let error = read(array(&dimensions).as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("\"a\""), "{error}");
    }
    let many: String = (0..2000)
        .map(|at| format!("<Float64 name=\"a{at}\" valueReference=\"{at}\">{thousand}</Float64>"))
        .collect();
    assert!(read(model(&many, "").as_bytes()).unwrap_err().to_string().contains("more than 1000000"));
    assert_eq!(read(array("<Dimension start=\"0\"/>").as_bytes()).unwrap().variables.len(), 0);
}

/// There is room for the elements of arrays even where the largest value reference is in use.
#[test]
fn references_of_elements_are_free_ones() {
    let text = model(
        "<Float64 name=\"a\" valueReference=\"4294967295\"><Dimension start=\"3\"/></Float64>\
         <Float64 name=\"b\" valueReference=\"2\"/>",
        "",
    );
    let references: Vec<u32> =
        read(text.as_bytes()).unwrap().variables.iter().map(|it| it.value_reference).collect();
    assert_eq!(references, [3, 4, 5, 2]);
}

#[test]
fn one_reference_for_two_variables_is_refused() {
    let text =
        model("<Float64 name=\"a\" valueReference=\"1\"/><Int32 name=\"b\" valueReference=\"1\"/>", "");
    let error = read(text.as_bytes()).unwrap_err().to_string();
    assert!(error.contains("\"b\"") && error.contains("\"a\" has it"), "{error}");
}

fn variable() -> impl Strategy<Value = String> {
    let kind = prop::sample::select(vec![
        "Float32",
        "Float64",
        "Int8",
        "UInt8",
        "Int64",
        "UInt64",
        "Boolean",
        "String",
        "Binary",
        "Enumeration",
        "Clock",
        "Odd",
    ]);
    let causality = prop::sample::select(vec![
        "input",
        "output",
        "parameter",
        "structuralParameter",
        "local",
        "independent",
        "calculatedParameter",
        "x",
    ]);
    let word = || {
        prop::sample::select(vec![
            "1",
            "0",
            "1 2",
            "true",
            "",
            "-1",
            "x",
            "1e9",
            "3",
            "99999999999",
            "constant",
            "fixed",
        ])
    };
    let inner = prop::sample::select(vec![
        "",
        "<Dimension start=\"2\"/>",
        "<Dimension start=\"2\"/><Dimension valueReference=\"3\"/>",
        "<Dimension valueReference=\"1\"/>",
        "<Alias name=\"alias\"/>",
        "<Start value=\"a\"/>",
        "<Annotations><Annotation type=\"t\"><x/></Annotation></Annotations>",
    ]);
    (kind, 0u32..6, causality, word(), word(), word(), inner).prop_map(
        |(kind, reference, causality, start, derivative, variability, inner)| {
            format!(
                "<{kind} name=\"v{reference}\" valueReference=\"{reference}\" causality=\"{causality}\" start=\"{start}\" \
                 derivative=\"{derivative}\" variability=\"{variability}\" intervalVariability=\"{variability}\">{inner}</{kind}>"
            )
        },
    )
}

fn unknown() -> impl Strategy<Value = String> {
    let list = prop::sample::select(vec![
        "Output",
        "ContinuousStateDerivative",
        "InitialUnknown",
        "EventIndicator",
        "ClockedState",
    ]);
    let dependencies = prop::sample::select(vec!["", "1 2", "2 1 1", "9", "x", "0 1 2 3 4 5"]);
    (list, 0u32..7, dependencies).prop_map(|(list, reference, dependencies)| {
        format!("<{list} valueReference=\"{reference}\" dependencies=\"{dependencies}\"/>")
    })
}

proptest! {
    /// Whatever the file says, it is read or refused; and what is read is written without a fault, with unique names.
    #[test]
    fn nothing_panics_and_what_is_written_is_right(
        variables in prop::collection::vec(variable(), 0..6),
        unknowns in prop::collection::vec(unknown(), 0..6),
    ) {
        let Ok(model) = read(model(&variables.concat(), &unknowns.concat()).as_bytes()) else { return Ok(()) };
        let again = read(&model.into_co_simulation(&request())).unwrap();
        prop_assert!(again.warnings.is_empty(), "{:?}", again.warnings);
    }
}
