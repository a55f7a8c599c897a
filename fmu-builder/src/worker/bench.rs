//! Drive a finished Co-Simulation FMU through its C interface and time every step.

use super::session::{Signals, expect, said};
use crate::child::Reporter;
use crate::experiment::{Experiment, Value};
use fmu_runtime::inner::{Host, Inner, Instantiation, Kind, Log};
use fmu_runtime::location;
use serde::{Deserialize, Serialize};
use std::ffi::CString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Bench {
    pub root: PathBuf,
    pub identifier: String,
    pub guid: String,
    pub experiment: Experiment,
    pub step: f64,
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
}

impl Bench {
    pub fn answer(self, reporter: &mut Reporter) -> Result<Measured, String> {
        let log = Arc::new(Log::default());
        let request = Instantiation {
            kind: Kind::CoSimulation,
            name: "bench",
            guid: &self.guid,
            resources: &location::uri_from_path(&self.root.join("resources")),
            visible: false,
            logging: false,
        };
        reporter.phase("fmi2Instantiate");
        let library = self.root.join(location::library(&self.identifier));
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
        let mut measured = Measured { times: Vec::with_capacity(self.steps as usize), failed: None };
        let begin = Instant::now();
        for k in 0..self.steps {
            let time = start + k as f64 * self.step;
            if self.pace {
                let due = Duration::from_secs_f64(k as f64 * self.step);
                // Sleep to just before, then watch the clock.
                let early = due.saturating_sub(begin.elapsed()).saturating_sub(Duration::from_micros(200));
                std::thread::sleep(early);
                while begin.elapsed() < due {
                    std::hint::spin_loop();
                }
            }
            apply(&mut fmu, &mut signals, time);
            let step = Instant::now();
            let status = fmu.do_step(time, self.step);
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
        Ok(measured)
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
