//! What is checked of the model at a point of the run: its directional derivatives, whether time enters,
//! whether outputs wait for an evaluation.

use super::probe::{FLOOR, ONE_BY_ONE, Prober};
use super::session::{Session, expect};
use crate::interface::Interface;

/// Compare directional derivatives with differences where the session stands; the first wrong one is told.
pub fn wrong_directional(
    interface: &Interface,
    session: &mut Session,
    prober: &mut Prober,
) -> Result<Option<String>, String> {
    let n = session.x.len();
    if n == 0 || interface.state_references.len() != n {
        return Ok(None);
    }
    let point = prober.probe(session)?;
    let (time, x) = (session.time, session.x.clone());
    expect(session.place(time, &x, false), "fmi2SetContinuousStates", &session.log)?;
    let mut f = vec![0.0; n];
    expect(session.inner.get_derivatives(&mut f), "fmi2GetDerivatives", &session.log)?;
    let mut result = vec![0.0; n];
    // Columns spread over the model: all of a small one.
    let stride = n.div_ceil(ONE_BY_ONE);
    for column in (0..n).step_by(stride) {
        let reference = [interface.state_references[column]];
        let unknowns = &interface.derivative_references;
        let status = session.inner.directional_derivative(unknowns, &reference, &[1.0], &mut result);
        if !status.is_usable() {
            let name = &interface.state_names[column];
            return Ok(Some(format!("with respect to {name}: the call returns {}", status.name())));
        }
        let size = result.iter().fold(0.0, |size, value| f64::max(size, value.abs()));
        for (row, &said) in result.iter().enumerate() {
            let place = (row as u32, column as u32);
            let found = point.entries.get(&place).copied().unwrap_or(0.0);
            let noise = point.noise.get(&place).copied().unwrap_or(0.0);
            // Differences of a curved function are off by a share of themselves; a wrong formula is off by
            // more.
            let off = (said - found).abs();
            let allowed = 0.05 * said.abs().max(found.abs()) + 100.0 * noise + 1e-6 * size + FLOOR;
            if !said.is_finite() || off > allowed {
                return Ok(Some(format!(
                    "of der({}) with respect to {}: it says {said:.6e}, differences say {found:.6e}",
                    interface.state_names[row], interface.state_names[column]
                )));
            }
        }
    }
    Ok(None)
}

/// True if the derivatives stay as they are when only time moves, by parts of a step, short of the next time
/// event.
pub fn ignores_time(session: &mut Session, h: f64) -> Result<bool, String> {
    let n = session.x.len();
    let (time, x) = (session.time, session.x.clone());
    let (mut base, mut f) = (vec![0.0; n], vec![0.0; n]);
    let status = session.derivatives(time, &x, false, &mut base);
    expect(status, "fmi2GetDerivatives", &session.log)?;
    // A model with solvers of its own does not come back to exactly the same derivatives.
    let status = session.derivatives(time, &x, false, &mut f);
    expect(status, "fmi2GetDerivatives", &session.log)?;
    let unrest: Vec<f64> = base.iter().zip(&f).map(|(a, b)| 4.0 * (a - b).abs()).collect();
    let room = h.min(0.5 * (session.next_event - time).max(0.0));
    let mut same = true;
    for share in [0.37, 1.0] {
        // The inputs stay: only time is set.
        let inner = &mut session.inner;
        let status = inner.set_time(time + share * room);
        let status = status.max(inner.set_continuous_states(&x)).max(inner.get_derivatives(&mut f));
        same &= status.is_usable()
            && base
                .iter()
                .zip(&f)
                .zip(&unrest)
                .all(|((a, b), unrest)| (a - b).abs() <= unrest + 1e-13 * a.abs());
    }
    let status = session.derivatives(time, &x, false, &mut f);
    expect(status, "fmi2GetDerivatives", &session.log)?;
    Ok(same)
}

/// True if outputs read after fmi2SetContinuousStates are those of the last evaluation (OpenModelica 1.12):
/// they must be asked for after fmi2GetDerivatives.
pub fn outputs_wait(interface: &Interface, session: &mut Session, scales: &[f64]) -> Result<bool, String> {
    if interface.outputs.is_empty() || session.x.is_empty() {
        return Ok(false);
    }
    let (time, x) = (session.time, session.x.clone());
    let mut f = vec![0.0; x.len()];
    let status = session.derivatives(time, &x, false, &mut f);
    expect(status, "fmi2GetDerivatives", &session.log)?;
    let near: Vec<f64> = x.iter().zip(scales).map(|(x, scale)| x + 1e-6 * x.abs().max(*scale)).collect();
    let read = |session: &mut Session| {
        let mut values = vec![0.0; interface.outputs.len()];
        let status = session.inner.get_real(&interface.outputs, &mut values);
        expect(status, "fmi2GetReal", &session.log).map(|()| values)
    };
    expect(session.place(time, &near, false), "fmi2SetContinuousStates", &session.log)?;
    let at_once = read(session)?;
    let evaluated = match session.inner.get_derivatives(&mut f).is_usable() {
        true => read(session)?,
        false => at_once.clone(),
    };
    let status = session.derivatives(time, &x, false, &mut f);
    expect(status, "fmi2GetDerivatives", &session.log)?;
    Ok(at_once
        .iter()
        .zip(&evaluated)
        .any(|(a, b)| a.to_bits() != b.to_bits() && (a - b).abs() > 1e-14 * b.abs()))
}
