//! When hooks run, where, and what they see.

use crate::support::programs::executable;
use crate::support::{Project, answer, component, hook_file, session};
use crate::{builder, fire, one_polytoken};
use hookbox::decision::{Effect, Placement};
use hookbox::dialect::harn::{Hooks, ToolHook};
use hookbox::dialect::{framework, harn, harness, polytoken};
use hookbox::{Ruling, Runtime};
use serde_json::{Value, json};

#[test]
fn c_14_there_is_one_event_after_a_tool_and_polytoken_has_two_names_for_it() {
    let project = Project::new();
    project.file(".polytoken/x.wasm", component(&answer(0, "")));
    let hook = |name: &str, event: &str| json!({"name": name, "event": event, "handler": {"wasm": "x.wasm"}});
    project.file(
        ".polytoken/hooks.json",
        json!([
            hook("good", "post_tool_use"),
            hook("bad", "post_tool_use_failure")
        ])
        .to_string(),
    );
    let runtime = project.runtime();
    for (failed, expected) in [(false, "good"), (true, "bad")] {
        let payload = json!({"name": "t", "content": "x", "is_error": failed});
        runtime.dispatch("tool.post", payload).unwrap();
        let later = runtime.flush();
        let called: Vec<&str> = later[0].stages.dispatch.iter().map(AsRef::as_ref).collect();
        assert_eq!(called, [expected]);
    }
}

#[test]
fn c_17_when_sees_the_first_payload_unless_the_project_wants_the_current_one() {
    let rename = hook_file(
        "tool.pre",
        "priority: 1",
        "def handle(event, payload):\n    return modify({'name': 'new'})",
    );
    let guard = hook_file(
        "tool.pre",
        "priority: 2\nwhen: payload['name'] == 'new'",
        "def handle(event, payload):\n    return block('new')",
    );
    let project = Project::with(&[("rename", &rename), ("guard", &guard)]);
    let call = json!({"name": "old", "args": {}});
    assert_eq!(
        project.dispatch("tool.pre", call.clone()).decision,
        Ruling::Modify
    );
    project.file("hookbox.toml", "[harness]\nwhen_eval = \"live\"\n");
    assert_eq!(
        project.dispatch("tool.pre", call.clone()).decision,
        Ruling::Block
    );
    let payload = call.to_string();
    session(
        project.path(),
        &[
            "run",
            "tool.pre",
            "--payload",
            &payload,
            "--tape",
            "run.tape",
        ],
    );
    let checked = session(
        project.path(),
        &["replay", "run.tape", "--check", "--project", "."],
    );
    assert!(checked.ends_with("[exit code 0]\n"), "{checked}");
}

#[test]
fn c_18_c_20_the_longer_catalogue_counts() {
    for event in [
        "turn.start",
        "completion.pre",
        "delegation.post_verify",
        "agent.stop",
        "custom.x",
        "meta.y",
    ] {
        assert!((harness::DIALECT.find)(event).is_some(), "{event}");
    }
}

#[test]
fn c_26_harns_finish_events_come_in_whatever_order_they_are_fired() {
    let project = Project::new();
    project.file("harn.toml", "");
    let runtime = builder(&project, &harn::DIALECT).load().unwrap();
    for event in [
        "on_unsettled_detected",
        "pre_finish",
        "post_finish",
        "on_unsettled_detected",
    ] {
        assert_eq!(
            runtime.dispatch(event, json!({})).unwrap().decision,
            Ruling::Allow
        );
    }
}

#[test]
fn c_27_every_surface_leaves_two_records_and_a_third_for_a_veto() {
    let project = Project::new();
    let mut hooks = Hooks::new();
    hooks
        .register_tool_hook(ToolHook::matching("exec_*").deny("gated"))
        .unwrap();
    hooks
        .register_session_hook("post_turn", |_: &Value| Value::Null)
        .unwrap();
    hooks
        .register_persona_hook("*", "PreStep", |_: &Value| Value::Null)
        .unwrap();
    let tape = project.path().join("run.tape");
    let recorder = hookbox::tape::Recorder::create(&tape).unwrap();
    let runtime = builder(&project, &harn::DIALECT)
        .harn(hooks)
        .tape(&recorder)
        .load()
        .unwrap();
    runtime
        .dispatch("PreToolUse", json!({"tool": {"name": "exec_x"}}))
        .unwrap();
    runtime.dispatch("post_turn", json!({})).unwrap();
    runtime
        .dispatch("PreStep", json!({"persona": "p", "step": "s"}))
        .unwrap();
    recorder.close().unwrap();
    let text = std::fs::read_to_string(tape).unwrap();
    let count = |kind: &str| text.matches(&format!("\"kind\":\"{kind}\"")).count();
    assert_eq!(
        (
            count("hook_call"),
            count("hook_returned"),
            count("hook_vetoed")
        ),
        (3, 3, 1)
    );
}

