//! An FMI 2.0 FMU as its importer calls it, for Model Exchange and for Co-Simulation.
//!
//! Every pointer that crosses is made here from a slice, and every function pointer was found in the library that is
//! kept open beside it.
//!
//! **A Model-Exchange FMU sees only legal calls.** [`Fmu2`] knows in which state of FMI's machine the FMU is (2.0.4,
//! section 3.2.3) and answers a call that is not legal there with `fmi2Error` itself. After `fmi2Error` only reading,
//! saved states, `fmi2Reset` and freeing are left; after `fmi2Fatal` nothing is, not even freeing: the instance and its
//! library stay in memory.
//!
//! **Nothing is asked for nothing.** A call for no values at all is not made: there are models that answer fmi2GetDerivatives of no states with an error that
//! lasts, and models that write a value all the same.
#![allow(unsafe_code)]

use super::loader::{self, Component, Functions, Library};
use super::room::{Beyond, Room, Vector};
use super::witness::{Witness, number};
use super::{Callbacks, EventInfo, Host, Instantiation, Kind, LoadError, Log, fmi3, logger};
use crate::status::Status;
use crate::version::Version;
use serde::{Deserialize, Serialize};
use std::ffi::{CStr, CString, c_char, c_void};
use std::mem::ManuallyDrop;
use std::path::Path;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An instance of a foreign FMU, freed on drop.
pub struct Fmu2 {
    functions: Functions,
    component: Component,
    mode: Mode,
    /// It goes on after `fmi2Error`, as most tools can: for studying, where every answer is checked.
    tolerant: bool,
    /// Tells this instance's saved states from those of others.
    identity: u64,
    /// The foreign code keeps a pointer to these: they must not move.
    callbacks: Box<Callbacks>,
    log: Option<Arc<Log>>,
    library: ManuallyDrop<Library>,
    witness: Witness,
    /// It ends its process when it is freed: it stays.
    stays: bool,
    /// For an FMU that writes more values than it should.
    room: Option<Box<Room>>,
    /// The model's own, whatever functions it is called by.
    version: Version,
}

/// Where a Model-Exchange FMU is in FMI's state machine. One bit each, so that a call can name several.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u16)]
pub enum Mode {
    Instantiated = 1,
    Initialization = 2,
    Event = 4,
    ContinuousTime = 8,
    Terminated = 16,
    /// After `fmi2Error`.
    Error = 32,
    /// Likewise, before there was anything to read.
    ErrorAtStart = 64,
    /// After `fmi2Fatal`.
    Fatal = 128,
    /// A Co-Simulation FMU checks its calls itself.
    CoSimulation = 256,
}

// Which calls are legal where, in the words of the standard's table.
const INSTANTIATED: u16 = Mode::Instantiated as u16 | Mode::CoSimulation as u16;
const INITIALIZATION: u16 = Mode::Initialization as u16 | Mode::CoSimulation as u16;
const EVENT: u16 = Mode::Event as u16;
const CONTINUOUS: u16 = Mode::ContinuousTime as u16;
const CO_SIMULATION: u16 = Mode::CoSimulation as u16;
const SIMULATING: u16 = EVENT | CONTINUOUS | CO_SIMULATION;
const SETTING: u16 = INSTANTIATED | INITIALIZATION | SIMULATING;
const READING: u16 = INITIALIZATION | SIMULATING | Mode::Terminated as u16 | Mode::Error as u16;
const ALIVE: u16 = READING | INSTANTIATED | Mode::ErrorAtStart as u16;

