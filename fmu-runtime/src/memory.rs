//! Requests for memory are counted, so that anyone can see that steps make none. The count is kept by the allocator of
//! the library that goes into FMUs (`frontend`); in a program with another allocator it stays 0.

use std::cell::Cell;

thread_local! {
    static REQUESTS: Cell<u64> = const { Cell::new(0) };
}

/// Requests of this thread so far.
pub fn requests() -> u64 {
    REQUESTS.try_with(Cell::get).unwrap_or(0)
}

/// The allocator was asked.
pub fn note() {
    let _ = REQUESTS.try_with(|requests| requests.set(requests.get() + 1));
}
