//! What the model's calls cost at several places of its runs.

use serde::{Deserialize, Serialize};

/// Directional derivatives are used where one takes less than this many evaluations. It lies in a gap: what solves one linear equation for a
/// column takes half of an evaluation or less, what evaluates with dual numbers takes one to two, what differences inside two to three.
/// The measured ratio repeats itself to within a few per cent on a busy machine, so that its moods decide nothing.
pub const CLEARLY_CHEAPER: f64 = 0.7;
/// An evaluation that takes this many times longer at one place than at another is told: the model iterates inside. Less may be the machine.
pub const VARIES: f64 = 2.0;

/// Seconds of the model's calls at one place of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Price {
    /// An evaluation: time, inputs and states set, derivatives read. On average over the ring, and the dearest.
    pub evaluation: f64,
    pub dearest: f64,
    /// The event indicators, read where the derivatives are known already.
    pub indicators: f64,
    /// The same where nothing is known.
    pub indicators_alone: f64,
    /// A directional derivative, over an evaluation for which only the states moved.
    pub directional: Option<f64>,
}

/// Prices along the runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prices(pub Vec<Price>);

impl Prices {
    /// Of an evaluation: the median over the places.
    pub fn evaluation(&self) -> f64 {
        self.median(|price| price.evaluation)
    }

    /// Of the dearest evaluation anywhere.
    pub fn worst_evaluation(&self) -> f64 {
        self.most(|price| price.dearest)
    }

    /// Of reading the event indicators: `known`, where the derivatives are.
    pub fn indicators(&self, known: bool) -> f64 {
        self.median(|price| if known { price.indicators } else { price.indicators_alone })
    }

    pub fn worst_indicators(&self, known: bool) -> f64 {
        self.most(|price| if known { price.indicators } else { price.indicators_alone })
    }

    /// A directional derivative takes clearly less than an evaluation.
    pub fn directional_is_cheaper(&self) -> bool {
        let measured = self.0.iter().any(|price| price.directional.is_some());
        measured && self.median(|price| price.directional.unwrap_or(f64::INFINITY)) < CLEARLY_CHEAPER
    }

    /// Of the cheapest place.
    pub fn least_evaluation(&self) -> f64 {
        self.0.iter().map(|price| price.evaluation).reduce(f64::min).unwrap_or(0.0)
    }

    /// The evaluation's time depends on where the model is.
    pub fn vary(&self) -> bool {
        self.worst_evaluation() > VARIES * self.least_evaluation()
    }

    fn median(&self, of: impl Fn(&Price) -> f64) -> f64 {
        let mut values: Vec<f64> = self.0.iter().map(of).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied().unwrap_or(0.0)
    }

    fn most(&self, of: impl Fn(&Price) -> f64) -> f64 {
        self.0.iter().map(of).fold(0.0, f64::max)
    }
}
