//! Models that break at t = 0.5: the same decay, each with one fault, picked by name as in `broken:nan-state`.
//!
//! ```text
//! x' = -x,   y = x        until t = 0.5
//! ```
//!
//! A build whose studied run is longer meets the fault; one with a shorter run ships it, and the runtime meets it. What
//! each of them does about it is the table in `docs/faults.md`.

use crate::model::{Event, Model, Oddity, Values};
use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering};

/// When the fault begins.
pub const TIME: f64 = 0.5;

/// What breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    NanDerivative,
    InfiniteDerivative,
    NanIndicator,
    InfiniteIndicator,
    NanState,
    InfiniteState,
    NanOutput,
    InfiniteOutput,
    NanNominal,
    InfiniteNominal,
    /// One more derivative than there are states.
    WritesBeyond,
    Prints,
    /// Takes three blocks of memory at each evaluation, enlarges one, and gives them back.
    Allocates,
    /// Takes memory at each evaluation and keeps it.
    Leaks,
    /// Sleeps for some microseconds at each evaluation.
    Sleeps,
    /// Computes with numbers below 2.2e-308.
    Denormals,
    /// Starts a thread at each evaluation, but not without end.
    Threads,
    /// Rounds upwards from then on.
    Rounding,
    Locale,
    /// Blocks every signal.
    Signals,
    /// Cannot be instantiated without its file in `resources`.
    NeedsResources,
    /// Leaves a file in `resources` when it is instantiated.
    WritesResources,
    /// Writes a file in its working directory at each evaluation, and needs to find it there.
    NeedsDirectory,
    /// Says that a saved state takes 2^45 bytes.
    HugeState,
    /// Its strings are null pointers.
    NullStrings,
    Exits,
    /// Unwinds out of its function, as a C++ exception does.
    Throws,
}

/// The names of all faults.
pub const FAULTS: [(&str, Fault); 27] = [
    ("nan-derivative", Fault::NanDerivative),
    ("infinite-derivative", Fault::InfiniteDerivative),
    ("nan-indicator", Fault::NanIndicator),
    ("infinite-indicator", Fault::InfiniteIndicator),
    ("nan-state", Fault::NanState),
    ("infinite-state", Fault::InfiniteState),
    ("nan-output", Fault::NanOutput),
    ("infinite-output", Fault::InfiniteOutput),
    ("nan-nominal", Fault::NanNominal),
    ("infinite-nominal", Fault::InfiniteNominal),
    ("writes-beyond", Fault::WritesBeyond),
    ("prints", Fault::Prints),
    ("allocates", Fault::Allocates),
    ("leaks", Fault::Leaks),
    ("sleeps", Fault::Sleeps),
    ("denormals", Fault::Denormals),
    ("threads", Fault::Threads),
    ("rounding", Fault::Rounding),
    ("locale", Fault::Locale),
    ("signals", Fault::Signals),
    ("needs-resources", Fault::NeedsResources),
    ("writes-resources", Fault::WritesResources),
    ("needs-directory", Fault::NeedsDirectory),
    ("huge-state", Fault::HugeState),
    ("null-strings", Fault::NullStrings),
    ("exits", Fault::Exits),
    ("throws", Fault::Throws),
];

/// The file that [`Fault::NeedsResources`] needs, and its content.
pub const RESOURCE: (&str, &str) = ("resources/needed.txt", "needed");

/// What [`Fault::WritesResources`] and [`Fault::NeedsDirectory`] write.
const WRITTEN: &str = "written-by-the-model.txt";

static STARTED: AtomicU32 = AtomicU32::new(0);
/// Threads that [`Fault::Threads`] starts.
const MOST: u32 = 10_000;

/// `index` into [`FAULTS`].
pub struct Broken {
    pub index: usize,
}

impl Broken {
    fn fault(&self) -> Fault {
        FAULTS[self.index].1
    }

    /// What the model does with its folder `resources`: `Err` if the file that it needs is not there.
    pub fn visit_resources(fault: Fault, uri: &str) -> Result<(), String> {
        let folder = uri.trim_start_matches("file://").replace("%20", " ");
        let folder = std::path::Path::new(&folder);
        match fault {
            Fault::NeedsResources => {
                let file = folder.join(RESOURCE.0.trim_start_matches("resources/"));
                match std::fs::read_to_string(&file) {
                    Ok(content) if content == RESOURCE.1 => Ok(()),
                    _ => Err(format!("{} is missing", file.display())),
                }
            }
            Fault::WritesResources => {
                std::fs::write(folder.join(WRITTEN), "written").map_err(|error| error.to_string())
            }
            _ => Ok(()),
        }
    }

    /// Write a file in the working directory, read it again, remove it.
    fn visit_directory() -> Result<(), std::io::Error> {
        std::fs::write(WRITTEN, "written")?;
        std::fs::read_to_string(WRITTEN)?;
        std::fs::remove_file(WRITTEN)
    }

    pub fn description(&self) -> String {
        include_str!("../../xml/broken.xml")
            .replace("broken:KIND", &format!("broken:{}", FAULTS[self.index].0))
    }
}

impl Model for Broken {
    fn states(&self) -> usize {
        1
    }

    fn indicators(&self) -> usize {
        1
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "x", "der(x)", "y"]
    }

    fn evaluate(&self, v: &mut Values) {
        let broken = v.time() >= TIME;
        let [_, x, dx, y] = &mut v.real[..] else { return };
        (*dx, *y) = (-*x, *x);
        match self.fault() {
            Fault::NanDerivative if broken => *dx = f64::NAN,
            Fault::InfiniteDerivative if broken => *dx = f64::INFINITY,
            Fault::NanOutput if broken => *y = f64::NAN,
            Fault::Prints if broken => println!("the model says something"),
            Fault::InfiniteOutput if broken => *y = f64::INFINITY,
            Fault::Allocates if broken => {
                let blocks = [1, 2].map(|size| black_box(vec![*x; size]));
                let mut grown: Vec<f64> = black_box(Vec::with_capacity(1));
                grown.extend(black_box([*x; 100]));
                *dx = -grown[99].max(blocks[0][0]);
            }
            Fault::Sleeps if broken => std::thread::sleep(std::time::Duration::from_micros(20)),
            // A thousandth of a denormal number more or less is nothing.
            Fault::Denormals if broken => *dx -= black_box(1e-310) * 1e-3,
            Fault::NeedsDirectory if broken && Broken::visit_directory().is_err() => *dx = f64::NAN,
            Fault::Leaks if broken => drop(Box::leak(vec![*x; 100].into_boxed_slice())),
            Fault::Threads if broken && STARTED.fetch_add(1, Ordering::Relaxed) < MOST => {
                drop(std::thread::spawn(|| {}));
            }
            Fault::Exits if broken => std::process::exit(7),
            _ => {}
        }
    }

    fn event_indicators(&self, v: &Values, z: &mut [f64]) {
        z[0] = match self.fault() {
            Fault::NanIndicator if v.time() >= TIME => f64::NAN,
            Fault::InfiniteIndicator if v.time() >= TIME => f64::INFINITY,
            _ => 1.0 + v.real[1],
        };
    }

    fn event(&self, v: &mut Values) -> Event {
        if v.time() < TIME {
            return Event { next_time: Some(TIME), ..Event::default() };
        }
        match self.fault() {
            Fault::NanState => v.real[1] = f64::NAN,
            Fault::InfiniteState => v.real[1] = f64::INFINITY,
            _ => return Event::default(),
        }
        Event { states_changed: true, ..Event::default() }
    }

    fn oddity(&self) -> Oddity {
        Oddity::Broken(self.fault())
    }
}
