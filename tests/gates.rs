//! What the command answers first, and what makes it fail: the verdict, the deadline, input files that do not fit.

use crate::util::{build_file, example, fmu_build, succeed};
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

/// An evaluation that is said to take a tenth of a second makes a step of 100 ms late: the verdict says so, and `--strict` refuses.
#[test]
fn a_late_step_is_not_green() {
    let folder = TempDir::new().unwrap();
    let (input, output) = (example("dahlquist", folder.path()), folder.path().join("out.fmu"));
    let found = build_file(&input, &output, "--evaluation-time 90ms");
    assert_eq!(found["verdict"]["time"]["mark"], "missed", "{found}");
    let text = succeed(words(&["--evaluation-time", "90ms"], &[&input, &output]));
    assert!(text.lines().next().unwrap().contains("Not in time"), "{text}");
}
