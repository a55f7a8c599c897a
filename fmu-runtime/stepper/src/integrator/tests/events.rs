//! Events: located where the method goes, bounded per internal step, never silently wrong.

use super::model::Equations;
use super::{plan, run, start};
use crate::fault::Fault;
use crate::model::EventInfo;
use crate::plan::{Method, Plan, Policy};

/// A plate over a floor that is pushed up at t = 0: gap' = v, v' = -g. It bounces when `gap <= 0 and v < 0`, as Modelica's `when` asks for, and comes to rest
/// when it is slow.
struct Plate {
    speed: f64,
    bounces: usize,
    rests: bool,
}

impl Equations for Plate {
    fn start(&self) -> Vec<f64> {
        vec![1e-4, self.speed]
    }
    fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
        dx[0] = x[1];
        dx[1] = if self.rests { 0.0 } else { -200.0 };
    }
    fn indicators(&self, _: f64, x: &[f64], z: &mut [f64]) {
        z[0] = x[0];
    }
    fn event(&mut self, _: f64, x: &mut [f64], info: &mut EventInfo) {
        if x[0] <= 0.0 && x[1] < 0.0 {
            self.rests = x[1] > -1.0;
            x[1] = if self.rests { 0.0 } else { -0.5 * x[1] };
            self.bounces += 1;
            info.states_changed = true;
        }
    }
}

fn with_indicator(mut plan: Plan) -> Plan {
    plan.events.indicators = 1;
    plan
}

/// It rises and falls within one step. On x + θ d it would be found below the floor with its velocity upward, the model would not react, and it would fall for ever.
#[test]
fn a_plate_that_rises_and_falls_within_a_step_bounces() {
    for method in Method::ALL.into_iter().filter(|method| method.tableau().any_matrix) {
        let plan = with_indicator(plan(2, method, 0.01, Policy::Every));
        let mut integrator = start(plan, Plate { speed: 0.5, bounces: 0, rests: false });
        run(&mut integrator, 20);
        assert!(integrator.model.equations.bounces > 0, "{method:?}");
        assert!(integrator.live.x[0] > -0.05, "{method:?}: it fell to {}", integrator.live.x[0]);
    }
}

/// A ball that falls from 1 m, g = 9.81: first impact at sqrt(2/g) = 0.4515 s. The step is cut there to within h / 2^bisections, and the states are
/// those of a step of that length.
#[test]
fn an_impact_is_located_within_the_step() {
    struct Ball;
    impl Equations for Ball {
        fn start(&self) -> Vec<f64> {
            vec![1.0, 0.0]
        }
        fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
            dx[0] = x[1];
            dx[1] = -9.81;
        }
        fn indicators(&self, _: f64, x: &[f64], z: &mut [f64]) {
            z[0] = x[0];
        }
        fn event(&mut self, _: f64, x: &mut [f64], info: &mut EventInfo) {
            if x[0] <= 0.0 && x[1] < 0.0 {
                x[1] *= -0.7;
                info.states_changed = true;
            }
        }
    }
    for (method, within) in [(Method::Lie, 0.01), (Method::Ros2, 1e-5), (Method::Ros34pw2, 1e-5)] {
        let plan = with_indicator(plan(2, method, 0.01, Policy::Every));
        let mut integrator = start(plan, Ball);
        run(&mut integrator, 50);
        let impact = integrator.model.events[0];
        let exact = (2.0 / 9.81f64).sqrt();
        assert!((impact - exact).abs() < within + 0.01 / 1024.0, "{method:?}: {impact} for {exact}");
    }
}

/// Few readings suffice where the indicator is smooth; where it is only +1 and -1, the search is bisection with its bound.
#[test]
fn the_search_is_short_and_bounded() {
    struct Crossing {
        sign_only: bool,
    }
    impl Equations for Crossing {
        fn start(&self) -> Vec<f64> {
            vec![0.0]
        }
        fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
            dx[0] = 1.0 - 0.3 * x[0];
        }
        fn indicators(&self, _: f64, x: &[f64], z: &mut [f64]) {
            z[0] = 0.237 - x[0];
            if self.sign_only {
                z[0] = z[0].signum();
            }
        }
    }
    let calls = |sign_only| {
        let plan = with_indicator(plan(1, Method::Lie, 1.0, Policy::Frozen));
        let bisections = plan.events.bisections as usize;
        let mut integrator = start(plan, Crossing { sign_only });
        let before = integrator.model.indicator_calls;
        run(&mut integrator, 1);
        assert_eq!(integrator.live.events, 1);
        (integrator.model.indicator_calls - before, bisections)
    };
    let ((smooth, _), (signs, bisections)) = (calls(false), calls(true));
    assert!(smooth <= 9, "{smooth} readings");
    assert!(signs <= bisections + 6, "{signs} readings");
}

