//! FMUs as vendors make them: something that they promise ends their process, fails or changes them. Other
//! importers run them, and so does fmu-build: without that, with a warning, and with an FMU that does not
//! promise it. The models are `broken:*`, x' = -x and y = x.

use crate::util::{build, build_file, edit_description, example, fmu_build, summary};
use reference_fmus::models::broken::DAEMON;
use std::time::{Duration, Instant};
use tempfile::TempDir;

const H: f64 = 0.01;

fn warnings(fault: &str) -> Vec<String> {
    let summary = summary(&format!("broken:{fault}"), "--step 10ms");
    let warnings = summary["warnings"].as_array().unwrap().iter();
    warnings.map(|warning| warning.as_str().unwrap().to_string()).collect()
}

/// The warning, and what the new FMU says of itself. Its y is exp(-t) to within 1 %, the tolerance of the
/// build.
fn check(fault: &str, warning: &str, denied: &[&str]) {
    let found = warnings(fault);
    assert!(found.iter().any(|text| text.contains(warning)), "{fault}: {found:?}");
    let exported = build(&format!("broken:{fault}"), "--step 10ms");
    let description = std::fs::read_to_string(exported.root.join("modelDescription.xml")).unwrap();
    for ability in ["canGetAndSetFMUstate", "canSerializeFMUstate"] {
        let value = if denied.contains(&ability) { "false" } else { "true" };
        assert!(description.contains(&format!("{ability}=\"{value}\"")), "{fault}: {ability}");
    }
    let mut fmu = exported.start(0.0, &[]);
    fmu.steps(0.0, H, 100);
    let x = fmu.real("x");
    assert!((x - (-1.0f64).exp()).abs() < 0.01, "{fault}: {x}");
}

const BOTH: [&str; 2] = ["canGetAndSetFMUstate", "canSerializeFMUstate"];

#[test]
fn saved_states_that_crash_fail_or_change_the_model() {
    for (fault, seen) in [
        ("crash-get-state", "(it crashed with SIGSEGV (segmentation fault) in fmi2GetFMUstate)"),
        ("crash-set-state", "(it crashed with SIGSEGV (segmentation fault) in fmi2SetFMUstate)"),
        ("crash-free-state", "(it crashed with SIGSEGV (segmentation fault) in fmi2FreeFMUstate)"),
        (
            "error-get-state",
            "(fmi2GetFMUstate returned fmi2Error. It said: fmi2Error: fmi2GetFMUstate: not implemented)",
        ),
        (
            "error-set-state",
            "(fmi2SetFMUstate returned fmi2Error. It said: fmi2Error: fmi2SetFMUstate: not implemented)",
        ),
        ("changing-get-state", "(fmi2GetFMUstate changed state 1 from 1 to 0.5)"),
        ("changing-set-state", "(fmi2SetFMUstate changed state 1 from 1 to 0.5)"),
    ] {
        check(fault, &format!("the FMU's saved states do not work {seen}; it was built without them"), &BOTH);
    }
    check("crash-serialise", "in the checks after the run (fmi2SerializeFMUstate)", &BOTH[1..]);
}

#[test]
fn other_abilities_that_end_the_process() {
    check("crash-directional", "the FMU's directional derivatives do not work (it crashed", &[]);
    check("crash-beside", "the FMU cannot be evaluated beside its run (it crashed with SIGABRT", &[]);
    // Not driven here: it would leave its mark in this process's folder.
    let found = warnings("one-instance");
    assert!(found[0].contains("cannot be instantiated again in the same process"), "{found:?}");
    let exported = build("broken:one-instance", "--step 10ms");
    let description = std::fs::read_to_string(exported.root.join("modelDescription.xml")).unwrap();
    assert!(description.contains("canBeInstantiatedOnlyOncePerProcess=\"true\""));
}

/// The end is the FMU's own, after all is known: neither a crash nor a hang there costs the build more than
/// the two seconds that it waits once.
#[test]
fn an_fmu_that_does_not_end_well_is_built() {
    let begin = Instant::now();
    let found = warnings("crash-free");
    assert!(
        found[0]
            .contains("does not end well (it crashed with SIGSEGV (segmentation fault) in fmi2FreeInstance)"),
        "{found:?}"
    );
    let found = warnings("hang-free");
    assert!(
        found[0].contains("does not end well (it did not return in") && found[0].contains("fmi2FreeInstance"),
        "{found:?}"
    );
    assert!(begin.elapsed() < Duration::from_secs(60), "{:?}", begin.elapsed());
}

/// Where there are no states, nothing is asked for them: OpenModelica's models write a value for none, and
/// one model is in its error state from then on.
#[test]
fn models_without_states_are_not_asked_for_them() {
    for fault in ["writes-without-states", "error-without-states"] {
        let exported = build(&format!("broken:{fault}"), "--step 10ms");
        let mut fmu = exported.start(0.0, &[]);
        fmu.steps(0.0, H, 100);
        assert!((fmu.real("y") - (-1.0f64).exp()).abs() < 1e-12, "{fault}: {}", fmu.real("y"));
    }
}

