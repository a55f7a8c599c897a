//! Methods of higher order, through the exported library: the order that they promise, with an exact, an old
//! and a masked Jacobian.
//!
//! Each case is built once, for its longest step; shorter steps of the importer are steps of that length.

use crate::driver::{Fmu, OK};
use crate::util::{build, order, runge_kutta};

/// Name and promised order of the methods that keep it with every A.
const METHODS: [(&str, f64); 4] = [("lie2", 2.0), ("ros2", 2.0), ("ros2l", 2.0), ("ros34pw2", 3.0)];
/// A exact, from the start of the run, and with whole rows missing.
const MATRICES: [&str; 3] = [
    "--mode implicit --jacobian every",
    "--mode implicit --jacobian frozen",
    "--mode mixed --jacobian frozen",
];

/// A model, the rows that its mask keeps, its steps, and what to do with the instance in one run.
struct Case {
    model: &'static str,
    rows: &'static str,
    h: [f64; 3],
    /// Runs with this step and gives the error.
    run: fn(&mut Fmu, f64) -> f64,
}

fn check(case: &Case) {
    for (method, promised) in METHODS {
        for matrix in MATRICES {
            let rows = if matrix.contains("mixed") { case.rows } else { "" };
            let h = case.h[0];
            let options = format!(
                "--step {h} --stop {} --method {method} {matrix} {rows} --explore none --force",
                50.0 * h
            );
            let exported = build(case.model, &options);
            let error = |h: f64| (case.run)(&mut exported.start(0.0, &[]), h);
            let errors = case.h.map(error);
            let found = order(&case.h, &errors);
            let within = if promised > 2.0 { 0.15 } else { 0.1 };
            assert!(
                (found - promised).abs() <= within,
                "{} {options}: order {found:.3}, errors {errors:?}",
                case.model
            );
        }
    }
}

/// x' = v, v' = -1000 x - 1001 v: eigenvalues -1 and -1000, resolved by the step.
#[test]
fn on_a_linear_model() {
    check(&Case {
        model: "stiff-pair",
        rows: "--fast y --slow x",
        h: [2e-5, 1e-5, 5e-6],
        run: |fmu, h| {
            let span = 0.004;
            fmu.steps(0.0, h, (span / h).round() as usize);
            let f = |_: f64, &[x, y]: &[f64; 2]| [y, -1000.0 * x - 1001.0 * y];
            let exact = runge_kutta(f, [1.0, 0.0], 0.0, span, 4000);
            let found = fmu.reals(&["x", "y"]);
            f64::hypot(found[0] - exact[0], found[1] - exact[1])
        },
    });
}

/// The spring pendulum over 1 s.
#[test]
fn on_a_nonlinear_model() {
    check(&Case {
        model: "spring-pendulum",
        rows: "--fast x,y --slow theta,phi",
        h: [4e-3, 2e-3, 1e-3],
        run: |fmu, h| {
            let f = |_: f64, &[x, y, theta, phi]: &[f64; 4]| {
                let (l, g) = (1.0 + x, 9.81);
                [
                    y,
                    l * phi * phi - 35.0 / 3.0 * x + g * theta.cos(),
                    phi,
                    -g / l * theta.sin() - 2.0 * y / l * phi,
                ]
            };
            let exact = runge_kutta(f, [1.5, 0.0, std::f64::consts::FRAC_PI_4, 0.0], 0.0, 1.0, 4000);
            fmu.steps(0.0, h, (1.0 / h).round() as usize);
            let found = fmu.reals(&["x", "y", "theta", "phi"]);
            found.iter().zip(&exact).map(|(x, e)| (x - e).powi(2)).sum::<f64>().sqrt()
        },
    });
}

/// Coefficients that grow with exp(8 t): a Jacobian from the start is soon many times too small. The solution
/// is that of `accuracy::first_order_on_a_time_dependent_model`.
#[test]
fn on_a_time_dependent_model() {
    check(&Case {
        model: "time-varying",
        rows: "--fast x1 --slow x2",
        h: [2e-3, 1e-3, 5e-4],
        run: |fmu, h| {
            let (l1, l2) = ((-11.0 + 97f64.sqrt()) / 2.0, (-11.0 - 97f64.sqrt()) / 2.0);
            let (p, q) = (-(2.0 * l1 + 1.0), -(2.0 * l2 + 1.0));
            let a = (23.0 - 11.0 * q) / (p - q);
            let b = 11.0 - a;
            let t = 0.2;
            fmu.steps(0.0, h, (t / h).round() as usize);
            let exact = (8.0 * t).exp() * (p * a * (l1 * t).exp() + q * b * (l2 * t).exp());
            (fmu.real("x1") / exact - 1.0).abs()
        },
    });
}

/// The RC circuit behind a ramp, given with `fmi2SetRealInputDerivatives`: linear in each step, so that the
/// input adds no error of its own. (An input that is held is an error of first order, whatever the method.)
#[test]
fn on_a_model_that_is_driven() {
    check(&Case {
        model: "rc-circuit",
        rows: "--fast V_B --slow V_C",
        h: [2e-6, 1e-6, 5e-7],
        run: |fmu, h| {
            let (slope, span) = (1e4, 2e-4);
            assert_eq!(fmu.set_real("E", 0.0), OK);
            let start = fmu.reals(&["V_B", "V_C"]);
            for k in 0..(span / h).round() as usize {
                let t = k as f64 * h;
                assert_eq!(fmu.set_real("E", slope * t), OK);
                assert_eq!(fmu.set_input_derivative("E", 1, slope), OK);
                fmu.step(t, h);
            }
            let f = |t: f64, &[b, c]: &[f64; 2]| {
                let (i1, i2, i3) = ((slope * t - b) / 10.0, (b - c) / 1e3, c / 1e3);
                [(i1 - i2) / 1e-5, (i2 - i3) / 1e-3]
            };
            let exact = runge_kutta(f, [start[0], start[1]], 0.0, span, 4000);
            (fmu.real("V_B") - exact[0]).abs()
        },
    });
}
