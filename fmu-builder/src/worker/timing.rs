//! What the model's own calls cost, measured as the runtime makes them.
//!
//! Models remember: one that is asked again for what it has just computed answers at once, and one whose time did not move skips what depends on it. So no timed call
//! repeats the one before: at each place of the run the model is moved around a ring of points between here and where it will be one step later, with time, inputs and states all
//! changed from call to call. Nor is one place enough: at rest a model that iterates inside needs no iterations. The places lie along the run.
//!
//! Other work on the machine only ever adds time. So each point's price is the smallest of several visits, and never a minimum over different points.

use super::session::Session;
use crate::findings::Price;
use crate::interface::Interface;
use fmu_runtime::fmi::Beyond;
use fmu_runtime::plan::Role;
use fmu_runtime::status::Status;
use std::time::Instant;

/// The ring: parts of the way to where the model will be one step later. Neighbours differ, the last and the first too.
const RING: [f64; 5] = [0.2, 0.8, 0.4, 1.0, 0.6];
/// States and inputs that rest are moved by this part of their size: it is a change, and nothing but a change.
const WIGGLE: f64 = 1e-7;
/// A call that takes longer than this is timed by itself, shorter ones in batches that take [`BATCH`].
const BY_ITSELF: f64 = 1e-6;
const BATCH: f64 = 2e-5;
/// Each point of the ring is visited so often at least.
const VISITS: usize = 4;
/// Longer evaluations are visited once: beside them the machine's moods are small.
const LONG: f64 = 1e-3;
/// Directional derivatives that are asked for at a point, at most.
const SEEDS: usize = 8;

/// What is asked at a point of the ring.
#[derive(Clone, Copy, PartialEq)]
enum Calls {
    Evaluation,
    /// Time and inputs stay.
    StatesOnly,
    /// After the evaluation.
    Indicators,
    IndicatorsAlone,
    Directional,
}

/// A point of the ring.
struct Point {
    time: f64,
    inputs: Vec<f64>,
    x: Vec<f64>,
}

struct Ring<'a> {
    session: &'a mut Session,
    interface: &'a Interface,
    inputs: Vec<u32>,
    points: Vec<Point>,
    f: Vec<f64>,
    z: Vec<f64>,
    /// Rows of a directional derivative, as many as a colour asks for.
    slopes: Vec<f64>,
    seed: usize,
}

/// Where and how long the model is timed.
pub struct Timing<'a> {
    /// The states one step of `h` ago.
    pub before: &'a [f64],
    pub h: f64,
    /// How large each state is.
    pub scales: &'a [f64],
    /// Entries of the Jacobian that a column has on average, if directional derivatives are timed too.
    pub rows: Option<usize>,
    pub seconds: f64,
}

/// The prices where the session stands. None: the model cannot be evaluated a step further on. The session comes back to where it was.
pub fn measure(session: &mut Session, interface: &Interface, timing: &Timing) -> Option<Price> {
    if session.x.is_empty() {
        return None;
    }
    let (time, x) = (session.time, session.x.clone());
    let table = &interface.variables.real;
    let letters = table.references.iter().zip(table.roles.bytes());
    let continuous = letters.filter(|(_, letter)| *letter == Role::ContinuousInput as u8);
    let inputs: Vec<u32> = continuous.map(|(reference, _)| *reference).collect();
    let mut values = vec![0.0; inputs.len()];
    let readable = inputs.is_empty() || session.inner.get_real(&inputs, &mut values).is_usable();
    let inputs = if readable { inputs } else { Vec::new() };
    // The room behind the vectors is looked through after each call: not while calls are timed, unless something was found there.
    let (states, indicators) = (session.x.len(), session.z.len());
    let keeps = !interface.writes_beyond && session.inner.beyond() == Beyond::default();
    let had_room = keeps && session.inner.has_room();
    if had_room {
        session.inner.take_room();
    }
    let ring = Ring::new(session, interface, timing, inputs.clone(), &values[..inputs.len()]);
    let price = ring.and_then(|mut ring| ring.price(timing));
    if had_room {
        session.inner.make_room(states, indicators);
    }
    if !inputs.is_empty() {
        let _ = session.inner.set_real(&inputs, &values);
    }
    let mut f = vec![0.0; x.len()];
    let _ = session.derivatives(time, &x, false, &mut f);
    price
}

