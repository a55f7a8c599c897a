//! What each step missed because of its matrix, over the verified run: the watch's value, with the threshold above which it speaks.

use super::plot::{LEFT, RIGHT, frame, open, time_below};
use super::text::percent;
use std::fmt::Write;

const TOP: f64 = 14.0;
const BOTTOM: f64 = 170.0;
/// Columns that are drawn; each shows the largest value in its stretch of time.
const COLUMNS: usize = 300;
/// Decades below the largest value, or the threshold, that are drawn.
const DECADES: f64 = 6.0;

/// `defects`: one for each recorded stretch of the run from `begin` to `end`, relative to the states' sizes. `None` if nothing was missed anywhere.
pub fn defects_over_time(defects: &[f64], begin: f64, end: f64, threshold: f64) -> Option<String> {
    let finite = || defects.iter().copied().filter(|defect| defect.is_finite() && *defect < f64::MAX);
    let largest = finite().fold(0.0, f64::max);
    if largest <= 0.0 || begin >= end {
        return None;
    }
    let high = largest.max(threshold).log10() + 0.2;
    let low = high - DECADES;
    let y = |value: f64| BOTTOM - (value.log10().clamp(low, high) - low) / DECADES * (BOTTOM - TOP);
    let mut out = open(BOTTOM + 42.0, "what each step missed because of its Jacobian, over time");
    frame(&mut out, TOP, BOTTOM);
    for exponent in (low.ceil() as i32..=high.floor() as i32).step_by(2) {
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
    let columns = defects.len().min(COLUMNS);
    let mut path = String::new();
    for column in 0..columns {
        let stretch = &defects[column * defects.len() / columns..(column + 1) * defects.len() / columns];
        let value = stretch.iter().copied().fold(0.0, f64::max);
        let x = LEFT + (column as f64 + 0.5) / columns as f64 * (RIGHT - LEFT);
        let _ = write!(path, "{}{x:.1} {:.1}", if column == 0 { 'M' } else { 'L' }, y(value.max(1e-300)));
    }
    let _ = writeln!(out, "<path class=\"deviation\" d=\"{path}\"/>");
    let _ = writeln!(
        out,
        "<path class=\"mark\" d=\"M{LEFT} {0:.1}H{RIGHT}\"/><text x=\"{1}\" y=\"{2:.1}\" text-anchor=\"end\">speaks above {3}</text>",
        y(threshold),
        RIGHT - 4.0,
        y(threshold) - 4.0,
        percent(threshold)
    );
    time_below(&mut out, begin, end, BOTTOM);
    out.push_str("</svg>\n");
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One peak of 10 % in a run of 1000 points is drawn at the top, whatever is thinned; a run that misses nothing has no plot.
    #[test]
    fn peaks_are_not_lost() {
        let mut defects = vec![1e-6; 1000];
        defects[777] = 0.1;
        let plot = defects_over_time(&defects, 0.0, 1.0, 3e-3).unwrap_or_default();
        let top = BOTTOM - (DECADES - 0.2) / DECADES * (BOTTOM - TOP);
        assert!(plot.contains(&format!(" {top:.1}L")), "{plot}");
        assert!(plot.contains("speaks above 0.3 %"), "{plot}");
        assert_eq!(defects_over_time(&[0.0; 10], 0.0, 1.0, 3e-3), None);
    }
}
