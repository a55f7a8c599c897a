//! The page of `fmu-build bench --report`: quantiles and a histogram.

use super::text::grouped;
use super::{escape, opening, plot};
use crate::bench::Benchmark;
use crate::quantity::format_duration;
use crate::system;
use crate::warning::Warning;
use std::fmt::Write;
use std::time::{SystemTime, UNIX_EPOCH};

/// One self-contained page.
pub fn benchmark(found: &Benchmark) -> String {
    let mut out = opening(&found.model);
    let duration = |ns: f64| format_duration(ns * 1e-9);
    let _ = writeln!(
        out,
        "<header>\n<p class=\"kicker\">Step time of a real-time Co-Simulation FMU</p>\n<h1>{}</h1>\n<p class=\"sub\">{} steps of {}, \
         through the C interface, on the machine that made this page.</p>\n</header>\n<div class=\"scroll\"><table class=\"facts\"><tbody>",
        escape(&found.model),
        grouped(found.steps as u64),
        format_duration(found.step)
    );
    let mut row = |name: &str, value: String, why: String| {
        let _ = writeln!(
            out,
            "<tr><th scope=\"row\">{name}</th><td class=\"number\">{value}</td><td class=\"why\">{}</td></tr>",
            escape(&why)
        );
    };
    row("Median", duration(found.step_time_ns.p50), String::new());
    row("99 % below", duration(found.p99), String::new());
    row("99.9 % below", duration(found.step_time_ns.p99_9), String::new());
    row("Longest", duration(found.step_time_ns.max), format!("step {}", found.worst_step));
    row("Missed deadlines", grouped(found.overruns as u64), format_duration(found.deadline));
    if let (Some(time), Some(ratio)) = (found.evaluation_time_ns, found.step_to_evaluation) {
        row(
            "Evaluation of the model",
            duration(time),
            format!("an undisturbed step takes as long as {ratio:.2} of them"),
        );
    }
    if let Some(allocations) = found.allocations {
        row("Requests for memory", grouped(allocations), "of the runtime, in 1000 steps".into());
    }
    if let Some(audit) = &found.audit {
        let steps = format!("of the model inside, in {} steps", grouped(audit.found.steps));
        match audit.verdict.is_empty() {
            true => row("Forbidden in real time", "nothing".into(), steps),
            false => row("Forbidden in real time", audit.verdict.len().to_string(), audit.verdict.join("; ")),
        }
        if !audit.found.uncounted.is_empty() {
            row("Not counted", String::new(), audit.found.uncounted.join("; "));
        }
    }
    row(
        "Scheduler",
        found.scheduler.into(),
        found.warnings.iter().map(Warning::to_string).collect::<Vec<_>>().join("; "),
    );
    row("Measured", date(SystemTime::now()), "UTC".into());
    let [processor, kernel] = system::machine();
    row("Processor", processor.unwrap_or_else(|| std::env::consts::ARCH.into()), String::new());
    row("Kernel", kernel.unwrap_or_else(|| std::env::consts::OS.into()), String::new());
    let weighed: Vec<(f64, f64)> = found.sorted.iter().map(|&time| (time, 1.0)).collect();
    let _ = write!(
        out,
        "</tbody></table></div>\n<section>\n<h2>Histogram</h2>\n<p>Both axes are logarithmic.</p>\n<div class=\"plots\"><figure>{}\
         </figure></div>\n</section>\n<footer>Made by fmu-build {}.</footer>\n</body>\n</html>\n",
        plot::histogram(&weighed, found.deadline, "the deadline"),
        env!("CARGO_PKG_VERSION")
    );
    out
}

/// "2026-11-18 13:05". The days of the Gregorian calendar are counted from 1 March, so that a leap day is a year's last (Hinnant, "chrono-compatible low-level
/// date algorithms").
fn date(now: SystemTime) -> String {
    let seconds = now.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
    let days = seconds / 86_400 + 719_468;
    let (era, day) = (days / 146_097, days % 146_097);
    let year = (day - day / 1460 + day / 36_524 - day / 146_096) / 365;
    let day = day - (365 * year + year / 4 - year / 100);
    let month = (5 * day + 2) / 153;
    let day = day - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = 400 * era + year + u64::from(month <= 2);
    format!("{year}-{month:02}-{day:02} {:02}:{:02}", seconds / 3600 % 24, seconds / 60 % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    /// Days around leap days, the turn of a century that is none included.
    #[test]
    fn dates_are_those_of_the_calendar() {
        for (seconds, text) in [
            (0, "1970-01-01 00:00"),
            (951_782_399, "2000-02-28 23:59"),
            (951_782_400, "2000-02-29 00:00"),
            (1_709_251_199, "2024-02-29 23:59"),
            (1_795_006_800, "2026-11-18 13:00"),
            (4_107_542_400, "2100-03-01 00:00"),
        ] {
            assert_eq!(date(UNIX_EPOCH + Duration::from_secs(seconds)), text);
        }
    }
}
