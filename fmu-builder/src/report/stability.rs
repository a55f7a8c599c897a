//! Eigenvalues of the model, amplification of the step, and what time constants tell of both.

use super::figures::Spectrum;
use super::plot;
use super::text::significant;
use crate::quantity::format_duration;
use crate::summary::{Summary, count};
use std::fmt::Write;

pub(super) fn stability(out: &mut String, summary: &Summary) {
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
    out.push_str("<div class=\"scroll\"><table class=\"facts\"><tbody>\n");
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
