//! A plain relaxation beside a part that runs away if a parameter is doubled: a run on which no plan can be
//! right.
//!
//! ```text
//! x' = (p - 3/2) r x,   y' = (sin(2 π t) - y)/T + x,   p = 1, r = 800 1/s, T = 20 ms
//! ```
//!
//! Exact: x = x_0 exp((p - 3/2) r t). With p = 1 it is gone after some milliseconds; with p = 2 it grows by a
//! half in a millisecond, e^160 after 0.4 s. A step of 1 ms follows neither that nor anything else so fast,
//! with any method: it fails, or its error is many times the range of what it is compared with.

use crate::dual::Num;
use crate::generate::{self, Variable};
use crate::model::{Model, differentiable};

pub struct Runaway;

const RATE: f64 = 800.0;

impl Runaway {
    fn equations<T: Num>(&self, v: &mut [T]) {
        let [t, x, y, dx, dy, p, relaxation, out] = v else { return };
        *dx = (*p - 1.5) * *x * RATE;
        *dy = ((*t * std::f64::consts::TAU).sin_cos().0 - *y) / *relaxation + *x;
        *out = *y;
    }

    pub fn description() -> String {
        generate::description(&generate::Header {
            identifier: "runaway",
            guid: "{runaway:0f3fd1b2-6f5e-4c1b-8e57-9d1c6a1f7a33}",
            description: "A relaxation beside a part that runs away if a parameter is doubled",
            units: &[("s", "s=\"1\""), ("1", "")],
            stop: 2.0,
            step: 0.001,
            indicators: 0,
            variables: &[
                Variable::time(),
                Variable::state("x", "What may run away", "1").start(1.0),
                Variable::state("y", "What follows a sine", "1").start(0.0),
                Variable::derivative("x", 2, "1"),
                Variable::derivative("y", 3, "1"),
                Variable::fixed("p", "Above 3/2 x runs away", "1").start(1.0),
                Variable::fixed("T", "Time constant", "s").start(0.02),
                Variable::output("y_out", "y", "1"),
            ],
            outputs: &[(8, vec![(3, "constant")])],
            derivatives: &[
                (4, vec![(2, "fixed")]),
                (5, vec![(1, "dependent"), (2, "constant"), (3, "fixed")]),
            ],
        })
    }
}

impl Model for Runaway {
    fn states(&self) -> usize {
        2
    }

    differentiable!();
}
