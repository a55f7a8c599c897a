//! Lorenz's convection: chaotic (Deterministic Nonperiodic Flow, J. Atmos. Sci. 20, 1963).
//!
//! ```text
//! x' = 10 (y - x)
//! y' = x (28 - z) - y
//! z' = x y - 8/3 z
//! ```
//!
//! Two solutions part by a factor of e every 1/0.906 s, the largest Lyapunov exponent. After 40 s nothing
//! that a computer knew of the start is left: no step makes the error small.

use crate::dual::Num;
use crate::model::{Model, differentiable};

pub struct Lorenz;

impl Lorenz {
    fn equations<T: Num>(&self, v: &mut [T]) {
        let [_, x, y, z, dx, dy, dz] = v else { return };
        let (x, y, z) = (*x, *y, *z);
        *dx = T::from(10.0) * (y - x);
        *dy = x * (T::from(28.0) - z) - y;
        *dz = x * y - T::from(8.0 / 3.0) * z;
    }
}

impl Model for Lorenz {
    fn states(&self) -> usize {
        3
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "x", "y", "z", "der(x)", "der(y)", "der(z)"]
    }

    differentiable!();
}
