//! Scalars of FMI 2.0's four types in the arrays of a model of FMI 3.0.
//!
//! A model is asked for whole arrays only. To set one element of an array, the others are read first. Where all reals are
//! scalars of type Float64, as with most models, a call is handed through as it is.
//!
//! Integers that do not fit the other side's type are an error; nothing is rounded or cut.
#![allow(unsafe_code)]

use super::super::loader::Component;
use super::functions::{Functions, Get, Set};
use std::ffi::c_char;
use stepper::plan::{Array, Base, Type};

const OK: i32 = 0;
const ERROR: i32 = 3;

/// Where scalars are, and room for arrays of each type.
pub struct Values {
    reals: Places,
    integers: Places,
    booleans: Places,
    strings: Places,
    float32: Vec<f32>,
    float64: Vec<f64>,
    int8: Vec<i8>,
    uint8: Vec<u8>,
    int16: Vec<i16>,
    uint16: Vec<u16>,
    int32: Vec<i32>,
    uint32: Vec<u32>,
    int64: Vec<i64>,
    uint64: Vec<u64>,
    string: Vec<*const c_char>,
    /// For directional derivatives: arrays, and their elements one after another.
    unknowns: Side,
    knowns: Side,
}

/// The arrays of one base type, by ascending reference of their first scalar.
struct Places {
    arrays: Vec<Array>,
    /// All are scalars of type Float64.
    plain: bool,
}

#[derive(Default)]
struct Side {
    references: Vec<u32>,
    /// By place of the array: where its elements begin in `values`, or `usize::MAX`.
    offsets: Vec<usize>,
    values: Vec<f64>,
    length: usize,
}

impl Places {
    fn new(arrays: &[Array], base: Base) -> Places {
        let mut arrays: Vec<Array> =
            arrays.iter().filter(|it| it.kind.base() == base && it.count > 0).copied().collect();
        arrays.sort_by_key(|it| it.first);
        let plain = arrays.iter().all(|it| it.kind == Type::Float64 && it.count == 1);
        Places { arrays, plain }
    }

    /// The array that a scalar is in, and its place there.
    fn find(&self, reference: u32) -> Option<(usize, usize)> {
        let at = self.arrays.partition_point(|it| it.first <= reference).checked_sub(1)?;
        let array = &self.arrays[at];
        let element = reference - array.first;
        (element < array.count).then_some((at, element as usize))
    }

    /// The longest row of references at the beginning of `references` that are in one array; and that array.
    fn run(&self, references: &[u32]) -> Option<(Array, usize)> {
        let (at, _) = self.find(references[0])?;
        let array = self.arrays[at];
        let inside =
            |reference: &&u32| **reference >= array.first && (**reference - array.first) < array.count;
        Some((array, references.iter().take_while(inside).count()))
    }
}

impl Side {
    fn new(places: &Places) -> Side {
        let total = places.arrays.iter().map(|it| it.count as usize).sum();
        Side {
            references: Vec::with_capacity(places.arrays.len()),
            offsets: vec![usize::MAX; places.arrays.len()],
            values: vec![0.0; total],
            length: 0,
        }
    }

    /// Where a scalar is among `values`.
    fn place(&mut self, places: &Places, reference: u32) -> Option<usize> {
        let (at, element) = places.find(reference)?;
        if self.offsets[at] == usize::MAX {
            self.offsets[at] = self.length;
            self.references.push(places.arrays[at].reference);
            let end = self.length + places.arrays[at].count as usize;
            self.values[self.length..end].fill(0.0);
            self.length = end;
        }
        Some(self.offsets[at] + element)
    }

    fn clear(&mut self) {
        self.references.clear();
        self.offsets.fill(usize::MAX);
        self.length = 0;
    }
}

