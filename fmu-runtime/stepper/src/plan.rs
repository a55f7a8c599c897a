//! The plan: all that the builder decided, as plain data. The one place where it is defined.
//!
//! The builder writes it (`resources/plan.json` of the exported FMU), the runtime reads it, checks it
//! once, allocates once, and then only executes. A plan holds indices and numbers, nothing that needs
//! interpretation, and belongs to one inner FMU (its GUID) and one step h.
//!
//! Words: a *state* is an index into the inner FMU's vector of continuous states; a *position* is a
//! place in the order of solution; an *entry* is an index into `jacobian.rows`/`cols`; a *slot* is an
//! index into the stored factors of W.
//!
//! One step solves systems W k = y with W = I - γ h A, as the method's stages say (`method`). The rows of W are
//! ordered by `elimination`: explicit rows first (no work), then blocks, each solved with the unknowns
//! of the blocks before it.

use serde::{Deserialize, Serialize};

/// The format's version. A runtime refuses any other.
pub const VERSION: u32 = 4;

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Plan {
    pub version: u32,
    pub model: Model,
    pub step: Step,
    pub states: States,
    pub variables: Variables,
    pub jacobian: Jacobian,
    pub elimination: Elimination,
    /// Where entries were dropped: the same step with all of them.
    pub fallback: Option<Fallback>,
    /// `None`: nobody looks at what a step misses because of its matrix.
    pub watch: Option<Watch>,
    pub events: Events,
    /// `None`: the FMU tells nothing of its error, as without continuous states.
    pub accuracy: Option<Accuracy>,
    pub diagnostics: Vec<Diagnostic>,
    /// `None`: the FMU inside is one of FMI 2.0, whose variables are scalars.
    pub inner: Option<Inner>,
    /// The new FMU's own variables, by ascending reference. `None`: it is an FMU of FMI 2.0.
    pub shell: Option<Vec<Array>>,
}

impl Plan {
    /// A twin tells the error at run time.
    pub fn has_twin(&self) -> bool {
        self.accuracy.as_ref().is_some_and(|accuracy| accuracy.source == ErrorSource::Twin)
    }
}

impl Plan {
    /// The steps' own estimates tell it.
    pub fn carries_error(&self) -> bool {
        self.accuracy.as_ref().is_some_and(|accuracy| accuracy.source == ErrorSource::Carried)
    }
}

/// The FMU around (what the importer sees) and the FMU inside (what is executed).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    pub name: String,
    /// The inner FMU's `modelIdentifier`: the base name of its library.
    pub identifier: String,
    /// GUID that the inner FMU is instantiated with.
    pub inner_guid: String,
    /// GUID that the importer must present: it follows from the rest of the plan (the runtime's `identity.rs`).
    pub guid: String,
    /// Those of the inner FMU; the runtime has its own beside them.
    pub log_categories: Vec<String>,
    pub can_get_and_set_state: bool,
    pub can_serialize_state: bool,
    pub provides_directional_derivative: bool,
    pub instantiate_only_once: bool,
    /// The model must be told of every completed step.
    pub completed_step_needed: bool,
    /// The derivatives do not depend on time between events: declared, and checked by the builder. Then those at a step's end start the next step.
    pub time_invariant: bool,
    /// Variables are answered with the values of the last evaluation, not of the states that were set last: each communication step ends with one.
    pub outputs_need_evaluation: bool,
    /// It writes more values than it should into the vectors that it is given: they get room behind them.
    pub writes_beyond: bool,
}

/// An FMU of FMI 3.0 inside. The rest of the plan knows scalars of FMI 2.0's four types only: each array is a row of scalars
/// whose value references follow one another.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Inner {
    /// By ascending reference.
    pub arrays: Vec<Array>,
    /// Structural parameters that are not left as they are: value reference, type and value. They are set in Configuration
    /// Mode, right after the model was instantiated.
    pub structure: Vec<(u32, Type, u64)>,
    /// Input clocks that the host must tick.
    pub clocks: Vec<Clock>,
}

