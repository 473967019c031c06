//! Claude Code: JSON on stdout counts on every exit code, exit 2 blocks where the event can block, all else goes on.

use crate::readers::shape::{Field, Kind, Unknown, check, may, must};
use crate::readers::{Effect, Finished, Read, filled, text};
use serde_json::{Map, Value};

type Json = Map<String, Value>;

pub const EVENTS: &[&str] = &[
    "SessionStart",
    "Setup",
    "UserPromptSubmit",
    "UserPromptExpansion",
    "PreToolUse",
    "PermissionRequest",
    "PermissionDenied",
    "PostToolUse",
    "PostToolUseFailure",
    "PostToolBatch",
    "Notification",
    "MessageDisplay",
    "SubagentStart",
    "SubagentStop",
    "TaskCreated",
    "TaskCompleted",
    "Stop",
    "StopFailure",
    "TeammateIdle",
    "InstructionsLoaded",
    "ConfigChange",
    "CwdChanged",
    "DirectoryAdded",
    "FileChanged",
    "WorktreeCreate",
    "WorktreeRemove",
    "PreCompact",
    "PostCompact",
    "PreModelSwitch",
    "PostModelSwitch",
    "Elicitation",
    "ElicitationResult",
    "SessionEnd",
];

const TOP: &[Field] = &[
    may("continue", Kind::Flag),
    may("suppressOutput", Kind::Flag),
    may("stopReason", Kind::Text),
    may("decision", Kind::OneOf(&["approve", "block"])),
    may("reason", Kind::Text),
    may("systemMessage", Kind::Text),
    may("terminalSequence", Kind::Text),
    may("hookSpecificOutput", Kind::Object),
];

const CONTEXT: &[Field] = &[may("additionalContext", Kind::Text)];
const ANSWER: &[Field] = &[
    may("action", Kind::OneOf(&["accept", "decline", "cancel"])),
    may("content", Kind::Object),
];

/// The keys of `hookSpecificOutput`; `None` where the event has no such object, so that sending one is an error.
fn specific(event: &str) -> Option<&'static [Field]> {
    Some(match event {
        "PreToolUse" => {
            const {
                &[
                    may(
                        "permissionDecision",
                        Kind::OneOf(&["allow", "deny", "ask", "defer"]),
                    ),
                    may("permissionDecisionReason", Kind::Text),
                    may("updatedInput", Kind::Object),
                    may("additionalContext", Kind::Text),
                ]
            }
        }
        "PreModelSwitch" => {
            const {
                &[
                    may("permissionDecision", Kind::OneOf(&["allow", "deny", "ask"])),
                    may("permissionDecisionReason", Kind::Text),
                ]
            }
        }
        "PermissionRequest" => const { &[may("decision", Kind::Object)] },
        "PermissionDenied" => const { &[may("retry", Kind::Flag)] },
        "PostToolUse" => {
            const {
                &[
                    may("additionalContext", Kind::Text),
                    may("classifierContext", Kind::Text),
                    may("updatedToolOutput", Kind::Any),
                    may("updatedMCPToolOutput", Kind::Any),
                ]
            }
        }
        "UserPromptSubmit" => {
            const {
                &[
                    may("additionalContext", Kind::Text),
                    may("sessionTitle", Kind::Text),
                    may("suppressOriginalPrompt", Kind::Flag),
                ]
            }
        }
        "UserPromptExpansion" => {
            const {
                &[
                    may("additionalContext", Kind::Text),
                    may("suppressOriginalPrompt", Kind::Flag),
                ]
            }
        }
        "SessionStart" => {
            const {
                &[
                    may("additionalContext", Kind::Text),
                    may("initialUserMessage", Kind::Text),
                    may("sessionTitle", Kind::Text),
                    may("watchPaths", Kind::Texts),
                    may("reloadSkills", Kind::Flag),
                ]
            }
        }
        "PostToolUseFailure" | "PostToolBatch" | "Stop" | "SubagentStop" | "SubagentStart"
        | "Setup" | "Notification" | "PostModelSwitch" => CONTEXT,
        "CwdChanged" | "FileChanged" => const { &[may("watchPaths", Kind::Texts)] },
        "MessageDisplay" => const { &[may("displayContent", Kind::Text)] },
        "Elicitation" | "ElicitationResult" => ANSWER,
        _ => return None,
    })
}

