//! How large states and outputs may get on invented runs before these have left what the model is made for.
//!
//! Nobody says where an input without a range lies, and a guess of 1 may be a million times too much: a pump that feeds 1 m³/s into a volume of oil makes 1e13 Pa. What is known is how large states
//! and outputs are: declared, or seen on the runs that were given. Invented runs that leave that far behind get a smaller range, and do not say how large a state is.

use crate::findings::Studied;
use crate::interface::{Interface, believable};
use crate::source::Source;

/// A state or output may get this many times larger than its nominal value, its bounds, or than it was seen where those are declared.
const DECLARED: f64 = 10.0;
/// The same where only the given runs tell.
const SEEN: f64 = 1000.0;

/// The largest sensible size of each state and each compared output; infinite where nothing is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Sense {
    states: Vec<f64>,
    outputs: Vec<f64>,
}

impl Sense {
    /// From the description and what the given runs showed.
    pub fn new(source: &Source, interface: &Interface, given: &Studied) -> Sense {
        let variables = &source.description.variables;
        let find = |name: &str| variables.iter().find(|it| it.name == name);
        let bounds = |name: &str| {
            let variable = find(name)?;
            let (low, high) = (variable.min?, variable.max?);
            Some(low.abs().max(high.abs())).filter(|bound| *bound < 1e30 && *bound > 0.0)
        };
        let most = |name: &str, nominal: Option<f64>, seen: f64| {
            let nominal = nominal.map(f64::abs).filter(|&nominal| nominal > 0.0 && believable(nominal, seen));
            let declared = nominal.into_iter().chain(bounds(name)).reduce(f64::max);
            match declared {
                Some(declared) => DECLARED * declared.max(seen),
                None if seen > 0.0 => SEEN * seen,
                None => f64::INFINITY,
            }
        };
        let seen = |state: usize| given.magnitudes.get(state).copied().unwrap_or(0.0);
        let states = interface.state_names.iter().zip(&interface.nominals).enumerate();
        let read = |output: usize| {
            given
                .trajectory
                .iter()
                .filter_map(|row| row.get(output))
                .fold(0.0, |most: f64, value| most.max(value.abs()))
        };
        let outputs = interface.output_names.iter().enumerate();
        Sense {
            states: states.map(|(i, (name, nominal))| most(name, *nominal, seen(i))).collect(),
            outputs: outputs
                // What an output did on the given runs says less of it than of a state: it may be a difference that was zero.
                .map(|(i, name)| {
                    match find(name).and_then(|it| it.nominal).is_some() || bounds(name).is_some() {
                        true => most(name, find(name).and_then(|it| it.nominal), read(i)),
                        false => f64::INFINITY,
                    }
                })
                .collect(),
        }
    }

    /// A run stayed within.
    pub fn holds(&self, run: &Studied) -> bool {
        let states = run.magnitudes.iter().zip(&self.states).all(|(size, most)| size <= most);
        let outputs =
            |row: &Vec<f64>| row.iter().zip(&self.outputs).all(|(value, most)| value.abs() <= *most);
        states && (self.outputs.is_empty() || run.trajectory.iter().all(outputs))
    }

    /// Leave out what an invented run says of sizes and slopes far beyond; its entries of the Jacobian stay.
    pub fn limit(&self, run: &mut Studied) {
        let within = |x: &[f64]| x.iter().zip(&self.states).all(|(x, most)| x.abs() <= *most);
        // One is kept, so that the structure has values.
        let mut samples = std::mem::take(&mut run.samples);
        let first = samples.first().cloned();
        samples.retain(|sample| within(&sample.x));
        if samples.is_empty() {
            samples.extend(first);
        }
        run.samples = samples;
        run.beside.retain(|sample| within(&sample.x));
        for (size, most) in run.magnitudes.iter_mut().zip(&self.states) {
            *size = size.min(*most);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::findings::Sample;

    /// A pressure of nominal 1e5 Pa that an invented run drives to 7.6e13 Pa: its size stays sensible, and the slopes there do not count.
    #[test]
    fn an_unbounded_input_does_not_say_how_large_a_state_is() {
        let sense = Sense { states: vec![1e6, f64::INFINITY], outputs: Vec::new() };
        let sample =
            |x: f64| Sample { time: 0.0, x: vec![x, 5.0], derivatives: vec![], jacobian: vec![], regime: 0 };
        let mut run = Studied {
            magnitudes: vec![7.6e13, 5.0],
            samples: vec![sample(1e5), sample(7.6e13)],
            ..Studied::default()
        };
        assert!(!sense.holds(&run));
        sense.limit(&mut run);
        assert_eq!(run.magnitudes, [1e6, 5.0]);
        assert_eq!(run.samples.len(), 1);
        assert!(sense.holds(&run));
    }
}