/// Read arrays, and hand each scalar to `take`.
///
/// # Safety
/// `get` is the function of the component's own library.
unsafe fn read<T: Copy>(component: Component, get: Option<Get<T>>, array: &Array, room: &mut [T]) -> i32 {
    let Some(get) = get else { return ERROR };
    let Some(room) = room.get_mut(..array.count as usize) else { return ERROR };
    // SAFETY: one reference, and room for as many values as the array has elements.
    unsafe { get(component, &raw const array.reference, 1, room.as_mut_ptr(), room.len()) }
}

/// # Safety
/// As for `read`.
unsafe fn write<T: Copy>(component: Component, set: Option<Set<T>>, array: &Array, room: &[T]) -> i32 {
    let Some(set) = set else { return ERROR };
    let Some(room) = room.get(..array.count as usize) else { return ERROR };
    // SAFETY: one reference, and as many values as the array has elements.
    unsafe { set(component, &raw const array.reference, 1, room.as_ptr(), room.len()) }
}

/// Go through `references` array by array. `$body` sees the array and which references are in it.
macro_rules! by_array {
    ($places:expr, $references:ident, |$array:ident, $range:ident| $body:expr) => {{
        let mut worst = OK;
        let mut at = 0;
        while at < $references.len() {
            let Some(($array, length)) = $places.run(&$references[at..]) else { return ERROR };
            let $range = at..at + length;
            let status = $body;
            if status > 1 {
                return status;
            }
            worst = worst.max(status);
            at += length;
        }
        worst
    }};
}

/// Read one array and convert the elements that are asked for.
macro_rules! get_as {
    ($component:ident, $get:expr, $room:expr, $array:ident, $references:expr, $values:expr, $convert:expr) => {{
        // SAFETY: the function is the component's own.
        let status = unsafe { read($component, $get, &$array, &mut $room) };
        if status <= 1 {
            for (reference, value) in $references.iter().zip($values) {
                let Some(converted) = $convert($room[(reference - $array.first) as usize]) else {
                    return ERROR;
                };
                *value = converted;
            }
        }
        status
    }};
}

/// Set one array: all of its elements, or those that are given among what they are now.
macro_rules! set_as {
    ($component:ident, $get:expr, $set:expr, $room:expr, $array:ident, $references:expr, $values:expr, $convert:expr) => {{
        if ($references.len() as u32) < $array.count {
            // SAFETY: the function is the component's own.
            let status = unsafe { read($component, $get, &$array, &mut $room) };
            if status > 1 {
                return status;
            }
        }
        for (reference, value) in $references.iter().zip($values) {
            let Some(converted) = $convert(*value) else { return ERROR };
            $room[(reference - $array.first) as usize] = converted;
        }
        // SAFETY: likewise.
        unsafe { write($component, $set, &$array, &$room) }
    }};
}

impl Values {
    pub fn new(arrays: &[Array]) -> Values {
        let longest = |kinds: &[Type]| {
            let counts = arrays.iter().filter(|it| kinds.contains(&it.kind)).map(|it| it.count as usize);
            counts.max().unwrap_or(0)
        };
        let reals = Places::new(arrays, Base::Real);
        let (unknowns, knowns) = match reals.plain {
            true => (Side::default(), Side::default()),
            false => (Side::new(&reals), Side::new(&reals)),
        };
        Values {
            integers: Places::new(arrays, Base::Integer),
            booleans: Places::new(arrays, Base::Boolean),
            strings: Places::new(arrays, Base::String),
            reals,
            float32: vec![0.0; longest(&[Type::Float32])],
            float64: vec![0.0; longest(&[Type::Float64])],
            int8: vec![0; longest(&[Type::Int8])],
            uint8: vec![0; longest(&[Type::UInt8, Type::Boolean])],
            int16: vec![0; longest(&[Type::Int16])],
            uint16: vec![0; longest(&[Type::UInt16])],
            int32: vec![0; longest(&[Type::Int32])],
            uint32: vec![0; longest(&[Type::UInt32])],
            int64: vec![0; longest(&[Type::Int64, Type::Enumeration])],
            uint64: vec![0; longest(&[Type::UInt64])],
            string: vec![std::ptr::null(); longest(&[Type::String])],
            unknowns,
            knowns,
        }
    }

