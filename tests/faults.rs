//! An inner model that fails, at every call with every status: it sees only legal calls, the importer is
//! told, and after a reset everything is as before.
#![allow(unsafe_code)]

use crate::driver::{DISCARD, ERROR, Exported, FATAL, Fmu, OK};
use crate::util::build;
use reference_fmus::strict::ILLEGAL;
use std::ffi::c_void;
use std::ptr;

/// Every function that the runtime calls in a Model-Exchange FMU.
const FUNCTIONS: [&str; 30] = [
    "fmi2SetDebugLogging",
    "fmi2SetupExperiment",
    "fmi2EnterInitializationMode",
    "fmi2ExitInitializationMode",
    "fmi2Terminate",
    "fmi2Reset",
    "fmi2GetReal",
    "fmi2GetInteger",
    "fmi2GetBoolean",
    "fmi2GetString",
    "fmi2SetReal",
    "fmi2SetInteger",
    "fmi2SetBoolean",
    "fmi2SetString",
    "fmi2GetFMUstate",
    "fmi2SetFMUstate",
    "fmi2FreeFMUstate",
    "fmi2SerializedFMUstateSize",
    "fmi2SerializeFMUstate",
    "fmi2DeSerializeFMUstate",
    "fmi2GetDirectionalDerivative",
    "fmi2EnterEventMode",
    "fmi2NewDiscreteStates",
    "fmi2EnterContinuousTimeMode",
    "fmi2CompletedIntegratorStep",
    "fmi2SetTime",
    "fmi2SetContinuousStates",
    "fmi2GetDerivatives",
    "fmi2GetEventIndicators",
    "fmi2GetContinuousStates",
];

