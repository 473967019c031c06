//! Payloads that are one flat object: those of Polytoken and of The Harness Framework.
//! The dialects differ in what they call things.

use serde_json::{Map, Value};

use super::harness::payload::{self as native, PayloadError};
use super::{Decoded, Dialect, EventInfo, Incoming};
use crate::event::{About, Event};

/// What the fields of a payload are called.
#[derive(Debug)]
pub struct Keys {
    /// The event's own name.
    pub event: &'static str,
    /// The tool's name.
    pub tool: &'static str,
    /// The tool's input.
    pub input: &'static str,
    /// What the tool returned.
    pub output: &'static str,
    /// The user's message.
    pub prompt: &'static str,
    /// The kind of a subagent.
    pub agent: &'static str,
}

/// The fields that say where an event belongs, and not what it carries.
const SESSION: &str = "session_id";
const TRANSCRIPT: &str = "transcript_path";
const SUBJECT: &str = "subject";

/// What the native form of a point is.
enum Shape {
    /// A call of a tool.
    Tool,
    /// What came of one.
    ToolResult,
    /// The user's message alone.
    Prompt,
    /// An object with the agent's name.
    Agent,
    /// Nothing.
    Nothing,
    /// Any object.
    Open,
}

impl Shape {
    fn of(point: &str) -> Self {
        match point {
            "tool.pre" => Self::Tool,
            "tool.post" => Self::ToolResult,
            "turn.start" => Self::Prompt,
            "delegation.start" | "delegation.post" => Self::Agent,
            "session.start" | "session.end" => Self::Nothing,
            _ => Self::Open,
        }
    }
}

/// Brings a flat payload into the native form of its point.
///
/// # Errors
/// Returns what a payload of this event must be.
pub fn decode(keys: &Keys, info: &EventInfo, incoming: Incoming) -> Result<Decoded, PayloadError> {
    let mut fields = match incoming.payload {
        Value::Object(fields) => fields,
        Value::Null => Map::new(),
        _ => return Err(wrong(info, "an object", "{}")),
    };
    for key in [keys.event, SUBJECT] {
        fields.shift_remove(key);
    }
    let mut about = About {
        session: text(&mut fields, SESSION),
        transcript: text(&mut fields, TRANSCRIPT),
        ..About::default()
    };
    let payload = match Shape::of(info.point) {
        Shape::Tool => {
            let call = tool(keys, info, &mut fields)?;
            about.rest = fields;
            native::complete(info.point, &incoming.id, call)?
        }
        Shape::ToolResult => {
            let mut call = tool(keys, info, &mut fields)?;
            call["result"] = fields.get(keys.output).cloned().unwrap_or_default();
            about.rest = fields;
            native::complete(info.point, &incoming.id, call)?
        }
        Shape::Prompt => {
            let prompt = text(&mut fields, keys.prompt).unwrap_or_default();
            // A guard would see no prompt where there is one.
            if fields.contains_key(keys.prompt) {
                let wanted = "an object whose \"prompt\" is a string";
                return Err(wrong(info, wanted, r#"{"prompt":"fix the tests"}"#));
            }
            about.rest = fields;
            prompt.into()
        }
        Shape::Agent => {
            if let Some(agent) = text(&mut fields, keys.agent) {
                fields.insert("agent".to_owned(), agent.into());
            }
            fields.into()
        }
        Shape::Nothing => {
            about.rest = fields;
            Value::Null
        }
        Shape::Open => fields.into(),
    };
    Ok(Decoded { payload, about })
}

/// A tool event without a tool's name would match no guard.
fn tool(
    keys: &Keys,
    info: &EventInfo,
    fields: &mut Map<String, Value>,
) -> Result<Value, PayloadError> {
    let Some(Value::String(name)) = fields.shift_remove(keys.tool) else {
        let example = match keys.input {
            "input" => r#"{"tool_name":"file_read","input":{"path":"a.txt"}}"#,
            _ => r#"{"tool_name":"Bash","tool_input":{"command":"ls"}}"#,
        };
        return Err(wrong(
            info,
            "an object with the tool's \"tool_name\"",
            example,
        ));
    };
    let args = fields
        .remove(keys.input)
        .unwrap_or_else(|| Map::new().into());
    Ok(serde_json::json!({"name": name, "args": args}))
}

fn text(fields: &mut Map<String, Value>, key: &str) -> Option<String> {
    match fields.shift_remove(key) {
        Some(Value::String(text)) => Some(text),
        Some(other) => {
            fields.insert(key.to_owned(), other);
            None
        }
        None => None,
    }
}

fn wrong(info: &EventInfo, wanted: &'static str, example: &'static str) -> PayloadError {
    PayloadError::WrongKind {
        event: info.name.to_owned(),
        wanted,
        example,
    }
}

/// Adds what an event carries to the fields every event has. What only the dialect
/// itself knows is shown to hooks of that dialect alone.
pub fn show(keys: &Keys, fields: &mut Map<String, Value>, event: &Event, dialect: &Dialect) {
    let payload = event.payload.value();
    let field = |key: &str| payload.get(key).cloned();
    let mut put = |key: &str, value: Value| {
        fields.insert(key.to_owned(), value);
    };
    match Shape::of(&event.point) {
        Shape::Tool => {
            put(keys.tool, field("name").unwrap_or_default());
            put(keys.input, field("args").unwrap_or_default());
        }
        Shape::ToolResult => {
            put(keys.tool, field("name").unwrap_or_default());
            put(
                keys.input,
                field("args").unwrap_or_else(|| Map::new().into()),
            );
            put(keys.output, field("result").unwrap_or_default());
        }
        Shape::Prompt => put(keys.prompt, payload.clone()),
        Shape::Agent => {
            for (key, value) in payload.as_object().into_iter().flatten() {
                let key = if key == "agent" { keys.agent } else { key };
                put(key, value.clone());
            }
        }
        Shape::Nothing => {}
        Shape::Open => match payload {
            Value::Object(open) => {
                for (key, value) in open {
                    fields.entry(key).or_insert_with(|| value.clone());
                }
            }
            Value::Null => {}
            other => put("payload", other.clone()),
        },
    }
    if *event.dialect == *dialect {
        for (key, value) in &event.about.rest {
            fields.entry(key).or_insert_with(|| value.clone());
        }
    }
}
