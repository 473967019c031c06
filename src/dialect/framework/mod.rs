//! The Harness Framework: `settings.json`, with executables for six events. What breaks
//! is passed over; only a refusal stops anything.

mod answer;
pub mod events;
mod header;
mod loader;
mod native;
mod predicate;
mod program;

use serde_json::{Map, Value};

use super::flat::{self, Keys};
use super::{Dialect, PredicateFailure};
use crate::event::Event;
use crate::failure::{Cause, Failure};
use crate::json::Json;

/// The rules of The Harness Framework.
pub static DIALECT: Dialect = Dialect {
    name: "framework",
    title: "The Harness Framework",
    goes_first: false,
    events: || &events::EVENTS,
    find: events::find,
    tells: false,
    load: loader::load,
    decode: |info, incoming| flat::decode(&KEYS, info, incoming),
    view,
    predicate_failure: |_| PredicateFailure::Fail,
    judge: answer::judge,
    returned: |_, _, _| {
        Err(Failure::new(
            Cause::BadAnswer,
            "a hook of The Harness Framework answers on standard output, not with a value",
        ))
    },
    command: program::COMMAND,
    native: native::write,
};

/// What the fields of a payload are called.
const KEYS: Keys = Keys {
    event: "hook_event_name",
    tool: "tool_name",
    input: "tool_input",
    output: "tool_output",
    prompt: "prompt",
    agent: "subagent_type",
};

/// Every event has the three fields of the base payload.
fn view(name: &str, event: &Event) -> Json {
    let about = &event.about;
    let mut fields = Map::new();
    let known = |text: &Option<String>| Value::from(text.clone().unwrap_or_default());
    fields.insert("session_id".to_owned(), known(&about.session));
    fields.insert("transcript_path".to_owned(), known(&about.transcript));
    fields.insert("hook_event_name".to_owned(), name.into());
    flat::show(&KEYS, &mut fields, event, &DIALECT);
    Json::from(Value::Object(fields))
}
