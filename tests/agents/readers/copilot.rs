//! GitHub Copilot CLI and cloud agent: flat answers, `preToolUse` is closed on every non-zero exit but open on
//! malformed JSON.

use crate::readers::shape::{Field, Kind, Unknown, check, may, must};
use crate::readers::{Effect, Finished, Read, filled, text};
use serde_json::{Map, Value};

type Json = Map<String, Value>;

pub const EVENTS: &[&str] = &[
    "sessionStart",
    "sessionEnd",
    "userPromptSubmitted",
    "userPromptTransformed",
    "preToolUse",
    "postToolUse",
    "postToolUseFailure",
    "permissionRequest",
    "agentStop",
    "subagentStart",
    "subagentStop",
    "errorOccurred",
    "preCompact",
    "notification",
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "PostToolUseFailure",
    "PermissionRequest",
    "Stop",
    "SubagentStop",
    "ErrorOccurred",
    "PreCompact",
];

/// Both spellings of an event give the same answer; only the payload differs.
fn plain_name(event: &str) -> &str {
    match event {
        "SessionStart" => "sessionStart",
        "SessionEnd" => "sessionEnd",
        "UserPromptSubmit" => "userPromptSubmitted",
        "PreToolUse" => "preToolUse",
        "PostToolUse" => "postToolUse",
        "PostToolUseFailure" => "postToolUseFailure",
        "PermissionRequest" => "permissionRequest",
        "Stop" => "agentStop",
        "SubagentStop" => "subagentStop",
        "ErrorOccurred" => "errorOccurred",
        "PreCompact" => "preCompact",
        other => other,
    }
}

fn fields(event: &str) -> &'static [Field] {
    const CONTEXT: Field = may("additionalContext", Kind::TextOrNull);
    const DECISION: Field = may("decision", Kind::OneOf(&["block", "allow"]));
    const REASON: Field = may("reason", Kind::Text);
    match event {
        "preToolUse" => {
            const {
                &[
                    may("permissionDecision", Kind::OneOf(&["allow", "deny", "ask"])),
                    may("permissionDecisionReason", Kind::Text),
                    may("modifiedArgs", Kind::Object),
                ]
            }
        }
        "permissionRequest" => {
            const {
                &[
                    may("behavior", Kind::OneOf(&["allow", "deny"])),
                    may("message", Kind::Text),
                    may("interrupt", Kind::Flag),
                ]
            }
        }
        "agentStop" => const { &[DECISION, REASON] },
        "subagentStop" => const { &[DECISION, REASON, may("modifiedResponse", Kind::Text)] },
        "postToolUse" => const { &[CONTEXT, may("modifiedResult", Kind::Object)] },
        "postToolUseFailure" | "sessionStart" | "subagentStart" | "notification" => {
            const { &[CONTEXT] }
        }
        "userPromptTransformed" => const { &[may("modifiedTransformedPrompt", Kind::Text)] },
        _ => &[],
    }
}

/// Takes out the progress lines; what is left must be one JSON document.
fn leftover(stdout: &str) -> String {
    let progress = |line: &&str| {
        crate::readers::object(line).is_some_and(|map| text(&map, "type") == Some("progress"))
    };
    let kept: Vec<&str> = stdout.lines().filter(|line| !progress(line)).collect();
    kept.join("\n").trim().to_string()
}

pub fn read(event: &str, _input: &Value, finished: &Finished) -> Read {
    if !EVENTS.contains(&event) {
        return Read::fails_open(format!("no event {event}"));
    }
    let event = plain_name(event);
    let rest = leftover(finished.stdout);
    let answer = crate::readers::object(&rest);
    match finished.code {
        0 if rest.is_empty() => Read::proceeds(),
        0 => match answer {
            Some(map) => structured(event, &map),
            None => Read::fails_open("stdout is not one JSON object: taken as no output"),
        },
        2 => exit_two(
            event,
            &answer.unwrap_or_default(),
            &rest,
            finished.stderr.trim(),
        ),
        _ if event == "preToolUse" => Read::blocked("Denied by preToolUse hook (hook errored)"),
        code => Read::fails_open(format!("exit {code}")),
    }
}

