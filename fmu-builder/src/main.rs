//! The command line's entry: dispatch, print, exit code.

use fmu_build::LIBRARIES;
use fmu_builder::cli::{self, Command, Print};
use fmu_builder::error::Error;
use fmu_builder::{bench, build, cleanup, example, inspect, worker};
use std::io::{self, Write};
use std::process::ExitCode;

fn main() -> ExitCode {
    let code = run();
    // If a signal came meanwhile, it ends the process, not we.
    drop(cleanup::hold());
    code
}

fn run() -> ExitCode {
    let command = match cli::parse(LIBRARIES) {
        Ok(Command::Worker { request }) => return worker::serve(&request),
        Ok(command) => command,
        Err(error) => return refuse(&error),
    };
    cleanup::on_signals();
    match answer(command) {
        Ok(text) => print(&text),
        Err(error) => refuse(&error),
    }
}

fn answer(command: Command) -> Result<String, Error> {
    let text = match command {
        Command::Worker { .. } => String::new(),
        Command::Build(options, print) => {
            let summary = build(&options)?;
            match print {
                Print::Text => summary.text(),
                Print::Json => return Ok(summary.json()),
                Print::Nothing => String::new(),
            }
        }
        Command::Inspect(options, print) => {
            let found = inspect(&options)?;
            match print {
                Print::Json => return Ok(found.json()),
                _ => found.text(),
            }
        }
        Command::Bench(options, print) => {
            let found = bench(&options)?;
            match print {
                Print::Json => return Ok(found.json()),
                _ => found.text(),
            }
        }
        Command::Example { name, output } => example(name.as_deref(), output.as_deref(), LIBRARIES)?,
    };
    Ok(printable(&text))
}

/// A model's names and messages are not trusted with the terminal: no control characters but line feeds and tabs.
fn printable(text: &str) -> String {
    text.chars().filter(|&c| !c.is_control() || c == '\n' || c == '\t').collect()
}

fn print(text: &str) -> ExitCode {
    if text.is_empty() {
        return ExitCode::SUCCESS;
    }
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads has seen enough (`| head`).
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => complain(&format!("cannot print the answer: {error}")),
    }
}

fn refuse(error: &Error) -> ExitCode {
    complain(&printable(&error.to_string()))
}

/// Standard error may be closed or full: that changes nothing about the exit code.
fn complain(message: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "fmu-build: {message}");
    ExitCode::from(1)
}
