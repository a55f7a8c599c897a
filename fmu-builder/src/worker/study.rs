//! Study the FMU: its structure, its Jacobian along an accurate run, what its calls cost.
//!
//! Structure and Jacobians are taken by `probe` at several points of the run and at points thrown around them.

use super::checks;
use super::probe::{Point, Prober};
use super::reference::{Halt, Linearisation, ReferenceSolution};
use super::remarks::Remarks;
use super::scales::scales;
use super::session::{Session, expect, said};
use super::terms::Terms;
use super::timing::{self, Timing};
use crate::ability::{Ability, BESIDE, Lack};
use crate::deviation::Ranges;
use crate::experiment::Value;
use crate::findings::{Prices, Sample, Studied, Study};
use crate::lab::Reporter;
use crate::lab::protocol::Refusal;
use crate::warning::StudyRemark;
use fmu_runtime::component::Component;
use fmu_runtime::value::Type;
use std::time::{Duration, Instant};

/// Samples are fewer in large models: each costs an evaluation per column or colour, and memory per entry.
const SAMPLE_EVALUATIONS: usize = 60_000;
const SAMPLE_ENTRIES: usize = 3_000_000;
/// Places of the run at which the model's calls are timed, and seconds at each: of the first run, of others.
const TIMED: [(usize, f64); 2] = [(8, 8e-3), (3, 3e-3)];
/// Seconds that this may take together: an evaluation may take many milliseconds.
const TIMED_AT_MOST: f64 = 0.5;

/// The phase of the run itself.
const RUN: &str = "the accurate run (fmi2GetDerivatives)";

