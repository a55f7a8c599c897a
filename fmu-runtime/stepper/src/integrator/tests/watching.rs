//! The watch, the policy `watched`, and derivatives carried from one step to the next.

use super::model::{Equations, Host, INPUT};
use super::{Integrator, explicit, plan, run, start};
use crate::integrator::{Changes, Remark};
use crate::plan::{Fallback, Method, Plan, Policy, Watch};

/// x' = -k(x) x with k = 1000 below 1 and rising: a model whose stiffness depends on its state; u drives it.
struct Valve;

impl Equations for Valve {
    fn start(&self) -> Vec<f64> {
        vec![0.0]
    }
    fn derivatives(&self, _: f64, x: &[f64], u: f64, dx: &mut [f64]) {
        dx[0] = 500.0 * (u - x[0] - x[0].powi(3));
    }
}

struct Linear;

impl Equations for Linear {
    fn start(&self) -> Vec<f64> {
        vec![1.0, 2.0]
    }
    fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
        dx[0] = -3.0 * x[0] + x[1];
        dx[1] = 2.0 * x[0] - 40.0 * x[1];
    }
}

fn watched(mut plan: Plan, threshold: f64) -> Plan {
    plan.watch = Some(Watch { threshold, outside: threshold, sums: true });
    plan.model.time_invariant = true;
    plan
}

/// With the true Jacobian of a linear model nothing is missed; without any, e = h (f(x+d) - f(x)).
#[test]
fn the_defect_is_what_the_matrix_misses() {
    for method in Method::ALL.into_iter().filter(|method| method.tableau().any_matrix) {
        let mut integrator = start(watched(plan(2, method, 0.01, Policy::Frozen), 1.0), Linear);
        run(&mut integrator, 3);
        assert!(integrator.live.plan_defect < 1e-7, "{method:?}: {}", integrator.live.plan_defect);
    }
    let h = 0.01;
    let mut integrator = start(watched(explicit(2, Method::Lie, h), 1.0), Linear);
    run(&mut integrator, 1);
    let f = |x: [f64; 2]| [-3.0 * x[0] + x[1], 2.0 * x[0] - 40.0 * x[1]];
    let first = f([1.0, 2.0]);
    let second = f([1.0 + h * first[0], 2.0 + h * first[1]]);
    let e = (0..2).map(|i| (h * (second[i] - first[i])).abs()).fold(0.0, f64::max);
    assert!((integrator.live.plan_defect - e).abs() < 1e-12, "{} for {e}", integrator.live.plan_defect);
}

/// What the watch finds is what the result misses: on x' = λx with A = θλ the difference of a step with this A from one with A = λ. Near θ = 1 it is that difference (to first order in A's error; of
/// lie2 within a factor of four), for θ from 0 to 3 and from slow to stiff at least half of it, a third for Euler.
#[test]
fn the_defect_is_what_the_result_misses() {
    struct Decay(f64);
    impl Equations for Decay {
        fn start(&self) -> Vec<f64> {
            vec![1.0]
        }
        fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
            dx[0] = self.0 * x[0];
        }
    }
    for method in Method::ALL.into_iter().filter(|method| method.tableau().any_matrix) {
        for z in [-0.01, -0.1, -1.0, -3.0, -10.0, -100.0] {
            let h = 0.01;
            let step = |theta: f64| {
                let mut plan = watched(plan(1, method, h, Policy::Frozen), f64::MAX);
                plan.watch = Some(Watch { threshold: 1e9, outside: 1e9, sums: true });
                let mut integrator = start(plan, Decay(z / h));
                integrator.live.jacobian[0] = theta * z / h;
                integrator.live.factored_for = 0.0;
                run(&mut integrator, 1);
                (integrator.live.x[0], integrator.live.plan_defect)
            };
            let exact = step(1.0).0;
            for theta in [0.0, 0.3, 0.7, 0.99, 1.5, 3.0] {
                let (x, defect) = step(theta);
                let missed = (exact - x).abs();
                let least = if method == Method::Lie { 3.0 } else { 2.0 };
                assert!(missed <= least * defect + 1e-14, "{method:?} {z} {theta}: {missed:e} {defect:e}");
                let close = matches!(method, Method::Lie | Method::Ros2 | Method::Ros2l | Method::Ros34pw2);
                if theta == 0.99 && close && z > -20.0 {
                    assert!(defect <= 1.5 * missed, "{method:?} {z}: {missed:e} {defect:e}");
                }
            }
        }
    }
}

