//! Which of our messages reach the host.
//!
//! Four categories, named as FMI suggests and declared in `modelDescription.xml` beside the model's own. Until the host
//! calls `fmi2SetDebugLogging` it gets all of them, whatever `loggingOn` was: each is about a call that failed, or is
//! said once. Afterwards: logging on without categories, all; on with some, those; off, what ended with `fmi2Error`
//! or worse, because that is no debugging.

use crate::status::Status;
use std::ffi::CStr;

/// Name and description of each category.
pub const CATEGORIES: [(&CStr, &str); 4] = [
    (c"logStatusWarning", "What is unusual but was done all the same"),
    (c"logStatusDiscard", "Why a call returned fmi2Discard"),
    (c"logStatusError", "Why a call returned fmi2Error"),
    (c"logStatusFatal", "Why a call returned fmi2Fatal"),
];

/// The category of a message about a call that ended so.
pub(super) fn category(status: Status) -> &'static CStr {
    let index = match status {
        Status::Ok | Status::Warning => 0,
        Status::Discard => 1,
        Status::Error | Status::Pending => 2,
        Status::Fatal => 3,
    };
    CATEGORIES[index].0
}

/// Which categories are on.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Filter([bool; 4]);

impl Filter {
    pub const ALL: Filter = Filter([true; 4]);

    pub fn new(on: bool, categories: &[&CStr]) -> Filter {
        match (on, categories) {
            (false, _) => Filter([false, false, true, true]),
            (true, []) => Filter::ALL,
            (true, some) => Filter(CATEGORIES.map(|(name, _)| some.contains(&name))),
        }
    }

    pub fn passes(self, category: &CStr) -> bool {
        CATEGORIES.iter().zip(self.0).any(|((name, _), on)| on && *name == category)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn categories_filter() {
        let (warning, error) = (category(Status::Warning), category(Status::Error));
        assert!(Filter::ALL.passes(warning) && Filter::ALL.passes(error));
        let off = Filter::new(false, &[]);
        assert!(!off.passes(warning) && off.passes(error) && off.passes(category(Status::Fatal)));
        let some = Filter::new(true, &[c"logStatusWarning", c"another"]);
        assert!(some.passes(warning) && !some.passes(error));
        assert_eq!(Filter::new(true, &[]), Filter::ALL);
    }
}
