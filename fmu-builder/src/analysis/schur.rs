//! Clusters of eigenvalues and their invariant subspaces: Schiela, section 4.1.
//!
//! ```text
//! J = U T U^H                  complex Schur form, T upper triangular
//! J X_k = X_k T_k              right subspace of cluster k, dimension m_k
//! Y_k^H J = T_k Y_k^H          left subspace
//! Y_k^H X_l = δ_kl I           so that X^-1 J X = diag(T_1 … T_K), X^-1 = (Y_1 … Y_K)^H
//! ```
//!
//! As in Theorem 4.9, X_k is read from a Schur form with the cluster sorted to the top and Y_k
//! from one with it at the bottom; Algorithm 4.1 sorts by Givens rotations and never solves a
//! Sylvester equation. By Theorem 4.10 the blocks are upper triangular. For an ODE the pair
//! (L, L - τDf) is (I, I - hJ), so the plain Schur form of J replaces QZ.
//!
//! A cluster's condition is ‖(Y^H X)^-1‖₂ for orthonormal X, Y: the factor by which a perturbation of J can
//! reach the mean of its eigenvalues. Clusters beyond the limit are merged with their nearest neighbour,
//! because first-order estimates mean nothing there (4.4.1); so are clusters that are no further apart than
//! rounding can move them, n ε ‖J‖ times the condition.
//!
//! Subspaces are orthonormal in balanced coordinates, see `dense`.

use super::{Error, Result, dense};
use faer::linalg::solvers::Solve;
use faer::prelude::c64;
use faer::{Mat, MatRef};

/// Eigenvalues that are treated as one group, and how to project onto them.
#[derive(Debug, Clone)]
pub struct Cluster {
    pub eigenvalues: Vec<c64>,
    /// X_k, n x m.
    pub right: Mat<c64>,
    /// Y_k, n x m, scaled so that Y_k^H X_k = I.
    pub left: Mat<c64>,
    /// T_k, m x m, upper triangular.
    pub block: Mat<c64>,
    pub condition: f64,
}

/// When two eigenvalues belong together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Clustering {
    /// |λ_i - λ_j| <= gap · max(|λ_i|, |λ_j|) joins them.
    pub gap: f64,
    /// Merge clusters whose condition is worse, until one is left.
    pub max_condition: f64,
}

impl Default for Clustering {
    /// Small blocks: "only multiple eigenvalues (or very close eigenvalues)" (4.4.1).
    fn default() -> Self {
        Clustering { gap: 1e-6, max_condition: 1e6 }
    }
}

/// The spectral resolution of J. O(n³) per pass; passes repeat only where clusters merge.
pub fn block_diagonalise(j: MatRef<'_, f64>, rule: Clustering) -> Result<Vec<Cluster>> {
    dense::check_square(j)?;
    let (balanced, d) = dense::balance(j);
    let schur = complex_schur(&dense::to_complex(balanced.as_ref()))?;
    let values = schur.eigenvalues();
    let mut groups = cluster(&values, rule.gap);
    let noise = values.len() as f64 * f64::EPSILON * schur.t.norm_l2();
    let mut done: Vec<Option<Cluster>> = vec![None; groups.len()];
    loop {
        for (group, slot) in groups.iter().zip(&mut done) {
            if slot.is_none() {
                *slot = Some(resolve(&schur, group)?);
            }
        }
        // The nearest neighbour and its distance; the lowest index wins a tie.
        let nearest = |k: usize| {
            let gap = |l: usize| {
                let pairs = groups[k].iter().flat_map(|&a| groups[l].iter().map(move |&b| (a, b)));
                pairs.map(|(a, b)| (values[a] - values[b]).norm()).fold(f64::INFINITY, f64::min)
            };
            let others = (0..groups.len()).filter(|&l| l != k).map(|l| (l, gap(l)));
            others.min_by(|a, b| a.1.total_cmp(&b.1))
        };
        let merged = done.iter().enumerate().find_map(|(k, slot)| {
            let condition = slot.as_ref().map_or(f64::INFINITY, |c| c.condition);
            let (l, gap) = nearest(k)?;
            // Rounding moves eigenvalues by so much: nearer ones have no subspaces of their own.
            let is_told_apart = gap > noise * condition && condition <= rule.max_condition;
            (!is_told_apart).then_some((k, l))
        });
        let Some((k, l)) = merged else { break };
        let (keep, gone) = (k.min(l), k.max(l));
        let moved = groups.remove(gone);
        done.remove(gone);
        groups[keep].extend(moved);
        groups[keep].sort_unstable();
        done[keep] = None;
    }
    Ok(done.into_iter().flatten().map(|c| unbalance(c, &d)).collect())
}

