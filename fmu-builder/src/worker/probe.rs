//! Find the entries of the Jacobian by perturbing states and looking at which derivatives move.
//!
//! States are perturbed one by one or, in a large model with a declared structure, in groups that should not meet.
//! What is declared is checked, what is not declared is found.

use super::scales;
use super::session::{Session, said};
use crate::findings::{Declared, StructureFound};
use crate::structure::{Pattern, Variation};
use fmu_runtime::plan::Colour;
use std::collections::BTreeMap;

/// Up to here every column is perturbed by itself; larger declared structures are checked by colours.
pub const ONE_BY_ONE: usize = 600;

/// Slopes and values below this are rounding of nothing: denormal numbers look like dependencies.
pub const FLOOR: f64 = f64::MIN_POSITIVE / f64::EPSILON;

/// Jacobian entries of one point, by place.
pub type Entries = BTreeMap<(u32, u32), f64>;

pub struct Point {
    pub time: f64,
    pub x: Vec<f64>,
    pub derivatives: Vec<f64>,
    pub entries: Entries,
    /// What rounding alone can do to an entry.
    pub noise: BTreeMap<(u32, u32), f64>,
    /// What it can do to each derivative, and how far each state was moved: the noise of entries that were not seen.
    pub rounding: Vec<f64>,
    pub moved: Vec<f64>,
    /// On the run, or thrown beside it.
    pub on_run: bool,
    /// Which discrete mode the model was in: the events before.
    pub regime: u64,
}

/// Finds entries by perturbing states.
pub struct Prober {
    scale: Vec<f64>,
    declared: Vec<Declared>,
    /// Columns to perturb together: by themselves, or by the colours of a large declared structure.
    groups: Vec<Colour>,
    /// (row, column) of the entries that colours refer to.
    places: Vec<(u32, u32)>,
    one_by_one: bool,
    /// Rows that moved in a group although nothing in it is declared for them.
    strays: Vec<(u32, u32)>,
}

impl Prober {
    /// `scale`: of each state.
    pub fn new(scale: Vec<f64>, declared: &[Declared]) -> Prober {
        let n = scale.len();
        let complete = declared.iter().all(Option::is_some);
        let one_by_one = n <= ONE_BY_ONE || !complete;
        let mut places = Vec::new();
        let groups = if one_by_one {
            let single = |column| Colour { columns: vec![column], ..Colour::default() };
            (0..n as u32).map(single).collect()
        } else {
            let pattern = declared_pattern(declared);
            places = pattern.places().map(|(row, col)| (row as u32, col as u32)).collect();
            let (all, none) = (vec![true; pattern.len()], vec![false; pattern.len()]);
            crate::structure::colour(&pattern, &all, &none, &none)
        };
        Prober { scale, declared: declared.to_vec(), groups, places, one_by_one, strays: Vec::new() }
    }

    pub fn scales(&self) -> &[f64] {
        &self.scale
    }

    /// Evaluations per point.
    pub fn cost(&self) -> usize {
        self.groups.len() + 2
    }

    /// All entries where the session stands.
    pub fn probe(&mut self, session: &mut Session) -> Result<Point, String> {
        let (time, x) = (session.time, session.x.clone());
        self.probe_at(session, &x, true)?
            .ok_or_else(|| format!("the derivatives cannot be evaluated at t = {time}{}", said(&session.log)))
    }

