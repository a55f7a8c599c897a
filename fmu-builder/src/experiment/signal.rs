//! Signals over ranges, as tables in memory: steps, sweeps, pseudo-random levels.
//!
//! All are held from one communication point to another, as a bench holds them: the accurate run and the
//! exported FMU then see exactly the same inputs.

use super::range::Range;
use crate::inputs::InputTable;

/// A variable that is driven: its levels as shares of the way through its range, or its values.
pub struct Driven {
    pub name: String,
    pub start: f64,
    pub levels: Levels,
}

pub enum Levels {
    Between(Range),
    /// Discrete values, ascending.
    Of(Vec<f64>),
}

impl Driven {
    /// The value at a share of the range, from 0 to 1.
    fn at(&self, share: f64) -> f64 {
        match &self.levels {
            Levels::Between(range) => range.at(share),
            Levels::Of(values) => {
                let last = values.len() - 1;
                values[((share * values.len() as f64) as usize).min(last)]
            }
        }
    }
}

/// The communication points of a run: t0 + k H, k = 0 … steps.
#[derive(Clone, Copy)]
pub struct Clock {
    pub start: f64,
    pub step: f64,
    pub steps: u64,
}

/// Each variable in turn: to the top of its range, to the bottom, back.
pub fn steps(driven: &[Driven], clock: Clock) -> InputTable {
    in_turn(driven, clock, |phase| match phase {
        0.0..0.1 => None,
        0.1..0.4 => Some(1.0),
        0.4..0.75 => Some(0.0),
        _ => None,
    })
}

/// Each variable in turn: up through its range and down again, in small stairs.
pub fn sweeps(driven: &[Driven], clock: Clock) -> InputTable {
    /// Stairs from bottom to top: a discrete variable passes each of its values.
    const STAIRS: f64 = 12.0;
    in_turn(driven, clock, |phase| {
        let up = 1.0 - (2.0 * phase - 1.0).abs();
        (phase >= 0.05).then_some((up * STAIRS).floor() / STAIRS)
    })
}

/// All variables at once, each held at a pseudo-random level for a pseudo-random time of `dwell` steps on
/// average; the longer ones for several times that. The same `seed`, the same signals.
pub fn random(driven: &[Driven], clock: Clock, dwell: f64, seed: u64) -> InputTable {
    let mut rows: Vec<Vec<f64>> = Vec::new();
    let mut state: Vec<(Random, u64, f64)> = driven
        .iter()
        .enumerate()
        .map(|(k, driven)| {
            let mut random = Random::new(seed.wrapping_add(0x51_7c_c1 * (k as u64 + 1)));
            // The first level is the start value: the run begins where the model was initialised.
            (random, until(&mut random, 0, 0.3 * dwell), driven.start)
        })
        .collect();
    for k in 0..clock.steps {
        let row = state.iter_mut().zip(driven).map(|((random, change, value), driven)| {
            if k >= *change {
                *value = driven.at(random.unit());
                *change = until(random, k, dwell);
            }
            *value
        });
        rows.push(row.collect());
    }
    table(driven, clock, &rows)
}

fn until(random: &mut Random, now: u64, dwell: f64) -> u64 {
    // Some short, some long: a bench does both.
    now + (dwell * (0.15 + 1.7 * random.unit() * random.unit())).ceil().max(1.0) as u64
}

/// Divide the run among the variables; `share` tells where the one whose turn it is stands, by the phase of
/// its turn from 0 to 1. None: at its start value, as all others.
fn in_turn(driven: &[Driven], clock: Clock, share: impl Fn(f64) -> Option<f64>) -> InputTable {
    let turn = (clock.steps as f64 / driven.len().max(1) as f64).max(1.0);
    let rows: Vec<Vec<f64>> = (0..clock.steps)
        .map(|k| {
            let whose = ((k as f64 / turn) as usize).min(driven.len().saturating_sub(1));
            let phase = (k as f64 - whose as f64 * turn) / turn;
            let value = |(i, driven): (usize, &Driven)| match share(phase).filter(|_| i == whose) {
                Some(share) => driven.at(share),
                None => driven.start,
            };
            driven.iter().enumerate().map(value).collect()
        })
        .collect();
    table(driven, clock, &rows)
}

