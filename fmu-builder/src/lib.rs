//! Skeleton.
pub mod archive;
pub mod child;
pub mod cli;
pub mod inputs;
pub mod progress;
pub mod quantity;
