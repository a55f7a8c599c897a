//! Every FMI type as input, output and parameter, and no continuous state.
//!
//! ```text
//! y = gain u + offset                       at once: direct feedthrough
//! gain_squared = gain gain                  calculated parameter
//! y_sampled := u_sampled                    the rest only in Event Mode
//! y_integer := u_integer + step             (wrapping)
//! y_mode    := u_mode                       an enumeration: off, idle, running
//! y_boolean := u_boolean xor invert
//! y_string  := prefix + u_string            starts with non-ASCII characters
//! ```

use crate::dual::Num;
use crate::model::{Event, Model, Values, differentiable};

pub struct AllTypes;

impl AllTypes {
    fn equations<T: Num>(&self, v: &mut [T]) {
        let [_, u, y, gain, offset, gain_squared, ..] = v else { return };
        *y = *gain * *u + *offset;
        *gain_squared = *gain * *gain;
    }
}

impl Model for AllTypes {
    fn states(&self) -> usize {
        0
    }

    fn reals(&self) -> &'static [&'static str] {
        &["time", "u", "y", "gain", "offset", "gain_squared", "u_sampled", "y_sampled"]
    }

    fn initialize(&self, v: &mut Values) -> Result<(), &'static str> {
        self.event(v);
        Ok(())
    }

    differentiable!();

    fn event(&self, v: &mut Values) -> Event {
        if let [.., u_sampled, y_sampled] = &mut v.real[..] {
            *y_sampled = *u_sampled;
        }
        if let [u, y, step, u_mode, y_mode, _] = &mut v.integer[..] {
            *y = u.wrapping_add(*step);
            *y_mode = *u_mode;
        }
        if let [u, y, invert] = &mut v.boolean[..] {
            *y = *u ^ *invert;
        }
        if let [u, y, prefix] = &mut v.string[..] {
            *y = format!("{prefix}{u}");
        }
        Event::default()
    }
}
