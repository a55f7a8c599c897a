//! Details that are easily lost: each test here was written for a fault that was put into the integrator on purpose and that nothing else noticed.

use super::model::Equations;
use super::{explicit, plan, run, start};
use crate::fault::Fault;
use crate::model::EventInfo;
use crate::plan::{Method, Policy};

/// x' = 1 from 0, and an indicator that falls through zero at `at`. What the model makes of an event is a function of x.
struct Ramp<F> {
    at: f64,
    /// Where events found it.
    seen: Vec<f64>,
    react: F,
}

impl<F: FnMut(f64, &mut EventInfo)> Equations for Ramp<F> {
    fn start(&self) -> Vec<f64> {
        vec![0.0]
    }
    fn derivatives(&self, _: f64, _: &[f64], _: f64, dx: &mut [f64]) {
        dx[0] = 1.0;
    }
    fn indicators(&self, _: f64, x: &[f64], z: &mut [f64]) {
        z[0] = self.at - x[0];
    }
    fn event(&mut self, t: f64, x: &mut [f64], info: &mut EventInfo) {
        self.seen.push(x[0]);
        (self.react)(t, info);
    }
}

fn ramp<F: FnMut(f64, &mut EventInfo)>(at: f64, react: F) -> Ramp<F> {
    Ramp { at, seen: vec![], react }
}

/// Rolling takes its colours in turn: of two columns one is renewed in each step, and never the same twice.
#[test]
fn rolling_colours_take_turns() {
    struct Decay;
    impl Equations for Decay {
        fn start(&self) -> Vec<f64> {
            vec![1.0, 2.0]
        }
        fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
            dx[0] = -x[0] * x[0];
            dx[1] = -x[1] * x[1];
        }
    }
    let mut integrator = start(plan(2, Method::Lie, 0.1, Policy::Rolling { per_step: 1 }), Decay);
    let mut before = integrator.live.jacobian.clone();
    for step in 0..6 {
        let x = integrator.live.x.clone();
        run(&mut integrator, 1);
        let after = &integrator.live.jacobian;
        let renewed: Vec<usize> = (0..2).filter(|&j| after[3 * j] != before[3 * j]).collect();
        // In the very first step the entries are as they were at the start.
        assert!(renewed == [step % 2] || step == 0, "step {step} renewed {renewed:?}");
        assert!((after[3 * (step % 2)] + 2.0 * x[step % 2]).abs() < 1e-6, "step {step}: at another point");
        before = after.clone();
    }
}

/// A state that leaves every range is a fault that names it while its value is still a number.
#[test]
fn divergence_is_noticed_before_infinity() {
    struct Growth;
    impl Equations for Growth {
        fn start(&self) -> Vec<f64> {
            vec![0.0, 1.0]
        }
        fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
            dx[0] = 0.0;
            dx[1] = 1e9 * x[1];
        }
    }
    let mut integrator = start(explicit(2, Method::Lie, 1.0), Growth);
    let fault = (0..100)
        .find_map(|_| {
            let division = integrator.divide(1.0);
            integrator.advance(1.0, division).err()
        })
        .unwrap();
    assert!(matches!(fault, Fault::Diverged { state: 1, value, .. } if value.is_finite()), "{fault:?}");
    assert!(integrator.live.x[1].is_finite());
}

/// The error estimate compares the increments of two steps: on x' = -x it is h²/2 |x|, up to O(h³).
#[test]
fn the_error_estimate_compares_two_steps() {
    struct Decay;
    impl Equations for Decay {
        fn start(&self) -> Vec<f64> {
            vec![1.0]
        }
        fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
            dx[0] = -x[0];
        }
    }
    let h = 0.01;
    let mut integrator = start(plan(1, Method::Lie, h, Policy::Frozen), Decay);
    run(&mut integrator, 5);
    let expected = h * h / 2.0 * integrator.live.x[0];
    assert!((integrator.error_estimate() / expected - 1.0).abs() < 0.03, "{}", integrator.error_estimate());
}

/// FMI's rule is z > 0 against z <= 0: falling onto zero is an event, rising from below to zero is none yet.
#[test]
fn zero_belongs_to_the_lower_side() {
    let mut plan = explicit(1, Method::Lie, 0.25);
    plan.events.indicators = 1;
    let mut integrator = start(plan, ramp(0.5, |_, _| {}));
    run(&mut integrator, 1);
    assert_eq!(integrator.live.events, 0);
    run(&mut integrator, 1); // ends at x = 0.5 exactly
    assert_eq!(integrator.live.events, 1);
}

/// The model enters Event Mode on the far side of its indicator, never before it, and not later than the bound.
#[test]
fn an_event_finds_the_model_behind_its_indicator() {
    for at in (1..40).map(|i| 0.025 * f64::from(i) + 0.0013) {
        let mut plan = plan(1, Method::Lie, 1.0, Policy::Frozen);
        plan.events.indicators = 1;
        let within = 0.5f64.powi(plan.events.bisections as i32);
        let mut integrator = start(plan, ramp(at, |_, _| {}));
        run(&mut integrator, 1);
        let found = integrator.model.equations.seen[1]; // the first is initialisation
        assert!(found >= at && found <= at + within, "{found} for {at}");
    }
}

