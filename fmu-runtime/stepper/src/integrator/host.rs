//! What the host does between steps: it sets values, gives inputs slopes, and takes the model to Event Mode.

use super::{Integrator, usable};
use crate::fault::Fault;
use crate::model::{Call, Model};
use crate::status::Status;

/// What new values change in a model that runs. Nothing: it does not run yet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Continuous inputs.
    pub continuous: bool,
    /// Anything that takes the model to Event Mode.
    pub event: bool,
    /// Tunable parameters.
    pub tunable: bool,
}

impl<M: Model> Integrator<M> {
    /// The host sets values, which change this: the model is taken to Event Mode where they need it, and the next step
    /// brings it back. Gives what `set` says of them, or why the model does not enter Event Mode.
    pub fn change<T>(&mut self, changes: Changes, set: impl FnOnce(&mut M) -> T) -> Result<T, Status> {
        let Integrator { live, model, .. } = self;
        if changes.event && !live.in_event_mode {
            let status = model.enter_event_mode();
            if !status.is_usable() {
                return Err(status);
            }
            live.in_event_mode = true;
        }
        let answer = set(model);
        // Even where it was refused: a part of it may have been taken.
        live.inputs_changed |= changes.continuous;
        // The first Jacobian was taken with the inputs of the initialisation.
        live.setup_needed |= changes.tunable || (changes.continuous && live.steps == 0);
        Ok(answer)
    }

    /// du/dt of an input, for the next communication step.
    pub fn set_slope(&mut self, reference: u32, slope: f64) {
        self.live.extrapolation.set(reference, slope);
    }

    /// The host has given slopes for the next communication step.
    pub fn has_slopes(&self) -> bool {
        !self.live.extrapolation.is_empty()
    }

    /// Inputs with a slope start from the values that the host set last, which `known` tells; where the model refused
    /// one, from what it holds.
    pub fn begin_slopes(&mut self, known: impl Fn(u32) -> Option<f64>) -> Result<(), Fault> {
        let Integrator { live, model, .. } = self;
        let extrapolation = &mut live.extrapolation;
        extrapolation.origin = live.time;
        for (value, &reference) in extrapolation.values.iter_mut().zip(&extrapolation.references) {
            let status = match known(reference) {
                Some(known) => {
                    *value = known;
                    Status::Ok
                }
                None => model.get_real(&[reference], std::slice::from_mut(value)),
            };
            usable(Call::GetReal, status, live.time)?;
        }
        Ok(())
    }

    /// A slope holds for one step; the model is left with the inputs at the step's end, which `keep` is told.
    pub fn end_slopes(&mut self, mut keep: impl FnMut(u32, f64)) {
        let extrapolation = &self.live.extrapolation;
        for (&value, &reference) in extrapolation.current.iter().zip(&extrapolation.references) {
            keep(reference, value);
        }
        self.forget_slopes();
    }

    /// The communication step that the slopes were for is over.
    pub fn forget_slopes(&mut self) {
        self.live.extrapolation.clear();
    }
}
