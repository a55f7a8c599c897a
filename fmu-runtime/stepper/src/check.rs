//! Prove a plan once, so that the kernels need not doubt it: every index is in range, every length fits.
//!
//! What is checked is what `plan.rs` promises. One thing is left to [`Factors::new`](crate::lu::Factors::new):
//! whether the fill is complete, which costs as much as the elimination itself.

use crate::plan::{
    Accuracy, Array, Base, Colour, Elimination, ErrorSource, Inner, Interval, Jacobian, Plan, Policy, Role,
    States, Table, VERSION, Watch,
};

impl Plan {
    /// What is wrong with the plan, and where. Time and memory grow with the plan's size only.
    pub fn check(&self) -> Result<(), String> {
        if self.version != VERSION {
            return Err(format!(
                "the plan has version {}, this library reads version {VERSION}; build the FMU again",
                self.version
            ));
        }
        let identifier = &self.model.identifier;
        let plain = |c: char| !c.is_control() && !"/\\:*?\"<>|".contains(c);
        need(
            !identifier.is_empty() && !identifier.starts_with('.') && identifier.chars().all(plain),
            || {
                format!(
                    "model.identifier = {identifier:?} is not a plain name, and would lead out of the FMU"
                )
            },
        )?;
        let step = &self.step;
        need(step.h.is_finite() && step.h > 0.0, || format!("step.h = {} is not a positive number", step.h))?;
        need(step.substeps >= 1, || "step.substeps is 0".into())?;
        bounds(self)?;
        let exact = self.jacobian.policy == Policy::Every || self.jacobian.colours.is_empty();
        need(exact || step.method.tableau().any_matrix, || {
            format!("step.method {} needs a Jacobian that is fresh in every step", step.method.name())
        })?;
        need(step.limit > 0.0, || format!("step.limit = {} is not a positive number", step.limit))?;
        if let Some(Watch { threshold, outside, .. }) = self.watch {
            need(threshold > 0.0 && outside >= threshold, || {
                format!("watch.threshold = {threshold} and watch.outside = {outside} do not ascend from 0")
            })?;
        }
        need(self.watch.is_some() || self.jacobian.policy != Policy::Watched, || {
            "jacobian.policy is watched, but there is no watch".into()
        })?;
        states(&self.states)?;
        let n = self.states.names.len();
        jacobian(&self.jacobian, n)?;
        elimination(&self.elimination, &self.jacobian, n)?;
        if let Some(fallback) = &self.fallback {
            let of_fallback = |error: String| format!("fallback: {error}");
            jacobian(&fallback.jacobian, n).map_err(of_fallback)?;
            elimination(&fallback.elimination, &fallback.jacobian, n).map_err(of_fallback)?;
        }
        let tables = [
            ("real", &self.variables.real),
            ("integer", &self.variables.integer),
            ("boolean", &self.variables.boolean),
            ("string", &self.variables.string),
        ];
        for (name, content) in tables {
            table(name, content)?;
        }
        if let Some(estimate) = &self.accuracy {
            accuracy(estimate, self)?;
        }
        if let Some(Inner { arrays: inner, clocks, .. }) = &self.inner {
            arrays("inner", inner, self, false)?;
            for (i, clock) in clocks.iter().enumerate() {
                let ticks = match clock.interval {
                    Interval::Constant(interval) => interval.is_finite() && interval > 0.0,
                    _ => true,
                };
                need(ticks && clock.shift.is_finite() && clock.shift >= 0.0, || {
                    format!("inner.clocks[{i}] has a shift or an interval that is no time")
                })?;
            }
        }
        if let Some(shell) = &self.shell {
            arrays("shell", shell, self, true)?;
        }
        for (i, diagnostic) in self.diagnostics.iter().enumerate() {
            let same = |other: &&crate::plan::Diagnostic| other.quantity == diagnostic.quantity;
            need(self.diagnostics[..i].iter().find(same).is_none(), || {
                format!("diagnostics[{i}]: {:?} is listed twice", diagnostic.quantity)
            })?;
        }
        Ok(())
    }
}

