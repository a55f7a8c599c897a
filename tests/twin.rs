//! The twin: the FMU that tells its own error.

use crate::util::{build, fmu_build, summary};

/// x' = -k x, y = x, from 1, with k = 50 and H = 10 ms: one step of linearly implicit Euler multiplies by
/// 1/(1 + h k). The FMU takes two of H/2, its twin one of H; they differ by what is known exactly, and the
/// estimate is the mean of that over the range.
#[test]
fn the_estimate_is_the_difference_of_two_integrations() {
    const OPTIONS: &str = "--step 10ms --method lie --mode implicit --twin on --set k=50";
    let exported = build("dahlquist", OPTIONS);
    let share = summary("dahlquist", OPTIONS)["error_estimate"]["share"].as_f64().unwrap();
    let mut fmu = exported.start(0.0, &[("k", 50.0)]);
    let (fine, coarse) = ((1.0f64 / 1.25).powi(2), 1.0 / 1.5);
    let (mut x, mut other, mut squares, mut peak) = (1.0f64, 1.0f64, 0.0, 0.0f64);
    for k in 0..300 {
        fmu.step(f64::from(k) * 0.01, 0.01);
        (x, other) = (x * fine, other * coarse);
        squares += (x - other).powi(2);
        peak = peak.max((x - other).abs());
        let value = fmu.real("x");
        assert!((value - x).abs() <= 1e-12 * x.max(1e-3), "{value:e} is not {x:e}");
    }
    let (expected, told) = (share * (squares / 301.0f64).sqrt() / (1.0 - x), fmu.real("fmuBuild.error"));
    assert!((told / expected - 1.0).abs() < 1e-9, "{told:e} is not {expected:e}");
    let told = fmu.real("fmuBuild.errorPeak");
    assert!((told / (share * peak) - 1.0).abs() < 1e-9, "{told:e}");
    assert_eq!(fmu.string("fmuBuild.errorOutput"), "x");
}

/// The FMU's own values do not depend on whether there is a twin: the same steps, the same bits. (But for
/// time events: what lies between them is taken in two where the plan has a twin.)
#[test]
fn the_twin_changes_no_value() {
    for (model, output, step) in [("two-mass", "w_l", 1e-3), ("bouncing-ball", "h", 1e-2)] {
        let options = format!("--step {step} --substeps 2 --explore none");
        let (with, without) =
            (build(model, &format!("{options} --twin on")), build(model, &format!("{options} --twin off")));
        let (mut with, mut without) = (with.start(0.0, &[]), without.start(0.0, &[]));
        for k in 0..200 {
            let time = f64::from(k) * step;
            with.step(time, step);
            without.step(time, step);
            assert_eq!(with.real(output).to_bits(), without.real(output).to_bits(), "{model}, step {k}");
        }
        assert_eq!(without.real("fmuBuild.error"), 0.0);
    }
}

/// Inputs, their slopes, a restored state, a serialised one, a reset: both go on as they did, to the last bit
/// of what is told.
#[test]
fn the_twin_is_saved_restored_serialised_and_reset() {
    const TOLD: [&str; 3] = ["fmuBuild.error", "fmuBuild.errorPeak", "fmuBuild.errorButForLateness"];
    let exported = build("dc-drive", "--step 1ms --twin on");
    let drive = |fmu: &mut crate::driver::Fmu, from: u32, to: u32| -> Vec<u64> {
        let mut said = Vec::new();
        for k in from..to {
            let time = f64::from(k) * 1e-3;
            fmu.set_real("u", if k % 40 < 20 { 24.0 } else { -10.0 });
            if k % 3 == 0 {
                fmu.set_input_derivative("u", 1, 100.0);
            }
            fmu.step(time, 1e-3);
            said.extend(TOLD.iter().chain(&["w_l"]).map(|name| fmu.real(name).to_bits()));
        }
        said
    };
    let mut fmu = exported.start(0.0, &[]);
    drive(&mut fmu, 0, 50);
    let state = fmu.save(std::ptr::null_mut());
    let once = drive(&mut fmu, 50, 150);
    assert!(fmu.real("fmuBuild.error") > 0.0);
    fmu.restore(state);
    assert_eq!(drive(&mut fmu, 50, 150), once, "restored");
    let bytes = fmu.serialize(state);
    assert_eq!(fmu.reset(), 0);
    fmu.initialise(0.0);
    assert_eq!(fmu.real("fmuBuild.error"), 0.0);
    drive(&mut fmu, 0, 50);
    assert_eq!(drive(&mut fmu, 50, 150), once, "reset");
    fmu.free(state);
    let mut other = exported.start(0.0, &[]);
    let state = other.deserialize(&bytes).unwrap();
    other.restore(state);
    assert_eq!(drive(&mut other, 50, 150), once, "serialised");
    other.free(state);
}

