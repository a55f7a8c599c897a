//! The substitution of a run of rows. The unknowns stay in the order of the states.

use super::solution::MANY;
use super::{Number, take};

/// Rows of so many columns: take off what is known. With `DIVIDE` the reciprocal pivot follows the values of a row, to be
/// multiplied with.
///
/// What most rows of most models have, has a loop of its own.
#[inline(always)]
pub(super) fn substitute<T: Number, const DIVIDE: bool>(
    columns: usize,
    rows: &[u32],
    values: &[T],
    y: &mut [T],
) {
    match columns {
        0 => {
            for &[state, at] in rows.as_chunks().0 {
                row::<T, DIVIDE>(state, at, &[], values, y);
            }
        }
        1 => {
            for &[state, at, i] in rows.as_chunks().0 {
                row::<T, DIVIDE>(state, at, &[i], values, y);
            }
        }
        2 => {
            for &[state, at, i, j] in rows.as_chunks().0 {
                row::<T, DIVIDE>(state, at, &[i, j], values, y);
            }
        }
        3 => {
            for &[state, at, i, j, k] in rows.as_chunks().0 {
                row::<T, DIVIDE>(state, at, &[i, j, k], values, y);
            }
        }
        MANY.. => {
            let mut rows = rows;
            while let Some((&[columns, state, at], rest)) = rows.split_first_chunk() {
                rows = rest;
                row::<T, DIVIDE>(state, at, take(&mut rows, columns as usize), values, y);
            }
        }
    }
}

/// One row, whose values start at `at`.
#[inline(always)]
fn row<T: Number, const DIVIDE: bool>(state: u32, at: u32, columns: &[u32], values: &[T], y: &mut [T]) {
    let (state, at, len) = (state as usize, at as usize, columns.len());
    let values = &values[at..at + len + usize::from(DIVIDE)];
    let mut b = y[state];
    for (&value, &k) in values.iter().zip(columns) {
        b = b - value * y[k as usize];
    }
    y[state] = if DIVIDE { b * values[len] } else { b };
}
