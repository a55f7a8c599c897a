//! When the model's input clocks tick: time events at their exact instants.
//!
//! Ticks of a clock with a fixed interval are counted, start + shift + k · interval, never added up.

use fmi3_types::IntervalQualifier;
use stepper::plan::{Clock, Interval};

/// The clocks of one instance.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clocks {
    all: Vec<Ticking>,
}

#[derive(Clone, Copy, Debug, PartialEq)]
struct Ticking {
    clock: Clock,
    /// Seconds between ticks, where that is known.
    interval: f64,
    /// The time of tick 0, and how many ticks there were.
    first: f64,
    ticks: u64,
    /// The next tick; infinite where none is known.
    next: f64,
}

/// Bytes that a saved state has for each clock.
const SAVED: usize = 32;

impl Clocks {
    pub fn new(clocks: &[Clock]) -> Clocks {
        let ticking = |&clock: &Clock| Ticking {
            clock,
            interval: f64::NAN,
            first: f64::INFINITY,
            ticks: 0,
            next: f64::INFINITY,
        };
        Clocks { all: clocks.iter().map(ticking).collect() }
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The model is initialised at `start`. `ask` gives a clock's interval and shift in seconds.
    pub fn start(&mut self, start: f64, mut ask: impl FnMut(u32) -> Option<(f64, f64)>) -> Result<(), u32> {
        for it in &mut self.all {
            let (interval, shift) = match it.clock.interval {
                Interval::Constant(interval) => (interval, it.clock.shift),
                Interval::Asked | Interval::Changing => {
                    let asked = ask(it.clock.reference).filter(|(interval, shift)| {
                        interval.is_finite() && *interval > 0.0 && shift.is_finite() && *shift >= 0.0
                    });
                    asked.ok_or(it.clock.reference)?
                }
                // Told after the first event.
                Interval::Countdown => (f64::NAN, f64::INFINITY),
            };
            (it.interval, it.ticks) = (interval, 0);
            it.first = start + shift;
            it.next = it.first;
        }
        Ok(())
    }

    /// Clocks that tick at `time`, which count as ticked from now on.
    pub fn tick(&mut self, time: f64, mut active: impl FnMut(u32)) {
        for it in self.all.iter_mut().filter(|it| it.next <= time) {
            active(it.clock.reference);
            it.ticks += 1;
            it.next = match it.clock.interval {
                Interval::Constant(_) | Interval::Asked => it.first + it.ticks as f64 * it.interval,
                Interval::Changing | Interval::Countdown => f64::INFINITY,
            };
        }
    }

    /// After an event at `time`: ask the clocks whose interval the model tells anew.
    pub fn ask(&mut self, time: f64, mut ask: impl FnMut(u32) -> Option<(f64, IntervalQualifier)>) {
        for it in &mut self.all {
            let asked = match it.clock.interval {
                Interval::Countdown => true,
                // Only after its tick.
                Interval::Changing => it.next == f64::INFINITY,
                _ => false,
            };
            if !asked {
                continue;
            }
            match ask(it.clock.reference) {
                Some((interval, IntervalQualifier::Changed)) if interval >= 0.0 => it.next = time + interval,
                Some((interval, IntervalQualifier::Unchanged))
                    if it.clock.interval == Interval::Changing && interval > 0.0 =>
                {
                    it.next = time + interval;
                }
                _ => {}
            }
        }
    }

    /// The next tick of any clock.
    pub fn next(&self) -> Option<f64> {
        let next = self.all.iter().map(|it| it.next).fold(f64::INFINITY, f64::min);
        next.is_finite().then_some(next)
    }

    pub fn saved_size(&self) -> usize {
        SAVED * self.all.len()
    }

    /// The schedule as bytes; `to` has room for `saved_size`.
    pub fn save(&self, to: &mut [u8]) {
        for (it, to) in self.all.iter().zip(to.chunks_exact_mut(SAVED)) {
            to[..8].copy_from_slice(&it.interval.to_le_bytes());
            to[8..16].copy_from_slice(&it.first.to_le_bytes());
            to[16..24].copy_from_slice(&it.ticks.to_le_bytes());
            to[24..].copy_from_slice(&it.next.to_le_bytes());
        }
    }

    /// The schedule from bytes that `save` wrote.
    pub fn restore(&mut self, from: &[u8]) {
        let eight = |from: &[u8]| from.try_into().unwrap_or([0; 8]);
        for (it, from) in self.all.iter_mut().zip(from.chunks_exact(SAVED)) {
            it.interval = f64::from_le_bytes(eight(&from[..8]));
            it.first = f64::from_le_bytes(eight(&from[8..16]));
            it.ticks = u64::from_le_bytes(eight(&from[16..24]));
            it.next = f64::from_le_bytes(eight(&from[24..]));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(interval: Interval, shift: f64) -> Clock {
        Clock { reference: 7, interval, shift }
    }

    /// The k-th tick is at start + shift + k · interval, rounded once: 0.1 added a thousand times is another number.
    #[test]
    fn ticks_are_counted() {
        let mut clocks = Clocks::new(&[clock(Interval::Constant(0.1), 0.25)]);
        clocks.start(1.0, |_| None).unwrap_or_else(|it| panic!("{it}"));
        for k in 0..1000 {
            let next = clocks.next().unwrap_or(f64::NAN);
            assert_eq!(next, 1.25 + f64::from(k) * 0.1);
            let mut active = Vec::new();
            clocks.tick(next, |reference| active.push(reference));
            assert_eq!(active, [7]);
        }
    }

    #[test]
    fn a_countdown_ticks_when_the_model_says_so() {
        let mut clocks = Clocks::new(&[clock(Interval::Countdown, 0.0)]);
        clocks.start(0.0, |_| None).unwrap_or_else(|it| panic!("{it}"));
        assert_eq!(clocks.next(), None);
        clocks.ask(0.0, |_| Some((0.0, IntervalQualifier::NotYetKnown)));
        assert_eq!(clocks.next(), None);
        clocks.ask(2.0, |_| Some((0.5, IntervalQualifier::Changed)));
        assert_eq!(clocks.next(), Some(2.5));
        clocks.ask(2.2, |_| Some((0.5, IntervalQualifier::Unchanged)));
        assert_eq!(clocks.next(), Some(2.5));
        clocks.tick(2.5, |_| {});
        assert_eq!(clocks.next(), None);
    }

    #[test]
    fn a_schedule_survives_its_bytes() {
        let mut clocks = Clocks::new(&[clock(Interval::Constant(0.3), 0.0), clock(Interval::Countdown, 0.0)]);
        clocks.start(0.0, |_| None).unwrap_or_else(|it| panic!("{it}"));
        clocks.tick(0.0, |_| {});
        let mut bytes = vec![0; clocks.saved_size()];
        clocks.save(&mut bytes);
        let mut others = Clocks::new(&[clock(Interval::Constant(0.3), 0.0), clock(Interval::Countdown, 0.0)]);
        others.restore(&bytes);
        assert_eq!(others.next(), clocks.next());
    }
}
