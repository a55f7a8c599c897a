//! The price of a step: constant, counted in calls of the model, and free of allocations.

use crate::driver::{Exported, Fmu, OK};
use crate::util::{build, succeed, summary};
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

const COUNTED: [&str; 8] = [
    "SetTime",
    "SetContinuousStates",
    "GetDerivatives",
    "GetEventIndicators",
    "GetReal",
    "SetReal",
    "CompletedIntegratorStep",
    "GetDirectionalDerivative",
];

/// Calls of the model in each of 100 steps, which must all be equal, the first included.
fn calls_per_step(options: &str) -> [i32; 8] {
    let h = 1e-3;
    let exported = build("counting", &format!("--step {h} --stop 1 {options}"));
    let mut fmu = exported.start(0.0, &[]);
    let mut before = COUNTED.map(|name| fmu.integer(name));
    let mut per_step = None;
    for k in 0..100 {
        fmu.step(k as f64 * h, h);
        let after = COUNTED.map(|name| fmu.integer(name));
        let calls = std::array::from_fn(|i| after[i] - before[i]);
        assert_eq!(*per_step.get_or_insert(calls), calls, "step {k} costs otherwise than the steps before");
        before = after;
    }
    per_step.unwrap()
}

/// With a frozen Jacobian a step is one evaluation: set the time, get the derivatives, set the states.
#[test]
fn a_step_is_one_evaluation() {
    let calls = calls_per_step("--method lie --mode implicit --jacobian frozen");
    let [time, states, derivatives, indicators, get, set, completed, directional] = calls;
    assert_eq!([time, states, derivatives], [1; 3]);
    assert_eq!([indicators, get, set, directional], [0; 4]);
    assert!(completed <= 1, "{completed} calls of fmi2CompletedIntegratorStep");
}

/// Evaluations of the model's equations in a step, with every output read after it as importers do, and what
/// happens to the input before it.
fn evaluations_with_outputs(options: &str, before: impl Fn(&mut Fmu, usize)) -> i32 {
    let h = 1e-3;
    let exported = build("counting", &format!("--step {h} --stop 1 {options}"));
    let mut fmu = exported.start(0.0, &[]);
    let read = |fmu: &mut Fmu, k: usize| {
        before(fmu, k);
        fmu.step(k as f64 * h, h);
        fmu.real("x");
        fmu.integer("Evaluations")
    };
    let counts: Vec<i32> = (0..60).map(|k| read(&mut fmu, k)).collect();
    let steps: Vec<i32> = counts.windows(2).map(|pair| pair[1] - pair[0]).collect();
    assert!(steps[10..].iter().all(|&count| count == steps[10]), "{options}: {steps:?}");
    steps[10]
}

/// No point is evaluated twice. Where neither time nor an input has changed, the evaluation that the outputs
/// needed is the next step's first one: reading them costs nothing. A changed input makes one more due, and
/// so does time where it matters (here: an input with a slope), since the model is then another one in the
/// next step; the watch of ros2 and ros34pw2 takes another one then. What the builder claims is that without
/// the outputs' own.
#[test]
fn no_point_is_evaluated_twice() {
    for (options, own, in_time) in [
        ("--method lie --mode implicit --jacobian frozen --watch off", 1, 1),
        ("--method lie --mode implicit --jacobian watched", 1, 1),
        ("--method lie2 --mode implicit --jacobian frozen", 2, 3),
        ("--method lie2 --mode implicit --jacobian watched", 2, 3),
        ("--method ros2 --mode implicit --jacobian frozen", 2, 3),
        ("--method ros2 --mode implicit --jacobian every", 2, 3),
        ("--method ros2l --mode implicit --jacobian watched", 2, 3),
        ("--method ros34pw2 --mode implicit --jacobian frozen", 4, 5),
    ] {
        let held = evaluations_with_outputs(options, |_, _| {});
        assert_eq!(held, own, "{options}: nothing changes");
        let changed = evaluations_with_outputs(options, |fmu, k| {
            assert_eq!(fmu.set_real("u", (k % 7) as f64), OK);
        });
        assert_eq!(changed, own + 1, "{options}: the input changes");
        let sloped = evaluations_with_outputs(options, |fmu, k| {
            // Not where the slope led to: an input that arrives as foreseen has not changed.
            assert_eq!(fmu.set_real("u", (k % 7) as f64), OK);
            assert_eq!(fmu.set_input_derivative("u", 1, 100.0), OK);
        });
        assert_eq!(sloped, in_time + 1, "{options}: the input has a slope");
        let claimed =
            summary("counting", &format!("--step 0.001 --stop 1 {options}"))["evaluations_per_step"]
                .as_f64()
                .unwrap();
        assert!((f64::from(own)..=f64::from(own + 1)).contains(&claimed), "{options}: {claimed} claimed");
    }
}

