//! Nothing here; see `importers.rs`.
