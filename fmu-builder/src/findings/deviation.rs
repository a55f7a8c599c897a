//! The error of a run: its deviation from the accurate solution, per quantity.

/// How far each quantity reaches in the accurate solution, and how large it is: what deviations are divided by.
pub struct Ranges {
    /// Range and size, per quantity.
    quantities: Vec<(f64, f64)>,
}

/// What moves by less than this part of its size stands still.
const STILL: f64 = 1e-9;

impl Ranges {
    /// `terms`: how large the terms of each quantity are; empty if nothing is known of them. A small difference of large terms that moves
    /// by the rounding of these stands still.
    pub fn of(reference: &[Vec<f64>], terms: &[f64]) -> Ranges {
        let count = reference.first().map_or(0, Vec::len);
        let quantity = |quantity: usize| {
            let (range, size) = range(reference.iter().map(|point| point[quantity]));
            (range, terms.get(quantity).map_or(size, |terms| size.max(*terms)))
        };
        Ranges { quantities: (0..count).map(quantity).collect() }
    }

    /// Quantities that do not move: an error in them says nothing.
    pub fn standing(&self) -> Vec<bool> {
        self.quantities.iter().map(|&(range, size)| range <= STILL * size).collect()
    }

    /// How large each quantity is, its terms included.
    pub fn sizes(&self) -> impl Iterator<Item = f64> + '_ {
        self.quantities.iter().map(|&(_, size)| size)
    }

    /// The range of each quantity that moves.
    pub fn moving(&self) -> impl Iterator<Item = Option<f64>> + '_ {
        self.quantities.iter().map(|&(range, size)| (range > STILL * size).then_some(range))
    }

    /// What stands still is measured by its size, and zero by nothing. Rounding is no error.
    fn relative(&self, quantity: usize, deviation: f64) -> f64 {
        let (range, size) = self.quantities[quantity];
        let range = if range > STILL * size { range } else { size.max(f64::MIN_POSITIVE) };
        if deviation <= 1e-12 * size { 0.0 } else { deviation / range }
    }

    /// Root mean square of the deviation over the common points, divided by the reference's range, per quantity.
    pub fn errors(&self, reference: &[Vec<f64>], simulated: &[Vec<f64>]) -> Vec<f64> {
        self.root_mean_square(reference, simulated, |quantity, at| {
            reference[at][quantity] - simulated[at][quantity]
        })
    }

    /// The same where each value may be early or late by a point: its distance from what the reference is there and at both neighbours. A jump that comes
    /// a step late counts in [`Ranges::errors`], not here; a wrong value counts in both.
    pub fn errors_but_for_lateness(&self, reference: &[Vec<f64>], simulated: &[Vec<f64>]) -> Vec<f64> {
        self.root_mean_square(reference, simulated, |quantity, at| {
            but_for_lateness(reference, simulated, quantity, at)
        })
    }

    /// The largest deviation of each quantity over its range, and the point that has it.
    pub fn peaks(&self, reference: &[Vec<f64>], simulated: &[Vec<f64>]) -> Vec<(f64, usize)> {
        let points = reference.len().min(simulated.len());
        if points < 2 {
            return Vec::new();
        }
        let peak = |quantity: usize| {
            let deviation = |at: &usize| (reference[*at][quantity] - simulated[*at][quantity]).abs();
            let worst = (0..points).max_by(|a, b| deviation(a).total_cmp(&deviation(b)));
            worst.map_or((0.0, 0), |at| (self.relative(quantity, deviation(&at)), at))
        };
        (0..self.quantities.len()).map(peak).collect()
    }

    /// The largest distance of a quantity at one point: as it is, and where its value may be early or late by a point.
    pub fn distances(&self, reference: &[Vec<f64>], simulated: &[Vec<f64>], at: usize) -> [f64; 2] {
        let largest = |deviation: &dyn Fn(usize) -> f64| {
            let distance = |quantity: usize| self.relative(quantity, deviation(quantity).abs());
            (0..self.quantities.len()).map(distance).fold(0.0, f64::max)
        };
        [
            largest(&|quantity| reference[at][quantity] - simulated[at][quantity]),
            largest(&|quantity| but_for_lateness(reference, simulated, quantity, at)),
        ]
    }

    fn root_mean_square(
        &self,
        reference: &[Vec<f64>],
        simulated: &[Vec<f64>],
        deviation: impl Fn(usize, usize) -> f64,
    ) -> Vec<f64> {
        let points = reference.len().min(simulated.len());
        if points < 2 {
            return Vec::new();
        }
        (0..self.quantities.len())
            .map(|quantity| {
                let squares: f64 = (0..points).map(|at| deviation(quantity, at).powi(2)).sum();
                self.relative(quantity, (squares / points as f64).sqrt())
            })
            .collect()
    }
}

