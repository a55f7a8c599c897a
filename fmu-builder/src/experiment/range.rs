//! Where an input or a parameter may be.
//!
//! In order of trust: what the user says (`--range`), min and max of the description, then what start value,
//! nominal value and unit allow. The last is a guess; each range comes with the words that say what was
//! taken.

use crate::interface::believable;
use model_description::{Kind, ScalarVariable};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What is known of ranges beside the description.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Ranges {
    /// Given by the user: name, low, high.
    pub given: Vec<(String, f64, f64)>,
    /// Guesses that the model itself showed to be too wide, by name: they are divided by this power of ten.
    pub narrowed: BTreeMap<String, i32>,
}

/// A range, and where it comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Range {
    pub low: f64,
    pub high: f64,
    pub from: String,
    /// Nobody declared it.
    pub is_guess: bool,
}

/// Share by which absolute quantities, whose zero is far away, may leave their start value.
const ABSOLUTE: f64 = 0.2;
const RELATIVE: f64 = 0.5;

impl Ranges {
    /// The range of a Real input.
    pub fn of_input(&self, variable: &ScalarVariable) -> Range {
        let start = variable.start_real().filter(|start| start.is_finite()).unwrap_or(0.0);
        self.given(variable).or_else(|| declared(variable)).unwrap_or_else(|| {
            let (reach, from) = match (usable_nominal(variable), start) {
                (_, start) if start != 0.0 && is_absolute(variable) => {
                    (ABSOLUTE * start.abs(), "start ± 20 %")
                }
                (Some(nominal), _) => (nominal, "start ± nominal"),
                (None, 0.0) => (1.0, "a guess: nothing is declared; --range says better"),
                (None, _) => (RELATIVE * start.abs(), "start ± 50 %"),
            };
            let narrowed = self.narrowed.get(&variable.name);
            let reach = reach / narrowed.map_or(1.0, |tens| 10f64.powi(*tens));
            // One bound alone still counts.
            let low = variable
                .min
                .filter(|min| min.is_finite())
                .map_or(start - reach, |min| min.max(start - reach));
            let high = variable
                .max
                .filter(|max| max.is_finite())
                .map_or(start + reach, |max| max.min(start + reach));
            let from = match narrowed {
                Some(tens) => format!(
                    "{from}, narrowed to 1e-{tens} of that: beyond, states or outputs leave their sizes"
                ),
                None => from.into(),
            };
            Range { low: low.min(start), high: high.max(start), from, is_guess: true }
        })
    }

    /// The values of an Integer, Enumeration or Boolean input, ascending; one alone if nothing is known.
    pub fn values(&self, variable: &ScalarVariable) -> Vec<f64> {
        /// Values of an Integer that are tried one by one.
        const MOST: f64 = 12.0;
        let start = match variable.kind {
            Kind::Boolean => return vec![0.0, 1.0],
            _ => f64::from(variable.start_integer().unwrap_or(0)),
        };
        let Some(Range { low, high, .. }) = self.given(variable).or_else(|| declared(variable)) else {
            return vec![start];
        };
        let (low, high) = (low.ceil(), high.floor());
        let stride = ((high - low) / (MOST - 1.0)).ceil().max(1.0);
        let count = ((high - low) / stride).floor().max(0.0) as usize;
        (0..=count).map(|k| low + k as f64 * stride).collect()
    }

    /// A Real parameter `factor` times its start value, kept in its bounds; `None` if that is where it was.
    pub fn scaled(&self, variable: &ScalarVariable, factor: f64) -> Option<f64> {
        let start = variable.start_real().filter(|start| start.is_finite() && *start != 0.0)?;
        let bounds = self.given(variable).unwrap_or(Range {
            low: variable.min.unwrap_or(f64::NEG_INFINITY),
            high: variable.max.unwrap_or(f64::INFINITY),
            from: String::new(),
            is_guess: false,
        });
        let value = (start * factor).max(bounds.low).min(bounds.high);
        (value.is_finite() && value != start).then_some(value)
    }

    fn given(&self, variable: &ScalarVariable) -> Option<Range> {
        let (_, low, high) = self.given.iter().find(|(name, ..)| *name == variable.name)?;
        Some(Range { low: low.min(*high), high: high.max(*low), from: "--range".into(), is_guess: false })
    }
}

impl Range {
    /// At a share of the way from low to high.
    pub fn at(&self, share: f64) -> f64 {
        self.low + share * (self.high - self.low)
    }

    /// "u = -1 … 1 V (min, max)"
    pub fn describe(&self, variable: &ScalarVariable) -> String {
        let mut text = format!("{} = {} … {}", variable.name, self.low, self.high);
        if let Some(unit) = variable.unit.as_deref().filter(|unit| *unit != "1") {
            let _ = write!(text, " {unit}");
        }
        let _ = write!(text, " ({})", self.from);
        text
    }
}

/// Min and max, if both are given and sensible: tools write the largest number where nothing is known.
fn declared(variable: &ScalarVariable) -> Option<Range> {
    const NO_LIMIT: f64 = 1e30;
    let sensible = |bound: &f64| bound.is_finite() && bound.abs() < NO_LIMIT;
    let (low, high) = (variable.min.filter(sensible)?, variable.max.filter(sensible)?);
    (low < high).then_some(Range { low, high, from: "min, max".into(), is_guess: false })
}

fn usable_nominal(variable: &ScalarVariable) -> Option<f64> {
    let start = variable.start_real().map_or(0.0, f64::abs);
    let sound = |nominal: &f64| *nominal > 0.0 && nominal.is_finite() && believable(*nominal, start);
    variable.nominal.map(f64::abs).filter(sound)
}

/// Temperatures and pressures are measured from a zero that no machine reaches.
fn is_absolute(variable: &ScalarVariable) -> bool {
    matches!(variable.unit.as_deref(), Some("K" | "Pa" | "bar" | "kPa" | "MPa" | "hPa"))
}
