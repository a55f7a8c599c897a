//! Patterns that models typically have: what tests and benchmarks are made of.

use super::Pattern;

pub fn band(n: usize, width: usize) -> Pattern {
    let range = move |i: usize| i.saturating_sub(width)..(i + width + 1).min(n);
    Pattern::varying(n, (0..n).flat_map(|i| range(i).map(move |j| (i, j))))
}

/// q' = v, v' = f(q, v) with every v' depending on everything.
pub fn second_order(n: usize) -> Pattern {
    let row = move |i: usize| if i < n { n + i..n + i + 1 } else { 0..2 * n };
    Pattern::varying(2 * n, (0..2 * n).flat_map(|i| row(i).map(move |j| (i, j))))
}

/// A robot: per axis joint q, v; motor q, v; two states of a controller. The joints' accelerations depend on
/// all joints.
pub fn robot(axes: usize) -> Pattern {
    let mut entries = Vec::new();
    for i in 0..axes {
        let at = |k: usize| 6 * i + k;
        entries.extend([(at(0), at(1)), (at(2), at(3)), (at(4), at(2)), (at(5), at(3))]);
        entries.extend((0..axes).flat_map(|j| [(at(1), 6 * j), (at(1), 6 * j + 1)]));
        entries.extend((0..4).map(|k| (at(1), at(k))));
        entries.extend((0..6).map(|k| (at(3), at(k))));
        entries.extend([(at(4), at(4)), (at(5), at(5)), (at(5), at(4))]);
    }
    Pattern::varying(6 * axes, entries)
}

pub fn grid(side: usize) -> Pattern {
    let at = move |x: usize, y: usize| y * side + x;
    let mut entries = Vec::new();
    for (x, y) in (0..side).flat_map(|y| (0..side).map(move |x| (x, y))) {
        entries.push((at(x, y), at(x, y)));
        for (a, b) in [(x + 1, y), (x, y + 1)].into_iter().filter(|&(a, b)| a < side && b < side) {
            entries.extend([(at(x, y), at(a, b)), (at(a, b), at(x, y))]);
        }
    }
    Pattern::varying(side * side, entries)
}
