//! Saved FMU states: the inner FMU's own, and beside it all that changes on our side, so that going back is
//! bit-identical.
//!
//! As bytes, a state carries the GUID of the FMU that wrote it, which follows from the plan, and a checksum: the state of
//! another build means nothing here, and a damaged one must not be executed.

use super::clock::Clock;
use super::twin::Twin;
use super::{Instance, Phase};
use crate::component::Component;
use crate::fmi::{Mode, SavedState};
use crate::integrator::Live;
use crate::measure::Measure;
use crate::status::Status;
use crate::value::Known;
use crate::version::Function;
use serde::{Deserialize, Serialize};

/// What an `fmi2FMUstate` points to.
pub struct Saved {
    inner: SavedState,
    /// The twin's, if it was on.
    twin: Option<SavedState>,
    outer: Outer,
}

/// The part of a saved state that is ours.
#[derive(Clone, Serialize, Deserialize)]
struct Outer {
    phase: Phase,
    live: Live,
    /// The twin's, if it was on; and what the two say of the error.
    twin: Option<Live>,
    measure: Option<Measure>,
    known: Known,
    start_time: f64,
    tolerance: Option<f64>,
    clock: Clock,
    terminated_by_model: bool,
    warned_about_step: bool,
}

/// A serialised state, before its checksum.
#[derive(Serialize, Deserialize)]
struct Serialised<'a> {
    guid: &'a str,
    outer: Outer,
    /// The inner FMU's mode when its state was saved, and the state.
    mode: Mode,
    inner: &'a [u8],
    /// The same of the twin's.
    #[serde(borrow)]
    twin: Option<(Mode, &'a [u8])>,
}

impl<C: Component> Instance<C> {
    /// The handle is the address of what is saved; `None` where the model cannot do it.
    pub fn save(&mut self, handle: Option<usize>) -> Result<usize, Status> {
        if let Some(status) = self.illegal(Function::FmuState) {
            return Err(status);
        }
        if !self.integrator.plan().model.can_get_and_set_state {
            return Err(self.refuse(format_args!("the model cannot get and set its state")));
        }
        let index = handle.map(|handle| self.find_saved(handle)).transpose()?;
        // Always a new state of the inner FMU: if it refuses, the old one is what it was.
        let mut inner = SavedState::empty();
        let status = self.integrator.model.get_fmu_state(&mut inner);
        if !status.is_usable() {
            let _ = self.integrator.model.free_fmu_state(&mut inner);
            return Err(self.failed(Function::GetFmuState, status));
        }
        let (twin, live) = self.twin.as_mut().and_then(Twin::save).unzip();
        let saved = Saved { inner, twin, outer: Outer { twin: live, ..self.outer() } };
        let Some(index) = index else {
            self.saved.push(Box::new(saved));
            return Ok(self.saved.last().map_or(0, |saved| address(saved)));
        };
        let mut old = std::mem::replace(&mut *self.saved[index], saved);
        match self.free_state(&mut old) {
            status @ (Status::Error | Status::Fatal) => Err(self.failed(Function::FreeFmuState, status)),
            _ => Ok(address(&self.saved[index])),
        }
    }

    pub fn restore(&mut self, handle: usize) -> Status {
        if let Some(status) = self.illegal(Function::FmuState) {
            return status;
        }
        let index = match self.find_saved(handle) {
            Ok(index) => index,
            Err(status) => return status,
        };
        let saved = &self.saved[index];
        let status = self.integrator.model.set_fmu_state(&saved.inner);
        if !status.is_usable() {
            return self.failed(Function::SetFmuState, status);
        }
        if let Some(twin) = &mut self.twin {
            twin.restore(saved.twin.as_ref().zip(saved.outer.twin.as_ref()));
        }
        let outer = saved.outer.clone();
        self.phase = outer.phase;
        self.start_time = outer.start_time;
        self.tolerance = outer.tolerance;
        self.clock = outer.clock;
        self.terminated_by_model = outer.terminated_by_model;
        self.warned_about_step = outer.warned_about_step;
        self.variables.restore(outer.known);
        if let (Some(estimate), Some(measure)) = (&mut self.estimate, outer.measure) {
            estimate.measure = measure;
        }
        match self.integrator.resume(outer.live) {
            Ok(()) => Status::Ok,
            Err(fault) => self.fault(fault),
        }
    }

    pub fn free_saved(&mut self, handle: usize) -> Status {
        let index = match self.find_saved(handle) {
            Ok(index) => index,
            Err(status) => return status,
        };
        let mut saved = self.saved.swap_remove(index);
        let status = self.free_state(&mut saved);
        if status.is_usable() { status } else { self.failed(Function::FreeFmuState, status) }
    }

