//! The model behind a trait: all that the integrator asks of it.
//!
//! An FMI 2.0 library implements it ([`Fmu2`]); so do models written in Rust, with which integrator, events, Jacobian and
//! watch are tested. The calls are those of FMI's Continuous-Time and Event Mode, with FMI's meaning: a status that
//! is not usable means that nothing may be concluded from the call's results.

use crate::fmi::{self, Fmu2};
use crate::status::Status;

pub trait Model {
    fn set_time(&mut self, time: f64) -> Status;
    /// Continuous Real inputs.
    fn set_inputs(&mut self, references: &[u32], values: &[f64]) -> Status;
    /// Real variables of any kind.
    fn get_real(&mut self, references: &[u32], values: &mut [f64]) -> Status;
    fn set_continuous_states(&mut self, x: &[f64]) -> Status;
    fn get_continuous_states(&mut self, x: &mut [f64]) -> Status;
    fn get_derivatives(&mut self, derivatives: &mut [f64]) -> Status;
    fn get_event_indicators(&mut self, indicators: &mut [f64]) -> Status;
    fn get_nominals(&mut self, nominals: &mut [f64]) -> Status;
    /// d unknowns / d knowns times the seed.
    fn directional_derivative(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
        result: &mut [f64],
    ) -> Status;
    fn enter_event_mode(&mut self) -> Status;
    /// One event iteration.
    fn new_discrete_states(&mut self) -> (Status, EventInfo);
    fn enter_continuous_time_mode(&mut self) -> Status;
    fn completed_integrator_step(&mut self) -> (Status, StepInfo);
}

/// What an event iteration said.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct EventInfo {
    pub another_iteration_needed: bool,
    pub terminate: bool,
    pub nominals_changed: bool,
    pub states_changed: bool,
    pub next_event_time: Option<f64>,
}

/// What the model said of a completed step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StepInfo {
    pub enter_event_mode: bool,
    pub terminate: bool,
}

impl Model for Fmu2 {
    #[inline]
    fn set_time(&mut self, time: f64) -> Status {
        Fmu2::set_time(self, time)
    }

    fn set_inputs(&mut self, references: &[u32], values: &[f64]) -> Status {
        Fmu2::set_real(self, references, values)
    }

    fn get_real(&mut self, references: &[u32], values: &mut [f64]) -> Status {
        Fmu2::get_real(self, references, values)
    }

    #[inline]
    fn set_continuous_states(&mut self, x: &[f64]) -> Status {
        Fmu2::set_continuous_states(self, x)
    }

    fn get_continuous_states(&mut self, x: &mut [f64]) -> Status {
        Fmu2::get_continuous_states(self, x)
    }

    #[inline]
    fn get_derivatives(&mut self, derivatives: &mut [f64]) -> Status {
        Fmu2::get_derivatives(self, derivatives)
    }

    fn get_event_indicators(&mut self, indicators: &mut [f64]) -> Status {
        Fmu2::get_event_indicators(self, indicators)
    }

    fn get_nominals(&mut self, nominals: &mut [f64]) -> Status {
        Fmu2::get_nominals(self, nominals)
    }

    fn directional_derivative(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
        result: &mut [f64],
    ) -> Status {
        Fmu2::directional_derivative(self, unknowns, knowns, seed, result)
    }

    fn enter_event_mode(&mut self) -> Status {
        Fmu2::enter_event_mode(self)
    }

    fn new_discrete_states(&mut self) -> (Status, EventInfo) {
        let mut info = fmi::EventInfo::default();
        let status = Fmu2::new_discrete_states(self, &mut info);
        let info = EventInfo {
            another_iteration_needed: info.another_iteration_needed(),
            terminate: info.terminate(),
            nominals_changed: info.nominals_changed(),
            states_changed: info.states_changed(),
            next_event_time: info.next_event_time(),
        };
        (status, info)
    }

    fn enter_continuous_time_mode(&mut self) -> Status {
        Fmu2::enter_continuous_time_mode(self)
    }

    fn completed_integrator_step(&mut self) -> (Status, StepInfo) {
        let (status, enter_event_mode, terminate) = Fmu2::completed_integrator_step(self);
        (status, StepInfo { enter_event_mode, terminate })
    }
}
