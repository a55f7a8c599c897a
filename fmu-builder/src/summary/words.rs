//! Numbers with their nouns.

/// "no steps", "1 step", "2 steps".
pub fn count(number: usize, noun: &str) -> String {
    match number {
        0 => format!("no {noun}s"),
        1 => format!("1 {noun}"),
        _ => format!("{number} {noun}s"),
    }
}

/// They may be fractional.
pub(super) fn evaluations(number: f64) -> String {
    format!("{} {}", trim(number), if number == 1.0 { "evaluation" } else { "evaluations" })
}

/// Two digits behind the point, without zeros at the end.
pub fn trim(value: f64) -> String {
    let text = format!("{value:.2}");
    text.trim_end_matches('0').trim_end_matches('.').to_string()
}

/// The first few, and how many more there are.
pub fn first_of(what: &[String], shown: usize, separator: &str) -> String {
    let more = match what.len().saturating_sub(shown) {
        0 => String::new(),
        more => format!("{separator}and {more} more"),
    };
    format!("{}{more}", what[..what.len().min(shown)].join(separator))
}
