//! What answers mean, and the words each dialect has for them.

use crate::support::programs::Says;
use crate::support::{Project, answer, command, component};
use crate::{builder, fire, one_polytoken};
use hookbox::Ruling;
use hookbox::decision::{Effect, Placement};
use hookbox::dialect::{framework, harn, polytoken};
use hookbox::failure::Cause;
use insta::assert_snapshot;
use serde_json::{Value, json};

#[test]
fn c_06_c_07_going_on_and_refusing_have_a_word_in_every_dialect() {
    let mut told = String::new();
    for decision in [0, 1] {
        let bytes = component(&answer(decision, "because"));
        for event in (polytoken::DIALECT.events)() {
            let project = one_polytoken(event.name, bytes.clone());
            let runtime = builder(&project, &polytoken::DIALECT).load().unwrap();
            let outcome = runtime
                .dispatch(event.name, json!({"tool_name": "t"}))
                .unwrap();
            told += &format!("{:22} {}\n", event.name, runtime.native(&outcome).unwrap());
        }
        for event in (harn::DIALECT.events)() {
            let project = Project::new();
            project.file("p.wasm", &bytes);
            project.file(
                "harn.toml",
                format!(
                    "[[hooks]]\nevent = \"{}\"\nhandler = \"p::x\"\n",
                    event.name
                ),
            );
            let runtime = builder(&project, &harn::DIALECT).load().unwrap();
            let outcome = runtime
                .dispatch(event.name, json!({"tool": {"name": "t"}, "pct": 90}))
                .unwrap();
            told += &format!("{:22} {}\n", event.name, runtime.native(&outcome).unwrap());
        }
        for event in (framework::DIALECT.events)() {
            let project = Project::new();
            project.file("x.wasm", &bytes);
            project.file(
                "settings.json",
                json!({"hooks": {event.name: [{"path": "x.wasm"}]}}).to_string(),
            );
            let runtime = builder(&project, &framework::DIALECT).load().unwrap();
            let outcome = runtime
                .dispatch(event.name, json!({"tool_name": "t"}))
                .unwrap();
            told += &format!("{:22} {}\n", event.name, runtime.native(&outcome).unwrap());
        }
    }
    assert_snapshot!(told);
}