fn accuracy(accuracy: &Accuracy, plan: &Plan) -> Result<(), String> {
    let Accuracy { tolerance, claimed, share, bound, outputs, names, lows, highs, sizes, ranges, .. } =
        accuracy;
    let positive = |value: f64| value.is_finite() && value > 0.0;
    need(positive(*tolerance) && positive(*share) && bound >= share && claimed.is_finite(), || {
        format!(
            "accuracy: with a tolerance of {tolerance}, a share of {share}, a bound of {bound} and a claim of {claimed} nothing \
             can be measured"
        )
    })?;
    let quantities = if outputs.is_empty() { plan.states.names.len() } else { outputs.len() };
    let counts = [names.len(), lows.len(), highs.len(), sizes.len(), ranges.len()];
    need(counts == [quantities; 5], || {
        format!("accuracy has {counts:?} names, lows, highs, sizes and ranges for {quantities} quantities")
    })?;
    need(
        lows.iter().zip(highs).all(|(low, high)| low <= high && low.is_finite() && high.is_finite()),
        || "accuracy.lows and .highs do not ascend".into(),
    )?;
    need(ranges.iter().chain(sizes).all(|range| range.is_finite() && *range >= 0.0), || {
        "accuracy.ranges or .sizes has one that is no length".into()
    })?;
    let known = |references: &[u32], table: &Table| {
        references.iter().all(|reference| table.references.binary_search(reference).is_ok())
    };
    let variables = &plan.variables;
    need(
        known(outputs, &variables.real)
            && known(&accuracy.integers, &variables.integer)
            && known(&accuracy.booleans, &variables.boolean)
            && known(&accuracy.strings, &variables.string),
        || "accuracy names a value reference that the model does not have".into(),
    )?;
    need(accuracy.source != ErrorSource::Carried || outputs.is_empty(), || {
        "accuracy.outputs are compared, but the error that is carried is the states'".into()
    })?;
    need(accuracy.source != ErrorSource::Twin || plan.step.substeps.is_multiple_of(2), || {
        format!("step.substeps = {} cannot be halved for the twin", plan.step.substeps)
    })
}

/// Counts that memory or the length of a step grow with: larger than any build makes them, they can only be damage.
fn bounds(plan: &Plan) -> Result<(), String> {
    let events = &plan.events;
    let counts = [
        ("step.substeps", plan.step.substeps, 1_000_000),
        ("events.indicators", events.indicators, 10_000_000),
        ("events.bisections", events.bisections, 64),
        ("events.max_per_step", events.max_per_step, 1_000_000),
        ("events.max_iterations", events.max_iterations, 1_000_000),
    ];
    for (name, count, most) in counts {
        need(count <= most, || format!("{name} = {count} is more than {most}"))?;
    }
    Ok(())
}

fn need(holds: bool, message: impl FnOnce() -> String) -> Result<(), String> {
    if holds { Ok(()) } else { Err(message()) }
}

fn states(states: &States) -> Result<(), String> {
    let n = states.names.len();
    let lengths = [
        ("references", states.references.len()),
        ("derivative_references", states.derivative_references.len()),
    ];
    for (name, len) in lengths {
        need(len == n || len == 0, || format!("states.{name} has {len} elements for {n} states"))?;
    }
    for (name, list) in [("nominals", &states.nominals), ("sizes", &states.sizes)] {
        need(list.len() == n, || format!("states.{name} has {} elements for {n} states", list.len()))?;
        for (i, &value) in list.iter().enumerate() {
            need(value.is_finite() && value > 0.0, || {
                format!("states.{name}[{i}] = {value} is not a positive number")
            })?;
        }
    }
    Ok(())
}

