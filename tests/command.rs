//! What the command prints and writes.

use crate::util::{build, build_file, data, edit_description, example, fmu_build, rewrite, succeed, unzip};
use std::io::Write;
use tempfile::TempDir;

/// Everything that `--json` promises.
const KEYS: [&str; 21] = [
    "states",
    "explicit_states",
    "implicit_states",
    "nonzeros",
    "kept_nonzeros",
    "blocks",
    "largest_block",
    "tears",
    "colours",
    "evaluations_per_step",
    "operations_per_step",
    "jacobian",
    "mode",
    "method",
    "step",
    "substeps",
    "spectral_radius",
    "error",
    "step_time_ns",
    "evaluation_time_ns",
    "warnings",
];

#[test]
fn json_has_its_keys_and_nothing_else_on_stdout() {
    let folder = TempDir::new().unwrap();
    let output = folder.path().join("out.fmu");
    let found = build_file(&example("stiff-pair", folder.path()), &output, "--step 1ms");
    for key in KEYS {
        assert!(found.get(key).is_some(), "no {key} in {found}");
    }
    assert_eq!(found["states"], 2);
    assert_eq!(found["step"], 1e-3);
    for key in ["p50", "p99_9", "max"] {
        assert!(found["step_time_ns"][key].as_f64().is_some_and(|time| time > 0.0), "no {key} in {found}");
    }
    assert!(found["error"].as_f64().unwrap() < 0.01, "{found}");
}

/// A model that prints does so in the worker; the JSON stays whole.
#[test]
fn a_printing_model_does_not_disturb_json() {
    let folder = TempDir::new().unwrap();
    let input = example("printing", folder.path());
    let found = build_file(&input, &folder.path().join("out.fmu"), "");
    assert_eq!(found["states"], 1);
    let inspected: serde_json::Value =
        serde_json::from_str(&succeed(["inspect", input.to_str().unwrap(), "--json"])).unwrap();
    assert_eq!(inspected["states"], 1);
}

/// Descriptions and derivatives that lie are found out, by name, and the result is right all the same.
#[test]
fn lies_are_found_out() {
    let folder = TempDir::new().unwrap();
    let output = folder.path().join("out.fmu");
    let found =
        build_file(&example("wrong-structure", folder.path()), &output, "--method lie --mode implicit");
    let warnings = found["warnings"].to_string();
    assert!(warnings.contains("der(y)"), "{warnings}");
    assert_eq!(found["nonzeros"], 4, "{found}");
    let found =
        build_file(&example("wrong-directional", folder.path()), &output, "--method lie --mode implicit");
    assert!(found["warnings"].to_string().contains("irectional"), "{found}");
    assert_eq!(found["jacobian_source"], "differences", "{found}");
}

/// Same input, same bytes: also from another folder, under another name.
#[test]
fn same_input_same_bytes() {
    let folder = TempDir::new().unwrap();
    for model in ["van-der-pol", "bouncing-ball", "heat-rod:40", "all-types"] {
        let input = example(model, folder.path());
        let (first, second) = (folder.path().join("first.fmu"), folder.path().join("sub/second.fmu"));
        std::fs::create_dir_all(folder.path().join("sub")).unwrap();
        let copy = folder.path().join("sub/other name.fmu");
        std::fs::copy(&input, &copy).unwrap();
        build_file(&input, &first, "--step 1ms --stop 1");
        build_file(&copy, &second, "--step 1ms --stop 1");
        assert!(
            std::fs::read(&first).unwrap() == std::fs::read(&second).unwrap(),
            "{model}: two builds differ"
        );
        let again = folder.path().join("again.fmu");
        succeed(["example", model, again.to_str().unwrap()]);
        assert!(
            std::fs::read(&input).unwrap() == std::fs::read(&again).unwrap(),
            "{model}: two examples differ"
        );
    }
}

/// Another step is another FMU: the GUID tells them apart.
#[test]
fn another_plan_has_another_guid() {
    let guid = |options: &str| build("van-der-pol", options).description.guid;
    assert_ne!(guid("--step 1ms --stop 1"), guid("--step 2ms --stop 1"));
    assert_eq!(guid("--step 1ms --stop 1"), guid("--step 1e-3 --stop 1"));
}

