//! What a handler reads, and what its answer is made of: an outcome on standard output,
//! or an exit code.

use serde_json::Value;

use super::answer::{proceed, stop};
use super::events::{Rules, find};
use super::predicate::subject;
use crate::decision::{Answer, Decision, Effect, Said};
use crate::dialect::CommandCodec;
use crate::event::Event;
use crate::failure::{Cause, Failure};
use crate::handler::command::Finished;
use crate::hook::Hook;
use crate::json::Json;

/// How programs are spoken with.
pub(super) const COMMAND: CommandCodec = CommandCodec {
    stdin: |_, event| event.payload.text().to_owned() + "\n",
    environment,
    answer,
};

/// The exit code of a refusal.
const REFUSED: u8 = 2;

fn environment(hook: &Hook, event: &Event) -> Vec<(&'static str, String)> {
    let about = &event.about;
    let alone = !about.interactive.unwrap_or(false);
    // As standard input has it: an earlier hook may have changed what the event is about.
    let subject = event.payload.value().get("subject").and_then(Value::as_str);
    let mut variables = vec![
        ("POLYTOKEN_HOOK_EVENT", hook.event.to_string()),
        ("POLYTOKEN_HANDLER_NAME", hook.name.to_string()),
        (
            "POLYTOKEN_HOOK_MATCHER_SUBJECT",
            subject.unwrap_or(&hook.event).to_owned(),
        ),
        ("POLYTOKEN_NON_INTERACTIVE", alone.to_string()),
    ];
    let known = [
        ("POLYTOKEN_SESSION_ID", &about.session),
        ("POLYTOKEN_PROJECT_DIR", &about.project),
        ("POLYTOKEN_PROJECT_PATH", &about.project),
    ];
    for (name, value) in known {
        variables.extend(value.clone().map(|value| (name, value)));
    }
    variables
}

fn answer(hook: &Hook, event: &Event, finished: &Finished) -> Result<Answer, Failure> {
    let rules = find(&hook.event).ok_or_else(|| {
        let message = format!("{:?} is no event of Polytoken", hook.event);
        Failure::new(Cause::BadAnswer, message)
    })?;
    match finished.code {
        Some(0) if finished.stdout.trim().is_empty() => Ok(proceed(rules, None)),
        Some(0) => read(rules, hook, &finished.stdout),
        // A program that could only say that it failed may have meant to refuse.
        Some(REFUSED) | None => refused(rules, event, finished),
        Some(code) => Err(failed(
            &format!("the handler exited with code {code}"),
            finished,
        )),
    }
}

/// Exit code 2: the stop outcome, with what the script printed for the model to see.
fn refused(rules: &Rules, event: &Event, finished: &Finished) -> Result<Answer, Failure> {
    let (stdout, stderr) = (finished.stdout.trim(), finished.stderr.trim());
    let what = subject(rules.info.name, event);
    let silent = format!("a hook refused {what:?} without a reason");
    let reason = [stdout, stderr].into_iter().find(|text| !text.is_empty());
    let reason = reason.unwrap_or(&silent).to_owned();
    match &rules.stop {
        Some(outcome) => {
            let printed =
                |text: &str| (outcome.prints && !text.is_empty()).then(|| text.to_owned());
            let said = Said {
                reason: None,
                stderr: printed(stderr),
                stdout: printed(stdout),
                verb: outcome.verb.into(),
            };
            Ok(stop(said, reason))
        }
        None => {
            let how = match finished.code {
                Some(code) => format!("exited with code {code}"),
                None => "failed".to_owned(),
            };
            let message = format!(
                "the handler {how}, and {} has no outcome that stops it",
                rules.info.name
            );
            Err(failed(&message, finished))
        }
    }
}

fn failed(message: &str, finished: &Finished) -> Failure {
    let said = match finished.stderr.trim() {
        "" => String::new(),
        text => format!(": {text}"),
    };
    Failure::new(Cause::HookError, format!("{message}{said}"))
}

/// Reads an outcome. It has to be one of this event's, with no field that the event
/// does not read.
fn read(rules: &Rules, hook: &Hook, stdout: &str) -> Result<Answer, Failure> {
    let value = Json::parse(stdout.as_bytes(), hook.limits.decision)
        .map_err(|error| bad(rules, &format!("is not one JSON object: {error}")))?
        .into_value();
    let Value::Object(mut fields) = value else {
        return Err(bad(rules, "is not one JSON object"));
    };
    let outcome = match fields.shift_remove("outcome") {
        Some(Value::String(outcome)) => outcome,
        Some(_) => return Err(bad(rules, "has an \"outcome\" that is not a string")),
        None => return Err(bad(rules, "has no \"outcome\"")),
    };
    let mut text = |key: &str| match fields.shift_remove(key) {
        None => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(bad(rules, &format!("has a {key:?} that is not a string"))),
    };
    let answer = if outcome == "error" {
        let message = text("message")?.unwrap_or_else(|| "the handler could not decide".to_owned());
        Err(Failure::new(Cause::HookError, message))
    } else if outcome == rules.proceed {
        let added = match rules.adds {
            Some((field, placement)) => text(field)?.map(|text| (text, placement)),
            None => None,
        };
        let effect = added.map(|(text, placement)| Effect::Context { text, placement });
        Ok(proceed(rules, effect))
    } else if let Some(known) = rules.stop.as_ref().filter(|stop| stop.verb == outcome) {
        let said = Said {
            reason: None,
            stderr: if known.prints { text("stderr")? } else { None },
            stdout: if known.prints { text("stdout")? } else { None },
            verb: known.verb.into(),
        };
        let silent = || format!("a hook said {outcome:?} without a reason");
        Ok(stop(said, text("reason")?.unwrap_or_else(silent)))
    } else if outcome == "suppress" && rules.suppress {
        Ok(suppressed(text("reason")?))
    } else {
        let message = format!(
            "has the outcome {outcome:?}, which {} does not know",
            rules.info.name
        );
        return Err(bad(rules, &message));
    };
    if let Some(unknown) = fields.keys().next() {
        let message = format!("has the field {unknown:?}, which {outcome:?} does not read");
        return Err(bad(rules, &message));
    }
    answer
}

/// Held back quietly: nobody is told, and the action does not happen.
fn suppressed(reason: Option<String>) -> Answer {
    let reason = reason.unwrap_or_else(|| "suppressed".to_owned());
    Answer {
        said: Some(Said::verb("suppress")),
        ..Decision::Block(reason).into()
    }
}

fn bad(rules: &Rules, what: &str) -> Failure {
    let mut outcomes = vec![rules.proceed];
    outcomes.extend(rules.stop.as_ref().map(|stop| stop.verb));
    outcomes.extend(rules.suppress.then_some("suppress"));
    outcomes.push("error");
    Failure::new(
        Cause::BadAnswer,
        format!(
            "the handler's answer {what}; write nothing for {:?}, or one object whose \"outcome\" is one of {}",
            rules.proceed,
            outcomes.join(", ")
        ),
    )
}