#[test]
fn c_08_a_quiet_skip_is_no_denial() {
    let quiet = Says::new(r#"{"outcome":"suppress"}"#, "", 0);
    let project = one_polytoken("pre_compaction", quiet.wasm());
    let runtime = builder(&project, &polytoken::DIALECT).load().unwrap();
    let outcome = runtime.dispatch("pre_compaction", Value::Null).unwrap();
    assert_eq!(outcome.decision, Ruling::Block);
    assert_eq!(outcome.said.as_ref().unwrap().verb, "suppress");
    assert!(runtime.native(&outcome).unwrap().contains("suppress"));
}

#[test]
fn c_10_a_veto_where_nothing_waits_is_honoured_an_error_ignored_or_a_warning() {
    let block = component(&answer(1, "no"));
    let harness = Project::with(&[(
        "x",
        "---\nevent: session.start\npriority: 1\ncomponent: x.wasm\n---\n",
    )]);
    harness.file(".harness/hooks/x.wasm", &block);
    assert_eq!(
        harness.dispatch("session.start", Value::Null).decision,
        Ruling::Block
    );
    let outcome = fire(
        &one_polytoken("session_start", block.clone()),
        &polytoken::DIALECT,
        "session_start",
        Value::Null,
    )
    .unwrap();
    assert_eq!(
        (outcome.decision, outcome.trace[0].cause),
        (Ruling::Allow, Some(Cause::BadAnswer))
    );
    let project = Project::new();
    project.file("p.wasm", &block);
    project.file(
        "harn.toml",
        "[[hooks]]\nevent = \"SessionStart\"\nhandler = \"p::x\"\n",
    );
    let outcome = fire(&project, &harn::DIALECT, "session_start", Value::Null).unwrap();
    assert_eq!(
        (outcome.decision, outcome.warnings.len()),
        (Ruling::Allow, 1)
    );
    let project = Project::new();
    project.file("x.wasm", &block);
    project.file(
        "settings.json",
        r#"{"hooks":{"SessionEnd":[{"path":"x.wasm"}]}}"#,
    );
    let outcome = fire(&project, &framework::DIALECT, "SessionEnd", Value::Null).unwrap();
    assert_eq!(
        (outcome.decision, outcome.warnings.len()),
        (Ruling::Allow, 1)
    );
}

#[test]
fn c_11_only_two_dialects_rewrite() {
    let rewrite = component(&answer(2, r#"{"args":{"a":2}}"#));
    let outcome = fire(
        &one_polytoken("pre_tool_use", rewrite.clone()),
        &polytoken::DIALECT,
        "pre_tool_use",
        json!({"tool_name": "t"}),
    )
    .unwrap();
    assert_eq!(
        (outcome.decision, outcome.trace[0].cause),
        (Ruling::Block, Some(Cause::BadAnswer))
    );
    let project = Project::new();
    project.file("x.wasm", &rewrite).file("p.wasm", &rewrite);
    project.file(
        "settings.json",
        r#"{"hooks":{"PreToolUse":[{"path":"x.wasm"}]}}"#,
    );
    let outcome = fire(
        &project,
        &framework::DIALECT,
        "PreToolUse",
        json!({"tool_name": "t", "tool_input": {"a": 1}}),
    )
    .unwrap();
    assert_eq!(
        (outcome.decision, outcome.warnings.len()),
        (Ruling::Allow, 1)
    );
    project.file("settings.json", "{}");
    project.file(
        "harn.toml",
        "[[hooks]]\nevent = \"PreToolUse\"\nhandler = \"p::x\"\n",
    );
    let outcome = fire(
        &project,
        &harn::DIALECT,
        "PreToolUse",
        json!({"tool": {"name": "t", "args": {"a": 1}}}),
    )
    .unwrap();
    assert_eq!(outcome.decision, Ruling::Modify);
    assert_eq!(outcome.payload.value()["tool"]["args"], json!({"a": 2}));
}

#[test]
fn c_12_context_has_a_place_in_every_dialect() {
    let placed = |event: &str, stdout: &str| {
        let project = one_polytoken(event, Says::new(stdout, "", 0).wasm());
        let outcome = fire(
            &project,
            &polytoken::DIALECT,
            event,
            json!({"tool_name": "t"}),
        )
        .unwrap();
        match outcome.effects.as_slice() {
            [Effect::Context { placement, .. }] => *placement,
            other => panic!("{event}: {other:?}"),
        }
    };
    assert_eq!(
        placed(
            "session_start",
            r#"{"outcome":"allow","additional_context":"x"}"#
        ),
        Placement::SystemReminder
    );
    assert_eq!(
        placed(
            "pre_compaction",
            r#"{"outcome":"allow","prepend_to_prompt":"x"}"#
        ),
        Placement::PrependToPrompt
    );
    assert_eq!(
        placed(
            "post_compaction",
            r#"{"outcome":"allow","append_to_output":"x"}"#
        ),
        Placement::AppendToOutput
    );
}

#[test]
fn c_19_constructors_and_dicts_decide_and_anything_else_is_allowed_with_a_warning() {
    for (returned, decision, warnings) in [
        ("block('x')", Ruling::Block, 0),
        ("{'action': 'block', 'reason': 'x'}", Ruling::Block, 0),
        ("7", Ruling::Allow, 1),
    ] {
        let outcome = Project::script(&format!(
            "def handle(event, payload):\n    return {returned}"
        ))
        .dispatch("tool.pre", command("ls"));
        assert_eq!(
            (outcome.decision, outcome.warnings.len()),
            (decision, warnings),
            "{returned}"
        );
    }
}

#[test]
fn c_32_a_partial_modify_keeps_the_rest() {
    let outcome = Project::script(
        "def handle(event, payload):\n    return modify({'args': {'command': 'pwd'}})",
    )
    .dispatch("tool.pre", command("ls"));
    let payload = outcome.payload.value();
    assert_eq!(payload["name"], "run_command");
    assert_eq!(payload["arguments"], "{\"command\":\"pwd\"}");
}