/// Files that the FMU brought are kept: documentation in its place, what the model needs beside it.
#[test]
fn everything_in_the_archive_is_kept() {
    let folder = TempDir::new().unwrap();
    let (input, full) = (example("dahlquist", folder.path()), folder.path().join("full.fmu"));
    rewrite(&input, &full, &|_, content| Some(content));
    {
        let file = std::fs::OpenOptions::new().read(true).write(true).open(&full).unwrap();
        let mut writer = zip::ZipWriter::new_append(file).unwrap();
        for name in [
            "documentation/index.html",
            "documentation/deep/figure.png",
            "extra/org.example/data.bin",
            "licenses/license.txt",
            "model.png",
            "resources/table ä.csv",
            "sources/model.c",
        ] {
            writer.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
            writer.write_all(name.as_bytes()).unwrap();
        }
        writer.finish().unwrap();
    }
    let (output, root) = (folder.path().join("out.fmu"), folder.path().join("root"));
    build_file(&full, &output, "");
    unzip(&output, &root);
    let kept = |name: &str, was: &str| {
        let content = std::fs::read(root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(content, was.as_bytes(), "{name}");
    };
    kept("documentation/deep/figure.png", "documentation/deep/figure.png");
    kept("documentation/model.html", "documentation/index.html");
    for name in ["extra/org.example/data.bin", "licenses/license.txt", "model.png"] {
        kept(name, name);
    }
    kept("resources/inner/resources/table ä.csv", "resources/table ä.csv");
    kept("resources/inner/sources/model.c", "sources/model.c");
    assert!(root.join("documentation/index.html").is_file());
    let archive = zip::ZipArchive::new(std::fs::File::open(&output).unwrap()).unwrap();
    let names: Vec<String> = archive.file_names().map(|name| name.unwrap().into_owned()).collect();
    assert_eq!(archive.name_for_index(0).unwrap().unwrap(), "modelDescription.xml");
    assert!(names.iter().all(|name| !name.contains('\\')), "{names:?}");
}

/// The description: Co-Simulation only, a new GUID, the same variables and references, ours at the end.
#[test]
fn the_description_is_that_of_a_slave() {
    let folder = TempDir::new().unwrap();
    for file in ["mo2fmu_Rectifier.fmu", "rumoca_Rectifier.fmu", "rumoca_HeatLib_Rod.fmu"] {
        let root = folder.path().join(file);
        unzip(&data(file), &root);
        let before =
            model_description::read(&std::fs::read(root.join("modelDescription.xml")).unwrap()).unwrap();
        let exported = build(file, "--step 1e-4 --stop 0.01");
        let xml = std::fs::read_to_string(exported.root.join("modelDescription.xml")).unwrap();
        let after = &exported.description;
        for word in ["<ModelExchange", "numberOfEventIndicators", "reinit="] {
            assert!(!xml.contains(word), "{file}: {word}");
        }
        assert!(after.model_exchange.is_none() && after.co_simulation);
        assert!(
            xml.contains("canHandleVariableCommunicationStepSize=\"false\"")
                || !xml.contains("canHandleVariable")
        );
        assert_ne!(after.guid, before.guid);
        assert_eq!(after.default_experiment.step_size, Some(1e-4));
        let tool = after.generation_tool.clone().unwrap_or_default();
        assert!(
            tool.contains("fmu-build") && tool.starts_with(&before.generation_tool.unwrap_or_default()),
            "{tool}"
        );
        for (old, new) in before.variables.iter().zip(&after.variables) {
            assert_eq!(
                (&old.name, old.value_reference, old.kind),
                (&new.name, new.value_reference, new.kind)
            );
        }
        let ours: Vec<_> =
            after.variables[before.variables.len()..].iter().map(|v| v.name.as_str()).collect();
        assert_eq!(
            ours,
            [
                "fmuBuild.stepTime",
                "fmuBuild.overruns",
                "fmuBuild.allocations",
                "fmuBuild.events",
                "fmuBuild.carriedEvents",
                "fmuBuild.errorEstimate",
                "fmuBuild.planDefect",
                "fmuBuild.error",
                "fmuBuild.errorPeak",
                "fmuBuild.errorButForLateness",
                "fmuBuild.errorOutput",
                "fmuBuild.discreteError",
                "fmuBuild.stepsOutsidePlan",
                "fmuBuild.stepsWatchSpoke",
                "fmuBuild.jacobianRenewals",
                "fmuBuild.dampedSteps"
            ]
        );
    }
}

/// A variable of the model's that has one of our names keeps it; ours gets another, and that is said, in the certificate too.
#[test]
fn a_name_of_ours_that_the_model_has_is_the_models() {
    let folder = TempDir::new().unwrap();
    let plain = example("dahlquist", folder.path());
    let (edited, output) = (folder.path().join("edited.fmu"), folder.path().join("out.fmu"));
    edit_description(&plain, &edited, "name=\"x\"", "name=\"fmuBuild.stepsOutsidePlan\"");
    let summary = build_file(&edited, &output, "--explore none");
    let said = "the model has a variable fmuBuild.stepsOutsidePlan of its own: fmu-build's is called fmuBuild.stepsOutsidePlan_2 in \
                the new FMU";
    assert!(summary["warnings"].as_array().unwrap().contains(&said.into()), "{}", summary["warnings"]);
    let unpacked = folder.path().join("unpacked");
    unzip(&output, &unpacked);
    let certificate = std::fs::read_to_string(unpacked.join("resources/certificate.json")).unwrap();
    assert!(certificate.contains(said), "{certificate}");
    let description = std::fs::read_to_string(unpacked.join("modelDescription.xml")).unwrap();
    for name in ["\"fmuBuild.stepsOutsidePlan\"", "\"fmuBuild.stepsOutsidePlan_2\""] {
        assert_eq!(description.matches(&format!("name={name}")).count(), 1, "{name}");
    }
}

#[test]
fn inspect_tells_the_structure() {
    let folder = TempDir::new().unwrap();
    let input = example("heat-rod:50", folder.path());
    let found: serde_json::Value =
        serde_json::from_str(&succeed(["inspect", input.to_str().unwrap(), "--json"])).unwrap();
    assert_eq!(found["states"], 50);
    assert_eq!(found["nonzeros"], 148, "tridiagonal: 3 n - 2");
    assert_eq!(found["constant_nonzeros"], 148, "linear: nothing varies");
    assert_eq!((&found["blocks"], &found["largest_block"]), (&1.into(), &50.into()));
    assert!(succeed(["inspect", input.to_str().unwrap()]).contains("50 continuous states"));
    // A chain falls in two in its middle.
    assert_eq!(found["cut"]["parts"], serde_json::json!([25, 25]));
    assert_eq!(found["cut"]["names"], serde_json::json!(["T[25]", "T[26]"]));

    let input = example("van-der-pol", folder.path());
    let found: serde_json::Value =
        serde_json::from_str(&succeed(["inspect", input.to_str().unwrap(), "--json"])).unwrap();
    assert_eq!(
        (&found["nonzeros"], &found["constant_nonzeros"]),
        (&3.into(), &1.into()),
        "x' = v is constant"
    );
    assert_eq!(found["colours"], 2, "v' varies with x and with v");
}

#[test]
fn examples_are_listed() {
    let list = succeed(["example"]);
    for name in [
        "dahlquist",
        "prothero-robinson",
        "van-der-pol",
        "bouncing-ball",
        "stick-slip",
        "sampled-controller",
        "spring-pendulum",
        "stiff-pair",
        "rc-circuit",
        "dc-drive",
        "pipe",
        "heat-rod[:CELLS]",
        "all-types",
        "time-varying",
        "robot",
        "arm",
    ] {
        assert!(list.contains(name), "{name} is not in {list}");
    }
    assert!(!list.contains("bad-init"), "test models are hidden");
}

#[test]
fn the_summary_is_for_people() {
    let folder = TempDir::new().unwrap();
    let input = example("dahlquist", folder.path());
    let output = folder.path().join("out.fmu");
    let result = fmu_build([&input, &output]);
    let text = String::from_utf8(result.stdout).unwrap();
    assert!(
        text.contains("out.fmu") && text.contains("1 continuous state") && text.contains("100 ms"),
        "{text}"
    );
    let quiet = fmu_build([input.as_os_str(), output.as_os_str(), "--quiet".as_ref()]);
    assert!(quiet.status.success() && quiet.stdout.is_empty() && quiet.stderr.is_empty());
}

/// The report is written, and is a page that stands alone.
#[test]
fn a_report_is_written() {
    let folder = TempDir::new().unwrap();
    let input = example("spring-pendulum", folder.path());
    let report = folder.path().join("report.html");
    let options = format!("--step 1ms --stop 2 --report {}", report.display());
    build_file(&input, &folder.path().join("out.fmu"), &options);
    let page = std::fs::read_to_string(&report).unwrap();
    assert!(page.starts_with("<!DOCTYPE html>") || page.starts_with("<!doctype html>"), "{}", &page[..80]);
    assert!(page.contains("spring_pendulum") && page.contains("all implicit"), "{page}");
    for loading in ["src=\"http", "src=http", "<link", "@import", "url(http", "<script src"] {
        assert!(!page.contains(loading), "the page must stand alone, but has {loading}");
    }
}
