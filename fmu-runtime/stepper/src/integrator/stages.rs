//! The parts of an attempt, in the order in which `advance` calls them: the model is moved and evaluated, the Jacobian
//! renewed, a stage solved, the stages summed up, and the end of the step handed to the model.

use super::advance::{Renewal, Tried};
use super::{Integrator, usable};
use crate::fault::Fault;
use crate::jacobian::{Point, Which};
use crate::method::Tableau;
use crate::model::{Call, Model};
use crate::plan::Policy;
use crate::status::Status;

impl<M: Model> Integrator<M> {
    /// Hand the end of the step that is tried to the model.
    pub(super) fn hand_over(&mut self, tried: &mut Tried) -> Result<(), Fault> {
        let Integrator { model, live, work, held, .. } = self;
        tried.states = live.new_states();
        held.states = None;
        usable(Call::SetStates, model.set_continuous_states(&work.x_new), tried.end)?;
        held.states = Some(tried.states);
        Ok(())
    }

    /// The step is one of higher order whose embedded estimate is beyond the limit: after a jump of the inputs, say.
    pub(super) fn overshoots(&self, tried: &Tried) -> bool {
        let fixed = &self.fixed;
        fixed.tableau.is_limited() && !tried.euler_only && tried.estimate > fixed.plan.step.limit
    }

    /// The model has numbers at the end of the step. Where a higher order overshoots, the next step would begin at a point without: then it is too late.
    pub(super) fn end_is_evaluable(&mut self, end: f64) -> Result<bool, Fault> {
        let Integrator { model, work, counts, .. } = self;
        counts.ends += 1;
        let status = model.get_derivatives(&mut work.e);
        if status == Status::Discard {
            return Ok(false);
        }
        usable(Call::GetDerivatives, status, end)?;
        Ok(work.e.iter().fold(true, |sound, f| sound & f.is_finite()))
    }

    /// A later stage cannot be evaluated where it lies: the model has no numbers there, or refuses.
    pub(super) fn is_lost(&self, evaluated: &Result<(), Fault>) -> bool {
        match evaluated {
            Ok(()) => !self.work.f.f.iter().fold(true, |sound, f| sound & f.is_finite()),
            Err(fault) => fault.may_be_the_matrix(),
        }
    }

    /// x + d; false if it is beyond every reasonable range.
    pub(super) fn arrive(&mut self) -> bool {
        let Integrator { fixed, live, work, .. } = self;
        let mut sound = true;
        for (((x_new, x), d), limit) in work.x_new.iter_mut().zip(&live.x).zip(&work.d).zip(&fixed.limit) {
            *x_new = x + d;
            sound &= x_new.abs() <= *limit; // false for NaN
        }
        sound
    }

    /// Set the model's time and the inputs that have a slope.
    #[inline]
    pub(super) fn move_to(&mut self, time: f64) -> Result<(), Fault> {
        if self.held.time == time { Ok(()) } else { self.set_time(time) }
    }

    fn set_time(&mut self, time: f64) -> Result<(), Fault> {
        let Integrator { model, live, held, .. } = self;
        held.time = f64::NAN;
        usable(Call::SetTime, model.set_time(time), time)?;
        if !live.extrapolation.is_empty() {
            let (references, values) = live.extrapolation.at(time);
            usable(Call::SetInputs, model.set_inputs(references, values), time)?;
        }
        held.time = time;
        Ok(())
    }

    /// Where a stage's time lies.
    #[inline]
    pub(super) fn stage_time(&self, stage: usize, time_invariant: bool, h: f64, end: f64) -> f64 {
        let share = self.fixed.tableau.stages[stage].time;
        match (time_invariant, stage) {
            // Where it stands: if outputs were read there, the model has its derivatives at hand.
            (true, 0) => self.live.time,
            (true, _) => end,
            (false, _) if share == 1.0 => end,
            (false, _) => self.live.time + share * h,
        }
    }

