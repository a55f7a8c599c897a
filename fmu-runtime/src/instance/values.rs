//! Values in and out: `fmi2Get*`, `fmi2Set*` and the derivatives of inputs and outputs.
//!
//! Values are handed through to the inner FMU. What is added: unknown references are refused by number,
//! values that did not change are not set again, discrete inputs and tunable parameters take the inner FMU
//! to Event Mode (the next step brings it back), and our own diagnostics are answered here.

use super::estimate::Estimate;
use super::twin::Changes;
use super::{Call, Instance, Phase};
use crate::access::Access;
use crate::fmi::Fmu2;
use crate::plan::{Quantity, Role};
use crate::status::Status;
use std::ffi::{CStr, CString, c_char};

/// Changed values on their way to the inner FMU.
#[derive(Default)]
pub(super) struct Batch {
    references: Vec<u32>,
    reals: Vec<f64>,
    integers: Vec<i32>,
    strings: Vec<CString>,
}

impl Instance {
    pub fn get_real(&mut self, references: &[u32], values: &mut [f64]) -> Status {
        self.get(
            references,
            values,
            |it, reference| it.real.find(reference).is_some(),
            |it, quantity| match quantity {
                Quantity::StepTime => Some(it.step_time),
                Quantity::ErrorEstimate => Some(it.integrator.error_estimate()),
                Quantity::PlanDefect => Some(it.integrator.live.plan_defect),
                Quantity::Error => Some(it.estimated(|estimate| estimate.measure.error())),
                Quantity::ErrorPeak => Some(it.estimated(|estimate| estimate.measure.peak())),
                Quantity::ErrorButForLateness => {
                    Some(it.estimated(|estimate| estimate.measure.but_for_lateness()))
                }
                Quantity::DiscreteError => Some(it.estimated(|estimate| estimate.measure.differing())),
                _ => None,
            },
            |inner, references, values| inner.get_real(references, values),
            "Real",
        )
    }

    pub fn get_integer(&mut self, references: &[u32], values: &mut [i32]) -> Status {
        let clamp = |count: u64| Some(i32::try_from(count).unwrap_or(i32::MAX));
        self.get(
            references,
            values,
            |it, reference| it.integer.find(reference).is_some(),
            |it, quantity| match quantity {
                Quantity::Overruns => Some(it.overruns),
                Quantity::Allocations => clamp(it.allocations),
                Quantity::Events => clamp(it.integrator.live.events),
                Quantity::CarriedEvents => clamp(it.integrator.live.carried_events),
                Quantity::StepsOutsidePlan => clamp(it.steps_outside_plan()),
                Quantity::StepsWatchSpoke => clamp(it.integrator.live.outside_plan),
                Quantity::JacobianRenewals => clamp(it.integrator.live.renewals),
                Quantity::DampedSteps => clamp(it.integrator.live.damped),
                _ => None,
            },
            |inner, references, values| inner.get_integer(references, values),
            "Integer",
        )
    }

    pub fn get_boolean(&mut self, references: &[u32], values: &mut [i32]) -> Status {
        self.get(
            references,
            values,
            |it, reference| it.boolean.find(reference).is_some(),
            |_, _| None,
            |inner, references, values| inner.get_boolean(references, values),
            "Boolean",
        )
    }

    pub fn get_string(&mut self, references: &[u32], values: &mut [*const c_char]) -> Status {
        let status = self.get(
            references,
            values,
            |it, reference| it.string.find(reference).is_some(),
            |it, quantity| match quantity {
                Quantity::ErrorOutput => {
                    Some(it.estimate.as_ref().map_or(c"", Estimate::worst_output).as_ptr())
                }
                _ => None,
            },
            |inner, references, values| inner.get_string(references, values),
            "String",
        );
        if status.is_usable() {
            // Some tools answer with NULL and fmi2OK for a string that nobody set.
            for (value, &reference) in values.iter_mut().zip(references).filter(|(value, _)| value.is_null())
            {
                let known = self.string.find(reference).and_then(|index| self.string.values[index].as_ref());
                *value = known.map_or(c"".as_ptr(), |known| known.as_ptr());
            }
        }
        status
    }

    /// Steps beyond the tolerance. Without a twin the watch has a say.
    fn steps_outside_plan(&self) -> u64 {
        let beyond = self.estimate.as_ref().map_or(0, |estimate| estimate.measure.beyond());
        match self.twin {
            Some(_) => beyond,
            None => beyond.max(self.integrator.live.outside_plan),
        }
    }

    /// A number of the estimate; nothing is known without one.
    fn estimated(&self, number: impl Fn(&Estimate) -> f64) -> f64 {
        self.estimate.as_ref().map_or(0.0, number)
    }

