//! The error of a run: its deviation from the accurate solution, per quantity.

/// Root mean square of the deviation over the common points, divided by the reference's range, per quantity.
pub fn errors(reference: &[Vec<f64>], simulated: &[Vec<f64>]) -> Vec<f64> {
    let points = reference.len().min(simulated.len());
    if points < 2 {
        return Vec::new();
    }
    (0..reference[0].len())
        .map(|quantity| {
            let values = reference[..points].iter().map(|point| point[quantity]);
            let squares: f64 = values
                .clone()
                .zip(&simulated[..points])
                .map(|(value, point)| (value - point[quantity]).powi(2))
                .sum();
            let deviation = (squares / points as f64).sqrt();
            // What stands still is measured by its size, and zero by nothing.
            let (range, size) = range(values);
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
fn range(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
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
}
