//! Figures, examples and claims of the documents that the formulas come from, reproduced. The product uses none of this code.
#![allow(clippy::unwrap_used)]

/// Cellier and Kofman, *Continuous System Simulation*: blended and cyclic methods.
mod cellier;
/// Gustafsson's graphs of equations and unknowns: loops, tearing, delays of information.
mod equations;
/// *Extension of a sparsing approach*, Theorem 4: how far a mask moves the spectrum.
mod perturbation;
/// The pipe of *Extension of a sparsing approach*, section 4.
mod pipe;

use faer::Mat;
use fmu_builder::method::Step;
use fmu_runtime::plan::Method;

/// Rows to matrix.
fn mat(rows: &[&[f64]]) -> Mat<f64> {
    Mat::from_fn(rows.len(), rows.first().map_or(0, |row| row.len()), |i, j| rows[i][j])
}

/// Linearly implicit Euler, the method of Schiela and Gustafsson.
fn lie(h: f64) -> Step {
    Step::new(Method::Lie, h)
}
