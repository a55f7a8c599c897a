//! The C functions of FMI 3.0 around the runtime: plans of FMI 2.0 builds get the variables of an FMU of FMI 3.0, and the
//! library that ships is driven by both sets of functions.
#![allow(unsafe_code)]

use crate::driver::{ERROR, Exported, OK};
use crate::util::build;
use fmu_runtime::identity::sealed;
use fmu_runtime::plan::{Array, Plan, Type};
use libloading::Library;
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::PathBuf;
use std::ptr;

type C = *mut c_void;
type Said = Vec<(i32, String)>;

unsafe extern "C" fn log(environment: C, status: i32, _: *const c_char, message: *const c_char) {
    // SAFETY: the environment is the test's own, the message a C string.
    let (said, message) = unsafe { (&mut *environment.cast::<Said>(), CStr::from_ptr(message)) };
    said.push((status, message.to_string_lossy().into_owned()));
}

/// An instance through the functions of FMI 3.0.
struct Fmu3 {
    library: Library,
    instance: C,
    said: Box<Said>,
}

/// Call a function of FMI 3.0 by its name and its arguments' types.
macro_rules! call {
    ($fmu:expr, $name:literal, $($argument:expr => $type:ty),*) => {{
        let fmu = &$fmu;
        // SAFETY: the types are those of the standard.
        unsafe {
            let function: libloading::Symbol<unsafe extern "C" fn(C $(, $type)*) -> i32> =
                fmu.library.get($name.as_bytes()).unwrap();
            function(fmu.instance $(, $argument)*)
        }
    }};
}

macro_rules! accessors {
    ($($get:ident, $set:ident, $type:ty, $c_get:literal, $c_set:literal;)*) => {
        impl Fmu3 {$(
            #[allow(dead_code)]
            fn $get(&self, reference: u32, count: usize) -> Result<Vec<$type>, i32> {
                let mut values = vec![<$type>::default(); count];
                let status = call!(*self, $c_get, &reference => *const u32, 1 => usize,
                    values.as_mut_ptr() => *mut $type, count => usize);
                if status == OK { Ok(values) } else { Err(status) }
            }

            #[allow(dead_code)]
            fn $set(&self, reference: u32, values: &[$type]) -> i32 {
                call!(*self, $c_set, &reference => *const u32, 1 => usize,
                    values.as_ptr() => *const $type, values.len() => usize)
            }
        )*}
    };
}

accessors! {
    float64, set_float64, f64, "fmi3GetFloat64", "fmi3SetFloat64";
    float32, set_float32, f32, "fmi3GetFloat32", "fmi3SetFloat32";
    int8, set_int8, i8, "fmi3GetInt8", "fmi3SetInt8";
    uint16, set_uint16, u16, "fmi3GetUInt16", "fmi3SetUInt16";
    int64, set_int64, i64, "fmi3GetInt64", "fmi3SetInt64";
    boolean, set_boolean, u8, "fmi3GetBoolean", "fmi3SetBoolean";
}

impl Fmu3 {
    /// Give the plan of an exported FMU these variables, and instantiate it by the functions of FMI 3.0.
    fn new(exported: &Exported, shell: &[(u32, Type, u32, u32)]) -> Fmu3 {
        let file = exported.root.join("resources/plan.json");
        let plan: Plan = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        let array = |&(reference, kind, first, count): &_| Array { reference, kind, first, count };
        let plan = sealed(Plan { shell: Some(shell.iter().map(array).collect()), ..plan });
        std::fs::write(&file, serde_json::to_vec(&plan).unwrap()).unwrap();
        Fmu3::instantiate(exported, &plan.model.guid, 0)
    }

