//! Two importers that were written by others run exported FMUs, and agree to the bit.
//!
//! `FMU_BUILD` names the executable under test.

use fmi::fmi2::import::Fmi2Import;
use fmi::fmi2::instance::{CoSimulation, Common};
use fmi::traits::FmiImport;
use fmi_rs::fmi2::builder::FMU2Builder;
use fmi_rs::fmi2::types::fmi2Status;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

fn fmu_build(arguments: &[&str]) {
    let program = std::env::var("FMU_BUILD").expect("FMU_BUILD names the fmu-build executable");
    let output = Command::new(program).args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// A reference model, or a file of `tests/data`, as a Co-Simulation FMU.
fn export(model: &str, options: &[&str], folder: &Path) -> PathBuf {
    let (input, output) = (folder.join("in.fmu"), folder.join("out.fmu"));
    let input = if model.ends_with(".fmu") {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../data").join(model)
    } else {
        fmu_build(&["example", model, input.to_str().unwrap()]);
        input
    };
    let mut arguments = vec![input.to_str().unwrap(), output.to_str().unwrap(), "--quiet"];
    arguments.extend(options);
    fmu_build(&arguments);
    output
}

/// How an importer steps: from where, how far, how long each step is. The last one is shorter where `span`
/// asks for it.
#[derive(Clone, Copy, Debug)]
struct Drive {
    start: f64,
    step: f64,
    span: f64,
}

impl Drive {
    fn steps(h: f64, count: usize) -> Drive {
        Drive { start: 0.0, step: h, span: count as f64 * h }
    }

    /// Communication points and steps.
    fn points(self) -> Vec<(f64, f64)> {
        let count = (self.span / self.step - 1e-9).ceil() as usize;
        let point = |k: usize| self.start + (k as f64 * self.step).min(self.span);
        (0..count).map(|k| (point(k), point(k + 1) - point(k))).collect()
    }
}

/// Values of these Reals after each step, as fmi-rs sees them. Its validation of the description must find
/// nothing.
fn with_fmi_rs(fmu: &Path, references: &[u32], drive: Drive) -> Vec<Vec<f64>> {
    let builder = FMU2Builder::new(&fmu).unwrap();
    let findings = builder.model_description.validate();
    assert!(findings.is_empty(), "{findings:?}");
    let fmu = builder.instantiate_cs("fmi-rs").unwrap();
    let ok = |status| assert_eq!(status, fmi2Status::Ok);
    ok(fmu.setupExperiment(None, drive.start, Some(drive.start + drive.span)));
    ok(fmu.enterInitializationMode());
    ok(fmu.exitInitializationMode());
    let take = |(time, step): (f64, f64)| {
        ok(fmu.doStep(time, step, 1));
        let mut values = vec![0.0; references.len()];
        ok(fmu.getReal(references, &mut values));
        values
    };
    let results = drive.points().into_iter().map(take).collect();
    ok(fmu.terminate());
    results
}

/// The same, as fmi sees them.
fn with_fmi(fmu: &Path, references: &[u32], drive: Drive) -> Vec<Vec<f64>> {
    let import: Fmi2Import = fmi::import::from_path(fmu).unwrap();
    assert!(import.model_description().model_exchange.is_none());
    let mut fmu = import.instantiate_cs("fmi", false, false).unwrap();
    fmu.setup_experiment(None, drive.start, Some(drive.start + drive.span)).unwrap();
    Common::enter_initialization_mode(&mut fmu).unwrap();
    Common::exit_initialization_mode(&mut fmu).unwrap();
    let take = |(time, step): (f64, f64)| {
        fmu.do_step(time, step, true).unwrap();
        let mut values = vec![0.0; references.len()];
        fmu.get_real(references, &mut values).unwrap();
        values
    };
    let results = drive.points().into_iter().map(take).collect();
    Common::terminate(&mut fmu).unwrap();
    results
}

/// Value references of the Real outputs, or of those that are named.
fn outputs(fmu: &Path, names: &[&str]) -> Vec<u32> {
    let import: Fmi2Import = fmi::import::from_path(fmu).unwrap();
    import
        .model_description()
        .get_model_variables()
        .filter(|variable| match names {
            [] => variable.causality == fmi::schema::fmi2::Causality::Output,
            names => names.contains(&variable.name.as_str()),
        })
        .filter(|variable| matches!(variable.elem, fmi::schema::fmi2::ScalarVariableElement::Real(_)))
        .filter(|variable| !variable.name.starts_with("fmuBuild."))
        .map(|variable| variable.value_reference)
        .collect()
}

fn bits(results: &[Vec<f64>]) -> Vec<u64> {
    results.iter().flatten().map(|value| value.to_bits()).collect()
}

#[test]
fn both_importers_agree_on_every_model() {
    for (model, options, h) in [
        ("dahlquist", &[][..], 0.1),
        ("prothero-robinson", &["--step", "0.01"], 0.01),
        ("van-der-pol", &["--step", "1ms"], 1e-3),
        ("bouncing-ball", &["--step", "0.01"], 0.01),
        ("stick-slip", &["--step", "1ms"], 1e-3),
        ("sampled-controller", &["--step", "3ms"], 3e-3),
        ("spring-pendulum", &["--step", "1ms"], 1e-3),
        ("stiff-pair", &["--step", "1ms"], 1e-3),
        ("rc-circuit", &["--step", "1ms"], 1e-3),
        ("dc-drive", &["--step", "1ms"], 1e-3),
        ("heat-rod:20", &["--step", "1ms"], 1e-3),
        ("all-types", &["--step", "0.1"], 0.1),
        ("mo2fmu_Rectifier.fmu", &["--step", "1e-5", "--stop", "0.01"], 1e-5),
        ("rumoca_Rectifier.fmu", &["--step", "1e-5", "--stop", "0.01"], 1e-5),
        ("rumoca_HeatRodV.fmu", &["--step", "0.01"], 0.01),
        ("mo2fmu_Thermostat.fmu", &["--step", "0.1"], 0.1),
    ] {
        let folder = TempDir::new().unwrap();
        let fmu = export(model, options, folder.path());
        let (references, drive) = (outputs(&fmu, &[]), Drive::steps(h, 300));
        let (a, b) = (with_fmi_rs(&fmu, &references, drive), with_fmi(&fmu, &references, drive));
        assert!(!a[0].is_empty(), "{model} has no output");
        assert!(bits(&a) == bits(&b), "{model}: fmi-rs and fmi disagree");
    }
}

/// x = exp(-t) within first order: the error is at most h/2 max|t exp(-t)| = h/(2e), and a little.
#[test]
fn the_numbers_are_right() {
    let folder = TempDir::new().unwrap();
    let h = 0.01;
    let fmu = export("dahlquist", &["--step", "0.01"], folder.path());
    let (references, drive) = (outputs(&fmu, &[]), Drive::steps(h, 500));
    for results in [with_fmi_rs(&fmu, &references, drive), with_fmi(&fmu, &references, drive)] {
        for (k, values) in results.iter().enumerate() {
            let exact = (-((k + 1) as f64) * h).exp();
            assert!(
                (values[0] - exact).abs() <= 1.05 * h / (2.0 * std::f64::consts::E),
                "step {k}: {}",
                values[0]
            );
        }
    }
}

/// Models with inputs, impacts, samples and 78 states; variables that do not jump.
const DRIVEN: [(&str, &[&str], f64, &[&str], usize); 4] = [
    ("dc-drive", &["--step", "1ms"], 1e-3, &[], 500),
    ("bouncing-ball", &["--step", "1ms"], 1e-3, &["h"], 1500),
    ("sampled-controller", &["--step", "3ms"], 3e-3, &["x1"], 300),
    ("robot", &["--step", "1ms"], 1e-3, &[], 500),
];

/// Largest root mean square distance of a variable from `other`, which is known after each step of `h`,
/// relative to its range there.
fn apart(drive: Drive, results: &[Vec<f64>], h: f64, other: &[Vec<f64>]) -> f64 {
    let column = |j: usize| -> f64 {
        let curve: Vec<f64> = other.iter().map(|values| values[j]).collect();
        let low = curve.iter().copied().fold(f64::INFINITY, f64::min);
        let high = curve.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        // Points before the first of the other curve would be extrapolated.
        let compared = drive.points().into_iter().zip(results).filter_map(|((time, step), values)| {
            let place = (time + step - drive.start) / h - 1.0;
            let k = (place.floor().max(0.0) as usize).min(curve.len() - 2);
            (place >= -1e-9).then(|| values[j] - curve[k] - (place - k as f64) * (curve[k + 1] - curve[k]))
        });
        let squares: Vec<f64> = compared.map(|off| off * off).collect();
        (squares.iter().sum::<f64>() / squares.len() as f64).sqrt() / (high - low).max(1e-9)
    };
    (0..other[0].len()).map(column).fold(0.0, f64::max)
}

/// Communication steps other than the one that was built for, and a stop time that is no multiple: both
/// importers get fmi2OK in every step, the same bits, and the results of the step that was built for to
/// within what steps of another length are off.
#[test]
fn any_communication_step() {
    for (model, options, h, names, steps) in DRIVEN {
        let folder = TempDir::new().unwrap();
        let fmu = export(model, options, folder.path());
        let references = outputs(&fmu, names);
        let own = Drive::steps(h, steps);
        let built = with_fmi_rs(&fmu, &references, own);
        let odd = (steps as f64 - 0.37) * h;
        for (step, span) in [(0.5 * h, own.span), (7.3 * h, own.span), (10.0 * h, own.span), (h, odd)] {
            let drive = Drive { start: 0.0, step, span };
            let (a, b) = (with_fmi_rs(&fmu, &references, drive), with_fmi(&fmu, &references, drive));
            assert!(bits(&a) == bits(&b), "{model}: fmi-rs and fmi disagree at {drive:?}");
            let off = apart(drive, &a, h, &built);
            println!("{model}, steps of {:.2} h, {:.2} of them: {off:.5} apart", step / h, span / step);
            assert!(off < 0.02, "{model} at {drive:?}: {off}");
        }
    }
}

/// Start times far from zero and before it. What does not depend on time has the same results, to the
/// rounding of time; the robot, whose motion starts at t = 0, only runs.
#[test]
fn any_start_time() {
    for (model, options, h, names, _) in DRIVEN {
        let folder = TempDir::new().unwrap();
        let fmu = export(model, options, folder.path());
        let references = outputs(&fmu, names);
        let zero = with_fmi_rs(&fmu, &references, Drive::steps(h, 300));
        for start in [1e6, -2.0] {
            let drive = Drive { start, ..Drive::steps(h, 300) };
            let (a, b) = (with_fmi_rs(&fmu, &references, drive), with_fmi(&fmu, &references, drive));
            assert!(bits(&a) == bits(&b), "{model}: fmi-rs and fmi disagree from {start}");
            assert!(a.iter().flatten().all(|value| value.is_finite()));
            let off = apart(drive, &a, h, &zero);
            println!("{model} from {start}: {off:e} apart");
            assert!(off < 1e-4 || model == "robot", "{model} from {start}: {off}");
        }
    }
}
