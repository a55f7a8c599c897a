//! Two RC stages behind a voltage source E, an input.
//!
//! ```text
//! E - V_B = R1 I_1      C1 V_B' = I_4      I_1 = I_4 + I_2
//! V_B - V_C = R2 I_2    C2 V_C' = I_5      I_2 = I_5 + I_3
//! V_C = R3 I_3
//! ```
//!
//! Gustafsson, *Realtime simulations with inline integration* (2021), (68)-(75), solved for the derivatives.
//! It gives no values; here R1 = 10 Ω, R2 = R3 = 1 kΩ, C1 = 10 µF, C2 = 1 mF, eigenvalues -10,101 and -1.99
//! per second. Exact: linear with constant coefficients; at rest V_C = E R3/(R1 + R2 + R3) = 4.9751 V for E =
//! 10 V.

use crate::model::{Model, Values};

pub struct RcCircuit;

impl Model for RcCircuit {
    fn states(&self) -> usize {
        2
    }

    fn reals(&self) -> &'static [&'static str] {
        &[
            "time", "V_B", "V_C", "der(V_B)", "der(V_C)", "E", "R1", "R2", "R3", "C1", "C2", "I_1", "I_2",
            "I_3", "I_4", "I_5",
        ]
    }

    fn evaluate(&self, v: &mut Values) {
        let [_, vb, vc, dvb, dvc, e, r1, r2, r3, c1, c2, i1, i2, i3, i4, i5] = &mut v.real[..] else {
            return;
        };
        *i1 = (*e - *vb) / *r1;
        *i2 = (*vb - *vc) / *r2;
        *i3 = *vc / *r3;
        *i4 = *i1 - *i2;
        *i5 = *i2 - *i3;
        *dvb = *i4 / *c1;
        *dvc = *i5 / *c2;
    }
}
