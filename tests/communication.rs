//! Communication steps as importers take them: other lengths, rounded times, impossible ones.

use crate::driver::{ERROR, OK, WARNING};
use crate::util::build;

/// Another communication step than the one it was built for: equal sub-steps not longer than h, one message,
/// and fmi2OK, because importers stop at fmi2Warning. On x' = -x that is x / (1 + H/m)^m with m = ceil(H/h).
#[test]
fn other_communication_steps_are_cut_with_one_warning() {
    let h = 0.1;
    let exported = build("dahlquist", &format!("--method lie --mode implicit --step {h} --twin off"));
    let mut fmu = exported.start(0.0, &[]);
    let mut time = 0.0;
    let mut exact = 1.0;
    for (length, m) in [(0.25, 3), (0.07, 1), (0.13, 2), (0.1, 1)] {
        assert_eq!(fmu.try_step(time, length), OK, "{length}: {:?}", fmu.messages());
        time += length;
        exact /= (1.0 + length / m as f64).powi(m);
        assert!((fmu.real("x") - exact).abs() < 1e-6, "{length}: {} instead of {exact}", fmu.real("x"));
        assert!((fmu.last_successful_time() - time).abs() < 1e-12);
    }
    let warnings: Vec<_> = fmu.messages().into_iter().filter(|(status, _)| *status == WARNING).collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert!(warnings[0].1.contains("0.25") && warnings[0].1.contains("built for 0.1"), "{warnings:?}");
    // A whole number of steps is no other size.
    let mut fmu = exported.start(0.0, &[]);
    fmu.step(0.0, 3.0 * h);
    assert!((fmu.real("x") - 1.1f64.powi(-3)).abs() < 1e-6);
}

/// Importers add up times and steps in floating point; that noise is accepted and does not move the grid.
#[test]
fn rounding_noise_is_accepted() {
    let h = 0.1;
    let exported = build("dahlquist", &format!("--method lie --mode implicit --step {h}"));
    let (mut clean, mut noisy) = (exported.start(0.0, &[]), exported.start(0.0, &[]));
    let mut time = 0.0;
    for k in 0..100 {
        clean.step(k as f64 * h, h);
        let next = (k + 1) as f64 * h + if k % 2 == 0 { 1e-12 } else { -1e-12 };
        noisy.step(time, next - time);
        time = next;
        assert_eq!(clean.real("x").to_bits(), noisy.real("x").to_bits(), "step {k}");
    }
    assert!(noisy.messages().is_empty(), "{:?}", noisy.messages());
}

/// OMSimulator ends each run with a step of 1e-13 s, what is left of its sum: that is no step, and no other
/// size either.
#[test]
fn residues_of_rounding_are_no_steps() {
    let h = 0.1;
    let exported = build("dahlquist", &format!("--mode implicit --step {h}"));
    let mut fmu = exported.start(0.0, &[]);
    let mut time = 0.0;
    for _ in 0..10 {
        fmu.step(time, h);
        time += h;
    }
    let x = fmu.real("x");
    fmu.step(time, 1.0 - time + 1e-13);
    assert_eq!(fmu.real("x").to_bits(), x.to_bits());
    assert!(fmu.messages().is_empty(), "{:?}", fmu.messages());
    // Many of them are a step all the same: x' = -x has moved by as much as the time has.
    let (small, count) = (0.9e-6 * h, 1000);
    for k in 0..count {
        fmu.step(1.0 + 1e-13 + k as f64 * small, small);
    }
    let moved = 1.0 - fmu.real("x") / x;
    assert!((moved - count as f64 * small).abs() < 2e-6 * h, "{moved}");
    assert!((fmu.last_successful_time() - 1.0 - count as f64 * small).abs() < 2e-6 * h);
}

/// A slope is for one communication step, also where that is a residue of rounding and no step is taken.
#[test]
fn a_slope_does_not_outlive_a_residue_step() {
    let exported = build("rc-circuit", "--step 1ms --mode implicit");
    let mut fmu = exported.start(0.0, &[("E", 2.0)]);
    fmu.step(0.0, 1e-3);
    assert_eq!(fmu.set_input_derivative("E", 1, 1000.0), OK);
    fmu.step(1e-3, 1e-13);
    fmu.step(1e-3 + 1e-13, 1e-3);
    assert_eq!(fmu.real("E"), 2.0);
}

/// Hosts that sum their time, or round the step otherwise, are followed; see the runtime's `clock`.
#[test]
fn the_host_s_clock_is_followed() {
    let exported = build("dahlquist", "--mode implicit --step 0.01666667");
    let mut fmu = exported.start(0.0, &[]);
    let host = 1.0 / 60.0;
    for k in 0..60_000 {
        fmu.step(k as f64 * host, host);
    }
    assert!((fmu.last_successful_time() - 1000.0).abs() < 1e-6, "{}", fmu.last_successful_time());
    assert!(fmu.messages().is_empty(), "{:?}", fmu.messages());
    // Late in a run a step is known to a few ulps of the time only: that is no other size.
    let mut fmu = exported.start(1.7e9, &[]);
    let mut time = 1.7e9;
    for _ in 0..1000 {
        let next = time + 0.01666667;
        fmu.step(time, next - time);
        time = next;
    }
    assert!(fmu.messages().is_empty(), "{:?}", fmu.messages());
    assert_eq!(fmu.try_step(time + 1.6, 0.01666667), ERROR);
    fmu.step(time, 0.01666667);
}

/// One step may begin at the stop time, none behind it; and a step of a billion internal ones is a mistake of
/// units.
#[test]
fn steps_beyond_the_end_are_refused() {
    let h = 0.1;
    let exported = build("dahlquist", &format!("--mode implicit --step {h} --twin off"));
    let mut fmu = exported.instantiate();
    assert_eq!([fmu.setup(0.0, Some(1.0)), fmu.enter(), fmu.exit()], [OK; 3]);
    fmu.steps(0.0, h, 11);
    assert_eq!(fmu.try_step(1.1, h), ERROR);
    let messages = fmu.messages();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert!(messages[0].1.contains("after the stop time 1"), "{messages:?}");
    let mut fmu = exported.start(0.0, &[]);
    assert_eq!(fmu.try_step(0.0, 1e9), ERROR);
    assert!(fmu.messages()[0].1.contains("10000000000 internal steps"), "{:?}", fmu.messages());
    fmu.step(0.0, h);
}

/// A communication point that is not where the last step ended, and steps that are none.
#[test]
fn impossible_steps_are_refused() {
    let exported = build("dahlquist", "--method lie --mode implicit --step 0.1 --twin off");
    let mut fmu = exported.start(0.0, &[]);
    fmu.step(0.0, 0.1);
    for (time, step) in [
        (0.0, 0.1),
        (0.15, 0.1),
        (f64::NAN, 0.1),
        (0.1, 0.0),
        (0.1, -0.1),
        (0.1, f64::NAN),
        (0.1, f64::INFINITY),
    ] {
        assert_eq!(fmu.try_step(time, step), ERROR, "{time}, {step}");
    }
    assert_eq!(fmu.messages().len(), 7);
    fmu.step(0.1, 0.1);
    assert!((fmu.real("x") - 1.1f64.powi(-2)).abs() < 1e-7);
}
