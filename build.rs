//! Embed the libraries that go into FMUs, so that a user needs no compiler. Also write the C header of the
//! runtime's interface.
//!
//! A plain `cargo build` compiles them for its own target, by a cargo of its own, always optimised, in a target folder of
//! its own, so that it does not wait for the cargo that runs this script. A distribution (tests/dist) has compiled them
//! for all platforms: FMU_BUILD_LIBRARIES is a folder with a folder for each platform. Whichever way, a library's
//! first bytes must be those of its platform.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

#[path = "fmu-runtime/src/platform.rs"]
#[allow(dead_code)]
mod platform;
use platform::{Format, PLATFORMS, Platform};

/// Package, more arguments for cargo.
const RUNTIME: (&str, &[&str]) = ("frontend", &[]);
const REFERENCES: (&str, &[&str]) = ("reference-fmus", &["--features", "export"]);

fn main() {
    let root = PathBuf::from(env("CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(env("OUT_DIR"));
    for folder in [
        "fmu-runtime/fmi2-types",
        "fmu-runtime/fmi3-types",
        "fmu-runtime/frontend",
        "fmu-runtime/src",
        "fmu-runtime/Cargo.toml",
        "fmu-runtime/stepper",
        "reference-fmus",
        "Cargo.toml",
        "Cargo.lock",
    ] {
        println!("cargo:rerun-if-changed={}", root.join(folder).display());
    }
    println!("cargo:rerun-if-env-changed=FMU_BUILD_LIBRARIES");
    let (runtimes, references) = match std::env::var_os("FMU_BUILD_LIBRARIES") {
        Some(folder) => {
            let folder = std::path::absolute(&folder).expect("FMU_BUILD_LIBRARIES is no path");
            (given(&folder, RUNTIME.0), given(&folder, REFERENCES.0))
        }
        None => {
            let platform = target_platform();
            // One target folder for both: they share dependencies and profile.
            let target = out.join("libraries");
            let build = |package| vec![(platform, library(&root, &target, platform, package))];
            (build(RUNTIME), build(REFERENCES))
        }
    };
    let code = format!("Libraries {{ runtimes: {}, references: {} }}", embed(&runtimes), embed(&references));
    std::fs::write(out.join("libraries.rs"), code).expect("OUT_DIR can be written");

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
        .with_src(root.join("fmu-runtime/fmi2-types/src/status.rs"))
        .with_src(root.join("fmu-runtime/fmi2-types/src/callbacks.rs"))
        .with_src(root.join("fmu-runtime/frontend/src/fmi2.rs"))
        .with_src(root.join("fmu-runtime/frontend/src/fmi2/states.rs"))
        .generate()
        .expect("the C header cannot be generated");
    bindings.write_to_file(&header);
    println!("cargo:rustc-env=FMU_RUNTIME_HEADER={}", header.display());
}

/// The platform that the executable is built for.
fn target_platform() -> &'static Platform {
    // Windows has two compilers, whose libraries go into the same folder.
    let target = env("TARGET").replace("-msvc", "-gnu");
    PLATFORMS
        .iter()
        .find(|platform| platform.triple == target)
        .unwrap_or_else(|| panic!("{target} is not in the table of platforms (fmu-runtime/src/platform.rs)"))
}

/// The library of `package` for every platform that `folder` has one for.
fn given(folder: &Path, package: &str) -> Vec<(&'static Platform, PathBuf)> {
    let place = |platform: &Platform| folder.join(platform.name).join(platform.compiled(package));
    let found: Vec<_> = PLATFORMS
        .iter()
        .map(|platform| (platform, place(platform)))
        .filter(|(_, path)| path.is_file())
        .collect();
    for (_, path) in &found {
        println!("cargo:rerun-if-changed={}", path.display());
    }
    let own = target_platform();
    assert!(
        found.iter().any(|(platform, _)| *platform == own),
        "FMU_BUILD_LIBRARIES has no {}: the executable could not make FMUs for its own platform",
        place(own).display()
    );
    found
}

/// Rust's text of the table, each library checked to be what its name says.
fn embed(libraries: &[(&Platform, PathBuf)]) -> String {
    let mut code = String::from("&[");
    for (platform, path) in libraries {
        let found = Format::of_file(path);
        assert!(
            found == Some(platform.format),
            "{} should be a library for {} but is {}",
            path.display(),
            platform.name,
            found.map_or("no library".to_string(), |format| format.to_string())
        );
        let _ =
            write!(code, "Library {{ platform: {:?}, bytes: include_bytes!({path:?}) }}, ", platform.name);
    }
    code + "]"
}

/// Build a package's cdylib and return its path.
fn library(root: &Path, target: &Path, platform: &Platform, (package, more): (&str, &[&str])) -> PathBuf {
    // Without --target cargo would build for the host, whatever the executable is for.
    let triple = env("TARGET");
    let cross: &[&str] = if triple == env("HOST") { &[] } else { &["--target", &triple] };
    let mut cargo = Command::new(env("CARGO"));
    cargo
        .current_dir(root)
        .args(["build", "--release", "--lib", "--package", package, "--target-dir"])
        .arg(target)
        .args(cross)
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
    // The same bytes in every folder and for every user: panics carry file names.
    let home = std::env::var("CARGO_HOME").unwrap_or_else(|_| env("HOME") + "/.cargo");
    let flags = [("/fmu-build", root.display().to_string()), ("/cargo", home)];
    let flags = flags.map(|(to, from)| format!("--remap-path-prefix={from}={to}"));
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f"));
    let status = cargo.status().unwrap_or_else(|error| panic!("cargo cannot be started: {error}"));
    assert!(status.success(), "building {package} failed");
    let folder = if cross.is_empty() { target.to_path_buf() } else { target.join(&triple) };
    let path = folder.join("release").join(platform.compiled(package));
    assert!(path.is_file(), "{} was not built", path.display());
    path
}

fn env(name: &str) -> String {
    std::env::var(name).unwrap_or_else(|_| panic!("{name} is not set: run this by cargo"))
}
