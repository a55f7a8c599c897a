//! What the builder does with a model to learn about it: it leaves no traces, and what it is told by files
//! and buffers is checked.

use crate::util::{build, build_file, edit_description, example, fmu_build, runge_kutta, summary};
use std::path::Path;
use tempfile::TempDir;

fn warnings(summary: &serde_json::Value) -> Vec<&str> {
    summary["warnings"].as_array().unwrap().iter().map(|it| it.as_str().unwrap()).collect()
}

fn refused(input: &Path, options: &[&str]) -> String {
    let output = input.with_extension("out.fmu");
    let mut words = vec![input.to_str().unwrap(), output.to_str().unwrap()];
    words.extend(options);
    let done = fmu_build(words);
    assert_eq!(done.status.code(), Some(1));
    assert!(!output.exists());
    String::from_utf8(done.stderr).unwrap()
}

/// States thrown aside by 3 % of 87 rad put this model on another branch, where w runs to -10: it cannot save
/// its state, so that it must not be thrown while it runs. Known answer: w = 10 all the time, so that every
/// plan is exact.
#[test]
fn probing_leaves_the_run_as_it_was() {
    let summary = summary("branching", "--explore none");
    let error = summary["error"].as_f64().unwrap();
    assert!(error < 1e-6, "{error}");
    // w stands still, which is said; nothing else is.
    let other: Vec<&str> =
        warnings(&summary).into_iter().filter(|text| !text.contains("stands still")).collect();
    assert!(other.is_empty(), "{other:?}");
}

#[test]
fn an_output_that_is_no_number_is_named() {
    let summary = summary("nan-output", "");
    let named = "the output y is NaN at t = 0.5; it is not compared";
    assert!(warnings(&summary).iter().any(|text| text.starts_with(named)), "{:?}", warnings(&summary));
}

/// A tunable parameter may have a column, as FMPy's users do it. One that fits nothing is named and left out;
/// `--strict` refuses it.
#[test]
fn columns_drive_inputs_and_tunable_parameters() {
    let folder = TempDir::new().unwrap();
    let input = example("dc-drive", folder.path());
    let (table, output) = (folder.path().join("u.csv"), folder.path().join("out.fmu"));
    std::fs::write(&table, "time,u,d_l,speed\n0,24,0.5,1\n1,24,0.5,1\n1,12,5,1\n2,12,5,1\n").unwrap();
    let options = format!("--inputs {} --explore none", table.display());
    let summary = build_file(&input, &output, &options);
    let named: Vec<&str> = warnings(&summary).into_iter().filter(|text| text.contains("speed")).collect();
    assert!(named.len() == 1 && named[0].contains("ignored"), "{named:?}");
    assert!(!named[0].contains("d_l"), "{named:?}");
    let message = refused(&input, &["--strict", "--inputs", table.to_str().unwrap()]);
    assert!(message.contains("speed") && message.contains("its inputs: u, T_load"), "{message}");
}

/// Inputs are set after the step that ends there: the accurate solution is read before a jump at the same
/// point, and a sample of the model's own at that instant sees the old value. The outputs of `all-types` are
/// its inputs, with no state between: their error is exactly 0. The controller samples every 10 ms, and its
/// inputs jump on the same points: read behind the jump, or sampled behind it, it was off by 17 %.
#[test]
fn jumps_of_inputs_come_after_the_step_that_ends_there() {
    let direct = summary("all-types", "");
    assert!(direct["explored"]["scenarios"].as_u64().unwrap() > 0, "{direct}");
    assert_eq!(direct["explored"]["error"], 0.0, "{direct}");
    let sampled = summary("sampled-controller", "");
    let error = sampled["explored"]["error"].as_f64().unwrap();
    assert!(error < 1e-3, "{error}");
}

/// A file says 0.3 where the third step of 0.1 ends at 0.30000000000000004: the jump is at that point,
/// neither a step early nor late.
#[test]
fn a_jump_at_a_communication_point_is_at_that_point() {
    let folder = TempDir::new().unwrap();
    let (input, output) = (example("all-types", folder.path()), folder.path().join("out.fmu"));
    let table = folder.path().join("u.csv");
    std::fs::write(&table, "time,u\n0,1\n0.3,1\n0.3,5\n0.7,5\n0.7,2\n1,2\n").unwrap();
    let options = format!("--step 0.1 --stop 1 --inputs {} --explore none", table.display());
    let summary = build_file(&input, &output, &options);
    assert_eq!(summary["error"], 0.0, "{}", summary["errors"]);
}

