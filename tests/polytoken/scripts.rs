//! Scripts that do what they should not. None of them hangs the agent, and none opens a
//! gate that has to stay closed.

use std::time::{Duration, Instant};

use hookbox::failure::Cause;
use hookbox::{Outcome, Ruling};
use serde_json::{Value, json};

use crate::support::Project;
use crate::support::programs::{Place, Says, endless};
use crate::{bash, builder, fire, load, loaded, project, tool, wasm};

/// A project with one guard, and with little time for it.
fn guarded(handler: Value, wall_time: &str) -> Project {
    let project = project(json!([{"name": "guard", "event": "pre_tool_use", "handler": handler}]));
    project.file(
        "hookbox.toml",
        format!("[limits]\nwall_time = \"{wall_time}\"\nfuel = \"20G\"\n"),
    );
    project
}

/// What a script comes to as a guard, which has to be known soon.
fn guard(script: &str, wall_time: &str, payload: Value) -> (Project, Outcome) {
    let project = guarded(json!({"bash": script}), wall_time);
    let runtime = load(&project);
    let started = Instant::now();
    let (outcome, _) = fire(&runtime, "pre_tool_use", payload);
    assert!(
        started.elapsed() < Duration::from_secs(20),
        "{script}: {:?}",
        started.elapsed()
    );
    (project, outcome)
}

fn closes(script: &str, wall_time: &str, cause: Cause) -> Outcome {
    let (_, outcome) = guard(script, wall_time, tool("t", "a"));
    assert_eq!(outcome.decision, Ruling::Block, "{script}");
    assert_eq!(
        outcome.trace[0].cause,
        Some(cause),
        "{script}: {:?}",
        outcome.trace[0].error
    );
    outcome
}

#[test]
fn pt_041_past_its_deadline_a_handler_is_an_error_for_its_event() {
    for place in [Place::Process, Place::Component] {
        let handler = match place {
            Place::Process => json!({"bash": "sleep 60"}),
            Place::Component => json!({"wasm": "endless.wasm"}),
        };
        let project = guarded(handler, "300ms");
        project.file(".polytoken/endless.wasm", endless());
        let runtime = load(&project);
        let started = Instant::now();
        let (outcome, _) = fire(&runtime, "pre_tool_use", tool("t", "a"));
        let took = started.elapsed();
        assert!(
            took >= Duration::from_millis(300) && took < Duration::from_secs(5),
            "{took:?}"
        );
        assert_eq!(outcome.decision, Ruling::Block);
        assert_eq!(outcome.trace[0].cause, Some(Cause::Deadline), "{place:?}");
    }
}

#[test]
fn pt_041_the_deadline_of_an_event_that_fails_open_lets_it_go_on() {
    let project = project(json!([bash("a", "pre_user_prompt", "sleep 60")]));
    project.file("hookbox.toml", "[limits]\nwall_time = \"300ms\"\n");
    let (outcome, _) = fire(&load(&project), "pre_user_prompt", json!({"prompt": "x"}));
    assert_eq!(
        (outcome.decision, outcome.warnings.len()),
        (Ruling::Allow, 1)
    );
    assert!(
        outcome.warnings[0].contains("deadline"),
        "{:?}",
        outcome.warnings
    );
}

#[test]
fn pt_041_a_handler_has_thirty_seconds_unless_the_project_says_otherwise() {
    let hooks = json!([bash("a", "stop", "exit 0")]);
    let (_project, runtime) = loaded(hooks.clone());
    assert_eq!(runtime.hooks()[0].limits.wall_time, Duration::from_secs(30));
    let own = project(hooks);
    own.file("hookbox.toml", "[limits]\nwall_time = \"2s\"\n");
    assert_eq!(
        load(&own).hooks()[0].limits.wall_time,
        Duration::from_secs(2)
    );
}

#[test]
fn a_missing_interpreter_closes_the_gate() {
    let project = guarded(json!({"bash": "exit 0"}), "5s");
    for path in [None, Some("/nowhere".to_owned()), Some(String::new())] {
        let machine = move |name: &str| path.clone().filter(|_| name == "PATH");
        let runtime = builder(&project).environment(machine).load().unwrap();
        let (outcome, _) = fire(&runtime, "pre_tool_use", tool("t", "a"));
        if outcome.decision == Ruling::Allow {
            // Without any PATH a system may still have a default one.
            assert_eq!(outcome.trace[0].error, None);
            continue;
        }
        assert_eq!(outcome.trace[0].cause, Some(Cause::CannotStart));
    }
    closes("nothing-of-this-name --x", "5s", Cause::HookError);
    closes("exec nothing-of-this-name", "5s", Cause::HookError);
    // A script that Bash cannot read exits with 2, as a refusal does.
    let (_, outcome) = guard("if then fi (", "5s", tool("t", "a"));
    assert_eq!(outcome.decision, Ruling::Block);
    assert!(outcome.reason.unwrap().contains("syntax error"));
}

#[test]
fn a_flood_is_cut_off() {
    let outcome = closes("yes | head -c 1073741824", "10s", Cause::BadAnswer);
    assert!(outcome.reason.unwrap().contains("bytes"));
    closes("yes", "10s", Cause::BadAnswer);
    closes(
        "head -c 1073741824 /dev/zero; exit 2",
        "10s",
        Cause::BadAnswer,
    );
    // Standard error is only cut, and the exit code still counts.
    let (_, outcome) = guard(
        "yes | head -c 50000000 >&2; echo no; exit 2",
        "10s",
        tool("t", "a"),
    );
    assert_eq!(outcome.reason.as_deref(), Some("no"));
    assert!(outcome.said.unwrap().stderr.unwrap().len() <= 64 << 10);
}

