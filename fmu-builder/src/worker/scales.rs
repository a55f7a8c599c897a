//! How large a state is, before it has been seen to move: what differences are scaled by.
//!
//! A description may say it (`nominal`), FMI's default is 1, and both may be far off: charges are of 1e-12 C where nobody says so, and a nominal of 1e12 comes with a state
//! of 1. Differences of sqrt(eps) of such a scale are larger than the state itself, the model has no number there or another slope. So each scale is tried once.

use super::probe::ONE_BY_ONE;
use super::session::Session;
use crate::interface::believable;

/// A scale that is too large is tried again with this part of it.
const SMALLER: f64 = 1e-3;
/// Down to 1e-18 of what was declared.
const TRIALS: usize = 6;
/// The slope over a hundredth of the difference.
const PART: f64 = 1e-2;
/// A slope that is so much steeper over the whole difference than over a part of it is no slope: x² of a difference that is much larger than x has 1 / PART. A
/// root or a jump at this point is flatter over the whole, and has no better scale.
const STEEPER: f64 = 30.0;

/// The scale of each state where the session stands: its nominal value if that can be believed, else 1; less where the model shows that it is too large.
pub fn scales(session: &mut Session, nominals: &[Option<f64>]) -> Vec<f64> {
    let (time, x) = (session.time, session.x.clone());
    let first =
        |(nominal, x): (&Option<f64>, &f64)| nominal.filter(|&n| believable(n, x.abs())).unwrap_or(1.0);
    let mut scales: Vec<f64> = nominals.iter().zip(&x).map(first).collect();
    let mut evaluate = |shifted: &[f64]| {
        let mut f = vec![0.0; x.len()];
        let usable = session.derivatives(time, shifted, false, &mut f).is_usable();
        (usable && f.iter().all(|f| f.is_finite())).then_some(f)
    };
    let Some(base) = evaluate(&x) else { return scales };
    if x.len() > ONE_BY_ONE {
        // Together: only whether the model has numbers there.
        for _ in 0..TRIALS {
            let shift = |sign: f64| {
                x.iter().zip(&scales).map(|(x, s)| x + sign * difference(*x, *s)).collect::<Vec<f64>>()
            };
            if evaluate(&shift(1.0)).is_some() || evaluate(&shift(-1.0)).is_some() {
                break;
            }
            scales.iter_mut().for_each(|scale| *scale *= SMALLER);
        }
        return scales;
    }
    let mut shifted = x.clone();
    for j in 0..x.len() {
        for _ in 0..TRIALS {
            if x[j].abs() >= scales[j] {
                break; // it is not moved by more than its own digits
            }
            let mut slopes = |part: f64| {
                [1.0, -1.0].into_iter().find_map(|sign| {
                    shifted[j] = x[j] + sign * part * difference(x[j], scales[j]);
                    let delta = shifted[j] - x[j];
                    evaluate(&shifted).map(|f| (f, delta))
                })
            };
            let (whole, part) = (slopes(1.0), slopes(PART));
            shifted[j] = x[j];
            let too_large = match (&whole, &part) {
                (Some(whole), Some(part)) => steeper(&base, whole, part),
                (whole, _) => whole.is_none(),
            };
            if !too_large {
                break;
            }
            scales[j] *= SMALLER;
        }
    }
    scales
}

/// What a state is moved by to see a slope.
fn difference(x: f64, scale: f64) -> f64 {
    f64::EPSILON.sqrt() * x.abs().max(scale)
}

/// Some derivative has a much steeper slope over the whole difference than over a part of it, and rounding is not the reason.
fn steeper(base: &[f64], whole: &(Vec<f64>, f64), part: &(Vec<f64>, f64)) -> bool {
    (0..base.len()).any(|i| {
        let slope = (whole.0[i] - base[i]) / whole.1;
        let smaller = (part.0[i] - base[i]) / part.1;
        let rounding = 1e3 * f64::EPSILON * base[i].abs().max(part.0[i].abs());
        slope.abs() > STEEPER * smaller.abs() && (slope * part.1).abs() > rounding
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn over(f: fn(f64) -> f64, scale: f64) -> bool {
        let at = |delta: f64| (vec![f(delta)], delta);
        let whole = difference(0.0, scale);
        steeper(&[f(0.0)], &at(whole), &at(PART * whole))
    }

    #[test]
    fn a_difference_larger_than_the_state_shows() {
        assert!(over(|x| (x / 1e-12 / 0.026).sinh(), 1e-4), "a charge of 1e-12");
        assert!(over(|x| (1.0 + x) * (1.0 + x), 1e12), "a square");
        for scale in [1e-6, 1.0, 1e3] {
            assert!(!over(|x| (1.0 + x) * (1.0 + x), scale), "{scale}");
        }
    }

    /// These have no better scale: a line, a root, a jump, noise, nothing.
    #[test]
    fn other_shapes_keep_their_scale() {
        let shapes: [fn(f64) -> f64; 5] = [
            |x| 3.0 * x + 1.0,
            |x| x.abs().sqrt() * x.signum(),
            |x| if x > 0.0 { 1.0 } else { 0.0 },
            |x| 1.0 + f64::EPSILON * (1e9 * x).sin(),
            |_| 5.0,
        ];
        for (i, shape) in shapes.into_iter().enumerate() {
            for scale in [1e-12, 1.0, 1e12] {
                assert!(!over(shape, scale), "shape {i}, scale {scale}");
            }
        }
    }
}