#[test]
fn c_28_what_nobody_waits_for_runs_in_the_background_in_order() {
    let project = Project::new();
    let script = "sleep 0.1; jq -r .tool_name >> order.txt";
    project.file(
        ".polytoken/hooks.json",
        json!([{"name": "x", "event": "post_tool_use", "handler": {"bash": script}}]).to_string(),
    );
    let tape = project.path().join("run.tape");
    let recorder = hookbox::tape::Recorder::create(&tape).unwrap();
    let runtime = builder(&project, &polytoken::DIALECT)
        .allow_process(true)
        .tape(&recorder)
        .load()
        .unwrap();
    for tool in ["a", "b", "c"] {
        let outcome = runtime
            .dispatch("post_tool_use", json!({"tool_name": tool}))
            .unwrap();
        assert!(outcome.trace[0].background);
        assert_eq!(outcome.trace[0].decision, None);
    }
    assert_eq!(runtime.flush().len(), 3);
    recorder.close().unwrap();
    assert_eq!(
        std::fs::read_to_string(project.path().join("order.txt")).unwrap(),
        "a\nb\nc\n"
    );
    // A check starts nothing, and finds the same.
    let checked = session(
        project.path(),
        &["replay", "run.tape", "--check", "--project", "."],
    );
    assert!(checked.ends_with("[exit code 0]\n"), "{checked}");
    assert_eq!(
        std::fs::read_to_string(project.path().join("order.txt")).unwrap(),
        "a\nb\nc\n"
    );
}

#[test]
fn c_29_hooks_stay_as_they_were_loaded_until_a_reload() {
    let project = one_polytoken("pre_tool_use", component(&answer(1, "no")));
    let mut runtime = builder(&project, &polytoken::DIALECT).load().unwrap();
    project.file(".polytoken/hooks.json", "[]");
    let call = json!({"tool_name": "t"});
    assert_eq!(
        runtime
            .dispatch("pre_tool_use", call.clone())
            .unwrap()
            .decision,
        Ruling::Block
    );
    runtime.reload().unwrap();
    assert_eq!(
        runtime.dispatch("pre_tool_use", call).unwrap().decision,
        Ruling::Allow
    );
}

#[test]
fn c_30_a_program_of_the_machine_needs_the_owners_word_and_never_the_hooks() {
    let project = Project::new();
    project.file(
        ".polytoken/hooks.json",
        r#"[{"name":"x","event":"stop","handler":{"bash":"exit 0"}}]"#,
    );
    assert!(project.errors()[0].contains("outside of the sandbox"));
    // A file that can have hooks in it cannot allow itself anything.
    project.file("harness.md", "---\nprocess: allow\n---\n");
    assert!(project.errors()[0].contains("outside of the sandbox"));
    project.file("hookbox.toml", "process = \"allow\"\n");
    assert_eq!(project.errors(), Vec::<String>::new());
    project.file("hookbox.toml", "process = { allow = false, write = [] }\n");
    assert!(project.errors()[0].contains("outside of the sandbox"));
}

#[test]
fn a_program_is_kept_to_what_the_project_says() {
    let project = Project::new();
    executable(
        &project,
        "write.sh",
        "#!/bin/sh\necho x > inside/a && echo x > outside && exit 0\nexit 2\n",
    );
    project.file("inside/.keep", "");
    project.file(
        "settings.json",
        r#"{"hooks":{"PreToolUse":[{"path":"write.sh"}]}}"#,
    );
    project.file(
        "hookbox.toml",
        "process = { allow = true, write = [\"inside\"] }\n",
    );
    let loaded = Runtime::builder(project.path()).inspect().unwrap();
    if loaded
        .problems
        .iter()
        .any(|problem| problem.message.contains("is not confined"))
    {
        eprintln!("this kernel has no Landlock: what it would do is not tested");
        return;
    }
    let outcome = fire(
        &project,
        &framework::DIALECT,
        "PreToolUse",
        json!({"tool_name": "t"}),
    )
    .unwrap();
    assert_eq!(outcome.decision, Ruling::Block, "{outcome:?}");
    assert!(project.path().join("inside/a").exists());
    assert!(!project.path().join("outside").exists());
}

#[test]
fn c_31_custom_names_follow_the_text() {
    assert!((harness::DIALECT.find)("custom.my_event").is_some());
    assert!((harness::DIALECT.find)("custom.My-Event").is_none());
}

#[test]
fn a_program_reads_what_the_project_says_and_the_system() {
    let (project, elsewhere) = (Project::new(), Project::new());
    elsewhere.file("secret", "the key");
    project.file("note", "the note");
    let secret = elsewhere.path().join("secret").display().to_string();
    let script = format!("#!/bin/sh\ncat note && cat {secret}\nexit 0\n");
    executable(&project, "read.sh", &script);
    project.file(
        "settings.json",
        r#"{"hooks":{"SessionStart":[{"path":"read.sh"}]}}"#,
    );
    let seen = |process: &str| {
        project.file("hookbox.toml", process);
        let outcome = fire(&project, &framework::DIALECT, "SessionStart", Value::Null).unwrap();
        outcome.effects
    };
    let text = |text: &str| {
        vec![Effect::Context {
            text: text.to_owned(),
            placement: Placement::SystemMessage,
        }]
    };
    assert_eq!(seen("process = \"allow\"\n"), text("the notethe key"));
    let confined = seen("process = { allow = true, read = [] }\n");
    let loaded = Runtime::builder(project.path()).inspect().unwrap();
    let told =
        |problem: &hookbox::diagnostic::Diagnostic| problem.message.contains("is not confined");
    if loaded.problems.iter().any(told) {
        eprintln!("this kernel has no Landlock: what it would do is not tested");
        return;
    }
    assert_eq!(confined, text("the note"));
}
