//! Load a foreign FMU's library and call it. One of the two files with `unsafe`.
//!
//! Every pointer that crosses is made here from a slice, and every function pointer was resolved from
//! the library that is kept open beside it. Functions that FMI demands of a Model-Exchange FMU are
//! resolved at loading; the others on best effort, because real tools leave some out: calling an
//! absent one gives `fmi2Error`.
//!
//! How the library is opened matters on Linux:
//! - by full path and `RTLD_LOCAL`, so that two FMUs with equal symbol names do not meet;
//! - with `RTLD_DEEPBIND`, so that a host that exports `fmi2*` or SUNDIALS symbols (we do export `fmi2*`)
//!   is not called by the FMU in place of its own functions;
//! - after libm was loaded globally: some Dymola libraries use `ceil` without linking libm;
//! - `RTLD_NOW` first, so that no symbol is bound inside a step; lazily if that fails, because a symbol
//!   that is never called may be missing.
#![allow(unsafe_code)]

use crate::status::Status;
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use std::ptr;
use std::sync::{Arc, Mutex};

/// An instance of a foreign FMU, freed on drop.
pub struct Inner {
    functions: Functions,
    component: *mut c_void,
    name: CString,
    /// The foreign code keeps a pointer to these: they must not move.
    callbacks: Box<Callbacks>,
    _log: Option<Arc<Log>>,
    /// Last, so that it is closed after everything above is gone.
    _library: Library,
}

/// Why an FMU could not be loaded or instantiated.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadError {
    /// The dynamic linker's own words.
    Open(String),
    MissingSymbol(String),
    /// `fmi2Instantiate` returned NULL.
    Instantiate,
}

impl std::fmt::Display for LoadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            LoadError::Open(reason) => write!(f, "the FMU's library cannot be loaded: {reason}"),
            LoadError::MissingSymbol(symbol) => {
                write!(f, "the FMU's library does not export {symbol}, which FMI 2.0 demands")
            }
            LoadError::Instantiate => write!(f, "the FMU's fmi2Instantiate returned NULL"),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum Kind {
    ModelExchange = 0,
    CoSimulation = 1,
}

/// What `fmi2NewDiscreteStates` said.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct EventInfo {
    new_discrete_states_needed: i32,
    terminate_simulation: i32,
    nominals_of_continuous_states_changed: i32,
    values_of_continuous_states_changed: i32,
    next_event_time_defined: i32,
    next_event_time: f64,
}

impl EventInfo {
    pub fn another_iteration_needed(&self) -> bool {
        self.new_discrete_states_needed != 0
    }
    pub fn terminate(&self) -> bool {
        self.terminate_simulation != 0
    }
    pub fn nominals_changed(&self) -> bool {
        self.nominals_of_continuous_states_changed != 0
    }
    pub fn states_changed(&self) -> bool {
        self.values_of_continuous_states_changed != 0
    }
    pub fn next_event_time(&self) -> Option<f64> {
        (self.next_event_time_defined != 0).then_some(self.next_event_time)
    }
}

pub type Logger = unsafe extern "C" fn(*mut c_void, *const c_char, i32, *const c_char, *const c_char, ...);

/// `fmi2CallbackFunctions`.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct Callbacks {
    // Spelt out for cbindgen, which does not see through `Option<Logger>`.
    pub logger:
        Option<unsafe extern "C" fn(*mut c_void, *const c_char, i32, *const c_char, *const c_char, ...)>,
    pub allocate_memory: Option<unsafe extern "C" fn(usize, usize) -> *mut c_void>,
    pub free_memory: Option<unsafe extern "C" fn(*mut c_void)>,
    pub step_finished: Option<unsafe extern "C" fn(*mut c_void, i32)>,
    pub environment: *mut c_void,
}

