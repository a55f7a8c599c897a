//! The descriptions of real FMUs: read without a warning, written without a loss, converted.
#![allow(clippy::unwrap_used)]

use model_description::*;

fn files() -> Vec<(String, Vec<u8>)> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|e| e == "xml"))
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_string(), std::fs::read(&path).unwrap()))
        .collect();
    files.sort();
    files
}

fn load(name: &str) -> ModelDescription {
    let (_, bytes) = files().into_iter().find(|(n, _)| n == name).unwrap();
    read(&bytes).unwrap()
}

fn request() -> CoSimulation {
    let diagnostic = |name: &str, value_reference, kind, unit: Option<&str>| Diagnostic {
        name: name.into(),
        value_reference,
        kind,
        unit: unit.map(str::to_string),
        description: "added".into(),
    };
    CoSimulation {
        guid: "{new}".into(),
        generation_tool: "fmu-build 0.1.0".into(),
        model_identifier: "Model".into(),
        step_size: 1e-3,
        stop_time: Some(2.5),
        can_get_and_set_fmu_state: true,
        provides_directional_derivative: true,
        diagnostics: vec![
            diagnostic("fmu_build.step_time", 4_000_000_000, DiagnosticKind::Real, Some("s")),
            diagnostic("fmu_build.events", 4_000_000_001, DiagnosticKind::Integer, None),
        ],
        ..CoSimulation::default()
    }
}

/// Lines differ between a file and its rewritten form; everything else must not.
fn without_lines(mut model: ModelDescription) -> ModelDescription {
    model.variables.iter_mut().for_each(|v| v.line = 0);
    model
}

/// Model, states, event indicators, variables, outputs: counted in the files by hand (grep).
#[test]
fn every_file_is_read_without_a_warning() {
    let files = files();
    assert_eq!(files.len(), 19);
    for (name, bytes) in &files {
        let model = read(bytes).unwrap();
        assert!(model.warnings.is_empty(), "{name}: {:?}", model.warnings);
        let text = std::str::from_utf8(bytes).unwrap();
        assert_eq!(model.variables.len(), text.matches("<ScalarVariable ").count(), "{name}");
        assert_eq!(
            model.structure.outputs.len(),
            model.variables.iter().filter(|v| v.causality == Causality::Output).count(),
            "{name}"
        );
        assert!(model.require_model_exchange().is_ok(), "{name}");
        assert_eq!(model.co_simulation, name.starts_with("rumoca"), "{name}");
        for state in model.states() {
            let derivative = &model.variables[state.derivative];
            let own = &model.variables[state.state.unwrap()];
            assert_eq!(derivative.name, format!("der({})", own.name), "{name}");
        }
        for variable in &model.variables {
            let line = text.lines().nth(variable.line - 1).unwrap();
            assert!(line.contains(&format!("\"{}\"", variable.name)), "{name}, line {}", variable.line);
        }
    }
}

#[test]
fn states_and_indicators_are_those_of_the_models() {
    for (name, states, indicators) in [
        ("mo2fmu_Dahlquist", 1, 0),
        ("mo2fmu_SpringPendulum", 4, 0),
        ("mo2fmu_HeatRod200", 200, 0),
        ("mo2fmu_BouncingBall", 2, 3),
        ("mo2fmu_Thermostat", 1, 2),
        ("rumoca_Rectifier", 2, 1),
        ("rumoca_HeatLib_Rod", 50, 0),
    ] {
        let model = load(name);
        assert_eq!((model.states().len(), model.number_of_event_indicators), (states, indicators), "{name}");
    }
}

/// Absent dependencies mean all, listed ones only those: the two compilers do one and the other.
#[test]
fn dependencies_absent_and_listed_are_told_apart() {
    let absent = load("rumoca_HeatRodV");
    assert!(absent.structure.derivatives.iter().all(|u| u.dependencies == Dependencies::All));
    let listed = load("mo2fmu_HeatRod200");
    for unknown in &listed.structure.derivatives {
        let Dependencies::Listed(list) = &unknown.dependencies else { panic!("{unknown:?}") };
        let states = list.iter().filter(|(i, _)| listed.states().iter().any(|s| s.state == Some(*i))).count();
        // A rod: each cell depends on itself and its two neighbours.
        assert!((1..=3).contains(&states), "{unknown:?}");
    }
}

/// Written and read again, the model is the same in every field, and the text does not move any more.
#[test]
fn nothing_is_lost_by_writing() {
    for (name, bytes) in files() {
        let model = read(&bytes).unwrap();
        let written = model.write();
        let again = read(&written).unwrap();
        assert_eq!(again.write(), written, "{name}");
        assert_eq!(without_lines(again), without_lines(model), "{name}");
    }
}

