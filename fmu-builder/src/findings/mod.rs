//! What the worker processes are asked of a model and what they find: the data between `worker`, which runs foreign code, and
//! `decide`, which chooses by it. Neither knows the other.
//!
//! | file | idea |
//! |---|---|
//! | `studied` | structure, Jacobians along an accurate run, what the model cannot do |
//! | `deviation` | the error of a run: its deviation from the accurate solution, per quantity |
//! | `merge` | studies of several runs of one model, put together |
//! | `prices` | what the model's calls cost |
//! | `simulated` | a plan on one run |
//! | `computing` | what of its steps' time was computing |

mod computing;
pub mod deviation;
mod merge;
mod prices;
mod simulated;
mod studied;

pub use computing::{Computing, Took};
pub use prices::{CLEARLY_CHEAPER, Price, Prices};
pub use simulated::{Simulate, Simulated, quantiles};
pub use studied::{Declared, Sample, StructureFound, Studied, Study};
