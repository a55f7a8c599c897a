//! Which variable each column of an input file drives.
//!
//! Inputs, and parameters that may be changed while the model runs. A column that fits no variable is left out and named.

use super::{Column, Signal};
use crate::inputs::{Csv, InputError, InputTable};
use model_description::{Causality, Kind, ModelDescription, ScalarVariable, Variability};
use std::path::Path;

/// The table, its columns that drive something, and the names of those that do not.
pub struct Bound {
    pub table: InputTable,
    pub columns: Vec<Column>,
    pub ignored: Vec<String>,
}

/// Read a file of inputs for this model. A bad cell is refused now, before any foreign code runs.
pub fn bind(path: &Path, description: &ModelDescription) -> Result<Bound, InputError> {
    let csv = Csv::read(path)?;
    let names = csv.table(|_| true)?;
    let (mut columns, mut ignored) = (Vec::new(), Vec::new());
    for name in names.names() {
        let variable = description.variables.iter().find(|variable| variable.name == name);
        match variable.filter(|variable| is_driven(variable)) {
            Some(variable) => columns.push(column(variable)),
            None => ignored.push(name.to_string()),
        }
    }
    let bound = |name: &str| columns.iter().find(|column: &&Column| column.name == name);
    let is_text = |name: &str| bound(name).is_none_or(|column| column.signal == Signal::Text);
    Ok(Bound { table: csv.table(is_text)?, columns, ignored })
}

fn is_driven(variable: &ScalarVariable) -> bool {
    match variable.causality {
        Causality::Input => true,
        Causality::Parameter => variable.variability == Variability::Tunable,
        _ => false,
    }
}

/// The column that drives this variable.
pub fn column(variable: &ScalarVariable) -> Column {
    let signal = match (variable.kind, variable.variability) {
        (Kind::Real, Variability::Continuous) => Signal::Continuous,
        (Kind::Real, _) => Signal::Real,
        (Kind::Integer | Kind::Enumeration, _) => Signal::Integer,
        (Kind::Boolean, _) => Signal::Boolean,
        (Kind::String, _) => Signal::Text,
    };
    Column { name: variable.name.clone(), reference: variable.value_reference, signal }
}
