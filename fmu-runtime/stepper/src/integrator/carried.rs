//! The error carried on from step to step, without an evaluation: for FMUs that have no twin.
//!
//! A step adds a local error and passes on what was there before. The local error is the method's embedded estimate; linearly implicit Euler has
//! h²x''/2 by the increments of two steps. What was there before, the step damps as it damps everything:
//!
//! ```text
//! E⁺ = (I - γhA)⁻¹ (E + ε)
//! ```
//!
//! A step errs by half of its own increment at most: where an exponential makes stages of any size, and the limiter takes the small one, ε is of that
//! size too.
//!
//! with the factors that the step has anyway: one solution more. For methods of higher order ε is the error of the lower one, so that E
//! is an indicator and no estimate: the builder compares it with the true error on runs that are known, and the plan has the ratio.

use super::Integrator;
use super::stages::weighted_sum;

impl<M> Integrator<M> {
    /// A step of length `h` was accepted; its stages and factors are still there.
    pub(super) fn carry_error(&mut self) {
        let Integrator { fixed, live, work, solvers, counts, .. } = self;
        let tableau = &fixed.tableau;
        if live.carried.is_empty() {
            return;
        }
        if !tableau.estimate.is_empty() {
            weighted_sum(&mut work.e_result, |stage| tableau.estimate[stage], &work.k);
            for (sum, (local, d)) in live.carried.iter_mut().zip(work.e_result.iter().zip(&live.d)) {
                *sum += within(*local, d);
            }
        } else if live.h_before > 0.0 && live.h_last > 0.0 {
            let ratio = live.h_last / live.h_before;
            let increments = live.d.iter().zip(&live.d_before);
            for (sum, (d, before)) in live.carried.iter_mut().zip(increments) {
                *sum += within(0.5 * (d - ratio * before), d);
            }
        }
        if let Some(factors) = solvers[live.solver].factors.last_mut().filter(|_| live.factored_for > 0.0) {
            counts.solutions[live.solver & 1] += 1;
            factors.solve(&mut live.carried);
        }
        // Told as very large, and never as no number.
        live.carried.iter_mut().filter(|sum| !sum.is_finite()).for_each(|sum| *sum = 1e140);
    }
}

/// The local error, half of the increment at most.
fn within(local: f64, increment: &f64) -> f64 {
    let most = 0.5 * increment.abs();
    local.max(-most).min(most)
}