fn table(name: &str, table: &Table) -> Result<(), String> {
    need(table.references.len() == table.roles.len(), || {
        format!("variables.{name} has {} references and {} roles", table.references.len(), table.roles.len())
    })?;
    for (i, pair) in table.references.windows(2).enumerate() {
        need(pair[0] < pair[1], || {
            format!("variables.{name}.references[{}] = {} does not ascend", i + 1, pair[1])
        })?;
    }
    for (i, letter) in table.roles.bytes().enumerate() {
        need(Role::from_letter(letter).is_some(), || {
            format!("variables.{name}.roles[{i}] is '{}', not one of r, t, d, c", letter as char)
        })?;
    }
    Ok(())
}

/// Ascending references, and scalars that the model has; `ours`: or that are our own.
fn arrays(name: &str, arrays: &[Array], plan: &Plan, ours: bool) -> Result<(), String> {
    for (i, pair) in arrays.windows(2).enumerate() {
        need(pair[0].reference < pair[1].reference, || {
            format!("{name}[{}].reference = {} does not ascend", i + 1, pair[1].reference)
        })?;
    }
    for (i, array) in arrays.iter().enumerate() {
        let table = match array.kind.base() {
            Base::Real => &plan.variables.real,
            Base::Integer => &plan.variables.integer,
            Base::Boolean => &plan.variables.boolean,
            Base::String => &plan.variables.string,
        };
        // Ascending references that have all of a range have it in one piece.
        let Array { first, count, .. } = *array;
        let own = || ours && count == 1 && plan.diagnostics.iter().any(|it| it.reference == first);
        let at = table.references.partition_point(|&reference| reference < first);
        let last = first.checked_add(count.saturating_sub(1));
        let known = count == 0
            || table.references.get(at) == Some(&first)
                && last.is_some()
                && table.references.get(at + count as usize - 1).copied() == last;
        need(known || own(), || {
            format!("{name}[{i}]: {count} scalars from reference {first} on are not the model's")
        })?;
    }
    Ok(())
}

fn jacobian(jacobian: &Jacobian, n: usize) -> Result<(), String> {
    let Jacobian { rows, cols, policy, .. } = jacobian;
    need(rows.len() == cols.len(), || format!("jacobian has {} rows and {} cols", rows.len(), cols.len()))?;
    for (name, list) in [("rows", rows), ("cols", cols)] {
        if let Some(e) = list.iter().position(|&state| state as usize >= n) {
            return Err(format!("jacobian.{name}[{e}] = {} for {n} states", list[e]));
        }
    }
    let mut places: Vec<_> = rows.iter().zip(cols).collect();
    places.sort_unstable();
    if let Some(pair) = places.windows(2).find(|pair| pair[0] == pair[1]) {
        return Err(format!("jacobian has two entries for row {}, column {}", pair[0].0, pair[0].1));
    }
    if let Policy::Rolling { per_step } = *policy {
        need(per_step >= 1, || "jacobian.policy refreshes 0 colours in a step".into())?;
    }
    let set_up = colours("setup", &jacobian.setup, jacobian, n)?;
    if let Some(e) = set_up.iter().position(|&count| count == 0) {
        return Err(format!("jacobian.setup does not find entry {e}"));
    }
    colours("colours", &jacobian.colours, jacobian, n)?;
    Ok(())
}

