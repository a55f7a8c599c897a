//! Which step size suits a model, judged by the eigenvalues of its sample Jacobians.
//!
//! - Explicit Euler is stable where |1 + hλ| <= 1, that is h <= -2 Re λ / |λ|²: the limit above
//!   which something must be implicit. Zero for an undamped oscillation.
//! - A linearly implicit step damps what it does not resolve. For fast decay that is the purpose; an
//!   oscillation with |hλ| > 1/2 loses amplitude that the model keeps: at hω = 1/2 a factor
//!   |1/(1 - iω h)| = 0.89 in each step, half of it in six, which is half a period.
//!   Modes that the model itself damps strongly (ζ = -Re λ/|λ| > 0.7) are left out.

use super::{Error, Result, SLACK, check_step};
use faer::prelude::c64;

/// |hλ| up to which an oscillation counts as resolved.
pub const RESOLVED: f64 = 0.5;
/// Damping ratio from which a mode's phase no longer matters.
pub const STRONGLY_DAMPED: f64 = 0.7;

/// An eigenvalue and where it was found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SampledMode {
    pub sample: usize,
    pub lambda: c64,
}

#[derive(Debug, Clone, PartialEq)]
pub struct StepAdvice {
    /// Largest h for which explicit Euler is stable; infinite if nothing limits it.
    pub explicit_limit: f64,
    /// Oscillations that h cannot resolve, fastest first; one of each conjugate pair.
    pub unresolved: Vec<SampledMode>,
}

/// Advice for step h over all samples.
pub fn step_advice(spectra: &[Vec<c64>], h: f64) -> Result<StepAdvice> {
    check_step(h)?;
    if spectra.is_empty() {
        return Err(Error::NoSamples);
    }
    let mut advice = StepAdvice { explicit_limit: f64::INFINITY, unresolved: vec![] };
    for (sample, spectrum) in spectra.iter().enumerate() {
        let largest = spectrum.iter().fold(0.0, |m, l| f64::max(m, l.norm()));
        // Below this an eigenvalue is zero with rounding on it.
        let noise = f64::EPSILON * largest * (10 * spectrum.len()) as f64;
        for &lambda in spectrum {
            if lambda.norm() <= noise || lambda.re > noise.max(SLACK * lambda.norm()) {
                continue;
            }
            let mode = SampledMode { sample, lambda };
            let limit = if lambda.re >= -noise { 0.0 } else { -2.0 * lambda.re / lambda.norm_sqr() };
            advice.explicit_limit = advice.explicit_limit.min(limit);
            let damping = -lambda.re / lambda.norm();
            if lambda.im > noise && damping < STRONGLY_DAMPED && h * lambda.norm() > RESOLVED {
                advice.unresolved.push(mode);
            }
        }
    }
    advice
        .unresolved
        .sort_by(|a, b| b.lambda.norm().total_cmp(&a.lambda.norm()).then(a.sample.cmp(&b.sample)));
    Ok(advice)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::dense::{eigenvalues, tests::mat};
    use faer::Mat;

    fn advise(samples: &[Mat<f64>], h: f64) -> Result<StepAdvice> {
        let spectra: Vec<_> = samples.iter().map(|j| eigenvalues(j.as_ref()).unwrap()).collect();
        step_advice(&spectra, h)
    }

    /// Gustafsson, (19): stable for h < 2/|λ|. Its "unstable for a step-size larger than 1e-3" of (40) should read 2e-3.
    #[test]
    fn explicit_limit_is_two_over_lambda() {
        let j = mat(&[&[0.0, 1.0], &[-1000.0, -1001.0]]);
        let advice = advise(&[j], 0.01).unwrap();
        assert!((advice.explicit_limit - 2e-3).abs() < 1e-12);
        assert!(advice.unresolved.is_empty());
    }

    /// Cellier and Kofman, H2.1: eigenvalues -1, -2, -5 and -4 ± 3i; FE is marginally stable at h = 8/25 = 0.32 s.
    #[test]
    fn marginal_stability_of_the_homework() {
        let j = mat(&[
            &[1250.0, -25113.0, -60050.0, -42647.0, -23999.0],
            &[500.0, -10068.0, -24057.0, -17092.0, -9613.0],
            &[250.0, -5060.0, -12079.0, -8586.0, -4826.0],
            &[-750.0, 15101.0, 36086.0, 25637.0, 14420.0],
            &[250.0, -4963.0, -11896.0, -8438.0, -4756.0],
        ]);
        let advice = advise(&[j], 0.1).unwrap();
        assert!((advice.explicit_limit - 0.32).abs() < 1e-6, "{}", advice.explicit_limit);
    }

    /// A damped oscillator at the limit really has |1 + hλ| = 1.
    #[test]
    fn explicit_limit_of_an_oscillator() {
        let j = mat(&[&[-1.0, 20.0], &[-20.0, -1.0]]);
        let advice = advise(&[j], 1e-3).unwrap();
        let mu = c64::ONE + c64::new(-1.0, 20.0) * advice.explicit_limit;
        assert!((mu.norm() - 1.0).abs() < 1e-12 && (advice.explicit_limit - 2.0 / 401.0).abs() < 1e-12);
        let undamped = advise(&[mat(&[&[0.0, 20.0], &[-20.0, 0.0]])], 1e-3).unwrap();
        assert_eq!(undamped.explicit_limit, 0.0);
    }

    #[test]
    fn an_unresolved_oscillation_is_found() {
        // ω = 100 at the second sample: |hλ| = 1 for h = 0.01; resolved from h = 0.005.
        let slow = mat(&[&[0.0, 1.0], &[-1.0, 0.0]]);
        let quick = mat(&[&[0.0, 1.0], &[-1e4, -0.1]]);
        let advice = advise(&[slow, quick], 0.01).unwrap();
        assert_eq!(advice.unresolved.len(), 1);
        assert_eq!(advice.unresolved[0].sample, 1);
        assert!(advise(&[mat(&[&[0.0, 1.0], &[-1e4, -0.1]])], 0.0049).unwrap().unresolved.is_empty());
        // The same mode, strongly damped, needs no resolution.
        let damped = mat(&[&[0.0, 1.0], &[-1e4, -150.0]]);
        assert!(advise(&[damped], 0.01).unwrap().unresolved.is_empty());
    }

    #[test]
    fn odd_inputs() {
        assert_eq!(advise(&[], 0.1).err(), Some(Error::NoSamples));
        let none = advise(&[Mat::zeros(0, 0)], 0.1).unwrap();
        assert_eq!(none.explicit_limit, f64::INFINITY);
        assert_eq!(advise(&[Mat::zeros(3, 3)], 0.1).unwrap().explicit_limit, f64::INFINITY);
        assert!(advise(&[mat(&[&[1.0]])], 0.0).is_err());
    }
}
