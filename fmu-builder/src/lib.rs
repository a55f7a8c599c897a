//! Skeleton.
pub mod archive;
pub mod quantity;
