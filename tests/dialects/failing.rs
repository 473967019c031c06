//! What is wrong, and what it means in each dialect.

use crate::support::programs::{PLACES, Place, Says, endless, trap};
use crate::support::{Project, command, hook_file, session};
use crate::{fire, one_polytoken};
use hookbox::decision::{Effect, Placement};
use hookbox::dialect::{framework, harn, polytoken};
use hookbox::failure::Cause;
use hookbox::runtime::DispatchError;
use hookbox::{Ruling, Runtime};
use serde_json::{Value, json};

#[test]
fn c_01_a_crash_means_what_each_dialect_says_of_the_event() {
    let tool = json!({"tool_name": "t", "input": {}, "tool_input": {}, "tool": {"name": "t"}});
    // AI Harness: closed where something waits, open elsewhere.
    let script = "def handle(event, payload):\n    fail('x')";
    let project = Project::with(&[
        ("x", &hook_file("tool.pre", "priority: 1", script)),
        ("y", &hook_file("tool.post", "priority: 1", script)),
    ]);
    assert_eq!(
        project.dispatch("tool.pre", command("ls")).decision,
        Ruling::Block
    );
    assert_eq!(
        project.dispatch("tool.post", json!({"name": "t"})).decision,
        Ruling::Allow
    );
    // Polytoken: by event.
    for (event, decision) in [
        ("pre_tool_use", Ruling::Block),
        ("pre_model_turn", Ruling::Block),
        ("stop", Ruling::Block),
        ("pre_compaction", Ruling::Block),
        ("pre_user_prompt", Ruling::Allow),
        ("notification", Ruling::Allow),
        ("post_compaction", Ruling::Allow),
        ("session_start", Ruling::Allow),
    ] {
        let outcome = fire(
            &one_polytoken(event, trap()),
            &polytoken::DIALECT,
            event,
            tool.clone(),
        )
        .unwrap();
        assert_eq!(outcome.decision, decision, "{event}");
        assert_eq!(outcome.trace[0].cause, Some(Cause::Trap), "{event}");
    }
    // Harn: the whole event fails.
    let project = Project::new();
    project.file("policy.wasm", trap());
    project.file(
        "harn.toml",
        "[[hooks]]\nevent = \"PreToolUse\"\nhandler = \"policy::x\"\n",
    );
    let error = fire(&project, &harn::DIALECT, "PreToolUse", tool.clone()).unwrap_err();
    assert!(matches!(error, DispatchError::Raised(_)), "{error}");
    // The framework: open.
    let project = Project::new();
    project.file("x.wasm", trap());
    project.file(
        "settings.json",
        r#"{"hooks":{"PreToolUse":[{"path":"x.wasm"}]}}"#,
    );
    assert_eq!(
        fire(&project, &framework::DIALECT, "PreToolUse", tool)
            .unwrap()
            .decision,
        Ruling::Allow
    );
}

#[test]
fn c_02_deadlines_and_fuel_are_always_on_and_fail_like_a_crash() {
    let project = one_polytoken("pre_tool_use", endless());
    project.file(
        "hookbox.toml",
        "[limits]\nwall_time = \"200ms\"\nfuel = \"20G\"\n",
    );
    let outcome = fire(
        &project,
        &polytoken::DIALECT,
        "pre_tool_use",
        json!({"tool_name": "t"}),
    )
    .unwrap();
    assert_eq!(
        (outcome.decision, outcome.trace[0].cause),
        (Ruling::Block, Some(Cause::Deadline))
    );
    project.file("hookbox.toml", "");
    let outcome = fire(
        &project,
        &polytoken::DIALECT,
        "pre_tool_use",
        json!({"tool_name": "t"}),
    )
    .unwrap();
    assert_eq!(
        (outcome.decision, outcome.trace[0].cause),
        (Ruling::Block, Some(Cause::OutOfFuel))
    );
}

