//! Model-Exchange models with known answers, in one library whose GUID picks the model.
//!
//! Rust callers take the registry: [`names`], [`find`], and [`files`] to pack an FMU. C callers
//! take the FMI 2.0 functions of [`abi`]. A model description is the one place that states a
//! model's variables; the library reads it back.
//!
//! ```text
//! names ──► find("heat-rod:100") ──► Reference ──► files: modelDescription.xml (+ the caller's library) = FMU
//! fmi2Instantiate(guid) ──► Reference::by_guid ──► Instance (life cycle) ──► dyn Model (equations)
//! ```

pub mod abi;
pub mod dual;
mod generate;
pub mod instance;
mod linear;
pub mod model;
pub mod models;
mod motion;
pub mod rigid_body;
pub mod six_axes;
pub mod strict;
pub mod xml;

use model::{Model, Oddity};
use models::vehicle::{self, Kind, Vehicle};
use models::{broken, clutches, friction_row, heat_rod, misbehaving, misbehaving::PairFault};
use std::fmt;

/// The models that users see, in teaching order. Some take a size: `heat-rod:100`, `clutches:18x25`, `vehicle:60:45us`.
pub fn names() -> Vec<&'static str> {
    ENTRIES.iter().filter(|entry| entry.shown).map(|entry| entry.name).collect()
}

/// Models for tests only: instruments and misbehaving ones.
pub fn hidden_names() -> Vec<&'static str> {
    ENTRIES.iter().filter(|entry| !entry.shown).map(|entry| entry.name).collect()
}

/// A model by name, with its size after a colon where it has one.
pub fn find(name: &str) -> Result<Reference, Error> {
    let (base, size) = match name.split_once(':') {
        Some((base, size)) => (base, Some(size)),
        None => (name, None),
    };
    let Some(entry) = ENTRIES.iter().find(|entry| entry.name == base) else {
        return Err(Error::Unknown { name: name.to_owned() });
    };
    let size = match (entry.source, size) {
        (Source::HeatRod, None) => Size::of(heat_rod::DEFAULT),
        (Source::HeatRod, Some(text)) => match text.parse() {
            Ok(cells) if (heat_rod::SMALLEST..=heat_rod::LARGEST).contains(&cells) => Size::of(cells),
            _ => return Err(Error::BadSize { size: text.to_owned() }),
        },
        (Source::Clutches, None) => Size::of(clutches::DEFAULT.packed()),
        (Source::Clutches, Some(text)) => match clutches::Clutches::parse(text) {
            Some(it) => Size::of(it.packed()),
            None => return Err(Error::BadClutches { size: text.to_owned() }),
        },
        (Source::Vehicle(_) | Source::FrictionRow, _) => {
            let bad = || Error::BadMeasure { name: name.to_owned() };
            Size::read(entry.source, size.unwrap_or_default()).ok_or_else(bad)?
        }
        (Source::Broken, Some(fault)) => match broken::FAULTS.iter().position(|(name, _)| *name == fault) {
            Some(index) => Size::of(index),
            None => return Err(Error::Unknown { name: name.to_owned() }),
        },
        (_, None) => Size::of(0),
        (_, Some(_)) => return Err(Error::NoSize { name: base.to_owned() }),
    };
    Ok(Reference { entry, size })
}

/// What to put into the FMU of a model, apart from the library.
pub fn files(name: &str) -> Result<Export, Error> {
    let reference = find(name)?;
    let xml = reference.xml();
    let identifier = xml::Description::read(&xml).identifier;
    let mut files = vec![("modelDescription.xml".to_owned(), xml.into_bytes())];
    use broken::Fault::{NeedsResources, WritesResources};
    if let Oddity::Broken(NeedsResources | WritesResources) = reference.model().oddity() {
        let (path, content) = broken::RESOURCE;
        files.push((path.to_owned(), content.into()));
    }
    Ok(Export { identifier, files })
}

