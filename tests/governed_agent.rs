//! The example policies, held to what they promise. The cases are data: see
//! `governed_agent/*.json` for events in a row and `governed_agent/spellings/`
//! for the many ways to write the same thing.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use hookbox::capability::metrics::Number;
use hookbox::{Outcome, Ruling, Runtime};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

/// Where nothing is counted or remembered, tests share one runtime.
static GOVERNED: LazyLock<Runtime> = LazyLock::new(|| load(&example("governed-agent")));

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("examples")
        .join(name)
}

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/governed_agent")
        .join(name)
}

fn load(project: &Path) -> Runtime {
    match Runtime::builder(project).strict(true).load() {
        Ok(runtime) => runtime,
        Err(error) => panic!("{}: {error}", project.display()),
    }
}

fn read<T: DeserializeOwned>(path: &Path) -> T {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Dispatches; no example may fail or warn on the way to its decision.
fn dispatch(runtime: &Runtime, event: &str, payload: &Value) -> Outcome {
    let outcome = runtime
        .dispatch(event, payload.clone())
        .unwrap_or_else(|error| panic!("{event} {payload}: {error}"));
    let errors: Vec<_> = outcome
        .trace
        .iter()
        .filter_map(|row| row.error.as_ref())
        .collect();
    assert!(errors.is_empty(), "{event} {payload}: {errors:?}");
    assert!(
        outcome.warnings.is_empty(),
        "{event} {payload}: {:?}",
        outcome.warnings
    );
    outcome
}

fn tool_pre(runtime: &Runtime, name: &str, args: Value) -> Outcome {
    dispatch(runtime, "tool.pre", &json!({"name": name, "args": args}))
}

fn run_command(runtime: &Runtime, command: &str) -> Outcome {
    tool_pre(runtime, "run_command", json!({"command": command}))
}

fn metric(runtime: &Runtime, name: &str) -> i64 {
    match runtime.metrics().get(name) {
        None => 0,
        Some(Number::Integer(value)) => value,
        Some(Number::Real(value)) => panic!("{name} is {value}"),
    }
}

// Events in a row.

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    project: String,
    steps: Vec<Step>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    event: String,
    payload: Value,
    expect: Expect,
}

/// What is said must hold; what is not said may be anything.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Expect {
    decision: Option<Value>,
    reason: Option<Value>,
    hook: Option<Value>,
    payload: Option<Value>,
    #[serde(default)]
    metrics: Map<String, Value>,
    #[serde(default)]
    cache: Map<String, Value>,
    #[serde(default)]
    logs: Vec<String>,
}

impl Expect {
    /// Lists what is not as expected.
    fn differences(&self, runtime: &Runtime, outcome: &Outcome) -> Vec<String> {
        let mut found = Vec::new();
        let mut compare = |what: &str, actual: Value, expected: Option<&Value>| {
            if let Some(expected) = expected
                && !holds(&actual, expected)
            {
                found.push(format!("{what} is {actual}, not {expected}"));
            }
        };
        compare("decision", json!(outcome.decision), self.decision.as_ref());
        compare("reason", json!(outcome.reason), self.reason.as_ref());
        compare("hook", json!(outcome.hook), self.hook.as_ref());
        compare("payload", json!(outcome.payload), self.payload.as_ref());
        for (name, value) in &self.metrics {
            compare(name, json!(outcome.metrics.get(name)), Some(value));
        }
        for (key, value) in &self.cache {
            let cache = runtime.cache("run").unwrap();
            compare(key, json!(cache.get(key).unwrap()), Some(value));
        }
        for line in &self.logs {
            if !outcome.logs.iter().any(|log| log.message == *line) {
                let lines: Vec<&str> = outcome.logs.iter().map(|log| &*log.message).collect();
                found.push(format!("no log line {line:?} in {lines:#?}"));
            }
        }
        found
    }
}

