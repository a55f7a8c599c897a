//! System calls by name, and what they write to in words.

use nix::errno::Errno;
use nix::unistd::Pid;
use std::path::Path;

/// What a traced thread's registers say at a system call.
pub struct Registers {
    pub number: i64,
    /// Its first argument.
    pub first: u64,
    /// It begins; otherwise it ends.
    pub entering: bool,
}

impl Registers {
    #[cfg(target_arch = "x86_64")]
    pub fn of(thread: Pid) -> Result<Registers, Errno> {
        let registers = nix::sys::ptrace::getregs(thread)?;
        // The kernel has its answer "no such call" ready before it looks for the call.
        let entering = registers.rax as i64 == -i64::from(libc::ENOSYS);
        Ok(Registers { number: registers.orig_rax as i64, first: registers.rdi, entering })
    }

    #[cfg(target_arch = "aarch64")]
    pub fn of(thread: Pid) -> Result<Registers, Errno> {
        let registers = nix::sys::ptrace::getregs(thread)?.regs;
        // The kernel says in x7 whether a call begins (0) or ends (1).
        Ok(Registers { number: registers[8] as i64, first: registers[0], entering: registers[7] == 0 })
    }

    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub fn of(_: Pid) -> Result<Registers, Errno> {
        Err(Errno::ENOSYS)
    }
}

macro_rules! table {
    ($($name:ident = $number:ident),* $(,)?) => { &[$((stringify!($name), libc::$number as i64)),*] };
}

/// Those that a model may well make, on every processor.
const COMMON: &[(&str, i64)] = table! {
    read = SYS_read, write = SYS_write, readv = SYS_readv, writev = SYS_writev, pread64 = SYS_pread64,
    pwrite64 = SYS_pwrite64, openat = SYS_openat, close = SYS_close, lseek = SYS_lseek, fsync = SYS_fsync,
    fdatasync = SYS_fdatasync, ioctl = SYS_ioctl, fcntl = SYS_fcntl, dup = SYS_dup, ftruncate = SYS_ftruncate,
    unlinkat = SYS_unlinkat, mkdirat = SYS_mkdirat, renameat2 = SYS_renameat2, getdents64 = SYS_getdents64,
    statx = SYS_statx, faccessat = SYS_faccessat, getcwd = SYS_getcwd, chdir = SYS_chdir,
    brk = SYS_brk, mmap = SYS_mmap, munmap = SYS_munmap, mremap = SYS_mremap, madvise = SYS_madvise,
    mprotect = SYS_mprotect, mlock = SYS_mlock, msync = SYS_msync,
    futex = SYS_futex, nanosleep = SYS_nanosleep, clock_nanosleep = SYS_clock_nanosleep, ppoll = SYS_ppoll,
    pselect6 = SYS_pselect6, epoll_pwait = SYS_epoll_pwait, wait4 = SYS_wait4, sched_yield = SYS_sched_yield,
    clone = SYS_clone, clone3 = SYS_clone3, execve = SYS_execve, exit = SYS_exit, exit_group = SYS_exit_group,
    kill = SYS_kill, tgkill = SYS_tgkill, rt_sigaction = SYS_rt_sigaction, rt_sigprocmask = SYS_rt_sigprocmask,
    rt_sigreturn = SYS_rt_sigreturn, gettid = SYS_gettid, getpid = SYS_getpid, clock_gettime = SYS_clock_gettime,
    gettimeofday = SYS_gettimeofday, getrandom = SYS_getrandom, getrusage = SYS_getrusage,
    set_robust_list = SYS_set_robust_list, sched_getaffinity = SYS_sched_getaffinity,
    socket = SYS_socket, connect = SYS_connect, sendto = SYS_sendto, recvfrom = SYS_recvfrom,
    sendmsg = SYS_sendmsg, recvmsg = SYS_recvmsg, pipe2 = SYS_pipe2, uname = SYS_uname, prctl = SYS_prctl,
};

/// Those that newer processors do without.
#[cfg(target_arch = "x86_64")]
const OLDER: &[(&str, i64)] = table! {
    open = SYS_open, stat = SYS_stat, fstat = SYS_fstat, lstat = SYS_lstat, newfstatat = SYS_newfstatat,
    access = SYS_access, unlink = SYS_unlink, mkdir = SYS_mkdir, rename = SYS_rename, poll = SYS_poll,
    select = SYS_select, epoll_wait = SYS_epoll_wait, fork = SYS_fork, vfork = SYS_vfork, pause = SYS_pause,
    readlink = SYS_readlink, dup2 = SYS_dup2, time = SYS_time,
};
#[cfg(not(target_arch = "x86_64"))]
const OLDER: &[(&str, i64)] = &[];

pub fn name(number: i64) -> String {
    let known = COMMON.iter().chain(OLDER).find(|known| known.1 == number);
    known.map_or_else(|| format!("number {number}"), |known| known.0.into())
}

/// The first argument of these is an open file, and the question is which.
pub fn takes_file(name: &str) -> bool {
    ["read", "write", "readv", "writev", "pread64", "pwrite64", "fsync", "fdatasync"].contains(&name)
}

/// An open file in words. The worker's own output is what would be the terminal elsewhere.
pub fn target(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let whole = path.to_string_lossy();
    match name.as_str() {
        "stdout.txt" | "stderr.txt" => "the terminal".into(),
        _ if whole.starts_with("/dev/pts/") || whole == "/dev/tty" => "the terminal".into(),
        _ if whole.starts_with("pipe:") => "a pipe".into(),
        _ if whole.starts_with("socket:") => "a socket".into(),
        // The folder is that of the audit, and would tell nothing.
        _ => format!("the file {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn system_calls_and_files_have_names() {
        assert_eq!(name(libc::SYS_write), "write");
        assert_eq!(name(99_999), "number 99999");
        assert!(takes_file("write") && !takes_file("mmap"));
        assert_eq!(target(Path::new("/tmp/x/stdout.txt")), "the terminal");
        assert_eq!(target(Path::new("/dev/pts/3")), "the terminal");
        assert_eq!(target(Path::new("socket:[12]")), "a socket");
        assert_eq!(target(Path::new("/tmp/x/log.csv")), "the file log.csv");
    }
}
