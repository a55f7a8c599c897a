//! Run foreign native code in a child process: an FMU may crash, hang or print, and we must not.
//!
//! The child is our own executable, started again as `fmu-build worker REQUEST`. All traffic goes through
//! files in a folder of its own, which is also its working directory: a crash loses nothing that was written before it,
//! and a child that prints megabytes never blocks on a full pipe. Before each risky call the worker writes
//! down what it is about to do, so that the message can name it.
//!
//! The child stays in our process group: Ctrl-C on the terminal ends both. If we die in another way, the worker
//! notices within a second that it has a new parent, and ends.

use std::any::type_name;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::quantity::format_duration;

/// Have a worker answer `request` within `limit`. Paths in the request must be absolute, since the worker has a
/// working directory of its own under `scratch`. JSON knows no NaN: an answer may not hold any.
pub fn run<Req: Serialize, Res: DeserializeOwned>(
    request: &Req,
    limit: Duration,
    scratch: &Path,
) -> Result<Res, ChildError> {
    Child::new()?.run(request, limit, scratch, |_| {})
}

/// How a worker is started.
#[derive(Debug, Clone)]
pub struct Child {
    executable: PathBuf,
    /// What stands before the path of the request.
    arguments: Vec<OsString>,
}

impl Child {
    /// This executable, with the hidden command `worker`.
    pub fn new() -> Result<Child, ChildError> {
        let executable = std::env::current_exe()
            .map_err(|source| ChildError::Start { executable: "fmu-build".into(), source })?;
        Ok(Child::with_executable(executable, ["worker"]))
    }

    /// Another executable; the path of the request is its last argument.
    pub fn with_executable<A: Into<OsString>>(
        executable: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Child {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Child { executable: executable.into(), arguments }
    }

    /// As [`run`], telling `watch` now and then how far the worker is.
    pub fn run<Req: Serialize, Res: DeserializeOwned>(
        &self,
        request: &Req,
        limit: Duration,
        scratch: &Path,
        mut watch: impl FnMut(&Status),
    ) -> Result<Res, ChildError> {
        let trouble = |source| ChildError::Scratch { folder: scratch.into(), source };
        let folder = tempfile::Builder::new().prefix("worker-").tempdir_in(scratch).map_err(trouble)?;
        let folder = fs::canonicalize(folder.path()).map(|path| (folder, path)).map_err(trouble)?;
        let (_folder_until_return, files) = (folder.0, Files { folder: folder.1 });

        let text = serde_json::to_vec(request)
            .map_err(|e| ChildError::Garbled { what: "the request", reason: e.to_string() })?;
        fs::write(files.request(), text).map_err(trouble)?;

        let mut process = Command::new(&self.executable)
            .args(&self.arguments)
            .arg(files.request())
            .current_dir(&files.folder)
            .stdin(Stdio::null())
            .stdout(File::create(files.stdout()).map_err(trouble)?)
            .stderr(File::create(files.stderr()).map_err(trouble)?)
            .spawn()
            .map_err(|source| ChildError::Start { executable: self.executable.clone(), source })?;

        let end = wait(&mut process, limit, &files, &mut watch).map_err(trouble)?;
        // A complete answer counts, even if the FMU's library crashed or hung while it was unloaded.
        if let Ok(text) = fs::read(files.response()) {
            return match serde_json::from_slice(&text) {
                Ok(Answer::Done(answer)) => Ok(answer),
                Ok(Answer::Refused(message)) => Err(ChildError::Refused { message }),
                Err(e) => Err(ChildError::Garbled { what: "the answer", reason: e.to_string() }),
            };
        }
        let phase = files.status().phase;
        Err(match end {
            End::TimedOut => ChildError::TimedOut { limit, phase },
            End::Flooded(bytes) => ChildError::Flooded { bytes, phase },
            End::Exited(status) => match crash(status) {
                Some(signal) => ChildError::Crashed { signal, phase },
                None => ChildError::Exited { code: status.code(), phase, tail: files.tail() },
            },
        })
    }
}

/// How far a worker is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Status {
    /// The risky step it is in, such as `fmi2EnterInitializationMode`; empty before the first.
    pub phase: String,
    /// From 0 to 1.
    pub fraction: f64,
    pub text: String,
}

