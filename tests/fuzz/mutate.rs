//! Random changes from a seed.

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

/// In memory, where the system has such a folder: the targets that read files would otherwise wait for the
/// disk.
pub fn folder() -> TempDir {
    TempDir::new_in("/dev/shm").or_else(|_| TempDir::new()).unwrap()
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
