//! Work that must not grow faster than its input: counted in instructions, by valgrind, where it is
//! installed.

use crate::util::example;
use std::path::Path;
use std::process::Command;
use tempfile::TempDir;

/// Instructions of the builder's own process; the model's, in a process of its own, are not counted.
fn instructions(input: &Path, output: &Path) -> f64 {
    let run = Command::new("valgrind")
        .args(["--tool=cachegrind", "--cache-sim=no", "--cachegrind-out-file=/dev/null"])
        .arg(env!("CARGO_BIN_EXE_fmu-build"))
        .args([input, output])
        .args(["--step", "10ms", "--quiet"])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(run.status.success(), "{said}");
    let line = said.lines().find(|line| line.contains("I   refs:") || line.contains("I refs:")).unwrap();
    let count = line.split_whitespace().next_back().unwrap().replace(',', "");
    count.parse().unwrap()
}

/// An archive of 40,000 entries once took 19 s, because each folder was compared with every entry. Twice as
/// many more entries take twice as many more instructions; a comparison of each with each would take four
/// times as many.
#[test]
fn packing_is_linear_in_the_number_of_entries() {
    if Command::new("valgrind").arg("--version").output().is_err() {
        eprintln!("skipped: valgrind is not installed");
        return;
    }
    let folder = TempDir::new().unwrap();
    let model = example("dahlquist", folder.path());
    let with = |entries: usize| {
        let input = folder.path().join(format!("{entries}.fmu"));
        std::fs::copy(&model, &input).unwrap();
        let file = std::fs::File::options().read(true).write(true).open(&input).unwrap();
        let mut archive = zip::ZipWriter::new_append(file).unwrap();
        for i in 0..entries {
            // Empty folders: next to nothing is done for one by itself, so what is done for each pair shows.
            archive
                .add_directory(format!("resources/{i}/"), zip::write::SimpleFileOptions::default())
                .unwrap();
        }
        archive.finish().unwrap();
        instructions(&input, &folder.path().join(format!("{entries}-out.fmu")))
    };
    let [few, more, many] = [1000, 3000, 7000].map(with);
    let ratio = (many - more) / (more - few);
    assert!(ratio < 2.5, "{few} {more} {many}: {ratio}");
}
