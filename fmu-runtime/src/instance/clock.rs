//! The host's clock against ours.
//!
//! We count, t = base + count h; hosts do as they like. Many sum t += H, which is off by 1 % of a step after 54 million
//! steps of 10 µs; some step with 1/60 s an FMU that was built for 0.016 666 67 s; some have a clock in single
//! precision. Which communication point is accepted:
//!
//! 1. **ours**, to within [`NOISE`] h or a few ulps: nothing happens, our grid stays;
//! 2. **the host's own**: its last point plus its last step, to within a few ulps. The host is consistent with itself, so
//!    we follow its grid: our time becomes its time, which moves it by less than the host's rounding of one step;
//! 3. **near ours**, to within [`COARSE`] h: a coarse clock. It is accepted, and does not move our grid.
//!
//! Any other is refused: at t = 1.7e9 a point that is wrong by a second is wrong.
//!
//! A step that ends where we are, to within the noise of 1, is a residue of the host's rounding and needs no step.

use serde::{Deserialize, Serialize};

/// What the host asked for last, and until when it will ask.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Clock {
    /// Where the host's last step ended by its own account.
    end: Option<f64>,
    /// `fmi2SetupExperiment`'s, if it was defined.
    pub stop: Option<f64>,
}

/// What to do about a communication point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Verdict {
    /// Go on from our time.
    Ours,
    /// Our time becomes the host's.
    Follow,
    Refuse,
}

/// Part of h that is rounding noise.
pub(super) const NOISE: f64 = 1e-6;
/// Part of h by which a coarse clock may differ.
const COARSE: f64 = 0.01;
/// Rounding errors in a host's sum of a point and a step.
const ULPS: f64 = 4.0;

/// Largest difference near `time` that rounding explains.
pub(super) fn rounding(time: f64) -> f64 {
    ULPS * f64::EPSILON * time.abs()
}

impl Clock {
    /// The host says that it is `time`; we say `here`.
    pub fn judge(&self, time: f64, here: f64, h: f64) -> Verdict {
        let off = (time - here).abs();
        let rounding = rounding(time);
        let continues = self.end.is_some_and(|end| (time - end).abs() <= rounding);
        if off <= NOISE * h + rounding {
            Verdict::Ours
        } else if continues {
            Verdict::Follow
        } else if off <= COARSE * h + rounding {
            Verdict::Ours
        } else {
            Verdict::Refuse // NaN as well
        }
    }

    /// The host took a step.
    pub fn note(&mut self, time: f64, length: f64) {
        self.end = Some(time + length);
    }

    /// A step that begins here begins beyond the stop time.
    pub fn is_over(&self, time: f64, h: f64) -> bool {
        self.stop.is_some_and(|stop| time > stop + NOISE * h + rounding(time))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Drive our counted clock with a host's for `steps` steps; the step that is refused.
    fn refused(
        h: f64,
        host_step: f64,
        start: f64,
        steps: u64,
        point: impl Fn(f64, u64) -> f64,
    ) -> Option<u64> {
        let (mut clock, mut base, mut count, mut time) = (Clock::default(), start, 0u64, start);
        for k in 0..steps {
            let here = base + count as f64 * h;
            match clock.judge(time, here, h) {
                Verdict::Ours => {}
                Verdict::Follow => (base, count) = (time, 0),
                Verdict::Refuse => return Some(k),
            }
            clock.note(time, host_step);
            count += 1;
            time = point(time, k + 1);
        }
        None
    }

    /// Nine minutes at 10 µs: 54 million steps, summed.
    #[test]
    fn a_host_that_sums_its_time_is_followed() {
        assert_eq!(refused(1e-5, 1e-5, 0.0, 60_000_000, |time, _| time + 1e-5), None);
        assert_eq!(refused(1e-3, 1e-3, 1.7e9, 1_000_000, |time, _| time + 1e-3), None);
    }

    /// 1/60 s against 0.01666667 s: one step in 5 million, gone after 838 s.
    #[test]
    fn a_host_with_another_rounding_of_the_step_is_followed() {
        let host = 1.0 / 60.0;
        assert_eq!(refused(0.016_666_67, host, 0.0, 1_000_000, |_, k| k as f64 * host), None);
        assert_eq!(refused(0.016_666_67, host, 0.0, 1_000_000, |time, _| time + host), None);
    }

    #[test]
    fn a_coarse_clock_is_accepted_while_it_is_near() {
        assert_eq!(refused(0.01, 0.01, 0.0, 100_000, |_, k| (k as f64 * 0.01) as f32 as f64), None);
    }

    #[test]
    fn a_wrong_point_is_refused() {
        let mut clock = Clock::default();
        clock.note(1.7e9, 1e-3);
        for wrong in [1.6, -1.6, 1e-3, 0.1e-3] {
            assert_eq!(clock.judge(1.7e9 + 1e-3 + wrong, 1.7e9 + 1e-3, 1e-3), Verdict::Refuse, "{wrong}");
        }
        assert_eq!(clock.judge(f64::NAN, 1.7e9, 1e-3), Verdict::Refuse);
        // A host that repeats a point, or leaves one out.
        clock.note(0.0, 0.1);
        assert_eq!(clock.judge(0.0, 0.1, 0.1), Verdict::Refuse);
        assert_eq!(clock.judge(0.2, 0.1, 0.1), Verdict::Refuse);
    }

    /// One step beyond the stop time may begin at it, none behind it.
    #[test]
    fn the_stop_time_is_the_last_point() {
        let clock = Clock { stop: Some(1.0), ..Clock::default() };
        assert!(!clock.is_over(1.0, 0.1) && !clock.is_over(1.0 + 1e-9, 0.1));
        assert!(clock.is_over(1.05, 0.1) && clock.is_over(1.1, 0.1));
        assert!(!Clock::default().is_over(1e9, 0.1));
    }
}