/// Communication steps of H/2, 3.7 H and irregular ones: the twin always takes half as many, so that there is
/// something to tell.
#[test]
fn every_communication_step_is_told_of() {
    let exported = build("dc-drive", "--step 1ms --twin on");
    for lengths in [&[0.5][..], &[3.7], &[0.3, 1.0, 2.2, 0.5, 1.7], &[0.01, 1.0]] {
        let mut fmu = exported.start(0.0, &[("u", 24.0)]);
        let mut time = 0.0;
        for k in 0..300 {
            let step = 1e-3 * lengths[k % lengths.len()];
            fmu.set_real("u", if k % 40 < 20 { 24.0 } else { -10.0 });
            fmu.step(time, step);
            time += step;
        }
        let (told, peak) = (fmu.real("fmuBuild.error"), fmu.real("fmuBuild.errorPeak"));
        assert!(told > 1e-9 && told < 0.05 && peak >= told, "{lengths:?}: {told:e}, {peak:e}");
    }
}

/// No request for memory in a step, the twin's and the comparison included; and never more evaluations than
/// the bound says.
#[test]
fn a_step_with_a_twin_allocates_nothing_and_keeps_its_bound() {
    for model in ["two-mass", "sampled-controller", "many-indicators"] {
        let exported = build(model, "--step 1ms --twin on");
        let mut fmu = exported.start(0.0, &[]);
        fmu.step(0.0, 1e-3);
        assert_eq!(fmu.integer("fmuBuild.allocations"), 0);
        for k in 1..500 {
            fmu.step(f64::from(k) * 1e-3, 1e-3);
        }
        assert_eq!(fmu.integer("fmuBuild.allocations"), 0, "{model}");
        let said = summary(model, "--step 1ms --twin on");
        assert_eq!(said["error_estimate"]["source"], "twin", "{model}");
        let number = |of: &serde_json::Value| of.as_f64().unwrap();
        let (worst, bound) = (
            number(&said["evaluations_worst_communication_step"]),
            number(&said["worst_step"]["evaluations"]),
        );
        assert!(worst <= bound, "{model}: {worst} evaluations, the bound is {bound}");
        let (all, twin) = (
            number(&said["evaluations_per_communication_step"]),
            number(&said["error_estimate"]["evaluations"]),
        );
        assert!(
            twin > 0.25 * all && twin < 0.45 * all,
            "{model}: {twin} of {all} evaluations are the twin's"
        );
    }
}

/// The orifice that the importer tripled: the drive with other parameters than it was built with is far off,
/// and says so.
#[test]
fn what_is_beyond_the_tolerance_is_told_once_and_counted() {
    let exported =
        build("dahlquist", "--step 10ms --method lie --mode implicit --twin on --set k=1 --explore none");
    let mut fmu = exported.start(0.0, &[("k", 1.0)]);
    fmu.steps(0.0, 0.01, 300);
    assert_eq!((fmu.integer("fmuBuild.stepsOutsidePlan"), fmu.messages().len()), (0, 0));
    // Five time constants in a step, for ever anew: no step of this plan follows.
    let mut fmu = exported.start(0.0, &[("k", 60.0)]);
    fmu.steps(0.0, 0.01, 30);
    assert!(fmu.integer("fmuBuild.stepsOutsidePlan") > 0);
    let messages = fmu.messages();
    let told: Vec<_> = messages.iter().filter(|(_, text)| text.contains("is estimated at")).collect();
    assert!(told.len() == 1 && told[0].1.contains("error of x"), "{messages:?}");
}

/// One instance per process: no twin, a warning that says so, and the FMU is built all the same. Nor where it
/// was not wanted, nor where an odd number of internal steps was asked for.
#[test]
fn without_a_second_instance_there_is_no_twin() {
    let said = summary("stick-slip", "--twin on");
    assert_eq!(said["error_estimate"]["source"], "carried");
    let warnings = said["warnings"].to_string();
    assert!(
        warnings.contains("there is no twin") && warnings.contains("only once in a process"),
        "{warnings}"
    );
    let said = summary("dc-drive", "--step 1ms --substeps 3");
    assert_eq!((&said["error_estimate"]["source"], &said["substeps"]), (&"carried".into(), &3.into()));
    let said = summary("dc-drive", "--step 1ms --twin off");
    assert!(said["error_estimate"].is_null() && !said["warnings"].to_string().contains("twin"));
    // A budget that the plan alone keeps.
    let alone = summary("dc-drive", "--step 1ms --twin off --budget 6f");
    let said = summary("dc-drive", "--step 1ms --budget 6f");
    assert_eq!(said["evaluations_worst_step"], alone["evaluations_worst_step"]);
    assert_eq!(said["error_estimate"]["source"], "carried");
    assert!(said["warnings"].to_string().contains("the budget leaves no room"), "{}", said["warnings"]);
    let refused = fmu_build(["--twin", "perhaps", "a.fmu", "b.fmu"]);
    assert_eq!(refused.status.code(), Some(2));
}

