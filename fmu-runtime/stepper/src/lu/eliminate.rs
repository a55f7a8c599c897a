//! The refactorization of a segment: finished rows are subtracted, pivots are watched and divided by.

use super::schedule::{LANES, Layout, Schedule, Segment, Shape, Update};
use super::{MIN_PIVOT_RATIO, Number, larger, subtract, take_mut};

/// The refactorization of one segment.
pub(super) struct Work<'a> {
    segment: &'a Segment,
    updates: &'a [Update],
    sources: &'a [u32],
    targets: &'a [u32],
}

impl<'a> Work<'a> {
    #[inline]
    pub fn new(segment: &'a Segment, schedule: &'a Schedule) -> Work<'a> {
        Work {
            segment,
            updates: &schedule.updates[segment.updates as usize..][..segment.layout.updates as usize],
            sources: &schedule.sources[segment.sources as usize..],
            targets: &schedule.targets,
        }
    }

    /// All of W and of U. Fails with the row that has no pivot.
    #[inline]
    pub fn eliminate<T: Number>(&self, w: &mut [T], upper: &mut [T]) -> Result<(), usize> {
        // What most rows of most models are like has a loop of its own.
        match self.updates {
            [] => self.pivots(w, upper, |_, _, _, most| most),
            [update] if update.shape == Shape::Single && update.is_diagonal => {
                // `update.to`, by a name that tells the compiler so: the pivot stays in its register.
                let (at, diagonal) = (update.at as usize, self.segment.layout.diagonal as usize);
                self.pivots(w, upper, |i, w, upper, most| {
                    w[diagonal] = w[diagonal] - w[at] * upper[self.sources[i] as usize];
                    larger(most, w[diagonal].abs())
                })
            }
            _ => self.eliminate_any(w, upper),
        }
    }

    /// Not inlined, so that the loops for frequent rows keep their registers.
    #[inline(never)]
    fn eliminate_any<T: Number>(&self, w: &mut [T], upper: &mut [T]) -> Result<(), usize> {
        self.pivots(w, upper, |i, w, upper, most| self.apply(i, w, upper, most))
    }

    /// `apply` subtracts earlier rows from row i, given U and the magnitude of the diagonal; it gives the largest magnitude.
    #[inline]
    fn pivots<T: Number>(
        &self,
        w: &mut [T],
        upper: &mut [T],
        apply: impl Fn(usize, &mut [T], &[T], T) -> T,
    ) -> Result<(), usize> {
        let (one, min_ratio) = (T::from(1.0), T::from(MIN_PIVOT_RATIO));
        let Layout { slots, diagonal, upper: len, .. } = self.segment.layout;
        let (diagonal, len) = (diagonal as usize, len as usize);
        let (mut rest, mut filled) = (&mut w[self.segment.slots()], self.segment.upper as usize);
        // Segments can be short: `chunks` would pay for a division.
        for i in 0..self.segment.rows as usize {
            let w = take_mut(&mut rest, slots as usize);
            w[diagonal] = w[diagonal] + one;
            let most = apply(i, w, upper, larger(one, w[diagonal].abs()));
            let pivot = w[diagonal];
            let good = pivot.abs() > min_ratio * most;
            if !good {
                return Err(i);
            }
            let factor = one / pivot;
            w[diagonal] = factor;
            for (u, &w) in upper[filled..filled + len].iter_mut().zip(&w[diagonal + 1..]) {
                *u = w * factor;
            }
            filled += len;
        }
        Ok(())
    }

    /// Rows of a dense core of t columns: what is left of them goes there.
    #[inline(never)]
    pub fn core<T: Number>(&self, w: &mut [T], upper: &[T], weights: &mut [T], a: &mut [T], t: usize) {
        let one = T::from(1.0);
        let Layout { slots, diagonal, .. } = self.segment.layout;
        let diagonal = diagonal as usize;
        let mut rest = &mut w[self.segment.slots()];
        for (i, weight) in weights[..self.segment.rows as usize].iter_mut().enumerate() {
            let w = take_mut(&mut rest, slots as usize);
            w[diagonal] = w[diagonal] + one;
            *weight = self.apply(i, w, upper, larger(one, w[diagonal].abs()));
            for (a, &value) in a[i..].iter_mut().step_by(t).zip(&w[w.len() - t..]) {
                *a = value;
            }
        }
    }

    #[inline(always)]
    fn apply<T: Number>(&self, i: usize, w: &mut [T], upper: &[T], most: T) -> T {
        let mut most = most;
        let sources = &self.sources[i * self.updates.len()..];
        for (update, &source) in self.updates.iter().zip(sources) {
            let (at, to) = (update.at as usize, update.to as usize);
            let upper = &upper[source as usize..];
            match update.shape {
                Shape::Single => w[to] = w[to] - w[at] * upper[0],
                Shape::Run => {
                    let (len, multiplier) = (update.len as usize, w[at]);
                    subtract(&mut w[to..to + len], multiplier, &upper[..len]);
                }
                Shape::Scatter => scatter(update, self.targets, upper, w),
                Shape::Pairs => pairs(update, upper, w),
            }
            if update.is_diagonal {
                most = larger(most, w[self.segment.layout.diagonal as usize].abs());
            }
        }
        most
    }
}

/// Not inlined, so that the loop over the rows keeps its registers for the frequent shapes.
#[inline(never)]
fn scatter<T: Number>(update: &Update, targets: &[u32], upper: &[T], w: &mut [T]) {
    let (to, len) = (update.to as usize, update.len as usize);
    let multiplier = w[update.at as usize];
    for (&to, &u) in targets[to..to + len].iter().zip(&upper[..len]) {
        w[to as usize] = w[to as usize] - multiplier * u;
    }
}

/// Four at a time: the compiler makes vectors of that without asking whether the slices overlap.
#[inline(never)]
fn pairs<T: Number>(update: &Update, upper: &[T], w: &mut [T]) {
    let (at, len) = (update.at as usize, update.len as usize);
    let (multipliers, w) = w.split_at_mut(update.to as usize);
    let (m, m_rest) = multipliers[at..at + len].as_chunks::<LANES>();
    let (u, u_rest) = upper[..len].as_chunks::<LANES>();
    let (w, w_rest) = w[..len].as_chunks_mut::<LANES>();
    for ((w, m), u) in w.iter_mut().zip(m).zip(u) {
        let v = *w;
        *w = std::array::from_fn(|i| v[i] - m[i] * u[i]);
    }
    for ((w, &m), &u) in w_rest.iter_mut().zip(m_rest).zip(u_rest) {
        *w = *w - m * u;
    }
}
