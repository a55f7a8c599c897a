//! A step from top to bottom.
//!
//! [`advance`](Integrator::advance) cuts a communication step into internal steps, `internal_step` cuts these at events,
//! `step` has each piece watched and done again where the plan says so, `attempt` goes through the stages of the method,
//! and `accept` makes the step count. What each of them calls is in the other files.
//!
//! A step is tried, not taken: it computes the increment d and hands x + d to the model. Events are looked for there, and
//! only then it is accepted. Where the model cannot change with time alone and no input has a slope, the first stage is
//! evaluated where the last step ended: derivatives that are known from there are not asked for again, and a model whose
//! outputs were read there has them in its own cache.

use super::event::Budget;
use super::stages::{bad_derivative, blame_derivative};
use super::{Counts, Integrator, usable};
use crate::fault::Fault;
use crate::method::WatchPoint;
use crate::model::{Call, Model};
use crate::plan::Watch;
use crate::status::Status;

/// How a communication step is cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Division {
    pub steps: u64,
    pub h: f64,
    /// Not the step that the plan was made for.
    pub irregular: bool,
}

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

/// A step that was tried. Its vectors are in the workspace: `k`, the increment `d`, and `x_new`, which the model holds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tried {
    pub h: f64,
    pub end: f64,
    /// The name of the states that it leads to.
    pub states: u64,
    /// All of the Jacobian was renewed at its start.
    pub renewed: bool,
    /// A later stage could not be evaluated: the step is the first stage alone, linearly implicit Euler.
    pub euler_only: bool,
    /// The share of the higher order that the limiter left.
    pub high: f64,
    /// The embedded estimate, relative to the states' sizes.
    pub estimate: f64,
    /// It overshot and was shortened.
    pub damped: bool,
    /// `f_watch` is f at x and the last stage's time; otherwise `f_start` is.
    pub watched_in_time: bool,
    /// `f_time` is ∂f/∂t at this time.
    pub slope_time: Option<f64>,
}

/// Largest relative deviation from m h that counts as rounding noise of the importer.
const NOISE: f64 = 1e-6;
/// A time event nearer than this part of h, or a few ulps, to a step's end is taken there.
const SNAP: f64 = 1e-6;

impl<M: Model> Integrator<M> {
    /// The grid goes on from the host's time.
    pub fn rebase(&mut self, time: f64) {
        self.live.base = time;
        self.live.count = 0;
        self.live.time = time;
    }

    /// How a communication step of length `length` will be cut.
    pub fn divide(&self, length: f64) -> Division {
        self.cut(length, 1)
    }

    /// The same where a second integration takes one step for each two of this one: both divisions.
    pub fn divide_in_pairs(&self, length: f64) -> (Division, Division) {
        let coarse = self.cut(length, 2);
        (Division { steps: 2 * coarse.steps, h: 0.5 * coarse.h, ..coarse }, coarse)
    }

    /// Into parts of at most `times` internal steps.
    fn cut(&self, length: f64, times: u32) -> Division {
        let (h, factored) =
            (f64::from(times) * self.fixed.plan.step.h, f64::from(times) * self.live.factored_for);
        let m = self.fixed.plan.step.substeps / times;
        // Hosts subtract points: late in a run a step is known to a few ulps of the time only.
        let noise = NOISE * h + 4.0 * f64::EPSILON * self.live.time.abs();
        let near = |steps: f64| (length - steps * h).abs() <= noise;
        if near(f64::from(m)) {
            return Division { steps: u64::from(m), h, irregular: false };
        }
        let steps = ((length - noise) / h).ceil().max(1.0);
        if near(steps) {
            Division { steps: steps as u64, h, irregular: false }
        } else {
            // A host's equal steps differ by rounding: the same length keeps its factors. The parts still make up the step.
            let h = length / steps;
            let h = if steps * (h - factored).abs() <= NOISE * h { factored } else { h };
            Division { steps: steps as u64, h, irregular: true }
        }
    }

    /// Take a communication step of this length. Gives what it took.
    pub fn advance(&mut self, length: f64, division: Division) -> Result<&Counts, Fault> {
        self.counts = Counts::default();
        let taken = self.communication_step(length, division);
        self.live.evaluations += self.counts.evaluations();
        self.live.watch_evaluations += self.counts.watch;
        taken.map(|()| &self.counts)
    }

    fn communication_step(&mut self, length: f64, division: Division) -> Result<(), Fault> {
        let start = self.live.time;
        // Inputs with slopes are kinked where a communication step begins and ends.
        if !self.live.extrapolation.is_empty() || !self.live.extrapolation.past().0.is_empty() {
            self.live.last_stage.forget();
        }
        for i in 1..=division.steps {
            let end = if division.irregular {
                if i == division.steps { start + length } else { start + i as f64 * division.h }
            } else {
                self.live.base + (self.live.count + 1) as f64 * division.h
            };
            self.internal_step(division.h, end)?;
            self.live.count += 1;
            self.live.time = end;
            self.live.steps += 1;
        }
        if division.irregular {
            self.live.base = self.live.time;
            self.live.count = 0;
        }
        self.evaluate_here()
    }

