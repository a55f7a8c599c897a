//! Methods as data: linearly implicit one-step methods of the Rosenbrock-W family.
//!
//! ```text
//! (I - γ_i h A) k_i = s_i h (f(t + c_i h, x + Σ_j a_ij k_j) + τ_i h f_t) + Σ_j g_ij k_j,     x⁺ = x + Σ_i b_i k_i
//! ```
//!
//! A is the plan's approximation of ∂f/∂x: the kept entries, as old as the policy lets them be. This is the form
//! without the product A k (Hairer and Wanner, *Solving ODEs II*, IV.7): every stage is one evaluation, one sum of
//! vectors and one solution. Runtime and builder read the same [`Tableau`]: the runtime executes its stages, the builder makes the
//! step map, the cost and the order of it.

mod tableaus;

use crate::plan::Method;

#[derive(Clone, Debug, PartialEq)]
pub struct Tableau {
    pub method: Method,
    pub order: u32,
    /// The order holds for every A. Otherwise A must be the whole Jacobian, fresh in every step.
    pub any_matrix: bool,
    /// The first one is a step of first order by itself, with γ >= 1: it is taken where later stages cannot be evaluated.
    pub stages: Vec<Stage>,
    /// b: the step.
    pub weights: Vec<f64>,
    /// A step of lower order from the same stages, where the limiter asks for it. Empty: there is none.
    pub low_weights: Vec<f64>,
    /// The embedded estimate of the local error, Σ_i e_i k_i. Empty: there is none.
    pub estimate: Vec<f64>,
    /// The distinct γ: one factorisation of I - γ h A each.
    pub gammas: Vec<f64>,
    pub watch: WatchPoint,
    /// c: what a step misses because of A is about c (W⁻¹ - I)^(p-1) e, e the watch's defect and p the order that holds for every A.
    pub stale_share: f64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Stage {
    /// Index into [`Tableau::gammas`].
    pub factors: usize,
    /// c: where in the step time and inputs are taken.
    pub time: f64,
    /// s
    pub scale: f64,
    /// τ: the share of the time derivative, zero for W-methods, to which time is one more state that A knows nothing of.
    pub time_slope: f64,
    /// a_ij, one for each earlier stage.
    pub nodes: Vec<f64>,
    /// g_ij, one for each earlier stage.
    pub couplings: Vec<f64>,
}

/// Where the watch compares f with its linearisation f(x) + A δ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WatchPoint {
    /// At the step's end, where outputs and indicators need the model anyway.
    End,
    /// At the last stage's own point: no evaluation more.
    LastStage,
}

impl Stage {
    /// It solves for f alone.
    fn is_uncoupled(&self) -> bool {
        self.couplings.iter().all(|&g| g == 0.0) && self.time_slope == 0.0
    }

    /// It evaluates the model at x itself.
    pub fn is_at_start(&self) -> bool {
        self.nodes.iter().all(|&a| a == 0.0)
    }
}

impl Tableau {
    /// A stage's share in the step, of which `high` is of the method's order and the rest of the lower one.
    pub fn weight(&self, stage: usize, high: f64) -> f64 {
        let b = self.weights[stage];
        self.low_weights.get(stage).map_or(b, |low| low + high * (b - low))
    }

    pub fn gamma(&self, stage: usize) -> f64 {
        self.gammas[self.stages[stage].factors]
    }

    /// Whether a stage can take the evaluation of the stage before it: both are at x, and at one time unless time does not matter.
    pub fn shares_evaluation(&self, stage: usize, time_invariant: bool) -> bool {
        let Some(before) = stage.checked_sub(1).map(|before| &self.stages[before]) else { return false };
        let this = &self.stages[stage];
        before.is_at_start() && this.is_at_start() && (time_invariant || before.time == this.time)
    }

    /// The stage whose k alone leads from x to where this one is evaluated.
    pub fn only_node(&self, stage: usize) -> Option<usize> {
        let mut nodes = self.stages[stage].nodes.iter().enumerate().filter(|(_, a)| **a != 0.0);
        let (only, a) = nodes.next()?;
        (*a == 1.0 && nodes.next().is_none() && self.stages[only].is_uncoupled()).then_some(only)
    }

    /// The first stage is there for the step of lower order alone: it is solved only where that is asked for.
    pub fn has_spare_stage(&self) -> bool {
        let taken = |stage: &Stage| {
            stage.nodes.first().is_some_and(|&a| a != 0.0)
                || stage.couplings.first().is_some_and(|&g| g != 0.0)
        };
        let counts = [&self.weights, &self.estimate].iter().any(|b| b.first().is_none_or(|&b| b != 0.0));
        !counts && !self.stages[1..].iter().any(taken)
    }

    /// The order that holds whatever A is.
    pub fn order_with_any_matrix(&self) -> u32 {
        if self.any_matrix { self.order } else { 1 }
    }

    /// Evaluations that the watch takes in a step: at its end, or at x and the last stage's time where the first stage has another one. (Methods that need a fresh A do without: there it finds nothing
    /// that could be mended.)
    pub fn watch_evaluations(&self, time_invariant: bool) -> u32 {
        let [first, last] = self.first_and_last_time();
        let other_time = self.any_matrix && !time_invariant && first != last;
        u32::from(self.watch == WatchPoint::End || other_time)
    }

    /// The last of these evaluations follows from the step before (see the integrator's `time_slope`): a step begins near the last stage of the one before, at a later time.
    pub fn time_slope_is_free(&self) -> bool {
        let [first, last] = self.first_and_last_time();
        // All others take the first one's evaluation, so that A k is known for each.
        let is_known =
            |stage: usize| self.stages[..=stage].iter().all(|s| s.is_at_start() && s.time == first);
        let known = (0..self.stages.len() - 1).all(is_known);
        self.any_matrix && self.watch == WatchPoint::LastStage && known && first != last && 1.0 + first > last
    }

    /// c of both.
    pub fn first_and_last_time(&self) -> [f64; 2] {
        [self.stages[0].time, self.stages[self.stages.len() - 1].time]
    }

    /// Solutions that the watch takes in a step.
    pub fn watch_solutions(&self) -> u32 {
        self.order_with_any_matrix()
    }

    /// A step beyond the plan's limit is drawn towards one of lower order, and its end is looked at: one evaluation more.
    pub fn is_limited(&self) -> bool {
        !self.low_weights.is_empty()
    }

    /// ∂f/∂t is needed, by a difference.
    pub fn needs_time_slope(&self, time_invariant: bool) -> bool {
        !time_invariant && self.stages.iter().any(|stage| stage.time_slope != 0.0)
    }

    /// Evaluations of f in one step, without those for the Jacobian and the watch.
    pub fn evaluations(&self, time_invariant: bool) -> u32 {
        let own = (0..self.stages.len()).filter(|&i| !self.shares_evaluation(i, time_invariant)).count();
        own as u32 + u32::from(self.needs_time_slope(time_invariant))
    }
}
