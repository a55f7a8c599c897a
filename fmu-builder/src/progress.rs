//! Progress of long work: a bar on a terminal, or lines for the program that called us.
//!
//! A log file or a script reads stderr too, and `--json` and `--quiet` ask for silence: in these cases nothing is
//! drawn, and the calls cost nothing. A program that wants to show progress itself sets `FMU_BUILD_PROGRESS=lines`
//! and gets lines `progress <tab> fraction <tab> stage` on stderr.

use std::cell::RefCell;
use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

/// Says on stderr what is going on, and how far it is.
#[derive(Debug)]
pub struct Progress {
    shown: Shown,
}

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
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {bar:30} {percent:>3} %") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(std::time::Duration::from_millis(120));
            Shown::Bar(bar)
        } else {
            Shown::Nothing
        };
        Progress { shown }
    }

    /// Begin a stage, such as "sampling": the bar starts again.
    pub fn stage(&self, name: &str) {
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => {
                bar.set_message(name.to_string());
                bar.set_position(0);
            }
            Shown::Lines(stage) => {
                *stage.borrow_mut() = name.replace(['\t', '\n'], " ");
                self.fraction(0.0);
            }
        }
    }

    /// How much of the stage is done, from 0 to 1.
    pub fn fraction(&self, done: f64) {
        match &self.shown {
            Shown::Nothing => {}
            Shown::Bar(bar) => bar.set_position(position(done)),
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

/// NaN counts as nothing done.
fn position(done: f64) -> u64 {
    (done.clamp(0.0, 1.0) * RESOLUTION as f64) as u64
}

#[cfg(test)]
mod tests {
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
    fn any_fraction_has_a_position() {
        let positions = [f64::NAN, -1.0, 0.0, 0.25, 1.0, 7.0].map(position);
        assert_eq!(positions, [0, 0, 0, 250, 1000, 1000]);
    }
}
