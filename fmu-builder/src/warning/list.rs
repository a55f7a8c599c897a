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

    /// For a terminal: the first ones, a line each, and of one kind the first alone.
    pub fn lines(&self) -> Vec<String> {
        const SHOWN: usize = 10;
        let kinds: Vec<&[Warning]> = self.0.chunk_by(|a, b| a.kind() == b.kind()).collect();
        let line = |alike: &&[Warning]| match alike.len() - 1 {
            0 => format!("warning: {}", alike[0]),
            more => format!("warning: {} (and {more} more of this kind, all in --json)", alike[0]),
        };
        let mut lines: Vec<String> = kinds.iter().take(SHOWN).map(line).collect();
        let more: usize = kinds.iter().skip(SHOWN).map(|alike| alike.len()).sum();
        if more > 0 {
            lines.push(format!("and {more} more (all in --json)"));
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
    fn a_terminal_shows_ten_kinds_and_of_each_the_first() {
        let kinds = vec![
            missed(),
            dropped(0.1),
            Warning::NoWatch,
            repaired(),
            Warning::LongStep { seconds: 2e-4, share: 0.2 },
            Warning::EvaluationTimesVary { least: 1e-6, most: 1e-5 },
            Warning::ExploredError { error: 0.1 },
            Warning::PlansLeftOut { plans: 2, patience: 1.0 },
            Warning::Truncated { steps: 3 },
            Warning::CarriedEvents { steps: 1, most: 2 },
        ];
        let warnings = |all: &[Warning]| all.iter().cloned().collect::<Warnings>();
        assert_eq!(warnings(&kinds).lines().len(), 10);
        let more = [kinds, vec![Warning::Halted("no".into()), Warning::NoTwin { why: "no".into() }]].concat();
        assert_eq!(warnings(&more).lines()[10], "and 2 more (all in --json)");
        let alike: Vec<Warning> = (0..13).map(|i| dropped(f64::from(i))).collect();
        let expected =
            "warning: with --rho 0 no entry can be dropped (and 12 more of this kind, all in --json)";
        assert_eq!(warnings(&alike).lines(), [expected]);
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
