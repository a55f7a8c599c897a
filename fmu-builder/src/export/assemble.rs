//! The plan, put together once, of three values: the FMU's interface, the discretisation in time that was asked for, and what was decided.
//!
//! What comes out is complete and is tried as it is. The plan that is chosen gets its GUID (`Plan::sealed`) and is packed as it is.

use crate::diagnostics;
use crate::interface::Interface;
use fmu_runtime::plan::{Elimination, Events, Fallback, Jacobian, Method, Model, Plan, Step, VERSION, Watch};

/// Events per communication step.
const EVENTS_PER_STEP: u32 = 8;
/// Calls of `fmi2NewDiscreteStates` in one event.
pub const EVENT_ITERATIONS: u32 = 100;
/// Where the limiter of methods of higher order begins, in parts of a state's size. It does not follow the tolerance: it is there against overshooting,
/// and drawn to first order a smooth run is less accurate. With a limit of 1e-4 the reference models err 1.2 to 5 times as much as with this one.
const LIMIT: f64 = 1e-2;

/// How time is cut.
#[derive(Clone, Copy, Debug)]
pub struct Discretisation {
    /// The internal step in seconds, and how many of them are in a communication step.
    pub h: f64,
    pub substeps: u32,
    /// State events are located to within this part of a step.
    pub precision: f64,
}

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
    /// The FMU's directional derivatives are wrong: the new FMU offers none.
    pub wrong_directional: bool,
}

pub fn assemble(interface: &Interface, discretisation: Discretisation, choice: Choice) -> Plan {
    let Discretisation { h, substeps, precision } = discretisation;
    let diagnostics = diagnostics::reserve(interface);
    Plan {
        version: VERSION,
        model: Model {
            name: interface.name.clone(),
            identifier: interface.identifier.clone(),
            inner_guid: interface.guid.clone(),
            guid: String::new(), // of the new FMU, once there is one
            log_categories: interface.log_categories.clone(),
            can_get_and_set_state: interface.can_get_and_set_state,
            can_serialize_state: interface.can_serialize_state,
            provides_directional_derivative: interface.provides_directional_derivative
                && !choice.wrong_directional,
            instantiate_only_once: interface.instantiate_only_once,
            completed_step_needed: interface.completed_step_needed,
            time_invariant: choice.time_invariant,
            outputs_need_evaluation: choice.outputs_need_evaluation,
            writes_beyond: interface.writes_beyond,
        },
        step: Step { method: choice.method, h, substeps, limit: LIMIT },
        states: interface.states(choice.nominals, choice.sizes),
        variables: interface.variables.clone(),
        jacobian: choice.jacobian,
        elimination: choice.elimination,
        fallback: choice.fallback,
        watch: choice.watch,
        events: Events {
            indicators: interface.indicators,
            bisections: (1.0 / precision).log2().ceil().clamp(1.0, 30.0) as u32,
            max_per_step: EVENTS_PER_STEP,
            max_iterations: EVENT_ITERATIONS,
            may_be_nan: interface.indicators_may_be_nan,
        },
        accuracy: None,
        shell: interface.shell.as_ref().map(|variables| {
            let mut shell = [variables.clone(), diagnostics::arrays(&diagnostics)].concat();
            shell.sort_by_key(|array| array.reference);
            shell
        }),
        diagnostics,
        inner: interface.inner.clone(),
    }
}
