//! What a hook returns: `allow()`, `block(reason)`, `modify(payload)`,
//! `ask(message)`, or the same as a dict.

use std::fmt;

use allocative::Allocative;
use starlark::environment::GlobalsBuilder;
use starlark::starlark_simple_value;
use starlark::values::dict::DictRef;
use starlark::values::{
    NoSerialize, ProvidesStaticType, StarlarkPagablePanic, StarlarkValue, Value, starlark_value,
};

use crate::bindings::exports::hookbox::starlark::interpreter::Verdict;
use crate::bindings::hookbox::hook::types::{Answer, Decision};
use crate::json_out::{encode, quote, with_article};
use crate::problem::raise;

const ADVICE: &str = "end every branch in allow(), block(reason) or modify(payload)";

/// The value that the decision constructors return. A new payload is turned
/// into JSON at once, so that an error in it points at the call of `modify`.
#[derive(Debug, Clone, ProvidesStaticType, NoSerialize, StarlarkPagablePanic, Allocative)]
pub enum HookResult {
    Allow,
    Block(String),
    Modify(String),
    Ask(String),
}

starlark_simple_value!(HookResult);

#[starlark_value(type = "HookResult")]
impl<'v> StarlarkValue<'v> for HookResult {}

impl fmt::Display for HookResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HookResult::Allow => f.write_str("allow()"),
            HookResult::Block(reason) => call(f, "block", reason),
            HookResult::Ask(message) => call(f, "ask", message),
            HookResult::Modify(payload) => write!(f, "modify({payload})"),
        }
    }
}

fn call(f: &mut fmt::Formatter<'_>, name: &str, text: &str) -> fmt::Result {
    let mut quoted = String::new();
    quote(text, &mut quoted);
    write!(f, "{name}({quoted})")
}

/// Adds the decision constructors.
#[starlark::starlark_module]
pub fn register(builder: &mut GlobalsBuilder) {
    /// Lets the operation pass, unchanged.
    fn allow() -> anyhow::Result<HookResult> {
        Ok(HookResult::Allow)
    }

    /// Refuses the operation.
    fn block<'v>(reason: Value<'v>) -> starlark::Result<HookResult> {
        match reason.unpack_str() {
            Some(reason) => Ok(HookResult::Block(reason.to_owned())),
            None => Err(raise(format!(
                "block: the reason must be a string, not {}",
                with_article(reason.get_type())
            ))),
        }
    }

    /// Leaves the operation to a person.
    fn ask<'v>(message: Value<'v>) -> starlark::Result<HookResult> {
        match message.unpack_str() {
            Some(message) => Ok(HookResult::Ask(message.to_owned())),
            None => Err(raise(format!(
                "ask: the message must be a string, not {}",
                with_article(message.get_type())
            ))),
        }
    }

    /// Lets the operation pass with another payload.
    fn modify<'v>(payload: Value<'v>) -> starlark::Result<HookResult> {
        let payload =
            encode(payload, "payload").map_err(|what| raise(format!("modify: {what}")))?;
        Ok(HookResult::Modify(payload))
    }
}

/// Reads what `handle` returned.
pub fn read(returned: Value<'_>) -> starlark::Result<Verdict> {
    if let Some(result) = HookResult::from_value(returned) {
        return Ok(verdict(match result {
            HookResult::Allow => Decision::Allow,
            HookResult::Block(reason) => Decision::Block(reason.clone()),
            HookResult::Modify(payload) => Decision::Modify(payload.clone()),
            HookResult::Ask(message) => Decision::Ask(message.clone()),
        }));
    }
    let Some(dict) = DictRef::from_value(returned) else {
        return Ok(odd(&describe(returned)));
    };
    let Some(action) = dict.get_str("action") else {
        return Ok(odd("a dict without \"action\""));
    };
    match action.unpack_str() {
        Some("allow") => Ok(verdict(Decision::Allow)),
        Some("block") => {
            let reason = dict
                .get_str("reason")
                .and_then(|reason| reason.unpack_str());
            let warning = reason.is_none().then(|| {
                "handle returned {\"action\": \"block\"} without a string under \"reason\"; \
                 the reason given is \"blocked\""
                    .to_owned()
            });
            let reason = reason.unwrap_or("blocked").to_owned();
            Ok(Verdict {
                warning,
                ..verdict(Decision::Block(reason))
            })
        }
        Some("ask") => match dict.get_str("message").and_then(|text| text.unpack_str()) {
            Some(message) => Ok(verdict(Decision::Ask(message.to_owned()))),
            None => Ok(odd("{\"action\": \"ask\"} without a string under \"message\"")),
        },
        Some("modify") => match dict.get_str("payload") {
            Some(payload) => {
                let payload = encode(payload, "payload").map_err(raise)?;
                Ok(verdict(Decision::Modify(payload)))
            }
            None => Ok(odd("{\"action\": \"modify\"} without \"payload\"")),
        },
        _ => Ok(odd(&format!(
            "a dict with the unknown action {}",
            action.to_repr()
        ))),
    }
}

fn verdict(decision: Decision) -> Verdict {
    Verdict {
        answer: Answer {
            decision,
            effects: Vec::new(),
        },
        warning: None,
    }
}

fn odd(what: &str) -> Verdict {
    Verdict {
        warning: Some(format!(
            "handle returned {what}; treated as allow(): {ADVICE}"
        )),
        ..verdict(Decision::Allow)
    }
}

fn describe(value: Value<'_>) -> String {
    let shown = value.to_repr();
    match value.get_type() {
        "NoneType" => "None".to_owned(),
        "function" => format!("the function {shown} without calling it"),
        name if shown.chars().count() <= 60 => format!("the {name} {shown}"),
        name => with_article(name),
    }
}
