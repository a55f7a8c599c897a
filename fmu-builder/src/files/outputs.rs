//! The files that a command writes: all of them or none.
//!
//! Each is claimed before any work is done: it must be none of the inputs and no other output, and its folder
//! must take a new file. It is written aside, beside its place. When all are complete they are renamed. A run
//! that was killed leaves its file aside; the next one that writes into the same folder removes it.

use crate::archive::same_file;
use crate::cleanup::{Entered, Leftover, enter, hold};
use crate::system;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::NamedTempFile;

const PREFIX: &str = ".fmu-build-";
const SUFFIX: &str = ".part";
/// What is younger than this may be about to be locked by its owner.
pub const YOUNG: Duration = Duration::from_secs(2);

/// Why an output cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum OutputError {
    #[error("{} is the input and the output; name another file for {what}", path.display())]
    IsInput { path: PathBuf, what: &'static str },
    #[error("{} would be {other} and {what}; name another file for {what}", path.display())]
    Twice { path: PathBuf, what: &'static str, other: &'static str },
    #[error("cannot write {}: it is a folder; name a file in it, such as {}", path.display(), path.join(example).display())]
    IsFolder { path: PathBuf, example: &'static str },
    #[error("cannot write {}: it is not an ordinary file; name another one", path.display())]
    IsSpecial { path: PathBuf },
    #[error("cannot write {}: it is a link to {}, which is not there; name that file itself, or remove the link", path.display(), to.display())]
    LeadsNowhere { path: PathBuf, to: PathBuf },
    #[error("cannot write {}: the name ends like a folder's; leave the last {} away", path.display(), std::path::MAIN_SEPARATOR)]
    NamedAsFolder { path: PathBuf },
    #[error("cannot write {}: there is no folder {}; create it first", path.display(), folder.display())]
    NoFolder { path: PathBuf, folder: PathBuf },
    #[error("cannot write {}: {source}{}", path.display(), if system::is_in_use(source) { "; close it in the program that has it open" } else { "" })]
    Io { path: PathBuf, source: io::Error },
}

#[derive(Debug)]
pub struct Outputs {
    inputs: Vec<PathBuf>,
    claims: Vec<Claimed>,
}

/// One output of several.
#[derive(Debug, Clone, Copy)]
pub struct Claim(usize);

#[derive(Debug)]
struct Claimed {
    what: &'static str,
    /// As the user named it, and the file that is meant: through a link, the one that it points to, as `cp`
    /// does.
    path: PathBuf,
    target: PathBuf,
    aside: NamedTempFile,
    _entered: Entered,
}

impl Outputs {
    /// None of the outputs may be one of `inputs`.
    pub fn new<'a>(inputs: impl IntoIterator<Item = &'a Path>) -> Outputs {
        Outputs { inputs: inputs.into_iter().map(Path::to_path_buf).collect(), claims: Vec::new() }
    }

    /// `what` is "the new FMU", "the report".
    pub fn claim(&mut self, what: &'static str, path: &Path) -> Result<Claim, OutputError> {
        let failed = |source| OutputError::Io { path: path.into(), source };
        if self.inputs.iter().any(|input| same_file(input, path)) {
            return Err(OutputError::IsInput { path: path.into(), what });
        }
        if let Some(other) = self.claims.iter().find(|claimed| same_file(&claimed.path, path)) {
            return Err(OutputError::Twice { path: path.into(), what, other: other.what });
        }
        let target = match fs::metadata(path) {
            Ok(found) if found.is_dir() => {
                let example = if what.ends_with("FMU") { "out.fmu" } else { "out.html" };
                return Err(OutputError::IsFolder { path: path.into(), example });
            }
            Ok(found) if !found.is_file() => return Err(OutputError::IsSpecial { path: path.into() }),
            Ok(_) => {
                // A file that is protected from writing stays, though its folder would allow to replace it.
                drop(File::options().append(true).open(path).map_err(failed)?);
                fs::canonicalize(path).map_err(failed)?
            }
            Err(_) => {
                if let Ok(to) = fs::read_link(path) {
                    return Err(OutputError::LeadsNowhere { path: path.into(), to });
                }
                if path.as_os_str().as_encoded_bytes().last().is_some_and(|&end| system::is_separator(end)) {
                    return Err(OutputError::NamedAsFolder { path: path.into() });
                }
                path.to_path_buf()
            }
        };
        let folder = match target.parent() {
            Some(parent) if !parent.as_os_str().is_empty() => parent,
            _ => Path::new("."),
        };
        if !folder.is_dir() {
            return Err(OutputError::NoFolder { path: path.into(), folder: folder.into() });
        }
        remove_stale(folder);
        let aside = aside_in(folder).map_err(failed)?;
        let _entered = enter(Leftover::File(aside.path().into()));
        let _ = aside.as_file().try_lock();
        self.claims.push(Claimed { what, path: path.into(), target, aside, _entered });
        Ok(Claim(self.claims.len() - 1))
    }

    /// The file aside, to be written.
    pub fn file(&self, claim: Claim) -> &File {
        self.claims[claim.0].aside.as_file()
    }

    pub fn write(&self, claim: Claim, content: &[u8]) -> Result<(), OutputError> {
        let claimed = &self.claims[claim.0];
        claimed.aside.as_file().write_all(content).map_err(claimed.failed())
    }

    /// Put all files at their places. If one cannot be put there, those before it are taken back.
    pub fn commit(self) -> Result<(), OutputError> {
        for claimed in &self.claims {
            claimed.aside.as_file().sync_all().map_err(claimed.failed())?;
        }
        let (entered, files): (Vec<Entered>, Vec<_>) = self
            .claims
            .into_iter()
            .map(|claimed| (claimed._entered, (claimed.path, claimed.target, claimed.aside)))
            .unzip();
        // A signal waits until all are there: between two of them it would leave one without the other.
        let guard = hold();
        let result = place(files);
        drop(guard);
        drop(entered); // each asks for the register
        result
    }
}

