//! An FMU in the worker: instantiated, initialised, with its inputs, ready to be asked.
//!
//! Every failure becomes a sentence for the user; the FMU's own last messages are part of it.

use super::guard::check_buffers;
use super::load::load;
use crate::assemble::EVENT_ITERATIONS;
use crate::experiment::{Column, Experiment, Signal, Value};
use crate::inputs::InputTable;
use crate::interface::Interface;
use crate::lab::Reporter;
use fmu_runtime::fmi::{EventInfo, Fmu2, Instantiation, Kind, LoadError, Log, SavedState};
use fmu_runtime::platform;
use fmu_runtime::resources;
use fmu_runtime::status::Status;
use std::ffi::CString;
use std::sync::Arc;

pub struct Session {
    pub inner: Fmu2,
    pub log: Arc<Log>,
    pub signals: Option<Signals>,
    pub time: f64,
    /// Inputs jump at `time`, and the jump is not taken yet: their values before it count. An importer sets inputs after the step that ends there.
    pub jump_due: bool,
    pub x: Vec<f64>,
    pub z: Vec<f64>,
    pub next_event: f64,
    completed_step_needed: bool,
    /// The FMU can save and restore its state; false from the first failure on.
    can_save: bool,
}

/// The inputs of a run, bound to the FMU's inputs.
pub struct Signals {
    table: InputTable,
    continuous: Vec<(u32, usize)>,
    held: Vec<(Column, usize)>,
    /// Where inputs jump, ascending.
    pub events: Vec<f64>,
    /// Where held ones among them change: these are events of the model too.
    pub changes: Vec<f64>,
    references: Vec<u32>,
    values: Vec<f64>,
}

/// A call that must succeed.
pub fn expect(status: Status, call: &str, log: &Log) -> Result<(), String> {
    if status.is_usable() {
        return Ok(());
    }
    Err(format!("the FMU's {call} returned {}{}", status.name(), said(log)))
}

/// What the FMU said last, as a part of a sentence.
pub fn said(log: &Log) -> String {
    let messages = log.messages();
    if messages.is_empty() {
        return String::new();
    }
    let last = &messages[messages.len().saturating_sub(3)..];
    format!(". It said: {}", last.join(" | "))
}

/// Load and instantiate the Model-Exchange FMU.
pub fn instantiate(interface: &Interface, reporter: &mut Reporter) -> Result<(Fmu2, Arc<Log>), String> {
    let library = platform::HOST.library(&interface.root, &interface.identifier);
    let log = Arc::new(Log::default());
    let request = Instantiation {
        kind: Kind::ModelExchange,
        name: &interface.name,
        guid: &interface.guid,
        resources: &resources::uri_from_path(&interface.root.join("resources")),
        visible: false,
        logging: false,
    };
    reporter.phase("fmi2Instantiate");
    let inner = load(&library, &log, &request).map_err(|error| match error {
        LoadError::Instantiate => format!(
            "the FMU's fmi2Instantiate returned NULL for GUID {}{}. If the GUID of modelDescription.xml is not \
             the library's, export the FMU again; if it must ask a licence server, let it with --no-sandbox",
            interface.guid,
            said(&log)
        ),
        LoadError::MissingSymbol(_) => {
            format!("{error}; is {} a Model-Exchange library? Export the FMU again", library.display())
        }
        LoadError::Open(_) => format!("{error}; install what it needs on this machine, or export it self-contained"),
    })?;
    Ok((inner, log))
}

/// Give start values; the FMU is instantiated, not initialised.
pub fn set_start_values(inner: &mut Fmu2, experiment: &Experiment, log: &Log) -> Result<(), String> {
    for setting in &experiment.settings {
        let status = set(inner, setting.reference, &setting.value);
        if !status.is_usable() {
            return Err(format!(
                "the FMU refused {} = {:?} with {}{}",
                setting.name,
                setting.value,
                status.name(),
                said(log)
            ));
        }
    }
    Ok(())
}

fn set(inner: &mut Fmu2, reference: u32, value: &Value) -> Status {
    match value {
        Value::Real(value) => inner.set_real(&[reference], &[*value]),
        Value::Integer(value) => inner.set_integer(&[reference], &[*value]),
        Value::Boolean(value) => inner.set_boolean(&[reference], &[*value as i32]),
        Value::Text(value) => {
            let text = CString::new(value.replace('\0', "")).unwrap_or_default();
            inner.set_string(&[reference], &[&text])
        }
    }
}

