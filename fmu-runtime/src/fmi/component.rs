//! An FMI 2.0 library as the component inside the exported FMU.

use super::{Fmu2, Mode, SavedState};
use crate::component::Component;
use crate::status::Status;
use crate::value::{Values, ValuesMut};
use crate::version::Version;
use std::ffi::{CStr, CString};

/// FMI 2.0's Booleans are C integers: so many are translated at once, without memory.
const BOOLEANS: usize = 64;

impl Component for Fmu2 {
    fn version(&self) -> Version {
        Fmu2::version(self)
    }

    fn mode(&self) -> Mode {
        Fmu2::mode(self)
    }

    fn forbid_calls_after_errors(&mut self) {
        Fmu2::forbid_calls_after_errors(self);
    }

    fn make_room(&mut self, states: usize, indicators: usize) {
        Fmu2::make_room(self, states, indicators);
    }

    fn set_debug_logging(&mut self, on: bool, categories: &[&CStr]) -> Status {
        Fmu2::set_debug_logging(self, on, categories)
    }

    fn set_up(&mut self, tolerance: Option<f64>, start: f64, stop: Option<f64>) -> Status {
        self.setup_experiment(tolerance, start, stop)
    }

    fn enter_initialization_mode(&mut self) -> Status {
        Fmu2::enter_initialization_mode(self)
    }

    fn exit_initialization_mode(&mut self) -> Status {
        Fmu2::exit_initialization_mode(self)
    }

    fn terminate(&mut self) -> Status {
        Fmu2::terminate(self)
    }

    fn reset(&mut self) -> Status {
        Fmu2::reset(self)
    }

    fn get(&mut self, references: &[u32], values: ValuesMut) -> Status {
        match values {
            ValuesMut::Real(values) => self.get_real(references, values),
            ValuesMut::Integer(values) => self.get_integer(references, values),
            ValuesMut::Boolean(values) => {
                assert_eq!(references.len(), values.len());
                let parts = references.chunks(BOOLEANS).zip(values.chunks_mut(BOOLEANS));
                parts.fold(Status::Ok, |worst, (references, values)| {
                    let mut integers = [0; BOOLEANS];
                    let integers = &mut integers[..values.len()];
                    let status = self.get_boolean(references, integers);
                    values.iter_mut().zip(integers).for_each(|(value, integer)| *value = *integer != 0);
                    worst.max(status)
                })
            }
            ValuesMut::Text(values) => self.get_string(references, values),
        }
    }

    fn set(&mut self, references: &[u32], values: Values) -> Status {
        match values {
            Values::Real(values) => self.set_real(references, values),
            Values::Integer(values) => self.set_integer(references, values),
            Values::Boolean(values) => {
                assert_eq!(references.len(), values.len());
                let parts = references.chunks(BOOLEANS).zip(values.chunks(BOOLEANS));
                parts.fold(Status::Ok, |worst, (references, values)| {
                    let mut integers = [0; BOOLEANS];
                    let integers = &mut integers[..values.len()];
                    integers.iter_mut().zip(values).for_each(|(integer, value)| *integer = i32::from(*value));
                    worst.max(self.set_boolean(references, integers))
                })
            }
            Values::Text(values) => self.set_string(references, values),
        }
    }

    fn copy_text(&mut self, reference: u32) -> Option<CString> {
        self.copy_string(reference)
    }

    fn text_digest(&mut self, reference: u32) -> Option<u64> {
        self.string_digest(reference)
    }

    fn get_fmu_state(&mut self, saved: &mut SavedState) -> Status {
        Fmu2::get_fmu_state(self, saved)
    }

    fn set_fmu_state(&mut self, saved: &SavedState) -> Status {
        Fmu2::set_fmu_state(self, saved)
    }

    fn free_fmu_state(&mut self, saved: &mut SavedState) -> Status {
        Fmu2::free_fmu_state(self, saved)
    }

    fn serialize(&mut self, saved: &SavedState) -> Result<Vec<u8>, Status> {
        Fmu2::serialize(self, saved)
    }

    fn deserialize(&mut self, bytes: &[u8], mode: Mode, saved: &mut SavedState) -> Status {
        Fmu2::deserialize(self, bytes, mode, saved)
    }
}
