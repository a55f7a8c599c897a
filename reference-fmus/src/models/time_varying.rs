//! Negative eigenvalues at every instant, yet unstable: a warning to judge stability along
//! trajectories.
//!
//! ```text
//! x1' = -2.5 x1 + 1.5 exp(8 t) x2
//! x2' = -0.5 exp(-8 t) x1 - 0.5 x2,   x(0) = (23, 11)
//! ```
//!
//! Cellier & Kofman, *Continuous System Simulation*, chapter 2, (2.46); the eigenvalues are -1 and -2 for
//! every t. The printed solution (2.47), 5 exp(7 t) + 18 exp(6 t), does not solve (2.46): x1'(0) would be
//! 143, not -41 (it belongs to +5.5 in place of -2.5). Exact: with x1 = exp(8 t) y the system has constant
//! coefficients, y' = -10.5 y + 1.5 x2, x2' = -0.5 (y + x2), so
//!
//! ```text
//! x1 = exp(8 t) (a exp(λ t) + b exp(µ t)),
//! x2 = -a/(2 λ + 1) exp(λ t) - b/(2 µ + 1) exp(µ t),   λ, µ = (-11 ± √97)/2,
//! ```
//!
//! a = 1.49884…, b = 23 - a: x1 grows as exp(7.42 t), which is what Cellier and Kofman want to show.
//! (`rate` is the 8.) The description leaves `dependencies` out.

use crate::model::{Model, Values};

pub struct TimeVarying;

impl Model for TimeVarying {
    fn states(&self) -> usize {
        2
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "x1", "x2", "der(x1)", "der(x2)", "rate"]
    }

    fn evaluate(&self, v: &mut Values) {
        let [t, x1, x2, dx1, dx2, rate] = &mut v.real[..] else { return };
        let growth = (*rate * *t).exp();
        *dx1 = -2.5 * *x1 + 1.5 * growth * *x2;
        *dx2 = -0.5 / growth * *x1 - 0.5 * *x2;
    }
}
