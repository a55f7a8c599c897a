//! The parts together: patterns to plan, plan to numbers, numbers against dense linear algebra.
#![allow(clippy::unwrap_used, clippy::needless_range_loop)]

use super::typical::{band, grid, second_order};
use super::{Pattern, Variation, plan_parts};
use fmu_runtime::{
    lu::{Factors, Number, operations},
    plan::{Elimination, Events, Jacobian, Method, Model, Plan, States, Step, VERSION, Variables},
};
use proptest::prelude::*;
use std::cell::Cell;

/// A linear system x' = A x with units: a_ij is given for states of magnitude 1, scale_i is what they really are.
#[derive(Clone, Debug)]
struct System {
    pattern: Pattern,
    kept: Vec<bool>,
    negligible: Vec<bool>,
    values: Vec<f64>,
    other: Vec<f64>,
    scales: Vec<f64>,
    r: Vec<f64>,
    h: f64,
}

impl System {
    fn scaled(&self, values: &[f64]) -> Vec<f64> {
        let scale = |(i, j): (usize, usize)| self.scales[i] / self.scales[j];
        self.pattern.places().zip(values).map(|(at, v)| v * scale(at)).collect()
    }

    fn parts(&self) -> (Jacobian, Elimination) {
        let samples = [self.scaled(&self.values), self.scaled(&self.other)];
        plan_parts(&self.pattern, &self.kept, &self.negligible, self.h, &samples)
    }

    /// The values of the plan's entries.
    fn entries(&self, jacobian: &Jacobian, values: &[f64]) -> Vec<f64> {
        let at = |(&i, &j): (&u32, &u32)| values[self.pattern.find(i as usize, j as usize).unwrap()];
        jacobian.rows.iter().zip(&jacobian.cols).map(at).collect()
    }

    /// W in units of 1.
    fn dense(&self) -> Vec<Vec<f64>> {
        let n = self.pattern.n();
        let mut w = vec![vec![0.0; n]; n];
        for (e, (i, j)) in self.pattern.places().enumerate().filter(|&(e, _)| self.kept[e]) {
            w[i][j] -= self.h * self.values[e];
        }
        for (i, row) in w.iter_mut().enumerate() {
            row[i] += 1.0;
        }
        w
    }

    /// d in units of 1.
    fn solve(&self, factors: &mut Factors, values: &[f64]) -> Option<Vec<f64>> {
        let r: Vec<f64> = self.r.iter().zip(&self.scales).map(|(r, s)| r * s).collect();
        let mut d: Vec<f64> = r.iter().map(|r| self.h * r).collect();
        let mut balance = factors.balance();
        factors.refactor(self.h, values, &mut balance).ok()?;
        factors.solve(&mut d);
        Some(d.iter().zip(&self.scales).map(|(d, s)| d / s).collect())
    }
}

fn system(most: usize) -> impl Strategy<Value = System> {
    let sizes = (0..=most, 0..5usize, 0..4u32, any::<bool>(), any::<u64>());
    (sizes, 0.01..3.0f64).prop_map(|((n, per_row, pairs, wild, seed), h)| {
        let mut random = Random(seed);
        let mut entries = Vec::new();
        for i in 0..n {
            // Some rows are x' = v, some have nothing.
            if random.below(4) < pairs as usize {
                entries.push((i, random.below(n), Variation::Constant));
                continue;
            }
            for _ in 0..random.below(2 * per_row + 1) {
                let constant = random.below(3) == 0;
                let variation = if constant { Variation::Constant } else { Variation::Varying };
                entries.push((i, random.below(n), variation));
            }
        }
        if random.below(8) == 0 {
            entries.extend((0..n).flat_map(|i| (0..n).map(move |j| (i, j, Variation::Varying))));
        }
        // Several axes alike, some of which need earlier ones.
        if random.below(3) == 0 {
            let size = 2 + random.below(3);
            let unit: Vec<(usize, usize)> =
                (0..2 * size).map(|_| (random.below(size), random.below(size))).collect();
            entries.clear();
            for first in (0..(n + 1).saturating_sub(size)).step_by(size) {
                entries.extend(unit.iter().map(|&(i, j)| (first + i, first + j, Variation::Varying)));
                if first > 0 && random.below(3) == 0 {
                    entries.push((first + random.below(size), random.below(first), Variation::Varying));
                }
            }
        }
        let alike = random.below(2) == 0;
        let pattern = Pattern::new(n, entries);
        let slow: Vec<bool> = (0..n).map(|_| !alike && random.below(6) == 0).collect();
        let kept: Vec<bool> =
            pattern.places().map(|(i, _)| alike || !slow[i] && random.below(8) > 0).collect();
        let negligible: Vec<bool> = kept.iter().map(|&kept| !kept && random.below(3) == 0).collect();
        let mut values = |spread: f64| -> Vec<f64> {
            (0..pattern.len()).map(|_| random.unit() * f64::exp(spread * random.unit())).collect()
        };
        let (first, other) = (values(2.0), values(2.0));
        let mut list = |f: fn(f64) -> f64| -> Vec<f64> { (0..n).map(|_| f(random.unit())).collect() };
        let scales = list(if wild { |u| 10f64.powf(9.0 * u) } else { |_| 1.0 });
        System { r: list(|u| u), pattern, kept, negligible, values: first, other, scales, h }
    })
}

