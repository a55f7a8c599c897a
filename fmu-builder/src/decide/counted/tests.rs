//! Hand-counted steps, and random models that try to exceed the bound.

#![allow(clippy::unwrap_used)]

use super::shadow::INPUT;
use super::*;
use fmu_runtime::model::{EventInfo, Model, StepInfo};
use fmu_runtime::plan::{
    Accuracy, Block, Colour, Elimination, ErrorSource, Events, Fallback, Jacobian, JacobianSource, Method,
    Role, States, Table, VERSION, Variables,
};
use stepper::status::Status;

/// A plan for three states: all coupled, or in the order of solution x0, then x1, then x2.
fn plan(method: Method, policy: Policy) -> Plan {
    let places = || (0..3u32).flat_map(|i| (0..3u32).map(move |j| (i, j)));
    let colours: Vec<Colour> = (0..3u32)
        .map(|j| Colour { columns: vec![j], entries: (0..3).map(|i| i * 3 + j).collect(), known: vec![] })
        .collect();
    Plan {
        version: VERSION,
        model: fmu_runtime::plan::Model {
            name: "test".into(),
            identifier: "test".into(),
            inner_guid: String::new(),
            guid: String::new(),
            log_categories: Vec::new(),
            can_get_and_set_state: false,
            can_serialize_state: false,
            provides_directional_derivative: false,
            instantiate_only_once: false,
            completed_step_needed: true,
            time_invariant: false,
            outputs_need_evaluation: false,
            writes_beyond: false,
        },
        step: Step { method, h: 0.01, substeps: 1, limit: 1e-2 },
        states: States {
            names: (0..3).map(|i| format!("x{i}")).collect(),
            references: vec![10, 11, 12],
            derivative_references: vec![20, 21, 22],
            nominals: vec![1.0; 3],
            sizes: vec![1.0; 3],
        },
        variables: Variables {
            real: Table { references: vec![INPUT], roles: char::from(Role::ContinuousInput as u8).into() },
            ..Variables::default()
        },
        jacobian: Jacobian {
            rows: places().map(|(i, _)| i).collect(),
            cols: places().map(|(_, j)| j).collect(),
            policy,
            source: JacobianSource::Differences,
            setup: colours.clone(),
            colours,
        },
        elimination: Elimination {
            order: vec![0, 1, 2],
            explicit: 0,
            blocks: vec![Block { size: 3, tears: 3 }],
            row_start: vec![0, 3, 6, 9],
            cols: places().map(|(_, j)| j).collect(),
            entries: (0..9).collect(),
            slots: (0..9).collect(),
            outer_start: vec![0; 4],
            outer: vec![],
        },
        watch: None,
        fallback: None,
        events: Events {
            indicators: 0,
            bisections: 3,
            max_per_step: 2,
            max_iterations: 20,
            may_be_nan: false,
        },
        accuracy: None,
        diagnostics: vec![],
        inner: None,
        shell: None,
    }
}

fn twinned(plan: Plan) -> Plan {
    let accuracy = Accuracy {
        source: ErrorSource::Twin,
        tolerance: 0.01,
        claimed: 0.001,
        share: 1.0,
        bound: 1.0,
        outputs: vec![],
        names: plan.states.names.clone(),
        lows: vec![0.0; 3],
        highs: vec![1.0; 3],
        sizes: vec![1.0; 3],
        ranges: vec![1.0; 3],
        integers: vec![],
        booleans: vec![],
        strings: vec![],
    };
    let step = Step { substeps: 2, ..plan.step.clone() };
    Plan { accuracy: Some(accuracy), step, ..plan }
}

