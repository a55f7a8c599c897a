//! Runs that must not depend on history: repeated, interleaved, saved and restored, reset, copied.

use crate::driver::{ERROR, Exported, Fmu, OK};
use crate::util::{build, unzip};
use std::ptr;

/// x and whatever else moves, as bits: equal means equal.
fn bits(fmu: &mut Fmu, names: &[&str]) -> Vec<u64> {
    fmu.reals(names).iter().map(|value| value.to_bits()).collect()
}

/// Steps `from..to`, recording every state.
fn run(fmu: &mut Fmu, names: &[&str], h: f64, from: usize, to: usize) -> Vec<Vec<u64>> {
    (from..to)
        .map(|k| {
            fmu.step(k as f64 * h, h);
            bits(fmu, names)
        })
        .collect()
}

/// Models for what must not depend on history: with events, with a Jacobian that changes, with rolling
/// colours, compiled from Modelica, without states.
const RUNS: [(&str, &str, &[&str], f64); 6] = [
    ("bouncing-ball", "", &["h", "v"], 0.01),
    ("sampled-controller", "--method lie --mode implicit", &["x1", "x2", "u", "I"], 3e-3),
    ("van-der-pol", "--method lie --mode implicit --jacobian every", &["x", "v"], 5e-3),
    ("spring-pendulum", "--method lie --mode implicit --jacobian rolling", &["x", "y", "theta", "phi"], 0.01),
    ("mo2fmu_BouncingBall.fmu", "", &["h", "v"], 0.01),
    ("all-types", "", &["time", "y"], 0.01),
];

fn each_run(check: impl Fn(&Exported, &[&str], f64)) {
    for (model, options, names, h) in RUNS {
        println!("{model}");
        check(&build(model, &format!("--step {h} {options}")), names, h);
    }
}

#[test]
fn two_runs_are_bit_identical() {
    each_run(|exported, names, h| {
        let first = run(&mut exported.start(0.0, &[]), names, h, 0, 200);
        let second = run(&mut exported.start(0.0, &[]), names, h, 0, 200);
        assert_eq!(first, second);
    });
}

#[test]
fn interleaved_instances_do_not_meet() {
    each_run(|exported, names, h| {
        let alone = run(&mut exported.start(0.0, &[]), names, h, 0, 200);
        let (mut a, mut b) = (exported.start(0.0, &[]), exported.start(0.0, &[]));
        run(&mut b, names, h, 0, 37);
        for (k, expected) in alone.iter().enumerate() {
            assert_eq!(&run(&mut a, names, h, k, k + 1)[0], expected, "step {k}");
            run(&mut b, names, h, 37 + k, 38 + k);
        }
    });
}

/// Back to a saved state, the same steps give the same bits: also when the state was saved over an older
/// one, and more than once.
#[test]
fn rollback_is_bit_identical() {
    each_run(|exported, names, h| {
        let mut fmu = exported.start(0.0, &[]);
        let early = fmu.save(ptr::null_mut());
        run(&mut fmu, names, h, 0, 40);
        let again = fmu.save(ptr::null_mut());
        let again = fmu.save(again);
        let after = run(&mut fmu, names, h, 40, 200);
        fmu.restore(again);
        assert_eq!(run(&mut fmu, names, h, 40, 200), after);
        fmu.restore(early);
        run(&mut fmu, names, h, 0, 40);
        assert_eq!(run(&mut fmu, names, h, 40, 200), after);
        fmu.restore(again);
        assert_eq!(fmu.last_successful_time(), 40.0 * h);
        assert_eq!(run(&mut fmu, names, h, 40, 200), after);
        fmu.free(early);
        fmu.free(again);
    });
}

/// A step back inside a communication step: counters of events go back as well.
#[test]
fn rollback_takes_the_counters_along() {
    let h = 0.01;
    let exported = build("bouncing-ball", &format!("--step {h}"));
    let mut fmu = exported.start(0.0, &[]);
    fmu.steps(0.0, h, 40);
    let state = fmu.save(ptr::null_mut());
    let before = (fmu.integer("bounces"), fmu.integer("fmuBuild.events"));
    assert_eq!(before, (0, 0));
    fmu.steps(40.0 * h, h, 20);
    assert_eq!((fmu.integer("bounces"), fmu.integer("fmuBuild.events")), (1, 1));
    fmu.restore(state);
    assert_eq!((fmu.integer("bounces"), fmu.integer("fmuBuild.events")), before);
}

