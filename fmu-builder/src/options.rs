//! What is asked for, as values: times in seconds, shares as numbers, names as they are.
//!
//! The command line is one way to fill these in (`cli`); a Rust program is another. Names of variables and states
//! are resolved later, against the model description.

use crate::Libraries;
use fmu_runtime::plan::Method;
use std::path::PathBuf;

/// Error that is accepted, relative to an output's range.
pub const TOLERANCE: f64 = 0.01;
/// Seconds that one request to the FMU's own code may take.
pub const TIME_LIMIT: f64 = 60.0;
/// Seconds that all of them may take together.
pub const TOTAL_LIMIT: f64 = 600.0;

/// A request to build a Co-Simulation FMU. [`Options::new`] has the defaults of the command line.
#[derive(Debug, Clone, PartialEq)]
pub struct Options {
    /// The Model-Exchange FMU to read.
    pub input: PathBuf,
    /// The Co-Simulation FMU to write.
    pub output: PathBuf,
    /// What goes into the FMU besides the plan.
    pub libraries: Libraries,

    /// Communication step H in seconds. None: the FMU's own, or chosen.
    pub step: Option<f64>,
    /// Internal steps in each communication step. None: one, or as many as the tolerance needs.
    pub substeps: Option<u32>,
    /// Most that a communication step without events may cost. None: a tenth of the step, and a warning if no plan keeps it.
    pub budget: Option<Budget>,
    /// Seconds of one evaluation of the model on the target. None: measured here.
    pub evaluation_time: Option<f64>,
    /// Error against an accurate solution that is accepted, relative to an output's range.
    pub tolerance: f64,
    /// Largest deviation at a point of a given run that is accepted, likewise. None: any.
    pub peak_tolerance: Option<f64>,

    /// Integration method. None: chosen.
    pub method: Option<Method>,
    pub mode: Partitioning,
    /// States that must be implicit; `*` and `?` are wildcards.
    pub fast: Vec<String>,
    /// States that must be explicit, likewise.
    pub slow: Vec<String>,
    pub jacobian: JacobianPolicy,
    /// How far dropped entries may move an eigenvalue (Schiela, (5.1)): asks for sparsing. None: where it pays.
    pub rho: Option<f64>,
    pub watch: WatchMode,
    pub twin: TwinMode,
    pub prefer: Preference,

    pub run: Run,
    pub limits: Limits,
    pub compilation: Compilation,
    /// The version of FMI that the new FMU is of. None: that of the model.
    pub fmi: Option<Fmi>,

    /// Where to write what was decided, and why, as a page.
    pub report: Option<PathBuf>,
    /// Refuse if no plan is within the tolerance.
    pub strict: bool,
    /// Keep pinned or explicit rows even if they are unstable.
    pub force: bool,
    /// Show progress on a terminal.
    pub progress: bool,
}

impl Options {
    /// The defaults, for these files.
    pub fn new(input: impl Into<PathBuf>, output: impl Into<PathBuf>, libraries: Libraries) -> Options {
        Options {
            input: input.into(),
            output: output.into(),
            libraries,
            step: None,
            substeps: None,
            budget: None,
            evaluation_time: None,
            tolerance: TOLERANCE,
            peak_tolerance: None,
            method: None,
            mode: Partitioning::default(),
            fast: Vec::new(),
            slow: Vec::new(),
            jacobian: JacobianPolicy::default(),
            rho: None,
            watch: WatchMode::default(),
            twin: TwinMode::default(),
            prefer: Preference::default(),
            run: Run::default(),
            limits: Limits::default(),
            compilation: Compilation::default(),
            fmi: None,
            report: None,
            strict: false,
            force: false,
            progress: false,
        }
    }
}

/// The runs that are studied.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Run {
    /// Seconds. None: the FMU's own.
    pub start: Option<f64>,
    pub stop: Option<f64>,
    /// Files of input signals, each a run of its own.
    pub inputs: Vec<PathBuf>,
    /// Start values by name, as text: their type is the variable's.
    pub set: Vec<(String, String)>,
    /// Runs that the builder invents besides. None: as many as it finds useful.
    pub explore: Option<u32>,
    /// Ranges of inputs and parameters in which it does so.
    pub ranges: Vec<NamedRange>,
}

