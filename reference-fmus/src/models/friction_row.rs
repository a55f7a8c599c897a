//! Inertias in a row, with a friction clutch between each and the next: many event indicators, few of which
//! speak.
//!
//! ```text
//! J_i φ_i'' = T_(i-1) - T_i [+ τ + 8 sin(2 π t) on the first] [- d w_n - k φ_n on the last],   i = 1 … n
//! T_i = c_i m_i           while a clutch slips, m_i = ±1
//! T_i = c_i (w_i - w_(i+1))/ε   while it sticks,  |w_i - w_(i+1)| <= ε
//! ```
//!
//! An indicator on each side of the band, w_i - w_(i+1) ∓ ε, tells when a clutch begins or ends to slip;
//! torques are continuous there, their slopes are not: c/(ε J) = 3000 1/s or none. The other indicators are
//! end stops of angles that nothing reaches. `friction-row:STATES:INDICATORS:WORK:FACTOR`: an evaluation does
//! that much work besides, and reading the indicators FACTOR times as much. Exact: without torque and at rest
//! nothing moves; while all stick and slip is small the row turns as one body.

use super::vehicle::labour;
use crate::dual::{Dual, Num};
use crate::generate::{self, Variable};
use crate::model::{Event, Model, Values};

pub const DEFAULT: (usize, usize) = (18, 25);
pub const LARGEST: usize = 200;

pub struct FrictionRow {
    pub states: usize,
    pub indicators: usize,
    /// Nanoseconds of an evaluation, and how many times as many of reading the indicators.
    pub work: usize,
    pub factor: usize,
}

/// Capacity of a clutch, N.m; half the band in which it sticks, rad/s; an inertia, kg.m2.
const CAPACITY: f64 = 6.0;
const BAND: f64 = 0.01;
const INERTIA: f64 = 0.2;
/// The drive's own torque, damping and spring of the last inertia.
const TORQUE: f64 = 8.0;
const DRAG: f64 = 0.3;
const SPRING: f64 = 20.0;
/// Angle of the first end stop, rad: 1 km of a tyre.
const STOP: f64 = 3e3;

impl FrictionRow {
    fn bodies(&self) -> usize {
        self.states / 2
    }

    /// Indicators that there are at least.
    pub fn least(states: usize) -> usize {
        2 * (states / 2 - 1)
    }

    fn capacity(i: usize) -> f64 {
        CAPACITY * (1.0 + 0.1 * (i * 3 % 5) as f64)
    }

    fn equations<T: Num>(&self, v: &mut [T]) {
        let (states, bodies) = (self.states, self.bodies());
        let (known, rest) = v.split_at_mut(1 + states);
        let (der, rest) = rest.split_at_mut(states);
        let (modes, rest) = rest.split_at_mut(bodies - 1);
        let [tau, w_out, phi_out] = rest else { return };
        let (phi, w) = known[1..].split_at(bodies);
        let drive = *tau + (known[0] * std::f64::consts::TAU).sin_cos().0 * TORQUE;
        let mut before = drive;
        for i in 0..bodies {
            der[i] = w[i];
            let after = if i + 1 < bodies {
                let capacity = FrictionRow::capacity(i);
                match modes[i].value() {
                    0.0 => (w[i] - w[i + 1]) * (capacity / BAND),
                    side => T::from(capacity * side),
                }
            } else {
                w[i] * DRAG + phi[i] * SPRING
            };
            der[bodies + i] = (before - after) * (1.0 / INERTIA);
            before = after;
        }
        *w_out = w[0];
        *phi_out = phi[bodies - 1];
    }

