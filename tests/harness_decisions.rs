//! The contract between a hook and the harness: `handle`, its three answers, and
//! how they compose.

mod support;

use hookbox::Ruling::{Allow, Block, Modify};
use hookbox::failure::Cause;
use hookbox::{Outcome, Ruling};
use serde_json::{Value, json};
use support::{Project, answer, command, component, hook_file, hookbox};

/// A script whose `handle` has this body.
fn handle(body: &str) -> String {
    let body: String = body.lines().map(|line| format!("  {line}\n")).collect();
    format!("def handle(event, payload):\n{body}")
}

/// Dispatches one `tool.pre` to a hook whose `handle` has this body.
fn decide(body: &str) -> Outcome {
    Project::script(&handle(body)).dispatch("tool.pre", command("ls"))
}

/// A hook on `tool.pre` with this body.
fn hook(priority: i64, body: &str) -> String {
    hook_file("tool.pre", &format!("priority: {priority}"), &handle(body))
}

fn dispatched(outcome: &Outcome) -> Vec<&str> {
    outcome.stages.dispatch.iter().map(|name| &**name).collect()
}

#[test]
fn ah_053_handle_gets_the_event_and_the_payload() {
    let outcome = decide("return block(event + ' ' + payload['name'])");
    assert_eq!(
        (outcome.decision, outcome.reason.as_deref()),
        (Block, Some("tool.pre run_command"))
    );
    // Names are the author's own, and helpers may stand before and behind.
    let script = "def first(x):\n  return second(x)\n\ndef handle(e, p, extra = 1):\n  return block(first(e))\n\ndef second(x):\n  return x.upper()";
    let outcome = Project::script(script).dispatch("tool.pre", command("ls"));
    assert_eq!(outcome.reason.as_deref(), Some("TOOL.PRE"));
}

#[test]
fn ah_053_ah_054_handle_may_be_a_name_for_another_function() {
    for script in [
        "handle = lambda event, payload: block(payload['args']['command'])",
        "def guard(event, payload):\n  return block(payload['args']['command'])\n\nhandle = guard",
    ] {
        let project = Project::script(script);
        let runtime = project.runtime();
        assert_eq!(
            runtime
                .dispatch("tool.pre", command("ls"))
                .unwrap()
                .reason
                .as_deref(),
            Some("ls")
        );
        // It has an entry point, so an error in it is not the lack of one.
        let outcome = runtime.dispatch("tool.pre", json!({"name": "t"})).unwrap();
        assert_eq!(
            outcome.trace[0].cause,
            Some(Cause::HookError),
            "{:?}",
            outcome.reason
        );
        assert_eq!(project.problems(), Vec::<String>::new());
    }
}

#[test]
fn ah_054_a_wrong_entry_point_loads_and_fails_when_it_is_called() {
    for (script, message) in [
        (
            "def run(args):\n  return allow()",
            "the script defines no handle(event, payload); it defines run(), which is the entry point of a tool",
        ),
        (
            "def main():\n  return allow()",
            "the script defines no handle(event, payload); it defines main(), which is the entry point of a tool",
        ),
        ("x = 1", "the script defines no handle(event, payload)"),
    ] {
        let project = Project::script(script);
        assert!(project.errors().is_empty());
        let outcome = project.dispatch("tool.pre", command("ls"));
        assert_eq!(outcome.decision, Block);
        assert_eq!(outcome.trace[0].cause, Some(Cause::MissingExport));
        assert_eq!(
            outcome.reason.unwrap(),
            format!("hook \"probe\" failed: missing export: .harness/hooks/probe.md: {message}")
        );
    }
}

#[test]
fn ah_054_handle_with_the_wrong_number_of_arguments_fails_when_it_is_called() {
    for script in [
        "def handle(payload):\n  return allow()",
        "def handle(a, b, c):\n  return allow()",
    ] {
        let project = Project::script(script);
        assert!(project.errors().is_empty());
        let outcome = project.dispatch("tool.pre", command("ls"));
        assert_eq!(outcome.decision, Block, "{script}");
        assert_eq!(outcome.trace[0].cause, Some(Cause::HookError), "{script}");
    }
}

/// Both spellings of an answer, with what comes of them.
const SPELLINGS: [(&str, &str, Ruling, Option<&str>); 4] = [
    ("allow()", "{'action': 'allow'}", Allow, None),
    (
        "block('because é')",
        "{'action': 'block', 'reason': 'because é'}",
        Block,
        Some("because é"),
    ),
    (
        "modify({'args': {'command': 'echo'}})",
        "{'action': 'modify', 'payload': {'args': {'command': 'echo'}}}",
        Modify,
        None,
    ),
    (
        "modify(payload = {'name': 'other'})",
        "{'payload': {'name': 'other'}, 'action': 'modify', 'more': 1}",
        Modify,
        None,
    ),
];