fn exit_two(event: &str, map: &Json, rest: &str, stderr: &str) -> Read {
    match event {
        "preToolUse" => match filled(map, "permissionDecisionReason") {
            Some(reason) => Read::blocked(reason),
            None => {
                Read::blocked(stderr).doubt("whether the model is told stderr is not documented")
            }
        },
        // stderr is ignored here; only the JSON can carry a message.
        "permissionRequest" => Read::blocked(text(map, "message").unwrap_or_default()),
        "postToolUseFailure" => {
            let mut read = Read::proceeds();
            read.context.push(rest.to_string());
            read
        }
        _ => {
            let mut read = Read::fails_open("exit 2 is a warning here");
            read.shown.push(stderr.to_string());
            read
        }
    }
}

fn structured(event: &str, map: &Json) -> Read {
    let mut read = match event {
        "preToolUse" => tool(map),
        "permissionRequest" => request(map),
        "agentStop" | "subagentStop" => stop(event, map),
        "postToolUse" => match map.get("modifiedResult") {
            Some(result @ Value::Object(_)) => Read::new(Effect::Rewritten(result.clone())),
            _ => Read::proceeds(),
        },
        "userPromptTransformed" => match text(map, "modifiedTransformedPrompt") {
            Some(prompt) if !prompt.is_empty() => Read::new(Effect::Rewritten(prompt.into())),
            _ => Read::proceeds(),
        },
        _ => Read::proceeds(),
    };
    let known = |key: &&String| !fields(event).iter().any(|field| field.name == key.as_str());
    read.ignored.extend(map.keys().filter(known).cloned());
    if fields(event)
        .iter()
        .any(|field| field.name == "additionalContext")
    {
        read.context
            .extend(filled(map, "additionalContext").map(String::from));
    }
    read
}

fn tool(map: &Json) -> Read {
    let reason = text(map, "permissionDecisionReason").unwrap_or_default();
    match (text(map, "permissionDecision"), map.get("modifiedArgs")) {
        (Some("deny"), _) if reason.trim().is_empty() => {
            Read::blocked("").doubt("deny is documented to need a reason")
        }
        (Some("deny"), _) => Read::blocked(reason),
        (Some("ask"), _) => Read::asks(reason).doubt("the cloud agent takes ask as deny"),
        (_, Some(args @ Value::Object(_))) => Read::new(Effect::Rewritten(args.clone())),
        _ => Read::proceeds(),
    }
}

fn request(map: &Json) -> Read {
    match text(map, "behavior") {
        Some("deny") => Read::blocked(text(map, "message").unwrap_or_default()),
        _ => Read::proceeds(),
    }
}

fn stop(event: &str, map: &Json) -> Read {
    if text(map, "decision") == Some("block") {
        return match filled(map, "reason") {
            Some(reason) => Read::blocked(reason),
            None => Read::blocked("").doubt("block without a prompt for the next turn"),
        };
    }
    match text(map, "modifiedResponse").filter(|_| event == "subagentStop") {
        Some(response) => Read::new(Effect::Rewritten(response.into())),
        None => Read::proceeds(),
    }
}

