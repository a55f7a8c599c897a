//! Input signals from a CSV file, with FMPy's meaning.
//!
//! The first row names the columns, `time` first, with a unit behind a name where there is one: `time [s],u [V]`. Commas, semicolons
//! or tabs separate them; with the latter two a number may have a decimal comma. Every other row holds the values at one time. Times do not
//! decrease, and a repeated time is a jump. Continuous variables are interpolated linearly, others hold the last
//! value; before the first row and after the last, the nearest one counts.
//!
//! FMPy (`simulation.py`, class `Input`) is followed except in two places. It takes times within a relative
//! 1e-9 for equal, which at t = 1e6 s is a millisecond; here it is 1e-12, enough for the rounding of t0 + k h.
//! And a jump at the very first time is a jump here, where FMPy keeps the value before it.

use crate::reading::{self, Patience};
use crate::units::{Conversion, Units};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A gigabyte of CSV is an hour of fifty signals every millisecond.
const PATIENCE: Patience =
    Patience { most: 1 << 30, writer: Duration::from_secs(10), silence: Duration::from_secs(60) };

/// The table; columns are counted from 0, without the time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InputTable {
    time: Vec<f64>,
    columns: Vec<Series>,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Series {
    name: String,
    cells: Cells,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Cells {
    Numbers(Vec<f64>),
    Text(Vec<String>),
}

impl InputTable {
    /// Read a table of numbers; `true` and `false` count as 1 and 0.
    pub fn read(path: &Path) -> Result<InputTable, InputError> {
        InputTable::read_with(path, |_| false)
    }

    /// Read a table in which the columns that `is_text` picks by name are kept as they are written:
    /// String variables, and columns that the model does not know.
    pub fn read_with(path: &Path, is_text: impl Fn(&str) -> bool) -> Result<InputTable, InputError> {
        Csv::read(path)?.table(is_text)
    }

    /// A table of signals that were not read from a file; `time` must not decrease, and every column has as many values.
    pub fn of_numbers(time: Vec<f64>, columns: Vec<(String, Vec<f64>)>) -> InputTable {
        debug_assert!(time.windows(2).all(|pair| pair[0] <= pair[1]));
        debug_assert!(columns.iter().all(|(_, values)| values.len() == time.len()));
        let columns = columns
            .into_iter()
            .map(|(name, values)| Series { name, cells: Cells::Numbers(values) })
            .collect();
        InputTable { time, columns }
    }

    /// The place of the column of this name.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|column| column.name == name)
    }

    /// Call a column by another name.
    pub fn rename(&mut self, column: usize, name: &str) {
        self.columns[column].name = name.into();
    }

    /// Convert the numbers of a column.
    pub fn convert(&mut self, column: usize, convert: impl Fn(f64) -> f64) {
        if let Cells::Numbers(values) = &mut self.columns[column].cells {
            values.iter_mut().for_each(|value| *value = convert(*value));
        }
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.columns.iter().map(|column| column.name.as_str())
    }

    /// The times of the rows, never decreasing and never empty.
    pub fn times(&self) -> &[f64] {
        &self.time
    }

    /// A continuous signal at `t`: interpolated; at a jump, the value after it.
    pub fn value_continuous(&self, column: usize, t: f64) -> f64 {
        let (time, values, t) = (&self.time, self.numbers(column), self.snap(t));
        let after = time.partition_point(|&row| row <= t);
        interpolate(time, values, after, t)
    }

    /// As [`value_continuous`](Self::value_continuous), but at a jump the value before it.
    pub fn value_before(&self, column: usize, t: f64) -> f64 {
        let (time, values, t) = (&self.time, self.numbers(column), self.snap(t));
        let after = time.partition_point(|&row| row < t);
        // Exactly on a row, that row is the left limit, the first of equals.
        if time.get(after) == Some(&t) { values[after] } else { interpolate(time, values, after, t) }
    }

    /// A held signal at `t`: the last value at or before it.
    pub fn value_held(&self, column: usize, t: f64) -> f64 {
        self.numbers(column)[self.row_at(t)]
    }

    /// The text at `t` of a column that was read as text; numbers are written out.
    pub fn text_held(&self, column: usize, t: f64) -> String {
        match &self.columns[column].cells {
            Cells::Text(cells) => cells[self.row_at(t)].clone(),
            Cells::Numbers(_) => self.value_held(column, t).to_string(),
        }
    }

    /// The times, ascending, at which an integrator must stop: where a time is repeated, and where one of the columns
    /// `held` changes.
    pub fn event_times(&self, held: &[usize]) -> Vec<f64> {
        self.times_where(|row| self.time[row] == self.time[row - 1] || self.changes(held, row))
    }

    /// The times, ascending, at which one of the columns `held` changes.
    pub fn change_times(&self, held: &[usize]) -> Vec<f64> {
        self.times_where(|row| self.changes(held, row))
    }

    fn times_where(&self, is_wanted: impl Fn(usize) -> bool) -> Vec<f64> {
        let rows = (1..self.time.len()).filter(|&row| is_wanted(row));
        let mut times: Vec<f64> = rows.map(|row| self.time[row]).collect();
        times.dedup();
        times
    }

    fn changes(&self, held: &[usize], row: usize) -> bool {
        held.iter().any(|&column| match &self.columns[column].cells {
            Cells::Numbers(v) => v[row] != v[row - 1],
            Cells::Text(v) => v[row] != v[row - 1],
        })
    }

    fn row_at(&self, t: f64) -> usize {
        let t = self.snap(t);
        self.time.partition_point(|&row| row <= t).saturating_sub(1)
    }

    /// Panics on a column that was read as text: only the caller chose it to be that.
    fn numbers(&self, column: usize) -> &[f64] {
        match &self.columns[column].cells {
            Cells::Numbers(values) => values,
            Cells::Text(_) => panic!("column {:?} was read as text", self.columns[column].name),
        }
    }

    /// The row time that `t` means. A master counts t0 + k h, which may miss the decimal number in the
    /// file by a rounding; a jump must not come one step late for that.
    fn snap(&self, t: f64) -> f64 {
        let next = self.time.partition_point(|&row| row < t);
        let near = |row: f64| (row - t).abs() <= 1e-12 * row.abs().max(t.abs());
        let candidates = [next.checked_sub(1), Some(next)];
        candidates
            .into_iter()
            .flatten()
            .filter_map(|at| self.time.get(at).copied())
            .filter(|&row| near(row))
            .min_by(|a, b| (a - t).abs().total_cmp(&(b - t).abs()))
            .unwrap_or(t)
    }
}

