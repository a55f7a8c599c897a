//! The choice: which rows are implicit, which entries are kept, how old the Jacobian may be.
//!
//! Candidates come from the analysis. Each is first held against stability at the samples, then priced, then,
//! from the cheapest on, run with the code that ships and compared with the accurate solution. The cheapest
//! within the tolerance wins; of equally cheap ones, the most accurate. Of a small model the winner is trimmed as
//! far as it stays stable, and tried again.

mod bound;
mod candidates;
mod certificate;
mod material;
mod trial;
mod trim;

use crate::error::Error;
use crate::lab::Lab;
use crate::options::{Budget, JacobianPolicy, Mode};
use crate::source::Source;
use crate::worker::{Simulated, Studied, Subject};
use fmu_runtime::plan::Plan;

use candidates::Finder;
use trial::Judge;

pub use bound::WorstStep;
pub use candidates::Candidate;
pub use certificate::{Certificate, Cost, Spectra, WorstMode};
pub use material::Material;
pub use trial::{Trial, errors};

/// What the user asked for.
#[derive(Clone, Debug)]
pub struct Wish {
    pub mode: Mode,
    pub jacobian: JacobianPolicy,
    pub fast: Vec<String>,
    pub slow: Vec<String>,
    pub tolerance: f64,
    pub budget: Option<Budget>,
    pub strict: bool,
    pub force: bool,
    /// Communication steps of a trial run, and steps between recorded points.
    pub steps: u64,
    pub every: u64,
}

/// The plan that goes into the FMU, and what is known of it.
pub struct Decision {
    pub plan: Plan,
    pub candidate: Candidate,
    pub simulated: Simulated,
    /// Error per watched quantity; empty without a reference.
    pub errors: Vec<f64>,
    /// The largest of them.
    pub error: Option<f64>,
    pub spectral_radius: Option<f64>,
    /// Jacobians along the run by which stability was judged.
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
    pub warnings: Vec<String>,
}

/// Up to this many states it is cheap enough to look for partitions, and for less than them, always.
const SMALL: usize = 100;
/// rho of (5.1), the boldest first: the run is the judge, and the bold one is much cheaper where it passes.
const SPARSING: [f64; 2] = [1.0, 0.1];

/// Choose.
pub fn decide(
    source: &Source,
    subject: &Subject,
    studied: &Studied,
    wish: &Wish,
    lab: &Lab,
) -> Result<Decision, Error> {
    let material = Material::new(source, subject, studied);
    let mut finder = Finder::new(&material, wish)?;
    let mut judge = Judge::new(&material, wish, lab);
    judge.warnings = finder.advice();
    // All or nothing first. What they leave to be gained is looked for as far as it pays.
    judge.try_out(&finder.extremes());
    if matches!(wish.mode, Mode::Auto | Mode::Mixed) {
        if material.n <= SMALL || !judge.satisfied() {
            judge.try_out(&finder.partitions());
        }
        for rho in SPARSING {
            if !judge.satisfied() {
                judge.try_out(&finder.sparsed(rho));
            }
        }
        if material.n <= SMALL
            && let Some(best) = judge.cheapest()
        {
            judge.try_out(&finder.trimmed(&best));
        }
    }
    judge.warnings.append(&mut finder.warnings);
    if finder.found_none() {
        return Err(Error::Request(finder.refusal()));
    }
    judge.choose()
}
