//! `when`: the expression that decides whether a hook is asked at all.

mod support;

use hookbox::Outcome;
use hookbox::Ruling::{Allow, Block};
use hookbox::failure::Cause;
use serde_json::{Value, json};
use support::{Project, command, hook_file};

/// A block scalar takes any expression as it is.
fn when(expression: &str) -> String {
    let lines: String = expression
        .lines()
        .map(|line| format!("  {line}\n"))
        .collect();
    format!("priority: 1\nwhen: |\n{}", lines.trim_end())
}

const COUNT: &str =
    "def handle(event, payload):\n  metrics.incr('called')\n  return block('called')";

fn project(event: &str, expression: &str) -> Project {
    Project::with(&[("gate", &hook_file(event, &when(expression), COUNT))])
}

fn ask(event: &str, expression: &str, payload: Value) -> Outcome {
    project(event, expression).dispatch(event, payload)
}

/// The hook was not asked, and left a warning with these words.
fn sits_out(outcome: &Outcome, words: &str) {
    assert_eq!(outcome.decision, Allow, "{:?}", outcome.reason);
    assert!(!outcome.trace[0].matched);
    assert_eq!(outcome.trace[0].cause, Some(Cause::HookError));
    assert!(outcome.stages.filter.is_empty() && outcome.stages.dispatch.is_empty());
    assert!(outcome.metrics.is_empty());
    assert_eq!(outcome.warnings.len(), 1, "{:?}", outcome.warnings);
    let start = "hook \"gate\": `when` failed, so the hook sits this event out: hook error: .harness/hooks/gate.md:";
    assert!(
        outcome.warnings[0].starts_with(start),
        "{:?}",
        outcome.warnings
    );
    assert!(
        outcome.warnings[0].contains(words),
        "{words:?} is not in {:?}",
        outcome.warnings
    );
}

#[test]
fn ah_090_a_hook_that_does_not_match_is_not_called() {
    let outcome = ask("tool.pre", "payload[\"name\"] == \"other\"", command("ls"));
    assert_eq!(outcome.decision, Allow);
    assert!(outcome.metrics.is_empty() && outcome.warnings.is_empty());
    let row = &outcome.trace[0];
    assert_eq!((row.matched, row.decision, row.fuel), (false, None, None));
    assert!(row.when_fuel.is_some_and(|fuel| fuel > 0));
    let outcome = ask(
        "tool.pre",
        "payload[\"name\"] == \"run_command\"",
        command("ls"),
    );
    let row = &outcome.trace[0];
    assert_eq!(
        (outcome.decision, row.matched, row.decision),
        (Block, true, Some(Block))
    );
    assert!(row.fuel.is_some_and(|fuel| fuel > 0));
}

#[test]
fn ah_090_even_the_top_level_of_a_script_does_not_run_on_a_mismatch() {
    let script = "X = 1 // 0\n\ndef handle(event, payload):\n  return allow()";
    let project = Project::with(&[(
        "gate",
        &hook_file("tool.pre", &when("payload['name'] == 'bad'"), script),
    )]);
    assert_eq!(
        project
            .dispatch("tool.pre", json!({"name": "good"}))
            .decision,
        Allow
    );
    assert_eq!(
        project
            .dispatch("tool.pre", json!({"name": "bad"}))
            .decision,
        Block
    );
}

#[test]
fn ah_091_when_sees_event_payload_and_what_the_language_has() {
    for expression in [
        "event == \"tool.pre\" and len(payload) > 0",
        "event == 'tool.pre' and type(event) == 'string'",
        "type(payload) == 'dict' and sorted(payload.keys()) == ['args', 'arguments', 'id', 'name']",
        "payload['args'] == {'command': 'ls'} and payload['arguments'] == '{\"command\":\"ls\"}'",
        "True and not False and None == None",
        "any([x == 'ls' for x in payload['args'].values()])",
        "all([]) and max(1, 2) == 2 and min([3]) == 3 and abs(-1) == 1",
        "str(1) + repr('a') == '1\"a\"'",
        "int('7') == 7 and float(1) == 1.0 and bool('x') and list((1,)) == [1] and dict(a = 1)['a'] == 1",
        "[x for x in enumerate(zip(range(2), reversed([1, 2])))][0][1] == (0, 2)",
        "(lambda x: x.startswith('run'))(payload['name'])",
        "hasattr(payload, 'get') and 'name' in payload and 'x' not in payload",
        "payload['args'].get(\n  'command',\n)  == 'ls'  # over several lines",
        "payload['name'].upper() if True else False",
        "'%s' % payload['id'] == 'call_1'",
    ] {
        let outcome = ask("tool.pre", expression, command("ls"));
        assert_eq!(
            outcome.decision, Block,
            "{expression}: {:?}",
            outcome.warnings
        );
    }
}

