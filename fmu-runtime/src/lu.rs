//! Factor W = I - h A in a fixed order and solve W d = h r: the numeric kernel of every step.
//!
//! The order, the fill and the dense cores come from the plan (`Elimination`); [`Factors::new`] turns
//! them into a list of updates once, and [`Factors::refactor`] and [`Factors::solve`] then only
//! execute it, as KLU's `refactor` does: no allocation, no search, and the same operations whatever
//! the values are.
//!
//! Rows are taken in order. Row p starts as row p of W; each of its columns k left of the diagonal is
//! eliminated with the finished row k, w\[p\]\[j\] -= w\[p\]\[k\] u\[k\]\[j\], and what is right of the diagonal is
//! divided by the pivot (Crout: L keeps the pivots, U has a unit diagonal). The last `tears` rows of a
//! block are left with the Schur complement B22 - B21 L^-1 B12 of tearing, a dense system that is
//! factored with partial pivoting.
//!
//! **Pivot watch.** A pivot is sum of the diagonal and of the updates to it. Where it is smaller by
//! [`WATCH`] than what it was in between, four digits are left of it, and the state is reported. This
//! measure does not change when states are measured in other units. A core's pivots are compared
//! after scaling: rows and columns by magnitudes of the states that are read off the core itself
//! (Osborne's balancing) in the first refactorization and after [`Factors::rebalance`].

use crate::plan::{Elimination, Jacobian};
use std::ops::{Add, Div, Mul, Sub};

/// A pivot below this fraction of what it was computed from is refused.
pub const WATCH: f64 = 1e-12;

/// Neighbours that are handled together; shorter runs of entries are copied one by one.
const LANES: usize = 4;

/// Sweeps of balancing; each one halves the distance in orders of magnitude, or better.
const SWEEPS: usize = 8;

/// No solution: the pivot of this state (an index into the states) is zero, tiny or not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BadPivot {
    pub state: u32,
}

/// Multiplications (each with its addition, if it has one) and divisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Operations {
    pub refactor: u64,
    pub solve: u64,
}

/// `f64`, or in tests a twin that counts.
pub trait Number:
    Copy
    + PartialOrd
    + From<f64>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
{
    fn abs(self) -> Self;
    fn sqrt(self) -> Self;
}

impl Number for f64 {
    #[inline]
    fn abs(self) -> f64 {
        f64::abs(self)
    }

    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
}

/// The factors of W and everything needed to renew them. All rows are implicit rows, counted from 0.
#[derive(Clone, Debug)]
pub struct Factors<T: Number = f64> {
    order: Vec<u32>,
    explicit: usize,
    blocks: Vec<Span>,
    /// The same, those without a core joined: to factor, it does not matter where a block ends.
    stretches: Vec<Span>,
    rows: Vec<Row>,
    /// Slots that are fill, or a diagonal without an entry.
    blank: Vec<u32>,
    /// Where the Jacobian's entries go: (entry, slot), and (entry, slot, length) of longer runs.
    singles: Vec<(u32, u32)>,
    runs: Vec<(u32, u32, u32)>,
    updates: Vec<Update>,
    targets: Vec<u32>,
    /// The rows of W, then of L and the pivots.
    w: Vec<T>,
    /// What a row needs of the rows before it when solving: first the couplings to earlier blocks, -h a, then its
    /// row of L. Columns are positions, explicit rows included.
    before: Vec<T>,
    before_columns: Vec<u32>,
    /// The rows of U, each divided by its pivot.
    upper: Vec<T>,
    upper_columns: Vec<u32>,
    inverse: Vec<T>,
    /// Where couplings to earlier blocks go: (entry, place in `before`).
    outer: Vec<(u32, u32)>,
    cores: Vec<T>,
    /// For each row of a core: the row that was swapped with it.
    swaps: Vec<u32>,
    scales: Vec<T>,
    weights: Vec<T>,
    y: Vec<T>,
    balanced: bool,
}

/// A block: rows `first..core` are eliminated, `core..end` are its dense core.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: u32,
    core: u32,
    end: u32,
    /// Where its core is in `cores`.
    dense: u32,
}

/// Where one row's data end; they start where the previous row's end.
#[derive(Clone, Copy, Debug, Default)]
struct Row {
    slots: u32,
    diagonal: u32,
    updates: u32,
    lower: u32,
    upper: u32,
    before: u32,
}