/// Why a worker gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    #[error("cannot start {}: {source}", executable.display())]
    Start { executable: PathBuf, source: io::Error },
    #[error("cannot work in {}: {source}", folder.display())]
    Scratch { folder: PathBuf, source: io::Error },
    #[error(
        "the FMU crashed with {signal} {}; check that it runs in another tool, or try other values with --set and --inputs",
        at(phase)
    )]
    Crashed { signal: String, phase: String },
    #[error(
        "the FMU did not return within {} {}; give it more with --time-limit, or shorten the run with --stop",
        format_duration(limit.as_secs_f64()), at(phase)
    )]
    TimedOut { limit: Duration, phase: String },
    #[error("the FMU printed more than {bytes} bytes {} and was stopped; switch its logging off", at(phase))]
    Flooded { bytes: u64, phase: String },
    #[error(
        "the FMU ended its process ({}) {}; check that it runs in another tool{}",
        code.map_or("no exit code".to_string(), |code| format!("exit code {code}")), at(phase), said(tail)
    )]
    Exited { code: Option<i32>, phase: String, tail: String },
    #[error("{message}")]
    Refused { message: String },
    #[error("{what} could not be passed between the processes ({reason}); please report this")]
    Garbled { what: &'static str, reason: String },
}

fn at(phase: &str) -> String {
    if phase.is_empty() { "before its first call".into() } else { format!("in {phase}") }
}

fn said(tail: &str) -> String {
    if tail.is_empty() { String::new() } else { format!(". Its last words:\n{tail}") }
}

/// The worker's side: read the request, let `handler` answer it, write the answer.
///
/// The answer appears at once or not at all. An error value is an answer too: it becomes `ChildError::Refused`.
pub fn serve<Req, Res>(
    request_file: &Path,
    handler: impl FnOnce(Req, &mut Reporter) -> Result<Res, String>,
) -> ExitCode
where
    Req: DeserializeOwned,
    Res: Serialize,
{
    end_with_parent();
    match answer(request_file, handler) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}

/// Tells the parent what the worker is about to do.
#[derive(Debug)]
pub struct Reporter {
    file: File,
    status: Status,
    written: Option<Instant>,
}

impl Reporter {
    /// Name a risky step before it is taken. Costs one write, and nothing if the name is as before.
    pub fn phase(&mut self, name: &'static str) {
        if self.status.phase != name {
            self.status.phase = name.into();
            self.write();
        }
    }

    /// Tell how far the work is, from 0 to 1. Written ten times a second at most.
    pub fn progress(&mut self, fraction: f64, text: &str) {
        let due = self.written.is_none_or(|at| at.elapsed() >= Duration::from_millis(100));
        let over = fraction >= 1.0 && self.status.fraction < 1.0;
        self.status.fraction = fraction;
        if self.status.text != text {
            self.status.text = text.into();
        }
        if due || over {
            self.write();
            self.written = Some(Instant::now());
        }
    }

    /// One record of fixed length, overwritten in place: the file stays small however often we write, and it
    /// holds the last record whole when the process dies. Failures are ignored: this is only for messages.
    fn write(&mut self) {
        let clean = |text: &str| text.replace(['\t', '\n'], " ");
        let record =
            format!("{}\t{}\t{}", clean(&self.status.phase), self.status.fraction, clean(&self.status.text));
        let mut bytes = record.into_bytes();
        bytes.resize(RECORD, b' ');
        let _ = self.file.seek(SeekFrom::Start(0)).and_then(|_| self.file.write_all(&bytes));
    }
}

const RECORD: usize = 256;

