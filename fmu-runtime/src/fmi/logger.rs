//! The messages of an FMU that has no importer: the builder's worker collects them and shows the last ones when
//! something fails.
//!
//! FMUs send a printf format and its arguments. A variadic function cannot be defined in stable Rust; but where
//! variadic arguments travel as fixed ones do, a function with a few fixed arguments of each kind can be called
//! in its place, and reads only those that the format names.
#![allow(unsafe_code)]

use super::Callbacks;
use crate::component::Importer;
use crate::status::Status;
use crate::version::Version;
use fmi2_types::Logger;
use std::ffi::{CStr, CString, c_char, c_void};
use std::fmt;
use std::sync::Mutex;

/// The last messages of an FMU, as text, and the first of an error: what comes later may only follow from it. Or, for an
/// importer whose logger takes finished messages, where they are handed on to.
#[derive(Default)]
pub struct Log {
    kept: Mutex<Kept>,
    importer: Option<(CString, Box<dyn Importer + Send + Sync>)>,
}

#[derive(Default)]
struct Kept {
    last: Vec<String>,
    first_error: Option<String>,
}

impl Log {
    const KEPT: usize = 20;

    /// Nothing is kept: each message of this instance goes to the importer at once.
    pub fn to(instance: CString, importer: Box<dyn Importer + Send + Sync>) -> Log {
        Log { importer: Some((instance, importer)), ..Log::default() }
    }

    pub fn messages(&self) -> Vec<String> {
        self.kept.lock().map(|kept| kept.last.clone()).unwrap_or_default()
    }

    /// The first message of a call that failed.
    pub fn first_error(&self) -> Option<String> {
        self.kept.lock().ok()?.first_error.clone()
    }

    fn push(&self, status: Status, category: &CStr, text: &str) {
        if let Some((instance, importer)) = &self.importer {
            return importer.log(instance, status, category, format_args!("{text}"));
        }
        let message = format!("{}: {text}", status.name());
        if let Ok(mut kept) = self.kept.lock() {
            if status >= Status::Error {
                kept.first_error.get_or_insert_with(|| message.clone());
            }
            if kept.last.len() == Self::KEPT {
                kept.last.remove(0);
            }
            kept.last.push(message);
        }
    }
}

impl Importer for Callbacks {
    fn version(&self) -> Version {
        Version::Two
    }

    fn log(&self, instance: &CStr, status: Status, category: &CStr, message: fmt::Arguments) {
        Callbacks::log(self, instance, status, category, message);
    }
}

/// Callbacks that collect messages in the [`Log`] at `environment`.
pub(super) fn collecting(environment: *mut c_void) -> Callbacks {
    // System V on x86-64 and AAPCS64 on ARM: integers in the free registers and then on the stack, the first eight
    // floats in registers of their own.
    #[cfg(all(unix, not(target_vendor = "apple"), any(target_arch = "x86_64", target_arch = "aarch64")))]
    #[allow(clippy::too_many_arguments)]
    unsafe extern "C" fn logger(
        environment: *mut c_void,
        _instance: *const c_char,
        status: i32,
        category: *const c_char,
        message: *const c_char,
        i0: u64,
        f0: f64,
        f1: f64,
        f2: f64,
        f3: f64,
        f4: f64,
        f5: f64,
        f6: f64,
        f7: f64,
        i1: u64,
        i2: u64,
        i3: u64,
        i4: u64,
        i5: u64,
        i6: u64,
        i7: u64,
    ) {
        let (integers, floats) = ([i0, i1, i2, i3, i4, i5, i6, i7], [f0, f1, f2, f3, f4, f5, f6, f7]);
        let arguments = Arguments { integers: &integers, floats: Some(&floats) };
        // SAFETY: pointers come from the FMU as FMI prescribes.
        unsafe { collect(environment, status, [category, message], arguments) }
    }
    // Windows on x86-64: after the fourth argument everything is on the stack, eight bytes each, in order.
    #[cfg(all(windows, target_arch = "x86_64"))]
    #[allow(clippy::too_many_arguments)]
    unsafe extern "C" fn logger(
        environment: *mut c_void,
        _instance: *const c_char,
        status: i32,
        category: *const c_char,
        message: *const c_char,
        a0: u64,
        a1: u64,
        a2: u64,
        a3: u64,
        a4: u64,
        a5: u64,
        a6: u64,
        a7: u64,
    ) {
        let slots = [a0, a1, a2, a3, a4, a5, a6, a7];
        // SAFETY: pointers come from the FMU as FMI prescribes.
        unsafe {
            collect(environment, status, [category, message], Arguments { integers: &slots, floats: None })
        }
    }
    #[cfg(not(any(
        all(unix, not(target_vendor = "apple"), any(target_arch = "x86_64", target_arch = "aarch64")),
        all(windows, target_arch = "x86_64")
    )))]
    unsafe extern "C" fn logger(
        environment: *mut c_void,
        _instance: *const c_char,
        status: i32,
        category: *const c_char,
        message: *const c_char,
    ) {
        // SAFETY: as above; without arguments the format is shown as it is.
        unsafe {
            collect(environment, status, [category, message], Arguments { integers: &[], floats: Some(&[]) })
        }
    }
    // SAFETY: the ABI passes fixed and variadic arguments alike, see above.
    let logger = unsafe { std::mem::transmute::<*const (), Logger>(logger as *const ()) };
    Callbacks { logger: Some(logger), environment, ..Callbacks::NONE }
}

