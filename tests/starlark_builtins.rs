//! What a script can use, and what it cannot. The tables in `tests/starlark` hold
//! an expression a line, with its value as JSON or with its error.

mod support;

use std::path::Path;

use hookbox::Ruling::{Allow, Block, Modify};
use hookbox::failure::Cause;
use hookbox::{Outcome, Runtime};
use serde_json::{Value, json};
use support::{Project, command, hook_file};

/// A script whose `handle` has this body.
fn handle(body: &str) -> String {
    let body: String = body.lines().map(|line| format!("  {line}\n")).collect();
    format!("def handle(event, payload):\n{body}")
}

/// Dispatches one `tool.pre` to a hook whose `handle` has this body.
fn decide(body: &str) -> Outcome {
    Project::script(&handle(body)).dispatch("tool.pre", command("ls"))
}

/// What the built-ins that need a grant need.
const GRANTED: &str = "priority: 1\ngrant:\n  http: [\"GET https://example.com/*\"]\n  env: [CI]\n  read: [\".\"]\n  tools: [t]\n  hooks: read";

/// A project with a hook for each script, on the event `custom.c<index>`.
fn many(scripts: impl Iterator<Item = String>) -> Runtime {
    let project = Project::new();
    for (index, script) in scripts.enumerate() {
        project.hook(
            &format!("c{index}"),
            &hook_file(&format!("custom.c{index}"), GRANTED, &script),
        );
    }
    Runtime::load(project.path()).unwrap_or_else(|error| panic!("{error}"))
}

/// The error of a hook without the place it happened.
fn without_place(error: &str) -> &str {
    error.splitn(5, ':').last().unwrap().trim_start()
}

/// Evaluates each expression of a table and compares all of them.
fn table(name: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/starlark/{name}.txt"));
    let text = std::fs::read_to_string(path).unwrap();
    let cases: Vec<(&str, &str)> = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(|line| {
            line.rsplit_once(" => ")
                .unwrap_or_else(|| panic!("{name}: {line}"))
        })
        .collect();
    assert!(cases.len() > 10, "{name} has {} cases", cases.len());
    let script = |expression: &str| handle(&format!("return modify({{'value': {expression}}})"));
    let runtime = many(cases.iter().map(|(expression, _)| script(expression)));
    let mut wrong = Vec::new();
    for (index, (expression, wanted)) in cases.into_iter().enumerate() {
        let outcome = runtime
            .dispatch(&format!("custom.c{index}"), json!({}))
            .unwrap();
        let got = match &outcome.trace[0].error {
            Some(error) => format!("error: {}", without_place(error)),
            None => outcome.payload.value()["value"].to_string(),
        };
        if got != wanted {
            wrong.push(format!("{expression}\n  wanted {wanted}\n  got    {got}"));
        }
    }
    assert!(wrong.is_empty(), "{name}:\n{}", wrong.join("\n"));
}

#[test]
fn ah_081_numbers() {
    table("numbers");
}

#[test]
fn ah_083_text() {
    table("text");
}

#[test]
fn ah_081_json() {
    table("json");
}

#[test]
fn ah_082_re() {
    table("re");
}

#[test]
fn ah_084_types_and_decisions() {
    table("types");
}

#[test]
fn ah_081_whatever_the_payload_holds_comes_back_the_same() {
    let deep = |depth: usize| (0..depth).fold(json!(1), |inner, _| json!([inner]));
    for text in [
        "{}",
        "[]",
        "\"\"",
        "0",
        "null",
        "false",
        "{\"\":{\"\":[]}}",
        "{\"z\":1,\"a\":2,\"Z\":3,\"é\":4}",
        "1606938044258990275541962092341162602522202993782792835301376",
        "[1.0,0.1,-0.0,123456789.125,2.2250738585072014e-308]",
        "\"e\u{301} é 🦀 \u{200d} \\u0001 \\\\ \\\" \u{2028}\"",
        &deep(100).to_string(),
        &deep(126).to_string(),
    ] {
        let value: Value = serde_json::from_str(text).unwrap();
        let project = Project::with(&[(
            "probe",
            &hook_file(
                "custom.x",
                "priority: 1",
                &handle("return modify(json.decode(json.encode(payload)))"),
            ),
        )]);
        let outcome = project.dispatch("custom.x", value.clone());
        assert_eq!(outcome.decision, Modify, "{:?}", outcome.warnings);
        assert_eq!(outcome.payload.text(), value.to_string());
    }
}