/// Knuth's MMIX generator: a seed that proptest can shrink makes the whole system.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        self.0 >> 33
    }

    fn below(&mut self, n: usize) -> usize {
        self.next() as usize % n.max(1)
    }

    /// In -1..1.
    fn unit(&mut self) -> f64 {
        self.next() as f64 / (1u64 << 30) as f64 - 1.0
    }
}

/// Gauss with complete pivoting: the solution and the smallest pivot relative to the largest entry.
fn gauss(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> (Vec<f64>, f64) {
    let n = b.len();
    let mut columns: Vec<usize> = (0..n).collect();
    let largest = a.iter().flatten().fold(0.0, |m: f64, v| m.max(v.abs()));
    let mut smallest = f64::INFINITY;
    for k in 0..n {
        let places = (k..n).flat_map(|i| (k..n).map(move |j| (i, j)));
        let (i, j) = places.max_by(|x, y| a[x.0][x.1].abs().total_cmp(&a[y.0][y.1].abs())).unwrap();
        a.swap(k, i);
        b.swap(k, i);
        a.iter_mut().for_each(|row| row.swap(k, j));
        columns.swap(k, j);
        smallest = smallest.min(a[k][k].abs() / largest);
        for i in k + 1..n {
            let l = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= l * a[k][j];
            }
            b[i] -= l * b[k];
        }
    }
    let mut x = vec![0.0; n];
    for k in (0..n).rev() {
        let sum: f64 = (k + 1..n).map(|j| a[k][j] * x[columns[j]]).sum();
        x[columns[k]] = (b[k] - sum) / a[k][k];
    }
    (x, smallest)
}

fn norm(x: &[f64]) -> f64 {
    x.iter().fold(0.0, |m, v| m.max(v.abs()))
}

