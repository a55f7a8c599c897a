//! The table at the top of the page: what a step costs, how wrong it is, why it is stable.

use super::escape;
use super::text::{grouped, percent};
use crate::quantity::format_duration;
use crate::summary::{Mark, Summary, count, trim};
use std::fmt::Write;

pub fn key_figures(out: &mut String, summary: &Summary) {
    out.push_str("<section id=\"figures\">\n<div class=\"tiles\">\n");
    let mut tile = |value: String, label: &str| {
        let class = if label.starts_with("largest error") && summary.verdict.accuracy.mark == Mark::Missed {
            "tile missed"
        } else {
            "tile"
        };
        let _ = writeln!(
            out,
            "<div class=\"{class}\"><span class=\"value\">{value}</span><span class=\"label\">{label}</span></div>"
        );
    };
    tile(format_duration(summary.step), "communication step");
    if summary.states > 0 {
        tile(trim(summary.evaluations_per_step), "evaluations of the model per internal step");
        tile(grouped(summary.operations_per_step), "operations of the solver per internal step");
    }
    let accuracy = &summary.verdict.accuracy;
    match (&accuracy.given, &accuracy.invented) {
        (Some(error), _) if accuracy.moved.given => tile(percent(error.value), "largest error"),
        // An error of zero of what stands still is none.
        (_, Some(error)) if accuracy.moved.invented => {
            tile(percent(error.value), "largest error, on invented runs alone")
        }
        _ => {}
    }
    match (summary.longest_step_ns, summary.spectral_radius) {
        (Some(time), _) => tile(format_duration(time * 1e-9), "longest step without events, by its bound"),
        (None, Some(radius)) => {
            tile(format!("{radius:.4}"), "largest amplification of a disturbance by one step")
        }
        _ => {}
    }
    out.push_str("</div>\n<h2>Key figures</h2>\n<div class=\"scroll\"><table class=\"facts\"><tbody>\n");
    let mut row = |name: &str, value: String, why: String| {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{name}</th><td class=\"number\">{value}</td><td class=\"why\">{}</td></tr>",
            escape(&why)
        );
    };
    row("Communication step", format_duration(summary.step), summary.step_reason.clone());
    if summary.substeps > 1 {
        let inside = format_duration(summary.step / summary.substeps as f64);
        row("Internal step", inside, format!("{} in each communication step", summary.substeps));
    }
    if summary.states > 0 {
        row(
            "Implicit states",
            format!("{} of {}", summary.implicit_states, summary.states),
            summary.partition.clone(),
        );
        row(
            "Jacobian entries kept",
            format!("{} of {}", summary.kept_nonzeros, summary.nonzeros),
            match summary.implicit_states {
                0 => "none is needed".into(),
                _ => summary.jacobian_text(),
            },
        );
        row(
            "Evaluations per internal step",
            trim(summary.evaluations_per_step),
            match summary.evaluation_time_ns {
                Some(time) => format!("calls of fmi2GetDerivatives, {} each", format_duration(time * 1e-9)),
                None => "calls of fmi2GetDerivatives".into(),
            },
        );
        if summary.evaluations_for_outputs > 0.0 {
            row(
                "Evaluations for outputs",
                trim(summary.evaluations_for_outputs),
                "more in a communication step after which outputs are read: time or inputs go on before the next step begins".into(),
            );
        }
        if summary.evaluations_worst_step > summary.evaluations_per_step {
            row(
                "Evaluations, worst internal step",
                trim(summary.evaluations_worst_step),
                "without events, when the step is done again with a new Jacobian".into(),
            );
        }
        row(
            "Operations per internal step",
            grouped(summary.operations_per_step),
            match summary.implicit_states {
                0 => "no equation is solved".into(),
                _ => format!(
                    "multiply-adds and divisions: {}, the largest of {}, {}",
                    count(summary.blocks, "block"),
                    count(summary.largest_block, "state"),
                    count(summary.tears, "tear")
                ),
            },
        );
    }
    if let Some(error) = summary.error {
        row(
            "Error",
            if accuracy.moved.given { percent(error) } else { "–".into() },
            format!(
                "root mean square of the deviation from an accurate solution, of the range; {} compared",
                count(summary.figures.compared, summary.figures.noun)
            ),
        );
    }
    if let Some(peak) = summary.errors.iter().max_by(|a, b| a.peak.total_cmp(&b.peak)) {
        row(
            "Largest deviation",
            percent(peak.peak),
            format!("of the range at a single point: {} at t = {} s", peak.name, peak.peak_time),
        );
    }
    if let Some(estimate) = &summary.error_estimate {
        row(
            "Error at run time",
            "fmuBuild.error".into(),
            format!(
                "told by {}; {}",
                match estimate.source {
                    "twin" => format!(
                        "a twin of {} in a communication step, a third of the evaluations",
                        count(estimate.substeps as usize, "internal step")
                    ),
                    _ => "what the steps’ own estimates add up to, calibrated on the verified runs".into(),
                },
                match (estimate.least_ratio, estimate.largest_ratio) {
                    (Some(least), Some(largest)) => format!(
                        "{least:.2} to {largest:.2} times the error on the verified runs that have one worth telling"
                    ),
                    _ => "no verified run has an error worth telling".into(),
                }
            ),
        );
    }
    if summary.explored.scenarios > 0 {
        row(
            "Error on invented runs",
            summary.explored.error.map_or("–".into(), percent),
            format!(
                "the largest over {}; the fully implicit Euler step with a fresh Jacobian has {}",
                count(summary.explored.scenarios, "run"),
                summary.explored.fresh_error.map_or("–".into(), percent)
            ),
        );
    }
    if !summary.ranges.is_empty() && summary.explored.scenarios > 0 {
        row("Inputs on invented runs", count(summary.ranges.len(), "range"), summary.ranges.join("; "));
    }
    if let (Some(time), Some(share)) = (summary.longest_step_ns, summary.longest_step_share) {
        row(
            "Longest step",
            format_duration(time * 1e-9),
            format!(
                "without events, by the plan’s bound and the dearest calls that were measured: {} of the communication step",
                percent(share)
            ),
        );
    }
    if let Some(watch) = &summary.watch {
        row(
            "Watch",
            percent(watch.threshold),
            format!(
                "of a state’s size: what a step may miss because of its Jacobian; beyond it {}. In the verified run: {} renewed, {} beyond",
                if watch.acts { "the step is done again with a new one" } else { "it is reported" },
                watch.renewals,
                watch.outside
            ),
        );
    }
    if let Some(radius) = summary.spectral_radius {
        row(
            "Largest amplification",
            format!("{radius:.6}"),
            format!(
                "of a small disturbance by one step, with the mask and the Jacobian of this plan, over {}; up to 1 is stable. {} at {} lengths \
                 of the step",
                count(summary.samples, "sample"),
                summary.certificate.stability.text(),
                summary.certificate.lengths.len()
            ),
        );
    }
    certificate_rows(&mut row, summary);
    if summary.event_indicators > 0 || summary.events > 0 {
        row(
            "Events",
            grouped(summary.events),
            format!("in that run; the model has {}", count(summary.event_indicators, "event indicator")),
        );
    }
    row("Verified on", summary.verified_on.into(), format!("platforms: {}", summary.platforms_text()));
    if let Some(time) = summary.step_time_ns {
        let seconds = |time: f64| format_duration(time * 1e-9);
        row(
            "Step time, median",
            seconds(time.p50),
            "measured in the trial run on the machine that built the FMU".into(),
        );
        row("Step time, 99.9 % below", seconds(time.p99_9), String::new());
        row(
            "Step time, longest",
            seconds(time.max),
            format!("{} of the communication step", percent(time.max * 1e-9 / summary.step)),
        );
    }
    out.push_str("</tbody></table></div>\n</section>\n");
}

