//! A model of FMI 3.0 behind FMI 2.0's table of functions: what calls an FMU of 2.0 calls one of 3.0 without knowing.
//!
//! The rest of the runtime knows scalars of four types, `fmi2SetupExperiment`, `fmi2NewDiscreteStates`. [`Adapter`] is the
//! component that it is given: each function of the table ([`TABLE`]) does what FMI 3.0 asks for instead.
//!
//! | file | what |
//! |---|---|
//! | `functions` | the library's own functions |
//! | `values` | scalars in arrays of fourteen types |
//! | `clocks` | ticks of input clocks as time events |
//! | `table` | the functions of FMI 2.0, each a line |
//!
//! What differs: start, stop and tolerance are given when initialisation begins; `fmi3SetTime` is legal in Continuous-Time
//! Mode only, so that in Event Mode the time is kept, not set; sizes of vectors are asked for, and a vector of another size
//! is an error; structural parameters are set in Configuration Mode, again after each reset.
#![allow(unsafe_code)]

mod clocks;
mod functions;
mod table;
mod values;

use super::loader::{self, Component, Library};
use super::{Callbacks, EventInfo, Instantiation, LoadError};
use crate::resources::path_from_uri;
use crate::status::Status;
use clocks::Clocks;
use fmi3_types::IntervalQualifier;
use functions::Functions;
use std::ffi::{CStr, CString, c_char, c_void};
use stepper::plan::{Inner, Type};
use values::Values;

const OK: i32 = 0;
const ERROR: i32 = 3;

/// An instance of a model of FMI 3.0.
struct Adapter {
    functions: Functions,
    component: Component,
    /// What the model's messages are handed to. Apart, because the model speaks inside its calls.
    environment: Box<Environment>,
    values: Values,
    clocks: Clocks,
    /// Scratch: clocks that tick now.
    ticking: Vec<u32>,
    structure: Vec<(u32, Type, u64)>,
    tolerance: Option<f64>,
    start: f64,
    stop: Option<f64>,
    time: f64,
    /// In Event Mode; and no clock has ticked in this event yet.
    in_event: bool,
    fresh_event: bool,
    /// Asked for when the model is initialised.
    states: usize,
    indicators: usize,
}

struct Environment {
    callbacks: Callbacks,
    name: CString,
}

/// A saved state: the model's own, and the schedule of its clocks.
struct Saved {
    state: *mut c_void,
    clocks: Clocks,
    time: f64,
    in_event: bool,
}

/// Instantiate the model of a library. Gives the component, and the functions to call it with.
///
/// # Safety
/// Foreign code runs; `callbacks` is alive as long as the instance.
pub(super) unsafe fn instantiate(
    library: &Library,
    prefix: &str,
    inner: &Inner,
    request: &Instantiation,
    callbacks: &Callbacks,
) -> Result<(Component, loader::Functions), LoadError> {
    let functions = Functions::resolve(library, prefix)?;
    let text = |text: &str| CString::new(text.replace('\0', "")).unwrap_or_default();
    let (name, token) = (text(request.name), text(request.guid));
    // A path, not a URI, and with the separator at its end that FMI 3.0.1 asks for.
    let mut path = path_from_uri(request.resources).to_string_lossy().into_owned();
    if !path.ends_with(std::path::MAIN_SEPARATOR) {
        path.push(std::path::MAIN_SEPARATOR);
    }
    let path = text(&path);
    let mut adapter = Box::new(Adapter {
        functions,
        component: std::ptr::null_mut(),
        environment: Box::new(Environment { callbacks: *callbacks, name }),
        values: Values::new(&inner.arrays),
        clocks: Clocks::new(&inner.clocks),
        ticking: Vec::with_capacity(inner.clocks.len()),
        structure: inner.structure.clone(),
        tolerance: None,
        start: 0.0,
        stop: None,
        time: 0.0,
        in_event: false,
        fresh_event: false,
        states: usize::MAX,
        indicators: usize::MAX,
    });
    let Some(instantiate) = functions.instantiate else { return Err(LoadError::Instantiate) };
    let environment = (&raw const *adapter.environment).cast_mut().cast::<c_void>();
    // SAFETY: C strings that outlive the call; the environment outlives the instance.
    adapter.component = unsafe {
        instantiate(
            adapter.environment.name.as_ptr(),
            token.as_ptr(),
            path.as_ptr(),
            request.visible.into(),
            request.logging.into(),
            environment,
            Some(log_message),
        )
    };
    if adapter.component.is_null() {
        return Err(LoadError::Instantiate);
    }
    if adapter.configure() > 1 {
        let component = Box::into_raw(adapter).cast();
        // SAFETY: it was just made.
        unsafe { table::free_instance(component) };
        return Err(LoadError::Configure);
    }
    Ok((Box::into_raw(adapter).cast(), table::of(&functions)))
}

