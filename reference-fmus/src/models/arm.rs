//! The PUMA 560, six rigid bodies on elastic geared drives: 36 states, 6 per axis. An evaluation
//! is seven passes of recursive Newton-Euler, so that it costs what a multibody model costs.
//!
//! Per axis, in arm-side units (angle of the motor φ, gear ratio n):
//!
//! ```text
//! q' = v            M(q) v' = τ + τ_ext - h(q, v),   τ = c (φ - q) + d (w - v)       arm, see `rigid_body`
//! φ' = w            n² J w' = k n i - τ - n² B w - n F tanh(w/w₀)                    rotor and its friction
//! L i' = K_c (i_r - i) - R i - k n w                                                 armature, current P
//! i_r = (K_w e + x_w)/(k n),   x_w' = K_w/T_w e,   e = K_v (r - φ) + r' - w          speed PI, position P
//! ```
//!
//! r(t) goes from `start` to `target` in `duration`, see `motion`; the grip holds a cube of mass `payload`.
//!
//! Lengths, masses, centres, inertias, J, n, B and F (the mean of both directions) are those of
//! Corke & Armstrong-Hélouvry, *A search for consensus among model parameters reported for the
//! PUMA 560 robot* (ICRA 1994), as in P. Corke's Robotics Toolbox for Python,
//! `roboticstoolbox/models/DH/Puma560.py`. The first link has no mass there: it only turns about
//! the vertical, where its inertia counts alone. Gears, motors and controllers are of a plausible size.
//!
//! Known answers: with rotors fixed to their joints M is what the toolbox prints; the start is an
//! equilibrium; at rest φ = target and q hangs below it by the gears' deflection h(q)/c. Eigenvalues
//! along the movement: -5396 … -7.9 per second, real parts all negative. The current controllers'
//! are around -5300, where explicit Euler at 1 ms fails; the wrist's dampers reach -3255 and vary
//! with the posture; oscillations stay below 320 rad/s. Where axes 4 and 6 align (q\[5\] = 0) the
//! wrist's dampers would reach some -35,000; the movement keeps away from there.

use crate::dual::Num;
use crate::linear::cholesky_solve;
use crate::model::{Model, Values, differentiable};
use crate::motion::{pace, progress};
use crate::rigid_body::{Body, Chain, Link};
use crate::six_axes::{AXES, Equilibrium, Layout, Machine, Own, State};

pub struct Arm;

pub const PER_AXIS: usize = 6;
const STATES: usize = AXES * PER_AXIS;
const AT: Layout = Layout::new(STATES);

/// The states of an axis, in order.
const NAMES: [State; PER_AXIS] = [
    ("q", "Joint angle", "rad", "rad/s", 1.0),
    ("v", "Joint speed", "rad/s", "rad/s2", 1.0),
    ("phi", "Motor angle, arm side", "rad", "rad/s", 1.0),
    ("w", "Motor speed, arm side", "rad/s", "rad/s2", 1.0),
    ("i", "Motor current", "A", "A/s", 1.0),
    ("x_w", "Integral part of the speed controller, a torque", "N.m", "N.m/s", 10.0),
];

const fn link(d: f64, a: f64, twist: (f64, f64), mass: f64, centre: [f64; 3], inertia: [f64; 3]) -> Link {
    Link { d, a, twist, body: Body::new(mass, centre, inertia) }
}

/// α of a link: a quarter turn, none, a quarter turn back.
const UP: (f64, f64) = (0.0, 1.0);
const STRAIGHT: (f64, f64) = (1.0, 0.0);
const DOWN: (f64, f64) = (0.0, -1.0);

pub static LINKS: [Link; AXES] = [
    link(0.672, 0.0, UP, 0.0, [0.0; 3], [0.0, 0.35, 0.0]),
    link(0.0, 0.4318, STRAIGHT, 17.4, [-0.3638, 0.006, 0.2275], [0.13, 0.524, 0.539]),
    link(0.15005, 0.0203, DOWN, 4.8, [-0.0203, -0.0141, 0.070], [0.066, 0.086, 0.0125]),
    link(0.4318, 0.0, UP, 0.82, [0.0, 0.019, 0.0], [1.8e-3, 1.3e-3, 1.8e-3]),
    link(0.0, 0.0, DOWN, 0.34, [0.0; 3], [0.3e-3, 0.4e-3, 0.3e-3]),
    link(0.0, 0.0, STRAIGHT, 0.09, [0.0, 0.0, 0.032], [0.15e-3, 0.15e-3, 0.04e-3]),
];

/// What the grip holds, for each kg of payload: a cube with edges of 0.15 m, a little off the last
/// axis; its moments of inertia are edge²/6.
pub static HELD: Body<f64> = Body::new(1.0, [0.05, 0.0, 0.12], [3.75e-3; 3]);
/// Gravity, m/s².
pub const G: f64 = 9.81;

pub struct Drive {
    /// Gear ratio.
    n: f64,
    /// On the motor side: rotor inertia kg m², viscous friction N m s/rad, Coulomb friction N m.
    rotor: f64,
    viscous: f64,
    coulomb: f64,
    /// Torque constant, N m/A.
    k: f64,
    /// Gear, arm side: N m/rad, N m s/rad.
    c: f64,
    d: f64,
    /// Speed controller gain, N m s/rad.
    k_w: f64,
}

impl Drive {
    /// The rotor's inertia as the arm feels it through the gear, kg m².
    pub const fn inertia(&self) -> f64 {
        self.n * self.n * self.rotor
    }
}

const fn large(n: f64, viscous: f64, coulomb: f64, c: f64, d: f64, k_w: f64) -> Drive {
    Drive { n, rotor: 200e-6, viscous, coulomb, k: 0.25, c, d, k_w }
}

