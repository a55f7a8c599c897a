//! Time: events at times, several at once, on the grid and far from zero; steps of any length; what depends on time itself.

use super::model::Equations;
use super::{explicit, plan, run, start};
use crate::fault::Fault;
use crate::integrator::Integrator;
use crate::integrator::tests::model::Host;
use crate::model::{EventInfo, StepInfo};
use crate::plan::{Method, Plan, Policy};

/// x' = 0; ticks at begin + period, begin + 2 period ..., each one period after the one before and so not always rounded as a multiple is. Each tick is +1 on x.
struct Ticks {
    begin: f64,
    next: f64,
    period: f64,
    /// It asks for Event Mode after every step.
    asks: bool,
    seen: Vec<f64>,
}

impl Ticks {
    fn new(begin: f64, period: f64) -> Ticks {
        Ticks { begin, next: begin + period, period, asks: false, seen: vec![] }
    }
}

impl Equations for Ticks {
    fn start(&self) -> Vec<f64> {
        vec![0.0]
    }
    fn derivatives(&self, _: f64, _: &[f64], _: f64, dx: &mut [f64]) {
        dx[0] = 0.0;
    }
    fn event(&mut self, t: f64, x: &mut [f64], info: &mut EventInfo) {
        if t >= self.next {
            self.seen.push(t);
            self.next = (self.begin + self.seen.len() as f64 * self.period) + self.period;
            x[0] += 1.0;
            info.states_changed = true;
        }
        info.next_event_time = Some(self.next);
    }
    fn completed(&mut self) -> StepInfo {
        StepInfo { enter_event_mode: self.asks, terminate: false }
    }
}

fn begin<E: Equations>(plan: Plan, equations: E, time: f64) -> Integrator<Host<E>> {
    let mut integrator = Integrator::new(plan, Host::new(equations)).unwrap();
    integrator.model.t = time;
    integrator.start(time).unwrap();
    integrator
}

/// A model may ask for Event Mode after the step that a time event has cut, or at whose end one is. The tick happens once, at its own time, and the next one is not drawn forward.
#[test]
fn a_step_event_does_not_draw_the_next_time_event_forward() {
    for period in [0.1, 0.2, 0.25, 0.03] {
        let mut plan = explicit(1, Method::Lie, 0.1);
        plan.model.completed_step_needed = true;
        let mut integrator = start(plan, Ticks { asks: true, ..Ticks::new(0.0, period) });
        for k in 1..=20 {
            run(&mut integrator, 1);
            let ticks = (f64::from(k) * 0.1 / period + 1e-9).floor();
            assert_eq!(integrator.live.x[0], ticks, "period {period}, step {k}");
        }
        for (k, seen) in (1..).zip(&integrator.model.equations.seen) {
            assert!((seen - f64::from(k) * period).abs() < 1e-7, "tick {k} at {seen}");
        }
        assert_eq!(integrator.live.carried_events, 0);
    }
}

/// Time events that follow each other at one instant belong to the step that reaches it.
#[test]
fn events_that_follow_at_once_are_taken_at_once() {
    struct Chain(u32);
    impl Equations for Chain {
        fn start(&self) -> Vec<f64> {
            vec![0.0]
        }
        fn derivatives(&self, _: f64, _: &[f64], _: f64, dx: &mut [f64]) {
            dx[0] = 1.0;
        }
        fn event(&mut self, t: f64, _: &mut [f64], info: &mut EventInfo) {
            self.0 += u32::from(t >= 0.2);
            info.next_event_time = (self.0 < 4).then_some(0.2);
        }
    }
    for h in [0.1, 0.15] {
        let mut integrator = start(explicit(1, Method::Lie, h), Chain(0));
        run(&mut integrator, 2);
        assert_eq!((integrator.model.equations.0, integrator.live.carried_events), (4, 0), "h = {h}");
    }
}

/// Ticks in every step, on communication points that both sides know to an ulp of the time only: each is seen at its point, and no sliver of a step is taken between the two.
#[test]
fn ticks_on_the_grid_far_from_zero() {
    for (time, h) in [(1e6, 1e-5), (-2.0, 1e-3), (1.7e9, 1e-3), (0.0, 0.1)] {
        let mut integrator = begin(explicit(1, Method::Lie, h), Ticks::new(time, h), time);
        let before = integrator.model.evaluations;
        for k in 1..=200 {
            run(&mut integrator, 1);
            assert_eq!(integrator.live.x[0], f64::from(k), "from {time}, step {k}");
        }
        assert_eq!(integrator.model.evaluations - before, 200, "from {time}");
    }
}