/// The text of a file, read once: a pipe gives its content only once.
pub struct Csv {
    path: PathBuf,
    text: String,
}

impl Csv {
    pub fn read(path: &Path) -> Result<Csv, InputError> {
        let in_file = |fault| InputError { path: path.into(), fault };
        let bytes = reading::read(path, &PATIENCE).map_err(|e| in_file(Fault::Unreadable(e.to_string())))?;
        let text = String::from_utf8(bytes)
            .map_err(|e| in_file(Fault::NotText { offset: e.utf8_error().valid_up_to() }))?;
        Ok(Csv { path: path.into(), text })
    }

    /// The columns that `is_text` picks by name are kept as they are written.
    pub fn table(&self, is_text: impl Fn(&str) -> bool) -> Result<InputTable, InputError> {
        parse(&self.text, is_text).map_err(|fault| InputError { path: self.path.clone(), fault })
    }
}

/// Between the rows `after - 1` and `after`; beyond the ends, the outermost value.
fn interpolate(time: &[f64], values: &[f64], after: usize, t: f64) -> f64 {
    if after == 0 {
        return values[0];
    }
    if after == time.len() {
        return values[after - 1];
    }
    if values[after - 1] == values[after] {
        return values[after]; // exactly, where the signal is held
    }
    let (t0, t1) = (time[after - 1], time[after]);
    let w0 = (t1 - t) / (t1 - t0);
    w0 * values[after - 1] + (1.0 - w0) * values[after]
}

/// Why a file of inputs was refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("{}{fault}", path.display())]
pub struct InputError {
    pub path: PathBuf,
    pub fault: Fault,
}

