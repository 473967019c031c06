//! An outcome as a script would have returned it.

use serde_json::{Value, json};

use crate::decision::Ruling;
use crate::dialect::EventInfo;
use crate::json::to_text;
use crate::outcome::Outcome;

/// Writes an outcome.
pub(super) fn write(_: &EventInfo, outcome: &Outcome) -> String {
    let reason = outcome.reason.as_deref().unwrap_or_default();
    let mut value = match outcome.decision {
        Ruling::Allow => json!({"action": "allow"}),
        Ruling::Modify => json!({"action": "modify", "payload": outcome.payload}),
        Ruling::Block => json!({"action": "block", "reason": reason}),
        Ruling::Ask => json!({"action": "ask", "message": reason}),
    };
    if !outcome.effects.is_empty()
        && let Ok(effects) = serde_json::to_value(&outcome.effects)
        && let Value::Object(fields) = &mut value
    {
        fields.insert("effects".to_owned(), effects);
    }
    to_text(&value)
}
