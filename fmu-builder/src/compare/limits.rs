//! The errors that are accepted: `--max-error` for the root mean square, `--max-peak` for the largest deviation, of all outputs or
//! of one by name, as a share of its range or in its unit.

use super::ComparedOutput;
use crate::error::Error;
use crate::options::{Bound, NamedBound};
use crate::quantity::percent;
use crate::source::Source;

/// The limits, with every name and unit resolved.
pub struct Limited {
    error: Vec<Limit>,
    peak: Vec<Limit>,
}

struct Limit {
    /// `None`: every output.
    name: Option<String>,
    most: Most,
    /// As it was asked for.
    text: String,
}

enum Most {
    Share(f64),
    /// In the output's unit.
    Absolute(f64),
}

impl Limited {
    pub fn new(source: &Source, error: &[NamedBound], peak: &[NamedBound]) -> Result<Limited, Error> {
        let all = |option: &str, bounds: &[NamedBound]| {
            bounds.iter().map(|bound| resolve(source, option, bound)).collect::<Result<Vec<_>, _>>()
        };
        Ok(Limited { error: all("--max-error", error)?, peak: all("--max-peak", peak)? })
    }

    /// What this output is beyond, in sentences. A limit with its name counts before one for all.
    pub fn beyond(&self, output: &ComparedOutput) -> Vec<String> {
        let unit = output.unit.as_deref().map_or(String::new(), |unit| format!(" {unit}"));
        let check = |what: &str, limits: &[Limit], share: f64, absolute: f64| {
            let named = limits.iter().find(|limit| limit.name.as_deref() == Some(&output.name));
            let limit = named.or_else(|| limits.iter().find(|limit| limit.name.is_none()))?;
            let (over, found) = match limit.most {
                Most::Share(most) => (is_over(share, most), percent(share)),
                Most::Absolute(most) => (is_over(absolute, most), format!("{absolute:.4e}{unit}")),
            };
            over.then(|| format!("{}: {what} {found}, more than {}", output.name, limit.text))
        };
        [
            check("error", &self.error, output.rms, output.rms_absolute),
            check("peak", &self.peak, output.peak, output.peak_absolute),
        ]
        .into_iter()
        .flatten()
        .collect()
    }
}

/// NaN is beyond every limit.
fn is_over(value: f64, most: f64) -> bool {
    value.is_nan() || value > most
}

fn resolve(source: &Source, option: &str, asked: &NamedBound) -> Result<Limit, Error> {
    if let Some(name) = &asked.name {
        source.output_named(option, name)?;
    }
    let (most, text) = match (&asked.bound, &asked.name) {
        (Bound::Share(share), _) => (Most::Share(*share), percent(*share)),
        (Bound::Absolute { value, unit }, Some(name)) => {
            let factor = source.factor(option, name, unit)?;
            (Most::Absolute(value * factor), format!("{value} {unit}"))
        }
        (Bound::Absolute { value, unit }, None) => {
            return Err(Error::Request(format!(
                "{option} {value}{unit}: a limit in a unit needs the output's name: {option} NAME={value}{unit}"
            )));
        }
    };
    Ok(Limit { name: asked.name.clone(), most, text })
}
