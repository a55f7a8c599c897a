//! An instrument: a stiff oscillator that counts the calls made to it.
//!
//! ```text
//! x' = v,   v' = u - k x - d v,   k = 1e6, d = 1e4
//! ```
//!
//! Eigenvalues -101 and -9899. Its integer outputs count, per instance, the calls of eight functions and the
//! evaluations of the equations (see `COUNTED`). Reading them is no call that counts, but evaluates what is
//! due, as reading any output does. Exact at rest: x = u/k.

use crate::dual::Num;
use crate::model::{Model, Oddity, differentiable};

pub struct Counting;

/// The counted functions; the position is the value reference of the Integer output of that name.
pub const COUNTED: [&str; 9] = [
    "SetTime",
    "SetContinuousStates",
    "GetDerivatives",
    "GetEventIndicators",
    "GetReal",
    "SetReal",
    "CompletedIntegratorStep",
    "GetDirectionalDerivative",
    // Of the equations, whichever call made it due.
    "Evaluations",
];

impl Counting {
    fn equations<T: Num>(&self, v: &mut [T]) {
        let [_, x, w, dx, dw, u, k, d] = v else { return };
        *dx = *w;
        *dw = *u - *k * *x - *d * *w;
    }
}

impl Model for Counting {
    fn states(&self) -> usize {
        2
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "x", "v", "der(x)", "der(v)", "u", "k", "d"]
    }

    differentiable!();

    fn oddity(&self) -> Oddity {
        Oddity::Counts
    }
}
