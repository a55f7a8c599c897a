//! The life cycle of one instance: which call is legal when, and what it does.
//!
//! After FMI 2.0.4, section 3.2.3 (state machine of calling sequences). A refused call returns
//! why, changes nothing and leaves the instance usable: stricter importers may give up, tests
//! need not. Nothing in the calls of the integration loop allocates, locks or formats, unless it
//! fails.

use crate::Reference;
use crate::dual::Dual;
use crate::model::{Event, Model, Oddity, Values};
use crate::models::broken::Fault;
use crate::models::counting::COUNTED;
use crate::xml::{Description, Type, Variable};
use std::collections::BTreeSet;
use std::ffi::CString;
use std::io::Write;
use std::sync::Mutex;

/// `Err` says why a call was refused.
pub type Outcome<T = ()> = Result<T, String>;

pub struct Instance {
    model: Box<dyn Model>,
    oddity: Oddity,
    states: usize,
    has_state: bool,
    v: Values,
    start: Values,
    mode: u8,
    /// Derivatives and outputs do not yet follow what was set.
    stale: bool,
    /// The event iteration is not finished.
    iterating: bool,
    /// What may be done with a variable, by type and value reference; see the constants below.
    rights: [Vec<u8>; 4],
    nominals: Vec<f64>,
    /// For directional derivatives; empty if there are none.
    dual: Vec<Dual>,
    /// What fmi2GetString handed out.
    strings: Vec<CString>,
    only_once: Option<String>,
}

/// A copy of everything that an instance can change.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    values: Values,
    mode: u8,
    iterating: bool,
}

// Modes, one bit each, so that a table of rights can name several.
const INSTANTIATED: u8 = 1;
const INITIALIZATION: u8 = 2;
const EVENT: u8 = 4;
const CONTINUOUS: u8 = 8;
const TERMINATED: u8 = 16;
const ANY: u8 = 31;
const INITIALIZED: u8 = INITIALIZATION | EVENT | CONTINUOUS | TERMINATED;
// Further rights of a variable: the modes say when it may be set.
const KNOWN: u8 = 32;
const UNKNOWN: u8 = 64;
const DECLARED: u8 = 128;

/// Models of which an instance is alive, where only one is allowed.
static ALIVE: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

impl Instance {
    pub fn new(guid: &str) -> Outcome<Instance> {
        let Some(reference) = Reference::by_guid(guid) else {
            return Err(format!("the GUID {guid} belongs to no model of this library"));
        };
        let model = reference.model();
        if model.oddity() == Oddity::RefusesToStart {
            return Err("the model refuses to be instantiated".into());
        }
        let description = Description::read(&reference.xml());
        let only_once = match description.only_once {
            true => Some(claim(reference.name())?),
            false => None,
        };
        let start = start_values(&description);
        let dual = if description.directional { start.real.len() } else { 0 };
        let nominal = match model.oddity() {
            Oddity::Broken(Fault::NanNominal) => Some(f64::NAN),
            Oddity::Broken(Fault::InfiniteNominal) => Some(f64::INFINITY),
            _ => None,
        };
        let nominals = description.variables.iter().filter(|v| is_state(&description, v));
        Ok(Instance {
            oddity: model.oddity(),
            states: model.states(),
            has_state: description.has_state,
            v: start.clone(),
            mode: INSTANTIATED,
            stale: true,
            iterating: false,
            rights: rights(&description),
            nominals: nominals.map(|v| nominal.or(v.nominal).unwrap_or(1.0)).collect(),
            dual: vec![Dual::default(); dual],
            strings: vec![CString::default(); start.string.len()],
            start,
            only_once,
            model,
        })
    }

    pub fn oddity(&self) -> Oddity {
        self.oddity
    }

    /// The model's oddity, and whether it is time for it.
    pub fn breaks_now(&self) -> (Oddity, bool) {
        (self.oddity, self.v.time() >= crate::models::broken::TIME)
    }

    /// Count or print a call, if the model is an instrument.
    #[cold]
    pub fn observe(&mut self, function: &str) {
        match self.oddity {
            Oddity::Counts => {
                let name = function.trim_start_matches("fmi2");
                let at = COUNTED.iter().position(|counted| *counted == name);
                if let Some(count) = at.and_then(|at| self.v.integer.get_mut(at)) {
                    *count += 1;
                }
            }
            // Unlike println!, no panic if nobody listens.
            Oddity::Prints => drop(writeln!(std::io::stdout(), "{function}")),
            _ => {}
        }
    }

