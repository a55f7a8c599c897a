//! What `fmu-build` leaves behind: on failure nothing, on a signal nothing, and never a file that it was not
//! asked for.

use crate::util::{build_file, example, rewrite, unzip};
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// A folder for the files, and another as the temporary folder.
struct Place {
    files: TempDir,
    scratch: TempDir,
}

impl Place {
    fn new() -> Place {
        Place { files: TempDir::new().unwrap(), scratch: TempDir::new().unwrap() }
    }

    fn at(&self, name: &str) -> PathBuf {
        self.files.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        // A shell that starts the tests in the background ignores signals for all that it starts.
        let mut command = Command::new("env");
        command.args(["--default-signal=INT,TERM,HUP", env!("CARGO_BIN_EXE_fmu-build")]);
        command.args(arguments).current_dir(self.files.path()).env("TMPDIR", self.scratch.path());
        command
    }

    fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Names in the folder; the temporary folder is empty.
    fn names(&self) -> Vec<String> {
        let list = |folder: &Path| {
            let entries = fs::read_dir(folder).unwrap();
            let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
            names.sort();
            names
        };
        assert_eq!(list(self.scratch.path()), [""; 0], "the scratch folder was left behind");
        list(self.files.path())
    }
}

fn said(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stderr).trim_end().to_string()
}

#[test]
fn a_report_replaces_neither_input_nor_output() {
    let place = Place::new();
    let input = fs::read(example("dahlquist", place.files.path())).unwrap();
    let message = said(&place.run(&["dahlquist.fmu", "out.fmu", "--report", "dahlquist.fmu"]));
    assert_eq!(
        message,
        "fmu-build: dahlquist.fmu is the input and the output; name another file for the report"
    );
    let message = said(&place.run(&["dahlquist.fmu", "out.fmu", "--report", "./out.fmu"]));
    let expected =
        "fmu-build: ./out.fmu would be the new FMU and the report; name another file for the report";
    assert_eq!(message, expected);
    fs::write(place.at("u.csv"), "time\n0\n").unwrap();
    let message = said(&place.run(&["dahlquist.fmu", "out.fmu", "--inputs", "u.csv", "--report", "u.csv"]));
    assert!(message.contains("u.csv is the input and the output"), "{message}");
    let message = said(&place.run(&["inspect", "dahlquist.fmu", "--svg", "dahlquist.fmu"]));
    assert!(message.contains("name another file for the drawing"), "{message}");
    assert_eq!(fs::read(place.at("dahlquist.fmu")).unwrap(), input);
    assert_eq!(place.names(), ["dahlquist.fmu", "u.csv"]);
}

#[test]
fn a_report_that_cannot_be_written_leaves_no_fmu() {
    let place = Place::new();
    example("dahlquist", place.files.path());
    fs::create_dir(place.at("folder")).unwrap();
    for report in ["nowhere/report.html", "folder", "/dev/full", "/proc/report.html"] {
        let message = said(&place.run(&["dahlquist.fmu", "out.fmu", "--report", report]));
        assert!(message.starts_with(&format!("fmu-build: cannot write {report}: ")), "{message}");
        assert_eq!(place.names(), ["dahlquist.fmu", "folder"]);
    }
}

/// Wait until the worker is in the model's code, which never returns.
fn hanging(place: &Place) -> Child {
    example("hang", place.files.path());
    let process = place
        .command(&["hang.fmu", "out.fmu", "--report", "report.html"])
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let start = Instant::now();
    let worker = || {
        let mut folders = fs::read_dir(place.scratch.path()).unwrap().flatten();
        folders.find_map(|folder| {
            let mut inside = fs::read_dir(folder.path()).ok()?.flatten();
            inside.find(|entry| entry.file_name().to_string_lossy().starts_with("worker-"))
        })
    };
    while worker().is_none() {
        assert!(start.elapsed() < Duration::from_secs(30), "no worker was started");
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(300));
    process
}

fn signal(process: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &process.id().to_string()]).status().unwrap().success());
}

