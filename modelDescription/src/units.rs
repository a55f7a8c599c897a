//! The units that a description defines, as numbers.
//!
//! FMI 2.0, 2.2.2: value in base units = factor · value + offset, and value in a display unit = factor ·
//! value + offset.

use crate::model::ModelDescription;
use crate::tree::Element;

/// One `<Unit>`.
#[derive(Debug, Clone, PartialEq)]
pub struct Unit {
    pub name: String,
    /// `None`: the description does not say what it is made of.
    pub base: Option<BaseUnit>,
    pub displays: Vec<DisplayUnit>,
}

/// What a unit is in kg, m, s, A, K, mol, cd and rad.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BaseUnit {
    pub exponents: [i32; 8],
    pub factor: f64,
    pub offset: f64,
}

/// Another unit for the same quantity.
#[derive(Debug, Clone, PartialEq)]
pub struct DisplayUnit {
    pub name: String,
    pub factor: f64,
    pub offset: f64,
}

const BASE: [&str; 8] = ["kg", "m", "s", "A", "K", "mol", "cd", "rad"];

impl ModelDescription {
    /// The units that `<UnitDefinitions>` defines.
    pub fn units(&self) -> Vec<Unit> {
        let number = |element: &Element, name: &str, otherwise: f64| {
            element.get(name).and_then(crate::literal::parse_double).unwrap_or(otherwise)
        };
        let units = self.repaired.root.section("UnitDefinitions").filter(|element| element.name == "Unit");
        let unit = |element: &Element| Unit {
            name: element.get("name").unwrap_or_default().to_string(),
            base: element.child("BaseUnit").map(|base| BaseUnit {
                exponents: BASE
                    .map(|name| base.get(name).and_then(|text| text.trim().parse().ok()).unwrap_or(0)),
                factor: number(base, "factor", 1.0),
                offset: number(base, "offset", 0.0),
            }),
            displays: element
                .elements()
                .filter(|child| child.name == "DisplayUnit")
                .map(|display| DisplayUnit {
                    name: display.get("name").unwrap_or_default().to_string(),
                    factor: number(display, "factor", 1.0),
                    offset: number(display, "offset", 0.0),
                })
                .collect(),
        };
        units.map(unit).collect()
    }
}
