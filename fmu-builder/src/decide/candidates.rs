//! Masks worth trying, each judged before it is tried.

use super::problem::Problem;
use super::trim;
use crate::analysis::amplification::carried;
use crate::analysis::drift::Drift;
use crate::analysis::sparsing::Search;
use crate::analysis::verdict::{Age, Failure, LENGTHS, Verdict, verdict};
use crate::analysis::{Mask, greedy, sparsing, step_advice};
use crate::error::Error;
use crate::method::Step;
use crate::options::Options;
use crate::quantity::{amplification, eigenvalue, format_duration};
use crate::warning::{Asked, Warning, Warnings};
use fmu_runtime::plan::Method;

/// A mask with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// In a few words, for people.
    pub label: String,
    pub mask: Mask,
    /// What is to be said if it is chosen.
    pub warning: Option<Warning>,
}

/// Explicit rows must stay stable even if the step were this much longer: the samples are not the whole truth.
pub const MARGIN: f64 = 1.5;
/// Up to this many states every row mask is tried.
const EXHAUSTIVE: usize = 4;
/// Up to this many states the greedy partition is affordable: it solves an eigenvalue problem per row and sample.
const GREEDY: usize = 40;
/// Up to this many states single entries are dropped.
const SPARSING: usize = 150;
/// An oscillation may be this much faster with a method of higher order: at |hλ| = 1 lie2 keeps 0.91 of the amplitude in a step and ros2 0.997, as Euler does (0.89) at 1/2.
const HIGHER_SHOWS: f64 = 2.0;
/// A growing mode with h Re(lambda) beyond this is not followed: at 1 the step's equations are singular.
const GROWTH: f64 = 0.3;

/// Finds masks, judges their stability, and remembers why the others were refused. Searches are made with linearly implicit
/// Euler; what is found is judged with the method that will use it.
pub struct Finder<'a> {
    problem: &'a Problem<'a>,
    options: &'a Options,
    /// The first method that is asked for: the one that the search judges by.
    step: Step,
    pins: Vec<Option<bool>>,
    known: Vec<Mask>,
    stable: usize,
    refused: Option<String>,
    pub warnings: Warnings,
}

/// Step lengths at which a mask must hold. One with explicit rows or dropped entries also with a margin.
pub fn lengths(mask: &Mask) -> Vec<f64> {
    let mut lengths = LENGTHS.to_vec();
    if !mask.is_full() {
        lengths.push(MARGIN);
    }
    lengths
}