/// A relay with hysteresis: x' = 1 up to 1, then x' = -1/20 down to 0; a cycle takes 21 s. An event that comes late by δ at the upper end costs 20 δ on the way down,
/// and the next cycle does not make up for it. With 2^-7 of a step per event, always late, the hundredth cycle would end seconds late.
#[test]
fn the_delays_of_a_switched_model_do_not_add_up() {
    struct Relay {
        on: bool,
        cycles: Vec<f64>,
    }
    impl Equations for Relay {
        fn start(&self) -> Vec<f64> {
            vec![0.0]
        }
        fn derivatives(&self, _: f64, _: &[f64], _: f64, dx: &mut [f64]) {
            dx[0] = if self.on { 1.0 } else { -0.05 };
        }
        fn indicators(&self, _: f64, x: &[f64], z: &mut [f64]) {
            z[0] = if self.on { 1.0 - x[0] } else { x[0] };
        }
        fn event(&mut self, t: f64, x: &mut [f64], _: &mut EventInfo) {
            if self.on && x[0] >= 1.0 {
                self.on = false;
            } else if !self.on && x[0] <= 0.0 {
                self.on = true;
                self.cycles.push(t);
            }
        }
    }
    for method in [Method::Lie, Method::Lie2, Method::Ros2] {
        let mut plan = with_indicator(plan(1, method, 0.4, Policy::Frozen));
        plan.events.bisections = 7;
        let mut integrator = start(plan, Relay { on: true, cycles: vec![] });
        run(&mut integrator, 5300);
        let hundredth = integrator.model.equations.cycles[99];
        // 2^-16 of a step per event, 21 times as much per cycle.
        let bound = 100.0 * 21.0 * 0.4 * 0.5f64.powi(16);
        assert!((hundredth - 2100.0).abs() <= bound, "{method:?}: {hundredth}");
    }
}

/// Whatever the shape of an indicator, an event is late by at most 2^(1-bisections) of a step: the step here is 1 and x = t, so that times are parts of it. A
/// regula falsi that always keeps the same end would be late by a sixth of the step with t^3.
#[test]
fn an_event_is_never_late_by_more_than_bisection() {
    type Indicator = fn(f64) -> f64;
    struct Shape(Indicator);
    impl Equations for Shape {
        fn start(&self) -> Vec<f64> {
            vec![0.0]
        }
        fn derivatives(&self, _: f64, _: &[f64], _: f64, dx: &mut [f64]) {
            dx[0] = 1.0;
        }
        fn indicators(&self, _: f64, x: &[f64], z: &mut [f64]) {
            z[0] = self.0(x[0]);
        }
    }
    let shapes: [(Indicator, f64); 8] = [
        (|t| 0.3 - t, 0.3),
        (|t| 0.5 - t * t, 0.5f64.sqrt()),
        (|t| 0.1 - t * t * t, 0.1f64.cbrt()),
        (|t| (-20.0 * t).exp() - 0.3, -(0.3f64.ln()) / 20.0),
        (|t| if t < 0.6 { 1e-3 } else { 0.6 - t }, 0.6),
        (|t| if t < 0.377 { 1.0 } else { -1.0 }, 0.377),
        (|t| if t < 0.9 { f64::INFINITY } else { f64::NEG_INFINITY }, 0.9),
        (|t| t, 0.0),
    ];
    for (shape, (indicator, exact)) in shapes.into_iter().enumerate() {
        let mut plan = with_indicator(plan(1, Method::Lie, 1.0, Policy::Frozen));
        plan.events.bisections = 7;
        let mut integrator = start(plan, Shape(indicator));
        run(&mut integrator, 1);
        let late = integrator.model.events[0] - exact;
        assert!((-1e-15..=0.5f64.powi(6)).contains(&late), "shape {shape}: late by {late}");
        assert!(shape > 1 || late <= 0.5f64.powi(15), "shape {shape}: late by {late}");
    }
}