impl Study {
    pub fn answer(self, reporter: &mut Reporter) -> Result<Studied, Refusal> {
        let begin = Instant::now();
        let model = &self.interface;
        let mut points = Vec::new();
        // A model that cannot save its state is thrown beside its start in an instance of its own, and beside its run only
        // at the end: a Dymola engine sits on another branch of its loop after its states were moved by 3 % and back.
        let mut known = None;
        if !model.can_get_and_set_state && !model.instantiate_only_once && model.can_be_moved {
            let mut other = Session::open(model, &self.experiment, reporter)?;
            self.refuse_bad_start(&mut other)?;
            let scales = scales(&mut other, &model.nominals);
            let prober = Prober::new(scales.at(&other.x), &self.declared);
            let (prober, _) = known.insert((prober, scales.wider));
            reporter.phase(BESIDE);
            points.extend(prober.probe_beside(&mut other, 1, |_| f64::INFINITY)?);
            reporter.phase("fmi2GetDerivatives");
        }
        let mut session = Session::open(model, &self.experiment, reporter)?;
        self.refuse_bad_start(&mut session)?;
        let starts = self
            .missing_starts
            .iter()
            .map(|&(reference, of)| read_value(&mut session, reference, of))
            .collect();

        let (mut prober, wider) = match known {
            Some(known) => known,
            None => {
                let scales = session.aside(|session| Ok(scales(session, &model.nominals)))?;
                (Prober::new(scales.at(&session.x), &self.declared), scales.wider)
            }
        };

        // The structure at the start decides how the run is made; more points refine it.
        points.push(session.aside(|session| prober.probe(session))?);
        if session.can_save() && model.can_be_moved {
            reporter.phase(BESIDE);
            points.extend(session.aside(|session| prober.probe_beside(session, 1, |_| f64::INFINITY))?);
        }
        let pattern = prober.pattern(&points);
        let linearisation = Linearisation::new(model, prober.scales(), &pattern, self.h);

        let span = self.experiment.stop - self.experiment.start;
        let deadline = begin + Duration::from_secs_f64(self.patience);
        let outputs = &model.outputs;
        let mut run =
            ReferenceSolution::new(&linearisation, outputs, session.z.len(), self.tolerance, span, deadline)?;
        let mut times = vec![session.time];
        let (first, first_discrete) = self.watch(&mut session)?;
        let (mut trajectory, mut discrete) = (vec![first], vec![first_discrete]);
        let mut magnitudes: Vec<f64> = session.x.iter().map(|x| x.abs()).collect();
        let affordable =
            (SAMPLE_EVALUATIONS / prober.cost().max(1)).min(SAMPLE_ENTRIES / pattern.len().max(1));
        let wanted = self.samples.min(affordable.max(2)).max(2);
        let (mut halted, mut is_dead) = (None, false);
        let (mut remarks, mut time_invariant) = (Remarks::default(), !self.time_declared);
        let (mut events_seen, mut before) = (0, session.x.clone());
        let mut terms = Terms::new(outputs, session.x.len());
        let (places, seconds) = TIMED[usize::from(!self.thorough)];
        let (mut prices, mut timed) = (Prices::default(), Duration::ZERO);
        reporter.phase(RUN);
        for (i, &target) in self.grid.iter().enumerate() {
            reporter.progress(i as f64 / self.grid.len() as f64);
            before.copy_from_slice(&session.x);
            match run.advance(&mut session, target) {
                Ok(()) => {}
                Err(Halt::OutOfTime) => {
                    halted = Some(format!("it took too long after t = {}", session.time));
                    break;
                }
                Err(Halt::NotANumber(message)) if self.given => return Err(message.into()),
                Err(Halt::Lacks(lack)) if self.given => return Err(vec![lack].into()),
                Err(
                    Halt::Model(message)
                    | Halt::NotANumber(message)
                    | Halt::Lacks(Lack { seen: message, .. }),
                ) => {
                    (halted, is_dead) = (Some(message), true);
                    break;
                }
            }
            if let Some(i) = session.x.iter().position(|x| !x.is_finite()) {
                let (name, value) = (&model.state_names[i], session.x[i]);
                let message = format!("the state {name} is {value} at t = {target}; check the model there");
                if self.given && value.is_nan() {
                    return Err(message.into());
                }
                (halted, is_dead) = (Some(message), true);
                break;
            }
            for (magnitude, x) in magnitudes.iter_mut().zip(&session.x) {
                *magnitude = magnitude.max(x.abs());
            }
            let (values, steady) = match self.watch(&mut session) {
                Ok(watched) => watched,
                Err(refusal) if self.given && !refusal.lacks.is_empty() => return Err(refusal),
                Err(refusal) => {
                    (halted, is_dead) = (Some(refusal.message), true);
                    break;
                }
            };
            times.push(target);
            trajectory.push(values);
            discrete.push(steady);
            // Samples are spread evenly, and taken after events too, where the model may be another one.
            let due = (i + 1) * wanted / self.grid.len() > i * wanted / self.grid.len();
            let after_event = run.events > events_seen && points.len() < 2 * wanted;
            events_seen = run.events;
            if due || after_event {
                let beside =
                    points.len() % 4 == 2 && affordable > 40 && session.can_save() && model.can_be_moved;
                // Where nobody said how large a state is, not further than what was seen of it.
                let reach = |i: usize| match (model.nominals[i], magnitudes[i]) {
                    (None, seen) if seen > 0.0 => 0.1 * seen,
                    _ => f64::INFINITY,
                };
                let spread = due && (i + 1) * places / self.grid.len() > i * places / self.grid.len();
                let is_timed = spread || due && prices.0.is_empty();
                let is_timed = is_timed && timed.as_secs_f64() < TIMED_AT_MOST;
                let (mut taken, ignores) = session.aside(|session| {
                    // Where the model has no slopes there is no sample: others integrate past such a point.
                    let mut taken: Vec<Point> = prober.probe(session).ok().into_iter().collect();
                    let ignores = !time_invariant || checks::ignores_time(session, self.h).unwrap_or(false);
                    // Best effort: what it cannot tell stays as it was.
                    let _ = terms.measure(session);
                    if is_timed {
                        let begin = Instant::now();
                        let rows =
                            taken.first().map_or(1, |point| point.entries.len() / session.x.len().max(1));
                        let rows = self.thorough.then_some(rows);
                        let (h, scales) = (self.h, prober.scales());
                        let timing = Timing { before: &before, h, scales, rows, seconds };
                        prices.0.extend(timing::measure(session, model, &timing));
                        timed += begin.elapsed();
                    }
                    if beside {
                        reporter.phase(BESIDE);
                        taken.extend(prober.probe_beside(session, points.len() as u64, reach)?);
                        reporter.phase(RUN);
                    }
                    Ok((taken, ignores))
                })?;
                time_invariant &= ignores;
                taken.iter_mut().for_each(|point| point.regime = run.regime);
                let on_run = taken.iter().find(|point| point.on_run);
                if on_run.is_none() {
                    remarks.add(StudyRemark::NoJacobian { time: session.time });
                }
                if let Some(point) = on_run
                    && !self.goes_on(&mut session, point)?
                {
                    remarks.add(StudyRemark::KeepsTraces { time: session.time });
                }
                points.append(&mut taken);
            }
        }
        if run.unresolved > 0 {
            remarks.add(StudyRemark::NotSmooth { steps: run.unresolved });
        }
        let coarse = run.resolution.coarse(&terms.sizes);
        // What follows may disturb the model: its run is over. An instance that has failed is not asked any more.
        let mut live = match is_dead {
            false => Some(session),
            true if model.instantiate_only_once => None,
            true => Session::open(model, &self.experiment, reporter).ok(),
        };
        let (mut wrong_directional, mut waits) = (None, false);
        if let Some(session) = &mut live {
            if !model.can_get_and_set_state && !is_dead && model.can_be_moved {
                reporter.phase(BESIDE);
                for seed in 2..5 {
                    let reach = |i: usize| 2.0 * (session.x[i] - before[i]).abs();
                    let reach: Vec<f64> = (0..before.len()).map(reach).collect();
                    let thrown = prober.probe_beside(session, seed, |i| reach[i])?;
                    points.extend(thrown.map(|point| Point { regime: run.regime, ..point }));
                }
            }
            if self.thorough {
                reporter.phase("the checks after the run (fmi2GetDerivatives)");
                if model.can_serialize_state {
                    session.check_serialisation()?;
                }
                if model.provides_directional_derivative {
                    let checked = checks::wrong_directional(model, session, &mut prober);
                    wrong_directional =
                        checked.unwrap_or_else(|why| Some(format!("or cannot be checked: {why}")));
                }
                waits = checks::outputs_wait(model, session, prober.scales()).unwrap_or(false);
                session.check_vectors(model)?;
                if !model.writes_beyond {
                    session.inner.take_room();
                }
                if prices.0.is_empty() {
                    let (h, scales, rows) = (self.h, prober.scales(), Some(1));
                    let timing = Timing { before: &before, h, scales, rows, seconds };
                    prices.0.extend(timing::measure(session, model, &timing));
                }
            }
        }
        match coarse {
            Some(_) => drop(live), // another instance comes
            None => reporter.keep(live),
        }
        if let Some(output) = coarse {
            let reached = &self.grid[..trajectory.len() - 1];
            let ranges = Ranges::of(&trajectory, &terms.sizes);
            match self.retrace(&linearisation, &ranges, reached, deadline, reporter).unwrap_or_default() {
                Some(finer) => (trajectory, discrete) = finer,
                None => remarks.add(StudyRemark::FewDigits {
                    output: model.output_names.get(output).unwrap_or(&model.name).clone(),
                }),
            }
        }
        let pattern = prober.pattern(&points);
        let (structure, entries) = prober.verdict(&pattern, &points);
        let usable = model.provides_directional_derivative && wrong_directional.is_none();
        let sample = |point: &Point| Sample {
            time: point.time,
            x: point.x.clone(),
            derivatives: point.derivatives.clone(),
            jacobian: entries
                .iter()
                .map(|&(row, col, _)| point.entries.get(&(row, col)).copied().unwrap_or(0.0))
                .collect(),
            regime: point.regime,
        };
        Ok(Studied {
            samples: points.iter().filter(|point| point.on_run).map(sample).collect(),
            beside: points.iter().filter(|point| !point.on_run).map(sample).collect(),
            entries: entries.clone(),
            structure,
            directional_cheaper: usable && prices.directional_is_cheaper(),
            magnitudes,
            wider,
            prices,
            wrong_directional,
            times,
            trajectory,
            terms: terms.sizes,
            discrete,
            events: run.events,
            time_invariant,
            outputs_need_evaluation: waits,
            halted,
            starts,
            remarks: remarks.0,
        })
    }

