//! How far two trajectories lie apart, point by point, in the certificate's measure: root mean square of the deviation
//! over the communication points, divided by the quantity's range.
//!
//! The one trajectory is the FMU's, the other its twin's: the same plan with twice the step. For a method of order p the
//! twin errs by 2^p times what the FMU errs by, so that the FMU's error is the difference over 2^p - 1; near events the order
//! drops, and it is up to 1.8 times the difference. The plan's `share` says what part of the difference is told, its `bound`
//! what the error may be at most: where that is beyond the tolerance, and beyond twice what was claimed, the step counts as
//! beyond.
//!
//! A deviation counts for the whole range at most: a twin that goes astray for a while, or for good, says that much and no
//! more.
//!
//! The range is that of the given runs at build, widened by what is seen. A run that has just begun has no mean yet, and a
//! quantity that stood still in the given runs no range. Until `BEGINNING` points were seen the mean is taken over as many (a
//! single late value at the start is no error of the run), and the range that the quantity has in the middle of the verified
//! runs stands in. From then on that one fades, within as many points again, so that what runs at a hundredth of its size at
//! build is measured by itself.
//!
//! Everything is allocated by [`Measure::new`]; noting a point allocates nothing.

use crate::plan::Accuracy;
use serde::{Deserialize, Serialize};

/// Points over which the mean of a shorter run is taken.
const BEGINNING: u64 = 100;
/// What is left, from one point to the next, of the range that stands in after the beginning: a tenth after 25 points.
const FADE: f64 = 0.912_010_839_355_909_8;
/// After this many points it is a billionth, and stays: what moves less than that stands still.
const FADED: u64 = 225;
/// A quantity whose range is this part of its size stands still: it is measured by its size.
const STILL: f64 = 1e-9;
/// Deviations below this part of the size are rounding.
const ROUNDING: f64 = 1e-12;
/// The part of the points with another discrete value than the twin's at which the FMU's own may be wrong: the twin's switches are late by twice as
/// much, and where phases drift apart by more.
const DISCRETE: f64 = 0.4;
/// Larger values are cut, so that no sum of squares overflows.
const LARGEST: f64 = 1e140;

/// All that is remembered of the points so far: a part of a saved state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Measure {
    points: u64,
    quantities: Vec<Track>,
    /// Points at which each discrete output differed.
    differing: Vec<u64>,
    /// Communication steps at whose end the error was beyond the tolerance.
    beyond: u64,
    /// The worst quantity at the last point, and its error.
    worst: usize,
    error: f64,
    peak: f64,
    but_for_lateness: f64,
    /// A discrete output differed at more of the points than the tolerance allows.
    apart: bool,
}

/// One quantity.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
struct Track {
    low: f64,
    high: f64,
    size: f64,
    /// Sum of the squared deviations that were within the range of their time; of those beyond it, and their number.
    squares: f64,
    astray_squares: f64,
    astray: f64,
    /// Likewise of what is left if each value may be a point early or late: known one point later.
    squares_but: f64,
    peak: f64,
    /// The FMU's value at the last two points, the twin's at the last.
    before_last: f64,
    last: f64,
    other_last: f64,
}

impl Track {
    /// Of a quantity that was between these at build.
    fn new(low: f64, high: f64, size: f64) -> Track {
        Track {
            low,
            high,
            size: low.abs().max(high.abs()).max(size),
            squares: 0.0,
            astray_squares: 0.0,
            astray: 0.0,
            squares_but: 0.0,
            peak: 0.0,
            before_last: f64::NAN,
            last: f64::NAN,
            other_last: f64::NAN,
        }
    }