/// One value too many, always: there is room for it, at the builder's and in the new FMU.
#[test]
fn who_writes_a_little_beyond_gets_room() {
    let found = summary("writes-beyond", "--step 10ms")["warnings"].to_string();
    assert!(
        found.contains("fmi2GetDerivatives writes at least 2 values where modelDescription.xml promises 1"),
        "{found}"
    );
    let exported = build("writes-beyond", "--step 10ms");
    let plan = std::fs::read_to_string(exported.root.join("resources/plan.json")).unwrap();
    assert!(plan.contains("\"writes_beyond\":true"));
    let mut fmu = exported.start(0.0, &[]);
    let before = fmu.real("x");
    fmu.step(0.0, H);
    assert!(fmu.real("x") < before);
}

/// A model that asks for Event Mode after every completed step and changes nothing there: the accurate run
/// keeps its steps and comes to its end, instead of beginning carefully after each of a million events.
#[test]
fn step_events_that_change_nothing_do_not_stop_the_accurate_run() {
    let summary = summary("broken:asks-always", "--step 10ms");
    let warnings = summary["warnings"].to_string();
    assert!(!warnings.contains("ended early"), "{warnings}");
    let exported = build("broken:asks-always", "--step 10ms");
    let mut fmu = exported.start(0.0, &[]);
    fmu.steps(0.0, H, 100);
    let x = fmu.real("x");
    assert!((x - (-1.0f64).exp()).abs() < 0.01, "{x}");
}

/// Many FMUs that say that they need their tool run alone; other importers try, and so does fmu-build.
#[test]
fn an_fmu_that_says_that_it_needs_its_tool_is_tried() {
    let folder = TempDir::new().unwrap();
    let (input, output) = (folder.path().join("in.fmu"), folder.path().join("out.fmu"));
    let needs = "<ModelExchange needsExecutionTool=\"true\"";
    edit_description(&example("dahlquist", folder.path()), &input, "<ModelExchange", needs);
    let summary = build_file(&input, &output, "--step 10ms");
    let warnings = summary["warnings"].to_string();
    assert!(warnings.contains("needs its tool at run time"), "{warnings}");
}

#[test]
fn outputs_and_indicators_that_are_none_are_left_out() {
    check("unreadable-output", "the output y cannot be read at t = 0 (fmi2Error); it is not compared", &[]);
    check("nan-output-always", "the output y is NaN at t = 0; it is not compared", &[]);
    check("nan-indicator-always", "event indicator 1 is NaN at the start (t = 0)", &[]);
}

/// What it writes where is its own affair; that the answer is lost is said, and not as a fault of ours.
#[test]
fn an_fmu_that_writes_into_our_pipe() {
    let folder = TempDir::new().unwrap();
    let input = example("broken:writes-files", folder.path());
    let output = fmu_build([input.as_os_str(), folder.path().join("out.fmu").as_os_str()]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("the FMU writes into files that it did not open"), "{said}");
    assert!(!said.contains("please report"), "{said}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_process_that_left_its_session_ends_with_the_build() {
    let folder = TempDir::new().unwrap();
    let input = example("broken:daemon", folder.path());
    build_file(&input, &folder.path().join("out.fmu"), "--step 10ms");
    let wanted = DAEMON.join("\0") + "\0";
    let running = std::fs::read_dir("/proc").unwrap().flatten();
    let left = running
        .filter(|it| std::fs::read(it.path().join("cmdline")).is_ok_and(|line| line == wanted.as_bytes()));
    assert_eq!(left.count(), 0);
}

/// A total over everything. 20 ms for an evaluation: a trial of some hundred evaluations takes some seconds.
#[test]
fn the_time_limit_is_a_total() {
    let folder = TempDir::new().unwrap();
    let input = example("broken:slow", folder.path());
    let begin = Instant::now();
    let output = fmu_build(
        ["--time-limit", "8s", "--step", "100ms"]
            .map(std::ffi::OsStr::new)
            .into_iter()
            .chain([input.as_os_str(), folder.path().join("out.fmu").as_os_str()]),
    );
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(begin.elapsed() < Duration::from_secs(16), "{:?}: {said}", begin.elapsed());
    assert!(output.status.success() || said.contains("--time-limit"), "{said}");
}

#[test]
fn event_indicators_beyond_belief_are_refused() {
    let folder = TempDir::new().unwrap();
    let (input, bad) = (example("bouncing-ball", folder.path()), folder.path().join("bad.fmu"));
    edit_description(&input, &bad, "numberOfEventIndicators=\"1\"", "numberOfEventIndicators=\"4000000000\"");
    let output = fmu_build([bad.as_os_str(), folder.path().join("out.fmu").as_os_str()]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("numberOfEventIndicators=\"4000000000\", more than the 1000000 that are accepted"),
        "{said}"
    );
}
