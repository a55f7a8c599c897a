//! An FMI 2.0 FMU as its importer calls it, for Model Exchange and for Co-Simulation.
//!
//! Every pointer that crosses is made here from a slice, and every function pointer was found in the library that is
//! kept open beside it.
#![allow(unsafe_code)]

use super::loader::{self, Component, Functions, Library};
use super::{Callbacks, EventInfo, Host, Instantiation, LoadError, Log, logger};
use crate::status::Status;
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::Path;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An instance of a foreign FMU, freed on drop.
pub struct Fmu2 {
    functions: Functions,
    component: Component,
    /// Tells this instance's saved states from those of others.
    identity: u64,
    /// The foreign code keeps a pointer to these: they must not move.
    callbacks: Box<Callbacks>,
    _log: Option<Arc<Log>>,
    /// Last, so that it is closed after everything above is gone.
    _library: Library,
}

unsafe extern "C" {
    fn calloc(count: usize, size: usize) -> *mut c_void;
    fn free(memory: *mut c_void);
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

impl Fmu2 {
    /// Load a library and instantiate its FMU.
    ///
    /// # Safety
    /// Foreign code runs in this process from here on, and can do anything. The caller trusts it, or runs it where
    /// it can do no harm.
    pub unsafe fn load(path: &Path, host: Host, request: &Instantiation) -> Result<Fmu2, LoadError> {
        // SAFETY: promised by the caller.
        let library = unsafe { loader::open(path) }?;
        let (instantiate, functions) = Functions::resolve(&library, request.kind)?;
        let (mut callbacks, log) = match host {
            Host::Callbacks(callbacks) => (callbacks, None),
            Host::Collect(log) => {
                let environment = Arc::as_ptr(&log).cast_mut().cast();
                (logger::collecting(environment), Some(log))
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
        static INSTANCES: AtomicU64 = AtomicU64::new(0);
        Ok(Fmu2 {
            functions,
            component,
            identity: INSTANCES.fetch_add(1, Ordering::Relaxed),
            callbacks,
            _log: log,
            _library: library,
        })
    }

    pub fn callbacks(&self) -> &Callbacks {
        &self.callbacks
    }

    pub fn has_directional_derivative(&self) -> bool {
        self.functions.directional.is_some()
    }

    pub fn set_debug_logging(&mut self, on: bool, categories: &[&CStr]) -> Status {
        let pointers: Vec<_> = categories.iter().map(|category| category.as_ptr()).collect();
        call!(self.set_debug_logging(on as i32, pointers.len(), pointers.as_ptr()))
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

    /// Save the FMU's state into `saved`: over what it holds, or as a new one if it holds nothing.
    pub fn get_fmu_state(&mut self, saved: &mut SavedState) -> Status {
        if !saved.is_empty() && saved.owner != self.identity {
            return Status::Error;
        }
        saved.owner = self.identity;
        call!(self.get_fmu_state(&raw mut saved.state))
    }

    pub fn set_fmu_state(&mut self, saved: &SavedState) -> Status {
        if !self.owns(saved) {
            return Status::Error;
        }
        call!(self.set_fmu_state(saved.state))
    }

    pub fn free_fmu_state(&mut self, saved: &mut SavedState) -> Status {
        if saved.is_empty() {
            return Status::Ok;
        }
        if !self.owns(saved) {
            return Status::Error;
        }
        let status = call!(self.free_fmu_state(&raw mut saved.state));
        saved.state = ptr::null_mut();
        status
    }

    pub fn serialize(&mut self, saved: &SavedState) -> Result<Vec<u8>, Status> {
        if !self.owns(saved) {
            return Err(Status::Error);
        }
        let mut size = 0;
        let status = call!(self.serialized_size(saved.state, &raw mut size));
        if !status.is_usable() {
            return Err(status);
        }
        let mut bytes = Vec::new();
        // The size is the FMU's word: 2^45 must be refused, not end the host.
        bytes.try_reserve_exact(size).map_err(|_| Status::Error)?;
        bytes.resize(size, 0);
        let status = call!(self.serialize(saved.state, bytes.as_mut_ptr(), bytes.len()));
        if status.is_usable() { Ok(bytes) } else { Err(status) }
    }

    pub fn deserialize(&mut self, bytes: &[u8], saved: &mut SavedState) -> Status {
        if !saved.is_empty() && saved.owner != self.identity {
            return Status::Error;
        }
        saved.owner = self.identity;
        call!(self.deserialize(bytes.as_ptr(), bytes.len(), &raw mut saved.state))
    }

    /// This instance made it: another one would follow a pointer that means nothing to it.
    fn owns(&self, saved: &SavedState) -> bool {
        !saved.is_empty() && saved.owner == self.identity
    }
}

impl Drop for Fmu2 {
    fn drop(&mut self) {
        if let Some(free_instance) = self.functions.free_instance {
            // SAFETY: the component is alive and never used again.
            unsafe { free_instance(self.component) }
        }
    }
}

/// The foreign FMU's own saved state; only its maker can look inside or free it.
pub struct SavedState {
    state: *mut c_void,
    /// The identity of the [`Fmu2`] that made it.
    owner: u64,
}

impl SavedState {
    pub fn empty() -> SavedState {
        SavedState { state: ptr::null_mut(), owner: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.state.is_null()
    }
}
