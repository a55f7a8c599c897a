//! A chamber that empties through an orifice: the square root's slope has no bound at zero.
//!
//! ```text
//! p' = k (q - flow),   flow = sgn(p) √|p|,   k = 1000,   p(0) = 1,   q = 0
//! ```
//!
//! Exact with q = 0: p = (1 - k t/2)² until t = 2/k, then 0. With q held it comes to rest at p = sgn(q) q². Where h k is large, Newton's method for the implicit
//! step leads from p to -p and back (Schiela (2002), section 5.5): the model for damped steps. It provides no directional derivatives: at p = 0 there is none.

use crate::model::{Model, Values};

pub struct Orifice;

impl Orifice {
    fn equations(&self, v: &mut [f64]) {
        let [_, p, dp, k, q, flow] = v else { return };
        *flow = p.signum() * p.abs().sqrt();
        *dp = *k * (*q - *flow);
    }
}

impl Model for Orifice {
    fn states(&self) -> usize {
        1
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "p", "der(p)", "k", "q", "flow"]
    }

    fn evaluate(&self, v: &mut Values) {
        self.equations(&mut v.real);
    }
}
