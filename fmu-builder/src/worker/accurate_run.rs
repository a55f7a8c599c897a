//! The accurate run of a study: the solution at each grid point, and what is sampled and timed along it.

use super::checks;
use super::probe::{Point, Prober};
use super::reference::{Halt, Linearisation, ReferenceSolution};
use super::remarks::Remarks;
use super::session::{Session, expect};
use super::terms::Terms;
use super::timing::{self, Timing};
use crate::ability::{BESIDE, Lack};
use crate::findings::{Prices, Study};
use crate::lab::Reporter;
use crate::lab::protocol::Refusal;
use crate::structure::Pattern;
use crate::warning::StudyRemark;
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

pub struct AccurateRun<'a> {
    study: &'a Study,
    pub solution: ReferenceSolution,
    pub prober: Prober,
    /// Where the model was probed: at the start, along the run, and beside both.
    pub points: Vec<Point>,
    /// At the start and at each grid point that was reached: time, Real quantities, quantities that are no
    /// Reals.
    pub times: Vec<f64>,
    pub trajectory: Vec<Vec<f64>>,
    pub discrete: Vec<Vec<i64>>,
    /// Largest |x| so far, per state.
    pub magnitudes: Vec<f64>,
    pub terms: Terms,
    pub prices: Prices,
    pub remarks: Remarks,
    /// No sample has shown that time matters between events.
    pub time_invariant: bool,
    /// Why the run ended before the last grid point.
    pub halted: Option<String>,
    /// The model's instance failed: it is not asked any more.
    pub is_dead: bool,
    /// The states one grid point earlier.
    pub before: Vec<f64>,
    /// Samples that are wanted along the run, and that a model of this size can afford.
    wanted: usize,
    affordable: usize,
    events_seen: u64,
    timed: Duration,
}

