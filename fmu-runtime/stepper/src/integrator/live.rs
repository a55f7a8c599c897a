//! All that a simulation remembers from step to step: what a saved FMU state consists of, beside the model's own.

use super::point::{Evaluated, Point};
use super::sizes::Sizes;
use super::solver::Solver;
use super::time_slope::LastStage;
use crate::lu::Balance;
use crate::plan::Plan;
use serde::{Deserialize, Serialize};

/// Every number that a step depends on is here, so that saving, restoring and resetting are complete by construction.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Live {
    /// Time is counted, t = base + count h, never accumulated.
    pub(crate) base: f64,
    pub(crate) count: u64,
    pub time: f64,
    pub x: Vec<f64>,
    /// The last step's increment and length, and those of the step before.
    pub(crate) d: Vec<f64>,
    pub(crate) d_before: Vec<f64>,
    pub(crate) h_last: f64,
    pub(crate) h_before: f64,
    /// The embedded estimate of the last step, relative to the states' sizes.
    pub(crate) estimate: f64,
    /// The name of `x` and of the inputs, and the names of states that were given so far.
    pub(super) point: Point,
    names: u64,
    /// f where a step ended: where time does not matter the next step starts with it.
    pub(super) derivatives: Evaluated,
    /// Of the last step, where time matters to the model.
    pub(crate) last_stage: LastStage,
    /// Event indicators at `time`, or at the last event while one is put off.
    pub(crate) z: Vec<f64>,
    /// The solver in use, and the one that was chosen at the start: 0 the plan's own, 1 its fallback. They differ within a
    /// step that the plan's own could not take.
    pub(crate) solver: usize,
    chosen: usize,
    pub(crate) jacobian: Vec<f64>,
    /// Magnitudes of the states, for differences.
    pub(crate) scales: Vec<f64>,
    /// Of the dense cores, for each solver one for each factorisation.
    pub(crate) balance: Vec<Vec<Balance>>,
    /// The h for which W is factored with `jacobian`; 0 when it is not.
    pub(crate) factored_for: f64,
    pub(crate) next_colour: usize,
    pub(crate) next_event: f64,
    /// The next step begins at a time event.
    pub(crate) after_time_event: bool,
    /// Every entry of the Jacobian must be found anew.
    pub(crate) setup_needed: bool,
    /// An event that the last internal step had no room for.
    pub(crate) event_put_off: bool,
    /// An indicator is still where its event found it: the model is asked again at the end of each step until that changes nothing.
    pub(crate) indicator_unresolved: bool,
    /// The model is in Event Mode because a discrete input or a parameter was set.
    pub(crate) in_event_mode: bool,
    /// A continuous input was set: an event indicator may have changed its sign.
    pub(crate) inputs_changed: bool,
    pub(crate) extrapolation: Extrapolation,
    pub steps: u64,
    pub events: u64,
    /// Internal steps that ended with an event put off to the next.
    pub carried_events: u64,
    /// The sizes that the watch measures by.
    pub(super) sizes: Sizes,
    /// What steps have missed since A was taken: the sum of the watch's e.
    pub(crate) drift: Vec<f64>,
    /// The error carried on from step to step, where the plan asks for it; otherwise empty.
    pub carried: Vec<f64>,
    /// The state that has the largest defect.
    pub(super) worst_state: u32,
    /// The last step that was outside the plan: its worst state, its defect and where it ended.
    pub(super) spoke: (u32, f64, f64),
    /// The watch's last value, and in how many steps it spoke and the step was mended, or could not be.
    pub plan_defect: f64,
    pub renewals: u64,
    pub outside_plan: u64,
    /// Steps that overshot and were shortened.
    pub damped: u64,
    /// Evaluations of the model so far, directional derivatives included; and of these the ones that the watch asked for.
    pub evaluations: u64,
    pub watch_evaluations: u64,
}

/// Inputs with a slope: u(t) = value + slope (t - origin). Empty when the importer gives no derivatives.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Extrapolation {
    pub origin: f64,
    pub references: Vec<u32>,
    pub values: Vec<f64>,
    pub slopes: Vec<f64>,
    /// u at the time that was asked for last.
    pub current: Vec<f64>,
    /// References and slopes of the last communication step: outputs have moved with them.
    past: (Vec<u32>, Vec<f64>),
}