#[test]
fn a_flood_in_the_sandbox_is_cut_off() {
    let flood =
        "(loop $more (call $print (i32.const 1) (i32.const 4096) (i32.const 60000)) (br $more))";
    let project = project(json!([
        {"name": "guard", "event": "pre_tool_use", "handler": {"wasm": "flood.wasm"}, "limits": {"wall_time": "500ms"}}
    ]));
    project.file(".polytoken/flood.wasm", wasm(flood));
    let (outcome, _) = fire(&load(&project), "pre_tool_use", tool("t", "a"));
    assert_eq!(outcome.decision, Ruling::Block);
}

#[test]
fn two_objects_or_an_object_and_an_error_are_no_answer() {
    let allow = r#"echo '{"outcome":"allow"}'"#;
    closes(&format!("{allow}; {allow}"), "5s", Cause::BadAnswer);
    closes(&format!("{allow}; exit 7"), "5s", Cause::HookError);
    closes(&format!("{allow}; kill -TERM $$"), "5s", Cause::Trap);
}

#[test]
fn bytes_that_are_no_text_are_no_answer() {
    closes(r"printf '\377\376'", "5s", Cause::BadAnswer);
    closes(
        r#"printf '{"outcome":"allow\377"}'"#,
        "5s",
        Cause::BadAnswer,
    );
    closes(r#"printf '{"outcome":"allow"}\0'"#, "5s", Cause::BadAnswer);
}

#[test]
fn one_that_never_reads_its_input_is_heard_all_the_same() {
    let large = json!({"tool_name": "t", "input": {"text": "x".repeat(3 << 19)}});
    let (_, outcome) = guard("exit 0", "10s", large.clone());
    assert_eq!(outcome.decision, Ruling::Allow, "{:?}", outcome.reason);
    let (_, outcome) = guard("exec 0<&-; echo no; exit 2", "10s", large.clone());
    assert_eq!(outcome.reason.as_deref(), Some("no"));
    // One that writes before it reads must not wait for one who writes before reading.
    let (_, outcome) = guard(
        "head -c 1000000 /dev/zero | tr '\\0' x; cat > /dev/null; exit 2",
        "10s",
        large,
    );
    assert_eq!(outcome.reason.map(|reason| reason.len()), Some(1_000_000));
}

#[test]
fn one_that_reads_for_ever_or_never_ends_is_stopped() {
    for script in [
        "while :; do read -r line; done",
        "tail -f /dev/null",
        "cat /dev/zero > /dev/null",
        "trap '' TERM INT HUP; while :; do sleep 60; done",
        "sleep 60 & wait",
        "exec 1>&-; exec 2>&-; sleep 60",
        "kill -STOP $$",
        "echo '{\"outcome\":\"allow\"}'; sleep 60",
    ] {
        closes(script, "400ms", Cause::Deadline);
    }
}

/// Says whether the process lives whose number a script left in a file.
fn lives(project: &Project) -> bool {
    let number = std::fs::read_to_string(project.path().join("number")).unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", number.trim()));
    status.is_ok_and(|status| !status.contains("State:\tZ"))
}

#[test]
fn what_a_script_leaves_behind_does_not_outlive_it() {
    let stays = "echo $BASHPID > number; sleep 60";
    let once_there = "until [ -s number ]; do sleep 0.01; done; exit 0";
    // It holds on to what is read of the script, so the answer is never complete.
    let script = format!("({stays}) & {once_there}");
    let (project, outcome) = guard(&script, "1s", tool("t", "a"));
    assert_eq!(outcome.trace[0].cause, Some(Cause::Deadline));
    assert!(!lives(&project));
    for script in [
        format!("({stays}) </dev/null >/dev/null 2>&1 & {once_there}"),
        format!("setsid bash -c '{stays}' </dev/null >/dev/null 2>&1 & {once_there}"),
        format!("nohup bash -c '({stays}) &' </dev/null >/dev/null 2>&1; {once_there}"),
    ] {
        let (project, outcome) = guard(&script, "15s", tool("t", "a"));
        assert_eq!(outcome.decision, Ruling::Allow, "{:?}", outcome.reason);
        assert!(!lives(&project), "{script}");
    }
}

#[test]
fn scripts_run_in_the_folder_of_the_project() {
    let (project, outcome) = guard("pwd -P; exit 2", "5s", tool("t", "a"));
    let folder = project.path().canonicalize().unwrap();
    assert_eq!(outcome.reason.as_deref(), folder.to_str());
}

#[test]
fn many_scripts_at_once_do_not_get_in_each_others_way() {
    let project = guarded(json!({"bash": "jq -r .input.path; exit 2"}), "20s");
    let runtime = load(&project);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let runtime = &runtime;
            scope.spawn(move || {
                for index in 0..10 {
                    let path = format!("{thread}-{index}");
                    let outcome = runtime.dispatch("pre_tool_use", tool("t", &path)).unwrap();
                    assert_eq!(outcome.reason, Some(path));
                }
            });
        }
    });
}

#[test]
fn a_component_that_says_the_same_costs_no_process() {
    let project = Project::new();
    let handler = Says::new("no", "", 2).polytoken(&project, Place::Component, "no");
    crate::write(
        &project,
        json!([{"name": "a", "event": "stop", "handler": handler}]),
    );
    let runtime = hookbox::Runtime::load(project.path()).unwrap();
    assert!(runtime.warnings().is_empty());
    assert_eq!(
        fire(&runtime, "stop", json!({})).0.reason.as_deref(),
        Some("no")
    );
}