/// Initialisation rehearses the first step: the model is evaluated, but no step is completed, and the states
/// are where they were.
#[test]
fn a_rehearsal_leaves_no_trace() {
    let exported = build("counting", "--step 1ms --stop 1 --method lie --mode implicit");
    let mut fmu = exported.start(0.0, &[]);
    let asked = ["GetDerivatives", "GetDirectionalDerivative"].map(|name| fmu.integer(name));
    assert!(asked.iter().sum::<i32>() > 3, "nothing was rehearsed: {asked:?}");
    assert_eq!(fmu.integer("CompletedIntegratorStep"), 0);
    assert_eq!(["x", "v"].map(|name| fmu.real(name)), [1.0, 0.0]);
}

/// With a fresh Jacobian each colour adds one evaluation, or one directional derivative, and nothing else.
#[test]
fn a_fresh_jacobian_adds_its_colours() {
    let summary = summary(
        "van-der-pol",
        "--step 1ms --stop 1 --method lie --mode implicit --jacobian every --twin off",
    );
    assert_eq!(summary["colours"], 2, "{summary}");
    assert_eq!(summary["evaluations_per_step"], 3.0, "{summary}");
}

/// The bound of a step with events, as it is printed, holds for a relay that fires without end, and its worst
/// step takes more than a quarter of it: events are often found with fewer trials than they may take.
#[test]
fn a_step_with_events_keeps_its_bound() {
    for (options, substeps) in [
        ("--method lie --mode explicit", 1),
        ("--method lie --mode implicit", 1),
        ("--method lie --mode implicit", 3),
    ] {
        let options = format!("--step 10ms --stop 0.1 --substeps {substeps} --force {options}");
        let bound = &summary("chatter", &options)["worst_step"];
        let events = bound["events"].as_i64().unwrap();
        let exported = build("chatter", &options);
        let mut fmu = exported.start(0.0, &[]);
        let [derivatives, indicators] = ["GetDerivatives", "GetEventIndicators"];
        let count = |fmu: &mut Fmu| [derivatives, indicators].map(|name| i64::from(fmu.integer(name)));
        let (mut before, mut most) = (count(&mut fmu), [0; 2]);
        for k in 0..200 {
            fmu.step(k as f64 * 1e-2, 1e-2);
            let after = count(&mut fmu);
            most = [0, 1].map(|i| most[i].max(after[i] - before[i]));
            before = after;
        }
        // One piece of the step more for each event, and, if implicit, an entry of the Jacobian after it; the
        // rest are trials.
        let implicit = i64::from(options.contains("implicit"));
        assert!(most[0] > substeps + events + implicit * events, "{options}: {most:?}");
        for (most, name) in most.into_iter().zip(["evaluations", "indicator_calls"]) {
            let bound = bound[name].as_f64().unwrap();
            assert!((bound / 4.0..=bound).contains(&(most as f64)), "{options}: {most} {name} of {bound}");
        }
    }
}

