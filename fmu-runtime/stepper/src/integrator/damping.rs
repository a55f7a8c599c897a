//! Damping: a step that overshoots is shortened.
//!
//! A linearly implicit step is one Newton iteration for the implicit one, and Newton's method overshoots where f bends: near a square root,
//! p' = k (q - sgn(p) √|p|), a stiff step leads from p to -p and back again, for tens of steps. Where f at the step's end is known anyway (the limiter looks
//! there, and so does the watch of linearly implicit Euler), the next correction costs one solution:
//!
//! ```text
//! e = (I - h A)⁻¹ (h f(t + h, x + d) - d)
//! ```
//!
//! By the natural monotonicity test of Newton's method (Deuflhard; Schiela, section 5.5, has it with residuals) an iteration makes progress where |e| < |d|. Where a state has a ρ = -e_i / d_i
//! near 1 or beyond, the next correction would take the step back. What is left of the state's equation along the step, in parts of d, is 1 at its beginning, falls with slope -1
//! there, as d solves the linearised equation, and is -ρ at its end. A parabola through that vanishes at
//!
//! ```text
//! λ = 2 / (1 + √(1 + 4ρ))
//! ```
//!
//! The states of its block go
//!
//! ```text
//! d + θ e,     θ = (1 - λ) / ρ
//! ```
//!
//! with ρ of the state that overshoots most, in parts of its size. That state goes λ d; states that did not overshoot have a small e and keep their step, and what
//! a block conserves (Σ d = Σ e = 0) stays conserved. No state is corrected by more, in parts of its size, than that one's whole step. Where f explodes on the way, λ can be
//! next to nothing, and many such steps would stand still: a damped state goes a tenth of its size at least.
//! Schiela chooses among 2λ, λ and λ/2, λ the factor of the step before, by two evaluations more in every step; this takes none.

use super::Integrator;
use super::advance::Tried;
use crate::fault::Fault;
use crate::model::Model;
use crate::plan::Elimination;

/// A correction that takes a larger part than this of the step back is no progress. Below, an orifice's pressure falls to a third at least in each step, and the
/// undamped step is the more accurate one: where the chamber empties just within the step it is exact, and ρ = 1/2.
const PROGRESS: f64 = 0.9;
/// A damped state goes this part of its size at least.
const LEAST: f64 = 0.1;

impl<M: Model> Integrator<M> {
    /// Shorten the step that is tried where it overshoots; `work.e` is f at its end.
    pub(super) fn damp_by_derivatives(&mut self, tried: &mut Tried) -> Result<(), Fault> {
        let Integrator { fixed, live, work, solvers, counts, .. } = self;
        for (e, d) in work.e.iter_mut().zip(&work.d) {
            *e = tried.h * *e - d;
        }
        counts.solutions[live.solver & 1] += 1;
        solvers[live.solver].factors[fixed.tableau.stages[0].factors].solve(&mut work.e);
        self.damp(tried)
    }

    /// The same; `work.e` is the next correction.
    pub(super) fn damp(&mut self, tried: &mut Tried) -> Result<(), Fault> {
        let Integrator { fixed, live, work, .. } = self;
        let elimination = match &fixed.plan.fallback {
            Some(fallback) if live.solver > 0 => &fallback.elimination,
            _ => &fixed.plan.elimination,
        };
        let (limit, mut damped) = (fixed.plan.step.limit, false);
        for block in blocks(elimination) {
            let overshoot = |&state: &u32| {
                let (e, d) = (work.e[state as usize], work.d[state as usize]);
                let inverse = fixed.inverse_sizes[state as usize];
                let size = e.abs() * inverse;
                let back = e * d < 0.0 && e.abs() > PROGRESS * d.abs() && size > limit && size.is_finite();
                back.then_some((size, -e / d, LEAST / (d.abs() * inverse)))
            };
            let worst = block.iter().filter_map(overshoot).max_by(|one, other| one.0.total_cmp(&other.0));
            let Some((_, ratio, least)) = worst else { continue };
            let lambda = f64::max(2.0 / (1.0 + (1.0 + 4.0 * ratio).sqrt()), least);
            if lambda >= 1.0 {
                continue;
            }
            damped = true;
            let theta = (1.0 - lambda) / ratio;
            for &state in block {
                work.d[state as usize] += theta * work.e[state as usize];
            }
        }
        if !damped {
            return Ok(());
        }
        tried.damped = true;
        if !self.arrive() {
            return Err(self.name_divergence(tried.end));
        }
        self.hand_over(tried)
    }
}

/// The states of each block of implicit rows.
fn blocks(elimination: &Elimination) -> impl Iterator<Item = &[u32]> {
    let mut rest = &elimination.order[elimination.explicit as usize..];
    elimination.blocks.iter().map(move |block| {
        let (states, after) = rest.split_at(block.size as usize);
        rest = after;
        states
    })
}
