//! Bodies of a vehicle on a common frame, as many as wanted and as dear to evaluate as wanted: what does not
//! fit the step must show.
//!
//! ```text
//! x_i' = v_i
//! v_i' = k_i (r + u - x_i) - q x_i³ - 2 ζ sqrt(k_i) v_i + c (x_mean - x_i),   i = 1 … n
//! k_i = 10² … 10⁶ 1/s²,   r(t) = a sin(2 π 1.5 (t - t_a)) after t_a, 0 before
//! ```
//!
//! The frame couples every body with every other one: the Jacobian is dense in the rows of v. An evaluation
//! also does `work` nanoseconds of arithmetic, roughly, that nobody needs; a model that remembers
//! ([`Oddity::Remembers`]) does it only where time, states or inputs have changed. Three of them:
//!
//! - `vehicle:STATES:WORK`: the work is always the same;
//! - `iterating`: ten times more where the bodies move, as where a loop inside is solved by iterations. It
//!   rests until t = 1 s;
//! - `resting`: likewise, and no road moves it, only its input.
//!
//! Exact: at rest all is zero; with u constant and c = q = 0, x_i = u.

use crate::dual::{Dual, Num};
use crate::generate::{self, Variable};
use crate::model::{Model, Oddity, Values};

pub const SMALLEST: usize = 4;
pub const LARGEST: usize = 1000;
pub const DEFAULT: usize = 20;

pub struct Vehicle {
    pub states: usize,
    /// Nanoseconds.
    pub work: usize,
    pub kind: Kind,
}

#[derive(Clone, Copy, PartialEq)]
pub enum Kind {
    Steady,
    Iterating,
    Resting,
}

const CUBIC: f64 = 1e4;
const DAMPING: f64 = 0.7;
const FRAME: f64 = 50.0;
/// An evaluation in motion does this many times the work of one at rest.
pub const ITERATIONS: f64 = 10.0;
/// Bodies that are faster than this move, m/s.
const MOVING: f64 = 1e-4;

/// Arithmetic that takes about so many nanoseconds: each operation waits for the one before.
pub fn labour(nanoseconds: usize) {
    let mut value = 1.0f64;
    for _ in 0..nanoseconds / 4 {
        value = std::hint::black_box(value) * 0.5 + 0.5;
    }
    std::hint::black_box(value);
}

