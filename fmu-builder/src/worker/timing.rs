//! What the model's own calls cost.

use super::session::{Session, expect};
use crate::interface::Interface;
use std::time::{Duration, Instant};

/// Seconds of an evaluation (set states, get derivatives) and of a directional derivative.
pub fn measure(
    session: &mut Session,
    interface: &Interface,
    entries: usize,
) -> Result<(f64, Option<f64>), String> {
    let n = session.x.len();
    if n == 0 {
        return Ok((0.0, None));
    }
    let x = session.x.clone();
    // Two points in turn, so that nothing is remembered.
    let near: Vec<f64> = x.iter().map(|x| x + x.abs().max(1e-6) * 1e-12).collect();
    let mut f = vec![0.0; n];
    let (time, log) = (session.time, session.log.clone());
    expect(session.place(time, &x, false), "fmi2SetContinuousStates", &log)?;
    let inner = &mut session.inner;
    let mut failed = false;
    let evaluation = fastest(|i| {
        failed |= !inner.set_continuous_states(if i % 2 == 0 { &x } else { &near }).is_usable();
        failed |= !inner.get_derivatives(&mut f).is_usable();
    });
    let directional = interface.provides_directional_derivative
        && inner.has_directional_derivative()
        && interface.state_references.len() == n
        && !failed;
    let directional = directional.then(|| {
        // A colour asks for about as many rows as there are entries per column.
        let rows = (entries / n).clamp(1, n);
        let unknowns = &interface.derivative_references[..rows];
        let mut result = vec![0.0; rows];
        fastest(|i| {
            let known = [interface.state_references[i % n]];
            let _ = inner.set_continuous_states(if i % 2 == 0 { &x } else { &near });
            let _ = inner.directional_derivative(unknowns, &known, &[1.0], &mut result);
        })
    });
    Ok((evaluation, directional))
}

/// Seconds per call: the fastest of several batches, since everything else on this machine only adds.
fn fastest(mut call: impl FnMut(usize)) -> f64 {
    let mut size = 1;
    let mut best = f64::INFINITY;
    let begin = Instant::now();
    let mut i = 0;
    for _ in 0..50 {
        let batch = Instant::now();
        for _ in 0..size {
            call(i);
            i += 1;
        }
        let time = batch.elapsed();
        best = best.min(time.as_secs_f64() / size as f64);
        if time < Duration::from_micros(200) {
            size *= 2;
        }
        if begin.elapsed() > Duration::from_millis(60) {
            break;
        }
    }
    best
}

/// Seconds that it takes to read the clock twice: the median of many.
pub fn clock_price() -> f64 {
    let mut prices: Vec<f64> = (0..1001).map(|_| Instant::now().elapsed().as_secs_f64()).collect();
    prices.sort_by(f64::total_cmp);
    prices[prices.len() / 2]
}