#[test]
fn c_03_unknown_keys_are_ignored_refused_or_warned_about() {
    let harness = Project::with(&[("x", "---\nevent: tool.pre\npriority: 1\nzzz: red\n---\n")]);
    assert!(!harness.problems().iter().any(|told| told.contains("zzz")));
    let polytoken = Project::new();
    polytoken.file(
        ".polytoken/hooks.json",
        r#"[{"name":"x","event":"stop","handler":{"wasm":"x.wasm"},"colour":"red"}]"#,
    );
    assert!(polytoken.errors()[0].contains("unknown key \"colour\""));
    let harn = Project::new();
    harn.file(
        "harn.toml",
        "[[hooks]]\nevent = \"PreToolUse\"\nhandler = \"a::b\"\ncolour = \"red\"\n",
    );
    assert!(harn.errors()[0].contains("unknown key \"colour\""));
    let framework = Project::new();
    framework.file("x.wasm", trap());
    framework.file(
        "settings.json",
        r#"{"hooks":{"Stop":[{"path":"x.wasm","colour":"red"}]}}"#,
    );
    assert_eq!(framework.errors(), Vec::<String>::new());
    assert!(framework.problems()[0].contains("unknown key \"colour\" is ignored"));
    for project in [&harness, &framework] {
        let strict = Runtime::builder(project.path())
            .strict(true)
            .inspect()
            .unwrap();
        assert!(strict.problems.iter().any(|problem| problem.is_error()));
    }
}

