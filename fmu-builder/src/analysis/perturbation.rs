//! How far a mask moves the spectrum, without computing it: Extension, Theorem 4 and (2).
//!
//! ```text
//! M   = h ((I - hA)^-1 - (I - hJ)^-1) J                       (11), the change of R
//! d1  = |tr M|                                                Theorem 4, 1
//! d2  = sqrt|tr M²|                                           Theorem 4, 2
//! C1  = min r_i,  r_i = distance of λ_i from the unit circle  (15)
//! ```
//!
//! What to know before trusting them:
//! - tr M *is* Σ(λ~ - λ), exactly and for any mask; Theorem 4 calls it an approximation. It says nothing
//!   about modes that move against each other.
//! - tr M² = Σ(λ~ - λ)² needs M to commute with R: Lemma 2's X^-1 (F + M) X is diagonal up
//!   to O(ε), not O(ε²). For F = diag(1, 2) and M = ε [[0, 1], [1, 0]], tr M² = 2ε² while each eigenvalue
//!   moves by ε². So d2 is an alarm, mostly too loud.
//! - The proof of Lemma 3 takes X real; with complex eigenvalues tr M² sums squares of complex numbers
//!   and may cancel or be negative. Use `acceptance` where modes oscillate.
//! - Algorithm 1, line 12, compares d2² with C1; C1² is meant (13).
//!
//! `tests/papers/` has the first-order measure d_S of (2), which underestimates, and the counter examples.

use super::amplification::amplification;
use super::{Mask, Result};
use crate::method::Step;
use faer::prelude::c64;
use faer::{Mat, MatRef};

/// The measures for one Jacobian and one mask.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Perturbation {
    pub d1: f64,
    pub d2: f64,
}

/// d1 and d2. O(n³), no eigenvalue problem.
pub fn perturbation(j: MatRef<'_, f64>, mask: &Mask, step: &Step) -> Result<Perturbation> {
    let exact = amplification(j, &Mask::full(j.nrows()), step)?; // (I - hJ)^-1
    let m = amplification(j, mask, step)? - &exact;
    Ok(Perturbation { d1: trace(&m).abs(), d2: trace(&(&m * &m)).abs().sqrt() })
}

/// C1: a sum of |λ~ - λ| below it, or of squares below C1², cannot reach the unit circle. (15) over the unmasked method's
/// eigenvalues. Slow modes sit at the circle and would make the bound useless; section 4 of Extension leaves them out: those
/// with |hλ| < `slow` are. Infinite if none is left.
pub fn bound(lambda: &[c64], step: &Step, slow: f64) -> f64 {
    let stiff = lambda.iter().filter(|l| (*l * step.h).norm() >= slow);
    stiff.map(|&l| (1.0 - step.stability(l).norm()).abs()).fold(f64::INFINITY, f64::min)
}

fn trace(a: &Mat<f64>) -> f64 {
    (0..a.nrows()).map(|i| a[(i, i)]).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::dense::{self, tests::mat};
    use crate::method::tests::lie;

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

    #[test]
    fn the_bound_leaves_out_slow_modes() {
        let lambda = [c64::new(-1.0, 0.0), c64::new(-900.0, 0.0), c64::new(-0.001, 0.0)];
        assert!((bound(&lambda, &lie(0.01), 0.1) - 0.9).abs() < 1e-12);
        assert!(bound(&lambda, &lie(0.01), 0.0) < 2e-5);
        assert_eq!(bound(&[], &lie(0.01), 0.0), f64::INFINITY);
    }

    #[test]
    fn odd_inputs() {
        let none = perturbation(Mat::zeros(0, 0).as_ref(), &Mask::full(0), &lie(0.1)).unwrap();
        assert_eq!((none.d1, none.d2), (0.0, 0.0));
        assert!(perturbation(mat(&[&[f64::NAN]]).as_ref(), &Mask::full(1), &lie(0.1)).is_err());
        assert!(perturbation(mat(&[&[1.0]]).as_ref(), &Mask::full(2), &lie(0.1)).is_err());
    }
}