/// The Lorenz attractor (Lyapunov exponent 0.906/s) over 40 s: errors of 1e-6 grow by e^36. That is said, and
/// no shorter step is advised. Over 5 s the growth is e^4.5: nothing is said.
#[test]
fn chaos_is_recognised() {
    let long = summary("lorenz", "--explore none");
    let said = warnings(&long);
    assert!(said[0].contains("two accurate solutions of this run lie"), "{said:?}");
    assert!(long["reference_error"].as_f64().unwrap() > 0.05, "{long}");
    assert!(!said.iter().any(|text| text.contains("would do")), "{said:?}");
    let short = summary("lorenz", "--explore none --stop 5");
    assert!(!warnings(&short).iter().any(|text| text.contains("two accurate")), "{short}");
    assert!(short["error"].as_f64().unwrap() <= 0.01, "{short}");
}

/// The multiplier of the stiff pendulum is a length's change by 1e-6 of it: an accurate run that controls its
/// states alone, to 1e-6, knows nothing of it. Known answer: the motion is smooth, so that the multiplier is
/// that of the rigid pendulum, (|v|² - g q2)/2 within 4e-6, and that is (3/2) sin of the angle below the
/// horizontal, φ'' = cos φ. What the exported FMU is off from that is what the certificate says.
#[test]
fn outputs_are_known_as_well_as_states() {
    let options = "--explore none --method ros34pw2 --mode implicit --jacobian every --stop 2";
    let summary = summary("stiff-pendulum", options);
    let errors = summary["errors"].as_array().unwrap();
    let claimed = errors.iter().find(|it| it["name"] == "lambda").unwrap()["error"].as_f64().unwrap();
    let exported = build("stiff-pendulum", options);
    let mut fmu = exported.start(0.0, &[]);
    let (h, steps) = (1e-3, 2000);
    let (mut angle, mut sum) = ([0.0, 0.0], 0.0);
    for k in 0..steps {
        fmu.step(k as f64 * h, h);
        angle = runge_kutta(|_, &[phi, w]: &[f64; 2]| [w, phi.cos()], angle, 0.0, h, 4);
        sum += (fmu.real("lambda") - 1.5 * angle[0].sin()).powi(2);
    }
    // The largest is 3/2, at the bottom.
    let found = (sum / steps as f64).sqrt() / 1.5;
    assert!((found - claimed).abs() <= 0.1 * found + 1e-4, "{found} found, {claimed} certified");
}

/// A nominal value that is a million times off is no help: differences by sqrt(eps) of 1e12 are larger than
/// the states, of 1e-12 they drown in rounding, and both say nothing of a state's error. The answer is that
/// of the model without nominal values.
#[test]
fn absurd_nominal_values_change_nothing() {
    let folder = TempDir::new().unwrap();
    let plain = example("spring-pendulum", folder.path());
    let tried = |nominal: &str| {
        let edited = folder.path().join(format!("nominal{nominal}.fmu"));
        edit_description(&plain, &edited, "start=\"0.0\"", &format!("nominal=\"{nominal}\" start=\"0.0\""));
        let summary = build_file(&edited, &folder.path().join("out.fmu"), "");
        assert!(warnings(&summary).is_empty(), "{nominal}: {:?}", warnings(&summary));
        [&summary["error"], &summary["explored"]["error"]].map(|error| error.as_f64().unwrap())
    };
    let sound = tried("1.0");
    for nominal in ["1e12", "1e-12"] {
        let absurd = tried(nominal);
        for (absurd, sound) in absurd.iter().zip(&sound) {
            assert!(*absurd < 2.0 * sound, "{nominal}: {absurd}, not {sound}");
        }
    }
}