/// What an importer knows after a run.
#[derive(Default)]
struct Run {
    /// Of each call that did not return fmi2OK at once: what it was and its status; then the retry's.
    troubles: Vec<(&'static str, i32, i32)>,
    fatal: bool,
}

impl Run {
    /// Call; if it fails, once more.
    fn call(&mut self, name: &'static str, mut call: impl FnMut() -> i32) -> i32 {
        if self.fatal {
            return FATAL;
        }
        let mut status = call();
        if status != OK {
            let first = status;
            status = call();
            self.troubles.push((name, first, status));
        }
        self.fatal |= status == FATAL;
        status
    }
}

const H: f64 = 0.01;
const STEPS: usize = 12;

/// A life with everything in it: values of every type, steps with state and time events, saved states,
/// termination.
fn life(fmu: &mut Fmu, run: &mut Run) {
    let (f, c, exported) = (fmu.f.clone(), fmu.c, fmu.exported);
    let cell = std::cell::RefCell::new(fmu);
    let it = || cell.borrow_mut();
    run.call("log", || unsafe { (f.fmi2SetDebugLogging)(c, 1, 0, ptr::null()) });
    run.call("set", || it().set_real("h", 0.03));
    run.call("setup", || it().setup(0.0, Some(1.0)));
    run.call("enter", || it().enter());
    run.call("set", || it().set_real("u", 0.5));
    run.call("exit", || it().exit());
    let mut state: *mut c_void = ptr::null_mut();
    for k in 0..STEPS {
        if k == 2 {
            run.call("set", || it().set_real("u", -1.0));
            run.call("set", || it().set_integer("count", 3));
        }
        if k == 4 {
            run.call("set", || it().set_boolean("on", 0));
            run.call("set", || it().set_string("label", "x"));
            run.call("set", || it().set_real("e", 0.5));
        }
        if k == 5 || k == 6 {
            run.call("save", || unsafe { (f.fmi2GetFMUstate)(c, &mut state) });
        }
        run.call("step", || it().try_step(k as f64 * H, H));
        let (mut real, mut integer, mut boolean, mut string) = (0.0, 0, 0, ptr::null());
        let (y, ticks, on, shown) = {
            let reference = |name| exported.reference(name);
            (reference("y"), reference("ticks"), reference("on"), reference("shown"))
        };
        run.call("get", || unsafe { (f.fmi2GetReal)(c, &y, 1, &mut real) });
        run.call("get", || unsafe { (f.fmi2GetInteger)(c, &ticks, 1, &mut integer) });
        run.call("get", || unsafe { (f.fmi2GetBoolean)(c, &on, 1, &mut boolean) });
        run.call("get", || unsafe { (f.fmi2GetString)(c, &shown, 1, &mut string) });
        if k == 7 {
            let (h, u, mut slope) = (exported.reference("y"), exported.reference("u"), 0.0);
            run.call("slope", || unsafe { (f.fmi2GetRealOutputDerivatives)(c, &h, 1, &1, &mut slope) });
            run.call("directional", || unsafe {
                (f.fmi2GetDirectionalDerivative)(c, &h, 1, &u, 1, &1.0, &mut slope)
            });
        }
    }
    let mut size = 0;
    run.call("size", || unsafe { (f.fmi2SerializedFMUstateSize)(c, state, &mut size) });
    let mut bytes = vec![0; size];
    run.call("serialize", || unsafe { (f.fmi2SerializeFMUstate)(c, state, bytes.as_mut_ptr(), size) });
    let mut copy: *mut c_void = ptr::null_mut();
    run.call("deserialize", || unsafe { (f.fmi2DeSerializeFMUstate)(c, bytes.as_ptr(), size, &mut copy) });
    run.call("restore", || unsafe { (f.fmi2SetFMUstate)(c, state) });
    run.call("step", || it().try_step(6.0 * H, H));
    for mut state in [state, copy] {
        if !state.is_null() {
            run.call("free", || unsafe { (f.fmi2FreeFMUstate)(c, &mut state) });
        }
    }
    run.call("terminate", || it().terminate());
}

/// A run after a reset, as bits.
fn clean(fmu: &mut Fmu) -> Vec<u64> {
    fmu.initialise(0.0);
    (0..STEPS)
        .map(|k| {
            fmu.step(k as f64 * H, H);
            fmu.real("h").to_bits()
        })
        .collect()
}

fn exported() -> Exported {
    build("strict", "--step 10ms")
}

#[test]
fn a_strict_model_sees_only_legal_calls() {
    let exported = exported();
    let mut undisturbed = exported.instantiate();
    let mut run = Run::default();
    life(&mut undisturbed, &mut run);
    assert_eq!(run.troubles, [], "{:?}", undisturbed.messages());
    assert_eq!(undisturbed.reset(), OK);
    let expected = clean(&mut undisturbed);

    let mut reached = [[0; 4]; FUNCTIONS.len()];
    for (number, function) in FUNCTIONS.iter().enumerate() {
        for (status, word) in [(DISCARD, "discard"), (ERROR, "error"), (FATAL, "fatal")] {
            for k in [1, 2, 3, 7, 20, 60, 120] {
                let order = format!("fault {function} {word} {k}");
                let mut fmu = exported.instantiate_as(&order);
                let mut run = Run::default();
                life(&mut fmu, &mut run);
                // An error is never told as less, a fatal one as nothing else.
                for &(call, first, retry) in &run.troubles {
                    assert!(
                        first >= status.min(ERROR) || status == DISCARD,
                        "{order}: {call} gave {first}, {retry}"
                    );
                    assert!(first != FATAL || status == FATAL, "{order}: {call} gave {first}");
                }
                if status == FATAL && !run.troubles.is_empty() {
                    assert!(run.fatal, "{order}: {:?}", run.troubles);
                }
                if !run.fatal {
                    run.call("reset", || fmu.reset());
                }
                if !run.fatal && run.troubles.is_empty() {
                    life(&mut fmu, &mut run); // the fault is still to come; only legality is judged
                } else if !run.fatal {
                    assert_eq!(clean(&mut fmu), expected, "{order}");
                }
                reached[number][3] += 1;
                if !run.troubles.is_empty() {
                    reached[number][(status - DISCARD) as usize] += 1;
                }
                let log = fmu.log.clone();
                drop(fmu);
                let said = log.lock().unwrap();
                let illegal = said.iter().find(|(_, text)| text.starts_with(ILLEGAL));
                assert_eq!(illegal, None, "{order}: {:?}", run.troubles.first());
            }
        }
    }
    for (function, [discards, errors, fatals, tried]) in FUNCTIONS.iter().zip(reached) {
        println!(
            "{function}: of {tried} orders {discards} discards, {errors} errors, {fatals} fatals were seen"
        );
        assert!(errors > 0 && fatals > 0, "{function} is never called");
    }
}

/// What the model refused is not remembered as done: the retry reaches it.
#[test]
fn a_discarded_set_is_not_remembered() {
    let exported = exported();
    for (function, k) in [("fmi2SetReal", 1), ("fmi2SetInteger", 1), ("fmi2EnterEventMode", 1)] {
        let mut fmu = exported.instantiate_as(&format!("fault {function} discard {k}"));
        fmu.initialise(0.0);
        let discarded = match function {
            "fmi2SetReal" => (fmu.set_real("u", 2.0), fmu.real("u"), fmu.set_real("u", 2.0), fmu.real("u")),
            _ => {
                let set = |fmu: &mut Fmu| (fmu.set_integer("count", 2), fmu.integer("count") as f64);
                let (first, second) = (set(&mut fmu), set(&mut fmu));
                (first.0, first.1 - 1.0, second.0, second.1)
            }
        };
        assert_eq!(discarded, (DISCARD, 0.0, OK, 2.0), "{function}");
    }
}

/// A save that the model refuses leaves the older state under its handle as it was.
#[test]
fn a_refused_save_leaves_the_old_state() {
    let exported = exported();
    for k in 2..=4 {
        let mut fmu = exported.instantiate_as(&format!("fault fmi2GetFMUstate discard {k}"));
        fmu.initialise(0.0);
        let mut state = ptr::null_mut();
        let mut saved_at = f64::NAN;
        for step in 0..5 {
            // SAFETY: null or a state of this instance.
            let status = unsafe { (fmu.f.fmi2GetFMUstate)(fmu.c, &mut state) };
            if status == OK {
                saved_at = step as f64 * H;
            } else {
                assert_eq!(status, DISCARD);
                break;
            }
            fmu.step(step as f64 * H, H);
        }
        if saved_at.is_nan() {
            assert!(state.is_null(), "no handle of a state that was not saved");
            continue;
        }
        let before = fmu.reals(&["h", "v"]);
        fmu.restore(state);
        assert_eq!(fmu.last_successful_time(), saved_at);
        let now = (saved_at / H).round() as usize;
        fmu.steps(saved_at, H, 1);
        assert_eq!(fmu.reals(&["h", "v"]), before, "the step {now} again");
        fmu.free(state);
    }
}

/// A slope starts from the value that the model holds, also where it has refused the last one: u = 0.5 stays,
/// and not 0.
#[test]
fn a_slope_starts_from_what_the_model_holds() {
    let exported = exported();
    let mut fmu = exported.instantiate_as("fault fmi2SetReal discard 2");
    assert_eq!([fmu.setup(0.0, None), fmu.enter()], [OK; 2]);
    assert_eq!(fmu.set_real("u", 0.5), OK);
    assert_eq!(fmu.exit(), OK);
    assert_eq!(fmu.set_real("u", 2.0), DISCARD);
    assert_eq!(fmu.set_input_derivative("u", 1, 10.0), OK);
    fmu.step(0.0, H);
    assert!((fmu.real("u") - (0.5 + 10.0 * H)).abs() < 1e-12, "{}", fmu.real("u"));
}

/// Some tools answer a String that nobody has set with NULL and fmi2OK: the importer gets the value that was
/// set, or an empty text.
#[test]
fn a_null_string_is_a_text() {
    let exported = exported();
    let mut fmu = exported.instantiate_as("null strings");
    fmu.initialise(0.0);
    assert_eq!(fmu.string("shown"), "");
    assert_eq!(fmu.set_string("label", "x"), OK);
    assert_eq!(fmu.string("label"), "x");
    fmu.step(0.0, H);
    assert_eq!((fmu.string("label"), fmu.string("shown")), ("x".into(), String::new()));
}

/// A reset between a discrete input and the step that would have handled its event, and one after a
/// termination, start afresh.
#[test]
fn a_reset_in_the_middle_of_an_event_starts_afresh() {
    let exported = exported();
    let mut fmu = exported.instantiate();
    let expected = clean(&mut fmu);
    assert_eq!(fmu.set_integer("count", 7), OK);
    assert_eq!(fmu.set_input_derivative("u", 1, 100.0), OK);
    assert_eq!(fmu.reset(), OK);
    assert_eq!(clean(&mut fmu), expected);
    assert_eq!(fmu.set_real("u", 3.0), OK);
    assert_eq!(fmu.terminate(), OK);
    assert_eq!(fmu.reset(), OK);
    assert_eq!(clean(&mut fmu), expected);
    assert_eq!(fmu.integer("count"), 1);
}
