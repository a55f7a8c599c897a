//! Run foreign native code in a process of its own: an FMU may crash, hang or print, and we must not.
//!
//! The worker is our own executable, started again as `fmu-build worker REQUEST` in an empty folder that is
//! also its working directory. Before each risky call it says what it is about to do, so that the message can
//! name it. What the FMU prints goes to files that we hold open, whatever the FMU does to their names; a
//! child that prints megabytes never blocks on a full pipe.
//!
//! The worker leads a process group of its own, and the whole group is killed at the end: nothing that an FMU
//! starts stays behind, unless it leaves the group on purpose. (Windows has no groups: there the worker alone
//! is killed.) If we die, the worker notices within a second, and ends itself and its group.

use super::confine::{Confinement, Folder};
use super::protocol::{Envelope, LAST_CALL, Message, REQUEST, Refusal, decode, encode, receive};
use crate::ability::{Ability, Lack};
use crate::cleanup::{Entered, Leftover, enter};
use crate::quantity::format_duration;
use crate::system;
use fmu_runtime::fmi::Witness;
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, PipeReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::{Duration, Instant};

/// What one request may take.
#[derive(Debug, Clone)]
pub struct Limits {
    pub time: Duration,
    /// Bytes. None: as much as the machine has.
    pub memory: Option<u64>,
    /// Folders besides the worker's own that may be written. None: no sandbox.
    pub writable: Option<Vec<PathBuf>>,
}

impl Limits {
    fn confinement(&self, own: &Path) -> Confinement {
        let folders = |more: &Vec<PathBuf>| {
            std::iter::once(own.to_path_buf()).chain(more.iter().cloned()).map(Folder).collect()
        };
        Confinement {
            memory: self.memory.or_else(system::machine_memory),
            writable: self.writable.as_ref().map(folders),
        }
    }
}

/// How a worker is started.
#[derive(Debug, Clone)]
pub struct Process {
    executable: PathBuf,
    /// What stands before the path of the request.
    arguments: Vec<OsString>,
}

impl Process {
    /// This executable, with the hidden command `worker`.
    pub fn new() -> Result<Process, WorkerError> {
        let executable = std::env::current_exe()
            .map_err(|source| WorkerError::Start { executable: "fmu-build".into(), source })?;
        Ok(Process::with_executable(executable, ["worker"]))
    }

    /// Another executable; the path of the request is its last argument.
    pub fn with_executable<A: Into<OsString>>(
        executable: impl Into<PathBuf>,
        arguments: impl IntoIterator<Item = A>,
    ) -> Process {
        let arguments = arguments.into_iter().map(Into::into).collect();
        Process { executable: executable.into(), arguments }
    }

    /// Likewise, however the FMU ends after its answer.
    pub fn run<Req: Serialize, Res: DeserializeOwned>(
        &self,
        request: &Req,
        limits: &Limits,
        scratch: &Path,
        watch: impl FnMut(f64),
    ) -> Result<Res, WorkerError> {
        self.run_to_its_end(request, limits, scratch, watch).map(|(answer, _)| answer)
    }

