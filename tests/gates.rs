//! What the command answers first, and what makes it fail: the verdict, the deadline, input files that do not fit.

use crate::util::{build, build_file, example, fmu_build, succeed};
use std::path::Path;
use tempfile::TempDir;

/// Standard error of a command line that must be refused with exit code 1.
fn refused<S: AsRef<std::ffi::OsStr>>(arguments: impl IntoIterator<Item = S>) -> String {
    let output = fmu_build(arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    said
}

fn words<'a>(first: &'a [&'a str], files: &'a [&'a Path]) -> Vec<&'a str> {
    first.iter().copied().chain(files.iter().map(|path| path.to_str().unwrap())).collect()
}

/// The two-mass drive without signals stands still: an error of 0 % certifies nothing, and it is said first.
#[test]
fn where_nothing_moved_nothing_is_verified() {
    let folder = TempDir::new().unwrap();
    let (input, output) = (example("two-mass", folder.path()), folder.path().join("out.fmu"));
    let text = succeed(words(&["--step", "1ms", "--explore", "none"], &[&input, &output]));
    let first = text.lines().next().unwrap();
    assert!(first.starts_with("Not verified: nothing moved in the given run"), "{text}");
    assert!(first.contains("--inputs"), "{text}");
    let found = build_file(&input, &output, "--step 1ms --explore none");
    assert_eq!(found["verdict"]["accuracy"]["mark"], "unverified", "{found}");
    assert_eq!(found["verdict"]["accuracy"]["moved"]["given"], false, "{found}");
    std::fs::remove_file(&output).unwrap();
    let said = refused(words(&["--step", "1ms", "--explore", "none", "--strict"], &[&input, &output]));
    assert!(said.contains("nothing moved") && said.contains("--inputs"), "{said}");
    assert!(!output.exists());
}

/// Both axes are in `--json`, the tolerance is named, and the FMU holds nothing that was measured.
#[test]
fn the_verdict_has_two_axes() {
    let folder = TempDir::new().unwrap();
    let (input, output) = (example("van-der-pol", folder.path()), folder.path().join("out.fmu"));
    let found = build_file(&input, &output, "--step 1ms --stop 1 --tolerance 0.02");
    let (accuracy, time) = (&found["verdict"]["accuracy"], &found["verdict"]["time"]);
    assert_eq!((&accuracy["mark"], &accuracy["tolerance"]), (&"kept".into(), &0.02.into()), "{found}");
    assert_eq!(accuracy["given"]["value"], found["error"], "{found}");
    assert!(accuracy["peak"]["value"].as_f64() >= accuracy["given"]["value"].as_f64(), "{found}");
    assert_eq!(time["step"], 1e-3, "{found}");
    assert!(time["bound"].as_f64().unwrap() > 0.0 && time["measured"].as_f64().unwrap() > 0.0, "{found}");
    let text = succeed(words(&["--step", "1ms", "--stop", "1"], &[&input, &output]));
    let first = text.lines().next().unwrap();
    assert!(first.contains("tolerance 1") && first.contains("step 1 ms"), "{text}");
}

/// An evaluation that is said to take 150 ms makes a step of 100 ms late, and the verdict says so first.
#[test]
fn a_late_step_is_not_green() {
    let folder = TempDir::new().unwrap();
    let (input, output) = (example("dahlquist", folder.path()), folder.path().join("out.fmu"));
    let found = build_file(&input, &output, "--evaluation-time 150ms");
    assert_eq!(found["verdict"]["time"]["mark"], "missed", "{found}");
    let text = succeed(words(&["--evaluation-time", "150ms"], &[&input, &output]));
    assert!(text.lines().next().unwrap().contains("Not in time"), "{text}");
}

/// A deadline that no step keeps makes the command fail, and it says by how much; `--max-overruns` allows as many as are named.
#[test]
fn a_missed_deadline_fails() {
    let exported = build("dahlquist", "");
    let fmu = exported.file.to_str().unwrap();
    let said = refused(["bench", fmu, "--steps", "200", "--deadline", "1ns"]);
    assert!(said.contains("200 of 200 steps missed the deadline of 1 ns"), "{said}");
    assert!(said.contains("the longest by "), "{said}");
    let said = refused(["bench", fmu, "--steps", "200", "--deadline", "1ns", "--max-overruns", "199"]);
    assert!(said.contains("199 are allowed"), "{said}");
    succeed(["bench", fmu, "--steps", "200", "--deadline", "1ns", "--max-overruns", "200"]);
    succeed(["bench", fmu, "--steps", "200", "--deadline", "1000s"]);
    // Without a deadline nothing is a failure: steps beyond the communication step are counted.
    let text = succeed(["bench", fmu, "--steps", "200", "--json"]);
    let found: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(found["overruns_allowed"], serde_json::Value::Null, "{found}");
    let computing = &found["computing"];
    if cfg!(target_os = "linux") {
        let longest = computing["longest_ns"].as_f64().unwrap();
        assert!(longest <= found["step_time_ns"]["max"].as_f64().unwrap(), "{found}");
    }
}

/// A file that drives nothing is refused, with the name that was probably meant; beside a column that fits, one that does not is the
/// first warning.
#[test]
fn a_file_that_drives_nothing_is_refused() {
    let folder = TempDir::new().unwrap();
    let (input, output) = (example("dc-drive", folder.path()), folder.path().join("out.fmu"));
    let table = folder.path().join("u.csv");
    let inputs = |text: &str| {
        std::fs::write(&table, text).unwrap();
        ["--step", "1ms", "--explore", "none", "--inputs", table.to_str().unwrap()].map(String::from)
    };
    let files = [&input, &output].map(|path| path.to_str().unwrap().to_string());
    let said = refused(inputs("time,T_lod\n0,0\n1,1\n").iter().chain(&files));
    assert!(said.contains("T_lod") && said.contains("did you mean T_load?"), "{said}");
    assert!(said.contains("its inputs: u, T_load"), "{said}");
    assert!(!output.exists());
    let exported = build("dc-drive", "--step 1ms --explore none");
    let fmu = exported.file.to_str().unwrap();
    let said = refused(["bench", fmu, "--steps", "10", "--inputs", table.to_str().unwrap()]);
    assert!(said.contains("did you mean T_load?"), "{said}");
    // Volts by a column in millivolts, time in milliseconds: the same run as without units.
    let plain = inputs("time,u\n0,0\n0.1,24\n0.2,12\n");
    succeed(plain.iter().chain(&files));
    let expected = std::fs::read(&output).unwrap();
    let scaled = inputs("time [ms];u [mV]\n0;0\n100;24000\n200;12000\n");
    succeed(scaled.iter().chain(&files));
    assert!(std::fs::read(&output).unwrap() == expected, "a unit was ignored");
    let said = refused(inputs("time,u [A]\n0,0\n0.1,24\n").iter().chain(&files));
    assert!(said.contains("\"A\" cannot be converted to \"V\", the unit of u"), "{said}");
}

/// The run follows the file; where `--stop` says otherwise, what the file lacks is said.
#[test]
fn the_run_follows_the_file() {
    let folder = TempDir::new().unwrap();
    let (input, output) = (example("dc-drive", folder.path()), folder.path().join("out.fmu"));
    let table = folder.path().join("u.csv");
    std::fs::write(&table, "time,u\n0.05,0\n0.1,24\n0.25,12\n").unwrap();
    let options = format!("--step 1ms --explore none --inputs {}", table.display());
    let found = build_file(&input, &output, &options);
    assert!((found["verified_to"].as_f64().unwrap() - 0.25).abs() < 1e-9, "{found}");
    let warnings = found["warnings"].to_string();
    assert!(warnings.contains("the run ends with the input file at t = 0.25 s"), "{warnings}");
    assert!(warnings.contains("the input file begins at t = 0.05 s"), "{warnings}");
    let found = build_file(&input, &output, &format!("{options} --stop 0.5"));
    assert!((found["verified_to"].as_f64().unwrap() - 0.5).abs() < 1e-9, "{found}");
    assert!(found["warnings"].to_string().contains("the input file ends at t = 0.25 s"), "{found}");
    let found = build_file(&input, &output, &format!("{options} --stop 0.2"));
    assert!(found["warnings"].to_string().contains("the input file goes on to t = 0.25 s"), "{found}");
    let benched = succeed(["bench", output.to_str().unwrap(), "--json", "--inputs", table.to_str().unwrap()]);
    let benched: serde_json::Value = serde_json::from_str(&benched).unwrap();
    assert_eq!(benched["steps"], 250, "{benched}");
}
