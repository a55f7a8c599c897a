//! `fmu-build example`: one of the reference models as a Model-Exchange FMU.

use crate::archive::{self, Content, Entry};
use crate::error::Error;
use crate::experiment::Ranges;
use crate::libraries::Libraries;
use crate::outputs::Outputs;
use crate::quantity::significant;
use model_description::{Causality, Kind, ScalarVariable};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Write the model, or list them all. Returns what to tell the user.
pub fn example(
    name: Option<&str>,
    output: Option<&Path>,
    inputs: Option<&Path>,
    libraries: Libraries,
) -> Result<String, Error> {
    let Some(name) = name else { return Ok(list()) };
    let export = reference_fmus::files(name).map_err(|error| Error::Request(error.to_string()))?;
    let output = match output {
        Some(output) => output.to_path_buf(),
        None => PathBuf::from(format!("{}.fmu", name.replace(':', "-"))),
    };
    let signals = inputs.map(|path| signals(name, &export.files).map(|text| (path, text))).transpose()?;
    let mut entries: Vec<Entry> = export
        .files
        .into_iter()
        .map(|(name, content)| Entry { name, content: Content::Bytes(content), executable: false })
        .collect();
    entries.extend(libraries.references_for(&export.identifier));
    let mut outputs = Outputs::new([]);
    let fmu = outputs.claim("the FMU", &output)?;
    archive::write(outputs.file(fmu), &output, entries, None)?;
    let mut told = format!("wrote {}, a Model-Exchange FMU", output.display());
    if let Some((path, text)) = signals {
        let table = outputs.claim("the input signals", path)?;
        outputs.write(table, text.as_bytes())?;
        told.push_str(&format!("\nwrote {}, input signals for it", path.display()));
    }
    outputs.commit()?;
    Ok(told)
}

/// Signals that move each input of the model: from its start value to both sides of its range in a jump, a ramp and a pulse, one input
/// after the other, as a person would try them on a bench.
fn signals(name: &str, files: &[(String, Vec<u8>)]) -> Result<String, Error> {
    let xml =
        files.iter().find(|(path, _)| path == "modelDescription.xml").map(|(_, content)| content.as_slice());
    let description = model_description::read(xml.unwrap_or_default())
        .map_err(|source| Error::Description { path: name.into(), source })?;
    let inputs: Vec<&ScalarVariable> = description
        .variables
        .iter()
        .filter(|variable| variable.causality == Causality::Input && variable.kind != Kind::String)
        .collect();
    if inputs.is_empty() {
        return Err(Error::Request(format!(
            "{name} has no inputs, and needs no input signals; leave --inputs away"
        )));
    }
    let start = description.default_experiment.start_time.unwrap_or(0.0);
    let stop = description.default_experiment.stop_time.unwrap_or(start + 1.0);
    let ranges = Ranges::default();
    let mut out =
        format!("time,{}\n", inputs.iter().map(|input| quoted(&input.name)).collect::<Vec<_>>().join(","));
    // Share of the run, and how far from the start value to the far side of the range (negative: to the near side) each input is.
    let shape = [
        (0.0, 0.0),
        (0.1, 0.0),
        (0.1, 0.8),
        (0.3, 0.8),
        (0.5, 0.3),
        (0.6, 0.3),
        (0.6, -0.5),
        (0.8, -0.5),
        (1.0, 0.5),
    ];
    for (row, (at, _)) in shape.iter().enumerate() {
        // Of two rows at one time the first is before the jump.
        let before = shape.get(row + 1).is_some_and(|next| next.0 == *at);
        let _ = write!(out, "{}", significant(start + at * (stop - start)));
        for (number, input) in inputs.iter().enumerate() {
            // The inputs move one after the other.
            let later = 0.5 * number as f64 / inputs.len() as f64;
            let _ = write!(out, ",{}", value(&ranges, input, level(&shape, (at - later).max(0.0), before)));
        }
        out.push('\n');
    }
    Ok(out)
}

/// The shape's level, at a jump behind it, or before; between its points, on the straight line.
fn level(shape: &[(f64, f64)], at: f64, before: bool) -> f64 {
    const ROUNDING: f64 = 1e-9;
    let after = match before {
        true => shape.partition_point(|(time, _)| *time < at - ROUNDING).max(1),
        false => shape.partition_point(|(time, _)| *time <= at + ROUNDING),
    };
    match (after.checked_sub(1).map(|before| shape[before]), shape.get(after)) {
        (Some((t0, a)), Some(&(t1, b))) if t1 > t0 => a + (b - a) * (at - t0) / (t1 - t0),
        (Some((_, a)), _) => a,
        _ => 0.0,
    }
}

fn value(ranges: &Ranges, input: &ScalarVariable, level: f64) -> String {
    if input.kind != Kind::Real {
        let values = ranges.values(input);
        let at = (level.abs() * (values.len() - 1) as f64).round() as usize;
        return match input.kind {
            Kind::Boolean => (values[at] != 0.0).to_string(),
            _ => values[at].to_string(),
        };
    }
    let range = ranges.of_input(input);
    let start = input.start_real().unwrap_or(0.0).clamp(range.low, range.high);
    let (far, near) = match range.high - start >= start - range.low {
        true => (range.high, range.low),
        false => (range.low, range.high),
    };
    let end = if level >= 0.0 { far } else { near };
    significant(start + level.abs() * (end - start))
}

fn quoted(name: &str) -> String {
    if name.contains([',', '"']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.into() }
}

fn list() -> String {
    let mut lines = vec!["fmu-build example NAME OUT.fmu writes one of these models:".to_string()];
    for name in reference_fmus::names() {
        let summary = reference_fmus::find(name).map(|reference| reference.summary()).unwrap_or_default();
        let shown = match name {
            "heat-rod" => "heat-rod[:CELLS]",
            "clutches" => "clutches[:STATESxINDICATORS]",
            "vehicle" => "vehicle[:STATES:WORK]",
            "friction-row" => "friction-row[:STATES:INDICATORS:WORK]",
            name => name,
        };
        lines.push(format!("  {shown:<20} {summary}"));
    }
    lines.join("\n")
}
