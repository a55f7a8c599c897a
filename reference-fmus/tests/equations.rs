//! The models against values worked out by hand, and against the answers that their headers
//! promise.
#![allow(clippy::unwrap_used)]

mod common;
use common::{Rig, all_close, close};
use reference_fmus::model::Values;
use std::f64::consts::PI;

#[test]
fn dahlquist() {
    let mut rig = Rig::running("dahlquist", &[("k", 2.0), ("x0", 3.0)]);
    assert_eq!(rig.x(), [3.0]);
    assert_eq!(rig.f(0.0, &[5.0]), [-10.0]);
}

/// On the exact solution x = g the derivative is g', whatever L.
#[test]
fn prothero_robinson() {
    let mut rig = Rig::running("prothero-robinson", &[("w", 2.0)]);
    close(rig.f(0.3, &[0.6f64.sin()])[0], 2.0 * 0.6f64.cos(), 1e-9);
    close(rig.f(0.3, &[0.6f64.sin() + 1e-3])[0], 2.0 * 0.6f64.cos() - 1e3, 1e-9);
    close(rig.get("error"), 1e-3, 1e-12);
}

/// On p = (1 - k t/2)² the derivative is -k (1 - k t/2); at rest p = sgn(q) q².
#[test]
fn orifice() {
    let mut rig = Rig::running("orifice", &[("k", 100.0)]);
    close(rig.f(0.015, &[0.0625])[0], -25.0, 1e-12);
    let mut rig = Rig::running("orifice", &[("q", -0.3)]);
    close(rig.f(0.0, &[-0.09])[0], 0.0, 1e-12);
    close(rig.get("flow"), -0.3, 1e-12);
}

#[test]
fn van_der_pol() {
    let mut rig = Rig::running("van-der-pol", &[("eps", 1e-3)]);
    all_close(&rig.f(0.0, &[2.0, 0.5]), &[0.5, (-3.0 * 0.5 - 2.0) / 1e-3], 1e-14);
}

/// Impact n at V/g (1 + 2 (e + … + e^(n-1))), here found by flying the exact parabolas.
#[test]
fn bouncing_ball() {
    let mut rig = Rig::running("bouncing-ball", &[]);
    assert_eq!(rig.f(0.0, &[1.0, 0.3]), [0.3, -9.81]);
    let speed = (2.0f64 * 9.81).sqrt();
    for n in 1..=11 {
        let mut z = [f64::NAN];
        rig.it.set_continuous_states(&[-1e-12, -speed * 0.7f64.powi(n - 1)]).unwrap();
        rig.it.get_event_indicators(&mut z).unwrap();
        assert!(z[0] < 0.0);
        rig.event();
        assert_eq!(rig.integer("bounces"), n);
        rig.it.get_event_indicators(&mut z).unwrap();
        assert!(z[0] > 0.0);
        let up = speed * 0.7f64.powi(n);
        close(rig.x()[1], if up < 0.1 { 0.0 } else { up }, 1e-12);
    }
    assert_eq!(rig.f(3.0, &[0.0, 0.0]), [0.0, 0.0]);
}

/// Integrated with small steps, the time between two breakaways is the exact period.
#[test]
fn stick_slip_period() {
    let mut rig = Rig::running("stick-slip", &[]);
    let (h, mut x, mut z, mut loose, mut mode) = (1e-5, rig.x(), [0.0; 2], Vec::new(), 0);
    for k in 0..220_000 {
        let t = f64::from(k) * h;
        x = rig.rk4(t, h, &x);
        rig.f(t + h, &x);
        rig.it.get_event_indicators(&mut z).unwrap();
        if z.iter().any(|&z| z <= 0.0) {
            rig.event();
            x = rig.x();
            let new = rig.integer("mode");
            if mode == 0 && new == -1 {
                loose.push(t + h);
            }
            mode = new;
        }
    }
    let theta = 2.0f64.atan();
    let period = (2.0 * PI - 2.0 * theta) / 10.0 + 0.4;
    close(period, 0.80689, 1e-5);
    close(loose[0], 0.4, 2e-5);
    close(loose[1] - loose[0], period, 1e-4);
    close(loose[2] - loose[1], period, 1e-4);
}