impl Callbacks {
    /// Hand a message to the host. Formats into a buffer on the stack: an error inside a step must not
    /// allocate either. A message that is too long is cut.
    pub fn log(&self, instance: &CStr, status: Status, category: &CStr, message: std::fmt::Arguments) {
        struct Buffer {
            bytes: [u8; 1024],
            used: usize,
        }
        impl std::fmt::Write for Buffer {
            fn write_str(&mut self, text: &str) -> std::fmt::Result {
                // One byte stays for the final zero.
                let mut fits = text.len().min(self.bytes.len() - 1 - self.used);
                while !text.is_char_boundary(fits) {
                    fits -= 1;
                }
                self.bytes[self.used..self.used + fits].copy_from_slice(&text.as_bytes()[..fits]);
                self.used += fits;
                Ok(())
            }
        }
        let Some(logger) = self.logger else { return };
        let mut buffer = Buffer { bytes: [0; 1024], used: 0 };
        let _ = std::fmt::write(&mut buffer, message);
        // SAFETY: the host's logger is called as FMI prescribes; "%s" keeps a `%` in the message harmless.
        unsafe {
            logger(
                self.environment,
                instance.as_ptr(),
                status as i32,
                category.as_ptr(),
                c"%s".as_ptr(),
                buffer.bytes.as_ptr().cast::<c_char>(),
            );
        }
    }
}

/// Messages of an FMU that has no host: the builder's worker shows the last ones when something fails.
#[derive(Default)]
pub struct Log(Mutex<Vec<String>>);

impl Log {
    const KEPT: usize = 20;

    pub fn messages(&self) -> Vec<String> {
        self.0.lock().map(|messages| messages.clone()).unwrap_or_default()
    }

    fn push(&self, message: String) {
        if let Ok(mut messages) = self.0.lock() {
            if messages.len() == Self::KEPT {
                messages.remove(0);
            }
            messages.push(message);
        }
    }
}

/// How the foreign code reaches its host.
pub enum Host {
    /// The importer's own callbacks, handed through: its logger formats the FMU's messages itself.
    Callbacks(Callbacks),
    /// No importer: messages are collected.
    Collect(Arc<Log>),
}

/// What `fmi2Instantiate` is given.
pub struct Instantiation<'a> {
    pub kind: Kind,
    pub name: &'a str,
    pub guid: &'a str,
    /// URI of the FMU's resources folder.
    pub resources: &'a str,
    pub visible: bool,
    pub logging: bool,
}