/// Rename each file aside to its target; `path` is how the user named that.
fn place(files: Vec<(PathBuf, PathBuf, NamedTempFile)>) -> Result<(), OutputError> {
    let mut done: Vec<Placed> = Vec::new();
    for (path, target, aside) in files {
        let placed = system::ask_replaceable(&target).and_then(|()| {
            let placed = Placed::prepare(&target);
            aside.persist(&target).map_err(|error| error.error)?;
            Ok(placed)
        });
        match placed {
            Ok(placed) => done.push(placed),
            Err(source) => {
                done.into_iter().rev().for_each(Placed::take_back);
                return Err(OutputError::Io { path, source });
            }
        }
    }
    Ok(())
}

impl Claimed {
    fn failed(&self) -> impl FnOnce(io::Error) -> OutputError {
        let path = self.path.clone();
        move |source| OutputError::Io { path, source }
    }
}

/// An output at its place, and what was there before.
struct Placed {
    target: PathBuf,
    existed: bool,
    /// A second name of the old file, until all outputs are at their places.
    before: Option<tempfile::TempPath>,
}

impl Placed {
    fn prepare(target: &Path) -> Placed {
        let mut builder = tempfile::Builder::new();
        builder.prefix(PREFIX).suffix(SUFFIX);
        let folder = target.parent().filter(|folder| !folder.as_os_str().is_empty());
        let link = |path: &Path| fs::hard_link(target, path);
        let existed = target.exists();
        let before = builder.make_in(folder.unwrap_or(Path::new(".")), link).ok();
        Placed { target: target.into(), existed, before: before.map(NamedTempFile::into_temp_path) }
    }

    fn take_back(self) {
        match self.before {
            Some(before) => drop(before.persist(&self.target)),
            None if !self.existed => drop(fs::remove_file(&self.target)),
            None => {}
        }
    }
}

/// With the permissions of any new file: `tempfile` alone would make it private, and the output would be so
/// after the rename.
fn aside_in(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(PREFIX).suffix(SUFFIX);
    system::make_ordinary(&mut builder);
    // Of `tempfile`'s error the cause alone: it names a file that nobody asked for.
    builder.tempfile_in(folder).map_err(|error| {
        let text = error.to_string();
        io::Error::new(error.kind(), text.split(" at path ").next().unwrap_or_default())
    })
}