/// What is wrong, and where; lines count from 1.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum Fault {
    #[error(" cannot be read: {0}")]
    Unreadable(String),
    #[error(" is not text (byte {offset} is not UTF-8); save it as UTF-8 CSV")]
    NotText { offset: usize },
    #[error(" is empty; its first line must name the columns: time, then variables of the FMU")]
    Empty,
    #[error(" has a header but no rows; give at least one row of values")]
    NoRows,
    #[error(
        ", line {line}: the first column is {found:?}; it must be \"time\", and commas, semicolons or tabs must \
         separate the columns"
    )]
    NoTime { line: usize, found: String },
    #[error(", line {line}: column {column} has no name; name it after a variable of the FMU")]
    NoName { line: usize, column: usize },
    #[error(", line {line}: two columns are named {name:?}; remove one")]
    DuplicateColumn { line: usize, name: String },
    #[error(
        ", line {line}: {found} values where the header names {expected} columns; \
         write one value for each, with a decimal point, not a comma"
    )]
    Ragged { line: usize, found: usize, expected: usize },
    #[error(
        ", line {line}, column {column:?}: {found:?} is not a finite number; write one such as 0.5 or -1e-3"
    )]
    NotNumber { line: usize, column: String, found: String },
    #[error(
        ", line {line}: time goes back from {before} to {found}; sort the rows by time (an equal time is a jump)"
    )]
    TimeGoesBack { line: usize, before: f64, found: f64 },
    #[error(
        ", line {line}: the unit {found:?} of the time is none that is known; give it in s, ms, min or h"
    )]
    TimeUnit { line: usize, found: String },
    #[error(
        ": none of its columns ({columns}) is an input or a tunable parameter of the model, so that it drives nothing{near} \
         (its inputs: {inputs})"
    )]
    DrivesNothing { columns: String, near: String, inputs: String },
    #[error(", column {column:?}: {why}; give the values in that unit")]
    Unit { column: String, why: String },
    #[error(", line {line}: a quote is opened and not closed; close it on the same line")]
    OpenQuote { line: usize },
}

fn parse(text: &str, is_text: impl Fn(&str) -> bool) -> Result<InputTable, Fault> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text); // Excel's mark of UTF-8
    let mut lines = text.lines().enumerate().map(|(i, line)| (i + 1, line));
    let mut lines = lines.by_ref().filter(|(_, line)| !line.trim().is_empty());

    let (line, header) = lines.next().ok_or(Fault::Empty)?;
    // Whatever stands behind the time separates the columns.
    let mut separator = ',';
    for candidate in SEPARATORS {
        let first = cells(header, candidate).ok_or(Fault::OpenQuote { line })?.swap_remove(0);
        if is_time(&first) {
            separator = candidate;
            break;
        }
    }
    let names = cells(header, separator).ok_or(Fault::OpenQuote { line })?;
    if !is_time(&names[0]) {
        return Err(Fault::NoTime { line, found: shown(&names[0]) });
    }
    let clock = name_and_unit(&names[0]).1.unwrap_or("s");
    let clock = Units::default()
        .conversion(clock, Some("s"))
        .ok_or_else(|| Fault::TimeUnit { line, found: shown(clock) })?;
    let number = |cell: &str| match separator {
        ',' => number(cell),
        _ => number(&cell.replace(',', ".")),
    };
    let mut columns: Vec<Series> = Vec::new();
    let mut seen = HashSet::new();
    for (at, name) in names[1..].iter().enumerate() {
        if name.is_empty() {
            return Err(Fault::NoName { line, column: at + 2 });
        }
        if is_time(name) || !seen.insert(name) {
            return Err(Fault::DuplicateColumn { line, name: shown(name) });
        }
        let cells = if is_text(name) { Cells::Text(vec![]) } else { Cells::Numbers(vec![]) };
        columns.push(Series { name: name.clone(), cells });
    }

    let mut time: Vec<f64> = Vec::new();
    for (line, row) in lines {
        let row = cells(row, separator).ok_or(Fault::OpenQuote { line })?;
        if row.len() != names.len() {
            return Err(Fault::Ragged { line, found: row.len(), expected: names.len() });
        }
        let not_number =
            |column: &str, found: &str| Fault::NotNumber { line, column: shown(column), found: shown(found) };
        let found = number(&row[0]).ok_or_else(|| not_number(&names[0], &row[0]))?;
        let found = if clock == Conversion::NONE { found } else { clock.of(found) };
        if let Some(&before) = time.last()
            && found < before
        {
            return Err(Fault::TimeGoesBack { line, before, found });
        }
        time.push(found);
        for (column, cell) in columns.iter_mut().zip(row.into_iter().skip(1)) {
            match &mut column.cells {
                Cells::Text(cells) => cells.push(cell),
                Cells::Numbers(values) => {
                    let value = boolean(&cell).or_else(|| number(&cell));
                    values.push(value.ok_or_else(|| not_number(&column.name, &cell))?);
                }
            }
        }
    }
    if time.is_empty() { Err(Fault::NoRows) } else { Ok(InputTable { time, columns }) }
}

