//! The methods.

use super::{Stage, Tableau, WatchPoint};
use crate::plan::Method;

impl Method {
    pub const ALL: [Method; 4] = [Method::Lie, Method::Lie2, Method::Ros2, Method::Ros34pw2];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::Lie => "lie",
            Method::Lie2 => "lie2",
            Method::Ros2 => "ros2",
            Method::Ros34pw2 => "ros34pw2",
        }
    }

    /// In words.
    pub fn title(self) -> &'static str {
        match self {
            Method::Lie => "linearly implicit Euler",
            Method::Lie2 => "linearly implicit Euler, extrapolated",
            Method::Ros2 => "Rosenbrock-W of order 2 (Verwer)",
            Method::Ros34pw2 => "Rosenbrock-W of order 3 (Rang and Angermann)",
        }
    }

    pub fn tableau(self) -> Tableau {
        match self {
            Method::Lie => lie(),
            Method::Lie2 => lie2(),
            Method::Ros2 => ros2(),
            Method::Ros34pw2 => ros34pw2(),
        }
    }
}

/// (I - h A) d = h f(t+h, x). Time and inputs enter at the step's end, so that a stiff component follows its forcing.
fn lie() -> Tableau {
    Tableau {
        method: Method::Lie,
        order: 1,
        any_matrix: true,
        stages: vec![Stage { factors: 0, time: 1.0, scale: 1.0, nodes: vec![], couplings: vec![] }],
        weights: vec![1.0],
        low_weights: vec![],
        estimate: vec![],
        gammas: vec![1.0],
        watch: WatchPoint::End,
    }
}

/// One step d and two half steps e₁, e₂ of `lie`, extrapolated: x + 2 (e₁ + e₂) - d (Schiela, section 3.4). The two half
/// steps alone are the step of lower order.
fn lie2() -> Tableau {
    let stage = |factors, time, scale, nodes: &[f64]| Stage {
        factors,
        time,
        scale,
        nodes: nodes.to_vec(),
        couplings: vec![0.0; nodes.len()],
    };
    Tableau {
        method: Method::Lie2,
        order: 2,
        any_matrix: true,
        stages: vec![stage(0, 1.0, 1.0, &[]), stage(1, 0.5, 0.5, &[0.0]), stage(1, 1.0, 0.5, &[0.0, 1.0])],
        weights: vec![-1.0, 2.0, 2.0],
        low_weights: vec![0.0, 1.0, 1.0],
        estimate: vec![-1.0, 1.0, 1.0],
        gammas: vec![1.0, 0.5],
        watch: WatchPoint::LastStage,
    }
}

/// Verwer's ROS2 with γ = 1 - 1/√2, L-stable, of order 2 for every A; a linearly implicit Euler step from the same evaluation is
/// the step of lower order.
fn ros2() -> Tableau {
    let gamma = 1.0 - std::f64::consts::FRAC_1_SQRT_2;
    Tableau {
        method: Method::Ros2,
        order: 2,
        any_matrix: true,
        stages: vec![
            Stage { factors: 0, time: gamma, scale: 1.0, nodes: vec![], couplings: vec![] },
            Stage { factors: 1, time: gamma, scale: 1.0, nodes: vec![0.0], couplings: vec![0.0] },
            Stage {
                factors: 1,
                time: 1.0 - gamma,
                scale: 1.0,
                nodes: vec![0.0, 1.0],
                couplings: vec![0.0, -2.0],
            },
        ],
        weights: vec![0.0, 1.5, 0.5],
        low_weights: vec![1.0, 0.0, 0.0],
        estimate: vec![0.0, 0.5, 0.5],
        gammas: vec![1.0, gamma],
        watch: WatchPoint::LastStage,
    }
}

