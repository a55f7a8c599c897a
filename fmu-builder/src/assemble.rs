//! The plan, put together once: of the FMU's interface and the step that was asked for, which `source` knows, and of what was decided.

use fmu_runtime::plan::{Elimination, Fallback, Jacobian, Method, Model, Plan, States, Step, Watch};

/// What was decided.
pub struct Choice {
    pub method: Method,
    /// Its policy included.
    pub jacobian: Jacobian,
    pub elimination: Elimination,
    /// The same with all entries, where some were dropped and there is room for it.
    pub fallback: Option<Fallback>,
    /// Of the states.
    pub nominals: Vec<f64>,
    pub sizes: Vec<f64>,
    pub watch: Option<Watch>,
    pub time_invariant: bool,
    pub outputs_need_evaluation: bool,
}

/// The explicit plan of the interface, with this choice in it.
pub fn assemble(interface: &Plan, choice: Choice) -> Plan {
    Plan {
        step: Step { method: choice.method, ..interface.step.clone() },
        states: States { nominals: choice.nominals, sizes: choice.sizes, ..interface.states.clone() },
        model: Model {
            time_invariant: choice.time_invariant,
            outputs_need_evaluation: choice.outputs_need_evaluation,
            ..interface.model.clone()
        },
        jacobian: choice.jacobian,
        elimination: choice.elimination,
        fallback: choice.fallback,
        watch: choice.watch,
        ..interface.clone()
    }
}