/// A variable of FMI 3.0, and the scalars that it stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Array {
    /// Its value reference.
    pub reference: u32,
    #[serde(rename = "type")]
    pub kind: Type,
    /// The value reference of its first scalar, in the table of its base type; those of the others follow, row by row.
    pub first: u32,
    pub count: u32,
}

/// The types of FMI 3.0 that scalars can have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Type {
    Float32,
    Float64,
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Boolean,
    String,
    Enumeration,
}

/// The four types of FMI 2.0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Base {
    Real,
    Integer,
    Boolean,
    String,
}

impl Type {
    /// In which table its scalars are.
    pub fn base(self) -> Base {
        match self {
            Type::Float32 | Type::Float64 => Base::Real,
            Type::Boolean => Base::Boolean,
            Type::String => Base::String,
            _ => Base::Integer,
        }
    }
}

/// A time-based input clock. Its ticks are time events.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Clock {
    pub reference: u32,
    pub interval: Interval,
    /// Seconds from the start to the first tick.
    pub shift: f64,
}

/// Where the time between two ticks comes from.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Interval {
    /// The description says it, in seconds.
    Constant(f64),
    /// The model is asked when it is initialised.
    Asked,
    /// The model is asked after each tick.
    Changing,
    /// The model is asked after each event, and says whether it ticks at all.
    Countdown,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Step {
    pub method: Method,
    /// Internal step h in seconds.
    pub h: f64,
    /// Internal steps in a communication step of the default size: H = substeps * h.
    pub substeps: u32,
    /// Where the embedded error estimate of a method of higher order exceeds this part of a state's size, the step is drawn
    /// towards the one of lower order.
    pub limit: f64,
}

/// What a step misses because of its matrix A is measured in every step: the largest |e_i| / size_i (see the integrator's `watch`).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Watch {
    /// Above it the watch speaks, and acts where the plan lets it.
    pub threshold: f64,
    /// A step that is still above this one lies outside the plan: not less than `threshold`, and above what a fresh Jacobian leaves by the model's curvature.
    pub outside: f64,
    /// Defects are summed since A was taken. Not where entries were dropped: what explicit rows leave in each step is the method's own error.
    pub sums: bool,
}

/// How the FMU tells its own error while it runs, in the certificate's measure: the root mean square of a quantity's
/// deviation over its range.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Accuracy {
    pub source: ErrorSource,
    /// The largest error that was asked for.
    pub tolerance: f64,
    /// The largest error over the verified runs.
    pub claimed: f64,
    /// The part of a deviation that is told as the error; and what it may be at most. Both as the verified runs have it.
    pub share: f64,
    pub bound: f64,
    /// Value references of the Reals that are compared, the outputs; empty: the states are.
    pub outputs: Vec<u32>,
    /// Names of the quantities that are compared, and between what each moved in the given runs: its range, widened by what is seen.
    pub names: Vec<String>,
    pub lows: Vec<f64>,
    pub highs: Vec<f64>,
    /// How large it is, the terms included whose difference it may be: what moves by a billionth of that stands still.
    pub sizes: Vec<f64>,
    /// How far it reached in any verified run: what it is measured by at the beginning, until it has moved.
    pub ranges: Vec<f64>,
    /// Value references of the outputs of other types.
    pub integers: Vec<u32>,
    pub booleans: Vec<u32>,
    pub strings: Vec<u32>,
}

/// What the FMU's trajectory is compared with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ErrorSource {
    /// A second integration over a second instance of the model, with internal steps twice as long: `substeps` is even.
    Twin,
    /// What the steps' own error estimates add up to, carried on by their matrices: no evaluation, and an indicator that is
    /// calibrated on the verified runs. The states are compared.
    Carried,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Method {
    /// Linearly implicit Euler.
    Lie,
    /// Its extrapolation, of order 2.
    Lie2,
    /// Verwer's Rosenbrock-W method of order 2.
    Ros2,
    /// The same with the larger γ, for an old Jacobian.
    Ros2l,
    /// ROS34PW2 of Rang and Angermann, of order 3.
    Ros34pw2,
    /// Rosenbrock methods that need the exact Jacobian: Becker's R02, ROS3P of Lang and Verwer, RODAS3.
    Ro2,
    Ros3p,
    Rodas3,
}

