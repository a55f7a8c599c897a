//! Numbers and truth values as XML Schema writes them, and as tools write them.
//!
//! Each function takes the text of an attribute and gives the text that is legal, or `None` if no sense
//! can be made of it. Legal text comes back as it is, digit for digit.

use std::borrow::Cow;

/// `xs:double`. Understood besides: `1.#INF`, `Infinity`, `nan`, `1,5`, Fortran's `1d-3`.
pub(crate) fn double(text: &str) -> Option<Cow<'_, str>> {
    let trimmed = text.trim();
    if is_double(trimmed) {
        return Some(Cow::Borrowed(trimmed));
    }
    let lower = trimmed.to_ascii_lowercase();
    let (negative, digits) = match lower.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, lower.strip_prefix('+').unwrap_or(&lower)),
    };
    if matches!(digits, "inf" | "infinity") || digits.starts_with("1.#inf") {
        return Some(Cow::Borrowed(if negative { "-INF" } else { "INF" }));
    }
    if digits.starts_with("nan") || ["1.#ind", "1.#qnan", "1.#snan"].iter().any(|n| digits.starts_with(n)) {
        return Some(Cow::Borrowed("NaN"));
    }
    let mut plain = lower.replacen('d', "e", 1);
    if !plain.contains('.') {
        plain = plain.replacen(',', ".", 1);
    }
    is_double(&plain).then_some(Cow::Owned(plain))
}

/// The value of an `xs:double`.
pub(crate) fn parse_double(text: &str) -> Option<f64> {
    double(text)?.parse().ok()
}

/// The shortest `xs:double` that reads back as `value`.
pub(crate) fn print_double(value: f64) -> String {
    if value.is_nan() {
        "NaN".into()
    } else if value.is_infinite() {
        if value > 0.0 { "INF".into() } else { "-INF".into() }
    } else {
        format!("{value:?}")
    }
}

fn is_double(text: &str) -> bool {
    if matches!(text, "INF" | "-INF" | "NaN") {
        return true;
    }
    let unsigned = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let digits = |s: &str| s.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent_is_fine = exponent.is_none_or(|e| {
        let e = e.strip_prefix(['+', '-']).unwrap_or(e);
        !e.is_empty() && digits(e)
    });
    !(whole.is_empty() && fraction.is_empty()) && digits(whole) && digits(fraction) && exponent_is_fine
}

/// `xs:int`. Understood besides: whole numbers such as `3.0` and `1e3`, and `true`, `false`.
pub(crate) fn int(text: &str) -> Option<Cow<'_, str>> {
    let trimmed = text.trim();
    if trimmed.parse::<i32>().is_ok() {
        return Some(Cow::Borrowed(trimmed));
    }
    if let Some(value) = parse_double(trimmed) {
        let whole = value.fract() == 0.0 && (f64::from(i32::MIN)..=f64::from(i32::MAX)).contains(&value);
        return whole.then(|| Cow::Owned((value as i32).to_string()));
    }
    boolean(trimmed).map(|b| Cow::Borrowed(if b == "true" || b == "1" { "1" } else { "0" }))
}

/// `xs:boolean`. Understood besides: any case, `yes`, `no`, `on`, `off`, `1.0`, `0.0`.
pub(crate) fn boolean(text: &str) -> Option<Cow<'_, str>> {
    let trimmed = text.trim();
    if matches!(trimmed, "true" | "false" | "1" | "0") {
        return Some(Cow::Borrowed(trimmed));
    }
    match trimmed.to_ascii_lowercase().as_str() {
        "true" | "yes" | "on" | "1.0" => Some(Cow::Borrowed("true")),
        "false" | "no" | "off" | "0.0" => Some(Cow::Borrowed("false")),
        _ => None,
    }
}

pub(crate) fn parse_boolean(text: &str) -> Option<bool> {
    boolean(text).map(|b| b == "true" || b == "1")
}

/// `xs:unsignedInt`: an index or a value reference. Nothing but digits is understood.
pub(crate) fn parse_unsigned(text: &str) -> Option<u32> {
    text.trim().parse().ok()
}