/// The cells of one line, trimmed; `None` if a quote stays open. A quote opens only at the start of
/// a cell, and a doubled one stands for itself. Not the `csv` crate: it takes a quote after a blank for text, and an open quote swallows
/// the rest of the file without an error.
fn cells(line: &str, separator: char) -> Option<Vec<String>> {
    let mut cells = Vec::new();
    let mut rest = line;
    let blank = |c: char| c.is_whitespace() && c != separator;
    loop {
        rest = rest.trim_start_matches(blank);
        let mut cell = String::new();
        if let Some(quoted) = rest.strip_prefix('"') {
            rest = quoted;
            loop {
                let end = rest.find('"')?;
                cell.push_str(&rest[..end]);
                rest = &rest[end + 1..];
                match rest.strip_prefix('"') {
                    Some(more) => {
                        cell.push('"');
                        rest = more;
                    }
                    None => break,
                }
            }
        }
        let end = rest.find(separator).unwrap_or(rest.len());
        cell.push_str(rest[..end].trim_end());
        cells.push(cell);
        match rest[end..].strip_prefix(separator) {
            Some(more) => rest = more,
            None => return Some(cells),
        }
    }
}

const SEPARATORS: [char; 3] = [',', ';', '\t'];

fn is_time(header: &str) -> bool {
    name_and_unit(header).0.eq_ignore_ascii_case("time")
}

/// A header `u [V]` or `u (V)` as `u` and `V`; without brackets at its end the name alone.
pub fn name_and_unit(header: &str) -> (&str, Option<&str>) {
    for (open, close) in [('[', ']'), ('(', ')')] {
        let parts = header.trim_end().strip_suffix(close).and_then(|rest| rest.rsplit_once(open));
        if let Some((name, unit)) = parts.filter(|(name, _)| !name.trim_end().is_empty()) {
            return (name.trim_end(), Some(unit.trim()));
        }
    }
    (header, None)
}

/// As much of a cell as a person wants to see of it: a file without commas is one cell.
fn shown(cell: &str) -> String {
    const ENOUGH: usize = 60;
    match cell.char_indices().nth(ENOUGH) {
        Some((end, _)) => format!("{}...", &cell[..end]),
        None => cell.into(),
    }
}

fn number(cell: &str) -> Option<f64> {
    cell.parse().ok().filter(|value: &f64| value.is_finite())
}