    /// Where outputs wait for an evaluation, make one, unless the last one was here.
    fn evaluate_here(&mut self) -> Result<(), Fault> {
        let Integrator { fixed, model, live, work, counts, .. } = self;
        let was_here = || work.f.is_at(live.point) || live.derivatives.is_at(live.point);
        let waits = fixed.plan.model.outputs_need_evaluation && !live.in_event_mode && !live.x.is_empty();
        if !waits || was_here() {
            return Ok(());
        }
        counts.ends += 1;
        usable(Call::GetDerivatives, model.get_derivatives(work.f.at(Some(live.point))), live.time)
    }

    /// One internal step of length `h` to the grid point `end`, cut at events.
    fn internal_step(&mut self, h: f64, end: f64) -> Result<(), Fault> {
        let mut budget = Budget::new(self.fixed.plan.events.max_per_step);
        if self.must_settle_first()? {
            self.event(&mut budget)?;
        }
        // Far from zero the model and we know one point in time to a few ulps only.
        let snap = SNAP * h + 4.0 * f64::EPSILON * end.abs();
        let mut whole = true; // the first piece reaches `end` unless an event cuts it
        let mut second_half = false;
        loop {
            let mut time_event = self.live.next_event <= end + snap && budget.left();
            let mut cut = time_event && self.live.next_event < end - snap;
            let mut stop = if cut { self.live.next_event.max(self.live.time) } else { end };
            // A twin's steps are cut at the same time events: what lies between them is taken in two, or both would take the same steps.
            let meets_event = time_event || self.live.after_time_event;
            second_half =
                self.plan().has_twin() && meets_event && !second_half && stop - self.live.time > 4.0 * snap;
            if second_half {
                (time_event, cut) = (false, true);
                stop = self.live.time + 0.5 * (stop - self.live.time);
            }
            let length = if whole && !cut { h } else { stop - self.live.time };
            if length > snap || (whole && !cut) {
                let tried = self.step(length, stop)?;
                if self.locate(&tried, &mut budget)? {
                    (whole, second_half) = (false, false);
                    self.live.after_time_event = false;
                    continue;
                }
                self.accept(&tried);
                self.live.after_time_event &= second_half;
                // Where a time event is due as well, they are one event: the one below.
                if self.completed_step()? && !time_event {
                    self.event(&mut budget)?;
                }
            }
            whole = false;
            if time_event {
                // The model must see a time that is not before its event, not even by an ulp.
                let at = self.live.next_event.max(stop);
                self.held.time = f64::NAN;
                self.call(Call::SetTime, |model| model.set_time(at))?;
                self.live.time = stop;
                self.event(&mut budget)?;
                self.live.after_time_event = true;
            }
            if stop >= end {
                // An event may ask for another one at the same time.
                if self.live.next_event > end + snap {
                    break;
                }
                if !budget.left() {
                    self.put_off();
                    break;
                }
            }
        }
        self.live.time = end;
        self.ask_again(&mut budget)
    }

    /// Try a step of length `h` that ends at `end`, watched as the plan says: done again with a new Jacobian, and then with
    /// the fallback's, as long as the watch finds too much.
    fn step(&mut self, h: f64, end: f64) -> Result<Tried, Fault> {
        let first = self.attempt(h, end, Renewal::ByPolicy);
        let watch = self.fixed.plan.watch.filter(|_| !self.live.x.is_empty());
        let Some(Watch { threshold, outside, .. }) = watch else { return first };
        let mut tried = match first {
            Ok(tried) => {
                if self.defect(&tried)? <= threshold {
                    return Ok(tried);
                }
                if self.is_watched() && !tried.renewed { self.do_again(h, end)? } else { tried }
            }
            // With an old A a step may go astray; with a fresh one it may not.
            Err(fault) if self.is_watched() && fault.may_be_the_matrix() => {
                self.live.plan_defect = f64::INFINITY;
                self.do_again(h, end)?
            }
            Err(fault) => return Err(fault),
        };
        if self.live.plan_defect > threshold && self.live.solver + 1 < self.solvers.len() {
            // Entries are missing: this one step with all of them, and so is the search for an event in it.
            self.live.use_solver(1);
            tried = self.do_again(h, end)?;
        }
        // The watch has looked at the step's end: what it found is the next correction.
        let corrected = self.fixed.tableau.watch == WatchPoint::End;
        if corrected && self.live.plan_defect > threshold && self.live.plan_defect.is_finite() {
            self.damp(&mut tried)?;
        }
        if self.live.plan_defect > outside {
            self.live.outside_plan += 1;
            self.live.spoke = (self.live.worst_state, self.live.plan_defect, end);
            self.live.drift.fill(0.0); // told: what follows is told anew
        }
        // Infinite: the model cannot be evaluated where this step leads.
        match self.live.plan_defect.is_finite() {
            true => Ok(tried),
            false => Err(bad_derivative(&self.work.f.f, end).unwrap_or(Fault::Model {
                call: Call::GetDerivatives,
                status: Status::Discard,
                time: end,
            })),
        }
    }

