//! The C functions of an exported FMU of FMI 2.0.
//!
//! For every entry FMI's own contract holds: a component is null or came from [`fmi2Instantiate`] and was not freed,
//! no other call on it is running, and an array has as many elements as its count says.
//!
//! Every entry does three things: make slices of the pointers, guard against panics, call a method of
//! `Instance`. No panic crosses into C, and a null pointer where there must be something is `fmi2Error`.
#![allow(unsafe_code, non_snake_case)]

mod states;

use crate::pointers::{Instance, input, output, text, with_booleans};
use crate::resources::{self, Asked};
use fmu_runtime::fmi::{Callbacks, Host, Kind};
use fmu_runtime::resources::path_from_uri;
use fmu_runtime::status::Status;
use std::ffi::{CStr, CString, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;

/// `fmi2LastSuccessfulTime`, `fmi2Terminated`
const LAST_SUCCESSFUL_TIME: i32 = 2;
const TERMINATED: i32 = 3;

/// # Safety
/// As [`guard`](crate::pointers::guard): `c` is null or came from `fmi2Instantiate`.
unsafe fn guard(c: *mut c_void, call: impl FnOnce(&mut Instance) -> Status) -> Status {
    // SAFETY: promised by the caller.
    unsafe { crate::pointers::guard(c, call) }
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2GetTypesPlatform() -> *const c_char {
    c"default".as_ptr()
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2GetVersion() -> *const c_char {
    c"2.0".as_ptr()
}

/// # Safety
/// As FMI 2.0 prescribes: C strings, and callbacks that live as long as the instance.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Instantiate(
    instance_name: *const c_char,
    fmu_type: i32,
    guid: *const c_char,
    resource_location: *const c_char,
    functions: *const Callbacks,
    visible: i32,
    logging_on: i32,
) -> *mut c_void {
    // SAFETY: promised by the caller.
    let (name, guid, location, callbacks) =
        unsafe { (text(instance_name), text(guid), text(resource_location), functions.as_ref().copied()) };
    let callbacks = callbacks.unwrap_or(Callbacks::NONE);
    let refuse = |message: &str| {
        let name = name.unwrap_or(c"");
        callbacks.log(name, Status::Error, c"logStatusError", format_args!("{message}"));
        ptr::null_mut()
    };
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return refuse("fmi2Instantiate needs an instance name");
    };
    if fmu_type != Kind::CoSimulation as i32 {
        return refuse("this FMU is for Co-Simulation only");
    }
    let Some(guid) = guid else { return refuse("fmi2Instantiate needs the GUID") };
    let made = catch_unwind(AssertUnwindSafe(|| {
        let asked = Asked {
            name: &name.to_string_lossy(),
            guid: &guid.to_string_lossy(),
            resources: location.map(|location| path_from_uri(&location.to_string_lossy())),
            visible: visible != 0,
            logging: logging_on != 0,
        };
        let hosts = [Host::Callbacks(callbacks), Host::Silent(callbacks)];
        resources::instantiate(&asked, resources::find(&asked)?, hosts, Box::new(callbacks))
    }));
    match made {
        Ok(Ok(instance)) => Box::into_raw(Box::new(instance)).cast(),
        Ok(Err(message)) => refuse(&message),
        Err(_) => refuse("internal error while loading the model"),
    }
}

/// # Safety
/// `c` is null or came from `fmi2Instantiate` and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2FreeInstance(c: *mut c_void) {
    if !c.is_null() {
        // SAFETY: promised by the caller.
        let instance = unsafe { Box::from_raw(c.cast::<Instance>()) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(instance)));
    }
}

/// # Safety
/// As FMI 2.0 prescribes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetDebugLogging(
    c: *mut c_void,
    logging_on: i32,
    n_categories: usize,
    categories: *const *const c_char,
) -> Status {
    // SAFETY: promised by the caller.
    let Some(categories) = (unsafe { input(categories, n_categories) }) else { return Status::Error };
    // SAFETY: likewise.
    let categories: Option<Vec<&CStr>> =
        categories.iter().map(|&category| unsafe { text(category) }).collect();
    let Some(categories) = categories else { return Status::Error };
    // SAFETY: likewise.
    unsafe { guard(c, |it| it.set_debug_logging(logging_on != 0, &categories)) }
}

/// # Safety
/// `c` is null or came from `fmi2Instantiate`, and no other call on it is running.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetupExperiment(
    c: *mut c_void,
    tolerance_defined: i32,
    tolerance: f64,
    start_time: f64,
    stop_time_defined: i32,
    stop_time: f64,
) -> Status {
    let tolerance = (tolerance_defined != 0).then_some(tolerance);
    let stop = (stop_time_defined != 0).then_some(stop_time);
    // SAFETY: promised by the caller.
    unsafe { guard(c, |it| it.setup_experiment(tolerance, start_time, stop)) }
}

