//! The integrator on models written in Rust: no library, no files, milliseconds.

#![allow(clippy::unwrap_used)]

mod accuracy;
mod adversary;
mod becker;
mod beside;
mod contact;
mod counting;
mod damping;
mod details;
mod events;
mod hybrid;
mod limiter;
mod model;
mod outputs;
mod timing;
mod watching;

use super::Integrator;
use crate::model::Model;
use crate::plan::{
    self, Block, Colour, Elimination, Events, Jacobian, JacobianSource, Method, Plan, Policy, States, Step,
    VERSION, Variables,
};
use model::{Equations, Host};

/// A plan for n states with every entry of the Jacobian, one colour per column, solved as one dense core.
fn plan(n: usize, method: Method, h: f64, policy: Policy) -> Plan {
    let n = n as u32;
    let places = || (0..n).flat_map(|i| (0..n).map(move |j| (i, j)));
    let colours: Vec<Colour> = (0..n)
        .map(|j| Colour { columns: vec![j], entries: (0..n).map(|i| i * n + j).collect(), known: vec![] })
        .collect();
    Plan {
        version: VERSION,
        model: plan::Model {
            name: "test".into(),
            identifier: "test".into(),
            inner_guid: String::new(),
            guid: String::new(),
            log_categories: Vec::new(),
            can_get_and_set_state: false,
            can_serialize_state: false,
            provides_directional_derivative: false,
            instantiate_only_once: false,
            completed_step_needed: false,
            time_invariant: false,
            outputs_need_evaluation: false,
            writes_beyond: false,
        },
        step: Step { method, h, substeps: 1, limit: f64::INFINITY },
        states: States {
            names: (0..n).map(|i| format!("x{i}")).collect(),
            references: vec![],
            derivative_references: vec![],
            nominals: vec![1.0; n as usize],
            sizes: vec![1.0; n as usize],
        },
        variables: Variables::default(),
        jacobian: Jacobian {
            rows: places().map(|(i, _)| i).collect(),
            cols: places().map(|(_, j)| j).collect(),
            policy,
            source: JacobianSource::Differences,
            setup: colours.clone(),
            colours,
        },
        elimination: Elimination {
            order: (0..n).collect(),
            explicit: 0,
            blocks: if n > 0 { vec![Block { size: n, tears: n }] } else { vec![] },
            row_start: (0..=n).map(|i| i * n).collect(),
            cols: places().map(|(_, j)| j).collect(),
            entries: (0..n * n).collect(),
            slots: (0..n * n).collect(),
            outer_start: vec![0; n as usize + 1],
            outer: vec![],
        },
        watch: None,
        fallback: None,
        events: Events {
            indicators: 0,
            bisections: 10,
            max_per_step: 8,
            max_iterations: 20,
            may_be_nan: false,
        },
        accuracy: None,
        diagnostics: vec![],
        inner: None,
        shell: None,
    }
}

/// The same with no entry at all: explicit.
fn explicit(n: usize, method: Method, h: f64) -> Plan {
    let mut plan = plan(n, method, h, Policy::Frozen);
    plan.jacobian = Jacobian {
        rows: vec![],
        cols: vec![],
        policy: Policy::Frozen,
        source: JacobianSource::Differences,
        setup: vec![],
        colours: vec![],
    };
    plan.elimination =
        Elimination { order: (0..n as u32).collect(), explicit: n as u32, ..Elimination::default() };
    plan
}

/// The same with the rows of some states only, those before the others explicit.
fn masked(n: usize, method: Method, h: f64, policy: Policy, implicit: &[bool]) -> Plan {
    let mut plan = plan(n, method, h, policy);
    let order: Vec<u32> = [false, true]
        .iter()
        .flat_map(|&kind| (0..n as u32).filter(move |&i| implicit[i as usize] == kind))
        .collect();
    let explicit = implicit.iter().filter(|&&implicit| !implicit).count();
    let (rows, size) = (&order[explicit..], n - explicit);
    let places: Vec<(u32, u32)> = rows.iter().flat_map(|&i| order.iter().map(move |&j| (i, j))).collect();
    let of_column = |j: u32| (0..places.len() as u32).filter(|&e| places[e as usize].1 == j).collect();
    let colours: Vec<Colour> = (0..n as u32)
        .map(|j| Colour { columns: vec![j], entries: of_column(j), known: vec![] })
        .filter(|colour| !colour.entries.is_empty())
        .collect();
    plan.jacobian = Jacobian {
        rows: places.iter().map(|place| place.0).collect(),
        cols: places.iter().map(|place| place.1).collect(),
        policy,
        source: JacobianSource::Differences,
        setup: colours.clone(),
        colours,
    };
    // In each row the explicit states' entries come first: couplings to what is known already.
    let inner = |e: &u32| *e as usize % n >= explicit;
    let entries: Vec<u32> = (0..places.len() as u32).filter(inner).collect();
    plan.elimination = Elimination {
        explicit: explicit as u32,
        blocks: if size > 0 { vec![Block { size: size as u32, tears: size as u32 }] } else { vec![] },
        row_start: (0..=size).map(|i| (i * size) as u32).collect(),
        cols: (0..size).flat_map(|_| explicit as u32..n as u32).collect(),
        slots: (0..entries.len() as u32).collect(),
        entries,
        outer_start: (0..=size).map(|i| (i * explicit) as u32).collect(),
        outer: (0..places.len() as u32).filter(|e| !inner(e)).collect(),
        order,
    };
    plan
}

/// An integrator at t = 0.
fn start<E: Equations>(plan: Plan, equations: E) -> Integrator<Host<E>> {
    let mut integrator = Integrator::new(plan, Host::new(equations)).unwrap();
    integrator.start(0.0).unwrap();
    integrator
}

/// `steps` communication steps of the plan's own length.
fn run<M: Model>(integrator: &mut Integrator<M>, steps: usize) {
    let step = &integrator.plan().step;
    let length = step.h * f64::from(step.substeps);
    for _ in 0..steps {
        let division = integrator.divide(length);
        integrator.advance(length, division).unwrap();
    }
}
