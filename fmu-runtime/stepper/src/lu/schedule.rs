//! What the kernel executes: the plan's elimination, turned into a list of [`Stage`]s, which a refactorization walks
//! through from front to back, and into the [`Solution`].
//!
//! Rows in a sequence that are treated alike (as many columns, the same updates to the same places: the six
//! axes of a robot, the cells of a rod) make one [`Segment`]. What to do is then looked up per segment, not per row. Blocks
//! alike that do not need each other are factored in turns, row by row, for the same reason.

use super::solution::{Class, Solution, Task};
use crate::plan::{Elimination, Jacobian};
use std::ops::Range;

/// Neighbours that are handled together; shorter runs of entries are copied one by one.
pub(super) const LANES: usize = 4;

/// A slot without an entry: fill, or a diagonal of W that is 1.
const BLANK: u32 = u32::MAX;

/// A row of W has a slot for each coupling to an explicit row or to an earlier block, then for each column of its block: what
/// is left of the diagonal, the diagonal, what is right of it. Rows are implicit rows, counted from 0; columns are states.
#[derive(Clone, Debug, Default)]
pub(super) struct Schedule {
    pub stages: Vec<Stage>,
    /// How the slots of W are filled from the Jacobian, in order.
    pub pieces: Vec<Piece>,
    /// For each slot of a [`Piece::Gather`]: its entry, or a number beyond all entries.
    pub gathered: Vec<u32>,
    pub updates: Vec<Update>,
    /// For each row and each of its segment's updates: where the row of U starts that is subtracted.
    pub sources: Vec<u32>,
    /// Where [`Shape::Scatter`] goes.
    pub targets: Vec<u32>,
    /// Number of slots of W, and of values of U.
    pub slots: usize,
    pub upper: usize,
    /// The state of each row.
    pub states: Vec<u32>,
    pub solution: Solution,
}

/// Rows up to `core`, then a dense core up to `end`.
struct Extent {
    core: u32,
    end: u32,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Stage {
    /// Rows to eliminate.
    Rows(Segment),
    /// Rows of a core, to eliminate up to there.
    CoreRows(Segment, Core),
    /// All rows of the core are there: to factor.
    Core(Core),
}

/// Rows that are treated alike, and where in each list theirs begin.
#[derive(Clone, Copy, Debug)]
pub(super) struct Segment {
    pub rows: u32,
    pub layout: Layout,
    pub row: u32,
    pub w: u32,
    pub upper: u32,
    pub updates: u32,
    pub sources: u32,
}

/// What a row consists of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Layout {
    pub slots: u32,
    pub diagonal: u32,
    /// Columns after the diagonal; in a core, none.
    pub upper: u32,
    pub updates: u32,
}

/// The dense core of a block: its size, its first row, where its matrix begins, and its first row among those of all cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Core {
    pub size: u32,
    pub row: u32,
    pub matrix: u32,
    pub torn: u32,
}

impl Segment {
    pub fn slots(&self) -> Range<usize> {
        span(self.w, self.rows * self.layout.slots)
    }
}

impl Core {
    pub fn rows(&self) -> Range<usize> {
        span(self.row, self.size)
    }

    pub fn matrix(&self) -> Range<usize> {
        span(self.matrix, self.size * self.size)
    }

    pub fn torn(&self) -> Range<usize> {
        span(self.torn, self.size)
    }
}

fn span(first: u32, len: u32) -> Range<usize> {
    first as usize..first as usize + len as usize
}

