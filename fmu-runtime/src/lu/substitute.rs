//! The solution of a segment's rows, forward with L and backward with U. The unknowns stay in the order of the states.

use super::schedule::Segment;
use super::{Number, take};

/// A segment's rows: take off what is known, divide by the pivot (a core's rows are not divided).
#[inline]
pub(super) fn forward<T: Number>(segment: &Segment, states: &[u32], w: &[T], columns: &[u32], y: &mut [T]) {
    let (slots, left) = (segment.slots as usize, segment.left as usize);
    let (mut w, mut columns) = (w, columns);
    match left {
        _ if segment.is_core => {
            for &state in states {
                let row = take(&mut w, slots);
                y[state as usize] = minus(y[state as usize], row, take(&mut columns, left), y);
            }
        }
        0 => {
            for &state in states {
                y[state as usize] = y[state as usize] * take(&mut w, slots)[0];
            }
        }
        1 => {
            for (&state, &k) in states.iter().zip(columns) {
                let row = take(&mut w, slots);
                y[state as usize] = (y[state as usize] - row[0] * y[k as usize]) * row[1];
            }
        }
        _ => {
            for &state in states {
                let row = take(&mut w, slots);
                let b = minus(y[state as usize], row, take(&mut columns, left), y);
                y[state as usize] = b * row[left];
            }
        }
    }
}

/// b - sum of values * y\[columns\], as many as there are columns.
#[inline]
fn minus<T: Number>(b: T, values: &[T], columns: &[u32], y: &[T]) -> T {
    let mut b = b;
    for (&value, &k) in values.iter().zip(columns) {
        b = b - value * y[k as usize];
    }
    b
}

/// The rows of a block from the last to the first: take off what U couples them to. `upper` and its columns end with the block.
#[inline]
pub(super) fn backward<T: Number>(
    segments: &[Segment],
    states: &[u32],
    upper: &[T],
    columns: &[u32],
    y: &mut [T],
) {
    let (mut states, mut upper, mut columns) = (states, upper, columns);
    for segment in segments.iter().rev() {
        let (rows, len) = (segment.rows as usize, segment.upper as usize);
        let states = take_last(&mut states, rows);
        let mut values = take_last(&mut upper, rows * len);
        let mut columns = take_last(&mut columns, rows * len);
        match len {
            0 => {}
            1 => {
                for ((&state, &u), &j) in states.iter().zip(values).zip(columns).rev() {
                    y[state as usize] = y[state as usize] - u * y[j as usize];
                }
            }
            _ => {
                for &state in states.iter().rev() {
                    let (values, columns) = (take_last(&mut values, len), take_last(&mut columns, len));
                    y[state as usize] = minus(y[state as usize], values, columns, y);
                }
            }
        }
    }
}

/// Split off the last `len` elements.
#[inline]
fn take_last<'a, T>(rest: &mut &'a [T], len: usize) -> &'a [T] {
    let (other, last) = rest.split_at(rest.len() - len);
    *rest = other;
    last
}
