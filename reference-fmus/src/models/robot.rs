//! A six-axis robot with its drives: 78 states, 13 per axis; only the joint accelerations couple
//! the axes.
//!
//! Per axis, in arm-side units (angle of the motor φ, gear ratio n):
//!
//! ```text
//! q' = v            M(q) v' = τ + τ_ext - b v - h(q, v),   τ = c (φ - q) + d (w - v)      arm
//! φ' = w            J w' = k n i - τ - F tanh(w/w₀)                          rotor, bearing friction
//! L i' = u - R i - k n w                                                     armature
//! u' = (K_c (i_r - i_f) + x_i - u)/T_u,   x_i' = K_c/T_c (i_r - i_f)         inverter, current PI
//! i_f' = (i - i_f)/T_f                                                       current sensor
//! i_r' = ((K_w e + x_w)/(k n) - i_r)/T_r,   x_w' = K_w/T_w e                 speed PI and its filter
//! e = K_v (r - φ) + r_d - w_f,   w_f' = (w - w_f)/T_t                        position P, tacho
//! r' = r_d,   r_d' = ω² (s(t) - r) - 2 ω r_d                                 command filter
//! ```
//!
//! s(t) goes from `start` to `target` in `duration` along 10 z³ - 15 z⁴ + 6 z⁵. The arm has point
//! masses at elbow, wrist and tool and constant inertias D about the joints, so that exactly
//!
//! ```text
//! M(q) = diag(D) + Σ m J(q)ᵀ J(q),   h = Σ m J(q)ᵀ (J̇ v + g e_z),   J = ∂(position of the mass)/∂q.
//! ```
//!
//! M is symmetric positive definite for every q: xᵀ M x = Σ D x² + Σ m |J x|² ≥ min(D) |x|² > 0.
//! So a Cholesky factor exists. q\[1\] turns everything about the vertical and enters neither M nor
//! h.
//!
//! Schiela, *Sparsing in Real Time Simulation* (2002), 2.2.4 and chapter 6: Manutec r3, 78 states, one second
//! at 1 ms, where explicit Euler fails. Gear ratios and rotor inertias are those of the r3 model in the
//! Modelica Standard Library, the rest is of its size. The row of v' has 24 entries that vary (q, v, φ, w of
//! every axis), every other row is per axis: 24 columns' worth of colours at most. Known answer: the start is
//! an equilibrium; at rest φ = target, and q hangs below it by the gears' deflection h(q)/c. Eigenvalues
//! along the movement: -13,352 … -3.9 per second, real parts all negative; the gears' modes reach 1029 rad/s.

use crate::dual::Num;
use crate::linear::{Matrix, Vector, add, cholesky_solve, cross};
use crate::model::{Model, Values, differentiable};
use crate::motion::progress;
use crate::six_axes::{AXES, Equilibrium, Layout, Machine, Own, State};

pub struct Robot;

const PER_AXIS: usize = 13;
const STATES: usize = AXES * PER_AXIS;
const AT: Layout = Layout::new(STATES);

/// The states of an axis, in order.
const NAMES: [State; PER_AXIS] = [
    ("q", "Joint angle", "rad", "rad/s", 1.0),
    ("v", "Joint speed", "rad/s", "rad/s2", 1.0),
    ("phi", "Motor angle, arm side", "rad", "rad/s", 1.0),
    ("w", "Motor speed, arm side", "rad/s", "rad/s2", 1.0),
    ("i", "Motor current", "A", "A/s", 1.0),
    ("u", "Inverter voltage", "V", "V/s", 10.0),
    ("x_i", "Integral part of the current controller", "V", "V/s", 10.0),
    ("i_f", "Measured current", "A", "A/s", 1.0),
    ("i_r", "Current reference", "A", "A/s", 1.0),
    ("x_w", "Integral part of the speed controller, a torque", "N.m", "N.m/s", 100.0),
    ("w_f", "Measured speed", "rad/s", "rad/s2", 1.0),
    ("r", "Filtered angle command", "rad", "rad/s", 1.0),
    ("r_d", "Filtered speed command", "rad/s", "rad/s2", 1.0),
];

