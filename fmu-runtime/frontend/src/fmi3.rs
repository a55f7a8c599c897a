//! The C functions of an exported FMU of FMI 3.0: life cycle and steps. Values are in `values`, saved states in `states`, what
//! a Co-Simulation FMU without Event Mode refuses in `refused`.
//!
//! For every entry FMI's own contract holds: an instance is null or came from [`fmi3InstantiateCoSimulation`] and was not
//! freed, no other call on it is running, and an array has as many elements as its count says. C's `bool` comes in as `u8`.
#![allow(unsafe_code, non_snake_case)]

mod host;
mod refused;
mod shell;
mod states;
mod values;

use crate::pointers::{input, output, text};
use crate::resources::{self, Asked};
use fmu_runtime::component::Importer;
use fmu_runtime::fmi::{Callbacks, Host, Log};
use fmu_runtime::resources::path_from_uri;
use fmu_runtime::status::Status;
use host::{LogMessage, Logger};
use shell::Shell;
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

/// # Safety
/// As [`guard`](crate::pointers::guard): `c` is null or came from `fmi3InstantiateCoSimulation`.
unsafe fn guard(c: *mut c_void, call: impl FnOnce(&mut Shell) -> Status) -> Status {
    // SAFETY: promised by the caller.
    unsafe { crate::pointers::guard(c, call) }
}

#[unsafe(no_mangle)]
pub extern "C" fn fmi3GetVersion() -> *const c_char {
    c"3.0".as_ptr()
}

/// # Safety
/// As FMI 3.0 prescribes: C strings, and a logger that lives as long as the instance.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)] // FMI's
pub unsafe extern "C" fn fmi3InstantiateCoSimulation(
    instance_name: *const c_char,
    token: *const c_char,
    resource_path: *const c_char,
    visible: u8,
    logging_on: u8,
    event_mode_used: u8,
    _early_return_allowed: u8,
    _required_intermediate_variables: *const u32,
    _n_required_intermediate_variables: usize,
    environment: *mut c_void,
    log_message: Option<LogMessage>,
    _intermediate_update: *const c_void,
) -> *mut c_void {
    let logger = Logger { environment, log_message };
    // SAFETY: promised by the caller.
    let (name, token, path) = unsafe { (text(instance_name), text(token), text(resource_path)) };
    let refuse = |message: &str| {
        logger.log(name.unwrap_or(c""), Status::Error, c"logStatusError", format_args!("{message}"));
        ptr::null_mut()
    };
    let Some(name) = name.filter(|name| !name.is_empty()) else {
        return refuse("fmi3InstantiateCoSimulation needs an instance name");
    };
    let Some(token) = token else {
        return refuse("fmi3InstantiateCoSimulation needs the instantiation token");
    };
    if event_mode_used != 0 {
        return refuse("this FMU has no Event Mode (hasEventMode is false): instantiate it without");
    }
    let made = catch_unwind(AssertUnwindSafe(|| {
        let asked = Asked {
            name: &name.to_string_lossy(),
            guid: &token.to_string_lossy(),
            resources: path.map(|path| path_from_uri(&path.to_string_lossy())),
            visible: visible != 0,
            logging: logging_on != 0,
        };
        let (folder, plan) = resources::find(&asked)?;
        let Some(variables) = plan.shell.clone() else {
            return Err("this is an FMU of FMI 2.0: import it as one".to_string());
        };
        let log = Arc::new(Log::to(name.to_owned(), Box::new(logger)));
        let hosts = [Host::Collect(log), Host::Silent(Callbacks::NONE)];
        let instance = resources::instantiate(&asked, (folder, plan), hosts, Box::new(logger))?;
        Ok(Shell::new(instance, variables))
    }));
    match made {
        Ok(Ok(shell)) => Box::into_raw(Box::new(shell)).cast(),
        Ok(Err(message)) => refuse(&message),
        Err(_) => refuse("internal error while loading the model"),
    }
}

/// # Safety
/// `c` is null or came from `fmi3InstantiateCoSimulation` and is not used again.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3FreeInstance(c: *mut c_void) {
    if !c.is_null() {
        // SAFETY: promised by the caller.
        let shell = unsafe { Box::from_raw(c.cast::<Shell>()) };
        let _ = catch_unwind(AssertUnwindSafe(|| drop(shell)));
    }
}