/// Callbacks whose logger says nothing: it must be there, some FMUs call it unasked.
pub(super) fn silent(callbacks: Callbacks) -> Callbacks {
    unsafe extern "C" fn logger(
        _: *mut c_void,
        _: *const c_char,
        _: i32,
        _: *const c_char,
        _: *const c_char,
    ) {
    }
    // SAFETY: the caller cleans up its arguments, which are not looked at.
    let logger = unsafe { std::mem::transmute::<*const (), Logger>(logger as *const ()) };
    Callbacks { logger: Some(logger), ..callbacks }
}

/// # Safety
/// `environment` points to a live [`Log`]; category and message are null or C strings, and the message's conversions fit
/// the arguments.
unsafe fn collect(
    environment: *mut c_void,
    status: i32,
    [category, message]: [*const c_char; 2],
    arguments: Arguments,
) {
    if environment.is_null() || message.is_null() {
        return;
    }
    // SAFETY: promised by the caller.
    let (log, format) = unsafe { (&*environment.cast::<Log>(), CStr::from_ptr(message).to_bytes()) };
    // SAFETY: likewise.
    let category = if category.is_null() { c"" } else { unsafe { CStr::from_ptr(category) } };
    // SAFETY: likewise.
    let text = unsafe { expand(format, arguments) };
    log.push(Status::from_c(status), category, &harmless(text.trim()));
}

/// A message as one line that a terminal only shows: escape sequences and other control characters are spelt out.
fn harmless(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '\n' | '\t' => shown.push(' '),
            '\r' => {}
            _ if character.is_control() => shown.extend(character.escape_unicode()),
            _ => shown.push(character),
        }
    }
    shown
}

/// What a format's conversions are given, in order.
#[derive(Clone, Copy)]
struct Arguments<'a> {
    integers: &'a [u64],
    /// Floats apart; `None` where they lie among the integers, as bits.
    floats: Option<&'a [f64]>,
}

impl Arguments<'_> {
    fn integer(&mut self) -> Option<u64> {
        let (first, rest) = self.integers.split_first()?;
        self.integers = rest;
        Some(*first)
    }

    fn float(&mut self) -> Option<f64> {
        let Some(floats) = self.floats else { return self.integer().map(f64::from_bits) };
        let Some((first, rest)) = floats.split_first() else {
            // Further floats lie on the stack among the integers: what comes after them cannot be told.
            self.integers = &[];
            return None;
        };
        self.floats = Some(rest);
        Some(*first)
    }
}

/// One conversion of a printf format: `%`, flags, width, precision, length, letter.
struct Conversion {
    left: bool,
    zero: bool,
    width: usize,
    precision: Option<usize>,
    wide: bool,
    letter: u8,
}

/// Nobody needs more; a format that asks for a gigabyte of blanks gets these.
const WIDEST: usize = 64;

