//! What the plan fixes: it is made once, never changes, and is shared by all integrators that follow the plan.

use super::solver::Solver;
use super::time_slope::EndOfStep;
use crate::method::Tableau;
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
    /// The first stage is solved only where the step of lower order is asked for.
    pub(super) has_spare_stage: bool,
}

impl Fixed {
    /// Check the plan, and look up what follows from it.
    pub fn new(plan: Plan) -> Result<Fixed, String> {
        plan.check()?;
        let tableau = plan.step.method.tableau();
        let states = &plan.states;
        Ok(Fixed {
            solvers: Solver::all(&plan, &tableau)?,
            end_of_step: plan.watch.and_then(|_| EndOfStep::new(&tableau)),
            limit: states.nominals.iter().map(|nominal| EXPLODED * nominal.max(1.0)).collect(),
            inverse_sizes: states.sizes.iter().map(|size| 1.0 / size).collect(),
            shares: (0..tableau.stages.len())
                .map(|i| [false, true].map(|time_invariant| tableau.shares_evaluation(i, time_invariant)))
                .collect(),
            has_spare_stage: tableau.has_spare_stage(),
            tableau,
            plan,
        })
    }

    /// The stage takes f from the first one.
    pub(super) fn is_at_start(&self, stage: usize, time_invariant: bool) -> bool {
        (1..=stage).all(|i| self.shares[i][usize::from(time_invariant)])
    }
}