/// A stiff state behind a moving forcing, x' = -1000 (x - sin t): f changes with time many times more than a step lets it, and A is exact. Nothing is missed, whatever times the stages have.
struct Forced;

impl Equations for Forced {
    fn start(&self) -> Vec<f64> {
        vec![0.0]
    }
    fn derivatives(&self, t: f64, x: &[f64], u: f64, dx: &mut [f64]) {
        dx[0] = -1000.0 * (x[0] - t.sin()) + u;
    }
}

fn forced(method: Method) -> Integrator<Host<Forced>> {
    let mut plan = watched(plan(1, method, 0.01, Policy::Frozen), 1.0);
    plan.model.time_invariant = false;
    start(plan, Forced)
}

/// Where the last stage has a time of its own and what time changes is carried on from the steps before, half a step ahead on a straight line, 3/8 h² f_ttt is left of it: on x' = λ (x - sin t)
/// that adds up to c γ |c_s - c₁| 3/8 · z/(1 + γz) · γz/(1 + γz) h² sin t with z = h|λ|.
#[test]
fn time_is_not_the_matrix_fault() {
    let (h, z) = (0.01, 10.0);
    for method in Method::ALL.into_iter().filter(|method| method.tableau().any_matrix) {
        let mut integrator = forced(method);
        let before = integrator.model.evaluations;
        run(&mut integrator, 100);
        let (defect, tableau) = (integrator.live.plan_defect, method.tableau());
        let [first, last] = tableau.first_and_last_time();
        let gamma = tableau.gamma(tableau.stages.len() - 1);
        let stiff = z / (1.0 + gamma * z);
        let left = tableau.stale_share * gamma * (last - first).abs() * 0.375 * stiff * gamma * stiff * h * h;
        let bound = if tableau.time_slope_is_free() { 1.1 * left * 1f64.sin() } else { 1e-5 };
        assert!(defect < bound, "{method:?}: {defect:e} {bound:e}");
        // From the second step on the step before tells.
        let asked =
            if tableau.time_slope_is_free() { 1 } else { 100 * tableau.watch_evaluations(false) as usize };
        let stages = 100 * tableau.evaluations(false) as usize;
        assert_eq!(integrator.model.evaluations - before, stages + asked, "{method:?}");
    }
}

/// The same with A = 0.7 J: what is missed is found, though only the step before tells what time does, to within a quarter of what an evaluation would find.
#[test]
fn an_old_matrix_is_noticed_where_time_matters() {
    for method in [Method::Ros2, Method::Ros2l] {
        let defects = |asks: bool| {
            let mut integrator = forced(method);
            integrator.live.jacobian[0] = -700.0;
            integrator.live.factored_for = 0.0;
            (0..100)
                .map(|_| {
                    if asks {
                        integrator.live.last_stage.forget();
                    }
                    run(&mut integrator, 1);
                    integrator.live.plan_defect
                })
                .collect::<Vec<f64>>()
        };
        for (told, found) in defects(false).into_iter().zip(defects(true)).skip(1) {
            assert!((told - found).abs() <= 0.25 * found, "{method:?}: {told:e} for {found:e}");
        }
    }
}

/// An input that jumps is no slope of time, and neither is what an event changes: the model is asked in that step, and the watch stays silent.
#[test]
fn a_jump_is_not_taken_for_a_slope() {
    for method in [Method::Ros2, Method::Ros2l] {
        for by_event in [false, true] {
            let mut integrator = forced(method);
            run(&mut integrator, 50);
            let before = (integrator.live.plan_defect, integrator.live.watch_evaluations);
            integrator.model.u = 100.0;
            if by_event {
                integrator.model.force_mode(true);
                integrator.live.in_event_mode = true;
            } else {
                integrator.live.inputs_changed = true;
            }
            run(&mut integrator, 1);
            assert_eq!(integrator.live.watch_evaluations, before.1 + 1, "{method:?}, event: {by_event}");
            // After an event the matrix is new, and so is the sum.
            let known = if by_event { 0.0 } else { before.0 };
            let after = integrator.live.plan_defect;
            assert!((after - known).abs() < 1e-6, "{method:?}, event: {by_event}: {before:?} {after:e}");
        }
    }
}

