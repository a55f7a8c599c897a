//! The builder: reads a Model-Exchange FMU, decides everything, writes the Co-Simulation FMU.

pub mod analysis;
pub mod archive;
pub mod child;
pub mod cli;
pub mod experiment;
pub mod inputs;
pub mod progress;
pub mod quantity;
