//! What `fmu-build` can be asked to do, one file each.
//!
//! | file | idea |
//! |---|---|
//! | `build` | study the FMU, decide how it is stepped, write the new one |
//! | `inspect` | what the dependency graph shows, without building |
//! | `bench` | step an exported FMU and measure |
//! | `example` | write a reference model |

pub mod bench;
pub mod build;
pub mod example;
pub mod inspect;
