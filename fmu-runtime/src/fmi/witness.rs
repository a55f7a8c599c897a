//! Which function of the FMU was called last, told to another process.
//!
//! A number in memory that the other process shares: it is there after a crash, a hang or an exit of this one. It costs one store for each call, and nothing
//! but a branch where nobody looks.

use std::sync::atomic::{AtomicU32, Ordering};

/// Where the number of the last call is written; nowhere by default.
#[derive(Clone, Copy, Debug, Default)]
pub struct Witness(Option<&'static AtomicU32>);

/// The field of `Functions` or the step of loading, and its name for people. The number of a call is its place, counted from 1.
const CALLS: [(&str, &str); 36] = [
    ("load", "the loading of its library"),
    ("instantiate", "fmi2Instantiate"),
    ("free_instance", "fmi2FreeInstance"),
    ("unload", "the unloading of its library"),
    ("set_debug_logging", "fmi2SetDebugLogging"),
    ("setup_experiment", "fmi2SetupExperiment"),
    ("enter_initialization_mode", "fmi2EnterInitializationMode"),
    ("exit_initialization_mode", "fmi2ExitInitializationMode"),
    ("terminate", "fmi2Terminate"),
    ("reset", "fmi2Reset"),
    ("get_real", "fmi2GetReal"),
    ("set_real", "fmi2SetReal"),
    ("get_integer", "fmi2GetInteger"),
    ("set_integer", "fmi2SetInteger"),
    ("get_boolean", "fmi2GetBoolean"),
    ("set_boolean", "fmi2SetBoolean"),
    ("get_string", "fmi2GetString"),
    ("set_string", "fmi2SetString"),
    ("get_fmu_state", "fmi2GetFMUstate"),
    ("set_fmu_state", "fmi2SetFMUstate"),
    ("free_fmu_state", "fmi2FreeFMUstate"),
    ("serialized_size", "fmi2SerializedFMUstateSize"),
    ("serialize", "fmi2SerializeFMUstate"),
    ("deserialize", "fmi2DeSerializeFMUstate"),
    ("directional", "fmi2GetDirectionalDerivative"),
    ("enter_event_mode", "fmi2EnterEventMode"),
    ("new_discrete_states", "fmi2NewDiscreteStates"),
    ("enter_continuous_time_mode", "fmi2EnterContinuousTimeMode"),
    ("completed_integrator_step", "fmi2CompletedIntegratorStep"),
    ("set_time", "fmi2SetTime"),
    ("set_continuous_states", "fmi2SetContinuousStates"),
    ("get_derivatives", "fmi2GetDerivatives"),
    ("get_event_indicators", "fmi2GetEventIndicators"),
    ("get_continuous_states", "fmi2GetContinuousStates"),
    ("get_nominals", "fmi2GetNominalsOfContinuousStates"),
    ("do_step", "fmi2DoStep"),
];

/// The number of a call, known when this is compiled; an unknown one does not compile.
pub(super) const fn number(field: &str) -> u32 {
    let mut at = 0;
    while at < CALLS.len() {
        if same(CALLS[at].0.as_bytes(), field.as_bytes()) {
            return at as u32 + 1;
        }
        at += 1;
    }
    panic!("no such call")
}

const fn same(a: &[u8], b: &[u8]) -> bool {
    let mut at = 0;
    while at < a.len() && at < b.len() && a[at] == b[at] {
        at += 1;
    }
    at == a.len() && at == b.len()
}

impl Witness {
    pub fn new(word: &'static AtomicU32) -> Witness {
        Witness(Some(word))
    }

    /// This call comes next.
    #[inline]
    pub(super) fn note(self, number: u32) {
        if let Some(word) = self.0 {
            word.store(number, Ordering::Relaxed);
        }
    }

    /// The name of the last call, where somebody looks.
    pub fn last(self) -> Option<&'static str> {
        Witness::name(self.0?.load(Ordering::Relaxed))
    }

    /// The call that a number stands for: anything may stand there, since the FMU can write to that memory too.
    pub fn name(number: u32) -> Option<&'static str> {
        let at = (number as usize).checked_sub(1)?;
        CALLS.get(at).map(|(_, name)| *name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names_belong_together() {
        static WORD: AtomicU32 = AtomicU32::new(0);
        let witness = Witness::new(&WORD);
        assert_eq!(witness.last(), None);
        witness.note(const { number("set_fmu_state") });
        assert_eq!(witness.last(), Some("fmi2SetFMUstate"));
        WORD.store(u32::MAX, Ordering::Relaxed);
        assert_eq!(witness.last(), None);
        assert_eq!(Witness::default().last(), None);
    }
}
