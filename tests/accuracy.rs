//! The step is x+ = x + d, (I - h A) d = h f(t+h, x, u(t+h)): first order, exact on what can be computed by hand.

use crate::driver::{ERROR, Exported, OK};
use crate::util::{build, order, runge_kutta, solve};

/// The order promised is 1.0 ± 0.05.
fn assert_first_order(what: &str, h: &[f64], errors: &[f64]) {
    let slope = order(h, errors);
    assert!((slope - 1.0).abs() <= 0.05, "{what}: order {slope:.3}, errors {errors:?} at h = {h:?}");
}

/// Builds for each h, runs to `span`, and hands the instance to `error` at every communication point; the
/// largest error counts.
fn largest_errors(
    model: &str,
    options: &str,
    start: &[(&str, f64)],
    span: f64,
    h: &[f64],
    error: impl Fn(&mut crate::driver::Fmu, f64) -> f64,
) -> Vec<f64> {
    h.iter()
        .map(|&h| {
            let exported = build(model, &format!("--step {h} --stop {span} {options}"));
            let mut fmu = exported.start(0.0, start);
            let steps = (span / h).round() as usize;
            let mut largest: f64 = 0.0;
            for k in 0..steps {
                fmu.step(k as f64 * h, h);
                largest = largest.max(error(&mut fmu, (k + 1) as f64 * h));
            }
            largest
        })
        .collect()
}

/// Linear: x' = -x against exp(-t).
#[test]
fn first_order_on_a_linear_model() {
    let h = [0.02, 0.01, 0.005, 0.0025];
    for mode in ["implicit", "explicit"] {
        let errors =
            largest_errors("dahlquist", &format!("--method lie --mode {mode}"), &[], 2.0, &h, |fmu, t| {
                (fmu.real("x") - (-t).exp()).abs()
            });
        assert_first_order(mode, &h, &errors);
    }
}

/// Nonlinear: the spring pendulum against Runge-Kutta, in each mode: every A gives order 1.
#[test]
fn first_order_on_a_nonlinear_model() {
    let f = |_: f64, &[x, y, theta, phi]: &[f64; 4]| {
        let (l, g) = (1.0 + x, 9.81);
        [y, l * phi * phi - 35.0 / 3.0 * x + g * theta.cos(), phi, -g / l * theta.sin() - 2.0 * y / l * phi]
    };
    let span = 1.0;
    let exact = runge_kutta(f, [1.5, 0.0, std::f64::consts::FRAC_PI_4, 0.0], 0.0, span, 20_000);
    let h = [1e-3, 5e-4, 2.5e-4, 1.25e-4];
    for options in [
        "--method lie --mode implicit --jacobian every",
        "--method lie --mode implicit --jacobian rolling",
        "--method lie --mode explicit --force",
    ] {
        let errors: Vec<f64> = h
            .iter()
            .map(|&h| {
                let exported = build("spring-pendulum", &format!("--step {h} --stop {span} {options}"));
                let mut fmu = exported.start(0.0, &[]);
                fmu.steps(0.0, h, (span / h).round() as usize);
                let x = fmu.reals(&["x", "y", "theta", "phi"]);
                x.iter().zip(&exact).map(|(x, e)| (x - e).powi(2)).sum::<f64>().sqrt()
            })
            .collect();
        assert_first_order(options, &h, &errors);
    }
}

/// Nonlinear and stiff: van der Pol on its slow branch, where the fast eigenvalue is about -3000 and h is
/// many times its time constant.
#[test]
fn first_order_on_a_stiff_nonlinear_model() {
    let eps = 1e-3;
    let f = |_: f64, &[x, v]: &[f64; 2]| [v, ((1.0 - x * x) * v - x) / eps];
    let span = 0.4;
    let exact = runge_kutta(f, [2.0, 0.0], 0.0, span, 100_000)[0];
    let h = [4e-3, 2e-3, 1e-3, 5e-4];
    let errors: Vec<f64> = h
        .iter()
        .map(|&h| {
            let exported = build(
                "van-der-pol",
                &format!(
                    "--set eps={eps} --step {h} --stop {span} --method lie --mode implicit --jacobian every"
                ),
            );
            let mut fmu = exported.start(0.0, &[("eps", eps)]);
            fmu.steps(0.0, h, (span / h).round() as usize);
            (fmu.real("x") - exact).abs()
        })
        .collect();
    assert_first_order("van der Pol", &h, &errors);
}

