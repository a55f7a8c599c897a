//! Progress of long work: a bar on a terminal, or lines for the program that called us.
//!
//! A log file or a script reads stderr too, and `--json` and `--quiet` ask for silence: in these cases nothing is
//! drawn, and the calls cost nothing. A program that wants to show progress itself sets `FMU_BUILD_PROGRESS=lines`
//! and gets lines `progress <tab> fraction <tab> stage` on stderr.

use std::cell::{Cell, RefCell};
use std::io::IsTerminal;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};

use crate::quantity::format_duration;

/// Says on stderr what is going on, and how far it is.
#[derive(Debug)]
pub struct Progress {
    shown: Shown,
    begin: Instant,
    /// Seconds that all of the work takes, once that is known: from then on the bar is one over all stages.
    expected: Cell<Option<f64>>,
    /// Something may be said on stderr.
    speaks: bool,
}

/// Work that takes longer than this, in seconds, is announced.
const LONG: f64 = 10.0;

#[derive(Debug)]
enum Shown {
    Nothing,
    /// One line, drawn again and again.
    Bar(ProgressBar),
    /// For programs; the present stage.
    Lines(RefCell<String>),
}

impl Progress {
    /// A bar is drawn if `enabled` and if stderr is a terminal.
    pub fn new(enabled: bool) -> Progress {
        let shown = if std::env::var_os("FMU_BUILD_PROGRESS").is_some_and(|form| form == "lines") {
            Shown::Lines(RefCell::default())
        } else if enabled && std::io::stderr().is_terminal() {
            let bar = ProgressBar::new(RESOLUTION);
            if let Ok(style) =
                ProgressStyle::with_template("{spinner} {msg} {bar:30} {percent:>3} % {prefix}")
            {
                bar.set_style(style);
            }
            bar.enable_steady_tick(std::time::Duration::from_millis(120));
            Shown::Bar(bar)
        } else {
            Shown::Nothing
        };
        Progress { shown, begin: Instant::now(), expected: Cell::new(None), speaks: enabled }
    }

    /// How long all of the work takes from now on: `evaluations` of the model of so many seconds each. Said where it is long.
    pub fn expect(&self, seconds: f64, evaluations: f64, evaluation: f64) {
        self.expected.set(Some(self.begin.elapsed().as_secs_f64() + seconds));
        if seconds < LONG || !self.speaks {
            return;
        }
        let text = format!(
            "about {} from here on: {} evaluations of the model of {} each",
            format_duration(seconds.round()),
            thousands(evaluations),
            format_duration(evaluation)
        );
        match &self.shown {
            Shown::Bar(bar) => bar.println(text),
            _ => eprintln!("{text}"),
        }
    }

    /// How much of all the work is done, and the seconds that are left, where that is known.
    fn overall(&self) -> Option<(f64, f64)> {
        let expected = self.expected.get()?;
        let elapsed = self.begin.elapsed().as_secs_f64();
        // What takes longer than expected is nearly done, and never quite.
        let done = (elapsed / expected).min(1.0 - 0.05 * expected / elapsed.max(expected));
        Some((done, (expected - elapsed).max(0.0)))
    }

    /// Begin a stage, such as "sampling": as long as nobody knows how long all of them take, the bar starts again.
    pub fn stage(&self, name: &str) {
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => {
                bar.set_message(name.to_string());
                self.fraction(0.0);
            }
            Shown::Lines(stage) => {
                *stage.borrow_mut() = name.replace(['\t', '\n'], " ");
                self.fraction(0.0);
            }
        }
    }

    /// How much of the stage is done, from 0 to 1.
    pub fn fraction(&self, done: f64) {
        let overall = self.overall();
        let done = overall.map_or(done, |(done, _)| done);
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => {
                let left = overall.filter(|(_, left)| *left >= 1.0);
                bar.set_prefix(
                    left.map_or(String::new(), |(_, left)| format!("{} left", format_duration(left.round()))),
                );
                bar.set_position(position(done));
            }
            Shown::Lines(stage) => {
                let fraction = position(done) as f64 / RESOLUTION as f64;
                eprintln!("progress\t{fraction}\t{}", stage.borrow());
            }
        }
    }

    /// Take the line away; what follows on stderr starts in a clean column.
    pub fn finish(&self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

/// An error returned half-way must not leave a bar behind it.
impl Drop for Progress {
    fn drop(&mut self) {
        self.finish();
    }
}

const RESOLUTION: u64 = 1000;

/// To two digits, with commas: 600,000.
fn thousands(count: f64) -> String {
    let power = 10f64.powf((count.max(1.0).log10().floor() - 1.0).max(0.0));
    let digits = format!("{:.0}", (count / power).round() * power);
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// NaN counts as nothing done.
fn position(done: f64) -> u64 {
    (done.clamp(0.0, 1.0) * RESOLUTION as f64) as u64
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    #[test]
    fn nothing_is_drawn_unless_asked_for() {
        let quiet = Progress::new(false);
        assert!(matches!(quiet.shown, Shown::Nothing));
        quiet.stage("sampling");
        quiet.fraction(0.5);
        quiet.finish();
    }

    #[test]
    fn counts_are_rounded_and_grouped() {
        let texts = [7.0, 42.0, 1234.0, 612_345.0, 12_345_678.0].map(thousands);
        assert_eq!(texts, ["7", "42", "1,200", "610,000", "12,000,000"]);
    }

    /// From 40 s on that were expected at the begin: half is half, and what takes longer than expected is never done.
    #[test]
    fn all_stages_have_one_bar() {
        let progress = |elapsed: f64| {
            let begin = Instant::now().checked_sub(std::time::Duration::from_secs_f64(elapsed)).unwrap();
            Progress { shown: Shown::Nothing, begin, expected: Cell::new(Some(40.0)), speaks: false }
        };
        assert_eq!(Progress::new(false).overall(), None);
        let done = [10.0, 20.0, 40.0, 80.0].map(|elapsed| progress(elapsed).overall().unwrap().0);
        for (done, expected) in done.iter().zip([0.25, 0.5, 0.95, 0.975]) {
            assert!((done - expected).abs() < 1e-3, "{done} is not {expected}");
        }
    }

    #[test]
    fn any_fraction_has_a_position() {
        let positions = [f64::NAN, -1.0, 0.0, 0.25, 1.0, 7.0].map(position);
        assert_eq!(positions, [0, 0, 0, 250, 1000, 1000]);
    }
}
