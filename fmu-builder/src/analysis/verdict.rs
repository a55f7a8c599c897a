//! Is a plan stable? The one judgement, for the search as for the certificate: method, mask, age of the Jacobian, step lengths
//! and samples go in, the largest amplification and the offending mode come out.
//!
//! At each sample J_s and each length the step is R(hJ_s, hA) with A = M∘J_old. How old J_old may be is the policy's
//! ([`Age`]). A mode that the step does not resolve must not grow unless the model's does. One that it resolves may be off by what
//! first order owes, |hλ|², at a single sample, as long as over all samples the volume that these modes span does not grow faster
//! than the model's own: that tells the symplectic pair, whose |μ| lies around 1, from explicit Euler on an oscillator, whose |μ|
//! always lies above. A singular step matrix is never stable.
//!
//! Stability is judged at several lengths ([`LENGTHS`]) because a partly masked step is not monotone in h: cut steps and irregular
//! communication steps are shorter than h, and a mask that holds at h may fail at 0.4 h. An unmasked step with a fresh Jacobian
//! has the method's own eigenvalues R(hλ) at every length, and nothing needs to be looked for.
//!
//! |μ| <= 1 at every sample does not bound a product of different R: it is a test, not a proof.

use super::amplification::{Mode, paired, within_limits};
use super::large::{self, SparseJacobian};
use super::{Error, Mask, Result, dense};
use crate::method::Step;
use faer::Mat;
use faer::prelude::c64;

/// Lengths that the runtime can take, relative to h: whole steps, equal parts of irregular ones, pieces before and after events.
pub const LENGTHS: [f64; 11] =
    [1.0, 0.5, 0.375, 0.25, 0.75, 0.625, 0.875, 1.0 / 3.0, 0.125, 1.0 / 16.0, 1.0 / 64.0];

/// Jacobians along the runs, with what is needed to judge by them.
#[derive(Clone, Debug, Default)]
pub struct Samples {
    pub jacobians: Vec<Mat<f64>>,
    /// Their eigenvalues.
    pub spectra: Vec<Vec<c64>>,
    /// When they were taken.
    pub times: Vec<f64>,
    /// The discrete mode in which they were taken: a number that changes with every event and from run to run.
    pub regimes: Vec<u64>,
    /// Instead of dense ones, of a large model.
    pub sparse: Vec<SparseJacobian>,
}

impl Samples {
    /// Of one run without events; times are not known.
    pub fn new(jacobians: Vec<Mat<f64>>) -> Result<Samples> {
        let n = jacobians.first().map_or(0, Mat::nrows);
        if let Some(other) = jacobians.iter().find(|j| j.nrows() != n) {
            return Err(Error::Size { what: "a sample Jacobian", expected: n, found: other.nrows() });
        }
        let spectra = jacobians.iter().map(|j| dense::eigenvalues(j.as_ref())).collect::<Result<Vec<_>>>()?;
        let (times, regimes) = (vec![0.0; jacobians.len()], vec![0; jacobians.len()]);
        Ok(Samples { jacobians, spectra, times, regimes, sparse: Vec::new() })
    }

