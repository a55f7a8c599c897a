//! Our own variables of the new FMU: what its runtime says of itself.

use crate::interface::Interface;
use fmu_runtime::plan::{Array, Diagnostic, Quantity, Type};
use model_description::{DiagnosticKind, ModelDescription};

type Row = (Quantity, &'static str, DiagnosticKind, Option<&'static str>, &'static str);

/// Quantity, name, type, unit, description.
const DIAGNOSTICS: [Row; 16] = [
    (
        Quantity::StepTime,
        "fmuBuild.stepTime",
        DiagnosticKind::Real,
        Some("s"),
        "Wall-clock time of the last step; measured from the first reading on",
    ),
    (
        Quantity::Overruns,
        "fmuBuild.overruns",
        DiagnosticKind::Integer,
        None,
        "Steps that took longer than the time they simulate; counted from the first reading on",
    ),
    (
        Quantity::Allocations,
        "fmuBuild.allocations",
        DiagnosticKind::Integer,
        None,
        "Requests for memory by the runtime's own code in steps; those of the model inside are not counted. From the first reading on",
    ),
    (
        Quantity::Events,
        "fmuBuild.events",
        DiagnosticKind::Integer,
        None,
        "Events handled since initialisation",
    ),
    (
        Quantity::CarriedEvents,
        "fmuBuild.carriedEvents",
        DiagnosticKind::Integer,
        None,
        "Steps that put an event off to the next one",
    ),
    (
        Quantity::ErrorEstimate,
        "fmuBuild.errorEstimate",
        DiagnosticKind::Real,
        None,
        "Estimated local error of the last internal step, relative to the states' sizes",
    ),
    (
        Quantity::PlanDefect,
        "fmuBuild.planDefect",
        DiagnosticKind::Real,
        None,
        "What the last internal step missed because of its Jacobian, relative to the states' sizes",
    ),
    (
        Quantity::Error,
        "fmuBuild.error",
        DiagnosticKind::Real,
        None,
        "Estimated error of the worst output since initialisation: root mean square of its deviation over its range, as in the certificate",
    ),
    (
        Quantity::ErrorPeak,
        "fmuBuild.errorPeak",
        DiagnosticKind::Real,
        None,
        "Largest estimated deviation of an output at a communication point, over its range",
    ),
    (
        Quantity::ErrorButForLateness,
        "fmuBuild.errorButForLateness",
        DiagnosticKind::Real,
        None,
        "What is left of fmuBuild.error where each value may come a communication step early or late",
    ),
    (
        Quantity::ErrorOutput,
        "fmuBuild.errorOutput",
        DiagnosticKind::String,
        None,
        "The output with that error",
    ),
    (
        Quantity::DiscreteError,
        "fmuBuild.discreteError",
        DiagnosticKind::Real,
        None,
        "Share of the communication points at which a discrete output is estimated to be wrong, of the worst one",
    ),
    (
        Quantity::StepsOutsidePlan,
        "fmuBuild.stepsOutsidePlan",
        DiagnosticKind::Integer,
        None,
        "Communication steps in which the estimated error was beyond the tolerance or could not be told, or that put off an event; without an estimate, as stepsWatchSpoke",
    ),
    (
        Quantity::StepsWatchSpoke,
        "fmuBuild.stepsWatchSpoke",
        DiagnosticKind::Integer,
        None,
        "Internal steps that miss more because of the Jacobian than the plan allows, though it was renewed",
    ),
    (
        Quantity::JacobianRenewals,
        "fmuBuild.jacobianRenewals",
        DiagnosticKind::Integer,
        None,
        "Internal steps that were done again with a renewed Jacobian because the watch spoke",
    ),
    (
        Quantity::DampedSteps,
        "fmuBuild.dampedSteps",
        DiagnosticKind::Integer,
        None,
        "Internal steps that overshot, as near a square root, and were shortened",
    ),
];

/// The variable of time that FMI 3.0 asks for, where the model has none.
const TIME: Row = (Quantity::Time, "time", DiagnosticKind::Time, None, "Simulation time");

/// All of them, with value references that no variable of the FMU has.
pub fn reserve(interface: &Interface) -> Vec<Diagnostic> {
    let time = interface.shell.is_some() && !interface.has_time;
    let rows = DIAGNOSTICS.iter().chain(time.then_some(&TIME));
    let references = interface.fresh_references(DIAGNOSTICS.len() + usize::from(time));
    rows.zip(references).map(|(&(quantity, ..), reference)| Diagnostic { quantity, reference }).collect()
}

/// The same as variables of an FMU of FMI 3.0.
pub fn arrays(diagnostics: &[Diagnostic]) -> Vec<Array> {
    let described = describe(diagnostics).into_iter();
    let array = |it: model_description::Diagnostic| Array {
        reference: it.value_reference,
        kind: match it.kind {
            DiagnosticKind::Real | DiagnosticKind::Time => Type::Float64,
            DiagnosticKind::Integer => Type::Int32,
            DiagnosticKind::String => Type::String,
        },
        first: it.value_reference,
        count: 1,
    };
    described.map(array).collect()
}

/// Our variables that are called otherwise because the model has one of that name, and what they are called.
pub fn renamed(description: &ModelDescription) -> Vec<(String, String)> {
    let names = description.diagnostic_names(DIAGNOSTICS.iter().map(|row| row.1));
    let pairs = DIAGNOSTICS.iter().map(|row| row.1.to_string()).zip(names);
    pairs.filter(|(ours, called)| ours != called).collect()
}

/// For modelDescription.xml and for people.
pub fn describe(diagnostics: &[Diagnostic]) -> Vec<model_description::Diagnostic> {
    let described = diagnostics.iter().filter_map(|&Diagnostic { quantity, reference }| {
        let &(_, name, kind, unit, description) =
            DIAGNOSTICS.iter().chain([&TIME]).find(|row| row.0 == quantity)?;
        Some(model_description::Diagnostic {
            name: name.into(),
            value_reference: reference,
            kind,
            unit: unit.map(str::to_string),
            description: description.into(),
        })
    });
    described.collect()
}
