//! What the dependency graph alone decides: the order of solution, the tears, the colours.
//!
//! | file | idea |
//! |---|---|
//! | `pattern` | which derivative depends on which state, and whether the slope is constant |
//! | `blt` | strong components, block lower triangular form |
//! | `eliminate` | inside a block: the cheapest order of elimination, its fill, the tears |
//! | `minimum_degree` | the order in which the cheapest state goes next |
//! | `colour` | columns that one evaluation serves together |
//! | `plan_parts` | all of it as the plan's `Jacobian` and `Elimination` |
//! | `loops` | the state that, made explicit, breaks most of the largest block |
//! | `typical` | patterns that models typically have |
//! | `draw` | the incidence matrix before and after, as SVG and as text |

pub mod blt;
pub mod colour;
pub mod draw;
pub mod eliminate;
pub mod loops;
mod minimum_degree;
pub mod pattern;
mod plan_parts;
pub mod typical;

pub use colour::colour;
pub use eliminate::eliminate;
pub use pattern::{Pattern, Variation};
pub use plan_parts::plan_parts;

#[cfg(test)]
mod tests;