unsafe extern "C" {
    fn calloc(count: usize, size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

/// Bytes of a serialised state that are believed.
const LARGEST_STATE: u64 = 4 << 30;

/// Call a function where it is legal; otherwise, and where the library has none, the answer is `fmi2Error`.
macro_rules! call {
    ($self:ident in $modes:ident . $function:ident ( $($argument:expr),* )) => {
        match $self.functions.$function {
            _ if $self.mode as u16 & $modes == 0 => $self.refusal(),
            // SAFETY: the function is the library's, the component its own and alive; pointers come from
            // slices whose lengths are passed along.
            Some(function) => {
                $self.witness.note(const { number(stringify!($function)) });
                $self.judge(unsafe { function($self.component $(, $argument)*) })
            }
            None => Status::Error,
        }
    };
}

impl Fmu2 {
    /// Load a library and instantiate its FMU.
    ///
    /// # Safety
    /// Foreign code runs in this process from here on, and can do anything. The caller trusts it, or runs it where
    /// it can do no harm.
    pub unsafe fn load(path: &Path, host: Host, request: &Instantiation) -> Result<Fmu2, LoadError> {
        let witness = request.witness;
        witness.note(const { number("load") });
        // SAFETY: promised by the caller.
        let library = unsafe { loader::open(path) }?;
        let (mut callbacks, log) = match host {
            Host::Callbacks(callbacks) => (callbacks, None),
            Host::Silent(callbacks) => (logger::silent(callbacks), None),
            Host::Collect(log) => {
                let environment = Arc::as_ptr(&log).cast_mut().cast();
                (logger::collecting(environment), Some(log))
            }
        };
        callbacks.allocate_memory.get_or_insert(calloc);
        callbacks.free_memory.get_or_insert(free);
        callbacks.step_finished = None;
        let callbacks = Box::new(callbacks);
        witness.note(const { number("instantiate") });
        let prefix = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or("");
        let (component, functions) = match request.inner {
            // SAFETY: promised by the caller; the callbacks outlive the instance.
            Some(inner) => unsafe { fmi3::instantiate(&library, prefix, inner, request, &callbacks) }?,
            // SAFETY: likewise.
            None => unsafe { instantiate(&library, prefix, request, &callbacks) }?,
        };
        static INSTANCES: AtomicU64 = AtomicU64::new(0);
        Ok(Fmu2 {
            functions,
            component,
            mode: match request.kind {
                Kind::ModelExchange => Mode::Instantiated,
                Kind::CoSimulation => Mode::CoSimulation,
            },
            tolerant: true,
            identity: INSTANCES.fetch_add(1, Ordering::Relaxed),
            callbacks,
            log,
            library: ManuallyDrop::new(library),
            witness,
            stays: false,
            room: None,
            version: if request.inner.is_some() { Version::Three } else { Version::Two },
        })
    }

    /// From now on `fmi2Error` is the end, as the standard has it. Before, the FMU may be asked again, which is for
    /// studying only.
    pub fn forbid_calls_after_errors(&mut self) {
        self.tolerant = false;
    }

    /// Do not free it on drop: for a process that ends soon.
    pub fn never_free(&mut self) {
        self.stays = true;
    }

    /// From now on the vectors that it fills have room behind them: `states` and `indicators` are their lengths.
    pub fn make_room(&mut self, states: usize, indicators: usize) {
        self.room = Some(Box::new(Room::new(states, indicators)));
    }

    /// No more room, and what was seen in it.
    pub fn take_room(&mut self) -> Beyond {
        self.room.take().map_or(Beyond::default(), |room| room.beyond())
    }

    pub fn has_room(&self) -> bool {
        self.room.is_some()
    }

    /// What was written beyond the vectors since there is room.
    pub fn beyond(&self) -> Beyond {
        self.room.as_ref().map_or(Beyond::default(), |room| room.beyond())
    }

    /// The model's version of FMI.
    pub fn version(&self) -> Version {
        self.version
    }

    /// Where the FMU is in FMI's state machine.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// What a call returned, and what it says about the FMU's state.
    #[inline]
    fn judge(&mut self, returned: i32) -> Status {
        let status = Status::from_c(returned);
        if status > Status::Discard {
            self.fail(status);
        }
        status
    }

    #[cold]
    fn fail(&mut self, status: Status) {
        match status {
            Status::Fatal => self.mode = Mode::Fatal,
            Status::Error if !self.tolerant => {
                self.mode = match self.mode {
                    Mode::CoSimulation => Mode::CoSimulation,
                    Mode::Instantiated | Mode::ErrorAtStart => Mode::ErrorAtStart,
                    _ => Mode::Error,
                }
            }
            _ => {}
        }
    }

    /// The call is not legal now.
    #[cold]
    fn refusal(&self) -> Status {
        if self.mode == Mode::Fatal { Status::Fatal } else { Status::Error }
    }

    /// A call that leads to another mode has returned.
    fn enter(&mut self, mode: Mode, status: Status) -> Status {
        if status.is_usable() && self.mode != Mode::CoSimulation {
            self.mode = mode;
        }
        status
    }

    pub fn callbacks(&self) -> &Callbacks {
        &self.callbacks
    }

    pub fn has_directional_derivative(&self) -> bool {
        self.functions.directional.is_some()
    }

    pub fn set_debug_logging(&mut self, on: bool, categories: &[&CStr]) -> Status {
        let pointers: Vec<_> = categories.iter().map(|category| category.as_ptr()).collect();
        call!(self in ALIVE.set_debug_logging(on as i32, pointers.len(), pointers.as_ptr()))
    }

    pub fn setup_experiment(&mut self, tolerance: Option<f64>, start: f64, stop: Option<f64>) -> Status {
        call!(self in INSTANTIATED.setup_experiment(
            tolerance.is_some() as i32,
            tolerance.unwrap_or(0.0),
            start,
            stop.is_some() as i32,
            stop.unwrap_or(0.0)
        ))
    }

    pub fn enter_initialization_mode(&mut self) -> Status {
        let status = call!(self in INSTANTIATED.enter_initialization_mode());
        self.enter(Mode::Initialization, status)
    }

    pub fn exit_initialization_mode(&mut self) -> Status {
        let status = call!(self in INITIALIZATION.exit_initialization_mode());
        self.enter(Mode::Event, status)
    }

    pub fn terminate(&mut self) -> Status {
        let status = call!(self in SIMULATING.terminate());
        self.enter(Mode::Terminated, status)
    }

    pub fn reset(&mut self) -> Status {
        let status = call!(self in ALIVE.reset());
        self.enter(Mode::Instantiated, status)
    }

    pub fn get_real(&mut self, references: &[u32], values: &mut [f64]) -> Status {
        assert_eq!(references.len(), values.len());
        if references.is_empty() {
            return Status::Ok;
        }
        call!(self in READING.get_real(references.as_ptr(), references.len(), values.as_mut_ptr()))
    }

    pub fn set_real(&mut self, references: &[u32], values: &[f64]) -> Status {
        assert_eq!(references.len(), values.len());
        if references.is_empty() {
            return Status::Ok;
        }
        call!(self in SETTING.set_real(references.as_ptr(), references.len(), values.as_ptr()))
    }

    pub fn get_integer(&mut self, references: &[u32], values: &mut [i32]) -> Status {
        assert_eq!(references.len(), values.len());
        if references.is_empty() {
            return Status::Ok;
        }
        call!(self in READING.get_integer(references.as_ptr(), references.len(), values.as_mut_ptr()))
    }

    pub fn set_integer(&mut self, references: &[u32], values: &[i32]) -> Status {
        assert_eq!(references.len(), values.len());
        if references.is_empty() {
            return Status::Ok;
        }
        call!(self in SETTING.set_integer(references.as_ptr(), references.len(), values.as_ptr()))
    }

    pub fn get_boolean(&mut self, references: &[u32], values: &mut [i32]) -> Status {
        assert_eq!(references.len(), values.len());
        if references.is_empty() {
            return Status::Ok;
        }
        call!(self in READING.get_boolean(references.as_ptr(), references.len(), values.as_mut_ptr()))
    }

    pub fn set_boolean(&mut self, references: &[u32], values: &[i32]) -> Status {
        assert_eq!(references.len(), values.len());
        if references.is_empty() {
            return Status::Ok;
        }
        call!(self in SETTING.set_boolean(references.as_ptr(), references.len(), values.as_ptr()))
    }

    /// The strings belong to the FMU and are valid until its next call.
    pub fn get_string(&mut self, references: &[u32], values: &mut [*const c_char]) -> Status {
        assert_eq!(references.len(), values.len());
        if references.is_empty() {
            return Status::Ok;
        }
        call!(self in READING.get_string(references.as_ptr(), references.len(), values.as_mut_ptr()))
    }

    pub fn set_string(&mut self, references: &[u32], values: &[CString]) -> Status {
        assert_eq!(references.len(), values.len());
        if references.is_empty() {
            return Status::Ok;
        }
        let pointers: Vec<_> = values.iter().map(|value| value.as_ptr()).collect();
        call!(self in SETTING.set_string(references.as_ptr(), references.len(), pointers.as_ptr()))
    }

    /// A copy of one string variable, for those who may allocate.
    pub fn copy_string(&mut self, reference: u32) -> Option<CString> {
        let mut value = [ptr::null()];
        let status = self.get_string(&[reference], &mut value);
        // SAFETY: a usable status promises a string that lives until the next call.
        (status.is_usable() && !value[0].is_null()).then(|| unsafe { CStr::from_ptr(value[0]) }.to_owned())
    }

    /// A number that follows from the value of a String, without memory of its own; `None` where it cannot be read.
    pub fn string_digest(&mut self, reference: u32) -> Option<u64> {
        let mut value = [ptr::null()];
        let status = self.get_string(&[reference], &mut value);
        if !status.is_usable() {
            return None;
        }
        let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        // SAFETY: a C string of the FMU, which lives until its next call.
        let bytes = if value[0].is_null() { &[] } else { unsafe { CStr::from_ptr(value[0]) }.to_bytes() };
        Some(bytes.iter().fold(0xcbf2_9ce4_8422_2325, fold))
    }

    pub fn directional_derivative(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
        result: &mut [f64],
    ) -> Status {
        assert_eq!(knowns.len(), seed.len());
        assert_eq!(unknowns.len(), result.len());
        call!(self in READING.directional(
            unknowns.as_ptr(),
            unknowns.len(),
            knowns.as_ptr(),
            knowns.len(),
            seed.as_ptr(),
            result.as_mut_ptr()
        ))
    }

    pub fn enter_event_mode(&mut self) -> Status {
        let status = call!(self in SIMULATING.enter_event_mode());
        self.enter(Mode::Event, status)
    }

    pub fn new_discrete_states(&mut self, info: &mut EventInfo) -> Status {
        call!(self in EVENT.new_discrete_states(&raw mut *info))
    }

    pub fn enter_continuous_time_mode(&mut self) -> Status {
        let status = call!(self in EVENT.enter_continuous_time_mode());
        self.enter(Mode::ContinuousTime, status)
    }

    /// Returns (status, enter event mode, terminate simulation).
    pub fn completed_integrator_step(&mut self) -> (Status, bool, bool) {
        let (mut enter_event_mode, mut terminate) = (0, 0);
        let status = call!(self in CONTINUOUS.completed_integrator_step(1, &raw mut enter_event_mode, &raw mut terminate));
        (status, enter_event_mode != 0, terminate != 0)
    }

    #[inline]
    pub fn set_time(&mut self, time: f64) -> Status {
        call!(self in SIMULATING.set_time(time))
    }

    #[inline]
    pub fn set_continuous_states(&mut self, x: &[f64]) -> Status {
        if x.is_empty() {
            return Status::Ok;
        }
        if let Some(mut room) = self.room.take() {
            let length = x.len();
            let status = room.hand(
                Vector::States,
                x,
                |pointer| call!(self in CONTINUOUS.set_continuous_states(pointer, length)),
            );
            self.room = Some(room);
            return status;
        }
        call!(self in CONTINUOUS.set_continuous_states(x.as_ptr(), x.len()))
    }

    #[inline]
    pub fn get_derivatives(&mut self, derivatives: &mut [f64]) -> Status {
        if derivatives.is_empty() {
            return Status::Ok;
        }
        if let Some(mut room) = self.room.take() {
            let length = derivatives.len();
            let status = room.fill(
                Vector::Derivatives,
                derivatives,
                |pointer| call!(self in READING.get_derivatives(pointer, length)),
            );
            self.room = Some(room);
            return status;
        }
        call!(self in READING.get_derivatives(derivatives.as_mut_ptr(), derivatives.len()))
    }

    pub fn get_event_indicators(&mut self, indicators: &mut [f64]) -> Status {
        if indicators.is_empty() {
            return Status::Ok;
        }
        if let Some(mut room) = self.room.take() {
            let length = indicators.len();
            let status = room.fill(
                Vector::Indicators,
                indicators,
                |pointer| call!(self in READING.get_event_indicators(pointer, length)),
            );
            self.room = Some(room);
            return status;
        }
        call!(self in READING.get_event_indicators(indicators.as_mut_ptr(), indicators.len()))
    }

    pub fn get_continuous_states(&mut self, x: &mut [f64]) -> Status {
        if x.is_empty() {
            return Status::Ok;
        }
        if let Some(mut room) = self.room.take() {
            let length = x.len();
            let status = room.fill(
                Vector::States,
                x,
                |pointer| call!(self in READING.get_continuous_states(pointer, length)),
            );
            self.room = Some(room);
            return status;
        }
        call!(self in READING.get_continuous_states(x.as_mut_ptr(), x.len()))
    }

    pub fn get_nominals(&mut self, nominals: &mut [f64]) -> Status {
        if nominals.is_empty() {
            return Status::Ok;
        }
        if let Some(mut room) = self.room.take() {
            let length = nominals.len();
            let status = room.fill(
                Vector::Nominals,
                nominals,
                |pointer| call!(self in ALIVE.get_nominals(pointer, length)),
            );
            self.room = Some(room);
            return status;
        }
        call!(self in ALIVE.get_nominals(nominals.as_mut_ptr(), nominals.len()))
    }

    pub fn do_step(&mut self, time: f64, step: f64) -> Status {
        call!(self in CO_SIMULATION.do_step(time, step, 1))
    }

    /// Save the FMU's state into `saved`: over what it holds, or as a new one if it holds nothing.
    pub fn get_fmu_state(&mut self, saved: &mut SavedState) -> Status {
        if !saved.is_empty() && saved.owner != self.identity {
            return Status::Error;
        }
        saved.owner = self.identity;
        saved.mode = self.mode;
        call!(self in ALIVE.get_fmu_state(&raw mut saved.state))
    }

    pub fn set_fmu_state(&mut self, saved: &SavedState) -> Status {
        if !self.owns(saved) {
            return Status::Error;
        }
        let status = call!(self in ALIVE.set_fmu_state(saved.state));
        self.enter(saved.mode, status)
    }

    pub fn free_fmu_state(&mut self, saved: &mut SavedState) -> Status {
        if saved.is_empty() {
            return Status::Ok;
        }
        if !self.owns(saved) {
            return Status::Error;
        }
        let status = call!(self in ALIVE.free_fmu_state(&raw mut saved.state));
        saved.state = ptr::null_mut();
        status
    }

    pub fn serialize(&mut self, saved: &SavedState) -> Result<Vec<u8>, Status> {
        if !self.owns(saved) {
            return Err(Status::Error);
        }
        let mut size = 0;
        let status = call!(self in ALIVE.serialized_size(saved.state, &raw mut size));
        if !status.is_usable() {
            return Err(status);
        }
        // The size is the FMU's word: 2^45 must be refused, not end the host. Some systems promise any amount of memory, and
        // end the process that uses it.
        if size as u64 > LARGEST_STATE {
            return Err(Status::Error);
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(size).map_err(|_| Status::Error)?;
        bytes.resize(size, 0);
        let status = call!(self in ALIVE.serialize(saved.state, bytes.as_mut_ptr(), bytes.len()));
        if status.is_usable() { Ok(bytes) } else { Err(status) }
    }

    /// `mode` is the one in which the state was saved.
    pub fn deserialize(&mut self, bytes: &[u8], mode: Mode, saved: &mut SavedState) -> Status {
        if !saved.is_empty() && saved.owner != self.identity {
            return Status::Error;
        }
        saved.owner = self.identity;
        saved.mode = mode;
        call!(self in ALIVE.deserialize(bytes.as_ptr(), bytes.len(), &raw mut saved.state))
    }

    /// This instance made it: another one would follow a pointer that means nothing to it.
    fn owns(&self, saved: &SavedState) -> bool {
        !saved.is_empty() && saved.owner == self.identity
    }
}

impl Drop for Fmu2 {
    fn drop(&mut self) {
        if self.mode == Mode::Fatal || self.stays {
            // Nothing may be called any more: the instance, its callbacks and its library stay.
            std::mem::forget(std::mem::replace(&mut self.callbacks, Box::new(Callbacks::NONE)));
            std::mem::forget(self.log.take());
            return;
        }
        // SAFETY: the component is alive and never used again; neither is the library, which nothing else closes.
        unsafe {
            if let Some(free_instance) = self.functions.free_instance {
                self.witness.note(const { number("free_instance") });
                free_instance(self.component);
            }
            self.witness.note(const { number("unload") });
            ManuallyDrop::drop(&mut self.library);
        }
    }
}

/// An instance of FMI 2.0, and the library's functions to call it with.
///
/// # Safety
/// Foreign code runs; `callbacks` is alive as long as the instance.
unsafe fn instantiate(
    library: &Library,
    prefix: &str,
    request: &Instantiation,
    callbacks: &Callbacks,
) -> Result<(Component, Functions), LoadError> {
    let (instantiate, functions) = Functions::resolve(library, prefix, request.kind)?;
    let text = |text: &str| CString::new(text.replace('\0', "")).unwrap_or_default();
    let (name, guid, resources) = (text(request.name), text(request.guid), text(request.resources));
    // SAFETY: strings and callbacks outlive the call, the callbacks outlive the instance.
    let component = unsafe {
        instantiate(
            name.as_ptr(),
            request.kind as i32,
            guid.as_ptr(),
            resources.as_ptr(),
            &raw const *callbacks,
            request.visible as i32,
            request.logging as i32,
        )
    };
    if component.is_null() { Err(LoadError::Instantiate) } else { Ok((component, functions)) }
}

/// The foreign FMU's own saved state; only its maker can look inside or free it.
pub struct SavedState {
    state: *mut c_void,
    /// The identity of the [`Fmu2`] that made it.
    owner: u64,
    /// The FMU's when it was saved.
    mode: Mode,
}

impl SavedState {
    pub fn empty() -> SavedState {
        SavedState { state: ptr::null_mut(), owner: 0, mode: Mode::Instantiated }
    }

    pub fn mode(&self) -> Mode {
        self.mode
    }

    pub fn is_empty(&self) -> bool {
        self.state.is_null()
    }
}
