//! The FMI 2.0 functions for Model Exchange, as C calls them.
//!
//! Every entry does the same: turn pointers into slices, call [`Instance`], and let `run` turn
//! the outcome into a status, a log message and a panic-free return. What is legal when is
//! decided in [`crate::instance`].
//!
//! For every entry: a component is null or came from [`fmi2Instantiate`] and was not freed, no
//! other call on it is running, and an array has as many elements as its count says. That is
//! FMI's own contract.

#![allow(unsafe_code, non_snake_case)]
#![allow(clippy::missing_safety_doc)] // one contract for all, above

mod break_down;
#[cfg(test)]
mod tests;

use crate::instance::{Instance, Outcome, Snapshot};
use crate::model::Oddity;
use crate::models::broken::{Act, Broken, Fault};
use crate::strict::Strict;
use break_down::break_down;
use fmi2_types::{Callbacks, EventInfo, Kind, Status};
use std::ffi::{CStr, CString, c_char, c_int};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// What fmi2Component points to.
pub struct Component {
    instance: Instance,
    log: Log,
    /// Where the model is strict about its calls.
    strict: Option<Strict>,
    /// A panic was caught: nothing about the instance is trusted any more.
    poisoned: bool,
    /// It was asked for what it has not, and answers nothing any more.
    dead: bool,
}

struct Log {
    callbacks: Callbacks,
    name: CString,
}

impl Log {
    #[cold]
    fn write(&self, status: Status, message: &str) {
        self.callbacks.log(&self.name, status, c"logStatusError", format_args!("{message}"));
    }
}

/// Carry out a call on a component: panics become `Fatal`, now and ever after; refusals are
/// logged and become `Error`.
#[inline(always)]
unsafe fn run(
    function: &'static str,
    component: *mut Component,
    call: impl FnOnce(&mut Instance) -> Outcome,
) -> Status {
    // SAFETY: null or valid and not aliased, see the header.
    let Some(it) = (unsafe { component.as_mut() }) else { return Status::Error };
    if it.poisoned {
        return Status::Fatal;
    }
    if let Oddity::Broken(fault) = it.instance.oddity() {
        if it.dead {
            it.log.write(Status::Error, &format!("{function}: the model is in its error state"));
            return Status::Error;
        }
        match fault.act(function) {
            // SAFETY: none: a real segmentation fault is the point.
            Some(Act::Crash) => unsafe { std::ptr::null_mut::<u8>().write_volatile(1) },
            Some(Act::Error) => {
                it.log.write(Status::Error, &format!("{function}: not implemented"));
                return Status::Error;
            }
            None => {}
        }
    }
    if let Some((status, message)) = it.strict.as_mut().and_then(|strict| strict.before(function)) {
        if let Some(message) = message {
            it.log.write(Status::Error, &message);
        }
        return status;
    }
    let instance = &mut it.instance;
    let outcome = catch_unwind(AssertUnwindSafe(move || {
        if instance.oddity() != Oddity::None {
            instance.observe(function);
        }
        call(instance)
    }));
    match outcome {
        Ok(Ok(())) => {
            if let Some(strict) = &mut it.strict {
                strict.recovered(function);
            }
            Status::Ok
        }
        Ok(Err(why)) => {
            let message = match &mut it.strict {
                Some(strict) => strict.refused(function, &why),
                None => format!("{function}: {why}"),
            };
            it.log.write(Status::Error, &message);
            Status::Error
        }
        Err(_) => {
            it.poisoned = true;
            it.log.write(Status::Fatal, &format!("{function}: internal error"));
            Status::Fatal
        }
    }
}

unsafe fn slice<'a, T>(pointer: *const T, count: usize) -> Outcome<&'a [T]> {
    match (pointer.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err("an array is a null pointer".into()),
        // SAFETY: not null, `count` elements by the header's contract.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(pointer, count) }),
    }
}

