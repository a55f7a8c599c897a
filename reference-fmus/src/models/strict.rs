//! A ball with everything that an importer can do wrong: events of every kind, inputs and parameters of every
//! type, saved states, directional derivatives. It holds its importer to FMI's state machine; see
//! [`crate::strict`].
//!
//! ```text
//! h' = v,   v' = u - g,   y = h + u
//! v := -e v        when h ≤ 0 and v < 0
//! ticks := ticks + count   every 0.05 s, if on
//! ```

use crate::dual::Num;
use crate::model::{Event, Model, Oddity, Values, differentiable};

pub struct Strict;

const PERIOD: f64 = 0.05;

impl Strict {
    fn equations<T: Num>(&self, v: &mut [T]) {
        let [_, h, speed, dh, dv, g, _, u, y] = v else { return };
        *dh = *speed;
        *dv = *u - *g;
        *y = *h + *u;
    }
}

impl Model for Strict {
    fn states(&self) -> usize {
        2
    }

    fn indicators(&self) -> usize {
        1
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "h", "v", "der(h)", "der(v)", "g", "e", "u", "y"]
    }

    differentiable!();

    fn event_indicators(&self, v: &Values, z: &mut [f64]) {
        z[0] = v.real[1];
    }

    fn event(&self, v: &mut Values) -> Event {
        let time = v.time();
        let ticks = (time / PERIOD + 1e-9).floor();
        if v.boolean[0] {
            v.integer[0] = ticks as i32 * v.integer[1];
        }
        v.string[1] = v.string[0].clone();
        let bounces = v.real[1] <= 0.0 && v.real[2] < 0.0;
        if bounces {
            (v.real[1], v.real[2]) = (f64::MIN_POSITIVE, -v.real[6] * v.real[2]);
        }
        Event { states_changed: bounces, next_time: Some((ticks + 1.0) * PERIOD), ..Event::default() }
    }

    fn oddity(&self) -> Oddity {
        Oddity::Strict
    }
}