/// What was dropped, and what that does to the step's eigenvalues.
fn certificate_rows(row: &mut impl FnMut(&str, String, String), summary: &Summary) {
    let certificate = &summary.certificate;
    if let Some(mode) = &certificate.worst_mode {
        row(
            "Mode nearest to growing",
            format!("{:.6}", mode.amplification),
            format!(
                "its amplification by one step; eigenvalue {}, seen in {}",
                match mode.im {
                    0.0 => format!("{:.4} 1/s", mode.re),
                    im => format!("{:.4} ± {im:.4}i 1/s", mode.re),
                },
                if mode.states.is_empty() { "no single state".into() } else { mode.states.join(", ") }
            ),
        );
    }
    if let Some(mode) = &certificate.alternating_mode {
        row(
            "Mode that alternates",
            format!("{:.4} ± {:.4}i", mode.re, mode.im),
            format!(
                "what one step multiplies it by, where the full step has no mode near the negative axis: it changes its sign from step to step; seen in {}",
                if mode.states.is_empty() { "no single state".into() } else { mode.states.join(", ") }
            ),
        );
    }
    if summary.kept_nonzeros < summary.nonzeros {
        if let (Some(d1), Some(d2)) = (certificate.d1, certificate.d2) {
            row(
                "Shift of the spectrum, d₁ and d₂",
                format!("{d1:.4}, {d2:.4}"),
                certificate.shift_bound.map_or(String::new(), |bound| {
                    format!(
                        "by what was dropped; a damped mode needs {bound:.4} to reach the stability border{}",
                        match (d1.max(d2) > bound, certificate.shifts_far()) {
                            (false, _) => "",
                            (true, None) => ". BEYOND, but the eigenvalues themselves moved little",
                            (true, Some(_)) => ". BEYOND: see the warning",
                        }
                    )
                }),
            );
        }
        if let Some(ratio) = certificate.acceptance {
            let beyond = if ratio > 1.0 { ". BEYOND: some mode behaves otherwise" } else { "" };
            let why = format!(
                "largest shift of an eigenvalue, of what Schiela’s (5.1) grants at ρ = 0.1; up to 1, no mode behaves otherwise than in the full step{beyond}"
            );
            row("Acceptance", format!("{ratio:.3}"), why);
        }
        if let Some(text) = certificate.margin_text() {
            row("Step margin", format!("{}", certificate.step_margin.unwrap_or(1.0)), text);
        }
    }
    if let Some(text) = summary.saving_text() {
        let full = certificate.fully_implicit;
        row("Without mixed mode", format!("{} entries", full.kept_nonzeros), text);
    }
}
