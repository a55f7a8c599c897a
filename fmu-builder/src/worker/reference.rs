//! The accurate solution that everything is judged by: extrapolated linearly implicit Euler.
//!
//! SEULEX (Deuflhard; Hairer and Wanner, *Solving ODEs II*, IV.9) on the very step that the exported FMU takes:
//! a basic step H is solved with 1, 2, 3, ... sub-steps, the results are extrapolated to sub-steps of length
//! zero, and two neighbouring orders give the error. Stiff, of variable order, and at home with an FMU: it
//! needs f and the Jacobian's entries, no dense output. Step ends are put on event times, and state events are
//! located on the cubic through both ends, then approached with a step of their own.

use super::resolution::{FINEST, Resolution};
use super::session::{Session, Signals, expect};
use crate::ability::{Ability, Lack};
use crate::interface::Interface;
use crate::structure::{Pattern, plan_parts};
use fmu_runtime::jacobian::{Differentiator, Point, Which};
use fmu_runtime::lu::{Balance, Factors};
use fmu_runtime::plan::{Elimination, Jacobian, States};
use std::time::Instant;

/// Columns of the extrapolation table: the highest order.
const COLUMNS: usize = 8;
/// Halvings to locate a state event: beyond the precision of a time.
const HALVINGS: usize = 50;

/// A jump of the inputs this near to a point, in parts of the way to it, is at that point: files say 0.3 where 3 · 0.1 is another number.
pub const ROUNDING: f64 = 1e-9;

pub struct ReferenceSolution {
    differentiator: Differentiator,
    factors: Factors,
    balance: Balance,
    jacobian: Vec<f64>,
    tolerance: f64,
    /// Steps shorter than this are accepted whatever their error: the model itself is not smoother.
    shortest: f64,
    next: f64,
    /// Scales of the differences.
    nominals: Vec<f64>,
    /// Largest |x| so far, or a floor.
    scale: Vec<f64>,
    deadline: Instant,
    table: Vec<Vec<f64>>,
    f: Vec<f64>,
    f_start: Vec<f64>,
    d: Vec<f64>,
    z: Vec<f64>,
    /// State, time and step events so far, jumps of inputs included.
    pub events: u64,
    /// Events after which the model may be another one: those above without the jumps of continuous inputs.
    pub regime: u64,
    names: Vec<String>,
    /// Steps that missed the tolerance at the shortest length.
    pub unresolved: u64,
    /// How well the outputs are known.
    pub resolution: Resolution,
}

/// The model's whole Jacobian and how I - hJ is factored: what an implicit run needs before anything is decided.
pub struct Linearisation {
    states: States,
    jacobian: Jacobian,
    elimination: Elimination,
}

impl Linearisation {
    /// `scales`: of the states.
    pub fn new(interface: &Interface, scales: &[f64], pattern: &Pattern, h: f64) -> Linearisation {
        let (all, none) = (vec![true; pattern.len()], vec![false; pattern.len()]);
        let (jacobian, elimination) = plan_parts(pattern, &all, &none, h, &[]);
        Linearisation { states: interface.states(scales.to_vec(), scales.to_vec()), jacobian, elimination }
    }
}

/// Why the reference ends early.
pub enum Halt {
    /// The model failed; the message is for the user.
    Model(String),
    /// It answers with something that is no number.
    NotANumber(String),
    /// It could do without something that it promises.
    Lacks(Lack),
    OutOfTime,
}

impl From<String> for Halt {
    fn from(message: String) -> Halt {
        Halt::Model(message)
    }
}

impl ReferenceSolution {
    /// `outputs` are what is compared.
    pub fn new(
        linearisation: &Linearisation,
        outputs: &[u32],
        indicators: usize,
        tolerance: f64,
        span: f64,
        deadline: Instant,
    ) -> Result<ReferenceSolution, String> {
        let Linearisation { states, jacobian, elimination } = linearisation;
        let n = states.names.len();
        let factors = Factors::new(elimination, jacobian)?;
        Ok(ReferenceSolution {
            differentiator: Differentiator::new(jacobian, states),
            balance: factors.balance(),
            factors,
            nominals: states.nominals.clone(),
            jacobian: vec![0.0; jacobian.rows.len()],
            tolerance,
            shortest: span * 1e-12,
            next: span * 1e-5,
            scale: states.nominals.iter().map(|nominal| 1e-9 * nominal).collect(),
            deadline,
            table: vec![vec![0.0; n]; COLUMNS],
            f: vec![0.0; n],
            f_start: vec![0.0; n],
            d: vec![0.0; n],
            z: vec![0.0; indicators],
            events: 0,
            regime: 0,
            names: states.names.clone(),
            unresolved: 0,
            resolution: Resolution::new(outputs, n),
        })
    }