/// An input with a slope is kinked where its communication step begins and where it ends: in both steps the model is asked, and in the next one the step before tells again.
#[test]
fn a_kink_is_not_taken_for_a_slope() {
    for method in [Method::Ros2, Method::Ros2l] {
        let mut integrator = forced(method);
        run(&mut integrator, 50);
        let known = integrator.live.plan_defect;
        let mut asked = |slope: f64| {
            let before = integrator.live.watch_evaluations;
            if slope != 0.0 {
                let (time, extrapolation) = (integrator.live.time, &mut integrator.live.extrapolation);
                extrapolation.set(INPUT, slope);
                (extrapolation.origin, extrapolation.values[0]) = (time, 0.0);
            }
            run(&mut integrator, 1);
            integrator.live.extrapolation.clear();
            integrator.live.watch_evaluations - before
        };
        assert_eq!([asked(10.0), asked(0.0), asked(0.0)], [1, 1, 0], "{method:?}");
        let defect = integrator.live.plan_defect;
        assert!((defect - known).abs() < 1e-4, "{method:?}: {known:e} {defect:e}");
    }
}

/// Frozen at rest and driven to where the model is ten times stiffer: the frozen plan is far off, the watched one does the step again with a new
/// Jacobian and ends where a fresh one ends; quiet steps cost one evaluation.
#[test]
fn watched_renews_where_it_must() {
    for method in [Method::Lie, Method::Lie2, Method::Ros2] {
        let drive = |policy: Policy| {
            let mut plan = watched(plan(1, method, 1e-3, policy), 1e-2);
            plan.step.limit = 1e-2;
            let mut integrator = start(plan, Valve);
            let mut path = vec![];
            for k in 0..400 {
                let u = if k < 100 {
                    0.0
                } else if k < 250 {
                    12.0
                } else {
                    -3.0
                };
                if integrator.model.u != u {
                    integrator.model.u = u;
                    integrator.live.inputs_changed = true;
                }
                run(&mut integrator, 1);
                path.push(integrator.live.x[0]);
            }
            (path, integrator)
        };
        let (fresh, _) = drive(Policy::Every);
        let (path, integrator) = drive(Policy::Watched);
        let off = |path: &[f64]| path.iter().zip(&fresh).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off(&path) < 0.15, "{method:?}: off by {}", off(&path));
        assert!(
            integrator.live.renewals > 0 && integrator.live.renewals < 40,
            "{}",
            integrator.live.renewals
        );
        let quiet = f64::from(method.tableau().evaluations(true));
        let average = integrator.live.evaluations as f64 / 400.0;
        assert!(average < quiet + 0.4, "{method:?}: {average} evaluations on average");
        assert_eq!(integrator.live.evaluations as usize + 4, integrator.model.evaluations + 1);
    }
}

/// The remark is of the step that spoke. One communication step of a second: at its beginning the input jumps, and the watch speaks within ten milliseconds; at its end the model
/// is at rest, and what was missed since is a tenth of what the watch speaks of.
#[test]
fn the_remark_is_of_the_step_that_spoke() {
    let threshold = 1e-2;
    let mut integrator = start(watched(plan(1, Method::Lie, 1e-3, Policy::Frozen), threshold), Valve);
    run(&mut integrator, 10);
    let begin = integrator.live.time;
    integrator.model.u = 1.5;
    integrator.live.inputs_changed = true;
    let division = integrator.divide(1.0);
    integrator.advance(1.0, division).unwrap();
    assert!(integrator.live.plan_defect < 0.1 * threshold, "{}", integrator.live.plan_defect);
    let Some(Remark::OutsidePlan { state, defect, time }) = integrator.remark() else { panic!("no remark") };
    assert_eq!(state, 0);
    assert!(defect > threshold, "{defect}");
    assert!(time > begin && time < begin + 0.1, "{time} after {begin}");
    assert_eq!(integrator.remark(), None);
}