/// x' = cos(ω (t - begin)): time enters exactly as at zero, also where it has few digits left. (Methods that need ∂f/∂t take a difference; over 15 ms, which is sqrt(ε) of a
/// million seconds, a model of 100 rad/s is another one.)
#[test]
fn what_depends_on_time_is_the_same_at_any_start_time() {
    struct Wave(f64);
    impl Equations for Wave {
        fn start(&self) -> Vec<f64> {
            vec![0.0]
        }
        fn derivatives(&self, t: f64, _: &[f64], _: f64, dx: &mut [f64]) {
            dx[0] = 100.0 * (100.0 * (t - self.0)).cos();
        }
    }
    for method in Method::ALL {
        let error = |time: f64| {
            let mut integrator = begin(plan(1, method, 1e-3, Policy::Every), Wave(time), time);
            let off = |k: i32| {
                run(&mut integrator, 1);
                (integrator.live.x[0] - (0.1 * f64::from(k)).sin()).abs()
            };
            (1..=100).map(off).fold(0.0, f64::max)
        };
        let (zero, far) = (error(0.0), error(1e6));
        // An ulp of a million seconds is 1e-10 s: 1e-8 rad, in each step.
        assert!(far < 1.01 * zero + 1e-6, "{method:?}: {far} for {zero}");
    }
}

/// A next event time that is no number is a fault: it would never come, and nobody would know.
#[test]
fn a_time_event_that_is_no_number_is_a_fault() {
    struct Lost;
    impl Equations for Lost {
        fn start(&self) -> Vec<f64> {
            vec![0.0]
        }
        fn derivatives(&self, _: f64, _: &[f64], _: f64, dx: &mut [f64]) {
            dx[0] = 1.0;
        }
        fn event(&mut self, t: f64, _: &mut [f64], info: &mut EventInfo) {
            info.next_event_time = Some(if t < 0.1 { 0.15 } else { f64::NAN });
        }
    }
    let mut integrator = start(explicit(1, Method::Lie, 0.1), Lost);
    run(&mut integrator, 1);
    let division = integrator.divide(0.1);
    let fault = integrator.advance(0.1, division).unwrap_err();
    assert!(matches!(fault, Fault::EventTime { time } if time == 0.15), "{fault:?}");
}

/// A host's equal steps differ by rounding, and the same length keeps its factors; but the parts of a step always make up the step, however many they are.
#[test]
fn the_parts_of_a_long_step_make_up_the_step() {
    let mut integrator = start(explicit(1, Method::Lie, 0.1), Ticks::new(0.0, f64::INFINITY));
    for length in [0.35, 1000.05, 1e5 + 0.05, 9e5 + 0.07] {
        let part = integrator.divide(length).h;
        integrator.live.factored_for = part * (1.0 + 0.9e-6);
        let division = integrator.divide(length);
        let sum = division.steps as f64 * division.h;
        assert!((sum - length).abs() <= 1e-5 * 0.1, "{length}: {sum}");
        assert!(division.irregular);
    }
}

/// No states at all, and a hundred ticks in a communication step of a thousand internal ones: all are taken, in their order and at their times.
#[test]
fn a_model_without_states_has_its_events() {
    struct Counter {
        next: f64,
        seen: Vec<f64>,
        crossings: u32,
    }
    impl Equations for Counter {
        fn start(&self) -> Vec<f64> {
            vec![]
        }
        fn derivatives(&self, _: f64, _: &[f64], _: f64, _: &mut [f64]) {}
        fn indicators(&self, t: f64, _: &[f64], z: &mut [f64]) {
            z[0] = (std::f64::consts::PI * t / 0.0173 + 1.0).sin();
        }
        fn event(&mut self, t: f64, _: &mut [f64], info: &mut EventInfo) {
            if t >= self.next {
                self.seen.push(t);
                self.next += 0.01;
            } else {
                self.crossings += u32::from(t > 0.0);
            }
            info.next_event_time = Some(self.next);
        }
    }
    let mut plan = explicit(0, Method::Lie, 1e-3);
    plan.events.indicators = 1;
    let mut integrator = start(plan, Counter { next: 0.01, seen: vec![], crossings: 0 });
    let division = integrator.divide(1.0);
    assert_eq!(division.steps, 1000);
    integrator.advance(1.0, division).unwrap();
    let counter = &integrator.model.equations;
    assert_eq!((counter.seen.len(), integrator.live.carried_events), (100, 0));
    for (k, seen) in (1..).zip(&counter.seen) {
        assert!((seen - 0.01 * f64::from(k)).abs() < 1e-9, "tick {k} at {seen}");
    }
    // Half-waves of 17.3 ms, the first of them cut by 1/π; a crossing is asked for again at its step's end, where nothing changes.
    assert_eq!(integrator.live.events, 100 + 58);
}
