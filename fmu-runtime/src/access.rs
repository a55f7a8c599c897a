//! Value references: which exist, when they may be set, and the value that was set last.
//!
//! The last value is kept because setting costs: a discrete input or a parameter needs an excursion to Event
//! Mode, and even a continuous input makes many FMUs evaluate anew. Importers set every input at every
//! communication point, so a value that did not change is not set again.

use crate::plan::{Role, Table};

/// One base type's variables.
pub struct Access<T> {
    lookup: Lookup,
    roles: Vec<Role>,
    /// Last known value; `None` until it was read or set.
    pub values: Vec<Option<T>>,
    references: Vec<u32>,
}

/// Reference to index. Direct where references are dense, which they are with nearly all tools.
enum Lookup {
    Direct(Vec<u32>),
    Sorted(Vec<u32>),
}

const NONE: u32 = u32::MAX;

impl<T: Clone> Access<T> {
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
        Access { lookup, values: vec![None; roles.len()], roles, references }
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

    pub fn role(&self, index: usize) -> Role {
        self.roles[index]
    }

    /// References that can be set after initialisation, with their indices.
    pub fn settable(&self) -> impl Iterator<Item = (usize, u32)> + '_ {
        let all = self.references.iter().enumerate();
        all.filter(|&(index, _)| self.roles[index] != Role::Read)
            .map(|(index, &reference)| (index, reference))
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
}
