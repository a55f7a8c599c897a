//! From one unit to another: what a column's header or a limit says, in the unit of the model's variable.
//!
//! What the FMU defines counts first: its base units and its display units. A name that it does not define is looked up among the
//! common ones of engineering. What cannot be converted is refused by whoever asks: a value in an unknown unit is no value.

use model_description::{ModelDescription, Unit};

/// value in the variable's unit = factor · value + offset.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Conversion {
    pub factor: f64,
    pub offset: f64,
}

impl Conversion {
    pub const NONE: Conversion = Conversion { factor: 1.0, offset: 0.0 };

    pub fn of(&self, value: f64) -> f64 {
        self.factor * value + self.offset
    }
}

/// The units of one FMU.
#[derive(Clone, Debug, Default)]
pub struct Units {
    defined: Vec<Unit>,
}

impl Units {
    pub fn new(description: &ModelDescription) -> Units {
        Units { defined: description.units() }
    }

    /// From `from` to `to`, the unit of a variable; `None` if the two are not known to measure the same.
    pub fn conversion(&self, from: &str, to: Option<&str>) -> Option<Conversion> {
        let (from, to) = (plain(from), plain(to.unwrap_or_default()));
        if from == to {
            return Some(Conversion::NONE);
        }
        // A display unit of the variable's own unit: display = factor · value + offset.
        let own = self.defined.iter().find(|unit| plain(&unit.name) == to);
        let display = own.and_then(|unit| unit.displays.iter().find(|display| plain(&display.name) == from));
        if let Some(display) = display.filter(|display| display.factor != 0.0) {
            return Some(Conversion {
                factor: 1.0 / display.factor,
                offset: -display.offset / display.factor,
            });
        }
        let (from, to) = (self.measure(&from)?, self.measure(&to)?);
        let same = from.exponents == to.exponents && to.factor != 0.0;
        same.then(|| Conversion {
            factor: from.factor / to.factor,
            offset: (from.offset - to.offset) / to.factor,
        })
    }

    fn measure(&self, name: &str) -> Option<Measure> {
        let defined = self.defined.iter().find(|unit| plain(&unit.name) == name).and_then(|unit| unit.base);
        let defined = defined.map(|base| {
            let mut exponents = base.exponents;
            exponents[RAD] = 0; // angles are numbers: many tools leave rad out
            Measure { exponents, factor: base.factor, offset: base.offset }
        });
        defined.or_else(|| compound(name))
    }
}

/// Base-unit value = factor · value + offset.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Measure {
    exponents: [i32; 8],
    factor: f64,
    offset: f64,
}

const RAD: usize = 7;

/// Names are compared without blanks, and with one sign for micro, degrees and products.
fn plain(name: &str) -> String {
    let name = name.trim().replace(['μ', 'µ'], "u").replace('·', ".").replace('²', "2").replace('³', "3");
    let name: String = name.chars().filter(|c| !c.is_whitespace()).collect();
    match name.as_str() {
        "°C" | "ºC" | "degC" | "Celsius" => "degC".into(),
        "°" | "º" => "deg".into(),
        "-" | "1" | "" => String::new(),
        _ => name,
    }
}

/// A product of powers, such as `N.m`, `m/s2`, `rad/s`, `kg/(m.s)`; what stands behind `/` divides.
fn compound(name: &str) -> Option<Measure> {
    if let Some(measure) = simple(name) {
        return Some(measure);
    }
    let mut whole = Measure { exponents: [0; 8], factor: 1.0, offset: 0.0 };
    let mut sign = 1;
    for (at, part) in name.split('/').enumerate() {
        if at == 1 {
            sign = -1;
        }
        let part = part.strip_prefix('(').and_then(|part| part.strip_suffix(')')).unwrap_or(part);
        for factor in part.split(['.', '*']) {
            let digits = factor.trim_end_matches(|c: char| c.is_ascii_digit());
            let digits = digits.strip_suffix(['^', '-']).unwrap_or(digits);
            let digits = digits.strip_suffix('^').unwrap_or(digits);
            let power = factor[digits.len()..].trim_start_matches('^');
            let power: i32 = if power.is_empty() { 1 } else { power.parse().ok()? };
            if factor == "1" {
                continue;
            }
            let one = simple(digits).filter(|one| one.offset == 0.0)?;
            for (sum, exponent) in whole.exponents.iter_mut().zip(one.exponents) {
                *sum += sign * power * exponent;
            }
            whole.factor *= one.factor.powi(sign * power);
        }
    }
    Some(whole)
}

