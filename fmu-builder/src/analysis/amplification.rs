//! What one step does to a small disturbance: x+ = R x.
//!
//! ```text
//! R = R(hJ, hA),    A = M∘J
//! ```
//!
//! R is the method's (`method`); of linearly implicit Euler it is (I - hA)^-1 (I + h(J - A)), (1) of
//! *Extension of a sparsing approach* and R(h, P) of Gustafsson, (31).
//!
//! A step is called stable where every mode that does not grow in continuous time does not
//! grow in discrete time. A mode that does grow may grow as fast as e^(hλ) or the unmasked method.

use super::acceptance::pairing;
use super::{Mask, Result, SLACK, dense};
use crate::method::Step;
use faer::linalg::solvers::Solve;
use faer::prelude::c64;
use faer::{Mat, MatRef};

/// R for Jacobian J and mask M.
pub fn amplification(j: MatRef<'_, f64>, mask: &Mask, step: &Step) -> Result<Mat<f64>> {
    step.map(j, mask.apply(j)?.as_ref())
}

/// One mode: its continuous eigenvalue and what became of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mode {
    /// λ of J.
    pub continuous: c64,
    /// R(hλ), the unmasked method's eigenvalue.
    pub exact: c64,
    /// μ of R paired with it.
    pub discrete: c64,
    /// h Re λ <= `SLACK`.
    pub stable: bool,
    /// |μ| is within what λ allows.
    pub ok: bool,
}

/// All modes of one Jacobian under one mask.
#[derive(Debug, Clone, PartialEq)]
pub struct Modes {
    pub modes: Vec<Mode>,
    /// max |μ|.
    pub spectral_radius: f64,
    /// Some pairing of λ and μ keeps every mode within its limit. This is the verdict; the
    /// `ok` of single modes rests on the nearest pairing and serves the report.
    pub stable: bool,
    /// The mode with the largest |μ| relative to its limit.
    pub worst: Option<usize>,
}

/// Pair the eigenvalues of J and of R, and judge each mode.
pub fn modes(j: MatRef<'_, f64>, mask: &Mask, step: &Step) -> Result<Modes> {
    Ok(paired(&dense::eigenvalues(j)?, &dense::eigenvalues(amplification(j, mask, step)?.as_ref())?, step))
}

/// The same from the eigenvalues of J and of R.
pub fn paired(lambda: &[c64], mu: &[c64], step: &Step) -> Modes {
    let exact: Vec<c64> = lambda.iter().map(|&l| step.stability(l)).collect();
    let n = mu.len();
    let pair = pairing(&Mat::from_fn(n, n, |i, k| (exact[i] - mu[k]).norm()));
    let limit: Vec<f64> = lambda.iter().map(|&l| step.growth_limit(l)).collect();
    let excess = |i: usize| mu[pair[i]].norm() / limit[i];
    let modes = (0..n).map(|i| Mode {
        continuous: lambda[i],
        exact: exact[i],
        discrete: mu[pair[i]],
        stable: step.h * lambda[i].re <= SLACK,
        ok: excess(i) <= 1.0,
    });
    Modes {
        modes: modes.collect(),
        spectral_radius: mu.iter().fold(0.0, |r, z| f64::max(r, z.norm())),
        stable: within_limits(mu, lambda, step),
        worst: (0..n).max_by(|&a, &b| excess(a).total_cmp(&excess(b)).then(b.cmp(&a))),
    }
}

/// Is there a pairing in which no |μ| exceeds its λ's limit? With both sorted by size it is the
/// sorted pairing or none.
pub fn within_limits(mu: &[c64], lambda: &[c64], step: &Step) -> bool {
    let mut sizes: Vec<f64> = mu.iter().map(|z| z.norm()).collect();
    let mut limits: Vec<f64> = lambda.iter().map(|&l| step.growth_limit(l)).collect();
    sizes.sort_by(f64::total_cmp);
    limits.sort_by(f64::total_cmp);
    sizes.len() == limits.len() && sizes.iter().zip(&limits).all(|(s, l)| s <= l)
}