    /// The model holds x.
    #[inline]
    fn place(&mut self, time: f64) -> Result<(), Fault> {
        let Integrator { model, live, held, .. } = self;
        if held.states != Some(live.point.states) {
            usable(Call::SetStates, model.set_continuous_states(&live.x), time)?;
            held.states = Some(live.point.states);
        }
        Ok(())
    }

    /// f at a stage's point: into `f_start` for the first stage, into `f` for the others.
    pub(super) fn evaluate(&mut self, stage: usize, time_invariant: bool, end: f64) -> Result<(), Fault> {
        let Integrator { fixed, model, live, work, held, .. } = self;
        if stage == 0 && time_invariant && live.derivatives.is_at(live.point) {
            work.f_start.copy_from_slice(&live.derivatives.f);
            return Ok(());
        }
        if fixed.is_at_x[stage] {
            self.place(end)?;
        } else {
            work.x_stage.copy_from_slice(&live.x);
            let nodes = &fixed.tableau.stages[stage].nodes;
            for (&a, k) in nodes.iter().zip(&work.k).filter(|(a, _)| **a != 0.0) {
                work.x_stage.iter_mut().zip(k).for_each(|(x, k)| *x += a * k);
            }
            held.states = None;
            usable(Call::SetStates, model.set_continuous_states(&work.x_stage), end)?;
        }
        let Integrator { model, work, counts, .. } = self;
        let f = if stage == 0 { &mut work.f_start } else { work.f.at(None) };
        counts.stages += 1;
        usable(Call::GetDerivatives, model.get_derivatives(f), end)
    }

    /// Before the last stage is evaluated: the watch compares it with x at the same time. Where that is not the first
    /// stage's, f at x follows from the step before or is asked for once more.
    pub(super) fn evaluate_for_watch(&mut self, tried: &mut Tried) -> Result<(), Fault> {
        if !self.fixed.watches_in_time[usize::from(self.is_time_invariant())] {
            return Ok(());
        }
        tried.watched_in_time = true;
        tried.slope_time = self.carry_in_time(tried.h);
        if tried.slope_time.is_some() {
            return Ok(());
        }
        self.place(tried.end)?;
        let Integrator { model, work, counts, .. } = self;
        counts.watch += 1;
        usable(Call::GetDerivatives, model.get_derivatives(&mut work.f_watch), tried.end)
    }

    /// ∂f/∂t where the first stage is, by a difference.
    pub(super) fn differentiate_time(&mut self, h: f64, time_invariant: bool) -> Result<(), Fault> {
        if time_invariant || !self.fixed.needs_time_slope {
            return Ok(());
        }
        let here = self.live.time + self.fixed.tableau.stages[0].time * h;
        // Short beside the step, however far from zero, and so many ulps of the time that its rounding does not count.
        let ahead = here + (1e-4 * h).max(1e4 * f64::EPSILON * here.abs()).min(h);
        self.move_to(ahead)?;
        self.place(ahead)?;
        let Integrator { model, work, counts, .. } = self;
        counts.stages += 1;
        usable(Call::GetDerivatives, model.get_derivatives(&mut work.f_time), ahead)?;
        for (slope, f) in work.f_time.iter_mut().zip(&work.f_start) {
            *slope = (*slope - f) / (ahead - here);
        }
        Ok(())
    }