    /// The accurate run once more over `grid`, with the errors of the outputs controlled as those of the states. None if it does not come to its end.
    #[allow(clippy::type_complexity)]
    fn retrace(
        &self,
        linearisation: &Linearisation,
        known: &Ranges,
        grid: &[f64],
        deadline: Instant,
        reporter: &mut Reporter,
    ) -> Result<Option<(Vec<Vec<f64>>, Vec<Vec<i64>>)>, Refusal> {
        if self.interface.instantiate_only_once {
            return Ok(None);
        }
        let mut session = Session::open(&self.interface, &self.experiment, reporter)?;
        let span = self.experiment.stop - self.experiment.start;
        let outputs = &self.interface.outputs;
        let mut run =
            ReferenceSolution::new(linearisation, outputs, session.z.len(), self.tolerance, span, deadline)?;
        run.resolution.control(known, self.tolerance);
        let (mut trajectory, mut discrete) = (Vec::new(), Vec::new());
        let start = session.time;
        reporter.phase("the accurate run once more (fmi2GetDerivatives)");
        for (i, &target) in std::iter::once(&start).chain(grid).enumerate() {
            reporter.progress(i as f64 / grid.len().max(1) as f64);
            if run.advance(&mut session, target).is_err() {
                return Ok(None);
            }
            let (values, steady) = self.watch(&mut session)?;
            trajectory.push(values);
            discrete.push(steady);
        }
        Ok(Some((trajectory, discrete)))
    }

