//! Colour the columns of a Jacobian, so that one evaluation of the model yields many of them.
//!
//! Perturb columns j and k together and row i shows a_ij + a_ik. That is of use as long as at most one of
//! the two is unknown and the other can be taken off or ignored. So j and k conflict when some row has
//! an entry that is *wanted* (kept and not known) in one of them and an entry that *disturbs* (wanted, or
//! neither known nor negligible) in the other. Rows that are not kept do not matter, columns without a wanted
//! entry are not perturbed at all.
//!
//! First fit in several orders, then Culberson's iterated greedy, which can only gain, then tabu search
//! (Hertz and de Werra, 1987) for one colour less as long as that is found; the first of the best wins, so
//! one model has one plan. Least colours is NP-hard (Coleman and Moré, 1983); the lower bound is a row's
//! wanted entries, all of which conflict.

use super::pattern::Pattern;
use fmu_runtime::plan::Colour;
use std::{cmp::Reverse, collections::BinaryHeap};

const NONE: u32 = u32::MAX;

/// Rounds of iterated greedy that may go by without a gain.
const PATIENCE: usize = 40;
/// Conflicts that are stored for the orders by degree; larger graphs do without.
const EDGES: usize = 4_000_000;
/// Moves of the tabu search, and the work they may be.
const MOVES: usize = 20_000;
const WORK: usize = 50_000_000;

/// Colours that find every kept entry that is not known. Entries are those of `all`; the masks are aligned
/// with them. `negligible` only counts where an entry is not kept.
pub fn colour(all: &Pattern, kept: &[bool], known: &[bool], negligible: &[bool]) -> Vec<Colour> {
    let problem = Problem::new(all, kept, known, negligible);
    problem.write(&problem.solve(), [kept, known, negligible])
}

/// No fewer colours can do: the wanted entries of a row, and one more for what disturbs them.
#[cfg(test)]
pub fn lower_bound(all: &Pattern, kept: &[bool], known: &[bool], negligible: &[bool]) -> usize {
    Problem::new(all, kept, known, negligible).bound()
}

struct Problem<'a> {
    all: &'a Pattern,
    /// Columns that are perturbed.
    columns: Vec<u32>,
    /// Per column of the pattern: (row, wanted) of the entries that disturb.
    by_column: Vec<Vec<(u32, bool)>>,
    /// Per row: (column, wanted) of the same, perturbed columns only.
    by_row: Vec<Vec<(u32, bool)>>,
}

