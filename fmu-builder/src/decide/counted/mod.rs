//! What steps of a plan take, counted: the integrator that ships runs the plan's shadow over a model that answers as it is
//! told, and says what it did. There is no formula beside it that could be another one.
//!
//! | file | idea |
//! |---|---|
//! | `shadow` | the plan over a model of a single state |
//! | `adversary` | the model: quiet, or whatever makes a step take most |
//! | `mod` | runs both, and weighs what was counted |

mod adversary;
mod shadow;
#[cfg(test)]
mod tests;

use adversary::{Adversary, Script, Trials};
use fmu_runtime::integrator::{Changes, Counts, Integrator};
use fmu_runtime::lu::{self, Operations};
use fmu_runtime::plan::{Plan, Policy, Step, Watch};
pub use shadow::is_driven;
use shadow::{INPUT, shadow};

/// Counts steps of a plan.
pub struct Counter {
    /// The plan's shadow, and that of its twin.
    own: Plan,
    twin: Option<Plan>,
    driven: bool,
    /// What the parts of a count stand for in the plan itself.
    weights: Weights,
}

/// What one communication step takes, the twin's included.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Taken {
    /// Evaluations of the model, weighted: a directional derivative may cost less than an evaluation.
    pub evaluations: f64,
    /// Those of them that the watch asked for.
    pub watch: f64,
    /// The same as calls.
    pub calls: u64,
    pub indicators: u64,
    pub events: u64,
    pub operations: u64,
    /// The model was evaluated where the step ends.
    pub evaluated_end: bool,
}

impl Taken {
    /// The larger of each.
    fn most(self, other: Taken) -> Taken {
        Taken {
            evaluations: self.evaluations.max(other.evaluations),
            watch: self.watch.max(other.watch),
            calls: self.calls.max(other.calls),
            indicators: self.indicators.max(other.indicators),
            events: self.events.max(other.events),
            operations: self.operations.max(other.operations),
            evaluated_end: self.evaluated_end && other.evaluated_end,
        }
    }

    /// Together with what the twin takes meanwhile; the events are the same.
    fn with(self, twin: Taken) -> Taken {
        Taken {
            evaluations: self.evaluations + twin.evaluations,
            watch: self.watch + twin.watch,
            calls: self.calls + twin.calls,
            indicators: self.indicators + twin.indicators,
            operations: self.operations + twin.operations,
            ..self
        }
    }
}

/// Colours of the plan and of its fallback, and operations of their factors.
#[derive(Clone, Copy)]
struct Weights {
    setup: [u64; 2],
    per_step: u64,
    operations: [Operations; 2],
    /// Evaluations that a colour costs.
    per_colour: f64,
}

impl Weights {
    fn new(plan: &Plan, per_colour: f64) -> Weights {
        let own = lu::operations(&plan.elimination);
        let fallback = plan.fallback.as_ref();
        Weights {
            setup: [
                plan.jacobian.setup.len() as u64,
                fallback.map_or(0, |fallback| fallback.jacobian.setup.len() as u64),
            ],
            per_step: plan.jacobian.policy.per_step(plan.jacobian.colours.len()) as u64,
            operations: [own, fallback.map_or(own, |fallback| lu::operations(&fallback.elimination))],
            per_colour,
        }
    }

    /// What a shadow's counts stand for. Its Jacobian has one colour, or none.
    fn weigh(&self, counts: &Counts, evaluated_end: bool) -> Taken {
        let whole: u64 = counts.setups.iter().zip(&self.setup).map(|(times, colours)| times * colours).sum();
        let in_setups = counts.setups[0] * self.setup[0].min(1);
        let colours = whole + (counts.colours[0] - in_setups) * self.per_step;
        let stages = counts.stages + counts.watch + counts.ends;
        let operations = |solver: usize| {
            let of = &self.operations[solver];
            counts.solutions[solver] * of.solve
                + counts.factorisations[solver] * of.refactor
                + counts.balances[solver] * of.balance
        };
        Taken {
            evaluations: stages as f64 + colours as f64 * self.per_colour,
            watch: counts.watch as f64,
            calls: stages + colours,
            indicators: counts.indicators,
            events: counts.events,
            operations: operations(0) + operations(1),
            evaluated_end,
        }
    }
}

/// What the host does before each communication step.
#[derive(Clone, Copy, Debug, Default)]
struct Host {
    /// It sets continuous inputs.
    inputs: bool,
    /// And gives them slopes.
    slopes: bool,
    /// It sets parameters.
    parameters: bool,
    /// Its steps are a little shorter than the plan's.
    irregular: bool,
}

/// Communication steps that are looked at: the first ones know nothing of those before.
const STEPS: usize = 3;
/// A step of another length, in parts of the plan's.
const IRREGULAR: f64 = 1.0 - 1.0 / 1024.0;
/// Orders of state events and time events in an internal step.
const ORDERS: [u32; 6] = [0, !0, 0x5555_5555, 0xaaaa_aaaa, 1, !1];

impl Counter {
    /// `per_colour`: evaluations that a colour of the Jacobian costs.
    pub fn new(plan: &Plan, per_colour: f64) -> Counter {
        let own = shadow(plan);
        let twin = plan.has_twin().then(|| Plan {
            step: Step { h: 2.0 * own.step.h, substeps: own.step.substeps / 2, ..own.step.clone() },
            accuracy: None,
            ..own.clone()
        });
        Counter { own, twin, driven: is_driven(plan), weights: Weights::new(plan, per_colour) }
    }

