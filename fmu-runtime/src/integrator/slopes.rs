//! Derivatives of outputs: how they moved along the last step.

use super::{Integrator, usable};
use crate::fault::Fault;
use crate::model::Model;
use crate::status::Status;

/// Part of the step over which an output is compared.
const PART: f64 = 1e-3;

impl<M: Model> Integrator<M> {
    /// dy/dt of Real variables: their difference over a part of the last step's increment, which a stiff model has followed. Before the first
    /// step, and after an event, there is none: then along f.
    pub fn slopes(&mut self, references: &[u32], values: &mut [f64]) -> Result<(), Fault> {
        if self.live.in_event_mode {
            self.settle(false)?;
        }
        let time = self.live.time;
        let mut here = vec![0.0; values.len()];
        self.call("fmi2GetReal", |model| model.get_real(references, &mut here))?;
        let Integrator { model, live, work, plan, .. } = self;
        let back = live.h_last > 0.0;
        let span = if back { -PART * live.h_last } else { PART * plan.step.h };
        let mut status = Status::Ok;
        if back {
            for ((x_new, x), d) in work.x_new.iter_mut().zip(&live.x).zip(&live.d) {
                *x_new = x - PART * d;
            }
        } else if !live.x.is_empty() {
            status = model.get_derivatives(&mut work.f);
            for ((x_new, x), f) in work.x_new.iter_mut().zip(&live.x).zip(&work.f) {
                *x_new = x + span * f;
            }
        }
        let usable_then = |status: Status, next: &mut dyn FnMut() -> Status| {
            if status.is_usable() { next() } else { status }
        };
        status = usable_then(status, &mut || model.set_time(time + span));
        if !live.x.is_empty() {
            status = usable_then(status, &mut || model.set_continuous_states(&work.x_new));
        }
        status = usable_then(status, &mut || model.get_real(references, values));
        self.restore();
        usable("fmi2GetReal", status, time)?;
        for (value, here) in values.iter_mut().zip(&here) {
            *value = (*value - *here) / span;
        }
        Ok(())
    }
}
