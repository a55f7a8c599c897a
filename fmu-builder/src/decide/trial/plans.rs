//! Which plans are tried: masks with methods and policies, from the cheapest on, and not those that could not win.

use super::outcome::Outcome;
use super::{ABOVE_FRESH, Judge, PATIENCE, STEP, THRESHOLDS, Tried, judge, threshold};
use crate::analysis::Mask;
use crate::analysis::verdict::Verdict;
use crate::decide::candidates::Candidate;
use crate::decide::draft::{Cost, Draft, Shares};
use crate::options::{JacobianPolicy, WatchMode};
use crate::quantity::amplification;
use crate::warning::{Asked, Warning};
use fmu_runtime::plan::{Fallback, Method, Plan, Policy, Watch};

/// Errors within this factor of each other are the same.
const ALIKE: f64 = 1.05;

/// A plan that may be tried, with what it costs as long as the watch is silent.
struct Proposal {
    candidate: Candidate,
    plan: Plan,
    cost: Cost,
    fits: bool,
}

impl Proposal {
    fn judged(self, verdict: Verdict, in_need_of_time: bool) -> Tried {
        let Proposal { candidate, plan, cost, fits } = self;
        Tried { candidate, plan, cost, fits, verdict, outcome: None, failed: None, in_need_of_time }
    }
}

