//! Van der Pol's relaxation oscillation, in the scaling whose slow time is one second.
//!
//! ```text
//! x' = v
//! v' = ((1 - x²) v - x) / eps,   eps = 0.1,   x(0) = 2, v(0) = 0
//! ```
//!
//! With y'' - µ (1 - y²) y' + y = 0, time divided by µ and eps = µ⁻². On the slow branches the
//! fast eigenvalue is (1 - x²)/eps, down to -3/eps; during the jumps it is positive, up to 1/eps. A
//! step must resolve the jumps, h of about eps/100, whatever the method. The default suits a step of
//! 1 ms; eps = 1e-3 is the stiff classic, for steps of 10 µs. Its period is
//! 3 - 2 ln 2 + 7.0143 eps^(2/3) + … = 1.684 s (Dorodnitsyn), 1.68007 s numerically, amplitude
//! 2.0049. Nonlinear test for state-dependent stiffness (Becker (2012), chapter 4, treats such problems
//! with Rosenbrock methods).

use crate::dual::Num;
use crate::model::{Model, differentiable};

pub struct VanDerPol;

impl VanDerPol {
    fn equations<T: Num>(&self, v: &mut [T]) {
        let [_, x, w, dx, dw, eps] = v else { return };
        let (x, w) = (*x, *w);
        *dx = w;
        *dw = ((T::from(1.0) - x * x) * w - x) / *eps;
    }
}

impl Model for VanDerPol {
    fn states(&self) -> usize {
        2
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "x", "v", "der(x)", "der(v)", "eps"]
    }

    differentiable!();
}