/// Against the exact discrete map of the header, over 100 samples.
#[test]
fn sampled_controller() {
    let mut rig = Rig::running("sampled-controller", &[]);
    let (mut x1, mut x2, mut i, tau, ts) = (0.0, 0.0, 0.0, 1e-3, 1e-2);
    let mut x = rig.x();
    for k in 0..100 {
        let e = 1.0 - x1;
        i += 3.0 * ts * e;
        let u = 2.0 * e + i;
        close(rig.get("u"), u, 1e-6);
        let c = (x2 - u) * tau / (tau - 1.0);
        let (slow, fast) = ((-ts).exp(), (-ts / tau).exp());
        (x1, x2) = (u + (x1 - u - c) * slow + c * fast, u + (x2 - u) * fast);
        for j in 0..100 {
            x = rig.rk4(f64::from(k) * ts + f64::from(j) * 1e-4, 1e-4, &x);
        }
        rig.f(f64::from(k + 1) * ts, &x);
        rig.it.enter_event_mode().unwrap();
        let next = rig.it.new_discrete_states().unwrap().next_time.unwrap();
        close(next, f64::from(k + 2) * ts, 1e-15);
        rig.it.enter_continuous_time_mode().unwrap();
        close(x[0], x1, 1e-6);
    }
    assert_eq!(rig.integer("samples"), 101);
}

/// (35)-(38) of Gustafsson (2021) by hand; and the energy is constant along the flow.
#[test]
fn spring_pendulum() {
    let mut rig = Rig::running("spring-pendulum", &[]);
    let start = rig.x();
    all_close(&start, &[1.5, 0.0, PI / 4.0, 0.0], 1e-15);
    let root = 0.5f64.sqrt();
    all_close(&rig.f(0.0, &start), &[0.0, -17.5 + 9.81 * root, 0.0, -9.81 / 2.5 * root], 1e-14);
    let d = rig.f(0.0, &[1.0, 2.0, PI / 2.0, 3.0]);
    all_close(&d, &[2.0, 18.0 - 35.0 / 3.0, 3.0, -9.81 / 2.0 - 6.0], 1e-14);
    let energy = |x: &[f64]| {
        let l = 1.0 + x[0];
        1.5 * (x[1] * x[1] + l * l * x[3] * x[3]) + 17.5 * x[0] * x[0] - 3.0 * 9.81 * l * x[2].cos()
    };
    let mut x = start.clone();
    (0..2000).for_each(|k| x = rig.rk4(f64::from(k) * 1e-3, 1e-3, &x));
    close(energy(&x), energy(&start), 1e-9);
}

#[test]
fn stiff_pair() {
    let mut rig = Rig::running("stiff-pair", &[]);
    assert_eq!(rig.f(0.0, &[2.0, 3.0]), [3.0, -5003.0]);
    // x = (1000 exp(-t) - exp(-1000 t))/999 satisfies them.
    let (t, slow, fast) = (0.002f64, (-0.002f64).exp(), (-2.0f64).exp());
    let x = [(1000.0 * slow - fast) / 999.0, 1000.0 * (fast - slow) / 999.0];
    all_close(&rig.f(t, &x), &[x[1], 1000.0 * (slow - 1000.0 * fast) / 999.0], 1e-12);
}

#[test]
fn rc_circuit() {
    let mut rig = Rig::running("rc-circuit", &[]);
    rig.set("E", 10.0);
    all_close(&rig.f(0.0, &[5.0, 1.0]), &[(0.5 - 0.004) / 1e-5, (0.004 - 0.001) / 1e-3], 1e-12);
    close(rig.get("I_1"), 0.5, 1e-15);
    let rest = 10.0 / 2010.0;
    all_close(&rig.f(0.0, &[2000.0 * rest, 1000.0 * rest]), &[0.0, 0.0], 1e-10);
}

