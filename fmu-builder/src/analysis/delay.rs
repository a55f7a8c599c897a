//! Delay of information: solve blocks apart and let them see each other's last value. Gustafsson, section 6.
//!
//! Couplings of the step's matrix A are set to zero, A~ = A + UCV, and x <- x - A~^-1 F(x) is
//! iterated on F(x) = Ax + b. The error is multiplied by
//!
//! ```text
//! I - A~^-1 A = A~^-1 (A~ - A) = A^-1 U (C^-1 + V A^-1 U)^-1 V            (104)
//! ```
//!
//! (the second equality is Woodbury's), and the iteration contracts if its norm is below 1, (105). That is
//! sufficient; necessary and sufficient is a spectral radius below 1. The norm depends on the units of the
//! states, the radius does not, so both are given. Neither form inverts A: A~ is enough.
//!
//! The coupled pendulums (106)-(112) in closed form, m = 1:
//!
//! ```text
//! norm  (116) = k (1 + h²) / (1 + h² (g/L + k)),   below 1 exactly for k < 1 + h² g/L
//! radius      = k h²       / (1 + h² (g/L + k)),   below 1 for every k >= 0
//! ```
//!
//! So Figure 26's reference line is where a single iteration may enlarge an error measured in the mixed norm
//! of positions, velocities and accelerations; repeated, it converges above the line too. The printed
//! residual F_Δ has k(x_A - x_B) with the sign opposite to (110) and (112); V = k(e7, e5) cancels the
//! couplings only with the sign of (110), which is used. U and V are 8 x 2 and 2 x 8, not 7.

use super::{Error, Result, dense};
use faer::{Mat, MatRef};

/// How an iteration between blocks behaves.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contraction {
    /// (105): each iteration shrinks the 2-norm of the error at least by this factor.
    pub norm: f64,
    /// The factor in the long run; converges exactly if below 1.
    pub radius: f64,
}

/// Contraction when the entries `dropped` of the system matrix `a` use the last iterate.
pub fn contraction(a: MatRef<'_, f64>, dropped: &[(usize, usize)]) -> Result<Contraction> {
    dense::check_square(a)?;
    let n = a.nrows();
    let mut split = a.to_owned();
    let mut change = Mat::<f64>::zeros(n, n);
    for &(i, j) in dropped {
        if i >= n || j >= n {
            return Err(Error::Size { what: "a dropped entry's index", expected: n, found: i.max(j) });
        }
        split[(i, j)] = 0.0;
        change[(i, j)] = -a[(i, j)];
    }
    let error = dense::solve(split.as_ref(), change.as_ref())?;
    Ok(Contraction { norm: dense::norm2(error.as_ref())?, radius: dense::spectral_radius(error.as_ref())? })
}

/// Contraction for one implicit step, I - hJ, with all couplings between different blocks delayed;
/// `block[i]` is the block of state i.
pub fn between_blocks(j: MatRef<'_, f64>, h: f64, block: &[usize]) -> Result<Contraction> {
    super::check_step(h)?;
    dense::check_square(j)?;
    let n = j.nrows();
    if block.len() != n {
        return Err(Error::Size { what: "the block of each state", expected: n, found: block.len() });
    }
    let a = Mat::from_fn(n, n, |i, k| if i == k { 1.0 } else { 0.0 } - h * j[(i, k)]);
    let dropped: Vec<(usize, usize)> =
        (0..n).flat_map(|i| (0..n).map(move |k| (i, k))).filter(|&(i, k)| block[i] != block[k]).collect();
    contraction(a.as_ref(), &dropped)
}

#[cfg(test)]
mod tests {
    use super::*;

    const G_OVER_L: f64 = 9.81;

    /// (116) and the spectral radius for two pendulums coupled by a spring k, cut apart.
    fn coupled_pendulums(k: f64, h: f64, g_over_l: f64) -> Contraction {
        let d = 1.0 + h * h * (g_over_l + k);
        Contraction { norm: k * (1.0 + h * h) / d, radius: k * h * h / d }
    }

    /// The spring constant at which (116) is 1: Figure 26's crossing.
    fn critical_spring(h: f64, g_over_l: f64) -> f64 {
        1.0 + h * h * g_over_l
    }

    /// F'_Δ for (ẋA, ẏA, ẋB, ẏB, xA, yA, xB, yB), rows as in Gustafsson's F_Δ, sign of k as in (110), (112).
    fn pendulum_matrix(k: f64, h: f64) -> Mat<f64> {
        let mut a = Mat::<f64>::zeros(8, 8);
        let (dxa, dya, dxb, dyb, xa, ya, xb, yb) = (0, 1, 2, 3, 4, 5, 6, 7);
        for (row, col, value) in [
            (0, dxa, 1.0),
            (0, ya, -1.0),
            (1, dya, 1.0),
            (1, xa, G_OVER_L + k),
            (1, xb, -k),
            (2, dxa, h),
            (2, xa, -1.0),
            (3, dya, h),
            (3, ya, -1.0),
            (4, dxb, 1.0),
            (4, yb, -1.0),
            (5, dyb, 1.0),
            (5, xb, G_OVER_L + k),
            (5, xa, -k),
            (6, dxb, h),
            (6, xb, -1.0),
            (7, dyb, h),
            (7, yb, -1.0),
        ] {
            a[(row, col)] = value;
        }
        a
    }