/// J = U T U^H.
#[derive(Debug, Clone)]
pub struct Schur {
    pub u: Mat<c64>,
    pub t: Mat<c64>,
}

impl Schur {
    pub fn eigenvalues(&self) -> Vec<c64> {
        (0..self.t.nrows()).map(|i| self.t[(i, i)]).collect()
    }

    /// Algorithm 4.1: bring the flagged diagonal elements to the top, order kept within
    /// flagged and unflagged ones.
    pub fn sort_to_top(&mut self, flag: &[bool]) {
        let chosen = flag.iter().take(self.t.nrows()).enumerate().filter(|f| *f.1);
        for (top, (i, _)) in chosen.enumerate() {
            (top..i).rev().for_each(|k| self.swap(k));
        }
    }

    /// Exchange diagonal elements k and k + 1: rotate the eigenvector of the lower one,
    /// (t_{k,k+1}, t_{k+1,k+1} - t_kk), into e_k. (4.15)-(4.18) with B = I.
    fn swap(&mut self, k: usize) {
        let n = self.t.nrows();
        let (t11, t22) = (self.t[(k, k)], self.t[(k + 1, k + 1)]);
        let g = Givens::to_first(self.t[(k, k + 1)], t22 - t11);
        g.rows(&mut self.t, k, k..n);
        g.columns(&mut self.t, k, 0..k + 2);
        g.columns(&mut self.u, k, 0..n);
        self.t[(k, k)] = t22;
        self.t[(k + 1, k + 1)] = t11;
        self.t[(k + 1, k)] = c64::ZERO;
    }
}

/// Hessenberg reduction by Householder reflections, then single-shift QR with Wilkinson shifts
/// (Golub & Van Loan, 7.5, 7.4). faer offers eigenvalues but no ordered Schur form.
pub fn complex_schur(a: &Mat<c64>) -> Result<Schur> {
    let n = a.nrows();
    if n != a.ncols() {
        return Err(Error::NotSquare { rows: n, cols: a.ncols() });
    }
    let mut s = Schur { u: Mat::identity(n, n), t: a.clone() };
    hessenberg(&mut s);
    let tiny = f64::MIN_POSITIVE / f64::EPSILON;
    let (mut hi, mut tries) = (n, 0);
    while hi > 1 {
        let last = hi - 1;
        let mut lo = last;
        while lo > 0 {
            let scale = s.t[(lo - 1, lo - 1)].norm() + s.t[(lo, lo)].norm();
            if s.t[(lo, lo - 1)].norm() <= f64::EPSILON * scale + tiny {
                s.t[(lo, lo - 1)] = c64::ZERO;
                break;
            }
            lo -= 1;
        }
        if lo == last {
            hi -= 1;
            tries = 0;
            continue;
        }
        tries += 1;
        if tries > 300 {
            return Err(Error::NoConvergence);
        }
        let shift = if tries % 10 == 0 {
            s.t[(last, last)] + s.t[(last, last - 1)].norm() // break a cycle
        } else {
            wilkinson(&s.t, last)
        };
        let (mut x, mut y) = (s.t[(lo, lo)] - shift, s.t[(lo + 1, lo)]);
        for k in lo..last {
            let g = Givens::to_first(x, y);
            g.rows(&mut s.t, k, k.saturating_sub(1).max(lo)..n);
            g.columns(&mut s.t, k, 0..(k + 3).min(hi));
            g.columns(&mut s.u, k, 0..n);
            if k > lo {
                s.t[(k + 1, k - 1)] = c64::ZERO;
            }
            if k + 2 < hi {
                (x, y) = (s.t[(k + 1, k)], s.t[(k + 2, k)]);
            }
        }
    }
    for j in 0..n {
        for i in j + 1..n {
            s.t[(i, j)] = c64::ZERO;
        }
    }
    Ok(s)
}

