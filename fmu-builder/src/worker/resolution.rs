//! How well the accurate run resolves what is compared: the outputs, or the states where there are none.
//!
//! The run controls the error of the states, relative to their size. An output can be a small difference of large states: the multiplier of a
//! stiff pendulum is the change of a length by 1e-6 of it, so that states with six right digits leave it none. Each basic step
//! ends with two results of neighbouring order; what the outputs differ between them is the outputs' error. The first run only measures it, in some
//! of its steps. Where it is coarse, a second run, which knows the outputs' ranges, is controlled by it.

use super::session::Session;
use crate::deviation::Ranges;
use fmu_runtime::status::Status;

/// One step in so many is measured: an evaluation and a reading of the outputs more.
const EVERY: u32 = 8;
/// An output is coarse if its error in one step exceeds this part of its range, in most of the steps that were measured.
const COARSE: f64 = 1e-4;
/// States are not resolved beyond this part of their size: rounding is near.
pub const FINEST: f64 = 1e-12;

pub struct Resolution {
    references: Vec<u32>,
    /// What each may be wrong by in one step, once its range is known.
    limits: Option<Vec<f64>>,
    outputs: Vec<Seen>,
    better: Vec<f64>,
    worse: Vec<f64>,
    steps: u32,
    measured: u32,
}

/// One output so far.
#[derive(Clone, Copy)]
struct Seen {
    low: f64,
    high: f64,
    coarse: u32,
}

impl Resolution {
    /// Without references the states are compared.
    pub fn new(references: &[u32], states: usize) -> Resolution {
        let count = if references.is_empty() { states } else { references.len() };
        Resolution {
            references: references.to_vec(),
            limits: None,
            outputs: vec![Seen { low: f64::INFINITY, high: f64::NEG_INFINITY, coarse: 0 }; count],
            better: vec![0.0; count],
            worse: vec![0.0; count],
            steps: 0,
            measured: 0,
        }
    }

    /// From now on each output may be wrong by `tolerance` of its range; what stands still is not looked at.
    pub fn control(&mut self, ranges: &Ranges, tolerance: f64) {
        let limit = |range: Option<f64>| range.map_or(f64::INFINITY, |range| tolerance * range);
        self.limits = Some(ranges.moving().map(limit).collect());
    }

    /// The largest error of an output relative to what it may be, where it is controlled.
    pub fn error(
        &mut self,
        session: &mut Session,
        time: f64,
        before: bool,
        better: &[f64],
        worse: &[f64],
    ) -> f64 {
        if self.limits.is_none() || !self.read_both(session, time, before, better, worse) {
            return 0.0;
        }
        let pairs = self.better.iter().zip(&self.worse).zip(self.limits.iter().flatten());
        pairs.map(|((better, worse), limit)| (better - worse).abs() / limit).fold(0.0, f64::max)
    }

    /// A step was accepted with these two results.
    pub fn measure(&mut self, session: &mut Session, time: f64, before: bool, better: &[f64], worse: &[f64]) {
        self.steps += 1;
        let due = self.limits.is_none() && self.steps % EVERY == 1;
        if !due || !self.read_both(session, time, before, better, worse) {
            return;
        }
        self.measured += 1;
        for ((seen, &better), &worse) in self.outputs.iter_mut().zip(&self.better).zip(&self.worse) {
            seen.low = seen.low.min(better);
            seen.high = seen.high.max(better);
            let (range, size) = (seen.high - seen.low, seen.low.abs().max(seen.high.abs()));
            let moves = range > 1e-9 * size;
            seen.coarse += u32::from(moves && (better - worse).abs() > COARSE * range);
        }
    }

    /// The first output whose errors are too large for its range; not one that moves by no more than the rounding of its terms.
    pub fn coarse(&self, terms: &[f64]) -> Option<usize> {
        let moves = |(seen, terms): (&Seen, &f64)| {
            2 * seen.coarse > self.measured && seen.high - seen.low > 1e-9 * terms
        };
        self.outputs.iter().zip(terms).position(moves)
    }

    /// The outputs at both results. False if the model does not tell them.
    fn read_both(
        &mut self,
        session: &mut Session,
        time: f64,
        before: bool,
        better: &[f64],
        worse: &[f64],
    ) -> bool {
        let Resolution { references, better: y_better, worse: y_worse, .. } = self;
        let mut read = |x: &[f64], y: &mut [f64]| {
            if references.is_empty() {
                y.copy_from_slice(x);
                return Status::Ok;
            }
            // Some tools answer with values of their last evaluation.
            let mut f = vec![0.0; x.len()];
            let status = session.derivatives(time, x, before, &mut f);
            if status.is_usable() { session.inner.get_real(references, y) } else { status }
        };
        [read(worse, y_worse), read(better, y_better)].iter().all(|status| status.is_usable())
    }
}
