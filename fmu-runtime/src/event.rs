//! Events, with a bounded price.
//!
//! A state event is a sign change of an event indicator (z > 0 against z <= 0, as FMI says). It is located by
//! bisection on the linear interpolant x + theta d: some tools' indicators are only +1 and -1, so nothing but
//! their sign is used. A communication step handles a bounded number of events; one more is put off to the
//! beginning of the next communication step and counted.

use crate::fault::Fault;
use crate::fmi::EventInfo;
use crate::integrator::Integrator;
use crate::plan::Policy;

/// Events that the running communication step may still handle.
pub(crate) struct Budget(u32);

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

impl Integrator {
    /// Before the first internal step: did something between the steps make an event due?
    pub(crate) fn must_settle_first(&mut self) -> Result<bool, Fault> {
        if self.live.in_event_mode || self.live.event_put_off {
            return Ok(true);
        }
        if !self.live.inputs_changed {
            return Ok(false);
        }
        self.live.inputs_changed = false;
        if self.plan.events.indicators == 0 {
            return Ok(false);
        }
        self.read_indicators()?;
        Ok(crossed(&self.live.z, &self.work.z_new))
    }

    /// After a step of length `h` that is not accepted yet: find the first event in it, accept the step
    /// up to there, and handle it. False if there is none, and the new indicators count.
    pub(crate) fn locate(&mut self, h: f64, budget: &mut Budget) -> Result<bool, Fault> {
        if self.plan.events.indicators == 0 {
            return Ok(false);
        }
        self.read_indicators()?;
        if self.rehearsing {
            return self.bisect(h).map(|_| false);
        }
        if !crossed(&self.live.z, &self.work.z_new) {
            // Put-off events stay visible as a difference to the indicators of the last event.
            std::mem::swap(&mut self.live.z, &mut self.work.z_new);
            return Ok(false);
        }
        if !budget.left() {
            self.put_off();
            return Ok(false);
        }
        let theta = self.bisect(h)?;
        self.accept(self.live.time + theta * h);
        // Whether the model asks for Event Mode or not, it goes there now.
        let _ = self.completed_step()?;
        self.event(budget)?;
        Ok(true)
    }

    /// The part of the step after which an indicator has changed its sign, late by at most 2^-bisections. The inner FMU is left there.
    fn bisect(&mut self, h: f64) -> Result<f64, Fault> {
        let (mut before, mut after) = (0.0, 1.0);
        let mut at_after = true;
        for _ in 0..self.plan.events.bisections {
            let theta = 0.5 * (before + after);
            self.interpolate(theta, h)?;
            self.read_indicators()?;
            at_after = crossed(&self.live.z, &self.work.z_new);
            if at_after {
                after = theta;
            } else {
                before = theta;
            }
        }
        if !at_after {
            self.interpolate(after, h)?;
        }
        Ok(after)
    }

    /// Bring the inner FMU to x + theta d at t + theta h.
    fn interpolate(&mut self, theta: f64, h: f64) -> Result<(), Fault> {
        let time = self.live.time + theta * h;
        for ((x_new, x), d) in self.work.x_new.iter_mut().zip(&self.live.x).zip(&self.live.d) {
            *x_new = x + theta * d;
        }
        let fault = |call, status| Err(Fault::Inner { call, status, time });
        let status = self.inner.set_time(time);
        if !status.is_usable() {
            return fault("fmi2SetTime", status);
        }
        if !self.live.extrapolation.references.is_empty() {
            let (references, values) = self.live.extrapolation.at(time);
            let status = self.inner.set_real(references, values);
            if !status.is_usable() {
                return fault("fmi2SetReal", status);
            }
        }
        if !self.live.x.is_empty() {
            let status = self.inner.set_continuous_states(&self.work.x_new);
            if !status.is_usable() {
                return fault("fmi2SetContinuousStates", status);
            }
        }
        Ok(())
    }

    fn read_indicators(&mut self) -> Result<(), Fault> {
        let status = self.inner.get_event_indicators(&mut self.work.z_new);
        if status.is_usable() {
            Ok(())
        } else {
            Err(Fault::Inner { call: "fmi2GetEventIndicators", status, time: self.live.time })
        }
    }

    /// Handle an event where the inner FMU stands; put it off if this communication step has had its share.
    pub(crate) fn event(&mut self, budget: &mut Budget) -> Result<(), Fault> {
        if !budget.left() {
            self.put_off();
            return Ok(());
        }
        budget.0 -= 1;
        if !self.live.in_event_mode {
            self.call("fmi2EnterEventMode", |inner| inner.enter_event_mode())?;
        }
        self.settle(false)
    }

    /// The next communication step begins with this event.
    pub(crate) fn put_off(&mut self) {
        if !self.live.event_put_off {
            self.live.event_put_off = true;
            self.live.carried_events += 1;
        }
    }

    /// Iterate the event to its end, return to Continuous-Time Mode, and read what may have changed.
    pub(crate) fn settle(&mut self, initial: bool) -> Result<(), Fault> {
        let limit = self.plan.events.max_iterations;
        let (mut states_changed, mut nominals_changed) = (initial, false);
        let mut info = EventInfo::default();
        let mut iterations = 0;
        loop {
            self.call("fmi2NewDiscreteStates", |inner| inner.new_discrete_states(&mut info))?;
            states_changed |= info.states_changed();
            nominals_changed |= info.nominals_changed();
            if info.terminate() {
                return Err(Fault::Terminated { time: self.live.time });
            }
            if !info.another_iteration_needed() {
                break;
            }
            iterations += 1;
            if iterations >= limit {
                return Err(Fault::EventIteration { limit, time: self.live.time });
            }
        }
        self.call("fmi2EnterContinuousTimeMode", |inner| inner.enter_continuous_time_mode())?;
        if !self.live.x.is_empty() {
            let Integrator { inner, live, work, differentiator, .. } = self;
            if states_changed {
                let status = inner.get_continuous_states(&mut live.x);
                if !status.is_usable() {
                    let call = "fmi2GetContinuousStates";
                    return Err(Fault::Inner { call, status, time: live.time });
                }
            }
            // Best effort: some tools report zeros, some lack the function.
            if nominals_changed && inner.get_nominals(&mut work.r).is_usable() {
                differentiator.rescale(&work.r);
            }
        }
        if self.plan.events.indicators > 0 {
            self.read_indicators()?;
            std::mem::swap(&mut self.live.z, &mut self.work.z_new);
        }
        let live = &mut self.live;
        live.next_event = info.next_event_time().unwrap_or(f64::INFINITY);
        live.in_event_mode = false;
        live.inputs_changed = false;
        live.event_put_off = false;
        live.events += 1;
        live.h_last = 0.0; // the increments before and after an event do not compare
        // Entries that never changed may do so now. Rolling promises that this step costs what every step does.
        if !matches!(self.plan.jacobian.policy, Policy::Rolling { .. }) {
            live.setup_needed = true;
        }
        Ok(())
    }
}
