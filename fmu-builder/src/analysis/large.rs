//! Stability of large sparse systems, without a dense matrix.
//!
//! ```text
//! R v = v + Σ b_i k_i,   (I - γ_i hA) k_i = s_i hJ (v + Σ a_ij k_j) + Σ g_ij k_j,   A: the implicit rows of J
//! ```
//!
//! One sparse LU for each γ, then a matrix-vector product and a solve per stage. The largest |μ| comes from
//! restarted Arnoldi iteration (Saad, 1980): an estimate from below. An unstable mode stands out and is
//! found in a few products; for a stable diffusion the largest |μ| is within rounding of 1 and crowded, and the
//! estimate stays a little below. `residual` says how good it is.
//!
//! Deterministic: a fixed start vector. 10,000 tridiagonal states take well below a second.

use super::amplification::eigenvector;
use super::{Error, Result, check_step, dense};
use crate::method::Step;
use faer::linalg::solvers::SolveCore;
use faer::prelude::c64;
use faer::sparse::{SparseColMat, Triplet};
use faer::{Conj, Mat};

/// A Jacobian as (row, column, value); repeated entries are added.
#[derive(Debug, Clone, PartialEq)]
pub struct SparseJacobian {
    n: usize,
    entries: Vec<(usize, usize, f64)>,
}

impl SparseJacobian {
    pub fn new(n: usize, entries: Vec<(usize, usize, f64)>) -> Result<Self> {
        for &(row, col, value) in &entries {
            if row >= n || col >= n {
                return Err(Error::Size { what: "an entry's index", expected: n, found: row.max(col) });
            }
            if !value.is_finite() {
                return Err(Error::NotFinite { row, col });
            }
        }
        Ok(SparseJacobian { n, entries })
    }

    pub fn n(&self) -> usize {
        self.n
    }
}

/// The largest |μ| of R that the iteration found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RadiusEstimate {
    pub radius: f64,
    pub mu: c64,
    /// ‖R v - μ v‖ for the unit vector v behind it.
    pub residual: f64,
    /// Applications of R.
    pub products: usize,
}

const BASIS: usize = 60;
/// Residual of an eigenvalue that is known well enough.
const CONVERGED: f64 = 1e-8;
const RESTARTS: usize = 12;

/// Spectral radius of the step with `implicit` rows of `a`, which may be an older Jacobian, where the model's is `j`.
pub fn spectral_radius(
    j: &SparseJacobian,
    a: &SparseJacobian,
    implicit: &[bool],
    step: &Step,
) -> Result<RadiusEstimate> {
    let step = SparseStep::new(j, a, implicit, step)?;
    let n = j.n;
    let mut best = RadiusEstimate { radius: 0.0, mu: c64::ZERO, residual: 0.0, products: 0 };
    if n == 0 {
        return Ok(best);
    }
    let mut products = 0;
    // Every frequency is present, and no symmetry of the model is shared.
    let mut start: Vec<f64> =
        (0..n).map(|i| ((i + 1) as f64 * 0.618_033_988_749_895).fract() - 0.5 + 1e-3).collect();
    for restart in 0..RESTARTS {
        let run = arnoldi(&step, &start, BASIS.min(n))?;
        products += run.h.ncols();
        let m = run.h.ncols();
        let square = run.h.submatrix(0, 0, m, m).to_owned();
        let ritz = dense::eigenvalues(square.as_ref())?;
        let Some(&mu) = ritz.iter().max_by(|a, b| a.norm().total_cmp(&b.norm())) else { break };
        let s = eigenvector(square.as_ref(), mu)?;
        let residual = run.h[(m, m - 1)].abs() * s[m - 1].norm();
        if restart == 0 || mu.norm() >= best.radius || residual < best.residual {
            best = RadiusEstimate { radius: mu.norm(), mu, residual, products };
        }
        best.products = products;
        if best.residual <= CONVERGED {
            break;
        }
        // The real part of the Ritz vector, plus a tenth of its imaginary one: a real start that
        // contains both vectors of a conjugate pair.
        start =
            (0..n).map(|i| run.basis.iter().zip(&s).map(|(q, z)| q[i] * (z.re + 0.1 * z.im)).sum()).collect();
    }
    Ok(best)
}

/// R as an operator.
struct SparseStep<'a> {
    step: &'a Step,
    jacobian: &'a SparseJacobian,
    /// I - γ h A, one for each γ of the method.
    factors: Vec<faer::sparse::linalg::solvers::Lu<usize, f64>>,
}