#[test]
fn c_04_an_unknown_event_is_a_load_error_everywhere() {
    for (file, text) in [
        (
            ".harness/hooks/x.md",
            "---\nevent: tool.before\npriority: 1\n---\n",
        ),
        (
            ".polytoken/hooks.json",
            r#"[{"name":"x","event":"pre_tool","handler":{"bash":"exit 0"}}]"#,
        ),
        (
            "harn.toml",
            "[[hooks]]\nevent = \"PreTool\"\nhandler = \"a::b\"\n",
        ),
        ("settings.json", r#"{"hooks":{"PreTool":[]}}"#),
    ] {
        let project = Project::new();
        project.file(file, text);
        let errors = project.errors();
        assert!(
            errors.iter().any(|error| error.contains("event")),
            "{file}: {errors:?}"
        );
    }
}

#[test]
fn c_05_an_answer_that_is_none_is_read_by_each_dialect_in_its_own_way() {
    let odd = Says::new("just text", "", 0);
    let harness = Project::script("def handle(event, payload):\n    return 'just text'");
    let outcome = harness.dispatch("tool.pre", command("ls"));
    assert_eq!(
        (outcome.decision, outcome.warnings.len()),
        (Ruling::Allow, 1)
    );
    let project = one_polytoken("pre_tool_use", odd.wasm());
    let outcome = fire(
        &project,
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
    project.file(
        "harn.toml",
        "[[hooks]]\nevent = \"PreToolUse\"\nhandler = \"p::x\"\n",
    );
    project.file("p.star", "def x(event):\n    return 'just text'\n");
    assert!(
        fire(
            &project,
            &harn::DIALECT,
            "PreToolUse",
            json!({"tool": {"name": "t"}})
        )
        .is_err()
    );
    let project = Project::new();
    let path = odd.framework(&project, Place::Component, "x");
    project.file(
        "settings.json",
        json!({"hooks": {"PreToolUse": [{"path": path}]}}).to_string(),
    );
    let outcome = fire(
        &project,
        &framework::DIALECT,
        "PreToolUse",
        json!({"tool_name": "t"}),
    )
    .unwrap();
    assert_eq!(outcome.decision, Ruling::Allow);
    assert_eq!(
        outcome.effects,
        [Effect::Context {
            text: "just text".to_owned(),
            placement: Placement::SystemMessage
        }]
    );
}

#[test]
fn c_23_c_24_polytokens_gaps_are_open_and_say_so() {
    let refuses = Says::new("", "no", 2).wasm();
    for event in ["session_start", "notification"] {
        let outcome = fire(
            &one_polytoken(event, refuses.clone()),
            &polytoken::DIALECT,
            event,
            Value::Null,
        )
        .unwrap();
        assert_eq!(
            (outcome.decision, outcome.warnings.len()),
            (Ruling::Allow, 1),
            "{event}"
        );
        assert!(outcome.trace[0].error.is_some(), "{event}");
    }
}

/// A Polytoken project with one Bash script on one event.
fn script(event: &str, bash: &str, more: &str) -> Project {
    let project = Project::new();
    let hook = json!([{"name": "x", "event": event, "handler": {"bash": bash}}]);
    project.file(".polytoken/hooks.json", hook.to_string());
    project.file("hookbox.toml", format!("process = \"allow\"\n{more}"));
    project
}

#[test]
fn whoever_refuses_refuses_whatever_it_printed() {
    let noise = script("pre_user_prompt", r"printf '\377\376'; exit 2", "");
    let outcome = fire(
        &noise,
        &polytoken::DIALECT,
        "pre_user_prompt",
        json!({"prompt": "x"}),
    );
    assert_eq!(outcome.unwrap().decision, Ruling::Block);
    let long = one_polytoken(
        "pre_user_prompt",
        Says::new(&"x".repeat(50_000), "", 2).wasm(),
    );
    long.file("hookbox.toml", "[limits]\ndecision = \"1 KiB\"\n");
    let outcome = fire(
        &long,
        &polytoken::DIALECT,
        "pre_user_prompt",
        json!({"prompt": "x"}),
    );
    assert_eq!(outcome.unwrap().decision, Ruling::Block);
}

#[test]
fn a_prompt_that_no_guard_could_read_is_not_decided() {
    for (dialect, event) in [
        (&polytoken::DIALECT, "pre_user_prompt"),
        (&harn::DIALECT, "user_prompt_submit"),
        (&framework::DIALECT, "UserPromptSubmit"),
    ] {
        let project = Project::new();
        let error = fire(&project, dialect, event, json!({"prompt": ["secret"]}));
        assert!(
            matches!(error, Err(DispatchError::Payload(_))),
            "{event}: {error:?}"
        );
    }
}

#[test]
fn a_script_that_ran_out_of_time_does_so_again_in_a_check() {
    let project = script("stop", "sleep 9", "[limits]\nwall_time = \"150ms\"\n");
    let told = session(project.path(), &["run", "stop", "--tape", "run.tape"]);
    assert!(told.contains("still running"), "{told}");
    let checked = session(
        project.path(),
        &["replay", "run.tape", "--check", "--project", "."],
    );
    assert!(checked.ends_with("[exit code 0]\n"), "{checked}");
}

#[test]
fn what_failed_open_is_said_beside_a_native_answer() {
    let project = script("pre_user_prompt", "exit 1", "");
    let told = session(
        project.path(),
        &["run", "pre_user_prompt", "--payload", "{}", "--native"],
    );
    assert!(told.starts_with("{\"outcome\":\"accept\"}\n"), "{told}");
    assert!(told.contains("warning: hook \"x\" failed"), "{told}");
}

#[test]
fn a_reason_keeps_its_lines_wherever_the_hook_runs() {
    let reason = "line 1\n\n  line 3";
    for place in PLACES {
        let project = Project::new();
        let handler = Says::new("", reason, 2).polytoken(&project, place, "x");
        let hook = json!([{"name": "x", "event": "pre_tool_use", "handler": handler}]);
        project.file(".polytoken/hooks.json", hook.to_string());
        project.file("hookbox.toml", "process = \"allow\"\n");
        let call = json!({"tool_name": "t"});
        let outcome = fire(&project, &polytoken::DIALECT, "pre_tool_use", call).unwrap();
        assert_eq!(outcome.reason.as_deref(), Some(reason), "{place:?}");
    }
}
