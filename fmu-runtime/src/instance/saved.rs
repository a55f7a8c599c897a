//! Saved FMU states: the inner FMU's own, and beside it all that changes on our side, so that going back is
//! bit-identical.

use super::{Call, Instance, Phase};
use crate::fmi::SavedState;
use crate::integrator::Live;
use crate::status::Status;
use serde::{Deserialize, Serialize};
use std::ffi::CString;

/// What an `fmi2FMUstate` points to.
pub struct Saved {
    pub(super) inner: SavedState,
    outer: Outer,
}

/// The part of a saved state that is ours.
#[derive(Clone, Serialize, Deserialize)]
struct Outer {
    phase: Phase,
    live: Live,
    real: Vec<Option<f64>>,
    integer: Vec<Option<i32>>,
    boolean: Vec<Option<i32>>,
    string: Vec<Option<CString>>,
    terminated_by_model: bool,
}

impl Instance {
    /// The handle is the address of what is saved; `None` where the model cannot do it.
    pub fn save(&mut self, handle: Option<usize>) -> Result<usize, Status> {
        if let Some(status) = self.illegal(Call::FmuState) {
            return Err(status);
        }
        if !self.integrator.plan.model.can_get_and_set_state {
            return Err(self.refuse(format_args!("the model cannot get and set its state")));
        }
        let index = match handle {
            Some(handle) => self.find_saved(handle)?,
            None => {
                self.saved.push(Box::new(Saved { inner: SavedState::empty(), outer: self.outer() }));
                self.saved.len() - 1
            }
        };
        let outer = self.outer();
        let saved = &mut self.saved[index];
        saved.outer = outer;
        let status = self.integrator.model.get_fmu_state(&mut saved.inner);
        if !status.is_usable() {
            if handle.is_none() {
                self.saved.pop();
            }
            return Err(self.failed("fmi2GetFMUstate", status));
        }
        Ok(address(&self.saved[index]))
    }

    pub fn restore(&mut self, handle: usize) -> Status {
        if let Some(status) = self.illegal(Call::FmuState) {
            return status;
        }
        let index = match self.find_saved(handle) {
            Ok(index) => index,
            Err(status) => return status,
        };
        let saved = &self.saved[index];
        let status = self.integrator.model.set_fmu_state(&saved.inner);
        if !status.is_usable() {
            return self.failed("fmi2SetFMUstate", status);
        }
        let outer = saved.outer.clone();
        self.phase = outer.phase;
        self.terminated_by_model = outer.terminated_by_model;
        self.real.values = outer.real;
        self.integer.values = outer.integer;
        self.boolean.values = outer.boolean;
        self.string.values = outer.string;
        self.integrator.live = outer.live;
        match self.integrator.follow_live() {
            Ok(()) => Status::Ok,
            Err(fault) => self.fault(fault),
        }
    }

    pub fn free_saved(&mut self, handle: usize) -> Status {
        match self.find_saved(handle) {
            Ok(index) => {
                let mut saved = self.saved.swap_remove(index);
                self.integrator.model.free_fmu_state(&mut saved.inner)
            }
            Err(status) => status,
        }
    }

    pub fn serialize(&mut self, handle: usize) -> Result<Vec<u8>, Status> {
        if !self.integrator.plan.model.can_serialize_state {
            return Err(self.refuse(format_args!("the model cannot serialise its state")));
        }
        let index = self.find_saved(handle)?;
        let saved = &self.saved[index];
        match self.integrator.model.serialize(&saved.inner) {
            Ok(inner) => postcard::to_stdvec(&(&saved.outer, inner))
                .map_err(|error| self.refuse(format_args!("the state cannot be serialised: {error}"))),
            Err(status) => Err(self.failed("fmi2SerializeFMUstate", status)),
        }
    }

    pub fn deserialize(&mut self, bytes: &[u8]) -> Result<usize, Status> {
        if !self.integrator.plan.model.can_serialize_state {
            return Err(self.refuse(format_args!("the model cannot serialise its state")));
        }
        let (outer, inner): (Outer, Vec<u8>) = postcard::from_bytes(bytes)
            .map_err(|error| self.refuse(format_args!("this is not a serialised state: {error}")))?;
        if !self.fits(&outer) {
            return Err(self.refuse(format_args!("this is the serialised state of another FMU")));
        }
        let mut saved = SavedState::empty();
        let status = self.integrator.model.deserialize(&inner, &mut saved);
        if !status.is_usable() {
            return Err(self.failed("fmi2DeSerializeFMUstate", status));
        }
        self.saved.push(Box::new(Saved { inner: saved, outer }));
        Ok(self.saved.last().map_or(0, |saved| address(saved)))
    }

    fn outer(&self) -> Outer {
        Outer {
            phase: self.phase,
            live: self.integrator.live.clone(),
            real: self.real.values.clone(),
            integer: self.integer.values.clone(),
            boolean: self.boolean.values.clone(),
            string: self.string.values.clone(),
            terminated_by_model: self.terminated_by_model,
        }
    }

    fn fits(&self, outer: &Outer) -> bool {
        outer.live.fits(&self.integrator.live)
            && outer.real.len() == self.real.values.len()
            && outer.integer.len() == self.integer.values.len()
            && outer.boolean.len() == self.boolean.values.len()
            && outer.string.len() == self.string.values.len()
    }

    /// An address that we never gave out must not be followed.
    fn find_saved(&self, handle: usize) -> Result<usize, Status> {
        self.saved
            .iter()
            .position(|saved| address(saved) == handle)
            .ok_or_else(|| self.refuse(format_args!("this is not a state that this instance saved")))
    }
}

fn address(saved: &Saved) -> usize {
    std::ptr::from_ref(saved) as usize
}