    pub fn description(&self) -> String {
        let (states, bodies) = (self.states, self.bodies());
        let mut variables = vec![Variable::time()];
        let body = |letter: &str, i: usize| format!("{letter}[{}]", i + 1);
        for (letter, text, unit) in [("phi", "Angle of an inertia", "rad"), ("w", "Its speed", "rad/s")] {
            for i in 0..bodies {
                variables.push(Variable::state(&body(letter, i), text, unit).start(0.0));
            }
        }
        for (letter, unit, first) in [("phi", "rad/s", 2), ("w", "rad/s2", 2 + bodies)] {
            for i in 0..bodies {
                variables.push(Variable::derivative(&body(letter, i), first + i, unit));
            }
        }
        for i in 0..bodies - 1 {
            variables.push(Variable::discrete(
                &body("mode", i),
                "A clutch slips forwards, sticks, slips backwards",
                "1",
            ));
        }
        // Nobody says how large it gets.
        variables.push(
            Variable::input("tau", "Torque on the first inertia besides the drive's", "N.m").start(0.0),
        );
        variables.push(Variable::output("w_drive", "Speed of the first inertia", "rad/s"));
        variables.push(Variable::output("phi_load", "Angle of the last inertia", "rad"));
        let (speed, der) = (2 + bodies, 2 + states);
        let tau = der + states + bodies - 1;
        let mut derivatives: Vec<generate::Unknown> =
            (0..bodies).map(|i| (der + i, vec![(speed + i, "constant")])).collect();
        for i in 0..bodies {
            let mut on = if i == 0 { vec![(1, "dependent")] } else { Vec::new() };
            if i + 1 == bodies {
                on.push((2 + i, "constant"));
            }
            let near = i.saturating_sub(1)..=(i + 1).min(bodies - 1);
            on.extend(near.map(|j| (speed + j, "dependent")));
            // Modes are at der + states …
            let modes = i.saturating_sub(1)..(i + 1).min(bodies - 1);
            on.extend(modes.map(|j| (der + states + j, "dependent")));
            if i == 0 {
                on.push((tau, "constant"));
            }
            derivatives.push((der + bodies + i, on));
        }
        let FrictionRow { indicators, work, factor, .. } = self;
        generate::description(&generate::Header {
            identifier: "friction_row",
            guid: &format!(
                "{{friction-row:{states}:{indicators}:{work}ns:{factor}:6d0a41c7-58de-4f0b-9c3b-7e1f2a9d3b10}}"
            ),
            description: &format!(
                "{bodies} inertias with friction clutches between them, {indicators} event indicators"
            ),
            units: &[
                ("s", "s=\"1\""),
                ("1", ""),
                ("rad", "rad=\"1\""),
                ("rad/s", "rad=\"1\" s=\"-1\""),
                ("rad/s2", "rad=\"1\" s=\"-2\""),
                ("N.m", "kg=\"1\" m=\"2\" s=\"-2\""),
            ],
            stop: 2.0,
            step: 0.001,
            indicators: self.indicators,
            variables: &variables,
            outputs: &[(tau + 1, vec![(speed, "constant")]), (tau + 2, vec![(1 + bodies, "constant")])],
            derivatives: &derivatives,
        })
    }

    fn slip(&self, v: &Values, clutch: usize) -> f64 {
        let first = 1 + self.bodies();
        v.real[first + clutch] - v.real[first + clutch + 1]
    }
}

impl Model for FrictionRow {
    fn states(&self) -> usize {
        self.states
    }

    fn indicators(&self) -> usize {
        self.indicators
    }

    fn evaluate(&self, v: &mut Values) {
        labour(self.work);
        self.equations(&mut v.real);
    }

    fn evaluate_dual(&self, v: &mut [Dual]) -> bool {
        labour(self.work);
        self.equations(v);
        true
    }

    fn event_indicators(&self, v: &Values, z: &mut [f64]) {
        labour(self.work * self.factor);
        let clutches = self.bodies() - 1;
        for i in 0..clutches {
            let slip = self.slip(v, i);
            (z[2 * i], z[2 * i + 1]) = (slip - BAND, slip + BAND);
        }
        for (k, z) in z[2 * clutches..].iter_mut().enumerate() {
            *z = STOP * (1 + k) as f64 - v.real[1 + k % self.bodies()];
        }
    }

    fn event(&self, v: &mut Values) -> Event {
        let modes = 1 + 2 * self.states;
        for i in 0..self.bodies() - 1 {
            let slip = self.slip(v, i);
            v.real[modes + i] = if slip > BAND {
                1.0
            } else if slip <= -BAND {
                -1.0
            } else {
                0.0
            };
        }
        Event::default()
    }
}