impl<'a> Finder<'a> {
    pub fn new(problem: &'a Problem<'a>, options: &'a Options) -> Result<Finder<'a>, Error> {
        let pins = pins(problem, options)?;
        let step = problem.step(options.method.unwrap_or(Method::Lie));
        let (known, stable, refused, warnings) = (Vec::new(), 0, None, Warnings::new());
        Ok(Finder { problem, options, step, pins, known, stable, refused, warnings })
    }

    /// No mask was stable.
    pub fn found_none(&self) -> bool {
        self.stable == 0
    }

    /// States are pinned by name.
    pub fn is_pinned(&self) -> bool {
        self.pins.iter().any(Option::is_some)
    }

    /// Why, with the offending mode.
    pub fn refusal(&self) -> String {
        self.refused.clone().unwrap_or_else(|| "no partition is stable".into())
    }

    /// All rows implicit, but for the pins.
    pub fn implicit(&mut self) -> Vec<Candidate> {
        self.judged(vec![("all implicit".to_string(), vec![true; self.problem.n])])
    }

    /// All rows explicit, but for the pins.
    pub fn explicit(&mut self) -> Vec<Candidate> {
        self.judged(vec![("all explicit".to_string(), vec![false; self.problem.n])])
    }

    /// Rows between all and nothing.
    pub fn partitions(&mut self) -> Vec<Candidate> {
        let rows = partitions(self.problem, &self.step, &mut self.warnings);
        self.judged(rows)
    }

    /// Single entries dropped as far as (5.1) of Schiela lets rho, where that leaves fewer.
    pub fn sparsed(&mut self, rho: f64) -> Vec<Candidate> {
        let mut found = self.searched(Search::new(rho));
        found.retain(|one| self.judge(&one.mask).is_stable());
        self.stable += found.len();
        found
    }

    /// Found by a shorter search, and judged only if it is tried: beside a plan that is there already it would have to be much cheaper.
    pub fn sparsed_quickly(&self, rho: f64) -> Vec<Candidate> {
        self.searched(Search::quick(rho))
    }

    fn searched(&self, search: Search) -> Vec<Candidate> {
        if self.is_pinned() {
            return Vec::new();
        }
        let drift = self.problem.drift(self.options.tolerance);
        sparsed(self.problem, &self.step, &drift, search).into_iter().collect()
    }

    /// The same with fewer entries, where it stays stable.
    pub fn trimmed(&mut self, candidate: &Candidate) -> Vec<Candidate> {
        if self.is_pinned() {
            return Vec::new();
        }
        let drift = self.problem.drift(self.options.tolerance);
        let found = trim::trimmed(self.problem, &self.step, drift, &candidate.mask);
        let found = found.filter(|mask| self.judge(mask).is_stable());
        let label = format!("{}, trimmed", candidate.label);
        found.map(|mask| Candidate { label, mask, warning: None }).into_iter().collect()
    }

    fn judge(&self, mask: &Mask) -> Verdict {
        verdict(&self.step, mask, &Age::Fresh, &lengths(mask), &self.problem.samples)
    }

    fn judged(&mut self, rows: Vec<(String, Vec<bool>)>) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for (label, mut rows) in rows {
            for (row, pin) in rows.iter_mut().zip(&self.pins) {
                *row = pin.unwrap_or(*row);
            }
            let mask = Mask::rows(rows);
            if self.known.contains(&mask) {
                continue;
            }
            self.known.push(mask.clone());
            let warning = match self.judge(&mask).failure {
                None => None,
                Some(failure) => {
                    let message = explain(self.problem, &self.step, &mask, &failure);
                    if !self.options.force {
                        self.refused.get_or_insert(message);
                        continue;
                    }
                    Some(Warning::KeptUnstable { asked: Asked::Force, why: message })
                }
            };
            candidates.push(Candidate { label, mask, warning });
        }
        self.stable += candidates.len();
        candidates
    }
}

/// What the step cannot follow, whatever the mask. A method of higher order than one shows oscillations with fewer steps per period.
pub fn advice(problem: &Problem, order: u32) -> Vec<Warning> {
    let mut advice = Vec::new();
    let (h, spectra) = (problem.h, &problem.samples.spectra);
    let growing = spectra.iter().flatten().map(|lambda| lambda.re).fold(0.0, f64::max);
    if h * growing > GROWTH {
        advice.push(Warning::GrowingMode { rate: growing, step: h });
    }
    let shows = if order > 1 { HIGHER_SHOWS } else { 1.0 };
    let found = step_advice::step_advice(spectra, h / shows).ok();
    let unresolved = found.iter().flat_map(|found| &found.unresolved);
    if let Some(fastest) = unresolved.max_by(|a, b| a.lambda.norm().total_cmp(&b.lambda.norm())) {
        advice.push(Warning::UnresolvedMode {
            eigenvalue: [fastest.lambda.re, fastest.lambda.im],
            steps_per_period: std::f64::consts::TAU / (h * fastest.lambda.im.abs()),
            step: 0.3 * shows / fastest.lambda.norm(),
        });
    }
    advice
}

/// `--fast` and `--slow`: true is implicit.
fn pins(problem: &Problem, options: &Options) -> Result<Vec<Option<bool>>, Error> {
    let mut pins = vec![None; problem.n];
    for (option, names, value) in [("--fast", &options.fast, true), ("--slow", &options.slow, false)] {
        for name in names {
            let mut found = false;
            for (state, pin) in problem.names().iter().zip(&mut pins) {
                if matches(name, state) {
                    found = true;
                    if *pin == Some(!value) {
                        return Err(Error::Request(format!(
                            "{state} is named by both --fast and --slow; drop one"
                        )));
                    }
                    *pin = Some(value);
                }
            }
            if !found {
                let some: Vec<&str> = problem.names().iter().map(String::as_str).take(8).collect();
                return Err(Error::Request(format!(
                    "{option} {name}: no state has that name (states: {}{})",
                    some.join(", "),
                    if problem.n > some.len() { ", ..." } else { "" }
                )));
            }
        }
    }
    Ok(pins)
}