/// Where a variable may be.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedRange {
    pub name: String,
    pub low: f64,
    pub high: f64,
}

/// What the builder itself may take.
#[derive(Debug, Clone, PartialEq)]
pub struct Limits {
    /// Seconds that one request to the FMU's own code may run, and all of them together.
    pub time: f64,
    pub total: f64,
    /// Bytes that the process with the FMU's code may have. None: the default.
    pub memory: Option<u64>,
    /// Keep the FMU's code from writing outside its scratch folder, where the system can.
    pub sandbox: bool,
    /// Processes at a time. None: as many as there are processors.
    pub jobs: Option<u32>,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { time: TIME_LIMIT, total: TOTAL_LIMIT, memory: None, sandbox: true, jobs: None }
    }
}

/// A version of FMI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fmi {
    Two,
    Three,
}

impl Fmi {
    pub const NAMES: [(&str, Fmi); 2] = [("2", Fmi::Two), ("3", Fmi::Three)];
}

/// How a library is made of an FMU's sources.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Compilation {
    /// Compile even where there is a binary for this platform.
    pub from_sources: bool,
    /// The C compiler. None: the first that is found.
    pub cc: Option<String>,
    /// Further options for it.
    pub cflags: Vec<String>,
}

/// A request to look into a Model-Exchange FMU.
#[derive(Debug, Clone, PartialEq)]
pub struct InspectOptions {
    pub input: PathBuf,
    /// Where to draw the structure of the Jacobian.
    pub svg: Option<PathBuf>,
    pub run: Run,
    pub limits: Limits,
    pub compilation: Compilation,
    pub progress: bool,
}

impl InspectOptions {
    pub fn new(input: impl Into<PathBuf>) -> InspectOptions {
        InspectOptions {
            input: input.into(),
            svg: None,
            run: Run::default(),
            limits: Limits::default(),
            compilation: Compilation::default(),
            progress: false,
        }
    }
}

/// A request to measure the step time of a built FMU.
#[derive(Debug, Clone, PartialEq)]
pub struct BenchOptions {
    /// The Co-Simulation FMU to run.
    pub fmu: PathBuf,
    /// Steps to take. None: as many as fit in a few seconds.
    pub steps: Option<u64>,
    /// Seconds: steps that take longer make the command fail. None: they are counted against the communication step.
    pub deadline: Option<f64>,
    /// As many may miss it. None: none where there is a deadline, any where there is none.
    pub max_overruns: Option<u64>,
    /// Take the steps in real time.
    pub pace: bool,
    /// Run at real-time priority, where the system allows it.
    pub realtime: bool,
    /// Look at what the model inside does that real time forbids.
    pub audit: bool,
    /// Read the outputs in every step, as importers do.
    pub outputs: bool,
    pub inputs: Option<PathBuf>,
    /// Where to write a page with the figures.
    pub report: Option<PathBuf>,
    pub limits: Limits,
    pub progress: bool,
}

impl BenchOptions {
    pub fn new(fmu: impl Into<PathBuf>) -> BenchOptions {
        BenchOptions {
            fmu: fmu.into(),
            steps: None,
            deadline: None,
            max_overruns: None,
            pace: false,
            realtime: false,
            audit: false,
            outputs: true,
            inputs: None,
            report: None,
            limits: Limits::default(),
            progress: false,
        }
    }
}

/// A request to compare an original FMU with the one that was built from it.
#[derive(Debug, Clone, PartialEq)]
pub struct CompareOptions {
    /// The Model-Exchange FMU; alone, also one that fmu-build made.
    pub original: PathBuf,
    /// The Co-Simulation FMU that was built from it. None: the other is simulated.
    pub built: Option<PathBuf>,
    pub run: Run,
    pub limits: Limits,
    /// Errors that are accepted, root mean square, and largest deviations.
    pub max_error: Vec<NamedBound>,
    pub max_peak: Vec<NamedBound>,
    /// Where to write the trajectories, a page with plots, the results for a test bench.
    pub csv: Option<PathBuf>,
    pub report: Option<PathBuf>,
    pub junit: Option<PathBuf>,
    pub progress: bool,
}

