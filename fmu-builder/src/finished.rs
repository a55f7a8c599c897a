//! A Co-Simulation FMU that fmu-build made, unpacked again: its plan and its description.

use crate::archive;
use crate::error::Error;
use crate::source::{LONGEST_DESCRIPTION, read_description};
use fmu_runtime::plan::{Plan, Quantity};
use fmu_runtime::resources::PLAN;
use model_description::ModelDescription;
use std::path::{Path, PathBuf};

pub struct Finished {
    pub path: PathBuf,
    /// The folder that it is unpacked in.
    pub root: PathBuf,
    pub plan: Plan,
    pub description: ModelDescription,
}

impl Finished {
    /// Unpack `path` into the new folder `root`.
    pub fn open(path: &Path, root: PathBuf) -> Result<Finished, Error> {
        std::fs::create_dir(&root).map_err(Error::io("make", &root))?;
        archive::unpack(path, &root)?;
        let file = root.join("resources").join(PLAN);
        let text = std::fs::read(&file).map_err(|_| {
            Error::Request(format!(
                "{} was not made by fmu-build (it has no resources/{PLAN}); build it first: fmu-build IN.fmu OUT.fmu",
                path.display()
            ))
        })?;
        let plan: Plan = serde_json::from_slice(&text).map_err(|error| {
            Error::Request(format!("{}: resources/{PLAN} is damaged: {error}", path.display()))
        })?;
        let description = read_description(path, &root, LONGEST_DESCRIPTION, &[])?;
        Ok(Finished { path: path.into(), root, plan, description })
    }

    /// The communication step in seconds.
    pub fn step(&self) -> f64 {
        self.plan.step.h * self.plan.step.substeps as f64
    }

    /// The value reference of one of our own variables.
    pub fn diagnostic(&self, quantity: Quantity) -> Option<u32> {
        let found = self.plan.diagnostics.iter().find(|diagnostic| diagnostic.quantity == quantity);
        found.map(|diagnostic| diagnostic.reference)
    }
}