    /// Have a worker answer `request`, telling `watch` now and then how much is done, from 0 to 1. Paths in
    /// the request must be absolute: the worker has a working directory of its own, in `scratch`. The second
    /// part of the answer: the FMU did not end well afterwards.
    pub fn run_to_its_end<Req: Serialize, Res: DeserializeOwned>(
        &self,
        request: &Req,
        limits: &Limits,
        scratch: &Path,
        mut watch: impl FnMut(f64),
    ) -> Result<(Res, Option<Lack>), WorkerError> {
        let trouble = |source| WorkerError::Scratch { folder: scratch.into(), source };
        let made = tempfile::Builder::new().prefix("worker-").tempdir_in(scratch).map_err(trouble)?;
        // Not canonical: that would be a form (\\?\C:\...) on Windows that few programs understand.
        let folder = std::path::absolute(made.path()).map_err(trouble)?;
        let request = encode(&Envelope { confinement: limits.confinement(&folder), request })
            .map_err(|reason| WorkerError::Garbled { what: "the request", reason })?;
        fs::write(folder.join(REQUEST), request).map_err(trouble)?;
        let printed = Printed::new(&folder).map_err(trouble)?;
        let last_call = LastCall::new(&folder).map_err(trouble)?;
        let (answers, pipe) = io::pipe().map_err(trouble)?;

        // The pipe's writing end is closed on our side when the command is dropped, below: the reader sees
        // the worker's end.
        let mut command = Command::new(&self.executable);
        let process = system::own_group(&mut command)
            .args(&self.arguments)
            .arg(folder.join(REQUEST))
            .current_dir(&folder)
            // Where an FMU puts its temporary files; the last two are Windows'.
            .envs(["TMPDIR", "TMP", "TEMP"].map(|name| (name, &folder)))
            .stdin(pipe)
            .stdout(printed.stdout.try_clone().map_err(trouble)?)
            .stderr(printed.stderr.try_clone().map_err(trouble)?)
            .spawn()
            .map_err(|source| WorkerError::Start { executable: self.executable.clone(), source })?;
        drop(command);
        let mut conversation = Conversation {
            process: Running {
                _entered: enter(Leftover::Group(process.id())),
                process,
                folder: folder.clone(),
            },
            messages: listen(answers),
            phase: String::new(),
            answer: None,
        };
        let end = conversation.wait(limits, &printed, &mut watch).map_err(trouble)?;
        let call = last_call.read();
        let phase = last_phase(&conversation.phase, call);
        let lack = call.and_then(|call| Ability::behind(call, &conversation.phase));
        let failure = match end {
            End::TimedOut => Some(WorkerError::TimedOut { limit: limits.time, phase, lack }),
            End::Flooded(bytes) => Some(WorkerError::Flooded { bytes, phase }),
            End::Exited(status) => match system::crash(status) {
                Some(signal) => Some(WorkerError::Crashed { signal, phase, lack }),
                None if status.success() => None,
                None => Some(WorkerError::Exited { code: status.code(), phase, lack, tail: printed.tail() }),
            },
        };
        // A complete answer counts, even if the FMU's library crashed or hung while it was unloaded.
        match (conversation.answer, failure) {
            (Some(answer), None) => Ok((answer?, None)),
            (Some(answer), Some(failure)) => Ok((answer?, failure.lacks().pop())),
            (None, Some(failure)) => Err(failure),
            (None, None) => {
                let phase = last_phase(&conversation.phase, call);
                Err(WorkerError::Exited { code: Some(0), phase, lack: None, tail: printed.tail() })
            }
        }
    }
}

/// What the worker was doing: the phase that it reported, with the call that it really made last.
fn last_phase(phase: &str, call: Option<&str>) -> String {
    let Some(call) = call else { return phase.to_string() };
    match phase.split_once(" (fmi2") {
        Some((stage, _)) => format!("{stage} ({call})"),
        None => call.to_string(),
    }
}

/// The number of the FMU's last call, in a file that the worker shares with us.
struct LastCall(File);

impl LastCall {
    fn new(folder: &Path) -> io::Result<LastCall> {
        let mut file =
            File::options().read(true).write(true).create_new(true).open(folder.join(LAST_CALL))?;
        file.write_all(&0u32.to_ne_bytes())?;
        Ok(LastCall(file))
    }

    fn read(mut self) -> Option<&'static str> {
        let mut number = [0; 4];
        self.0.seek(SeekFrom::Start(0)).ok()?;
        self.0.read_exact(&mut number).ok()?;
        Witness::name(u32::from_ne_bytes(number))
    }
}

