//! An FMI 2.0 library as the integrator's model.

use super::{EventInfo as RawEventInfo, Fmu2};
use crate::model::{EventInfo, Model, StepInfo};
use crate::status::Status as Returned;
use stepper::status::Status;

/// What the stepper is told; an answer that would come later is none.
#[inline]
fn answer(status: Returned) -> Status {
    if status.is_usable() { Status::Ok } else { refusal(status) }
}

#[cold]
fn refusal(status: Returned) -> Status {
    match status {
        Returned::Discard => Status::Discard,
        Returned::Fatal => Status::Fatal,
        _ => Status::Error,
    }
}

impl Model for Fmu2 {
    #[inline]
    fn set_time(&mut self, time: f64) -> Status {
        answer(Fmu2::set_time(self, time))
    }

    fn set_inputs(&mut self, references: &[u32], values: &[f64]) -> Status {
        answer(Fmu2::set_real(self, references, values))
    }

    fn get_real(&mut self, references: &[u32], values: &mut [f64]) -> Status {
        answer(Fmu2::get_real(self, references, values))
    }

    #[inline]
    fn set_continuous_states(&mut self, x: &[f64]) -> Status {
        answer(Fmu2::set_continuous_states(self, x))
    }

    fn get_continuous_states(&mut self, x: &mut [f64]) -> Status {
        answer(Fmu2::get_continuous_states(self, x))
    }

    #[inline]
    fn get_derivatives(&mut self, derivatives: &mut [f64]) -> Status {
        answer(Fmu2::get_derivatives(self, derivatives))
    }

    fn get_event_indicators(&mut self, indicators: &mut [f64]) -> Status {
        answer(Fmu2::get_event_indicators(self, indicators))
    }

    fn get_nominals(&mut self, nominals: &mut [f64]) -> Status {
        answer(Fmu2::get_nominals(self, nominals))
    }

    fn directional_derivative(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
        result: &mut [f64],
    ) -> Status {
        answer(Fmu2::directional_derivative(self, unknowns, knowns, seed, result))
    }

    fn enter_event_mode(&mut self) -> Status {
        answer(Fmu2::enter_event_mode(self))
    }

    fn new_discrete_states(&mut self) -> (Status, EventInfo) {
        let mut info = RawEventInfo::default();
        let status = Fmu2::new_discrete_states(self, &mut info);
        let info = EventInfo {
            another_iteration_needed: info.another_iteration_needed(),
            terminate: info.terminate(),
            nominals_changed: info.nominals_changed(),
            states_changed: info.states_changed(),
            next_event_time: info.next_event_time(),
        };
        (answer(status), info)
    }

    fn enter_continuous_time_mode(&mut self) -> Status {
        answer(Fmu2::enter_continuous_time_mode(self))
    }

    fn completed_integrator_step(&mut self) -> (Status, StepInfo) {
        let (status, enter_event_mode, terminate) = Fmu2::completed_integrator_step(self);
        (answer(status), StepInfo { enter_event_mode, terminate })
    }
}