/// w\[to + i\] -= multiplier * upper\[from + i\], in one of four shapes. `at` and `to` count from the row's first slot.
#[derive(Clone, Copy, Debug)]
struct Update {
    shape: Shape,
    at: u32,
    from: u32,
    to: u32,
    len: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Shape {
    /// One multiply-add.
    Single,
    /// Row k's columns are neighbours in this row too.
    Run,
    /// They are not: `to` is where their places start in `targets`.
    Scatter,
    /// `len` rows k.. in turn with one column each, all side by side: x' = v pairs.
    Pairs,
}

impl<T: Number> Factors<T> {
    /// Allocates everything. Fails on what [`Plan::check`](crate::plan::Plan::check) refuses and on missing fill.
    pub fn new(elimination: &Elimination, jacobian: &Jacobian) -> Result<Factors<T>, String> {
        crate::check::elimination(elimination, jacobian, elimination.order.len())?;
        let e = elimination;
        let explicit = e.explicit as usize;
        let n = e.order.len() - explicit;
        let zero = T::from(0.0);
        let columns = |p: usize| &e.cols[e.row_start[p] as usize..e.row_start[p + 1] as usize];

        let mut spans = Vec::with_capacity(e.blocks.len());
        let mut core_of_row = vec![0; n];
        let (mut first, mut dense, mut longest) = (0, 0, 0);
        for block in &e.blocks {
            let (end, core) = (first + block.size, first + block.size - block.tears);
            spans.push(Span { first, core, end, dense });
            core_of_row[first as usize..end as usize].fill(core as usize);
            dense += block.tears * block.tears;
            longest = longest.max(block.tears as usize);
            first = end;
        }

        let mut stretches: Vec<Span> = Vec::new();
        for &span in &spans {
            match stretches.last_mut() {
                Some(last) if last.core == last.end => {
                    *last = Span { first: last.first, ..span };
                }
                _ => stretches.push(span),
            }
        }

        let mut rows = Vec::with_capacity(n);
        let mut row = Row::default();
        let (mut lower_columns, mut upper_columns, mut outer) = (Vec::new(), Vec::new(), Vec::new());
        let mut before_columns: Vec<u32> = Vec::new();
        let mut position = vec![0; e.order.len()];
        for (p, &state) in e.order.iter().enumerate() {
            position[state as usize] = p as u32;
        }
        // Row k's upper part: where it starts in `upper_columns`.
        let mut upper_start = Vec::with_capacity(n + 1);
        let mut updates: Vec<Update> = Vec::new();
        let mut targets = Vec::new();
        const NOWHERE: u32 = u32::MAX;
        let mut place = vec![NOWHERE; n];
        for (p, &core) in core_of_row.iter().enumerate() {
            upper_start.push(upper_columns.len());
            let begin = updates.len();
            for (i, &c) in columns(p).iter().enumerate() {
                let c = c as usize - explicit;
                place[c] = i as u32;
                if c == p {
                    row.diagonal = i as u32;
                }
                if c < p.min(core) {
                    lower_columns.push(c as u32);
                } else if p < core && c > p {
                    upper_columns.push(c as u32);
                }
            }
            for &k in &lower_columns[row.lower as usize..] {
                let (from, to) = (upper_start[k as usize], upper_start[k as usize + 1]);
                let here = targets.len();
                for &j in &upper_columns[from..to] {
                    let target = place[j as usize];
                    if target == NOWHERE {
                        return Err(format!(
                            "the plan's fill is incomplete: row {} needs column {} when column {} is eliminated",
                            p + explicit,
                            j as usize + explicit,
                            k as usize + explicit
                        ));
                    }
                    targets.push(target);
                }
                let len = to - from;
                if len == 0 {
                    continue;
                }
                let at = place[k as usize];
                let to = targets[here];
                let run = targets[here..].windows(2).all(|pair| pair[1] == pair[0] + 1);
                let shape = match (len, run) {
                    (1, _) => Shape::Single,
                    (_, true) => Shape::Run,
                    _ => Shape::Scatter,
                };
                if shape == Shape::Scatter {
                    updates.push(Update { shape, at, from: from as u32, to: here as u32, len: len as u32 });
                    continue;
                }
                targets.truncate(here);
                let from = from as u32;
                if let (Shape::Single, Some(last)) = (shape, updates[begin..].last_mut())
                    && matches!(last.shape, Shape::Single | Shape::Pairs)
                    && (last.at + last.len, last.from + last.len, last.to + last.len) == (at, from, to)
                    && at < last.to
                {
                    last.shape = Shape::Pairs;
                    last.len += 1;
                    continue;
                }
                updates.push(Update { shape, at, from, to, len: len as u32 });
            }
            for &c in columns(p) {
                place[c as usize - explicit] = NOWHERE;
            }
            for &entry in &e.outer[e.outer_start[p] as usize..e.outer_start[p + 1] as usize] {
                outer.push((entry, before_columns.len() as u32));
                before_columns.push(position[jacobian.cols[entry as usize] as usize]);
            }
            before_columns.extend(lower_columns[row.lower as usize..].iter().map(|&k| k + e.explicit));
            row.slots = e.row_start[p + 1];
            row.updates = updates.len() as u32;
            row.lower = lower_columns.len() as u32;
            row.upper = upper_columns.len() as u32;
            row.before = before_columns.len() as u32;
            rows.push(row);
        }
        let (blank, singles, runs) = assembly(e);
        Ok(Factors {
            order: e.order.clone(),
            explicit,
            blocks: spans,
            stretches,
            rows,
            blank,
            singles,
            runs,
            updates,
            targets,
            w: vec![zero; e.cols.len()],
            before: vec![zero; before_columns.len()],
            before_columns,
            upper: vec![zero; upper_columns.len()],
            upper_columns,
            inverse: vec![zero; n],
            outer,
            cores: vec![zero; dense as usize],
            swaps: vec![0; n],
            scales: vec![T::from(1.0); n],
            weights: vec![zero; longest],
            y: vec![zero; e.order.len()],
            balanced: false,
        })
    }

