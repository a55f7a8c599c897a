//! What the descriptions declare, against what the equations do.
#![allow(clippy::unwrap_used)]

mod common;
use common::Rig;
use reference_fmus::xml::Type;
use reference_fmus::{find, hidden_names, names};
use std::collections::BTreeSet;

/// All that can be instantiated and initialized.
fn runnable() -> Vec<&'static str> {
    let broken = ["bad-instantiate", "bad-init", "guid-mismatch", "nan"];
    let all = names().into_iter().chain(hidden_names());
    all.filter(|name| !broken.contains(name)).collect()
}

/// A point in general position: every state off its start, so that no entry vanishes by accident.
fn perturbed(rig: &mut Rig) -> Vec<f64> {
    let mut nominals = vec![0.0; rig.states()];
    rig.it.get_nominals(&mut nominals).unwrap();
    let x = rig.x();
    let wobble = |i: usize| 0.05 + 0.1 * ((i * 37 % 101) as f64 / 101.0);
    x.iter().zip(&nominals).enumerate().map(|(i, (x, n))| x + wobble(i) * n).collect()
}

/// Unknowns (derivatives and Real continuous outputs) by central differences along one known.
fn difference(rig: &mut Rig, unknowns: &[u32], known: u32, x: &[f64]) -> Vec<f64> {
    let mut side = |sign: f64| {
        let mut y = x.to_vec();
        let at = known as usize;
        let step = if (1..=x.len()).contains(&at) {
            let step = 1e-6 * x[at - 1].abs().max(1.0);
            y[at - 1] += sign * step;
            rig.f(0.35, &y);
            step
        } else {
            rig.f(0.35, x);
            let mut old = [0.0];
            rig.it.get_real(&[known], &mut old).unwrap();
            let step = 1e-6 * old[0].abs().max(1.0);
            rig.it.set_real(&[known], &[old[0] + sign * step]).unwrap();
            let mut value = vec![0.0; unknowns.len()];
            rig.it.get_real(unknowns, &mut value).unwrap();
            rig.it.set_real(&[known], &old).unwrap();
            return (value, step);
        };
        let mut value = vec![0.0; unknowns.len()];
        rig.it.get_real(unknowns, &mut value).unwrap();
        (value, step)
    };
    let ((up, step), (down, _)) = (side(1.0), side(-1.0));
    up.iter().zip(&down).map(|(u, d)| (u - d) / (2.0 * step)).collect()
}

/// References of derivatives and continuous Real outputs, with the positions they may depend on
/// (`None`: all).
fn unknowns(rig: &Rig) -> Vec<(u32, Option<Vec<usize>>)> {
    let of = &rig.description;
    let all = of.derivatives.iter().chain(&of.outputs).map(|u| (&of.variables[u.index - 1], u));
    let continuous = all.filter(|(v, _)| v.kind == Type::Real && v.variability == "continuous");
    continuous.map(|(v, u)| (v.reference as u32, u.dependencies.clone())).collect()
}

#[test]
fn declared_dependencies_are_the_true_ones() {
    for name in runnable().into_iter().chain(["heat-rod:10"]) {
        let mut rig = Rig::running(name, &[]);
        let x = perturbed(&mut rig);
        let unknowns = unknowns(&rig);
        let references: Vec<_> = unknowns.iter().map(|u| u.0).collect();
        let position = |reference: u32| {
            let is =
                |v: &reference_fmus::xml::Variable| v.kind == Type::Real && v.reference as u32 == reference;
            rig.description.variables.iter().position(is).unwrap() + 1
        };
        let knowns: Vec<_> = rig.knowns().into_iter().map(|k| (k, position(k))).collect();
        let mut wrong = BTreeSet::new();
        for (known, at) in knowns {
            let slopes = difference(&mut rig, &references, known, &x);
            // What the known itself changes: a flow per pascal is a small number.
            let mut size = [0.0];
            rig.it.get_real(&[known], &mut size).unwrap();
            let size = size[0].abs().max(1.0);
            for ((reference, declared), slope) in unknowns.iter().zip(slopes) {
                let Some(declared) = declared else { continue };
                let depends = slope.abs() * size > 1e-9;
                if depends != declared.contains(&at) {
                    wrong.insert((*reference, known));
                }
            }
        }
        // One model lies on purpose; while sticking, the belt's mass feels no spring.
        let expected: &[(u32, u32)] = match name {
            "wrong-structure" => &[(4, 1)],
            "stick-slip" => &[(4, 1)],
            // The third clutch sticks at first: its normal force does nothing.
            "clutches" => &[(10, 17), (12, 17), (14, 17), (16, 17)],
            _ => &[],
        };
        assert_eq!(wrong.into_iter().collect::<Vec<_>>(), expected, "{name}: (unknown, known)");
    }
}