/// As bytes, a state moves to another instance, and even survives that instance's past.
#[test]
fn a_serialised_state_moves_to_another_instance() {
    each_run(|exported, names, h| {
        let mut first = exported.start(0.0, &[]);
        run(&mut first, names, h, 0, 40);
        let state = first.save(ptr::null_mut());
        let bytes = first.serialize(state);
        let after = run(&mut first, names, h, 40, 200);

        let mut second = exported.start(0.0, &[]);
        run(&mut second, names, h, 0, 7);
        let state = second.deserialize(&bytes).unwrap();
        second.restore(state);
        assert_eq!(run(&mut second, names, h, 40, 200), after);

        // Damaged bytes are refused: each prefix, and every bit that was flipped.
        for length in [0, 1, 7, 8, bytes.len() / 2, bytes.len() - 1] {
            assert_eq!(second.deserialize(&bytes[..length]), Err(ERROR), "{length} bytes");
        }
        for at in (0..bytes.len()).step_by(1 + bytes.len() / 500) {
            let mut flipped = bytes.clone();
            flipped[at] ^= 1 << (at % 8);
            assert_eq!(second.deserialize(&flipped), Err(ERROR), "a bit of byte {at}");
        }
    });
}

/// A state belongs to one build: with another step the same model's numbers, of which there are as many, mean
/// something else.
#[test]
fn the_state_of_another_build_is_refused() {
    let [mut one, other] = ["0.1", "0.2"]
        .map(|h| build("dahlquist", &format!("--method lie --mode implicit --step {h}")))
        .map(Box::new)
        .map(|exported| Box::leak(exported).start(0.0, &[]));
    let mut other = other;
    let state = one.save(ptr::null_mut());
    let bytes = one.serialize(state);
    assert!(one.deserialize(&bytes).is_ok());
    assert_eq!(other.deserialize(&bytes), Err(ERROR));
    let messages = other.messages();
    assert!(messages[0].1.starts_with("this is the serialised state of another FMU"), "{messages:?}");
}

/// Also before initialisation: the start time and what else was set up come back.
#[test]
fn a_saved_state_has_the_start_time() {
    let exported = build("dahlquist", "--mode implicit --step 0.1");
    let mut fmu = exported.instantiate();
    assert_eq!(fmu.setup(5.0, Some(6.0)), OK);
    let state = fmu.save(ptr::null_mut());
    let bytes = fmu.serialize(state);
    for _ in 0..2 {
        assert_eq!(fmu.setup(0.0, None), OK);
        assert_eq!([fmu.enter(), fmu.exit()], [OK; 2]);
        fmu.step(0.0, 0.1);
        fmu.restore(state);
    }
    let mut second = exported.start(0.0, &[]);
    let state = second.deserialize(&bytes).unwrap();
    second.restore(state);
    for fmu in [&mut fmu, &mut second] {
        assert_eq!([fmu.enter(), fmu.exit()], [OK; 2]);
        fmu.steps(5.0, 0.1, 11);
        assert_eq!(fmu.try_step(6.1, 0.1), ERROR, "the stop time is 6");
    }
}

/// A state that was restored in another instance is the same state: saved again, it has the same bytes,
/// tolerance and start time among them.
#[test]
fn a_restored_state_has_the_same_bytes() {
    let exported = build("dahlquist", "--mode implicit --step 0.1");
    let mut first = exported.instantiate();
    assert_eq!(first.setup_with_tolerance(5.0, 6.0, 1e-3), OK);
    let state = first.save(ptr::null_mut());
    let bytes = first.serialize(state);
    let mut second = exported.start(0.0, &[]);
    second.steps(0.0, 0.1, 3);
    let state = second.deserialize(&bytes).unwrap();
    second.restore(state);
    let again = second.save(ptr::null_mut());
    assert!(second.serialize(again) == bytes);
}

