//! Factor W = I - h A in a fixed order and solve W d = y: the numeric kernel of every step.
//!
//! The order, the fill and the dense cores come from the plan (`Elimination`); [`Factors::new`] turns
//! them into a `Schedule` once, and [`Factors::refactor`] and [`Factors::solve`] then only
//! execute it, as KLU's `refactor` does: no allocation, no search, and the same operations whatever
//! the values are.
//!
//! Rows are taken in order. Row p starts as row p of W; each of its columns k left of the diagonal is
//! eliminated with the finished row k, w\[p\]\[j\] -= w\[p\]\[k\] u\[k\]\[j\], and what is right of the diagonal is
//! divided by the pivot (Crout: L has the pivots, kept as reciprocals; U has a unit diagonal). The last `tears` rows of a
//! block are left with the Schur complement B22 - B21 L^-1 B12 of tearing, a dense system that is
//! factored with partial pivoting.
//!
//! A step takes several solutions and seldom a refactorization, so that the rows of the solution have an order of their own
//! (`Solution`).
//!
//! **Cancellation check.** If a pivot ends up smaller than [`MIN_PIVOT_RATIO`] times its largest intermediate value, fewer
//! than four digits are reliable and the state is reported. This measure does not change when states are measured in other
//! units. A core's pivots are compared
//! after scaling: rows and columns by magnitudes of the states that are read off the core itself
//! (Osborne's balancing) in the first refactorization and after [`Balance::forget`]; and once more before a pivot is
//! refused, because what was zero then may count now.

mod dense;
mod eliminate;
#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::needless_range_loop)]
mod plain;
mod schedule;
mod solution;
mod substitute;

use crate::plan::{Elimination, Jacobian};
use dense::Cores;
use eliminate::Work;
use schedule::{Piece, Schedule, Stage};
use serde::{Deserialize, Serialize};
use solution::Class;
use std::ops::{Add, Div, Mul, Sub};
use substitute::substitute;

/// A pivot below this fraction of what it was computed from is refused.
pub const MIN_PIVOT_RATIO: f64 = 1e-12;

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
    /// Of the first refactorization, and of one after [`Balance::forget`], on top.
    pub balance: u64,
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

/// The factors of W and everything needed to renew them.
#[derive(Clone, Debug)]
pub struct Factors<T: Number = f64> {
    schedule: Schedule,
    /// The rows of W, then of L, with the reciprocal pivots.
    w: Vec<T>,
    /// The rows of U, each divided by its pivot.
    upper: Vec<T>,
    cores: Cores<T>,
}

/// Magnitudes of the states in the dense cores, by which their pivots are compared. They are read off a Jacobian and stay, so that they
/// belong to what a simulation remembers, not to the factors.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Balance<T = f64> {
    scales: Vec<T>,
    /// They were read.
    known: bool,
}

impl<T> Balance<T> {
    /// Read the magnitudes off the next Jacobian: after an event, say.
    pub fn forget(&mut self) {
        self.known = false;
    }

    /// The magnitudes were read, and hold for the next Jacobian.
    pub(crate) fn is_known(&self) -> bool {
        self.known
    }

    /// Both belong to the same plan, as far as sizes tell.
    pub(crate) fn fits(&self, other: &Balance<T>) -> bool {
        self.scales.len() == other.scales.len()
    }
}

impl<T: Number> Factors<T> {
    /// Allocates everything. Fails on what [`Plan::check`](crate::plan::Plan::check) refuses and on missing fill.
    pub fn new(elimination: &Elimination, jacobian: &Jacobian) -> Result<Factors<T>, String> {
        crate::check::elimination(elimination, jacobian, elimination.order.len())?;
        let schedule = Schedule::new(elimination, jacobian)?;
        let tears = elimination.blocks.iter().map(|block| block.tears as usize);
        let zeros = |len: usize| vec![T::from(0.0); len];
        Ok(Factors {
            w: zeros(schedule.slots),
            upper: zeros(schedule.upper),
            cores: Cores::new(tears),
            schedule,
        })
    }

    /// A balance that knows nothing yet.
    pub fn balance(&self) -> Balance<T> {
        Balance { scales: vec![T::from(1.0); self.cores.rows_of_all()], known: false }
    }

    /// Factor W = I - h A, A by the Jacobian's entries.
    pub fn refactor(&mut self, h: f64, jacobian: &[f64], balance: &mut Balance<T>) -> Result<(), BadPivot> {
        let was_known = balance.known;
        let found = self.factor(h, jacobian, balance);
        if found.is_ok() || !was_known {
            return found;
        }
        balance.forget();
        self.factor(h, jacobian, balance)
    }

    #[inline(never)]
    fn factor(&mut self, h: f64, jacobian: &[f64], balance: &mut Balance<T>) -> Result<(), BadPivot> {
        self.assemble(T::from(-h), jacobian);
        let Factors { schedule: s, w, upper, cores } = self;
        for stage in &s.stages {
            match stage {
                Stage::Rows(segment) => Work::new(segment, s)
                    .eliminate(w, upper)
                    .map_err(|i| BadPivot { state: s.states[segment.row as usize + i] })?,
                Stage::CoreRows(segment, core) => {
                    let (weights, a) = cores.rows(core, (segment.row - core.row) as usize);
                    Work::new(segment, s).core(w, upper, weights, a, core.size as usize);
                }
                Stage::Core(core) => cores
                    .factor(core, balance.known, &mut balance.scales)
                    .map_err(|k| BadPivot { state: s.states[core.row as usize + k] })?,
            }
        }
        balance.known = true;
        Ok(())
    }