/// The indicator changes its sign at 0.6, the model reacts from 0.74 on: it is asked again at the step's end, 0.75.
#[test]
fn an_unresolved_indicator_is_asked_again() {
    let mut plan = explicit(1, Method::Lie, 0.25);
    plan.events.indicators = 1;
    let mut reacted = false;
    let mut integrator = start(plan, ramp(0.6, |t, _| reacted |= t >= 0.74));
    run(&mut integrator, 3);
    drop(integrator);
    assert!(reacted);
}

/// A time event makes both states stiff: under every policy (watched renews as frozen does) the whole Jacobian is renewed there, and the next step divides by 1 + 1000 h. (A rolling one that renews a single column
/// lets rectifiers chatter.)
#[test]
fn the_whole_jacobian_is_renewed_at_an_event() {
    struct Switch(f64);
    impl Equations for Switch {
        fn start(&self) -> Vec<f64> {
            vec![1.0, 1.0]
        }
        fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
            (dx[0], dx[1]) = (-self.0 * x[0], -self.0 * x[1]);
        }
        fn event(&mut self, t: f64, _: &mut [f64], info: &mut EventInfo) {
            self.0 = if t < 0.25 { 1.0 } else { 1000.0 };
            info.next_event_time = (t < 0.25).then_some(0.3);
        }
    }
    let h = 0.1;
    for policy in [Policy::Every, Policy::Rolling { per_step: 1 }, Policy::Frozen] {
        let mut integrator = start(plan(2, Method::Lie, h, policy), Switch(1.0));
        run(&mut integrator, 3);
        let before = integrator.live.x.clone();
        run(&mut integrator, 1);
        for (x, before) in integrator.live.x.iter().zip(before) {
            let factor = x / before;
            assert!((factor * (1.0 + 1000.0 * h) - 1.0).abs() < 1e-6, "{policy:?}: {factor}");
        }
    }
}

/// A model that has a hundred events in each step gets as many as the plan allows, and each step says that it put one off.
#[test]
fn a_step_handles_a_bounded_number_of_events() {
    let mut plan = explicit(1, Method::Lie, 0.1);
    plan.events.max_per_step = 3;
    let mut integrator = start(plan, ramp(f64::INFINITY, |t, info| info.next_event_time = Some(t + 1e-3)));
    run(&mut integrator, 10);
    assert_eq!((integrator.live.events, integrator.live.carried_events), (30, 10));
}

/// x' = 1 if `on`, else t.
struct Clock {
    on: bool,
    /// The time event that turns it on.
    switch: Option<f64>,
}

impl Equations for Clock {
    fn start(&self) -> Vec<f64> {
        vec![0.0]
    }
    fn derivatives(&self, t: f64, _: &[f64], _: f64, dx: &mut [f64]) {
        dx[0] = if self.on { 1.0 } else { t };
    }
    fn event(&mut self, t: f64, _: &mut [f64], info: &mut EventInfo) {
        self.on |= self.switch.is_some_and(|switch| t >= switch);
        info.next_event_time = self.switch.filter(|_| !self.on);
    }
}

/// A communication step that is no multiple of h is cut into equal parts, none longer than h, each with its own time; the grid goes on from its end.
#[test]
fn an_irregular_step_is_cut_and_moves_the_grid() {
    let mut integrator = start(explicit(1, Method::Lie, 0.1), Clock { on: false, switch: None });
    let division = integrator.divide(0.25);
    assert!(division.irregular && division.steps == 3 && division.h <= 0.1, "{division:?}");
    integrator.advance(0.25, division).unwrap();
    // Euler with time at each part's end: 0.25/3 (1 + 2 + 3) 0.25/3.
    let part = 0.25 / 3.0;
    assert!((integrator.live.x[0] - 6.0 * part * part).abs() < 1e-15, "{}", integrator.live.x[0]);
    run(&mut integrator, 3);
    assert!((integrator.live.time - 0.55).abs() < 1e-15, "{}", integrator.live.time);
    let more = 0.1 * (0.35 + 0.45 + 0.55);
    assert!((integrator.live.x[0] - 6.0 * part * part - more).abs() < 1e-14, "{}", integrator.live.x[0]);
}

/// The step is cut at a time event: up to there the old equations hold, then the new ones.
#[test]
fn a_time_event_cuts_the_step() {
    let mut integrator = start(explicit(1, Method::Lie, 0.5), Clock { on: false, switch: Some(0.2) });
    run(&mut integrator, 1);
    let expected = 0.2 * 0.2 + 0.3;
    assert!((integrator.live.x[0] - expected).abs() < 1e-15, "{} for {expected}", integrator.live.x[0]);
}

