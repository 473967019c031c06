//! Codex: stdout is read on exit 0 only, every object refuses unknown keys, and whatever is not understood lets the
//! action run.

use crate::readers::shape::{Field, Kind, Unknown, check, may, must};
use crate::readers::{Effect, Finished, Read, filled, text};
use serde_json::{Map, Value, json};

type Json = Map<String, Value>;

pub const EVENTS: &[&str] = &[
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PreCompact",
    "PostCompact",
    "SessionStart",
    "SessionEnd",
    "UserPromptSubmit",
    "SubagentStart",
    "SubagentStop",
    "Stop",
];

/// `hookEventName` may be any of these as far as the parser cares; the published schema wants the event's own.
const NAMES: &[&str] = &[
    "PreToolUse",
    "PermissionRequest",
    "PostToolUse",
    "PreCompact",
    "PostCompact",
    "SessionStart",
    "UserPromptSubmit",
    "SubagentStart",
    "SubagentStop",
    "Stop",
];

const UNIVERSAL: &[Field] = &[
    may("continue", Kind::Flag),
    may("stopReason", Kind::TextOrNull),
    may("suppressOutput", Kind::Flag),
    may("systemMessage", Kind::TextOrNull),
];
const SPECIFIC: &[Field] = &[may("hookSpecificOutput", Kind::ObjectOrNull)];
const BLOCK: &[Field] = &[
    may("decision", Kind::OneOfOrNull(&["block"])),
    may("reason", Kind::TextOrNull),
];
const APPROVE_OR_BLOCK: &[Field] = &[
    may("decision", Kind::OneOfOrNull(&["approve", "block"])),
    may("reason", Kind::TextOrNull),
];
const NAME: &[Field] = &[must("hookEventName", Kind::OneOf(NAMES))];
const CONTEXT: &[Field] = &[may("additionalContext", Kind::TextOrNull)];
const TOOL: &[Field] = &[
    may(
        "permissionDecision",
        Kind::OneOfOrNull(&["allow", "deny", "ask"]),
    ),
    may("permissionDecisionReason", Kind::TextOrNull),
    may("updatedInput", Kind::Any),
];
const VERDICT: &[Field] = &[
    must("behavior", Kind::OneOf(&["allow", "deny"])),
    may("updatedInput", Kind::Any),
    may("updatedPermissions", Kind::Any),
    may("message", Kind::TextOrNull),
    may("interrupt", Kind::Flag),
];

fn top_fields(event: &str) -> &'static [&'static [Field]] {
    match event {
        "PreToolUse" => &[UNIVERSAL, SPECIFIC, APPROVE_OR_BLOCK],
        "PostToolUse" | "UserPromptSubmit" => &[UNIVERSAL, SPECIFIC, BLOCK],
        "Stop" | "SubagentStop" => &[UNIVERSAL, BLOCK],
        "PermissionRequest" | "SessionStart" | "SubagentStart" => &[UNIVERSAL, SPECIFIC],
        _ => &[UNIVERSAL],
    }
}

fn own_fields(event: &str) -> &'static [&'static [Field]] {
    const DECISION: &[Field] = &[may("decision", Kind::ObjectOrNull)];
    const OUTPUT: &[Field] = &[may("updatedMCPToolOutput", Kind::Any)];
    match event {
        "PreToolUse" => &[NAME, TOOL, CONTEXT],
        "PostToolUse" => &[NAME, CONTEXT, OUTPUT],
        "PermissionRequest" => &[NAME, DECISION],
        _ => &[NAME, CONTEXT],
    }
}

/// What is left once the shape is right: the two objects, both possibly empty.
struct Answer {
    top: Json,
    own: Json,
}

impl Answer {
    fn continues(&self) -> bool {
        self.top.get("continue") != Some(&Value::Bool(false))
    }
    fn suppresses(&self) -> bool {
        self.top.get("suppressOutput") == Some(&Value::Bool(true))
    }
    /// A key that is there and not null.
    fn has(&self, key: &str) -> bool {
        self.own.get(key).is_some_and(|value| !value.is_null())
    }
}

