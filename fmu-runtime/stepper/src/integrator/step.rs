//! One step: the stages of the plan's method.
//!
//! A step is tried, not taken: it computes the increment d and hands x + d to the model. Events are looked for there, and only then
//! it is accepted. Where the model cannot change with time alone and no input has a slope, the first stage is evaluated where the last step ended: derivatives that are known from there are not asked for
//! again, and a model whose outputs were read there has them in its own cache.

use super::{Integrator, usable};
use crate::fault::Fault;
use crate::jacobian::Which;
use crate::method::{Tableau, WatchPoint};
use crate::model::{Call, Model};
use crate::plan::Policy;
use crate::status::Status;

/// What of the Jacobian a step renews.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Renewal {
    /// What the plan's policy asks for.
    ByPolicy,
    /// All of it: the watch spoke.
    Everything,
    /// Nothing: the step is cut at an event.
    Nothing,
}

impl<M: Model> Integrator<M> {
    /// Try a step of length `h` that ends at `end`, with the Jacobian renewed as asked. True if all of it was renewed.
    pub(super) fn attempt(&mut self, h: f64, end: f64, renewal: Renewal) -> Result<bool, Fault> {
        self.work.end_known = false;
        if self.live.x.is_empty() {
            self.move_to(end)?;
            return Ok(false);
        }
        let time_invariant = self.is_time_invariant();
        let start = self.live.time;
        let mut renewed = false;
        self.work.euler_only = false;
        for i in 0..self.tableau.stages.len() {
            if !self.work.shares[i][usize::from(time_invariant)] {
                let share = self.tableau.stages[i].time;
                self.move_to(match (time_invariant, i) {
                    // Where it stands: if outputs were read there, the model has its derivatives at hand.
                    (true, 0) => start,
                    (true, _) => end,
                    (false, _) if share == 1.0 => end,
                    (false, _) => start + share * h,
                })?;
                self.evaluate_for_watch(i, h, end)?;
                let evaluated = self.evaluate(i, time_invariant, end);
                if i > 0 && self.is_lost(&evaluated) {
                    self.work.euler_only = true;
                    break;
                }
                evaluated?;
            }
            if i == 0 {
                renewed = self.renew(renewal, end)?;
                self.differentiate_time(h, time_invariant)?;
                if self.live.factored_for != h {
                    self.refactor(h).map_err(|fault| blame_derivative(&self.work.f_start, end, fault))?;
                }
            }
            // A spare first stage waits until the step of lower order is asked for.
            if i > 0 || !self.work.has_spare_stage {
                self.solve_stage(i, h, time_invariant);
            }
        }
        self.combine(h, time_invariant);
        self.move_to(end)?;
        if !self.arrive() {
            // Its first stage is a step by itself.
            self.work.euler_only = self.tableau.stages.len() > 1;
            self.combine(h, time_invariant);
            if !self.work.euler_only || !self.arrive() {
                let work = &self.work;
                return Err(name_divergence(&work.f_start, &work.f, &work.x_new, &work.limit, end));
            }
        }
        self.hand_over(end)?;
        if self.overshoots() && !self.can_stand(end)? {
            self.work.euler_only = true;
            self.combine(h, time_invariant);
            if !self.arrive() {
                let work = &self.work;
                return Err(name_divergence(&work.f_start, &work.f, &work.x_new, &work.limit, end));
            }
            self.hand_over(end)?;
        }
        Ok(renewed)
    }

    /// Hand the end of the step that is tried to the model.
    fn hand_over(&mut self, end: f64) -> Result<(), Fault> {
        let Integrator { model, work, .. } = self;
        work.placed = false;
        usable(Call::SetStates, model.set_continuous_states(&work.x_new), end)
    }

    /// The step is one of higher order whose embedded estimate is beyond the limit: after a jump of the inputs, say.
    fn overshoots(&self) -> bool {
        self.tableau.is_limited() && !self.work.euler_only && self.work.estimate > self.plan.step.limit
    }

    /// The model has numbers at the end of the step. Where a higher order overshoots, the next step would begin at a point without: then it is too late.
    fn can_stand(&mut self, end: f64) -> Result<bool, Fault> {
        let Integrator { model, live, work, .. } = self;
        live.evaluations += 1;
        let status = model.get_derivatives(&mut work.e);
        if status == Status::Discard {
            return Ok(false);
        }
        usable(Call::GetDerivatives, status, end)?;
        Ok(work.e.iter().fold(true, |sound, f| sound & f.is_finite()))
    }

