//! What the chosen plan was held against, in numbers that a reader can check.

use super::candidates::{Candidate, MARGIN};
use super::draft::{Cost, Draft, Shares};
use super::problem::Problem;
use super::trial::with_age;
use crate::analysis::acceptance::{Tolerance, accept};
use crate::analysis::amplification::{self, carried};
use crate::analysis::dense;
use crate::analysis::perturbation::{Perturbation, bound, perturbation};
use crate::analysis::verdict::{Verdict, matrices, verdict};
use crate::warning::Warning;
use faer::prelude::c64;
use fmu_runtime::plan::{Method, Plan, Policy};
use serde::Serialize;

/// Largest values over the samples. What needs eigenvalues is absent where the model is too large for them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Certificate {
    /// The mode nearest to growing.
    pub worst_mode: Option<WorstMode>,
    /// |sum| and root of |sum of squares| of the shifts of the step's eigenvalues by what was dropped: *Extension of a sparsing
    /// approach*, Theorem 4.
    pub d1: Option<f64>,
    pub d2: Option<f64>,
    /// The shift that carries a mode which the full step damps to the stability border: C1, and the root of C2, of (15). d1 or d2 above it
    /// is a reason to look; below it they prove nothing, since shifts cancel in both sums (a(±1 ± i) of two pairs gives 0 and 0).
    pub shift_bound: Option<f64>,
    /// The mode that changes its sign from step to step most, where the full step with a fresh Jacobian has none that does.
    pub alternating_mode: Option<AlternatingMode>,
    /// Largest shift of an eigenvalue relative to what Schiela, (5.1), grants it at rho = 0.1;
    /// up to 1 the sparsed step has the spectrum of the full one.
    pub acceptance: Option<f64>,
    /// The step could be this many times longer and still be stable at every sample; 0: it is not stable as it is (`--force`);
    /// absent: no limit was found.
    pub step_margin: Option<f64>,
    /// Lengths of the step, relative to h, at which the plan was judged.
    pub lengths: Vec<f64>,
    /// The plan holds at every sample and every one of them, with its mask and its policy.
    pub stable: bool,
    pub stability: Stability,
    /// The same model without mixed mode and sparsing: every row implicit, a fresh Jacobian in every step.
    pub fully_implicit: Cost,
}

/// What is known of the plan's stability.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Stability {
    Stable,
    Unstable,
    /// A large model's estimate did not settle, or there is no sample of it.
    #[default]
    NotJudged,
}

impl Stability {
    fn of(judged: &Verdict) -> Stability {
        match judged {
            judged if !judged.is_stable() => Stability::Unstable,
            judged if judged.unjudged => Stability::NotJudged,
            _ => Stability::Stable,
        }
    }