    // Before the simulation

    pub fn setup_experiment(&mut self, start: f64) -> Outcome {
        self.require(INSTANTIATED)?;
        self.v.real[0] = start;
        Ok(())
    }

    pub fn enter_initialization(&mut self) -> Outcome {
        self.require(INSTANTIATED)?;
        self.mode = INITIALIZATION;
        self.stale = true;
        Ok(())
    }

    pub fn exit_initialization(&mut self) -> Outcome {
        self.require(INITIALIZATION)?;
        self.refresh()?;
        self.mode = EVENT;
        self.iterating = true;
        Ok(())
    }

    pub fn terminate(&mut self) -> Outcome {
        self.require(EVENT | CONTINUOUS)?;
        self.refresh()?;
        self.mode = TERMINATED;
        Ok(())
    }

    pub fn reset(&mut self) {
        self.v.clone_from(&self.start);
        self.mode = INSTANTIATED;
        self.stale = true;
        self.iterating = false;
    }

    // Variables

    pub fn get_real(&mut self, references: &[u32], values: &mut [f64]) -> Outcome {
        self.require(INITIALIZED)?;
        self.refresh()?;
        for (&reference, value) in references.iter().zip(values) {
            self.declared(Type::Real, reference)?;
            *value = self.v.real[reference as usize];
        }
        Ok(())
    }

    pub fn get_integer(&mut self, references: &[u32], values: &mut [i32]) -> Outcome {
        self.require(INITIALIZED)?;
        self.refresh()?;
        for (&reference, value) in references.iter().zip(values) {
            self.declared(Type::Integer, reference)?;
            *value = self.v.integer[reference as usize];
        }
        Ok(())
    }

    pub fn get_boolean(&mut self, references: &[u32], values: &mut [i32]) -> Outcome {
        self.require(INITIALIZED)?;
        self.refresh()?;
        for (&reference, value) in references.iter().zip(values) {
            self.declared(Type::Boolean, reference)?;
            *value = self.v.boolean[reference as usize].into();
        }
        Ok(())
    }

    /// The string stays valid until the next call that reads strings.
    pub fn get_string(&mut self, reference: u32) -> Outcome<&CString> {
        self.require(INITIALIZED)?;
        self.refresh()?;
        self.declared(Type::String, reference)?;
        let at = reference as usize;
        // No NUL inside: the strings came from C or from XML.
        self.strings[at] = CString::new(self.v.string[at].as_str()).unwrap_or_default();
        Ok(&self.strings[at])
    }

    pub fn set_real(&mut self, references: &[u32], values: &[f64]) -> Outcome {
        let known = self.remembered();
        self.settable(Type::Real, references)?;
        let mut same = true;
        for (&reference, &value) in references.iter().zip(values) {
            same &= self.v.real[reference as usize] == value;
            self.v.real[reference as usize] = value;
        }
        self.stale = !(known && same);
        Ok(())
    }

    pub fn set_integer(&mut self, references: &[u32], values: &[i32]) -> Outcome {
        self.settable(Type::Integer, references)?;
        for (&reference, &value) in references.iter().zip(values) {
            self.v.integer[reference as usize] = value;
        }
        Ok(())
    }

    pub fn set_boolean(&mut self, references: &[u32], values: &[i32]) -> Outcome {
        self.settable(Type::Boolean, references)?;
        for (&reference, &value) in references.iter().zip(values) {
            self.v.boolean[reference as usize] = value != 0;
        }
        Ok(())
    }

    pub fn set_string(&mut self, references: &[u32], values: Vec<String>) -> Outcome {
        self.settable(Type::String, references)?;
        for (&reference, value) in references.iter().zip(values) {
            self.v.string[reference as usize] = value;
        }
        Ok(())
    }

    // Model Exchange

    pub fn set_time(&mut self, time: f64) -> Outcome {
        self.require(EVENT | CONTINUOUS)?;
        self.stale = !(self.remembered() && self.v.real[0] == time);
        self.v.real[0] = time;
        Ok(())
    }