    /// True if the derivatives are again those that the probed point had: the run goes on as if nothing had happened.
    fn goes_on(&self, session: &mut Session, point: &Point) -> Result<bool, String> {
        let (time, x) = (session.time, session.x.clone());
        let mut f = vec![0.0; x.len()];
        expect(session.derivatives(time, &x, false, &mut f), "fmi2GetDerivatives", &session.log)?;
        let size = f.iter().fold(0.0, |size, f| f64::max(size, f.abs()));
        let near = |(now, then): (&f64, &f64)| (now - then).abs() <= 1e-6 * then.abs() + 1e-9 * size;
        Ok(f.iter().zip(&point.derivatives).all(near))
    }

    fn refuse_bad_start(&self, session: &mut Session) -> Result<(), Refusal> {
        let names = &self.interface.state_names;
        if let Some(i) = session.x.iter().position(|x| !x.is_finite()) {
            return Err(format!(
                "the state {} is {} at the start (t = {}); give it or its parameters a start value with --set",
                names[i], session.x[i], session.time
            )
            .into());
        }
        let mut f = vec![0.0; session.x.len()];
        let (time, x) = (session.time, session.x.clone());
        let status = session.derivatives(time, &x, false, &mut f);
        expect(status, "fmi2GetDerivatives", &session.log)?;
        if let Some(i) = session.z.iter().position(|z| z.is_nan()) {
            let seen = format!("event indicator {} is NaN at the start (t = {time})", i + 1);
            return Err(vec![Lack::new(Ability::Indicators, seen)].into());
        }
        if let Some(i) = f.iter().position(|f| !f.is_finite()) {
            return Err(format!(
                "the derivative of {} is {} at the start (t = {}){}; check the model's parameters and start \
                 values, or change them with --set",
                names[i],
                f[i],
                session.time,
                said(&session.log)
            )
            .into());
        }
        Ok(())
    }

    /// The watched quantities now: Reals, and what is none. Outputs are read after an evaluation: some tools compute them there.
    fn watch(&self, session: &mut Session) -> Result<(Vec<f64>, Vec<i64>), Refusal> {
        let (time, x) = (session.time, session.x.clone());
        let mut f = vec![0.0; x.len()];
        expect(session.derivatives(time, &x, false, &mut f), "fmi2GetDerivatives", &session.log)?;
        let discrete = self.interface.discrete_outputs.iter();
        let discrete = discrete.map(|&(reference, of)| number(read_value(session, reference, of))).collect();
        if self.interface.outputs.is_empty() {
            return Ok((x, discrete));
        }
        let mut values = vec![0.0; self.interface.outputs.len()];
        let status = session.inner.get_real(&self.interface.outputs, &mut values);
        if status.is_usable() && values.iter().all(|value| value.is_finite()) {
            return Ok((values, discrete));
        }
        let mut lacks = Vec::new();
        for (&output, name) in self.interface.outputs.iter().zip(&self.interface.output_names) {
            let mut value = [0.0];
            let status = session.inner.get_real(&[output], &mut value);
            let seen = match status.is_usable() {
                true if value[0].is_finite() => continue,
                true => format!("the output {name} is {} at t = {time}", value[0]),
                false => format!("the output {name} cannot be read at t = {time} ({})", status.name()),
            };
            lacks.push(Lack::new(Ability::Output(output), seen));
        }
        match lacks.is_empty() {
            true => {
                Err(format!("the FMU's fmi2GetReal returned {}{}", status.name(), said(&session.log)).into())
            }
            false => Err(lacks.into()),
        }
    }
}

/// A value that is no Real as a number that is equal where the values are: a text by its hash (FNV-1a).
pub fn number(value: Option<Value>) -> i64 {
    match value {
        Some(Value::Integer(value)) => i64::from(value),
        Some(Value::Boolean(value)) => i64::from(value),
        Some(Value::Text(text)) => {
            let mix = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3);
            text.bytes().fold(0xcbf2_9ce4_8422_2325, mix) as i64
        }
        Some(Value::Real(value)) => value.to_bits() as i64,
        None => i64::MIN,
    }
}

/// The value of a variable now.
fn read_value(session: &mut Session, reference: u32, of: Type) -> Option<Value> {
    let value = session.inner.value(reference, of);
    value.filter(|value| !matches!(value, Value::Real(real) if !real.is_finite()))
}