/// Why a worker gave no answer.
#[derive(Debug, thiserror::Error)]
pub enum WorkerError {
    #[error("cannot start {}: {source}", executable.display())]
    Start { executable: PathBuf, source: io::Error },
    #[error("cannot work in {}: {source}", folder.display())]
    Scratch { folder: PathBuf, source: io::Error },
    #[error(
        "the FMU crashed with {signal} {}; check that it runs in another tool, or try other values with \
         --set and --inputs",
        at(phase)
    )]
    Crashed { signal: String, phase: String, lack: Option<Ability> },
    #[error(
        "the FMU did not return within {} {}; give it more with --time-limit, or shorten the run with --stop",
        format_duration(limit.as_secs_f64()), at(phase)
    )]
    TimedOut { limit: Duration, phase: String, lack: Option<Ability> },
    #[error(
        "the build has taken {}, all that it may; give it more with --time-limit, or shorten the run with \
         --stop",
        format_duration(limit.as_secs_f64())
    )]
    OutOfTime { limit: Duration },
    #[error("not tried any more: the build begins again")]
    Abandoned,
    #[error("the FMU printed more than {bytes} bytes {} and was stopped; switch its logging off", at(phase))]
    Flooded { bytes: u64, phase: String },
    #[error(
        "the FMU ended its process ({}) {}; check that it runs in another tool{}",
        code.map_or("no exit code".to_string(), |code| format!("exit code {code}")), at(phase), said(tail)
    )]
    Exited { code: Option<i32>, phase: String, lack: Option<Ability>, tail: String },
    #[error("{}", refusal.message)]
    Refused { refusal: Refusal },
    #[error(
        "the answer from the process with the FMU is damaged ({reason}): the FMU writes into files that it did not open, or destroys memory. Check that it \
         runs in another tool"
    )]
    Damaged { reason: String },
    #[error("{what} could not be passed between the processes ({reason}); please report this")]
    Garbled { what: &'static str, reason: String },
}

impl WorkerError {
    /// What the FMU could do without, and then this would not have happened.
    pub fn lacks(&self) -> Vec<Lack> {
        let one = |lack: &Option<Ability>, seen: String| {
            lack.iter().map(|ability| Lack::new(ability.clone(), seen.clone())).collect()
        };
        match self {
            WorkerError::Crashed { signal, phase, lack } => {
                one(lack, format!("it crashed with {signal} {}", at(phase)))
            }
            WorkerError::TimedOut { phase, lack, .. } => {
                one(lack, format!("it did not return {}", at(phase)))
            }
            WorkerError::Exited { phase, lack, .. } => {
                one(lack, format!("it ended its process {}", at(phase)))
            }
            WorkerError::Refused { refusal } => refusal.lacks.clone(),
            _ => Vec::new(),
        }
    }
}

fn at(phase: &str) -> String {
    if phase.is_empty() { "before its first call".into() } else { format!("in {}", clean(phase)) }
}

fn said(tail: &str) -> String {
    if tail.is_empty() { String::new() } else { format!(". Its last words:\n{tail}") }
}

/// Control characters, such as those that move a terminal's cursor, are not passed on.
fn clean(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).collect()
}

/// What the FMU prints. We hold the files; their names are the FMU's to change.
struct Printed {
    stdout: File,
    stderr: File,
}

impl Printed {
    fn new(folder: &Path) -> io::Result<Printed> {
        let file = |name| File::options().read(true).append(true).create_new(true).open(folder.join(name));
        Ok(Printed { stdout: file("stdout.txt")?, stderr: file("stderr.txt")? })
    }

    fn bytes(&self) -> u64 {
        [&self.stdout, &self.stderr]
            .iter()
            .filter_map(|file| file.metadata().ok())
            .map(|about| about.len())
            .sum()
    }

    /// The last words: from stderr, or from stdout, where some tools log.
    fn tail(&self) -> String {
        let tails = [&self.stderr, &self.stdout].map(|file| tail(file).unwrap_or_default());
        tails.into_iter().find(|tail| !tail.is_empty()).unwrap_or_default()
    }
}

/// Ten lines at most, of the last two kilobytes, without control characters.
fn tail(mut file: &File) -> io::Result<String> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(2048)))?;
    let mut bytes = Vec::new();
    file.take(2048).read_to_end(&mut bytes)?;
    let text = String::from_utf8_lossy(&bytes);
    let lines = text.lines().map(|line| clean(line).trim_end().to_string());
    let lines: Vec<String> = lines.filter(|line| !line.is_empty()).collect();
    Ok(lines[lines.len().saturating_sub(10)..].join("\n"))
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
/// After its end, how long we look for what a worker still had to say: a process that it left behind may hold
/// the pipe.
const LAST_WORDS_LIMIT: Duration = Duration::from_secs(1);
/// The worker's end and what it printed are looked at this often; a message is seen at once.
const PAUSE: Duration = Duration::from_millis(10);