/// A sampled controller with a period of 1 ms, stepped by 0.1 s in internal steps of 1 ms: every sample is taken. The bound belongs to each internal step.
#[test]
fn every_sample_is_taken_in_a_long_communication_step() {
    struct Sampled(usize);
    impl Equations for Sampled {
        fn start(&self) -> Vec<f64> {
            vec![0.0]
        }
        fn derivatives(&self, _: f64, _: &[f64], _: f64, dx: &mut [f64]) {
            dx[0] = 1.0;
        }
        fn event(&mut self, t: f64, _: &mut [f64], info: &mut EventInfo) {
            self.0 += 1;
            info.next_event_time = Some(((t / 1e-3).round() + 1.0) * 1e-3);
        }
    }
    let mut integrator = start(plan(1, Method::Lie, 1e-3, Policy::Frozen), Sampled(0));
    let division = integrator.divide(0.1);
    integrator.advance(0.1, division).unwrap();
    assert_eq!(integrator.live.carried_events, 0);
    assert_eq!(integrator.model.equations.0, 101, "one at initialisation and 100 samples");
}

/// An indicator or a state that is no number is a fault that names it, and the last good state is kept.
#[test]
fn what_is_no_number_is_a_fault() {
    struct Broken {
        indicator: bool,
    }
    impl Equations for Broken {
        fn start(&self) -> Vec<f64> {
            vec![0.0]
        }
        fn derivatives(&self, _: f64, _: &[f64], _: f64, dx: &mut [f64]) {
            dx[0] = 1.0;
        }
        fn indicators(&self, _: f64, x: &[f64], z: &mut [f64]) {
            z[0] = if x[0] < 0.035 {
                1.0
            } else if self.indicator {
                f64::NAN
            } else {
                -1.0
            };
        }
        fn event(&mut self, _: f64, x: &mut [f64], info: &mut EventInfo) {
            if x[0] > 0.01 {
                x[0] = f64::INFINITY;
                info.states_changed = true;
            }
        }
    }
    for indicator in [true, false] {
        let plan = with_indicator(plan(1, Method::Lie, 0.01, Policy::Frozen));
        let mut integrator = start(plan, Broken { indicator });
        run(&mut integrator, 3);
        let division = integrator.divide(0.01);
        let fault = integrator.advance(0.01, division).unwrap_err();
        match (indicator, fault) {
            (true, Fault::Indicator { indicator: 0, .. }) => {}
            (false, Fault::State { state: 0, value, .. }) if value == f64::INFINITY => {}
            _ => panic!("{indicator}: {fault:?}"),
        }
        assert!(integrator.live.x[0].is_finite());
    }
}

/// Two indicators in one step of 1 s. The first changes its sign at 0.3 and the model reacts to it from 0.74 on only; the second, at 0.5, is answered at once. The first stays
/// unresolved through the second's event, and the model is asked again at the step's end.
#[test]
fn another_event_does_not_disarm_an_indicator() {
    struct Two {
        answered: bool,
        reacted: bool,
    }
    impl Equations for Two {
        fn start(&self) -> Vec<f64> {
            vec![0.0]
        }
        fn derivatives(&self, _: f64, _: &[f64], _: f64, dx: &mut [f64]) {
            dx[0] = 1.0;
        }
        fn indicators(&self, _: f64, x: &[f64], z: &mut [f64]) {
            z[0] = 0.3 - x[0];
            z[1] = if self.answered { x[0] - 0.4 } else { 0.5 - x[0] };
        }
        fn event(&mut self, t: f64, x: &mut [f64], _: &mut EventInfo) {
            self.answered |= x[0] >= 0.5;
            self.reacted |= t >= 0.74;
        }
    }
    let mut plan = plan(1, Method::Lie, 1.0, Policy::Frozen);
    plan.events.indicators = 2;
    let mut integrator = start(plan, Two { answered: false, reacted: false });
    run(&mut integrator, 1);
    assert!(integrator.model.equations.answered && integrator.model.equations.reacted);
}

