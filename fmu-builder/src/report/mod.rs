//! What was decided, and why, as a page: inside the FMU without what was measured, beside it with everything.
//!
//! One file without outside resources: readable offline, on paper, in light and dark. Every name comes from a
//! foreign FMU and is escaped.
//!
//! | file | idea |
//! |---|---|
//! | `verdict` | the box at the top: accurate, in time |
//! | `key_figures` | the table below it |
//! | `structure` | what is solved with what |
//! | `stability` | eigenvalues, amplification, time constants |
//! | `usage` | how to use the FMU, what it promises |
//! | `text` | numbers as people read them |
//! | `figures` | the data that is drawn, thinned |
//! | `interactive` | the same data for the script that picks, zooms and reads values |
//! | `trials` | the plans that were tried, and why each lost |
//! | `plot`, `cost_plot`, `estimate_plot`, `watch_plot` | charts as inline SVG |
//! | `benchmark` | the page of `fmu-build bench` |
//! | `comparison` | the page of `fmu-build compare` |
//! | `style.css` | colours, widths, paper |

mod benchmark;
mod comparison;
mod cost_plot;
mod estimate_plot;
pub mod figures;
mod interactive;
mod key_figures;
mod plot;
mod runs;
mod stability;
mod structure;
mod text;
mod trials;
mod usage;
mod verdict;
mod watch_plot;

use crate::decide::Decision;
use crate::quantity::format_duration;
use crate::structure::draw::escape;
use crate::summary::{Summary, count};
use std::fmt::Write;
use text::{capital, grouped, number, percent};

pub use benchmark::benchmark;
pub use comparison::comparison;
pub use figures::Figures;

/// Warnings that are listed before the rest is counted.
const WARNINGS: usize = 20;
/// Trajectories that are drawn, worst first; a reader can pick others.
const PLOTS: usize = 8;

/// `documentation/index.html` of the new FMU.
pub fn certificate(summary: &Summary, decision: &Decision) -> String {
    page(&summary.unmeasured(), decision, None)
}

/// `--report`.
pub fn report(summary: &Summary, decision: &Decision) -> String {
    page(summary, decision, Some(&decision.simulated.step_times))
}

fn page(summary: &Summary, decision: &Decision, step_times: Option<&[f64]>) -> String {
    let mut out = opening(&summary.model);
    headline(&mut out, summary);
    key_figures::key_figures(&mut out, summary);
    trajectories(&mut out, summary, decision);
    structure::structure(&mut out, summary, decision);
    stability::stability(&mut out, summary);
    trials::trials(&mut out, &decision.trials);
    if let Some(times) = step_times {
        step_time(&mut out, summary, times);
    }
    usage::usage(&mut out, summary, decision);
    let _ = write!(
        out,
        "<footer>Made by fmu-build {}{}. Platforms: {}.{}</footer>\n{}</body>\n</html>\n",
        env!("CARGO_PKG_VERSION"),
        match summary.generation_tool.as_str() {
            "" => String::new(),
            tool => format!(" from a Model-Exchange FMU of {}", escape(tool)),
        },
        escape(&summary.platforms_text()),
        match step_times {
            None => " The same figures for programs: <code>resources/certificate.json</code>.",
            Some(_) => " Computing times are of the machine that built it.",
        },
        // Not in the FMU: tools that show its page may run no scripts, and its size counts there.
        step_times.map_or(String::new(), |_| interactive::scripts(&summary.figures))
    );
    out
}

fn opening(model: &str) -> String {
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>{} – fmu-build</title>\n\
         <style>\n{}</style>\n</head>\n<body>\n",
        escape(model),
        include_str!("style.css")
    )
}

fn headline(out: &mut String, summary: &Summary) {
    let _ = write!(
        out,
        "<header>\n<p class=\"kicker\">Real-time Co-Simulation FMU</p>\n<h1>{}</h1>\n<p class=\"sub\">{}, {}, {}; a step of {}. {}.</p>\n",
        escape(&summary.model),
        capital(&count(summary.states, "continuous state")),
        count(summary.inputs, "input"),
        count(summary.outputs, "output"),
        format_duration(summary.step),
        escape(&capital(&summary.method_text())),
    );
    verdict::verdict(out, &summary.verdict);
    if !summary.warnings.is_empty() {
        let _ = writeln!(
            out,
            "<div class=\"warnings\"><b>{}</b>\n<ul>",
            capital(&count(summary.warnings.len(), "warning"))
        );
        for warning in summary.warnings.iter().take(WARNINGS) {
            let _ = writeln!(out, "<li>{}</li>", escape(&warning.to_string()));
        }
        if summary.warnings.len() > WARNINGS {
            let _ = writeln!(
                out,
                "<li>and {} more (all in <code>resources/certificate.json</code>)</li>",
                summary.warnings.len() - WARNINGS
            );
        }
        out.push_str("</ul></div>\n");
    }
    if summary.repairs.len() > 1 {
        let _ = writeln!(
            out,
            "<details><summary>{} on modelDescription.xml</summary>\n<ul>",
            capital(&count(summary.repairs.len(), "remark"))
        );
        for repair in &summary.repairs {
            let _ = writeln!(out, "<li>{}</li>", escape(repair));
        }
        out.push_str("</ul></details>\n");
    }
    out.push_str("</header>\n");
}

