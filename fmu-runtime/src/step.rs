//! One linearly implicit Euler step.
//!
//! ```text
//! r = f(t+h, x, u(t+h)),   (I - h A) d = h r,   x_new = x + d
//! ```
//!
//! The inner FMU holds x already, so the step's calls are: set the time, get the derivatives, whatever the
//! Jacobian's policy asks for, set x_new. Nothing is accepted yet: events are looked for first.

use crate::fault::Fault;
use crate::integrator::Integrator;
use crate::jacobian::Which;
use crate::plan::Policy;

impl Integrator {
    /// Compute d and x_new for a step of length `h` that ends at `time`, and hand x_new to the inner FMU.
    pub(crate) fn step(&mut self, h: f64, time: f64) -> Result<(), Fault> {
        let Integrator { plan, inner, live, factors, differentiator, work, .. } = self;
        let usable = |call, status: crate::status::Status| {
            if status.is_usable() { Ok(()) } else { Err(Fault::Inner { call, status, time }) }
        };
        usable("fmi2SetTime", inner.set_time(time))?;
        if !live.extrapolation.references.is_empty() {
            let (references, values) = live.extrapolation.at(time);
            usable("fmi2SetReal", inner.set_real(references, values))?;
        }
        if live.x.is_empty() {
            return Ok(());
        }
        usable("fmi2GetDerivatives", inner.get_derivatives(&mut work.r))?;

        let colours = plan.jacobian.colours.len();
        let which = if live.setup_needed {
            Some(Which::Setup)
        } else {
            match plan.jacobian.policy {
                _ if colours == 0 => None,
                Policy::Frozen => None,
                Policy::Every => Some(Which::Varying { first: 0, count: colours }),
                Policy::Rolling { per_step } => {
                    let first = live.next_colour;
                    live.next_colour = (first + per_step as usize) % colours;
                    Some(Which::Varying { first, count: (per_step as usize).min(colours) })
                }
            }
        };
        if let Some(which) = which {
            // Factors and entries belong together only once both are new.
            live.factored_for = 0.0;
            differentiator.refresh(which, inner, &live.x, &work.r, time, &mut live.jacobian)?;
            if live.setup_needed {
                factors.rebalance();
            }
            live.setup_needed = false;
        }
        if live.factored_for != h {
            live.factored_for = 0.0;
            factors.refactor(h, &live.jacobian).map_err(|bad| name_pivot(bad.state, &work.r, time))?;
            live.factored_for = h;
        }
        std::mem::swap(&mut live.d, &mut live.d_before);
        live.h_before = live.h_last;
        live.h_last = h;
        factors.solve(h, &work.r, &mut live.d);

        let mut sound = true;
        for (((x_new, x), d), limit) in work.x_new.iter_mut().zip(&live.x).zip(&live.d).zip(&work.limit) {
            *x_new = x + d;
            sound &= x_new.abs() <= *limit; // false for NaN
        }
        if !sound {
            return Err(name_divergence(&work.r, &work.x_new, &work.limit, time));
        }
        usable("fmi2SetContinuousStates", inner.set_continuous_states(&work.x_new))
    }
}

/// A derivative that is no number is the cause, wherever the solver stumbled over it.
fn bad_derivative(r: &[f64], time: f64) -> Option<Fault> {
    let state = r.iter().position(|r| !r.is_finite())?;
    Some(Fault::Derivative { state: state as u32, value: r[state], time })
}

#[cold]
fn name_pivot(state: u32, r: &[f64], time: f64) -> Fault {
    bad_derivative(r, time).unwrap_or(Fault::Pivot { state, time })
}

#[cold]
fn name_divergence(r: &[f64], x_new: &[f64], limit: &[f64], time: f64) -> Fault {
    bad_derivative(r, time).unwrap_or_else(|| {
        let lost = |(x, limit): (&f64, &f64)| x.is_nan() || x.abs() > *limit;
        let state = x_new.iter().zip(limit).position(lost).unwrap_or(0);
        Fault::Diverged { state: state as u32, value: x_new[state], time }
    })
}