#[test]
fn ah_081_a_value_that_holds_itself_or_is_too_deep_is_refused() {
    for body in [
        "x = []\nx.append(x)\nreturn modify(x)",
        "x = {}\nx['x'] = x\nreturn modify(x)",
        "x = 1\nfor _ in range(129):\n  x = [x]\nreturn modify(x)",
    ] {
        let outcome = decide(body);
        let reason = outcome.reason.unwrap();
        assert!(
            reason
                .ends_with("modify: payload is nested deeper than 128 levels, or contains itself"),
            "{reason}"
        );
    }
}

#[test]
fn ah_067_every_call_starts_from_nothing() {
    let script = "SEEN = [0]\nSEEN.append(len(SEEN))\n\ndef handle(event, payload):\n  local = []\n  local.append(1)\n  log(str(len(SEEN)) + ' ' + str(len(local)))\n  return allow()";
    let runtime = Project::script(script).runtime();
    for _ in 0..3 {
        let outcome = runtime.dispatch("tool.pre", command("ls")).unwrap();
        assert_eq!(outcome.logs[0].message, "2 1");
    }
}

#[test]
fn ah_067_ah_072_globals_are_frozen_when_handle_runs() {
    for (script, wanted) in [
        (
            "SEEN = []\n\ndef handle(event, payload):\n  SEEN.append(1)\n  return allow()",
            "Immutable",
        ),
        (
            "SEEN = {}\n\ndef handle(event, payload):\n  SEEN['x'] = 1\n  return allow()",
            "Immutable",
        ),
        (
            "N = 0\n\ndef handle(event, payload):\n  N += 1\n  return allow()",
            "Local variable `N` referenced before assignment",
        ),
    ] {
        let runtime = Project::script(script).runtime();
        // Twice, so that a first call that did change something would show.
        for _ in 0..2 {
            let outcome = runtime.dispatch("tool.pre", command("ls")).unwrap();
            let reason = outcome.reason.unwrap();
            assert!(reason.contains(wanted), "{wanted:?} is not in {reason:?}");
            assert!(reason.contains("probe.md:8:"), "{reason}");
        }
    }
}

#[test]
fn ah_072_there_is_nothing_to_load() {
    for script in [
        "load('x.star', 'y')\ndef handle(event, payload):\n  return allow()",
        "load('//lib:x.bzl', z = 'y')",
    ] {
        let errors = Project::script(script).errors();
        assert_eq!(
            errors,
            [".harness/hooks/probe.md:5:3: `load` is not allowed in this dialect"]
        );
    }
}

#[test]
fn ah_082_a_pattern_is_bounded_by_the_hook_s_fuel() {
    let project = Project::with(&[(
        "probe",
        &hook_file(
            "tool.pre",
            "priority: 1\nlimits: { fuel: 3M }",
            &handle(
                "for i in range(100000):\n  re.search('(x+x+)+y', 'x' * 1000 + str(i))\nreturn allow()",
            ),
        ),
    )]);
    let outcome = project.dispatch("tool.pre", command("ls"));
    assert_eq!(
        (outcome.decision, outcome.trace[0].cause),
        (Block, Some(Cause::OutOfFuel))
    );
}

#[test]
fn ah_085_neither_exec_nor_fs_can_be_reached() {
    for name in ["exec", "fs"] {
        for body in [
            format!("{name}.run('ls')\nreturn allow()"),
            format!("x = {name}\nreturn allow()"),
            format!("return allow() if {name}.write else allow()"),
        ] {
            let outcome = decide(&body);
            assert_eq!(outcome.decision, Block);
            let reason = outcome.reason.unwrap();
            assert!(reason.contains(&format!("`{name}` not found")), "{reason}");
        }
        let project = Project::with(&[(
            "probe",
            &hook_file(
                "tool.pre",
                &format!("priority: 1\nwhen: {name}.run('ls') == None or True"),
                &handle("return block('ran')"),
            ),
        )]);
        let outcome = project.dispatch("tool.pre", command("ls"));
        assert_eq!(
            (
                outcome.decision,
                outcome.trace[0].matched,
                outcome.warnings.len()
            ),
            (Allow, false, 1)
        );
    }
}