unsafe extern "C" {
    fn calloc(count: usize, size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
}

type Component = *mut c_void;
type Plain = unsafe extern "C" fn(Component) -> i32;
type GetReals = unsafe extern "C" fn(Component, *const u32, usize, *mut f64) -> i32;
type SetReals = unsafe extern "C" fn(Component, *const u32, usize, *const f64) -> i32;
type GetIntegers = unsafe extern "C" fn(Component, *const u32, usize, *mut i32) -> i32;
type SetIntegers = unsafe extern "C" fn(Component, *const u32, usize, *const i32) -> i32;
type GetStrings = unsafe extern "C" fn(Component, *const u32, usize, *mut *const c_char) -> i32;
type SetStrings = unsafe extern "C" fn(Component, *const u32, usize, *const *const c_char) -> i32;
type GetVector = unsafe extern "C" fn(Component, *mut f64, usize) -> i32;
type SetVector = unsafe extern "C" fn(Component, *const f64, usize) -> i32;
type Instantiate = unsafe extern "C" fn(
    *const c_char,
    i32,
    *const c_char,
    *const c_char,
    *const Callbacks,
    i32,
    i32,
) -> Component;

/// The foreign functions. `Option`: a tool may leave it out.
#[derive(Clone, Copy)]
struct Functions {
    free_instance: Option<unsafe extern "C" fn(Component)>,
    set_debug_logging: Option<unsafe extern "C" fn(Component, i32, usize, *const *const c_char) -> i32>,
    setup_experiment: unsafe extern "C" fn(Component, i32, f64, f64, i32, f64) -> i32,
    enter_initialization_mode: Plain,
    exit_initialization_mode: Plain,
    terminate: Option<Plain>,
    reset: Option<Plain>,
    get_real: Option<GetReals>,
    set_real: Option<SetReals>,
    get_integer: Option<GetIntegers>,
    set_integer: Option<SetIntegers>,
    get_boolean: Option<GetIntegers>,
    set_boolean: Option<SetIntegers>,
    get_string: Option<GetStrings>,
    set_string: Option<SetStrings>,
    get_fmu_state: Option<unsafe extern "C" fn(Component, *mut *mut c_void) -> i32>,
    set_fmu_state: Option<unsafe extern "C" fn(Component, *mut c_void) -> i32>,
    free_fmu_state: Option<unsafe extern "C" fn(Component, *mut *mut c_void) -> i32>,
    serialized_size: Option<unsafe extern "C" fn(Component, *mut c_void, *mut usize) -> i32>,
    serialize: Option<unsafe extern "C" fn(Component, *mut c_void, *mut u8, usize) -> i32>,
    deserialize: Option<unsafe extern "C" fn(Component, *const u8, usize, *mut *mut c_void) -> i32>,
    #[allow(clippy::type_complexity)]
    directional: Option<
        unsafe extern "C" fn(Component, *const u32, usize, *const u32, usize, *const f64, *mut f64) -> i32,
    >,
    enter_event_mode: Option<Plain>,
    new_discrete_states: Option<unsafe extern "C" fn(Component, *mut EventInfo) -> i32>,
    enter_continuous_time_mode: Option<Plain>,
    completed_integrator_step: Option<unsafe extern "C" fn(Component, i32, *mut i32, *mut i32) -> i32>,
    set_time: Option<unsafe extern "C" fn(Component, f64) -> i32>,
    set_continuous_states: Option<SetVector>,
    get_derivatives: Option<GetVector>,
    get_event_indicators: Option<GetVector>,
    get_continuous_states: Option<GetVector>,
    get_nominals: Option<GetVector>,
    do_step: Option<unsafe extern "C" fn(Component, f64, f64, i32) -> i32>,
}

#[cfg(unix)]
type Library = libloading::os::unix::Library;
#[cfg(windows)]
type Library = libloading::Library;

#[cfg(unix)]
fn open(path: &Path) -> Result<Library, LoadError> {
    use libloading::os::unix::{RTLD_GLOBAL, RTLD_LAZY, RTLD_LOCAL, RTLD_NOW};
    #[cfg(target_env = "gnu")]
    const RTLD_DEEPBIND: i32 = 8;
    #[cfg(not(target_env = "gnu"))]
    const RTLD_DEEPBIND: i32 = 0;
    // SAFETY: libm's initialisers are harmless; the FMU's are what the user asked to run.
    unsafe {
        if let Ok(libm) = Library::open(Some("libm.so.6"), RTLD_NOW | RTLD_GLOBAL) {
            std::mem::forget(libm); // stays for the life of the process
        }
        Library::open(Some(path), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND).or_else(|first| {
            Library::open(Some(path), RTLD_LAZY | RTLD_LOCAL | RTLD_DEEPBIND)
                .map_err(|_| LoadError::Open(reason(&first)))
        })
    }
}

#[cfg(windows)]
fn open(path: &Path) -> Result<Library, LoadError> {
    // SAFETY: the FMU's initialisers are what the user asked to run.
    unsafe { Library::new(path) }.map_err(|error| LoadError::Open(reason(&error)))
}

/// libloading hides the linker's own words one level down.
fn reason(error: &libloading::Error) -> String {
    use std::error::Error;
    error.source().map_or_else(|| error.to_string(), |source| source.to_string())
}

/// The first of `names` that the library has. More than one name: tools misspell some.
///
/// # Safety
/// `T` is the function's true type.
unsafe fn symbol<T: Copy>(library: &Library, names: &[&str]) -> Option<T> {
    names.iter().find_map(|name| {
        // SAFETY: promised by the caller. The library outlives the copy: both live in `Inner`.
        unsafe { library.get::<T>(name.as_bytes()) }.ok().map(|found| *found)
    })
}

impl Functions {
    fn resolve(library: &Library, kind: Kind) -> Result<(Instantiate, Functions), LoadError> {
        // SAFETY: the types are those of the FMI 2.0 headers.
        let (instantiate, functions) = unsafe {
            macro_rules! required {
                ($name:literal) => {
                    symbol(library, &[$name]).ok_or_else(|| LoadError::MissingSymbol($name.to_string()))?
                };
            }
            macro_rules! optional {
                ($($name:literal),+) => { symbol(library, &[$($name),+]) };
            }
            let instantiate: Instantiate = required!("fmi2Instantiate");
            let functions = Functions {
                free_instance: optional!("fmi2FreeInstance"),
                set_debug_logging: optional!("fmi2SetDebugLogging"),
                setup_experiment: required!("fmi2SetupExperiment"),
                enter_initialization_mode: required!("fmi2EnterInitializationMode"),
                exit_initialization_mode: required!("fmi2ExitInitializationMode"),
                terminate: optional!("fmi2Terminate"),
                reset: optional!("fmi2Reset"),
                get_real: optional!("fmi2GetReal"),
                set_real: optional!("fmi2SetReal"),
                get_integer: optional!("fmi2GetInteger"),
                set_integer: optional!("fmi2SetInteger"),
                get_boolean: optional!("fmi2GetBoolean"),
                set_boolean: optional!("fmi2SetBoolean"),
                get_string: optional!("fmi2GetString"),
                set_string: optional!("fmi2SetString"),
                get_fmu_state: optional!("fmi2GetFMUstate", "fmi2GetFMUState"),
                set_fmu_state: optional!("fmi2SetFMUstate", "fmi2SetFMUState"),
                free_fmu_state: optional!("fmi2FreeFMUstate", "fmi2FreeFMUState"),
                serialized_size: optional!("fmi2SerializedFMUstateSize", "fmi2SerializedFMUStateSize"),
                serialize: optional!(
                    "fmi2SerializeFMUstate",
                    "fmi2SerializedFMUstate",
                    "fmi2SerializeFMUState"
                ),
                deserialize: optional!(
                    "fmi2DeSerializeFMUstate",
                    "fmi2DeSerializedFMUstate",
                    "fmi2DeserializeFMUstate",
                    "fmi2DeSerializeFMUState"
                ),
                directional: optional!("fmi2GetDirectionalDerivative"),
                enter_event_mode: optional!("fmi2EnterEventMode"),
                new_discrete_states: optional!("fmi2NewDiscreteStates"),
                enter_continuous_time_mode: optional!("fmi2EnterContinuousTimeMode"),
                completed_integrator_step: optional!("fmi2CompletedIntegratorStep"),
                set_time: optional!("fmi2SetTime"),
                set_continuous_states: optional!("fmi2SetContinuousStates"),
                get_derivatives: optional!("fmi2GetDerivatives"),
                get_event_indicators: optional!("fmi2GetEventIndicators"),
                get_continuous_states: optional!("fmi2GetContinuousStates"),
                get_nominals: optional!("fmi2GetNominalsOfContinuousStates"),
                do_step: optional!("fmi2DoStep"),
            };
            (instantiate, functions)
        };
        let needed = match kind {
            Kind::ModelExchange => vec![
                ("fmi2EnterEventMode", functions.enter_event_mode.is_some()),
                ("fmi2NewDiscreteStates", functions.new_discrete_states.is_some()),
                ("fmi2EnterContinuousTimeMode", functions.enter_continuous_time_mode.is_some()),
                ("fmi2SetTime", functions.set_time.is_some()),
                ("fmi2SetContinuousStates", functions.set_continuous_states.is_some()),
                ("fmi2GetDerivatives", functions.get_derivatives.is_some()),
                ("fmi2GetContinuousStates", functions.get_continuous_states.is_some()),
            ],
            Kind::CoSimulation => vec![("fmi2DoStep", functions.do_step.is_some())],
        };
        match needed.into_iter().find(|(_, found)| !found) {
            Some((name, _)) => Err(LoadError::MissingSymbol(name.to_string())),
            None => Ok((instantiate, functions)),
        }
    }
}

/// Call an optional function; absent means `fmi2Error`.
macro_rules! call {
    ($self:ident . $function:ident ( $($argument:expr),* )) => {
        match $self.functions.$function {
            // SAFETY: the function is the library's, the component its own and alive; pointers come from
            // slices whose lengths are passed along.
            Some(function) => Status::from_c(unsafe { function($self.component $(, $argument)*) }),
            None => Status::Error,
        }
    };
}

impl Inner {
    pub fn load(path: &Path, host: Host, request: &Instantiation) -> Result<Inner, LoadError> {
        let library = open(path)?;
        let (instantiate, functions) = Functions::resolve(&library, request.kind)?;
        let (mut callbacks, log) = match host {
            Host::Callbacks(callbacks) => (callbacks, None),
            Host::Collect(log) => {
                let environment = Arc::as_ptr(&log).cast_mut().cast();
                (collecting(environment), Some(log))
            }
        };
        callbacks.allocate_memory.get_or_insert(calloc);
        callbacks.free_memory.get_or_insert(free);
        callbacks.step_finished = None;
        let callbacks = Box::new(callbacks);
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
        if component.is_null() {
            return Err(LoadError::Instantiate);
        }
        Ok(Inner { functions, component, name, callbacks, _log: log, _library: library })
    }

    pub fn name(&self) -> &CStr {
        &self.name
    }

    pub fn callbacks(&self) -> &Callbacks {
        &self.callbacks
    }

    pub fn has_directional_derivative(&self) -> bool {
        self.functions.directional.is_some()
    }

    pub fn set_debug_logging(&mut self, on: bool, categories: &[*const c_char]) -> Status {
        call!(self.set_debug_logging(on as i32, categories.len(), categories.as_ptr()))
    }

    pub fn setup_experiment(&mut self, tolerance: Option<f64>, start: f64, stop: Option<f64>) -> Status {
        // SAFETY: see `call!`.
        Status::from_c(unsafe {
            (self.functions.setup_experiment)(
                self.component,
                tolerance.is_some() as i32,
                tolerance.unwrap_or(0.0),
                start,
                stop.is_some() as i32,
                stop.unwrap_or(0.0),
            )
        })
    }

    pub fn enter_initialization_mode(&mut self) -> Status {
        // SAFETY: see `call!`.
        Status::from_c(unsafe { (self.functions.enter_initialization_mode)(self.component) })
    }

    pub fn exit_initialization_mode(&mut self) -> Status {
        // SAFETY: see `call!`.
        Status::from_c(unsafe { (self.functions.exit_initialization_mode)(self.component) })
    }

    pub fn terminate(&mut self) -> Status {
        call!(self.terminate())
    }

    pub fn reset(&mut self) -> Status {
        call!(self.reset())
    }

    pub fn get_real(&mut self, references: &[u32], values: &mut [f64]) -> Status {
        assert_eq!(references.len(), values.len());
        call!(self.get_real(references.as_ptr(), references.len(), values.as_mut_ptr()))
    }

    pub fn set_real(&mut self, references: &[u32], values: &[f64]) -> Status {
        assert_eq!(references.len(), values.len());
        call!(self.set_real(references.as_ptr(), references.len(), values.as_ptr()))
    }

    pub fn get_integer(&mut self, references: &[u32], values: &mut [i32]) -> Status {
        assert_eq!(references.len(), values.len());
        call!(self.get_integer(references.as_ptr(), references.len(), values.as_mut_ptr()))
    }

    pub fn set_integer(&mut self, references: &[u32], values: &[i32]) -> Status {
        assert_eq!(references.len(), values.len());
        call!(self.set_integer(references.as_ptr(), references.len(), values.as_ptr()))
    }

    pub fn get_boolean(&mut self, references: &[u32], values: &mut [i32]) -> Status {
        assert_eq!(references.len(), values.len());
        call!(self.get_boolean(references.as_ptr(), references.len(), values.as_mut_ptr()))
    }

    pub fn set_boolean(&mut self, references: &[u32], values: &[i32]) -> Status {
        assert_eq!(references.len(), values.len());
        call!(self.set_boolean(references.as_ptr(), references.len(), values.as_ptr()))
    }

    /// The strings belong to the FMU and are valid until its next call.
    pub fn get_string(&mut self, references: &[u32], values: &mut [*const c_char]) -> Status {
        assert_eq!(references.len(), values.len());
        call!(self.get_string(references.as_ptr(), references.len(), values.as_mut_ptr()))
    }

    pub fn set_string(&mut self, references: &[u32], values: &[&CStr]) -> Status {
        assert_eq!(references.len(), values.len());
        let pointers: Vec<_> = values.iter().map(|value| value.as_ptr()).collect();
        call!(self.set_string(references.as_ptr(), references.len(), pointers.as_ptr()))
    }

    /// A copy of one string variable, for those who may allocate.
    pub fn copy_string(&mut self, reference: u32) -> Option<CString> {
        let mut value = [ptr::null()];
        let status = self.get_string(&[reference], &mut value);
        // SAFETY: a usable status promises a string that lives until the next call.
        (status.is_usable() && !value[0].is_null()).then(|| unsafe { CStr::from_ptr(value[0]) }.to_owned())
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
        call!(self.directional(
            unknowns.as_ptr(),
            unknowns.len(),
            knowns.as_ptr(),
            knowns.len(),
            seed.as_ptr(),
            result.as_mut_ptr()
        ))
    }

    pub fn enter_event_mode(&mut self) -> Status {
        call!(self.enter_event_mode())
    }

    pub fn new_discrete_states(&mut self, info: &mut EventInfo) -> Status {
        call!(self.new_discrete_states(&raw mut *info))
    }

    pub fn enter_continuous_time_mode(&mut self) -> Status {
        call!(self.enter_continuous_time_mode())
    }

    /// Returns (status, enter event mode, terminate simulation).
    pub fn completed_integrator_step(&mut self) -> (Status, bool, bool) {
        let (mut enter_event_mode, mut terminate) = (0, 0);
        let status = call!(self.completed_integrator_step(1, &raw mut enter_event_mode, &raw mut terminate));
        (status, enter_event_mode != 0, terminate != 0)
    }

    #[inline]
    pub fn set_time(&mut self, time: f64) -> Status {
        call!(self.set_time(time))
    }

    #[inline]
    pub fn set_continuous_states(&mut self, x: &[f64]) -> Status {
        call!(self.set_continuous_states(x.as_ptr(), x.len()))
    }

    #[inline]
    pub fn get_derivatives(&mut self, derivatives: &mut [f64]) -> Status {
        call!(self.get_derivatives(derivatives.as_mut_ptr(), derivatives.len()))
    }

    pub fn get_event_indicators(&mut self, indicators: &mut [f64]) -> Status {
        call!(self.get_event_indicators(indicators.as_mut_ptr(), indicators.len()))
    }

    pub fn get_continuous_states(&mut self, x: &mut [f64]) -> Status {
        call!(self.get_continuous_states(x.as_mut_ptr(), x.len()))
    }

    pub fn get_nominals(&mut self, nominals: &mut [f64]) -> Status {
        call!(self.get_nominals(nominals.as_mut_ptr(), nominals.len()))
    }

    pub fn do_step(&mut self, time: f64, step: f64) -> Status {
        call!(self.do_step(time, step, 1))
    }

    /// Save the FMU's state into `saved` (a new one if it holds none yet).
    pub fn get_fmu_state(&mut self, saved: &mut SavedState) -> Status {
        call!(self.get_fmu_state(&raw mut saved.0))
    }

    pub fn set_fmu_state(&mut self, saved: &SavedState) -> Status {
        call!(self.set_fmu_state(saved.0))
    }

    pub fn free_fmu_state(&mut self, saved: &mut SavedState) -> Status {
        if saved.0.is_null() {
            return Status::Ok;
        }
        let status = call!(self.free_fmu_state(&raw mut saved.0));
        saved.0 = ptr::null_mut();
        status
    }

    pub fn serialize(&mut self, saved: &SavedState) -> Result<Vec<u8>, Status> {
        let mut size = 0;
        let status = call!(self.serialized_size(saved.0, &raw mut size));
        if !status.is_usable() {
            return Err(status);
        }
        let mut bytes = vec![0; size];
        let status = call!(self.serialize(saved.0, bytes.as_mut_ptr(), bytes.len()));
        if status.is_usable() { Ok(bytes) } else { Err(status) }
    }

    pub fn deserialize(&mut self, bytes: &[u8], saved: &mut SavedState) -> Status {
        call!(self.deserialize(bytes.as_ptr(), bytes.len(), &raw mut saved.0))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        if let Some(free_instance) = self.functions.free_instance {
            // SAFETY: the component is alive and never used again.
            unsafe { free_instance(self.component) }
        }
    }
}

/// The foreign FMU's own saved state; only its maker can look inside or free it.
pub struct SavedState(*mut c_void);

impl SavedState {
    pub fn empty() -> SavedState {
        SavedState(ptr::null_mut())
    }
}

/// Callbacks that collect messages in the [`Log`] at `environment`.
fn collecting(environment: *mut c_void) -> Callbacks {
    // A variadic function cannot be defined in stable Rust. On the x86-64 System V ABI, however, variadic
    // arguments travel exactly as fixed ones do: integers in the last free register and then on the stack,
    // floats in xmm registers. So this takes a few of both and reads only those that the format names.
    #[cfg(all(unix, target_arch = "x86_64"))]
    #[allow(clippy::too_many_arguments)]
    unsafe extern "C" fn logger(
        environment: *mut c_void,
        _instance: *const c_char,
        status: i32,
        _category: *const c_char,
        message: *const c_char,
        i0: u64,
        f0: f64,
        f1: f64,
        f2: f64,
        f3: f64,
        i1: u64,
        i2: u64,
        i3: u64,
        i4: u64,
        i5: u64,
    ) {
        // SAFETY: pointers come from the FMU as FMI prescribes.
        unsafe { collect(environment, status, message, &[i0, i1, i2, i3, i4, i5], &[f0, f1, f2, f3]) }
    }
    #[cfg(not(all(unix, target_arch = "x86_64")))]
    unsafe extern "C" fn logger(
        environment: *mut c_void,
        _instance: *const c_char,
        status: i32,
        _category: *const c_char,
        message: *const c_char,
    ) {
        // SAFETY: as above; without arguments the format is shown as it is.
        unsafe { collect(environment, status, message, &[], &[]) }
    }
    // SAFETY: the ABI passes fixed and variadic arguments alike, see above.
    let logger = unsafe { std::mem::transmute::<*const (), Logger>(logger as *const ()) };
    Callbacks {
        logger: Some(logger),
        allocate_memory: None,
        free_memory: None,
        step_finished: None,
        environment,
    }
}

/// # Safety
/// `environment` points to a live [`Log`]; `message` is null or a C string whose conversions fit the
/// arguments.
unsafe fn collect(
    environment: *mut c_void,
    status: i32,
    message: *const c_char,
    integers: &[u64],
    floats: &[f64],
) {
    if environment.is_null() || message.is_null() {
        return;
    }
    // SAFETY: promised by the caller.
    let (log, format) = unsafe { (&*environment.cast::<Log>(), CStr::from_ptr(message).to_bytes()) };
    // SAFETY: likewise.
    let text = unsafe { expand(format, integers, floats) };
    log.push(format!("{}: {}", Status::from_c(status).name(), text.trim()));
}

/// printf for the conversions that FMUs use in messages; others are shown as they stand.
///
/// # Safety
/// Where the format says `%s`, the argument is a C string.
unsafe fn expand(format: &[u8], integers: &[u64], floats: &[f64]) -> String {
    let (mut integers, mut floats) = (integers.iter(), floats.iter());
    let mut text = Vec::with_capacity(format.len());
    let mut rest = format;
    while let Some(at) = rest.iter().position(|&byte| byte == b'%') {
        text.extend_from_slice(&rest[..at]);
        let flags = rest[at + 1..].iter().take_while(|b| b"0123456789.+- #hlzjq".contains(b)).count();
        let end = at + 1 + flags;
        let wide = rest[at + 1..end].iter().any(|b| b"lzjq".contains(b));
        let expanded = match rest.get(end) {
            Some(b'%') => Some("%".to_string()),
            Some(b's') => integers.next().map(|&pointer| {
                let pointer = pointer as usize as *const c_char;
                // SAFETY: promised by the caller.
                if pointer.is_null() {
                    "(null)".into()
                } else {
                    unsafe { CStr::from_ptr(pointer) }.to_string_lossy().into_owned()
                }
            }),
            Some(b'd' | b'i') => integers
                .next()
                .map(|&value| if wide { (value as i64).to_string() } else { (value as i32).to_string() }),
            Some(b'u') => integers
                .next()
                .map(|&value| if wide { value.to_string() } else { (value as u32).to_string() }),
            Some(b'x' | b'X' | b'p') => integers.next().map(|value| format!("{value:x}")),
            Some(b'g' | b'f' | b'e' | b'G' | b'E') => floats.next().map(|value| value.to_string()),
            _ => None,
        };
        match expanded {
            Some(expanded) => text.extend_from_slice(expanded.as_bytes()),
            None => text.extend_from_slice(&rest[at..(end + 1).min(rest.len())]),
        }
        rest = &rest[(end + 1).min(rest.len())..];
    }
    text.extend_from_slice(rest);
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An FMU's message reaches the log as printf would have written it.
    #[test]
    fn messages_are_expanded() {
        let word = c"ceil";
        let log = Arc::new(Log::default());
        let callbacks = collecting(Arc::as_ptr(&log).cast_mut().cast());
        let logger = callbacks.logger.unwrap_or_else(|| unreachable!());
        // SAFETY: the arguments fit the format.
        unsafe {
            logger(
                callbacks.environment,
                c"i".as_ptr(),
                3,
                c"c".as_ptr(),
                c"%s at %d: %g is 100%%, %lu, then %.3f and %s".as_ptr(),
                word.as_ptr(),
                -7i32,
                0.5f64,
                1u64 << 40,
                2.25f64,
                word.as_ptr(),
            );
        }
        assert_eq!(log.messages(), ["fmi2Error: ceil at -7: 0.5 is 100%, 1099511627776, then 2.25 and ceil"]);
    }
}
