//! Inertias in a row, coupled by friction clutches that are engaged one after the other: `CoupledClutches` of
//! the Modelica Standard Library, of any length.
//!
//! ```text
//! J w_i' = T_i + τ_i - τ_(i-1),      T_1 = 10 sin(2π 5 t), other T_i = 0
//! w_rel_i = w_(i+1) - w_i
//! τ_i = mode_i τ0_i                      while it slides, mode_i = ±1, τ0_i = 10 max(f_i, 0)
//! w_rel_i' = 0, |τ_i| ≤ 1.1 τ0_i         while it sticks, mode_i = 0
//! f_1 = cos(2π t/5);  f_2 steps from 0 to 1 at 0.4 s;  f_3 is the input;  all others step later, one by one
//! ```
//!
//! The states are those of a Modelica tool: angle and speed of the first inertia, then those of each clutch;
//! the other inertias' speeds are sums, w_i = w_1 + w_rel_1 + … . Known answers: the sum of all J w is 10
//! plus the impulse of T, 1/π (1 - cos(10π t)). While the input is zero, the last inertia of the standard
//! model stands still: its speed, w_1 + w_rel_1 + w_rel_2 + w_rel_3, is zero but for rounding.
//!
//! `clutches:18x25` has 18 states and 25 event indicators. Three for each clutch have a meaning, the others
//! never change their sign.

use crate::dual::Num;
use crate::generate::{self, Variable};
use crate::model::{Event, Model, Values, differentiable};

#[derive(Clone, Copy, Debug)]
pub struct Clutches {
    pub clutches: usize,
    pub indicators: usize,
}

/// The standard model: three clutches.
pub const DEFAULT: Clutches = Clutches { clutches: 3, indicators: 27 };
const LARGEST: usize = 50;

/// N m: friction of a clutch that is fully engaged and slides; sticking it holds this many times more. All
/// inertias are 1 kg m².
const FRICTION: f64 = 10.0;
const PEAK: f64 = 1.1;
const START: f64 = 10.0;
/// rad/s and N m by which indicators are off, so that each starts strictly inside its domain.
const SMALL: f64 = 1e-9;

impl Clutches {
    /// From "STATESxINDICATORS".
    pub fn parse(size: &str) -> Option<Clutches> {
        let (states, indicators) = size.split_once('x')?;
        let (states, indicators): (usize, usize) = (states.parse().ok()?, indicators.parse().ok()?);
        let it = Clutches { clutches: (states / 2).checked_sub(1)?, indicators };
        let possible = states % 2 == 0 && (3..=LARGEST).contains(&it.clutches);
        (possible && (3 * it.clutches..=1000).contains(&indicators)).then_some(it)
    }

    /// As one number, for the registry.
    pub fn packed(self) -> usize {
        self.clutches * 1001 + self.indicators
    }

    pub fn unpacked(size: usize) -> Clutches {
        Clutches { clutches: size / 1001, indicators: size % 1001 }
    }

    fn state_count(&self) -> usize {
        2 * self.clutches + 2
    }

    // Value references.
    fn speed(&self, clutch: usize) -> usize {
        4 + 2 * clutch
    }
    fn derivative(&self) -> usize {
        1 + self.state_count()
    }
    fn input(&self) -> usize {
        1 + 2 * self.state_count()
    }
    fn modes(&self) -> usize {
        self.input() + 1
    }
    fn engaged(&self) -> usize {
        self.modes() + self.clutches
    }
    fn speeds(&self) -> usize {
        self.engaged() + self.clutches
    }
    fn reals(&self) -> usize {
        self.speeds() + self.clutches + 1
    }

    /// When a clutch that an event engages is engaged.
    fn step_time(clutch: usize) -> f64 {
        match clutch {
            1 => 0.4,
            _ => 0.4 + 0.15 * (clutch - 2) as f64,
        }
    }

    /// Normal force, relative to its largest.
    fn force<T: Num>(&self, v: &[T], clutch: usize) -> T {
        match clutch {
            0 => (v[0] * (std::f64::consts::TAU / 5.0)).sin_cos().1,
            2 => v[self.input()],
            _ => v[self.engaged() + clutch],
        }
    }

