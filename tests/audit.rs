//! `fmu-build bench --audit` counts what a model does in its steps, exactly, and says it.

use crate::util::{build, succeed};
use serde_json::Value;
use tempfile::TempDir;

/// Every step evaluates the model once.
const ONCE: &str = "--step 10ms --stop 0.4 --method lie --mode explicit --twin off";

/// What the audit of a model says. It begins after a hundred steps: the models `broken:*` are broken by then.
fn audit(model: &str) -> Value {
    let exported = build(model, ONCE);
    let file = exported.file.as_os_str();
    let said = succeed([
        "bench".as_ref(),
        file,
        "--steps".as_ref(),
        "10".as_ref(),
        "--audit".as_ref(),
        "--json".as_ref(),
    ]);
    let said: Value = serde_json::from_str(&said).unwrap();
    said["audit"].clone()
}

fn verdict(audit: &Value) -> Vec<&str> {
    audit["verdict"].as_array().unwrap().iter().map(|sentence| sentence.as_str().unwrap()).collect()
}

/// Tracing can be forbidden, as some containers do; then it is said, and only the rest is known.
fn traced(audit: &Value) -> bool {
    let uncounted = audit["uncounted"].as_array().unwrap();
    assert!(uncounted.iter().all(|what| what.as_str().unwrap().starts_with("system calls (")), "{audit}");
    if !uncounted.is_empty() {
        eprintln!("skipped: {uncounted:?}");
    }
    uncounted.is_empty()
}

#[test]
fn allocations_are_counted_to_the_call() {
    let audit = audit("broken:allocates");
    assert_eq!(
        verdict(&audit),
        [
            "this model calls malloc 3 times per step in fmi2GetDerivatives",
            "this model calls realloc once per step in fmi2GetDerivatives",
            "this model calls free 3 times per step in fmi2GetDerivatives",
        ]
    );
    assert_eq!(audit["steps"], 1000);
    let leaks = self::audit("broken:leaks");
    assert_eq!(
        verdict(&leaks)[..2],
        [
            "this model calls malloc once per step in fmi2GetDerivatives",
            "this model keeps 1000 of 1000 blocks of memory that it took in 1000 steps in fmi2GetDerivatives",
        ]
    );
}

#[test]
fn system_calls_are_counted_and_named() {
    let prints = audit("broken:prints");
    if !traced(&prints) {
        return;
    }
    assert_eq!(
        verdict(&prints),
        ["this model writes to the terminal (write) once per step in fmi2GetDerivatives"]
    );
    assert_eq!(prints["traced_steps"], 1000);
    let sleeps = audit("broken:sleeps");
    let said = verdict(&sleeps);
    let one =
        matches!(said[..], [one] if one.starts_with("this model sleeps (") && one.contains("once per step"));
    assert!(one, "{said:?}");
    let threads = audit("broken:threads");
    let said = verdict(&threads);
    let starts = |sentence: &&str| sentence.starts_with("this model starts a thread or a process (clone");
    assert!(said.iter().any(|sentence| starts(sentence) && sentence.contains("once per step")), "{said:?}");
    let files = audit("broken:needs-directory");
    let said = verdict(&files);
    let writes =
        "this model writes to the file written-by-the-model.txt (write) once per step in fmi2GetDerivatives";
    assert!(said.contains(&writes), "{said:?}");
}

#[cfg(target_arch = "x86_64")]
#[test]
fn denormal_numbers_inside_the_model_are_seen() {
    let audit = audit("broken:denormals");
    assert_eq!(
        verdict(&audit),
        ["this model computes with denormal numbers in 1000 of 1000 calls of fmi2GetDerivatives"]
    );
}

/// Events, time events, inputs, a model of a Modelica tool: none of them is accused of anything.
#[test]
fn a_sound_model_is_not_accused() {
    for model in ["dahlquist", "bouncing-ball", "sampled-controller", "dc-drive", "mo2fmu_Thermostat.fmu"] {
        let exported = build(model, "--step 1ms");
        let file = exported.file.as_os_str();
        let folder = TempDir::new().unwrap();
        let page = folder.path().join("page.html");
        let arguments = ["bench".as_ref(), file, "--steps".as_ref(), "10".as_ref(), "--audit".as_ref()];
        let said = succeed(arguments.into_iter().chain(["--report".as_ref(), page.as_os_str()]));
        assert!(
            said.contains("in 1000 steps this model did nothing that real time forbids"),
            "{model}: {said}"
        );
        let page = std::fs::read_to_string(page).unwrap();
        assert!(page.contains("Forbidden in real time"), "{model}");
    }
}
