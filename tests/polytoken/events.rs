//! What each event passes to its handlers, and which of its instances a hook is for.

use std::collections::BTreeMap;

use hookbox::Outcome;
use hookbox::runtime::RuntimeBuilder;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::support::programs::{PLACES, Place, Says, environment};
use crate::support::{Project, hook_file};
use crate::{
    bash, builder, data, every_event, fire, load, loaded, native, project, tool, wasm, write,
};

/// A project whose only hook says on standard error what it was told, and fails.
fn told(event: &str, place: Place, script: &str, component: &[u8]) -> Project {
    let handler = match place {
        Place::Process => json!({"bash": script}),
        Place::Component => json!({"wasm": "tells.wasm"}),
    };
    let project = project(json!([{"name": "teller", "event": event, "handler": handler}]));
    project.file(".polytoken/tells.wasm", component);
    project
}

/// What that hook was told.
fn heard(outcome: &Outcome, later: &[Outcome]) -> String {
    let ran = later.first().unwrap_or(outcome);
    let lines: Vec<&str> = ran.logs.iter().map(|line| line.message.as_str()).collect();
    lines.join("\n")
}

#[derive(Deserialize)]
struct Input {
    name: String,
    event: String,
    payload: Value,
    stdin: Value,
}

#[test]
fn pt_031_pt_032_pt_033_a_handler_reads_the_event_on_its_standard_input() {
    let text = std::fs::read_to_string(data("stdin.json")).unwrap();
    let inputs: Vec<Input> = serde_json::from_str(&text).unwrap();
    for (event, _) in every_event() {
        assert!(inputs.iter().any(|input| input.event == event), "{event}");
    }
    let component = wasm(
        "(call $print (i32.const 2) (i32.const 4096) (local.get $size)) (call $exit (i32.const 7))",
    );
    for input in inputs {
        for place in PLACES {
            let project = told(&input.event, place, "cat >&2; exit 7", &component);
            let runtime = load(&project);
            let (outcome, later) = fire(&runtime, &input.event, input.payload.clone());
            let read = heard(&outcome, &later);
            let read: Value = serde_json::from_str(&read)
                .unwrap_or_else(|error| panic!("{}, {place:?}: {error}: {read}", input.name));
            assert_eq!(read, input.stdin, "{}, {place:?}", input.name);
        }
    }
}

#[test]
fn pt_032_the_expressions_of_the_documentation_work() {
    let script = "jq -r .tool_name >&2; exit 1";
    let project = project(json!([bash("tools-used", "post_tool_use", script)]));
    let (_, later) = fire(&load(&project), "post_tool_use", tool("file_read", "a"));
    assert_eq!(later[0].logs[0].message, "file_read");
}

#[test]
fn standard_input_ends_with_a_line_and_has_no_other() {
    let script = "wc -l >&2; exit 1";
    let project = project(json!([bash("a", "pre_user_prompt", script)]));
    let prompt = json!({"prompt": "two\nlines \u{1F980} \u{0}\u{7f}"});
    let (outcome, _) = fire(&load(&project), "pre_user_prompt", prompt);
    assert_eq!(outcome.logs[0].message.trim(), "1");
}