/// How far a value lies from what the reference is there and at both neighbours.
fn but_for_lateness(reference: &[Vec<f64>], simulated: &[Vec<f64>], quantity: usize, at: usize) -> f64 {
    let near = &reference[at.saturating_sub(1)..(at + 2).min(reference.len())];
    let low = near.iter().map(|point| point[quantity]).fold(f64::INFINITY, f64::min);
    let high = near.iter().map(|point| point[quantity]).fold(f64::NEG_INFINITY, f64::max);
    let value = simulated[at][quantity];
    value - value.clamp(low, high)
}

/// How far values reach, and how large they get.
pub fn range(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.fold(f64::NEG_INFINITY, f64::max);
    (high - low, low.abs().max(high.abs()))
}

pub fn largest(errors: &[f64]) -> Option<f64> {
    (!errors.is_empty()).then(|| errors.iter().fold(0.0, |largest, &error| f64::max(largest, error)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A constant offset of a tenth of the range is an error of 0.1; a standing quantity is measured by its size.
    #[test]
    fn error_is_rms_over_range() {
        let reference: Vec<Vec<f64>> = (0..=10).map(|k| vec![k as f64, 5.0, 0.0]).collect();
        let simulated: Vec<Vec<f64>> = reference.iter().map(|p| vec![p[0] + 1.0, 5.5, 0.0]).collect();
        let ranges = Ranges::of(&reference, &[]);
        let errors = ranges.errors(&reference, &simulated);
        for (error, expected) in errors.iter().zip([0.1, 0.1, 0.0]) {
            assert!((error - expected).abs() < 1e-12, "{error} is not {expected}");
        }
        assert_eq!(ranges.standing(), [false, true, true]);
    }

    /// Noise of 1e-15 in a sum of terms of 10 is none of its errors; without the terms it would be all of the range. Terms do not hide what moves by more.
    #[test]
    fn rounding_of_large_terms_is_no_error() {
        let noise = |k: usize, by: usize| (k * by % 7) as f64 * 1e-15;
        let reference: Vec<Vec<f64>> = (0..100).map(|k| vec![noise(k, 3), 1e-3 * k as f64]).collect();
        let simulated: Vec<Vec<f64>> = (0..100).map(|k| vec![noise(k, 5), 1.001e-3 * k as f64]).collect();
        let alone = Ranges::of(&reference, &[]);
        assert!(alone.errors(&reference, &simulated)[0] > 0.1);
        let ranges = Ranges::of(&reference, &[10.0, 10.0]);
        assert_eq!(ranges.standing(), [true, false]);
        let errors = ranges.errors(&reference, &simulated);
        assert_eq!(errors[0], 0.0);
        assert_eq!(errors[1], alone.errors(&reference, &simulated)[1]);
    }

    /// One value of 101 is off by a quarter of the range: RMS a quarter over the root of 101, peak a quarter, at its point.
    #[test]
    fn a_peak_is_a_point() {
        let reference: Vec<Vec<f64>> = (0..=100).map(|k| vec![f64::from(k), 0.0]).collect();
        let mut simulated = reference.clone();
        simulated[42][0] += 25.0;
        let ranges = Ranges::of(&reference, &[]);
        assert_eq!(ranges.peaks(&reference, &simulated)[0], (0.25, 42));
        assert!((ranges.errors(&reference, &simulated)[0] - 0.25 / 101f64.sqrt()).abs() < 1e-12);
        assert_eq!(ranges.peaks(&reference, &simulated)[1].0, 0.0);
        assert!(ranges.peaks(&reference, &simulated[..1]).is_empty());
    }

    /// One of two quantities jumps by 1 a point late, the other has a value off by 1 for a point, both of 100: the same error 1/10, of which
    /// lateness explains all of the one and nothing of the other.
    #[test]
    fn a_late_jump_is_no_wrong_value() {
        let reference: Vec<Vec<f64>> =
            (0..100).map(|k| vec![f64::from(u8::from(k >= 50)), f64::from(u8::from(k % 50 < 25))]).collect();
        let mut simulated = reference.clone();
        simulated[50][0] = 0.0;
        simulated[10][1] = 2.0;
        let ranges = Ranges::of(&reference, &[]);
        let all = ranges.errors(&reference, &simulated);
        let but = ranges.errors_but_for_lateness(&reference, &simulated);
        for (error, expected) in all.iter().chain(&but).zip([0.1, 0.1, 0.0, 0.1]) {
            assert!((error - expected).abs() < 1e-12, "{all:?} {but:?}");
        }
    }
}