/// Time-dependent: with x1 = exp(8 t) y the system has constant coefficients, y' = -10.5 y + 1.5 x2 and x2' = -0.5 (y + x2), of
/// eigenvalues λ = (-11 ± √97)/2; on each eigenvector y = -(2 λ + 1) x2.
#[test]
fn first_order_on_a_time_dependent_model() {
    let (l1, l2) = ((-11.0 + 97f64.sqrt()) / 2.0, (-11.0 - 97f64.sqrt()) / 2.0);
    let (p, q) = (-(2.0 * l1 + 1.0), -(2.0 * l2 + 1.0));
    // p a + q b = 23, a + b = 11
    let a = (23.0 - 11.0 * q) / (p - q);
    let b = 11.0 - a;
    let span = 0.5;
    let h = [1e-3, 5e-4, 2.5e-4, 1.25e-4];
    let errors = largest_errors(
        "time-varying",
        "--method lie --mode implicit --jacobian every",
        &[],
        span,
        &h,
        |fmu, t| {
            let exact = (8.0 * t).exp() * (p * a * (l1 * t).exp() + q * b * (l2 * t).exp());
            (fmu.real("x1") / exact - 1.0).abs()
        },
    );
    assert_first_order("time-varying", &h, &errors);
}

/// Prothero and Robinson: x' = L (x - g) + g', g = sin t. By hand, e+ = (e + g(t) - g(t+h) + h g'(t+h)) / (1 - h L), so
/// for L = -1e6 the error is h max|g''| / (2 |L|): first order, with a constant that falls with stiffness.
/// Twice that is the bound; a method that takes the forcing at the wrong end is 1e6 times worse.
#[test]
fn a_stiff_component_follows_its_forcing() {
    let stiffness = 1e6;
    let h = [0.1, 0.05, 0.025, 0.0125];
    let errors =
        largest_errors("prothero-robinson", "--method lie --mode implicit", &[], 2.0, &h, |fmu, t| {
            (fmu.real("x") - t.sin()).abs()
        });
    for (h, error) in h.iter().zip(&errors) {
        assert!(*error <= 2.0 * h / (2.0 * stiffness), "h = {h}: {error:e}");
    }
    assert_first_order("Prothero-Robinson", &h, &errors);
}

/// Input-driven: the RC circuit behind a sine that the importer samples. Holding it from one communication
/// point to the next is an error of first order as well.
#[test]
fn first_order_with_a_sampled_input() {
    let source = |t: f64| 10.0 * (4.0 * t).sin();
    let (r1, r2, r3, c1, c2) = (10.0, 1e3, 1e3, 1e-5, 1e-3);
    let f = |t: f64, &[b, c]: &[f64; 2]| {
        let (i1, i2, i3) = ((source(t) - b) / r1, (b - c) / r2, c / r3);
        [(i1 - i2) / c1, (i2 - i3) / c2]
    };
    let span = 0.5;
    let exact = runge_kutta(f, [0.0, 0.0], 0.0, span, 100_000)[1];
    let h = [4e-3, 2e-3, 1e-3, 5e-4];
    let errors: Vec<f64> = h
        .iter()
        .map(|&h| {
            let exported =
                build("rc-circuit", &format!("--step {h} --stop {span} --method lie --mode implicit"));
            let mut fmu = exported.start(0.0, &[("V_B", 0.0), ("V_C", 0.0), ("E", 0.0)]);
            for k in 0..(span / h).round() as usize {
                let t = k as f64 * h;
                assert_eq!(fmu.set_real("E", source(t)), OK);
                fmu.step(t, h);
            }
            (fmu.real("V_C") - exact).abs()
        })
        .collect();
    assert_first_order("RC circuit", &h, &errors);
}

