//! Algebraic loops between states, and the one that breaks most of them when it is explicit.
//!
//! What must be solved together in an implicit step is a loop: a strong component of two or more states. An
//! explicit row uses the last step's values, a *delay of information* (Gustafsson, chapter 4), and leaves the
//! graph.

use super::{blt::components, pattern::Pattern};

/// The one state that, taken as slow (its row explicit), breaks most of the largest loop: the least largest
/// loop remains, then the least sum of squares, then the most entries fall away. Nothing when there is no
/// loop of two or more. In loops of thousands only the rows with the most edges through them are tried.
pub fn suggest_slow_row(pattern: &Pattern) -> Option<usize> {
    const CANDIDATES: usize = 300;
    let largest =
        components(pattern).into_iter().max_by_key(|part| (part.len(), std::cmp::Reverse(part[0])))?;
    if largest.len() < 2 {
        return None;
    }
    let mut local = vec![usize::MAX; pattern.n()];
    for (i, &state) in largest.iter().enumerate() {
        local[state as usize] = i;
    }
    let inside =
        |(i, j): (usize, usize)| Some((local[i], local[j])).filter(|at| at.0.max(at.1) != usize::MAX);
    let part = Pattern::varying(largest.len(), pattern.places().filter_map(inside));
    let through = part.transpose();
    let mut rows: Vec<usize> = (0..largest.len()).collect();
    rows.sort_by_key(|&i| std::cmp::Reverse(part.row(i).len() * through.row(i).len()));
    rows.truncate(CANDIDATES);
    let left = |&row: &usize| {
        let keep: Vec<bool> = part.places().map(|(i, _)| i != row).collect();
        let sizes: Vec<usize> = components(&part.mask(&keep)).iter().map(Vec::len).collect();
        let squares: usize = sizes.iter().map(|s| s * s).sum();
        (sizes.into_iter().max(), squares, std::cmp::Reverse(part.row(row).len()), row)
    };
    rows.iter().min_by_key(|row| left(row)).map(|&row| largest[row] as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pendulum's states x, y, theta, phi, (35)-(38): phi slow leaves the loop of x and y only, as
    /// section 4.1 proposes.
    #[test]
    fn the_slow_row_of_the_pendulum_is_phi() {
        let rows: [&[usize]; 4] = [&[1], &[0, 2, 3], &[3], &[0, 1, 2, 3]];
        let entries = rows.iter().enumerate().flat_map(|(i, row)| row.iter().map(move |&j| (i, j)));
        assert_eq!(suggest_slow_row(&Pattern::varying(4, entries)), Some(3));
        assert_eq!(suggest_slow_row(&Pattern::varying(3, [(0, 0), (1, 0), (2, 1)])), None);
        // Two rings that share state 2: slow, it breaks both.
        let rings = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 4), (4, 2)];
        assert_eq!(suggest_slow_row(&Pattern::varying(5, rings)), Some(2));
    }
}
