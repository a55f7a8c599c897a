//! The error of the verified run and what the FMU says of it, over time: both as they were up to each point.

use super::plot::{LEFT, RIGHT, frame, open, time_below};
use super::text::percent;
use std::fmt::Write;

const TOP: f64 = 14.0;
const BOTTOM: f64 = 190.0;
/// Points of a curve that are drawn.
const COLUMNS: usize = 300;
/// Decades that are drawn, at most.
const DECADES: f64 = 6.0;

/// `errors` and `estimates` at the points from `begin` to `end`. `None` if there is nothing to draw.
pub fn error_and_estimate(
    errors: &[f64],
    estimates: &[f64],
    begin: f64,
    end: f64,
    tolerance: f64,
) -> Option<String> {
    let values = || errors.iter().chain(estimates).copied().filter(|value| value.is_finite() && *value > 0.0);
    let largest = values().fold(0.0, f64::max);
    if largest <= 0.0 || begin >= end || errors.len() < 2 {
        return None;
    }
    let least = values().fold(f64::INFINITY, f64::min);
    let high = largest.max(tolerance).log10() + 0.2;
    let low = (least.log10() - 0.2).floor().max(high - DECADES).min(high - 1.0);
    let y = |value: f64| {
        BOTTOM - (value.max(1e-300).log10().clamp(low, high) - low) / (high - low) * (BOTTOM - TOP)
    };
    let mut out = open(BOTTOM + 42.0, "the error so far and its estimate, over time");
    frame(&mut out, TOP, BOTTOM);
    for exponent in low.ceil() as i32..=high.floor() as i32 {
        let value: f64 = format!("1e{exponent}").parse().unwrap_or(f64::NAN);
        let _ = writeln!(
            out,
            "<path class=\"grid\" d=\"M{LEFT} {0:.1}H{RIGHT}\"/><text x=\"{1}\" y=\"{2:.1}\" text-anchor=\"end\">{3}</text>",
            y(value),
            LEFT - 6.0,
            y(value) + 4.0,
            percent(value)
        );
    }
    for (class, curve) in [("reference", errors), ("built", estimates)] {
        let columns = curve.len().min(COLUMNS);
        let mut path = String::new();
        for column in 0..columns {
            let at = column * (curve.len() - 1) / (columns - 1).max(1);
            let x = LEFT + at as f64 / (curve.len() - 1).max(1) as f64 * (RIGHT - LEFT);
            let _ = write!(path, "{}{x:.1} {:.1}", if column == 0 { 'M' } else { 'L' }, y(curve[at]));
        }
        let _ = writeln!(out, "<path class=\"{class}\" d=\"{path}\"/>");
    }
    let _ = writeln!(
        out,
        "<path class=\"mark\" d=\"M{LEFT} {0:.1}H{RIGHT}\"/><text x=\"{1}\" y=\"{2:.1}\" text-anchor=\"end\">tolerance {3}</text>",
        y(tolerance),
        RIGHT - 4.0,
        y(tolerance) - 4.0,
        percent(tolerance)
    );
    time_below(&mut out, begin, end, BOTTOM);
    out.push_str("</svg>\n");
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// On a logarithmic axis an estimate of three times the error runs parallel to it, log10(3) decades above.
    #[test]
    fn a_constant_ratio_is_a_constant_distance() {
        let errors: Vec<f64> = (1..=100).map(|k| 1e-6 * f64::from(k)).collect();
        let estimates: Vec<f64> = errors.iter().map(|error| 3.0 * error).collect();
        let plot = error_and_estimate(&errors, &estimates, 0.0, 1.0, 0.01).unwrap_or_default();
        let heights = |class: &str| -> Vec<f64> {
            let path = plot.split(&format!("<path class=\"{class}\" d=\"M")).nth(1).unwrap_or("");
            let path = path.split('"').next().unwrap_or("");
            path.split('L').filter_map(|point| point.split(' ').nth(1)?.parse().ok()).collect()
        };
        let (below, above) = (heights("reference"), heights("built"));
        assert_eq!((below.len(), above.len()), (100, 100), "{plot}");
        let distances: Vec<f64> = below.iter().zip(&above).map(|(below, above)| below - above).collect();
        let first = distances[0];
        assert!(
            first > 5.0 && distances.iter().all(|distance| (distance - first).abs() < 0.2),
            "{distances:?}"
        );
        assert!(plot.contains("tolerance 1 %"), "{plot}");
        assert_eq!(error_and_estimate(&[0.0; 10], &[0.0; 10], 0.0, 1.0, 0.01), None);
    }
}
