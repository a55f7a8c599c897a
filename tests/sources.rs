//! FMUs that bring their sources, of FMI 2.0 and 3.0: compiled with `cc`, and then models like any other.
//!
//! `pair` is one source for both versions of FMI. `rod` is a rod of n cells in FMI 3.0: x_j' = 50 (x_(j-1) - 2 x_j + x_(j+1)) with
//! ends at u = 0, states in an array whose length is a structural parameter, a clock that samples the cell in the middle.

use crate::driver::Exported;
use crate::util::{build_file, fmu_build};
use std::f64::consts::PI;
use std::io::Write;
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const PAIR: &str = include_str!("data/sources/pair.c");
const ROD: &str = include_str!("data/sources/rod.c");
const ROD_XML: &str = include_str!("data/sources/rod3.xml");

fn fmu(folder: &Path, name: &str, files: &[(&str, &str)]) -> PathBuf {
    let path = folder.join(name);
    let mut writer = ZipWriter::new(std::fs::File::create(&path).unwrap());
    for (name, content) in files {
        writer.start_file(*name, SimpleFileOptions::default()).unwrap();
        writer.write_all(content.as_bytes()).unwrap();
    }
    writer.finish().unwrap();
    path
}

fn build_description(identifier: &str, file: &str) -> String {
    format!(
        "<fmiBuildDescription fmiVersion=\"3.0\"><BuildConfiguration modelIdentifier=\"{identifier}\"><SourceFileSet \
         language=\"C99\"><SourceFile name=\"{file}\"/></SourceFileSet></BuildConfiguration></fmiBuildDescription>"
    )
}

fn pair2(folder: &Path) -> PathBuf {
    let xml = include_str!("data/sources/pair2.xml");
    fmu(folder, "pair2.fmu", &[("modelDescription.xml", xml), ("sources/pair.c", PAIR)])
}

fn pair3(folder: &Path) -> PathBuf {
    let (xml, how) = (include_str!("data/sources/pair3.xml"), build_description("pair", "pair.c"));
    let files = [
        ("modelDescription.xml", xml),
        ("sources/buildDescription.xml", how.as_str()),
        ("sources/pair.c", PAIR),
    ];
    fmu(folder, "pair3.fmu", &files)
}

fn rod(folder: &Path, xml: &str) -> PathBuf {
    let how = build_description("rod3", "rod.c");
    let files = [
        ("modelDescription.xml", xml),
        ("sources/buildDescription.xml", how.as_str()),
        ("sources/rod.c", ROD),
    ];
    fmu(folder, "rod.fmu", &files)
}

