//! What an FMU says that it can do and does not do well. It is built without, and that is said.
//!
//! Other importers run an FMU whose saved states crash: they do not use them. So whatever fails and is not
//! needed is left out: the lab learns of it by an answer or by the call in which a worker ended, and the
//! build begins again without it.

use crate::interface::Interface;
use serde::{Deserialize, Serialize};
use std::fmt::{self, Display, Formatter};

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Ability {
    /// `fmi2GetFMUstate`, `fmi2SetFMUstate`, `fmi2FreeFMUstate`.
    SavedStates,
    /// `fmi2SerializeFMUstate` and what belongs to it.
    Serialisation,
    /// `fmi2GetDirectionalDerivative`.
    DirectionalDerivatives,
    /// To be evaluated at states beside its run.
    StatesBeside,
    /// More than one instance, one after the other, in a process.
    SecondInstance,
    /// `fmi2FreeInstance`, and to be unloaded.
    BeingFreed,
    /// This output can be read, and is a number.
    Output(u32),
    /// Event indicators that are numbers.
    Indicators,
    /// It writes no more values than its description promises.
    KeepingToItsVectors,
}

/// An ability that the FMU lacks, and how that was seen.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Lack {
    pub ability: Ability,
    /// A part of a sentence, such as "fmi2SetFMUstate returned fmi2Error".
    pub seen: String,
}

/// What the worker does when it throws states beside the run, in its own words.
pub const BESIDE: &str = "an evaluation beside the run (fmi2GetDerivatives)";
/// Likewise when it instantiates the FMU once more.
pub const AGAIN: &str = "another instance in the same process (fmi2Instantiate)";

impl Ability {
    /// What an FMU can do without, if its process ended in this call and phase.
    pub fn behind(call: &str, phase: &str) -> Option<Ability> {
        match call {
            "fmi2GetFMUstate" | "fmi2SetFMUstate" | "fmi2FreeFMUstate" => Some(Ability::SavedStates),
            "fmi2SerializedFMUstateSize" | "fmi2SerializeFMUstate" | "fmi2DeSerializeFMUstate" => {
                Some(Ability::Serialisation)
            }
            "fmi2GetDirectionalDerivative" => Some(Ability::DirectionalDerivatives),
            "fmi2FreeInstance" | "fmi2Terminate" | "the unloading of its library" => {
                Some(Ability::BeingFreed)
            }
            _ if phase == BESIDE => Some(Ability::StatesBeside),
            _ if phase == AGAIN => Some(Ability::SecondInstance),
            _ => None,
        }
    }

    /// Whether what was found out before stands without it: the build need not begin again.
    pub fn changes_nothing(&self) -> bool {
        *self == Ability::BeingFreed
    }
}

impl Lack {
    pub fn new(ability: Ability, seen: impl Into<String>) -> Lack {
        Lack { ability, seen: seen.into() }
    }

    /// Whether the interface promises what is lacking.
    pub fn concerns(&self, interface: &Interface) -> bool {
        match &self.ability {
            Ability::SavedStates => interface.can_get_and_set_state,
            Ability::Serialisation => interface.can_serialize_state,
            Ability::DirectionalDerivatives => interface.provides_directional_derivative,
            Ability::StatesBeside => interface.can_be_moved,
            Ability::SecondInstance => !interface.instantiate_only_once,
            Ability::BeingFreed => interface.can_be_freed,
            Ability::Output(reference) => interface.outputs.contains(reference),
            Ability::Indicators => !interface.indicators_may_be_nan,
            Ability::KeepingToItsVectors => !interface.writes_beyond,
        }
    }

    /// The interface of an FMU that does not even promise it.
    pub fn apply(&self, interface: &mut Interface) {
        match &self.ability {
            Ability::SavedStates => {
                interface.can_get_and_set_state = false;
                interface.can_serialize_state = false;
            }
            Ability::Serialisation => interface.can_serialize_state = false,
            Ability::DirectionalDerivatives => interface.provides_directional_derivative = false,
            Ability::StatesBeside => interface.can_be_moved = false,
            Ability::SecondInstance => interface.instantiate_only_once = true,
            Ability::BeingFreed => interface.can_be_freed = false,
            Ability::Output(reference) => interface.leave_out(*reference),
            Ability::Indicators => interface.indicators_may_be_nan = true,
            Ability::KeepingToItsVectors => interface.writes_beyond = true,
        }
    }

    /// The output that is not compared.
    pub fn output(&self) -> Option<u32> {
        match self.ability {
            Ability::Output(reference) => Some(reference),
            _ => None,
        }
    }
}

/// What the user is told.
impl Display for Lack {
    fn fmt(&self, f: &mut Formatter) -> fmt::Result {
        let seen = &self.seen;
        match &self.ability {
            Ability::SavedStates => write!(
                f,
                "the FMU's saved states do not work ({seen}); it was built without them, and the new FMU \
                 does not offer them"
            ),
            Ability::Serialisation => write!(
                f,
                "the FMU's saved states cannot be serialised ({seen}); the new FMU does not offer that"
            ),
            Ability::DirectionalDerivatives => write!(
                f,
                "the FMU's directional derivatives do not work ({seen}); differences are used, and the new \
                 FMU does not offer them"
            ),
            Ability::StatesBeside => write!(
                f,
                "the FMU cannot be evaluated beside its run ({seen}); less is known of its structure. Keep \
                 to runs like the given ones"
            ),
            Ability::SecondInstance => write!(
                f,
                "the FMU cannot be instantiated again in the same process ({seen}); the new FMU says so \
                 (canBeInstantiatedOnlyOncePerProcess)"
            ),
            Ability::BeingFreed => {
                write!(f, "the FMU does not end well ({seen}); the new FMU ends as it does: free it last")
            }
            Ability::Output(_) => write!(f, "{seen}; it is not compared, and nothing is said of its error"),
            Ability::Indicators => {
                write!(f, "{seen}; events that it should tell are not seen until it is a number again")
            }
            Ability::KeepingToItsVectors => write!(
                f,
                "{seen}; there is room behind what it is given, in the new FMU too. Export the FMU again: \
                 description and library do not belong together"
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_tells_what_is_lacking() {
        let run = "the accurate run (fmi2GetDerivatives)";
        assert_eq!(Ability::behind("fmi2SetFMUstate", run), Some(Ability::SavedStates));
        assert_eq!(Ability::behind("fmi2FreeInstance", BESIDE), Some(Ability::BeingFreed));
        assert_eq!(Ability::behind("fmi2GetDerivatives", BESIDE), Some(Ability::StatesBeside));
        assert_eq!(Ability::behind("fmi2GetDerivatives", run), None);
    }
}
