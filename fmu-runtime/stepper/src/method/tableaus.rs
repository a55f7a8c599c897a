//! The methods.

use super::{Stage, Tableau, WatchPoint};
use crate::plan::Method;

impl Method {
    pub const ALL: [Method; 8] = [
        Method::Lie,
        Method::Lie2,
        Method::Ros2,
        Method::Ros2l,
        Method::Ros34pw2,
        Method::Ro2,
        Method::Ros3p,
        Method::Rodas3,
    ];

    /// As on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Method::Lie => "lie",
            Method::Lie2 => "lie2",
            Method::Ros2 => "ros2",
            Method::Ros2l => "ros2l",
            Method::Ros34pw2 => "ros34pw2",
            Method::Ro2 => "ro2",
            Method::Ros3p => "ros3p",
            Method::Rodas3 => "rodas3",
        }
    }

    /// In words.
    pub fn title(self) -> &'static str {
        match self {
            Method::Lie => "linearly implicit Euler",
            Method::Lie2 => "linearly implicit Euler, extrapolated",
            Method::Ros2 => "Rosenbrock-W of order 2 (Verwer)",
            Method::Ros2l => "Rosenbrock-W of order 2 (Verwer), the larger gamma",
            Method::Ros34pw2 => "Rosenbrock-W of order 3 (Rang and Angermann)",
            Method::Ro2 => "Rosenbrock of order 2, stiffly accurate (Becker)",
            Method::Ros3p => "Rosenbrock of order 3 (Lang and Verwer)",
            Method::Rodas3 => "Rosenbrock of order 3, stiffly accurate (Sandu et al.)",
        }
    }

    pub fn tableau(self) -> Tableau {
        match self {
            Method::Lie => lie(),
            Method::Lie2 => lie2(),
            Method::Ros2 => ros2(),
            Method::Ros2l => ros2l(),
            Method::Ros34pw2 => ros34pw2(),
            Method::Ro2 => ro2(),
            Method::Ros3p => ros3p(),
            Method::Rodas3 => rodas3(),
        }
    }
}

/// (I - h A) d = h f(t+h, x). Time and inputs enter at the step's end, so that a stiff component follows its forcing.
fn lie() -> Tableau {
    Tableau {
        method: Method::Lie,
        order: 1,
        any_matrix: true,
        stages: vec![Stage {
            factors: 0,
            time: 1.0,
            scale: 1.0,
            time_slope: 0.0,
            nodes: vec![],
            couplings: vec![],
        }],
        weights: vec![1.0],
        low_weights: vec![],
        estimate: vec![],
        gammas: vec![1.0],
        watch: WatchPoint::End,
        stale_share: 1.0,
    }
}

/// One step d and two half steps e₁, e₂ of `lie`, extrapolated: x + 2 (e₁ + e₂) - d (Schiela, section 3.4). The two half
/// steps alone are the step of lower order.
fn lie2() -> Tableau {
    let stage = |factors, time, scale, nodes: &[f64]| Stage {
        factors,
        time,
        scale,
        time_slope: 0.0,
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
        stale_share: 2.0, // 4 for slow modes, 1 for the stiffest
    }
}

/// Verwer's ROS2 with γ = 1 - 1/√2: L-stable, of order 2 for every A. Its times γ and 1 - γ let a stiff state follow its forcing without a lag. A
/// linearly implicit Euler step from the same evaluation is the step of lower order.
fn ros2() -> Tableau {
    let gamma = 1.0 - std::f64::consts::FRAC_1_SQRT_2;
    Tableau {
        method: Method::Ros2,
        order: 2,
        any_matrix: true,
        stages: vec![
            verwer(0, gamma, &[], &[]),
            verwer(1, gamma, &[0.0], &[0.0]),
            verwer(1, 1.0 - gamma, &[0.0, 1.0], &[0.0, -2.0]),
        ],
        weights: vec![0.0, 1.5, 0.5],
        low_weights: vec![1.0, 0.0, 0.0],
        estimate: vec![0.0, 0.5, 0.5],
        gammas: vec![1.0, gamma],
        watch: WatchPoint::LastStage,
        stale_share: (1.0 - 2.0 * gamma) / gamma,
    }
}

