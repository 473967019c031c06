//! Cursor: a permission step wants one JSON object with `permission`; anything else printed there blocks.
//!
//! `read` models an entry without `failClosed`; `read_fail_closed` one that has it set.

use crate::readers::shape::{Field, Kind, Unknown, check, may, must};
use crate::readers::{Effect, Finished, Read, filled, text};
use serde_json::{Map, Value};

type Json = Map<String, Value>;

pub const EVENTS: &[&str] = &[
    "preToolUse",
    "beforeShellExecution",
    "beforeMCPExecution",
    "beforeReadFile",
    "beforeTabFileRead",
    "subagentStart",
    "beforeSubmitPrompt",
    "stop",
    "subagentStop",
    "postToolUse",
    "postToolUseFailure",
    "sessionStart",
    "sessionEnd",
    "afterShellExecution",
    "afterMCPExecution",
    "afterFileEdit",
    "afterTabFileEdit",
    "afterAgentResponse",
    "afterAgentThought",
    "preCompact",
];

fn asks_permission(event: &str) -> bool {
    matches!(
        event,
        "preToolUse"
            | "beforeShellExecution"
            | "beforeMCPExecution"
            | "beforeReadFile"
            | "beforeTabFileRead"
            | "subagentStart"
    )
}

fn fields(event: &str) -> &'static [Field] {
    const ALLOW_OR_DENY: Field = must("permission", Kind::OneOf(&["allow", "deny"]));
    const ANY: Field = must("permission", Kind::OneOf(&["allow", "deny", "ask"]));
    const USER: Field = may("user_message", Kind::Text);
    const AGENT: Field = may("agent_message", Kind::Text);
    const CONTEXT: Field = may("additional_context", Kind::Text);
    match event {
        "preToolUse" => {
            const {
                &[
                    ANY,
                    USER,
                    AGENT,
                    may("updated_input", Kind::Object),
                    CONTEXT,
                ]
            }
        }
        "beforeShellExecution" | "beforeMCPExecution" => const { &[ANY, USER, AGENT] },
        "beforeReadFile" => const { &[ALLOW_OR_DENY, USER] },
        "beforeTabFileRead" => const { &[ALLOW_OR_DENY] },
        "subagentStart" => const { &[ANY, USER] },
        "beforeSubmitPrompt" => const { &[may("continue", Kind::Flag), USER, CONTEXT] },
        "stop" | "subagentStop" => const { &[may("followup_message", Kind::Text)] },
        "postToolUse" => const { &[CONTEXT, may("updated_mcp_tool_output", Kind::Any)] },
        "sessionStart" => {
            const {
                &[
                    CONTEXT,
                    USER,
                    may("env", Kind::Object),
                    may("continue", Kind::Flag),
                ]
            }
        }
        "preCompact" => const { &[USER] },
        _ => &[],
    }
}

pub fn read(event: &str, _input: &Value, finished: &Finished) -> Read {
    answer(event, finished, false)
}

/// The same for an entry with `failClosed: true`.
pub fn read_fail_closed(event: &str, _input: &Value, finished: &Finished) -> Read {
    answer(event, finished, true)
}

fn answer(event: &str, finished: &Finished, fail_closed: bool) -> Read {
    if !EVENTS.contains(&event) {
        return Read::fails_open(format!("no event {event}: the whole file is rejected"));
    }
    match finished.code {
        0 if finished.stdout.trim().is_empty() => silent(event, fail_closed),
        0 => printed(event, finished.stdout.trim()),
        2 => denied(event, finished.stderr.trim()),
        code if fail_closed && asks_permission(event) => Read::blocked(format!("exit {code}")),
        code => Read::fails_open(format!("exit {code}")),
    }
}

fn silent(event: &str, fail_closed: bool) -> Read {
    if !asks_permission(event) {
        return Read::proceeds();
    }
    let read = Read::blocked("the hook returned no output");
    if fail_closed {
        read
    } else {
        read.doubt("the IDE blocks on empty stdout, the CLI lets it pass")
    }
}

