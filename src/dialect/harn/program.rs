//! Programs as handlers of Harn: they read the event, and write the value that a
//! function would return.

use serde_json::{Value, json};

use super::answer::returned;
use crate::decision::Answer;
use crate::dialect::CommandCodec;
use crate::event::Event;
use crate::failure::{Cause, Failure};
use crate::handler::command::Finished;
use crate::hook::Hook;
use crate::json::Json;

/// How programs are spoken with.
pub(super) const COMMAND: CommandCodec = CommandCodec {
    stdin: |_, event| event.payload.text().to_owned() + "\n",
    environment: |hook, _| vec![("HARN_HANDLER", hook.name.to_string())],
    answer,
};

/// The exit code of a refusal.
const REFUSED: u8 = 2;

fn answer(hook: &Hook, event: &Event, finished: &Finished) -> Result<Answer, Failure> {
    let value = match finished.code {
        Some(0) if finished.stdout.trim().is_empty() => Value::Null,
        Some(0) => Json::parse(finished.stdout.as_bytes(), hook.limits.decision)
            .map_err(|error| {
                let message = format!("the handler's answer is not one JSON value: {error}");
                Failure::new(Cause::BadAnswer, message)
            })?
            .into_value(),
        // A program that could only say that it failed may have meant to refuse.
        Some(REFUSED) | None => refusal(finished),
        Some(code) => {
            let said = match finished.stderr.trim() {
                "" => String::new(),
                text => format!(": {text}"),
            };
            let message = format!("the handler exited with code {code}{said}");
            return Err(Failure::new(Cause::HookError, message));
        }
    };
    returned(hook, event, value)
}

fn refusal(finished: &Finished) -> Value {
    let texts = [finished.stderr.trim(), finished.stdout.trim()];
    match texts.into_iter().find(|text| !text.is_empty()) {
        Some(reason) => json!({"block": true, "reason": reason}),
        None => Value::Bool(false),
    }
}
