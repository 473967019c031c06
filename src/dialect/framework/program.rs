//! What an executable reads, and what its answer is made of: context on standard output,
//! a decision in JSON, and the exit code.

use serde_json::Value;

use super::answer::{allow, block, context};
use super::events::decides;
use crate::decision::{Answer, Decision, Said};
use crate::dialect::CommandCodec;
use crate::event::Event;
use crate::failure::{Cause, Failure};
use crate::handler::command::Finished;
use crate::hook::Hook;
use crate::json::parse_value;

/// How programs are spoken with.
pub(super) const COMMAND: CommandCodec = CommandCodec {
    stdin: |_, event| event.payload.text().to_owned() + "\n",
    environment: |_, _| Vec::new(),
    answer,
};

/// The exit code of a hard block.
const BLOCKED: u8 = 2;

fn answer(hook: &Hook, _: &Event, finished: &Finished) -> Result<Answer, Failure> {
    match finished.code {
        Some(0) => Ok(spoken(hook, &finished.stdout)),
        // A program that could only say that it failed may have meant to block.
        Some(BLOCKED) | None => Ok(block(&hook.event, reason(hook, finished))),
        Some(code) => {
            let said = match finished.stderr.trim() {
                "" => String::new(),
                text => format!(": {text}"),
            };
            let message = format!("the hook exited with code {code}{said}");
            Err(Failure::new(Cause::HookError, message))
        }
    }
}

/// Exit code 0: a decision where the event takes one, and context otherwise.
fn spoken(hook: &Hook, stdout: &str) -> Answer {
    match decision(hook, stdout) {
        Some(fields) => decided(hook, &fields),
        None if stdout.trim().is_empty() => allow(),
        None => context(stdout),
    }
}

/// Returns the decision that standard output is as a whole.
fn decision(hook: &Hook, stdout: &str) -> Option<serde_json::Map<String, Value>> {
    if !decides(&hook.event) {
        return None;
    }
    match parse_value(stdout) {
        Ok(Value::Object(fields)) => {
            let is_one = fields.contains_key("continue") || fields.contains_key("decision");
            is_one.then_some(fields)
        }
        _ => None,
    }
}

fn decided(hook: &Hook, fields: &serde_json::Map<String, Value>) -> Answer {
    let silent = || format!("hook {:?} gave no explanation", hook.name);
    let message = text(fields, "message").unwrap_or_else(silent);
    let odd = |answer: Answer, warning: &str| Answer {
        warnings: vec![warning.to_owned()],
        ..answer
    };
    match (
        fields.get("decision").map(|word| (word.as_str(), word)),
        fields.get("continue"),
    ) {
        (Some((Some("block"), _)), _) => odd(
            block(&hook.event, message),
            "it says block and exits with 0; exit with 2 to be sure of it",
        ),
        (Some((Some("ask"), _)), _) => Answer {
            said: Some(Said::verb("ask")),
            ..Decision::Ask(message).into()
        },
        (Some((_, word)), _) => odd(
            allow(),
            &format!("the decision {word} is none: write \"block\" or \"ask\""),
        ),
        (None, Some(Value::Bool(true))) => allow(),
        (None, Some(Value::Bool(false))) => odd(
            block(&hook.event, message),
            "it says not to continue; write {\"decision\": \"block\"} and exit with 2 to be sure of it",
        ),
        (None, _) => odd(allow(), "\"continue\" must be true or false"),
    }
}

/// The explanation of a block: in the decision, on standard error, or whatever was said.
fn reason(hook: &Hook, finished: &Finished) -> String {
    let decision = match parse_value(&finished.stdout) {
        Ok(Value::Object(fields)) => text(&fields, "message"),
        _ => None,
    };
    let written = |text: &str| (!text.trim().is_empty()).then(|| text.trim().to_owned());
    decision
        .or_else(|| written(&finished.stderr))
        .or_else(|| written(&finished.stdout))
        .unwrap_or_else(|| {
            format!(
                "hook {:?} blocked {} without an explanation",
                hook.name, hook.event
            )
        })
}

fn text(fields: &serde_json::Map<String, Value>, key: &str) -> Option<String> {
    let text = fields.get(key)?.as_str()?;
    (!text.trim().is_empty()).then(|| text.to_owned())
}
