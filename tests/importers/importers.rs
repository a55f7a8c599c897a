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

/// All Real outputs after each step, as fmi-rs sees them. Its validation of the description must find nothing.
fn with_fmi_rs(fmu: &Path, h: f64, steps: usize) -> Vec<Vec<f64>> {
    let builder = FMU2Builder::new(&fmu).unwrap();
    let findings = builder.model_description.validate();
    assert!(findings.is_empty(), "{findings:?}");
    let references = outputs(fmu);
    let fmu = builder.instantiate_cs("fmi-rs").unwrap();
    let ok = |status| assert_eq!(status, fmi2Status::Ok);
    ok(fmu.setupExperiment(None, 0.0, None));
    ok(fmu.enterInitializationMode());
    ok(fmu.exitInitializationMode());
    let results = (0..steps)
        .map(|k| {
            ok(fmu.doStep(k as f64 * h, h, 1));
            let mut values = vec![0.0; references.len()];
            ok(fmu.getReal(&references, &mut values));
            values
        })
        .collect();
    ok(fmu.terminate());
    results
}

/// The same, as fmi sees them.
fn with_fmi(fmu: &Path, h: f64, steps: usize) -> Vec<Vec<f64>> {
    let import: Fmi2Import = fmi::import::from_path(fmu).unwrap();
    assert!(import.model_description().model_exchange.is_none());
    let references = outputs(fmu);
    let mut fmu = import.instantiate_cs("fmi", false, false).unwrap();
    fmu.setup_experiment(None, 0.0, None).unwrap();
    Common::enter_initialization_mode(&mut fmu).unwrap();
    Common::exit_initialization_mode(&mut fmu).unwrap();
    let results = (0..steps)
        .map(|k| {
            fmu.do_step(k as f64 * h, h, true).unwrap();
            let mut values = vec![0.0; references.len()];
            fmu.get_real(&references, &mut values).unwrap();
            values
        })
        .collect();
    Common::terminate(&mut fmu).unwrap();
    results
}

/// Value references of the Real outputs.
fn outputs(fmu: &Path) -> Vec<u32> {
    let import: Fmi2Import = fmi::import::from_path(fmu).unwrap();
    import
        .model_description()
        .get_model_variables()
        .filter(|variable| variable.causality == fmi::schema::fmi2::Causality::Output)
        .filter(|variable| matches!(variable.elem, fmi::schema::fmi2::ScalarVariableElement::Real(_)))
        .filter(|variable| !variable.name.starts_with("fmuBuild."))
        .map(|variable| variable.value_reference)
        .collect()
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
        let steps = 300;
        let (a, b) = (with_fmi_rs(&fmu, h, steps), with_fmi(&fmu, h, steps));
        assert!(!a[0].is_empty(), "{model} has no output");
        let bits =
            |results: &[Vec<f64>]| -> Vec<u64> { results.iter().flatten().map(|v| v.to_bits()).collect() };
        assert!(bits(&a) == bits(&b), "{model}: fmi-rs and fmi disagree");
    }
}

/// x = exp(-t) within first order: the error is at most h/2 max|t exp(-t)| = h/(2e), and a little.
#[test]
fn the_numbers_are_right() {
    let folder = TempDir::new().unwrap();
    let h = 0.01;
    let fmu = export("dahlquist", &["--step", "0.01"], folder.path());
    for results in [with_fmi_rs(&fmu, h, 500), with_fmi(&fmu, h, 500)] {
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
