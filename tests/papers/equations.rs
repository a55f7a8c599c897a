//! Algebraic loops of a system of equations, and how a delay of information breaks them: Gustafsson, chapters 2, 4 and 5.
//!
//! Inline integration adds x = old(x) + h der(x) to the model's equations and solves all of them for all
//! unknowns at t+h. What must be solved together is a loop; what is left of a loop to iterate on is
//! found by tearing. Using a value of the last step for a variable in one equation (a *delay of information*;
//! for der(x) in the line above it is explicit Euler) removes one edge, which may shrink or split the loop.
//!
//! An FMU shows states and no equations, so that the product asks this of states alone (`loops`). Here the printed examples are
//! reproduced.

use fmu_builder::structure::{Pattern, blt::components};
use petgraph::algo::maximum_matching;
use petgraph::graph::{NodeIndex, UnGraph};

/// As many equations as unknowns, by name.
#[derive(Clone, Debug)]
pub struct Equations {
    pub equations: Vec<String>,
    pub variables: Vec<String>,
    incidence: Pattern,
}

/// Equations and variables that can only be solved together; one of each where there is no loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    pub equations: Vec<usize>,
    pub variables: Vec<usize>,
}

/// What Proposition 1 makes of a graph.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// In each round the (equation, variable) pairs that it defines.
    pub rounds: Vec<Vec<(usize, usize)>>,
    /// Equations that stay: empty when the loops are broken.
    pub rest: Vec<usize>,
}

impl Equations {
    /// From each equation's name and its unknowns, separated by blanks. Unknowns are numbered as they appear.
    pub fn new(list: &[(&str, &str)]) -> Result<Equations, String> {
        let mut variables: Vec<String> = Vec::new();
        let mut entries = Vec::new();
        for (i, (_, unknowns)) in list.iter().enumerate() {
            for name in unknowns.split_whitespace() {
                let j = variables.iter().position(|v| v == name).unwrap_or_else(|| {
                    variables.push(name.into());
                    variables.len() - 1
                });
                entries.push((i, j));
            }
        }
        if variables.len() != list.len() {
            return Err(format!("{} equations for {} unknowns", list.len(), variables.len()));
        }
        let equations = list.iter().map(|&(name, _)| name.into()).collect();
        Ok(Equations { equations, variables, incidence: Pattern::varying(list.len(), entries) })
    }

    pub fn incidence(&self) -> &Pattern {
        &self.incidence
    }

    pub fn equation(&self, name: &str) -> Option<usize> {
        self.equations.iter().position(|e| e == name)
    }

    pub fn variable(&self, name: &str) -> Option<usize> {
        self.variables.iter().position(|v| v == name)
    }

    /// The same with the last step's value for these (equation, variable) pairs.
    pub fn delay(&self, edges: &[(&str, &str)]) -> Result<Equations, String> {
        let mut keep = vec![true; self.incidence.len()];
        for &(equation, variable) in edges {
            let (i, j) = (self.equation(equation), self.variable(variable));
            let edge = i.zip(j).and_then(|(i, j)| self.incidence.find(i, j));
            keep[edge.ok_or_else(|| format!("{variable} is not an unknown of {equation}"))?] = false;
        }
        Ok(Equations { incidence: self.incidence.mask(&keep), ..self.clone() })
    }

    /// The block lower triangular form, in order of solution.
    pub fn loops(&self) -> Result<Vec<Loop>, String> {
        let matched = matching(&self.incidence);
        if let Some(i) = matched.iter().position(Option::is_none) {
            return Err(format!(
                "the equations are structurally singular: no unknown is left for {}",
                self.equations[i]
            ));
        }
        let n = self.incidence.n();
        let column: Vec<usize> = matched.into_iter().flatten().collect();
        let mut row = vec![0; n];
        for (i, &j) in column.iter().enumerate() {
            row[j] = i;
        }
        let graph = Pattern::varying(n, self.incidence.places().map(|(i, j)| (i, row[j])));
        let part = |part: Vec<u32>| {
            let equations: Vec<usize> = part.into_iter().map(|i| i as usize).collect();
            Loop { variables: equations.iter().map(|&i| column[i]).collect(), equations }
        };
        Ok(components(&graph).into_iter().map(part).collect())
    }