fn parse(event: &str, stdout: &str) -> Result<Answer, String> {
    let top = crate::readers::object(stdout).ok_or("not a JSON object")?;
    check(&top, "", top_fields(event), Unknown::Refused)?;
    let own = match top.get("hookSpecificOutput") {
        Some(Value::Object(own)) => own.clone(),
        _ => {
            return Ok(Answer {
                top,
                own: Json::new(),
            });
        }
    };
    check(
        &own,
        "hookSpecificOutput.",
        own_fields(event),
        Unknown::Refused,
    )?;
    if let Some(Value::Object(verdict)) = own.get("decision") {
        check(
            verdict,
            "hookSpecificOutput.decision.",
            &[VERDICT],
            Unknown::Refused,
        )?;
    }
    Ok(Answer { top, own })
}

pub fn read(event: &str, input: &Value, finished: &Finished) -> Read {
    if !EVENTS.contains(&event) {
        return Read::fails_open(format!("no event {event}"));
    }
    match finished.code {
        0 if event == "SessionEnd" => Read::proceeds(),
        0 => success(event, input, finished.stdout),
        2 if blocks_by_code(event) => match finished.stderr.trim() {
            "" => Read::fails_open("exit 2 without a reason on stderr"),
            reason => Read::blocked(reason),
        },
        code => Read::fails_open(format!("exit {code}")),
    }
}

fn blocks_by_code(event: &str) -> bool {
    matches!(
        event,
        "PreToolUse"
            | "PermissionRequest"
            | "PostToolUse"
            | "UserPromptSubmit"
            | "Stop"
            | "SubagentStop"
    )
}

fn success(event: &str, input: &Value, stdout: &str) -> Read {
    let trimmed = stdout.trim();
    if trimmed.is_empty() {
        return Read::proceeds();
    }
    match parse(event, trimmed) {
        Ok(answer) => structured(event, input, &answer),
        Err(why) if trimmed.starts_with(['{', '[']) => Read::fails_open(why),
        Err(_) => plain(event, trimmed),
    }
}

fn plain(event: &str, trimmed: &str) -> Read {
    match event {
        "SessionStart" | "SubagentStart" | "UserPromptSubmit" => {
            let mut read = Read::proceeds();
            read.context.push(trimmed.to_string());
            read
        }
        "Stop" | "SubagentStop" => Read::fails_open("plain text is no answer here"),
        _ => Read::proceeds(),
    }
}

fn structured(event: &str, input: &Value, answer: &Answer) -> Read {
    let mut read = match event {
        "PreToolUse" => tool(input, answer),
        "PermissionRequest" => request(answer),
        "PostToolUse" => after_tool(answer),
        "UserPromptSubmit" => prompt(answer),
        "Stop" | "SubagentStop" => stop(answer),
        "SubagentStart" => Read::proceeds(),
        _ => halted(answer).unwrap_or_else(Read::proceeds),
    };
    read.shown
        .extend(text(&answer.top, "systemMessage").map(String::from));
    // A failed answer adds nothing for the model.
    if !matches!(read.effect, Effect::FailsOpen(_)) {
        read.context
            .extend(text(&answer.own, "additionalContext").map(String::from));
    }
    read
}

/// `continue: false` where it is honoured.
fn halted(answer: &Answer) -> Option<Read> {
    let reason = text(&answer.top, "stopReason").unwrap_or_default();
    (!answer.continues()).then(|| Read::blocked(reason))
}

/// Keys the tool events know and refuse.
fn reserved(answer: &Answer) -> Option<&'static str> {
    if !answer.continues() {
        Some("continue:false")
    } else if text(&answer.top, "stopReason").is_some() {
        Some("stopReason")
    } else if answer.suppresses() {
        Some("suppressOutput")
    } else {
        None
    }
}