    fn instantiate(exported: &Exported, token: &str, event_mode: u8) -> Fmu3 {
        let folder = exported.root.join("binaries/linux64");
        let binary: PathBuf = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap().path();
        // SAFETY: the library is the one under test.
        let library = unsafe { Library::new(binary) }.unwrap();
        let mut said = Box::new(Said::new());
        let token = CString::new(token).unwrap();
        // A path, not a URI: blanks are blanks.
        let resources = CString::new(exported.root.join("resources").to_str().unwrap()).unwrap();
        type Log = unsafe extern "C" fn(C, i32, *const c_char, *const c_char);
        type Instantiate = unsafe extern "C" fn(
            *const c_char,
            *const c_char,
            *const c_char,
            u8,
            u8,
            u8,
            u8,
            *const u32,
            usize,
            C,
            Log,
            *const c_void,
        ) -> C;
        // SAFETY: the type is that of the standard.
        let instance = unsafe {
            let function: libloading::Symbol<Instantiate> =
                library.get("fmi3InstantiateCoSimulation").unwrap();
            function(
                c"test".as_ptr(),
                token.as_ptr(),
                resources.as_ptr(),
                0,
                0,
                event_mode,
                0,
                ptr::null(),
                0,
                (&raw mut *said).cast(),
                log,
                ptr::null(),
            )
        };
        Fmu3 { library, instance, said }
    }

    fn start(&self) {
        let entered =
            call!(*self, "fmi3EnterInitializationMode", 0 => u8, 0.0 => f64, 0.0 => f64, 0 => u8, 0.0 => f64);
        assert_eq!((entered, call!(*self, "fmi3ExitInitializationMode",)), (OK, OK), "{:?}", self.said);
    }

    fn step(&self, time: f64, step: f64) -> (i32, [u8; 3], f64) {
        let (mut flags, mut last) = ([9; 3], f64::NAN);
        let [event, terminate, early] = &mut flags;
        let status = call!(*self, "fmi3DoStep", time => f64, step => f64, 1 => u8, event => *mut u8,
            terminate => *mut u8, early => *mut u8, &mut last => *mut f64);
        (status, flags, last)
    }

    fn text(&self, reference: u32) -> String {
        let mut value = ptr::null::<c_char>();
        let status = call!(*self, "fmi3GetString", &reference => *const u32, 1 => usize, &mut value => *mut *const c_char, 1 => usize);
        assert_eq!(status, OK);
        // SAFETY: a C string of the FMU.
        unsafe { CStr::from_ptr(value) }.to_str().unwrap().to_owned()
    }
}

impl Drop for Fmu3 {
    fn drop(&mut self) {
        // SAFETY: the type is that of the standard; the instance is not used again.
        unsafe {
            let free: libloading::Symbol<unsafe extern "C" fn(C)> =
                self.library.get("fmi3FreeInstance").unwrap();
            free(self.instance);
        }
    }
}

