//! Which variable each column of an input file drives.
//!
//! Inputs, and parameters that may be changed while the model runs. A header may name a unit behind the variable, `u [V]` or
//! `u (V)`: the values are converted to the variable's. A column that fits no variable is left out and named; a file of which no
//! column fits is refused, since it drives nothing.

use super::{Column, InputRemark, Signal};
use crate::inputs::{Csv, Fault, InputError, InputTable};
use crate::near::did_you_mean;
use crate::units::{Conversion, Units};
use model_description::{Causality, Kind, ModelDescription, ScalarVariable, Variability};
use std::path::Path;

/// The table, its columns that drive something, and the names of those that do not.
pub struct Bound {
    pub table: InputTable,
    pub columns: Vec<Column>,
    pub ignored: Vec<String>,
    /// What there is to say of the others.
    pub remarks: Vec<InputRemark>,
}

/// Read a file of inputs for this model. A bad cell is refused now, before any foreign code runs.
pub fn bind(path: &Path, description: &ModelDescription) -> Result<Bound, InputError> {
    let csv = Csv::read(path)?;
    let refuse = |fault| InputError { path: path.into(), fault };
    let headers: Vec<String> = csv.table(|_| true)?.names().map(String::from).collect();
    let units = Units::new(description);
    let (mut driven, mut ignored, mut remarks) = (Vec::new(), Vec::new(), Vec::new());
    for header in &headers {
        let Some((variable, unit)) = find(header, description) else {
            ignored.push(header.clone());
            continue;
        };
        let conversion = match (unit, &variable.unit) {
            (None, _) => Conversion::NONE,
            (Some(unit), None) => {
                let name = variable.name.clone();
                remarks.push(InputRemark::UnknownUnit { name, unit: unit.into() });
                Conversion::NONE
            }
            (Some(unit), Some(own)) => units
                .conversion(unit, Some(own))
                .filter(|found| *found == Conversion::NONE || variable.kind == Kind::Real)
                .ok_or_else(|| {
                    let name = &variable.name;
                    let why = format!("{unit:?} cannot be converted to {own:?}, the unit of {name}");
                    refuse(Fault::Unit { column: header.clone(), why })
                })?,
        };
        driven.push((header, column(variable), conversion));
    }
    if driven.is_empty() && !headers.is_empty() {
        let inputs = description.variables.iter().filter(|variable| is_driven(variable));
        let inputs = inputs.map(|variable| variable.name.as_str());
        let near = headers.iter().map(|header| did_you_mean(parted(header).0, inputs.clone()));
        let shown: Vec<&str> = inputs.clone().take(12).collect();
        return Err(refuse(Fault::DrivesNothing {
            columns: headers.iter().take(12).cloned().collect::<Vec<_>>().join(", "),
            near: near.into_iter().find(|hint| !hint.is_empty()).unwrap_or_default(),
            inputs: if shown.is_empty() { "none".into() } else { shown.join(", ") },
        }));
    }
    let is_text = |header: &str| {
        let bound = driven.iter().find(|(name, ..)| *name == header);
        bound.is_none_or(|(_, column, _)| column.signal == Signal::Text)
    };
    let mut table = csv.table(is_text)?;
    for (header, column, conversion) in &driven {
        if let Some(at) = table.column(header) {
            table.rename(at, &column.name);
            if *conversion != Conversion::NONE {
                table.convert(at, |value| conversion.of(value));
            }
        }
    }
    let columns = driven.into_iter().map(|(_, column, _)| column).collect();
    Ok(Bound { table, columns, ignored, remarks })
}

/// The variable that a header names, and the unit behind it. A name that ends in brackets, `r[1]`, is a name first.
fn find<'a, 'h>(
    header: &'h str,
    description: &'a ModelDescription,
) -> Option<(&'a ScalarVariable, Option<&'h str>)> {
    let named = |name: &str| {
        description.variables.iter().find(|variable| variable.name == name && is_driven(variable))
    };
    let whole = named(header).map(|variable| (variable, None));
    whole.or_else(|| {
        let (name, unit) = parted(header);
        Some((named(name)?, unit))
    })
}

/// `u [V]` as `u` and `V`.
fn parted(header: &str) -> (&str, Option<&str>) {
    crate::inputs::name_and_unit(header)
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
