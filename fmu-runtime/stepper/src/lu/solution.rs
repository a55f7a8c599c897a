//! The order of the solution. Its rows are few operations each, so that deciding what to do must not cost more than
//! doing it: rows with as many columns are taken together, in long runs.
//!
//! The elimination's own order changes from one kind of row to another all the time: the axes of a robot have
//! states of several kinds. But a row needs to wait only for the rows that finish its columns, and before it changes its
//! own unknown, for those that read the old value. Within these bounds we stay with one [`Class`] of rows as long as any
//! are ready. Each row does the same operations in the same order as ever, so not one bit of the solution depends on it.

use super::schedule::Core;
use std::collections::{BTreeMap, BTreeSet};

/// Rows of so many columns, or more, are one class and tell their number.
pub(super) const MANY: usize = 4;

#[derive(Clone, Debug, Default)]
pub(super) struct Solution {
    pub runs: Vec<Run>,
    /// For each row: the number of its columns if it is [`MANY`] or more, its state, where its values start, its columns.
    pub rows: Vec<u32>,
}

/// Rows of one class, as many as fill `len` elements of [`Solution::rows`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Run {
    pub class: Class,
    pub len: u32,
}

/// What is done alike. The number of columns is [`MANY`] for all from there on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    /// Take off the known unknowns, divide by the pivot: row of L.
    Forward(usize),
    /// Take off the known unknowns: what L has of a core's row.
    Reduce(usize),
    /// Take off the known unknowns: row of U.
    Backward(usize),
    Core(Core),
}

/// A row to substitute, or a core to solve.
#[derive(Debug)]
pub(super) struct Task {
    pub class: Class,
    /// Where its values start.
    pub at: u32,
    /// The unknowns that it changes: a row's one, a core's all.
    pub states: Vec<u32>,
    /// The unknowns that it takes off.
    pub columns: Vec<u32>,
}

impl Task {
    /// `class` is one that takes a number of columns.
    pub fn row(class: fn(usize) -> Class, state: u32, at: u32, columns: Vec<u32>) -> Task {
        Task { class: class(columns.len().min(MANY)), at, states: vec![state], columns }
    }

    pub fn core(core: Core, states: &[u32]) -> Task {
        Task { class: Class::Core(core), at: 0, states: states.to_vec(), columns: Vec::new() }
    }
}

impl Solution {
    /// The tasks are in an order in which they could be done; columns and states are below `n`.
    pub fn new(tasks: &[Task], n: usize) -> Solution {
        let followers = followers(tasks, n);
        let mut waits = vec![0; tasks.len()];
        followers.iter().flatten().for_each(|&next| waits[next] += 1);
        let mut ready: BTreeMap<Class, BTreeSet<usize>> = BTreeMap::new();
        for (i, task) in tasks.iter().enumerate().filter(|&(i, _)| waits[i] == 0) {
            ready.entry(task.class).or_default().insert(i);
        }
        let mut solution = Solution::default();
        // The class whose first task comes first.
        while let Some((&class, _)) = ready.iter().min_by_key(|(_, tasks)| tasks.first()) {
            let begin = solution.rows.len();
            while let Some(i) = ready.get_mut(&class).and_then(BTreeSet::pop_first) {
                solution.push(&tasks[i]);
                for &next in &followers[i] {
                    waits[next] -= 1;
                    if waits[next] == 0 {
                        ready.entry(tasks[next].class).or_default().insert(next);
                    }
                }
            }
            ready.remove(&class);
            solution.runs.push(Run { class, len: (solution.rows.len() - begin) as u32 });
        }
        solution
    }

    fn push(&mut self, task: &Task) {
        let &[state] = task.states.as_slice() else { return };
        if task.columns.len() >= MANY {
            self.rows.push(task.columns.len() as u32);
        }
        self.rows.extend([state, task.at]);
        self.rows.extend(&task.columns);
    }
}

/// For each task those that must wait for it: it changes what they read or change, or reads what they change.
fn followers(tasks: &[Task], n: usize) -> Vec<Vec<usize>> {
    let mut followers = vec![Vec::new(); tasks.len()];
    // For each unknown: the last task that changed it, and those that have read it since.
    let mut changed: Vec<Option<usize>> = vec![None; n];
    let mut read: Vec<Vec<usize>> = vec![Vec::new(); n];
    for (i, task) in tasks.iter().enumerate() {
        for &k in &task.columns {
            changed[k as usize].into_iter().for_each(|before| followers[before].push(i));
            read[k as usize].push(i);
        }
        for &state in &task.states {
            let before = changed[state as usize].replace(i).into_iter().chain(read[state as usize].drain(..));
            before.for_each(|before| followers[before].push(i));
        }
    }
    followers
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(tasks: &[Task]) -> Vec<Class> {
        Solution::new(tasks, 100).runs.iter().map(|run| run.class).collect()
    }

    /// Axes with rows of two kinds: as many runs for twenty as for two.
    #[test]
    fn axes_alike_are_taken_together() {
        for axes in [2, 20] {
            let axis = |i: u32| {
                let (q, v) = (2 * i, 2 * i + 1);
                [
                    Task::row(Class::Forward, q, 0, vec![]),
                    Task::row(Class::Forward, v, 0, vec![q]),
                    Task::row(Class::Backward, q, 0, vec![v]),
                ]
            };
            let tasks: Vec<Task> = (0..axes).flat_map(axis).collect();
            assert_eq!(kinds(&tasks), [Class::Forward(0), Class::Forward(1), Class::Backward(1)]);
        }
    }

    /// Row 0 is read by row 1 before it changes again: it must not go along with row 3, which nobody reads.
    #[test]
    fn what_is_still_to_be_read_does_not_change() {
        let tasks = [
            Task::row(Class::Forward, 0, 0, vec![]),
            Task::row(Class::Forward, 2, 0, vec![]),
            Task::row(Class::Backward, 3, 0, vec![2]),
            Task::row(Class::Forward, 1, 0, vec![0, 2]),
            Task::row(Class::Backward, 0, 0, vec![2]),
        ];
        let expected = [Class::Forward(0), Class::Backward(1), Class::Forward(2), Class::Backward(1)];
        assert_eq!(kinds(&tasks), expected);
    }
}