/// `*` stands for any run of characters, `?` for one.
fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name): (Vec<char>, Vec<char>) = (pattern.chars().collect(), name.chars().collect());
    let (mut p, mut i) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while i < name.len() {
        if p < pattern.len() && (pattern[p] == '?' || pattern[p] == name[i]) {
            (p, i) = (p + 1, i + 1);
        } else if p < pattern.len() && pattern[p] == '*' {
            star = Some((p, i));
            p += 1;
        } else if let Some((at, from)) = star {
            (p, i) = (at + 1, from + 1);
            star = Some((at, from + 1));
        } else {
            return false;
        }
    }
    pattern[p..].iter().all(|&c| c == '*')
}

/// Row masks between all and nothing.
fn partitions(problem: &Problem, step: &Step, warnings: &mut Warnings) -> Vec<(String, Vec<bool>)> {
    let n = problem.n;
    let mut found = Vec::new();
    if n == 0 || problem.samples.jacobians.is_empty() {
        return found;
    }
    if n <= EXHAUSTIVE {
        for bits in 1..(1u32 << n) - 1 {
            let rows: Vec<bool> = (0..n).map(|i| bits >> i & 1 == 1).collect();
            let names: Vec<&str> = (0..n).filter(|&i| rows[i]).map(|i| problem.names()[i].as_str()).collect();
            found.push((format!("implicit: {}", names.join(", ")), rows));
        }
        return found;
    }
    if n <= GREEDY {
        let samples = problem.samples.spread(6);
        // The margin belongs to the choice: what is explicit at 1.5 h is so at h.
        let longer = step.times(MARGIN);
        for (label, partition) in [
            ("fast rows (greedy, all samples at once)", greedy::joint(&samples, &longer, None)),
            ("fast rows (greedy, union over samples)", greedy::union(&samples, &longer, None)),
        ] {
            match partition {
                Ok(partition) => found.push((label.to_string(), partition.fast)),
                Err(error) => {
                    warnings.add(Warning::PartitionFailed { partition: label.into(), why: error.to_string() })
                }
            }
        }
    } else if let Some(rows) = fastest_rows(problem, step) {
        found.push(("fast rows (by size)".into(), rows));
    }
    // Rows x' = v are linear and cost nothing: implicit alone they make a symplectic pair with explicit
    // accelerations; the other way round costs the accelerations' entries only.
    let kinematic: Vec<bool> = (0..n)
        .map(|row| {
            let mut entries = problem.pattern.range(row);
            !entries.is_empty()
                && entries.all(|e| problem.pattern.variation(e) == crate::structure::Variation::Constant)
        })
        .collect();
    if kinematic.contains(&true) && kinematic.contains(&false) {
        found.push(("implicit: rows with constant entries".into(), kinematic.clone()));
        found.push(("implicit: rows with varying entries".into(), kinematic.iter().map(|k| !k).collect()));
    }
    found
}

/// The fewest rows, taken by their size h sum |J_ij| s_j / s_i, that must be implicit: found by bisection, so that
/// a large model costs a few eigenvalue problems and not one per row.
fn fastest_rows(problem: &Problem, step: &Step) -> Option<Vec<bool>> {
    let n = problem.n;
    let mut size = vec![0.0; n];
    for sample in &problem.studied.samples {
        let mut sum = vec![0.0; n];
        for (&(row, col, _), value) in problem.studied.entries.iter().zip(&sample.jacobian) {
            let (row, col) = (row as usize, col as usize);
            sum[row] += value.abs() * problem.nominals[col] / problem.nominals[row];
        }
        for (size, sum) in size.iter_mut().zip(sum) {
            *size = f64::max(*size, sum);
        }
    }
    let mut order: Vec<usize> = (0..n).collect();
    order.sort_by(|&a, &b| size[b].total_cmp(&size[a]).then(a.cmp(&b)));
    let rows = |count: usize| {
        let mut rows = vec![false; n];
        order[..count].iter().for_each(|&row| rows[row] = true);
        rows
    };
    // Two samples are enough to search by; what is found is judged by all.
    let few_samples = problem.samples.spread(2);
    let stable = |count: usize| {
        verdict(step, &Mask::rows(rows(count)), &Age::Fresh, &[1.0, MARGIN], &few_samples).is_stable()
    };
    let (mut few, mut many) = (0, n);
    while many - few > n.div_ceil(50) {
        let middle = (few + many) / 2;
        if stable(middle) { many = middle } else { few = middle }
    }
    (many < n).then(|| rows(many))
}

