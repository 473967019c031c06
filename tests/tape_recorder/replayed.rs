//! What a tape tells without the hooks that were recorded.

use hookbox::Ruling;
use hookbox::tape::{Replay, Replayed};
use serde_json::{Value, json};

use super::place;
use crate::support::tape::{play_file, record, studio};
use crate::support::{command, hook_file};

/// Every event of a session, as an agent meets them.
fn session() -> Vec<(&'static str, Value)> {
    vec![
        ("session.start", json!(null)),
        ("turn.start", json!("clean up")),
        ("completion.pre", json!({"model": "m", "messages": []})),
        ("completion.post", json!({"choices": []})),
        ("tool.pre", command("ls")),
        (
            "tool.post",
            json!({"name": "run_command", "result": {"stdout": "a"}}),
        ),
        ("tool.pre", command("rm -rf /")),
        ("tool.pre", command("deploy")),
        (
            "tool.pre",
            json!({"id": "t", "name": "tidy", "args": {"tidy": false}}),
        ),
        (
            "delegation.pre",
            json!({"agent": "a", "prompt": "p", "depth": 1}),
        ),
        (
            "delegation.post",
            json!({"agent": "a", "result": "r", "depth": 1}),
        ),
        (
            "delegation.post_verify",
            json!({"agent": "a", "result": "r", "depth": 1, "attempt": 1}),
        ),
        ("turn.end", json!({"text": "done", "tool_calls": []})),
        ("agent.stop", json!({"id": "s", "finish_reason": "stop"})),
        ("error", json!("none")),
        ("custom.step", json!({"step": 1})),
        ("meta.tool", json!({"name": "t"})),
        ("session.end", json!(null)),
    ]
}

#[test]
fn hn_050_events_of_tools_steps_and_sessions_are_all_on_the_tape() {
    let project = studio();
    for (event, _) in session() {
        let name = format!("on_{}", event.replace('.', "_"));
        let script = "def handle(event, payload):\n    return allow()";
        project.hook(&name, &hook_file(event, "priority: 90", script));
    }
    let (_folder, path) = place();
    record(&project, &path, |runtime| {
        for (event, payload) in session() {
            runtime
                .dispatch(event, payload)
                .unwrap_or_else(|error| panic!("{event}: {error}"));
        }
    });
    let played = play_file(&path);
    let events: Vec<String> = played
        .dispatches
        .iter()
        .map(|one| one.start().event.to_string())
        .collect();
    let expected: Vec<&str> = session().into_iter().map(|(event, _)| event).collect();
    assert_eq!(events, expected);
    for dispatch in &played.dispatches {
        let kinds: Vec<&str> = dispatch
            .records
            .iter()
            .map(|record| record.entry.kind())
            .collect();
        assert_eq!((kinds[0], kinds[kinds.len() - 1]), ("dispatch", "outcome"));
        assert!(kinds.contains(&"hook_call"), "{kinds:?}");
    }
}

#[test]
fn hn_051_without_the_hooks_a_replay_tells_the_same_order_payloads_and_decisions() {
    let project = studio();
    let (_folder, path) = place();
    let mut outcomes = Vec::new();
    record(&project, &path, |runtime| {
        for (event, payload) in session() {
            outcomes.push(runtime.dispatch(event, payload).unwrap());
        }
    });
    std::fs::remove_dir_all(project.path().join(".harness")).unwrap();
    let mut replay = Replay::open(&path).unwrap();
    for lived in &outcomes {
        let told = replay.next_dispatch().unwrap().unwrap().outcome().unwrap();
        // Counters belong to the run and durations on a tape have microseconds.
        let as_told = |outcome: &hookbox::Outcome| {
            let mut value = serde_json::to_value(outcome).unwrap();
            value.as_object_mut().unwrap().shift_remove("metrics");
            value
        };
        assert_eq!(as_told(&told), as_told(lived));
    }
    assert!(replay.next_dispatch().unwrap().is_none());
    let decisions: Vec<Ruling> = outcomes.iter().map(|outcome| outcome.decision).collect();
    for decision in [Ruling::Allow, Ruling::Block, Ruling::Ask, Ruling::Modify] {
        assert!(decisions.contains(&decision), "{decisions:?}");
    }
}

#[test]
fn hn_052_two_replays_are_the_same_byte_by_byte() {
    let (_folder, path) = place();
    record(&studio(), &path, |runtime| {
        for (event, payload) in session() {
            runtime.dispatch(event, payload).unwrap();
        }
        runtime.dispatch("tool.per", json!({})).unwrap_err();
    });
    let before = std::fs::read(&path).unwrap();
    let told = || {
        let mut replay = Replay::open(&path).unwrap();
        let mut text = String::new();
        while let Some(one) = replay.step().unwrap() {
            text += &format!("{one:?}\n");
            if let Replayed::Dispatch(dispatch) = &one {
                text += &serde_json::to_string(&dispatch.outcome().unwrap()).unwrap();
            }
        }
        text
    };
    assert_eq!(told(), told());
    assert!(
        std::fs::read(&path).unwrap() == before,
        "a replay writes nothing"
    );
}