/// A mode of R, looked at by its eigenvector.
#[derive(Debug, Clone, PartialEq)]
pub struct Carried {
    /// λ of J that it comes from: the one nearest to the Rayleigh quotient uᵀJv / uᵀv of both eigenvectors of
    /// R, whose error is of second order though J is not normal. Where the step has moved eigenvalues far,
    /// pairing by distance tells nothing. None where μ is defective.
    pub continuous: Option<c64>,
    /// The states that carry it: (index, share of the largest), largest first, down to a tenth.
    pub states: Vec<(usize, f64)>,
}

/// What the mode μ of R is, given J and its eigenvalues. Eigenvector components are divided by nominals, so
/// that pascals and metres compare; a nominal that is missing, zero or not finite counts as 1.
pub fn carried(
    j: MatRef<'_, f64>,
    lambda: &[c64],
    r: MatRef<'_, f64>,
    mu: c64,
    nominals: &[f64],
) -> Result<Carried> {
    let v = eigenvector(r, mu)?;
    let nominal =
        |i: usize| nominals.get(i).map(|x| x.abs()).filter(|x| x.is_finite() && *x > 0.0).unwrap_or(1.0);
    let (n, left) = (v.len(), eigenvector(r.transpose(), mu)?);
    let moved = |i: usize| (0..n).map(|k| v[k] * j[(i, k)]).sum::<c64>();
    let quotient =
        (0..n).map(|i| left[i] * moved(i)).sum::<c64>() / (0..n).map(|i| left[i] * v[i]).sum::<c64>();
    let distance = |l: &&c64| (**l - quotient).norm();
    let nearest = lambda.iter().filter(|l| distance(l).is_finite());
    let nearest = nearest.min_by(|a, b| distance(a).total_cmp(&distance(b))).copied();

    let size: Vec<f64> = v.iter().enumerate().map(|(i, z)| z.norm() / nominal(i)).collect();
    let largest = size.iter().fold(0.0, |m, &s| f64::max(m, s));
    let mut states: Vec<(usize, f64)> =
        size.iter().enumerate().map(|(i, &s)| (i, s / largest)).filter(|s| s.1 >= 0.1).collect();
    states.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    Ok(Carried { continuous: nearest, states })
}