/// Messages as they come. The thread ends with the pipe, or when nobody listens any more.
fn listen(mut pipe: PipeReader) -> Receiver<io::Result<Vec<u8>>> {
    // Few in advance: a worker that talks without end waits, and takes no memory.
    let (sender, receiver) = sync_channel(16);
    std::thread::spawn(move || {
        loop {
            let message = match receive(&mut pipe) {
                Ok(Some(message)) => Ok(message),
                Ok(None) => return,
                Err(error) => Err(error),
            };
            let last = message.is_err();
            if sender.send(message).is_err() || last {
                return;
            }
        }
    });
    receiver
}

struct Conversation<Res> {
    process: Running,
    messages: Receiver<io::Result<Vec<u8>>>,
    phase: String,
    answer: Option<Result<Res, WorkerError>>,
}

impl<Res: DeserializeOwned> Conversation<Res> {
    fn wait(&mut self, limits: &Limits, printed: &Printed, watch: &mut impl FnMut(f64)) -> io::Result<End> {
        let start = Instant::now();
        let mut answered: Option<Instant> = None;
        loop {
            let rest = limits.time.saturating_sub(start.elapsed());
            self.hear(PAUSE.min(rest), watch);
            if self.answer.is_some() && answered.is_none() {
                answered = Some(Instant::now());
            }
            if let Some(status) = self.process.process.try_wait()? {
                let end = Instant::now();
                while self.answer.is_none() && end.elapsed() < LAST_WORDS_LIMIT && self.hear(PAUSE, watch) {}
                return Ok(End::Exited(status));
            }
            if printed.bytes() > PRINT_LIMIT {
                return Ok(End::Flooded(PRINT_LIMIT));
            }
            let unloading = answered.is_some_and(|at| at.elapsed() >= UNLOAD_LIMIT);
            if unloading || start.elapsed() >= limits.time {
                return Ok(End::TimedOut);
            }
        }
    }

    /// Take in one message, or let some time pass. False: there will be no more.
    fn hear(&mut self, patience: Duration, watch: &mut impl FnMut(f64)) -> bool {
        let message = match self.messages.recv_timeout(patience) {
            Ok(Ok(message)) => decode(&message),
            Ok(Err(error)) => Err(error.to_string()),
            Err(RecvTimeoutError::Timeout) => return true,
            Err(RecvTimeoutError::Disconnected) => {
                std::thread::sleep(patience); // the worker is about to end
                return false;
            }
        };
        match message {
            // The first answer counts.
            _ if self.answer.is_some() => {}
            Ok(Message::Phase(phase)) => self.phase = phase,
            Ok(Message::Progress(fraction)) => watch(fraction),
            Ok(Message::Done(answer)) => self.answer = Some(Ok(answer)),
            Ok(Message::Refused(refusal)) => self.answer = Some(Err(WorkerError::Refused { refusal })),
            Err(reason) => self.answer = Some(Err(WorkerError::Damaged { reason })),
        }
        true
    }
}

/// A worker that does not outlive its value, nor does anything in its process group.
struct Running {
    process: Child,
    /// The worker's own: its name is in the environment of all that it started.
    folder: PathBuf,
    _entered: Entered,
}

impl Drop for Running {
    /// Kill, and wait for the end of it, but not for ever: a process that hangs in the kernel (a dead network
    /// drive) cannot be killed, and is left behind.
    fn drop(&mut self) {
        system::kill_group(self.process.id());
        let start = Instant::now();
        let _ = self.process.kill();
        while matches!(self.process.try_wait(), Ok(None)) && start.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(2));
        }
        system::end_marked(&self.folder);
    }
}

#[cfg(all(test, unix))]
#[allow(clippy::unwrap_used)]
mod tests;
