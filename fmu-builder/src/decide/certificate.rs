//! What the chosen plan was held against, in numbers that a reader can check.

use super::candidates::{Candidate, MARGIN, unstable_at};
use super::material::Material;
use super::trial::Draft;
use crate::analysis::acceptance::{Tolerance, accept};
use crate::analysis::amplification::{self, carried, exact_eigenvalue};
use crate::analysis::dense;
use crate::analysis::perturbation::{Perturbation, bounds, perturbation};
use faer::prelude::c64;
use fmu_runtime::plan::Policy;
use serde::Serialize;

/// Largest values over the samples. What needs eigenvalues is absent where the model is too large for them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Certificate {
    /// The mode nearest to growing.
    pub worst_mode: Option<WorstMode>,
    /// |sum| and root of |sum of squares| of the shifts of the step's eigenvalues by what was dropped: Theorem 4 of
    /// the pipe document.
    pub d1: Option<f64>,
    pub d2: Option<f64>,
    /// Below this, a shift cannot carry a mode that the step damps across the stability border: C1, and the root of C2, of (15).
    pub shift_bound: Option<f64>,
    /// Largest shift of an eigenvalue relative to what (5.1) of the sparsing document grants it at rho = 0.1;
    /// up to 1 the sparsed step has the spectrum of the full one.
    pub acceptance: Option<f64>,
    /// The step could be this many times longer and still be stable at every sample; 0: it is not stable as it is (`--force`);
    /// absent: no limit was found.
    pub step_margin: Option<f64>,
    /// The same model without mixed mode and sparsing: every row implicit, a fresh Jacobian in every step.
    pub fully_implicit: Cost,
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

#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Cost {
    pub kept_nonzeros: usize,
    /// Slots of the factors, fill included.
    pub factor_nonzeros: usize,
    pub evaluations_per_step: f64,
    pub operations_per_step: u64,
}

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
    pub fn new(material: &Material, candidate: &Candidate) -> (Certificate, Vec<Spectra>) {
        let everything = Draft::new(material, &vec![true; material.pattern.len()]);
        let mut certificate =
            Certificate { fully_implicit: everything.cost(Policy::Every), ..Certificate::default() };
        let (n, h) = (material.n, material.h);
        let is_mixed = candidate.kept.iter().any(|kept| !kept);
        let mask = material.mask(&candidate.kept);
        let mut spectra = Vec::new();
        let mut nearest = f64::NEG_INFINITY;
        for (jacobian, lambda) in material.dense.iter().zip(&material.spectra) {
            let exact: Vec<c64> = lambda.iter().map(|&lambda| exact_eigenvalue(lambda, h)).collect();
            let Ok(r) = amplification::amplification(jacobian.as_ref(), &mask, h) else { continue };
            let mu = match is_mixed {
                true => dense::eigenvalues(r.as_ref()).unwrap_or_default(),
                false => exact.clone(),
            };
            if let Ok(moved) = perturbation(jacobian.as_ref(), &mask, h) {
                certificate.measure(moved, bounds(lambda, h, SLOW).c1);
            }
            if let Ok(verdict) = accept(&exact, &mu, Tolerance::default()) {
                certificate.acceptance = largest(certificate.acceptance, verdict.ratio);
            }
            let found = amplification::paired(lambda, &mu, h);
            if let Some(mode) = found.worst.map(|worst| found.modes[worst]) {
                let excess = mode.discrete.norm() / f64::max(1.0, (h * mode.continuous.re).exp());
                if excess > nearest {
                    nearest = excess;
                    let (j, scales) = (jacobian.as_ref(), &material.scales);
                    let found = carried(j, lambda, r.as_ref(), mode.discrete, scales).ok();
                    let continuous =
                        found.as_ref().and_then(|found| found.continuous).unwrap_or(mode.continuous);
                    let states = found.iter().flat_map(|found| &found.states).take(NAMED);
                    certificate.worst_mode = Some(WorstMode {
                        re: continuous.re,
                        im: continuous.im.abs(),
                        amplification: mode.discrete.norm(),
                        states: states.map(|&(state, _)| material.names()[state].clone()).collect(),
                    });
                }
            }
            spectra.push(Spectra { model: lambda.clone(), step: mu });
        }
        if is_mixed && !material.dense.is_empty() && n <= MARGIN_STATES {
            let limit = LONGER.iter().position(|times| unstable_at(material, &mask, times * h));
            certificate.step_margin = limit.map(|at| if at == 0 { 0.0 } else { LONGER[at - 1] });
        }
        (certificate, spectra)
    }

    fn measure(&mut self, moved: Perturbation, bound: f64) {
        (self.d1, self.d2) = (largest(self.d1, moved.d1), largest(self.d2, moved.d2));
        if bound.is_finite() {
            self.shift_bound = Some(self.shift_bound.map_or(bound, |now| now.min(bound)));
        }
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

fn largest(now: Option<f64>, value: f64) -> Option<f64> {
    Some(now.map_or(value, |now| now.max(value)))
}
