//! What the model's own calls cost.

use super::session::{Session, expect};
use crate::interface::Interface;
use std::time::{Duration, Instant};

/// Directional derivatives are used where one takes less than this many evaluations. It lies in a gap: what solves one linear equation for a
/// column takes half of an evaluation or less, what evaluates with dual numbers takes one to two, what differences inside two to three.
/// The measured ratio repeats itself to within a few per cent on a busy machine, so that its moods decide nothing.
pub const CLEARLY_CHEAPER: f64 = 0.7;
/// Both prices are taken in turn, so often: a slow phase of the machine meets both.
const ROUNDS: usize = 6;
const ROUND: Duration = Duration::from_millis(10);

/// Seconds of an evaluation (set states, get derivatives), and whether a directional derivative is clearly cheaper.
pub fn measure(session: &mut Session, interface: &Interface, entries: usize) -> Result<(f64, bool), String> {
    let n = session.x.len();
    if n == 0 {
        return Ok((0.0, false));
    }
    let x = session.x.clone();
    // Two points in turn, so that nothing is remembered.
    let near: Vec<f64> = x.iter().map(|x| x + x.abs().max(1e-6) * 1e-12).collect();
    let mut f = vec![0.0; n];
    let (time, log) = (session.time, session.log.clone());
    expect(session.place(time, &x, false), "fmi2SetContinuousStates", &log)?;
    let inner = &mut session.inner;
    let (mut evaluation, mut directional) = (Fastest::default(), Fastest::default());
    let mut failed = !(interface.provides_directional_derivative
        && inner.has_directional_derivative()
        && interface.state_references.len() == n);
    // A colour asks for about as many rows as there are entries per column.
    let rows = (entries / n).clamp(1, n);
    let unknowns = interface.derivative_references.get(..rows).unwrap_or_default();
    let mut result = vec![0.0; rows];
    for _ in 0..ROUNDS {
        evaluation.measure(|i| {
            failed |= !inner.set_continuous_states(if i % 2 == 0 { &x } else { &near }).is_usable();
            failed |= !inner.get_derivatives(&mut f).is_usable();
        });
        if !failed {
            // Where the model stands, as the runtime asks for them: a difference moves the states for each colour, this does not.
            directional.measure(|i| {
                let known = [interface.state_references[i % n]];
                let _ = inner.directional_derivative(unknowns, &known, &[1.0], &mut result);
            });
        }
    }
    Ok((evaluation.seconds, !failed && directional.seconds < CLEARLY_CHEAPER * evaluation.seconds))
}

/// Seconds per call: the fastest of many batches, since everything else on this machine only adds.
struct Fastest {
    seconds: f64,
    /// Calls in a batch, and calls until now.
    size: usize,
    calls: usize,
}

impl Default for Fastest {
    fn default() -> Fastest {
        Fastest { seconds: f64::INFINITY, size: 1, calls: 0 }
    }
}

impl Fastest {
    /// For one round.
    fn measure(&mut self, mut call: impl FnMut(usize)) {
        let begin = Instant::now();
        for _ in 0..50 {
            let batch = Instant::now();
            for _ in 0..self.size {
                call(self.calls);
                self.calls += 1;
            }
            let time = batch.elapsed();
            self.seconds = self.seconds.min(time.as_secs_f64() / self.size as f64);
            if time < Duration::from_micros(200) {
                self.size *= 2;
            }
            if begin.elapsed() > ROUND {
                break;
            }
        }
    }
}

/// Seconds that it takes to read the clock twice: the median of many.
pub fn clock_price() -> f64 {
    let mut prices: Vec<f64> = (0..1001).map(|_| Instant::now().elapsed().as_secs_f64()).collect();
    prices.sort_by(f64::total_cmp);
    prices[prices.len() / 2]
}