    /// Read the states' magnitudes off the next Jacobian: after an event, say.
    pub fn rebalance(&mut self) {
        self.balanced = false;
    }

    /// Factor W = I - h A, A by the Jacobian's entries.
    #[inline(never)]
    pub fn refactor(&mut self, h: f64, jacobian: &[f64]) -> Result<(), BadPivot> {
        let (h, zero, one, watch) = (T::from(h), T::from(0.0), T::from(1.0), T::from(WATCH));
        for &slot in &self.blank {
            self.w[slot as usize] = zero;
        }
        for &(entry, slot) in &self.singles {
            self.w[slot as usize] = zero - h * T::from(jacobian[entry as usize]);
        }
        for &(entry, slot, len) in &self.runs {
            let from = &jacobian[entry as usize..(entry + len) as usize];
            for (w, &a) in self.w[slot as usize..(slot + len) as usize].iter_mut().zip(from) {
                *w = zero - h * T::from(a);
            }
        }
        for &(entry, place) in &self.outer {
            self.before[place as usize] = zero - h * T::from(jacobian[entry as usize]);
        }
        let mut done = Row::default();
        for span in &self.stretches {
            let (core, end) = (span.core as usize, span.end as usize);
            let t = end - core;
            let a = &mut self.cores[span.dense as usize..][..t * t];
            for p in span.first as usize..end {
                let row = self.rows[p];
                let w = &mut self.w[done.slots as usize..row.slots as usize];
                let diagonal = row.diagonal as usize;
                w[diagonal] = w[diagonal] + one;
                let mut most = larger(one, w[diagonal].abs());
                for update in &self.updates[done.updates as usize..row.updates as usize] {
                    let (at, to) = (update.at as usize, update.to as usize);
                    let from = update.from as usize;
                    match update.shape {
                        Shape::Single => w[to] = w[to] - w[at] * self.upper[from],
                        Shape::Run => {
                            let (len, multiplier) = (update.len as usize, w[at]);
                            subtract(&mut w[to..to + len], multiplier, &self.upper[from..from + len]);
                        }
                        Shape::Scatter => scatter(update, &self.targets, &self.upper, w),
                        Shape::Pairs => pairs(update, &self.upper, w),
                    }
                    most = larger(most, w[diagonal].abs());
                }
                let lower = (row.lower - done.lower) as usize;
                // A loop: these are short, and a call of memcpy costs more than they do.
                let before = &mut self.before[row.before as usize - lower..row.before as usize];
                for (before, &w) in before.iter_mut().zip(&*w) {
                    *before = w;
                }
                if p < core {
                    let pivot = w[diagonal];
                    let good = pivot.abs() > watch * most;
                    if !good {
                        return Err(BadPivot { state: self.order[self.explicit + p] });
                    }
                    let inverse = one / pivot;
                    self.inverse[p] = inverse;
                    let u = &mut self.upper[done.upper as usize..row.upper as usize];
                    for (u, &w) in u.iter_mut().zip(&w[diagonal + 1..]) {
                        *u = w * inverse;
                    }
                } else {
                    let i = p - core;
                    self.weights[i] = most;
                    for (column, &value) in a.chunks_exact_mut(t).zip(&w[w.len() - t..]) {
                        column[i] = value;
                    }
                }
                done = row;
            }
            if t > 0 {
                let scales = &mut self.scales[core..end];
                if !self.balanced {
                    balance(a, scales);
                }
                let (swaps, inverse) = (&mut self.swaps[core..end], &mut self.inverse[core..end]);
                factor_core(a, scales, &mut self.weights[..t], swaps, inverse)
                    .map_err(|k| BadPivot { state: self.order[self.explicit + core + k] })?;
            }
        }
        self.balanced = true;
        Ok(())
    }