impl<'a> AccurateRun<'a> {
    /// Ready to go on from where the session is. `points`: what was probed at the start, which gave the
    /// pattern.
    pub fn new(
        study: &'a Study,
        session: &mut Session,
        (prober, points, pattern): (Prober, Vec<Point>, &Pattern),
        linearisation: &Linearisation,
        deadline: Instant,
    ) -> Result<AccurateRun<'a>, Refusal> {
        let (outputs, span) = (&study.interface.outputs, study.experiment.stop - study.experiment.start);
        let solution =
            ReferenceSolution::new(linearisation, outputs, session.z.len(), study.tolerance, span, deadline)?;
        let (first, first_discrete) = study.watch(session)?;
        let affordable =
            (SAMPLE_EVALUATIONS / prober.cost().max(1)).min(SAMPLE_ENTRIES / pattern.len().max(1));
        Ok(AccurateRun {
            study,
            solution,
            prober,
            points,
            times: vec![session.time],
            trajectory: vec![first],
            discrete: vec![first_discrete],
            magnitudes: session.x.iter().map(|x| x.abs()).collect(),
            terms: Terms::new(outputs, session.x.len()),
            prices: Prices::default(),
            remarks: Remarks::default(),
            time_invariant: !study.time_declared,
            halted: None,
            is_dead: false,
            before: session.x.clone(),
            wanted: study.samples.min(affordable.max(2)).max(2),
            affordable,
            events_seen: 0,
            timed: Duration::ZERO,
        })
    }

    /// Go to the last grid point, or as far as the model and the deadline allow, and take samples on the way.
    pub fn follow(&mut self, session: &mut Session, reporter: &mut Reporter) -> Result<(), Refusal> {
        reporter.phase(RUN);
        let grid = &self.study.grid;
        for (i, &target) in grid.iter().enumerate() {
            reporter.progress(i as f64 / grid.len() as f64);
            self.before.copy_from_slice(&session.x);
            if !self.reach(session, target)? {
                break;
            }
            // Samples are spread evenly, and taken after events too, where the model may be another one.
            let due = self.is_due(self.wanted, i);
            let after_event = self.solution.events > self.events_seen && self.points.len() < 2 * self.wanted;
            self.events_seen = self.solution.events;
            if due || after_event {
                self.sample(session, i, due, reporter)?;
            }
        }
        if self.solution.unresolved > 0 {
            self.remarks.add(StudyRemark::NotSmooth { steps: self.solution.unresolved });
        }
        Ok(())
    }

    /// Integrate to the next grid point and read what is watched there. False: the run ends here.
    fn reach(&mut self, session: &mut Session, target: f64) -> Result<bool, Refusal> {
        let given = self.study.given;
        match self.solution.advance(session, target) {
            Ok(()) => {}
            Err(Halt::OutOfTime) => {
                self.halted = Some(format!("it took too long after t = {}", session.time));
                return Ok(false);
            }
            Err(Halt::NotANumber(message)) if given => return Err(message.into()),
            Err(Halt::Lacks(lack)) if given => return Err(vec![lack].into()),
            Err(
                Halt::Model(message) | Halt::NotANumber(message) | Halt::Lacks(Lack { seen: message, .. }),
            ) => return Ok(self.fails(message)),
        }
        if let Some(i) = session.x.iter().position(|x| !x.is_finite()) {
            let (name, value) = (&self.study.interface.state_names[i], session.x[i]);
            let message = format!("the state {name} is {value} at t = {target}; check the model there");
            return if given && value.is_nan() { Err(message.into()) } else { Ok(self.fails(message)) };
        }
        for (magnitude, x) in self.magnitudes.iter_mut().zip(&session.x) {
            *magnitude = magnitude.max(x.abs());
        }
        let (values, steady) = match self.study.watch(session) {
            Ok(watched) => watched,
            Err(refusal) if given && !refusal.lacks.is_empty() => return Err(refusal),
            Err(refusal) => return Ok(self.fails(refusal.message)),
        };
        self.times.push(target);
        self.trajectory.push(values);
        self.discrete.push(steady);
        Ok(true)
    }

    /// The model's instance failed, and with it the run.
    fn fails(&mut self, message: String) -> bool {
        (self.halted, self.is_dead) = (Some(message), true);
        false
    }

    /// Of so many that are spread evenly over the grid, one belongs to this point.
    fn is_due(&self, count: usize, i: usize) -> bool {
        let points = self.study.grid.len();
        (i + 1) * count / points > i * count / points
    }

    /// Probe the model at grid point `i`, and beside it; check that it ignores time; time its calls. The run
    /// goes on as if nothing had happened.
    fn sample(
        &mut self,
        session: &mut Session,
        i: usize,
        due: bool,
        reporter: &mut Reporter,
    ) -> Result<(), Refusal> {
        let (study, model) = (self.study, &self.study.interface);
        let beside =
            self.points.len() % 4 == 2 && self.affordable > 40 && session.can_save() && model.can_be_moved;
        // Where nobody said how large a state is, not further than what was seen of it.
        let reach = |i: usize| match (model.nominals[i], self.magnitudes[i]) {
            (None, seen) if seen > 0.0 => 0.1 * seen,
            _ => f64::INFINITY,
        };
        let (places, seconds) = self.timed_places();
        let is_timed = due && (self.is_due(places, i) || self.prices.0.is_empty());
        let is_timed = is_timed && self.timed.as_secs_f64() < TIMED_AT_MOST;
        let (mut taken, ignores) = session.aside(|session| {
            // Where the model has no slopes there is no sample: others integrate past such a point.
            let mut taken: Vec<Point> = self.prober.probe(session).ok().into_iter().collect();
            let ignores = !self.time_invariant || checks::ignores_time(session, study.h).unwrap_or(false);
            // Best effort: what it cannot tell stays as it was.
            let _ = self.terms.measure(session);
            if is_timed {
                let begin = Instant::now();
                let rows = taken.first().map_or(1, |point| point.entries.len() / session.x.len().max(1));
                let rows = study.thorough.then_some(rows);
                let (h, scales) = (study.h, self.prober.scales());
                let timing = Timing { before: &self.before, h, scales, rows, seconds };
                self.prices.0.extend(timing::measure(session, model, &timing));
                self.timed += begin.elapsed();
            }
            if beside {
                reporter.phase(BESIDE);
                taken.extend(self.prober.probe_beside(session, self.points.len() as u64, reach)?);
                reporter.phase(RUN);
            }
            Ok((taken, ignores))
        })?;
        self.time_invariant &= ignores;
        taken.iter_mut().for_each(|point| point.regime = self.solution.regime);
        match taken.iter().find(|point| point.on_run) {
            None => self.remarks.add(StudyRemark::NoJacobian { time: session.time }),
            Some(point) if !goes_on(session, point)? => {
                self.remarks.add(StudyRemark::KeepsTraces { time: session.time });
            }
            Some(_) => {}
        }
        self.points.append(&mut taken);
        Ok(())
    }

    /// Places of the run at which calls are timed, and seconds at each.
    fn timed_places(&self) -> (usize, f64) {
        TIMED[usize::from(!self.study.thorough)]
    }

    /// Time the model's calls where it is now, if that was not done along the run.
    pub fn time_if_untimed(&mut self, session: &mut Session) {
        if self.prices.0.is_empty() {
            let (h, scales, rows) = (self.study.h, self.prober.scales(), Some(1));
            let timing = Timing { before: &self.before, h, scales, rows, seconds: self.timed_places().1 };
            self.prices.0.extend(timing::measure(session, &self.study.interface, &timing));
        }
    }
}

/// True if the derivatives are again those that the probed point had: the run goes on as if nothing had
/// happened.
fn goes_on(session: &mut Session, point: &Point) -> Result<bool, String> {
    let (time, x) = (session.time, session.x.clone());
    let mut f = vec![0.0; x.len()];
    expect(session.derivatives(time, &x, false, &mut f), "fmi2GetDerivatives", &session.log)?;
    let size = f.iter().fold(0.0, |size, f| f64::max(size, f.abs()));
    let near = |(now, then): (&f64, &f64)| (now - then).abs() <= 1e-6 * then.abs() + 1e-9 * size;
    Ok(f.iter().zip(&point.derivatives).all(near))
}
