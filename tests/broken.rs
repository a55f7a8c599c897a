//! Models that break at t = 0.5, one fault each: what the builder says where the studied run meets the fault,
//! and what the exported FMU does where it does not. The table in `docs/faults.md` is written from these
//! expectations.

use crate::driver::{ERROR, OK};
use crate::util::{build, example, fmu_build};
use std::fmt::Write;
use tempfile::TempDir;

/// What the exported FMU does.
enum Runtime {
    /// Every step is fmi2OK.
    GoesOn,
    /// fmi2Error with a message that has these words, the last good state kept.
    Refuses(&'static [&'static str]),
    /// The process ends; what `fmu-build bench`, which drives the FMU in a process of its own, says has these
    /// words.
    Dies(&'static str),
}
use Runtime::{Dies, GoesOn, Refuses};

struct Row {
    fault: &'static str,
    /// Exit code, a word of the message, and in other words.
    builder: (i32, &'static str, &'static str),
    runtime: Runtime,
    in_words: &'static str,
}

const fn row(
    fault: &'static str,
    builder: (i32, &'static str, &'static str),
    runtime: Runtime,
    in_words: &'static str,
) -> Row {
    Row { fault, builder, runtime, in_words }
}

const BUILDS: (i32, &str, &str) = (0, "", "builds");

const ROWS: [Row; 27] = [
    row(
        "nan-derivative",
        (1, "is NaN at t = 0.5", "refuses, names the time and the first variable that shows it"),
        Refuses(&["derivative of x", "NaN"]),
        "fmi2Error that names x; last good state kept",
    ),
    row(
        "infinite-derivative",
        (0, "", "builds; says that the run ended there, and why"),
        Refuses(&["derivative of x", "inf"]),
        "fmi2Error that names x; last good state kept",
    ),
    row(
        "nan-indicator",
        (0, "", "builds; says which indicator: it keeps its sign until it is a number again"),
        Refuses(&["event indicator 1", "not a number"]),
        "fmi2Error that names the indicator; last good state kept",
    ),
    row("infinite-indicator", BUILDS, GoesOn, "goes on: its sign is known"),
    row(
        "nan-state",
        (1, "x is NaN at t = 0.5", "refuses, names the time and the first variable that shows it"),
        Refuses(&["made x NaN"]),
        "fmi2Error that names x and the event; last good state kept",
    ),
    row(
        "infinite-state",
        (0, "", "builds; says that the run ended there, and why"),
        Refuses(&["made x inf"]),
        "fmi2Error that names x and the event; last good state kept",
    ),
    row(
        "nan-output",
        (0, "", "builds; says that y is not compared"),
        GoesOn,
        "goes on: outputs are the model's own, and no step depends on them",
    ),
    row(
        "infinite-output",
        (0, "", "builds; says that y is not compared"),
        GoesOn,
        "goes on: outputs are the model's own, and no step depends on them",
    ),
    row("nan-nominal", BUILDS, GoesOn, "goes on with the sizes that the builder saw"),
    row("infinite-nominal", BUILDS, GoesOn, "goes on with the sizes that the builder saw"),
    row(
        "writes-beyond",
        (0, "", "builds, with room behind its vectors; says so"),
        GoesOn,
        "not noticed where the builder has not seen it: checking costs time in every step",
    ),
    row("prints", BUILDS, GoesOn, "goes on; what is printed is the host's to show"),
    row("allocates", BUILDS, GoesOn, "goes on; `fmu-build bench --audit` names it"),
    row("leaks", BUILDS, GoesOn, "goes on; `fmuBuild.allocations` counts the runtime's requests only"),
    row("sleeps", BUILDS, GoesOn, "goes on; `fmu-build bench --audit` names it"),
    row("denormals", BUILDS, GoesOn, "goes on; `fmu-build bench --audit` names it"),
    row("threads", BUILDS, GoesOn, "goes on"),
    row("rounding", BUILDS, GoesOn, "goes on with the rounding that the model chose"),
    row("locale", BUILDS, GoesOn, "goes on; no number of ours is read or written by locale"),
    row("signals", BUILDS, GoesOn, "goes on"),
    row("needs-resources", BUILDS, GoesOn, "finds its files: they are inside, and it is told where"),
    row(
        "writes-resources",
        (0, "", "builds; the inner FMU is packed as it was"),
        GoesOn,
        "goes on; the file lies in the importer's unpacked folder",
    ),
    row(
        "needs-directory",
        (0, "", "builds: the worker has a working directory of its own"),
        GoesOn,
        "goes on; the directory is the host's",
    ),
    row(
        "huge-state",
        (0, "", "builds; says that it cannot be serialised"),
        GoesOn,
        "goes on; `fmi2SerializedFMUstateSize` and `fmi2SerializeFMUstate` return fmi2Error",
    ),
    row("null-strings", BUILDS, GoesOn, "goes on; the importer gets empty strings"),
    row(
        "exits",
        (1, "exit code 7", "refuses, says with which code"),
        Dies("exit code 7"),
        "the process ends: there is no way to stop it",
    ),
    row(
        "throws",
        (1, "SIGABRT", "refuses: the worker was ended by a signal"),
        Dies("SIGABRT"),
        "the process ends with a message: foreign exceptions cannot be caught",
    ),
];

const H: f64 = 0.01;
/// When the models break.
const TIME: f64 = 0.5;

