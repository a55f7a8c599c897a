//! A block's dense core: balancing, LU with partial pivoting, and its solution. Matrices are stored by columns.

use super::schedule::Core;
use super::{MIN_PIVOT_RATIO, Number, larger, subtract};

/// Sweeps of balancing; each one halves the distance in orders of magnitude, or better.
const SWEEPS: usize = 8;

/// Operations of balancing a core of this size.
pub(super) fn balancing(size: u64) -> u64 {
    SWEEPS as u64 * size * (2 * size.saturating_sub(1) + 1)
}

/// The cores of all blocks, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Cores<T> {
    matrices: Vec<T>,
    /// For each row: its reciprocal pivot, the row that was swapped with it.
    inverse: Vec<T>,
    swaps: Vec<u32>,
    /// What one core's pivots are compared with, or its unknowns.
    buffer: Vec<T>,
}

impl<T: Number> Cores<T> {
    pub fn new(sizes: impl Iterator<Item = usize> + Clone) -> Cores<T> {
        let rows = sizes.clone().sum();
        let zeros = |len: usize| vec![T::from(0.0); len];
        Cores {
            matrices: zeros(sizes.clone().map(|size| size * size).sum()),
            inverse: zeros(rows),
            swaps: vec![0; rows],
            buffer: zeros(sizes.max().unwrap_or(0)),
        }
    }

    /// From this row of a core on: the magnitudes of the diagonals that pivots are compared with, and the matrix.
    pub fn rows(&mut self, core: &Core, row: usize) -> (&mut [T], &mut [T]) {
        (&mut self.buffer[row..], &mut self.matrices[core.matrix()][row..])
    }

    /// Rows of all cores together.
    pub fn rows_of_all(&self) -> usize {
        self.swaps.len()
    }

    /// Once all rows are there. `scales` are the magnitudes of all cores' states. Fails with the row that has no pivot.
    #[inline(never)]
    pub fn factor(&mut self, core: &Core, is_balanced: bool, scales: &mut [T]) -> Result<(), usize> {
        let (a, rows) = (&mut self.matrices[core.matrix()], core.torn());
        let scales = &mut scales[rows.clone()];
        if !is_balanced {
            balance(a, scales);
        }
        let weights = &mut self.buffer[..rows.len()];
        factor(a, scales, weights, &mut self.swaps[rows.clone()], &mut self.inverse[rows])
    }

    /// The core's unknowns are those of `states` in y.
    #[inline(never)]
    pub fn solve(&mut self, core: &Core, states: &[u32], y: &mut [T]) {
        let x = &mut self.buffer[..states.len()];
        for (x, &state) in x.iter_mut().zip(states) {
            *x = y[state as usize];
        }
        let (a, rows) = (&self.matrices[core.matrix()], core.torn());
        let (swaps, inverse) = (&self.swaps[rows.clone()], &self.inverse[rows]);
        // For the sizes that most cores have, the compiler writes the loops out.
        match core.size as usize {
            1 => solve(1, a, swaps, inverse, x),
            2 => solve(2, a, swaps, inverse, x),
            3 => solve(3, a, swaps, inverse, x),
            4 => solve(4, a, swaps, inverse, x),
            5 => solve(5, a, swaps, inverse, x),
            6 => solve(6, a, swaps, inverse, x),
            7 => solve(7, a, swaps, inverse, x),
            size => solve(size, a, swaps, inverse, x),
        }
        for (&x, &state) in x.iter().zip(states) {
            y[state as usize] = x;
        }
    }
}

/// Osborne's balancing of a core (by columns): magnitudes of the states for which the largest
/// off-diagonal entry of each row and of its column agree. Without it, the states' units would decide
/// which pivot is large.
fn balance<T: Number>(a: &[T], scales: &mut [T]) {
    let (t, zero) = (scales.len(), T::from(0.0));
    scales.fill(T::from(1.0));
    for _ in 0..SWEEPS {
        for i in 0..t {
            let (mut row, mut column) = (zero, zero);
            for j in (0..t).filter(|&j| j != i) {
                row = larger(row, a[j * t + i].abs() * scales[j]);
                column = larger(column, a[i * t + j].abs() / scales[j]);
            }
            let scale = (row / column).sqrt();
            if scale > zero && scale < T::from(f64::INFINITY) {
                scales[i] = scale;
            }
        }
    }
}

/// LU of a core by columns with partial pivoting. The weights enter with the magnitude of each row's
/// diagonal. Fails with the column that has no pivot.
fn factor<T: Number>(
    a: &mut [T],
    scales: &[T],
    weights: &mut [T],
    swaps: &mut [u32],
    inverse: &mut [T],
) -> Result<(), usize> {
    let (t, one, min_ratio) = (scales.len(), T::from(1.0), T::from(MIN_PIVOT_RATIO));
    for (weight, &scale) in weights.iter_mut().zip(scales) {
        *weight = *weight * scale;
    }
    for (column, &scale) in a.chunks_exact(t).zip(scales) {
        for (weight, &value) in weights.iter_mut().zip(column) {
            *weight = larger(*weight, value.abs() * scale);
        }
    }
    for weight in weights.iter_mut() {
        *weight = one / *weight;
    }
    let mut rest = a;
    for k in 0..t {
        let (column, right) = rest.split_at_mut(t);
        let (mut row, mut most) = (k, T::from(-1.0));
        for (i, (&value, &weight)) in column[k..].iter().zip(&weights[k..]).enumerate() {
            let size = value.abs() * weight;
            (row, most) = if size > most { (k + i, size) } else { (row, most) };
        }
        let good = most * scales[k] > min_ratio && column[row].abs() < T::from(f64::INFINITY);
        if !good {
            return Err(k);
        }
        swaps[k] = row as u32;
        weights.swap(k, row);
        column.swap(k, row);
        let factor = one / column[k];
        inverse[k] = factor;
        let below = &mut column[k + 1..];
        for value in below.iter_mut() {
            *value = *value * factor;
        }
        for other in right.chunks_exact_mut(t) {
            other.swap(k, row);
            let (head, tail) = other.split_at_mut(k + 1);
            subtract(tail, head[k], below);
        }
        rest = right;
    }
    Ok(())
}

/// With a `size` that is known when this is compiled, there is no loop left.
#[inline(always)]
fn solve<T: Number>(size: usize, a: &[T], swaps: &[u32], inverse: &[T], y: &mut [T]) {
    let (a, swaps, inverse, y) = (&a[..size * size], &swaps[..size], &inverse[..size], &mut y[..size]);
    // Earlier columns of L did not take part in later swaps, so swaps and updates take turns here too.
    for k in 0..size {
        y.swap(k, swaps[k] as usize);
        let (head, tail) = y.split_at_mut(k + 1);
        subtract(tail, head[k], &a[k * size..][k + 1..size]);
    }
    for k in (0..size).rev() {
        let (head, tail) = y.split_at_mut(k);
        let x = tail[0] * inverse[k];
        tail[0] = x;
        subtract(head, x, &a[k * size..][..k]);
    }
}