/// The same with the larger root γ = 1 + 1/√2 of γ² - 2γ + 1/2 = 0, for an old A: it bears A = θJ from θ = 0.15 on, its step of lower order (the first stage) from
/// 0.29, ros2 from 0.85. Its error is ten times as large. ROS2 is of order 2 for all times that add up to 1; those of
/// ros2 would lie 1.7 h ahead and 0.7 h back, where a model may not be defined: these are the step's ends, and a stiff state follows its forcing 0.3 h late.
fn ros2l() -> Tableau {
    let gamma = 1.0 + std::f64::consts::FRAC_1_SQRT_2;
    Tableau {
        method: Method::Ros2l,
        order: 2,
        any_matrix: true,
        stages: vec![verwer(0, 1.0, &[], &[]), verwer(0, 0.0, &[1.0], &[-2.0])],
        weights: vec![1.5, 0.5],
        low_weights: vec![1.0, 0.0],
        estimate: vec![0.5, 0.5],
        gammas: vec![gamma],
        watch: WatchPoint::LastStage,
        stale_share: (2.0 * gamma - 1.0) / gamma,
    }
}

fn verwer(factors: usize, time: f64, nodes: &[f64], couplings: &[f64]) -> Stage {
    let (nodes, couplings) = (nodes.to_vec(), couplings.to_vec());
    Stage { factors, time, scale: 1.0, time_slope: 0.0, nodes, couplings }
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
    from_published(Method::Ros34pw2, 3, true, &alpha, &gammas, &b, &embedded)
}

/// Becker's R02 (Example 4.2.3), γ = 1 + √2/2: order 2, stiffly accurate, with the exact Jacobian only.
fn ro2() -> Tableau {
    let gamma = 1.0 + std::f64::consts::FRAC_1_SQRT_2;
    let share = gamma / (1.0 - gamma);
    from_published(
        Method::Ro2,
        2,
        false,
        &[vec![], vec![1.0]],
        &[vec![gamma], vec![-gamma, gamma]],
        &[1.0 - gamma, gamma],
        &[1.0 - share, share],
    )
}

/// ROS3P (J. Lang, J. Verwer, BIT 41, 2001), coefficients in the variables u: order 3 without order reduction on parabolic problems, two evaluations, not L-stable.
fn ros3p() -> Tableau {
    from_transformed(&Transformed {
        method: Method::Ros3p,
        order: 3,
        any_matrix: false,
        gamma: 7.886_751_345_948_129e-1,
        times: &[0.0, 1.0, 1.0],
        time_slopes: &[7.886_751_345_948_129e-1, -2.113_248_654_051_871e-1, -1.077_350_269_189_626],
        nodes: &[vec![], vec![1.267_949_192_431_123], vec![1.267_949_192_431_123, 0.0]],
        couplings: &[
            vec![],
            vec![-1.607_695_154_586_736],
            vec![-3.464_101_615_137_755, -1.732_050_807_568_877],
        ],
        weights: &[2.0, 5.773_502_691_896_258e-1, 4.226_497_308_103_742e-1],
        embedded: &[2.113_248_654_051_871, 1.0, 4.226_497_308_103_742e-1],
    })
}

/// RODAS3 (A. Sandu et al., Atmospheric Environment 31, 1997), coefficients in the variables u: order 3, stiffly accurate, L-stable.
fn rodas3() -> Tableau {
    from_transformed(&Transformed {
        method: Method::Rodas3,
        order: 3,
        any_matrix: false,
        gamma: 0.5,
        times: &[0.0, 0.0, 1.0, 1.0],
        time_slopes: &[0.5, 1.5, 0.0, 0.0],
        nodes: &[vec![], vec![0.0], vec![2.0, 0.0], vec![2.0, 0.0, 1.0]],
        couplings: &[vec![], vec![4.0], vec![1.0, -1.0], vec![1.0, -1.0, -8.0 / 3.0]],
        weights: &[2.0, 0.0, 1.0, 1.0],
        embedded: &[2.0, 0.0, 1.0, 0.0],
    })
}

