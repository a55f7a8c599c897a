//! Which entries of the Jacobian are kept in A = M∘J.
//!
//! An explicit row keeps nothing: its state moves by h f alone (mixed mode: Gustafsson, (23)-(31)).
//! An implicit row keeps all its entries, or those of a sparsing (Schiela, chapter 4).
//!
//! Stored as one flag per row and, once single entries are dropped, the columns that each row keeps: as large
//! as what is kept.

use super::{Error, Result};
use crate::structure::Pattern;
use faer::{Mat, MatRef};

/// Entries that are kept, row by row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mask {
    implicit: Vec<bool>,
    /// Ascending; `None`: implicit rows keep everything.
    columns: Option<Vec<Vec<u32>>>,
}

impl Mask {
    /// All rows implicit, nothing dropped.
    pub fn full(n: usize) -> Self {
        Self::rows(vec![true; n])
    }

    /// All rows explicit.
    pub fn explicit(n: usize) -> Self {
        Self::rows(vec![false; n])
    }

    /// Row i is implicit, whole, where the flag is set.
    pub fn rows(implicit: Vec<bool>) -> Self {
        Mask { implicit, columns: None }
    }

    /// Entry (i, j) is kept where `keep` says so. A row that keeps nothing is explicit.
    pub fn from_fn(n: usize, mut keep: impl FnMut(usize, usize) -> bool) -> Self {
        let columns = (0..n).map(|i| (0..n).filter(|&j| keep(i, j)).map(|j| j as u32).collect());
        Self::with_columns(columns.collect())
    }

    /// The entries of a pattern that are flagged.
    pub fn of(pattern: &Pattern, kept: &[bool]) -> Self {
        let columns = (0..pattern.n()).map(|row| {
            let entries = pattern.range(row).filter(|&entry| kept[entry]);
            entries.map(|entry| pattern.col(entry) as u32).collect()
        });
        let whole = |row: usize| pattern.range(row).all(|e| kept[e]) || !pattern.range(row).any(|e| kept[e]);
        let mask = Self::with_columns(columns.collect());
        if (0..pattern.n()).all(whole) { Self::rows(mask.implicit) } else { mask }
    }

    fn with_columns(columns: Vec<Vec<u32>>) -> Self {
        let implicit = columns.iter().map(|row| !row.is_empty()).collect();
        Mask { implicit, columns: Some(columns) }
    }

    /// Flags for the entries of a pattern.
    pub fn kept(&self, pattern: &Pattern) -> Vec<bool> {
        pattern.places().map(|(row, col)| self.keeps(row, col)).collect()
    }

    /// Number of states.
    pub fn n(&self) -> usize {
        self.implicit.len()
    }

    /// Is entry (i, j) in A?
    pub fn keeps(&self, i: usize, j: usize) -> bool {
        i < self.n()
            && j < self.n()
            && self.implicit[i]
            && self.columns.as_ref().is_none_or(|rows| rows[i].binary_search(&(j as u32)).is_ok())
    }

    /// Rows that keep something.
    pub fn implicit_rows(&self) -> &[bool] {
        &self.implicit
    }

    /// Nothing is dropped. (A mask of single entries that happens to keep all of a pattern's is not known
    /// to.)
    pub fn is_full(&self) -> bool {
        self.columns.is_none() && self.implicit.iter().all(|&row| row)
    }

    /// A = M∘J.
    pub fn apply(&self, j: MatRef<'_, f64>) -> Result<Mat<f64>> {
        super::dense::check_square(j)?;
        if self.n() != j.nrows() {
            return Err(Error::Size { what: "the mask", expected: j.nrows(), found: self.n() });
        }
        let mut a = Mat::zeros(self.n(), self.n());
        for i in (0..self.n()).filter(|&i| self.implicit[i]) {
            match &self.columns {
                Some(rows) => rows[i].iter().for_each(|&k| a[(i, k as usize)] = j[(i, k as usize)]),
                None => (0..self.n()).for_each(|k| a[(i, k)] = j[(i, k)]),
            }
        }
        Ok(a)
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
        let a = mask.apply(Mat::identity(3, 3).as_ref()).unwrap();
        assert_eq!((a[(0, 0)], a[(1, 1)], a[(2, 2)]), (1.0, 0.0, 1.0));
    }

    #[test]
    fn sizes_are_checked_and_zero_is_a_size() {
        assert_eq!(Mask::full(0).apply(Mat::zeros(0, 0).as_ref()).map(|a| a.nrows()), Ok(0));
        assert!(Mask::full(2).apply(Mat::zeros(3, 3).as_ref()).is_err());
        assert_eq!(Mask::from_fn(0, |_, _| true), Mask::from_fn(0, |_, _| false));
    }

    /// Whole rows are the same mask, whichever way they are named.
    #[test]
    fn a_mask_of_a_pattern_knows_whole_rows() {
        let pattern = Pattern::varying(2, [(0, 0), (0, 1), (1, 1)]);
        assert_eq!(Mask::of(&pattern, &[true, true, false]), Mask::rows(vec![true, false]));
        let part = Mask::of(&pattern, &[true, false, true]);
        assert!(!part.is_full() && part.keeps(0, 0) && !part.keeps(0, 1));
        assert_eq!(part.kept(&pattern), [true, false, true]);
        assert!(Mask::of(&pattern, &[true; 3]).is_full());
    }
}