    /// Renew the Jacobian at x. True if all of it was.
    pub(super) fn renew(&mut self, renewal: Renewal, time: f64) -> Result<bool, Fault> {
        let Integrator { live, solvers, .. } = self;
        let solver = &solvers[live.solver];
        let colours = solver.colours;
        let everything = live.setup_needed || renewal == Renewal::Everything;
        let which = match (renewal, solver.policy) {
            _ if everything => Which::Setup,
            (Renewal::Nothing, _) | (_, Policy::Frozen | Policy::Watched) => return Ok(false),
            _ if colours == 0 => return Ok(false),
            (_, Policy::Every) => Which::Varying { first: 0, count: colours },
            (_, Policy::Rolling { per_step }) => {
                let first = live.next_colour;
                live.next_colour = (first + per_step as usize) % colours;
                Which::Varying { first, count: (per_step as usize).min(colours) }
            }
        };
        // Factors and entries belong together only once both are new.
        live.factored_for = 0.0;
        if solver.differentiator.disturbs() {
            self.held.states = None;
        } else {
            // Directional derivatives are those of where the model stands, and a step that was tried before has moved it.
            self.place(time)?;
        }
        let Integrator { model, live, solvers, work, counts, .. } = self;
        let solver = &mut solvers[live.solver];
        counts.colours[live.solver] += solver.differentiator.evaluations(which);
        counts.setups[live.solver] += u64::from(everything);
        let point = Point { x: &live.x, r: &work.f_start, scales: &live.scales, time };
        solver.differentiator.refresh(which, model, point, &mut live.jacobian)?;
        if live.setup_needed {
            live.balance[live.solver].iter_mut().for_each(|balance| balance.forget());
        }
        live.setup_needed = false;
        Ok(everything || solver.policy == Policy::Every)
    }

    /// (I - γ h A) k = s h (f + τ h f_t) + Σ g k.
    pub(super) fn solve_stage(&mut self, stage: usize, h: f64, time_invariant: bool) {
        let Integrator { fixed, live, work, solvers, counts, .. } = self;
        let factors = &mut solvers[live.solver].factors;
        counts.solutions[live.solver & 1] += 1;
        let f = if fixed.takes_start[stage][usize::from(time_invariant)] { &work.f_start } else { &work.f.f };
        let stage_data = &fixed.tableau.stages[stage];
        let (before, rest) = work.k.split_at_mut(stage);
        let k = &mut rest[0];
        let scale = stage_data.scale * h;
        k.iter_mut().zip(f).for_each(|(k, f)| *k = scale * f);
        if stage_data.time_slope != 0.0 && !time_invariant {
            let scale = scale * stage_data.time_slope * h;
            k.iter_mut().zip(&work.f_time).for_each(|(k, slope)| *k += scale * slope);
        }
        for (&g, other) in stage_data.couplings.iter().zip(before.iter()).filter(|(g, _)| **g != 0.0) {
            k.iter_mut().zip(other).for_each(|(k, other)| *k += g * other);
        }
        factors[stage_data.factors].solve(k);
    }

    /// d = Σ b k, drawn towards the step of lower order where the embedded estimate is beyond the limit: by 1/ρ², ρ the estimate over the
    /// limit. Second order overshoots where first order cannot; the share of it that is taken vanishes there. Where the two
    /// point opposite ways no share is taken at all: see `opposition`.
    pub(super) fn combine(&mut self, tried: &mut Tried, time_invariant: bool) {
        if let [k] = &mut self.work.k[..] {
            std::mem::swap(k, &mut self.work.d);
            return;
        }
        let Integrator { fixed, work, .. } = self;
        if !tried.euler_only {
            weighted_sum(&mut work.d, |stage| fixed.tableau.estimate[stage], &work.k);
            let scaled = work.d.iter().zip(&fixed.inverse_sizes).map(|(d, inverse)| d.abs() * inverse);
            tried.estimate = scaled.fold(0.0, f64::max);
            let excess = tried.estimate / fixed.plan.step.limit;
            tried.high = if excess > 1.0 { 1.0 / (excess * excess) } else { 1.0 };
        }
        if fixed.has_spare_stage && (tried.euler_only || tried.high < 1.0) {
            self.solve_stage(0, tried.h, time_invariant);
        }
        let Integrator { fixed, work, .. } = self;
        if tried.euler_only {
            work.d.copy_from_slice(&work.k[0]);
            tried.estimate = f64::MAX;
            return;
        }
        if tried.high < 1.0 && fixed.tableau.is_limited() {
            let limit = fixed.plan.step.limit;
            let opposition = opposition(&fixed.tableau, &work.k, &fixed.inverse_sizes, limit);
            if opposition != Opposition::None {
                tried.high = 0.0;
            }
            if opposition == Opposition::LowToEuler {
                work.d.copy_from_slice(&work.k[0]);
                return;
            }
        }
        weighted_sum(&mut work.d, |stage| fixed.tableau.weight(stage, tried.high), &work.k);
    }

