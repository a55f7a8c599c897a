//! Masks worth trying, each stable at every sample.

use super::{Material, Wish};
use crate::analysis::amplification::{self, dominant_states};
use crate::analysis::{Mask, greedy, large, sparsing, step_advice};
use crate::cli::Mode;
use crate::error::Error;
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
}

/// Explicit rows must stay stable even if the step were this much longer: the samples are not the whole truth.
const MARGIN: f64 = 1.5;
/// Up to this many states every row mask is tried.
const EXHAUSTIVE: usize = 4;
/// Up to this many states single entries are dropped.
const SPARSING: usize = 150;

pub fn candidates(
    material: &Material,
    wish: &Wish,
    warnings: &mut Vec<String>,
) -> Result<Vec<Candidate>, Error> {
    let n = material.n;
    let pins = pins(material, wish)?;
    let pinned = |mut rows: Vec<bool>| {
        for (row, pin) in rows.iter_mut().zip(&pins) {
            *row = pin.unwrap_or(*row);
        }
        rows
    };
    let full = pinned(vec![true; n]);
    let explicit = pinned(vec![false; n]);
    let mut rows: Vec<(String, Vec<bool>)> = Vec::new();
    match wish.mode {
        Mode::Implicit => rows.push(("all implicit".into(), full.clone())),
        Mode::Explicit => rows.push(("all explicit".into(), explicit.clone())),
        Mode::Auto | Mode::Mixed => {
            if wish.mode == Mode::Auto {
                rows.push(("all explicit".into(), explicit.clone()));
                rows.push(("all implicit".into(), full.clone()));
            }
            rows.extend(
                partitions(material, warnings).into_iter().map(|(label, rows)| (label, pinned(rows))),
            );
            if rows.is_empty() {
                rows.push(("all implicit".into(), full.clone()));
            }
        }
    }
    let mut candidates: Vec<Candidate> = Vec::new();
    let mut refused = None;
    for (label, rows) in rows {
        let kept: Vec<bool> = material.pattern.places().map(|(row, _)| rows[row]).collect();
        if candidates.iter().any(|known| known.kept == kept) {
            continue;
        }
        match judge(material, &rows, &kept) {
            Verdict::Stable(spectral_radius) => candidates.push(Candidate { label, kept, spectral_radius }),
            Verdict::Unstable { message, spectral_radius } => {
                if wish.force {
                    warnings.push(format!("kept because of --force: {message}"));
                    candidates.push(Candidate { label, kept, spectral_radius: Some(spectral_radius) });
                } else {
                    refused.get_or_insert(message);
                }
            }
        }
    }
    if candidates.is_empty() {
        let reason = refused.unwrap_or_else(|| "no partition is stable".into());
        return Err(Error::Request(reason));
    }
    if matches!(wish.mode, Mode::Auto | Mode::Mixed) && pins.iter().all(Option::is_none) {
        candidates.extend(sparsed(material, &candidates));
    }
    Ok(candidates)
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
    for (label, partition) in [
        ("fast rows (greedy, all samples at once)", greedy::joint(&material.dense, material.h, None)),
        ("fast rows (greedy, union over samples)", greedy::union(&material.dense, material.h, None)),
    ] {
        match partition {
            Ok(partition) => found.push((label.to_string(), partition.fast)),
            Err(error) => warnings.push(format!("{label}: {error}")),
        }
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

enum Verdict {
    Stable(Option<f64>),
    Unstable { message: String, spectral_radius: f64 },
}

/// Is the mask stable at every sample, and with a margin where rows are explicit?
fn judge(material: &Material, rows: &[bool], kept: &[bool]) -> Verdict {
    let n = material.n;
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
    let mask = Mask::from_fn(n, |i, j| material.pattern.find(i, j).is_some_and(|entry| kept[entry]));
    let any_explicit = kept.iter().any(|kept| !kept);
    let mut radius: f64 = 0.0;
    for jacobian in &material.dense {
        let judged = match amplification::modes(jacobian.as_ref(), &mask, material.h) {
            Ok(judged) => judged,
            Err(_) => continue,
        };
        radius = radius.max(judged.spectral_radius);
        let stable_with_margin = !any_explicit
            || amplification::modes(jacobian.as_ref(), &mask, MARGIN * material.h)
                .is_ok_and(|modes| modes.stable);
        if judged.stable && stable_with_margin {
            continue;
        }
        let h = if judged.stable { MARGIN * material.h } else { material.h };
        let worst = amplification::modes(jacobian.as_ref(), &mask, h).ok();
        let worst = worst.and_then(|modes| modes.worst.map(|worst| modes.modes[worst]));
        let states = worst.and_then(|worst| {
            let r = amplification::amplification(jacobian.as_ref(), &mask, h).ok()?;
            dominant_states(r.as_ref(), worst.discrete, &material.scales).ok()
        });
        let names: Vec<&str> =
            states.iter().flatten().take(4).map(|&(state, _)| material.names()[state].as_str()).collect();
        let limit = step_advice::step_advice(&material.dense, material.h).ok();
        let message = format!(
            "explicit rows are not stable with a step of {}: the mode with eigenvalue {} is multiplied by {:.4} \
             in each step{} (in {}); make these states implicit (--fast, --mode auto), take {}, or insist with --force",
            format_duration(material.h),
            worst.map_or("?".into(), |worst| complex(worst.continuous.re, worst.continuous.im)),
            worst.map_or(f64::NAN, |worst| worst.discrete.norm()),
            if judged.stable {
                format!(" if it were {MARGIN} times longer, and that margin is kept")
            } else {
                String::new()
            },
            if names.is_empty() { "no single state".to_string() } else { names.join(", ") },
            limit.filter(|limit| limit.explicit_limit.is_finite()).map_or(
                "a shorter step".into(),
                |limit| format!(
                    "--step {} or less, where even explicit Euler is stable",
                    format_duration(limit.explicit_limit / MARGIN).replace(' ', "")
                )
            ),
        );
        return Verdict::Unstable { message, spectral_radius: radius };
    }
    Verdict::Stable((!material.dense.is_empty()).then_some(radius))
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

/// Single entries dropped from the stable row masks, where that leaves fewer.
fn sparsed(material: &Material, _stable: &[Candidate]) -> Option<Candidate> {
    let n = material.n;
    if n < 3 || n > SPARSING || material.dense.is_empty() {
        return None;
    }
    // A handful of samples: each trial costs their eigenvalues.
    let stride = material.dense.len().div_ceil(5);
    let samples: Vec<_> = material.dense.iter().step_by(stride).cloned().collect();
    let found = sparsing::sparsing(&samples, material.h, None, sparsing::Search::default()).ok()?;
    let kept: Vec<bool> = material.pattern.places().map(|(row, col)| found.mask.keeps(row, col)).collect();
    let count = kept.iter().filter(|&&kept| kept).count();
    if count == kept.len() {
        return None;
    }
    let rows: Vec<bool> = (0..n).map(|row| material.pattern.range(row).any(|entry| kept[entry])).collect();
    match judge(material, &rows, &kept) {
        Verdict::Stable(spectral_radius) => Some(Candidate {
            label: format!("sparsed to {count} of {} entries", kept.len()),
            kept,
            spectral_radius,
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
