//! A small importer: an exported FMU through its C functions.
#![allow(unsafe_code)]

use crate::util::unzip;
use fmi2_types::{Callbacks, Logger, Status};
use model_description::{Kind, ModelDescription};
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::{Arc, Mutex};
use tempfile::TempDir;

pub const OK: i32 = Status::Ok as i32;
pub const WARNING: i32 = Status::Warning as i32;
pub const DISCARD: i32 = Status::Discard as i32;
pub const ERROR: i32 = Status::Error as i32;
pub const FATAL: i32 = Status::Fatal as i32;

pub const CO_SIMULATION: i32 = fmi2_types::Kind::CoSimulation as i32;

type C = *mut c_void;
type Refs = *const u32;

macro_rules! functions {
    ($($name:ident($($argument:ty),*) $(-> $result:ty)?;)+) => {
        /// Every function of FMI 2.0 for Co-Simulation, found by name.
        #[allow(non_snake_case)]
        pub struct Functions { $(pub $name: unsafe extern "C" fn($($argument),*) $(-> $result)?,)+ }

        impl Functions {
            fn load(library: &libloading::Library) -> Functions {
                // SAFETY: the signatures are those of the FMI standard.
                unsafe { Functions { $($name: *library.get(stringify!($name)).unwrap(),)+ } }
            }
        }
    };
}

functions! {
    fmi2GetTypesPlatform() -> *const c_char;
    fmi2GetVersion() -> *const c_char;
    fmi2SetDebugLogging(C, i32, usize, *const *const c_char) -> i32;
    fmi2Instantiate(*const c_char, i32, *const c_char, *const c_char, *const Callbacks, i32, i32) -> C;
    fmi2FreeInstance(C);
    fmi2SetupExperiment(C, i32, f64, f64, i32, f64) -> i32;
    fmi2EnterInitializationMode(C) -> i32;
    fmi2ExitInitializationMode(C) -> i32;
    fmi2Terminate(C) -> i32;
    fmi2Reset(C) -> i32;
    fmi2GetReal(C, Refs, usize, *mut f64) -> i32;
    fmi2GetInteger(C, Refs, usize, *mut i32) -> i32;
    fmi2GetBoolean(C, Refs, usize, *mut i32) -> i32;
    fmi2GetString(C, Refs, usize, *mut *const c_char) -> i32;
    fmi2SetReal(C, Refs, usize, *const f64) -> i32;
    fmi2SetInteger(C, Refs, usize, *const i32) -> i32;
    fmi2SetBoolean(C, Refs, usize, *const i32) -> i32;
    fmi2SetString(C, Refs, usize, *const *const c_char) -> i32;
    fmi2GetFMUstate(C, *mut C) -> i32;
    fmi2SetFMUstate(C, C) -> i32;
    fmi2FreeFMUstate(C, *mut C) -> i32;
    fmi2SerializedFMUstateSize(C, C, *mut usize) -> i32;
    fmi2SerializeFMUstate(C, C, *mut u8, usize) -> i32;
    fmi2DeSerializeFMUstate(C, *const u8, usize, *mut C) -> i32;
    fmi2GetDirectionalDerivative(C, Refs, usize, Refs, usize, *const f64, *mut f64) -> i32;
    fmi2SetRealInputDerivatives(C, Refs, usize, *const i32, *const f64) -> i32;
    fmi2GetRealOutputDerivatives(C, Refs, usize, *const i32, *mut f64) -> i32;
    fmi2DoStep(C, f64, f64, i32) -> i32;
    fmi2CancelStep(C) -> i32;
    fmi2GetStatus(C, i32, *mut i32) -> i32;
    fmi2GetRealStatus(C, i32, *mut f64) -> i32;
    fmi2GetIntegerStatus(C, i32, *mut i32) -> i32;
    fmi2GetBooleanStatus(C, i32, *mut i32) -> i32;
    fmi2GetStringStatus(C, i32, *mut *const c_char) -> i32;
}

pub type Log = Mutex<Vec<(i32, String)>>;

