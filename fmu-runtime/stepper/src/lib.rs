//! The integrator: it executes a plan over any model.
//!
//! `integrator` takes communication steps: the stages of a `method` with the `jacobian` and its factors (`lu`), and
//! events. All of it follows the `plan` and reaches the model through the trait `model`.

pub mod check;
pub mod fault;
pub mod integrator;
pub mod jacobian;
pub mod lu;
pub mod method;
pub mod model;
pub mod plan;
pub mod status;