/// w\[to + i\] -= w\[at\] * upper\[source + i\], in one of four shapes. `at` and `to` count from the row's first slot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Update {
    pub shape: Shape,
    /// Whether it changes the diagonal.
    pub is_diagonal: bool,
    pub at: u32,
    pub to: u32,
    pub len: u32,
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Shape {
    /// One multiply-add.
    Single,
    /// Row k's columns are neighbours in this row too.
    Run,
    /// They are not: `to` is where their places start in `targets`.
    Scatter,
    /// `len` rows k.. in turn with one column each, all side by side: x' = v pairs.
    Pairs,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Piece {
    /// So many slots, each with an entry of its own.
    Gather { len: u32 },
    /// So many slots for entries that are neighbours too, from `entry` on.
    Run { entry: u32, len: u32 },
}

impl Schedule {
    /// Fails on missing fill. The elimination is one that [`check::elimination`](crate::check::elimination) has passed.
    pub(super) fn new(e: &Elimination, jacobian: &Jacobian) -> Result<Schedule, String> {
        let mut schedule = Schedule::default();
        let entries = schedule.rows(e, jacobian)?;
        schedule.slots = entries.len();
        schedule.assembly(&entries);
        Ok(schedule)
    }

    /// Everything but the assembly, and for each slot of W its entry.
    fn rows(&mut self, e: &Elimination, jacobian: &Jacobian) -> Result<Vec<u32>, String> {
        let (sequence, extents) = sequence(e, jacobian);
        // Positions in the plan's order, as positions in ours.
        let mut ours = vec![0; e.order.len()];
        for (p, &plan) in sequence.iter().enumerate() {
            ours[plan as usize] = p as u32;
        }
        let state = |position: u32| e.order[sequence[position as usize] as usize];
        let mut planned = vec![BLANK; e.cols.len()];
        for (&entry, &slot) in e.entries.iter().zip(&e.slots) {
            planned[slot as usize] = entry;
        }
        let mut entries = Vec::new();
        // Where each row of U starts; for positions before the first implicit one nothing is ever asked.
        let mut upper_start = vec![0; e.explicit as usize];
        // In which slot of the current row a column is.
        let mut place = vec![BLANK; e.order.len()];
        // The columns right of the diagonal of all rows, by position.
        let mut upper_positions = Vec::new();
        let mut tasks = Vec::new();
        let mut first = e.explicit;
        let (mut matrix, mut torn) = (0, 0);
        for Extent { core, end } in extents {
            let dense = Core { size: end - core, row: core - e.explicit, matrix, torn };
            let mut backward = Vec::new();
            for p in first..end {
                let plan = sequence[p as usize];
                let row = (plan - e.explicit) as usize;
                let slots = e.row_start[row] as usize..e.row_start[row + 1] as usize;
                let columns: Vec<u32> = e.cols[slots.clone()].iter().map(|&c| ours[c as usize]).collect();
                let outer = &e.outer[e.outer_start[row] as usize..e.outer_start[row + 1] as usize];
                for (slot, &c) in (outer.len()..).zip(&columns) {
                    place[c as usize] = slot as u32;
                }
                let lower = &columns[..columns.partition_point(|&c| c < p.min(core))];
                let diagonal = place[p as usize];
                let upper = if p < core { &columns[diagonal as usize + 1 - outer.len()..] } else { &[] };
                upper_start.push(upper_positions.len() as u32);
                let (updates, sources) = self
                    .updates_of(lower, diagonal, &place, &upper_start, &upper_positions)
                    .map_err(|(k, j)| {
                        let [k, j] = [k, j].map(|column| sequence[column as usize]);
                        format!("the plan's fill is incomplete: row {plan} needs column {j} when column {k} is eliminated")
                    })?;
                for &c in &columns {
                    place[c as usize] = BLANK;
                }
                let layout = Layout {
                    slots: (outer.len() + columns.len()) as u32,
                    diagonal,
                    upper: upper.len() as u32,
                    updates: updates.len() as u32,
                };
                if !self.lengthen(p < core, layout, &updates) {
                    let segment = Segment {
                        rows: 1,
                        layout,
                        row: self.states.len() as u32,
                        w: entries.len() as u32,
                        upper: upper_positions.len() as u32,
                        updates: self.updates.len() as u32,
                        sources: self.sources.len() as u32,
                    };
                    self.stages.push(if p < core {
                        Stage::Rows(segment)
                    } else {
                        Stage::CoreRows(segment, dense)
                    });
                    self.updates.extend(updates);
                }
                self.states.push(state(p));
                let known = outer.iter().map(|&entry| jacobian.cols[entry as usize]);
                let left: Vec<u32> = known.chain(lower.iter().map(|&c| state(c))).collect();
                if p < core {
                    tasks.push(Task::row(Class::Forward, state(p), entries.len() as u32, left));
                } else if !left.is_empty() {
                    tasks.push(Task::row(Class::Reduce, state(p), entries.len() as u32, left));
                }
                if !upper.is_empty() {
                    let right = upper.iter().map(|&c| state(c)).collect();
                    backward.push(Task::row(Class::Backward, state(p), upper_positions.len() as u32, right));
                }
                self.sources.extend(sources);
                entries.extend(outer);
                entries.extend(&planned[slots]);
                upper_positions.extend(upper);
            }
            if dense.size > 0 {
                self.stages.push(Stage::Core(dense));
                tasks.push(Task::core(dense, &self.states[dense.rows()]));
                matrix += dense.size * dense.size;
                torn += dense.size;
            }
            tasks.extend(backward.into_iter().rev());
            first = end;
        }
        self.upper = upper_positions.len();
        self.solution = Solution::new(&tasks, e.order.len());
        Ok(entries)
    }

    /// The updates of a row by the rows `lower`, and where their rows of U start. Fails with such a row and
    /// the column for which there is no place.
    fn updates_of(
        &mut self,
        lower: &[u32],
        diagonal: u32,
        place: &[u32],
        upper_start: &[u32],
        upper_positions: &[u32],
    ) -> Result<(Vec<Update>, Vec<u32>), (u32, u32)> {
        let (mut updates, mut sources): (Vec<Update>, Vec<u32>) = (Vec::new(), Vec::new());
        for &k in lower {
            let (source, stop) = (upper_start[k as usize], upper_start[k as usize + 1]);
            let columns = &upper_positions[source as usize..stop as usize];
            if let Some(&j) = columns.iter().find(|&&j| place[j as usize] == BLANK) {
                return Err((k, j));
            }
            let targets: Vec<u32> = columns.iter().map(|&j| place[j as usize]).collect();
            let (Some(&to), len) = (targets.first(), targets.len() as u32) else { continue };
            let at = place[k as usize];
            let is_diagonal = targets.contains(&diagonal);
            let is_run = targets.windows(2).all(|pair| pair[1] == pair[0] + 1);
            if let (1, Some(last), Some(&from)) = (len, updates.last_mut(), sources.last())
                && matches!(last.shape, Shape::Single | Shape::Pairs)
                && (last.at + last.len, from + last.len, last.to + last.len) == (at, source, to)
                && at < last.to
            {
                last.shape = Shape::Pairs;
                last.len += 1;
                last.is_diagonal |= is_diagonal;
                continue;
            }
            let (shape, to) = match (len, is_run) {
                (1, _) => (Shape::Single, to),
                (_, true) => (Shape::Run, to),
                _ => (Shape::Scatter, self.targets.len() as u32),
            };
            if shape == Shape::Scatter {
                self.targets.extend(targets);
            }
            updates.push(Update { shape, is_diagonal, at, to, len });
            sources.push(source);
        }
        Ok((updates, sources))
    }

    /// Let the last segment have one more row, if that is like its others.
    fn lengthen(&mut self, is_eliminated: bool, layout: Layout, updates: &[Update]) -> bool {
        let last = match self.stages.last_mut() {
            Some(Stage::Rows(last)) if is_eliminated => last,
            Some(Stage::CoreRows(last, _)) if !is_eliminated => last,
            _ => return false,
        };
        let before = &self.updates[last.updates as usize..];
        let targets = |u: &Update| &self.targets[u.to as usize..(u.to + u.len) as usize];
        let is_same = |a: &Update, b: &Update| match (a.shape, b.shape) {
            (Shape::Scatter, Shape::Scatter) => {
                Update { to: 0, ..*a } == Update { to: 0, ..*b } && targets(a) == targets(b)
            }
            _ => a == b,
        };
        if last.layout != layout || !before.iter().zip(updates).all(|(a, b)| is_same(a, b)) {
            return false;
        }
        last.rows += 1;
        let scatters = updates.iter().filter(|u| u.shape == Shape::Scatter);
        let unused: u32 = scatters.map(|u| u.len).sum();
        self.targets.truncate(self.targets.len() - unused as usize);
        true
    }

    fn assembly(&mut self, entries: &[u32]) {
        for run in entries.chunk_by(|&a, &b| a != BLANK && b != BLANK && a + 1 == b) {
            let len = run.len() as u32;
            if run.len() >= LANES {
                self.pieces.push(Piece::Run { entry: run[0], len });
                continue;
            }
            self.gathered.extend(run);
            match self.pieces.last_mut() {
                Some(Piece::Gather { len: before }) => *before += len,
                _ => self.pieces.push(Piece::Gather { len }),
            }
        }
    }
}

/// The rows in our order: the plan's, but blocks alike that do not need each other take turns, row by row, so that
/// alike rows are neighbours.
fn sequence(e: &Elimination, jacobian: &Jacobian) -> (Vec<u32>, Vec<Extent>) {
    let mut position = vec![0; e.order.len()];
    for (p, &state) in e.order.iter().enumerate() {
        position[state as usize] = p as u32;
    }
    let row = |p: u32| (p - e.explicit) as usize;
    let columns = |p: u32| &e.cols[e.row_start[row(p)] as usize..e.row_start[row(p) + 1] as usize];
    let outer = |p: u32| &e.outer[e.outer_start[row(p)] as usize..e.outer_start[row(p) + 1] as usize];
    let is_alike = |a: u32, b: u32, size: u32| {
        (0..size).all(|r| {
            let (one, other) = (columns(a + r), columns(b + r));
            one.len() == other.len() && one.iter().zip(other).all(|(x, y)| x - a == y - b)
        })
    };
    let needs_none_from = |first: u32, block: u32, size: u32| {
        (0..size)
            .flat_map(|r| outer(block + r))
            .all(|&entry| position[jacobian.cols[entry as usize] as usize] < first)
    };
    let mut sequence: Vec<u32> = (0..e.explicit).collect();
    let mut extents = Vec::new();
    let (mut first, mut blocks) = (e.explicit, e.blocks.as_slice());
    while let Some((block, mut rest)) = blocks.split_first() {
        let size = block.size;
        let mut count = 1;
        while let Some((next, after)) = rest.split_first()
            && size > 1
            && (next.size, next.tears, block.tears) == (size, 0, 0)
            && is_alike(first, first + count * size, size)
            && needs_none_from(first, first + count * size, size)
        {
            count += 1;
            rest = after;
        }
        let end = first + count * size;
        sequence.extend((0..size).flat_map(|r| (0..count).map(move |b| first + b * size + r)));
        extents.push(Extent { core: end - block.tears, end });
        (first, blocks) = (end, rest);
    }
    (sequence, extents)
}