fn trajectories(out: &mut String, summary: &Summary, decision: &Decision) {
    let figures = &summary.figures;
    out.push_str("<section id=\"trajectories\">\n<h2>Trajectories</h2>\n");
    if figures.curves.is_empty() {
        out.push_str("<p>There is no continuous output or state to draw.</p>\n</section>\n");
        return;
    }
    let shown = match figures.compared.saturating_sub(PLOTS) {
        0 => String::new(),
        _ => format!(" The {PLOTS} with the largest errors of {}.", count(figures.compared, figures.noun)),
    };
    let _ = writeln!(
        out,
        "<p>{} with the code that is in the FMU, against an accurate solution of the same model. \
         The deviation below each curve is in the same unit.{shown}</p>\n\
         <p class=\"legend\"><span><i class=\"r\"></i>accurate solution</span><span><i></i>this FMU</span>\
         <span><i class=\"d\"></i>deviation</span></p>\n<div class=\"plots\">",
        match &figures.drawn {
            Some(name) =>
                format!("Nothing moves in the given run. This is an invented one, <b>{}</b>,", escape(name)),
            None => "The run that was verified,".into(),
        }
    );
    for (number, curve) in figures.curves.iter().take(PLOTS).enumerate() {
        let what = curve.description.as_deref().filter(|text| !text.is_empty());
        let _ = write!(
            out,
            "<figure data-curve=\"{number}\">\n<figcaption><span><span class=\"name\">{}</span>{}</span>{}</figcaption>\n{}</figure>\n",
            escape(&curve.name),
            what.map_or(String::new(), |what| format!(" <span class=\"what\">{}</span>", escape(what))),
            curve.error.map_or(String::new(), |error| format!(
                "<span class=\"error\">error {}</span>",
                percent(error)
            )),
            plot::curve(curve)
        );
    }
    out.push_str("</div>\n");
    estimate(out, summary);
    watch(out, summary, decision);
    runs::runs(out, summary);
    out.push_str("</section>\n");
}

/// The error of that run, and what the FMU says of it while it runs.
fn estimate(out: &mut String, summary: &Summary) {
    let Some(estimate) = &summary.error_estimate else { return };
    let (begin, end) = (summary.verified_from, number(summary.verified_to));
    let figures = &summary.figures;
    let plot = estimate_plot::error_and_estimate(
        &figures.errors_so_far,
        &figures.estimates,
        begin,
        end,
        summary.tolerance,
    );
    let Some(plot) = plot else { return };
    let runs = match (estimate.least_ratio, estimate.largest_ratio) {
        (Some(least), Some(largest)) => format!(
            " Over all runs whose error is above a tenth of the tolerance it says {least:.2} to {largest:.2} times the error."
        ),
        _ => String::new(),
    };
    let _ = writeln!(
        out,
        "<h3>What the FMU says of its error</h3>\n<p>{} tells the error while the FMU \
         runs: <code>fmuBuild.error</code>. Here it is beside the true one, each up to the point in time.{runs}</p>\n\
         <p class=\"legend\"><span><i class=\"r\"></i>error</span><span><i></i>fmuBuild.error</span></p>\n\
         <div class=\"plots\"><figure>\n{plot}</figure></div>",
        match estimate.source {
            "twin" => format!(
                "A twin, the same plan with {} in a communication step instead of {},",
                count(estimate.substeps as usize, "internal step"),
                summary.substeps
            ),
            _ => "What the steps’ own error estimates add up to, calibrated on the verified runs,".into(),
        }
    );
}

/// What the steps of that run missed because of their matrix.
fn watch(out: &mut String, summary: &Summary, decision: &Decision) {
    let Some(watch) = &summary.watch else { return };
    let (begin, end) = (summary.verified_from, number(summary.verified_to));
    let plot = watch_plot::defects_over_time(&decision.simulated.defects, begin, end, watch.threshold);
    let Some(plot) = plot else { return };
    let _ = writeln!(
        out,
        "<h3>The watch</h3>\n<p>What the steps of this run missed because their Jacobian is not that of the point where they are, in parts of the states’ sizes, summed since it was \
         taken.</p>\n<div class=\"plots\"><figure>\n{plot}</figure></div>"
    );
}

fn step_time(out: &mut String, summary: &Summary, sorted: &[f64]) {
    if sorted.is_empty() {
        return;
    }
    // A long run keeps the slowest steps and an even choice of the others (worker::simulate::thin).
    const SLOWEST: usize = 200;
    let steps =
        ((summary.verified_to - summary.verified_from) / summary.step).round().max(sorted.len() as f64);
    let others = sorted.len().saturating_sub(SLOWEST);
    let weight = if others == 0 { 1.0 } else { (steps - SLOWEST as f64).max(others as f64) / others as f64 };
    let weighed: Vec<(f64, f64)> =
        sorted.iter().enumerate().map(|(i, &time)| (time, if i < others { weight } else { 1.0 })).collect();
    let _ = writeln!(
        out,
        "<section id=\"steps\">\n<h2>Step time</h2>\n<p>Computing time of {} steps of the trial run, on the machine that built the \
         FMU, while it may have been busy with other things. Both axes are logarithmic. For a measurement on the target run \
         <code>fmu-build bench</code> there.</p>\n<div class=\"plots\"><figure>{}</figure></div>\n</section>",
        grouped(steps as u64),
        plot::histogram(&weighed, summary.step, "the step itself")
    );
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
