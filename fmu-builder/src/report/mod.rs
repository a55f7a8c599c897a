//! What was decided, and why, as a page: inside the FMU without what was measured, beside it with everything.
//!
//! One file without outside resources: readable offline, on paper, in light and dark. Every name comes from a
//! foreign FMU and is escaped.
//!
//! | file | idea |
//! |---|---|
//! | `key_figures` | the table at the top |
//! | `figures` | the data that is drawn, thinned |
//! | `plot` | charts as inline SVG |
//! | `benchmark` | the page of `fmu-build bench` |
//! | `style.css` | colours, widths, paper |

mod benchmark;
pub mod figures;
mod key_figures;
mod plot;

use crate::decide::{Decision, Trial, WorstStep};
use crate::quantity::format_duration;
use crate::structure::{Pattern, draw};
use crate::summary::{Summary, count, trim};
use figures::{Port, Spectrum};
use std::fmt::Write;

pub use benchmark::benchmark;
pub use figures::Figures;

/// Names, and warnings, that are listed before the rest is counted.
const NAMES: usize = 60;
const WARNINGS: usize = 20;
const PORTS: usize = 24;

/// `documentation/index.html` of the new FMU.
pub fn certificate(summary: &Summary, decision: &Decision) -> String {
    let still = Summary { step_time_ns: None, evaluation_time_ns: None, ..summary.clone() };
    page(&still, decision, None)
}

/// `--report`.
pub fn report(summary: &Summary, decision: &Decision) -> String {
    page(summary, decision, Some(&decision.simulated.step_times))
}