/// A controller samples its set point every 10 ms, the bench sets a new one at the same instants: the sample
/// comes first, in the accurate run as in the FMU, also where the two clocks round otherwise. With 14 steps
/// per sample, 35 · 10 ms is an ulp behind 490 steps.
#[test]
fn a_sample_comes_before_the_inputs_of_its_instant() {
    let folder = TempDir::new().unwrap();
    let step = 0.01 / 14.0;
    let late = |k: &usize| *k as f64 * 0.01 > (14 * k) as f64 * step;
    assert!((1..40).any(|k| late(&k)), "no two clocks differ: the test tests nothing");
    let mut table = String::from("time,setpoint\n0,0\n");
    let (mut level, mut random) = (0.0, 1u64);
    for k in 1..40 {
        let time = (14 * k) as f64 * step;
        table += &format!("{time},{level}\n");
        random = random.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        level = (random >> 40) as f64 / (1u64 << 23) as f64 - 1.0;
        table += &format!("{time},{level}\n");
    }
    let inputs = folder.path().join("jumps.csv");
    std::fs::write(&inputs, table).unwrap();
    let model = example("sampled-controller", folder.path());
    let options = format!("--step {step} --stop 0.4 --explore none --inputs {}", inputs.display());
    let summary = build_file(&model, &folder.path().join("out.fmu"), &options);
    let error = summary["error"].as_f64().unwrap();
    assert!(error < 0.002, "{error}");
}

/// Three clutches in a row, the third with no normal force: the last inertia stands still, and its speed, a
/// sum of four others, is rounding. The run has a dozen events and no chaos: what the certificate claims is
/// what the FMU is off from midpoint steps of 2 µs, by a factor of three.
#[test]
fn clutches_are_not_chaotic() {
    let options = "--explore none --method lie";
    let summary = summary("clutches", options);
    let said = warnings(&summary);
    assert!(!said.iter().any(|text| text.contains("two accurate")), "{said:?}");
    assert_eq!(summary["reference_error"], serde_json::Value::Null);
    let claimed = summary["error"].as_f64().unwrap();
    let (h, names) = (summary["step"].as_f64().unwrap(), ["w1", "w2", "w3"]);
    let steps = 1500;
    let accurate = clutches_by_midpoint_steps(h, steps);
    let exported = build("clutches", options);
    let mut fmu = exported.start(0.0, &[]);
    let mut sums = [0.0; 3];
    for (k, accurate) in accurate.iter().enumerate() {
        fmu.step(k as f64 * h, h);
        for (sum, (name, value)) in sums.iter_mut().zip(names.iter().zip(accurate)) {
            *sum += (fmu.real(name) - value).powi(2);
        }
    }
    let range = |i: usize| {
        let values = || accurate.iter().map(|values| values[i]);
        values().fold(f64::MIN, f64::max) - values().fold(f64::MAX, f64::min)
    };
    let error = |i: usize| (sums[i] / steps as f64).sqrt() / range(i);
    let found = (0..3).map(error).fold(0.0, f64::max);
    assert!(
        found < 0.01 && claimed < 3.0 * found && found < 3.0 * claimed,
        "{found} found, {claimed} claimed"
    );
    // What stands still is said to.
    let last = summary["errors"].as_array().unwrap().iter().find(|it| it["name"] == "w4").unwrap();
    assert!(last["still"].as_bool().unwrap(), "{last}");
}

/// w1, w2 and w3 after each step of `h`, by 500 midpoint steps each, with events at their ends.
fn clutches_by_midpoint_steps(h: f64, steps: usize) -> Vec<[f64; 3]> {
    use reference_fmus::instance::Instance;
    let description =
        reference_fmus::xml::Description::read(&reference_fmus::find("clutches").unwrap().xml());
    let mut it = Instance::new(&description.guid).unwrap();
    let reference =
        |name: &str| description.variables.iter().find(|v| v.name == name).unwrap().reference as u32;
    let speeds = ["w1", "w2", "w3"].map(reference);
    it.enter_initialization().unwrap();
    it.exit_initialization().unwrap();
    let (mut x, mut f) = ([0.0; 8], [0.0; 8]);
    let (mut before, mut after) = ([0.0; 27], [0.0; 27]);
    let settle = |it: &mut Instance, x: &mut [f64], z: &mut [f64]| {
        let event = loop {
            let event = it.new_discrete_states().unwrap();
            if !event.again {
                break event;
            }
        };
        it.enter_continuous_time_mode().unwrap();
        it.get_continuous_states(x).unwrap();
        it.get_event_indicators(z).unwrap();
        event.next_time.unwrap_or(f64::INFINITY)
    };
    let mut due = settle(&mut it, &mut x, &mut before);
    let (small, mut found) = (h / 500.0, Vec::new());
    for k in 0..500 * steps {
        let time = k as f64 * small;
        it.set_time(time + 0.5 * small).unwrap();
        it.set_continuous_states(&x).unwrap();
        it.get_derivatives(&mut f).unwrap();
        x.iter_mut().zip(f).for_each(|(x, f)| *x += small * f);
        it.set_time((k + 1) as f64 * small).unwrap();
        it.set_continuous_states(&x).unwrap();
        it.get_event_indicators(&mut after).unwrap();
        let crossed = before.iter().zip(&after).any(|(a, b)| (*a > 0.0) != (*b > 0.0));
        let is_due = (k + 1) as f64 * small >= due - 0.5 * small;
        if crossed || is_due {
            // The model must see a time that is not before its event.
            it.set_time(if is_due { due } else { (k + 1) as f64 * small }).unwrap();
            it.enter_event_mode().unwrap();
            due = settle(&mut it, &mut x, &mut after);
        }
        before = after;
        if (k + 1) % 500 == 0 {
            let mut values = [0.0; 3];
            it.get_real(&speeds, &mut values).unwrap();
            found.push(values);
        }
    }
    found
}

