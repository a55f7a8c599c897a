//! Which random inputs are tried, and how a finding is told: every input follows from one number, its seed.
//!
//! | variable | what is tried |
//! |---|---|
//! | none | as many as the test says, from seed 0: the same in each run |
//! | `FMU_BUILD_FUZZ_RUNS` | so many |
//! | `FMU_BUILD_FUZZ_SECONDS` | new ones in each run, for so long |
//! | `FMU_BUILD_FUZZ_FROM` | the first seed, for both: a long run can be split, and an interrupted one goes on |
//! | `FMU_BUILD_FUZZ_SEED` | that one alone |

use super::mutate::Random;
use std::os::unix::fs::FileExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime};

/// An input takes less than a millisecond. One that takes this long, on however busy a machine, hangs.
const HANGS: Duration = Duration::from_secs(120);
/// Progress is printed after so many inputs.
const PROGRESS: u64 = 500_000;

/// A whole number from the environment.
fn asked(name: &str) -> Option<u64> {
    std::env::var(name)
        .ok()
        .map(|text| text.parse().unwrap_or_else(|_| panic!("{name} is no number: {text}")))
}

/// No two runs begin at the same one.
fn new_seed() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    now.as_nanos() as u64
}

/// Try `target` with one seed after the other: `runs` of them, unless the environment asks for others. A
/// panic is a finding, and so is an input that never ends: its seed is printed. After a crash the seed is
/// found in `target/tmp/fuzz`.
pub fn fuzz(name: &str, runs: u64, mut target: impl FnMut(&mut Random) -> bool) {
    let (only, seconds) = (asked("FMU_BUILD_FUZZ_SEED"), asked("FMU_BUILD_FUZZ_SECONDS"));
    let by_time = only.is_none() && seconds.is_some();
    let limit = seconds.map_or(Duration::MAX, Duration::from_secs);
    let first =
        only.or_else(|| asked("FMU_BUILD_FUZZ_FROM")).unwrap_or_else(|| if by_time { new_seed() } else { 0 });
    let runs = match only {
        Some(_) => 1,
        None if by_time => u64::MAX,
        None => asked("FMU_BUILD_FUZZ_RUNS").unwrap_or(runs),
    };
    let begin = Instant::now();
    let here = Here::new(name);
    let (mut tried, mut accepted) = (0, 0u64);
    while tried < runs && !(by_time && begin.elapsed() >= limit) {
        let seed = first.wrapping_add(tried);
        here.at(seed);
        match catch_unwind(AssertUnwindSafe(|| target(&mut Random::new(seed)))) {
            Ok(taken) => accepted += u64::from(taken),
            Err(_) => panic!("{name}: FMU_BUILD_FUZZ_SEED={seed} fails"),
        }
        tried += 1;
        if tried.is_multiple_of(PROGRESS) {
            say(name, first, tried, accepted, begin);
        }
    }
    if !tried.is_multiple_of(PROGRESS) {
        say(name, first, tried, accepted, begin);
    }
    // A harness that never gets past the first check would find nothing.
    assert!(only.is_some() || accepted > 0, "{name}: nothing was ever accepted");
}

/// What `tests/reliability` reads: the figures since `first`.
fn say(name: &str, first: u64, tried: u64, accepted: u64, begin: Instant) {
    let seconds = begin.elapsed().as_secs_f64();
    println!("fuzz {name}: from {first}: {tried} tried, {accepted} accepted, {seconds:.0} s");
}

/// The seed that is being tried, where a crash (no memory, no stack) leaves it: in a file of this process. A
/// second thread looks whether it changes.
struct Here {
    path: PathBuf,
    file: std::fs::File,
    seed: Arc<AtomicU64>,
}

impl Here {
    fn new(name: &str) -> Here {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz");
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("{}-{}", name.replace(' ', "_"), std::process::id()));
        let file = std::fs::File::create(&path).unwrap();
        let seed = Arc::new(AtomicU64::new(u64::MAX));
        let (watched, name) = (Arc::downgrade(&seed), name.to_owned());
        std::thread::spawn(move || {
            let (mut last, mut since) = (u64::MAX, Instant::now());
            while let Some(seed) = watched.upgrade().map(|seed| seed.load(Ordering::Relaxed)) {
                if seed != last {
                    (last, since) = (seed, Instant::now());
                } else if since.elapsed() > HANGS {
                    eprintln!("{name}: FMU_BUILD_FUZZ_SEED={seed} does not come to an end");
                    std::process::abort(); // there is no way to stop the thread that hangs
                }
                std::thread::sleep(Duration::from_secs(1));
            }
        });
        Here { path, file, seed }
    }

    fn at(&self, seed: u64) {
        self.seed.store(seed, Ordering::Relaxed);
        // As many digits each time, so that none of a longer number stay.
        self.file.write_all_at(format!("FMU_BUILD_FUZZ_SEED={seed:020}\n").as_bytes(), 0).unwrap();
    }
}

impl Drop for Here {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}