/// Forty-eight cells with a thermostat each, as the reference model `many-indicators` has them: T' = (P - k (T - 290) - 0.02 (2 T - neighbours)) / C, 96 indicators, three colours. A step
/// with an event evaluates the model no more than twenty times, whatever the method: before the event, in three to five trials, and after it with a renewed Jacobian.
#[test]
fn a_step_with_an_event_costs_few_evaluations() {
    const CELLS: usize = 48;
    struct Cabinet {
        heats: [bool; CELLS],
    }
    impl Equations for Cabinet {
        fn start(&self) -> Vec<f64> {
            (0..CELLS).map(|i| 318.5 + 0.07 * ((i * 5) % CELLS) as f64).collect()
        }
        fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
            for i in 0..CELLS {
                let left = if i == 0 { 290.0 } else { x[i - 1] };
                let right = x.get(i + 1).copied().unwrap_or(290.0);
                let over = x[i] - 290.0;
                let loss =
                    0.03 * over * (over * over + 0.01).powf(0.125) + 2e-10 * (x[i].powi(4) - 290f64.powi(4));
                let heat = if self.heats[i] { 12.0 } else { 0.0 };
                dx[i] = (heat - loss - 0.02 * (2.0 * x[i] - left - right))
                    / (3.0 + 0.05 * (i * 7 % CELLS) as f64);
            }
        }
        fn indicators(&self, _: f64, x: &[f64], z: &mut [f64]) {
            for (i, x) in x.iter().enumerate() {
                (z[2 * i], z[2 * i + 1]) = (x - 318.0, 322.0 - x);
            }
        }
        fn event(&mut self, _: f64, x: &mut [f64], _: &mut EventInfo) {
            for (heats, x) in self.heats.iter_mut().zip(x) {
                *heats = if *x <= 318.0 { true } else { *heats && *x < 322.0 };
            }
        }
    }
    for method in [Method::Lie, Method::Lie2, Method::Ros2] {
        let mut plan = plan(CELLS, method, 0.01, Policy::Watched);
        let places: Vec<(u32, u32)> = (0..CELLS as u32)
            .flat_map(|i| (i.saturating_sub(1)..(i + 2).min(CELLS as u32)).map(move |j| (i, j)))
            .collect();
        let of_colour = |k: u32| crate::plan::Colour {
            columns: (0..CELLS as u32).filter(|j| j % 3 == k).collect(),
            entries: (0..places.len() as u32).filter(|&e| places[e as usize].1 % 3 == k).collect(),
            known: vec![],
        };
        plan.jacobian.setup = (0..3).map(of_colour).collect();
        plan.jacobian.colours = plan.jacobian.setup.clone();
        plan.elimination.entries = (0..places.len() as u32).collect();
        plan.elimination.slots = places.iter().map(|(i, j)| i * CELLS as u32 + j).collect();
        plan.jacobian.rows = places.iter().map(|place| place.0).collect();
        plan.jacobian.cols = places.iter().map(|place| place.1).collect();
        plan.watch = Some(crate::plan::Watch { threshold: 1e-2, outside: 1e-2, sums: true });
        plan.model.time_invariant = true;
        plan.states.nominals.fill(300.0);
        plan.states.sizes.fill(300.0);
        plan.events.indicators = 2 * CELLS as u32;
        let mut it = start(plan, Cabinet { heats: [true; CELLS] });
        let (mut most, mut readings, mut with_events) = (0, 0, 0);
        for _ in 0..3000 {
            let before = (it.model.evaluations, it.model.indicator_calls, it.live.events);
            run(&mut it, 1);
            if it.live.events > before.2 {
                with_events += 1;
                // Two events in one step are two steps' worth.
                let events = (it.live.events - before.2) as usize;
                most = most.max((it.model.evaluations - before.0).div_ceil(events));
                readings = readings.max((it.model.indicator_calls - before.1).div_ceil(events));
            }
        }
        println!(
            "{method:?}: {with_events} steps with events, at most {most} evaluations and {readings} readings for one"
        );
        assert!(with_events > 50, "{with_events}");
        assert!(most <= 20 && readings <= 12, "{method:?}: {most} evaluations, {readings} readings");
    }
}