    pub fn set_continuous_states(&mut self, x: &[f64]) -> Outcome {
        self.require(CONTINUOUS)?;
        self.sized(x.len(), self.states, "states")?;
        self.stale = !(self.remembered() && self.v.real[1..=self.states] == *x);
        self.v.real[1..=self.states].copy_from_slice(x);
        Ok(())
    }

    pub fn get_derivatives(&mut self, dx: &mut [f64]) -> Outcome {
        self.require(INITIALIZED)?;
        self.sized(dx.len(), self.states, "states")?;
        self.refresh()?;
        dx.copy_from_slice(&self.v.real[1 + self.states..=2 * self.states]);
        Ok(())
    }

    pub fn get_continuous_states(&mut self, x: &mut [f64]) -> Outcome {
        self.require(INITIALIZED)?;
        self.sized(x.len(), self.states, "states")?;
        if self.mode == INITIALIZATION {
            self.refresh()?;
        }
        x.copy_from_slice(&self.v.real[1..=self.states]);
        Ok(())
    }

    pub fn get_nominals(&self, nominals: &mut [f64]) -> Outcome {
        self.sized(nominals.len(), self.states, "states")?;
        nominals.copy_from_slice(&self.nominals);
        Ok(())
    }

    pub fn get_event_indicators(&mut self, z: &mut [f64]) -> Outcome {
        self.require(INITIALIZED)?;
        self.sized(z.len(), self.model.indicators(), "event indicators")?;
        // Indicators are functions of states, parameters and discrete values: no evaluation needed.
        if self.mode == INITIALIZATION {
            self.refresh()?;
        }
        self.model.event_indicators(&self.v, z);
        Ok(())
    }

    pub fn enter_event_mode(&mut self) -> Outcome {
        self.require(EVENT | CONTINUOUS)?;
        self.mode = EVENT;
        Ok(())
    }

    pub fn new_discrete_states(&mut self) -> Outcome<Event> {
        self.require(EVENT)?;
        self.refresh()?;
        let event = self.model.event(&mut self.v);
        self.stale = true;
        self.iterating = event.again;
        Ok(event)
    }

    pub fn enter_continuous_time_mode(&mut self) -> Outcome {
        self.require(EVENT)?;
        if self.iterating {
            return Err("the event iteration is not finished; call fmi2NewDiscreteStates until \
                        newDiscreteStatesNeeded is false"
                .into());
        }
        self.mode = CONTINUOUS;
        Ok(())
    }

    pub fn completed_integrator_step(&mut self) -> Outcome {
        self.require(CONTINUOUS)
    }

    /// ∂unknowns/∂knowns times seed, exactly, by evaluating on dual numbers.
    pub fn directional_derivative(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
        result: &mut [f64],
    ) -> Outcome {
        if self.dual.is_empty() {
            return Err("this model provides no directional derivatives".into());
        }
        self.require(INITIALIZED)?;
        self.refresh()?;
        let table = &self.rights[Type::Real as usize];
        let has =
            |reference: u32, right| table.get(reference as usize).is_some_and(|rights| rights & right != 0);
        if let Some(bad) = knowns.iter().find(|&&reference| !has(reference, KNOWN)) {
            return Err(format!("value reference {bad} is neither a state nor a continuous input"));
        }
        if let Some(bad) = unknowns.iter().find(|&&reference| !has(reference, UNKNOWN)) {
            return Err(format!("value reference {bad} is neither a derivative nor a continuous output"));
        }
        for (dual, &value) in self.dual.iter_mut().zip(&self.v.real) {
            *dual = Dual { value, derivative: 0.0 };
        }
        for (&known, &seed) in knowns.iter().zip(seed) {
            self.dual[known as usize].derivative = seed;
        }
        self.model.evaluate_dual(&mut self.dual);
        for (&unknown, result) in unknowns.iter().zip(result) {
            *result = self.dual[unknown as usize].derivative;
        }
        Ok(())
    }

    // FMU state

    pub fn snapshot(&self) -> Outcome<Snapshot> {
        if !self.has_state {
            return Err("this model cannot get and set its state (canGetAndSetFMUstate)".into());
        }
        Ok(Snapshot { values: self.v.clone(), mode: self.mode, iterating: self.iterating })
    }

