//! The C functions, called as an importer calls them.

#![allow(clippy::unwrap_used)]

use super::*;
use fmi2_types::Logger;
use std::ffi::c_void;
use std::ptr::{null, null_mut};

type Messages = Vec<(Status, String)>;

unsafe extern "C" fn remember(
    environment: *mut c_void,
    _name: *const c_char,
    status: i32,
    _category: *const c_char,
    message: *const c_char,
) {
    // SAFETY: the environment is the test's own list; the message ends with NUL.
    let messages = unsafe { &mut *environment.cast::<Messages>() };
    messages.push((Status::from_c(status), unsafe { text(message) }.into_owned()));
}

fn guid(name: &str) -> CString {
    let xml = crate::find(name).unwrap().xml();
    CString::new(crate::xml::Description::read(&xml).guid).unwrap()
}

fn instantiate(name: &str, messages: &mut Messages) -> *mut Component {
    // SAFETY: stable Rust cannot define a variadic function; on our platforms one that
    // ignores the rest has the same calling convention.
    let logger = unsafe { std::mem::transmute::<*const (), Logger>(remember as *const ()) };
    let environment = std::ptr::from_mut(messages).cast();
    let callbacks = Callbacks { logger: Some(logger), environment, ..Callbacks::NONE };
    // SAFETY: all pointers are valid or null.
    unsafe { fmi2Instantiate(c"it".as_ptr(), 0, guid(name).as_ptr(), null(), &callbacks, 0, 0) }
}

/// A whole simulation through the C functions: one explicit Euler step of the oscillator that
/// counts.
#[test]
fn c_calls_are_carried_out_and_counted() {
    let mut messages = Messages::new();
    let c = instantiate("counting", &mut messages);
    // SAFETY: `c` is alive; counts match the arrays.
    unsafe {
        assert_eq!(fmi2SetupExperiment(c, 0, 0.0, 0.0, 0, 0.0), Status::Ok);
        assert_eq!(fmi2EnterInitializationMode(c), Status::Ok);
        assert_eq!(fmi2ExitInitializationMode(c), Status::Ok);
        let mut info = EventInfo { new_discrete_states_needed: 1, ..EventInfo::default() };
        assert_eq!(fmi2NewDiscreteStates(c, &mut info), Status::Ok);
        assert_eq!((info.new_discrete_states_needed, info.next_event_time_defined), (0, 0));
        assert_eq!(fmi2EnterContinuousTimeMode(c), Status::Ok);
        let (mut x, mut dx, mut nominals) = ([0.0; 2], [0.0; 2], [0.0; 2]);
        assert_eq!(fmi2GetContinuousStates(c, x.as_mut_ptr(), 2), Status::Ok);
        assert_eq!(fmi2GetNominalsOfContinuousStates(c, nominals.as_mut_ptr(), 2), Status::Ok);
        assert_eq!((x, nominals), ([1.0, 0.0], [1.0, 1.0]));
        assert_eq!(fmi2SetReal(c, &5, 1, &3.0), Status::Ok);
        for _ in 0..3 {
            assert_eq!(fmi2GetDerivatives(c, dx.as_mut_ptr(), 2), Status::Ok);
        }
        assert_eq!(dx, [0.0, 3.0 - 1e6]);
        assert_eq!(fmi2SetTime(c, 0.1), Status::Ok);
        assert_eq!(fmi2SetContinuousStates(c, x.as_ptr(), 2), Status::Ok);
        let (mut event, mut terminate) = (1, 1);
        assert_eq!(fmi2CompletedIntegratorStep(c, 1, &mut event, &mut terminate), Status::Ok);
        assert_eq!((event, terminate), (0, 0));
        assert_eq!(fmi2GetEventIndicators(c, null_mut(), 0), Status::Ok);
        let mut slope = 0.0;
        assert_eq!(fmi2GetDirectionalDerivative(c, &4, 1, &2, 1, &2.0, &mut slope), Status::Ok);
        assert_eq!(slope, -2e4);
        let (references, mut counts) = ([0, 1, 2, 3, 4, 5, 6, 7], [-1; 8]);
        for _ in 0..2 {
            assert_eq!(fmi2GetInteger(c, references.as_ptr(), 8, counts.as_mut_ptr()), Status::Ok);
            assert_eq!(counts, [1, 1, 3, 1, 0, 1, 1, 1]);
        }
        fmi2FreeInstance(c);
    }
    assert_eq!(messages, []);
}

