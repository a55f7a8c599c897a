//! The verdict as one box with two halves: is the FMU accurate, and is it in time?

use super::escape;
use super::text::capital;
use crate::summary::{Mark, Verdict};
use std::fmt::Write;

pub(super) fn verdict(out: &mut String, verdict: &Verdict) {
    let _ = writeln!(out, "<div class=\"verdict {}\">", class(verdict.mark()));
    half(out, verdict.accuracy.mark, &verdict.accuracy.text(), verdict.accuracy.advice());
    if let Some(time) = &verdict.time {
        half(out, time.mark, &time.text(), None);
    }
    out.push_str("</div>\n");
}

/// `text` begins with the answer in a word or two, then a colon and why.
fn half(out: &mut String, mark: Mark, text: &str, advice: Option<&str>) {
    let (answer, why) = text.split_once(": ").unwrap_or((text, ""));
    let _ = writeln!(
        out,
        "<div class=\"half {}\"><b>{} {}</b><p>{}.{}</p></div>",
        class(mark),
        sign(mark),
        escape(&capital(answer)),
        escape(&capital(why)),
        advice.map_or(String::new(), |advice| format!(" {}.", options(&capital(advice))))
    );
}

/// Options of the command line as code, which no line breaks.
fn options(text: &str) -> String {
    let word = |word: &str| match word.strip_prefix("--") {
        None => escape(word),
        Some(name) => {
            let end = name.trim_end_matches([',', ';', ')']).len();
            format!("<code>--{}</code>{}", escape(&name[..end]), escape(&name[end..]))
        }
    };
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

fn class(mark: Mark) -> &'static str {
    match mark {
        Mark::Kept => "kept",
        Mark::Tight => "tight",
        Mark::Missed => "missed",
        Mark::Unverified => "unverified",
    }
}

/// For those who do not see colours, and on paper.
fn sign(mark: Mark) -> &'static str {
    match mark {
        Mark::Kept => "✓",
        Mark::Tight => "!",
        Mark::Missed => "✗",
        Mark::Unverified => "?",
    }
}