impl<'a> SparseStep<'a> {
    fn new(
        j: &'a SparseJacobian,
        a: &SparseJacobian,
        implicit: &[bool],
        step: &'a Step,
    ) -> Result<SparseStep<'a>> {
        check_step(step.h)?;
        if implicit.len() != j.n {
            return Err(Error::Size {
                what: "the list of implicit rows",
                expected: j.n,
                found: implicit.len(),
            });
        }
        let factor = |gamma: f64| {
            let mut triplets: Vec<Triplet<usize, usize, f64>> =
                (0..j.n).map(|i| Triplet::new(i, i, 1.0)).collect();
            let kept = a.entries.iter().filter(|e| implicit[e.0]);
            triplets.extend(kept.map(|&(row, col, val)| Triplet::new(row, col, -gamma * step.h * val)));
            let matrix = SparseColMat::<usize, f64>::try_new_from_triplets(j.n, j.n, &triplets)
                .map_err(|_| Error::Size { what: "the triplets", expected: j.n, found: j.n })?;
            matrix.sp_lu().map_err(|_| Error::Singular)
        };
        let factors = step.tableau.gammas.iter().map(|&gamma| factor(gamma)).collect::<Result<_>>()?;
        Ok(SparseStep { step, jacobian: j, factors })
    }

    fn apply(&self, v: &[f64]) -> Result<Vec<f64>> {
        let (n, tableau) = (v.len(), &self.step.tableau);
        let mut stages: Vec<Vec<f64>> = Vec::with_capacity(tableau.stages.len());
        let add = |to: &mut [f64], share: f64, k: &[f64]| {
            if share != 0.0 {
                to.iter_mut().zip(k).for_each(|(to, k)| *to += share * k);
            }
        };
        for stage in &tableau.stages {
            let mut at = v.to_vec();
            stage.nodes.iter().zip(&stages).for_each(|(node, k)| add(&mut at, *node, k));
            let mut right = vec![0.0; n];
            for &(i, k, a) in &self.jacobian.entries {
                right[i] += stage.scale * self.step.h * a * at[k];
            }
            stage.couplings.iter().zip(&stages).for_each(|(coupling, k)| add(&mut right, *coupling, k));
            let mut w = Mat::from_fn(n, 1, |i, _| right[i]);
            self.factors[stage.factors].solve_in_place_with_conj(Conj::No, w.as_mut());
            stages.push((0..n).map(|i| w[(i, 0)]).collect());
        }
        let mut next = v.to_vec();
        tableau.weights.iter().zip(&stages).for_each(|(weight, k)| add(&mut next, *weight, k));
        if next.iter().all(|x| x.is_finite()) { Ok(next) } else { Err(Error::Singular) }
    }
}

struct Krylov {
    basis: Vec<Vec<f64>>,
    /// (m + 1) x m, upper Hessenberg.
    h: Mat<f64>,
}

