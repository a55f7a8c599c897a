//! Inside a block: in which order to eliminate, and what to leave over as tears.
//!
//! Eliminating state k with L rows below it and U columns beside it costs a division, U + L U
//! operations to factor and L + U + 1 to solve, and joins each of the L rows to each of the U columns
//! (fill). The order decides the cost; finding the best one is NP-hard. Tried here, the cheapest by
//! its exact count wins:
//!
//! - minimum degree (Markowitz: the least L U next). x' = v rows have U = 1 and go first, which
//!   halves second-order systems, (5.16) of the Rosenbrock document. Ties go in turn, so a chain is
//!   eliminated from both ends at once: two independent chains of operations for the processor. Where what
//!   is left is nearly full it is left as a dense core: the tears;
//! - the states' own order, and reverse Cuthill-McKee (a band), where they beat it by a tenth.
//!
//! A state is eliminated only if its pivot is safe: over all sample Jacobians, and for part of a step
//! too, it keeps its sign and stays away from zero by [`SAFE`] of what it was computed from. Other states
//! become tears, where partial pivoting takes care of them.

use super::{blt::blt, minimum_degree::minimum_degree, pattern::Pattern};
use fmu_runtime::plan::{Block, Elimination};
use std::{cmp::Reverse, collections::BinaryHeap};

/// A pivot must not lose more of its magnitude than this to cancellation in any sample.
pub const SAFE: f64 = 1e-6;
/// Steps that an event cuts short must be solvable too.
const PARTS: [f64; 3] = [1.0, 0.5, 0.125];
/// What is left is torn if it has at least `CORE` states and solving it as a full system costs this much at
/// most of what eliminating it would: the full system is pivoted, and runs over memory in one piece.
pub(super) const FULL: f64 = 1.05;
pub(super) const CORE: usize = 6;
/// Bounds on the builder's own time: merged elements, and operations in the test of the pivots.
pub(super) const MERGES: u64 = 300_000_000;
const TRIALS: u64 = 400_000_000;
/// Rounds in which unsafe states are made tears.
const ROUNDS: usize = 8;

/// The order of solution for the kept entries. `samples` are Jacobians, aligned with `kept`'s entries;
/// without any, every pivot counts as safe.
pub fn eliminate(kept: &Pattern, h: f64, samples: &[Vec<f64>]) -> Elimination {
    let parts = blt(kept);
    let n = kept.n();
    let explicit = parts.explicit.len();
    let mut e = Elimination { order: parts.explicit, explicit: explicit as u32, ..Elimination::default() };
    e.row_start.push(0);
    e.outer_start.push(0);
    let mut local = vec![NONE; n];
    for states in &parts.blocks {
        for (i, &state) in states.iter().enumerate() {
            local[state as usize] = i as u32;
        }
        let graph = Graph::new(kept, states, &local);
        let (order, rows) = order_block(&graph, h, samples);
        let base = e.order.len() as u32;
        e.blocks.push(Block { size: states.len() as u32, tears: order.tears as u32 });
        e.order.extend(order.states.iter().map(|&i| states[i as usize]));
        let mut place = vec![0; states.len()];
        for (p, &i) in order.states.iter().enumerate() {
            place[i as usize] = p as u32;
        }
        for (p, &i) in order.states.iter().enumerate() {
            let first = e.cols.len();
            e.cols.extend(rows[p].iter().map(|&c| base + c));
            let row = states[i as usize] as usize;
            for entry in kept.range(row) {
                let column = local[kept.col(entry)];
                if column == NONE {
                    e.outer.push(entry as u32);
                } else if let Ok(at) = rows[p].binary_search(&place[column as usize]) {
                    e.entries.push(entry as u32);
                    e.slots.push((first + at) as u32);
                }
            }
            e.row_start.push(e.cols.len() as u32);
            e.outer_start.push(e.outer.len() as u32);
        }
        for &state in states {
            local[state as usize] = NONE;
        }
    }
    e
}

const NONE: u32 = u32::MAX;

/// One block with states counted from 0. Rows ascend and have their diagonal.
pub(super) struct Graph {
    pub rows: Vec<Vec<u32>>,
    /// (column, entry) of each row.
    entries: Vec<Vec<(u32, u32)>>,
}