/// `fmi3LogMessageCallback`: handed to the host of FMI 2.0.
unsafe extern "C" fn log_message(
    environment: *mut c_void,
    status: i32,
    category: *const c_char,
    message: *const c_char,
) {
    // SAFETY: the environment was given at instantiation, and nobody changes it.
    let Some(Environment { callbacks, name }) = (unsafe { environment.cast::<Environment>().as_ref() })
    else {
        return;
    };
    let text = |text: *const c_char| {
        // SAFETY: null or a C string, by FMI's contract.
        if text.is_null() { c"" } else { unsafe { CStr::from_ptr(text) } }
    };
    let (category, message) = (text(category), text(message));
    callbacks.log(name, Status::from_c(status), category, format_args!("{}", Shown(message)));
}

/// A C string as text without allocation; what is no UTF-8 is left out.
struct Shown<'a>(&'a CStr);

impl std::fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.to_bytes().utf8_chunks().try_for_each(|chunk| f.write_str(chunk.valid()))
    }
}

impl Adapter {
    fn plain(&self, function: Option<unsafe extern "C-unwind" fn(Component) -> i32>) -> i32 {
        // SAFETY: the library's own function for its own component.
        function.map_or(ERROR, |function| unsafe { function(self.component) })
    }

    /// A message of ours, in the model's name.
    #[cold]
    fn complain(&self, what: std::fmt::Arguments) -> i32 {
        let Environment { callbacks, name } = &*self.environment;
        callbacks.log(name, Status::Error, c"logStatusError", what);
        ERROR
    }

    /// Set structural parameters in Configuration Mode.
    fn configure(&mut self) -> i32 {
        if self.structure.is_empty() {
            return OK;
        }
        let status = self.plain(self.functions.enter_configuration_mode);
        if status > 1 {
            return status;
        }
        for &(reference, kind, value) in &self.structure {
            macro_rules! set {
                ($function:ident, $type:ty) => {{
                    let (Some(set), Ok(value)) = (self.functions.$function, <$type>::try_from(value)) else {
                        return ERROR;
                    };
                    // SAFETY: one reference, one value.
                    unsafe { set(self.component, &raw const reference, 1, &raw const value, 1) }
                }};
            }
            let status = match kind {
                Type::Int8 => set!(set_int8, i8),
                Type::UInt8 => set!(set_uint8, u8),
                Type::Int16 => set!(set_int16, i16),
                Type::UInt16 => set!(set_uint16, u16),
                Type::Int32 => set!(set_int32, i32),
                Type::UInt32 => set!(set_uint32, u32),
                Type::Int64 => set!(set_int64, i64),
                _ => set!(set_uint64, u64),
            };
            if status > 1 {
                return status;
            }
        }
        self.plain(self.functions.exit_configuration_mode)
    }

    fn enter_initialization_mode(&mut self) -> i32 {
        let Some(enter) = self.functions.enter_initialization_mode else { return ERROR };
        self.time = self.start;
        // SAFETY: numbers only.
        unsafe {
            enter(
                self.component,
                self.tolerance.is_some().into(),
                self.tolerance.unwrap_or(0.0),
                self.start,
                self.stop.is_some().into(),
                self.stop.unwrap_or(0.0),
            )
        }
    }