impl Live {
    pub(super) fn new(plan: &Plan, solvers: &[Solver]) -> Live {
        let n = plan.states.names.len();
        let vector = || vec![0.0; n];
        Live {
            x: vector(),
            d: vector(),
            d_before: vector(),
            derivatives: Evaluated::new(vector()),
            drift: vector(),
            sizes: Sizes::new(&plan.states.sizes),
            carried: vec![0.0; if plan.carries_error() { n } else { 0 }],
            last_stage: LastStage::new(if plan.model.time_invariant { 0 } else { n }),
            z: vec![0.0; plan.events.indicators as usize],
            jacobian: vec![0.0; solvers.iter().map(|solver| solver.entries).max().unwrap_or(0)],
            scales: plan.states.nominals.clone(),
            balance: solvers.iter().map(Solver::balance).collect(),
            next_event: f64::INFINITY,
            setup_needed: true,
            ..Live::default()
        }
    }

    /// The simulation starts at this time.
    pub(super) fn begin(&mut self, time: f64) {
        self.base = time;
        self.count = 0;
        self.time = time;
    }

    /// A name for states that had none so far.
    #[inline]
    pub(super) fn new_states(&mut self) -> u64 {
        self.names += 1;
        self.names
    }

    /// Other states, with the inputs as they are.
    #[inline]
    pub(super) fn point_of(&self, states: u64) -> Point {
        Point { states, ..self.point }
    }

    /// From now on this solver, from scratch.
    pub(super) fn choose_solver(&mut self, solver: usize) {
        self.chosen = solver;
        self.use_solver(solver);
    }

    /// The solver that was chosen, if another one took the step that ends here.
    #[inline]
    pub(super) fn return_solver(&mut self) {
        if self.solver != self.chosen {
            self.use_solver(self.chosen);
        }
    }

    /// This solver for the step that is tried, from scratch.
    pub(super) fn use_solver(&mut self, solver: usize) {
        self.solver = solver;
        self.factored_for = 0.0;
        self.next_colour = 0;
        self.setup_needed = true;
    }

    /// The model reported new nominals; those that are not positive numbers are ignored.
    pub(super) fn rescale(&mut self, nominals: &[f64]) {
        for (scale, &nominal) in self.scales.iter_mut().zip(nominals) {
            if nominal > 0.0 && nominal.is_finite() {
                *scale = nominal;
            }
        }
    }

    /// Both belong to the same plan, as far as sizes tell.
    pub fn fits(&self, other: &Live) -> bool {
        let sizes = |live: &Live| {
            [
                &live.x,
                &live.d,
                &live.d_before,
                &live.derivatives.f,
                &live.drift,
                &live.carried,
                &live.z,
                &live.jacobian,
                &live.scales,
            ]
            .map(Vec::len)
        };
        sizes(self) == sizes(other)
            && self.solver < other.balance.len()
            && self.balance.iter().map(Vec::len).eq(other.balance.iter().map(Vec::len))
            && self
                .balance
                .iter()
                .flatten()
                .zip(other.balance.iter().flatten())
                .all(|(one, other)| one.fits(other))
            && self.extrapolation.fits()
            && self.last_stage.sizes() == other.last_stage.sizes()
            && self.sizes.len() == other.sizes.len()
    }
}

impl Extrapolation {
    /// The importer gave du/dt. The value that it starts from is read when the step begins.
    pub fn set(&mut self, reference: u32, slope: f64) {
        match self.references.iter().position(|&known| known == reference) {
            Some(i) => self.slopes[i] = slope,
            None => {
                self.references.push(reference);
                self.slopes.push(slope);
                self.values.push(0.0);
                self.current.push(0.0);
            }
        }
    }

    pub fn is_empty(&self) -> bool {
        self.references.is_empty()
    }

    pub fn at(&mut self, time: f64) -> (&[u32], &[f64]) {
        let span = time - self.origin;
        for ((current, value), slope) in self.current.iter_mut().zip(&self.values).zip(&self.slopes) {
            *current = value + slope * span;
        }
        (&self.references, &self.current)
    }

    /// A slope holds for one communication step, which is over.
    pub fn clear(&mut self) {
        std::mem::swap(&mut self.past.0, &mut self.references);
        std::mem::swap(&mut self.past.1, &mut self.slopes);
        self.references.clear();
        self.values.clear();
        self.slopes.clear();
        self.current.clear();
    }

    /// References and slopes of the communication step that ended last.
    pub fn past(&self) -> (&[u32], &[f64]) {
        (&self.past.0, &self.past.1)
    }

    fn fits(&self) -> bool {
        let n = self.references.len();
        self.values.len() == n
            && self.slopes.len() == n
            && self.current.len() == n
            && self.past.0.len() == self.past.1.len()
    }
}
