//! The limiter: where steps of lower and higher order point opposite ways.

use super::model::Equations;
use super::{plan, run, start};
use crate::plan::{Method, Policy};
use proptest::prelude::*;

/// p' = k (q - sgn(p) √|p|), a chamber behind an orifice; q is shut off.
struct Orifice {
    k: f64,
    start: f64,
}

impl Equations for Orifice {
    fn start(&self) -> Vec<f64> {
        vec![self.start]
    }
    fn derivatives(&self, _: f64, p: &[f64], q: f64, dp: &mut [f64]) {
        dp[0] = self.k * (q - p[0].signum() * p[0].abs().sqrt());
    }
}

/// The chamber does not stand still while it is not empty. (A blend of both orders stood at p = 0.013 for ever: a step of -0.0070 of
/// lower order, of +0.0073 of higher order, p' = -114.)
#[test]
fn a_chamber_behind_an_orifice_does_not_stand_still() {
    for method in [Method::Lie2, Method::Ros2, Method::Ros2l, Method::Ros34pw2] {
        for start_at in (1..=200).map(|i| f64::from(i) * 5e-4) {
            let mut plan = plan(1, method, 1e-3, Policy::Every);
            plan.step.limit = 1e-2;
            let mut integrator = start(plan, Orifice { k: 1000.0, start: start_at });
            run(&mut integrator, 1000);
            let before = integrator.live.x[0];
            run(&mut integrator, 1);
            let p = integrator.live.x[0];
            let stands = (p - before).abs() < 1e-3 * p.abs();
            assert!(!stands || p.abs() < 1e-4, "{method:?} from {start_at}: {p}");
        }
    }
}

/// x' = Σ c_j g_j(a_j x + b_j y), and the same for y: roots, steep and smooth parts, both signs.
#[derive(Clone, Debug)]
struct Steep {
    terms: Vec<[f64; 5]>,
    start: Vec<f64>,
}

impl Equations for Steep {
    fn start(&self) -> Vec<f64> {
        self.start.clone()
    }
    fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
        let n = x.len();
        dx.fill(0.0);
        for (at, &[kind, steepness, of_x, of_y, shift]) in self.terms.iter().enumerate() {
            let y = x.get(1).copied().unwrap_or(0.0);
            let s = of_x * x[0] + of_y * y + shift;
            let g = match kind as u32 {
                0 => s.signum() * s.abs().sqrt(),
                1 => (10.0 * s).tanh(),
                2 => s * s * s,
                _ => s,
            };
            dx[at % n] -= steepness * g;
        }
    }
}

fn steep(n: usize) -> impl Strategy<Value = Steep> {
    let term = (0..4u32, 1.0..4.0f64, -1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64)
        .prop_map(|(kind, size, x, y, shift)| [f64::from(kind), 10f64.powf(size), x, y, shift]);
    (prop::collection::vec(term, n..=2 * n), prop::collection::vec(-1.0..1.0f64, n))
        .prop_map(|(terms, start)| Steep { terms, start })
}

/// In every state in which orders differ by more than the limit, a limited step goes the way that a linearly implicit Euler step goes, and by a fair part of
/// it or of the step of lower order: it vanishes only where f does.
fn never_vanishes(model: Steep, method: Method) -> Result<(), TestCaseError> {
    let (n, limit) = (model.start.len(), 1e-2);
    let mut plan = plan(n, method, 1e-3, Policy::Every);
    plan.step.limit = limit;
    let mut integrator = start(plan, model);
    let (tableau, mut damped) = (method.tableau(), 0);
    for _ in 0..5 {
        let before = integrator.live.x.clone();
        let division = integrator.divide(1e-3);
        if integrator.advance(1e-3, division).is_err() {
            return Ok(()); // singular, or lost: told
        }
        let (work, estimate) = (&integrator.work, integrator.live.estimate);
        if integrator.live.damped > damped {
            // The state that overshot most goes a tenth of its size, which is 1, at least.
            damped = integrator.live.damped;
            let goes = before.iter().zip(&integrator.live.x).any(|(before, x)| (x - before).abs() >= 0.0999);
            prop_assert!(goes, "{method:?} stands still: {before:?}");
            continue;
        }
        // The largest number stands for the first stage alone.
        if estimate <= limit || estimate == f64::MAX {
            continue;
        }
        for (state, x) in before.iter().enumerate() {
            let sum = |b: &[f64]| b.iter().zip(&work.k).map(|(b, k)| b * k[state]).sum::<f64>();
            let (euler, low, high) = (work.k[0][state], sum(&tableau.low_weights), sum(&tableau.weights));
            let (d, apart) = (integrator.live.x[state] - x, (high - low).abs().min((low - euler).abs()));
            // For ros2 and others the lower order is Euler's step itself.
            let apart = if low == euler { (high - low).abs() } else { apart };
            if apart <= limit {
                continue;
            }
            let least = 0.015 * euler.abs().min(low.abs().max(0.015 * euler.abs()));
            let share = 1.0 - (limit / estimate).powi(2);
            prop_assert!(
                d * euler > 0.0 && d.abs() >= share * least * 0.999,
                "{method:?}: state {state} moves by {d}, Euler's by {euler}, low {low}, high {high}"
            );
        }
    }
    Ok(())
}

fn limited() -> impl Strategy<Value = Method> {
    prop::sample::select(vec![Method::Lie2, Method::Ros2, Method::Ros2l, Method::Ros34pw2])
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    #[test]
    fn no_limited_step_of_one_state_vanishes(model in steep(1), method in limited()) {
        never_vanishes(model, method)?;
    }

    #[test]
    fn no_limited_step_of_two_states_vanishes(model in steep(2), method in limited()) {
        never_vanishes(model, method)?;
    }
}