    fn exit_initialization_mode(&mut self) -> i32 {
        let status = self.plain(self.functions.exit_initialization_mode);
        if status > 1 {
            return status;
        }
        (self.in_event, self.fresh_event) = (true, true);
        let count = |function: Option<unsafe extern "C-unwind" fn(Component, *mut usize) -> i32>| {
            let mut count = usize::MAX;
            // SAFETY: room for one number.
            let status = function.map_or(ERROR, |it| unsafe { it(self.component, &raw mut count) });
            if status <= 1 { count } else { usize::MAX }
        };
        (self.states, self.indicators) =
            (count(self.functions.number_of_states), count(self.functions.number_of_indicators));
        let (functions, component) = (self.functions, self.component);
        let ask = |reference: u32| {
            let (interval, _) = interval(&functions, component, reference)?;
            let mut shift = 0.0;
            // SAFETY: one reference, one value. A model that has no shift need not have the function.
            let asked = functions
                .get_shift
                .map(|get| unsafe { get(component, &raw const reference, 1, &raw mut shift) });
            Some((interval, if asked.is_some_and(|status| status <= 1) { shift } else { 0.0 }))
        };
        match self.clocks.start(self.start, ask) {
            Ok(()) => status,
            Err(reference) => self.complain(format_args!(
                "the interval of the clock with value reference {reference} is no time that can be waited for"
            )),
        }
    }

    fn enter_event_mode(&mut self) -> i32 {
        let status = self.plain(self.functions.enter_event_mode);
        if status <= 1 {
            (self.in_event, self.fresh_event) = (true, true);
        }
        status
    }

    fn enter_continuous_time_mode(&mut self) -> i32 {
        let status = self.plain(self.functions.enter_continuous_time_mode);
        if status <= 1 {
            self.in_event = false;
        }
        status
    }

    /// In Event Mode time stands still: a model of FMI 3.0 knows it from Continuous-Time Mode.
    fn set_time(&mut self, time: f64) -> i32 {
        if self.in_event {
            if time == self.time {
                return OK;
            }
            return self
                .complain(format_args!("time cannot be set to {time} in Event Mode at {}", self.time));
        }
        self.time = time;
        // SAFETY: numbers only.
        self.functions.set_time.map_or(ERROR, |set| unsafe { set(self.component, time) })
    }

    /// Clocks tick in the first iteration of an event; then the model's discrete states are updated.
    fn new_discrete_states(&mut self, info: &mut EventInfo) -> i32 {
        if std::mem::take(&mut self.fresh_event) && !self.clocks.is_empty() {
            self.ticking.clear();
            let ticking = &mut self.ticking;
            self.clocks.tick(self.time, |reference| ticking.push(reference));
            for reference in &self.ticking {
                let Some(set) = self.functions.set_clock else { return ERROR };
                // SAFETY: one reference, one value.
                let status = unsafe { set(self.component, reference, 1, &1) };
                if status > 1 {
                    return status;
                }
            }
        }
        let mut flags = [0u8; 5];
        let mut next = 0.0;
        let Some(update) = self.functions.update_discrete_states else { return ERROR };
        let [update_needed, terminate, nominals, states, next_defined] = &mut flags;
        // SAFETY: room for one value each.
        let status = unsafe {
            update(self.component, update_needed, terminate, nominals, states, next_defined, &raw mut next)
        };
        if status > 1 {
            return status;
        }
        let again = flags[0] != 0;
        if !again && !self.clocks.is_empty() {
            let (functions, component) = (self.functions, self.component);
            self.clocks.ask(self.time, |reference| interval(&functions, component, reference));
        }
        let own = (flags[4] != 0).then_some(next);
        let next = match (own, self.clocks.next()) {
            // A number that is none stays one: the caller tells.
            (Some(own), Some(tick)) if own.is_nan() || own <= tick => Some(own),
            (own, tick) => tick.or(own),
        };
        *info = EventInfo {
            new_discrete_states_needed: again.into(),
            terminate_simulation: (flags[1] != 0).into(),
            nominals_of_continuous_states_changed: (flags[2] != 0).into(),
            values_of_continuous_states_changed: (flags[3] != 0).into(),
            next_event_time_defined: next.is_some().into(),
            next_event_time: next.unwrap_or(0.0),
        };
        status
    }

