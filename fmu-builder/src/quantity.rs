//! Durations, budgets, counts and settings, as a person writes them on a command line.
//!
//! A refusal quotes what was written and says what would do. Nothing is guessed: `1 m` could be a
//! minute or a milli-something, so it is refused.

use crate::options::{Bound, Budget, NamedBound, NamedRange};

/// A positive time in seconds: `1e-3`, `1ms`, `100us`, `100µs`, `10ns`, `2s`, `1min`.
pub fn parse_duration(text: &str) -> Result<f64, String> {
    parse_positive_time(text, "a step")
}

/// As [`parse_duration`], with the refusal naming `what` is wanted: "a step", "a time limit".
pub fn parse_positive_time(text: &str, what: &str) -> Result<f64, String> {
    match seconds(text) {
        Some(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err(format!(
            "{text:?} is not {what}: it must be a positive number of seconds, such as 1e-3, 1ms or 100us"
        )),
    }
}

/// A point in time, of any sign: `0`, `-1.5`, `2min`. `what` names it: "a start time".
pub fn parse_time(text: &str, what: &str) -> Result<f64, String> {
    match seconds(text) {
        Some(value) if value.is_finite() => Ok(value),
        _ => Err(format!("{text:?} is not {what}: it must be a number of seconds, such as 0, 2.5 or 10ms")),
    }
}

/// `100us` is a time, `3f` is three evaluations of the model, `10%` is a tenth of the communication step.
pub fn parse_budget(text: &str) -> Result<Budget, String> {
    let trimmed = text.trim();
    let budget = if let Some(count) = trimmed.strip_suffix('f') {
        number(count.trim_end()).map(Budget::Evaluations)
    } else if let Some(percent) = trimmed.strip_suffix('%') {
        number(percent.trim_end()).map(|percent| Budget::Share(percent / 100.0))
    } else {
        // A bare number of one or more is meant as something else than seconds.
        if number(trimmed).is_some_and(|value| value >= 1.0) {
            return Err(format!(
                "{text:?} is not a budget without a unit: write {trimmed}us, {trimmed}ms, {trimmed}f (evaluations of the model) or \
                 {trimmed}% (of the communication step)"
            ));
        }
        seconds(trimmed).map(Budget::Time)
    };
    let positive = |budget: &Budget| {
        let (Budget::Time(value) | Budget::Evaluations(value) | Budget::Share(value)) = *budget;
        value > 0.0 && value.is_finite()
    };
    budget.filter(positive).ok_or_else(|| {
        format!(
            "{text:?} is not a budget: it must be a positive time, such as 100us, a number of evaluations of the \
             model, such as 3f, or a share of the communication step, such as 10%"
        )
    })
}

/// `NAME=LO:HI`, a range of an input or a parameter.
pub fn parse_range(text: &str) -> Result<NamedRange, String> {
    let refusal = || {
        format!(
            "{text:?} is not a range: write NAME=LO:HI with the name of an input or a parameter and two numbers, the \
             smaller one first"
        )
    };
    let (name, bounds) = parse_set(text).map_err(|_| refusal())?;
    let (low, high) = bounds.split_once(':').ok_or_else(refusal)?;
    let bound = |text: &str| number(text.trim()).filter(|value| value.is_finite());
    match (bound(low), bound(high)) {
        (Some(low), Some(high)) if low <= high => Ok(NamedRange { name, low, high }),
        _ => Err(refusal()),
    }
}

/// A number of scenarios to invent, or `none`.
pub fn parse_explore(text: &str) -> Result<u32, String> {
    if text.trim() == "none" {
        return Ok(0);
    }
    let count = parse_count(text, "a number of scenarios").ok().and_then(|count| u32::try_from(count).ok());
    count.filter(|&count| count <= 10_000).ok_or_else(|| {
        format!("{text:?} is not a number of scenarios: write a whole number up to 10000, or none")
    })
}

/// Bytes below which a process cannot even start its threads.
const LEAST_MEMORY: f64 = 32e6;

/// A size of memory in bytes: `512MB`, `2GiB`, `4e9`.
pub fn parse_memory(text: &str, what: &str) -> Result<u64, String> {
    let trimmed = text.trim();
    let units = [
        ("KiB", 1024.0),
        ("MiB", 1024.0 * 1024.0),
        ("GiB", 1024.0 * 1024.0 * 1024.0),
        ("kB", 1e3),
        ("KB", 1e3),
        ("MB", 1e6),
        ("GB", 1e9),
        ("B", 1.0),
    ];
    let unit = units.into_iter().find_map(|(unit, size)| Some((trimmed.strip_suffix(unit)?, size)));
    let (digits, size) = unit.unwrap_or((trimmed, 1.0));
    match number(digits.trim_end()).map(|value| value * size) {
        Some(bytes) if (LEAST_MEMORY..=1e18).contains(&bytes) => Ok(bytes as u64),
        Some(bytes) if (0.0..LEAST_MEMORY).contains(&bytes) => Err(format!(
            "{text:?} is not {what}: no process lives in {bytes} bytes; it must be 32MB or more, such as {}",
            if unit.is_none() { format!("{trimmed}GB") } else { "2GB".into() }
        )),
        _ => Err(format!("{text:?} is not {what}: it must be a size such as 512MB or 2GiB")),
    }
}

/// A share, such as the tolerated error: `0.01` or `1%`.
pub fn parse_fraction(text: &str, what: &str) -> Result<f64, String> {
    let trimmed = text.trim();
    let value = match trimmed.strip_suffix('%') {
        Some(percent) => number(percent.trim_end()).map(|value| value / 100.0),
        None => number(trimmed),
    };
    match value {
        Some(value) if value > 0.0 && value.is_finite() => Ok(value),
        _ => Err(format!("{text:?} is not {what}: it must be a positive number, such as 0.01 or 1%")),
    }
}

/// How far an output may be off: `1%` or `0.01` of its range, `0.2degC` in a unit, for all outputs or, with `NAME=` before it, for one.
pub fn parse_bound(text: &str, what: &str) -> Result<NamedBound, String> {
    let refusal = || {
        format!(
            "{text:?} is not {what}: write 1% or 0.01, a share of an output's range, or NAME=1% for one output, or NAME=0.2degC in \
             its unit"
        )
    };
    let (name, value) = match parse_set(text) {
        Ok((name, value)) => (Some(name), value),
        Err(_) if text.contains('=') => return Err(refusal()),
        Err(_) => (None, text.trim().to_string()),
    };
    if let Ok(share) = parse_fraction(&value, what) {
        return Ok(NamedBound { name, bound: Bound::Share(share) });
    }
    // The longest beginning that is a number; what follows is the unit.
    let ends = value.char_indices().map(|(at, _)| at).filter(|&at| at > 0).rev();
    let parted =
        ends.map(|at| value.split_at(at)).find_map(|(digits, unit)| Some((number(digits.trim_end())?, unit)));
    match parted {
        Some((value, unit)) if value > 0.0 && value.is_finite() && !unit.trim_start().starts_with('%') => {
            Ok(NamedBound { name, bound: Bound::Absolute { value, unit: unit.trim().into() } })
        }
        _ => Err(refusal()),
    }
}

/// A whole number from 1 up: sub-steps, steps. `1e6` is one.
pub fn parse_count(text: &str, what: &str) -> Result<u64, String> {
    let trimmed = text.trim();
    let whole = trimmed.parse::<u64>().ok().or_else(|| {
        // Above 2^53 a float no longer says which whole number was meant.
        number(trimmed).filter(|v| v.fract() == 0.0 && (1.0..=9e15).contains(v)).map(|v| v as u64)
    });
    match whole {
        Some(count) if count > 0 => Ok(count),
        _ => Err(format!("{text:?} is not {what}: it must be a whole number from 1 up")),
    }
}

/// `NAME=VALUE`. The first `=` outside single quotes divides: a Modelica name may be `'a=b'`.
pub fn parse_set(text: &str) -> Result<(String, String), String> {
    let mut quoted = false;
    let mut divider = None;
    for (at, c) in text.char_indices() {
        match c {
            '\'' => quoted = !quoted,
            '=' if !quoted => {
                divider = Some(at);
                break;
            }
            _ => {}
        }
    }
    match divider.map(|at| (text[..at].trim(), text[at + 1..].trim())) {
        Some((name, value)) if !name.is_empty() => Ok((name.into(), value.into())),
        _ => Err(format!(
            "{text:?} is not a setting: write NAME=VALUE, with the name of a variable of the FMU"
        )),
    }
}

/// The names in `a,b[1,2],'c,d'`: a comma inside brackets or quotes belongs to the name.
pub fn split_names(text: &str) -> Vec<String> {
    let (mut depth, mut quoted, mut names) = (0u32, false, vec![String::new()]);
    for c in text.chars() {
        match c {
            '\'' => quoted = !quoted,
            '[' | '(' if !quoted => depth += 1,
            ']' | ')' if !quoted => depth = depth.saturating_sub(1),
            ',' if !quoted && depth == 0 => {
                names.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(name) = names.last_mut() {
            name.push(c);
        }
    }
    names.iter().map(|name| name.trim().to_string()).filter(|name| !name.is_empty()).collect()
}

/// `1 ms`, `100 µs`, `2.5 s`: four significant digits, for a person.
pub fn format_duration(seconds: f64) -> String {
    if seconds == 0.0 || !seconds.is_finite() {
        return format!("{seconds} s");
    }
    // Round first: 0.99999 s is "1 s", not "1000 ms".
    let rounded: f64 = format!("{seconds:.3e}").parse().unwrap_or(seconds);
    let size = rounded.abs();
    let (scale, unit) = if size >= 1.0 {
        (1.0, "s")
    } else if size >= 1e-3 {
        (1e3, "ms")
    } else if size >= 1e-6 {
        (1e6, "µs")
    } else if size >= 1e-10 {
        (1e9, "ns")
    } else {
        return format!("{rounded:e} s");
    };
    let scaled = rounded * scale;
    let whole_digits = scaled.abs().max(1.0).log10().floor() as usize + 1;
    let text = format!("{scaled:.*}", 4usize.saturating_sub(whole_digits));
    let text = if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.') } else { &text };
    format!("{text} {unit}")
}

/// Four significant digits, for a person: `0.2`, `1.333`, `5.6e-6`; never `0.19999999999999998`.
pub fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return value.to_string();
    }
    let rounded: f64 = format!("{value:.3e}").parse().unwrap_or(value);
    match rounded.abs() {
        size if !(1e-4..1e6).contains(&size) => format!("{rounded:e}"),
        _ => rounded.to_string(),
    }
}

/// A share in per cent, three significant digits: `1 %`, `0.443 %`, `0.00056 %`.
pub fn share(share: f64) -> String {
    let value = 100.0 * share;
    if value == 0.0 || !(1e-5..1e5).contains(&value.abs()) {
        return if value == 0.0 { "0 %".into() } else { percent_to(share, 3) };
    }
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    format!("{rounded} %")
}

/// A share in per cent, for a person: `0.195 %`, `2.3e7 %`. Three digits behind the point.
pub fn percent(share: f64) -> String {
    percent_to(share, 3)
}

/// With so many digits behind the point, as far as that is a number that people read.
pub fn percent_to(share: f64, digits: usize) -> String {
    let value = 100.0 * share;
    if value.is_nan() {
        "an unknown share".into()
    } else if value.is_infinite() {
        "more than 1e300 %".into()
    } else if value.abs() >= 1e5 || value != 0.0 && value.abs() < 0.5 * 0.1f64.powi(digits as i32) {
        format!("{value:.1e} %")
    } else {
        format!("{value:.digits$} %")
    }
}

/// What a step multiplies a mode by, where that is too much: `1.0000023`. As many digits as tell it from 1.
pub fn amplification(value: f64) -> String {
    let excess = (value - 1.0).abs();
    match excess {
        _ if value.is_nan() => "unknown".into(),
        _ if value.is_infinite() => "more than 1e300".into(),
        _ if value.abs() >= 1e5 => format!("{value:.2e}"),
        0.0 => "1".into(),
        _ if excess >= 1e-3 => format!("{value:.3}"),
        // Two digits of the excess.
        _ => format!("{value:.*}", (1.0 - excess.log10().floor()).min(17.0) as usize),
    }
}

/// To two leading digits, upwards.
pub fn round_up(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor() - 1.0);
    (value / power).ceil() * power
}

