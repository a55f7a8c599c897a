//! Properties that hold for every model: nothing is lost, nothing panics, the size does not matter.
#![allow(clippy::unwrap_used)]

use model_description::*;
use proptest::prelude::*;

/// A text for an attribute: anything, with a bent for what needs care.
fn text() -> impl Strategy<Value = String> {
    prop_oneof!["[a-zA-Z0-9_.]{1,6}", "[<>&\"' \t\n]{1,4}", "\\PC{0,5}"]
}

fn escape(text: &str) -> String {
    let text = text.replace('&', "&amp;").replace('<', "&lt;").replace('"', "&quot;");
    text.replace('\n', "&#10;").replace('\t', "&#x9;")
}

/// Half of the values are legal, the others are for the repairs.
fn word() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "input",
        "output",
        "parameter",
        "calculatedParameter",
        "local",
        "independent",
        "constant",
        "fixed",
        "tunable",
        "discrete",
        "continuous",
        "exact",
        "approx",
        "calculated",
        "1",
        "2",
        "3",
        "0",
        "-1",
        "1.5",
        "true",
        "True",
        "1,5",
        "",
        "x",
        "1 2",
        "2 1",
    ])
}

fn variable() -> impl Strategy<Value = String> {
    let attributes = prop::sample::subsequence(vec!["causality", "variability", "initial", "foo"], 0..4);
    let inner = prop::sample::subsequence(
        vec!["start", "unit", "min", "derivative", "declaredType", "displayUnit"],
        0..4,
    );
    let kind =
        prop::sample::select(vec!["Real", "Real", "Real", "Integer", "Boolean", "String", "Enumeration"]);
    let words = prop::collection::vec(word(), 8);
    (text(), 0u32..9, text(), attributes, inner, kind, words).prop_map(
        |(name, vr, about, outer, inner, kind, words)| {
            let pair = |(name, value): (&&str, &&str)| format!(" {name}=\"{value}\"");
            let outer: String = outer.iter().zip(&words).map(pair).collect();
            let inner: String = inner.iter().zip(&words[4..]).map(pair).collect();
            let (name, about) = (escape(&name), escape(&about));
            format!(
                "<ScalarVariable name=\"{name}\" valueReference=\"{vr}\" \
             description=\"{about}\"{outer}><{kind}{inner}/></ScalarVariable>"
            )
        },
    )
}

fn unknowns() -> impl Strategy<Value = String> {
    let unknown =
        (1usize..6, prop::option::of(word()), prop::option::of(word())).prop_map(|(index, on, kind)| {
            let on = on.map_or(String::new(), |v| format!(" dependencies=\"{v}\""));
            let kind = kind.map_or(String::new(), |v| format!(" dependenciesKind=\"{v}\""));
            format!("<Unknown index=\"{index}\"{on}{kind}/>")
        });
    prop::collection::vec(unknown, 0..4).prop_map(|list| list.concat())
}

fn model() -> impl Strategy<Value = String> {
    (prop::collection::vec(variable(), 1..6), unknowns(), unknowns(), text()).prop_map(|(variables, outputs, initial, note)| {
        format!(
            "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"{0}\" guid=\"g\"><!-- kept --><ModelExchange \
             modelIdentifier=\"M\"/><VendorAnnotations><Tool name=\"T\"><a>{0}</a></Tool></VendorAnnotations>\
             <ModelVariables>{1}</ModelVariables><ModelStructure><Outputs>{outputs}</Outputs>\
             <InitialUnknowns>{initial}</InitialUnknowns></ModelStructure></fmiModelDescription>",
            escape(&note),
            variables.join("\n"),
        )
    })
}

