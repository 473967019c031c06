//! An outcome in Harn's own form: the value that one hook would have returned for the
//! same, or the result that the session gets.

use serde_json::{Value, json};

use super::events::{self, Surface};
use crate::decision::{Effect, Ruling};
use crate::dialect::EventInfo;
use crate::json::to_text;
use crate::outcome::Outcome;

/// Writes an outcome.
pub(super) fn write(info: &EventInfo, outcome: &Outcome) -> String {
    let control = control(info, outcome);
    let value = outcome.effects.iter().rev().fold(control, |then, effect| {
        let reminder = reminder(effect);
        if then.is_null() {
            json!({"reminder": reminder})
        } else {
            json!({"reminder": reminder, "then": then})
        }
    });
    to_text(&value)
}

fn control(info: &EventInfo, outcome: &Outcome) -> Value {
    let reason = outcome.reason.as_deref().unwrap_or_default();
    let session = events::find(info.name).is_some_and(|info| info.surface == Surface::Session);
    let permission = info.point == "permission.asked";
    match outcome.decision {
        Ruling::Allow if permission && outcome.hook.is_some() => {
            let said = outcome.said.as_ref();
            match said.and_then(|said| said.reason.as_ref()) {
                Some(reason) => json!({"decision": "allow", "reason": reason}),
                None => json!({"decision": "allow"}),
            }
        }
        Ruling::Allow => Value::Null,
        Ruling::Block if permission => json!({"decision": "deny", "reason": reason}),
        Ruling::Ask if permission => json!({"decision": "ask", "reason": reason}),
        Ruling::Block | Ruling::Ask if info.point == "turn.start" => json!({
            "status": "blocked",
            "stop_reason": "user_prompt_submit_blocked",
            "reason": reason,
        }),
        Ruling::Block | Ruling::Ask if session => json!({"block": true, "reason": reason}),
        Ruling::Block | Ruling::Ask => json!({"deny": reason}),
        Ruling::Modify => rewritten(info, outcome.payload.value()),
    }
}

fn rewritten(info: &EventInfo, payload: &Value) -> Value {
    let place = |pointer: &str| payload.pointer(pointer).cloned();
    let either = |inner: &str, outer: &str| place(inner).or_else(|| place(outer));
    match info.point {
        "tool.pre" => json!({"args": place("/tool/args")}),
        "tool.post" => json!({"result": place("/result/text")}),
        "step.pre" => json!({"args": either("/step/args", "/args")}),
        "step.post" => json!({"output": either("/step/output", "/output")}),
        _ => payload.clone(),
    }
}

fn reminder(effect: &Effect) -> Value {
    match effect {
        Effect::Context { text, .. } => json!({"body": text}),
        Effect::Reminder(reminder) => serde_json::to_value(reminder).unwrap_or_default(),
    }
}
