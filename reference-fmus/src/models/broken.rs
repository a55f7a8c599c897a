//! Models that break at t = 0.5: the same decay, each with one fault, picked by name as in
//! `broken:nan-state`.
//!
//! ```text
//! x' = -x,   y = x        until t = 0.5
//! ```
//!
//! What vendors' FMUs do is in [`Fault`] too, from `crash-get-state` on: these are so from the start, and
//! other importers run them all the same.
//!
//! A build whose studied run is longer meets the fault; one with a shorter run ships it, and the runtime
//! meets it. What each of them does about it is the table in `docs/faults.md`.

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
    /// Writes through a null pointer in this function, or returns `fmi2Error` from it.
    CrashIn(&'static str),
    ErrorIn(&'static str),
    /// `fmi2SetFMUstate` or `fmi2GetFMUstate` halves x.
    ChangesIn(&'static str),
    /// Never returns from `fmi2FreeInstance`.
    HangsAtEnd,
    /// Has no states: x = exp(-t). `fmi2GetDerivatives` and `fmi2GetNominalsOfContinuousStates` write one
    /// value all the same.
    WritesWithoutStates,
    /// Has none either, and is in its error state once it is asked for them.
    ErrorWithoutStates,
    /// Crashes where its state is moved at the start.
    CrashBeside,
    /// A second instance in a process gets NULL.
    OneInstance,
    /// y cannot be read, or is no number from the start.
    UnreadableOutput,
    NanOutputAlways,
    NanIndicatorAlways,
    /// Writes into every file that is open.
    WritesFiles,
    /// Starts a process that leaves its session and its group.
    Daemon,
    /// Takes 20 ms for an evaluation.
    Slow,
    /// Asks for Event Mode after every completed step, where it changes nothing.
    AsksAlways,
}

/// What a fault does in a function.
pub enum Act {
    Crash,
    Error,
}

/// The names of all faults.
pub const FAULTS: [(&str, Fault); 49] = [
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
    ("crash-get-state", Fault::CrashIn("fmi2GetFMUstate")),
    ("crash-set-state", Fault::CrashIn("fmi2SetFMUstate")),
    ("crash-free-state", Fault::CrashIn("fmi2FreeFMUstate")),
    ("error-get-state", Fault::ErrorIn("fmi2GetFMUstate")),
    ("error-set-state", Fault::ErrorIn("fmi2SetFMUstate")),
    ("changing-get-state", Fault::ChangesIn("fmi2GetFMUstate")),
    ("changing-set-state", Fault::ChangesIn("fmi2SetFMUstate")),
    ("crash-serialise", Fault::CrashIn("fmi2SerializeFMUstate")),
    ("crash-directional", Fault::CrashIn("fmi2GetDirectionalDerivative")),
    ("crash-free", Fault::CrashIn("fmi2FreeInstance")),
    ("hang-free", Fault::HangsAtEnd),
    ("writes-without-states", Fault::WritesWithoutStates),
    ("error-without-states", Fault::ErrorWithoutStates),
    ("crash-beside", Fault::CrashBeside),
    ("one-instance", Fault::OneInstance),
    ("unreadable-output", Fault::UnreadableOutput),
    ("nan-output-always", Fault::NanOutputAlways),
    ("nan-indicator-always", Fault::NanIndicatorAlways),
    ("writes-files", Fault::WritesFiles),
    ("daemon", Fault::Daemon),
    ("slow", Fault::Slow),
    ("asks-always", Fault::AsksAlways),
];

/// The file that [`Fault::NeedsResources`] needs, and its content.
pub const RESOURCE: (&str, &str) = ("resources/needed.txt", "needed");

/// What [`Fault::WritesResources`] and [`Fault::NeedsDirectory`] write.
const WRITTEN: &str = "written-by-the-model.txt";

/// What [`Fault::Daemon`] starts: so long that nobody else sleeps by accident.
pub const DAEMON: [&str; 2] = ["sleep", "3607.125"];

static STARTED: AtomicU32 = AtomicU32::new(0);
/// Threads that [`Fault::Threads`] starts.
const MOST: u32 = 10_000;

impl Fault {
    /// What it does when this function is called.
    pub fn act(self, function: &str) -> Option<Act> {
        match self {
            Fault::CrashIn(there) if there == function => Some(Act::Crash),
            Fault::ErrorIn(there) if there == function => Some(Act::Error),
            _ => None,
        }
    }

    fn has_states(self) -> bool {
        !matches!(self, Fault::WritesWithoutStates | Fault::ErrorWithoutStates)
    }
}

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
        // A file in its working directory, which a worker has for itself: what is in memory goes with the
        // library.
        if fault == Fault::OneInstance && std::fs::File::create_new(WRITTEN).is_err() {
            return Err("there was an instance already".into());
        }
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
        let (name, fault) = FAULTS[self.index];
        let xml = include_str!("../../xml/broken.xml").replace("broken:KIND", &format!("broken:{name}"));
        // One that cannot save its state is studied with two instances.
        let cannot_save = [Fault::OneInstance, Fault::CrashIn("fmi2FreeInstance")].contains(&fault);
        match fault {
            _ if cannot_save => xml
                .replace("canGetAndSetFMUstate=\"true\"", "canGetAndSetFMUstate=\"false\"")
                .replace("canSerializeFMUstate=\"true\"", "canSerializeFMUstate=\"false\""),
            Fault::CrashIn("fmi2GetDirectionalDerivative") => {
                xml.replace("canSerialize", "providesDirectionalDerivative=\"true\"\n    canSerialize")
            }
            _ if fault.has_states() => xml,
            _ => {
                let (before, rest) = xml.split_once("    <Derivatives>").unwrap_or((&xml, ""));
                let (_, after) = rest.split_once("</Derivatives>\n").unwrap_or(("", rest));
                format!("{before}{after}")
                    .replace(
                        "initial=\"exact\">\n      <Real unit=\"1\" start=\"1.0\"/>",
                        "initial=\"calculated\">\n      <Real unit=\"1\"/>",
                    )
                    .replace(" derivative=\"1\"", "")
                    .replace("dependencies=\"1\" dependenciesKind=\"constant\"", "dependencies=\"\"")
            }
        }
    }
}

impl Model for Broken {
    fn states(&self) -> usize {
        usize::from(self.fault().has_states())
    }

    fn indicators(&self) -> usize {
        1
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "x", "der(x)", "y"]
    }

    fn evaluate(&self, v: &mut Values) {
        let broken = v.time() >= TIME;
        let [time, x, dx, y] = &mut v.real[..] else { return };
        if !self.fault().has_states() {
            *x = (-*time).exp();
        }
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
            Fault::NanOutputAlways => *y = f64::NAN,
            Fault::CrashBeside if *time == 0.0 && (*x - 1.0).abs() > 1e-3 => std::process::abort(),
            Fault::Slow => std::thread::sleep(std::time::Duration::from_millis(20)),
            Fault::Daemon if broken && STARTED.fetch_add(1, Ordering::Relaxed) == 0 => {
                let [program, argument] = DAEMON;
                let started = std::process::Command::new("setsid").args(["-f", program, argument]).spawn();
                let _ = started.map(|mut child| child.wait());
            }
            _ => {}
        }
    }

    fn event_indicators(&self, v: &Values, z: &mut [f64]) {
        z[0] = match self.fault() {
            Fault::NanIndicator if v.time() >= TIME => f64::NAN,
            Fault::NanIndicatorAlways => f64::NAN,
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
