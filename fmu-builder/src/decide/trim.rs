//! Less of what is already good: entries are dropped from a stable mask as long as it stays stable.
//!
//! Rows first, those with the least in them: an explicit row costs nothing. Then single entries, the least first, in
//! halves, then quarters, down to one. What would leave a row worse than explicit is put back ([`Drift`]). Whether
//! the result is accurate enough is for the trial run to say.

use super::problem::Problem;
use crate::analysis::Mask;
use crate::analysis::drift::Drift;
use crate::analysis::verdict::{Age, Samples, verdict};
use crate::method::Step;

/// Masks tried for rows, and again for entries; each costs eigenvalues at a few samples.
const TRIALS: usize = 120;
/// What is left must be stable, at the samples tried, with a step this much longer: other parameters and inputs than those of the studied run can make the
/// model faster, and a mask that just suffices would be the first to notice.
const LONGER: f64 = 2.0;
/// Samples by which a mask is tried. What is found is judged by all.
const SAMPLES: usize = 2;

/// A smaller mask, if there is one.
pub fn trimmed(problem: &Problem, step: &Step, drift: Drift, mask: &Mask) -> Option<Mask> {
    let sizes = sizes(problem);
    let kept = mask.kept(&problem.pattern);
    let samples = problem.samples.spread(SAMPLES);
    let mut trim = Trim { problem, step, samples, drift, kept: kept.clone(), trials: 0 };
    if trim.samples.jacobians.is_empty() || !trim.is_stable(&kept) {
        return None;
    }
    trim.drop_rows(&sizes);
    trim.drop_entries(&sizes);
    (count(&trim.kept) < count(&kept)).then(|| Mask::of(&problem.pattern, &trim.kept))
}

fn count(kept: &[bool]) -> usize {
    kept.iter().filter(|&&kept| kept).count()
}

/// h |J_ik| s_k / s_i, the largest over the samples.
fn sizes(problem: &Problem) -> Vec<f64> {
    let places: Vec<(usize, usize)> = problem.pattern.places().collect();
    let size = |entry: usize| {
        let (row, col) = places[entry];
        let values = problem.studied.samples.iter().map(|sample| sample.jacobian[entry].abs());
        problem.h * values.fold(0.0, f64::max) * problem.nominals[col] / problem.nominals[row]
    };
    (0..places.len()).map(size).collect()
}

struct Trim<'a> {
    problem: &'a Problem<'a>,
    step: &'a Step,
    samples: Samples,
    drift: Drift,
    kept: Vec<bool>,
    trials: usize,
}

impl Trim<'_> {
    fn drop_rows(&mut self, sizes: &[f64]) {
        let mut rows: Vec<(f64, Vec<usize>)> = (0..self.problem.n)
            .map(|row| self.problem.pattern.range(row).filter(|&e| self.kept[e]).collect::<Vec<usize>>())
            .map(|row| (row.iter().map(|&e| sizes[e]).sum(), row))
            .filter(|(_, row)| !row.is_empty())
            .collect();
        rows.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.drop(&rows.into_iter().map(|(_, row)| row).collect::<Vec<_>>());
    }

    fn drop_entries(&mut self, sizes: &[f64]) {
        let mut entries: Vec<usize> = (0..self.kept.len()).filter(|&e| self.kept[e]).collect();
        entries.sort_by(|&a, &b| sizes[a].total_cmp(&sizes[b]));
        self.drop(&entries.into_iter().map(|entry| vec![entry]).collect::<Vec<_>>());
    }

    /// Drop as many of these groups as possible, trying many at once and then fewer.
    fn drop(&mut self, groups: &[Vec<usize>]) {
        let mut groups: Vec<&Vec<usize>> = groups.iter().collect();
        self.trials = 0;
        let mut chunk = groups.len().div_ceil(2);
        while chunk > 0 {
            let mut at = 0;
            while at < groups.len() && self.trials < TRIALS {
                let end = (at + chunk).min(groups.len());
                if self.try_without(&groups[at..end]) {
                    groups.drain(at..end);
                } else {
                    at = end;
                }
            }
            chunk /= 2;
        }
    }

    fn try_without(&mut self, groups: &[&Vec<usize>]) -> bool {
        let mut trial = self.kept.clone();
        groups.iter().flat_map(|group| group.iter()).for_each(|&entry| trial[entry] = false);
        let trial = self.repaired(trial);
        if count(&trial) >= count(&self.kept) {
            return false;
        }
        self.trials += 1;
        let is_stable = self.is_stable(&trial);
        if is_stable {
            self.kept = trial;
        }
        is_stable
    }

    fn repaired(&self, kept: Vec<bool>) -> Vec<bool> {
        let pattern = &self.problem.pattern;
        let mut missing = Vec::new();
        let keeps = |(row, col)| pattern.find(row, col).is_some_and(|entry| kept[entry]);
        self.drift.repair(keeps, |(row, col)| missing.extend(pattern.find(row, col)));
        let mut repaired = kept;
        missing.into_iter().for_each(|entry| repaired[entry] = true);
        repaired
    }

    fn is_stable(&self, kept: &[bool]) -> bool {
        let mask = Mask::of(&self.problem.pattern, kept);
        // The longer step is the harder test, mostly: it goes first.
        verdict(self.step, &mask, &Age::Fresh, &[LONGER, 1.0, 0.5], &self.samples).is_stable()
    }
}