impl<'a> Problem<'a> {
    fn new(all: &'a Pattern, kept: &[bool], known: &[bool], negligible: &[bool]) -> Problem<'a> {
        let n = all.n();
        let wanted = |e: usize| kept[e] && !known[e];
        let disturbs = |e: usize| !known[e] && (kept[e] || !negligible[e]);
        let mut perturbed = vec![false; n];
        let mut row_matters = vec![false; n];
        for (e, (i, j)) in all.places().enumerate().filter(|&(e, _)| wanted(e)) {
            debug_assert!(disturbs(e));
            perturbed[j] = true;
            row_matters[i] = true;
        }
        let (mut by_column, mut by_row) = (vec![Vec::new(); n], vec![Vec::new(); n]);
        for (e, (i, j)) in all.places().enumerate() {
            if disturbs(e) && row_matters[i] && perturbed[j] {
                by_column[j].push((i as u32, wanted(e)));
                by_row[i].push((j as u32, wanted(e)));
            }
        }
        let columns = (0..n as u32).filter(|&j| perturbed[j as usize]).collect();
        Problem { all, columns, by_column, by_row }
    }

    fn bound(&self) -> usize {
        let row = |row: &Vec<(u32, bool)>| {
            let wanted = row.iter().filter(|entry| entry.1).count();
            wanted + usize::from(wanted > 0 && wanted < row.len())
        };
        self.by_row.iter().map(row).max().unwrap_or(0)
    }

    /// The colour of each column of the pattern, `NONE` where it needs none, and how many there are.
    fn solve(&self) -> (Vec<u32>, usize) {
        let bound = self.bound();
        let mut best = self.first_fit(&self.columns);
        if best.1 == bound {
            return best;
        }
        for order in self.orders() {
            let next = self.first_fit(&order);
            if next.1 < best.1 {
                best = next;
            }
        }
        // Columns of one colour side by side, colours in any order: first fit then needs no more than before.
        let mut current = best.clone();
        let mut shuffle = Shuffle(1);
        let mut stale = 0;
        while best.1 > bound && stale < PATIENCE {
            let mut classes = vec![Vec::new(); current.1];
            for &j in &self.columns {
                classes[current.0[j as usize] as usize].push(j);
            }
            match stale % 3 {
                0 => classes.reverse(),
                1 => shuffle.mix(&mut classes),
                _ => classes.sort_by_key(|class| Reverse(class.len())),
            }
            current = self.first_fit(&classes.concat());
            stale += 1;
            if current.1 < best.1 {
                best = current.clone();
                stale = 0;
            }
        }
        if best.1 > bound
            && let Some(graph) = self.conflicts()
        {
            while best.1 > bound
                && let Some(fewer) = self.tabu(&graph, &best)
            {
                best = fewer;
            }
        }
        best
    }

    /// Spread the smallest colour over the others and move columns that conflict, each time the one and to
    /// the colour that leaves the fewest conflicts, never back at once.
    fn tabu(&self, graph: &[Vec<u32>], from: &(Vec<u32>, usize)) -> Option<(Vec<u32>, usize)> {
        let k = from.1 - 1;
        let mut colours = from.0.clone();
        let mut sizes = vec![0; k + 1];
        for &j in &self.columns {
            sizes[colours[j as usize] as usize] += 1;
        }
        let smallest = (0..=k).min_by_key(|&c| sizes[c])? as u32;
        for &j in &self.columns {
            let own = &mut colours[j as usize];
            if *own == smallest {
                *own = if smallest == 0 { k as u32 - 1 } else { 0 };
            } else if *own == k as u32 {
                *own = smallest;
            }
        }
        if k == 0 {
            return None;
        }
        // How many neighbours of a column have a colour.
        let mut near = vec![0u32; graph.len() * k];
        let mut conflicts = 0;
        for &j in &self.columns {
            for &i in &graph[j as usize] {
                near[j as usize * k + colours[i as usize] as usize] += 1;
            }
            conflicts += near[j as usize * k + colours[j as usize] as usize] as usize;
        }
        conflicts /= 2;
        let mut until = vec![0; graph.len() * k];
        let mut random = Shuffle(2);
        let (mut least, mut work) = (conflicts, 0);
        for turn in 1..=MOVES {
            if conflicts == 0 {
                return Some((colours, k));
            }
            let mut best: Option<(i64, u64, usize, usize)> = None;
            for &j in &self.columns {
                let row = &near[j as usize * k..][..k];
                let own = row[colours[j as usize] as usize];
                if own == 0 {
                    continue;
                }
                for (c, &count) in row.iter().enumerate().filter(|&(c, _)| c != colours[j as usize] as usize)
                {
                    let gain = i64::from(count) - i64::from(own);
                    let free = until[j as usize * k + c] < turn || (conflicts as i64 + gain) < least as i64;
                    if free && best.is_none_or(|best| gain <= best.0) {
                        let key = (gain, random.next(), j as usize, c);
                        if best.is_none_or(|best| key < best) {
                            best = Some(key);
                        }
                    }
                }
            }
            work += self.columns.len() + k * conflicts;
            if work > WORK {
                return None;
            }
            let Some((gain, _, j, c)) = best else { continue };
            let old = std::mem::replace(&mut colours[j], c as u32) as usize;
            conflicts = (conflicts as i64 + gain) as usize;
            least = least.min(conflicts);
            until[j * k + old] = turn + conflicts * 3 / 5 + random.next() as usize % 10 + 1;
            for &i in &graph[j] {
                near[i as usize * k + old] -= 1;
                near[i as usize * k + c] += 1;
            }
        }
        None
    }

    /// Each column in turn gets the first colour that no conflict forbids.
    fn first_fit(&self, order: &[u32]) -> (Vec<u32>, usize) {
        let n = self.by_row.len();
        let mut colours = vec![NONE; n];
        // Per row, as bits: the colours of its wanted entries, and of all that disturb.
        let (mut wanted_in, mut any_in) = (vec![Vec::<u64>::new(); n], vec![Vec::<u64>::new(); n]);
        let (mut forbidden, mut count) = (Vec::new(), 0);
        for &j in order {
            forbidden.clear();
            for &(i, wanted) in &self.by_column[j as usize] {
                let taken = if wanted { &any_in[i as usize] } else { &wanted_in[i as usize] };
                if forbidden.len() < taken.len() {
                    forbidden.resize(taken.len(), 0);
                }
                for (all, &some) in forbidden.iter_mut().zip(taken) {
                    *all |= some;
                }
            }
            let free = forbidden.iter().position(|&bits| bits != u64::MAX);
            let colour =
                free.map_or(64 * forbidden.len(), |w| 64 * w + forbidden[w].trailing_ones() as usize);
            colours[j as usize] = colour as u32;
            count = count.max(colour + 1);
            let set = |bits: &mut Vec<u64>| {
                if bits.len() <= colour / 64 {
                    bits.resize(colour / 64 + 1, 0);
                }
                bits[colour / 64] |= 1 << (colour % 64);
            };
            for &(i, wanted) in &self.by_column[j as usize] {
                set(&mut any_in[i as usize]);
                if wanted {
                    set(&mut wanted_in[i as usize]);
                }
            }
        }
        (colours, count)
    }

    fn orders(&self) -> Vec<Vec<u32>> {
        let mut orders = vec![self.columns.iter().rev().copied().collect::<Vec<_>>()];
        let size = |j: &u32| -> usize {
            self.by_column[*j as usize].iter().map(|&(i, _)| self.by_row[i as usize].len()).sum()
        };
        let mut by_size = self.columns.clone();
        by_size.sort_by_key(|j| Reverse(size(j)));
        orders.push(by_size);
        if let Some(graph) = self.conflicts() {
            let mut largest = self.columns.clone();
            largest.sort_by_key(|&j| Reverse(graph[j as usize].len()));
            orders.push(largest);
            orders.push(self.smallest_last(&graph));
            orders.push(self.by_neighbours(&graph));
            orders.push(self.by_saturation(&graph));
        }
        orders
    }

    /// The conflicting columns of each column, where they are not too many to store.
    fn conflicts(&self) -> Option<Vec<Vec<u32>>> {
        let pairs = |row: &Vec<(u32, bool)>| 2 * row.len() * row.iter().filter(|entry| entry.1).count();
        if self.by_row.iter().map(pairs).sum::<usize>() > EDGES {
            return None;
        }
        let mut graph = vec![Vec::new(); self.by_row.len()];
        for row in &self.by_row {
            for &(j, _) in row.iter().filter(|entry| entry.1) {
                for &(k, _) in row.iter().filter(|&&(k, _)| k != j) {
                    graph[j as usize].push(k);
                    graph[k as usize].push(j);
                }
            }
        }
        for list in &mut graph {
            list.sort_unstable();
            list.dedup();
        }
        Some(graph)
    }

    /// Matula and Beck: the column with the fewest conflicts among those left comes last.
    fn smallest_last(&self, graph: &[Vec<u32>]) -> Vec<u32> {
        let mut degree: Vec<usize> = graph.iter().map(Vec::len).collect();
        let mut placed = vec![false; graph.len()];
        let mut heap: BinaryHeap<_> =
            self.columns.iter().map(|&j| Reverse((degree[j as usize], j))).collect();
        let mut order = Vec::with_capacity(self.columns.len());
        while let Some(Reverse((at, j))) = heap.pop() {
            if placed[j as usize] || at != degree[j as usize] {
                continue;
            }
            placed[j as usize] = true;
            order.push(j);
            for &k in graph[j as usize].iter().filter(|&&k| !placed[k as usize]) {
                degree[k as usize] -= 1;
                heap.push(Reverse((degree[k as usize], k)));
            }
        }
        order.reverse();
        order
    }

    /// Incidence degree: next the column with the most conflicts among those placed.
    fn by_neighbours(&self, graph: &[Vec<u32>]) -> Vec<u32> {
        self.largest_first(graph, |_, _| true)
    }

    /// Brélaz: next the column whose conflicts have the most colours.
    fn by_saturation(&self, graph: &[Vec<u32>]) -> Vec<u32> {
        let mut seen: Vec<Vec<u64>> = vec![Vec::new(); graph.len()];
        self.largest_first(graph, |j, k| {
            // The colour of a column that is placed no longer changes.
            let own = &seen[j];
            let free = own.iter().position(|&bits| bits != u64::MAX);
            let colour = free.map_or(64 * own.len(), |w| 64 * w + own[w].trailing_ones() as usize);
            let bits = &mut seen[k];
            if bits.len() <= colour / 64 {
                bits.resize(colour / 64 + 1, 0);
            }
            let is_new = bits[colour / 64] & 1 << (colour % 64) == 0;
            bits[colour / 64] |= 1 << (colour % 64);
            is_new
        })
    }

    /// Next the column with the largest degree, then with the most conflicts. `raises(j, k)`: that j is
    /// placed adds one to k's degree.
    fn largest_first(&self, graph: &[Vec<u32>], mut raises: impl FnMut(usize, usize) -> bool) -> Vec<u32> {
        let mut degree = vec![0; graph.len()];
        let mut placed = vec![false; graph.len()];
        let key = |degree: usize, j: u32| (degree, graph[j as usize].len(), Reverse(j));
        let mut heap: BinaryHeap<_> = self.columns.iter().map(|&j| key(0, j)).collect();
        let mut order = Vec::with_capacity(self.columns.len());
        while let Some((at, _, Reverse(j))) = heap.pop() {
            if placed[j as usize] || at != degree[j as usize] {
                continue;
            }
            placed[j as usize] = true;
            order.push(j);
            for &k in graph[j as usize].iter().filter(|&&k| !placed[k as usize]) {
                if raises(j as usize, k as usize) {
                    degree[k as usize] += 1;
                    heap.push(key(degree[k as usize], k));
                }
            }
        }
        order
    }

    fn write(&self, (colours, count): &(Vec<u32>, usize), masks: [&[bool]; 3]) -> Vec<Colour> {
        let [kept, known, negligible] = masks;
        let mut result = vec![Colour::default(); *count];
        for &j in &self.columns {
            result[colours[j as usize] as usize].columns.push(j);
        }
        let mut row = Vec::new();
        for i in 0..self.all.n() {
            row.clear();
            for e in self.all.range(i) {
                let colour = colours[self.all.col(e)];
                let subtracted = known[e] && (kept[e] || !negligible[e]);
                if colour != NONE && (subtracted || kept[e]) {
                    row.push((colour, known[e], e as u32));
                }
            }
            // By colour, the wanted entry first.
            row.sort_unstable();
            for group in row.chunk_by(|a, b| a.0 == b.0) {
                let (colour, is_known, entry) = group[0];
                if is_known {
                    continue;
                }
                let colour = &mut result[colour as usize];
                colour.entries.push(entry);
                colour.known.extend(group[1..].iter().map(|&(.., known)| (entry, known)));
            }
        }
        result
    }
}

/// A fixed sequence of permutations (Knuth's shuffle on Knuth's MMIX generator).
struct Shuffle(u64);

impl Shuffle {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    fn mix<T>(&mut self, list: &mut [T]) {
        for i in (1..list.len()).rev() {
            list.swap(i, self.next() as usize % (i + 1));
        }
    }
}