    /// Entries at states thrown around the present ones, if the model is defined there. Deterministic. No state is thrown further
    /// than `reach` says: moving it may leave traces in a model that cannot save its state.
    pub fn probe_beside(
        &mut self,
        session: &mut Session,
        seed: u64,
        reach: impl Fn(usize) -> f64,
    ) -> Result<Option<Point>, String> {
        let mut random = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        let x = session.x.iter().zip(&self.scale).enumerate().map(|(i, (x, scale))| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            let share = (random >> 11) as f64 / (1u64 << 52) as f64 - 1.0;
            x + share * (0.03 * x.abs().max(*scale)).min(reach(i))
        });
        let x: Vec<f64> = x.collect();
        self.probe_at(session, &x, false)
    }

    fn probe_at(&mut self, session: &mut Session, x: &[f64], on_run: bool) -> Result<Option<Point>, String> {
        let n = x.len();
        let time = session.time;
        let mut base = vec![0.0; n];
        let mut f = vec![0.0; n];
        let mut entries = Entries::new();
        let mut noise = BTreeMap::new();
        // A number that is none tells as little as a refusal: it must not count as "nothing moved".
        let mut evaluate = |x: &[f64], f: &mut [f64]| {
            session.derivatives(time, x, false, f).is_usable() && f.iter().all(|f| f.is_finite())
        };
        if n > 0 && !evaluate(x, &mut base) {
            return Ok(None);
        }
        let mut shifted = x.to_vec();
        let mut unrest = vec![0.0; n];
        let (mut roundings, mut deltas) = (vec![0.0; n], vec![0.0; n]);
        for (g, group) in self.groups.iter().enumerate() {
            let mut usable = false;
            for sign in [1.0, -1.0] {
                for &j in &group.columns {
                    let j = j as usize;
                    shifted[j] = x[j] + sign * f64::EPSILON.sqrt() * x[j].abs().max(self.scale[j]);
                }
                usable = evaluate(&shifted, &mut f);
                if usable {
                    break;
                }
            }
            if !usable {
                return Ok(None);
            }
            // A model with solvers of its own does not come back to exactly the same derivatives: that much
            // movement means nothing.
            if g == 0 {
                unrest = scales::unrest(x, &shifted, &base, |x| {
                    let mut f = vec![0.0; n];
                    evaluate(x, &mut f).then_some(f)
                });
            }
            let delta = |j: usize| shifted[j] - x[j];
            let moved = |i: usize| (f[i] - base[i]).abs() > unrest[i].max(1e-15 * base[i].abs()).max(FLOOR);
            let rounding = |i: usize| f64::EPSILON * f[i].abs().max(base[i].abs()) + unrest[i];
            roundings.iter_mut().enumerate().for_each(|(i, known)| *known = f64::max(*known, rounding(i)));
            group.columns.iter().for_each(|&j| deltas[j as usize] = delta(j as usize).abs());
            if self.one_by_one {
                let j = group.columns[0] as usize;
                for i in (0..n).filter(|&i| moved(i)) {
                    entries.insert((i as u32, j as u32), (f[i] - base[i]) / delta(j));
                    noise.insert((i as u32, j as u32), rounding(i) / delta(j).abs());
                }
            } else {
                let mut expected = vec![false; n];
                for &entry in &group.entries {
                    let (row, column) = self.places[entry as usize];
                    let (i, j) = (row as usize, column as usize);
                    expected[i] = true;
                    entries.insert((row, column), (f[i] - base[i]) / delta(j));
                    noise.insert((row, column), rounding(i) / delta(j).abs());
                }
                for i in (0..n).filter(|&i| moved(i) && !expected[i]) {
                    // Which column of the group it was is not known: all of them get the entry.
                    self.strays.extend(group.columns.iter().map(|&column| (i as u32, column)));
                }
            }
            for &j in &group.columns {
                shifted[j as usize] = x[j as usize];
            }
        }
        let (x, rounding, moved) = (x.to_vec(), roundings, deltas);
        let (derivatives, regime) = (base, 0);
        Ok(Some(Point { time, x, derivatives, entries, noise, rounding, moved, on_run, regime }))
    }

    /// Declared and found entries together.
    pub fn pattern(&self, points: &[Point]) -> Pattern {
        let declared = declared_entries(&self.declared);
        let found = points.iter().flat_map(|point| point.entries.keys().copied());
        let strays = self.strays.iter().copied();
        Pattern::new(
            self.declared.len(),
            declared
                .into_iter()
                .chain(found.chain(strays).map(|(row, col)| {
                    let (row, col) = (row as usize, col as usize);
                    (row, col, self.declared_constant(row, col))
                }))
                .map(|(row, col, constant)| {
                    (row, col, if constant { Variation::Constant } else { Variation::Varying })
                }),
        )
    }

    fn declared_constant(&self, row: usize, col: usize) -> bool {
        let declared = self.declared[row].as_ref();
        declared.is_some_and(|row| row.iter().any(|&(column, constant)| column as usize == col && constant))
    }

    /// Compare the points with the declaration: entries that it denies, and which entries are constant.
    pub fn verdict(&self, pattern: &Pattern, points: &[Point]) -> (StructureFound, Vec<(u32, u32, bool)>) {
        let mut found = StructureFound {
            undeclared: self.declared.iter().filter(|row| row.is_none()).count(),
            ..StructureFound::default()
        };
        let mut entries = Vec::with_capacity(pattern.len());
        for (entry, (row, col)) in pattern.places().enumerate() {
            let place = (row as u32, col as u32);
            let listed = self.declared[row].as_ref();
            if listed.is_some_and(|listed| !listed.iter().any(|&(column, _)| column as usize == col)) {
                found.undeclared_entries.push(place);
            }
            let values = || points.iter().map(|point| point.entries.get(&place).copied().unwrap_or(0.0));
            let low = values().fold(f64::INFINITY, f64::min);
            let high = values().fold(f64::NEG_INFINITY, f64::max);
            // Where a derivative is so large that rounding hides the entry, it counts as 0, known no better than that.
            let noise_at = |point: &Point| match point.noise.get(&place) {
                Some(noise) => *noise,
                None => point.rounding[row] / point.moved[col],
            };
            let noise = points.iter().map(noise_at).filter(|noise| noise.is_finite()).fold(0.0, f64::max);
            let size = low.abs().max(high.abs());
            let steady = high - low <= 20.0 * noise + 1e-6 * size;
            let declared = pattern.variation(entry) == Variation::Constant;
            if declared && high - low > 1e3 * noise + 0.01 * size {
                found.not_constant.push(place);
            }
            // Points thrown beside the run make it unlikely that only the run was steady.
            let enough = points.len() >= 6 && points.iter().any(|point| !point.on_run);
            entries.push((place.0, place.1, steady && (declared || enough)));
        }
        (found, entries)
    }
}

