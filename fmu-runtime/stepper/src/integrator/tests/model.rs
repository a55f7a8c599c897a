//! A model in Rust behind the trait, which counts its calls and refuses those that FMI forbids.

use crate::model::{EventInfo, Model, StepInfo};
use crate::status::Status;

/// x' = f(t, x, u), z(t, x), and what happens at events.
pub trait Equations {
    fn start(&self) -> Vec<f64>;
    fn derivatives(&self, t: f64, x: &[f64], u: f64, dx: &mut [f64]);
    fn indicators(&self, _t: f64, _x: &[f64], _z: &mut [f64]) {}
    /// The event at this point; gives the next time event.
    fn event(&mut self, _t: f64, _x: &mut [f64], info: &mut EventInfo) {
        info.next_event_time = None;
    }
    /// What the model says of a completed step.
    fn completed(&mut self) -> StepInfo {
        StepInfo::default()
    }
    fn nominals(&self, nominals: &mut [f64]) {
        nominals.fill(1.0);
    }
    /// Real variable `reference`.
    fn output(&self, reference: u32, _t: f64, x: &[f64], _u: f64) -> f64 {
        x[reference as usize]
    }
}

/// Value reference of the input u.
pub const INPUT: u32 = 1000;

#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Event,
    Continuous,
}

pub struct Host<E> {
    pub equations: E,
    mode: Mode,
    pub t: f64,
    pub x: Vec<f64>,
    pub u: f64,
    /// Variables are answered with the values of the last evaluation, as some tools do.
    pub stale: bool,
    /// Where the last evaluation was.
    evaluated: (f64, Vec<f64>, f64),
    pub evaluations: usize,
    pub indicator_calls: usize,
    /// Times of the events that were handled.
    pub events: Vec<f64>,
}

impl<E: Equations> Host<E> {
    pub fn new(equations: E) -> Host<E> {
        let x = equations.start();
        Host {
            equations,
            mode: Mode::Event,
            t: 0.0,
            evaluated: (0.0, x.clone(), 0.0),
            x,
            u: 0.0,
            stale: false,
            evaluations: 0,
            indicator_calls: 0,
            events: vec![],
        }
    }

    /// The time of the last evaluation.
    pub fn evaluated_at(&self) -> f64 {
        self.evaluated.0
    }

    /// The mode of a saved state.
    pub fn force_mode(&mut self, event: bool) {
        self.mode = if event { Mode::Event } else { Mode::Continuous };
    }

    fn need(&self, mode: Mode, call: &str) {
        assert_eq!(self.mode, mode, "{call} in the wrong mode");
    }
}

impl<E: Equations> Model for Host<E> {
    fn set_time(&mut self, time: f64) -> Status {
        self.need(Mode::Continuous, "set_time");
        self.t = time;
        Status::Ok
    }

    fn set_inputs(&mut self, _: &[u32], values: &[f64]) -> Status {
        self.u = values[0];
        Status::Ok
    }

    fn get_real(&mut self, references: &[u32], values: &mut [f64]) -> Status {
        let (t, x, u) = if self.stale {
            let (t, x, u) = &self.evaluated;
            (*t, x, *u)
        } else {
            (self.t, &self.x, self.u)
        };
        for (value, &reference) in values.iter_mut().zip(references) {
            *value = if reference == INPUT { self.u } else { self.equations.output(reference, t, x, u) };
        }
        Status::Ok
    }

    fn set_continuous_states(&mut self, x: &[f64]) -> Status {
        self.need(Mode::Continuous, "set_continuous_states");
        self.x.copy_from_slice(x);
        Status::Ok
    }

    fn get_continuous_states(&mut self, x: &mut [f64]) -> Status {
        x.copy_from_slice(&self.x);
        Status::Ok
    }

    fn get_derivatives(&mut self, derivatives: &mut [f64]) -> Status {
        self.need(Mode::Continuous, "get_derivatives");
        self.evaluations += 1;
        self.evaluated.0 = self.t;
        self.evaluated.1.copy_from_slice(&self.x);
        self.evaluated.2 = self.u;
        self.equations.derivatives(self.t, &self.x, self.u, derivatives);
        Status::Ok
    }

    fn get_event_indicators(&mut self, indicators: &mut [f64]) -> Status {
        self.need(Mode::Continuous, "get_event_indicators");
        self.indicator_calls += 1;
        self.equations.indicators(self.t, &self.x, indicators);
        Status::Ok
    }

    fn get_nominals(&mut self, nominals: &mut [f64]) -> Status {
        self.equations.nominals(nominals);
        Status::Ok
    }

    /// By central differences where the model stands. References of states and derivatives are their indices.
    fn directional_derivative(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
        result: &mut [f64],
    ) -> Status {
        let ahead = |by: f64| {
            let (mut x, mut f) = (self.x.clone(), vec![0.0; self.x.len()]);
            knowns.iter().zip(seed).for_each(|(&known, seed)| x[known as usize] += by * seed);
            self.equations.derivatives(self.t, &x, self.u, &mut f);
            f
        };
        let (ahead, back) = (ahead(1e-5), ahead(-1e-5));
        for (result, &unknown) in result.iter_mut().zip(unknowns) {
            *result = (ahead[unknown as usize] - back[unknown as usize]) / 2e-5;
        }
        Status::Ok
    }

    fn enter_event_mode(&mut self) -> Status {
        self.need(Mode::Continuous, "enter_event_mode");
        self.mode = Mode::Event;
        self.events.push(self.t);
        Status::Ok
    }

    fn new_discrete_states(&mut self) -> (Status, EventInfo) {
        self.need(Mode::Event, "new_discrete_states");
        let mut info = EventInfo::default();
        self.equations.event(self.t, &mut self.x, &mut info);
        (Status::Ok, info)
    }

    fn enter_continuous_time_mode(&mut self) -> Status {
        self.need(Mode::Event, "enter_continuous_time_mode");
        self.mode = Mode::Continuous;
        Status::Ok
    }

    fn completed_integrator_step(&mut self) -> (Status, StepInfo) {
        self.need(Mode::Continuous, "completed_integrator_step");
        (Status::Ok, self.equations.completed())
    }
}