/// # Safety
/// `c` is null or came from `fmi2Instantiate`, and no other call on it is running.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2EnterInitializationMode(c: *mut c_void) -> Status {
    // SAFETY: promised by the caller.
    unsafe { guard(c, Instance::enter_initialization_mode) }
}

/// # Safety
/// `c` is null or came from `fmi2Instantiate`, and no other call on it is running.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2ExitInitializationMode(c: *mut c_void) -> Status {
    // SAFETY: promised by the caller.
    unsafe { guard(c, Instance::exit_initialization_mode) }
}

/// # Safety
/// `c` is null or came from `fmi2Instantiate`, and no other call on it is running.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Terminate(c: *mut c_void) -> Status {
    // SAFETY: promised by the caller.
    unsafe { guard(c, Instance::terminate) }
}

/// # Safety
/// `c` is null or came from `fmi2Instantiate`, and no other call on it is running.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2Reset(c: *mut c_void) -> Status {
    // SAFETY: promised by the caller.
    unsafe { guard(c, Instance::reset) }
}

// The accessors are written out, since cbindgen reads no macros: the C header must have them.

/// # Safety
/// `vr` and `values` point to `n` elements each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetReal(c: *mut c_void, vr: *const u32, n: usize, values: *mut f64) -> Status {
    // SAFETY: promised by the caller.
    let (Some(vr), Some(values)) = (unsafe { (input(vr, n), output(values, n)) }) else {
        return Status::Error;
    };
    // SAFETY: promised by the caller.
    unsafe { guard(c, |it| it.get(vr, values)) }
}

/// # Safety
/// `vr` and `values` point to `n` elements each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetInteger(
    c: *mut c_void,
    vr: *const u32,
    n: usize,
    values: *mut i32,
) -> Status {
    // SAFETY: promised by the caller.
    let (Some(vr), Some(values)) = (unsafe { (input(vr, n), output(values, n)) }) else {
        return Status::Error;
    };
    // SAFETY: promised by the caller.
    unsafe { guard(c, |it| it.get(vr, values)) }
}

/// # Safety
/// `vr` and `values` point to `n` elements each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetBoolean(
    c: *mut c_void,
    vr: *const u32,
    n: usize,
    values: *mut i32,
) -> Status {
    // SAFETY: promised by the caller.
    let (Some(vr), Some(values)) = (unsafe { (input(vr, n), output(values, n)) }) else {
        return Status::Error;
    };
    // SAFETY: promised by the caller.
    unsafe {
        guard(c, |it| {
            with_booleans(n, |booleans| {
                let status = it.get(vr, booleans);
                values.iter_mut().zip(booleans).for_each(|(value, boolean)| *value = i32::from(*boolean));
                status
            })
        })
    }
}

/// # Safety
/// `vr` and `values` point to `n` elements each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetString(
    c: *mut c_void,
    vr: *const u32,
    n: usize,
    values: *mut *const c_char,
) -> Status {
    // SAFETY: promised by the caller.
    let (Some(vr), Some(values)) = (unsafe { (input(vr, n), output(values, n)) }) else {
        return Status::Error;
    };
    // SAFETY: promised by the caller.
    unsafe { guard(c, |it| it.get(vr, values)) }
}

/// # Safety
/// `vr` and `values` point to `n` elements each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetReal(c: *mut c_void, vr: *const u32, n: usize, values: *const f64) -> Status {
    // SAFETY: promised by the caller.
    let (Some(vr), Some(values)) = (unsafe { (input(vr, n), input(values, n)) }) else {
        return Status::Error;
    };
    // SAFETY: promised by the caller.
    unsafe { guard(c, |it| it.set(vr, values)) }
}

/// # Safety
/// `vr` and `values` point to `n` elements each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetInteger(
    c: *mut c_void,
    vr: *const u32,
    n: usize,
    values: *const i32,
) -> Status {
    // SAFETY: promised by the caller.
    let (Some(vr), Some(values)) = (unsafe { (input(vr, n), input(values, n)) }) else {
        return Status::Error;
    };
    // SAFETY: promised by the caller.
    unsafe { guard(c, |it| it.set(vr, values)) }
}

/// # Safety
/// `vr` and `values` point to `n` elements each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetBoolean(
    c: *mut c_void,
    vr: *const u32,
    n: usize,
    values: *const i32,
) -> Status {
    // SAFETY: promised by the caller.
    let (Some(vr), Some(values)) = (unsafe { (input(vr, n), input(values, n)) }) else {
        return Status::Error;
    };
    // SAFETY: promised by the caller.
    unsafe {
        guard(c, |it| {
            with_booleans(n, |booleans| {
                booleans.iter_mut().zip(values).for_each(|(boolean, value)| *boolean = *value != 0);
                it.set(vr, booleans)
            })
        })
    }
}

