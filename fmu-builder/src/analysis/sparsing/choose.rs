//! Algorithm 5.3: the smallest accepted structure at one sample.
//!
//! Three stages, each of which starts from what the one before found: one factor for all weights, each
//! cluster's own weight, then single rows and entries tried away.

use super::{Search, Structure, judge, passes};
use crate::analysis::Result;
use crate::analysis::acceptance::{Acceptance, pairing};
use crate::analysis::criterion::{Criterion, criterion};
use crate::analysis::drift::Drift;
use crate::method::Step;
use faer::Mat;
use faer::prelude::c64;

/// A sample Jacobian with the structure that must be kept, and what its entries do to its clusters.
pub(super) struct Sampled<'a> {
    j: &'a Mat<f64>,
    old: &'a Structure,
    step: &'a Step,
    /// Eigenvalues of the unmasked step.
    exact: &'a [c64],
    drift: &'a Drift,
    search: Search,
    criterion: Criterion,
    /// Entries of the criterion that are not in `old`.
    candidates: Vec<usize>,
}

/// The smallest accepted structure so far, and the clusters' weights that led to it.
struct Best {
    structure: Structure,
    weights: Vec<f64>,
}

impl<'a> Sampled<'a> {
    pub fn new(
        j: &'a Mat<f64>,
        old: &'a Structure,
        step: &'a Step,
        exact: &'a [c64],
        drift: &'a Drift,
        search: Search,
    ) -> Result<Sampled<'a>> {
        let criterion = criterion(j.as_ref(), step, search.clustering)?;
        let entries = &criterion.entries;
        let candidates = (0..entries.len()).filter(|&e| !old.contains(entries[e])).collect();
        Ok(Sampled { j, old, step, exact, drift, search, criterion, candidates })
    }

    /// The smallest accepted structure that contains `old`.
    pub fn choose(&self) -> Result<Structure> {
        let mut everything = self.old.clone();
        self.candidates.iter().for_each(|&e| everything.insert(self.criterion.entries[e]));
        let best = self.scale(everything)?;
        let best = self.weigh(best)?;
        self.trim(best)
    }

    /// All weights by one factor: a bracket in powers of two, then bisection.
    fn scale(&self, everything: Structure) -> Result<Best> {
        let radius = |z: c64| self.search.tolerance.radius(z);
        let least = |discrete: &[c64]| discrete.iter().map(|&z| radius(z)).fold(f64::INFINITY, f64::min);
        let initial: Vec<f64> = self.criterion.clusters.iter().map(|k| 1.0 / least(&k.discrete)).collect();
        let scaled = |s: f64| initial.iter().map(|w| w * s).collect::<Vec<f64>>();
        let mut best = everything;
        let mut scale = Weight::new(1.0);
        for _ in 0..self.search.max_trials {
            let trial = self.structure(&scaled(scale.now));
            let fits = self.accepted(&trial)?;
            let settled = scale.fits.zip(scale.violates).is_some_and(|(f, v)| f < 1.05 * v);
            let least = fits && trial.count == self.old.count;
            if fits && trial.count < best.count {
                best = trial;
            } else if settled || least || scale.now > 1e12 || scale.now < 1e-12 {
                break;
            }
            scale.update(fits);
        }
        Ok(Best { structure: best, weights: scaled(scale.fits.unwrap_or(1.0)) })
    }

    /// Each cluster's own weight: larger where an eigenvalue of it moves too far, smaller where none does.
    fn weigh(&self, mut best: Best) -> Result<Best> {
        // Which cluster an exact eigenvalue belongs to: the nearest, each place once.
        let clusters = self.criterion.clusters.iter().enumerate();
        let place: Vec<(usize, c64)> =
            clusters.flat_map(|(k, m)| m.discrete.iter().map(move |&z| (k, z))).collect();
        let n = self.exact.len();
        let pair = pairing(&Mat::from_fn(n, n, |i, p| (self.exact[i] - place[p].1).norm()));
        let mut weights: Vec<Weight> = best.weights.iter().map(|&weight| Weight::new(weight)).collect();
        let mut idle = 0;
        for _ in 0..self.search.max_trials {
            let now: Vec<f64> = weights.iter().map(|w| w.now).collect();
            let trial = self.structure(&now);
            let verdict = self.judge(&trial)?;
            let mut fits = vec![verdict.is_some(); weights.len()];
            idle += 1;
            if let Some(v) = verdict {
                if v.accepted && trial.count < best.structure.count {
                    (best, idle) = (Best { structure: trial, weights: now }, 0);
                }
                (0..n).for_each(|i| fits[place[pair[i]].0] &= v.error[i] <= v.radius[i]);
            }
            if idle >= self.search.patience {
                break;
            }
            weights.iter_mut().zip(fits).for_each(|(w, f)| w.update(f));
        }
        Ok(best)
    }

    /// Drop what the estimate kept for nothing: rows that can be explicit, the least important first; then
    /// single entries, in halves, then quarters, down to one.
    fn trim(&self, best: Best) -> Result<Structure> {
        let Best { structure: mut best, weights } = best;
        let entries = &self.criterion.entries;
        let weight = |e: usize| self.importance(e, &weights);
        let mut trials = 0;
        let mut without = |best: &mut Structure, go: &[usize]| -> Result<bool> {
            let mut trial = best.clone();
            go.iter().for_each(|&e| trial.remove(entries[e]));
            trial.repair(self.drift);
            if trial.count >= best.count {
                return Ok(false);
            }
            trials += 1;
            let fits = trials <= self.search.max_trims && self.accepted(&trial)?;
            if fits {
                *best = trial;
            }
            Ok(fits)
        };
        let mut rows: Vec<(f64, Vec<usize>)> = vec![(0.0, Vec::new()); self.exact.len()];
        for &e in self.candidates.iter().filter(|&&e| best.contains(entries[e])) {
            let row = &mut rows[entries[e].0];
            row.0 = row.0.max(weight(e));
            row.1.push(e);
        }
        rows.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for (_, row) in &rows {
            without(&mut best, row)?;
        }
        let mut rest: Vec<usize> = self.candidates.clone();
        rest.retain(|&e| best.contains(entries[e]));
        rest.sort_by(|&a, &b| weight(a).total_cmp(&weight(b)).then(a.cmp(&b)));
        let mut chunk = rest.len().div_ceil(2);
        while chunk > 0 {
            let mut at = 0;
            while at < rest.len() {
                let end = (at + chunk).min(rest.len());
                if without(&mut best, &rest[at..end])? {
                    rest.retain(|&e| best.contains(entries[e]));
                } else {
                    at = end;
                }
            }
            chunk /= 2;
        }
        Ok(best)
    }

    /// What dropping an entry does to all clusters, each by its weight: at least 1 keeps it.
    fn importance(&self, e: usize, weights: &[f64]) -> f64 {
        self.criterion.clusters.iter().zip(weights).map(|(k, w)| w * k.change[e].norm()).sum()
    }

    /// What these weights keep.
    fn structure(&self, weights: &[f64]) -> Structure {
        let mut trial = self.old.clone();
        let kept = self.candidates.iter().filter(|&&e| self.importance(e, weights) >= 1.0);
        kept.for_each(|&e| trial.insert(self.criterion.entries[e]));
        trial.repair(self.drift);
        trial
    }

    fn judge(&self, trial: &Structure) -> Result<Option<Acceptance>> {
        judge(self.j, trial, self.step, self.exact, self.search.tolerance)
    }

    fn accepted(&self, trial: &Structure) -> Result<bool> {
        passes(self.j, trial, self.step, self.exact, self.search.tolerance)
    }
}

/// One cluster's weight and its bracket: the least that fits, the largest that does not.
struct Weight {
    now: f64,
    fits: Option<f64>,
    violates: Option<f64>,
}

impl Weight {
    fn new(now: f64) -> Weight {
        Weight { now, fits: None, violates: None }
    }

    /// Other weights move too, so that a bracket can turn out wrong; its far end is then forgotten.
    fn update(&mut self, fits: bool) {
        if fits {
            self.fits = Some(self.fits.map_or(self.now, |w| w.min(self.now)));
            self.violates = self.violates.filter(|&w| w < self.now * 0.999);
        } else {
            self.violates = Some(self.violates.map_or(self.now, |w| w.max(self.now)));
            self.fits = self.fits.filter(|&w| w > self.now * 1.001);
        }
        self.now = match (self.fits, self.violates) {
            (Some(f), Some(v)) => 0.5 * (f + v),
            (Some(f), None) => 0.5 * f,
            (None, Some(v)) => 2.0 * v,
            (None, None) => self.now,
        };
    }
}
