//! Value references: which exist, when they may be set, and the value that was set last.
//!
//! The last value is kept because setting costs: a discrete input or a parameter needs an excursion to Event
//! Mode, and even a continuous input makes many FMUs evaluate anew. Importers set every input at every
//! communication point, so a value that did not change is not set again.

use crate::integrator::Changes;
use crate::plan::{Role, Table};
use crate::value::Element;

/// One type's variables.
pub struct Access<T> {
    lookup: Lookup,
    roles: Vec<Role>,
    /// Last known value; `None` until it was read or set.
    pub values: Vec<Option<T>>,
    references: Vec<u32>,
    /// Values on their way to the model.
    batch: Batch<T>,
}

struct Batch<T> {
    references: Vec<u32>,
    values: Vec<T>,
}

/// Reference to index. Direct where references are dense, which they are with nearly all tools.
enum Lookup {
    Direct(Vec<u32>),
    Sorted(Vec<u32>),
}

/// Why values may not be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Objection {
    Unknown {
        reference: u32,
    },
    /// After initialisation only inputs and tunable parameters may be set.
    ReadOnly {
        reference: u32,
    },
}

const NONE: u32 = u32::MAX;

impl<T: Element> Access<T> {
    pub fn new(table: &Table) -> Access<T> {
        let references = table.references.clone();
        let lookup = match references.last() {
            Some(&last) if (last as usize) < 16 * references.len() + 4096 => {
                let mut direct = vec![NONE; last as usize + 1];
                for (i, &reference) in references.iter().enumerate() {
                    direct[reference as usize] = i as u32;
                }
                Lookup::Direct(direct)
            }
            _ => Lookup::Sorted(references.clone()),
        };
        let roles: Vec<Role> =
            table.roles.bytes().map(|letter| Role::from_letter(letter).unwrap_or(Role::Read)).collect();
        let batch = Batch { references: Vec::new(), values: Vec::new() };
        Access { lookup, values: vec![None; roles.len()], roles, references, batch }
    }

    /// The index of a value reference.
    #[inline]
    pub fn find(&self, reference: u32) -> Option<usize> {
        match &self.lookup {
            Lookup::Direct(direct) => {
                direct.get(reference as usize).filter(|&&index| index != NONE).map(|&index| index as usize)
            }
            Lookup::Sorted(references) => references.binary_search(&reference).ok(),
        }
    }

    #[inline]
    pub fn contains(&self, reference: u32) -> bool {
        self.find(reference).is_some()
    }

    /// `None` where there is no such variable.
    pub fn role(&self, reference: u32) -> Option<Role> {
        self.find(reference).map(|index| self.roles[index])
    }

    /// The last known value.
    #[inline]
    pub fn value(&self, reference: u32) -> Option<&T> {
        self.values[self.find(reference)?].as_ref()
    }

    /// From now on this is the last known value.
    #[inline]
    pub fn note(&mut self, reference: u32, value: T) {
        if let Some(index) = self.find(reference) {
            self.values[index] = Some(value);
        }
    }

    /// Whether all of them may be set: all or nothing.
    pub fn judge(&self, references: &[u32], running: bool) -> Result<(), Objection> {
        for &reference in references {
            match self.role(reference) {
                None => return Err(Objection::Unknown { reference }),
                Some(Role::Read) if running => return Err(Objection::ReadOnly { reference }),
                Some(_) => {}
            }
        }
        Ok(())
    }

    /// Put those values into the batch that the model does not have yet; while it does not run yet, all of them. Says what
    /// they change, or nothing for an empty batch.
    pub fn collect(&mut self, references: &[u32], values: &[T], running: bool) -> Option<Changes> {
        self.batch.references.clear();
        self.batch.values.clear();
        let mut changes = Changes::default();
        for (&reference, value) in references.iter().zip(values) {
            let Some(index) = self.find(reference) else { continue };
            if running && self.values[index].as_ref().is_some_and(|old| old.is_same(value)) {
                continue;
            }
            // Known again once the model has taken it: a refused value must not count as set.
            self.values[index] = None;
            match self.roles[index] {
                Role::ContinuousInput => changes.continuous = true,
                Role::Tunable => (changes.event, changes.tunable) = (true, true),
                _ => changes.event = true,
            }
            self.batch.references.push(reference);
            self.batch.values.push(value.clone());
        }
        (!self.batch.references.is_empty()).then_some(changes)
    }

    pub fn batch(&self) -> (&[u32], &[T]) {
        (&self.batch.references, &self.batch.values)
    }

    /// Read what can be set after initialisation.
    pub fn read(&mut self, mut read: impl FnMut(u32) -> Option<T>) {
        for ((value, role), &reference) in self.values.iter_mut().zip(&self.roles).zip(&self.references) {
            if *role != Role::Read {
                *value = read(reference);
            }
        }
    }

    /// Nothing is known about any value.
    pub fn forget(&mut self) {
        self.values.fill(None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Dense, sparse and huge references are found, their neighbours are not.
    #[test]
    fn finds_exactly_the_references_of_the_table() {
        for references in
            [vec![], vec![0, 1, 2], vec![7, 300, 4000], vec![5, 1 << 30, u32::MAX - 1, u32::MAX]]
        {
            let table = Table { roles: "r".repeat(references.len()), references: references.clone() };
            let access = Access::<f64>::new(&table);
            for (index, &reference) in references.iter().enumerate() {
                assert_eq!(access.find(reference), Some(index));
                for other in [reference.wrapping_add(1), reference.wrapping_sub(1)] {
                    assert_eq!(access.find(other).is_some(), references.contains(&other), "{other}");
                }
            }
        }
    }

    /// A value that is known is not sent again, one that was sent is not known until the model took it.
    #[test]
    fn only_what_changed_is_sent() {
        let table = Table { references: vec![1, 2, 3], roles: "cdr".into() };
        let mut access = Access::<f64>::new(&table);
        let changed = |access: &mut Access<f64>, values: &[f64]| access.collect(&[1, 2], values, true);
        let both = Changes { continuous: true, event: true, tunable: false };
        assert_eq!(changed(&mut access, &[0.5, 0.0]), Some(both));
        assert_eq!(changed(&mut access, &[0.5, 0.0]), Some(both), "the model did not take them");
        access.note(1, 0.5);
        access.note(2, 0.0);
        assert_eq!(changed(&mut access, &[0.5, 0.0]), None);
        assert_eq!(changed(&mut access, &[0.5, -0.0]), Some(Changes { continuous: false, ..both }));
        assert_eq!(access.batch(), (&[2][..], &[-0.0][..]));
        assert_eq!(access.judge(&[1, 3], true), Err(Objection::ReadOnly { reference: 3 }));
        assert_eq!(access.judge(&[1, 3], false), Ok(()));
        assert_eq!(access.judge(&[4], false), Err(Objection::Unknown { reference: 4 }));
    }
}