/// A Rosenbrock method as it is printed,
///
/// ```text
/// (I - γ h A) k_i = h f(x + Σ α_ij k_j) + h A Σ_{j<i} γ_ij k_j,   x⁺ = x + Σ b_i k_i
/// ```
///
/// in the variables u = Γ k: a = α Γ⁻¹, c = I/γ - Γ⁻¹, m = b Γ⁻¹ (Hairer and Wanner, IV.7).
fn from_published(
    method: Method,
    order: u32,
    any_matrix: bool,
    alpha: &[Vec<f64>],
    gammas: &[Vec<f64>],
    b: &[f64],
    embedded: &[f64],
) -> Tableau {
    let s = b.len();
    let inverse = invert_lower(gammas);
    let times_inverse = |row: &[f64]| -> Vec<f64> {
        (0..s).map(|j| (j..row.len()).map(|k| row[k] * inverse[k][j]).sum()).collect()
    };
    let sums = |rows: &[Vec<f64>]| -> Vec<f64> { rows.iter().map(|row| row.iter().sum()).collect() };
    let nodes: Vec<Vec<f64>> = (0..s).map(|i| times_inverse(&alpha[i])[..i].to_vec()).collect();
    let couplings: Vec<Vec<f64>> = (0..s).map(|i| (0..i).map(|j| -inverse[i][j]).collect()).collect();
    from_transformed(&Transformed {
        method,
        order,
        any_matrix,
        gamma: gammas[0][0],
        times: &sums(alpha),
        // To a W-method time is a state whose row and column of A are zero.
        time_slopes: &if any_matrix { vec![0.0; s] } else { sums(gammas) },
        nodes: &nodes,
        couplings: &couplings,
        weights: &times_inverse(b),
        embedded: &times_inverse(embedded),
    })
}

/// A Rosenbrock method in the variables u (Hairer and Wanner, IV.7):
///
/// ```text
/// (I/(γh) - A) u_i = f(t + α_i h, x + Σ a_ij u_j) + Σ c_ij u_j / h + γ_i h f_t,   x⁺ = x + Σ m_i u_i
/// ```
struct Transformed<'a> {
    method: Method,
    order: u32,
    any_matrix: bool,
    gamma: f64,
    /// α_i and γ_i.
    times: &'a [f64],
    time_slopes: &'a [f64],
    /// a_ij, c_ij.
    nodes: &'a [Vec<f64>],
    couplings: &'a [Vec<f64>],
    /// m_i, and those of the embedded formula.
    weights: &'a [f64],
    embedded: &'a [f64],
}

/// As a tableau. A linearly implicit Euler step from the first evaluation is added in front as the step of lower order.
fn from_transformed(given: &Transformed) -> Tableau {
    let (s, gamma) = (given.weights.len(), given.gamma);
    let behind = |rest: &[f64]| [&[0.0], rest].concat();
    let scaled = |row: &[f64]| -> Vec<f64> { row.iter().map(|c| gamma * c).collect() };
    let euler =
        Stage { factors: 0, time: 0.0, scale: 1.0, time_slope: 0.0, nodes: vec![], couplings: vec![] };
    let stage = |i: usize| Stage {
        factors: 1,
        time: given.times[i],
        scale: gamma,
        time_slope: given.time_slopes[i],
        nodes: behind(&given.nodes[i]),
        couplings: behind(&scaled(&given.couplings[i])),
    };
    let difference: Vec<f64> = given.weights.iter().zip(given.embedded).map(|(m, other)| m - other).collect();
    let mut low_weights = vec![0.0; s + 1];
    low_weights[0] = 1.0;
    Tableau {
        method: given.method,
        order: given.order,
        any_matrix: given.any_matrix,
        stages: std::iter::once(euler).chain((0..s).map(stage)).collect(),
        weights: behind(given.weights),
        low_weights,
        estimate: behind(&difference),
        gammas: vec![1.0, gamma],
        watch: WatchPoint::LastStage,
        stale_share: if given.any_matrix { 0.83 } else { 1.0 },
    }
}

/// The inverse of a lower triangular matrix given by rows, by rows: row i of it is (e_i - Σ_{k<i} a_ik row_k) / a_ii.
fn invert_lower(rows: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let mut inverse: Vec<Vec<f64>> = Vec::with_capacity(rows.len());
    for (i, row) in rows.iter().enumerate() {
        let mut own = vec![0.0; rows.len()];
        own[i] = 1.0;
        for (a, before) in row.iter().zip(&inverse) {
            own.iter_mut().zip(before).for_each(|(own, before)| *own -= a * before);
        }
        own.iter_mut().for_each(|own| *own /= row[i]);
        inverse.push(own);
    }
    inverse
}