    /// A new point: the FMU's value and the twin's. `stand_in` as for `range`.
    fn note(&mut self, value: f64, other: f64, stand_in: f64) {
        if !value.is_finite() {
            return; // the model's own word, and nothing to compare
        }
        let value = value.clamp(-LARGEST, LARGEST);
        // A twin that lost its number is off by all there is.
        let other = if other.is_finite() { other.clamp(-LARGEST, LARGEST) } else { -value };
        (self.low, self.high) = (self.low.min(value), self.high.max(value));
        self.size = self.size.max(value.abs());
        let deviation = (value - other).abs();
        let range = self.range(stand_in);
        if deviation <= range {
            self.squares += deviation * deviation;
        } else {
            self.astray_squares += deviation * deviation;
            self.astray += 1.0;
        }
        self.peak = self.peak.max(deviation);
        if !self.last.is_nan() {
            // The last point once more, now that its neighbours are known.
            let before = if self.before_last.is_nan() { self.last } else { self.before_last };
            let (low, high) = (before.min(self.last).min(value), before.max(self.last).max(value));
            let rest = (self.other_last - self.other_last.clamp(low, high)).abs().min(range);
            self.squares_but += rest * rest;
        }
        (self.before_last, self.last, self.other_last) = (self.last, value, other);
    }

    /// What its deviations are divided by: `stand_in` is the range of the verified runs, as far as it still counts.
    fn range(&self, stand_in: f64) -> f64 {
        let range = (self.high - self.low).max(stand_in);
        match range > STILL * self.size {
            true => range,
            false if self.size > 0.0 => self.size,
            // Zero in every run, and now in the other trajectory something else: of what size, only its unit says.
            false => 1.0,
        }
    }

    /// The sum of the squared deviations, each of them the range at most: that of now, since a jump which the twin makes first is within the range
    /// once the FMU has made it too.
    fn sum(&self, range: f64) -> f64 {
        self.squares + self.astray_squares.min(self.astray * range * range)
    }

    fn relative(&self, deviation: f64, range: f64) -> f64 {
        if deviation <= ROUNDING * self.size { 0.0 } else { (deviation / range).min(LARGEST) }
    }
}

impl Measure {
    /// Of the plan's quantities.
    pub fn new(accuracy: &Accuracy) -> Measure {
        let Accuracy { lows, highs, sizes, integers, booleans, strings, .. } = accuracy;
        Measure {
            quantities: lows
                .iter()
                .zip(highs)
                .zip(sizes)
                .map(|((&low, &high), &size)| Track::new(low, high, size))
                .collect(),
            differing: vec![0; integers.len() + booleans.len() + strings.len()],
            ..Measure::default()
        }
    }

    /// The next communication point, after its discrete outputs. True if the error is beyond the tolerance.
    pub fn note(&mut self, accuracy: &Accuracy, values: &[f64], others: &[f64]) -> bool {
        self.points += 1;
        let fade = FADE.powi(self.points.saturating_sub(BEGINNING).min(FADED) as i32);
        let points = values.iter().zip(others).zip(&accuracy.ranges);
        for (track, ((&value, &other), range)) in self.quantities.iter_mut().zip(points) {
            track.note(value, other, fade * range);
        }
        let mean = 1.0 / self.points.max(BEGINNING) as f64;
        (self.worst, self.error, self.peak, self.but_for_lateness) = (0, 0.0, 0.0, 0.0);
        for (i, (track, range)) in self.quantities.iter().zip(&accuracy.ranges).enumerate() {
            let range = track.range(fade * range);
            let part = |deviation: f64| accuracy.share * track.relative(deviation, range);
            let error = part((track.sum(range) * mean).sqrt());
            if error > self.error {
                (self.worst, self.error) = (i, error);
            }
            self.peak = self.peak.max(part(track.peak));
            self.but_for_lateness = self.but_for_lateness.max(part((track.squares_but * mean).sqrt()));
        }
        let most = accuracy.bound / accuracy.share * self.error;
        let limit = accuracy.tolerance.max(2.0 * accuracy.claimed);
        self.apart = self.differing.iter().copied().max().unwrap_or(0) as f64 * mean > limit;
        let beyond = self.error > accuracy.tolerance || most > limit || self.apart;
        self.beyond += u64::from(beyond);
        beyond
    }

