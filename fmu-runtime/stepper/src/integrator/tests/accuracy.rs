//! Order of convergence and exact amplification factors.

use super::model::Equations;
use super::{explicit, plan, run, start};
use crate::method::Tableau;
use crate::plan::{Method, Plan, Policy};

/// x' = λ x.
struct Dahlquist(f64);

impl Equations for Dahlquist {
    fn start(&self) -> Vec<f64> {
        vec![1.0]
    }
    fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
        dx[0] = self.0 * x[0];
    }
}

/// The factor of one step on x' = λ x, z = h λ: 1/(1-z); 2/(1-z/2)² - 1/(1-z); Verwer's (1 + (1-2γ) z) / (1 - γ z)²; and of ROS34PW2 the value
/// that the tableau itself gives in exact arithmetic, near exp(z) for small z and near 0 for large.
#[test]
fn amplification_is_the_formulas() {
    let (gamma, large) = (1.0 - 0.5f64.sqrt(), 1.0 + 0.5f64.sqrt());
    for z in [-1e-2, -0.7, -3.0, -50.0, 0.2] {
        let factors = [
            (Method::Lie, 1.0 / (1.0 - z)),
            (Method::Lie2, 2.0 / (1.0 - z / 2.0f64).powi(2) - 1.0 / (1.0 - z)),
            (Method::Ros2, (1.0 + (1.0 - 2.0 * gamma) * z) / (1.0 - gamma * z).powi(2)),
            (Method::Ros2l, (1.0 + (1.0 - 2.0 * large) * z) / (1.0 - large * z).powi(2)),
        ];
        for (method, factor) in factors {
            let mut integrator = start(plan(1, method, 0.1, Policy::Every), Dahlquist(z / 0.1));
            run(&mut integrator, 1);
            // The Jacobian is a difference: 8 digits.
            assert!((integrator.live.x[0] - factor).abs() < 1e-7, "{method:?} {z}: {:?}", integrator.live.x);
        }
    }
    for (z, expected, within) in [(-0.1, f64::exp(-0.1), 1e-5), (-1e7, 0.0, 1e-5)] {
        let mut integrator = start(plan(1, Method::Ros34pw2, 0.1, Policy::Every), Dahlquist(z / 0.1));
        run(&mut integrator, 1);
        assert!((integrator.live.x[0] - expected).abs() < within, "{z}: {:?}", integrator.live.x);
    }
}

/// x' = -x² + cos t + sin² t, so that x = sin t; and its integral y' = x.
struct Forced;

impl Equations for Forced {
    fn start(&self) -> Vec<f64> {
        vec![0.0, 0.0]
    }
    fn derivatives(&self, t: f64, x: &[f64], _: f64, dx: &mut [f64]) {
        dx[0] = -x[0] * x[0] + t.cos() + t.sin().powi(2);
        dx[1] = x[0];
    }
}

/// log2 of the ratio of the errors at t = 1 with h and h/2.
fn order(make: impl Fn(f64) -> Plan) -> f64 {
    let error = |steps: usize| {
        let mut integrator = start(make(1.0 / steps as f64), Forced);
        run(&mut integrator, steps);
        let [x, y] = integrator.live.x[..] else { unreachable!() };
        f64::hypot(x - 1f64.sin(), y - (1.0 - 1f64.cos()))
    };
    (error(80) / error(160)).log2()
}

/// Every method has its order with a fresh Jacobian, W-methods also with one from t = 0 (frozen) and with none at all..
#[test]
fn order_holds_for_any_matrix() {
    for method in Method::ALL {
        let order_of = |name: &str, order: f64, expected: f64| {
            assert!((order - expected).abs() < 0.15, "{method:?} {name}: order {order}");
        };
        let expected = f64::from(method.tableau().order);
        if !method.tableau().any_matrix {
            order_of("every", order(|h| plan(2, method, h, Policy::Every)), expected);
            continue;
        }
        let made: [(&str, &dyn Fn(f64) -> Plan); 3] = [
            ("every", &|h| plan(2, method, h, Policy::Every)),
            ("frozen", &|h| plan(2, method, h, Policy::Frozen)),
            ("none", &|h| explicit(2, method, h)),
        ];
        for (name, make) in made {
            order_of(name, order(make), expected);
        }
    }
}

/// The order conditions for an arbitrary matrix (Hairer and Wanner, IV.7, Table 7.7 and Rang and Angermann): with a, g, b of the printed form recovered from
/// the tableau, k = Γ⁻¹ u. Third order needs Σb=1, Σbα=½, Σbγ=0, Σbα²=⅓, Σbαα=1/6, Σbαγ = Σbγα = Σbγγ = 0, where γ without its diagonal's share counts
/// the whole row.
#[test]
fn ros34pw2_fulfils_the_order_conditions() {
    let (alpha, beta, b) = published(&Method::Ros34pw2.tableau());
    let s = b.len();
    let sum = |row: &Vec<f64>| row.iter().sum::<f64>();
    let a: Vec<f64> = alpha.iter().map(sum).collect();
    let g: Vec<f64> = beta.iter().map(sum).collect();
    let simple = |w: &[f64]| (0..s).map(|i| b[i] * w[i]).sum::<f64>();
    let nested = |m: &Vec<Vec<f64>>, w: &[f64]| {
        (0..s).map(|i| b[i] * (0..s).map(|j| m[i].get(j).unwrap_or(&0.0) * w[j]).sum::<f64>()).sum::<f64>()
    };
    let squares: Vec<f64> = a.iter().map(|a| a * a).collect();
    let conditions = [
        (b.iter().sum::<f64>(), 1.0),
        (simple(&a), 0.5),
        (simple(&g), 0.0),
        (simple(&squares), 1.0 / 3.0),
        (nested(&alpha, &a), 1.0 / 6.0),
        (nested(&alpha, &g), 0.0),
        (nested(&beta, &a), 0.0),
        (nested(&beta, &g), 0.0),
    ];
    for (i, (found, expected)) in conditions.into_iter().enumerate() {
        assert!((found - expected).abs() < 1e-12, "condition {i}: {found} for {expected}");
    }
}