/// A logger that takes no variable arguments, as hosts have that are not written in C: what it is given as
/// format is the message, with each `%` doubled. (FMI's logger is variadic; on the platforms of these tests
/// the same convention.)
unsafe extern "C" fn log(
    environment: C,
    _: *const c_char,
    status: i32,
    _: *const c_char,
    format: *const c_char,
) {
    // SAFETY: the environment is the log of a living instance, the format a C string.
    let (log, format) = unsafe { (&*environment.cast::<Log>(), CStr::from_ptr(format)) };
    log.lock().unwrap().push((status, format.to_string_lossy().replace("%%", "%")));
}

/// An unpacked FMU.
pub struct Exported {
    pub file: PathBuf,
    pub root: PathBuf,
    pub description: ModelDescription,
    pub functions: Arc<Functions>,
    library: Arc<libloading::Library>,
    _folder: TempDir,
}

impl Exported {
    /// The file lies in `folder`, which is kept.
    pub fn unpack(file: &Path, folder: TempDir) -> Exported {
        let root = folder.path().join("out dir");
        unzip(file, &root);
        let xml = std::fs::read(root.join("modelDescription.xml")).unwrap();
        let description = model_description::read(&xml).unwrap();
        let binaries = root.join("binaries/linux64");
        let binary = std::fs::read_dir(binaries).unwrap().next().unwrap().unwrap().path();
        // SAFETY: the library is the one under test.
        let library = Arc::new(unsafe { libloading::Library::new(binary) }.unwrap());
        let functions = Arc::new(Functions::load(&library));
        Exported { file: file.into(), root, description, functions, library, _folder: folder }
    }

    pub fn reference(&self, name: &str) -> u32 {
        self.find(name).0
    }

    fn find(&self, name: &str) -> (u32, Kind) {
        let found = self.description.variables.iter().find(|variable| variable.name == name);
        let variable = found.unwrap_or_else(|| panic!("there is no {name}"));
        (variable.value_reference, variable.kind)
    }

    fn real(&self, name: &str) -> u32 {
        let (reference, kind) = self.find(name);
        assert_eq!(kind, Kind::Real, "{name}");
        reference
    }

    /// `file:///...` of the resources; blanks become `%20`.
    pub fn location(&self) -> String {
        format!("file://{}/resources", self.root.display()).replace(' ', "%20")
    }

    /// Instantiate with anything that an importer might say. The log is there in both cases.
    pub fn instantiate_with(
        &self,
        name: Option<&str>,
        kind: i32,
        guid: Option<&str>,
        location: Option<&str>,
    ) -> (Option<Fmu<'_>>, Vec<(i32, String)>) {
        let text = |text: Option<&str>| text.map(|text| CString::new(text).unwrap());
        let pointer = |text: &Option<CString>| text.as_ref().map_or(ptr::null(), |text| text.as_ptr());
        let (name, guid, location) = (text(name), text(guid), text(location));
        let log_of_instance = Arc::new(Log::default());
        let callbacks = Box::new(Callbacks {
            // SAFETY: the same calling convention, see `log`.
            logger: Some(unsafe { std::mem::transmute::<*const (), Logger>(log as *const ()) }),
            environment: Arc::as_ptr(&log_of_instance).cast_mut().cast(),
            ..Callbacks::NONE
        });
        // SAFETY: strings and callbacks live long enough; the callbacks as long as the instance.
        let component = unsafe {
            (self.functions.fmi2Instantiate)(
                pointer(&name),
                kind,
                pointer(&guid),
                pointer(&location),
                &raw const *callbacks,
                0,
                1,
            )
        };
        let said = log_of_instance.lock().unwrap().clone();
        let fmu = (!component.is_null()).then(|| Fmu {
            exported: self,
            f: self.functions.clone(),
            c: component,
            log: log_of_instance,
            _callbacks: callbacks,
            _library: self.library.clone(),
        });
        (fmu, said)
    }

    pub fn instantiate(&self) -> Fmu<'_> {
        self.instantiate_as("test")
    }

    pub fn instantiate_as(&self, name: &str) -> Fmu<'_> {
        let guid = Some(self.description.guid.as_str());
        let (fmu, log) = self.instantiate_with(Some(name), CO_SIMULATION, guid, Some(&self.location()));
        fmu.unwrap_or_else(|| panic!("not instantiated: {log:?}"))
    }

    /// Instantiated and initialised at `start`, with start values for Reals.
    pub fn start(&self, start: f64, values: &[(&str, f64)]) -> Fmu<'_> {
        let mut fmu = self.instantiate();
        for (name, value) in values {
            assert_eq!(fmu.set_real(name, *value), OK, "{name}: {:?}", fmu.messages());
        }
        fmu.initialise(start);
        fmu
    }
}

