//! What FMI 2.0 asks of a Co-Simulation FMU, whatever the importer does.
#![allow(unsafe_code)]

use crate::driver::{CO_SIMULATION, DISCARD, ERROR, Exported, Fmu, OK, WARNING};
use crate::util::{build, unzip};
use std::ffi::c_void;
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

/// Models for what must not depend on history: with events, with a Jacobian that changes, with rolling colours,
/// compiled from Modelica, without states.
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

/// A state belongs to one build: with another step the same model's numbers mean something else.
#[test]
fn the_state_of_another_build_is_refused() {
    let [mut one, other] = ["0.1", "0.2"]
        .map(|h| build("dahlquist", &format!("--mode implicit --step {h}")))
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

/// A model that may exist only once says so, and the second instance is refused with a reason, not a crash.
#[test]
fn only_one_instance_where_the_model_says_so() {
    let exported = build("stick-slip", "--step 1ms");
    let first = exported.start(0.0, &[]);
    let guid = Some(exported.description.guid.as_str());
    let (second, log) = exported.instantiate_with(Some("b"), CO_SIMULATION, guid, Some(&exported.location()));
    assert!(second.is_none());
    assert!(
        log.iter().any(|(status, text)| *status == ERROR && text.contains("fmi2Instantiate returned NULL")),
        "{log:?}"
    );
    drop(first);
    exported.start(0.0, &[]).steps(0.0, 1e-3, 10);
}

/// What is called, in which phase, and how it must end: FMI 2.0.4, section 4.2.4, table of co-simulation.
#[test]
fn illegal_calls_are_errors_and_change_nothing() {
    let exported = build("dahlquist", "--method lie --mode implicit --step 0.1");
    let x = exported.reference("x");
    let k = exported.reference("k");
    type Call<'a> = (&'static str, Box<dyn Fn(&mut Fmu) -> i32 + 'a>);
    let calls: [Call; 10] = [
        ("fmi2SetupExperiment", Box::new(|fmu| fmu.setup(0.0, None))),
        ("fmi2EnterInitializationMode", Box::new(|fmu| fmu.enter())),
        ("fmi2ExitInitializationMode", Box::new(|fmu| fmu.exit())),
        ("fmi2DoStep", Box::new(|fmu| fmu.try_step(0.0, 0.1))),
        ("fmi2Terminate", Box::new(|fmu| fmu.terminate())),
        ("fmi2GetReal", Box::new(move |fmu| unsafe { (fmu.f.fmi2GetReal)(fmu.c, &x, 1, &mut 0.0) })),
        ("fmi2SetReal", Box::new(move |fmu| unsafe { (fmu.f.fmi2SetReal)(fmu.c, &k, 1, &1.0) })),
        (
            "fmi2GetRealOutputDerivatives",
            Box::new(move |fmu| unsafe { (fmu.f.fmi2GetRealOutputDerivatives)(fmu.c, &x, 1, &1, &mut 0.0) }),
        ),
        ("fmi2CancelStep", Box::new(|fmu| unsafe { (fmu.f.fmi2CancelStep)(fmu.c) })),
        (
            "fmi2SetFMUstate of nobody",
            Box::new(|fmu| unsafe { (fmu.f.fmi2SetFMUstate)(fmu.c, ptr::dangling_mut::<u64>().cast()) }),
        ),
    ];
    // Which of the calls are legal (no order is demanded of the legal ones here).
    let phases: [(&str, &[&str]); 4] = [
        ("instantiated", &["fmi2SetupExperiment", "fmi2EnterInitializationMode", "fmi2SetReal"]),
        ("initialization", &["fmi2ExitInitializationMode", "fmi2GetReal", "fmi2SetReal"]),
        (
            "step",
            &["fmi2DoStep", "fmi2Terminate", "fmi2GetReal", "fmi2SetReal", "fmi2GetRealOutputDerivatives"],
        ),
        ("terminated", &["fmi2GetReal", "fmi2GetRealOutputDerivatives"]),
    ];
    for (index, (phase, legal)) in phases.iter().enumerate() {
        let mut fmu = exported.instantiate();
        let advance = |fmu: &mut Fmu, from: usize| {
            for phase in from..index {
                let status = match phase {
                    0 => fmu.setup(0.0, None).max(fmu.enter()),
                    1 => fmu.exit(),
                    _ => fmu.terminate(),
                };
                assert_eq!(status, OK);
            }
        };
        advance(&mut fmu, 0);
        for (name, call) in calls.iter().filter(|(name, _)| !legal.contains(name)) {
            let before = fmu.messages().len();
            assert_eq!(call(&mut fmu), ERROR, "{name} when {phase}");
            let messages = fmu.messages();
            assert!(*name == "fmi2CancelStep" || messages.len() > before, "{name} when {phase}: no message");
        }
        // Nothing was changed: from here the life goes on as it should.
        match index {
            0 => fmu.initialise(0.0),
            1 => assert_eq!(fmu.exit(), OK),
            3 => {
                assert_eq!(fmu.reset(), OK);
                fmu.initialise(0.0);
            }
            _ => {}
        }
        fmu.step(0.0, 0.1);
        assert!((fmu.real("x") - 1.0 / 1.1).abs() < 1e-7);
        assert_eq!(fmu.terminate(), OK);
    }
}

/// The message says what and when.
#[test]
fn an_illegal_call_is_explained() {
    let exported = build("dahlquist", "--step 0.1");
    let mut fmu = exported.instantiate();
    assert_eq!(fmu.try_step(0.0, 0.1), ERROR);
    let messages = fmu.messages();
    assert_eq!(messages.len(), 1, "{messages:?}");
    assert_eq!(messages[0], (ERROR, "fmi2DoStep is not allowed in the phase Instantiated".to_string()));
}

/// NULL where there must be something is fmi2Error, NULL for nothing is fine, and nothing crashes.
#[test]
fn null_pointers() {
    let exported = build("dahlquist", "--step 0.1");
    let f = &exported.functions;
    let nobody: *mut c_void = ptr::null_mut();
    let (vr, order) = (1u32, 1i32);
    // SAFETY: surviving NULL is what is tested.
    unsafe {
        (f.fmi2FreeInstance)(nobody);
        let without_instance = [
            (f.fmi2SetDebugLogging)(nobody, 1, 0, ptr::null()),
            (f.fmi2SetupExperiment)(nobody, 0, 0.0, 0.0, 0, 0.0),
            (f.fmi2EnterInitializationMode)(nobody),
            (f.fmi2ExitInitializationMode)(nobody),
            (f.fmi2Terminate)(nobody),
            (f.fmi2Reset)(nobody),
            (f.fmi2GetReal)(nobody, &vr, 1, &mut 0.0),
            (f.fmi2GetInteger)(nobody, &vr, 1, &mut 0),
            (f.fmi2GetBoolean)(nobody, &vr, 1, &mut 0),
            (f.fmi2GetString)(nobody, &vr, 1, &mut ptr::null()),
            (f.fmi2SetReal)(nobody, &vr, 1, &0.0),
            (f.fmi2SetInteger)(nobody, &vr, 1, &0),
            (f.fmi2SetBoolean)(nobody, &vr, 1, &0),
            (f.fmi2SetString)(nobody, &vr, 1, &c"".as_ptr()),
            (f.fmi2GetFMUstate)(nobody, &mut ptr::null_mut()),
            (f.fmi2SetFMUstate)(nobody, ptr::null_mut()),
            (f.fmi2SerializedFMUstateSize)(nobody, ptr::null_mut(), &mut 0),
            (f.fmi2SerializeFMUstate)(nobody, ptr::null_mut(), &mut 0, 1),
            (f.fmi2DeSerializeFMUstate)(nobody, &0, 1, &mut ptr::null_mut()),
            (f.fmi2GetDirectionalDerivative)(nobody, &vr, 1, &vr, 1, &1.0, &mut 0.0),
            (f.fmi2SetRealInputDerivatives)(nobody, &vr, 1, &order, &1.0),
            (f.fmi2GetRealOutputDerivatives)(nobody, &vr, 1, &order, &mut 0.0),
            (f.fmi2DoStep)(nobody, 0.0, 0.1, 1),
            (f.fmi2CancelStep)(nobody),
            (f.fmi2GetRealStatus)(nobody, 2, &mut 0.0),
            (f.fmi2GetBooleanStatus)(nobody, 3, &mut 0),
        ];
        assert_eq!(without_instance, [ERROR; 26]);

        let fmu = exported.start(0.0, &[]);
        let c = fmu.c;
        let without_data = [
            (f.fmi2SetDebugLogging)(c, 1, 1, ptr::null()),
            (f.fmi2GetReal)(c, ptr::null(), 1, &mut 0.0),
            (f.fmi2GetReal)(c, &vr, 1, ptr::null_mut()),
            (f.fmi2GetInteger)(c, ptr::null(), 1, &mut 0),
            (f.fmi2GetBoolean)(c, &vr, 1, ptr::null_mut()),
            (f.fmi2GetString)(c, &vr, 1, ptr::null_mut()),
            (f.fmi2SetReal)(c, &vr, 1, ptr::null()),
            (f.fmi2SetInteger)(c, ptr::null(), 1, &0),
            (f.fmi2SetBoolean)(c, &vr, 1, ptr::null()),
            (f.fmi2SetString)(c, &vr, 1, ptr::null()),
            (f.fmi2SetString)(c, &vr, 1, &ptr::null()),
            (f.fmi2GetFMUstate)(c, ptr::null_mut()),
            (f.fmi2SetFMUstate)(c, ptr::null_mut()),
            (f.fmi2SerializedFMUstateSize)(c, ptr::null_mut(), &mut 0),
            (f.fmi2SerializedFMUstateSize)(c, ptr::null_mut(), ptr::null_mut()),
            (f.fmi2DeSerializeFMUstate)(c, ptr::null(), 8, &mut ptr::null_mut()),
            (f.fmi2DeSerializeFMUstate)(c, &0, 1, ptr::null_mut()),
            (f.fmi2SetRealInputDerivatives)(c, &vr, 1, ptr::null(), &1.0),
            (f.fmi2GetRealOutputDerivatives)(c, &vr, 1, &order, ptr::null_mut()),
            (f.fmi2GetRealStatus)(c, 2, ptr::null_mut()),
            (f.fmi2GetBooleanStatus)(c, 3, ptr::null_mut()),
        ];
        assert_eq!(without_data, [ERROR; 21]);

        let nothing_asked = [
            (f.fmi2SetDebugLogging)(c, 0, 0, ptr::null()),
            (f.fmi2GetReal)(c, ptr::null(), 0, ptr::null_mut()),
            (f.fmi2SetReal)(c, ptr::null(), 0, ptr::null()),
            (f.fmi2GetString)(c, ptr::null(), 0, ptr::null_mut()),
            (f.fmi2FreeFMUstate)(c, ptr::null_mut()),
            (f.fmi2FreeFMUstate)(c, &mut ptr::null_mut()),
            (f.fmi2DoStep)(c, 0.0, 0.1, 1),
        ];
        assert_eq!(nothing_asked, [OK; 7]);
    }
    // Instantiating with less and less. Without callbacks nobody is told, and it works all the same.
    let guid = Some(exported.description.guid.as_str());
    let location = exported.location();
    for (name, guid) in [(None, guid), (Some(""), guid), (Some("x"), None)] {
        let (fmu, log) = exported.instantiate_with(name, CO_SIMULATION, guid, Some(&location));
        assert!(fmu.is_none() && log.len() == 1, "{log:?}");
    }
    let guid = std::ffi::CString::new(exported.description.guid.as_str()).unwrap();
    // SAFETY: C strings, and NULL for the callbacks.
    unsafe {
        let c =
            (f.fmi2Instantiate)(c"x".as_ptr(), CO_SIMULATION, guid.as_ptr(), ptr::null(), ptr::null(), 0, 0);
        assert!(!c.is_null());
        assert_eq!((f.fmi2DoStep)(c, 0.0, 0.1, 1), ERROR);
        (f.fmi2FreeInstance)(c);
    }
}

/// An unknown value reference is refused by number, and none of the values of that call is set.
#[test]
fn unknown_value_references() {
    let exported = build("rc-circuit", "--step 1ms");
    let mut fmu = exported.start(0.0, &[]);
    let (source, unknown) = (exported.reference("E"), 4_000_000_000u32);
    // SAFETY: two references, two values.
    unsafe {
        assert_eq!((fmu.f.fmi2SetReal)(fmu.c, [source, unknown].as_ptr(), 2, [1.0, 2.0].as_ptr()), ERROR);
        assert_eq!((fmu.f.fmi2GetReal)(fmu.c, [source, unknown].as_ptr(), 2, [0.0; 2].as_mut_ptr()), ERROR);
        assert_eq!((fmu.f.fmi2GetInteger)(fmu.c, &unknown, 1, &mut 0), ERROR);
        assert_eq!((fmu.f.fmi2GetBoolean)(fmu.c, &unknown, 1, &mut 0), ERROR);
        assert_eq!((fmu.f.fmi2GetString)(fmu.c, &unknown, 1, &mut ptr::null()), ERROR);
        assert_eq!((fmu.f.fmi2SetString)(fmu.c, &unknown, 1, &c"".as_ptr()), ERROR);
        assert_eq!((fmu.f.fmi2SetRealInputDerivatives)(fmu.c, &unknown, 1, &1, &0.0), ERROR);
        assert_eq!((fmu.f.fmi2GetRealOutputDerivatives)(fmu.c, &unknown, 1, &1, &mut 0.0), ERROR);
    }
    let messages = fmu.messages();
    assert_eq!(messages.len(), 8, "{messages:?}");
    for (status, text) in messages {
        assert!(status == ERROR && text.contains("value reference 4000000000"), "{text}");
    }
    assert_eq!(fmu.real("E"), 10.0, "a refused call must not set anything");
    fmu.step(0.0, 1e-3);
}

/// After initialisation only inputs and tunable parameters can be set; derivatives exist for inputs, of order 1.
#[test]
fn what_cannot_be_set_is_refused() {
    let exported = build("rc-circuit", "--step 1ms");
    let mut fmu = exported.start(0.0, &[]);
    for name in ["V_B", "V_C", "R1", "I_1", "fmuBuild.stepTime"] {
        assert_eq!(fmu.set_real(name, 1.0), ERROR, "{name}");
    }
    assert_eq!(fmu.set_real("R3", 900.0), OK);
    assert_eq!(fmu.set_input_derivative("E", 2, 1.0), ERROR);
    assert_eq!(fmu.set_input_derivative("R3", 1, 1.0), ERROR);
    assert_eq!(fmu.set_input_derivative("E", 1, 1.0), OK);
    fmu.step(0.0, 1e-3);
}

#[test]
fn a_wrong_guid_or_type_is_refused_with_a_reason() {
    let exported = build("dahlquist", "--step 0.1");
    let location = exported.location();
    let (fmu, log) = exported.instantiate_with(Some("x"), CO_SIMULATION, Some("{no}"), Some(&location));
    assert!(fmu.is_none());
    assert!(log.len() == 1 && log[0].1.contains("asks for GUID {no}, but this FMU is"), "{log:?}");
    let guid = Some(exported.description.guid.as_str());
    let (fmu, log) = exported.instantiate_with(Some("x"), 0, guid, Some(&location));
    assert!(fmu.is_none());
    assert_eq!(log, [(ERROR, "this FMU is for Co-Simulation only".to_string())]);
}

/// Every form of the resource location that importers are known to use; the folder's name has a blank.
#[test]
fn resource_locations_in_every_form() {
    let exported = build("dahlquist", "--method lie --mode implicit --step 0.1");
    let plain = exported.root.display().to_string();
    assert!(plain.contains(' '));
    let quoted = plain.replace(' ', "%20");
    let guid = Some(exported.description.guid.as_str());
    for location in [
        Some(format!("file://{quoted}/resources")),
        Some(format!("file:{quoted}/resources")),
        Some(format!("file://{quoted}/resources/")),
        Some(format!("file://localhost{quoted}/resources")),
        Some(format!("file://{plain}/resources")),
        Some(format!("FILE://{quoted}/resources")),
        Some(format!("{plain}/resources")),
        Some(String::new()),
        Some("file:///nowhere/resources".into()),
        None,
    ] {
        let (fmu, log) = exported.instantiate_with(Some("x"), CO_SIMULATION, guid, location.as_deref());
        let mut fmu = fmu.unwrap_or_else(|| panic!("{location:?}: {log:?}"));
        fmu.initialise(0.0);
        fmu.step(0.0, 0.1);
        assert!((fmu.real("x") - 1.0 / 1.1).abs() < 1e-7);
    }
}

/// A damaged plan is refused, not executed.
#[test]
fn a_damaged_plan_is_refused() {
    let exported = build("dahlquist", "--step 0.1");
    let plan = exported.root.join("resources/plan.json");
    let whole = std::fs::read_to_string(&plan).unwrap();
    let guid = exported.description.guid.clone();
    let refused = |text: &str, why: &str| {
        std::fs::write(&plan, text).unwrap();
        let (fmu, log) =
            exported.instantiate_with(Some("x"), CO_SIMULATION, Some(&guid), Some(&exported.location()));
        assert!(fmu.is_none(), "{why}");
        assert!(log.len() == 1 && log[0].1.contains("is damaged"), "{why}: {log:?}");
    };
    refused(&whole[..whole.len() / 2], "half of it");
    refused("", "nothing");
    let mut json: serde_json::Value = serde_json::from_str(&whole).unwrap();
    json["elimination"]["order"] = serde_json::json!([5]);
    refused(&json.to_string(), "a state that does not exist");
    let mut json: serde_json::Value = serde_json::from_str(&whole).unwrap();
    json["version"] = serde_json::json!(999);
    refused(&json.to_string(), "another version");
    let mut json: serde_json::Value = serde_json::from_str(&whole).unwrap();
    json["step"]["h"] = serde_json::json!(-1.0);
    refused(&json.to_string(), "a negative step");
    // Sound in itself, but not what the build wrote.
    let mut json: serde_json::Value = serde_json::from_str(&whole).unwrap();
    json["step"]["h"] = serde_json::json!(0.05);
    refused(&json.to_string(), "another step");
    let other = build("dahlquist", "--step 0.2");
    let text = std::fs::read_to_string(other.root.join("resources/plan.json")).unwrap();
    refused(&text.replace(&other.description.guid, &guid), "another FMU's plan under this GUID");
    std::fs::write(&plan, &whole).unwrap();
    exported.start(0.0, &[]).step(0.0, 0.1);
}

/// The categories are declared, beside the model's own, and they filter.
#[test]
fn log_categories() {
    let exported = build("dahlquist", "--mode implicit --step 0.1");
    let names = ["logStatusError", "logStatusWarning", "logStatusDiscard", "logStatusFatal"];
    assert_eq!(exported.description.log_categories, names);
    let said = |on: i32, categories: &[&std::ffi::CStr]| {
        let mut fmu = exported.start(0.0, &[]);
        let pointers: Vec<_> = categories.iter().map(|category| category.as_ptr()).collect();
        // SAFETY: as many C strings as told.
        let status = unsafe { (fmu.f.fmi2SetDebugLogging)(fmu.c, on, pointers.len(), pointers.as_ptr()) };
        assert_eq!(status, OK);
        assert_eq!([fmu.try_step(0.0, 0.07), fmu.try_step(0.0, 0.1)], [OK, ERROR]);
        fmu.messages().iter().map(|(status, _)| *status).collect::<Vec<_>>()
    };
    assert_eq!(said(1, &[]), [WARNING, ERROR]);
    assert_eq!(said(0, &[]), [ERROR]);
    assert_eq!(said(1, &[c"logStatusWarning"]), [WARNING]);
    assert_eq!(said(1, &[c"logStatusError"]), [ERROR]);
    assert_eq!(said(1, &[c"logStatusWarning", c"logStatusError"]), [WARNING, ERROR]);
}

/// Another communication step than the one it was built for: equal sub-steps not longer than h, one message, and fmi2OK,
/// because importers stop at fmi2Warning.
/// On x' = -x that is x / (1 + H/m)^m with m = ceil(H/h).
#[test]
fn other_communication_steps_are_cut_with_one_warning() {
    let h = 0.1;
    let exported = build("dahlquist", &format!("--method lie --mode implicit --step {h}"));
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

/// OMSimulator ends each run with a step of 1e-13 s, what is left of its sum: that is no step, and no other size either.
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

/// One step may begin at the stop time, none behind it; and a step of a billion internal ones is a mistake of units.
#[test]
fn steps_beyond_the_end_are_refused() {
    let h = 0.1;
    let exported = build("dahlquist", &format!("--mode implicit --step {h}"));
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
    let exported = build("dahlquist", "--method lie --mode implicit --step 0.1");
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

/// dx/dt along the last step; on x' = -x that is -x within the h/2 of a one-sided difference.
#[test]
fn output_derivatives() {
    let h = 1e-3;
    let exported = build("dahlquist", &format!("--method lie --mode implicit --step {h}"));
    let mut fmu = exported.start(0.0, &[]);
    fmu.steps(0.0, h, 100);
    let (x, slope) = (fmu.real("x"), fmu.output_derivative("x"));
    assert!((slope + x).abs() <= h, "dx/dt = {slope}, x = {x}");
    // Asking does not disturb: the next step is that of an undisturbed run.
    fmu.step(100.0 * h, h);
    let mut other = exported.start(0.0, &[]);
    other.steps(0.0, h, 101);
    assert_eq!(fmu.real("x").to_bits(), other.real("x").to_bits());
}

/// The model's own directional derivatives shine through: der(y) of the stiff pair with respect to x is -k/m.
#[test]
fn directional_derivatives() {
    let exported = build("stiff-pair", "--step 1ms");
    let mut fmu = exported.start(0.0, &[]);
    fmu.step(0.0, 1e-3);
    assert_eq!(fmu.directional_derivative("der(y)", "x", 2.0), -2000.0);
    assert_eq!(fmu.directional_derivative("der(y)", "y", 1.0), -1001.0);
}

/// Discrete inputs and tunable parameters of every type, set between steps, reach the model in the next one.
#[test]
fn every_type_of_variable() {
    let exported = build("all-types", "--step 0.1");
    let mut fmu = exported.start(0.0, &[]);
    fmu.step(0.0, 0.1);
    assert_eq!(fmu.real("y"), 0.5);
    assert_eq!(fmu.set_real("u", 3.0), OK);
    assert_eq!(fmu.real("y"), 6.5, "direct feedthrough needs no step");
    assert_eq!(fmu.set_real("u_sampled", 2.25), OK);
    assert_eq!(fmu.set_integer("u_integer", -41), OK);
    assert_eq!(fmu.set_integer("u_mode", 3), OK);
    assert_eq!(fmu.set_boolean("u_boolean", 1), OK);
    assert_eq!(fmu.set_string("u_string", "Grüße, 世界"), OK);
    let (step, prefix) = (fmu.integer("step"), fmu.string("prefix"));
    fmu.step(0.1, 0.1);
    assert_eq!(fmu.real("y_sampled"), 2.25);
    assert_eq!(fmu.integer("y_integer"), -41 + step);
    assert_eq!(fmu.integer("y_mode"), 3);
    assert_eq!(fmu.boolean("y_boolean"), 1 ^ fmu.boolean("invert"));
    assert_eq!(fmu.string("y_string"), format!("{prefix}Grüße, 世界"));

    assert_eq!(fmu.set_real("gain", -2.0), OK);
    assert_eq!(fmu.set_integer("step", 100), OK);
    assert_eq!(fmu.set_string("prefix", ""), OK);
    fmu.step(0.2, 0.1);
    assert_eq!(fmu.reals(&["y", "gain_squared"]), [-5.5, 4.0]);
    assert_eq!(fmu.integer("y_integer"), 59);
    assert_eq!(fmu.string("y_string"), "Grüße, 世界");

    assert_eq!(fmu.set_real("offset", 1.0), ERROR, "a fixed parameter");
    assert_eq!(fmu.set_boolean("invert", 1), ERROR, "a fixed parameter");
    assert_eq!(fmu.set_integer("y_integer", 1), ERROR, "an output");
}

/// A tunable parameter takes the new Jacobian along: from k = 1 to k = 100 the factor changes with it.
#[test]
fn a_tunable_parameter_changes_the_step() {
    let h = 0.1;
    let exported = build("dahlquist", &format!("--method lie --mode implicit --step {h}"));
    let mut fmu = exported.start(0.0, &[]);
    fmu.steps(0.0, h, 3);
    let before = fmu.real("x");
    assert_eq!(fmu.set_real("k", 100.0), OK);
    fmu.step(3.0 * h, h);
    let factor = fmu.real("x") / before;
    assert!((factor - 1.0 / 11.0).abs() < 1e-6, "factor {factor}");
}

/// A run that explodes ends with fmi2Error that names the state, and the last good state can be read.
#[test]
fn divergence_is_an_error_that_names_the_state() {
    let h = 0.01;
    let exported = build("diverging", &format!("--method lie --mode explicit --step {h} --stop 0.9 --force"));
    let mut fmu = exported.start(0.0, &[]);
    let (mut x, mut k) = (1.0, 0);
    let status = loop {
        let status = fmu.try_step(k as f64 * h, h);
        if status != OK || k > 1000 {
            break status;
        }
        x = fmu.real("x");
        assert!(x.is_finite());
        k += 1;
    };
    assert_eq!(status, ERROR, "{k} steps");
    let messages = fmu.messages();
    // The watch has told it before.
    assert!(messages.len() == 2 && messages[0].1.contains("was not built for"), "{messages:?}");
    let text = &messages[1].1;
    assert!(text.starts_with("x diverged to ") && text.contains("the last good state is kept"), "{text}");
    assert_eq!(fmu.real("x"), x);
    assert_eq!(fmu.last_successful_time(), k as f64 * h);
    assert_eq!(fmu.try_step(k as f64 * h, h), ERROR, "no step after an error");
    assert_eq!(fmu.reset(), OK);
    fmu.initialise(0.0);
    fmu.step(0.0, h);
}

/// What is only there for slaves that run on: no status is pending, nothing terminated.
#[test]
fn status_questions() {
    let exported = build("dahlquist", "--step 0.1");
    let mut fmu = exported.start(0.0, &[]);
    fmu.step(0.0, 0.1);
    assert_eq!(fmu.last_successful_time(), 0.1);
    let mut terminated = 7;
    // SAFETY: the kinds are those of the standard.
    unsafe {
        assert_eq!((fmu.f.fmi2GetBooleanStatus)(fmu.c, 3, &mut terminated), OK);
        assert_eq!((fmu.f.fmi2GetStatus)(fmu.c, 0, &mut 0), DISCARD);
        assert_eq!((fmu.f.fmi2GetIntegerStatus)(fmu.c, 0, &mut 0), DISCARD);
        assert_eq!((fmu.f.fmi2GetStringStatus)(fmu.c, 1, &mut ptr::null()), DISCARD);
        assert_eq!(std::ffi::CStr::from_ptr((fmu.f.fmi2GetVersion)()), c"2.0");
        assert_eq!(std::ffi::CStr::from_ptr((fmu.f.fmi2GetTypesPlatform)()), c"default");
    }
    assert_eq!(terminated, 0);
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