/// Linear models have a constant Jacobian: asking for `every` must not cost more calls than there are entries
/// that vary, which is none.
#[test]
fn constant_entries_are_not_asked_for_again() {
    let [time, states, derivatives, _, _, _, _, directional] =
        calls_per_step("--method lie --mode implicit --jacobian every");
    assert_eq!([time, states, derivatives, directional], [1, 1, 1, 0]);
}

/// The C host, compiled against the header of the runtime's interface.
fn host(folder: &Path) -> PathBuf {
    host_with(folder, "-DPLAIN")
}

/// Likewise, with one more definition.
fn host_with(folder: &Path, definition: &str) -> PathBuf {
    let program = folder.join(format!("host{definition}"));
    let header = Path::new(env!("FMU_RUNTIME_HEADER"));
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/host.c");
    let compiled = Command::new(std::env::var("CC").unwrap_or("cc".into()))
        .args([
            "-std=gnu11",
            "-O1",
            "-Wall",
            "-Wextra",
            "-Werror",
            "-fno-builtin",
            "-rdynamic",
            definition,
            "-o",
        ])
        .arg(&program)
        .arg("-I")
        .arg(header.parent().unwrap())
        .arg(source)
        .arg("-ldl")
        .output()
        .unwrap();
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
    program
}

/// What the host prints: allocations while instantiating, allocations and releases in the steps, the value.
fn drive(host: &Path, exported: &Exported, steps: usize, h: f64, name: &str) -> (u64, u64, u64, f64) {
    let binaries = exported.root.join("binaries/linux64");
    let library = std::fs::read_dir(binaries).unwrap().next().unwrap().unwrap().path();
    let output = Command::new(host)
        .arg(library)
        .arg(&exported.description.guid)
        .arg(exported.location())
        .args([steps.to_string(), h.to_string(), exported.reference(name).to_string()])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    // A ball that bounces ever faster has events put off, and says so once; so does a run that is less
    // accurate than it should be.
    let may_be_said =
        |line: &str| line.contains("the rest wait for the next step") || line.contains("is estimated at");
    assert!(said.lines().all(may_be_said), "{said}");
    let line = String::from_utf8(output.stdout).unwrap();
    let words: Vec<&str> = line.split_whitespace().collect();
    let count = |i: usize| words[i].parse().unwrap();
    (count(0), count(1), count(2), words[3].parse().unwrap())
}

/// The model's `malloc` is the host's, as with any library: what one allocates the other may free. Only where
/// the host exports functions that models bring along, which the model would call in place of its own, is it
/// bound apart (RTLD_DEEPBIND), `malloc` included.
#[test]
fn the_model_is_bound_apart_only_where_names_clash() {
    let folder = TempDir::new().unwrap();
    let exported =
        build("broken:allocates", "--step 10ms --stop 0.4 --method lie --mode explicit --twin off");
    let steps = 100; // the model allocates from t = 0.5 on
    let (_, allocations, releases, _) = drive(&host(folder.path()), &exported, steps, 0.01, "x");
    // In each evaluation three blocks, one of them enlarged; fifty steps, and what the event at t = 0.5
    // takes.
    let evaluations = allocations / 4;
    assert!((50..60).contains(&evaluations), "{allocations}");
    assert_eq!((allocations, releases), (4 * evaluations, 3 * evaluations));
    let clashing = host_with(folder.path(), "-DCLASH");
    let (_, allocations, releases, _) = drive(&clashing, &exported, steps, 0.01, "x");
    assert_eq!((allocations, releases), (0, 0));
}

