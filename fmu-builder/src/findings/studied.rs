//! What the study of a model asks and what it finds: structure, Jacobians along an accurate run, prices.

use super::Prices;
use crate::experiment::{Experiment, Value};
use crate::interface::Interface;
use crate::warning::StudyRemark;
use fmu_runtime::value::Type;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Study {
    pub interface: Interface,
    pub experiment: Experiment,
    /// The internal step that is planned for.
    pub h: f64,
    /// One per state; `None`: depends on anything.
    pub declared: Vec<Declared>,
    /// Points in time at which trajectories are compared, ascending, after the start.
    pub grid: Vec<f64>,
    pub samples: usize,
    pub tolerance: f64,
    /// Seconds that the accurate run may take.
    pub patience: f64,
    /// Variables whose start value the description does not give, and its type: read after initialisation.
    pub missing_starts: Vec<(u32, Type)>,
    /// The description says that a derivative depends on time.
    pub time_declared: bool,
    /// Check directional derivatives, and measure at more places what calls cost; one run of a model is enough for that.
    pub thorough: bool,
    /// The user asked for this run. An invented one may lead where outputs and indicators are no numbers: it ends there, and they count all the same.
    pub given: bool,
}

/// What modelDescription.xml says of one derivative: (state, its slope is constant).
pub type Declared = Option<Vec<(u32, bool)>>;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Studied {
    /// Entries (row, column, constant), ascending.
    pub entries: Vec<(u32, u32, bool)>,
    pub structure: StructureFound,
    /// Along the run, in order of time.
    pub samples: Vec<Sample>,
    /// At states thrown beside the run.
    pub beside: Vec<Sample>,
    /// Largest |x| on the run, per state.
    pub magnitudes: Vec<f64>,
    /// So many times wider than without noise each state's differences must be.
    pub wider: Vec<f64>,
    /// What the model's calls cost, at several places of the run.
    pub prices: Prices,
    /// The FMU has directional derivatives, they are right, and one costs clearly less than an evaluation.
    pub directional_cheaper: bool,
    /// What is wrong with its directional derivatives.
    pub wrong_directional: Option<String>,
    /// Trajectories at the start and at each grid point that was reached, one row per point.
    pub times: Vec<f64>,
    pub trajectory: Vec<Vec<f64>>,
    /// How large the terms are that these quantities are made of.
    pub terms: Vec<f64>,
    /// The outputs that are no Reals at the same points.
    pub discrete: Vec<Vec<i64>>,
    pub events: u64,
    /// f does not depend on time between events: not declared, and not seen at any sample.
    pub time_invariant: bool,
    /// fmi2GetReal answers with values of the last evaluation, not of the last fmi2SetContinuousStates.
    pub outputs_need_evaluation: bool,
    /// Why the run ended before the last grid point.
    pub halted: Option<String>,
    /// The values of `missing_starts`; `None` where the FMU gives none.
    pub starts: Vec<Option<Value>>,
    /// What the run gave to say, each kind once.
    pub remarks: Vec<StudyRemark>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StructureFound {
    /// Entries that the model has and its description denies.
    pub undeclared_entries: Vec<(u32, u32)>,
    /// Entries declared constant that are not.
    pub not_constant: Vec<(u32, u32)>,
    /// Rows without a declaration.
    pub undeclared: usize,
}

/// The model at one point of the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sample {
    pub time: f64,
    pub x: Vec<f64>,
    pub derivatives: Vec<f64>,
    /// Aligned with `Studied::entries`.
    pub jacobian: Vec<f64>,
    /// The discrete mode: events before this point that may have made another model of it. A Jacobian is not kept from one to the next.
    pub regime: u64,
}
