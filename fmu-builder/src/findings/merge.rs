//! Studies of several runs of one model, put together.

use super::{Declared, Sample, Studied};
use std::collections::BTreeMap;

impl Studied {
    /// Add what another run of the same model showed. Trajectory and start values stay those of this run.
    ///
    /// An entry is constant only if both runs have it and find it constant, with the same value: parameters may differ
    /// between runs, and in the exported FMU they may change too. Where the FMU declares it constant the values may differ: it
    /// is constant between parameter changes, and a changed parameter has the whole Jacobian read again.
    pub fn absorb(&mut self, other: Studied, declared: &[Declared]) {
        let declared = |row: u32, col: u32| {
            let listed = declared.get(row as usize).and_then(Option::as_ref);
            listed.is_some_and(|listed| listed.contains(&(col, true)))
        };
        let mut entries: BTreeMap<(u32, u32), bool> = BTreeMap::new();
        let (mine, theirs) = (self.places(), other.places());
        for (studied, others, other) in [(&*self, &theirs, &other), (&other, &mine, &*self)] {
            let first =
                |studied: &Studied, at: usize| studied.samples.first().map(|sample| sample.jacobian[at]);
            for (at, &(row, col, constant)) in studied.entries.iter().enumerate() {
                let agrees = others.get(&(row, col)).is_some_and(|&there| {
                    let same = same(first(studied, at), first(other, there));
                    other.entries[there].2 && (same || declared(row, col))
                });
                *entries.entry((row, col)).or_insert(true) &= constant && agrees;
            }
        }
        let entries: Vec<(u32, u32, bool)> =
            entries.into_iter().map(|((row, col), constant)| (row, col, constant)).collect();
        let regimes =
            1 + self.samples.iter().chain(&self.beside).map(|sample| sample.regime).max().unwrap_or(0);
        let align = |samples: Vec<Sample>, places: &BTreeMap<(u32, u32), usize>, first: u64| {
            let aligned = samples.into_iter().map(|sample| Sample {
                jacobian: entries
                    .iter()
                    .map(|&(row, col, _)| places.get(&(row, col)).map_or(0.0, |&at| sample.jacobian[at]))
                    .collect(),
                regime: sample.regime + first,
                ..sample
            });
            aligned.collect::<Vec<_>>()
        };
        let (samples, beside) = (std::mem::take(&mut self.samples), std::mem::take(&mut self.beside));
        self.samples = align(samples, &mine, 0);
        self.beside = align(beside, &mine, 0);
        self.samples.extend(align(other.samples, &theirs, regimes));
        self.beside.extend(align(other.beside, &theirs, regimes));
        self.entries = entries;
        self.structure.undeclared_entries.extend(other.structure.undeclared_entries);
        self.structure.not_constant.extend(other.structure.not_constant);
        for list in [&mut self.structure.undeclared_entries, &mut self.structure.not_constant] {
            list.sort_unstable();
            list.dedup();
        }
        for (magnitude, other) in self.magnitudes.iter_mut().zip(&other.magnitudes) {
            *magnitude = magnitude.max(*other);
        }
        self.prices.0.extend(other.prices.0);
        self.time_invariant &= other.time_invariant;
        self.outputs_need_evaluation |= other.outputs_need_evaluation;
    }

    fn places(&self) -> BTreeMap<(u32, u32), usize> {
        self.entries.iter().enumerate().map(|(at, &(row, col, _))| ((row, col), at)).collect()
    }
}

fn same(a: Option<f64>, b: Option<f64>) -> bool {
    match (a, b) {
        // Differences have this many digits.
        (Some(a), Some(b)) => (a - b).abs() <= 1e-6 * a.abs().max(b.abs()),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn studied(entries: &[(u32, u32, bool)], values: &[f64]) -> Studied {
        let sample = |regime| Sample {
            time: 0.0,
            x: vec![1.0, 2.0],
            derivatives: vec![0.0, 0.0],
            jacobian: values.to_vec(),
            regime,
        };
        Studied {
            entries: entries.to_vec(),
            samples: vec![sample(0), sample(2)],
            magnitudes: vec![1.0, 2.0],
            time_invariant: true,
            ..Studied::default()
        }
    }

    /// Entries that only one run has vary; so do those whose constant values differ. Samples keep their values in their new
    /// places, and those of different runs are of different regimes.
    #[test]
    fn runs_agree_on_what_is_constant() {
        let mut one = studied(&[(0, 0, true), (0, 1, true), (1, 1, true)], &[-1.0, 3.0, -5.0]);
        let mut two = studied(&[(0, 0, true), (1, 0, true), (1, 1, true)], &[-1.0, 7.0, -10.0]);
        two.magnitudes = vec![4.0, 1.0];
        two.time_invariant = false;
        one.absorb(two, &[]);
        assert_eq!(one.entries, [(0, 0, true), (0, 1, false), (1, 0, false), (1, 1, false)]);
        assert_eq!(one.samples[0].jacobian, [-1.0, 3.0, 0.0, -5.0]);
        assert_eq!(one.samples[2].jacobian, [-1.0, 0.0, 7.0, -10.0]);
        assert_eq!(one.samples.iter().map(|it| it.regime).collect::<Vec<_>>(), [0, 2, 3, 5]);
        assert_eq!(one.magnitudes, [4.0, 2.0]);
        assert!(!one.time_invariant);
    }

    /// (0, 0) and (1, 1) are declared constant and differ between runs, (0, 1) is declared and found varying by one run,
    /// (1, 0) is constant in one run and missing in the other: the first two stay constant.
    #[test]
    fn a_declared_constant_may_differ_between_runs() {
        let mut one =
            studied(&[(0, 0, true), (0, 1, true), (1, 0, true), (1, 1, true)], &[-1.0, 3.0, 2.0, -5.0]);
        let two = studied(&[(0, 0, true), (0, 1, false), (1, 1, true)], &[-2.0, 3.0, -10.0]);
        let declared = [Some(vec![(0, true), (1, true)]), Some(vec![(0, true), (1, true)])];
        one.absorb(two, &declared);
        assert_eq!(one.entries, [(0, 0, true), (0, 1, false), (1, 0, false), (1, 1, true)]);
    }
}
