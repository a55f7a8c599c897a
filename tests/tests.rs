//! Everything is tested from outside: `fmu-build` as a command, exported FMUs through their C functions.
#![allow(clippy::unwrap_used)]

mod driver;
mod util;
mod vendors;

/// Error and order of convergence against solutions that are known.
mod accuracy;
/// What the audit of `bench` counts.
#[cfg(target_os = "linux")]
mod audit;
/// `compare`: the original and the exported FMU side by side.
mod beside;
/// Models that break while they run: what the builder says, what the runtime does.
#[cfg(target_os = "linux")]
mod broken;
/// Partitions, budgets, refusals of unstable requests.
mod choice;
/// The archive and the description that are written, `--json`, exit codes.
mod command;
/// Communication steps of other lengths, at rounded times.
mod communication;
/// What FMI 2.0 asks of an FMU: state machine, values, resource locations.
mod conformance;
/// State, time and step events.
mod events;
/// Inner models that fail: at every call, with every status.
mod faults;
/// The C functions of FMI 3.0: types, arrays, saved states, refusals.
mod fmi3_shell;
/// Random input for every reader, random calls of the C interface.
#[allow(unsafe_code)]
mod fuzz;
/// What the command answers first, and what makes it fail: verdict, deadline, input files that do not fit.
mod gates;
/// Where unsafe code stands.
mod inventory;
/// Outputs all or none; nothing stays after failures and signals.
#[cfg(unix)]
mod leftovers;
/// Second and third order with every matrix.
mod orders;
/// What the model's calls cost, and the plans and refusals that follow from it.
mod price;
/// Constant cost: calls of the model and allocations in a step.
mod realtime;
/// Broken models and impossible requests: the exact message, exit code 1, nothing written.
mod refusal;
/// Repeated, interleaved, restored and reset runs are the same to the bit.
mod repeatability;
/// Instructions that grow with the input.
#[cfg(target_os = "linux")]
mod scaling;
/// Ten million steps, ten thousand instances.
mod soak;
/// FMUs that bring their sources, of FMI 2.0 and 3.0: arrays, clocks, structural sizes, compilers.
#[cfg(unix)]
mod sources;
/// The study leaves no traces; buffers, numbers and columns are checked.
mod study;
/// The twin that tells the error at run time.
mod twin;
