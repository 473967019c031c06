//! Kiro: exit 2 blocks a tool call or a prompt, plain stdout is context at the start of things.

use crate::readers::{Finished, Read, filled, text};
use serde_json::Value;

pub const EVENTS: &[&str] = &[
    "PreToolUse",
    "PostToolUse",
    "SessionStart",
    "UserPromptSubmit",
    "Stop",
    "PreTaskExec",
    "PostTaskExec",
    "PostFileSave",
    "PostFileCreate",
    "PostFileDelete",
    "preToolUse",
    "postToolUse",
    "agentSpawn",
    "userPromptSubmit",
    "stop",
];

fn blocks(event: &str) -> bool {
    matches!(
        event,
        "PreToolUse" | "preToolUse" | "UserPromptSubmit" | "PreTaskExec"
    )
}

fn takes_context(event: &str) -> bool {
    matches!(
        event,
        "SessionStart" | "agentSpawn" | "UserPromptSubmit" | "userPromptSubmit"
    )
}

pub fn read(event: &str, _input: &Value, finished: &Finished) -> Read {
    if !EVENTS.contains(&event) {
        return Read::fails_open(format!("no trigger {event}"));
    }
    match finished.code {
        0 => success(event, finished.stdout.trim()),
        2 if blocks(event) => Read::blocked(finished.stderr.trim()),
        code => warning(event, code, finished.stderr.trim()),
    }
}

fn success(event: &str, stdout: &str) -> Read {
    if stdout.is_empty() {
        return Read::proceeds();
    }
    if takes_context(event) {
        let mut read = Read::proceeds();
        read.context.push(stdout.to_string());
        return read;
    }
    if matches!(event, "Stop" | "stop")
        && let Some(map) = crate::readers::object(stdout)
        && text(&map, "decision") == Some("block")
    {
        let read = Read::blocked(text(&map, "reason").unwrap_or_default());
        return if event == "Stop" {
            read.doubt("one page of the newer format says Stop cannot block")
        } else {
            read
        };
    }
    let mut read = Read::proceeds();
    read.ignored.push("stdout".into());
    read
}

fn warning(event: &str, code: i32, stderr: &str) -> Read {
    let mut read = Read::fails_open(format!("exit {code}"));
    read.shown.push(stderr.to_string());
    if event == "PreToolUse" {
        read.doubt("the IDE blocks on any non-zero exit, the CLI only on 2")
    } else {
        read
    }
}

pub fn accepts(event: &str, stdout: &str) -> Result<(), String> {
    let trimmed = stdout.trim();
    if trimmed.is_empty() || takes_context(event) {
        return Ok(());
    }
    if !matches!(event, "Stop" | "stop") {
        return Err("stdout is not read".into());
    }
    let map = crate::readers::object(trimmed).ok_or("not a JSON object")?;
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

    fn at(event: &str, stdout: &str, code: i32) -> Read {
        read(event, &Value::Null, &Finished::new(stdout, "no", code))
    }

    #[test]
    fn exit_codes() {
        let blocked = Effect::Blocked {
            reason: "no".into(),
        };
        for event in [
            "PreToolUse",
            "preToolUse",
            "UserPromptSubmit",
            "PreTaskExec",
        ] {
            assert_eq!(at(event, "", 2).effect, blocked, "{event}");
            assert!(
                matches!(at(event, "", 1).effect, Effect::FailsOpen(_)),
                "{event}"
            );
        }
        for event in ["userPromptSubmit", "PostToolUse", "SessionStart", "Stop"] {
            assert!(
                matches!(at(event, "", 2).effect, Effect::FailsOpen(_)),
                "{event}"
            );
        }
    }

    #[test]
    fn stdout() {
        assert_eq!(at("UserPromptSubmit", "hello", 0).context, ["hello"]);
        assert_eq!(at("SessionStart", "hello", 0).context, ["hello"]);
        let json = r#"{"decision":"block","reason":"r"}"#;
        assert_eq!(
            at("PreToolUse", json, 0).effect,
            Effect::Proceeds,
            "no JSON decision before a tool"
        );
        assert_eq!(
            at("stop", json, 0).effect,
            Effect::Blocked { reason: "r".into() }
        );
        assert!(accepts("PreToolUse", json).is_err());
        assert!(accepts("Stop", json).is_ok());
    }
}