fn denied(event: &str, stderr: &str) -> Read {
    if asks_permission(event) || event == "beforeSubmitPrompt" {
        return Read::blocked(stderr);
    }
    Read::proceeds()
}

fn printed(event: &str, stdout: &str) -> Read {
    let shaped = parse(stdout)
        .ok_or_else(|| "not a JSON object".to_string())
        .and_then(|map| {
            let ignored = check(&map, "", &[fields(event)], Unknown::Dropped)?;
            Ok((map, ignored))
        });
    match shaped {
        Ok((map, ignored)) => {
            let mut read = decide(event, &map);
            read.ignored.extend(ignored);
            read
        }
        Err(why) if asks_permission(event) => Read::blocked(format!("invalid answer: {why}")),
        Err(why) => Read::fails_open(why),
    }
}

/// Noise in front of a final object is forgiven.
fn parse(stdout: &str) -> Option<Json> {
    if let Some(map) = crate::readers::object(stdout) {
        return Some(map);
    }
    if !stdout.ends_with('}') {
        return None;
    }
    stdout
        .match_indices('{')
        .rev()
        .find_map(|(at, _)| crate::readers::object(&stdout[at..]))
}

fn decide(event: &str, map: &Json) -> Read {
    let mut read = if asks_permission(event) {
        permission(event, map)
    } else {
        other(event, map)
    };
    read.shown
        .extend(text(map, "user_message").map(String::from));
    let takes_context = fields(event)
        .iter()
        .any(|field| field.name == "additional_context");
    if let Some(context) = text(map, "additional_context").filter(|_| takes_context) {
        if event == "preToolUse" {
            read.doubts
                .push("additional_context before a tool works but is not documented".into());
        }
        if context.trim().chars().count() <= 10_000 {
            read.context.push(context.to_string());
        } else {
            read.ignored.push("additional_context".into());
        }
    }
    read
}

fn permission(event: &str, map: &Json) -> Read {
    let reason = filled(map, "agent_message")
        .or_else(|| filled(map, "user_message"))
        .unwrap_or_default();
    let read = match (text(map, "permission"), event) {
        (Some("deny"), _) => Read::blocked(reason),
        (Some("ask"), "subagentStart") => Read::blocked(reason),
        (Some("ask"), "preToolUse") => Read::fails_open("ask is accepted and not enforced"),
        (Some("ask"), _) => Read::asks(reason),
        _ => Read::proceeds(),
    };
    match (map.get("updated_input"), &read.effect) {
        (Some(new), Effect::Proceeds) if event == "preToolUse" => Read {
            effect: Effect::Rewritten(new.clone()),
            ..read
        },
        _ => read,
    }
}

fn other(event: &str, map: &Json) -> Read {
    match event {
        "beforeSubmitPrompt" if map.get("continue") == Some(&Value::Bool(false)) => {
            Read::blocked(text(map, "user_message").unwrap_or_default())
        }
        "stop" | "subagentStop" => match filled(map, "followup_message") {
            Some(message) => Read::blocked(message),
            None => Read::proceeds(),
        },
        "postToolUse" => match map.get("updated_mcp_tool_output") {
            Some(output) => {
                Read::new(Effect::Rewritten(output.clone())).doubt("only for MCP tools")
            }
            None => Read::proceeds(),
        },
        "sessionStart" if map.contains_key("continue") => {
            let mut read = Read::proceeds();
            read.ignored.push("continue".into());
            read
        }
        _ => Read::proceeds(),
    }
}

