//! Values in and out, and the derivatives of inputs and outputs.
//!
//! Values are handed through to the model inside. What is added: unknown references are refused by number,
//! values that did not change are not set again, discrete inputs and tunable parameters take the model
//! to Event Mode (the next step brings it back), and our own diagnostics are answered here.

use super::estimate::Estimate;
use super::{Instance, Phase};
use crate::access::Objection;
use crate::component::Component;
use crate::integrator::Changes;
use crate::messages;
use crate::model::Call;
use crate::plan::{Quantity, Role};
use crate::status::Status;
use crate::value::{Answer, Element, Own, Type, Value, ValuesMut, c_text};
use crate::version::Function;

impl<C: Component> Instance<C> {
    /// Values of one type: from the model in one call, or one by one where diagnostics of our own are among them.
    pub fn get<A: Answer>(&mut self, references: &[u32], values: &mut [A]) -> Status {
        if let Some(status) = self.illegal(Function::Get) {
            return status;
        }
        let known = A::Element::access(&self.variables);
        let status = match references.iter().all(|&reference| known.contains(reference)) {
            true => self.integrator.model.get(references, A::values(values)),
            false => match self.get_each(references, values) {
                Ok(status) => status,
                Err(reference) => return self.refuse_unknown(A::Element::TYPE, reference),
            },
        };
        if !status.is_usable() {
            return self.failed(Function::Get, status);
        }
        A::complete(values, references, A::Element::access(&self.variables));
        status
    }

    /// Gives the worst status, or the reference that nobody knows.
    fn get_each<A: Answer>(&mut self, references: &[u32], values: &mut [A]) -> Result<Status, u32> {
        let mut worst = Status::Ok;
        for (&reference, value) in references.iter().zip(values) {
            if A::Element::access(&self.variables).contains(reference) {
                let value = A::values(std::slice::from_mut(value));
                worst = worst.max(self.integrator.model.get(&[reference], value));
            } else {
                *value = self.diagnostic(reference).and_then(A::own).ok_or(reference)?;
            }
        }
        Ok(worst)
    }

    /// What the runtime tells of itself by this reference.
    fn diagnostic(&mut self, reference: u32) -> Option<Own> {
        let diagnostics = &self.integrator.plan().diagnostics;
        let quantity = diagnostics.iter().find(|diagnostic| diagnostic.reference == reference)?.quantity;
        let measured = matches!(quantity, Quantity::StepTime | Quantity::Overruns | Quantity::Allocations);
        self.measure_time |= measured;
        let count = |count: u64| Own::Integer(i32::try_from(count).unwrap_or(i32::MAX));
        let live = &self.integrator.live;
        Some(match quantity {
            Quantity::StepTime => Own::Real(self.step_time),
            Quantity::Overruns => Own::Integer(self.overruns),
            Quantity::Allocations => count(self.allocations),
            Quantity::Events => count(live.events),
            Quantity::CarriedEvents => count(live.carried_events),
            Quantity::StepsOutsidePlan => count(self.steps_outside_plan()),
            Quantity::StepsWatchSpoke => count(live.outside_plan),
            Quantity::JacobianRenewals => count(live.renewals),
            Quantity::DampedSteps => count(live.damped),
            Quantity::Time => Own::Real(live.time),
            Quantity::ErrorEstimate => Own::Real(self.integrator.error_estimate()),
            Quantity::PlanDefect => Own::Real(live.plan_defect),
            Quantity::Error => self.estimated(|estimate| estimate.measure.error()),
            Quantity::ErrorPeak => self.estimated(|estimate| estimate.measure.peak()),
            Quantity::ErrorButForLateness => self.estimated(|estimate| estimate.measure.but_for_lateness()),
            Quantity::DiscreteError => self.estimated(|estimate| estimate.measure.discrete_error()),
            Quantity::ErrorOutput => {
                Own::Text(self.estimate.as_ref().map_or(c"", Estimate::worst_output).as_ptr())
            }
        })
    }

    /// Steps beyond the tolerance, at least as many as put off an event: both integrations may do so alike. Without a twin
    /// the watch has a say.
    fn steps_outside_plan(&self) -> u64 {
        let live = &self.integrator.live;
        let beyond = self.estimate.as_ref().map_or(0, |estimate| estimate.measure.beyond());
        let beyond = beyond.max(live.carried_events);
        match self.twin {
            Some(_) => beyond,
            None => beyond.max(live.outside_plan),
        }
    }

    /// A number of the estimate; nothing is known without one.
    fn estimated(&self, number: impl Fn(&Estimate) -> f64) -> Own {
        Own::Real(self.estimate.as_ref().map_or(0.0, number))
    }

    /// One value of any type, for callers in Rust; `None` where the model does not tell it.
    pub fn value(&mut self, reference: u32, of: Type) -> Option<Value> {
        if self.illegal(Function::Get).is_some() {
            return None;
        }
        self.integrator.model.value(reference, of)
    }

