//! goose: only `PreToolUse` can deny, by exit 2 or by `{"decision":"block"}` whatever the exit code.

use crate::readers::{Finished, Read, filled, text};
use serde_json::{Map, Value};

pub const EVENTS: &[&str] = &[
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "BeforeReadFile",
    "AfterFileEdit",
    "BeforeShellExecution",
    "AfterShellExecution",
    "Stop",
    "SubagentStart",
    "SubagentStop",
];

const UNSAID: &str = "denied by plugin hook";

pub fn read(event: &str, _input: &Value, finished: &Finished) -> Read {
    if !EVENTS.contains(&event) {
        return Read::fails_open(format!("no event {event}"));
    }
    let denied = if event == "PreToolUse" {
        denial(finished)
    } else {
        None
    };
    match denied {
        Some(reason) => Read::blocked(reason),
        None if finished.code == 0 => {
            let mut read = Read::proceeds();
            if !finished.stdout.trim().is_empty() {
                read.ignored.push("stdout".into());
            }
            read
        }
        None => Read::fails_open(format!("exit {}", finished.code)),
    }
}

fn denial(finished: &Finished) -> Option<String> {
    let or_default = |reason: &str| {
        if reason.is_empty() {
            UNSAID.to_string()
        } else {
            reason.to_string()
        }
    };
    if finished.code == 2 {
        return Some(or_default(finished.stderr.trim()));
    }
    let map = crate::readers::object(finished.stdout)?;
    // One value of a wrong type and nothing of the answer is read.
    let typed = |key: &str| matches!(map.get(key), None | Some(Value::Null | Value::String(_)));
    let blocks = typed("decision") && typed("reason") && text(&map, "decision") == Some("block");
    blocks.then(|| or_default(text(&map, "reason").unwrap_or_default()))
}

pub fn accepts(event: &str, stdout: &str) -> Result<(), String> {
    let trimmed = stdout.trim();
    if trimmed.is_empty() {
        return Ok(());
    }
    if event != "PreToolUse" {
        return Err("stdout is not read".into());
    }
    let map: Map<String, Value> = crate::readers::object(trimmed).ok_or("not a JSON object")?;
    if let Some(key) = map
        .keys()
        .find(|key| !matches!(key.as_str(), "decision" | "reason"))
    {
        return Err(format!("{key}: unknown key"));
    }
    match (text(&map, "decision"), filled(&map, "reason")) {
        (Some("block"), Some(_)) => Ok(()),
        _ => Err("decision block and a reason are all there is".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::readers::Effect;

    fn at(event: &str, stdout: &str, stderr: &str, code: i32) -> Effect {
        read(event, &Value::Null, &Finished::new(stdout, stderr, code)).effect
    }
    fn blocked(reason: &str) -> Effect {
        Effect::Blocked {
            reason: reason.into(),
        }
    }

    #[test]
    fn before_a_tool() {
        let block = r#"{"decision":"block","reason":"r","more":1}"#;
        for (stdout, stderr, code, want) in [
            ("", "no\n", 2, blocked("no")),
            ("", "", 2, blocked(UNSAID)),
            (block, "", 0, blocked("r")),
            (block, "", 1, blocked("r")),
            (block, "no", 2, blocked("no")),
            (r#"{"decision":"block"}"#, "", 0, blocked(UNSAID)),
            (
                r#"{"decision":"block","reason":1}"#,
                "",
                0,
                Effect::Proceeds,
            ),
            (
                r#"{"decision":"deny","reason":"r"}"#,
                "",
                0,
                Effect::Proceeds,
            ),
            ("hello", "", 0, Effect::Proceeds),
            ("", "no", 1, Effect::FailsOpen("exit 1".into())),
        ] {
            assert_eq!(
                at("PreToolUse", stdout, stderr, code),
                want,
                "{stdout} {code}"
            );
        }
    }

    #[test]
    fn what_looks_like_a_gate_and_is_none() {
        for event in [
            "BeforeShellExecution",
            "BeforeReadFile",
            "UserPromptSubmit",
            "Stop",
        ] {
            assert_eq!(
                at(event, "", "no", 2),
                Effect::FailsOpen("exit 2".into()),
                "{event}"
            );
            assert_eq!(
                at(event, r#"{"decision":"block"}"#, "", 0),
                Effect::Proceeds,
                "{event}"
            );
        }
    }
}
