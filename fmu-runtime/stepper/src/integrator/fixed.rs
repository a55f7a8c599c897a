//! What the plan fixes: it is made once, never changes, and is shared by all integrators that follow the plan.

use super::solver::Solver;
use super::time_slope::EndOfStep;
use crate::method::{Stage, Tableau, WatchPoint};
use crate::plan::Plan;

/// A state this many times its scale is lost.
const EXPLODED: f64 = 1e30;

pub struct Fixed {
    pub plan: Plan,
    pub(super) tableau: Tableau,
    /// The plan's own and its fallback's, as each integrator begins with them.
    pub(super) solvers: Vec<Solver>,
    pub(super) end_of_step: Option<EndOfStep>,
    /// What |x| may not exceed.
    pub(super) limit: Vec<f64>,
    /// Of the states' sizes.
    pub(super) inverse_sizes: Vec<f64>,
    /// Stages that take the evaluation of the stage before; likewise where time does not matter.
    pub(super) shares: Vec<[bool; 2]>,
    /// Stages that take f from the first one; likewise where time does not matter.
    pub(super) takes_start: Vec<[bool; 2]>,
    /// Stages that evaluate the model at x itself.
    pub(super) is_at_x: Vec<bool>,
    /// ∂f/∂t is needed where time matters.
    pub(super) needs_time_slope: bool,
    /// The watch needs f at x and the last stage's time; likewise where time does not matter.
    pub(super) watches_in_time: [bool; 2],
    /// The stage that solved for the δ of the watch with f at x, if there is one; likewise where time does not matter.
    pub(super) solves_for_delta: [Option<usize>; 2],
    /// The first stage is solved only where the step of lower order is asked for.
    pub(super) has_spare_stage: bool,
}

impl Fixed {
    /// Check the plan, and look up what follows from it.
    pub fn new(plan: Plan) -> Result<Fixed, String> {
        plan.check()?;
        let tableau = plan.step.method.tableau();
        let states = &plan.states;
        let stages = tableau.stages.len();
        let shares = |i: usize| [false, true].map(|invariant| tableau.shares_evaluation(i, invariant));
        let shares: Vec<[bool; 2]> = (0..stages).map(shares).collect();
        let takes_start = |stage: usize, invariant: usize| (1..=stage).all(|i| shares[i][invariant]);
        let in_time = plan.watch.is_some() && tableau.watch == WatchPoint::LastStage;
        let delta = |invariant: usize| tableau.only_node(stages - 1).filter(|&j| takes_start(j, invariant));
        Ok(Fixed {
            takes_start: (0..stages)
                .map(|stage| [0, 1].map(|invariant| takes_start(stage, invariant)))
                .collect(),
            is_at_x: tableau.stages.iter().map(Stage::is_at_start).collect(),
            needs_time_slope: tableau.needs_time_slope(false),
            watches_in_time: [false, true]
                .map(|invariant| in_time && tableau.watch_evaluations(invariant) > 0),
            solves_for_delta: [0, 1].map(delta),
            solvers: Solver::all(&plan, &tableau)?,
            end_of_step: plan.watch.and_then(|_| EndOfStep::new(&tableau)),
            limit: states.nominals.iter().map(|nominal| EXPLODED * nominal.max(1.0)).collect(),
            inverse_sizes: states.sizes.iter().map(|size| 1.0 / size).collect(),
            shares,
            has_spare_stage: tableau.has_spare_stage(),
            tableau,
            plan,
        })
    }
}
