//! The builder: reads a Model-Exchange FMU, decides everything, writes the Co-Simulation FMU.
//!
//! | folder | idea |
//! |---|---|
//! | `commands/` | the main job, `build`, top to bottom; `inspect`, `bench`, `example` |
//! | `source/` | the FMU as it came: its description, names and abilities; what it promises and does not do well |
//! | `sources/` | C code in the FMU, compiled where it has no binary |
//! | `experiment/` | the runs that are studied: given with input files, or invented |
//! | `effort` | how long the build takes, told once an evaluation has been timed |
//! | `lab/`, `worker/` | foreign code runs in a child process: study, trial runs, benchmark |
//! | `findings/` | what the workers found, as data |
//! | `structure/` | what the dependency graph decides: blocks, tears, colours |
//! | `analysis/` | what the Jacobian decides: step maps, spectra, partitions, sparsing |
//! | `decide/` | candidates, trials, the choice and its certificate |
//! | `export/` | the plan put together, the new FMU with a runtime for each of its platforms |
//! | `warning/` | what a person should read before the FMU is trusted, as values in order of weight |
//! | `summary/`, `report/` | what was decided, and why, for programs and for people |
//! | `compare/`, `finished` | the original and the exported FMU side by side |
//! | `files/` | files that are read and written: archives, all outputs or none, nothing stays behind |
//! | `system/` | Unix and Windows behind one interface |
//! | `options` | what can be asked for, as values |
//! | `cli/`, `terminal`, `quantity`, `units`, `near`, `progress`, `error` | the command line |

pub mod analysis;
pub mod cli;
mod commands;
pub mod compare;
pub mod decide;
pub mod effort;
pub mod error;
pub mod experiment;
mod export;
mod files;
pub mod findings;
pub mod finished;
pub mod lab;
pub mod near;
pub mod options;
pub mod progress;
pub mod quantity;
pub mod report;
pub mod source;
mod sources;
pub mod structure;
pub mod summary;
pub mod system;
pub mod terminal;
pub mod units;
pub mod warning;
pub mod worker;

pub use analysis::method;
pub use commands::{bench, build, example, inspect};
pub use experiment::{inputs, moved, scenarios, sense};
pub use export::{assemble, diagnostics, libraries, pack};
pub use files::{archive, cleanup, outputs, reading, scratch};
pub use findings::deviation;
pub use source::{ability, interface};

pub use bench::bench;
pub use build::build;
pub use compare::compare;
pub use example::example;
pub use inspect::inspect;
pub use libraries::{Libraries, Library};
pub use options::{BenchOptions, CompareOptions, InspectOptions, Options};
