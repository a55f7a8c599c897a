//! The error of a run: its deviation from the accurate solution, per quantity.

/// Root mean square of the deviation over the common points, divided by the reference's range, per quantity.
pub fn errors(reference: &[Vec<f64>], simulated: &[Vec<f64>]) -> Vec<f64> {
    over_range(reference, simulated, |quantity, at| reference[at][quantity] - simulated[at][quantity])
}

/// The same where each value may be early or late by a point: its distance from what the reference is there and at both neighbours. A jump that comes
/// a step late counts in [`errors`], not here; a wrong value counts in both.
pub fn errors_but_for_lateness(reference: &[Vec<f64>], simulated: &[Vec<f64>]) -> Vec<f64> {
    over_range(reference, simulated, |quantity, at| {
        let near = &reference[at.saturating_sub(1)..(at + 2).min(reference.len())];
        let low = near.iter().map(|point| point[quantity]).fold(f64::INFINITY, f64::min);
        let high = near.iter().map(|point| point[quantity]).fold(f64::NEG_INFINITY, f64::max);
        let value = simulated[at][quantity];
        value - value.clamp(low, high)
    })
}

/// The share of the common points at which a discrete quantity has another value than the reference.
pub fn wrong_shares(reference: &[Vec<i64>], simulated: &[Vec<i64>]) -> Vec<f64> {
    let points = reference.len().min(simulated.len()).max(1);
    let quantities = reference.first().map_or(0, Vec::len);
    let differs = |quantity: usize| {
        reference.iter().zip(simulated).filter(|(a, b)| a[quantity] != b[quantity]).count() as f64
    };
    (0..quantities).map(|quantity| differs(quantity) / points as f64).collect()
}

fn over_range(
    reference: &[Vec<f64>],
    simulated: &[Vec<f64>],
    deviation: impl Fn(usize, usize) -> f64,
) -> Vec<f64> {
    let points = reference.len().min(simulated.len());
    if points < 2 {
        return Vec::new();
    }
    (0..reference[0].len())
        .map(|quantity| {
            let squares: f64 = (0..points).map(|at| deviation(quantity, at).powi(2)).sum();
            let deviation = (squares / points as f64).sqrt();
            // What stands still is measured by its size, and zero by nothing.
            let (range, size) = range(reference[..points].iter().map(|point| point[quantity]));
            let range = if range > 1e-9 * size { range } else { size.max(f64::MIN_POSITIVE) };
            if deviation <= 1e-12 * size { 0.0 } else { deviation / range }
        })
        .collect()
}

/// Quantities that do not move: an error in them says nothing.
pub fn standing(reference: &[Vec<f64>]) -> Vec<bool> {
    let quantities = reference.first().map_or(0, Vec::len);
    let still = |quantity: usize| {
        let (range, size) = range(reference.iter().map(|point| point[quantity]));
        range <= 1e-9 * size
    };
    (0..quantities).map(still).collect()
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
        let errors = errors(&reference, &simulated);
        for (error, expected) in errors.iter().zip([0.1, 0.1, 0.0]) {
            assert!((error - expected).abs() < 1e-12, "{error} is not {expected}");
        }
        assert_eq!(standing(&reference), [false, true, true]);
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
        let (all, but) = (errors(&reference, &simulated), errors_but_for_lateness(&reference, &simulated));
        for (error, expected) in all.iter().chain(&but).zip([0.1, 0.1, 0.0, 0.1]) {
            assert!((error - expected).abs() < 1e-12, "{all:?} {but:?}");
        }
    }

    #[test]
    fn discrete_quantities_are_wrong_for_a_share_of_the_time() {
        let reference = vec![vec![1, 7]; 8];
        let mut simulated = reference.clone();
        simulated[3][1] = 8;
        simulated[4][1] = 9;
        assert_eq!(wrong_shares(&reference, &simulated), [0.0, 0.25]);
        assert!(wrong_shares(&[], &[]).is_empty());
    }
}
