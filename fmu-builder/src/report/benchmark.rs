//! The page of `fmu-build bench --report`: quantiles and a histogram.

use super::text::grouped;
use super::{escape, opening, plot};
use crate::bench::Benchmark;
use crate::quantity::format_duration;
use crate::warning::Warning;
use std::fmt::Write;

/// One self-contained page.
pub fn benchmark(found: &Benchmark) -> String {
    let mut out = opening(&found.model);
    let duration = |ns: f64| format_duration(ns * 1e-9);
    let _ = writeln!(
        out,
        "<header>\n<p class=\"kicker\">Step time of a real-time Co-Simulation FMU</p>\n<h1>{}</h1>\n<p class=\"sub\">{} steps of {}, \
         through the C interface, on the machine that made this page.</p>\n</header>\n<div class=\"scroll\"><table><tbody>",
        escape(&found.model),
        grouped(found.steps as u64),
        format_duration(found.step)
    );
    let mut row = |name: &str, value: String, why: String| {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{name}</th><td class=\"number\">{value}</td><td class=\"why\">{}</td></tr>",
            escape(&why)
        );
    };
    row("Median", duration(found.step_time_ns.p50), String::new());
    row("99 % below", duration(found.p99), String::new());
    row("99.9 % below", duration(found.step_time_ns.p99_9), String::new());
    row("Longest", duration(found.step_time_ns.max), format!("step {}", found.worst_step));
    row("Missed deadlines", grouped(found.overruns as u64), format_duration(found.deadline));
    if let (Some(time), Some(ratio)) = (found.evaluation_time_ns, found.step_to_evaluation) {
        row(
            "Evaluation of the model",
            duration(time),
            format!("an undisturbed step takes as long as {ratio:.2} of them"),
        );
    }
    if let Some(allocations) = found.allocations {
        row("Requests for memory", grouped(allocations), "of the runtime, in 1000 steps".into());
    }
    if let Some(audit) = &found.audit {
        let steps = format!("of the model inside, in {} steps", grouped(audit.found.steps));
        match audit.verdict.is_empty() {
            true => row("Forbidden in real time", "nothing".into(), steps),
            false => row("Forbidden in real time", audit.verdict.len().to_string(), audit.verdict.join("; ")),
        }
        if !audit.found.uncounted.is_empty() {
            row("Not counted", String::new(), audit.found.uncounted.join("; "));
        }
    }
    row(
        "Scheduler",
        found.scheduler.into(),
        found.warnings.iter().map(Warning::to_string).collect::<Vec<_>>().join("; "),
    );
    let weighed: Vec<(f64, f64)> = found.sorted.iter().map(|&time| (time, 1.0)).collect();
    let _ = write!(
        out,
        "</tbody></table></div>\n<section>\n<h2>Histogram</h2>\n<p>Both axes are logarithmic.</p>\n<div class=\"plots\"><figure>{}\
         </figure></div>\n</section>\n<footer>Made by fmu-build {}.</footer>\n</body>\n</html>\n",
        plot::histogram(&weighed, found.deadline, "the deadline"),
        env!("CARGO_PKG_VERSION")
    );
    out
}