    /// Likewise.
    pub fn set_value(&mut self, reference: u32, value: &Value) -> Status {
        match value {
            Value::Real(value) => self.set(&[reference], &[*value]),
            Value::Integer(value) => self.set(&[reference], &[*value]),
            Value::Boolean(value) => self.set(&[reference], &[*value]),
            Value::Text(value) => self.set(&[reference], &[c_text(value)]),
        }
    }

    /// Values of one type. Before initialisation everything is handed on, and the model judges. Afterwards inputs and
    /// tunable parameters are, if they changed: all but continuous inputs through Event Mode.
    pub fn set<T: Element>(&mut self, references: &[u32], values: &[T]) -> Status {
        if let Some(status) = self.illegal(Function::Set) {
            return status;
        }
        let running = self.phase == Phase::Step;
        match T::access(&self.variables).judge(references, running) {
            Ok(()) => {}
            Err(Objection::Unknown { reference }) => return self.refuse_unknown(T::TYPE, reference),
            Err(Objection::ReadOnly { reference }) => {
                return self.refuse(format_args!(
                    "the {} with value reference {reference} is neither an input nor a tunable \
                     parameter: it cannot be set after initialisation",
                    T::TYPE
                ));
            }
        }
        let Some(changes) = T::access_mut(&mut self.variables).collect(references, values, running) else {
            return Status::Ok;
        };
        let changes = if running { changes } else { Changes::default() };
        let status = match self.send::<T>(changes) {
            Ok(status) => status,
            Err(status) => {
                return self.failed(Function::Integration(Call::EnterEventMode), messages::status_of(status));
            }
        };
        if !status.is_usable() {
            return self.failed(Function::Set, status);
        }
        let known = T::access_mut(&mut self.variables);
        references.iter().zip(values).for_each(|(&reference, value)| known.note(reference, value.clone()));
        status
    }

    /// Hand the batch of one type to the model and to its twin.
    fn send<T: Element>(&mut self, changes: Changes) -> Result<Status, stepper::status::Status> {
        let Instance { integrator, twin, variables, .. } = self;
        let (references, values) = T::access(variables).batch();
        let status = integrator.change(changes, |model| model.set(references, T::values(values)))?;
        if let Some(twin) = twin {
            twin.set(changes, status.is_usable(), |model| model.set(references, T::values(values)));
        }
        Ok(status)
    }

    fn refuse_unknown(&self, of: Type, reference: u32) -> Status {
        self.refuse(format_args!("there is no {of} with value reference {reference}"))
    }

    pub fn directional_derivative(
        &mut self,
        unknowns: &[u32],
        knowns: &[u32],
        seed: &[f64],
        result: &mut [f64],
    ) -> Status {
        if let Some(status) = self.illegal(Function::DirectionalDerivative) {
            return status;
        }
        if !self.integrator.plan().model.provides_directional_derivative {
            return self.refuse(format_args!("the model provides no directional derivatives"));
        }
        let real = &self.variables.real;
        if let Some(&unknown) = unknowns.iter().chain(knowns).find(|&&reference| !real.contains(reference)) {
            return self.refuse_unknown(Type::Real, unknown);
        }
        let status = self.integrator.model.directional_derivative(unknowns, knowns, seed, result);
        if status.is_usable() {
            return Status::Ok;
        }
        self.failed(Function::DirectionalDerivative, messages::status_of(status))
    }

    /// du/dt of inputs, for the next communication step.
    pub fn set_input_derivatives(&mut self, references: &[u32], orders: &[i32], slopes: &[f64]) -> Status {
        if let Some(status) = self.illegal(Function::InputDerivatives) {
            return status;
        }
        for (&reference, &order) in references.iter().zip(orders) {
            if order != 1 {
                return self.refuse(format_args!(
                    "input derivatives of order {order} are not supported; order 1 is"
                ));
            }
            if self.variables.real.role(reference) != Some(Role::ContinuousInput) {
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
        if let Some(status) = self.illegal(Function::OutputDerivatives) {
            return status;
        }
        for (&reference, &order) in references.iter().zip(orders) {
            if order != 1 {
                return self.refuse(format_args!(
                    "output derivatives of order {order} are not supported; order 1 is"
                ));
            }
            if !self.variables.real.contains(reference) {
                return self.refuse_unknown(Type::Real, reference);
            }
        }
        match self.integrator.slopes(references, values) {
            Ok(()) => Status::Ok,
            Err(fault) => self.fault(fault),
        }
    }

    /// What the settable variables hold now, so that setting the same value again can be skipped.
    pub(super) fn read_settable(&mut self) {
        let Instance { integrator, variables, .. } = self;
        let model = &mut integrator.model;
        variables.real.read(|reference| {
            let mut value = [0.0];
            model.get(&[reference], ValuesMut::Real(&mut value)).is_usable().then_some(value[0])
        });
        variables.integer.read(|reference| {
            let mut value = [0];
            model.get(&[reference], ValuesMut::Integer(&mut value)).is_usable().then_some(value[0])
        });
        variables.boolean.read(|reference| {
            let mut value = [false];
            model.get(&[reference], ValuesMut::Boolean(&mut value)).is_usable().then_some(value[0])
        });
        variables.text.read(|reference| model.copy_text(reference));
    }
}
