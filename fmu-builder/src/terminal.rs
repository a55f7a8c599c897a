//! What a person reads at a terminal: wrapped to its width, and in colour where there is one.
//!
//! What goes into a file or a pipe is neither: a line stays a line.

use crate::system;
use std::io::{IsTerminal, stderr, stdout};

/// `--color`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Colour {
    /// On a terminal, unless `NO_COLOR` is set.
    #[default]
    Auto,
    Always,
    Never,
}

impl Colour {
    pub const NAMES: [(&str, Colour); 3] =
        [("auto", Colour::Auto), ("always", Colour::Always), ("never", Colour::Never)];
}

/// One of the two streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Terminal {
    /// Columns. `None`: lines are not wrapped.
    width: Option<usize>,
    is_coloured: bool,
}

/// Narrower terminals are not wrapped for: their lines would be one word each.
const NARROWEST: usize = 40;

impl Terminal {
    pub fn stdout(colour: Colour) -> Terminal {
        Terminal::of(stdout().is_terminal(), colour)
    }

    pub fn stderr(colour: Colour) -> Terminal {
        Terminal::of(stderr().is_terminal(), colour)
    }

    fn of(is_terminal: bool, colour: Colour) -> Terminal {
        let is_coloured = match colour {
            Colour::Auto => is_terminal && std::env::var_os("NO_COLOR").is_none_or(|set| set.is_empty()),
            Colour::Always => true,
            Colour::Never => false,
        };
        let width = system::terminal_width().filter(|&width| is_terminal && width >= NARROWEST);
        Terminal { width, is_coloured }
    }

    /// Each line, wrapped: what follows is indented as its text is.
    pub fn lines(&self, text: &str) -> String {
        let Some(width) = self.width else { return text.into() };
        text.lines().map(|line| wrapped(line, width)).collect::<Vec<_>>().join("\n")
    }

    /// A line that begins with a word to be seen, such as `warning:`, in its colour.
    pub fn marked(&self, mark: Mark, text: &str) -> String {
        let text = self.lines(text);
        let (word, code) = match mark {
            Mark::Error => ("fmu-build:", "1;31"),
            Mark::Warning => ("warning:", "1;33"),
        };
        match text.strip_prefix(word) {
            Some(rest) if self.is_coloured => format!("\x1b[{code}m{word}\x1b[0m{rest}"),
            _ => text,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mark {
    Error,
    Warning,
}

/// Indented like its own beginning: `  name       text` goes on below `text`.
fn wrapped(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.into();
    }
    let indent = indent(line).min(width / 2);
    let mut out = String::new();
    let mut column = 0;
    for word in line.split_inclusive(' ') {
        let length = word.trim_end().chars().count();
        if column + length > width && column > indent {
            out.truncate(out.trim_end().len());
            out.push('\n');
            out.push_str(&" ".repeat(indent));
            column = indent;
        }
        out.push_str(word);
        column += word.chars().count();
    }
    out
}

/// Where the text of a line begins: behind its name, if two blanks or more follow that.
fn indent(line: &str) -> usize {
    let blanks = line.chars().take_while(|c| *c == ' ').count();
    if blanks == 0 {
        return 2;
    }
    let rest: String = line.chars().skip(blanks).collect();
    match rest.find("  ") {
        Some(end) => {
            let gap = rest[end..].chars().take_while(|c| *c == ' ').count();
            blanks + rest[..end].chars().count() + gap
        }
        None => blanks + 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_wrapped_below_their_text() {
        let terminal = Terminal { width: Some(40), is_coloured: false };
        let text = "  method     linearly implicit Euler with 4 of 6 states implicit";
        let expected = "  method     linearly implicit Euler\n             with 4 of 6 states implicit";
        assert_eq!(terminal.lines(text), expected);
        assert_eq!(Terminal { width: None, ..terminal }.lines(text), text);
        let long = "x".repeat(60);
        assert_eq!(terminal.lines(&long), long);
    }

    #[test]
    fn colour_is_in_the_word_alone() {
        let plain = Terminal { width: None, is_coloured: false };
        let colour = Terminal { is_coloured: true, ..plain };
        assert_eq!(plain.marked(Mark::Warning, "warning: hot"), "warning: hot");
        assert_eq!(colour.marked(Mark::Warning, "warning: hot"), "\x1b[1;33mwarning:\x1b[0m hot");
    }
}
