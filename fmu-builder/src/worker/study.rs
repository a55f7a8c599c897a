//! Study the FMU: its structure, its Jacobian along an accurate run, what its calls cost.
//!
//! The declared structure is checked by perturbing states one by one (or in groups that should not meet, in
//! large models) and looking at which derivatives move; what is not declared is found the same way. Both
//! happen at several points of the run and at points thrown around them.

use super::Subject;
use super::reference::{Halt, Reference};
use super::session::{Session, expect, said};
use crate::child::Reporter;
use crate::experiment::Value;
use crate::structure::{Pattern, Variation, plan_parts};
use fmu_runtime::plan::{Colour, Plan};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Up to here every column is perturbed by itself; larger declared structures are checked by colours.
const ONE_BY_ONE: usize = 600;
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
    /// Aligned with `Studied::entries`.
    pub jacobian: Vec<f64>,
}

/// Jacobian entries of one point, by place.
type Entries = BTreeMap<(u32, u32), f64>;

struct Point {
    time: f64,
    x: Vec<f64>,
    entries: Entries,
    /// What rounding alone can do to an entry.
    noise: BTreeMap<(u32, u32), f64>,
    /// On the run, or thrown beside it.
    on_run: bool,
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
            reporter.progress(i as f64 / self.grid.len() as f64, "running the model accurately");
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
        let (evaluation_time, directional_time) = self.measure(&mut session, &entries)?;
        let usable = self.subject.plan.model.provides_directional_derivative && wrong_directional.is_none();
        Ok(Studied {
            samples: points
                .iter()
                .filter(|point| point.on_run)
                .map(|point| Sample {
                    time: point.time,
                    x: point.x.clone(),
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

    /// Seconds of an evaluation and of a directional derivative: the fastest of several batches, since
    /// everything else on this machine only adds.
    fn measure(
        &self,
        session: &mut Session,
        entries: &[(u32, u32, bool)],
    ) -> Result<(f64, Option<f64>), String> {
        let n = session.x.len();
        if n == 0 {
            return Ok((0.0, None));
        }
        let x = session.x.clone();
        let near: Vec<f64> = x.iter().map(|x| x + x.abs().max(1e-6) * 1e-12).collect();
        let mut f = vec![0.0; n];
        let (time, log) = (session.time, session.log.clone());
        expect(session.place(time, &x, false), "fmi2SetContinuousStates", &log)?;
        let mut failed = false;
        let evaluation = fastest(|i| {
            failed |= !session.inner.set_continuous_states(if i % 2 == 0 { &x } else { &near }).is_usable();
            failed |= !session.inner.get_derivatives(&mut f).is_usable();
        });
        let states = &self.subject.plan.states;
        let directional = self.subject.plan.model.provides_directional_derivative
            && session.inner.has_directional_derivative()
            && states.references.len() == n
            && states.derivative_references.len() == n
            && !failed;
        let directional = directional.then(|| {
            // A colour asks for about as many rows as there are entries per colour.
            let rows = (entries.len() / n.max(1)).clamp(1, n);
            let unknowns = &states.derivative_references[..rows];
            let mut result = vec![0.0; rows];
            let inner = &mut session.inner;
            fastest(|i| {
                let known = [states.references[i % n]];
                let _ = inner.set_continuous_states(if i % 2 == 0 { &x } else { &near });
                let _ = inner.directional_derivative(unknowns, &known, &[1.0], &mut result);
            })
        });
        Ok((evaluation, directional))
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

/// Seconds per call, the fastest of a number of batches.
fn fastest(mut call: impl FnMut(usize)) -> f64 {
    let mut size = 1;
    let mut best = f64::INFINITY;
    let begin = Instant::now();
    let mut i = 0;
    for _ in 0..50 {
        let batch = Instant::now();
        for _ in 0..size {
            call(i);
            i += 1;
        }
        let time = batch.elapsed();
        best = best.min(time.as_secs_f64() / size as f64);
        if time < Duration::from_micros(200) {
            size *= 2;
        }
        if begin.elapsed() > Duration::from_millis(60) {
            break;
        }
    }
    best
}

/// Finds entries by perturbing states.
struct Prober {
    scale: Vec<f64>,
    declared: Vec<Declared>,
    /// Columns to perturb together: by themselves, or by the colours of a large declared structure.
    groups: Vec<Colour>,
    /// (row, column) of the entries that colours refer to.
    places: Vec<(u32, u32)>,
    one_by_one: bool,
    /// Rows that moved in a group although nothing in it is declared for them.
    strays: Vec<(u32, u32)>,
}

impl Prober {
    fn new(plan: &Plan, declared: &[Declared]) -> Prober {
        let n = plan.states.names.len();
        let complete = declared.iter().all(Option::is_some);
        let one_by_one = n <= ONE_BY_ONE || !complete;
        let mut places = Vec::new();
        let groups = if one_by_one {
            let single = |column| Colour { columns: vec![column], ..Colour::default() };
            (0..n as u32).map(single).collect()
        } else {
            let pattern = declared_pattern(declared);
            places = pattern.places().map(|(row, col)| (row as u32, col as u32)).collect();
            let (all, none) = (vec![true; pattern.len()], vec![false; pattern.len()]);
            crate::structure::colour(&pattern, &all, &none, &none)
        };
        Prober {
            scale: plan.states.nominals.clone(),
            declared: declared.to_vec(),
            groups,
            places,
            one_by_one,
            strays: Vec::new(),
        }
    }

    /// Evaluations per point.
    fn cost(&self) -> usize {
        self.groups.len() + 2
    }

    /// All entries where the session stands.
    fn probe(&mut self, session: &mut Session) -> Result<Point, String> {
        let (time, x) = (session.time, session.x.clone());
        self.probe_at(session, &x, true)?
            .ok_or_else(|| format!("the derivatives cannot be evaluated at t = {time}{}", said(&session.log)))
    }

    /// Entries at states thrown around the present ones, if the model is defined there. Deterministic.
    fn probe_beside(&mut self, session: &mut Session, seed: u64) -> Result<Option<Point>, String> {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let x = session.x.iter().zip(&self.scale).map(|(x, scale)| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let share = (random >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
            x + 0.03 * share * x.abs().max(*scale)
        });
        let x: Vec<f64> = x.collect();
        let point = self.probe_at(session, &x, false)?;
        let (time, here) = (session.time, session.x.clone());
        expect(session.place(time, &here, false), "fmi2SetContinuousStates", &session.log)?;
        Ok(point)
    }

    fn probe_at(&mut self, session: &mut Session, x: &[f64], on_run: bool) -> Result<Option<Point>, String> {
        let n = x.len();
        let time = session.time;
        let mut base = vec![0.0; n];
        let mut f = vec![0.0; n];
        let mut entries = Entries::new();
        let mut noise = BTreeMap::new();
        let mut evaluate = |x: &[f64], f: &mut [f64]| session.derivatives(time, x, false, f).is_usable();
        if n > 0 && !evaluate(x, &mut base) {
            return Ok(None);
        }
        let mut shifted = x.to_vec();
        let mut unrest = vec![0.0; n];
        for (g, group) in self.groups.iter().enumerate() {
            let mut usable = false;
            for sign in [1.0, -1.0] {
                for &j in &group.columns {
                    let j = j as usize;
                    shifted[j] = x[j] + sign * f64::EPSILON.sqrt() * x[j].abs().max(self.scale[j]);
                }
                usable = evaluate(&shifted, &mut f);
                if usable {
                    break;
                }
            }
            // A model with solvers of its own does not come back to exactly the same derivatives: that much
            // movement means nothing.
            if g == 0 && usable {
                let mut again = vec![0.0; n];
                if evaluate(x, &mut again) {
                    for i in 0..n {
                        unrest[i] = 4.0 * (again[i] - base[i]).abs();
                    }
                }
            }
            let delta = |j: usize| shifted[j] - x[j];
            let moved = |i: usize| usable && (f[i] - base[i]).abs() > unrest[i].max(1e-15 * base[i].abs());
            let rounding = |i: usize| f64::EPSILON * f[i].abs().max(base[i].abs()) + unrest[i];
            if self.one_by_one {
                let j = group.columns[0] as usize;
                for i in (0..n).filter(|&i| moved(i)) {
                    entries.insert((i as u32, j as u32), (f[i] - base[i]) / delta(j));
                    noise.insert((i as u32, j as u32), rounding(i) / delta(j).abs());
                }
            } else {
                let mut expected = vec![false; n];
                for &entry in &group.entries {
                    let (row, column) = self.places[entry as usize];
                    let (i, j) = (row as usize, column as usize);
                    expected[i] = true;
                    entries.insert((row, column), (f[i] - base[i]) / delta(j));
                    noise.insert((row, column), rounding(i) / delta(j).abs());
                }
                for i in (0..n).filter(|&i| moved(i) && !expected[i]) {
                    // Which column of the group it was is not known: all of them get the entry.
                    self.strays.extend(group.columns.iter().map(|&column| (i as u32, column)));
                }
            }
            for &j in &group.columns {
                shifted[j as usize] = x[j as usize];
            }
        }
        Ok(Some(Point { time, x: x.to_vec(), entries, noise, on_run }))
    }

    /// Declared and found entries together.
    fn pattern(&self, points: &[Point]) -> Pattern {
        let declared = declared_entries(&self.declared);
        let found = points.iter().flat_map(|point| point.entries.keys().copied());
        let strays = self.strays.iter().copied();
        Pattern::new(
            self.declared.len(),
            declared
                .into_iter()
                .chain(found.chain(strays).map(|(row, col)| {
                    let (row, col) = (row as usize, col as usize);
                    (row, col, self.declared_constant(row, col))
                }))
                .map(|(row, col, constant)| {
                    (row, col, if constant { Variation::Constant } else { Variation::Varying })
                }),
        )
    }

    fn declared_constant(&self, row: usize, col: usize) -> bool {
        let declared = self.declared[row].as_ref();
        declared.is_some_and(|row| row.iter().any(|&(column, constant)| column as usize == col && constant))
    }

    /// Hold the points against the declaration: lies, and which entries are constant.
    fn verdict(&self, pattern: &Pattern, points: &[Point]) -> (StructureFound, Vec<(u32, u32, bool)>) {
        let mut found = StructureFound {
            undeclared: self.declared.iter().filter(|row| row.is_none()).count(),
            ..StructureFound::default()
        };
        let mut entries = Vec::with_capacity(pattern.len());
        for (entry, (row, col)) in pattern.places().enumerate() {
            let place = (row as u32, col as u32);
            let listed = self.declared[row].as_ref();
            if listed.is_some_and(|listed| !listed.iter().any(|&(column, _)| column as usize == col)) {
                found.lies.push(place);
            }
            let values = || points.iter().map(|point| point.entries.get(&place).copied().unwrap_or(0.0));
            let low = values().fold(f64::INFINITY, f64::min);
            let high = values().fold(f64::NEG_INFINITY, f64::max);
            let noise =
                points.iter().filter_map(|point| point.noise.get(&place)).fold(0.0, |a, &b| f64::max(a, b));
            let size = low.abs().max(high.abs());
            let steady = high - low <= 20.0 * noise + 1e-6 * size;
            let declared = pattern.variation(entry) == Variation::Constant;
            if declared && high - low > 1e3 * noise + 0.01 * size {
                found.not_constant.push(place);
            }
            // Points thrown beside the run make it unlikely that only the run was steady.
            let enough = points.len() >= 6 && points.iter().any(|point| !point.on_run);
            entries.push((place.0, place.1, steady && (declared || enough)));
        }
        (found, entries)
    }
}

fn declared_entries(declared: &[Declared]) -> Vec<(usize, usize, bool)> {
    let rows = declared.iter().enumerate();
    rows.flat_map(|(row, columns)| {
        columns.iter().flatten().map(move |&(column, constant)| (row, column as usize, constant))
    })
    .collect()
}

fn declared_pattern(declared: &[Declared]) -> Pattern {
    let entries = declared_entries(declared);
    Pattern::varying(declared.len(), entries.into_iter().map(|(row, col, _)| (row, col)))
}