    pub fn restore(&mut self, snapshot: &Snapshot) -> Outcome {
        let (old, new) = (&self.v, &snapshot.values);
        if old.real.len() != new.real.len()
            || old.integer.len() != new.integer.len()
            || old.boolean.len() != new.boolean.len()
            || old.string.len() != new.string.len()
        {
            return Err("the state belongs to another model".into());
        }
        self.v.clone_from(&snapshot.values);
        (self.mode, self.iterating, self.stale) = (snapshot.mode, snapshot.iterating, true);
        Ok(())
    }

    /// The model that changes in this function does so.
    pub fn be_changed_by(&mut self, function: &str) {
        if matches!(self.oddity, Oddity::Broken(Fault::ChangesIn(there)) if there == function) {
            self.v.real[1] *= 0.5;
            self.stale = true;
        }
    }

    // Help

    /// Legal in these modes only.
    fn require(&self, modes: u8) -> Outcome {
        if self.mode & modes != 0 { Ok(()) } else { Err(self.out_of_order(modes)) }
    }

    #[cold]
    fn out_of_order(&self, modes: u8) -> String {
        let legal: Vec<_> =
            (0..5).map(|bit| 1 << bit).filter(|bit| bit & modes != 0).map(mode_name).collect();
        format!("not allowed in {}, only in {}", mode_name(self.mode), legal.join(", "))
    }

    fn sized(&self, found: usize, expected: usize, what: &str) -> Outcome {
        match found == expected {
            true => Ok(()),
            false => Err(format!("the model has {expected} {what}, the call is for {found}")),
        }
    }

    /// Bring derivatives and outputs up to date; during initialization also what it calculates.
    fn refresh(&mut self) -> Outcome {
        if self.stale {
            if self.mode == INITIALIZATION {
                self.model.initialize(&mut self.v)?;
            }
            self.model.evaluate(&mut self.v);
            self.stale = false;
            if self.oddity == Oddity::Counts {
                self.observe("Evaluations");
            }
        }
        Ok(())
    }

    /// Derivatives and outputs follow what was set, and are kept until that changes.
    fn remembered(&self) -> bool {
        self.oddity == Oddity::Remembers && !self.stale
    }

    fn declared(&self, kind: Type, reference: u32) -> Outcome {
        match self.rights[kind as usize].get(reference as usize) {
            Some(rights) if rights & DECLARED != 0 => Ok(()),
            _ => Err(format!("there is no {kind:?} with value reference {reference}")),
        }
    }

    /// All may be set now; if so, outputs have to follow.
    fn settable(&mut self, kind: Type, references: &[u32]) -> Outcome {
        self.require(ANY & !TERMINATED)?;
        for &reference in references {
            let rights = self.rights[kind as usize].get(reference as usize);
            if rights.is_none_or(|rights| rights & self.mode == 0) {
                self.declared(kind, reference)?;
                return Err(format!(
                    "the {kind:?} with value reference {reference} cannot be set in {}",
                    mode_name(self.mode)
                ));
            }
        }
        self.stale = true;
        Ok(())
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Some(name) = &self.only_once {
            ALIVE.lock().unwrap_or_else(|poisoned| poisoned.into_inner()).remove(name);
        }
    }
}

impl Snapshot {
    /// Little-endian: mode, iterating, four lengths, then the values; strings with their lengths.
    pub fn to_bytes(&self) -> Vec<u8> {
        let v = &self.values;
        let mut bytes = vec![self.mode, self.iterating.into()];
        for length in [v.real.len(), v.integer.len(), v.boolean.len(), v.string.len()] {
            bytes.extend((length as u64).to_le_bytes());
        }
        v.real.iter().for_each(|real| bytes.extend(real.to_le_bytes()));
        v.integer.iter().for_each(|integer| bytes.extend(integer.to_le_bytes()));
        bytes.extend(v.boolean.iter().map(|&boolean| u8::from(boolean)));
        for string in &v.string {
            bytes.extend((string.len() as u64).to_le_bytes());
            bytes.extend(string.as_bytes());
        }
        bytes
    }