fn check_builder(row: &Row) {
    let folder = TempDir::new().unwrap();
    let input = example(&format!("broken:{}", row.fault), folder.path());
    let output = folder.path().join("out.fmu");
    let (code, word, _) = row.builder;
    let built = fmu_build([input.as_os_str(), output.as_os_str(), "--step".as_ref(), "10ms".as_ref()]);
    let said = String::from_utf8_lossy(&built.stderr);
    println!("{}: {:?} {}", row.fault, built.status.code(), said.trim());
    assert_eq!(built.status.code(), Some(code), "{}: {said}", row.fault);
    assert!(said.contains(word), "{}: {said}", row.fault);
    assert!(!said.contains("please report"), "{}: {said}", row.fault);
    assert_eq!(output.exists(), code == 0, "{}", row.fault);
}

fn check_runtime(row: &Row) {
    let exported = build(&format!("broken:{}", row.fault), "--step 10ms --stop 0.4 --twin off");
    if let Dies(word) = row.runtime {
        let file = exported.file.as_os_str();
        let output = fmu_build(["bench".as_ref(), file, "--steps".as_ref(), "100".as_ref()]);
        let said = String::from_utf8_lossy(&output.stderr);
        println!("{}: bench {:?} {}", row.fault, output.status.code(), said.trim());
        assert_eq!(output.status.code(), Some(1), "{}: {said}", row.fault);
        assert!(said.contains(word), "{}: {said}", row.fault);
        return;
    }
    let mut fmu = exported.start(0.0, &[]);
    fmu.steps(0.0, H, 49);
    let mut status = OK;
    let mut x = fmu.real("x");
    for k in 49..60 {
        status = fmu.try_step(k as f64 * H, H);
        if status != OK {
            break;
        }
        x = fmu.real("x");
    }
    println!("{}: {status} {:?}", row.fault, fmu.messages());
    match row.runtime {
        Refuses(words) => {
            assert_eq!(status, ERROR, "{}", row.fault);
            let said = fmu.messages();
            let said = &said.last().unwrap().1;
            assert!(words.iter().all(|word| said.contains(word)), "{}: {said}", row.fault);
            // The last good state: of the last step, or of the part of this one before the event.
            let (kept, time) = (fmu.real("x"), fmu.last_successful_time());
            assert!((0.49..=TIME).contains(&time) && (kept - (-time).exp()).abs() < 0.01, "{kept} at {time}");
            assert!(kept == x || time == TIME, "{}: {kept} at {time}", row.fault);
        }
        _ => {
            assert_eq!(status, OK, "{}: {:?}", row.fault, fmu.messages());
            assert!((x - (-0.6f64).exp()).abs() < 0.01, "{}: {x}", row.fault);
        }
    }
}

/// Each in a thread of its own: rounding and signal masks belong to threads.
#[test]
fn every_fault_is_told_or_survived() {
    let mut table = String::from("| fault at t = 0.5 | builder | exported FMU |\n|---|---|---|\n");
    let mut failed = Vec::new();
    for row in &ROWS {
        let checks: [fn(&Row); 2] = [check_builder, check_runtime];
        for check in checks {
            let outcome = std::thread::scope(|scope| scope.spawn(|| check(row)).join());
            if outcome.is_err() {
                failed.push(row.fault);
            }
        }
        writeln!(table, "| {} | {} | {} |", row.fault, row.builder.2, row.in_words).unwrap();
    }
    assert!(failed.is_empty(), "{failed:?}");
    let document = include_str!("../docs/faults.md");
    assert!(document.contains(&table), "docs/faults.md should have this table:\n{table}");
}

/// The FMU's word for the size of its state is 2^45 bytes: no host must die of it.
#[test]
fn a_state_of_an_incredible_size_is_refused() {
    let exported = build("broken:huge-state", "--step 10ms");
    let mut fmu = exported.start(0.0, &[]);
    fmu.steps(0.0, H, 10);
    let state = fmu.save(std::ptr::null_mut());
    assert_eq!(fmu.serialized_size(state), Err(ERROR));
    assert!(
        fmu.messages().iter().any(|(_, text)| text.contains("cannot serialise its state")),
        "{:?}",
        fmu.messages()
    );
    fmu.free(state);
}

/// NULL for a string would end most hosts; FMI allows no such value.
#[test]
fn null_strings_are_empty_strings() {
    let mut sound = build("broken:leaks", "--step 10ms --stop 0.4");
    assert_eq!(sound.start(0.0, &[]).string("label"), "a decay");
    sound = build("broken:null-strings", "--step 10ms");
    assert_eq!(sound.start(0.0, &[]).string("label"), "");
}

/// What the model left in its resources while it was studied is not packed.
#[test]
fn the_inner_fmu_is_packed_as_it_was() {
    let folder = TempDir::new().unwrap();
    let input = example("broken:writes-resources", folder.path());
    let exported = build("broken:writes-resources", "--step 10ms");
    let inside = exported.root.join("resources/inner/resources");
    let names: Vec<_> = std::fs::read_dir(inside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["needed.txt"]);
    // It does write: the importer's copy has the file afterwards.
    let _fmu = exported.start(0.0, &[]);
    assert!(exported.root.join("resources/inner/resources/written-by-the-model.txt").exists());
    assert!(input.exists());
}
