//! The twin: the same plan over a second instance of the model, with internal steps twice as long. What it and the FMU differ by tells
//! the FMU's error (`estimate`).
//!
//! It is told all that the FMU is told: inputs, their slopes, parameters, events, resets, saved states. It answers nothing: the importer
//! gets the finer solution. **A twin that fails never fails the FMU**: it is off from there on, which the importer is told once, until
//! a reset or a restored state puts it right.

use crate::component::Component;
use crate::fault::Fault;
use crate::fmi::{Mode, SavedState};
use crate::integrator::{Changes, Division, Integrator, Live};
use crate::messages;
use crate::model::Call;
use crate::plan::{Plan, Step};
use crate::status::Status;
use crate::version::{Function, Version};
use std::fmt;

pub(super) struct Twin<C> {
    pub integrator: Integrator<C>,
    /// It is where the FMU is.
    on: bool,
    /// Why it is not, until somebody was told.
    news: Option<Loss>,
}

/// Why a twin was given up.
#[derive(Clone, Copy, Debug)]
pub(super) enum Loss {
    Call { function: Function, status: Status },
    Step(Fault),
}

impl<C: Component> Twin<C> {
    pub fn new(plan: &Plan, mut model: C) -> Result<Twin<C>, String> {
        model.forbid_calls_after_errors();
        if plan.model.writes_beyond {
            model.make_room(plan.states.names.len(), plan.events.indicators as usize);
        }
        let step = Step { h: 2.0 * plan.step.h, substeps: plan.step.substeps / 2, ..plan.step.clone() };
        let plan = Plan { step, accuracy: None, diagnostics: Vec::new(), shell: None, ..plan.clone() };
        Ok(Twin { integrator: Integrator::new(plan, model)?, on: true, news: None })
    }

    pub fn is_on(&self) -> bool {
        self.on
    }

    /// Why it was given up, once.
    pub fn news(&mut self) -> Option<(Loss, Version)> {
        self.news.take().map(|loss| (loss, self.integrator.model.version()))
    }

    fn lose(&mut self, loss: Loss) {
        if std::mem::replace(&mut self.on, false) {
            self.news = Some(loss);
        }
    }

    /// A call that must succeed for the twin to go on.
    pub fn call(&mut self, function: Function, call: impl FnOnce(&mut C) -> Status) {
        if !self.on {
            return;
        }
        let status = call(&mut self.integrator.model);
        if !status.is_usable() {
            self.lose(Loss::Call { function, status });
        }
    }

    /// After Initialization Mode.
    pub fn start(&mut self, time: f64) {
        self.call(Function::ExitInitializationMode, C::exit_initialization_mode);
        if self.on
            && let Err(fault) = self.integrator.start(time)
        {
            self.lose(Loss::Step(fault));
        }
    }

    /// Try the first step and forget it (see `Instance::rehearse`).
    pub fn rehearse(&mut self, length: f64, division: Division, times: usize) {
        // Inputs with a slope would start from values that are not there yet.
        if !self.on || self.integrator.has_slopes() {
            return;
        }
        let mut state = SavedState::empty();
        if self.integrator.model.get_fmu_state(&mut state).is_usable() {
            if let Some(begin) = self.integrator.begin_rehearsal() {
                for _ in 0..times {
                    self.integrator.rewind(&begin);
                    let _ = self.integrator.advance(length, division);
                }
                self.integrator.end_rehearsal(begin);
            }
            self.call(Function::SetFmuState, |model| model.set_fmu_state(&state));
        }
        self.free(&mut state);
    }

    /// The FMU was given new values: so is its twin. `accepted`: the FMU took them; if it did not, neither need the twin.
    pub fn set(&mut self, changes: Changes, accepted: bool, send: impl FnOnce(&mut C) -> Status) {
        if !self.on {
            return;
        }
        match self.integrator.change(changes, send) {
            Ok(status) if status.is_usable() || !accepted => {}
            Ok(status) => self.lose(Loss::Call { function: Function::Set, status }),
            Err(status) => {
                let function = Function::Integration(Call::EnterEventMode);
                self.lose(Loss::Call { function, status: messages::status_of(status) });
            }
        }
    }

    /// A communication step, with the inputs that the FMU's own began with.
    pub fn advance(&mut self, length: f64, division: Division) {
        if !self.on {
            return;
        }
        let advanced = self.integrator.advance(length, division).map(drop);
        self.integrator.forget_slopes();
        if let Err(fault) = advanced {
            self.lose(Loss::Step(fault));
        }
    }

    /// Inputs with a slope start from the same values as the FMU's.
    pub fn begin_slopes(&mut self, known: impl Fn(u32) -> Option<f64>) {
        if self.on
            && let Err(fault) = self.integrator.begin_slopes(known)
        {
            self.lose(Loss::Step(fault));
        }
    }

    pub fn reset(&mut self) {
        let status = self.integrator.model.reset();
        self.integrator.forget();
        (self.on, self.news) = (status.is_usable(), None);
    }

    /// Its state, if it is on and the model gives it.
    pub fn save(&mut self) -> Option<(SavedState, Live)> {
        let mut state = SavedState::empty();
        if self.on && self.integrator.model.get_fmu_state(&mut state).is_usable() {
            return Some((state, self.integrator.live.clone()));
        }
        self.free(&mut state);
        None
    }

    /// Back to a saved state; without one it is off.
    pub fn restore(&mut self, saved: Option<(&SavedState, &Live)>) {
        let Some((state, live)) = saved else {
            self.on = false;
            return;
        };
        let status = self.integrator.model.set_fmu_state(state);
        if !status.is_usable() {
            self.lose(Loss::Call { function: Function::SetFmuState, status });
            return;
        }
        match self.integrator.resume(live.clone()) {
            Ok(()) => (self.on, self.news) = (true, None),
            Err(fault) => self.lose(Loss::Step(fault)),
        }
    }

    pub fn free(&mut self, state: &mut SavedState) {
        let _ = self.integrator.model.free_fmu_state(state);
    }

    /// Its state as bytes, with the model's mode.
    pub fn serialize(&mut self, state: &SavedState) -> Option<(Mode, Vec<u8>)> {
        let bytes = self.integrator.model.serialize(state).ok()?;
        Some((state.mode(), bytes))
    }

    pub fn deserialize(&mut self, mode: Mode, bytes: &[u8]) -> Option<SavedState> {
        let mut state = SavedState::empty();
        if self.integrator.model.deserialize(bytes, mode, &mut state).is_usable() {
            return Some(state);
        }
        self.free(&mut state);
        None
    }
}

impl Loss {
    /// Why, in the words of the model's version of FMI.
    pub fn explain(self, version: Version) -> impl fmt::Display {
        Explained { loss: self, version }
    }
}

struct Explained {
    loss: Loss,
    version: Version,
}

impl fmt::Display for Explained {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.loss {
            Loss::Call { function, status } => {
                write!(f, "its {} returned {}", self.version.name(function), self.version.status(status))
            }
            Loss::Step(Fault::Model { call, .. }) => {
                write!(f, "its {} did not succeed", self.version.name(Function::Integration(call)))
            }
            Loss::Step(Fault::Terminated { .. }) => write!(f, "the model ended the simulation there"),
            Loss::Step(_) => write!(f, "its step, twice as long, does not get through"),
        }
    }
}
