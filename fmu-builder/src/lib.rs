//! The builder: reads a Model-Exchange FMU, decides everything, writes the Co-Simulation FMU.
//!
//! | file | idea |
//! |---|---|
//! | `build` | the main job, top to bottom |
//! | `source` | the FMU as it came: unpacked, its description read |
//! | `interface` | its names, references, roles and abilities, as tables |
//! | `ability` | what it promises and does not do well: it is built without |
//! | `experiment/`, `inputs`, `reading` | the runs that are studied, given and invented |
//! | `study` | the invented ones, run accurately side by side |
//! | `effort` | how long the build takes, told once an evaluation has been timed |
//! | `lab/`, `worker/` | foreign code runs in a child process: study, trial runs, benchmark |
//! | `structure/` | what the dependency graph decides: blocks, tears, colours |
//! | `analysis/` | what the Jacobian decides: spectra, partitions, sparsing |
//! | `decide/` | candidates, trials, the choice and its certificate |
//! | `assemble`, `diagnostics` | the plan, put together once |
//! | `pack`, `archive`, `libraries` | the new FMU, with a runtime for each of its platforms |
//! | `outputs`, `scratch`, `cleanup` | files that are written: all or none, and nothing stays behind |
//! | `system` | Unix and Windows behind one interface |
//! | `warning/` | what a person should read before the FMU is trusted, as values in order of weight |
//! | `summary`, `report` | what was decided, and why, for programs and for people |
//! | `compare/`, `finished` | the original and the exported FMU side by side |
//! | `inspect`, `bench`, `example` | the other commands |
//! | `options` | what can be asked for, as values |
//! | `cli`, `terminal`, `quantity`, `units`, `near`, `progress`, `error` | the command line |

pub mod ability;
pub mod analysis;
pub mod archive;
pub mod assemble;
pub mod bench;
pub mod build;
pub mod cleanup;
pub mod cli;
pub mod compare;
pub mod decide;
pub mod deviation;
pub mod diagnostics;
pub mod effort;
pub mod error;
pub mod example;
pub mod experiment;
pub mod findings;
pub mod finished;
pub mod inputs;
pub mod inspect;
pub mod interface;
pub mod lab;
pub mod libraries;
pub mod method;
pub mod moved;
pub mod near;
pub mod options;
pub mod outputs;
pub mod pack;
pub mod progress;
pub mod quantity;
pub mod reading;
pub mod report;
pub mod scratch;
pub mod sense;
pub mod source;
mod sources;
pub mod structure;
pub mod study;
pub mod summary;
pub mod system;
pub mod terminal;
pub mod units;
pub mod warning;
pub mod worker;

pub use bench::bench;
pub use build::build;
pub use compare::compare;
pub use example::example;
pub use inspect::inspect;
pub use libraries::{Libraries, Library};
pub use options::{BenchOptions, CompareOptions, InspectOptions, Options};
