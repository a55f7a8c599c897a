//! What the machines with six equal axes have in common: the order of their variables and their description.
//!
//! An axis begins with its joint (q, v) and its motor (φ, w), coupled by a gear; its other states are its
//! drive's own. The machine moves from `start` to `target` in `duration`.

use crate::generate::{self, Unknown, Variable};
use crate::model::Values;

pub const AXES: usize = 6;

/// First value references; `time` has 0, the states follow.
pub struct Layout {
    pub der: usize,
    pub tau_ext: usize,
    pub start: usize,
    pub target: usize,
    pub duration: usize,
    pub payload: usize,
    pub stiffness: usize,
    pub k_v: usize,
    pub tau_gear: usize,
    /// Number of all reals.
    pub reals: usize,
}

impl Layout {
    pub const fn new(states: usize) -> Layout {
        let der = 1 + states;
        let tau_ext = der + states;
        let start = tau_ext + AXES;
        let target = start + AXES;
        let duration = target + AXES;
        let tau_gear = duration + 4;
        Layout {
            der,
            tau_ext,
            start,
            target,
            duration,
            payload: duration + 1,
            stiffness: duration + 2,
            k_v: duration + 3,
            tau_gear,
            reals: tau_gear + AXES,
        }
    }

    /// Where the machine starts; `gears` are their stiffnesses, `weight` the torques that hold the arm at
    /// joint angles q.
    pub fn equilibrium(
        &self,
        v: &Values,
        gears: [f64; AXES],
        weight: impl Fn(&[f64; AXES]) -> [f64; AXES],
    ) -> Result<Equilibrium, &'static str> {
        let stiffness = v.real[self.stiffness];
        if v.real[self.duration] <= 0.0 || stiffness <= 0.0 || v.real[self.payload] < 0.0 {
            return Err("duration and stiffness must be positive, payload not negative");
        }
        let mut q = [0.0; AXES];
        q.copy_from_slice(&v.real[self.start..self.target]);
        let (phi, mut hold) = (q, [0.0; AXES]);
        // The motors stand at the start of the movement, the arm hangs below by weight/stiffness: a
        // contraction, of factor
        // |∂h/∂q|/c < 1e-2, so ten passes reach rounding.
        for _ in 0..10 {
            let weight = weight(&q);
            for (k, c) in gears.iter().enumerate() {
                hold[k] = weight[k] - v.real[self.tau_ext + k];
                q[k] = phi[k] - hold[k] / (c * stiffness);
            }
        }
        Ok(Equilibrium { q, phi, hold })
    }
}

/// The gears carry the weight, the motors hold it, nothing moves.
pub struct Equilibrium {
    /// Angles of joints and motors.
    pub q: [f64; AXES],
    pub phi: [f64; AXES],
    /// Torques of the gears.
    pub hold: [f64; AXES],
}

/// Name, description, unit, unit of the derivative, nominal.
pub type State = (&'static str, &'static str, &'static str, &'static str, f64);

/// States of the own axis, with the kind of dependency.
pub type Own = &'static [(usize, &'static str)];

pub struct Machine<'a> {
    pub identifier: &'a str,
    pub guid: &'a str,
    pub description: &'a str,
    /// Of an axis, in order.
    pub states: &'a [State],
    /// What the derivatives of the drive's own states, from the fifth on, depend on, and whether on time.
    pub drive: fn(usize) -> (Own, bool),
    /// Nominal of the external torques, N m.
    pub torque: f64,
    pub start: [f64; AXES],
    pub target: [f64; AXES],
    pub payload: (&'a str, f64),
    pub k_v: f64,
    /// Beside those of mechanics and currents.
    pub units: &'a [(&'a str, &'a str)],
}