    /// The entries -h a into the slots of W.
    #[inline]
    fn assemble(&mut self, minus_h: T, jacobian: &[f64]) {
        let s = &self.schedule;
        let (mut w, mut gathered) = (self.w.as_mut_slice(), s.gathered.as_slice());
        // A number beyond all entries stands for no entry.
        let value = |entry: u32| jacobian.get(entry as usize).map_or(T::from(0.0), |&a| minus_h * T::from(a));
        for piece in &s.pieces {
            match *piece {
                Piece::Gather { len } => {
                    let entries = take(&mut gathered, len as usize);
                    let w = take_mut(&mut w, len as usize);
                    for (w, &entry) in w.iter_mut().zip(entries) {
                        *w = value(entry);
                    }
                }
                Piece::Run { entry, len } => {
                    let from = &jacobian[entry as usize..(entry + len) as usize];
                    let w = take_mut(&mut w, len as usize);
                    for (w, &a) in w.iter_mut().zip(from) {
                        *w = minus_h * T::from(a);
                    }
                }
            }
        }
    }

    /// Solve W d = y with the last factors; y enters in `d`.
    #[inline(never)]
    pub fn solve(&mut self, d: &mut [T]) {
        let Factors { schedule, w, upper, cores } = self;
        let Schedule { solution, states, .. } = schedule;
        let mut rows = solution.rows.as_slice();
        for run in &solution.runs {
            let rows = take(&mut rows, run.len as usize);
            match run.class {
                Class::Forward(columns) => substitute::<T, true>(columns, rows, w, d),
                Class::Reduce(columns) => substitute::<T, false>(columns, rows, w, d),
                Class::Backward(columns) => substitute::<T, false>(columns, rows, upper, d),
                Class::Core(core) => cores.solve(&core, &states[core.rows()], d),
            }
        }
    }
}

/// Split off the first `len` elements.
#[inline]
fn take<'a, T>(rest: &mut &'a [T], len: usize) -> &'a [T] {
    let (first, other) = rest.split_at(len);
    *rest = other;
    first
}

#[inline]
fn take_mut<'a, T>(rest: &mut &'a mut [T], len: usize) -> &'a mut [T] {
    let (first, other) = std::mem::take(rest).split_at_mut(len);
    *rest = other;
    first
}

/// The exact number of operations of one refactorization and one solution.
pub fn operations(elimination: &Elimination) -> Operations {
    let e = elimination;
    let explicit = e.explicit as usize;
    let mut count = Operations {
        refactor: (e.entries.len() + e.outer.len()) as u64,
        solve: e.order.len() as u64,
        balance: e.blocks.iter().map(|block| dense::balancing(block.tears.into())).sum(),
    };
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

/// y -= factor * x.
#[inline]
fn subtract<T: Number>(y: &mut [T], factor: T, x: &[T]) {
    for (y, &x) in y.iter_mut().zip(x) {
        *y = *y - factor * x;
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::plan::{Block, JacobianSource, Policy};

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
            source: JacobianSource::Differences,
            setup: Vec::new(),
            colours: Vec::new(),
        };
        (elimination, jacobian)
    }

    fn solve(n: u32, tears: u32, a: &[f64], r: &[f64]) -> Result<Vec<f64>, BadPivot> {
        let (elimination, jacobian) = full(n, tears);
        let mut factors = Factors::<f64>::new(&elimination, &jacobian).unwrap();
        let mut d = r.to_vec();
        let mut balance = factors.balance();
        factors.refactor(1.0, a, &mut balance)?;
        factors.solve(&mut d);
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

    /// Where the first Jacobian is zero nothing tells the states' magnitudes. Later it does, and units 1e14 apart must not
    /// look like a vanishing pivot then either.
    #[test]
    fn magnitudes_that_show_up_later_count() {
        let (a, units) = ([-3.0, 1.0, 1.0, -2.0], [1e14, 1.0]);
        let scaled: Vec<f64> = (0..4).map(|k| a[k] * units[k / 2] / units[k % 2]).collect();
        let (elimination, jacobian) = full(2, 2);
        let mut factors = Factors::<f64>::new(&elimination, &jacobian).unwrap();
        let mut balance = factors.balance();
        factors.refactor(1.0, &[0.0; 4], &mut balance).unwrap();
        factors.refactor(1.0, &scaled, &mut balance).unwrap();
        let mut d = [1e14, 2.0];
        factors.solve(&mut d);
        let plain = solve(2, 2, &a, &[1.0, 2.0]).unwrap();
        assert!((d[0] / 1e14 - plain[0]).abs() < 1e-14 && (d[1] - plain[1]).abs() < 1e-14, "{d:?}");
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
