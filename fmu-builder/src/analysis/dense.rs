//! Eigenvalues, solves and norms of small dense matrices, with every failure an `Err`.
//!
//! States of one model differ by ten orders of magnitude (a pressure in Pa beside a valve
//! position), so a matrix is balanced before its eigenvalues are taken: D^-1 A D with D a
//! diagonal of powers of two, exact in floating point (Parlett & Reinsch, 1969).
//! Cost O(n³), meant for n <= 500.

use super::{Error, Result, schur};
use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::evd::{ComputeEigenvectors, EvdParams, evd_real, evd_scratch};
use faer::linalg::solvers::Solve;
use faer::prelude::c64;
use faer::{Auto, Mat, MatRef, Par, Spec, diag::Diag};

/// All n eigenvalues, in no particular order but the same one each time.
pub fn eigenvalues(a: MatRef<'_, f64>) -> Result<Vec<c64>> {
    check_square(a)?;
    let (b, _) = balance(a);
    match hqr(b.as_ref()) {
        Some(values) if values.iter().all(|z| z.re.is_finite() && z.im.is_finite()) => Ok(values),
        _ => schur::complex_schur(&to_complex(b.as_ref())).map(|s| s.eigenvalues()),
    }
}

/// The double-shift QR algorithm, whatever the size: the multishift one that faer 0.24 prefers from 75 rows
/// on sorts a deflation window until it is sorted, which was never for a step matrix of the 78-state robot
/// (h = 0.5 ms).
fn hqr(a: MatRef<'_, f64>) -> Option<Vec<c64>> {
    let n = a.nrows();
    let mut params = <EvdParams as Auto<f64>>::auto();
    params.schur.blocking_threshold = n + 1;
    let params = Spec::new(params);
    let (mut re, mut im) = (Diag::zeros(n), Diag::zeros(n));
    let scratch = evd_scratch::<f64>(n, ComputeEigenvectors::No, ComputeEigenvectors::No, Par::Seq, params);
    let mut memory = MemBuffer::new(scratch);
    let stack = MemStack::new(&mut memory);
    evd_real(a, re.as_mut(), im.as_mut(), None, None, Par::Seq, stack, params).ok()?;
    let values = re.column_vector().iter().zip(im.column_vector().iter());
    Some(values.map(|(&re, &im)| c64::new(re, im)).collect())
}

/// max |λ|; 0 for the empty matrix.
pub fn spectral_radius(a: MatRef<'_, f64>) -> Result<f64> {
    Ok(eigenvalues(a)?.iter().fold(0.0, |r, z| f64::max(r, z.norm())))
}

/// Spectral norm ‖A‖₂.
pub fn norm2(a: MatRef<'_, f64>) -> Result<f64> {
    check_finite(a)?;
    let values = a.singular_values().map_err(|_| Error::NoConvergence)?;
    Ok(values.first().copied().unwrap_or(0.0))
}

/// A^-1 B by LU with partial pivoting.
pub fn solve(a: MatRef<'_, f64>, b: MatRef<'_, f64>) -> Result<Mat<f64>> {
    check_square(a)?;
    if a.nrows() != b.nrows() {
        return Err(Error::Size { what: "the right side", expected: a.nrows(), found: b.nrows() });
    }
    if a.nrows() == 0 || b.ncols() == 0 {
        return Ok(b.to_owned());
    }
    let lu = a.partial_piv_lu();
    let u = lu.U();
    // A pivot below rounding, relative to its row of U, is a zero that rounding hid.
    for i in 0..u.nrows() {
        let row = (i..u.ncols()).fold(0.0, |m, j| f64::max(m, u[(i, j)].abs()));
        if u[(i, i)].is_nan() || u[(i, i)].abs() <= f64::EPSILON * 1e-3 * row {
            return Err(Error::Singular);
        }
    }
    let x = lu.solve(b);
    check_finite(x.as_ref()).map_err(|_| Error::Singular)?;
    Ok(x)
}

