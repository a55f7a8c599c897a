//! FMUs that bring their sources: the user's compiler makes the library.
//!
//! | file | idea |
//! |---|---|
//! | `recipe` | which files, and how, as the FMU says |
//! | `mod` | the compiler, the headers, the request to the worker |
//! | `worker/compile.rs` | calls the compiler, in the worker's sandbox and with its time limit |
//!
//! FMI's own headers are the importer's to supply (FMI 2.0.4, section 2.3): those in `headers/` are searched last, so that an FMU
//! that brings its own is compiled with them. Functions that got the model's name as a prefix are found by the loader.

mod recipe;

use crate::error::Error;
use crate::lab::process::{self, Process, WorkerError};
use crate::options::{Compilation, Limits};
use crate::scratch::Scratch;
use crate::worker::{Answer, Compile, Request};
use fmu_runtime::platform;
use model_description::ModelDescription;
pub use recipe::{Recipe, Set};
use std::path::{Path, PathBuf};
use std::time::Duration;

const HEADERS: [(&str, &str); 6] = [
    ("fmi2Functions.h", include_str!("../../headers/fmi2Functions.h")),
    ("fmi2FunctionTypes.h", include_str!("../../headers/fmi2FunctionTypes.h")),
    ("fmi2TypesPlatform.h", include_str!("../../headers/fmi2TypesPlatform.h")),
    ("fmi3Functions.h", include_str!("../../headers/fmi3Functions.h")),
    ("fmi3FunctionTypes.h", include_str!("../../headers/fmi3FunctionTypes.h")),
    ("fmi3PlatformTypes.h", include_str!("../../headers/fmi3PlatformTypes.h")),
];

/// A library that was made here.
#[derive(Clone, Debug, PartialEq)]
pub struct Compiled {
    /// Its place in the archive.
    pub entry: String,
    pub file: PathBuf,
    /// How it was made, for people.
    pub how: String,
}

/// Make the library of the FMU that is unpacked in `root`, there. `None`: it brings no sources.
pub fn compile(
    path: &Path,
    root: &Path,
    description: &ModelDescription,
    options: &Compilation,
    limits: &Limits,
    scratch: &Scratch,
) -> Result<Option<Compiled>, Error> {
    let refused = |why: String| Error::Sources { path: path.into(), why };
    let Some(recipe) = Recipe::of(root, description).map_err(refused)? else { return Ok(None) };
    let identifier = description.model_exchange.as_ref().map_or("", |it| it.model_identifier.as_str());
    let compiler = match &options.cc {
        Some(cc) => cc.clone(),
        None => found_compiler().ok_or_else(|| {
            refused(
                "no C compiler was found (cc, gcc, clang or cl); install one, or name it with --cc".into(),
            )
        })?,
    };
    let headers = scratch.path().join("headers");
    std::fs::create_dir_all(&headers).map_err(Error::io("make", &headers))?;
    for (name, text) in HEADERS {
        let file = headers.join(name);
        std::fs::write(&file, text).map_err(Error::io("write", &file))?;
    }
    let entry = platform::HOST.entry(platform::HOST.name, identifier);
    let file = root.join(&entry);
    let folder = file.parent().unwrap_or(root).to_path_buf();
    std::fs::create_dir_all(&folder).map_err(Error::io("make", &folder))?;
    let how = format!("compiled here with {compiler} from {}, as {} says", files(&recipe), recipe.said_by);
    let request = Compile {
        sources: root.join("sources"),
        headers,
        output: file.clone(),
        fmi: if description.fmi3.is_some() { 3 } else { 2 },
        compiler,
        flags: options.cflags.clone(),
        recipe,
    };
    let limits = process::Limits {
        time: Duration::from_secs_f64(limits.time.min(limits.total).min(1e6)),
        memory: limits.memory,
        writable: limits.sandbox.then(|| vec![folder]),
    };
    let answer = Process::new()?.run(&Request::Compile(Box::new(request)), &limits, scratch.path(), |_| {});
    match answer {
        Ok(Answer::Compile) if file.is_file() => Ok(Some(Compiled { entry, file, how })),
        Ok(_) => Err(refused("the compiler wrote no library, and said nothing".into())),
        Err(WorkerError::TimedOut { limit, .. }) => Err(refused(format!(
            "compiling its sources took longer than {} s; give more with --time-limit, or export the FMU with a binary",
            limit.as_secs_f64()
        ))),
        Err(error) => Err(error.into()),
    }
}

fn files(recipe: &Recipe) -> String {
    let (count, first) = (recipe.files().count(), recipe.files().next().unwrap_or(""));
    if count == 1 { first.to_string() } else { format!("{first} and {} more", count - 1) }
}

/// The first compiler on the path.
fn found_compiler() -> Option<String> {
    let names: &[&str] =
        if cfg!(windows) { &["gcc.exe", "clang.exe", "cl.exe"] } else { &["cc", "gcc", "clang"] };
    let path = std::env::var_os("PATH").unwrap_or_default();
    let named = |name: &&&str| std::env::split_paths(&path).any(|folder| folder.join(name).is_file());
    names.iter().find(named).map(|name| name.to_string())
}
