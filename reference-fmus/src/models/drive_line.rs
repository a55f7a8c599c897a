//! A car's drive line: engine, clutch, gearbox, propeller shaft, differential, drive shaft, wheel, tyre and
//! vehicle.
//!
//! ```text
//! J_e w_e' = T_engine - d_e w_e - T_c                      T_c = clutch T_cmax tanh((w_e - w_i)/w_0)
//! J_i w_i' = T_c - T_p/r                                   r: ratio of the engaged gear
//! φ_p'     = w_i/r - w_d                                   T_p = c_p φ_p + d_p φ_p'
//! J_d w_d' = T_p - T_s/r_d                                 r_d: ratio of the differential
//! φ_s'     = w_d/r_d - w_w                                 T_s = c_s φ_s + d_s φ_s'
//! J_w w_w' = T_s - R F - brake T_bmax tanh(w_w/w_1)        F = F_max tanh(k_x (R w_w - v)/√(v² + v_0²))
//! m v'     = F - c_air v |v|_0 - m g slope
//! ```
//!
//! Inputs: engine torque, clutch (0 … 1), brake (0 … 1), slope, and the gear, an Integer that an event takes
//! over. 7 states, all at rest at the start. Clutch, brake and tyre are regularised friction: eigenvalues
//! near -20000 when they grip, and zero when they slip or are open. Known answer: the kinetic energy and that
//! of both shafts change by the power of engine, weight and air less what clutch, brake, tyre, bearings and
//! the shafts' damping take.

use crate::dual::Num;
use crate::model::{Event, Model, Values, differentiable};

pub struct DriveLine;

/// First gear to fifth.
pub const RATIOS: [f64; 5] = [3.6, 2.1, 1.4, 1.0, 0.8];
pub const R_D: f64 = 3.5;
/// Clutch, rad/s; brake, rad/s; tyre: m/s, slope of its force, N; wheel's radius, m; smoothing of |v|, m/s.
pub const W_0: f64 = 2.0;
pub const W_1: f64 = 0.5;
pub const V_0: f64 = 1.0;
pub const K_X: f64 = 15.0;
pub const F_MAX: f64 = 9000.0;
pub const RADIUS: f64 = 0.3;
const G: f64 = 9.81;

impl DriveLine {
    fn equations<T: Num>(&self, v: &mut [T]) {
        let (states, rest) = v.split_at_mut(8);
        let (der, rest) = rest.split_at_mut(7);
        let [_, w_e, w_i, phi_p, w_d, phi_s, w_w, speed] = *states else { return };
        let [
            t_engine,
            clutch,
            brake,
            slope,
            j_e,
            d_e,
            t_cmax,
            j_i,
            c_p,
            d_p,
            j_d,
            c_s,
            d_s,
            j_w,
            t_bmax,
            m,
            c_air,
            ratio,
            t_shaft,
            force,
        ] = rest
        else {
            return;
        };
        let t_c = *clutch * *t_cmax * ((w_e - w_i) * (1.0 / W_0)).tanh();
        let slip_p = w_i / *ratio - w_d;
        let t_p = *c_p * phi_p + *d_p * slip_p;
        let slip_s = w_d * (1.0 / R_D) - w_w;
        *t_shaft = *c_s * phi_s + *d_s * slip_s;
        let magnitude = (speed * speed + V_0 * V_0).sqrt();
        *force = ((w_w * RADIUS - speed) / magnitude * K_X).tanh() * F_MAX;
        let t_b = *brake * *t_bmax * (w_w * (1.0 / W_1)).tanh();
        der[0] = (*t_engine - *d_e * w_e - t_c) / *j_e;
        der[1] = (t_c - t_p / *ratio) / *j_i;
        der[2] = slip_p;
        der[3] = (t_p - *t_shaft * (1.0 / R_D)) / *j_d;
        der[4] = slip_s;
        der[5] = (*t_shaft - *force * RADIUS - t_b) / *j_w;
        der[6] = (*force - *c_air * speed * magnitude) / *m - *slope * G;
    }
}

/// Value reference of the engaged ratio among the Reals, of the gear among the Integers.
const RATIO: usize = 32;
const GEAR: usize = 0;

impl Model for DriveLine {
    fn states(&self) -> usize {
        7
    }

    fn reals(&self) -> &'static [&'static str] {
        &[
            "time",
            "w_e",
            "w_i",
            "phi_p",
            "w_d",
            "phi_s",
            "w_w",
            "v",
            "der(w_e)",
            "der(w_i)",
            "der(phi_p)",
            "der(w_d)",
            "der(phi_s)",
            "der(w_w)",
            "der(v)",
            "T_engine",
            "clutch",
            "brake",
            "slope",
            "J_e",
            "d_e",
            "T_cmax",
            "J_i",
            "c_p",
            "d_p",
            "J_d",
            "c_s",
            "d_s",
            "J_w",
            "T_bmax",
            "m",
            "c_air",
            "ratio",
            "T_shaft",
            "F_tyre",
        ]
    }

    fn initialize(&self, v: &mut Values) -> Result<(), &'static str> {
        match usize::try_from(v.integer[GEAR] - 1).ok().and_then(|gear| RATIOS.get(gear)) {
            Some(&ratio) => v.real[RATIO] = ratio,
            None => return Err("the gear must be one of 1 to 5"),
        }
        Ok(())
    }

    differentiable!();

    /// A gear that does not exist leaves the engaged one in place.
    fn event(&self, v: &mut Values) -> Event {
        let _ = self.initialize(v);
        Event::default()
    }
}
