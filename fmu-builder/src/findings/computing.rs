//! What of the steps' time was computing, and what the machine took.

use crate::quantity::format_duration;
use crate::summary::count;
use serde::{Deserialize, Serialize};

/// Seconds without the processor from which on a step was interrupted; less is what reading two clocks may differ by.
const INTERRUPTED: f64 = 20e-6;

/// Seconds that something took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Took {
    pub wall: f64,
    /// Of that, with the processor. `None`: the system does not tell.
    pub computing: Option<f64>,
}

/// What of all steps was computing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Computing {
    /// The longest that a step computed, nanoseconds.
    pub longest_ns: f64,
    /// Steps in which the machine took the processor away, and for how long at most.
    pub interrupted_steps: u64,
    pub longest_wait_ns: f64,
}

impl Computing {
    /// Of steps whose computing time is known.
    pub fn of(steps: impl Iterator<Item = Took>) -> Option<Computing> {
        let mut found: Option<Computing> = None;
        for Took { wall, computing } in steps {
            let computing = computing?;
            let all = found.get_or_insert_default();
            all.longest_ns = all.longest_ns.max(1e9 * computing);
            let wait = wall - computing;
            if wait > INTERRUPTED {
                all.interrupted_steps += 1;
                all.longest_wait_ns = all.longest_wait_ns.max(1e9 * wait);
            }
        }
        found
    }

    /// Seconds that the longest step computed.
    pub fn longest(&self) -> f64 {
        1e-9 * self.longest_ns
    }

    /// "3.1 µs of computing; the machine took the processor away in 1 step, for up to 20 ms".
    pub fn text(&self) -> String {
        let interrupted = match self.interrupted_steps {
            0 => String::new(),
            steps => format!(
                "; the machine took the processor away in {}, for up to {}",
                count(steps as usize, "step"),
                format_duration(1e-9 * self.longest_wait_ns)
            ),
        };
        format!("{} of computing{interrupted}", format_duration(self.longest()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 20 ms in a step that computed 3.1 µs are the machine's; two clocks that differ by 5 µs are not.
    #[test]
    fn waiting_is_not_computing() {
        let took = |wall, computing| Took { wall, computing: Some(computing) };
        let steps = [took(2e-6, 2e-6), took(20.0031e-3, 3.1e-6), took(8e-6, 3e-6)];
        let found = Computing::of(steps.into_iter()).unwrap_or_default();
        assert_eq!(found.interrupted_steps, 1);
        assert!((found.longest_ns - 3100.0).abs() < 1e-6 && (found.longest_wait_ns - 20e6).abs() < 1e-3);
        let text = "3.1 µs of computing; the machine took the processor away in 1 step, for up to 20 ms";
        assert_eq!(found.text(), text);
        assert_eq!(Computing::of([Took { wall: 1.0, computing: None }].into_iter()), None);
        assert_eq!(Computing::of(std::iter::empty()), None);
    }
}
