//! What a model is: its equations, and nothing about FMI's call order.
//!
//! All values live in [`Values`], indexed by value reference, so an instance's whole state is one
//! plain piece of data: it can be copied, compared and serialized without the model's help. Reals
//! are laid out for the hot calls: 0 is time, 1..=n are the states, n+1..=2n their derivatives,
//! then everything else in the order of the model description.

use crate::dual::Dual;

/// The values of one instance; the index is the value reference.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Values {
    pub real: Vec<f64>,
    /// Integers and enumerations, which share the same functions in FMI.
    pub integer: Vec<i32>,
    pub boolean: Vec<bool>,
    pub string: Vec<String>,
}

impl Values {
    pub fn time(&self) -> f64 {
        self.real[0]
    }
}

/// What one pass of the event iteration found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Event {
    /// Another pass is needed.
    pub again: bool,
    /// Continuous states were reset.
    pub states_changed: bool,
    pub next_time: Option<f64>,
}

/// Deliberate faults and instruments, acted out at the C interface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Oddity {
    None,
    /// Counts calls in its integers.
    Counts,
    /// Prints a line on every call.
    Prints,
    /// Evaluates only where time, states or inputs have changed: asked again, it answers at once.
    Remembers,
    /// Holds its importer to FMI's state machine.
    Strict,
    /// Breaks during the simulation.
    Broken(crate::models::broken::Fault),
    /// fmi2Instantiate returns NULL.
    RefusesToStart,
    /// Writes through a null pointer in fmi2EnterInitializationMode.
    Crashes,
    /// Never returns from fmi2EnterInitializationMode.
    Hangs,
    /// fmi2GetDerivatives writes one value more than it was asked for.
    WritesBeyond,
}

pub trait Model {
    fn states(&self) -> usize;

    fn indicators(&self) -> usize {
        0
    }

    /// The names of the Reals in order of their value references, for checking against the XML;
    /// empty where the description is generated.
    fn reals(&self) -> &'static [&'static str] {
        &[]
    }

    /// Initial states and calculated parameters from parameters and inputs. Repeatable: called
    /// whenever a value is read during initialization.
    fn initialize(&self, _: &mut Values) -> Result<(), &'static str> {
        Ok(())
    }

    /// Derivatives and continuous outputs from time, states, inputs, parameters and discrete
    /// values.
    fn evaluate(&self, v: &mut Values);

    /// The same on dual numbers; `false` if the model provides no directional derivatives.
    fn evaluate_dual(&self, _: &mut [Dual]) -> bool {
        false
    }

    fn event_indicators(&self, _: &Values, _: &mut [f64]) {}

    /// One pass of the event iteration.
    fn event(&self, _: &mut Values) -> Event {
        Event::default()
    }

    fn oddity(&self) -> Oddity {
        Oddity::None
    }
}

/// Both evaluations of [`Model`] from one generic method `equations<T: Num>(&self, &mut [T])`.
macro_rules! differentiable {
    () => {
        fn evaluate(&self, v: &mut $crate::model::Values) {
            self.equations(&mut v.real);
        }
        fn evaluate_dual(&self, v: &mut [$crate::dual::Dual]) -> bool {
            self.equations(v);
            true
        }
    };
}
pub(crate) use differentiable;
