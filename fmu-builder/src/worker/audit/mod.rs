//! What the model inside does in a step that real time forbids, for `fmu-build bench --audit`.
//!
//! The model is driven as the exported FMU drives it, by the integrator that ships, and each call of one of
//! its functions is watched. What is counted, on Linux, without privileges:
//!
//! | what | how |
//! |---|---|
//! | calls of `malloc` and its kin | by replacing them in every loaded library (`interpose`) |
//! | page faults | the kernel's count for this thread, before and after the call |
//! | denormal numbers | the processor's flag (x86-64), and the results |
//! | system calls, and what is written to | by a second process that traces this thread (`trace`) |
//!
//! Only the thread that calls the model is counted, and only while it is in the model, so the numbers are
//! exact. The system calls are counted in steps of their own: a traced thread stops at each.

mod forbidden;
#[cfg_attr(
    not(all(target_os = "linux", target_env = "gnu", target_pointer_width = "64")),
    path = "elsewhere.rs"
)]
mod interpose;
#[cfg(target_os = "linux")]
mod names;
#[cfg_attr(not(target_os = "linux"), path = "untraced.rs")]
mod trace;
mod watched;

use super::session::{Session, Signals, expect};
use crate::experiment::Experiment;
use crate::interface::Interface;
use crate::lab::Reporter;
use crate::lab::protocol::Refusal;
use fmu_runtime::integrator::{Changes, Integrator};
use fmu_runtime::messages::explain_fault;
use fmu_runtime::model::Model;
use fmu_runtime::plan::Plan;
use fmu_runtime::version::Version;
use serde::{Deserialize, Serialize};
use std::time::Instant;
use watched::Watched;

pub use forbidden::verdict;
pub use trace::{Trace, Traced};

/// Watch the model inside a built FMU.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Audit {
    /// The model inside, with the outputs that are read after each step.
    pub interface: Interface,
    /// What the FMU ships.
    pub plan: Plan,
    pub experiment: Experiment,
    /// Steps of each count, at most.
    pub steps: u64,
    /// Seconds of each count, at most.
    pub patience: f64,
}

/// What was seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Audited {
    /// Communication steps in which memory, page faults and denormals were counted.
    pub steps: u64,
    /// Those in which system calls were.
    pub traced_steps: u64,
    /// The functions that these steps called.
    pub functions: Vec<Conduct>,
    /// What could not be counted, and why.
    pub uncounted: Vec<String>,
}

/// What one function of the model did in all its calls.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Conduct {
    pub function: String,
    pub calls: u64,
    /// Calls of the C library's allocation functions.
    pub memory: Vec<Count>,
    pub page_faults: u64,
    /// Calls that met or returned denormal numbers, below 2.2e-308: many processors take a hundred times
    /// longer with them.
    pub denormals: u64,
    pub system_calls: Vec<Count>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Count {
    pub name: String,
    /// Of a system call that reads or writes: what.
    pub to: Option<String>,
    pub count: u64,
}

/// Steps before those that are counted: symbols are bound, buffers grown, pages touched.
const WARM_UP: u64 = 100;

impl Audit {
    pub fn answer(self, reporter: &mut Reporter) -> Result<Audited, Refusal> {
        // Before the model is loaded, because it is handed our `calloc`; and again for what it brought along.
        let interposed = interpose::interpose();
        let mut session = Session::open(&self.interface, &self.experiment, reporter)?;
        interpose::interpose();
        expect(session.inner.enter_event_mode(), "fmi2EnterEventMode", &session.log)?;
        if !self.interface.writes_beyond {
            session.inner.take_room();
        }
        let Session { inner, signals, .. } = session;
        let plan = &self.plan;
        let mut integrator = Integrator::new(plan.clone(), Watched::new(inner))?;
        let start = self.experiment.start;
        integrator.start(start).map_err(|fault| explain_fault(fault, plan, Version::Two).to_string())?;
        reporter.phase("a step (fmi2GetDerivatives)");
        let mut run = Run { audit: &self, integrator, signals, start, taken: 0, failed: None };
        run.steps(WARM_UP);
        run.integrator.model.forget();
        let mut found = Audited { steps: run.steps(self.steps), ..Audited::default() };
        let tallies = run.integrator.model.tallies();
        let (traced_steps, traced) = trace::traced(|| run.steps(self.steps));
        if let (0, Some(why)) = (found.steps, run.failed) {
            return Err(format!("the audit needs more steps than the model can take: {why}").into());
        }
        let traced = traced.unwrap_or_else(|why| {
            found.uncounted.push(format!("system calls ({why})"));
            Vec::new()
        });
        found.traced_steps = if found.uncounted.is_empty() { traced_steps } else { 0 };
        if !interposed {
            found.uncounted.push("calls of malloc (they are on 64-bit Linux with glibc only)".into());
        }
        for (number, mut conduct) in tallies {
            let own = traced.iter().filter(|traced| traced.function == number as u64);
            conduct.system_calls = own.map(|traced| traced.count.clone()).collect();
            if conduct.calls > 0 || !conduct.system_calls.is_empty() {
                found.functions.push(conduct);
            }
        }
        Ok(found)
    }
}

struct Run<'a> {
    audit: &'a Audit,
    integrator: Integrator<Watched>,
    signals: Option<Signals>,
    start: f64,
    taken: u64,
    failed: Option<String>,
}

impl Run<'_> {
    /// Take steps, and read the outputs after each as an importer does; how many were taken.
    fn steps(&mut self, most: u64) -> u64 {
        let begin = Instant::now();
        let (plan, outputs) = (&self.audit.plan, &self.audit.interface.outputs);
        let length = plan.step.h * plan.step.substeps as f64;
        let mut values = vec![0.0; outputs.len()];
        let mut done = 0;
        while done < most && self.failed.is_none() && begin.elapsed().as_secs_f64() < self.audit.patience {
            let time = self.start + self.taken as f64 * length;
            if let Some(signals) = &mut self.signals {
                let (references, values) = signals.continuous_at(time, false);
                if !references.is_empty() {
                    let inputs = Changes { continuous: true, ..Changes::default() };
                    let _ = self.integrator.change(inputs, |model| model.set_inputs(references, values));
                }
            }
            let division = self.integrator.divide(length);
            if let Err(fault) = self.integrator.advance(length, division) {
                self.failed = Some(explain_fault(fault, plan, Version::Two).to_string());
                break;
            }
            if !outputs.is_empty() {
                let _ = self.integrator.model.get_real(outputs, &mut values);
            }
            self.taken += 1;
            done += 1;
        }
        done
    }
}