fn hessenberg(s: &mut Schur) {
    let n = s.t.nrows();
    for k in 0..n.saturating_sub(2) {
        let norm = (k + 1..n).map(|i| s.t[(i, k)].norm_sqr()).sum::<f64>().sqrt();
        if norm == 0.0 {
            continue;
        }
        let head = s.t[(k + 1, k)];
        let phase = if head.norm() == 0.0 { c64::ONE } else { head / head.norm() };
        let mut v: Vec<c64> = (k + 1..n).map(|i| s.t[(i, k)]).collect();
        v[0] += phase * norm;
        let length = v.iter().map(|z| z.norm_sqr()).sum::<f64>().sqrt();
        v.iter_mut().for_each(|z| *z /= length);
        for j in 0..n {
            let w: c64 = v.iter().enumerate().map(|(r, z)| z.conj() * s.t[(k + 1 + r, j)]).sum();
            for (r, z) in v.iter().enumerate() {
                s.t[(k + 1 + r, j)] -= 2.0 * z * w;
            }
        }
        for m in [&mut s.t, &mut s.u] {
            for i in 0..n {
                let w: c64 = v.iter().enumerate().map(|(r, z)| m[(i, k + 1 + r)] * z).sum();
                for (r, z) in v.iter().enumerate() {
                    m[(i, k + 1 + r)] -= 2.0 * w * z.conj();
                }
            }
        }
        for i in k + 2..n {
            s.t[(i, k)] = c64::ZERO;
        }
    }
}

/// The eigenvalue of the trailing 2 x 2 block that is nearer to its last element.
fn wilkinson(t: &Mat<c64>, last: usize) -> c64 {
    let (a, b) = (t[(last - 1, last - 1)], t[(last - 1, last)]);
    let (c, d) = (t[(last, last - 1)], t[(last, last)]);
    let half = (a - d) / 2.0;
    let root = (half * half + b * c).sqrt();
    let far = if (half + root).norm() > (half - root).norm() { half + root } else { half - root };
    if far.norm() == 0.0 { d } else { d - b * c / far }
}

/// [[c, s], [-s̄, c]] with c real.
struct Givens {
    c: f64,
    s: c64,
}

impl Givens {
    /// The rotation that takes (x, y) to (r, 0).
    fn to_first(x: c64, y: c64) -> Givens {
        let (nx, ny) = (x.norm(), y.norm());
        let r = nx.hypot(ny);
        if ny == 0.0 || !r.is_finite() {
            return Givens { c: 1.0, s: c64::ZERO };
        }
        if nx == 0.0 {
            return Givens { c: 0.0, s: y.conj() / ny };
        }
        Givens { c: nx / r, s: (x / nx) * (y.conj() / r) }
    }

    /// Rows k, k + 1 from the left.
    fn rows(&self, m: &mut Mat<c64>, k: usize, columns: std::ops::Range<usize>) {
        for j in columns {
            let (x, y) = (m[(k, j)], m[(k + 1, j)]);
            m[(k, j)] = x * self.c + self.s * y;
            m[(k + 1, j)] = y * self.c - self.s.conj() * x;
        }
    }

    /// Columns k, k + 1 from the right, conjugate transposed.
    fn columns(&self, m: &mut Mat<c64>, k: usize, rows: std::ops::Range<usize>) {
        for i in rows {
            let (x, y) = (m[(i, k)], m[(i, k + 1)]);
            m[(i, k)] = x * self.c + self.s.conj() * y;
            m[(i, k + 1)] = y * self.c - self.s * x;
        }
    }
}

/// Single linkage; groups and members in ascending index.
fn cluster(values: &[c64], gap: f64) -> Vec<Vec<usize>> {
    let n = values.len();
    let mut label: Vec<usize> = (0..n).collect();
    for i in 0..n {
        for j in 0..i {
            let near = gap * values[i].norm().max(values[j].norm());
            if label[i] != label[j] && (values[i] - values[j]).norm() <= near {
                let (old, new) = (label[i].max(label[j]), label[i].min(label[j]));
                label.iter_mut().filter(|l| **l == old).for_each(|l| *l = new);
            }
        }
    }
    (0..n).filter(|&k| label[k] == k).map(|k| (0..n).filter(|&i| label[i] == k).collect()).collect()
}

