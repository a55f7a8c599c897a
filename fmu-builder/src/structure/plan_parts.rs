//! Patterns and choices to the plan's own tables: entries, colours, order of solution.

use super::{
    colour::colour,
    eliminate::eliminate,
    pattern::{Pattern, Variation},
};
use fmu_runtime::plan::{Colour, Elimination, Jacobian, JacobianSource, Policy};

/// `all` is what the model's derivatives depend on, `kept` the entries of A, `negligible` those others that
/// may be ignored in a difference, `samples` Jacobians aligned with `all`. The Jacobian has the kept entries
/// and, of the constant ones that are not kept, those that are subtracted from a difference, in `all`'s
/// order. The caller may change its policy and source.
///
/// Setup finds every entry and ignores none: it comes once, and what is negligible beside one
/// entry may not be so beside another.
pub fn plan_parts(
    all: &Pattern,
    kept: &[bool],
    negligible: &[bool],
    h: f64,
    samples: &[Vec<f64>],
) -> (Jacobian, Elimination) {
    let known: Vec<bool> = (0..all.len()).map(|e| all.variation(e) == Variation::Constant).collect();
    let mut colours = colour(all, kept, &known, negligible);
    let mut tracked = kept.to_vec();
    for &(_, entry) in colours.iter().flat_map(|colour| &colour.known) {
        tracked[entry as usize] = true;
    }
    let none = vec![false; all.len()];
    let mut setup = colour(all, &tracked, &none, &none);

    // Numbers in the plan, and among the kept entries.
    let (numbers, entries) = number(&tracked);
    for colour in colours.iter_mut().chain(&mut setup) {
        renumber(colour, &numbers);
    }
    let rows = all.rows();
    let jacobian = Jacobian {
        rows: entries.iter().map(|&e| rows[e]).collect(),
        cols: entries.iter().map(|&e| all.col(e) as u32).collect(),
        policy: Policy::Every,
        source: JacobianSource::Differences,
        setup,
        colours,
    };
    let (_, kept_entries) = number(kept);
    let samples: Vec<Vec<f64>> =
        samples.iter().map(|sample| kept_entries.iter().map(|&e| sample[e]).collect()).collect();
    let mut elimination = eliminate(&all.mask(kept), h, &samples);
    for entry in elimination.entries.iter_mut().chain(&mut elimination.outer) {
        *entry = numbers[kept_entries[*entry as usize]];
    }
    (jacobian, elimination)
}

/// The number of each marked entry, and the marked entries.
fn number(marked: &[bool]) -> (Vec<u32>, Vec<usize>) {
    let entries: Vec<usize> = (0..marked.len()).filter(|&e| marked[e]).collect();
    let mut numbers = vec![u32::MAX; marked.len()];
    for (number, &e) in entries.iter().enumerate() {
        numbers[e] = number as u32;
    }
    (numbers, entries)
}

fn renumber(colour: &mut Colour, numbers: &[u32]) {
    for entry in &mut colour.entries {
        *entry = numbers[*entry as usize];
    }
    for (entry, known) in &mut colour.known {
        (*entry, *known) = (numbers[*entry as usize], numbers[*known as usize]);
    }
}
