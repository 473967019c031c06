//! Payloads of Harn: nested objects under names of their own.

use std::sync::LazyLock;

use serde_json::{Map, Value, json};

use super::DIALECT;
use super::events::{self, CATALOGUE, Info};
use crate::dialect::harness::payload::{self as native, PayloadError};
use crate::dialect::{Decoded, EventInfo, Incoming};
use crate::event::{About, Event};
use crate::failure::Failure;
use crate::json::Json;

const TOOL: &str = "{event, tool: {name, args, tool_call_id}, tool_call_id}";
const RESULT: &str = "{event, tool: {name, args, tool_call_id}, tool_call_id, result: {text}}";

/// Returns the events as all dialects describe theirs.
pub(super) fn catalogue() -> &'static [EventInfo] {
    static EVENTS: LazyLock<Vec<EventInfo>> =
        LazyLock::new(|| CATALOGUE.iter().map(describe).collect());
    &EVENTS
}

fn describe(info: &Info) -> EventInfo {
    EventInfo {
        name: info.name,
        point: info.canonical,
        fires: info.fires,
        payload: match info.canonical {
            "tool.pre" => TOOL,
            "tool.post" => RESULT,
            "turn.start" => "{event, session, prompt}",
            "step.pre" | "step.post" => "{event, target, persona, step}",
            "file.edited" => "{event, session, path, metadata}",
            "budget.threshold" => "{event, persona, step, pct}",
            _ => "{event, session, …}",
        },
        gates: info.veto.refuses(),
        waits: true,
        experimental: false,
    }
}

/// Finds an event in any of its spellings.
pub(super) fn find(name: &str) -> Option<&'static EventInfo> {
    let (info, _) = events::parse(name).ok()?;
    catalogue().iter().find(|known| known.name == info.name)
}

/// Brings a payload into the native form of its point.
pub(super) fn decode(info: &EventInfo, incoming: Incoming) -> Result<Decoded, PayloadError> {
    let mut fields = match incoming.payload {
        Value::Object(fields) => fields,
        Value::Null => Map::new(),
        _ => return Err(wrong(info, "an object", "{}")),
    };
    fields.shift_remove("event");
    let mut about = About {
        session: session(&mut fields),
        ..About::default()
    };
    let payload = match info.point {
        "tool.pre" | "tool.post" => {
            let call = call(info, &mut fields, &incoming.id)?;
            about.rest = fields;
            native::complete(info.point, &incoming.id, call)?
        }
        "turn.start" => {
            let prompt = fields.shift_remove("prompt").unwrap_or_else(|| "".into());
            about.rest = fields;
            native::complete(info.point, &incoming.id, prompt)?
        }
        "session.start" | "session.end" => {
            about.rest = fields;
            Value::Null
        }
        _ => {
            complete(info, &incoming.name, &mut fields);
            fields.into()
        }
    };
    Ok(Decoded { payload, about })
}

/// Takes the session's id out, if it is nothing but that.
fn session(fields: &mut Map<String, Value>) -> Option<String> {
    let session = fields.get("session")?.as_object()?;
    let id = session.get("id")?.as_str()?.to_owned();
    if session.len() == 1 {
        fields.shift_remove("session");
    }
    Some(id)
}

fn call(
    info: &EventInfo,
    fields: &mut Map<String, Value>,
    id: &str,
) -> Result<Value, PayloadError> {
    let example = r#"{"tool":{"name":"exec_shell","args":{"command":"ls"}}}"#;
    let wanted = "an object with the \"tool\" and its \"name\"";
    let Some(Value::Object(mut tool)) = fields.shift_remove("tool") else {
        return Err(wrong(info, wanted, example));
    };
    let Some(Value::String(name)) = tool.shift_remove("name") else {
        return Err(wrong(info, wanted, example));
    };
    let given = fields
        .remove("tool_call_id")
        .or_else(|| tool.shift_remove("tool_call_id"));
    let id = given.unwrap_or_else(|| id.into());
    let args = tool
        .shift_remove("args")
        .unwrap_or_else(|| Map::new().into());
    let mut call = json!({"name": name, "args": args});
    tool.shift_remove("tool_call_id");
    keep(fields, "tool", tool);
    if info.point == "tool.pre" {
        call["id"] = id;
        return Ok(call);
    }
    call["call_id"] = id;
    if let Some(failed) = fields.shift_remove("is_error") {
        call["is_error"] = failed;
    }
    match fields.shift_remove("result") {
        Some(Value::String(text)) => call["content"] = text.into(),
        Some(Value::Object(mut result)) if result.get("text").is_some_and(Value::is_string) => {
            call["content"] = result.shift_remove("text").unwrap_or_default();
            keep(fields, "result", result);
        }
        Some(other) => call["result"] = other,
        None => {}
    }
    Ok(call)
}