    /// Proposition 1, again and again: an equation with one unknown defines it.
    pub fn graph_check(&self) -> Check {
        let all: Vec<usize> = (0..self.incidence.n()).collect();
        graph_check(&self.incidence, &all, &[])
    }

    /// A smallest set of a loop's variables that, once known, lets Proposition 1 define all others;
    /// by trial, or where that would take too long by taking the most frequent variable each time.
    pub fn iteration_variables(&self, part: &Loop) -> Vec<usize> {
        if part.equations.len() == 1 {
            return Vec::new();
        }
        const TRIALS: usize = 20_000;
        let mut trials = 0;
        for size in 1..part.variables.len() {
            let mut chosen: Vec<usize> = (0..size).collect();
            loop {
                let known: Vec<usize> = chosen.iter().map(|&i| part.variables[i]).collect();
                if self.suffices(part, &known) {
                    return known;
                }
                trials += 1;
                if trials > TRIALS {
                    return self.greedy(part);
                }
                // The next combination.
                let last = part.variables.len();
                let Some(i) = (0..size).rev().find(|&i| chosen[i] < last - size + i) else { break };
                chosen[i] += 1;
                for k in i + 1..size {
                    chosen[k] = chosen[k - 1] + 1;
                }
            }
        }
        part.variables.clone()
    }

    /// Whether these variables, once known, define all others of a loop.
    pub fn suffices(&self, part: &Loop, known: &[usize]) -> bool {
        let defined: usize = self.within(part, known).rounds.iter().map(Vec::len).sum();
        defined + known.len() >= part.variables.len()
    }

    /// Proposition 1 in a loop; variables outside of it are known.
    fn within(&self, part: &Loop, known: &[usize]) -> Check {
        let outside = (0..self.incidence.n()).filter(|j| !part.variables.contains(j));
        let known: Vec<usize> = known.iter().copied().chain(outside).collect();
        graph_check(&self.incidence, &part.equations, &known)
    }

    fn greedy(&self, part: &Loop) -> Vec<usize> {
        let mut known = Vec::new();
        while !self.suffices(part, &known) {
            let check = self.within(part, &known);
            let defined = |j: &usize| check.rounds.iter().flatten().any(|&(_, v)| v == *j);
            let uses = |j: usize| check.rest.iter().filter(|&&i| self.incidence.find(i, j).is_some()).count();
            let open = part.variables.iter().filter(|j| !known.contains(*j) && !defined(j));
            match open.copied().max_by_key(|&j| (uses(j), std::cmp::Reverse(j))) {
                Some(j) => known.push(j),
                None => break,
            }
        }
        known
    }
}

/// Proposition 1 on some equations of an incidence pattern with some variables known: in each round all equations
/// with one unknown define it, and both leave the graph. An equation whose unknowns are all defined is
/// a residual and leaves too.
pub fn graph_check(incidence: &Pattern, equations: &[usize], known: &[usize]) -> Check {
    let mut is_known = vec![false; incidence.n()];
    for &j in known {
        is_known[j] = true;
    }
    let mut rest = equations.to_vec();
    let mut rounds = Vec::new();
    loop {
        let mut round: Vec<(usize, usize)> = Vec::new();
        for &i in &rest {
            let mut open = incidence.row(i).iter().map(|&j| j as usize).filter(|&j| !is_known[j]);
            if let (Some(j), None) = (open.next(), open.next())
                && !round.iter().any(|&(_, other)| other == j)
            {
                round.push((i, j));
            }
        }
        for &(_, j) in &round {
            is_known[j] = true;
        }
        rest.retain(|i| {
            !round.iter().any(|(done, _)| done == i)
                && incidence.row(*i).iter().any(|&j| !is_known[j as usize])
        });
        if round.is_empty() {
            return Check { rounds, rest };
        }
        rounds.push(round);
    }
}

