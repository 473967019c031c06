//! All four dialects in one chain.

use crate::builder;
use crate::support::programs::{Place, Says, trap};
use crate::support::{Project, answer, command, component, hook_file, session};
use hookbox::dialect::{ALL, framework, harn, harness, polytoken};
use hookbox::{Ruling, Runtime};
use insta::assert_snapshot;
use serde_json::json;

/// A project with one hook of each dialect before a tool: each leaves a word.
fn all_four() -> Project {
    let project = Project::new();
    project.hook(
        "ah",
        &hook_file("tool.pre", "priority: 10", "def handle(event, payload):\n    log('ah ' + payload['name'])\n    args = dict(payload['args'])\n    args['seen'] = 'ah'\n    return modify({'args': args})"),
    );
    project.file(".polytoken/pt.wasm", component(&answer(0, "")));
    project.file(
        ".polytoken/hooks.json",
        json!([{"name": "pt", "event": "pre_tool_use", "matcher": "run_*", "handler": {"wasm": "pt.wasm"}}]).to_string(),
    );
    project.file("harn.toml", "[[hooks]]\nevent = \"PreToolUse\"\npattern = \"tool.args.seen == 'ah'\"\nhandler = \"policy::look\"\n");
    project.file("policy.star", "def look(event):\n    log('hn ' + event['tool']['name'] + ' ' + event['tool']['args']['seen'])\n    return {'reminder': {'body': 'looked'}, 'then': {'args': {'seen': 'hn'}}}\n");
    let path = Says::new("from the framework", "", 0).framework(&project, Place::Component, "hf");
    project.file(
        "settings.json",
        json!({"hooks": {"PreToolUse": [{"path": path, "matcher": {"tool_name": "run_command", "tool_input": {"seen": "hn"}}}]}}).to_string(),
    );
    project
}

#[test]
fn cx_009_c_15_one_project_with_all_four_dialects_runs_them_in_their_order() {
    let project = all_four();
    let runtime = project.runtime();
    let outcome = runtime.dispatch("tool.pre", command("ls")).unwrap();
    assert_eq!(outcome.decision, Ruling::Modify);
    let called: Vec<&str> = outcome.stages.dispatch.iter().map(AsRef::as_ref).collect();
    assert_eq!(called, ["ah", "pt", "policy::look", "hf"]);
    assert_eq!(outcome.payload.value()["args"], json!({"seen": "hn"}));
    let dialects: Vec<&str> = outcome.trace.iter().map(|row| &*row.dialect).collect();
    assert_eq!(dialects, ["harness", "polytoken", "harn", "framework"]);
    let logs: Vec<&str> = outcome
        .logs
        .iter()
        .map(|line| line.message.as_str())
        .collect();
    assert_eq!(logs, ["ah run_command", "hn run_command ah"]);
    assert_eq!(outcome.effects.len(), 2, "{:?}", outcome.effects);
    assert_snapshot!(session(project.path(), &["explain", "tool.pre"]));
}

#[test]
fn c_13_the_same_call_in_every_dialects_own_words_meets_the_same_hooks() {
    let project = all_four();
    for (dialect, event, payload, args) in [
        (
            &harness::DIALECT,
            "tool.pre",
            json!({"name": "run_command", "args": {}}),
            "/args",
        ),
        (
            &polytoken::DIALECT,
            "pre_tool_use",
            json!({"tool_name": "run_command", "input": {}}),
            "/input",
        ),
        (
            &harn::DIALECT,
            "PreToolUse",
            json!({"tool": {"name": "run_command", "args": {}}}),
            "/tool/args",
        ),
        (
            &framework::DIALECT,
            "PreToolUse",
            json!({"tool_name": "run_command", "tool_input": {}}),
            "/tool_input",
        ),
    ] {
        let runtime = Runtime::builder(project.path())
            .dialect(dialect)
            .load()
            .unwrap();
        let outcome = runtime.dispatch(event, payload).unwrap();
        assert_eq!(outcome.stages.dispatch.len(), 4, "{}", dialect.name);
        // What comes back is in the words of whoever fired it.
        let rewritten = outcome.payload.value().pointer(args);
        assert_eq!(rewritten, Some(&json!({"seen": "hn"})), "{}", dialect.name);
    }
}

#[test]
fn c_15_a_project_can_put_its_dialects_into_another_order_or_leave_some_out() {
    let project = all_four();
    project.file("hookbox.toml", "dialects = [\"framework\", \"harness\"]\n");
    let outcome = project.dispatch("tool.pre", command("ls"));
    let rows: Vec<&str> = outcome.trace.iter().map(|row| &*row.hook).collect();
    assert_eq!(rows, ["hf", "ah"]);
    project.file(
        "hookbox.toml",
        "dialects = [\"harn\", \"harn\", \"klingon\"]\n",
    );
    assert_eq!(
        project.errors(),
        [
            "hookbox.toml:1:21: the dialect \"harn\" is named twice",
            "hookbox.toml:1:29: this is none of the dialects"
        ]
    );
}

