//! Make an instance: find the FMU's resources, read its plan, load the model inside and, where the plan asks for one, its twin.
#![allow(unsafe_code)]

use crate::own_library::own_resources;
use crate::pointers::Instance;
use fmu_runtime::component::Importer;
use fmu_runtime::fmi::{Fmu2, Host, Instantiation, Kind, LoadError, Witness};
use fmu_runtime::plan::Plan;
use fmu_runtime::platform;
use fmu_runtime::resources::{self, INNER, PLAN};
use fmu_runtime::status::Status;
use fmu_runtime::value::c_text;
use std::path::{Path, PathBuf};

/// What the importer asks for.
pub struct Asked<'a> {
    pub name: &'a str,
    /// GUID or instantiation token.
    pub guid: &'a str,
    /// The resources folder, where the importer gives one.
    pub resources: Option<PathBuf>,
    pub visible: bool,
    pub logging: bool,
}

/// The folder and its plan.
pub fn find(asked: &Asked) -> Result<(PathBuf, Plan), String> {
    let given = asked.resources.as_ref();
    let holds_plan = |folder: &PathBuf| folder.join(PLAN).is_file();
    let found = given.cloned().filter(holds_plan).or_else(|| own_resources().filter(holds_plan));
    let Some(folder) = found.as_deref().or(given.map(PathBuf::as_path)) else {
        return Err("no resource location was given and none could be found".to_string());
    };
    let folder = std::path::absolute(folder).unwrap_or_else(|_| Path::new(folder).to_path_buf());
    let plan = resources::read_plan(&folder, asked.guid)?;
    Ok((folder, plan))
}

/// An instance around the model in `folder`. `host` and `silent` are how the model and its twin reach the importer.
pub fn instantiate(
    asked: &Asked,
    (folder, plan): (PathBuf, Plan),
    [host, silent]: [Host; 2],
    importer: Box<dyn Importer>,
) -> Result<Instance, String> {
    let root = folder.join(INNER);
    let request = Instantiation {
        kind: Kind::ModelExchange,
        name: asked.name,
        guid: &plan.model.inner_guid,
        resources: &resources::uri_from_path(&root.join("resources")),
        visible: asked.visible,
        logging: asked.logging,
        witness: Witness::default(),
        inner: plan.inner.as_ref(),
    };
    let library = platform::HOST.library(&root, &plan.model.identifier);
    // SAFETY: the importer asks for this FMU, so it trusts the model inside.
    let inner = unsafe { Fmu2::load(&library, host, &request) }.map_err(|error| error.to_string())?;
    let twin_name = format!("{}.twin", asked.name);
    let request = Instantiation { name: &twin_name, visible: false, logging: false, ..request };
    // SAFETY: likewise. What the twin says is what the FMU says, or of no interest.
    let twin = plan.has_twin().then(|| unsafe { Fmu2::load(&library, silent, &request) });
    let twin = twin.and_then(|twin| twin.inspect_err(|error| no_twin(asked.name, &*importer, error)).ok());
    Instance::with_inner(asked.name, plan, inner, twin, importer)
}

/// Without a second instance of the model the FMU works as it would with one, but for what it says of its error.
fn no_twin(name: &str, importer: &dyn Importer, error: &LoadError) {
    importer.log(
        &c_text(name),
        Status::Warning,
        c"logStatusWarning",
        format_args!("the model gives no second instance ({error}): fmuBuild.error says nothing"),
    );
}
