//! Canaries behind the buffers that an FMU writes into.
//!
//! A description may list fewer states or indicators than the library has; some libraries then write all of them, wherever
//! that leads. Each call is made once with room behind its buffer, filled with a known number: what is written beyond is seen, and
//! the FMU refused, before anything is built on it.

use super::session::Session;
use fmu_runtime::status::Status;

/// Numbers behind a buffer: room for as many states as a description may have forgotten.
const ROOM: usize = 4096;
/// Nobody computes this by accident.
const CANARY: u64 = 0x4c1f_3a59_d27b_e681;

/// Call `fill` with a buffer of `length` numbers. Its status, or how many numbers it wrote beyond at least.
fn overrun(length: usize, fill: impl FnOnce(&mut [f64]) -> Status) -> Result<Status, usize> {
    let mut numbers = vec![f64::from_bits(CANARY); length + ROOM];
    let status = fill(&mut numbers[..length]);
    match written(&numbers[length..]) {
        0 => Ok(status),
        beyond => Err(beyond),
    }
}

/// How far canaries were overwritten.
fn written(canaries: &[f64]) -> usize {
    canaries.iter().rposition(|number| number.to_bits() != CANARY).map_or(0, |last| last + 1)
}

/// Each call that fills a buffer, where the session stands. A status that is not usable is left to those who need the values.
pub fn check_buffers(session: &mut Session) -> Result<(), String> {
    let (states, indicators) = (session.x.len(), session.z.len());
    let inner = &mut session.inner;
    let listed = "states that <ModelStructure> lists under <Derivatives>";
    let refuse = |call: &str, length: usize, what: &str, beyond: usize| {
        Err(format!(
            "the FMU's {call} writes at least {} values where modelDescription.xml promises {length} ({what}); \
             description and library do not belong together: export the FMU again",
            length + beyond
        ))
    };
    if let Err(beyond) = overrun(states, |buffer| inner.get_continuous_states(buffer)) {
        return refuse("fmi2GetContinuousStates", states, listed, beyond);
    }
    if let Err(beyond) = overrun(states, |buffer| inner.get_nominals(buffer)) {
        return refuse("fmi2GetNominalsOfContinuousStates", states, listed, beyond);
    }
    if let Err(beyond) = overrun(states, |buffer| inner.get_derivatives(buffer)) {
        return refuse("fmi2GetDerivatives", states, listed, beyond);
    }
    if let Err(beyond) = overrun(indicators, |buffer| inner.get_event_indicators(buffer)) {
        return refuse("fmi2GetEventIndicators", indicators, "numberOfEventIndicators", beyond);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Also a number that happens to be written between two that were not touched.
    #[test]
    fn what_is_written_beyond_is_counted() {
        let mut canaries = vec![f64::from_bits(CANARY); 10];
        assert_eq!(written(&canaries), 0);
        canaries[0] = 0.0;
        assert_eq!(written(&canaries), 1);
        canaries[6] = f64::NAN;
        assert_eq!(written(&canaries), 7);
    }
}
