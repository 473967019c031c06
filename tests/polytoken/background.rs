//! Events that do not wait: what their hooks do happens after the answer, in order, and
//! before anybody has to rely on it.

use std::time::{Duration, Instant};

use hookbox::Ruling;
use serde_json::{Value, json};

use crate::support::Project;
use crate::support::programs::endless;
use crate::{bash, builder, fire, load, loaded, native, project, tool};

/// Ends once there is a file `go`.
const SLOW: &str =
    "until [ -e go ]; do sleep 0.02; done; echo \"$POLYTOKEN_HOOK_MATCHER_SUBJECT\" >> done";

/// How long somebody waits in these tests before they let a slow hook go.
const WHILE: Duration = Duration::from_millis(300);

/// Lets the slow hooks end in a while, and returns what `work` returns.
fn soon<T>(project: &Project, work: impl FnOnce() -> T) -> T {
    std::thread::scope(|scope| {
        scope.spawn(|| {
            std::thread::sleep(WHILE);
            project.file("go", "");
        });
        work()
    })
}

fn done(project: &Project) -> Vec<String> {
    let text = std::fs::read_to_string(project.path().join("done")).unwrap_or_default();
    text.lines().map(str::to_owned).collect()
}

#[test]
fn pt_016_a_slow_hook_in_the_background_delays_nothing() {
    let project = project(json!([
        bash("slow", "post_tool_use", SLOW),
        bash("slow too", "pre_tool_use", SLOW),
    ]));
    let runtime = load(&project);
    // Nobody lets the hook go before this is over.
    let outcome = runtime
        .dispatch("post_tool_use", tool("later", "a"))
        .unwrap();
    assert_eq!(outcome.decision, Ruling::Allow);
    assert_eq!(
        native(&runtime, &outcome),
        json!({"outcome": "acknowledged"})
    );
    assert!(done(&project).is_empty());
    assert_eq!(soon(&project, || runtime.flush()).len(), 1);
    assert_eq!(done(&project), ["later"]);

    std::fs::remove_file(project.path().join("go")).unwrap();
    let started = Instant::now();
    let waits = || runtime.dispatch("pre_tool_use", tool("now", "a")).unwrap();
    soon(&project, waits);
    assert!(started.elapsed() >= WHILE, "this one waits");
    assert_eq!(done(&project), ["later", "now"]);
}

#[test]
fn pt_016_what_a_hook_in_the_background_returns_is_discarded() {
    // Even if it would be a refusal elsewhere.
    for script in [
        "exit 2",
        "exit 1",
        "echo '{\"outcome\":\"deny\",\"reason\":\"no\"}'",
        "kill -9 $$",
    ] {
        let (_project, runtime) = loaded(json!([bash("a", "subagent_stop", script)]));
        let (outcome, later) = fire(&runtime, "subagent_stop", json!({"subagent_type": "x"}));
        assert_eq!(
            native(&runtime, &outcome),
            json!({"outcome": "acknowledged"})
        );
        assert!(outcome.warnings.is_empty() && outcome.effects.is_empty());
        assert_eq!(later[0].decision, Ruling::Allow);
        let error = later[0].trace[0].error.as_deref().unwrap_or_default();
        assert!(
            !error.is_empty() && !error.contains("cannot start"),
            "{script}: {error}"
        );
    }
}

#[test]
fn hooks_in_the_background_keep_the_order_of_their_events() {
    let quick = "echo \"$POLYTOKEN_HANDLER_NAME $POLYTOKEN_HOOK_MATCHER_SUBJECT\" >> done";
    let slow_first = format!("[ \"$POLYTOKEN_HOOK_MATCHER_SUBJECT\" = t0 ] && sleep 0.3; {quick}");
    let project = project(json!([
        bash("a", "post_tool_use", &slow_first),
        bash("f", "post_tool_use_failure", quick),
        bash("b", "post_tool_use", quick),
    ]));
    let runtime = load(&project);
    let mut expected = Vec::new();
    for index in 0..6 {
        let subject = format!("t{index}");
        if index % 3 == 2 {
            runtime
                .dispatch("post_tool_use_failure", tool(&subject, "a"))
                .unwrap();
            expected.push(format!("f {subject}"));
        } else {
            runtime
                .dispatch("post_tool_use", tool(&subject, "a"))
                .unwrap();
            expected.extend([format!("a {subject}"), format!("b {subject}")]);
        }
    }
    let later = runtime.flush();
    assert_eq!(done(&project), expected);
    let subjects = later
        .iter()
        .map(|outcome| outcome.payload.value()["name"].clone());
    let expected: Vec<Value> = (0..6).map(|index| format!("t{index}").into()).collect();
    assert_eq!(subjects.collect::<Vec<_>>(), expected);
    assert!(runtime.flush().is_empty(), "handed over once");
}