#[test]
fn ah_091_when_sees_payloads_that_are_no_dicts() {
    for (event, expression, payload) in [
        ("session.start", "payload == None", Value::Null),
        (
            "turn.start",
            "payload == 'é🦀' and len(payload) == 2",
            json!("é🦀"),
        ),
        (
            "custom.x",
            "payload[1] == 1 << 70",
            serde_json::from_str("[0,1180591620717411303424]").unwrap(),
        ),
        ("custom.x", "payload == 1.5", json!(1.5)),
    ] {
        let outcome = ask(event, expression, payload);
        assert_eq!(
            outcome.decision, Block,
            "{expression}: {:?}",
            outcome.warnings
        );
    }
}

#[test]
fn ah_091_any_value_counts_by_its_truth() {
    for (expression, matches) in [
        ("1", true),
        ("'x'", true),
        ("[0]", true),
        ("payload", true),
        ("0", false),
        ("''", false),
        ("[]", false),
        ("{}", false),
        ("None", false),
        ("0.0", false),
        ("payload.get('nothing')", false),
    ] {
        let outcome = ask("tool.pre", expression, command("ls"));
        assert_eq!(outcome.trace[0].matched, matches, "{expression}");
        assert!(
            outcome.warnings.is_empty(),
            "{expression}: {:?}",
            outcome.warnings
        );
    }
}

#[test]
fn ah_085_ah_092_when_has_no_capabilities() {
    for (expression, name) in [
        ("metrics.incr(\"x\")", "metrics"),
        ("cache.get('x') == None", "cache"),
        ("http.get('http://localhost')", "http"),
        ("fs.read('x')", "fs"),
        ("exec.run('ls')", "exec"),
        ("log('x') == None", "log"),
        ("events.emit('custom.x') == None", "events"),
        ("emit('custom.x') == None", "emit"),
        ("tools.call('x')", "tools"),
        ("allow()", "allow"),
        ("block('x')", "block"),
        ("modify({})", "modify"),
    ] {
        let project = project("tool.pre", expression);
        assert!(project.errors().is_empty());
        let runtime = project.runtime();
        let outcome = runtime.dispatch("tool.pre", command("ls")).unwrap();
        sits_out(&outcome, &format!("Variable `{name}` not found"));
        assert!(runtime.metrics().snapshot().is_empty());
        assert!(outcome.logs.is_empty());
    }
}

#[test]
fn ah_092_a_when_cannot_change_what_handle_sees() {
    let script = "def handle(event, payload):\n  return block(repr(payload['args']))";
    let expression =
        "payload['args'].update({'command': 'x'}) == None or payload.pop('id') == 1 or True";
    let project = Project::with(&[("gate", &hook_file("tool.pre", &when(expression), script))]);
    let outcome = project.dispatch("tool.pre", command("ls"));
    assert_eq!(
        outcome.reason.as_deref(),
        Some("{\"command\": \"ls\"}"),
        "{:?}",
        outcome.warnings
    );
    assert_eq!(outcome.payload.value()["id"], "call_1");
}

#[test]
fn ah_024_ah_093_without_when_every_event_matches() {
    for more in [
        "priority: 1",
        "priority: 1\nwhen:",
        "priority: 1\nwhen: ''",
        "priority: 1\nwhen: \"  \"",
        "priority: 1\nwhen: ~",
    ] {
        let script = "def handle(event, payload):\n  metrics.incr('called')\n  return allow()";
        let runtime = Project::with(&[("gate", &hook_file("tool.pre", more, script))]).runtime();
        assert_eq!(runtime.hooks()[0].when(), None);
        for call in 1..=3 {
            let outcome = runtime.dispatch("tool.pre", command("ls")).unwrap();
            assert_eq!(json!(outcome.metrics), json!({"called": call}), "{more}");
        }
    }
}

#[test]
fn ah_094_a_when_that_raises_sits_this_event_out_and_no_other() {
    let runtime = project("tool.pre", "payload[\"missing\"] == 1").runtime();
    let outcome = runtime.dispatch("tool.pre", command("ls")).unwrap();
    sits_out(&outcome, "gate.md:5:3: Key `\"missing\"` was not found");
    let outcome = runtime
        .dispatch("tool.pre", json!({"name": "t", "missing": 1}))
        .unwrap();
    assert_eq!(outcome.decision, Block);
    let outcome = runtime
        .dispatch("tool.pre", json!({"name": "t", "missing": 2}))
        .unwrap();
    assert_eq!((outcome.decision, outcome.warnings.len()), (Allow, 0));
}

#[test]
fn ah_094_a_when_that_raises_does_not_disturb_other_hooks() {
    let project = project("tool.pre", "payload['missing']");
    project.hook(
        "other",
        &hook_file(
            "tool.pre",
            "priority: 2",
            "def handle(event, payload):\n  return block('other')",
        ),
    );
    let outcome = project.dispatch("tool.pre", command("ls"));
    assert_eq!(
        (outcome.reason.as_deref(), outcome.warnings.len()),
        (Some("other"), 1)
    );
}