/// α, Γ and b of the printed form: u = Γ k, nodes = α Γ⁻¹, couplings = δ - γ Γ⁻¹, weights = b Γ⁻¹. The Euler step in front is left out.
#[allow(clippy::needless_range_loop)] // indices as in the formulas
fn published(tableau: &Tableau) -> (Vec<Vec<f64>>, Vec<Vec<f64>>, Vec<f64>) {
    let (s, gamma) = (tableau.stages.len() - 1, tableau.gammas[1]);
    // Γ⁻¹ by rows, then Γ by forward substitution.
    let mut inverse = vec![vec![0.0; s]; s];
    for (i, stage) in tableau.stages[1..].iter().enumerate() {
        inverse[i][i] = 1.0 / gamma;
        for j in 0..i {
            inverse[i][j] = -stage.couplings[j + 1] / gamma;
        }
    }
    let mut whole = vec![vec![0.0; s]; s];
    for j in 0..s {
        for i in j..s {
            let unit = f64::from(u8::from(i == j));
            let rest: f64 = (j..i).map(|k| inverse[i][k] * whole[k][j]).sum();
            whole[i][j] = (unit - rest) * gamma;
        }
    }
    let times = |row: &[f64]| -> Vec<f64> {
        (0..s).map(|j| (0..row.len()).map(|k| row[k] * whole[k][j]).sum()).collect()
    };
    let alpha = tableau.stages[1..].iter().map(|stage| times(&stage.nodes[1..])).collect();
    let b = times(&tableau.weights[1..]);
    (alpha, whole, b)
}

/// x' = -1000 (x - u): where the embedded estimate is beyond the limit, second order is drawn towards the step of lower order; with no limit it overshoots.
#[test]
fn the_limiter_draws_towards_the_lower_order() {
    struct Stiff;
    impl Equations for Stiff {
        fn start(&self) -> Vec<f64> {
            vec![1.0]
        }
        fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
            dx[0] = -1000.0 * x[0];
        }
    }
    for method in [Method::Lie2, Method::Ros2, Method::Ros2l, Method::Ros34pw2] {
        let one = |limit: f64| {
            let mut plan = plan(1, method, 0.01, Policy::Every);
            plan.step.limit = limit;
            let mut integrator = start(plan, Stiff);
            run(&mut integrator, 1);
            integrator.live.x[0]
        };
        let (free, limited) = (one(f64::INFINITY), one(1e-4));
        // z = -10: the lower order has 1/36 (two half steps) or 1/11 (Euler), both positive.
        // The larger γ of ros2l has 1 - 10/18.07.
        let low = match method {
            Method::Lie2 => 1.0 / 36.0,
            Method::Ros2l => 1.0 - 10.0 / (1.0 + 10.0 * (1.0 + std::f64::consts::FRAC_1_SQRT_2)),
            _ => 1.0 / 11.0,
        };
        assert!((limited - low).abs() < 1e-3, "{method:?}: {limited} for {low}");
        assert!((free - low).abs() > 1e-2, "{method:?}: {free}");
    }
}

/// x' = -√x - 30 x near zero: a later stage of a long step lies below zero, where the model has no numbers. The step is then the Euler step, and counts as outside the
/// plan.
#[test]
fn a_stage_without_numbers_leaves_the_euler_step() {
    struct Root;
    impl Equations for Root {
        fn start(&self) -> Vec<f64> {
            vec![1.0]
        }
        fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
            dx[0] = -x[0].sqrt() - 30.0 * x[0];
        }
    }
    let mut plan = plan(1, Method::Ros2, 0.2, Policy::Every);
    plan.watch = Some(crate::plan::Watch { threshold: 1e9, outside: 1e9, sums: true });
    let mut integrator = start(plan, Root);
    run(&mut integrator, 1);
    // f(1) = -31, J = -30.5.
    let euler = 1.0 - 0.2 * 31.0 / (1.0 + 0.2 * 30.5);
    assert!((integrator.live.x[0] - euler).abs() < 1e-6, "{} for {euler}", integrator.live.x[0]);
    assert_eq!(integrator.live.outside_plan, 1);
    for method in Method::ALL {
        let first = &method.tableau().stages[0];
        assert!(method.tableau().gamma(0) >= 1.0 && first.scale == 1.0 && first.is_at_start());
    }
}
