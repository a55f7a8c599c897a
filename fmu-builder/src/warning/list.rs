//! Warnings in order of weight, whatever the order in which they were found.

use super::{Severity, Warning};
use serde::ser::{Serialize, SerializeStruct, Serializer};
use std::ops::Deref;

/// The most serious first; those of equal severity in the order of their kinds, those of one kind by their data.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Warnings(Vec<Warning>);

impl Warnings {
    pub fn new() -> Warnings {
        Warnings::default()
    }

    /// Put a warning to its place.
    pub fn add(&mut self, warning: Warning) {
        let weight = |warning: &Warning| warning.severity();
        let at = self.0.partition_point(|known| (weight(known), known) <= (weight(&warning), &warning));
        self.0.insert(at, warning);
    }

    /// Those that do not depend on the machine.
    pub fn unmeasured(&self) -> Warnings {
        self.0.iter().filter(|warning| !warning.is_measured()).cloned().collect()
    }

    /// For a terminal: the first ones, a line each.
    pub fn lines(&self) -> Vec<String> {
        const SHOWN: usize = 10;
        let mut lines: Vec<String> =
            self.0.iter().take(SHOWN).map(|warning| format!("warning: {warning}")).collect();
        if self.0.len() > SHOWN {
            lines.push(format!("and {} more (all in --json)", self.0.len() - SHOWN));
        }
        lines
    }
}

impl Deref for Warnings {
    type Target = [Warning];

    fn deref(&self) -> &[Warning] {
        &self.0
    }
}

impl Extend<Warning> for Warnings {
    fn extend<I: IntoIterator<Item = Warning>>(&mut self, warnings: I) {
        warnings.into_iter().for_each(|warning| self.add(warning));
    }
}

impl FromIterator<Warning> for Warnings {
    fn from_iter<I: IntoIterator<Item = Warning>>(warnings: I) -> Warnings {
        let mut list = Warnings::new();
        list.extend(warnings);
        list
    }
}

impl IntoIterator for Warnings {
    type Item = Warning;
    type IntoIter = std::vec::IntoIter<Warning>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// Two keys of the JSON object that it is flattened into: `warnings`, the sentences, and `warning_kinds`, what they are.
impl Serialize for Warnings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(serde::Serialize)]
        struct Kind {
            kind: &'static str,
            severity: Severity,
        }
        let sentences: Vec<String> = self.0.iter().map(Warning::to_string).collect();
        let kind = |warning: &Warning| Kind { kind: warning.kind(), severity: warning.severity() };
        let kinds: Vec<Kind> = self.0.iter().map(kind).collect();
        let mut keys = serializer.serialize_struct("Warnings", 2)?;
        keys.serialize_field("warnings", &sentences)?;
        keys.serialize_field("warning_kinds", &kinds)?;
        keys.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dropped(rho: f64) -> Warning {
        Warning::NothingToDrop { rho }
    }

    fn missed() -> Warning {
        Warning::PeakTolerance { peak: 0.2, tolerance: 0.1 }
    }

    fn repaired() -> Warning {
        Warning::Repairs(vec!["<Real>".into()])
    }

    /// Every order of finding leads to the same list.
    #[test]
    fn the_order_is_that_of_severity() {
        let wanted = [missed(), dropped(0.1), Warning::NoWatch, repaired()];
        for first in 0..4 {
            for second in 0..4 {
                let mut found = wanted.clone();
                found.swap(0, first);
                found.swap(1, second);
                assert_eq!(found.into_iter().collect::<Warnings>()[..], wanted);
            }
        }
    }

    #[test]
    fn a_terminal_shows_ten_warnings() {
        let warnings = |count: usize| (0..count).map(|i| dropped(i as f64)).collect::<Warnings>();
        assert_eq!(warnings(10).lines().len(), 10);
        let lines = warnings(13).lines();
        assert_eq!(
            (lines.len(), lines[0].as_str(), lines[10].as_str()),
            (11, "warning: with --rho 0 no entry can be dropped", "and 3 more (all in --json)")
        );
    }

    #[test]
    fn json_has_sentences_and_kinds() {
        let long = Warning::LongStep { seconds: 2e-4, share: 0.2 };
        let found: Warnings = [repaired(), long].into_iter().collect();
        let json = serde_json::to_value(found.unmeasured()).unwrap_or_default();
        assert_eq!(
            json,
            serde_json::json!({
                "warnings": ["<Real>"],
                "warning_kinds": [{"kind": "repairs", "severity": "note"}],
            })
        );
        assert_eq!(found.len(), 2);
    }
}
