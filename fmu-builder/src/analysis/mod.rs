//! What a mask does to the dynamics: pure functions on Jacobians.
//!
//! One step with the matrix A = M∘J is, linearised, x+ = R x with R = R(hJ, hA) of the method (`method`). Of linearly
//! implicit Euler
//!
//! ```text
//! (I - hA) x+ = (I + h(J - A)) x,    R = (I - hA)^-1 (I + h(J - A))
//! ```
//!
//! Everything here asks how far the eigenvalues of R are from those of the unmasked
//! step, R(hλ), and from the unit circle. No model, no file, no clock: the same
//! matrices give the same answer.
//!
//! | file | question |
//! |---|---|
//! | `method` | the step map R and the stability function of a method |
//! | `mask` | which entries of J are kept in A |
//! | `dense` | eigenvalues, solves, norms of small matrices |
//! | `amplification` | R, its modes, and which states carry the worst one |
//! | `schur` | clusters of eigenvalues, their invariant subspaces |
//! | `criterion` | what dropping one entry does to a cluster, to first order |
//! | `acceptance` | may the masked spectrum stand for the exact one |
//! | `sparsing` | which entries can go |
//! | `drift` | what dropping entries costs that no eigenvalue shows |
//! | `greedy` | which rows can be explicit |
//! | `perturbation` | d1, d2 and their bound |
//! | `verdict` | is a plan stable: its method, mask and policy, at every length and sample |
//! | `step_advice` | which h |
//! | `delay`, `bridges` | where to cut a block in two, and whether iteration then converges |
//! | `large` | spectral radius without a dense matrix |
//!
//! Sources: Schiela, *Sparsing in Real Time Simulation* (TU München, 2002); *Extension of a sparsing approach*
//! ("Extension" below); Gustafsson, *Realtime simulations with inline integration and mixed mode
//! integration* (Lund, 2021). Where a printed formula is wrong,
//! the file that uses it says so.

#![cfg_attr(test, allow(clippy::unwrap_used))]

pub mod acceptance;
pub mod amplification;
pub mod bridges;
pub mod criterion;
pub mod delay;
pub mod dense;
pub mod drift;
pub mod greedy;
pub mod large;
pub mod mask;
pub mod method;
pub mod perturbation;
pub mod schur;
pub mod sparsing;
pub mod step_advice;
pub mod verdict;

pub use mask::Mask;

/// Why an analysis gave no answer.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Error {
    #[error("the matrix is {rows} x {cols}; a square one is needed")]
    NotSquare { rows: usize, cols: usize },
    #[error("{what} has size {found}, but {expected} is needed")]
    Size { what: &'static str, expected: usize, found: usize },
    #[error("entry ({row}, {col}) of the matrix is not a finite number")]
    NotFinite { row: usize, col: usize },
    #[error("the step size {0} is not a positive finite number")]
    BadStep(f64),
    #[error("I - hA is singular: no step of this size exists for this mask; change h or the mask")]
    Singular,
    #[error("the eigenvalue iteration did not converge")]
    NoConvergence,
    #[error("no sample Jacobian was given; at least one is needed")]
    NoSamples,
}

pub type Result<T> = std::result::Result<T, Error>;

/// Rounding slack on |μ| <= 1. A defective eigenvalue 1 (an integrator chain) comes out of
/// floating point as 1 ± sqrt(eps), and 1e-8 per step is e^0.01 in a million steps.
pub const SLACK: f64 = 1.5e-8;

/// h must be positive and finite.
pub(crate) fn check_step(h: f64) -> Result<()> {
    if h.is_finite() && h > 0.0 { Ok(()) } else { Err(Error::BadStep(h)) }
}
