//! What is solved with what: the kept entries, and the states by their role.

use super::escape;
use super::text::grouped;
use crate::decide::Decision;
use crate::structure::{Pattern, draw};
use crate::summary::Summary;
use std::fmt::Write;

/// Names that are listed before the rest is counted.
const NAMES: usize = 60;

pub(super) fn structure(out: &mut String, summary: &Summary, decision: &Decision) {
    out.push_str("<section id=\"structure\">\n<h2>Structure</h2>\n");
    let (plan, names) = (&decision.plan, &decision.plan.states.names);
    let elimination = &plan.elimination;
    if names.is_empty() {
        out.push_str("<p>The model has no continuous states: there is nothing to solve.</p>\n</section>\n");
        return;
    }
    let kept = kept(decision);
    if summary.implicit_states == 0 {
        let _ = writeln!(
            out,
            "<p>No state is implicit: nothing is solved, and no entry of the Jacobian is needed.</p>"
        );
    } else {
        let _ = writeln!(
            out,
            "<p>Which derivative (row) is solved with which state (column): the kept entries in the model’s order, and in \
             the order in which a step solves them. Rows of a block are solved together; each block needs only those \
             before it. {} of the Jacobian are kept.</p>\n<div class=\"paper\">{}</div>",
            match (summary.kept_nonzeros, summary.nonzeros) {
                (kept, all) if kept == all => format!("All {} entries", grouped(all as u64)),
                (kept, all) => format!("{} of {} entries", grouped(kept as u64), grouped(all as u64)),
            },
            draw::svg("Kept entries of the Jacobian", &kept, elimination, names)
        );
    }
    let explicit = elimination.explicit as usize;
    let by_number = |states: &[u32]| {
        let mut states = states.to_vec();
        states.sort_unstable();
        states
    };
    let mut tears = Vec::new();
    let mut position = explicit;
    for block in &elimination.blocks {
        let end = position + block.size as usize;
        tears.extend_from_slice(&elimination.order[end - block.tears as usize..end]);
        position = end;
    }
    let mut list = |title: &str, states: &[u32], note: &str| {
        if !states.is_empty() {
            let _ = writeln!(
                out,
                "<div><h3>{title} ({})</h3>\n<p>{}</p>\n<p class=\"soft\">{note}</p></div>",
                states.len(),
                listed(states, names)
            );
        }
    };
    if summary.implicit_states > 0 {
        list(
            "Implicit states",
            &by_number(&elimination.order[explicit..]),
            "Fast for this step: their change is solved for, so that they stay stable.",
        );
    }
    list(
        "Explicit states",
        &by_number(&elimination.order[..explicit]),
        "Slow for this step: they move by their derivative alone, and the implicit ones see where to.",
    );
    list(
        "Tears",
        &tears,
        "Solved together as a small dense system; all others of their block follow by substitution.",
    );
    out.push_str("</section>\n");
}

/// The kept entries, as the plan has them.
fn kept(decision: &Decision) -> Pattern {
    let (jacobian, elimination) = (&decision.plan.jacobian, &decision.plan.elimination);
    let entries = elimination.entries.iter().chain(&elimination.outer).map(|&entry| entry as usize);
    let places = entries.map(|entry| (jacobian.rows[entry] as usize, jacobian.cols[entry] as usize));
    Pattern::varying(decision.plan.states.names.len(), places)
}

fn listed(states: &[u32], names: &[String]) -> String {
    let name = |state: &u32| names.get(*state as usize).map_or("?", String::as_str);
    let shown: Vec<String> =
        states.iter().take(NAMES).map(|state| format!("<code>{}</code>", escape(name(state)))).collect();
    match states.len() - shown.len() {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}