/// How often each entry is found.
fn colours(name: &str, colours: &[Colour], jacobian: &Jacobian, n: usize) -> Result<Vec<u32>, String> {
    let Jacobian { rows, cols, .. } = jacobian;
    let entry = |c: usize, e: u32| {
        need((e as usize) < rows.len(), || format!("jacobian.{name}[{c}] names entry {e} of {}", rows.len()))
    };
    // Colour + 1 that last perturbed a column, used a row, found an entry.
    let (mut perturbed, mut used, mut found) = (vec![0; n], vec![0; n], vec![0; rows.len()]);
    let mut times = vec![0; rows.len()];
    for (c, colour) in colours.iter().enumerate() {
        for &column in &colour.columns {
            need((column as usize) < n, || format!("jacobian.{name}[{c}] perturbs state {column} of {n}"))?;
            need(perturbed[column as usize] != c + 1, || {
                format!("jacobian.{name}[{c}] perturbs state {column} twice")
            })?;
            perturbed[column as usize] = c + 1;
        }
        for &e in &colour.entries {
            entry(c, e)?;
            let (row, column) = (rows[e as usize] as usize, cols[e as usize] as usize);
            need(perturbed[column] == c + 1, || {
                format!("jacobian.{name}[{c}] finds entry {e} but does not perturb its column {column}")
            })?;
            need(used[row] != c + 1, || format!("jacobian.{name}[{c}] finds two entries of row {row}"))?;
            used[row] = c + 1;
            found[e as usize] = c + 1;
            times[e as usize] += 1;
        }
        for &(target, known) in &colour.known {
            entry(c, target)?;
            entry(c, known)?;
            need(found[target as usize] == c + 1, || {
                format!("jacobian.{name}[{c}] corrects entry {target}, which it does not find")
            })?;
            need(found[known as usize] != c + 1, || {
                format!("jacobian.{name}[{c}] subtracts entry {known}, which it finds itself")
            })?;
            let (row, column) = (rows[known as usize], cols[known as usize]);
            need(row == rows[target as usize], || {
                format!("jacobian.{name}[{c}] subtracts entry {known} from entry {target} of another row")
            })?;
            need(perturbed[column as usize] == c + 1, || {
                format!(
                    "jacobian.{name}[{c}] subtracts entry {known} but does not perturb its column {column}"
                )
            })?;
        }
        let mut pairs = colour.known.clone();
        pairs.sort_unstable();
        if let Some(pair) = pairs.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(format!("jacobian.{name}[{c}] subtracts entry {} twice", pair[0].1));
        }
    }
    Ok(times)
}

