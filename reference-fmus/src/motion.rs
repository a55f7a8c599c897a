//! A movement from point to point that starts and ends at rest.
//!
//! s(z) = 10 z³ - 15 z⁴ + 6 z⁵ for z from 0 to 1, held at its ends: the polynomial of least degree
//! with speed and acceleration zero at both, so that the whole is twice continuously differentiable.

use crate::dual::Num;

/// s(z).
pub fn progress<T: Num>(z: T) -> T {
    match z.value() {
        ..=0.0 => T::from(0.0),
        1.0.. => T::from(1.0),
        _ => z * z * z * (z * (z * 6.0 - 15.0) + 10.0),
    }
}

/// s'(z) = 30 z² (1 - z)².
pub fn pace<T: Num>(z: T) -> T {
    match z.value() {
        ..=0.0 | 1.0.. => T::from(0.0),
        _ => {
            let root = z * (-z + 1.0);
            root * root * 30.0
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dual::Dual;

    /// s goes from 0 to 1, rises by what [`pace`] says, and is symmetric about its middle: s(1-z) = 1 - s(z).
    #[test]
    fn pace_is_the_slope_of_progress() {
        assert_eq!((progress(-0.5), progress(0.0), progress(1.0), progress(7.0)), (0.0, 0.0, 1.0, 1.0));
        for z in [-0.5, 0.0, 0.2, 0.5, 0.9, 1.0, 7.0] {
            let slope = progress(Dual { value: z, derivative: 1.0 }).derivative;
            assert!((pace(z) - slope).abs() < 1e-14, "z = {z}: {} and {slope}", pace(z));
            assert!((progress(z) + progress(1.0 - z) - 1.0).abs() < 1e-14, "z = {z}");
        }
    }
}
