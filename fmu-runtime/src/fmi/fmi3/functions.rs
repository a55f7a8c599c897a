//! The functions of a Model-Exchange FMU of FMI 3.0, as its library exports them.
#![allow(unsafe_code)]

use super::super::LoadError;
use super::super::loader::{Component, Library, symbol};
use fmi3_types::LogMessage;
use std::ffi::{c_char, c_void};

type Plain = unsafe extern "C-unwind" fn(Component) -> i32;
pub type Get<T> = unsafe extern "C-unwind" fn(Component, *const u32, usize, *mut T, usize) -> i32;
pub type Set<T> = unsafe extern "C-unwind" fn(Component, *const u32, usize, *const T, usize) -> i32;
type GetVector = unsafe extern "C-unwind" fn(Component, *mut f64, usize) -> i32;
type SetVector = unsafe extern "C-unwind" fn(Component, *const f64, usize) -> i32;
type Count = unsafe extern "C-unwind" fn(Component, *mut usize) -> i32;
pub type Instantiate = unsafe extern "C-unwind" fn(
    *const c_char,
    *const c_char,
    *const c_char,
    u8,
    u8,
    *mut c_void,
    Option<LogMessage>,
) -> Component;
type Directional = unsafe extern "C-unwind" fn(
    Component,
    *const u32,
    usize,
    *const u32,
    usize,
    *const f64,
    usize,
    *mut f64,
    usize,
) -> i32;
type Update =
    unsafe extern "C-unwind" fn(Component, *mut u8, *mut u8, *mut u8, *mut u8, *mut u8, *mut f64) -> i32;

macro_rules! functions {
    ($($field:ident $symbol:literal: $type:ty),+ $(,)?) => {
        /// `Option`: a tool may leave it out.
        #[derive(Clone, Copy)]
        pub struct Functions {
            $(pub $field: Option<$type>),+
        }

        impl Functions {
            /// What the library has.
            fn find(library: &Library, prefix: &str) -> Functions {
                // SAFETY: the types are those of the FMI 3.0 headers. The library outlives the copies.
                unsafe {
                    Functions {
                        $($field: symbol::<$type>(library, prefix, &[$symbol])),+
                    }
                }
            }
        }
    };
}

