//! What AI Harness events carry, on the way in and when a hook rewrites it.
//!
//! `args` and `arguments` are the same thing twice, decoded and as text; so are
//! `result` and `content`. They are kept in step: a guard that looks at one must
//! not miss what is in the other.

use serde_json::{Map, Value};

use crate::event::Event;
use crate::failure::{Cause, Failure};
use crate::json::{MAX_DEPTH, parse_value, to_text};

/// Why a payload does not fit its event.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PayloadError {
    /// It is not of the kind the event carries.
    #[error("the payload of {event} must be {wanted}, for example {example}")]
    WrongKind {
        /// The event.
        event: String,
        /// What it carries.
        wanted: &'static str,
        /// A payload that fits.
        example: &'static str,
    },
    /// `arguments` or `content` is not what it should be.
    #[error("the payload of {event} has {field:?} that is {problem}")]
    BadField {
        /// The event.
        event: String,
        /// The field.
        field: &'static str,
        /// What is wrong with it.
        problem: String,
    },
}

/// Two fields that say the same, decoded and as JSON text.
struct Twins {
    decoded: &'static str,
    text: &'static str,
}

const TOOL_PRE: Twins = Twins {
    decoded: "args",
    text: "arguments",
};

const TOOL_POST: Twins = Twins {
    decoded: "result",
    text: "content",
};

/// Completes what came in to what hooks may rely on.
///
/// # Errors
/// Returns what a payload of this event must be.
pub fn complete(event: &str, id: &str, payload: Value) -> Result<Value, PayloadError> {
    match event {
        "turn.start" => match payload {
            Value::String(_) => Ok(payload),
            _ => Err(wrong(
                event,
                "the user's message as a string",
                r#""fix the tests""#,
            )),
        },
        "tool.pre" => complete_tool_pre(id, tool_object(event, payload, TOOL_PRE_EXAMPLE)?),
        "tool.post" => complete_tool_post(id, tool_object(event, payload, TOOL_POST_EXAMPLE)?),
        _ => Ok(payload),
    }
}

const TOOL_PRE_EXAMPLE: &str = r#"{"name":"run_command","args":{"command":"ls"}}"#;
const TOOL_POST_EXAMPLE: &str = r#"{"name":"run_command","result":{"stdout":""}}"#;

fn wrong(event: &str, wanted: &'static str, example: &'static str) -> PayloadError {
    PayloadError::WrongKind {
        event: event.to_owned(),
        wanted,
        example,
    }
}

/// A tool event without a tool's name would make every `when` that asks for it
/// fail, and so switch the guards off.
fn tool_object(
    event: &str,
    payload: Value,
    example: &'static str,
) -> Result<Map<String, Value>, PayloadError> {
    match payload {
        Value::Object(object) if object.get("name").is_some_and(Value::is_string) => Ok(object),
        _ => Err(wrong(event, "an object with the tool's \"name\"", example)),
    }
}

fn complete_tool_pre(id: &str, given: Map<String, Value>) -> Result<Value, PayloadError> {
    let mut object = Map::new();
    object.insert(
        "id".to_owned(),
        given.get("id").cloned().unwrap_or_else(|| id.into()),
    );
    object.extend(given);
    match (object.get(TOOL_PRE.text), object.get(TOOL_PRE.decoded)) {
        (Some(Value::String(text)), None) => {
            let args = decode_args(text)?;
            object.insert(TOOL_PRE.decoded.to_owned(), args);
        }
        // Whoever runs the tool may take either, so both must say the same;
        // the decoded one was validated.
        (Some(Value::String(text)), Some(args)) => {
            if decode_args(text)? != *args {
                let text = to_text(args);
                object.insert(TOOL_PRE.text.to_owned(), text.into());
            }
        }
        // Some agents hand the arguments over decoded.
        (Some(decoded @ Value::Object(_)), None) => {
            let (text, args) = (to_text(decoded), decoded.clone());
            object.insert(TOOL_PRE.text.to_owned(), text.into());
            object.insert(TOOL_PRE.decoded.to_owned(), args);
        }
        (None, Some(args)) => {
            let text = to_text(args);
            object.insert(TOOL_PRE.text.to_owned(), text.into());
        }
        (None, None) => {
            object.insert(TOOL_PRE.text.to_owned(), "{}".into());
            object.insert(TOOL_PRE.decoded.to_owned(), Map::new().into());
        }
        (Some(_), _) => return Err(bad_arguments("neither a JSON string nor, alone, an object")),
    }
    match object.get(TOOL_PRE.decoded) {
        Some(Value::Object(_)) => Ok(object.into()),
        _ => Err(PayloadError::BadField {
            event: "tool.pre".to_owned(),
            field: TOOL_PRE.decoded,
            problem: "not an object".to_owned(),
        }),
    }
}