/// The RC circuit's recurrence by hand: (I - hA) d = h (A x + b u(t+h)).
fn rc_by_hand(h: f64, steps: usize, input: impl Fn(usize) -> f64) -> [f64; 2] {
    let (r1, r2, r3, c1, c2) = (10.0, 1e3, 1e3, 1e-5, 1e-3);
    let a = [[-(1.0 / r1 + 1.0 / r2) / c1, 1.0 / (r2 * c1)], [1.0 / (r2 * c2), -(1.0 / r2 + 1.0 / r3) / c2]];
    let mut x = [0.0, 0.0];
    for k in 0..steps {
        let w: [[f64; 2]; 2] =
            std::array::from_fn(|i| std::array::from_fn(|j| (i == j) as i32 as f64 - h * a[i][j]));
        let r = std::array::from_fn(|i| {
            h * (a[i][0] * x[0] + a[i][1] * x[1] + if i == 0 { input(k) / (r1 * c1) } else { 0.0 })
        });
        let d = solve(w, r);
        x = std::array::from_fn(|i| x[i] + d[i]);
    }
    x
}

/// With `fmi2SetRealInputDerivatives` a ramp enters as a ramp: u(t+h) = u + h u', sub-steps included. Without it
/// the value is held. Both equal the recurrence by hand; the tolerance is that of a differenced Jacobian
/// (1e-8 relative) on numbers near 1.
#[test]
fn an_input_derivative_makes_a_ramp() {
    let (h, slope, steps) = (1e-3, 50.0, 200);
    for substeps in [1, 4] {
        let small = h / substeps as f64;
        let exported = build(
            "rc-circuit",
            &format!("--step {h} --substeps {substeps} --stop 0.2 --method lie --mode implicit"),
        );
        for ramp in [true, false] {
            let mut fmu = exported.start(0.0, &[("V_B", 0.0), ("V_C", 0.0), ("E", 0.0)]);
            for k in 0..steps {
                let t = k as f64 * h;
                assert_eq!(fmu.set_real("E", slope * t), OK);
                if ramp {
                    assert_eq!(fmu.set_input_derivative("E", 1, slope), OK);
                }
                fmu.step(t, h);
            }
            let by_hand = rc_by_hand(small, steps * substeps, |k| {
                if ramp { slope * (k + 1) as f64 * small } else { slope * (k / substeps) as f64 * h }
            });
            for (name, expected) in ["V_B", "V_C"].iter().zip(by_hand) {
                let found = fmu.real(name);
                assert!((found - expected).abs() <= 1e-6, "{name}, ramp {ramp}: {found}, by hand {expected}");
            }
        }
    }
}

/// On x' = -k x one step gives x0 / (1 + hk). The model has no directional derivative, so k comes from a difference whose
/// relative error δ is a few times 1e-8; then x1 = (1 + hkδ) / (1 + hk(1 + δ)), within δ of the exact factor for every hk.
#[test]
fn the_factor_is_one_over_one_plus_hk() {
    for hk in [1e-3, 0.1, 1.0, 10.0, 1e3, 1e6] {
        let h = 0.1;
        let k = hk / h;
        let exported = build(
            "dahlquist",
            &format!("--method lie --mode implicit --step {h} --set k={k} --force --twin off"),
        );
        let mut fmu = exported.start(0.0, &[("k", k)]);
        let mut before = fmu.real("x");
        for step in 0..3 {
            fmu.step(step as f64 * h, h);
            let x = fmu.real("x");
            let bound = 5e-8 * before.abs();
            let exact = before / (1.0 + hk);
            assert!((x - exact).abs() <= bound, "hk = {hk}, step {step}: {x:e}, exact {exact:e}");
            before = x;
        }
    }
}

