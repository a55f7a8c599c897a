//! Progress of long work, shown on a terminal only.
//!
//! A log file or a script reads stderr too, and `--json` and `--quiet` ask for silence: in all
//! these cases nothing is drawn, and the calls cost nothing.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressStyle};

/// One line on stderr that says what is going on, and how far it is.
#[derive(Debug)]
pub struct Progress {
    bar: Option<ProgressBar>,
}

impl Progress {
    /// Drawn if `enabled` and if stderr is a terminal.
    pub fn new(enabled: bool) -> Progress {
        let bar = (enabled && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new(RESOLUTION);
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} {bar:30} {percent:>3} %") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(std::time::Duration::from_millis(120));
            bar
        });
        Progress { bar }
    }

    /// Begin a stage, such as "sampling": the bar starts again.
    pub fn stage(&self, name: &str) {
        if let Some(bar) = &self.bar {
            bar.set_message(name.to_string());
            bar.set_position(0);
        }
    }

    /// How much of the stage is done, from 0 to 1.
    pub fn fraction(&self, done: f64) {
        if let Some(bar) = &self.bar {
            bar.set_position(position(done));
        }
    }

    /// Take the line away; what follows on stderr starts in a clean column.
    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
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
        assert!(quiet.bar.is_none());
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
