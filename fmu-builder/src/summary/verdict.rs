//! The verdict: is the FMU accurate, and is it in time?
//!
//! Two answers that do not make up for each other. Accuracy: the error on the given and on the invented runs, root mean square,
//! against the tolerance, with the largest deviation at a point beside it. Time: the longest step, by its bound and as it was
//! measured, against the budget and the communication step. Where nothing moved, accuracy is not verified, whatever the figures
//! say: an error of zero of something that stands still certifies nothing.

use super::count;
use crate::options::Budget;
use crate::quantity::{format_duration, share};
use serde::Serialize;

/// Both answers. The terminal prints them first, the report draws them, `--json` has them, `--strict` refuses what misses one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Verdict {
    pub accuracy: Accuracy,
    /// Absent in the FMU's certificate, which holds nothing that was measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Timeliness>,
}

/// How one of the two came out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mark {
    Kept,
    /// Kept, but not by as much as it should be.
    Tight,
    Missed,
    /// There is nothing to judge by.
    Unverified,
}

/// The error against the accurate solution.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Accuracy {
    pub mark: Mark,
    /// What each error is held against.
    pub tolerance: f64,
    pub peak_tolerance: Option<f64>,
    /// On the given runs, and the largest deviation at a point of them. `null`: there is nothing to compare.
    pub given: Option<NamedFigure>,
    pub peak: Option<NamedFigure>,
    /// Seconds, where the peak is.
    pub peak_time: Option<f64>,
    /// On the invented runs that count, and how many were tried.
    pub invented: Option<NamedFigure>,
    pub invented_runs: usize,
    /// Whether a compared quantity moved, on the given and on the invented runs.
    pub moved: Moved,
}

/// Of the quantity that has the largest.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct NamedFigure {
    pub value: f64,
    pub name: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Moved {
    pub given: bool,
    pub invented: bool,
}

/// The longest step, seconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Timeliness {
    pub mark: Mark,
    /// The communication step H.
    pub step: f64,
    /// What a step may cost; without `--budget` a tenth of H, which is a soft border. `null`: it was asked for in evaluations.
    pub budget: Option<f64>,
    pub budget_asked: bool,
    /// The bound of a step without events, from evaluations and what each takes here or was said to take.
    pub bound: f64,
    /// The longest that was measured on the first given run. `null`: none was.
    pub measured: Option<f64>,
}

/// The share of the communication step that a step should stay below where no budget is asked for.
const SHARE: f64 = 0.1;

impl Timeliness {
    pub fn new(step: f64, budget: Option<Budget>, bound: f64, measured: Option<f64>) -> Timeliness {
        let seconds = match budget {
            None => Some(SHARE * step),
            Some(Budget::Share(share)) => Some(share * step),
            Some(Budget::Time(time)) => Some(time),
            Some(Budget::Evaluations(_)) => None,
        };
        let over = |time: f64| seconds.is_some_and(|most| time > most * (1.0 + 1e-9));
        let mark = match (bound, measured) {
            (bound, _) if bound > step => Mark::Missed,
            (bound, _) if budget.is_some() && over(bound) => Mark::Missed,
            // A measured step may be the machine's: it makes the verdict tight, and only the bound misses it.
            (_, Some(measured)) if measured > step => Mark::Tight,
            (bound, _) if over(bound) => Mark::Tight,
            _ => Mark::Kept,
        };
        Timeliness { mark, step, budget: seconds, budget_asked: budget.is_some(), bound, measured }
    }

    /// "in time: longest step 12 µs by its bound, 3.1 µs measured; budget 100 µs, step 1 ms".
    pub fn text(&self) -> String {
        let word = match self.mark {
            Mark::Missed if self.bound > self.step => "not in time",
            Mark::Missed => "over the budget",
            Mark::Tight => "tight in time",
            Mark::Kept | Mark::Unverified => "in time",
        };
        let measured = self
            .measured
            .map_or(String::new(), |measured| format!(", {} measured", format_duration(measured)));
        let budget = match (self.budget, self.budget_asked) {
            (Some(budget), true) => format!("budget {}, ", format_duration(budget)),
            (Some(budget), false) => format!("a tenth of the step is {}, ", format_duration(budget)),
            (None, _) => String::new(),
        };
        format!(
            "{word}: longest step {} by its bound{measured}; {budget}step {}",
            format_duration(self.bound),
            format_duration(self.step)
        )
    }
}

