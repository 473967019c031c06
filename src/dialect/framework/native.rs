//! An outcome as one hook of the framework would have written it to standard output.

use serde_json::json;

use super::events::decides;
use crate::decision::{Effect, Ruling};
use crate::dialect::EventInfo;
use crate::json::to_text;
use crate::outcome::Outcome;

/// Writes an outcome: a decision, or the texts for the model.
pub(super) fn write(info: &EventInfo, outcome: &Outcome) -> String {
    let message = outcome.reason.as_deref().unwrap_or_default();
    match outcome.decision {
        Ruling::Block => to_text(&json!({"decision": "block", "message": message})),
        Ruling::Ask => to_text(&json!({"decision": "ask", "message": message})),
        Ruling::Allow | Ruling::Modify => {
            let texts = texts(outcome);
            if texts.is_empty() && decides(info.name) {
                return to_text(&json!({"continue": true}));
            }
            texts.join("\n")
        }
    }
}

fn texts(outcome: &Outcome) -> Vec<&str> {
    let texts = outcome.effects.iter().map(|effect| match effect {
        Effect::Context { text, .. } => text.as_str(),
        Effect::Reminder(reminder) => reminder.body.as_str(),
    });
    texts.collect()
}
