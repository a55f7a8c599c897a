//! A room that a thermostat keeps at a given temperature: `ControlledTemperature` of the Modelica Standard
//! Library, with a Boolean output.
//!
//! ```text
//! C T' = on · P_0/(1 + α (T - T_0)) - G (T - T_0)
//! on := false when T ≥ T_ref + 1 K,   on := true when T ≤ T_ref - 1 K
//! ```
//!
//! It heats at 10 K/s and cools at some 0.5 K/s: an error of the temperature of 1 mK, 4e-5 of what it moves
//! by, shifts the time at which the heater is switched on by 2 ms. Known answer: while the heater is off, T =
//! T_0 + (T_1 - T_0) exp(-(t - t_1) G/C).

use crate::model::{Event, Model, Values};

pub struct Thermostat;

const ON: usize = 0;
/// K, W, 1/K, W/K and J/K.
const AMBIENT: f64 = 293.15;
const POWER: f64 = 10.0;
const ALPHA: f64 = 1.0 / 255.0;
const LOSS: f64 = 0.1;
const CAPACITY: f64 = 1.0;
const HALF_BAND: f64 = 1.0;
impl Model for Thermostat {
    fn states(&self) -> usize {
        1
    }

    fn indicators(&self) -> usize {
        2
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "T", "der(T)", "T_ref"]
    }

    fn evaluate(&self, v: &mut Values) {
        let on = v.boolean[ON];
        let [_, t, dt, _] = &mut v.real[..] else { return };
        let heat = if on { POWER / (1.0 + ALPHA * (*t - AMBIENT)) } else { 0.0 };
        *dt = (heat - LOSS * (*t - AMBIENT)) / CAPACITY;
    }

    fn event_indicators(&self, v: &Values, z: &mut [f64]) {
        let over = v.real[1] - v.real[3];
        z[0] = if v.boolean[ON] { HALF_BAND - over } else { 1.0 };
        z[1] = if v.boolean[ON] { 1.0 } else { over + HALF_BAND };
    }

    fn event(&self, v: &mut Values) -> Event {
        let over = v.real[1] - v.real[3];
        if over >= HALF_BAND {
            v.boolean[ON] = false;
        } else if over <= -HALF_BAND {
            v.boolean[ON] = true;
        }
        Event::default()
    }
}