impl Machine<'_> {
    /// modelDescription.xml.
    pub fn xml(&self) -> String {
        let per_axis = self.states.len();
        let at = Layout::new(AXES * per_axis);
        let mut variables = vec![Variable::time()];
        for k in 1..=AXES {
            for &(name, text, unit, _, nominal) in self.states {
                // Joint angles are outputs, the other states are not.
                let make = if name == "q" { Variable::output } else { Variable::calculated };
                let (name, text) = (format!("axis[{k}].{name}"), format!("{text} of axis {k}"));
                variables.push(make(&name, &text, unit).nominal(nominal));
            }
        }
        for k in 0..AXES {
            for (j, (name, _, _, unit, _)) in self.states.iter().enumerate() {
                let (of, state) = (format!("axis[{}].{name}", k + 1), self.position(k, j));
                variables.push(Variable::derivative(&of, state, unit));
            }
        }
        for k in 1..=AXES {
            let (name, text) = (format!("tau_ext[{k}]"), format!("External torque on joint {k}"));
            variables.push(Variable::input(&name, &text, "N.m").start(0.0).nominal(self.torque));
        }
        for (what, text, angles) in
            [("start", "Angle at the start", self.start), ("target", "Angle at the end", self.target)]
        {
            for (k, angle) in angles.into_iter().enumerate() {
                let (name, text) = (format!("{what}[{}]", k + 1), format!("{text} of axis {}", k + 1));
                variables.push(Variable::fixed(&name, &text, "rad").start(angle));
            }
        }
        variables.push(Variable::fixed("duration", "Duration of the movement", "s").start(0.8));
        variables.push(Variable::fixed("payload", self.payload.0, "kg").start(self.payload.1));
        variables.push(Variable::fixed("stiffness", "Factor on the gears' stiffness", "1").start(1.0));
        variables.push(Variable::tunable("K_v", "Gain of the position controllers", "1/s").start(self.k_v));
        for k in 1..=AXES {
            let (name, text) = (format!("tau_gear[{k}]"), format!("Torque of gear {k}"));
            variables.push(Variable::output(&name, &text, "N.m"));
        }

        let rows = 0..AXES * per_axis;
        let derivatives: Vec<Unknown> =
            rows.map(|row| (1 + at.der + row, self.dependencies(row / per_axis, row % per_axis))).collect();
        let gears = (0..AXES).map(|k| {
            let on = [(0, "fixed"), (1, "constant"), (2, "fixed"), (3, "constant")];
            (1 + at.tau_gear + k, on.map(|(j, kind)| (self.position(k, j), kind)).to_vec())
        });
        let angles = (0..AXES).map(|k| (self.position(k, 0), vec![(self.position(k, 0), "constant")]));
        let mut units = vec![
            ("s", "s=\"1\""),
            ("1", ""),
            ("1/s", "s=\"-1\""),
            ("rad", "rad=\"1\""),
            ("rad/s", "rad=\"1\" s=\"-1\""),
            ("rad/s2", "rad=\"1\" s=\"-2\""),
            ("A", "A=\"1\""),
            ("A/s", "A=\"1\" s=\"-1\""),
        ];
        units.extend(self.units);
        units.extend([
            ("N.m", "kg=\"1\" m=\"2\" s=\"-2\""),
            ("N.m/s", "kg=\"1\" m=\"2\" s=\"-3\""),
            ("kg", "kg=\"1\""),
        ]);
        generate::description(&generate::Header {
            identifier: self.identifier,
            guid: self.guid,
            description: self.description,
            units: &units,
            stop: 1.0,
            step: 0.001,
            indicators: 0,
            variables: &variables,
            outputs: &angles.chain(gears).collect::<Vec<_>>(),
            derivatives: &derivatives,
        })
    }

    /// One-based position of a state of axis k (from 0) among the variables, time being the first.
    fn position(&self, k: usize, state: usize) -> usize {
        2 + k * self.states.len() + state
    }

    /// What the derivative of a state of axis k depends on.
    fn dependencies(&self, k: usize, state: usize) -> Vec<(usize, &'static str)> {
        let (own, is_timed): (Own, bool) = match state {
            0 => (&[(1, "constant")], false),
            // The arm couples all joints.
            1 => {
                let states = (0..AXES).flat_map(|j| (0..4).map(move |s| (j, s)));
                let tau_ext = Layout::new(AXES * self.states.len()).tau_ext;
                let states = states.map(|(j, s)| self.position(j, s));
                return states
                    .chain((0..AXES).map(|j| 1 + tau_ext + j))
                    .map(|on| (on, "dependent"))
                    .collect();
            }
            2 => (&[(3, "constant")], false),
            3 => (&[(0, "fixed"), (1, "constant"), (2, "fixed"), (3, "dependent"), (4, "constant")], false),
            _ => (self.drive)(state),
        };
        let time = is_timed.then_some((1, "dependent"));
        time.into_iter().chain(own.iter().map(|&(j, kind)| (self.position(k, j), kind))).collect()
    }
}