fn declared_entries(declared: &[Declared]) -> Vec<(usize, usize, bool)> {
    let rows = declared.iter().enumerate();
    rows.flat_map(|(row, columns)| {
        columns.iter().flatten().map(move |&(column, constant)| (row, column as usize, constant))
    })
    .collect()
}

fn declared_pattern(declared: &[Declared]) -> Pattern {
    let entries = declared_entries(declared);
    Pattern::varying(declared.len(), entries.into_iter().map(|(row, col, _)| (row, col)))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x' = 1e9 (u - x) of a state of 1e-9, declared constant. Without an input its slope is seen. With u = 1 the derivative is 1e9, rounded to 1e-7, and moving x by 1e-17
    /// changes nothing: that tells nothing of the slope. A slope that is seen to be another one is told.
    #[test]
    fn a_slope_that_rounding_hides_is_not_another_one() {
        let prober = Prober::new(vec![1e-9], &[Some(vec![(0, true)])]);
        let delta = 1.5e-17;
        let point = |slope: Option<f64>, f: f64| Point {
            time: 0.0,
            x: vec![1e-9],
            derivatives: vec![f],
            entries: slope.map(|slope| ((0, 0), slope)).into_iter().collect(),
            noise: slope.map(|_| ((0, 0), f64::EPSILON * f.abs() / delta)).into_iter().collect(),
            rounding: vec![f64::EPSILON * f.abs()],
            moved: vec![delta],
            on_run: true,
            regime: 0,
        };
        let judged = |points: &[Point]| prober.verdict(&prober.pattern(points), points).0.not_constant;
        let seen = || point(Some(-1e9), -1e-9);
        assert!(judged(&[seen(), point(None, 1e9), seen()]).is_empty());
        assert_eq!(judged(&[seen(), point(Some(-2e9), -1e-9)]), [(0, 0)]);
        assert_eq!(judged(&[seen(), point(None, 1e-9)]), [(0, 0)]);
    }
}
