//! Read any modelDescription.xml of FMI 2.0 or 3.0, and write it back without losing what was not to change.
//!
//! `read` makes a tree that keeps everything, and a repaired copy of it. The fields of `ModelDescription`
//! show the repaired one, `warnings` tells each repair by element, variable and line, `write` gives the
//! file as it was, `into_co_simulation` the description of the new FMU, which validates.
//!
//! | file | idea |
//! |---|---|
//! | `decode`, `parse`, `tree`, `write` | bytes, text, tree, bytes |
//! | `schema`, `conform`, `annotate`, `namespaces` | names, order and literals as the schema wants them |
//! | `types`, `variables`, `structure` | what must agree between elements |
//! | `model`, `read`, `units` | plain data, and how it is read off the tree |
//! | `convert`, `naming` | Model Exchange to Co-Simulation |
//! | `fmi3` | FMI 3.0 as scalars of FMI 2.0, and back |
//! | `sources` | what an FMU says of its C sources |
//! | `literal`, `notes`, `error` | numbers, warnings, refusals |

mod annotate;
mod conform;
mod convert;
mod decode;
mod error;
mod fmi3;
mod literal;
mod model;
mod namespaces;
mod naming;
mod notes;
mod parse;
mod read;
mod schema;
mod sources;
mod structure;
mod tree;
mod types;
mod units;
mod variables;
mod write;

pub use convert::{CoSimulation, Diagnostic, DiagnosticKind};
pub use error::Error;
pub use fmi3::{Array, Clock, Fmi3, IntervalVariability, StructuralParameter, Type};
pub use model::{
    Causality, DefaultExperiment, Dependencies, DependencyKind, Initial, Kind, ModelDescription,
    ModelExchange, ModelStructure, ScalarVariable, State, Unknown, Variability,
};
pub use read::{read, read_sized};
pub use sources::{BuildConfiguration, SourceFileSet, read_build_description};
pub use units::{BaseUnit, DisplayUnit, Unit};