impl Graph {
    fn new(kept: &Pattern, states: &[u32], local: &[u32]) -> Graph {
        let mut graph = Graph { rows: Vec::new(), entries: Vec::new() };
        for (i, &state) in states.iter().enumerate() {
            let range = kept.range(state as usize);
            let inside = |entry: usize| Some((local[kept.col(entry)], entry as u32)).filter(|e| e.0 != NONE);
            let entries: Vec<_> = range.filter_map(inside).collect();
            let mut row: Vec<u32> = entries.iter().map(|&(column, _)| column).collect();
            if let Err(at) = row.binary_search(&(i as u32)) {
                row.insert(at, i as u32);
            }
            graph.rows.push(row);
            graph.entries.push(entries);
        }
        graph
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }
}

/// A candidate: eliminated states in order, then the `tears` of the core, ascending.
pub(super) struct Order {
    pub states: Vec<u32>,
    pub tears: usize,
    pub cost: u64,
}

/// Operations for one state with `lower` rows and `upper` columns left: factor and solve.
pub(super) fn price(lower: u64, upper: u64) -> u64 {
    (1 + upper + lower * upper) + (lower + upper + 1)
}

/// The same for a full system.
pub(super) fn dense(size: usize) -> u64 {
    (0..size as u64).map(|k| price(k, k)).sum()
}

fn order_block(graph: &Graph, h: f64, samples: &[Vec<f64>]) -> (Order, Vec<Vec<u32>>) {
    let m = graph.len();
    if m == 1 {
        return (Order { states: vec![0], tears: 0, cost: 0 }, vec![vec![0]]);
    }
    let mut torn = vec![false; m];
    for round in 0.. {
        let order = cheapest(graph, &torn);
        let Some((rows, _)) = fill(graph, &order, u64::MAX) else { unreachable!("no bound was set") };
        let bad = unsafe_pivots(graph, &order, &rows, h, samples);
        if bad.is_empty() || round == ROUNDS {
            return (order, rows);
        }
        for i in bad {
            torn[i as usize] = true;
        }
    }
    unreachable!("the loop ends after {ROUNDS} rounds")
}

fn cheapest(graph: &Graph, torn: &[bool]) -> Order {
    let mut best = minimum_degree(graph, torn);
    for mut states in [(0..graph.len() as u32).collect(), cuthill_mckee(graph)] {
        let tears = move_to_end(&mut states, torn);
        let order = Order { states, tears, cost: 0 };
        if let Some((_, cost)) = fill(graph, &order, best.cost - best.cost / 10) {
            best = Order { cost, ..order };
        }
    }
    best
}

/// Torn states last, ascending.
fn move_to_end(states: &mut [u32], torn: &[bool]) -> usize {
    states.sort_by_key(|&i| torn[i as usize]);
    let tears = torn.iter().filter(|&&torn| torn).count();
    let first = states.len() - tears;
    states[first..].sort_unstable();
    tears
}

/// Reverse Cuthill-McKee on the symmetric pattern, from a state as far out as two searches find.
fn cuthill_mckee(graph: &Graph) -> Vec<u32> {
    let m = graph.len();
    let mut neighbours = graph.rows.clone();
    for (i, row) in graph.rows.iter().enumerate() {
        for &j in row {
            neighbours[j as usize].push(i as u32);
        }
    }
    for list in &mut neighbours {
        list.sort_unstable();
        list.dedup();
    }
    let degrees: Vec<usize> = neighbours.iter().map(Vec::len).collect();
    for list in &mut neighbours {
        list.sort_by_key(|&j| degrees[j as usize]);
    }
    // A block is connected: one search reaches all of it.
    let search = |root: u32| {
        let mut seen = vec![false; m];
        seen[root as usize] = true;
        let mut order = vec![root];
        let mut head = 0;
        while head < order.len() {
            for &j in &neighbours[order[head] as usize] {
                if !std::mem::replace(&mut seen[j as usize], true) {
                    order.push(j);
                }
            }
            head += 1;
        }
        order
    };
    let mut order = search(0);
    for _ in 0..2 {
        order = search(order[m - 1]);
    }
    order.reverse();
    order
}

