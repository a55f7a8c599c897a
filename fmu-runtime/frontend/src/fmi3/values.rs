//! The C functions that read and set values, of each type. The contract is that of `fmi3`.
#![allow(unsafe_code, non_snake_case)]

use super::guard;
use super::shell::Flag;
use crate::pointers::{input, output, text};
use fmu_runtime::status::Status;
use std::ffi::{CStr, CString, c_char, c_void};

macro_rules! accessors {
    ($($get:ident, $set:ident, $type:ty, $read:ident, $write:ident;)*) => {$(
        /// # Safety
        /// `references` points to `n` elements, `values` to `n_values`.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $get(
            c: *mut c_void,
            references: *const u32,
            n: usize,
            values: *mut $type,
            n_values: usize,
        ) -> Status {
            // SAFETY: promised by the caller.
            let (Some(references), Some(values)) =
                (unsafe { (input(references, n), output(values, n_values)) })
            else {
                return Status::Error;
            };
            // SAFETY: likewise.
            unsafe { guard(c, |it| it.$read(references, values)) }
        }

        /// # Safety
        /// `references` points to `n` elements, `values` to `n_values`.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $set(
            c: *mut c_void,
            references: *const u32,
            n: usize,
            values: *const $type,
            n_values: usize,
        ) -> Status {
            // SAFETY: promised by the caller.
            let (Some(references), Some(values)) =
                (unsafe { (input(references, n), input(values, n_values)) })
            else {
                return Status::Error;
            };
            // SAFETY: likewise.
            unsafe { guard(c, |it| it.$write(references, values)) }
        }
    )*};
}

accessors! {
    fmi3GetFloat32, fmi3SetFloat32, f32, get, set;
    fmi3GetFloat64, fmi3SetFloat64, f64, get_reals, set_reals;
    fmi3GetInt8, fmi3SetInt8, i8, get, set;
    fmi3GetUInt8, fmi3SetUInt8, u8, get, set;
    fmi3GetInt16, fmi3SetInt16, i16, get, set;
    fmi3GetUInt16, fmi3SetUInt16, u16, get, set;
    fmi3GetInt32, fmi3SetInt32, i32, get, set;
    fmi3GetUInt32, fmi3SetUInt32, u32, get, set;
    fmi3GetInt64, fmi3SetInt64, i64, get, set;
    fmi3GetUInt64, fmi3SetUInt64, u64, get, set;
    fmi3GetBoolean, fmi3SetBoolean, Flag, get, set;
}

/// # Safety
/// `references` points to `n` elements, `values` to `n_values`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3GetString(
    c: *mut c_void,
    references: *const u32,
    n: usize,
    values: *mut *const c_char,
    n_values: usize,
) -> Status {
    // SAFETY: promised by the caller.
    let (Some(references), Some(values)) = (unsafe { (input(references, n), output(values, n_values)) })
    else {
        return Status::Error;
    };
    // SAFETY: likewise.
    unsafe { guard(c, |it| it.get_texts(references, values)) }
}

/// # Safety
/// `references` points to `n` elements, `values` to `n_values` C strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn fmi3SetString(
    c: *mut c_void,
    references: *const u32,
    n: usize,
    values: *const *const c_char,
    n_values: usize,
) -> Status {
    // SAFETY: promised by the caller.
    let (Some(references), Some(values)) = (unsafe { (input(references, n), input(values, n_values)) })
    else {
        return Status::Error;
    };
    // SAFETY: likewise.
    let texts: Option<Vec<CString>> =
        values.iter().map(|&value| unsafe { text(value) }.map(CStr::to_owned)).collect();
    let Some(texts) = texts else { return Status::Error };
    // SAFETY: likewise.
    unsafe { guard(c, |it| it.set_texts(references, &texts)) }
}
