//! fmu-build as a library: the builder together with the libraries that go into FMUs.
//!
//! The FMU's own code never runs in the caller's process, but in children of it: the same executable, started
//! again. So `main` begins with [`worker::serve_if_asked`](fmu_builder::worker::serve_if_asked).
//!
//! ```standalone_crate
//! use fmu_build::LIBRARIES;
//! use fmu_builder::{Options, build, example, worker};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     worker::serve_if_asked();
//!     let folder = tempfile::tempdir()?;
//!     let (model, realtime) = (folder.path().join("drive.fmu"), folder.path().join("realtime.fmu"));
//!     example(Some("dc-drive"), Some(&model), None, LIBRARIES)?;
//!
//!     let options = Options { step: Some(1e-3), ..Options::new(&model, &realtime, LIBRARIES) };
//!     let summary = build(&options)?;
//!     assert!(summary.error.is_some_and(|error| error < summary.tolerance));
//!     assert!(realtime.is_file());
//!     Ok(())
//! }
//! ```

use fmu_builder::{Libraries, Library};

/// Built and embedded by build.rs.
pub const LIBRARIES: Libraries = include!(concat!(env!("OUT_DIR"), "/libraries.rs"));
