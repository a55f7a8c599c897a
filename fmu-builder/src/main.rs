//! The command line's entry: dispatch, print, exit code.

use fmu_build::LIBRARIES;
use fmu_builder::cli::{self, Command, Print};
use fmu_builder::error::Error;
use fmu_builder::{bench, build, example, inspect, worker};
use std::process::ExitCode;

fn main() -> ExitCode {
    let command = match cli::parse(LIBRARIES) {
        Ok(command) => command,
        Err(error) => return refuse(&error),
    };
    let outcome = match command {
        Command::Worker { request } => return worker::serve(&request),
        Command::Build(options, print) => build(&options).map(|summary| match print {
            Print::Text => summary.text(),
            Print::Json => summary.json(),
            Print::Nothing => String::new(),
        }),
        Command::Inspect(options, print) => inspect(&options).map(|found| match print {
            Print::Json => found.json(),
            _ => found.text(),
        }),
        Command::Bench(options, print) => bench(&options).map(|found| match print {
            Print::Json => found.json(),
            _ => found.text(),
        }),
        Command::Example { name, output } => example(name.as_deref(), output.as_deref(), LIBRARIES),
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
