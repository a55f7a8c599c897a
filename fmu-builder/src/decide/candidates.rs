//! Masks worth trying, each stable at every sample.

use super::{Material, Wish, trim};
use crate::analysis::amplification::{self, Mode as Eigenmode, carried, stale_amplification};
use crate::analysis::drift::Drift;
use crate::analysis::{Mask, dense, greedy, large, sparsing, step_advice};
use crate::error::Error;
use crate::options::Mode;
use crate::quantity::format_duration;

/// Rows of A, or single entries of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// In a few words, for people.
    pub label: String,
    /// Aligned with the pattern's entries.
    pub kept: Vec<bool>,
    /// Largest |mu| over the samples, where it is known.
    pub spectral_radius: Option<f64>,
    /// What is to be said if it is chosen.
    pub warning: Option<String>,
}

/// Explicit rows must stay stable even if the step were this much longer: the samples are not the whole truth.
pub const MARGIN: f64 = 1.5;
/// Up to this many states every row mask is tried.
const EXHAUSTIVE: usize = 4;
/// Up to this many states the greedy partition is affordable: it solves an eigenvalue problem per row and sample.
const GREEDY: usize = 40;
/// Up to this many states single entries are dropped.
const SPARSING: usize = 150;
/// A growing mode with h Re(lambda) beyond this is not followed: at 1 the step's equations are singular.
const GROWTH: f64 = 0.3;

/// Finds masks, judges their stability, and remembers why the others were refused.
pub struct Finder<'a> {
    material: &'a Material<'a>,
    wish: &'a Wish,
    pins: Vec<Option<bool>>,
    known: Vec<Vec<bool>>,
    stable: usize,
    refused: Option<String>,
    pub warnings: Vec<String>,
}

impl<'a> Finder<'a> {
    pub fn new(material: &'a Material<'a>, wish: &'a Wish) -> Result<Finder<'a>, Error> {
        let pins = pins(material, wish)?;
        let (known, stable, refused, warnings) = (Vec::new(), 0, None, Vec::new());
        Ok(Finder { material, wish, pins, known, stable, refused, warnings })
    }

    /// No mask was stable.
    pub fn found_none(&self) -> bool {
        self.stable == 0
    }

    /// Why, with the offending mode.
    pub fn refusal(&self) -> String {
        self.refused.clone().unwrap_or_else(|| "no partition is stable".into())
    }

    /// All rows explicit, all rows implicit, as far as the mode and the pins allow.
    pub fn extremes(&mut self) -> Vec<Candidate> {
        let n = self.material.n;
        let (explicit, implicit) =
            (("all explicit".to_string(), vec![false; n]), ("all implicit".to_string(), vec![true; n]));
        let rows = match self.wish.mode {
            Mode::Implicit => vec![implicit],
            Mode::Explicit => vec![explicit],
            Mode::Auto => vec![explicit, implicit],
            // Too large to look for partitions: the pins alone make the mixture.
            Mode::Mixed if self.material.dense.is_empty() => vec![explicit, implicit],
            Mode::Mixed => Vec::new(),
        };
        self.judged(rows)
    }

    /// Rows between all and nothing.
    pub fn partitions(&mut self) -> Vec<Candidate> {
        let mut rows = partitions(self.material, &mut self.warnings);
        if self.wish.mode == Mode::Mixed && rows.is_empty() {
            rows.push(("all implicit".into(), vec![true; self.material.n]));
        }
        self.judged(rows)
    }

    /// Single entries dropped as far as (5.1) lets rho, where that leaves fewer.
    pub fn sparsed(&mut self, rho: f64) -> Vec<Candidate> {
        let free = self.pins.iter().all(Option::is_none);
        let drift = self.material.drift(self.wish.tolerance);
        let found: Vec<Candidate> =
            sparsed(self.material, &drift, rho).into_iter().filter(|_| free).collect();
        self.stable += found.len();
        found
    }

    /// The same with fewer entries, where it stays stable.
    pub fn trimmed(&mut self, candidate: &Candidate) -> Vec<Candidate> {
        if self.pins.iter().any(Option::is_some) {
            return Vec::new();
        }
        let Some(kept) =
            trim::trimmed(self.material, self.material.drift(self.wish.tolerance), &candidate.kept)
        else {
            return Vec::new();
        };
        let Verdict::Stable(spectral_radius) = judge(self.material, &[], &kept) else { return Vec::new() };
        let label = format!("{}, trimmed", candidate.label);
        vec![Candidate { label, kept, spectral_radius, warning: None }]
    }

    fn judged(&mut self, rows: Vec<(String, Vec<bool>)>) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        for (label, mut rows) in rows {
            for (row, pin) in rows.iter_mut().zip(&self.pins) {
                *row = pin.unwrap_or(*row);
            }
            let kept: Vec<bool> = self.material.pattern.places().map(|(row, _)| rows[row]).collect();
            if self.known.contains(&kept) {
                continue;
            }
            self.known.push(kept.clone());
            match judge(self.material, &rows, &kept) {
                Verdict::Stable(spectral_radius) => {
                    candidates.push(Candidate { label, kept, spectral_radius, warning: None })
                }
                Verdict::Unstable { message, spectral_radius } if self.wish.force => {
                    let warning = Some(format!("kept because of --force: {message}"));
                    candidates.push(Candidate {
                        label,
                        kept,
                        spectral_radius: Some(spectral_radius),
                        warning,
                    });
                }
                Verdict::Unstable { message, .. } => {
                    self.refused.get_or_insert(message);
                }
            }
        }
        self.stable += candidates.len();
        candidates
    }

