//! Stiff relaxation onto a smooth curve; shows whether a method follows its forcing.
//!
//! ```text
//! x' = L (x - g(t)) + g'(t),   g(t) = sin(w t),   L = -1e6
//! ```
//!
//! Exact from x(0) = 0: x(t) = g(t), for every L.
//! Prothero & Robinson, Math. Comp. 28 (1974).

use crate::model::{Model, Values};

pub struct ProtheroRobinson;

impl Model for ProtheroRobinson {
    fn states(&self) -> usize {
        1
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "x", "der(x)", "L", "w", "g", "error"]
    }

    fn evaluate(&self, v: &mut Values) {
        let [t, x, dx, l, w, g, error] = &mut v.real[..] else { return };
        let (sin, cos) = (*w * *t).sin_cos();
        *g = sin;
        *error = *x - *g;
        *dx = *l * *error + *w * cos;
    }
}
