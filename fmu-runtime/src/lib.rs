//! The exported FMU in Rust: it loads a plan, checks it once, then only executes.
//!
//! `frontend` (the C interfaces) calls `instance` (FMI's life cycle), which drives the `stepper`'s integrator over
//! the model inside: a `component`, whatever its version of FMI. One is an FMI 2.0 library (`fmi`). The builder links the
//! same code to verify a plan before it ships it; C symbols and the allocator are the frontend's alone.

pub mod access;
pub mod component;
pub mod fmi;
pub mod identity;
pub mod instance;
pub mod measure;
pub mod memory;
pub mod messages;
pub mod platform;
pub mod resources;
pub mod value;
pub mod version;

pub use fmi2_types::status;
pub use stepper::{check, fault, integrator, jacobian, lu, method, model, plan};
