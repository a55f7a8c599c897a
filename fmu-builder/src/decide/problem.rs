//! What a decision is made of: the structure, the sampled Jacobians, what the model's calls cost.

use crate::analysis::dense::eigenvalues;
use crate::analysis::drift::Drift;
use crate::analysis::large::SparseJacobian;
use crate::analysis::verdict::Samples;
use crate::assemble::Discretisation;
use crate::findings::{Prices, Sample, Studied};
use crate::interface::{Interface, believable};
use crate::method::Step;
use crate::options::Options;
use crate::structure::{Pattern, Variation};
use faer::Mat;
use faer::prelude::c64;
use fmu_runtime::plan::Method;

/// Up to here the analysis is dense.
const DENSE: usize = 500;
/// Samples of a larger model.
const LARGE: usize = 3;
/// Dense samples are few enough that their eigenvalues take a second or so: n^3 each.
const DENSE_WORK: f64 = 5e7;

/// Seconds of an evaluation for each state and each entry of the Jacobian, as compiled models have them, roughly: 36 states and 300 entries
/// took Dymola's robot 3.4 µs.
const PRICE: f64 = 1e-8;

/// Seconds above which an evaluation is dear: trials take long, and what they take is what was measured, by its class.
const DEAR: f64 = 4e-6;

/// Share of the tolerance by which dropped entries may move a state: several rows add up in an output.
const GRANT: f64 = 0.25;

/// The model as it was studied, ready to be decided on.
pub struct Problem<'a> {
    pub interface: &'a Interface,
    pub discretisation: Discretisation,
    pub studied: &'a Studied,
    /// All entries, with what is known of their variation.
    pub pattern: Pattern,
    pub h: f64,
    pub n: usize,
    /// Jacobians at the samples, in the model's own units.
    pub samples: Samples,
    /// The states' derivatives at the same points.
    pub rates: Vec<Vec<f64>>,
    /// How far each state moves along the run.
    pub ranges: Vec<f64>,
    /// The states' nominal values: declared, or as large as they get.
    pub nominals: Vec<f64>,
    /// How large each state gets on the runs.
    pub sizes: Vec<f64>,
    /// What a budget in seconds is held against: the dearest calls that were measured, or the price that was asked for.
    pub worst_times: CallTimes,
    /// Jacobians come from the model's directional derivatives. Where the price of an evaluation is given, nothing is measured, and
    /// differences, which cost that price, are taken.
    pub directional: bool,
    /// What plans are compared by: an evaluation's price as asked for, or by the model's size. It is not measured, so that the same model is decided on the same way every time.
    pub price: CallTimes,
    /// The same by the model's size, whatever the target takes, or by the class of a dear evaluation: what trials take here.
    pub price_here: CallTimes,
}

/// Seconds of the model's calls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CallTimes {
    pub evaluation: f64,
    /// Of reading the event indicators where the derivatives are known, and where they are not.
    pub indicators: f64,
    pub indicators_alone: f64,
}

impl CallTimes {
    /// The dearest that were measured.
    fn worst(prices: &Prices) -> CallTimes {
        CallTimes {
            evaluation: prices.worst_evaluation(),
            indicators: prices.worst_indicators(true),
            indicators_alone: prices.worst_indicators(false),
        }
    }

    /// With this price of an evaluation. Indicators take 0, 1, 2, 4 … evaluations, whichever is nearest to what was measured: most models' take a small part of one, and a
    /// measured part would decide differently from day to day.
    fn coarse(evaluation: f64, prices: &Prices) -> CallTimes {
        let whole = |seconds: f64| {
            let ratio = seconds / prices.evaluation();
            if ratio >= 0.5f64.sqrt() && ratio.is_finite() { 2f64.powf(ratio.log2().round()) } else { 0.0 }
        };
        CallTimes {
            evaluation,
            indicators: evaluation * whole(prices.indicators(true)),
            indicators_alone: evaluation * whole(prices.indicators(false)),
        }
    }
}