/// Everything about the order of solution but the completeness of its fill.
pub(crate) fn elimination(e: &Elimination, jacobian: &Jacobian, n: usize) -> Result<(), String> {
    need(e.order.len() == n, || format!("elimination.order has {} elements for {n} states", e.order.len()))?;
    // The position of each state.
    let mut position = vec![usize::MAX; n];
    for (p, &state) in e.order.iter().enumerate() {
        need((state as usize) < n, || format!("elimination.order[{p}] = {state} for {n} states"))?;
        need(position[state as usize] == usize::MAX, || {
            format!("elimination.order[{p}] names state {state} a second time")
        })?;
        position[state as usize] = p;
    }
    let explicit = e.explicit as usize;
    need(explicit <= n, || format!("elimination.explicit = {explicit} for {n} states"))?;
    let implicit = n - explicit;

    starts("row_start", &e.row_start, implicit, e.cols.len())?;
    starts("outer_start", &e.outer_start, implicit, e.outer.len())?;

    let mut first = explicit;
    // First position of each row's block, and the row of each slot.
    let mut block_start = vec![0; implicit];
    let mut row_of_slot = vec![0; e.cols.len()];
    for (b, block) in e.blocks.iter().enumerate() {
        let (size, tears) = (block.size as usize, block.tears as usize);
        need(size >= 1, || format!("elimination.blocks[{b}] is empty"))?;
        need(tears <= size, || format!("elimination.blocks[{b}] has {tears} tears in {size} states"))?;
        need(size <= n - first, || format!("elimination.blocks[{b}] ends after the last state"))?;
        let (core, end) = (first + size - tears, first + size);
        block_start[first - explicit..end - explicit].fill(first);
        for p in first..end {
            let range = e.row_start[p - explicit] as usize..e.row_start[p - explicit + 1] as usize;
            row_of_slot[range.clone()].fill(p);
            let columns = &e.cols[range];
            let own = |&c: &u32| (first..end).contains(&(c as usize));
            need(columns.iter().all(own), || {
                format!("elimination: row {p} has a column outside its block {first}..{end}")
            })?;
            need(columns.is_sorted_by(|a, b| a < b), || {
                format!("elimination: the columns of row {p} do not ascend")
            })?;
            need(columns.binary_search(&(p as u32)).is_ok(), || {
                format!("elimination: row {p} has no diagonal")
            })?;
            let inside = columns.len() - columns.partition_point(|&c| (c as usize) < core);
            need(p < core || inside == tears, || {
                format!("elimination: row {p} of a core has {inside} of its {tears} columns")
            })?;
        }
        first = end;
    }
    need(first == n, || format!("elimination.blocks cover {} of {implicit} states", first - explicit))?;

    let entries = jacobian.rows.len();
    need(e.entries.len() == e.slots.len(), || {
        format!("elimination has {} entries and {} slots", e.entries.len(), e.slots.len())
    })?;
    let mut taken = vec![false; e.cols.len()];
    for (i, (&entry, &slot)) in e.entries.iter().zip(&e.slots).enumerate() {
        need((entry as usize) < entries, || {
            format!("elimination.entries[{i}] = {entry} of {entries} entries")
        })?;
        need((slot as usize) < e.cols.len(), || {
            format!("elimination.slots[{i}] = {slot} of {} slots", e.cols.len())
        })?;
        let (row, column) = (
            position[jacobian.rows[entry as usize] as usize],
            position[jacobian.cols[entry as usize] as usize],
        );
        let (p, c) = (row_of_slot[slot as usize], e.cols[slot as usize] as usize);
        need((row, column) == (p, c), || {
            format!("elimination: entry {entry} at ({row}, {column}) goes to the slot of ({p}, {c})")
        })?;
        need(!taken[slot as usize], || format!("elimination: slot {slot} gets two entries"))?;
        taken[slot as usize] = true;
    }
    for p in explicit..n {
        let range = e.outer_start[p - explicit] as usize..e.outer_start[p - explicit + 1] as usize;
        for &entry in &e.outer[range] {
            need((entry as usize) < entries, || {
                format!("elimination.outer names entry {entry} of {entries} entries")
            })?;
            let (row, column) = (jacobian.rows[entry as usize], jacobian.cols[entry as usize]);
            need(position[row as usize] == p, || {
                format!("elimination.outer: entry {entry} is not in row {p}")
            })?;
            need(position[column as usize] < block_start[p - explicit], || {
                format!("elimination.outer: entry {entry} of row {p} does not come from an earlier block")
            })?;
        }
    }
    Ok(())
}

/// `list` is 0 = l0 <= l1 <= ... <= l_rows = total.
fn starts(name: &str, list: &[u32], rows: usize, total: usize) -> Result<(), String> {
    // No implicit rows: an empty list will do.
    if rows == 0 && list.is_empty() && total == 0 {
        return Ok(());
    }
    need(list.len() == rows + 1, || {
        format!("elimination.{name} has {} elements for {rows} rows", list.len())
    })?;
    let ends = list.first() == Some(&0) && list.last().is_some_and(|&last| last as usize == total);
    need(ends && list.is_sorted(), || format!("elimination.{name} does not ascend from 0 to {total}"))
}

#[cfg(test)]
mod tests {
    use crate::plan::*;