/// One of the names below, or one with a prefix.
fn simple(name: &str) -> Option<Measure> {
    let found = |name: &str| {
        let of = |&(_, exponents, factor, offset): &Row| Measure { exponents, factor, offset };
        NAMES.iter().find(|row| row.0 == name).map(of)
    };
    found(name).or_else(|| {
        let prefix =
            PREFIXES.iter().find(|(prefix, _)| name.len() > prefix.len() && name.starts_with(prefix))?;
        let one = found(&name[prefix.0.len()..]).filter(|one| one.offset == 0.0)?;
        PREFIXED
            .contains(&&name[prefix.0.len()..])
            .then_some(Measure { factor: prefix.1 * one.factor, ..one })
    })
}

const PREFIXES: [(&str, f64); 9] = [
    ("G", 1e9),
    ("M", 1e6),
    ("k", 1e3),
    ("h", 1e2),
    ("d", 1e-1),
    ("c", 1e-2),
    ("m", 1e-3),
    ("u", 1e-6),
    ("n", 1e-9),
];
/// Units that take a prefix.
const PREFIXED: [&str; 17] =
    ["m", "s", "g", "A", "K", "mol", "rad", "Hz", "N", "Pa", "J", "W", "V", "Ohm", "F", "H", "bar"];

type Row = (&'static str, [i32; 8], f64, f64);
/// Name; powers of kg, m, s, A, K, mol, cd (and 0 for rad); factor; offset.
#[rustfmt::skip]
const NAMES: [Row; 42] = [
    ("", [0; 8], 1.0, 0.0), ("rad", [0; 8], 1.0, 0.0), ("%", [0; 8], 0.01, 0.0),
    ("deg", [0; 8], std::f64::consts::PI / 180.0, 0.0), ("rev", [0; 8], std::f64::consts::TAU, 0.0),
    ("kg", [1, 0, 0, 0, 0, 0, 0, 0], 1.0, 0.0), ("g", [1, 0, 0, 0, 0, 0, 0, 0], 1e-3, 0.0), ("t", [1, 0, 0, 0, 0, 0, 0, 0], 1e3, 0.0),
    ("m", [0, 1, 0, 0, 0, 0, 0, 0], 1.0, 0.0), ("ft", [0, 1, 0, 0, 0, 0, 0, 0], 0.3048, 0.0), ("in", [0, 1, 0, 0, 0, 0, 0, 0], 0.0254, 0.0),
    ("s", [0, 0, 1, 0, 0, 0, 0, 0], 1.0, 0.0), ("min", [0, 0, 1, 0, 0, 0, 0, 0], 60.0, 0.0), ("h", [0, 0, 1, 0, 0, 0, 0, 0], 3600.0, 0.0), ("d", [0, 0, 1, 0, 0, 0, 0, 0], 86400.0, 0.0),
    ("A", [0, 0, 0, 1, 0, 0, 0, 0], 1.0, 0.0), ("K", [0, 0, 0, 0, 1, 0, 0, 0], 1.0, 0.0), ("degC", [0, 0, 0, 0, 1, 0, 0, 0], 1.0, 273.15), ("degF", [0, 0, 0, 0, 1, 0, 0, 0], 5.0 / 9.0, 459.67 * 5.0 / 9.0),
    ("mol", [0, 0, 0, 0, 0, 1, 0, 0], 1.0, 0.0), ("cd", [0, 0, 0, 0, 0, 0, 1, 0], 1.0, 0.0),
    ("Hz", [0, 0, -1, 0, 0, 0, 0, 0], 1.0, 0.0), ("rpm", [0, 0, -1, 0, 0, 0, 0, 0], std::f64::consts::TAU / 60.0, 0.0), ("r/min", [0, 0, -1, 0, 0, 0, 0, 0], std::f64::consts::TAU / 60.0, 0.0), ("1/min", [0, 0, -1, 0, 0, 0, 0, 0], 1.0 / 60.0, 0.0),
    ("N", [1, 1, -2, 0, 0, 0, 0, 0], 1.0, 0.0), ("Nm", [1, 2, -2, 0, 0, 0, 0, 0], 1.0, 0.0),
    ("Pa", [1, -1, -2, 0, 0, 0, 0, 0], 1.0, 0.0), ("bar", [1, -1, -2, 0, 0, 0, 0, 0], 1e5, 0.0), ("atm", [1, -1, -2, 0, 0, 0, 0, 0], 101_325.0, 0.0), ("psi", [1, -1, -2, 0, 0, 0, 0, 0], 6_894.757_293_168_361, 0.0),
    ("J", [1, 2, -2, 0, 0, 0, 0, 0], 1.0, 0.0), ("Wh", [1, 2, -2, 0, 0, 0, 0, 0], 3600.0, 0.0), ("W", [1, 2, -3, 0, 0, 0, 0, 0], 1.0, 0.0), ("kWh", [1, 2, -2, 0, 0, 0, 0, 0], 3.6e6, 0.0),
    ("V", [1, 2, -3, -1, 0, 0, 0, 0], 1.0, 0.0), ("Ohm", [1, 2, -3, -2, 0, 0, 0, 0], 1.0, 0.0), ("F", [-1, -2, 4, 2, 0, 0, 0, 0], 1.0, 0.0), ("H", [1, 2, -2, -2, 0, 0, 0, 0], 1.0, 0.0),
    ("C", [0, 0, 1, 1, 0, 0, 0, 0], 1.0, 0.0), ("l", [0, 3, 0, 0, 0, 0, 0, 0], 1e-3, 0.0), ("ml", [0, 3, 0, 0, 0, 0, 0, 0], 1e-6, 0.0),
];

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn convert(from: &str, to: &str, value: f64) -> Option<f64> {
        Units::default().conversion(from, Some(to)).map(|conversion| conversion.of(value))
    }

    #[test]
    fn common_units_are_converted() {
        let cases = [
            ("degC", "K", 20.0, 293.15),
            ("K", "degC", 293.15, 20.0),
            ("°C", "degC", 20.0, 20.0),
            ("rpm", "rad/s", 60.0, std::f64::consts::TAU),
            ("mm", "m", 5.0, 0.005),
            ("bar", "Pa", 2.0, 2e5),
            ("kN.m", "N.m", 1.5, 1500.0),
            ("Nm", "N.m", 3.0, 3.0),
            ("km/h", "m/s", 36.0, 10.0),
            ("ms", "s", 5.0, 0.005),
            ("m/s²", "m/s2", 9.81, 9.81),
            ("%", "1", 50.0, 0.5),
            ("kW", "W", 2.0, 2000.0),
        ];
        for (from, to, value, expected) in cases {
            let found = convert(from, to, value).unwrap_or_else(|| panic!("{from} to {to}"));
            assert!((found - expected).abs() <= 1e-12 * expected.abs(), "{from} to {to}: {found}");
        }
    }

    #[test]
    fn what_measures_something_else_is_not_converted() {
        for (from, to) in [("V", "A"), ("m", "s"), ("furlong", "m"), ("m", "furlong"), ("degC", "Pa")] {
            assert_eq!(convert(from, to, 1.0), None, "{from} to {to}");
        }
        assert_eq!(convert("furlong", "furlong", 2.0), Some(2.0));
    }

    /// What the FMU defines counts first: its own rpm is a display unit of rad/s with a factor of its own.
    #[test]
    fn the_fmus_definitions_count_first() {
        use model_description::{BaseUnit, DisplayUnit};
        let unit = Unit {
            name: "rad/s".into(),
            base: Some(BaseUnit { exponents: [0, 0, -1, 0, 0, 0, 0, 1], factor: 1.0, offset: 0.0 }),
            displays: vec![DisplayUnit { name: "turns".into(), factor: 0.5, offset: 1.0 }],
        };
        let units = Units { defined: vec![unit] };
        assert_eq!(units.conversion("turns", Some("rad/s")).unwrap().of(2.0), 2.0);
        assert!(
            (units.conversion("rpm", Some("rad/s")).unwrap().of(60.0) - std::f64::consts::TAU).abs() < 1e-12
        );
    }
}
