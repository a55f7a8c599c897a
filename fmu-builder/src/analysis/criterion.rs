//! What dropping one entry of A does to a cluster of discrete eigenvalues: Schiela, section 4.3.
//!
//! For the pair (I, I - hJ) and cluster k with X_k, Y_k, T_k from `schur`:
//!
//! ```text
//! B_k = I - hT_k,   U = B_k^-1 Y_k^H (4.52),   V = X_k (I - B_k^-1) (4.53)
//! Σ_cluster (λ~ - λ) ≈ tr(U h ΔJ_ij V) = h J_ij Σ_l U_li V_jl          (4.50), (4.54)-(4.56)
//! ```
//!
//! This is the criterion of linearly implicit Euler. For other methods, whose stages solve with the same
//! matrices, it serves to put the entries in order; whether a mask is good enough `acceptance` says with the
//! method's own map.
//!
//! c_ij^(k) is its absolute value. O(n³) once, then O(m) for each entry and cluster.
//!
//! Sign: Schiela perturbs the pair by +τΔJ with J = Df - ΔJ, so dropping an entry means ΔJ_ij = +Df_ij;
//! (4.55) prints -τDf_ij. Under |.| nobody sees it; here the sign is kept, since it
//! tells which way the mode moves. For the scalar λ it gives -(hλ)²/(1 - hλ)², and the
//! true change is -(hλ)²/(1 - hλ).

use super::schur::{Clustering, block_diagonalise};
use super::{Error, Result, check_step};
use crate::method::Step;
use faer::prelude::c64;
use faer::{Mat, MatRef};

/// First-order change of each cluster's eigenvalue sum, for each entry.
#[derive(Debug, Clone)]
pub struct Criterion {
    /// Nonzero entries of J, by rows.
    pub entries: Vec<(usize, usize)>,
    pub clusters: Vec<ClusterChange>,
}

#[derive(Debug, Clone)]
pub struct ClusterChange {
    /// λ of J.
    pub continuous: Vec<c64>,
    /// The unmasked method's eigenvalues.
    pub discrete: Vec<c64>,
    /// Σ (λ~ - λ) over the cluster when entry e is dropped; |.| is c_ij^(k).
    pub change: Vec<c64>,
    /// Of the cluster's subspace; the estimate is worth less as this grows.
    pub condition: f64,
}

/// Evaluate (4.56) for every nonzero entry of J and every cluster.
pub fn criterion(j: MatRef<'_, f64>, step: &Step, rule: Clustering) -> Result<Criterion> {
    let h = step.h;
    check_step(h)?;
    let n = j.nrows();
    let clusters = block_diagonalise(j, rule)?;
    let entries: Vec<(usize, usize)> =
        (0..n).flat_map(|i| (0..n).map(move |k| (i, k))).filter(|&e| j[e] != 0.0).collect();
    let mut changes = Vec::with_capacity(clusters.len());
    for c in clusters {
        let m = c.block.nrows();
        let b = Mat::from_fn(m, m, |r, s| if r == s { c64::ONE } else { c64::ZERO } - c.block[(r, s)] * h);
        let u = solve_upper(&b, c.left.adjoint().to_owned())?;
        let inverse = solve_upper(&b, Mat::identity(m, m))?;
        let v = &c.right * (Mat::<c64>::identity(m, m) - inverse);
        let trace = |i: usize, k: usize| (0..m).map(|l| u[(l, i)] * v[(k, l)]).sum::<c64>();
        changes.push(ClusterChange {
            discrete: c.eigenvalues.iter().map(|&l| step.stability(l)).collect(),
            continuous: c.eigenvalues,
            change: entries.iter().map(|&(i, k)| trace(i, k) * (h * j[(i, k)])).collect(),
            condition: c.condition,
        });
    }
    Ok(Criterion { entries, clusters: changes })
}

/// B^-1 C for upper triangular B.
fn solve_upper(b: &Mat<c64>, mut c: Mat<c64>) -> Result<Mat<c64>> {
    let m = b.nrows();
    for i in (0..m).rev() {
        if b[(i, i)].norm() == 0.0 {
            return Err(Error::Singular);
        }
        for k in 0..c.ncols() {
            let rest: c64 = (i + 1..m).map(|l| b[(i, l)] * c[(l, k)]).sum();
            c[(i, k)] = (c[(i, k)] - rest) / b[(i, i)];
        }
    }
    Ok(c)
}

#[cfg(test)]
pub mod tests {
    use super::*;
    use crate::analysis::dense::{self, tests::mat};
    use crate::method::tests::lie;
    use proptest::prelude::*;

