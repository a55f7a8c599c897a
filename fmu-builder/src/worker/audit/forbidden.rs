//! What was counted, as sentences.

use super::{Audited, Conduct, Count};

/// One sentence for each thing that real time forbids; none if there is none.
pub fn verdict(found: &Audited) -> Vec<String> {
    found.functions.iter().flat_map(|conduct| faults(conduct, found)).collect()
}

fn faults(conduct: &Conduct, found: &Audited) -> Vec<String> {
    let function = &conduct.function;
    let sentence = |does: &str, how_often: String| format!("this model {does} {how_often} in {function}");
    let mut faults = Vec::new();
    for Count { name, count, .. } in &conduct.memory {
        faults.push(sentence(&format!("calls {name}"), rate(*count, found.steps)));
    }
    let sum = |names: &[&str]| -> u64 {
        let of = conduct.memory.iter().filter(|count| names.contains(&count.name.as_str()));
        of.map(|count| count.count).sum()
    };
    let taken = sum(&["malloc", "calloc", "posix_memalign", "aligned_alloc", "memalign"]);
    let kept = taken.saturating_sub(sum(&["free"]));
    // A block or two may be a buffer that grew.
    if kept > 2 {
        faults.push(format!(
            "this model keeps {kept} of {taken} blocks of memory that it took in {} steps in {function}",
            found.steps
        ));
    }
    for count in &conduct.system_calls {
        faults.push(sentence(&action(count), rate(count.count, found.traced_steps)));
    }
    // A few are the machine's: a page that was moved or swapped.
    if conduct.page_faults * 100 > found.steps {
        faults.push(sentence("touches new pages of memory", rate(conduct.page_faults, found.steps)));
    }
    if conduct.denormals > 0 {
        faults.push(format!(
            "this model computes with denormal numbers in {} of {} calls of {function}",
            conduct.denormals, conduct.calls
        ));
    }
    faults
}

/// "3 times per step", or "7 times in 1000 steps" where it is rare.
fn rate(count: u64, steps: u64) -> String {
    let times = |number: String| if number == "1" { "once".into() } else { format!("{number} times") };
    let share = count as f64 / steps.max(1) as f64;
    if share < 0.1 {
        return format!("{} in {steps} steps", times(count.to_string()));
    }
    let text = format!("{share:.2}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    format!("{} per step", times(text.into()))
}

/// What a system call means to someone who waits for the step.
fn action(count: &Count) -> String {
    let name = count.name.as_str();
    let what = match name {
        "write" | "writev" | "pwrite64" => format!("writes to {}", target(count)),
        "read" | "readv" | "pread64" => format!("reads {}", target(count)),
        "fsync" | "fdatasync" | "msync" => "waits for the disk".into(),
        "open" | "openat" => "opens a file".into(),
        "clone" | "clone3" | "fork" | "vfork" => "starts a thread or a process".into(),
        "futex" => "waits for a lock or wakes others".into(),
        "nanosleep" | "clock_nanosleep" => "sleeps".into(),
        "poll" | "ppoll" | "select" | "pselect6" | "epoll_wait" | "epoll_pwait" | "pause" | "wait4" => {
            "waits".into()
        }
        "brk" | "mmap" | "munmap" | "mremap" | "madvise" => {
            "asks the kernel for memory or gives it back".into()
        }
        "sendto" | "sendmsg" | "recvfrom" | "recvmsg" | "connect" | "socket" => "uses the network".into(),
        _ => return format!("makes the system call {name}"),
    };
    format!("{what} ({name})")
}

fn target(count: &Count) -> &str {
    count.to.as_deref().unwrap_or("something")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(name: &str, to: Option<&str>, count: u64) -> Count {
        Count { name: name.into(), to: to.map(Into::into), count }
    }

    #[test]
    fn each_count_becomes_a_sentence() {
        let conduct = Conduct {
            function: "fmi2GetDerivatives".into(),
            calls: 2000,
            memory: vec![count("malloc", None, 3000), count("free", None, 2000)],
            page_faults: 11,
            denormals: 4,
            system_calls: vec![
                count("write", Some("the terminal"), 1000),
                count("clone3", None, 7),
                count("uname", None, 1250),
            ],
        };
        let found = Audited { steps: 1000, traced_steps: 1000, functions: vec![conduct], uncounted: vec![] };
        assert_eq!(
            verdict(&found),
            [
                "this model calls malloc 3 times per step in fmi2GetDerivatives",
                "this model calls free 2 times per step in fmi2GetDerivatives",
                "this model keeps 1000 of 3000 blocks of memory that it took in 1000 steps in \
                 fmi2GetDerivatives",
                "this model writes to the terminal (write) once per step in fmi2GetDerivatives",
                "this model starts a thread or a process (clone3) 7 times in 1000 steps in \
                 fmi2GetDerivatives",
                "this model makes the system call uname 1.25 times per step in fmi2GetDerivatives",
                "this model touches new pages of memory 11 times in 1000 steps in fmi2GetDerivatives",
                "this model computes with denormal numbers in 4 of 2000 calls of fmi2GetDerivatives",
            ]
        );
    }

    /// Ten page faults in a thousand steps may be the machine's.
    #[test]
    fn arithmetic_is_nothing_to_speak_of() {
        let conduct = Conduct { function: "f".into(), calls: 1000, page_faults: 10, ..Conduct::default() };
        let found = Audited { steps: 1000, functions: vec![conduct], ..Audited::default() };
        assert_eq!(verdict(&found), [""; 0]);
    }
}
