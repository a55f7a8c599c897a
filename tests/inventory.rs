//! Where `unsafe` stands, in what is shipped and in the tests: a list that a change has to touch.

use std::fs;
use std::path::{Path, PathBuf};

/// Every file with unsafe code, and why it needs it.
const FILES: [(&str, &str); 17] = [
    ("fmu-builder/src/worker/load.rs", "a foreign library is loaded, in a process of its own"),
    ("fmu-runtime/fmi2-types/src/callbacks.rs", "the C types of FMI"),
    ("fmu-runtime/src/ffi.rs", "the C functions that importers call"),
    ("fmu-runtime/src/ffi/allocator.rs", "the allocator that counts"),
    ("fmu-runtime/src/ffi/own_library.rs", "the system is asked where this library lies"),
    ("fmu-runtime/src/ffi/pointers.rs", "pointers from C"),
    ("fmu-runtime/src/ffi/states.rs", "the C functions for saved states"),
    ("fmu-runtime/src/fmi/fmi2.rs", "the C functions of the model inside"),
    ("fmu-runtime/src/fmi/loader.rs", "its library is loaded"),
    ("fmu-runtime/src/fmi/logger.rs", "its messages, with C's variable arguments"),
    ("reference-fmus/src/abi.rs", "the C functions of the reference models"),
    ("reference-fmus/src/abi/break_down.rs", "faults that take the C library"),
    ("reference-fmus/src/abi/tests.rs", "an importer of theirs"),
    ("tests/conformance.rs", "calls that an importer should not make"),
    ("tests/driver.rs", "an importer"),
    ("tests/faults.rs", "calls after a failure"),
    ("tests/fuzz.rs", "calls that an importer should not make"),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        let name = entry.file_name().unwrap().to_string_lossy().into_owned();
        if entry.is_dir() && name != "target" && !name.starts_with('.') {
            sources(&entry, found);
        } else if name.ends_with(".rs") {
            found.push(entry);
        }
    }
}

/// `unsafe {`, `unsafe fn`, `unsafe extern`, `unsafe impl`, `#[unsafe(`; comments and texts apart.
fn has_unsafe(text: &str) -> bool {
    text.lines().map(str::trim_start).filter(|line| !line.starts_with("//")).any(|line| {
        ["unsafe {", "unsafe fn", "unsafe extern", "unsafe impl", "unsafe trait", "#[unsafe("]
            .iter()
            .any(|form| line.contains(form) && !line.contains(&format!("\"{form}")))
    })
}

#[test]
fn unsafe_code_stands_only_where_c_is_called() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = Vec::new();
    sources(root, &mut files);
    let relative = |path: &Path| path.strip_prefix(root).unwrap().to_string_lossy().into_owned();
    let with = files.iter().filter(|path| has_unsafe(&fs::read_to_string(path).unwrap()));
    let mut found: Vec<String> = with.map(|path| relative(path)).collect();
    found.sort();
    assert_eq!(found, FILES.map(|(file, _)| file));
    // What is shipped is also named where the lint is set.
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let lint = manifest.lines().find(|line| line.starts_with("unsafe_code = \"deny\"")).unwrap();
    for file in found.iter().filter(|file| file.contains("/src/") && !file.starts_with("tests/")) {
        let (package, path) = file.split_once("/src/").unwrap();
        let folder = path.split_once('/').map_or(path, |(folder, _)| folder);
        assert!(lint.contains(package), "{package} is not named: {lint}");
        assert!(lint.contains(path) || lint.contains(&format!("{folder}/")), "{file} is not named: {lint}");
    }
}
