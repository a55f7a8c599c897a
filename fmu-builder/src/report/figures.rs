//! What the pages draw, gathered while everything is at hand: a few trajectories and the spectrum, thinned.
//!
//! Nothing measured on this machine is in here, so that the page inside the FMU may use all of it.

use crate::analysis::step_advice::step_advice;
use crate::build::Attempt;
use crate::decide::{Decision, Spectra};
use crate::deviation::range;
use crate::diagnostics;
use crate::source::Source;
use fmu_runtime::measure::Measure;
use fmu_runtime::plan::{Accuracy, ErrorSource};
use model_description::{Causality, Variability};

/// Trajectories that are kept, worst first: a reader picks among them.
const CURVES: usize = 32;
/// Points of a trajectory, about.
const POINTS: usize = 500;
/// Up to this many states eigenvalues are drawn; more are a blot.
const SPECTRUM: usize = 150;

#[derive(Clone, Debug, Default)]
pub struct Figures {
    /// The run that is drawn, where it is an invented one because nothing moves in the given run.
    pub drawn: Option<String>,
    pub curves: Vec<Curve>,
    /// Quantities that were compared, drawn or not, and what they are: "output", "state".
    pub compared: usize,
    pub noun: &'static str,
    pub spectrum: Option<Spectrum>,
    /// The error so far at each point of the verified run, and what the FMU says of it there.
    pub errors_so_far: Vec<f64>,
    pub estimates: Vec<f64>,
    pub inputs: Vec<Port>,
    pub diagnostics: Vec<Port>,
    /// The front page of the model's own documentation, beside ours.
    pub documentation: Option<String>,
}

/// One quantity, accurate and as the new FMU computes it, at points in time of its own.
#[derive(Clone, Debug, Default)]
pub struct Curve {
    pub name: String,
    pub unit: Option<String>,
    pub description: Option<String>,
    pub error: Option<f64>,
    pub times: Vec<f64>,
    pub reference: Vec<f64>,
    /// Shorter if the run ended early.
    pub built: Vec<f64>,
}

/// Eigenvalues at the samples.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Spectrum {
    pub h: f64,
    pub samples: usize,
    /// Of the Jacobian, times h.
    pub model: Vec<(f64, f64)>,
    /// Of one step: what it multiplies a disturbance by.
    pub step: Vec<(f64, f64)>,
    /// Time constants 1/|λ| in seconds; λ = 0, an integrator, has none.
    pub fastest: Option<f64>,
    pub slowest: Option<f64>,
    /// Period of the fastest oscillation that the model does not damp strongly.
    pub period: Option<f64>,
    /// Largest step of explicit Euler; infinite if nothing limits it.
    pub explicit_limit: f64,
    /// Modes of the model itself that grow, at the sample with the most.
    pub growing: usize,
}

/// A variable that a user may set or read.
#[derive(Clone, Debug, Default)]
pub struct Port {
    pub name: String,
    pub unit: Option<String>,
    pub kind: String,
    pub description: String,
}

impl Figures {
    pub fn new(source: &Source, attempt: &Attempt) -> Figures {
        let Attempt { studied, decision, .. } = attempt;
        let variables = &source.description.variables;
        let names = &decision.plan.states.names;
        let outputs = source.outputs();
        let watched: Vec<(String, Option<usize>)> = match outputs.is_empty() {
            true => (0..names.len()).map(|i| (names[i].clone(), source.state_variable(i))).collect(),
            false => outputs.iter().map(|&i| (variables[i].name.clone(), Some(i))).collect(),
        };
        let (times, reference, simulated, errors) = match &attempt.moved {
            Some(run) => (&run.times, &run.reference, &run.simulated, &run.errors),
            None => (&studied.times, &studied.trajectory, &decision.simulated.trajectory, &decision.errors),
        };
        let error = |i: usize| errors.get(i).copied();
        let mut order: Vec<usize> = (0..watched.len()).collect();
        order.sort_by(|&a, &b| error(b).unwrap_or(0.0).total_cmp(&error(a).unwrap_or(0.0)));
        order.truncate(CURVES);
        let curve = |&i: &usize| {
            let variable = watched[i].1.map(|index| &variables[index]);
            let points = thin(i, reference, simulated);
            let at = |rows: &[Vec<f64>]| {
                let values = points.iter().map_while(|&p| rows.get(p)?.get(i).copied());
                values.collect::<Vec<f64>>()
            };
            Curve {
                name: watched[i].0.clone(),
                unit: variable.and_then(|variable| variable.unit.clone()),
                description: variable.and_then(|variable| variable.description.clone()),
                error: error(i),
                times: points.iter().map(|&p| times[p]).collect(),
                reference: at(reference),
                built: at(simulated),
            }
        };
        let inputs = variables.iter().filter(|variable| variable.causality == Causality::Input);
        let inputs = inputs.map(|variable| Port {
            name: variable.name.clone(),
            unit: variable.unit.clone(),
            kind: match variable.variability {
                Variability::Continuous => "continuous".into(),
                _ => format!("discrete {}", variable.kind.element()),
            },
            description: variable.description.clone().unwrap_or_default(),
        });
        let diagnostics = diagnostics::describe(&decision.plan.diagnostics);
        Figures {
            drawn: attempt.moved.as_ref().map(|run| run.name.clone()),
            curves: order.iter().map(curve).collect(),
            compared: watched.len(),
            noun: if outputs.is_empty() { "state" } else { "output" },
            spectrum: spectrum(decision),
            errors_so_far: errors_so_far(decision, &studied.trajectory),
            estimates: decision.simulated.estimates.clone(),
            inputs: inputs.collect(),
            diagnostics: diagnostics
                .into_iter()
                .map(|diagnostic| Port {
                    name: diagnostic.name,
                    unit: diagnostic.unit,
                    kind: format!("{:?}", diagnostic.kind),
                    description: diagnostic.description,
                })
                .collect(),
            documentation: source.documentation(),
        }
    }
}

