//! How large a state is, before it has been seen to move: what differences are scaled by.
//!
//! A description may say it (`nominal`), FMI's default is 1, and both may be far off: charges are of 1e-12 C
//! where nobody says so, and a nominal of 1e12 comes with a state of 1. Differences of sqrt(eps) of such a
//! scale are larger than the state itself, the model has no number there or another slope. So each scale is
//! tried once.
//!
//! A model that iterates inside does not come back to exactly the same derivatives. Differences must be wide
//! enough to show through that noise.

use super::probe::ONE_BY_ONE;
use super::session::Session;
use crate::interface::believable;

/// A scale that is too large is tried again with this part of it.
const SMALLER: f64 = 1e-3;
/// Down to 1e-18 of what was declared.
const TRIALS: usize = 6;
/// The slope over a hundredth of the difference.
const PART: f64 = 1e-2;
/// A slope that is so much steeper over the whole difference than over a part of it is no slope: x² of a
/// difference that is much larger than x has 1 / PART. A root or a jump at this point is flatter over the
/// whole, and has no better scale.
const STEEPER: f64 = 30.0;

/// Evaluations that tell how noisy a model is, where the first says that it is.
const REPEATS: usize = 8;
/// Noise is taken for this much more than what was seen of it.
const SAFETY: f64 = 4.0;
/// A difference of the derivatives should be this many times the noise, so that the slope is known to a
/// percent.
const CLEAR: f64 = 25.0;
/// Differences are at most this many times sqrt(eps): 1.5e-4 of a state.
const WIDEST: f64 = 1e4;

/// How large each state is, and how many times wider than without noise its differences must be.
#[derive(Clone, Debug, PartialEq)]
pub struct Scales {
    pub sizes: Vec<f64>,
    pub wider: Vec<f64>,
}

impl Scales {
    /// What differences are scaled by where the states are `x`.
    pub fn at(&self, x: &[f64]) -> Vec<f64> {
        let both = self.sizes.iter().zip(&self.wider).zip(x);
        both.map(|((size, wider), x)| if *wider > 1.0 { wider * size.max(x.abs()) } else { *size }).collect()
    }
}

/// The scale of each state where the session stands: its nominal value if that can be believed, else 1; less
/// where the model shows that it is too large.
pub fn scales(session: &mut Session, nominals: &[Option<f64>]) -> Scales {
    let (time, x) = (session.time, session.x.clone());
    let first =
        |(nominal, x): (&Option<f64>, &f64)| nominal.filter(|&n| believable(n, x.abs())).unwrap_or(1.0);
    let sizes: Vec<f64> = nominals.iter().zip(&x).map(first).collect();
    find(&x, sizes, |shifted| {
        let mut f = vec![0.0; x.len()];
        let usable = session.derivatives(time, shifted, false, &mut f).is_usable();
        (usable && f.iter().all(|f| f.is_finite())).then_some(f)
    })
}

/// `evaluate`: f(x), if the model has one there.
fn find(x: &[f64], sizes: Vec<f64>, mut evaluate: impl FnMut(&[f64]) -> Option<Vec<f64>>) -> Scales {
    let mut scales = sizes;
    let mut wider = vec![1.0; x.len()];
    let Some(base) = evaluate(x) else { return Scales { sizes: scales, wider } };
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
        return Scales { sizes: scales, wider };
    }
    let aside: Vec<f64> = x.iter().zip(&scales).map(|(x, scale)| x + difference(*x, *scale)).collect();
    let _ = evaluate(&aside);
    let noise = unrest(x, &aside, &base, &mut evaluate);
    let mut shifted = x.to_vec();
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
                (Some(whole), Some(part)) => steeper(&base, &noise, whole, part),
                (whole, _) => whole.is_none(),
            };
            if !too_large {
                break;
            }
            scales[j] *= SMALLER;
        }
    }
    if noise.iter().any(|&noise| noise > 0.0) {
        for j in 0..x.len() {
            shifted[j] = x[j] + WIDEST * difference(x[j], scales[j]);
            let moved = evaluate(&shifted);
            shifted[j] = x[j];
            // As wide as the row asks for that is hardest to see.
            let Some(f) = moved else { continue };
            let by = |i: usize| (f[i] - base[i]).abs();
            let rows = (0..x.len()).filter(|&i| noise[i] > 0.0 && by(i) > noise[i]);
            let asked = rows.map(|i| CLEAR * noise[i] * WIDEST / by(i)).fold(0.0, f64::max);
            wider[j] = if asked > 0.0 { asked.clamp(1.0, WIDEST) } else { WIDEST };
        }
    }
    Scales { sizes: scales, wider }
}