fn variables(text: &str) -> BTreeMap<String, String> {
    let lines = text.lines().filter_map(|line| line.split_once('='));
    lines
        .filter(|(name, _)| name.starts_with("POLYTOKEN_"))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// The variables that a hook on an event sees.
fn seen(
    event: &str,
    place: Place,
    payload: &Value,
    more: impl Fn(RuntimeBuilder) -> RuntimeBuilder,
) -> (Project, BTreeMap<String, String>) {
    let project = told(event, place, "env >&2; exit 2", &environment());
    let runtime = more(builder(&project)).load().unwrap();
    let (outcome, later) = fire(&runtime, event, payload.clone());
    let heard = variables(&heard(&outcome, &later));
    (project, heard)
}

#[test]
fn pt_034_pt_035_every_hook_is_told_where_it_is_by_its_environment() {
    for (event, payload) in every_event() {
        for place in PLACES {
            let (project, unknown) = seen(event, place, &payload, |builder| builder);
            let subject = match event {
                "pre_tool_use" | "post_tool_use" | "post_tool_use_failure" => "file_read",
                "subagent_start" | "subagent_stop" => "researcher",
                other => other,
            };
            let folder = project.path().to_str().unwrap();
            let mut expected = BTreeMap::from(
                [
                    ("POLYTOKEN_HOOK_EVENT", event),
                    ("POLYTOKEN_HANDLER_NAME", "teller"),
                    ("POLYTOKEN_HOOK_MATCHER_SUBJECT", subject),
                    ("POLYTOKEN_NON_INTERACTIVE", "true"),
                    ("POLYTOKEN_PROJECT_DIR", folder),
                    ("POLYTOKEN_PROJECT_PATH", folder),
                ]
                .map(|(name, value)| (name.to_owned(), value.to_owned())),
            );
            assert_eq!(unknown, expected, "{event}, {place:?}: no session");

            let mut payload = payload.clone();
            payload["session_id"] = "s-1".into();
            let (project, known) = seen(event, place, &payload, |builder| builder.ask(|_| true));
            let folder = project.path().to_str().unwrap();
            for (name, value) in [
                ("POLYTOKEN_SESSION_ID", "s-1"),
                ("POLYTOKEN_NON_INTERACTIVE", "false"),
                ("POLYTOKEN_PROJECT_DIR", folder),
                ("POLYTOKEN_PROJECT_PATH", folder),
            ] {
                expected.insert(name.to_owned(), value.to_owned());
            }
            assert_eq!(
                known, expected,
                "{event}, {place:?}: a session, and a person"
            );
        }
    }
}

#[test]
fn pt_034_a_script_sees_nothing_else_of_the_environment_but_what_programs_need() {
    let project = project(json!([bash(
        "a",
        "stop",
        "env | cut -d= -f1 | sort >&2; exit 2"
    )]));
    let machine = |name: &str| Some(format!("/usr/bin:/bin:{name}"));
    let runtime = builder(&project).environment(machine).load().unwrap();
    let (outcome, _) = fire(&runtime, "stop", json!({}));
    let stderr = outcome.said.unwrap().stderr.unwrap();
    // What Bash itself sets, and what finds the processes that a script leaves.
    let own =
        |name: &&str| !["PWD", "SHLVL", "_", "OLDPWD"].contains(name) && !name.contains("HOOKBOX");
    let names: Vec<&str> = stderr.lines().filter(own).collect();
    assert_eq!(
        names,
        [
            "HOME",
            "LANG",
            "PATH",
            "POLYTOKEN_HANDLER_NAME",
            "POLYTOKEN_HOOK_EVENT",
            "POLYTOKEN_HOOK_MATCHER_SUBJECT",
            "POLYTOKEN_NON_INTERACTIVE",
            "POLYTOKEN_PROJECT_DIR",
            "POLYTOKEN_PROJECT_PATH",
            "TMPDIR",
            "USER",
        ]
    );
}

/// Which of the subjects a hook with this matcher runs for.
fn matched(event: &str, matcher: &str, payloads: &[(&str, Value)]) -> Vec<String> {
    let project = Project::new();
    let handler = Says::default().polytoken(&project, Place::Component, "quiet");
    write(
        &project,
        json!([{"name": "a", "event": event, "matcher": matcher, "handler": handler}]),
    );
    let runtime = load(&project);
    let mut found = Vec::new();
    for (name, payload) in payloads {
        let (outcome, later) = fire(&runtime, event, payload.clone());
        let ran = later.first().unwrap_or(&outcome);
        assert_eq!(ran.trace[0].matched, !ran.stages.dispatch.is_empty());
        if ran.trace[0].matched {
            found.push((*name).to_owned());
        }
    }
    found
}

#[test]
fn pt_036_pt_039_the_subject_of_a_tool_event_is_the_tool() {
    let names = [
        "file_read",
        "file_edit_search_replace",
        "file_edit_",
        "File_Read",
        "mcp/files",
        "mcp/files/read",
        "pre_tool_use",
    ];
    let payloads = names.map(|name| (name, tool(name, "a")));
    for event in ["pre_tool_use", "post_tool_use", "post_tool_use_failure"] {
        for (matcher, expected) in [
            ("file_read", vec!["file_read"]),
            (
                "file_edit_*",
                vec!["file_edit_search_replace", "file_edit_"],
            ),
            ("file_edit_?*", vec!["file_edit_search_replace"]),
            ("?ile_*d", vec!["file_read", "File_Read"]),
            ("[a-z]ile_read", vec!["file_read"]),
            ("[!a-z]ile_*", vec!["File_Read"]),
            ("{file_read,mcp/*}", vec!["file_read", "mcp/files"]),
            ("mcp/*", vec!["mcp/files"]),
            ("mcp/**", vec!["mcp/files", "mcp/files/read"]),
            ("**/read", vec!["mcp/files/read"]),
            ("mcp?files", vec![]),
            ("a.txt", vec![]),
            ("**", names.to_vec()),
        ] {
            assert_eq!(
                matched(event, matcher, &payloads),
                expected,
                "{matcher} on {event}"
            );
        }
    }
}

#[test]
fn pt_037_the_subject_of_a_subagent_event_is_its_type() {
    let kinds = ["researcher", "research/web", "writer", "subagent_start"];
    let payloads = kinds.map(|kind| (kind, json!({"subagent_type": kind})));
    for event in ["subagent_start", "subagent_stop"] {
        assert_eq!(matched(event, "research*", &payloads), ["researcher"]);
        assert_eq!(matched(event, "research*/**", &payloads), ["research/web"]);
        assert_eq!(matched(event, "writer", &payloads), ["writer"]);
    }
}

#[test]
fn pt_038_the_subject_of_every_other_event_is_its_own_name() {
    let others = every_event()
        .into_iter()
        .filter(|(event, _)| !event.contains("tool") && !event.starts_with("subagent"));
    let mut count = 0;
    for (event, payload) in others {
        count += 1;
        let payloads = [(event, payload)];
        for (matcher, fires) in [
            (event, true),
            ("*", true),
            ("x", false),
            ("researcher", false),
        ] {
            let expected = if fires { vec![event] } else { vec![] };
            assert_eq!(
                matched(event, matcher, &payloads),
                expected,
                "{matcher} on {event}"
            );
        }
    }
    assert_eq!(count, 9);
}

#[test]
fn every_event_fires_the_hooks_of_that_event_and_no_other() {
    let hooks: Vec<Value> = (every_event().iter())
        .map(|(event, _)| {
            bash(
                event,
                event,
                "echo \"$POLYTOKEN_HOOK_EVENT $POLYTOKEN_HANDLER_NAME\" >> fired",
            )
        })
        .collect();
    let project = project(hooks.into());
    let runtime = load(&project);
    let mut expected = String::new();
    for (event, payload) in every_event() {
        fire(&runtime, event, payload);
        expected += &format!("{event} {event}\n");
    }
    let fired = std::fs::read_to_string(project.path().join("fired")).unwrap();
    assert_eq!(fired, expected);
}

#[test]
fn pt_022_pt_023_a_tool_succeeds_or_fails_and_its_name_says_which() {
    let project = project(json!([
        bash("succeeded", "post_tool_use", "exit 0"),
        bash("failed", "post_tool_use_failure", "exit 0"),
    ]));
    let runtime = load(&project);
    for (event, expected) in [
        ("post_tool_use", "succeeded"),
        ("post_tool_use_failure", "failed"),
    ] {
        for lie in [json!(null), json!(true), json!(false)] {
            let mut payload = tool("file_read", "a");
            payload["is_error"] = lie;
            let (_, later) = fire(&runtime, event, payload);
            assert_eq!(crate::called(&later[0]), [expected], "{event}");
        }
    }
}

#[test]
fn a_payload_that_does_not_fit_is_not_decided() {
    let (_project, runtime) = loaded(json!([bash("a", "pre_tool_use", "exit 0")]));
    for payload in [
        json!({}),
        json!(null),
        json!("file_read"),
        json!([]),
        json!({"tool_name": 7}),
        json!({"tool": "file_read"}),
        json!({"name": "file_read"}),
    ] {
        let error = runtime.dispatch("pre_tool_use", payload.clone());
        assert!(error.is_err(), "{payload}");
    }
    assert!(runtime.dispatch("pre_tool", json!({})).is_err());
}

#[test]
fn what_the_agent_says_about_name_and_subject_does_not_count() {
    for place in PLACES {
        let component = wasm(
            "(call $print (i32.const 2) (i32.const 4096) (local.get $size)) (call $exit (i32.const 7))",
        );
        for (event, mut payload) in every_event() {
            let project = told(event, place, "cat >&2; exit 7", &component);
            let runtime = load(&project);
            let (outcome, later) = fire(&runtime, event, payload.clone());
            let honest: Value = serde_json::from_str(&heard(&outcome, &later)).unwrap();
            payload["event"] = "x".into();
            payload["subject"] = "y".into();
            let (outcome, later) = fire(&runtime, event, payload);
            let lied: Value = serde_json::from_str(&heard(&outcome, &later)).unwrap();
            assert_eq!(lied, honest, "{event}, {place:?}");
        }
    }
}

#[test]
fn a_hook_sees_what_an_earlier_hook_of_another_dialect_made_of_the_tool() {
    for place in PLACES {
        let project = told("pre_tool_use", place, "env >&2; exit 2", &environment());
        let rename = "def handle(event, payload):\n    return modify({'name': 'other_tool'})";
        project.hook("rename", &hook_file("tool.pre", "priority: 1", rename));
        let runtime = builder(&project).load().unwrap();
        let (outcome, _) = fire(&runtime, "pre_tool_use", tool("file_read", "a"));
        let seen = variables(outcome.said.unwrap().stderr.as_deref().unwrap());
        assert_eq!(
            seen["POLYTOKEN_HOOK_MATCHER_SUBJECT"], "other_tool",
            "{place:?}"
        );
    }
}

#[test]
fn an_event_of_the_native_dialect_reaches_polytoken_hooks_too() {
    let (_project, runtime) = loaded(json!([bash(
        "a",
        "pre_tool_use",
        "jq -r .input.path; exit 2"
    )]));
    let payload = json!({"name": "file_read", "args": {"path": "a.txt"}});
    let outcome = runtime.dispatch("tool.pre", payload).unwrap();
    assert_eq!(outcome.reason.as_deref(), Some("a.txt"));
    assert!(runtime.native(&outcome).is_ok());
    let (own, _) = fire(&runtime, "pre_tool_use", tool("file_read", "b.txt"));
    assert_eq!(
        native(&runtime, &own),
        json!({"outcome": "deny", "reason": "b.txt", "stdout": "b.txt"})
    );
}

#[test]
fn fields_of_another_dialect_do_not_stand_for_the_event_or_its_subject() {
    let script = "cat >&2; echo \"$POLYTOKEN_HOOK_MATCHER_SUBJECT\" >&2; exit 1";
    let (_project, runtime) = loaded(json!([bash("a", "subagent_stop", script)]));
    let payload = json!({"agent": "researcher", "subject": "y", "event": "z"});
    let (_, later) = fire(&runtime, "delegation.post", payload);
    let logs = &later[0].logs;
    let read: Value = serde_json::from_str(&logs[0].message).unwrap();
    assert_eq!(
        read,
        json!({"event": "subagent_stop", "subject": "researcher", "subagent_type": "researcher"})
    );
    assert_eq!(logs[1].message, "researcher");
}
