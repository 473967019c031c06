//! What a program reads and answers in the native format.
//!
//! It reads one JSON object: `event`, `id`, `subject`, `hook`, `depth`, `payload`.
//! Exit code 0 and nothing written means allow; otherwise it writes one JSON object,
//! `{"decision": "block", "reason": …}`. Exit code 2 blocks, and what was written to
//! standard error is the reason. Every other code is a failure of the hook.

use serde::Deserialize;
use serde_json::{Value, json};

use crate::decision::{Answer, Decision, Effect, Placement, Propagation, Reminder, RoleHint};
use crate::dialect::CommandCodec;
use crate::event::Event;
use crate::failure::{Cause, Failure};
use crate::handler::command::Finished;
use crate::hook::Hook;
use crate::json::Json;
use crate::sandbox::limits::Limits;

/// How programs are spoken with.
pub(super) const COMMAND: CommandCodec = CommandCodec {
    stdin,
    environment,
    answer,
};

/// The exit code of a refusal.
const REFUSED: u8 = 2;

fn stdin(hook: &Hook, event: &Event) -> String {
    let about = json!({
        "event": &*event.name,
        "id": event.id,
        "subject": event.subject,
        "hook": &*hook.name,
        "depth": event.depth,
    });
    // The payload's text is there already, and may be large.
    let mut text = about.to_string();
    text.pop();
    text + ",\"payload\":" + event.payload.text() + "}\n"
}

fn environment(hook: &Hook, event: &Event) -> Vec<(&'static str, String)> {
    vec![
        ("HOOKBOX_EVENT", event.name.to_string()),
        ("HOOKBOX_EVENT_ID", event.id.clone()),
        ("HOOKBOX_HOOK", hook.name.to_string()),
    ]
}

fn answer(hook: &Hook, _: &Event, finished: &Finished) -> Result<Answer, Failure> {
    match finished.code {
        Some(0) if finished.stdout.trim().is_empty() => Ok(Decision::Allow.into()),
        Some(0) => read(&finished.stdout, &hook.limits),
        // A program that could only say that it failed may have meant to refuse.
        Some(REFUSED) | None => Ok(Decision::Block(reason(finished)).into()),
        Some(code) => Err(Failure::new(
            Cause::HookError,
            format!("the program exited with code {code}{}", said(finished)),
        )),
    }
}

fn reason(finished: &Finished) -> String {
    let texts = [finished.stderr.trim(), finished.stdout.trim()];
    let text = texts.into_iter().find(|text| !text.is_empty());
    text.unwrap_or("the program refused without a reason")
        .to_owned()
}

fn said(finished: &Finished) -> String {
    match finished.stderr.trim() {
        "" => String::new(),
        text => format!(": {text}"),
    }
}

fn read(stdout: &str, limits: &Limits) -> Result<Answer, Failure> {
    let value = Json::parse(stdout.as_bytes(), limits.decision)
        .map_err(|error| bad(&format!("is not one JSON object: {error}")))?
        .into_value();
    // A list would do for whoever reads fields by their position.
    if !value.is_object() {
        return Err(bad("is not one JSON object"));
    }
    let written: Written =
        serde_json::from_value(value).map_err(|error| bad(&error.to_string()))?;
    let text = |text: Option<String>, key: &str| {
        let missing = || bad(&format!("has no {key:?}"));
        text.ok_or_else(missing)
    };
    let decision = match written.decision {
        Word::Allow => Decision::Allow,
        Word::Block => Decision::Block(text(written.reason, "reason")?),
        Word::Ask => Decision::Ask(text(written.message.or(written.reason), "message")?),
        Word::Modify => Decision::Modify(written.payload.ok_or_else(|| bad("has no \"payload\""))?),
    };
    Ok(Answer {
        effects: written.effects.into_iter().map(Effect::from).collect(),
        ..decision.into()
    })
}

fn bad(what: &str) -> Failure {
    Failure::new(
        Cause::BadAnswer,
        format!(
            "the program's answer {what}; write nothing to allow, or for example {{\"decision\": \"block\", \"reason\": \"why\"}}"
        ),
    )
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    decision: Word,
    reason: Option<String>,
    message: Option<String>,
    #[serde(default, deserialize_with = "given")]
    payload: Option<Value>,
    #[serde(default)]
    effects: Vec<WrittenEffect>,
}

/// Tells a payload of `null` from none.
fn given<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Value>, D::Error> {
    Value::deserialize(deserializer).map(Some)
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Word {
    Allow,
    Block,
    Modify,
    Ask,
}

#[derive(Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", deny_unknown_fields)]
enum WrittenEffect {
    Context {
        text: String,
        #[serde(default = "system_reminder")]
        placement: Placement,
    },
    Reminder {
        body: String,
        #[serde(default)]
        tags: Vec<String>,
        dedupe_key: Option<String>,
        ttl_turns: Option<u32>,
        #[serde(default)]
        preserve_on_compact: bool,
        #[serde(default = "session")]
        propagate: Propagation,
        #[serde(default = "system")]
        role_hint: RoleHint,
    },
}

fn system_reminder() -> Placement {
    Placement::SystemReminder
}

fn session() -> Propagation {
    Propagation::Session
}

fn system() -> RoleHint {
    RoleHint::System
}

impl From<WrittenEffect> for Effect {
    fn from(effect: WrittenEffect) -> Self {
        match effect {
            WrittenEffect::Context { text, placement } => Self::Context { text, placement },
            WrittenEffect::Reminder {
                body,
                tags,
                dedupe_key,
                ttl_turns,
                preserve_on_compact,
                propagate,
                role_hint,
            } => Self::Reminder(Reminder {
                body,
                tags,
                dedupe_key,
                ttl_turns,
                preserve_on_compact,
                propagate,
                role_hint,
            }),
        }
    }
}