#[test]
fn a_signal_leaves_nothing() {
    for (name, number) in [("-INT", 2), ("-TERM", 15), ("-HUP", 1)] {
        let place = Place::new();
        let mut process = hanging(&place);
        // The scratch folder is nobody else's business.
        let folder = fs::read_dir(place.scratch.path()).unwrap().next().unwrap().unwrap();
        assert_eq!(folder.metadata().unwrap().permissions().mode() & 0o777, 0o700);
        signal(&process, name);
        assert_eq!(process.wait().unwrap().signal(), Some(number));
        assert_eq!(place.names(), ["hang.fmu"], "{name}");
        // The worker is killed with its group; the kernel takes a moment.
        let killed = Instant::now();
        while running(place.scratch.path()) {
            assert!(killed.elapsed() < Duration::from_secs(5), "{name}: the worker still runs");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

/// KILL leaves no time to clear away. The worker ends by itself, and the next run removes the rest.
#[test]
fn what_a_killed_run_left_is_removed_by_the_next() {
    let place = Place::new();
    let mut process = hanging(&place);
    signal(&process, "-KILL");
    process.wait().unwrap();
    let start = Instant::now();
    while running(place.scratch.path()) {
        assert!(start.elapsed() < Duration::from_secs(10), "the worker still runs");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(fs::read_dir(place.scratch.path()).unwrap().count(), 1);
    assert_eq!(fs::read_dir(place.files.path()).unwrap().count(), 3);
    std::thread::sleep(Duration::from_millis(2100)); // younger ones may be about to be locked
    example("dahlquist", place.files.path());
    assert!(place.run(&["dahlquist.fmu", "out.fmu"]).status.success());
    assert_eq!(place.names(), ["dahlquist.fmu", "hang.fmu", "out.fmu"]);
}

/// Does any process work in this folder?
fn running(folder: &Path) -> bool {
    fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
            && fs::read_to_string(entry.path().join("stat")).is_ok_and(|stat| !stat.contains(") Z "))
    })
}

#[test]
fn a_full_or_closed_terminal_does_not_change_the_exit_code() {
    let place = Place::new();
    example("dahlquist", place.files.path());
    let full = || File::options().write(true).open("/dev/full").unwrap();
    let refused = place.command(&["no.fmu", "out.fmu"]).stderr(full()).status().unwrap();
    assert_eq!(refused.code(), Some(1));
    let shell = |line: &str| {
        let line = line.replace("fmu-build", env!("CARGO_BIN_EXE_fmu-build"));
        Command::new("sh").args(["-c", &line]).current_dir(place.files.path()).status().unwrap().code()
    };
    assert_eq!(shell("fmu-build no.fmu out.fmu 2>&-"), Some(1));
    assert_eq!(shell("fmu-build example 2>&- >/dev/null"), Some(0));
    // What was asked for did not arrive.
    let unheard = place.command(&["inspect", "dahlquist.fmu", "--json"]).stdout(full()).output().unwrap();
    assert!(said(&unheard).starts_with("fmu-build: cannot print the answer: No space left"));
    // Whoever reads has seen enough.
    assert_eq!(shell("{ fmu-build example; echo $? >code; } | true"), Some(0));
    assert_eq!(fs::read_to_string(place.at("code")).unwrap(), "0\n");
}

#[test]
fn a_temporary_folder_may_have_any_name() {
    let place = Place::new();
    example("dahlquist", place.files.path());
    let odd = place.files.path().join(std::ffi::OsStr::from_bytes(b"caf\xe9 %"));
    fs::create_dir(&odd).unwrap();
    fs::write(odd.join("u.csv"), "time\n0\n").unwrap();
    let mut command = place.command(&["dahlquist.fmu", "out.fmu", "--inputs"]);
    let built = command.arg(odd.join("u.csv")).env("TMPDIR", &odd).output().unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    assert_eq!(fs::read_dir(&odd).unwrap().count(), 1);
}

/// Nobody waits for a pipe to which nobody writes.
#[test]
fn a_pipe_is_no_fmu() {
    let place = Place::new();
    assert!(Command::new("mkfifo").arg(place.at("pipe.fmu")).status().unwrap().success());
    for arguments in [&["pipe.fmu", "out.fmu"][..], &["inspect", "pipe.fmu"], &["bench", "pipe.fmu"]] {
        let message = said(&place.run(arguments));
        assert!(message.contains("is not a zip archive (it is a pipe or a device"), "{message}");
    }
    assert_eq!(place.names(), ["pipe.fmu"]);
}

/// What is named as a file of inputs need not be one. Nobody waits for ever, nothing endless is taken in, and
/// what is no file is named as what it is.
#[test]
fn inputs_that_are_no_file() {
    let place = Place::new();
    example("dahlquist", place.files.path());
    assert!(Command::new("mkfifo").arg(place.at("pipe")).status().unwrap().success());
    fs::create_dir(place.at("folder")).unwrap();
    File::create(place.at("sparse")).unwrap().set_len(1 << 40).unwrap();
    std::os::unix::net::UnixListener::bind(place.at("socket")).unwrap();
    std::os::unix::fs::symlink("nowhere", place.at("link")).unwrap();
    fs::write(place.at("u.csv"), "time\n0\n").unwrap();
    let before = place.names();
    for (inputs, expected) in [
        ("pipe", "it is a pipe, and nobody wrote into it within 10 s"),
        ("folder", "it is a folder; name a file in it"),
        ("sparse", "it has more than 1073741824 bytes"),
        ("/dev/zero", "it has more than 1073741824 bytes"),
        ("/dev/null", "is empty"),
        ("socket", "No such device or address"),
        ("link", "No such file or directory"),
        ("u.csv/", "Not a directory"),
    ] {
        let start = Instant::now();
        let message = said(&place.run(&["dahlquist.fmu", "out.fmu", "--inputs", inputs]));
        assert!(message.contains(inputs) && message.contains(expected), "{inputs}: {message}");
        assert!(start.elapsed() < Duration::from_secs(60), "{inputs}");
        assert_eq!(place.names(), before);
    }
}

/// A pipe into which a shell has a program write is a file like any other.
#[test]
fn inputs_through_a_pipe() {
    let place = Place::new();
    let fmu = example("dc-drive", place.files.path());
    let name = "time,u\n0,0\n0.1,24\n";
    fs::write(place.at("u.csv"), name).unwrap();
    let plan = |inputs: &str| {
        let line = format!(
            "{} {} out.fmu --evaluation-time 1us --json --inputs {inputs}",
            env!("CARGO_BIN_EXE_fmu-build"),
            fmu.display()
        );
        let output =
            Command::new("bash").args(["-c", &line]).current_dir(place.files.path()).output().unwrap();
        assert!(output.status.success(), "{inputs}: {}", String::from_utf8_lossy(&output.stderr));
        fs::read(place.at("out.fmu")).unwrap()
    };
    let expected = plan("u.csv");
    assert_eq!(plan("<(cat u.csv)"), expected);
    assert_eq!(plan("/dev/stdin < u.csv"), expected);
    assert_eq!(plan("/dev/stdin < <(head -1 u.csv; sleep 1; tail -2 u.csv)"), expected);
}

/// A library outside the archive is not looked for.
#[test]
fn a_model_identifier_is_a_plain_name() {
    let place = Place::new();
    let input = example("dahlquist", place.files.path());
    for identifier in ["../dahlquist", "/tmp/dahlquist", "a\\b", "..", ""] {
        crate::util::edit_description(
            &input,
            &place.at("bad.fmu"),
            "modelIdentifier=\"dahlquist\"",
            &format!("modelIdentifier=\"{identifier}\""),
        );
        let message = said(&place.run(&["bad.fmu", "out.fmu"]));
        assert!(message.contains("modelIdentifier"), "{message}");
        assert!(message.contains("cannot be the name of a library") || identifier.is_empty(), "{message}");
    }
    assert_eq!(place.names(), ["bad.fmu", "dahlquist.fmu"]);
}

/// Ours is the front page; the model's own keeps a name that is free, and ours links to it.
#[test]
fn documentation_of_any_name_is_kept() {
    let place = Place::new();
    let input = example("dahlquist", place.files.path());
    rewrite(&input, &place.at("plain.fmu"), &|_, content| Some(content));
    let mut archive = zip::ZipWriter::new_append(
        File::options().read(true).write(true).open(place.at("plain.fmu")).unwrap(),
    )
    .unwrap();
    for (name, content) in [("documentation/index.html", "front"), ("documentation/model.html", "model")] {
        use std::io::Write;
        archive.start_file(name, zip::write::SimpleFileOptions::default()).unwrap();
        archive.write_all(content.as_bytes()).unwrap();
    }
    archive.finish().unwrap();
    build_file(&place.at("plain.fmu"), &place.at("out.fmu"), "");
    let folder = place.at("unzipped");
    unzip(&place.at("out.fmu"), &folder);
    let read = |name: &str| fs::read_to_string(folder.join("documentation").join(name)).unwrap();
    assert_eq!((read("model-2.html"), read("model.html")), ("front".into(), "model".into()));
    assert!(read("index.html").contains("href=\"model-2.html\""));
}
