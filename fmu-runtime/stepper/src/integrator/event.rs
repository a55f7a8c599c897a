//! Events, with a bounded price.
//!
//! A state event is a sign change of an event indicator (z > 0 against z <= 0, as FMI says). **A state at an event is one that the method
//! reaches**: the step is taken again, from its start and with the same A, to a part θ of its length. The linear interpolant x + θ d is not such a
//! state: for x' = v it moves x at once with the final v while v is still near its old value. θ is found by the secant through the indicators (Illinois), kept within
//! what bisection would leave; some tools' indicators are only +1 and -1, and then it is bisection. The number of trials is bounded by the plan.
//!
//! Each internal step handles a bounded number of events; one more is put off to the beginning of the next and counted.

use super::Integrator;
use super::advance::{Renewal, Tried};
use super::point::Held;
use crate::fault::Fault;
use crate::model::{Call, EventInfo, Model};

/// Where an indicator is smooth, events are located to this part of the step, or to 2^-bisections if that is less.
const SMOOTH: f64 = 1.0 / 65536.0;

/// Events that the running internal step may still handle.
pub(super) struct Budget(u32);

impl Budget {
    pub fn new(events: u32) -> Budget {
        Budget(events)
    }

    pub fn left(&self) -> bool {
        self.0 > 0
    }
}

/// Some indicator changed its sign. Looks at all of them: there can be a hundred, and vectors are faster than an early end.
fn crossed(before: &[f64], after: &[f64]) -> bool {
    let changed = |(before, after): (&f64, &f64)| (*before > 0.0) != (*after > 0.0);
    before.iter().zip(after).fold(false, |any, pair| any | changed(pair))
}

/// Where in 0..1 the first indicator that changes its sign does so, on straight lines between both ends, their values weighted; in the middle where the
/// values are too large to tell.
fn earliest(before: &[f64], after: &[f64], weights: (f64, f64)) -> f64 {
    let crossing = |(before, after): (&f64, &f64)| {
        let changes = (*before > 0.0) != (*after > 0.0);
        let part = weights.0 * before / (weights.0 * before - weights.1 * after);
        match changes {
            true if part.is_nan() => 0.5,
            true => part.clamp(0.0, 1.0),
            false => 1.0,
        }
    };
    before.iter().zip(after).map(crossing).fold(1.0, f64::min)
}

impl<M: Model> Integrator<M> {
    /// Before an internal step: did something between the steps make an event due?
    pub(super) fn must_settle_first(&mut self) -> Result<bool, Fault> {
        if self.live.in_event_mode || self.live.event_put_off {
            return Ok(true);
        }
        if !self.live.inputs_changed {
            return Ok(false);
        }
        self.live.inputs_changed = false;
        self.live.point.inputs += 1;
        self.live.last_stage.forget();
        if self.fixed.plan.events.indicators == 0 {
            return Ok(false);
        }
        self.read_indicators(self.live.time)?;
        Ok(crossed(&self.live.z, &self.work.z_new))
    }

    /// After a step that is not accepted yet: find the first event in it, accept the step up to there, and handle it.
    /// False if there is none, and the new indicators count.
    pub(super) fn locate(&mut self, tried: &Tried, budget: &mut Budget) -> Result<bool, Fault> {
        if self.fixed.plan.events.indicators == 0 {
            return Ok(false);
        }
        self.read_indicators(tried.end)?;
        let found = crossed(&self.live.z, &self.work.z_new);
        if !found || self.rehearsing {
            // The model has just evaluated itself here: its derivatives cost next to nothing now, and start the next step.
            self.read_derivatives(tried)?;
            // Put-off events stay visible as a difference to the indicators of the last event.
            std::mem::swap(&mut self.live.z, &mut self.work.z_new);
            return Ok(false);
        }
        if !budget.left() {
            self.put_off();
            return Ok(false);
        }
        let tried = self.search(tried)?;
        self.accept(&tried);
        // Whether the model asks for Event Mode or not, it goes there now.
        let _ = self.completed_step()?;
        self.work.z_after.copy_from_slice(&self.work.z_new);
        let states_changed = self.event(budget)?;
        // An indicator that is still where its event found it stays unresolved if the event moved states or moved nothing at all.
        let stays = !crossed(&self.work.z_after, &self.live.z);
        self.live.indicator_unresolved |= stays && (states_changed || self.work.z_after == self.live.z);
        Ok(true)
    }

