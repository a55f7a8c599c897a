//! Open a foreign FMU's library and find its functions.
//!
//! Functions that FMI demands of a Model-Exchange FMU must be there; the others are found on best effort, because
//! real tools leave some out: calling an absent one gives `fmi2Error`.
//!
//! How the library is opened matters on Linux:
//! - by full path and `RTLD_LOCAL`, so that two FMUs with equal symbol names do not meet;
//! - with `RTLD_DEEPBIND` **only where the process already has a symbol that FMUs bring along** ([`CLASHING`]:
//!   `fmi2*` or a solver), exported to everyone by the host itself or by a library that it opened with
//!   `RTLD_GLOBAL`. Without it the FMU would call that function in place of its own. It is not the rule, because a
//!   library bound that way takes `malloc` from the C library even where the host has replaced it (jemalloc, address
//!   sanitizer), and memory that one hands out and the other frees ends the process;
//! - after libm was loaded globally: some Dymola libraries use `ceil` without linking libm;
//! - `RTLD_NOW` first, so that no symbol is bound inside a step; lazily if that fails, because a symbol
//!   that is never called may be missing.
//!
//! The functions are called as "C-unwind": a C++ exception that leaves the model then ends the process with a message
//! at the first `catch_unwind` above, which is defined; through plain "C" it would be undefined behaviour. It cannot be
//! turned into a status, because Rust does not catch foreign exceptions.
#![allow(unsafe_code)]

use super::{Callbacks, EventInfo, Kind, LoadError};
use std::ffi::{c_char, c_void};
use std::path::Path;

pub(super) type Component = *mut c_void;
type Plain = unsafe extern "C-unwind" fn(Component) -> i32;
type GetReals = unsafe extern "C-unwind" fn(Component, *const u32, usize, *mut f64) -> i32;
type SetReals = unsafe extern "C-unwind" fn(Component, *const u32, usize, *const f64) -> i32;
type GetIntegers = unsafe extern "C-unwind" fn(Component, *const u32, usize, *mut i32) -> i32;
type SetIntegers = unsafe extern "C-unwind" fn(Component, *const u32, usize, *const i32) -> i32;
type GetStrings = unsafe extern "C-unwind" fn(Component, *const u32, usize, *mut *const c_char) -> i32;
type SetStrings = unsafe extern "C-unwind" fn(Component, *const u32, usize, *const *const c_char) -> i32;
type GetVector = unsafe extern "C-unwind" fn(Component, *mut f64, usize) -> i32;
type SetVector = unsafe extern "C-unwind" fn(Component, *const f64, usize) -> i32;
pub(super) type Instantiate = unsafe extern "C-unwind" fn(
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
pub(super) struct Functions {
    pub free_instance: Option<unsafe extern "C-unwind" fn(Component)>,
    pub set_debug_logging:
        Option<unsafe extern "C-unwind" fn(Component, i32, usize, *const *const c_char) -> i32>,
    pub setup_experiment: Option<unsafe extern "C-unwind" fn(Component, i32, f64, f64, i32, f64) -> i32>,
    pub enter_initialization_mode: Option<Plain>,
    pub exit_initialization_mode: Option<Plain>,
    pub terminate: Option<Plain>,
    pub reset: Option<Plain>,
    pub get_real: Option<GetReals>,
    pub set_real: Option<SetReals>,
    pub get_integer: Option<GetIntegers>,
    pub set_integer: Option<SetIntegers>,
    pub get_boolean: Option<GetIntegers>,
    pub set_boolean: Option<SetIntegers>,
    pub get_string: Option<GetStrings>,
    pub set_string: Option<SetStrings>,
    pub get_fmu_state: Option<unsafe extern "C-unwind" fn(Component, *mut *mut c_void) -> i32>,
    pub set_fmu_state: Option<unsafe extern "C-unwind" fn(Component, *mut c_void) -> i32>,
    pub free_fmu_state: Option<unsafe extern "C-unwind" fn(Component, *mut *mut c_void) -> i32>,
    pub serialized_size: Option<unsafe extern "C-unwind" fn(Component, *mut c_void, *mut usize) -> i32>,
    pub serialize: Option<unsafe extern "C-unwind" fn(Component, *mut c_void, *mut u8, usize) -> i32>,
    pub deserialize:
        Option<unsafe extern "C-unwind" fn(Component, *const u8, usize, *mut *mut c_void) -> i32>,
    #[allow(clippy::type_complexity)]
    pub directional: Option<
        unsafe extern "C-unwind" fn(
            Component,
            *const u32,
            usize,
            *const u32,
            usize,
            *const f64,
            *mut f64,
        ) -> i32,
    >,
    pub enter_event_mode: Option<Plain>,
    pub new_discrete_states: Option<unsafe extern "C-unwind" fn(Component, *mut EventInfo) -> i32>,
    pub enter_continuous_time_mode: Option<Plain>,
    pub completed_integrator_step:
        Option<unsafe extern "C-unwind" fn(Component, i32, *mut i32, *mut i32) -> i32>,
    pub set_time: Option<unsafe extern "C-unwind" fn(Component, f64) -> i32>,
    pub set_continuous_states: Option<SetVector>,
    pub get_derivatives: Option<GetVector>,
    pub get_event_indicators: Option<GetVector>,
    pub get_continuous_states: Option<GetVector>,
    pub get_nominals: Option<GetVector>,
    pub do_step: Option<unsafe extern "C-unwind" fn(Component, f64, f64, i32) -> i32>,
}

#[cfg(unix)]
pub(super) type Library = libloading::os::unix::Library;
#[cfg(windows)]
pub(super) type Library = libloading::os::windows::Library;

/// Symbols that FMUs define for themselves: their interface, and the solvers that some are linked with.
#[cfg(all(unix, target_env = "gnu"))]
const CLASHING: [&str; 7] =
    ["fmi2Instantiate", "fmi2GetVersion", "CVodeCreate", "IDACreate", "KINCreate", "N_VNew_Serial", "dgesv_"];

/// `RTLD_DEEPBIND` if a symbol of [`CLASHING`] is visible to everyone in this process, else nothing.
#[cfg(all(unix, target_env = "gnu"))]
fn deep_binding() -> i32 {
    const RTLD_DEEPBIND: i32 = 8;
    let everyone = Library::this();
    // SAFETY: the symbols are looked for, never used.
    let seen = |name: &&str| unsafe { everyone.get::<*const c_void>(name.as_bytes()) }.is_ok();
    if CLASHING.iter().any(seen) { RTLD_DEEPBIND } else { 0 }
}

#[cfg(all(unix, not(target_env = "gnu")))]
fn deep_binding() -> i32 {
    0
}

/// # Safety
/// The library's initialisers run: foreign code that can do anything.
#[cfg(unix)]
pub(super) unsafe fn open(path: &Path) -> Result<Library, LoadError> {
    use libloading::os::unix::{RTLD_GLOBAL, RTLD_LAZY, RTLD_LOCAL, RTLD_NOW};
    let flags = RTLD_LOCAL | deep_binding();
    // SAFETY: libm's initialisers are harmless; the FMU's were accepted by the caller.
    unsafe {
        if let Ok(libm) = Library::open(Some("libm.so.6"), RTLD_NOW | RTLD_GLOBAL) {
            std::mem::forget(libm); // stays for the life of the process
        }
        Library::open(Some(path), RTLD_NOW | flags).or_else(|first| {
            Library::open(Some(path), RTLD_LAZY | flags).map_err(|_| LoadError::Open(reason(&first)))
        })
    }
}

/// # Safety
/// The library's initialisers run: foreign code that can do anything.
#[cfg(windows)]
pub(super) unsafe fn open(path: &Path) -> Result<Library, LoadError> {
    use libloading::os::windows::LOAD_WITH_ALTERED_SEARCH_PATH;
    // Libraries that the FMU needs lie beside it, not beside the importer's program; Windows asks for an absolute
    // path with backslashes then.
    let path = long(std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()));
    // SAFETY: accepted by the caller.
    unsafe { Library::load_with_flags(&path, LOAD_WITH_ALTERED_SEARCH_PATH) }
        .map_err(|error| LoadError::Open(format!("{}: {}", path.display(), reason(&error)))) // Windows names no file
}