/// The stiff pair can tell its Jacobian exactly; then each step is the recurrence by hand up to rounding, a few ulps of
/// numbers near 1. Where the builder found differences cheaper, their relative error of a few 1e-8 is the bound.
#[test]
fn a_linear_pair_follows_the_recurrence() {
    let h = 0.01;
    let exported =
        build("stiff-pair", &format!("--method lie --mode implicit --step {h} --stop 1 --twin off"));
    let plan = std::fs::read_to_string(exported.root.join("resources/plan.json")).unwrap();
    let bound = if plan.contains("\"source\":\"directional\"") { 1e-14 } else { 1e-7 };
    let mut fmu = exported.start(0.0, &[]);
    let mut x = [1.0, 0.0];
    for k in 0..100 {
        fmu.step(k as f64 * h, h);
        let w = [[1.0, -h], [h * 1000.0, 1.0 + h * 1001.0]];
        let d = solve(w, [h * x[1], -h * (1001.0 * x[1] + 1000.0 * x[0])]);
        x = [x[0] + d[0], x[1] + d[1]];
        let found = fmu.reals(&["x", "y"]);
        for (found, expected) in found.iter().zip(x) {
            assert!(
                (found - expected).abs() <= bound,
                "step {k}: {found}, by hand {expected}, bound {bound}"
            );
        }
    }
}

/// L-stability: with hk = 1e6 the state is gone after a few steps, and stays so.
#[test]
fn decays_at_once_when_very_stiff() {
    let exported = build("dahlquist", "--method lie --mode implicit --step 0.1 --set k=1e7 --force");
    let mut fmu = exported.start(0.0, &[("k", 1e7)]);
    for k in 0..50 {
        fmu.step(k as f64 * 0.1, 0.1);
        assert!(fmu.real("x").abs() <= 1.1e-6, "step {k}: {:e}", fmu.real("x"));
    }
    assert!(fmu.real("x").abs() < 1e-30, "{:e}", fmu.real("x"));
}

/// Explicit rows cost nothing and are exactly forward Euler: bit for bit x + h (-k x).
#[test]
fn explicit_mode_is_forward_euler() {
    let (h, k) = (0.1, 1.0);
    let exported = build("dahlquist", &format!("--method lie --mode explicit --step {h} --twin off"));
    let mut fmu = exported.start(0.0, &[]);
    let mut x: f64 = 1.0;
    for step in 0..50 {
        fmu.step(step as f64 * h, h);
        x += h * (-k * x);
        assert_eq!(fmu.real("x").to_bits(), x.to_bits(), "step {step}");
    }
}

/// Mixed mode is the semi-implicit Euler method of design section 3: on the spring pendulum at h = 1e-2, with x, y implicit
/// and the angle explicit, the RMS error of x over 20 s is 0.0406; explicit Euler has 0.935, the full A 0.340.
#[test]
fn mixed_mode_has_the_error_of_the_row_mask() {
    let f = |_: f64, &[x, y, theta, phi]: &[f64; 4]| {
        let (l, g) = (1.0 + x, 9.81);
        [y, l * phi * phi - 35.0 / 3.0 * x + g * theta.cos(), phi, -g / l * theta.sin() - 2.0 * y / l * phi]
    };
    let (h, steps) = (1e-2, 2000);
    for (options, published) in [
        ("--method lie --mode mixed --fast x,y --slow theta,phi", 0.0406),
        ("--method lie --mode implicit --jacobian every", 0.340),
        ("--method lie --mode explicit", 0.935),
    ] {
        let exported =
            build("spring-pendulum", &format!("--step {h} --stop 20 --force {options} --twin off"));
        let mut fmu = exported.start(0.0, &[]);
        let mut exact = [1.5, 0.0, std::f64::consts::FRAC_PI_4, 0.0];
        let mut sum = 0.0;
        for k in 0..steps {
            fmu.step(k as f64 * h, h);
            exact = runge_kutta(f, exact, k as f64 * h, h, 20);
            sum += (fmu.real("x") - exact[0]).powi(2);
        }
        let rms = (sum / steps as f64).sqrt();
        assert!((rms / published - 1.0).abs() < 0.02, "{options}: RMS error {rms:.4}, published {published}");
    }
}

