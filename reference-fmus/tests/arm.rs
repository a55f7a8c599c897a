//! The arm: rigid bodies against published numbers and against identities of mechanics, then the
//! whole model.
#![allow(clippy::unwrap_used)]

mod common;
use common::{Rig, all_close, close};
use reference_fmus::dual::{Dual, Num};
use reference_fmus::models::arm::{DRIVES, G, HELD, LINKS, PER_AXIS};
use reference_fmus::rigid_body::Chain;
use reference_fmus::six_axes::AXES;
use std::f64::consts::{FRAC_PI_4, PI};

type Joints<T = f64> = [T; AXES];

fn chain<T: Num>(q: &Joints<T>, payload: f64) -> Chain<'static, T, AXES> {
    Chain::new(&LINKS, q, payload.into(), &HELD)
}

/// Postures and speeds in general position, and no two alike.
fn motions() -> impl Iterator<Item = (Joints, Joints)> {
    let wobble = |seed: usize, k: usize| ((seed * 97 + k * 61) % 41) as f64 / 10.0 - 2.0;
    let pick = move |seed: usize| std::array::from_fn(|k| wobble(seed, k));
    (1..20).map(move |seed| (pick(2 * seed), pick(2 * seed + 1)))
}

fn dot(x: &Joints, y: &Joints) -> f64 {
    x.iter().zip(y).map(|(x, y)| x * y).sum()
}

/// The posture q moving along v: its values' derivatives are rates of change.
fn moving(q: &Joints, v: &Joints) -> Joints<Dual> {
    std::array::from_fn(|k| Dual { value: q[k], derivative: v[k] })
}

/// The nominal posture of the Robotics Toolbox, at which its tests print their numbers.
const Q_N: Joints = [0.0, FRAC_PI_4, PI, 0.0, FRAC_PI_4, 0.0];

/// `gravload(qn)`, `inertia(qn)` and `coriolis(qn, qd)` in `tests/test_DHRobot.py` of
/// petercorke/robotics-toolbox-python. The toolbox knows no elastic gears: its inertia has the rotors' n² J
/// on the diagonal. Its Coriolis matrix C is not unique, C v is; rounded entries times v leave 1e-3.
#[test]
fn the_arm_is_the_toolbox_s_puma_560() {
    let arm = chain(&Q_N, 0.0);
    all_close(&arm.bias(&[0.0; AXES], G), &[0.0, 31.6399, 6.0351, 0.0, 0.0283, 0.0], 6e-5);

    let inertia = [
        [3.6594, -0.4044, 0.1006, -0.0025, 0.0, 0.0],
        [-0.4044, 4.4137, 0.3509, 0.0, 0.0024, 0.0],
        [0.1006, 0.3509, 0.9378, 0.0, 0.0015, 0.0],
        [-0.0025, 0.0, 0.0, 0.1925, 0.0, 0.0],
        [0.0, 0.0024, 0.0015, 0.0, 0.1713, 0.0],
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.1941],
    ];
    let mut found = arm.mass_matrix();
    (0..AXES).for_each(|k| found[k][k] += DRIVES[k].inertia());
    found.iter().zip(&inertia).for_each(|(found, expected)| all_close(found, expected, 6e-5));

    let v = [1.0, 2.0, 3.0, 1.0, 2.0, 3.0];
    let coriolis = [
        [-0.1735, -2.0494, -0.1178, -0.0002, -0.0045, 0.0001],
        [0.6274, 1.1572, 1.9287, -0.0015, -0.0003, 0.0],
        [-0.3608, -0.7734, -0.0018, -0.0009, -0.0064, 0.0],
        [0.0011, 0.0005, -0.0001, 0.0002, 0.0002, -0.0001],
        [-0.0002, 0.0028, 0.0046, -0.0002, 0.0, 0.0],
        [0.0001, 0.0, 0.0, 0.0, 0.0, 0.0],
    ];
    all_close(&arm.bias(&v, 0.0), &coriolis.map(|row| dot(&row, &v)), 1e-3);
}

/// M is symmetric, and positive definite: it has a Cholesky factor with a positive diagonal. The
/// torques are linear in the accelerations, with M as their slope.
#[test]
fn the_mass_matrix_is_symmetric_and_positive_definite() {
    for (q, v) in motions() {
        let arm = chain(&q, 2.0);
        let mut m = arm.mass_matrix();
        let a: Joints = std::array::from_fn(|k| v[AXES - 1 - k]);
        let (torques, bias) = (arm.torques(&v, &a, G), arm.bias(&v, G));
        for i in 0..AXES {
            close(torques[i], dot(&m[i], &a) + bias[i], 1e-12);
            (0..i).for_each(|j| close(m[i][j], m[j][i], 1e-13));
        }
        for j in 0..AXES {
            assert!(m[j][j] > 1e-4, "pivot {j} at {q:?}: {}", m[j][j]);
            let pivot = m[j];
            for row in &mut m[j + 1..] {
                let factor = row[j] / pivot[j];
                (j..AXES).for_each(|i| row[i] -= factor * pivot[i]);
            }
        }
    }
}