/// A frozen plan is only reported: the watch speaks and nothing is done again.
#[test]
fn a_frozen_plan_tells_that_it_left_its_ground() {
    let mut integrator = start(watched(plan(1, Method::Lie, 1e-3, Policy::Frozen), 1e-2), Valve);
    run(&mut integrator, 10);
    assert_eq!((integrator.live.outside_plan, integrator.live.renewals), (0, 0));
    integrator.model.u = 1.5;
    integrator.live.inputs_changed = true;
    run(&mut integrator, 10);
    assert!(integrator.live.outside_plan > 0);
    assert_eq!(integrator.live.renewals, 0);
}

/// Where time does not enter, the derivatives at a step's end start the next step: one evaluation a step with the watch, and one more when an input
/// has changed. The result is the same to the last bit.
#[test]
fn derivatives_are_carried_to_the_next_step() {
    let one = |time_invariant: bool| {
        let mut plan = watched(plan(2, Method::Lie, 0.01, Policy::Frozen), 1.0);
        plan.model.time_invariant = time_invariant;
        let mut integrator = start(plan, Linear);
        let before = integrator.model.evaluations;
        run(&mut integrator, 10);
        integrator.live.inputs_changed = true;
        run(&mut integrator, 1);
        (integrator.live.x.clone(), integrator.model.evaluations - before)
    };
    let ((carried, few), (asked, many)) = (one(true), one(false));
    assert_eq!(carried, asked);
    assert_eq!((few, many), (12, 22));
}

/// Two states, the second stiff with rate k: the plan keeps no entry at all, its fallback all of them.
struct Stiffness(f64);

impl Equations for Stiffness {
    fn start(&self) -> Vec<f64> {
        vec![1.0, 0.3]
    }
    fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
        dx[0] = -x[0];
        dx[1] = -self.0 * (x[1] - x[0]);
    }
}

fn explicit_with_fallback(threshold: f64) -> Plan {
    let whole = plan(2, Method::Lie, 0.01, Policy::Watched);
    let mut plan = watched(explicit(2, Method::Lie, 0.01), threshold);
    plan.fallback = Some(Fallback { jacobian: whole.jacobian, elimination: whole.elimination });
    plan
}

/// Explicit Euler is stable up to h k = 2. With the importer's k beyond that the step map is seen to grow at initialisation, and the fallback is taken for the whole
/// simulation; below it the plan stays as it was made.
#[test]
fn a_plan_that_does_not_hold_here_gives_way_to_its_fallback() {
    for (k, solver) in [(50.0, 0), (150.0, 0), (250.0, 1), (1e5, 1)] {
        let mut integrator = start(explicit_with_fallback(1e9), Stiffness(k));
        assert_eq!(integrator.live.solver, solver, "k = {k}");
        run(&mut integrator, 300);
        let [x, y] = integrator.live.x[..] else { unreachable!() };
        assert!((x - (-3f64).exp()).abs() < 0.01 && (y - x).abs() < 0.02, "k = {k}: {x} {y}");
    }
}

/// The same where only the watch is there to see it: each step that it speaks of is done with all entries.
#[test]
fn a_step_beyond_the_threshold_takes_the_fallback() {
    let mut integrator = start(explicit_with_fallback(0.05), Stiffness(150.0));
    run(&mut integrator, 5);
    let quiet = integrator.live.renewals;
    integrator.model.equations.0 = 1e4;
    integrator.live.inputs_changed = true;
    integrator.live.x[1] = 2.0;
    integrator.restore();
    run(&mut integrator, 100);
    assert!(integrator.live.renewals > quiet);
    assert_eq!(integrator.live.outside_plan, 0);
    let [x, y] = integrator.live.x[..] else { unreachable!() };
    assert!((y - x).abs() < 0.05, "{x} {y}");
}

