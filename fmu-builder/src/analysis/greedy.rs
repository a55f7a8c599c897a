//! Which rows can be explicit: Gustafsson, sections 3.1.1 and 3.1.2.
//!
//! ```text
//! R(h, P) = (I - h(I - P)J)^-1 (I + hPJ)          (31); P selects the slow rows
//! ```
//!
//! All rows start fast (implicit). In order, each is made slow and kept so if the step stays stable
//! ([`verdict`]). For several samples the rows that were ever fast are fast (3.1.2).
//!
//! Against the text as printed: (28) prints AP where (30) has PA; its listing `Make_E` starts with all rows
//! slow and takes the index of an eigenvalue for the index of a state, which the text does not; the text is
//! followed. It asks |μ| < 1 and Re λ < 0; here |μ| <= 1 with slack and growth where the model grows (see
//! `amplification`), so that integrators and undamped oscillators can be partitioned too.
//!
//! The union of fast rows need not be stable at every sample, since more implicit rows do not always
//! mean smaller |μ|: `joint` tests each row against all samples at once and is.
//! Cost: n eigenvalue problems for each sample.

use super::verdict::{Age, Samples, verdict};
use super::{Error, Mask, Result, check_step};
use crate::method::Step;

/// Fast rows, and whether they make the step stable at every sample.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Partition {
    pub fast: Vec<bool>,
    pub stable: bool,
}

/// 3.1.2: each sample on its own, then the union. Rows are tried in `order`, or in their own.
pub fn union(samples: &Samples, step: &Step, order: Option<&[usize]>) -> Result<Partition> {
    let n = size(samples, step)?;
    let mut fast = vec![false; n];
    for sample in 0..samples.len() {
        let one = sweep(&samples.only(&[sample]), step, order);
        fast.iter_mut().zip(one).for_each(|(f, o)| *f |= o);
    }
    let stable = holds(samples, step, &fast);
    Ok(Partition { fast, stable })
}

/// All samples at once.
pub fn joint(samples: &Samples, step: &Step, order: Option<&[usize]>) -> Result<Partition> {
    size(samples, step)?;
    let fast = sweep(samples, step, order);
    let stable = holds(samples, step, &fast);
    Ok(Partition { fast, stable })
}

fn sweep(samples: &Samples, step: &Step, order: Option<&[usize]>) -> Vec<bool> {
    let n = samples.n();
    let natural: Vec<usize> = (0..n).collect();
    let mut fast = vec![true; n];
    for &i in order.unwrap_or(&natural).iter().filter(|&&i| i < n) {
        fast[i] = false;
        fast[i] = !holds(samples, step, &fast);
    }
    fast
}

fn holds(samples: &Samples, step: &Step, fast: &[bool]) -> bool {
    verdict(step, &Mask::rows(fast.to_vec()), &Age::Fresh, &[1.0], samples).is_stable()
}

fn size(samples: &Samples, step: &Step) -> Result<usize> {
    check_step(step.h)?;
    if samples.is_empty() { Err(Error::NoSamples) } else { Ok(samples.n()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::dense::{self, tests::mat};
    use crate::method::tests::lie;
    use faer::Mat;

    fn samples(jacobians: &[Mat<f64>]) -> Samples {
        Samples::new(jacobians.to_vec()).unwrap()
    }

    /// Gustafsson, (39)-(40): E = [1, 0] (x slow, y fast) for h = 0.1 and 0.01, [1, 1] for 0.001. The printed
    /// A has k and c exchanged against (39) with m = 1, c = 1001, k = 1000, whose eigenvalues are the -1 and
    /// -1000 that the text names; both matrices give the published partition.
    #[test]
    fn partition_of_gustafsson_40() {
        let printed = mat(&[&[0.0, 1.0], &[-1001.0, -1000.0]]);
        let meant = mat(&[&[0.0, 1.0], &[-1000.0, -1001.0]]);
        for a in [printed, meant] {
            for (h, fast) in [(0.1, [false, true]), (0.01, [false, true]), (0.001, [false, false])] {
                for found in {
                    let one = samples(std::slice::from_ref(&a));
                    [union(&one, &lie(h), None), joint(&one, &lie(h), None)]
                } {
                    assert_eq!(found.unwrap(), Partition { fast: fast.to_vec(), stable: true }, "h = {h}");
                }
            }
        }
    }

    /// The -1 and -1000 of the text belong to (39), not to the printed (40).
    #[test]
    fn eigenvalues_named_by_gustafsson_belong_to_39() {
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
        let both = samples(&[a, b]);
        for found in [union(&both, &lie(0.01), None), joint(&both, &lie(0.01), None)] {
            assert_eq!(found.unwrap(), Partition { fast: vec![true, true, false], stable: true });
        }
    }

    /// A spring of stiffness 1e4: one implicit row is enough, and the order decides which.
    #[test]
    fn order_decides_between_equals() {
        let j = mat(&[&[0.0, 1.0], &[-1e4, 0.0]]);
        let s = samples(&[j]);
        assert_eq!(union(&s, &lie(0.005), None).unwrap().fast, [false, true]);
        assert_eq!(union(&s, &lie(0.005), Some(&[1, 0])).unwrap().fast, [true, false]);
    }

    #[test]
    fn odd_inputs() {
        assert_eq!(union(&samples(&[]), &lie(0.1), None).err(), Some(Error::NoSamples));
        assert!(union(&samples(&[Mat::zeros(0, 0)]), &lie(0.1), None).unwrap().fast.is_empty());
        assert!(union(&samples(&[mat(&[&[-1.0]])]), &lie(-0.1), None).is_err());
    }
}
