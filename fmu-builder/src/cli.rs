//! The command line: what can be asked for, the help that teaches it, and the values that it means.
//!
//! What is malformed, a word or a value such as a step or a budget (judged by `quantity`), is a usage error: exit code 2. Nothing
//! behind this file knows of clap.

mod args;
mod compare;
pub mod manual;
mod mistakes;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::error::ErrorKind;
use clap::{CommandFactory, Parser};

use crate::Libraries;
use crate::error::Error;
use crate::options::{BenchOptions, CompareOptions, InspectOptions, Options};
use crate::terminal::Colour;
use args::{BuildArgs, Cli, ExampleArgs, Files, Sub, WorkerArgs};

/// What the user asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Command {
    Build(Box<Options>, Print),
    Inspect(InspectOptions, Print),
    Bench(BenchOptions, Print),
    Compare(Box<CompareOptions>, Print),
    /// Write an example, or list them all.
    Example {
        name: Option<String>,
        output: Option<PathBuf>,
        inputs: Option<PathBuf>,
    },
    /// Print completions for a shell.
    Completions(clap_complete::Shell),
    /// Write manual pages into a folder.
    Manual(PathBuf),
    /// The child process in which an FMU's code runs.
    Worker {
        request: PathBuf,
    },
}

/// How the answer is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Print {
    Text,
    /// With everything that there is to tell.
    Details,
    Json,
    Nothing,
}

/// The command line of this process; a usage error, `--help` and `--version` end it here. `libraries` go into what is
/// built.
pub fn parse(libraries: Libraries) -> Result<(Command, Colour), Error> {
    let (words, colour) = parse_words(std::env::args_os()).unwrap_or_else(|error| error.exit());
    Ok((words.understood(libraries)?, colour))
}

/// The words of a command line, put in their places; the first is the program's name.
fn parse_words<I, T>(words: I) -> Result<(Words, Colour), clap::Error>
where
    I: IntoIterator<Item = T>,
    T: Into<OsString> + Clone,
{
    let words: Vec<OsString> = words.into_iter().map(Into::into).collect();
    if let Some(error) = mistakes::number_apart_from_its_unit(&words, &mut Cli::command()) {
        return Err(error);
    }
    let parsed = Cli::try_parse_from(&words);
    let Cli { command, files, mut build, color } =
        parsed.map_err(|error| mistakes::misspelt_option(error, &words, &mut Cli::command()))?;
    let colour = color.unwrap_or_default();
    if let Some(command) = command {
        return Ok((Words::Sub(Box::new(command)), colour));
    }
    let Some(Files { input, output }) = files else {
        return Err(
            Cli::command().error(ErrorKind::MissingRequiredArgument, "IN.fmu and OUT.fmu are missing")
        );
    };
    (build.input, build.output) = (input, output);
    // `fmu-build --quiet bench x.fmu` would otherwise read a file named bench and write x.fmu.
    if let Some(name) = Cli::command()
        .get_subcommands()
        .map(|sub| sub.get_name().to_string())
        .find(|name| build.input.as_os_str() == name.as_str() || build.output.as_os_str() == name.as_str())
    {
        return Err(Cli::command().error(
            ErrorKind::InvalidSubcommand,
            format!(
                "`{name}` is a command and must come first: fmu-build {name} ...; \
                 for a file of that name, write ./{name}"
            ),
        ));
    }
    if let Some(error) = mistakes::misspelt_command(&build.input, &mut Cli::command()) {
        return Err(error);
    }
    Ok((Words::Build(Box::new(build)), colour))
}

/// A well-formed command line whose values are still text.
#[derive(Debug)]
enum Words {
    Build(Box<BuildArgs>),
    Sub(Box<Sub>),
}

impl Words {
    fn understood(self, libraries: Libraries) -> Result<Command, Error> {
        Ok(match self {
            Words::Build(args) => {
                let print = match (args.json, args.quiet, args.verbose) {
                    (true, ..) => Print::Json,
                    (_, true, _) => Print::Nothing,
                    (_, _, true) => Print::Details,
                    _ => Print::Text,
                };
                Command::Build(Box::new(args.options(libraries)?), print)
            }
            Words::Sub(sub) => match *sub {
                Sub::Inspect(args) => {
                    let print = if args.json { Print::Json } else { Print::Text };
                    Command::Inspect(args.options()?, print)
                }
                Sub::Bench(args) => {
                    let print = if args.json { Print::Json } else { Print::Text };
                    Command::Bench(args.options()?, print)
                }
                Sub::Compare(args) => {
                    let print = if args.json { Print::Json } else { Print::Text };
                    Command::Compare(Box::new(args.options()?), print)
                }
                Sub::Example(ExampleArgs { name, output, inputs }) => {
                    Command::Example { name, output, inputs }
                }
                Sub::Completions(args) => Command::Completions(args.shell),
                Sub::Manual(args) => Command::Manual(args.folder),
                Sub::Worker(WorkerArgs { request }) => Command::Worker { request },
            },
        })
    }
}
