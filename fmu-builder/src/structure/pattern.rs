//! A square sparse pattern by rows: entry (i, j) says that derivative i may depend on state j.
//!
//! Entries are numbered row by row, columns ascending; masks and value vectors elsewhere are aligned
//! with that numbering.

/// Whether an entry's value can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variation {
    Constant,
    Varying,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pattern {
    n: usize,
    start: Vec<u32>,
    cols: Vec<u32>,
    variation: Vec<Variation>,
}

impl Pattern {
    /// From entries (row, column, variation) in any order; of entries for one place the varying one wins.
    ///
    /// # Panics
    /// When a row or column is not below `n`.
    pub fn new(n: usize, entries: impl IntoIterator<Item = (usize, usize, Variation)>) -> Pattern {
        let mut entries: Vec<_> = entries.into_iter().collect();
        for &(row, col, _) in &entries {
            assert!(row < n && col < n, "entry ({row}, {col}) in a pattern of {n} rows");
        }
        // Varying entries first, so that they survive.
        entries.sort_unstable_by_key(|&(row, col, variation)| (row, col, variation == Variation::Constant));
        entries.dedup_by_key(|&mut (row, col, _)| (row, col));
        let mut start = vec![0; n + 1];
        for &(row, ..) in &entries {
            start[row + 1] += 1;
        }
        for i in 0..n {
            start[i + 1] += start[i];
        }
        let cols = entries.iter().map(|&(_, col, _)| col as u32).collect();
        let variation = entries.iter().map(|&(.., variation)| variation).collect();
        Pattern { n, start, cols, variation }
    }

    /// All entries varying.
    pub fn varying(n: usize, entries: impl IntoIterator<Item = (usize, usize)>) -> Pattern {
        Pattern::new(n, entries.into_iter().map(|(row, col)| (row, col, Variation::Varying)))
    }

    /// Number of rows, and of columns.
    pub fn n(&self) -> usize {
        self.n
    }

    /// Number of entries.
    pub fn len(&self) -> usize {
        self.cols.len()
    }

    pub fn is_empty(&self) -> bool {
        self.cols.is_empty()
    }

    /// The columns of a row, ascending.
    pub fn row(&self, row: usize) -> &[u32] {
        &self.cols[self.range(row)]
    }

    /// The entries of a row.
    pub fn range(&self, row: usize) -> std::ops::Range<usize> {
        self.start[row] as usize..self.start[row + 1] as usize
    }

    pub fn col(&self, entry: usize) -> usize {
        self.cols[entry] as usize
    }

    pub fn variation(&self, entry: usize) -> Variation {
        self.variation[entry]
    }

    /// The entry at a place.
    pub fn find(&self, row: usize, col: usize) -> Option<usize> {
        self.row(row).binary_search(&(col as u32)).ok().map(|i| self.start[row] as usize + i)
    }

    /// (row, column) of every entry, in their order.
    pub fn places(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.n).flat_map(move |row| self.row(row).iter().map(move |&col| (row, col as usize)))
    }

    /// The row of every entry.
    pub fn rows(&self) -> Vec<u32> {
        self.places().map(|(row, _)| row as u32).collect()
    }

    pub fn transpose(&self) -> Pattern {
        let entries = self.places().zip(&self.variation).map(|((row, col), &v)| (col, row, v));
        Pattern::new(self.n, entries)
    }

    /// The pattern with `order[p]` as row and column p.
    #[cfg(test)]
    pub fn permute(&self, order: &[u32]) -> Pattern {
        let mut position = vec![0; self.n];
        for (p, &state) in order.iter().enumerate() {
            position[state as usize] = p;
        }
        let place = |(row, col): (usize, usize)| (position[row], position[col]);
        let entries = self.places().zip(&self.variation).map(|(at, &v)| (place(at).0, place(at).1, v));
        Pattern::new(self.n, entries)
    }

    /// The entries that `keep` marks.
    pub fn mask(&self, keep: &[bool]) -> Pattern {
        let entries = self.places().zip(&self.variation).zip(keep).filter(|&(_, &keep)| keep);
        Pattern::new(self.n, entries.map(|(((row, col), &v), _)| (row, col, v)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use Variation::{Constant, Varying};

    #[test]
    fn entries_are_sorted_and_the_varying_one_wins() {
        let p = Pattern::new(3, [(2, 0, Constant), (0, 1, Constant), (2, 0, Varying), (0, 0, Constant)]);
        assert_eq!(p.places().collect::<Vec<_>>(), [(0, 0), (0, 1), (2, 0)]);
        assert_eq!(p.variation(2), Varying);
        assert_eq!((p.find(2, 0), p.find(1, 1)), (Some(2), None));
        assert_eq!(p.rows(), [0, 0, 2]);
    }

    #[test]
    fn permute_moves_rows_and_columns_together() {
        let p = Pattern::varying(3, [(0, 1), (2, 2)]);
        assert_eq!(p.permute(&[2, 0, 1]).places().collect::<Vec<_>>(), [(0, 0), (1, 2)]);
        assert_eq!(p.transpose().places().collect::<Vec<_>>(), [(1, 0), (2, 2)]);
        assert_eq!(p.mask(&[false, true]).places().collect::<Vec<_>>(), [(2, 2)]);
    }
}