/// Exit code 2, by event.
#[derive(PartialEq)]
enum Two {
    /// stops the action (on stop events: keeps the agent working; after a tool: stderr is told to the model)
    Blocks,
    /// stderr is shown to the user and that is all
    Shown,
    Nothing,
}

fn two(event: &str) -> Two {
    match event {
        "PreToolUse"
        | "UserPromptSubmit"
        | "UserPromptExpansion"
        | "Stop"
        | "SubagentStop"
        | "TeammateIdle"
        | "TaskCreated"
        | "TaskCompleted"
        | "ConfigChange"
        | "PostToolUse"
        | "PostToolUseFailure"
        | "PostToolBatch"
        | "PreCompact"
        | "PreModelSwitch"
        | "Elicitation"
        | "ElicitationResult" => Two::Blocks,
        "SubagentStart" | "SessionStart" | "Setup" | "SessionEnd" | "CwdChanged"
        | "FileChanged" | "PostCompact" | "PostModelSwitch" => Two::Shown,
        _ => Two::Nothing,
    }
}

/// Where the top-level `decision: "block"` is honoured.
fn decides_on_top(event: &str) -> bool {
    matches!(
        event,
        "UserPromptSubmit"
            | "UserPromptExpansion"
            | "PostToolUse"
            | "PostToolUseFailure"
            | "PostToolBatch"
            | "Stop"
            | "SubagentStop"
            | "ConfigChange"
            | "PreCompact"
            | "TaskCreated"
            | "PreToolUse"
            | "PreModelSwitch"
    )
}

/// Events that throw `continue` away.
fn discards_continue(event: &str) -> bool {
    discards_messages(event) || event == "TaskCreated"
}

fn discards_messages(event: &str) -> bool {
    matches!(
        event,
        "ConfigChange" | "PreCompact" | "Elicitation" | "ElicitationResult" | "Notification"
    )
}

/// On these the action is "the agent stops", so stopping everything is the action going on.
fn is_stop(event: &str) -> bool {
    matches!(event, "Stop" | "SubagentStop" | "TeammateIdle")
}

fn plain_is_context(event: &str) -> bool {
    matches!(
        event,
        "SessionStart"
            | "UserPromptSubmit"
            | "UserPromptExpansion"
            | "PostModelSwitch"
            | "PreCompact"
    )
}

pub fn read(event: &str, input: &Value, finished: &Finished) -> Read {
    if !EVENTS.contains(&event) {
        return Read::fails_open(format!("no event {event}"));
    }
    match event {
        "WorktreeCreate" => return worktree(finished),
        // Fire and forget: neither output nor exit code is looked at.
        "StopFailure" => return Read::proceeds(),
        _ => {}
    }
    let mut read = match parse(finished.stdout) {
        None => plain(event, finished),
        Some(json) => match validate(event, &json, Unknown::Dropped) {
            Err(why) if finished.code == 2 => {
                exit_two(event, Read::proceeds(), finished).doubt(why)
            }
            Err(why) => Read::fails_open(why),
            Ok(ignored) => structured(event, &json, ignored, finished),
        },
    };
    // Managed settings always come into force.
    if event == "ConfigChange"
        && input.get("source").and_then(Value::as_str) == Some("policy_settings")
    {
        read.effect = Effect::Proceeds;
    }
    read
}

/// The same for an entry with `onFailure: "block"`: what would be an error of the hook counts as exit 2.
pub fn read_on_failure_block(event: &str, input: &Value, finished: &Finished) -> Read {
    let broken = finished.stdout.trim_start().starts_with('{') && parse(finished.stdout).is_none();
    let read = read(event, input, finished);
    let failed = broken || matches!(read.effect, Effect::FailsOpen(_));
    let honoured = !matches!(
        event,
        "Stop" | "SubagentStop" | "TaskCompleted" | "TeammateIdle"
    );
    if !failed || !honoured {
        return read;
    }
    // Unlike a plain exit 2 this reaches permission requests too.
    if event == "PermissionRequest" {
        return Read::blocked(finished.stderr.trim());
    }
    exit_two(event, Read::proceeds(), finished)
}

/// Only text that begins with a brace is tried as JSON; what does not parse is plain text again.
fn parse(stdout: &str) -> Option<Json> {
    if !stdout.trim_start().starts_with('{') {
        return None;
    }
    crate::readers::object(stdout)
}