#[test]
fn dc_drive() {
    let mut rig = Rig::running("dc-drive", &[]);
    rig.set("T_load", 2.0);
    let d = rig.f(0.0, &[1.0, 50.0, 1e-4, 0.5]);
    let torque = 100.0 + 2000.0 * 0.5;
    close(rig.get("T_gear"), torque, 1e-12);
    all_close(&d, &[18500.0, (0.1 - torque / 50.0) / 1e-4, 0.5, torque - 0.25 - 2.0], 1e-12);
    let w = (24.0 - 0.5 * 2.0 / 5.0) / (5.0 + 0.5 * 0.5 / 5.0);
    let torque = 0.5 * w + 2.0;
    all_close(&rig.f(0.0, &[torque / 5.0, 50.0 * w, torque / 1e6, w]), &[0.0; 4], 1e-8);
}

/// One cell's equations (16)-(18) of the pipe paper by hand, with a jump of composition at the inlet.
#[test]
fn pipe() {
    let mut rig = Rig::running("pipe", &[("w1_in", 0.2)]);
    let x = rig.x();
    let d = rig.f(0.0, &x);
    let moles = 0.18 / 0.031999 + 0.07 / 0.04401 + 0.02 / 0.018015 + 0.73 / 0.028014;
    let r = 8.314462618 * moles;
    let c_p = 0.18 * 1079.0 + 0.07 * 1177.0 + 0.02 * 2181.0 + 0.73 * 1147.0;
    let area = PI / 4.0 * 0.05 * 0.05;
    let rate = 0.02604 * r * 700.0 / (1e5 * area * 0.035);
    close(d[0], rate * 0.02, 1e-12);
    close(d[1], 0.0, 1e-12);
    let re: f64 = 0.02604 * 0.05 / (area * 3.3e-5);
    let pr: f64 = c_p * 3.3e-5 / 0.052;
    let alpha = 0.023 * re.powf(0.8) * pr.powf(0.4) * 0.052 / 0.05;
    let heat = alpha * PI * 0.05 * 200.0;
    close(d[15], -heat / area * 700.0 / (1e5 * (c_p / r - 1.0)), 1e-10);
    let outer = PI * 0.0514;
    let loss = outer * (15.0 * 200.0 + 0.6 * 5.670374419e-8 * (500f64.powi(4) - 300f64.powi(4)));
    close(d[20], (heat - loss) / (PI * 0.0507 * 0.0007 * 7700.0 * 460.0), 1e-10);
}

/// The sine mode k is an eigenvector, and a straight profile is at rest.
#[test]
fn heat_rod() {
    for n in [10, 51, 10_000] {
        let mut rig = Rig::running(&format!("heat-rod:{n}"), &[]);
        rig.set("T_left", 0.0);
        rig.set("T_right", 0.0);
        let angle = |i: usize, k: f64| k * PI * (i + 1) as f64 / (n + 1) as f64;
        let x: Vec<_> = (0..n).map(|i| angle(i, 3.0).sin()).collect();
        let dx = 0.05 / (n + 1) as f64;
        let eigenvalue = -4.0 * 1.1e-4 / (dx * dx) * (angle(0, 3.0) / 2.0).sin().powi(2);
        let expected: Vec<_> = x.iter().map(|x| eigenvalue * x).collect();
        all_close(&rig.f(0.0, &x), &expected, 1e-6);
        rig.set("T_left", 400.0);
        rig.set("T_right", 300.0);
        let x: Vec<_> = (0..n).map(|i| 400.0 - 100.0 * angle(i, 1.0) / PI).collect();
        all_close(&rig.f(0.0, &x), &vec![0.0; n], 1e-4);
        close(rig.get("q_left"), 400.0 * 100.0 / 0.05, 1e-6);
        assert_eq!(rig.get("T_mid"), x[n.div_ceil(2) - 1]);
    }
}

