//! `fmu-build compare`: the original and the exported FMU, both driven by a file.

use crate::util::{build_file, example, fmu_build, succeed};
use serde_json::Value;
use std::path::PathBuf;
use tempfile::TempDir;

/// A drive, what was built from it, and signals for both.
struct Pair {
    folder: TempDir,
    original: PathBuf,
    built: PathBuf,
    summary: Value,
    inputs: PathBuf,
}

impl Pair {
    fn new(options: &str) -> Pair {
        let folder = TempDir::new().unwrap();
        let (original, built) = (folder.path().join("drive.fmu"), folder.path().join("rt.fmu"));
        let inputs = folder.path().join("drive.csv");
        let [fmu, table] = [&original, &inputs].map(|path| path.to_str().unwrap());
        succeed(["example", "dc-drive", fmu, "--inputs", table]);
        let options = format!("--step 1ms --explore none --inputs {table} {options}");
        let summary = build_file(&original, &built, &options);
        Pair { folder, original, built, summary, inputs }
    }

    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_string()
    }

    fn arguments<'a>(&'a self, more: &[&'a str]) -> Vec<&'a str> {
        let files = [&self.original, &self.built].map(|path| path.to_str().unwrap());
        let mut all = vec!["compare", files[0], files[1], "--inputs", self.inputs.to_str().unwrap()];
        all.extend(more);
        all
    }
}

/// The run that was certified, driven again from outside: the error is the certificate's. The build keeps as many points as the
/// comparison, so that the two differ by the accuracy of the accurate solution (1e-6 and 1e-7 of the range) alone.
#[test]
fn the_comparison_finds_what_was_certified() {
    let pair = Pair::new("");
    let found: Value = serde_json::from_str(&succeed(pair.arguments(&["--json"]))).unwrap();
    let run = &found["runs"][0];
    for output in run["outputs"].as_array().unwrap() {
        let name = &output["name"];
        let certified =
            pair.summary["errors"].as_array().unwrap().iter().find(|it| &it["name"] == name).unwrap();
        for (ours, theirs) in [("rms", "error"), ("peak", "peak")] {
            let (ours, theirs) = (output[ours].as_f64().unwrap(), certified[theirs].as_f64().unwrap());
            assert!((ours - theirs).abs() < 1e-5 + 0.01 * theirs, "{name}: {ours} is not {theirs}");
        }
        assert!(
            output["rms_absolute"].as_f64().unwrap() <= output["peak_absolute"].as_f64().unwrap(),
            "{output}"
        );
    }
    let (error, told) = (found["error"].as_f64().unwrap(), run["estimate"].as_f64().unwrap());
    assert!(told > 0.1 * error && told < 10.0 * error, "fmuBuild.error says {told}, the error is {error}");
}

/// The table has both trajectories, the page draws them, JUnit's file names the outputs; a limit that is missed is exit code 1.
#[test]
fn a_limit_gates() {
    let pair = Pair::new("");
    let files = ["c.csv", "c.html", "c.xml"].map(|name| pair.path(name));
    let written = ["--csv", &files[0], "--report", &files[1], "--junit", &files[2]];
    let text = succeed(pair.arguments(&written));
    assert!(text.contains("w_l") && text.contains("fmuBuild.error says"), "{text}");
    let table = std::fs::read_to_string(&files[0]).unwrap();
    assert!(table.starts_with("time,i,i (built),w_l,w_l (built),"), "{}", &table[..100]);
    let rows: Vec<Vec<f64>> = table
        .lines()
        .skip(1)
        .map(|line| line.split(',').take(3).map(|cell| cell.parse().unwrap()).collect())
        .collect();
    let most = rows.iter().map(|row| row[1].abs()).fold(0.0, f64::max);
    let apart = rows.iter().map(|row| (row[1] - row[2]).abs()).fold(0.0, f64::max);
    assert!(most > 1.0 && apart < 0.1 * most, "{most} {apart}");
    let page = std::fs::read_to_string(&files[1]).unwrap();
    assert!(page.contains("<svg") && page.contains("w_l"));
    let junit = std::fs::read_to_string(&files[2]).unwrap();
    assert!(junit.contains("name=\"w_l\"/>") && junit.contains("failures=\"0\""), "{junit}");
    succeed(pair.arguments(&["--max-error", "50%", "--max-peak", "w_l=1000rpm"]));
    for (limit, words) in [
        (["--max-error", "w_l=1e-9"], "w_l: error "),
        (["--max-peak", "w_l=1e-9rpm"], "more than 0.000000001 rpm"),
        (["--max-error", "i=1nA"], "i: error "),
    ] {
        let mut arguments = pair.arguments(&limit);
        arguments.extend(["--junit", &files[2]]);
        let output = fmu_build(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(words), "{limit:?}: {said}");
        assert!(std::fs::read_to_string(&files[2]).unwrap().contains("<failure message="));
    }
}

/// What cannot be compared is refused: another model, a name that is no output, a unit that measures something else.
#[test]
fn what_cannot_be_compared_is_refused() {
    let pair = Pair::new("");
    let refused = |arguments: Vec<&str>, words: &str| {
        let output = fmu_build(arguments);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(1), "{said}");
        assert!(said.contains(words), "{said}");
    };
    refused(pair.arguments(&["--max-error", "T_gaer=1%"]), "did you mean T_gear?");
    refused(pair.arguments(&["--max-error", "w_l=1V"]), "\"V\" cannot be converted to the unit of w_l");
    refused(pair.arguments(&["--max-error", "1rpm"]), "a limit in a unit needs the output's name");
    let other = example("dahlquist", pair.folder.path());
    refused(vec!["compare", other.to_str().unwrap(), pair.built.to_str().unwrap()], "was not built from");
}

/// One FMU alone is simulated: the original accurately, ours step by step; both to the table, which is the answer without `--csv`.
#[test]
fn one_fmu_alone_is_simulated() {
    let pair = Pair::new("");
    let inputs = pair.inputs.to_str().unwrap();
    let ends: Vec<f64> = [&pair.original, &pair.built]
        .map(|fmu| {
            let table = succeed(["compare", fmu.to_str().unwrap(), "--inputs", inputs]);
            let header = table.lines().next().unwrap().to_string();
            assert!(header.starts_with("time,i,w_l"), "{header}");
            table.lines().last().unwrap().split(',').nth(2).unwrap().parse().unwrap()
        })
        .to_vec();
    assert!((ends[0] - ends[1]).abs() < 0.05 * ends[0].abs().max(1e-3), "{ends:?}");
}
