//! FMI 2.0's functions over an [`Adapter`]: pointers to slices, and no more.
#![allow(unsafe_code)]

use super::super::EventInfo;
use super::super::loader::{self, Component};
use super::functions::Functions;
use super::{Adapter, ERROR, OK, Saved};
use std::ffi::{c_char, c_void};
use std::slice::{from_raw_parts, from_raw_parts_mut};

/// What takes the place of a library's functions of FMI 2.0: what it leaves out stays out.
pub(super) fn of(functions: &Functions) -> loader::Functions {
    loader::Functions {
        get_fmu_state: functions.get_fmu_state.and(TABLE.get_fmu_state),
        set_fmu_state: functions.set_fmu_state.and(TABLE.set_fmu_state),
        serialize: functions.serialize.and(TABLE.serialize),
        deserialize: functions.deserialize.and(TABLE.deserialize),
        directional: functions.directional.and(TABLE.directional),
        get_nominals: functions.get_nominals.and(TABLE.get_nominals),
        ..TABLE
    }
}

const TABLE: loader::Functions = loader::Functions {
    free_instance: Some(free_instance),
    set_debug_logging: Some(set_debug_logging),
    setup_experiment: Some(setup_experiment),
    enter_initialization_mode: Some(enter_initialization_mode),
    exit_initialization_mode: Some(exit_initialization_mode),
    terminate: Some(terminate),
    reset: Some(reset),
    get_real: Some(get_real),
    set_real: Some(set_real),
    get_integer: Some(get_integer),
    set_integer: Some(set_integer),
    get_boolean: Some(get_boolean),
    set_boolean: Some(set_boolean),
    get_string: Some(get_string),
    set_string: Some(set_string),
    get_fmu_state: Some(get_fmu_state),
    set_fmu_state: Some(set_fmu_state),
    free_fmu_state: Some(free_fmu_state),
    serialized_size: Some(serialized_size),
    serialize: Some(serialize),
    deserialize: Some(deserialize),
    directional: Some(directional),
    enter_event_mode: Some(enter_event_mode),
    new_discrete_states: Some(new_discrete_states),
    enter_continuous_time_mode: Some(enter_continuous_time_mode),
    completed_integrator_step: Some(completed_integrator_step),
    set_time: Some(set_time),
    set_continuous_states: Some(set_continuous_states),
    get_derivatives: Some(get_derivatives),
    get_event_indicators: Some(get_event_indicators),
    get_continuous_states: Some(get_continuous_states),
    get_nominals: Some(get_nominals),
    do_step: None,
};

/// The adapter behind a component.
///
/// # Safety
/// The component came from `instantiate`, and no other call on it is running.
unsafe fn adapter<'a>(component: Component) -> &'a mut Adapter {
    // SAFETY: promised by the caller.
    unsafe { &mut *component.cast::<Adapter>() }
}

pub(super) unsafe extern "C-unwind" fn free_instance(component: Component) {
    // SAFETY: it is not used again.
    let adapter = unsafe { Box::from_raw(component.cast::<Adapter>()) };
    if let Some(free) = adapter.functions.free_instance {
        // SAFETY: likewise.
        unsafe { free(adapter.component) };
    }
}

unsafe extern "C-unwind" fn set_debug_logging(
    component: Component,
    on: i32,
    count: usize,
    categories: *const *const c_char,
) -> i32 {
    // SAFETY: as FMI prescribes.
    unsafe {
        let it = adapter(component);
        let set = it.functions.set_debug_logging;
        set.map_or(OK, |set| set(it.component, (on != 0).into(), count, categories))
    }
}

unsafe extern "C-unwind" fn setup_experiment(
    component: Component,
    tolerance_defined: i32,
    tolerance: f64,
    start: f64,
    stop_defined: i32,
    stop: f64,
) -> i32 {
    // SAFETY: as FMI prescribes.
    let it = unsafe { adapter(component) };
    it.tolerance = (tolerance_defined != 0).then_some(tolerance);
    it.start = start;
    it.stop = (stop_defined != 0).then_some(stop);
    OK
}