/// Every type, arrays, and values that do not fit: set before a step, they are there after it.
#[test]
fn every_type_of_variable() {
    let exported = build("all-types", "--step 0.1");
    let shell = [
        (100, Type::Float64, 1, 1),     // u
        (101, Type::Float64, 2, 1),     // y
        (102, Type::Float32, 3, 1),     // gain
        (103, Type::Float64, 3, 2),     // gain and offset
        (110, Type::Int64, 0, 1),       // u_integer
        (111, Type::Int8, 1, 1),        // y_integer
        (112, Type::UInt16, 2, 1),      // step
        (113, Type::Enumeration, 3, 1), // u_mode
        (114, Type::Enumeration, 4, 1), // y_mode
        (120, Type::Boolean, 0, 1),     // u_boolean
        (121, Type::Boolean, 1, 1),     // y_boolean
        (130, Type::String, 0, 1),      // u_string
        (131, Type::String, 1, 1),      // y_string
    ];
    let fmu = Fmu3::new(&exported, &shell);
    fmu.start();
    assert_eq!(fmu.step(0.0, 0.1), (OK, [0; 3], 0.1));
    assert_eq!(fmu.float64(101, 1), Ok(vec![0.5]));
    assert_eq!(fmu.set_float64(100, &[3.0]), OK);
    assert_eq!(fmu.float64(101, 1), Ok(vec![6.5]), "direct feedthrough needs no step");
    assert_eq!(fmu.set_float32(102, &[-0.25]), OK);
    assert_eq!(fmu.float64(103, 2), Ok(vec![-0.25, 0.5]));
    assert_eq!(fmu.float32(102, 1), Ok(vec![-0.25]));
    assert_eq!(fmu.set_int64(110, &[-41]), OK);
    assert_eq!(fmu.set_uint16(112, &[7]), OK);
    assert_eq!(fmu.set_int64(113, &[3]), OK, "enumerations are 64-bit integers");
    assert_eq!(fmu.set_boolean(120, &[2]), OK);
    let text = CString::new("Grüße, 世界").unwrap();
    let status = call!(fmu, "fmi3SetString", &130 => *const u32, 1 => usize, &text.as_ptr() => *const *const c_char, 1 => usize);
    assert_eq!(status, OK);
    assert_eq!(fmu.step(0.1, 0.1).0, OK);
    assert_eq!(fmu.int8(111, 1), Ok(vec![-34]));
    assert_eq!(fmu.int64(114, 1), Ok(vec![3]));
    assert_eq!(fmu.boolean(121, 1), Ok(vec![1]));
    assert_eq!(fmu.text(131), "Grüße, 世界");

    // Beyond the type, of another type, with too few and too many values.
    assert_eq!(fmu.set_int64(110, &[1 << 40]), ERROR);
    assert_eq!(fmu.set_int64(110, &[1000]), OK);
    assert_eq!(fmu.step(0.2, 0.1).0, OK);
    assert_eq!(fmu.int8(111, 1), Err(ERROR), "1007 is no Int8");
    assert_eq!(fmu.float32(100, 1), Err(ERROR));
    assert_eq!(fmu.int8(110, 1), Err(ERROR));
    assert_eq!(fmu.float64(103, 1), Err(ERROR));
    assert_eq!(fmu.float64(101, 2), Err(ERROR));
    assert_eq!(fmu.float64(999, 1), Err(ERROR));
    let said: Vec<&str> = fmu.said.iter().map(|(_, message)| message.as_str()).collect();
    assert_eq!(
        said,
        [
            "1099511627776 is beyond what this FMU can hold of a variable of type Int64: -2147483648 to 2147483647",
            "1007 does not fit into Int8",
            "there is no Float32 with value reference 100",
            "there is no Int8 with value reference 110",
            "there are 2 values in these variables of type Float64, and room for 1",
            "there are 1 values in these variables of type Float64, and room for 2",
            "there is no Float64 with value reference 999",
        ]
    );
}

/// The same trajectory to the last bit, whatever functions drive it; a saved state leads back to it.
#[test]
fn both_versions_give_the_same_numbers() {
    let exported = build("van-der-pol", "--step 1ms");
    let x = exported.reference("x");
    let mut two = exported.start(0.0, &[]);
    let mut expected = Vec::new();
    for k in 0..200 {
        two.step(f64::from(k) * 1e-3, 1e-3);
        expected.push(two.real("x").to_bits());
    }
    drop(two);
    let fmu = Fmu3::new(&exported, &[(7, Type::Float64, x, 1)]);
    fmu.start();
    let run = |from: u32| -> Vec<u64> {
        let step = |k: u32| {
            assert_eq!(fmu.step(f64::from(k) * 1e-3, 1e-3).0, OK);
            fmu.float64(7, 1).unwrap()[0].to_bits()
        };
        (from..200).map(step).collect()
    };
    for k in 0..100 {
        assert_eq!(fmu.step(f64::from(k) * 1e-3, 1e-3).0, OK);
        assert_eq!(fmu.float64(7, 1).unwrap()[0].to_bits(), expected[k as usize]);
    }
    let (mut state, mut size) = (ptr::null_mut::<c_void>(), 0usize);
    assert_eq!(call!(fmu, "fmi3GetFMUState", &mut state => *mut C), OK, "{:?}", fmu.said);
    assert_eq!(run(100), expected[100..]);
    assert_eq!(call!(fmu, "fmi3SerializedFMUStateSize", state => C, &mut size => *mut usize), OK);
    let mut bytes = vec![0u8; size];
    let serialised =
        call!(fmu, "fmi3SerializeFMUState", state => C, bytes.as_mut_ptr() => *mut u8, size => usize);
    assert_eq!(serialised, OK);
    assert_eq!(call!(fmu, "fmi3FreeFMUState", &mut state => *mut C), OK);
    let read = call!(fmu, "fmi3DeserializeFMUState", bytes.as_ptr() => *const u8, size => usize, &mut state => *mut C);
    assert_eq!(read, OK);
    assert_eq!(call!(fmu, "fmi3SetFMUState", state => C), OK);
    assert_eq!(run(100), expected[100..]);
    assert_eq!(call!(fmu, "fmi3FreeFMUState", &mut state => *mut C), OK);
    assert_eq!(call!(fmu, "fmi3Terminate",), OK);
}

