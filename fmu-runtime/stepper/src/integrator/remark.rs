//! What the importer should know though the step was taken: each once in a simulation, as a message.

use super::Integrator;

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
    #[inline]
    pub fn remark(&mut self) -> Option<Remark> {
        let live = &self.live;
        if live.solver == 0 && live.outside_plan == 0 && live.carried_events == 0 {
            return None;
        }
        self.next_remark()
    }

    #[cold]
    fn next_remark(&mut self) -> Option<Remark> {
        let (live, made) = (&self.live, &mut self.made);
        let time = live.time;
        if live.solver > 0 && !std::mem::replace(&mut made.fallback, true) {
            return Some(Remark::Fallback);
        }
        if live.outside_plan > 0 && !std::mem::replace(&mut made.outside_plan, true) {
            // Of the step that spoke: others may have followed it.
            let (state, defect, time) = live.spoke;
            return Some(Remark::OutsidePlan { state, defect, time });
        }
        if live.carried_events > 0 && !std::mem::replace(&mut made.carried_event, true) {
            return Some(Remark::CarriedEvent { time });
        }
        None
    }
}
