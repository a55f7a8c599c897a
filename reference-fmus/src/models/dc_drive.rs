//! A DC motor that drives a load through a stiff elastic gear.
//!
//! ```text
//! L i'     = u - R i - k_m w_m                  armature
//! J_m w_m' = k_m i - T_gear/n                   rotor
//! φ'       = w_m/n - w_l                        twist, load side
//! J_l w_l' = T_gear - d_l w_l - T_load          load
//! T_gear   = c φ + d (w_m/n - w_l)
//! ```
//!
//! Inputs: voltage u, load torque T_load. Linear. With the defaults the eigenvalues are -9463 and -575
//! (gear), -418 (armature) and -44 (speed). Exact at rest: T_gear = d_l w_l + T_load, i = T_gear/(n k_m),
//! w_l = (u - R T_load/(n k_m)) / (n k_m + R d_l/(n k_m)): 4.7525 rad/s for 24 V, no load. The drive train of
//! Schiela, *Sparsing in Real Time Simulation* (2002), 2.2.4 (motor, gear), one axis.

use crate::dual::Num;
use crate::model::{Model, differentiable};

pub struct DcDrive;

impl DcDrive {
    fn equations<T: Num>(&self, v: &mut [T]) {
        let [_, i, w_m, phi, w_l, di, dw_m, dphi, dw_l, u, t_load, r, l, k_m, n, j_m, j_l, c, d, d_l, t_gear] =
            v
        else {
            return;
        };
        let slip = *w_m / *n - *w_l;
        *t_gear = *c * *phi + *d * slip;
        *di = (*u - *r * *i - *k_m * *w_m) / *l;
        *dw_m = (*k_m * *i - *t_gear / *n) / *j_m;
        *dphi = slip;
        *dw_l = (*t_gear - *d_l * *w_l - *t_load) / *j_l;
    }
}

impl Model for DcDrive {
    fn states(&self) -> usize {
        4
    }

    fn reals(&self) -> &'static [&'static str] {
        &[
            "time", "i", "w_m", "phi", "w_l", "der(i)", "der(w_m)", "der(phi)", "der(w_l)", "u", "T_load",
            "R", "L", "k_m", "n", "J_m", "J_l", "c", "d", "d_l", "T_gear",
        ]
    }

    differentiable!();
}
