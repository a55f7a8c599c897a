//! What was asked for and no plan can do is refused before plans are made: every step evaluates the model once at least.

use super::problem::Problem;
use crate::error::Error;
use crate::options::{Budget, Options};
use crate::quantity::{format_duration, round_up};

/// Evaluations of the model in a communication step that the cheapest plans take, outputs included.
const FEW: f64 = 2.0;

/// A model whose evaluation takes longer than the step, or longer than the budget, that was asked for.
pub fn refuse_hopeless(problem: &Problem, options: &Options) -> Result<(), Error> {
    let measured = problem.studied.prices.evaluation();
    let evaluation = options.evaluation_time.unwrap_or(measured);
    if problem.n == 0 || evaluation <= 0.0 {
        return Ok(());
    }
    let substeps = f64::from(problem.discretisation.substeps);
    let step = substeps * problem.discretisation.h;
    let least = substeps * evaluation;
    let each = match problem.discretisation.substeps {
        1 => format!("one evaluation of the model takes {}", format_duration(evaluation)),
        m => format!(
            "{m} internal steps take {m} evaluations of the model at least, {}",
            format_duration(least)
        ),
    };
    let here = if options.evaluation_time.is_some() { "" } else { " here" };
    let faster =
        if options.evaluation_time.is_some() { "" } else { "; for a faster target say --evaluation-time" };
    let refuse = |why: String| Err(Error::Request(why));
    // A step that nobody asked for is the FMU's own: it is built all the same, and told not to be in time.
    if least > step && options.step.is_some() {
        return refuse(format!(
            "{each}{here}, longer than the communication step of {}: no plan can keep that. A --step of {} would do, with the \
             cheapest plan{faster}",
            format_duration(step),
            format_duration(round_up(FEW * least))
        ));
    }
    match options.budget {
        Some(Budget::Evaluations(most)) if most < substeps => refuse(format!(
            "no stable plan fits the budget of {most} evaluations: a communication step takes {substeps} at least, and most plans \
             {}; allow more with --budget",
            FEW * substeps
        )),
        Some(Budget::Time(most)) if most < least => refuse(format!(
            "no stable plan fits the budget of {}: {each}{here}. Allow --budget {:.0}us or more{faster}",
            format_duration(most),
            (1e6 * FEW * least).ceil()
        )),
        Some(Budget::Share(share)) if share * step < least => refuse(format!(
            "no stable plan fits the budget of {} ({} % of the step): {each}{here}. Allow more, or take a --step of {} or more{faster}",
            format_duration(share * step),
            100.0 * share,
            format_duration(round_up(FEW * least / share))
        )),
        _ => Ok(()),
    }
}
