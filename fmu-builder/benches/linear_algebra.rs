//! What the linear algebra of a fully implicit step costs: `cargo bench -p fmu-builder`.
//!
//! Times are means over a batch, so that reading the clock does not count, and the fastest of many batches:
//! whatever else the machine does only adds.

use fmu_builder::structure::typical::{band, grid, robot, second_order};
use fmu_builder::structure::{Pattern, plan_parts};
use fmu_runtime::lu::{Factors, operations};
use std::time::Instant;

const H: f64 = 0.01;

fn main() {
    println!(
        "| structure | states | entries | colours | tears | operations | refactor | solve | both | \
         operations per ns | built in |"
    );
    println!("|---|---|---|---|---|---|---|---|---|---|---|");
    for (name, pattern) in [
        ("robot, 6 axes", robot(6)),
        ("robot, 13 axes", robot(13)),
        ("full second order", second_order(18)),
        ("full second order", second_order(39)),
        ("rod", band(1000, 1)),
        ("rod", band(10_000, 1)),
        ("band of 7", band(1000, 3)),
        ("grid, 45 x 45", grid(45)),
        ("diagonal", band(1000, 0)),
    ] {
        row(name, &pattern);
    }
}

fn row(name: &str, pattern: &Pattern) {
    let values: Vec<f64> = pattern
        .places()
        .enumerate()
        .map(|(e, (i, j))| (e as f64 * 0.7).sin() - if i == j { 4.0 } else { 0.0 })
        .collect();
    let (all, none) = (vec![true; pattern.len()], vec![false; pattern.len()]);
    let begin = Instant::now();
    let (jacobian, elimination) = plan_parts(pattern, &all, &none, H, std::slice::from_ref(&values));
    let built = begin.elapsed();
    let count = operations(&elimination);
    let mut factors = Factors::new(&elimination, &jacobian).expect("a plan of our own");
    let r: Vec<f64> = (0..pattern.n()).map(|i| (i as f64).sin()).collect();
    let mut d = vec![0.0; pattern.n()];
    let mut balance = factors.balance();
    let batch = (20_000 / count.refactor.max(1)).max(1);
    let batches = (500_000_000 / count.refactor.max(1) / batch).clamp(20, 20_000);
    let mut fastest = [f64::INFINITY; 3];
    for _ in 0..batches {
        for (fastest, (refactor, solve)) in
            fastest.iter_mut().zip([(true, false), (false, true), (true, true)])
        {
            let begin = Instant::now();
            for _ in 0..batch {
                if refactor {
                    factors.refactor(H, &values, &mut balance).expect("stable values");
                }
                if solve {
                    d.iter_mut().zip(&r).for_each(|(d, r)| *d = H * r);
                    factors.solve(&mut d);
                }
            }
            *fastest = fastest.min(begin.elapsed().as_secs_f64() / batch as f64);
        }
    }
    let tears: u32 = elimination.blocks.iter().map(|block| block.tears).sum();
    println!(
        "| {name} | {} | {} | {} | {tears} | {} + {} | {:.2} µs | {:.2} µs | {:.2} µs | {:.2} | {:.0} ms |",
        pattern.n(),
        pattern.len(),
        jacobian.colours.len(),
        count.refactor,
        count.solve,
        fastest[0] * 1e6,
        fastest[1] * 1e6,
        fastest[2] * 1e6,
        (count.refactor + count.solve) as f64 / (fastest[2] * 1e9),
        built.as_secs_f64() * 1e3,
    );
}