proptest! {
    /// Written and read again, the model is equal: its fields, its warnings, its tree.
    #[test]
    fn writing_keeps_the_model(xml in model()) {
        let model = read(xml.as_bytes()).unwrap();
        prop_assert_eq!(without_lines(read(&model.write()).unwrap()), without_lines(model));
    }

    /// Whatever was wrong, what is written for Co-Simulation needs no repair.
    #[test]
    fn conversion_repairs_everything(xml in model()) {
        let model = read(xml.as_bytes()).unwrap();
        let request = CoSimulation { guid: "n".into(), step_size: 0.1, ..CoSimulation::default() };
        let result = read(&model.into_co_simulation(&request)).unwrap();
        prop_assert!(result.warnings.is_empty(), "{:#?}", result.warnings);
        let key = |v: &ScalarVariable| (v.name.clone(), v.value_reference, v.kind, v.causality, v.variability, v.initial);
        prop_assert!(model.variables.iter().map(key).eq(result.variables.iter().map(key)));
    }

    #[test]
    fn no_bytes_cause_a_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read(&bytes);
    }

    /// Nor do those that look like a model.
    #[test]
    fn no_broken_model_causes_a_panic(xml in model(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut bytes = xml.into_bytes();
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if let Ok(model) = read(&bytes) {
            let _ = read(&model.into_co_simulation(&CoSimulation::default()));
        }
    }
}

/// A line, in a field or a message, belongs to the file and not to the model.
fn without_lines(mut model: ModelDescription) -> ModelDescription {
    model.variables.iter_mut().for_each(|v| v.line = 0);
    for warning in &mut model.warnings {
        let mut parts = warning.split("(line ");
        let mut text = parts.next().unwrap().to_string();
        for part in parts {
            text.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
        }
        *warning = text;
    }
    model
}

/// 50,000 variables, a third of them states, each with a fault: linear or this test does not end.
#[test]
fn a_huge_model_is_read_and_written() {
    let n = 50_000;
    let mut xml = String::from(
        "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"M\" guid=\"g\"><ModelExchange \
         modelIdentifier=\"M\"/><ModelVariables>",
    );
    for i in 0..n {
        let body = match i % 3 {
            0 => "<Real start=\"1\" unit=\"m\"/>".to_string(),
            1 => format!("<Real derivative=\"{i}\"/>"),
            _ => "<Real start=\"1,5\"/>".to_string(),
        };
        let initial = if i % 3 == 0 { " initial=\"exact\"" } else { "" };
        xml += &format!(
            "\n<ScalarVariable name=\"same\" valueReference=\"{i}\"{initial}>{body}</ScalarVariable>"
        );
    }
    xml += "</ModelVariables><ModelStructure><Derivatives>";
    for i in (1..n).step_by(3) {
        xml += &format!("<Unknown index=\"{}\"/>", i + 1);
    }
    xml += "</Derivatives></ModelStructure></fmiModelDescription>";
    let model = read(xml.as_bytes()).unwrap();
    assert_eq!(model.variables.len(), n);
    assert_eq!(model.states().len(), n / 3 + 1);
    let request = CoSimulation { step_size: 1e-3, ..CoSimulation::default() };
    let result = read(&model.into_co_simulation(&request)).unwrap();
    assert_eq!((result.variables.len(), result.warnings.len()), (n, 0));
}

/// The same model in every encoding.
#[test]
fn encodings_do_not_matter() {
    let body = "<fmiModelDescription fmiVersion=\"2.0\" modelName=\"Wärme\" guid=\"g\" description=\"a&#x20;&lt;\r\nb\">\
         <ModelVariables><ScalarVariable name=\"T\" valueReference=\"1\" description=\"µ\"><Real/></ScalarVariable>\
         </ModelVariables><ModelStructure/></fmiModelDescription>";
    let utf8 = read(body.as_bytes()).unwrap();
    assert_eq!(utf8.description.as_deref(), Some("a < b"));
    let latin = |label: &str| -> Vec<u8> {
        let text = format!("<?xml version=\"1.0\" encoding=\"{label}\"?>{body}");
        text.chars().map(|c| u8::try_from(u32::from(c)).unwrap()).collect()
    };
    let wide = |big: bool| -> Vec<u8> {
        let text = format!("\u{FEFF}<?xml version=\"1.0\" encoding=\"UTF-16\"?>{body}");
        text.encode_utf16().flat_map(|u| if big { u.to_be_bytes() } else { u.to_le_bytes() }).collect()
    };
    let marked = [b"\xEF\xBB\xBF", body.as_bytes()].concat();
    for bytes in [marked, latin("ISO-8859-1"), latin("windows-1252"), wide(false), wide(true)] {
        let model = read(&bytes).unwrap();
        assert_eq!(model, utf8);
        assert_eq!(model.write(), utf8.write());
    }
}
