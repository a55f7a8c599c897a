//! Events: at the right time, of the right effect, at a bounded price.

use crate::driver::OK;
use crate::util::{build, order};

/// When the analytic ball hits the ground for the n-th time (from 1), and the speed before it.
fn impact(n: i32, e: f64) -> f64 {
    let fall = (2.0f64 / 9.81).sqrt();
    fall * (1.0 + 2.0 * (1..n).map(|k| e.powi(k)).sum::<f64>())
}

/// Times at which `bounces` grew, to within one step.
fn impacts(h: f64) -> Vec<f64> {
    let exported = build("bouncing-ball", &format!("--step {h}"));
    let mut fmu = exported.start(0.0, &[]);
    let mut times = Vec::new();
    for k in 0..(3.0 / h).round() as usize {
        fmu.step(k as f64 * h, h);
        while times.len() < fmu.integer("bounces") as usize {
            times.push((k + 1) as f64 * h);
        }
    }
    assert_eq!(fmu.boolean("resting"), 1);
    assert_eq!(fmu.reals(&["h", "v"]), [0.0, 0.0]);
    assert_eq!(fmu.integer("fmuBuild.events"), times.len() as i32);
    times
}

/// Eleven impacts, each where it should be. In flight a first-order step loses or gains g h t / 2 of height, so the
/// first impact is off by h/2 and each later flight by h (1 + 2 e / (1 - e)) = 5.7 h at most, as the
/// speeds' errors add up; reading at communication points adds one h.
#[test]
fn the_ball_bounces_when_it_should() {
    for h in [1e-3, 1e-4] {
        let times = impacts(h);
        assert_eq!(times.len(), 11, "{times:?}");
        for (n, time) in (1..).zip(&times) {
            let error = (time - impact(n, 0.7)).abs();
            assert!(
                error <= (1.5 + 5.7 * (n - 1) as f64) * h,
                "impact {n} at {time}, off by {:.2} h",
                error / h
            );
        }
    }
}

/// Height at t = 1.7, after three impacts: first order through events too.
#[test]
fn first_order_through_events() {
    let exact = {
        let e = 0.7f64;
        let since = 1.7 - impact(3, e);
        let speed = (2.0f64 * 9.81).sqrt() * e.powi(3);
        speed * since - 9.81 / 2.0 * since * since
    };
    assert!(impact(3, 0.7) < 1.6 && impact(4, 0.7) > 1.8);
    let h = [1e-3, 5e-4, 2.5e-4, 1.25e-4];
    let errors: Vec<f64> = h
        .iter()
        .map(|&h| {
            let exported = build("bouncing-ball", &format!("--method lie --step {h}"));
            let mut fmu = exported.start(0.0, &[]);
            fmu.steps(0.0, h, (1.7 / h).round() as usize);
            (fmu.real("h") - exact).abs()
        })
        .collect();
    let slope = order(&h, &errors);
    assert!((slope - 1.0).abs() <= 0.1, "order {slope:.3}, errors {errors:?}");
}

/// The sampled controller, solved exactly between its samples.
fn controlled(until: f64) -> (f64, i32) {
    let (ts, tau, kp, ki, setpoint) = (0.01, 1e-3, 2.0, 3.0, 1.0);
    let (mut x1, mut x2, mut i, mut samples) = (0.0f64, 0.0f64, 0.0f64, 0);
    loop {
        let t = samples as f64 * ts;
        if t > until + 1e-9 {
            return (x1, samples);
        }
        let e = setpoint - x1;
        i += ki * ts * e;
        let u = kp * e + i;
        samples += 1;
        let s = ts.min(until - t);
        let c = (x2 - u) * tau / (tau - 1.0);
        x1 = u + (x1 - u - c) * (-s).exp() + c * (-s / tau).exp();
        x2 = u + (x2 - u) * (-s / tau).exp();
    }
}