#[test]
fn refusals_are_logged() {
    let mut messages = Messages::new();
    assert!(instantiate("bad-instantiate", &mut messages).is_null());
    assert!(instantiate("guid-mismatch", &mut messages).is_null());
    let c = instantiate("bad-init", &mut messages);
    let mut value = 0.0;
    // SAFETY: `c` is alive or null; counts match the arrays.
    unsafe {
        assert_eq!(fmi2GetReal(c, &1, 1, &mut value), Status::Error);
        assert_eq!(fmi2SetReal(c, null(), 1, &1.0), Status::Error);
        assert_eq!(fmi2EnterInitializationMode(c), Status::Ok);
        assert_eq!(fmi2ExitInitializationMode(c), Status::Error);
        fmi2FreeInstance(c);
        assert_eq!(fmi2SetTime(null_mut(), 1.0), Status::Error);
        fmi2FreeInstance(null_mut());
    }
    let expected = [
        "fmi2Instantiate: the model refuses to be instantiated",
        "fmi2Instantiate: the GUID {b4dc0de0-0000-4000-8000-000000000000} belongs to no model of this \
         library",
        "fmi2GetReal: not allowed in the instantiated state, only in Initialization Mode, Event Mode, \
         Continuous-Time Mode, the terminated state",
        "fmi2SetReal: an array is a null pointer",
        "fmi2ExitInitializationMode: initial equations have no solution",
    ];
    assert_eq!(messages, expected.map(|text| (Status::Error, text.to_owned())));
}

#[test]
fn states_and_strings_cross_the_interface() {
    let mut messages = Messages::new();
    let c = instantiate("all-types", &mut messages);
    // SAFETY: `c` and the states are alive; counts match the arrays.
    unsafe {
        let (mut saved, mut copy) = (null_mut(), null_mut());
        assert_eq!(fmi2GetFMUstate(c, &mut saved), Status::Ok);
        let mut size = 0;
        assert_eq!(fmi2SerializedFMUstateSize(c, saved, &mut size), Status::Ok);
        let mut bytes = vec![0; size];
        assert_eq!(fmi2SerializeFMUstate(c, saved, bytes.as_mut_ptr(), size), Status::Ok);
        assert_eq!(fmi2SerializeFMUstate(c, saved, bytes.as_mut_ptr(), 3), Status::Error);
        let one = c"eins".as_ptr();
        assert_eq!(fmi2SetString(c, &0, 1, &one), Status::Ok);
        assert_eq!(fmi2DeSerializeFMUstate(c, bytes.as_ptr(), size, &mut copy), Status::Ok);
        assert_eq!(fmi2SetFMUstate(c, copy), Status::Ok);
        assert_eq!(fmi2EnterInitializationMode(c), Status::Ok);
        let mut found = null();
        assert_eq!(fmi2GetString(c, &1, 1, &mut found), Status::Ok);
        assert_eq!(text(found), "Grüße, 世界 & <you>");
        for state in [&mut saved, &mut copy] {
            assert_eq!(fmi2FreeFMUstate(c, state), Status::Ok);
            assert!(state.is_null());
        }
        fmi2FreeInstance(c);
    }
    assert_eq!(messages.len(), 1);
}

#[test]
fn the_platform_is_the_standard_one() {
    // SAFETY: static strings.
    let (platform, version) = unsafe { (text(fmi2GetTypesPlatform()), text(fmi2GetVersion())) };
    assert_eq!((platform.as_ref(), version.as_ref()), ("default", "2.0"));
}