    /// τ0 of a clutch.
    fn friction<T: Num>(&self, v: &[T], clutch: usize) -> T {
        let force = self.force(v, clutch);
        if force.value() > 0.0 { force * FRICTION } else { T::from(0.0) }
    }

    fn torque<T: Num>(v: &[T]) -> T {
        (v[0] * (5.0 * std::f64::consts::TAU)).sin_cos().0 * 10.0
    }

    /// τ of each clutch: friction where it slides, and what keeps both sides together where it sticks, 2
    /// τ_i - τ_(i-1) - τ_(i+1) = T_(i+1) - T_i.
    fn torques<T: Num>(&self, v: &[T]) -> [T; LARGEST] {
        let mut tau = [T::from(0.0); LARGEST];
        // Elimination from the left, row by row: d τ_i - c τ_(i+1) = r.
        let (mut rows, zero) = ([(T::from(1.0), T::from(0.0), T::from(0.0)); LARGEST], T::from(0.0));
        for i in 0..self.clutches {
            let mode = v[self.modes() + i].value();
            rows[i] = if mode != 0.0 {
                (T::from(1.0), zero, self.friction(v, i) * mode)
            } else if i == 0 {
                (T::from(2.0), T::from(1.0), zero - Clutches::torque(v))
            } else {
                let (d, c, r) = rows[i - 1];
                (T::from(2.0) - c / d, T::from(1.0), r / d)
            };
        }
        for i in (0..self.clutches).rev() {
            let (d, c, r) = rows[i];
            let right = if i + 1 < self.clutches { tau[i + 1] } else { zero };
            tau[i] = (r + c * right) / d;
        }
        tau
    }

    fn equations<T: Num>(&self, v: &mut [T]) {
        if v.len() != self.reals() {
            return;
        }
        let (n, tau) = (self.clutches, self.torques(v));
        let (der, speeds) = (self.derivative(), self.speeds());
        v[der] = v[2];
        v[der + 1] = Clutches::torque(v) + tau[0];
        v[speeds] = v[2];
        let mut left = v[der + 1];
        for i in 0..n {
            let right = if i + 1 < n { tau[i + 1] - tau[i] } else { T::from(0.0) - tau[i] };
            let sticks = v[self.modes() + i].value() == 0.0;
            v[der + 2 + 2 * i] = v[self.speed(i)];
            v[der + 3 + 2 * i] = if sticks { T::from(0.0) } else { right - left };
            v[speeds + 1 + i] = v[speeds + i] + v[self.speed(i)];
            left = right;
        }
    }

    pub fn description(&self) -> String {
        let n = self.clutches;
        let mut variables = vec![Variable::time()];
        let mut names = vec!["J1.phi".to_owned(), "J1.w".to_owned()];
        for i in 1..=n {
            names.extend([format!("clutch{i}.phi_rel"), format!("clutch{i}.w_rel")]);
        }
        for (at, name) in names.iter().enumerate() {
            let start = if at == 1 {
                START
            } else if at == 3 {
                -START
            } else {
                0.0
            };
            let (text, unit) = if at % 2 == 0 { ("Angle", "rad") } else { ("Speed", "rad/s") };
            variables.push(Variable::state(name, text, unit).start(start));
        }
        for (at, name) in names.iter().enumerate() {
            let unit = if at % 2 == 0 { "rad/s" } else { "rad/s2" };
            variables.push(Variable::derivative(name, 2 + at, unit));
        }
        variables.push(Variable::input("f3", "Normal force of the third clutch, relative", "1").start(0.0));
        for i in 1..=n {
            let text = "-1 slides backward, 0 sticks, 1 slides forward";
            variables.push(Variable::discrete(&format!("clutch{i}.mode"), text, "1"));
        }
        for i in 1..=n {
            let text = "1 from the event on that engages it";
            variables.push(Variable::discrete(&format!("clutch{i}.engaged"), text, "1"));
        }
        for i in 1..=n + 1 {
            variables.push(Variable::output(&format!("w{i}"), "Speed of an inertia", "rad/s"));
        }
        let at = |reference: usize| reference + 1;
        let derivatives: Vec<_> = (0..self.state_count())
            .map(|i| {
                let on = match i % 2 {
                    0 => (at(2 + i), "constant"),
                    _ => (at(self.input()), "dependent"),
                };
                (at(self.derivative() + i), vec![on])
            })
            .collect();
        let outputs: Vec<_> = (0..=n)
            .map(|i| {
                let on = std::iter::once(2).chain((0..i).map(|clutch| self.speed(clutch)));
                (at(self.speeds() + i), on.map(|reference| (at(reference), "constant")).collect())
            })
            .collect();
        let size = format!("{}x{}", self.state_count(), self.indicators);
        generate::description(&generate::Header {
            identifier: "clutches",
            guid: &format!("{{clutches:{size}:5c1b6f0e-2d3a-5f64-8a1d-7e0f6b9c4d21}}"),
            description: "Inertias coupled by friction clutches that engage one after the other",
            units: &[
                ("1", ""),
                ("s", "s=\"1\""),
                ("rad", "rad=\"1\""),
                ("rad/s", "s=\"-1\" rad=\"1\""),
                ("rad/s2", "s=\"-2\" rad=\"1\""),
            ],
            stop: 1.5,
            step: 0.001,
            indicators: self.indicators,
            variables: &variables,
            outputs: &outputs,
            derivatives: &derivatives,
        })
    }

