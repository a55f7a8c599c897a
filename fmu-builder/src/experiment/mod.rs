//! The runs that are studied: from when to when, with which start values and inputs.
//!
//! | file | idea |
//! |---|---|
//! | `mod` | one run, with every name resolved against the model description, so that the worker needs none |
//! | `bind` | the columns of an input file and the variables that they drive |
//! | `range` | where an input or a parameter may be, from what the description tells of it |
//! | `signal` | steps, sweeps and pseudo-random sequences over such ranges, as tables in memory |
//! | `explore` | the scenarios that the builder invents besides the runs that it was given |
//! | `scenarios` | these, run accurately side by side |
//! | `sense` | where an invented run leaves what the model is made for |
//! | `moved` | an invented run to be drawn where nothing moves in the given one |
//! | `inputs` | input signals from a CSV file |

mod bind;
mod explore;
pub mod inputs;
pub mod moved;
mod range;
pub mod scenarios;
pub mod sense;
mod signal;

use crate::inputs::InputTable;
use serde::{Deserialize, Serialize};

pub use bind::{Bound, bind};
pub use explore::{Exploration, Extent, Scenario, explore, scouts};
pub use fmu_runtime::value::Value;
pub use range::{Range, Ranges};

/// One run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Experiment {
    pub start: f64,
    pub stop: f64,
    pub settings: Vec<Setting>,
    /// Input signals, and which variable each of their columns drives.
    pub inputs: Option<InputTable>,
    pub columns: Vec<Column>,
    /// Columns of the input file that fit no variable.
    pub ignored: Vec<String>,
    /// What else there is to say of the input file.
    pub remarks: Vec<InputRemark>,
}

impl Experiment {
    /// Take the signals of an input file. The run ends where they end, unless its end was asked for; where the two differ, or the
    /// file begins later than the run, it is remarked: the nearest row counts there.
    pub fn take(&mut self, bound: Bound, end: End) {
        let Bound { table, columns, ignored, remarks } = bound;
        (self.columns, self.ignored) = (columns, ignored);
        self.remarks.extend(remarks);
        let times = table.times();
        let (first, last) = (times.first().copied().unwrap_or(0.0), times.last().copied().unwrap_or(0.0));
        // A little is rounding.
        let small = 1e-9 * (self.stop - self.start).abs().max(last.abs());
        if first > self.start + small {
            self.remarks.push(InputRemark::BeginsLate { file: first, run: self.start });
        }
        match end {
            End::Fmus | End::Nobodys if last > self.start + small => {
                if (last - self.stop).abs() > small && end == End::Fmus {
                    self.remarks.push(InputRemark::EndsTheRun { file: last, run: self.stop });
                }
                self.stop = last;
            }
            _ if last < self.stop - small => {
                self.remarks.push(InputRemark::EndsEarly { file: last, run: self.stop });
            }
            _ if last > self.stop + small => {
                self.remarks.push(InputRemark::GoesOn { file: last, run: self.stop });
            }
            _ => {}
        }
        self.inputs = Some(table);
    }
}

/// What there is to say of an input file besides columns that fit nothing. Times in seconds, of the file and of the run.
#[derive(Clone, Debug, PartialEq, PartialOrd, Serialize, Deserialize)]
pub enum InputRemark {
    /// Its first row is later than the start of the run.
    BeginsLate {
        file: f64,
        run: f64,
    },
    /// Its last row is before the end that was asked for.
    EndsEarly {
        file: f64,
        run: f64,
    },
    GoesOn {
        file: f64,
        run: f64,
    },
    /// The run ends with it, not where the FMU would end it.
    EndsTheRun {
        file: f64,
        run: f64,
    },
    /// A header has a unit, and the variable has none to compare with.
    UnknownUnit {
        name: String,
        unit: String,
    },
}

/// Whose the end of a run is, before its input file is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// It was asked for, and holds.
    Asked,
    /// The FMU's own default.
    Fmus,
    /// A number of steps that nobody named.
    Nobodys,
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
