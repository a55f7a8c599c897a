//! The new FMU: its plan, its description, its libraries.
//!
//! | file | idea |
//! |---|---|
//! | `assemble` | the plan, put together once |
//! | `diagnostics` | the variables `fmuBuild.*` that the runtime adds |
//! | `libraries` | the runtimes that are embedded, and those that the new FMU gets |
//! | `pack` | the archive |

pub mod assemble;
pub mod diagnostics;
pub mod libraries;
pub mod pack;