fn validate(event: &str, json: &Json, unknown: Unknown) -> Result<Vec<String>, String> {
    let mut ignored = check(json, "", &[TOP], unknown)?;
    let Some(own) = json.get("hookSpecificOutput").and_then(Value::as_object) else {
        return Ok(ignored);
    };
    let fields = specific(event).ok_or_else(|| format!("hookSpecificOutput: {event} has none"))?;
    const NAME: &[Field] = &[must("hookEventName", Kind::Text)];
    ignored.extend(check(own, "hookSpecificOutput.", &[NAME, fields], unknown)?);
    if text(own, "hookEventName") != Some(event) {
        return Err("hookSpecificOutput.hookEventName: names another event".into());
    }
    if event == "PermissionRequest" {
        ignored.extend(validate_permission(own, unknown)?);
    }
    Ok(ignored)
}

fn validate_permission(own: &Json, unknown: Unknown) -> Result<Vec<String>, String> {
    let Some(decision) = own.get("decision").and_then(Value::as_object) else {
        return Ok(vec![]);
    };
    const BEHAVIOR: &[Field] = &[must("behavior", Kind::OneOf(&["allow", "deny"]))];
    const ALLOW: &[Field] = &[
        may("updatedInput", Kind::Object),
        may("updatedPermissions", Kind::List),
    ];
    const DENY: &[Field] = &[may("message", Kind::Text), may("interrupt", Kind::Flag)];
    let rest = if text(decision, "behavior") == Some("deny") {
        DENY
    } else {
        ALLOW
    };
    check(
        decision,
        "hookSpecificOutput.decision.",
        &[BEHAVIOR, rest],
        unknown,
    )
}

fn plain(event: &str, finished: &Finished) -> Read {
    match finished.code {
        0 => {
            let mut read = Read::proceeds();
            let text = finished.stdout.trim();
            if plain_is_context(event) && !text.is_empty() {
                read.context.push(text.to_string());
            }
            read
        }
        2 => exit_two(event, Read::proceeds(), finished),
        code => {
            let first = finished.stderr.lines().next().unwrap_or_default();
            let mut read = Read::fails_open(format!("exit {code}: {first}"));
            read.shown.push(first.to_string());
            read
        }
    }
}

/// Lays exit code 2 over what the JSON (if any) had said.
fn exit_two(event: &str, mut read: Read, finished: &Finished) -> Read {
    let stderr = finished.stderr.trim();
    match two(event) {
        Two::Blocks => match &read.effect {
            Effect::Blocked { reason } if !reason.is_empty() => {}
            _ => {
                read.effect = Effect::Blocked {
                    reason: stderr.to_string(),
                }
            }
        },
        Two::Shown => read.shown.push(stderr.to_string()),
        Two::Nothing => {}
    }
    read
}

fn structured(event: &str, json: &Json, ignored: Vec<String>, finished: &Finished) -> Read {
    let none = Json::new();
    let own = json
        .get("hookSpecificOutput")
        .and_then(Value::as_object)
        .unwrap_or(&none);
    // A hook that exits 2 on an elicitation has declined; its own answer is not used.
    let own = if finished.code == 2 && event.starts_with("Elicitation") {
        &none
    } else {
        own
    };
    let mut read = decide(event, json, own);
    read.ignored.extend(ignored);
    common(event, json, &mut read);
    if let Some(context) = text(own, "additionalContext")
        && text(own, "permissionDecision") != Some("defer")
    {
        read.context.push(context.to_string());
        // Feedback at the end of a turn keeps the conversation going.
        if matches!(event, "Stop" | "SubagentStop") && read.effect == Effect::Proceeds {
            read.effect = Effect::Blocked {
                reason: context.to_string(),
            };
        }
    }
    if json.get("continue") == Some(&Value::Bool(false)) && !discards_continue(event) {
        let reason = text(json, "stopReason").unwrap_or_default().to_string();
        read.shown.push(reason.clone());
        read.effect = if is_stop(event) {
            Effect::Proceeds
        } else {
            Effect::Blocked { reason }
        };
    }
    if finished.code == 2 {
        exit_two(event, read, finished)
    } else {
        read
    }
}

fn common(event: &str, json: &Json, read: &mut Read) {
    if let Some(message) = text(json, "systemMessage") {
        if discards_messages(event) {
            read.ignored.push("systemMessage".into());
        } else {
            read.shown.push(message.to_string());
        }
    }
    if json.contains_key("suppressOutput") {
        read.ignored.push("suppressOutput".into());
    }
    if json.contains_key("continue") && discards_continue(event) {
        read.ignored.push("continue".into());
    }
    if json.contains_key("decision") && !decides_on_top(event) {
        read.ignored.push("decision".into());
    }
}

