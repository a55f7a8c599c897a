//! May a masked spectrum stand for the exact one? Schiela, (5.1).
//!
//! ```text
//! |λ_i - λ~_π(i)| <= r_i = max(ρ (1 - |λ_i|), ρ_m)      for every i, for some pairing π
//! ```
//!
//! Modes near the stability border are judged strictly, damped ones leniently; ρ_m keeps
//! "non-stiff" eigenvalues near 1 from demanding everything.
//!
//! Schiela asks for the pairing with the least max |λ_i - λ~_i| and then tests (5.1) on it. Several
//! pairings share that maximum, and one of them may fail where another passes. Here π has the
//! least max |λ_i - λ~_π(i)| / r_i, so a spectrum is accepted exactly when some pairing satisfies
//! (5.1); among those π, the one with the least sum, so that the other modes' errors mean
//! something too.

use super::{Error, Result};
use faer::Mat;
use faer::prelude::c64;

/// ρ and ρ_m of (5.1).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tolerance {
    pub rho: f64,
    pub rho_min: f64,
}

impl Default for Tolerance {
    /// Table 6.3's middle row.
    fn default() -> Self {
        Tolerance::new(0.1)
    }
}

impl Tolerance {
    /// ρ_m = 0.01 ρ, as in 6.2.
    pub fn new(rho: f64) -> Tolerance {
        Tolerance { rho, rho_min: 0.01 * rho }
    }

    /// r_i of (5.1), never below rounding.
    pub fn radius(&self, exact: c64) -> f64 {
        (self.rho * (1.0 - exact.norm())).max(self.rho_min).max(8.0 * f64::EPSILON)
    }
}

/// The verdict, and what it rests on. Vectors run over the exact eigenvalues.
#[derive(Debug, Clone, PartialEq)]
pub struct Acceptance {
    pub accepted: bool,
    /// Index of the masked eigenvalue paired with each exact one.
    pub pair: Vec<usize>,
    pub error: Vec<f64>,
    pub radius: Vec<f64>,
    /// The exact eigenvalue with the largest error / radius; `None` if there is none.
    pub worst: Option<usize>,
    /// That ratio: accepted up to 1.
    pub ratio: f64,
}

/// Test (5.1). O(n³ log n) up to `OPTIMAL_UP_TO`, greedy pairing (pessimistic) beyond.
pub fn accept(exact: &[c64], masked: &[c64], tolerance: Tolerance) -> Result<Acceptance> {
    let (cost, radius) = costs(exact, masked, tolerance)?;
    let n = exact.len();
    let pair = pairing(&cost);
    let error: Vec<f64> = (0..n).map(|i| (exact[i] - masked[pair[i]]).norm()).collect();
    let worst = (0..n).max_by(|&a, &b| cost[(a, pair[a])].total_cmp(&cost[(b, pair[b])]).then(b.cmp(&a)));
    let ratio = worst.map_or(0.0, |i| cost[(i, pair[i])]);
    Ok(Acceptance { accepted: ratio <= 1.0, pair, error, radius, worst, ratio })
}

/// Only the verdict of `accept`, much faster: one matching and no optimisation.
pub fn accepts(exact: &[c64], masked: &[c64], tolerance: Tolerance) -> Result<bool> {
    Ok(matches_within(&costs(exact, masked, tolerance)?.0, 1.0))
}

/// |λ_i - λ~_j| / r_i and r_i.
fn costs(exact: &[c64], masked: &[c64], tolerance: Tolerance) -> Result<(Mat<f64>, Vec<f64>)> {
    let n = exact.len();
    if masked.len() != n {
        return Err(Error::Size { what: "the masked spectrum", expected: n, found: masked.len() });
    }
    for (k, z) in exact.iter().chain(masked).enumerate() {
        if !z.norm().is_finite() {
            return Err(Error::NotFinite { row: k % n, col: k % n });
        }
    }
    let radius: Vec<f64> = exact.iter().map(|&z| tolerance.radius(z)).collect();
    Ok((Mat::from_fn(n, n, |i, j| (exact[i] - masked[j]).norm() / radius[i]), radius))
}

/// Beyond this size the pairing is greedy.
pub const OPTIMAL_UP_TO: usize = 700;

