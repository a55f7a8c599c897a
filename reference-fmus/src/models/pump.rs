//! A pump feeds two volumes of oil through orifices, and nobody says what it can deliver.
//!
//! ```text
//! p_1' = B/V (q - Q(p_1 - p_2)),   p_2' = B/V (Q(p_1 - p_2) - Q(p_2)),   Q(p) = K p/(p² + δ²)^(1/4)
//! ```
//!
//! Exact at rest: p_2 = (q/K)² and p_1 = 2 p_2, apart from the smoothing δ. A flow of 1e-4 m³/s makes 1e5 Pa,
//! the pressures' nominal value; one of 1 m³/s makes 1e13 Pa, which no pump, pipe or oil has seen. The input
//! has neither range nor nominal value, and starts at 0.

use crate::dual::Num;
use crate::generate::{self, Variable};
use crate::model::{Model, differentiable};

pub struct Pump;

/// B/V, Pa/m3; K, m3/s/sqrt(Pa); δ, Pa.
const STIFFNESS: f64 = 1e12;
pub const ORIFICE: f64 = 3.162_277_660_168_379e-7;
const SMALL: f64 = 1e3;

fn flow<T: Num>(p: T) -> T {
    p * (p * p + SMALL * SMALL).powf(-0.25) * ORIFICE
}

impl Pump {
    fn equations<T: Num>(&self, v: &mut [T]) {
        let [_, p1, p2, dp1, dp2, q, out] = v else { return };
        let (between, back) = (flow(*p1 - *p2), flow(*p2));
        *dp1 = (*q - between) * STIFFNESS;
        *dp2 = (between - back) * STIFFNESS;
        *out = back;
    }

    pub fn description() -> String {
        let pressure =
            |name: &str, text: &str, start: f64| Variable::state(name, text, "Pa").start(start).nominal(1e5);
        generate::description(&generate::Header {
            identifier: "pump",
            guid: "{pump:b52d97a6-4a34-4a43-8f3d-0a8b55c1e7d4}",
            description: "Two volumes of oil behind a pump whose flow has no declared range",
            units: &[
                ("s", "s=\"1\""),
                ("Pa", "kg=\"1\" m=\"-1\" s=\"-2\""),
                ("Pa/s", "kg=\"1\" m=\"-1\" s=\"-3\""),
                ("m3/s", "m=\"3\" s=\"-1\""),
            ],
            stop: 1.0,
            step: 0.001,
            indicators: 0,
            variables: &[
                Variable::time(),
                pressure("p[1]", "Pressure at the pump", 2e5),
                pressure("p[2]", "Pressure behind the first orifice", 1e5),
                Variable::derivative("p[1]", 2, "Pa/s"),
                Variable::derivative("p[2]", 3, "Pa/s"),
                Variable::input("q", "Flow of the pump", "m3/s").start(0.0),
                Variable::output("q_tank", "Flow to the tank", "m3/s"),
            ],
            outputs: &[(7, vec![(3, "dependent")])],
            derivatives: &[
                (4, vec![(2, "dependent"), (3, "dependent"), (6, "constant")]),
                (5, vec![(2, "dependent"), (3, "dependent")]),
            ],
        })
    }
}

impl Model for Pump {
    fn states(&self) -> usize {
        2
    }

    differentiable!();
}