impl Session {
    /// Bring the FMU to Continuous-Time Mode at the experiment's start.
    pub fn open(
        interface: &Interface,
        experiment: &Experiment,
        reporter: &mut Reporter,
    ) -> Result<Session, String> {
        let (mut inner, log) = instantiate(interface, reporter)?;
        reporter.phase("fmi2SetReal");
        set_start_values(&mut inner, experiment, &log)?;
        let mut signals = Signals::of(experiment);
        reporter.phase("fmi2SetupExperiment");
        expect(
            inner.setup_experiment(interface.tolerance, experiment.start, None),
            "fmi2SetupExperiment",
            &log,
        )?;
        reporter.phase("fmi2EnterInitializationMode");
        expect(inner.enter_initialization_mode(), "fmi2EnterInitializationMode", &log)?;
        if let Some(signals) = &mut signals {
            expect(signals.apply_all(&mut inner, experiment.start), "fmi2SetReal (of an input)", &log)?;
        }
        reporter.phase("fmi2ExitInitializationMode");
        expect(inner.exit_initialization_mode(), "fmi2ExitInitializationMode", &log)?;
        let mut session = Session {
            inner,
            log,
            signals,
            time: experiment.start,
            jump_due: false,
            x: vec![0.0; interface.state_names.len()],
            z: vec![0.0; interface.indicators as usize],
            next_event: f64::INFINITY,
            completed_step_needed: interface.completed_step_needed,
            can_save: interface.can_get_and_set_state,
        };
        reporter.phase("fmi2NewDiscreteStates");
        session.settle()?;
        reporter.phase("fmi2GetContinuousStates");
        check_buffers(&mut session)?;
        session.read_states()?;
        reporter.phase("fmi2GetDerivatives");
        Ok(session)
    }

    /// Handle an event at the session's time, with the inputs of that time.
    pub fn event(&mut self) -> Result<(), String> {
        expect(self.inner.enter_event_mode(), "fmi2EnterEventMode", &self.log)?;
        if let Some(signals) = &mut self.signals {
            // Before a jump the held ones are what they were.
            let status = match self.jump_due {
                true => signals.apply_continuous(&mut self.inner, self.time, true),
                false => signals.apply_all(&mut self.inner, self.time),
            };
            expect(status, "fmi2SetReal (of an input)", &self.log)?;
        }
        self.settle()?;
        self.read_states()
    }

    fn settle(&mut self) -> Result<(), String> {
        let mut info = EventInfo::default();
        for _ in 0..=EVENT_ITERATIONS {
            expect(self.inner.new_discrete_states(&mut info), "fmi2NewDiscreteStates", &self.log)?;
            if info.terminate() {
                return Err(format!("the FMU ended the simulation at t = {}{}", self.time, said(&self.log)));
            }
            if !info.another_iteration_needed() {
                expect(self.inner.enter_continuous_time_mode(), "fmi2EnterContinuousTimeMode", &self.log)?;
                self.next_event = info.next_event_time().unwrap_or(f64::INFINITY);
                return Ok(());
            }
        }
        Err(format!(
            "the event at t = {} did not settle within {} calls of fmi2NewDiscreteStates{}",
            self.time,
            EVENT_ITERATIONS,
            said(&self.log)
        ))
    }

    fn read_states(&mut self) -> Result<(), String> {
        if !self.x.is_empty() {
            expect(self.inner.get_continuous_states(&mut self.x), "fmi2GetContinuousStates", &self.log)?;
        }
        if !self.z.is_empty() {
            expect(self.inner.get_event_indicators(&mut self.z), "fmi2GetEventIndicators", &self.log)?;
        }
        Ok(())
    }

    /// Do something that may leave traces in the model, and restore it, if the FMU can save its state.
    pub fn aside<T>(&mut self, work: impl FnOnce(&mut Session) -> Result<T, String>) -> Result<T, String> {
        let mut saved = SavedState::empty();
        self.can_save = self.can_save && self.inner.get_fmu_state(&mut saved).is_usable();
        let result = work(self);
        if self.can_save {
            self.can_save = self.inner.set_fmu_state(&saved).is_usable();
        }
        let _ = self.inner.free_fmu_state(&mut saved);
        if result.is_ok() {
            let (time, x) = (self.time, self.x.clone());
            expect(self.place(time, &x, false), "fmi2SetContinuousStates", &self.log)?;
        }
        result
    }