    fn completed_integrator_step(&mut self, no_set_before: bool) -> (i32, bool, bool) {
        let (mut enter, mut terminate) = (0u8, 0u8);
        let Some(completed) = self.functions.completed_integrator_step else { return (ERROR, false, false) };
        // SAFETY: room for one value each.
        let status =
            unsafe { completed(self.component, no_set_before.into(), &raw mut enter, &raw mut terminate) };
        (status, enter != 0, terminate != 0)
    }

    fn reset(&mut self) -> i32 {
        let status = self.plain(self.functions.reset);
        if status > 1 {
            return status;
        }
        (self.in_event, self.fresh_event) = (false, false);
        status.max(self.configure())
    }

    /// The model's own number of continuous states or indicators, if it told one, is this.
    fn expect(&self, what: &str, own: usize, asked: usize) -> bool {
        let right = own == usize::MAX || own == asked;
        if !right {
            self.complain(format_args!(
                "the model has {own} {what}, its modelDescription.xml says {asked}: they do not belong together"
            ));
        }
        right
    }

    /// Over what `saved` holds, or as a new one.
    ///
    /// # Safety
    /// `saved` is null or came from here.
    unsafe fn get_fmu_state(&mut self, saved: &mut *mut c_void) -> i32 {
        let Some(get) = self.functions.get_fmu_state else { return ERROR };
        // SAFETY: promised by the caller.
        let held = unsafe { saved.cast::<Saved>().as_mut() };
        let mut state = held.as_ref().map_or(std::ptr::null_mut(), |held| held.state);
        // SAFETY: null or the model's own state.
        let status = unsafe { get(self.component, &raw mut state) };
        if status > 1 {
            return status;
        }
        match held {
            Some(held) => {
                (held.state, held.time, held.in_event) = (state, self.time, self.in_event);
                held.clocks.clone_from(&self.clocks);
            }
            None => *saved = self.keep(state),
        }
        status
    }

    fn keep(&self, state: *mut c_void) -> *mut c_void {
        let saved = Saved { state, clocks: self.clocks.clone(), time: self.time, in_event: self.in_event };
        Box::into_raw(Box::new(saved)).cast()
    }

    fn set_fmu_state(&mut self, saved: &Saved) -> i32 {
        // SAFETY: the model's own state.
        let status =
            self.functions.set_fmu_state.map_or(ERROR, |set| unsafe { set(self.component, saved.state) });
        if status <= 1 {
            self.clocks.clone_from(&saved.clocks);
            (self.time, self.in_event) = (saved.time, saved.in_event);
            // Saved between two iterations of an event, clocks have ticked already; before the first, they tick then.
            self.fresh_event = saved.in_event;
        }
        status
    }

    /// Bytes of ours behind the model's own.
    fn tail(&self) -> usize {
        9 + self.clocks.saved_size()
    }
}

/// A clock's interval in seconds, and what the model says of it.
fn interval(functions: &Functions, component: Component, reference: u32) -> Option<(f64, IntervalQualifier)> {
    let (mut interval, mut qualifier) = (0.0, 0);
    let get = functions.get_interval?;
    // SAFETY: one reference, one value each.
    let status = unsafe { get(component, &raw const reference, 1, &raw mut interval, &raw mut qualifier) };
    (status <= 1).then(|| (interval, IntervalQualifier::from_c(qualifier)))
}
