//! Two integrators side by side: neither knows of the other, whatever they share.

use super::model::{Equations, Host};
use super::{Integrator, plan, run};
use crate::integrator::Fixed;
use crate::plan::{Method, Plan, Policy, Watch};
use std::mem::swap;
use std::sync::Arc;

/// A ball on a stiff and curved spring, x'' = -1000 (x + x³) - x' + cos t, from a height of its own; it loses speed where it
/// passes zero upwards, if it `bounces`.
#[derive(Clone, Copy)]
struct Spring {
    height: f64,
    bounces: bool,
}

impl Equations for Spring {
    fn start(&self) -> Vec<f64> {
        vec![self.height, 0.0]
    }
    fn derivatives(&self, t: f64, x: &[f64], _: f64, dx: &mut [f64]) {
        dx[0] = x[1];
        dx[1] = -1000.0 * (x[0] + x[0].powi(3)) - x[1] + t.cos();
    }
    fn indicators(&self, _: f64, x: &[f64], z: &mut [f64]) {
        z.fill(x[0]);
    }
    fn event(&mut self, _: f64, x: &mut [f64], info: &mut crate::model::EventInfo) {
        if self.bounces && x[1] > 0.0 && x[0].abs() < 0.1 {
            x[1] *= 0.9;
            info.states_changed = true;
        }
    }
}

fn watched(method: Method, indicators: u32) -> Plan {
    let mut plan = plan(2, method, 0.01, Policy::Watched);
    plan.watch = Some(Watch { threshold: 1e-3, outside: 0.5, sums: true });
    plan.events.indicators = indicators;
    plan
}

fn begin(fixed: &Arc<Fixed>, equations: Spring) -> Integrator<Host<Spring>> {
    let mut it = Integrator::with(fixed.clone(), Host::new(equations));
    it.start(0.0).unwrap();
    it
}

/// All that a run tells: states, counts, calls.
fn told(it: &Integrator<Host<Spring>>) -> (Vec<u64>, [u64; 4]) {
    let live = &it.live;
    let bits = live.x.iter().chain([&live.time, &live.plan_defect]).map(|v| v.to_bits()).collect();
    (bits, [live.evaluations, live.events, live.renewals, live.outside_plan])
}

const METHODS: [Method; 3] = [Method::Lie, Method::Ros2, Method::Ros34pw2];
const STARTS: [f64; 2] = [1.0, -0.3];

/// One plan, two models: what each does is what it does alone, to the last bit, whoever steps when.
#[test]
fn two_models_follow_one_plan() {
    for method in METHODS {
        let fixed = Arc::new(Fixed::new(watched(method, 1)).unwrap());
        let begin = |height| begin(&fixed, Spring { height, bounces: true });
        let [mut one, mut other] = STARTS.map(begin);
        for k in 0..100 {
            run(&mut one, 1 + k % 3);
            run(&mut other, 3 - k % 3);
        }
        let steps = [one.live.steps as usize, other.live.steps as usize];
        for (it, (height, steps)) in [&one, &other].into_iter().zip(STARTS.into_iter().zip(steps)) {
            let mut again = begin(height);
            run(&mut again, steps);
            assert_eq!(told(it), told(&again), "{method:?}");
            assert_eq!(it.model.evaluations, again.model.evaluations);
            assert!(it.live.events > 2 && it.live.renewals > 0, "{method:?}: nothing happens");
        }
    }
}

/// Two plans, one model without memory: each integrator puts it back to its own point before it steps, and then both do what
/// they do alone. What an integrator knows of the model is its own: without `restore` it would trust what the other left.
#[test]
fn two_integrators_share_one_model() {
    let spring = Spring { height: 1.0, bounces: false };
    let fixed = [Method::Ros2, Method::Lie].map(|method| Arc::new(Fixed::new(watched(method, 0)).unwrap()));
    let alone = fixed.each_ref().map(|fixed| {
        let mut it = begin(fixed, spring);
        run(&mut it, 100);
        told(&it)
    });
    let [mut one, mut other] = fixed.each_ref().map(|fixed| begin(fixed, spring));
    let calls = other.model.evaluations;
    for _ in 0..100 {
        run(&mut one, 1);
        swap(&mut one.model, &mut other.model);
        other.restore();
        run(&mut other, 1);
        swap(&mut one.model, &mut other.model);
        one.restore();
    }
    assert_eq!(other.model.evaluations, calls, "its own model was never asked");
    assert_eq!([told(&one), told(&other)], alone);
    assert_ne!(one.live.x, other.live.x);
}
