//! Stability of large sparse systems, without a dense matrix.
//!
//! ```text
//! R v = (I - hA)^-1 (v + h(J - A)v),   A: the implicit rows of J
//! ```
//!
//! One sparse LU, then a matrix-vector product and a solve per application. The largest |μ| comes from
//! restarted Arnoldi iteration (Saad, 1980): an estimate from below. An unstable mode stands out and is
//! found in a few products; for a stable diffusion the largest |μ| is within rounding of 1 and crowded, and the
//! estimate stays a little below. `residual` says how good it is. Gershgorin's discs bound the spectrum of J
//! from outside: together they bracket.
//!
//! Deterministic: a fixed start vector. 10,000 tridiagonal states take well below a second.

use super::amplification::eigenvector;
use super::{Error, Result, check_step, dense};
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

/// Every eigenvalue λ of J has left <= Re λ <= right and |λ| <= radius.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Gershgorin {
    pub left: f64,
    pub right: f64,
    pub radius: f64,
}

/// Discs by rows and by columns; the tighter bound of each.
pub fn gershgorin(j: &SparseJacobian) -> Gershgorin {
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

/// The largest |μ| of R that the iteration found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RadiusEstimate {
    pub radius: f64,
    pub mu: c64,
    /// ‖R v - μ v‖ for the unit vector v behind it.
    pub residual: f64,
    /// Applications of R.
    pub products: usize,
    /// Residual at most 1e-8.
    pub converged: bool,
}

const BASIS: usize = 60;
const RESTARTS: usize = 12;

/// Spectral radius of the step with `implicit` rows.
pub fn spectral_radius(j: &SparseJacobian, implicit: &[bool], h: f64) -> Result<RadiusEstimate> {
    let step = Step::new(j, implicit, h)?;
    let n = j.n;
    let mut best = RadiusEstimate { radius: 0.0, mu: c64::ZERO, residual: 0.0, products: 0, converged: true };
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
            best = RadiusEstimate { radius: mu.norm(), mu, residual, products, converged: residual <= 1e-8 };
        }
        best.products = products;
        if best.converged {
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
struct Step {
    explicit: Vec<(usize, usize, f64)>,
    lu: faer::sparse::linalg::solvers::Lu<usize, f64>,
    h: f64,
}

impl Step {
    fn new(j: &SparseJacobian, implicit: &[bool], h: f64) -> Result<Step> {
        check_step(h)?;
        if implicit.len() != j.n {
            return Err(Error::Size {
                what: "the list of implicit rows",
                expected: j.n,
                found: implicit.len(),
            });
        }
        let mut triplets: Vec<Triplet<usize, usize, f64>> =
            (0..j.n).map(|i| Triplet::new(i, i, 1.0)).collect();
        let kept = j.entries.iter().filter(|e| implicit[e.0]);
        triplets.extend(kept.map(|&(row, col, val)| Triplet::new(row, col, -h * val)));
        let matrix = SparseColMat::<usize, f64>::try_new_from_triplets(j.n, j.n, &triplets)
            .map_err(|_| Error::Size { what: "the triplets", expected: j.n, found: j.n })?;
        let lu = matrix.sp_lu().map_err(|_| Error::Singular)?;
        Ok(Step { explicit: j.entries.iter().filter(|e| !implicit[e.0]).copied().collect(), lu, h })
    }

    fn apply(&self, v: &[f64]) -> Result<Vec<f64>> {
        let mut w = Mat::from_fn(v.len(), 1, |i, _| v[i]);
        for &(i, k, a) in &self.explicit {
            w[(i, 0)] += self.h * a * v[k];
        }
        self.lu.solve_in_place_with_conj(Conj::No, w.as_mut());
        let w: Vec<f64> = (0..v.len()).map(|i| w[(i, 0)]).collect();
        if w.iter().all(|x| x.is_finite()) { Ok(w) } else { Err(Error::Singular) }
    }
}

struct Krylov {
    basis: Vec<Vec<f64>>,
    /// (m + 1) x m, upper Hessenberg.
    h: Mat<f64>,
}

/// R Q_m = Q_{m+1} H, Gram-Schmidt done twice.
fn arnoldi(step: &Step, start: &[f64], m: usize) -> Result<Krylov> {
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

    /// Heat conduction in n cells with fixed ends: λ_k = -4κ sin²(kπ / (2(n + 1))).
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
        let implicit = spectral_radius(&j, &vec![true; n], h).unwrap();
        assert!(implicit.radius < 1.0 && implicit.radius > 0.999, "{implicit:?}");
        // All explicit: |1 - 4hκ| = 399 and no more than Gershgorin allows.
        let explicit = spectral_radius(&j, &vec![false; n], h).unwrap();
        assert!(explicit.radius > 398.5 && explicit.radius < 399.0, "{explicit:?}");
        // One explicit cell in an implicit rod is enough to lose stability: a stiff row left out.
        let mut one = vec![true; n];
        one[n / 3] = false;
        let found = spectral_radius(&j, &one, h).unwrap();
        assert!(found.converged && found.radius > 5.0, "{found:?}");
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
            let sparse = spectral_radius(&j, &rows, 0.02).unwrap();
            let r = amplification(full.as_ref(), &Mask::rows(rows), 0.02).unwrap();
            let dense = dense::spectral_radius(r.as_ref()).unwrap();
            assert!((sparse.radius - dense).abs() < 1e-6 * dense, "{pattern}: {sparse:?}, dense {dense}");
        }
    }

    #[test]
    fn odd_inputs() {
        let none = SparseJacobian::new(0, vec![]).unwrap();
        assert_eq!(spectral_radius(&none, &[], 0.1).unwrap().radius, 0.0);
        assert_eq!(gershgorin(&none).radius, 0.0);
        assert!(SparseJacobian::new(1, vec![(1, 0, 1.0)]).is_err());
        assert!(SparseJacobian::new(1, vec![(0, 0, f64::NAN)]).is_err());
        let one = SparseJacobian::new(1, vec![(0, 0, 10.0)]).unwrap();
        assert_eq!(spectral_radius(&one, &[true], 0.1).err(), Some(Error::Singular));
        assert!((spectral_radius(&one, &[false], 0.1).unwrap().radius - 2.0).abs() < 1e-14);
        assert!(spectral_radius(&one, &[], 0.1).is_err());
    }
}