/// printf for the conversions that FMUs use in messages. What cannot be expanded, because there is no such argument
/// or the conversion is unknown, is shown as it stands.
///
/// # Safety
/// Where the format says `%s`, the argument is a C string, or as many bytes as the precision says.
unsafe fn expand(format: &[u8], mut arguments: Arguments) -> String {
    let mut text = Vec::with_capacity(format.len());
    let mut rest = format;
    while let Some(at) = rest.iter().position(|&byte| byte == b'%') {
        text.extend_from_slice(&rest[..at]);
        rest = &rest[at..];
        let Some((conversion, length)) = parse(rest, &mut arguments) else {
            break; // an unfinished conversion at the end
        };
        // SAFETY: promised by the caller.
        match unsafe { convert(&conversion, &mut arguments) } {
            Some(converted) => text.extend_from_slice(&conversion.pad(converted)),
            None => text.extend_from_slice(&rest[..length]),
        }
        rest = &rest[length..];
    }
    text.extend_from_slice(rest);
    String::from_utf8_lossy(&text).into_owned()
}

/// The conversion at the beginning of `format`, and its length. A `*` takes its argument here, as printf does.
fn parse(format: &[u8], arguments: &mut Arguments) -> Option<(Conversion, usize)> {
    let mut conversion =
        Conversion { left: false, zero: false, width: 0, precision: None, wide: false, letter: 0 };
    let mut at = 1;
    while let Some(flag @ (b'-' | b'+' | b' ' | b'#' | b'0')) = format.get(at) {
        conversion.left |= *flag == b'-';
        conversion.zero |= *flag == b'0';
        at += 1;
    }
    let mut number = |at: &mut usize| {
        if format.get(*at) == Some(&b'*') {
            *at += 1;
            return arguments.integer().map(|value| value as i32 as i64);
        }
        let mut value = 0i64;
        while let Some(digit @ b'0'..=b'9') = format.get(*at) {
            value = (10 * value + (digit - b'0') as i64).min(1 << 30);
            *at += 1;
        }
        Some(value)
    };
    let width = number(&mut at).unwrap_or(0);
    conversion.left |= width < 0;
    conversion.width = width.unsigned_abs() as usize;
    if format.get(at) == Some(&b'.') {
        at += 1;
        // A negative precision counts as none.
        conversion.precision = number(&mut at).and_then(|precision| usize::try_from(precision).ok());
    }
    while let Some(length @ (b'h' | b'l' | b'z' | b'j' | b't' | b'q' | b'L')) = format.get(at) {
        conversion.wide |= *length != b'h';
        if *length == b'L' {
            *arguments = Arguments { integers: &[], floats: Some(&[]) }; // a long double: no way past it
        }
        at += 1;
    }
    conversion.letter = *format.get(at)?;
    Some((conversion, at + 1))
}

/// # Safety
/// As [`expand`].
unsafe fn convert(conversion: &Conversion, arguments: &mut Arguments) -> Option<Vec<u8>> {
    let wide = conversion.wide;
    let text = match conversion.letter {
        b'%' => "%".to_string(),
        b'c' => {
            let character = char::from_u32(arguments.integer()? as u32 & 0xff)?;
            return Some(character.to_string().into_bytes());
        }
        b's' => {
            let pointer = arguments.integer()? as usize as *const u8;
            if pointer.is_null() {
                return Some(b"(null)".to_vec());
            }
            let longest = conversion.precision.unwrap_or(usize::MAX);
            let mut bytes = Vec::new();
            // SAFETY: promised by the caller; no byte behind the zero or the precision is read.
            unsafe {
                while bytes.len() < longest && *pointer.add(bytes.len()) != 0 {
                    bytes.push(*pointer.add(bytes.len()));
                }
            }
            return Some(bytes);
        }
        b'd' | b'i' => {
            let value = arguments.integer()?;
            if wide { (value as i64).to_string() } else { (value as i32).to_string() }
        }
        b'u' => {
            let value = arguments.integer()?;
            if wide { value.to_string() } else { (value as u32).to_string() }
        }
        b'x' | b'X' | b'p' => {
            let value = arguments.integer()?;
            let value = if wide || conversion.letter == b'p' { value } else { value & 0xffff_ffff };
            if conversion.letter == b'X' { format!("{value:X}") } else { format!("{value:x}") }
        }
        b'f' | b'F' => {
            let precision = conversion.precision.unwrap_or(6).min(WIDEST);
            format!("{:.precision$}", arguments.float()?)
        }
        // Every digit that counts, whatever the format asks for: it is read to find an error.
        b'g' | b'G' | b'e' | b'E' => arguments.float()?.to_string(),
        b'n' => {
            arguments.integer()?; // nothing is written
            String::new()
        }
        _ => return None,
    };
    Some(text.into_bytes())
}