macro_rules! plain {
    ($($name:ident => |$it:ident| $body:expr),+ $(,)?) => {$(
        unsafe extern "C-unwind" fn $name(component: Component) -> i32 {
            // SAFETY: as FMI prescribes.
            let $it = unsafe { adapter(component) };
            $body
        }
    )+};
}

plain! {
    enter_initialization_mode => |it| it.enter_initialization_mode(),
    exit_initialization_mode => |it| it.exit_initialization_mode(),
    terminate => |it| it.plain(it.functions.terminate),
    reset => |it| it.reset(),
    enter_event_mode => |it| it.enter_event_mode(),
    enter_continuous_time_mode => |it| it.enter_continuous_time_mode(),
}

macro_rules! values {
    ($($get:ident $set:ident $type:ty),+ $(,)?) => {$(
        unsafe extern "C-unwind" fn $get(
            component: Component,
            references: *const u32,
            count: usize,
            values: *mut $type,
        ) -> i32 {
            // SAFETY: as FMI prescribes; `Fmu2` makes both from slices of one length, which is not 0.
            let (it, references, values) = unsafe {
                (adapter(component), from_raw_parts(references, count), from_raw_parts_mut(values, count))
            };
            it.values.$get(it.component, &it.functions, references, values)
        }

        unsafe extern "C-unwind" fn $set(
            component: Component,
            references: *const u32,
            count: usize,
            values: *const $type,
        ) -> i32 {
            // SAFETY: likewise.
            let (it, references, values) = unsafe {
                (adapter(component), from_raw_parts(references, count), from_raw_parts(values, count))
            };
            it.values.$set(it.component, &it.functions, references, values)
        }
    )+};
}

values! {
    get_real set_real f64,
    get_integer set_integer i32,
    get_boolean set_boolean i32,
    get_string set_string *const c_char,
}

unsafe extern "C-unwind" fn directional(
    component: Component,
    unknowns: *const u32,
    unknown_count: usize,
    knowns: *const u32,
    known_count: usize,
    seed: *const f64,
    result: *mut f64,
) -> i32 {
    if unknown_count == 0 || known_count == 0 {
        return OK;
    }
    // SAFETY: as FMI prescribes.
    let (it, unknowns, knowns, seed, result) = unsafe {
        (
            adapter(component),
            from_raw_parts(unknowns, unknown_count),
            from_raw_parts(knowns, known_count),
            from_raw_parts(seed, known_count),
            from_raw_parts_mut(result, unknown_count),
        )
    };
    it.values.directional(it.component, &it.functions, unknowns, knowns, seed, result)
}

unsafe extern "C-unwind" fn new_discrete_states(component: Component, info: *mut EventInfo) -> i32 {
    // SAFETY: as FMI prescribes.
    unsafe { adapter(component).new_discrete_states(&mut *info) }
}

unsafe extern "C-unwind" fn completed_integrator_step(
    component: Component,
    no_set_before: i32,
    enter_event_mode: *mut i32,
    terminate: *mut i32,
) -> i32 {
    // SAFETY: as FMI prescribes.
    unsafe {
        let (status, enter, end) = adapter(component).completed_integrator_step(no_set_before != 0);
        (*enter_event_mode, *terminate) = (enter.into(), end.into());
        status
    }
}

unsafe extern "C-unwind" fn set_time(component: Component, time: f64) -> i32 {
    // SAFETY: as FMI prescribes.
    unsafe { adapter(component) }.set_time(time)
}

macro_rules! vectors {
    ($($name:ident $what:literal $number:ident $pointer:ty),+ $(,)?) => {$(
        unsafe extern "C-unwind" fn $name(component: Component, vector: $pointer, count: usize) -> i32 {
            // SAFETY: as FMI prescribes.
            let it = unsafe { adapter(component) };
            match it.functions.$name {
                // SAFETY: as many values as the model has of them.
                Some(function) if it.expect($what, it.$number, count) => unsafe {
                    function(it.component, vector, count)
                },
                _ => ERROR,
            }
        }
    )+};
}