fn page(summary: &Summary, decision: &Decision, step_times: Option<&[f64]>) -> String {
    let mut out = opening(&summary.model);
    headline(&mut out, summary);
    key_figures::key_figures(&mut out, summary);
    trajectories(&mut out, summary);
    structure(&mut out, summary, decision);
    stability(&mut out, summary);
    trials(&mut out, &decision.trials);
    if let Some(times) = step_times {
        step_time(&mut out, summary, times);
    }
    usage(&mut out, summary, decision);
    let _ = write!(
        out,
        "<footer>Made by fmu-build {}{}.{}</footer>\n</body>\n</html>\n",
        env!("CARGO_PKG_VERSION"),
        match summary.generation_tool.as_str() {
            "" => String::new(),
            tool => format!(" from a Model-Exchange FMU of {}", escape(tool)),
        },
        match step_times {
            None => " The same figures for programs: <code>resources/certificate.json</code>.",
            Some(_) => " Computing times are of the machine that built it.",
        }
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
    let missed = summary.missed();
    let verdict = match summary.error {
        Some(error) => format!(
            "<b>{}</b> The largest error against the accurate solution is {} of the {}’s range{} (root mean square, \
             t = {} … {} s).",
            if missed { "The tolerance is missed." } else { "Within the tolerance." },
            percent(error),
            summary.figures.noun,
            match worst(summary) {
                Some(name) if error > 0.0 => format!(", in <code>{}</code>", escape(name)),
                _ => String::new(),
            },
            summary.verified_from,
            number(summary.verified_to),
        ),
        None => "<b>Built.</b> There is no continuous output or state to compare with an accurate solution."
            .into(),
    };
    let _ = writeln!(out, "<p class=\"verdict{}\">{verdict}</p>", if missed { " missed" } else { "" });
    if !summary.warnings.is_empty() {
        let _ = writeln!(
            out,
            "<div class=\"warnings\"><b>{}</b>\n<ul>",
            capital(&count(summary.warnings.len(), "warning"))
        );
        for warning in summary.warnings.iter().take(WARNINGS) {
            let _ = writeln!(out, "<li>{}</li>", escape(warning));
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
    out.push_str("</header>\n");
}

fn trajectories(out: &mut String, summary: &Summary) {
    let figures = &summary.figures;
    out.push_str("<section id=\"trajectories\">\n<h2>Trajectories</h2>\n");
    if figures.curves.is_empty() {
        out.push_str("<p>There is no continuous output or state to draw.</p>\n</section>\n");
        return;
    }
    let shown = match figures.compared - figures.curves.len() {
        0 => String::new(),
        _ => format!(
            " The {} with the largest errors of {}.",
            figures.curves.len(),
            count(figures.compared, figures.noun)
        ),
    };
    let _ = writeln!(
        out,
        "<p>The run that was verified, with the code that is in the FMU, against an accurate solution of the same model. \
         The deviation below each curve is in the same unit.{shown}</p>\n\
         <p class=\"legend\"><span><i class=\"r\"></i>accurate solution</span><span><i></i>this FMU</span>\
         <span><i class=\"d\"></i>deviation</span></p>\n<div class=\"plots\">"
    );
    for curve in &figures.curves {
        let what = curve.description.as_deref().filter(|text| !text.is_empty());
        let _ = write!(
            out,
            "<figure>\n<figcaption><span><span class=\"name\">{}</span>{}</span>{}</figcaption>\n{}</figure>\n",
            escape(&curve.name),
            what.map_or(String::new(), |what| format!(" <span class=\"what\">{}</span>", escape(what))),
            curve.error.map_or(String::new(), |error| format!(
                "<span class=\"error\">error {}</span>",
                percent(error)
            )),
            plot::curve(&figures.times, curve)
        );
    }
    out.push_str("</div>\n</section>\n");
}

fn structure(out: &mut String, summary: &Summary, decision: &Decision) {
    out.push_str("<section id=\"structure\">\n<h2>Structure</h2>\n");
    let (plan, names) = (&decision.plan, &decision.plan.states.names);
    let elimination = &plan.elimination;
    if names.is_empty() {
        out.push_str("<p>The model has no continuous states: there is nothing to solve.</p>\n</section>\n");
        return;
    }
    let kept = kept(decision);
    if summary.implicit_states == 0 {
        let _ = writeln!(
            out,
            "<p>No state is implicit: nothing is solved, and no entry of the Jacobian is needed.</p>"
        );
    } else {
        let _ = writeln!(
            out,
            "<p>Which derivative (row) is solved with which state (column): the kept entries in the model’s order, and in \
             the order in which a step solves them. Rows of a block are solved together; each block needs only those \
             before it. {} of the Jacobian are kept.</p>\n<div class=\"paper\">{}</div>",
            match (summary.kept_nonzeros, summary.nonzeros) {
                (kept, all) if kept == all => format!("All {} entries", grouped(all as u64)),
                (kept, all) => format!("{} of {} entries", grouped(kept as u64), grouped(all as u64)),
            },
            draw::svg("Kept entries of the Jacobian", &kept, elimination, names)
        );
    }
    let explicit = elimination.explicit as usize;
    let by_number = |states: &[u32]| {
        let mut states = states.to_vec();
        states.sort_unstable();
        states
    };
    let mut tears = Vec::new();
    let mut position = explicit;
    for block in &elimination.blocks {
        let end = position + block.size as usize;
        tears.extend_from_slice(&elimination.order[end - block.tears as usize..end]);
        position = end;
    }
    let mut list = |title: &str, states: &[u32], note: &str| {
        if !states.is_empty() {
            let _ = writeln!(
                out,
                "<div><h3>{title} ({})</h3>\n<p>{}</p>\n<p class=\"soft\">{note}</p></div>",
                states.len(),
                listed(states, names)
            );
        }
    };
    if summary.implicit_states > 0 {
        list(
            "Implicit states",
            &by_number(&elimination.order[explicit..]),
            "Fast for this step: their change is solved for, so that they stay stable.",
        );
    }
    list(
        "Explicit states",
        &by_number(&elimination.order[..explicit]),
        "Slow for this step: they move by their derivative alone, and the implicit ones see where to.",
    );
    list(
        "Tears",
        &tears,
        "Solved together as a small dense system; all others of their block follow by substitution.",
    );
    out.push_str("</section>\n");
}

/// The kept entries, as the plan has them.
fn kept(decision: &Decision) -> Pattern {
    let (jacobian, elimination) = (&decision.plan.jacobian, &decision.plan.elimination);
    let entries = elimination.entries.iter().chain(&elimination.outer).map(|&entry| entry as usize);
    let places = entries.map(|entry| (jacobian.rows[entry] as usize, jacobian.cols[entry] as usize));
    Pattern::varying(decision.plan.states.names.len(), places)
}

fn listed(states: &[u32], names: &[String]) -> String {
    let name = |state: &u32| names.get(*state as usize).map_or("?", String::as_str);
    let shown: Vec<String> =
        states.iter().take(NAMES).map(|state| format!("<code>{}</code>", escape(name(state)))).collect();
    match states.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

fn stability(out: &mut String, summary: &Summary) {
    out.push_str("<section id=\"stability\">\n<h2>Stability</h2>\n");
    if summary.states == 0 {
        out.push_str("<p>Without continuous states there is nothing that could grow.</p>\n</section>\n");
        return;
    }
    let Some(spectrum) = &summary.figures.spectrum else {
        let _ = writeln!(
            out,
            "<p>{} The eigenvalues are not drawn: {} are many.</p>\n</section>",
            match summary.spectral_radius {
                Some(radius) => format!(
                    "The largest amplification of a small disturbance by one step is {radius:.6} over {}; up to 1 is stable.",
                    count(summary.samples, "sample")
                ),
                None => "The trial run is the judge of stability.".into(),
            },
            count(summary.states, "state")
        );
        return;
    };
    let _ = writeln!(
        out,
        "<p>Left: the eigenvalues λ of the model’s full Jacobian at {} of the run, times the internal step h = {}. Inside the \
         green disc explicit Euler is stable{}. Right: the amplification factors μ of one step of this FMU. Inside the \
         circle a disturbance decays.</p>",
        count(spectrum.samples, "point"),
        format_duration(spectrum.h),
        if summary.implicit_states > 0 {
            "; what lies to the left of it is why states are implicit"
        } else {
            ""
        }
    );
    let _ = writeln!(
        out,
        "<div class=\"plots\">\n<figure>\n<figcaption><span class=\"name\">The model, h λ</span></figcaption>\n{}</figure>\n\
         <figure>\n<figcaption><span class=\"name\">One step, μ</span></figcaption>\n{}</figure>\n</div>\n\
         <p class=\"legend\"><span><i class=\"s\"></i>explicit Euler stable, |1 + h λ| ≤ 1; |μ| ≤ 1</span>\
         <span><i class=\"g\"></i>implicit Euler grows, |1/(1 − h λ)| &gt; 1</span></p>",
        plot::model_spectrum(spectrum),
        plot::step_spectrum(spectrum)
    );
    time_constants(out, spectrum);
    out.push_str("</section>\n");
}

fn time_constants(out: &mut String, spectrum: &Spectrum) {
    if spectrum.fastest.is_none() {
        out.push_str("<p>All eigenvalues are zero: the states only integrate.</p>\n");
        return;
    }
    out.push_str("<div class=\"scroll\"><table><tbody>\n");
    let mut row = |name: &str, value: String, why: String| {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{name}</th><td class=\"number\">{value}</td><td class=\"why\">{why}</td></tr>"
        );
    };
    let h = spectrum.h;
    if let Some(fastest) = spectrum.fastest {
        row(
            "Fastest time constant",
            format_duration(fastest),
            format!("1/|λ|; the step is {} times as long", significant(h / fastest)),
        );
    }
    if let Some(slowest) = spectrum.slowest.filter(|&slowest| Some(slowest) != spectrum.fastest) {
        let spread = spectrum.fastest.map_or(1.0, |fastest| slowest / fastest);
        row(
            "Slowest time constant",
            format_duration(slowest),
            format!("stiffness ratio {}", significant(spread)),
        );
    }
    if let Some(period) = spectrum.period {
        row(
            "Fastest oscillation",
            format_duration(period),
            format!("period; {} internal steps in each", significant(period / h)),
        );
    }
    let limit = spectrum.explicit_limit;
    if limit.is_finite() {
        row(
            "Explicit Euler up to",
            if limit > 0.0 { format_duration(limit) } else { "no step".into() },
            match limit {
                limit if limit <= 0.0 => "an oscillation without damping grows at any step".into(),
                limit if limit < h => format!(
                    "with all states explicit, stable only below this; the step is {} times as long",
                    significant(h / limit)
                ),
                _ => "the step is short enough for all states to be explicit".to_string(),
            },
        );
    }
    if spectrum.growing > 0 {
        row(
            "Growing modes",
            spectrum.growing.to_string(),
            "of the model itself, at some point of the run: their growth is no fault of the step".into(),
        );
    }
    out.push_str("</tbody></table></div>\n");
}

fn trials(out: &mut String, trials: &[Trial]) {
    out.push_str("<section id=\"trials\">\n<h2>What was tried</h2>\n");
    if trials.is_empty() {
        out.push_str("<p>There was nothing to choose.</p>\n</section>\n");
        return;
    }
    out.push_str(
        "<p>Plans that are stable at every sample, in the order in which they were considered, run with the code that is in the FMU and compared \
         with the accurate solution. The cheapest within the tolerance wins; of equally cheap ones the most accurate.</p>\n\
         <div class=\"scroll\"><table class=\"trials\"><thead><tr><th scope=\"col\">Implicit states</th><th scope=\"col\">Jacobian \
         renewed</th><th scope=\"col\" class=\"number\">Entries kept</th><th scope=\"col\" class=\"number\">Evaluations</th>\
         <th scope=\"col\" class=\"number\">Operations</th><th scope=\"col\" class=\"number\">Error</th><th></th></tr></thead>\n<tbody>\n",
    );
    for trial in trials {
        let (class, error, note) = match (&trial.failed, trial.error) {
            (Some(failed), _) => ("", "failed".to_string(), escape(failed)),
            (None, Some(error)) => ("", percent(error), String::new()),
            (None, None) if trial.chosen => ("", "–".to_string(), String::new()),
            (None, None) => ("unused", "not needed".to_string(), String::new()),
        };
        let class = if trial.chosen { "chosen" } else { class };
        let _ = writeln!(
            out,
            "<tr{}><td>{}</td><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td>\
             <td class=\"number\">{}</td><td class=\"number\">{error}</td><td class=\"failed\">{}</td></tr>",
            if class.is_empty() { String::new() } else { format!(" class=\"{class}\"") },
            escape(&trial.label),
            escape(&policy(&trial.policy)),
            grouped(trial.kept_nonzeros as u64),
            trim(trial.evaluations_per_step),
            grouped(trial.operations_per_step),
            if trial.chosen { "✓ chosen" } else { &note }
        );
    }
    out.push_str("</tbody></table></div>\n</section>\n");
}

/// In words.
fn policy(name: &str) -> String {
    match name.split_once(' ') {
        Some(("rolling", colours)) => format!("{colours} colour each step, in turn"),
        _ if name == "every" => "every step".into(),
        _ if name == "frozen" => "at events".into(),
        _ => name.into(),
    }
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

fn usage(out: &mut String, summary: &Summary, decision: &Decision) {
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
    if figures.has_documentation {
        out.push_str("<p>The model’s own documentation is in <a href=\"model.html\"><code>documentation/model.html</code></a> of the FMU.</p>\n");
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
                "{} and {} of the solver in every internal step, whatever the values.",
                count_of(summary.evaluations_per_step, "evaluation"),
                match summary.operations_per_step {
                    1 => "1 operation".into(),
                    operations => format!("{} operations", grouped(operations)),
                }
            ),
        );
    }
    if summary.has_events() {
        let WorstStep { events, evaluations, indicator_calls, operations } = summary.worst_step;
        item(
            out,
            &format!(
                "At most {} in one communication step, each located by {} halvings of the step; more wait for the next step \
                 and are counted. So no step takes more than {}, {} of the event indicators and {} operations.",
                count(events as usize, "event"),
                plan.events.bisections,
                count_of(evaluations, "evaluation"),
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
        item(out, "The method is of order 1: oscillations that the step hardly resolves are damped.");
    }
    item(
        out,
        "Computing times depend on the machine, and on the model’s own code: it may iterate or allocate in an evaluation.",
    );
    out.push_str("</ul></div>\n</div>\n</section>\n");
}

fn ports(out: &mut String, ports: &[Port]) {
    out.push_str("<div class=\"scroll\"><table><tbody>\n");
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

fn worst(summary: &Summary) -> Option<&str> {
    let worst = summary.errors.iter().max_by(|a, b| a.error.total_cmp(&b.error))?;
    Some(&worst.name)
}

use draw::escape;

/// Three significant digits.
fn percent(share: f64) -> String {
    format!("{} %", significant(100.0 * share))
}

/// Three significant digits, without exponent where people would write none.
fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let exponent = value.abs().log10().floor() as i32;
    match exponent {
        -4..=-1 => trim_zeros(format!("{value:.*}", (2 - exponent) as usize)),
        0..=2 => trim_zeros(format!("{value:.*}", (2 - exponent).max(0) as usize)),
        3..=5 => grouped(value.round() as u64),
        _ => {
            let mantissa = trim_zeros(format!("{:.1}", value / 10f64.powi(exponent)));
            format!("{mantissa}·10{}", plot::superscript(exponent))
        }
    }
}

fn trim_zeros(text: String) -> String {
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

/// A time on the grid, without the noise of its last digits.
fn number(value: f64) -> f64 {
    format!("{value:.9e}").parse().unwrap_or(value)
}

/// 12345678 as 12 345 678, with narrow spaces that do not break.
fn grouped(value: u64) -> String {
    let digits = value.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) && digits.len() > 4 {
            out.push('\u{202f}');
        }
        out.push(digit);
    }
    out
}

fn count_of(value: f64, noun: &str) -> String {
    format!("{} {noun}{}", trim(value), if value == 1.0 { "" } else { "s" })
}

fn capital(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or(String::new(), |first| first.to_uppercase().chain(rest).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
