//! What is wrong with the FMU, as the study and the reading of its description found it.

use crate::findings::Studied;
use crate::warning::Warning;

/// What was wrong in the description, in one warning.
pub fn repairs(repairs: &[String]) -> Option<Warning> {
    (!repairs.is_empty()).then(|| Warning::Repairs(repairs.to_vec()))
}

/// What the study found to say of the FMU. `names`: of its states.
pub fn findings(studied: &Studied, names: &[String]) -> Vec<Warning> {
    let name = |state: u32| names.get(state as usize).map_or("?", String::as_str);
    let listed = |entries: &[(u32, u32)]| -> Vec<String> {
        entries.iter().map(|&(row, col)| format!("der({}) on {}", name(row), name(col))).collect()
    };
    let structure = &studied.structure;
    let mut found = Vec::new();
    if !structure.undeclared_entries.is_empty() {
        found.push(Warning::UndeclaredDependencies(listed(&structure.undeclared_entries)));
    }
    if !structure.not_constant.is_empty() {
        found.push(Warning::NotConstant(listed(&structure.not_constant)));
    }
    found.extend(studied.wrong_directional.clone().map(Warning::WrongDirectionalDerivatives));
    found.extend(studied.halted.clone().map(Warning::Halted));
    found.extend(studied.remarks.iter().cloned().map(Warning::Study));
    found
}