fn decode_args(text: &str) -> Result<Value, PayloadError> {
    // Some models call a tool without parameters with an empty string.
    let text = if text.trim().is_empty() { "{}" } else { text };
    match parse_value(text) {
        Ok(args @ Value::Object(_)) => Ok(args),
        Ok(_) => Err(bad_arguments("not a JSON object")),
        Err(error) => Err(bad_arguments(&format!("not JSON: {error}"))),
    }
}

fn bad_arguments(problem: &str) -> PayloadError {
    PayloadError::BadField {
        event: "tool.pre".to_owned(),
        field: TOOL_PRE.text,
        problem: problem.to_owned(),
    }
}

fn complete_tool_post(id: &str, given: Map<String, Value>) -> Result<Value, PayloadError> {
    let mut object = Map::new();
    object.insert(
        "call_id".to_owned(),
        given.get("call_id").cloned().unwrap_or_else(|| id.into()),
    );
    object.extend(given);
    object.entry("is_error").or_insert(Value::Bool(false));
    match (object.get(TOOL_POST.text), object.get(TOOL_POST.decoded)) {
        (Some(Value::String(text)), None) => {
            let result = decode_content(text);
            object.insert(TOOL_POST.decoded.to_owned(), result);
        }
        (None, result) => {
            let text = result.map_or_else(|| "null".to_owned(), to_text);
            object.insert(TOOL_POST.text.to_owned(), text.into());
            object.entry(TOOL_POST.decoded).or_insert(Value::Null);
        }
        // What the model reads is the text, so a redactor that looks at the
        // other one must see the same.
        (Some(Value::String(text)), Some(result)) => {
            if let Ok(decoded) = parse_value(text)
                && decoded != *result
            {
                object.insert(TOOL_POST.decoded.to_owned(), decoded);
            }
        }
        (Some(_), _) => {
            return Err(PayloadError::BadField {
                event: "tool.post".to_owned(),
                field: TOOL_POST.text,
                problem: "not a string; put a decoded value under \"result\"".to_owned(),
            });
        }
    }
    Ok(object.into())
}

/// Tools are free to return text that is not JSON.
fn decode_content(text: &str) -> Value {
    parse_value(text).unwrap_or_else(|_| text.into())
}

/// Lays what a hook returned over the current payload. An object replaces only
/// the keys it has, so that a partial answer cannot take away what later guards
/// look at; anything else replaces the payload.
///
/// # Errors
/// Returns that the result is not a payload of this event.
pub fn rewrite(event: &Event, new: Value) -> Result<Value, Failure> {
    let twins = match &*event.point {
        "tool.pre" => Some(&TOOL_PRE),
        "tool.post" => Some(&TOOL_POST),
        _ => None,
    };
    let payload = match (event.payload.value(), new) {
        (Value::Object(current), Value::Object(mut new)) => {
            if let Some(twins) = twins {
                keep_in_step(current, &mut new, twins);
            }
            let mut merged = current.clone();
            merged.extend(new);
            Value::Object(merged)
        }
        (_, new) => new,
    };
    check(event, payload)
}

/// Makes the twin that a hook did not change follow the one it did. Where it
/// changed both, the decoded one counts: it is what guards look at.
fn keep_in_step(current: &Map<String, Value>, new: &mut Map<String, Value>, twins: &Twins) {
    let changed = |key: &str, new: &Map<String, Value>| {
        new.get(key)
            .is_some_and(|value| current.get(key) != Some(value))
    };
    if changed(twins.decoded, new) {
        let was_plain_text = current.get(twins.decoded) == current.get(twins.text);
        let text = match &new[twins.decoded] {
            // Text that is not JSON stays text.
            Value::String(text) if was_plain_text => text.clone(),
            decoded => to_text(decoded),
        };
        new.insert(twins.text.to_owned(), text.into());
    } else if changed(twins.text, new) {
        let decoded = match &new[twins.text] {
            Value::String(text) => decode_content(text),
            other => other.clone(),
        };
        if !new[twins.text].is_string() {
            new.insert(twins.text.to_owned(), to_text(&decoded).into());
        }
        new.insert(twins.decoded.to_owned(), decoded);
    }
}