/// Whether a value is at least what is expected: an object may have more keys,
/// `{"contains": "…"}` stands for a text, `length` and indices for a list.
fn holds(actual: &Value, expected: &Value) -> bool {
    match (actual, expected) {
        (Value::Object(actual), Value::Object(expected)) => expected
            .iter()
            .all(|(key, value)| holds(actual.get(key).unwrap_or(&Value::Null), value)),
        (Value::Array(actual), Value::Array(expected)) => {
            actual.len() == expected.len()
                && actual
                    .iter()
                    .zip(expected)
                    .all(|(actual, expected)| holds(actual, expected))
        }
        (Value::Array(actual), Value::Object(expected)) => {
            expected
                .iter()
                .all(|(key, value)| match key.parse::<usize>() {
                    Ok(index) => actual.get(index).is_some_and(|actual| holds(actual, value)),
                    Err(_) => key == "length" && *value == json!(actual.len()),
                })
        }
        (Value::String(actual), Value::Object(expected)) => {
            matches!(expected.get("contains"), Some(Value::String(part)) if actual.contains(part.as_str()))
        }
        _ => actual == expected,
    }
}

/// Replaces `{"$repeat": [value, times]}` by a long text or a long list.
fn expand(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(expand).collect(),
        Value::Object(map) => match map
            .get("$repeat")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
        {
            Some([part, times]) => repeat(part, times),
            _ => map
                .iter()
                .map(|(key, value)| (key.clone(), expand(value)))
                .collect::<Map<_, _>>()
                .into(),
        },
        _ => value.clone(),
    }
}

fn repeat(part: &Value, times: &Value) -> Value {
    let times = times
        .as_u64()
        .and_then(|times| usize::try_from(times).ok())
        .expect("a number");
    match part {
        Value::String(text) => text.repeat(times).into(),
        Value::Array(items) => items
            .iter()
            .cycle()
            .take(items.len() * times)
            .cloned()
            .collect(),
        _ => panic!("only texts and lists can be repeated, not {part}"),
    }
}

/// Runs every case file of a project, each in a runtime of its own, and returns
/// the hooks that were called.
fn run_cases(project: &str) -> BTreeSet<String> {
    let mut called = BTreeSet::new();
    let mut paths: Vec<PathBuf> = fs::read_dir(data(""))
        .expect("the folder of cases")
        .map(|entry| entry.expect("an entry").path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "json"))
        .collect();
    paths.sort();
    let mut wrong = String::new();
    for path in paths {
        let case: Case = read(&path);
        if case.project != project {
            continue;
        }
        let runtime = load(&example(project));
        for (index, step) in case.steps.iter().enumerate() {
            let outcome = dispatch(&runtime, &step.event, &expand(&step.payload));
            called.extend(outcome.stages.dispatch.iter().map(ToString::to_string));
            for difference in step.expect.differences(&runtime, &outcome) {
                let file = path.file_name().unwrap_or_default().display();
                let _ = writeln!(wrong, "{file}, step {index}, {}: {difference}", step.event);
            }
        }
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    called
}

fn hook_names(runtime: &Runtime) -> BTreeSet<String> {
    runtime
        .hooks()
        .iter()
        .map(|hook| hook.name.to_string())
        .collect()
}

#[test]
fn the_governed_agent_holds_its_cases_and_no_hook_is_left_out() {
    assert_eq!(run_cases("governed-agent"), hook_names(&GOVERNED));
}

#[test]
fn ah_104_every_typical_use_has_a_hook_that_does_it() {
    let hooks = hook_names(&load(&example("typical-uses")));
    assert_eq!(run_cases("typical-uses"), hooks);
}

#[test]
fn ah_087_a_hook_can_refuse_hooks_without_a_priority() {
    let runtime = load(&example("typical-uses"));
    let hooks = example("governed-agent").join(".harness/hooks");
    for entry in fs::read_dir(hooks).expect("the seven hooks") {
        let path = entry.expect("an entry").path();
        let source = fs::read_to_string(&path).expect("a hook");
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        let register = |source: &str| {
            dispatch(
                &runtime,
                "meta.hook_register",
                &json!({"name": name, "source": source}),
            )
        };
        assert_eq!(register(&source).decision, Ruling::Allow, "{name}");
        let careless: String = source
            .split_inclusive('\n')
            .filter(|line| !line.starts_with("priority:"))
            .collect();
        let outcome = register(&careless);
        assert_eq!(outcome.decision, Ruling::Block, "{name}");
        assert_eq!(
            outcome.reason,
            Some(format!("hook '{name}' not registered: it has no priority"))
        );
    }
}