#[test]
fn ah_087_a_hook_can_rule_on_hooks() {
    let script = "def handle(event, payload):\n  head = payload['source'].split('---')[1]\n  if re.search('(?m)^priority: *-?[0-9]+ *$', head) == None:\n    return block(payload['name'] + ': say priority')\n  return allow()";
    let runtime = Project::with(&[(
        "meta_policy",
        &hook_file("meta.hook_register", "priority: 30", script),
    )])
    .runtime();
    let register = |source: &str| {
        runtime
            .dispatch(
                "meta.hook_register",
                json!({"name": "new", "source": source}),
            )
            .unwrap()
    };
    assert_eq!(
        register(&hook_file("tool.pre", "priority: 10", "x = 1")).decision,
        Allow
    );
    let outcome = register(&hook_file("tool.pre", "when: 'True'", "x = 1"));
    assert_eq!(
        (outcome.decision, outcome.reason.as_deref()),
        (Block, Some("new: say priority"))
    );
}

/// Names a script might try: the standard's, those of other Starlarks and of
/// Python, and those of hook systems.
const NAMES: &str = "None True False abs all any bool bytes chr dict dir enumerate fail float getattr hasattr hash int len list max min ord print range repr reversed set sorted str tuple type zip \
    struct record field enum map filter partial debug breakpoint typing call_stack eval_type pprint pstr prepr rust_loc json proto isinstance set_assert \
    next open eval compile input globals locals vars object iter super id setattr delattr callable sum pow round divmod slice __import__ exit quit help \
    allow block modify ask context reminder delegate log metrics cache http re string events emit tools files hooks \
    exec fs clock time random uuid sleep env os ctx sys socket subprocess math url hash_lib base64 crypto template validate meta call_tool register_tool register_hook";

#[test]
fn ah_069_ah_084_ah_085_ah_088_the_inventory_of_names() {
    let names: Vec<&str> = NAMES.split_whitespace().collect();
    let runtime = many(
        names
            .iter()
            .map(|name| handle(&format!("return modify({{'members': dir({name})}})"))),
    );
    let (mut there, mut missing) = (Vec::new(), Vec::new());
    for (index, name) in names.iter().enumerate() {
        let outcome = runtime
            .dispatch(&format!("custom.c{index}"), json!({}))
            .unwrap();
        match &outcome.trace[0].error {
            Some(error) => {
                assert!(
                    error.contains(&format!("Variable `{name}` not found")),
                    "{error}"
                );
                missing.push(*name);
            }
            None => there.push((*name, outcome.payload.value()["members"].clone())),
        }
    }
    for forbidden in [
        "exec",
        "fs",
        "print",
        "isinstance",
        "next",
        "open",
        "eval",
        "time",
        "os",
        "sleep",
    ] {
        assert!(missing.contains(&forbidden), "{forbidden} exists");
    }
    let groups = [
        "log", "metrics", "cache", "http", "json", "re", "string", "events", "tools", "files",
        "hooks", "clock", "random",
    ];
    let mut shown = String::new();
    for (name, members) in &there {
        shown += name;
        if groups.contains(name) {
            for member in members.as_array().unwrap() {
                shown += &format!("\n  {name}.{}", member.as_str().unwrap());
            }
        }
        shown.push('\n');
    }
    shown += &format!("\nnot there: {}\n", missing.join(" "));
    insta::assert_snapshot!("inventory", shown);
}

#[test]
fn ah_088_the_dialect_is_the_tools_own_and_python_s_extras_are_not_in_it() {
    for (body, sound) in [
        (
            "return allow() if [x for x in range(3) if x] else allow()",
            true,
        ),
        ("a, b = (1, 2)\nreturn allow()", true),
        ("return (lambda x: x)(allow())", true),
        ("for x in []:\n  pass\nreturn allow()", true),
        (
            "def inner(*args, key = 1, **kwargs):\n  return allow()\nreturn inner(1, z = 2)",
            true,
        ),
        ("x = 'é'\nreturn block(f'{x}')", true),
        ("while True:\n  pass", false),
        ("class A:\n  pass", false),
        ("try:\n  pass\nexcept:\n  pass", false),
        ("import os", false),
        ("global x", false),
        ("return 2 ** 3", false),
        ("yield 1", false),
        ("with x as y:\n  pass", false),
        ("raise 'x'", false),
        ("del payload['x']", false),
    ] {
        assert_eq!(
            Project::script(&handle(body)).errors().is_empty(),
            sound,
            "{body}"
        );
    }
}
