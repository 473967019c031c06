//! The Harness Framework: `settings.json` and executables. Every case runs as a program of
//! this machine and as a component, and the answers are the same.

mod support;

use hookbox::decision::{Effect, Placement};
use hookbox::dialect::framework::DIALECT;
use hookbox::failure::Cause;
use hookbox::runtime::RuntimeBuilder;
use hookbox::{Outcome, Ruling, Runtime};
use insta::assert_snapshot;
use serde::Deserialize;
use serde_json::{Value, json};
use support::programs::{PLACES, Place, Says, echo, endless, executable, trap};
use support::{Project, session};

#[derive(Deserialize)]
struct Case {
    name: String,
    event: String,
    says: Written,
    native: String,
    decision: String,
    warning: Option<String>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Written {
    stdout: String,
    stderr: String,
    exit: u8,
}

fn builder(project: &Project) -> RuntimeBuilder {
    Runtime::builder(project.path())
        .allow_process(true)
        .dialect(&DIALECT)
}

fn load(project: &Project) -> Runtime {
    builder(project)
        .load()
        .unwrap_or_else(|error| panic!("{error}"))
}

/// A project with one hook on one event.
fn project(event: &str, path: &str, more: &Value) -> Project {
    let project = Project::new();
    settings(&project, json!({event: [entry(path, more)]}));
    project
}

fn entry(path: &str, more: &Value) -> Value {
    let mut entry = json!({"path": path});
    for (key, value) in more.as_object().into_iter().flatten() {
        entry[key] = value.clone();
    }
    entry
}

fn settings(project: &Project, hooks: Value) {
    project.file(
        "settings.json",
        json!({"theme": "dark", "hooks": hooks}).to_string(),
    );
}

fn payload(event: &str) -> Value {
    let mut payload =
        json!({"session_id": "abc123", "transcript_path": "/t.jsonl", "hook_event_name": event});
    match event {
        "PreToolUse" => {
            payload["tool_name"] = "Bash".into();
            payload["tool_input"] = json!({"command": "ls"});
        }
        "UserPromptSubmit" => payload["prompt"] = "hello".into(),
        _ => {}
    }
    payload
}

fn says(says: &Says, place: Place, event: &str, more: &Value) -> (Runtime, Outcome) {
    let project = Project::new();
    let path = says.framework(&project, place, "probe");
    settings(&project, json!({event: [entry(&path, more)]}));
    let runtime = load(&project);
    let outcome = runtime.dispatch(event, payload(event)).unwrap();
    (runtime, outcome)
}

#[test]
fn hf_008_hf_012_hf_013_hf_017_hf_018_hf_019_c_21_c_22_every_case_answers_the_same_as_a_process_and_as_a_component()
 {
    let text = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/tests/framework/cases.json"
    ));
    let cases: Vec<Case> = serde_json::from_str(&text.unwrap()).unwrap();
    for case in cases {
        let hook = Says::new(&case.says.stdout, &case.says.stderr, case.says.exit);
        for place in PLACES {
            let (runtime, outcome) = says(&hook, place, &case.event, &json!({}));
            let who = format!("{} as {place:?}", case.name);
            assert_eq!(runtime.native(&outcome).unwrap(), case.native, "{who}");
            assert_eq!(outcome.decision.name(), case.decision, "{who}");
            match &case.warning {
                None => assert!(outcome.warnings.is_empty(), "{who}: {:?}", outcome.warnings),
                Some(part) => assert!(
                    outcome.warnings.len() == 1 && outcome.warnings[0].contains(part.as_str()),
                    "{who}: {:?}",
                    outcome.warnings
                ),
            }
        }
    }
}

#[test]
fn hf_014_hf_015_hf_016_hf_029_of_all_exit_codes_only_2_stops_anything() {
    let project = Project::new();
    executable(
        &project,
        "hooks/exit.sh",
        "#!/bin/sh\nread -r line\ncode=${line##*code??}\nexit \"${code%%[!0-9]*}\"\n",
    );
    settings(&project, json!({"PreToolUse": [{"path": "hooks/exit.sh"}]}));
    let runtime = load(&project);
    for code in 0..=255u8 {
        let mut event = payload("PreToolUse");
        event["tool_input"] = json!({"code": code});
        let outcome = runtime.dispatch("PreToolUse", event).unwrap();
        let expected = if code == 2 {
            Ruling::Block
        } else {
            Ruling::Allow
        };
        assert_eq!(outcome.decision, expected, "process, {code}");
        let warned = !matches!(code, 0 | 2);
        assert_eq!(
            outcome.warnings.len(),
            usize::from(warned),
            "process, {code}"
        );
    }
    // Compiling takes longer than running, so the components are a sample.
    for code in (0..=8).chain([126, 127, 128, 130, 137, 254, 255]) {
        let (_, outcome) = says(
            &Says::new("", "", code),
            Place::Component,
            "PreToolUse",
            &json!({}),
        );
        let expected = if code == 2 {
            Ruling::Block
        } else {
            Ruling::Allow
        };
        assert_eq!(outcome.decision, expected, "component, {code}");
    }
}

