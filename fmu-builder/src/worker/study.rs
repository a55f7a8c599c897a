//! Study the FMU: its structure, its Jacobian along an accurate run, what its calls cost.
//!
//! Structure and Jacobians are taken by `probe` at several points of the run and at points thrown around them.

use super::accurate_run::AccurateRun;
use super::checks;
use super::probe::{Point, Prober};
use super::reference::{Linearisation, ReferenceSolution};
use super::scales::scales;
use super::session::{Session, expect, said};
use crate::ability::{Ability, BESIDE, Lack};
use crate::deviation::Ranges;
use crate::experiment::Value;
use crate::findings::{Sample, Studied, Study};
use crate::lab::Reporter;
use crate::lab::protocol::Refusal;
use crate::warning::StudyRemark;
use fmu_runtime::component::Component;
use fmu_runtime::value::Type;
use std::time::{Duration, Instant};

/// What was checked after the run.
#[derive(Default)]
struct Checked {
    /// What is wrong with the directional derivatives.
    wrong_directional: Option<String>,
    /// Outputs answer with values of the last evaluation.
    outputs_wait: bool,
}

impl Study {
    /// Probe the model at its start, follow the accurate run, check what only disturbs the model when the run is over.
    pub fn answer(self, reporter: &mut Reporter) -> Result<Studied, Refusal> {
        let deadline = Instant::now() + Duration::from_secs_f64(self.patience);
        let model = &self.interface;
        let (mut session, mut prober, wider, mut points, starts) = self.open(reporter)?;
        // The structure at the start decides how the run is made; more points refine it.
        points.push(session.aside(|session| prober.probe(session))?);
        if session.can_save() && model.can_be_moved {
            reporter.phase(BESIDE);
            points.extend(session.aside(|session| prober.probe_beside(session, 1, |_| f64::INFINITY))?);
        }
        let pattern = prober.pattern(&points);
        let linearisation = Linearisation::new(model, prober.scales(), &pattern, self.h);
        let probed = (prober, points, &pattern);
        let mut run = AccurateRun::new(&self, &mut session, probed, &linearisation, deadline)?;
        run.follow(&mut session, reporter)?;

        let coarse = run.solution.resolution.coarse(&run.terms.sizes);
        // What follows may disturb the model: its run is over. An instance that has failed is not asked any more.
        let mut live = match run.is_dead {
            false => Some(session),
            true if model.instantiate_only_once => None,
            true => Session::open(model, &self.experiment, reporter).ok(),
        };
        let checked = match &mut live {
            Some(session) => self.check(&mut run, session, reporter)?,
            None => Checked::default(),
        };
        match coarse {
            Some(_) => drop(live), // another instance comes
            None => reporter.keep(live),
        }
        if let Some(output) = coarse {
            let reached = &self.grid[..run.trajectory.len() - 1];
            let ranges = Ranges::of(&run.trajectory, &run.terms.sizes);
            match self.retrace(&linearisation, &ranges, reached, deadline, reporter).unwrap_or_default() {
                Some(finer) => (run.trajectory, run.discrete) = finer,
                None => run.remarks.add(StudyRemark::FewDigits {
                    output: model.output_names.get(output).unwrap_or(&model.name).clone(),
                }),
            }
        }
        Ok(studied(run, model.provides_directional_derivative, checked, wider, starts))
    }

    /// An instance at its start, with what it can be probed by, the start values that the description lacks, and a first
    /// point beside the start.
    ///
    /// A model that cannot save its state is thrown beside its start in an instance of its own, and beside its run only at
    /// the end: a Dymola engine sits on another branch of its loop after its states were moved by 3 % and back.
    #[allow(clippy::type_complexity)]
    fn open(
        &self,
        reporter: &mut Reporter,
    ) -> Result<(Session, Prober, Vec<f64>, Vec<Point>, Vec<Option<Value>>), Refusal> {
        let model = &self.interface;
        let (mut points, mut known) = (Vec::new(), None);
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
        let missing = self.missing_starts.iter();
        let starts = missing.map(|&(reference, of)| read_value(&mut session, reference, of)).collect();
        let (prober, wider) = match known {
            Some(known) => known,
            None => {
                let scales = session.aside(|session| Ok(scales(session, &model.nominals)))?;
                (Prober::new(scales.at(&session.x), &self.declared), scales.wider)
            }
        };
        Ok((session, prober, wider, points, starts))
    }

    /// What may disturb the model, after its run: states beside it where it cannot save its own, and of one run per model
    /// serialisation, directional derivatives, outputs, vectors and prices.
    fn check(
        &self,
        run: &mut AccurateRun,
        session: &mut Session,
        reporter: &mut Reporter,
    ) -> Result<Checked, Refusal> {
        let (model, mut checked) = (&self.interface, Checked::default());
        if !model.can_get_and_set_state && !run.is_dead && model.can_be_moved {
            reporter.phase(BESIDE);
            for seed in 2..5 {
                let reach = |i: usize| 2.0 * (session.x[i] - run.before[i]).abs();
                let reach: Vec<f64> = (0..run.before.len()).map(reach).collect();
                let thrown = run.prober.probe_beside(session, seed, |i| reach[i])?;
                let regime = run.solution.regime;
                run.points.extend(thrown.map(|point| Point { regime, ..point }));
            }
        }
        if self.thorough {
            reporter.phase("the checks after the run (fmi2GetDerivatives)");
            if model.can_serialize_state {
                session.check_serialisation()?;
            }
            if model.provides_directional_derivative {
                let found = checks::wrong_directional(model, session, &mut run.prober);
                checked.wrong_directional =
                    found.unwrap_or_else(|why| Some(format!("or cannot be checked: {why}")));
            }
            checked.outputs_wait = checks::outputs_wait(model, session, run.prober.scales()).unwrap_or(false);
            session.check_vectors(model)?;
            if !model.writes_beyond {
                session.inner.take_room();
            }
            run.time_if_untimed(session);
        }
        Ok(checked)
    }

    /// The accurate run once more over `grid`, with the errors of the outputs controlled as those of the states. None if it
    /// does not come to its end.
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

    /// The watched quantities now: Reals, and what is none. Outputs are read after an evaluation: some tools compute them
    /// there.
    pub fn watch(&self, session: &mut Session) -> Result<(Vec<f64>, Vec<i64>), Refusal> {
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

/// All that the study found, by entries of the Jacobian that all points together have.
fn studied(
    run: AccurateRun,
    has_directional: bool,
    checked: Checked,
    wider: Vec<f64>,
    starts: Vec<Option<Value>>,
) -> Studied {
    let pattern = run.prober.pattern(&run.points);
    let (structure, entries) = run.prober.verdict(&pattern, &run.points);
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
    let usable = has_directional && checked.wrong_directional.is_none();
    Studied {
        samples: run.points.iter().filter(|point| point.on_run).map(sample).collect(),
        beside: run.points.iter().filter(|point| !point.on_run).map(sample).collect(),
        entries: entries.clone(),
        structure,
        directional_cheaper: usable && run.prices.directional_is_cheaper(),
        magnitudes: run.magnitudes,
        wider,
        prices: run.prices,
        wrong_directional: checked.wrong_directional,
        times: run.times,
        trajectory: run.trajectory,
        terms: run.terms.sizes,
        discrete: run.discrete,
        events: run.solution.events,
        time_invariant: run.time_invariant,
        outputs_need_evaluation: checked.outputs_wait,
        halted: run.halted,
        starts,
        remarks: run.remarks.0,
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