/// An instance, freed on drop.
pub struct Fmu<'a> {
    pub exported: &'a Exported,
    pub f: Arc<Functions>,
    pub c: C,
    /// Can be kept to see what the model says while it is freed.
    pub log: Arc<Log>,
    _callbacks: Box<Callbacks>,
    _library: Arc<libloading::Library>,
}

impl Drop for Fmu<'_> {
    fn drop(&mut self) {
        // SAFETY: the instance is alive and not used again.
        unsafe { (self.f.fmi2FreeInstance)(self.c) }
    }
}

macro_rules! scalar {
    ($get:ident, $set:ident, $c_get:ident, $c_set:ident, $type:ty) => {
        pub fn $get(&mut self, name: &str) -> $type {
            let (reference, mut value) = (self.exported.reference(name), <$type>::default());
            // SAFETY: one reference, one value.
            let status = unsafe { (self.f.$c_get)(self.c, &reference, 1, &mut value) };
            assert_eq!(status, OK, "{name}: {:?}", self.messages());
            value
        }

        pub fn $set(&mut self, name: &str, value: $type) -> i32 {
            let reference = self.exported.reference(name);
            // SAFETY: one reference, one value.
            unsafe { (self.f.$c_set)(self.c, &reference, 1, &value) }
        }
    };
}

