//! What a decision is made of: the structure, the sampled Jacobians, what the model's calls cost.

use crate::analysis::Mask;
use crate::analysis::dense::eigenvalues;
use crate::analysis::drift::Drift;
use crate::analysis::large::SparseJacobian;
use crate::source::Source;
use crate::structure::{Pattern, Variation};
use crate::worker::{Studied, Subject};
use faer::Mat;
use faer::prelude::c64;

/// Up to here the analysis is dense.
const DENSE: usize = 500;
/// Dense samples are few enough that their eigenvalues take a second or so: n^3 each.
const DENSE_WORK: f64 = 5e7;

/// Share of the tolerance by which dropped entries may move a state: several rows add up in an output.
const GRANT: f64 = 0.25;

pub struct Material<'a> {
    pub subject: &'a Subject,
    pub studied: &'a Studied,
    /// All entries, with what is known of their variation.
    pub pattern: Pattern,
    pub h: f64,
    pub n: usize,
    /// Sampled Jacobians, scaled by nothing; empty for large models.
    pub dense: Vec<Mat<f64>>,
    /// When they were taken.
    pub times: Vec<f64>,
    /// The states' derivatives at the same points.
    pub rates: Vec<Vec<f64>>,
    /// How far each state moves along the run.
    pub ranges: Vec<f64>,
    /// The Jacobians' eigenvalues, one set for each.
    pub spectra: Vec<Vec<c64>>,
    /// One sample of a large model.
    pub sparse: Option<SparseJacobian>,
    /// The states' typical sizes.
    pub scales: Vec<f64>,
}

impl<'a> Material<'a> {
    pub fn new(source: &Source, subject: &'a Subject, studied: &'a Studied) -> Material<'a> {
        let n = subject.plan.states.names.len();
        let entries = studied.entries.iter().map(|&(row, col, constant)| {
            let variation = if constant { Variation::Constant } else { Variation::Varying };
            (row as usize, col as usize, variation)
        });
        let pattern = Pattern::new(n, entries);
        let scales = (0..n).map(|state| {
            let magnitude = studied.magnitudes.get(state).copied().unwrap_or(0.0);
            let declared = source.nominal(source.state_variable(state));
            declared.unwrap_or(if magnitude > 0.0 { magnitude } else { 1.0 })
        });
        let scales: Vec<f64> = scales.collect();
        let finite =
            studied.samples.iter().filter(|sample| sample.jacobian.iter().all(|value| value.is_finite()));
        let samples: Vec<_> = finite.collect();
        let chosen: Vec<_> = if n == 0 || n > DENSE {
            Vec::new()
        } else {
            let affordable = (DENSE_WORK / (n * n * n) as f64 / 25.0).clamp(3.0, 40.0) as usize;
            let stride = samples.len().div_ceil(affordable).max(1);
            samples.iter().step_by(stride).collect()
        };
        let rates = chosen.iter().map(|sample| sample.derivatives.clone()).collect();
        let range = |state: usize| {
            let values = studied.samples.iter().map(|sample| sample.x[state]);
            values.clone().fold(f64::NEG_INFINITY, f64::max) - values.fold(f64::INFINITY, f64::min)
        };
        let ranges = (0..n).map(|state| range(state).max(0.0)).collect();
        let jacobian = |values: &[f64]| {
            let mut jacobian = Mat::zeros(n, n);
            for (&(row, col, _), &value) in studied.entries.iter().zip(values) {
                jacobian[(row as usize, col as usize)] = value;
            }
            jacobian
        };
        let dense: Vec<Mat<f64>> = chosen.iter().map(|sample| jacobian(&sample.jacobian)).collect();
        let spectra: Vec<Vec<c64>> =
            dense.iter().map_while(|jacobian| eigenvalues(jacobian.as_ref()).ok()).collect();
        // An eigenvalue problem without a solution has never been seen; what follows it is left out.
        let dense: Vec<Mat<f64>> = dense.into_iter().take(spectra.len()).collect();
        let times = chosen.iter().take(dense.len()).map(|sample| sample.time).collect();
        let sparse = samples.last().filter(|_| n > DENSE).and_then(|sample| {
            let entries = studied.entries.iter().zip(&sample.jacobian);
            let entries = entries.map(|(&(row, col, _), &value)| (row as usize, col as usize, value));
            SparseJacobian::new(n, entries.collect()).ok()
        });
        let h = subject.plan.step.h;
        Material { subject, studied, pattern, h, n, dense, times, rates, ranges, spectra, sparse, scales }
    }

    /// The kept entries as a mask.
    pub fn mask(&self, kept: &[bool]) -> Mask {
        Mask::from_fn(self.n, |i, j| self.pattern.find(i, j).is_some_and(|entry| kept[entry]))
    }

    /// The Jacobian at a sample, each column as it was a time `age(column)` before, between it and the sample before.
    pub fn earlier(&self, sample: usize, age: impl Fn(usize) -> f64) -> Mat<f64> {
        let before = sample.saturating_sub(1);
        let passed = self.times[sample] - self.times[before];
        let (old, now) = (&self.dense[before], &self.dense[sample]);
        Mat::from_fn(self.n, self.n, |i, j| {
            let share = if passed > 0.0 { (age(j) / passed).min(1.0) } else { 0.0 };
            now[(i, j)] + share * (old[(i, j)] - now[(i, j)])
        })
    }

    /// Jacobians that stability is judged by.
    pub fn samples(&self) -> usize {
        self.dense.len().max(usize::from(self.sparse.is_some()))
    }

    /// What dropping entries may do to accuracy, before it is tried.
    pub fn drift(&self, tolerance: f64) -> Drift {
        let grants: Vec<f64> = self.ranges.iter().map(|range| GRANT * tolerance * range).collect();
        Drift::new(&self.dense, &self.rates, self.h, &grants)
    }

    pub fn names(&self) -> &[String] {
        &self.subject.plan.states.names
    }
}
