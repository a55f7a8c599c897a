//! Workers that answer, crash, hang, print and lie.

use super::super::protocol::{Reporter, send, serve};
use super::*;

/// Not a test: the worker of the tests below, which start this test executable again with this
/// name as a filter. Without a request it passes.
#[test]
fn as_worker() {
    let Some(request) = std::env::args().next_back().filter(|path| path.ends_with(REQUEST)) else {
        return;
    };
    serve(Path::new(&request), |order: String, reporter: &mut Reporter| {
        reporter.phase("fmi2Instantiate");
        reporter.progress(0.25);
        match order.as_str() {
            "refuse" => return Err("no such state".to_string().into()),
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
            "outside" => fs::write("../outside.txt", "x").map_err(|e| e.to_string())?,
            "connect" => {
                let port = fs::read_to_string("/proc/self/net/tcp").map_err(|e| e.to_string())?;
                let listening = port.lines().filter_map(|line| line.split_whitespace().nth(1));
                let port = listening.filter_map(|local| local.strip_prefix("0100007F:")).find_map(|port| {
                    let port = u16::from_str_radix(port, 16).ok()?;
                    Some(std::net::TcpStream::connect(("127.0.0.1", port)).err()?.to_string())
                });
                return Err(port.unwrap_or("connected".into()).into());
            }
            "signal" => {
                let parent = std::os::unix::process::parent_id().to_string();
                let killed = Command::new("kill").args(["-WINCH", &parent]).status();
                return Err(format!("{}", killed.is_ok_and(|status| status.success())).into());
            }
            "devour" => {
                let mut memory: Vec<u8> = Vec::new();
                let got = memory.try_reserve_exact(16 << 30).is_ok();
                return Err(format!("{got}").into());
            }
            "litter" => fs::write("litter.txt", "x").map_err(|e| e.to_string())?,
            _ => {}
        }
        Ok(vec![order.len() as f64, 0.1])
    });
}

fn me() -> Process {
    let arguments = ["lab::process::tests::as_worker", "--exact", "--nocapture"];
    Process::with_executable(std::env::current_exe().unwrap(), arguments)
}

fn order(order: &str, limit: f64, watch: impl FnMut(f64)) -> Result<Vec<f64>, WorkerError> {
    let scratch = tempfile::tempdir().unwrap();
    let answer = me().run(&order, &within(limit), scratch.path(), watch);
    assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 0, "the worker's folder was left behind");
    answer
}

fn within(seconds: f64) -> Limits {
    Limits { time: Duration::from_secs_f64(seconds), memory: None, writable: Some(Vec::new()) }
}

#[cfg(target_os = "linux")]
fn kernel_confines() -> bool {
    use landlock::{ABI, AccessFs, CompatLevel, Compatible, Ruleset, RulesetAttr};
    let strict = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    strict.handle_access(AccessFs::from_write(ABI::V6)).is_ok_and(|ruleset| ruleset.create().is_ok())
}

/// Landlock: nothing outside the worker's folder is written, and nobody outside is signalled.
#[cfg(target_os = "linux")]
#[test]
fn nothing_outside_is_touched() {
    if !kernel_confines() {
        eprintln!("skipped: this kernel has no Landlock");
        return;
    }
    let message = order("outside", 30.0, |_| {}).unwrap_err().to_string();
    assert!(message.contains("Permission denied"), "{message}");
    // The worker tries every listener of this machine; one of them is ours.
    let _listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let message = order("connect", 30.0, |_| {}).unwrap_err().to_string();
    assert!(message.contains("Permission denied"), "{message}");
    assert_eq!(order("signal", 30.0, |_| {}).unwrap_err().to_string(), "false");
}

#[cfg(target_os = "linux")]
#[test]
fn memory_is_limited() {
    let scratch = tempfile::tempdir().unwrap();
    let limits = Limits { memory: Some(4 << 30), ..within(30.0) };
    let answer: Result<Vec<f64>, _> = me().run(&"devour", &limits, scratch.path(), |_| {});
    assert_eq!(answer.unwrap_err().to_string(), "false");
}

/// The worker is a shell script; it finds the pipe as its standard input.
fn shell(script: &str, limit: f64) -> Result<f64, WorkerError> {
    let scratch = tempfile::tempdir().unwrap();
    let worker = Process::with_executable("/bin/sh", ["-c", script]);
    worker.run(&(), &within(limit), scratch.path(), |_| {})
}

#[test]
fn an_answer_comes_back() {
    assert_eq!(order("hello", 30.0, |_| {}).unwrap(), [5.0, 0.1]);
}

#[test]
fn a_refusal_is_the_workers_own_message() {
    let error = order("refuse", 30.0, |_| {}).unwrap_err();
    assert!(matches!(error, WorkerError::Refused { .. }));
    assert_eq!(error.to_string(), "no such state");
}

#[test]
fn a_crash_names_signal_and_phase() {
    let message = order("abort", 30.0, |_| {}).unwrap_err().to_string();
    let expected = "the FMU crashed with SIGABRT (it aborted itself) in fmi2EnterInitializationMode; check";
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
    let expected = "the FMU did not return within 500 ms in fmi2Instantiate; give it more with --time-limit";
    assert!(message.starts_with(expected), "{message}");
}

