//! Skeleton.

pub mod analysis;