impl Accuracy {
    /// The mark, from the figures; a `moved` of `false` makes an error of zero say nothing.
    pub fn judged(mut self) -> Accuracy {
        let over = |figure: &Option<NamedFigure>, most: f64| {
            figure.as_ref().is_some_and(|figure| figure.value > most || figure.value.is_nan())
        };
        let missed = over(&self.given, self.tolerance)
            || over(&self.invented, self.tolerance)
            || self.peak_tolerance.is_some_and(|most| over(&self.peak, most));
        self.mark = match (missed, self.given.is_some() && self.moved.given) {
            (true, _) => Mark::Missed,
            (false, true) => Mark::Kept,
            (false, false) => Mark::Unverified,
        };
        self
    }

    /// "accurate: error 0.01 % (RMS, y) on the given runs, 0.4 % on 7 invented runs; tolerance 1 %; peak 0.2 % (y, t = 0.3 s)".
    pub fn text(&self) -> String {
        let figure = |figure: &NamedFigure| {
            let name = figure.name.as_ref().filter(|_| figure.value > 0.0);
            let name = name.map_or(String::new(), |name| format!(" in {name}"));
            format!("{}{name}", share(figure.value))
        };
        let word = match self.mark {
            Mark::Kept | Mark::Tight => "accurate",
            Mark::Missed => "not accurate",
            Mark::Unverified => "not verified",
        };
        let given = match (&self.given, self.moved.given) {
            (None, _) => "there is no continuous output or state to compare".into(),
            (Some(_), false) => "nothing moved in the given run".into(),
            (Some(error), true) => format!("error {} on the given runs", figure(error)),
        };
        let runs = count(self.invented_runs, "invented run");
        let invented = match (&self.invented, self.moved.invented) {
            (Some(error), true) => format!(", {} on {runs}", figure(error)),
            (Some(_), false) => format!(", nor on {runs}"),
            (None, _) => String::new(),
        };
        let peak = self.peak.as_ref().filter(|peak| self.moved.given && peak.value > 0.0);
        let peak = peak.map_or(String::new(), |peak| {
            let when =
                self.peak_time.map_or(String::new(), |time| format!(" at t = {}", format_duration(time)));
            let most = self.peak_tolerance.map_or(String::new(), |most| format!(" of {}", share(most)));
            format!("; peak {}{when}{most}", figure(peak))
        });
        format!("{word}: {given}{invented} (RMS, tolerance {}){peak}", share(self.tolerance))
    }

    /// What would make it verified.
    pub fn advice(&self) -> Option<&'static str> {
        let still = self.mark == Mark::Unverified && self.given.is_some();
        still.then_some("give signals with --inputs, or other start values with --set")
    }
}

impl Verdict {
    /// The worse of the two, which `--strict` and a colour go by.
    pub fn mark(&self) -> Mark {
        let weight = |mark: Mark| match mark {
            Mark::Kept => 0,
            Mark::Tight => 1,
            Mark::Unverified => 2,
            Mark::Missed => 3,
        };
        let time = self.time.as_ref().map_or(Mark::Kept, |time| time.mark);
        if weight(time) > weight(self.accuracy.mark) { time } else { self.accuracy.mark }
    }

    /// One line for people.
    pub fn text(&self) -> String {
        let advice = self.accuracy.advice().map_or(String::new(), |advice| format!(" ({advice})"));
        let time = self.time.as_ref().map_or(String::new(), |time| format!(". {}", capital(&time.text())));
        format!("{}{advice}{time}", capital(&self.accuracy.text()))
    }