/// What each derivative moves by when nothing moved, with a margin; zero, at the price of one evaluation, for
/// a model that comes back to exactly the same. The model stands elsewhere, and is put `aside` in between:
/// some remember where they were asked last.
pub fn unrest(
    x: &[f64],
    aside: &[f64],
    base: &[f64],
    mut evaluate: impl FnMut(&[f64]) -> Option<Vec<f64>>,
) -> Vec<f64> {
    let mut unrest = vec![0.0; base.len()];
    for _ in 0..REPEATS {
        let Some(again) = evaluate(x) else { break };
        let moves = again.iter().zip(base).map(|(again, base)| SAFETY * (again - base).abs());
        let mut moved = false;
        for (unrest, by) in unrest.iter_mut().zip(moves) {
            *unrest = f64::max(*unrest, by);
            moved |= by > 0.0;
        }
        if !moved {
            break;
        }
        let _ = evaluate(aside);
    }
    unrest
}

/// What a state is moved by to see a slope.
fn difference(x: f64, scale: f64) -> f64 {
    f64::EPSILON.sqrt() * x.abs().max(scale)
}

/// Some derivative has a much steeper slope over the whole difference than over a part of it, and neither
/// rounding nor noise is the reason.
fn steeper(base: &[f64], noise: &[f64], whole: &(Vec<f64>, f64), part: &(Vec<f64>, f64)) -> bool {
    (0..base.len()).any(|i| {
        let slope = (whole.0[i] - base[i]) / whole.1;
        let smaller = (part.0[i] - base[i]) / part.1;
        let rounding = 1e3 * f64::EPSILON * base[i].abs().max(part.0[i].abs());
        slope.abs() > STEEPER * smaller.abs() && (slope * part.1).abs() > rounding + noise[i]
    })
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn over(f: fn(f64) -> f64, scale: f64) -> bool {
        let at = |delta: f64| (vec![f(delta)], delta);
        let whole = difference(0.0, scale);
        steeper(&[f(0.0)], &[0.0], &at(whole), &at(PART * whole))
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

    /// Two tanks at 300 K, a slope of 1e-3 1/s, and noise of 3e-8 K/s: differences of sqrt(eps) of 300 K are
    /// 4.5e-9 K/s and drown. Widened they show the slope.
    #[test]
    fn differences_are_wide_enough_for_noise() {
        let mut random = 1u32;
        let model = |amplitude: f64| {
            move |x: &[f64]| {
                let mut noise = || {
                    random = random.wrapping_mul(1103515245).wrapping_add(12345);
                    amplitude * (f64::from(random >> 16) / 32768.0 - 1.0)
                };
                Some(vec![1e-3 * (x[1] - x[0]) + noise(), 1e-3 * (x[0] - 2.0 * x[1]) + noise()])
            }
        };
        let x = [300.0, 290.0];
        let still = find(&x, vec![1.0; 2], model(0.0));
        assert_eq!(still, Scales { sizes: vec![1.0; 2], wider: vec![1.0; 2] });
        assert_eq!(still.at(&x), [1.0; 2]);
        let amplitude = 3e-8;
        let mut noisy = model(amplitude);
        let scales = find(&x, vec![1.0; 2], &mut noisy).at(&x);
        let base = noisy(&x).unwrap();
        for j in 0..2 {
            let mut shifted = x;
            shifted[j] += difference(x[j], scales[j]);
            let slope = (noisy(&shifted).unwrap()[0] - base[0]) / (shifted[j] - x[j]);
            assert!((slope.abs() - 1e-3).abs() < 0.05e-3, "{slope}");
        }
    }

    /// A row that does not depend on a state must not seem to, however often noise is drawn.
    #[test]
    fn noise_is_known_from_several_draws() {
        for seed in 0..200 {
            let mut random = seed;
            let mut draw = move |_: &[f64]| {
                random = 6364136223846793005u64.wrapping_mul(random).wrapping_add(1442695040888963407);
                Some(vec![(random >> 40) as f64 / (1u64 << 24) as f64])
            };
            let base = draw(&[]).unwrap();
            let unrest = unrest(&[0.0], &[1.0], &base, &mut draw);
            assert!((0..100).all(|_| (draw(&[]).unwrap()[0] - base[0]).abs() <= unrest[0]), "seed {seed}");
        }
    }
}
