//! Every request of this library for memory, counted, so that steps can be shown to make none.
#![allow(unsafe_code)]

use fmu_runtime::memory;
use std::alloc::{GlobalAlloc, Layout, System};

/// The system's allocator, counted.
struct Counting;

// SAFETY: everything is handed on to `System`, which keeps the contract.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        memory::note();
        // SAFETY: promised by the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        memory::note();
        // SAFETY: promised by the caller.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        memory::note();
        // SAFETY: promised by the caller.
        unsafe { System.realloc(pointer, layout, size) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: promised by the caller.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[cfg(test)]
mod tests {
    use fmu_runtime::memory::requests;

    #[test]
    fn a_box_is_a_request() {
        let before = requests();
        let _kept = std::hint::black_box(Box::new(1));
        assert_eq!(requests(), before + 1);
    }
}