/// Keeps what else came with the tool or its result: patterns may look at it.
fn keep(fields: &mut Map<String, Value>, key: &str, rest: Map<String, Value>) {
    if !rest.is_empty() {
        fields.insert(key.to_owned(), rest.into());
    }
}

/// Adds what follows from the rest: what a pattern looks at, and the number in the
/// event's own name.
fn complete(info: &EventInfo, name: &str, fields: &mut Map<String, Value>) {
    let named = |key: &str| match fields.get(key) {
        Some(Value::String(name)) => Some(name.clone()),
        Some(Value::Object(inner)) => inner.get("name")?.as_str().map(str::to_owned),
        _ => None,
    };
    if let (Some(persona), Some(step)) = (named("persona"), named("step")) {
        let target = format!("{persona}.{step}");
        fields.entry("target").or_insert_with(|| target.into());
    }
    if info.point == "budget.threshold"
        && let Ok((_, Some(pct))) = events::parse(name)
    {
        fields.entry("pct").or_insert_with(|| json!(pct.value()));
    }
}

fn wrong(info: &EventInfo, wanted: &'static str, example: &'static str) -> PayloadError {
    PayloadError::WrongKind {
        event: info.name.to_owned(),
        wanted,
        example,
    }
}

/// Shows an event in Harn's own form.
pub(super) fn view(name: &str, event: &Event) -> Json {
    let payload = event.payload.value();
    let mut fields = Map::new();
    let mut put = |key: &str, value: Value| {
        fields.insert(key.to_owned(), value);
    };
    put("event", name.into());
    if let Some(id) = &event.about.session {
        put("session", json!({"id": id}));
    }
    let field = |key: &str| payload.get(key).cloned().unwrap_or_default();
    match &*event.point {
        "tool.pre" => {
            put(
                "tool",
                json!({"name": field("name"), "args": field("args"), "tool_call_id": field("id")}),
            );
            put("tool_call_id", field("id"));
        }
        "tool.post" => {
            let args = payload.get("args").cloned().unwrap_or_else(|| json!({}));
            put(
                "tool",
                json!({"name": field("name"), "args": args, "tool_call_id": field("call_id")}),
            );
            put("tool_call_id", field("call_id"));
            put("result", json!({"text": field("content")}));
            put("is_error", field("is_error"));
        }
        "turn.start" => put("prompt", payload.clone()),
        "session.start" | "session.end" => {}
        _ => match payload {
            Value::Object(open) => open.iter().for_each(|(key, value)| put(key, value.clone())),
            Value::Null => {}
            other => put("payload", other.clone()),
        },
    }
    if *event.dialect == DIALECT {
        beside(&mut fields, &event.about.rest);
    }
    Json::from(Value::Object(fields))
}

/// Adds what came beside the fields that have a meaning, also inside of them.
fn beside(fields: &mut Map<String, Value>, rest: &Map<String, Value>) {
    for (key, value) in rest {
        match (fields.get_mut(key), value) {
            (Some(Value::Object(own)), Value::Object(more)) => beside(own, more),
            (Some(_), _) => {}
            (None, _) => {
                fields.insert(key.clone(), value.clone());
            }
        }
    }
}

/// Lays what a hook rewrote over the event: the arguments, the result or the output.
pub(super) fn rewrite(event: &Event, mut patch: Value) -> Result<Value, Failure> {
    if ["tool.pre", "tool.post"].contains(&&*event.point) {
        // Text is what the model reads, so text it stays.
        if patch.get("result").is_some_and(Value::is_string) {
            patch = json!({"content": patch["result"].take()});
        }
        return native::rewrite(event, patch);
    }
    let mut payload = event.payload.value().clone();
    let fields = match &mut payload {
        Value::Object(fields) => fields,
        other => {
            *other = json!({});
            return native::rewrite(event, patch);
        }
    };
    for (key, value) in patch.as_object_mut().into_iter().flatten() {
        let place = match fields.get_mut("step") {
            Some(Value::Object(step)) => step,
            _ => &mut *fields,
        };
        place.insert(key.clone(), value.take());
    }
    Ok(payload)
}
