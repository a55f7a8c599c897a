//! Why `fmu-build` refused: what was found, where, and what to do next.

use crate::archive::ArchiveError;
use crate::inputs::InputError;
use crate::lab::process::WorkerError;
use crate::outputs::OutputError;
use crate::warning::Warning;
use std::io;
use std::path::PathBuf;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Archive(#[from] ArchiveError),
    #[error("{}: {source}", path.display())]
    Description { path: PathBuf, source: model_description::Error },
    #[error(
        "{}: modelDescription.xml has {found} bytes, more than the {most} that are accepted; export the model with fewer variables",
        path.display()
    )]
    LongDescription { path: PathBuf, found: u64, most: u64 },
    #[error(
        "{}: modelDescription.xml says numberOfEventIndicators=\"{found}\", more than the {most} that are accepted; export the FMU again",
        path.display()
    )]
    Indicators { path: PathBuf, found: usize, most: usize },
    #[error(
        "{} has no modelDescription.xml at its top level{}; an FMU must have one",
        path.display(),
        found.as_ref().map_or(String::new(), |name| format!(" (but {name}: was the folder zipped instead of its content?)"))
    )]
    NoDescription { path: PathBuf, found: Option<String> },
    #[error(
        "{} has no {wanted} (binaries in it: {}); export it for {platform}, or run fmu-build on one of those platforms",
        path.display(),
        if found.is_empty() { "none, it may be a source-code FMU".to_string() } else { found.join(", ") }
    )]
    NoBinary { path: PathBuf, wanted: String, platform: &'static str, found: Vec<String> },
    #[error("{}: {why}", path.display())]
    Sources { path: PathBuf, why: String },
    #[error(transparent)]
    Worker(#[from] WorkerError),
    #[error(transparent)]
    Inputs(#[from] InputError),
    #[error(transparent)]
    Output(#[from] OutputError),
    /// What `--strict` does not let pass.
    #[error("{0}")]
    Strict(Warning),
    /// A word of the command line that is not what it must be.
    #[error("{0}")]
    Usage(String),
    /// A request that cannot be fulfilled, in full sentences.
    #[error("{0}")]
    Request(String),
    #[error("cannot {doing} {}: {source}", path.display())]
    Io { doing: &'static str, path: PathBuf, source: io::Error },
}

impl Error {
    pub fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
        let path = path.into();
        move |source| Error::Io { doing, path, source }
    }
}
