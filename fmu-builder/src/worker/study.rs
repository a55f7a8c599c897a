//! Study the FMU: its structure, its Jacobian along an accurate run, what its calls cost.
//!
//! Structure and Jacobians are taken by `probe` at several points of the run and at points thrown around them.

use super::Subject;
use super::probe::{ONE_BY_ONE, Prober};
use super::reference::{Halt, Reference};
use super::session::{Session, expect, said};
use super::timing;
use crate::experiment::Value;
use crate::lab::Reporter;
use crate::structure::plan_parts;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// Samples are fewer in large models: each costs an evaluation per column or colour, and memory per entry.
const SAMPLE_EVALUATIONS: usize = 60_000;
const SAMPLE_ENTRIES: usize = 3_000_000;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Study {
    pub subject: Subject,
    /// One per state; `None`: depends on anything.
    pub declared: Vec<Declared>,
    /// Points in time at which trajectories are compared, ascending, after the start.
    pub grid: Vec<f64>,
    pub samples: usize,
    pub tolerance: f64,
    /// Seconds that the accurate run may take.
    pub patience: f64,
    /// Variables whose value after initialisation is asked for, with an example of their type.
    pub ask: Vec<(u32, Value)>,
}

/// What modelDescription.xml says of one derivative: (state, its slope is constant).
pub type Declared = Option<Vec<(u32, bool)>>;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Studied {
    /// Entries (row, column, constant), ascending.
    pub entries: Vec<(u32, u32, bool)>,
    pub structure: StructureFound,
    pub samples: Vec<Sample>,
    /// Largest |x| on the run, per state.
    pub magnitudes: Vec<f64>,
    /// Seconds of one evaluation: set states, get derivatives.
    pub evaluation_time: f64,
    /// Seconds of one directional derivative, if the FMU has them and they are right.
    pub directional_time: Option<f64>,
    /// What is wrong with its directional derivatives.
    pub wrong_directional: Option<String>,
    /// Trajectories at the start and at each grid point that was reached, one row per point.
    pub times: Vec<f64>,
    pub trajectory: Vec<Vec<f64>>,
    pub events: u64,
    /// Why the run ended before the last grid point.
    pub halted: Option<String>,
    /// What `ask` asked for; `None` where the FMU does not tell.
    pub told: Vec<Option<Value>>,
    pub notes: Vec<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct StructureFound {
    /// Entries that the model has and its description denies.
    pub lies: Vec<(u32, u32)>,
    /// Entries declared constant that are not.
    pub not_constant: Vec<(u32, u32)>,
    /// Rows without a declaration.
    pub undeclared: usize,
}

/// The model at one point of the run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Sample {
    pub time: f64,
    pub x: Vec<f64>,
    pub derivatives: Vec<f64>,
    /// Aligned with `Studied::entries`.
    pub jacobian: Vec<f64>,
}

impl Study {
    pub fn answer(self, reporter: &mut Reporter) -> Result<Studied, String> {
        let begin = Instant::now();
        let mut session = Session::open(&self.subject, reporter)?;
        let n = session.x.len();
        self.refuse_bad_start(&mut session)?;
        let told = self.ask.iter().map(|(reference, kind)| tell(&mut session, *reference, kind)).collect();
        let mut prober = Prober::new(&self.subject.plan, &self.declared);

        // The structure at the start decides how the run is made; more points refine it.
        let mut points = vec![prober.probe(&mut session)?];
        points.extend(prober.probe_beside(&mut session, 1)?);
        let pattern = prober.pattern(&points);
        let mut plan = self.subject.plan.clone();
        (plan.jacobian, plan.elimination) =
            plan_parts(&pattern, &vec![true; pattern.len()], &vec![false; pattern.len()], plan.step.h, &[]);

        let span = self.subject.experiment.stop - self.subject.experiment.start;
        let deadline = begin + Duration::from_secs_f64(self.patience);
        let mut run = Reference::new(&plan, self.tolerance, span, deadline)?;
        let mut times = vec![session.time];
        let mut trajectory = vec![self.watch(&mut session)?];
        let mut magnitudes: Vec<f64> = session.x.iter().map(|x| x.abs()).collect();
        let affordable =
            (SAMPLE_EVALUATIONS / prober.cost().max(1)).min(SAMPLE_ENTRIES / pattern.len().max(1));
        let wanted = self.samples.min(affordable.max(2)).max(2);
        let mut halted = None;
        let mut events_seen = 0;
        reporter.phase("the accurate run (fmi2GetDerivatives)");
        for (i, &target) in self.grid.iter().enumerate() {
            reporter.progress(i as f64 / self.grid.len() as f64);
            match run.advance(&mut session, target) {
                Ok(()) => {}
                Err(Halt::OutOfTime) => {
                    halted = Some(format!("it took too long after t = {}", session.time));
                    break;
                }
                Err(Halt::Model(message)) => {
                    halted = Some(message);
                    break;
                }
            }
            for (magnitude, x) in magnitudes.iter_mut().zip(&session.x) {
                *magnitude = magnitude.max(x.abs());
            }
            times.push(target);
            trajectory.push(self.watch(&mut session)?);
            // Samples are spread evenly, and taken after events too, where the model may be another one.
            let due = (i + 1) * wanted / self.grid.len() > i * wanted / self.grid.len();
            let after_event = run.events > events_seen && points.len() < 2 * wanted;
            events_seen = run.events;
            if due || after_event {
                points.push(prober.probe(&mut session)?);
                if points.len() % 4 == 2 && affordable > 40 {
                    points.extend(prober.probe_beside(&mut session, points.len() as u64)?);
                }
            }
        }
        let mut notes = Vec::new();
        if run.unresolved > 0 {
            notes.push(format!(
                "{} steps of the accurate run missed their tolerance: the model is not smooth there",
                run.unresolved
            ));
        }
        let pattern = prober.pattern(&points);
        let (structure, entries) = prober.verdict(&pattern, &points);
        let wrong_directional = match self.subject.plan.model.provides_directional_derivative {
            true => self.check_directional(&mut session, &mut prober)?,
            false => None,
        };
        let (evaluation_time, directional_time) =
            timing::measure(&mut session, &self.subject.plan, entries.len())?;
        let usable = self.subject.plan.model.provides_directional_derivative && wrong_directional.is_none();
        Ok(Studied {
            samples: points
                .iter()
                .filter(|point| point.on_run)
                .map(|point| Sample {
                    time: point.time,
                    x: point.x.clone(),
                    derivatives: point.derivatives.clone(),
                    jacobian: entries
                        .iter()
                        .map(|&(row, col, _)| point.entries.get(&(row, col)).copied().unwrap_or(0.0))
                        .collect(),
                })
                .collect(),
            entries,
            structure,
            magnitudes,
            evaluation_time,
            directional_time: directional_time.filter(|_| usable && n > 0),
            wrong_directional,
            times,
            trajectory,
            events: run.events,
            halted,
            told,
            notes,
        })
    }

