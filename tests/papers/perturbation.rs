//! How far a mask moves the spectrum: Extension, (2) and Theorem 4, beside the distance itself.
//!
//! (2) as printed, d_S = |tr((I - hJ)^-1 hΔJ (I - (I - hJ)^-1 (I + hJ)))| with ΔJ = A - J, is twice Schiela's (4.50): for the
//! pair (I, I - hJ) the last factor is I - (I - hJ)^-1, while (2) has I + hJ there.

use super::{lie, mat};
use faer::prelude::c64;
use faer::{Mat, MatRef};
use fmu_builder::analysis::acceptance::pairing;
use fmu_builder::analysis::amplification::amplification;
use fmu_builder::analysis::perturbation::perturbation;
use fmu_builder::analysis::{Mask, Result, dense};
use fmu_builder::method::Step;

/// The actual Σ|λ~ - λ| and sqrt Σ|λ~ - λ|², eigenvalues paired as in `acceptance`.
pub fn actual(j: MatRef<'_, f64>, mask: &Mask, step: &Step) -> Result<(f64, f64)> {
    let masked = dense::eigenvalues(amplification(j, mask, step)?.as_ref())?;
    let exact: Vec<c64> = dense::eigenvalues(j)?.iter().map(|&l| step.stability(l)).collect();
    let n = exact.len();
    let distance = Mat::from_fn(n, n, |i, k| (exact[i] - masked[k]).norm());
    let pair = pairing(&distance);
    let moved = (0..n).map(|i| distance[(i, pair[i])]);
    Ok((moved.clone().sum(), moved.map(|d| d * d).sum::<f64>().sqrt()))
}

/// |tr(B^-1 hΔJ (I - B^-1))| with B = I - hJ: Schiela's (4.50) for all dropped entries together.
pub fn first_order(j: &Mat<f64>, mask: &Mask, h: f64) -> f64 {
    let (inverse, h_delta) = parts(j, mask, h);
    let identity = Mat::<f64>::identity(j.nrows(), j.nrows());
    trace(&(&inverse * h_delta * (identity - &inverse))).abs()
}

/// (I - hJ)^-1 and h(A - J).
fn parts(j: &Mat<f64>, mask: &Mask, h: f64) -> (Mat<f64>, Mat<f64>) {
    let n = j.nrows();
    let identity = Mat::<f64>::identity(n, n);
    let b = Mat::from_fn(n, n, |i, k| identity[(i, k)] - h * j[(i, k)]);
    let a = mask.apply(j.as_ref()).unwrap();
    let h_delta = Mat::from_fn(n, n, |i, k| h * (a[(i, k)] - j[(i, k)]));
    (dense::solve(b.as_ref(), identity.as_ref()).unwrap(), h_delta)
}

fn trace(a: &Mat<f64>) -> f64 {
    (0..a.nrows()).map(|i| a[(i, i)]).sum()
}

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

/// The printed (2), term by term, is twice Schiela's (4.50).
#[test]
fn d_s_as_printed_is_twice_the_first_order_sum() {
    let j = mat(&[&[-3.0, 2.0], &[1.0, -40.0]]);
    let (mask, h) = (Mask::rows(vec![false, true]), 0.05);
    let (inverse, h_delta) = parts(&j, &mask, h);
    let identity = Mat::<f64>::identity(2, 2);
    let hj = Mat::from_fn(2, 2, |i, k| h * j[(i, k)]);
    let printed = trace(&(&inverse * &h_delta * (&identity - &inverse * (&identity + &hj)))).abs();
    assert!((2.0 * first_order(&j, &mask, h) - printed).abs() < 1e-15 && printed > 1e-4);
}

/// A counter example to Theorem 4, 2.
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