impl<'a> Ring<'a> {
    fn new(
        session: &'a mut Session,
        interface: &'a Interface,
        timing: &Timing,
        inputs: Vec<u32>,
        values: &[f64],
    ) -> Option<Ring<'a>> {
        let n = session.x.len();
        let (time, x) = (session.time, session.x.clone());
        let mut f = vec![0.0; n];
        if !session.derivatives(time, &x, false, &mut f).is_usable() {
            return None;
        }
        // Short of the next time event.
        let room = timing.h.min(0.5 * (session.next_event - time).max(0.0));
        let step = |i: usize| {
            let way = (x[i] - timing.before[i]).abs().min(timing.h * f[i].abs());
            let way = if way.is_finite() { way } else { 0.0 };
            way.copysign(f[i]) + WIGGLE * x[i].abs().max(timing.scales[i])
        };
        let points = RING.iter().map(|share| {
            let moved = |value: &f64| value + share * WIGGLE * value.abs().max(1e-3);
            Point {
                time: time + share * room,
                inputs: values.iter().map(moved).collect(),
                x: (0..n).map(|i| x[i] + share * step(i)).collect(),
            }
        });
        let (points, indicators) = (points.collect(), session.z.len());
        let mut ring = Ring {
            session,
            interface,
            inputs,
            points,
            f,
            z: vec![0.0; indicators],
            slopes: vec![0.0; timing.rows.unwrap_or(1).clamp(1, n)],
            seed: 0,
        };
        // With the inputs that the run has at these times.
        for at in 0..RING.len() {
            let time = ring.points[at].time;
            let Some(signals) = &mut ring.session.signals else { break };
            let (references, signal) = signals.continuous_at(time, false);
            for (reference, value) in references.iter().zip(signal) {
                if let Some(place) = ring.inputs.iter().position(|input| input == reference) {
                    ring.points[at].inputs[place] += value - values[place];
                }
            }
        }
        Some(ring)
    }

    fn price(&mut self, timing: &Timing) -> Option<Price> {
        let clock = clock_price();
        // Once around to warm up, once to see how long it takes.
        let (mut each, _) = self.around(Calls::Evaluation, 1)?;
        if each < LONG {
            (each, _) = self.around(Calls::Evaluation, 1)?;
        }
        let by_itself = each > BY_ITSELF;
        let rings = match by_itself {
            true => 1,
            false => (BATCH / (each.max(1e-9) * RING.len() as f64)).ceil().max(2.0) as usize,
        };
        let mut calls = vec![Calls::Evaluation];
        if !self.z.is_empty() {
            calls.extend([Calls::Indicators, Calls::IndicatorsAlone]);
        }
        let has_directional =
            self.interface.provides_directional_derivative && self.session.inner.has_directional_derivative();
        if timing.rows.is_some() && has_directional {
            calls.extend([Calls::StatesOnly, Calls::Directional]);
        }
        // What fails is not timed; an evaluation must not.
        calls.retain(|&calls| calls == Calls::Evaluation || self.around(calls, 1).is_some());
        // Taken in turn: a slow phase of the machine meets all of them. For each, the least time of each point of the ring, or of their mean.
        let mut least = vec![[f64::INFINITY; RING.len()]; calls.len()];
        let begin = Instant::now();
        let mut visits = 0;
        while visits < VISITS || begin.elapsed().as_secs_f64() < timing.seconds {
            for (calls, least) in calls.iter().zip(&mut least) {
                let (mean, points) = self.around(*calls, rings)?;
                for (least, point) in least.iter_mut().zip(points) {
                    *least = least.min(if by_itself { (point - clock).max(0.0) } else { mean });
                }
            }
            visits += 1;
            if each >= LONG && begin.elapsed().as_secs_f64() > timing.seconds {
                break;
            }
        }
        let found = |wanted: Calls| {
            let at = calls.iter().position(|calls| *calls == wanted)?;
            Some(least[at])
        };
        let mean = |times: [f64; RING.len()]| times.iter().sum::<f64>() / times.len() as f64;
        let evaluation = found(Calls::Evaluation)?;
        let states_only = found(Calls::StatesOnly).map(mean);
        let beyond = |with: [f64; RING.len()], without: f64| (mean(with) - without).max(0.0);
        Some(Price {
            evaluation: mean(evaluation),
            dearest: evaluation.into_iter().fold(0.0, f64::max),
            indicators: found(Calls::Indicators).map_or(0.0, |with| beyond(with, mean(evaluation))),
            indicators_alone: found(Calls::IndicatorsAlone).map_or(0.0, mean),
            directional: found(Calls::Directional).zip(states_only).map(|(with, without)| {
                beyond(with, without) / self.seeds() as f64 / without.max(f64::MIN_POSITIVE)
            }),
        })
    }

    fn seeds(&self) -> usize {
        self.session.x.len().min(SEEDS)
    }

    /// Seconds of a point: the mean, and each one of the last time around. None: a call failed.
    fn around(&mut self, calls: Calls, rings: usize) -> Option<(f64, [f64; RING.len()])> {
        let mut each = [0.0; RING.len()];
        let begin = Instant::now();
        for ring in 0..rings {
            for (at, each) in each.iter_mut().enumerate() {
                if rings > 1 {
                    self.ask(calls, at)?;
                    continue;
                }
                // The states alone move around the ring: the time and the inputs are those of the first point.
                if ring == 0 && at == 0 && calls == Calls::StatesOnly {
                    self.ask(Calls::Evaluation, RING.len() - 1)?;
                }
                let begin = Instant::now();
                self.ask(calls, at)?;
                *each = begin.elapsed().as_secs_f64();
            }
        }
        let count = (rings * RING.len()) as f64;
        let mean =
            if rings > 1 { begin.elapsed().as_secs_f64() / count } else { each.iter().sum::<f64>() / count };
        Some((mean, each))
    }

    fn ask(&mut self, calls: Calls, at: usize) -> Option<()> {
        let (inner, point) = (&mut self.session.inner, &self.points[at]);
        let mut status = Status::Ok;
        if !matches!(calls, Calls::StatesOnly | Calls::Directional) {
            status = inner.set_time(point.time);
            if !self.inputs.is_empty() {
                status = status.max(inner.set_real(&self.inputs, &point.inputs));
            }
        }
        status = status.max(inner.set_continuous_states(&point.x));
        if calls != Calls::IndicatorsAlone {
            status = status.max(inner.get_derivatives(&mut self.f));
        }
        if matches!(calls, Calls::Indicators | Calls::IndicatorsAlone) {
            status = status.max(inner.get_event_indicators(&mut self.z));
        }
        if calls == Calls::Directional {
            let n = self.points[at].x.len();
            let unknowns = self.interface.derivative_references.get(..self.slopes.len())?;
            for _ in 0..n.min(SEEDS) {
                // Where the model stands, as the runtime asks for them: a difference moves the states for each colour, this does not.
                let known = [*self.interface.state_references.get(self.seed % n)?];
                status = status.max(inner.directional_derivative(unknowns, &known, &[1.0], &mut self.slopes));
                self.seed += 1;
            }
        }
        status.is_usable().then_some(())
    }
}

/// Seconds that it takes to read the clock twice: the median of many.
pub fn clock_price() -> f64 {
    let mut prices: Vec<f64> = (0..1001).map(|_| Instant::now().elapsed().as_secs_f64()).collect();
    prices.sort_by(f64::total_cmp);
    prices[prices.len() / 2]
}
