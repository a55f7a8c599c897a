//! The matrix A of a step: which entries it has, how they are found, and the factors of I - γ h A.
//!
//! A plan has one; beside it, where entries were dropped, a fallback that keeps them all.

use crate::jacobian::Differentiator;
use crate::lu::{BadPivot, Balance, Factors};
use crate::method::Tableau;
use crate::plan::{Elimination, Jacobian, Plan, Policy};
use std::sync::Arc;

/// Copies share the entries and the colours, which never change.
#[derive(Clone)]
pub(super) struct Solver {
    pub policy: Policy,
    /// Colours that refresh the entries that vary.
    pub colours: usize,
    /// Entries of the Jacobian: the first so many of `Live::jacobian`.
    pub entries: usize,
    /// One for each γ of the method.
    pub factors: Vec<Factors>,
    pub differentiator: Differentiator,
    /// Kept entries as (row, column, entry).
    pub kept: Arc<[(u32, u32, u32)]>,
}

impl Solver {
    /// The plan's own, and its fallback's.
    pub fn all(plan: &Plan, tableau: &Tableau) -> Result<Vec<Solver>, String> {
        let own = Solver::new(plan, tableau, &plan.jacobian, &plan.elimination)?;
        let fallback = plan.fallback.as_ref();
        let fallback = fallback
            .map(|other| Solver::new(plan, tableau, &other.jacobian, &other.elimination))
            .transpose()?;
        Ok(std::iter::once(own).chain(fallback).collect())
    }

    fn new(
        plan: &Plan,
        tableau: &Tableau,
        jacobian: &Jacobian,
        elimination: &Elimination,
    ) -> Result<Solver, String> {
        let entries = elimination.entries.iter().chain(&elimination.outer);
        let place = |&e: &u32| (jacobian.rows[e as usize], jacobian.cols[e as usize], e);
        Ok(Solver {
            policy: jacobian.policy,
            colours: jacobian.colours.len(),
            entries: jacobian.rows.len(),
            factors: vec![Factors::new(elimination, jacobian)?; tableau.gammas.len()],
            differentiator: Differentiator::new(jacobian, &plan.states),
            kept: entries.map(place).collect(),
        })
    }

    /// A balance for each factorisation that knows nothing yet.
    pub fn balance(&self) -> Vec<Balance> {
        self.factors.iter().map(Factors::balance).collect()
    }

    /// Factor I - γ h A for each γ of the method.
    pub fn refactor(
        &mut self,
        tableau: &Tableau,
        h: f64,
        jacobian: &[f64],
        balance: &mut [Balance],
    ) -> Result<(), BadPivot> {
        for ((factors, balance), gamma) in self.factors.iter_mut().zip(balance).zip(&tableau.gammas) {
            factors.refactor(gamma * h, jacobian, balance)?;
        }
        Ok(())
    }
}
