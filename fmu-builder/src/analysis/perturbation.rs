//! How far a mask moves the spectrum, without computing it: Extension, Theorem 4 and (2).
//!
//! ```text
//! M   = h ((I - hA)^-1 - (I - hJ)^-1) J                       (11), the change of R
//! d_S = |tr((I - hJ)^-1 hΔJ (I - (I - hJ)^-1 (I + hJ)))|      (2), ΔJ = A - J, first order
//! d1  = |tr M|                                                Theorem 4, 1
//! d2  = sqrt|tr M²|                                           Theorem 4, 2
//! C1  = min r_i,  C2 = min r_i²,  r_i = distance of λ_i from the unit circle      (15)
//! ```
//!
//! What to know before trusting them:
//! - tr M *is* Σ(λ~ - λ), exactly and for any mask; Theorem 4 calls it an approximation. It says nothing
//!   about modes that move against each other.
//! - (2) as printed is -2 times Schiela's (4.50): for the pair (I, I - hJ) the last factor is
//!   I - (I - hJ)^-1, while (2) has I + hJ there. `d_s` follows the print; `first_order` is (4.50).
//! - tr M² = Σ(λ~ - λ)² needs M to commute with R: Lemma 2's X^-1 (F + M) X is diagonal up
//!   to O(ε), not O(ε²). For F = diag(1, 2) and M = ε [[0, 1], [1, 0]], tr M² = 2ε² while each eigenvalue
//!   moves by ε². So d2 is an alarm, mostly too loud.
//! - The proof of Lemma 3 takes X real; with complex eigenvalues tr M² sums squares of complex numbers
//!   and may cancel or be negative. Use `acceptance` where modes oscillate.
//! - Algorithm 1, line 12, compares d2² with C1; C2 is meant (13).

use super::amplification::amplification;
use super::{Mask, Result, dense};
use crate::method::Step;
use faer::prelude::c64;
use faer::{Mat, MatRef};

/// The measures for one Jacobian and one mask.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Perturbation {
    pub d_s: f64,
    /// |tr(B^-1 hΔJ (I - B^-1))|, Schiela's (4.50) for all dropped entries together.
    pub first_order: f64,
    pub d1: f64,
    pub d2: f64,
}

/// d_S, (4.50), d1, d2. O(n³), no eigenvalue problem.
pub fn perturbation(j: MatRef<'_, f64>, mask: &Mask, step: &Step) -> Result<Perturbation> {
    let (n, h) = (j.nrows(), step.h);
    let exact = amplification(j, &Mask::full(n), step)?; // (I - hJ)^-1
    let m = amplification(j, mask, step)? - &exact;
    let a = mask.apply(j)?;
    let h_delta = Mat::from_fn(n, n, |i, k| h * (a[(i, k)] - j[(i, k)]));
    // I - (I - hJ)^-1 (I + hJ) = -2 (I - hJ)^-1 hJ and I - (I - hJ)^-1 = -(I - hJ)^-1 hJ.
    let hj = Mat::from_fn(n, n, |i, k| h * j[(i, k)]);
    let first_order = trace(&(&exact * h_delta * &exact * hj)).abs();
    Ok(Perturbation {
        d_s: 2.0 * first_order,
        first_order,
        d1: trace(&m).abs(),
        d2: trace(&(&m * &m)).abs().sqrt(),
    })
}

/// C1 and C2: a sum of |λ~ - λ| below C1, or of squares below C2, cannot reach the unit circle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bounds {
    pub c1: f64,
    pub c2: f64,
}

/// (15) over the unmasked method's eigenvalues. Slow modes sit at the circle and would make the bounds
/// useless; section 4 of Extension leaves them out: those with |hλ| < `slow` are. Infinite if none is left.
pub fn bounds(lambda: &[c64], step: &Step, slow: f64) -> Bounds {
    let stiff = lambda.iter().filter(|l| (*l * step.h).norm() >= slow);
    let c1 = stiff.map(|&l| (1.0 - step.stability(l).norm()).abs()).fold(f64::INFINITY, f64::min);
    Bounds { c1, c2: c1 * c1 }
}

/// The actual Σ|λ~ - λ| and sqrt Σ|λ~ - λ|², eigenvalues paired as in `acceptance`.
pub fn actual(j: MatRef<'_, f64>, mask: &Mask, step: &Step) -> Result<(f64, f64)> {
    let masked = dense::eigenvalues(amplification(j, mask, step)?.as_ref())?;
    let exact: Vec<c64> = dense::eigenvalues(j)?.iter().map(|&l| step.stability(l)).collect();
    let n = exact.len();
    let distance = Mat::from_fn(n, n, |i, k| (exact[i] - masked[k]).norm());
    let pair = super::acceptance::pairing(&distance);
    let moved = (0..n).map(|i| distance[(i, pair[i])]);
    Ok((moved.clone().sum(), moved.map(|d| d * d).sum::<f64>().sqrt()))
}

