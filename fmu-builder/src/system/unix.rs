//! Linux and macOS.

mod shared;

pub use shared::share_word;

use rustix::fs::OFlags;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::os::unix::process::{CommandExt, ExitStatusExt, parent_id};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};
use std::time::Duration;

/// A colon in a file name is a letter like any other.
pub const COLON_IS_SPECIAL: bool = false;
/// The kernel counts what a process does (`worker/audit.rs`).
pub const COUNTS_CALLS: bool = cfg!(target_os = "linux");
/// A process can be kept from taking more memory.
pub const LIMITS_MEMORY: bool = true;

// Files.

/// Whoever may read the file may execute it, if it is a program.
pub fn set_executable(file: &File, executable: bool) -> io::Result<()> {
    if !executable {
        return Ok(());
    }
    let mode = file.metadata()?.permissions().mode();
    file.set_permissions(PermissionsExt::from_mode(mode | ((mode & 0o444) >> 2)))
}

/// Between the parts of a path.
pub fn is_separator(byte: u8) -> bool {
    byte == b'/'
}

/// Open a file to be read. One that waits for its other end, a pipe, is opened at once, and so is every read of it: `WouldBlock`.
pub fn open_without_waiting(path: &Path) -> io::Result<File> {
    // Nor does a terminal become ours by being named.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
    fs::OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path)
}

/// A pipe, with a name or without.
pub fn is_pipe(about: &Metadata) -> bool {
    about.file_type().is_fifo()
}

/// Two names of one file.
pub fn same_inode(a: &Path, b: &Path) -> bool {
    match (fs::metadata(a), fs::metadata(b)) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

/// Nobody else may look in.
pub fn make_private(builder: &mut tempfile::Builder) {
    builder.permissions(PermissionsExt::from_mode(0o700));
}

/// As any new file: 0666 less the umask.
pub fn make_ordinary(builder: &mut tempfile::Builder) {
    builder.permissions(PermissionsExt::from_mode(0o666));
}

/// A file of the user who runs this.
pub fn is_ours(about: &Metadata) -> bool {
    about.uid() == rustix::process::geteuid().as_raw()
}

/// Whether another program keeps the file from being replaced: never here.
pub fn is_in_use(_: &io::Error) -> bool {
    false
}

/// Asked before a file that is there gets a second name.
pub fn ask_replaceable(_: &Path) -> io::Result<()> {
    Ok(())
}

// Signals.

/// Before the first signal that ends this process does so, call `clear_away`.
pub fn before_a_signal_ends_us(clear_away: impl FnOnce() + Send + 'static) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    let ignored = ignored_signals();
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let Ok(mut signals) = Signals::new(wanted) else { return };
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            clear_away();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
            std::process::exit(128 + signal);
        }
    });
}

/// What `nohup` and shells ignore on our behalf stays ignored.
fn ignored_signals() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}

// The worker's process, seen from the builder.

/// The command's process leads a group of its own.
pub fn own_group(command: &mut Command) -> &mut Command {
    command.process_group(0)
}

/// Kill a worker and what it started. The group bears the number of its leader, and keeps it as long as it has members.
pub fn kill_group(leader: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(group) = i32::try_from(leader).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(group, Signal::KILL);
    }
}

/// Kill every process that has this folder in its environment, as `TMPDIR`: what a worker started and what left its group. Where the system does not
/// tell (there is no `/proc` but on Linux), nothing is done.
pub fn end_marked(folder: &Path) {
    use rustix::process::{Pid, Signal, getpid, kill_process};
    use std::os::unix::ffi::OsStrExt;
    let mark = [b"TMPDIR=", folder.as_os_str().as_bytes()].concat();
    let is_marked = |pid: i32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|&byte| byte == 0).any(|variable| variable == mark)
    };
    // A process may start another while it is looked for: until a round finds none.
    for _ in 0..100 {
        let Ok(entries) = fs::read_dir("/proc") else { return };
        let numbers = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
        let others = numbers.filter(|&pid| pid != getpid().as_raw_pid());
        let marked: Vec<Pid> = others.filter(|&pid| is_marked(pid)).filter_map(Pid::from_raw).collect();
        if marked.is_empty() {
            return;
        }
        for pid in marked {
            let _ = kill_process(pid, Signal::KILL);
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// The name of what killed the process; `None` if it ended by itself.
pub fn crash(status: ExitStatus) -> Option<String> {
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

/// The memory of this machine, in bytes: a model that wants more would only make it swap.
pub fn machine_memory() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes << 10)
}

// The worker's process, seen from itself.

/// Standard input as a file of our own; whoever uses standard input from now on finds nothing there, and disturbs nobody.
pub fn own_stdin() -> io::Result<File> {
    let own = File::from(io::stdin().as_fd().try_clone_to_owned()?);
    if let Ok(nothing) = File::open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(nothing);
    }
    Ok(own)
}

