//! The answer of `compare`: a table for people, JSON for programs, JUnit's XML for test benches.

use super::{ComparedRun, Comparison};
use crate::quantity::{format_duration, percent, significant};
use crate::structure::draw::escape;
use crate::summary::count;
use std::fmt::Write;

impl Comparison {
    pub fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default()
    }

    /// Why the command fails: something is beyond a limit, or a run failed.
    pub fn failure(&self) -> Option<String> {
        (!self.failures.is_empty()).then(|| self.failures.join("\n"))
    }

    pub fn text(&self) -> String {
        let mut lines = Vec::new();
        match &self.built {
            Some(built) => lines.push(format!(
                "{}: {built} against an accurate solution of {}, step {}",
                self.model,
                self.original,
                format_duration(self.step)
            )),
            None => lines.push(format!("{}: simulated {}", self.model, count(self.runs.len(), "run"))),
        }
        for run in &self.runs {
            lines.push(run.headline());
            if self.built.is_some() {
                lines.extend(run.table());
            }
        }
        lines.join("\n")
    }

    /// A suite for each run, a case for each output.
    pub fn junit(&self) -> String {
        let mut out = String::from(
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"fmu-build compare\">\n",
        );
        for run in &self.runs {
            let beyond = run.outputs.iter().filter(|output| !output.beyond.is_empty()).count();
            let name = if run.inputs.is_empty() { &self.model } else { &run.inputs };
            let _ = writeln!(
                out,
                "  <testsuite name=\"{}\" tests=\"{}\" failures=\"{beyond}\" errors=\"{}\">",
                escape(name),
                run.outputs.len() + 1,
                u8::from(run.failed.is_some())
            );
            let model = escape(&self.model);
            match &run.failed {
                Some(why) => {
                    let _ = writeln!(
                        out,
                        "    <testcase classname=\"{model}\" name=\"the run\"><error message=\"{}\"/></testcase>",
                        escape(why)
                    );
                }
                None => {
                    let _ = writeln!(out, "    <testcase classname=\"{model}\" name=\"the run\"/>");
                }
            }
            for output in &run.outputs {
                let name = escape(&output.name);
                let _ = match output.beyond.is_empty() {
                    true => writeln!(out, "    <testcase classname=\"{model}\" name=\"{name}\"/>"),
                    false => writeln!(
                        out,
                        "    <testcase classname=\"{model}\" name=\"{name}\"><failure message=\"{}\"/></testcase>",
                        escape(&output.beyond.join("; "))
                    ),
                };
            }
            out.push_str("  </testsuite>\n");
        }
        out.push_str("</testsuites>\n");
        out
    }
}

impl ComparedRun {
    /// What was run, and the worst of it.
    pub fn headline(&self) -> String {
        let of = if self.inputs.is_empty() { "without input signals" } else { &self.inputs };
        let error = self.error.map_or(String::new(), |error| {
            let worst = self.worst.as_deref().filter(|_| error > 0.0);
            let worst = worst.map_or(String::new(), |worst| format!(", in {worst}"));
            format!(": error {} at most{worst}", percent(error))
        });
        let estimate = self.estimate.filter(|_| self.error.is_some());
        let estimate =
            estimate.map_or(String::new(), |told| format!("; fmuBuild.error says {}", percent(told)));
        let still = self.outputs.iter().all(|output| output.still) && !self.outputs.is_empty();
        let still = if still { "; nothing moved, so that this says nothing" } else { "" };
        let (from, to) = (significant(self.from), significant(self.to));
        format!("{of} (t = {from} ... {to} s, {}){error}{estimate}{still}", count(self.points, "point"))
    }

    fn table(&self) -> Vec<String> {
        let mut rows = vec![
            ["output", "error (RMS)", "peak", "at", "RMS in its unit", "peak in its unit", ""]
                .map(String::from),
        ];
        for output in &self.outputs {
            let unit = output.unit.as_deref().map_or(String::new(), |unit| format!(" {unit}"));
            rows.push([
                output.name.clone(),
                percent(output.rms),
                percent(output.peak),
                format!("{} s", significant(output.peak_time)),
                format!("{}{unit}", significant(output.rms_absolute)),
                format!("{}{unit}", significant(output.peak_absolute)),
                match (output.still, output.beyond.is_empty()) {
                    (_, false) => "beyond its limit".into(),
                    (true, _) => "stands still".into(),
                    _ => String::new(),
                },
            ]);
        }
        let mut lines = aligned(&rows);
        for output in &self.discrete {
            lines.push(match output.delay_steps {
                0 => format!("  {}: as in the accurate solution at every point", output.name),
                steps => format!(
                    "  {}: another value for {} of the time, up to {} ({}) early or late",
                    output.name,
                    percent(output.share),
                    format_duration(output.delay),
                    count(steps as usize, "step")
                ),
            });
        }
        lines.extend(self.failed.iter().map(|why| format!("  the exported FMU failed: {why}")));
        lines
    }
}

/// Columns of equal width; the first is text, the others are numbers.
pub fn aligned<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    let line = |row: &[String; N]| {
        let mut line = format!("  {:<1$}", row[0], widths[0]);
        for (cell, width) in row.iter().zip(&widths).skip(1) {
            let _ = write!(line, "  {cell:>width$}");
        }
        line.trim_end().to_string()
    };
    rows.iter().map(line).collect()
}