fn trace(a: &Mat<f64>) -> f64 {
    (0..a.nrows()).map(|i| a[(i, i)]).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::dense::tests::mat;
    use crate::method::tests::lie;

    /// Two modes that move against each other: d1 sees nothing, d2 does (Extension, section 3).
    #[test]
    fn d2_sees_what_d1_cancels() {
        // Antisymmetric coupling, dropped: ±iω becomes explicit for one pair of rows and the other's
        // change has the opposite sign.
        let j = mat(&[&[-30.0, 8.0], &[8.0, -30.0]]);
        let mask = Mask::from_fn(2, |i, k| i == k);
        let h = 0.1;
        let p = perturbation(j.as_ref(), &mask, &lie(h)).unwrap();
        let (sum, rms) = actual(j.as_ref(), &mask, &lie(h)).unwrap();
        // By hand: R = (1 + hc P)/(1 + 3), λ = -22 and -38: 0.45 against 1/3.2, 0.05 against 1/4.8.
        let moved: [f64; 2] = [1.8 / 4.0 - 1.0 / 3.2, 0.2 / 4.0 - 1.0 / 4.8];
        assert!((sum - (moved[0].abs() + moved[1].abs())).abs() < 1e-14);
        assert!((p.d1 - (moved[0] + moved[1]).abs()).abs() < 1e-14);
        assert!(p.d1 < 0.1 * sum, "d1 = {} should nearly cancel against {sum}", p.d1);
        // M commutes with J here, so that Theorem 4 holds exactly.
        assert!((p.d2 - rms).abs() < 1e-14, "d2 = {} is not {rms}", p.d2);
    }

    /// tr M is the exact change of the eigenvalue sum, not an approximation.
    #[test]
    fn d1_is_exact() {
        let j = mat(&[&[-3.0, 2.0, 0.0], &[1.0, -40.0, 7.0], &[0.5, -7.0, -20.0]]);
        let mask = Mask::from_fn(3, |i, k| i == k || i == 1);
        let sum = |m: &Mask| {
            let r = amplification(j.as_ref(), m, &lie(0.2)).unwrap();
            dense::eigenvalues(r.as_ref()).unwrap().iter().map(|z| z.re).sum::<f64>()
        };
        let p = perturbation(j.as_ref(), &mask, &lie(0.2)).unwrap();
        assert!((p.d1 - (sum(&mask) - sum(&Mask::full(3))).abs()).abs() < 1e-13);
        assert!(p.d1 > 1e-3);
    }

    /// The printed (2), term by term, is twice Schiela's (4.50).
    #[test]
    fn d_s_as_printed_is_twice_the_first_order_sum() {
        let j = mat(&[&[-3.0, 2.0], &[1.0, -40.0]]);
        let mask = Mask::rows(vec![false, true]);
        let h = 0.05;
        let i2 = Mat::<f64>::identity(2, 2);
        let hj = Mat::from_fn(2, 2, |i, k| h * j[(i, k)]);
        let inverse = dense::solve((&i2 - &hj).as_ref(), i2.as_ref()).unwrap();
        let h_delta = Mat::from_fn(2, 2, |i, k| if i == 0 { -h * j[(i, k)] } else { 0.0 });
        let printed = trace(&(&inverse * &h_delta * (&i2 - &inverse * (&i2 + &hj)))).abs();
        let p = perturbation(j.as_ref(), &mask, &lie(h)).unwrap();
        assert!((p.d_s - printed).abs() < 1e-15 && printed > 1e-4);
        let delta_j = Mat::from_fn(2, 2, |i, k| -h_delta[(i, k)] / h);
        let schiela =
            crate::analysis::criterion::tests::first_order_sum(i2.as_ref(), j.as_ref(), delta_j.as_ref(), h);
        assert!((p.first_order - schiela.unwrap().abs()).abs() < 1e-15);
    }

    /// The header's counter example to Theorem 4, 2.
    #[test]
    fn d2_is_an_alarm_and_not_the_distance() {
        // R(full) = diag(1/2, 1/3) with h = 1; dropping the coupling gives M = off-diagonal.
        let e = 1e-3;
        let j = mat(&[&[-1.0, e], &[e, -2.0]]);
        let mask = Mask::from_fn(2, |i, k| i == k);
        let p = perturbation(j.as_ref(), &mask, &lie(1.0)).unwrap();
        let (_, rms) = actual(j.as_ref(), &mask, &lie(1.0)).unwrap();
        assert!(p.d2 > 100.0 * rms && rms > 0.0, "d2 = {:e}, actual {rms:e}", p.d2);
    }

    #[test]
    fn bounds_leave_out_slow_modes() {
        let lambda = [c64::new(-1.0, 0.0), c64::new(-900.0, 0.0), c64::new(-0.001, 0.0)];
        let b = bounds(&lambda, &lie(0.01), 0.1);
        assert!((b.c1 - 0.9).abs() < 1e-12 && (b.c2 - 0.81).abs() < 1e-12);
        assert!(bounds(&lambda, &lie(0.01), 0.0).c1 < 2e-5);
        assert_eq!(bounds(&[], &lie(0.01), 0.0).c1, f64::INFINITY);
    }

    #[test]
    fn odd_inputs() {
        let none = perturbation(Mat::zeros(0, 0).as_ref(), &Mask::full(0), &lie(0.1)).unwrap();
        assert_eq!((none.d1, none.d2, none.d_s), (0.0, 0.0, 0.0));
        assert!(perturbation(mat(&[&[f64::NAN]]).as_ref(), &Mask::full(1), &lie(0.1)).is_err());
        assert!(perturbation(mat(&[&[1.0]]).as_ref(), &Mask::full(2), &lie(0.1)).is_err());
    }
}