/// # Safety
/// `vr` and `values` point to `n` elements each, the values to C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetString(
    c: *mut c_void,
    vr: *const u32,
    n: usize,
    values: *const *const c_char,
) -> Status {
    // SAFETY: promised by the caller.
    let (Some(vr), Some(values)) = (unsafe { (input(vr, n), input(values, n)) }) else {
        return Status::Error;
    };
    // SAFETY: likewise.
    let strings: Option<Vec<CString>> =
        values.iter().map(|&value| unsafe { text(value) }.map(CStr::to_owned)).collect();
    let Some(strings) = strings else { return Status::Error };
    // SAFETY: promised by the caller.
    unsafe { guard(c, |it| it.set(vr, &strings)) }
}

/// # Safety
/// Each pointer points to as many elements as FMI 2.0 says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetDirectionalDerivative(
    c: *mut c_void,
    unknowns: *const u32,
    n_unknowns: usize,
    knowns: *const u32,
    n_knowns: usize,
    seed: *const f64,
    result: *mut f64,
) -> Status {
    // SAFETY: promised by the caller.
    let slices = unsafe {
        (
            input(unknowns, n_unknowns),
            input(knowns, n_knowns),
            input(seed, n_knowns),
            output(result, n_unknowns),
        )
    };
    let (Some(unknowns), Some(knowns), Some(seed), Some(result)) = slices else { return Status::Error };
    // SAFETY: promised by the caller.
    unsafe { guard(c, |it| it.directional_derivative(unknowns, knowns, seed, result)) }
}

/// # Safety
/// Each pointer points to `n` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetRealInputDerivatives(
    c: *mut c_void,
    vr: *const u32,
    n: usize,
    order: *const i32,
    value: *const f64,
) -> Status {
    // SAFETY: promised by the caller.
    let (Some(vr), Some(order), Some(value)) = (unsafe { (input(vr, n), input(order, n), input(value, n)) })
    else {
        return Status::Error;
    };
    // SAFETY: promised by the caller.
    unsafe { guard(c, |it| it.set_input_derivatives(vr, order, value)) }
}

/// # Safety
/// Each pointer points to `n` elements.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetRealOutputDerivatives(
    c: *mut c_void,
    vr: *const u32,
    n: usize,
    order: *const i32,
    value: *mut f64,
) -> Status {
    // SAFETY: promised by the caller.
    let (Some(vr), Some(order), Some(value)) = (unsafe { (input(vr, n), input(order, n), output(value, n)) })
    else {
        return Status::Error;
    };
    // SAFETY: promised by the caller.
    unsafe { guard(c, |it| it.get_output_derivatives(vr, order, value)) }
}

/// # Safety
/// `c` is null or came from `fmi2Instantiate`, and no other call on it is running.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2DoStep(
    c: *mut c_void,
    time: f64,
    step: f64,
    _no_set_state_prior: i32,
) -> Status {
    // SAFETY: promised by the caller.
    unsafe { guard(c, |it| it.do_step(time, step)) }
}

/// No step is ever in progress when this can be called.
#[unsafe(no_mangle)]
pub extern "C" fn fmi2CancelStep(_c: *mut c_void) -> Status {
    Status::Error
}

/// Steps end before `fmi2DoStep` returns, so no status is pending.
#[unsafe(no_mangle)]
pub extern "C" fn fmi2GetStatus(_c: *mut c_void, _kind: i32, _value: *mut i32) -> Status {
    Status::Discard
}

/// # Safety
/// `value` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetRealStatus(c: *mut c_void, kind: i32, value: *mut f64) -> Status {
    // SAFETY: promised by the caller.
    let Some(value) = (unsafe { value.as_mut() }) else { return Status::Error };
    // SAFETY: promised by the caller.
    unsafe {
        guard(c, |it| {
            if kind != LAST_SUCCESSFUL_TIME {
                return Status::Discard;
            }
            *value = it.last_successful_time();
            Status::Ok
        })
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2GetIntegerStatus(_c: *mut c_void, _kind: i32, _value: *mut i32) -> Status {
    Status::Discard
}

/// # Safety
/// `value` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetBooleanStatus(c: *mut c_void, kind: i32, value: *mut i32) -> Status {
    // SAFETY: promised by the caller.
    let Some(value) = (unsafe { value.as_mut() }) else { return Status::Error };
    // SAFETY: promised by the caller.
    unsafe {
        guard(c, |it| {
            if kind != TERMINATED {
                return Status::Discard;
            }
            *value = it.terminated_by_model() as i32;
            Status::Ok
        })
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi2GetStringStatus(_c: *mut c_void, _kind: i32, _value: *mut *const c_char) -> Status {
    Status::Discard
}