/// An eigenvalue, and its conjugate where it has one.
pub fn eigenvalue(re: f64, im: f64) -> String {
    if im == 0.0 { format!("{re:.4}") } else { format!("{re:.4} ± {:.4}i", im.abs()) }
}

fn seconds(text: &str) -> Option<f64> {
    let text = text.trim();
    // Longest first: `s` ends them all. Both code points that look like µ are in use.
    // Divisors are exact: 100us is 1e-4 to the last bit, which 100 * 1e-6 is not.
    let units = [
        ("min", 60.0, 1.0),
        ("ms", 1.0, 1e3),
        ("us", 1.0, 1e6),
        ("µs", 1.0, 1e6),
        ("μs", 1.0, 1e6),
        ("ns", 1.0, 1e9),
    ];
    for (unit, times, divided_by) in units.into_iter().chain([("s", 1.0, 1.0)]) {
        if let Some(rest) = text.strip_suffix(unit) {
            return number(rest.trim_end()).map(|value| value * times / divided_by);
        }
    }
    number(text)
}

/// A decimal number. Rust would read `inf` and `nan` as well: words are no quantities.
fn number(text: &str) -> Option<f64> {
    let plain = text.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c))
        && text.chars().all(|c| c.is_ascii_digit() || "+-.eE".contains(c));
    if plain { text.parse().ok() } else { None }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_are_not_rounded_to_nothing() {
        assert_eq!([0.01, 0.00443, 5.6e-6, 0.0].map(share), ["1 %", "0.443 %", "0.00056 %", "0 %"]);
        assert_eq!(share(5.6e-9), "5.6e-7 %");
        let shown = [0.199_999_999_999_999_98, 2.0, 1.0 / 3.0, 5.6e-6].map(significant);
        assert_eq!(shown, ["0.2", "2", "0.3333", "5.6e-6"]);
    }

    #[test]
    fn a_bound_is_a_share_or_in_a_unit() {
        let bound = |text| parse_bound(text, "an error").unwrap();
        let absolute = |value, unit: &str| Bound::Absolute { value, unit: unit.into() };
        assert_eq!(bound("1%"), NamedBound { name: None, bound: Bound::Share(0.01) });
        assert_eq!(bound("y=0.5%"), NamedBound { name: Some("y".into()), bound: Bound::Share(0.005) });
        assert_eq!(bound("T=0.2degC").bound, absolute(0.2, "degC"));
        assert_eq!(bound("a=1e-3 m/s2").bound, absolute(1e-3, "m/s2"));
        assert_eq!(bound("i=2e").bound, absolute(2.0, "e"));
        for text in ["", "y", "y=", "=1%", "y=-1%", "y=0", "0%", "y=-2V"] {
            assert!(parse_bound(text, "an error").is_err(), "{text}");
        }
    }

    #[test]
    fn percentages_are_read_by_people() {
        for (share, text) in [
            (0.001_95, "0.195 %"),
            (7.0, "700.000 %"),
            (2.3e5, "2.3e7 %"),
            (0.0, "0.000 %"),
            (9.1e-7, "9.1e-5 %"),
            (1e300, "1.0e302 %"),
            (f64::MAX, "more than 1e300 %"),
            (f64::INFINITY, "more than 1e300 %"),
            (f64::NAN, "an unknown share"),
        ] {
            assert_eq!(percent(share), text);
        }
        assert_eq!(percent_to(0.003, 2), "0.30 %");
    }

    /// What is above 1 does not read as 1.
    #[test]
    fn amplifications_show_what_is_above_one() {
        for (value, text) in [
            (1.056, "1.056"),
            (1.000_002_34, "1.0000023"),
            (1.0 + 3.0 * f64::EPSILON, "1.00000000000000067"),
            (12.5, "12.500"),
            (1e9, "1.00e9"),
            (f64::INFINITY, "more than 1e300"),
            (f64::NAN, "unknown"),
            (1.0, "1"),
        ] {
            assert_eq!(amplification(value), text);
        }
    }

    #[test]
    fn durations_are_seconds_unless_a_unit_says_otherwise() {
        for (text, value) in [
            ("1e-3", 1e-3),
            ("0.001", 1e-3),
            ("1ms", 1e-3),
            ("1 ms", 1e-3),
            ("100us", 1e-4),
            ("100µs", 1e-4),
            ("100μs", 1e-4),
            ("10ns", 1e-8),
            ("2s", 2.0),
            (" 2 ", 2.0),
            ("1min", 60.0),
            (".5", 0.5),
            ("+1E-3", 1e-3),
        ] {
            assert_eq!(parse_duration(text), Ok(value), "{text}");
        }
    }

    #[test]
    fn what_is_no_step_is_quoted_and_refused() {
        let refused = [
            "0", "-1", "0ms", "-1ms", "nan", "NaN", "inf", "infinity", "-inf", "1e999", "", "s", "ms", "1m",
            "1h", "abc", "1,5", "1e", "0x10", "1e-999", "--quiet", "1 2",
        ];
        for text in refused {
            let message = parse_duration(text).unwrap_err();
            assert_eq!(
                message,
                format!(
                    "{text:?} is not a step: it must be a positive number of seconds, such as 1e-3, 1ms or 100us"
                )
            );
        }
    }

    #[test]
    fn a_time_may_be_negative() {
        assert_eq!(parse_time("-1.5", "a start time"), Ok(-1.5));
        assert_eq!(parse_time("0", "a start time"), Ok(0.0));
        assert!(parse_time("nan", "a start time").unwrap_err().starts_with("\"nan\" is not a start time"));
    }

    #[test]
    fn budgets_are_times_or_evaluations() {
        assert_eq!(parse_budget("100us"), Ok(Budget::Time(1e-4)));
        assert_eq!(parse_budget("1e-4"), Ok(Budget::Time(1e-4)));
        assert_eq!(parse_budget("3f"), Ok(Budget::Evaluations(3.0)));
        assert_eq!(parse_budget("2.5 f"), Ok(Budget::Evaluations(2.5)));
        assert_eq!(parse_budget("25%"), Ok(Budget::Share(0.25)));
        for text in ["0", "0f", "-1f", "f", "inf", "inff", "3g", "%", "-1%", ""] {
            assert!(parse_budget(text).is_err(), "{text}");
        }
    }

    #[test]
    fn fractions_and_counts() {
        assert_eq!(parse_fraction("1%", "a tolerance"), Ok(0.01));
        assert_eq!(parse_fraction("0.01", "a tolerance"), Ok(0.01));
        assert!(parse_fraction("0", "a tolerance").is_err());
        assert_eq!(parse_count("1e6", "a number of steps"), Ok(1_000_000));
        assert_eq!(parse_count("7", "a number of steps"), Ok(7));
        for text in ["0", "-3", "1.5", "1e30", "x", ""] {
            assert!(parse_count(text, "a number of steps").is_err(), "{text}");
        }
    }

    #[test]
    fn ranges_have_two_ends_in_order() {
        let range = |name: &str, low, high| Ok(NamedRange { name: name.into(), low, high });
        assert_eq!(parse_range("u=-1:2.5"), range("u", -1.0, 2.5));
        assert_eq!(parse_range("'a=b' = 0 : 0"), range("'a=b'", 0.0, 0.0));
        for text in ["u", "u=1", "u=2:1", "=1:2", "u=a:b", "u=nan:1", "u=1:inf", "u=1:1e999"] {
            assert!(parse_range(text).unwrap_err().contains("NAME=LO:HI"), "{text}");
        }
    }

    #[test]
    fn scenarios_and_memory() {
        assert_eq!((parse_explore("none"), parse_explore("20")), (Ok(0), Ok(20)));
        for text in ["0", "-1", "many", "1e9"] {
            assert!(parse_explore(text).is_err(), "{text}");
        }
        let memory = |text| parse_memory(text, "a memory limit");
        assert_eq!((memory("512MB"), memory("2 GiB")), (Ok(512_000_000), Ok(2 << 30)));
        assert_eq!((memory("1e9"), memory("64MB")), (Ok(1_000_000_000), Ok(64_000_000)));
        for text in ["0", "2", "64kB", "-1MB", "MB", "1TBx", ""] {
            assert!(memory(text).is_err(), "{text}");
        }
    }

    #[test]
    fn settings_divide_at_the_first_equals_sign() {
        let pair = |name: &str, value: &str| Ok((name.to_string(), value.to_string()));
        assert_eq!(parse_set("k=-5"), pair("k", "-5"));
        assert_eq!(parse_set("body.r[1,2] = 3"), pair("body.r[1,2]", "3"));
        assert_eq!(parse_set("path=a=b"), pair("path", "a=b"));
        assert_eq!(parse_set("'a=b'=1"), pair("'a=b'", "1"));
        assert_eq!(parse_set("name="), pair("name", ""));
        for text in ["k", "=5", "", "'a=b'"] {
            assert!(parse_set(text).unwrap_err().contains("NAME=VALUE"), "{text}");
        }
    }

    #[test]
    fn commas_inside_a_name_do_not_divide_it() {
        assert_eq!(split_names("a,b[1,2], 'c,d' ,der(x[1,2])"), ["a", "b[1,2]", "'c,d'", "der(x[1,2])"]);
        assert!(split_names(" , ").is_empty());
    }

    #[test]
    fn durations_are_shown_in_the_fitting_unit() {
        for (value, text) in [
            (1e-3, "1 ms"),
            (1e-4, "100 µs"),
            (2.5, "2.5 s"),
            (60.0, "60 s"),
            (12345.6, "12350 s"),
            (1.0 / 3.0, "333.3 ms"),
            (0.999_99, "1 s"),
            (9.9999e-4, "1 ms"),
            (1.5e-8, "15 ns"),
            (3.35e-9, "3.35 ns"),
            (1e-15, "1e-15 s"),
            (0.0, "0 s"),
            (-0.02, "-20 ms"),
        ] {
            assert_eq!(format_duration(value), text);
        }
    }
}