/// Two columns share a colour although row 0 has both: the entry that is known is taken off the difference.
#[test]
fn a_known_entry_is_taken_off() {
    struct Pair;
    impl Equations for Pair {
        fn start(&self) -> Vec<f64> {
            vec![0.5, 2.0]
        }
        fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
            dx[0] = -x[0] * x[0] + 3.0 * x[1];
            dx[1] = -x[1] * x[1];
        }
    }
    let mut plan = plan(2, Method::Lie, 0.1, Policy::Every);
    plan.jacobian.colours =
        vec![crate::plan::Colour { columns: vec![0, 1], entries: vec![0, 3], known: vec![(0, 1)] }];
    let mut integrator = start(plan, Pair);
    for _ in 0..3 {
        let x = integrator.live.x.clone();
        run(&mut integrator, 1);
        let a = &integrator.live.jacobian;
        for (found, expected) in [(a[0], -2.0 * x[0]), (a[1], 3.0), (a[3], -2.0 * x[1])] {
            assert!((found - expected).abs() < 1e-6, "{a:?} at {x:?}");
        }
    }
}

/// At the edge of its domain a model has derivatives on one side only: differences are taken there, whichever it is.
#[test]
fn differences_are_taken_where_the_model_is_defined() {
    struct Edge(f64);
    impl Equations for Edge {
        fn start(&self) -> Vec<f64> {
            vec![1.0]
        }
        fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
            let inside = self.0 * (x[0] - 1.0) >= 0.0;
            dx[0] = if inside { 2.0 * self.0 * (x[0] - 1.0) } else { f64::NAN };
        }
    }
    for side in [1.0, -1.0] {
        let mut integrator = start(plan(1, Method::Lie, 0.01, Policy::Every), Edge(side));
        run(&mut integrator, 1);
        assert!((integrator.live.jacobian[0] - 2.0 * side).abs() < 1e-6, "{:?}", integrator.live.jacobian);
    }
}

/// An event that never settles ends after as many iterations as the plan allows, with a fault.
#[test]
fn event_iteration_is_capped() {
    let mut calls = 0;
    let mut integrator = start(
        explicit(1, Method::Lie, 0.1),
        ramp(f64::INFINITY, |t, info| {
            calls += 1;
            info.next_event_time = Some(0.05);
            info.another_iteration_needed = t > 0.0;
        }),
    );
    let limit = integrator.plan().events.max_iterations;
    let division = integrator.divide(0.1);
    let fault = integrator.advance(0.1, division).unwrap_err();
    assert!(matches!(fault, Fault::EventIteration { .. }), "{fault:?}");
    drop(integrator);
    assert_eq!(calls, 1 + limit, "one at initialisation");
}

/// x' = -0.8, and -2 below 0.7, with no numbers below 0. From 1 the explicit lie2 step of length 1 has stages at 1 and 0.6 and its two half steps end at
/// 1 - 0.4 - 1 = -0.4, where the next step could not begin; the Euler step ends at 0.2. The embedded estimate is 0.6: the end is looked at.
#[test]
fn a_step_that_overshoots_ends_where_the_model_has_numbers() {
    struct Edge;
    impl Equations for Edge {
        fn start(&self) -> Vec<f64> {
            vec![1.0]
        }
        fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
            dx[0] = if x[0] < 0.0 {
                f64::NAN
            } else if x[0] < 0.7 {
                -2.0
            } else {
                -0.8
            };
        }
    }
    let mut plan = explicit(1, Method::Lie2, 1.0);
    plan.step.limit = 0.01;
    let mut integrator = start(plan, Edge);
    run(&mut integrator, 1);
    assert!((integrator.live.x[0] - 0.2).abs() < 1e-12, "{:?}", integrator.live.x);
}

/// A dense core keeps the scales that it was balanced with, and they decide about pivots: a restored run has them. x0' = -x0 + 200 g x1, x1' = -x1 - 200 x0 / g, with g = 1 at first, when the core is
/// balanced, and 0.01 later: balanced there, W would have its rows swapped.
#[test]
fn a_restored_run_has_the_same_pivots() {
    struct Turning;
    impl Equations for Turning {
        fn start(&self) -> Vec<f64> {
            vec![1.0, 0.3]
        }
        fn derivatives(&self, t: f64, x: &[f64], _: f64, dx: &mut [f64]) {
            let g = if t < 0.055 { 1.0 } else { 0.01 };
            dx[0] = -x[0] + 200.0 * g * x[1];
            dx[1] = -x[1] - 200.0 / g * x[0];
        }
    }
    let mut integrator = start(plan(2, Method::Lie, 0.01, Policy::Every), Turning);
    run(&mut integrator, 10);
    let (live, x, t) = (integrator.live.clone(), integrator.model.x.clone(), integrator.model.t);
    run(&mut integrator, 5);
    let there = integrator.live.x.clone();
    (integrator.live, integrator.model.x, integrator.model.t) = (live, x, t);
    integrator.follow_live().unwrap();
    run(&mut integrator, 5);
    assert_eq!(integrator.live.x, there);
}
