//! Contact and friction, as Modelica writes them, against the same with steps a hundred times shorter: stick, slip and break-away, grazing, sliding, two contacts in one step.

use super::model::Equations;
use super::{plan, start};
use crate::integrator::Integrator;
use crate::integrator::tests::model::Host;
use crate::model::EventInfo;
use crate::plan::{Method, Policy};

/// States after each of `points` communication steps of 10 ms, with internal steps of `h`; and the events.
fn path<E: Equations>(
    equations: E,
    indicators: u32,
    method: Method,
    h: f64,
    points: usize,
) -> (Vec<Vec<f64>>, u64) {
    let mut plan = plan(2, method, h, Policy::Every);
    plan.events.indicators = indicators;
    plan.step.limit = 1e-2;
    let mut it: Integrator<Host<E>> = start(plan, equations);
    let points = (0..points).map(|_| {
        let division = it.divide(0.01);
        it.advance(0.01, division).unwrap();
        it.live.x.clone()
    });
    (points.collect(), it.live.events)
}

/// Largest distance of one component.
fn apart(a: &[Vec<f64>], b: &[Vec<f64>], component: usize) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a[component] - b[component]).abs()).fold(0.0, f64::max)
}

/// A block on a belt that does not move, pulled by a spring whose end goes to and fro: x' = v, v' = k (s - x) - friction. It sticks where it comes to rest and the pull is below the
/// static friction of 1.5, and breaks away beyond it.
#[derive(Clone, Debug)]
struct Block {
    /// -1, 0 (stuck), 1: direction of motion.
    mode: f64,
}

impl Block {
    fn pull(t: f64, x: f64) -> f64 {
        20.0 * (0.5 * (2.0 * t).sin() - x)
    }
}

impl Equations for Block {
    fn start(&self) -> Vec<f64> {
        vec![0.0, 0.0]
    }
    fn derivatives(&self, t: f64, x: &[f64], _: f64, dx: &mut [f64]) {
        dx[0] = x[1];
        dx[1] = if self.mode == 0.0 { 0.0 } else { Block::pull(t, x[0]) - self.mode };
    }
    fn indicators(&self, t: f64, x: &[f64], z: &mut [f64]) {
        let pull = Block::pull(t, x[0]);
        (z[0], z[1]) = if self.mode == 0.0 { (1.5 - pull, 1.5 + pull) } else { (self.mode * x[1], 1.0) };
    }
    fn event(&mut self, t: f64, x: &mut [f64], info: &mut EventInfo) {
        let pull = Block::pull(t, x[0]);
        if self.mode == 0.0 {
            self.mode = if pull.abs() >= 1.5 { pull.signum() } else { 0.0 };
        } else if self.mode * x[1] <= 0.0 {
            x[1] = 0.0;
            info.states_changed = true;
            self.mode = if pull.abs() > 1.5 { pull.signum() } else { 0.0 };
        }
    }
}

#[test]
fn friction_sticks_slips_and_breaks_away() {
    let (fine, events) = path(Block { mode: 0.0 }, 2, Method::Lie, 1e-5, 800);
    let span = fine.iter().map(|x| x[0].abs()).fold(0.0, f64::max);
    assert!(events > 8 && span > 0.2, "{events} events, span {span}");
    for (method, within) in [(Method::Lie, 0.02), (Method::Lie2, 0.004), (Method::Ros2, 0.004)] {
        let (coarse, found) = path(Block { mode: 0.0 }, 2, method, 1e-3, 800);
        let off = apart(&coarse, &fine, 0) / span;
        assert!(off < within, "{method:?}: {off}");
        assert!(found.abs_diff(events) <= 2, "{method:?}: {found} events for {events}");
    }
}

/// A ball that rises to a ceiling and just touches it, or just does not: h = 1 - (t - 1)² a. Whichever the method sees, its way goes on near the parabola of one of both.
struct Throw {
    ceiling: f64,
}

impl Equations for Throw {
    fn start(&self) -> Vec<f64> {
        vec![0.0, 9.81]
    }
    fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
        (dx[0], dx[1]) = (x[1], -9.81);
    }
    fn indicators(&self, _: f64, x: &[f64], z: &mut [f64]) {
        z[0] = self.ceiling - x[0];
    }
    fn event(&mut self, _: f64, x: &mut [f64], info: &mut EventInfo) {
        if x[0] >= self.ceiling && x[1] > 0.0 {
            x[1] *= -0.5;
            info.states_changed = true;
        }
    }
}

