//! The run that is studied: from when to when, with which start values and inputs.
//!
//! Names were resolved against the model description, so that the worker needs none.

use serde::{Deserialize, Serialize};
use std::path::PathBuf;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Experiment {
    pub start: f64,
    pub stop: f64,
    pub settings: Vec<Setting>,
    /// Input file and its columns.
    #[serde(with = "crate::lab::protocol::optional_path")]
    pub inputs: Option<PathBuf>,
    pub columns: Vec<Column>,
}

/// A start value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    pub name: String,
    pub reference: u32,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    Real(f64),
    Integer(i32),
    Boolean(bool),
    Text(String),
}

/// A column of the input file and the input that it drives.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    pub reference: u32,
    pub signal: Signal,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Signal {
    /// A continuous Real: interpolated.
    Continuous,
    /// Others are held.
    Real,
    Integer,
    Boolean,
    Text,
}
