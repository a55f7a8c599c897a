//! A pendulum on a very stiff spring: undamped, √2/ε = 1414 rad/s beside a swing of 1 rad/s.
//!
//! ```text
//! q'' = -2 q λ - (0, g),    ε² λ = (r - 1)/r,    r = |q|
//! ```
//!
//! Becker, Example 3.1.8, (3.8), as used in Example 5.1.4 with ε² = 1e-6 and g = 1. It starts at rest with
//! the spring relaxed and horizontal, which is on the smooth motion up to ε². Known answers: the energy
//! |v|²/2 + g q2 + (r - 1)²/ε² is constant; λ of the rigid pendulum is (|v|² - g q2)/2.

use crate::dual::Num;
use crate::model::{Model, differentiable};

pub struct StiffPendulum;

impl StiffPendulum {
    fn equations<T: Num>(&self, v: &mut [T]) {
        let [_, q1, q2, v1, v2, dq1, dq2, dv1, dv2, eps2, g, lambda, length] = v else { return };
        *length = (*q1 * *q1 + *q2 * *q2).sqrt();
        *lambda = (*length - 1.0) / (*length * *eps2);
        *dq1 = *v1;
        *dq2 = *v2;
        *dv1 = *q1 * *lambda * -2.0;
        *dv2 = *q2 * *lambda * -2.0 - *g;
    }
}

impl Model for StiffPendulum {
    fn states(&self) -> usize {
        4
    }

    fn reals(&self) -> &'static [&'static str] {
        &[
            "time", "q1", "q2", "v1", "v2", "der(q1)", "der(q2)", "der(v1)", "der(v2)", "eps2", "g",
            "lambda", "length",
        ]
    }

    differentiable!();
}