struct Axis {
    /// Gear ratio; rotor inertia on the motor side, kg m².
    n: f64,
    rotor: f64,
    /// Inertia about the joint besides the point masses, kg m².
    inertia: f64,
    /// Gear, arm side: N m/rad, N m s/rad.
    c: f64,
    d: f64,
    /// Bearing friction, N m, arm side.
    friction: f64,
    /// Speed controller gain, N m s/rad.
    k_w: f64,
}

const fn axis(n: f64, rotor: f64, inertia: f64, c: f64, d: f64, friction: f64, k_w: f64) -> Axis {
    Axis { n, rotor, inertia, c, d, friction, k_w }
}

const AXIS: [Axis; AXES] = [
    axis(105.0, 1.3e-3, 1.2, 4.0e5, 2.0e3, 20.0, 1500.0),
    axis(210.0, 1.3e-3, 3.0, 1.2e6, 6.0e3, 30.0, 3500.0),
    axis(60.0, 1.3e-3, 1.5, 2.0e5, 1.0e3, 15.0, 500.0),
    axis(99.0, 1.6e-4, 0.4, 5.0e4, 1.0e2, 5.0, 100.0),
    axis(79.2, 1.8e-4, 0.3, 5.0e4, 1.0e2, 4.0, 80.0),
    axis(99.0, 4.3e-5, 0.1, 1.5e4, 2.0e1, 2.0, 25.0),
];

/// Speed at which the bearing friction is nearly full, rad/s; viscous joint friction, N m s/rad.
const W_FRICTION: f64 = 0.05;
const B: f64 = 5.0;
/// Motor: torque constant N m/A, Ω, H.
const K: f64 = 0.3;
const R: f64 = 0.8;
const L: f64 = 2e-3;
/// Controllers and filters: current PI (V/A, s), inverter, current sensor, current reference,
/// speed PI, tacho (s), command filter (rad/s).
const K_C: f64 = 3.0;
const T_C: f64 = 2.5e-3;
const T_U: f64 = 1e-4;
const T_F: f64 = 1e-4;
const T_R: f64 = 2e-4;
const T_W: f64 = 0.1;
const T_T: f64 = 5e-4;
const OMEGA: f64 = 100.0;
/// Masses at elbow and wrist, kg; upper arm, forearm, tool's offsets across and along the last
/// axis, m; gravity, m/s².
const M_ELBOW: f64 = 40.0;
const M_WRIST: f64 = 20.0;
const UPPER: f64 = 0.5;
const FORE: f64 = 0.73;
const ACROSS: f64 = 0.06;
const ALONG: f64 = 0.2;
const G: f64 = 9.81;