    pub fn get_real(
        &mut self,
        component: Component,
        functions: &Functions,
        references: &[u32],
        values: &mut [f64],
    ) -> i32 {
        if self.reals.plain {
            let Some(get) = functions.get_float64 else { return ERROR };
            // SAFETY: as many scalars as values.
            return unsafe {
                get(component, references.as_ptr(), references.len(), values.as_mut_ptr(), values.len())
            };
        }
        by_array!(self.reals, references, |array, range| {
            let (references, values) = (&references[range.clone()], &mut values[range]);
            match array.kind {
                Type::Float32 => {
                    let widen = |it: f32| Some(f64::from(it));
                    get_as!(component, functions.get_float32, self.float32, array, references, values, widen)
                }
                _ => get_as!(component, functions.get_float64, self.float64, array, references, values, Some),
            }
        })
    }

    pub fn set_real(
        &mut self,
        component: Component,
        functions: &Functions,
        references: &[u32],
        values: &[f64],
    ) -> i32 {
        if self.reals.plain {
            let Some(set) = functions.set_float64 else { return ERROR };
            // SAFETY: as many scalars as values.
            return unsafe {
                set(component, references.as_ptr(), references.len(), values.as_ptr(), values.len())
            };
        }
        by_array!(self.reals, references, |array, range| {
            let (references, values) = (&references[range.clone()], &values[range]);
            match array.kind {
                Type::Float32 => {
                    let (get, set) = (functions.get_float32, functions.set_float32);
                    let narrow = |it: f64| Some(it as f32);
                    set_as!(component, get, set, self.float32, array, references, values, narrow)
                }
                _ => {
                    let (get, set) = (functions.get_float64, functions.set_float64);
                    set_as!(component, get, set, self.float64, array, references, values, Some)
                }
            }
        })
    }

    pub fn get_integer(
        &mut self,
        component: Component,
        functions: &Functions,
        references: &[u32],
        values: &mut [i32],
    ) -> i32 {
        by_array!(self.integers, references, |array, range| {
            let (references, values) = (&references[range.clone()], &mut values[range]);
            macro_rules! get {
                ($get:ident, $room:ident) => {
                    get_as!(component, functions.$get, self.$room, array, references, values, |it| {
                        i32::try_from(it).ok()
                    })
                };
            }
            match array.kind {
                Type::Int8 => get!(get_int8, int8),
                Type::UInt8 => get!(get_uint8, uint8),
                Type::Int16 => get!(get_int16, int16),
                Type::UInt16 => get!(get_uint16, uint16),
                Type::Int32 => get!(get_int32, int32),
                Type::UInt32 => get!(get_uint32, uint32),
                Type::UInt64 => get!(get_uint64, uint64),
                _ => get!(get_int64, int64),
            }
        })
    }

    pub fn set_integer(
        &mut self,
        component: Component,
        functions: &Functions,
        references: &[u32],
        values: &[i32],
    ) -> i32 {
        by_array!(self.integers, references, |array, range| {
            let (references, values) = (&references[range.clone()], &values[range]);
            macro_rules! set {
                ($get:ident, $set:ident, $room:ident: $type:ty) => {{
                    let (get, set) = (functions.$get, functions.$set);
                    let convert = |it: i32| <$type>::try_from(it).ok();
                    set_as!(component, get, set, self.$room, array, references, values, convert)
                }};
            }
            match array.kind {
                Type::Int8 => set!(get_int8, set_int8, int8: i8),
                Type::UInt8 => set!(get_uint8, set_uint8, uint8: u8),
                Type::Int16 => set!(get_int16, set_int16, int16: i16),
                Type::UInt16 => set!(get_uint16, set_uint16, uint16: u16),
                Type::Int32 => set!(get_int32, set_int32, int32: i32),
                Type::UInt32 => set!(get_uint32, set_uint32, uint32: u32),
                Type::UInt64 => set!(get_uint64, set_uint64, uint64: u64),
                _ => set!(get_int64, set_int64, int64: i64),
            }
        })
    }