// The seven.

#[test]
fn ah_030_the_audit_sees_calls_that_are_blocked_later() {
    let runtime = load(&example("governed-agent"));
    let outcome = run_command(&runtime, "rm -rf /");
    assert_eq!(outcome.hook.as_deref(), Some("command_guard"));
    assert_eq!(metric(&runtime, "audit.tool.pre"), 1);
    assert_eq!(&*outcome.logs[0].hook, "audit_tool_pre");
}

#[test]
fn ah_097_command_guard_gives_the_exact_reason_and_counts() {
    let runtime = load(&example("governed-agent"));
    for (count, pattern) in (1..).zip(["rm -rf /", ":(){ :|:& };:", "mkfs", "dd if=", "shutdown"]) {
        let outcome = run_command(&runtime, &format!("cd x; {pattern}"));
        let reason = format!("dangerous command pattern blocked: '{pattern}'");
        assert_eq!(outcome.reason, Some(reason));
        assert_eq!(metric(&runtime, "audit.policy.deny"), count);
    }
}

#[derive(Deserialize)]
struct Commands {
    blocked: Map<String, Value>,
    allowed: Vec<String>,
    slips_through: Vec<String>,
    blocked_needlessly: Vec<String>,
}

#[test]
fn ah_097_command_guard_knows_the_other_spellings() {
    let commands: Commands = read(&data("spellings/commands.json"));
    let mut wrong = String::new();
    let mut check = |command: &str, expected: Option<&str>| {
        let outcome = run_command(&GOVERNED, command);
        let reason =
            expected.map(|pattern| format!("dangerous command pattern blocked: '{pattern}'"));
        let blocked = outcome
            .reason
            .filter(|_| outcome.hook.as_deref() == Some("command_guard"));
        if blocked != reason {
            let _ = writeln!(wrong, "{command:?}: {blocked:?}, not {reason:?}");
        }
    };
    for (pattern, spellings) in &commands.blocked {
        for spelling in spellings.as_array().expect("a list") {
            check(spelling.as_str().expect("a command"), Some(pattern));
        }
    }
    for command in &commands.allowed {
        check(command, None);
    }
    // Its own file admits these; a guard that gets better should say so there.
    for command in &commands.slips_through {
        check(command, None);
    }
    assert!(wrong.is_empty(), "\n{wrong}");
    for command in &commands.blocked_needlessly {
        assert_eq!(
            run_command(&GOVERNED, command).decision,
            Ruling::Block,
            "{command}"
        );
    }
}

#[test]
fn ah_098_the_counters_equal_the_dispatches() {
    let runtime = load(&example("governed-agent"));
    for index in 0..5 {
        run_command(&runtime, if index % 2 == 0 { "ls" } else { "reboot" });
        let result = json!({"name": "run_command", "is_error": index == 3, "content": "x"});
        let outcome = dispatch(&runtime, "tool.post", &result);
        assert_eq!(outcome.logs.len(), 1);
    }
    assert_eq!(metric(&runtime, "audit.tool.pre"), 5);
    assert_eq!(metric(&runtime, "audit.tool.post"), 5);
    assert_eq!(metric(&runtime, "audit.tool.error"), 1);
}

#[derive(Deserialize)]
struct Paths {
    blocked: Map<String, Value>,
    allowed: Vec<String>,
    carriers: Vec<Value>,
}