    /// The state can be saved and restored.
    pub fn can_save(&self) -> bool {
        self.can_save
    }

    /// Put the FMU at (t, x) with the inputs of t; `before` takes the value before a jump at t.
    pub fn place(&mut self, time: f64, x: &[f64], before: bool) -> Status {
        let before = before || self.jump_due && time == self.time;
        let mut status = self.inner.set_time(time);
        if let (true, Some(signals)) = (status.is_usable(), &mut self.signals) {
            status = signals.apply_continuous(&mut self.inner, time, before);
        }
        if status.is_usable() && !x.is_empty() {
            status = self.inner.set_continuous_states(x);
        }
        status
    }

    /// f(t, x); an unusable status is the model's word that it is not defined there.
    pub fn derivatives(&mut self, time: f64, x: &[f64], before: bool, f: &mut [f64]) -> Status {
        let status = self.place(time, x, before);
        if status.is_usable() && !x.is_empty() { self.inner.get_derivatives(f) } else { status }
    }

    /// The step to (t, x) is complete; true if the model asks for an event.
    pub fn completed_step(&mut self) -> Result<bool, String> {
        if !self.completed_step_needed {
            return Ok(false);
        }
        let (status, event, terminate) = self.inner.completed_integrator_step();
        expect(status, "fmi2CompletedIntegratorStep", &self.log)?;
        if terminate {
            return Err(format!("the FMU ended the simulation at t = {}{}", self.time, said(&self.log)));
        }
        Ok(event)
    }
}

impl Signals {
    /// The signals of a run, if it has any.
    pub fn of(experiment: &Experiment) -> Option<Signals> {
        let table = experiment.inputs.clone()?;
        let (mut continuous, mut held) = (Vec::new(), Vec::new());
        for column in &experiment.columns {
            let Some(index) = table.column(&column.name) else { continue };
            if column.signal == Signal::Continuous {
                continuous.push((column.reference, index));
            } else {
                held.push((column.clone(), index));
            }
        }
        let held_columns: Vec<usize> = held.iter().map(|(_, index)| *index).collect();
        Some(Signals {
            events: table.event_times(&held_columns),
            changes: table.change_times(&held_columns),
            references: continuous.iter().map(|(reference, _)| *reference).collect(),
            values: vec![0.0; continuous.len()],
            table,
            continuous,
            held,
        })
    }

    /// Continuous inputs at `time`.
    pub fn continuous_at(&mut self, time: f64, before: bool) -> (&[u32], &[f64]) {
        for (value, &(_, column)) in self.values.iter_mut().zip(&self.continuous) {
            *value = if before {
                self.table.value_before(column, time)
            } else {
                self.table.value_continuous(column, time)
            };
        }
        (&self.references, &self.values)
    }

    /// Held inputs at `time`.
    pub fn held_at(&self, time: f64) -> impl Iterator<Item = (u32, Value)> + '_ {
        self.held.iter().map(move |(column, index)| {
            let value = match column.signal {
                Signal::Text => Value::Text(self.table.text_held(*index, time)),
                Signal::Integer => Value::Integer(self.table.value_held(*index, time) as i32),
                Signal::Boolean => Value::Boolean(self.table.value_held(*index, time) != 0.0),
                Signal::Real | Signal::Continuous => Value::Real(self.table.value_held(*index, time)),
            };
            (column.reference, value)
        })
    }

    fn apply_continuous(&mut self, inner: &mut Fmu2, time: f64, before: bool) -> Status {
        if self.continuous.is_empty() {
            return Status::Ok;
        }
        let (references, values) = self.continuous_at(time, before);
        inner.set_real(references, values)
    }

    /// All inputs: only in Initialization and Event Mode.
    fn apply_all(&mut self, inner: &mut Fmu2, time: f64) -> Status {
        let mut worst = self.apply_continuous(inner, time, false);
        for (reference, value) in self.held_at(time) {
            worst = worst.max(set(inner, reference, &value));
        }
        worst
    }
}
