//! Read back what our own model descriptions say.
//!
//! The XML is the one place that states names, value references, roles and start values; the
//! library takes them from it, so that the two cannot disagree. This reads only what `xml/*.xml`
//! and `generate` write: attributes in double quotes, five entities, no CDATA. It is no
//! XML parser.

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Type {
    Real,
    /// Integer and Enumeration: one kind of value reference.
    Integer,
    Boolean,
    String,
}

#[derive(Clone, Debug)]
pub struct Variable {
    pub name: String,
    pub reference: usize,
    pub kind: Type,
    pub causality: String,
    pub variability: String,
    pub initial: Option<String>,
    pub start: Option<String>,
    pub nominal: Option<f64>,
    /// One-based position of the state whose derivative this is.
    pub derivative: Option<usize>,
}

/// An element of ModelStructure; positions are one-based.
#[derive(Clone, Debug)]
pub struct Unknown {
    pub index: usize,
    /// `None`: on everything.
    pub dependencies: Option<Vec<usize>>,
    pub kinds: Vec<String>,
}

#[derive(Clone, Debug, Default)]
pub struct Description {
    pub guid: String,
    pub identifier: String,
    pub description: String,
    pub indicators: usize,
    pub only_once: bool,
    pub has_state: bool,
    pub directional: bool,
    pub start_time: f64,
    pub stop_time: f64,
    pub step: f64,
    pub variables: Vec<Variable>,
    pub outputs: Vec<Unknown>,
    pub derivatives: Vec<Unknown>,
}

impl Description {
    pub fn read(xml: &str) -> Description {
        let mut it = Description::default();
        let mut section = "";
        for tag in tags(xml) {
            let (element, attributes) = tag.split_once([' ', '\n']).unwrap_or((tag, ""));
            let get = |name| attribute(attributes, name);
            let number = |name| get(name).and_then(|text| text.parse::<f64>().ok());
            let is_true = |name| get(name).as_deref() == Some("true");
            match element {
                "fmiModelDescription" => {
                    it.guid = get("guid").unwrap_or_default();
                    it.description = get("description").unwrap_or_default();
                    it.indicators = number("numberOfEventIndicators").unwrap_or(0.0) as usize;
                }
                "ModelExchange" => {
                    it.identifier = get("modelIdentifier").unwrap_or_default();
                    it.only_once = is_true("canBeInstantiatedOnlyOncePerProcess");
                    it.has_state = is_true("canGetAndSetFMUstate");
                    it.directional = is_true("providesDirectionalDerivative");
                }
                "DefaultExperiment" => {
                    it.start_time = number("startTime").unwrap_or(0.0);
                    it.stop_time = number("stopTime").unwrap_or(1.0);
                    it.step = number("stepSize").unwrap_or(1e-3);
                }
                "ScalarVariable" => it.variables.push(Variable {
                    name: get("name").unwrap_or_default(),
                    reference: number("valueReference").unwrap_or(f64::MAX) as usize,
                    kind: Type::Real,
                    causality: get("causality").unwrap_or_else(|| "local".into()),
                    variability: get("variability").unwrap_or_else(|| "continuous".into()),
                    initial: get("initial"),
                    start: None,
                    nominal: None,
                    derivative: None,
                }),
                "Real" | "Integer" | "Boolean" | "String" | "Enumeration" => {
                    // An <Enumeration> of a type definition comes before the first variable.
                    let Some(variable) = it.variables.last_mut() else { continue };
                    variable.kind = match element {
                        "Real" => Type::Real,
                        "Boolean" => Type::Boolean,
                        "String" => Type::String,
                        _ => Type::Integer,
                    };
                    variable.start = get("start");
                    variable.nominal = number("nominal");
                    variable.derivative = number("derivative").map(|index| index as usize);
                }
                "Outputs" | "Derivatives" | "InitialUnknowns" => section = element,
                "Unknown" => {
                    let unknown = Unknown {
                        index: number("index").unwrap_or(0.0) as usize,
                        dependencies: get("dependencies").map(|list| {
                            list.split_whitespace().filter_map(|item| item.parse().ok()).collect()
                        }),
                        kinds: get("dependenciesKind")
                            .map(|list| list.split_whitespace().map(str::to_owned).collect())
                            .unwrap_or_default(),
                    };
                    match section {
                        "Outputs" => it.outputs.push(unknown),
                        "Derivatives" => it.derivatives.push(unknown),
                        _ => {}
                    }
                }
                _ => {}
            }
        }
        it
    }

    /// How many value references of a type are in use, counting from 0.
    pub fn count(&self, kind: Type) -> usize {
        let of_kind = self.variables.iter().filter(|v| v.kind == kind);
        of_kind.map(|v| v.reference + 1).max().unwrap_or(0)
    }
}

/// The text of each opening or empty element's tag, without its brackets.
fn tags(xml: &str) -> impl Iterator<Item = &str> {
    let inside = xml.split('<').skip(1).filter_map(|part| part.split_once('>'));
    inside.map(|(tag, _)| tag.trim_end_matches('/')).filter(|tag| !tag.starts_with(['/', '?', '!']))
}

fn attribute(attributes: &str, name: &str) -> Option<String> {
    let mut rest = attributes;
    while let Some((key, after)) = rest.split_once("=\"") {
        let (value, after) = after.split_once('"')?;
        if key.trim() == name {
            return Some(unescape(value));
        }
        rest = after;
    }
    None
}

fn unescape(text: &str) -> String {
    if !text.contains('&') {
        return text.to_owned();
    }
    let plain = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
    plain.replace("&apos;", "'").replace("&amp;", "&")
}