/// The offending mode, in words.
fn explain(problem: &Problem, step: &Step, mask: &Mask, failure: &Failure) -> String {
    let samples = &problem.samples;
    let cut = step.times(failure.length);
    let length = match failure.length {
        1.0 => String::new(),
        longer if longer > 1.0 => format!(" if it were {longer} times longer, and that margin is kept"),
        shorter => format!(" where it is cut to {:.2} of that, as events and irregular steps do", shorter),
    };
    let h = format_duration(problem.h);
    if mask.is_full() {
        return format!(
            "a step of {h}{length} has no solution: the model grows as fast as the step is long; take a shorter --step"
        );
    }
    let Some(mode) = failure.mode else {
        return format!(
            "explicit rows are not stable with a step of {h}{length}: the largest amplification is about {}; use --mode \
             implicit, a shorter --step, or insist with --force",
            amplification(failure.amplification)
        );
    };
    let (j, lambda) = (samples.jacobians[failure.sample].as_ref(), &samples.spectra[failure.sample]);
    let found = mask
        .apply(j)
        .and_then(|a| cut.map(j, a.as_ref()))
        .and_then(|r| carried(j, lambda, r.as_ref(), mode.discrete, &problem.nominals))
        .ok();
    let continuous = found.as_ref().and_then(|found| found.continuous).unwrap_or(mode.continuous);
    let states = found.iter().flat_map(|found| &found.states).take(4);
    let names: Vec<&str> = states.map(|&(state, _)| problem.names()[state].as_str()).collect();
    let limit =
        step_advice::step_advice(&samples.spectra, problem.h).ok().map(|advice| advice.explicit_limit);
    let shorter = match limit.filter(|limit| limit.is_finite() && *limit > 1e-6 * problem.h) {
        Some(limit) => format!(
            "--step {} or less, where even explicit Euler is stable",
            format_duration(limit / MARGIN).replace(' ', "")
        ),
        None => "a shorter --step".into(),
    };
    format!(
        "explicit rows are not stable with a step of {h}{length}: the mode with eigenvalue {} is multiplied by {:.6} in \
         each step (states: {}); make them implicit (--fast, --mode auto), take {shorter}, or insist with --force",
        eigenvalue(continuous.re, continuous.im),
        mode.discrete.norm(),
        if names.is_empty() { "no single one".to_string() } else { names.join(", ") },
    )
}

/// Single entries dropped, where that leaves fewer.
fn sparsed(problem: &Problem, step: &Step, drift: &Drift, search: Search) -> Option<Candidate> {
    let n = problem.n;
    if !(3..=SPARSING).contains(&n) || problem.samples.jacobians.is_empty() {
        return None;
    }
    // A handful of samples: each trial costs their eigenvalues. h enters as h J only, so that 1.5 J stands for
    // the margin that the verdict will ask for.
    let few = problem.samples.spread(search.samples.min(if n > 40 { 2 } else { 5 }));
    let samples: Vec<_> = few
        .jacobians
        .iter()
        .flat_map(|jacobian| [jacobian.clone(), faer::Scale(MARGIN) * jacobian])
        .collect();
    let found = sparsing::sparsing(&samples, step, None, drift, search).ok()?;
    let rho = search.tolerance.rho;
    let kept = found.mask.kept(&problem.pattern);
    let count = kept.iter().filter(|&&kept| kept).count();
    let label = format!("sparsed to {count} of {} entries, rho = {rho}", kept.len());
    (count < kept.len()).then(|| Candidate { label, mask: Mask::of(&problem.pattern, &kept), warning: None })
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn wildcards() {
        for (pattern, name, expected) in [
            ("a", "a", true),
            ("a*", "abc", true),
            ("*c", "abc", true),
            ("a*c*e", "abcde", true),
            ("a?c", "abc", true),
            ("a?c", "ac", false),
            ("", "", true),
            ("*", "", true),
            ("gear.*.phi", "gear.axis[1].phi", true),
            ("gear.*.phi", "gear.axis[1].w", false),
        ] {
            assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
        }
    }
}