unsafe fn slice_mut<'a, T>(pointer: *mut T, count: usize) -> Outcome<&'a mut [T]> {
    match (pointer.is_null(), count) {
        (_, 0) => Ok(&mut []),
        (true, _) => Err("an array is a null pointer".into()),
        // SAFETY: not null, `count` elements by the header's contract, and not aliased by ours.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts_mut(pointer, count) }),
    }
}

/// Text from C; null and bad UTF-8 become what can be said of them.
unsafe fn text<'a>(pointer: *const c_char) -> std::borrow::Cow<'a, str> {
    match pointer.is_null() {
        true => "".into(),
        // SAFETY: not null, so NUL-terminated by FMI's contract.
        false => unsafe { CStr::from_ptr(pointer) }.to_string_lossy(),
    }
}

// Inquiry, creation, logging

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub extern "C" fn fmi2GetTypesPlatform() -> *const c_char {
    c"default".as_ptr()
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub extern "C" fn fmi2GetVersion() -> *const c_char {
    c"2.0".as_ptr()
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2SetDebugLogging(
    c: *mut Component,
    _on: c_int,
    count: usize,
    categories: *const *const c_char,
) -> Status {
    unsafe {
        run("fmi2SetDebugLogging", c, |_| {
            for &category in slice(categories, count)? {
                if text(category) != "logStatusError" {
                    return Err(format!("there is no log category {}", text(category)));
                }
            }
            Ok(())
        })
    }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2Instantiate(
    name: *const c_char,
    fmu_type: c_int,
    guid: *const c_char,
    resources: *const c_char,
    callbacks: *const Callbacks,
    _visible: c_int,
    _logging: c_int,
) -> *mut Component {
    // SAFETY: null or valid during the call, by FMI's contract.
    let (name, guid, callbacks) = unsafe { (text(name), text(guid), callbacks.as_ref()) };
    let Some(callbacks) = callbacks else { return std::ptr::null_mut() };
    let log = Log { callbacks: *callbacks, name: CString::new(name.as_ref()).unwrap_or_default() };
    let made = catch_unwind(|| match () {
        _ if name.is_empty() => Err("the instance has no name".to_owned()),
        _ if fmu_type == Kind::ModelExchange as c_int => {
            let instance = Instance::new(&guid)?;
            if let Oddity::Broken(fault) = instance.oddity() {
                // SAFETY: null or a C string, by FMI's contract.
                Broken::visit_resources(fault, &unsafe { text(resources) })?;
            }
            Ok(instance)
        }
        _ => Err("this FMU is for Model Exchange only".to_owned()),
    });
    match made.unwrap_or_else(|_| Err("internal error".into())) {
        Ok(instance) => {
            let strict = (instance.oddity() == Oddity::Strict).then(|| Strict::new(&name));
            Box::into_raw(Box::new(Component { instance, log, strict, poisoned: false, dead: false }))
        }
        Err(why) => {
            log.write(Status::Error, &format!("fmi2Instantiate: {why}"));
            std::ptr::null_mut()
        }
    }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2FreeInstance(c: *mut Component) {
    if !c.is_null() {
        // SAFETY: made by `Box::into_raw` in fmi2Instantiate.
        let mut it = unsafe { Box::from_raw(c) };
        match it.instance.oddity() {
            // SAFETY: none: a real segmentation fault is the point.
            Oddity::Broken(Fault::CrashIn("fmi2FreeInstance")) => unsafe {
                std::ptr::null_mut::<u8>().write_volatile(1)
            },
            Oddity::Broken(Fault::HangsAtEnd) => loop {
                std::thread::sleep(std::time::Duration::from_secs(1));
            },
            _ => {}
        }
        let judged = it.strict.as_mut().and_then(|strict| strict.before("fmi2FreeInstance"));
        if let Some((_, Some(message))) = judged {
            it.log.write(Status::Error, &message);
        }
    }
}

// Initialization, termination, reset

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2SetupExperiment(
    c: *mut Component,
    _tolerance_defined: c_int,
    _tolerance: f64,
    start: f64,
    _stop_defined: c_int,
    _stop: f64,
) -> Status {
    unsafe { run("fmi2SetupExperiment", c, |it| it.setup_experiment(start)) }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2EnterInitializationMode(c: *mut Component) -> Status {
    unsafe {
        run("fmi2EnterInitializationMode", c, |it| {
            match it.oddity() {
                // A real segmentation fault, which is the point of the model `crash`.
                Oddity::Crashes => std::ptr::null_mut::<u8>().write_volatile(1),
                Oddity::Hangs => loop {
                    std::thread::sleep(std::time::Duration::from_secs(1));
                },
                _ => {}
            }
            it.enter_initialization()
        })
    }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2ExitInitializationMode(c: *mut Component) -> Status {
    unsafe { run("fmi2ExitInitializationMode", c, Instance::exit_initialization) }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2Terminate(c: *mut Component) -> Status {
    unsafe { run("fmi2Terminate", c, Instance::terminate) }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2Reset(c: *mut Component) -> Status {
    unsafe {
        run("fmi2Reset", c, |it| {
            it.reset();
            Ok(())
        })
    }
}

// Variables

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2GetReal(c: *mut Component, vr: *const u32, n: usize, value: *mut f64) -> Status {
    unsafe {
        run("fmi2GetReal", c, |it| {
            let (references, values) = (slice(vr, n)?, slice_mut(value, n)?);
            if it.oddity() == Oddity::Broken(Fault::UnreadableOutput) && references.contains(&3) {
                return Err("y is not computed".into());
            }
            it.get_real(references, values)
        })
    }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2GetInteger(
    c: *mut Component,
    vr: *const u32,
    n: usize,
    value: *mut c_int,
) -> Status {
    unsafe { run("fmi2GetInteger", c, |it| it.get_integer(slice(vr, n)?, slice_mut(value, n)?)) }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2GetBoolean(
    c: *mut Component,
    vr: *const u32,
    n: usize,
    value: *mut c_int,
) -> Status {
    unsafe { run("fmi2GetBoolean", c, |it| it.get_boolean(slice(vr, n)?, slice_mut(value, n)?)) }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2GetString(
    c: *mut Component,
    vr: *const u32,
    n: usize,
    value: *mut *const c_char,
) -> Status {
    unsafe {
        let strict = c.as_ref().and_then(|it| it.strict.as_ref());
        let null = strict.is_some_and(|strict| strict.null_strings);
        run("fmi2GetString", c, |it| {
            for (&vr, value) in slice(vr, n)?.iter().zip(slice_mut(value, n)?) {
                let null = null || it.oddity() == Oddity::Broken(Fault::NullStrings);
                let text = it.get_string(vr)?.as_ptr();
                *value = if null { std::ptr::null() } else { text };
            }
            Ok(())
        })
    }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2SetReal(
    c: *mut Component,
    vr: *const u32,
    n: usize,
    value: *const f64,
) -> Status {
    unsafe { run("fmi2SetReal", c, |it| it.set_real(slice(vr, n)?, slice(value, n)?)) }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2SetInteger(
    c: *mut Component,
    vr: *const u32,
    n: usize,
    value: *const c_int,
) -> Status {
    unsafe { run("fmi2SetInteger", c, |it| it.set_integer(slice(vr, n)?, slice(value, n)?)) }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2SetBoolean(
    c: *mut Component,
    vr: *const u32,
    n: usize,
    value: *const c_int,
) -> Status {
    unsafe { run("fmi2SetBoolean", c, |it| it.set_boolean(slice(vr, n)?, slice(value, n)?)) }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2SetString(
    c: *mut Component,
    vr: *const u32,
    n: usize,
    value: *const *const c_char,
) -> Status {
    unsafe {
        run("fmi2SetString", c, |it| {
            let values = slice(value, n)?;
            if values.iter().any(|value| value.is_null()) {
                return Err("a string is a null pointer".into());
            }
            it.set_string(slice(vr, n)?, values.iter().map(|&v| text(v).into_owned()).collect())
        })
    }
}

// FMU state

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2GetFMUstate(c: *mut Component, state: *mut *mut Snapshot) -> Status {
    unsafe {
        run("fmi2GetFMUstate", c, |it| {
            let state = state.as_mut().ok_or("there is no place for the state")?;
            let snapshot = it.snapshot()?;
            it.be_changed_by("fmi2GetFMUstate");
            // A state that exists is overwritten, as FMI wants.
            match state.as_mut() {
                Some(old) => *old = snapshot,
                None => *state = Box::into_raw(Box::new(snapshot)),
            }
            Ok(())
        })
    }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2SetFMUstate(c: *mut Component, state: *mut Snapshot) -> Status {
    unsafe {
        run("fmi2SetFMUstate", c, |it| {
            it.restore(state.as_ref().ok_or("the state is a null pointer")?)?;
            it.be_changed_by("fmi2SetFMUstate");
            Ok(())
        })
    }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2FreeFMUstate(c: *mut Component, state: *mut *mut Snapshot) -> Status {
    unsafe {
        run("fmi2FreeFMUstate", c, |_| {
            let Some(state) = state.as_mut() else { return Ok(()) };
            let old = std::mem::replace(state, std::ptr::null_mut());
            if !old.is_null() {
                drop(Box::from_raw(old));
            }
            Ok(())
        })
    }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2SerializedFMUstateSize(
    c: *mut Component,
    state: *mut Snapshot,
    size: *mut usize,
) -> Status {
    unsafe {
        run("fmi2SerializedFMUstateSize", c, |it| {
            let state = state.as_ref().ok_or("the state is a null pointer")?;
            let huge = it.oddity() == Oddity::Broken(Fault::HugeState);
            let true_size = state.to_bytes().len();
            *size.as_mut().ok_or("there is no place for the size")? = if huge { 1 << 45 } else { true_size };
            Ok(())
        })
    }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2SerializeFMUstate(
    c: *mut Component,
    state: *mut Snapshot,
    bytes: *mut u8,
    size: usize,
) -> Status {
    unsafe {
        run("fmi2SerializeFMUstate", c, |_| {
            let state = state.as_ref().ok_or("the state is a null pointer")?.to_bytes();
            let Some(target) = slice_mut(bytes, size)?.get_mut(..state.len()) else {
                return Err(format!("the state takes {} bytes, there are {size}", state.len()));
            };
            target.copy_from_slice(&state);
            Ok(())
        })
    }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2DeSerializeFMUstate(
    c: *mut Component,
    bytes: *const u8,
    size: usize,
    state: *mut *mut Snapshot,
) -> Status {
    unsafe {
        run("fmi2DeSerializeFMUstate", c, |it| {
            it.snapshot()?; // refuse where there are no states
            let state = state.as_mut().ok_or("there is no place for the state")?;
            let snapshot = Snapshot::from_bytes(slice(bytes, size)?);
            let snapshot = snapshot.ok_or("these bytes are not a serialized state")?;
            match state.as_mut() {
                Some(old) => *old = snapshot,
                None => *state = Box::into_raw(Box::new(snapshot)),
            }
            Ok(())
        })
    }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2GetDirectionalDerivative(
    c: *mut Component,
    unknown: *const u32,
    unknowns: usize,
    known: *const u32,
    knowns: usize,
    seed: *const f64,
    result: *mut f64,
) -> Status {
    unsafe {
        run("fmi2GetDirectionalDerivative", c, |it| {
            let (unknown, known) = (slice(unknown, unknowns)?, slice(known, knowns)?);
            let (seed, result) = (slice(seed, knowns)?, slice_mut(result, unknowns)?);
            it.directional_derivative(unknown, known, seed, result)
        })
    }
}

// Model Exchange

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2EnterEventMode(c: *mut Component) -> Status {
    unsafe { run("fmi2EnterEventMode", c, Instance::enter_event_mode) }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2NewDiscreteStates(c: *mut Component, info: *mut EventInfo) -> Status {
    unsafe {
        run("fmi2NewDiscreteStates", c, |it| {
            let info = info.as_mut().ok_or("there is no place for the event info")?;
            let event = it.new_discrete_states()?;
            *info = EventInfo {
                new_discrete_states_needed: event.again.into(),
                values_of_continuous_states_changed: event.states_changed.into(),
                next_event_time_defined: event.next_time.is_some().into(),
                next_event_time: event.next_time.unwrap_or(0.0),
                ..EventInfo::default()
            };
            Ok(())
        })
    }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2EnterContinuousTimeMode(c: *mut Component) -> Status {
    unsafe { run("fmi2EnterContinuousTimeMode", c, Instance::enter_continuous_time_mode) }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2CompletedIntegratorStep(
    c: *mut Component,
    _no_set_state_before: c_int,
    enter_event_mode: *mut c_int,
    terminate: *mut c_int,
) -> Status {
    unsafe {
        run("fmi2CompletedIntegratorStep", c, |it| {
            for flag in [enter_event_mode, terminate] {
                *flag.as_mut().ok_or("there is no place for an answer")? = 0;
            }
            *enter_event_mode = c_int::from(it.oddity() == Oddity::Broken(Fault::AsksAlways));
            it.completed_integrator_step()
        })
    }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2SetTime(c: *mut Component, time: f64) -> Status {
    unsafe { run("fmi2SetTime", c, |it| it.set_time(time)) }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2SetContinuousStates(c: *mut Component, x: *const f64, n: usize) -> Status {
    unsafe { run("fmi2SetContinuousStates", c, |it| it.set_continuous_states(slice(x, n)?)) }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C-unwind" fn fmi2GetDerivatives(c: *mut Component, dx: *mut f64, n: usize) -> Status {
    // SAFETY: null or valid, by FMI's contract; `dx` has `n` elements, which some faults disregard.
    unsafe {
        if let Some((Oddity::Broken(fault), true)) = c.as_ref().map(|it| it.instance.breaks_now()) {
            break_down(fault, dx, n);
        }
        if let (Some(it), 0) = (c.as_mut(), n) {
            match it.instance.oddity() {
                Oddity::Broken(Fault::WritesWithoutStates) => dx.write(1e300),
                Oddity::Broken(Fault::ErrorWithoutStates) if !it.dead => {
                    it.dead = true;
                    it.log.write(Status::Error, "fmi2GetDerivatives: invalid argument nx = 0. Expected 2.");
                    return Status::Error;
                }
                _ => {}
            }
        }
        run("fmi2GetDerivatives", c, |it| {
            if it.oddity() == Oddity::WritesBeyond {
                dx.add(n).write(0.0);
            }
            it.get_derivatives(slice_mut(dx, n)?)
        })
    }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2GetEventIndicators(c: *mut Component, z: *mut f64, n: usize) -> Status {
    unsafe { run("fmi2GetEventIndicators", c, |it| it.get_event_indicators(slice_mut(z, n)?)) }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2GetContinuousStates(c: *mut Component, x: *mut f64, n: usize) -> Status {
    unsafe { run("fmi2GetContinuousStates", c, |it| it.get_continuous_states(slice_mut(x, n)?)) }
}

#[cfg_attr(feature = "export", unsafe(no_mangle))]
pub unsafe extern "C" fn fmi2GetNominalsOfContinuousStates(
    c: *mut Component,
    nominals: *mut f64,
    n: usize,
) -> Status {
    unsafe {
        run("fmi2GetNominalsOfContinuousStates", c, |it| {
            if n == 0 && it.oddity() == Oddity::Broken(Fault::WritesWithoutStates) {
                nominals.write(1.0);
            }
            it.get_nominals(slice_mut(nominals, n)?)
        })
    }
}
