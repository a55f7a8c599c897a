//! Damping: steps that overshoot a bend of f are shortened, and nothing else is.

use super::model::Equations;
use super::{plan, run, start};
use crate::integrator::Changes;
use crate::plan::{Block, Colour, Elimination, Method, Plan, Policy, Watch};

/// Without ros2l: with γ = 1.7 its first stage goes 0.59 of Newton's way and hardly overshoots.
const METHODS: [Method; 4] = [Method::Lie, Method::Lie2, Method::Ros2, Method::Ros34pw2];

/// The limiter and the watch as the builder sets them.
fn limited(mut plan: Plan) -> Plan {
    plan.step.limit = 1e-2;
    plan.watch = Some(Watch { threshold: 3e-3, outside: 3e-3, sums: true });
    plan.model.time_invariant = true;
    plan
}

fn root(x: f64) -> f64 {
    x.signum() * x.abs().sqrt()
}

/// p' = k (u - sgn(p) √|p|): a chamber behind an orifice.
struct Orifice {
    k: f64,
    start: f64,
}

impl Equations for Orifice {
    fn start(&self) -> Vec<f64> {
        vec![self.start]
    }
    fn derivatives(&self, _: f64, p: &[f64], u: f64, dp: &mut [f64]) {
        dp[0] = self.k * (u - root(p[0]));
    }
}

/// With the inflow shut off, a stiff Newton step leads from p to -p: ρ = 1, λ = 0.618, and the damped one leads to -0.236 p. (Without damping |p| falls by a part of
/// about 4 √p / (h k) in a step: here by less than a percent.)
#[test]
fn an_orifice_does_not_ring() {
    for method in METHODS {
        for policy in [Policy::Every, Policy::Watched] {
            for p in [1.0, -0.7, 0.3] {
                let mut integrator =
                    start(limited(plan(1, method, 1e-3, policy)), Orifice { k: 1e6, start: p });
                run(&mut integrator, 1);
                let after = integrator.live.x[0];
                assert!(after.abs() < 0.25 * p.abs(), "{method:?}, {policy:?}: from {p} to {after}");
                assert_eq!(integrator.live.damped, 1, "{method:?}, {policy:?}, {p}");
            }
        }
    }
}

/// It falls to the pressure of a small inflow, p = u²: undamped steps alternate between ±p, 2 % less after each two, and are ten times its rest away after fifty. Damped ones are near it
/// after six, and stay.
#[test]
fn an_orifice_comes_to_its_rest() {
    for method in METHODS {
        let mut integrator =
            start(limited(plan(1, method, 1e-3, Policy::Watched)), Orifice { k: 1e6, start: 1.0 });
        let inflow = Changes { continuous: true, ..Changes::default() };
        integrator.change(inflow, |model| model.u = 0.1).unwrap();
        let rest = 0.01;
        for step in 1..=20 {
            run(&mut integrator, 1);
            let far = (integrator.live.x[0] - rest).abs();
            assert!(step < 6 || far < 4.5 * rest, "{method:?}, step {step}: {far} away");
        }
    }
}

/// Two chambers joined by an orifice, beside an oscillator in a block of its own.
struct Chambers;

impl Equations for Chambers {
    fn start(&self) -> Vec<f64> {
        vec![1.0, 0.2, 1.0, 0.0]
    }
    fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
        let flow = 1e6 * root(x[0] - x[1]);
        (dx[0], dx[1]) = (-flow, flow);
        (dx[2], dx[3]) = (30.0 * x[3], -30.0 * x[2]);
    }
}

/// Entries within pairs of states, each pair a block.
fn in_pairs(method: Method, pairs: u32) -> Plan {
    let n = 2 * pairs;
    let mut plan = plan(n as usize, method, 1e-3, Policy::Watched);
    let places: Vec<(u32, u32)> = (0..n).flat_map(|i| [(i, i / 2 * 2), (i, i / 2 * 2 + 1)]).collect();
    let of = |j: u32| (0..places.len() as u32).filter(|&e| places[e as usize].1 == j).collect();
    let colours: Vec<Colour> =
        (0..n).map(|j| Colour { columns: vec![j], entries: of(j), known: vec![] }).collect();
    plan.jacobian.rows = places.iter().map(|place| place.0).collect();
    plan.jacobian.cols = places.iter().map(|place| place.1).collect();
    (plan.jacobian.setup, plan.jacobian.colours) = (colours.clone(), colours);
    plan.elimination = Elimination {
        order: (0..n).collect(),
        explicit: 0,
        blocks: vec![Block { size: 2, tears: 2 }; pairs as usize],
        row_start: (0..=n).map(|i| 2 * i).collect(),
        cols: places.iter().map(|place| place.1).collect(),
        entries: (0..2 * n).collect(),
        slots: (0..2 * n).collect(),
        outer_start: vec![0; n as usize + 1],
        outer: vec![],
    };
    limited(plan)
}

