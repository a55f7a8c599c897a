//! The command line's entry: dispatch, print, exit code.
//!
//! The answer goes to standard output, warnings and what failed to standard error: a file or a pipe gets the answer alone.

use fmu_build::LIBRARIES;
use fmu_builder::cli::{self, Command, Print, manual};
use fmu_builder::error::Error;
use fmu_builder::terminal::{Colour, Mark, Terminal};
use fmu_builder::{bench, build, cleanup, compare, example, inspect, worker};
use std::io::{self, Write};
use std::process::ExitCode;

/// Exit codes: what was asked for cannot be done or is not kept; what was asked for is not understood.
const REFUSED: u8 = 1;
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let code = run();
    // If a signal came meanwhile, it ends the process, not we.
    drop(cleanup::hold());
    code
}

fn run() -> ExitCode {
    let (command, colour) = match cli::parse(LIBRARIES) {
        Ok((Command::Worker { request }, _)) => return worker::serve(&request),
        Ok(asked) => asked,
        Err(error) => return complain(&error.to_string(), USAGE, Colour::Auto),
    };
    cleanup::on_signals();
    match answer(command) {
        Ok(answer) => give(answer, colour),
        Err(error) => complain(&error.to_string(), REFUSED, colour),
    }
}

/// What the user gets.
#[derive(Default)]
struct Answer {
    text: String,
    /// It is for programs: printed as it is.
    is_data: bool,
    /// A line each.
    warnings: Vec<String>,
    /// Why the command fails all the same.
    failure: Option<String>,
}

impl Answer {
    fn text(text: String, warnings: Vec<String>) -> Answer {
        Answer { text, warnings, ..Answer::default() }
    }

    fn data(text: String) -> Answer {
        Answer { text, is_data: true, ..Answer::default() }
    }
}

fn answer(command: Command) -> Result<Answer, Error> {
    Ok(match command {
        Command::Worker { .. } => Answer::default(),
        Command::Build(options, print) => {
            let summary = build(&options)?;
            match print {
                Print::Json => Answer::data(summary.json()),
                Print::Nothing => Answer::default(),
                Print::Text => Answer::text(summary.text(false), summary.warnings.lines()),
                Print::Details => Answer::text(summary.text(true), summary.warnings.lines()),
            }
        }
        Command::Inspect(options, print) => {
            let found = inspect(&options)?;
            match print {
                Print::Json => Answer::data(found.json()),
                _ => Answer::text(found.text(), found.warnings.lines()),
            }
        }
        Command::Bench(options, print) => {
            let found = bench(&options)?;
            let answer = match print {
                Print::Json => Answer::data(found.json()),
                _ => Answer::text(found.text(), found.warnings.lines()),
            };
            Answer { failure: found.failure(), ..answer }
        }
        Command::Compare(options, print) => {
            let found = compare(&options)?;
            let answer = match (print, &found.csv) {
                (Print::Json, _) => Answer::data(found.json()),
                (_, Some(csv)) => {
                    Answer { warnings: found.warnings.lines(), ..Answer::data(csv.trim_end().into()) }
                }
                _ => Answer::text(found.text(), found.warnings.lines()),
            };
            Answer { failure: found.failure(), ..answer }
        }
        Command::Example { name, output, inputs } => {
            let told = example(name.as_deref(), output.as_deref(), inputs.as_deref(), LIBRARIES)?;
            Answer::text(told, Vec::new())
        }
        Command::Completions(shell) => Answer::data(manual::completions(shell)),
        Command::Manual(folder) => Answer::text(manual::manual(&folder)?, Vec::new()),
    })
}

fn give(answer: Answer, colour: Colour) -> ExitCode {
    let text = match answer.is_data {
        true => answer.text,
        false => Terminal::stdout(colour).lines(&printable(&answer.text)),
    };
    let printed = print(&text, colour);
    let terminal = Terminal::stderr(colour);
    for warning in &answer.warnings {
        let _ = writeln!(io::stderr(), "{}", terminal.marked(Mark::Warning, &printable(warning)));
    }
    match answer.failure {
        Some(failure) if printed == ExitCode::SUCCESS => complain(&failure, REFUSED, colour),
        _ => printed,
    }
}

/// A model's names and messages are not trusted with the terminal: no control characters but line feeds and tabs.
fn printable(text: &str) -> String {
    text.chars().filter(|&c| !c.is_control() || c == '\n' || c == '\t').collect()
}

fn print(text: &str, colour: Colour) -> ExitCode {
    if text.is_empty() {
        return ExitCode::SUCCESS;
    }
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{text}").and_then(|()| stdout.flush()) {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever reads has seen enough (`| head`).
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(error) => complain(&format!("cannot print the answer: {error}"), REFUSED, colour),
    }
}

/// Standard error may be closed or full: that changes nothing about the exit code.
fn complain(message: &str, code: u8, colour: Colour) -> ExitCode {
    let text = format!("fmu-build: {}", printable(message));
    let _ = writeln!(io::stderr(), "{}", Terminal::stderr(colour).marked(Mark::Error, &text));
    ExitCode::from(code)
}
