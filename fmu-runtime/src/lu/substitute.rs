//! The solution of a segment's rows, forward with L and backward with U. The unknowns stay in the order of the states.

use super::schedule::Layout;
use super::{Number, take};

/// Rows: take off what is known, divide by the pivot.
#[inline]
pub(super) fn forward<T: Number>(layout: &Layout, states: &[u32], w: &[T], columns: &[u32], y: &mut [T]) {
    let (slots, left) = (layout.slots as usize, layout.left as usize);
    let (mut w, mut columns) = (w, columns);
    match left {
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

/// Rows of a core: take off what is known; the core does the rest.
#[inline]
pub(super) fn reduce<T: Number>(layout: &Layout, states: &[u32], w: &[T], columns: &[u32], y: &mut [T]) {
    let (mut w, mut columns) = (w, columns);
    for &state in states {
        let row = take(&mut w, layout.slots as usize);
        y[state as usize] = minus(y[state as usize], row, take(&mut columns, layout.left as usize), y);
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

/// Rows from the last to the first: take off what U couples them to.
#[inline]
pub(super) fn backward<T: Number>(
    layout: &Layout,
    states: &[u32],
    upper: &[T],
    columns: &[u32],
    y: &mut [T],
) {
    let (mut upper, mut columns) = (upper, columns);
    match layout.upper as usize {
        1 => {
            for ((&state, &u), &j) in states.iter().zip(upper).zip(columns).rev() {
                y[state as usize] = y[state as usize] - u * y[j as usize];
            }
        }
        len => {
            for &state in states.iter().rev() {
                let (values, columns) = (take_last(&mut upper, len), take_last(&mut columns, len));
                y[state as usize] = minus(y[state as usize], values, columns, y);
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
