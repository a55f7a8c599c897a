//! The choice: which method, which rows are implicit, which entries are kept, how old the Jacobian may be.
//!
//! The rule in one sentence: **the plan that is cheapest on average among those that keep two thirds of the tolerance on
//! all runs, given and invented; of plans within 15 % of each other the most accurate.** `--prefer speed` takes the whole
//! tolerance and no 15 %, `--prefer accuracy` the most accurate plan whose longest step keeps the default budget.
//!
//! Its edges: the margin of a third is worth two and a half times the cost, since the bench does what nobody tried. A budget
//! of the user's own is held exactly. The default one, a tenth of the communication step, is a soft border: a plan whose
//! longest step exceeds it is left for another one only where that is clearly better for it (`Judge::score`), so that neither
//! a microsecond nor the machine's mood decides. Invented runs on which every plan is off by more than 100 % choose nothing.
//! Where no plan keeps the tolerance, those that keep it on the given runs and are on the invented ones within it or at most
//! twice as far off as the fresh, fully implicit step, and of these the most accurate. Every plan is stable at every sample
//! and every length that the runtime can take.
//!
//! So all entries with a watched Jacobian come first, with the method that has the fewest evaluations, then with others.
//! Sparsing is tried for every model of up to 100 states; other masks are looked for where that is too dear or not accurate
//! enough, or where they are asked for. A plan that drops entries is taken where it saves a third, not to save a little.
//!
//! | file | idea |
//! |---|---|
//! | `problem` | what a decision is made of |
//! | `budget` | requests that no plan can keep |
//! | `candidates`, `trim` | masks worth trying |
//! | `draft`, `counted/`, `bound` | plans made of a mask, and what their steps take |
//! | `trial`, `trial/` | plans that are tried on all runs, and the choice among them |
//! | `switching`, `parting` | how far discrete outputs are off, and how two accurate solutions part |
//! | `certificate` | what is known of the stability of the plan that was chosen |
//! | `substeps` | how many internal steps are in a communication step |

mod bound;
mod budget;
mod candidates;
mod certificate;
mod counted;
mod draft;
mod parting;
mod problem;
mod substeps;
mod switching;
mod trial;
mod trim;

use crate::analysis::verdict::Verdict;
use crate::assemble::Discretisation;
use crate::deviation::{Ranges, largest};
use crate::error::Error;
use crate::experiment::Experiment;
use crate::findings::{Simulated, Studied};
use crate::interface::Interface;
use crate::lab::Lab;
use crate::options::{JacobianPolicy, Options, Partitioning, Preference};
use crate::summary::Moved;
use crate::warning::{ToleranceMissed, Warning, Warnings};
use fmu_runtime::plan::{Method, Plan};
use serde::Serialize;

use candidates::Finder;
use trial::Judge;

pub use bound::WorstStep;
pub use candidates::Candidate;
pub use certificate::{AlternatingMode, Certificate, Spectra, Stability, WorstMode};
pub use draft::Cost;
pub use parting::{Parting, parting};
pub use problem::Problem;
pub use substeps::decide_with_substeps;
pub use switching::{Switching, switching};
pub use trial::Trial;

/// A run that plans are tried on.
#[derive(Clone, Debug)]
pub struct ReferenceRun {
    /// In a few words, for people.
    pub label: String,
    /// The user asked for it; otherwise it was invented.
    pub given: bool,
    /// It may choose. False of an invented run on which every plan is far off: that says something of the run.
    pub counts: bool,
    pub experiment: Experiment,
    /// Communication steps, and how many of them lie between two points of the trajectory.
    pub steps: u64,
    pub every: u64,
    /// The accurate solution: the watched quantities at the start and at each point.
    pub trajectory: Vec<Vec<f64>>,
    /// How large the terms are that the watched quantities are made of.
    pub terms: Vec<f64>,
    /// The outputs that are no Reals at the same points.
    pub discrete: Vec<Vec<i64>>,
}

impl ReferenceRun {
    /// What errors on this run are relative to.
    pub fn ranges(&self) -> Ranges {
        Ranges::of(&self.trajectory, &self.terms)
    }
}

/// How the plan does on runs that were invented.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Explored {
    pub scenarios: usize,
    /// The largest error on those that count.
    pub error: Option<f64>,
    /// That of the fresh, fully implicit Euler step.
    pub fresh_error: Option<f64>,
    pub runs: Vec<ExploredRun>,
}