    /// `None` if the bytes are not from [`Snapshot::to_bytes`].
    pub fn from_bytes(mut bytes: &[u8]) -> Option<Snapshot> {
        let [mode, iterating] = *take(&mut bytes)?;
        let mut length = || Some(u64::from_le_bytes(*take(&mut bytes)?) as usize);
        let (reals, integers, booleans, strings) = (length()?, length()?, length()?, length()?);
        let mut values = Values::default();
        for _ in 0..reals {
            values.real.push(f64::from_le_bytes(*take(&mut bytes)?));
        }
        for _ in 0..integers {
            values.integer.push(i32::from_le_bytes(*take(&mut bytes)?));
        }
        for _ in 0..booleans {
            let [boolean] = *take(&mut bytes)?;
            values.boolean.push(boolean != 0);
        }
        for _ in 0..strings {
            let length = u64::from_le_bytes(*take(&mut bytes)?) as usize;
            let (text, rest) = bytes.split_at_checked(length)?;
            values.string.push(std::str::from_utf8(text).ok()?.to_owned());
            bytes = rest;
        }
        let legal = mode.is_power_of_two() && mode & ANY != 0 && bytes.is_empty();
        legal.then_some(Snapshot { values, mode, iterating: iterating != 0 })
    }
}

fn take<'a, const N: usize>(bytes: &mut &'a [u8]) -> Option<&'a [u8; N]> {
    let (first, rest) = bytes.split_first_chunk()?;
    *bytes = rest;
    Some(first)
}

fn mode_name(mode: u8) -> &'static str {
    match mode {
        INSTANTIATED => "the instantiated state",
        INITIALIZATION => "Initialization Mode",
        EVENT => "Event Mode",
        CONTINUOUS => "Continuous-Time Mode",
        _ => "the terminated state",
    }
}

/// Take the only place there is for a model.
fn claim(name: &str) -> Outcome<String> {
    let mut alive = ALIVE.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
    match alive.insert(name.to_owned()) {
        true => Ok(name.to_owned()),
        false => {
            Err(format!("{name} can be instantiated only once per process; free the other instance first"))
        }
    }
}

fn start_values(description: &Description) -> Values {
    let mut values = Values {
        real: vec![0.0; description.count(Type::Real).max(1)],
        integer: vec![0; description.count(Type::Integer)],
        boolean: vec![false; description.count(Type::Boolean)],
        string: vec![String::new(); description.count(Type::String)],
    };
    values.real[0] = description.start_time;
    for variable in &description.variables {
        let (Some(start), at) = (&variable.start, variable.reference) else { continue };
        match variable.kind {
            Type::Real => values.real[at] = start.parse().unwrap_or(f64::NAN),
            Type::Integer => values.integer[at] = start.parse().unwrap_or(i32::MIN),
            Type::Boolean => values.boolean[at] = start == "true",
            Type::String => values.string[at].clone_from(start),
        }
    }
    values
}

fn is_state(description: &Description, variable: &Variable) -> bool {
    variable.kind == Type::Real && (1..=description.derivatives.len()).contains(&variable.reference)
}

/// When each variable may be set (FMI 2.0.4, table of section 3.2.3), and its part in directional
/// derivatives.
fn rights(description: &Description) -> [Vec<u8>; 4] {
    let kinds = [Type::Real, Type::Integer, Type::Boolean, Type::String];
    let mut rights = kinds.map(|kind| vec![0; description.count(kind)]);
    for variable in &description.variables {
        let initial = variable.initial.as_deref();
        let continuous = variable.variability == "continuous";
        let mut right = DECLARED;
        match variable.causality.as_str() {
            "input" if continuous => right |= ANY & !TERMINATED | KNOWN,
            "input" => right |= INSTANTIATED | INITIALIZATION | EVENT,
            "output" if continuous => right |= UNKNOWN,
            "parameter" if variable.variability == "tunable" => right |= EVENT,
            _ => {}
        }
        match initial {
            Some("exact") => right |= INSTANTIATED | INITIALIZATION,
            Some("approx") => right |= INSTANTIATED,
            _ => {}
        }
        if is_state(description, variable) {
            right |= KNOWN;
        }
        if variable.derivative.is_some() {
            right |= UNKNOWN;
        }
        rights[variable.kind as usize][variable.reference] = right;
    }
    rights
}
