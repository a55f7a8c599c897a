//! The runs beside the one that is drawn: what was invented, and how the plan did there; outputs that are no Reals.

use super::text::percent;
use crate::quantity::format_duration;
use crate::structure::draw::escape;
use crate::summary::{Summary, count};
use std::fmt::Write;

pub fn runs(out: &mut String, summary: &Summary) {
    let shown = |error: Option<f64>| error.map_or("–".into(), percent);
    if !summary.explored.runs.is_empty() {
        out.push_str(
            "<h3>Invented runs</h3>\n<p>Nobody knows the bench’s inputs beforehand: the model was also driven by signals of the builder’s own, with \
             other parameters and from other start values. <i>Fresh</i> is the error of the fully implicit Euler step with a Jacobian of its own in \
             every step.</p>\n<div class=\"scroll\"><table class=\"runs\"><thead><tr><th scope=\"col\">Run</th><th scope=\"col\" class=\"number\">Error</th>\
             <th scope=\"col\">worst in</th><th scope=\"col\" class=\"number\">Fresh</th><th scope=\"col\" class=\"number\">Steps outside the plan</th>\
             </tr></thead>\n<tbody>\n",
        );
        for run in &summary.explored.runs {
            let _ = writeln!(
                out,
                "<tr><td>{}</td><td class=\"number\">{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td></tr>",
                escape(&run.name),
                shown(run.error),
                run.worst.as_deref().map_or("–".into(), escape),
                shown(run.fresh_error),
                run.outside
            );
        }
        out.push_str("</tbody></table></div>\n");
    }
    if !summary.discrete_errors.is_empty() {
        out.push_str(
            "<h3>Discrete outputs</h3>\n<div class=\"scroll\"><table><thead><tr><th scope=\"col\">Output</th><th scope=\"col\" \
             class=\"number\">Time with a wrong value</th><th scope=\"col\" class=\"number\">Longest delay of a switch</th><th scope=\"col\" \
             class=\"number\">On invented runs</th></tr></thead>\n<tbody>\n",
        );
        for output in &summary.discrete_errors {
            let _ = writeln!(
                out,
                "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}, {}</td></tr>",
                escape(&output.name),
                percent(output.share),
                delay(output.delay, output.delay_steps),
                percent(output.explored_share),
                delay(output.explored_delay, output.explored_delay_steps)
            );
        }
        out.push_str("</tbody></table></div>\n");
    }
}

/// In seconds and in steps.
fn delay(seconds: f64, steps: u64) -> String {
    match steps {
        0 => "none".into(),
        _ => format!("{} ({})", format_duration(seconds), count(steps as usize, "step")),
    }
}
