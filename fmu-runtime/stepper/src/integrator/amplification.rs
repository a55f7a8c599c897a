//! How much one step multiplies a small disturbance by, found with the model as it is now: parameters, inputs and start values of the importer.
//!
//! Power iteration on the step map R(hJ, hA), with J v by differences: a bounded number of evaluations, at initialisation, where time does not
//! count. A plan that dropped entries of the Jacobian was judged with those that the builder saw; where it does not hold here, the simulation takes the
//! plan's fallback, which keeps them all.

use super::Integrator;
use crate::model::Model;

/// Applications of the step map, and those that the growth is read off.
const ITERATIONS: usize = 30;
const READ: usize = 15;
/// Step lengths that are looked at, as parts of h.
const LENGTHS: [f64; 2] = [1.0, 0.5];
/// Relative size of the disturbances.
const DISTURBANCE: f64 = 1e-7;
/// Growth per step that is no estimate's error any more, absolute and beside the fallback's: the model itself may grow.
const GROWS: f64 = 1.02;

impl<M: Model> Integrator<M> {
    /// Take the fallback if the plan's own matrix is not stable here. The model is left disturbed.
    pub(super) fn choose_solver(&mut self) {
        if self.solvers.len() < 2 {
            return;
        }
        let growth = |it: &mut Self, solver: usize| {
            it.live.choose_solver(solver);
            LENGTHS.iter().map(|part| it.growth(part * it.fixed.plan.step.h)).fold(0.0, f64::max)
        };
        let (fallback, own) = (growth(self, 1), growth(self, 0));
        // Where the fallback itself cannot be judged nothing is gained by it.
        if own > GROWS * fallback.max(1.0) {
            self.live.choose_solver(1);
        }
    }

    /// Growth per step of length `h` with the solver in use, infinite if it cannot be factored; the states' sizes are the measure.
    fn growth(&mut self, h: f64) -> f64 {
        if self.renew_here().is_err() || self.refactor(h).is_err() {
            return f64::INFINITY;
        }
        let n = self.live.x.len();
        // Deterministic, and no symmetry that a mode could hide behind.
        let mut v: Vec<f64> =
            (0..n).map(|i| (1.0 + (i as f64 * 2.399_963).sin()) * self.fixed.plan.states.sizes[i]).collect();
        let mut growth = 1.0;
        for i in 0..ITERATIONS {
            let before = self.measure(&v);
            if before.is_nan() || before <= 0.0 {
                return if before == 0.0 { 0.0 } else { f64::INFINITY };
            }
            v.iter_mut().for_each(|v| *v /= before);
            if !self.apply(h, &mut v) {
                return f64::INFINITY;
            }
            if i >= ITERATIONS - READ {
                growth *= self.measure(&v);
            }
        }
        growth.powf(1.0 / READ as f64)
    }

    /// Largest element relative to the states' sizes.
    fn measure(&self, v: &[f64]) -> f64 {
        v.iter().zip(&self.fixed.inverse_sizes).map(|(v, inverse)| v.abs() * inverse).fold(0.0, f64::max)
    }

    /// v := R(hJ, hA) v. False if the model cannot be evaluated.
    fn apply(&mut self, h: f64, v: &mut [f64]) -> bool {
        let Integrator { fixed, model, live, work, solvers, .. } = self;
        let tableau = &fixed.tableau;
        let factors = &mut solvers[live.solver].factors;
        for (i, stage) in tableau.stages.iter().enumerate() {
            work.x_stage.copy_from_slice(v);
            for (&a, k) in stage.nodes.iter().zip(&work.k) {
                work.x_stage.iter_mut().zip(k).for_each(|(x, k)| *x += a * k);
            }
            for (x, start) in work.x_stage.iter_mut().zip(&live.x) {
                *x = start + DISTURBANCE * *x;
            }
            let usable = model.set_continuous_states(&work.x_stage).is_usable()
                && model.get_derivatives(work.f.at(None)).is_usable();
            if !usable {
                return false;
            }
            let (before, rest) = work.k.split_at_mut(i);
            for ((k, f), start) in rest[0].iter_mut().zip(&work.f.f).zip(&work.f_start) {
                *k = stage.scale * h * (f - start) / DISTURBANCE;
            }
            for (&g, other) in stage.couplings.iter().zip(before.iter()) {
                rest[0].iter_mut().zip(other).for_each(|(k, other)| *k += g * other);
            }
            factors[stage.factors].solve(&mut rest[0]);
        }
        for (&b, k) in tableau.weights.iter().zip(&work.k) {
            v.iter_mut().zip(k).for_each(|(v, k)| *v += b * k);
        }
        true
    }
}
