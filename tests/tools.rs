//! Tools and hooks as a hook sees them: what it calls goes through the chains of
//! `tool.pre` and `tool.post`, and what it reads it cannot change.

mod support;

use std::sync::{Arc, Mutex};

use hookbox::Ruling::{Allow, Block};
use hookbox::{Outcome, Runtime};
use serde_json::{Value, json};
use support::{Project, hook_file};

/// A hook on `custom.start` that calls a tool and says what came of it.
fn caller(call: &str) -> String {
    let script = format!("def handle(event, payload):\n    return modify({{'got': {call}}})");
    let more = "priority: 1\non_error: block\ngrant: { tools: [deploy, note, fails, absent] }";
    hook_file("custom.start", more, &script)
}

/// What was done, in order.
type Diary = Arc<Mutex<Vec<Value>>>;

fn runtime(project: &Project) -> (Runtime, Diary) {
    let diary = Diary::default();
    let written = Arc::clone(&diary);
    let runtime = Runtime::builder(project.path())
        .tool("deploy", move |args| {
            written.lock().unwrap().push(args.clone());
            Ok(json!({"done": args["to"]}))
        })
        .tool("fails", |_| Err("the disk is full".to_owned()))
        .load()
        .unwrap();
    (runtime, diary)
}

fn start(project: &Project) -> (Outcome, Vec<Value>) {
    let (runtime, diary) = runtime(project);
    let outcome = runtime.dispatch("custom.start", json!({})).unwrap();
    let diary = diary.lock().unwrap().clone();
    (outcome, diary)
}

#[test]
fn ah_086_a_tool_call_passes_tool_pre_and_tool_post() {
    let project = Project::with(&[("start", &caller("tools.call('deploy', {'to': 'prod'})"))]);
    project.hook(
        "pre",
        &hook_file(
            "tool.pre",
            "priority: 1",
            "def handle(event, payload):\n    log('pre %s %s' % (payload['name'], payload['args']['to']))\n    return modify({'args': {'to': 'staging'}})",
        ),
    );
    project.hook(
        "post",
        &hook_file(
            "tool.post",
            "priority: 1",
            "def handle(event, payload):\n    log('post %s %s' % (payload['name'], payload['is_error']))\n    return modify({'result': {'done': payload['result']['done'] + '!'}})",
        ),
    );
    let (outcome, diary) = start(&project);
    assert_eq!(
        outcome.decision,
        hookbox::Ruling::Modify,
        "{:?}",
        outcome.reason
    );
    assert_eq!(diary, [json!({"to": "staging"})]);
    assert_eq!(outcome.payload.value()["got"], json!({"done": "staging!"}));
    let lines: Vec<(&str, &str)> = outcome
        .logs
        .iter()
        .map(|line| (&*line.event, line.message.as_str()))
        .collect();
    assert_eq!(
        lines,
        [
            ("tool.pre", "pre deploy prod"),
            ("tool.post", "post deploy False")
        ]
    );
}

#[test]
fn ah_086_a_call_that_a_hook_blocks_does_not_happen() {
    let project = Project::with(&[("start", &caller("tools.call('deploy', {'to': 'prod'})"))]);
    project.hook(
        "guard",
        &hook_file(
            "tool.pre",
            "priority: 1",
            "def handle(event, payload):\n    return block('not on a friday')",
        ),
    );
    let (outcome, diary) = start(&project);
    assert_eq!(outcome.decision, Block);
    assert!(
        outcome
            .reason
            .unwrap()
            .ends_with("tools.call: not on a friday")
    );
    assert!(diary.is_empty());
}

#[test]
fn ah_086_a_result_that_a_hook_blocks_is_not_seen() {
    let project = Project::with(&[("start", &caller("tools.call('deploy', {'to': 'prod'})"))]);
    project.hook(
        "guard",
        &hook_file(
            "tool.post",
            "priority: 1",
            "def handle(event, payload):\n    return block('leaks')",
        ),
    );
    let (outcome, diary) = start(&project);
    assert!(outcome.reason.unwrap().ends_with("tools.call: leaks"));
    assert_eq!(diary.len(), 1);
}

#[test]
fn ah_086_what_cannot_be_called_is_named() {
    for (call, wanted) in [
        (
            "tools.call('other')",
            "tools.call: the tool \"other\" is not granted to hook \"start\"; grant it with `tools: [NAME]` under `grant:`",
        ),
        (
            "tools.call('absent')",
            "tools.call: the host has no tool \"absent\"; the tools are: deploy, fails",
        ),
        (
            "tools.call('fails')",
            "tools.call: the tool \"fails\" failed: the disk is full",
        ),
    ] {
        let (outcome, _) = start(&Project::with(&[("start", &caller(call))]));
        let reason = outcome.reason.unwrap();
        assert!(reason.ends_with(wanted), "{reason}");
    }
}

