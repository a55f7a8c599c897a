//! What the dependency graph alone decides: the order of solution, the tears, the colours.
//!
//! | file | idea |
//! |---|---|
//! | `pattern` | which derivative depends on which state, and whether the slope is constant |
//! | `blt` | strong components, block lower triangular form |
//! | `eliminate` | inside a block: the cheapest order of elimination, its fill, the tears |
//! | `colour` | columns that one evaluation serves together |
//! | `assemble` | all of it as the plan's `Jacobian` and `Elimination` |
//! | `loops` | the state that, made explicit, breaks most of the largest block |
//! | `typical` | patterns that models typically have |
//! | `draw` | the incidence matrix before and after, as SVG and as text |

pub mod assemble;
pub mod blt;
pub mod colour;
pub mod draw;
pub mod eliminate;
pub mod loops;
pub mod pattern;
pub mod typical;

pub use assemble::plan_parts;
pub use colour::colour;
pub use eliminate::eliminate;
pub use pattern::{Pattern, Variation};

#[cfg(test)]
mod tests;
