//! The linear test equation.
//!
//! ```text
//! x' = -k x,   x(0) = x0
//! ```
//!
//! Exact: x(t) = x0 exp(-k t). One implicit Euler step gives x0 / (1 + h k).
//! Cellier & Kofman, *Continuous System Simulation*, chapter 2, section 2.4 (stability on x' = λ x).

use crate::model::{Model, Values};

pub struct Dahlquist;

impl Model for Dahlquist {
    fn states(&self) -> usize {
        1
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "x", "der(x)", "k", "x0"]
    }

    fn initialize(&self, v: &mut Values) -> Result<(), &'static str> {
        v.real[1] = v.real[4];
        Ok(())
    }

    fn evaluate(&self, v: &mut Values) {
        let [_, x, dx, k, _] = &mut v.real[..] else { return };
        *dx = -*k * *x;
    }
}
