//! The page of `fmu-build compare --report`: what differs on each run, and the trajectories.

use super::figures::{Curve, thin};
use super::text::percent;
use super::{escape, opening, plot};
use crate::compare::{ComparedRun, Comparison};
use crate::quantity::{format_duration, significant};
use std::fmt::Write;

/// Trajectories that are drawn of each run, worst first.
const PLOTS: usize = 8;

/// One self-contained page.
pub fn comparison(found: &Comparison) -> String {
    let mut out = opening(&found.model);
    let _ = writeln!(
        out,
        "<header>\n<p class=\"kicker\">Original and real-time FMU</p>\n<h1>{}</h1>\n<p class=\"sub\">{} against an accurate solution of \
         {}; a step of {}.</p>",
        escape(&found.model),
        found.built.as_deref().map_or("Simulated".into(), escape),
        escape(&found.original),
        format_duration(found.step)
    );
    if !found.failures.is_empty() {
        let _ = writeln!(out, "<div class=\"warnings\"><b>Beyond what was asked for</b>\n<ul>");
        for failure in &found.failures {
            let _ = writeln!(out, "<li>{}</li>", escape(failure));
        }
        out.push_str("</ul></div>\n");
    }
    for warning in found.warnings.iter() {
        let _ = writeln!(out, "<p>{}</p>", escape(&warning.to_string()));
    }
    out.push_str("</header>\n");
    for run in &found.runs {
        section(&mut out, run, found.built.is_some());
    }
    let _ =
        write!(out, "<footer>Made by fmu-build {}.</footer>\n</body>\n</html>\n", env!("CARGO_PKG_VERSION"));
    out
}

fn section(out: &mut String, run: &ComparedRun, two: bool) {
    let name = if run.inputs.is_empty() { "Without input signals" } else { &run.inputs };
    let _ = writeln!(out, "<section>\n<h2>{}</h2>\n<p>{}</p>", escape(name), escape(&run.headline()));
    if two {
        table(out, run);
    }
    let recorded = &run.recorded;
    let mut order: Vec<usize> = (0..recorded.names.len()).collect();
    let error = |i: usize| run.outputs.get(i).map(|output| output.rms);
    order.sort_by(|&a, &b| error(b).unwrap_or(0.0).total_cmp(&error(a).unwrap_or(0.0)));
    order.truncate(PLOTS);
    let built = if two { &recorded.built } else { &recorded.reference };
    out.push_str(
        "<p class=\"legend\"><span><i class=\"r\"></i>accurate solution</span><span><i></i>real-time FMU</span>\
         <span><i class=\"d\"></i>deviation</span></p>\n<div class=\"plots\">\n",
    );
    for &i in &order {
        let points = thin(i, &recorded.reference, built);
        let at = |rows: &[Vec<f64>]| -> Vec<f64> {
            points.iter().map_while(|&point| rows.get(point)?.get(i).copied()).collect()
        };
        let curve = Curve {
            name: recorded.names[i].clone(),
            unit: run.outputs.get(i).and_then(|output| output.unit.clone()),
            description: None,
            error: error(i),
            times: points.iter().map(|&point| recorded.times[point]).collect(),
            reference: at(&recorded.reference),
            built: at(built),
        };
        let _ = write!(
            out,
            "<figure>\n<figcaption><span class=\"name\">{}</span>{}</figcaption>\n{}</figure>\n",
            escape(&curve.name),
            curve.error.map_or(String::new(), |error| format!(
                "<span class=\"error\">error {}</span>",
                percent(error)
            )),
            plot::curve(&curve)
        );
    }
    out.push_str("</div>\n</section>\n");
}

fn table(out: &mut String, run: &ComparedRun) {
    out.push_str(
        "<div class=\"scroll\"><table class=\"trials\"><thead><tr><th scope=\"col\">Output</th><th scope=\"col\" class=\"number\">Error \
         (RMS)</th><th scope=\"col\" class=\"number\">Peak</th><th scope=\"col\" class=\"number\">at</th><th scope=\"col\" \
         class=\"number\">RMS in its unit</th><th scope=\"col\" class=\"number\">Peak in its unit</th><th></th></tr></thead>\n<tbody>\n",
    );
    for output in &run.outputs {
        let unit = output.unit.as_deref().map_or(String::new(), |unit| format!(" {}", escape(unit)));
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td class=\"number\">{}</td><td class=\"number\">{}</td><td class=\"number\">{} s</td>\
             <td class=\"number\">{}{unit}</td><td class=\"number\">{}{unit}</td><td class=\"failed\">{}</td></tr>",
            escape(&output.name),
            percent(output.rms),
            percent(output.peak),
            significant(output.peak_time),
            significant(output.rms_absolute),
            significant(output.peak_absolute),
            match (output.still, output.beyond.is_empty()) {
                (_, false) => escape(&output.beyond.join("; ")),
                (true, _) => "stands still".into(),
                _ => String::new(),
            }
        );
    }
    out.push_str("</tbody></table></div>\n");
    for output in &run.discrete {
        let _ = writeln!(
            out,
            "<p>{}: another value than the accurate solution for {} of the time, up to {} early or late.</p>",
            escape(&output.name),
            percent(output.share),
            format_duration(output.delay)
        );
    }
}