    pub fn len(&self) -> usize {
        self.jacobians.len().max(self.sparse.len())
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of states.
    pub fn n(&self) -> usize {
        self.jacobians.first().map_or(0, Mat::nrows)
    }

    /// Some of them, by index.
    pub fn only(&self, chosen: &[usize]) -> Samples {
        Samples {
            jacobians: chosen.iter().map(|&i| self.jacobians[i].clone()).collect(),
            spectra: chosen.iter().map(|&i| self.spectra[i].clone()).collect(),
            times: chosen.iter().map(|&i| self.times[i]).collect(),
            regimes: chosen.iter().map(|&i| self.regimes[i]).collect(),
            sparse: self.sparse.clone(),
        }
    }

    /// At most so many, spread evenly.
    pub fn spread(&self, most: usize) -> Samples {
        let stride = self.jacobians.len().div_ceil(most.max(1)).max(1);
        self.only(&(0..self.jacobians.len()).step_by(stride).collect::<Vec<_>>())
    }

    /// The Jacobian at a sample, each column as it was a time `age(column)` before: interpolated to the sample before in the same
    /// discrete mode. An event renews all columns.
    fn aged(&self, sample: usize, age: &dyn Fn(usize) -> f64) -> Mat<f64> {
        let now = &self.jacobians[sample];
        let Some(before) = sample.checked_sub(1).filter(|&b| self.regimes[b] == self.regimes[sample]) else {
            return now.clone();
        };
        let passed = self.times[sample] - self.times[before];
        let old = &self.jacobians[before];
        Mat::from_fn(self.n(), self.n(), |i, j| {
            let share = if passed > 0.0 { (age(j) / passed).min(1.0) } else { 0.0 };
            now[(i, j)] + share * (old[(i, j)] - now[(i, j)])
        })
    }
}

/// How old the step's Jacobian may be.
pub enum Age<'a> {
    /// It is of the step's own beginning, or as good as that: the watch sees to it.
    Fresh,
    /// It is from anywhere in the same discrete mode: frozen between events.
    Regime,
    /// Each column has an age of its own, in seconds: `age(sample, column)`.
    Columns(&'a dyn Fn(usize, usize) -> f64),
}

/// What came out.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    /// Largest |μ| of a step of full length over the samples; `None` if there was nothing to judge by.
    pub amplification: Option<f64>,
    pub failure: Option<Failure>,
    /// Nobody can tell: a large model's estimate did not settle, or there is no sample of it.
    pub unjudged: bool,
}

/// Why a plan is not stable.
#[derive(Clone, Debug, PartialEq)]
pub struct Failure {
    /// Length of the step relative to h.
    pub length: f64,
    pub sample: usize,
    /// `None`: the step's equations are singular, or the model is too large to tell modes apart.
    pub mode: Option<Mode>,
    pub amplification: f64,
}

impl Verdict {
    /// Nothing was found that grows. See `unjudged`.
    pub fn is_stable(&self) -> bool {
        self.failure.is_none()
    }
}

/// Up to this |hλ| a step resolves a mode.
const RESOLVED: f64 = 0.3;
/// Multiplications that judging pairs of samples may take.
const PAIRS_WORK: f64 = 4e9;
/// Slack on the estimate of a large model's spectral radius.
const ESTIMATE: f64 = 1e-6;
/// An estimate with a larger residual tells nothing of what it has not found.
const SETTLED: f64 = 1e-2;

/// Judge.
pub fn verdict(step: &Step, mask: &Mask, age: &Age, lengths: &[f64], samples: &Samples) -> Verdict {
    if samples.jacobians.is_empty() {
        return of_large(step, mask, age, lengths, samples);
    }
    if mask.is_full() && matches!(age, Age::Fresh) {
        return unmasked(step, lengths, samples);
    }
    let mut found = Verdict::default();
    let pairs = matrices(mask, age, lengths.len(), samples);
    for &length in lengths {
        let (radius, failure) = at_length(&step.times(length), length, &pairs, samples);
        if length == 1.0 {
            found.amplification = Some(radius);
        }
        if failure.is_some() {
            found.failure = failure;
            break;
        }
    }
    found
}

/// The step's matrices that a policy can bring about, each with the sample at which it is used.
pub fn matrices(mask: &Mask, age: &Age, lengths: usize, samples: &Samples) -> Vec<(usize, Mat<f64>)> {
    let masked = |j: &Mat<f64>| mask.apply(j.as_ref()).unwrap_or_else(|_| j.clone());
    let all = 0..samples.jacobians.len();
    match age {
        Age::Fresh => all.map(|s| (s, masked(&samples.jacobians[s]))).collect(),
        Age::Columns(age) => all.map(|s| (s, masked(&samples.aged(s, &|column| age(s, column))))).collect(),
        Age::Regime => {
            let pairs: Vec<(usize, usize)> = all
                .clone()
                .flat_map(|old| all.clone().map(move |now| (old, now)))
                .filter(|&(old, now)| samples.regimes[old] == samples.regimes[now])
                .collect();
            // Eigenvalues take about 25 n³ each. Every sample stays with its own Jacobian; of the pairs as many as are affordable.
            let n = samples.n() as f64;
            let affordable = (PAIRS_WORK / (25.0 * n * n * n * lengths.max(1) as f64)) as usize;
            let stride = pairs.len().div_ceil(affordable.max(samples.len())).max(1);
            let chosen = pairs.iter().enumerate().filter(|(at, (old, now))| old == now || at % stride == 0);
            chosen.map(|(_, &(old, now))| (now, masked(&samples.jacobians[old]))).collect()
        }
    }
}