#[test]
fn the_text_between_tags_survives_byte_for_byte() {
    let (_, bytes) = files().into_iter().find(|(n, _)| n == "mo2fmu_Rectifier").unwrap();
    // This file keeps one space between attributes, so that it comes back as it is.
    assert_eq!(
        String::from_utf8(read(&bytes).unwrap().write()).unwrap().trim_end(),
        String::from_utf8(bytes).unwrap().trim_end()
    );
}

/// Variables, references, types, units and order stay; the interface is Co-Simulation only.
#[test]
fn the_converted_description_keeps_the_model() {
    for (name, bytes) in files() {
        let model = read(&bytes).unwrap();
        let rewritten = model.into_co_simulation(&request());
        assert_eq!(rewritten, model.into_co_simulation(&request()), "{name}: same input, same bytes");
        let text = String::from_utf8(rewritten.clone()).unwrap();
        for gone in ["<ModelExchange", "numberOfEventIndicators", "reinit=", "<SourceFiles"] {
            assert!(!text.contains(gone), "{name}: {gone}");
        }
        assert_eq!(text.matches("<CoSimulation ").count(), 1, "{name}");
        let result = read(&rewritten).unwrap();
        assert!(result.warnings.is_empty(), "{name}: {:?}", result.warnings);
        assert!(result.co_simulation && result.model_exchange.is_none(), "{name}");
        let message = result.require_model_exchange().unwrap_err().to_string();
        let expected = format!(
            "{} has no <ModelExchange> element (it is for Co-Simulation only); re-export it for Model \
             Exchange",
            model.model_name
        );
        assert_eq!(message, expected);
        assert_eq!(result.guid, "{new}");
        let tool = format!("{} + fmu-build 0.1.0", model.generation_tool.clone().unwrap());
        assert_eq!(result.generation_tool, Some(tool), "{name}");
        assert_eq!(result.default_experiment.step_size, Some(1e-3));
        assert_eq!(result.default_experiment.stop_time, Some(2.5));
        assert_eq!(result.default_experiment.start_time, model.default_experiment.start_time);
        assert_eq!(result.log_categories, model.log_categories);
        assert_eq!(result.structure, model.structure, "{name}");
        let count = model.variables.len();
        let (same, added) = (without_lines(result.clone()), &result.variables[count..]);
        assert_eq!(same.variables[..count], without_lines(model).variables[..], "{name}");
        assert_eq!(added.len(), 2);
        assert_eq!((added[0].kind, added[0].unit.as_deref()), (Kind::Real, Some("s")));
        assert_eq!((added[1].kind, added[1].variability), (Kind::Integer, Variability::Discrete));
        assert_eq!((added[1].initial, &added[1].start), (Some(Initial::Calculated), &None));
    }
}

#[test]
fn the_new_interface_says_what_was_asked() {
    let text = String::from_utf8(load("rumoca_Dahlquist").into_co_simulation(&request())).unwrap();
    let interface = "<CoSimulation modelIdentifier=\"Model\" canHandleVariableCommunicationStepSize=\"false\" \
         canInterpolateInputs=\"true\" maxOutputDerivativeOrder=\"1\" canRunAsynchronuously=\"false\" \
         canBeInstantiatedOnlyOncePerProcess=\"false\" canGetAndSetFMUstate=\"true\" \
         canSerializeFMUstate=\"false\" providesDirectionalDerivative=\"true\"/>";
    assert!(text.contains(interface), "{text}");
    let order: Vec<usize> = [
        "<CoSimulation",
        "<UnitDefinitions",
        "<LogCategories",
        "<DefaultExperiment",
        "<ModelVariables",
        "<ModelStructure",
    ]
    .iter()
    .map(|section| text.find(section).unwrap())
    .collect();
    assert!(order.is_sorted(), "{order:?}");
}

/// A diagnostic never takes a name that the model uses.
#[test]
fn diagnostics_give_way_to_variables_of_their_name() {
    let model = load("rumoca_Dahlquist");
    let mut request = request();
    request.diagnostics[0].name = model.variables[0].name.clone();
    let result = read(&model.into_co_simulation(&request)).unwrap();
    assert_eq!(result.variables[model.variables.len()].name, format!("{}_2", model.variables[0].name));
    assert!(result.warnings.is_empty());
}

/// Cut off anywhere, a file is refused; it never panics and never passes for a model.
#[test]
fn every_truncation_is_refused() {
    for name in ["mo2fmu_Rectifier", "rumoca_Dahlquist"] {
        let (_, bytes) = files().into_iter().find(|(n, _)| n == name).unwrap();
        let end = bytes.iter().rposition(|b| *b == b'>').unwrap();
        for length in 0..=end {
            let error = read(&bytes[..length]).unwrap_err();
            assert!(matches!(error, Error::Malformed { .. }), "{name}, {length} bytes: {error}");
        }
        assert!(read(&bytes[..=end]).is_ok());
    }
}
