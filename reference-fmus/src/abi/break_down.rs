//! What the models `broken:*` do to the process around them, where it takes more than equations.
#![allow(unsafe_code)]

use crate::models::broken::Fault;
use std::ffi::{c_char, c_int};

unsafe extern "C" {
    fn fesetround(mode: c_int) -> c_int;
    fn setlocale(category: c_int, locale: *const c_char) -> *mut c_char;
    #[cfg(unix)]
    fn write(file: c_int, bytes: *const c_char, count: usize) -> isize;
    #[cfg(unix)]
    fn sigfillset(set: *mut [u64; 16]) -> c_int;
    #[cfg(unix)]
    fn pthread_sigmask(how: c_int, set: *const [u64; 16], old: *mut [u64; 16]) -> c_int;
}

/// # Safety
/// `dx` points to `n` elements, and to one more that nobody else uses. Apart from that, what is broken is
/// broken on purpose.
pub unsafe fn break_down(fault: Fault, dx: *mut f64, n: usize) {
    // SAFETY: functions of the C library as it declares them; what is broken is broken on purpose.
    unsafe {
        match fault {
            Fault::WritesBeyond => dx.add(n).write(1e300),
            Fault::Rounding => {
                fesetround(if cfg!(target_arch = "x86_64") { 0x800 } else { 0x40_0000 });
            }
            Fault::Locale => {
                setlocale(6, c"C.UTF-8".as_ptr());
            }
            #[cfg(unix)]
            Fault::Signals => {
                let mut all = [0; 16];
                sigfillset(&mut all);
                pthread_sigmask(0, &all, std::ptr::null_mut());
            }
            #[cfg(unix)]
            Fault::WritesFiles => (0..64).filter(|fd| ![1, 2].contains(fd)).for_each(|fd| {
                write(fd, c"garbage garbage garbage".as_ptr(), 23);
            }),
            Fault::Throws => std::panic::resume_unwind(Box::new("thrown by the model")),
            _ => {}
        }
    }
}
