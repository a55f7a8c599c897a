//! A method as the analysis sees it: a step of length h is a linear map of small disturbances.
//!
//! With f = J x and the matrix A in the step's equations, the stages of the tableau
//!
//! ```text
//! (I - γ_i hA) K_i = s_i hJ (I + Σ_j a_ij K_j) + Σ_j g_ij K_j,     R(hJ, hA) = I + Σ_i b_i K_i
//! ```
//!
//! give x⁺ = R x. Where A = J an eigenvalue λ of J becomes R(z), z = hλ, the stability function. Everything
//! here follows from the tableau that the runtime executes; no other file of the builder knows which method
//! it is.

use crate::analysis::{Error, Result, SLACK, check_step, dense};
use faer::prelude::c64;
use faer::{Mat, MatRef};
use fmu_runtime::method::Tableau;
use fmu_runtime::plan::Method;

/// A method with its step length.
#[derive(Clone, Debug, PartialEq)]
pub struct Step {
    pub tableau: Tableau,
    pub h: f64,
}

impl Step {
    pub fn new(method: Method, h: f64) -> Step {
        Step { tableau: method.tableau(), h }
    }

    /// The same method with a step `times` as long.
    pub fn times(&self, times: f64) -> Step {
        Step { tableau: self.tableau.clone(), h: times * self.h }
    }

    /// R(hJ, hA).
    pub fn map(&self, j: MatRef<'_, f64>, a: MatRef<'_, f64>) -> Result<Mat<f64>> {
        self.combined(j, a, &self.tableau.weights)
    }

    /// The maps that a step can be: of the method's order and, where a limiter may fall back to it, of the
    /// lower one.
    pub fn maps(&self, j: MatRef<'_, f64>, a: MatRef<'_, f64>) -> Result<Vec<Mat<f64>>> {
        let lower = Some(&self.tableau.low_weights).filter(|weights| !weights.is_empty());
        let all = std::iter::once(&self.tableau.weights).chain(lower);
        all.map(|weights| self.combined(j, a, weights)).collect()
    }

    fn combined(&self, j: MatRef<'_, f64>, a: MatRef<'_, f64>, weights: &[f64]) -> Result<Mat<f64>> {
        check_step(self.h)?;
        dense::check_square(j)?;
        dense::check_square(a)?;
        let n = j.nrows();
        if a.nrows() != n {
            return Err(Error::Size { what: "the step's matrix", expected: n, found: a.nrows() });
        }
        let one = |i, k| if i == k { 1.0 } else { 0.0 };
        let left = |gamma: f64| Mat::from_fn(n, n, |i, k| one(i, k) - gamma * self.h * a[(i, k)]);
        let needed = weights.iter().rposition(|&weight| weight != 0.0).map_or(0, |last| last + 1);
        // One stage alone: I + b (I - γhA)^-1 s hJ = (I - γhA)^-1 (I + h(b s J - γA)), without cancellation.
        if let [weight] = &weights[..needed] {
            let (gamma, share) = (self.tableau.gamma(0), weight * self.tableau.stages[0].scale);
            let right =
                Mat::from_fn(n, n, |i, k| one(i, k) + self.h * (share * j[(i, k)] - gamma * a[(i, k)]));
            return dense::solve(left(gamma).as_ref(), right.as_ref());
        }
        let hj = Mat::from_fn(n, n, |i, k| self.h * j[(i, k)]);
        let mut stages: Vec<Mat<f64>> = Vec::with_capacity(needed);
        for (i, stage) in self.tableau.stages[..needed].iter().enumerate() {
            let mut at = Mat::<f64>::identity(n, n);
            for (node, k) in stage.nodes.iter().zip(&stages).filter(|(node, _)| **node != 0.0) {
                at += faer::Scale(*node) * k;
            }
            let mut right = faer::Scale(stage.scale) * (&hj * &at);
            for (coupling, k) in stage.couplings.iter().zip(&stages).filter(|(g, _)| **g != 0.0) {
                right += faer::Scale(*coupling) * k;
            }
            stages.push(dense::solve(left(self.tableau.gamma(i)).as_ref(), right.as_ref())?);
        }
        let mut r = Mat::<f64>::identity(n, n);
        for (weight, k) in weights.iter().zip(&stages) {
            r += faer::Scale(*weight) * k;
        }
        Ok(r)
    }

    /// R(hλ): what an unmasked step with a fresh Jacobian makes of the mode λ. Where the step's equations are
    /// singular, the differential equation's own e^(hλ).
    pub fn stability(&self, lambda: c64) -> c64 {
        let (z, stages) = (lambda * self.h, &self.tableau.stages);
        let denominator = |i: usize| c64::ONE - z * self.tableau.gamma(i);
        let weights = &self.tableau.weights;
        if (0..stages.len()).any(|i| weights[i] != 0.0 && denominator(i).norm() <= 1e-8) {
            return z.exp();
        }
        if let ([stage], [weight]) = (stages.as_slice(), weights.as_slice()) {
            return (denominator(0) + z * (weight * stage.scale)) / denominator(0);
        }
        let mut k: Vec<c64> = Vec::with_capacity(stages.len());
        for (i, stage) in stages.iter().enumerate() {
            let at = stage.nodes.iter().zip(&k).fold(c64::ONE, |sum, (a, k)| sum + k * *a);
            let right = stage.couplings.iter().zip(&k).fold(z * stage.scale * at, |sum, (g, k)| sum + k * *g);
            k.push(right / denominator(i));
        }
        weights.iter().zip(&k).fold(c64::ONE, |sum, (b, k)| sum + k * *b)
    }

