//! A number that two processes share, by way of a file: it survives the end of either.
#![allow(unsafe_code)]

use rustix::mm::{MapFlags, ProtFlags, mmap};
use std::fs::File;
use std::sync::atomic::AtomicU32;

/// The first four bytes of the file, for the life of this process; `None` where the system does not let us.
pub fn share_word(file: &File) -> Option<&'static AtomicU32> {
    let size = size_of::<AtomicU32>();
    // Beyond the end of the file there is nothing to write to.
    if file.metadata().ok()?.len() < size as u64 {
        return None;
    }
    // SAFETY: a new mapping, where the system finds room for it. It is never unmapped, is aligned to a page,
    // and every access to it is atomic.
    unsafe {
        let memory =
            mmap(std::ptr::null_mut(), size, ProtFlags::READ | ProtFlags::WRITE, MapFlags::SHARED, file, 0)
                .ok()?;
        memory.cast::<AtomicU32>().as_ref()
    }
}
