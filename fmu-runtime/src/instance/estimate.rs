//! What the FMU says of its own error: outputs compared with those of its twin at each communication point.

use super::twin::Twin;
use crate::component::Component;
use crate::integrator::Integrator;
use crate::measure::Measure;
use crate::plan::Accuracy;
use crate::value::ValuesMut;
use std::ffi::{CStr, CString};

pub(super) struct Estimate {
    pub accuracy: Accuracy,
    pub measure: Measure,
    names: Vec<CString>,
    /// The values at a point: the FMU's and the other's.
    values: [Vec<f64>; 2],
    integers: [Vec<i32>; 2],
    booleans: [Vec<bool>; 2],
    /// The importer was told that the error is beyond the tolerance. No part of a saved state.
    told: bool,
}

/// The error has passed the tolerance, said once.
pub(super) struct Beyond {
    pub error: f64,
    pub peak: f64,
    pub output: usize,
    /// Most of it are jumps that come early or late.
    pub late: bool,
    /// The share of the points at which a discrete output differed, if that is beyond the tolerance.
    pub discrete: Option<f64>,
}

impl Estimate {
    pub fn new(accuracy: &Accuracy) -> Estimate {
        let pair = |count: usize| [vec![0.0; count], vec![0.0; count]];
        let twice = |count: usize| [vec![0; count], vec![0; count]];
        let (reals, integers, booleans) =
            (accuracy.names.len(), accuracy.integers.len(), accuracy.booleans.len());
        let text = |name: &String| CString::new(name.replace('\0', "")).unwrap_or_default();
        Estimate {
            measure: Measure::new(accuracy),
            names: accuracy.names.iter().map(text).collect(),
            values: pair(reals),
            integers: twice(integers),
            booleans: [vec![false; booleans], vec![false; booleans]],
            told: false,
            accuracy: accuracy.clone(),
        }
    }

    /// A new simulation.
    pub fn forget(&mut self) {
        self.measure = Measure::new(&self.accuracy);
        self.told = false;
    }

    /// The output with the largest error; empty while there is none.
    pub fn worst_output(&self) -> &CStr {
        self.measure.worst().and_then(|worst| self.names.get(worst)).map_or(c"", CString::as_c_str)
    }

    /// A communication point: what the steps' own estimates add up to.
    pub fn note_carried<C: Component>(&mut self, fmu: &Integrator<C>) -> Option<Beyond> {
        let Estimate { accuracy, measure, values: [values, others], .. } = self;
        values.copy_from_slice(&fmu.live.x);
        for ((other, x), error) in others.iter_mut().zip(values.iter()).zip(&fmu.live.carried) {
            *other = x - error;
        }
        let beyond = measure.note(accuracy, values, others);
        self.tell(beyond)
    }

    /// A communication point of both: compare. What is beyond the tolerance is given once.
    pub fn compare<C: Component>(&mut self, fmu: &mut Integrator<C>, twin: &mut Twin<C>) -> Option<Beyond> {
        let other = &mut twin.integrator;
        let Estimate { accuracy, values: [values, others], .. } = self;
        if !(read(accuracy, fmu, values) && read(accuracy, other, others)) {
            return None; // nothing to compare at this point
        }
        self.compare_discrete(&mut fmu.model, &mut other.model);
        let Estimate { accuracy, measure, values: [values, others], .. } = self;
        let beyond = measure.note(accuracy, values, others);
        self.tell(beyond)
    }

    fn tell(&mut self, beyond: bool) -> Option<Beyond> {
        (beyond && !std::mem::replace(&mut self.told, true)).then(|| {
            let measure = &self.measure;
            Beyond {
                error: measure.error(),
                peak: measure.peak(),
                output: measure.worst().unwrap_or(0),
                late: measure.but_for_lateness() < 0.5 * measure.error(),
                discrete: measure.apart().then(|| measure.differing()),
            }
        })
    }

    fn compare_discrete<C: Component>(&mut self, fmu: &mut C, twin: &mut C) {
        let Estimate { accuracy, measure, integers: [i, i_twin], booleans: [b, b_twin], .. } = self;
        let Accuracy { integers, booleans, strings, .. } = accuracy;
        if !integers.is_empty()
            && fmu.get(integers, ValuesMut::Integer(i)).is_usable()
            && twin.get(integers, ValuesMut::Integer(i_twin)).is_usable()
        {
            let pairs = i.iter().zip(i_twin.iter()).enumerate();
            pairs.filter(|(_, (a, b))| a != b).for_each(|(at, _)| measure.note_difference(at));
        }
        if !booleans.is_empty()
            && fmu.get(booleans, ValuesMut::Boolean(b)).is_usable()
            && twin.get(booleans, ValuesMut::Boolean(b_twin)).is_usable()
        {
            let pairs = b.iter().zip(b_twin.iter()).enumerate();
            pairs
                .filter(|(_, (a, b))| a != b)
                .for_each(|(at, _)| measure.note_difference(integers.len() + at));
        }
        for (at, &reference) in strings.iter().enumerate() {
            if fmu.text_digest(reference) != twin.text_digest(reference) {
                measure.note_difference(integers.len() + booleans.len() + at);
            }
        }
    }
}

/// What is compared, where the model stands.
fn read<C: Component>(accuracy: &Accuracy, of: &mut Integrator<C>, values: &mut [f64]) -> bool {
    if accuracy.outputs.is_empty() {
        values.copy_from_slice(&of.live.x);
        return true;
    }
    of.model.get_real(&accuracy.outputs, values).is_usable()
}