/// Puts a path into a tool call in place of `"PATH"`.
fn carry(carrier: &Value, path: &str) -> Value {
    match carrier {
        Value::String(text) if text == "PATH" => path.into(),
        Value::Array(items) => items.iter().map(|item| carry(item, path)).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| (key.clone(), carry(value, path)))
            .collect::<Map<_, _>>()
            .into(),
        _ => carrier.clone(),
    }
}

#[test]
fn ah_099_path_guard_keeps_every_path_inside() {
    let paths: Paths = read(&data("spellings/paths.json"));
    let mut wrong = String::new();
    let mut check = |call: &Value, expected: Option<&str>| {
        let outcome = dispatch(&GOVERNED, "tool.pre", call);
        let blocked = outcome
            .reason
            .filter(|_| outcome.hook.as_deref() == Some("path_guard"));
        if blocked
            .as_deref()
            .map(|reason| expected.is_some_and(|start| reason.starts_with(start)))
            != expected.map(|_| true)
        {
            let _ = writeln!(wrong, "{call}: {blocked:?}, not {expected:?}");
        }
    };
    for (reason, spellings) in &paths.blocked {
        for path in spellings.as_array().expect("a list") {
            check(
                &json!({"name": "read_file", "args": {"path": path}}),
                Some(reason),
            );
        }
    }
    for path in &paths.allowed {
        check(&json!({"name": "read_file", "args": {"path": path}}), None);
    }
    for carrier in &paths.carriers {
        check(&carry(carrier, "../x"), Some("path traversal not allowed"));
        check(
            &carry(carrier, "/etc/passwd"),
            Some("absolute paths not allowed"),
        );
        check(&carry(carrier, "a/b"), None);
    }
    assert!(wrong.is_empty(), "\n{wrong}");
}

#[test]
fn ah_100_raw_exec_is_rejected_with_guidance() {
    for name in ["exec", "exec.run", "exec_run", "Exec", "mcp__host__exec"] {
        let outcome = tool_pre(&GOVERNED, name, json!({"command": "ls"}));
        let reason = format!("raw '{name}' is disabled: use the named tool 'run_command' instead");
        assert_eq!(outcome.reason, Some(reason));
        assert_eq!(outcome.hook.as_deref(), Some("prefer_named_tools"));
    }
    assert_eq!(run_command(&GOVERNED, "ls").decision, Ruling::Allow);
}

#[derive(Deserialize)]
struct Calls {
    blocked: Vec<Value>,
    allowed: Vec<Value>,
}

#[test]
fn ah_101_no_tool_edits_the_harness() {
    let calls: Calls = read(&data("spellings/harness.json"));
    for call in &calls.blocked {
        let outcome = dispatch(&GOVERNED, "tool.pre", call);
        assert_eq!(outcome.hook.as_deref(), Some("meta_tool_guard"), "{call}");
    }
    for call in &calls.allowed {
        let outcome = dispatch(&GOVERNED, "tool.pre", call);
        assert_eq!(
            outcome.decision,
            Ruling::Allow,
            "{call}: {:?}",
            outcome.reason
        );
    }
}

#[test]
fn ah_102_a_turn_over_the_limit_is_trimmed_to_it() {
    let long = json!({"text": "é".repeat(30_000), "tool_calls": [{"name": "x"}]});
    let outcome = dispatch(&GOVERNED, "turn.end", &long);
    assert_eq!(outcome.decision, Ruling::Modify);
    let payload = outcome.payload.value();
    let text = payload["text"].as_str().expect("a text");
    assert_eq!(text.chars().count(), 20_000);
    assert!(text.ends_with("[cut: this turn had 30000 characters, the most is 20000]"));
    assert_eq!(payload["tool_calls"], long["tool_calls"]);
}

// The stack.

/// One line for each hook of the chain: its priority, its name, what it did.
fn trace(outcome: &Outcome) -> String {
    let mut text = String::new();
    for row in &outcome.trace {
        let deed = match (row.matched, row.decision) {
            (false, _) => "does not match".to_owned(),
            (true, None) => "not reached".to_owned(),
            (true, Some(ruling)) => format!("{ruling:?}").to_lowercase(),
        };
        let _ = writeln!(text, "{:>2} {}: {deed}", row.priority, row.hook);
    }
    text
}

