//! The model behind a trait: all that the integrator asks of it.
//!
//! An FMI 2.0 library implements it (in the runtime's `fmi`); so do models written in Rust, with which integrator, events, Jacobian and
//! watch are tested. The calls are those of FMI's Continuous-Time and Event Mode, with FMI's meaning: a status that
//! is not usable means that nothing may be concluded from the call's results.

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

/// The calls of [`Model`] whose failure a fault reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Call {
    SetTime,
    SetInputs,
    GetReal,
    SetStates,
    GetStates,
    GetDerivatives,
    GetIndicators,
    DirectionalDerivative,
    EnterEventMode,
    NewDiscreteStates,
    EnterContinuousTimeMode,
    CompletedStep,
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