impl Explored {
    /// The run with the largest error.
    pub fn worst(&self) -> Option<&ExploredRun> {
        let runs = self.runs.iter().filter(|run| run.counts && run.error.is_some_and(|error| error > 0.0));
        runs.max_by(|a, b| a.error.unwrap_or(0.0).total_cmp(&b.error.unwrap_or(0.0)))
    }
}

/// One of them.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct ExploredRun {
    /// What moves, for people.
    pub name: String,
    /// `None`: it could not be run to its end.
    pub error: Option<f64>,
    /// The output, or state, that has it.
    pub worst: Option<String>,
    pub fresh_error: Option<f64>,
    /// Steps outside the plan.
    pub outside: u64,
    /// False: every plan is off by more than its whole range. The run is told of, and chooses nothing.
    pub counts: bool,
}

/// The largest deviation of a quantity over its range, and when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Peak {
    pub deviation: f64,
    pub time: f64,
}

/// What the FMU says of its error on a run that is known, beside the error.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Told {
    pub run: String,
    pub error: f64,
    pub estimate: f64,
}

impl Told {
    fn new(run: &ReferenceRun, simulated: &Simulated) -> Told {
        let errors = run.ranges().errors(&run.trajectory, &simulated.trajectory);
        let error = largest(&errors).unwrap_or(0.0);
        let estimate = simulated.estimates.last().copied().unwrap_or(0.0);
        Told { run: run.label.clone(), error, estimate }
    }

    /// How many times the error the estimate is.
    pub fn ratio(&self) -> Option<f64> {
        (self.error > 0.0).then(|| self.estimate / self.error)
    }
}

/// Runs whose error is large enough that the estimate should be near it.
pub fn telling(told: &[Told], tolerance: f64) -> impl Iterator<Item = &Told> + Clone {
    told.iter().filter(move |one| one.error > WORTH_TELLING * tolerance)
}

/// Parts of the tolerance below which it does not matter what is told of an error.
const WORTH_TELLING: f64 = 0.1;

/// The plan that goes into the FMU, and what is known of it.
pub struct Decision {
    pub plan: Plan,
    pub candidate: Candidate,
    /// On the first run.
    pub simulated: Simulated,
    /// Error per watched quantity on the given runs; empty without a reference.
    pub errors: Vec<f64>,
    /// What is left of them if each value may come a point early or late.
    pub errors_but_for_lateness: Vec<f64>,
    /// The largest deviation of each at a point.
    pub peaks: Vec<Peak>,
    /// How far each discrete output is from the accurate solution on the given runs, and on the invented ones.
    pub switching: Vec<Switching>,
    pub explored_switching: Vec<Switching>,
    /// The largest of them.
    pub error: Option<f64>,
    pub explored: Explored,
    /// Whether a compared quantity moved at all.
    pub has_moved: Moved,
    /// What the FMU says of its error on each run.
    pub told: Vec<Told>,
    /// Of this plan: its method, mask and policy.
    pub verdict: Verdict,
    /// Jacobians along the runs by which stability was judged.
    pub samples: usize,
    pub cost: Cost,
    pub worst_step: WorstStep,
    pub certificate: Certificate,
    /// One for each sample, where the model is small enough.
    pub spectra: Vec<Spectra>,
    /// The largest error that was asked for.
    pub tolerance: f64,
    /// Everything that was tried, in order.
    pub trials: Vec<Trial>,
    pub times: Times,
    /// The error is larger than the tolerance: to be said unless it is the accurate solution's.
    pub missed: Option<ToleranceMissed>,
    /// All others.
    pub warnings: Warnings,
}

/// Seconds, as they were measured on this machine or asked for. They go into no FMU: the same input makes the same bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Times {
    /// An evaluation of the model, the median over the runs, and the dearest.
    pub evaluation: f64,
    pub worst_evaluation: f64,
    /// One reading of the event indicators.
    pub indicators: Option<f64>,
    /// The longest communication step without events, and what that is in parts of its length.
    pub longest_step: f64,
    pub load: f64,
}

/// Up to this many states it is cheap enough to look for partitions and to trim.
const SMALL: usize = 100;
/// rho of Schiela's (5.1), the boldest first: the run is the judge, and the bold one is much cheaper where it passes.
const SPARSING: [f64; 2] = [1.0, 0.1];
/// The methods of `--method auto`.
const METHODS: [Method; 4] = [Method::Lie, Method::Lie2, Method::Ros2, Method::Ros34pw2];

