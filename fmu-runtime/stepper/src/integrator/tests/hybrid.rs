//! Random hybrid models, any step lengths, saves and restores: against the same integrator with a step 100 times shorter.

use super::model::Equations;
use super::{plan, start};
use crate::integrator::Integrator;
use crate::integrator::tests::model::Host;
use crate::model::{EventInfo, Model};
use crate::plan::{Method, Policy, Watch};
use proptest::prelude::*;

/// Two damped, coupled states driven by a relay with hysteresis on one of them, and by a clock that pushes the other: state events, time events and jumps.
#[derive(Clone, Debug)]
struct Relay {
    rates: [f64; 2],
    coupling: f64,
    band: f64,
    period: f64,
    kick: f64,
    high: bool,
    next: f64,
}

impl Equations for Relay {
    fn start(&self) -> Vec<f64> {
        vec![0.0, 0.5]
    }
    fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
        let drive = if self.high { 1.0 } else { -1.0 };
        dx[0] = self.rates[0] * (drive - x[0]) + self.coupling * x[1];
        dx[1] = -self.rates[1] * x[1] - self.coupling * x[0];
    }
    fn indicators(&self, _: f64, x: &[f64], z: &mut [f64]) {
        // Hysteresis: each side has its own threshold, which is on the way only in its own mode.
        z[0] = if self.high { self.band - x[0] } else { x[0] + self.band };
    }
    fn event(&mut self, t: f64, x: &mut [f64], info: &mut EventInfo) {
        if self.high && x[0] >= self.band {
            self.high = false;
        } else if !self.high && x[0] <= -self.band {
            self.high = true;
        }
        if t >= self.next {
            self.next += self.period;
            x[1] += self.kick;
            info.states_changed = true;
        }
        info.next_event_time = Some(self.next);
    }
}

fn relay() -> impl Strategy<Value = Relay> {
    (1.0..5.0f64, 1.0..400.0f64, -0.3..0.3f64, 0.2..0.5f64, 0.083..0.3f64, -0.5..0.5f64).prop_map(
        |(slow, fast, coupling, band, period, kick)| Relay {
            rates: [slow, fast],
            coupling,
            band,
            period,
            kick,
            high: true,
            next: period,
        },
    )
}

fn make(relay: &Relay, method: Method, policy: Policy, h: f64) -> Integrator<Host<Relay>> {
    let mut plan = plan(2, method, h, policy);
    plan.events.indicators = 1;
    plan.step.limit = 1e-2;
    plan.model.time_invariant = true;
    plan.watch = Some(Watch { threshold: 1e-2, outside: 1e-2, sums: true });
    start(plan, relay.clone())
}

fn go<M: Model>(integrator: &mut Integrator<M>, length: f64) {
    let division = integrator.divide(length);
    integrator.advance(length, division).unwrap();
}

fn method() -> impl Strategy<Value = Method> {
    prop::sample::select(vec![Method::Lie, Method::Lie2, Method::Ros2, Method::Ros2l, Method::Ros34pw2])
}

fn policy() -> impl Strategy<Value = Policy> {
    prop::sample::select(vec![
        Policy::Every,
        Policy::Frozen,
        Policy::Watched,
        Policy::Rolling { per_step: 1 },
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Steps of any length, sums of which are the same time: the result is that of short steps to within a few steps' worth of movement, and so is the number of
    /// events.
    #[test]
    fn any_step_lengths_follow_the_model(
        relay in relay(),
        method in method(),
        policy in policy(),
        cuts in prop::collection::vec(0.3..7.3f64, 1..60),
    ) {
        let h = 2e-3;
        let mut coarse = make(&relay, method, policy, h);
        let mut fine = make(&relay, Method::Lie, Policy::Every, h / 100.0);
        for cut in &cuts {
            go(&mut coarse, cut * h);
        }
        go(&mut fine, coarse.live.time);
        prop_assert!((coarse.live.time - fine.live.time).abs() < 1e-12);
        let off = (coarse.live.x[0] - fine.live.x[0]).abs();
        // A switch or a kick that the other run has just not seen yet is a matter of one step.
        let slack = 6.0 * h * relay.rates[0] * 2.0;
        prop_assert!(off <= slack, "x is {:?} for {:?}", coarse.live.x, fine.live.x);
        let events = coarse.live.events.abs_diff(fine.live.events);
        prop_assert!(events <= 2, "{} events for {}", coarse.live.events, fine.live.events);
        prop_assert_eq!(coarse.live.carried_events, 0);
    }

    /// A run that is saved, led astray and restored goes on bit for bit as one that was never disturbed.
    #[test]
    fn a_restored_run_is_the_same_run(
        relay in relay(),
        method in method(),
        policy in policy(),
        before in 1usize..40,
        astray in 1usize..20,
        after in 1usize..40,
    ) {
        let h = 2e-3;
        let mut plain = make(&relay, method, policy, h);
        let mut other = make(&relay, method, policy, h);
        for _ in 0..before {
            go(&mut plain, h);
            go(&mut other, h);
        }
        let (live, x, t) = (other.live.clone(), other.model.x.clone(), other.model.t);
        let equations = other.model.equations.clone();
        for _ in 0..astray {
            go(&mut other, 1.7 * h);
        }
        (other.live, other.model.x, other.model.t, other.model.equations) = (live, x, t, equations);
        other.follow_live().unwrap();
        for _ in 0..after {
            go(&mut plain, h);
            go(&mut other, h);
        }
        prop_assert_eq!(&plain.live.x, &other.live.x);
        prop_assert_eq!(plain.live.time.to_bits(), other.live.time.to_bits());
        prop_assert_eq!((plain.live.events, plain.live.renewals), (other.live.events, other.live.renewals));
    }
}