/// max |W d - h r| relative to max |W| max |d|: the backward error.
fn residual(system: &System, d: &[f64]) -> f64 {
    let w = system.dense();
    let each =
        |(row, r): (&Vec<f64>, &f64)| row.iter().zip(d).map(|(w, d)| w * d).sum::<f64>() - system.h * r;
    let residual: Vec<f64> = w.iter().zip(&system.r).map(each).collect();
    norm(&residual) / (norm(&w.concat()) * norm(d)).max(f64::MIN_POSITIVE)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Blocks, tears and units change nothing: W d = h r holds to the rounding of the worst pivot that
    /// counts as safe (1e-16 / 1e-6, some slack), for states of magnitude 1e-9 to 1e9. A refusal must be deserved.
    #[test]
    fn block_solution_is_the_dense_solution(system in system(40)) {
        let (jacobian, elimination) = system.parts();
        let values = system.entries(&jacobian, &system.scaled(&system.values));
        let mut factors = Factors::new(&elimination, &jacobian).unwrap();
        let (exact, smallest) = gauss(system.dense(), system.r.iter().map(|r| system.h * r).collect());
        match system.solve(&mut factors, &values) {
            Some(d) => {
                prop_assert!(residual(&system, &d) < 1e-9, "residual {:e}", residual(&system, &d));
                let error: Vec<f64> = d.iter().zip(&exact).map(|(a, b)| a - b).collect();
                prop_assert!(norm(&error) <= 1e-8 / smallest.min(1.0) * norm(&exact));
            }
            None => prop_assert!(smallest < 1e-8, "refused, but the least pivot is {smallest:e}"),
        }
    }

    /// Refactoring over old factors gives bit for bit what a fresh kernel gives.
    #[test]
    fn update_equals_fresh(system in system(30)) {
        let (jacobian, elimination) = system.parts();
        let values = system.entries(&jacobian, &system.scaled(&system.values));
        let other = system.entries(&jacobian, &system.scaled(&system.other));
        let mut used = Factors::new(&elimination, &jacobian).unwrap();
        let mut fresh = used.clone();
        system.solve(&mut used, &other);
        prop_assert_eq!(system.solve(&mut used, &values), system.solve(&mut fresh, &values));
    }

    /// Renaming the states changes nothing but rounding.
    #[test]
    fn permuting_the_states_changes_only_rounding(system in system(25), seed in any::<u64>()) {
        let n = system.pattern.n();
        let mut order: Vec<u32> = (0..n as u32).collect();
        let mut random = Random(seed);
        for i in (1..n).rev() { order.swap(i, random.below(i + 1)); }
        let pattern = system.pattern.permute(&order);
        let from = |(i, j): (usize, usize)| {
            system.pattern.find(order[i] as usize, order[j] as usize).unwrap()
        };
        let entries: Vec<usize> = pattern.places().map(from).collect();
        let list = |v: &[f64]| -> Vec<f64> { entries.iter().map(|&e| v[e]).collect() };
        let by_state = |v: &[f64]| -> Vec<f64> { order.iter().map(|&i| v[i as usize]).collect() };
        let renamed = System {
            kept: entries.iter().map(|&e| system.kept[e]).collect(),
            negligible: entries.iter().map(|&e| system.negligible[e]).collect(),
            values: list(&system.values), other: list(&system.other),
            scales: by_state(&system.scales), r: by_state(&system.r), pattern, h: system.h,
        };
        let solve = |system: &System| {
            let (jacobian, elimination) = system.parts();
            let values = system.entries(&jacobian, &system.scaled(&system.values));
            system.solve(&mut Factors::new(&elimination, &jacobian).unwrap(), &values)
        };
        let (_, smallest) = gauss(system.dense(), system.r.clone());
        if let (Some(a), Some(b)) = (solve(&system), solve(&renamed)) {
            let error: Vec<f64> = by_state(&a).iter().zip(&b).map(|(a, b)| a - b).collect();
            prop_assert!(norm(&error) <= 1e-8 / smallest.min(1.0) * norm(&a));
        }
    }

    /// Every plan that is built is a valid one, and JSON keeps it.
    #[test]
    fn plans_pass_their_check(system in system(40)) {
        let plan = plan(&system);
        prop_assert_eq!(plan.check(), Ok(()));
        let text = serde_json::to_string(&plan).unwrap();
        prop_assert_eq!(serde_json::from_str::<Plan>(&text).unwrap(), plan);
    }

    /// What is reported is what is executed: the same kernel on numbers that count their products.
    #[test]
    fn operations_are_counted_exactly(system in system(30)) {
        let (jacobian, elimination) = system.parts();
        let values = system.entries(&jacobian, &system.values);
        let mut factors = Factors::<Counted>::new(&elimination, &jacobian).unwrap();
        let count = |f: &mut dyn FnMut()| { COUNT.set(0); f(); COUNT.get() };
        let mut is_ok = false;
        let mut balance = factors.balance();
        let first = count(&mut || is_ok = factors.refactor(system.h, &values, &mut balance).is_ok());
        prop_assume!(is_ok);
        let refactor = count(&mut || factors.refactor(system.h, &values, &mut balance).unwrap());
        let solve = count(&mut || {
            let mut d: Vec<Counted> = system.r.iter().map(|&r| Counted(system.h) * Counted(r)).collect();
            factors.solve(&mut d);
        });
        let reported = operations(&elimination);
        prop_assert_eq!((reported.refactor, reported.solve), (refactor, solve));
        prop_assert_eq!(reported.refactor + reported.balance, first);
    }

    /// Perturb a linear model by colours and every kept entry comes back exactly: integers, so
    /// that sums and differences are exact. What is negligible is 0 here, as ignoring it claims.
    #[test]
    fn colours_recover_the_entries(system in system(25), seed in any::<u64>()) {
        let (jacobian, _) = system.parts();
        let mut random = Random(seed);
        let ignored = |e: usize| system.negligible[e] && !system.kept[e];
        let integers: Vec<f64> = (0..system.pattern.len())
            .map(|e| if ignored(e) { 0.0 } else { random.below(1000) as f64 }).collect();
        let truth = system.entries(&jacobian, &integers);
        let run = |colours: &[fmu_runtime::plan::Colour], found: &mut Vec<f64>| {
            for colour in colours {
                let mut sum = vec![0.0; system.pattern.n()];
                for (e, (i, j)) in system.pattern.places().enumerate() {
                    if colour.columns.contains(&(j as u32)) { sum[i] += integers[e]; }
                }
                for &(entry, known) in &colour.known {
                    sum[jacobian.rows[entry as usize] as usize] -= found[known as usize];
                }
                for &entry in &colour.entries {
                    found[entry as usize] = sum[jacobian.rows[entry as usize] as usize];
                }
            }
        };
        let mut found = vec![f64::NAN; truth.len()];
        run(&jacobian.setup, &mut found);
        prop_assert_eq!(&found, &truth, "setup");
        // Forget what varies and is kept: the colours bring it back.
        for (e, value) in found.iter_mut().enumerate() {
            let (i, j) = (jacobian.rows[e] as usize, jacobian.cols[e] as usize);
            let at = system.pattern.find(i, j).unwrap();
            if system.pattern.variation(at) == Variation::Varying { *value = f64::NAN; }
        }
        run(&jacobian.colours, &mut found);
        prop_assert_eq!(found, truth, "colours");
    }
}