/// Choose.
pub fn decide(
    interface: &Interface,
    discretisation: Discretisation,
    studied: &Studied,
    runs: &[ReferenceRun],
    options: &Options,
    lab: &Lab,
) -> Result<Decision, Error> {
    let problem = Problem::new(interface, discretisation, studied, options);
    budget::refuse_hopeless(&problem, options)?;
    let mut finder = Finder::new(&problem, options)?;
    let mut judge = Judge::new(&problem, options, runs, lab);
    let methods = options.method.map_or(METHODS.to_vec(), |method| vec![method]);
    let everything = Candidate {
        label: "all implicit".into(),
        mask: crate::analysis::Mask::full(problem.n),
        warning: None,
    };
    judge.measure_fresh(&everything);
    if let Some(method) = options.method.filter(|method| !method.tableau().any_matrix) {
        refuse_masks(method, options)?;
        judge.try_out(&finder.implicit(), &methods, false);
        return judge.choose();
    }
    match options.mode {
        Partitioning::Explicit => judge.try_out(&finder.explicit(), &methods, true),
        Partitioning::Implicit => {
            let implicit = finder.implicit();
            judge.try_out(&implicit, &methods, false);
            if !judge.satisfied() || options.budget.is_some() {
                judge.try_out(&implicit, &methods, true);
            }
        }
        Partitioning::Auto | Partitioning::Mixed => {
            search(&mut finder, &mut judge, &problem, options, &methods)
        }
    }
    judge.warnings.extend(std::mem::take(&mut finder.warnings));
    if finder.found_none() {
        return Err(Error::Request(finder.refusal()));
    }
    judge.choose()
}

/// Some methods have their order only with the whole Jacobian, fresh in every step.
fn refuse_masks(method: Method, options: &Options) -> Result<(), Error> {
    let fresh = matches!(options.jacobian, JacobianPolicy::Auto | JacobianPolicy::Every);
    let whole = matches!(options.mode, Partitioning::Auto | Partitioning::Implicit)
        && options.rho.is_none()
        && options.fast.is_empty()
        && options.slow.is_empty();
    if fresh && whole {
        return Ok(());
    }
    Err(Error::Request(format!(
        "--method {} falls to order 1 with an inexact Jacobian: it goes with --mode implicit and --jacobian every only; take \
         lie2, ros2 or ros34pw2, or leave {} out",
        method.name(),
        if fresh { "--mode, --fast, --slow and --rho" } else { "--jacobian" }
    )))
}

/// Everything first, then masks as far as they are needed.
fn search(finder: &mut Finder, judge: &mut Judge, problem: &Problem, options: &Options, methods: &[Method]) {
    let small = problem.n <= SMALL;
    let mixed = options.mode == Partitioning::Mixed;
    if let Some(rho) = options.rho {
        let sparsed = finder.sparsed(rho);
        if sparsed.is_empty() {
            judge.warnings.add(Warning::NothingToDrop { rho });
        }
        judge.try_out(&sparsed, methods, false);
        if judge.satisfied() {
            return;
        }
    }
    if mixed {
        let partitions = finder.partitions();
        judge.try_out(&partitions, methods, false);
        if !judge.satisfied() {
            judge.try_out(&partitions, methods, true);
        }
        if judge.has_run() {
            return;
        }
    }
    let implicit = finder.implicit();
    judge.try_out(&implicit, methods, false);
    if options.prefer == Preference::Accuracy {
        judge.try_out(&implicit, methods, true);
    }
    if judge.satisfied() && options.budget.is_none() {
        if small && options.rho.is_none() {
            judge.try_out(&finder.sparsed_quickly(SPARSING[0]), methods, false);
        }
        return;
    }
    let tight = judge.is_tight() || options.budget.is_some();
    judge.in_need_of_time = options.budget.is_none() && judge.is_tight() && judge.holds_somehow();
    // What is short of time is tried with older Jacobians first: that gives up least.
    if tight {
        judge.try_out(&implicit, methods, true);
    }
    // Other masks may be more accurate, as the symplectic pair is, or cheaper.
    if small || tight {
        judge.try_out(&finder.partitions(), methods, tight);
    }
    judge.try_out(&implicit, methods, true);
    if !judge.satisfied() && tight {
        judge.try_out(&finder.explicit(), methods, true);
        for rho in SPARSING {
            if !judge.satisfied() {
                judge.try_out(&finder.sparsed(rho), methods, true);
            }
        }
        if small
            && !judge.satisfied()
            && let Some(best) = judge.cheapest()
        {
            judge.try_out(&finder.trimmed(&best), methods, true);
        }
    }
}
