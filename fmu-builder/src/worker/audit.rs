//! What the model inside does that real time forbids: it reads or writes files, waits, faults on new pages of memory, grows, starts
//! threads, returns denormal numbers. Counted per call of each of its functions, with the kernel's own counters (Linux).
//!
//! Each function is called many times along a slightly moved state, so that nothing is remembered; what the first calls do
//! (lazy binding, first touch) is not counted. Requests for memory that are answered from the heap's free lists leave no
//! trace in these counters: only memory that is not given back shows.

use super::session::Session;
use crate::interface::Interface;
use serde::{Deserialize, Serialize};
use std::fs;

/// Calls that are counted, and calls before.
const CALLS: u64 = 2000;
const WARM_UP: u64 = 200;
/// Bytes of a page, in which the kernel counts memory.
const PAGE: u64 = 4096;
/// Variables that are read at a time, at most.
const READ: usize = 1000;

/// What one function did in `calls` calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conduct {
    pub function: String,
    pub calls: u64,
    /// System calls that read and that write: files, pipes, the terminal.
    pub reads: u64,
    pub writes: u64,
    pub written_bytes: u64,
    /// Times that it gave up the processor by itself: it slept, or waited for a lock or a device.
    pub waits: u64,
    pub page_faults: u64,
    /// Threads that are there after the calls and were not before.
    pub threads: u64,
    /// Bytes of memory that are there after the calls and were not before.
    pub growth: u64,
    /// Numbers below 2.2e-308 among its results: many processors take a hundred times longer with them.
    pub denormals: u64,
}

impl Conduct {
    /// What real time forbids, in words; empty if nothing was seen.
    pub fn faults(&self) -> Vec<String> {
        let per_call = |count: u64, what: &str| {
            // A few are the machine's: a page that was swapped, a timer.
            let share = count as f64 / self.calls.max(1) as f64;
            (share > 0.01).then(|| format!("{what} {share:.2} times per call"))
        };
        let mut faults: Vec<String> = [
            per_call(self.writes, "writes to files or the terminal"),
            per_call(self.reads, "reads files"),
            per_call(self.waits, "sleeps or waits"),
            per_call(self.page_faults, "faults on new pages of memory"),
        ]
        .into_iter()
        .flatten()
        .collect();
        if self.threads > 0 {
            faults.push(format!("starts threads ({})", self.threads));
        }
        // A few pages are the heap's own housekeeping.
        if self.growth > 16 * PAGE {
            faults.push(format!("takes {} bytes per call and keeps them", self.growth / self.calls.max(1)));
        }
        if self.denormals > 0 {
            faults.push(format!("returns denormal numbers ({} in {} calls)", self.denormals, self.calls));
        }
        faults
    }
}

/// Watch the functions that a step calls.
pub fn audit(session: &mut Session, interface: &Interface) -> Vec<Conduct> {
    let x = session.x.clone();
    let moved: Vec<f64> = x.iter().map(|x| x + x.abs().max(1e-6) * 1e-9).collect();
    let time = session.time;
    let _ = session.place(time, &x, false);
    let references = &interface.variables.real.references;
    let references = &references[..references.len().min(READ)];
    let inner = &mut session.inner;
    let mut list = Vec::new();
    let mut f = vec![0.0; x.len()];
    let mut z = vec![0.0; session.z.len()];
    let mut values = vec![0.0; references.len()];
    let state = |k: u64| if k.is_multiple_of(2) { &x } else { &moved };
    if !x.is_empty() {
        list.push(watch("fmi2GetDerivatives", |k| {
            let _ = inner.set_continuous_states(state(k));
            let _ = inner.get_derivatives(&mut f);
            denormals(&f)
        }));
    }
    if !z.is_empty() {
        list.push(watch("fmi2GetEventIndicators", |k| {
            let _ = inner.set_continuous_states(state(k));
            let _ = inner.get_event_indicators(&mut z);
            denormals(&z)
        }));
    }
    if !values.is_empty() {
        list.push(watch("fmi2GetReal", |k| {
            if !x.is_empty() {
                let _ = inner.set_continuous_states(state(k));
            }
            let _ = inner.get_real(references, &mut values);
            denormals(&values)
        }));
    }
    if interface.completed_step_needed {
        list.push(watch("fmi2CompletedIntegratorStep", |_| {
            let _ = inner.completed_integrator_step();
            0
        }));
    }
    list
}