/// A thermostat follows a set point that rises. The FMU holds its inputs during a step, and 1 mK of error,
/// 4e-5 of what the temperature moves by, shifts an event by 2 ms: the heater is switched late. The
/// certificate tells by how much, in seconds, in steps and as a share of the time: what a comparison with
/// midpoint steps of 5 µs shows, within one step. With a constant set point and a method of second order
/// nothing is late.
#[test]
fn a_late_switch_is_told() {
    let folder = TempDir::new().unwrap();
    let (model, output) = (example("thermostat", folder.path()), folder.path().join("out.fmu"));
    let inputs = folder.path().join("ramp.csv");
    std::fs::write(&inputs, "time,T_ref\n0,298.15\n2,298.15\n8,323.15\n10,323.15\n").unwrap();
    let set_point = |time: f64| 298.15 + 25.0 / 6.0 * (time.clamp(2.0, 8.0) - 2.0);
    let options = format!("--explore none --method lie --inputs {}", inputs.display());
    let late = build_file(&model, &output, &options);
    assert!(late["error"].as_f64().unwrap() < 1e-3, "{late}");
    let told = &late["discrete_errors"][0];
    assert_eq!(told["name"], "on");

    let exported = crate::driver::Exported::unpack(&output, folder);
    let mut fmu = exported.start(0.0, &[]);
    let (h, steps, parts) = (1e-3, 10_000, 200);
    let (mut t, mut on) = (293.15f64, true);
    let (mut stretch, mut longest, mut wrong) = (0i64, 0i64, 0);
    for k in 0..steps {
        let time = k as f64 * h;
        fmu.set_real("T_ref", set_point(time));
        fmu.step(time, h);
        for part in 0..parts {
            let small = h / f64::from(parts);
            let slope = |t: f64| {
                let heat = if on { 10.0 / (1.0 + (t - 293.15) / 255.0) } else { 0.0 };
                heat - 0.1 * (t - 293.15)
            };
            t += small * slope(t + 0.5 * small * slope(t));
            let over = t - set_point(time + f64::from(part + 1) * small);
            on = if over >= 1.0 { false } else { on || over <= -1.0 };
        }
        stretch = if (fmu.boolean("on") != 0) == on { 0 } else { stretch + 1 };
        (longest, wrong) = (longest.max(stretch), wrong + i64::from(stretch > 0));
    }
    assert!(longest >= 2, "the test tests nothing: {longest}");
    assert!((told["delay_steps"].as_i64().unwrap() - longest).abs() <= 1, "{told}, {longest} found");
    let delay = told["delay_steps"].as_f64().unwrap() * h;
    assert!((told["delay"].as_f64().unwrap() - delay).abs() < 1e-12, "{told}");
    let share = wrong as f64 / steps as f64;
    assert!((told["share"].as_f64().unwrap() / share - 1.0).abs() < 0.3, "{told}, {share} found");
    let said = warnings(&late);
    assert!(said.iter().any(|text| text.contains("the output on switches up to")), "{said:?}");
    let right = summary("thermostat", "--explore none --method ros2");
    assert!(!warnings(&right).iter().any(|text| text.contains("switches")), "{right}");
    assert!(right["discrete_errors"][0]["delay_steps"].as_i64().unwrap() <= 1, "{right}");
}
