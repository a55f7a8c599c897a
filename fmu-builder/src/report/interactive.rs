//! What lets a reader pick outputs, zoom into a run and read values: the curves as data, and a script on the page.
//!
//! The page is whole without it. It needs no server and loads nothing.

use super::figures::Figures;
use super::plot::{FRAME, Frame, time_unit};
use super::text::percent;
use serde::Serialize;

#[derive(Serialize)]
struct Data<'a> {
    frame: Frame,
    time: Time,
    curves: Vec<Series<'a>>,
}

/// Seconds times `factor` are in `unit`.
#[derive(Serialize)]
struct Time {
    factor: f64,
    unit: &'static str,
}

#[derive(Serialize)]
struct Series<'a> {
    name: &'a str,
    unit: &'a str,
    description: &'a str,
    error: String,
    time: Vec<f64>,
    /// Not a number, and the end of a run that ended early: null.
    accurate: Vec<Option<f64>>,
    deviation: Vec<Option<f64>>,
}

/// Two script elements: the data and what works on it. Nothing if there is no curve.
pub fn scripts(figures: &Figures) -> String {
    let Some(first) = figures.curves.first() else { return String::new() };
    let (factor, unit) = time_unit(&first.times);
    let curves = figures.curves.iter().map(|curve| Series {
        name: &curve.name,
        unit: curve.unit.as_deref().filter(|unit| *unit != "1").unwrap_or(""),
        description: curve.description.as_deref().unwrap_or(""),
        error: curve.error.map_or(String::new(), percent),
        time: curve.times.iter().map(|&time| rounded(time, 9)).collect(),
        accurate: curve.reference.iter().map(|&value| finite(value, 7)).collect(),
        // The difference of rounded values would be rounding.
        deviation: curve.built.iter().zip(&curve.reference).map(|(b, r)| finite(b - r, 4)).collect(),
    });
    let data = Data { frame: FRAME, time: Time { factor, unit }, curves: curves.collect() };
    // A name could end the script element.
    let data = serde_json::to_string(&data).unwrap_or_default().replace('<', "\\u003c");
    format!(
        "<script type=\"application/json\" id=\"curves\">{data}</script>\n<script>\n{}</script>\n",
        include_str!("interactive.js")
    )
}

fn finite(value: f64, digits: usize) -> Option<f64> {
    value.is_finite().then(|| rounded(value, digits))
}

fn rounded(value: f64, digits: usize) -> f64 {
    format!("{value:.*e}", digits - 1).parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::super::figures::Curve;
    use super::*;

    /// Deviations keep their digits beside values that are a million times larger; what is no number is null; no name can end the script.
    #[test]
    fn data_is_exact_and_harmless() {
        let curve = Curve {
            name: "</script>".into(),
            times: vec![0.0, 1.0, 2.0],
            reference: vec![1e6, 1e6, f64::NAN],
            built: vec![1e6 + 1.25e-3, 1e6],
            ..Curve::default()
        };
        let text = scripts(&Figures { curves: vec![curve], ..Figures::default() });
        assert_eq!(text.matches("</script>").count(), 2, "{text}");
        let data = text.split("id=\"curves\">").nth(1).and_then(|rest| rest.split("</script>").next());
        let data: serde_json::Value = serde_json::from_str(data.unwrap_or_default()).unwrap_or_default();
        let curve = &data["curves"][0];
        assert_eq!(curve["name"], "</script>");
        assert_eq!(curve["accurate"], serde_json::json!([1e6, 1e6, null]));
        assert_eq!(curve["deviation"], serde_json::json!([1.25e-3, 0.0]));
        assert_eq!(data["time"], serde_json::json!({"factor": 1.0, "unit": "s"}));
        assert_eq!(scripts(&Figures::default()), "");
    }
}