/// A model that answers with values of its last evaluation gets one at the end of each communication step, and no second one where the watch has made it.
#[test]
fn outputs_that_wait_for_an_evaluation_get_it() {
    for (threshold, more) in [(None, 1), (Some(1.0), 0)] {
        let mut plan = plan(2, Method::Lie, 0.01, Policy::Frozen);
        plan.watch = threshold.map(|threshold| Watch { threshold, outside: threshold, sums: true });
        plan.model.outputs_need_evaluation = true;
        let mut integrator = start(plan.clone(), Linear);
        let before = integrator.model.evaluations;
        run(&mut integrator, 10);
        let with = integrator.model.evaluations - before;
        plan.model.outputs_need_evaluation = false;
        let mut integrator = start(plan, Linear);
        let before = integrator.model.evaluations;
        run(&mut integrator, 10);
        assert_eq!(with, integrator.model.evaluations - before + 10 * more);
    }
}

/// dx/dt = u - friction, the friction steep at rest and flat in motion: an A from standstill makes every step of the run-up too short by the same little part. No single step misses
/// much; their sum does, and A is renewed early in the run-up. (W = 7 there: e is a seventh of what is missed.)
#[test]
fn small_defects_add_up() {
    struct Friction;
    impl Equations for Friction {
        fn start(&self) -> Vec<f64> {
            vec![0.0]
        }
        fn derivatives(&self, _: f64, x: &[f64], u: f64, dx: &mut [f64]) {
            dx[0] = u - 6.0 * (x[0] / 1e-3).tanh();
        }
    }
    let run_up = |policy: Policy| {
        let mut plan = watched(plan(1, Method::Lie, 1e-3, policy), 2e-3);
        plan.states.sizes = vec![20.0];
        let mut integrator = start(plan, Friction);
        integrator.model.u = 26.0;
        integrator.live.inputs_changed = true;
        run(&mut integrator, 1000);
        integrator
    };
    let (fresh, watched, frozen) = (run_up(Policy::Every), run_up(Policy::Watched), run_up(Policy::Frozen));
    assert!((fresh.live.x[0] - 20.0).abs() < 0.1, "{}", fresh.live.x[0]);
    assert!((watched.live.x[0] - 20.0).abs() < 0.3, "{}", watched.live.x[0]);
    assert!(watched.live.renewals < 30 && watched.live.outside_plan == 0);
    // Only told: far off, and not silent.
    assert!(frozen.live.x[0] < 10.0 && frozen.live.outside_plan > 0, "{}", frozen.live.x[0]);
}

/// The step that is done again renews its Jacobian where it starts: a directional derivative is one of the point where the model stands, which the first try has left.
#[test]
fn a_directional_derivative_is_renewed_at_the_step_s_start() {
    let mut plan = watched(plan(1, Method::Lie, 1e-3, Policy::Watched), 1e-6);
    plan.jacobian.source = crate::plan::JacobianSource::Directional;
    (plan.states.references, plan.states.derivative_references) = (vec![0], vec![0]);
    let mut integrator = start(plan, Valve);
    integrator.model.u = 3.0;
    integrator.live.inputs_changed = true;
    let mut renewals = 0;
    for step in 0..8 {
        let x = integrator.live.x[0];
        run(&mut integrator, 1);
        if integrator.live.renewals > renewals {
            renewals = integrator.live.renewals;
            let expected = -500.0 * (1.0 + 3.0 * x * x);
            let found = integrator.live.jacobian[0];
            assert!((found / expected - 1.0).abs() < 1e-6, "step {step}: {found} for {expected}");
        }
    }
    assert!(renewals > 3, "{renewals}");
}

/// x' = -1e4 x from 1, an event at 1/2, h = 0.01. The plan is explicit, the watch speaks, its fallback takes the step; the event is looked for with the same matrix, on
/// x(θ h) = 1/(1 + 100 θ): at θ = 0.01, and not on the explicit 1 - 100 θ, at 0.005.
#[test]
fn an_event_is_located_with_the_matrix_of_its_step() {
    struct Fall;
    impl Equations for Fall {
        fn start(&self) -> Vec<f64> {
            vec![1.0]
        }
        fn derivatives(&self, t: f64, x: &[f64], _: f64, dx: &mut [f64]) {
            // Nothing moves while the simulation starts: nothing tells there that the plan will not do.
            dx[0] = if t > 0.0 { -1e4 * x[0] } else { 0.0 };
        }
        fn indicators(&self, _: f64, x: &[f64], z: &mut [f64]) {
            z[0] = x[0] - 0.5;
        }
    }
    let whole = plan(1, Method::Lie, 0.01, Policy::Watched);
    let mut plan = explicit(1, Method::Lie, 0.01);
    plan.watch = Some(Watch { threshold: 0.01, outside: 0.01, sums: false });
    plan.fallback = Some(Fallback { jacobian: whole.jacobian, elimination: whole.elimination });
    plan.events.indicators = 1;
    let mut integrator = start(plan, Fall);
    assert_eq!(integrator.live.solver, 0);
    run(&mut integrator, 1);
    let part = integrator.model.events[0] / 0.01;
    assert!((0.01..=0.01 + 1.0 / 1024.0).contains(&part), "{part}");
    assert_eq!(integrator.live.solver, 0, "only this step was the fallback's");
}

