//! A model whose every call is watched.

use super::interpose::{self, KINDS};
use super::trace::FUNCTION;
use super::{Conduct, Count};
use fmu_runtime::fmi::Fmu2;
use std::sync::atomic::Ordering;
use stepper::model::{EventInfo, Model, StepInfo};
use stepper::status::Status;

pub struct Watched {
    inner: Fmu2,
    tallies: [Tally; NAMES.len()],
}

/// The functions, each with its number: its place here, from 1 on. 0 means that the model is not being
/// called.
const NAMES: [&str; 13] = [
    "fmi2SetTime",
    "fmi2SetReal",
    "fmi2GetReal",
    "fmi2SetContinuousStates",
    "fmi2GetContinuousStates",
    "fmi2GetDerivatives",
    "fmi2GetEventIndicators",
    "fmi2GetNominalsOfContinuousStates",
    "fmi2GetDirectionalDerivative",
    "fmi2EnterEventMode",
    "fmi2NewDiscreteStates",
    "fmi2EnterContinuousTimeMode",
    "fmi2CompletedIntegratorStep",
];

#[derive(Clone, Copy, Default)]
struct Tally {
    calls: u64,
    memory: [u64; KINDS.len()],
    page_faults: u64,
    denormals: u64,
}

impl Watched {
    pub fn new(inner: Fmu2) -> Watched {
        Watched { inner, tallies: Default::default() }
    }

    /// Begin to count anew.
    pub fn forget(&mut self) {
        self.tallies = Default::default();
    }

    /// What was counted, each with the function's number.
    pub fn tallies(&self) -> Vec<(usize, Conduct)> {
        let conduct = |name: &str, tally: &Tally| Conduct {
            function: name.into(),
            calls: tally.calls,
            memory: KINDS
                .iter()
                .zip(tally.memory)
                .filter(|&(_, count)| count > 0)
                .map(|(kind, count)| Count { name: kind.to_string(), to: None, count })
                .collect(),
            page_faults: tally.page_faults,
            denormals: tally.denormals,
            system_calls: Vec::new(),
        };
        let all = NAMES.iter().zip(&self.tallies).enumerate();
        all.map(|(index, (name, tally))| (index + 1, conduct(name, tally))).collect()
    }

    /// Call the model, and count.
    fn within<T>(&mut self, number: usize, call: impl FnOnce(&mut Fmu2) -> T) -> T {
        let faults = interpose::page_faults();
        FUNCTION.store(number as u64, Ordering::Relaxed);
        let (answer, seen) = interpose::watch(|| call(&mut self.inner));
        FUNCTION.store(0, Ordering::Relaxed);
        let tally = &mut self.tallies[number - 1];
        tally.calls += 1;
        tally.page_faults += interpose::page_faults().saturating_sub(faults);
        tally.denormals += u64::from(seen.denormals);
        tally.memory.iter_mut().zip(seen.memory).for_each(|(sum, count)| *sum += count);
        answer
    }

    /// Where the processor did not tell of denormal numbers, the results may.
    fn look(&mut self, number: usize, values: &[f64]) {
        if !interpose::SEES_DENORMALS && values.iter().any(|value| value.is_subnormal()) {
            self.tallies[number - 1].denormals += 1;
        }
    }
}

impl Model for Watched {
    fn set_time(&mut self, time: f64) -> Status {
        self.within(1, |inner| Model::set_time(inner, time))
    }

    fn set_inputs(&mut self, references: &[u32], values: &[f64]) -> Status {
        self.within(2, |inner| Model::set_inputs(inner, references, values))
    }

    fn get_real(&mut self, references: &[u32], values: &mut [f64]) -> Status {
        let status = self.within(3, |inner| Model::get_real(inner, references, values));
        self.look(3, values);
        status
    }

    fn set_continuous_states(&mut self, x: &[f64]) -> Status {
        self.within(4, |inner| Model::set_continuous_states(inner, x))
    }

    fn get_continuous_states(&mut self, x: &mut [f64]) -> Status {
        self.within(5, |inner| Model::get_continuous_states(inner, x))
    }

    fn get_derivatives(&mut self, derivatives: &mut [f64]) -> Status {
        let status = self.within(6, |inner| Model::get_derivatives(inner, derivatives));
        self.look(6, derivatives);
        status
    }

    fn get_event_indicators(&mut self, indicators: &mut [f64]) -> Status {
        let status = self.within(7, |inner| Model::get_event_indicators(inner, indicators));
        self.look(7, indicators);
        status
    }

    fn get_nominals(&mut self, nominals: &mut [f64]) -> Status {
        self.within(8, |inner| Model::get_nominals(inner, nominals))
    }

    fn directional_derivative(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
        result: &mut [f64],
    ) -> Status {
        let status =
            self.within(9, |inner| Model::directional_derivative(inner, unknowns, knowns, seed, result));
        self.look(9, result);
        status
    }

    fn enter_event_mode(&mut self) -> Status {
        self.within(10, Model::enter_event_mode)
    }

    fn new_discrete_states(&mut self) -> (Status, EventInfo) {
        self.within(11, Model::new_discrete_states)
    }

    fn enter_continuous_time_mode(&mut self) -> Status {
        self.within(12, Model::enter_continuous_time_mode)
    }

    fn completed_integrator_step(&mut self) -> (Status, StepInfo) {
        self.within(13, Model::completed_integrator_step)
    }
}
