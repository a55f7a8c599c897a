//! Variables of FMI 3.0 around scalars of four types: arrays become rows of scalars, and every type one of the four.
//!
//! A value that its type cannot hold is an error that names it, never another value.

use crate::pointers::{Guarded, Instance};
use fmu_runtime::plan::{Array, Type};
use fmu_runtime::status::Status;
use fmu_runtime::value::{Answer, Element};
use std::ffi::{CString, c_char};
use std::fmt::Display;

pub struct Shell {
    pub instance: Instance,
    /// By ascending value reference.
    variables: Vec<Array>,
    /// Scratch: the scalars behind variables that are read or set, and their values where these have another type.
    scalars: Vec<u32>,
    knowns: Vec<u32>,
    reals: Vec<f64>,
    integers: Vec<i32>,
    booleans: Vec<bool>,
}

impl Guarded for Shell {
    fn instance(&mut self) -> &mut Instance {
        &mut self.instance
    }
}

/// A type of C that is held as another one.
pub trait Translated: Copy {
    const TYPE: Type;
    type Held: Element + Answer<Element = Self::Held> + Copy + Default + Display;
    fn hold(self) -> Option<Self::Held>;
    fn show(held: Self::Held) -> Option<Self>;
    fn scratch(shell: &mut Shell) -> &mut Vec<Self::Held>;
}

impl Shell {
    pub fn new(instance: Instance, variables: Vec<Array>) -> Shell {
        Shell {
            instance,
            variables,
            scalars: Vec::new(),
            knowns: Vec::new(),
            reals: Vec::new(),
            integers: Vec::new(),
            booleans: Vec::new(),
        }
    }

    pub fn get<T: Translated>(&mut self, references: &[u32], values: &mut [T]) -> Status {
        if let Err(status) = self.expand(T::TYPE, references, values.len()) {
            return status;
        }
        let mut held = std::mem::take(T::scratch(self));
        held.clear();
        held.resize(values.len(), T::Held::default());
        let mut status = self.instance.get(&self.scalars, &mut held);
        if status.is_usable() {
            for (value, &held) in values.iter_mut().zip(&held) {
                let Some(shown) = T::show(held) else {
                    status = self.instance.refuse(format_args!("{held} does not fit into {:?}", T::TYPE));
                    break;
                };
                *value = shown;
            }
        }
        *T::scratch(self) = held;
        status
    }

    pub fn set<T: Translated + Display>(&mut self, references: &[u32], values: &[T]) -> Status {
        if let Err(status) = self.expand(T::TYPE, references, values.len()) {
            return status;
        }
        let mut held = std::mem::take(T::scratch(self));
        held.clear();
        held.extend(values.iter().map_while(|value| value.hold()));
        let status = match values.get(held.len()) {
            None => self.instance.set(&self.scalars, &held),
            Some(value) => self.instance.refuse(format_args!(
                "{value} is beyond what this FMU can hold of a variable of type {:?}: {} to {}",
                T::TYPE,
                i32::MIN,
                i32::MAX
            )),
        };
        *T::scratch(self) = held;
        status
    }

    pub fn get_reals(&mut self, references: &[u32], values: &mut [f64]) -> Status {
        match self.expand(Type::Float64, references, values.len()) {
            Ok(()) => self.instance.get(&self.scalars, values),
            Err(status) => status,
        }
    }

    pub fn set_reals(&mut self, references: &[u32], values: &[f64]) -> Status {
        match self.expand(Type::Float64, references, values.len()) {
            Ok(()) => self.instance.set(&self.scalars, values),
            Err(status) => status,
        }
    }

    /// The texts belong to the FMU and are valid until its next call.
    pub fn get_texts(&mut self, references: &[u32], values: &mut [*const c_char]) -> Status {
        match self.expand(Type::String, references, values.len()) {
            Ok(()) => self.instance.get(&self.scalars, values),
            Err(status) => status,
        }
    }

    pub fn set_texts(&mut self, references: &[u32], values: &[CString]) -> Status {
        match self.expand(Type::String, references, values.len()) {
            Ok(()) => self.instance.set(&self.scalars, values),
            Err(status) => status,
        }
    }

