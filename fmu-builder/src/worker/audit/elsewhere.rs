//! Where nothing can be interposed: nothing is counted.

pub const KINDS: [&str; 0] = [];
pub const SEES_DENORMALS: bool = false;

pub struct Seen {
    pub memory: [u64; 0],
    pub denormals: bool,
}

pub fn interpose() -> bool {
    false
}

pub fn watch<T>(call: impl FnOnce() -> T) -> (T, Seen) {
    (call(), Seen { memory: [], denormals: false })
}

pub fn page_faults() -> u64 {
    0
}