/// Linearly implicit Euler: one evaluation where the time is that of the step's end, one more for the watch there; three
/// colours where the Jacobian is fresh; done again, all of that once more.
#[test]
fn euler_is_counted_by_hand() {
    let quiet = |plan: &Plan| Counter::new(plan, 1.0).quiet(true).evaluations;
    let frozen = plan(Method::Lie, Policy::Frozen);
    assert_eq!(quiet(&frozen), 1.0);
    assert_eq!(quiet(&plan(Method::Lie, Policy::Every)), 4.0);
    assert_eq!(quiet(&plan(Method::Lie, Policy::Rolling { per_step: 2 })), 3.0);
    let watch = Some(Watch { threshold: 1e-3, outside: 1e-3, sums: true });
    let watched = Plan { watch, ..plan(Method::Lie, Policy::Watched) };
    assert_eq!(quiet(&watched), 2.0);
    let renewed = Counter::new(&watched, 1.0).renewed().unwrap();
    assert_eq!(renewed.evaluations, 2.0 + 3.0 + 2.0);
    assert_eq!(Counter::new(&watched, 1.0).worst_quiet().evaluations, 7.0);
    // A colour at half the price.
    assert_eq!(Counter::new(&watched, 0.5).worst_quiet().evaluations, 5.5);
    // A twin: two steps of ours, one of its own.
    assert_eq!(Counter::new(&twinned(watched), 1.0).quiet(true).evaluations, 6.0);
}

/// Two faults of the formula that was here before: inputs with slopes make a model depend on time that does not by itself,
/// so that the end of a step does not start the next; and a trial at an event asks for the watch's evaluation.
#[test]
fn slopes_and_trials_count() {
    let mut plan = plan(Method::Ros2, Policy::Frozen);
    plan.watch = Some(Watch { threshold: 1e-3, outside: 1e-3, sums: true });
    plan.model.time_invariant = true;
    let stages = f64::from(Method::Ros2.tableau().evaluations(true));
    let counter = Counter::new(&plan, 1.0);
    assert_eq!(counter.quiet(true).evaluations, stages);
    // With a slope: the watch's own, and a look at where a higher order overshoots.
    assert_eq!(counter.worst_quiet().evaluations, stages + 2.0);
    plan.model.time_invariant = false;
    plan.events.indicators = 1;
    let attempt = stages + 2.0;
    let (trials, pieces) = (f64::from(plan.events.bisections) + 1.0, 2.0);
    let one = Counter::new(&plan, 1.0).worst(Some(1));
    assert_eq!(one.evaluations, (pieces + trials) * attempt + 3.0 * 2.0, "with the Jacobian taken twice");
}

/// Answers at random, now and then with what is no number, and does at events what it likes.
struct Random {
    seed: u64,
    /// How often it does what it could also leave, in 256 parts.
    often: u64,
    time: f64,
    h: f64,
    x: Vec<f64>,
    calls: u64,
}

impl Random {
    fn draw(&mut self) -> u64 {
        self.seed = self.seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        self.seed >> 33
    }

    fn happens(&mut self) -> bool {
        self.draw() % 256 < self.often
    }

    /// Between -1 and 1, of any size.
    fn number(&mut self) -> f64 {
        let size = 10f64.powi(self.draw() as i32 % 8 - 4);
        (self.draw() % 2001) as f64 * 1e-3 * size - size
    }
}

impl Model for Random {
    fn set_time(&mut self, time: f64) -> Status {
        self.time = time;
        Status::Ok
    }
    fn set_inputs(&mut self, _: &[u32], _: &[f64]) -> Status {
        Status::Ok
    }
    fn get_real(&mut self, _: &[u32], values: &mut [f64]) -> Status {
        values.fill(0.0);
        Status::Ok
    }
    fn set_continuous_states(&mut self, x: &[f64]) -> Status {
        self.x.copy_from_slice(x);
        Status::Ok
    }
    fn get_continuous_states(&mut self, x: &mut [f64]) -> Status {
        x.copy_from_slice(&self.x);
        Status::Ok
    }
    fn get_derivatives(&mut self, derivatives: &mut [f64]) -> Status {
        self.calls += 1;
        for derivative in derivatives.iter_mut() {
            *derivative = self.number() / self.h;
        }
        if self.draw().is_multiple_of(512) {
            derivatives.fill(f64::NAN);
        }
        Status::Ok
    }
    fn get_event_indicators(&mut self, indicators: &mut [f64]) -> Status {
        for indicator in indicators.iter_mut() {
            *indicator = if self.happens() { self.number() } else { 1.0 };
        }
        Status::Ok
    }
    fn get_nominals(&mut self, nominals: &mut [f64]) -> Status {
        nominals.fill(1.0);
        Status::Ok
    }
    fn directional_derivative(&mut self, _: &[u32], _: &[u32], _: &[f64], result: &mut [f64]) -> Status {
        self.calls += 1;
        for result in result.iter_mut() {
            *result = self.number() * 1e-3;
        }
        Status::Ok
    }
    fn enter_event_mode(&mut self) -> Status {
        Status::Ok
    }
    fn new_discrete_states(&mut self) -> (Status, EventInfo) {
        let soon = self.time + (self.draw() % 1001) as f64 * 1e-3 * self.h;
        let info = EventInfo {
            states_changed: self.happens(),
            next_event_time: self.happens().then_some(soon),
            ..EventInfo::default()
        };
        (Status::Ok, info)
    }
    fn enter_continuous_time_mode(&mut self) -> Status {
        Status::Ok
    }
    fn completed_integrator_step(&mut self) -> (Status, StepInfo) {
        let asks = self.draw() % 1024 < self.often;
        (Status::Ok, StepInfo { enter_event_mode: asks, terminate: false })
    }
}