    /// A later stage cannot be evaluated where it lies: the model has no numbers there, or refuses.
    fn is_lost(&self, evaluated: &Result<(), Fault>) -> bool {
        match evaluated {
            Ok(()) => !self.work.f.iter().fold(true, |sound, f| sound & f.is_finite()),
            Err(fault) => fault.may_be_the_matrix(),
        }
    }

    /// x + d; false if it is beyond every reasonable range.
    fn arrive(&mut self) -> bool {
        let Integrator { live, work, .. } = self;
        let mut sound = true;
        for (((x_new, x), d), limit) in work.x_new.iter_mut().zip(&live.x).zip(&work.d).zip(&work.limit) {
            *x_new = x + d;
            sound &= x_new.abs() <= *limit; // false for NaN
        }
        sound
    }

    /// Set the model's time and the inputs that have a slope.
    pub(super) fn move_to(&mut self, time: f64) -> Result<(), Fault> {
        let Integrator { model, live, work, .. } = self;
        if work.model_time == time {
            return Ok(());
        }
        work.model_time = f64::NAN;
        usable(Call::SetTime, model.set_time(time), time)?;
        if !live.extrapolation.is_empty() {
            let (references, values) = live.extrapolation.at(time);
            usable(Call::SetInputs, model.set_inputs(references, values), time)?;
        }
        work.model_time = time;
        Ok(())
    }

    /// f at a stage's point: into `f_start` for the first stage, into `f` for the others.
    fn evaluate(&mut self, stage: usize, time_invariant: bool, end: f64) -> Result<(), Fault> {
        let Integrator { model, live, work, tableau, .. } = self;
        if stage == 0 && live.derivatives_known && time_invariant {
            work.f_start.copy_from_slice(&live.derivatives);
            return Ok(());
        }
        let nodes = &tableau.stages[stage].nodes;
        if !tableau.stages[stage].is_at_start() {
            work.x_stage.copy_from_slice(&live.x);
            for (&a, k) in nodes.iter().zip(&work.k).filter(|(a, _)| **a != 0.0) {
                work.x_stage.iter_mut().zip(k).for_each(|(x, k)| *x += a * k);
            }
            work.placed = false;
            usable(Call::SetStates, model.set_continuous_states(&work.x_stage), end)?;
        } else if !work.placed {
            usable(Call::SetStates, model.set_continuous_states(&live.x), end)?;
            work.placed = true;
        }
        let f = if stage == 0 { &mut work.f_start } else { &mut work.f };
        live.evaluations += 1;
        usable(Call::GetDerivatives, model.get_derivatives(f), end)
    }

    /// The watch compares the last stage with x at the same time: where that is not the first stage's, f at x follows from the step before or is asked for once more.
    fn evaluate_for_watch(&mut self, stage: usize, h: f64, end: f64) -> Result<(), Fault> {
        self.work.watch_known = false;
        self.work.slope_known = false;
        let last = stage + 1 == self.tableau.stages.len();
        let watches =
            self.plan.watch.is_some() && self.tableau.watch_evaluations(self.is_time_invariant()) > 0;
        if !last || !watches || self.tableau.watch == WatchPoint::End {
            return Ok(());
        }
        self.work.watch_known = true;
        if self.carry_in_time(h) {
            return Ok(());
        }
        let Integrator { model, live, work, .. } = self;
        if !work.placed {
            usable(Call::SetStates, model.set_continuous_states(&live.x), end)?;
            work.placed = true;
        }
        live.evaluations += 1;
        live.watch_evaluations += 1;
        usable(Call::GetDerivatives, model.get_derivatives(&mut work.f_watch), end)
    }

    /// ∂f/∂t where the first stage is, by a difference.
    fn differentiate_time(&mut self, h: f64, time_invariant: bool) -> Result<(), Fault> {
        if !self.tableau.needs_time_slope(time_invariant) {
            return Ok(());
        }
        let here = self.live.time + self.tableau.stages[0].time * h;
        // Short beside the step, however far from zero, and so many ulps of the time that its rounding does not count.
        let ahead = here + (1e-4 * h).max(1e4 * f64::EPSILON * here.abs()).min(h);
        self.move_to(ahead)?;
        let Integrator { model, live, work, .. } = self;
        if !work.placed {
            usable(Call::SetStates, model.set_continuous_states(&live.x), ahead)?;
            work.placed = true;
        }
        live.evaluations += 1;
        usable(Call::GetDerivatives, model.get_derivatives(&mut work.f_time), ahead)?;
        for (slope, f) in work.f_time.iter_mut().zip(&work.f_start) {
            *slope = (*slope - f) / (ahead - here);
        }
        Ok(())
    }

