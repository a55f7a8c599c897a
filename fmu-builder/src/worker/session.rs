//! An FMU in the worker: instantiated, initialised, with its inputs, ready to be asked.
//!
//! Every failure becomes a sentence for the user; the FMU's own last messages are part of it.

use super::load::load;
use crate::ability::{Ability, Lack};
use crate::assemble::EVENT_ITERATIONS;
use crate::experiment::{Column, Experiment, Signal, Value};
use crate::inputs::InputTable;
use crate::interface::Interface;
use crate::lab::Reporter;
use crate::lab::protocol::Refusal;
use crate::system;
use fmu_runtime::component::Component;
use fmu_runtime::fmi::{EventInfo, Fmu2, Instantiation, Kind, LoadError, Log, ROOM, SavedState};
use fmu_runtime::platform;
use fmu_runtime::resources;
use fmu_runtime::status::Status;
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
    /// The FMU can save and restore its state.
    can_save: bool,
    /// An event indicator that is no number keeps its sign.
    indicators_may_be_nan: bool,
}

/// The model where a session stands.
struct Trace {
    x: Vec<f64>,
    f: Vec<f64>,
    /// The largest difference of two evaluations at the same point.
    noise: f64,
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

/// What the FMU said, as a part of a sentence: its first message of an error, which tells the cause where others follow from it, and its last ones.
pub fn said(log: &Log) -> String {
    let messages = log.messages();
    let last = &messages[messages.len().saturating_sub(3)..];
    match log.first_error().filter(|first| !last.contains(first)) {
        Some(first) => format!(". It said first: {first} | and last: {}", last.join(" | ")),
        None if last.is_empty() => String::new(),
        None => format!(". It said: {}", last.join(" | ")),
    }
}

/// Load and instantiate the Model-Exchange FMU.
pub fn instantiate(interface: &Interface, reporter: &mut Reporter) -> Result<(Fmu2, Arc<Log>), Refusal> {
    let library = platform::HOST.library(&interface.root, &interface.identifier);
    let log = Arc::new(Log::default());
    let request = Instantiation {
        kind: Kind::ModelExchange,
        name: &interface.name,
        guid: &interface.guid,
        resources: &resources::uri_from_path(&interface.root.join("resources")),
        visible: false,
        logging: false,
        witness: reporter.witness,
        inner: interface.inner.as_ref(),
    };
    let instances = reporter.count_instance();
    reporter.opening("fmi2Instantiate");
    let loaded = load(&library, &log, &request);
    if let (Err(LoadError::Instantiate), true) = (&loaded, instances > 1) {
        let seen = format!("fmi2Instantiate returned NULL the second time{}", said(&log));
        return Err(vec![Lack::new(Ability::SecondInstance, seen)].into());
    }
    let mut inner = loaded.map_err(|error| match error {
        LoadError::Instantiate => format!(
            "the FMU's fmi2Instantiate returned NULL for GUID {}{}. If the GUID of modelDescription.xml is not \
             the library's, export the FMU again; if it must ask a licence server, let it with --no-sandbox",
            interface.guid,
            said(&log)
        ),
        LoadError::Configure => format!("{error}{}; other sizes (--set) may help", said(&log)),
        LoadError::MissingSymbol(_) => {
            format!("{error}; is {} a Model-Exchange library? Export the FMU again", library.display())
        }
        LoadError::Open(_) if system::forbids_execution(&interface.root) => format!(
            "{error}; the folder {} is on a file system that is mounted noexec, from which nothing can be loaded: set TMPDIR to a folder on another one",
            interface.root.display()
        ),
        LoadError::Open(_) => format!("{error}; install what it needs on this machine, or export it self-contained"),
    })?;
    if !interface.can_be_freed {
        inner.never_free();
    }
    Ok((inner, log))
}

/// Give start values; the FMU is instantiated, not initialised.
pub fn set_start_values(inner: &mut Fmu2, experiment: &Experiment, log: &Log) -> Result<(), String> {
    for setting in &experiment.settings {
        let status = inner.set_value(setting.reference, &setting.value);
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

impl Session {
    /// Bring the FMU to Continuous-Time Mode at the experiment's start.
    pub fn open(
        interface: &Interface,
        experiment: &Experiment,
        reporter: &mut Reporter,
    ) -> Result<Session, Refusal> {
        let (mut inner, log) = instantiate(interface, reporter)?;
        // Nobody knows yet whether it keeps to them.
        inner.make_room(interface.state_names.len(), interface.indicators as usize);
        reporter.opening("fmi2SetReal");
        set_start_values(&mut inner, experiment, &log)?;
        let mut signals = Signals::of(experiment);
        reporter.opening("fmi2SetupExperiment");
        expect(
            inner.setup_experiment(interface.tolerance, experiment.start, None),
            "fmi2SetupExperiment",
            &log,
        )?;
        reporter.opening("fmi2EnterInitializationMode");
        expect(inner.enter_initialization_mode(), "fmi2EnterInitializationMode", &log)?;
        if let Some(signals) = &mut signals {
            expect(signals.apply_all(&mut inner, experiment.start), "fmi2SetReal (of an input)", &log)?;
        }
        reporter.opening("fmi2ExitInitializationMode");
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
            indicators_may_be_nan: interface.indicators_may_be_nan,
        };
        reporter.opening("fmi2NewDiscreteStates");
        session.settle()?;
        reporter.opening("fmi2GetContinuousStates");
        session.read_states()?;
        reporter.opening("fmi2GetDerivatives");
        session.check_vectors(interface)?;
        reporter.phase("fmi2GetDerivatives");
        Ok(session)
    }

    /// Whether more values were written than there should be. A little is seen and does no harm; what goes beyond the room has destroyed memory.
    pub fn check_vectors(&mut self, interface: &Interface) -> Result<(), Refusal> {
        if !self.x.is_empty() {
            // Read once, whatever it says: the exported FMU asks for both.
            let mut unused = self.x.clone();
            let _ = self.inner.get_derivatives(&mut unused);
            let _ = self.inner.get_nominals(&mut unused);
        }
        let beyond = self.inner.beyond();
        let (states, indicators) = (self.x.len(), self.z.len());
        let listed = "states that <ModelStructure> lists under <Derivatives>";
        let calls = [
            ("fmi2GetContinuousStates", states, listed, beyond.states),
            ("fmi2GetNominalsOfContinuousStates", states, listed, beyond.nominals),
            ("fmi2GetDerivatives", states, listed, beyond.derivatives),
            ("fmi2GetEventIndicators", indicators, "numberOfEventIndicators", beyond.indicators),
        ];
        let Some((call, length, what, beyond)) = calls.into_iter().find(|(.., beyond)| *beyond > 0) else {
            return Ok(());
        };
        let found = format!(
            "the FMU's {call} writes at least {} values where modelDescription.xml promises {length} ({what})",
            length + beyond
        );
        match beyond < ROOM {
            true if interface.writes_beyond => Ok(()),
            true => Err(vec![Lack::new(Ability::KeepingToItsVectors, found)].into()),
            false => {
                Err(format!("{found}; description and library do not belong together: export the FMU again")
                    .into())
            }
        }
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
            let mut z = std::mem::take(&mut self.z);
            let held = z.clone();
            let status = self.indicators(&held, &mut z);
            self.z = z;
            expect(status, "fmi2GetEventIndicators", &self.log)?;
        }
        Ok(())
    }

    /// The event indicators where the model stands. Where that is known of the FMU, one that is no number is what it was in `held`.
    pub fn indicators(&mut self, held: &[f64], z: &mut [f64]) -> Status {
        let status = self.inner.get_event_indicators(z);
        if self.indicators_may_be_nan {
            z.iter_mut().zip(held).filter(|(z, _)| z.is_nan()).for_each(|(z, held)| *z = *held);
        }
        status
    }

    /// Do something that may leave traces in the model, and restore it, if the FMU can save its state.
    pub fn aside<T>(&mut self, work: impl FnOnce(&mut Session) -> Result<T, String>) -> Result<T, Refusal> {
        if !self.can_save {
            let result = work(self)?;
            self.come_back()?;
            return Ok(result);
        }
        let before = self.trace()?;
        let mut saved = SavedState::empty();
        let status = self.inner.get_fmu_state(&mut saved);
        self.needs(status, "fmi2GetFMUstate", Ability::SavedStates)?;
        self.compare(&before, "fmi2GetFMUstate", Ability::SavedStates)?;
        let result = work(self);
        let status = self.inner.set_fmu_state(&saved);
        self.needs(status, "fmi2SetFMUstate", Ability::SavedStates)?;
        self.compare(&before, "fmi2SetFMUstate", Ability::SavedStates)?;
        let status = self.inner.free_fmu_state(&mut saved);
        self.needs(status, "fmi2FreeFMUstate", Ability::SavedStates)?;
        let result = result?;
        self.come_back()?;
        Ok(result)
    }

    /// Save, serialise, deserialise and restore the state once.
    pub fn check_serialisation(&mut self) -> Result<(), Refusal> {
        let lacks = Ability::Serialisation;
        let before = self.trace()?;
        let (mut saved, mut copy) = (SavedState::empty(), SavedState::empty());
        let status = self.inner.get_fmu_state(&mut saved);
        self.needs(status, "fmi2GetFMUstate", Ability::SavedStates)?;
        let mode = saved.mode();
        let bytes = match self.inner.serialize(&saved) {
            Ok(bytes) => bytes,
            Err(status) => return Err(self.lack(status, "fmi2SerializeFMUstate", lacks)),
        };
        let status = self.inner.deserialize(&bytes, mode, &mut copy);
        self.needs(status, "fmi2DeSerializeFMUstate", lacks.clone())?;
        let status = self.inner.set_fmu_state(&copy);
        self.needs(status, "fmi2SetFMUstate with a deserialised state", lacks.clone())?;
        self.compare(&before, "fmi2SetFMUstate with a deserialised state", lacks.clone())?;
        for state in [&mut saved, &mut copy] {
            let status = self.inner.free_fmu_state(state);
            self.needs(status, "fmi2FreeFMUstate", lacks.clone())?;
        }
        Ok(())
    }

    fn needs(&self, status: Status, call: &str, ability: Ability) -> Result<(), Refusal> {
        if status.is_usable() { Ok(()) } else { Err(self.lack(status, call, ability)) }
    }

    fn lack(&self, status: Status, call: &str, ability: Ability) -> Refusal {
        vec![Lack::new(ability, format!("{call} returned {}{}", status.name(), said(&self.log)))].into()
    }

    /// Back to the session's time and states.
    fn come_back(&mut self) -> Result<(), String> {
        let (time, x) = (self.time, self.x.clone());
        expect(self.place(time, &x, false), "fmi2SetContinuousStates", &self.log)
    }

    /// What the model says of itself where the session stands, and how far it repeats itself.
    fn trace(&mut self) -> Result<Trace, String> {
        let (time, x, n) = (self.time, self.x.clone(), self.x.len());
        let mut trace = Trace { x: vec![0.0; n], f: vec![0.0; n], noise: 0.0 };
        let mut again = vec![0.0; n];
        for f in [&mut again, &mut trace.f] {
            expect(self.derivatives(time, &x, false, f), "fmi2GetDerivatives", &self.log)?;
        }
        trace.noise = trace.f.iter().zip(&again).fold(0.0, |noise, (a, b)| f64::max(noise, (a - b).abs()));
        expect(self.inner.get_continuous_states(&mut trace.x), "fmi2GetContinuousStates", &self.log)?;
        Ok(trace)
    }

    /// The model must still be what it was.
    fn compare(&mut self, before: &Trace, call: &str, ability: Ability) -> Result<(), Refusal> {
        let (time, x, n) = (self.time, self.x.clone(), self.x.len());
        let changed = |what: String| Err(vec![Lack::new(ability, format!("{call} changed {what}"))].into());
        let mut now = vec![0.0; n];
        if !self.inner.get_continuous_states(&mut now).is_usable() {
            return changed("the model: fmi2GetContinuousStates fails after it".into());
        }
        if let Some(i) = (0..n).find(|&i| now[i].to_bits() != before.x[i].to_bits()) {
            return changed(format!("state {} from {} to {}", i + 1, before.x[i], now[i]));
        }
        if !self.derivatives(time, &x, false, &mut now).is_usable() {
            return changed("the model: fmi2GetDerivatives fails after it".into());
        }
        // Models that iterate inside come back to what they were but for their own tolerance.
        let size = before.f.iter().fold(0.0, |size, f| f64::max(size, f.abs()));
        let allowed = |f: f64| 1e-4 * f.abs() + 1e-6 * size + 100.0 * before.noise;
        let off = |i: &usize| {
            let by = (now[*i] - before.f[*i]).abs();
            before.f[*i].is_finite() && (by.is_nan() || by > allowed(before.f[*i]))
        };
        match (0..n).find(off) {
            Some(i) => changed(format!("derivative {} from {} to {}", i + 1, before.f[i], now[i])),
            None => Ok(()),
        }
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
            worst = worst.max(inner.set_value(reference, &value));
        }
        worst
    }
}