/// An FMU's content; the caller adds this library as `binaries/<platform>/<identifier>.<so, dll
/// or dylib>`.
#[derive(Clone, Debug)]
pub struct Export {
    /// modelIdentifier, which names the library in the archive.
    pub identifier: String,
    /// Path in the archive, content.
    pub files: Vec<(String, Vec<u8>)>,
}

/// A model of the registry.
#[derive(Clone, Copy)]
pub struct Reference {
    entry: &'static Entry,
    size: Size,
}

/// What comes after the colons of a name.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Size {
    /// Cells, states, or which fault.
    count: usize,
    indicators: usize,
    /// Nanoseconds of work in an evaluation, and how many times as many where the indicators are read.
    work: usize,
    factor: usize,
}

impl Size {
    fn of(count: usize) -> Size {
        Size { count, ..Size::default() }
    }

    /// "60:45us" of a vehicle, "18:25:230ns:8" of a friction row; what is missing is as usual.
    fn read(source: Source, text: &str) -> Option<Size> {
        let mut parts = text.split(':').filter(|part| !part.is_empty()).peekable();
        let mut size = match source {
            Source::Vehicle(Kind::Steady) => Size { work: 10_000, ..Size::of(vehicle::DEFAULT) },
            Source::Vehicle(_) => Size { work: 500, ..Size::of(8) },
            _ => Size { indicators: friction_row::DEFAULT.1, ..Size::of(friction_row::DEFAULT.0) },
        };
        let (least, most) = match source {
            Source::FrictionRow => (4, friction_row::LARGEST),
            _ => (vehicle::SMALLEST, vehicle::LARGEST),
        };
        if let Some(part) = parts.next() {
            size.count =
                part.parse().ok().filter(|n: &usize| (least..=most).contains(n) && n.is_multiple_of(2))?;
            size.indicators = size.indicators.max(friction_row::FrictionRow::least(size.count));
        }
        let has_indicators = matches!(source, Source::FrictionRow);
        if let Some(part) = parts.next_if(|_| has_indicators) {
            let least = friction_row::FrictionRow::least(size.count);
            size.indicators = part.parse().ok().filter(|n| (least..=1000).contains(n))?;
        }
        if let Some(part) = parts.next() {
            size.work = nanoseconds(part)?;
        }
        if let Some(part) = parts.next_if(|_| has_indicators) {
            size.factor = part.parse().ok().filter(|&n| n <= 100)?;
        }
        parts.next().is_none().then_some(size)
    }
}

/// "45us", "230ns", up to 100 ms.
fn nanoseconds(text: &str) -> Option<usize> {
    let units = [("ns", 1.0), ("us", 1e3), ("ms", 1e6)];
    let (number, unit) = units.iter().find_map(|(name, unit)| Some((text.strip_suffix(name)?, unit)))?;
    let value = number.parse::<f64>().ok()? * unit;
    (0.0..=1e8).contains(&value).then_some(value as usize)
}

impl Reference {
    /// The model whose description carries this GUID.
    pub fn by_guid(guid: &str) -> Option<Reference> {
        // "{name:…}", "{name:size:…}" or with more sizes
        let inner = guid.strip_prefix('{')?;
        let (name, rest) = inner.split_once(':')?;
        let sized = rest.rsplit_once(':').map(|(size, _)| format!("{name}:{size}"));
        let reference = find(sized.as_deref().unwrap_or(name)).ok()?;
        let exact = reference.xml().contains(&format!("guid=\"{guid}\""));
        exact.then_some(reference)
    }