const fn small(n: f64, viscous: f64, coulomb: f64, c: f64, d: f64, k_w: f64) -> Drive {
    Drive { n, rotor: 33e-6, viscous, coulomb, k: 0.07, c, d, k_w }
}

/// Ratios without their signs: these only say which way the motor is mounted.
pub static DRIVES: [Drive; AXES] = [
    large(62.6111, 1.48e-3, 0.415, 1.0e5, 300.0, 300.0),
    large(107.815, 0.817e-3, 0.0985, 2.0e5, 600.0, 400.0),
    large(53.7063, 1.38e-3, 0.1185, 5.0e4, 120.0, 100.0),
    small(76.0364, 71.2e-6, 14.05e-3, 1.0e4, 40.0, 25.0),
    small(71.923, 82.6e-6, 11.88e-3, 1.0e4, 40.0, 25.0),
    small(76.686, 36.7e-6, 7.23e-3, 5.0e3, 15.0, 20.0),
];

/// Speed at which Coulomb friction is nearly full, rad/s.
const W_FRICTION: f64 = 0.1;
/// Armature, Ω and H; current controller, V/A; speed controller's reset time, s.
const R: f64 = 2.0;
const L: f64 = 4e-3;
const K_C: f64 = 20.0;
const T_W: f64 = 0.1;

impl Arm {
    fn equations<T: Num>(&self, v: &mut [T]) {
        if v.len() != AT.reals {
            return;
        }
        let (known, rest) = v.split_at_mut(AT.der);
        let (der, rest) = rest.split_at_mut(STATES);
        let (x, at) = (&known[1..], |reference: usize| reference - AT.tau_ext);
        let (stiffness, k_v, duration) = (rest[at(AT.stiffness)], rest[at(AT.k_v)], rest[at(AT.duration)]);
        let z = known[0] / duration;
        let (share, rate) = (progress(z), pace(z) / duration);

        let zero = T::from(0.0);
        let (mut q, mut speed, mut torque) = ([zero; AXES], [zero; AXES], [zero; AXES]);
        for (k, p) in DRIVES.iter().enumerate() {
            let own = &x[k * PER_AXIS..(k + 1) * PER_AXIS];
            let d = &mut der[k * PER_AXIS..(k + 1) * PER_AXIS];
            let &[q_k, v_k, phi, w, i, x_w] = own else { return };
            let tau = stiffness * (phi - q_k) * p.c + (w - v_k) * p.d;
            let kn = p.k * p.n;
            let friction = w * (p.viscous * p.n * p.n) + (w * (1.0 / W_FRICTION)).tanh() * (p.coulomb * p.n);
            let start = rest[at(AT.start) + k];
            let way = rest[at(AT.target) + k] - start;
            let e = k_v * (start + way * share - phi) + way * rate - w;
            let i_r = (e * p.k_w + x_w) * (1.0 / kn);
            d[0] = v_k;
            d[2] = w;
            d[3] = (i * kn - tau - friction) * (1.0 / p.inertia());
            d[4] = ((i_r - i) * K_C - i * R - w * kn) * (1.0 / L);
            d[5] = e * (p.k_w / T_W);
            (q[k], speed[k]) = (q_k, v_k);
            torque[k] = tau + rest[k];
            rest[at(AT.tau_gear) + k] = tau;
        }

        let arm = Chain::new(&LINKS, &q, rest[at(AT.payload)], &HELD);
        let bias = arm.bias(&speed, G);
        for k in 0..AXES {
            torque[k] -= bias[k];
        }
        cholesky_solve(arm.mass_matrix(), &mut torque);
        for k in 0..AXES {
            der[k * PER_AXIS + 1] = torque[k];
        }
    }

    /// modelDescription.xml: 36 states of six equal axes.
    pub fn description() -> String {
        Machine {
            identifier: "arm",
            guid: "{arm:5d0c2b7e-3f64-4a19-b1c8-6e92d7a40f35}",
            description: "PUMA 560 as a rigid multibody system on elastic geared drives, 36 states",
            states: &NAMES,
            drive,
            torque: 10.0,
            start: [0.0, 0.8, -3.1, 0.0, 0.8, 0.0],
            target: [0.6, 1.2, -2.5, 1.0, 1.4, 1.2],
            payload: ("Mass in the grip", 2.0),
            k_v: 20.0,
            units: &[],
        }
        .xml()
    }
}

/// What the derivatives of current and controller depend on; both know the set point, a function of time.
fn drive(state: usize) -> (Own, bool) {
    match state {
        4 => (&[(2, "tunable"), (3, "constant"), (4, "constant"), (5, "constant")], true),
        _ => (&[(2, "tunable"), (3, "constant")], true),
    }
}

impl Model for Arm {
    fn states(&self) -> usize {
        STATES
    }

    fn initialize(&self, v: &mut Values) -> Result<(), &'static str> {
        let payload = v.real[AT.payload];
        let weight = |q: &[f64; AXES]| Chain::new(&LINKS, q, payload, &HELD).bias(&[0.0; AXES], G);
        let Equilibrium { q, phi, hold } = AT.equilibrium(v, DRIVES.each_ref().map(|p| p.c), weight)?;
        for (k, p) in DRIVES.iter().enumerate() {
            let (i, at) = (hold[k] / (p.k * p.n), 1 + k * PER_AXIS);
            // The current controller has no integrator: the speed controller's asks for more.
            let x_w = hold[k] * (1.0 + R / K_C);
            let own = [q[k], 0.0, phi[k], 0.0, i, x_w];
            v.real[at..at + PER_AXIS].copy_from_slice(&own);
        }
        Ok(())
    }

    differentiable!();
}