/// The file system of this folder runs no programs, and so loads no libraries.
#[cfg(target_os = "linux")]
pub fn forbids_execution(folder: &Path) -> bool {
    use rustix::fs::{StatVfsMountFlags, statvfs};
    statvfs(folder).is_ok_and(|about| about.f_flag.contains(StatVfsMountFlags::NOEXEC))
}

#[cfg(not(target_os = "linux"))]
pub fn forbids_execution(_: &Path) -> bool {
    false
}

/// End this process and its group when the builder, its parent, has ended. The lock is for systems that do not tell.
pub fn end_with_parent(_builders_lock: &Path) {
    use rustix::process::{Signal, getpgrp, getpid, kill_process_group};
    let parent = parent_id();
    std::thread::spawn(move || {
        while parent_id() == parent {
            std::thread::sleep(Duration::from_millis(200));
        }
        if getpgrp() == getpid() {
            let _ = kill_process_group(getpgrp(), Signal::KILL);
        }
        std::process::exit(1);
    });
}

/// Limit the address space of this process; and a crash needs no dump of gigabytes.
pub fn limit_memory(bytes: Option<u64>) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let _ = setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) });
    if let Some(wanted) = bytes {
        let most = getrlimit(Resource::As).maximum.map_or(wanted, |most| most.min(wanted));
        let _ = setrlimit(Resource::As, Rlimit { current: Some(most), maximum: Some(most) });
    }
}

/// Nobody in this process or started by it writes a file of more than so many bytes.
pub fn limit_file_size(bytes: u64) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let most = getrlimit(Resource::Fsize).maximum.map_or(bytes, |most| most.min(bytes));
    let _ = setrlimit(Resource::Fsize, Rlimit { current: Some(most), maximum: Some(most) });
}

/// From now on this process writes in `folders` only, uses no network, and sends no signals to processes that it did not start.
#[cfg(target_os = "linux")]
pub fn write_only_in(folders: &[PathBuf]) -> Result<(), String> {
    use landlock::{
        ABI, AccessFs, AccessNet, CompatLevel, Compatible, Ruleset, RulesetAttr, RulesetCreatedAttr,
        RulesetError, Scope, path_beneath_rules,
    };
    let write = AccessFs::from_write(ABI::V6);
    let devices =
        ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty", "/dev/shm"];
    let restrict = || -> Result<(), RulesetError> {
        Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(write)?
            .handle_access(AccessNet::ConnectTcp | AccessNet::BindTcp)?
            .scope(Scope::Signal)?
            .create()?
            .add_rules(path_beneath_rules(devices, write))?
            .add_rules(path_beneath_rules(folders, write))?
            .restrict_self()?;
        Ok(())
    };
    restrict().map_err(|error| error.to_string())
}

#[cfg(not(target_os = "linux"))]
pub fn write_only_in(_: &[PathBuf]) -> Result<(), String> {
    Ok(())
}

/// Columns of the terminal that we write to.
pub fn terminal_width() -> Option<usize> {
    let size =
        rustix::termios::tcgetwinsize(io::stdout()).or_else(|_| rustix::termios::tcgetwinsize(io::stderr()));
    size.ok().map(|size| usize::from(size.ws_col)).filter(|&width| width > 0)
}

/// Processor time that this thread has taken.
pub fn thread_time() -> Option<Duration> {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Some(Duration::new(u64::try_from(now.tv_sec).ok()?, u32::try_from(now.tv_nsec).ok()?))
}

/// How often the system took the processor away from this thread.
pub fn involuntary_switches() -> Option<u64> {
    let status = fs::read_to_string("/proc/thread-self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("nonvoluntary_ctxt_switches:"))?;
    line.trim().parse().ok()
}

/// Have this thread scheduled as on a test bench.
pub fn real_time_priority() -> Result<(), String> {
    use thread_priority::unix::{
        RealtimeThreadSchedulePolicy, ThreadSchedulePolicy, set_thread_priority_and_policy, thread_native_id,
    };
    use thread_priority::{ThreadPriority, ThreadPriorityValue};
    let priority = ThreadPriorityValue::try_from(80).map(ThreadPriority::Crossplatform);
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let set = |priority| {
        set_thread_priority_and_policy(thread_native_id(), priority, policy)
            .map_err(|error| format!("the system refuses SCHED_FIFO ({error:?}); it takes CAP_SYS_NICE"))
    };
    priority.map_err(|error| error.to_string()).and_then(set)
}

// The machine.

/// The processor's name and the kernel's version, as far as the system tells.
pub fn machine() -> [Option<String>; 2] {
    let words = |text: String| {
        Some(text.split_whitespace().collect::<Vec<_>>().join(" ")).filter(|text| !text.is_empty())
    };
    let processor = fs::read_to_string("/proc/cpuinfo").ok().and_then(|text| {
        let line = text.lines().find(|line| line.starts_with("model name"))?;
        line.split_once(':').map(|(_, name)| name.to_string())
    });
    let kernel = fs::read_to_string("/proc/version").ok();
    let kernel = kernel.map(|text| text.split_whitespace().take(3).collect::<Vec<_>>().join(" "));
    [processor.and_then(words), kernel.and_then(words)]
}
