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
//! costs a product. A's own error enters with (J - A)(x - x_last), a small part of the (J - A) δ that the watch looks for. Slopes of two steps are carried on to where
//! this step needs them. Where x and x_last are not close (a jump, a limited step), or nothing is known (after events, changed inputs and at the start), the
//! model is evaluated.

use super::Integrator;
use crate::model::Model;
use serde::{Deserialize, Serialize};

/// x must be this much nearer to the last stage of the step before than the step was long.
const CLOSE: f64 = 0.25;

/// The last stage of the step before, and the slope that was found then. Its vectors are empty where no step needs them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct LastStage {
    pub time: f64,
    pub x: Vec<f64>,
    pub f: Vec<f64>,
    pub known: bool,
    /// ∂f/∂t, and the time that it belongs to.
    pub slope: Vec<f64>,
    pub slope_time: f64,
    pub slope_known: bool,
}

impl LastStage {
    pub fn new(n: usize) -> LastStage {
        let vector = || vec![0.0; n];
        LastStage { x: vector(), f: vector(), slope: vector(), ..LastStage::default() }
    }

    /// The model is another one now: an event, new inputs.
    pub fn forget(&mut self) {
        (self.known, self.slope_known) = (false, false);
    }

    pub fn sizes(&self) -> [usize; 3] {
        [&self.x, &self.f, &self.slope].map(Vec::len)
    }
}

impl<M: Model> Integrator<M> {
    /// f at x and the last stage's time into `f_watch`, from f at x and the first stage's time in `f_start`. False if nothing is known that it would follow from.
    pub(super) fn carry_in_time(&mut self, h: f64) -> bool {
        let Integrator { live, work, tableau, solvers, .. } = self;
        let last = &live.last_stage;
        if !last.known || !tableau.tells_time() {
            return false;
        }
        let [first_time, last_time] = tableau.first_and_last_time().map(|share| live.time + share * h);
        let span = first_time - last.time;
        let (mut apart, mut moved) = (0.0, 0.0);
        let increments = live.d.iter().zip(&work.inverse_sizes);
        for (((s, x), x_last), (d, inverse)) in
            work.x_stage.iter_mut().zip(&live.x).zip(&last.x).zip(increments)
        {
            *s = x - x_last;
            apart = f64::max(apart, s.abs() * inverse);
            moved = f64::max(moved, d.abs() * inverse);
        }
        if apart > CLOSE * moved || span <= 0.0 {
            return false;
        }
        for ((slope, f), f_last) in work.f_time.iter_mut().zip(&work.f_start).zip(&last.f) {
            *slope = f - f_last;
        }
        for &(row, column, entry) in &solvers[live.solver].kept {
            work.f_time[row as usize] -= live.jacobian[entry as usize] * work.x_stage[column as usize];
        }
        let slope_time = 0.5 * (first_time + last.time);
        // On from the slope before, as far as steps of one length take it: half a step.
        let between = slope_time - last.slope_time;
        let ahead = 0.5 * (first_time + last_time) - slope_time;
        let on = if last.slope_known && ahead <= between { ahead / between } else { 0.0 };
        let length = last_time - first_time;
        let slopes = work.f_time.iter_mut().zip(&last.slope);
        for ((f_watch, f), (slope, before)) in work.f_watch.iter_mut().zip(&work.f_start).zip(slopes) {
            *slope /= span;
            *f_watch = f + length * (*slope + on * (*slope - before));
        }
        work.slope_time = slope_time;
        work.slope_known = true;
        true
    }

    /// The step of length `h` from `live.x` that was tried last is accepted: the next one will begin near its last stage.
    pub(super) fn keep_last_stage(&mut self, h: f64) {
        let Integrator { plan, live, work, tableau, .. } = self;
        let last = &mut live.last_stage;
        if !tableau.tells_time() || last.x.is_empty() || plan.watch.is_none() || work.euler_only {
            last.forget();
            return;
        }
        let [_, share] = tableau.first_and_last_time();
        last.time = live.time + share * h;
        last.x.copy_from_slice(&live.x);
        if let Some(stage) = tableau.stages.last() {
            for (a, k) in stage.nodes.iter().zip(&work.k).filter(|(a, _)| **a != 0.0) {
                last.x.iter_mut().zip(k).for_each(|(x, k)| *x += a * k);
            }
        }
        last.f.copy_from_slice(&work.f);
        last.known = true;
        last.slope_known = std::mem::take(&mut work.slope_known);
        if last.slope_known {
            last.slope_time = work.slope_time;
            std::mem::swap(&mut last.slope, &mut work.f_time);
        }
    }
}
