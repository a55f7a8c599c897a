//! Where this library lies on disk.
#![allow(unsafe_code)]

use crate::fmi2::fmi2GetVersion;
#[cfg(unix)]
use crate::pointers::text;
#[cfg(unix)]
use std::ffi::c_char;
use std::ffi::c_void;
use std::path::PathBuf;
use std::ptr;

/// The folder of this library's own FMU, for importers that give no resource location.
pub fn own_resources() -> Option<PathBuf> {
    // binaries/<platform>/<library>
    Some(own_library()?.ancestors().nth(3)?.join("resources"))
}

#[cfg(unix)]
fn own_library() -> Option<PathBuf> {
    #[repr(C)]
    struct DlInfo {
        file: *const c_char,
        base: *mut c_void,
        symbol: *const c_char,
        address: *mut c_void,
    }
    unsafe extern "C" {
        fn dladdr(address: *const c_void, info: *mut DlInfo) -> i32;
    }
    let mut info =
        DlInfo { file: ptr::null(), base: ptr::null_mut(), symbol: ptr::null(), address: ptr::null_mut() };
    // SAFETY: an address inside this library; the linker owns the name that it returns.
    let file = unsafe {
        if dladdr(fmi2GetVersion as *const c_void, &raw mut info) == 0 {
            return None;
        }
        text(info.file)?
    };
    std::fs::canonicalize(file.to_str().ok()?).ok()
}

#[cfg(windows)]
fn own_library() -> Option<PathBuf> {
    use std::os::windows::ffi::OsStringExt;
    const FROM_ADDRESS_UNCOUNTED: u32 = 4 | 2;
    #[link(name = "kernel32")]
    unsafe extern "system" {
        fn GetModuleHandleExW(flags: u32, address: *const c_void, module: *mut *mut c_void) -> i32;
        fn GetModuleFileNameW(module: *mut c_void, name: *mut u16, size: u32) -> u32;
    }
    let (mut module, mut name) = (ptr::null_mut(), vec![0; 32_768]); // the longest path that Windows has
    // SAFETY: an address inside this library, and a buffer of the given length.
    let length = unsafe {
        if GetModuleHandleExW(FROM_ADDRESS_UNCOUNTED, fmi2GetVersion as *const c_void, &raw mut module) == 0 {
            return None;
        }
        GetModuleFileNameW(module, name.as_mut_ptr(), name.len() as u32)
    };
    let name = name.get(..length as usize).filter(|name| !name.is_empty())?;
    Some(std::ffi::OsString::from_wide(name).into())
}
