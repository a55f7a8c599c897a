//! What is wrong with the FMU, or worth knowing of the plan, in sentences.

use super::count;
use crate::worker::Studied;

/// For a terminal: the first ones.
pub fn warning_lines(warnings: &[String]) -> Vec<String> {
    const SHOWN: usize = 10;
    let mut lines: Vec<String> =
        warnings.iter().take(SHOWN).map(|warning| format!("warning: {warning}")).collect();
    if warnings.len() > SHOWN {
        lines.push(format!("and {} more (all in --json)", warnings.len() - SHOWN));
    }
    lines
}

/// What was wrong in the description, in one line.
pub fn repairs_line(repairs: &[String]) -> Option<String> {
    match repairs {
        [] => None,
        [one] => Some(one.clone()),
        many => {
            Some(format!("modelDescription.xml, {}: {}", count(many.len(), "remark"), shortened(many, "; ")))
        }
    }
}

/// The first few, and how many more there are.
pub(super) fn shortened(what: &[String], separator: &str) -> String {
    const SHOWN: usize = 3;
    let more = match what.len().saturating_sub(SHOWN) {
        0 => String::new(),
        more => format!("{separator}and {more} more"),
    };
    format!("{}{more}", what[..what.len().min(SHOWN)].join(separator))
}

/// What the study found to say of the FMU.
pub fn findings(studied: &Studied, names: &[String]) -> Vec<String> {
    let name = |state: u32| names.get(state as usize).map_or("?", String::as_str);
    let listed = |entries: &[(u32, u32)]| {
        let shown: Vec<String> = entries
            .iter()
            .take(5)
            .map(|&(row, col)| format!("der({}) on {}", name(row), name(col)))
            .collect();
        let more = entries.len() - shown.len();
        format!("{}{}", shown.join(", "), if more > 0 { format!(" and {more} more") } else { String::new() })
    };
    let mut found = Vec::new();
    let structure = &studied.structure;
    if !structure.lies.is_empty() {
        found.push(format!(
            "ModelStructure denies dependencies that the model has: {}; they were added",
            listed(&structure.lies)
        ));
    }
    if !structure.not_constant.is_empty() {
        found.push(format!(
            "dependenciesKind calls slopes constant that are not: {}; they are evaluated",
            listed(&structure.not_constant)
        ));
    }
    if let Some(wrong) = &studied.wrong_directional {
        found.push(format!(
            "the FMU's directional derivatives are wrong {wrong}; differences are used, and the new FMU does not offer them"
        ));
    }
    if let Some(halted) = &studied.halted {
        found.push(format!("the accurate run ended early: {halted}; what follows is not verified"));
    }
    found.extend(studied.notes.iter().cloned());
    found
}

#[cfg(test)]
mod tests {
    use super::warning_lines;

    #[test]
    fn a_terminal_shows_ten_warnings() {
        let warnings: Vec<String> = (0..13).map(|i| format!("w{i}")).collect();
        assert_eq!(warning_lines(&warnings[..10]).len(), 10);
        let lines = warning_lines(&warnings);
        assert_eq!(
            (lines.len(), lines[0].as_str(), lines[10].as_str()),
            (11, "warning: w0", "and 3 more (all in --json)")
        );
    }
}
