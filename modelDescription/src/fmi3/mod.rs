//! FMI 3.0: what its description has beyond FMI 2.0's, and how one becomes the other.
//!
//! The rest of fmu-build knows scalars of four types. `lower` makes them of FMI 3.0's arrays and fourteen types: the tree of a
//! description of FMI 2.0, which is then read, repaired and written like any other. `raise` goes the other way, for the new FMU.
//!
//! | FMI 3.0 | here |
//! |---|---|
//! | `x` with two dimensions | `x[1,1]`, `x[1,2]`, …, row by row, with value references that follow one another |
//! | Float32, Float64 | Real |
//! | Int8 … UInt64 | Integer; a start value beyond 32 bits has the variable left out, by name |
//! | Enumeration, Boolean, String | the same |
//! | Binary | left out, by name |
//! | Clock | no variable; `Fmi3::clocks` |
//! | `Alias` | a further variable with the same value reference |
//! | structural parameter | a constant: arrays have the sizes that they had when the FMU was built |

mod lower;
mod raise;

pub(crate) use lower::lower;

/// What a description of FMI 3.0 says beyond its scalars.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fmi3 {
    /// Every variable that has scalars, in the order of the file.
    pub arrays: Vec<Array>,
    /// Parameters that sizes of arrays depend on.
    pub structure: Vec<StructuralParameter>,
    pub clocks: Vec<Clock>,
}

/// A variable of FMI 3.0; without dimensions it is a scalar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Array {
    pub name: String,
    pub value_reference: u32,
    pub kind: Type,
    pub dimensions: Vec<u32>,
    /// Index of its first scalar in `variables`, its value reference, and how many scalars there are.
    pub variable: usize,
    pub first: u32,
    pub count: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructuralParameter {
    pub name: String,
    pub value_reference: u32,
    pub kind: Type,
    pub value: u64,
    /// The file's own start value is another one.
    pub changed: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Clock {
    pub name: String,
    pub value_reference: u32,
    pub input: bool,
    pub interval: IntervalVariability,
    /// In seconds, as far as the file says: decimal, or counted in parts of a second.
    pub interval_seconds: Option<f64>,
    pub shift_seconds: Option<f64>,
    pub line: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IntervalVariability {
    Constant,
    Fixed,
    Calculated,
    Tunable,
    Changing,
    Countdown,
    Triggered,
}

impl IntervalVariability {
    pub(crate) fn from_word(word: &str) -> Option<Self> {
        use IntervalVariability::{Calculated, Changing, Constant, Countdown, Fixed, Triggered, Tunable};
        let words = [
            ("constant", Constant),
            ("fixed", Fixed),
            ("calculated", Calculated),
            ("tunable", Tunable),
            ("changing", Changing),
            ("countdown", Countdown),
            ("triggered", Triggered),
        ];
        words.iter().find(|(name, _)| name.eq_ignore_ascii_case(word.trim())).map(|(_, it)| *it)
    }
}

/// The types of variables. `Binary` and `Clock` have no scalars.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    Float32,
    Float64,
    Int8,
    UInt8,
    Int16,
    UInt16,
    Int32,
    UInt32,
    Int64,
    UInt64,
    Boolean,
    String,
    Binary,
    Enumeration,
    Clock,
}

impl Type {
    pub const ALL: [Type; 15] = [
        Type::Float32,
        Type::Float64,
        Type::Int8,
        Type::UInt8,
        Type::Int16,
        Type::UInt16,
        Type::Int32,
        Type::UInt32,
        Type::Int64,
        Type::UInt64,
        Type::Boolean,
        Type::String,
        Type::Binary,
        Type::Enumeration,
        Type::Clock,
    ];

    /// The name of its element in `<ModelVariables>`; with `Type` behind it, of that in `<TypeDefinitions>`.
    pub fn element(self) -> &'static str {
        match self {
            Type::Float32 => "Float32",
            Type::Float64 => "Float64",
            Type::Int8 => "Int8",
            Type::UInt8 => "UInt8",
            Type::Int16 => "Int16",
            Type::UInt16 => "UInt16",
            Type::Int32 => "Int32",
            Type::UInt32 => "UInt32",
            Type::Int64 => "Int64",
            Type::UInt64 => "UInt64",
            Type::Boolean => "Boolean",
            Type::String => "String",
            Type::Binary => "Binary",
            Type::Enumeration => "Enumeration",
            Type::Clock => "Clock",
        }
    }

    pub(crate) fn from_element(name: &str) -> Option<Type> {
        Type::ALL.into_iter().find(|kind| kind.element() == name)
    }

    /// The element of FMI 2.0 for its scalars.
    pub(crate) fn scalar(self) -> Option<crate::model::Kind> {
        use crate::model::Kind;
        match self {
            Type::Float32 | Type::Float64 => Some(Kind::Real),
            Type::Boolean => Some(Kind::Boolean),
            Type::String => Some(Kind::String),
            Type::Enumeration => Some(Kind::Enumeration),
            Type::Binary | Type::Clock => None,
            _ => Some(Kind::Integer),
        }
    }
}