/// X from the form with the group on top, Y from the one with it at the bottom.
fn resolve(schur: &Schur, group: &[usize]) -> Result<Cluster> {
    let (n, m) = (schur.t.nrows(), group.len());
    let mut flag = vec![false; n];
    group.iter().for_each(|&i| flag[i] = true);
    let mut top = schur.clone();
    top.sort_to_top(&flag);
    let mut bottom = schur.clone();
    bottom.sort_to_top(&flag.iter().map(|f| !f).collect::<Vec<_>>());
    let x = top.u.subcols(0, m).to_owned();
    let y = bottom.u.subcols(n - m, m).to_owned();
    let w = y.adjoint() * &x;
    let inverse = w.partial_piv_lu().solve(Mat::<c64>::identity(m, m));
    let finite = inverse.col_iter().all(|c| c.iter().all(|z| z.norm().is_finite()));
    let condition = if finite {
        inverse.singular_values().map_err(|_| Error::NoConvergence)?.first().copied().unwrap_or(1.0)
    } else {
        f64::INFINITY
    };
    Ok(Cluster {
        eigenvalues: group.iter().map(|&i| schur.t[(i, i)]).collect(),
        block: top.t.submatrix(0, 0, m, m).to_owned(),
        left: &y * inverse.adjoint(),
        right: x,
        condition,
    })
}

