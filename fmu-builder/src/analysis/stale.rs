//! May a Jacobian be kept while the state moves on? The frozen policy; a rolling one is younger, see
//! [`stale_amplification`].
//!
//! ```text
//! R_ij = I + (I - hA(x_i))^-1 hJ(x_j),    A = M∘J
//! ```
//!
//! A step at x_j with the matrix of x_i. A W-method stays of order 1 for any A, so only stability
//! is at stake. Over all pairs of samples: S² eigenvalue problems.
//! ρ <= 1 for every pair does not bound a product of different R; it is a test, not a proof.

use super::amplification::{stale_amplification, within_limits};
use super::{Error, Mask, Result, dense};
use faer::Mat;

/// The worst pair of samples.
#[derive(Debug, Clone, PartialEq)]
pub struct Stale {
    /// max |μ| over all pairs; infinite if some I - hA(x_i) is singular.
    pub spectral_radius: f64,
    /// (sample of A, sample of J) with the largest |μ|.
    pub worst: (usize, usize),
    /// No mode that is stable in continuous time grows, for any pair.
    pub stable: bool,
}

/// Test every pair of samples.
pub fn stale(samples: &[Mat<f64>], mask: &Mask, h: f64) -> Result<Stale> {
    if samples.is_empty() {
        return Err(Error::NoSamples);
    }
    let spectra = samples.iter().map(|s| dense::eigenvalues(s.as_ref())).collect::<Result<Vec<_>>>()?;
    let mut found = Stale { spectral_radius: -1.0, worst: (0, 0), stable: true };
    for (i, old) in samples.iter().enumerate() {
        for (j, now) in samples.iter().enumerate() {
            let radius = match stale_amplification(old.as_ref(), now.as_ref(), mask, h) {
                Err(Error::Singular) => {
                    found.stable = false;
                    f64::INFINITY
                }
                Err(e) => return Err(e),
                Ok(r) => {
                    let mu = dense::eigenvalues(r.as_ref())?;
                    found.stable &= within_limits(&mu, &spectra[j], h);
                    mu.iter().fold(0.0, |m, z| f64::max(m, z.norm()))
                }
            };
            if radius > found.spectral_radius {
                (found.spectral_radius, found.worst) = (radius, (i, j));
            }
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::dense::tests::mat;

    /// Scalar: μ = (1 + z_i - z_j)/(1 + z_i) for z = -hλ. Kept from the soft state it is
    /// (1 + 1 - 10)/2 = -4 at the stiff one; kept from the stiff state it is safe at both.
    #[test]
    fn a_soft_jacobian_fails_where_the_model_is_stiff() {
        let (soft, stiff) = (mat(&[&[-10.0]]), mat(&[&[-100.0]]));
        let found = stale(&[soft.clone(), stiff.clone()], &Mask::full(1), 0.1).unwrap();
        assert!((found.spectral_radius - 4.0).abs() < 1e-12);
        assert_eq!((found.worst, found.stable), ((0, 1), false));
        // Half as stiff is safe from either side.
        assert!(stale(&[mat(&[&[-50.0]]), stiff], &Mask::full(1), 0.1).unwrap().stable);
    }

    #[test]
    fn odd_inputs() {
        assert_eq!(stale(&[], &Mask::full(0), 0.1).err(), Some(Error::NoSamples));
        assert!(stale(&[Mat::zeros(0, 0)], &Mask::full(0), 0.1).unwrap().stable);
        assert!(stale(&[mat(&[&[1.0]]), Mat::zeros(2, 2)], &Mask::full(1), 0.1).is_err());
        let singular = stale(&[mat(&[&[10.0]])], &Mask::full(1), 0.1).unwrap();
        assert!(singular.spectral_radius.is_infinite() && !singular.stable);
    }
}
