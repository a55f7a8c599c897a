//! What the builder does with a model to learn about it: it leaves no traces, and what it is told by files and buffers is checked.

use crate::util::{build_file, example, fmu_build, summary};
use std::path::Path;
use tempfile::TempDir;

fn warnings(summary: &serde_json::Value) -> Vec<&str> {
    summary["warnings"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect()
}

fn refused(input: &Path, options: &[&str]) -> String {
    let output = input.with_extension("out.fmu");
    let mut words = vec![input.to_str().unwrap(), output.to_str().unwrap()];
    words.extend(options);
    let done = fmu_build(words);
    assert_eq!(done.status.code(), Some(1));
    assert!(!output.exists());
    String::from_utf8(done.stderr).unwrap()
}

/// States thrown aside by 3 % of 87 rad put this model on another branch, where w runs to -10: it cannot save its state, so that it must
/// not be thrown while it runs. Known answer: w = 10 all the time, so that every plan is exact.
#[test]
fn probing_leaves_the_run_as_it_was() {
    let summary = summary("branching", "--explore none");
    let error = summary["error"].as_f64().unwrap();
    assert!(error < 1e-6, "{error}");
    // w stands still, which is said; nothing else is.
    let other: Vec<&str> =
        warnings(&summary).into_iter().filter(|text| !text.contains("stands still")).collect();
    assert!(other.is_empty(), "{other:?}");
}

#[test]
fn writing_beyond_a_buffer_is_refused() {
    let folder = TempDir::new().unwrap();
    let message = refused(&example("writes-beyond", folder.path()), &[]);
    assert!(message.contains("fmi2GetDerivatives writes at least 2 values"), "{message}");
    assert!(message.contains("promises 1"), "{message}");
}

#[test]
fn an_output_that_is_no_number_is_named() {
    let folder = TempDir::new().unwrap();
    let message = refused(&example("nan-output", folder.path()), &[]);
    assert!(message.contains("the output y is NaN at t = 0.5"), "{message}");
}

/// A tunable parameter may have a column, as FMPy's users do it. One that fits nothing is named and left out; `--strict` refuses it.
#[test]
fn columns_drive_inputs_and_tunable_parameters() {
    let folder = TempDir::new().unwrap();
    let input = example("dc-drive", folder.path());
    let (table, output) = (folder.path().join("u.csv"), folder.path().join("out.fmu"));
    std::fs::write(&table, "time,u,d_l,speed\n0,24,0.5,1\n1,24,0.5,1\n1,12,5,1\n2,12,5,1\n").unwrap();
    let options = format!("--inputs {} --explore none", table.display());
    let summary = build_file(&input, &output, &options);
    let named: Vec<&str> = warnings(&summary).into_iter().filter(|text| text.contains("speed")).collect();
    assert!(named.len() == 1 && named[0].contains("ignored"), "{named:?}");
    assert!(!named[0].contains("d_l"), "{named:?}");
    let message = refused(&input, &["--strict", "--inputs", table.to_str().unwrap()]);
    assert!(message.contains("speed") && message.contains("its inputs: u, T_load"), "{message}");
}