impl CompareOptions {
    pub fn new(original: impl Into<PathBuf>) -> CompareOptions {
        CompareOptions {
            original: original.into(),
            built: None,
            run: Run::default(),
            limits: Limits::default(),
            max_error: Vec::new(),
            max_peak: Vec::new(),
            csv: None,
            report: None,
            junit: None,
            progress: false,
        }
    }
}

/// How far an output may be off.
#[derive(Debug, Clone, PartialEq)]
pub enum Bound {
    /// A share of its range.
    Share(f64),
    /// In a unit.
    Absolute { value: f64, unit: String },
}

/// Of one output, or of all.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedBound {
    pub name: Option<String>,
    pub bound: Bound,
}

/// What a communication step may cost.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Budget {
    /// Seconds of computing time.
    Time(f64),
    /// Evaluations of the model.
    Evaluations(f64),
    /// A share of the communication step.
    Share(f64),
}

/// Which states are implicit.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Partitioning {
    /// The choice that the objective prefers.
    #[default]
    Auto,
    /// Some.
    Mixed,
    /// All.
    Implicit,
    /// None.
    Explicit,
}

impl Partitioning {
    pub const NAMES: [(&str, Partitioning); 4] = [
        ("auto", Partitioning::Auto),
        ("mixed", Partitioning::Mixed),
        ("implicit", Partitioning::Implicit),
        ("explicit", Partitioning::Explicit),
    ];
}

/// When the Jacobian is renewed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum JacobianPolicy {
    /// The choice that the objective prefers.
    #[default]
    Auto,
    /// In every step.
    Every,
    /// A part in every step, in turn.
    Rolling,
    /// At the start, after events and parameter changes, and when a step shows that it has aged: then that step is done again.
    Watched,
    /// At the start, after events and parameter changes.
    Frozen,
}

impl JacobianPolicy {
    pub const NAMES: [(&str, JacobianPolicy); 5] = [
        ("auto", JacobianPolicy::Auto),
        ("every", JacobianPolicy::Every),
        ("rolling", JacobianPolicy::Rolling),
        ("watched", JacobianPolicy::Watched),
        ("frozen", JacobianPolicy::Frozen),
    ];
}

/// What the FMU does when a step shows that its plan does not hold here.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum WatchMode {
    /// Mend the step as far as the plan allows, and report what cannot be mended.
    #[default]
    Act,
    /// Report only.
    Report,
    /// Do not look.
    Off,
}

impl WatchMode {
    pub const NAMES: [(&str, WatchMode); 3] =
        [("act", WatchMode::Act), ("report", WatchMode::Report), ("off", WatchMode::Off)];
}

/// Which of the plans that keep the tolerance is taken.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Preference {
    /// The cheapest.
    Speed,
    /// The cheapest that keeps two thirds of the tolerance.
    #[default]
    Balanced,
    /// The most accurate that keeps the default budget.
    Accuracy,
}

impl Preference {
    pub const NAMES: [(&str, Preference); 3] = [
        ("speed", Preference::Speed),
        ("balanced", Preference::Balanced),
        ("accuracy", Preference::Accuracy),
    ];
}

/// Whether a second integration tells the error at run time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum TwinMode {
    /// Where it fits the budget.
    #[default]
    Auto,
    On,
    Off,
}

impl TwinMode {
    pub const NAMES: [(&str, TwinMode); 3] =
        [("auto", TwinMode::Auto), ("on", TwinMode::On), ("off", TwinMode::Off)];
}

/// Methods by the names of the command line; none of them: chosen.
pub const METHODS: [(&str, Option<Method>); 9] = [
    ("auto", None),
    ("lie", Some(Method::Lie)),
    ("lie2", Some(Method::Lie2)),
    ("ros2", Some(Method::Ros2)),
    ("ros2l", Some(Method::Ros2l)),
    ("ros34pw2", Some(Method::Ros34pw2)),
    ("ro2", Some(Method::Ro2)),
    ("ros3p", Some(Method::Ros3p)),
    ("rodas3", Some(Method::Rodas3)),
];