/// D^-1 A D with rows and columns of like size, and the diagonal of D.
pub(crate) fn balance(a: MatRef<'_, f64>) -> (Mat<f64>, Vec<f64>) {
    let n = a.nrows();
    let mut b = a.to_owned();
    let mut d = vec![1.0; n];
    for _ in 0..20 {
        let mut changed = false;
        for i in 0..n {
            let off = |k: usize| k != i;
            let mut c: f64 = (0..n).filter(|&k| off(k)).map(|k| b[(k, i)].abs()).sum();
            let r: f64 = (0..n).filter(|&k| off(k)).map(|k| b[(i, k)].abs()).sum();
            if c == 0.0 || r == 0.0 || !(c + r).is_finite() {
                continue;
            }
            let (before, mut f) = (c + r, 1.0);
            while c < r / 2.0 && f < 1e100 {
                c *= 4.0;
                f *= 2.0;
            }
            while c >= r * 2.0 && f > 1e-100 {
                c /= 4.0;
                f /= 2.0;
            }
            if (c + r) / f < 0.95 * before {
                changed = true;
                d[i] *= f;
                for k in 0..n {
                    b[(k, i)] *= f;
                }
                for k in 0..n {
                    b[(i, k)] /= f;
                }
            }
        }
        if !changed {
            break;
        }
    }
    // Overflow in D would poison everything; an unbalanced matrix only loses digits.
    if check_finite(b.as_ref()).is_err() { (a.to_owned(), vec![1.0; n]) } else { (b, d) }
}

pub(crate) fn to_complex(a: MatRef<'_, f64>) -> Mat<c64> {
    Mat::from_fn(a.nrows(), a.ncols(), |i, j| c64::new(a[(i, j)], 0.0))
}

/// Square and without NaN or infinity.
pub(crate) fn check_square(a: MatRef<'_, f64>) -> Result<()> {
    if a.nrows() != a.ncols() {
        return Err(Error::NotSquare { rows: a.nrows(), cols: a.ncols() });
    }
    check_finite(a)
}

pub(crate) fn check_finite(a: MatRef<'_, f64>) -> Result<()> {
    for j in 0..a.ncols() {
        for i in 0..a.nrows() {
            if !a[(i, j)].is_finite() {
                return Err(Error::NotFinite { row: i, col: j });
            }
        }
    }
    Ok(())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Rows to matrix, for tests.
    pub(crate) fn mat(rows: &[&[f64]]) -> Mat<f64> {
        Mat::from_fn(rows.len(), rows.first().map_or(0, |r| r.len()), |i, j| rows[i][j])
    }

    #[test]
    fn odd_inputs_are_errors_or_empty_never_panics() {
        assert_eq!(eigenvalues(Mat::zeros(0, 0).as_ref()), Ok(vec![]));
        assert_eq!(spectral_radius(Mat::zeros(0, 0).as_ref()), Ok(0.0));
        assert_eq!(norm2(Mat::zeros(0, 0).as_ref()), Ok(0.0));
        assert_eq!(eigenvalues(Mat::zeros(2, 3).as_ref()), Err(Error::NotSquare { rows: 2, cols: 3 }));
        let nan = mat(&[&[1.0, 0.0], &[f64::NAN, 1.0]]);
        assert_eq!(eigenvalues(nan.as_ref()), Err(Error::NotFinite { row: 1, col: 0 }));
        let singular = mat(&[&[1.0, 2.0], &[2.0, 4.0]]);
        assert_eq!(solve(singular.as_ref(), nan.as_ref()).err(), Some(Error::Singular));
    }

    /// Without balancing the small eigenvalue of this similarity of [[-1, 1], [1, -2]] is lost:
    /// its exact eigenvalues do not depend on the scaling s.
    #[test]
    fn balancing_saves_the_digits_of_badly_scaled_states() {
        let s = 2f64.powi(60);
        let a = mat(&[&[-1.0, s], &[1.0 / s, -2.0]]);
        let mut found: Vec<f64> = eigenvalues(a.as_ref()).unwrap().iter().map(|z| z.re).collect();
        found.sort_by(f64::total_cmp);
        let root = 5f64.sqrt() / 2.0;
        assert!((found[0] - (-1.5 - root)).abs() < 1e-14 && (found[1] - (-1.5 + root)).abs() < 1e-14);
    }

    /// Above some 75 rows faer switches to a multishift algorithm; our own Schur form must agree with it.
    #[test]
    fn two_eigenvalue_algorithms_agree_on_large_matrices() {
        let n = 110;
        let a = Mat::from_fn(n, n, |i, k| {
            let x = ((i * 37 + k * 101) % 97) as f64 / 97.0 - 0.5;
            x + if i == k { -(i as f64) } else { 0.0 }
        });
        let faer = eigenvalues(a.as_ref()).unwrap();
        let own = schur::complex_schur(&to_complex(a.as_ref())).unwrap().eigenvalues();
        for z in &faer {
            let gap = own.iter().map(|w| (w - z).norm()).fold(f64::INFINITY, f64::min);
            assert!(gap < 1e-10, "{z} has no partner within {gap:e}");
        }
    }
}
