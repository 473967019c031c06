//! AI Harness: Markdown files with Starlark in their frontmatter. Also the
//! native format of hookbox.

mod answer;
pub mod events;
mod fields;
pub mod frontmatter;
mod loader;
mod native;
pub mod payload;

pub use loader::{Written, written};

use serde_json::Value;

use super::{Decoded, Dialect, EventInfo, Incoming, PredicateFailure};
use crate::decision::{Answer, Decision};
use crate::event::{About, Event};
use crate::failure::{Cause, Failure};
use crate::hook::Hook;
use payload::PayloadError;

/// The rules of AI Harness.
pub static DIALECT: Dialect = Dialect {
    name: "harness",
    title: "AI Harness",
    goes_first: true,
    events: || &events::CATALOGUE,
    find: events::find,
    tells: false,
    load: loader::load,
    decode,
    view: |_, event| event.payload.clone(),
    predicate_failure,
    judge,
    returned,
    command: answer::COMMAND,
    native: native::write,
};

/// Takes what a closure of the host returned: nothing, or why it refuses.
fn returned(_: &Hook, _: &Event, value: Value) -> Result<Answer, Failure> {
    match value {
        Value::Null => Ok(Decision::Allow.into()),
        Value::String(reason) => Ok(Decision::Block(reason).into()),
        _ => Err(Failure::new(
            Cause::BadAnswer,
            "the hook answers with a value, and not with a decision",
        )),
    }
}

/// What comes in is in the native form already, if it is whole.
fn decode(_: &EventInfo, incoming: Incoming) -> Result<Decoded, PayloadError> {
    let payload = payload::complete(&incoming.name, &incoming.id, incoming.payload)?;
    Ok(Decoded {
        payload,
        about: About::default(),
    })
}

/// Lays a modified payload over the current one.
fn judge(_: &Hook, event: &Event, answer: Answer) -> Result<Answer, Failure> {
    let Decision::Modify(new) = answer.decision else {
        return Ok(answer);
    };
    Ok(Answer {
        decision: Decision::Modify(payload::rewrite(event, new)?),
        ..answer
    })
}

/// A `when` that raises means that the hook does not apply. A `when` that was
/// stopped by a limit means that nobody knows, and then the hook has failed: a
/// payload made to exhaust the predicate must not switch the guard off.
fn predicate_failure(failure: &Failure) -> PredicateFailure {
    if failure.cause == Cause::HookError {
        PredicateFailure::Skip
    } else {
        PredicateFailure::Fail
    }
}
