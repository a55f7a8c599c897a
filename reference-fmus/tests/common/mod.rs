//! An initialized instance, and access to its variables by name.
#![allow(dead_code, clippy::unwrap_used)]

use reference_fmus::find;
use reference_fmus::instance::Instance;
use reference_fmus::xml::{Description, Type};

pub struct Rig {
    pub it: Instance,
    pub description: Description,
}

impl Rig {
    pub fn new(name: &str) -> Rig {
        let description = Description::read(&find(name).unwrap().xml());
        // A model of which only one may live is waited for: tests run side by side.
        for _ in 0..10_000 {
            match Instance::new(&description.guid) {
                Ok(it) => return Rig { it, description },
                Err(why) if why.contains("only once") => {
                    std::thread::sleep(std::time::Duration::from_millis(1));
                }
                Err(why) => panic!("{name}: {why}"),
            }
        }
        panic!("{name} stays occupied");
    }

    /// In Continuous-Time Mode, with these start values.
    pub fn running(name: &str, start: &[(&str, f64)]) -> Rig {
        let mut rig = Rig::new(name);
        rig.it.enter_initialization().unwrap();
        for &(name, value) in start {
            rig.set(name, value);
        }
        rig.it.exit_initialization().unwrap();
        rig.iterate();
        rig.it.enter_continuous_time_mode().unwrap();
        rig
    }

    /// The event iteration; how many passes it took.
    pub fn iterate(&mut self) -> usize {
        for pass in 1..10 {
            if !self.it.new_discrete_states().unwrap().again {
                return pass;
            }
        }
        panic!("the event iteration does not end");
    }

    pub fn event(&mut self) -> usize {
        self.it.enter_event_mode().unwrap();
        let passes = self.iterate();
        self.it.enter_continuous_time_mode().unwrap();
        passes
    }

    pub fn reference(&self, name: &str) -> u32 {
        let found = self.description.variables.iter().find(|v| v.name == name);
        found.unwrap_or_else(|| panic!("no variable {name}")).reference as u32
    }

    pub fn set(&mut self, name: &str, value: f64) {
        let reference = self.reference(name);
        self.it.set_real(&[reference], &[value]).unwrap();
    }

    pub fn get(&mut self, name: &str) -> f64 {
        let (reference, mut value) = (self.reference(name), [f64::NAN]);
        self.it.get_real(&[reference], &mut value).unwrap();
        value[0]
    }

    pub fn integer(&mut self, name: &str) -> i32 {
        let (reference, mut value) = (self.reference(name), [i32::MIN]);
        self.it.get_integer(&[reference], &mut value).unwrap();
        value[0]
    }

    pub fn states(&self) -> usize {
        self.description.derivatives.len()
    }

    pub fn x(&mut self) -> Vec<f64> {
        let mut x = vec![0.0; self.states()];
        self.it.get_continuous_states(&mut x).unwrap();
        x
    }

    pub fn f(&mut self, t: f64, x: &[f64]) -> Vec<f64> {
        self.it.set_time(t).unwrap();
        self.it.set_continuous_states(x).unwrap();
        let mut dx = vec![f64::NAN; x.len()];
        self.it.get_derivatives(&mut dx).unwrap();
        dx
    }

    /// Classical Runge-Kutta over one step.
    pub fn rk4(&mut self, t: f64, h: f64, x: &[f64]) -> Vec<f64> {
        let along = |s: f64, k: &[f64]| -> Vec<f64> { x.iter().zip(k).map(|(x, k)| x + s * k).collect() };
        let k1 = self.f(t, x);
        let k2 = self.f(t + h / 2.0, &along(h / 2.0, &k1));
        let k3 = self.f(t + h / 2.0, &along(h / 2.0, &k2));
        let k4 = self.f(t + h, &along(h, &k3));
        let step = |i: usize| x[i] + h / 6.0 * (k1[i] + 2.0 * k2[i] + 2.0 * k3[i] + k4[i]);
        (0..x.len()).map(step).collect()
    }

    /// Value references of the continuous knowns: states, then continuous Real inputs.
    pub fn knowns(&self) -> Vec<u32> {
        let inputs = self
            .description
            .variables
            .iter()
            .filter(|v| v.kind == Type::Real && v.causality == "input" && v.variability == "continuous");
        (1..=self.states() as u32).chain(inputs.map(|v| v.reference as u32)).collect()
    }
}

pub fn close(found: f64, expected: f64, tolerance: f64) {
    assert!(
        (found - expected).abs() <= tolerance * expected.abs().max(1.0),
        "found {found}, expected {expected}"
    );
}

pub fn all_close(found: &[f64], expected: &[f64], tolerance: f64) {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).for_each(|(&f, &e)| close(f, e, tolerance));
}