    pub fn name(&self) -> &'static str {
        self.entry.name
    }

    /// modelDescription.xml.
    pub fn xml(&self) -> String {
        match self.entry.source {
            Source::File(xml) => xml.to_owned(),
            Source::HeatRod => heat_rod::HeatRod { cells: self.size.count }.description(),
            Source::Broken => broken::Broken { index: self.size.count }.description(),
            Source::Clutches => clutches::Clutches::unpacked(self.size.count).description(),
            Source::Vehicle(kind) => vehicle(self.size, kind).description(),
            Source::FrictionRow => friction_row(self.size).description(),
            Source::Pump => models::pump::Pump::description(),
            Source::Runaway => models::runaway::Runaway::description(),
            Source::Robot => models::robot::Robot::description(),
            Source::Arm => models::arm::Arm::description(),
            Source::ManyIndicators => models::many_indicators::ManyIndicators::description(),
        }
    }

    /// One line for people.
    pub fn summary(&self) -> String {
        xml::Description::read(&self.xml()).description
    }

    pub fn model(&self) -> Box<dyn Model> {
        (self.entry.make)(self.size)
    }
}

impl fmt::Debug for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.entry.name, self.size.count)
    }
}

/// Why a name was refused.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    Unknown { name: String },
    BadSize { size: String },
    BadClutches { size: String },
    BadMeasure { name: String },
    NoSize { name: String },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Unknown { name } => {
                write!(f, "no model is called {name}; there are: {}", names().join(", "))
            }
            Error::BadSize { size } => write!(
                f,
                "heat-rod cannot have {size} cells; give a number from {} to {}, as in heat-rod:100",
                heat_rod::SMALLEST,
                heat_rod::LARGEST
            ),
            Error::BadClutches { size } => write!(
                f,
                "clutches cannot be {size}; give states and event indicators, an even number of states from 8 to 102 \
                 and at least three indicators for each clutch, as in clutches:18x25"
            ),
            Error::BadMeasure { name } => write!(
                f,
                "{name} is no model; write vehicle:STATES:WORK, as in vehicle:60:45us, or friction-row:STATES:INDICATORS:WORK, as in \
                 friction-row:18:25:230ns, with an even number of states and two indicators or more for each clutch"
            ),
            Error::NoSize { name } => write!(
                f,
                "{name} has a fixed size; heat-rod takes one, as in heat-rod:100, and so do clutches, vehicle and friction-row"
            ),
        }
    }
}

impl std::error::Error for Error {}

struct Entry {
    name: &'static str,
    source: Source,
    make: fn(Size) -> Box<dyn Model>,
    shown: bool,
}

