//! The builder: reads a Model-Exchange FMU, decides everything, writes the Co-Simulation FMU.
//!
//! | file | idea |
//! |---|---|
//! | `build` | the main job, top to bottom |
//! | `source` | the FMU as it came, its description turned into the plan's tables |
//! | `experiment`, `inputs` | the run that is studied |
//! | `lab`, `child`, `worker/` | foreign code runs in a child process: study, trial runs, benchmark |
//! | `structure/` | what the dependency graph decides: blocks, tears, colours |
//! | `analysis/` | what the Jacobian decides: spectra, partitions, sparsing |
//! | `decide/` | candidates, trials, the choice and its certificate |
//! | `pack`, `archive` | the new FMU |
//! | `summary`, `report` | what was decided, and why, for programs and for people |
//! | `inspect`, `bench`, `example` | the other commands |
//! | `cli`, `quantity`, `progress`, `error` | the user's side |

pub mod analysis;
pub mod archive;
pub mod bench;
pub mod build;
pub mod child;
pub mod cli;
pub mod decide;
pub mod error;
pub mod example;
pub mod experiment;
pub mod inputs;
pub mod inspect;
pub mod lab;
pub mod pack;
pub mod progress;
pub mod quantity;
pub mod report;
pub mod source;
pub mod structure;
pub mod summary;
pub mod worker;

/// The libraries that go into FMUs, embedded in the executable.
#[derive(Clone, Copy)]
pub struct Libraries {
    /// The co-simulation runtime, for this platform.
    pub runtime: &'static [u8],
    /// The reference models.
    pub reference: &'static [u8],
}