thread_local!(static COUNT: Cell<u64> = const { Cell::new(0) });

/// A number that counts multiplications and divisions.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Counted(f64);

impl From<f64> for Counted {
    fn from(value: f64) -> Counted {
        Counted(value)
    }
}

impl Number for Counted {
    fn abs(self) -> Counted {
        Counted(self.0.abs())
    }
    fn sqrt(self) -> Counted {
        Counted(self.0.sqrt())
    }
}

fn count(products: u64) {
    COUNT.set(COUNT.get() + products);
}

macro_rules! operator {
    ($trait:ident, $method:ident, $price:expr) => {
        impl std::ops::$trait for Counted {
            type Output = Counted;
            fn $method(self, other: Counted) -> Counted {
                count($price);
                Counted(std::ops::$trait::$method(self.0, other.0))
            }
        }
    };
}
operator!(Add, add, 0);
operator!(Sub, sub, 0);
operator!(Mul, mul, 1);
operator!(Div, div, 1);

fn plan(system: &System) -> Plan {
    let (jacobian, elimination) = system.parts();
    let n = system.pattern.n();
    Plan {
        version: VERSION,
        model: Model {
            name: "test".into(),
            identifier: "test".into(),
            inner_guid: "a".into(),
            guid: "b".into(),
            log_categories: Vec::new(),
            can_get_and_set_state: true,
            can_serialize_state: false,
            provides_directional_derivative: false,
            instantiate_only_once: false,
            completed_step_needed: false,
            time_invariant: false,
            outputs_need_evaluation: false,
            writes_beyond: false,
        },
        step: Step { method: Method::Lie, h: system.h, substeps: 1, limit: 0.01 },
        watch: None,
        fallback: None,
        states: States {
            names: (0..n).map(|i| format!("x{i}")).collect(),
            references: (0..n as u32).collect(),
            derivative_references: (0..n as u32).collect(),
            nominals: system.scales.clone(),
            sizes: system.scales.clone(),
        },
        variables: Variables::default(),
        jacobian,
        elimination,
        events: Events {
            indicators: 0,
            bisections: 10,
            max_per_step: 4,
            max_iterations: 10,
            may_be_nan: false,
        },
        accuracy: None,
        diagnostics: Vec::new(),
        inner: None,
        shell: None,
    }
}

/// A system with every entry kept and random values, strong on the diagonal.
fn stable(pattern: Pattern, h: f64) -> System {
    let mut random = Random(7);
    let n = pattern.n();
    let places = pattern.places();
    let values: Vec<f64> = places.map(|(i, j)| random.unit() - f64::from(i == j) * 4.0).collect();
    System {
        kept: vec![true; pattern.len()],
        negligible: vec![false; pattern.len()],
        other: values.clone(),
        values,
        scales: vec![1.0; n],
        r: (0..n).map(|i| (i as f64).sin()).collect(),
        h,
        pattern,
    }
}

fn tears(elimination: &Elimination) -> u32 {
    elimination.blocks.iter().map(|block| block.tears).sum()
}

