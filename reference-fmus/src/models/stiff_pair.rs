//! An overdamped oscillator: two real eigenvalues, far apart.
//!
//! ```text
//! m x'' + c x' + k x = 0,   x(0) = 1, x'(0) = 0,   m = 1, c = 1001, k = 1000
//! as x' = y, y' = -(c y + k x)/m
//! ```
//!
//! Gustafsson, *Realtime simulations with inline integration* (2021), (39)-(40); the matrix printed below
//! (40) has its last row's entries exchanged, the eigenvalues given there, -1 and -1000, belong to (39).
//! Exact: x = (1000 exp(-t) - exp(-1000 t)) / 999.

use crate::dual::Num;
use crate::model::{Model, differentiable};

pub struct StiffPair;

impl StiffPair {
    fn equations<T: Num>(&self, v: &mut [T]) {
        let [_, x, y, dx, dy, m, c, k] = v else { return };
        *dx = *y;
        *dy = -(*c * *y + *k * *x) / *m;
    }
}

impl Model for StiffPair {
    fn states(&self) -> usize {
        2
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "x", "y", "der(x)", "der(y)", "m", "c", "k"]
    }

    differentiable!();
}
