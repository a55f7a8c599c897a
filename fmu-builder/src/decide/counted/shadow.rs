//! The shadow of a plan: the same method, policy, watch, fallback, events and steps, over a model of a single state.
//!
//! What a step does does not depend on how many states there are, only on what the model answers; how many evaluations a
//! renewal of the Jacobian takes does, and follows from how often it is renewed. So a step is counted in microseconds,
//! whatever the model's size.

use fmu_runtime::plan::{
    Accuracy, Block, Colour, Elimination, Fallback, Jacobian, JacobianSource, Plan, Policy, Role, States,
    Table, Variables,
};

/// Value reference of its input.
pub const INPUT: u32 = 1;

/// The shadow of this plan.
pub fn shadow(plan: &Plan) -> Plan {
    let n = plan.states.names.len().min(1);
    let driven = is_driven(plan);
    Plan {
        states: States {
            names: vec!["x".into(); n],
            references: vec![0; n],
            derivative_references: vec![0; n],
            nominals: vec![1.0; n],
            sizes: vec![1.0; n],
        },
        variables: Variables {
            real: Table {
                references: if driven { vec![INPUT] } else { Vec::new() },
                roles: if driven { char::from(Role::ContinuousInput as u8).into() } else { String::new() },
            },
            ..Variables::default()
        },
        jacobian: jacobian(&plan.jacobian),
        elimination: elimination(&plan.elimination, !plan.jacobian.setup.is_empty(), n),
        fallback: plan.fallback.as_ref().map(|fallback| Fallback {
            jacobian: jacobian(&fallback.jacobian),
            elimination: elimination(&fallback.elimination, !fallback.jacobian.setup.is_empty(), n),
        }),
        accuracy: plan.accuracy.as_ref().map(|accuracy| Accuracy {
            outputs: Vec::new(),
            names: vec!["x".into(); n],
            lows: vec![0.0; n],
            highs: vec![0.0; n],
            sizes: vec![1.0; n],
            ranges: vec![1.0; n],
            integers: Vec::new(),
            booleans: Vec::new(),
            strings: Vec::new(),
            ..accuracy.clone()
        }),
        diagnostics: Vec::new(),
        inner: None,
        shell: None,
        ..plan.clone()
    }
}

/// The host may set continuous inputs.
pub fn is_driven(plan: &Plan) -> bool {
    plan.variables.real.roles.contains(char::from(Role::ContinuousInput as u8))
}

/// One entry, one colour: what is renewed together stays together.
fn jacobian(of: &Jacobian) -> Jacobian {
    let entries = u32::from(!of.setup.is_empty());
    let colours = |some: bool| {
        let one = Colour { columns: vec![0], entries: vec![0], known: Vec::new() };
        if some { vec![one] } else { Vec::new() }
    };
    Jacobian {
        rows: (0..entries).collect(),
        cols: (0..entries).collect(),
        policy: match of.policy {
            Policy::Rolling { .. } => Policy::Rolling { per_step: 1 },
            other => other,
        },
        // A directional derivative is counted as a difference is, and needs no f to be taken from.
        source: JacobianSource::Directional,
        setup: colours(!of.setup.is_empty()),
        colours: colours(!of.colours.is_empty()),
    }
}

/// A dense core where there is one, so that its balance counts.
fn elimination(of: &Elimination, implicit: bool, n: usize) -> Elimination {
    let rows = if implicit { n as u32 } else { 0 };
    let tears = u32::from(of.blocks.iter().any(|block| block.tears > 0));
    Elimination {
        order: (0..n as u32).collect(),
        explicit: n as u32 - rows,
        blocks: (0..rows).map(|_| Block { size: 1, tears }).collect(),
        row_start: (0..=rows).collect(),
        cols: (0..rows).collect(),
        entries: (0..rows).collect(),
        slots: (0..rows).collect(),
        outer_start: vec![0; rows as usize + 1],
        outer: Vec::new(),
    }
}