    /// Renew the Jacobian at x. True if all of it was.
    fn renew(&mut self, renewal: Renewal, time: f64) -> Result<bool, Fault> {
        let Integrator { model, live, solvers, work, .. } = self;
        let solver = &mut solvers[live.solver];
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
            work.placed = false;
        } else if !work.placed {
            // Directional derivatives are those of where the model stands, and a step that was tried before has moved it.
            usable(Call::SetStates, model.set_continuous_states(&live.x), time)?;
            work.placed = true;
        }
        live.evaluations += solver.differentiator.evaluations(which);
        solver.differentiator.refresh(
            which,
            model,
            &live.x,
            &work.f_start,
            &live.scales,
            time,
            &mut live.jacobian,
        )?;
        if live.setup_needed {
            live.balance[live.solver].iter_mut().for_each(|balance| balance.forget());
        }
        live.setup_needed = false;
        Ok(everything || solver.policy == Policy::Every)
    }

    /// (I - γ h A) k = s h (f + τ h f_t) + Σ g k.
    fn solve_stage(&mut self, stage: usize, h: f64, time_invariant: bool) {
        let Integrator { work, solvers, tableau, .. } = self;
        let factors = &mut solvers[self.live.solver].factors;
        let f = if work.is_at_start(stage, time_invariant) { &work.f_start } else { &work.f };
        let stage_data = &tableau.stages[stage];
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
    fn combine(&mut self, h: f64, time_invariant: bool) {
        if let [k] = &mut self.work.k[..] {
            std::mem::swap(k, &mut self.work.d);
            return;
        }
        let Integrator { plan, work, tableau, .. } = self;
        if !work.euler_only {
            weighted_sum(&mut work.d, |stage| tableau.estimate[stage], &work.k);
            let scaled = work.d.iter().zip(&work.inverse_sizes).map(|(d, inverse)| d.abs() * inverse);
            work.estimate = scaled.fold(0.0, f64::max);
            let excess = work.estimate / plan.step.limit;
            work.high = if excess > 1.0 { 1.0 / (excess * excess) } else { 1.0 };
        }
        if work.has_spare_stage && (work.euler_only || work.high < 1.0) {
            self.solve_stage(0, h, time_invariant);
        }
        let Integrator { plan, work, tableau, .. } = self;
        if work.euler_only {
            work.d.copy_from_slice(&work.k[0]);
            work.estimate = f64::MAX;
            return;
        }
        if work.high < 1.0 && tableau.is_limited() {
            let opposition = opposition(tableau, &work.k, &work.inverse_sizes, plan.step.limit);
            if opposition != Opposition::None {
                work.high = 0.0;
            }
            if opposition == Opposition::LowToEuler {
                work.d.copy_from_slice(&work.k[0]);
                return;
            }
        }
        weighted_sum(&mut work.d, |stage| tableau.weight(stage, work.high), &work.k);
    }

    /// x := x_new at `time`, after a step of length `h`.
    pub(super) fn accept(&mut self, h: f64, time: f64) {
        let time_invariant = self.is_time_invariant();
        self.keep_last_stage(h);
        let Integrator { live, work, .. } = self;
        std::mem::swap(&mut live.x, &mut work.x_new);
        std::mem::swap(&mut live.d, &mut live.d_before);
        std::mem::swap(&mut live.d, &mut work.d);
        (live.h_before, live.h_last) = (live.h_last, h);
        live.estimate = work.estimate;
        live.derivatives_known = work.end_known && time_invariant;
        if live.derivatives_known {
            std::mem::swap(&mut live.derivatives, &mut work.f);
        }
        work.placed = true;
        work.evaluated_here = work.end_known;
        live.time = time;
        self.carry_error();
        self.return_solver();
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

/// A step of lower order that is a smaller part than this of the first stage counts as none.
const CRAWL: f64 = 1.0 / 64.0;

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
fn blame_derivative(f: &[f64], time: f64, fault: Fault) -> Fault {
    bad_derivative(f, time).unwrap_or(fault)
}

#[cold]
fn name_divergence(f_start: &[f64], f: &[f64], x_new: &[f64], limit: &[f64], time: f64) -> Fault {
    bad_derivative(f_start, time).or_else(|| bad_derivative(f, time)).unwrap_or_else(|| {
        let lost = |(x, limit): (&f64, &f64)| x.is_nan() || x.abs() > *limit;
        let state = x_new.iter().zip(limit).position(lost).unwrap_or(0);
        Fault::Diverged { state: state as u32, value: x_new[state], time }
    })
}
