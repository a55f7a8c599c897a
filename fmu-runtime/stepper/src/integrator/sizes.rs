//! The sizes that the watch measures the states by: the study's at most, and this run's where they are smaller.
//!
//! The study's are the largest |x| of all its runs, invented ones included. A plant that runs at a hundredth of that could miss a third of its
//! motion because of an old Jacobian, and the watch, which lets a third of a percent pass, would say nothing. So a state's size is ten times the largest |x| of this run so far, up to the study's
//! size; it follows a factor of two at a time. (Ten times: a run that begins at rest goes on, and need not have a new Jacobian in each of its first steps.) Below a millionth of the study's size it is rounding. Sizes depend on the run alone and are part of its state: a run that is
//! saved and restored goes on as it would have.

use serde::{Deserialize, Serialize};

/// A state's size in the run is this many times the largest |x| so far: a run that has just begun goes on.
const AHEAD: f64 = 10.0;
/// A state's size is at least this part of its size in the study.
const LEAST: f64 = 1e-6;

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Sizes {
    inverse: Vec<f64>,
    /// Beyond it a state's size grows; infinite where it is the study's.
    reach: Vec<f64>,
}

impl Sizes {
    pub fn new(studied: &[f64]) -> Sizes {
        Sizes {
            inverse: studied.iter().map(|size| 1.0 / (LEAST * size)).collect(),
            reach: studied.iter().map(|size| LEAST * size).collect(),
        }
    }

    #[inline]
    pub fn inverse(&self) -> &[f64] {
        &self.inverse
    }

    pub fn len(&self) -> [usize; 2] {
        [self.inverse.len(), self.reach.len()]
    }

    /// The run has come to x.
    #[inline]
    pub fn follow(&mut self, x: &[f64], studied: &[f64]) {
        let beyond = |(x, reach): (&f64, &f64)| x.abs() > *reach;
        if x.iter().zip(&self.reach).fold(false, |any, pair| any | beyond(pair)) {
            self.grow(x, studied);
        }
    }

    #[cold]
    fn grow(&mut self, x: &[f64], studied: &[f64]) {
        for (state, (x, studied)) in x.iter().zip(studied).enumerate().filter(|(_, (x, _))| x.is_finite()) {
            if x.abs() > self.reach[state] {
                let size = (AHEAD * x.abs()).min(*studied);
                self.inverse[state] = 1.0 / size;
                self.reach[state] = if size < *studied { 2.0 * x.abs() } else { f64::INFINITY };
            }
        }
    }
}
