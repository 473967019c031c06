//! Polytoken: `hooks.json`, a list of entries whose handlers are programs. Each event
//! has outcomes of its own.

mod answer;
pub mod events;
mod loader;
mod native;
mod predicate;
mod program;

use serde_json::Value;

use super::flat::{self, Keys};
use super::harness::payload::PayloadError;
use super::{Decoded, Dialect, EventInfo, Incoming, PredicateFailure};
use crate::decision::Answer;
use crate::event::Event;
use crate::failure::{Cause, Failure};
use crate::hook::Hook;
use crate::json::Json;

/// The rules of Polytoken.
pub static DIALECT: Dialect = Dialect {
    name: "polytoken",
    title: "Polytoken",
    goes_first: false,
    events: events::catalogue,
    find: |name| events::find(name).map(|rules| &rules.info),
    tells: true,
    load: loader::load,
    decode,
    view,
    predicate_failure: |_| PredicateFailure::Fail,
    judge: answer::judge,
    returned,
    command: program::COMMAND,
    native: native::write,
};

/// What the fields of a payload are called.
const KEYS: Keys = Keys {
    event: "event",
    tool: "tool_name",
    input: "input",
    output: "output",
    prompt: "prompt",
    agent: "subagent_type",
};

fn decode(info: &EventInfo, incoming: Incoming) -> Result<Decoded, PayloadError> {
    let mut decoded = flat::decode(&KEYS, info, incoming)?;
    // There are two events after a tool, and the name says which.
    if let (Some(failed), Some(payload)) = (
        events::after_tool(info.name),
        decoded.payload.as_object_mut(),
    ) {
        payload.insert("is_error".to_owned(), failed.into());
    }
    Ok(decoded)
}

/// Every event passes its own name and the matcher's subject; tool events add the tool's
/// name and its input, subagent events the subagent's type.
fn view(name: &str, event: &Event) -> Json {
    let own = [
        ("event", name.to_owned()),
        ("subject", predicate::subject(name, event)),
    ]
    .map(|(key, value)| (key.to_owned(), Value::String(value)));
    let mut fields = serde_json::Map::from_iter(own.clone());
    flat::show(&KEYS, &mut fields, event, &DIALECT);
    // A payload of another dialect may have fields of the same names.
    fields.extend(own);
    Json::from(Value::Object(fields))
}

/// Nothing returns values in this dialect.
fn returned(_: &Hook, _: &Event, _: Value) -> Result<Answer, Failure> {
    Err(Failure::new(
        Cause::BadAnswer,
        "a Polytoken hook answers with an outcome, not with a value",
    ))
}
