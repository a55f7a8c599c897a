//! Derivatives of outputs: how they moved along the last step.

use super::{Integrator, usable};
use crate::fault::Fault;
use crate::model::{Call, Model};

/// Part of the step over which an output is compared.
const PART: f64 = 1e-3;

impl<M: Model> Integrator<M> {
    /// dy/dt of Real variables: their difference over a part of the last step, back along its increment, which a stiff model has followed, and along the slopes that
    /// inputs had in it. Before the first step, and after an event, there is none: then forward along f.
    pub fn slopes(&mut self, references: &[u32], values: &mut [f64]) -> Result<(), Fault> {
        if self.live.in_event_mode {
            self.settle(false)?;
        }
        let time = self.live.time;
        let mut here = vec![0.0; values.len()];
        self.call(Call::GetReal, |model| model.get_real(references, &mut here))?;
        let (inputs, slopes) = self.live.extrapolation.past();
        let (inputs, slopes) = (inputs.to_vec(), slopes.to_vec());
        let mut held = vec![0.0; inputs.len()];
        if !inputs.is_empty() {
            self.call(Call::GetReal, |model| model.get_real(&inputs, &mut held))?;
        }
        let moved = self.compare(references, values, &here, (&inputs, &held, &slopes));
        let put_back = match inputs.is_empty() {
            true => Ok(()),
            false => self.call(Call::SetInputs, |model| model.set_inputs(&inputs, &held)),
        };
        self.restore();
        moved.and(put_back).map_err(|fault| match fault {
            Fault::Model { call, status, .. } => Fault::Model { call, status, time },
            other => other,
        })
    }

    /// Values elsewhere, less those here, over the distance in time. The model is left there.
    fn compare(
        &mut self,
        references: &[u32],
        values: &mut [f64],
        here: &[f64],
        (inputs, held, slopes): (&[u32], &[f64], &[f64]),
    ) -> Result<(), Fault> {
        let Integrator { fixed, model, live, work, .. } = self;
        let plan = &fixed.plan;
        let time = live.time;
        let back = live.h_last > 0.0;
        let span = if back { -PART * live.h_last } else { PART * plan.step.h };
        if back {
            for ((x_new, x), d) in work.x_new.iter_mut().zip(&live.x).zip(&live.d) {
                *x_new = x - PART * d;
            }
        } else if !live.x.is_empty() {
            usable(Call::GetDerivatives, model.get_derivatives(work.f.at(None)), time)?;
            for ((x_new, x), f) in work.x_new.iter_mut().zip(&live.x).zip(&work.f.f) {
                *x_new = x + span * f;
            }
        }
        usable(Call::SetTime, model.set_time(time + span), time)?;
        if !inputs.is_empty() {
            let there: Vec<f64> = held.iter().zip(slopes).map(|(u, slope)| u + span * slope).collect();
            usable(Call::SetInputs, model.set_inputs(inputs, &there), time)?;
        }
        if !live.x.is_empty() {
            usable(Call::SetStates, model.set_continuous_states(&work.x_new), time)?;
            if plan.model.outputs_need_evaluation {
                usable(Call::GetDerivatives, model.get_derivatives(work.f.at(None)), time)?;
            }
        }
        usable(Call::GetReal, model.get_real(references, values), time)?;
        for (value, here) in values.iter_mut().zip(here) {
            *value = (*value - *here) / span;
        }
        Ok(())
    }
}
