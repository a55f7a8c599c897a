//! The runs that are studied: from when to when, with which start values and inputs.
//!
//! | file | idea |
//! |---|---|
//! | `mod` | one run, with every name resolved against the model description, so that the worker needs none |
//! | `bind` | the columns of an input file and the variables that they drive |
//! | `range` | where an input or a parameter may be, from what the description tells of it |
//! | `signal` | steps, sweeps and pseudo-random sequences over such ranges, as tables in memory |
//! | `explore` | the scenarios that the builder invents besides the runs that it was given |

mod bind;
mod explore;
mod range;
mod signal;

use crate::inputs::InputTable;
use serde::{Deserialize, Serialize};

pub use bind::{Bound, bind};
pub use explore::{Exploration, Extent, Scenario, explore, scouts};
pub use fmu_runtime::value::Value;
pub use range::{Range, Ranges};

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    pub start: f64,
    pub stop: f64,
    pub settings: Vec<Setting>,
    /// Input signals, and which variable each of their columns drives.
    pub inputs: Option<InputTable>,
    pub columns: Vec<Column>,
    /// Columns of the input file that fit no variable.
    pub ignored: Vec<String>,
}

/// A start value.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Setting {
    pub name: String,
    pub reference: u32,
    pub value: Value,
}

/// A column of the inputs and the variable that it drives.
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