/// The start time counts: x' depends on t, and the result is sin(t) wherever it begins.
#[test]
fn starts_at_any_time() {
    let h = 0.01;
    let exported = build("prothero-robinson", &format!("--method lie --mode implicit --step {h}"));
    for start in [-3.7, 2.5, 1000.0] {
        let mut fmu = exported.start(start, &[("x", f64::sin(start))]);
        for k in 0..200 {
            fmu.step(start + k as f64 * h, h);
            let t = start + (k + 1) as f64 * h;
            // h / (2 |L|), and the rounding of sin(t) at t = 1000.
            let error = (fmu.real("x") - t.sin()).abs();
            assert!(error <= h / 1e6 + 1e-12, "start {start}, t = {t}: {error:e}");
        }
        assert_eq!(fmu.last_successful_time(), start + 200.0 * h);
    }
}

/// A step may reach beyond the stop time that the importer announced by one communication step; one that begins there is an error.
#[test]
fn steps_past_the_stop_time() {
    let h = 0.1;
    let exported = build("dahlquist", &format!("--method lie --mode implicit --step {h} --twin off"));
    let mut fmu = exported.instantiate();
    assert_eq!([fmu.setup(0.0, Some(1.0)), fmu.enter(), fmu.exit()], [OK; 3]);
    fmu.steps(0.0, h, 11);
    let exact = 1.1f64.powi(-11);
    assert!((fmu.real("x") / exact - 1.0).abs() < 1e-5, "{:e} instead of {exact:e}", fmu.real("x"));
    assert_eq!(fmu.try_step(1.1, h), ERROR);
    assert!(fmu.messages()[0].1.contains("after the stop time"), "{:?}", fmu.messages());
}

/// Time is counted, not accumulated: after a million steps of 0.1 ms the model's clock is exact.
#[test]
fn time_does_not_drift() {
    let h = 1e-4;
    let exported: Exported = build("all-types", &format!("--step {h}"));
    let mut fmu = exported.start(0.0, &[]);
    fmu.steps(0.0, h, 1_000_000);
    assert_eq!(fmu.real("time"), 1_000_000.0 * h);
}

/// A communication step of m h is m steps of h, bit for bit.
#[test]
fn substeps_equal_steps() {
    let (h, m) = (1e-3, 4);
    let options = format!(
        "--step {} --substeps {m} --stop 2 --method lie --mode implicit --jacobian rolling --twin off",
        h * m as f64
    );
    let exported = build("spring-pendulum", &options);
    let (mut fine, mut coarse) = (exported.start(0.0, &[]), exported.start(0.0, &[]));
    let names = ["x", "y", "theta", "phi"];
    for k in 0..500 {
        let start = (k * m) as f64 * h;
        fine.steps(start, h, m);
        coarse.step(start, h * m as f64);
        assert_eq!(fine.reals(&names), coarse.reals(&names), "communication step {k}");
    }
    assert!(fine.messages().is_empty(), "{:?}", fine.messages());
}

/// A chamber empties through an orifice within a fifth of the first step, p' = -k √p with k = 1e4, and stays empty. An undamped step leads from p to p (1 - a/2) / (1 + a/2),
/// a = h k / √p: from 1 to -0.67, 0.48, -0.36, 0.28, -0.23. Damped steps are counted, and leave a tenth of that.
#[test]
fn an_orifice_does_not_ring() {
    let exported = build("orifice", "--step 1ms --method lie --mode implicit --twin off");
    let mut fmu = exported.start(0.0, &[("k", 1e4)]);
    fmu.steps(0.0, 1e-3, 5);
    let p = fmu.real("p");
    assert!(p.abs() < 0.03, "{p}");
    assert!(fmu.integer("fmuBuild.dampedSteps") > 0);
}
