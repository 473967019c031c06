//! Hooks of several dialects on one event.

use hookbox::Ruling::{Block, Modify};
use hookbox::Runtime;
use insta::assert_snapshot;
use serde_json::{Value, json};

use super::support::{Project, hook_file, session};
use super::{call, entry, policy};

/// A Markdown hook that rewrites a command, and a manifest hook that rewrites it again.
fn mixed() -> Project {
    let project = policy(
        &entry("PreToolUse", "tool.args.command =~ '^git '", "policy::dry"),
        r#"
def dry(event):
    args = dict(event["tool"]["args"])
    args["command"] += " --dry-run"
    return {"args": args}
"#,
    );
    project.hook(
        "no_sudo",
        &hook_file(
            "tool.pre",
            "priority: 10",
            "def handle(event, payload):\n    command = payload[\"args\"][\"command\"]\n    if command == \"sudo\":\n        return block(\"no root\")\n    return modify({\"args\": {\"command\": command.removeprefix(\"sudo \")}})",
        ),
    );
    project
}

#[test]
fn a_payload_is_rewritten_across_dialects_and_comes_back_in_the_form_it_came_in() {
    let project = mixed();
    let runtime = Runtime::load(project.path()).unwrap();
    let called = |outcome: &hookbox::Outcome| -> Vec<String> {
        let called = outcome.stages.dispatch.iter();
        called.map(|hook| hook.to_string()).collect()
    };
    let outcome = runtime
        .dispatch(
            "PreToolUse",
            call("shell", json!({"command": "sudo git push"})),
        )
        .unwrap();
    assert_eq!(outcome.decision, Modify);
    assert_eq!(called(&outcome), ["no_sudo", "policy::dry"]);
    let args = json!({"command": "git push --dry-run"});
    assert_eq!(
        *outcome.payload.value(),
        json!({"event": "PreToolUse", "tool": {"name": "shell", "args": args, "tool_call_id": "c1"}, "tool_call_id": "c1"})
    );
    assert_eq!(
        runtime.native(&outcome).unwrap(),
        r#"{"args":{"command":"git push --dry-run"}}"#
    );
    let outcome = runtime
        .dispatch(
            "tool.pre",
            json!({"id": "c1", "name": "shell", "args": {"command": "sudo git push"}}),
        )
        .unwrap();
    assert_eq!(called(&outcome), ["no_sudo", "policy::dry"]);
    let payload = outcome.payload.value();
    assert_eq!(payload["args"], args);
    assert_eq!(payload["arguments"], args.to_string());
    assert_eq!(payload.get("tool"), None);
}

#[test]
fn a_block_of_another_dialect_is_told_in_harn_s_words() {
    let project = mixed();
    let runtime = Runtime::load(project.path()).unwrap();
    let outcome = runtime
        .dispatch("PreToolUse", call("shell", json!({"command": "sudo"})))
        .unwrap();
    assert_eq!(outcome.decision, Block);
    assert_eq!(runtime.native(&outcome).unwrap(), r#"{"deny":"no root"}"#);
}

#[test]
fn a_harn_hook_that_fails_raises_also_under_another_dialect_s_event() {
    let project = mixed();
    project.file("policy.star", "def dry(event):\n    return 42\n");
    let runtime = Runtime::load(project.path()).unwrap();
    let payload = json!({"name": "shell", "args": {"command": "git push"}});
    assert!(runtime.dispatch("tool.pre", payload).is_err());
}

#[test]
fn a_prompt_is_the_same_for_both() {
    let project = policy(
        &entry("UserPromptSubmit", "prompt == 'hello!'", "policy::f"),
        "def f(event):\n    return {\"block\": True, \"reason\": event[\"prompt\"]}\n",
    );
    project.hook(
        "louder",
        &hook_file(
            "turn.start",
            "priority: 1",
            "def handle(event, payload):\n    return modify(payload + \"!\")",
        ),
    );
    let runtime = Runtime::load(project.path()).unwrap();
    for (event, payload) in [
        ("turn.start", json!("hello")),
        ("user_prompt_submit", json!({"prompt": "hello"})),
    ] {
        let outcome = runtime.dispatch(event, payload).unwrap();
        assert_eq!(outcome.reason.as_deref(), Some("hello!"), "{event}");
    }
    let outcome = runtime
        .dispatch("user_prompt_submit", json!({"prompt": "bye"}))
        .unwrap();
    assert_eq!(outcome.payload.value()["prompt"], "bye!");
}

#[test]
fn a_name_of_several_dialects_needs_a_word_about_which() {
    let project = Project::new();
    let runtime = Runtime::load(project.path()).unwrap();
    let wrong = runtime
        .dispatch("PreToolUse", Value::Null)
        .unwrap_err()
        .to_string();
    assert!(
        wrong.contains("harn and of framework") && wrong.contains("--dialect"),
        "{wrong}"
    );
}

#[test]
fn explain_shows_a_mixed_chain() {
    assert_snapshot!(session(mixed().path(), &["explain"]));
}