    pub fn serialize(&mut self, handle: usize) -> Result<Vec<u8>, Status> {
        if let Some(status) = self.illegal(Function::FmuState) {
            return Err(status);
        }
        if !self.integrator.plan().model.can_serialize_state {
            return Err(self.refuse(format_args!("the model cannot serialise its state")));
        }
        let index = self.find_saved(handle)?;
        let saved = &self.saved[index];
        let inner = match self.integrator.model.serialize(&saved.inner) {
            Ok(inner) => inner,
            Err(status) => return Err(self.failed(Function::Serialize, status)),
        };
        let twin =
            self.twin.as_mut().zip(saved.twin.as_ref()).and_then(|(twin, state)| twin.serialize(state));
        let serialised = Serialised {
            guid: &self.integrator.plan().model.guid,
            outer: saved.outer.clone(),
            mode: saved.inner.mode(),
            inner: &inner,
            twin: twin.as_ref().map(|(mode, bytes)| (*mode, bytes.as_slice())),
        };
        let mut bytes = postcard::to_stdvec(&serialised)
            .map_err(|error| self.refuse(format_args!("the state cannot be serialised: {error}")))?;
        let sum = checksum(&bytes);
        bytes.extend(sum.to_le_bytes());
        Ok(bytes)
    }

    pub fn deserialize(&mut self, bytes: &[u8]) -> Result<usize, Status> {
        if let Some(status) = self.illegal(Function::FmuState) {
            return Err(status);
        }
        if !self.integrator.plan().model.can_serialize_state {
            return Err(self.refuse(format_args!("the model cannot serialise its state")));
        }
        let sound = |(content, sum): &(&[u8], &[u8; 8])| checksum(content) == u64::from_le_bytes(**sum);
        let Some((content, _)) = bytes.split_last_chunk().filter(sound) else {
            return Err(self.refuse(format_args!(
                "this is not a serialised state, or it is damaged: its checksum is wrong"
            )));
        };
        let Serialised { guid, outer, mode, inner, twin } = postcard::from_bytes(content)
            .map_err(|error| self.refuse(format_args!("this is not a serialised state: {error}")))?;
        if guid != self.integrator.plan().model.guid || !self.fits(&outer) {
            return Err(self.refuse(format_args!(
                "this is the serialised state of another FMU, {guid}; this one is {}",
                self.integrator.plan().model.guid
            )));
        }
        let mut saved = SavedState::empty();
        let status = self.integrator.model.deserialize(inner, mode, &mut saved);
        if !status.is_usable() {
            let _ = self.integrator.model.free_fmu_state(&mut saved);
            return Err(self.failed(Function::Deserialize, status));
        }
        let twin = self.twin.as_mut().zip(twin).and_then(|(own, (mode, bytes))| own.deserialize(mode, bytes));
        self.saved.push(Box::new(Saved { inner: saved, twin, outer }));
        Ok(self.saved.last().map_or(0, |saved| address(saved)))
    }

    /// Give a state back to the models that made it.
    pub(super) fn free_state(&mut self, saved: &mut Saved) -> Status {
        if let (Some(twin), Some(state)) = (&mut self.twin, &mut saved.twin) {
            twin.free(state);
        }
        self.integrator.model.free_fmu_state(&mut saved.inner)
    }

    fn outer(&self) -> Outer {
        Outer {
            phase: self.phase,
            live: self.integrator.live.clone(),
            twin: None,
            measure: self.estimate.as_ref().map(|estimate| estimate.measure.clone()),
            known: self.variables.known(),
            start_time: self.start_time,
            tolerance: self.tolerance,
            clock: self.clock,
            terminated_by_model: self.terminated_by_model,
            warned_about_step: self.warned_about_step,
        }
    }

    fn fits(&self, outer: &Outer) -> bool {
        // A state is never saved after a fatal failure, and would be one.
        outer.phase != Phase::Fatal
            && outer.live.fits(&self.integrator.live)
            && outer.twin.as_ref().is_none_or(|twin| twin.fits(&self.integrator.live))
            && match (&outer.measure, &self.estimate) {
                (Some(measure), Some(estimate)) => measure.fits(&estimate.measure),
                (measure, estimate) => measure.is_none() && estimate.is_none(),
            }
            && self.variables.fits(&outer.known)
    }

    /// An address that we never gave out must not be followed.
    fn find_saved(&self, handle: usize) -> Result<usize, Status> {
        self.saved
            .iter()
            .position(|saved| address(saved) == handle)
            .ok_or_else(|| self.refuse(format_args!("this is not a state that this instance saved")))
    }
}

/// FNV-1a, 64 bits: each step is a bijection, so no change of one byte goes unseen. It is no protection against intent.
fn checksum(bytes: &[u8]) -> u64 {
    let fold = |hash: u64, &byte: &u8| (hash ^ byte as u64).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, fold)
}

fn address(saved: &Saved) -> usize {
    std::ptr::from_ref(saved) as usize
}
