//! Which rows can be explicit: 004, sections 3.1.1 and 3.1.2.
//!
//! ```text
//! R(h, P) = (I - h(I - P)J)^-1 (I + hPJ)          (31); P selects the slow rows
//! ```
//!
//! All rows start fast (implicit). In order, each is made slow and kept so if no eigenvalue of
//! R(h, P) grows. For several samples the rows that were ever fast are fast (3.1.2).
//!
//! Against the document: (28) prints AP where (30) has PA; its listing `Make_E` starts with all rows slow
//! and takes the index of an eigenvalue for the index of a state, which the text does not; the text is
//! followed. It asks |μ| < 1 and Re λ < 0; here |μ| <= 1 with slack and growth where the model grows (see
//! `amplification`), so that integrators and undamped oscillators can be partitioned too.
//!
//! The union of fast rows need not be stable at every sample, since more implicit rows do not always
//! mean smaller |μ|: `joint` tests each row against all samples at once and is.
//! Cost: n eigenvalue problems for each sample.

use super::amplification::{amplification, within_limits};
use super::{Error, Mask, Result, check_step, dense};
use faer::Mat;
use faer::prelude::c64;

/// Fast rows, and whether the result holds at every sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    /// `true`: fast, implicit.
    pub fast: Vec<bool>,
    /// R(h, P) grows at no sample.
    pub stable: bool,
}

/// 3.1.2: partition at each sample on its own, union of the fast rows. `order` is the order in which rows
/// are tried (each once; `None`: first to last); those tried first have the best chance to be slow.
pub fn union(samples: &[Mat<f64>], h: f64, order: Option<&[usize]>) -> Result<Partition> {
    let spectra = spectra(samples, h)?;
    let n = samples[0].nrows();
    let mut fast = vec![false; n];
    for (sample, lambda) in samples.iter().zip(&spectra) {
        let one = sweep(&[sample], &[lambda], h, order)?;
        fast.iter_mut().zip(one).for_each(|(f, o)| *f |= o);
    }
    let stable = holds(&samples.iter().collect::<Vec<_>>(), &spectra.iter().collect::<Vec<_>>(), h, &fast)?;
    Ok(Partition { fast, stable })
}

/// Each row is tested against all samples before it is made slow.
pub fn joint(samples: &[Mat<f64>], h: f64, order: Option<&[usize]>) -> Result<Partition> {
    let spectra = spectra(samples, h)?;
    let (samples, spectra): (Vec<_>, Vec<_>) = samples.iter().zip(&spectra).unzip();
    let fast = sweep(&samples, &spectra, h, order)?;
    let stable = holds(&samples, &spectra, h, &fast)?;
    Ok(Partition { fast, stable })
}

fn sweep(samples: &[&Mat<f64>], spectra: &[&Vec<c64>], h: f64, order: Option<&[usize]>) -> Result<Vec<bool>> {
    let n = samples[0].nrows();
    let natural: Vec<usize> = (0..n).collect();
    let mut fast = vec![true; n];
    for &i in order.unwrap_or(&natural).iter().filter(|&&i| i < n) {
        fast[i] = false;
        if !holds(samples, spectra, h, &fast)? {
            fast[i] = true;
        }
    }
    Ok(fast)
}

/// A singular I - hA is a partition that does not hold, not a failure.
fn holds(samples: &[&Mat<f64>], spectra: &[&Vec<c64>], h: f64, fast: &[bool]) -> Result<bool> {
    let mask = Mask::rows(fast.to_vec());
    for (j, lambda) in samples.iter().zip(spectra) {
        match amplification(j.as_ref(), &mask, h) {
            Err(Error::Singular) => return Ok(false),
            Err(e) => return Err(e),
            Ok(r) if !within_limits(&dense::eigenvalues(r.as_ref())?, lambda, h) => return Ok(false),
            Ok(_) => {}
        }
    }
    Ok(true)
}

fn spectra(samples: &[Mat<f64>], h: f64) -> Result<Vec<Vec<c64>>> {
    check_step(h)?;
    let n = samples.first().ok_or(Error::NoSamples)?.nrows();
    if let Some(other) = samples.iter().find(|s| s.nrows() != n) {
        return Err(Error::Size { what: "a sample Jacobian", expected: n, found: other.nrows() });
    }
    samples.iter().map(|s| dense::eigenvalues(s.as_ref())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::dense::tests::mat;

    /// 004, (39)-(40): E = [1, 0] (x slow, y fast) for h = 0.1 and 0.01, [1, 1] for 0.001. The printed A has
    /// k and c exchanged against (39) with m = 1, c = 1001, k = 1000, whose eigenvalues are
    /// the -1 and -1000 that the text names; both matrices give the published partition.
    #[test]
    fn partition_of_004_40() {
        let printed = mat(&[&[0.0, 1.0], &[-1001.0, -1000.0]]);
        let meant = mat(&[&[0.0, 1.0], &[-1000.0, -1001.0]]);
        for a in [printed, meant] {
            for (h, fast) in [(0.1, [false, true]), (0.01, [false, true]), (0.001, [false, false])] {
                for found in
                    [union(std::slice::from_ref(&a), h, None), joint(std::slice::from_ref(&a), h, None)]
                {
                    assert_eq!(found.unwrap(), Partition { fast: fast.to_vec(), stable: true }, "h = {h}");
                }
            }
        }
    }

    /// The -1 and -1000 of the text belong to (39), not to the printed (40).
    #[test]
    fn eigenvalues_named_in_004_belong_to_39() {
        let mut found: Vec<f64> = dense::eigenvalues(mat(&[&[0.0, 1.0], &[-1000.0, -1001.0]]).as_ref())
            .unwrap()
            .iter()
            .map(|z| z.re)
            .collect();
        found.sort_by(f64::total_cmp);
        assert!((found[0] + 1000.0).abs() < 1e-9 && (found[1] + 1.0).abs() < 1e-9);
    }

    /// 3.1.2: stiff in x1 at one sample and in x2 at the other, so both are fast.
    #[test]
    fn union_over_samples() {
        let a = mat(&[&[-500.0, 0.0, 0.0], &[0.0, -1.0, 0.0], &[0.0, 0.0, -1.0]]);
        let b = mat(&[&[-1.0, 0.0, 0.0], &[0.0, -500.0, 0.0], &[0.0, 0.0, -1.0]]);
        for found in [union(&[a.clone(), b.clone()], 0.01, None), joint(&[a, b], 0.01, None)] {
            assert_eq!(found.unwrap(), Partition { fast: vec![true, true, false], stable: true });
        }
    }

    /// A spring of stiffness 1e4: one implicit row is enough, and the order decides which.
    #[test]
    fn order_decides_between_equals() {
        let j = mat(&[&[0.0, 1.0], &[-1e4, 0.0]]);
        let s = [j];
        assert_eq!(union(&s, 0.005, None).unwrap().fast, [false, true]);
        assert_eq!(union(&s, 0.005, Some(&[1, 0])).unwrap().fast, [true, false]);
    }

    #[test]
    fn odd_inputs() {
        assert_eq!(union(&[], 0.1, None).err(), Some(Error::NoSamples));
        assert!(union(&[Mat::zeros(0, 0)], 0.1, None).unwrap().fast.is_empty());
        assert!(joint(&[Mat::zeros(1, 1), Mat::zeros(2, 2)], 0.1, None).is_err());
        assert!(union(&[mat(&[&[f64::NAN]])], 0.1, None).is_err());
        assert!(union(&[mat(&[&[-1.0]])], -0.1, None).is_err());
    }
}