/// Samples are taken on time, whether they fall on communication points (1 ms, 2 ms) or inside a step (3 ms), and the
/// closed loop converges with first order.
#[test]
fn time_events_cut_the_step() {
    let (exact, samples) = controlled(0.6);
    let h = [2e-3, 1e-3, 5e-4, 2.5e-4];
    let errors: Vec<f64> = h
        .iter()
        .map(|&h| {
            let exported = build("sampled-controller", &format!("--step {h} --method lie --mode implicit"));
            let mut fmu = exported.start(0.0, &[]);
            fmu.steps(0.0, h, (0.6 / h).round() as usize);
            assert_eq!(fmu.integer("samples"), samples, "h = {h}");
            (fmu.real("x1") - exact).abs()
        })
        .collect();
    let slope = order(&h, &errors);
    assert!((slope - 1.0).abs() <= 0.1, "order {slope:.3}, errors {errors:?}");

    let exported = build("sampled-controller", "--step 3e-3 --method lie --mode implicit");
    let mut fmu = exported.start(0.0, &[]);
    fmu.steps(0.0, 3e-3, 200);
    assert_eq!(fmu.integer("samples"), samples);
    // Steps of 3, 3, 3, 1 ms and so on: no worse than steps of 3 ms, by the first-order fit above.
    let bound = 1.1 * errors[0] * 3e-3 / h[0];
    let error = (fmu.real("x1") - exact).abs();
    assert!(error <= bound, "3 ms: {error:e}, bound {bound:e}");
}

/// From another start time the samples move with it: the same trajectory, up to the rounding of times near 7.3.
#[test]
fn time_events_count_from_the_start_time() {
    let h = 1e-3;
    let exported = build("sampled-controller", &format!("--step {h} --method lie --mode implicit"));
    let (mut a, mut b) = (exported.start(0.0, &[]), exported.start(7.3, &[]));
    for k in 0..500 {
        a.step(k as f64 * h, h);
        b.step(7.3 + k as f64 * h, h);
        let (x, y) = (a.real("x1"), b.real("x1"));
        assert!((x - y).abs() <= 1e-9, "step {k}: {x} and {y}");
    }
    assert_eq!(a.integer("samples"), b.integer("samples"));
}

/// Stick-slip: first slip at 0.4 s, then a limit cycle of 0.80689 s, slip 0.40689 s of it.
#[test]
fn stick_slip_has_its_period() {
    let h = 1e-4;
    let exported = build("stick-slip", &format!("--step {h}"));
    let mut fmu = exported.start(0.0, &[]);
    let (mut mode, mut slips, mut sticks) = (fmu.integer("mode"), Vec::new(), Vec::new());
    for k in 0..50_000 {
        fmu.step(k as f64 * h, h);
        let now = fmu.integer("mode");
        if now != mode {
            if now == 0 {
                sticks.push((k + 1) as f64 * h)
            } else {
                slips.push((k + 1) as f64 * h)
            }
            mode = now;
        }
    }
    assert!(slips.len() >= 5 && sticks.len() >= 5, "{slips:?} {sticks:?}");
    // Reading at communication points: 2 h. The slip is a circle arc of 5.18 rad; first-order steps damp or excite it by
    // h ω²/2 a second, which moves the time at which it meets the belt's speed by no more than a few h.
    assert!((slips[0] - 0.4).abs() <= 2.0 * h, "first slip at {}", slips[0]);
    for pair in slips.windows(2) {
        assert!((pair[1] - pair[0] - 0.80689).abs() <= 20.0 * h, "period {}", pair[1] - pair[0]);
    }
    for (slip, stick) in slips.iter().zip(&sticks) {
        assert!((stick - slip - 0.40689).abs() <= 20.0 * h, "slip of {}", stick - slip);
    }
}

/// A relay without hysteresis fires in every step. The price is bounded: no more events than a step may
/// handle, the rest is put off and counted, and the state stays within what the relay can do in a step.
#[test]
fn chatter_is_bounded_and_counted() {
    let h = 0.01;
    let exported = build("chatter", &format!("--step {h} --stop 0.1 --force"));
    let mut fmu = exported.start(0.0, &[]);
    let (mut events, mut most) = (0, 0);
    for k in 0..200 {
        fmu.step(k as f64 * h, h);
        let now = fmu.integer("fmuBuild.events");
        most = most.max(now - events);
        events = now;
        if k > 50 {
            assert!(fmu.real("x").abs() <= h, "step {k}: x = {}", fmu.real("x"));
        }
    }
    assert!(events > 100, "only {events} events");
    let plan = std::fs::read(exported.root.join("resources/plan.json")).unwrap();
    let plan: serde_json::Value = serde_json::from_slice(&plan).unwrap();
    let limit = plan["events"]["max_per_step"].as_i64().unwrap();
    assert!((2..=10).contains(&limit), "a step may handle {limit} events");
    assert_eq!(i64::from(most), limit, "events in one step");
    let carried = fmu.integer("fmuBuild.carriedEvents");
    assert!(carried > 100 && carried <= 200, "{carried} of 200 steps put an event off");
    let told = |(_, text): &&(i32, String)| text.contains("events in one internal step");
    assert_eq!(fmu.messages().iter().filter(told).count(), 1, "{:?}", fmu.messages());
}

