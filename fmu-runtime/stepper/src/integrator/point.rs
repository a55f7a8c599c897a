//! Where something was evaluated: points have names, and an evaluation carries the name of its point. Whether it is the
//! one that is wanted is a comparison of two names, not of vectors.

use serde::{Deserialize, Serialize};

/// The name of states that were reached, with the time and the discrete state there; and of the inputs that were set.
/// Two points with one name are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Point {
    pub states: u64,
    pub inputs: u64,
}

/// f, with the point that it belongs to; with none, it belongs to no point that anybody will ask for.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Evaluated {
    at: Option<Point>,
    pub f: Vec<f64>,
}

impl Evaluated {
    pub fn new(f: Vec<f64>) -> Evaluated {
        Evaluated { at: None, f }
    }

    /// It is f at this point.
    #[inline]
    pub fn is_at(&self, point: Point) -> bool {
        self.at == Some(point)
    }

    /// The vector, to be evaluated into: from now on it belongs to this point.
    #[inline]
    pub fn at(&mut self, point: Option<Point>) -> &mut [f64] {
        self.at = point;
        &mut self.f
    }
}

/// What the model was given last, as far as it is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    /// Not a number where it is not known.
    pub time: f64,
    /// The name of its states.
    pub states: Option<u64>,
}

impl Held {
    pub const NOTHING: Held = Held { time: f64::NAN, states: None };
}
