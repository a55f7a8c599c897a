//! Heat conduction in a rod, as many cells as wanted: linear, tridiagonal, stiffer with every cell.
//!
//! ```text
//! T_i' = a/dx² (T_{i-1} - 2 T_i + T_{i+1}),   i = 1 … n
//! T_0 = T_left,   T_{n+1} = T_right,   dx = length/(n + 1)
//! T_mid = T_{⌈n/2⌉},   q_left = lambda (T_left - T_1)/dx
//! ```
//!
//! Exact: eigenvalues -4 a/dx² sin²(k π/(2 (n+1))), k = 1 … n (copper, 5 cm, 50 cells: -0.43 …
//! -457 per second); at rest the profile is straight, so for odd n T_mid = (T_left + T_right)/2
//! and q_left = lambda (T_left - T_right)/length. The method of lines
//! for the heat equation.

use crate::dual::Num;
use crate::generate::{self, Variable};
use crate::model::{Model, differentiable};

pub const DEFAULT: usize = 50;
pub const SMALLEST: usize = 10;
pub const LARGEST: usize = 10_000;

pub struct HeatRod {
    pub cells: usize,
}

impl HeatRod {
    fn equations<T: Num>(&self, v: &mut [T]) {
        let n = self.cells;
        let (known, rest) = v.split_at_mut(1 + n);
        let (der, rest) = rest.split_at_mut(n);
        let [left, right, a, length, lambda, t_mid, q_left] = rest else { return };
        let t = &known[1..];
        let dx = *length / T::from((n + 1) as f64);
        let rate = *a / (dx * dx);
        der[0] = rate * (*left - t[0] * 2.0 + t[1]);
        for (d, t) in der[1..].iter_mut().zip(t.windows(3)) {
            *d = rate * (t[0] - t[1] * 2.0 + t[2]);
        }
        der[n - 1] = rate * (t[n - 2] - t[n - 1] * 2.0 + *right);
        *t_mid = t[n.div_ceil(2) - 1];
        *q_left = *lambda * (*left - t[0]) / dx;
    }

    /// modelDescription.xml for this number of cells.
    pub fn description(&self) -> String {
        let n = self.cells;
        let mut variables = Vec::with_capacity(2 * n + 7);
        for i in 1..=n {
            variables.push(
                Variable::state(&format!("T[{i}]"), &format!("Temperature of cell {i}"), "K")
                    .start(293.15)
                    .nominal(300.0),
            );
        }
        for i in 1..=n {
            variables.push(Variable::derivative(&format!("T[{i}]"), i, "K/s"));
        }
        let input =
            |name: &str, text: &str, start| Variable::input(name, text, "K").start(start).nominal(300.0);
        variables.push(input("T_left", "Temperature of the left end", 373.15));
        variables.push(input("T_right", "Temperature of the right end", 293.15));
        variables.push(Variable::fixed("a", "Thermal diffusivity", "m2/s").start(1.1e-4));
        variables.push(Variable::fixed("length", "Length of the rod", "m").start(0.05));
        variables.push(Variable::tunable("lambda", "Thermal conductivity", "W/(m.K)").start(400.0));
        variables.push(Variable::output("T_mid", "Temperature of the middle cell", "K"));
        variables.push(Variable::output("q_left", "Heat flow into the left end", "W/m2"));

        // One-based positions, as ModelStructure wants them.
        let (left, right) = (2 * n + 1, 2 * n + 2);
        let mut derivatives = Vec::with_capacity(n);
        for i in 1..=n {
            let mut on: Vec<usize> = (i.saturating_sub(1).max(1)..=(i + 1).min(n)).collect();
            if i == 1 {
                on.push(left);
            }
            if i == n {
                on.push(right);
            }
            derivatives.push((n + i, on.into_iter().map(|j| (j, "fixed")).collect()));
        }
        let outputs = vec![
            (2 * n + 6, vec![(n.div_ceil(2), "constant")]),
            (2 * n + 7, vec![(1, "tunable"), (left, "tunable")]),
        ];
        generate::description(&generate::Header {
            identifier: "heat_rod",
            guid: &format!("{{heat-rod:{n}:5f0c6c4e-6b0e-4c53-9d3e-6c1f8a5f2b10}}"),
            description: &format!("Heat conduction in a rod of {n} cells"),
            units: &[
                ("K", "K=\"1\""),
                ("K/s", "K=\"1\" s=\"-1\""),
                ("m2/s", "m=\"2\" s=\"-1\""),
                ("m", "m=\"1\""),
                ("W/(m.K)", "kg=\"1\" m=\"1\" s=\"-3\" K=\"-1\""),
                ("W/m2", "kg=\"1\" s=\"-3\""),
            ],
            stop: 5.0,
            step: 0.01,
            indicators: 0,
            variables: &variables,
            outputs: &outputs,
            derivatives: &derivatives,
        })
    }
}

impl Model for HeatRod {
    fn states(&self) -> usize {
        self.cells
    }

    differentiable!();
}