#[derive(Clone, Copy)]
enum Source {
    File(&'static str),
    Broken,
    Clutches,
    HeatRod,
    Robot,
    Arm,
    ManyIndicators,
    Vehicle(Kind),
    FrictionRow,
    Pump,
    Runaway,
}

macro_rules! entry {
    ($name:literal, $model:expr, $shown:expr) => {
        Entry {
            name: $name,
            source: Source::File(include_str!(concat!("../xml/", $name, ".xml"))),
            make: |_| Box::new($model),
            shown: $shown,
        }
    };
}

const fn decay(oddity: Oddity) -> misbehaving::Decay {
    misbehaving::Decay { oddity, initial_equations_solvable: true }
}

fn vehicle(size: Size, kind: Kind) -> Vehicle {
    Vehicle { states: size.count, work: size.work, kind }
}

fn friction_row(size: Size) -> friction_row::FrictionRow {
    let Size { count: states, indicators, work, factor } = size;
    friction_row::FrictionRow { states, indicators, work, factor }
}

static ENTRIES: &[Entry] = &[
    entry!("dahlquist", models::dahlquist::Dahlquist, true),
    entry!("prothero-robinson", models::prothero_robinson::ProtheroRobinson, true),
    entry!("van-der-pol", models::van_der_pol::VanDerPol, true),
    entry!("bouncing-ball", models::bouncing_ball::BouncingBall, true),
    entry!("stick-slip", models::stick_slip::StickSlip, true),
    entry!("thermostat", models::thermostat::Thermostat, true),
    entry!("sampled-controller", models::sampled_controller::SampledController, true),
    entry!("spring-pendulum", models::spring_pendulum::SpringPendulum, true),
    entry!("stiff-pendulum", models::stiff_pendulum::StiffPendulum, true),
    entry!("stiff-pair", models::stiff_pair::StiffPair, true),
    entry!("rc-circuit", models::rc_circuit::RcCircuit, true),
    entry!("dc-drive", models::dc_drive::DcDrive, true),
    entry!("two-mass", models::two_mass::TwoMass, true),
    entry!("drive-line", models::drive_line::DriveLine, true),
    entry!("servo-valve", models::servo_valve::ServoValve, true),
    entry!("orifice", models::orifice::Orifice, true),
    entry!("pipe", models::pipe::Pipe, true),
    Entry {
        name: "heat-rod",
        source: Source::HeatRod,
        make: |size| Box::new(heat_rod::HeatRod { cells: size.count }),
        shown: true,
    },
    entry!("all-types", models::all_types::AllTypes, true),
    entry!("time-varying", models::time_varying::TimeVarying, true),
    Entry { name: "robot", source: Source::Robot, make: |_| Box::new(models::robot::Robot), shown: true },
    Entry { name: "arm", source: Source::Arm, make: |_| Box::new(models::arm::Arm), shown: true },
    Entry {
        name: "many-indicators",
        source: Source::ManyIndicators,
        make: |_| Box::new(models::many_indicators::ManyIndicators),
        shown: true,
    },
    Entry {
        name: "clutches",
        source: Source::Clutches,
        make: |size| Box::new(clutches::Clutches::unpacked(size.count)),
        shown: true,
    },
    Entry {
        name: "friction-row",
        source: Source::FrictionRow,
        make: |size| Box::new(friction_row(size)),
        shown: true,
    },
    Entry {
        name: "vehicle",
        source: Source::Vehicle(Kind::Steady),
        make: |size| Box::new(vehicle(size, Kind::Steady)),
        shown: true,
    },
    Entry { name: "pump", source: Source::Pump, make: |_| Box::new(models::pump::Pump), shown: true },
    Entry {
        name: "iterating",
        source: Source::Vehicle(Kind::Iterating),
        make: |size| Box::new(vehicle(size, Kind::Iterating)),
        shown: false,
    },
    Entry {
        name: "resting",
        source: Source::Vehicle(Kind::Resting),
        make: |size| Box::new(vehicle(size, Kind::Resting)),
        shown: false,
    },
    Entry {
        name: "runaway",
        source: Source::Runaway,
        make: |_| Box::new(models::runaway::Runaway),
        shown: false,
    },
    entry!("lorenz", models::lorenz::Lorenz, false),
    entry!("counting", models::counting::Counting, false),
    entry!("strict", models::strict::Strict, false),
    Entry {
        name: "broken",
        source: Source::Broken,
        make: |size| Box::new(broken::Broken { index: size.count }),
        shown: false,
    },
    entry!("bad-instantiate", decay(Oddity::RefusesToStart), false),
    entry!("bad-init", misbehaving::Decay { oddity: Oddity::None, initial_equations_solvable: false }, false),
    entry!("crash", decay(Oddity::Crashes), false),
    entry!("hang", decay(Oddity::Hangs), false),
    entry!("nan", misbehaving::Nan, false),
    entry!("wrong-directional", misbehaving::Pair { fault: PairFault::WrongSlope }, false),
    entry!("wrong-structure", misbehaving::Pair { fault: PairFault::WrongStructure }, false),
    entry!("slow-evaluation", misbehaving::Pair { fault: PairFault::SlowEvaluation }, false),
    entry!("printing", decay(Oddity::Prints), false),
    entry!("chatter", misbehaving::Chatter, false),
    entry!("diverging", misbehaving::Diverging, false),
    entry!("writes-beyond", decay(Oddity::WritesBeyond), false),
    entry!("nan-output", misbehaving::NanOutput, false),
    entry!("branching", misbehaving::Branching, false),
    entry!("guid-mismatch", decay(Oddity::None), false),
];
