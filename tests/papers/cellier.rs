//! Blended, cyclic and ϑ-methods of Cellier and Kofman (*Continuous System Simulation*, chapter 2, H2.3 to H2.8) as step maps.
//!
//! FE is an explicit, BE a (linearly) implicit Euler step; on linear systems with A = J there is no difference between implicit and linearly implicit.
//! None of them is shipped: the blended ones are unstable in stiff modes, the cyclic ones fall to order 1 with an A that is not J and let stiff modes ring.

use super::mat;
use faer::prelude::c64;
use fmu_builder::method::Step;
use fmu_runtime::method::{Stage, Tableau, WatchPoint};
use fmu_runtime::plan::Method;

fn tableau(stages: Vec<Stage>, weights: Vec<f64>, gammas: Vec<f64>) -> Tableau {
    Tableau {
        method: Method::Lie, // for its name only
        order: 1,
        any_matrix: true,
        stages,
        weights,
        low_weights: vec![],
        estimate: vec![],
        gammas,
        watch: WatchPoint::End,
        stale_share: 1.0,
    }
}

fn stage(factors: usize, scale: f64, nodes: Vec<f64>) -> Stage {
    let couplings = vec![0.0; nodes.len()];
    Stage { factors, time: 1.0, scale, time_slope: 0.0, nodes, couplings }
}

/// H2.7: ϑ of an FE step and 1 - ϑ of a BE step from the same point; H2.3 with ϑ = 1/2.
fn blended(theta: f64) -> Tableau {
    let stages = vec![stage(0, 1.0, vec![]), stage(1, 1.0, vec![0.0])];
    tableau(stages, vec![theta, 1.0 - theta], vec![0.0, 1.0])
}

/// H2.8: an FE step of length ϑh, then a BE step of length (1 - ϑ)h; H2.6 with ϑ = 1/2, and H2.4 with steps of 2h.
fn cyclic(theta: f64) -> Tableau {
    let stages = vec![stage(0, theta, vec![]), stage(1, 1.0 - theta, vec![1.0])];
    tableau(stages, vec![1.0, 1.0], vec![0.0, 1.0 - theta])
}

/// The ϑ-method as one linearly implicit stage, (I - ϑhA) k = h f: with A = J the same map as the cyclic one with 1 - ϑ.
fn theta_method(theta: f64) -> Tableau {
    tableau(vec![stage(0, 1.0, vec![])], vec![1.0], vec![theta])
}

fn r(tableau: &Tableau, z: c64) -> c64 {
    Step { tableau: tableau.clone(), h: 1.0 }.stability(z)
}

fn size(tableau: &Tableau, re: f64, im: f64) -> f64 {
    r(tableau, c64::new(re, im)).norm()
}

/// H2.8: "a stability domain similar to BE, but where the border of stability on the positive real axis is located at +10 instead of +2".
/// 1 + 10ϑ = -(1 - 10 (1 - ϑ)) gives ϑ = 0.4: stable on the whole left half plane and outside of the circle through 0 and 10.
#[test]
fn the_cyclic_method_has_its_border_at_ten() {
    let method = cyclic(0.4);
    assert!((size(&method, 10.0, 0.0) - 1.0).abs() < 1e-12);
    for k in 0..400 {
        let angle = f64::from(k) * std::f64::consts::TAU / 400.0;
        let on = |radius: f64| size(&method, 5.0 + radius * angle.cos(), radius * angle.sin());
        assert!(on(4.9) > 1.0 && on(5.1) < 1.0 && (on(5.0) - 1.0).abs() < 1e-9, "{angle}");
    }
    assert!((size(&cyclic(0.0), 2.0, 0.0) - 1.0).abs() < 1e-12, "BE has it at +2");
}

