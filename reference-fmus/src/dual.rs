//! Numbers that carry a derivative, so that equations are written once.
//!
//! A dual number a + b ε with ε² = 0 obeys f(a + b ε) = f(a) + f'(a) b ε: evaluating a model
//! with duals whose ε-part is a seed gives its value and its exact directional derivative together.
//! Models are written against [`Num`] and evaluated with `f64` (no cost) or [`Dual`].

use std::ops::{Add, AddAssign, Div, Mul, Neg, Sub, SubAssign};

/// What the equations of a model need of a number.
pub trait Num:
    Copy
    + From<f64>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + Mul<f64, Output = Self>
    + Add<f64, Output = Self>
    + Sub<f64, Output = Self>
    + AddAssign
    + SubAssign
{
    fn sin_cos(self) -> (Self, Self);
    fn tanh(self) -> Self;
    fn sqrt(self) -> Self;
    fn powf(self, p: f64) -> Self;
    /// Its value; branches are taken on this.
    fn value(self) -> f64;
}

impl Num for f64 {
    fn sin_cos(self) -> (f64, f64) {
        f64::sin_cos(self)
    }
    fn tanh(self) -> f64 {
        f64::tanh(self)
    }
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }
    fn powf(self, p: f64) -> f64 {
        f64::powf(self, p)
    }
    fn value(self) -> f64 {
        self
    }
}

/// value + derivative ε.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dual {
    pub value: f64,
    pub derivative: f64,
}

impl Dual {
    /// f(self), given f and f' at its value.
    fn chain(self, value: f64, slope: f64) -> Dual {
        Dual { value, derivative: slope * self.derivative }
    }
}

impl Num for Dual {
    fn sin_cos(self) -> (Dual, Dual) {
        let (sin, cos) = self.value.sin_cos();
        (self.chain(sin, cos), self.chain(cos, -sin))
    }
    fn tanh(self) -> Dual {
        let tanh = self.value.tanh();
        self.chain(tanh, 1.0 - tanh * tanh)
    }
    fn sqrt(self) -> Dual {
        let root = self.value.sqrt();
        self.chain(root, 0.5 / root)
    }
    fn powf(self, p: f64) -> Dual {
        self.chain(self.value.powf(p), p * self.value.powf(p - 1.0))
    }
    fn value(self) -> f64 {
        self.value
    }
}

impl From<f64> for Dual {
    fn from(value: f64) -> Dual {
        Dual { value, derivative: 0.0 }
    }
}

impl Add for Dual {
    type Output = Dual;
    fn add(self, b: Dual) -> Dual {
        Dual { value: self.value + b.value, derivative: self.derivative + b.derivative }
    }
}

impl Sub for Dual {
    type Output = Dual;
    fn sub(self, b: Dual) -> Dual {
        Dual { value: self.value - b.value, derivative: self.derivative - b.derivative }
    }
}

impl Mul for Dual {
    type Output = Dual;
    fn mul(self, b: Dual) -> Dual {
        Dual {
            value: self.value * b.value,
            derivative: self.derivative * b.value + self.value * b.derivative,
        }
    }
}

impl Div for Dual {
    type Output = Dual;
    fn div(self, b: Dual) -> Dual {
        let value = self.value / b.value;
        Dual { value, derivative: (self.derivative - value * b.derivative) / b.value }
    }
}

impl Neg for Dual {
    type Output = Dual;
    fn neg(self) -> Dual {
        Dual { value: -self.value, derivative: -self.derivative }
    }
}

impl Mul<f64> for Dual {
    type Output = Dual;
    fn mul(self, b: f64) -> Dual {
        Dual { value: self.value * b, derivative: self.derivative * b }
    }
}

impl Add<f64> for Dual {
    type Output = Dual;
    fn add(self, b: f64) -> Dual {
        Dual { value: self.value + b, ..self }
    }
}

impl Sub<f64> for Dual {
    type Output = Dual;
    fn sub(self, b: f64) -> Dual {
        Dual { value: self.value - b, ..self }
    }
}

impl AddAssign for Dual {
    fn add_assign(&mut self, b: Dual) {
        *self = *self + b;
    }
}

impl SubAssign for Dual {
    fn sub_assign(&mut self, b: Dual) {
        *self = *self - b;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every function against its derivative by hand at x = 0.7.
    #[test]
    fn duals_differentiate_exactly() {
        let x = Dual { value: 0.7, derivative: 1.0 };
        let cases = [
            (x * x / (x + 1.0), (0.49 + 1.4) / 2.89),
            (x.sin_cos().0 * 2.0 - x, 2.0 * 0.7f64.cos() - 1.0),
            (x.sin_cos().1, -0.7f64.sin()),
            (-x.tanh(), -1.0 / 0.7f64.cosh().powi(2)),
            (x.sqrt(), 0.5 / 0.7f64.sqrt()),
            (x.powf(1.7), 1.7 * 0.7f64.powf(0.7)),
        ];
        for (found, expected) in cases {
            assert!((found.derivative - expected).abs() < 1e-14, "{found:?}, expected {expected}");
        }
    }
}
