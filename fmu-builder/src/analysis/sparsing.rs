//! Which entries of A can go: Schiela, Algorithms 5.1-5.3.
//!
//! The criterion c_e^(k) of `criterion` estimates what dropping entry e does to cluster k. Entry e is kept if
//!
//! ```text
//! Σ_k w_k c_e^(k) >= 1,      w_k = 1/r_k at first, r_k of (5.1)
//! ```
//!
//! and the weights are searched: first all by one factor, then each on its own; a cluster that violates (5.1)
//! gets a larger weight, one that does not a smaller, by bisection. (5.3 moves every weight on its own from
//! the start; halving all satisfied ones at once then loses the way, and with it any structure better than
//! the first.) Last, entries that were kept for nothing are tried away, the least important first. The
//! estimate only ranks; every structure is judged by the eigenvalues themselves (`acceptance`), and the one
//! with the fewest entries that was accepted wins.
//!
//! Samples (5.1): the structure only grows from sample to sample, and the pass is repeated until every
//! sample accepts it. Everything kept is always acceptable, so it ends.
//!
//! Against the print: Algorithm 5.3 has `S_test = spones(c<1)`, the entries to drop where those to keep are
//! meant; 5.2.3 stores the *maximal* weight that fulfils (5.1) and the *minimal* that violates it, while its
//! own rule (double the violating weight) needs the minimal fulfilling and the maximal violating one.
//!
//! Cost: one criterion and up to 2 `max_trials` + `max_trims` eigenvalue problems for each sample that asks
//! for more entries, one for each that does not.

mod choose;

use super::acceptance::{Acceptance, Tolerance, accept, accepts};
use super::amplification::amplification;
use super::drift::Drift;
use super::schur::Clustering;
use super::{Error, Mask, Result, check_step, dense};
use crate::method::Step;
use faer::Mat;
use faer::prelude::c64;

use choose::Sampled;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    pub tolerance: Tolerance,
    pub clustering: Clustering,
    /// Most samples that are worth searching by; what is found is judged by all.
    pub samples: usize,
    /// Structures tried for one sample.
    pub max_trials: usize,
    /// Stop after so many without a better one.
    pub patience: usize,
    /// Attempts to drop more from the structure found.
    pub max_trims: usize,
}

impl Search {
    pub fn new(rho: f64) -> Self {
        Search {
            tolerance: Tolerance::new(rho),
            clustering: Clustering::default(),
            samples: 5,
            max_trials: 40,
            patience: 8,
            max_trims: 120,
        }
    }
}

impl Search {
    /// A tenth of the eigenvalue problems, and some entries more.
    pub fn quick(rho: f64) -> Self {
        Search { samples: 1, max_trials: 8, patience: 2, max_trims: 8, ..Search::new(rho) }
    }
}