fn boolean(cell: &str) -> Option<f64> {
    if cell.eq_ignore_ascii_case("true") {
        Some(1.0)
    } else if cell.eq_ignore_ascii_case("false") {
        Some(0.0)
    } else {
        None
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs;

    fn table(text: &str) -> InputTable {
        parse(text, |_| false).unwrap()
    }

    fn fault(text: &str) -> Fault {
        parse(text, |_| false).unwrap_err()
    }

    #[test]
    fn headers_may_be_quoted_and_hold_commas() {
        let csv = "\u{feff}\"Time\", \"r[1,2]\" ,u,\"say \"\"x\"\"\"\r\n0,1,true,3\r\n\r\n1,2,FALSE,4\r\n";
        let table = table(csv);
        assert_eq!(table.names().collect::<Vec<_>>(), ["r[1,2]", "u", "say \"x\""]);
        assert_eq!(table.times(), [0.0, 1.0]);
        let u = table.column("u").unwrap();
        assert_eq!((table.value_held(u, 0.5), table.value_held(u, 1.0)), (1.0, 0.0));
        assert_eq!(table.column("U"), None);
    }

    /// What Excel writes where a comma is the decimal sign, what an oscilloscope writes, and a time in other units.
    #[test]
    fn semicolons_tabs_and_units_of_time_are_read() {
        let excel = table("time [s];u [V];r[1,2]\n0;0,5;1\n1,5;2,5;2\n");
        assert_eq!(excel.times(), [0.0, 1.5]);
        assert_eq!(excel.names().collect::<Vec<_>>(), ["u [V]", "r[1,2]"]);
        assert_eq!(excel.value_held(0, 1.5), 2.5);
        let scope = table("Time (ms)\tu\n0\t1\n20\t2\n");
        assert_eq!(scope.times(), [0.0, 0.02]);
        assert_eq!(scope.value_held(0, 0.02), 2.0);
        assert_eq!(table("time\tu\n0\t1\n").names().collect::<Vec<_>>(), ["u"]);
        let found = fault("time [fortnight],u\n0,1\n");
        assert_eq!(found, Fault::TimeUnit { line: 1, found: "fortnight".into() });
    }

    #[test]
    fn a_header_is_a_name_and_a_unit() {
        assert_eq!(name_and_unit("u [V]"), ("u", Some("V")));
        assert_eq!(name_and_unit("T(degC)"), ("T", Some("degC")));
        assert_eq!(name_and_unit("u"), ("u", None));
        assert_eq!(name_and_unit("[V]"), ("[V]", None));
    }

    #[test]
    fn text_is_kept_only_where_it_is_asked_for() {
        let csv = "time,s,x\n0,007,1\n1,\"a, b\",2\n";
        let table = parse(csv, |name| name == "s").unwrap();
        assert_eq!(table.text_held(0, 0.5), "007");
        assert_eq!(table.text_held(0, 1.0), "a, b");
        assert_eq!(table.event_times(&[0]), [1.0]);
        assert_eq!(fault(csv), Fault::NotNumber { line: 3, column: "s".into(), found: "a, b".into() });
    }

    /// The figures are those of FMPy 0.3's `Input.interpolate` on this table, with `after_event`
    /// true (right) and false (left).
    #[test]
    fn jumps_have_two_sides() {
        let table = table("time,u\n0,0\n1,10\n2,10\n2,-10\n4,-20\n");
        for (t, left, right, held) in [
            (-1.0, 0.0, 0.0, 0.0),
            (0.0, 0.0, 0.0, 0.0),
            (0.25, 2.5, 2.5, 0.0),
            (1.0, 10.0, 10.0, 10.0),
            (2.0, 10.0, -10.0, -10.0),
            (3.0, -15.0, -15.0, -10.0),
            (4.0, -20.0, -20.0, -20.0),
            (9.0, -20.0, -20.0, -20.0),
        ] {
            let got = (table.value_before(0, t), table.value_continuous(0, t), table.value_held(0, t));
            assert_eq!(got, (left, right, held), "t = {t}");
        }
    }

    #[test]
    fn a_rounding_does_not_delay_a_jump() {
        let table = table("time,u\n0,0\n0.3,0\n0.3,1\n0.7,1\n0.7,2\n1,2\n");
        let above: f64 = 0.1 + 0.2; // 0.30000000000000004
        let below: f64 = 0.7 - 1e-16; // one ulp early
        assert!(above > 0.3 && below < 0.7);
        assert_eq!((table.value_before(0, above), table.value_continuous(0, above)), (0.0, 1.0));
        assert_eq!((table.value_before(0, below), table.value_continuous(0, below)), (1.0, 2.0));
        assert_eq!(table.value_held(0, below), 2.0);
    }

    /// At large times the tolerance must not swallow the step.
    #[test]
    fn milliseconds_count_at_a_million_seconds() {
        let table = table("time,u\n1000000,0\n1000001,1\n");
        let value = table.value_continuous(0, 1_000_000.001);
        assert!((value - 0.001).abs() < 1e-9, "{value}");
    }

    #[test]
    fn repeated_times_collapse_to_the_outer_values() {
        let table = table("time,u\n0,1\n0,2\n1,2\n1,7\n1,8\n1,9\n");
        assert_eq!((table.value_before(0, 0.0), table.value_continuous(0, 0.0)), (1.0, 2.0));
        assert_eq!((table.value_before(0, 1.0), table.value_continuous(0, 1.0)), (2.0, 9.0));
        assert_eq!(table.event_times(&[]), [0.0, 1.0]);
    }

    #[test]
    fn events_are_jumps_and_changes_of_held_columns() {
        let table = table("time,u,k\n0,0,1\n1,1,1\n2,2,3\n3,3,3\n3,4,3\n4,5,4\n");
        assert_eq!(table.event_times(&[]), [3.0]);
        assert_eq!(table.event_times(&[1]), [2.0, 3.0, 4.0]);
        assert_eq!(table.event_times(&[0, 1]), [1.0, 2.0, 3.0, 4.0]);
    }

    #[test]
    fn one_row_is_a_constant() {
        let table = table("time,u\n5,3\n");
        for t in [-1.0, 5.0, 9.0] {
            assert_eq!(
                [table.value_continuous(0, t), table.value_before(0, t), table.value_held(0, t)],
                [3.0; 3]
            );
        }
        assert!(table.event_times(&[0]).is_empty());
    }

    #[test]
    fn faults_name_line_and_column() {
        let not_number = |line, column: &str, found: &str| Fault::NotNumber {
            line,
            column: column.into(),
            found: found.into(),
        };
        assert_eq!(fault(""), Fault::Empty);
        assert_eq!(fault("\n\n"), Fault::Empty);
        assert_eq!(fault("time,u\n"), Fault::NoRows);
        assert_eq!(fault("u,time\n0,1\n"), Fault::NoTime { line: 1, found: "u".into() });
        assert_eq!(fault("time|u\n0|1\n"), Fault::NoTime { line: 1, found: "time|u".into() });
        assert_eq!(fault("time,u,\n0,1,2\n"), Fault::NoName { line: 1, column: 3 });
        assert_eq!(fault("time,u,u\n0,1,2\n"), Fault::DuplicateColumn { line: 1, name: "u".into() });
        assert_eq!(fault("time,u\n0,1\n\n1\n"), Fault::Ragged { line: 4, found: 1, expected: 2 });
        assert_eq!(fault("time,u\n0,1,5\n"), Fault::Ragged { line: 2, found: 3, expected: 2 });
        assert_eq!(fault("time,u\n0,x\n"), not_number(2, "u", "x"));
        assert_eq!(fault("time,u\n0,\n"), not_number(2, "u", ""));
        assert_eq!(fault("time,u\n0,nan\n"), not_number(2, "u", "nan"));
        assert_eq!(fault("Time,u\ntrue,1\n"), not_number(2, "Time", "true"));
        assert_eq!(fault("time,u\ninf,1\n"), not_number(2, "time", "inf"));
        assert_eq!(
            fault("time,u\n0,1\n2,1\n1,1\n"),
            Fault::TimeGoesBack { line: 4, before: 2.0, found: 1.0 }
        );
        assert_eq!(fault("time,\"u\n0,1\n"), Fault::OpenQuote { line: 1 });
    }

    #[test]
    fn messages_say_where_and_what_to_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("in.csv");
        let message = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            InputTable::read(&path).unwrap_err().to_string()
        };
        let expected =
            "in.csv, line 2, column \"u\": \"x\" is not a finite number; write one such as 0.5 or -1e-3";
        assert!(message(b"time,u\n0,x\n").ends_with(expected));
        assert!(message(b"time,u\xff\n").contains("byte 6 is not UTF-8"));
        // A file of another kind has no commas, and nobody reads a megabyte of it.
        assert!(message(&[0; 1 << 20]).len() < 1000);
        assert!(message(format!("time,u\n0,{}\n", "x".repeat(1 << 20)).as_bytes()).len() < 1000);
        let missing = InputTable::read(&folder.path().join("no.csv")).unwrap_err().to_string();
        assert!(missing.contains("no.csv cannot be read"), "{missing}");
    }
}