    pub fn get_boolean(
        &mut self,
        component: Component,
        functions: &Functions,
        references: &[u32],
        values: &mut [i32],
    ) -> i32 {
        by_array!(self.booleans, references, |array, range| {
            let (references, values) = (&references[range.clone()], &mut values[range]);
            let truth = |it: u8| Some(i32::from(it != 0));
            get_as!(component, functions.get_boolean, self.uint8, array, references, values, truth)
        })
    }

    pub fn set_boolean(
        &mut self,
        component: Component,
        functions: &Functions,
        references: &[u32],
        values: &[i32],
    ) -> i32 {
        by_array!(self.booleans, references, |array, range| {
            let (references, values) = (&references[range.clone()], &values[range]);
            let (get, set) = (functions.get_boolean, functions.set_boolean);
            let truth = |it: i32| Some(u8::from(it != 0));
            set_as!(component, get, set, self.uint8, array, references, values, truth)
        })
    }

    /// The strings belong to the model. It may reuse their memory in its next call: those of one array are valid together.
    pub fn get_string(
        &mut self,
        component: Component,
        functions: &Functions,
        references: &[u32],
        values: &mut [*const c_char],
    ) -> i32 {
        by_array!(self.strings, references, |array, range| {
            let (references, values) = (&references[range.clone()], &mut values[range]);
            get_as!(component, functions.get_string, self.string, array, references, values, Some)
        })
    }

    pub fn set_string(
        &mut self,
        component: Component,
        functions: &Functions,
        references: &[u32],
        values: &[*const c_char],
    ) -> i32 {
        by_array!(self.strings, references, |array, range| {
            let (references, values) = (&references[range.clone()], &values[range]);
            let (get, set) = (functions.get_string, functions.set_string);
            set_as!(component, get, set, self.string, array, references, values, Some)
        })
    }

    pub fn directional(
        &mut self,
        component: Component,
        functions: &Functions,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
        result: &mut [f64],
    ) -> i32 {
        let Some(directional) = functions.directional else { return ERROR };
        if self.reals.plain {
            // SAFETY: as many scalars as values, on both sides.
            return unsafe {
                directional(
                    component,
                    unknowns.as_ptr(),
                    unknowns.len(),
                    knowns.as_ptr(),
                    knowns.len(),
                    seed.as_ptr(),
                    seed.len(),
                    result.as_mut_ptr(),
                    result.len(),
                )
            };
        }
        self.unknowns.clear();
        self.knowns.clear();
        for (&known, &value) in knowns.iter().zip(seed) {
            let Some(place) = self.knowns.place(&self.reals, known) else { return ERROR };
            self.knowns.values[place] = value;
        }
        for &unknown in unknowns {
            if self.unknowns.place(&self.reals, unknown).is_none() {
                return ERROR;
            }
        }
        // SAFETY: as many values as the arrays have elements, on both sides.
        let status = unsafe {
            directional(
                component,
                self.unknowns.references.as_ptr(),
                self.unknowns.references.len(),
                self.knowns.references.as_ptr(),
                self.knowns.references.len(),
                self.knowns.values.as_ptr(),
                self.knowns.length,
                self.unknowns.values.as_mut_ptr(),
                self.unknowns.length,
            )
        };
        if status <= 1 {
            for (&unknown, value) in unknowns.iter().zip(result) {
                let place = self.unknowns.place(&self.reals, unknown).unwrap_or(0);
                *value = self.unknowns.values[place];
            }
        }
        status
    }
}
