//! What was decided, and why, as a page: inside the FMU without what was measured, beside it with everything.

use crate::decide::Decision;
use crate::summary::Summary;
use crate::worker::Studied;

/// `documentation/index.html` of the new FMU.
pub fn certificate(summary: &Summary, decision: &Decision) -> String {
    let still = Summary { step_time_ns: None, evaluation_time_ns: None, ..summary.clone() };
    page(&still, decision, "")
}

/// `--report`.
pub fn report(summary: &Summary, decision: &Decision, _studied: &Studied) -> String {
    page(summary, decision, "")
}

fn page(summary: &Summary, decision: &Decision, more: &str) -> String {
    let mut rows = String::new();
    for trial in &decision.trials {
        let error = match (&trial.failed, trial.error) {
            (Some(failed), _) => escape(failed),
            (None, Some(error)) => format!("{:.4} %", 100.0 * error),
            (None, None) => "not needed".into(),
        };
        rows += &format!(
            "<tr{}><td>{}</td><td>{}</td><td>{}</td><td>{:.2}</td><td>{}</td><td>{error}</td></tr>\n",
            if trial.chosen { " class=chosen" } else { "" },
            escape(&trial.label),
            trial.policy,
            trial.kept_nonzeros,
            trial.evaluations_per_step,
            trial.operations_per_step,
        );
    }
    format!(
        "<!DOCTYPE html>\n<html lang=en><meta charset=utf-8><title>{model}</title>\n<style>body{{font:15px/1.5 sans-serif;\
         max-width:60em;margin:2em auto;padding:0 1em}}table{{border-collapse:collapse}}td,th{{border:1px solid #ccc;\
         padding:.2em .6em;text-align:left}}.chosen{{background:#e6f4e6}}pre{{white-space:pre-wrap}}</style>\n\
         <h1>{model}</h1>\n<p>Real-time Co-Simulation FMU, made by fmu-build {version}.</p>\n<pre>{text}</pre>\n\
         <h2>What was tried</h2>\n<table><tr><th>rows<th>Jacobian<th>entries<th>evaluations<th>operations<th>error</tr>\n\
         {rows}</table>\n{more}</html>\n",
        model = escape(&summary.model),
        version = env!("CARGO_PKG_VERSION"),
        text = escape(&summary.text()),
    )
}

fn escape(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
