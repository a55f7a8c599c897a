//! What the importer should know though the step was taken: each once in a simulation, as a message.

use super::Integrator;
use crate::plan::Plan;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Remark {
    /// At initialisation the plan's own matrix was not stable with these parameters.
    Fallback,
    /// The watch spoke and could not be satisfied.
    OutsidePlan { state: u32, defect: f64, time: f64 },
    /// An internal step had more events than it may handle.
    CarriedEvent { time: f64 },
}

/// Which remarks were made. No part of [`Live`](super::Live): a restored state does not make them again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Made {
    fallback: bool,
    outside_plan: bool,
    carried_event: bool,
}

impl<M> Integrator<M> {
    /// The next remark that has not been made yet.
    pub fn remark(&mut self) -> Option<Remark> {
        let (live, made) = (&self.live, &mut self.made);
        let time = live.time;
        if live.solver > 0 && !std::mem::replace(&mut made.fallback, true) {
            return Some(Remark::Fallback);
        }
        if live.outside_plan > 0 && !std::mem::replace(&mut made.outside_plan, true) {
            let state = self.work.worst_state;
            return Some(Remark::OutsidePlan { state, defect: live.plan_defect, time });
        }
        if live.carried_events > 0 && !std::mem::replace(&mut made.carried_event, true) {
            return Some(Remark::CarriedEvent { time });
        }
        None
    }
}

impl Remark {
    /// The message, with the names that the plan knows.
    pub fn explain(self, plan: &Plan) -> impl fmt::Display + '_ {
        Explained { remark: self, plan }
    }
}

struct Explained<'a> {
    remark: Remark,
    plan: &'a Plan,
}

impl fmt::Display for Explained<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.remark {
            Remark::Fallback => write!(
                f,
                "with these parameters, inputs and start values the plan's partly implicit step is not stable: every step is taken \
                 fully implicit instead. Build the FMU with such values (--set, --inputs) for a plan that fits them"
            ),
            Remark::OutsidePlan { state, defect, time } => write!(
                f,
                "at t = {time} {} moves in a way that this FMU was not built for (defect {:.2} % of its size): results may be less accurate than \
                 certified. Build it with inputs and parameters like these (--inputs, --set), or with a shorter --step. \
                 fmuBuild.stepsOutsidePlan counts such steps",
                self.plan.states.names.get(state as usize).map_or("a state", String::as_str),
                100.0 * defect
            ),
            Remark::CarriedEvent { time } => write!(
                f,
                "more than {} events in one internal step at t = {time}: the rest wait for the next step. fmuBuild.carriedEvents counts such steps",
                self.plan.events.max_per_step
            ),
        }
    }
}