    /// What the step cannot follow, whatever the mask.
    pub fn advice(&self) -> Vec<String> {
        let (material, mut advice) = (self.material, Vec::new());
        let h = material.h;
        let growing = material.spectra.iter().flatten().map(|lambda| lambda.re).fold(0.0, f64::max);
        if h * growing > GROWTH {
            advice.push(format!(
                "the model has a mode that grows with {growing:.4}/s, faster than a step of {} can follow (h lambda = \
                 {:.2}, and at 1 the step's equations are singular); a step of {} or less can",
                format_duration(h),
                h * growing,
                format_duration(0.1 / growing)
            ));
        }
        let found = step_advice::step_advice(&material.spectra, h).ok();
        let unresolved = found.iter().flat_map(|found| &found.unresolved);
        if let Some(fastest) = unresolved.max_by(|a, b| a.lambda.norm().total_cmp(&b.lambda.norm())) {
            advice.push(format!(
                "the model oscillates faster than the step can show: the mode with eigenvalue {} has {:.1} steps per \
                 period, and is damped by the method instead; a step of {} would show it",
                complex(fastest.lambda.re, fastest.lambda.im),
                std::f64::consts::TAU / (h * fastest.lambda.im.abs()),
                format_duration(0.3 / fastest.lambda.norm())
            ));
        }
        advice
    }
}

