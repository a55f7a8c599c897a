//! A stiff plant under a sampled PI controller: time events and discrete states.
//!
//! ```text
//! x1' = x2 - x1                      slow, eigenvalue -1
//! x2' = (u - x2) / tau               actuator, eigenvalue -1/tau = -1000
//! every Ts:  e = setpoint - x1,  I := I + Ki Ts e,  u := Kp e + I
//! ```
//!
//! The sample at the start counts. Exact: between samples the plant is linear with u held, so
//! x1(t+s) = u + (x1 - u - c) exp(-s) + c exp(-s/tau), x2(t+s) = u + (x2 - u) exp(-s/tau), c =
//! (x2 - u) tau/(tau - 1). At rest x1 = x2 = u = setpoint. Sample times are t0 + k Ts, counted,
//! never accumulated.

use crate::model::{Event, Model, Values};

pub struct SampledController;

const SAMPLES: usize = 0;

impl Model for SampledController {
    fn states(&self) -> usize {
        2
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "x1", "x2", "der(x1)", "der(x2)", "setpoint", "Kp", "Ki", "Ts", "tau", "u", "I", "t0"]
    }

    /// Remember the start time; the first sample is taken by the first event iteration.
    fn initialize(&self, v: &mut Values) -> Result<(), &'static str> {
        if v.real[8] <= 0.0 {
            return Err("the sample period Ts must be positive");
        }
        v.real[12] = v.time();
        Ok(())
    }

    fn evaluate(&self, v: &mut Values) {
        let [_, x1, x2, dx1, dx2, _, _, _, _, tau, u, ..] = &mut v.real[..] else { return };
        *dx1 = *x2 - *x1;
        *dx2 = (*u - *x2) / *tau;
    }

    fn event(&self, v: &mut Values) -> Event {
        let [t, x1, _, _, _, setpoint, kp, ki, ts, _, u, i, t0] = &mut v.real[..] else {
            return Event::default();
        };
        let due = *t0 + f64::from(v.integer[SAMPLES]) * *ts;
        if *t >= due {
            let e = *setpoint - *x1;
            *i += *ki * *ts * e;
            *u = *kp * e + *i;
            v.integer[SAMPLES] += 1;
        }
        let next = *t0 + f64::from(v.integer[SAMPLES]) * *ts;
        Event { next_time: Some(next), ..Event::default() }
    }
}
