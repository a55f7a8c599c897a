//! Mistakes on the command line that clap names badly or not at all.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Command, Error};
use std::ffi::OsString;
use std::path::Path;

/// Units that people write apart from their number.
const UNITS: [&str; 9] = ["s", "ms", "us", "µs", "ns", "min", "GB", "MB", "%"];

/// `--step 1 ms`: two words where one is meant. Without a look at it, `ms` is taken for a file.
pub fn number_apart_from_its_unit(words: &[OsString], command: &mut Command) -> Option<Error> {
    let texts: Vec<&str> = words.iter().map(|word| word.to_str().unwrap_or_default()).collect();
    let apart = texts.windows(3).find(|three| {
        three[0].starts_with("--") && three[1].parse::<f64>().is_ok() && UNITS.contains(&three[2])
    })?;
    let [option, number, unit] = apart else { return None };
    Some(command.error(
        ErrorKind::ValueValidation,
        format!(
            "`{option} {number} {unit}`: a number and its unit are one word; write {option} {number}{unit}"
        ),
    ))
}

/// `insepct x.fmu`: a misspelt command is read as a file that is not there.
pub fn misspelt_command(input: &Path, command: &mut Command) -> Option<Error> {
    let word = input.to_str().filter(|word| !word.contains(['.', '/', '\\']))?;
    if input.exists() {
        return None;
    }
    let names: Vec<String> = command
        .get_subcommands()
        .filter(|sub| !sub.is_hide_set())
        .map(|sub| sub.get_name().to_string())
        .collect();
    let near = names.iter().max_by(|a, b| likeness(word, a).total_cmp(&likeness(word, b)))?;
    if likeness(word, near) < 0.6 {
        return None;
    }
    Some(command.error(
        ErrorKind::InvalidSubcommand,
        format!("there is no command and no file {word}; did you mean fmu-build {near}?"),
    ))
}

/// `--stp`: all options that it may have been meant for, where clap names the nearest one only.
pub fn misspelt_option(error: Error, words: &[OsString], command: &mut Command) -> Error {
    // Of the other commands clap's own hint is as good.
    let is_other = |word: &OsString| command.get_subcommands().any(|sub| *word == *sub.get_name());
    if words.get(1).is_some_and(is_other) {
        return error;
    }
    let unknown = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(word))) if word.starts_with("--") => {
            word.clone()
        }
        _ => return error,
    };
    let of = |command: &Command| -> Vec<String> {
        command.get_arguments().filter_map(|arg| arg.get_long()).map(|long| format!("--{long}")).collect()
    };
    let mut near: Vec<String> =
        of(command).into_iter().filter(|option| likeness(&unknown, option) >= 0.8).collect();
    near.sort_by(|a, b| likeness(&unknown, b).total_cmp(&likeness(&unknown, a)).then(a.cmp(b)));
    near.dedup();
    near.truncate(3);
    match near.len() {
        0 | 1 => error,
        _ => command.error(
            ErrorKind::UnknownArgument,
            format!("unexpected argument '{unknown}'; did you mean '{}'?", near.join("' or '")),
        ),
    }
}

fn likeness(a: &str, b: &str) -> f64 {
    strsim::normalized_damerau_levenshtein(a, b)
}