fn at_length(
    step: &Step,
    length: f64,
    pairs: &[(usize, Mat<f64>)],
    samples: &Samples,
) -> (f64, Option<Failure>) {
    let mut radius = 0.0;
    let (mut volume, mut allowed) = (0.0, 0.0);
    let mut loosest = None;
    // Strictly stable everywhere is the common case, and needs no pairing of eigenvalues.
    let mut strict: Vec<(usize, Vec<c64>)> = Vec::new();
    for (sample, a) in pairs {
        let spectra = step
            .maps(samples.jacobians[*sample].as_ref(), a.as_ref())
            .and_then(|maps| maps.iter().map(|r| dense::eigenvalues(r.as_ref())).collect::<Result<Vec<_>>>());
        let Ok(spectra) = spectra else {
            let amplification = f64::INFINITY;
            return (amplification, Some(Failure { length, sample: *sample, mode: None, amplification }));
        };
        for mu in spectra {
            radius = mu.iter().fold(radius, |r, z| f64::max(r, z.norm()));
            if within_limits(&mu, &samples.spectra[*sample], step) {
                strict.push((*sample, mu));
                continue;
            }
            let judged = paired(&samples.spectra[*sample], &mu, step);
            let mut worst: Option<Mode> = None;
            for mode in &judged.modes {
                let size = step.h * mode.continuous.norm();
                let growth = mode.discrete.norm().max(1e-300).ln();
                if size <= RESOLVED {
                    volume += growth - step.h * mode.continuous.re;
                    allowed += 0.05 * size * size + 1e-9;
                }
                let excess = growth - f64::max(0.0, step.h * mode.continuous.re);
                if mode.ok {
                    continue;
                }
                if size <= RESOLVED && excess <= size * size {
                    loosest = Some((*sample, *mode));
                } else if worst.is_none_or(|known| mode.discrete.norm() > known.discrete.norm()) {
                    worst = Some(*mode);
                }
            }
            if let Some(mode) = worst {
                let amplification = mode.discrete.norm();
                let failure = Failure { length, sample: *sample, mode: Some(mode), amplification };
                return (radius, Some(failure));
            }
        }
    }
    let Some((sample, mode)) = loosest else { return (radius, None) };
    for (sample, mu) in &strict {
        for mode in paired(&samples.spectra[*sample], mu, step).modes {
            let size = step.h * mode.continuous.norm();
            if size <= RESOLVED {
                volume += mode.discrete.norm().max(1e-300).ln() - step.h * mode.continuous.re;
                allowed += 0.05 * size * size + 1e-9;
            }
        }
    }
    let grows = volume > allowed;
    let amplification = mode.discrete.norm();
    (radius, grows.then_some(Failure { length, sample, mode: Some(mode), amplification }))
}

/// Every row implicit, whole, fresh: the eigenvalues are the method's own, so that nothing grows unless the model does.
fn unmasked(step: &Step, lengths: &[f64], samples: &Samples) -> Verdict {
    let radius = |step: &Step| {
        let mu = samples.spectra.iter().flatten().map(|&lambda| step.stability(lambda).norm());
        mu.fold(0.0, f64::max)
    };
    let mut found = Verdict { amplification: Some(radius(step)), ..Verdict::default() };
    for &length in lengths {
        let cut = step.times(length);
        let singular = |lambda: &c64| {
            let z = lambda * cut.h;
            cut.tableau.gammas.iter().any(|gamma| (c64::ONE - z * *gamma).norm() <= 1e-12)
        };
        if let Some(sample) = samples.spectra.iter().position(|spectrum| spectrum.iter().any(singular)) {
            let amplification = f64::INFINITY;
            found.failure = Some(Failure { length, sample, mode: None, amplification });
            return found;
        }
    }
    found
}