/// The assignment row -> column with the least largest cost and, among those, the least sum.
/// Costs must be finite and not negative.
pub fn pairing(cost: &Mat<f64>) -> Vec<usize> {
    let n = cost.nrows();
    if n > OPTIMAL_UP_TO {
        return greedy(cost);
    }
    // At least the worst row minimum and column minimum must be paid.
    let row_min = |i: usize| (0..n).fold(f64::INFINITY, |m, j| m.min(cost[(i, j)]));
    let col_min = |j: usize| (0..n).fold(f64::INFINITY, |m, i| m.min(cost[(i, j)]));
    let floor = (0..n).fold(0.0, |m: f64, k| m.max(row_min(k)).max(col_min(k)));
    let mut steps: Vec<f64> =
        (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|e| cost[e]).filter(|&c| c >= floor).collect();
    steps.sort_by(f64::total_cmp);
    steps.dedup();
    let least = steps.partition_point(|&limit| !matches_within(cost, limit));
    hungarian(cost, steps.get(least).copied().unwrap_or(f64::INFINITY))
}

/// Is there a perfect matching with no cost above the limit? Augmenting paths, breadth first.
fn matches_within(cost: &Mat<f64>, limit: f64) -> bool {
    const NONE: usize = usize::MAX;
    let n = cost.nrows();
    let (mut row_of, mut column_of) = (vec![NONE; n], vec![NONE; n]);
    for start in 0..n {
        let mut from = vec![NONE; n]; // column -> row it was reached from
        let mut queue = vec![start];
        let mut free = None;
        let mut head = 0;
        'search: while head < queue.len() {
            let i = queue[head];
            head += 1;
            for j in 0..n {
                if from[j] == NONE && cost[(i, j)] <= limit {
                    from[j] = i;
                    if row_of[j] == NONE {
                        free = Some(j);
                        break 'search;
                    }
                    queue.push(row_of[j]);
                }
            }
        }
        let Some(mut j) = free else { return false };
        while j != NONE {
            let i = from[j];
            row_of[j] = i;
            j = std::mem::replace(&mut column_of[i], j);
        }
    }
    true
}

/// Least sum with costs above `limit` forbidden (Kuhn-Munkres with potentials, O(n³)).
fn hungarian(cost: &Mat<f64>, limit: f64) -> Vec<usize> {
    let n = cost.nrows();
    let mut largest: f64 = 1.0;
    for i in 0..n {
        for j in 0..n {
            if cost[(i, j)] <= limit {
                largest = largest.max(cost[(i, j)]);
            }
        }
    }
    let forbidden = largest * (n as f64 + 1.0) * 2.0;
    let price = |i: usize, j: usize| if cost[(i, j)] <= limit { cost[(i, j)] } else { forbidden };
    let (mut u, mut v) = (vec![0.0; n + 1], vec![0.0; n + 1]);
    let mut row_of = vec![0usize; n + 1]; // 1-based; 0 is "none"
    let mut back = vec![0usize; n + 1];
    for i in 1..=n {
        row_of[0] = i;
        let mut j0 = 0;
        let mut slack = vec![f64::INFINITY; n + 1];
        let mut used = vec![false; n + 1];
        loop {
            used[j0] = true;
            let i0 = row_of[j0];
            let (mut delta, mut j1) = (f64::INFINITY, 0);
            for j in 1..=n {
                if !used[j] {
                    let reduced = price(i0 - 1, j - 1) - u[i0] - v[j];
                    if reduced < slack[j] {
                        slack[j] = reduced;
                        back[j] = j0;
                    }
                    if slack[j] < delta {
                        delta = slack[j];
                        j1 = j;
                    }
                }
            }
            for j in 0..=n {
                if used[j] {
                    u[row_of[j]] += delta;
                    v[j] -= delta;
                } else {
                    slack[j] -= delta;
                }
            }
            j0 = j1;
            if row_of[j0] == 0 {
                break;
            }
        }
        while j0 != 0 {
            row_of[j0] = row_of[back[j0]];
            j0 = back[j0];
        }
    }
    let mut pair = vec![0; n];
    (1..=n).for_each(|j| pair[row_of[j] - 1] = j - 1);
    pair
}