    /// At the end of an internal step, while an indicator is unresolved: the model is asked again. A ball that an impact left below the floor falls on without
    /// another sign change, and a model may ask for more than its indicator tells.
    pub(super) fn ask_again(&mut self, budget: &mut Budget) -> Result<(), Fault> {
        if !self.live.indicator_unresolved || self.rehearsing || !budget.left() {
            return Ok(());
        }
        self.live.indicator_unresolved = self.event(budget)?;
        // Asked for nothing: no event.
        self.live.events -= u64::from(!self.live.indicator_unresolved);
        Ok(())
    }

    /// The step up to where an indicator has changed its sign. The model is left there.
    ///
    /// The secant through the indicators, the value of an end that stays halved (Illinois), and kept so near to the middle that trial k leaves at most 2^(1-k) of the
    /// step (as in Oliveira and Takahashi's ITP): where only signs are known, an event is late by at most 2^(1-bisections) of the step. Where the indicator is
    /// smooth the search ends much nearer, after a few trials: events come late and never early, and in a switched model the delays of all cycles add up.
    fn search(&mut self, whole: &Tried) -> Result<Tried, Fault> {
        let bisections = self.fixed.plan.events.bisections;
        let near = SMOOTH.min(0.5f64.powi(bisections as i32));
        let mut tried = *whole;
        let (mut before, mut after) = (0.0, 1.0);
        self.work.z_before.copy_from_slice(&self.live.z);
        self.work.z_after.copy_from_slice(&self.work.z_new);
        let (mut weights, mut last) = ((1.0, 1.0), None);
        // After trial k at most this part of the step is left.
        let mut most = 1.0;
        for _ in 0..bisections {
            let length = after - before;
            let secant = |weights| earliest(&self.work.z_before, &self.work.z_after, weights);
            if length <= near || last != Some(false) && length * (1.0 - secant((1.0, 1.0))) <= near {
                break;
            }
            let (guess, middle) = (before + length * secant(weights), 0.5 * (before + after));
            // A little towards the middle, to enclose the crossing.
            let way = middle - guess;
            let aimed = guess + way.signum() * way.abs().min(0.5 * near);
            let reach = f64::max(most - 0.5 * length, 0.0);
            let part = aimed.clamp(middle - reach, middle + reach);
            let is_after;
            (tried, is_after) = self.try_part(part, whole)?;
            let again = if last == Some(is_after) { 0.5 } else { 1.0 };
            if is_after {
                (after, weights) = (part, (again * weights.0, 1.0));
                self.work.z_after.copy_from_slice(&self.work.z_new);
            } else {
                (before, weights) = (part, (1.0, again * weights.1));
                self.work.z_before.copy_from_slice(&self.work.z_new);
            }
            (last, most) = (Some(is_after), 0.5 * most);
        }
        if last == Some(false) {
            (tried, _) = self.try_part(after, whole)?;
        }
        Ok(tried)
    }

    /// Take this part of the step with the same A, and see whether an indicator has changed its sign there.
    fn try_part(&mut self, part: f64, whole: &Tried) -> Result<(Tried, bool), Fault> {
        let end = if part == 1.0 { whole.end } else { self.live.time + part * whole.h };
        let tried = self.attempt(part * whole.h, end, Renewal::Nothing)?;
        self.read_indicators(end)?;
        Ok((tried, crossed(&self.live.z, &self.work.z_new)))
    }

    /// Derivatives at the end of the step that is tried, where they can start the next.
    fn read_derivatives(&mut self, tried: &Tried) -> Result<(), Fault> {
        let point = self.live.point_of(tried.states);
        // A damped step has had its look at an end: the next one begins with an evaluation of its own.
        let known = self.work.f.is_at(point) || tried.damped;
        if known || !self.is_time_invariant() || self.live.x.is_empty() {
            return Ok(());
        }
        self.counts.ends += 1;
        let status = self.model.get_derivatives(self.work.f.at(Some(point)));
        super::usable(Call::GetDerivatives, status, tried.end)
    }