    /// A String of the inner FMU, for callers in Rust.
    pub fn text(&mut self, reference: u32) -> Option<String> {
        self.string.find(reference)?;
        self.integrator.model.copy_string(reference).map(|text| text.to_string_lossy().into_owned())
    }

    /// Read from the inner FMU in one call, or one by one where diagnostics of our own are among them.
    fn get<T>(
        &mut self,
        references: &[u32],
        values: &mut [T],
        known: impl Fn(&Instance, u32) -> bool,
        diagnostic: impl Fn(&Instance, Quantity) -> Option<T>,
        get: impl Fn(&mut Fmu2, &[u32], &mut [T]) -> Status,
        kind: &'static str,
    ) -> Status {
        if let Some(status) = self.illegal(Call::Get) {
            return status;
        }
        let Some(unknown) = references.iter().position(|&reference| !known(self, reference)) else {
            let status = get(&mut self.integrator.model, references, values);
            return if status.is_usable() { status } else { self.failed("fmi2Get", status) };
        };
        let mut worst = Status::Ok;
        for (i, (&reference, value)) in references.iter().zip(values).enumerate() {
            if i < unknown || known(self, reference) {
                let slot = std::slice::from_mut(value);
                worst = worst.max(get(&mut self.integrator.model, &[reference], slot));
                continue;
            }
            let plan = self.integrator.plan();
            let own = plan.diagnostics.iter().find(|diagnostic| diagnostic.reference == reference);
            let quantity = own.map(|own| own.quantity);
            self.measure_time |=
                matches!(quantity, Some(Quantity::StepTime | Quantity::Overruns | Quantity::Allocations));
            match quantity.and_then(|quantity| diagnostic(self, quantity)) {
                Some(own) => *value = own,
                None => {
                    return self.refuse(format_args!("there is no {kind} with value reference {reference}"));
                }
            }
        }
        if worst.is_usable() { worst } else { self.failed("fmi2Get", worst) }
    }

    pub fn set_real(&mut self, references: &[u32], values: &[f64]) -> Status {
        self.batch.reals.clear();
        let same = |old: &f64, new: &f64| old.to_bits() == new.to_bits();
        self.set(
            references,
            values,
            |it| &mut it.real,
            same,
            |it, value| it.batch.reals.push(*value),
            |inner, batch| inner.set_real(&batch.references, &batch.reals),
            "Real",
        )
    }

    pub fn set_integer(&mut self, references: &[u32], values: &[i32]) -> Status {
        self.batch.integers.clear();
        self.set(
            references,
            values,
            |it| &mut it.integer,
            |old, new| old == new,
            |it, value| it.batch.integers.push(*value),
            |inner, batch| inner.set_integer(&batch.references, &batch.integers),
            "Integer",
        )
    }

    pub fn set_boolean(&mut self, references: &[u32], values: &[i32]) -> Status {
        self.batch.integers.clear();
        self.set(
            references,
            values,
            |it| &mut it.boolean,
            |old, new| (*old != 0) == (*new != 0),
            |it, value| it.batch.integers.push(*value),
            |inner, batch| inner.set_boolean(&batch.references, &batch.integers),
            "Boolean",
        )
    }

    pub fn set_string(&mut self, references: &[u32], values: &[CString]) -> Status {
        self.batch.strings.clear();
        self.set(
            references,
            values,
            |it| &mut it.string,
            |old, new| old == new,
            |it, value| it.batch.strings.push(value.clone()),
            |inner, batch| {
                let strings: Vec<&CStr> = batch.strings.iter().map(|string| string.as_c_str()).collect();
                inner.set_string(&batch.references, &strings)
            },
            "String",
        )
    }

