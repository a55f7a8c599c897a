//! Models that break at t = 0.5: the same decay, each with one fault, picked by name as in `broken:nan-state`.
//!
//!     x' = -x,   y = x        until t = 0.5
//!
//! A build whose studied run is longer meets the fault; one with a shorter run ships it, and the runtime meets it. What
//! each of them does about it is the table in `docs/faults.md`.

use crate::model::{Event, Model, Oddity, Values};
use std::sync::atomic::{AtomicU32, Ordering};

/// When the fault begins.
pub const TIME: f64 = 0.5;

/// What breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    NanDerivative,
    InfiniteDerivative,
    NanIndicator,
    NanState,
    InfiniteState,
    NanOutput,
    NanNominal,
    /// One more derivative than there are states.
    WritesBeyond,
    Prints,
    /// Takes memory at each evaluation and keeps it.
    Leaks,
    /// Starts a thread at each of its first evaluations.
    Threads,
    /// Rounds upwards from then on.
    Rounding,
    Locale,
    /// Blocks every signal.
    Signals,
    /// Cannot be instantiated without its file in `resources`.
    NeedsResources,
    Exits,
    /// Unwinds out of its function, as a C++ exception does.
    Throws,
}

/// The names of all faults.
pub const FAULTS: [(&str, Fault); 17] = [
    ("nan-derivative", Fault::NanDerivative),
    ("infinite-derivative", Fault::InfiniteDerivative),
    ("nan-indicator", Fault::NanIndicator),
    ("nan-state", Fault::NanState),
    ("infinite-state", Fault::InfiniteState),
    ("nan-output", Fault::NanOutput),
    ("nan-nominal", Fault::NanNominal),
    ("writes-beyond", Fault::WritesBeyond),
    ("prints", Fault::Prints),
    ("leaks", Fault::Leaks),
    ("threads", Fault::Threads),
    ("rounding", Fault::Rounding),
    ("locale", Fault::Locale),
    ("signals", Fault::Signals),
    ("needs-resources", Fault::NeedsResources),
    ("exits", Fault::Exits),
    ("throws", Fault::Throws),
];

/// The file that [`Fault::NeedsResources`] needs, and its content.
pub const RESOURCE: (&str, &str) = ("resources/needed.txt", "needed");

static STARTED: AtomicU32 = AtomicU32::new(0);
/// Threads that [`Fault::Threads`] starts.
const MOST: u32 = 100;

/// `index` into [`FAULTS`].
pub struct Broken {
    pub index: usize,
}

impl Broken {
    fn fault(&self) -> Fault {
        FAULTS[self.index].1
    }

    /// `Err` if the file that [`Fault::NeedsResources`] needs is not in the folder at this URI.
    pub fn find_resource(uri: &str) -> Result<(), String> {
        let folder = uri.trim_start_matches("file://").replace("%20", " ");
        let name = RESOURCE.0.trim_start_matches("resources/");
        let file = std::path::Path::new(&folder).join(name);
        match std::fs::read_to_string(&file) {
            Ok(content) if content == RESOURCE.1 => Ok(()),
            _ => Err(format!("{} is missing", file.display())),
        }
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