#[test]
fn time_varying() {
    let mut rig = Rig::running("time-varying", &[]);
    assert_eq!(rig.f(0.0, &[23.0, 11.0]), [-41.0, -17.0]);
    let (l, m) = ((-11.0 + 97f64.sqrt()) / 2.0, (-11.0 - 97f64.sqrt()) / 2.0);
    let (p, q) = (-1.0 / (2.0 * l + 1.0), -1.0 / (2.0 * m + 1.0));
    let a = (11.0 - 23.0 * q) / (p - q);
    let exact = |t: f64| {
        let (y, z) = (a * (l * t).exp(), (23.0 - a) * (m * t).exp());
        [(8.0 * t).exp() * (y + z), p * y + q * z]
    };
    let mut x = rig.x();
    (0..1000).for_each(|k| x = rig.rk4(f64::from(k) * 1e-3, 1e-3, &x));
    let end = exact(1.0);
    close(x[0] / end[0], 1.0, 1e-8);
    close(x[1] / end[1], 1.0, 1e-8);
}

#[test]
fn all_types() {
    let mut rig = Rig::running("all-types", &[("gain", 3.0)]);
    rig.set("u", 2.0);
    assert_eq!((rig.get("y"), rig.get("gain_squared")), (6.5, 9.0));
    let u = rig.reference("u_integer");
    assert!(rig.it.set_integer(&[u], &[7]).is_err(), "discrete input in Continuous-Time Mode");
    rig.it.enter_event_mode().unwrap();
    rig.it.set_integer(&[u], &[7]).unwrap();
    rig.it.set_string(&[0], vec!["naïve".into()]).unwrap();
    rig.it.set_string(&[2], vec!["très ".into()]).unwrap();
    assert_eq!(rig.integer("y_integer"), 1, "outputs wait for the event iteration");
    rig.iterate();
    assert_eq!(rig.integer("y_integer"), 7);
    assert_eq!(rig.it.get_string(1).unwrap().to_str().unwrap(), "très naïve");
}

#[test]
fn strings_start_beyond_ascii() {
    let mut rig = Rig::running("all-types", &[]);
    assert_eq!(rig.it.get_string(1).unwrap().to_str().unwrap(), "Grüße, 世界 & <you>");
}

/// The robot starts in equilibrium: with the command still, nothing moves.
#[test]
fn robot_starts_at_rest() {
    let mut rig = Rig::running("robot", &[]);
    let x = rig.x();
    for (i, d) in rig.f(0.0, &x).into_iter().enumerate() {
        assert!(d.abs() < 1e-7, "state {i}: {d}");
    }
    assert!(rig.get("tau_gear[2]").abs() > 100.0, "the shoulder carries the arm");
}