#[test]
fn ah_086_a_hook_cannot_make_another_tool_of_a_call() {
    let project = Project::with(&[("start", &caller("tools.call('fails')"))]);
    project.hook(
        "switch",
        &hook_file(
            "tool.pre",
            "priority: 1",
            "def handle(event, payload):\n    return modify({'name': 'deploy'})",
        ),
    );
    let (outcome, diary) = start(&project);
    assert!(
        outcome
            .reason
            .unwrap()
            .contains("made another tool of \"fails\"")
    );
    assert!(diary.is_empty());
}

#[test]
fn attack_a_hook_that_calls_a_tool_for_every_call_of_a_tool() {
    let script =
        "def handle(event, payload):\n    tools.call('deploy', {'to': 'x'})\n    return allow()";
    let project = Project::with(&[(
        "eager",
        &hook_file(
            "tool.pre",
            "priority: 1\ngrant: { tools: [deploy] }",
            script,
        ),
    )]);
    let (runtime, diary) = runtime(&project);
    let outcome = runtime.dispatch("tool.pre", json!({"name": "a"})).unwrap();
    assert_eq!(outcome.decision, Block);
    let reason = outcome.reason.unwrap();
    assert!(
        reason.contains("hooks call tools in a circle: tool.pre → tool deploy → tool deploy; narrow the hook with `when`"),
        "{reason}"
    );
    assert!(diary.lock().unwrap().is_empty());
    // Narrowed, it calls the tool once.
    project.hook(
        "eager",
        &hook_file(
            "tool.pre",
            "priority: 1\nwhen: payload[\"name\"] != \"deploy\"\ngrant: { tools: [deploy] }",
            script,
        ),
    );
    let (runtime, diary) = self::runtime(&project);
    let outcome = runtime.dispatch("tool.pre", json!({"name": "a"})).unwrap();
    assert_eq!(outcome.decision, Allow, "{:?}", outcome.reason);
    assert_eq!(diary.lock().unwrap().len(), 1);
}

#[test]
fn ah_086_what_a_nested_hook_was_refused_is_told_with_the_event() {
    let project = Project::with(&[("start", &caller("tools.call('deploy', {'to': 'prod'})"))]);
    project.hook(
        "pre",
        &hook_file(
            "tool.pre",
            "priority: 1\ngrant: { env: [CI] }",
            "def handle(event, payload):\n    env('HOME')\n    return allow()",
        ),
    );
    let (outcome, _) = start(&project);
    assert_eq!(outcome.decision, Block);
    assert!(
        outcome.trace[0].refusals[0]
            .starts_with("tool.pre: pre: env: the variable \"HOME\" is not granted"),
        "{:?}",
        outcome.trace[0].refusals
    );
}

#[test]
fn ah_087_a_hook_reads_the_other_hooks_and_blocks_one_without_a_priority() {
    let meta = "def handle(event, payload):
    for hook in hooks.list():
        if not hook['explicit_priority']:
            return block(hook['name'] + ' has no priority: ' + hook['file'])
        if 'priority:' not in hooks.source(hook['name']):
            return block('the list and the file disagree')
    if hooks.source('nobody') != None:
        return block('there is no such hook')
    return allow()";
    let project = Project::with(&[(
        "meta",
        &hook_file(
            "session.start",
            "priority: 1\non_error: block\ngrant: { hooks: read }",
            meta,
        ),
    )]);
    project.hook(
        "good",
        &hook_file(
            "tool.pre",
            "priority: 2",
            "def handle(event, payload):\n    return allow()",
        ),
    );
    assert_eq!(project.dispatch("session.start", json!({})).decision, Allow);
    project.hook("careless", "---\nevent: tool.pre\n---\n");
    let outcome = project.dispatch("session.start", json!({}));
    assert_eq!(
        outcome.reason.as_deref(),
        Some("careless has no priority: .harness/hooks/careless.md")
    );
}

#[test]
fn attack_emit_that_calls_itself() {
    let script = "def handle(event, payload):\n    events.emit('custom.self')\n    return allow()";
    let project = Project::with(&[(
        "me",
        &hook_file("custom.self", "priority: 1\non_error: block", script),
    )]);
    let outcome = project.dispatch("custom.self", json!({}));
    assert_eq!(outcome.decision, Block);
    assert!(
        outcome
            .reason
            .unwrap()
            .contains("hooks emit in a circle: custom.self → custom.self")
    );
}
