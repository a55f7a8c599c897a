//! A hydraulic servo valve moves a load with a double-acting cylinder: 8 states.
//!
//! ```text
//! x_s'' = ω² (u - x_s) - 2 ζ ω x_s'                               spool, as a share of its stroke
//! p_A'  = E/(V_0 + A (s + y)) (Q_A - A v - k_l (p_A - p_B))       chambers, with leakage between them
//! p_B'  = E/(V_0 + A (s - y)) (Q_B + A v + k_l (p_A - p_B))
//! y'    = v
//! m v'  = A (p_A - p_B) - F_c tanh(v/v_0) - F_rod - F_end         piston
//! y_l'  = v_l
//! m_l v_l' = F_rod - F_load                                       load, on an elastic rod
//! F_rod = c (y - y_l) + d (v - v_l)
//!
//! Q_A = K (x⁺ √(p_S - p_A) - x⁻ √(p_A - p_T)),  Q_B the other way round
//! ```
//!
//! with √ smoothed and odd: q/(q² + p_0²)^¼; x⁺ and x⁻ the smoothed positive and negative part of x_s, so
//! that a closed valve leaks a little; F_end stiff springs at both ends of the stroke. Inputs: command u,
//! load force, supply pressure. How strongly a pressure damps depends on the valve's opening, how stiff a
//! chamber is on the piston's place. Known answers: with y = 0 and p_A = p_B = p_S/2 nothing moves for u = 0;
//! wide open, without load, the piston runs at Q/A with Q = K √(p_S/2).

use crate::dual::Num;
use crate::model::{Model, differentiable};

pub struct ServoValve;

/// Spool, rad/s and damping ratio; smoothing of its closed position.
const OMEGA: f64 = 900.0;
const ZETA: f64 = 0.8;
const X_0: f64 = 2e-3;
/// Tank, smoothing of the square root: Pa.
const P_TANK: f64 = 1e5;
const P_0: f64 = 2e4;
/// Half of the stroke, m; smoothing and stiffness of its ends: m, N/m.
const STROKE: f64 = 0.2;
const END: f64 = 1e-4;
const C_END: f64 = 2e7;
/// Speed at which friction is nearly full, m/s.
const V_0: f64 = 0.01;

/// √q, odd and smooth.
fn root<T: Num>(q: T) -> T {
    q / (q * q + P_0 * P_0).powf(0.25)
}

/// max(q, 0), smooth.
fn positive<T: Num>(q: T, smoothing: f64) -> T {
    (q + (q * q + smoothing * smoothing).sqrt()) * 0.5
}

impl ServoValve {
    fn equations<T: Num>(&self, v: &mut [T]) {
        let (states, rest) = v.split_at_mut(9);
        let (der, rest) = rest.split_at_mut(8);
        let [_, x_s, v_s, p_a, p_b, y, speed, y_l, v_l] = *states else { return };
        let [u, f_load, p_s, k, e, volume, area, k_l, m, m_l, c, d, f_c, f_rod, q_a] = rest else {
            return;
        };
        let (open, back) = (positive(x_s, X_0), positive(-x_s, X_0));
        *q_a = *k * (open * root(*p_s - p_a) - back * root(p_a - P_TANK));
        let q_b = *k * (back * root(*p_s - p_b) - open * root(p_b - P_TANK));
        let leak = *k_l * (p_a - p_b);
        *f_rod = *c * (y - y_l) + *d * (speed - v_l);
        let end = (positive(y - STROKE, END) - positive(-y - STROKE, END)) * C_END;
        der[0] = v_s;
        der[1] = (*u - x_s) * (OMEGA * OMEGA) - v_s * (2.0 * ZETA * OMEGA);
        der[2] = *e / (*volume + *area * (y + STROKE)) * (*q_a - *area * speed - leak);
        der[3] = *e / (*volume - *area * (y - STROKE)) * (q_b + *area * speed + leak);
        der[4] = speed;
        der[5] = (*area * (p_a - p_b) - *f_c * (speed * (1.0 / V_0)).tanh() - *f_rod - end) / *m;
        der[6] = v_l;
        der[7] = (*f_rod - *f_load) / *m_l;
    }
}

impl Model for ServoValve {
    fn states(&self) -> usize {
        8
    }

    fn reals(&self) -> &'static [&'static str] {
        &[
            "time", "x_s", "v_s", "p_A", "p_B", "y", "v", "y_l", "v_l", "der(x_s)", "der(v_s)", "der(p_A)",
            "der(p_B)", "der(y)", "der(v)", "der(y_l)", "der(v_l)", "u", "F_load", "p_S", "K", "E", "V_0",
            "A", "k_l", "m", "m_l", "c", "d", "F_c", "F_rod", "Q_A",
        ]
    }

    differentiable!();
}