/// Without eigenvalues: an estimate from below of the largest |μ|, in which an unstable mode stands out, at each sample with
/// its own matrix and, where the Jacobian may be old, with that of the sample before. Only whole rows are known.
fn of_large(step: &Step, mask: &Mask, age: &Age, lengths: &[f64], samples: &Samples) -> Verdict {
    let mut found = Verdict { unjudged: samples.sparse.is_empty() && mask.n() > 0, ..Verdict::default() };
    let rows = mask.implicit_rows();
    let fresh = matches!(age, Age::Fresh);
    // Whole and fresh its eigenvalues are the method's own, and there is nothing to look for but the figure itself.
    let own = rows.iter().all(|&row| row) && fresh;
    let same_mode = |now: usize| samples.regimes.get(now) == samples.regimes.get(now - 1);
    for now in 0..samples.sparse.len() {
        let before = (!fresh && now > 0 && same_mode(now)).then(|| now - 1);
        for old in [Some(now), before].into_iter().flatten() {
            let (jacobian, matrix) = (&samples.sparse[now], &samples.sparse[old]);
            for &length in lengths.iter().filter(|&&length| !own || length == 1.0) {
                let estimate = large::spectral_radius(jacobian, matrix, rows, &step.times(length));
                let radius = estimate.as_ref().map_or(f64::INFINITY, |estimate| estimate.radius);
                if length == 1.0 && radius.is_finite() {
                    found.amplification = Some(found.amplification.map_or(radius, |now| now.max(radius)));
                }
                let unstable = if own { radius.is_infinite() } else { radius > 1.0 + ESTIMATE };
                if unstable {
                    let failure = Failure { length, sample: now, mode: None, amplification: radius };
                    return Verdict { failure: Some(failure), ..found };
                }
                found.unjudged |= !own && estimate.is_ok_and(|estimate| estimate.residual > SETTLED);
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::dense::tests::mat;
    use crate::method::tests::lie;
    use fmu_runtime::plan::Method;

    fn samples(jacobians: &[Mat<f64>]) -> Samples {
        Samples::new(jacobians.to_vec()).unwrap()
    }

    /// R_ij = 1 + hJ_j / (1 - hJ_i): with J_i = -10, J_j = -100 and h = 0.1 it is 1 - 10/2 = -4; half as stiff is safe from
    /// either side.
    #[test]
    fn a_soft_jacobian_fails_where_the_model_is_stiff() {
        let (soft, stiff) = (mat(&[&[-10.0]]), mat(&[&[-100.0]]));
        let both = samples(&[soft, stiff.clone()]);
        let judged = verdict(&lie(0.1), &Mask::full(1), &Age::Regime, &[1.0], &both);
        assert!((judged.amplification.unwrap() - 4.0).abs() < 1e-12 && !judged.is_stable());
        assert_eq!(judged.failure.map(|failure| failure.sample), Some(1));
        let near = samples(&[mat(&[&[-50.0]]), stiff]);
        assert!(verdict(&lie(0.1), &Mask::full(1), &Age::Regime, &[1.0], &near).is_stable());
        // Fresh, every one of them is.
        assert!(verdict(&lie(0.1), &Mask::full(1), &Age::Fresh, &LENGTHS, &both).is_stable());
    }

    /// The same of a large model, by estimates: fresh it is stable, with the Jacobian of the sample before it is not, and
    /// without a sample nothing is known.
    #[test]
    fn an_old_jacobian_of_a_large_model_is_judged() {
        let n = 600;
        let diagonal = |value: f64| SparseJacobian::new(n, (0..n).map(|i| (i, i, value)).collect()).unwrap();
        let mut both = Samples { sparse: vec![diagonal(-10.0), diagonal(-100.0)], ..Samples::default() };
        both.regimes = vec![0, 0];
        let full = Mask::full(n);
        assert!(verdict(&lie(0.1), &full, &Age::Fresh, &LENGTHS, &both).is_stable());
        let old = verdict(&lie(0.1), &full, &Age::Regime, &[1.0], &both);
        assert_eq!(old.failure.map(|failure| failure.sample), Some(1));
        assert!((old.amplification.unwrap() - 4.0).abs() < 1e-9);
        both.regimes = vec![0, 1];
        let apart = verdict(&lie(0.1), &full, &Age::Regime, &[1.0], &both);
        assert!(apart.is_stable() && !apart.unjudged);
        assert!(verdict(&lie(0.1), &full, &Age::Regime, &[1.0], &Samples::default()).unjudged);
    }

    /// The same pair in different discrete modes: an event between them renews the Jacobian, so that they never meet.
    #[test]
    fn samples_of_different_modes_are_not_paired() {
        let mut both = samples(&[mat(&[&[-10.0]]), mat(&[&[-100.0]])]);
        both.regimes = vec![0, 1];
        assert!(verdict(&lie(0.1), &Mask::full(1), &Age::Regime, &LENGTHS, &both).is_stable());
        let old = |_: usize, _: usize| 1e9;
        (both.times, both.regimes) = (vec![0.0, 1.0], vec![0, 0]);
        let columns = Age::Columns(&old);
        assert!(!verdict(&lie(0.1), &Mask::full(1), &columns, &[1.0], &both).is_stable());
        both.regimes = vec![0, 1];
        assert!(verdict(&lie(0.1), &Mask::full(1), &columns, &[1.0], &both).is_stable());
    }

    /// J = [[p, 1], [-q, 0]] with row 1 implicit alone, A = [[0, 0], [-q, 0]]: by hand R = (I - hA)^-1 (I + h(J - A)) has trace
    /// 2 + hp - h²q and determinant 1 + hp. With p = -0.5, q = 1 the eigenvalues leave the unit circle through -1 where
    /// 1 + trace + det = 4 + 2hp - h²q < 0, from h = 1.56 on; below, the pair is damped at every length.
    #[test]
    fn the_border_of_a_semi_implicit_pair_is_where_it_is_by_hand() {
        let one = samples(&[mat(&[&[-0.5, 1.0], &[-1.0, 0.0]])]);
        let mask = Mask::rows(vec![false, true]);
        assert!(verdict(&lie(1.55), &mask, &Age::Fresh, &LENGTHS, &one).is_stable());
        assert!(!verdict(&lie(1.57), &mask, &Age::Fresh, &[1.0], &one).is_stable());
    }

    /// A masked step may be stable at h and not at h/2. J = [[-1, 6], [-5, -30]] with its diagonal dropped: at h = 1 W has the
    /// determinant 31 and R = W^-1 diag(0, -29) the eigenvalues 0 and -29/31; at h = 1/2 R has trace -13.5/8.5 and
    /// determinant -7/8.5, so that -2 is an eigenvalue.
    #[test]
    fn lengths_belong_to_the_judgement() {
        let one = samples(&[mat(&[&[-1.0, 6.0], &[-5.0, -30.0]])]);
        let mask = Mask::from_fn(2, |i, k| i != k);
        let alone = verdict(&lie(1.0), &mask, &Age::Fresh, &[1.0], &one);
        assert!(alone.is_stable() && (alone.amplification.unwrap() - 29.0 / 31.0).abs() < 1e-12);
        let failure = verdict(&lie(1.0), &mask, &Age::Fresh, &LENGTHS, &one).failure.unwrap();
        assert!(failure.length == 0.5 && (failure.amplification - 2.0).abs() < 1e-12);
    }

    /// 1 - h J = 0: there is no step, so it is not stable; whichever way A comes about.
    #[test]
    fn a_singular_step_is_never_stable() {
        let one = samples(&[mat(&[&[10.0]])]);
        for age in [Age::Fresh, Age::Regime] {
            let judged = verdict(&lie(0.1), &Mask::full(1), &age, &LENGTHS, &one);
            assert!(judged.failure.is_some_and(|failure| failure.amplification.is_infinite()));
        }
    }

    /// A = θJ, z = hJ → -∞: R → 1 - 1/θ for Euler, so that |R| <= 1 from θ = 1/2 on. Of ros2l the step of lower order, which the limiter may take, sets the border: 1 - 1/(γθ), γ = 1.707.
    #[test]
    fn how_stale_a_jacobian_each_method_bears() {
        for (method, border) in [
            (Method::Lie, 0.5),
            (Method::Lie2, 0.667),
            (Method::Ros2, 0.854),
            (Method::Ros2l, 0.293),
            (Method::Ros34pw2, 0.614),
        ] {
            let stable = |theta: f64| {
                let both = samples(&[mat(&[&[-1e6 * theta]]), mat(&[&[-1e6]])]);
                verdict(&Step::new(method, 1.0), &Mask::full(1), &Age::Regime, &[1.0], &both).is_stable()
            };
            assert!(stable(border + 0.01) && !stable(border - 0.01), "{method:?}");
        }
    }

    #[test]
    fn nothing_to_judge_by_is_no_failure() {
        let none = verdict(&lie(0.1), &Mask::full(0), &Age::Fresh, &LENGTHS, &Samples::default());
        assert_eq!((none.amplification, none.is_stable()), (None, true));
    }
}
