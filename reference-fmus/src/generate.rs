//! Model descriptions whose number of variables is a parameter: written, where the others are
//! files.
//!
//! Value references follow [`crate::model`]: time 0 (present if the first variable is
//! [`Variable::time`]), then 1, 2, … in order.

use std::fmt::Write;

pub struct Header<'a> {
    pub identifier: &'a str,
    pub guid: &'a str,
    pub description: &'a str,
    /// Name and SI base units.
    pub units: &'a [(&'a str, &'a str)],
    pub stop: f64,
    pub step: f64,
    /// Event indicators.
    pub indicators: usize,
    pub variables: &'a [Variable],
    pub outputs: &'a [Unknown],
    pub derivatives: &'a [Unknown],
}

/// One-based position of the unknown; positions it depends on, with their kinds, ascending.
pub type Unknown = (usize, Vec<(usize, &'static str)>);

pub struct Variable {
    name: String,
    description: String,
    /// causality, variability and initial, as attributes.
    role: &'static str,
    unit: &'static str,
    start: Option<f64>,
    nominal: Option<f64>,
    /// Least and greatest value.
    range: Option<(f64, f64)>,
    derivative: Option<usize>,
}

const CALCULATED: &str = r#"causality="local" variability="continuous" initial="calculated""#;
const DISCRETE: &str = r#"causality="local" variability="discrete" initial="calculated""#;
const OUTPUT: &str = r#"causality="output" variability="continuous" initial="calculated""#;

impl Variable {
    fn new(name: &str, description: &str, role: &'static str, unit: &'static str) -> Variable {
        Variable {
            name: name.to_owned(),
            description: description.to_owned(),
            role,
            unit,
            start: None,
            nominal: None,
            range: None,
            derivative: None,
        }
    }

    pub fn time() -> Variable {
        let role = r#"causality="independent" variability="continuous""#;
        Variable::new("time", "Simulation time", role, "s")
    }

    /// A state with a start value.
    pub fn state(name: &str, description: &str, unit: &'static str) -> Variable {
        let role = r#"causality="local" variability="continuous" initial="exact""#;
        Variable::new(name, description, role, unit)
    }

    /// A state that initialization calculates.
    pub fn calculated(name: &str, description: &str, unit: &'static str) -> Variable {
        Variable::new(name, description, CALCULATED, unit)
    }

    /// The derivative of the state at the one-based position `state`.
    pub fn derivative(of: &str, state: usize, unit: &'static str) -> Variable {
        let name = format!("der({of})");
        let mut it = Variable::new(&name, &format!("Derivative of {of}"), CALCULATED, unit);
        it.derivative = Some(state);
        it
    }

    pub fn input(name: &str, description: &str, unit: &'static str) -> Variable {
        let role = r#"causality="input" variability="continuous""#;
        Variable::new(name, description, role, unit)
    }

    pub fn fixed(name: &str, description: &str, unit: &'static str) -> Variable {
        let role = r#"causality="parameter" variability="fixed" initial="exact""#;
        Variable::new(name, description, role, unit)
    }

    pub fn tunable(name: &str, description: &str, unit: &'static str) -> Variable {
        let role = r#"causality="parameter" variability="tunable" initial="exact""#;
        Variable::new(name, description, role, unit)
    }

    /// A value that only events change.
    pub fn discrete(name: &str, description: &str, unit: &'static str) -> Variable {
        Variable::new(name, description, DISCRETE, unit)
    }

    pub fn output(name: &str, description: &str, unit: &'static str) -> Variable {
        Variable::new(name, description, OUTPUT, unit)
    }

    pub fn start(mut self, start: f64) -> Variable {
        self.start = Some(start);
        self
    }

    pub fn nominal(mut self, nominal: f64) -> Variable {
        self.nominal = Some(nominal);
        self
    }

    pub fn range(mut self, least: f64, greatest: f64) -> Variable {
        self.range = Some((least, greatest));
        self
    }

    /// What InitialUnknowns lists.
    fn is_calculated(&self) -> bool {
        [CALCULATED, OUTPUT].contains(&self.role)
    }
}

/// modelDescription.xml, with FMU states and directional derivatives.
pub fn description(it: &Header) -> String {
    let mut out = String::with_capacity(400 * it.variables.len());
    // Writing to a String cannot fail.
    let _ = write(&mut out, it);
    out
}

fn write(out: &mut String, it: &Header) -> std::fmt::Result {
    let (identifier, guid, text, indicators) = (it.identifier, it.guid, it.description, it.indicators);
    write!(
        out,
        r#"<?xml version="1.0" encoding="UTF-8"?>
<fmiModelDescription
  fmiVersion="2.0"
  modelName="{identifier}"
  guid="{guid}"
  description="{text}"
  generationTool="fmu-build reference-fmus"
  license="MIT"
  variableNamingConvention="structured"
  numberOfEventIndicators="{indicators}">

  <ModelExchange
    modelIdentifier="{identifier}"
    canGetAndSetFMUstate="true"
    canSerializeFMUstate="true"
    providesDirectionalDerivative="true"/>

  <UnitDefinitions>
"#
    )?;
    for (name, base) in it.units {
        writeln!(out, r#"    <Unit name="{name}"><BaseUnit {base}/></Unit>"#)?;
    }
    write!(
        out,
        r#"  </UnitDefinitions>

  <LogCategories>
    <Category name="logStatusError" description="Why a call returned fmi2Error"/>
  </LogCategories>

  <DefaultExperiment startTime="0.0" stopTime="{:?}" tolerance="1e-06" stepSize="{:?}"/>

  <ModelVariables>
"#,
        it.stop, it.step
    )?;
    let has_time = it.variables.first().is_some_and(|first| first.name == "time");
    for (i, v) in it.variables.iter().enumerate() {
        let reference = if has_time { i } else { i + 1 };
        write!(
            out,
            r#"    <ScalarVariable name="{}" valueReference="{reference}" description="{}" {}><Real unit="{}""#,
            v.name, v.description, v.role, v.unit
        )?;
        if let Some(nominal) = v.nominal {
            write!(out, r#" nominal="{nominal:?}""#)?;
        }
        if let Some((least, greatest)) = v.range {
            write!(out, r#" min="{least:?}" max="{greatest:?}""#)?;
        }
        if let Some(start) = v.start {
            write!(out, r#" start="{start:?}""#)?;
        }
        if let Some(state) = v.derivative {
            write!(out, r#" derivative="{state}""#)?;
        }
        out.push_str("/></ScalarVariable>\n");
    }
    out.push_str("  </ModelVariables>\n\n  <ModelStructure>\n");
    for (element, unknowns) in [("Outputs", it.outputs), ("Derivatives", it.derivatives)] {
        writeln!(out, "    <{element}>")?;
        for (index, on) in unknowns {
            let list = |part: fn(&(usize, &'static str)) -> String| {
                on.iter().map(part).collect::<Vec<_>>().join(" ")
            };
            let (indices, kinds) = (list(|d| d.0.to_string()), list(|d| d.1.to_owned()));
            writeln!(
                out,
                r#"      <Unknown index="{index}" dependencies="{indices}" dependenciesKind="{kinds}"/>"#
            )?;
        }
        writeln!(out, "    </{element}>")?;
    }
    out.push_str("    <InitialUnknowns>\n");
    for (i, _) in it.variables.iter().enumerate().filter(|(_, v)| v.is_calculated()) {
        writeln!(out, r#"      <Unknown index="{}"/>"#, i + 1)?;
    }
    out.push_str("    </InitialUnknowns>\n  </ModelStructure>\n</fmiModelDescription>\n");
    Ok(())
}