    /// Why `--strict` refuses: an error beyond the tolerance on any run that counts, a step that is too long, or nothing that moved
    /// in any run. Given runs that stand still are forgiven where invented ones moved and keep the tolerance.
    pub fn objection(&self) -> Option<String> {
        let nowhere = self.accuracy.mark == Mark::Unverified
            && self.accuracy.given.is_some()
            && !self.accuracy.moved.invented;
        if self.accuracy.mark == Mark::Missed || nowhere {
            let advice = self.accuracy.advice().unwrap_or("a shorter --step helps");
            return Some(format!("{}; {advice}, or build without --strict", self.accuracy.text()));
        }
        let late = self.time.as_ref().filter(|time| time.mark == Mark::Missed)?;
        Some(format!("{}; a longer --step helps, or build without --strict", late.text()))
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or(String::new(), |first| first.to_uppercase().chain(letters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn accuracy(given: f64, invented: Option<f64>, moved: [bool; 2]) -> Accuracy {
        let figure = |value| NamedFigure { value, name: Some("y".into()) };
        Accuracy {
            mark: Mark::Kept,
            tolerance: 0.01,
            peak_tolerance: None,
            given: Some(figure(given)),
            peak: Some(figure(2.0 * given)),
            peak_time: Some(0.5),
            invented: invented.map(figure),
            invented_runs: usize::from(invented.is_some()),
            moved: Moved { given: moved[0], invented: moved[1] },
        }
        .judged()
    }

    #[test]
    fn an_error_of_zero_of_nothing_that_moved_is_not_verified() {
        let still = accuracy(0.0, None, [false, false]);
        assert_eq!(still.mark, Mark::Unverified);
        assert!(still.text().starts_with("not verified: nothing moved in the given run"), "{}", still.text());
        // Invented runs that moved do not make the given one verified, and --strict is content with them.
        let invented = accuracy(0.0, Some(0.004), [false, true]);
        assert_eq!(invented.mark, Mark::Unverified);
        assert!(invented.text().contains("0.4 % in y on 1 invented run"), "{}", invented.text());
        let objection = |accuracy| Verdict { accuracy, time: None }.objection();
        assert!(objection(still).is_some_and(|text| text.contains("--inputs")));
        assert_eq!(objection(invented), None);
    }

    #[test]
    fn an_invented_run_beyond_the_tolerance_misses_it() {
        let mark = |given, invented| accuracy(given, invented, [true, true]).mark;
        assert_eq!(mark(0.009, Some(0.009)), Mark::Kept);
        assert_eq!(mark(0.001, Some(0.026)), Mark::Missed);
        assert_eq!(mark(0.011, None), Mark::Missed);
        assert_eq!(mark(f64::NAN, None), Mark::Missed);
    }

    /// Against H, an asked budget, and the tenth of H that stands for one: only the last is soft.
    #[test]
    fn a_step_is_in_time_by_its_bound() {
        let mark = |budget, bound, measured| Timeliness::new(1e-3, budget, bound, measured).mark;
        assert_eq!(mark(None, 1e-4, Some(5e-5)), Mark::Kept);
        assert_eq!(mark(None, 2e-4, Some(5e-5)), Mark::Tight);
        assert_eq!(mark(None, 7.15e-3, Some(5e-5)), Mark::Missed);
        assert_eq!(mark(Some(Budget::Time(5e-5)), 6e-5, None), Mark::Missed);
        assert_eq!(mark(Some(Budget::Share(0.5)), 4e-4, None), Mark::Kept);
        assert_eq!(mark(Some(Budget::Evaluations(3.0)), 4e-4, None), Mark::Kept);
        // Longer than the step once, and nobody knows whether that was computing.
        assert_eq!(mark(None, 1e-4, Some(2e-2)), Mark::Tight);
    }

    #[test]
    fn the_worse_of_the_two_counts() {
        let time = |bound| Some(Timeliness::new(1e-3, None, bound, None));
        let verdict = |bound| Verdict { accuracy: accuracy(0.001, None, [true, false]), time: time(bound) };
        assert_eq!(
            [1e-5, 2e-4, 2e-3].map(|bound| verdict(bound).mark()),
            [Mark::Kept, Mark::Tight, Mark::Missed]
        );
        let text = verdict(2e-3).text();
        assert!(text.contains("Accurate: error 0.1 % in y on the given runs"), "{text}");
        assert!(
            text.contains("Not in time: longest step 2 ms by its bound") && text.contains("step 1 ms"),
            "{text}"
        );
    }
}