fn decide(event: &str, json: &Json, own: &Json) -> Read {
    match event {
        "PreToolUse" => tool(json, own),
        "PreModelSwitch" => permission(json, own),
        "PermissionRequest" => request(own),
        "PostToolUse" => after_tool(json, own),
        "Elicitation" | "ElicitationResult" => elicitation(own),
        "MessageDisplay" => {
            let mut read = Read::proceeds();
            read.shown
                .extend(text(own, "displayContent").map(String::from));
            read
        }
        _ if decides_on_top(event) => top(json),
        _ => Read::proceeds(),
    }
}

fn top(json: &Json) -> Read {
    if text(json, "decision") == Some("block") {
        return Read::blocked(text(json, "reason").unwrap_or_default());
    }
    Read::proceeds()
}

/// `permissionDecision`, or the older top-level pair.
fn permission(json: &Json, own: &Json) -> Read {
    let reason = text(own, "permissionDecisionReason").unwrap_or_default();
    match text(own, "permissionDecision") {
        Some("deny") => Read::blocked(reason),
        Some("ask") => Read::asks(reason),
        Some("allow") => Read::proceeds(),
        _ => top(json),
    }
}

fn tool(json: &Json, own: &Json) -> Read {
    if text(own, "permissionDecision") == Some("defer") {
        let mut read = Read::proceeds().doubt("defer only counts in -p with a single tool call");
        read.ignored
            .push("hookSpecificOutput.permissionDecision".into());
        return read;
    }
    let mut read = permission(json, own);
    let Some(input) = own.get("updatedInput") else {
        return read;
    };
    match &read.effect {
        // Also without a decision, as `real_agents` shows: the person is asked as usual.
        Effect::Proceeds => read.effect = Effect::Rewritten(input.clone()),
        // The person is asked about the changed input.
        Effect::Asks { .. } => {}
        _ => read.ignored.push("hookSpecificOutput.updatedInput".into()),
    }
    read
}

fn request(own: &Json) -> Read {
    let Some(decision) = own.get("decision").and_then(Value::as_object) else {
        return Read::proceeds();
    };
    if text(decision, "behavior") == Some("deny") {
        return Read::blocked(text(decision, "message").unwrap_or_default());
    }
    match decision.get("updatedInput") {
        Some(input) => Read::new(Effect::Rewritten(input.clone())),
        None => Read::proceeds(),
    }
}

fn after_tool(json: &Json, own: &Json) -> Read {
    let mut read = top(json);
    let output = own
        .get("updatedToolOutput")
        .or_else(|| own.get("updatedMCPToolOutput"));
    if let (Effect::Proceeds, Some(output)) = (&read.effect, output) {
        read.effect = Effect::Rewritten(output.clone());
    }
    read
}

fn elicitation(own: &Json) -> Read {
    match text(own, "action") {
        Some("accept") => Read::new(Effect::Rewritten(
            own.get("content").cloned().unwrap_or(Value::Null),
        )),
        Some(action) => Read::blocked(action),
        None => Read::proceeds(),
    }
}

/// The last line that is not blank is the path; every failure is a failure of the creation.
fn worktree(finished: &Finished) -> Read {
    if finished.code != 0 {
        return Read::blocked(finished.stderr.trim());
    }
    match finished
        .stdout
        .lines()
        .map(str::trim)
        .rfind(|line| !line.is_empty())
    {
        Some(path) => Read::new(Effect::Rewritten(Value::String(path.to_string()))),
        None => Read::blocked("no path"),
    }
}

