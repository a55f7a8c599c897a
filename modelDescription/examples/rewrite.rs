//! `cargo run -p model-description --example rewrite -- in.xml out.xml`: what an exported FMU would say.
//!
//! Prints the warnings; the output can be given to any validator. More pairs of files may follow; what is
//! refused has no output.

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
    let free = model.variables.iter().map(|v| v.value_reference).max().unwrap_or(0).wrapping_add(1);
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
        can_get_and_set_fmu_state: true,
        diagnostics: vec![
            diagnostic("step_time", 0, DiagnosticKind::Real, Some("s")),
            diagnostic("events", 1, DiagnosticKind::Integer, None),
        ],
        ..CoSimulation::default()
    };
    std::fs::write(output, model.into_co_simulation(&request))?;
    Ok(())
}