/// The error up to each point in the measure of `fmuBuild.error`, but with the accurate solution in the twin's place.
fn errors_so_far(decision: &Decision, reference: &[Vec<f64>]) -> Vec<f64> {
    let Some(accuracy) = &decision.plan.accuracy else { return Vec::new() };
    let quantities = reference.first().map_or(0, Vec::len);
    let mut accuracy = Accuracy { share: 1.0, ..accuracy.clone() };
    if accuracy.source == ErrorSource::Carried {
        // Other quantities are compared at run time than here: each is measured by its own range.
        let ranges = (0..quantities).map(|i| range(reference.iter().map(|point| point[i])).0);
        accuracy.ranges = ranges.collect();
        (accuracy.lows, accuracy.highs) = (vec![0.0; quantities], vec![0.0; quantities]);
        accuracy.sizes = vec![0.0; quantities];
    }
    let mut measure = Measure::new(&accuracy);
    let points = decision.simulated.trajectory.iter().zip(reference);
    points
        .map(|(simulated, reference)| {
            measure.note(&accuracy, simulated, reference);
            measure.error()
        })
        .collect()
}

/// Points to draw: all of a short run. Of a long one, in every stretch of time, those where the curve is least and greatest, so that no peak is
/// lost.
pub(super) fn thin(quantity: usize, reference: &[Vec<f64>], simulated: &[Vec<f64>]) -> Vec<usize> {
    let count = reference.len();
    if count <= 2 * POINTS {
        return (0..count).collect();
    }
    let stretches = POINTS / 4;
    let mut points = vec![0, count - 1];
    for stretch in 0..stretches {
        let range = stretch * count / stretches..(stretch + 1) * count / stretches;
        for rows in [reference, simulated] {
            let inside = range.clone().filter_map(|p| rows.get(p)?.get(quantity).map(|&value| (p, value)));
            points.extend(inside.clone().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(p, _)| p));
            points.extend(inside.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(p, _)| p));
        }
        points.extend(range.step_by((count / POINTS).max(1)));
    }
    points.sort_unstable();
    points.dedup();
    points
}

fn spectrum(decision: &Decision) -> Option<Spectrum> {
    let plan = &decision.plan;
    let (n, h) = (plan.states.names.len(), plan.step.h);
    if n == 0 || n > SPECTRUM {
        return None;
    }
    let mut found = Spectrum { h, explicit_limit: f64::INFINITY, ..Spectrum::default() };
    let mut least = f64::INFINITY;
    let (mut most, mut fastest_turn) = (0.0, 0.0);
    for Spectra { model: lambda, step: mu } in &decision.spectra {
        found.samples += 1;
        // Below this it is rounding of the largest.
        let largest = lambda.iter().fold(0.0, |largest, z| f64::max(largest, z.norm()));
        let zero = 1e-9 * largest;
        let mut growing = 0;
        for z in lambda {
            let size = z.norm();
            if size > zero {
                least = least.min(size);
                most = f64::max(most, size);
            }
            if -z.re < 0.7 * size && z.im > zero {
                fastest_turn = f64::max(fastest_turn, z.im);
            }
            growing += usize::from(z.re > 1e-6 * largest);
            found.model.push((h * z.re, h * z.im));
        }
        found.growing = found.growing.max(growing);
        found.step.extend(mu.iter().map(|z| (z.re, z.im)));
    }
    let spectra: Vec<_> = decision.spectra.iter().map(|spectra| spectra.model.clone()).collect();
    if let Ok(advice) = step_advice(&spectra, h) {
        found.explicit_limit = advice.explicit_limit;
    }
    let inverse = |rate: f64| (rate > 0.0 && rate.is_finite()).then(|| 1.0 / rate);
    found.fastest = inverse(most);
    found.slowest = inverse(least);
    found.period = inverse(fastest_turn).map(|turn| turn * std::f64::consts::TAU);
    (found.samples > 0).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::thin;

    /// A needle of one point in ten thousand is still drawn.
    #[test]
    fn thinning_keeps_peaks() {
        let mut rows = vec![vec![0.0]; 10_000];
        rows[7_777][0] = 5.0;
        let points = thin(0, &rows, &rows[..9_000]);
        assert!(points.contains(&7_777) && points.contains(&0) && points.contains(&9_999));
        assert!(points.len() < 2_000, "{}", points.len());
        assert!(points.is_sorted());
    }
}
