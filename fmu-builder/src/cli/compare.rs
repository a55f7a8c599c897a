//! The words of `fmu-build compare`.

use super::args::{LimitArgs, value};
use crate::error::Error;
use crate::options::{CompareOptions, NamedBound, Run};
use crate::quantity;
use clap::Args;
use std::path::PathBuf;

/// Drive original and real-time FMU by your own signals: how far apart are they? One FMU alone is simulated.
#[derive(Debug, Clone, Args)]
pub struct CompareArgs {
    /// The Model-Exchange FMU; it is integrated accurately
    #[arg(value_name = "ORIGINAL.fmu")]
    pub original: PathBuf,
    /// The FMU that was built from it; it is stepped through its C functions
    #[arg(value_name = "RT.fmu")]
    pub built: Option<PathBuf>,
    /// Input signals: a header `time,u1,u2`, then rows; may be repeated, a run for each file
    #[arg(long, value_name = "FILE.csv")]
    pub inputs: Vec<PathBuf>,
    /// Start value of a parameter, input or state; may be repeated
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    pub set: Vec<String>,
    /// Time to start at [default: the FMU's own]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub start: Option<String>,
    /// Time to stop at [default: where the input file ends, or the FMU's own]
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true)]
    pub stop: Option<String>,
    /// Fail beyond this error, root mean square: 1%, y=1%, y=0.2degC; may be repeated
    #[arg(long, value_name = "[NAME=]ERROR", allow_hyphen_values = true)]
    pub max_error: Vec<String>,
    /// Fail beyond this deviation at a single point, likewise
    #[arg(long, value_name = "[NAME=]ERROR", allow_hyphen_values = true)]
    pub max_peak: Vec<String>,
    /// Write the trajectories as a table; with one FMU they are printed without it
    #[arg(long, value_name = "FILE.csv")]
    pub csv: Option<PathBuf>,
    /// Write a page with plots
    #[arg(long, value_name = "FILE.html")]
    pub report: Option<PathBuf>,
    /// Write the results as JUnit's XML: a suite for each run, a case for each output
    #[arg(long, value_name = "FILE.xml")]
    pub junit: Option<PathBuf>,
    /// Print as JSON
    #[arg(long)]
    pub json: bool,
    /// Print nothing but the answer and errors
    #[arg(long, short)]
    pub quiet: bool,
    #[command(flatten)]
    pub limits: LimitArgs,
}

impl CompareArgs {
    pub fn options(&self) -> Result<CompareOptions, Error> {
        let set: Result<Vec<_>, String> = self.set.iter().map(|text| quantity::parse_set(text)).collect();
        Ok(CompareOptions {
            original: self.original.clone(),
            built: self.built.clone(),
            run: Run {
                start: value(&self.start, |text| quantity::parse_time(text, "a start time"))?,
                stop: value(&self.stop, |text| quantity::parse_time(text, "a stop time"))?,
                inputs: self.inputs.clone(),
                set: set.map_err(Error::Usage)?,
                ..Run::default()
            },
            limits: self.limits.limits()?,
            max_error: bounds(&self.max_error, "an error")?,
            max_peak: bounds(&self.max_peak, "a deviation")?,
            csv: self.csv.clone(),
            report: self.report.clone(),
            junit: self.junit.clone(),
            progress: !self.quiet && !self.json,
        })
    }
}

fn bounds(texts: &[String], what: &str) -> Result<Vec<NamedBound>, Error> {
    let bounds: Result<_, String> = texts.iter().map(|text| quantity::parse_bound(text, what)).collect();
    bounds.map_err(Error::Usage)
}