#[test]
fn a_grazing_contact_changes_little() {
    let top = 0.5 * 9.81;
    for k in -20..=20 {
        let ceiling = top + 1e-4 * f64::from(k);
        let (found, _) = path(Throw { ceiling }, 1, Method::Ros2, 1e-3, 200);
        for (i, x) in (1..).zip(&found) {
            let t = 0.01 * f64::from(i);
            // It arrives with v <= sqrt(2 g 2 mm) = 0.2 m/s and leaves with half of that downwards: 0.3 m/s less, for a second.
            let off = x[0] - (9.81 * t - 0.5 * 9.81 * t * t);
            assert!(off < 1e-3 && off > -0.31, "ceiling {ceiling}, t = {t}: {off}");
            assert!(x[0] <= ceiling.max(top) + 1e-3, "through the ceiling at {t}");
        }
    }
}

/// x' = -sign(x) + 0.3, y' = x: from one side the state arrives at the switch, from both it is driven back. It stays there, and y stands still.
struct Slide {
    sign: f64,
}

impl Equations for Slide {
    fn start(&self) -> Vec<f64> {
        vec![0.5, 0.0]
    }
    fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
        (dx[0], dx[1]) = (0.3 - self.sign, x[0]);
    }
    fn indicators(&self, _: f64, x: &[f64], z: &mut [f64]) {
        z[0] = x[0];
    }
    fn event(&mut self, _: f64, x: &mut [f64], _: &mut EventInfo) {
        self.sign = if x[0] > 0.0 { 1.0 } else { -1.0 };
    }
}

#[test]
fn a_sliding_mode_slides() {
    for method in [Method::Lie, Method::Lie2, Method::Ros2] {
        let (found, _) = path(Slide { sign: 1.0 }, 1, method, 1e-3, 300);
        // It arrives at t = 0.5 / 0.7.
        for (i, x) in (1..).zip(&found) {
            let expected = (0.5 - 0.7 * 0.01 * f64::from(i)).max(0.0);
            assert!((x[0] - expected).abs() <= 1.3e-3, "{method:?}, point {i}: {} for {expected}", x[0]);
        }
        let y = found.last().unwrap()[1];
        assert!((y - 0.25 / 1.4).abs() < 5e-3, "{method:?}: {y}");
    }
}

/// A ball between two plates 1 mm apart that is faster than 1 m/s: several impacts in one step of 10 ms, each with its own plate, in turn, and none is lost.
struct Rattle {
    hits: Vec<(u32, f64)>,
}

impl Equations for Rattle {
    fn start(&self) -> Vec<f64> {
        vec![0.5e-3, 0.5]
    }
    fn derivatives(&self, _: f64, x: &[f64], _: f64, dx: &mut [f64]) {
        (dx[0], dx[1]) = (x[1], 0.0);
    }
    fn indicators(&self, _: f64, x: &[f64], z: &mut [f64]) {
        (z[0], z[1]) = (x[0], 1e-3 - x[0]);
    }
    fn event(&mut self, t: f64, x: &mut [f64], info: &mut EventInfo) {
        let side = if x[0] <= 0.0 && x[1] < 0.0 {
            0
        } else if x[0] >= 1e-3 && x[1] > 0.0 {
            1
        } else {
            return;
        };
        self.hits.push((side, t));
        (x[0], x[1]) = (f64::from(side) * 1e-3, -x[1]);
        // Back on the inner side, as a model does it.
        x[0] += if side == 0 { 1e-12 } else { -1e-12 };
        info.states_changed = true;
    }
}

#[test]
fn many_impacts_in_one_step_are_all_taken() {
    let mut plan = plan(2, Method::Lie, 0.01, Policy::Frozen);
    (plan.events.indicators, plan.events.max_per_step, plan.events.bisections) = (2, 16, 14);
    let mut it = start(plan, Rattle { hits: vec![] });
    for _ in 0..5 {
        let division = it.divide(0.01);
        it.advance(0.01, division).unwrap();
    }
    // 0.5 m/s: the first after 1 ms, then every 2 ms.
    let hits = &it.model.equations.hits;
    assert_eq!((hits.len(), it.live.carried_events), (25, 0), "{hits:?}");
    for (k, (side, t)) in (0u32..).zip(hits) {
        assert_eq!(*side, 1 - k % 2);
        let expected = 1e-3 + 2e-3 * f64::from(k);
        assert!((t - expected).abs() < 1e-6 * f64::from(k + 1), "hit {k} at {t}");
    }
}