/// A model that cannot save its state is not rehearsed with: it may answer with values of its last
/// evaluation, whatever is set afterwards. It is called as often before the first step as one whose rehearsal
/// is taken back, counters and all.
#[test]
fn no_rehearsal_without_saved_states() {
    let folder = tempfile::TempDir::new().unwrap();
    let original = crate::util::example("counting", folder.path());
    let calls = |with: &str| {
        let (input, output) = (folder.path().join(format!("{with}.fmu")), folder.path().join("out.fmu"));
        let attribute = |value: &str| format!("canGetAndSetFMUstate=\"{value}\"");
        crate::util::edit_description(&original, &input, &attribute("true"), &attribute(with));
        crate::util::build_file(&input, &output, "--step 10ms --mode implicit");
        let exported = Exported::unpack(&output, tempfile::TempDir::new().unwrap());
        let mut fmu = exported.start(0.0, &[]);
        ["GetDerivatives", "SetContinuousStates", "SetTime"].map(|name| fmu.integer(name))
    };
    assert_eq!(calls("false"), calls("true"));
}

/// What was tried before the first step leaves no trace: not in an input that was given with a slope.
#[test]
fn the_rehearsal_leaves_no_trace() {
    let exported = build("rc-circuit", "--step 1ms --mode implicit");
    let mut fmu = exported.instantiate();
    assert_eq!([fmu.setup(0.0, None), fmu.enter()], [OK; 2]);
    assert_eq!(fmu.set_real("E", 2.0), OK);
    assert_eq!(fmu.set_input_derivative("E", 1, 1000.0), OK);
    assert_eq!(fmu.exit(), OK);
    assert_eq!(fmu.real("E"), 2.0);
    fmu.step(0.0, 1e-3);
    assert!((fmu.real("E") - 3.0).abs() < 1e-12, "{}", fmu.real("E"));
}

#[test]
fn reset_equals_fresh() {
    each_run(|exported, names, h| {
        let fresh = run(&mut exported.start(0.0, &[]), names, h, 0, 200);
        let mut fmu = exported.start(0.0, &[]);
        run(&mut fmu, names, h, 0, 123);
        assert_eq!(fmu.reset(), OK);
        fmu.initialise(0.0);
        assert_eq!(run(&mut fmu, names, h, 0, 200), fresh);
        assert_eq!(fmu.terminate(), OK);
        assert_eq!(fmu.reset(), OK);
        fmu.initialise(0.0);
        assert_eq!(run(&mut fmu, names, h, 0, 200), fresh);
    });
}

/// A start value and an input that were set before a reset are forgotten.
#[test]
fn reset_forgets_what_was_set() {
    let exported = build("rc-circuit", "--step 1ms --method lie --mode implicit");
    let names = ["V_B", "V_C"];
    let fresh = run(&mut exported.start(0.0, &[]), &names, 1e-3, 0, 50);
    let mut fmu = exported.start(0.0, &[("V_C", 3.0), ("E", 7.0)]);
    assert_eq!(fmu.set_real("R3", 50.0), OK);
    run(&mut fmu, &names, 1e-3, 0, 50);
    assert_eq!(fmu.reset(), OK);
    fmu.initialise(0.0);
    assert_eq!(run(&mut fmu, &names, 1e-3, 0, 50), fresh);
}

/// A copy of the FMU elsewhere works on its own, while the first is alive.
#[test]
fn two_copies_of_one_fmu() {
    let exported = build("bouncing-ball", "--step 0.01");
    let folder = tempfile::TempDir::new().unwrap();
    let file = folder.path().join("copy.fmu");
    std::fs::copy(&exported.file, &file).unwrap();
    unzip(&file, &folder.path().join("x"));
    let copy = Exported::unpack(&file, folder);
    let (mut a, mut b) = (exported.start(0.0, &[]), copy.start(0.0, &[]));
    let names = ["h", "v"];
    assert_eq!(run(&mut a, &names, 0.01, 0, 200), run(&mut b, &names, 0.01, 0, 200));
}