#[test]
fn hf_001_to_hf_007_there_are_exactly_six_events() {
    let names: Vec<&str> = (DIALECT.events)().iter().map(|info| info.name).collect();
    assert_eq!(
        names,
        [
            "SessionStart",
            "UserPromptSubmit",
            "PreToolUse",
            "SubagentStop",
            "Stop",
            "SessionEnd"
        ]
    );
}

/// Fires an event, and sees that its hook was called.
fn fires(event: &str) {
    for place in PLACES {
        let (_, outcome) = says(&Says::new("seen", "", 0), place, event, &json!({}));
        assert_eq!(outcome.effects, [context("seen")], "{event} as {place:?}");
    }
}

#[test]
fn hf_001_session_start_fires() {
    fires("SessionStart");
}

#[test]
fn hf_002_user_prompt_submit_fires() {
    fires("UserPromptSubmit");
}

#[test]
fn hf_003_pre_tool_use_fires() {
    fires("PreToolUse");
}

#[test]
fn hf_004_subagent_stop_fires() {
    fires("SubagentStop");
}

#[test]
fn hf_005_stop_fires() {
    fires("Stop");
}

#[test]
fn hf_006_session_end_fires() {
    fires("SessionEnd");
}

fn context(text: &str) -> Effect {
    Effect::Context {
        text: text.to_owned(),
        placement: Placement::SystemMessage,
    }
}

