//! The model inside the exported FMU, whatever its version of FMI: what the life cycle of an instance asks of it.
//!
//! [`Model`] is what an integrator needs, with the integrator's own statuses; a [`Component`] is a model with a life
//! cycle, typed values and saved states. An FMI 2.0 library is one ([`Fmu2`](crate::fmi::Fmu2)).

use crate::fmi::{Mode, SavedState};
use crate::model::Model;
use crate::status::Status;
use crate::value::{Type, Value, Values, ValuesMut, c_text};
use crate::version::Version;
use std::ffi::{CStr, CString};
use std::fmt::Arguments;

pub trait Component: Model {
    /// Whose names its functions and statuses have in messages.
    fn version(&self) -> Version;
    /// Where it is in FMI's state machine.
    fn mode(&self) -> Mode;
    /// From now on an error is the end, as the standard has it.
    fn forbid_calls_after_errors(&mut self);
    /// From now on the vectors that it fills have room behind them: it was seen to write too much.
    fn make_room(&mut self, states: usize, indicators: usize);

    fn set_debug_logging(&mut self, on: bool, categories: &[&CStr]) -> Status;
    /// Tolerance, start and stop time, before Initialization Mode is entered. A version that gives them there keeps them.
    fn set_up(&mut self, tolerance: Option<f64>, start: f64, stop: Option<f64>) -> Status;
    fn enter_initialization_mode(&mut self) -> Status;
    fn exit_initialization_mode(&mut self) -> Status;
    fn terminate(&mut self) -> Status;
    fn reset(&mut self) -> Status;

    /// As many values as references; likewise below.
    fn get(&mut self, references: &[u32], values: ValuesMut) -> Status;
    fn set(&mut self, references: &[u32], values: Values) -> Status;
    /// A copy of one text, for those who may allocate.
    fn copy_text(&mut self, reference: u32) -> Option<CString>;
    /// A number that follows from a text, without memory of its own; `None` where it cannot be read.
    fn text_digest(&mut self, reference: u32) -> Option<u64>;

    /// One value of any type.
    fn set_value(&mut self, reference: u32, value: &Value) -> Status {
        let reference = &[reference];
        match value {
            Value::Real(value) => self.set(reference, Values::Real(&[*value])),
            Value::Integer(value) => self.set(reference, Values::Integer(&[*value])),
            Value::Boolean(value) => self.set(reference, Values::Boolean(&[*value])),
            Value::Text(value) => self.set(reference, Values::Text(&[c_text(value)])),
        }
    }

    /// Likewise, for those who may allocate; `None` where it cannot be read.
    fn value(&mut self, reference: u32, of: Type) -> Option<Value> {
        let (mut real, mut integer, mut boolean) = ([0.0], [0], [false]);
        let status = match of {
            Type::Real => self.get(&[reference], ValuesMut::Real(&mut real)),
            Type::Integer => self.get(&[reference], ValuesMut::Integer(&mut integer)),
            Type::Boolean => self.get(&[reference], ValuesMut::Boolean(&mut boolean)),
            Type::Text => {
                let text = self.copy_text(reference)?;
                return Some(Value::Text(text.to_string_lossy().into_owned()));
            }
        };
        status.is_usable().then_some(match of {
            Type::Real => Value::Real(real[0]),
            Type::Integer => Value::Integer(integer[0]),
            _ => Value::Boolean(boolean[0]),
        })
    }

    /// Save the state into `saved`: over what it holds, or as a new one if it holds nothing.
    fn get_fmu_state(&mut self, saved: &mut SavedState) -> Status;
    fn set_fmu_state(&mut self, saved: &SavedState) -> Status;
    fn free_fmu_state(&mut self, saved: &mut SavedState) -> Status;
    fn serialize(&mut self, saved: &SavedState) -> Result<Vec<u8>, Status>;
    /// `mode` is the one in which the state was saved.
    fn deserialize(&mut self, bytes: &[u8], mode: Mode, saved: &mut SavedState) -> Status;
}

/// The one who imports the exported FMU: where messages go.
pub trait Importer {
    /// Whose names our own functions and statuses have in messages.
    fn version(&self) -> Version;
    /// Must not allocate: steps tell of errors too.
    fn log(&self, instance: &CStr, status: Status, category: &CStr, message: Arguments);
}
