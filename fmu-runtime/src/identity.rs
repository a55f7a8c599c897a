//! The exported FMU's GUID: it follows from the plan, so that a plan that was changed, or that belongs to another FMU,
//! is known by it.

use crate::plan::Plan;
use uuid::{Uuid, uuid};

/// Our own namespace: the same bytes name something else elsewhere.
const NAMESPACE: Uuid = uuid!("8f0e7a52-6d0b-4c1e-9a57-3f2f4b1c6d90");

/// The plan with its GUID: nothing in it may be changed from now on.
pub fn sealed(mut plan: Plan) -> Plan {
    plan.model.guid = derive_guid(&plan);
    plan
}

/// The GUID that follows from everything else in the plan: the UUID of its JSON (version 5, RFC 9562). It tells FMUs
/// apart; it protects from nobody.
pub fn derive_guid(plan: &Plan) -> String {
    let mut nameless = plan.clone();
    nameless.model.guid.clear();
    // It fails on maps with keys that are no text only, and a plan has no maps.
    let content = serde_json::to_vec(&nameless).expect("a plan can be written as JSON");
    Uuid::new_v5(&NAMESPACE, &content).braced().to_string()
}
