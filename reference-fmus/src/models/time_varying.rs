//! Negative eigenvalues at every instant, yet unstable: a warning to judge stability along trajectories.
//!
//!     x1' = -2.5 x1 + 1.5 exp(8 t) x2
//!     x2' = -0.5 exp(-8 t) x1 - 0.5 x2,   x(0) = (23, 11)
//!
//! Seed 001, (2.46); the eigenvalues are -1 and -2 for every t.
//! Exact, (2.47): x1 = 5 exp(7 t) + 18 exp(6 t), x2 = 5 exp(-t) + 6 exp(-2 t). (`rate` is the 8.)
//! The description leaves `dependencies` out.

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
