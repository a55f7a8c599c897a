//! Drive a finished Co-Simulation FMU through its C interface, as an importer does, and record what it says: its outputs and its
//! own estimate of its error.

use super::load::load;
use super::reference::ROUNDING;
use super::session::{Signals, expect, said, set_start_values};
use super::study::number;
use crate::experiment::Experiment;
use crate::lab::Reporter;
use fmu_runtime::component::Component;
use fmu_runtime::fmi::{Fmu2, Instantiation, Kind, Log};
use fmu_runtime::plan::Plan;
use fmu_runtime::platform;
use fmu_runtime::resources;
use fmu_runtime::value::Type;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Drive {
    /// The unpacked Co-Simulation FMU and its plan.
    #[serde(with = "crate::lab::protocol::path")]
    pub root: PathBuf,
    pub plan: Plan,
    pub experiment: Experiment,
    /// Communication steps, and how many of them lie between two recorded points.
    pub steps: u64,
    pub every: u64,
    /// Reals that are recorded, and variables of other types.
    pub reals: Vec<u32>,
    pub discrete: Vec<(u32, Type)>,
    /// Value reference of `fmuBuild.error`.
    pub error: Option<u32>,
}

/// At the start and at each point that was reached.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Driven {
    pub times: Vec<f64>,
    pub trajectory: Vec<Vec<f64>>,
    pub discrete: Vec<Vec<i64>>,
    pub estimates: Vec<f64>,
    /// The step that failed, and why.
    pub failed: Option<String>,
}

impl Drive {
    pub fn answer(self, reporter: &mut Reporter) -> Result<Driven, String> {
        let Opened { mut fmu, log, mut signals } = open(&self.root, &self.plan, &self.experiment, reporter)?;
        let start = self.experiment.start;
        let step = self.plan.step.h * self.plan.step.substeps as f64;
        let mut driven = Driven::default();
        self.record(&mut fmu, start, &mut driven)?;
        for k in 0..self.steps {
            let time = start + k as f64 * step;
            // A jump that the file writes at this point is at this point, though k · H is another number.
            apply(&mut fmu, &mut signals, time + ROUNDING * step);
            let status = fmu.do_step(time, step);
            if !status.is_usable() {
                let said = said(&log);
                driven.failed = Some(format!("fmi2DoStep at t = {time} returned {}{said}", status.name()));
                break;
            }
            if (k + 1) % self.every == 0 {
                self.record(&mut fmu, start + (k + 1) as f64 * step, &mut driven)?;
            }
            if k % 256 == 0 {
                reporter.progress(k as f64 / self.steps as f64);
            }
        }
        Ok(driven)
    }

    fn record(&self, fmu: &mut Fmu2, time: f64, driven: &mut Driven) -> Result<(), String> {
        let mut values = vec![0.0; self.reals.len()];
        if !values.is_empty() && !fmu.get_real(&self.reals, &mut values).is_usable() {
            return Err(format!("fmi2GetReal failed at t = {time}"));
        }
        driven.times.push(time);
        driven.trajectory.push(values);
        let discrete = self.discrete.iter().map(|&(reference, of)| number(fmu.value(reference, of)));
        driven.discrete.push(discrete.collect());
        let mut estimate = [f64::NAN];
        if let Some(reference) = self.error
            && !fmu.get_real(&[reference], &mut estimate).is_usable()
        {
            estimate = [f64::NAN];
        }
        driven.estimates.push(estimate[0]);
        Ok(())
    }
}

/// A Co-Simulation FMU that is initialised, with the inputs that it is to get.
pub struct Opened {
    pub fmu: Fmu2,
    pub log: Arc<Log>,
    pub signals: Option<Signals>,
}

/// Instantiate and initialise the FMU that is unpacked in `root`.
pub fn open(
    root: &Path,
    plan: &Plan,
    experiment: &Experiment,
    reporter: &mut Reporter,
) -> Result<Opened, String> {
    let log = Arc::new(Log::default());
    let request = Instantiation {
        kind: Kind::CoSimulation,
        name: "bench",
        guid: &plan.model.guid,
        resources: &resources::uri_from_path(&root.join("resources")),
        visible: false,
        logging: false,
        witness: reporter.witness,
        inner: None,
    };
    reporter.phase("fmi2Instantiate");
    let library = platform::HOST.library(root, &plan.model.identifier);
    let mut fmu = load(&library, &log, &request).map_err(|error| format!("{error}{}", said(&log)))?;
    set_start_values(&mut fmu, experiment, &log)?;
    let mut signals = Signals::of(experiment);
    let start = experiment.start;
    reporter.phase("fmi2EnterInitializationMode");
    expect(fmu.setup_experiment(None, start, None), "fmi2SetupExperiment", &log)?;
    expect(fmu.enter_initialization_mode(), "fmi2EnterInitializationMode", &log)?;
    apply(&mut fmu, &mut signals, start);
    reporter.phase("fmi2ExitInitializationMode");
    expect(fmu.exit_initialization_mode(), "fmi2ExitInitializationMode", &log)?;
    reporter.phase("fmi2DoStep");
    Ok(Opened { fmu, log, signals })
}

/// Set every input to its value at `time`.
pub fn apply(fmu: &mut Fmu2, signals: &mut Option<Signals>, time: f64) {
    let Some(signals) = signals else { return };
    let (references, values) = signals.continuous_at(time, false);
    let _ = fmu.set_real(references, values);
    for (reference, value) in signals.held_at(time) {
        let _ = fmu.set_value(reference, &value);
    }
}
