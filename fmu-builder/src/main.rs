//! The command line's entry: dispatch, print, exit code.

use fmu_builder::cli::{self, Command};
use fmu_builder::error::Error;
use fmu_builder::{Libraries, bench, build, example, inspect, worker};
use std::process::ExitCode;

/// Built and embedded by build.rs.
const LIBRARIES: Libraries = Libraries {
    runtime: include_bytes!(env!("FMU_RUNTIME_LIBRARY")),
    reference: include_bytes!(env!("REFERENCE_FMUS_LIBRARY")),
};

fn main() -> ExitCode {
    let outcome = match cli::parse() {
        Command::Worker(args) => return worker::serve(&args.request),
        Command::Build(args) => build::build(&args, LIBRARIES).map(|summary| match (args.json, args.quiet) {
            (true, _) => summary.json(),
            (false, true) => String::new(),
            (false, false) => summary.text(),
        }),
        Command::Inspect(args) => {
            inspect::inspect(&args).map(|found| if args.json { found.json() } else { found.text() })
        }
        Command::Bench(args) => {
            bench::bench(&args).map(|found| if args.json { found.json() } else { found.text() })
        }
        Command::Example(args) => example::example(&args, LIBRARIES),
    };
    match outcome {
        Ok(text) => print(&text),
        Err(error) => refuse(&error),
    }
}

fn print(text: &str) -> ExitCode {
    use std::io::Write;
    // A closed pipe (`| head`) is no failure.
    if !text.is_empty() {
        let _ = writeln!(std::io::stdout(), "{text}");
    }
    ExitCode::SUCCESS
}

fn refuse(error: &Error) -> ExitCode {
    eprintln!("fmu-build: {error}");
    ExitCode::from(1)
}
