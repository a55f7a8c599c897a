//! Numbers as people read them.

use super::plot;
use crate::quantity;
use crate::summary::trim;

/// Three significant digits.
pub(super) fn percent(share: f64) -> String {
    match (100.0 * share).is_finite() {
        true => format!("{} %", significant(100.0 * share)),
        false => quantity::percent(share),
    }
}

/// Three significant digits, without exponent where people would write none.
pub(super) fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let exponent = value.abs().log10().floor() as i32;
    match exponent {
        -4..=-1 => trim_zeros(format!("{value:.*}", (2 - exponent) as usize)),
        0..=2 => trim_zeros(format!("{value:.*}", (2 - exponent).max(0) as usize)),
        3..=5 => grouped(value.round() as u64),
        _ => {
            let mantissa = trim_zeros(format!("{:.1}", value / 10f64.powi(exponent)));
            format!("{mantissa}·10{}", plot::superscript(exponent))
        }
    }
}

fn trim_zeros(text: String) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

/// A time on the grid, without the noise of its last digits.
pub(super) fn number(value: f64) -> f64 {
    format!("{value:.9e}").parse().unwrap_or(value)
}

/// 12345678 as 12 345 678, with narrow spaces that do not break.
pub(super) fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) && digits.len() > 4 {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

pub(super) fn count_of(value: f64, noun: &str) -> String {
    format!("{} {noun}{}", trim(value), if value == 1.0 { "" } else { "s" })
}

pub(super) fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or(String::new(), |first| first.to_uppercase().chain(rest).collect())
}