fn answer<Req: DeserializeOwned, Res: Serialize>(
    request_file: &Path,
    handler: impl FnOnce(Req, &mut Reporter) -> Result<Res, String>,
) -> Result<(), String> {
    let folder = request_file.parent().unwrap_or(Path::new("."));
    let files = Files { folder: folder.into() };
    let at = |path: &Path, e: io::Error| format!("{}: {e}", path.display());
    let text = fs::read(request_file).map_err(|e| at(request_file, e))?;
    let request = serde_json::from_slice(&text)
        .map_err(|e| format!("{} is not a {}: {e}", request_file.display(), type_name::<Req>()))?;
    let file = File::create(files.progress()).map_err(|e| at(&files.progress(), e))?;
    let mut reporter = Reporter { file, status: Status::default(), written: None };

    let answer = match handler(request, &mut reporter) {
        Ok(answer) => Answer::Done(answer),
        Err(message) => Answer::Refused(message),
    };
    let text = serde_json::to_vec(&answer).map_err(|e| format!("the answer cannot be written: {e}"))?;
    let aside = files.folder.join("response.part");
    fs::write(&aside, text)
        .and_then(|()| fs::rename(&aside, files.response()))
        .map_err(|e| at(&files.response(), e))
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Answer<Res> {
    Done(Res),
    Refused(String),
}

/// The files between the two processes. Both sides know the folder; the names are fixed.
struct Files {
    folder: PathBuf,
}

impl Files {
    fn request(&self) -> PathBuf {
        self.folder.join("request.json")
    }
    fn response(&self) -> PathBuf {
        self.folder.join("response.json")
    }
    fn progress(&self) -> PathBuf {
        self.folder.join("progress.txt")
    }
    fn stdout(&self) -> PathBuf {
        self.folder.join("stdout.txt")
    }
    fn stderr(&self) -> PathBuf {
        self.folder.join("stderr.txt")
    }

    fn status(&self) -> Status {
        let bytes = fs::read(self.progress()).unwrap_or_default();
        let record = String::from_utf8_lossy(&bytes);
        let mut fields = record.trim_end().splitn(3, '\t');
        let mut next = || fields.next().unwrap_or_default().to_string();
        let phase = next();
        Status { phase, fraction: next().parse().unwrap_or(0.0), text: next() }
    }

    /// The last words of the child: from stderr, or from stdout, where some tools log.
    fn tail(&self) -> String {
        [self.stderr(), self.stdout()]
            .iter()
            .map(|path| tail(path))
            .find(|t| !t.is_empty())
            .unwrap_or_default()
    }

    fn printed(&self) -> u64 {
        [self.stderr(), self.stdout()]
            .iter()
            .filter_map(|path| fs::metadata(path).ok())
            .map(|m| m.len())
            .sum()
    }
}

/// The last lines of a file: ten at most, of its last two kilobytes, without control characters.
fn tail(path: &Path) -> String {
    let read = || -> io::Result<Vec<u8>> {
        let mut file = File::open(path)?;
        let length = file.metadata()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(2048)))?;
        let mut bytes = Vec::new();
        file.take(2048).read_to_end(&mut bytes)?;
        Ok(bytes)
    };
    let bytes = read().unwrap_or_default();
    let text = String::from_utf8_lossy(&bytes);
    let lines: Vec<String> = text
        .lines()
        .map(|line| line.chars().filter(|c| !c.is_control()).collect::<String>().trim_end().to_string())
        .filter(|line| !line.is_empty())
        .collect();
    lines[lines.len().saturating_sub(10)..].join("\n")
}

enum End {
    Exited(ExitStatus),
    TimedOut,
    Flooded(u64),
}

/// Enough for any log that a person would read; a child in a printing loop must not fill the disk.
const PRINT_LIMIT: u64 = 256 << 20;
/// After the answer, what a library may take to unload.
const UNLOAD_LIMIT: Duration = Duration::from_secs(2);

