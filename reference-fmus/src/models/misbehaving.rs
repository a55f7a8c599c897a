//! Models that go wrong on purpose, one fault each, for testing refusals and limits.
//!
//! [`Decay`] with an [`Oddity`] or a failing initialization, x' = -k x otherwise; [`Nan`]; [`Pair`], the
//! linear x' = y - x, y' = k (x - y), whose description or directional derivative lies, or takes far longer
//! to evaluate than to differentiate; [`Chatter`]; [`Diverging`]; [`NanOutput`]; [`Branching`].

use crate::dual::{Dual, Num};
use crate::model::{Event, Model, Oddity, Values};

/// x' = -k x behind a fault.
pub struct Decay {
    pub oddity: Oddity,
    pub initial_equations_solvable: bool,
}

impl Model for Decay {
    fn states(&self) -> usize {
        1
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "x", "der(x)", "k"]
    }

    fn initialize(&self, _: &mut Values) -> Result<(), &'static str> {
        match self.initial_equations_solvable {
            true => Ok(()),
            false => Err("initial equations have no solution"),
        }
    }

    fn evaluate(&self, v: &mut Values) {
        let [_, x, dx, k] = &mut v.real[..] else { return };
        *dx = -*k * *x;
    }

    fn oddity(&self) -> Oddity {
        self.oddity
    }
}

/// Its derivative is not a number.
pub struct Nan;

impl Model for Nan {
    fn states(&self) -> usize {
        1
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "x", "der(x)", "k"]
    }

    fn evaluate(&self, v: &mut Values) {
        v.real[2] = f64::NAN;
    }
}

/// x' = y - x, y' = k (x - y).
pub struct Pair {
    pub fault: PairFault,
}

#[derive(Clone, Copy, PartialEq)]
pub enum PairFault {
    /// Twice the true ∂y'/∂y in the directional derivative.
    WrongSlope,
    /// No directional derivatives, and the description hides ∂y'/∂x.
    WrongStructure,
    /// An evaluation takes some microseconds, a directional derivative does not: as where an evaluation
    /// iterates, and the derivative of its solution follows from one linear equation.
    SlowEvaluation,
}

impl Pair {
    fn equations<T: Num>(&self, v: &mut [T]) {
        let [_, x, y, dx, dy, k] = v else { return };
        *dx = *y - *x;
        *dy = *k * (*x - *y);
    }
}

impl Model for Pair {
    fn states(&self) -> usize {
        2
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "x", "y", "der(x)", "der(y)", "k"]
    }

    fn evaluate(&self, v: &mut Values) {
        if self.fault == PairFault::SlowEvaluation {
            let iterated = (0..2000).fold(v.real[1], |value, _| std::hint::black_box(0.5 * (value + 1.0)));
            std::hint::black_box(iterated);
        }
        self.equations(&mut v.real);
    }

    fn evaluate_dual(&self, v: &mut [Dual]) -> bool {
        self.equations(v);
        if let ([_, _, y, _, dy, k], PairFault::WrongSlope) = (v, self.fault) {
            dy.derivative -= k.value * y.derivative;
        }
        self.fault != PairFault::WrongStructure
    }
}

/// A relay without hysteresis: x' = -rate sign(x) - drag x, sign taken at the last event. Once at zero every
/// integrator step fires another event; the Filippov solution stays at zero. It counts calls as `Counting`
/// does.
pub struct Chatter;

impl Model for Chatter {
    fn states(&self) -> usize {
        1
    }

    fn indicators(&self) -> usize {
        1
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "x", "der(x)", "rate", "drag"]
    }

    fn evaluate(&self, v: &mut Values) {
        let [_, x, dx, rate, drag] = &mut v.real[..] else { return };
        *dx = if v.boolean[0] { -*rate } else { *rate } - *drag * *x;
    }

    fn event_indicators(&self, v: &Values, z: &mut [f64]) {
        z[0] = v.real[1];
    }

    fn event(&self, v: &mut Values) -> Event {
        v.boolean[0] = v.real[1] > 0.0;
        Event::default()
    }

    fn oddity(&self) -> Oddity {
        Oddity::Counts
    }
}

/// x' = a x²: exact x = x0/(1 - a x0 t), gone at t = 1/(a x0).
pub struct Diverging;

impl Model for Diverging {
    fn states(&self) -> usize {
        1
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "x", "der(x)", "a"]
    }

    fn evaluate(&self, v: &mut Values) {
        let [_, x, dx, a] = &mut v.real[..] else { return };
        *dx = *a * *x * *x;
    }
}

/// x' = -k x with an output that is no number from t = 0.5 on.
pub struct NanOutput;

impl Model for NanOutput {
    fn states(&self) -> usize {
        1
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "x", "der(x)", "k", "y"]
    }

    fn evaluate(&self, v: &mut Values) {
        let [t, x, dx, k, y] = &mut v.real[..] else { return };
        *dx = -*k * *x;
        *y = if *t < 0.5 { *x } else { f64::NAN };
    }
}

/// A winding angle, φ' = w, w' = -k (w - 10), whose model changes to another branch, w' = -k (w + 10), for
/// good when the angle was moved by more than 0.5 rad from one evaluation to the next: what an engine's
/// iteration does to whoever probes it carelessly. It cannot save its state. Known answer: w stays 10 and φ =
/// 87 + 10 t.
pub struct Branching;

impl Model for Branching {
    fn states(&self) -> usize {
        2
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "phi", "w", "der(phi)", "der(w)", "k", "last", "branch"]
    }

    fn initialize(&self, v: &mut Values) -> Result<(), &'static str> {
        (v.real[6], v.real[7]) = (v.real[1], 0.0);
        Ok(())
    }

    fn evaluate(&self, v: &mut Values) {
        let [_, phi, w, dphi, dw, k, last, branch] = &mut v.real[..] else { return };
        if (*phi - *last).abs() > 0.5 {
            *branch = 1.0;
        }
        *last = *phi;
        *dphi = *w;
        *dw = -*k * (*w - if *branch == 0.0 { 10.0 } else { -10.0 });
    }
}