/// Power balance of the arm: the kinetic energy v M v/2 changes by exactly the power of all
/// torques, so M and h belong together. M is read off the model: an external torque e_k changes
/// v' by column k of M⁻¹.
#[test]
fn robot_conserves_energy() {
    let kinetic = |rig: &mut Rig, x: &[f64]| -> f64 {
        // Solve M⁻¹ y = v: then v M v = v · y.
        let base = rig.f(0.0, x);
        let mut a = [[0.0; 7]; 6];
        for k in 0..6 {
            rig.set(&format!("tau_ext[{}]", k + 1), 1.0);
            let moved = rig.f(0.0, x);
            rig.set(&format!("tau_ext[{}]", k + 1), 0.0);
            for i in 0..6 {
                a[i][k] = moved[13 * i + 1] - base[13 * i + 1];
                a[i][6] = x[13 * i + 1];
            }
        }
        for p in 0..6 {
            for i in 0..6 {
                let factor = a[i][p] / a[p][p];
                if i != p {
                    let pivot = a[p];
                    a[i].iter_mut().zip(pivot).for_each(|(x, y)| *x -= factor * y);
                }
            }
        }
        (0..6).map(|k| x[13 * k + 1] * a[k][6] / a[k][k]).sum::<f64>() / 2.0
    };
    // Without gravity's work: compare with the same posture at rest, where h is the weight alone.
    let mut rig = Rig::running("robot", &[]);
    let mut x = rig.x();
    let (q, v) = ([0.3, 0.5, 0.8, -0.4, 0.9, 0.7], [1.1, -0.7, 1.3, 0.9, -1.2, 2.0]);
    for k in 0..6 {
        let at = 13 * k;
        // Gear without torque: motor with the arm.
        (x[at], x[at + 1], x[at + 2], x[at + 3]) = (q[k], v[k], q[k], v[k]);
    }
    let acceleration = rig.f(0.0, &x);
    let mut still = x.clone();
    (0..6).for_each(|k| (still[13 * k + 1], still[13 * k + 3]) = (0.0, 0.0));
    // v · h(q, 0) is gravity's power: find h(q, 0) as the external torque that cancels the
    // acceleration, through M⁻¹ h = -v'.
    let drift = rig.f(0.0, &still);
    let e = 1e-5;
    let moved = |s: f64| -> Vec<f64> {
        let mut y = x.clone();
        for k in 0..6 {
            y[13 * k] += s * v[k];
            y[13 * k + 1] += s * acceleration[13 * k + 1];
            (y[13 * k + 2], y[13 * k + 3]) = (y[13 * k], y[13 * k + 1]);
        }
        y
    };
    let change = (kinetic(&mut rig, &moved(e)) - kinetic(&mut rig, &moved(-e))) / (2.0 * e);
    // Power of weight: v M (M⁻¹ (-h₀)) by polarization of the kinetic energy.
    let with = |velocity: &dyn Fn(usize) -> f64| -> Vec<f64> {
        let mut y = x.clone();
        (0..6).for_each(|k| (y[13 * k + 1], y[13 * k + 3]) = (velocity(k), velocity(k)));
        y
    };
    let both = kinetic(&mut rig, &with(&|k| v[k] + drift[13 * k + 1]));
    let first = kinetic(&mut rig, &with(&|k| v[k]));
    let second = kinetic(&mut rig, &with(&|k| drift[13 * k + 1]));
    let friction: f64 = v.iter().map(|v| 5.0 * v * v).sum();
    close(change, both - first - second - friction, 1e-5);
}

/// The energy changes as its derivative says: E(x + s f) - E(x - s f) over 2 s, E along the flow.
fn energy_rate(rig: &mut Rig, x: &[f64], energy: impl Fn(&[f64]) -> f64) -> f64 {
    let f = rig.f(0.0, x);
    let s = 1e-7;
    let moved = |s: f64| -> Vec<f64> { x.iter().zip(&f).map(|(x, f)| x + s * f).collect() };
    (energy(&moved(s)) - energy(&moved(-s))) / (2.0 * s)
}

/// Becker's pendulum keeps its energy, and its multiplier is that of the rigid pendulum where the spring carries it.
#[test]
fn stiff_pendulum_keeps_its_energy() {
    let mut rig = Rig::running("stiff-pendulum", &[]);
    assert_eq!(rig.f(0.0, &[1.0, 0.0, 0.0, 0.0]), [0.0, 0.0, 0.0, -1.0]);
    let energy = |x: &[f64]| {
        let r = x[0].hypot(x[1]);
        (x[2] * x[2] + x[3] * x[3]) / 2.0 + x[1] + (r - 1.0).powi(2) / 1e-6
    };
    let rate = energy_rate(&mut rig, &[0.6, -0.801, 0.3, 0.7], energy);
    assert!(rate.abs() < 1e-3, "{rate}");
    // Hanging still: 2 (r - 1)/eps2 = g.
    let f = rig.f(0.0, &[0.0, -(1.0 + 0.5e-6), 0.0, 0.0]);
    all_close(&f, &[0.0; 4], 1e-9);
    close(rig.get("lambda"), 0.5 / (1.0 + 0.5e-6), 1e-9);
}