impl Robot {
    fn equations<T: Num>(&self, v: &mut [T]) {
        if v.len() != AT.reals {
            return;
        }
        let (known, rest) = v.split_at_mut(AT.der);
        let (der, rest) = rest.split_at_mut(STATES);
        let (x, at) = (&known[1..], |reference: usize| reference - AT.tau_ext);
        let (stiffness, k_v) = (rest[at(AT.stiffness)], rest[at(AT.k_v)]);
        let z = progress(known[0] / rest[at(AT.duration)]);

        let zero = T::from(0.0);
        let (mut q, mut speed, mut torque) = ([zero; AXES], [zero; AXES], [zero; AXES]);
        for (k, p) in AXIS.iter().enumerate() {
            let own = &x[k * PER_AXIS..(k + 1) * PER_AXIS];
            let d = &mut der[k * PER_AXIS..(k + 1) * PER_AXIS];
            let &[q_k, v_k, phi, w, i, u, x_i, i_f, i_r, x_w, w_f, r, r_d] = own else { return };
            let tau = stiffness * (phi - q_k) * p.c + (w - v_k) * p.d;
            let kn = K * p.n;
            let bearing = (w * (1.0 / W_FRICTION)).tanh() * p.friction;
            let e = k_v * (r - phi) + r_d - w_f;
            let start = rest[at(AT.start) + k];
            let s = start + (rest[at(AT.target) + k] - start) * z;
            d[0] = v_k;
            d[2] = w;
            d[3] = (i * kn - tau - bearing) * (1.0 / (p.rotor * p.n * p.n));
            d[4] = (u - i * R - w * kn) * (1.0 / L);
            d[5] = ((i_r - i_f) * K_C + x_i - u) * (1.0 / T_U);
            d[6] = (i_r - i_f) * (K_C / T_C);
            d[7] = (i - i_f) * (1.0 / T_F);
            d[8] = ((e * p.k_w + x_w) * (1.0 / kn) - i_r) * (1.0 / T_R);
            d[9] = e * (p.k_w / T_W);
            d[10] = (w - w_f) * (1.0 / T_T);
            d[11] = r_d;
            d[12] = (s - r) * (OMEGA * OMEGA) - r_d * (2.0 * OMEGA);
            (q[k], speed[k]) = (q_k, v_k);
            torque[k] = tau + rest[k] - v_k * B;
            rest[at(AT.tau_gear) + k] = tau;
        }

        let (mass, bias) = arm(&q, &speed, rest[at(AT.payload)]);
        for k in 0..AXES {
            torque[k] -= bias[k];
        }
        cholesky_solve(mass, &mut torque);
        for k in 0..AXES {
            der[k * PER_AXIS + 1] = torque[k];
        }
    }

    /// modelDescription.xml: 78 states of six equal axes.
    pub fn description() -> String {
        Machine {
            identifier: "robot",
            guid: "{robot:9a0d1c52-7a0e-4f0b-8f43-0c7a0f6f7d61}",
            description: "Six-axis robot with elastic gears and cascade control, 78 states",
            states: &NAMES,
            drive,
            torque: 100.0,
            start: [0.0, 0.2, 1.0, 0.0, 0.5, 0.0],
            target: [1.0, 0.8, 0.3, 0.9, 1.2, 1.5],
            payload: ("Mass at the tool", 10.0),
            k_v: 15.0,
            units: &[
                ("V", "kg=\"1\" m=\"2\" s=\"-3\" A=\"-1\""),
                ("V/s", "kg=\"1\" m=\"2\" s=\"-4\" A=\"-1\""),
            ],
        }
        .xml()
    }
}

/// What the derivatives of motor current, controllers and filters depend on; only the command filter knows
/// the set point, a function of time.
fn drive(state: usize) -> (Own, bool) {
    let own: Own = match state {
        4 => &[(3, "constant"), (4, "constant"), (5, "constant")],
        5 => &[(5, "constant"), (6, "constant"), (7, "constant"), (8, "constant")],
        6 => &[(7, "constant"), (8, "constant")],
        7 => &[(4, "constant"), (7, "constant")],
        8 => &[
            (2, "tunable"),
            (8, "constant"),
            (9, "constant"),
            (10, "constant"),
            (11, "tunable"),
            (12, "constant"),
        ],
        9 => &[(2, "tunable"), (10, "constant"), (11, "tunable"), (12, "constant")],
        10 => &[(3, "constant"), (10, "constant")],
        11 => &[(12, "constant")],
        _ => &[(11, "constant"), (12, "constant")],
    };
    (own, state == 12)
}

impl Model for Robot {
    fn states(&self) -> usize {
        STATES
    }

    fn initialize(&self, v: &mut Values) -> Result<(), &'static str> {
        let payload = v.real[AT.payload];
        let weight = |q: &[f64; AXES]| arm(q, &[0.0; AXES], payload).1;
        let Equilibrium { q, phi, hold } = AT.equilibrium(v, AXIS.each_ref().map(|p| p.c), weight)?;
        for (k, p) in AXIS.iter().enumerate() {
            let (i, at) = (hold[k] / (K * p.n), 1 + k * PER_AXIS);
            let (u, x_w, r) = (R * i, hold[k], phi[k]);
            let own = [q[k], 0.0, phi[k], 0.0, i, u, u, i, i, x_w, 0.0, r, 0.0];
            v.real[at..at + PER_AXIS].copy_from_slice(&own);
        }
        Ok(())
    }

    differentiable!();
}