fn wait(
    process: &mut std::process::Child,
    limit: Duration,
    files: &Files,
    watch: &mut impl FnMut(&Status),
) -> io::Result<End> {
    let start = Instant::now();
    let mut answered: Option<Instant> = None;
    let mut looked = start;
    let mut pause = Duration::from_micros(500);
    loop {
        if let Some(status) = process.try_wait()? {
            return Ok(End::Exited(status));
        }
        if looked.elapsed() >= Duration::from_millis(100) {
            looked = Instant::now();
            watch(&files.status());
            if files.printed() > PRINT_LIMIT {
                stop(process);
                return Ok(End::Flooded(PRINT_LIMIT));
            }
            if answered.is_none() && files.response().exists() {
                answered = Some(looked);
            }
        }
        if start.elapsed() >= limit || answered.is_some_and(|at| at.elapsed() >= UNLOAD_LIMIT) {
            stop(process);
            return Ok(End::TimedOut);
        }
        std::thread::sleep(pause.min(limit.saturating_sub(start.elapsed())));
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Kill, and wait for the end of it, but not for ever: a process that hangs in the kernel (a dead network
/// drive) cannot be killed, and is left behind.
fn stop(process: &mut std::process::Child) {
    let _ = process.kill();
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(5) {
        match process.try_wait() {
            Ok(None) => std::thread::sleep(Duration::from_millis(2)),
            _ => return,
        }
    }
}

/// The name of what killed the process; `None` if it ended by itself.
#[cfg(unix)]
fn crash(status: ExitStatus) -> Option<String> {
    use std::os::unix::process::ExitStatusExt;
    // These numbers are the same on Linux and macOS, except for SIGBUS.
    let bus = if cfg!(target_os = "linux") { 7 } else { 10 };
    status.signal().map(|signal| match signal {
        4 => "SIGILL (illegal instruction)".into(),
        5 => "SIGTRAP (trap)".into(),
        6 => "SIGABRT (it aborted itself)".into(),
        8 => "SIGFPE (arithmetic error)".into(),
        9 => "SIGKILL (killed from outside, perhaps for want of memory)".into(),
        11 => "SIGSEGV (segmentation fault)".into(),
        13 => "SIGPIPE (broken pipe)".into(),
        15 => "SIGTERM (ended from outside)".into(),
        other if other == bus => "SIGBUS (bad memory access)".into(),
        other => format!("signal {other}"),
    })
}

#[cfg(not(unix))]
fn crash(status: ExitStatus) -> Option<String> {
    match status.code().map(|code| code as u32) {
        Some(0xC000_0005) => Some("an access violation".into()),
        Some(0xC000_00FD) => Some("a stack overflow".into()),
        Some(0xC000_0094) => Some("an integer division by zero".into()),
        Some(0xC000_0374) => Some("a heap corruption".into()),
        Some(code) if code >= 0xC000_0000 => Some(format!("exception {code:#x}")),
        _ => None,
    }
}

/// An orphan whose FMU never returns would run for ever.
#[cfg(unix)]
fn end_with_parent() {
    use std::os::unix::process::parent_id;
    let parent = parent_id();
    std::thread::spawn(move || {
        while parent_id() == parent {
            std::thread::sleep(Duration::from_secs(1));
        }
        std::process::exit(1);
    });
}

#[cfg(not(unix))]
fn end_with_parent() {}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// Not a test: the worker of the tests below, which start this test executable again with this
    /// name as a filter. Without a request it passes.
    #[test]
    fn as_worker() {
        let Some(request) = std::env::args().next_back().filter(|path| path.ends_with("request.json")) else {
            return;
        };
        serve(Path::new(&request), |order: String, reporter: &mut Reporter| {
            reporter.phase("fmi2Instantiate");
            reporter.progress(0.25, "sampling");
            match order.as_str() {
                "refuse" => return Err("no such state".into()),
                "abort" => {
                    reporter.phase("fmi2EnterInitializationMode");
                    std::process::abort()
                }
                "exit" => {
                    eprintln!("licence expired");
                    std::process::exit(7)
                }
                "hang" => std::thread::sleep(Duration::from_secs(60)),
                "slow" => std::thread::sleep(Duration::from_millis(300)),
                "print" => (0..4000).for_each(|_| println!("{}", "x".repeat(1000))),
                "litter" => fs::write("litter.txt", "x").map_err(|e| e.to_string())?,
                _ => {}
            }
            Ok(vec![order.len() as f64, 0.1])
        });
    }

    fn order(order: &str, limit: f64, watch: impl FnMut(&Status)) -> Result<Vec<f64>, ChildError> {
        let scratch = tempfile::tempdir().unwrap();
        let worker = Child::with_executable(
            std::env::current_exe().unwrap(),
            ["child::tests::as_worker", "--exact", "--nocapture"],
        );
        let answer = worker.run(&order, Duration::from_secs_f64(limit), scratch.path(), watch);
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0, "the worker's folder was left behind");
        answer
    }

    fn shell(script: &str, limit: f64) -> Result<f64, ChildError> {
        let scratch = tempfile::tempdir().unwrap();
        let worker = Child::with_executable("/bin/sh", ["-c", script]);
        worker.run(&(), Duration::from_secs_f64(limit), scratch.path(), |_| {})
    }

    #[test]
    fn an_answer_comes_back() {
        assert_eq!(order("hello", 30.0, |_| {}).unwrap(), [5.0, 0.1]);
    }

    #[test]
    fn a_refusal_is_the_workers_own_message() {
        let error = order("refuse", 30.0, |_| {}).unwrap_err();
        assert!(matches!(error, ChildError::Refused { .. }));
        assert_eq!(error.to_string(), "no such state");
    }

    #[test]
    fn a_crash_names_signal_and_phase() {
        let message = order("abort", 30.0, |_| {}).unwrap_err().to_string();
        let expected =
            "the FMU crashed with SIGABRT (it aborted itself) in fmi2EnterInitializationMode; check";
        assert!(message.starts_with(expected), "{message}");
        let message = shell("kill -SEGV $$", 30.0).unwrap_err().to_string();
        let expected = "the FMU crashed with SIGSEGV (segmentation fault) before its first call;";
        assert!(message.starts_with(expected), "{message}");
    }

    #[test]
    fn a_hanging_child_is_stopped_at_the_limit() {
        let start = Instant::now();
        let message = order("hang", 0.5, |_| {}).unwrap_err().to_string();
        assert!(start.elapsed() < Duration::from_secs(10));
        let expected =
            "the FMU did not return within 500 ms in fmi2Instantiate; give it more with --time-limit";
        assert!(message.starts_with(expected), "{message}");
    }

    #[test]
    fn an_exit_shows_the_last_words() {
        let error = order("exit", 30.0, |_| {}).unwrap_err();
        let ChildError::Exited { code, phase, tail } = &error else { panic!("{error}") };
        assert_eq!((*code, phase.as_str(), tail.as_str()), (Some(7), "fmi2Instantiate", "licence expired"));
        let error = shell("echo no answer; exit 0", 30.0).unwrap_err();
        assert!(error.to_string().ends_with("Its last words:\nno answer"), "{error}");
    }

    #[test]
    fn megabytes_of_print_do_not_block() {
        assert_eq!(order("print", 30.0, |_| {}).unwrap(), [5.0, 0.1]);
    }

    #[test]
    fn progress_is_seen_while_waiting() {
        let mut seen = Vec::new();
        order("slow", 30.0, |status| seen.push(status.clone())).unwrap();
        let expected = Status { phase: "fmi2Instantiate".into(), fraction: 0.25, text: "sampling".into() };
        assert!(seen.contains(&expected), "{seen:?}");
    }

    #[test]
    fn files_that_the_fmu_leaves_are_cleared_away() {
        order("litter", 30.0, |_| {}).unwrap();
        assert!(!Path::new("litter.txt").exists());
    }

    /// An FMU that crashes or hangs while it is unloaded has answered all the same.
    #[test]
    fn an_answer_counts_although_the_end_is_bad() {
        let answered = r#"printf '{"done":2.5}' > response.json;"#;
        assert_eq!(shell(&format!("{answered} kill -SEGV $$"), 30.0).unwrap(), 2.5);
        let start = Instant::now();
        assert_eq!(shell(&format!("{answered} exec sleep 60"), 30.0).unwrap(), 2.5);
        assert!(start.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn what_cannot_be_started_or_understood_is_said() {
        let scratch = tempfile::tempdir().unwrap();
        let absent = Child::with_executable("/no/such/program", ["worker"]);
        let error = absent.run::<_, f64>(&(), Duration::from_secs(1), scratch.path(), |_| {}).unwrap_err();
        assert!(error.to_string().starts_with("cannot start /no/such/program: "), "{error}");
        let error = shell("printf nonsense > response.json", 30.0).unwrap_err();
        assert!(matches!(error, ChildError::Garbled { what: "the answer", .. }), "{error}");
        let error = run::<_, f64>(&(), Duration::from_secs(1), Path::new("/no/folder")).unwrap_err();
        assert!(error.to_string().starts_with("cannot work in /no/folder: "), "{error}");
    }

    #[test]
    fn last_words_are_few_and_clean() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let log: String = (0..1000).map(|i| format!("\x1b[31mline {i}\r\n\n")).collect();
        fs::write(&path, log).unwrap();
        let tail = tail(&path);
        assert_eq!(tail.lines().count(), 10);
        assert!(tail.starts_with("[31mline 990\n") && tail.ends_with("line 999"), "{tail}");
    }
}