/// R Q_m = Q_{m+1} H, Gram-Schmidt done twice.
fn arnoldi(step: &SparseStep<'_>, start: &[f64], m: usize) -> Result<Krylov> {
    let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
    let length = norm(start);
    let mut basis = vec![start.iter().map(|x| x / length).collect::<Vec<f64>>()];
    let mut h = Mat::<f64>::zeros(m + 1, m);
    for k in 0..m {
        let mut w = step.apply(&basis[k])?;
        let before = norm(&w);
        for _ in 0..2 {
            for (i, q) in basis.iter().enumerate() {
                let p: f64 = q.iter().zip(&w).map(|(a, b)| a * b).sum();
                h[(i, k)] += p;
                w.iter_mut().zip(q).for_each(|(x, a)| *x -= p * a);
            }
        }
        let rest = norm(&w);
        if rest <= 1e-14 * before.max(f64::MIN_POSITIVE) || k + 1 == m {
            // An invariant subspace, or the end of the run.
            h[(k + 1, k)] = if rest <= 1e-14 * before { 0.0 } else { rest };
            return Ok(Krylov { basis, h: h.submatrix(0, 0, k + 2, k + 1).to_owned() });
        }
        h[(k + 1, k)] = rest;
        w.iter_mut().for_each(|x| *x /= rest);
        basis.push(w);
    }
    Ok(Krylov { basis, h })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Mask;
    use crate::analysis::amplification::amplification;
    use crate::method::tests::lie;

    /// Heat conduction in n cells with fixed ends: λ_k = -4κ sin²(kπ / (2(n + 1))).
    /// Every eigenvalue λ of J has left <= Re λ <= right and |λ| <= radius.
    #[derive(Debug, Clone, Copy, PartialEq)]
    struct Gershgorin {
        left: f64,
        right: f64,
        radius: f64,
    }

    /// Discs by rows and by columns; the tighter bound of each.
    fn gershgorin(j: &SparseJacobian) -> Gershgorin {
        let mut diagonal = vec![0.0; j.n];
        let (mut by_row, mut by_col) = (vec![0.0; j.n], vec![0.0; j.n]);
        for &(i, k, v) in &j.entries {
            if i == k {
                diagonal[i] += v;
            } else {
                by_row[i] += v.abs();
                by_col[k] += v.abs();
            }
        }
        let hull = |off: &[f64]| {
            let discs = || diagonal.iter().zip(off);
            (
                discs().fold(f64::INFINITY, |m, (d, r)| m.min(d - r)),
                discs().fold(f64::NEG_INFINITY, |m, (d, r)| m.max(d + r)),
                discs().fold(0.0, |m: f64, (d, r)| m.max(d.abs() + r)),
            )
        };
        let (a, b) = (hull(&by_row), hull(&by_col));
        if j.n == 0 {
            return Gershgorin { left: 0.0, right: 0.0, radius: 0.0 };
        }
        Gershgorin { left: a.0.max(b.0), right: a.1.min(b.1), radius: a.2.min(b.2) }
    }

    fn rod(n: usize, kappa: f64) -> SparseJacobian {
        let mut entries = vec![];
        for i in 0..n {
            entries.push((i, i, -2.0 * kappa));
            if i > 0 {
                entries.push((i, i - 1, kappa));
                entries.push((i - 1, i, kappa));
            }
        }
        SparseJacobian::new(n, entries).unwrap()
    }

    #[test]
    fn ten_thousand_cells() {
        let (n, kappa, h) = (10_000, 1e4, 1e-2);
        let j = rod(n, kappa);
        let outer = gershgorin(&j);
        assert_eq!((outer.left, outer.right, outer.radius), (-4.0 * kappa, 0.0, 4.0 * kappa));
        // All implicit: below 1, and close to 1/(1 - hλ_1), which is 1 - 1e-5.
        let implicit = spectral_radius(&j, &j, &vec![true; n], &lie(h)).unwrap();
        assert!(implicit.radius < 1.0 && implicit.radius > 0.999, "{implicit:?}");
        // All explicit: |1 - 4hκ| = 399 and no more than Gershgorin allows.
        let explicit = spectral_radius(&j, &j, &vec![false; n], &lie(h)).unwrap();
        assert!(explicit.radius > 398.5 && explicit.radius < 399.0, "{explicit:?}");
        // One explicit cell in an implicit rod is enough to lose stability: a stiff row left out.
        let mut one = vec![true; n];
        one[n / 3] = false;
        let found = spectral_radius(&j, &j, &one, &lie(h)).unwrap();
        assert!(found.residual <= CONVERGED && found.radius > 5.0, "{found:?}");
    }

    /// The same numbers as the dense analysis, conjugate pairs included.
    #[test]
    fn agrees_with_the_dense_analysis() {
        let n = 90;
        let mut entries = rod(n, 300.0).entries;
        for i in 0..n - 7 {
            entries.push((i, i + 7, if i % 2 == 0 { 250.0 } else { -200.0 }));
            entries.push((i + 7, i, -220.0));
        }
        let j = SparseJacobian::new(n, entries.clone()).unwrap();
        let mut full = Mat::<f64>::zeros(n, n);
        entries.iter().for_each(|&(i, k, v)| full[(i, k)] += v);
        for pattern in 1..5 {
            let rows: Vec<bool> = (0..n).map(|i| i % 5 < pattern).collect();
            let sparse = spectral_radius(&j, &j, &rows, &lie(0.02)).unwrap();
            let r = amplification(full.as_ref(), &Mask::rows(rows), &lie(0.02)).unwrap();
            let dense = dense::spectral_radius(r.as_ref()).unwrap();
            assert!((sparse.radius - dense).abs() < 1e-6 * dense, "{pattern}: {sparse:?}, dense {dense}");
        }
    }

    #[test]
    fn odd_inputs() {
        let none = SparseJacobian::new(0, vec![]).unwrap();
        assert_eq!(spectral_radius(&none, &none, &[], &lie(0.1)).unwrap().radius, 0.0);
        assert_eq!(gershgorin(&none).radius, 0.0);
        assert!(SparseJacobian::new(1, vec![(1, 0, 1.0)]).is_err());
        assert!(SparseJacobian::new(1, vec![(0, 0, f64::NAN)]).is_err());
        let one = SparseJacobian::new(1, vec![(0, 0, 10.0)]).unwrap();
        assert_eq!(spectral_radius(&one, &one, &[true], &lie(0.1)).err(), Some(Error::Singular));
        assert!((spectral_radius(&one, &one, &[false], &lie(0.1)).unwrap().radius - 2.0).abs() < 1e-14);
        assert!(spectral_radius(&one, &one, &[], &lie(0.1)).is_err());
    }
}
