//! Values as they pass from the importer to the model inside and back: scalars of four types.
//!
//! A type has two sides: what is set, which is held so that setting it again can be skipped ([`Element`]), and what is
//! read, which for a text is a pointer into the model's own memory ([`Answer`]). A version of FMI with more types, or with
//! arrays, has them as scalars of these four: its component and its C functions translate.

use crate::access::Access;
use crate::plan::Variables;
use serde::{Deserialize, Serialize};
use std::ffi::{CString, c_char};
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Type {
    Real,
    /// Enumerations included.
    Integer,
    Boolean,
    Text,
}

/// Values of one type that are set.
#[derive(Clone, Copy, Debug)]
pub enum Values<'a> {
    Real(&'a [f64]),
    Integer(&'a [i32]),
    Boolean(&'a [bool]),
    Text(&'a [CString]),
}

/// Where values of one type are to be read into.
#[derive(Debug)]
pub enum ValuesMut<'a> {
    Real(&'a mut [f64]),
    Integer(&'a mut [i32]),
    Boolean(&'a mut [bool]),
    /// C strings of the model, valid until its next call; null for one that nobody set.
    Text(&'a mut [*const c_char]),
}

/// A value of any type.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Value {
    Real(f64),
    Integer(i32),
    Boolean(bool),
    Text(String),
}

/// A type of values that are set.
pub trait Element: Clone {
    const TYPE: Type;
    fn values(values: &[Self]) -> Values<'_>;
    /// To the last bit.
    fn is_same(&self, other: &Self) -> bool;
    fn access(store: &Store) -> &Access<Self>;
    fn access_mut(store: &mut Store) -> &mut Access<Self>;
}

/// A type of values that are read.
pub trait Answer: Sized {
    type Element: Element;
    fn values(values: &mut [Self]) -> ValuesMut<'_>;
    /// A value of the runtime's own, if it is of this type.
    fn own(own: Own) -> Option<Self>;
    /// Put what is known in the place of what the model left out.
    fn complete(_values: &mut [Self], _references: &[u32], _known: &Access<Self::Element>) {}
}

/// A value that the runtime answers itself: a diagnostic.
#[derive(Clone, Copy, Debug)]
pub enum Own {
    Real(f64),
    Integer(i32),
    Text(*const c_char),
}

/// The model's variables by type, with what is known of their values.
pub struct Store {
    pub real: Access<f64>,
    pub integer: Access<i32>,
    pub boolean: Access<bool>,
    pub text: Access<CString>,
}

/// The known values of a [`Store`], as a part of a saved state.
#[derive(Clone, Serialize, Deserialize)]
pub struct Known {
    real: Vec<Option<f64>>,
    integer: Vec<Option<i32>>,
    boolean: Vec<Option<bool>>,
    text: Vec<Option<CString>>,
}

impl Store {
    pub fn new(variables: &Variables) -> Store {
        let Variables { real, integer, boolean, string } = variables;
        Store {
            real: Access::new(real),
            integer: Access::new(integer),
            boolean: Access::new(boolean),
            text: Access::new(string),
        }
    }

    /// Nothing is known about any value.
    pub fn forget(&mut self) {
        self.real.forget();
        self.integer.forget();
        self.boolean.forget();
        self.text.forget();
    }

    pub fn known(&self) -> Known {
        Known {
            real: self.real.values.clone(),
            integer: self.integer.values.clone(),
            boolean: self.boolean.values.clone(),
            text: self.text.values.clone(),
        }
    }

    /// Back to what was known then.
    pub fn restore(&mut self, known: Known) {
        self.real.values = known.real;
        self.integer.values = known.integer;
        self.boolean.values = known.boolean;
        self.text.values = known.text;
    }

    /// The values are those of as many variables.
    pub fn fits(&self, known: &Known) -> bool {
        known.real.len() == self.real.values.len()
            && known.integer.len() == self.integer.values.len()
            && known.boolean.len() == self.boolean.values.len()
            && known.text.len() == self.text.values.len()
    }
}

/// A text for C, which ends at a zero: those inside are left out.
pub fn c_text(text: &str) -> CString {
    CString::new(text.replace('\0', "")).unwrap_or_default()
}

/// The name of the type in messages.
impl fmt::Display for Type {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Type::Real => "Real",
            Type::Integer => "Integer",
            Type::Boolean => "Boolean",
            Type::Text => "String",
        })
    }
}

macro_rules! element {
    ($element:ty, $type:ident, $field:ident, $same:expr) => {
        impl Element for $element {
            const TYPE: Type = Type::$type;

            fn values(values: &[Self]) -> Values<'_> {
                Values::$type(values)
            }

            #[inline]
            fn is_same(&self, other: &Self) -> bool {
                let same: fn(&Self, &Self) -> bool = $same;
                same(self, other)
            }

            #[inline]
            fn access(store: &Store) -> &Access<Self> {
                &store.$field
            }

            #[inline]
            fn access_mut(store: &mut Store) -> &mut Access<Self> {
                &mut store.$field
            }
        }
    };
}

element!(f64, Real, real, |a, b| a.to_bits() == b.to_bits());
element!(i32, Integer, integer, |a, b| a == b);
element!(bool, Boolean, boolean, |a, b| a == b);
element!(CString, Text, text, |a, b| a == b);

impl Answer for f64 {
    type Element = f64;

    fn values(values: &mut [f64]) -> ValuesMut<'_> {
        ValuesMut::Real(values)
    }

    fn own(own: Own) -> Option<f64> {
        if let Own::Real(value) = own { Some(value) } else { None }
    }
}

impl Answer for i32 {
    type Element = i32;

    fn values(values: &mut [i32]) -> ValuesMut<'_> {
        ValuesMut::Integer(values)
    }

    fn own(own: Own) -> Option<i32> {
        if let Own::Integer(value) = own { Some(value) } else { None }
    }
}

impl Answer for bool {
    type Element = bool;

    fn values(values: &mut [bool]) -> ValuesMut<'_> {
        ValuesMut::Boolean(values)
    }

    fn own(_own: Own) -> Option<bool> {
        None
    }
}

impl Answer for *const c_char {
    type Element = CString;

    fn values(values: &mut [*const c_char]) -> ValuesMut<'_> {
        ValuesMut::Text(values)
    }

    fn own(own: Own) -> Option<*const c_char> {
        if let Own::Text(value) = own { Some(value) } else { None }
    }

    /// Some tools answer with NULL and fmi2OK for a text that nobody set.
    fn complete(values: &mut [*const c_char], references: &[u32], known: &Access<CString>) {
        for (value, &reference) in values.iter_mut().zip(references).filter(|(value, _)| value.is_null()) {
            *value = known.value(reference).map_or(c"", CString::as_c_str).as_ptr();
        }
    }
}
