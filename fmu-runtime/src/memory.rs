//! Requests for memory are counted, so that anyone can see that steps make none.

use std::cell::Cell;

thread_local! {
    static REQUESTS: Cell<u64> = const { Cell::new(0) };
}

/// Requests of this thread so far.
pub fn requests() -> u64 {
    REQUESTS.try_with(Cell::get).unwrap_or(0)
}

/// The allocator was asked.
pub(crate) fn note() {
    let _ = REQUESTS.try_with(|requests| requests.set(requests.get() + 1));
}

#[cfg(test)]
mod tests {
    use super::requests;

    #[test]
    fn a_box_is_a_request() {
        let before = requests();
        let _kept = std::hint::black_box(Box::new(1));
        assert_eq!(requests(), before + 1);
    }
}
