//! The Jacobian's entries, colour by colour, into fixed places.
//!
//! One evaluation serves all columns of a colour. With differences, the columns are perturbed together and
//! each entry is its row's difference over its column's perturbation; known entries in the same row are
//! taken off first. With directional derivatives the seed is 1 in each column of the colour, and nothing in
//! the inner FMU needs to be set.

use crate::fault::Fault;
use crate::fmi::Fmu2;
use crate::plan::{Colour, Jacobian, Plan, Source, States};

/// Evaluates colours; owns every buffer that it needs.
pub struct Differentiator {
    source: Source,
    setup: Vec<Prepared>,
    colours: Vec<Prepared>,
    /// States with the current colour's columns perturbed; equal to x in between.
    x: Vec<f64>,
    f: Vec<f64>,
    /// Perturbation of each state, as it came out in floating point.
    delta: Vec<f64>,
    /// The scale of each state: perturbations are this or |x|, whichever is larger, times sqrt(eps).
    scale: Vec<f64>,
}

/// A colour with everything looked up.
struct Prepared {
    columns: Vec<u32>,
    /// (entry, index of its result in `f`, column)
    entries: Vec<(u32, u32, u32)>,
    /// (entry, known entry, column of the known one)
    known: Vec<(u32, u32, u32)>,
    /// For directional derivatives: references of the rows and columns, and the seed of ones.
    unknowns: Vec<u32>,
    knowns: Vec<u32>,
    seed: Vec<f64>,
}

/// Which colours to evaluate.
#[derive(Clone, Copy)]
pub enum Which {
    /// Every entry, constants included.
    Setup,
    /// The colours from the first index, this many, wrapping around.
    Varying { first: usize, count: usize },
}

impl Differentiator {
    pub fn new(plan: &Plan) -> Differentiator {
        let n = plan.states.names.len();
        let prepare = |colours: &[Colour]| {
            colours.iter().map(|colour| Prepared::new(colour, &plan.jacobian, &plan.states)).collect()
        };
        Differentiator {
            source: plan.jacobian.source,
            setup: prepare(&plan.jacobian.setup),
            colours: prepare(&plan.jacobian.colours),
            x: vec![0.0; n],
            f: vec![0.0; n],
            delta: vec![0.0; n],
            scale: plan.states.nominals.clone(),
        }
    }

    /// The inner FMU reported new nominals; those that are not positive numbers are ignored.
    pub fn rescale(&mut self, nominals: &[f64]) {
        for (scale, &nominal) in self.scale.iter_mut().zip(nominals) {
            if nominal > 0.0 && nominal.is_finite() {
                *scale = nominal;
            }
        }
    }

    /// Refresh `values` at the point where the inner FMU stands, with states `x` and derivatives `r`.
    /// With differences the inner FMU's states are left perturbed: the caller sets them next.
    pub fn refresh(
        &mut self,
        which: Which,
        inner: &mut Fmu2,
        x: &[f64],
        r: &[f64],
        time: f64,
        values: &mut [f64],
    ) -> Result<(), Fault> {
        if let Source::Differences = self.source {
            self.x.copy_from_slice(x);
        }
        match which {
            Which::Setup => {
                for colour in 0..self.setup.len() {
                    self.evaluate(true, colour, inner, x, r, time, values)?;
                }
            }
            Which::Varying { first, count } => {
                for i in 0..count {
                    let colour = (first + i) % self.colours.len();
                    self.evaluate(false, colour, inner, x, r, time, values)?;
                }
            }
        }
        Ok(())
    }

    #[allow(clippy::too_many_arguments)]
    fn evaluate(
        &mut self,
        setup: bool,
        colour: usize,
        inner: &mut Fmu2,
        x: &[f64],
        r: &[f64],
        time: f64,
        values: &mut [f64],
    ) -> Result<(), Fault> {
        let colour = if setup { &self.setup[colour] } else { &self.colours[colour] };
        match self.source {
            Source::Directional => {
                let result = &mut self.f[..colour.unknowns.len()];
                let status =
                    inner.directional_derivative(&colour.unknowns, &colour.knowns, &colour.seed, result);
                if !status.is_usable() {
                    return Err(Fault::Inner { call: "fmi2GetDirectionalDerivative", status, time });
                }
                for &(entry, result, _) in &colour.entries {
                    values[entry as usize] = self.f[result as usize];
                }
                for &(entry, known, _) in &colour.known {
                    values[entry as usize] -= values[known as usize];
                }
            }
            Source::Differences => {
                // Forwards, or backwards where the model refuses: at the edge of its domain.
                let mut status = crate::status::Status::Ok;
                for sign in [1.0, -1.0] {
                    for &j in &colour.columns {
                        let j = j as usize;
                        self.x[j] = x[j] + sign * f64::EPSILON.sqrt() * x[j].abs().max(self.scale[j]);
                        self.delta[j] = self.x[j] - x[j];
                    }
                    status = inner.set_continuous_states(&self.x);
                    if status.is_usable() {
                        status = inner.get_derivatives(&mut self.f);
                    }
                    if status.is_usable() {
                        break;
                    }
                }
                for &j in &colour.columns {
                    self.x[j as usize] = x[j as usize];
                }
                if !status.is_usable() {
                    return Err(Fault::Inner { call: "fmi2GetDerivatives", status, time });
                }
                for &(entry, row, _) in &colour.entries {
                    values[entry as usize] = self.f[row as usize] - r[row as usize];
                }
                for &(entry, known, column) in &colour.known {
                    values[entry as usize] -= values[known as usize] * self.delta[column as usize];
                }
                for &(entry, _, column) in &colour.entries {
                    values[entry as usize] /= self.delta[column as usize];
                }
            }
        }
        Ok(())
    }
}

impl Prepared {
    fn new(colour: &Colour, jacobian: &Jacobian, states: &States) -> Prepared {
        let row = |entry: u32| jacobian.rows[entry as usize];
        let column = |entry: u32| jacobian.cols[entry as usize];
        let directional = jacobian.source == Source::Directional;
        let entries = colour.entries.iter().enumerate();
        Prepared {
            columns: colour.columns.clone(),
            entries: entries
                .map(|(i, &e)| (e, if directional { i as u32 } else { row(e) }, column(e)))
                .collect(),
            known: colour.known.iter().map(|&(entry, known)| (entry, known, column(known))).collect(),
            unknowns: if directional {
                colour.entries.iter().map(|&e| states.derivative_references[row(e) as usize]).collect()
            } else {
                Vec::new()
            },
            knowns: if directional {
                colour.columns.iter().map(|&j| states.references[j as usize]).collect()
            } else {
                Vec::new()
            },
            seed: if directional { vec![1.0; colour.columns.len()] } else { Vec::new() },
        }
    }
}
