//! From C to Rust: pointers become slices and texts, a component becomes what it points to, and no panic goes back.
#![allow(unsafe_code)]

use fmu_runtime::fmi::Fmu2;
use fmu_runtime::status::Status;
use std::ffi::{CStr, c_char, c_void};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

/// The exported FMU.
pub type Instance = fmu_runtime::instance::Instance<Fmu2>;

/// What a host's pointer leads to.
pub trait Guarded {
    fn instance(&mut self) -> &mut Instance;
}

impl Guarded for Instance {
    fn instance(&mut self) -> &mut Instance {
        self
    }
}

/// A panic reaching C would abort the host. It becomes a fatal failure instead, now and on every later call.
///
/// # Safety
/// `component` is null or was made by the instantiation as a `T`, and no other call on it is running.
pub unsafe fn guard<T: Guarded>(component: *mut c_void, call: impl FnOnce(&mut T) -> Status) -> Status {
    // SAFETY: promised by the caller.
    let Some(component) = (unsafe { component.cast::<T>().as_mut() }) else { return Status::Error };
    if component.instance().poisoned() {
        return Status::Fatal;
    }
    catch_unwind(AssertUnwindSafe(|| call(component))).unwrap_or_else(|_| {
        component.instance().poison();
        Status::Fatal
    })
}

/// `length` elements at `pointer`. Null is fine for none, and `None` otherwise.
///
/// # Safety
/// A pointer that is not null points to `length` elements that nobody writes while the slice lives.
pub unsafe fn input<'a, T>(pointer: *const T, length: usize) -> Option<&'a [T]> {
    match (pointer.is_null(), length) {
        (_, 0) => Some(&[]),
        (true, _) => None,
        // SAFETY: promised by the caller.
        (false, _) => Some(unsafe { slice::from_raw_parts(pointer, length) }),
    }
}

/// Likewise, to be written.
///
/// # Safety
/// As [`input`], and nobody else reads them either.
pub unsafe fn output<'a, T>(pointer: *mut T, length: usize) -> Option<&'a mut [T]> {
    match (pointer.is_null(), length) {
        (_, 0) => Some(&mut []),
        (true, _) => None,
        // SAFETY: promised by the caller.
        (false, _) => Some(unsafe { slice::from_raw_parts_mut(pointer, length) }),
    }
}

/// # Safety
/// Null or a C string.
pub unsafe fn text<'a>(pointer: *const c_char) -> Option<&'a CStr> {
    // SAFETY: promised by the caller.
    (!pointer.is_null()).then(|| unsafe { CStr::from_ptr(pointer) })
}

/// Room for `count` Booleans, which C has as integers; on the stack unless there are many.
pub fn with_booleans<T>(count: usize, work: impl FnOnce(&mut [bool]) -> T) -> T {
    const FEW: usize = 64;
    match count {
        0..=FEW => work(&mut [false; FEW][..count]),
        _ => work(&mut vec![false; count]),
    }
}
