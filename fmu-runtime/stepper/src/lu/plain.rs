//! The kernel against the same elimination, written plainly: dense, row by row, in the plan's order, without segments,
//! runs or cores. Taking rows in another order must not change one bit; a core exchanges rows, so that it agrees to rounding.

use super::Factors;
use crate::plan::{Block, Elimination, Jacobian, JacobianSource, Policy};

/// Knuth's MMIX generator.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n
    }

    /// In -1..1.
    fn unit(&mut self) -> f64 {
        self.below(1 << 20) as f64 / (1 << 19) as f64 - 1.0
    }
}

/// A by positions in the plan's order, `None` where there is no entry.
struct System {
    explicit: usize,
    blocks: Vec<Block>,
    a: Vec<Vec<Option<f64>>>,
    order: Vec<u32>,
}

impl System {
    /// Some blocks are like the one before, some are torn, some need earlier ones or explicit rows. In each row of A the
    /// magnitudes sum up to less than 0.9, so that the condition of W = I - A is below 1.9 / 0.1.
    fn random(random: &mut Random) -> System {
        let explicit = random.below(4);
        let mut blocks: Vec<Block> = Vec::new();
        let mut places: Vec<Vec<usize>> = vec![Vec::new(); explicit];
        let may_tear = random.below(2) == 0;
        for _ in 0..1 + random.below(7) {
            let first = places.len();
            match blocks.last() {
                Some(&block) if random.below(2) == 0 => {
                    let size = block.size as usize;
                    let own = |row: &Vec<usize>| {
                        row.iter().filter(|&&c| c >= first - size).map(|c| c + size).collect::<Vec<_>>()
                    };
                    let alike: Vec<Vec<usize>> = places[first - size..].iter().map(own).collect();
                    places.extend(alike);
                    blocks.push(block);
                }
                _ => {
                    let size = 1 + random.below(12);
                    let tears = if may_tear { random.below(size + 1) } else { 0 };
                    let density = 1 + random.below(4);
                    for _ in 0..size {
                        let own = (first..first + size).filter(|_| random.below(5) < density);
                        places.push(own.collect());
                    }
                    blocks.push(Block { size: size as u32, tears: tears as u32 });
                }
            }
            for row in &mut places[first..] {
                let outer: Vec<usize> = (0..first).filter(|_| random.below(12) == 0).collect();
                row.splice(0..0, outer);
            }
        }
        let n = places.len();
        let mut a = vec![vec![None; n]; n];
        for (row, columns) in a.iter_mut().zip(&places) {
            columns.iter().for_each(|&c| row[c] = Some(0.9 * random.unit() / columns.len() as f64));
        }
        let mut order: Vec<u32> = (0..n as u32).collect();
        (1..n).for_each(|i| order.swap(i, random.below(i + 1)));
        System { explicit, blocks, a, order }
    }

    /// First position, first of the core, end of each block.
    fn extents(&self) -> impl Iterator<Item = (usize, usize, usize)> {
        let mut first = self.explicit;
        self.blocks.iter().map(move |block| {
            let end = first + block.size as usize;
            let begin = std::mem::replace(&mut first, end);
            (begin, end - block.tears as usize, end)
        })
    }

    /// What a plan says of it, and the values of the entries.
    fn plan(&self) -> (Elimination, Jacobian, Vec<f64>) {
        let mut e = Elimination {
            order: self.order.clone(),
            explicit: self.explicit as u32,
            blocks: self.blocks.clone(),
            row_start: vec![0],
            outer_start: vec![0],
            ..Elimination::default()
        };
        let (mut rows, mut cols, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (first, core, end) in self.extents() {
            let is_core = |p: usize, c: usize| p >= core && c >= core;
            let mut filled: Vec<Vec<bool>> = (first..end)
                .map(|p| (first..end).map(|c| self.a[p][c].is_some() || p == c || is_core(p, c)).collect())
                .collect();
            for p in 0..end - first {
                for k in (0..p.min(core - first)).filter(|&k| k < p) {
                    for j in k + 1..end - first {
                        filled[p][j] |= filled[p][k] && filled[k][j];
                    }
                }
            }
            for p in first..end {
                for c in 0..end {
                    let is_slot = c >= first && filled[p - first][c - first];
                    if let Some(value) = self.a[p][c] {
                        let entry = values.len() as u32;
                        rows.push(self.order[p]);
                        cols.push(self.order[c]);
                        values.push(value);
                        if is_slot {
                            e.entries.push(entry);
                            e.slots.push(e.cols.len() as u32);
                        } else {
                            e.outer.push(entry);
                        }
                    }
                    if is_slot {
                        e.cols.push(c as u32);
                    }
                }
                e.row_start.push(e.cols.len() as u32);
                e.outer_start.push(e.outer.len() as u32);
            }
        }
        let (setup, colours) = (Vec::new(), Vec::new());
        let (policy, source) = (Policy::Every, JacobianSource::Differences);
        (e, Jacobian { rows, cols, policy, source, setup, colours }, values)
    }

    /// W d = y, y and d by states.
    fn solve(&self, h: f64, y: &[f64]) -> Vec<f64> {
        let n = self.order.len();
        let mut x: Vec<f64> = self.order.iter().map(|&state| y[state as usize]).collect();
        let entry = |value: &Option<f64>| value.map_or(0.0, |value| -h * value);
        let mut w: Vec<Vec<f64>> = self.a.iter().map(|row| row.iter().map(entry).collect()).collect();
        let mut u = vec![vec![0.0; n]; n];
        for (first, _, end) in self.extents() {
            for p in first..end {
                w[p][p] += 1.0;
                for k in first..p {
                    for j in k + 1..end {
                        w[p][j] -= w[p][k] * u[k][j];
                    }
                }
                let factor = 1.0 / w[p][p];
                (p + 1..end).for_each(|j| u[p][j] = w[p][j] * factor);
                x[p] = (0..p).fold(x[p], |b, k| b - w[p][k] * x[k]) * factor;
            }
            for p in (first..end).rev() {
                x[p] = (p + 1..end).fold(x[p], |b, j| b - u[p][j] * x[j]);
            }
        }
        let mut d = vec![0.0; n];
        self.order.iter().zip(x).for_each(|(&state, x)| d[state as usize] = x);
        d
    }
}

/// Condition 19 and at most 87 states: 19 * 87 * 1.1e-16 bounds the error of either side, with some slack.
#[test]
fn solutions_are_those_of_plain_elimination() {
    let mut random = Random(1);
    let (mut exact, mut torn) = (0, 0);
    for _ in 0..600 {
        let system = System::random(&mut random);
        let (elimination, jacobian, values) = system.plan();
        let mut factors = Factors::<f64>::new(&elimination, &jacobian).unwrap();
        let mut balance = factors.balance();
        factors.refactor(1.0, &values, &mut balance).unwrap();
        // More than once: nothing may be left over from one solution to the next.
        for _ in 0..2 {
            let y: Vec<f64> = system.order.iter().map(|_| random.unit()).collect();
            let plain = system.solve(1.0, &y);
            let mut d = y;
            factors.solve(&mut d);
            if system.blocks.iter().all(|block| block.tears == 0) {
                assert_eq!(d, plain);
                exact += 1;
            } else {
                let most = plain.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
                assert!(d.iter().zip(&plain).all(|(d, x)| (d - x).abs() <= 1e-12 * most), "{d:?} {plain:?}");
                torn += 1;
            }
        }
    }
    assert!(exact > 100 && torn > 100, "{exact} {torn}");
}
