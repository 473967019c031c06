//! The events of a session, in the order in which a host fires them.

use std::sync::Arc;

use hookbox::Ruling::{Allow, Ask, Block};
use hookbox::dialect::harn::{DIALECT, Handler, Hooks};
use hookbox::edits::Edits;
use hookbox::{Outcome, Runtime};
use serde_json::{Value, json};

use super::support::{Project, hook_file};
use super::{
    Diary, bodies, call, entry, folder, hooks, native, policy, raised, registered, returns, runtime,
};

/// One hook on an event of the session.
fn on(event: &str, handler: impl Into<Handler>) -> Hooks {
    hooks(|hooks| {
        hooks.register_session_hook(event, handler).unwrap();
    })
}

/// A hook on each of these events that writes down what it is told.
fn listening(events: &[&str], diary: &Diary) -> Runtime {
    registered(&hooks(|hooks| {
        for event in events {
            hooks
                .register_session_hook(event, diary.keeper(Value::Null))
                .unwrap();
        }
    }))
}

fn heard(diary: &Diary) -> Vec<Value> {
    diary.read().iter().map(|p| p["event"].clone()).collect()
}

/// The advisory events, with a payload that could be theirs.
fn advisory() -> [(&'static str, Value); 11] {
    [
        ("session_start", json!({"cwd": "/work"})),
        ("session_end", json!({"status": "done"})),
        ("post_compact", json!({"messages": 4})),
        ("post_turn", json!({"turn": 3})),
        (
            "permission_replied",
            json!({"tool": {"name": "exec"}, "decision": "allow"}),
        ),
        (
            "file_edited",
            json!({"path": "a.rs", "metadata": {"bytes": 3}}),
        ),
        ("session_error", json!({"error": "out of tokens"})),
        ("session_idle", json!({"wake_interval_ms": 500})),
        ("pre_finish", json!({"value": 1})),
        ("on_unsettled_detected", json!({"unsettled": ["job"]})),
        ("post_finish", json!({"value": 1})),
    ]
}

#[test]
fn hn_021_hn_022_hn_025_hn_026_hn_028_hn_031_advisory_events_are_told_and_not_asked() {
    for (event, payload) in advisory() {
        let diary = Diary::default();
        let mut all = on(
            event,
            diary.keeper(json!({"block": true, "reason": "stop"})),
        );
        all.register_session_hook(event, diary.keeper(json!(false)))
            .unwrap();
        let runtime = registered(&all);
        let mut given = payload.clone();
        given["session"] = json!({"id": "s1"});
        let outcome = runtime.dispatch(event, given).unwrap();
        // The veto is heard and refuses nothing: the next hook is told as well.
        assert_eq!(outcome.decision, Allow, "{event}");
        assert_eq!(native(&runtime, &outcome), Value::Null, "{event}");
        assert_eq!(outcome.warnings.len(), 2, "{event}: {:?}", outcome.warnings);
        assert!(
            outcome.warnings[0].contains("is advisory: the veto is recorded"),
            "{:?}",
            outcome.warnings
        );
        let told = diary.read();
        assert_eq!(told.len(), 2, "{event}");
        assert_eq!(told[0]["session"], json!({"id": "s1"}), "{event}");
        for (key, value) in payload.as_object().unwrap() {
            assert_eq!(told[0][key], *value, "{event}");
        }
    }
}

#[test]
fn hn_022_harn_s_hooks_hear_of_the_end_before_native_ones_if_the_project_says_so() {
    let project = policy(
        &entry("SessionEnd", "*", "policy::end"),
        "def end(event):\n    return None\n",
    );
    project.hook(
        "native",
        &hook_file(
            "session.end",
            "priority: 1",
            "def handle(event, payload):\n    return allow()",
        ),
    );
    let order = |project: &Project| -> Vec<String> {
        let outcome = runtime(project, &Hooks::new())
            .dispatch("session_end", json!({}))
            .unwrap();
        let called = outcome.stages.dispatch.iter();
        called.map(|hook| hook.to_string()).collect()
    };
    assert_eq!(order(&project), ["native", "policy::end"]);
    project.file("hookbox.toml", "dialects = [\"harn\", \"harness\"]\n");
    assert_eq!(order(&project), ["policy::end", "native"]);
}

#[test]
fn hn_023_a_blocked_prompt_is_a_result_with_a_stop_reason() {
    let runtime = registered(&on(
        "user_prompt_submit",
        returns(json!({"block": true, "reason": "not in this house"})),
    ));
    let outcome = runtime
        .dispatch("user_prompt_submit", json!({"prompt": "x"}))
        .unwrap();
    assert_eq!(outcome.decision, Block);
    assert_eq!(
        native(&runtime, &outcome),
        json!({"status": "blocked", "stop_reason": "user_prompt_submit_blocked", "reason": "not in this house"})
    );
}

#[test]
fn hn_024_a_block_skips_one_compaction_and_the_next_one_is_asked_about_again() {
    let diary = Diary::default();
    let keeper = diary.clone();
    let runtime = registered(&on("pre_compact", move |payload: &Value| {
        keeper.write(payload["pass"].clone());
        json!({"block": payload["pass"] == 1})
    }));
    let pass = |number: u32| {
        runtime
            .dispatch("pre_compact", json!({"pass": number}))
            .unwrap()
    };
    let first = pass(1);
    assert_eq!(first.decision, Block);
    assert_eq!(
        native(&runtime, &first),
        json!({"block": true, "reason": "PreCompact hook blocked the operation"})
    );
    assert_eq!(pass(2).decision, Allow);
    assert_eq!(diary.read(), [1, 2]);
}

#[test]
fn hn_027_a_decision_ends_the_chain_either_way() {
    for (word, decision, answer) in [
        (
            "allow",
            Allow,
            json!({"decision": "allow", "reason": "because"}),
        ),
        (
            "deny",
            Block,
            json!({"decision": "deny", "reason": "because"}),
        ),
        ("ask", Ask, json!({"decision": "ask", "reason": "because"})),
    ] {
        let diary = Diary::default();
        let mut all = on(
            "permission_asked",
            returns(json!({"decision": word, "reason": "because"})),
        );
        all.register_session_hook("permission_asked", diary.keeper(json!(false)))
            .unwrap();
        let runtime = registered(&all);
        let outcome = runtime
            .dispatch("permission_asked", call("exec", json!({})))
            .unwrap();
        assert_eq!(outcome.decision, decision, "{word}");
        assert_eq!(
            outcome.hook.as_deref(),
            Some("session_hook::PermissionAsked")
        );
        assert_eq!(
            outcome.said.as_ref().unwrap().verb,
            format!("decision_{word}")
        );
        assert_eq!(native(&runtime, &outcome), answer);
        assert!(diary.read().is_empty(), "{word}");
    }
}

#[test]
fn hn_027_who_asks_gets_an_answer_where_there_is_somebody() {
    let ask = || on("permission_asked", returns(json!({"decision": "ask"})));
    let project = Project::new();
    let builder = || {
        Runtime::builder(project.path())
            .harn(ask())
            .dialect(&DIALECT)
    };
    let decide = |runtime: Runtime| {
        runtime
            .dispatch("permission_asked", call("exec", json!({})))
            .unwrap()
    };
    assert_eq!(decide(builder().load().unwrap()).decision, Ask);
    let nobody = decide(builder().ask_nobody().load().unwrap());
    assert_eq!(nobody.decision, Block);
    assert_eq!(
        nobody.reason.as_deref(),
        Some("nobody could be asked: PermissionAsked hook decided: ask")
    );
    let no = decide(builder().ask(|_| false).load().unwrap());
    assert_eq!(no.decision, Block);
    assert_eq!(
        decide(builder().ask(|_| true).load().unwrap()).decision,
        Allow
    );
}

#[test]
fn hn_029_edits_wait_for_the_end_of_the_turn_and_come_in_order() {
    let diary = Diary::default();
    let runtime = listening(&["file_edited"], &diary);
    let edits = Edits::default();
    for (index, path) in ["a.rs", "b.rs", "c.md"].into_iter().enumerate() {
        edits.notify(path, json!({"tool": "write_file", "index": index}));
    }
    assert_eq!((edits.len(), diary.read().len()), (3, 0));
    let outcomes = edits.drain(&runtime).unwrap();
    assert!(outcomes.iter().all(|outcome| outcome.decision == Allow));
    let told: Vec<_> = diary
        .read()
        .iter()
        .map(|p| (p["path"].clone(), p["metadata"]["index"].clone()))
        .collect();
    assert_eq!(
        told,
        [
            (json!("a.rs"), json!(0)),
            (json!("b.rs"), json!(1)),
            (json!("c.md"), json!(2))
        ]
    );
    assert!(edits.is_empty());
    assert!(edits.drain(&runtime).unwrap().is_empty());
}

#[test]
fn hn_029_an_edit_that_a_hook_makes_waits_for_the_next_turn() {
    let edits = Arc::new(Edits::default());
    let queue = Arc::clone(&edits);
    let runtime = registered(&on("file_edited", move |payload: &Value| {
        let path = payload["path"].as_str().unwrap_or_default();
        if !path.ends_with(".lock") {
            queue.notify(format!("{path}.lock"), Value::Null);
        }
        Value::Null
    }));
    edits.notify("a", Value::Null);
    assert_eq!(edits.drain(&runtime).unwrap().len(), 1);
    assert_eq!(edits.len(), 1);
    assert_eq!(edits.drain(&runtime).unwrap().len(), 1);
    assert!(edits.is_empty());
}

#[test]
fn hn_029_an_edit_whose_hook_fails_leaves_the_later_ones_waiting() {
    let runtime = registered(&on("file_edited", |payload: &Value| {
        if payload["path"] == "bad" {
            json!(42)
        } else {
            Value::Null
        }
    }));
    let edits = Edits::default();
    for path in ["good", "bad", "later"] {
        edits.notify(path, Value::Null);
    }
    assert!(edits.drain(&runtime).is_err());
    assert_eq!(edits.len(), 1);
    assert_eq!(edits.drain(&runtime).unwrap().len(), 1);
}

/// A host that runs a pipeline to its end.
fn finish(runtime: &Runtime, diary: &Diary, unsettled: &[&str]) {
    let tell = |event: &str, payload: Value| runtime.dispatch(event, payload).unwrap();
    tell("pre_finish", json!({}));
    if !unsettled.is_empty() {
        tell("on_unsettled_detected", json!({"unsettled": unsettled}));
    }
    diary.write(json!({"event": "on_finish"}));
    tell("post_finish", json!({}));
}

#[test]
fn hn_030_an_error_is_told_before_the_end_of_the_session() {
    let diary = Diary::default();
    let runtime = listening(&["session_error", "session_end"], &diary);
    // The third name is one that Harn takes as well.
    for event in ["session_error", "SessionError", "error"] {
        runtime.dispatch(event, json!({"error": "x"})).unwrap();
    }
    runtime.dispatch("session_end", json!({})).unwrap();
    assert_eq!(
        heard(&diary),
        ["SessionError", "SessionError", "SessionError", "SessionEnd"]
    );
}

#[test]
fn hn_032_hn_033_hn_034_a_pipeline_finishes_in_order() {
    let events = ["pre_finish", "on_unsettled_detected", "post_finish"];
    let diary = Diary::default();
    finish(&listening(&events, &diary), &diary, &["job"]);
    assert_eq!(
        heard(&diary),
        [
            "PreFinish",
            "OnUnsettledDetected",
            "on_finish",
            "PostFinish"
        ]
    );
    let diary = Diary::default();
    finish(&listening(&events, &diary), &diary, &[]);
    assert_eq!(heard(&diary), ["PreFinish", "on_finish", "PostFinish"]);
}

#[test]
fn hn_035_hn_036_hn_037_what_a_prompt_hook_returns_decides() {
    for (value, decision, reason) in [
        (json!(null), Allow, None),
        (json!(true), Allow, None),
        (
            json!(false),
            Block,
            Some("UserPromptSubmit hook returned false"),
        ),
        (
            json!({"block": true}),
            Block,
            Some("UserPromptSubmit hook blocked the operation"),
        ),
        (
            json!({"block": true, "reason": "mine"}),
            Block,
            Some("mine"),
        ),
    ] {
        let runtime = registered(&on("user_prompt_submit", returns(value.clone())));
        let outcome = runtime
            .dispatch("user_prompt_submit", json!({"prompt": "x"}))
            .unwrap();
        assert_eq!(outcome.decision, decision, "{value}");
        assert_eq!(outcome.reason.as_deref(), reason, "{value}");
    }
}

#[test]
fn hn_038_a_decision_on_another_event_is_recorded_and_decides_nothing() {
    let diary = Diary::default();
    let mut all = on(
        "user_prompt_submit",
        returns(json!({"decision": "deny", "reason": "no"})),
    );
    all.register_session_hook("user_prompt_submit", diary.keeper(Value::Null))
        .unwrap();
    let outcome = registered(&all)
        .dispatch("user_prompt_submit", json!({"prompt": "x"}))
        .unwrap();
    assert_eq!(outcome.decision, Allow);
    assert_eq!(diary.read().len(), 1);
    assert!(
        outcome.warnings[0].contains("only permission_asked honours"),
        "{:?}",
        outcome.warnings
    );
}

#[test]
fn hn_039_hn_040_reminders_come_in_order_and_the_latest_of_a_key_stays() {
    let list = json!([
        {"reminder": {"body": "1", "dedupe_key": "a"}},
        {"reminder": {"body": "2"}},
        {"reminder": {"body": "3", "dedupe_key": "a"}},
    ]);
    let mut all = on("post_turn", returns(list));
    let outcome = registered(&all).dispatch("post_turn", json!({})).unwrap();
    assert_eq!(bodies(&outcome), ["2", "3"]);
    // And so they do over all hooks of a chain.
    for (body, key) in [("4", json!("b")), ("5", json!("a")), ("6", json!(null))] {
        all.register_session_hook(
            "post_turn",
            returns(json!({"body": body, "dedupe_key": key})),
        )
        .unwrap();
    }
    let outcome = registered(&all).dispatch("post_turn", json!({})).unwrap();
    assert_eq!(bodies(&outcome), ["2", "4", "5", "6"]);
    assert_eq!(outcome.decision, Allow);
}

#[test]
fn hn_040_the_latest_of_a_key_stays_whatever_the_hooks_are() {
    let project = policy(
        &(entry("PostTurn", "*", "policy::first") + &entry("PostTurn", "*", "policy::second")),
        r#"
def first(event):
    return {"body": "from Starlark", "dedupe_key": "a"}

def second(event):
    return [{"reminder": {"body": "b", "dedupe_key": "b"}}, {"reminder": {"body": "last", "dedupe_key": "a"}}]
"#,
    );
    let own = on(
        "post_turn",
        returns(json!({"body": "from the host", "dedupe_key": "a"})),
    );
    let runtime = runtime(&project, &own);
    let outcome = runtime.dispatch("post_turn", json!({})).unwrap();
    assert_eq!(bodies(&outcome), ["b", "last"]);
}

#[test]
fn hn_041_misuse_is_an_error_of_the_event_and_no_later_hook_runs() {
    for value in [json!(42), json!("x"), json!({}), json!([3])] {
        let diary = Diary::default();
        let mut all = on("session_start", returns(value.clone()));
        all.register_session_hook("session_start", diary.keeper(Value::Null))
            .unwrap();
        let outcome = raised(registered(&all).dispatch("session_start", json!({})));
        assert_eq!(outcome.decision, Block, "{value}");
        assert!(diary.read().is_empty(), "{value}");
    }
}

fn example(name: &str) -> Runtime {
    Runtime::load(folder("examples").join(name)).unwrap()
}

fn dispatch(runtime: &Runtime, event: &str, payload: Value) -> Outcome {
    runtime.dispatch(event, payload).unwrap()
}

#[test]
fn hn_053_a_prompt_with_a_secret_is_vetoed() {
    let runtime = example("veto_secrets");
    let outcome = dispatch(
        &runtime,
        "user_prompt_submit",
        json!({"prompt": "my secret is 42"}),
    );
    assert_eq!(outcome.decision, Block);
    assert_eq!(
        outcome.reason.as_deref(),
        Some("policy violation: secret in prompt")
    );
    assert_eq!(
        native(&runtime, &outcome)["stop_reason"],
        "user_prompt_submit_blocked"
    );
    for payload in [json!({"prompt": "hello"}), json!({})] {
        let outcome = dispatch(&runtime, "UserPromptSubmit", payload);
        assert_eq!(outcome.decision, Allow);
    }
}

#[test]
fn hn_054_exec_root_never_runs_unattended() {
    let runtime = example("permission");
    let asked = |tool: Value| dispatch(&runtime, "permission_asked", json!({"tool": tool}));
    let outcome = asked(json!({"name": "exec_root"}));
    assert_eq!(outcome.decision, Block);
    assert_eq!(
        native(&runtime, &outcome),
        json!({"decision": "deny", "reason": "exec_root never runs unattended"})
    );
    let outcome = asked(json!({"name": "exec_user"}));
    assert_eq!((outcome.decision, outcome.hook.clone()), (Allow, None));
    assert_eq!(native(&runtime, &outcome), Value::Null);
}

#[test]
fn hn_055_a_linter_hears_of_each_edit_of_a_rust_file() {
    let runtime = example("linter");
    let edits = Edits::default();
    for path in ["src/lib.rs", "README.md", "src/main.rs"] {
        edits.notify(path, Value::Null);
    }
    let outcomes = edits.drain(&runtime).unwrap();
    let said: Vec<_> = outcomes
        .iter()
        .flat_map(|outcome| &outcome.logs)
        .map(|line| line.message.as_str())
        .collect();
    assert_eq!(
        said,
        [
            "re-running clippy after edit to src/lib.rs",
            "re-running clippy after edit to src/main.rs"
        ]
    );
}