/// A hook must not turn a payload into one that the event could not have
/// started with, nor nest it deeper than it can be read again.
fn check(event: &Event, payload: Value) -> Result<Value, Failure> {
    if depth(&payload) > MAX_DEPTH {
        return Err(Failure::new(
            Cause::BadAnswer,
            format!("the new payload is nested deeper than {MAX_DEPTH} levels"),
        ));
    }
    complete(&event.point, &event.id, payload)
        .map_err(|error| Failure::new(Cause::BadAnswer, format!("after modify, {error}")))
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}

/// Returns what the event is about: the tool, or the agent that is delegated to.
#[must_use]
pub fn subject(event: &str, payload: &Value) -> Option<String> {
    let key = match event {
        "tool.pre" | "tool.post" => "name",
        "delegation.pre" | "delegation.start" | "delegation.post" | "delegation.post_verify" => {
            "agent"
        }
        _ => return None,
    };
    payload.get(key)?.as_str().map(str::to_owned)
}

/// Returns the id the agent gave the event, if it gave one.
#[must_use]
pub fn own_id(payload: &Value) -> Option<String> {
    let id = payload
        .get("id")
        .or_else(|| payload.get("call_id"))?
        .as_str()?;
    (!id.is_empty()).then(|| id.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::Json;
    use proptest::prelude::*;
    use serde_json::json;

    fn event(name: &str, payload: Value) -> Event {
        let payload = Json::from(complete(name, "call_1", payload).unwrap());
        Event::native(name, "call_1", payload)
    }

    #[test]
    fn ah_036_ah_037_tool_pre_has_all_four_keys_and_they_agree() {
        let from_args = complete("tool.pre", "c", json!({"name": "t", "args": {"a": 1}})).unwrap();
        let from_text = complete(
            "tool.pre",
            "c",
            json!({"name": "t", "arguments": "{\"a\":1}"}),
        )
        .unwrap();
        let decoded =
            complete("tool.pre", "c", json!({"name": "t", "arguments": {"a": 1}})).unwrap();
        for payload in [&from_args, &from_text, &decoded] {
            assert_eq!(payload["id"], "c");
            assert_eq!(payload["args"], json!({"a": 1}));
            assert_eq!(payload["arguments"], "{\"a\":1}");
        }
    }

    #[test]
    fn arguments_that_contradict_args_are_written_anew() {
        let lie = json!({"name": "t", "args": {"a": "ls"}, "arguments": "{\"a\":\"rm -rf /\"}"});
        assert_eq!(
            complete("tool.pre", "c", lie).unwrap()["arguments"],
            "{\"a\":\"ls\"}"
        );
        let spaced = json!({"name": "t", "args": {"a": 1}, "arguments": "{ \"a\": 1 }"});
        assert_eq!(
            complete("tool.pre", "c", spaced).unwrap()["arguments"],
            "{ \"a\": 1 }"
        );
    }

    #[test]
    fn ah_038_ah_039_tool_post_has_all_five_keys() {
        let payload = complete(
            "tool.post",
            "c",
            json!({"name": "t", "content": "{\"x\":2}"}),
        )
        .unwrap();
        assert_eq!(
            payload,
            json!({"call_id": "c", "name": "t", "content": "{\"x\":2}", "is_error": false, "result": {"x": 2}})
        );
        let text = complete("tool.post", "c", json!({"name": "t", "content": "plain"})).unwrap();
        assert_eq!(text["result"], "plain");
    }

    #[test]
    fn a_result_that_contradicts_the_content_is_decoded_anew() {
        let lie = json!({"name": "t", "content": "{\"key\":\"secret\"}", "result": {"key": "x"}});
        let payload = complete("tool.post", "c", lie).unwrap();
        assert_eq!(payload["result"], json!({"key": "secret"}));
        let text = json!({"name": "t", "content": "stdout: x", "result": {"stdout": "x"}});
        assert_eq!(
            complete("tool.post", "c", text.clone()).unwrap()["result"],
            text["result"]
        );
    }

    #[test]
    fn plain_text_stays_plain_when_it_is_rewritten() {
        let before = event("tool.post", json!({"name": "cat", "content": "plain"}));
        let after = rewrite(&before, json!({"result": "new"})).unwrap();
        assert_eq!(
            (&after["content"], &after["result"]),
            (&json!("new"), &json!("new"))
        );
        let encoded = event("tool.post", json!({"name": "cat", "content": "\"plain\""}));
        let after = rewrite(&encoded, json!({"result": "new"})).unwrap();
        assert_eq!(after["content"], "\"new\"");
    }

    #[test]
    fn arguments_a_guard_could_not_see_into_are_refused() {
        for payload in [
            json!({"name": "t", "arguments": "{broken"}),
            json!({"name": "t", "arguments": "[1]"}),
            json!({"name": "t", "arguments": "{\"a\":1,\"a\":2}"}),
            json!({"name": "t", "arguments": 5}),
            json!({"name": "t", "args": "rm -rf /"}),
            json!({"args": {}}),
            json!({"name": 5}),
            json!("rm"),
            Value::Null,
        ] {
            assert!(
                complete("tool.pre", "c", payload.clone()).is_err(),
                "{payload}"
            );
        }
    }

    #[test]
    fn ah_063_a_partial_modify_keeps_the_rest_and_re_encodes() {
        let before = event("tool.pre", json!({"name": "t", "args": {"a": 1}}));
        let after = rewrite(&before, json!({"args": {"a": 2}})).unwrap();
        assert_eq!(
            after,
            json!({"id": "call_1", "name": "t", "args": {"a": 2}, "arguments": "{\"a\":2}"})
        );
        let other_way = rewrite(&before, json!({"arguments": "{\"a\":3}"})).unwrap();
        assert_eq!(other_way["args"], json!({"a": 3}));
    }

    #[test]
    fn the_decoded_twin_wins_when_a_hook_changes_both() {
        let before = event("tool.pre", json!({"name": "t", "args": {"a": 1}}));
        let lie = json!({"args": {"a": "harmless"}, "arguments": "{\"a\":\"rm -rf /\"}"});
        let after = rewrite(&before, lie).unwrap();
        assert_eq!(after["arguments"], "{\"a\":\"harmless\"}");
    }

    #[test]
    fn a_rewrite_that_breaks_the_event_is_a_failure() {
        let before = event("tool.pre", json!({"name": "t", "args": {"a": 1}}));
        for new in [
            json!("text"),
            json!({"name": 7}),
            json!({"args": [1]}),
            json!({"arguments": "x"}),
        ] {
            assert_eq!(rewrite(&before, new).unwrap_err().cause, Cause::BadAnswer);
        }
        let turn = event("turn.start", json!("hello"));
        assert_eq!(rewrite(&turn, json!("new")).unwrap(), json!("new"));
        assert!(rewrite(&turn, json!({"a": 1})).is_err());
    }

    proptest! {
        /// Whatever a hook returns, what comes out is a payload whose two
        /// spellings agree, or a failure.
        #[test]
        fn the_twins_agree_after_any_rewrite(
            first in any_object(),
            second in any_object(),
        ) {
            for name in ["tool.pre", "tool.post"] {
                let mut start = first.clone();
                start["name"] = "t".into();
                let Ok(payload) = complete(name, "c", start) else { continue };
                let before = Event::native(name, "c", Json::from(payload));
                let Ok(after) = rewrite(&before, second.clone()) else { continue };
                prop_assert!(after["name"].is_string());
                if name == "tool.pre" {
                    let text = after["arguments"].as_str().unwrap();
                    prop_assert_eq!(&decode_args(text).unwrap(), &after["args"]);
                } else if let Ok(decoded) = parse_value(after["content"].as_str().unwrap()) {
                    prop_assert_eq!(&decoded, &after["result"]);
                }
            }
        }
    }

    fn any_object() -> impl Strategy<Value = Value> {
        let text = prop_oneof![
            Just("{}"),
            Just("{\"a\":1}"),
            Just("{\"a\": 1}"),
            Just("[1]"),
            Just("\"x\""),
            Just("plain"),
            Just(""),
            Just("5"),
        ];
        let value = prop_oneof![
            text.prop_map(Value::from),
            Just(json!({"a": 1})),
            Just(json!({"a": {"b": []}})),
            Just(json!([1])),
            Just(json!(5)),
            Just(Value::Null),
        ];
        let key = prop_oneof![
            Just("args"),
            Just("arguments"),
            Just("content"),
            Just("result"),
            Just("name"),
            Just("id"),
        ];
        prop::collection::vec((key, value), 0..5).prop_map(|entries| {
            entries
                .into_iter()
                .map(|(k, v)| (k.to_owned(), v))
                .collect::<Map<_, _>>()
                .into()
        })
    }
}
