//! Drive a finished Co-Simulation FMU through its C interface and time every step.

use super::session::{Session, Signals, expect, said};
use super::{Subject, timing};
use crate::child::Reporter;
use crate::experiment::{Experiment, Value};
use fmu_runtime::inner::{Host, Inner, Instantiation, Kind, Log};
use fmu_runtime::location;
use fmu_runtime::plan::Plan;
use serde::{Deserialize, Serialize};
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bench {
    /// The unpacked Co-Simulation FMU and its plan.
    pub root: PathBuf,
    pub plan: Plan,
    pub experiment: Experiment,
    pub steps: u64,
    /// Seconds after which no more steps are begun.
    pub patience: f64,
    /// Wait for each step's time to come, as a test bench does.
    pub pace: bool,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Measured {
    /// Seconds of each step, in order.
    pub times: Vec<f64>,
    /// The step that failed, and why.
    pub failed: Option<String>,
    /// Seconds of one evaluation of the model inside.
    pub evaluation_time: Option<f64>,
}

impl Bench {
    pub fn answer(self, reporter: &mut Reporter) -> Result<Measured, String> {
        let log = Arc::new(Log::default());
        let request = Instantiation {
            kind: Kind::CoSimulation,
            name: "bench",
            guid: &self.plan.model.guid,
            resources: &location::uri_from_path(&self.root.join("resources")),
            visible: false,
            logging: false,
        };
        reporter.phase("fmi2Instantiate");
        let library = self.root.join(location::library(&self.plan.model.identifier));
        let mut fmu = Inner::load(&library, Host::Collect(log.clone()), &request)
            .map_err(|error| format!("{error}{}", said(&log)))?;
        super::session::set_start_values(&mut fmu, &self.experiment, &log)?;
        let mut signals = Signals::read(&self.experiment)?;
        let start = self.experiment.start;
        reporter.phase("fmi2EnterInitializationMode");
        expect(fmu.setup_experiment(None, start, None), "fmi2SetupExperiment", &log)?;
        expect(fmu.enter_initialization_mode(), "fmi2EnterInitializationMode", &log)?;
        apply(&mut fmu, &mut signals, start);
        reporter.phase("fmi2ExitInitializationMode");
        expect(fmu.exit_initialization_mode(), "fmi2ExitInitializationMode", &log)?;
        reporter.phase("fmi2DoStep");
        let length = self.plan.step.h * self.plan.step.substeps as f64;
        let mut measured = Measured { times: Vec::with_capacity(self.steps as usize), ..Measured::default() };
        let begin = Instant::now();
        for k in 0..self.steps {
            let time = start + k as f64 * length;
            if self.pace {
                let due = Duration::from_secs_f64(k as f64 * length);
                // Sleep to just before, then watch the clock.
                let early = due.saturating_sub(begin.elapsed()).saturating_sub(Duration::from_micros(200));
                std::thread::sleep(early);
                while begin.elapsed() < due {
                    std::hint::spin_loop();
                }
            }
            apply(&mut fmu, &mut signals, time);
            let step = Instant::now();
            let status = fmu.do_step(time, length);
            measured.times.push(step.elapsed().as_secs_f64());
            if !status.is_usable() {
                measured.failed =
                    Some(format!("fmi2DoStep at t = {time} returned {}{}", status.name(), said(&log)));
                break;
            }
            if k % 256 == 0 {
                reporter.progress(k as f64 / self.steps as f64, "stepping");
                if begin.elapsed().as_secs_f64() > self.patience {
                    break;
                }
            }
        }
        drop(fmu); // the model inside may allow one instance only
        measured.evaluation_time = self.evaluation_time(reporter).ok().filter(|&time| time > 0.0);
        Ok(measured)
    }

    /// The model inside, by itself.
    fn evaluation_time(self, reporter: &mut Reporter) -> Result<f64, String> {
        let entries = self.plan.jacobian.rows.len();
        let subject = Subject {
            root: self.root.join("resources").join(location::INNER),
            plan: self.plan,
            experiment: self.experiment,
            tolerance: None,
            outputs: Vec::new(),
        };
        let mut session = Session::open(&subject, reporter)?;
        Ok(timing::measure(&mut session, &subject.plan, entries)?.0)
    }
}

fn apply(fmu: &mut Inner, signals: &mut Option<Signals>, time: f64) {
    let Some(signals) = signals else { return };
    let (references, values) = signals.continuous_at(time, false);
    let _ = fmu.set_real(references, values);
    for (reference, value) in signals.held_at(time) {
        let _ = match value {
            Value::Real(value) => fmu.set_real(&[reference], &[value]),
            Value::Integer(value) => fmu.set_integer(&[reference], &[value]),
            Value::Boolean(value) => fmu.set_boolean(&[reference], &[value as i32]),
            Value::Text(value) => {
                let text = CString::new(value.replace('\0', "")).unwrap_or_default();
                fmu.set_string(&[reference], &[&text])
            }
        };
    }
}
