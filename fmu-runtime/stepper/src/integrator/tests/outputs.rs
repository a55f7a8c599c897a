//! Derivatives of outputs, and models that answer with the values of their last evaluation.

use super::model::{Equations, INPUT};
use super::{plan, run, start};
use crate::integrator::Integrator;
use crate::integrator::tests::model::Host;
use crate::model::Model;
use crate::plan::{Method, Policy};

/// x' = -k (x - u), and y = 2 u + 3 t + x.
struct Lag(f64);

impl Equations for Lag {
    fn start(&self) -> Vec<f64> {
        vec![1.0]
    }
    fn derivatives(&self, _: f64, x: &[f64], u: f64, dx: &mut [f64]) {
        dx[0] = -self.0 * (x[0] - u);
    }
    fn output(&self, reference: u32, t: f64, x: &[f64], u: f64) -> f64 {
        if reference == 0 { x[0] } else { 2.0 * u + 3.0 * t + x[0] }
    }
}

fn lag(k: f64, stale: bool, method: Method) -> Integrator<Host<Lag>> {
    let mut plan = plan(1, method, 0.01, Policy::Frozen);
    plan.model.outputs_need_evaluation = stale;
    let mut integrator = start(plan, Lag(k));
    integrator.model.stale = stale;
    integrator
}

/// A communication step in which the input has a slope, as an instance takes it.
fn ramp(integrator: &mut Integrator<Host<Lag>>, slope: f64) {
    let (time, u) = (integrator.live.time, integrator.model.u);
    let extrapolation = &mut integrator.live.extrapolation;
    extrapolation.set(INPUT, slope);
    (extrapolation.origin, extrapolation.values[0]) = (time, u);
    run(integrator, 1);
    integrator.live.extrapolation.clear();
}

/// dy/dt = 2 u' + 3 + x', where x' is the last step's increment over its length: on a stiff model that is the slope of the input, not f, which has the error of x times k.
/// It is the same for a model whose variables wait for an evaluation, and asking disturbs nothing.
#[test]
fn an_output_s_derivative_follows_state_time_and_input() {
    for stale in [false, true] {
        for (k, slope) in [(1.0, 0.0), (1.0, 5.0), (1e6, 5.0)] {
            let mut integrator = lag(k, stale, Method::Lie);
            for _ in 0..50 {
                ramp(&mut integrator, slope);
            }
            let x = integrator.live.x[0];
            let rate = integrator.live.d[0] / 0.01;
            let mut found = [0.0; 2];
            integrator.slopes(&[0, 1], &mut found).unwrap();
            let expected = [rate, 2.0 * slope + 3.0 + rate];
            for (found, expected) in found.iter().zip(expected) {
                assert!((found - expected).abs() < 1e-6, "k {k}, stale {stale}: {found} for {expected}");
            }
            assert!(k == 1.0 || (rate - slope).abs() < 1e-6, "{rate}");
            let mut y = [0.0; 2];
            let _ = integrator.model.get_real(&[0, 1], &mut y);
            let u = integrator.model.u;
            assert!((u - slope * 0.5).abs() < 1e-12, "the input is {u}");
            assert_eq!(y, [x, 2.0 * u + 3.0 * integrator.live.time + x]);
            // An input that jumps now has not moved the state yet: f, which is k times the jump, is no derivative of the past.
            integrator.model.u += 0.1;
            integrator.live.inputs_changed = true;
            integrator.slopes(&[0, 1], &mut found).unwrap();
            assert!((found[0] - rate).abs() < 1e-6, "k {k}, stale {stale}: {} for {rate}", found[0]);
        }
    }
}

/// A slope holds for its step: after a step without one, the input stands still.
#[test]
fn a_slope_does_not_outlive_its_step() {
    let mut integrator = lag(1.0, false, Method::Lie);
    ramp(&mut integrator, 5.0);
    integrator.live.extrapolation.clear();
    run(&mut integrator, 1);
    let mut found = [0.0];
    integrator.slopes(&[1], &mut found).unwrap();
    let expected = 3.0 + integrator.live.d[0] / 0.01;
    assert!((found[0] - expected).abs() < 1e-6, "{} for {expected}", found[0]);
}

/// Inputs with slopes keep the order: on x' = -(x - a t), x = a (t - 1) + (1 + a) exp(-t).
#[test]
fn slopes_of_inputs_keep_the_order() {
    for method in Method::ALL.into_iter().filter(|method| method.tableau().any_matrix) {
        let error = |steps: u32| {
            let mut plan = plan(1, method, 1.0 / f64::from(steps), Policy::Frozen);
            plan.model.time_invariant = true;
            let mut integrator = start(plan, Lag(1.0));
            for _ in 0..steps {
                ramp(&mut integrator, 5.0);
            }
            (integrator.live.x[0] - 6.0 * (-1f64).exp()).abs()
        };
        let (order, expected) = ((error(20) / error(40)).log2(), f64::from(method.tableau().order));
        assert!((order - expected).abs() < 0.2, "{method:?}: {order}");
    }
}

/// After a fault the variables are those of the last good state, also where they wait for an evaluation.
#[test]
fn after_a_fault_outputs_are_those_of_the_last_good_state() {
    let mut integrator = lag(1.0, true, Method::Lie);
    run(&mut integrator, 3);
    let x = integrator.live.x[0];
    integrator.model.u = f64::NAN;
    integrator.live.inputs_changed = true;
    let division = integrator.divide(0.01);
    integrator.advance(0.01, division).unwrap_err();
    integrator.model.u = 0.0;
    integrator.restore();
    let mut value = [0.0];
    let _ = integrator.model.get_real(&[0], &mut value);
    assert_eq!((value[0], integrator.model.evaluated_at()), (x, integrator.live.time));
}