impl<'a> Problem<'a> {
    pub fn new(
        interface: &'a Interface,
        discretisation: Discretisation,
        studied: &'a Studied,
        options: &Options,
    ) -> Problem<'a> {
        let n = interface.state_names.len();
        let entries = studied.entries.iter().map(|&(row, col, constant)| {
            let variation = if constant { Variation::Constant } else { Variation::Varying };
            (row as usize, col as usize, variation)
        });
        let pattern = Pattern::new(n, entries);
        let magnitude = |state: usize| studied.magnitudes.get(state).copied().filter(|&size| size > 0.0);
        let declared = |state: usize| {
            interface.nominals[state].filter(|&nominal| believable(nominal, magnitude(state).unwrap_or(0.0)))
        };
        // What differences are scaled by: wide enough to show through the model's noise.
        let widened = |state: usize, nominal: f64| match studied.wider.get(state) {
            Some(&wider) if wider > 1.0 => wider * nominal.max(magnitude(state).unwrap_or(0.0)),
            _ => nominal,
        };
        let nominals = (0..n)
            .map(|state| widened(state, declared(state).or(magnitude(state)).unwrap_or(1.0)))
            .collect::<Vec<f64>>();
        let sizes = (0..n).map(|state| magnitude(state).or(declared(state)).unwrap_or(1.0)).collect();
        let finite: Vec<&Sample> = studied
            .samples
            .iter()
            .filter(|sample| sample.jacobian.iter().all(|value| value.is_finite()))
            .collect();
        let chosen: Vec<&Sample> = if n == 0 || n > DENSE {
            Vec::new()
        } else {
            let affordable = (DENSE_WORK / (n * n * n) as f64 / 25.0).clamp(3.0, 40.0) as usize;
            finite.iter().step_by(finite.len().div_ceil(affordable).max(1)).copied().collect()
        };
        let range = |state: usize| {
            let values = studied.samples.iter().map(|sample| sample.x[state]);
            values.clone().fold(f64::NEG_INFINITY, f64::max) - values.fold(f64::INFINITY, f64::min)
        };
        let ranges = (0..n).map(|state| range(state).max(0.0)).collect();
        // Of a large model a few, the last one among them.
        let large: Vec<&Sample> = match n > DENSE {
            true => finite.iter().rev().step_by(finite.len().div_ceil(LARGE).max(1)).rev().copied().collect(),
            false => Vec::new(),
        };
        let samples = samples(studied, n, &chosen, &large);
        let rates =
            chosen.iter().take(samples.jacobians.len()).map(|sample| sample.derivatives.clone()).collect();
        let prices = &studied.prices;
        let by_size = PRICE * (n + pattern.len()) as f64;
        let price = CallTimes::coarse(options.evaluation_time.unwrap_or(by_size), prices);
        let price_here = CallTimes::coarse(by_size.max(class(prices.evaluation())), prices);
        let worst_times = options.evaluation_time.map_or_else(|| CallTimes::worst(prices), |_| price);
        let h = discretisation.h;
        Problem {
            interface,
            discretisation,
            studied,
            pattern,
            h,
            n,
            samples,
            rates,
            ranges,
            nominals,
            sizes,
            worst_times,
            directional: studied.directional_cheaper && options.evaluation_time.is_none(),
            price,
            price_here,
        }
    }

    pub fn step(&self, method: Method) -> Step {
        Step::new(method, self.h)
    }

    /// What dropping entries may do to accuracy, before it is tried.
    pub fn drift(&self, tolerance: f64) -> Drift {
        let grants: Vec<f64> = self.ranges.iter().map(|range| GRANT * tolerance * range).collect();
        Drift::new(&self.samples.jacobians, &self.rates, self.h, &grants)
    }

    pub fn names(&self) -> &[String] {
        &self.interface.state_names
    }
}

fn samples(studied: &Studied, n: usize, chosen: &[&Sample], large: &[&Sample]) -> Samples {
    let jacobian = |values: &[f64]| {
        let mut jacobian = Mat::zeros(n, n);
        for (&(row, col, _), &value) in studied.entries.iter().zip(values) {
            jacobian[(row as usize, col as usize)] = value;
        }
        jacobian
    };
    let mut jacobians: Vec<Mat<f64>> = chosen.iter().map(|sample| jacobian(&sample.jacobian)).collect();
    let spectra: Vec<Vec<c64>> =
        jacobians.iter().map_while(|jacobian| eigenvalues(jacobian.as_ref()).ok()).collect();
    // An eigenvalue problem without a solution has never been seen; what follows it is left out.
    jacobians.truncate(spectra.len());
    let sparse: Vec<(u64, SparseJacobian)> = large
        .iter()
        .filter_map(|sample| {
            let entries = studied.entries.iter().zip(&sample.jacobian);
            let entries = entries.map(|(&(row, col, _), &value)| (row as usize, col as usize, value));
            Some((sample.regime, SparseJacobian::new(n, entries.collect()).ok()?))
        })
        .collect();
    let regimes = chosen.iter().take(jacobians.len()).map(|sample| sample.regime);
    let regimes = regimes.chain(sparse.iter().map(|(regime, _)| *regime)).collect();
    Samples {
        times: chosen.iter().take(jacobians.len()).map(|sample| sample.time).collect(),
        regimes,
        jacobians,
        spectra,
        sparse: sparse.into_iter().map(|(_, jacobian)| jacobian).collect(),
    }
}

/// The nearest power of four, so that the machine's mood seldom decides; nothing for what is not dear.
fn class(evaluation: f64) -> f64 {
    if evaluation >= DEAR && evaluation.is_finite() { 4f64.powf(evaluation.log(4.0).round()) } else { 0.0 }
}