    /// Integrate to `target`, through every event on the way. A jump of the inputs at `target` itself is left to the next call: what is read there
    /// is what an importer reads after a step, before it sets new inputs.
    /// A time event that lies at `target` or at a jump but for rounding is there, and comes before the jump: so it is in a co-simulation.
    pub fn advance(&mut self, session: &mut Session, target: f64) -> Result<(), Halt> {
        let near = ROUNDING * (target - session.time) + 4.0 * f64::EPSILON * target.abs();
        let nearest = session.signals.as_ref().and_then(|signals| {
            let first = signals.events.partition_point(|&event| event < target - near);
            signals.events.get(first).copied().filter(|&event| event <= target + near)
        });
        let target = nearest.unwrap_or(target);
        while session.time < target {
            if session.jump_due {
                self.take_jump(session)?;
            }
            if Instant::now() > self.deadline {
                return Err(Halt::OutOfTime);
            }
            let time = session.time;
            if session.next_event <= time {
                self.regime += 1;
                self.event(session)?;
                if session.next_event <= time {
                    session.next_event = f64::INFINITY; // it asks for the same instant again
                }
                continue;
            }
            let input_event = session.signals.as_ref().and_then(|signals| {
                signals.events.get(signals.events.partition_point(|&event| event <= time)).copied()
            });
            let wall = target.min(input_event.unwrap_or(f64::INFINITY));
            let at_wall = (session.next_event - wall).abs() <= near;
            let limit = if at_wall { wall } else { wall.min(session.next_event) };
            let jump = input_event == Some(limit);
            let located = if session.x.is_empty() {
                session.time = limit;
                expect(session.place(limit, &[], jump), "fmi2SetTime", &session.log)?;
                self.crossed(session)?
            } else {
                self.step(session, limit, jump)?
            };
            let asked = session.completed_step()?;
            session.jump_due = jump && session.time >= limit;
            // The model's own events come first, as in a co-simulation: they belong to the step that ends here.
            let due = session.time >= if at_wall { limit } else { session.next_event };
            if due && session.next_event > session.time {
                // The model must see a time that is not before its event, not even by an ulp.
                expect(session.inner.set_time(session.next_event), "fmi2SetTime", &session.log)?;
            }
            if located || due {
                self.regime += 1;
                self.event(session)?;
            } else if asked {
                self.step_event(session)?;
            }
        }
        Ok(())
    }

    fn take_jump(&mut self, session: &mut Session) -> Result<(), Halt> {
        session.jump_due = false;
        let changed = |signals: &Signals| signals.changes.contains(&session.time);
        self.regime += u64::from(session.signals.as_ref().is_some_and(changed));
        self.event(session)
    }

    fn event(&mut self, session: &mut Session) -> Result<(), Halt> {
        self.events += 1;
        session.event()?;
        // What follows may be of another kind: begin carefully.
        self.next = (0.01 * self.next).max(1e3 * self.shortest);
        Ok(())
    }

    /// An event that the model asked for after a completed step. Some tools ask after every step, mostly for nothing: where
    /// neither states nor derivatives changed, the run goes on with the step that it had.
    fn step_event(&mut self, session: &mut Session) -> Result<(), Halt> {
        let (next, x, time) = (self.next, session.x.clone(), session.time);
        let mut before = vec![0.0; x.len()];
        expect(session.derivatives(time, &x, false, &mut before), "fmi2GetDerivatives", &session.log)?;
        self.event(session)?;
        let mut after = vec![0.0; x.len()];
        expect(
            session.derivatives(time, &session.x.clone(), false, &mut after),
            "fmi2GetDerivatives",
            &session.log,
        )?;
        match session.x == x && before == after {
            true => self.next = next,
            false => self.regime += 1,
        }
        Ok(())
    }