fn combine<T: Num>(a: T, x: Vector<T>, b: T, y: Vector<T>) -> Vector<T> {
    [a * x[0] + b * y[0], a * x[1] + b * y[1], a * x[2] + b * y[2]]
}

/// Lower triangle of M(q), and h(q, v).
///
/// Everything in a frame that turns with axis 1 but whose rates are those of the ground: neither
/// depends on q[1]. Axes 2, 3 and 5 tilt about y, axes 1, 4 and 6 turn about z; axes 4 to 6 meet
/// in the wrist.
fn arm<T: Num>(q: &[T; AXES], v: &[T; AXES], payload: T) -> (Matrix<T, AXES>, [T; AXES]) {
    let (zero, one) = (T::from(0.0), T::from(1.0));
    let (s2, c2) = q[1].sin_cos();
    let (s3, c3) = (q[1] + q[2]).sin_cos();
    let (s4, c4) = q[3].sin_cos();
    let (s5, c5) = q[4].sin_cos();
    let (s6, c6) = q[5].sin_cos();

    let y = [zero, one, zero];
    let (x3, z3) = ([c3, zero, -s3], [s3, zero, c3]);
    let (x4, y4) = (combine(c4, x3, s4, y), combine(-s4, x3, c4, y));
    let (x5, z5) = (combine(c5, x4, -s5, z3), combine(s5, x4, c5, z3));
    let x6 = combine(c6, x5, s6, y4);
    let axes = [[zero, zero, one], y, y, z3, y4, z5];

    let upper = [s2 * UPPER, zero, c2 * UPPER];
    let fore = [s3 * FORE, zero, c3 * FORE];
    let tool = combine(T::from(ACROSS), x6, T::from(ALONG), z5);

    // Angular velocity and acceleration of the links at v' = 0.
    let (mut omega, mut alpha) = ([zero; 3], [zero; 3]);
    let mut rates = [([zero; 3], [zero; 3]); AXES];
    for k in 0..AXES {
        let own = axes[k].map(|component| component * v[k]);
        alpha = add(alpha, cross(omega, own));
        omega = add(omega, own);
        rates[k] = (omega, alpha);
    }
    let carried = |(omega, alpha): (Vector<T>, Vector<T>), arm: Vector<T>| {
        add(cross(alpha, arm), cross(omega, cross(omega, arm)))
    };
    let elbow_bias = carried(rates[1], upper);
    let wrist_bias = add(elbow_bias, carried(rates[2], fore));
    let tool_bias = add(wrist_bias, carried(rates[5], tool));

    let mut mass = [[zero; AXES]; AXES];
    let mut bias = [zero; AXES];
    for (k, p) in AXIS.iter().enumerate() {
        mass[k][k] = T::from(p.inertia);
    }
    let mut point = |m: T, columns: &[Vector<T>], [ax, ay, az]: Vector<T>| {
        for (i, a) in columns.iter().enumerate() {
            for (j, b) in columns[..=i].iter().enumerate() {
                mass[i][j] += m * (a[0] * b[0] + a[1] * b[1] + a[2] * b[2]);
            }
            bias[i] += m * (a[0] * ax + a[1] * ay + a[2] * (az + G));
        }
    };
    let wrist = add(upper, fore);
    let end = add(wrist, tool);
    let beyond = add(fore, tool);
    point(T::from(M_ELBOW), &[cross(axes[0], upper), cross(y, upper)], elbow_bias);
    let columns = [cross(axes[0], wrist), cross(y, wrist), cross(y, fore)];
    point(T::from(M_WRIST), &columns, wrist_bias);
    let columns = [
        cross(axes[0], end),
        cross(y, end),
        cross(y, beyond),
        cross(z3, tool),
        cross(y4, tool),
        cross(z5, tool),
    ];
    point(payload, &columns, tool_bias);
    (mass, bias)
}