#[test]
fn two_mass_balances_its_power() {
    let mut rig = Rig::running("two-mass", &[("T_load", 4.0), ("w_ref", 50.0)]);
    let x = [20.0, 5.0, 12.0, 25.0, 0.004, 24.0];
    let energy = |x: &[f64]| {
        let (w_m, phi, w_l) = (x[3], x[4], x[5]);
        0.01 * w_m * w_m / 2.0
            + 0.1 * w_l * w_l / 2.0
            + 5000.0 * (phi * phi / 2.0 + phi.powi(4) / (4.0 * 1e-4))
    };
    let rate = energy_rate(&mut rig, &x, energy);
    // Motor k_m i w_m; load 4 w_l; friction 3 w_m, 6 w_l, all saturated; damping 1 (w_m - w_l)².
    close(rate, 1.2 * 12.0 * 25.0 - 4.0 * 24.0 - 3.0 * 25.0 - 6.0 * 24.0 - 1.0, 1e-6);
    // The controller's voltage: 2 (50 - 20) + 5 = 65 V, hardly limited.
    close(rig.f(0.0, &x)[2], (300.0 * (65.0f64 / 300.0).tanh() - 0.6 * 12.0 - 1.2 * 25.0) / 4e-3, 1e-12);
}

#[test]
fn drive_line_balances_its_power() {
    let mut rig = Rig::running("drive-line", &[("T_engine", 100.0), ("brake", 0.3), ("slope", 0.1)]);
    let gear = rig.reference("gear");
    assert!(rig.it.set_integer(&[gear], &[3]).is_err(), "gears change in Event Mode");
    rig.it.enter_event_mode().unwrap();
    rig.it.set_integer(&[gear], &[3]).unwrap();
    rig.iterate();
    rig.it.enter_continuous_time_mode().unwrap();
    assert_eq!(rig.get("ratio"), 1.4);
    let x = [151.0, 150.0, 0.01, 107.0, 0.1, 30.4, 9.0];
    let energy = |x: &[f64]| {
        0.1 * x[0] * x[0]
            + 0.01 * x[1] * x[1]
            + 10000.0 * x[2] * x[2]
            + 0.025 * x[3] * x[3]
            + 5000.0 * x[4] * x[4]
            + x[5] * x[5]
            + 600.0 * x[6] * x[6]
    };
    let rate = energy_rate(&mut rig, &x, energy);
    let (clutch, brake) = (400.0 * 0.5f64.tanh(), 0.3 * 2500.0);
    let (slip_p, slip_s) = (150.0 / 1.4 - 107.0, 107.0 / 3.5 - 30.4);
    let magnitude = 82.0f64.sqrt();
    let force = 9000.0 * (15.0 * (0.3 * 30.4 - 9.0) / magnitude).tanh();
    let gained = 100.0 * 151.0;
    let lost = 0.05 * 151.0 * 151.0
        + clutch * 1.0
        + 20.0 * slip_p * slip_p
        + 50.0 * slip_s * slip_s
        + brake * 30.4
        + force * (0.3 * 30.4 - 9.0)
        + 0.4 * 81.0 * magnitude
        + 1200.0 * 9.81 * 0.1 * 9.0;
    close(rate, gained - lost, 1e-5);
}

/// Closed and in the middle nothing moves but by what the closed valve leaks, the same into both chambers; wide open the
/// piston runs where the flows meet its speed.
#[test]
fn servo_valve_at_rest_and_running() {
    let half = 7.05e6; // between the supply's 14 MPa and the tank's 0.1 MPa
    let mut rig = Rig::running("servo-valve", &[]);
    let f = rig.f(0.0, &[0.0, 0.0, half, half, 0.0, 0.0, 0.0, 0.0]);
    assert!(f.iter().all(|f| f.abs() < 1e-6), "{f:?}");
    // The smoothed root differs from √q by (p_0/q)²/4, the open valve from 1 by X_0²/4.
    let speed = 2e-7 * (half - 1e5).sqrt() / 0.001;
    let f = rig.f(0.0, &[1.0, 0.0, half, half, 0.0, speed, 0.0, speed]);
    let stiffness = 1.4e9 / 2.5e-4 * 0.001 * speed;
    assert!(f[2].abs() < 1e-4 * stiffness && f[3].abs() < 1e-4 * stiffness, "{f:?}");
    close(rig.get("Q_A"), 0.001 * speed, 1e-8);
    // Friction, saturated, and nothing else holds the piston.
    close(f[5], -200.0 / 4.0, 1e-6);
}