    /// A discrete output differs at the next point.
    pub fn note_difference(&mut self, output: usize) {
        if let Some(count) = self.differing.get_mut(output) {
            *count += 1;
        }
    }

    /// The largest estimated error of a quantity so far, and its index.
    pub fn error(&self) -> f64 {
        self.error
    }

    pub fn worst(&self) -> Option<usize> {
        (self.error > 0.0).then_some(self.worst)
    }

    /// The largest deviation at a point so far.
    pub fn peak(&self) -> f64 {
        self.peak
    }

    /// What is left of the error if each value may come a point early or late.
    pub fn but_for_lateness(&self) -> f64 {
        self.but_for_lateness.min(self.error)
    }

    /// The largest share of the points at which a discrete output differed from the twin's.
    pub fn differing(&self) -> f64 {
        let most = self.differing.iter().copied().max().unwrap_or(0);
        if self.points == 0 { 0.0 } else { most as f64 / self.points as f64 }
    }

    /// The largest share of the points at which a discrete output is estimated to be wrong.
    pub fn discrete_error(&self) -> f64 {
        DISCRETE * self.differing()
    }

    /// That share is beyond the tolerance.
    pub fn apart(&self) -> bool {
        self.apart
    }

    pub fn beyond(&self) -> u64 {
        self.beyond
    }

    /// A step whose error nobody can tell.
    pub fn count_unknown(&mut self) {
        self.beyond += 1;
    }