/// # Safety
/// As FMI 3.0 prescribes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetDebugLogging(
    c: *mut c_void,
    logging_on: u8,
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
    unsafe { guard(c, |it| it.instance.set_debug_logging(logging_on != 0, &categories)) }
}

/// # Safety
/// As [`fmi3FreeInstance`], without its end.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3EnterInitializationMode(
    c: *mut c_void,
    tolerance_defined: u8,
    tolerance: f64,
    start_time: f64,
    stop_time_defined: u8,
    stop_time: f64,
) -> Status {
    let tolerance = (tolerance_defined != 0).then_some(tolerance);
    let stop = (stop_time_defined != 0).then_some(stop_time);
    // SAFETY: promised by the caller.
    unsafe {
        guard(c, |it| match it.instance.setup_experiment(tolerance, start_time, stop) {
            Status::Ok => it.instance.enter_initialization_mode(),
            refusal => refusal,
        })
    }
}

/// # Safety
/// As [`fmi3EnterInitializationMode`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3ExitInitializationMode(c: *mut c_void) -> Status {
    // SAFETY: promised by the caller.
    unsafe { guard(c, |it| it.instance.exit_initialization_mode()) }
}

/// # Safety
/// As [`fmi3EnterInitializationMode`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3Terminate(c: *mut c_void) -> Status {
    // SAFETY: promised by the caller.
    unsafe { guard(c, |it| it.instance.terminate()) }
}

/// # Safety
/// As [`fmi3EnterInitializationMode`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3Reset(c: *mut c_void) -> Status {
    // SAFETY: promised by the caller.
    unsafe { guard(c, |it| it.instance.reset()) }
}

/// A step ends where it was asked to, unless the model ends the simulation inside it: that is no error, and the host is told.
///
/// # Safety
/// As [`fmi3EnterInitializationMode`]; the pointers are null or writable.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)] // FMI's
pub unsafe extern "C" fn fmi3DoStep(
    c: *mut c_void,
    time: f64,
    step: f64,
    _no_set_state_prior: u8,
    event_handling_needed: *mut u8,
    terminate_simulation: *mut u8,
    early_return: *mut u8,
    last_successful_time: *mut f64,
) -> Status {
    // SAFETY: promised by the caller.
    let told = unsafe {
        (
            event_handling_needed.as_mut(),
            terminate_simulation.as_mut(),
            early_return.as_mut(),
            last_successful_time.as_mut(),
        )
    };
    let (Some(event), Some(terminate), Some(early), Some(last)) = told else { return Status::Error };
    // SAFETY: likewise.
    unsafe {
        guard(c, |it| {
            let status = it.instance.do_step(time, step);
            let ended = status == Status::Discard && it.instance.terminated_by_model();
            *last = if status.is_usable() { time + step } else { it.instance.last_successful_time() };
            (*event, *terminate, *early) = (0, u8::from(ended), u8::from(ended && *last < time + step));
            if ended { Status::Ok } else { status }
        })
    }
}

/// # Safety
/// Each pointer points to as many elements as FMI 3.0 says.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)] // FMI's
pub unsafe extern "C" fn fmi3GetDirectionalDerivative(
    c: *mut c_void,
    unknowns: *const u32,
    n_unknowns: usize,
    knowns: *const u32,
    n_knowns: usize,
    seed: *const f64,
    n_seed: usize,
    sensitivity: *mut f64,
    n_sensitivity: usize,
) -> Status {
    // SAFETY: promised by the caller.
    let slices = unsafe {
        (
            input(unknowns, n_unknowns),
            input(knowns, n_knowns),
            input(seed, n_seed),
            output(sensitivity, n_sensitivity),
        )
    };
    let (Some(unknowns), Some(knowns), Some(seed), Some(result)) = slices else { return Status::Error };
    // SAFETY: likewise.
    unsafe { guard(c, |it| it.directional_derivative(unknowns, knowns, seed, result)) }
}

/// # Safety
/// Each pointer points to as many elements as FMI 3.0 says.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetOutputDerivatives(
    c: *mut c_void,
    references: *const u32,
    n_references: usize,
    orders: *const i32,
    values: *mut f64,
    n_values: usize,
) -> Status {
    // SAFETY: promised by the caller.
    let slices =
        unsafe { (input(references, n_references), input(orders, n_references), output(values, n_values)) };
    let (Some(references), Some(orders), Some(values)) = slices else { return Status::Error };
    // SAFETY: likewise.
    unsafe { guard(c, |it| it.output_derivatives(references, orders, values)) }
}