/// The largest deviation at a point stands beside the root mean square, and `--peak-tolerance` bounds it.
#[test]
fn peaks_are_told_and_bounded() {
    let said = summary("dc-drive", "--step 1ms --method lie --mode implicit --twin off --substeps 1");
    let errors = said["errors"].as_array().unwrap();
    let number = |of: &serde_json::Value| of.as_f64().unwrap();
    assert!(errors.iter().all(|error| number(&error["peak"]) >= number(&error["error"])), "{errors:?}");
    let largest = errors.iter().map(|error| number(&error["peak"])).fold(0.0, f64::max);
    let (free, bounded) = (
        "--step 1ms --method lie --mode implicit --twin off --substeps 1",
        format!(
            "--step 1ms --method lie --mode implicit --twin off --substeps 1 --peak-tolerance {:e}",
            0.5 * largest
        ),
    );
    let warned =
        |options: &str| summary("dc-drive", options)["warnings"].to_string().contains("--peak-tolerance");
    assert!(!warned(free) && warned(&bounded));
}

/// Whatever the twin's model returns, and in whatever call: the FMU says fmi2OK, its values are those that it
/// would have had, and the loss is told once.
#[test]
fn a_twin_that_fails_does_not_fail_the_fmu() {
    let exported = build("strict", "--step 10ms --twin on");
    let life = |name: &str| -> (Vec<u64>, Vec<(i32, String)>, i32) {
        let mut fmu = exported.instantiate_as(name);
        fmu.initialise(0.0);
        let mut values = Vec::new();
        for k in 0..60 {
            fmu.set_real("u", f64::from(k % 7) - 3.0);
            fmu.set_real("g", 9.81 + f64::from(k / 20));
            fmu.step(f64::from(k) * 0.01, 0.01);
            values.push(fmu.real("h").to_bits());
            assert!(fmu.real("fmuBuild.error").is_finite());
        }
        let outside = fmu.integer("fmuBuild.stepsOutsidePlan");
        assert_eq!(fmu.terminate(), 0);
        (values, fmu.messages(), outside)
    };
    let lost =
        |messages: &[(i32, String)]| messages.iter().filter(|(_, text)| text.contains("is lost at")).count();
    let (expected, messages, _) = life("it");
    // The strict model fails from the first illegal call on: the twin has seen none.
    assert_eq!(lost(&messages), 0, "{messages:?}");
    let mut losses = 0;
    for function in [
        "fmi2SetupExperiment",
        "fmi2EnterInitializationMode",
        "fmi2ExitInitializationMode",
        "fmi2EnterEventMode",
        "fmi2NewDiscreteStates",
        "fmi2EnterContinuousTimeMode",
        "fmi2SetTime",
        "fmi2SetContinuousStates",
        "fmi2GetDerivatives",
        "fmi2GetEventIndicators",
        "fmi2SetReal",
        "fmi2GetReal",
        "fmi2CompletedIntegratorStep",
    ] {
        for status in ["discard", "error", "fatal"] {
            for call in [1, 3, 40] {
                let name = format!("twin fault {function} {status} {call}");
                let (values, messages, outside) = life(&name);
                assert_eq!(values, expected, "{name}");
                assert!(lost(&messages) <= 1, "{name}: {messages:?}");
                assert!(lost(&messages) == 0 || outside > 0, "{name}");
                losses += lost(&messages);
            }
        }
    }
    assert!(losses > 60, "{losses}");
}

/// Without a twin the steps' own estimates are carried on. On x' = -k x with linearly implicit Euler the
/// error after n steps is known; the estimate, calibrated where k was 1, is within a factor of three of it
/// where k is 3.
#[test]
fn without_a_twin_the_error_is_carried_on() {
    const OPTIONS: &str = "--step 10ms --method lie --mode implicit --substeps 1";
    let said = summary("dahlquist", OPTIONS);
    assert_eq!(said["error_estimate"]["source"], "carried", "{said}");
    let exported = build("dahlquist", OPTIONS);
    for k in [1.0f64, 3.0] {
        let mut fmu = exported.start(0.0, &[("k", k)]);
        let mut squares = 0.0;
        for n in 1..=300 {
            fmu.step(f64::from(n - 1) * 0.01, 0.01);
            squares += ((1.0 + 0.01 * k).powi(-n) - (-0.01 * k * f64::from(n)).exp()).powi(2);
        }
        let (error, told) =
            ((squares / 301.0f64).sqrt() / (1.0 - (-3.0 * k).exp()), fmu.real("fmuBuild.error"));
        assert!(told > error / 3.0 && told < 3.0 * error, "k = {k}: {told:e} is told of {error:e}");
    }
}

/// A controller that samples at every communication point, or a stiff plant between samples: time events cut
/// the steps of the FMU and of its twin at the same points, and still they differ, so that there is something
/// to tell.
#[test]
fn time_events_do_not_make_them_alike() {
    for step in ["10ms", "20ms", "5ms"] {
        let options = format!("--step {step} --method lie --mode implicit --twin on --explore none");
        let exported = build("sampled-controller", &options);
        let h: f64 = match step {
            "10ms" => 0.01,
            "20ms" => 0.02,
            _ => 0.005,
        };
        let mut fmu = exported.start(0.0, &[]);
        fmu.steps(0.0, h, 200);
        assert!(fmu.real("fmuBuild.error") > 1e-6, "{step}: {:e}", fmu.real("fmuBuild.error"));
    }
}
