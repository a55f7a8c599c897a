//! Names of variables: the grammar of `variableNamingConvention="structured"`, FMI 2.0, section 2.2.9.

/// `a.b[1,2].c`, `der(a.b)`, `der(a,2)`, `a.'quoted name'`. Escapes inside quotes are not understood:
/// a model that has them is written as `flat`, where every name is legal.
pub(crate) fn is_structured(name: &str) -> bool {
    if let Some(inner) = name.strip_prefix("der(").and_then(|n| n.strip_suffix(')')) {
        return match inner.rsplit_once(',') {
            // The comma may belong to an index: der(a[1,2]).
            Some((identifier, order)) if is_number(order) && is_identifier(identifier) => true,
            _ => is_identifier(inner),
        };
    }
    is_identifier(name)
}

fn is_identifier(name: &str) -> bool {
    let mut rest = name;
    loop {
        let Some(after) = strip_name(rest).and_then(strip_indices) else { return false };
        match after.strip_prefix('.') {
            Some(more) => rest = more,
            None => return after.is_empty(),
        }
    }
}

fn strip_name(text: &str) -> Option<&str> {
    if let Some(quoted) = text.strip_prefix('\'') {
        let (inner, after) = quoted.split_once('\'')?;
        let legal = |c: char| c.is_ascii_alphanumeric() || "_!#$%&()*+,-./:;<>=?@[]^{}|~ ".contains(c);
        return (!inner.is_empty() && inner.chars().all(legal)).then_some(after);
    }
    let length = text.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    let starts_with_digit = text.as_bytes().first().is_some_and(u8::is_ascii_digit);
    (length > 0 && !starts_with_digit).then(|| &text[length..])
}

fn strip_indices(text: &str) -> Option<&str> {
    let Some(indices) = text.strip_prefix('[') else { return Some(text) };
    let (inner, after) = indices.split_once(']')?;
    inner.split(',').all(is_number).then_some(after)
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structured_names() {
        for good in ["a", "_a1.b", "a[1,2].c", "der(a.b)", "der(a[1,2])", "der(a[1],2)", "a.'b c'[3]", "der"]
        {
            assert!(is_structured(good), "{good}");
        }
        for bad in [
            "", "1a", "a.", ".a", "a b", "a[1, 2]", "a[]", "a[i]", "a.der(b)", "der(a)_2", "der()", "''",
            "ä", "a'b'",
        ] {
            assert!(!is_structured(bad), "{bad}");
        }
    }
}
