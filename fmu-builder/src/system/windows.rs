//! Windows.

use std::fs::{self, File, Metadata};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsHandle;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

/// `file:stream` is a part of a file.
pub const COLON_IS_SPECIAL: bool = true;
/// The kernel counts what a process does (`worker/audit.rs`).
pub const COUNTS_CALLS: bool = false;
/// A process can be kept from taking more memory.
pub const LIMITS_MEMORY: bool = false;

// Files.

/// The name decides here.
pub fn set_executable(_: &File, _: bool) -> io::Result<()> {
    Ok(())
}

/// Between the parts of a path.
pub fn is_separator(byte: u8) -> bool {
    byte == b'/' || byte == b'\\'
}

/// Open a file to be read.
pub fn open_without_waiting(path: &Path) -> io::Result<File> {
    File::open(path)
}

/// Pipes have other names here than files.
pub fn is_pipe(_: &Metadata) -> bool {
    false
}

/// Two names of one file; the standard library cannot tell.
pub fn same_inode(_: &Path, _: &Path) -> bool {
    false
}

/// A user's temporary folder is the user's own.
pub fn make_private(_: &mut tempfile::Builder) {}

/// As any new file: permissions come from the folder.
pub fn make_ordinary(_: &mut tempfile::Builder) {}

/// A file of the user who runs this: the temporary folder has no others.
pub fn is_ours(_: &Metadata) -> bool {
    true
}

/// Whether another program keeps the file from being replaced: access denied, or a sharing violation.
pub fn is_in_use(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(5 | 32))
}

/// Asked before a file that is there gets a second name: neither of the names could be removed while a program has
/// the file open.
pub fn ask_replaceable(target: &Path) -> io::Result<()> {
    const DELETE: u32 = 0x0001_0000;
    match fs::OpenOptions::new().access_mode(DELETE).open(target) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

// Signals.

/// There is no time between Ctrl-C and the end: what stays behind is removed by the next run.
pub fn before_a_signal_ends_us(_: impl FnOnce() + Send + 'static) {}

// The worker's process, seen from the builder.

/// There are no groups; what a model starts is its own.
pub fn own_group(command: &mut Command) -> &mut Command {
    command
}

pub fn kill_group(_: u32) {}

/// The name of what killed the process; `None` if it ended by itself.
pub fn crash(status: ExitStatus) -> Option<String> {
    match status.code().map(|code| code as u32) {
        Some(0xC000_0005) => Some("an access violation".into()),
        Some(0xC000_00FD) => Some("a stack overflow".into()),
        Some(0xC000_0094) => Some("an integer division by zero".into()),
        Some(0xC000_0374) => Some("a heap corruption".into()),
        Some(code) if code >= 0xC000_0000 => Some(format!("exception {code:#x}")),
        _ => None,
    }
}

/// Not told without the system's own functions.
pub fn machine_memory() -> Option<u64> {
    None
}

// The worker's process, seen from itself.

/// Standard input as a file of our own.
pub fn own_stdin() -> io::Result<File> {
    Ok(File::from(io::stdin().as_handle().try_clone_to_owned()?))
}

/// Not shared here: the last call is known by the phases that the worker reports.
pub fn share_word(_: &File) -> Option<&'static std::sync::atomic::AtomicU32> {
    None
}

/// No file system keeps libraries from being loaded.
pub fn forbids_execution(_: &Path) -> bool {
    false
}

/// What the worker started has no mark to be found by.
pub fn end_marked(_: &Path) {}

/// End this process when the builder has ended. It holds `builders_lock` locked as long as it lives; nobody is told of
/// a parent's end here.
pub fn end_with_parent(builders_lock: &Path) {
    let Ok(lock) = File::open(builders_lock) else { return };
    std::thread::spawn(move || {
        while lock.try_lock_shared().is_err() {
            std::thread::sleep(Duration::from_millis(200));
        }
        std::process::exit(1);
    });
}

pub fn limit_memory(_: Option<u64>) {}

pub fn limit_file_size(_: u64) {}

pub fn write_only_in(_: &[PathBuf]) -> Result<(), String> {
    Ok(())
}

/// Windows' terminals wrap lines themselves, and are not asked.
pub fn terminal_width() -> Option<usize> {
    None
}

/// The system counts a thread's time in ticks of 15 ms: too coarse for steps.
pub fn thread_time() -> Option<std::time::Duration> {
    None
}

pub fn involuntary_switches() -> Option<u64> {
    None
}

/// Have this thread scheduled as on a test bench.
pub fn real_time_priority() -> Result<(), String> {
    Err("this system has no SCHED_FIFO".into())
}

// The machine.

/// The processor's name and the system's, as far as the environment tells.
pub fn machine() -> [Option<String>; 2] {
    [std::env::var("PROCESSOR_IDENTIFIER").ok(), std::env::var("OS").ok()]
}