#[test]
fn c_16_c_25_the_first_refusal_stops_all_dialects() {
    let project = all_four();
    project.file(".polytoken/pt.wasm", component(&answer(1, "no")));
    let outcome = project.dispatch("tool.pre", command("ls"));
    assert_eq!(outcome.decision, Ruling::Block);
    assert_eq!(outcome.hook.as_deref(), Some("pt"));
    let called: Vec<&str> = outcome.stages.dispatch.iter().map(AsRef::as_ref).collect();
    assert_eq!(called, ["ah", "pt"]);
}

#[test]
fn c_16_collect_all_still_hears_the_hooks_of_the_dialect_that_refused() {
    let project = Project::new();
    let hook =
        |name: &str, says: Says| json!({"path": says.framework(&project, Place::Component, name)});
    let hooks = json!({"PreToolUse": [
        hook("first", Says::new("", "first says no", 2)),
        hook("context", Says::new("still heard", "", 0)),
        hook("second", Says::new("", "second says no", 2)),
    ]});
    project.file("settings.json", json!({"hooks": hooks}).to_string());
    let call = json!({"tool_name": "Bash", "tool_input": {}});
    let fire = || {
        let runtime = Runtime::builder(project.path())
            .dialect(&framework::DIALECT)
            .load()
            .unwrap();
        runtime.dispatch("PreToolUse", call.clone()).unwrap()
    };
    let first = fire();
    assert_eq!((first.stages.dispatch.len(), first.effects.len()), (1, 0));
    project.file("hookbox.toml", "[framework]\ncollect = \"all\"\n");
    let all = fire();
    assert_eq!(all.reason.as_deref(), Some("first says no"));
    assert_eq!((all.stages.dispatch.len(), all.effects.len()), (3, 1));
    // It is on the tape as it was, and replays.
    let payload = call.to_string();
    let recorded = session(
        project.path(),
        &[
            "run",
            "PreToolUse",
            "--dialect",
            "framework",
            "--payload",
            &payload,
            "--tape",
            "run.tape",
        ],
    );
    assert!(recorded.contains("first says no"), "{recorded}");
    let checked = session(
        project.path(),
        &["replay", "run.tape", "--check", "--project", "."],
    );
    assert!(checked.ends_with("[exit code 0]\n"), "{checked}");
}

#[test]
fn a_name_that_several_dialects_have_needs_one_with_hooks_or_a_choice() {
    let project = Project::new();
    project.file("x.wasm", trap());
    let empty = project
        .runtime()
        .dispatch("PreToolUse", json!({"tool_name": "t"}));
    assert_snapshot!(empty.unwrap_err().to_string());
    project.file(
        "settings.json",
        r#"{"hooks":{"PreToolUse":[{"path":"x.wasm"}]}}"#,
    );
    assert!(
        project
            .runtime()
            .dispatch("PreToolUse", json!({"tool_name": "t"}))
            .is_ok()
    );
    let told = session(project.path(), &["run", "pre_tol_use"]);
    assert!(told.contains("did you mean `pre_tool_use`?"), "{told}");
    let told = session(project.path(), &["run", "stop", "--dialect", "klingon"]);
    assert!(
        told.contains("the dialects are harness, polytoken, harn, framework"),
        "{told}"
    );
}

#[test]
fn every_event_of_every_dialect_has_a_point_and_decodes_what_it_shows() {
    for dialect in ALL {
        for info in (dialect.events)() {
            let name = info.name.replace('*', "x");
            let payload = match dialect.name {
                _ if info.point == "turn.start" && dialect.name == "harness" => json!("hello"),
                "harness" => json!({"name": "t", "args": {"a": 1}}),
                "harn" => {
                    json!({"tool": {"name": "t", "args": {"a": 1}}, "prompt": "hello", "session": {"id": "s"}})
                }
                _ => {
                    json!({"tool_name": "t", "input": {"a": 1}, "tool_input": {"a": 1}, "prompt": "hello", "session_id": "s", "extra": [1]})
                }
            };
            let project = Project::new();
            let runtime = builder(&project, dialect).load().unwrap();
            let first = runtime.dispatch(&name, payload).unwrap().payload;
            let again = runtime
                .dispatch(&name, first.value().clone())
                .unwrap()
                .payload;
            assert_eq!(first, again, "{} {name}", dialect.name);
        }
    }
}