/// `--fast` and `--slow`: true is implicit.
fn pins(material: &Material, wish: &Wish) -> Result<Vec<Option<bool>>, Error> {
    let mut pins = vec![None; material.n];
    for (option, names, value) in [("--fast", &wish.fast, true), ("--slow", &wish.slow, false)] {
        for name in names {
            let mut found = false;
            for (state, pin) in material.names().iter().zip(&mut pins) {
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
                let some: Vec<&str> = material.names().iter().map(String::as_str).take(8).collect();
                return Err(Error::Request(format!(
                    "{option} {name}: no state has that name (states: {}{})",
                    some.join(", "),
                    if material.n > some.len() { ", ..." } else { "" }
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
fn partitions(material: &Material, warnings: &mut Vec<String>) -> Vec<(String, Vec<bool>)> {
    let n = material.n;
    let mut found = Vec::new();
    if n == 0 || material.dense.is_empty() {
        return found;
    }
    if n <= EXHAUSTIVE {
        for bits in 1..(1u32 << n) - 1 {
            let rows: Vec<bool> = (0..n).map(|i| bits >> i & 1 == 1).collect();
            let names: Vec<&str> =
                (0..n).filter(|&i| rows[i]).map(|i| material.names()[i].as_str()).collect();
            found.push((format!("implicit: {}", names.join(", ")), rows));
        }
        return found;
    }
    if n <= GREEDY {
        let stride = material.dense.len().div_ceil(6);
        let samples: Vec<_> = material.dense.iter().step_by(stride).cloned().collect();
        // The margin belongs to the choice: what is explicit at 1.5 h is so at h.
        let h = MARGIN * material.h;
        for (label, partition) in [
            ("fast rows (greedy, all samples at once)", greedy::joint(&samples, h, None)),
            ("fast rows (greedy, union over samples)", greedy::union(&samples, h, None)),
        ] {
            match partition {
                Ok(partition) => found.push((label.to_string(), partition.fast)),
                Err(error) => warnings.push(format!("{label}: {error}")),
            }
        }
    } else if let Some(rows) = fastest_rows(material) {
        found.push(("fast rows (by size)".into(), rows));
    }
    // Rows x' = v are linear and cost nothing: implicit alone they make a symplectic pair with explicit
    // accelerations; the other way round costs the accelerations' entries only.
    let kinematic: Vec<bool> = (0..n)
        .map(|row| {
            let mut entries = material.pattern.range(row);
            !entries.is_empty()
                && entries.all(|e| material.pattern.variation(e) == crate::structure::Variation::Constant)
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
fn fastest_rows(material: &Material) -> Option<Vec<bool>> {
    let n = material.n;
    let mut size = vec![0.0; n];
    for sample in &material.studied.samples {
        let mut sum = vec![0.0; n];
        for (&(row, col, _), value) in material.studied.entries.iter().zip(&sample.jacobian) {
            let (row, col) = (row as usize, col as usize);
            sum[row] += value.abs() * material.scales[col] / material.scales[row];
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
    let stable = |count: usize| {
        let mask = Mask::rows(rows(count));
        [material.h, MARGIN * material.h]
            .iter()
            .all(|&h| spread(material, &mask, h, 2, None).unstable.is_none())
    };
    let (mut few, mut many) = (0, n);
    while many - few > n.div_ceil(50) {
        let middle = (few + many) / 2;
        if stable(middle) { many = middle } else { few = middle }
    }
    (many < n).then(|| rows(many))
}

enum Verdict {
    Stable(Option<f64>),
    Unstable { message: String, spectral_radius: f64 },
}

/// Is the mask stable at every sample, and with a margin where rows are explicit?
fn judge(material: &Material, rows: &[bool], kept: &[bool]) -> Verdict {
    if let Some(sparse) = &material.sparse {
        // Only an estimate from below, but an unstable mode stands out.
        let estimate = |h| large::spectral_radius(sparse, rows, h).map(|estimate| estimate.radius);
        let radius = match (estimate(material.h), rows.iter().all(|&row| row)) {
            (Ok(radius), true) => return Verdict::Stable(Some(radius)),
            (Ok(radius), false) => radius.max(estimate(MARGIN * material.h).unwrap_or(f64::INFINITY)),
            (Err(_), all) => return if all { Verdict::Stable(None) } else { unstable_large(f64::INFINITY) },
        };
        return if radius <= 1.0 + 1e-6 { Verdict::Stable(Some(radius)) } else { unstable_large(radius) };
    }
    if kept.iter().all(|&kept| kept) {
        // Unmasked, mu = 1 / (1 - h lambda): stable wherever the model is.
        let mu = material
            .spectra
            .iter()
            .flatten()
            .map(|&lambda| amplification::exact_eigenvalue(lambda, material.h).norm());
        return Verdict::Stable((!material.spectra.is_empty()).then(|| mu.fold(0.0, f64::max)));
    }
    let mask = material.mask(kept);
    let mut radius = 0.0;
    for h in [material.h, MARGIN * material.h] {
        let spread = spread(material, &mask, h, usize::MAX, None);
        if h == material.h {
            radius = spread.radius;
        }
        if let Some((sample, worst)) = spread.unstable {
            let message = explain(material, &mask, h, sample, worst);
            return Verdict::Unstable { message, spectral_radius: radius };
        }
    }
    Verdict::Stable((!material.dense.is_empty()).then_some(radius))
}

/// A mode that the step resolves: |h lambda| below this.
const RESOLVED: f64 = 0.3;

struct Spread {
    /// Largest |mu| over the samples.
    radius: f64,
    /// A sample and its mode that grows though the model's does not.
    unstable: Option<(usize, Eigenmode)>,
}

/// Hold the modes of every sample, or of `most` of them, against the model's.
///
/// A mode that the step does not resolve must not grow at all. One that it does may be off by what first order
/// owes, |h lambda|^2, at a single sample, as long as over all samples the volume that these modes span does
/// not grow faster than the model's own: that tells the symplectic pair, whose |mu| lies around 1, from explicit
/// Euler on an oscillator, whose |mu| always lies above.
///
/// The step's Jacobian may be older: `age(sample, column)`.
fn spread(
    material: &Material,
    mask: &Mask,
    h: f64,
    most: usize,
    age: Option<&dyn Fn(usize, usize) -> f64>,
) -> Spread {
    let mut found = Spread { radius: 0.0, unstable: None };
    let (mut volume, mut allowed) = (0.0, 0.0);
    let mut loosest: Option<(usize, Eigenmode)> = None;
    let stride = material.dense.len().div_ceil(most).max(1);
    for (sample, jacobian) in material.dense.iter().enumerate().step_by(stride) {
        let r = match age {
            Some(age) => {
                let old = material.earlier(sample, |column| age(sample, column));
                stale_amplification(old.as_ref(), jacobian.as_ref(), mask, h)
            }
            None => amplification::amplification(jacobian.as_ref(), mask, h),
        };
        let Ok(mu) = r.and_then(|r| dense::eigenvalues(r.as_ref())) else { continue };
        let judged = amplification::paired(&material.spectra[sample], &mu, h);
        found.radius = f64::max(found.radius, judged.spectral_radius);
        for mode in &judged.modes {
            let size = h * mode.continuous.norm();
            let growth = mode.discrete.norm().max(1e-300).ln();
            if size <= RESOLVED {
                volume += growth - h * mode.continuous.re;
                allowed += 0.05 * size * size + 1e-9;
            }
            if mode.ok || judged.stable {
                continue;
            }
            let excess = growth - f64::max(0.0, h * mode.continuous.re);
            if size <= RESOLVED && excess <= size * size {
                loosest = Some((sample, *mode));
            } else if found.unstable.is_none_or(|(_, known)| mode.discrete.norm() > known.discrete.norm()) {
                found.unstable = Some((sample, *mode));
            }
        }
        if found.unstable.is_some() {
            return found;
        }
    }
    if volume > allowed {
        found.unstable = loosest;
    }
    found
}

/// Does some mode grow at some sample with a step of h, though the model's does not?
pub fn unstable_at(material: &Material, mask: &Mask, h: f64) -> bool {
    spread(material, mask, h, usize::MAX, None).unstable.is_some()
}

/// Likewise with the step that was asked for and a Jacobian whose columns are older: `age(sample, column)`.
pub fn unstable_when_aged(material: &Material, mask: &Mask, age: &dyn Fn(usize, usize) -> f64) -> bool {
    spread(material, mask, material.h, usize::MAX, Some(age)).unstable.is_some()
}

/// The offending mode, in words.
fn explain(material: &Material, mask: &Mask, h: f64, sample: usize, worst: Eigenmode) -> String {
    let (j, lambda) = (material.dense[sample].as_ref(), &material.spectra[sample]);
    let found = amplification::amplification(j, mask, h)
        .and_then(|r| carried(j, lambda, r.as_ref(), worst.discrete, &material.scales))
        .ok();
    let continuous = found.as_ref().and_then(|found| found.continuous).unwrap_or(worst.continuous);
    let states = found.iter().flat_map(|found| &found.states).take(4);
    let names: Vec<&str> = states.map(|&(state, _)| material.names()[state].as_str()).collect();
    let margin = if h > material.h {
        format!(" if it were {MARGIN} times longer, and that margin is kept")
    } else {
        String::new()
    };
    let limit =
        step_advice::step_advice(&material.spectra, material.h).ok().map(|advice| advice.explicit_limit);
    let shorter = match limit.filter(|limit| limit.is_finite() && *limit > 1e-6 * material.h) {
        Some(limit) => format!(
            "--step {} or less, where even explicit Euler is stable",
            format_duration(limit / MARGIN).replace(' ', "")
        ),
        None => "a shorter --step".into(),
    };
    format!(
        "explicit rows are not stable with a step of {}{margin}: the mode with eigenvalue {} is multiplied by {:.6} in \
         each step (states: {}); make them implicit (--fast, --mode auto), take {shorter}, or insist with --force",
        format_duration(material.h),
        complex(continuous.re, continuous.im),
        worst.discrete.norm(),
        if names.is_empty() { "no single one".to_string() } else { names.join(", ") },
    )
}

fn unstable_large(spectral_radius: f64) -> Verdict {
    let message = format!(
        "explicit rows are not stable with this step: the largest amplification is about {spectral_radius:.3}; \
         use --mode implicit, a shorter --step, or insist with --force"
    );
    Verdict::Unstable { message, spectral_radius }
}

fn complex(re: f64, im: f64) -> String {
    if im == 0.0 { format!("{re:.4}") } else { format!("{re:.4} ± {:.4}i", im.abs()) }
}

/// Single entries dropped, where that leaves fewer.
fn sparsed(material: &Material, drift: &Drift, rho: f64) -> Option<Candidate> {
    let n = material.n;
    if !(3..=SPARSING).contains(&n) || material.dense.is_empty() {
        return None;
    }
    // A handful of samples: each trial costs their eigenvalues. h enters as h J only, so that 1.5 J stands for
    // the margin that `judge` will ask for.
    let stride = material.dense.len().div_ceil(if n > 40 { 2 } else { 5 });
    let samples: Vec<_> = material
        .dense
        .iter()
        .step_by(stride)
        .flat_map(|jacobian| [jacobian.clone(), faer::Scale(MARGIN) * jacobian])
        .collect();
    let found = sparsing::sparsing(&samples, material.h, None, drift, sparsing::Search::new(rho)).ok()?;
    let kept: Vec<bool> = material.pattern.places().map(|(row, col)| found.mask.keeps(row, col)).collect();
    let count = kept.iter().filter(|&&kept| kept).count();
    if count == kept.len() {
        return None;
    }
    let rows: Vec<bool> = (0..n).map(|row| material.pattern.range(row).any(|entry| kept[entry])).collect();
    match judge(material, &rows, &kept) {
        Verdict::Stable(spectral_radius) => Some(Candidate {
            label: format!("sparsed to {count} of {} entries, rho = {rho}", kept.len()),
            kept,
            spectral_radius,
            warning: None,
        }),
        Verdict::Unstable { .. } => None,
    }
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
