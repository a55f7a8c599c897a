//! Foreign FMUs: their C types, loading their libraries, their messages, and their calls.
//!
//! `loader` opens a library and finds its functions, `fmi2` calls them, `fmi3` has a model of FMI 3.0 answer the same calls,
//! `logger` takes the messages of an FMU that has no importer, `model` and `component` make one the integrator's model and the
//! component inside an exported FMU, `room` stands behind vectors that it fills, `witness` tells another process of the last
//! call.
//! The C types themselves are in the crate `fmi2_types`, which the reference models share.

mod component;
mod fmi2;
mod fmi3;
mod loader;
mod logger;
mod model;
mod room;
mod witness;

pub use fmi2::{Fmu2, Mode, SavedState};
pub use fmi2_types::{Callbacks, EventInfo, Kind};
pub use logger::Log;
pub use room::{Beyond, ROOM};
pub use witness::Witness;

use std::fmt;
use std::sync::Arc;
use stepper::plan::Inner;

/// How the foreign code reaches its host.
pub enum Host {
    /// The importer's own callbacks, handed through: its logger formats the FMU's messages itself.
    Callbacks(Callbacks),
    /// The same, but for the logger: what the FMU says is heard by nobody.
    Silent(Callbacks),
    /// No importer: messages are collected.
    Collect(Arc<Log>),
}

/// What `fmi2Instantiate` is given.
pub struct Instantiation<'a> {
    pub kind: Kind,
    pub name: &'a str,
    pub guid: &'a str,
    /// URI of the FMU's resources folder.
    pub resources: &'a str,
    pub visible: bool,
    pub logging: bool,
    /// Who is told of each call.
    pub witness: Witness,
    /// What the plan says of a model of FMI 3.0.
    pub inner: Option<&'a Inner>,
}

/// Why an FMU could not be loaded or instantiated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// The dynamic linker's own words.
    Open(String),
    MissingSymbol(String),
    /// `fmi2Instantiate` returned NULL.
    Instantiate,
    /// The model does not take the sizes of arrays that were chosen.
    Configure,
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Open(reason) => write!(f, "the FMU's library cannot be loaded: {reason}"),
            LoadError::MissingSymbol(symbol) => {
                let version = if symbol.starts_with("fmi3") { "3.0" } else { "2.0" };
                write!(f, "the FMU's library does not export {symbol}, which FMI {version} demands")
            }
            LoadError::Instantiate => write!(f, "the FMU's fmi2Instantiate returned NULL"),
            LoadError::Configure => {
                write!(f, "the FMU did not take its structural parameters in Configuration Mode")
            }
        }
    }
}
