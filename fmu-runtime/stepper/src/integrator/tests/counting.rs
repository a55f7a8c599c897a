//! What a step says that it took is what the model saw.

use super::model::{Equations, Host, INPUT};
use super::{Integrator, plan, start};
use crate::integrator::Counts;
use crate::plan::{Fallback, Method, Plan, Policy, Watch};

/// x'' = -1000 (x + x³) - x' + u + cos t, which loses speed where it passes zero upwards.
struct Spring;

impl Equations for Spring {
    fn start(&self) -> Vec<f64> {
        vec![1.0, 0.0]
    }
    fn derivatives(&self, t: f64, x: &[f64], u: f64, dx: &mut [f64]) {
        dx[0] = x[1];
        dx[1] = -1000.0 * (x[0] + x[0].powi(3)) - x[1] + u + t.cos();
    }
    fn indicators(&self, _: f64, x: &[f64], z: &mut [f64]) {
        z.fill(x[0]);
    }
    fn event(&mut self, _: f64, x: &mut [f64], info: &mut crate::model::EventInfo) {
        if x[1] > 0.0 && x[0].abs() < 0.1 {
            x[1] *= 0.9;
            info.states_changed = true;
        }
    }
}

/// x' = u - x, without events.
struct Quiet;

impl Equations for Quiet {
    fn start(&self) -> Vec<f64> {
        vec![1.0]
    }
    fn derivatives(&self, _: f64, x: &[f64], u: f64, dx: &mut [f64]) {
        dx[0] = u - x[0];
    }
}

const POLICIES: [Policy; 4] =
    [Policy::Frozen, Policy::Every, Policy::Rolling { per_step: 1 }, Policy::Watched];

fn step<E: Equations>(it: &mut Integrator<Host<E>>) -> Counts {
    let length = it.plan().step.h;
    let division = it.divide(length);
    *it.advance(length, division).unwrap()
}

fn watched(mut plan: Plan) -> Plan {
    plan.watch = Some(Watch { threshold: 1e-3, outside: 0.5, sums: true });
    plan
}

/// Whatever a step goes through: events and their trials, renewals, the fallback, inputs with slopes.
#[test]
fn counts_are_what_the_model_saw() {
    for method in Method::ALL {
        for policy in POLICIES {
            let any = method.tableau().any_matrix;
            let mut own = plan(2, method, 0.01, if any { policy } else { Policy::Every });
            if any {
                own = watched(own);
                own.fallback = Some(Fallback {
                    jacobian: crate::plan::Jacobian { policy: Policy::Frozen, ..own.jacobian.clone() },
                    elimination: own.elimination.clone(),
                });
            }
            own.events.indicators = 1;
            own.model.outputs_need_evaluation = policy == Policy::Every;
            let mut it = start(own, Spring);
            let (mut events, mut fallbacks, mut trials) = (0, 0, 0);
            for k in 0..200 {
                let before = (it.model.evaluations, it.model.indicator_calls, it.model.events.len());
                if k % 3 == 0 {
                    it.set_slope(INPUT, f64::from(k % 7));
                }
                it.begin_slopes(|_| Some(1.0)).unwrap();
                let counts = step(&mut it);
                it.end_slopes(|_, _| ());
                let seen = (it.model.evaluations - before.0, it.model.indicator_calls - before.1);
                let told = (counts.evaluations() as usize, counts.indicators as usize);
                assert_eq!(told, seen, "{method:?}, {policy:?}: {counts:?}");
                assert_eq!(
                    counts.events as usize,
                    it.model.events.len() - before.2,
                    "{method:?}, {policy:?}"
                );
                assert!(counts.solutions[0] + counts.solutions[1] >= counts.attempts);
                events += counts.events;
                fallbacks += counts.factorisations[1];
                trials += counts.attempts - 1;
            }
            assert!(events > 3 && trials > 3, "{method:?}, {policy:?}: {events} events, {trials} trials");
            assert!(fallbacks > 0 || !any || policy == Policy::Watched, "{method:?}, {policy:?}");
        }
    }
}

/// A quiet step takes the evaluations and solutions that its tableau tells, and no factorisation.
#[test]
fn a_quiet_step_takes_what_the_tableau_says() {
    for method in Method::ALL.into_iter().filter(|method| method.tableau().any_matrix) {
        let tableau = method.tableau();
        let mut it = start(watched(plan(1, method, 1e-3, Policy::Frozen)), Quiet);
        for _ in 0..5 {
            step(&mut it);
        }
        let counts = step(&mut it);
        let spare = u64::from(tableau.has_spare_stage());
        let solutions = tableau.stages.len() as u64 - spare + u64::from(tableau.watch_solutions());
        assert_eq!(counts.stages, u64::from(tableau.evaluations(false)), "{method:?}: {counts:?}");
        assert_eq!((counts.solutions, counts.attempts), ([solutions, 0], 1), "{method:?}");
        assert_eq!((counts.factorisations, counts.balances, counts.colours), ([0; 2], [0; 2], [0; 2]));
    }
}
