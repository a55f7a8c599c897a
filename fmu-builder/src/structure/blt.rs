//! Block lower triangular form: what can be solved before what, and what only together.
//!
//! For W = I - h A every row has its diagonal, so the blocks are the strong components of the graph of A (row
//! i waits for column j): no matching of equations to variables is needed. Kosaraju's search (petgraph),
//! which does not recurse.

use super::pattern::Pattern;
use petgraph::algo::kosaraju_scc;
use petgraph::graph::DiGraph;

/// The order of solution of a kept pattern.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blt {
    /// Rows without any entry: known at once.
    pub explicit: Vec<u32>,
    /// The other rows, block by block; a block only needs what comes before it. Blocks that could change
    /// places are ordered by their shape: the solver handles alike neighbours together. States ascend in a
    /// block.
    pub blocks: Vec<Vec<u32>>,
}

/// O(rows + entries), and a sort of the blocks.
pub fn blt(kept: &Pattern) -> Blt {
    let explicit = (0..kept.n() as u32).filter(|&i| kept.row(i as usize).is_empty()).collect();
    let mut blocks = components(kept);
    blocks.retain(|block| block.len() > 1 || !kept.row(block[0] as usize).is_empty());
    // How many blocks must come before a row's, one after the other.
    let mut level = vec![0; kept.n()];
    for block in &blocks {
        let needs = block.iter().flat_map(|&row| kept.row(row as usize));
        let most = 1 + needs.map(|&column| level[column as usize]).max().unwrap_or(0);
        block.iter().for_each(|&row| level[row as usize] = most);
    }
    let entries = |block: &[u32]| block.iter().map(|&row| kept.row(row as usize).len()).sum::<usize>();
    blocks.sort_by_cached_key(|block| (level[block[0] as usize], block.len(), entries(block), block[0]));
    Blt { explicit, blocks }
}

/// Strong components, each after those that its rows depend on; ascending inside. Kosaraju's algorithm does
/// not recurse, so that a chain of a million states does not overflow the stack, as Tarjan's in the same
/// crate does.
pub fn components(pattern: &Pattern) -> Vec<Vec<u32>> {
    let mut graph = DiGraph::<(), (), u32>::with_capacity(pattern.n(), pattern.len());
    for _ in 0..pattern.n() {
        graph.add_node(());
    }
    graph.extend_with_edges(pattern.places().map(|(row, col)| (row as u32, col as u32)));
    let mut found: Vec<Vec<u32>> = kosaraju_scc(&graph)
        .into_iter()
        .map(|component| component.into_iter().map(|node| node.index() as u32).collect())
        .collect();
    found.iter_mut().for_each(|component| component.sort_unstable());
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A chain each way, a hub, and a million edges: no recursion, no quadratic time.
    #[test]
    fn large_graphs_are_quick() {
        let n = 200_000;
        let chain = Pattern::varying(n, (1..n).map(|i| (i, i - 1)));
        let forward = blt(&chain);
        assert_eq!((forward.explicit, forward.blocks.len()), (vec![0], n - 1));
        assert_eq!(forward.blocks[0], [1]);
        let backward = blt(&chain.transpose());
        assert_eq!(backward.explicit, [n as u32 - 1]);
        assert_eq!(backward.blocks[0], [n as u32 - 2]);
        let ring = Pattern::varying(n, (0..n).map(|i| (i, (i + 1) % n)));
        assert_eq!(blt(&ring).blocks.len(), 1);
        let many = Pattern::varying(1000, (0..1000).flat_map(|i| (0..1000).map(move |j| (i, j))));
        assert_eq!(blt(&many).blocks.len(), 1);
    }

    fn any_pattern() -> impl Strategy<Value = Pattern> {
        (1..12usize).prop_flat_map(|n| {
            prop::collection::vec((0..n, 0..n), 0..3 * n)
                .prop_map(move |entries| Pattern::varying(n, entries))
        })
    }

    proptest! {
        /// Two states share a block exactly when each reaches the other; a block reaches only earlier ones.
        #[test]
        fn blocks_are_mutual_reachability(pattern in any_pattern()) {
            let n = pattern.n();
            let mut reach = vec![vec![false; n]; n];
            for (i, j) in pattern.places() { reach[i][j] = true; }
            for k in 0..n { for i in 0..n { for j in 0..n {
                reach[i][j] |= reach[i][k] && reach[k][j];
            } } }
            let parts = components(&pattern);
            let mut block = vec![usize::MAX; n];
            for (b, part) in parts.iter().enumerate() {
                for &i in part { block[i as usize] = b; }
            }
            for i in 0..n { for j in 0..n {
                prop_assert_eq!(block[i] == block[j], i == j || (reach[i][j] && reach[j][i]));
                prop_assert!(!reach[i][j] || block[j] <= block[i]);
            } }
        }
    }
}