impl Vehicle {
    fn name(&self) -> &'static str {
        match self.kind {
            Kind::Steady => "vehicle",
            Kind::Iterating => "iterating",
            Kind::Resting => "resting",
        }
    }

    fn stiffness(&self, body: usize) -> f64 {
        let bodies = self.states / 2;
        10f64.powf(2.0 + 4.0 * body as f64 / (bodies - 1).max(1) as f64)
    }

    fn equations<T: Num>(&self, v: &mut [T]) {
        let (states, bodies) = (self.states, self.states / 2);
        let (known, rest) = v.split_at_mut(1 + states);
        let (der, rest) = rest.split_at_mut(states);
        let [u, a, begin, mean_out, last_out] = rest else { return };
        let (x, w) = known[1..].split_at(bodies);
        let after = known[0] - *begin;
        let road = if after.value() > 0.0 {
            *a * (after * (3.0 * std::f64::consts::PI)).sin_cos().0
        } else {
            T::from(0.0)
        };
        let mut mean = T::from(0.0);
        x.iter().for_each(|x| mean += *x * (1.0 / bodies as f64));
        for i in 0..bodies {
            let k = self.stiffness(i);
            der[i] = w[i];
            der[bodies + i] =
                (road + *u - x[i]) * k - x[i] * x[i] * x[i] * CUBIC - w[i] * (2.0 * DAMPING * k.sqrt())
                    + (mean - x[i]) * FRAME;
        }
        *mean_out = mean;
        *last_out = x[0];
    }

    fn nanoseconds(&self, speeds: impl Iterator<Item = f64>) -> usize {
        let moves = speeds.fold(0.0, |most: f64, v| most.max(v.abs())) > MOVING;
        match self.kind {
            Kind::Iterating | Kind::Resting if moves => self.work * ITERATIONS as usize,
            _ => self.work,
        }
    }

    pub fn description(&self) -> String {
        let (states, bodies) = (self.states, self.states / 2);
        let mut variables = vec![Variable::time()];
        let body = |letter: &str, i: usize| format!("{letter}[{}]", i + 1);
        for i in 0..bodies {
            variables
                .push(Variable::state(&body("x", i), "Position of a body", "m").start(0.0).nominal(0.05));
        }
        for i in 0..bodies {
            variables.push(Variable::state(&body("v", i), "Speed of a body", "m/s").start(0.0).nominal(0.5));
        }
        for (letter, unit) in [("x", "m/s"), ("v", "m/s2")] {
            for i in 0..bodies {
                let state = if letter == "x" { 2 + i } else { 2 + bodies + i };
                variables.push(Variable::derivative(&body(letter, i), state, unit));
            }
        }
        let amplitude = if self.kind == Kind::Resting { 0.0 } else { 0.05 };
        let begin = if self.kind == Kind::Iterating { 1.0 } else { 0.0 };
        variables.push(Variable::input("u", "Height of the test stand", "m").start(0.0).range(-0.05, 0.05));
        variables.push(Variable::fixed("a", "Amplitude of the road", "m").start(amplitude));
        variables.push(Variable::fixed("t_a", "Time when the road begins", "s").start(begin));
        variables.push(Variable::output("x_mean", "Mean position", "m"));
        variables.push(Variable::output("x_soft", "Position of the softest body", "m"));
        // One-based: time, states, derivatives, then these.
        let u = 2 + 2 * states;
        let mut derivatives = Vec::with_capacity(states);
        for i in 0..bodies {
            derivatives.push((2 + states + i, vec![(2 + bodies + i, "constant")]));
        }
        for i in 0..bodies {
            let mut on: Vec<_> =
                (0..bodies).map(|j| (2 + j, if i == j { "dependent" } else { "fixed" })).collect();
            on.push((2 + bodies + i, "fixed"));
            on.push((u, "fixed"));
            on.insert(0, (1, "dependent"));
            derivatives.push((2 + states + bodies + i, on));
        }
        let means = (0..bodies).map(|j| (2 + j, "constant")).collect();
        let work = self.work;
        let size = format!("{states}:{work}ns:");
        generate::description(&generate::Header {
            identifier: self.name(),
            guid: &format!("{{{}:{size}2b7c8e1d-93f4-4a0f-8f57-5d8a6f0b4c21}}", self.name()),
            description: &match self.kind {
                Kind::Steady => format!(
                    "Vehicle of {states} states on a shaking road; an evaluation takes {} µs and more",
                    work as f64 * 1e-3
                ),
                _ => "Bodies on a frame, dear to evaluate where they move".into(),
            },
            units: &[
                ("s", "s=\"1\""),
                ("m", "m=\"1\""),
                ("m/s", "m=\"1\" s=\"-1\""),
                ("m/s2", "m=\"1\" s=\"-2\""),
            ],
            stop: 2.0,
            step: 0.001,
            indicators: 0,
            variables: &variables,
            outputs: &[(u + 3, means), (u + 4, vec![(2, "constant")])],
            derivatives: &derivatives,
        })
    }
}

impl Model for Vehicle {
    fn states(&self) -> usize {
        self.states
    }

    fn evaluate(&self, v: &mut Values) {
        let speeds = v.real[1 + self.states / 2..=self.states].iter().copied();
        labour(self.nanoseconds(speeds));
        self.equations(&mut v.real);
    }

    fn evaluate_dual(&self, v: &mut [Dual]) -> bool {
        let speeds = v[1 + self.states / 2..=self.states].iter().map(|dual| dual.value);
        labour(self.nanoseconds(speeds));
        self.equations(v);
        true
    }

    fn oddity(&self) -> Oddity {
        Oddity::Remembers
    }
}
