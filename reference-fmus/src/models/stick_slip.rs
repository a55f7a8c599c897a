//! A mass on a moving belt, held by a spring: the belt drags it along (stick) until the spring
//! tears it loose (slip).
//!
//! ```text
//! x' = v
//! m v' = F(mode) - k x,  F = ±F_kinetic while v ≠ v_belt
//! v = v_belt, F = k x    while |k x| ≤ F_static
//! ```
//!
//! `mode`: -1 slower than the belt (F = +F_kinetic), 0 sticking, +1 faster (F = -F_kinetic).
//! Coming to the belt's speed it tries to stick; a second pass of the event iteration decides
//! whether static friction can hold it.
//!
//! Exact limit cycle, with ω = √(k/m) and θ = atan(ω (F_static - F_kinetic)/(k v_belt)):
//!
//! ```text
//! slip    (2π - 2θ)/ω                             from x = F_static/k to (2 F_kinetic - F_static)/k
//! stick   2 (F_static - F_kinetic)/(k v_belt)     back again
//! ```
//!
//! Defaults: θ = 1.1071, slip 0.40689 s, stick 0.4 s, period 0.80689 s. Sticking from x = 0 it
//! first comes loose at t = 0.4 s.

use crate::model::{Event, Model, Values};

pub struct StickSlip;

const X: usize = 1;
const V: usize = 2;
const MODE: usize = 0;

/// Relative hysteresis of the indicators, so that each starts strictly inside its domain.
const HYSTERESIS: f64 = 1e-9;

impl Model for StickSlip {
    fn states(&self) -> usize {
        2
    }

    fn indicators(&self) -> usize {
        2
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "x", "v", "der(x)", "der(v)", "m", "k", "v_belt", "F_static", "F_kinetic", "friction"]
    }

    fn evaluate(&self, v: &mut Values) {
        let mode = v.integer[MODE];
        let [_, x, speed, dx, dv, m, k, _, _, f_kinetic, friction] = &mut v.real[..] else {
            return;
        };
        let spring = *k * *x;
        *friction = if mode == 0 { spring } else { -f64::from(mode) * *f_kinetic };
        *dx = *speed;
        *dv = (*friction - spring) / *m;
    }

    fn event_indicators(&self, v: &Values, z: &mut [f64]) {
        let [_, x, speed, _, _, _, k, v_belt, f_static, ..] = v.real[..] else { return };
        let mode = f64::from(v.integer[MODE]);
        if mode == 0.0 {
            let slack = f_static * (1.0 + HYSTERESIS);
            z[0] = slack - k * x;
            z[1] = slack + k * x;
        } else {
            z[0] = mode * (speed - v_belt) + HYSTERESIS * v_belt.abs();
            z[1] = 1.0;
        }
    }

    fn event(&self, v: &mut Values) -> Event {
        let [_, x, speed, _, _, _, k, v_belt, f_static, ..] = v.real[..] else {
            return Event::default();
        };
        match v.integer[MODE] {
            0 if k * x > f_static => v.integer[MODE] = -1,
            0 if -k * x > f_static => v.integer[MODE] = 1,
            0 => return Event::default(),
            mode if f64::from(mode) * (speed - v_belt) < 0.0 => {
                v.integer[MODE] = 0;
                v.real[V] = v_belt;
                v.real[X] = x;
            }
            _ => return Event::default(),
        }
        Event { again: true, states_changed: true, next_time: None }
    }
}