/// All functions are there; what is not offered is an error with a message, and so is a call at the wrong time.
#[test]
fn what_is_not_offered_is_refused() {
    let exported = build("dahlquist", "--step 0.1");
    let x = exported.reference("x");
    let fmu = Fmu3::new(&exported, &[(7, Type::Float64, x, 1)]);
    assert_eq!(fmu.float64(7, 1), Err(ERROR), "before initialisation");
    assert_eq!(fmu.step(0.0, 0.1).0, ERROR);
    assert_eq!(fmu.said[1].1, "fmi3DoStep is not allowed in the phase Instantiated");
    fmu.start();
    let names = [
        "EnterEventMode",
        "EnterStepMode",
        "EvaluateDiscreteStates",
        "UpdateDiscreteStates",
        "EnterConfigurationMode",
        "ExitConfigurationMode",
        "EnterContinuousTimeMode",
        "CompletedIntegratorStep",
        "SetTime",
        "SetContinuousStates",
        "GetContinuousStateDerivatives",
        "GetEventIndicators",
        "GetContinuousStates",
        "GetNominalsOfContinuousStates",
        "GetNumberOfEventIndicators",
        "GetNumberOfContinuousStates",
        "ActivateModelPartition",
        "GetClock",
        "SetClock",
        "GetIntervalDecimal",
        "GetIntervalFraction",
        "GetShiftDecimal",
        "GetShiftFraction",
        "SetIntervalDecimal",
        "SetIntervalFraction",
        "SetShiftDecimal",
        "SetShiftFraction",
        "GetBinary",
        "SetBinary",
        "GetAdjointDerivative",
        "GetNumberOfVariableDependencies",
        "GetVariableDependencies",
    ];
    for name in names {
        let before = fmu.said.len();
        // SAFETY: these functions look at the instance only.
        let status = unsafe {
            let function: libloading::Symbol<unsafe extern "C" fn(C) -> i32> =
                fmu.library.get(format!("fmi3{name}").as_bytes()).unwrap();
            function(fmu.instance)
        };
        assert_eq!((status, fmu.said.len()), (ERROR, before + 1), "{name}");
        assert!(fmu.said[before].1.starts_with(&format!("fmi3{name}: ")), "{:?}", fmu.said[before]);
    }
    assert_eq!(fmu.step(0.0, 0.1), (OK, [0; 3], 0.1), "nothing was changed");
    for name in [
        "InstantiateModelExchange",
        "InstantiateScheduledExecution",
        "GetOutputDerivatives",
        "GetDirectionalDerivative",
    ] {
        // SAFETY: looked for, not called.
        assert!(unsafe { fmu.library.get::<C>(format!("fmi3{name}").as_bytes()) }.is_ok(), "{name}");
    }
}

/// An FMU of FMI 2.0 is none of FMI 3.0; nor is one that has no Event Mode one that has.
#[test]
fn the_wrong_instantiation_is_refused() {
    let exported = build("dahlquist", "--step 0.1");
    let refused = Fmu3::instantiate(&exported, &exported.description.guid, 0);
    assert!(refused.instance.is_null());
    assert_eq!(*refused.said, [(ERROR, "this is an FMU of FMI 2.0: import it as one".to_string())]);
    let refused = Fmu3::instantiate(&exported, "another", 0);
    assert!(refused.instance.is_null() && refused.said[0].1.contains("another"), "{:?}", refused.said);
    let refused = Fmu3::instantiate(&exported, &exported.description.guid, 1);
    assert!(refused.instance.is_null() && refused.said[0].1.contains("hasEventMode"), "{:?}", refused.said);
}
