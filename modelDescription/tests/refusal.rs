//! What cannot be understood is refused: the message says what was found, where, and what to do.
#![allow(clippy::unwrap_used)]

use model_description::read;

const HEAD: &str =
    "<?xml version=\"1.0\"?>\n<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"{1}\"";

fn model(attributes: &str, exchange: &str, variables: &str, structure: &str) -> String {
    format!(
        "{HEAD}{attributes}>\n{exchange}\n<ModelVariables>\n{variables}\n</ModelVariables>\n\
         <ModelStructure>{structure}</ModelStructure>\n</fmiModelDescription>"
    )
}

fn with_variable(variable: &str) -> String {
    model("", "<ModelExchange modelIdentifier=\"M\"/>", variable, "")
}

#[test]
fn each_refusal_names_element_attribute_and_line() {
    let exchange = "<ModelExchange modelIdentifier=\"M\"/>";
    let real = "<ScalarVariable name=\"a\" valueReference=\"1\"><Real/></ScalarVariable>";
    let text =
        "<ScalarVariable name=\"a\" valueReference=\"1\" variability=\"discrete\"><String/></ScalarVariable>";
    let cases: Vec<(String, &[&str])> = vec![
        ("<html><body/></html>".into(), &["line 1", "<html>", "<fmiModelDescription>"]),
        (
            "<fmiModelDescription fmiVersion=\"1.0\" guid=\"1\"/>".into(),
            &["line 1", "FMI 1.0", "reads FMI 2.0", "re-export"],
        ),
        (
            "<fmiModelDescription fmiVersion=\"3.0\" guid=\"1\"/>".into(),
            &["no attribute \"instantiationToken\"", "re-export"],
        ),
        (
            "<fmiModelDescription fmiVersion=\"3.0-beta.2\"/>".into(),
            &["a draft of FMI 3.0", "reads FMI 2.0 and 3.0"],
        ),
        ("<fmiModelDescription fmiVersion=\"two\"/>".into(), &["fmiVersion=\"two\""]),
        ("<fmiModelDescription guid=\"1\"/>".into(), &["no attribute \"fmiVersion\""]),
        ("<fmiModelDescription fmiVersion=\"2.0\"/>".into(), &["no attribute \"guid\"", "re-export"]),
        (format!("{HEAD}/>"), &["line 2", "no <ModelVariables>"]),
        (model("", "<ModelExchange/>", real, ""), &["line 3", "<ModelExchange>", "\"modelIdentifier\""]),
        (model("", "<ModelExchange modelIdentifier=\" \"/>", real, ""), &["\"modelIdentifier\""]),
        (
            model(" numberOfEventIndicators=\"-1\"", exchange, real, ""),
            &["line 2", "numberOfEventIndicators=\"-1\""],
        ),
        (
            with_variable(
                "<ScalarVariable name=\"a\" valueReference=\"4294967296\"><Real/></ScalarVariable>",
            ),
            &["line 5", "\"a\"", "valueReference=\"4294967296\"", "0 to 4294967295"],
        ),
        (
            with_variable("\n<ScalarVariable name=\"a\" valueReference=\"-1\"><Real/></ScalarVariable>"),
            &["line 6", "valueReference=\"-1\""],
        ),
        (
            with_variable("<ScalarVariable name=\"a\"><Real/></ScalarVariable>"),
            &["\"a\"", "no attribute \"valueReference\""],
        ),
        (
            with_variable("<ScalarVariable valueReference=\"1\"><Real/></ScalarVariable>"),
            &["line 5", "no attribute \"name\""],
        ),
        (
            with_variable("<ScalarVariable name=\"a\" valueReference=\"1\"/>"),
            &["\"a\"", "no <Real>, <Integer>"],
        ),
        (
            model("", exchange, real, "<Derivatives><Unknown index=\"7\"/></Derivatives>"),
            &["line 7", "<Derivatives>", "index=\"7\"", "1 to 1"],
        ),
        (
            model("", exchange, text, "<Derivatives><Unknown index=\"1\"/></Derivatives>"),
            &["index=\"1\"", "\"a\""],
        ),
    ];
    for (xml, parts) in cases {
        let message = read(xml.as_bytes()).unwrap_err().to_string();
        for part in parts {
            assert!(message.contains(part), "{part:?} is not in {message:?}");
        }
    }
}

/// Only the builder needs Model Exchange; reading does not.
#[test]
fn a_co_simulation_fmu_can_be_read() {
    let real = "<ScalarVariable name=\"a\" valueReference=\"1\"><Real/></ScalarVariable>";
    let model = read(model("", "<CoSimulation modelIdentifier=\"M\"/>", real, "").as_bytes()).unwrap();
    assert!(model.warnings.is_empty() && model.co_simulation);
    assert!(model.require_model_exchange().is_err());
}

#[test]
fn bytes_that_are_not_xml_are_refused_with_a_place() {
    for bytes in [&b"PK\x03\x04"[..], b"", b"\xFF\xFE", b"\0\0\0\0", b"<", b"<fmiModelDescription", b"{}"] {
        let message = read(bytes).unwrap_err().to_string();
        assert!(message.contains("line 1, column"), "{bytes:?}: {message}");
    }
}