/// The form that Windows takes for paths of 260 letters and more. Only for these: some libraries look at their own path.
#[cfg(windows)]
fn long(path: std::path::PathBuf) -> std::path::PathBuf {
    match path.to_str() {
        Some(text) if text.len() >= 260 && !text.starts_with(r"\\?\") => match text.strip_prefix(r"\\") {
            Some(share) => format!(r"\\?\UNC\{share}").into(),
            None => format!(r"\\?\{text}").into(),
        },
        _ => path,
    }
}

/// libloading hides the linker's own words one level down.
fn reason(error: &libloading::Error) -> String {
    use std::error::Error;
    error.source().map_or_else(|| error.to_string(), |source| source.to_string())
}

/// The first of `names` that the library has. More than one name: tools misspell some. A library that was made of sources may
/// have the model's name and `_` before each of them (FMI2_FUNCTION_PREFIX).
///
/// # Safety
/// `T` is the function's true type.
pub(super) unsafe fn symbol<T: Copy>(library: &Library, prefix: &str, names: &[&str]) -> Option<T> {
    names.iter().find_map(|name| {
        // SAFETY: promised by the caller. The library outlives the copy: both live in `Fmu2`.
        let find = |name: &str| unsafe { library.get::<T>(name.as_bytes()) }.ok().map(|found| *found);
        find(name).or_else(|| find(&format!("{prefix}_{name}")))
    })
}

impl Functions {
    pub fn resolve(
        library: &Library,
        prefix: &str,
        kind: Kind,
    ) -> Result<(Instantiate, Functions), LoadError> {
        // SAFETY: the types are those of the FMI 2.0 headers.
        let (instantiate, functions) = unsafe {
            macro_rules! required {
                ($name:literal) => {
                    symbol(library, prefix, &[$name])
                        .ok_or_else(|| LoadError::MissingSymbol($name.to_string()))?
                };
            }
            macro_rules! optional {
                ($($name:literal),+) => { symbol(library, prefix, &[$($name),+]) };
            }
            let instantiate: Instantiate = required!("fmi2Instantiate");
            let functions = Functions {
                free_instance: optional!("fmi2FreeInstance"),
                set_debug_logging: optional!("fmi2SetDebugLogging"),
                setup_experiment: Some(required!("fmi2SetupExperiment")),
                enter_initialization_mode: Some(required!("fmi2EnterInitializationMode")),
                exit_initialization_mode: Some(required!("fmi2ExitInitializationMode")),
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
