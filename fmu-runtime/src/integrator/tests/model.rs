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
}

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
            x,
            u: 0.0,
            evaluations: 0,
            indicator_calls: 0,
            events: vec![],
        }
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
        for (value, &reference) in values.iter_mut().zip(references) {
            *value = self.x[reference as usize];
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
        nominals.fill(1.0);
        Status::Ok
    }

    fn directional_derivative(&mut self, _: &[u32], _: &[u32], _: &[f64], _: &mut [f64]) -> Status {
        Status::Error
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
        (Status::Ok, StepInfo::default())
    }
}