pub fn accepts(event: &str, stdout: &str) -> Result<(), String> {
    let trimmed = stdout.trim();
    if trimmed.is_empty() {
        return if asks_permission(event) {
            Err("no output".into())
        } else {
            Ok(())
        };
    }
    let map = crate::readers::object(trimmed).ok_or("not a JSON object")?;
    check(&map, "", &[fields(event)], Unknown::Refused)?;
    if text(&map, "permission") == Some("ask") && matches!(event, "preToolUse" | "subagentStart") {
        return Err("permission: ask is not enforced here".into());
    }
    if event == "preToolUse" && map.contains_key("additional_context") {
        return Err("additional_context: not documented here".into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn at(event: &str, stdout: &str, stderr: &str, code: i32) -> Effect {
        read(event, &json!({}), &Finished::new(stdout, stderr, code)).effect
    }
    fn blocked(reason: &str) -> Effect {
        Effect::Blocked {
            reason: reason.into(),
        }
    }

    #[test]
    fn permission_steps() {
        for (event, stdout, want) in [
            ("preToolUse", r#"{"permission":"allow"}"#, Effect::Proceeds),
            (
                "preToolUse",
                r#"{"permission":"deny","agent_message":"a","user_message":"u"}"#,
                blocked("a"),
            ),
            (
                "preToolUse",
                r#"{"permission":"deny","user_message":"u"}"#,
                blocked("u"),
            ),
            (
                "preToolUse",
                r#"{"permission":"allow","updated_input":{"command":"pwd"}}"#,
                Effect::Rewritten(json!({"command": "pwd"})),
            ),
            (
                "beforeShellExecution",
                r#"{"permission":"ask","user_message":"u"}"#,
                Effect::Asks { reason: "u".into() },
            ),
            ("subagentStart", r#"{"permission":"ask"}"#, blocked("")),
            (
                "beforeShellExecution",
                r#"noise {"permission":"deny","agent_message":"a"}"#,
                blocked("a"),
            ),
            (
                "beforeShellExecution",
                r#"{"permission":"allow","updated_input":{}}"#,
                Effect::Proceeds,
            ),
        ] {
            assert_eq!(at(event, stdout, "", 0), want, "{event} {stdout}");
        }
        let ask = at("preToolUse", r#"{"permission":"ask"}"#, "", 0);
        assert!(
            matches!(ask, Effect::FailsOpen(_)),
            "ask does not ask before a tool"
        );
    }

    #[test]
    fn what_is_no_answer_blocks_a_permission_step() {
        for stdout in [
            "",
            "hello",
            "{}",
            "[]",
            r#"{"permission":"maybe"}"#,
            r#"{"decision":"block"}"#,
            r#"{"permission":"allow","user_message":1}"#,
        ] {
            assert!(
                matches!(at("preToolUse", stdout, "", 0), Effect::Blocked { .. }),
                "{stdout}"
            );
            assert!(accepts("preToolUse", stdout).is_err(), "{stdout}");
        }
        assert!(matches!(
            at("beforeReadFile", r#"{"permission":"ask"}"#, "", 0),
            Effect::Blocked { .. }
        ));
        assert!(matches!(
            at("beforeSubmitPrompt", "hello", "", 0),
            Effect::FailsOpen(_)
        ));
    }

    #[test]
    fn exit_codes() {
        assert_eq!(
            at("preToolUse", r#"{"permission":"allow"}"#, "no", 2),
            blocked("no")
        );
        assert_eq!(at("beforeSubmitPrompt", "", "no", 2), blocked("no"));
        assert_eq!(at("stop", "", "no", 2), Effect::Proceeds);
        assert!(matches!(
            at("preToolUse", "", "no", 1),
            Effect::FailsOpen(_)
        ));
        let closed = read_fail_closed("preToolUse", &json!({}), &Finished::new("", "no", 1));
        assert!(matches!(closed.effect, Effect::Blocked { .. }));
    }

    #[test]
    fn other_steps() {
        assert_eq!(
            at(
                "beforeSubmitPrompt",
                r#"{"continue":false,"user_message":"u"}"#,
                "",
                0
            ),
            blocked("u")
        );
        assert_eq!(
            at("stop", r#"{"followup_message":"go on"}"#, "", 0),
            blocked("go on")
        );
        let context = read(
            "postToolUse",
            &json!({}),
            &Finished::new(r#"{"additional_context":"c"}"#, "", 0),
        );
        assert_eq!(context.context, ["c"]);
        let failure = read(
            "postToolUseFailure",
            &json!({}),
            &Finished::new(r#"{"additional_context":"c"}"#, "", 0),
        );
        assert_eq!((failure.context.len(), failure.ignored.len()), (0, 1));
    }
}
