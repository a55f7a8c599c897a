//! Room behind the vectors that an FMU fills: for one that writes more values than its description promises.
//!
//! Some libraries write a value or two too many, wherever that leads. Between them and our own memory stand buffers with room behind them, filled with a
//! known number. What is written there is seen and does no harm. Copying costs a little, so that only FMUs that were seen to do so get them.

use crate::status::Status;

/// Numbers behind each buffer.
pub const ROOM: usize = 4096;
/// Nobody computes this by accident.
const CANARY: u64 = 0x4c1f_3a59_d27b_e681;

/// One buffer for each kind of vector. Those that are set share theirs with those that are read: a model with more states than it names finds the others as
/// it left them.
pub(super) struct Room {
    states: Buffer,
    derivatives: Buffer,
    nominals: Buffer,
    indicators: Buffer,
}

#[derive(Clone, Copy)]
pub(super) enum Vector {
    States,
    Derivatives,
    Nominals,
    Indicators,
}

struct Buffer {
    numbers: Vec<f64>,
    length: usize,
}

/// How many values too many each call was seen to write; [`ROOM`]: at least so many, and memory of ours may be destroyed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beyond {
    pub states: usize,
    pub derivatives: usize,
    pub nominals: usize,
    pub indicators: usize,
}

impl Room {
    pub fn new(states: usize, indicators: usize) -> Room {
        Room {
            states: Buffer::new(states),
            derivatives: Buffer::new(states),
            nominals: Buffer::new(states),
            indicators: Buffer::new(indicators),
        }
    }

    pub fn beyond(&self) -> Beyond {
        Beyond {
            states: self.states.written(),
            derivatives: self.derivatives.written(),
            nominals: self.nominals.written(),
            indicators: self.indicators.written(),
        }
    }

    fn buffer(&mut self, vector: Vector) -> &mut Buffer {
        match vector {
            Vector::States => &mut self.states,
            Vector::Derivatives => &mut self.derivatives,
            Vector::Nominals => &mut self.nominals,
            Vector::Indicators => &mut self.indicators,
        }
    }

    /// Let the FMU fill `values` by way of the buffer.
    pub fn fill(
        &mut self,
        vector: Vector,
        values: &mut [f64],
        call: impl FnOnce(*mut f64) -> Status,
    ) -> Status {
        let numbers = &mut self.buffer(vector).numbers;
        if numbers.len() < values.len() {
            return Status::Error;
        }
        // What it does not write stays what it was.
        numbers[..values.len()].copy_from_slice(values);
        let status = call(numbers.as_mut_ptr());
        values.copy_from_slice(&numbers[..values.len()]);
        status
    }

    /// Hand `values` to the FMU by way of the buffer.
    pub fn hand(
        &mut self,
        vector: Vector,
        values: &[f64],
        call: impl FnOnce(*const f64) -> Status,
    ) -> Status {
        let numbers = &mut self.buffer(vector).numbers;
        if numbers.len() < values.len() {
            return Status::Error;
        }
        numbers[..values.len()].copy_from_slice(values);
        call(numbers.as_ptr())
    }
}

impl Buffer {
    fn new(length: usize) -> Buffer {
        Buffer { numbers: vec![f64::from_bits(CANARY); length + ROOM], length }
    }

    /// How far behind its end it was written.
    fn written(&self) -> usize {
        let behind = &self.numbers[self.length..];
        behind.iter().rposition(|number| number.to_bits() != CANARY).map_or(0, |last| last + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Also a number that happens to be written between two that were not touched.
    #[test]
    fn what_is_written_beyond_is_counted() {
        let mut room = Room::new(2, 0);
        assert_eq!(room.beyond(), Beyond::default());
        room.derivatives.numbers[2] = 0.0;
        assert_eq!(room.beyond().derivatives, 1);
        room.derivatives.numbers[8] = f64::NAN;
        assert_eq!(room.beyond(), Beyond { derivatives: 7, ..Beyond::default() });
        room.indicators.numbers[ROOM - 1] = 1.0;
        assert_eq!(room.beyond().indicators, ROOM);
    }

    /// Values come and go as without the room; what a call leaves untouched stays.
    #[test]
    fn values_pass_through() {
        let mut room = Room::new(2, 0);
        let mut values = [1.0, 2.0];
        let status = room.fill(Vector::States, &mut values, |_| Status::Discard);
        assert_eq!((status, values), (Status::Discard, [1.0, 2.0]));
        assert_eq!(room.hand(Vector::States, &[3.0, 4.0], |_| Status::Ok), Status::Ok);
        assert_eq!(room.states.numbers[..2], [3.0, 4.0]);
        assert_eq!(room.beyond(), Beyond::default());
    }
}
