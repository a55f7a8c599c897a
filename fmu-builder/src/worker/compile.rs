//! Call the compiler: each file by itself, then the linker. In the worker, which writes only in its own folder and where the
//! library goes, and ends with everything that it started when its time is over.

use crate::lab::Reporter;
use crate::lab::protocol::path;
use crate::sources::{Recipe, Set};
use crate::system;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Make a library.
#[derive(Serialize, Deserialize)]
pub struct Compile {
    #[serde(with = "path")]
    pub sources: PathBuf,
    #[serde(with = "path")]
    pub headers: PathBuf,
    #[serde(with = "path")]
    pub output: PathBuf,
    /// The version of FMI that the FMU is of.
    pub fmi: u32,
    pub compiler: String,
    /// The user's own.
    pub flags: Vec<String>,
    pub recipe: Recipe,
}

/// Bytes of a file that a compiler may write.
const LARGEST_FILE: u64 = 2 << 30;
/// Lines of a compiler's message that are shown.
const SHOWN: usize = 12;

impl Compile {
    pub fn answer(self, reporter: &mut Reporter) -> Result<(), String> {
        system::limit_file_size(LARGEST_FILE);
        let microsoft = self.is_microsoft();
        let scratch = std::env::current_dir().map_err(|error| error.to_string())?;
        reporter.phase("the compilation of its sources");
        let mut objects = Vec::new();
        for set in &self.recipe.sets {
            for file in &set.files {
                let object =
                    scratch.join(format!("{}.{}", objects.len(), if microsoft { "obj" } else { "o" }));
                self.run(self.compiling(set, file, &object), &format!("compile {file}"))?;
                objects.push(object);
            }
        }
        reporter.phase("the linking of its library");
        self.run(self.linking(&objects), "link its library")
    }

    fn is_microsoft(&self) -> bool {
        let stem = Path::new(&self.compiler).file_stem().and_then(|stem| stem.to_str());
        stem.is_some_and(|stem| stem.eq_ignore_ascii_case("cl"))
    }

    /// In the folder `sources`, with relative names: what a compiler notes of them is the same on every machine.
    fn command(&self) -> Command {
        let mut command = Command::new(&self.compiler);
        command.current_dir(&self.sources).stdin(Stdio::null());
        command
    }

    fn compiling(&self, set: &Set, file: &str, object: &Path) -> Command {
        let mut command = self.command();
        // FMI 3.0's headers drop a prefix of function names at this word; Dymola's all.c asks which version is meant.
        let fmi = self.fmi;
        let ours = [format!("FMI{fmi}_OVERRIDE_FUNCTION_PREFIX"), format!("FMI_VER={fmi}")];
        let definitions = ours.iter().chain(&set.definitions);
        if self.is_microsoft() {
            command.args(["/nologo", "/c", "/O2"]).args(definitions.map(|it| format!("/D{it}")));
            command.args([".".to_string()].iter().chain(&set.include).map(|it| format!("/I{it}")));
            command.arg(format!("/I{}", self.headers.display())).args(&self.flags);
            command.arg(format!("/Fo{}", object.display())).arg(file);
        } else {
            command.args(["-c", "-O2", "-fPIC", "-w"]).args(&set.options);
            command.args(definitions.map(|it| format!("-D{it}")));
            command.args([".".to_string()].iter().chain(&set.include).map(|it| format!("-I{it}")));
            // Last: an FMU's own headers come first.
            command.arg("-idirafter").arg(&self.headers).args(&self.flags);
            command.arg("-o").arg(object).arg(file);
        }
        command
    }

    fn linking(&self, objects: &[PathBuf]) -> Command {
        let mut command = self.command();
        if self.is_microsoft() {
            command.args(["/nologo", "/LD"]).args(objects);
            command.args(self.recipe.libraries.iter().map(|it| format!("{it}.lib")));
            command.arg(format!("/Fe{}", self.output.display()));
        } else {
            command.arg("-shared").args(objects).args(&self.flags);
            command.args(self.recipe.libraries.iter().map(|it| format!("-l{it}")));
            if self.recipe.is_cpp() {
                command.arg("-lstdc++");
            }
            command.arg("-lm").arg("-o").arg(&self.output);
        }
        command
    }

    /// The compiler's own words where it fails.
    fn run(&self, mut command: Command, what: &str) -> Result<(), String> {
        let done = command.output().map_err(|error| {
            format!(
                "{} cannot be started ({error}); install a C compiler, or name one with --cc",
                self.compiler
            )
        })?;
        if done.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(if done.stderr.is_empty() { &done.stdout } else { &done.stderr })
            .into_owned();
        let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).take(SHOWN).collect();
        let words = if lines.is_empty() { done.status.to_string() } else { lines.join("\n  ") };
        Err(format!(
            "{} could not {what} of the FMU's sources:\n  {words}\nGive what is missing with --cflags, another compiler with --cc, or export the FMU with a binary",
            self.compiler
        ))
    }
}