#[test]
fn an_exit_shows_the_last_words() {
    let error = order("exit", 30.0, |_| {}).unwrap_err();
    let WorkerError::Exited { code, phase, tail, .. } = &error else { panic!("{error}") };
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
    order("slow", 30.0, |fraction| seen.push(fraction)).unwrap();
    assert_eq!(seen, [0.25]);
}

#[test]
fn files_that_the_fmu_leaves_are_cleared_away() {
    order("litter", 30.0, |_| {}).unwrap();
    assert!(!Path::new("litter.txt").exists());
}

/// A shell command that sends a message, with these bytes more at its end.
fn said(message: &Message<f64>, more: &[u8]) -> String {
    let mut frame = Vec::new();
    send(&mut frame, &[&encode(message).unwrap(), more].concat()).unwrap();
    let octal: String = frame.iter().map(|byte| format!("\\{byte:03o}")).collect();
    format!("printf '{octal}' >&0;")
}

/// An FMU that crashes or hangs while it is unloaded has answered all the same.
#[test]
fn an_answer_counts_although_the_end_is_bad() {
    let answered = said(&Message::Done(2.5), &[]);
    assert_eq!(shell(&format!("{answered} kill -SEGV $$"), 30.0).unwrap(), 2.5);
    let start = Instant::now();
    assert_eq!(shell(&format!("{answered} exec sleep 60"), 30.0).unwrap(), 2.5);
    assert!(start.elapsed() < Duration::from_secs(10));
}

/// A file system object with a familiar name once stopped us for ever: nothing in the folder is opened by
/// name any more.
#[test]
fn pipes_in_the_folder_hold_nobody_up() {
    let start = Instant::now();
    let names = "stdout.txt stderr.txt response progress request.postcard";
    let error = shell(&format!("rm -f {names}; mkfifo {names}; echo gone >&2; exit 3"), 30.0).unwrap_err();
    assert!(error.to_string().contains("exit code 3"), "{error}");
    assert!(error.to_string().ends_with("Its last words:\ngone"), "{error}");
    assert!(start.elapsed() < Duration::from_secs(10));
}

/// What an FMU starts ends with it, whether it answers or not, and holds nobody up.
#[test]
fn nothing_that_it_started_stays() {
    let folder = tempfile::tempdir().unwrap();
    let answered = said(&Message::Done(2.5), &[]);
    for (index, end) in [answered.as_str(), "exit 3", "kill -SEGV $$", "sleep 60"].iter().enumerate() {
        let pid = folder.path().join(index.to_string());
        let start = Instant::now();
        let _ = shell(&format!("sleep 60 & echo $! > {}; {end}", pid.display()), 2.0);
        assert!(start.elapsed() < Duration::from_secs(10));
        let pid = fs::read_to_string(pid).unwrap();
        let stat = || fs::read_to_string(format!("/proc/{}/stat", pid.trim())).unwrap_or_default();
        // It dies of its signal when it is scheduled next, and its new parent looks after it some time later.
        let gone = |stat: String| stat.is_empty() || stat.contains(") Z ");
        let begin = Instant::now();
        while !gone(stat()) && begin.elapsed() < Duration::from_secs(5) {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(gone(stat()), "{end}: {}", stat());
    }
}

/// A signal to its whole process group is no business of ours.
#[test]
fn an_fmu_that_kills_its_group_kills_itself() {
    let message = shell("kill -KILL 0", 30.0).unwrap_err().to_string();
    assert!(message.starts_with("the FMU crashed with SIGKILL"), "{message}");
}

#[test]
fn what_cannot_be_started_or_understood_is_said() {
    let scratch = tempfile::tempdir().unwrap();
    let absent = Process::with_executable("/no/such/program", ["worker"]);
    let error = absent.run::<_, f64>(&(), &within(1.0), scratch.path(), |_| {}).unwrap_err();
    assert!(error.to_string().starts_with("cannot start /no/such/program: "), "{error}");
    let error = absent.run::<_, f64>(&(), &within(1.0), Path::new("/no/folder"), |_| {}).unwrap_err();
    assert!(error.to_string().starts_with("cannot work in /no/folder: "), "{error}");
    let endless = "printf '\\377\\377\\377\\377' >&0; exec sleep 60";
    for script in [endless, &said(&Message::Done(2.5), b"more")] {
        let error = shell(script, 30.0).unwrap_err();
        assert!(matches!(error, WorkerError::Damaged { .. }), "{error}");
    }
    // Torn in the middle: no answer.
    let error = shell("printf '\\377' >&0", 30.0).unwrap_err();
    assert!(matches!(error, WorkerError::Exited { .. }), "{error}");
}

#[test]
fn last_words_are_few_and_clean() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let log: String = (0..1000).map(|i| format!("\x1b[31mline {i}\r\n\n")).collect();
    fs::write(&path, log).unwrap();
    let tail = tail(&File::open(&path).unwrap()).unwrap();
    assert_eq!(tail.lines().count(), 10);
    assert!(tail.starts_with("[31mline 990\n") && tail.ends_with("line 999"), "{tail}");
}