#[test]
fn the_last_runtime_that_goes_waits_for_the_background() {
    let project = project(json!([bash("slow", "post_tool_use", SLOW)]));
    let runtime = load(&project);
    let clone = runtime.clone();
    runtime.dispatch("post_tool_use", tool("t", "a")).unwrap();
    drop(runtime);
    assert!(done(&project).is_empty(), "another one is still there");
    soon(&project, || drop(clone));
    assert_eq!(done(&project), ["t"]);
}

#[test]
fn a_reload_keeps_what_was_started_and_its_hooks() {
    let project = project(json!([bash(
        "old",
        "post_tool_use",
        "sleep 0.5; echo old >> done"
    )]));
    let mut runtime = load(&project);
    runtime.dispatch("post_tool_use", tool("t", "a")).unwrap();
    runtime.dispatch("post_tool_use", tool("t", "a")).unwrap();
    crate::write(
        &project,
        json!([bash("new", "post_tool_use", "echo new >> done")]),
    );
    runtime.reload().unwrap();
    runtime.dispatch("post_tool_use", tool("t", "a")).unwrap();
    assert_eq!(runtime.flush().len(), 3);
    assert_eq!(done(&project), ["old", "old", "new"]);
}

#[test]
fn no_more_than_a_hundred_events_wait_in_the_background() {
    let gate = "until [ -e go ]; do sleep 0.02; done; echo x >> done";
    let project = project(json!([bash("slow", "post_tool_use", gate)]));
    let runtime = load(&project);
    let send = || runtime.dispatch("post_tool_use", tool("t", "a")).unwrap();
    // One runs and a hundred wait; until it has begun, it waits too.
    let dropped: Vec<bool> = (0..110).map(|_| !send().warnings.is_empty()).collect();
    let first = dropped.iter().position(|dropped| *dropped).unwrap();
    assert!((100..=101).contains(&first), "{first}");
    let outcome = send();
    assert_eq!(
        outcome.decision,
        Ruling::Allow,
        "a side effect is no reason to refuse"
    );
    assert!(
        outcome.warnings[0].contains("do not run"),
        "{:?}",
        outcome.warnings
    );
    project.file("go", "");
    let later = runtime.flush().len();
    assert_eq!(done(&project).len(), later);
    assert_eq!(
        later,
        111 - 1 - dropped.iter().filter(|dropped| **dropped).count()
    );
}

#[test]
fn a_component_in_the_background_runs_into_its_limits_there() {
    let mut hook = json!({"name": "a", "event": "facet_switch", "handler": {"wasm": "a.wasm"}});
    hook["limits"] = json!({"fuel": "10M"});
    let project = project(json!([hook]));
    project.file(".polytoken/a.wasm", endless());
    let runtime = load(&project);
    let (outcome, later) = fire(&runtime, "facet_switch", json!({}));
    assert!(outcome.warnings.is_empty());
    assert_eq!(later[0].warnings.len(), 1);
}

#[test]
fn events_that_wait_do_not_wait_for_the_background() {
    let project = project(json!([
        bash("slow", "post_tool_use", SLOW),
        bash("guard", "pre_tool_use", "echo no; exit 2"),
    ]));
    let runtime = load(&project);
    runtime.dispatch("post_tool_use", tool("t", "a")).unwrap();
    let outcome = runtime.dispatch("pre_tool_use", tool("t", "a")).unwrap();
    assert_eq!(outcome.reason.as_deref(), Some("no"));
    assert!(done(&project).is_empty());
    project.file("go", "");
}

#[test]
fn nobody_is_asked_by_a_hook_in_the_background() {
    use crate::support::{answer, component};
    let project =
        project(json!([{"name": "a", "event": "subagent_stop", "handler": {"wasm": "a.wasm"}}]));
    project.file(".polytoken/a.wasm", component(&answer(3, "really?")));
    let runtime = builder(&project).ask(|_| panic!("asked")).load().unwrap();
    let (_, later) = fire(&runtime, "subagent_stop", json!({"subagent_type": "x"}));
    assert!(later[0].trace[0].error.is_some());
}
