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
//! entries are missing from it, or when parameters differ from those of the study. It costs a product and a solution. For linearly implicit Euler
//! h A d = d - h f(x) makes it (I - h A)⁻¹ (h f(x + d) - d).
//!
//! Steps add up: an A that is always wrong the same way misses little in each step and much in a second. So e is summed, with its sign, since A was taken; what
//! is compared with the threshold is the largest element of that sum relative to the states' sizes. At rest nothing is added.
//!
//! Under the policy `watched` a step whose sum exceeds the plan's threshold is done again with a Jacobian renewed at its start, and A is kept from there on. Where
//! entries were dropped and e is still beyond, that one step is done with the plan's fallback, which has them all.

use super::step::{Renewal, bad_derivative};
use super::{Integrator, usable};
use crate::fault::Fault;
use crate::method::WatchPoint;
use crate::model::Model;
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
            self.live.drift.fill(0.0); // told: what follows is told anew
        }
        // Infinite: the model cannot be evaluated where this step leads.
        match self.live.plan_defect.is_finite() {
            true => Ok(()),
            false => Err(bad_derivative(&self.work.f, end).unwrap_or(Fault::Model {
                call: "fmi2GetDerivatives",
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

    /// The largest sum of e since A was taken, relative to the states' sizes; infinite where f is no number or the model refuses to be evaluated.
    /// `renewed`: A was taken in this step.
    fn defect(&mut self, h: f64, end: f64, renewed: bool) -> Result<f64, Fault> {
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
                usable("fmi2GetDerivatives", status, end)?;
                work.end_known = true;
                for ((e, f), d) in work.e.iter_mut().zip(&work.f).zip(&work.d) {
                    *e = h * f - d;
                }
            }
            WatchPoint::LastStage => {
                for ((e, f), f_start) in work.e.iter_mut().zip(&work.f).zip(&work.f_start) {
                    *e = f - f_start;
                }
                for (delta, x) in work.x_stage.iter_mut().zip(&live.x) {
                    *delta -= x;
                }
                for &(row, column, entry) in &solver.kept {
                    work.e[row as usize] -= live.jacobian[entry as usize] * work.x_stage[column as usize];
                }
                let scale = tableau.gamma(last) * h;
                work.e.iter_mut().for_each(|e| *e *= scale);
            }
        }
        solver.factors[tableau.stages[last].factors].solve(&mut work.e);
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