#[test]
fn ah_055_ah_056_ah_057_ah_058_constructors_and_dicts_mean_the_same() {
    for (call, dict, ruling, reason) in SPELLINGS {
        let (called, spelled) = (
            decide(&format!("return {call}")),
            decide(&format!("return {dict}")),
        );
        for outcome in [&called, &spelled] {
            assert_eq!(
                (outcome.decision, outcome.reason.as_deref()),
                (ruling, reason),
                "{call}"
            );
            assert!(outcome.warnings.is_empty(), "{:?}", outcome.warnings);
        }
        assert_eq!(called.payload.text(), spelled.payload.text());
    }
}

#[test]
fn ah_055_allow_leaves_every_byte_of_the_payload() {
    let payload = r#"{"id":"c","name":"t","arguments":"{ \"b\" : 1.0, \"a\":12345678901234567890123 }","zeta":[1e400,0.10,-0],"alpha":"é\u0001🦀"}"#;
    // 1e400 is a number no float holds.
    let payload = payload.replace("1e400,", "");
    let value: Value = serde_json::from_str(&payload).unwrap();
    let before = Project::new().dispatch("tool.pre", value.clone());
    let after = Project::script(&handle("x = payload['args']['b']\nreturn allow()"))
        .dispatch("tool.pre", value);
    assert_eq!(after.decision, Allow);
    assert_eq!(after.payload.text(), before.payload.text());
    assert!(
        after
            .payload
            .text()
            .contains(r#"{ \"b\" : 1.0, \"a\":12345678901234567890123 }"#)
    );
}

#[test]
fn ah_056_a_reason_is_a_string() {
    let outcome = decide("return block(7)");
    assert_eq!(
        outcome.reason.unwrap(),
        "hook \"probe\" failed: hook error: .harness/hooks/probe.md:6:12: block: the reason must be a string, not an int"
    );
    for body in [
        "return block()",
        "return block('a', 'b')",
        "return allow(1)",
        "return modify()",
    ] {
        let outcome = decide(body);
        assert_eq!(
            (outcome.decision, outcome.trace[0].cause),
            (Block, Some(Cause::HookError)),
            "{body}"
        );
    }
    assert_eq!(
        decide("return block(reason = '')").reason.as_deref(),
        Some("")
    );
}

#[test]
fn ah_058_a_dict_that_blocks_without_a_reason_still_blocks() {
    for body in [
        "return {'action': 'block'}",
        "return {'action': 'block', 'reason': 5}",
    ] {
        let outcome = decide(body);
        assert_eq!(
            (outcome.decision, outcome.reason.as_deref()),
            (Block, Some("blocked"))
        );
        assert_eq!(outcome.warnings.len(), 1, "{:?}", outcome.warnings);
    }
}

#[test]
fn ah_059_ah_060_any_other_answer_is_allow_with_one_warning() {
    let odd = [
        ("return 'x'", "the string \"x\""),
        ("return 1", "the int 1"),
        ("return 1.5", "the float 1.5"),
        ("return None", "None"),
        ("return True", "the bool True"),
        ("return []", "the list []"),
        ("return ('block', 'x')", "the tuple (\"block\", \"x\")"),
        ("return {}", "a dict without \"action\""),
        (
            "return {'action': 'deny'}",
            "a dict with the unknown action \"deny\"",
        ),
        ("return {'action': 1}", "a dict with the unknown action 1"),
        (
            "return {'action': 'modify'}",
            "{\"action\": \"modify\"} without \"payload\"",
        ),
        ("return 'x' * 100", "a string"),
        ("return", "None"),
        ("pass", "None"),
        (
            "if payload['name'] == 'other':\n  return block('no')",
            "None",
        ),
    ];
    for (body, what) in odd {
        let outcome = decide(body);
        assert_eq!(outcome.decision, Allow, "{body}");
        assert_eq!(
            outcome.warnings,
            [format!(
                "hook \"probe\": handle returned {what}; treated as allow(): end every branch in allow(), block(reason) or modify(payload)"
            )]
        );
        assert_eq!(outcome.trace[0].decision, Some(Allow));
        assert_eq!(outcome.trace[0].error, None);
    }
    for body in ["return allow", "return block"] {
        let outcome = decide(body);
        assert_eq!(outcome.decision, Allow);
        assert!(
            outcome.warnings[0].contains("without calling it"),
            "{:?}",
            outcome.warnings
        );
    }
}

#[test]
fn ah_061_ah_064_the_first_block_ends_the_chain() {
    let project = Project::with(&[
        ("a", &hook(10, "metrics.incr('a')\nreturn block('first')")),
        ("b", &hook(20, "metrics.incr('b')\nreturn allow()")),
        ("c", &hook(30, "metrics.incr('c')\nreturn block('second')")),
    ]);
    let outcome = project.dispatch("tool.pre", command("ls"));
    assert_eq!(
        (
            outcome.decision,
            outcome.reason.as_deref(),
            outcome.hook.as_deref()
        ),
        (Block, Some("first"), Some("a"))
    );
    assert_eq!(dispatched(&outcome), ["a"]);
    assert_eq!(outcome.metrics.keys().collect::<Vec<_>>(), ["a"]);
    assert!(
        outcome.trace[1..]
            .iter()
            .all(|row| row.matched && row.decision.is_none())
    );
}

#[test]
fn ah_062_what_one_hook_modifies_the_next_one_and_the_caller_see() {
    let project = Project::with(&[
        (
            "a",
            &hook(
                1,
                "return modify({'args': {'command': payload['args']['command'] + ' -l'}})",
            ),
        ),
        (
            "b",
            &hook(
                2,
                "return modify({'args': {'command': payload['args']['command'] + ' -a'}})",
            ),
        ),
        (
            "c",
            &hook(3, "log(payload['args']['command'])\nreturn allow()"),
        ),
    ]);
    let outcome = project.dispatch("tool.pre", command("ls"));
    assert_eq!(outcome.decision, Modify);
    assert_eq!(outcome.logs[0].message, "ls -l -a");
    assert_eq!(outcome.payload.value()["args"]["command"], "ls -l -a");
    assert_eq!(
        outcome.payload.value()["arguments"],
        "{\"command\":\"ls -l -a\"}"
    );
}

#[test]
fn ah_062_changing_the_payload_without_saying_so_changes_nothing() {
    let project = Project::with(&[
        (
            "a",
            &hook(
                1,
                "payload['args']['command'] = 'rm'\npayload['new'] = 1\nreturn allow()",
            ),
        ),
        (
            "b",
            &hook(
                2,
                "return block('seen') if payload['args']['command'] == 'rm' else allow()",
            ),
        ),
    ]);
    let outcome = project.dispatch("tool.pre", command("ls"));
    assert_eq!(outcome.decision, Allow, "{:?}", outcome.reason);
    assert_eq!(outcome.payload.value()["args"]["command"], "ls");
    assert_eq!(outcome.payload.value().get("new"), None);
}

#[test]
fn ah_063_a_partial_modify_keeps_what_it_does_not_name() {
    let project = Project::with(&[
        (
            "a",
            &hook(1, "return modify({'args': {'command': 'rm -rf /'}})"),
        ),
        (
            "b",
            &hook_file(
                "tool.pre",
                "priority: 2\nwhen: payload['name'] == 'run_command'",
                &handle(
                    "return block(payload['id'] + ' ' + payload['name'] + ' ' + payload['arguments'])",
                ),
            ),
        ),
    ]);
    let outcome = project.dispatch("tool.pre", command("ls"));
    assert_eq!(
        outcome.reason.as_deref(),
        Some("call_1 run_command {\"command\":\"rm -rf /\"}")
    );
}

#[test]
fn ah_063_what_is_hidden_in_one_spelling_of_the_arguments_shows_in_the_other() {
    for (modified, command) in [
        // Where both change, the one that guards look at counts.
        (
            "{'args': {'command': 'pwd'}, 'arguments': '{\"command\":\"rm -rf /\"}'}",
            "pwd",
        ),
        ("{'args': {'command': 'pwd'}}", "pwd"),
        ("{'arguments': '{\"command\":\"pwd\"}'}", "pwd"),
        (
            "{'args': payload['args'], 'arguments': '{\"command\":\"rm\"}'}",
            "rm",
        ),
        (
            "{'arguments': payload['arguments'], 'args': {'command': 'rm'}}",
            "rm",
        ),
    ] {
        let outcome = decide(&format!("return modify({modified})"));
        assert_eq!(
            outcome.payload.value()["args"],
            json!({"command": command}),
            "{modified}"
        );
        assert_eq!(
            outcome.payload.value()["arguments"],
            json!({"command": command}).to_string(),
            "{modified}"
        );
    }
}

#[test]
fn ah_063_a_modify_that_is_no_tool_call_any_more_is_a_failure() {
    for payload in [
        "'text'",
        "{'args': []}",
        "{'args': 'rm'}",
        "{'arguments': 'rm'}",
        "{'arguments': '[1]'}",
        "{'name': None}",
        "None",
    ] {
        let outcome = decide(&format!("return modify({payload})"));
        assert_eq!(outcome.decision, Block, "{payload}");
        assert_eq!(outcome.trace[0].cause, Some(Cause::BadAnswer), "{payload}");
        assert_eq!(outcome.payload.value()["args"]["command"], "ls");
    }
}

#[test]
fn ah_065_the_five_steps_are_the_same_for_every_event() {
    let payloads = [
        ("session.start", Value::Null),
        ("turn.start", json!("hello")),
        ("turn.end", json!({"text": ""})),
        ("tool.pre", json!({"name": "t"})),
        ("tool.post", json!({"name": "t"})),
        ("completion.pre", json!({})),
        ("delegation.post_verify", json!({})),
        ("error", json!({})),
        ("agent.stop", json!({})),
        ("custom.x", json!([])),
        ("meta.x", json!({})),
    ];
    for (event, payload) in payloads {
        let project = Project::with(&[
            (
                "a_late",
                &hook_file(event, "priority: 9", &handle("return block('late')")),
            ),
            (
                "b_early",
                &hook_file(event, "priority: 1", &handle("return allow()")),
            ),
            (
                "c_never",
                &hook_file(
                    event,
                    "priority: 0\nwhen: event == 'other'",
                    &handle("return block('never')"),
                ),
            ),
            (
                "d_after",
                &hook_file(event, "priority: 10", &handle("return allow()")),
            ),
        ]);
        let stages = project.dispatch(event, payload).stages;
        assert_eq!(
            serde_json::to_value(stages).unwrap(),
            json!({
                "filter": ["a_late", "b_early", "d_after"],
                "sort": ["b_early", "a_late", "d_after"],
                "dispatch": ["b_early", "a_late"],
                "compose": ["a_late"],
                "return": "block",
            }),
            "{event}"
        );
    }
}

#[test]
fn ah_066_every_when_sees_the_payload_the_event_came_with() {
    let project = Project::with(&[
        ("a", &hook(1, "return modify({'name': 'renamed'})")),
        (
            "b",
            &hook_file(
                "tool.pre",
                "priority: 2\nwhen: payload['name'] == 'run_command'",
                &handle("return block('still looking at ' + payload['name'])"),
            ),
        ),
        (
            "c",
            &hook_file(
                "tool.pre",
                "priority: 0\nwhen: payload['name'] == 'renamed'",
                &handle("return block('never')"),
            ),
        ),
    ]);
    let outcome = project.dispatch("tool.pre", command("ls"));
    assert_eq!(outcome.reason.as_deref(), Some("still looking at renamed"));
    assert_eq!(dispatched(&outcome), ["a", "b"]);
}

/// Runs `hookbox run --json` and returns what it prints, and its exit code.
fn run_json(project: &Project, event: &str, payload: &str) -> (Value, Option<i32>) {
    let path = project.path().to_str().unwrap();
    let output = hookbox(&[
        "run",
        event,
        "--json",
        "--project",
        path,
        "--payload",
        payload,
    ]);
    (
        serde_json::from_slice(&output.stdout).unwrap(),
        output.status.code(),
    )
}

#[test]
fn ah_068_the_command_line_hands_back_decision_and_payload() {
    let call = r#"{"id":"c","name":"t","args":{"a":1}}"#;
    for (body, code, decision, reason, args) in [
        ("return allow()", 0, "allow", Value::Null, 1),
        (
            "return modify({'args': {'a': 2}})",
            0,
            "modify",
            Value::Null,
            2,
        ),
        ("return block('no')", 2, "block", json!("no"), 1),
        (
            "return 1 // 0",
            2,
            "block",
            json!(
                "hook \"probe\" failed: hook error: .harness/hooks/probe.md:6:12: Floor division by zero: 1 // 0"
            ),
            1,
        ),
    ] {
        let (shown, exit) = run_json(&Project::script(&handle(body)), "tool.pre", call);
        assert_eq!(exit, Some(code), "{shown}");
        assert_eq!(
            (&shown["decision"], &shown["reason"]),
            (&json!(decision), &reason),
            "{body}"
        );
        assert_eq!(shown["payload"]["args"]["a"], args);
        assert_eq!(shown["payload"]["arguments"], format!("{{\"a\":{args}}}"));
    }
}

#[test]
fn ah_016_ah_068_the_command_line_exits_with_1_where_nothing_was_decided() {
    let sound = Project::script(&handle("return allow()"));
    let broken = Project::with(&[("x", "no frontmatter")]);
    for (project, event, payload, wanted) in [
        (
            &sound,
            "tool.prre",
            "{}",
            "there is no event \"tool.prre\"; did you mean `tool.pre`?",
        ),
        (
            &sound,
            "tool.pre",
            "{}",
            "an object with the tool's \"name\"",
        ),
        (&sound, "tool.pre", "{\"name\":", "EOF"),
        (
            &sound,
            "tool.pre",
            "{\"name\":\"a\",\"name\":\"b\"}",
            "duplicate",
        ),
        (
            &broken,
            "tool.pre",
            "{\"name\":\"t\"}",
            "the project does not load",
        ),
    ] {
        let (shown, exit) = run_json(project, event, payload);
        assert_eq!(exit, Some(1), "{shown}");
        assert!(
            shown["error"].as_str().unwrap().contains(wanted),
            "{wanted:?} is not in {shown}"
        );
        assert_eq!(shown.get("decision"), None);
    }
    let (shown, _) = run_json(&broken, "tool.pre", "{\"name\":\"t\"}");
    assert_eq!(shown["problems"][0]["file"], ".harness/hooks/x.md");
    assert_eq!(shown["problems"][0]["line"], 1);
}

#[test]
fn ah_069_there_is_no_next() {
    let project = Project::script(&handle("return next()"));
    let warnings = project.problems();
    assert_eq!(
        warnings,
        [".harness/hooks/probe.md:6:12: next is not defined"]
    );
    let outcome = project.dispatch("tool.pre", command("ls"));
    assert_eq!(outcome.decision, Block);
    assert!(outcome.reason.unwrap().contains("`next` not found"));
}

#[test]
fn ah_070_a_hook_is_no_tool_and_no_event() {
    let project = Project::with(&[
        (
            "command_guard",
            &hook_file("completion.pre", "priority: 1", &handle("return allow()")),
        ),
        (
            "other",
            &hook_file("tool.pre", "priority: 1", &handle("return block('no')")),
        ),
    ]);
    let runtime = project.runtime();
    // What the model is offered is what the agent offers it.
    let request = json!({"model": "m", "messages": [], "tools": [{"name": "run_command"}]});
    let outcome = runtime.dispatch("completion.pre", request.clone()).unwrap();
    assert_eq!(outcome.payload.value(), &request);
    assert!(runtime.dispatch("command_guard", json!({})).is_err());
    // A model that calls a tool of a hook's name calls a tool, not the hook.
    let outcome = runtime
        .dispatch("tool.pre", json!({"name": "command_guard"}))
        .unwrap();
    assert_eq!(outcome.reason.as_deref(), Some("no"));
    assert_eq!(dispatched(&outcome), ["other"]);
}

#[test]
fn ah_071_without_hooks_everything_passes_unchanged() {
    for event in ["session.start", "turn.end", "custom.x"] {
        let payload = json!({"z": 1.0, "a": [null, "é"]});
        let outcome = Project::new().dispatch(event, payload.clone());
        assert_eq!(
            (outcome.decision, outcome.payload.value()),
            (Allow, &payload)
        );
        assert!(outcome.trace.is_empty());
    }
}

#[test]
fn ah_089_a_component_takes_its_place_between_scripts() {
    let project = Project::with(&[
        ("a_last", &hook(30, "metrics.incr('last')\nreturn allow()")),
        (
            "b_native",
            "---\nevent: tool.pre\npriority: 20\nwhen: payload['name'] == 'run_command'\ncomponent: native.wasm\n---\n",
        ),
        (
            "c_first",
            &hook(10, "return modify({'args': {'command': 'echo'}})"),
        ),
    ]);
    project.file(
        ".harness/hooks/native.wasm",
        component(&answer(1, "native no")),
    );
    let runtime = project.runtime();
    let outcome = runtime.dispatch("tool.pre", command("ls")).unwrap();
    assert_eq!(dispatched(&outcome), ["c_first", "b_native"]);
    assert_eq!(
        (outcome.reason.as_deref(), outcome.hook.as_deref()),
        (Some("native no"), Some("b_native"))
    );
    assert!(outcome.metrics.is_empty());
    let outcome = runtime
        .dispatch("tool.pre", json!({"name": "other"}))
        .unwrap();
    assert_eq!(dispatched(&outcome), ["c_first", "a_last"]);
}