    /// Some indicator has another sign than at the last step's end; otherwise the new ones count.
    fn crossed(&mut self, session: &mut Session) -> Result<bool, Halt> {
        if self.z.is_empty() {
            return Ok(false);
        }
        self.read_indicators(session)?;
        if let Some(i) = self.z.iter().position(|z| z.is_nan()) {
            let seen = format!("event indicator {} is NaN at t = {}", i + 1, session.time);
            return Err(Halt::Lacks(Lack::new(Ability::Indicators, seen)));
        }
        let crossed = session.z.iter().zip(&self.z).any(|(before, after)| (*before > 0.0) != (*after > 0.0));
        if !crossed {
            std::mem::swap(&mut session.z, &mut self.z);
        }
        Ok(crossed)
    }

    fn read_indicators(&mut self, session: &mut Session) -> Result<(), String> {
        let held = std::mem::take(&mut session.z);
        let status = session.indicators(&held, &mut self.z);
        session.z = held;
        expect(status, "fmi2GetEventIndicators", &session.log)
    }

    /// One basic step towards `limit`; true if it ends at a state event.
    fn step(&mut self, session: &mut Session, limit: f64, jump: bool) -> Result<bool, Halt> {
        let (time, n) = (session.time, session.x.len());
        let start = session.x.clone();
        let mut f_start = std::mem::take(&mut self.f_start);
        let status = session.derivatives(time, &start, false, &mut f_start);
        expect(status, "fmi2GetDerivatives", &session.log)?;
        if let Some(i) = f_start.iter().position(|f| !f.is_finite()) {
            let message = format!("the derivative of {} is {} at t = {time}", self.names[i], f_start[i]);
            return Err(if f_start[i].is_nan() { Halt::NotANumber(message) } else { Halt::Model(message) });
        }
        let point = Point { x: &start, r: &f_start, scales: &self.nominals, time };
        self.differentiator
            .refresh(Which::Setup, &mut session.inner, point, &mut self.jacobian)
            .map_err(|_| format!("the Jacobian cannot be evaluated at t = {time}"))?;
        for (scale, x) in self.scale.iter_mut().zip(&start) {
            *scale = scale.max(x.abs());
        }
        let mut length = self.next;
        loop {
            if Instant::now() > self.deadline {
                return Err(Halt::OutOfTime);
            }
            // No sliver before the limit.
            if time + 1.01 * length >= limit {
                length = limit - time;
            }
            let reach = if length == limit - time { limit } else { time + length };
            let (error, column) = self.extrapolate(session, &start, length, reach, jump && reach == limit);
            let order = column as f64 + 1.0;
            if error <= 1.0 || length <= self.shortest {
                if error > 1.0 {
                    self.unresolved += 1;
                }
                // Steps that few columns are enough for are the cheapest for what they cover.
                let growth = match column {
                    0..=2 => 3.0,
                    3..=4 => 1.5,
                    5 => 1.0,
                    _ => 0.8,
                };
                if error <= 1.0 {
                    let (better, worse) = (&self.table[0], &self.table[1]);
                    self.resolution.measure(session, reach, jump && reach == limit, better, worse);
                }
                // A step cut short by a limit says little about the next one.
                self.next = (length * growth).max(if reach == limit { self.next } else { 0.0 });
                let mut end = std::mem::take(&mut self.table[0]);
                let located =
                    self.finish(session, &start, &f_start, &mut end, length, reach, jump && reach == limit);
                self.table[0] = end;
                self.f_start = f_start;
                debug_assert_eq!(self.table[0].len(), n);
                return located;
            }
            let shrink =
                if error.is_finite() { (0.9 * error.powf(-1.0 / order)).clamp(0.1, 0.7) } else { 0.1 };
            length = (length * shrink).max(self.shortest);
            self.next = length;
        }
    }

