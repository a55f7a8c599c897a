//! `fmu-build inspect`: what a Model-Exchange FMU is made of.

use crate::analysis::bridges::{Bridge, bridges};
use crate::analysis::delay::between_blocks;
use crate::error::Error;
use crate::findings::Study;
use crate::lab::Lab;
use crate::options::InspectOptions;
use crate::outputs::Outputs;
use crate::progress::Progress;
use crate::quantity;
use crate::source::Source;
use crate::structure::{Pattern, Variation, blt::components, draw, loops::suggest_slow_row, plan_parts};
use crate::summary::{count, findings, repairs};
use crate::warning::Warnings;
use faer::Mat;
use fmu_runtime::lu;
use serde::Serialize;

/// Relative accuracy of the run along which the structure is looked at.
const ACCURACY: f64 = 1e-4;

/// The structural part of the summary.
#[derive(Clone, Debug, Serialize)]
pub struct Inspection {
    pub model: String,
    pub generation_tool: String,
    pub states: usize,
    pub event_indicators: usize,
    pub inputs: usize,
    pub outputs: usize,
    pub variables: usize,
    pub nonzeros: usize,
    pub constant_nonzeros: usize,
    pub blocks: usize,
    pub largest_block: usize,
    pub tears: usize,
    pub tear_names: Vec<String>,
    pub colours: usize,
    /// Rows of the Jacobian whose structure is not declared and was found by probing.
    pub undeclared_rows: usize,
    /// Of a fully implicit step with a fresh Jacobian.
    pub operations_per_step: u64,
    pub evaluations_per_step: f64,
    pub evaluation_time_ns: f64,
    pub provides_directional_derivative: bool,
    pub can_get_and_set_fmu_state: bool,
    pub default_step: Option<f64>,
    /// Sizes in order of solution.
    pub block_sizes: Vec<usize>,
    /// The states of the largest block, in order of solution.
    pub largest_block_names: Vec<String>,
    /// The one state whose row, taken as slow, breaks most of the largest block.
    pub suggested_slow: Option<Suggestion>,
    /// Where the model would fall in two.
    pub cut: Option<Cut>,
    /// Outputs that may depend on inputs within the same instant, and on which (`null`: on any).
    pub feedthrough: Vec<(String, Option<Vec<String>>)>,
    #[serde(flatten)]
    pub warnings: Warnings,
    /// The incidence before and after ordering, of a small model.
    #[serde(skip)]
    pub picture: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
pub struct Suggestion {
    pub name: String,
    /// What the largest block would then be.
    pub largest_block: usize,
}

/// Two states whose coupling alone holds a model together: a bridge (Gustafsson, section 8).
#[derive(Clone, Debug, Serialize)]
pub struct Cut {
    pub names: [String; 2],
    /// States on either side.
    pub parts: [usize; 2],
    /// Solved apart, each with the other's last value, the two parts must be iterated on: an error is multiplied by this much each time, in
    /// the long run, in an implicit step of `default_step` or a thousandth of the run, at the sample where it is largest. They converge if it
    /// is below 1 (Gustafsson, (104)). Not known of large models.
    pub contraction: Option<f64>,
}

/// Up to here the contraction of a cut is looked for: n^3 for each sample.
const DENSE: usize = 500;
/// A block of two is broken by either of its states.
const WORTH_BREAKING: usize = 3;

/// Study the FMU `options.input` and say what it is made of.
pub fn inspect(options: &InspectOptions) -> Result<Inspection, Error> {
    let inputs = options.run.inputs.iter().map(|path| path.as_path());
    let mut outputs = Outputs::new(inputs.chain([options.input.as_path()]));
    let drawing = options.svg.as_deref().map(|path| outputs.claim("the drawing", path)).transpose()?;
    let source = Source::open(&options.input, &options.run, &options.compilation, &options.limits)?;
    let experiment = source.experiments(&options.run)?.swap_remove(0);
    let limit = options.limits.time;
    let lab = Lab::new(&options.limits, &source.scratch, Progress::new(options.progress))?;
    let description = &source.description;
    let span = experiment.stop - experiment.start;
    let h = description.default_experiment.step_size.filter(|&h| h > 0.0).unwrap_or(span / 1000.0);
    let start = experiment.start;
    let mut study = Study {
        interface: source.interface(),
        experiment,
        h,
        declared: source.declared(),
        grid: (1..=20).map(|i| start + i as f64 * span / 20.0).collect(),
        samples: 8,
        tolerance: ACCURACY,
        patience: (0.5 * limit).min(10.0),
        missing_starts: Vec::new(),
        time_declared: source.time_declared(),
        thorough: true,
        given: true,
    };
    let studied = loop {
        lab.lacks().iter().for_each(|lack| lack.apply(&mut study.interface));
        match lab.study(study.clone()) {
            Err(_) if lab.lacking(&study.interface) => {}
            answer => break answer?,
        }
    };
    let interface = study.interface;
    lab.finish();
    let n = interface.state_names.len();
    let entries = studied.entries.iter().map(|&(row, col, constant)| {
        (row as usize, col as usize, if constant { Variation::Constant } else { Variation::Varying })
    });
    let pattern = Pattern::new(n, entries);
    let samples: Vec<Vec<f64>> = studied.samples.iter().map(|sample| sample.jacobian.clone()).collect();
    let (all, none) = (vec![true; pattern.len()], vec![false; pattern.len()]);
    let (jacobian, elimination) = plan_parts(&pattern, &all, &none, h, &samples);
    let operations = lu::operations(&elimination);
    let names = &interface.state_names;
    let mut tear_names = Vec::new();
    let mut position = elimination.explicit as usize;
    for block in &elimination.blocks {
        let end = position + block.size as usize;
        let tears = &elimination.order[end - block.tears as usize..end];
        tear_names.extend(tears.iter().map(|&state| names[state as usize].clone()));
        position = end;
    }
    let block_sizes: Vec<usize> = elimination.blocks.iter().map(|block| block.size as usize).collect();
    let largest_block = block_sizes.iter().copied().max().unwrap_or(0);
    let mut first = elimination.explicit as usize;
    let mut largest_block_names = Vec::new();
    for &size in &block_sizes {
        if size == largest_block && largest_block_names.is_empty() {
            let states = &elimination.order[first..first + size];
            largest_block_names = states.iter().map(|&state| names[state as usize].clone()).collect();
        }
        first += size;
    }
    let suggested_slow = if largest_block >= WORTH_BREAKING { suggest(&pattern, names) } else { None };
    if let Some(drawing) = drawing {
        let picture = draw::svg(&description.model_name, &pattern, &elimination, names);
        outputs.write(drawing, picture.as_bytes())?;
    }
    outputs.commit()?;
    let picture = draw::text_before(&pattern, names)
        .zip(draw::text(&pattern, &elimination, names))
        .map(|(before, after)| format!("in the model's order:\n{before}\nin order of solution:\n{after}"));
    let causality = |wanted| description.variables.iter().filter(|v| v.causality == wanted).count();
    let found = findings(&studied, names).into_iter();
    let warnings = found.chain(repairs(&description.warnings)).collect();
    Ok(Inspection {
        model: description.model_name.clone(),
        generation_tool: description.generation_tool.clone().unwrap_or_default(),
        states: n,
        event_indicators: description.number_of_event_indicators,
        inputs: causality(model_description::Causality::Input),
        outputs: causality(model_description::Causality::Output),
        variables: description.variables.len(),
        nonzeros: pattern.len(),
        constant_nonzeros: studied.entries.iter().filter(|entry| entry.2).count(),
        blocks: elimination.blocks.len(),
        largest_block,
        tears: tear_names.len(),
        tear_names,
        colours: jacobian.colours.len(),
        undeclared_rows: studied.structure.undeclared,
        operations_per_step: operations.refactor + operations.solve,
        evaluations_per_step: 1.0 + jacobian.colours.len() as f64,
        evaluation_time_ns: studied.prices.evaluation() * 1e9,
        provides_directional_derivative: interface.provides_directional_derivative,
        can_get_and_set_fmu_state: interface.can_get_and_set_state,
        default_step: description.default_experiment.step_size,
        feedthrough: source.feedthrough(),
        block_sizes,
        largest_block_names,
        suggested_slow,
        cut: cut(&pattern, names, &samples, h),
        warnings,
        picture: picture.filter(|_| n > 0),
    })
}

/// The state whose row breaks most of the largest loop, if it breaks anything.
fn suggest(pattern: &Pattern, names: &[String]) -> Option<Suggestion> {
    let slow = suggest_slow_row(pattern)?;
    let keep: Vec<bool> = pattern.places().map(|(row, _)| row != slow).collect();
    let largest = |pattern: &Pattern| components(pattern).iter().map(Vec::len).max().unwrap_or(0);
    let largest_block = largest(&pattern.mask(&keep));
    (largest_block < largest(pattern)).then(|| Suggestion { name: names[slow].clone(), largest_block })
}

/// The most even cut of one coupling that leaves two parts of some size. `samples`: Jacobians along the run, aligned with the pattern.
fn cut(pattern: &Pattern, names: &[String], samples: &[Vec<f64>], h: f64) -> Option<Cut> {
    let edges: Vec<(usize, usize)> = pattern.places().collect();
    let best = *bridges(pattern.n(), &edges).first()?;
    let parts = [best.component - best.side, best.side];
    let is_worth = parts.iter().all(|&part| part >= WORTH_BREAKING);
    is_worth.then(|| Cut {
        names: [best.a, best.b].map(|state| names[state].clone()),
        parts,
        contraction: contraction(pattern, best, samples, h),
    })
}

fn contraction(pattern: &Pattern, bridge: Bridge, samples: &[Vec<f64>], h: f64) -> Option<f64> {
    let n = pattern.n();
    if n > DENSE {
        return None;
    }
    // Which states hang on b's end.
    let couplings = pattern.transpose();
    let mut side = vec![0; n];
    let mut open = vec![bridge.b];
    side[bridge.b] = 1;
    while let Some(state) = open.pop() {
        for &next in pattern.row(state).iter().chain(couplings.row(state)) {
            let next = next as usize;
            if side[next] == 0 && (state, next) != (bridge.b, bridge.a) {
                side[next] = 1;
                open.push(next);
            }
        }
    }
    let radius = |sample: &Vec<f64>| {
        let mut jacobian = Mat::zeros(n, n);
        for ((row, col), &value) in pattern.places().zip(sample) {
            jacobian[(row, col)] = value;
        }
        Some(between_blocks(jacobian.as_ref(), h, &side).ok()?.radius)
    };
    samples.iter().filter_map(radius).max_by(f64::total_cmp)
}

impl Inspection {
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    pub fn text(&self) -> String {
        let mut lines = vec![
            format!("{} ({})", self.model, self.generation_tool),
            format!(
                "  {}, {}, {}, {}, {}",
                count(self.states, "continuous state"),
                count(self.event_indicators, "event indicator"),
                count(self.inputs, "input"),
                count(self.outputs, "output"),
                count(self.variables, "variable")
            ),
        ];
        if self.states > 0 {
            let how = match self.undeclared_rows {
                0 => "declared by the FMU and checked".into(),
                rows if rows == self.states => "not declared, found by probing".to_string(),
                rows => format!("declared and checked, but {rows} rows found by probing"),
            };
            lines.push(format!(
                "  Jacobian: {} of {} entries ({} constant), {how}",
                self.nonzeros,
                self.states * self.states,
                self.constant_nonzeros
            ));
            lines.push(format!(
                "  implicit step: {}, the largest of {}, {}{}; {} operations",
                count(self.blocks, "block"),
                count(self.largest_block, "state"),
                count(self.tears, "tear"),
                match self.tear_names.len() {
                    0 => String::new(),
                    1..=8 => format!(" ({})", self.tear_names.join(", ")),
                    _ => format!(" ({}, ...)", self.tear_names[..8].join(", ")),
                },
                self.operations_per_step
            ));
            lines.push(format!(
                "  evaluations: {} with a fresh Jacobian ({}), each {}",
                self.evaluations_per_step,
                count(self.colours, "colour"),
                quantity::format_duration(self.evaluation_time_ns * 1e-9)
            ));
        }
        if !self.feedthrough.is_empty() {
            let shown = self.feedthrough.iter().take(6).map(|(output, inputs)| match inputs {
                Some(inputs) => format!("{output} from {}", inputs.join(", ")),
                None => format!("{output} perhaps from any (not declared)"),
            });
            let more = if self.feedthrough.len() > 6 { "; ..." } else { "" };
            lines.push(format!("  direct feedthrough: {}{more}", shown.collect::<Vec<_>>().join("; ")));
        }
        let yes = |value: bool| if value { "yes" } else { "no" };
        lines.push(format!(
            "  directional derivatives: {}; saves its state: {}",
            yes(self.provides_directional_derivative),
            yes(self.can_get_and_set_fmu_state)
        ));
        if let Some(slow) = &self.suggested_slow {
            lines.push(format!(
                "  suggestion: with {} slow (--slow '{}') the largest block has {} instead of {}; a build tells whether \
                 that is stable",
                slow.name,
                slow.name,
                count(slow.largest_block, "state"),
                self.largest_block
            ));
        }
        if let Some(Cut { names: [a, b], parts: [first, second], contraction }) = &self.cut {
            lines.push(format!(
                "  cut: {a} and {b} alone couple a part of {} with one of {}: where a model may be split over two FMUs{}",
                count(*first, "state"),
                count(*second, "state"),
                match contraction {
                    Some(factor) if *factor < 1.0 =>
                        format!("; iterating between them multiplies an error by {factor:.2} each time"),
                    Some(factor) => format!("; iterating between them diverges (factor {factor:.2})"),
                    None => String::new(),
                }
            ));
        }
        if let Some(picture) = &self.picture {
            lines.push(format!("\n{}", picture.trim_end()));
        }
        lines.join("\n")
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// A chain of n = 2m states, x_i' = c (x_{i-1} - 2 x_i + x_{i+1}), cut in the middle: with B = tridiag(-hc, 1 + 2hc, -hc) of order m an
    /// error e beside the cut comes back as hc (B^-1)_mm e, which is the continued fraction f_m = hc / (1 + 2hc - hc f_{m-1}), f_0 = 0.
    /// A state apart, which the cut does not concern, changes nothing.
    #[test]
    fn the_contraction_of_a_chain_is_its_continued_fraction() {
        let (n, h) = (8, 0.1);
        let neighbours = |i: usize| i.saturating_sub(1)..(i + 2).min(n);
        let entries: Vec<_> =
            (0..n).flat_map(|i| neighbours(i).map(move |j| (i, j))).chain([(n, n)]).collect();
        let pattern = Pattern::varying(n + 1, entries);
        let names: Vec<String> = (0..=n).map(|i| format!("x{i}")).collect();
        let sample = |c: f64| {
            let value = |(i, j): (usize, usize)| if i == j { -2.0 * c } else { c };
            pattern.places().map(value).collect::<Vec<f64>>()
        };
        let fraction = |c: f64| (0..n / 2).fold(0.0, |f, _| h * c / (1.0 + 2.0 * h * c - h * c * f));
        let found = cut(&pattern, &names, &[sample(1.0), sample(30.0), sample(5.0)], h).unwrap();
        assert_eq!((found.names, found.parts), (["x3".into(), "x4".into()], [4, 4]));
        let (factor, expected) = (found.contraction.unwrap(), fraction(30.0));
        assert!((factor - expected).abs() < 1e-9, "{factor} and {expected}");
    }
}