/// `xs:dateTime`, by its shape: `2026-02-03T04:05:06`, with fraction and zone if need be.
pub(crate) fn is_date_time(text: &str) -> bool {
    let bytes = text.trim().as_bytes();
    let Some((date, rest)) = bytes.split_at_checked(19) else { return false };
    let shaped = date.iter().zip(b"0000-00-00T00:00:00").all(|(b, shape)| match shape {
        b'0' => b.is_ascii_digit(),
        _ => b == shape,
    });
    let number = |at: usize| (date[at] - b'0') * 10 + (date[at + 1] - b'0');
    if !shaped || !(1..=12).contains(&number(5)) || !(1..=31).contains(&number(8)) {
        return false;
    }
    if number(11) > 23 || number(14) > 59 || number(17) > 59 {
        return false;
    }
    let rest = match rest {
        [b'.', fraction @ ..] => {
            let digits = fraction.iter().take_while(|b| b.is_ascii_digit()).count();
            if digits == 0 {
                return false;
            }
            &fraction[digits..]
        }
        _ => rest,
    };
    match rest {
        [] | [b'Z'] => true,
        [b'+' | b'-', a, b, b':', c, d] => [a, b, c, d].iter().all(|b| b.is_ascii_digit()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Left: what tools write. Right: what the schema allows, `None` for nonsense.
    #[test]
    fn doubles() {
        for (text, expected) in [
            ("1e308", Some("1e308")),
            ("+1.0", Some("+1.0")),
            (" 1 ", Some("1")),
            (".5", Some(".5")),
            ("5.", Some("5.")),
            ("INF", Some("INF")),
            ("+INF", Some("INF")),
            ("-inf", Some("-INF")),
            ("1.#INF", Some("INF")),
            ("-1.#INF00", Some("-INF")),
            ("-1.#IND", Some("NaN")),
            ("nan", Some("NaN")),
            ("1,5", Some("1.5")),
            ("-1,5E3", Some("-1.5e3")),
            ("1.5d-3", Some("1.5e-3")),
            ("1,000.5", None),
            ("1,000,000", None),
            ("", None),
            (".", None),
            ("1e", None),
            ("0x10", None),
            ("one", None),
            ("--1", None),
        ] {
            assert_eq!(double(text).as_deref(), expected, "{text:?}");
        }
    }

    /// What is printed is legal and reads back bit for bit.
    #[test]
    fn printed_doubles_read_back() {
        for value in [0.0, -0.0, 1e-3, 0.1 + 0.2, 1e300, 5e-324, f64::MAX, f64::INFINITY, f64::NEG_INFINITY] {
            let text = print_double(value);
            assert!(is_double(&text), "{text}");
            assert_eq!(parse_double(&text).map(f64::to_bits), Some(value.to_bits()), "{text}");
        }
    }

    #[test]
    fn integers_and_booleans() {
        for (text, expected) in [
            ("-2147483648", Some("-2147483648")),
            ("2147483648", None),
            ("3.0", Some("3")),
            ("1e3", Some("1000")),
            ("-0.0", Some("0")),
            ("1.5", None),
            ("True", Some("1")),
            ("x", None),
        ] {
            assert_eq!(int(text).as_deref(), expected, "{text:?}");
        }
        for (text, expected) in
            [("True", Some("true")), ("1", Some("1")), (" FALSE", Some("false")), ("2", None)]
        {
            assert_eq!(boolean(text).as_deref(), expected, "{text:?}");
        }
        assert_eq!(parse_unsigned("4294967295"), Some(u32::MAX));
        assert_eq!(parse_unsigned("4294967296"), None);
        assert_eq!(parse_unsigned("-1"), None);
    }

    #[test]
    fn dates() {
        for good in ["2026-02-03T04:05:06", "2026-02-03T04:05:06Z", "2026-02-03T04:05:06.25+01:00"] {
            assert!(is_date_time(good), "{good}");
        }
        for bad in [
            "",
            "2026-02-03",
            "Tue Feb 3 04:05:06 2026",
            "2026-13-03T04:05:06",
            "2026-02-03T04:05:06.",
            "µµµµµµµµµµµµ",
        ] {
            assert!(!is_date_time(bad), "{bad}");
        }
    }
}