vectors! {
    set_continuous_states "continuous states" states *const f64,
    get_derivatives "continuous states" states *mut f64,
    get_continuous_states "continuous states" states *mut f64,
    get_nominals "continuous states" states *mut f64,
    get_event_indicators "event indicators" indicators *mut f64,
}

unsafe extern "C-unwind" fn get_fmu_state(component: Component, saved: *mut *mut c_void) -> i32 {
    // SAFETY: as FMI prescribes.
    unsafe { adapter(component).get_fmu_state(&mut *saved) }
}

unsafe extern "C-unwind" fn set_fmu_state(component: Component, saved: *mut c_void) -> i32 {
    // SAFETY: as FMI prescribes.
    match unsafe { saved.cast::<Saved>().as_ref() } {
        // SAFETY: likewise.
        Some(saved) => unsafe { adapter(component) }.set_fmu_state(saved),
        None => ERROR,
    }
}

unsafe extern "C-unwind" fn free_fmu_state(component: Component, saved: *mut *mut c_void) -> i32 {
    // SAFETY: as FMI prescribes: null, or a state that is not used again.
    unsafe {
        let it = adapter(component);
        if (*saved).is_null() {
            return OK;
        }
        let mut held = Box::from_raw((*saved).cast::<Saved>());
        *saved = std::ptr::null_mut();
        it.functions.free_fmu_state.map_or(ERROR, |free| free(it.component, &raw mut held.state))
    }
}

unsafe extern "C-unwind" fn serialized_size(
    component: Component,
    saved: *mut c_void,
    size: *mut usize,
) -> i32 {
    // SAFETY: as FMI prescribes.
    unsafe {
        let it = adapter(component);
        let Some(function) = it.functions.serialized_size else { return ERROR };
        let status = function(it.component, (*saved.cast::<Saved>()).state, size);
        *size = (*size).saturating_add(it.tail());
        status
    }
}

unsafe extern "C-unwind" fn serialize(
    component: Component,
    saved: *mut c_void,
    bytes: *mut u8,
    size: usize,
) -> i32 {
    // SAFETY: as FMI prescribes.
    let (it, saved, bytes) =
        unsafe { (adapter(component), &*saved.cast::<Saved>(), from_raw_parts_mut(bytes, size)) };
    let (Some(function), Some(own)) = (it.functions.serialize, size.checked_sub(it.tail())) else {
        return ERROR;
    };
    let (own, ours) = bytes.split_at_mut(own);
    ours[..8].copy_from_slice(&saved.time.to_le_bytes());
    ours[8] = saved.in_event.into();
    saved.clocks.save(&mut ours[9..]);
    // SAFETY: the model's own state, and as many bytes as it asked for.
    unsafe { function(it.component, saved.state, own.as_mut_ptr(), own.len()) }
}

unsafe extern "C-unwind" fn deserialize(
    component: Component,
    bytes: *const u8,
    size: usize,
    saved: *mut *mut c_void,
) -> i32 {
    // SAFETY: as FMI prescribes.
    let (it, bytes) = unsafe { (adapter(component), from_raw_parts(bytes, size)) };
    let (Some(function), Some(own)) = (it.functions.deserialize, size.checked_sub(it.tail())) else {
        return ERROR;
    };
    let (own, ours) = bytes.split_at(own);
    // SAFETY: null, or a state of this instance.
    let held = unsafe { (*saved).cast::<Saved>().as_mut() };
    let mut state = held.as_ref().map_or(std::ptr::null_mut(), |held| held.state);
    // SAFETY: the bytes that the model wrote.
    let status = unsafe { function(it.component, own.as_ptr(), own.len(), &raw mut state) };
    if status > 1 {
        return status;
    }
    let fill = |held: &mut Saved| {
        held.state = state;
        held.time = f64::from_le_bytes(ours[..8].try_into().unwrap_or([0; 8]));
        held.in_event = ours[8] != 0;
        held.clocks.restore(&ours[9..]);
    };
    match held {
        Some(held) => fill(held),
        None => {
            let new = it.keep(state);
            // SAFETY: it was just made.
            fill(unsafe { &mut *new.cast::<Saved>() });
            // SAFETY: as FMI prescribes.
            unsafe { *saved = new };
        }
    }
    status
}