#[test]
fn hf_007_another_event_is_a_load_error() {
    let project = project("PostToolUse", "hooks/x.wasm", &json!({}));
    assert_eq!(
        project.errors(),
        [r#"settings.json:1:26: there is no event "PostToolUse""#]
    );
}

/// What hooks read, as process and as component.
fn read(event: &str, payload: Value) -> Vec<Value> {
    let read = |place: Place| {
        let project = Project::new();
        let path = match place {
            Place::Process => "hooks/echo.sh",
            Place::Component => "hooks/echo.wasm",
        };
        executable(&project, "hooks/echo.sh", "#!/bin/sh\n# Hook: x\ncat\n");
        project.file("hooks/echo.wasm", echo());
        settings(&project, json!({event: [{"path": path}]}));
        let outcome = load(&project).dispatch(event, payload.clone()).unwrap();
        let [Effect::Context { text, .. }] = outcome.effects.as_slice() else {
            panic!("{event} as {place:?}: {outcome:?}");
        };
        serde_json::from_str(text).unwrap()
    };
    PLACES.map(read).to_vec()
}

#[test]
fn hf_009_hf_010_hf_011_every_event_has_the_base_payload_and_its_own_fields() {
    for info in (DIALECT.events)() {
        let given = payload(info.name);
        for seen in read(info.name, given.clone()) {
            assert_eq!(seen, given, "{}", info.name);
            assert_eq!(
                seen.get("prompt").is_some(),
                info.name == "UserPromptSubmit"
            );
            assert_eq!(seen.get("tool_input").is_some(), info.name == "PreToolUse");
        }
        // The three keys are there even where nobody knows better.
        let bare = match info.name {
            "PreToolUse" => json!({"tool_name": "Bash"}),
            _ => Value::Null,
        };
        for seen in read(info.name, bare) {
            for key in ["session_id", "transcript_path", "hook_event_name"] {
                assert!(seen[key].is_string(), "{key} of {seen}");
            }
        }
    }
}

#[test]
fn fields_that_only_the_framework_knows_reach_its_hooks() {
    let mut event = payload("PreToolUse");
    event["cwd"] = "/work".into();
    event["tool_input"] = json!({"command": "ls", "nested": {"a": [1, 2.5, null]}});
    for seen in read("PreToolUse", event.clone()) {
        assert_eq!(seen, event);
    }
}

#[test]
fn hf_020_a_missing_header_is_a_warning_and_never_fatal() {
    let project = project(
        "PreToolUse",
        "hooks/x.sh",
        &json!({"matcher": {"tool_name": "Bash"}}),
    );
    executable(&project, "hooks/x.sh", "#!/bin/sh\n# Hook: X\nexit 0\n");
    let loaded = builder(&project).inspect().unwrap();
    let warnings: Vec<&str> = loaded
        .problems
        .iter()
        .map(|problem| problem.message.as_str())
        .collect();
    assert!(loaded.problems.iter().all(|problem| !problem.is_error()));
    assert!(
        warnings.contains(&"hook \"x\" does not say at its top what it is for"),
        "{warnings:?}"
    );
    executable(
        &project,
        "hooks/x.sh",
        "#!/bin/sh\n# Hook: X\n# Event: PreToolUse\n# Description: y\n# Matcher: tool_name = \"Bash\"\n",
    );
    let loaded = builder(&project).inspect().unwrap();
    assert_eq!(
        loaded.problems.len(),
        1,
        "only that it is a process: {:?}",
        loaded.problems
    );
}

#[test]
fn hf_021_hf_026_hooks_of_an_event_run_in_the_order_of_their_list() {
    for place in PLACES {
        let project = Project::new();
        let hook = |name: &str| {
            let path = Says::new(name, "", 0).framework(&project, place, name);
            json!({"path": path})
        };
        let hooks = json!({"SessionStart": [hook("b"), hook("a"), hook("c")], "Stop": []});
        settings(&project, hooks);
        let runtime = load(&project);
        let outcome = runtime.dispatch("SessionStart", Value::Null).unwrap();
        assert_eq!(outcome.effects, [context("b"), context("a"), context("c")]);
        assert_eq!(runtime.native(&outcome).unwrap(), "b\na\nc");
    }
}

#[test]
fn hf_022_the_path_is_required_and_starts_at_the_root() {
    let without = Project::new();
    settings(&without, json!({"Stop": [{"timeout": 1}]}));
    assert_eq!(
        without.errors(),
        [r#"settings.json:1:34: Stop[0]: "path" is missing"#]
    );
    let elsewhere = project("Stop", "../outside.wasm", &json!({}));
    assert!(
        elsewhere.errors()[0].contains("cannot be read"),
        "{:?}",
        elsewhere.errors()
    );
}

#[test]
fn hf_023_the_timeout_is_five_seconds_unless_it_is_set() {
    let project = Project::new();
    let path = Says::default().framework(&project, Place::Component, "x");
    settings(
        &project,
        json!({"Stop": [{"path": path}, {"path": path, "timeout": 3000}, {"path": path, "timeout": 600_000}]}),
    );
    let runtime = load(&project);
    let times: Vec<u128> = runtime
        .hooks()
        .iter()
        .map(|hook| hook.limits.wall_time.as_millis())
        .collect();
    assert_eq!(times, [5000, 3000, 60_000]);
    for wrong in [json!(0), json!(-1), json!("5s"), json!(null)] {
        settings(
            &project,
            json!({"Stop": [{"path": path, "timeout": wrong}]}),
        );
        assert!(
            project.errors()[0].contains("must be a number of milliseconds"),
            "{wrong}"
        );
    }
}

#[test]
fn hf_024_hf_025_a_matcher_narrows_and_none_takes_every_event() {
    let project = Project::new();
    let path = Says::new("", "no", 2).framework(&project, Place::Component, "x");
    settings(
        &project,
        json!({"PreToolUse": [{"path": path, "matcher": {"tool_name": "Bash"}}]}),
    );
    let runtime = load(&project);
    let call = |tool: &str| {
        let event = json!({"tool_name": tool, "tool_input": {}});
        runtime.dispatch("PreToolUse", event).unwrap().decision
    };
    assert_eq!(call("Bash"), Ruling::Block);
    assert_eq!(call("Write"), Ruling::Allow);
    settings(&project, json!({"PreToolUse": [{"path": path}]}));
    let all = load(&project);
    let event = json!({"tool_name": "Write", "tool_input": {}});
    assert_eq!(
        all.dispatch("PreToolUse", event).unwrap().decision,
        Ruling::Block
    );
    settings(
        &project,
        json!({"PreToolUse": [{"path": path, "matcher": "Bash"}]}),
    );
    assert!(project.errors()[0].contains("\"matcher\" must be an object"));
}

#[test]
fn hf_027_hf_030_a_hook_over_its_time_is_killed_and_the_event_goes_on() {
    let project = Project::new();
    executable(
        &project,
        "hooks/sleep.sh",
        "#!/bin/sh\nsleep 60 &\nsleep 60\n",
    );
    project.file("hooks/loop.wasm", endless());
    for path in ["hooks/sleep.sh", "hooks/loop.wasm"] {
        settings(
            &project,
            json!({"PreToolUse": [{"path": path, "timeout": 200}]}),
        );
        project.file("hookbox.toml", "[limits]\nfuel = \"20G\"\n");
        let outcome = load(&project)
            .dispatch("PreToolUse", payload("PreToolUse"))
            .unwrap();
        assert_eq!(outcome.decision, Ruling::Allow, "{path}");
        assert_eq!(outcome.trace[0].cause, Some(Cause::Deadline), "{path}");
        assert_eq!(outcome.warnings.len(), 1, "{path}");
    }
}

#[test]
fn hf_028_whatever_breaks_the_session_goes_on() {
    let project = Project::new();
    project.file("hooks/trap.wasm", trap());
    project.file("hooks/loop.wasm", endless());
    executable(&project, "hooks/killed.sh", "#!/bin/sh\nkill -9 $$\n");
    executable(
        &project,
        "hooks/loud.sh",
        "#!/bin/sh\nyes | head -c 1000000000\n",
    );
    executable(&project, "hooks/gone.sh", "#!/bin/sh\nexit 0\n");
    for (path, cause) in [
        ("hooks/trap.wasm", Cause::Trap),
        ("hooks/loop.wasm", Cause::OutOfFuel),
        ("hooks/killed.sh", Cause::Trap),
        ("hooks/loud.sh", Cause::BadAnswer),
        ("hooks/gone.sh", Cause::CannotStart),
    ] {
        settings(&project, json!({"PreToolUse": [{"path": path}]}));
        let runtime = load(&project);
        if path == "hooks/gone.sh" {
            std::fs::remove_file(project.path().join(path)).unwrap();
        }
        let outcome = runtime
            .dispatch("PreToolUse", payload("PreToolUse"))
            .unwrap();
        assert_eq!(outcome.decision, Ruling::Allow, "{path}");
        assert_eq!(outcome.trace[0].cause, Some(cause), "{path}");
        assert_eq!(outcome.warnings.len(), 1, "{path}");
    }
}

#[test]
fn on_error_block_closes_what_this_framework_leaves_open() {
    let hook = Says::new("", "broken", 1);
    for place in PLACES {
        let (_, outcome) = says(&hook, place, "PreToolUse", &json!({"on_error": "block"}));
        assert_eq!(outcome.decision, Ruling::Block);
    }
    let project = Project::new();
    let path = hook.framework(&project, Place::Component, "x");
    settings(&project, json!({"PreToolUse": [{"path": path}]}));
    project.file("hookbox.toml", "on_error = \"block\"\n");
    let outcome = load(&project)
        .dispatch("PreToolUse", payload("PreToolUse"))
        .unwrap();
    assert_eq!(outcome.decision, Ruling::Block);
}

#[test]
fn hf_031_several_small_hooks_compose() {
    let project = Project::new();
    let hook =
        |name: &str, says: Says| json!({"path": says.framework(&project, Place::Component, name)});
    let hooks = json!({"PreToolUse": [
        hook("context", Says::new("on main", "", 0)),
        hook("guard", Says::new("", "no", 2)),
        hook("never", Says::new("unheard", "", 0)),
    ]});
    settings(&project, hooks);
    let outcome = load(&project)
        .dispatch("PreToolUse", payload("PreToolUse"))
        .unwrap();
    assert_eq!(outcome.decision, Ruling::Block);
    assert_eq!(outcome.hook.as_deref(), Some("guard"));
    assert_eq!(outcome.effects, [context("on main")]);
    assert_eq!(outcome.trace[2].decision, None);
}

#[test]
fn hf_032_the_same_payload_twice_gives_the_same_result() {
    for place in PLACES {
        let project = Project::new();
        let path = Says::new("context", "", 0).framework(&project, place, "x");
        settings(&project, json!({"PreToolUse": [{"path": path}]}));
        let runtime = load(&project);
        let fire = || {
            runtime
                .dispatch("PreToolUse", payload("PreToolUse"))
                .unwrap()
        };
        let (first, second) = (fire(), fire());
        assert_eq!(
            runtime.native(&first).unwrap(),
            runtime.native(&second).unwrap()
        );
        assert_eq!(first.trace[0].fuel, second.trace[0].fuel);
    }
}

#[test]
fn hf_033_context_is_on_the_tape() {
    let project = Project::new();
    let path = Says::new("visible", "", 0).framework(&project, Place::Component, "x");
    settings(&project, json!({"SessionStart": [{"path": path}]}));
    let told = session(
        project.path(),
        &["run", "SessionStart", "--tape", "run.tape"],
    );
    assert!(told.contains("context: visible"), "{told}");
    let shown = session(project.path(), &["replay", "run.tape", "--json"]);
    assert!(shown.contains("visible"), "{shown}");
    let checked = session(
        project.path(),
        &["replay", "run.tape", "--check", "--project", "."],
    );
    assert!(checked.ends_with("[exit code 0]\n"), "{checked}");
}

#[test]
fn hf_034_the_worked_example_blocks_the_deletion_of_everything() {
    let project = Project::new();
    executable(
        &project,
        "hooks/SecurityValidator.sh",
        r#"#!/usr/bin/env bash
# Hook: SecurityValidator
# Event: PreToolUse
# Description: Validates tool operations against security policies
# Matcher: tool_name = "Bash"
payload=$(cat)
if [ "$(jq -r .tool_name <<< "$payload")" = Bash ] && [[ "$(jq -r .tool_input.command <<< "$payload")" == *"rm -rf /"* ]]; then
  echo '{"decision": "block", "message": "Blocked: recursive deletion of root filesystem"}'
  exit 2
fi
exit 0
"#,
    );
    settings(
        &project,
        json!({"PreToolUse": [{"path": "hooks/SecurityValidator.sh", "timeout": 3000, "matcher": {"tool_name": "Bash"}}]}),
    );
    let runtime = load(&project);
    let mut event = payload("PreToolUse");
    event["tool_input"]["command"] = "rm -rf / --no-preserve-root".into();
    let outcome = runtime.dispatch("PreToolUse", event).unwrap();
    assert_eq!(
        runtime.native(&outcome).unwrap(),
        r#"{"decision":"block","message":"Blocked: recursive deletion of root filesystem"}"#
    );
    let outcome = runtime
        .dispatch("PreToolUse", payload("PreToolUse"))
        .unwrap();
    assert_eq!(outcome.decision, Ruling::Allow);
}

#[test]
fn a_program_is_refused_unless_somebody_allows_it() {
    let project = project("PreToolUse", "hooks/x.sh", &json!({}));
    executable(
        &project,
        "hooks/x.sh",
        "#!/bin/sh\n# Hook: x\n# Event: x\n# Description: x\n",
    );
    assert_snapshot!(session(
        project.path(),
        &["run", "PreToolUse", "--payload", r#"{"tool_name":"Bash"}"#]
    ));
    let allowed = session(
        project.path(),
        &[
            "run",
            "PreToolUse",
            "--payload",
            r#"{"tool_name":"Bash"}"#,
            "--allow-process",
            "--native",
        ],
    );
    assert_eq!(allowed, "{\"continue\":true}\n[exit code 0]\n");
    project.file("hookbox.toml", "process = \"allow\"\n");
    assert_snapshot!(session(project.path(), &["explain"]));
    assert_snapshot!(session(project.path(), &["validate", "-v"]));
}

#[test]
fn a_file_that_cannot_be_run_is_a_load_error() {
    let project = project("PreToolUse", "hooks/x.sh", &json!({}));
    let problem = |text: Option<&str>, mode: u32| {
        use std::os::unix::fs::PermissionsExt as _;
        let path = project.path().join("hooks/x.sh");
        let _ = std::fs::remove_file(&path);
        if let Some(text) = text {
            project.file("hooks/x.sh", text);
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let loaded = builder(&project).inspect().unwrap();
        let errors = loaded.problems.iter().filter(|problem| problem.is_error());
        let errors: Vec<String> = errors.map(|problem| problem.message.clone()).collect();
        errors
            .join("\n")
            .replace(&project.path().display().to_string(), "PROJECT")
    };
    assert_snapshot!(problem(None, 0));
    assert_snapshot!(problem(Some("#!/bin/sh\n"), 0o644));
    assert_snapshot!(problem(Some("echo hello\n"), 0o755));
    assert_snapshot!(problem(Some("#!/bin/sh\r\nexit 0\r\n"), 0o755));
    assert_snapshot!(problem(Some("#!/no/such/interpreter\n"), 0o755));
}

#[test]
fn malformed_settings_have_a_place() {
    let project = Project::new();
    let mut told = String::new();
    for text in [
        "{\"hooks\": {\"Stop\": [}}",
        "{\n  // comment\n  \"hooks\": {}\n}",
        "[1]",
        "{\"hooks\": []}",
        "{\"hooks\": {\"Stop\": {}}}",
        "{\"hooks\": {\"Stop\": [1]}}",
        "{\"hooks\": {\"Stop\": [{\"path\": 5}]}}",
        "{\"hooks\": {\"PreTooluse\": []}}",
        "{\"hooks\": {\"Stop\": [], \"Stop\": []}}",
        "{\"theme\": 1}",
        "",
    ] {
        project.file("settings.json", text);
        told += &format!("{text:?}\n  {}\n", project.errors().join("\n  "));
    }
    assert_snapshot!(told);
}
