//! The library inside every exported FMU: it loads a plan, checks it once, then only executes.

mod check;
pub mod lu;
pub mod plan;
