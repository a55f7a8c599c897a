//! The C types of FMI 2.0, written once: the runtime calls an FMU with them and is one itself, the reference
//! models are FMUs, and the tests import FMUs.
//!
//! A crate of its own because the runtime and the reference models both export the C functions of FMI and so
//! cannot be linked into one library.

pub mod callbacks;
pub mod status;

pub use callbacks::{Callbacks, Logger};
pub use status::Status;

/// `fmi2Type`: what an FMU is instantiated for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Kind {
    ModelExchange = 0,
    CoSimulation = 1,
}

/// `fmi2EventInfo`: what `fmi2NewDiscreteStates` says.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[repr(C)]
pub struct EventInfo {
    pub new_discrete_states_needed: i32,
    pub terminate_simulation: i32,
    pub nominals_of_continuous_states_changed: i32,
    pub values_of_continuous_states_changed: i32,
    pub next_event_time_defined: i32,
    pub next_event_time: f64,
}

impl EventInfo {
    pub fn another_iteration_needed(&self) -> bool {
        self.new_discrete_states_needed != 0
    }
    pub fn terminate(&self) -> bool {
        self.terminate_simulation != 0
    }
    pub fn nominals_changed(&self) -> bool {
        self.nominals_of_continuous_states_changed != 0
    }
    pub fn states_changed(&self) -> bool {
        self.values_of_continuous_states_changed != 0
    }
    pub fn next_event_time(&self) -> Option<f64> {
        (self.next_event_time_defined != 0).then_some(self.next_event_time)
    }
}