    pub fn fits(&self, other: &Measure) -> bool {
        self.quantities.len() == other.quantities.len() && self.differing.len() == other.differing.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::ErrorSource;

    fn accuracy(range: f64) -> Accuracy {
        Accuracy {
            source: ErrorSource::Twin,
            tolerance: 0.01,
            claimed: 0.0,
            share: 1.0,
            bound: 1.4,
            outputs: vec![],
            names: vec!["y".into()],
            lows: vec![0.0],
            highs: vec![0.0],
            sizes: vec![0.0],
            ranges: vec![range],
            integers: vec![1],
            booleans: vec![],
            strings: vec![],
        }
    }

    fn run(accuracy: &Accuracy, points: usize, value: impl Fn(usize) -> (f64, f64)) -> Measure {
        let mut measure = Measure::new(accuracy);
        for k in 0..points {
            let (value, other) = value(k);
            measure.note(accuracy, &[value], &[other]);
        }
        measure
    }

    /// y swings by 1, the twin is off by a thousandth of that everywhere: RMS over range 1e-3, and so is the peak.
    #[test]
    fn a_constant_deviation_is_its_share_of_the_range() {
        let measure = run(&accuracy(1.0), 1001, |k| (swing(k), swing(k) + 1e-3));
        assert!((measure.error() - 1e-3).abs() < 1e-12, "{}", measure.error());
        assert!((measure.peak() - 1e-3).abs() < 1e-12);
        assert_eq!(measure.beyond(), 0);
    }

    /// From 0 to 1 and back, again and again.
    fn swing(k: usize) -> f64 {
        f64::from(u8::from(k % 2 == 1))
    }

    /// One value of 1000 is off by the whole range: RMS 1/sqrt(1000) of it, peak all of it.
    #[test]
    fn a_needle_is_a_peak() {
        let value =
            |k: usize| (k as f64 / 999.0, if k == 500 { 500.0 / 999.0 + 1.0 } else { k as f64 / 999.0 });
        let measure = run(&accuracy(1.0), 1000, value);
        assert!((measure.error() - 1000f64.powf(-0.5)).abs() < 1e-9);
        assert!((measure.peak() - 1.0).abs() < 1e-12);
        assert!(measure.beyond() > 0);
    }

    /// The first step of a stiff transient is 5 % off and the rest right. Over 1000 points that is 0.16 %; it must not alarm at the
    /// beginning, where it is all there is.
    #[test]
    fn the_first_step_is_no_error_of_the_run() {
        let value = |k: usize| {
            let y = if k == 0 { 0.0 } else { 1.0 };
            (y, if k == 1 { 0.95 } else { y })
        };
        let measure = run(&accuracy(1.0), 1000, value);
        assert_eq!(measure.beyond(), 0);
        assert!((measure.error() - 0.05 / 1000f64.sqrt()).abs() < 1e-9);
    }

    /// A swing of 1 with the twin off by a hundredth: 1 % of its range, and 0.1 % of the 10 over which the given runs went.
    #[test]
    fn the_range_is_that_of_the_given_runs_or_more() {
        let wide = Accuracy { lows: vec![-3.0], highs: vec![7.0], ..accuracy(1.0) };
        for (accuracy, expected) in [(accuracy(1.0), 1e-2), (wide, 1e-3)] {
            let error = run(&accuracy, 1000, |k| (swing(k), swing(k) + 0.01)).error();
            assert!((error / expected - 1.0).abs() < 1e-9, "{error}");
        }
    }

    /// Still in the given runs, 1 m in an invented one, and now over 1 mm with an error of a tenth of that: told, as 10 %.
    #[test]
    fn a_small_run_is_measured_by_itself() {
        let value = |k: usize| {
            let y = 1e-3 * (k as f64 * 0.1).sin();
            (y, 1.1 * y)
        };
        let measure = run(&accuracy(1.0), 5000, value);
        let rms_over_range = 0.1 / 8f64.sqrt();
        assert!((measure.error() / rms_over_range - 1.0).abs() < 0.02, "{}", measure.error());
        assert!(measure.beyond() > 0);
    }

    /// The same with 1000 m in the invented runs, after 400 points: the stand-in has faded. And from the first point on a plant that
    /// begins at rest and moves by less than a billionth of that is no alarm.
    #[test]
    fn what_stands_in_fades() {
        let value = |k: usize| {
            let y = 1e-3 * (k as f64 * 0.1).sin();
            (y, 1.1 * y)
        };
        let measure = run(&accuracy(1e3), 400, value);
        let rms_over_range = 0.1 / 8f64.sqrt();
        assert!((measure.error() / rms_over_range - 1.0).abs() < 0.05, "{}", measure.error());
        assert!(measure.beyond() > 0);
        let rest = run(&accuracy(1.0), 2000, |k| (1e-12 * swing(k), 1e-12 * swing(k + 1)));
        assert_eq!(rest.beyond(), 0, "{rest:?}");
    }

    /// A plant at rest jumps once, and its twin a point before it: all of the jump is in the error, though the range was nothing until then.
    #[test]
    fn the_first_jump_counts_whole() {
        let step = |k: usize, at: usize| f64::from(u8::from(k >= at));
        let measure = run(&accuracy(0.01), 1000, |k| (step(k, 500), step(k, 499)));
        assert!((measure.error() - 1000f64.powf(-0.5)).abs() < 1e-9, "{}", measure.error());
        assert!(measure.beyond() > 0);
    }

    /// The twin takes another branch and runs away to 1e20 for 10 of 1000 points: it says that these ten are wrong by all there is, a tenth in the
    /// root mean square, not 1e19.
    #[test]
    fn a_twin_that_goes_astray_counts_for_the_range() {
        let value = |k: usize| (swing(k), if (500..510).contains(&k) { 1e20 } else { swing(k) });
        let measure = run(&accuracy(1.0), 1000, value);
        assert!((measure.error() - 0.1).abs() < 1e-9, "{}", measure.error());
        assert!(measure.peak() > 1e19);
    }

    /// Jumps that the twin makes one point late are all of the error, and nothing of what is left but for lateness; a value
    /// that is off for many points is in both.
    #[test]
    fn late_jumps_are_told_apart() {
        let square = |k: usize| f64::from(u8::from(k % 50 < 25));
        let late = run(&accuracy(1.0), 1000, |k| (square(k), square(k.saturating_sub(1))));
        assert!(late.error() > 0.1 && late.but_for_lateness() == 0.0, "{late:?}");
        let wrong = run(&accuracy(1.0), 1000, |k| (square(k), square(k) + 0.1));
        assert!(wrong.but_for_lateness() > 0.05, "{wrong:?}");
    }

    /// What stands still is measured by its size, rounding is nothing, and nothing that happens is no number.
    #[test]
    fn it_is_always_a_number() {
        let still = run(&accuracy(0.0), 300, |_| (300.0, 300.3));
        assert!((still.error() - 1e-3).abs() < 1e-12);
        // The rounding of two terms of 10 is no movement and no error.
        let terms = Accuracy { sizes: vec![10.0], ..accuracy(0.0) };
        assert_eq!(run(&terms, 300, |k| (1e-15 * swing(k), 1e-15 * swing(k + 1))).error(), 0.0);
        // Zero, but for the twin's rounding; and zero where the twin is somewhere else.
        assert!(run(&accuracy(0.0), 300, |_| (0.0, 1e-18)).error() < 1e-12);
        assert!(run(&accuracy(0.0), 300, |_| (0.0, 5.0)).beyond() > 0);
        assert_eq!(run(&accuracy(0.0), 300, |_| (300.0, 300.0 + 1e-13)).error(), 0.0);
        assert_eq!(run(&accuracy(0.0), 300, |_| (0.0, 0.0)).error(), 0.0);
        for (value, other) in
            [(f64::NAN, 1.0), (1.0, f64::NAN), (1e300, -1e300), (0.0, f64::INFINITY), (0.0, 1e-310)]
        {
            let odd = run(&accuracy(0.0), 300, |k| if k % 2 == 0 { (value, other) } else { (0.0, 0.0) });
            for told in [odd.error(), odd.peak(), odd.but_for_lateness(), odd.differing()] {
                assert!(told.is_finite() && told >= 0.0, "{value} {other}: {odd:?}");
            }
        }
    }

    /// An error within the tolerance is told where it may be beyond it and beyond twice what was claimed.
    #[test]
    fn what_may_be_beyond_is_told() {
        let off = |deviation: f64| move |k: usize| (swing(k), swing(k) + deviation);
        assert_eq!(run(&accuracy(1.0), 1000, off(0.006)).beyond(), 0);
        assert!(run(&accuracy(1.0), 1000, off(0.008)).beyond() > 0);
        let claimed = Accuracy { claimed: 0.008, ..accuracy(1.0) };
        assert_eq!(run(&claimed, 1000, off(0.008)).beyond(), 0);
        assert!(run(&claimed, 1000, off(0.011)).beyond() > 0);
    }

    /// An Integer that is another one at 3 of 200 points is wrong for 1.5 % of the time: beyond 1 %, though no real output is. At 1 of 200 it is not,
    /// nor where 1 % was claimed; and one of the first ten points is no share of a run.
    #[test]
    fn a_discrete_output_that_differs_too_often_is_told() {
        let differs = |accuracy: &Accuracy, points: &[usize], until: usize| {
            let mut measure = Measure::new(accuracy);
            for k in 0..until {
                points.iter().filter(|&&point| point == k).for_each(|_| measure.note_difference(0));
                measure.note(accuracy, &[swing(k)], &[swing(k)]);
            }
            measure.beyond()
        };
        assert!(differs(&accuracy(1.0), &[74, 191, 199], 200) > 0);
        assert_eq!(differs(&accuracy(1.0), &[191], 200), 0);
        assert_eq!(differs(&accuracy(1.0), &[3], 10), 0);
        let claimed = Accuracy { claimed: 0.01, ..accuracy(1.0) };
        assert_eq!(differs(&claimed, &[74, 191, 199], 200), 0);
    }

    #[test]
    fn discrete_outputs_differ_for_a_share_of_the_points() {
        let mut measure = run(&accuracy(1.0), 10, |_| (0.0, 0.0));
        measure.note_difference(0);
        measure.note_difference(0);
        assert_eq!(measure.differing(), 0.2);
        assert!((measure.discrete_error() - 0.08).abs() < 1e-15);
    }
}