    /// (116) literally: ‖A^-1 U (C^-1 + V A^-1 U)^-1 V‖ with U = (e2, e6), C = I, V = k (e7, e5).
    fn woodbury(k: f64, h: f64) -> f64 {
        let a = pendulum_matrix(k, h);
        let mut u = Mat::<f64>::zeros(8, 2);
        (u[(1, 0)], u[(5, 1)]) = (1.0, 1.0);
        let mut v = Mat::<f64>::zeros(2, 8);
        (v[(0, 6)], v[(1, 4)]) = (k, k);
        let au = dense::solve(a.as_ref(), u.as_ref()).unwrap();
        let inner = Mat::<f64>::identity(2, 2) + &v * &au;
        let right = dense::solve(inner.as_ref(), v.as_ref()).unwrap();
        dense::norm2((&au * right).as_ref()).unwrap()
    }

    /// Gustafsson, (116): the printed expression, the general function and the closed form are one.
    #[test]
    fn bound_116_three_ways() {
        for h in [0.5, 0.1, 0.01, 0.001] {
            for k in [0.01, 0.5, 1.0, 3.0, 50.0] {
                let closed = coupled_pendulums(k, h, G_OVER_L);
                let general = contraction(pendulum_matrix(k, h).as_ref(), &[(1, 6), (5, 4)]).unwrap();
                assert!((general.norm - closed.norm).abs() < 1e-12 * (1.0 + closed.norm), "h = {h}, k = {k}");
                assert!(
                    (woodbury(k, h) - closed.norm).abs() < 1e-9 * (1.0 + closed.norm),
                    "h = {h}, k = {k}"
                );
                assert!(
                    (general.radius - closed.radius).abs() < 1e-7,
                    "{} {}",
                    general.radius,
                    closed.radius
                );
            }
        }
    }

    /// Gustafsson, Figure 26: below the reference value the pendulums can be decoupled, and "when the spring
    /// constant is small enough" is k < 1 + h² g/L.
    #[test]
    fn bound_116_crosses_one_at_the_critical_spring() {
        for h in [0.5, 0.1, 0.01, 0.001] {
            let k = critical_spring(h, G_OVER_L);
            assert!(woodbury(0.999 * k, h) < 1.0 && woodbury(1.001 * k, h) > 1.0, "h = {h}");
        }
    }

    /// Below the crossing every iteration shrinks the error; above it some iteration enlarges one. It
    /// converges on both sides: the bound is sufficient, not necessary.
    #[test]
    fn decoupled_iteration_contracts_below_and_not_above() {
        for h in [0.5, 0.1] {
            let critical = critical_spring(h, G_OVER_L);
            for (k, contracts) in [(0.9 * critical, true), (1.1 * critical, false)] {
                let a = pendulum_matrix(k, h);
                let mut split = a.clone();
                (split[(1, 6)], split[(5, 4)]) = (0.0, 0.0);
                let mut worst: f64 = 0.0;
                for start in 0..8 {
                    let mut e = Mat::from_fn(8, 1, |i, _| if i == start { 1.0 } else { 0.0 });
                    for _ in 0..60 {
                        let next = &e - dense::solve(split.as_ref(), (&a * &e).as_ref()).unwrap();
                        if e.norm_l2() > 1e-12 {
                            worst = worst.max(next.norm_l2() / e.norm_l2());
                        }
                        e = next;
                    }
                    assert!(e.norm_l2() < 1e-9, "h = {h}, k = {k}: {}", e.norm_l2());
                }
                assert_eq!(worst < 1.0, contracts, "h = {h}, k = {k}: factor {worst}");
            }
        }
    }

    /// Two stiffly coupled states: block Jacobi diverges where the coupling beats the diagonal.
    #[test]
    fn divergence_is_seen() {
        let j = |c: f64| Mat::from_fn(2, 2, |i, k| if i == k { -1.0 } else { c });
        assert!(between_blocks(j(0.5).as_ref(), 1.0, &[0, 1]).unwrap().radius < 1.0);
        let strong = between_blocks(j(5.0).as_ref(), 1.0, &[0, 1]).unwrap();
        assert!((strong.radius - 2.5).abs() < 1e-12);
        assert_eq!(between_blocks(j(5.0).as_ref(), 1.0, &[3, 3]).unwrap().norm, 0.0);
    }

    #[test]
    fn odd_inputs() {
        assert_eq!(
            contraction(Mat::zeros(0, 0).as_ref(), &[]).unwrap(),
            Contraction { norm: 0.0, radius: 0.0 }
        );
        assert!(contraction(Mat::identity(2, 2).as_ref(), &[(0, 2)]).is_err());
        assert_eq!(contraction(Mat::identity(2, 2).as_ref(), &[(0, 0)]).err(), Some(Error::Singular));
        assert!(between_blocks(Mat::identity(2, 2).as_ref(), 0.1, &[0]).is_err());
    }
}
