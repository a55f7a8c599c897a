//! Skeleton.

pub mod structure;
