//! A cabinet of 48 cells, each kept warm by its own thermostat: 96 event indicators, several events a second.
//!
//! ```text
//! C_i T_i' = P_i - k_1 (T_i - T_a)^1.25 - ε σ_A (T_i⁴ - T_a⁴) - G (2 T_i - T_(i-1) - T_(i+1)),   the ends against the ambient
//! P_i := P while T_i < T_set - w/2,   := 0 when T_i > T_set + w/2
//! ```
//!
//! No two cells have the same capacity, so they switch one by one. Natural convection and radiation make an
//! evaluation cost two powers per cell, more than a microsecond. (T_i - T_a)^1.25 is smoothed and odd. Known
//! answers: with all cells and the ambient at one temperature and the heaters off nothing changes; each cell
//! stays within its band but for what it moves until the event is handled.

use crate::dual::Num;
use crate::generate::{self, Variable};
use crate::model::{Event, Model, Values, differentiable};

pub struct ManyIndicators;

pub const CELLS: usize = 48;
/// Value references: temperatures from 1 on, their derivatives, then these.
const DER: usize = 1 + CELLS;
const AMBIENT: usize = DER + CELLS;
const SETPOINT: usize = AMBIENT + 1;
const BAND: usize = SETPOINT + 1;
const POWER: usize = BAND + 1;
const CONDUCTANCE: usize = POWER + 1;
const HEAT: usize = CONDUCTANCE + 1;
const TOTAL: usize = HEAT + CELLS;
const MEAN: usize = TOTAL + 1;
const REALS: usize = MEAN + 1;

/// Convection, W/K^1.25; radiation, W/K⁴; smoothing of a temperature difference, K.
const CONVECTION: f64 = 0.03;
const RADIATION: f64 = 2e-10;
const SMALL: f64 = 0.1;

/// Capacity of a cell, J/K.
fn capacity(cell: usize) -> f64 {
    3.0 + 0.05 * (cell * 7 % CELLS) as f64
}

impl ManyIndicators {
    fn equations<T: Num>(&self, v: &mut [T]) {
        if v.len() != REALS {
            return;
        }
        let (ambient, conductance) = (v[AMBIENT], v[CONDUCTANCE]);
        let sky = ambient.powf(4.0);
        let (mut total, mut mean) = (T::from(0.0), T::from(0.0));
        for i in 0..CELLS {
            let t = v[1 + i];
            let left = if i == 0 { ambient } else { v[i] };
            let right = if i + 1 == CELLS { ambient } else { v[2 + i] };
            let over = t - ambient;
            let convection = over * (over * over + SMALL * SMALL).powf(0.125) * CONVECTION;
            let radiation = (t.powf(4.0) - sky) * RADIATION;
            let heat = v[HEAT + i];
            total += heat;
            mean += t * (1.0 / CELLS as f64);
            v[DER + i] = (heat - convection - radiation - conductance * (t * 2.0 - left - right))
                * (1.0 / capacity(i));
        }
        v[TOTAL] = total;
        v[MEAN] = mean;
    }

    pub fn description() -> String {
        let name = |cell: usize| format!("T[{}]", cell + 1);
        let mut variables = vec![Variable::time()];
        for i in 0..CELLS {
            variables
                .push(Variable::state(&name(i), "Temperature of a cell", "K").start(300.0).nominal(300.0));
        }
        for i in 0..CELLS {
            variables.push(Variable::derivative(&name(i), 2 + i, "K/s"));
        }
        variables.push(Variable::input("T_a", "Ambient temperature", "K").start(290.0).range(250.0, 310.0));
        variables.push(Variable::tunable("T_set", "Temperature that is kept", "K").start(320.0));
        variables.push(Variable::tunable("band", "Width of the thermostats' band", "K").start(4.0));
        variables.push(Variable::fixed("P", "Power of a heater", "W").start(12.0));
        variables.push(Variable::fixed("G", "Conductance between cells", "W/K").start(0.02));
        for i in 0..CELLS {
            variables.push(Variable::discrete(&format!("P_heat[{}]", i + 1), "Power of its heater", "W"));
        }
        variables.push(Variable::output("P_total", "Power of all heaters", "W"));
        variables.push(Variable::output("T_mean", "Mean temperature of the cells", "K"));
        let at = |reference: usize| reference + 1;
        let derivatives: Vec<_> = (0..CELLS)
            .map(|i| {
                let cells = i.saturating_sub(1)..=(i + 1).min(CELLS - 1);
                let mut on: Vec<_> =
                    cells.map(|j| (at(1 + j), if i == j { "dependent" } else { "fixed" })).collect();
                on.push((at(AMBIENT), "dependent"));
                (at(DER + i), on)
            })
            .collect();
        let cells = (0..CELLS).map(|i| (at(1 + i), "constant")).collect();
        generate::description(&generate::Header {
            identifier: "many_indicators",
            guid: "{many-indicators:3d6f3a52-6f0a-5a87-9f0e-0b6b7a9c1e52}",
            description: "48 cells with thermostats: 96 event indicators",
            units: &[
                ("s", "s=\"1\""),
                ("K", "K=\"1\""),
                ("K/s", "K=\"1\" s=\"-1\""),
                ("W", "kg=\"1\" m=\"2\" s=\"-3\""),
                ("W/K", "kg=\"1\" m=\"2\" s=\"-3\" K=\"-1\""),
            ],
            stop: 20.0,
            step: 0.01,
            indicators: 2 * CELLS,
            variables: &variables,
            outputs: &[(at(TOTAL), Vec::new()), (at(MEAN), cells)],
            derivatives: &derivatives,
        })
    }
}

impl Model for ManyIndicators {
    fn states(&self) -> usize {
        CELLS
    }

    fn indicators(&self) -> usize {
        2 * CELLS
    }

    fn initialize(&self, v: &mut Values) -> Result<(), &'static str> {
        for i in 0..CELLS {
            v.real[HEAT + i] = if v.real[1 + i] < v.real[SETPOINT] { v.real[POWER] } else { 0.0 };
        }
        Ok(())
    }

    differentiable!();

    /// Of each cell: how far it is below the upper limit while it is heated, above the lower one while it is
    /// not.
    fn event_indicators(&self, v: &Values, z: &mut [f64]) {
        let half = 0.5 * v.real[BAND];
        for (i, z) in z.chunks_exact_mut(2).enumerate() {
            let over = v.real[1 + i] - v.real[SETPOINT];
            let heated = v.real[HEAT + i] > 0.0;
            z[0] = if heated { half - over } else { 1.0 };
            z[1] = if heated { 1.0 } else { over + half };
        }
    }

    fn event(&self, v: &mut Values) -> Event {
        let half = 0.5 * v.real[BAND];
        for i in 0..CELLS {
            let over = v.real[1 + i] - v.real[SETPOINT];
            if over >= half {
                v.real[HEAT + i] = 0.0;
            } else if over <= -half {
                v.real[HEAT + i] = v.real[POWER];
            }
        }
        Event::default()
    }
}