    pub fn directional_derivative(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
        result: &mut [f64],
    ) -> Status {
        if let Err(status) = self.expand(Type::Float64, knowns, seed.len()) {
            return status;
        }
        std::mem::swap(&mut self.scalars, &mut self.knowns);
        match self.expand(Type::Float64, unknowns, result.len()) {
            Ok(()) => self.instance.directional_derivative(&self.scalars, &self.knowns, seed, result),
            Err(status) => status,
        }
    }

    pub fn output_derivatives(&mut self, references: &[u32], orders: &[i32], values: &mut [f64]) -> Status {
        if let Err(status) = self.expand(Type::Float64, references, values.len()) {
            return status;
        }
        // One order for each variable: its elements have the same.
        let counts = references.iter().map(|&reference| self.find(reference).map_or(0, |array| array.count));
        let orders: Vec<i32> =
            orders.iter().zip(counts).flat_map(|(&order, count)| (0..count).map(move |_| order)).collect();
        self.instance.get_output_derivatives(&self.scalars, &orders, values)
    }

    fn find(&self, reference: u32) -> Option<&Array> {
        let index = self.variables.binary_search_by_key(&reference, |array| array.reference).ok()?;
        Some(&self.variables[index])
    }

    /// The scalars behind variables of one type, which together have so many values.
    fn expand(&mut self, of: Type, references: &[u32], values: usize) -> Result<(), Status> {
        let mut scalars = std::mem::take(&mut self.scalars);
        scalars.clear();
        let mut unknown = None;
        for &reference in references {
            // Enumerations are read and set as 64-bit integers.
            let is_of = |kind: Type| kind == of || (kind == Type::Enumeration && of == Type::Int64);
            match self.find(reference).filter(|array| is_of(array.kind)) {
                Some(array) => scalars.extend((0..array.count).map(|i| array.first + i)),
                None => {
                    unknown = Some(reference);
                    break;
                }
            }
        }
        let found = scalars.len();
        self.scalars = scalars;
        if let Some(reference) = unknown {
            let message = format_args!("there is no {of:?} with value reference {reference}");
            return Err(self.instance.refuse(message));
        }
        if found != values {
            return Err(self.instance.refuse(format_args!(
                "there are {found} values in these variables of type {of:?}, and room for {values}"
            )));
        }
        Ok(())
    }
}

macro_rules! integers {
    ($($c:ty => $type:ident),*) => {$(
        impl Translated for $c {
            const TYPE: Type = Type::$type;
            type Held = i32;

            fn hold(self) -> Option<i32> {
                i32::try_from(self).ok()
            }

            fn show(held: i32) -> Option<$c> {
                <$c>::try_from(held).ok()
            }

            fn scratch(shell: &mut Shell) -> &mut Vec<i32> {
                &mut shell.integers
            }
        }
    )*};
}

integers!(i8 => Int8, u8 => UInt8, i16 => Int16, u16 => UInt16, i32 => Int32, u32 => UInt32, i64 => Int64, u64 => UInt64);

impl Translated for f32 {
    const TYPE: Type = Type::Float32;
    type Held = f64;

    fn hold(self) -> Option<f64> {
        Some(f64::from(self))
    }

    /// The nearest; what is too large is infinite, as in C.
    fn show(held: f64) -> Option<f32> {
        Some(held as f32)
    }

    fn scratch(shell: &mut Shell) -> &mut Vec<f64> {
        &mut shell.reals
    }
}

/// C's `bool`, of which a host may make any byte.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub struct Flag(u8);

impl Display for Flag {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.0 != 0)
    }
}

impl Translated for Flag {
    const TYPE: Type = Type::Boolean;
    type Held = bool;

    fn hold(self) -> Option<bool> {
        Some(self.0 != 0)
    }

    fn show(held: bool) -> Option<Flag> {
        Some(Flag(u8::from(held)))
    }

    fn scratch(shell: &mut Shell) -> &mut Vec<bool> {
        &mut shell.booleans
    }
}