functions! {
    instantiate "fmi3InstantiateModelExchange": Instantiate,
    free_instance "fmi3FreeInstance": unsafe extern "C-unwind" fn(Component),
    set_debug_logging "fmi3SetDebugLogging":
        unsafe extern "C-unwind" fn(Component, u8, usize, *const *const c_char) -> i32,
    enter_initialization_mode "fmi3EnterInitializationMode":
        unsafe extern "C-unwind" fn(Component, u8, f64, f64, u8, f64) -> i32,
    exit_initialization_mode "fmi3ExitInitializationMode": Plain,
    terminate "fmi3Terminate": Plain,
    reset "fmi3Reset": Plain,
    enter_configuration_mode "fmi3EnterConfigurationMode": Plain,
    exit_configuration_mode "fmi3ExitConfigurationMode": Plain,
    get_float32 "fmi3GetFloat32": Get<f32>,
    set_float32 "fmi3SetFloat32": Set<f32>,
    get_float64 "fmi3GetFloat64": Get<f64>,
    set_float64 "fmi3SetFloat64": Set<f64>,
    get_int8 "fmi3GetInt8": Get<i8>,
    set_int8 "fmi3SetInt8": Set<i8>,
    get_uint8 "fmi3GetUInt8": Get<u8>,
    set_uint8 "fmi3SetUInt8": Set<u8>,
    get_int16 "fmi3GetInt16": Get<i16>,
    set_int16 "fmi3SetInt16": Set<i16>,
    get_uint16 "fmi3GetUInt16": Get<u16>,
    set_uint16 "fmi3SetUInt16": Set<u16>,
    get_int32 "fmi3GetInt32": Get<i32>,
    set_int32 "fmi3SetInt32": Set<i32>,
    get_uint32 "fmi3GetUInt32": Get<u32>,
    set_uint32 "fmi3SetUInt32": Set<u32>,
    get_int64 "fmi3GetInt64": Get<i64>,
    set_int64 "fmi3SetInt64": Set<i64>,
    get_uint64 "fmi3GetUInt64": Get<u64>,
    set_uint64 "fmi3SetUInt64": Set<u64>,
    get_boolean "fmi3GetBoolean": Get<u8>,
    set_boolean "fmi3SetBoolean": Set<u8>,
    get_string "fmi3GetString": Get<*const c_char>,
    set_string "fmi3SetString": Set<*const c_char>,
    set_clock "fmi3SetClock": unsafe extern "C-unwind" fn(Component, *const u32, usize, *const u8) -> i32,
    get_interval "fmi3GetIntervalDecimal":
        unsafe extern "C-unwind" fn(Component, *const u32, usize, *mut f64, *mut i32) -> i32,
    get_shift "fmi3GetShiftDecimal": unsafe extern "C-unwind" fn(Component, *const u32, usize, *mut f64) -> i32,
    get_fmu_state "fmi3GetFMUState": unsafe extern "C-unwind" fn(Component, *mut *mut c_void) -> i32,
    set_fmu_state "fmi3SetFMUState": unsafe extern "C-unwind" fn(Component, *mut c_void) -> i32,
    free_fmu_state "fmi3FreeFMUState": unsafe extern "C-unwind" fn(Component, *mut *mut c_void) -> i32,
    serialized_size "fmi3SerializedFMUStateSize":
        unsafe extern "C-unwind" fn(Component, *mut c_void, *mut usize) -> i32,
    serialize "fmi3SerializeFMUState": unsafe extern "C-unwind" fn(Component, *mut c_void, *mut u8, usize) -> i32,
    deserialize "fmi3DeserializeFMUState":
        unsafe extern "C-unwind" fn(Component, *const u8, usize, *mut *mut c_void) -> i32,
    directional "fmi3GetDirectionalDerivative": Directional,
    enter_event_mode "fmi3EnterEventMode": Plain,
    update_discrete_states "fmi3UpdateDiscreteStates": Update,
    enter_continuous_time_mode "fmi3EnterContinuousTimeMode": Plain,
    completed_integrator_step "fmi3CompletedIntegratorStep":
        unsafe extern "C-unwind" fn(Component, u8, *mut u8, *mut u8) -> i32,
    set_time "fmi3SetTime": unsafe extern "C-unwind" fn(Component, f64) -> i32,
    set_continuous_states "fmi3SetContinuousStates": SetVector,
    get_derivatives "fmi3GetContinuousStateDerivatives": GetVector,
    get_event_indicators "fmi3GetEventIndicators": GetVector,
    get_continuous_states "fmi3GetContinuousStates": GetVector,
    get_nominals "fmi3GetNominalsOfContinuousStates": GetVector,
    number_of_states "fmi3GetNumberOfContinuousStates": Count,
    number_of_indicators "fmi3GetNumberOfEventIndicators": Count,
}

impl Functions {
    /// What the library has, if it has all that a Model-Exchange FMU cannot do without.
    pub fn resolve(library: &Library, prefix: &str) -> Result<Functions, LoadError> {
        let functions = Functions::find(library, prefix);
        let needed = [
            ("fmi3InstantiateModelExchange", functions.instantiate.is_some()),
            ("fmi3EnterInitializationMode", functions.enter_initialization_mode.is_some()),
            ("fmi3ExitInitializationMode", functions.exit_initialization_mode.is_some()),
            ("fmi3EnterEventMode", functions.enter_event_mode.is_some()),
            ("fmi3UpdateDiscreteStates", functions.update_discrete_states.is_some()),
            ("fmi3EnterContinuousTimeMode", functions.enter_continuous_time_mode.is_some()),
            ("fmi3SetTime", functions.set_time.is_some()),
            ("fmi3SetContinuousStates", functions.set_continuous_states.is_some()),
            ("fmi3GetContinuousStateDerivatives", functions.get_derivatives.is_some()),
            ("fmi3GetContinuousStates", functions.get_continuous_states.is_some()),
        ];
        match needed.into_iter().find(|(_, found)| !found) {
            Some((name, _)) => Err(LoadError::MissingSymbol(name.to_string())),
            None => Ok(functions),
        }
    }
}