/// What a block conserves is conserved, and its neighbour is not touched: with the chambers level, nothing overshoots and the oscillator is the same to the last bit, where orders are
/// not mixed (the limiter's share is one for all states).
#[test]
fn damping_conserves_and_stays_in_its_block() {
    struct Level;
    impl Equations for Level {
        fn start(&self) -> Vec<f64> {
            vec![0.6, 0.6, 1.0, 0.0]
        }
        fn derivatives(&self, t: f64, x: &[f64], u: f64, dx: &mut [f64]) {
            Chambers.derivatives(t, &[0.6, 0.6, x[2], x[3]], u, dx);
        }
    }
    for method in METHODS {
        let mut integrator = start(in_pairs(method, 2), Chambers);
        run(&mut integrator, 2);
        let x = &integrator.live.x;
        assert!(integrator.live.damped > 0, "{method:?}");
        assert!((x[0] + x[1] - 1.2).abs() < 1e-12 && (x[0] - x[1]).abs() < 0.2, "{method:?}: {x:?}");
        if method == Method::Lie {
            let mut alone = start(in_pairs(method, 2), Level);
            run(&mut alone, 2);
            assert_eq!(alone.live.damped, 0);
            assert_eq!(alone.live.x[2..], x[2..], "{method:?}");
        }
    }
}

/// A smooth transient that stiff steps follow without overshooting is left alone, and costs no evaluation more.
#[test]
fn smooth_transients_are_not_damped() {
    struct Cubic;
    impl Equations for Cubic {
        fn start(&self) -> Vec<f64> {
            vec![1.0]
        }
        fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
            dx[0] = -2000.0 * (x[0] + x[0].powi(3));
        }
    }
    for method in METHODS {
        let mut integrator = start(limited(plan(1, method, 1e-3, Policy::Every)), Cubic);
        run(&mut integrator, 20);
        assert_eq!(integrator.live.damped, 0, "{method:?}");
    }
}

/// A reaction of second order that starts without its product, x' = a - b x²: at x = 0 there is no slope, and an undamped step ends at h a, a thousand times too far. What is left of
/// the equation is a parabola, whose root is x = √(a / b).
#[test]
fn a_reaction_of_second_order_does_not_overshoot() {
    struct Reaction;
    impl Equations for Reaction {
        fn start(&self) -> Vec<f64> {
            vec![0.0]
        }
        fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
            dx[0] = 0.04 - 3e7 * x[0] * x[0];
        }
    }
    let rest = (0.04 / 3e7f64).sqrt();
    for method in METHODS {
        let mut plan = limited(plan(1, method, 1.0, Policy::Watched));
        plan.states.sizes = vec![rest];
        let mut integrator = start(plan, Reaction);
        for step in 0..5 {
            run(&mut integrator, 1);
            let x = integrator.live.x[0];
            assert!((x / rest - 1.0).abs() < 0.01, "{method:?}, step {step}: {x} for {rest}");
        }
    }
}

/// x' = 1 - exp(100 (x - 1)): a step of length 2 from x = 0 ends where f is -e^100, and λ by that would be e^-50. The steps must come to x = 1 all the same.
#[test]
fn damped_steps_do_not_stand_still() {
    struct Diode;
    impl Equations for Diode {
        fn start(&self) -> Vec<f64> {
            vec![0.0]
        }
        fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
            dx[0] = 1.0 - (100.0 * (x[0] - 1.0)).exp();
        }
    }
    for method in METHODS {
        let mut integrator = start(limited(plan(1, method, 2.0, Policy::Watched)), Diode);
        run(&mut integrator, 100);
        let x = integrator.live.x[0];
        assert!((x - 1.0).abs() < 0.01, "{method:?}: {x}");
    }
}
