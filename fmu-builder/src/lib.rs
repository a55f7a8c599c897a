//! Skeleton.
pub mod archive;
pub mod inputs;
pub mod progress;
pub mod quantity;