fn tool(input: &Value, answer: &Answer) -> Read {
    if let Some(key) = reserved(answer) {
        return Read::fails_open(format!("{key} is not supported"));
    }
    let specific = [
        "permissionDecision",
        "permissionDecisionReason",
        "updatedInput",
    ];
    if !specific.iter().any(|key| answer.has(key)) {
        return legacy(&answer.top);
    }
    let decision = text(&answer.own, "permissionDecision");
    match (decision, answer.has("updatedInput")) {
        (Some("allow"), true) => rewritten(input, &answer.own["updatedInput"]),
        (Some("allow"), false) => Read::fails_open("allow without updatedInput"),
        (_, true) => Read::fails_open("updatedInput without allow"),
        (Some("ask"), _) => Read::fails_open("ask is not supported"),
        (Some(_), _) => match filled(&answer.own, "permissionDecisionReason") {
            Some(reason) => Read::blocked(reason.trim()),
            None => Read::fails_open("deny without a reason"),
        },
        (None, _) => Read::fails_open("a reason without a decision"),
    }
}

fn legacy(top: &Json) -> Read {
    match (text(top, "decision"), filled(top, "reason")) {
        (Some("block"), Some(reason)) => Read::blocked(reason.trim()),
        (Some("block"), None) => Read::fails_open("block without a reason"),
        (Some(_), _) => Read::fails_open("approve is not supported"),
        (None, _) if text(top, "reason").is_some() => {
            Read::fails_open("a reason without a decision")
        }
        (None, _) => Read::proceeds(),
    }
}

/// The two tools that hooks see as one command take over just that string, and fail without it.
fn rewritten(input: &Value, updated: &Value) -> Read {
    let tool = input
        .get("tool_name")
        .and_then(Value::as_str)
        .unwrap_or_default();
    if tool != "Bash" && tool != "apply_patch" {
        return Read::new(Effect::Rewritten(updated.clone()));
    }
    let Some(command) = updated.get("command").and_then(Value::as_str) else {
        return Read::blocked("updatedInput has no string command");
    };
    let mut read = Read::new(Effect::Rewritten(json!({"command": command})));
    let extra = updated
        .as_object()
        .into_iter()
        .flatten()
        .map(|(key, _)| key)
        .filter(|key| *key != "command");
    read.ignored
        .extend(extra.map(|key| format!("hookSpecificOutput.updatedInput.{key}")));
    read
}

fn request(answer: &Answer) -> Read {
    if let Some(key) = reserved(answer) {
        return Read::fails_open(format!("{key} is not supported"));
    }
    let Some(verdict) = answer.own.get("decision").and_then(Value::as_object) else {
        return Read::proceeds();
    };
    let set = |key: &str| verdict.get(key).is_some_and(|value| !value.is_null());
    if set("updatedInput")
        || set("updatedPermissions")
        || verdict.get("interrupt") == Some(&Value::Bool(true))
    {
        return Read::fails_open("a reserved key of the decision is set");
    }
    match text(verdict, "behavior") {
        Some("deny") => Read::blocked(
            filled(verdict, "message")
                .unwrap_or("PermissionRequest hook denied approval")
                .trim(),
        ),
        _ => Read::proceeds(),
    }
}

fn after_tool(answer: &Answer) -> Read {
    if !answer.continues() {
        let stop = text(&answer.top, "stopReason").unwrap_or("PostToolUse hook stopped execution");
        return Read::blocked(filled(&answer.top, "reason").map_or(stop, str::trim));
    }
    if answer.suppresses() || answer.has("updatedMCPToolOutput") {
        return Read::fails_open("suppressOutput or updatedMCPToolOutput is not supported");
    }
    decided(&answer.top, true)
}

fn prompt(answer: &Answer) -> Read {
    halted(answer).unwrap_or_else(|| decided(&answer.top, false))
}

/// Stopping beats going on.
fn stop(answer: &Answer) -> Read {
    if answer.continues() {
        return decided(&answer.top, false);
    }
    let mut read = Read::proceeds();
    read.shown
        .extend(text(&answer.top, "stopReason").map(String::from));
    read
}