    /// Extrapolate until the error is below 1; the result is left in `table[0]`. Returns the error and the
    /// last column.
    fn extrapolate(
        &mut self,
        session: &mut Session,
        start: &[f64],
        length: f64,
        reach: f64,
        jump: bool,
    ) -> (f64, usize) {
        let mut error = f64::INFINITY;
        for row in 0..COLUMNS {
            let steps = row + 1;
            let h = length / steps as f64;
            if self.factors.refactor(h, &self.jacobian, &mut self.balance).is_err() {
                return (f64::INFINITY, row);
            }
            let mut x = std::mem::take(&mut self.table[row]);
            x.copy_from_slice(start);
            let mut sound = true;
            for i in 1..=steps {
                let last = i == steps;
                let at = if last { reach } else { session.time + i as f64 * h };
                let status = session.derivatives(at, &x, jump && last, &mut self.f);
                self.d.iter_mut().zip(&self.f).for_each(|(d, f)| *d = h * f);
                self.factors.solve(&mut self.d);
                for (x, d) in x.iter_mut().zip(&self.d) {
                    *x += d;
                }
                sound &= status.is_usable() && x.iter().all(|x| x.is_finite());
                if !sound {
                    break;
                }
            }
            self.table[row] = x;
            if !sound {
                return (f64::INFINITY, row);
            }
            // The table's new row, in place: table[k] holds T(row, row - k).
            for k in (0..row).rev() {
                let factor = 1.0 / (steps as f64 / (k + 1) as f64 - 1.0);
                let (lower, upper) = self.table.split_at_mut(k + 1);
                let (better, newer) = (&mut lower[k], &upper[0]);
                error = 0.0;
                for ((better, newer), (scale, start)) in
                    better.iter_mut().zip(newer).zip(self.scale.iter().zip(start))
                {
                    let correction = (newer - *better) * factor;
                    *better = newer + correction;
                    let size = scale.max(better.abs()).max(start.abs());
                    error = f64::max(error, correction.abs() / (self.tolerance * size));
                }
            }
            if row > 0 && error <= 1.0 && error * self.tolerance > FINEST {
                let (better, worse) = (&self.table[0], &self.table[1]);
                error = error.max(self.resolution.error(session, reach, jump, better, worse));
            }
            if row > 0 && error <= 1.0 {
                return (error, row);
            }
            // Hopeless: give up early.
            if row >= 3 && error > 1e6 {
                return (error, row);
            }
        }
        (error, COLUMNS)
    }

    /// Go to the step's end, or to the first state event in it.
    #[allow(clippy::too_many_arguments)]
    fn finish(
        &mut self,
        session: &mut Session,
        start: &[f64],
        f_start: &[f64],
        end: &mut [f64],
        length: f64,
        reach: f64,
        jump: bool,
    ) -> Result<bool, Halt> {
        let status = session.derivatives(reach, end, jump, &mut self.f);
        expect(status, "fmi2GetDerivatives", &session.log)?;
        if let Some(i) = end.iter().position(|x| !x.is_finite()) {
            let message = format!("the derivative of {} is {} at t = {reach}", self.names[i], end[i]);
            return Err(if end[i].is_nan() { Halt::NotANumber(message) } else { Halt::Model(message) });
        }
        if !self.crossed(session)? {
            session.x.copy_from_slice(end);
            session.time = reach;
            return Ok(false);
        }
        let time = session.time;
        let f_end = self.f.clone();
        let (mut before, mut after) = (0.0, 1.0);
        let mut x = vec![0.0; start.len()];
        let cubic = |theta: f64, x: &mut [f64]| {
            let (a, b) = (theta, 1.0 - theta);
            for (i, x) in x.iter_mut().enumerate() {
                *x = b * b * (1.0 + 2.0 * a) * start[i]
                    + a * a * (3.0 - 2.0 * a) * end[i]
                    + length * a * b * (b * f_start[i] - a * f_end[i]);
            }
        };
        for _ in 0..HALVINGS {
            let theta = 0.5 * (before + after);
            cubic(theta, &mut x);
            expect(session.place(time + theta * length, &x, false), "fmi2SetContinuousStates", &session.log)?;
            self.read_indicators(session)?;
            if session.z.iter().zip(&self.z).any(|(a, b)| (*a > 0.0) != (*b > 0.0)) {
                after = theta;
            } else {
                before = theta;
            }
        }
        let at = time + after * length;
        cubic(after, &mut x);
        // A step of its own is more exact than the cubic, if it still is behind the event.
        if after < 1.0 && after * length > self.shortest {
            let mut own = std::mem::take(&mut self.table[0]);
            if own.len() != start.len() {
                own = vec![0.0; start.len()];
            }
            self.table[0] = own;
            let (error, _) = self.extrapolate(session, start, after * length, at, false);
            if error <= 1.0 {
                let own = self.table[0].clone();
                expect(session.place(at, &own, false), "fmi2SetContinuousStates", &session.log)?;
                self.read_indicators(session)?;
                if session.z.iter().zip(&self.z).any(|(a, b)| (*a > 0.0) != (*b > 0.0)) {
                    x = own;
                }
            }
        }
        expect(session.place(at, &x, false), "fmi2SetContinuousStates", &session.log)?;
        session.x.copy_from_slice(&x);
        session.time = at;
        Ok(true)
    }
}