fn remove_stale(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let name = name.as_encoded_bytes();
        if !name.starts_with(PREFIX.as_bytes()) || !name.ends_with(SUFFIX.as_bytes()) {
            continue;
        }
        let plain = |about: fs::Metadata| about.is_file() && system::is_ours(&about);
        if entry.metadata().is_ok_and(plain) && abandoned(&entry.path()).unwrap_or(false) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Is this the locked file of a process that is no more?
pub fn abandoned(path: &Path) -> io::Result<bool> {
    let file = File::open(path)?;
    let age = SystemTime::now().duration_since(file.metadata()?.modified()?).unwrap_or_default();
    Ok(age > YOUNG && file.try_lock().is_ok())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    struct Case {
        folder: tempfile::TempDir,
    }

    impl Case {
        fn new() -> Case {
            let case = Case { folder: tempfile::tempdir().unwrap() };
            fs::write(case.at("in.fmu"), "input").unwrap();
            case
        }

        fn at(&self, name: &str) -> PathBuf {
            self.folder.path().join(name)
        }

        fn names(&self) -> Vec<String> {
            let entries = fs::read_dir(self.folder.path()).unwrap();
            let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        }

        fn outputs(&self) -> Outputs {
            Outputs::new([self.at("in.fmu").as_path()])
        }
    }

    #[test]
    fn all_appear_together() {
        let case = Case::new();
        let mut outputs = case.outputs();
        let fmu = outputs.claim("the new FMU", &case.at("out.fmu")).unwrap();
        let report = outputs.claim("the report", &case.at("report.html")).unwrap();
        outputs.write(fmu, b"fmu").unwrap();
        outputs.write(report, b"page").unwrap();
        assert!(!case.at("out.fmu").exists());
        outputs.commit().unwrap();
        assert_eq!(case.names(), ["in.fmu", "out.fmu", "report.html"]);
        assert_eq!(fs::read(case.at("report.html")).unwrap(), b"page");
    }

    /// The report's place becomes a folder while the work is done: the FMU of yesterday is there again, the
    /// new one is not.
    #[test]
    fn what_was_replaced_comes_back_if_the_rest_fails() {
        for old in [true, false] {
            let case = Case::new();
            if old {
                fs::write(case.at("out.fmu"), "old").unwrap();
            }
            let mut outputs = case.outputs();
            outputs.claim("the new FMU", &case.at("out.fmu")).unwrap();
            outputs.claim("the report", &case.at("report.html")).unwrap();
            fs::create_dir(case.at("report.html")).unwrap();
            let message = outputs.commit().unwrap_err().to_string();
            assert!(message.starts_with("cannot write ") && message.contains("report.html"), "{message}");
            assert_eq!(fs::read(case.at("out.fmu")).ok(), old.then(|| b"old".to_vec()));
            assert_eq!(case.names().len(), 2 + usize::from(old), "{:?}", case.names());
        }
    }

    #[test]
    fn no_input_and_no_output_is_written_twice() {
        let case = Case::new();
        let mut outputs = case.outputs();
        let error = outputs.claim("the report", &case.at("./in.fmu")).unwrap_err().to_string();
        assert!(error.ends_with("is the input and the output; name another file for the report"), "{error}");
        outputs.claim("the new FMU", &case.at("out.fmu")).unwrap();
        let error = outputs.claim("the report", &case.at("./out.fmu")).unwrap_err().to_string();
        assert!(error.ends_with("would be the new FMU and the report; name another file for the report"));
        drop(outputs);
        assert_eq!(case.names(), ["in.fmu"]);
    }

    #[test]
    fn places_that_cannot_be_written_are_named() {
        let case = Case::new();
        let claim = |path: &Path| case.outputs().claim("the new FMU", path).unwrap_err().to_string();
        assert!(claim(case.folder.path()).contains("it is a folder; name a file in it"));
        let nowhere = claim(&case.at("no/out.fmu"));
        assert!(nowhere.contains("there is no folder") && nowhere.contains("create it first"), "{nowhere}");
        #[cfg(unix)]
        assert!(claim(Path::new("/dev/null")).contains("not an ordinary file"));
    }

    /// Each is refused before any work is done.
    #[cfg(unix)]
    #[test]
    fn links_to_nothing_and_names_of_folders_are_refused() {
        let case = Case::new();
        let claim = |name: &str| case.outputs().claim("the new FMU", &case.at(name)).unwrap_err().to_string();
        std::os::unix::fs::symlink("nowhere", case.at("link")).unwrap();
        std::os::unix::fs::symlink("loop", case.at("loop")).unwrap();
        assert!(claim("link").contains("it is a link to nowhere, which is not there"));
        assert!(claim("loop").contains("it is a link to loop"));
        assert!(claim("new.fmu/").contains("the name ends like a folder's"));
        assert!(case.outputs().claim("the new FMU", &case.at("in.fmu/")).is_err());
        assert_eq!(case.names(), ["in.fmu", "link", "loop"]);
    }

    /// A program that runs cannot be written, not even by the superuser, whom permissions do not stop.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_cannot_be_written_is_not_replaced() {
        let case = Case::new();
        fs::copy("/bin/sleep", case.at("out.fmu")).unwrap();
        let mut running = std::process::Command::new(case.at("out.fmu")).arg("60").spawn().unwrap();
        let message = case.outputs().claim("the new FMU", &case.at("out.fmu")).unwrap_err().to_string();
        running.kill().unwrap();
        running.wait().unwrap();
        assert!(message.contains("out.fmu: Text file busy"), "{message}");
    }

    #[cfg(unix)]
    #[test]
    fn an_output_has_the_permissions_of_any_new_file() {
        use std::os::unix::fs::PermissionsExt;
        let case = Case::new();
        let mut outputs = case.outputs();
        outputs.claim("the new FMU", &case.at("out.fmu")).unwrap();
        outputs.commit().unwrap();
        let mode = |name: &str| fs::metadata(case.at(name)).unwrap().permissions().mode();
        assert_eq!(mode("out.fmu"), mode("in.fmu"));
    }

    #[test]
    fn what_a_killed_run_left_is_removed() {
        let case = Case::new();
        let mut alive = case.outputs();
        alive.claim("the new FMU", &case.at("out.fmu")).unwrap();
        for name in [".fmu-build-killed.part", "other.part"] {
            let file = File::create(case.at(name)).unwrap();
            file.set_modified(SystemTime::now() - 2 * YOUNG).unwrap();
        }
        alive.file(Claim(0)).set_modified(SystemTime::now() - 2 * YOUNG).unwrap();
        case.outputs().claim("the new FMU", &case.at("out.fmu")).unwrap();
        assert!(!case.at(".fmu-build-killed.part").exists());
        assert_eq!(case.names().len(), 3, "{:?}", case.names());
    }
}
