//! `fmu-build example`: one of the reference models as a Model-Exchange FMU.

use crate::archive::{self, Content, Entry};
use crate::error::Error;
use crate::libraries::Libraries;
use crate::outputs::Outputs;
use std::path::{Path, PathBuf};

/// Write the model, or list them all. Returns what to tell the user.
pub fn example(name: Option<&str>, output: Option<&Path>, libraries: Libraries) -> Result<String, Error> {
    let Some(name) = name else { return Ok(list()) };
    let export = reference_fmus::files(name).map_err(|error| Error::Request(error.to_string()))?;
    let output = match output {
        Some(output) => output.to_path_buf(),
        None => PathBuf::from(format!("{}.fmu", name.replace(':', "-"))),
    };
    let mut entries: Vec<Entry> = export
        .files
        .into_iter()
        .map(|(name, content)| Entry { name, content: Content::Bytes(content), executable: false })
        .collect();
    entries.extend(libraries.references_for(&export.identifier));
    let mut outputs = Outputs::new([]);
    let fmu = outputs.claim("the FMU", &output)?;
    archive::write(outputs.file(fmu), &output, entries, None)?;
    outputs.commit()?;
    Ok(format!("wrote {}, a Model-Exchange FMU", output.display()))
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