/// A unit eigenvector by inverse iteration from a fixed start, in balanced coordinates.
pub(crate) fn eigenvector(a: MatRef<'_, f64>, mu: c64) -> Result<Vec<c64>> {
    dense::check_square(a)?;
    let n = a.nrows();
    if n == 0 {
        return Ok(vec![]);
    }
    let (b, d) = dense::balance(a);
    let scale =
        (0..n).fold(mu.norm(), |m, k| (0..n).fold(m, |m, i| m.max(b[(i, k)].abs()))).max(f64::MIN_POSITIVE);
    // Beside the eigenvalue by some rounding errors: nearly singular, not singular.
    let shift = mu + c64::new(1.0, 0.5) * (scale * 1e-14);
    let m = Mat::from_fn(n, n, |i, k| c64::new(b[(i, k)], 0.0) - if i == k { shift } else { c64::ZERO });
    let lu = m.partial_piv_lu();
    let mut v = Mat::from_fn(n, 1, |i, _| c64::new(1.0 + (i as f64 * 0.618_033_988_75).fract(), 0.0));
    for _ in 0..4 {
        let mut next = lu.solve(&v);
        let norm = next.norm_l2();
        if !norm.is_finite() || norm == 0.0 {
            break;
        }
        for i in 0..n {
            next[(i, 0)] /= norm;
        }
        v = next;
    }
    let v: Vec<c64> = (0..n).map(|i| v[(i, 0)] * d[i]).collect();
    let norm = v.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
    Ok(v.iter().map(|z| z / norm).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::Error;
    use crate::analysis::dense::tests::mat;
    use crate::method::tests::lie;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// Schiela, 3.3: the unsparsed method's eigenvalues are 1/(1 - hλ). Real λ, well separated and
        /// well conditioned by construction: J = Q diag(λ) Q^T, Q a product of rotations.
        #[test]
        fn full_mask_has_eigenvalues_one_over_one_minus_h_lambda(
            lambda in prop::collection::vec(-1e4..-1e-2f64, 2..7), angle in 0.0..3.0f64, h in 1e-4..1.0f64
        ) {
            let n = lambda.len();
            let mut q = Mat::<f64>::identity(n, n);
            for k in 0..n - 1 {
                let (s, c) = (angle + k as f64).sin_cos();
                let mut g = Mat::<f64>::identity(n, n);
                (g[(k, k)], g[(k, k + 1)], g[(k + 1, k)], g[(k + 1, k + 1)]) = (c, s, -s, c);
                q = &q * &g;
            }
            let d = Mat::from_fn(n, n, |i, j| if i == j { lambda[i] } else { 0.0 });
            let j = &q * d * q.transpose();
            let r = amplification(j.as_ref(), &Mask::full(n), &lie(h)).unwrap();
            let mut found: Vec<f64> = dense::eigenvalues(r.as_ref()).unwrap().iter().map(|z| z.re).collect();
            let mut wanted: Vec<f64> = lambda.iter().map(|l| 1.0 / (1.0 - h * l)).collect();
            found.sort_by(f64::total_cmp);
            wanted.sort_by(f64::total_cmp);
            for (f, w) in found.iter().zip(&wanted) {
                prop_assert!((f - w).abs() < 1e-11 * (1.0 + h * 1e4), "{f} is not {w}");
            }
        }

        /// No kept entry: explicit Euler, I + hJ to the last bit.
        #[test]
        fn empty_mask_is_explicit_euler(e in prop::collection::vec(-5.0..5.0f64, 9), h in 1e-3..1.0f64) {
            let j = Mat::from_fn(3, 3, |i, k| e[3 * i + k]);
            let r = amplification(j.as_ref(), &Mask::explicit(3), &lie(h)).unwrap();
            let euler = Mat::from_fn(3, 3, |i, k| h * j[(i, k)] + if i == k { 1.0 } else { 0.0 });
            prop_assert_eq!(r, euler);
        }

        /// The two ways to write R agree for any mask.
        #[test]
        fn both_forms_of_r_agree(e in prop::collection::vec(-5.0..5.0f64, 9), bits in 0u32..512) {
            let j = Mat::from_fn(3, 3, |i, k| e[3 * i + k]);
            let mask = Mask::from_fn(3, |i, k| bits >> (3 * i + k) & 1 == 1);
            let h = 0.05;
            let r = amplification(j.as_ref(), &mask, &lie(h)).unwrap();
            let a = mask.apply(j.as_ref()).unwrap();
            let left = Mat::from_fn(3, 3, |i, k| if i == k { 1.0 } else { 0.0 } - h * a[(i, k)]);
            let hj = Mat::from_fn(3, 3, |i, k| h * j[(i, k)]);
            let d = dense::solve(left.as_ref(), hj.as_ref()).unwrap();
            for i in 0..3 {
                for k in 0..3 {
                    let one = if i == k { 1.0 } else { 0.0 };
                    prop_assert!((r[(i, k)] - one - d[(i, k)]).abs() < 1e-12 * (1.0 + r.norm_max()));
                }
            }
        }
    }

    #[test]
    fn a_stiff_explicit_row_is_the_worst_mode_and_is_named() {
        // State 1 is stiff; state 2 is slow. In pascals the slow one looks large.
        let j = mat(&[&[-1.0, 0.0, 0.0], &[0.1, -500.0, 0.0], &[1e5, 1e5, -2.0]]);
        let mask = Mask::rows(vec![true, false, false]);
        let found = modes(j.as_ref(), &mask, &lie(0.01)).unwrap();
        assert!(!found.stable && (found.spectral_radius - 4.0).abs() < 1e-9);
        let worst = found.modes[found.worst.unwrap()];
        assert!(worst.stable && !worst.ok && (worst.continuous.re + 500.0).abs() < 1e-9);
        let r = amplification(j.as_ref(), &mask, &lie(0.01)).unwrap();
        let lambda = dense::eigenvalues(j.as_ref()).unwrap();
        let found = carried(j.as_ref(), &lambda, r.as_ref(), worst.discrete, &[1.0, 1.0, 1e5]).unwrap();
        assert_eq!((found.states[0].0, found.continuous), (1, Some(worst.continuous)));
        assert!(modes(j.as_ref(), &Mask::rows(vec![false, true, false]), &lie(0.01)).unwrap().stable);
    }

    /// With every row explicit μ = 1 + hλ: whatever μ is paired with by distance, it is that λ's.
    #[test]
    fn a_mode_of_the_explicit_step_knows_its_eigenvalue() {
        let j = mat(&[&[-5043.0, 3.0, 0.0], &[1.0, -2093.0, 2.0], &[0.0, 4.0, -5396.0]]);
        let (lambda, h) = (dense::eigenvalues(j.as_ref()).unwrap(), 1e-3);
        let r = amplification(j.as_ref(), &Mask::rows(vec![false; 3]), &lie(h)).unwrap();
        for mu in dense::eigenvalues(r.as_ref()).unwrap() {
            let found = carried(j.as_ref(), &lambda, r.as_ref(), mu, &[]).unwrap().continuous.unwrap();
            assert!((c64::ONE + found * h - mu).norm() < 1e-12, "{mu}: {found}");
        }
    }

    /// A slow mode that a stiff row follows: x' = -8 x, y' = -5000 (y - 3 x) with y alone implicit and its
    /// coupling dropped. The eigenvector of R is not quite J's, and the stiff row would blow that up in
    /// vᵀJv / vᵀv.
    #[test]
    fn a_slow_mode_is_not_taken_for_another() {
        let j = mat(&[&[-8.0, 0.0, 0.0], &[15000.0, -5000.0, 0.0], &[0.0, 0.0, -30.0]]);
        let lambda = dense::eigenvalues(j.as_ref()).unwrap();
        let mask = Mask::from_fn(3, |i, k| i == 1 && k == 1);
        let r = amplification(j.as_ref(), &mask, &lie(1e-3)).unwrap();
        let mu = dense::eigenvalues(r.as_ref()).unwrap();
        let slowest = mu.into_iter().max_by(|a, b| a.norm().total_cmp(&b.norm())).unwrap();
        assert!((slowest.re - (1.0 - 8e-3)).abs() < 1e-12);
        let found = carried(j.as_ref(), &lambda, r.as_ref(), slowest, &[]).unwrap();
        assert!((found.continuous.unwrap().re + 8.0).abs() < 1e-9, "{found:?}");
    }

    /// Semi-implicit Euler on an oscillator keeps |μ| = 1; explicit Euler does not.
    #[test]
    fn an_oscillator_is_stable_with_one_implicit_row() {
        let j = mat(&[&[0.0, 1.0], &[-1.0, 0.0]]);
        for (rows, stable) in [([false, false], false), ([true, false], true), ([false, true], true)] {
            let found = modes(j.as_ref(), &Mask::rows(rows.to_vec()), &lie(0.1)).unwrap();
            assert_eq!(found.stable, stable, "{rows:?}: {}", found.spectral_radius);
        }
    }

    /// An unstable model may grow: an inverted pendulum is not the method's fault.
    #[test]
    fn true_growth_is_allowed_once() {
        let j = mat(&[&[0.0, 1.0], &[9.0, 0.0]]);
        assert!(modes(j.as_ref(), &Mask::full(2), &lie(0.01)).unwrap().stable);
        let two = mat(&[&[3.0, 0.0], &[0.0, -300.0]]);
        assert!(!modes(two.as_ref(), &Mask::explicit(2), &lie(0.01)).unwrap().stable);
    }

    #[test]
    fn odd_inputs() {
        assert!(modes(Mat::zeros(0, 0).as_ref(), &Mask::full(0), &lie(0.1)).unwrap().stable);
        let one = mat(&[&[1.0]]);
        assert_eq!(amplification(one.as_ref(), &Mask::full(1), &lie(1.0)).err(), Some(Error::Singular));
        assert!(amplification(one.as_ref(), &Mask::full(1), &lie(f64::NAN)).is_err());
        assert!(amplification(mat(&[&[f64::INFINITY]]).as_ref(), &Mask::full(1), &lie(0.1)).is_err());
        let none = Mat::zeros(0, 0);
        assert!(carried(none.as_ref(), &[], none.as_ref(), c64::ONE, &[]).unwrap().states.is_empty());
    }
}
