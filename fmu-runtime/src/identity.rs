//! The exported FMU's GUID: it follows from the plan, so that a plan that was changed, or that belongs to another FMU,
//! is known by it.

use crate::plan::Plan;

impl Plan {
    /// The plan with its GUID: nothing in it may be changed from now on.
    pub fn sealed(mut self) -> Plan {
        self.model.guid = self.derive_guid();
        self
    }

    /// The GUID that follows from everything else in the plan: FNV-1a of its JSON, with two offsets. It tells FMUs apart; it
    /// protects from nobody.
    pub fn derive_guid(&self) -> String {
        let mut nameless = self.clone();
        nameless.model.guid.clear();
        // It fails on maps with keys that are no text only, and a plan has no maps.
        let content = serde_json::to_vec(&nameless).expect("a plan can be written as JSON");
        let hash = |offset: u64| {
            content.iter().fold(offset, |hash, &byte| (hash ^ byte as u64).wrapping_mul(0x0100_0000_01b3))
        };
        let (a, b) = (hash(0xcbf2_9ce4_8422_2325), hash(0x6c62_272e_07bb_0142));
        format!(
            "{{{:08x}-{:04x}-{:04x}-{:04x}-{:012x}}}",
            a >> 32,
            a >> 16 & 0xffff,
            a & 0xffff,
            b >> 48,
            b & 0xffff_ffff_ffff
        )
    }
}