/// No allocation and no release in fmi2DoStep: state events, time events, a Jacobian that is refreshed, a
/// long sparse block, a put-off event in every step.
#[test]
fn no_allocation_in_a_step() {
    let folder = TempDir::new().unwrap();
    let host = host(folder.path());
    for (model, options, h, name) in [
        ("bouncing-ball", "", 1e-3, "h"),
        ("sampled-controller", "--method lie --mode implicit", 3e-3, "x1"),
        ("van-der-pol", "--method lie --mode implicit --jacobian every", 1e-3, "x"),
        ("spring-pendulum", "--method lie --mode implicit --jacobian rolling", 1e-3, "x"),
        ("heat-rod:100", "--method lie --mode implicit", 1e-3, "T_mid"),
        ("chatter", "--stop 0.1 --force", 1e-2, "x"),
        ("stick-slip", "", 1e-3, "x"),
    ] {
        let exported = build(model, &format!("--step {h} {options}"));
        let steps = 12_000;
        let (instantiating, allocations, releases, value) = drive(&host, &exported, steps, h, name);
        assert!(instantiating > 10, "the counter does not count: {instantiating}");
        assert_eq!((allocations, releases), (0, 0), "{model}: in {steps} steps");
        // The same numbers as through the other importer.
        let mut fmu = exported.start(0.0, &[]);
        fmu.steps(0.0, h, steps);
        assert_eq!(fmu.real(name).to_bits(), value.to_bits(), "{model}");
    }
}

/// The clock is read only once somebody has asked for a time. Then a step of 10 ns is late in every step
/// (calling the model alone takes longer), one of 10 s in none.
#[test]
fn late_steps_are_counted() {
    for (h, late) in [(1e-8, 1000), (10.0, 0)] {
        let exported = build(
            "counting",
            &format!("--step {h} --stop {} --method lie --mode implicit --evaluation-time 1ns", 1000.0 * h),
        );
        let mut fmu = exported.start(0.0, &[]);
        fmu.steps(0.0, h, 10);
        assert_eq!((fmu.real("fmuBuild.stepTime"), fmu.integer("fmuBuild.overruns")), (0.0, 0));
        fmu.steps(10.0 * h, h, 1000);
        let time = fmu.real("fmuBuild.stepTime");
        assert!(time > 1e-8 && time < 10.0, "{time}");
        assert_eq!(fmu.integer("fmuBuild.overruns"), late, "h = {h}");
    }
}

/// On x' = -x a step of Euler's methods errs by h²/2 |x| and terms of higher order; x is of size 1.
#[test]
fn the_error_estimate_is_the_local_error() {
    let h = 0.01;
    for mode in ["implicit", "explicit"] {
        let exported = build(
            "dahlquist",
            &format!("--method lie --mode {mode} --step {h} --stop 1 --explore none --twin off"),
        );
        let mut fmu = exported.start(0.0, &[]);
        for k in 0..100 {
            fmu.step(k as f64 * h, h);
            let (estimate, expected) = (fmu.real("fmuBuild.errorEstimate"), h * h / 2.0 * fmu.real("x"));
            // The first step has none before it to compare with.
            assert!(
                k < 1 || (estimate / expected - 1.0).abs() < 0.03,
                "{mode}, step {k}: {estimate:e} for {expected:e}"
            );
        }
    }
}

/// `bench` measures, and its numbers are ordered.
#[test]
fn bench_measures_a_step() {
    let exported = build("van-der-pol", "--step 1ms --method lie --mode implicit");
    let page = exported.file.with_extension("html");
    let words =
        ["bench", exported.file.to_str().unwrap(), "--json", "--steps", "5000", "--realtime", "--report"];
    let json = succeed(words.into_iter().chain([page.to_str().unwrap()]));
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    let time = &found["step_time_ns"];
    let number = |name: &str| time[name].as_f64().unwrap_or_else(|| panic!("no {name} in {found}"));
    assert!(0.0 < number("p50") && number("p50") <= number("p99_9") && number("p99_9") <= number("max"));
    assert_eq!(found["allocations"], 0);
    // Real-time priority is a privilege; without it, the reason is told.
    assert_eq!(found["scheduler"] == "fifo", found["warnings"].as_array().unwrap().is_empty(), "{found}");
    let page = std::fs::read_to_string(page).unwrap();
    assert!(page.contains("<svg") && page.contains("Requests for memory"));
}
