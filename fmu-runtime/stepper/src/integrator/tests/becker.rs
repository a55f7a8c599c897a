//! Becker's numerical examples (Efficient time integration and nonlinear model reduction, TU Kaiserslautern, 2012).

use super::model::Equations;
use super::{plan, run, start};
use crate::method::Tableau;
use crate::plan::{Method, Policy};

/// (4.20) with its constraint eliminated, (4.25): q'' = φ'' - (q - φ)/ε², φ = cos 6t; solved by q = φ.
struct ProtheroRobinson {
    eps2: f64,
}

impl Equations for ProtheroRobinson {
    fn start(&self) -> Vec<f64> {
        vec![1.0, 0.0]
    }
    fn derivatives(&self, t: f64, x: &[f64], _: f64, dx: &mut [f64]) {
        let phi = (6.0 * t).cos();
        dx[0] = x[1];
        dx[1] = -36.0 * phi - (x[0] - phi) / self.eps2;
    }
}

/// Errors of q and q' at t = 2.2.
fn errors(method: Method, eps2: f64, steps: usize) -> [f64; 2] {
    let mut integrator = start(plan(2, method, 2.2 / steps as f64, Policy::Every), ProtheroRobinson { eps2 });
    run(&mut integrator, steps);
    let [q, v] = integrator.live.x[..] else { unreachable!() };
    let angle: f64 = 6.0 * 2.2;
    [(q - angle.cos()).abs(), (v + 6.0 * angle.sin()).abs()]
}

/// log2 of the errors' ratio when the step is halved.
fn orders(method: Method, eps2: f64, steps: usize) -> [f64; 2] {
    let (coarse, fine) = (errors(method, eps2, steps), errors(method, eps2, 2 * steps));
    [0, 1].map(|i| (coarse[i] / fine[i]).log2())
}

/// Figures 4.4 and 4.5, ε² = 0.01: h resolves the oscillation 1/ε = 10 rad/s, and every method shows its classical order in both components. (Of his methods RODAS4, RODAS4P and
/// ROS3PL are not shipped.)
#[test]
fn classical_order_where_the_step_resolves_the_spring() {
    for method in Method::ALL {
        let classical = f64::from(method.tableau().order);
        for found in orders(method, 1e-2, 1600) {
            assert!((found - classical).abs() < 0.12, "{method:?}: {found}");
        }
    }
}

/// The same figures with ε² = 1e-6: the order is reduced as the local errors say. Stiffly accurate, (4.33): O(ε²) in the position and O(h) in the velocity. So R02 stands
/// still at a few ε² in position, whatever the step ("the order dropping to O(1)"), and has order 1 in velocity. ROS3P fulfils the Scholz conditions for i < 3:
/// O(ε² h) and O(h²). Euler, whose local error is O(ε² h) and O(h), keeps order 1.
#[test]
fn the_order_is_reduced_in_a_stiff_spring() {
    let within = |found: f64, low: f64, high: f64, what: &str| {
        assert!((low..=high).contains(&found), "{what}: {found} is not in {low} ... {high}");
    };
    for steps in [50, 100, 200] {
        let [position, velocity] = errors(Method::Ro2, 1e-6, steps);
        within(position, 2e-6, 1e-5, "R02, error of the position");
        within(velocity * steps as f64, 40.0, 52.0, "R02, error of the velocity over h");
        let [position, velocity] = orders(Method::Ros3p, 1e-6, steps);
        within(position, 1.0, 1.5, "ROS3P, position");
        within(velocity, 1.9, 2.1, "ROS3P, velocity");
        let [position, velocity] = orders(Method::Lie, 1e-6, steps);
        within(position, 0.75, 1.0, "Euler, position");
        within(velocity, 1.0, 1.06, "Euler, velocity");
    }
    // Position errors beside each other at h = 11 ms: ROS3P before R02.
    assert!(errors(Method::Ros3p, 1e-6, 200)[0] < 0.05 * errors(Method::Ro2, 1e-6, 200)[0]);
}

/// Example 3.1.8 as he solves it, index 1: M y' = f(y) with y = (q, v, λ), g = 1, M = diag(1, 1, 1, 1, 0).
fn pendulum(y: &[f64; 5], eps2: f64) -> [f64; 5] {
    let [q1, q2, v1, v2, lambda] = *y;
    let r = f64::hypot(q1, q2);
    [v1, v2, -2.0 * q1 * lambda, -2.0 * q2 * lambda - 1.0, (r - 1.0) / r - eps2 * lambda]
}

