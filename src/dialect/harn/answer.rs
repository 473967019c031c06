//! Makes decisions of what hooks of Harn return.

use serde_json::{Value, json};

use super::events::{self, Info};
use super::payload;
use super::returned::{Permission, Verdict, control};
use crate::decision::{Answer, Decision, Effect, Said};
use crate::event::Event;
use crate::failure::{Cause, Failure};
use crate::hook::Hook;

/// Takes a value that a function or a closure returned.
pub(super) fn returned(hook: &Hook, _: &Event, value: Value) -> Result<Answer, Failure> {
    let info = info(hook)?;
    let control = control(info, &value)?;
    let reason = match &control.verdict {
        Verdict::Decide(Permission::Allow, reason) => reason.clone(),
        _ => None,
    };
    let mut answer = decide(info, control.verdict);
    answer.effects = control
        .reminders
        .into_iter()
        .map(Effect::Reminder)
        .collect();
    answer.warnings = control.warnings;
    answer.said = Some(Said {
        reason,
        ..Said::verb(control.word)
    });
    Ok(answer)
}

/// Takes an answer in the words of the contract: what a component says means what a
/// function would mean that returned the same.
pub(super) fn judge(hook: &Hook, event: &Event, answer: Answer) -> Result<Answer, Failure> {
    let answer = if answer.said.is_some() {
        answer
    } else {
        let value = value(answer.decision, info(hook)?);
        let mut own = returned(hook, event, value)?;
        let reminders = std::mem::replace(&mut own.effects, answer.effects);
        Effect::gather(&mut own.effects, reminders);
        own
    };
    let Decision::Modify(patch) = answer.decision else {
        return Ok(answer);
    };
    Ok(Answer {
        decision: Decision::Modify(payload::rewrite(event, patch)?),
        ..answer
    })
}

/// Returns what a function would have returned to decide the same.
fn value(decision: Decision, info: &Info) -> Value {
    let permission = info.canonical == "permission.asked";
    match decision {
        Decision::Allow => Value::Null,
        Decision::Block(reason) if permission => json!({"decision": "deny", "reason": reason}),
        Decision::Block(reason) => json!({"block": true, "reason": reason}),
        Decision::Ask(question) if permission => json!({"decision": "ask", "reason": question}),
        // No other event has a word for it, which is the error it should be.
        Decision::Ask(question) => json!({"ask": question}),
        Decision::Modify(value) => value,
    }
}

fn info(hook: &Hook) -> Result<&'static Info, Failure> {
    let (info, _) = events::parse(&hook.event)
        .map_err(|error| Failure::new(Cause::BadAnswer, error.to_string()))?;
    Ok(info)
}

fn decide(info: &Info, verdict: Verdict) -> Answer {
    let reason = |reason: Option<String>, what: &str| {
        reason.unwrap_or_else(|| format!("{} hook decided: {what}", info.name))
    };
    match verdict {
        Verdict::Allow => Decision::Allow.into(),
        Verdict::Block(reason) => Decision::Block(reason).into(),
        Verdict::Decide(Permission::Allow, _) => Answer {
            last: true,
            ..Decision::Allow.into()
        },
        Verdict::Decide(Permission::Deny, why) => Decision::Block(reason(why, "deny")).into(),
        // A yes decides in the policy's place, like one that the hook says itself.
        Verdict::Decide(Permission::Ask, why) => Answer {
            last: true,
            ..Decision::Ask(reason(why, "ask")).into()
        },
        Verdict::Args(args) => Decision::Modify(json!({"args": args})).into(),
        Verdict::Result(result) => Decision::Modify(json!({"result": result})).into(),
        Verdict::Output(output) => Decision::Modify(json!({"output": output})).into(),
    }
}
