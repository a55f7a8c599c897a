//! The Jacobian's entries, colour by colour, into fixed places.
//!
//! One evaluation serves all columns of a colour. With differences, the columns are perturbed together and
//! each entry is its row's difference over its column's perturbation; known entries in the same row are
//! taken off first. With directional derivatives the seed is 1 in each column of the colour, and nothing in
//! the model needs to be set.

use crate::fault::Fault;
use crate::model::{Call, Model};
use crate::plan::{Colour, Jacobian, JacobianSource, States};
use std::sync::Arc;

/// Evaluates colours; owns every buffer that it needs. Copies share what never changes.
#[derive(Clone)]
pub struct Differentiator {
    source: JacobianSource,
    setup: Arc<[Prepared]>,
    colours: Arc<[Prepared]>,
    /// States with the current colour's columns perturbed; equal to x in between.
    x: Vec<f64>,
    f: Vec<f64>,
    /// Perturbation of each state, as it came out in floating point.
    delta: Vec<f64>,
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
    pub fn new(jacobian: &Jacobian, states: &States) -> Differentiator {
        let n = states.names.len();
        let prepare = |colours: &[Colour]| {
            colours.iter().map(|colour| Prepared::new(colour, jacobian, states)).collect()
        };
        Differentiator {
            source: jacobian.source,
            setup: prepare(&jacobian.setup),
            colours: prepare(&jacobian.colours),
            x: vec![0.0; n],
            f: vec![0.0; n],
            delta: vec![0.0; n],
        }
    }

    /// It leaves the model with other states than it found.
    pub fn disturbs(&self) -> bool {
        self.source == JacobianSource::Differences
    }

    /// Calls of the model that these colours take; differences that are taken the other way are not foreseen.
    pub fn evaluations(&self, which: Which) -> u64 {
        match which {
            Which::Setup => self.setup.len() as u64,
            Which::Varying { count, .. } => count as u64,
        }
    }

    /// Refresh `values` at the point where the model stands. With differences the model's states are left perturbed: the
    /// caller sets them next.
    pub fn refresh(
        &mut self,
        which: Which,
        model: &mut impl Model,
        point: Point,
        values: &mut [f64],
    ) -> Result<(), Fault> {
        if let JacobianSource::Differences = self.source {
            self.x.copy_from_slice(point.x);
        }
        match which {
            Which::Setup => {
                for colour in 0..self.setup.len() {
                    self.evaluate(true, colour, model, point, values)?;
                }
            }
            Which::Varying { first, count } => {
                for i in 0..count {
                    let colour = (first + i) % self.colours.len();
                    self.evaluate(false, colour, model, point, values)?;
                }
            }
        }
        Ok(())
    }

    fn evaluate(
        &mut self,
        setup: bool,
        colour: usize,
        model: &mut impl Model,
        point: Point,
        values: &mut [f64],
    ) -> Result<(), Fault> {
        let colour = if setup { &self.setup[colour] } else { &self.colours[colour] };
        match self.source {
            JacobianSource::Directional => {
                let result = &mut self.f[..colour.unknowns.len()];
                let status =
                    model.directional_derivative(&colour.unknowns, &colour.knowns, &colour.seed, result);
                if !status.is_usable() {
                    return Err(Fault::Model { call: Call::DirectionalDerivative, status, time: point.time });
                }
                for &(entry, result, _) in &colour.entries {
                    values[entry as usize] = self.f[result as usize];
                }
                for &(entry, known, _) in &colour.known {
                    values[entry as usize] -= values[known as usize];
                }
            }
            JacobianSource::Differences => {
                // Forwards, or backwards where the model refuses or has no number: at the edge of its domain.
                for sign in [1.0, -1.0] {
                    for &j in &colour.columns {
                        let j = j as usize;
                        let size = point.x[j].abs().max(point.scales[j]);
                        self.x[j] = point.x[j] + sign * f64::EPSILON.sqrt() * size;
                        self.delta[j] = self.x[j] - point.x[j];
                    }
                    let mut status = model.set_continuous_states(&self.x);
                    if status.is_usable() {
                        status = model.get_derivatives(&mut self.f);
                    }
                    let finite = |&(_, row, _): &(u32, u32, u32)| self.f[row as usize].is_finite();
                    let lost =
                        colour.entries.iter().find(|entry| !finite(entry)).filter(|_| status.is_usable());
                    if status.is_usable() && lost.is_none() {
                        break;
                    }
                    if sign < 0.0 {
                        for &j in &colour.columns {
                            self.x[j as usize] = point.x[j as usize];
                        }
                        return Err(match lost {
                            Some(&(_, state, _)) => {
                                Fault::Derivative { state, value: self.f[state as usize], time: point.time }
                            }
                            None => Fault::Model { call: Call::GetDerivatives, status, time: point.time },
                        });
                    }
                }
                for &j in &colour.columns {
                    self.x[j as usize] = point.x[j as usize];
                }
                for &(entry, row, _) in &colour.entries {
                    values[entry as usize] = self.f[row as usize] - point.r[row as usize];
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

/// Where the Jacobian is taken: states, derivatives there, and the time, which faults tell.
#[derive(Clone, Copy)]
pub struct Point<'a> {
    pub x: &'a [f64],
    pub r: &'a [f64],
    /// A state is perturbed by its scale or |x|, whichever is larger, times sqrt(eps).
    pub scales: &'a [f64],
    pub time: f64,
}

impl Prepared {
    fn new(colour: &Colour, jacobian: &Jacobian, states: &States) -> Prepared {
        let row = |entry: u32| jacobian.rows[entry as usize];
        let column = |entry: u32| jacobian.cols[entry as usize];
        let directional = jacobian.source == JacobianSource::Directional;
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