impl Fmu<'_> {
    pub fn messages(&self) -> Vec<(i32, String)> {
        self.log.lock().unwrap().clone()
    }

    /// With a tolerance too.
    pub fn setup_with_tolerance(&mut self, start: f64, stop: f64, tolerance: f64) -> i32 {
        // SAFETY: the instance is alive.
        unsafe { (self.f.fmi2SetupExperiment)(self.c, 1, tolerance, start, 1, stop) }
    }

    pub fn setup(&mut self, start: f64, stop: Option<f64>) -> i32 {
        let (defined, stop) = (stop.is_some() as i32, stop.unwrap_or(0.0));
        // SAFETY: the instance is alive.
        unsafe { (self.f.fmi2SetupExperiment)(self.c, 0, 0.0, start, defined, stop) }
    }

    pub fn enter(&mut self) -> i32 {
        // SAFETY: the instance is alive.
        unsafe { (self.f.fmi2EnterInitializationMode)(self.c) }
    }

    pub fn exit(&mut self) -> i32 {
        // SAFETY: the instance is alive.
        unsafe { (self.f.fmi2ExitInitializationMode)(self.c) }
    }

    pub fn initialise(&mut self, start: f64) {
        assert_eq!([self.setup(start, None), self.enter(), self.exit()], [OK; 3], "{:?}", self.messages());
    }

    pub fn terminate(&mut self) -> i32 {
        // SAFETY: the instance is alive.
        unsafe { (self.f.fmi2Terminate)(self.c) }
    }

    pub fn reset(&mut self) -> i32 {
        // SAFETY: the instance is alive.
        unsafe { (self.f.fmi2Reset)(self.c) }
    }

    pub fn try_step(&mut self, time: f64, step: f64) -> i32 {
        // SAFETY: the instance is alive.
        unsafe { (self.f.fmi2DoStep)(self.c, time, step, 1) }
    }

    pub fn step(&mut self, time: f64, step: f64) {
        assert_eq!(self.try_step(time, step), OK, "at {time}: {:?}", self.messages());
    }

    /// `count` steps from `start`, counted as importers should: t = start + k h.
    pub fn steps(&mut self, start: f64, step: f64, count: usize) {
        for k in 0..count {
            self.step(start + k as f64 * step, step);
        }
    }

    scalar!(real, set_real, fmi2GetReal, fmi2SetReal, f64);
    scalar!(integer, set_integer, fmi2GetInteger, fmi2SetInteger, i32);
    scalar!(boolean, set_boolean, fmi2GetBoolean, fmi2SetBoolean, i32);

    pub fn reals(&mut self, names: &[&str]) -> Vec<f64> {
        names.iter().map(|name| self.real(name)).collect()
    }

    pub fn string(&mut self, name: &str) -> String {
        let (reference, mut value) = (self.exported.reference(name), ptr::null());
        // SAFETY: one reference, one value; the string lives until the next call.
        unsafe {
            let status = (self.f.fmi2GetString)(self.c, &reference, 1, &mut value);
            assert_eq!(status, OK, "{name}: {:?}", self.messages());
            CStr::from_ptr(value).to_str().unwrap().to_owned()
        }
    }

    pub fn set_string(&mut self, name: &str, value: &str) -> i32 {
        let (reference, value) = (self.exported.reference(name), CString::new(value).unwrap());
        // SAFETY: one reference, one value.
        unsafe { (self.f.fmi2SetString)(self.c, &reference, 1, &value.as_ptr()) }
    }

    pub fn set_input_derivative(&mut self, name: &str, order: i32, slope: f64) -> i32 {
        let reference = self.exported.real(name);
        // SAFETY: one reference, one order, one value.
        unsafe { (self.f.fmi2SetRealInputDerivatives)(self.c, &reference, 1, &order, &slope) }
    }

    pub fn output_derivative(&mut self, name: &str) -> f64 {
        let (reference, mut value) = (self.exported.real(name), 0.0);
        // SAFETY: one reference, one order, one value.
        let status = unsafe { (self.f.fmi2GetRealOutputDerivatives)(self.c, &reference, 1, &1, &mut value) };
        assert_eq!(status, OK, "{:?}", self.messages());
        value
    }

    pub fn directional_derivative(&mut self, unknown: &str, known: &str, seed: f64) -> f64 {
        let (unknown, known, mut value) = (self.exported.real(unknown), self.exported.real(known), 0.0);
        // SAFETY: one of each.
        let status = unsafe {
            (self.f.fmi2GetDirectionalDerivative)(self.c, &unknown, 1, &known, 1, &seed, &mut value)
        };
        assert_eq!(status, OK, "{:?}", self.messages());
        value
    }

    pub fn last_successful_time(&mut self) -> f64 {
        let mut time = f64::NAN;
        // SAFETY: the kind is fmi2LastSuccessfulTime, a Real.
        assert_eq!(unsafe { (self.f.fmi2GetRealStatus)(self.c, 2, &mut time) }, OK);
        time
    }

    /// Save into `state`, which is null or was saved before.
    pub fn save(&mut self, mut state: C) -> C {
        // SAFETY: null or a state of this instance.
        let status = unsafe { (self.f.fmi2GetFMUstate)(self.c, &mut state) };
        assert_eq!(status, OK, "{:?}", self.messages());
        state
    }

    pub fn restore(&mut self, state: C) {
        // SAFETY: a state of this instance.
        assert_eq!(unsafe { (self.f.fmi2SetFMUstate)(self.c, state) }, OK, "{:?}", self.messages());
    }

    pub fn free(&mut self, mut state: C) {
        // SAFETY: a state of this instance.
        assert_eq!(unsafe { (self.f.fmi2FreeFMUstate)(self.c, &mut state) }, OK);
        assert!(state.is_null(), "a freed state must be NULL");
    }

    /// `Err`: the status.
    pub fn serialized_size(&mut self, state: C) -> Result<usize, i32> {
        let mut size = 0;
        // SAFETY: a state of this instance.
        let status = unsafe { (self.f.fmi2SerializedFMUstateSize)(self.c, state, &mut size) };
        if status == OK { Ok(size) } else { Err(status) }
    }

    pub fn serialize(&mut self, state: C) -> Vec<u8> {
        let size = self.serialized_size(state).unwrap();
        let mut bytes = vec![0; size];
        // SAFETY: a state of this instance; the buffer has the size that was asked for.
        unsafe {
            assert_eq!((self.f.fmi2SerializeFMUstate)(self.c, state, bytes.as_mut_ptr(), size), OK);
            bytes
        }
    }

    pub fn deserialize(&mut self, bytes: &[u8]) -> Result<C, i32> {
        let mut state = ptr::null_mut();
        // SAFETY: as many bytes as told.
        let status =
            unsafe { (self.f.fmi2DeSerializeFMUstate)(self.c, bytes.as_ptr(), bytes.len(), &mut state) };
        if status == OK { Ok(state) } else { Err(status) }
    }
}