    /// Solve W d = h r with the last factors, which were made for the same h. `r` and `d` are in the order of the
    /// states; in between everything is in the order of solution, so that a row reads what is near.
    #[inline(never)]
    pub fn solve(&mut self, h: f64, r: &[f64], d: &mut [T]) {
        let h = T::from(h);
        let y = self.y.as_mut_slice();
        for (y, &state) in y.iter_mut().zip(&self.order) {
            *y = h * T::from(r[state as usize]);
        }
        let explicit = self.explicit;
        let (mut values, mut columns) = (self.before.as_slice(), self.before_columns.as_slice());
        let mut done = 0;
        for span in &self.blocks {
            let (first, core, end) = (span.first as usize, span.core as usize, span.end as usize);
            for (i, (row, &inverse)) in
                self.rows[first..end].iter().zip(&self.inverse[first..end]).enumerate()
            {
                let (now, later) = values.split_at((row.before - done) as usize);
                let (now_columns, later_columns) = columns.split_at(now.len());
                (values, columns, done) = (later, later_columns, row.before);
                let p = explicit + first + i;
                let mut b = y[p];
                for (&value, &k) in now.iter().zip(now_columns) {
                    b = b - value * y[k as usize];
                }
                y[p] = if first + i < core { b * inverse } else { b };
            }
            if core < end {
                let t = end - core;
                let a = &self.cores[span.dense as usize..][..t * t];
                let y = &mut y[explicit + core..explicit + end];
                solve_core(a, &self.swaps[core..end], &self.inverse[core..end], y);
            }
            // The last row that is eliminated has nothing after it but a core.
            let last = if core < end { core } else { core.saturating_sub(1) };
            let mut stop = if last > 0 { self.rows[last - 1].upper as usize } else { 0 };
            for p in (first..last).rev() {
                let start = if p > 0 { self.rows[p - 1].upper as usize } else { 0 };
                let mut x = y[explicit + p];
                for (&u, &j) in self.upper[start..stop].iter().zip(&self.upper_columns[start..stop]) {
                    x = x - u * y[explicit + j as usize];
                }
                y[explicit + p] = x;
                stop = start;
            }
        }
        for (&y, &state) in y.iter().zip(&self.order) {
            d[state as usize] = y;
        }
    }
}

/// The exact number of operations of one refactorization (balancing, which comes once, apart) and one solution.
pub fn operations(elimination: &Elimination) -> Operations {
    let e = elimination;
    let explicit = e.explicit as usize;
    let mut count =
        Operations { refactor: (e.entries.len() + e.outer.len()) as u64, solve: e.order.len() as u64 };
    count.solve += e.outer.len() as u64;
    let mut upper = vec![0; e.order.len() - explicit];
    let mut first = 0;
    for block in &e.blocks {
        let (end, t) = (first + block.size as usize, u64::from(block.tears));
        let core = end - block.tears as usize;
        for p in first..end {
            let columns = &e.cols[e.row_start[p] as usize..e.row_start[p + 1] as usize];
            let lower = columns.partition_point(|&c| (c as usize) < explicit + p.min(core));
            count.refactor += columns[..lower].iter().map(|&k| upper[k as usize - explicit]).sum::<u64>();
            count.solve += lower as u64;
            if p < core {
                upper[p] = (columns.len() - lower - 1) as u64;
                // The watch, the division, the row of U.
                count.refactor += 2 + upper[p];
                count.solve += upper[p] + 1;
            }
        }
        // Weights; then for k rows left: the search, its watch and division, the multipliers, the update.
        count.refactor += t * t + 2 * t + (1..=t).map(|k| k + 2 + (k - 1) + (k - 1) * (k - 1)).sum::<u64>();
        count.solve += t * t;
        first = end;
    }
    count
}

#[inline]
fn larger<T: Number>(a: T, b: T) -> T {
    if b > a { b } else { a }
}

/// Not inlined, so that the loop over the rows keeps its registers for the frequent shapes.
#[inline(never)]
fn scatter<T: Number>(update: &Update, targets: &[u32], upper: &[T], w: &mut [T]) {
    let (from, to, len) = (update.from as usize, update.to as usize, update.len as usize);
    let multiplier = w[update.at as usize];
    for (&to, &u) in targets[to..to + len].iter().zip(&upper[from..from + len]) {
        w[to as usize] = w[to as usize] - multiplier * u;
    }
}

/// Four at a time: the compiler makes vectors of that without asking whether the slices overlap.
#[inline(never)]
fn pairs<T: Number>(update: &Update, upper: &[T], w: &mut [T]) {
    let (at, from, len) = (update.at as usize, update.from as usize, update.len as usize);
    let (multipliers, w) = w.split_at_mut(update.to as usize);
    let (m, m_rest) = multipliers[at..at + len].as_chunks::<LANES>();
    let (u, u_rest) = upper[from..from + len].as_chunks::<LANES>();
    let (w, w_rest) = w[..len].as_chunks_mut::<LANES>();
    for ((w, m), u) in w.iter_mut().zip(m).zip(u) {
        let v = *w;
        *w = std::array::from_fn(|i| v[i] - m[i] * u[i]);
    }
    for ((w, &m), &u) in w_rest.iter_mut().zip(m_rest).zip(u_rest) {
        *w = *w - m * u;
    }
}

/// y -= factor * x.
#[inline]
fn subtract<T: Number>(y: &mut [T], factor: T, x: &[T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = *y - factor * x;
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
            if scale > zero && T::from(1.0) / scale > zero {
                scales[i] = scale;
            }
        }
    }
}

