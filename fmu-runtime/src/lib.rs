//! The library inside every exported FMU: it loads a plan, checks it once, then only executes.

pub mod plan;
