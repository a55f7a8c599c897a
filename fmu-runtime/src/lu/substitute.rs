//! The solution of a segment's rows, forward with L and backward with U.

use super::schedule::Segment;
use super::{Number, take};

/// Values and the positions that they multiply, row after row.
pub(super) struct Couplings<'a, T> {
    pub values: &'a [T],
    pub columns: &'a [u32],
}

/// Rows p.. of y: take off what is known, divide by the pivot (a core's rows are not divided).
#[inline]
pub(super) fn forward<T: Number>(
    segment: &Segment,
    outer: Couplings<T>,
    lower: Couplings<T>,
    inverse: &[T],
    y: &mut [T],
    p: usize,
) {
    let rows = p..p + segment.rows as usize;
    let (others, before, slots) = (segment.outer as usize, segment.lower as usize, segment.slots as usize);
    match (others, before) {
        (0, 0) if segment.is_core => {}
        (0, 0) => {
            for (y, &inverse) in y[rows].iter_mut().zip(inverse) {
                *y = *y * inverse;
            }
        }
        (0, 1) if !segment.is_core => {
            let mut values = lower.values;
            for ((p, &k), &inverse) in rows.zip(lower.columns).zip(inverse) {
                y[p] = (y[p] - take(&mut values, slots)[0] * y[k as usize]) * inverse;
            }
        }
        _ => {
            let (mut outer, mut lower) = (outer, lower);
            for (p, &inverse) in rows.zip(inverse) {
                let b = minus(y[p], take(&mut outer.values, others), take(&mut outer.columns, others), y);
                let b = minus(b, take(&mut lower.values, slots), take(&mut lower.columns, before), y);
                y[p] = if segment.is_core { b } else { b * inverse };
            }
        }
    }
}

/// b - sum of values * y\[columns\].
#[inline]
fn minus<T: Number>(b: T, values: &[T], columns: &[u32], y: &[T]) -> T {
    let mut b = b;
    for (&value, &k) in values.iter().zip(columns) {
        b = b - value * y[k as usize];
    }
    b
}

/// The rows of a block, which ends before position p, from the last to the first: take off what U couples them to.
#[inline]
pub(super) fn backward<T: Number>(segments: &[Segment], upper: &[T], columns: &[u32], y: &mut [T], p: usize) {
    let (mut end, mut p) = (upper.len(), p);
    for segment in segments.iter().rev() {
        let rows = p - segment.rows as usize..p;
        p = rows.start;
        let len = segment.upper as usize;
        if len == 0 {
            continue;
        }
        let begin = end - rows.len() * len;
        let (values, columns) = (&upper[begin..end], &columns[begin..end]);
        end = begin;
        if len == 1 {
            for ((p, &u), &j) in rows.zip(values).zip(columns).rev() {
                y[p] = y[p] - u * y[j as usize];
            }
            continue;
        }
        let (mut values, mut columns) = (values, columns);
        for p in rows.rev() {
            let at = values.len() - len;
            y[p] = minus(y[p], &values[at..], &columns[at..], y);
            (values, columns) = (&values[..at], &columns[..at]);
        }
    }
}
