//! A mass on a spring that swings: fast elongation, slow angle.
//!
//! ```text
//! x' = y
//! y' = (l0 + x) φ² - k/m x + g cos θ
//! θ' = φ
//! φ' = -g/(l0 + x) sin θ - 2 y/(l0 + x) φ
//! ```
//!
//! Gustafsson, *Realtime simulations with inline integration* (2021), (35)-(38), with its m = 3, l0 = 1, k =
//! 35, g = 9.81 and start [1.5, 0, π/4, 0]. No closed solution; the energy m/2 (y² + (l0+x)² φ²) + k/2 x² - m
//! g (l0+x) cos θ is constant. The description leaves `dependencies` out, as some tools do.

use crate::model::{Model, Values};

pub struct SpringPendulum;

impl Model for SpringPendulum {
    fn states(&self) -> usize {
        4
    }

    fn reals(&self) -> &'static [&'static str] {
        &[
            "time",
            "x",
            "y",
            "theta",
            "phi",
            "der(x)",
            "der(y)",
            "der(theta)",
            "der(phi)",
            "m",
            "l0",
            "k",
            "g",
            "length",
        ]
    }

    fn evaluate(&self, v: &mut Values) {
        let [_, x, y, theta, phi, dx, dy, dtheta, dphi, m, l0, k, g, length] = &mut v.real[..] else {
            return;
        };
        let (sin, cos) = theta.sin_cos();
        *length = *l0 + *x;
        *dx = *y;
        *dy = *length * *phi * *phi - *k / *m * *x + *g * cos;
        *dtheta = *phi;
        *dphi = (-*g * sin - 2.0 * *y * *phi) / *length;
    }
}
