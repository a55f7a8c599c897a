//! How many internal steps are in a communication step.
//!
//! The communication step is the bench's; the step inside is ours. Where no plan keeps the tolerance with one step inside, two, four and eight are tried: a bench
//! does not care whether its step takes 1 or 4 µs, it cares that the numbers are right. Not where the user has chosen anything himself, nor where
//! shorter steps do not help: late inputs, chaos.

use super::{Decision, ReferenceRun, decide};
use crate::assemble::Discretisation;
use crate::error::Error;
use crate::findings::Studied;
use crate::interface::Interface;
use crate::lab::Lab;
use crate::options::{JacobianPolicy, Options, Partitioning};

const SUBSTEPS: [u32; 3] = [2, 4, 8];
/// More steps must bring the error down to this part at least of what fewer leave.
const GAIN: f64 = 0.7;
/// Above this many states a decision takes too long to be made again and again.
const STATES: usize = 200;

/// Decide with as many steps inside as are asked for or needed.
pub fn decide_with_substeps(
    interface: &Interface,
    discretisation: Discretisation,
    studied: &Studied,
    runs: &[ReferenceRun],
    options: &Options,
    lab: &Lab,
) -> Result<Decision, Error> {
    let decision = decide(interface, discretisation, studied, runs, options, lab)?;
    let states = interface.state_names.len();
    if !is_free(options) || states == 0 || states > STATES {
        return Ok(decision);
    }
    // A run that says nothing of plans with one step inside asks for no more of them.
    let idle: Vec<&str> =
        decision.explored.runs.iter().filter(|run| !run.counts).map(|run| run.name.as_str()).collect();
    let runs: Vec<ReferenceRun> = runs
        .iter()
        .map(|run| ReferenceRun { counts: run.given || !idle.contains(&run.label.as_str()), ..run.clone() })
        .collect();
    let mut best = decision;
    for substeps in SUBSTEPS {
        if worst(&best) <= options.tolerance && peak(&best) <= options.peak_tolerance.unwrap_or(f64::INFINITY)
        {
            break;
        }
        let finer = Discretisation {
            h: discretisation.h / f64::from(substeps),
            substeps: discretisation.substeps * substeps,
            ..discretisation
        };
        // What cannot be had with shorter steps is no reason to refuse what can be had with longer ones.
        let Ok(finer) = decide(interface, finer, studied, &runs, options, lab) else { break };
        let peak_gained = options
            .peak_tolerance
            .is_some_and(|most| peak(&best) > most && peak(&finer) <= GAIN * peak(&best));
        // Nor may it take longer than the communication step where fewer do not.
        let (load, known) = (finer.times.load, best.times.load);
        if (gains(&best, &finer, options.tolerance) || peak_gained) && (load <= 1.0 || load <= known) {
            best = finer;
        }
    }
    Ok(best)
}

/// Nothing was asked for that an own choice of steps would contradict.
fn is_free(options: &Options) -> bool {
    options.substeps.is_none()
        && options.method.is_none()
        && options.budget.is_none()
        && options.rho.is_none()
        && options.mode == Partitioning::Auto
        && options.jacobian == JacobianPolicy::Auto
        && options.fast.is_empty()
        && options.slow.is_empty()
        && !options.force
}

/// More steps inside are worth it. The given runs come first: a plan that misses them was not run on the invented ones, so that its largest error is not
/// comparable with that of a plan that was.
fn gains(best: &Decision, finer: &Decision, tolerance: f64) -> bool {
    let given = |decision: &Decision| decision.error.unwrap_or(0.0);
    match (given(best) <= tolerance, given(finer) <= tolerance) {
        (true, true) => worst(finer) <= GAIN * worst(best),
        (false, false) => given(finer) <= GAIN * given(best),
        (_, finer_holds) => finer_holds,
    }
}

/// The largest deviation at a point of the given runs.
fn peak(decision: &Decision) -> f64 {
    decision.peaks.iter().map(|peak| peak.deviation).fold(0.0, f64::max)
}

/// The largest error on any run.
fn worst(decision: &Decision) -> f64 {
    decision.error.unwrap_or(0.0).max(decision.explored.error.unwrap_or(0.0))
}
