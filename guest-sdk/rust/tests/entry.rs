//! What the host gets back from a hook, for everything a hook may return.

use std::error::Error as StdError;
use std::fmt;

use hookbox_guest::bindings::hookbox::hook::types::{
    Answer, Decision as Ruling, Event as RawEvent, Failure,
};
use hookbox_guest::{
    Decision, Error, Event, HostError, Kind, Value, allow, ask, block, context, hook, json, modify,
};
use serde::Deserialize;

fn raw(payload: &Value) -> RawEvent {
    RawEvent {
        name: "tool.pre".into(),
        payload: payload.to_string(),
        id: "call-1".into(),
        subject: Some("rm".into()),
        hook: "guard".into(),
        depth: 2,
    }
}

/// Calls a hook as the component's export does.
macro_rules! handle {
    ($hook:path, $payload:tt) => {
        hookbox_guest::__handle!($hook, raw(&json!($payload)))
    };
}

fn ruling(answer: Result<Answer, Failure>) -> Ruling {
    answer.expect("the hook failed").decision
}

fn failure(answer: Result<Answer, Failure>) -> (String, Option<String>) {
    let failure = answer.expect_err("the hook did not fail");
    (failure.message, failure.stack)
}

#[derive(Deserialize)]
struct Payload {
    args: Args,
}

#[derive(Deserialize)]
struct Args {
    command: String,
}

#[derive(Debug)]
struct Outer(Inner);

#[derive(Debug)]
struct Inner;

impl fmt::Display for Outer {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("outer")
    }
}

impl fmt::Display for Inner {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("inner")
    }
}

impl StdError for Outer {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        Some(&self.0)
    }
}

impl StdError for Inner {}

/// The attribute itself is tried on one hook, since a component has only one.
#[hook]
fn attribute(event: Event<Payload>) -> Result<Decision, Error> {
    Ok(block(event.payload.args.command))
}

#[test]
fn a_typed_payload_arrives() {
    let answer = handle!(attribute, {"args": {"command": "ls"}, "more": 1});
    assert!(matches!(ruling(answer), Ruling::Block(reason) if reason == "ls"));
}

#[test]
fn a_payload_that_does_not_fit_is_an_error_with_its_place() {
    let (message, stack) = failure(handle!(attribute, {"args": {}}));
    assert_eq!(
        message,
        "the payload does not fit at args: missing field `command`"
    );
    assert_eq!(stack, None);
}

#[test]
fn an_event_without_a_type_carries_any_value() {
    fn hook(event: Event) -> Decision {
        modify(json!({
            "payload": event.payload, "name": event.name, "id": event.id,
            "subject": event.subject, "hook": event.hook, "depth": event.depth,
        }))
    }
    for payload in [json!(null), json!({}), json!([1, "two"])] {
        let answer = hookbox_guest::__handle!(hook, raw(&payload));
        let Ruling::Modify(text) = ruling(answer) else {
            panic!("not a modification");
        };
        let expected = json!({
            "payload": payload, "name": "tool.pre", "id": "call-1",
            "subject": "rm", "hook": "guard", "depth": 2,
        });
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), expected);
    }
}

#[test]
fn a_plain_decision_is_enough() {
    fn hook(_: Event) -> Decision {
        ask("sure?")
    }
    assert!(matches!(ruling(handle!(hook, null)), Ruling::Ask(message) if message == "sure?"));
}

#[test]
fn effects_go_out_with_the_decision() {
    fn hook(_: Event) -> Decision {
        context("first");
        allow()
    }
    let answer = handle!(hook, null).unwrap();
    assert!(matches!(answer.decision, Ruling::Allow));
    assert_eq!(answer.effects.len(), 1);
    assert_eq!(handle!(hook, null).unwrap().effects.len(), 1);
}

#[test]
fn a_payload_that_cannot_be_written_is_an_error() {
    fn hook(_: Event) -> Decision {
        modify(std::collections::BTreeMap::from([([1], 1)]))
    }
    assert_eq!(
        failure(handle!(hook, null)).0,
        "the payload given to modify() cannot be written as JSON: key must be a string"
    );
}

#[test]
fn every_error_that_knows_its_causes_tells_them() {
    fn own(_: Event) -> Result<Decision, Outer> {
        Err(Outer(Inner))
    }
    fn crates(_: Event) -> Result<Decision, Error> {
        Err(Outer(Inner))?
    }
    fn boxed(_: Event) -> Result<Decision, Box<dyn StdError>> {
        Err(Outer(Inner))?
    }
    fn sendable(_: Event) -> Result<Decision, Box<dyn StdError + Send + Sync>> {
        Err(Outer(Inner))?
    }
    fn anyhow(_: Event) -> anyhow::Result<Decision> {
        Err(Outer(Inner))?
    }
    let expected = ("outer".to_owned(), Some("caused by: inner".to_owned()));
    assert_eq!(failure(handle!(own, null)), expected);
    assert_eq!(failure(handle!(crates, null)), expected);
    assert_eq!(failure(handle!(boxed, null)), expected);
    assert_eq!(failure(handle!(sendable, null)), expected);
    assert_eq!(failure(handle!(anyhow, null)), expected);
}

#[test]
fn anything_that_can_be_displayed_is_an_error() {
    fn text(_: Event) -> Result<Decision, String> {
        Err("as text".into())
    }
    fn message(_: Event) -> Result<Decision, Error> {
        Err(Error::new("as text"))
    }
    fn host(_: Event) -> Result<Decision, HostError> {
        Err(HostError::new(Kind::Quota, "as text"))
    }
    let expected = ("as text".to_owned(), None);
    assert_eq!(failure(handle!(text, null)), expected);
    assert_eq!(failure(handle!(message, null)), expected);
    assert_eq!(failure(handle!(host, null)), expected);
}
