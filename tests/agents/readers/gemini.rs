//! Gemini CLI: the first non-empty of stdout and stderr is the answer; if that is JSON, the exit code is not asked.

use crate::readers::shape::{Field, Kind, Unknown, check, may};
use crate::readers::{Effect, Finished, Read, filled, text};
use serde_json::{Map, Value};

type Json = Map<String, Value>;

pub const EVENTS: &[&str] = &[
    "SessionStart",
    "SessionEnd",
    "BeforeAgent",
    "AfterAgent",
    "BeforeModel",
    "AfterModel",
    "BeforeToolSelection",
    "BeforeTool",
    "AfterTool",
    "PreCompress",
    "Notification",
];

/// Events on which `decision` and `continue` change the course of things.
fn gates(event: &str) -> bool {
    matches!(
        event,
        "BeforeTool" | "AfterTool" | "BeforeAgent" | "AfterAgent" | "BeforeModel" | "AfterModel"
    )
}

pub fn read(event: &str, input: &Value, finished: &Finished) -> Read {
    if !EVENTS.contains(&event) {
        return Read::fails_open(format!("no event {event}"));
    }
    let stdout = finished.stdout.trim();
    // With nothing on stdout, what was meant as a log line on stderr is the answer.
    let answer = if stdout.is_empty() {
        finished.stderr.trim()
    } else {
        stdout
    };
    if answer.is_empty() {
        return silent(finished.code);
    }
    match json(answer) {
        Some(Value::Object(map)) => structured(event, input, &map, finished.code),
        Some(_) => silent(finished.code),
        None => plain(event, answer, finished.code),
    }
}

/// A JSON string is parsed once more.
fn json(answer: &str) -> Option<Value> {
    match serde_json::from_str(answer) {
        Ok(Value::String(inner)) => serde_json::from_str(&inner).ok(),
        Ok(value) => Some(value),
        Err(_) => None,
    }
}

fn silent(code: i32) -> Read {
    if code == 0 {
        Read::proceeds()
    } else {
        Read::fails_open(format!("exit {code} and no answer"))
    }
}

fn plain(event: &str, answer: &str, code: i32) -> Read {
    if code > 1 && gates(event) {
        return Read::blocked(answer);
    }
    let mut read = if code == 0 {
        Read::proceeds()
    } else {
        Read::fails_open(format!("exit {code}"))
    };
    let warning = if code == 1 { "Warning: " } else { "" };
    read.shown.push(format!("{warning}{answer}"));
    read
}

fn structured(event: &str, input: &Value, map: &Json, code: i32) -> Read {
    let none = Json::new();
    let own = map
        .get("hookSpecificOutput")
        .and_then(Value::as_object)
        .unwrap_or(&none);
    let mut read = if gates(event) {
        decide(event, input, map, own)
    } else {
        Read::proceeds()
    };
    read.shown
        .extend(filled(map, "systemMessage").map(String::from));
    if matches!(event, "AfterTool" | "BeforeAgent" | "SessionStart") {
        let context = text(own, "additionalContext").filter(|context| !context.is_empty());
        read.context
            .extend(context.map(|context| context.replace('<', "&lt;").replace('>', "&gt;")));
    }
    read.ignored.extend(unread(event, map, own));
    if code != 0 && read.effect == Effect::Proceeds {
        read.effect = Effect::FailsOpen(format!("exit {code}, and the JSON decides nothing"));
    }
    read
}

fn decide(event: &str, input: &Value, map: &Json, own: &Json) -> Read {
    let stopped = map.get("continue") == Some(&Value::Bool(false));
    // Except around the model, the stop reason is only picked up next to `continue: false`.
    let stop_reason = if stopped || event.ends_with("Model") {
        filled(map, "stopReason")
    } else {
        None
    };
    let reason = stop_reason
        .or_else(|| filled(map, "reason"))
        .unwrap_or("No reason provided");
    if stopped {
        // At the end of a turn stopping is what was going to happen anyway.
        return if event == "AfterAgent" {
            Read::proceeds()
        } else {
            Read::blocked(reason)
        };
    }
    match text(map, "decision") {
        Some("deny" | "block") => Read::blocked(reason),
        // The person sees the system message, not the reason.
        Some("ask") if event == "BeforeTool" => {
            Read::asks(filled(map, "systemMessage").unwrap_or_default())
        }
        _ => changed(event, input, own),
    }
}