/// All at one temperature with the heaters off, nothing changes; in the band each cell keeps its heater as it was.
#[test]
fn many_indicators_switch_one_by_one() {
    let mut rig = Rig::running("many-indicators", &[("T_a", 300.0)]);
    let n = reference_fmus::models::many_indicators::CELLS;
    close(rig.get("P_total"), 12.0 * n as f64, 1e-12);
    rig.f(0.0, &vec![322.5; n]);
    rig.event();
    assert_eq!(rig.get("P_total"), 0.0);
    assert_eq!(rig.f(0.0, &vec![300.0; n]), vec![0.0; n]);
    let mut x = vec![320.0; n];
    x[7] = 317.9;
    rig.f(0.0, &x);
    let mut z = vec![0.0; 2 * n];
    rig.it.get_event_indicators(&mut z).unwrap();
    let below: Vec<usize> = (0..2 * n).filter(|&k| z[k] < 0.0).collect();
    assert_eq!(below, [15], "the lower limit of cell 8");
    rig.event();
    assert_eq!(rig.get("P_total"), 12.0);
}

/// Midpoint steps of 10 µs, events at their ends: momentum is that of the torque, 10 + (1 - cos 10πt)/π, and without a normal force at the third clutch the
/// last inertia is not moved. The first clutch comes to rest and is torn loose again.
#[test]
fn clutches_keep_momentum() {
    let mut rig = Rig::running("clutches", &[]);
    let (h, mut x) = (1e-5, rig.x());
    let (mut modes, mut events) = (std::collections::BTreeSet::new(), 0);
    let (mut before, mut after) = (vec![0.0; 27], vec![0.0; 27]);
    rig.it.get_event_indicators(&mut before).unwrap();
    for k in 0..150_000 {
        let t = k as f64 * h;
        let f = rig.f(t + 0.5 * h, &x);
        x.iter_mut().zip(f).for_each(|(x, f)| *x += h * f);
        rig.f(t + h, &x);
        rig.it.get_event_indicators(&mut after).unwrap();
        let crossed = before.iter().zip(&after).any(|(a, b)| (*a > 0.0) != (*b > 0.0));
        if crossed || k + 1 == 40_000 {
            rig.event();
            events += 1;
            rig.it.get_continuous_states(&mut x).unwrap();
            rig.it.get_event_indicators(&mut after).unwrap();
        }
        before.copy_from_slice(&after);
        modes.insert(rig.get("clutch1.mode") as i32);
    }
    assert_eq!(modes.into_iter().collect::<Vec<_>>(), [-1, 0, 1]);
    let momentum: f64 = ["w1", "w2", "w3", "w4"].map(|name| rig.get(name)).iter().sum();
    // An event comes up to a step late, and a clutch that sticks gives up what it moved meanwhile: at most 40 rad/s² of a step.
    let late = events as f64 * 40.0 * h;
    assert!((momentum - 10.0 - 2.0 / std::f64::consts::PI).abs() < late, "{momentum} after {events} events");
    assert!((5..50).contains(&events), "{events}");
    // Rounding, of 150,000 sums of numbers up to 10.
    let last = rig.get("w4");
    assert!(last.abs() < 150_000.0 * 10.0 * f64::EPSILON, "{last}");
    assert!(rig.get("w3") > 1.0);
}

/// At rest p_2 = (q/K)² and p_1 = 2 p_2: 1e5 and 2e5 Pa at 1e-4 m³/s, apart from the smoothing of 1e3 Pa, (δ/p)²/4 of the flow.
#[test]
fn pump_rests_at_the_square_of_its_flow() {
    let mut rig = Rig::running("pump", &[("q", 1e-4)]);
    let f = rig.f(0.0, &[2e5, 1e5]);
    // B/V times that part of the flow.
    assert!(f.iter().all(|f| f.abs() < 1e12 * 1e-4 * 2.5e-5 * 1.01), "{f:?}");
    close(rig.get("q_tank"), 1e-4, 1e-4);
}

