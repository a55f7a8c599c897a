//! The C functions of FMI 3.0 that a Co-Simulation FMU without Event Mode, clocks and structural parameters has no use for. They
//! are there, because importers refuse a library that lacks one; a call is an error with a message and changes nothing.
//!
//! Arguments behind the instance are not looked at. On every platform that FMUs are made for, it is the caller who clears
//! them away, so that they need not be named.
#![allow(unsafe_code, non_snake_case)]

use super::guard;
use super::host::{LogMessage, Logger};
use fmu_runtime::component::Importer;
use fmu_runtime::status::Status;
use std::ffi::{c_char, c_void};
use std::ptr;

macro_rules! refused {
    ($($why:literal: $($name:ident)*;)*) => {$($(
        /// # Safety
        /// `c` is null or came from `fmi3InstantiateCoSimulation`, and no other call on it is running.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name(c: *mut c_void) -> Status {
            // SAFETY: promised by the caller.
            unsafe { guard(c, |it| it.instance.refuse(format_args!(concat!(stringify!($name), ": ", $why)))) }
        }
    )*)*};
}

refused! {
    "this FMU is for Co-Simulation only":
        fmi3EnterContinuousTimeMode fmi3CompletedIntegratorStep fmi3SetTime fmi3SetContinuousStates
        fmi3GetContinuousStateDerivatives fmi3GetEventIndicators fmi3GetContinuousStates
        fmi3GetNominalsOfContinuousStates fmi3GetNumberOfEventIndicators fmi3GetNumberOfContinuousStates
        fmi3ActivateModelPartition;
    "this FMU has no Event Mode (hasEventMode is false)":
        fmi3EnterEventMode fmi3EnterStepMode fmi3EvaluateDiscreteStates fmi3UpdateDiscreteStates;
    "this FMU has no clocks":
        fmi3GetClock fmi3SetClock fmi3GetIntervalDecimal fmi3GetIntervalFraction fmi3GetShiftDecimal
        fmi3GetShiftFraction fmi3SetIntervalDecimal fmi3SetIntervalFraction fmi3SetShiftDecimal fmi3SetShiftFraction;
    "this FMU has no variables of type Binary":
        fmi3GetBinary fmi3SetBinary;
    "the sizes of arrays were fixed when this FMU was built":
        fmi3EnterConfigurationMode fmi3ExitConfigurationMode;
    "this FMU provides no adjoint derivatives":
        fmi3GetAdjointDerivative;
    "dependencies do not change (providesPerElementDependencies is false)":
        fmi3GetNumberOfVariableDependencies fmi3GetVariableDependencies;
}

/// # Safety
/// As FMI 3.0 prescribes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3InstantiateModelExchange(
    _instance_name: *const c_char,
    _token: *const c_char,
    _resource_path: *const c_char,
    _visible: u8,
    _logging_on: u8,
    environment: *mut c_void,
    log_message: Option<LogMessage>,
) -> *mut c_void {
    refuse(Logger { environment, log_message })
}

/// # Safety
/// As FMI 3.0 prescribes.
#[unsafe(no_mangle)]
#[allow(clippy::too_many_arguments)] // FMI's
pub unsafe extern "C" fn fmi3InstantiateScheduledExecution(
    _instance_name: *const c_char,
    _token: *const c_char,
    _resource_path: *const c_char,
    _visible: u8,
    _logging_on: u8,
    environment: *mut c_void,
    log_message: Option<LogMessage>,
    _clock_update: *const c_void,
    _lock_preemption: *const c_void,
    _unlock_preemption: *const c_void,
) -> *mut c_void {
    refuse(Logger { environment, log_message })
}

fn refuse(logger: Logger) -> *mut c_void {
    let message = format_args!("this FMU is for Co-Simulation only");
    logger.log(c"", Status::Error, c"logStatusError", message);
    ptr::null_mut()
}
