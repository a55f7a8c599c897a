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
fn derive_guid(plan: &Plan) -> String {
    let mut nameless = plan.clone();
    nameless.model.guid.clear();
    // It fails on maps with keys that are no text only, and a plan has no maps.
    named_by(&serde_json::to_vec(&nameless).expect("a plan can be written as JSON"))
}

/// The same from the plan as it was written, `plan` being what was read from it. From the text and not from the numbers: a host that rounds upwards
/// reads some of them as their neighbours.
pub fn guid_of(text: &[u8], plan: &Plan) -> Option<String> {
    let guid = serde_json::to_string(&plan.model.guid).ok()?;
    let written = format!("\"guid\":{guid}");
    // Quotes within a text are escaped: this is the key itself.
    let at = text.windows(written.len()).position(|part| part == written.as_bytes())?;
    let (before, after) = (&text[..at], &text[at + written.len()..]);
    Some(named_by(&[before, b"\"guid\":\"\"", after].concat()))
}

fn named_by(content: &[u8]) -> String {
    Uuid::new_v5(&NAMESPACE, content).braced().to_string()
}
