//! Random changes from a seed, and the loop that tries as many as it is asked to.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Instant;
use tempfile::TempDir;

/// Marsaglia's xorshift64*: the same seed, the same changes.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    /// From 0 to `count` - 1; 0 for an empty range.
    pub fn below(&mut self, count: usize) -> usize {
        ((self.next() >> 33) as usize) % count.max(1)
    }

    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> &'a T {
        &from[self.below(from.len())]
    }
}

/// A whole number from the environment.
fn asked(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}

/// In memory, where the system has such a folder: the targets that read files would otherwise wait for the disk.
pub fn folder() -> TempDir {
    TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap()
}

/// Try `target` with one random number generator after the other: `runs` of them, or as many as `FMU_BUILD_FUZZ_RUNS` asks for. A
/// panic is a finding: the number that leads to it is printed, and `FMU_BUILD_FUZZ_SEED` tries it alone.
pub fn fuzz(name: &str, runs: u64, mut target: impl FnMut(&mut Random) -> bool) {
    let only = asked("FMU_BUILD_FUZZ_SEED");
    let runs = asked("FMU_BUILD_FUZZ_RUNS").unwrap_or(runs);
    let seeds = only.map_or(0..runs, |seed| seed..seed + 1);
    let begin = Instant::now();
    let mut accepted = 0u64;
    for seed in seeds {
        match catch_unwind(AssertUnwindSafe(|| target(&mut Random::new(seed)))) {
            Ok(taken) => accepted += u64::from(taken),
            Err(_) => panic!("{name}: FMU_BUILD_FUZZ_SEED={seed} fails"),
        }
        let tried = seed + 1;
        if tried == runs || tried.is_multiple_of(500_000) {
            let seconds = begin.elapsed().as_secs_f64();
            println!("fuzz {name}: {tried} tried, {accepted} accepted, {seconds:.0} s");
        }
    }
    // A harness that never gets past the first check would find nothing.
    assert!(only.is_some() || accepted > 0, "{name}: nothing was ever accepted");
}

/// Up to eight small changes to the bytes of one of the `corpus`, with words that matter to the format.
pub fn bytes(random: &mut Random, corpus: &[Vec<u8>], words: &[&str]) -> Vec<u8> {
    let mut bytes = random.pick(corpus).clone();
    for _ in 0..random.below(8) {
        let at = random.below(bytes.len() + 1);
        let end = (at + random.below(8)).min(bytes.len());
        match random.below(7) {
            0 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
            1 if at < bytes.len() => bytes[at] = random.next() as u8,
            2 => drop(bytes.drain(at..end)),
            3 => drop(bytes.splice(at..at, random.pick(words).bytes())),
            4 => drop(bytes.splice(at..end, random.pick(words).bytes())),
            5 => {
                // A piece of another one, or of itself.
                let other = random.pick(corpus);
                let from = random.below(other.len());
                let piece = other[from..(from + random.below(64)).min(other.len())].to_vec();
                drop(bytes.splice(at..end, piece));
            }
            _ => bytes.truncate(if random.below(20) == 0 { at } else { bytes.len() }),
        }
    }
    bytes
}