/// The continuous states in the inner FMU's order. All vectors have one element per state.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct States {
    /// For messages.
    pub names: Vec<String>,
    /// Value references, for directional derivatives; empty when some are unknown.
    pub references: Vec<u32>,
    pub derivative_references: Vec<u32>,
    /// Magnitudes > 0, used until the inner FMU reports better ones: they scale differences and
    /// what counts as divergence.
    pub nominals: Vec<f64>,
    /// How large each state gets, over all that was studied: what defects and error estimates are measured by. All > 0.
    pub sizes: Vec<f64>,
}

/// Every value reference of the inner FMU by base type (enumerations are integers).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Variables {
    pub real: Table,
    pub integer: Table,
    pub boolean: Table,
    pub string: Table,
}

/// Value references in ascending order, each once, with one letter each in `roles` (see [`Role`]).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Table {
    pub references: Vec<u32>,
    pub roles: String,
}

/// When a variable may be set after initialisation. Aliases share a reference: an input's right wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// `r`: read only, though a start value may be set before initialisation ends.
    Read = b'r' as isize,
    /// `t`: tunable parameter, set between steps through an excursion to Event Mode.
    Tunable = b't' as isize,
    /// `d`: discrete input, likewise.
    DiscreteInput = b'd' as isize,
    /// `c`: continuous Real input, set at any time; may be extrapolated.
    ContinuousInput = b'c' as isize,
}

impl Role {
    pub fn from_letter(letter: u8) -> Option<Role> {
        [Role::Read, Role::Tunable, Role::DiscreteInput, Role::ContinuousInput]
            .into_iter()
            .find(|&role| role as u8 == letter)
    }
}

/// The Jacobian entries that are kept, and how their values are found.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Jacobian {
    /// Entry e is d f\[rows\[e\]\] / d x\[cols\[e\]\]. Entries that no slot uses are there because they are
    /// subtracted from a difference that they disturb.
    pub rows: Vec<u32>,
    pub cols: Vec<u32>,
    pub policy: Policy,
    pub source: JacobianSource,
    /// Finds every entry: after initialisation, a parameter change, an event, and when the watch speaks under `Watched`.
    pub setup: Vec<Colour>,
    /// Refreshes the entries that vary; those not listed are constant.
    pub colours: Vec<Colour>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Policy {
    /// All colours in every step.
    Every,
    /// `per_step` colours in each step, in turn: the same cost in every step.
    Rolling { per_step: u32 },
    /// Only after initialisation, events and parameter changes.
    Frozen,
    /// Likewise, and when the watch speaks: then the step is done again with a Jacobian renewed at its start.
    Watched,
}