/// The cheapest pair of all first, then the cheapest of what is left.
fn greedy(cost: &Mat<f64>) -> Vec<usize> {
    let n = cost.nrows();
    let mut edges: Vec<(f64, usize, usize)> =
        (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).map(|(i, j)| (cost[(i, j)], i, j)).collect();
    edges.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)).then(a.2.cmp(&b.2)));
    let (mut pair, mut taken) = (vec![usize::MAX; n], vec![false; n]);
    for (_, i, j) in edges {
        if pair[i] == usize::MAX && !taken[j] {
            pair[i] = j;
            taken[j] = true;
        }
    }
    pair
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// (max, sum) of every permutation, by Heap's algorithm.
    fn brute_force(cost: &Mat<f64>) -> (f64, f64) {
        fn visit(k: usize, p: &mut Vec<usize>, cost: &Mat<f64>, best: &mut (f64, f64)) {
            if k == p.len() {
                let worst = (0..p.len()).fold(0.0, |m, i| f64::max(m, cost[(i, p[i])]));
                let sum = (0..p.len()).map(|i| cost[(i, p[i])]).sum();
                if (worst, sum) < *best {
                    *best = (worst, sum);
                }
                return;
            }
            for i in k..p.len() {
                p.swap(k, i);
                visit(k + 1, p, cost, best);
                p.swap(k, i);
            }
        }
        let mut best = (f64::INFINITY, f64::INFINITY);
        visit(0, &mut (0..cost.nrows()).collect(), cost, &mut best);
        best
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]

        /// No permutation has a smaller maximum, and none with that maximum a smaller sum.
        #[test]
        fn pairing_is_optimal(n in 1usize..7, entries in prop::collection::vec(0u8..12, 36)) {
            let cost = Mat::from_fn(n, n, |i, j| f64::from(entries[i * 6 + j])); // ties on purpose
            let pair = pairing(&cost);
            let mut seen = pair.clone();
            seen.sort_unstable();
            prop_assert_eq!(seen, (0..n).collect::<Vec<_>>());
            let worst = (0..n).fold(0.0, |m, i| f64::max(m, cost[(i, pair[i])]));
            let sum: f64 = (0..n).map(|i| cost[(i, pair[i])]).sum();
            prop_assert_eq!((worst, sum), brute_force(&cost));
            prop_assert!(matches_within(&cost, worst) && !matches_within(&cost, worst - 0.5));
        }
    }

    fn real(values: &[f64]) -> Vec<c64> {
        values.iter().map(|&v| c64::new(v, 0.0)).collect()
    }

    #[test]
    fn radius_shrinks_towards_the_unit_circle() {
        let t = Tolerance { rho: 0.1, rho_min: 0.01 };
        let verdict = accept(&real(&[0.0, 0.5, 0.99]), &real(&[0.0, 0.54, 0.985]), t).unwrap();
        assert!(verdict.accepted);
        let verdict = accept(&real(&[0.0, 0.5, 0.99]), &real(&[0.0, 0.56, 0.985]), t).unwrap();
        assert!(!verdict.accepted && verdict.worst == Some(1));
        assert!((verdict.ratio - 1.2).abs() < 1e-12);
    }

    /// Pairing each eigenvalue with its nearest would use 0.5 twice and accept.
    #[test]
    fn an_eigenvalue_is_used_once() {
        let t = Tolerance { rho: 0.1, rho_min: 0.01 };
        let verdict = accept(&real(&[0.5, 0.51]), &real(&[0.5, -0.9]), t).unwrap();
        assert!(!verdict.accepted);
    }

    #[test]
    fn odd_sizes() {
        let t = Tolerance::default();
        assert!(accept(&[], &[], t).unwrap().accepted);
        assert!(accept(&real(&[1.0]), &[], t).is_err());
        assert!(accept(&real(&[f64::NAN]), &real(&[1.0]), t).is_err());
        let n = OPTIMAL_UP_TO + 1;
        let many: Vec<c64> = (0..n).map(|k| c64::new(k as f64 / n as f64, 0.0)).collect();
        let reversed: Vec<c64> = many.iter().rev().copied().collect();
        assert_eq!(accept(&many, &reversed, t).unwrap().ratio, 0.0);
    }
}