impl Judge<'_> {
    /// Policies that a mask is tried with, the preferred one first.
    fn policies(&self, method: Method, colours: usize, all: bool) -> Vec<Policy> {
        // Nothing varies: every policy is the frozen one.
        if colours == 0 {
            return vec![Policy::Frozen];
        }
        if !method.tableau().any_matrix {
            return vec![Policy::Every];
        }
        // One colour a step, two, four ...: how old a Jacobian may be the verdict and the run tell. All of them is every step.
        let doubled = std::iter::successors(Some(1u32), |per_step| per_step.checked_mul(2));
        let rolling = doubled
            .take_while(|&per_step| (per_step as usize) < colours.max(2))
            .map(|per_step| Policy::Rolling { per_step });
        let acts = self.options.watch == WatchMode::Act;
        match self.options.jacobian {
            JacobianPolicy::Every => vec![Policy::Every],
            JacobianPolicy::Rolling => rolling.collect(),
            JacobianPolicy::Frozen => vec![Policy::Frozen],
            JacobianPolicy::Watched => vec![Policy::Watched],
            JacobianPolicy::Auto if acts && !all => vec![Policy::Watched],
            JacobianPolicy::Auto => {
                // Of a single colour, one in each step is all of them in every step.
                let rolling = rolling.filter(|_| colours > 1);
                let watched = acts.then_some(Policy::Watched);
                let others = std::iter::once(Policy::Frozen).chain(rolling).chain([Policy::Every]);
                watched.into_iter().chain(others).collect()
            }
        }
    }

    /// Try these masks with these methods, from the cheapest on, but for those that could not win any more. `all`: with
    /// every policy, and without fallback and watch where there is no room for them.
    pub fn try_out(&mut self, candidates: &[Candidate], methods: &[Method], all: bool) {
        for proposal in self.proposals(candidates, methods, all) {
            let Proposal { cost, fits, .. } = &proposal;
            if !self.could_win(cost) || !fits && self.satisfied() || self.is_known_to_miss(&proposal) {
                continue;
            }
            if !proposal.candidate.mask.is_full() && !self.is_worth_dropping(cost) {
                let failed = Some("drops entries and would not save a third".into());
                self.tried
                    .push(Tried { failed, ..proposal.judged(Verdict::default(), self.in_need_of_time) });
                continue;
            }
            if self.spent > PATIENCE && self.has_run() {
                self.left_out += 1;
                continue;
            }
            self.spent += self.seconds(&proposal.plan, cost);
            self.try_plan(proposal);
        }
    }

    /// The same mask and method missed by the same error with an old Jacobian and with one that is renewed in every step, in
    /// part or whole: there its age does not matter. A frozen one and a watched one that nothing renewed are the same.
    fn is_known_to_miss(&self, proposal: &Proposal) -> bool {
        let same = |one: &&Tried| {
            one.plan.step.method == proposal.plan.step.method && one.candidate.mask == proposal.candidate.mask
        };
        let renewed = |one: &Tried| !matches!(one.plan.jacobian.policy, Policy::Frozen | Policy::Watched);
        if !self.tried.iter().filter(same).any(renewed) {
            return false;
        }
        let errors = self.tried.iter().filter(same).filter_map(|one| one.outcome.as_ref());
        let errors: Vec<f64> = errors.map(Outcome::worst).filter(|error| error.is_finite()).collect();
        let most = errors.iter().copied().fold(0.0, f64::max);
        let least = errors.iter().copied().fold(f64::INFINITY, f64::min);
        errors.len() > 1 && least > self.options.tolerance && most <= ALIKE * least
    }

    /// Plans that are new, the cheapest first.
    fn proposals(&self, candidates: &[Candidate], methods: &[Method], all: bool) -> Vec<Proposal> {
        let mut proposals = Vec::new();
        let everything = Draft::new(self.problem, &Mask::full(self.problem.n));
        for candidate in candidates {
            let draft = Draft::new(self.problem, &candidate.mask);
            for &method in methods {
                for policy in self.policies(method, draft.colours(), all) {
                    let fallback = || everything.fallback();
                    let (plan, cost) = self.variant(candidate, &draft, method, policy, fallback, all);
                    if self.tried.iter().any(|tried| tried.plan == plan) {
                        continue;
                    }
                    let fits = self.fits(&cost);
                    proposals.push(Proposal { candidate: candidate.clone(), plan, cost, fits });
                }
            }
        }
        let price = &self.problem.price;
        proposals.sort_by(|a, b| a.cost.seconds(price).total_cmp(&b.cost.seconds(price)));
        proposals
    }

    /// A plan with all that helps at run time, or, if `any` will do, with as much of it as there is room for.
    fn variant(
        &self,
        candidate: &Candidate,
        draft: &Draft,
        method: Method,
        policy: Policy,
        fallback: impl FnOnce() -> Fallback,
        any: bool,
    ) -> (Plan, Cost) {
        let watch = match self.options.watch {
            WatchMode::Off => None,
            _ if candidate.mask.is_full() => {
                Some(Watch { threshold: self.threshold, outside: self.outside, sums: true })
            }
            // What explicit rows leave is the method's own error: only what is far beyond it counts.
            _ => Some(Watch { threshold: THRESHOLDS[1], outside: THRESHOLDS[1], sums: false }),
        };
        let falls_back = self.options.watch == WatchMode::Act && !self.options.force;
        let fallback = (!candidate.mask.is_full() && falls_back).then(fallback);
        let whole = draft.plan(self.problem, method, policy, watch, fallback);
        let cost = draft.cost(&whole, Shares::default());
        if !any || self.fits(&cost) {
            return (whole, cost);
        }
        let less =
            [Plan { fallback: None, ..whole.clone() }, Plan { fallback: None, watch: None, ..whole.clone() }];
        let may = |plan: &Plan| plan.watch.is_some() || policy != Policy::Watched;
        let costed = less.into_iter().filter(may).map(|plan| {
            let cost = draft.cost(&plan, Shares::default());
            (plan, cost)
        });
        costed.into_iter().find(|(_, cost)| self.fits(cost)).unwrap_or((whole, cost))
    }

    /// What trying a plan of this cost takes on all runs, by its price.
    pub(super) fn seconds(&self, plan: &Plan, cost: &Cost) -> f64 {
        let steps: u64 = self.runs.iter().map(|run| run.steps * u64::from(plan.step.substeps)).sum();
        steps as f64 * (cost.seconds(&self.problem.price_here) + STEP)
    }

    fn try_plan(&mut self, proposal: Proposal) {
        let verdict = judge(self.problem, &proposal.candidate, &proposal.plan);
        let mut tried = proposal.judged(verdict, self.in_need_of_time);
        if let Some(failure) = &tried.verdict.failure {
            let why = format!(
                "not stable with a Jacobian as old as it gets: amplification {} at {:.3} of the step",
                amplification(failure.amplification),
                failure.length
            );
            let asked = self.options.jacobian != JacobianPolicy::Auto;
            if !self.options.force && !asked {
                tried.failed = Some(why);
                self.tried.push(tried);
                return;
            }
            tried.candidate.warning.get_or_insert(Warning::KeptUnstable { asked: Asked::Policy, why });
        }
        let mut ran = self.run(&tried);
        // Another method leaves a defect of another size: where one of a hundred steps of the given run lies outside the plan though the watch
        // was heard, what counts as outside is too tight for this one.
        if let (Ok((outcome, _)), Some(watch)) = (&ran, &mut tried.plan.watch) {
            let steps = self.runs.first().map_or(0, |run| run.steps);
            let wider = threshold(ABOVE_FRESH * outcome.simulated.defect);
            if outcome.simulated.outside * 100 > steps && wider > watch.outside {
                watch.outside = wider;
                ran = self.run(&tried);
            }
        }
        match ran {
            Ok((outcome, shares)) => {
                let draft = Draft::new(self.problem, &tried.candidate.mask);
                tried.cost = draft.cost(&tried.plan, shares);
                if !tried.fits {
                    let longer = "takes longer than the communication step";
                    let why = self.options.budget.map_or(longer, |_| "does not fit the budget");
                    tried.failed = Some(why.into());
                } else if !outcome.holds {
                    tried.failed = Some("misses the tolerance".into());
                }
                tried.outcome = Some(outcome);
            }
            Err(failed) => tried.failed = Some(failed),
        }
        self.tried.push(tried);
    }
}