pub fn accepts(event: &str, stdout: &str) -> Result<(), String> {
    let trimmed = stdout.trim();
    if trimmed.is_empty()
        || event == "WorktreeCreate"
        || (plain_is_context(event) && !trimmed.starts_with('{'))
    {
        return Ok(());
    }
    let json = crate::readers::object(trimmed).ok_or("not a JSON object")?;
    validate(event, &json, Unknown::Refused)?;
    if !decides_on_top(event) && (json.contains_key("decision") || json.contains_key("reason")) {
        return Err(format!("decision: {event} does not read it"));
    }
    let blocks = text(&json, "decision") == Some("block");
    if blocks && filled(&json, "reason").is_none() {
        return Err("reason: missing next to decision block".into());
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
            &json!({"tool_input": {"command": "ls"}}),
            &Finished::new(stdout, stderr, code),
        )
    }
    fn own(event: &str, more: Value) -> String {
        let mut specific = json!({"hookEventName": event});
        specific
            .as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        json!({"hookSpecificOutput": specific}).to_string()
    }
    fn blocked(reason: &str) -> Effect {
        Effect::Blocked {
            reason: reason.into(),
        }
    }

    #[test]
    fn exit_codes_without_json() {
        for (event, code, stderr, want) in [
            ("PreToolUse", 0, "noise", Effect::Proceeds),
            ("PreToolUse", 2, "no\n", blocked("no")),
            ("PreToolUse", 2, "", blocked("")),
            (
                "PreToolUse",
                1,
                "oops\nmore",
                Effect::FailsOpen("exit 1: oops".into()),
            ),
            (
                "PreToolUse",
                127,
                "not found",
                Effect::FailsOpen("exit 127: not found".into()),
            ),
            ("PermissionRequest", 2, "no", Effect::Proceeds),
            ("Stop", 2, "go on", blocked("go on")),
            ("PostToolUse", 2, "lint", blocked("lint")),
            ("UserPromptSubmit", 2, "no", blocked("no")),
            ("SessionStart", 2, "no", Effect::Proceeds),
            ("Notification", 2, "no", Effect::Proceeds),
            ("WorktreeCreate", 1, "no", blocked("no")),
            ("StopFailure", 2, "no", Effect::Proceeds),
        ] {
            assert_eq!(
                at(event, "", stderr, code).effect,
                want,
                "{event} {code} {stderr}"
            );
        }
    }

    #[test]
    fn json_counts_on_every_exit_code() {
        let deny = own(
            "PreToolUse",
            json!({"permissionDecision": "deny", "permissionDecisionReason": "r"}),
        );
        for code in [0, 1, 2, 127] {
            assert_eq!(
                at("PreToolUse", &deny, "s", code).effect,
                blocked("r"),
                "{code}"
            );
        }
        let allow = own("PreToolUse", json!({"permissionDecision": "allow"}));
        assert_eq!(at("PreToolUse", &allow, "s", 1).effect, Effect::Proceeds);
        assert_eq!(
            at("PreToolUse", &allow, "s", 2).effect,
            blocked("s"),
            "allow cannot lift exit 2"
        );
    }

    #[test]
    fn decisions_of_a_tool_call() {
        for (specific, want) in [
            (
                json!({"permissionDecision": "ask", "permissionDecisionReason": "r"}),
                Effect::Asks { reason: "r".into() },
            ),
            (
                json!({"permissionDecision": "allow", "updatedInput": {"command": "pwd"}}),
                Effect::Rewritten(json!({"command": "pwd"})),
            ),
            (
                json!({"permissionDecision": "deny", "updatedInput": {"command": "pwd"}}),
                blocked(""),
            ),
            (json!({"permissionDecision": "defer"}), Effect::Proceeds),
            (json!({}), Effect::Proceeds),
        ] {
            assert_eq!(
                at("PreToolUse", &own("PreToolUse", specific.clone()), "", 0).effect,
                want,
                "{specific}"
            );
        }
        let legacy = r#"{"decision":"block","reason":"r"}"#;
        assert_eq!(at("PreToolUse", legacy, "", 0).effect, blocked("r"));
    }

    #[test]
    fn what_fails_the_schema_goes_on() {
        for stdout in [
            r#"{"continue":"no"}"#,
            r#"{"decision":"deny"}"#,
            r#"{"hookSpecificOutput":{"permissionDecision":"deny"}}"#,
            r#"{"hookSpecificOutput":{"hookEventName":"PostToolUse","additionalContext":"x"}}"#,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","permissionDecision":"no"}}"#,
            r#"{"hookSpecificOutput":{"hookEventName":"PreToolUse","updatedInput":"x"}}"#,
        ] {
            assert!(
                matches!(
                    at("PreToolUse", stdout, "s", 0).effect,
                    Effect::FailsOpen(_)
                ),
                "{stdout}"
            );
            assert_eq!(
                at("PreToolUse", stdout, "s", 2).effect,
                blocked("s"),
                "exit 2 blocks: {stdout}"
            );
        }
    }

    #[test]
    fn an_entry_that_blocks_on_failure() {
        let closed = |event: &str, stdout: &str, code| {
            read_on_failure_block(event, &json!({}), &Finished::new(stdout, "s", code)).effect
        };
        for (event, stdout, code, want) in [
            ("PreToolUse", "", 1, blocked("s")),
            ("PreToolUse", "", 127, blocked("s")),
            ("PreToolUse", "{broken", 0, blocked("s")),
            ("PreToolUse", r#"{"continue":1}"#, 0, blocked("s")),
            ("PreToolUse", "", 0, Effect::Proceeds),
            ("PermissionRequest", "", 1, blocked("s")),
            ("PermissionRequest", "", 2, Effect::Proceeds),
            ("Stop", "", 1, Effect::FailsOpen("exit 1: s".into())),
        ] {
            assert_eq!(closed(event, stdout, code), want, "{event} {stdout} {code}");
        }
    }

    #[test]
    fn plain_text_and_broken_json() {
        assert_eq!(at("UserPromptSubmit", "hello", "", 0).context, ["hello"]);
        assert_eq!(
            at("UserPromptSubmit", "{broken", "", 0).context,
            ["{broken"]
        );
        assert_eq!(at("SessionStart", "[1]", "", 0).context, ["[1]"]);
        assert!(at("PreToolUse", "hello", "", 0).context.is_empty());
    }

    #[test]
    fn stopping_everything() {
        let stop = r#"{"continue":false,"stopReason":"enough"}"#;
        assert_eq!(at("PreToolUse", stop, "", 0).effect, blocked("enough"));
        assert_eq!(at("Stop", stop, "", 0).effect, Effect::Proceeds);
        assert_eq!(at("PreCompact", stop, "", 0).effect, Effect::Proceeds);
        assert_eq!(at("PreCompact", stop, "", 0).ignored, ["continue"]);
    }

    #[test]
    fn other_events() {
        let block = r#"{"decision":"block","reason":"r"}"#;
        assert_eq!(at("Stop", block, "", 0).effect, blocked("r"));
        assert_eq!(at("SessionStart", block, "", 0).effect, Effect::Proceeds);
        assert_eq!(at("SessionStart", block, "", 0).ignored, ["decision"]);
        let more = at(
            "Stop",
            &own("Stop", json!({"additionalContext": "tests"})),
            "",
            0,
        );
        assert_eq!(more.effect, blocked("tests"));
        let deny = own(
            "PermissionRequest",
            json!({"decision": {"behavior": "deny", "message": "m"}}),
        );
        assert_eq!(at("PermissionRequest", &deny, "", 2).effect, blocked("m"));
        let path = at("WorktreeCreate", "banner\n/tmp/w\n\n", "", 0).effect;
        assert_eq!(path, Effect::Rewritten(json!("/tmp/w")));
        let policy = read(
            "ConfigChange",
            &json!({"source": "policy_settings"}),
            &Finished::new(block, "", 0),
        );
        assert_eq!(policy.effect, Effect::Proceeds);
        let decline = own(
            "Elicitation",
            json!({"action": "accept", "content": {"a": 1}}),
        );
        assert_eq!(
            at("Elicitation", &decline, "", 0).effect,
            Effect::Rewritten(json!({"a": 1}))
        );
        assert_eq!(at("Elicitation", &decline, "no", 2).effect, blocked("no"));
    }

    #[test]
    fn keys_without_effect_are_named() {
        let read = at(
            "PreToolUse",
            r#"{"suppressOutput":true,"colour":1,"systemMessage":"m"}"#,
            "",
            0,
        );
        assert_eq!(read.ignored, ["colour", "suppressOutput"]);
        assert_eq!(read.shown, ["m"]);
    }

    #[test]
    fn the_strict_form() {
        for (event, stdout, ok) in [
            ("PreToolUse", "", true),
            ("PreToolUse", "hello", false),
            ("UserPromptSubmit", "hello", true),
            ("PreToolUse", r#"{"colour":1}"#, false),
            ("Stop", r#"{"decision":"block"}"#, false),
            ("Stop", r#"{"decision":"block","reason":"r"}"#, true),
            (
                "SessionStart",
                r#"{"decision":"block","reason":"r"}"#,
                false,
            ),
            (
                "PreCompact",
                r#"{"hookSpecificOutput":{"hookEventName":"PreCompact"}}"#,
                false,
            ),
        ] {
            assert_eq!(accepts(event, stdout).is_ok(), ok, "{event} {stdout}");
        }
    }
}
