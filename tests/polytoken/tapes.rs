//! What a run with scripts and components leaves on a tape, and that a check of the tape
//! starts nothing.

use std::path::Path;

use hookbox::Runtime;
use hookbox::tape::{Checker, Entry, Recorder, Replay, Seen, Verdict};
use serde_json::json;

use crate::support::programs::{Place, Says};
use crate::support::{Project, hookbox};
use crate::{bash, builder, project, tool, write};

/// A script that refuses, one in the background, and components in both roles; the
/// scripts leave a line behind.
fn studio() -> Project {
    let project = Project::new();
    let reminds = Says::new(
        r#"{"outcome":"allow","additional_context":"mind the tests"}"#,
        "noted",
        0,
    );
    let reminds = reminds.polytoken(&project, Place::Component, "reminds");
    let fails = Says::new("", "boom", 7).polytoken(&project, Place::Component, "fails");
    let guard = "echo ran >> effects; [ \"$(jq -r .input.path)\" = secret ] && { echo hands off; echo oh >&2; exit 2; }; exit 0";
    write(
        &project,
        json!([
            bash("guard", "pre_tool_use", guard),
            {"name": "reminds", "event": "session_start", "handler": reminds},
            bash("listens", "post_tool_use", "echo heard >> effects"),
            {"name": "fails", "event": "post_tool_use", "handler": fails},
        ]),
    );
    project
}

fn effects(project: &Project) -> String {
    std::fs::read_to_string(project.path().join("effects")).unwrap_or_default()
}

fn record(project: &Project, tape: &Path) {
    let recorder = Recorder::create(tape).unwrap();
    let runtime = builder(project).tape(&recorder).load().unwrap();
    for (event, payload) in [
        ("session_start", json!({"session_id": "s"})),
        ("pre_tool_use", tool("file_read", "secret")),
        ("post_tool_use", tool("file_read", "a")),
        ("pre_tool_use", tool("file_read", "a")),
        ("post_tool_use", tool("file_read", "b")),
    ] {
        runtime.dispatch(event, payload).unwrap();
    }
    runtime.flush();
    drop(runtime);
    recorder.close().unwrap();
}

fn check(project: &Project, tape: &Path) -> Vec<(String, Verdict, Vec<String>)> {
    let checker = Checker::load(Runtime::builder(project.path())).unwrap();
    let mut all = Vec::new();
    let mut replay = Replay::open(tape).unwrap();
    checker
        .check_all(&mut replay, |seen| match seen {
            Seen::Checked(dispatch, checked) => {
                let event = dispatch.start().event.to_string();
                all.push((event, checked.verdict, checked.new_requests.clone()));
            }
            Seen::Other(other) => panic!("{other:?}"),
        })
        .unwrap();
    all
}

#[test]
fn a_run_with_scripts_and_components_is_checked_without_starting_anything() {
    let project = studio();
    let tape = project.path().join("run.tape");
    record(&project, &tape);
    let left = effects(&project);
    assert_eq!(left.lines().count(), 4, "{left}");

    let checked = check(&project, &tape);
    // The two events after a tool have a second part, in the background.
    assert_eq!(checked.len(), 7);
    for (event, verdict, new) in &checked {
        assert_eq!(*verdict, Verdict::Kept, "{event}");
        assert!(new.is_empty(), "{event}: {new:?}");
    }
    assert_eq!(effects(&project), left, "nothing was started");

    let (folder, path) = (project.path().to_str().unwrap(), tape.to_str().unwrap());
    let told = hookbox(&["replay", path, "--check", "-p", folder]);
    let text = String::from_utf8_lossy(&told.stdout);
    assert_eq!(
        told.status.code(),
        Some(0),
        "{text}{}",
        String::from_utf8_lossy(&told.stderr)
    );
    assert_eq!(effects(&project), left, "nothing was started");
}

#[test]
fn a_changed_script_asks_for_something_the_tape_does_not_have() {
    let project = studio();
    let tape = project.path().join("run.tape");
    record(&project, &tape);
    let left = effects(&project);
    write(
        &project,
        json!([bash(
            "guard",
            "pre_tool_use",
            "echo changed >> effects; exit 0"
        )]),
    );
    let checked = check(&project, &tape);
    let new: Vec<&Vec<String>> = (checked.iter())
        .filter(|(event, _, _)| event == "pre_tool_use")
        .map(|(_, verdict, new)| {
            assert_eq!(*verdict, Verdict::NewRequest);
            new
        })
        .collect();
    assert_eq!(new.len(), 2);
    assert!(new.iter().all(|new| !new.is_empty()), "{new:?}");
    assert_eq!(effects(&project), left, "nothing was started");
    let (folder, path) = (project.path().to_str().unwrap(), tape.to_str().unwrap());
    let told = hookbox(&["replay", path, "--check", "-p", folder]);
    assert_eq!(told.status.code(), Some(1));
    assert_eq!(effects(&project), left, "nothing was started");
}

#[test]
fn pt_005_the_tape_names_hooks_and_has_the_background_in_the_order_of_its_events() {
    let project = studio();
    let tape = project.path().join("run.tape");
    record(&project, &tape);
    let mut replay = Replay::open(&tape).unwrap();
    let mut seen: Vec<(String, bool, Vec<String>)> = Vec::new();
    while let Some(dispatch) = replay.next_dispatch().unwrap() {
        let calls = (dispatch.all_records().into_iter())
            .filter_map(|record| match &record.entry {
                Entry::HostCall(call) => Some(call.capability.to_string()),
                _ => None,
            })
            .collect();
        let start = dispatch.start();
        assert_eq!(start.dialect, "polytoken");
        seen.push((start.event.to_string(), start.background, calls));
        let names = dispatch.project.hooks.iter().map(|hook| hook.name.as_str());
        assert_eq!(
            names.collect::<Vec<_>>(),
            ["guard", "reminds", "listens", "fails"]
        );
    }
    let background: Vec<&(String, bool, Vec<String>)> = seen
        .iter()
        .filter(|(_, background, _)| *background)
        .collect();
    assert_eq!(background.len(), 2);
    for (event, _, calls) in background {
        assert_eq!(event, "post_tool_use");
        assert_eq!(*calls, ["process.run"]);
    }
    let guarded = seen.iter().find(|(event, _, _)| event == "pre_tool_use");
    assert_eq!(
        guarded.unwrap().2,
        ["process.run"],
        "one call across the border"
    );
}

#[test]
fn the_deadline_of_a_script_is_on_the_tape_and_its_check_starts_nothing() {
    let project = project(json!([
        {"name": "slow", "event": "stop", "handler": {"bash": "echo ran >> effects; sleep 60"}, "limits": {"wall_time": "500ms"}}
    ]));
    let tape = project.path().join("run.tape");
    let recorder = Recorder::create(&tape).unwrap();
    let runtime = builder(&project).tape(&recorder).load().unwrap();
    runtime.dispatch("stop", json!({})).unwrap();
    recorder.close().unwrap();
    let checked = check(&project, &tape);
    assert_eq!(checked[0].1, Verdict::Kept);
    assert_eq!(effects(&project), "ran\n", "nothing was started");
}