/// LU of a core by columns with partial pivoting. The weights enter with the magnitude of each row's
/// diagonal. Fails with the column that has no pivot.
#[inline(never)]
fn factor_core<T: Number>(
    a: &mut [T],
    scales: &[T],
    weights: &mut [T],
    swaps: &mut [u32],
    inverse: &mut [T],
) -> Result<(), usize> {
    let (t, one, watch) = (scales.len(), T::from(1.0), T::from(WATCH));
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
        for (i, (&value, &weight)) in column.iter().zip(weights.iter()).enumerate().skip(k) {
            let size = value.abs() * weight;
            (row, most) = if size > most { (i, size) } else { (row, most) };
        }
        let good = most * scales[k] > watch && column[row].abs() < T::from(f64::INFINITY);
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

#[inline(never)]
fn solve_core<T: Number>(a: &[T], swaps: &[u32], inverse: &[T], y: &mut [T]) {
    let t = swaps.len();
    // Earlier columns of L did not take part in later swaps, so swaps and updates take turns here too.
    for (k, column) in a.chunks_exact(t).enumerate() {
        y.swap(k, swaps[k] as usize);
        let (head, tail) = y.split_at_mut(k + 1);
        subtract(tail, head[k], &column[k + 1..]);
    }
    for (k, column) in a.chunks_exact(t).enumerate().rev() {
        let (head, tail) = y.split_at_mut(k);
        let x = tail[0] * inverse[k];
        tail[0] = x;
        subtract(head, x, &column[..k]);
    }
}

/// Blank slots, single entries and runs of entries.
type Assembly = (Vec<u32>, Vec<(u32, u32)>, Vec<(u32, u32, u32)>);

fn assembly(e: &Elimination) -> Assembly {
    let mut pairs: Vec<(u32, u32)> = e.entries.iter().copied().zip(e.slots.iter().copied()).collect();
    pairs.sort_unstable_by_key(|&(entry, slot)| (slot, entry));
    let mut filled = vec![false; e.cols.len()];
    let (mut singles, mut runs) = (Vec::new(), Vec::new());
    for run in pairs.chunk_by(|a, b| (a.0 + 1, a.1 + 1) == *b) {
        if run.len() < LANES {
            singles.extend_from_slice(run);
        } else {
            runs.push((run[0].0, run[0].1, run.len() as u32));
        }
        for &(_, slot) in run {
            filled[slot as usize] = true;
        }
    }
    let blank = (0..e.cols.len() as u32).filter(|&slot| !filled[slot as usize]).collect();
    (blank, singles, runs)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::plan::{Block, Policy, Source};

    /// A full system of n states, torn whole or not at all.
    fn full(n: u32, tears: u32) -> (Elimination, Jacobian) {
        let elimination = Elimination {
            order: (0..n).collect(),
            explicit: 0,
            blocks: vec![Block { size: n, tears }],
            row_start: (0..=n).map(|i| i * n).collect(),
            cols: (0..n * n).map(|k| k % n).collect(),
            entries: (0..n * n).collect(),
            slots: (0..n * n).collect(),
            outer_start: vec![0; n as usize + 1],
            outer: Vec::new(),
        };
        let jacobian = Jacobian {
            rows: (0..n * n).map(|k| k / n).collect(),
            cols: (0..n * n).map(|k| k % n).collect(),
            policy: Policy::Every,
            source: Source::Differences,
            setup: Vec::new(),
            colours: Vec::new(),
        };
        (elimination, jacobian)
    }

    fn solve(n: u32, tears: u32, a: &[f64], r: &[f64]) -> Result<Vec<f64>, BadPivot> {
        let (elimination, jacobian) = full(n, tears);
        let mut factors = Factors::<f64>::new(&elimination, &jacobian).unwrap();
        let mut d = vec![0.0; n as usize];
        factors.refactor(1.0, a)?;
        factors.solve(1.0, r, &mut d);
        Ok(d)
    }

    /// x' = -k x: (1 + h k) d = -h k x.
    #[test]
    fn one_state() {
        let d = solve(1, 0, &[-50.0], &[-50.0]).unwrap();
        assert_eq!(d, [-50.0 / 51.0]);
        assert_eq!(solve(1, 1, &[-50.0], &[-50.0]).unwrap(), d);
    }

    /// W = [0 1; 1 0]: eliminated in order there is no first pivot; torn, rows are exchanged.
    #[test]
    fn a_core_exchanges_rows() {
        let a = [1.0, -1.0, -1.0, 1.0];
        assert_eq!(solve(2, 0, &a, &[3.0, 5.0]), Err(BadPivot { state: 0 }));
        assert_eq!(solve(2, 2, &a, &[3.0, 5.0]), Ok(vec![5.0, 3.0]));
    }

    /// A singular W, a W that is singular but for rounding, and values that are not numbers are refused; never solved.
    #[test]
    fn bad_pivots_name_their_state() {
        let near = 1.0 + 1e-14;
        for tears in [0, 2] {
            for a in [[-1.0, -2.0, -2.0, -near], [f64::NAN, 1.0, 1.0, 1.0], [-1.0, 1.0, f64::INFINITY, 1.0]] {
                let found = solve(2, tears, &a, &[1.0, 1.0]);
                assert!(found.is_err(), "{tears} tears, {a:?}: {found:?}");
            }
            assert_eq!(solve(2, tears, &[-1.0, -2.0, -2.0, -1.0], &[1.0, 1.0]), Err(BadPivot { state: 1 }));
        }
        assert_eq!(solve(1, 0, &[1.0], &[1.0]), Err(BadPivot { state: 0 }));
    }

    /// States in units 1e9 apart: the same system, so the same verdict and the same digits. Without scaling
    /// the entries 1e18 and 1e-18 of W would look like a vanishing pivot.
    #[test]
    fn units_do_not_matter() {
        let (a, units) = ([-3.0, 1.0, -1.0, 1.0, -2.0, 2.0, 1.0, 1.0, -4.0], [1e9, 1.0, 1e-9]);
        let scaled: Vec<f64> = (0..9).map(|k| a[k] * units[k / 3] / units[k % 3]).collect();
        for tears in [0, 3] {
            let plain = solve(3, tears, &a, &[1.0, 2.0, 3.0]).unwrap();
            let other = solve(3, tears, &scaled, &[1e9, 2.0, 3e-9]).unwrap();
            for i in 0..3 {
                assert!((other[i] / units[i] - plain[i]).abs() < 1e-14, "{plain:?} {other:?}");
            }
        }
    }

    #[test]
    fn missing_fill_is_refused() {
        let (mut elimination, mut jacobian) = full(3, 0);
        // Row 1 loses column 2, which eliminating column 0 fills.
        elimination.cols.remove(5);
        elimination.row_start = vec![0, 3, 5, 8];
        elimination.entries = vec![0, 1, 2, 3, 4, 6, 7, 8];
        elimination.slots = (0..8).collect();
        let error = Factors::<f64>::new(&elimination, &jacobian).unwrap_err();
        assert!(error.contains("fill is incomplete: row 1 needs column 2"), "{error}");
        jacobian.rows.clear();
        assert!(Factors::<f64>::new(&elimination, &jacobian).is_err());
    }
}