/// What random models and hosts bring a step of this plan to, in calls and in readings of indicators.
fn at_random(plan: &Plan, seeds: std::ops::Range<u64>) -> (u64, u64) {
    let (mut most, mut readings) = (0, 0);
    let whole = plan.step.h * f64::from(plan.step.substeps);
    for seed in seeds {
        let often = [1, 8, 64, 128, 250][seed as usize % 5];
        let model =
            Random { seed: 77 * seed + 1, often, time: 0.0, h: plan.step.h, x: vec![0.0; 3], calls: 0 };
        let mut it = Integrator::new(plan.clone(), model).unwrap();
        if it.start(0.0).is_err() {
            continue;
        }
        for _ in 0..6 {
            let length = if it.model.happens() { 0.83 * whole } else { whole };
            let [continuous, sets] = [(); 2].map(|()| it.model.happens());
            it.change(Changes { continuous, event: sets, tunable: sets }, |_| ()).unwrap();
            if it.model.happens() {
                it.set_slope(INPUT, 1.0);
            }
            it.begin_slopes(|_| Some(0.0)).unwrap();
            let division = if plan.has_twin() { it.divide_in_pairs(length).0 } else { it.divide(length) };
            let before = it.model.calls;
            let taken = it.advance(length, division).map(|counts| counts.indicators);
            it.end_slopes(|_, _| {});
            most = most.max(it.model.calls - before);
            let Ok(taken) = taken else { break };
            readings = readings.max(taken);
        }
    }
    (most, readings)
}

/// Every method, policy and fallback, with and without the watch, indicators, a model that time changes by itself, outputs
/// that wait for an evaluation, several steps inside, a twin.
#[test]
fn no_random_model_exceeds_the_bound() {
    let mut tightest: f64 = 0.0;
    for method in Method::ALL {
        for policy in [Policy::Frozen, Policy::Every, Policy::Rolling { per_step: 2 }, Policy::Watched] {
            let any = method.tableau().any_matrix;
            if !any && policy != Policy::Every {
                continue;
            }
            for case in 0..64u32 {
                let bit = |at: u32| case >> at & 1 == 1;
                if policy == Policy::Watched && !bit(0) {
                    continue;
                }
                let mut one = plan(method, policy);
                one.jacobian.source = JacobianSource::Directional;
                one.watch = (bit(0) && any).then_some(Watch { threshold: 1e-3, outside: 1.0, sums: bit(1) });
                one.events.indicators = u32::from(bit(2));
                one.model.time_invariant = bit(3);
                one.model.outputs_need_evaluation = bit(4);
                if bit(1) && one.watch.is_some() {
                    let jacobian = Jacobian { policy: Policy::Frozen, ..one.jacobian.clone() };
                    one.fallback = Some(Fallback { jacobian, elimination: one.elimination.clone() });
                }
                if bit(5) {
                    one = twinned(one);
                }
                let counter = Counter { twin: None, ..Counter::new(&one, 1.0) };
                let bound = counter.worst(None);
                let (most, readings) = at_random(&one, 0..6);
                assert!(most <= bound.calls, "{method:?} {policy:?} {case}: {most} of {}", bound.calls);
                assert!(
                    readings <= bound.indicators,
                    "{method:?} {policy:?} {case}: {readings} of {}",
                    bound.indicators
                );
                tightest = tightest.max(most as f64 / bound.calls as f64);
            }
        }
    }
    // The bound is no guess: random models come near to it.
    assert!(tightest > 0.9, "{tightest}");
}
