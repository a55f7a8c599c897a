//! Which entries of the Jacobian are kept in A = M∘J.
//!
//! An explicit row keeps nothing: its state moves by h f alone (mixed mode, 004 (23)-(31)).
//! An implicit row keeps all its entries, or those of a sparsing (000, chapter 4).
//!
//! Stored as n flags, and n² more only once single entries are dropped: fine to n = 500,
//! and `large` needs only the flags.

use super::{Error, Result};
use faer::{Mat, MatRef};

/// The 0/1 matrix M.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    implicit: Vec<bool>,
    /// Row-major n x n; `None` keeps every entry of an implicit row.
    entries: Option<Vec<bool>>,
}

impl Mask {
    /// Keep everything: the unsparsed method.
    pub fn full(n: usize) -> Self {
        Self::rows(vec![true; n])
    }

    /// Keep nothing: explicit Euler.
    pub fn explicit(n: usize) -> Self {
        Self::rows(vec![false; n])
    }

    /// Mixed mode: `true` makes a row implicit.
    pub fn rows(implicit: Vec<bool>) -> Self {
        Mask { implicit, entries: None }
    }

    /// Keep entry (i, j) where `keep` says so; a row that keeps nothing is explicit.
    pub fn from_fn(n: usize, mut keep: impl FnMut(usize, usize) -> bool) -> Self {
        let entries: Vec<bool> = (0..n * n).map(|k| keep(k / n, k % n)).collect();
        let implicit = (0..n).map(|i| entries[i * n..(i + 1) * n].contains(&true)).collect();
        Mask { implicit, entries: Some(entries) }
    }

    pub fn n(&self) -> usize {
        self.implicit.len()
    }

    /// False outside the matrix.
    pub fn keeps(&self, i: usize, j: usize) -> bool {
        let n = self.n();
        i < n && j < n && self.implicit[i] && self.entries.as_ref().is_none_or(|e| e[i * n + j])
    }

    /// Rows with at least one kept entry.
    pub fn implicit_rows(&self) -> &[bool] {
        &self.implicit
    }

    /// Entries of `j` that are kept and not zero.
    pub fn kept_nonzeros(&self, j: MatRef<'_, f64>) -> usize {
        let n = self.n();
        let nonzero = |i, k| self.keeps(i, k) && i < j.nrows() && k < j.ncols() && j[(i, k)] != 0.0;
        (0..n).map(|i| (0..n).filter(|&k| nonzero(i, k)).count()).sum()
    }

    /// Kept by either. Both masks must have one size.
    pub fn union(&self, other: &Mask) -> Result<Mask> {
        check(self, other.n())?;
        Ok(Mask::from_fn(self.n(), |i, j| self.keeps(i, j) || other.keeps(i, j)))
    }

    /// A = M∘J.
    pub fn apply(&self, j: MatRef<'_, f64>) -> Result<Mat<f64>> {
        super::dense::check_square(j)?;
        check(self, j.nrows())?;
        Ok(Mat::from_fn(self.n(), self.n(), |i, k| if self.keeps(i, k) { j[(i, k)] } else { 0.0 }))
    }
}

fn check(mask: &Mask, expected: usize) -> Result<()> {
    if mask.n() == expected {
        Ok(())
    } else {
        Err(Error::Size { what: "the mask", expected, found: mask.n() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_row_of_a_sparsing_is_explicit() {
        let mask = Mask::from_fn(3, |i, j| i != 1 && i == j);
        assert_eq!(mask.implicit_rows(), [true, false, true]);
        assert!(mask.keeps(0, 0) && !mask.keeps(0, 1) && !mask.keeps(1, 1) && !mask.keeps(3, 3));
        assert_eq!(mask.kept_nonzeros(Mat::identity(3, 3).as_ref()), 2);
    }

    #[test]
    fn sizes_are_checked_and_zero_is_a_size() {
        assert_eq!(Mask::full(0).apply(Mat::zeros(0, 0).as_ref()).map(|a| a.nrows()), Ok(0));
        assert!(Mask::full(2).apply(Mat::zeros(3, 3).as_ref()).is_err());
        assert!(Mask::full(2).union(&Mask::full(3)).is_err());
        assert_eq!(Mask::from_fn(0, |_, _| true), Mask::from_fn(0, |_, _| false));
    }
}
