//! What FMI 2.0 asks of a Co-Simulation FMU, whatever the importer does.
#![allow(unsafe_code)]

use crate::driver::{CO_SIMULATION, DISCARD, ERROR, Fmu, OK, WARNING};
use crate::util::build;
use std::ffi::c_void;
use std::ptr;

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
    let exported = build("dahlquist", "--method lie --mode implicit --step 0.1 --twin off");
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

/// After initialisation only inputs and tunable parameters can be set; derivatives exist for inputs, of
/// order 1.
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
    let exported = build("dahlquist", "--method lie --mode implicit --step 0.1 --twin off");
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

/// A host that rounds upwards reads some numbers of the plan as their neighbours. The plan is the one that
/// was built all the same.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn the_hosts_rounding_mode_does_not_change_the_plan() {
    const MODES: [i32; 3] = [0x400, 0x800, 0xc00]; // down, up, towards zero
    let exported = build("dc-drive", "");
    // SAFETY: the C library's function, with its signature; the mode is this thread's own.
    let libm = unsafe { libloading::Library::new("libm.so.6").unwrap() };
    let set = unsafe { libm.get::<unsafe extern "C" fn(i32) -> i32>(b"fesetround\0").unwrap() };
    let guid = Some(exported.description.guid.as_str());
    for mode in MODES {
        assert_eq!(unsafe { set(mode) }, 0);
        let (fmu, log) =
            exported.instantiate_with(Some("x"), CO_SIMULATION, guid, Some(&exported.location()));
        let stepped =
            fmu.map(|mut fmu| [fmu.setup(0.0, None), fmu.enter(), fmu.exit(), fmu.try_step(0.0, 1e-3)]);
        assert_eq!(unsafe { set(0) }, 0);
        assert_eq!(stepped, Some([OK; 4]), "{mode:#x}: {log:?}");
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
    json["step"]["h"] = serde_json::json!(0.03);
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
    let exported = build("dahlquist", &format!("--method lie --mode implicit --step {h} --twin off"));
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
    let exported =
        build("diverging", &format!("--method lie --mode explicit --step {h} --stop 0.9 --force --twin off"));
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
