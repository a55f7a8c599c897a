//! The watch: what a step misses because A is not the Jacobian where it should be.
//!
//! A step is linearised: it takes f(x) + A δ for f(x + δ). The model is evaluated at such a point anyway, at the end of the step (for outputs,
//! indicators and the next step) or in the method's last stage. The difference, carried through the step's matrix,
//!
//! ```text
//! e = (I - γ h A)⁻¹ γ h (f(x + δ) - f(x) - A δ)
//! ```
//!
//! is the next simplified-Newton correction of the implicit step: small while A is good enough, large when the model has moved away from where A was taken, when
//! entries are missing from it, or when parameters differ from those of the study. It costs a solution, and a product where no stage has solved for δ itself. For linearly implicit Euler
//! h A d = d - h f(x) makes it (I - h A)⁻¹ (h f(x + d) - d).
//!
//! That is what a step of first order misses. A W-method of order p makes up for A's error but for terms of order h^(p+1): the result misses about
//!
//! ```text
//! c ((W⁻¹ - I)^(p-1) + (-q)^(p-1)) e,     W = I - γ h A,     q = |h (f(x + δ) - f(x) - A δ)| / |δ|, at most 1
//! ```
//!
//! The first part is exact for ROS2 on x' = λx with A near λ (c: `Tableau::stale_share`): W⁻¹ - I = γ h A W⁻¹ is nearly nothing in slow modes and -1 in stiff ones. It
//! tells nothing where A is much too small for the model; q, the part of a step by which A is wrong, does. On x' = λx it is at least half of what is missed, for every A = θλ from θ = 0 to 3.
//! Where the limiter drew the step towards first order, e counts in that proportion. What time alone changes between two stages is not A's fault: both values of f are taken at the same time, or
//! carried there (`time_slope`).
//!
//! Steps add up: an A that is always wrong the same way misses little in each step and much in a second. So e is summed, with its sign, since A was taken; what
//! is compared with the threshold is the largest element of that sum relative to the states' sizes, which follow the run (`sizes`). At rest nothing is added.
//!
//! Under the policy `watched` a step whose sum exceeds the plan's threshold is done again with a Jacobian renewed at its start, and A is kept from there on. Where
//! entries were dropped and e is still beyond, that one step is done with the plan's fallback, which has them all.

use super::advance::Tried;
use super::{Integrator, usable};
use crate::fault::Fault;
use crate::method::WatchPoint;
use crate::model::{Call, Model};
use crate::status::Status;

impl<M: Model> Integrator<M> {
    /// The largest sum of what results missed since A was taken, relative to the states' sizes in this run; relative to their sizes in the study it is `plan_defect`. Both are
    /// infinite where f is no number or the model refuses to be evaluated.
    pub(super) fn defect(&mut self, tried: &Tried) -> Result<f64, Fault> {
        let &Tried { h, end, high, .. } = tried;
        let time_invariant = self.is_time_invariant();
        let Integrator { fixed, model, live, work, solvers, counts, .. } = self;
        let (tableau, solver) = (&fixed.tableau, &mut solvers[live.solver]);
        if tried.euler_only {
            live.plan_defect = f64::MAX;
            return Ok(f64::MAX);
        }
        let last = tableau.stages.len() - 1;
        match tableau.watch {
            WatchPoint::End => {
                counts.ends += 1;
                let status = model.get_derivatives(work.f.at(Some(live.point_of(tried.states))));
                if status == Status::Discard {
                    work.f.at(None).fill(f64::NAN);
                    live.plan_defect = f64::INFINITY;
                    return Ok(f64::INFINITY);
                }
                usable(Call::GetDerivatives, status, end)?;
                for ((e, f), d) in work.e.iter_mut().zip(&work.f.f).zip(&work.d) {
                    *e = h * f - d;
                }
            }
            WatchPoint::LastStage => {
                let f_start = if tried.watched_in_time { &work.f_watch } else { &work.f_start };
                let scale = tableau.gamma(last) * h;
                for ((e, f), f_start) in work.e.iter_mut().zip(&work.f.f).zip(f_start) {
                    *e = scale * (f - f_start);
                }
                for (delta, x) in work.x_stage.iter_mut().zip(&live.x) {
                    *delta -= x;
                }
                match fixed.solves_for_delta[usize::from(time_invariant)] {
                    // δ = k of a stage that solved (I - γhA) k = s h f(x): there is A δ.
                    Some(j) => {
                        let (ratio, s) =
                            (tableau.gamma(last) / tableau.gamma(j), tableau.stages[j].scale * h);
                        for ((e, k), f) in work.e.iter_mut().zip(&work.k[j]).zip(&work.f_start) {
                            *e -= ratio * (k - s * f);
                        }
                    }
                    None => {
                        for &(row, column, entry) in solver.kept.iter() {
                            let product = live.jacobian[entry as usize] * work.x_stage[column as usize];
                            work.e[row as usize] -= scale * product;
                        }
                    }
                }
            }
        }
        let factors = &mut solver.factors[tableau.stages[last].factors];
        let powers = tableau.order_with_any_matrix() - 1;
        let off = match powers {
            0 => 1.0,
            _ => relative_defect(&work.e, &work.x_stage, tableau.gamma(last), &fixed.inverse_sizes),
        };
        counts.solutions[live.solver & 1] += 1 + u64::from(powers);
        factors.solve(&mut work.e);
        if powers > 0 {
            work.e_result.copy_from_slice(&work.e);
            for _ in 0..powers {
                work.x_stage.copy_from_slice(&work.e_result);
                factors.solve(&mut work.e_result);
                work.e_result.iter_mut().zip(&work.x_stage).for_each(|(e, before)| *e -= before);
            }
            // Both with the sign that they have in decaying modes.
            let (share, limited) = (high * tableau.stale_share, (1.0 - high) / tableau.gamma(last));
            let of_defect = share * (-off).powi(powers as i32) + limited;
            for (e, result) in work.e.iter_mut().zip(&work.e_result) {
                *e = share * result + of_defect * *e;
            }
        }
        let (mut largest, mut in_run, mut sound) = (0.0, 0.0, true);
        let sums = fixed.plan.watch.is_some_and(|watch| watch.sums) && !tried.renewed;
        let kept = f64::from(u8::from(sums));
        let inverses = fixed.inverse_sizes.iter().zip(live.sizes.inverse());
        let sums = live.drift.iter_mut().zip(&work.e).zip(inverses);
        for (state, ((sum, e), (inverse, inverse_in_run))) in sums.enumerate() {
            *sum = kept * *sum + e;
            let size = sum.abs() * inverse;
            sound &= size < f64::INFINITY; // false for NaN
            in_run = f64::max(in_run, sum.abs() * inverse_in_run);
            if size > largest {
                (largest, live.worst_state) = (size, state as u32);
            }
        }
        live.plan_defect = if sound { largest } else { f64::INFINITY };
        Ok(if sound { in_run } else { f64::INFINITY })
    }
}

/// |h (f(x + δ) - f(x) - A δ)| / |δ|, at most 1, in the norm of the states' sizes. `e` holds γ times the defect.
fn relative_defect(e: &[f64], delta: &[f64], gamma: f64, inverse_sizes: &[f64]) -> f64 {
    let norm = |v: &[f64]| {
        v.iter().zip(inverse_sizes).fold(0.0, |most, (v, inverse)| f64::max(most, v.abs() * inverse))
    };
    let (defect, step) = (norm(e) / gamma, norm(delta));
    if defect < step { defect / step } else { 1.0 }
}