    /// The step once more with a Jacobian renewed at its start.
    fn do_again(&mut self, h: f64, end: f64) -> Result<Tried, Fault> {
        let tried = self.attempt(h, end, Renewal::Everything)?;
        self.defect(&tried)?;
        self.live.renewals += 1;
        Ok(tried)
    }

    /// Try a step of length `h` that ends at `end`, with the Jacobian renewed as asked.
    pub(super) fn attempt(&mut self, h: f64, end: f64, renewal: Renewal) -> Result<Tried, Fault> {
        let mut tried = Tried {
            h,
            end,
            states: self.live.point.states,
            renewed: false,
            euler_only: false,
            high: 1.0,
            estimate: 0.0,
            damped: false,
            watched_in_time: false,
            slope_time: None,
        };
        self.counts.attempts += 1;
        if self.live.x.is_empty() {
            self.move_to(end)?;
            return Ok(tried);
        }
        let time_invariant = self.is_time_invariant();
        let stages = self.fixed.tableau.stages.len();
        for i in 0..stages {
            if !self.fixed.shares[i][usize::from(time_invariant)] {
                self.move_to(self.stage_time(i, time_invariant, h, end))?;
                if i + 1 == stages {
                    self.evaluate_for_watch(&mut tried)?;
                }
                let evaluated = self.evaluate(i, time_invariant, end);
                if i > 0 && self.is_lost(&evaluated) {
                    tried.euler_only = true;
                    break;
                }
                evaluated?;
            }
            if i == 0 {
                tried.renewed = self.renew(renewal, end)?;
                self.differentiate_time(h, time_invariant)?;
                if self.live.factored_for != h {
                    self.refactor(h).map_err(|fault| blame_derivative(&self.work.f_start, end, fault))?;
                }
            }
            // A spare first stage waits until the step of lower order is asked for.
            if i > 0 || !self.fixed.has_spare_stage {
                self.solve_stage(i, h, time_invariant);
            }
        }
        self.combine(&mut tried, time_invariant);
        self.move_to(end)?;
        if !self.arrive() {
            // Its first stage is a step by itself.
            tried.euler_only = stages > 1;
            self.combine(&mut tried, time_invariant);
            if !tried.euler_only || !self.arrive() {
                return Err(self.name_divergence(end));
            }
        }
        self.hand_over(&mut tried)?;
        if !self.overshoots(&tried) {
            return Ok(tried);
        }
        if self.end_is_evaluable(end)? {
            self.damp_by_derivatives(&mut tried)?;
        } else {
            tried.euler_only = true;
            self.combine(&mut tried, time_invariant);
            if !self.arrive() {
                return Err(self.name_divergence(end));
            }
            self.hand_over(&mut tried)?;
        }
        Ok(tried)
    }

    /// The step counts: x := x_new.
    pub(super) fn accept(&mut self, tried: &Tried) {
        let time_invariant = self.is_time_invariant();
        self.keep_last_stage(tried);
        let Integrator { fixed, live, work, .. } = self;
        std::mem::swap(&mut live.x, &mut work.x_new);
        std::mem::swap(&mut live.d, &mut live.d_before);
        std::mem::swap(&mut live.d, &mut work.d);
        (live.h_before, live.h_last) = (live.h_last, tried.h);
        live.estimate = tried.estimate;
        live.damped += u64::from(tried.damped);
        live.point.states = tried.states;
        if time_invariant && work.f.is_at(live.point) {
            std::mem::swap(&mut live.derivatives, &mut work.f);
        }
        live.time = tried.end;
        live.sizes.follow(&live.x, &fixed.plan.states.sizes);
        self.carry_error();
        self.live.return_solver();
    }

    /// Tell the model that a step is complete; true if it asks for Event Mode.
    pub(super) fn completed_step(&mut self) -> Result<bool, Fault> {
        if !self.fixed.plan.model.completed_step_needed || self.rehearsing {
            return Ok(false);
        }
        let time = self.live.time;
        let (status, info) = self.model.completed_integrator_step();
        usable(Call::CompletedStep, status, time)?;
        if info.terminate { Err(Fault::Terminated { time }) } else { Ok(info.enter_event_mode) }
    }
}