/// Rows of values, each held for a communication step, as a table in which each change is a jump.
fn table(driven: &[Driven], clock: Clock, rows: &[Vec<f64>]) -> InputTable {
    let mut time = Vec::new();
    let mut columns: Vec<Vec<f64>> = vec![Vec::new(); driven.len()];
    let mut push = |at: f64, row: &[f64]| {
        time.push(at);
        columns.iter_mut().zip(row).for_each(|(column, value)| column.push(*value));
    };
    for (k, row) in rows.iter().enumerate() {
        let at = clock.start + k as f64 * clock.step;
        match k.checked_sub(1).map(|before| &rows[before]) {
            Some(before) if before == row => {}
            Some(before) => {
                push(at, before);
                push(at, row);
            }
            None => push(at, row),
        }
    }
    if rows.is_empty() {
        push(clock.start, &driven.iter().map(|driven| driven.start).collect::<Vec<_>>());
    }
    let names = driven.iter().map(|driven| driven.name.clone());
    InputTable::of_numbers(time, names.zip(columns).collect())
}

/// splitmix64: small, well mixed, the same on every machine.
#[derive(Clone, Copy)]
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed)
    }

    /// From 0 to 1.
    pub fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((z ^ (z >> 31)) >> 11) as f64 / (1u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn driven() -> Vec<Driven> {
        let range = Range { low: -1.0, high: 3.0, from: String::new(), is_guess: false };
        vec![
            Driven { name: "u".into(), start: 0.0, levels: Levels::Between(range) },
            Driven { name: "gear".into(), start: 1.0, levels: Levels::Of(vec![1.0, 2.0, 3.0]) },
        ]
    }

    const CLOCK: Clock = Clock { start: 2.0, step: 1e-3, steps: 400 };

    /// In the middle of each communication step.
    fn values(table: &InputTable, column: usize) -> Vec<f64> {
        (0..400).map(|k| table.value_held(column, 2.0 + (k as f64 + 0.5) * 1e-3)).collect()
    }

    /// A continuous variable is interpolated: only if every change is a jump at a communication point is it
    /// held.
    #[test]
    fn signals_are_held_over_communication_steps() {
        for table in [steps(&driven(), CLOCK), sweeps(&driven(), CLOCK), random(&driven(), CLOCK, 20.0, 7)] {
            for k in 0..400 {
                let at = |share: f64| table.value_continuous(0, 2.0 + (f64::from(k) + share) * 1e-3);
                assert_eq!(at(0.0), at(0.99), "step {k}");
                assert!((-1.0..=3.0).contains(&at(0.0)));
            }
        }
    }

    #[test]
    fn every_variable_reaches_its_ends_and_every_discrete_value() {
        for table in [steps(&driven(), CLOCK), sweeps(&driven(), CLOCK)] {
            let u = values(&table, 0);
            let (low, high) = u.iter().fold((f64::MAX, f64::MIN), |(l, h), u| (l.min(*u), h.max(*u)));
            assert!(low <= -1.0 + 1e-12 && high >= 3.0 - 0.4, "{low} … {high}");
        }
        for table in [sweeps(&driven(), CLOCK), random(&driven(), CLOCK, 20.0, 7)] {
            let gear = values(&table, 1);
            assert!([1.0, 2.0, 3.0].iter().all(|value| gear.contains(value)));
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_signals_and_another_one_others() {
        let one = random(&driven(), CLOCK, 20.0, 7);
        assert_eq!(one, random(&driven(), CLOCK, 20.0, 7));
        assert_ne!(one, random(&driven(), CLOCK, 20.0, 8));
    }
}