fn changed(event: &str, input: &Value, own: &Json) -> Read {
    let key = match event {
        "BeforeTool" => "tool_input",
        "BeforeModel" => "llm_request",
        "AfterModel" => "llm_response",
        _ => return Read::proceeds(),
    };
    let Some(Value::Object(new)) = own.get(key) else {
        return Read::proceeds();
    };
    if event == "AfterModel" {
        return Read::new(Effect::Rewritten(Value::Object(new.clone())));
    }
    let mut merged = input
        .get(key)
        .and_then(Value::as_object)
        .cloned()
        .unwrap_or_default();
    merged.extend(new.clone());
    let doubt = event == "BeforeTool" && merged != *new;
    let read = Read::new(Effect::Rewritten(Value::Object(merged)));
    if doubt {
        read.doubt("tool_input is partial: newer builds replace the arguments instead of merging")
    } else {
        read
    }
}

fn own_fields(event: &str) -> &'static [Field] {
    const NAME: Field = may("hookEventName", Kind::Text);
    match event {
        "BeforeTool" => const { &[NAME, may("tool_input", Kind::Object)] },
        "AfterTool" => {
            const {
                &[
                    NAME,
                    may("additionalContext", Kind::Text),
                    may("tailToolCallRequest", Kind::Object),
                ]
            }
        }
        "BeforeAgent" | "SessionStart" => const { &[NAME, may("additionalContext", Kind::Text)] },
        "AfterAgent" => const { &[NAME, may("clearContext", Kind::Flag)] },
        "BeforeModel" => {
            const {
                &[
                    NAME,
                    may("llm_request", Kind::Object),
                    may("llm_response", Kind::Object),
                ]
            }
        }
        "AfterModel" => const { &[NAME, may("llm_response", Kind::Object)] },
        "BeforeToolSelection" => const { &[NAME, may("toolConfig", Kind::Object)] },
        _ => &[],
    }
}

fn top_fields(event: &str) -> &'static [Field] {
    const OWN: Field = may("hookSpecificOutput", Kind::Object);
    const QUIET: Field = may("suppressOutput", Kind::Flag);
    const MESSAGE: Field = may("systemMessage", Kind::Text);
    const STOP: [Field; 3] = [
        may("continue", Kind::Flag),
        may("stopReason", Kind::Text),
        may("reason", Kind::Text),
    ];
    match event {
        "BeforeTool" => {
            const DECISION: Field = may(
                "decision",
                Kind::OneOf(&["allow", "approve", "deny", "block", "ask"]),
            );
            const { &[OWN, QUIET, MESSAGE, DECISION, STOP[0], STOP[1], STOP[2]] }
        }
        "BeforeToolSelection" => const { &[OWN] },
        "SessionStart" => const { &[OWN, QUIET, MESSAGE] },
        _ if gates(event) => {
            const DECISION: Field = may(
                "decision",
                Kind::OneOf(&["allow", "approve", "deny", "block"]),
            );
            const { &[OWN, QUIET, MESSAGE, DECISION, STOP[0], STOP[1], STOP[2]] }
        }
        _ => const { &[QUIET, MESSAGE] },
    }
}

/// Keys nothing reads. Types are not looked at by the agent, so only names count.
fn unread(event: &str, map: &Json, own: &Json) -> Vec<String> {
    let unknown = |keys: &Json, fields: &[Field], at: &str| {
        let known = |key: &&String| !fields.iter().any(|field| field.name == key.as_str());
        keys.keys()
            .filter(known)
            .map(|key| format!("{at}{key}"))
            .collect::<Vec<_>>()
    };
    let mut ignored = unknown(map, top_fields(event), "");
    ignored.extend(unknown(own, own_fields(event), "hookSpecificOutput."));
    ignored
}

