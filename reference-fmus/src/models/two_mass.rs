//! A speed-controlled motor, an elastic shaft and a load, with dry friction on both sides: 6 states.
//!
//! ```text
//! T_f w_f' = w_m - w_f                                       filtered speed
//! z'       = k_i (w_ref - w_f)                               integrating controller
//! u        = u_max tanh((k_p (w_ref - w_f) + z)/u_max)       its limited voltage
//! L i'     = u - R i - k_m w_m
//! J_m w_m' = k_m i - T_s - T_cm tanh(w_m/w_0)
//! φ'       = w_m - w_l
//! J_l w_l' = T_s - T_cl tanh(w_l/w_0) - T_load
//! T_s      = c φ (1 + (φ/φ_0)²) + d (w_m - w_l)              the shaft grows stiffer with its twist
//! ```
//!
//! Inputs: w_ref, T_load. At standstill the friction is steepest (eigenvalue near -T_cm/(w_0 J_m) = -6000)
//! and vanishes when the drive turns, the shaft is softest: a Jacobian taken at rest is the wrong one for
//! everything else. Known answer: J_m w_m²/2 + J_l w_l²/2 + c φ²/2 + c φ⁴/(4 φ_0²) changes by the power of
//! motor and load less that of friction and damping.

use crate::dual::Num;
use crate::model::{Model, differentiable};

pub struct TwoMass;

impl TwoMass {
    fn equations<T: Num>(&self, v: &mut [T]) {
        let (states, rest) = v.split_at_mut(7);
        let [_, w_f, z, i, w_m, phi, w_l] = *states else { return };
        let [
            dw_f,
            dz,
            di,
            dw_m,
            dphi,
            dw_l,
            w_ref,
            t_load,
            k_p,
            k_i,
            j_m,
            j_l,
            c,
            d,
            t_cm,
            t_cl,
            w_0,
            t_shaft,
        ] = rest
        else {
            return;
        };
        let error = *w_ref - w_f;
        let u = ((*k_p * error + z) * (1.0 / U_MAX)).tanh() * U_MAX;
        let slip = w_m - w_l;
        let twist = phi * (1.0 / PHI_0);
        *t_shaft = *c * phi * (twist * twist + 1.0) + *d * slip;
        *dw_f = (w_m - w_f) * (1.0 / T_F);
        *dz = *k_i * error;
        *di = (u - i * R - w_m * K_M) * (1.0 / L);
        *dw_m = (i * K_M - *t_shaft - *t_cm * (w_m / *w_0).tanh()) / *j_m;
        *dphi = slip;
        *dw_l = (*t_shaft - *t_cl * (w_l / *w_0).tanh() - *t_load) / *j_l;
    }
}

/// Filter of the measured speed, s; supply, V; armature, Ω and H; torque constant, N m/A; twist at which the
/// shaft is twice as stiff, rad.
const T_F: f64 = 2e-3;
const U_MAX: f64 = 300.0;
const R: f64 = 0.6;
const L: f64 = 4e-3;
const K_M: f64 = 1.2;
const PHI_0: f64 = 0.01;

impl Model for TwoMass {
    fn states(&self) -> usize {
        6
    }

    fn reals(&self) -> &'static [&'static str] {
        &[
            "time", "w_f", "z", "i", "w_m", "phi", "w_l", "der(w_f)", "der(z)", "der(i)", "der(w_m)",
            "der(phi)", "der(w_l)", "w_ref", "T_load", "k_p", "k_i", "J_m", "J_l", "c", "d", "T_cm", "T_cl",
            "w_0", "T_shaft",
        ]
    }

    differentiable!();
}
