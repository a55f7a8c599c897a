//! What dropping single entries costs where no eigenvalue shows it.
//!
//! With A in place of J a step differs from the full one by
//!
//! ```text
//! (I - hA)^-1 h f - (I - hJ)^-1 h f = (I - hA)^-1 h (A - J) (I - hJ)^-1 h f,     about h² (A - J) x'
//! ```
//!
//! so that derivative i seems to be off by g_i = h Σ J_ik x_k', the sum over the dropped entries of row i.
//! Where the whole row is dropped, that is h x_i'' (as far as time does not enter), what any method of first
//! order owes. Where a part is dropped of terms that cancel, as in a stiff spring c (φ - q) with both ends in
//! motion, it is h c φ': many times more. The eigenvalues of R may be right all the same; the spring's torque
//! is not.
//!
//! Hence the rule: no row is left worse than if it were explicit, |Σ_dropped J_ik x_k'| <= max |x_i''| over
//! the samples. A row that is damped by J_ii < 0 forgets: g_i moves its state by g_i / |J_ii| and no further,
//! and that much may be granted besides. [`Drift::repair`] puts entries back, the largest term first, until
//! it holds.

use faer::Mat;

/// The terms J_ik x_k' of every row at every sample.
#[derive(Debug, Clone, Default)]
pub struct Drift {
    rows: Vec<Row>,
}

#[derive(Debug, Clone, Default)]
struct Row {
    columns: Vec<usize>,
    /// By sample, then by column.
    terms: Vec<Vec<f64>>,
    /// Largest |x_i''|, or what the grant allows.
    limit: f64,
}

impl Drift {
    /// From Jacobians and derivatives at the same points. `grants` has for each state by how much it may be
    /// moved.
    pub fn new(samples: &[Mat<f64>], rates: &[Vec<f64>], h: f64, grants: &[f64]) -> Drift {
        let n = samples.first().map_or(0, Mat::nrows);
        let pairs = || samples.iter().zip(rates).filter(|(j, rate)| j.nrows() == n && rate.len() == n);
        let row = |i: usize| {
            let columns: Vec<usize> = (0..n).filter(|&k| pairs().any(|(j, _)| j[(i, k)] != 0.0)).collect();
            let terms: Vec<Vec<f64>> =
                pairs().map(|(j, rate)| columns.iter().map(|&k| j[(i, k)] * rate[k]).collect()).collect();
            let second = terms.iter().map(|terms| terms.iter().sum::<f64>().abs()).fold(0.0, f64::max);
            let damping = pairs().map(|(j, _)| -j[(i, i)]).fold(f64::INFINITY, f64::min);
            let granted = grants.get(i).map_or(0.0, |grant| grant * damping / h);
            let limit = if granted.is_finite() { second.max(granted) } else { second };
            Row { columns, terms, limit }
        };
        Drift { rows: (0..n).map(row).collect() }
    }

    /// Add to a structure what its rows need. A row without kept entries is explicit and needs nothing.
    pub fn repair(&self, keeps: impl Fn((usize, usize)) -> bool, mut add: impl FnMut((usize, usize))) {
        for (i, row) in self.rows.iter().enumerate() {
            let mut dropped: Vec<usize> =
                (0..row.columns.len()).filter(|&c| !keeps((i, row.columns[c]))).collect();
            if dropped.len() == row.columns.len() {
                continue;
            }
            while row.off(&dropped) > row.limit * (1.0 + 1e-9) {
                let Some(at) =
                    (0..dropped.len()).max_by(|&a, &b| row.size(dropped[a]).total_cmp(&row.size(dropped[b])))
                else {
                    break;
                };
                add((i, row.columns[dropped.swap_remove(at)]));
            }
        }
    }
}

impl Row {
    fn off(&self, dropped: &[usize]) -> f64 {
        let sums = self.terms.iter().map(|terms| dropped.iter().map(|&c| terms[c]).sum::<f64>().abs());
        sums.fold(0.0, f64::max)
    }

    fn size(&self, column: usize) -> f64 {
        self.terms.iter().map(|terms| terms[column].abs()).fold(0.0, f64::max)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::dense::tests::mat;

    fn repaired(drift: &Drift, kept: &[(usize, usize)]) -> Vec<(usize, usize)> {
        let mut found = kept.to_vec();
        drift.repair(|e| kept.contains(&e), |e| found.push(e));
        found.sort_unstable();
        found
    }

    /// v' = c (φ - q) - b v with both ends moving alike: one end of the spring alone must not go, both may,
    /// and so may the row.
    #[test]
    fn ends_of_a_spring_stay_together() {
        let (c, b) = (1e6, 500.0);
        // States q, φ, v; q' = φ' = 1, v' = 0.1.
        let drift = Drift::new(
            &[mat(&[&[0.0, 0.0, 1.0], &[0.0, 0.0, 1.0], &[-c, c, -b]])],
            &[vec![1.0, 1.0, 0.1]],
            1e-3,
            &[],
        );
        assert_eq!(repaired(&drift, &[(2, 2), (2, 0)]), [(2, 0), (2, 1), (2, 2)]);
        assert_eq!(repaired(&drift, &[(2, 2), (2, 1)]), [(2, 0), (2, 1), (2, 2)]);
        assert_eq!(repaired(&drift, &[(2, 2)]), [(2, 2)]);
        assert_eq!(repaired(&drift, &[(2, 0), (2, 1)]), [(2, 0), (2, 1)]);
        assert_eq!(repaired(&drift, &[]), []);
    }

    /// A filter T x' = u - w - x whose inputs move alike: one alone moves x by h u', so it may go where that
    /// is granted.
    #[test]
    fn a_damped_row_may_be_moved_by_what_is_granted() {
        let (t, h) = (2e-4, 1e-3);
        let filter = mat(&[&[0.0, 0.0, 0.0], &[0.0, 0.0, 0.0], &[1.0 / t, -1.0 / t, -1.0 / t]]);
        let rates = vec![5.0, 5.0, 0.0];
        let drift = |grant: f64| {
            Drift::new(std::slice::from_ref(&filter), std::slice::from_ref(&rates), h, &[0.0, 0.0, grant])
        };
        assert_eq!(repaired(&drift(0.99 * h * 5.0), &[(2, 0), (2, 2)]), [(2, 0), (2, 1), (2, 2)]);
        assert_eq!(repaired(&drift(1.01 * h * 5.0), &[(2, 0), (2, 2)]), [(2, 0), (2, 2)]);
    }

    /// The formula of the header: for small h the step's deviation is h² (A - J) x' to third order.
    #[test]
    fn the_deviation_is_second_order_with_this_constant() {
        let j = [[-3.0, 2.0], [1.0, -4.0]];
        let a = [[-3.0, 0.0], [1.0, -4.0]];
        let f = [0.7, -0.4];
        let step = |a: [[f64; 2]; 2], h: f64| {
            let w = [[1.0 - h * a[0][0], -h * a[0][1]], [-h * a[1][0], 1.0 - h * a[1][1]]];
            let det = w[0][0] * w[1][1] - w[0][1] * w[1][0];
            [(w[1][1] * f[0] - w[0][1] * f[1]) * h / det, (w[0][0] * f[1] - w[1][0] * f[0]) * h / det]
        };
        for h in [1e-2, 1e-3] {
            let (masked, full) = (step(a, h), step(j, h));
            let predicted = h * h * (a[0][1] - j[0][1]) * f[1];
            assert!((masked[0] - full[0] - predicted).abs() < 20.0 * h * h * h, "h = {h}");
        }
    }
}