pub fn accepts(event: &str, stdout: &str) -> Result<(), String> {
    let event = plain_name(event);
    let rest = leftover(stdout);
    if rest.is_empty() {
        return Ok(());
    }
    let map = crate::readers::object(&rest).ok_or("not one JSON object")?;
    check(&map, "", &[fields(event)], Unknown::Refused)?;
    if text(&map, "permissionDecision") == Some("deny")
        && filled(&map, "permissionDecisionReason").is_none()
    {
        return Err("permissionDecisionReason: missing".into());
    }
    if text(&map, "decision") == Some("block") && filled(&map, "reason").is_none() {
        return Err("reason: missing".into());
    }
    if let Some(result) = map.get("modifiedResult").and_then(Value::as_object) {
        const RESULT: &[Field] = &[
            must("resultType", Kind::OneOf(&["success", "failure"])),
            must("textResultForLlm", Kind::Text),
        ];
        check(result, "modifiedResult.", &[RESULT], Unknown::Refused)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn at(event: &str, stdout: &str, stderr: &str, code: i32) -> Read {
        read(event, &json!({}), &Finished::new(stdout, stderr, code))
    }
    fn blocked(reason: &str) -> Effect {
        Effect::Blocked {
            reason: reason.into(),
        }
    }

    #[test]
    fn before_a_tool() {
        let errored = blocked("Denied by preToolUse hook (hook errored)");
        let allow = r#"{"permissionDecision":"allow"}"#;
        for (stdout, stderr, code, want) in [
            ("", "", 0, Effect::Proceeds),
            (allow, "", 0, Effect::Proceeds),
            (
                r#"{"permissionDecision":"deny","permissionDecisionReason":"r"}"#,
                "",
                0,
                blocked("r"),
            ),
            (
                r#"{"permissionDecision":"ask","permissionDecisionReason":"r"}"#,
                "",
                0,
                Effect::Asks { reason: "r".into() },
            ),
            (
                r#"{"permissionDecision":"allow","modifiedArgs":{"command":"pwd"}}"#,
                "",
                0,
                Effect::Rewritten(json!({"command": "pwd"})),
            ),
            (allow, "no", 2, blocked("no")),
            (r#"{"permissionDecisionReason":"r"}"#, "no", 2, blocked("r")),
            (allow, "no", 1, errored.clone()),
            ("", "", 127, errored),
        ] {
            for event in ["preToolUse", "PreToolUse"] {
                assert_eq!(
                    at(event, stdout, stderr, code).effect,
                    want,
                    "{event} {stdout} {code}"
                );
            }
        }
        for stdout in ["{broken", "hello", "[1]", "{}{}"] {
            assert!(
                matches!(at("preToolUse", stdout, "", 0).effect, Effect::FailsOpen(_)),
                "{stdout}"
            );
        }
        let claude = r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#;
        assert_eq!(
            at("preToolUse", claude, "", 0).effect,
            Effect::Proceeds,
            "the nested form is not read"
        );
    }

    #[test]
    fn progress_lines_are_taken_out() {
        let stdout = "{\"type\":\"progress\",\"message\":\"m\"}\n{\n\"permissionDecision\":\"deny\",\n\"permissionDecisionReason\":\"r\"}\n";
        assert_eq!(at("preToolUse", stdout, "", 0).effect, blocked("r"));
        assert!(accepts("preToolUse", stdout).is_ok());
    }

    #[test]
    fn the_other_events() {
        for (event, stdout, code, want) in [
            (
                "permissionRequest",
                r#"{"behavior":"deny","message":"m"}"#,
                0,
                blocked("m"),
            ),
            (
                "permissionRequest",
                r#"{"behavior":"allow","message":"m"}"#,
                2,
                blocked("m"),
            ),
            ("permissionRequest", "", 2, blocked("")),
            (
                "agentStop",
                r#"{"decision":"block","reason":"r"}"#,
                0,
                blocked("r"),
            ),
            (
                "subagentStop",
                r#"{"decision":"block","reason":"r","modifiedResponse":"x"}"#,
                0,
                blocked("r"),
            ),
            (
                "subagentStop",
                r#"{"modifiedResponse":"x"}"#,
                0,
                Effect::Rewritten(json!("x")),
            ),
            (
                "agentStop",
                r#"{"modifiedResponse":"x"}"#,
                0,
                Effect::Proceeds,
            ),
            (
                "userPromptSubmitted",
                r#"{"decision":"block","reason":"r"}"#,
                0,
                Effect::Proceeds,
            ),
        ] {
            assert_eq!(
                at(event, stdout, "e", code).effect,
                want,
                "{event} {stdout}"
            );
        }
        for (event, code) in [
            ("agentStop", 2),
            ("userPromptSubmitted", 2),
            ("permissionRequest", 1),
            ("postToolUse", 1),
        ] {
            assert!(
                matches!(at(event, "", "e", code).effect, Effect::FailsOpen(_)),
                "{event} {code}"
            );
        }
        assert_eq!(
            at("postToolUseFailure", "try this", "", 2).context,
            ["try this"]
        );
        assert_eq!(
            at("sessionStart", r#"{"additionalContext":"c"}"#, "", 0).context,
            ["c"]
        );
    }
}