#[test]
fn ah_103_the_stack_runs_in_the_listed_order() {
    insta::assert_snapshot!(trace(&run_command(&GOVERNED, "ls")), @r"
     1 audit_tool_pre: allow
    10 command_guard: does not match
    10 path_guard: does not match
    20 prefer_named_tools: does not match
    30 meta_tool_guard: does not match
    ");
    insta::assert_snapshot!(trace(&run_command(&GOVERNED, "rm -rf /")), @r"
     1 audit_tool_pre: allow
    10 command_guard: block
    10 path_guard: does not match
    20 prefer_named_tools: does not match
    30 meta_tool_guard: does not match
    ");
    insta::assert_snapshot!(trace(&tool_pre(&GOVERNED, "exec.run", json!({"command": "ls"}))), @r"
     1 audit_tool_pre: allow
    10 command_guard: does not match
    10 path_guard: does not match
    20 prefer_named_tools: block
    30 meta_tool_guard: does not match
    ");
    let write = json!({"path": ".harness/hooks/command_guard.md", "content": ""});
    insta::assert_snapshot!(trace(&tool_pre(&GOVERNED, "write_file", write)), @r"
     1 audit_tool_pre: allow
    10 command_guard: does not match
    10 path_guard: allow
    20 prefer_named_tools: does not match
    30 meta_tool_guard: block
    ");
    let result = json!({"name": "run_command", "content": "x"});
    insta::assert_snapshot!(trace(&dispatch(&GOVERNED, "tool.post", &result)), @" 1 audit_tool_post: allow");
    let turn = json!({"text": "x".repeat(20_001)});
    insta::assert_snapshot!(trace(&dispatch(&GOVERNED, "turn.end", &turn)), @"40 completion_window_guard: modify");
}

/// What each of the seven hooks does, seen from outside.
fn effects(runtime: &Runtime) -> BTreeSet<&'static str> {
    let blocked = |name: &str, args: Value| tool_pre(runtime, name, args).decision == Ruling::Block;
    let turn = json!({"text": "x".repeat(20_001)});
    let result = json!({"name": "run_command", "content": "x"});
    let seen = [
        (
            "command_guard",
            blocked("run_command", json!({"command": "reboot"})),
        ),
        ("path_guard", blocked("read_file", json!({"path": "../x"}))),
        (
            "prefer_named_tools",
            blocked("exec.run", json!({"command": "ls"})),
        ),
        (
            "meta_tool_guard",
            blocked("write_file", json!({"path": ".harness/x"})),
        ),
        (
            "completion_window_guard",
            dispatch(runtime, "turn.end", &turn).decision == Ruling::Modify,
        ),
        ("audit_tool_pre", metric(runtime, "audit.tool.pre") == 4),
        ("audit_tool_post", {
            dispatch(runtime, "tool.post", &result);
            metric(runtime, "audit.tool.post") == 1
        }),
    ];
    seen.into_iter()
        .filter_map(|(hook, there)| there.then_some(hook))
        .collect()
}

#[test]
fn ah_103_deleting_a_file_deletes_its_effect_and_no_other() {
    let all = effects(&load(&example("governed-agent")));
    assert_eq!(all.len(), 7);
    for &gone in &all {
        let project = tempfile::tempdir().expect("a temporary directory");
        let hooks = project.path().join(".harness/hooks");
        fs::create_dir_all(&hooks).expect("a folder");
        for entry in
            fs::read_dir(example("governed-agent").join(".harness/hooks")).expect("the hooks")
        {
            let path = entry.expect("an entry").path();
            let name = path.file_name().unwrap_or_default();
            if path.file_stem().unwrap_or_default() != gone {
                fs::copy(&path, hooks.join(name)).expect("a copy");
            }
        }
        let left: BTreeSet<_> = all.iter().copied().filter(|&hook| hook != gone).collect();
        assert_eq!(effects(&load(project.path())), left, "without {gone}");
    }
}
