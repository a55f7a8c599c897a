//! The plans that were tried: what each costs, how wrong it is on given and invented runs, and why it lost.

use super::cost_plot;
use super::text::{grouped, percent};
use crate::decide::Trial;
use crate::structure::draw::escape;
use crate::summary::trim;
use std::fmt::Write;

pub(super) fn trials(out: &mut String, trials: &[Trial]) {
    out.push_str("<section id=\"trials\">\n<h2>What was tried</h2>\n");
    if trials.is_empty() {
        out.push_str("<p>There was nothing to choose.</p>\n</section>\n");
        return;
    }
    out.push_str(
        "<p>Plans in the order in which they were considered, run with the code that is in the FMU and compared with the accurate \
         solution. The cheapest on average wins that keeps two thirds of the tolerance on all runs, of those within 15 % of each other the most accurate; where its longest step \
         takes more than a tenth of the communication step, another one only if that is clearly better for it. Evaluations of the model and operations of the solver are those of an internal \
         step; the worst one is without events.</p>\n",
    );
    if let Some(plot) = cost_plot::error_against_cost(trials) {
        let _ = writeln!(
            out,
            "<div class=\"plots\"><figure>\n<figcaption><span class=\"name\">Error against cost</span></figcaption>\n{plot}</figure></div>"
        );
    }
    out.push_str(
        "<div class=\"scroll\"><table class=\"trials\"><thead><tr><th scope=\"col\">Method</th><th scope=\"col\">Implicit states</th><th scope=\"col\">Jacobian \
         renewed</th><th scope=\"col\" class=\"number\">Entries kept</th><th scope=\"col\" class=\"number\">Evaluations</th>\
         <th scope=\"col\" class=\"number\">Worst step</th><th scope=\"col\" class=\"number\">Operations</th>\
         <th scope=\"col\" class=\"number\">Error, given runs</th><th scope=\"col\" class=\"number\">Invented runs</th>\
         <th scope=\"col\">Why not</th></tr></thead>\n<tbody>\n",
    );
    for trial in trials {
        let shown = |error: Option<f64>| error.map_or("–".into(), percent);
        let (class, error) = match (&trial.failed, trial.error) {
            (None, None) if !trial.chosen => ("unused", "not needed".to_string()),
            (_, error) => ("", shown(error)),
        };
        let class = if trial.chosen { "chosen" } else { class };
        let _ = writeln!(
            out,
            "<tr{}><td>{}</td><td>{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td class=\"number\">{error}</td><td class=\"number\">{}</td><td class=\"failed\">{}</td></tr>",
            if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") },
            escape(&trial.method),
            escape(&trial.label),
            escape(&policy(&trial.policy)),
            grouped(trial.kept_nonzeros as u64),
            trim(trial.evaluations_per_step),
            trim(trial.evaluations_worst_step),
            grouped(trial.operations_per_step),
            shown(trial.explored_error),
            if trial.chosen { "✓ chosen".into() } else { why_not(trial) }
        );
    }
    out.push_str("</tbody></table></div>\n</section>\n");
}

/// Why another plan was chosen.
fn why_not(trial: &Trial) -> String {
    trial.lost.as_deref().map_or(String::new(), escape)
}

/// In words.
fn policy(name: &str) -> String {
    match name.split_once(' ') {
        Some(("rolling", "1")) => "1 colour each step, in turn".into(),
        Some(("rolling", colours)) => format!("{colours} colours each step, in turn"),
        _ if name == "every" => "every step".into(),
        _ if name == "frozen" => "at events".into(),
        _ if name == "watched" => "at events and when it has aged".into(),
        _ => name.into(),
    }
}