    /// A step in which nothing happens: no events, A as good as it has to be. `inputs`: the host sets them, where there are
    /// any.
    pub fn quiet(&self, inputs: bool) -> Taken {
        let host = Host { inputs: inputs && self.driven, ..Host::default() };
        self.last(Script::QUIET, host, |plan| plan)
    }

    /// The same where the watch has each internal step done again with a new Jacobian; `None` where it does not.
    pub fn renewed(&self) -> Option<Taken> {
        let watch = self.own.watch.filter(|_| self.own.jacobian.policy == Policy::Watched)?;
        let host = Host { inputs: self.driven, ..Host::default() };
        let mild = |mut plan: Plan| {
            // Nothing but the watch: no step is drawn to lower order, none has a fallback.
            plan.watch = Some(Watch { sums: false, ..watch });
            (plan.step.limit, plan.fallback) = (f64::MAX, None);
            plan
        };
        Some(self.last(Script::WILD, host, mild))
    }

    /// The most that a step without events takes, but for the first one.
    pub fn worst_quiet(&self) -> Taken {
        let hosts = self.hosts().into_iter().filter(|host| !host.parameters);
        hosts.fold(Taken::default(), |most, host| most.most(self.most(Script::WILD, host, 1)))
    }

    /// The most that a step takes in which at most `events` are handled: all that the plan allows without a limit.
    pub fn worst(&self, events: Option<u32>) -> Taken {
        let most_per_step = self.own.events.max_per_step;
        let orders = if self.own.events.indicators == 0 { &ORDERS[1..2] } else { &ORDERS[..] };
        let trials = match self.own.events.indicators {
            0 => &[Trials::None][..],
            _ => &[Trials::Last, Trials::LastButOne, Trials::AllButFirst],
        };
        let asks = if self.own.model.completed_step_needed { &[false, true][..] } else { &[false] };
        // Only a plan with a twin takes in two what lies before a time event.
        let announced = (self.own.has_twin() && self.own.events.indicators > 0).then_some((0, true));
        let kinds = orders.iter().map(|&timed| (timed, false)).chain(announced);
        let mut scripts = Vec::new();
        for (timed, announces) in kinds {
            for (&trials, &asks) in trials.iter().flat_map(|trials| asks.iter().map(move |a| (trials, a))) {
                for events_per_step in [most_per_step, most_per_step.saturating_sub(1)] {
                    let events = events.unwrap_or(u32::MAX);
                    let wild = true;
                    scripts.push(Script { wild, events_per_step, events, timed, trials, announces, asks });
                }
            }
        }
        let hosts = self.hosts();
        let all = scripts.iter().flat_map(|script| hosts.iter().map(move |host| (script, host)));
        all.fold(self.worst_quiet(), |most, (script, host)| most.most(self.most(*script, *host, 0)))
    }

    /// What hosts may do.
    fn hosts(&self) -> Vec<Host> {
        let idle = Host::default();
        let inputs = Host { inputs: self.driven, ..idle };
        let slopes = Host { slopes: self.driven, irregular: true, ..inputs };
        let parameters = Host { parameters: true, ..idle };
        vec![idle, inputs, slopes, parameters, Host { parameters: true, ..slopes }]
    }

    /// The last of some steps, with both plans changed.
    fn last(&self, script: Script, host: Host, change: impl Fn(Plan) -> Plan) -> Taken {
        let of = |plan: &Plan, paired: bool| {
            let counted = steps(&change(plan.clone()), script, host, paired);
            counted.last().map(|(counts, end)| self.weights.weigh(counts, *end)).unwrap_or_default()
        };
        let own = of(&self.own, self.twin.is_some());
        self.twin.as_ref().map_or(own, |twin| own.with(of(twin, false)))
    }

    /// The most of some steps but the first `skipped`.
    fn most(&self, script: Script, host: Host, skipped: usize) -> Taken {
        let of = |plan: &Plan, paired: bool| {
            let counted = steps(plan, script, host, paired);
            let weighed = counted.iter().skip(skipped).map(|(counts, end)| self.weights.weigh(counts, *end));
            weighed.fold(Taken::default(), Taken::most)
        };
        let own = of(&self.own, self.twin.is_some());
        self.twin.as_ref().map_or(own, |twin| own.with(of(twin, false)))
    }
}

/// What some communication steps took, and whether the model was evaluated where each ended. `paired`: a twin takes one
/// internal step for two.
fn steps(plan: &Plan, script: Script, host: Host, paired: bool) -> Vec<(Counts, bool)> {
    let whole = plan.step.h * f64::from(plan.step.substeps);
    let length = if host.irregular { IRREGULAR * whole } else { whole };
    let model = Adversary::new(script, plan, length / f64::from(plan.step.substeps));
    let it = Integrator::new(plan.clone(), model);
    debug_assert!(it.is_ok(), "a shadow is a plan");
    let Ok(mut it) = it else { return Vec::new() };
    let mut counted = Vec::new();
    if it.start(0.0).is_err() {
        return counted;
    }
    for _ in 0..STEPS {
        it.model.begin_step();
        let changes = Changes { continuous: host.inputs, event: host.parameters, tunable: host.parameters };
        if it.change(changes, |_| ()).is_err() {
            break;
        }
        if host.slopes {
            it.set_slope(INPUT, 1.0);
        }
        if it.begin_slopes(|_| Some(0.0)).is_err() {
            break;
        }
        let division = if paired { it.divide_in_pairs(length).0 } else { it.divide(length) };
        let taken = it.advance(length, division).copied();
        it.end_slopes(|_, _| {});
        let Ok(counts) = taken else { break };
        counted.push((counts, it.model.evaluated));
    }
    counted
}
