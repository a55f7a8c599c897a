//! Build the two libraries that go into FMUs and hand their paths to the executable, which embeds them: a user
//! needs no compiler. Also write the C header of the runtime's interface.
//!
//! Each library is built by a cargo of its own, always optimised, in a target folder of its own, so that it does
//! not wait for the cargo that runs this script.

use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    let root = PathBuf::from(env("CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(env("OUT_DIR"));
    for folder in [
        "fmi2-types",
        "fmu-runtime/src",
        "fmu-runtime/Cargo.toml",
        "reference-fmus",
        "Cargo.toml",
        "Cargo.lock",
    ] {
        println!("cargo:rerun-if-changed={}", root.join(folder).display());
    }
    // One target folder for both: they share dependencies and profile.
    let target = out.join("libraries");
    let runtime = library(&root, &target, "fmu-runtime", &[]);
    let reference = library(&root, &target, "reference-fmus", &["--features", "export"]);
    println!("cargo:rustc-env=FMU_RUNTIME_LIBRARY={}", runtime.display());
    println!("cargo:rustc-env=REFERENCE_FMUS_LIBRARY={}", reference.display());

    let header = out.join("fmu_runtime.h");
    let config = cbindgen::Config {
        language: cbindgen::Language::C,
        include_guard: Some("FMU_RUNTIME_H".into()),
        documentation: false,
        export: cbindgen::ExportConfig {
            exclude: ["calloc", "free"].map(String::from).to_vec(),
            ..cbindgen::ExportConfig::default()
        },
        ..cbindgen::Config::default()
    };
    let bindings = cbindgen::Builder::new()
        .with_config(config)
        .with_src(root.join("fmi2-types/src/status.rs"))
        .with_src(root.join("fmi2-types/src/callbacks.rs"))
        .with_src(root.join("fmu-runtime/src/ffi.rs"))
        .generate()
        .expect("the C header cannot be generated");
    bindings.write_to_file(&header);
    println!("cargo:rustc-env=FMU_RUNTIME_HEADER={}", header.display());
}

/// Build a package's cdylib and return its path.
fn library(root: &Path, target: &Path, package: &str, more: &[&str]) -> PathBuf {
    let mut cargo = Command::new(env("CARGO"));
    cargo
        .current_dir(root)
        .args(["build", "--release", "--lib", "--package", package, "--target-dir"])
        .arg(target)
        .args(more);
    // What the outer cargo set for this script or for tools around it does not concern the libraries.
    for (name, _) in std::env::vars() {
        if name.starts_with("CARGO_FEATURE_") || name.starts_with("CARGO_CFG_") {
            cargo.env_remove(name);
        }
    }
    for name in [
        "RUSTC_WORKSPACE_WRAPPER",
        "CARGO_ENCODED_RUSTFLAGS",
        "RUSTFLAGS",
        "CARGO_BUILD_TARGET",
        "CARGO_TARGET_DIR",
    ] {
        cargo.env_remove(name);
    }
    let status = cargo.status().unwrap_or_else(|error| panic!("cargo cannot be started: {error}"));
    assert!(status.success(), "building {package} failed");
    let name = format!(
        "{}{}{}",
        std::env::consts::DLL_PREFIX,
        package.replace('-', "_"),
        std::env::consts::DLL_SUFFIX
    );
    let path = target.join("release").join(name);
    assert!(path.is_file(), "{} was not built", path.display());
    path
}

fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run this by cargo"))
}
