//! Hot gas flows through a pipe whose wall stores heat: 25 states, 20 of them stiff.
//!
//! ```text
//! p m/(R T_B) ∂w_j/∂t              = - M/A_B ∂w_j/∂z,   j = 1, 2, 3                           (16)
//! p/T_B (m c_p/R - 1) ∂T_B/∂t      = - 1/A_B (M c_p ∂T_B/∂z + α l_B (T_B - T_C))              (17)
//! ρ c ∂T_C/∂t = λ ∂²T_C/∂z² + 1/A_C (α l_B (T_B - T_C)                                        (18)
//!                                    - α_A l_C (T_C - T_A) - ε l_C σ (T_C⁴ - T_A⁴))
//! ```
//!
//! *Extension of a sparsing approach*, (16)-(18), semi-discretized in five cells as there: upwind differences
//! for the gas, central ones for the wall, whose ends are insulated. Mass flow M, pressure p and the inlet
//! values are inputs. It gives no values. Here the species are O2, CO2 and H2O in N2, m(w) and c_p(w) follow
//! from the composition, and α = Nu λ_g/d_h with Nu = 0.023 Re^0.8 Pr^0.4 where viscosity and conductivity of
//! the gas grow as T^0.7; so α = C M^0.8 c_p^0.4 T^0.14 and, as in (19), T_C depends on w.
//!
//! Parameters (length 175 mm, d_h 50 mm, wall 0.7 mm of steel, M = 26.04 g/s, p = 1 bar, T_in =
//! 700 K, T_A = 300 K) are chosen to meet the spectrum (20): there 15 eigenvalues in -748.5 …
//! -756, 5 in -1005 … -1014, 5 in -0.035 … -0.057; after 5 s of our default experiment -747.7 …
//! -756.1, -1004 … -1015 and -0.036 … -0.058. (The structure (19) has a few entries more: there a
//! gas cell also feels the temperature of the next one.) Known answers: uniform composition stays
//! uniform; with M large the gas leaves with T_in. The flow must be positive.

use crate::dual::Num;
use crate::model::{Model, differentiable};

pub struct Pipe;

const CELLS: usize = 5;
const STATES: usize = 5 * CELLS;
/// First value reference of the derivatives, inputs, parameters and outputs.
const DER: usize = 1 + STATES;
const INPUT: usize = DER + STATES;
const PARAMETER: usize = INPUT + 7;
const OUTPUT: usize = PARAMETER + 8;

/// Universal gas constant, J/(mol K), and Stefan-Boltzmann constant, W/(m² K⁴).
const R: f64 = 8.314462618;
const SIGMA: f64 = 5.670374419e-8;
/// Molar masses, kg/mol, and specific heat capacities, J/(kg K), around 700 K: O2, CO2, H2O and
/// the rest, N2.
const MOLAR: [f64; 4] = [0.031999, 0.04401, 0.018015, 0.028014];
const HEAT: [f64; 4] = [1079.0, 1177.0, 2181.0, 1147.0];
/// Viscosity, Pa s, and conductivity, W/(m K), of the gas at 700 K.
const VISCOSITY: f64 = 3.3e-5;
const CONDUCTIVITY: f64 = 0.052;
const T_GAS: f64 = 700.0;

impl Pipe {
    fn equations<T: Num>(&self, v: &mut [T]) {
        let (known, rest) = v.split_at_mut(DER);
        let (der, rest) = rest.split_at_mut(STATES);
        let [m_flow, p, t_in, w1_in, w2_in, w3_in, t_a] = rest[..7] else { return };
        let [length, d_h, s_c, rho_c, c_c, lambda_c, alpha_a, epsilon] =
            rest[PARAMETER - INPUT..OUTPUT - INPUT]
        else {
            return;
        };
        let x = &known[1..];
        let (w, t_b, t_c) = (&x[..3 * CELLS], &x[3 * CELLS..4 * CELLS], &x[4 * CELLS..]);
        let w_in = [w1_in, w2_in, w3_in];

        let pi = std::f64::consts::PI;
        let dz = length * (1.0 / CELLS as f64);
        let area_b = d_h * d_h * (pi / 4.0);
        let perimeter_b = d_h * pi;
        let perimeter_c = (d_h + s_c * 2.0) * pi;
        let area_c = (d_h + s_c) * s_c * pi;
        let wall = rho_c * c_c;
        let conduction = lambda_c / (wall * dz * dz);
        // Nu λ/d = 0.023 λ/d (M d/(A η))^0.8 (c_p η/λ)^0.4 without its powers of c_p and T.
        let reynolds = m_flow * d_h / (area_b * VISCOSITY);
        let alpha_0 = reynolds.powf(0.8) / d_h
            * (0.023 * CONDUCTIVITY.powf(0.6) * VISCOSITY.powf(0.4) * T_GAS.powf(-0.14));

        for i in 0..CELLS {
            let (mut moles, mut c_p) = (T::from(1.0 / MOLAR[3]), T::from(HEAT[3]));
            for j in 0..3 {
                moles += w[j * CELLS + i] * (1.0 / MOLAR[j] - 1.0 / MOLAR[3]);
                c_p += w[j * CELLS + i] * (HEAT[j] - HEAT[3]);
            }
            // R/m(w), J/(kg K)
            let r = moles * R;
            let rate = m_flow * r * t_b[i] / (p * area_b * dz);
            for j in 0..3 {
                let before = if i == 0 { w_in[j] } else { w[j * CELLS + i - 1] };
                der[j * CELLS + i] = rate * (before - w[j * CELLS + i]);
            }
            let alpha = alpha_0 * c_p.powf(0.4) * t_b[i].powf(0.14);
            let heat = alpha * perimeter_b * (t_b[i] - t_c[i]);
            let before = if i == 0 { t_in } else { t_b[i - 1] };
            der[3 * CELLS + i] =
                (m_flow * c_p * (before - t_b[i]) / dz - heat) / area_b * t_b[i] / (p * (c_p / r - 1.0));
            let left = if i == 0 { t_c[i] } else { t_c[i - 1] };
            let right = if i + 1 == CELLS { t_c[i] } else { t_c[i + 1] };
            let fourth = |t: T| t * t * t * t;
            let loss = alpha_a * (t_c[i] - t_a) + epsilon * (fourth(t_c[i]) - fourth(t_a)) * SIGMA;
            der[4 * CELLS + i] =
                conduction * (left - t_c[i] * 2.0 + right) + (heat - perimeter_c * loss) / (area_c * wall);
        }

        let mut sum = T::from(0.0);
        for &t in t_c {
            sum += t;
        }
        let (t_out, w_out) = (t_b[CELLS - 1], w[CELLS - 1]);
        rest[OUTPUT - INPUT] = t_out;
        rest[OUTPUT - INPUT + 1] = w_out;
        rest[OUTPUT - INPUT + 2] = sum * (1.0 / CELLS as f64);
    }
}

impl Model for Pipe {
    fn states(&self) -> usize {
        STATES
    }

    differentiable!();
}