/// The rows with their fill, in positions, and the cost; nothing when that reaches the bound.
fn fill(graph: &Graph, order: &Order, bound: u64) -> Option<(Vec<Vec<u32>>, u64)> {
    let m = graph.len();
    let core = m - order.tears;
    let mut position = vec![0; m];
    for (p, &i) in order.states.iter().enumerate() {
        position[i as usize] = p as u32;
    }
    let mut rows: Vec<Vec<u32>> = Vec::with_capacity(m);
    // Where the columns right of the diagonal begin, and where those of the core.
    let mut ends: Vec<(usize, usize)> = Vec::with_capacity(m);
    let mut seen = vec![usize::MAX; m];
    let mut waiting = BinaryHeap::new();
    let mut cost = dense(order.tears);
    for (p, &i) in order.states.iter().enumerate() {
        let stop = p.min(core);
        let mut row: Vec<u32> = Vec::new();
        let mut add = |j: u32, row: &mut Vec<u32>, waiting: &mut BinaryHeap<_>| {
            // A core's columns are all there anyway.
            if (p < core || (j as usize) < core) && seen[j as usize] != p {
                seen[j as usize] = p;
                row.push(j);
                if (j as usize) < stop {
                    waiting.push(Reverse(j));
                }
            }
        };
        for &j in &graph.rows[i as usize] {
            add(position[j as usize], &mut row, &mut waiting);
        }
        while let Some(Reverse(k)) = waiting.pop() {
            let (upper, inner) = ends[k as usize];
            let other = &rows[k as usize];
            cost += 1 + (other.len() - upper) as u64;
            let other = if p < core { &other[upper..] } else { &other[upper..inner] };
            for &j in other {
                add(j, &mut row, &mut waiting);
            }
        }
        row.sort_unstable();
        if p >= core {
            row.extend(core as u32..m as u32);
        }
        let upper = row.partition_point(|&j| j as usize <= p);
        let inner = row.partition_point(|&j| (j as usize) < core);
        if p < core {
            cost += 2 + 2 * (row.len() - upper) as u64;
        }
        if cost >= bound {
            return None;
        }
        ends.push((upper, inner.max(upper)));
        rows.push(row);
    }
    Some((rows, cost))
}

/// States to be eliminated whose pivot gets close to zero or changes sign in some sample.
fn unsafe_pivots(graph: &Graph, order: &Order, rows: &[Vec<u32>], h: f64, samples: &[Vec<f64>]) -> Vec<u32> {
    let m = graph.len();
    let core = m - order.tears;
    // Without a core the last state has nothing to be exchanged with.
    let last = if order.tears == 0 { m - 1 } else { core };
    let mut position = vec![0; m];
    for (p, &i) in order.states.iter().enumerate() {
        position[i as usize] = p;
    }
    let stride = (order.cost * (samples.len() * PARTS.len()) as u64 / TRIALS + 1) as usize;
    let mut signs = vec![0.0; core];
    let mut bad = vec![false; core];
    let mut work = vec![0.0; m];
    let mut start = vec![0; core + 1];
    for p in 0..core {
        start[p + 1] = start[p] + rows[p].iter().filter(|&&j| j as usize > p).count();
    }
    let mut upper = vec![0.0; start[core]];
    for (sample, part) in samples.iter().step_by(stride).flat_map(|s| PARTS.map(|part| (s, part))) {
        for p in 0..core {
            for &j in &rows[p] {
                work[j as usize] = 0.0;
            }
            for &(column, entry) in &graph.entries[order.states[p] as usize] {
                work[position[column as usize]] = -h * part * sample[entry as usize];
            }
            work[p] += 1.0;
            let mut most = f64::max(1.0, work[p].abs());
            for &k in rows[p].iter().take_while(|&&k| (k as usize) < p) {
                let k = k as usize;
                let multiplier = work[k];
                let columns = &rows[k][rows[k].len() - (start[k + 1] - start[k])..];
                for (&j, &u) in columns.iter().zip(&upper[start[k]..start[k + 1]]) {
                    work[j as usize] -= multiplier * u;
                }
                most = most.max(work[p].abs());
            }
            let mut pivot = work[p];
            if signs[p] == 0.0 {
                signs[p] = pivot.signum();
            }
            let good = pivot.abs() > SAFE * most && pivot.signum() == signs[p] && pivot.is_finite();
            if !good && p < last {
                bad[p] = true;
            }
            if !good {
                // Go on with a pivot that does no harm, to find the other bad ones.
                pivot = if most.is_finite() { most } else { 1.0 };
            }
            let columns = &rows[p][rows[p].len() - (start[p + 1] - start[p])..];
            for (&j, u) in columns.iter().zip(&mut upper[start[p]..start[p + 1]]) {
                *u = work[j as usize] / pivot;
            }
        }
    }
    (0..core).filter(|&p| bad[p]).map(|p| order.states[p]).collect()
}
