//! What the command line says of itself: completions for shells, manual pages.

use super::args::Cli;
use crate::error::Error;
use clap::{Args, CommandFactory};
use clap_complete::Shell;
use std::path::PathBuf;

/// Print completions for a shell: fmu-build completions bash > /etc/bash_completion.d/fmu-build
#[derive(Debug, Clone, Args)]
pub struct CompletionsArgs {
    #[arg(value_name = "SHELL", value_enum)]
    pub shell: Shell,
}

/// Write manual pages, one for each command, into a folder
#[derive(Debug, Clone, Args)]
pub struct ManualArgs {
    #[arg(value_name = "FOLDER")]
    pub folder: PathBuf,
}

pub fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "fmu-build", &mut script);
    String::from_utf8_lossy(&script).into_owned()
}

/// `fmu-build.1`, `fmu-build-bench.1` and so on. Returns what to tell the user.
pub fn manual(folder: &std::path::Path) -> Result<String, Error> {
    if !folder.is_dir() {
        return Err(Error::Request(format!("there is no folder {}; create it first", folder.display())));
    }
    let pages = pages()?;
    for (name, page) in &pages {
        let file = folder.join(name);
        std::fs::write(&file, page).map_err(Error::io("write", &file))?;
    }
    Ok(format!("wrote {} manual pages into {}", pages.len(), folder.display()))
}

fn pages() -> Result<Vec<(String, Vec<u8>)>, Error> {
    let command = Cli::command();
    let subs = command.get_subcommands().filter(|sub| sub.get_name() != "worker");
    let subs = subs.map(|sub| (format!("fmu-build-{}", sub.get_name()), sub.clone()));
    let all = std::iter::once(("fmu-build".to_string(), command.clone())).chain(subs);
    all.map(|(name, command)| {
        let file = format!("{name}.1");
        let mut page = Vec::new();
        let manual = clap_mangen::Man::new(command.display_name(name));
        manual.render(&mut page).map_err(Error::io("write", &file))?;
        Ok((file, page))
    })
    .collect()
}
