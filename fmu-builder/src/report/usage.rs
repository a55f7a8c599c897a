//! How to use the new FMU, what it promises and what it does not.

use super::escape;
use super::figures::Port;
use super::text::{count_of, grouped, number};
use crate::decide::{Decision, WorstStep};
use crate::quantity::format_duration;
use crate::summary::{Summary, count, trim};
use std::fmt::Write;

/// Inputs or diagnostics that are listed before the rest is counted.
const PORTS: usize = 24;

pub(super) fn usage(out: &mut String, summary: &Summary, decision: &Decision) {
    let plan = &decision.plan;
    let step = format_duration(summary.step);
    let _ = writeln!(
        out,
        "<section id=\"use\">\n<h2>How to use it</h2>\n<p>Import it as an FMI 2.0 Co-Simulation FMU and call <code>fmi2DoStep</code> \
         with a communication step of <b>{step}</b> (<code>{:e}</code> s), which is also in <code>DefaultExperiment</code>. \
         Another size is answered with equal internal steps not longer than {} and one warning. Everything is allocated \
         before the first step.</p>",
        summary.step,
        format_duration(plan.step.h)
    );
    let figures = &summary.figures;
    if let Some(page) = &figures.documentation {
        let _ = writeln!(
            out,
            "<p>The model’s own documentation is in <a href=\"{page}\"><code>documentation/{page}</code></a> of the FMU.</p>"
        );
    }
    if figures.inputs.is_empty() {
        out.push_str(
            "<p>The model has no inputs. All other variables keep their names and value references.</p>\n",
        );
    } else {
        out.push_str(
            "<h3>Inputs</h3>\n<p>Set them before each step. Continuous ones are held over the step, or extrapolated if their \
             derivative is given with <code>fmi2SetRealInputDerivatives</code>; a change of a discrete one is handled as an \
             event. All variables keep their names and value references.</p>\n",
        );
        ports(out, &figures.inputs);
    }
    if !figures.diagnostics.is_empty() {
        out.push_str("<h3>Diagnostics</h3>\n<p>Variables that were added; read them after a step.</p>\n");
        ports(out, &figures.diagnostics);
    }
    out.push_str("<div class=\"columns\">\n<div><h3>What is promised</h3>\n<ul>\n");
    let item = |out: &mut String, text: &str| {
        let _ = writeln!(out, "<li>{text}</li>");
    };
    item(out, "No iteration and no allocation in a step.");
    if summary.states > 0 {
        item(
            out,
            &format!(
                "At most {} and {} of the solver in every internal step without events, whatever the values.",
                count_of(summary.evaluations_worst_step, "evaluation"),
                match decision.cost.operations_worst_step {
                    1 => "1 operation".into(),
                    operations => format!("{} operations", grouped(operations)),
                }
            ),
        );
    }
    if summary.has_events() {
        let WorstStep { events, evaluations, evaluations_one_event, indicator_calls, operations, .. } =
            summary.worst_step;
        item(
            out,
            &format!(
                "At most {} in one communication step, each located in {} trials; more wait for the next step \
                 and are counted. So a step with one event takes at most {}, and no step more than {}, {} of the event indicators and {} operations.",
                count(events as usize, "event"),
                plan.events.bisections + 1,
                count_of(evaluations_one_event, "evaluation"),
                trim(evaluations),
                count(indicator_calls as usize, "reading"),
                grouped(operations),
            ),
        );
    }
    item(
        out,
        "A state that is not finite or explodes stops the step with an error that names it; the last good state is kept.",
    );
    out.push_str("</ul></div>\n<div><h3>What is not</h3>\n<ul>\n");
    if summary.error.is_some() {
        item(
            out,
            &format!(
                "The error holds for the run that was studied, t = {} … {} s with its start values and inputs. For others \
                 build with <code>--inputs</code>, <code>--set</code> and <code>--stop</code> as they will be.",
                summary.verified_from,
                number(summary.verified_to)
            ),
        );
    }
    if summary.states > 0 {
        item(
            out,
            &format!(
                "Stability was checked at {} of that run, not everywhere.",
                count(summary.samples, "point")
            ),
        );
        item(
            out,
            &format!(
                "The method is of order {}: oscillations that the step hardly resolves are {}.",
                summary.order,
                if summary.order == 1 { "damped" } else { "damped or shifted in time" }
            ),
        );
    }
    item(
        out,
        "Computing times depend on the machine, and on the model’s own code: it may iterate or allocate in an evaluation.",
    );
    out.push_str("</ul></div>\n</div>\n</section>\n");
}

fn ports(out: &mut String, ports: &[Port]) {
    out.push_str("<div class=\"scroll\"><table class=\"facts\"><tbody>\n");
    for port in ports.iter().take(PORTS) {
        let unit = port.unit.as_deref().filter(|unit| !unit.is_empty());
        let _ = writeln!(
            out,
            "<tr><td><code>{}</code></td><td class=\"soft\">{}{}</td><td class=\"why\">{}</td></tr>",
            escape(&port.name),
            escape(&port.kind),
            unit.map_or(String::new(), |unit| format!(", {}", escape(unit))),
            escape(&port.description)
        );
    }
    if ports.len() > PORTS {
        let _ = writeln!(
            out,
            "<tr><td class=\"soft\">and {} more</td><td></td><td></td></tr>",
            ports.len() - PORTS
        );
    }
    out.push_str("</tbody></table></div>\n");
}
