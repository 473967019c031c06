//! Cline: one JSON object on stdout; neither the exit code nor stderr is looked at.

use crate::readers::shape::{Field, Kind, Unknown, check, may};
use crate::readers::{Effect, Finished, Read, filled, text};
use serde_json::{Map, Value};

type Json = Map<String, Value>;

pub const EVENTS: &[&str] = &[
    "PreToolUse",
    "PostToolUse",
    "UserPromptSubmit",
    "TaskStart",
    "TaskResume",
    "TaskComplete",
    "TaskError",
    "TaskCancel",
    "SessionShutdown",
    "PreCompact",
];

const LIMIT: usize = 50_000;

const FIELDS: &[Field] = &[
    may("cancel", Kind::Flag),
    may("errorMessage", Kind::Text),
    may("contextModification", Kind::Text),
    may("context", Kind::Text),
    may("review", Kind::Flag),
];
const INPUT: &[Field] = &[may("overrideInput", Kind::Object)];

/// Started and left alone everywhere, so whatever they print is lost.
fn detached(event: &str) -> bool {
    !matches!(
        event,
        "PreToolUse" | "PostToolUse" | "UserPromptSubmit" | "TaskStart" | "TaskResume"
    )
}

pub fn read(event: &str, _input: &Value, finished: &Finished) -> Read {
    if !EVENTS.contains(&event) {
        return Read::fails_open(format!("no event {event}"));
    }
    let stdout = finished.stdout.trim();
    if stdout.is_empty() {
        return if finished.code == 0 {
            Read::proceeds()
        } else {
            Read::fails_open(format!("exit {}", finished.code))
        };
    }
    if detached(event) {
        let mut read = Read::proceeds();
        read.ignored.push("stdout".into());
        return read;
    }
    match serde_json::from_str(control(stdout)) {
        Ok(Value::Object(map)) => structured(event, &map),
        Ok(_) => Read::proceeds(),
        Err(_) => Read::fails_open("stdout is not JSON"),
    }
}

/// Marked lines win over the rest of stdout, the last of them over the others.
fn control(stdout: &str) -> &str {
    let marked = stdout
        .lines()
        .rev()
        .find_map(|line| line.trim().strip_prefix("HOOK_CONTROL\t"));
    marked.unwrap_or(stdout)
}

fn structured(event: &str, map: &Json) -> Read {
    let note = text(map, "context").or_else(|| text(map, "contextModification"));
    let error = filled(map, "errorMessage");
    let mut read = if map.get("cancel") == Some(&Value::Bool(true)) {
        Read::blocked(error.or(note).unwrap_or_default())
    } else {
        let mut read = Read::proceeds();
        let context = note.or(error).filter(|text| !text.trim().is_empty());
        read.context
            .extend(context.map(|text| text.chars().take(LIMIT).collect::<String>()));
        read
    };
    if matches!(event, "UserPromptSubmit" | "TaskStart" | "TaskResume") {
        read.doubts
            .push("only the VS Code extension waits for this event".into());
    }
    if map.contains_key("shouldContinue") {
        read.doubts
            .push("shouldContinue makes the whole answer invalid in the VS Code extension".into());
    }
    input(event, map, &mut read);
    let unread = |key: &&String| {
        !FIELDS
            .iter()
            .chain(INPUT)
            .any(|field| field.name == key.as_str())
    };
    read.ignored.extend(map.keys().filter(unread).cloned());
    // Parsed, passed on, and then asked by nobody.
    if map.contains_key("review") {
        read.ignored.push("review".into());
    }
    read
}

fn input(event: &str, map: &Json, read: &mut Read) {
    let Some(new) = map.get("overrideInput") else {
        return;
    };
    if event == "PreToolUse" && read.effect == Effect::Proceeds {
        read.effect = Effect::Rewritten(new.clone());
        read.doubts
            .push("the VS Code extension does not take overrideInput".into());
    } else {
        read.ignored.push("overrideInput".into());
    }
}

pub fn accepts(event: &str, stdout: &str) -> Result<(), String> {
    let trimmed = stdout.trim();
    if trimmed.is_empty() {
        return Ok(());
    }
    if detached(event) {
        return Err("stdout is not read".into());
    }
    let map = crate::readers::object(trimmed).ok_or("not a JSON object")?;
    let fields: &[&[Field]] = if event == "PreToolUse" {
        &[FIELDS, INPUT]
    } else {
        &[FIELDS]
    };
    check(&map, "", fields, Unknown::Refused)?;
    if map.contains_key("review") {
        return Err("review: has no effect".into());
    }
    if map.get("cancel") == Some(&Value::Bool(true)) && filled(&map, "errorMessage").is_none() {
        return Err("errorMessage: missing".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn at(event: &str, stdout: &str, stderr: &str, code: i32) -> Read {
        read(event, &Value::Null, &Finished::new(stdout, stderr, code))
    }
    fn blocked(reason: &str) -> Effect {
        Effect::Blocked {
            reason: reason.into(),
        }
    }

    #[test]
    fn before_a_tool() {
        let cancel = r#"{"cancel":true,"errorMessage":"r","contextModification":"c"}"#;
        for (stdout, code, want) in [
            ("", 0, Effect::Proceeds),
            ("", 2, Effect::FailsOpen("exit 2".into())),
            (cancel, 0, blocked("r")),
            (cancel, 1, blocked("r")),
            (
                r#"{"cancel":true,"contextModification":"c"}"#,
                0,
                blocked("c"),
            ),
            (r#"{"cancel":true}"#, 0, blocked("")),
            (r#"{"cancel":"true"}"#, 0, Effect::Proceeds),
            (r#"{"review":true}"#, 0, Effect::Proceeds),
            (r#"{"decision":"block"}"#, 0, Effect::Proceeds),
            (
                "noise\nHOOK_CONTROL\t{\"cancel\":true,\"errorMessage\":\"r\"}\nmore",
                0,
                blocked("r"),
            ),
            (
                "noise {\"cancel\":true}",
                0,
                Effect::FailsOpen("stdout is not JSON".into()),
            ),
            (
                r#"{"overrideInput":{"commands":["pwd"]}}"#,
                0,
                Effect::Rewritten(json!({"commands": ["pwd"]})),
            ),
        ] {
            assert_eq!(
                at("PreToolUse", stdout, "no", code).effect,
                want,
                "{stdout} {code}"
            );
        }
    }

    #[test]
    fn context_and_detached_events() {
        assert_eq!(
            at("PreToolUse", r#"{"contextModification":"c"}"#, "", 0).context,
            ["c"]
        );
        assert_eq!(
            at("PreToolUse", r#"{"errorMessage":"e"}"#, "", 0).context,
            ["e"]
        );
        assert!(
            at("PreToolUse", r#"{"cancel":true,"context":"c"}"#, "", 0)
                .context
                .is_empty()
        );
        let cancel = r#"{"cancel":true,"errorMessage":"r"}"#;
        assert_eq!(at("TaskComplete", cancel, "", 0).effect, Effect::Proceeds);
        let prompt = at("UserPromptSubmit", cancel, "", 0);
        assert_eq!((prompt.effect, prompt.doubts.len()), (blocked("r"), 1));
        assert!(accepts("PreToolUse", r#"{"cancel":true}"#).is_err());
        assert!(accepts("PreToolUse", cancel).is_ok());
    }
}
