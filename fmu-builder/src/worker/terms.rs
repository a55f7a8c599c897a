//! How large the terms are that an output is made of.
//!
//! A speed w4 = w1 + (w2 - w1) + (w3 - w2) + (w4 - w3) of an inertia at rest is zero but for rounding, and
//! what it moves by is noise: of 1e-16 of its terms. Its own values do not tell. So every state is moved by a
//! small part of itself; what an output moves by, over that part, is the size of its largest terms.

use super::session::{Session, expect};

/// States are moved by this part of themselves.
const PART: f64 = 1e-7;
/// Movements at each point: a sum in which two large terms cancel in one shows in another.
const TRIALS: u64 = 3;

/// The largest terms of each watched quantity so far.
pub struct Terms {
    outputs: Vec<u32>,
    pub sizes: Vec<f64>,
    seed: u64,
}

impl Terms {
    /// Without outputs the states are watched, which are no sums.
    pub fn new(outputs: &[u32], states: usize) -> Terms {
        let count = if outputs.is_empty() { states } else { outputs.len() };
        Terms { outputs: outputs.to_vec(), sizes: vec![0.0; count], seed: 1 }
    }

    /// Look at the point where the model stands, which it leaves.
    pub fn measure(&mut self, session: &mut Session) -> Result<(), String> {
        if self.outputs.is_empty() || session.x.is_empty() {
            return Ok(());
        }
        let (here, x) = (session.x.clone(), session.x.clone());
        let Some(standing) = self.read(session, &here)? else { return Ok(()) };
        for _ in 0..TRIALS {
            let moved = |x: &f64| x * (1.0 + PART * self.sign());
            let moved: Vec<f64> = x.iter().map(moved).collect();
            let Some(values) = self.read(session, &moved)? else { return Ok(()) };
            for ((size, value), standing) in self.sizes.iter_mut().zip(values).zip(&standing) {
                let terms = (value - standing).abs() / PART;
                if terms.is_finite() {
                    *size = size.max(terms);
                }
            }
        }
        Ok(())
    }

    /// The outputs there; nothing where the model does not tell them: then they have no terms.
    fn read(&self, session: &mut Session, x: &[f64]) -> Result<Option<Vec<f64>>, String> {
        // Some tools answer with values of their last evaluation.
        let (time, mut f) = (session.time, vec![0.0; x.len()]);
        let status = session.derivatives(time, x, false, &mut f);
        if !status.is_usable() {
            return Ok(None);
        }
        let mut values = vec![0.0; self.outputs.len()];
        expect(session.inner.get_real(&self.outputs, &mut values), "fmi2GetReal", &session.log)?;
        Ok(Some(values))
    }

    /// 1 or -1, the same in every build.
    fn sign(&mut self) -> f64 {
        self.seed = self.seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        if self.seed >> 63 == 0 { 1.0 } else { -1.0 }
    }
}