/// The command must refuse; what it says.
fn refused(input: &Path, options: &str) -> String {
    let output = input.with_extension("out.fmu");
    let mut arguments = vec![input.to_str().unwrap(), output.to_str().unwrap()];
    arguments.extend(options.split_whitespace());
    let done = fmu_build(arguments);
    assert_eq!(done.status.code(), Some(1), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(!output.exists());
    String::from_utf8(done.stderr).unwrap()
}

/// One model in two versions of FMI: the same plan, and the same numbers to the bit.
#[test]
fn twins_of_two_versions_are_equal() {
    let folder = TempDir::new().unwrap();
    let runs = [pair2(folder.path()), pair3(folder.path())].map(|input| {
        let own = TempDir::new().unwrap();
        let output = own.path().join("out.fmu");
        let summary = build_file(&input, &output, "--evaluation-time 100ns --fmi 2");
        let kinds = summary["warning_kinds"].to_string();
        assert!(kinds.contains("from_sources"), "{kinds}");
        let exported = Exported::unpack(&output, own);
        let mut plan: serde_json::Value =
            serde_json::from_slice(&std::fs::read(exported.root.join("resources/plan.json")).unwrap())
                .unwrap();
        assert_eq!(plan["inner"].is_null(), input.ends_with("pair2.fmu"));
        plan["inner"] = serde_json::Value::Null;
        plan["model"]["guid"] = serde_json::Value::Null;
        let mut fmu = exported.start(0.0, &[]);
        let mut values = Vec::new();
        for step in 0..100 {
            fmu.set_real("u", f64::from(step % 7));
            fmu.step(f64::from(step) * 0.01, 0.01);
            values.extend(fmu.reals(&["x", "y", "der(y)"]).iter().map(|value| value.to_bits()));
        }
        (plan.to_string(), values)
    });
    assert_eq!(runs[0].0, runs[1].0, "the plans differ");
    assert_eq!(runs[0].1, runs[1].1, "the numbers differ");
}

/// x_j(t) = Σ_k c_k sin(jkπ/(n+1)) exp(-200 sin²(kπ/(2(n+1))) t), with c_k such that x_j(0) = 1. The clock ticks at 0, 0.05, …:
/// after 0.5 s it has ticked 11 times, and the sample is the cell at the last tick, which is now.
fn check_rod(options: &str, n: u32) {
    let folder = TempDir::new().unwrap();
    let output = folder.path().join("out.fmu");
    build_file(&rod(folder.path(), ROD_XML), &output, &format!("{options} --fmi 2"));
    let exported = Exported::unpack(&output, folder);
    let mut fmu = exported.start(0.0, &[]);
    fmu.steps(0.0, 0.01, 50);
    let of = f64::from(n + 1);
    let exact = |j: u32| -> f64 {
        (1..=n)
            .map(|k| {
                let sine = |i: u32| (f64::from(i) * f64::from(k) * PI / of).sin();
                let c = 2.0 / of * (1..=n).map(sine).sum::<f64>();
                c * sine(j) * (-200.0 * (f64::from(k) * PI / (2.0 * of)).sin().powi(2) * 0.5).exp()
            })
            .sum()
    };
    for j in 1..=n {
        let found = fmu.real(&format!("T[{j}]"));
        assert!((found - exact(j)).abs() < 1e-3, "n = {n}, cell {j}: {found}, exactly {}", exact(j));
    }
    assert_eq!(fmu.integer("count"), 11);
    assert_eq!(fmu.real("held"), fmu.real("middle"));
    assert_eq!(fmu.integer("n"), n as i32);
}

#[test]
fn arrays_clocks_and_structural_sizes() {
    check_rod("--explore none", 5);
    check_rod("--explore none --set n=12", 12);
}

/// An element of an array input moves its own end of the rod, and no other: with u[2] = 1 alone the steady state is j/(n+1).
#[test]
fn one_element_of_an_array_is_set_alone() {
    let folder = TempDir::new().unwrap();
    let output = folder.path().join("out.fmu");
    build_file(&rod(folder.path(), ROD_XML), &output, "--explore none --fmi 2");
    let exported = Exported::unpack(&output, folder);
    let mut fmu = exported.start(0.0, &[]);
    fmu.set_real("u[2]", 1.0);
    fmu.steps(0.0, 0.01, 500);
    for j in 1..=5 {
        let found = fmu.real(&format!("T[{j}]"));
        assert!((found - f64::from(j) / 6.0).abs() < 1e-6, "cell {j}: {found}");
    }
}

#[test]
fn what_is_wrong_is_said() {
    let folder = TempDir::new().unwrap();
    let good = rod(folder.path(), ROD_XML);
    assert!(refused(&good, "--cc no-such-compiler").contains("no-such-compiler cannot be started"));
    let said = refused(&good, "--cflags -DModel=@");
    assert!(said.contains("cc could not compile rod.c of the FMU's sources:"), "{said}");
    let said = refused(
        &rod(folder.path(), &ROD_XML.replace("constant\" intervalDecimal=\"0.05\"", "triggered\"")),
        "",
    );
    assert!(said.contains("the clock sample is an input that another FMU triggers"), "{said}");
    // The model has 5 states, the description 4.
    let fewer = ROD_XML.replace("<Dimension valueReference=\"7\"/>", "<Dimension start=\"4\"/>");
    let said = refused(&rod(folder.path(), &fewer), "");
    assert!(said.contains("the model has 5 continuous states, its modelDescription.xml says 4"), "{said}");
    let outside = build_description("rod3", "../modelDescription.xml");
    let files = [("modelDescription.xml", ROD_XML), ("sources/buildDescription.xml", outside.as_str())];
    let said = refused(&fmu(folder.path(), "outside.fmu", &files), "");
    assert!(
        said.contains("names \"../modelDescription.xml\", which leads out of the FMU's folder sources"),
        "{said}"
    );
    let none = refused(&crate::util::example("dahlquist", folder.path()), "--from-sources");
    assert!(none.contains("it brings no sources"), "{none}");
}

/// A compiler that does not come back is ended after the time limit, and what it started goes with it.
#[cfg(unix)]
#[test]
fn a_compiler_that_hangs_is_ended() {
    use std::os::unix::fs::PermissionsExt;
    let folder = TempDir::new().unwrap();
    let compiler = folder.path().join("slow-cc");
    let mark = "86399.75";
    std::fs::write(&compiler, format!("#!/bin/sh\nsleep {mark} & sleep {mark}\n")).unwrap();
    std::fs::set_permissions(&compiler, PermissionsExt::from_mode(0o755)).unwrap();
    let options = format!("--time-limit 2s --cc {}", compiler.display());
    let said = refused(&rod(folder.path(), ROD_XML), &options);
    assert!(said.contains("compiling its sources took longer than 2 s"), "{said}");
    let running = std::fs::read_dir("/proc").into_iter().flatten().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.starts_with(b"sleep\0") && line.windows(mark.len()).any(|part| part == mark.as_bytes())
    });
    assert!(!running, "a process of the compiler goes on");
}