pub fn accepts(event: &str, stdout: &str) -> Result<(), String> {
    let trimmed = stdout.trim();
    if trimmed.is_empty() {
        return Ok(());
    }
    let map = crate::readers::object(trimmed).ok_or("not a JSON object")?;
    check(&map, "", &[top_fields(event)], Unknown::Refused)?;
    if let Some(own) = map.get("hookSpecificOutput").and_then(Value::as_object) {
        check(
            own,
            "hookSpecificOutput.",
            &[own_fields(event)],
            Unknown::Refused,
        )?;
        if text(own, "hookEventName").is_some_and(|name| name != event) {
            return Err("hookSpecificOutput.hookEventName: names another event".into());
        }
    }
    let denies = matches!(text(&map, "decision"), Some("deny" | "block"));
    if denies && filled(&map, "reason").is_none() {
        return Err("reason: missing".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn at(event: &str, stdout: &str, stderr: &str, code: i32) -> Read {
        read(
            event,
            &json!({"tool_input": {"command": "ls", "description": "d"}}),
            &Finished::new(stdout, stderr, code),
        )
    }
    fn blocked(reason: &str) -> Effect {
        Effect::Blocked {
            reason: reason.into(),
        }
    }

    #[test]
    fn exit_codes_and_plain_text() {
        for (stdout, stderr, code, want) in [
            ("", "", 0, Effect::Proceeds),
            ("hello", "", 0, Effect::Proceeds),
            ("", "no", 2, blocked("no")),
            ("", "no", 127, blocked("no")),
            ("hello", "no", 2, blocked("hello")),
            ("", "", 2, Effect::FailsOpen("exit 2 and no answer".into())),
            ("", "no", 1, Effect::FailsOpen("exit 1".into())),
            (
                "{}",
                "no",
                2,
                Effect::FailsOpen("exit 2, and the JSON decides nothing".into()),
            ),
            (
                "42",
                "no",
                2,
                Effect::FailsOpen("exit 2 and no answer".into()),
            ),
        ] {
            assert_eq!(
                at("BeforeTool", stdout, stderr, code).effect,
                want,
                "{stdout:?} {stderr:?} {code}"
            );
        }
        assert_eq!(
            at("BeforeTool", "", "log line", 0).shown,
            ["log line"],
            "stderr is read"
        );
        assert_eq!(
            at("SessionStart", "", "no", 2).effect,
            Effect::FailsOpen("exit 2".into())
        );
    }

    #[test]
    fn json_decides() {
        for (stdout, want) in [
            (r#"{"decision":"deny","reason":"r"}"#, blocked("r")),
            (r#"{"decision":"block"}"#, blocked("No reason provided")),
            (
                r#"{"decision":"deny","reason":"r","stopReason":"s"}"#,
                blocked("r"),
            ),
            (
                r#"{"continue":false,"reason":"r","stopReason":"s"}"#,
                blocked("s"),
            ),
            (
                r#"{"decision":"ask","reason":"r","systemMessage":"m"}"#,
                Effect::Asks { reason: "m".into() },
            ),
            (r#"{"decision":"allow"}"#, Effect::Proceeds),
            (r#"{"decision":"nonsense"}"#, Effect::Proceeds),
            (
                r#""{\"decision\":\"deny\",\"reason\":\"r\"}""#,
                blocked("r"),
            ),
        ] {
            assert_eq!(at("BeforeTool", stdout, "", 0).effect, want, "{stdout}");
        }
        assert_eq!(
            at("BeforeTool", "", r#"{"decision":"deny","reason":"r"}"#, 0).effect,
            blocked("r")
        );
        assert_eq!(
            at("AfterAgent", r#"{"continue":false}"#, "", 0).effect,
            Effect::Proceeds
        );
        assert_eq!(
            at("AfterAgent", r#"{"decision":"deny","reason":"r"}"#, "", 0).effect,
            blocked("r")
        );
        let advisory = at("Notification", r#"{"decision":"deny","reason":"r"}"#, "", 0);
        assert_eq!(
            (advisory.effect, advisory.ignored.len()),
            (Effect::Proceeds, 2)
        );
    }

    #[test]
    fn rewriting_merges_and_doubts_partial_objects() {
        let partial = at(
            "BeforeTool",
            r#"{"hookSpecificOutput":{"tool_input":{"command":"pwd"}}}"#,
            "",
            0,
        );
        assert_eq!(
            partial.effect,
            Effect::Rewritten(json!({"command": "pwd", "description": "d"}))
        );
        assert_eq!(partial.doubts.len(), 1);
        let whole = at(
            "BeforeTool",
            r#"{"hookSpecificOutput":{"tool_input":{"command":"pwd","description":"e"}}}"#,
            "",
            0,
        );
        assert_eq!(
            whole.effect,
            Effect::Rewritten(json!({"command": "pwd", "description": "e"}))
        );
        assert!(whole.doubts.is_empty());
        assert_eq!(
            at(
                "BeforeTool",
                r#"{"hookSpecificOutput":{"tool_input":"x"}}"#,
                "",
                0
            )
            .effect,
            Effect::Proceeds
        );
    }

    #[test]
    fn context_is_escaped_and_only_where_it_is_read() {
        let stdout =
            r#"{"hookSpecificOutput":{"hookEventName":"AfterTool","additionalContext":"a<b>"}}"#;
        assert_eq!(at("AfterTool", stdout, "", 0).context, ["a&lt;b&gt;"]);
        let before = at("BeforeTool", stdout, "", 0);
        assert!(before.context.is_empty());
        assert_eq!(before.ignored, ["hookSpecificOutput.additionalContext"]);
    }

    #[test]
    fn the_strict_form() {
        for (event, stdout, ok) in [
            ("BeforeTool", "", true),
            ("BeforeTool", "text", false),
            ("BeforeTool", r#"{"decision":"deny"}"#, false),
            ("BeforeTool", r#"{"decision":"ask","reason":"r"}"#, true),
            ("AfterTool", r#"{"decision":"ask","reason":"r"}"#, false),
            ("BeforeTool", r#"{"permissionDecision":"deny"}"#, false),
            ("BeforeToolSelection", r#"{"systemMessage":"m"}"#, false),
        ] {
            assert_eq!(accepts(event, stdout).is_ok(), ok, "{event} {stdout}");
        }
    }
}
