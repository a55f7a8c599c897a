//! The library inside every exported FMU: it loads a plan, checks it once, then only executes.
//!
//! `ffi` (the C interface) calls `instance` (FMI's life cycle), which drives `integrator` (a communication
//! step), which takes the stages of a `method` with the `jacobian` and its factors (`lu`); all of them follow the `plan` and reach the model
//! through the trait `model`, which `fmi` implements for an FMI 2.0 library. The builder links the same code to verify a plan before it ships it.

pub mod access;
pub mod ffi;
pub mod fmi;
pub mod identity;
pub mod instance;
pub mod memory;
pub mod messages;
pub mod platform;
pub mod resources;

pub use fmi2_types::status;
pub use stepper::{check, fault, integrator, jacobian, lu, method, model, plan};