/// For each row the column it is matched with, as many as possible.
fn matching(incidence: &Pattern) -> Vec<Option<usize>> {
    let n = incidence.n();
    let mut graph = UnGraph::<(), (), u32>::default();
    for _ in 0..2 * n {
        graph.add_node(());
    }
    graph.extend_with_edges(incidence.places().map(|(row, col)| (row as u32, (n + col) as u32)));
    let matched = maximum_matching(&graph);
    (0..n).map(|row| matched.mate(NodeIndex::new(row)).map(|node| node.index() - n)).collect()
}

#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn sizes(equations: &Equations) -> Vec<usize> {
        equations.loops().unwrap().iter().map(|part| part.equations.len()).collect()
    }

    fn largest(equations: &Equations) -> Loop {
        equations.loops().unwrap().into_iter().max_by_key(|part| part.equations.len()).unwrap()
    }

    fn names(equations: &Equations, part: &Loop) -> Vec<String> {
        let mut names: Vec<_> = part.variables.iter().map(|&j| equations.variables[j].clone()).collect();
        names.sort();
        names
    }

    /// Section 2.2: S is triangular after a swap; S1 has blocks 1, 1, 2.
    #[test]
    fn partitioning_of_section_2_2() {
        let s = [("h1", "z1"), ("h2", "z1 z3"), ("h3", "z1 z2 z3"), ("h4", "z2 z3 z4")];
        assert_eq!(sizes(&Equations::new(&s).unwrap()), [1, 1, 1, 1]);
        let s1 = [("h1", "z1"), ("h2", "z1 z3"), ("h3", "z1 z2 z3 z4"), ("h4", "z1 z2 z3 z4")];
        let s1 = Equations::new(&s1).unwrap();
        assert_eq!(sizes(&s1), [1, 1, 2]);
        assert_eq!(names(&s1, &largest(&s1)), ["z2", "z4"]);
    }

    /// The spring pendulum, inlined: (59)-(62) are implicit Euler, (55), (56) the model. The order is that
    /// of figure 17: e1 ... e6 with v1 ... v6 = x, y, theta, z', z, y'.
    fn pendulum() -> Equations {
        Equations::new(&[
            ("(59)", "x y"),
            ("(60)", "y y'"),
            ("(61)", "theta z"),
            ("(56)", "z' theta y x z"),
            ("(62)", "z z'"),
            ("(55)", "y' x z theta"),
            ("(57)", "t0"),
            ("(58)", "time"),
        ])
        .unwrap()
    }

    /// Figure 16: one 6 x 6 loop; z and y' known give the other four; nothing smaller does.
    #[test]
    fn pendulum_has_one_loop_with_two_iteration_variables() {
        let pendulum = pendulum();
        let part = largest(&pendulum);
        let mut all = sizes(&pendulum);
        all.sort_unstable();
        assert_eq!(all, [1, 1, 6]);
        assert_eq!(names(&pendulum, &part), ["theta", "x", "y", "y'", "z", "z'"]);
        assert_eq!(pendulum.iteration_variables(&part).len(), 2);
        let chosen = ["z", "y'"].map(|name| pendulum.variable(name).unwrap());
        assert!(pendulum.suffices(&part, &chosen));
        assert!(!pendulum.suffices(&part, &chosen[..1]) && !pendulum.suffices(&part, &chosen[1..]));
    }

    /// (63): with z slow one iteration variable is left, y' will do; delaying theta's z as well, (65), gains nothing.
    #[test]
    fn slow_z_leaves_one_iteration_variable() {
        let slow = pendulum().delay(&[("(62)", "z'")]).unwrap();
        let part = largest(&slow);
        assert_eq!(names(&slow, &part), ["x", "y", "y'"]);
        assert_eq!(slow.iteration_variables(&part).len(), 1);
        assert!(slow.suffices(&part, &[slow.variable("y'").unwrap()]));
        let slower = slow.delay(&[("(61)", "z")]).unwrap();
        assert_eq!(largest(&slower).variables.len(), part.variables.len());
    }

    /// Figures 17 to 20: without (v4, e5) and (v6, e2), Proposition 1 defines v2 and v5, then v1 and v3, then v4 and v6.
    #[test]
    fn proposition_1_breaks_the_pendulum() {
        let pendulum = pendulum();
        let before = pendulum.graph_check();
        assert_eq!(before.rest, [0, 1, 2, 3, 4, 5], "nothing defines itself inside the loop");
        let broken = pendulum.delay(&[("(62)", "z'"), ("(60)", "y'")]).unwrap();
        let check = graph_check(broken.incidence(), &[0, 1, 2, 3, 4, 5], &[]);
        assert!(check.rest.is_empty());
        let rounds: Vec<Vec<usize>> =
            check.rounds.iter().map(|round| round.iter().map(|&(i, _)| i + 1).collect()).collect();
        assert_eq!(rounds, [vec![2, 5], vec![1, 3], vec![4, 6]]);
        assert!(
            check
                .rounds
                .iter()
                .flatten()
                .all(|&(i, j)| { broken.variables[j] == ["x", "y", "theta", "z'", "z", "y'"][i] })
        );
        assert!(broken.loops().unwrap().iter().all(|part| part.equations.len() == 1));
    }

    /// (68)-(75) with implicit Euler: V_A is known at once, the other nine are one loop. The last values of V_C in (71)
    /// and of I_2 in (75) split it into the left part with V_B and w = (I1, I2, I4) and the right one with V_C and (I3, I5).
    #[test]
    fn circuit_splits_in_two() {
        let circuit = Equations::new(&[
            ("(68)", "V_A"),
            ("(69)", "V_A V_B I1"),
            ("(70)", "V_B' I4"),
            ("(71)", "V_B V_C I2"),
            ("(72)", "V_C' I5"),
            ("(73)", "V_C I3"),
            ("(74)", "I1 I4 I2"),
            ("(75)", "I2 I5 I3"),
            ("Euler B", "V_B V_B'"),
            ("Euler C", "V_C V_C'"),
        ])
        .unwrap();
        assert_eq!(sizes(&circuit), [1, 9]);
        let split = circuit.delay(&[("(71)", "V_C"), ("(75)", "I2")]).unwrap();
        let mut parts: Vec<_> = split.loops().unwrap().iter().map(|part| names(&split, part)).collect();
        parts.sort_by_key(Vec::len);
        assert_eq!(parts[0], ["V_A"]);
        assert_eq!(parts[1], ["I3", "I5", "V_C", "V_C'"]);
        assert_eq!(parts[2], ["I1", "I2", "I4", "V_B", "V_B'"]);
        assert!(!split.graph_check().rest.is_empty(), "two loops are left");
        // One delay alone does not split it into two loops.
        let half = circuit.delay(&[("(71)", "V_C")]).unwrap();
        let mut loops = sizes(&half);
        loops.sort_unstable();
        assert_eq!(loops, [1, 4, 5], "but the right part then follows the left");
    }

    #[test]
    fn what_cannot_be_solved_is_refused() {
        assert!(Equations::new(&[("a", "x y")]).is_err());
        let singular = Equations::new(&[("a", "x"), ("b", "x"), ("c", "x y z")]).unwrap();
        assert!(singular.loops().unwrap_err().contains("structurally singular"));
        assert!(pendulum().delay(&[("(59)", "z")]).is_err());
    }
}