/// Energy balance of the bare arm: d/dt (½ vᵀ M v) = vᵀ τ without weight. With τ = M a + h this is
/// ½ vᵀ Ṁ v = vᵀ h(q, v), for all q and v. Dual numbers give Ṁ = Σ ∂M/∂q v exactly.
#[test]
fn kinetic_energy_grows_by_the_torques_power() {
    for (q, v) in motions() {
        let rate = chain(&moving(&q, &v), 2.0).mass_matrix().map(|row| row.map(|m| m.derivative));
        let growth = dot(&v, &rate.map(|row| dot(&row, &v))) / 2.0;
        close(dot(&v, &chain(&q, 2.0).bias(&v, 0.0)), growth, 1e-12);
    }
}

/// The weight has a potential, so that energy is conserved with it too: h(q, 0) is a gradient,
/// that is, its Jacobian is symmetric.
#[test]
fn weight_is_conservative() {
    for (q, _) in motions() {
        let hessian: [Joints; AXES] = std::array::from_fn(|k| {
            let direction = std::array::from_fn(|j| if j == k { 1.0 } else { 0.0 });
            let weight = chain(&moving(&q, &direction), 2.0).bias(&[Dual::default(); AXES], G);
            weight.map(|torque| torque.derivative)
        });
        (0..AXES).for_each(|i| (0..i).for_each(|j| close(hessian[i][j], hessian[j][i], 1e-13)));
    }
}

/// The start is an equilibrium, under an external torque as well: with the command still, nothing
/// moves.
#[test]
fn the_arm_starts_at_rest() {
    for load in [0.0, 5.0] {
        let mut rig = Rig::running("arm", &[("tau_ext[2]", load)]);
        let x = rig.x();
        for (i, d) in rig.f(0.0, &x).into_iter().enumerate() {
            assert!(d.abs() < 1e-7, "state {i}: {d}");
        }
        assert!(rig.get("tau_gear[2]") > 30.0, "the shoulder carries the arm");
    }
}

/// The model's accelerations belong to its rigid bodies: M v' + h = τ + τ_ext, by inverse dynamics.
#[test]
fn accelerations_solve_the_equations_of_motion() {
    let mut rig = Rig::running("arm", &[]);
    rig.set("tau_ext[3]", 4.0);
    let mut x = rig.x();
    for (q, v) in motions() {
        for k in 0..AXES {
            // Motors a little aside, so that every gear is loaded.
            let own = [q[k], v[k], q[k] + 1e-3 * v[k], 0.9 * v[k]];
            x[k * PER_AXIS..k * PER_AXIS + 4].copy_from_slice(&own);
        }
        let derivatives = rig.f(0.0, &x);
        let a = std::array::from_fn(|k| derivatives[k * PER_AXIS + 1]);
        let torques = chain(&q, rig.get("payload")).torques(&v, &a, G);
        for (k, torque) in torques.into_iter().enumerate() {
            let external = if k == 2 { 4.0 } else { 0.0 };
            close(torque, rig.get(&format!("tau_gear[{}]", k + 1)) + external, 1e-10);
        }
    }
}

/// Along the way the motors follow their set points within half a degree, at the end all joints are
/// where they were told, but for the deflection of the gears and the tail of the speed controllers.
#[test]
fn the_arm_goes_to_its_target() {
    let mut rig = Rig::running("arm", &[]);
    let named = |rig: &mut Rig, name: &str| -> Joints {
        std::array::from_fn(|k| rig.get(&format!("{name}[{}]", k + 1)))
    };
    let (start, target) = (named(&mut rig, "start"), named(&mut rig, "target"));
    let (h, mut x) = (2.5e-4, rig.x());
    for step in 0..4000 {
        x = rig.rk4(f64::from(step) * h, h, &x);
        let z = (f64::from(step + 1) * h / 0.8).min(1.0);
        let share = z.powi(3) * (10.0 - 15.0 * z + 6.0 * z * z);
        for k in 0..AXES {
            let set_point = start[k] + (target[k] - start[k]) * share;
            assert!((x[k * PER_AXIS + 2] - set_point).abs() < 0.5f64.to_radians(), "axis {k}, z = {z}");
        }
    }
    (0..AXES)
        .for_each(|k| assert!((x[k * PER_AXIS] - target[k]).abs() < 1e-3, "axis {k}: {}", x[k * PER_AXIS]));
}
