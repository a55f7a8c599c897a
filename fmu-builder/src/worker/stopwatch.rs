//! The time of a step, told apart: what it computed, and how long it waited for the processor.
//!
//! On a machine that does other things besides, the longest of many steps is one that the system interrupted. The thread's own
//! processor time does not run meanwhile, so that the difference of the two clocks is what the machine took.

use super::timing::clock_price;
use crate::findings::Took;
use crate::system;
use std::time::Instant;

/// Both clocks, and what reading them costs.
pub struct Stopwatch {
    wall: f64,
    thread: Option<f64>,
}

impl Stopwatch {
    pub fn new() -> Stopwatch {
        let reading = || {
            let begin = system::thread_time()?;
            Some((system::thread_time()? - begin).as_secs_f64())
        };
        let thread = (0..100).filter_map(|_| reading()).min_by(f64::total_cmp);
        Stopwatch { wall: clock_price(), thread }
    }

    /// Time one step. The thread's clock is read outside the other: it is the slower one to read.
    pub fn time<T>(&self, step: impl FnOnce() -> T) -> (T, Took) {
        let before = self.thread.and_then(|_| system::thread_time());
        let begin = Instant::now();
        let answer = step();
        let wall = (begin.elapsed().as_secs_f64() - self.wall).max(0.0);
        let computing = before.zip(self.thread).and_then(|(before, price)| {
            let took = system::thread_time()?.checked_sub(before)?.as_secs_f64();
            Some((took - price).clamp(0.0, wall))
        });
        (answer, Took { wall, computing })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A step that sleeps does not compute.
    #[cfg(target_os = "linux")]
    #[test]
    fn sleep_is_waiting() {
        let nap = std::time::Duration::from_millis(5);
        let (_, took) = Stopwatch::new().time(|| std::thread::sleep(nap));
        assert!(took.wall >= 4.9e-3, "{took:?}");
        assert!(took.computing.is_some_and(|computing| computing < 0.5 * took.wall), "{took:?}");
    }
}