impl Policy {
    /// Of so many colours, those that each step evaluates.
    pub fn per_step(self, colours: usize) -> usize {
        match self {
            Policy::Every => colours,
            Policy::Rolling { per_step } => colours.min(per_step as usize),
            Policy::Frozen | Policy::Watched => 0,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum JacobianSource {
    /// Forward differences on the base r of the step.
    Differences,
    /// Directional derivatives of the model.
    Directional,
}

/// Columns that one evaluation serves together.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Colour {
    /// States that are perturbed.
    pub columns: Vec<u32>,
    /// Entries whose value this gives; their columns are among `columns`, their rows differ from each other.
    pub entries: Vec<u32>,
    /// Pairs (entry of this colour, known entry in the same row whose column is among `columns` too):
    /// the known entry's share is taken off first.
    pub known: Vec<(u32, u32)>,
}

/// What the plan falls back to: for a step that the watch speaks of, and for a whole simulation whose parameters make the plan's own choice unstable.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Fallback {
    pub jacobian: Jacobian,
    pub elimination: Elimination,
}

/// How W d = y is solved: a static order with its fill.
///
/// Row p of W (p a position >= `explicit`) has the columns `cols[row_start[p - explicit] ..
/// row_start[p - explicit + 1]]`: positions inside p's own block, ascending, the diagonal among them,
/// fill included. Inside a block the last `tears` positions are solved together as a dense system
/// with partial pivoting: their rows and columns are full among themselves. The positions before them
/// are eliminated in order with their diagonal as pivot. Couplings to earlier blocks are in `outer`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Elimination {
    /// `order[p]` is the state at position p.
    pub order: Vec<u32>,
    /// The first `explicit` positions have no kept entry.
    pub explicit: u32,
    /// Blocks in order of solution; together they cover `explicit..n`.
    pub blocks: Vec<Block>,
    pub row_start: Vec<u32>,
    pub cols: Vec<u32>,
    /// Entry `entries[i]` of the Jacobian goes to slot `slots[i]`, an index into `cols`.
    pub entries: Vec<u32>,
    pub slots: Vec<u32>,
    /// Row p's couplings to earlier blocks or explicit states: entries
    /// `outer[outer_start[p - explicit] .. outer_start[p - explicit + 1]]`.
    pub outer_start: Vec<u32>,
    pub outer: Vec<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Block {
    /// Number of states.
    pub size: u32,
    /// The last `tears` of them form the dense core.
    pub tears: u32,
}

/// Bounds on the price of events.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Events {
    /// Number of event indicators; 0 means that they are never asked for.
    pub indicators: u32,
    /// Trials to locate a state event, each a part of the step taken again: late by at most 2h / 2^bisections, and by much less where indicators are smooth.
    pub bisections: u32,
    /// Events handled in one internal step; more carry over to the next.
    pub max_per_step: u32,
    /// Iterations of one event.
    pub max_iterations: u32,
    /// Indicators were seen that are no numbers: one that is none keeps its sign. Otherwise that is a fault.
    pub may_be_nan: bool,
}

/// A read-only variable of the runtime itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Diagnostic {
    pub quantity: Quantity,
    pub reference: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Quantity {
    /// Real: wall-clock duration of the last communication step in seconds; measured once it was read.
    StepTime,
    /// Integer: communication steps that took longer than their own length; counted once it was read.
    Overruns,
    /// Integer: requests of the runtime for memory inside steps; counted once it was read.
    Allocations,
    /// Integer: events handled since initialisation.
    Events,
    /// Integer: internal steps that ended with an event put off to the next.
    CarriedEvents,
    /// Real: estimate of the last internal step's local error, relative to the nominals.
    ErrorEstimate,
    /// Real: what the last internal step missed because of its matrix, relative to the states' sizes: the watch's value.
    PlanDefect,
    /// Real: the estimated error so far, of the worst output; its largest value at a point; and what is left of it if each value may come
    /// a communication point early or late.
    Error,
    ErrorPeak,
    ErrorButForLateness,
    /// String: the output that it is the error of.
    ErrorOutput,
    /// Real: the share of the communication points at which a discrete output and its twin's differ, of the worst one.
    DiscreteError,
    /// Integer: communication steps at whose end the estimated error was beyond the tolerance, or could not be told any more. Without an
    /// estimate, those in which the watch spoke in vain.
    StepsOutsidePlan,
    /// Integer: internal steps in which the watch spoke and could not be satisfied.
    StepsWatchSpoke,
    /// Integer: internal steps that were done again with a Jacobian renewed there, because the watch spoke.
    JacobianRenewals,
    /// Integer: internal steps that overshot and were shortened.
    DampedSteps,
    /// Real: the time of the simulation. FMI 3.0 asks for such a variable; a model of FMI 2.0 need not have one.
    Time,
}