    /// (4.50) for a whole pair, with a mass matrix L and any ΔJ:
    /// Σ (λ~ - λ) ≈ tr(B^-1 E (I - B^-1 L)), B = L - τDf, E = τΔJ.
    pub fn first_order_sum(
        l: MatRef<'_, f64>,
        df: MatRef<'_, f64>,
        delta_j: MatRef<'_, f64>,
        tau: f64,
    ) -> Result<f64> {
        let (b, e) = pair(l, df, delta_j, tau)?;
        let left = dense::solve(b.as_ref(), e.as_ref())?;
        let right = Mat::<f64>::identity(l.nrows(), l.nrows()) - dense::solve(b.as_ref(), l)?;
        let product = &left * &right;
        Ok((0..l.nrows()).map(|i| product[(i, i)]).sum())
    }

    /// Eigenvalues of the pair (L + τΔJ, L - τDf + τΔJ), (4.3).
    pub fn pair_eigenvalues(
        l: MatRef<'_, f64>,
        df: MatRef<'_, f64>,
        delta_j: MatRef<'_, f64>,
        tau: f64,
    ) -> Result<Vec<c64>> {
        let (b, e) = pair(l, df, delta_j, tau)?;
        dense::eigenvalues(dense::solve((&b + &e).as_ref(), (l + &e).as_ref())?.as_ref())
    }

    /// (L - τDf, τΔJ), sizes checked.
    fn pair(
        l: MatRef<'_, f64>,
        df: MatRef<'_, f64>,
        delta_j: MatRef<'_, f64>,
        tau: f64,
    ) -> Result<(Mat<f64>, Mat<f64>)> {
        check_step(tau)?;
        for m in [l, df, delta_j] {
            dense::check_square(m)?;
            if m.nrows() != l.nrows() {
                return Err(Error::Size {
                    what: "a matrix of the pair",
                    expected: l.nrows(),
                    found: m.nrows(),
                });
            }
        }
        let n = l.nrows();
        let b = Mat::from_fn(n, n, |i, k| l[(i, k)] - tau * df[(i, k)]);
        Ok((b, Mat::from_fn(n, n, |i, k| tau * delta_j[(i, k)])))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]

