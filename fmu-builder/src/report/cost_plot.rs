//! Error against cost of everything that was tried, by method.

use super::plot::{LEFT, RIGHT, frame, open, title_x};
use crate::decide::Trial;
use crate::structure::draw::escape;
use std::fmt::Write;

const TOP: f64 = 14.0;
const BOTTOM: f64 = 230.0;
/// Errors below this are drawn at it: the accurate solution is not better.
const LEAST: f64 = 1e-6;

/// Both axes are logarithmic; `None` if there are no two plans with different errors or costs.
pub fn error_against_cost(trials: &[Trial]) -> Option<String> {
    let points: Vec<(f64, f64, &Trial)> = trials
        .iter()
        .filter_map(|trial| Some((trial.evaluations_per_step, trial.error?.max(LEAST), trial)))
        .filter(|(cost, error, _)| *cost > 0.0 && error.is_finite())
        .collect();
    let first = points.first()?;
    if points.iter().all(|point| (point.0, point.1) == (first.0, first.1)) {
        return None;
    }
    let range = |values: &mut dyn Iterator<Item = f64>| {
        let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
        values.for_each(|value| (low, high) = (low.min(value), high.max(value)));
        (low - 0.2, (high + 0.2).max(low + 0.5))
    };
    let (left, right) = range(&mut points.iter().map(|point| point.0.log10()));
    let (low, high) = range(&mut points.iter().map(|point| point.1.log10()));
    let x = |cost: f64| LEFT + (cost.log10() - left) / (right - left) * (RIGHT - LEFT);
    let y = |error: f64| BOTTOM - (error.log10() - low) / (high - low) * (BOTTOM - TOP);
    let mut out = open(BOTTOM + 42.0, "error against evaluations per step of the plans that were tried");
    frame(&mut out, TOP, BOTTOM);
    for exponent in low.ceil() as i32..=high.floor() as i32 {
        let error = 10f64.powi(exponent);
        let _ = writeln!(
            out,
            "<path class=\"grid\" d=\"M{LEFT} {0:.1}H{RIGHT}\"/><text x=\"{1}\" y=\"{2:.1}\" \
             text-anchor=\"end\">{3} %</text>",
            y(error),
            LEFT - 6.0,
            y(error) + 4.0,
            percent(exponent)
        );
    }
    for cost in [1.0, 2.0, 3.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0, 1000.0] {
        if (left..=right).contains(&f64::log10(cost)) {
            let _ = writeln!(
                out,
                "<path class=\"grid\" d=\"M{0:.1} {BOTTOM}v4\"/><text x=\"{0:.1}\" y=\"{1}\" \
                 text-anchor=\"middle\">{cost}</text>",
                x(cost),
                BOTTOM + 16.0
            );
        }
    }
    for (cost, error, trial) in &points {
        let name = escape(&format!("{}, {}, {}", trial.method, trial.label, trial.policy));
        let _ = writeln!(
            out,
            "<circle class=\"{}\" cx=\"{2:.1}\" cy=\"{3:.1}\" r=\"{1}\"><title>{name}</title></circle>",
            if trial.chosen { "point chosen" } else { "point" },
            if trial.chosen { 5 } else { 3 },
            x(*cost),
            y(*error)
        );
    }
    // The best of each method carries its name.
    let mut methods: Vec<&str> = points.iter().map(|(_, _, trial)| trial.method.as_str()).collect();
    methods.sort_unstable();
    methods.dedup();
    for method in methods {
        let of_method = points.iter().filter(|(_, _, trial)| trial.method == method);
        if let Some((cost, error, _)) = of_method.min_by(|a, b| a.1.total_cmp(&b.1)) {
            let (anchor, shift) = if x(*cost) > 0.85 * RIGHT { ("end", -8.0) } else { ("start", 8.0) };
            let _ = writeln!(
                out,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"{anchor}\">{}</text>",
                x(*cost) + shift,
                y(*error) + 4.0,
                escape(method)
            );
        }
    }
    title_x(&mut out, BOTTOM, "evaluations of the model per internal step, on average");
    out.push_str("</svg>\n");
    Some(out)
}

/// 10^exponent in percent, as people write it: 100 times the power would be 0.00009999… for 1e-6.
fn percent(exponent: i32) -> f64 {
    format!("1e{}", exponent + 2).parse().unwrap_or(f64::NAN)
}