    /// Three states: 0 is explicit; 1 needs it; 1 and 2 are a block, 2 its core. Entry 4 is known and only subtracted.
    fn plan() -> Plan {
        let colour = |columns: &[u32], entries: &[u32], known: &[(u32, u32)]| Colour {
            columns: columns.to_vec(),
            entries: entries.to_vec(),
            known: known.to_vec(),
        };
        let table = Table { references: vec![2, 5, 9], roles: "rtc".into() };
        Plan {
            version: VERSION,
            model: Model {
                name: "m".into(),
                identifier: "m".into(),
                inner_guid: "a".into(),
                guid: "b".into(),
                log_categories: Vec::new(),
                can_get_and_set_state: true,
                can_serialize_state: true,
                provides_directional_derivative: true,
                instantiate_only_once: false,
                completed_step_needed: false,
                time_invariant: false,
                outputs_need_evaluation: false,
                writes_beyond: false,
            },
            step: Step { method: Method::Lie, h: 0.01, substeps: 2, limit: 0.01 },
            watch: None,
            fallback: None,
            states: States {
                names: vec!["x".into(), "y".into(), "z".into()],
                references: vec![1, 2, 3],
                derivative_references: vec![4, 5, 6],
                nominals: vec![1.0; 3],
                sizes: vec![1.0; 3],
            },
            variables: Variables { real: table, ..Variables::default() },
            jacobian: Jacobian {
                rows: vec![1, 1, 2, 2, 2],
                cols: vec![0, 2, 1, 2, 0],
                policy: Policy::Rolling { per_step: 1 },
                source: JacobianSource::Differences,
                setup: vec![colour(&[0], &[0, 4], &[]), colour(&[1], &[2], &[]), colour(&[2], &[1, 3], &[])],
                colours: vec![colour(&[0, 2], &[3], &[(3, 4)]), colour(&[0], &[0], &[])],
            },
            elimination: Elimination {
                order: vec![0, 1, 2],
                explicit: 1,
                blocks: vec![Block { size: 2, tears: 1 }],
                row_start: vec![0, 2, 4],
                cols: vec![1, 2, 1, 2],
                entries: vec![1, 2, 3],
                slots: vec![1, 2, 3],
                outer_start: vec![0, 1, 1],
                outer: vec![0],
            },
            events: Events {
                indicators: 0,
                bisections: 8,
                max_per_step: 2,
                max_iterations: 5,
                may_be_nan: false,
            },
            accuracy: None,
            diagnostics: vec![Diagnostic { quantity: Quantity::StepTime, reference: 7 }],
            inner: None,
            shell: None,
        }
    }

    #[test]
    fn a_valid_plan_passes() {
        assert_eq!(plan().check(), Ok(()));
    }