    fn refuse_bad_start(&self, session: &mut Session) -> Result<(), String> {
        let names = &self.subject.plan.states.names;
        if let Some(i) = session.x.iter().position(|x| !x.is_finite()) {
            return Err(format!(
                "the state {} is {} at the start (t = {}); give it or its parameters a start value with --set",
                names[i], session.x[i], session.time
            ));
        }
        let mut f = vec![0.0; session.x.len()];
        let (time, x) = (session.time, session.x.clone());
        let status = session.derivatives(time, &x, false, &mut f);
        expect(status, "fmi2GetDerivatives", &session.log)?;
        if let Some(i) = f.iter().position(|f| !f.is_finite()) {
            return Err(format!(
                "the derivative of {} is {} at the start (t = {}){}; check the model's parameters and start \
                 values, or change them with --set",
                names[i],
                f[i],
                session.time,
                said(&session.log)
            ));
        }
        Ok(())
    }

    /// The watched quantities now.
    fn watch(&self, session: &mut Session) -> Result<Vec<f64>, String> {
        let (time, x) = (session.time, session.x.clone());
        expect(session.place(time, &x, false), "fmi2SetContinuousStates", &session.log)?;
        if self.subject.outputs.is_empty() {
            return Ok(x);
        }
        let mut values = vec![0.0; self.subject.outputs.len()];
        expect(session.inner.get_real(&self.subject.outputs, &mut values), "fmi2GetReal", &session.log)?;
        Ok(values)
    }

    /// Compare directional derivatives at the run's end with differences; the first wrong one is told.
    fn check_directional(
        &self,
        session: &mut Session,
        prober: &mut Prober,
    ) -> Result<Option<String>, String> {
        let states = &self.subject.plan.states;
        let n = session.x.len();
        if n == 0 || states.references.len() != n || states.derivative_references.len() != n {
            return Ok(None);
        }
        let point = prober.probe(session)?;
        let (time, x) = (session.time, session.x.clone());
        expect(session.place(time, &x, false), "fmi2SetContinuousStates", &session.log)?;
        let mut f = vec![0.0; n];
        expect(session.inner.get_derivatives(&mut f), "fmi2GetDerivatives", &session.log)?;
        let mut result = vec![0.0; n];
        // Columns spread over the model: all of a small one.
        let stride = n.div_ceil(ONE_BY_ONE);
        for column in (0..n).step_by(stride) {
            let reference = [states.references[column]];
            let unknowns = &states.derivative_references;
            let status = session.inner.directional_derivative(unknowns, &reference, &[1.0], &mut result);
            if !status.is_usable() {
                let name = &states.names[column];
                return Ok(Some(format!("with respect to {name}: the call returns {}", status.name())));
            }
            let size = result.iter().fold(0.0, |size, value| f64::max(size, value.abs()));
            for (row, &said) in result.iter().enumerate() {
                let place = (row as u32, column as u32);
                let found = point.entries.get(&place).copied().unwrap_or(0.0);
                let noise = point.noise.get(&place).copied().unwrap_or(0.0);
                // Differences of a curved function are off by a share of themselves; a wrong formula is off by more.
                let off = (said - found).abs();
                if !said.is_finite() || off > 0.05 * said.abs().max(found.abs()) + 100.0 * noise + 1e-6 * size
                {
                    return Ok(Some(format!(
                        "of der({}) with respect to {}: it says {said:.6e}, differences say {found:.6e}",
                        states.names[row], states.names[column]
                    )));
                }
            }
        }
        Ok(None)
    }
}

/// The value of a variable now.
fn tell(session: &mut Session, reference: u32, kind: &Value) -> Option<Value> {
    let (mut real, mut integer) = ([0.0], [0]);
    let inner = &mut session.inner;
    let (status, value) = match kind {
        Value::Real(_) => (inner.get_real(&[reference], &mut real), Value::Real(real[0])),
        Value::Integer(_) => (inner.get_integer(&[reference], &mut integer), Value::Integer(integer[0])),
        Value::Boolean(_) => (inner.get_boolean(&[reference], &mut integer), Value::Boolean(integer[0] != 0)),
        Value::Text(_) => {
            return inner.copy_string(reference).map(|text| Value::Text(text.to_string_lossy().into_owned()));
        }
    };
    let finite = !matches!(value, Value::Real(real) if !real.is_finite());
    (status.is_usable() && finite).then_some(value)
}