/// ROS34PW2 (J. Rang, L. Angermann, *New Rosenbrock W-methods of order 3 for partial differential algebraic equations of index 1*,
/// BIT 45, 2005): four stages, order 3 for every A, L-stable. The embedded formula has order 2.
fn ros34pw2() -> Tableau {
    let gamma = 4.358_665_215_084_59e-1;
    let alpha = [
        vec![],
        vec![8.717_330_430_169_18e-1],
        vec![8.445_706_001_536_942e-1, -1.129_906_423_648_418_5e-1],
        vec![0.0, 0.0, 1.0],
    ];
    let gammas = [
        vec![gamma],
        vec![-8.717_330_430_169_18e-1, gamma],
        vec![-9.033_805_701_304_408e-1, 5.418_067_238_809_532_6e-2, gamma],
        vec![2.421_238_070_609_534_6e-1, -1.223_250_583_904_514_7, 5.452_602_553_351_021e-1, gamma],
    ];
    let b = [2.421_238_070_609_534_6e-1, -1.223_250_583_904_514_7, 1.545_260_255_335_102, gamma];
    let embedded = [3.781_090_314_581_937e-1, -9.604_229_221_242_318e-2, 0.5, 2.179_332_607_542_295e-1];
    rosenbrock(Method::Ros34pw2, 3, &alpha, &gammas, &b, &embedded)
}

/// A Rosenbrock method as it is printed,
///
/// ```text
/// (I - γ h A) k_i = h f(x + Σ α_ij k_j) + h A Σ_{j<i} γ_ij k_j,   x⁺ = x + Σ b_i k_i
/// ```
///
/// in the variables u = Γ k, which have no product with A (Hairer and Wanner, IV.7): (I - γ h A) u_i = γ h f(x + Σ a_ij u_j) + Σ γ c_ij u_j with
/// a = α Γ⁻¹, c = I/γ - Γ⁻¹, m = b Γ⁻¹. Time enters as a state whose row and column of A are zero: at t + α_i h. A linearly implicit
/// Euler step from the first evaluation is added as the step of lower order.
fn rosenbrock(
    method: Method,
    order: u32,
    alpha: &[Vec<f64>],
    gammas: &[Vec<f64>],
    b: &[f64],
    embedded: &[f64],
) -> Tableau {
    let s = b.len();
    let gamma = gammas[0][0];
    let inverse = invert_lower(gammas);
    let times_inverse = |row: &[f64]| -> Vec<f64> {
        (0..s).map(|j| (j..row.len()).map(|k| row[k] * inverse[k][j]).sum()).collect()
    };
    // Behind the Euler step, which is no stage of the method.
    let behind = |rest: Vec<f64>| [vec![0.0], rest].concat();
    let euler = Stage { factors: 0, time: 0.0, scale: 1.0, nodes: vec![], couplings: vec![] };
    let stage = |i: usize| {
        let nodes = times_inverse(&alpha[i]);
        Stage {
            factors: 1,
            time: alpha[i].iter().sum(),
            scale: gamma,
            nodes: behind(nodes[..i].to_vec()),
            couplings: behind((0..i).map(|j| -gamma * inverse[i][j]).collect()),
        }
    };
    let difference: Vec<f64> = b.iter().zip(embedded).map(|(b, embedded)| b - embedded).collect();
    let mut low_weights = vec![0.0; s + 1];
    low_weights[0] = 1.0;
    Tableau {
        method,
        order,
        any_matrix: true,
        stages: std::iter::once(euler).chain((0..s).map(stage)).collect(),
        weights: behind(times_inverse(b)),
        low_weights,
        estimate: behind(times_inverse(&difference)),
        gammas: vec![1.0, gamma],
        watch: WatchPoint::LastStage,
    }
}

/// The inverse of a lower triangular matrix given by rows.
fn invert_lower(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let s = rows.len();
    let mut inverse = vec![vec![0.0; s]; s];
    for i in 0..s {
        inverse[i][i] = 1.0 / rows[i][i];
        for j in 0..i {
            let sum: f64 = (j..i).map(|k| rows[i][k] * inverse[k][j]).sum();
            inverse[i][j] = -sum / rows[i][i];
        }
    }
    inverse
}
