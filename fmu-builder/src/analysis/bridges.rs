//! Where a block falls in two by one cut: bridges of its coupling graph. Gustafsson, section 8.
//!
//! States are nodes; i and j are joined where J_ij or J_ji is kept. A bridge is an edge whose removal
//! disconnects its component: delaying it (`delay`) leaves two smaller systems. Gustafsson proposes Tarjan's
//! search (1974); here with its own stack, since a rod of a million cells would overflow the thread's.
//! O(nodes + edges). petgraph's `bridges` does not say how many states lie on each side, which the same
//! search finds.

/// A cut: dropping J_ij and J_ji for these two states separates `side` states, which include `b`, from the
/// rest of the component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Bridge {
    pub a: usize,
    pub b: usize,
    /// States on b's side.
    pub side: usize,
    /// States of the whole component.
    pub component: usize,
}

/// All bridges, the most even cuts first. Direction, self loops and repeated edges do not count; an edge that
/// names no node below n is ignored.
pub fn bridges(n: usize, edges: &[(usize, usize)]) -> Vec<Bridge> {
    let mut pairs: Vec<(usize, usize)> = edges
        .iter()
        .filter(|(a, b)| a != b && *a < n && *b < n)
        .map(|&(a, b)| (a.min(b), a.max(b)))
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut next: Vec<Vec<usize>> = vec![vec![]; n];
    for &(a, b) in &pairs {
        next[a].push(b);
        next[b].push(a);
    }
    const UNSEEN: usize = usize::MAX;
    let (mut found, mut order, mut low, mut size) = (vec![], vec![UNSEEN; n], vec![0; n], vec![1usize; n]);
    let mut clock = 0;
    for root in 0..n {
        if order[root] != UNSEEN {
            continue;
        }
        let first = found.len();
        let mut stack = vec![(root, UNSEEN, 0)]; // node, parent, next neighbour
        (order[root], low[root]) = (clock, clock);
        clock += 1;
        while let Some((v, parent, at)) = stack.last_mut() {
            let (v, parent) = (*v, *parent);
            if let Some(&w) = next[v].get(*at) {
                *at += 1;
                if order[w] == UNSEEN {
                    (order[w], low[w]) = (clock, clock);
                    clock += 1;
                    stack.push((w, v, 0));
                } else if w != parent {
                    low[v] = low[v].min(order[w]);
                }
            } else {
                stack.pop();
                if parent != UNSEEN {
                    low[parent] = low[parent].min(low[v]);
                    size[parent] += size[v];
                    if low[v] > order[parent] {
                        found.push(Bridge { a: parent, b: v, side: size[v], component: 0 });
                    }
                }
            }
        }
        found[first..].iter_mut().for_each(|b| b.component = size[root]);
    }
    let smaller = |b: &Bridge| b.side.min(b.component - b.side);
    found.sort_by(|x, y| smaller(y).cmp(&smaller(x)).then(x.cmp(y)));
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn components(n: usize, edges: &[(usize, usize)]) -> usize {
        let mut label: Vec<usize> = (0..n).collect();
        for &(a, b) in edges {
            let (x, y) = (label[a], label[b]);
            label.iter_mut().filter(|l| **l == x).for_each(|l| *l = y);
        }
        label.sort_unstable();
        label.dedup();
        label.len()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(100))]

        /// An edge is a bridge exactly if the components increase without it: Gustafsson's definition.
        #[test]
        fn bridges_by_definition(edges in prop::collection::vec((0usize..8, 0usize..8), 0..14)) {
            let found = bridges(8, &edges);
            let mut simple: Vec<(usize, usize)> =
                edges.iter().filter(|(a, b)| a != b).map(|&(a, b)| (a.min(b), a.max(b))).collect();
            simple.sort_unstable();
            simple.dedup();
            for &e in &simple {
                let rest: Vec<_> = simple.iter().copied().filter(|&x| x != e).collect();
                let is = components(8, &rest) > components(8, &simple);
                prop_assert_eq!(is, found.iter().any(|b| (b.a.min(b.b), b.a.max(b.b)) == e), "{:?}", e);
            }
        }
    }

    #[test]
    fn two_triangles_joined_by_one_edge() {
        let edges = [(0, 1), (1, 2), (2, 0), (2, 3), (3, 2), (3, 4), (4, 5), (5, 3)];
        assert_eq!(bridges(6, &edges), [Bridge { a: 2, b: 3, side: 3, component: 6 }]);
    }

    /// The coupled pendulums (109)-(112) form a ring xA - yA - xB - yB: no single cut separates them, and
    /// Gustafsson cuts two couplings.
    #[test]
    fn coupled_pendulums_have_no_bridge() {
        assert!(bridges(4, &[(0, 1), (1, 0), (1, 2), (2, 3), (3, 2), (3, 0)]).is_empty());
    }

    #[test]
    fn a_long_rod_is_cut_in_the_middle_without_recursion() {
        let n = 1_000_000;
        let edges: Vec<_> = (1..n).map(|i| (i - 1, i)).collect();
        let found = bridges(n, &edges);
        assert_eq!(found.len(), n - 1);
        assert_eq!(found[0].side, n / 2);
    }

    #[test]
    fn odd_inputs() {
        assert!(bridges(0, &[(0, 1)]).is_empty());
        assert!(bridges(2, &[(0, 0), (0, 7)]).is_empty());
    }
}
