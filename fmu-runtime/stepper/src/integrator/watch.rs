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
//! is compared with the threshold is the largest element of that sum relative to the states' sizes. At rest nothing is added.
//!
//! Under the policy `watched` a step whose sum exceeds the plan's threshold is done again with a Jacobian renewed at its start, and A is kept from there on. Where
//! entries were dropped and e is still beyond, that one step is done with the plan's fallback, which has them all.

use super::step::{Renewal, bad_derivative};
use super::{Integrator, Workspace, usable};
use crate::fault::Fault;
use crate::method::WatchPoint;
use crate::model::{Call, Model};
use crate::plan::Watch;
use crate::status::Status;

impl<M: Model> Integrator<M> {
    /// Try a step of length `h` that ends at `end`, watched as the plan says.
    pub(super) fn step(&mut self, h: f64, end: f64) -> Result<(), Fault> {
        let tried = self.attempt(h, end, Renewal::ByPolicy);
        let Some(Watch { threshold, outside, .. }) = self.plan.watch else {
            return tried.map(|_| ());
        };
        if self.live.x.is_empty() {
            return tried.map(|_| ());
        }
        let (defect, renewed) = match tried {
            Ok(renewed) => (self.defect(h, end, renewed)?, renewed),
            // With an old A a step may go astray; with a fresh one it may not.
            Err(fault) if self.is_watched() && fault.may_be_the_matrix() => (f64::INFINITY, false),
            Err(fault) => return Err(fault),
        };
        self.live.plan_defect = defect;
        if defect <= threshold {
            return Ok(());
        }
        if self.is_watched() && !renewed {
            self.do_again(h, end)?;
        }
        if self.live.plan_defect > threshold && self.live.solver + 1 < self.solvers.len() {
            // Entries are missing: this one step with all of them, and so is the search for an event in it.
            self.live.use_solver(1);
            self.work.borrowed = true;
            self.do_again(h, end)?;
        }
        if self.live.plan_defect > outside {
            self.live.outside_plan += 1;
            self.work.spoke = (self.work.worst_state, self.live.plan_defect, end);
            self.live.drift.fill(0.0); // told: what follows is told anew
        }
        // Infinite: the model cannot be evaluated where this step leads.
        match self.live.plan_defect.is_finite() {
            true => Ok(()),
            false => Err(bad_derivative(&self.work.f, end).unwrap_or(Fault::Model {
                call: Call::GetDerivatives,
                status: Status::Discard,
                time: end,
            })),
        }
    }

    /// The fallback was for one step: it is accepted, or the simulation is over.
    pub(super) fn return_solver(&mut self) {
        if std::mem::take(&mut self.work.borrowed) {
            self.live.use_solver(0);
        }
    }

    /// The step once more with a Jacobian renewed at its start.
    fn do_again(&mut self, h: f64, end: f64) -> Result<(), Fault> {
        self.attempt(h, end, Renewal::Everything)?;
        self.live.plan_defect = self.defect(h, end, true)?;
        self.live.renewals += 1;
        Ok(())
    }

    /// The largest sum of what results missed since A was taken, relative to the states' sizes; infinite where f is no number or the model refuses to be evaluated.
    /// `renewed`: A was taken in this step.
    fn defect(&mut self, h: f64, end: f64, renewed: bool) -> Result<f64, Fault> {
        let time_invariant = self.is_time_invariant();
        let Integrator { plan, model, live, work, tableau, solvers, .. } = self;
        let solver = &mut solvers[live.solver];
        if work.euler_only {
            return Ok(f64::MAX);
        }
        let last = tableau.stages.len() - 1;
        match tableau.watch {
            WatchPoint::End => {
                live.evaluations += 1;
                let status = model.get_derivatives(&mut work.f);
                if status == Status::Discard {
                    work.f.fill(f64::NAN);
                    return Ok(f64::INFINITY);
                }
                usable(Call::GetDerivatives, status, end)?;
                work.end_known = true;
                for ((e, f), d) in work.e.iter_mut().zip(&work.f).zip(&work.d) {
                    *e = h * f - d;
                }
            }
            WatchPoint::LastStage => {
                let f_start = if work.watch_known { &work.f_watch } else { &work.f_start };
                let scale = tableau.gamma(last) * h;
                for ((e, f), f_start) in work.e.iter_mut().zip(&work.f).zip(f_start) {
                    *e = scale * (f - f_start);
                }
                for (delta, x) in work.x_stage.iter_mut().zip(&live.x) {
                    *delta -= x;
                }
                match tableau.only_node(last).filter(|&j| work.is_at_start(j, time_invariant)) {
                    // δ = k of a stage that solved (I - γhA) k = s h f(x): there is A δ.
                    Some(j) => {
                        let (ratio, s) =
                            (tableau.gamma(last) / tableau.gamma(j), tableau.stages[j].scale * h);
                        for ((e, k), f) in work.e.iter_mut().zip(&work.k[j]).zip(&work.f_start) {
                            *e -= ratio * (k - s * f);
                        }
                    }
                    None => {
                        for &(row, column, entry) in &solver.kept {
                            let product = live.jacobian[entry as usize] * work.x_stage[column as usize];
                            work.e[row as usize] -= scale * product;
                        }
                    }
                }
            }
        }
        let factors = &mut solver.factors[tableau.stages[last].factors];
        let powers = tableau.order_with_any_matrix() - 1;
        let off = if powers > 0 { wrongness(work, tableau.gamma(last)) } else { 1.0 };
        factors.solve(&mut work.e);
        if powers > 0 {
            work.e_result.copy_from_slice(&work.e);
            for _ in 0..powers {
                work.x_stage.copy_from_slice(&work.e_result);
                factors.solve(&mut work.e_result);
                work.e_result.iter_mut().zip(&work.x_stage).for_each(|(e, before)| *e -= before);
            }
            // Both with the sign that they have in decaying modes.
            let (share, limited) = (work.high * tableau.stale_share, (1.0 - work.high) / tableau.gamma(last));
            let of_defect = share * (-off).powi(powers as i32) + limited;
            for (e, result) in work.e.iter_mut().zip(&work.e_result) {
                *e = share * result + of_defect * *e;
            }
        }
        let (mut largest, mut sound) = (0.0, true);
        let sums = plan.watch.is_some_and(|watch| watch.sums) && !renewed;
        let kept = f64::from(u8::from(sums));
        let sums = live.drift.iter_mut().zip(&work.e).zip(&work.inverse_sizes);
        for (state, ((sum, e), inverse)) in sums.enumerate() {
            *sum = kept * *sum + e;
            let size = sum.abs() * inverse;
            sound &= size < f64::INFINITY; // false for NaN
            if size > largest {
                (largest, work.worst_state) = (size, state as u32);
            }
        }
        Ok(if sound { largest } else { f64::INFINITY })
    }
}

/// |h (f(x + δ) - f(x) - A δ)| / |δ|, at most 1, in the norm of the states' sizes. `e` holds γ times the defect, `x_stage` δ.
fn wrongness(work: &Workspace, gamma: f64) -> f64 {
    let norm = |v: &[f64]| {
        v.iter().zip(&work.inverse_sizes).fold(0.0, |most, (v, inverse)| f64::max(most, v.abs() * inverse))
    };
    let (defect, step) = (norm(&work.e) / gamma, norm(&work.x_stage));
    if defect < step { defect / step } else { 1.0 }
}
