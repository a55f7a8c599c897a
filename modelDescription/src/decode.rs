//! Bytes to text: the encoding is a byte-order mark, else what is declared, else UTF-8.
//!
//! Tools declare one encoding and write another. The bytes are believed where they can be told apart:
//! UTF-8 that is not valid is read as windows-1252, a UTF-16 declaration over single bytes is ignored.

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use crate::error::Error;

/// The text, and a warning for each thing that is not as declared. Every character is legal in XML 1.0.
pub(crate) fn decode(bytes: &[u8], warnings: &mut Vec<String>) -> Result<String, Error> {
    let (encoding, start) = match Encoding::for_bom(bytes) {
        Some(found) => found,
        None => (guess(bytes, warnings)?, 0),
    };
    let body = &bytes[start..];
    let text = match encoding.decode_without_bom_handling_and_without_replacement(body) {
        Some(text) => text,
        None if encoding == UTF_8 => {
            warnings.push("the file is not valid UTF-8; read as windows-1252".into());
            WINDOWS_1252.decode_without_bom_handling(body).0
        }
        None => {
            warnings.push(format!(
                "the file is not valid {}; what could not be read became U+FFFD",
                encoding.name()
            ));
            encoding.decode_without_bom_handling(body).0
        }
    };
    if text.chars().all(is_legal) {
        return Ok(text.into_owned());
    }
    let illegal = |c: &char| !is_legal(*c);
    let line = 1 + text.chars().take_while(|c| is_legal(*c)).filter(|c| *c == '\n').count();
    let first = text.chars().find(illegal).map_or(0, u32::from);
    warnings
        .push(format!("line {line}: the control character U+{first:04X} is illegal in XML; read as U+FFFD"));
    Ok(text.chars().map(legal).collect())
}

/// `Char` of XML 1.0, section 2.2.
pub(crate) fn is_legal(c: char) -> bool {
    matches!(c, '\t' | '\n' | '\r' | ' '..='\u{FFFD}' | '\u{10000}'..)
}

pub(crate) fn legal(c: char) -> char {
    if is_legal(c) { c } else { char::REPLACEMENT_CHARACTER }
}

fn guess(bytes: &[u8], warnings: &mut Vec<String>) -> Result<&'static Encoding, Error> {
    match bytes {
        [b'<', 0, ..] => return Ok(UTF_16LE),
        [0, b'<', ..] => return Ok(UTF_16BE),
        _ => {}
    }
    let Some(label) = declared(bytes) else { return Ok(UTF_8) };
    match Encoding::for_label(label.as_bytes()) {
        None => Err(Error::Encoding { label }),
        Some(wide) if wide == UTF_16LE || wide == UTF_16BE => {
            warnings.push(format!(
                "line 1: the file declares the encoding \"{label}\" but has single bytes; read as UTF-8"
            ));
            Ok(UTF_8)
        }
        Some(encoding) => Ok(encoding),
    }
}

/// The value of `encoding` in an XML declaration of ASCII bytes.
fn declared(bytes: &[u8]) -> Option<String> {
    let head = &bytes[..bytes.len().min(256)];
    let declaration = head.strip_prefix(b"<?xml")?;
    let end = declaration.windows(2).position(|w| w == b"?>")?;
    let text = std::str::from_utf8(&declaration[..end]).ok()?;
    let (_, rest) = text.split_once("encoding")?;
    let rest = rest.trim_start().strip_prefix('=')?.trim_start();
    let quote = rest.chars().next().filter(|c| matches!(c, '"' | '\''))?;
    rest[1..].split_once(quote).map(|(label, _)| label.trim().to_string())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn decoded(bytes: &[u8]) -> (String, usize) {
        let mut warnings = Vec::new();
        (decode(bytes, &mut warnings).unwrap(), warnings.len())
    }

    /// The same text in every encoding that a tool may choose, without a warning.
    #[test]
    fn declared_encodings_and_byte_order_marks() {
        assert_eq!(decoded("\u{FEFF}<a b='µ'/>".as_bytes()), ("<a b='µ'/>".into(), 0));
        let latin = b"<?xml version='1.0' encoding='ISO-8859-1'?><a b='\xB5'/>";
        assert!(decoded(latin).0.ends_with("<a b='µ'/>"));
        let cp1252 = b"<?xml version=\"1.0\" encoding = \"windows-1252\" ?><a b='\x80'/>";
        assert!(decoded(cp1252).0.ends_with("<a b='€'/>"));
        let wide = |big: bool, mark: bool| -> Vec<u8> {
            let text = if mark { "\u{FEFF}<a b='µ'/>" } else { "<a b='µ'/>" };
            text.encode_utf16().flat_map(|u| if big { u.to_be_bytes() } else { u.to_le_bytes() }).collect()
        };
        for (big, mark) in [(false, true), (true, true), (false, false), (true, false)] {
            assert_eq!(decoded(&wide(big, mark)), ("<a b='µ'/>".into(), 0), "big {big}, mark {mark}");
        }
    }

    /// Lies about the encoding are seen through, and said.
    #[test]
    fn wrong_declarations_are_warned_about() {
        assert_eq!(decoded(b"<a b='\xB5'/>"), ("<a b='µ'/>".into(), 1));
        let (text, warnings) = decoded("<?xml version='1.0' encoding='utf-16'?><a b='µ'/>".as_bytes());
        assert!(text.ends_with("<a b='µ'/>") && warnings == 1);
        assert_eq!(decoded(b"<a b='\x01'/>"), ("<a b='\u{FFFD}'/>".into(), 1));
    }

    #[test]
    fn an_unknown_encoding_is_refused_by_name() {
        let error = decode(b"<?xml version='1.0' encoding='klingon'?><a/>", &mut Vec::new()).unwrap_err();
        assert_eq!(error, Error::Encoding { label: "klingon".into() });
    }
}
