//! ∂f/∂t for the watch, without an evaluation.
//!
//! The watch compares f in the last stage with f at x, and what time changes between the two is not A's fault. Where stages have different times the model would have to
//! be evaluated at x once more. But a step of `ros2` begins almost where the last stage of the step before was: that one lay at x_last, from which x differs by the embedded estimate only, at an
//! earlier time. So
//!
//! ```text
//! f_t ≈ (f(t + c₁h, x) - f_last - A (x - x_last)) / (t + c₁h - t_last)
//! ```
//!
//! costs no evaluation, and no product either: x - x_last is a sum of k, and A k = (k - y) / (γh) for a stage that solved (I - γhA) k = y. A's own error enters with (J - A)(x - x_last), a small part
//! of the (J - A) δ that the watch looks for. Slopes of two steps are carried on to where this step needs them. Where x and x_last are not close (a jump, a limited step), or nothing is known (after
//! events, changed inputs and at the start), the model is evaluated.

use super::advance::Tried;
use super::{Integrator, Workspace};
use crate::method::Tableau;
use crate::model::Model;
use serde::{Deserialize, Serialize};

/// x must be this much nearer to the last stage of the step before than the step was long.
const CLOSE: f64 = 0.25;

/// What the last stage of the step before tells of f, and the slope that was found then. The vectors are empty where no step needs them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct LastStage {
    /// f at that stage's time, carried to where its step ended: f_last + A (x - x_last).
    f: Vec<f64>,
    /// Nothing: f is not known.
    time: Option<f64>,
    /// ∂f/∂t, and the time that it belongs to. Nothing: it is not known.
    slope: Vec<f64>,
    slope_time: Option<f64>,
}

impl LastStage {
    pub fn new(n: usize) -> LastStage {
        LastStage { f: vec![0.0; n], slope: vec![0.0; n], ..LastStage::default() }
    }

    /// The model is another one now: an event, new inputs.
    pub fn forget(&mut self) {
        (self.time, self.slope_time) = (None, None);
    }

    pub fn sizes(&self) -> [usize; 2] {
        [self.f.len(), self.slope.len()]
    }
}

impl<M: Model> Integrator<M> {
    /// f at x and the last stage's time into `f_watch`, from f at x and the first stage's time in `f_start`, and ∂f/∂t into
    /// `f_time`: the time that it belongs to. Nothing if nothing is known that it would follow from.
    pub(super) fn carry_in_time(&mut self, h: f64) -> Option<f64> {
        let Integrator { fixed, live, work, .. } = self;
        let last = &live.last_stage;
        let known_time = last.time?;
        let [first_time, last_time] = fixed.tableau.first_and_last_time().map(|share| live.time + share * h);
        let span = first_time - known_time;
        if span <= 0.0 {
            return None;
        }
        let slope_time = 0.5 * (first_time + known_time);
        // On from the slope before, as far as steps of one length take it: half a step.
        let ahead = 0.5 * (first_time + last_time) - slope_time;
        let between = last.slope_time.map(|before| slope_time - before);
        let on = between.filter(|&between| ahead <= between).map_or(0.0, |between| ahead / between);
        let (per_span, length) = (1.0 / span, last_time - first_time);
        let known = work.f_start.iter().zip(&last.f).zip(&last.slope);
        let found = work.f_watch.iter_mut().zip(work.f_time.iter_mut());
        for ((f_watch, slope), ((f, f_last), before)) in found.zip(known) {
            *slope = (f - f_last) * per_span;
            *f_watch = f + length * (*slope + on * (*slope - before));
        }
        Some(slope_time)
    }

    /// The step is accepted: the next one will begin near its last stage.
    pub(super) fn keep_last_stage(&mut self, tried: &Tried) {
        let time_invariant = self.is_time_invariant();
        let Integrator { fixed, live, work, .. } = self;
        let last = &mut live.last_stage;
        let carries = !last.f.is_empty() && !time_invariant;
        let Some(end_of_step) = fixed.end_of_step.as_ref().filter(|_| carries) else { return };
        last.slope_time = tried.slope_time;
        if last.slope_time.is_some() {
            std::mem::swap(&mut last.slope, &mut work.f_time);
        }
        let whole = !tried.euler_only && tried.high == 1.0;
        let known = whole && end_of_step.carry(work, &fixed.inverse_sizes, tried.h, &mut last.f);
        let [_, share] = fixed.tableau.first_and_last_time();
        last.time = known.then_some(live.time + share * tried.h);
    }
}

/// f_last + A (x - x_last) as a sum of f_last, f_start and the k of a step that no limiter drew: x - x_last = Σ s_j k_j, A k_j = (k_j - y_j) / (γ_j h) and
/// y_j = σ_j h f_j + Σ g_ji k_i.
#[derive(Clone, Debug)]
pub(super) struct EndOfStep {
    of_last: f64,
    of_start: f64,
    /// For each k: h times its share in that sum, and s_j.
    of_k: Vec<[f64; 2]>,
}

impl EndOfStep {
    /// For methods that tell time; nothing comes of the others.
    pub fn new(tableau: &Tableau) -> Option<EndOfStep> {
        let (last, _) = tableau.stages.split_last().filter(|_| tableau.time_slope_is_free())?;
        let share = |j: usize| tableau.weights[j] - last.nodes.get(j).unwrap_or(&0.0);
        let of_f = |j: usize| -share(j) * tableau.stages[j].scale / tableau.gamma(j);
        let end = tableau.stages.len() - 1;
        let of_k = |i: usize| {
            let coupling = |j: usize| tableau.stages[j].couplings.get(i).unwrap_or(&0.0);
            let of_others = (i..=end).map(|j| share(j) * coupling(j) / tableau.gamma(j)).sum::<f64>();
            [share(i) / tableau.gamma(i) - of_others, share(i)]
        };
        Some(EndOfStep {
            of_last: 1.0 + of_f(end),
            of_start: (0..end).map(of_f).sum(),
            of_k: (0..=end).map(of_k).collect(),
        })
    }

    /// After a step of length `h`, into `carried`; false if x and x_last are too far apart for it to mean anything.
    fn carry(&self, work: &mut Workspace, inverse_sizes: &[f64], h: f64, carried: &mut [f64]) -> bool {
        for ((carried, f_last), f_start) in carried.iter_mut().zip(&work.f.f).zip(&work.f_start) {
            *carried = self.of_last * f_last + self.of_start * f_start;
        }
        work.x_stage.fill(0.0);
        for (k, &[of_k, share]) in work.k.iter().zip(&self.of_k).filter(|(_, of_k)| **of_k != [0.0; 2]) {
            let of_k = of_k / h;
            for ((carried, s), k) in carried.iter_mut().zip(&mut work.x_stage).zip(k) {
                *carried += of_k * k;
                *s += share * k;
            }
        }
        let largest = |v: &[f64]| {
            let scaled = v.iter().zip(inverse_sizes).map(|(v, inverse)| v.abs() * inverse);
            scaled.fold(0.0, f64::max)
        };
        largest(&work.x_stage) <= CLOSE * largest(&work.d)
    }
}