    /// One corruption each, and a word that the message must have.
    #[test]
    fn corruptions_are_caught() {
        type Corruption = (&'static str, fn(&mut Plan));
        let cases: &[Corruption] = &[
            ("version", |p| p.version = 1),
            ("step.h", |p| p.step.h = 0.0),
            ("step.h", |p| p.step.h = f64::NAN),
            ("step.h", |p| p.step.h = f64::INFINITY),
            ("substeps", |p| p.step.substeps = 0),
            ("step.substeps = 4", |p| p.step.substeps = u32::MAX),
            ("events.indicators", |p| p.events.indicators = u32::MAX),
            ("events.bisections", |p| p.events.bisections = 65),
            ("events.max_per_step", |p| p.events.max_per_step = u32::MAX),
            ("events.max_iterations", |p| p.events.max_iterations = u32::MAX),
            ("states.references", |p| p.states.references.truncate(1)),
            ("derivative_references", |p| p.states.derivative_references.push(1)),
            ("nominals has", |p| p.states.nominals.truncate(2)),
            ("nominals[1]", |p| p.states.nominals[1] = 0.0),
            ("nominals[2]", |p| p.states.nominals[2] = f64::NAN),
            ("roles", |p| p.variables.real.roles.push('r')),
            ("roles[0]", |p| p.variables.real.roles = "xrr".into()),
            ("does not ascend", |p| p.variables.real.references[1] = 2),
            ("rows and", |p| p.jacobian.rows.truncate(3)),
            ("jacobian.cols[1]", |p| p.jacobian.cols[1] = 3),
            ("two entries", |p| p.jacobian.cols[4] = 1),
            ("0 colours", |p| p.jacobian.policy = Policy::Rolling { per_step: 0 }),
            ("does not find entry 2", |p| p.jacobian.setup[1].entries.clear()),
            ("names entry 9", |p| p.jacobian.colours[0].entries[0] = 9),
            ("perturbs state 7", |p| p.jacobian.colours[0].columns[0] = 7),
            ("twice", |p| p.jacobian.colours[0].columns[1] = 0),
            ("does not perturb", |p| p.jacobian.colours[1].columns[0] = 1),
            ("two entries of row 2", |p| p.jacobian.setup[0].entries = vec![0, 4, 4]),
            ("which it does not find", |p| p.jacobian.colours[0].known = vec![(2, 4)]),
            ("another row", |p| p.jacobian.colours[0].known = vec![(3, 0)]),
            ("but does not perturb", |p| p.jacobian.colours[0].known = vec![(3, 2)]),
            ("finds itself", |p| p.jacobian.colours[0].known = vec![(3, 3)]),
            ("subtracts entry 4 twice", |p| p.jacobian.colours[0].known.push((3, 4))),
            ("names entry 8", |p| p.jacobian.colours[0].known = vec![(3, 8)]),
            ("order has", |p| p.elimination.order.truncate(2)),
            ("second time", |p| p.elimination.order[2] = 1),
            ("order[0]", |p| p.elimination.order[0] = 3),
            ("explicit", |p| p.elimination.explicit = 4),
            ("blocks[0] is empty", |p| p.elimination.blocks.insert(0, Block { size: 0, tears: 0 })),
            ("3 tears in 2", |p| p.elimination.blocks[0].tears = 3),
            ("after the last", |p| p.elimination.blocks[0].size = 3),
            ("cover 0 of 2", |p| p.elimination.blocks.clear()),
            ("row_start", |p| p.elimination.row_start[1] = 5),
            ("row_start has", |p| p.elimination.row_start.truncate(2)),
            ("row_start", |p| p.elimination.row_start[0] = 1),
            ("outer_start", |p| p.elimination.outer_start[2] = 0),
            ("outside its block", |p| p.elimination.cols[0] = 0),
            ("do not ascend", |p| p.elimination.cols.swap(0, 1)),
            ("no diagonal", |p| {
                p.elimination.row_start[1] = 1;
                p.elimination.cols = vec![2, 1, 2];
                p.elimination.row_start[2] = 3;
            }),
            ("of a core has 1", |p| {
                p.elimination.blocks[0].tears = 2;
                p.elimination.row_start = vec![0, 1, 3];
                p.elimination.cols = vec![1, 1, 2];
            }),
            ("entries and", |p| p.elimination.slots.truncate(1)),
            ("entries[0] = 9", |p| p.elimination.entries[0] = 9),
            ("slots[2] = 4", |p| p.elimination.slots[2] = 4),
            ("goes to the slot", |p| p.elimination.slots.swap(0, 1)),
            ("two entries", |p| {
                p.elimination.entries.push(3);
                p.elimination.slots.push(3);
            }),
            ("outer names", |p| p.elimination.outer[0] = 5),
            ("not in row", |p| p.elimination.outer[0] = 4),
            ("earlier block", |p| p.elimination.outer[0] = 1),
            ("listed twice", |p| p.diagnostics.push(p.diagnostics[0])),
        ];
        for (i, (word, corrupt)) in cases.iter().enumerate() {
            let mut plan = plan();
            corrupt(&mut plan);
            let message = plan.check().expect_err(&format!("corruption {i} ({word}) passes"));
            assert!(message.contains(word), "corruption {i}: \"{message}\" does not say \"{word}\"");
        }
    }

    /// No states, and states that are all explicit.
    #[test]
    fn empty_plans_pass() {
        let mut empty = plan();
        empty.states = States::default();
        empty.elimination = Elimination::default();
        (empty.jacobian.rows, empty.jacobian.cols) = (Vec::new(), Vec::new());
        (empty.jacobian.setup, empty.jacobian.colours) = (Vec::new(), Vec::new());
        assert_eq!(empty.check(), Ok(()));
        let mut explicit = Plan { states: plan().states, ..empty };
        explicit.elimination = Elimination { order: vec![2, 0, 1], explicit: 3, ..Elimination::default() };
        assert_eq!(explicit.check(), Ok(()));
    }
}