    /// Before initialisation everything is handed on, and the model judges. Afterwards inputs and tunable
    /// parameters are, if they changed: all but continuous inputs through Event Mode.
    #[allow(clippy::too_many_arguments)]
    fn set<T: Clone>(
        &mut self,
        references: &[u32],
        values: &[T],
        access: impl Fn(&mut Instance) -> &mut Access<T>,
        same: impl Fn(&T, &T) -> bool,
        push: impl Fn(&mut Instance, &T),
        send: impl Fn(&mut Fmu2, &Batch) -> Status,
        kind: &'static str,
    ) -> Status {
        if let Some(status) = self.illegal(Call::Set) {
            return status;
        }
        let running = self.phase == Phase::Step;
        // All or nothing: look first.
        for &reference in references {
            match access(self).find(reference) {
                None => {
                    return self.refuse(format_args!("there is no {kind} with value reference {reference}"));
                }
                Some(index) if running && access(self).role(index) == Role::Read => {
                    return self.refuse(format_args!(
                        "the {kind} with value reference {reference} is neither an input nor a tunable \
                         parameter: it cannot be set after initialisation"
                    ));
                }
                Some(_) => {}
            }
        }
        self.batch.references.clear();
        let mut changes = Changes::default();
        for (&reference, value) in references.iter().zip(values) {
            let Some(index) = access(self).find(reference) else { continue };
            let held = access(self);
            if running && held.values[index].as_ref().is_some_and(|old| same(old, value)) {
                continue;
            }
            // Known again once the model has taken it: a refused value must not count as set.
            held.values[index] = None;
            match held.role(index) {
                Role::ContinuousInput => changes.continuous = true,
                Role::Tunable => (changes.event, changes.tunable) = (true, true),
                _ => changes.event = true,
            }
            self.batch.references.push(reference);
            push(self, value);
        }
        if self.batch.references.is_empty() {
            return Status::Ok;
        }
        if running && changes.event && !self.integrator.is_in_event_mode() {
            let status = self.integrator.model.enter_event_mode();
            if !status.is_usable() {
                return self.failed("fmi2EnterEventMode", status);
            }
            self.integrator.note_event_mode();
        }
        let status = send(&mut self.integrator.model, &self.batch);
        if running {
            // Even where it was refused: a part of it may have been taken.
            self.integrator.note_values(changes.continuous, changes.tunable);
        }
        if let Some(twin) = &mut self.twin {
            twin.set(running, changes, status.is_usable(), |model| send(model, &self.batch));
        }
        if !status.is_usable() {
            return self.failed("fmi2Set", status);
        }
        for (&reference, value) in references.iter().zip(values) {
            if let Some(index) = access(self).find(reference) {
                access(self).values[index] = Some(value.clone());
            }
        }
        status
    }

    pub fn directional_derivative(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
        result: &mut [f64],
    ) -> Status {
        if let Some(status) = self.illegal(Call::DirectionalDerivative) {
            return status;
        }
        if !self.integrator.plan().model.provides_directional_derivative {
            return self.refuse(format_args!("the model provides no directional derivatives"));
        }
        for &reference in unknowns.iter().chain(knowns) {
            if self.real.find(reference).is_none() {
                return self.refuse(format_args!("there is no Real with value reference {reference}"));
            }
        }
        let status = self.integrator.model.directional_derivative(unknowns, knowns, seed, result);
        if status.is_usable() { status } else { self.failed("fmi2GetDirectionalDerivative", status) }
    }

    /// du/dt of inputs, for the next communication step.
    pub fn set_input_derivatives(&mut self, references: &[u32], orders: &[i32], slopes: &[f64]) -> Status {
        if let Some(status) = self.illegal(Call::InputDerivatives) {
            return status;
        }
        for (&reference, &order) in references.iter().zip(orders) {
            if order != 1 {
                return self.refuse(format_args!(
                    "input derivatives of order {order} are not supported; order 1 is"
                ));
            }
            let index = self.real.find(reference);
            if index.is_none_or(|index| self.real.role(index) != Role::ContinuousInput) {
                return self.refuse(format_args!(
                    "value reference {reference} is not a continuous Real input; only those have derivatives"
                ));
            }
        }
        for (&reference, &slope) in references.iter().zip(slopes) {
            self.integrator.set_slope(reference, slope);
            if let Some(twin) = &mut self.twin {
                twin.integrator.set_slope(reference, slope);
            }
        }
        Status::Ok
    }

    /// dy/dt along the last step: the outputs a little further in the step's direction.
    pub fn get_output_derivatives(
        &mut self,
        references: &[u32],
        orders: &[i32],
        values: &mut [f64],
    ) -> Status {
        if let Some(status) = self.illegal(Call::OutputDerivatives) {
            return status;
        }
        for (&reference, &order) in references.iter().zip(orders) {
            if order != 1 {
                return self.refuse(format_args!(
                    "output derivatives of order {order} are not supported; order 1 is"
                ));
            }
            if self.real.find(reference).is_none() {
                return self.refuse(format_args!("there is no Real with value reference {reference}"));
            }
        }
        match self.integrator.slopes(references, values) {
            Ok(()) => Status::Ok,
            Err(fault) => self.fault(fault),
        }
    }

    /// What the settable variables hold now, so that setting the same value again can be skipped.
    pub(super) fn read_settable(&mut self) {
        let inner = &mut self.integrator.model;
        macro_rules! read {
            ($access:ident, $get:ident, $zero:expr) => {
                let settable: Vec<_> = self.$access.settable().collect();
                for (index, reference) in settable {
                    let mut value = [$zero];
                    let known = inner.$get(&[reference], &mut value).is_usable();
                    self.$access.values[index] = known.then_some(value[0]);
                }
            };
        }
        read!(real, get_real, 0.0);
        read!(integer, get_integer, 0);
        read!(boolean, get_boolean, 0);
        let settable: Vec<_> = self.string.settable().collect();
        for (index, reference) in settable {
            self.string.values[index] = inner.copy_string(reference);
        }
    }
}