fn pendulum_jacobian(y: &[f64; 5], eps2: f64) -> [[f64; 5]; 5] {
    let [q1, q2, _, _, lambda] = *y;
    let cube = f64::hypot(q1, q2).powi(3);
    [
        [0.0, 0.0, 1.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 1.0, 0.0],
        [-2.0 * lambda, 0.0, 0.0, 0.0, -2.0 * q1],
        [0.0, -2.0 * lambda, 0.0, 0.0, -2.0 * q2],
        [q1 / cube, q2 / cube, 0.0, 0.0, -eps2],
    ]
}

/// Gaussian elimination with pivoting.
#[allow(clippy::needless_range_loop)] // indices as in the formulas
fn solve(mut a: [[f64; 5]; 5], mut b: [f64; 5]) -> [f64; 5] {
    for k in 0..5 {
        let pivot = (k..5).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..5 {
            let factor = a[i][k] / a[k][k];
            for j in k..5 {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..5).rev() {
        let rest: f64 = (k + 1..5).map(|j| a[k][j] * b[j]).sum();
        b[k] = (b[k] - rest) / a[k][k];
    }
    b
}

/// A step of `tableau` on M y' = f(y), in the form without the product J k: (M - γhJ) k = s h f + M Σ g k. Gives the new y and the embedded estimate.
fn step(tableau: &Tableau, y: &[f64; 5], h: f64, eps2: f64) -> ([f64; 5], [f64; 5]) {
    let mass = |i: usize| if i < 4 { 1.0 } else { 0.0 };
    let jacobian = pendulum_jacobian(y, eps2);
    let mut k: Vec<[f64; 5]> = Vec::new();
    let combine = |weights: &[f64], k: &[[f64; 5]], i: usize| -> f64 {
        weights.iter().zip(k).map(|(weight, k)| weight * k[i]).sum()
    };
    for (at, stage) in tableau.stages.iter().enumerate() {
        let point = std::array::from_fn(|i| y[i] + combine(&stage.nodes, &k, i));
        let f = pendulum(&point, eps2);
        let right =
            std::array::from_fn(|i| stage.scale * h * f[i] + mass(i) * combine(&stage.couplings, &k, i));
        let gamma = tableau.gamma(at);
        let unit = |i: usize, j: usize| if i == j { mass(i) } else { 0.0 };
        let left = std::array::from_fn(|i| std::array::from_fn(|j| unit(i, j) - gamma * h * jacobian[i][j]));
        k.push(solve(left, right));
    }
    let sum = |weights: &[f64], i: usize| combine(weights, &k, i);
    (
        std::array::from_fn(|i| y[i] + sum(&tableau.weights, i)),
        std::array::from_fn(|i| sum(&tableau.estimate, i)),
    )
}

/// Example 5.1.4: ROS3P over 10 s, tolerances 1e-4, estimates of velocities scaled by h and of the multiplier by h². He needs 372 steps, 3 of them rejected. His step-size formula is that of RODAS
/// ("based on the choice done in RODAS4"), which has a safety factor of 0.9 and is not bolder than the last estimate alone; both are taken over from there. The exact q1 is that
/// of Runge-Kutta with 4 million steps in extended precision.
#[test]
fn ros3p_on_the_stiff_pendulum_with_his_step_sizes() {
    const SAFETY: f64 = 0.9;
    let (tolerance, eps2, tableau) = (1e-4, 1e-6, Method::Ros3p.tableau());
    let (mut y, mut time, mut h) = ([1.0, 0.0, 0.0, 0.0, 0.0], 0.0, 1e-3);
    let (mut before, mut steps, mut rejected) = (None, 0, 0);
    while time < 10.0 && steps + rejected < 2000 {
        h = f64::min(h, 10.0 - time);
        let (next, estimate) = step(&tableau, &y, h, eps2);
        let scaled = |i: usize| {
            let size = f64::max(y[i].abs(), next[i].abs());
            let scale = [1.0, 1.0, h, h, h * h][i];
            scale * estimate[i] / (tolerance * (1.0 + size))
        };
        let error = (0..5).map(|i| scaled(i).powi(2)).sum::<f64>().sqrt();
        let alone = error.cbrt() / SAFETY;
        let factor = if error > 1.0 {
            rejected += 1;
            alone
        } else {
            let (h_before, error_before): (f64, f64) = before.unwrap_or((h, error));
            (time, y) = (time + h, next);
            before = Some((h, error));
            steps += 1;
            alone.max(h_before / h * (error * error / error_before).cbrt() / SAFETY)
        };
        h /= factor.clamp(0.2, 6.0);
    }
    // 526 and 3 here; what norm and which safety factor he took is not printed.
    assert!((372..=560).contains(&steps) && rejected <= 5, "{steps} steps, {rejected} rejected");
    // Steps of 19 ms on a spring of 1414 rad/s: the smooth motion is followed within 4 % of the swing.
    let exact = -0.811_581_409;
    assert!((y[0] - exact).abs() < 0.04, "q1 = {}", y[0]);
}