    /// One pass: the clutch that comes to rest first, or else the one that is torn loose most, changes its
    /// mode.
    fn switch(&self, v: &mut [f64]) -> bool {
        for i in 0..self.clutches {
            let (mode, speed) = (v[self.modes() + i], v[self.speed(i)]);
            if mode * speed < 0.0 {
                v[self.modes() + i] = 0.0;
                v[self.speed(i)] = 0.0;
                // The inertias behind it keep their speeds.
                if i + 1 < self.clutches {
                    v[self.speed(i + 1)] += speed;
                }
                return true;
            }
        }
        let tau = self.torques(v);
        let sticking = (0..self.clutches).filter(|&i| v[self.modes() + i] == 0.0);
        let excess = sticking.map(|i| (i, tau[i].abs() - PEAK * self.friction(v, i)));
        match excess.max_by(|a, b| a.1.total_cmp(&b.1)) {
            Some((i, excess)) if excess > 0.0 => {
                v[self.modes() + i] = tau[i].signum();
                true
            }
            _ => false,
        }
    }
}

impl Model for Clutches {
    fn states(&self) -> usize {
        self.state_count()
    }

    fn indicators(&self) -> usize {
        self.indicators
    }

    fn initialize(&self, v: &mut Values) -> Result<(), &'static str> {
        for i in 0..self.clutches {
            let speed = v.real[self.speed(i)];
            v.real[self.modes() + i] = if speed == 0.0 { 0.0 } else { speed.signum() };
        }
        Ok(())
    }

    differentiable!();

    /// Of each clutch: is it engaged, has it come to rest, is it torn loose.
    fn event_indicators(&self, v: &Values, z: &mut [f64]) {
        let v = &v.real[..];
        let tau = self.torques(v);
        for (k, z) in z.iter_mut().enumerate() {
            let clutch = k / 3;
            *z = 100.0 + k as f64;
            if clutch >= self.clutches {
                continue;
            }
            let mode = v[self.modes() + clutch];
            match (k % 3, mode == 0.0) {
                (0, _) => *z = self.force(v, clutch),
                (1, false) => *z = mode * v[self.speed(clutch)] + SMALL,
                (2, true) => *z = PEAK * self.friction(v, clutch) - tau[clutch].abs() + SMALL,
                _ => {}
            }
        }
    }

    fn event(&self, v: &mut Values) -> Event {
        let time = v.time();
        let mut next_time: Option<f64> = None;
        for i in (1..self.clutches).filter(|&i| i != 2) {
            let at = Clutches::step_time(i);
            if time >= at {
                v.real[self.engaged() + i] = 1.0;
            } else {
                next_time = Some(next_time.map_or(at, |next| next.min(at)));
            }
        }
        let again = self.switch(&mut v.real);
        Event { again, states_changed: again, next_time }
    }
}