/// A function's calls, and what the kernel counted meanwhile.
fn watch(function: &str, mut call: impl FnMut(u64) -> u64) -> Conduct {
    for k in 0..WARM_UP {
        call(k);
    }
    // What reading the counters itself costs.
    let (first, begin) = (Counters::read(), Counters::read());
    let denormals = (0..CALLS).map(&mut call).sum();
    let end = Counters::read();
    let by = |counter: fn(&Counters) -> u64| {
        let own = counter(&begin).saturating_sub(counter(&first));
        counter(&end).saturating_sub(counter(&begin)).saturating_sub(own)
    };
    Conduct {
        function: function.into(),
        calls: CALLS,
        reads: by(|counters| counters.reads),
        writes: by(|counters| counters.writes),
        written_bytes: by(|counters| counters.written_bytes),
        waits: by(|counters| counters.waits),
        page_faults: by(|counters| counters.page_faults),
        threads: by(|counters| counters.threads),
        growth: by(|counters| counters.memory),
        denormals,
    }
}

fn denormals(values: &[f64]) -> u64 {
    values.iter().filter(|value| value.is_subnormal()).count() as u64
}

/// Of this process, since its start. What a system does not count is 0.
#[derive(Clone, Debug, Default)]
struct Counters {
    reads: u64,
    writes: u64,
    written_bytes: u64,
    waits: u64,
    page_faults: u64,
    threads: u64,
    memory: u64,
}

impl Counters {
    fn read() -> Counters {
        let text = |file: &str| fs::read_to_string(format!("/proc/self/{file}")).unwrap_or_default();
        let (io, stat) = (text("io"), text("stat"));
        // The name, in parentheses, may hold anything; numbers follow.
        let stat = stat.rsplit_once(") ").map_or("", |(_, rest)| rest);
        let number = |index: usize| -> u64 {
            stat.split(' ').nth(index).and_then(|number| number.parse().ok()).unwrap_or(0)
        };
        let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
        let named = |text: &str, name: &str| -> u64 {
            let line = text.lines().find_map(|line| line.strip_prefix(name));
            line.and_then(|number| number.trim().parse().ok()).unwrap_or(0)
        };
        Counters {
            reads: named(&io, "syscr:"),
            writes: named(&io, "syscw:"),
            written_bytes: named(&io, "wchar:"),
            waits: named(&status, "voluntary_ctxt_switches:"),
            page_faults: number(7) + number(9),
            threads: number(17),
            memory: number(21) * PAGE,
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn what_is_done_is_counted_and_named() {
        let mut null = fs::File::options().write(true).open("/dev/null").unwrap();
        let writing = watch("f", |_| {
            null.write_all(b"hello").unwrap();
            0
        });
        assert!(writing.writes >= CALLS && writing.written_bytes >= 5 * CALLS, "{writing:?}");
        let said = writing.faults();
        assert!(said.iter().any(|fault| fault.starts_with("writes to files or the terminal ")), "{said:?}");

        let waiting = watch("f", |k| {
            if k.is_multiple_of(10) {
                std::thread::sleep(std::time::Duration::from_micros(50));
            }
            0
        });
        // Every tenth call sleeps; what reading the counters waited is taken off.
        assert!(waiting.waits >= CALLS / 20, "{waiting:?}");
        // One mapping that the heap cannot have at hand, so large is it; each call touches the next pages of it.
        let part = 5 * PAGE as usize;
        let mut kept = vec![0u8; (CALLS + WARM_UP) as usize * part];
        let mut pages = kept.chunks_mut(part);
        let greedy = watch("f", |_| {
            pages.next().unwrap().iter_mut().step_by(PAGE as usize).for_each(|byte| *byte = 1);
            0
        });
        assert!(greedy.growth >= 2048 * CALLS && greedy.page_faults > 0, "{greedy:?}");
        assert_eq!(watch("f", |_| denormals(&[1.0, 0.0, 1e-310])).denormals, CALLS);
    }

    /// Other tests of this process count too, but not in the thread's own waits.
    #[test]
    fn arithmetic_is_nothing_to_speak_of() {
        let conduct =
            Conduct { function: "f".into(), calls: CALLS, page_faults: 3, waits: 5, ..Conduct::default() };
        assert!(conduct.faults().is_empty());
        let mut sum = 0.0;
        assert!(
            watch("f", |k| {
                sum += (k as f64).sqrt();
                0
            })
            .waits
                < CALLS / 100
        );
        assert!(sum > 0.0);
    }
}