/// From D^-1 J D back to J.
fn unbalance(mut c: Cluster, d: &[f64]) -> Cluster {
    for (i, &d) in d.iter().enumerate() {
        for l in 0..c.right.ncols() {
            c.right[(i, l)] *= d;
            c.left[(i, l)] /= d;
        }
    }
    c
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::dense::tests::mat;
    use proptest::prelude::*;

    /// ‖X diag(T_k) Y^H - J‖ in balanced coordinates, in which rounding is small, and ‖Y^H X - I‖; largest
    /// entries.
    fn residuals(j: &Mat<f64>, clusters: &[Cluster]) -> (f64, f64) {
        let n = j.nrows();
        let mut sum = Mat::<c64>::zeros(n, n);
        for c in clusters {
            sum += &c.right * &c.block * c.left.adjoint();
        }
        let (_, d) = dense::balance(j.as_ref());
        let mut rebuild: f64 = 0.0;
        for i in 0..n {
            for k in 0..n {
                rebuild = rebuild.max((sum[(i, k)] - j[(i, k)]).norm() * d[k] / d[i]);
            }
        }
        let mut duality: f64 = 0.0;
        for (k, a) in clusters.iter().enumerate() {
            for (l, b) in clusters.iter().enumerate() {
                let p = a.left.adjoint() * &b.right;
                for r in 0..p.nrows() {
                    for s in 0..p.ncols() {
                        let one = if k == l && r == s { 1.0 } else { 0.0 };
                        duality = duality.max((p[(r, s)] - one).norm());
                    }
                }
            }
        }
        (rebuild, duality)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(60))]

        /// Theorem 4.9: X^-1 J X = diag(blocks), for any matrix, clusters merged or not.
        #[test]
        fn block_diagonalisation_rebuilds_the_matrix(
            n in 1usize..9, entries in prop::collection::vec(-3.0..3.0f64, 64), zeros in 0u64..u64::MAX
        ) {
            let j = Mat::from_fn(n, n, |i, k| {
                let e = i * 8 + k;
                if zeros >> e & 1 == 1 { 0.0 } else { entries[e] }
            });
            let clusters = block_diagonalise(j.as_ref(), Clustering::default()).unwrap();
            prop_assert_eq!(clusters.iter().map(|c| c.eigenvalues.len()).sum::<usize>(), n);
            let worst = clusters.iter().fold(1.0, |m, c| f64::max(m, c.condition));
            let (rebuild, duality) = residuals(&j, &clusters);
            // Rounding moves X and Y by the condition, and Y is scaled by it.
            let rounding = 1e-12 * worst * worst;
            prop_assert!(rebuild < rounding, "rebuilt to {rebuild:e}, condition {worst:e}");
            prop_assert!(duality < rounding, "Y^H X - I is {duality:e}, condition {worst:e}");
            for c in &clusters {
                for l in 0..c.block.nrows() {
                    for k in 0..l {
                        prop_assert_eq!(c.block[(l, k)], c64::ZERO); // Theorem 4.10
                    }
                }
            }
        }
    }

    /// Three eigenvalues 0, which rounding leaves at 0 and at 1e-17: one cluster, whose subspace is that of
    /// 0, not three that contradict each other.
    #[test]
    fn zeros_that_rounding_split_are_one_cluster() {
        let mut j = Mat::<f64>::zeros(6, 6);
        for (i, k, value) in [
            (1, 1, 0.5932917058469055),
            (1, 4, 0.4730225914852184),
            (2, 4, 0.5060299020821625),
            (4, 0, -0.23461492870594408),
            (4, 2, -0.9522116350146617),
            (5, 4, -0.2394775757977687),
        ] {
            j[(i, k)] = value;
        }
        let clusters = block_diagonalise(j.as_ref(), Clustering::default()).unwrap();
        assert_eq!(clusters.iter().map(|c| c.eigenvalues.len()).max(), Some(3));
        let (rebuild, duality) = residuals(&j, &clusters);
        assert!(rebuild < 1e-14 && duality < 1e-14, "{rebuild:e} {duality:e}");
    }

    /// A Jordan block has no second eigenvector: its eigenvalues must end in one cluster although rounding
    /// drives them apart (by eps^(1/4) = 1e-4), while the distant -100 stays alone. Turned by rotations, so
    /// that neither the pattern nor balancing gives it away.
    #[test]
    fn a_defective_eigenvalue_is_one_cluster() {
        let mut j = Mat::<f64>::zeros(5, 5);
        for i in 0..4 {
            j[(i, i)] = -1.0;
            if i < 3 {
                j[(i, i + 1)] = 1.0;
            }
        }
        (j[(4, 4)], j[(4, 0)]) = (-100.0, 3.0);
        for k in [0, 2, 1, 3, 0, 1, 2] {
            let (s, c) = (0.7 + k as f64).sin_cos();
            let mut g = Mat::<f64>::identity(5, 5);
            (g[(k, k)], g[(k, k + 1)], g[(k + 1, k)], g[(k + 1, k + 1)]) = (c, s, -s, c);
            j = &g * &j * g.transpose();
        }
        let values = dense::eigenvalues(j.as_ref()).unwrap();
        let spread = values.iter().filter(|l| l.re > -2.0).map(|l| (l + 1.0).norm()).fold(0.0, f64::max);
        assert!(spread > 1e-5, "rounding split the eigenvalue by {spread:e} only: the test tests nothing");
        let clusters = block_diagonalise(j.as_ref(), Clustering::default()).unwrap();
        let mut sizes: Vec<usize> = clusters.iter().map(|c| c.eigenvalues.len()).collect();
        sizes.sort_unstable();
        assert_eq!(sizes, [1, 4]);
        let (rebuild, duality) = residuals(&j, &clusters);
        assert!(rebuild < 1e-11 && duality < 1e-11, "{rebuild:e} {duality:e}");
    }

    #[test]
    fn algorithm_4_1_puts_any_choice_on_top() {
        let j = mat(&[
            &[-1.0, 2.0, 0.5, 0.1],
            &[-2.0, -1.0, 0.3, 0.7],
            &[0.2, 0.0, -5.0, 1.0],
            &[0.0, 0.4, -1.0, -9.0],
        ]);
        let start = complex_schur(&dense::to_complex(j.as_ref())).unwrap();
        for choice in 0u32..16 {
            let flag: Vec<bool> = (0..4).map(|i| choice >> i & 1 == 1).collect();
            let mut s = start.clone();
            s.sort_to_top(&flag);
            let before = start.eigenvalues();
            let wanted = (0..4).filter(|&i| flag[i]).chain((0..4).filter(|&i| !flag[i]));
            for (k, i) in wanted.enumerate() {
                assert!((s.t[(k, k)] - before[i]).norm() < 1e-13);
            }
            let back = &s.u * &s.t * s.u.adjoint();
            for i in 0..4 {
                for k in 0..4 {
                    assert!((back[(i, k)] - j[(i, k)]).norm() < 1e-13);
                }
            }
        }
    }

    #[test]
    fn nothing_in_nothing_out() {
        assert!(block_diagonalise(Mat::zeros(0, 0).as_ref(), Clustering::default()).unwrap().is_empty());
        assert!(block_diagonalise(mat(&[&[f64::NAN]]).as_ref(), Clustering::default()).is_err());
    }
}
