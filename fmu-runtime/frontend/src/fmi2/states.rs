//! The C functions that save, restore and serialise an FMU's state. The contract is that of `fmi2`.
#![allow(unsafe_code, non_snake_case)]

use super::guard;
use crate::pointers::{input, output};
use fmu_runtime::status::Status;
use std::ffi::{c_char, c_void};
use std::ptr;

/// # Safety
/// `state` points to null or to a state that this instance gave out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2GetFMUstate(c: *mut c_void, state: *mut *mut c_void) -> Status {
    // SAFETY: promised by the caller.
    let Some(state) = (unsafe { state.as_mut() }) else { return Status::Error };
    // SAFETY: promised by the caller.
    unsafe {
        guard(c, |it| {
            let handle = (!state.is_null()).then_some(*state as usize);
            match it.save(handle) {
                Ok(handle) => {
                    *state = handle as *mut c_void;
                    Status::Ok
                }
                Err(status) => status,
            }
        })
    }
}

/// # Safety
/// `c` is null or came from `fmi2Instantiate`, and no other call on it is running.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SetFMUstate(c: *mut c_void, state: *mut c_void) -> Status {
    // SAFETY: promised by the caller.
    unsafe { guard(c, |it| it.restore(state as usize)) }
}

/// # Safety
/// `state` is null or points to null or to a state that this instance gave out.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2FreeFMUstate(c: *mut c_void, state: *mut *mut c_void) -> Status {
    // SAFETY: promised by the caller.
    let Some(state) = (unsafe { state.as_mut() }) else { return Status::Ok };
    if state.is_null() {
        return Status::Ok;
    }
    // SAFETY: promised by the caller.
    unsafe {
        guard(c, |it| {
            let status = it.free_saved(*state as usize);
            if status.is_usable() {
                *state = ptr::null_mut();
            }
            status
        })
    }
}

/// # Safety
/// `size` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SerializedFMUstateSize(
    c: *mut c_void,
    state: *mut c_void,
    size: *mut usize,
) -> Status {
    // SAFETY: promised by the caller.
    let Some(size) = (unsafe { size.as_mut() }) else { return Status::Error };
    // SAFETY: promised by the caller.
    unsafe {
        guard(c, |it| match it.serialize(state as usize) {
            Ok(bytes) => {
                *size = bytes.len();
                Status::Ok
            }
            Err(status) => status,
        })
    }
}

/// # Safety
/// `bytes` points to `size` writable bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2SerializeFMUstate(
    c: *mut c_void,
    state: *mut c_void,
    bytes: *mut c_char,
    size: usize,
) -> Status {
    // SAFETY: promised by the caller.
    let Some(bytes) = (unsafe { output(bytes.cast::<u8>(), size) }) else { return Status::Error };
    // SAFETY: promised by the caller.
    unsafe {
        guard(c, |it| match it.serialize(state as usize) {
            Ok(serialized) if serialized.len() <= bytes.len() => {
                bytes[..serialized.len()].copy_from_slice(&serialized);
                Status::Ok
            }
            Ok(_) => Status::Error,
            Err(status) => status,
        })
    }
}

/// # Safety
/// `bytes` points to `size` bytes, `state` is null or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi2DeSerializeFMUstate(
    c: *mut c_void,
    bytes: *const c_char,
    size: usize,
    state: *mut *mut c_void,
) -> Status {
    // SAFETY: promised by the caller.
    let (Some(bytes), Some(state)) = (unsafe { (input(bytes.cast::<u8>(), size), state.as_mut()) }) else {
        return Status::Error;
    };
    // SAFETY: promised by the caller.
    unsafe {
        guard(c, |it| match it.deserialize(bytes) {
            Ok(handle) => {
                *state = handle as *mut c_void;
                Status::Ok
            }
            Err(status) => status,
        })
    }
}