/// The matrix [[-1, 6], [-5, -30]] with its diagonal dropped: at h = 1 a step multiplies disturbances by 29/31, at h/2 by 2. Cut steps occur, so that the fallback is taken.
#[test]
fn a_plan_that_holds_at_h_only_gives_way_to_its_fallback() {
    struct Pair;
    impl Equations for Pair {
        fn start(&self) -> Vec<f64> {
            vec![1.0, 1.0]
        }
        fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
            dx[0] = -x[0] + 6.0 * x[1];
            dx[1] = -5.0 * x[0] - 30.0 * x[1];
        }
    }
    let whole = plan(2, Method::Lie, 1.0, Policy::Watched);
    let mut plan = watched(whole.clone(), 1e9);
    plan.jacobian.policy = Policy::Frozen;
    (plan.jacobian.rows, plan.jacobian.cols) = (vec![0, 1], vec![1, 0]);
    let colour = |column: u32, entry: u32| crate::plan::Colour {
        columns: vec![column],
        entries: vec![entry],
        known: vec![],
    };
    plan.jacobian.setup = vec![colour(0, 1), colour(1, 0)];
    plan.jacobian.colours = plan.jacobian.setup.clone();
    (plan.elimination.entries, plan.elimination.slots) = (vec![0, 1], vec![1, 2]);
    plan.fallback = Some(Fallback { jacobian: whole.jacobian, elimination: whole.elimination });
    let mut integrator = start(plan, Pair);
    assert_eq!(integrator.live.solver, 1);
    for _ in 0..20 {
        let division = integrator.divide(0.5);
        integrator.advance(0.5, division).unwrap();
    }
    assert!(integrator.live.x.iter().all(|x| x.abs() < 1e-2), "{:?}", integrator.live.x);
}

/// x' = 500 (u - x - 1e4 x³) bends at a hundredth of its size. What an old Jacobian misses there is a third of a percent of the size, and a third of the motion: the watch measures by
/// ten times what the run reaches and has it renewed; 3 % of the motion are left.
#[test]
fn the_watch_measures_by_the_run() {
    struct Small;
    impl Equations for Small {
        fn start(&self) -> Vec<f64> {
            vec![0.0]
        }
        fn derivatives(&self, _: f64, x: &[f64], u: f64, dx: &mut [f64]) {
            dx[0] = 500.0 * (u - x[0] - 1e4 * x[0].powi(3));
        }
    }
    let drive = |size: f64| {
        let mut plan = watched(plan(1, Method::Lie, 1e-3, Policy::Watched), 3e-3);
        plan.states.sizes = vec![size];
        let mut integrator = start(plan, Small);
        let mut values = Vec::new();
        for step in 0..60 {
            let u = if step < 20 { 0.02 } else { -0.01 };
            let driven = Changes { continuous: true, ..Changes::default() };
            integrator.change(driven, |model| model.u = u).unwrap();
            run(&mut integrator, 1);
            values.push(integrator.live.x[0]);
        }
        (values, integrator.live.renewals)
    };
    let ((large, renewals), (own, _)) = (drive(1.0), drive(0.01));
    let apart = large.iter().zip(&own).map(|(one, other)| (one - other).abs()).fold(0.0, f64::max);
    assert!(renewals > 3 && apart < 3e-4, "{apart:e} apart, {renewals} renewals");
}
