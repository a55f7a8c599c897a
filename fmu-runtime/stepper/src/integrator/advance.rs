//! A communication step: cut into internal steps, and these at events.

use super::Integrator;
use super::event::Budget;
use crate::fault::Fault;
use crate::model::{Call, Model};

/// How a communication step is cut.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Division {
    pub steps: u64,
    pub h: f64,
    /// Not the step that the plan was made for.
    pub irregular: bool,
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
        let (h, factored) = (f64::from(times) * self.plan.step.h, f64::from(times) * self.live.factored_for);
        let m = self.plan.step.substeps / times;
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

    /// Take a communication step of this length.
    pub fn advance(&mut self, length: f64, division: Division) -> Result<(), Fault> {
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
        let waits = self.plan.model.outputs_need_evaluation && !self.work.evaluated_here;
        if !waits || self.live.in_event_mode || self.live.x.is_empty() {
            return Ok(());
        }
        self.live.evaluations += 1;
        self.work.evaluated_here = true;
        let Integrator { model, live, work, .. } = self;
        super::usable(Call::GetDerivatives, model.get_derivatives(&mut work.f), live.time)
    }

    /// One internal step of length `h` to the grid point `end`, cut at events.
    fn internal_step(&mut self, h: f64, end: f64) -> Result<(), Fault> {
        let mut budget = Budget::new(self.plan.events.max_per_step);
        if self.must_settle_first()? {
            self.event(&mut budget)?;
        }
        // Far from zero the model and we know one point in time to a few ulps only.
        let snap = SNAP * h + 4.0 * f64::EPSILON * end.abs();
        let mut whole = true; // the first piece reaches `end` unless an event cuts it
        loop {
            let time_event = self.live.next_event <= end + snap && budget.left();
            let cut = time_event && self.live.next_event < end - snap;
            let stop = if cut { self.live.next_event.max(self.live.time) } else { end };
            let length = if whole && !cut { h } else { stop - self.live.time };
            if length > snap || (whole && !cut) {
                self.step(length, stop)?;
                if self.locate(length, stop, &mut budget)? {
                    whole = false;
                    continue;
                }
                self.accept(length, stop);
                // Where a time event is due as well, they are one event: the one below.
                if self.completed_step()? && !time_event {
                    self.event(&mut budget)?;
                }
            }
            whole = false;
            if time_event {
                // The model must see a time that is not before its event, not even by an ulp.
                let at = self.live.next_event.max(stop);
                self.work.model_time = f64::NAN;
                self.call(Call::SetTime, |model| model.set_time(at))?;
                self.live.time = stop;
                self.event(&mut budget)?;
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

    /// Tell the model that a step is complete; true if it asks for Event Mode.
    pub(super) fn completed_step(&mut self) -> Result<bool, Fault> {
        if !self.plan.model.completed_step_needed || self.rehearsing {
            return Ok(false);
        }
        let time = self.live.time;
        let (status, info) = self.model.completed_integrator_step();
        super::usable(Call::CompletedStep, status, time)?;
        if info.terminate { Err(Fault::Terminated { time }) } else { Ok(info.enter_event_mode) }
    }
}
