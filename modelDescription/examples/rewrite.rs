//! `cargo run -p model-description --example rewrite -- in.xml out.xml`: what an exported FMU would say.
//!
//! Prints the warnings; the output can be given to any validator. More pairs of files may follow; what is
//! refused has no output. An output that is called `*.fmi3.xml` is written in FMI 3.0.

use model_description::{CoSimulation, Diagnostic, DiagnosticKind, read};

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let (pairs, rest) = files.as_chunks::<2>();
    if pairs.is_empty() || !rest.is_empty() {
        eprintln!("usage: rewrite in.xml out.xml ...");
        std::process::exit(2);
    }
    let mut refused = false;
    for [input, output] in pairs {
        if let Err(error) = rewrite(input, output) {
            eprintln!("{input}: {error}");
            refused = true;
        }
    }
    std::process::exit(refused.into());
}

fn rewrite(input: &str, output: &str) -> Result<(), Box<dyn std::error::Error>> {
    let model = read(&std::fs::read(input)?)?;
    for warning in &model.warnings {
        println!("{warning}");
    }
    let scalars = model.variables.iter().map(|v| v.value_reference);
    let used = scalars.chain(model.shell().iter().map(|v| v.value_reference)).max();
    let free = used.unwrap_or(0).wrapping_add(1);
    let diagnostic = |name: &str, at: u32, kind, unit: Option<&str>| Diagnostic {
        name: format!("fmu_build.{name}"),
        value_reference: free.wrapping_add(at),
        kind,
        unit: unit.map(str::to_string),
        description: "added by fmu-build".into(),
    };
    let request = CoSimulation {
        guid: "{0}".into(),
        generation_tool: "fmu-build".into(),
        model_identifier: "model".into(),
        step_size: 1e-3,
        internal_step_size: 5e-4,
        can_get_and_set_fmu_state: true,
        diagnostics: vec![
            diagnostic("step_time", 0, DiagnosticKind::Real, Some("s")),
            diagnostic("events", 1, DiagnosticKind::Integer, None),
        ],
        ..CoSimulation::default()
    };
    let written = match output.ends_with(".fmi3.xml") {
        true => model.into_co_simulation_3(&request),
        false => model.into_co_simulation(&request),
    };
    std::fs::write(output, written)?;
    Ok(())
}
