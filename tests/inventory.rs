//! What the executable and the FMUs are made of: where `unsafe` stands, which packages under which licences, which Rust they need.

use std::fs;
use std::path::{Path, PathBuf};

/// Every file with unsafe code, and why it needs it.
const FILES: [(&str, &str); 31] = [
    (
        "fmu-builder/src/system/unix/shared.rs",
        "the number of the last call, in memory that builder and worker share",
    ),
    ("fmu-builder/src/worker/audit/interpose.rs", "calls of malloc are counted, in a process of its own"),
    ("fmu-builder/src/worker/load.rs", "a foreign library is loaded, in a process of its own"),
    ("fmu-runtime/fmi2-types/src/callbacks.rs", "the C types of FMI"),
    ("fmu-runtime/fmi3-types/src/lib.rs", "the type of a C function"),
    ("fmu-runtime/frontend/src/allocator.rs", "the allocator that counts"),
    ("fmu-runtime/frontend/src/fmi2.rs", "the C functions that importers call"),
    ("fmu-runtime/frontend/src/fmi2/states.rs", "the C functions for saved states"),
    ("fmu-runtime/frontend/src/fmi3.rs", "the C functions that importers call"),
    ("fmu-runtime/frontend/src/fmi3/host.rs", "the host's logger is called"),
    ("fmu-runtime/frontend/src/fmi3/refused.rs", "the C functions that are there to refuse"),
    ("fmu-runtime/frontend/src/fmi3/states.rs", "the C functions for saved states"),
    ("fmu-runtime/frontend/src/fmi3/values.rs", "the C functions for values"),
    ("fmu-runtime/frontend/src/own_library.rs", "the system is asked where this library lies"),
    ("fmu-runtime/frontend/src/pointers.rs", "pointers from C"),
    ("fmu-runtime/frontend/src/resources.rs", "the model inside is loaded"),
    ("fmu-runtime/src/fmi/fmi2.rs", "the C functions of the model inside"),
    ("fmu-runtime/src/fmi/fmi3/functions.rs", "the C functions of a model of FMI 3.0 inside"),
    ("fmu-runtime/src/fmi/fmi3/mod.rs", "it is instantiated and called"),
    ("fmu-runtime/src/fmi/fmi3/table.rs", "it answers the functions of FMI 2.0"),
    ("fmu-runtime/src/fmi/fmi3/values.rs", "its values"),
    ("fmu-runtime/src/fmi/loader.rs", "its library is loaded"),
    ("fmu-runtime/src/fmi/logger.rs", "its messages, with C's variable arguments"),
    ("reference-fmus/src/abi.rs", "the C functions of the reference models"),
    ("reference-fmus/src/abi/break_down.rs", "faults that take the C library"),
    ("reference-fmus/src/abi/tests.rs", "an importer of theirs"),
    ("tests/conformance.rs", "calls that an importer should not make"),
    ("tests/driver.rs", "an importer"),
    ("tests/faults.rs", "calls after a failure"),
    ("tests/fmi3_shell.rs", "an importer of FMI 3.0"),
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

/// The packages that are compiled for this system, as cargo names them.
fn packages() -> Vec<serde_json::Value> {
    let cargo = std::env::var("CARGO").unwrap_or("cargo".into());
    let platform = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = std::process::Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--filter-platform", &platform])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let used: Vec<&serde_json::Value> =
        found["resolve"]["nodes"].as_array().unwrap().iter().map(|node| &node["id"]).collect();
    let all = found["packages"].as_array().unwrap().iter();
    all.filter(|package| used.contains(&&package["id"])).cloned().collect()
}

/// The words in quotation marks of a list of deny.toml that begins with this line.
fn listed(text: &str, begin: &str) -> Vec<String> {
    let list = text.split_once(begin).unwrap_or_else(|| panic!("deny.toml has no {begin}")).1;
    let list = list.split_once("\n]").unwrap().0;
    let lines = list.lines().filter(|line| !line.trim_start().starts_with('#'));
    lines.filter_map(|line| Some(line.split('"').nth(1)?.to_string())).collect()
}

/// Is a licence expression met by the accepted licences? `OR` binds less than `AND`; a slash is an old `OR`.
fn is_accepted(expression: &str, accepted: &[String]) -> bool {
    let expression = expression.replace('/', " OR ");
    let parts = |text: &str, word: &str| -> Vec<String> {
        let (mut depth, mut parts) = (0, vec![String::new()]);
        for token in text.replace('(', " ( ").replace(')', " ) ").split_whitespace() {
            depth += i32::from(token == "(") - i32::from(token == ")");
            match token == word && depth == 0 {
                true => parts.push(String::new()),
                false => *parts.last_mut().unwrap() += &format!("{token} "),
            }
        }
        parts.iter().map(|part| part.trim().to_string()).collect()
    };
    fn inner(text: &str, accepted: &[String], parts: &dyn Fn(&str, &str) -> Vec<String>) -> bool {
        for (word, any) in [("OR", true), ("AND", false)] {
            let parts_of = parts(text, word);
            if parts_of.len() > 1 {
                let mut met = parts_of.iter().map(|part| inner(part, accepted, parts));
                return if any { met.any(|met| met) } else { met.all(|met| met) };
            }
        }
        match text.strip_prefix("( ").and_then(|text| text.strip_suffix(" )")) {
            Some(text) => inner(text, accepted, parts),
            None => accepted.iter().any(|licence| licence == text),
        }
    }
    inner(&expression, accepted, &parts)
}

/// What `cargo deny` checks, for those who do not have it: every licence is accepted, nothing that is banned is there, and
/// only what is listed is there in two versions.
#[cfg(target_os = "linux")]
#[test]
fn packages_are_those_that_are_accepted() {
    let deny = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("deny.toml")).unwrap();
    let accepted = listed(&deny, "\nallow = [");
    let (banned, twice) = (listed(&deny, "\ndeny = ["), listed(&deny, "\nskip = ["));
    assert!(is_accepted("(MIT OR GPL-3.0) AND Zlib", &accepted) && is_accepted("Foo/MIT", &accepted));
    assert!(!is_accepted("MIT AND GPL-3.0", &accepted) && !is_accepted("GPL-3.0", &accepted));
    let packages = packages();
    assert!(packages.len() > 50, "{}", packages.len());
    let mut names: Vec<&str> = Vec::new();
    for package in &packages {
        let name = package["name"].as_str().unwrap();
        let licence = package["license"].as_str().unwrap_or("none");
        let exempt = name == "cbindgen" && licence == "MPL-2.0";
        assert!(exempt || is_accepted(licence, &accepted), "{name}: {licence}");
        assert!(!banned.iter().any(|banned| banned == name), "{name} is banned");
        names.push(name);
    }
    names.sort();
    for pair in names.windows(2).filter(|pair| pair[0] == pair[1]) {
        assert!(twice.iter().any(|listed| listed == pair[0]), "{} is there twice", pair[0]);
    }
}

/// What is said of Rust's version is said once more where users read it.
#[test]
fn the_minimum_of_rust_is_one() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let minimum = env!("CARGO_PKG_RUST_VERSION");
    let readme = fs::read_to_string(root.join("README.md")).unwrap();
    assert!(readme.contains(&format!("Rust ({minimum} or newer)")), "README.md does not name Rust {minimum}");
}
