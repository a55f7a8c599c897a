//! Runs as long as a bench's: constant memory, exact time, the same bits after a restart. Started by
//! `tests/soak`.

use crate::driver::{Exported, Fmu};
use crate::util::build;
use std::ptr;
use std::time::Instant;

const H: f64 = 1e-3;

/// Steps of the long runs; `FMU_BUILD_SOAK_STEPS` asks for fewer.
fn steps() -> u64 {
    std::env::var("FMU_BUILD_SOAK_STEPS").ok().and_then(|text| text.parse().ok()).unwrap_or(10_000_000)
}

/// Resident memory of this process, in kilobytes.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

/// The voltage changes every hundred steps, the load now and then.
fn drive(fmu: &mut Fmu, k: u64) {
    if k.is_multiple_of(100) {
        let value = (k / 100 % 7) as f64 - 3.0;
        assert_eq!(fmu.set_real("u", value), crate::driver::OK, "{:?}", fmu.messages());
    }
}

fn run(
    exported: &Exported,
    fmu: &mut Fmu,
    from: u64,
    to: u64,
    mut at: impl FnMut(&mut Fmu, u64),
) -> Vec<u64> {
    for k in from..to {
        drive(fmu, k);
        fmu.step(k as f64 * H, H);
        at(fmu, k);
    }
    let states = exported.description.states();
    let names = states.iter().filter_map(|state| state.state);
    names.map(|index| fmu.real(&exported.description.variables[index].name).to_bits()).collect()
}

/// With inputs and a save and a restore every thousand steps; a second instance, given the state half-way,
/// ends with the same bits.
#[test]
#[ignore = "long: started by tests/soak"]
fn a_driven_model() {
    let steps = steps();
    let exported = build("dc-drive", "--step 1ms");
    let mut fmu = exported.start(0.0, &[]);
    let state = fmu.save(ptr::null_mut());
    let (mut half, mut early) = (Vec::new(), 0);
    let begin = Instant::now();
    let last = run(&exported, &mut fmu, 0, steps, |fmu, k| {
        if k % 1000 == 999 {
            fmu.save(state);
            fmu.restore(state);
        }
        if k + 1 == steps / 2 {
            fmu.save(state);
            half = fmu.serialize(state);
        }
        if k == steps / 100 {
            early = memory();
        }
    });
    let grown = memory().saturating_sub(early);
    println!(
        "soak: {steps} driven steps in {:.0} s, memory grew by {grown} kB",
        begin.elapsed().as_secs_f64()
    );
    assert!(grown < 1024, "memory grew by {grown} kB");
    assert_eq!(fmu.last_successful_time(), steps as f64 * H, "t = k h, never a sum");

    let mut second = exported.start(0.0, &[]);
    let state = second.deserialize(&half).unwrap();
    second.restore(state);
    assert_eq!(run(&exported, &mut second, steps / 2, steps, |_, _| {}), last);
}

/// Time and state events without end.
#[test]
#[ignore = "long: started by tests/soak"]
fn a_model_with_events() {
    let steps = steps();
    let exported = build("sampled-controller", "--step 1ms");
    let mut fmu = exported.start(0.0, &[]);
    let mut early = 0;
    for k in 0..steps {
        fmu.step(k as f64 * H, H);
        if k == steps / 100 {
            early = memory();
        }
    }
    let (events, grown) = (fmu.integer("fmuBuild.events"), memory().saturating_sub(early));
    println!("soak: {steps} steps with {events} events, memory grew by {grown} kB");
    assert!(events as u64 > steps / 1000, "{events} events");
    assert!(grown < 1024, "memory grew by {grown} kB");
}

/// A host that adds H to its time: after ten million steps it is off by rounding, and still answered.
#[test]
#[ignore = "long: started by tests/soak"]
fn a_host_that_sums_its_time() {
    let steps = steps();
    let exported = build("dahlquist", "--step 1ms");
    let (mut fmu, mut exact) = (exported.start(0.0, &[]), exported.start(0.0, &[]));
    let mut time = 0.0;
    for k in 0..steps {
        fmu.step(time, H);
        exact.step(k as f64 * H, H);
        time += H;
    }
    let off = (time - steps as f64 * H).abs();
    println!("soak: after {steps} steps the host's time is off by {off:.1e} s");
    assert_eq!(fmu.real("x").to_bits(), exact.real("x").to_bits());
}

#[test]
#[ignore = "long: started by tests/soak"]
fn ten_thousand_instances() {
    let exported = build("bouncing-ball", "--step 1ms");
    let make = |count: usize| {
        for _ in 0..count {
            let mut fmu = exported.start(0.0, &[]);
            fmu.step(0.0, H);
        }
    };
    make(1000);
    let early = memory();
    make(9000);
    let grown = memory().saturating_sub(early);
    println!("soak: 10000 instances one after the other, memory grew by {grown} kB");
    assert!(grown < 1024, "memory grew by {grown} kB");
    let together: Vec<Fmu> = (0..10_000).map(|_| exported.start(0.0, &[])).collect();
    println!("soak: 10000 instances at a time, {} kB", memory());
    drop(together);
}