    fn read_indicators(&mut self, time: f64) -> Result<(), Fault> {
        self.counts.indicators += 1;
        let status = self.model.get_event_indicators(&mut self.work.z_new);
        super::usable(Call::GetIndicators, status, time)?;
        let sound = self.work.z_new.iter().fold(true, |sound, z| sound & !z.is_nan());
        if sound {
            return Ok(());
        }
        if self.fixed.plan.events.may_be_nan {
            // One that is no number tells of no event.
            for (new, old) in self.work.z_new.iter_mut().zip(&self.live.z).filter(|(new, _)| new.is_nan()) {
                *new = *old;
            }
            return Ok(());
        }
        let indicator = self.work.z_new.iter().position(|z| z.is_nan()).unwrap_or(0) as u32;
        Err(Fault::Indicator { indicator, time })
    }

    /// Handle an event where the model stands; put it off if this step has had its share. True if it changed states.
    pub(super) fn event(&mut self, budget: &mut Budget) -> Result<bool, Fault> {
        if !budget.left() {
            self.put_off();
            return Ok(false);
        }
        budget.0 -= 1;
        self.counts.events += 1;
        if !self.live.in_event_mode {
            self.call(Call::EnterEventMode, |model| model.enter_event_mode())?;
            self.live.in_event_mode = true;
        }
        self.settle(false)
    }

    /// The next internal step begins with this event.
    pub(super) fn put_off(&mut self) {
        if !self.live.event_put_off {
            self.live.event_put_off = true;
            self.live.carried_events += 1;
        }
    }

    /// Iterate the event to its end, return to Continuous-Time Mode, and read what may have changed. True if states have.
    pub(crate) fn settle(&mut self, initial: bool) -> Result<bool, Fault> {
        let limit = self.fixed.plan.events.max_iterations;
        let (mut states_changed, mut nominals_changed) = (initial, false);
        let mut info = EventInfo::default();
        let mut iterations = 0;
        loop {
            self.call(Call::NewDiscreteStates, |model| {
                let (status, said) = model.new_discrete_states();
                info = said;
                status
            })?;
            states_changed |= info.states_changed;
            nominals_changed |= info.nominals_changed;
            if info.terminate {
                return Err(Fault::Terminated { time: self.live.time });
            }
            if !info.another_iteration_needed {
                break;
            }
            iterations += 1;
            if iterations >= limit {
                return Err(Fault::EventIteration { limit, time: self.live.time });
            }
        }
        self.call(Call::EnterContinuousTimeMode, |model| model.enter_continuous_time_mode())?;
        self.live.in_event_mode = false;
        if info.next_event_time.is_some_and(f64::is_nan) {
            return Err(Fault::EventTime { time: self.live.time });
        }
        if !self.live.x.is_empty() {
            let Integrator { model, live, work, .. } = self;
            if states_changed {
                // Into a buffer first: if one is no number, the last good state is kept.
                let status = model.get_continuous_states(&mut work.x_new);
                super::usable(Call::GetStates, status, live.time)?;
                if let Some(state) = work.x_new.iter().position(|x| !x.is_finite()) {
                    let (value, time) = (work.x_new[state], live.time);
                    return Err(Fault::State { state: state as u32, value, time });
                }
                live.x.copy_from_slice(&work.x_new);
            }
            // Best effort: some tools report zeros, some lack the function.
            if nominals_changed && model.get_nominals(work.f.at(None)).is_usable() {
                live.rescale(&work.f.f);
            }
        }
        if self.fixed.plan.events.indicators > 0 {
            self.read_indicators(self.live.time)?;
            std::mem::swap(&mut self.live.z, &mut self.work.z_new);
        }
        let live = &mut self.live;
        live.point.states = live.new_states();
        self.held = Held { time: f64::NAN, states: Some(live.point.states) };
        live.next_event = info.next_event_time.unwrap_or(f64::INFINITY);
        live.inputs_changed = false;
        live.event_put_off = false;
        live.last_stage.forget();
        live.events += 1;
        live.h_last = 0.0; // the increments before and after an event do not compare
        live.setup_needed = true; // entries that never changed may do so now
        Ok(states_changed)
    }
}