/// x' = (p - 3/2) r x, and y' = (sin - y)/T + x.
#[test]
fn runaway_grows_with_its_parameter() {
    let mut rig = Rig::running("runaway", &[("p", 2.0)]);
    all_close(&rig.f(0.25, &[3.0, 0.5]), &[1200.0, 0.5 / 0.02 + 3.0], 1e-13);
}

/// Nothing moves it at rest; and with equal heights the frame does nothing: v' = k (u - x) - q x³ - 2 ζ sqrt(k) v. Asked again it answers the same, whatever it remembers.
#[test]
fn vehicle_rests_and_remembers() {
    let mut rig = Rig::running("vehicle:4:0ns", &[("a", 0.0), ("u", 0.01)]);
    let expected = |x: f64, v: f64, k: f64| k * (0.01 - x) - 1e4 * x * x * x - 1.4 * k.sqrt() * v;
    for _ in 0..2 {
        let f = rig.f(0.3, &[0.02, 0.02, 0.5, -0.5]);
        all_close(&f, &[0.5, -0.5, expected(0.02, 0.5, 1e2), expected(0.02, -0.5, 1e6)], 1e-12);
    }
    rig.set("u", 0.0);
    assert_eq!(rig.f(0.3, &[0.0; 4]), [0.0; 4]);
}

/// Two inertias: while the clutch sticks it passes on 6 N m for each 0.01 rad/s, while it slips 6 N m. The first one slips forwards after the event.
#[test]
fn friction_row_sticks_and_slips() {
    let mut rig = Rig::running("friction-row:4:4", &[("tau", 1.0)]);
    all_close(
        &rig.f(0.0, &[0.0, 0.5, 0.004, 0.0]),
        &[0.004, 0.0, (1.0 - 2.4) / 0.2, (2.4 - 10.0) / 0.2],
        1e-12,
    );
    rig.it.set_continuous_states(&[0.0, 0.0, 1.0, 0.0]).unwrap();
    rig.event();
    all_close(&rig.f(0.0, &[0.0, 0.0, 1.0, 0.0]), &[1.0, 0.0, (1.0 - 6.0) / 0.2, 6.0 / 0.2], 1e-12);
}

/// Value references and names agree between description and equations.
#[test]
fn reals_are_where_the_equations_expect_them() {
    for name in reference_fmus::names().into_iter().chain(reference_fmus::hidden_names()) {
        let reference = reference_fmus::find(name).unwrap();
        let description = reference_fmus::xml::Description::read(&reference.xml());
        let expected = reference.model().reals();
        for variable in description.variables.iter().filter(|v| v.kind == reference_fmus::xml::Type::Real) {
            if let Some(expected) = expected.get(variable.reference) {
                assert_eq!(*expected, variable.name, "{name}");
            } else {
                assert!(expected.is_empty(), "{name}: {} is unknown to the model", variable.name);
            }
        }
    }
}

#[test]
fn misbehaving_models() {
    let mut rig = Rig::running("chatter", &[]);
    assert_eq!(rig.f(0.0, &[0.5]), [-1.0 - 0.1 * 0.5]);
    rig.f(0.6, &[-0.1]);
    rig.event();
    assert_eq!(rig.f(0.6, &[-0.1]), [1.0 + 0.1 * 0.1]);
    assert_eq!(Rig::running("diverging", &[]).f(0.0, &[3.0]), [9.0]);
    assert!(Rig::running("nan", &[]).f(0.0, &[1.0])[0].is_nan());
    let mut values = Values::default();
    let bad = reference_fmus::find("bad-init").unwrap().model().initialize(&mut values);
    assert_eq!(bad, Err("initial equations have no solution"));
}
