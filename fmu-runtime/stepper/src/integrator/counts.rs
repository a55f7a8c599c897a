//! What a communication step took, counted where it is done: cost and bound need no formula of their own.

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Evaluations of the model for the stages of attempts, ∂f/∂t included where the method needs it.
    pub stages: u64,
    /// Evaluations or directional derivatives for the Jacobian, by the plan's own matrix and by its fallback. A difference
    /// that the model refuses at the edge of its domain and that is taken the other way counts once.
    pub colours: [u64; 2],
    /// Times that all entries of the Jacobian were found anew, by solver.
    pub setups: [u64; 2],
    /// Evaluations at x and the last stage's time, for the watch.
    pub watch: u64,
    /// Evaluations where a step ends: for the watch, the next step, outputs, or to see whether it can be evaluated there.
    pub ends: u64,
    /// Readings of the event indicators.
    pub indicators: u64,
    /// Times that the model was taken through Event Mode, whether it then asked for something or not.
    pub events: u64,
    /// Steps and parts of steps that were tried.
    pub attempts: u64,
    /// Solutions, by solver.
    pub solutions: [u64; 2],
    /// Factorisations of I - γ h A, by solver; and of these the ones that balanced the dense cores anew.
    pub factorisations: [u64; 2],
    pub balances: [u64; 2],
}

impl Counts {
    /// Evaluations of the model, directional derivatives included.
    pub fn evaluations(&self) -> u64 {
        self.stages + self.colours[0] + self.colours[1] + self.watch + self.ends
    }
}