        /// Keep (1 - ε) of one entry: each cluster's mean moves by ε times the criterion, up to O(ε²).
        /// A central difference leaves O(ε³) of the curvature.
        #[test]
        fn criterion_is_the_derivative_of_the_eigenvalue(
            off in prop::collection::vec(-1.0..1.0f64, 16), which in 0usize..16, h in 0.01..0.5f64
        ) {
            // Diagonal dominance separates the eigenvalues: four clusters of one.
            let j = Mat::from_fn(4, 4, |i, k| if i == k { -4.0 * (i as f64 + 1.0) } else { off[4 * i + k] });
            let (row, col) = (which / 4, which % 4);
            prop_assume!(j[(row, col)] != 0.0);
            let found = criterion(j.as_ref(), &lie(h), Clustering::default()).unwrap();
            let e = found.entries.iter().position(|&e| e == (row, col)).unwrap();
            let eps = 1e-4;
            let identity = Mat::<f64>::identity(4, 4);
            let moved = |eps: f64| {
                let mut delta = Mat::<f64>::zeros(4, 4);
                delta[(row, col)] = eps * j[(row, col)];
                pair_eigenvalues(identity.as_ref(), j.as_ref(), delta.as_ref(), h).unwrap()
            };
            let (plus, minus) = (moved(eps), moved(-eps));
            for c in &found.clusters {
                prop_assert_eq!(c.discrete.len(), 1);
                let near = |set: &[c64]| {
                    *set.iter().min_by(|a, b| (*a - c.discrete[0]).norm().total_cmp(&(*b - c.discrete[0]).norm())).unwrap()
                };
                let slope = (near(&plus) - near(&minus)) / (2.0 * eps);
                prop_assert!((slope - c.change[e]).norm() < 1e-6, "{slope} is not {}", c.change[e]);
            }
        }
    }

    /// Scalar: the estimate is -(hλ)²/(1-hλ)², and (4.50) agrees with (4.56).
    #[test]
    fn scalar_case_in_closed_form() {
        let (lambda, h) = (-3.0, 0.25);
        let j = mat(&[&[lambda]]);
        let found = criterion(j.as_ref(), &lie(h), Clustering::default()).unwrap();
        let z: f64 = h * lambda;
        let wanted = -(z * z) / (1.0 - z).powi(2);
        assert!((found.clusters[0].change[0] - wanted).norm() < 1e-15);
        let one = mat(&[&[1.0]]);
        let sum = first_order_sum(one.as_ref(), j.as_ref(), j.as_ref(), h).unwrap();
        assert!((sum - wanted).abs() < 1e-15);
    }

    /// Schiela, counter example (4.1): ε couples an algebraic variable to x1. However small ε is, the system
    /// is (4.2) with γ in place of α, and dropping the entry ε changes the discrete eigenvalue by
    /// O(1): magnitude says nothing about importance. The criterion, by contrast, does not depend on ε.
    #[test]
    fn counter_example_4_1_small_entries_matter() {
        let (alpha, beta, gamma, tau) = (-1.0, -2.0, -50.0, 0.1);
        let l = mat(&[&[1.0, 0.0, 0.0], &[0.0, 1.0, 0.0], &[0.0, 0.0, 0.0]]);
        for eps in [1e-1, 1e-4, 1e-7] {
            let df = mat(&[&[alpha, 0.0, eps], &[0.0, beta, 0.0], &[eps, 0.0, eps * eps / (alpha - gamma)]]);
            let none = Mat::<f64>::zeros(3, 3);
            let sorted = |delta: &Mat<f64>| {
                let mut v = pair_eigenvalues(l.as_ref(), df.as_ref(), delta.as_ref(), tau).unwrap();
                assert!(v.iter().all(|z| z.im.abs() < 1e-9));
                v.sort_by(|a, b| a.re.total_cmp(&b.re));
                v.iter().map(|z| z.re).collect::<Vec<_>>()
            };
            // 0 for the algebraic variable, then γ and β of (4.2), never α.
            let before = sorted(&none);
            let wanted = [0.0, 1.0 / (1.0 - tau * gamma), 1.0 / (1.0 - tau * beta)];
            for (b, w) in before.iter().zip(wanted) {
                assert!((b - w).abs() < 1e-9, "ε = {eps}: {before:?} is not {wanted:?}");
            }
            let mut drop = none.clone();
            drop[(0, 2)] = eps;
            // By hand: x1 (1 - τα) = x1_old + τεx3_old with x3 = -(α - γ) x1 / ε. Unstable.
            let after = sorted(&drop)[0];
            let wanted = (1.0 - tau * (alpha - gamma)) / (1.0 - tau * alpha);
            assert!(wanted < -3.5 && (after - wanted).abs() < 1e-9, "ε = {eps}: {after} is not {wanted}");
            // By hand: tr = τ²γ(α - γ)/(1 - τγ)².
            let c = first_order_sum(l.as_ref(), df.as_ref(), drop.as_ref(), tau).unwrap();
            let wanted = tau * tau * gamma * (alpha - gamma) / (1.0 - tau * gamma).powi(2);
            assert!((c - wanted).abs() < 1e-9, "ε = {eps}: criterion {c} is not {wanted}");
        }
    }

    /// 4.4.2: scaling the states does not change the criterion.
    #[test]
    fn criterion_is_invariant_under_scaling() {
        let j = mat(&[&[-2.0, 0.5, 0.1], &[0.3, -30.0, 4.0], &[0.0, -4.0, -30.0]]);
        let d = [1.0, 1e5, 1e-3];
        let scaled = Mat::from_fn(3, 3, |i, k| j[(i, k)] * d[k] / d[i]);
        let a = criterion(j.as_ref(), &lie(0.1), Clustering::default()).unwrap();
        let b = criterion(scaled.as_ref(), &lie(0.1), Clustering::default()).unwrap();
        assert_eq!(a.entries, b.entries);
        for c in &a.clusters {
            let key = |x: &&ClusterChange| (x.discrete[0] - c.discrete[0]).norm();
            let twin = b.clusters.iter().min_by(|x, y| key(x).total_cmp(&key(y))).unwrap();
            for (x, y) in c.change.iter().zip(&twin.change) {
                assert!((x - y).norm() < 1e-12, "{x} became {y}");
            }
        }
    }

    #[test]
    fn odd_inputs() {
        assert!(
            criterion(Mat::zeros(0, 0).as_ref(), &lie(0.1), Clustering::default())
                .unwrap()
                .entries
                .is_empty()
        );
        assert!(criterion(mat(&[&[f64::NAN]]).as_ref(), &lie(0.1), Clustering::default()).is_err());
        let zero = Mat::<f64>::zeros(2, 2);
        assert!(criterion(zero.as_ref(), &lie(0.1), Clustering::default()).unwrap().entries.is_empty());
        assert!(pair_eigenvalues(zero.as_ref(), zero.as_ref(), mat(&[&[1.0]]).as_ref(), 0.1).is_err());
    }
}