/// A rod is eliminated whole: no fill beside the band, no tears, 3 multiply-adds a cell to factor.
#[test]
fn rod_costs_grow_linearly() {
    let cost = |n| {
        let (_, elimination) = stable(band(n, 1), 0.1).parts();
        assert_eq!((elimination.blocks.len(), tears(&elimination)), (1, 0));
        assert!(elimination.cols.len() <= 3 * n, "fill beside the band");
        operations(&elimination)
    };
    let (small, large) = (cost(1_000), cost(10_000));
    assert!(large.refactor <= 10 * small.refactor + 100 && large.refactor < 10 * 10_000);
    assert!(large.solve <= 10 * small.solve + 100 && large.solve < 5 * 10_000);
}

/// (5.16): of n positions and n velocities only n are left to be solved together.
#[test]
fn second_order_systems_are_halved() {
    let (_, elimination) = stable(second_order(18), 0.01).parts();
    assert_eq!((elimination.blocks.len(), elimination.blocks[0].tears), (1, 18));
    assert!(elimination.order[..18].iter().all(|&state| state < 18), "positions go first");
}

/// A pivot that a sample shows to vanish is not eliminated: 1 - h a_11 = 0 in the second of two samples.
#[test]
fn unsafe_pivots_become_tears() {
    let mut system = stable(band(4, 1), 1.0);
    let first = system.pattern.find(0, 0).unwrap();
    assert_eq!(tears(&system.parts().1), 0);
    system.other[first] = 1.0;
    let (jacobian, elimination) = system.parts();
    assert!(tears(&elimination) >= 1);
    assert!(elimination.order[4 - tears(&elimination) as usize..].contains(&0));
    system.values[first] = 1.0;
    let values = system.entries(&jacobian, &system.values);
    let d = system.solve(&mut Factors::new(&elimination, &jacobian).unwrap(), &values).unwrap();
    assert!(residual(&system, &d) < 1e-14);
}

/// Minimum degree on a 45 x 45 grid: far below the band's n w^2 = 4 million, and quick to find.
#[test]
fn grid_does_not_explode() {
    let system = stable(grid(45), 0.1);
    let (_, elimination) = system.parts();
    let count = operations(&elimination);
    assert!(count.refactor < 1_500_000, "{count:?}");
    assert!(elimination.cols.len() < 100_000, "{}", elimination.cols.len());
}

/// Colours at or one above the largest row: bands (2 w + 1), arrows, random sparse models.
#[test]
fn colours_meet_their_bound() {
    let none = |p: &Pattern| vec![false; p.len()];
    let count = |p: &Pattern| {
        let (kept, none) = (vec![true; p.len()], none(p));
        let bound = super::colour::lower_bound(p, &kept, &none, &none);
        (super::colour(p, &kept, &none, &none).len(), bound)
    };
    for width in 1..6 {
        assert_eq!(count(&band(300, width)), (2 * width + 1, 2 * width + 1));
    }
    // First column and diagonal: all but the first share a colour. With the first row: none can.
    let arrow: Vec<_> = (0..50).flat_map(|i| [(i, 0), (i, i)]).collect();
    assert_eq!(count(&Pattern::varying(50, arrow.clone())), (2, 2));
    let full = arrow.into_iter().chain((0..50).map(|j| (0, j)));
    assert_eq!(count(&Pattern::varying(50, full)), (50, 50));
    let mut random = Random(3);
    for n in [20, 100, 1000] {
        let entries: Vec<_> =
            (0..n).flat_map(|i| [(i, i), (i, random.below(n)), (i, random.below(n))]).collect();
        let (colours, bound) = count(&Pattern::varying(n, entries));
        println!("random sparse, n = {n}: {colours} colours, at least {bound}");
        assert!(colours <= bound + 1);
    }
}

/// Constants need no evaluation: a linear model has no colours, and x' = v rows cost none.
#[test]
fn constants_need_no_colours() {
    let linear = Pattern::new(5, (0..5).flat_map(|i| (0..5).map(move |j| (i, j, Variation::Constant))));
    let (jacobian, _) = stable(linear, 0.1).parts();
    assert_eq!((jacobian.colours.len(), jacobian.setup.len()), (0, 5));
    // Row 0 varies in column 0 and is constant in column 1; row 1 the other way round: one colour does both.
    use Variation::{Constant, Varying};
    let mixed = Pattern::new(2, [(0, 0, Varying), (0, 1, Constant), (1, 0, Constant), (1, 1, Varying)]);
    let (jacobian, _) = stable(mixed, 0.1).parts();
    assert_eq!(jacobian.colours.len(), 1);
    assert_eq!(jacobian.colours[0].known.len(), 2);
}