/// Steps that put an event off are outside the plan, with a twin, which does likewise, and without.
#[test]
fn events_that_were_put_off_are_outside_the_plan() {
    for twin in ["on", "off"] {
        let exported = build("chatter", &format!("--step 0.01 --stop 0.1 --force --twin {twin}"));
        let mut fmu = exported.start(0.0, &[]);
        fmu.steps(0.0, 0.01, 200);
        let (carried, outside) =
            (fmu.integer("fmuBuild.carriedEvents"), fmu.integer("fmuBuild.stepsOutsidePlan"));
        assert!(
            carried > 100 && outside >= carried,
            "--twin {twin}: {carried} put off, {outside} outside the plan"
        );
    }
}

/// The Modelica-compiled ball: its indicators have hysteresis, its events are reinit.
#[test]
fn a_compiled_ball_bounces() {
    for model in ["mo2fmu_BouncingBall.fmu", "mo2fmu_BouncingBallS.fmu", "rumoca_BouncingBallS.fmu"] {
        let h = 1e-3;
        let exported = build(model, &format!("--step {h} --stop 1.7"));
        let mut fmu = exported.start(0.0, &[]);
        let (mut speed, mut times) = (0.0, Vec::new());
        for k in 0..1700 {
            fmu.step(k as f64 * h, h);
            let now = fmu.real("v");
            if now > speed + 1.0 {
                times.push((k + 1) as f64 * h);
            }
            speed = now;
        }
        assert_eq!(times.len(), 3, "{model}: {times:?}");
        for (n, time) in (1..).zip(&times) {
            let error = (time - impact(n, 0.7)).abs();
            assert!(
                error <= (1.5 + 5.7 * (n - 1) as f64) * h,
                "{model}: impact {n}, off by {:.2} h",
                error / h
            );
        }
    }
}

/// The thermostat stays in its band, [14, 14.5] around a set point of 20, but for what one step may overshoot
/// (heating at 0.15 K/s), and follows a set point that is changed between steps.
#[test]
fn a_compiled_thermostat_keeps_its_band() {
    let h = 0.01;
    let exported = build("mo2fmu_Thermostat.fmu", &format!("--step {h}"));
    let mut fmu = exported.start(0.0, &[]);
    let slack = 0.5 * h;
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for k in 0..5000 {
        fmu.step(k as f64 * h, h);
        if k > 1500 {
            low = low.min(fmu.real("y"));
            high = high.max(fmu.real("y"));
        }
    }
    assert!(low >= 14.0 - slack && low <= 14.0 + slack, "lowest {low}");
    assert!(high >= 14.5 - slack && high <= 14.5 + slack, "highest {high}");
    assert_eq!(fmu.set_real("Tset", 19.5), OK);
    for k in 5000..10_000 {
        fmu.step(k as f64 * h, h);
        let y = fmu.real("y");
        assert!(k < 7000 || (y >= 13.5 - slack && y <= 14.0 + slack), "{y} after the set point moved");
    }
}

/// An input that crosses an indicator between two steps is an event at the step's beginning: lowering the
/// set point switches the heater off within the next step.
#[test]
fn an_input_can_cause_an_event() {
    let h = 0.01;
    let exported = build("mo2fmu_Thermostat.fmu", &format!("--step {h}"));
    let mut fmu = exported.start(0.0, &[]);
    fmu.steps(0.0, h, 10);
    let events = fmu.integer("fmuBuild.events");
    let before = fmu.real("y");
    fmu.step(0.1, h);
    assert!(fmu.real("y") > before, "it heats");
    assert_eq!(fmu.set_real("Tset", 10.0), OK);
    let before = fmu.real("y");
    fmu.step(0.11, h);
    assert!(fmu.real("y") < before, "it cools");
    assert_eq!(fmu.integer("fmuBuild.events"), events + 1);
}