/// H2.7: R = ϑ(1 + z) + (1 - ϑ)/(1 - z). On the negative real axis it is stable to z = -(1 + √(1 + 8ϑ))/(2ϑ), -2 for FE, without a border only for BE. On the imaginary axis
/// to |z|² = (1 - 2ϑ)/ϑ². At ϑ = 1/4 the domain changes its shape: |R| = 2√ϑ in the saddle points z = 1 ± i√((1 - ϑ)/ϑ), so that below 1/4 the stable regions are connected around the unstable one,
/// which is why the list (H2.7b) has 0.249, 0.25 and 0.251.
#[test]
fn the_blended_method_changes_its_domain_at_a_quarter() {
    for theta in [0.1f64, 0.2, 0.24, 0.249, 0.25, 0.251, 0.26, 0.3, 0.5, 0.8, 1.0] {
        let method = blended(theta);
        let border = (1.0 + (1.0 + 8.0 * theta).sqrt()) / (2.0 * theta);
        assert!((size(&method, -border, 0.0) - 1.0).abs() < 1e-9, "{theta}");
        assert!(size(&method, -0.99 * border, 0.0) < 1.0 && size(&method, -1.01 * border, 0.0) > 1.0);
        if theta < 0.5 {
            let border = (1.0 - 2.0 * theta).sqrt() / theta;
            assert!(size(&method, 0.0, 0.99 * border) < 1.0 && size(&method, 0.0, 1.01 * border) > 1.0);
        }
        if theta < 1.0 {
            let saddle = size(&method, 1.0, ((1.0 - theta) / theta).sqrt());
            assert!((saddle - 2.0 * theta.sqrt()).abs() < 1e-9, "{theta}: {saddle}");
        }
    }
}

/// H2.6: the cyclic method with equal parts is the trapezoidal rule, R = (1 + z/2)/(1 - z/2): |R| = 1 on the imaginary axis. So is the ϑ-method with 1/2.
#[test]
fn equal_parts_make_the_trapezoidal_rule() {
    for y in [0.01, 0.5, 3.0, 1000.0] {
        assert!((size(&cyclic(0.5), 0.0, y) - 1.0).abs() < 1e-12);
        assert!(size(&cyclic(0.5), -0.1 * y, y) < 1.0 && size(&cyclic(0.5), 0.1 * y, y) > 1.0);
        for theta in [0.5, 0.6, 1.0] {
            let z = c64::new(-0.3 * y, y);
            assert!((r(&theta_method(theta), z) - r(&cyclic(1.0 - theta), z)).norm() < 1e-12);
        }
    }
}

/// The ϑ-method has order 2 for ϑ = 1/2 and A = J, and order 1 with any other A: that is why it is not shipped.
#[test]
fn the_theta_method_needs_the_exact_jacobian() {
    let order = |theta: f64, share: f64| {
        let off = |h: f64| {
            let (j, a) = (mat(&[&[-1.0]]), mat(&[&[-share]]));
            let step = Step { tableau: theta_method(theta), h };
            (step.map(j.as_ref(), a.as_ref()).unwrap()[(0, 0)] - (-h).exp()).abs()
        };
        (off(0.02) / off(0.01)).log2() - 1.0
    };
    assert!((order(0.5, 1.0) - 2.0).abs() < 0.05);
    assert!((order(0.5, 0.8) - 1.0).abs() < 0.05 && (order(0.6, 1.0) - 1.0).abs() < 0.05);
}

/// H2.3 and H2.4: the largest step for an accuracy of 1 % after 25 s, on eigenvalues λ = 0.1 ± 3i. From the local errors z²/2 (FE, BE), z³/3 (blended) and z³/12 of the trapezoidal
/// rule (cyclic, a macro step of two): h = 0.02/(25|λ|²) = 89 µs, √(0.03/(25|λ|³)) = 6.7 ms and √(0.12/(25|λ|³)) = 13.3 ms, to first order in the error.
#[test]
fn blending_gives_longer_steps_at_the_same_accuracy() {
    let (lambda, span) = (c64::new(0.1, 3.0), 25.0);
    let largest = |tableau: &Tableau| {
        let off = |h: f64| {
            let steps = (span / h).round();
            let log = r(tableau, lambda * h).ln() * steps;
            (log - lambda * h * steps).exp() - c64::ONE
        };
        let (mut low, mut high) = (1e-6f64, 1.0);
        while high / low > 1.001 {
            let middle = (low * high).sqrt();
            if off(middle).norm() <= 0.01 { low = middle } else { high = middle }
        }
        low
    };
    for (tableau, expected) in
        [(blended(1.0), 89e-6), (blended(0.0), 89e-6), (blended(0.5), 6.7e-3), (cyclic(0.5), 13.3e-3)]
    {
        let found = largest(&tableau);
        assert!((found / expected - 1.0).abs() < 0.03, "{found} for {expected}");
    }
}
