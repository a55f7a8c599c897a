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
