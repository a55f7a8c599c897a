//! The new FMU: runtime, plan, rewritten description, and the inner FMU with everything that it brought.
//!
//! Same input, same bytes: nothing measured and no clock goes in.

use crate::archive::{self, Content, Entry};
use crate::diagnostics;
use crate::error::Error;
use crate::options::Fmi;
use crate::source::Source;
use fmu_runtime::instance::CATEGORIES;
use fmu_runtime::plan::Plan;
use fmu_runtime::resources::{INNER, PLAN};
use model_description::CoSimulation;
use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

/// What belongs to the FMU as a product stays at its place; what the model needs to run goes inside.
const STAYS: [&str; 7] =
    ["documentation/", "extra/", "licenses/", "terminalsAndIcons/", "icon/", "model.png", "LICENSE"];

/// The certificate, for people and for programs.
pub struct CertificateFiles {
    pub html: String,
    pub json: String,
}

/// Write the FMU.
pub fn pack(
    source: &Source,
    plan: &Plan,
    certificate: &CertificateFiles,
    runtimes: Vec<Entry>,
    to: &File,
    output: &Path,
) -> Result<(), Error> {
    let failed = |error: serde_json::Error| Error::Request(format!("the plan cannot be written: {error}"));
    let text = serde_json::to_vec(plan).map_err(failed)?;
    let request = CoSimulation {
        guid: plan.model.guid.clone(),
        generation_tool: format!("fmu-build {}", env!("CARGO_PKG_VERSION")),
        model_identifier: source.identifier().to_string(),
        step_size: plan.step.h * plan.step.substeps as f64,
        internal_step_size: plan.step.h,
        start_time: None,
        stop_time: None,
        can_get_and_set_fmu_state: plan.model.can_get_and_set_state,
        can_serialize_fmu_state: plan.model.can_serialize_state,
        provides_directional_derivative: plan.model.provides_directional_derivative,
        can_be_instantiated_only_once_per_process: plan.model.instantiate_only_once,
        log_categories: CATEGORIES
            .map(|(name, description)| (name.to_string_lossy().into_owned(), description.into()))
            .to_vec(),
        diagnostics: diagnostics::describe(&plan.diagnostics),
    };
    let description = match source.written_as {
        Fmi::Two => source.description.into_co_simulation(&request),
        Fmi::Three => source.description.into_co_simulation_3(&request),
    };
    let bytes =
        |name: String, content: Vec<u8>| Entry { name, content: Content::Bytes(content), executable: false };
    let mut entries = vec![
        bytes("modelDescription.xml".into(), description),
        bytes(format!("resources/{PLAN}"), text),
        bytes("resources/certificate.json".into(), certificate.json.clone().into_bytes()),
        bytes("documentation/index.html".into(), certificate.html.clone().into_bytes()),
    ];
    entries.extend(runtimes);
    let compiled = source.compiled.as_ref();
    if let Some(compiled) = compiled {
        let content = std::fs::read(&compiled.file).map_err(Error::io("read", &compiled.file))?;
        let name = format!("resources/{INNER}/{}", compiled.entry);
        entries.push(Entry { name, content: Content::Bytes(content), executable: true });
    }
    for entry in &source.archive.entries {
        if compiled.is_some_and(|compiled| compiled.entry == entry.name) {
            continue;
        }
        let stays = STAYS.iter().any(|place| entry.name.starts_with(place));
        let mut name = match (stays, entry.name.as_str()) {
            // Ours is the front page; it links to the model's own.
            (true, name) if name.eq_ignore_ascii_case("documentation/index.html") => {
                format!("documentation/{}", source.documentation().unwrap_or_default())
            }
            (true, name) => name.to_string(),
            (false, name) => format!("resources/{INNER}/{name}"),
        };
        if entry.is_dir {
            name.push('/');
            entries.push(bytes(name, Vec::new()));
        } else {
            entries.push(Entry {
                name,
                content: Content::Original(entry.index),
                executable: entry.executable(),
            });
        }
    }
    // Folders that got content of ours need no entry of their own.
    let mut filled = BTreeSet::new();
    for entry in &entries {
        let inside = entry.name.trim_end_matches('/');
        filled.extend(inside.match_indices('/').map(|(slash, _)| inside[..=slash].to_string()));
    }
    entries.retain(|entry| !filled.contains(&entry.name));
    Ok(archive::write(to, output, entries, Some(&source.archive))?)
}