fn decided(top: &Json, reason_needs_decision: bool) -> Read {
    match (text(top, "decision"), filled(top, "reason")) {
        (Some(_), Some(reason)) => Read::blocked(reason),
        (Some(_), None) => Read::fails_open("block without a reason"),
        (None, _) if reason_needs_decision && text(top, "reason").is_some() => {
            Read::fails_open("a reason without a decision")
        }
        (None, _) => Read::proceeds(),
    }
}

pub fn accepts(event: &str, stdout: &str) -> Result<(), String> {
    let trimmed = stdout.trim();
    if trimmed.is_empty() {
        return Ok(());
    }
    if event == "SessionEnd" {
        return Err("stdout is not read".into());
    }
    if !trimmed.starts_with(['{', '[']) {
        let takes_text = matches!(event, "SessionStart" | "SubagentStart" | "UserPromptSubmit");
        return if takes_text {
            Ok(())
        } else {
            Err("plain text".into())
        };
    }
    let answer = parse(event, trimmed)?;
    if let Some(name) = text(&answer.own, "hookEventName").filter(|name| *name != event) {
        return Err(format!("hookEventName: {name}"));
    }
    // A tool with its own argument rules is not at hand here; any input will do.
    match structured(event, &json!({"tool_name": ""}), &answer).effect {
        Effect::FailsOpen(why) => Err(why),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(event: &str, stdout: &str, stderr: &str, code: i32) -> Read {
        let input = json!({"tool_name": "Bash", "tool_input": {"command": "ls"}});
        read(event, &input, &Finished::new(stdout, stderr, code))
    }
    fn own(more: &str) -> String {
        format!(r#"{{"hookSpecificOutput":{{"hookEventName":"PreToolUse",{more}}}}}"#)
    }
    fn blocked(reason: &str) -> Effect {
        Effect::Blocked {
            reason: reason.into(),
        }
    }

    #[test]
    fn only_these_answers_stop_or_change_a_tool() {
        assert_eq!(at("PreToolUse", "", "no", 2).effect, blocked("no"));
        let deny = own(r#""permissionDecision":"deny","permissionDecisionReason":" r ""#);
        assert_eq!(at("PreToolUse", &deny, "", 0).effect, blocked("r"));
        assert_eq!(
            at("PreToolUse", r#"{"decision":"block","reason":"r"}"#, "", 0).effect,
            blocked("r")
        );
        let change = own(r#""permissionDecision":"allow","updatedInput":{"command":"pwd","x":1}"#);
        let read = at("PreToolUse", &change, "", 0);
        assert_eq!(read.effect, Effect::Rewritten(json!({"command": "pwd"})));
        assert_eq!(read.ignored, ["hookSpecificOutput.updatedInput.x"]);
        assert_eq!(
            at("PreToolUse", &own(r#""additionalContext":"c""#), "", 0).context,
            ["c"]
        );
        let odd = own(r#""permissionDecision":"allow","updatedInput":{"cmd":"pwd"}"#);
        assert!(
            matches!(at("PreToolUse", &odd, "", 0).effect, Effect::Blocked { .. }),
            "the call itself fails"
        );
    }

    #[test]
    fn everything_else_lets_the_tool_run() {
        let deny = r#""permissionDecision":"deny","permissionDecisionReason":"r""#;
        for stdout in [
            own(r#""permissionDecision":"ask","permissionDecisionReason":"r""#),
            own(r#""permissionDecision":"allow""#),
            own(r#""permissionDecision":"defer""#),
            own(r#""permissionDecision":"deny""#),
            own(r#""permissionDecision":"deny","permissionDecisionReason":"  ""#),
            own(r#""updatedInput":{"command":"x"}"#),
            own(r#""permissionDecisionReason":"r""#),
            own(&format!(r#"{deny},"extra":1"#)),
            format!(r#"{{"hookSpecificOutput":{{{deny}}}}}"#),
            r#"{"decision":"approve"}"#.into(),
            r#"{"decision":"block"}"#.into(),
            r#"{"reason":"r"}"#.into(),
            r#"{"continue":false}"#.into(),
            r#"{"continue":null}"#.into(),
            r#"{"stopReason":"r"}"#.into(),
            r#"{"suppressOutput":true}"#.into(),
            r#"{"terminalSequence":"x"}"#.into(),
            "{broken".into(),
            "[]".into(),
        ] {
            let effect = at("PreToolUse", &stdout, "", 0).effect;
            assert!(
                matches!(effect, Effect::FailsOpen(_)),
                "{stdout}: {effect:?}"
            );
            assert!(accepts("PreToolUse", &stdout).is_err(), "{stdout}");
        }
        assert_eq!(at("PreToolUse", "hello", "", 0).effect, Effect::Proceeds);
        for code in [1, 3, 127] {
            assert!(
                matches!(
                    at("PreToolUse", &own(deny), "r", code).effect,
                    Effect::FailsOpen(_)
                ),
                "{code}"
            );
        }
        assert!(
            matches!(
                at("PreToolUse", &own(deny), "  ", 2).effect,
                Effect::FailsOpen(_)
            ),
            "stdout is not read"
        );
    }

    #[test]
    fn permission_requests() {
        let with = |decision: &str| {
            format!(
                r#"{{"hookSpecificOutput":{{"hookEventName":"PermissionRequest","decision":{decision}}}}}"#
            )
        };
        for (stdout, code, want) in [
            (with(r#"{"behavior":"allow"}"#), 0, Effect::Proceeds),
            (
                with(r#"{"behavior":"deny","message":"m"}"#),
                0,
                blocked("m"),
            ),
            (
                with(r#"{"behavior":"deny"}"#),
                0,
                blocked("PermissionRequest hook denied approval"),
            ),
            (String::new(), 2, blocked("e")),
        ] {
            assert_eq!(
                at("PermissionRequest", &stdout, "e", code).effect,
                want,
                "{stdout}"
            );
        }
        for decision in [
            r#"{"behavior":"allow","updatedInput":{}}"#,
            r#"{"behavior":"allow","updatedPermissions":[]}"#,
            r#"{"behavior":"deny","interrupt":true}"#,
            r#"{"behavior":"ask"}"#,
        ] {
            let effect = at("PermissionRequest", &with(decision), "", 0).effect;
            assert!(matches!(effect, Effect::FailsOpen(_)), "{decision}");
        }
    }

    #[test]
    fn the_other_events() {
        let block = r#"{"decision":"block","reason":"r"}"#;
        let halt = r#"{"continue":false,"stopReason":"s"}"#;
        for (event, stdout, want) in [
            ("PostToolUse", block, blocked("r")),
            ("PostToolUse", halt, blocked("s")),
            ("UserPromptSubmit", block, blocked("r")),
            ("UserPromptSubmit", halt, blocked("s")),
            ("Stop", block, blocked("r")),
            ("Stop", halt, Effect::Proceeds),
            ("SessionStart", halt, blocked("s")),
            ("SubagentStart", halt, Effect::Proceeds),
            ("PreCompact", halt, blocked("s")),
        ] {
            assert_eq!(at(event, stdout, "", 0).effect, want, "{event} {stdout}");
        }
        for (event, stdout) in [
            ("SessionStart", block),
            ("PreCompact", block),
            (
                "Stop",
                r#"{"hookSpecificOutput":{"hookEventName":"Stop","additionalContext":"c"}}"#,
            ),
            ("Stop", "plain"),
            ("Stop", r#"{"decision":"block","reason":" "}"#),
            ("PostToolUse", r#"{"reason":"r"}"#),
            (
                "PostToolUse",
                r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","updatedToolOutput":"x"}}"#,
            ),
        ] {
            assert!(
                matches!(at(event, stdout, "", 0).effect, Effect::FailsOpen(_)),
                "{event} {stdout}"
            );
        }
        assert!(matches!(
            at("PreCompact", "", "no", 2).effect,
            Effect::FailsOpen(_)
        ));
        assert_eq!(at("UserPromptSubmit", "hello", "", 0).context, ["hello"]);
        assert_eq!(at("SessionEnd", "{broken", "", 0).effect, Effect::Proceeds);
    }
}