    /// At the beginning of a sentence.
    pub fn text(self) -> &'static str {
        match self {
            Stability::Stable => "Stable",
            Stability::Unstable => "Not stable",
            Stability::NotJudged => "Not judged",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorstMode {
    /// Eigenvalue of the model, 1/s.
    pub re: f64,
    pub im: f64,
    /// What one step multiplies it by.
    pub amplification: f64,
    /// Where it shows most.
    pub states: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AlternatingMode {
    /// What one step multiplies it by.
    pub re: f64,
    pub im: f64,
    /// Where it shows most.
    pub states: Vec<String>,
}

/// A mode whose amplification is at least this large and within 45 degrees of the negative real axis is seen to alternate: what disturbs it comes
/// back with the other sign and a third of its size. The full step may have one that is smaller by `ALTERNATES_MORE`, and not more.
const ALTERNATES: f64 = 0.3;
const ALTERNATES_MORE: f64 = 0.1;
/// Modes slower than |h lambda| = this sit at the border by nature and say nothing about what was dropped.
const SLOW: f64 = 0.3;
/// Multiples of the step that are tried for the margin.
const LONGER: [f64; 7] = [1.0, MARGIN, 2.0, 3.0, 5.0, 10.0, 20.0];
/// Up to this many states the margin is looked for.
const MARGIN_STATES: usize = 100;
const NAMED: usize = 4;

/// Eigenvalues at one sample.
#[derive(Clone, Debug, Default)]
pub struct Spectra {
    /// Of the Jacobian.
    pub model: Vec<c64>,
    /// Of one step.
    pub step: Vec<c64>,
}

impl Certificate {
    /// Of this plan: its method, its mask and its policy.
    pub fn new(
        problem: &Problem,
        candidate: &Candidate,
        plan: &Plan,
        judged: &Verdict,
    ) -> (Certificate, Vec<Spectra>) {
        let everything = Draft::new(problem, &crate::analysis::Mask::full(problem.n));
        let full = everything.plan(problem, Method::Lie, Policy::Every, None, None);
        let mut certificate = Certificate {
            fully_implicit: everything.cost(&full, Shares::default()),
            ..Certificate::default()
        };
        let (step, mask, samples) = (problem.step(plan.step.method), &candidate.mask, &problem.samples);
        certificate.lengths = super::candidates::lengths(mask);
        certificate.stability = Stability::of(judged);
        certificate.stable = certificate.stability == Stability::Stable;
        for (jacobian, lambda) in samples.jacobians.iter().zip(&samples.spectra).filter(|_| !mask.is_full()) {
            if let Ok(moved) = perturbation(jacobian.as_ref(), mask, &step) {
                certificate.measure(moved, bound(lambda, &step, SLOW));
            }
            let exact: Vec<c64> = lambda.iter().map(|&lambda| step.stability(lambda)).collect();
            let r = amplification::amplification(jacobian.as_ref(), mask, &step);
            if let Ok(mu) = r.and_then(|r| dense::eigenvalues(r.as_ref()))
                && let Ok(found) = accept(&exact, &mu, Tolerance::default())
            {
                certificate.acceptance = largest(certificate.acceptance, found.ratio);
            }
        }
        if mask.is_full() && !samples.jacobians.is_empty() {
            (certificate.d1, certificate.d2, certificate.acceptance) = (Some(0.0), Some(0.0), Some(0.0));
        }
        let spectra = certificate.worst(problem, candidate, plan);
        if !mask.is_full() && !samples.jacobians.is_empty() && problem.n <= MARGIN_STATES {
            let unstable = |times: &f64| {
                with_age(problem, plan, |age| !verdict(&step, mask, age, &[*times], samples).is_stable())
            };
            let limit = LONGER.iter().position(unstable);
            certificate.step_margin = limit.map(|at| if at == 0 { 0.0 } else { LONGER[at - 1] });
        }
        (certificate, spectra)
    }

    /// The eigenvalues of the step at each sample, the Jacobian as old as the policy lets it get, and the mode nearest to growing.
    fn worst(&mut self, problem: &Problem, candidate: &Candidate, plan: &Plan) -> Vec<Spectra> {
        let (step, mask, samples) = (problem.step(plan.step.method), &candidate.mask, &problem.samples);
        let mut spectra: Vec<Option<(f64, Spectra)>> = vec![None; samples.jacobians.len()];
        let mut nearest = f64::NEG_INFINITY;
        let matrices = with_age(problem, plan, |age| matrices(mask, age, 1, samples));
        for (sample, a) in &matrices {
            let (jacobian, lambda) = (samples.jacobians[*sample].as_ref(), &samples.spectra[*sample]);
            let Ok(r) = step.map(jacobian, a.as_ref()) else { continue };
            let Ok(mu) = dense::eigenvalues(r.as_ref()) else { continue };
            let found = amplification::paired(lambda, &mu, &step);
            let exact: Vec<c64> = lambda.iter().map(|&lambda| step.stability(lambda)).collect();
            if let Some(mode) = alternating(&mu, &exact)
                && self.alternating_mode.as_ref().is_none_or(|known| mode.norm() > known.re.hypot(known.im))
            {
                let found = carried(jacobian, lambda, r.as_ref(), mode, &problem.nominals).ok();
                let states = found.iter().flat_map(|found| &found.states).take(NAMED);
                self.alternating_mode = Some(AlternatingMode {
                    re: mode.re,
                    im: mode.im.abs(),
                    states: states.map(|&(state, _)| problem.names()[state].clone()).collect(),
                });
            }
            if spectra[*sample].as_ref().is_none_or(|(known, _)| found.spectral_radius > *known) {
                spectra[*sample] = Some((found.spectral_radius, Spectra { model: lambda.clone(), step: mu }));
            }
            let Some(mode) = found.worst.map(|worst| found.modes[worst]) else { continue };
            let excess = mode.discrete.norm() / f64::max(1.0, (step.h * mode.continuous.re).exp());
            if excess > nearest {
                nearest = excess;
                let found = carried(jacobian, lambda, r.as_ref(), mode.discrete, &problem.nominals).ok();
                let continuous = found.as_ref().and_then(|found| found.continuous).unwrap_or(mode.continuous);
                let states = found.iter().flat_map(|found| &found.states).take(NAMED);
                self.worst_mode = Some(WorstMode {
                    re: continuous.re,
                    im: continuous.im.abs(),
                    amplification: mode.discrete.norm(),
                    states: states.map(|&(state, _)| problem.names()[state].clone()).collect(),
                });
            }
        }
        spectra.into_iter().flatten().map(|(_, spectra)| spectra).collect()
    }

    fn measure(&mut self, moved: Perturbation, bound: f64) {
        (self.d1, self.d2) = (largest(self.d1, moved.d1), largest(self.d2, moved.d2));
        if bound.is_finite() {
            self.shift_bound = Some(self.shift_bound.map_or(bound, |now| now.min(bound)));
        }
    }

    /// What of it a person should read.
    pub fn warnings(&self) -> impl Iterator<Item = Warning> {
        let alternates = self.alternating_mode.as_ref().map(|mode| Warning::Alternates {
            amplification: [mode.re, mode.im],
            states: mode.states.clone(),
        });
        let shifts = self.shifts_far().map(|(d1, d2, bound)| Warning::ShiftsFar { d1, d2, bound });
        alternates.into_iter().chain(shifts)
    }

    /// d1 or d2 is larger than the shift that carries a damped mode to the border, and no pairing of the eigenvalues shows that none moved far.
    pub fn shifts_far(&self) -> Option<(f64, f64, f64)> {
        let (d1, d2, bound) = (self.d1?, self.d2?, self.shift_bound?);
        let accepted = self.acceptance.is_some_and(|ratio| ratio <= 1.0);
        (d1.max(d2) > bound && !accepted).then_some((d1, d2, bound))
    }

    /// How much longer the step could be.
    pub fn margin_text(&self) -> Option<String> {
        self.step_margin.map(|times| match times {
            0.0 => "not stable with this step".into(),
            1.0 => "not stable with a step 1.5 times longer".into(),
            _ => format!("stable up to a step {times} times longer"),
        })
    }
}

/// The eigenvalue of a step that alternates most, if none of the full step's does so nearly as much.
fn alternating(step: &[c64], full: &[c64]) -> Option<c64> {
    let size = |mu: &c64| if mu.im.abs() <= -mu.re { mu.norm() } else { 0.0 };
    let most = step.iter().copied().max_by(|a, b| size(a).total_cmp(&size(b)))?;
    let allowed = full.iter().map(size).fold(0.0, f64::max) + ALTERNATES_MORE;
    (size(&most) >= allowed.max(ALTERNATES)).then_some(most)
}

fn largest(now: Option<f64>, value: f64) -> Option<f64> {
    Some(now.map_or(value, |now| now.max(value)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A mode at -0.5 turns its sign in each step; one at -0.5 ± 0.5i, at 135 degrees, nearly so. Those at 0.5, at ±0.9i and at -0.2 are no news, and where the
    /// full step has -0.45 a plan with -0.5 is none either.
    #[test]
    fn modes_near_the_negative_axis_alternate() {
        let at = |re: f64, im: f64| c64::new(re, im);
        assert_eq!(alternating(&[at(0.5, 0.0), at(-0.5, 0.0)], &[at(0.2, 0.0)]), Some(at(-0.5, 0.0)));
        assert_eq!(alternating(&[at(-0.5, 0.5), at(-0.5, -0.5)], &[]).map(|mu| mu.re), Some(-0.5));
        assert_eq!(alternating(&[at(0.5, 0.0), at(0.0, 0.9), at(0.0, -0.9), at(-0.2, 0.0)], &[]), None);
        assert_eq!(alternating(&[at(-0.5, 0.0)], &[at(-0.45, 0.0)]), None);
        assert_eq!(alternating(&[], &[]), None);
    }

    /// Shifts of a(±1 ± i), two pairs: each mode moves by a√2, and both sums vanish. So a small d1 and d2 prove nothing, and only a large one speaks; what
    /// the paired eigenvalues show to be within (5.1) needs no alarm.
    #[test]
    fn shifts_cancel_in_both_sums() {
        let a = 0.4;
        let shifts =
            [(1.0, 1.0), (1.0, -1.0), (-1.0, 1.0), (-1.0, -1.0)].map(|(re, im)| c64::new(a * re, a * im));
        let (d1, d2) = (
            shifts.iter().sum::<c64>().norm(),
            shifts.iter().map(|shift| shift * shift).sum::<c64>().norm().sqrt(),
        );
        assert!(d1 < 1e-15 && d2 < 1e-7 && shifts.iter().all(|shift| shift.norm() > 0.5), "{d1} {d2}");
        let certificate = |d2: f64, acceptance: Option<f64>| Certificate {
            d1: Some(0.0),
            d2: Some(d2),
            shift_bound: Some(0.3),
            acceptance,
            ..Certificate::default()
        };
        assert_eq!(certificate(d2, None).shifts_far(), None);
        assert_eq!(certificate(0.4, Some(2.0)).shifts_far(), Some((0.0, 0.4, 0.3)));
        assert!(certificate(0.4, None).shifts_far().is_some());
        assert_eq!(certificate(0.4, Some(0.9)).shifts_far(), None);
    }
}
