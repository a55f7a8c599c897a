//! Minimum degree: the state with the least product of rows below and columns beside it goes next.

use super::eliminate::{CORE, FULL, Graph, MERGES, Order, dense, price};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Rows with fewer new columns than this are joined one column at a time.
const FEW: usize = 8;

/// The order in which the states of a block go, and what is left over as tears. `torn`: states that must be
/// tears.
pub(super) fn minimum_degree(graph: &Graph, torn: &[bool]) -> Order {
    let m = graph.len();
    let mut active = Active::new(graph, torn);
    let mut states = Vec::with_capacity(m);
    let mut cost = 0;
    // The cost before each elimination.
    let mut spent = Vec::with_capacity(m);
    while let Some(k) = active.next() {
        let left = m - states.len();
        if active.filled == left * left || active.merged > MERGES {
            break;
        }
        spent.push(cost);
        cost += price(active.lower[k], active.upper[k]);
        active.eliminate(k);
        states.push(k as u32);
    }
    let total = cost + dense(m - states.len());
    spent.push(cost);
    // A small rest is eliminated like all before it, if it may be.
    let is_small = |rest: &[u32]| rest.len() < CORE && !rest.iter().any(|&i| torn[i as usize]);
    let rest: Vec<u32> = (0..m as u32).filter(|&i| !active.gone[i as usize]).collect();
    if is_small(&rest) {
        states.extend(rest);
        return Order { states, tears: 0, cost: total };
    }
    let close = |&s: &usize| dense(m - s) as f64 <= FULL * (total - spent[s]) as f64;
    let stop = (0..states.len()).rev().take_while(close).last().unwrap_or(states.len());
    let mut core = states.split_off(stop);
    core.extend(rest);
    core.sort_unstable();
    let tears = core.len();
    states.extend(core);
    Order { states, tears, cost: spent[stop] + dense(tears) }
}

/// What is not eliminated yet, with the fill so far.
struct Active<'a> {
    torn: &'a [bool],
    /// Rows and columns grow by the fill; what is eliminated stays in them but no longer counts.
    rows: Vec<Vec<u32>>,
    columns: Vec<Vec<u32>>,
    /// L and U of each state: rows below it, columns beside it.
    lower: Vec<u64>,
    upper: Vec<u64>,
    gone: Vec<bool>,
    /// Entries of what is left.
    filled: usize,
    /// Elements that were merged: the work so far.
    merged: u64,
    /// States by L U, L + U, and the turn in which that was so; an entry of an earlier turn is void.
    heap: BinaryHeap<Reverse<(u64, u64, u64, usize)>>,
    turn: Vec<u64>,
    turns: u64,
    touched: Touched,
    joined: Vec<u32>,
}

/// States whose L or U changed, each once, in the order of change.
struct Touched {
    list: Vec<usize>,
    is_in: Vec<bool>,
}

impl Touched {
    fn add(&mut self, state: u32) {
        if !std::mem::replace(&mut self.is_in[state as usize], true) {
            self.list.push(state as usize);
        }
    }
}

impl<'a> Active<'a> {
    fn new(graph: &Graph, torn: &'a [bool]) -> Active<'a> {
        let m = graph.len();
        let rows = graph.rows.clone();
        let mut columns = vec![Vec::new(); m];
        for (i, row) in rows.iter().enumerate() {
            for &j in row {
                columns[j as usize].push(i as u32);
            }
        }
        let mut active = Active {
            torn,
            lower: columns.iter().map(|column: &Vec<u32>| column.len() as u64 - 1).collect(),
            upper: rows.iter().map(|row| row.len() as u64 - 1).collect(),
            filled: rows.iter().map(Vec::len).sum::<usize>(),
            rows,
            columns,
            gone: vec![false; m],
            merged: 0,
            heap: BinaryHeap::new(),
            turn: vec![0; m],
            turns: 0,
            touched: Touched { list: Vec::new(), is_in: vec![false; m] },
            joined: Vec::new(),
        };
        (0..m).filter(|&k| !torn[k]).for_each(|k| active.push(k));
        active
    }

    fn push(&mut self, k: usize) {
        let (l, u) = (self.lower[k], self.upper[k]);
        self.turns += 1;
        self.turn[k] = self.turns;
        self.heap.push(Reverse((l * u, l + u, self.turns, k)));
    }

    /// The state that goes next.
    fn next(&mut self) -> Option<usize> {
        while let Some(Reverse((_, _, at, k))) = self.heap.pop() {
            if !self.gone[k] && self.turn[k] == at {
                return Some(k);
            }
        }
        None
    }

    /// Take a state out: each row below it is joined to each column beside it.
    fn eliminate(&mut self, k: usize) {
        let gone = &self.gone;
        let beside = self.rows[k].iter().copied().filter(|&j| !gone[j as usize] && j as usize != k);
        let beside: Vec<u32> = beside.collect();
        let below = std::mem::take(&mut self.columns[k]);
        self.gone[k] = true;
        self.filled -= 1 + (self.lower[k] + self.upper[k]) as usize;
        for &i in &below {
            if !self.gone[i as usize] {
                self.join(i, &beside);
            }
        }
        for &j in &beside {
            self.lower[j as usize] -= 1;
            self.touched.add(j);
        }
        for i in std::mem::take(&mut self.touched.list) {
            self.touched.is_in[i] = false;
            if !self.torn[i] {
                self.push(i);
            }
        }
    }

    /// Add the columns beside the eliminated state to row `i`.
    fn join(&mut self, i: u32, beside: &[u32]) {
        let Active { rows, columns, lower, upper, filled, merged, touched, joined, .. } = self;
        let row = &mut rows[i as usize];
        upper[i as usize] -= 1;
        let mut fresh = |j: u32| {
            columns[j as usize].push(i);
            lower[j as usize] += 1;
            upper[i as usize] += 1;
            *filled += 1;
            touched.add(j);
        };
        if beside.len() < FEW {
            for &j in beside {
                if let Err(at) = row.binary_search(&j) {
                    row.insert(at, j);
                    fresh(j);
                }
            }
            *merged += FEW as u64;
        } else {
            *merged += (row.len() + beside.len()) as u64;
            joined.clear();
            let mut old = row.iter().copied().peekable();
            for &j in beside {
                while let Some(c) = old.next_if(|&c| c < j) {
                    joined.push(c);
                }
                if old.next_if_eq(&j).is_none() {
                    fresh(j);
                }
                joined.push(j);
            }
            joined.extend(old);
            std::mem::swap(row, joined);
        }
        touched.add(i);
    }
}