    /// Why x + d is beyond every range.
    #[cold]
    pub(super) fn name_divergence(&self, time: f64) -> Fault {
        let (work, limit) = (&self.work, &self.fixed.limit);
        bad_derivative(&work.f_start, time).or_else(|| bad_derivative(&work.f.f, time)).unwrap_or_else(|| {
            let lost = |(x, limit): (&f64, &f64)| x.is_nan() || x.abs() > *limit;
            let state = work.x_new.iter().zip(limit).position(lost).unwrap_or(0);
            Fault::Diverged { state: state as u32, value: work.x_new[state], time }
        })
    }
}

/// Steps of different orders that point opposite ways in some state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Opposition {
    None,
    /// The step of higher order opposes that of lower order.
    HighToLow,
    /// The step of lower order opposes the first stage, or is next to nothing beside it.
    LowToEuler,
}

/// A step of lower order that is a smaller part than this of the first stage counts as none: two half steps that cancel each other overshoot in between. Behind a square
/// root that is worse than the first stage, damped.
const CRAWL: f64 = 0.2;

/// Where two steps point opposite ways, a blend of them vanishes for some share though f does not: a false equilibrium, at which a
/// simulation would stand for ever. No blend that is continuous in x avoids it, since it would have to pass through zero. So the lower
/// order is taken alone. The two half steps of `lie2` can return to where they began as well; then the first stage is taken, which vanishes
/// only where f does. States in which the two differ by less than the limit do not count: there second order may turn round a step earlier.
fn opposition(tableau: &Tableau, k: &[Vec<f64>], inverse_sizes: &[f64], limit: f64) -> Opposition {
    let mut found = Opposition::None;
    for (state, (euler, inverse)) in k[0].iter().zip(inverse_sizes).enumerate() {
        let sum = |weights: &[f64]| weights.iter().zip(k).map(|(b, k)| b * k[state]).sum::<f64>();
        let (low, high) = (sum(&tableau.low_weights), sum(&tableau.weights));
        if low * euler < CRAWL * euler * euler && (euler - low).abs() * inverse > limit {
            return Opposition::LowToEuler;
        }
        if high * low < 0.0 && (high - low).abs() * inverse > limit {
            found = Opposition::HighToLow;
        }
    }
    found
}

/// Σ w k, over the stages that have a share.
pub(super) fn weighted_sum(sum: &mut [f64], weight: impl Fn(usize) -> f64, k: &[Vec<f64>]) {
    let mut first = true;
    for (stage, k) in k.iter().enumerate() {
        let weight = weight(stage);
        match (weight == 0.0, first) {
            (true, _) => continue,
            (_, true) => sum.iter_mut().zip(k).for_each(|(sum, k)| *sum = weight * k),
            (_, false) => sum.iter_mut().zip(k).for_each(|(sum, k)| *sum += weight * k),
        }
        first = false;
    }
}

/// A derivative that is no number is the cause, wherever the solver stumbled over it.
pub(super) fn bad_derivative(f: &[f64], time: f64) -> Option<Fault> {
    let state = f.iter().position(|f| !f.is_finite())?;
    Some(Fault::Derivative { state: state as u32, value: f[state], time })
}

#[cold]
pub(super) fn blame_derivative(f: &[f64], time: f64, fault: Fault) -> Fault {
    bad_derivative(f, time).unwrap_or(fault)
}