impl Conversion {
    fn pad(&self, text: Vec<u8>) -> Vec<u8> {
        let missing = self.width.min(WIDEST).saturating_sub(text.len());
        let number = matches!(self.letter, b'd' | b'i' | b'u' | b'x' | b'X' | b'f' | b'F');
        if self.left {
            [text, vec![b' '; missing]].concat()
        } else if self.zero && number {
            let sign = usize::from(text.first() == Some(&b'-'));
            [&text[..sign], &vec![b'0'; missing], &text[sign..]].concat()
        } else {
            [vec![b' '; missing], text].concat()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    fn expanded(format: &CStr, integers: &[u64], floats: Option<&[f64]>) -> String {
        // SAFETY: the tests' arguments fit their formats.
        unsafe { expand(format.to_bytes(), Arguments { integers, floats }) }
    }

    /// An FMU's message reaches the log as printf would have written it.
    #[test]
    fn messages_are_expanded() {
        let word = c"ceil";
        let log = Arc::new(Log::default());
        let callbacks = collecting(Arc::as_ptr(&log).cast_mut().cast());
        let logger = callbacks.logger.unwrap_or_else(|| unreachable!());
        // SAFETY: the arguments fit the format.
        unsafe {
            logger(
                callbacks.environment,
                c"i".as_ptr(),
                3,
                c"c".as_ptr(),
                c"%s at %d: %g is 100%%, %lu, then %.3f and %s".as_ptr(),
                word.as_ptr(),
                -7i32,
                0.5f64,
                1u64 << 40,
                2.25f64,
                word.as_ptr(),
            );
        }
        assert_eq!(
            log.messages(),
            ["fmi2Error: ceil at -7: 0.5 is 100%, 1099511627776, then 2.250 and ceil"]
        );
    }

    /// `%c` and each `*` take an argument of their own; otherwise a number would be followed as a string.
    #[test]
    fn every_conversion_takes_its_own_arguments() {
        let word = c"word".as_ptr() as usize as u64;
        assert_eq!(expanded(c"%c%c %s", &[b'o' as u64, b'k' as u64, word], Some(&[])), "ok word");
        assert_eq!(expanded(c"[%*d] %s", &[5, 42, word], Some(&[])), "[   42] word");
        assert_eq!(expanded(c"[%-*d] %s", &[5, 42, word], Some(&[])), "[42   ] word");
        assert_eq!(expanded(c"%.*f %s", &[2, word], Some(&[1.5])), "1.50 word");
        assert_eq!(
            expanded(c"%*.*f|%05d|%x", &[8, 3, (-42i32) as u32 as u64, 255], Some(&[2.5])),
            "   2.500|-0042|ff"
        );
        assert_eq!(expanded(c"%.*s!", &[2, word], Some(&[])), "wo!");
        assert_eq!(expanded(c"%n%s", &[0, word], Some(&[])), "word");
        assert_eq!(expanded(c"%s", &[0], Some(&[])), "(null)");
        // On Windows the arguments lie side by side.
        assert_eq!(expanded(c"%g %d %s", &[0.5f64.to_bits(), 3, word], None), "0.5 3 word");
    }

    /// More conversions than arguments, unfinished and unknown ones, and endless widths.
    #[test]
    fn what_cannot_be_expanded_stays() {
        assert_eq!(expanded(c"100%", &[], Some(&[])), "100%");
        assert_eq!(expanded(c"%d %s %g", &[], Some(&[])), "%d %s %g");
        assert_eq!(expanded(c"%y %5", &[1], Some(&[])), "%y %5");
        assert_eq!(
            expanded(c"%g %g %d", &[7], Some(&[1.5])),
            "1.5 %g %d",
            "the second float hides the integer"
        );
        assert_eq!(expanded(c"%Lf %s", &[1], Some(&[1.5])), "%Lf %s", "a long double is no double");
        assert_eq!(expanded(c"%999999999999d", &[7], Some(&[])).len(), WIDEST);
    }

    /// What a model says must not move the user's cursor or change a terminal's title.
    #[test]
    fn control_characters_are_spelt_out() {
        assert_eq!(harmless("a\x1b[2J\x07b\r\nc\u{9b}31m"), "a\\u{1b}[2J\\u{7}b c\\u{9b}31m");
        assert_eq!(harmless("Grüße, 世界"), "Grüße, 世界");
    }
}