    /// The largest |μ| that a step may have for the mode λ: 1 unless the model itself grows, and then as much
    /// as the model or the method does.
    pub fn growth_limit(&self, lambda: c64) -> f64 {
        let growth = if self.h * lambda.re <= SLACK {
            1.0
        } else {
            (self.h * lambda.re).exp().max(self.stability(lambda).norm()).max(1.0)
        };
        growth * (1.0 + SLACK)
    }

    pub fn order(&self) -> u32 {
        self.tableau.order
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
pub mod tests {
    use super::*;
    use crate::analysis::dense::tests::mat;

    /// Linearly implicit Euler, the method of Schiela and Gustafsson.
    pub fn lie(h: f64) -> Step {
        Step::new(Method::Lie, h)
    }

    /// On x' = λx with A = λ the map is the stability function, for every method and both signs of Im λ.
    #[test]
    fn the_map_of_one_state_is_the_stability_function() {
        for method in Method::ALL {
            for z in [-1e6, -30.0, -1.0, -0.01, 0.2] {
                let step = Step::new(method, 0.1);
                let j = mat(&[&[z / 0.1]]);
                let r = step.map(j.as_ref(), j.as_ref()).unwrap()[(0, 0)];
                let expected = step.stability(c64::new(z / 0.1, 0.0));
                assert!((r - expected.re).abs() < 1e-9 && expected.im == 0.0, "{method:?} {z}: {r}");
            }
        }
    }

    /// R(z) = e^z + O(z^(p+1)): halving z divides the difference by 2^(p+1).
    #[test]
    fn the_stability_function_has_the_order_of_the_method() {
        for method in Method::ALL {
            let off = |h: f64| {
                let (step, lambda) = (Step::new(method, h), c64::new(-1.0, 0.5));
                (step.stability(lambda) - (lambda * h).exp()).norm()
            };
            let found = (off(0.02) / off(0.01)).log2();
            let order = f64::from(method.tableau().order);
            assert!((found - order - 1.0).abs() < 0.1, "{method:?}: {found} for {}", order + 1.0);
        }
    }

    /// Those that bear any matrix damp what is infinitely stiff: R(z) → 0, for real and for complex modes
    /// left of the axis; on the axis they do not grow.
    #[test]
    fn the_methods_are_l_stable() {
        for method in Method::ALL.into_iter().filter(|method| method.tableau().any_matrix) {
            let step = Step::new(method, 1.0);
            for lambda in [c64::new(-1e7, 0.0), c64::new(-1e7, 1e7)] {
                assert!(step.stability(lambda).norm() < 1e-5, "{method:?}");
            }
            for k in 0..200 {
                let on_axis = step.stability(c64::new(0.0, 0.1 * k as f64)).norm();
                assert!(on_axis <= 1.0 + 1e-12, "{method:?}: |R({}i)| = {on_axis}", 0.1 * k as f64);
            }
        }
    }

    /// How stale an A each method bears: with A = θJ the step stays stable for every z = hJ <= 0 from a
    /// border on, 1/2 for `lie`, 2/3 for `lie2`, (2 + √2)/4 = 0.854 and (2 - √2)/4 = 0.146 for ROS2 with its
    /// two γ, and 0.614 for ROS34PW2.
    #[test]
    fn how_stale_a_matrix_each_step_bears() {
        let borders = [
            (Method::Lie, 0.5),
            (Method::Lie2, 2.0 / 3.0),
            (Method::Ros2, 0.8536),
            (Method::Ros2l, 0.1464),
            (Method::Ros34pw2, 0.6142),
        ];
        for (method, border) in borders {
            let stable = |theta: f64| {
                (-300..700).all(|k| {
                    let z = -10f64.powf(f64::from(k) / 100.0);
                    let (j, a) = (mat(&[&[z]]), mat(&[&[theta * z]]));
                    Step::new(method, 1.0).map(j.as_ref(), a.as_ref()).unwrap()[(0, 0)].abs() <= 1.0 + 1e-9
                })
            };
            assert!(stable(border + 0.002) && !stable(border - 0.002), "{method:?}");
        }
    }

    /// A W-method keeps its order for any A: with A = 0 a step of order p agrees with e^(hJ) to O(h^(p+1)).
    #[test]
    fn any_matrix_keeps_the_order() {
        let j = mat(&[&[-1.0, 2.0], &[-0.5, -3.0]]);
        let a = mat(&[&[0.0, 1.0], &[0.0, -5.0]]);
        for method in Method::ALL.into_iter().filter(|method| method.tableau().any_matrix) {
            let off = |h: f64| {
                let r = Step::new(method, h).map(j.as_ref(), a.as_ref()).unwrap();
                let (mut exact, mut term) = (Mat::<f64>::identity(2, 2), Mat::<f64>::identity(2, 2));
                for k in 1..20 {
                    term = faer::Scale(h / k as f64) * (&j * &term);
                    exact += &term;
                }
                (r - exact).norm_max()
            };
            let found = (off(0.01) / off(0.005)).log2();
            let order = f64::from(method.tableau().order);
            assert!((found - order - 1.0).abs() < 0.2, "{method:?}: {found}");
        }
    }
}
