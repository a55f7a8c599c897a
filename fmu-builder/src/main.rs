//! The command line's entry: dispatch, print, exit code.

use fmu_build::LIBRARIES;
use fmu_builder::cli::{self, Command, Print};
use fmu_builder::error::Error;
use fmu_builder::{bench, build, cleanup, compare, example, inspect, worker};
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
        // What the command line says is not understood.
        Err(error) => return complain(&printable(&error.to_string()), USAGE),
    };
    cleanup::on_signals();
    match answer(command) {
        Ok(Answer { text, failure }) => match (print(&text), failure) {
            (ExitCode::SUCCESS, Some(failure)) => complain(&printable(&failure), REFUSED),
            (code, _) => code,
        },
        Err(error) => complain(&printable(&error.to_string()), REFUSED),
    }
}

/// Exit codes: what was asked for cannot be done or is not kept; what was asked for is not understood.
const REFUSED: u8 = 1;
const USAGE: u8 = 2;

/// What to print, and why the command fails all the same.
struct Answer {
    text: String,
    failure: Option<String>,
}

fn answer(command: Command) -> Result<Answer, Error> {
    let mut failure = None;
    let text = match command {
        Command::Worker { .. } => String::new(),
        Command::Build(options, print) => {
            let summary = build(&options)?;
            match print {
                Print::Text => summary.text(),
                Print::Json => return Ok(Answer { text: summary.json(), failure }),
                Print::Nothing => String::new(),
            }
        }
        Command::Inspect(options, print) => {
            let found = inspect(&options)?;
            match print {
                Print::Json => return Ok(Answer { text: found.json(), failure }),
                _ => found.text(),
            }
        }
        Command::Bench(options, print) => {
            let found = bench(&options)?;
            failure = found.failure();
            match print {
                Print::Json => return Ok(Answer { text: found.json(), failure }),
                _ => found.text(),
            }
        }
        Command::Compare(options, print) => {
            let found = compare(&options)?;
            failure = found.failure();
            match print {
                Print::Json => return Ok(Answer { text: found.json(), failure }),
                _ => found.text(),
            }
        }
        Command::Example { name, output, inputs } => {
            example(name.as_deref(), output.as_deref(), inputs.as_deref(), LIBRARIES)?
        }
    };
    Ok(Answer { text: printable(&text), failure })
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
        Err(error) => complain(&format!("cannot print the answer: {error}"), REFUSED),
    }
}

/// Standard error may be closed or full: that changes nothing about the exit code.
fn complain(message: &str, code: u8) -> ExitCode {
    let _ = writeln!(io::stderr(), "fmu-build: {message}");
    ExitCode::from(code)
}