impl Default for Search {
    fn default() -> Self {
        Search::new(0.1)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Sparsing {
    /// Kept entries; never one that is zero at every sample.
    pub mask: Mask,
    pub kept: usize,
    /// Entries that are not zero at some sample.
    pub nonzeros: usize,
    /// (5.1) at each sample, for the final mask.
    pub acceptance: Vec<Acceptance>,
}

/// Choose the entries to keep. `at_least` are kept in any case (Smin of Algorithm 5.1), and so is what
/// `drift` asks for.
pub fn sparsing(
    samples: &[Mat<f64>],
    step: &Step,
    at_least: Option<&Mask>,
    drift: &Drift,
    search: Search,
) -> Result<Sparsing> {
    check_step(step.h)?;
    let n = samples.first().ok_or(Error::NoSamples)?.nrows();
    for s in samples {
        dense::check_square(s.as_ref())?;
        if s.nrows() != n {
            return Err(Error::Size { what: "a sample Jacobian", expected: n, found: s.nrows() });
        }
    }
    if let Some(m) = at_least.filter(|m| m.n() != n) {
        return Err(Error::Size { what: "the mask to keep", expected: n, found: m.n() });
    }
    let nonzero: Vec<(usize, usize)> = (0..n)
        .flat_map(|i| (0..n).map(move |k| (i, k)))
        .filter(|&e| samples.iter().any(|s| s[e] != 0.0))
        .collect();
    let exact = samples
        .iter()
        .map(|s| Ok(dense::eigenvalues(s.as_ref())?.iter().map(|&l| step.stability(l)).collect()))
        .collect::<Result<Vec<Vec<c64>>>>()?;
    let mut kept = Structure::empty(n);
    nonzero.iter().filter(|e| at_least.is_some_and(|m| m.keeps(e.0, e.1))).for_each(|&e| kept.insert(e));

    let mut acceptance: Vec<Option<Acceptance>> = vec![None; samples.len()];
    let mut agreed = 0; // samples in a row that accept `kept`
    let mut at = 0;
    while agreed < samples.len() {
        let (j, exact) = (&samples[at], &exact[at]);
        match judge(j, &kept, step, exact, search.tolerance)? {
            Some(verdict) if verdict.accepted => {
                acceptance[at] = Some(verdict);
                agreed += 1;
                at = (at + 1) % samples.len();
            }
            _ if kept.count == nonzero.len() => {
                // Everything is kept and R is exact: only rounding is left to disagree about.
                acceptance[at] = judge(j, &kept, step, exact, search.tolerance)?;
                agreed += 1;
                at = (at + 1) % samples.len();
            }
            _ => {
                kept = Sampled::new(j, &kept, step, exact, drift, search)?.choose()?;
                agreed = 0;
            }
        }
    }
    Ok(Sparsing {
        mask: kept.mask(),
        kept: kept.count,
        nonzeros: nonzero.len(),
        acceptance: acceptance.into_iter().flatten().collect(),
    })
}

/// (5.1) for one structure; `None` if I - hA is singular.
fn judge(
    j: &Mat<f64>,
    s: &Structure,
    step: &Step,
    exact: &[c64],
    tolerance: Tolerance,
) -> Result<Option<Acceptance>> {
    match amplification(j.as_ref(), &s.mask(), step) {
        Err(Error::Singular) => Ok(None),
        Err(e) => Err(e),
        Ok(r) => accept(exact, &dense::eigenvalues(r.as_ref())?, tolerance).map(Some),
    }
}

/// Only whether (5.1) holds. If it does, |Σ(λ~ - λ)| <= Σ r and |Σ(λ~² - λ²)| <= Σ r(2|λ| + r); both sums are
/// traces, which rule out most bad structures without an eigenvalue problem.
fn passes(j: &Mat<f64>, s: &Structure, step: &Step, exact: &[c64], tolerance: Tolerance) -> Result<bool> {
    let r = match amplification(j.as_ref(), &s.mask(), step) {
        Err(Error::Singular) => return Ok(false),
        other => other?,
    };
    let n = exact.len();
    let trace: f64 = (0..n).map(|i| r[(i, i)]).sum();
    let square: f64 =
        (0..n).flat_map(|i| (0..n).map(move |k| (i, k))).map(|(i, k)| r[(i, k)] * r[(k, i)]).sum();
    let (mut first, mut second, mut sum, mut squares) = (0.0, 0.0, c64::ZERO, c64::ZERO);
    for &z in exact {
        let radius = tolerance.radius(z);
        first += radius;
        second += radius * (2.0 * z.norm() + radius);
        sum += z;
        squares += z * z;
    }
    let rounding = 1e-12 * (1.0 + n as f64) * (1.0 + square.abs());
    if (trace - sum).norm() > first + rounding || (square - squares).norm() > second + rounding {
        return Ok(false);
    }
    accepts(exact, &dense::eigenvalues(r.as_ref())?, tolerance)
}

/// A set of entries.
#[derive(Clone)]
struct Structure {
    n: usize,
    flag: Vec<bool>,
    count: usize,
}

impl Structure {
    fn empty(n: usize) -> Self {
        Structure { n, flag: vec![false; n * n], count: 0 }
    }

    fn contains(&self, (i, k): (usize, usize)) -> bool {
        self.flag[i * self.n + k]
    }

    fn insert(&mut self, (i, k): (usize, usize)) {
        if !std::mem::replace(&mut self.flag[i * self.n + k], true) {
            self.count += 1;
        }
    }

    fn remove(&mut self, (i, k): (usize, usize)) {
        if std::mem::replace(&mut self.flag[i * self.n + k], false) {
            self.count -= 1;
        }
    }

    fn repair(&mut self, drift: &Drift) {
        let mut missing = Vec::new();
        drift.repair(|e| self.contains(e), |e| missing.push(e));
        missing.into_iter().for_each(|e| self.insert(e));
    }

    fn mask(&self) -> Mask {
        Mask::from_fn(self.n, |i, k| self.flag[i * self.n + k])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::amplification::modes;
    use crate::analysis::dense::tests::mat;
    use crate::method::tests::lie;

    fn tight() -> Search {
        Search { tolerance: Tolerance { rho: 0.05, rho_min: 1e-3 }, ..Search::default() }
    }

    /// A stiff pair and a slow pair, weakly coupled: the stiff diagonal must stay, the slow rows go.
    #[test]
    fn slow_rows_are_dropped_and_stiff_ones_kept() {
        let j = mat(&[
            &[-2000.0, 300.0, 0.5, 0.1],
            &[300.0, -3000.0, 0.1, 0.2],
            &[0.3, 0.1, -1.0, 0.5],
            &[0.1, 0.2, 0.5, -2.0],
        ]);
        let found = sparsing(std::slice::from_ref(&j), &lie(0.01), None, &Drift::default(), tight()).unwrap();
        assert!(found.acceptance[0].accepted);
        assert!(found.mask.keeps(0, 0) && found.mask.keeps(1, 1));
        assert_eq!(&found.mask.implicit_rows()[2..], [false, false], "{:?}", found.mask);
        assert!(found.kept <= 4 && found.nonzeros == 16, "{} kept", found.kept);
        assert!(modes(j.as_ref(), &found.mask, &lie(0.01)).unwrap().stable);
    }

    /// An entry goes only if every sample can spare it.
    #[test]
    fn union_over_samples() {
        let a = mat(&[&[-800.0, 0.0], &[0.0, -1.0]]);
        let b = mat(&[&[-1.0, 0.0], &[0.0, -800.0]]);
        let alone = sparsing(std::slice::from_ref(&a), &lie(0.01), None, &Drift::default(), tight()).unwrap();
        assert!(alone.mask.keeps(0, 0) && !alone.mask.keeps(1, 1));
        let both = sparsing(&[a, b], &lie(0.01), None, &Drift::default(), tight()).unwrap();
        assert!(both.mask.keeps(0, 0) && both.mask.keeps(1, 1) && both.kept == 2);
        assert!(both.acceptance.len() == 2 && both.acceptance.iter().all(|v| v.accepted));
    }

    /// A random-looking stiff network: rates over four decades, about five entries in a row.
    fn network(n: usize, mut seed: u64) -> Mat<f64> {
        let mut random = || {
            seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (seed >> 11) as f64 / (1u64 << 53) as f64
        };
        let mut j = Mat::<f64>::zeros(n, n);
        for i in 0..n {
            let rate = 10f64.powf(4.0 * random());
            for _ in 0..5 {
                let k = (random() * n as f64) as usize % n;
                j[(i, k)] = rate * (random() - 0.5) * 0.2;
            }
            j[(i, i)] = -rate;
        }
        j
    }

    /// A network of 40 states: whatever comes out satisfies (5.1), is smaller than J, and a
    /// smaller ρ keeps at least as much (Table 6.3's trend).
    #[test]
    fn a_network_is_sparsed_and_rho_controls_it() {
        let (n, j) = (40, network(40, 12345));
        let mut last = usize::MAX;
        for rho in [0.01, 0.1, 0.5] {
            let search = Search { tolerance: Tolerance { rho, rho_min: 1e-4 }, ..Search::default() };
            let found =
                sparsing(std::slice::from_ref(&j), &lie(1e-3), None, &Drift::default(), search).unwrap();
            assert!(found.acceptance[0].accepted, "ρ = {rho}: {:?}", found.acceptance[0].ratio);
            assert!(found.kept < found.nonzeros, "ρ = {rho}: {} of {}", found.kept, found.nonzeros);
            assert!(found.kept <= last, "ρ = {rho}: {} kept after {last}", found.kept);
            last = found.kept;
        }
        assert!(last <= n, "{last} kept at ρ = 0.5");
    }

    #[test]
    fn entries_to_keep_are_kept() {
        let j = mat(&[&[-1.0, 0.01], &[0.0, -1.0]]);
        let at_least = Mask::from_fn(2, |i, k| (i, k) == (0, 1));
        let found =
            sparsing(&[j], &lie(1e-3), Some(&at_least), &Drift::default(), Search::default()).unwrap();
        assert!(found.mask.keeps(0, 1) && found.kept == 1);
    }

    #[test]
    fn odd_inputs() {
        let s = Search::default();
        assert_eq!(sparsing(&[], &lie(0.1), None, &Drift::default(), s).err(), Some(Error::NoSamples));
        assert_eq!(sparsing(&[Mat::zeros(0, 0)], &lie(0.1), None, &Drift::default(), s).unwrap().kept, 0);
        assert!(
            sparsing(&[Mat::zeros(1, 1), Mat::zeros(2, 2)], &lie(0.1), None, &Drift::default(), s).is_err()
        );
        assert!(sparsing(&[mat(&[&[f64::NAN]])], &lie(0.1), None, &Drift::default(), s).is_err());
        assert!(sparsing(&[mat(&[&[-1.0]])], &lie(0.1), Some(&Mask::full(2)), &Drift::default(), s).is_err());
        // Zero tolerance keeps what matters and still ends.
        let none = Search { tolerance: Tolerance { rho: 0.0, rho_min: 0.0 }, ..s };
        let j = mat(&[&[-5.0, 1.0], &[2.0, -7.0]]);
        assert_eq!(sparsing(&[j], &lie(0.1), None, &Drift::default(), none).unwrap().kept, 4);
    }
}
