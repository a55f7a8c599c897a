//! Count the system calls of the thread that calls the model: a second worker traces it by ptrace.
//!
//! [`FUNCTION`] says which of the model's functions is being called, by its number; 0 means none. The tracer
//! reads that word from the traced thread's memory at each system call, and so knows whose it is, at no cost
//! for calls that make none.

use super::Count;
use super::names::{self, Registers};
use crate::lab::Reporter;
use crate::lab::process::{Limits, Process};
use crate::worker::{Answer, Request};
use nix::errno::Errno;
use nix::sys::ptrace::{self, Options};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::channel;
use std::time::Duration;

/// The function of the model that is being called, or [`OVER`].
pub static FUNCTION: AtomicU64 = AtomicU64::new(0);
/// Nothing more is to be counted: the tracer lets go.
const OVER: u64 = u64::MAX;
/// The work that is traced has limits of its own.
const LONGEST: Duration = Duration::from_secs(600);

/// A thread to trace, and where its `FUNCTION` lies.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Trace {
    thread: i32,
    address: u64,
}

/// System calls of one kind that one function made.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Traced {
    pub function: u64,
    pub count: Count,
}

/// Do something that sets [`FUNCTION`], and count the system calls of this thread meanwhile.
pub fn traced<T>(work: impl FnOnce() -> T) -> (T, Result<Vec<Traced>, String>) {
    // Where only parents may trace, a child may if it is allowed to. The tracer is ours.
    let _ = rustix::process::set_ptracer(rustix::process::PTracer::Any);
    let (ready, attached) = channel();
    std::thread::scope(|scope| {
        let thread = this_thread();
        let tracer = scope.spawn(move || -> Result<Answer, String> {
            let request = Request::Trace(Trace { thread: thread?, address: FUNCTION.as_ptr() as u64 });
            let folder = std::env::current_dir().map_err(|error| error.to_string())?;
            // Not confined once more: it would then be inside another sandbox than we are, and might not
            // trace us.
            let limits = Limits { time: LONGEST, memory: None, writable: None };
            let process = Process::new().map_err(|error| error.to_string())?;
            let tell = |_| {
                let _ = ready.send(());
            };
            process.run(&request, &limits, &folder, tell).map_err(|error| error.to_string())
        });
        // An error: the tracer has ended without a word.
        let _ = attached.recv();
        let done = work();
        FUNCTION.store(OVER, Ordering::Relaxed);
        std::thread::yield_now(); // a system call, at which the tracer sees it
        FUNCTION.store(0, Ordering::Relaxed);
        let counted = match tracer.join() {
            Ok(Ok(Answer::Trace(counted))) => Ok(counted),
            Ok(Err(why)) => Err(why),
            _ => Err("the tracer failed".into()),
        };
        (done, counted)
    })
}

/// The number of the calling thread.
fn this_thread() -> Result<i32, String> {
    let link = std::fs::read_link("/proc/thread-self").map_err(|error| format!("/proc: {error}"))?;
    let name = link.file_name().and_then(|name| name.to_str()).and_then(|name| name.parse().ok());
    name.ok_or_else(|| format!("/proc/thread-self is {}", link.display()))
}

impl Trace {
    /// The tracer's side.
    pub fn answer(self, reporter: &mut Reporter) -> Result<Vec<Traced>, String> {
        let thread = Pid::from_raw(self.thread);
        let failed = |what: &'static str| move |error: Errno| format!("{what}: {error}");
        ptrace::seize(thread, Options::PTRACE_O_TRACESYSGOOD).map_err(failed("ptrace is not permitted"))?;
        ptrace::interrupt(thread).map_err(failed("ptrace"))?;
        let mut counts: BTreeMap<(u64, String, Option<String>), u64> = BTreeMap::new();
        let mut told = false;
        loop {
            let signal = match waitpid(thread, Some(WaitPidFlag::__WALL)).map_err(failed("waitpid"))? {
                WaitStatus::PtraceSyscall(_) => {
                    let function =
                        ptrace::read(thread, self.address as *mut _).map_err(failed("ptrace"))? as u64;
                    if function == OVER {
                        ptrace::detach(thread, None).map_err(failed("ptrace"))?;
                        break;
                    }
                    if function != 0 {
                        let registers = Registers::of(thread).map_err(failed("ptrace"))?;
                        if let Some((name, to)) = registers.entered(thread) {
                            *counts.entry((function, name, to)).or_default() += 1;
                        }
                    }
                    None
                }
                WaitStatus::Stopped(_, signal) => Some(signal),
                WaitStatus::Exited(..) | WaitStatus::Signaled(..) => {
                    return Err("the model's process ended".into());
                }
                _ => None,
            };
            ptrace::syscall(thread, signal).map_err(failed("ptrace"))?;
            if !told {
                told = true;
                reporter.progress(1.0);
            }
        }
        let traced = |((function, name, to), count)| Traced { function, count: Count { name, to, count } };
        Ok(counts.into_iter().map(traced).collect())
    }
}

impl Registers {
    /// Name and target of the system call that begins here; `None` where one ends.
    fn entered(&self, thread: Pid) -> Option<(String, Option<String>)> {
        if !self.entering {
            return None;
        }
        let name = names::name(self.number);
        let to = names::takes_file(&name).then(|| {
            let link = std::fs::read_link(format!("/proc/{thread}/fd/{}", self.first as i32));
            link.map_or_else(|_| "nothing that is open".into(), |path| names::target(&path))
        });
        Some((name, to))
    }
}
