//! The trajectories as CSV: what FMPy, a spreadsheet or pandas reads.

use super::{Comparison, Recorded};
use std::fmt::Write;

/// A row for each communication point: `time`, each output of the original and of the exported FMU, `fmuBuild.error`. Several runs
/// lie below each other, with their number in the last column.
pub fn table(found: &Comparison) -> String {
    let Some(first) = found.runs.first().map(|run| &run.recorded) else { return String::new() };
    let two = found.built.is_some();
    let mut header = vec!["time".to_string()];
    for name in first.names.iter().chain(&first.discrete_names) {
        header.push(quoted(name));
        if two {
            header.push(quoted(&format!("{name} (built)")));
        }
    }
    let estimates = found.runs.iter().any(|run| run.recorded.estimates.iter().any(|it| it.is_finite()));
    if estimates {
        header.push("fmuBuild.error".into());
    }
    let several = found.runs.len() > 1;
    if several {
        header.push("run".into());
    }
    let mut out = header.join(",");
    out.push('\n');
    for (number, run) in found.runs.iter().enumerate() {
        let recorded = &run.recorded;
        for at in 0..recorded.times.len() {
            let _ = write!(out, "{}", recorded.times[at]);
            row(&mut out, recorded, at, two);
            if estimates {
                let estimate = recorded.estimates.get(at).filter(|estimate| estimate.is_finite());
                let _ = write!(out, ",{}", estimate.map_or(String::new(), f64::to_string));
            }
            if several {
                let _ = write!(out, ",{}", number + 1);
            }
            out.push('\n');
        }
    }
    out
}

fn row(out: &mut String, recorded: &Recorded, at: usize, two: bool) {
    let mut both = |reference: Option<String>, built: Option<String>| {
        let _ = write!(out, ",{}", reference.unwrap_or_default());
        if two {
            let _ = write!(out, ",{}", built.unwrap_or_default());
        }
    };
    for i in 0..recorded.names.len() {
        let cell = |rows: &[Vec<f64>]| rows.get(at).and_then(|row| row.get(i)).map(f64::to_string);
        both(cell(&recorded.reference), cell(&recorded.built));
    }
    for i in 0..recorded.discrete_names.len() {
        let cell = |rows: &[Vec<i64>]| rows.get(at).and_then(|row| row.get(i)).map(i64::to_string);
        both(cell(&recorded.reference_discrete), cell(&recorded.built_discrete));
    }
}

fn quoted(name: &str) -> String {
    match name.contains([',', '"', '\n']) {
        true => format!("\"{}\"", name.replace('"', "\"\"")),
        false => name.into(),
    }
}
