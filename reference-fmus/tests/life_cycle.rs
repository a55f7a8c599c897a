//! Call order, rights to set variables, FMU states and the instruments.
#![allow(clippy::unwrap_used)]

mod common;
use common::Rig;
use reference_fmus::instance::{Instance, Snapshot};

fn refused(outcome: Result<(), String>, part: &str) {
    let why = outcome.unwrap_err();
    assert!(why.contains(part), "{why}");
}

#[test]
fn calls_out_of_order_are_refused() {
    let mut rig = Rig::new("rc-circuit");
    let mut two = [0.0; 2];
    refused(rig.it.get_derivatives(&mut two), "not allowed in the instantiated state");
    refused(rig.it.get_real(&[1], &mut [0.0]), "not allowed in the instantiated state");
    refused(rig.it.exit_initialization(), "only in Initialization Mode");
    refused(rig.it.set_time(1.0), "only in Event Mode, Continuous-Time Mode");
    rig.it.enter_initialization().unwrap();
    refused(rig.it.setup_experiment(0.0), "not allowed in Initialization Mode");
    refused(rig.it.set_continuous_states(&two), "only in Continuous-Time Mode");
    rig.it.get_derivatives(&mut two).unwrap();
    rig.it.exit_initialization().unwrap();
    refused(rig.it.enter_continuous_time_mode(), "event iteration is not finished");
    rig.iterate();
    rig.it.enter_continuous_time_mode().unwrap();
    assert!(rig.it.new_discrete_states().is_err());
    refused(rig.it.set_continuous_states(&[1.0]), "has 2 states, the call is for 1");
    refused(rig.it.get_event_indicators(&mut two), "has 0 event indicators");
    rig.it.terminate().unwrap();
    refused(rig.it.set_time(1.0), "the terminated state");
    rig.it.get_real(&[1], &mut [0.0]).unwrap();
    rig.it.reset();
    rig.it.enter_initialization().unwrap();
}

#[test]
fn variables_are_set_only_when_they_may_be() {
    let mut rig = Rig::new("rc-circuit");
    let (e, r1, r3, i1) =
        (rig.reference("E"), rig.reference("R1"), rig.reference("R3"), rig.reference("I_1"));
    rig.it.set_real(&[e, r1, r3, 1], &[1.0, 2.0, 3.0, 4.0]).unwrap();
    refused(rig.it.set_real(&[i1], &[1.0]), "cannot be set in the instantiated state");
    refused(rig.it.set_real(&[99], &[1.0]), "no Real with value reference 99");
    rig.it.enter_initialization().unwrap();
    rig.it.exit_initialization().unwrap();
    rig.it.set_real(&[e, r3], &[1.0, 3.0]).unwrap();
    refused(rig.it.set_real(&[r1], &[1.0]), "cannot be set in Event Mode");
    rig.iterate();
    rig.it.enter_continuous_time_mode().unwrap();
    rig.it.set_real(&[e], &[7.0]).unwrap();
    // All or nothing.
    refused(rig.it.set_real(&[e, r3], &[8.0, 9.0]), "cannot be set in Continuous-Time Mode");
    assert_eq!(rig.get("E"), 7.0);
    // Time is declared in some descriptions only, and is nobody's to set.
    assert!(rig.it.get_real(&[0], &mut [0.0]).is_err());
    assert!(Rig::running("robot", &[]).it.set_real(&[0], &[1.0]).is_err());
}

#[test]
fn initialization_follows_its_parameters() {
    let mut rig = Rig::new("dahlquist");
    rig.it.setup_experiment(3.0).unwrap();
    rig.it.enter_initialization().unwrap();
    rig.set("x0", 5.0);
    assert_eq!(rig.get("x"), 5.0);
    rig.set("x0", 6.0);
    assert_eq!(rig.get("x"), 6.0);
    assert_eq!(rig.get("der(x)"), -6.0);
    let mut bad = Rig::new("bad-init");
    bad.it.enter_initialization().unwrap();
    refused(bad.it.exit_initialization(), "initial equations have no solution");
}

#[test]
fn states_are_saved_and_restored_bit_by_bit() {
    for name in ["bouncing-ball", "sampled-controller", "all-types", "robot", "pipe"] {
        let mut rig = Rig::running(name, &[]);
        let before = rig.it.snapshot().unwrap();
        let x: Vec<_> = rig.x().iter().map(|x| x + 1.0).collect();
        rig.f(0.7, &x);
        rig.event();
        let bytes = before.to_bytes();
        let copy = Snapshot::from_bytes(&bytes).unwrap();
        rig.it.restore(&copy).unwrap();
        assert_eq!(rig.it.snapshot().unwrap().to_bytes(), bytes, "{name}");
        assert!(Snapshot::from_bytes(&bytes[1..]).is_none());
        assert!(Snapshot::from_bytes(&[]).is_none());
    }
    let other = Rig::running("dahlquist", &[]).it.snapshot().unwrap();
    refused(Rig::running("robot", &[]).it.restore(&other), "another model");
}

/// One test: instances of stick-slip in two tests at once would refuse each other.
#[test]
fn only_one_stick_slip_lives_at_a_time() {
    let first = Rig::running("stick-slip", &[]);
    assert!(first.it.snapshot().unwrap_err().contains("canGetAndSetFMUstate"));
    let guid = first.description.guid.clone();
    let why = Instance::new(&guid).err().unwrap();
    assert!(why.contains("only once per process"), "{why}");
    drop(first);
    assert!(Instance::new(&guid).is_ok());
}

#[test]
fn instances_are_independent() {
    let mut a = Rig::running("bouncing-ball", &[("e", 0.5)]);
    let mut b = Rig::running("bouncing-ball", &[]);
    a.f(0.1, &[-0.1, -3.0]);
    a.event();
    assert_eq!((a.integer("bounces"), b.integer("bounces")), (1, 0));
    assert_eq!((a.get("e"), b.get("e")), (0.5, 0.7));
}

#[test]
fn unknown_guids_are_refused() {
    let robot = reference_fmus::xml::Description::read(&reference_fmus::find("robot").unwrap().xml()).guid;
    let other = robot.replace("9a", "9b");
    for guid in ["", "{robot}", "{robot:1}", "{heat-rod:5:x}", other.as_str(), "nonsense"] {
        assert!(Instance::new(guid).err().unwrap().contains("belongs to no model"), "{guid}");
    }
    assert!(Instance::new(&robot).is_ok());
}