#[test]
fn ah_094_errors_of_a_when_are_shown_where_they_stand() {
    for (more, place) in [
        ("when: payload[\"é\"] == payload[\"no\"]", "4:7"),
        ("when: True and payload[\"no\"]", "4:16"),
        ("when: 'True and payload[\"no\"]'", "4:17"),
        ("when: \"True and \\u0070ayload[\\\"no\\\"]\"", "4:17"),
        ("when: \"'\\u00e9' and payload['no']\"", "4:21"),
        ("when: >-\n  True and\n  payload[\"no\"]", "6:3"),
        ("when: |\n  True and (\n    payload[\"no\"]\n  )", "6:5"),
        ("when: True and\n  payload[\"no\"]", "5:3"),
    ] {
        let project = Project::with(&[(
            "gate",
            &hook_file("tool.pre", &format!("priority: 1\n{more}"), COUNT),
        )]);
        sits_out(
            &project.dispatch("tool.pre", command("ls")),
            &format!(".harness/hooks/gate.md:{place}: Key"),
        );
    }
}

#[test]
fn a_when_that_is_stopped_by_a_limit_fails_its_hook() {
    // Whoever can make a payload large must not be able to switch a guard off with it.
    for (limits, expression, cause) in [
        (
            "{ fuel: 2M }",
            "len([x for x in range(10000000)]) == 0",
            Cause::OutOfFuel,
        ),
        (
            "{ memory: 16 MiB }",
            "len('x' * 100000000) == 0",
            Cause::OutOfMemory,
        ),
    ] {
        let more = format!("limits: {limits}\n{}", when(expression));
        let project = Project::with(&[("gate", &hook_file("tool.pre", &more, COUNT))]);
        let outcome = project.dispatch("tool.pre", command("ls"));
        assert_eq!(
            (outcome.decision, outcome.trace[0].cause),
            (Block, Some(cause)),
            "{:?}",
            outcome.warnings
        );
        assert!(
            outcome
                .reason
                .unwrap()
                .starts_with("hook \"gate\" failed: ")
        );
        assert!(outcome.metrics.is_empty());
    }
}

#[test]
fn ah_095_a_payload_has_no_attributes() {
    let project = project("tool.pre", "payload.name == \"run_command\"");
    let warnings = project.problems();
    assert_eq!(
        warnings,
        [".harness/hooks/gate.md:5:11: payload has no attribute name: write payload[\"name\"]"]
    );
    sits_out(
        &project.dispatch("tool.pre", command("ls")),
        "Object of type `dict` has no attribute `name`",
    );
}

#[test]
fn ah_096_the_idioms_of_the_documentation() {
    let large = json!({"name": "t", "content": "x".repeat(4001)});
    let small = json!({"name": "t", "content": "x".repeat(4000)});
    for (event, line, yes, no) in [
        (
            "tool.pre",
            "payload[\"name\"] == \"run_command\"",
            command("ls"),
            json!({"name": "other"}),
        ),
        (
            "tool.pre",
            "payload[\"name\"] in [\"read_file\", \"write_file\", \"edit_file\"]",
            json!({"name": "edit_file"}),
            json!({"name": "run_command"}),
        ),
        (
            "tool.post",
            "payload[\"is_error\"] == True",
            json!({"name": "t", "is_error": true}),
            json!({"name": "t"}),
        ),
        (
            "tool.post",
            "len(payload.get(\"content\", \"\")) > 4000",
            large,
            small,
        ),
    ] {
        // Written in the file as the documentation writes them: plain, on one line.
        let project = Project::with(&[(
            "gate",
            &hook_file(event, &format!("priority: 1\nwhen: {line}"), COUNT),
        )]);
        assert_eq!(project.problems(), Vec::<String>::new(), "{line}");
        let runtime = project.runtime();
        assert_eq!(runtime.hooks()[0].when(), Some(line));
        for (payload, matches) in [(yes, true), (no, false)] {
            let outcome = runtime.dispatch(event, payload).unwrap();
            assert_eq!(outcome.trace[0].matched, matches, "{line}");
            assert!(outcome.warnings.is_empty(), "{:?}", outcome.warnings);
        }
    }
}

#[test]
fn a_when_that_breaks_out_of_its_expression_does_not_load() {
    for expression in [
        "True)\nx = (1",
        "True) or (False",
        "True)(1",
        "1, 2",
        "x=1",
        "*[1]",
        "**{}",
        "1)\nbool(1",
        "x = 1",
        "pass",
        "True;",
        "payload[",
        "return True",
        "def f(): pass",
        "True\nFalse",
    ] {
        let errors = project("tool.pre", expression).errors();
        assert_eq!(errors.len(), 1, "{expression}: {errors:?}");
    }
}