#[test]
fn directional_derivatives_are_exact() {
    for name in runnable() {
        let mut rig = Rig::running(name, &[]);
        let x = perturbed(&mut rig);
        let references: Vec<_> = unknowns(&rig).iter().map(|u| u.0).collect();
        let mut found = vec![f64::NAN; references.len()];
        if !rig.description.directional {
            assert!(rig.it.directional_derivative(&references, &[1], &[1.0], &mut found).is_err());
            continue;
        }
        let mut wrong = Vec::new();
        for known in rig.knowns() {
            let expected = difference(&mut rig, &references, known, &x);
            rig.f(0.35, &x);
            rig.it.directional_derivative(&references, &[known], &[1.0], &mut found).unwrap();
            // Differences lose digits: rounding of the values, over the step.
            let mut values = vec![0.0; references.len()];
            rig.it.get_real(&references, &mut values).unwrap();
            let largest = |list: &[f64]| list.iter().fold(1.0f64, |m, e| m.max(e.abs()));
            let scale = largest(&expected) + 1e-2 * largest(&values);
            for (&reference, (f, e)) in references.iter().zip(found.iter().zip(&expected)) {
                if (f - e).abs() > 1e-6 * scale {
                    wrong.push((reference, known, *f, *e));
                }
            }
        }
        match name {
            "wrong-directional" => {
                let [(reference, known, found, true_one)] = wrong[..] else { panic!("{wrong:?}") };
                assert_eq!((reference, known), (4, 2));
                assert!((found / true_one - 2.0).abs() < 1e-6);
            }
            _ => assert!(wrong.is_empty(), "{name}: {wrong:?}"),
        }
    }
}

/// The robot needs few colours: at most 24 entries that vary in a row, and six such rows.
#[test]
fn robot_rows_have_at_most_24_varying_entries() {
    let rig = Rig::new("robot");
    let states = 2..=79;
    let varying = rig.description.derivatives.iter().map(|row| {
        let on = row.dependencies.as_ref().unwrap().iter().zip(&row.kinds);
        on.filter(|(at, kind)| states.contains(*at) && *kind == "dependent").count()
    });
    let varying: Vec<_> = varying.collect();
    assert_eq!(varying.len(), 78);
    assert_eq!(varying.iter().max(), Some(&24));
    assert_eq!(varying.iter().filter(|&&n| n == 24).count(), 6);
}

/// Layout, counts and every value reference, as the library and its XML promise each other.
#[test]
fn descriptions_and_library_agree() {
    for name in runnable().into_iter().chain([
        "heat-rod:10",
        "heat-rod:123",
        "clutches:18x25",
        "vehicle:60:1us",
        "friction-row:36:98:1us:8",
    ]) {
        let mut rig = Rig::running(name, &[]);
        let of = rig.description.clone();
        let model = find(name).unwrap().model();
        assert_eq!(of.derivatives.len(), model.states(), "{name}");
        assert_eq!(of.indicators, model.indicators(), "{name}");
        let mut probe = vec![reference_fmus::dual::Dual::default(); of.count(Type::Real)];
        assert_eq!(of.directional, model.evaluate_dual(&mut probe), "{name}");
        for (i, unknown) in of.derivatives.iter().enumerate() {
            let derivative = &of.variables[unknown.index - 1];
            let state = &of.variables[derivative.derivative.unwrap() - 1];
            assert_eq!((state.reference, derivative.reference), (i + 1, i + 1 + of.derivatives.len()));
            assert_eq!(derivative.name, format!("der({})", state.name));
        }
        assert!(!of.outputs.is_empty(), "{name} has no output");
        let mut seen = BTreeSet::new();
        for v in &of.variables {
            let reference = v.reference as u32;
            assert!(seen.insert((v.kind as u8, reference)), "{name}: {} is not alone", v.name);
            match v.kind {
                Type::Real => {
                    let mut value = [f64::NAN];
                    rig.it.get_real(&[reference], &mut value).unwrap();
                    assert!(value[0].is_finite(), "{name}: {} = {}", v.name, value[0]);
                }
                Type::Integer => rig.it.get_integer(&[reference], &mut [0]).unwrap(),
                Type::Boolean => rig.it.get_boolean(&[reference], &mut [0]).unwrap(),
                Type::String => drop(rig.it.get_string(reference).unwrap()),
            }
        }
        assert!(rig.it.get_real(&[1_000_000], &mut [0.0]).is_err());
        assert!(!find(name).unwrap().summary().is_empty());
    }
}

#[test]
fn names_are_found_and_sizes_checked() {
    assert_eq!(names().len(), 27);
    assert!(names().iter().all(|name| !hidden_names().contains(name)));
    assert!(find("heat-rod:10000").is_ok());
    for (name, message) in [
        ("heat-rod:9", "heat-rod cannot have 9 cells; give a number from 10 to 10000, as in heat-rod:100"),
        (
            "clutches:9x27",
            "clutches cannot be 9x27; give states and event indicators, an even number of states from 8 to 102 and at \
             least three indicators for each clutch, as in clutches:18x25",
        ),
        (
            "pipe:3",
            "pipe has a fixed size; heat-rod takes one, as in heat-rod:100, and so do clutches, vehicle and \
             friction-row",
        ),
    ] {
        assert_eq!(find(name).unwrap_err().to_string(), message);
    }
    assert!(
        find("nothing")
            .unwrap_err()
            .to_string()
            .starts_with("no model is called nothing; there are: dahlquist,")
    );
    let export = reference_fmus::files("van-der-pol").unwrap();
    assert_eq!(
        (export.identifier.as_str(), export.files[0].0.as_str()),
        ("van_der_pol", "modelDescription.xml")
    );
}
