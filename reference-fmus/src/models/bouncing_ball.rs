//! A ball that falls, bounces and comes to rest: state events that crowd together.
//!
//! ```text
//! h' = v,   v' = -g        while it flies
//! v := -e v                when h ≤ 0 and v < 0
//! h := 0, v := 0, at rest  when the speed after an impact is below v_min
//! ```
//!
//! Exact from h(0) = h0, v(0) = 0: with V = √(2 g h0), impact number n (from 1) is at t_n = V/g
//! (1 + 2 (e + e² + … + e^(n-1))) and leaves with speed eⁿ V. With the defaults V = 4.43, e =
//! 0.7, v_min = 0.1: e¹¹ V = 0.088 < v_min, so impact 11 at t = 2.4991 s is the last. After the
//! Modelica classic and the model of the same name in the Modelica Association's Reference FMUs.

use crate::model::{Event, Model, Values};

pub struct BouncingBall;

const H: usize = 1;
const V: usize = 2;
const BOUNCES: usize = 0;
const RESTING: usize = 0;

impl Model for BouncingBall {
    fn states(&self) -> usize {
        2
    }

    fn indicators(&self) -> usize {
        1
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "h", "v", "der(h)", "der(v)", "g", "e", "v_min"]
    }

    fn evaluate(&self, v: &mut Values) {
        let resting = v.boolean[RESTING];
        let [_, _, speed, dh, dv, g, ..] = &mut v.real[..] else { return };
        *dh = *speed;
        *dv = if resting { 0.0 } else { -*g };
    }

    /// The height; at rest there is nothing to watch.
    fn event_indicators(&self, v: &Values, z: &mut [f64]) {
        z[0] = if v.boolean[RESTING] { 1.0 } else { v.real[H] };
    }

    fn event(&self, v: &mut Values) -> Event {
        if v.boolean[RESTING] || v.real[H] > 0.0 || v.real[V] >= 0.0 {
            return Event::default();
        }
        let [.., e, v_min] = v.real[..] else { return Event::default() };
        v.integer[BOUNCES] += 1;
        let speed = -e * v.real[V];
        if speed < v_min {
            v.boolean[RESTING] = true;
            (v.real[H], v.real[V]) = (0.0, 0.0);
        } else {
            // Not 0: the indicator must be positive again, or the next crossing goes unseen.
            (v.real[H], v.real[V]) = (f64::MIN_POSITIVE, speed);
        }
        Event { states_changed: true, ..Event::default() }
    }
}
