//! Scripts and files made to do harm. Each attack is a test of its own; each ends
//! in a clear answer, within its limits.

mod support;

use hookbox::Outcome;
use hookbox::decision::Ruling;
use hookbox::failure::Cause;
use serde_json::{Value, json};
use support::{Project, command, hook_file};

/// Runs the body of a `handle` on a gate.
fn attack(body: &str) -> Outcome {
    attack_with("", body)
}

/// The same with more in the frontmatter.
fn attack_with(more: &str, body: &str) -> Outcome {
    let body: String = body.lines().map(|line| format!("    {line}\n")).collect();
    let script = format!("def handle(event, payload):\n{body}    return allow()");
    let file = hook_file("tool.pre", &format!("priority: 1\n{more}"), &script);
    Project::with(&[("probe", &file)]).dispatch("tool.pre", command("ls"))
}

/// An attack that fails closes the gate, and says how it failed.
fn fails_with(cause: Cause, body: &str) -> Outcome {
    let outcome = attack(body);
    let row = &outcome.trace[0];
    assert_eq!(row.cause, Some(cause), "{:?}", row.error);
    assert_eq!(outcome.decision, Ruling::Block);
    outcome
}

#[test]
fn cx_006_a_script_that_loops_for_ever() {
    fails_with(Cause::OutOfFuel, "for i in range(2000000000):\n    pass");
}

#[test]
fn cx_006_loops_within_loops() {
    fails_with(
        Cause::OutOfFuel,
        "x = 0\nfor i in range(100000):\n    for j in range(100000):\n        x += 1",
    );
}

#[test]
fn a_script_that_allocates_for_ever() {
    fails_with(
        Cause::OutOfMemory,
        "x = []\nfor i in range(1000000000):\n    x.append((\"y\" * 1000 + str(i)) * 100)",
    );
}

#[test]
fn a_script_that_doubles_a_string() {
    fails_with(
        Cause::OutOfMemory,
        "x = \"x\"\nfor i in range(60):\n    x += x",
    );
}

#[test]
fn a_script_that_doubles_a_list() {
    fails_with(
        Cause::OutOfMemory,
        "x = [1]\nfor i in range(60):\n    x = x + x",
    );
}

#[test]
fn one_built_in_that_does_the_work_of_millions() {
    for body in [
        "x = \"x\" * 1000000000",
        "x = [0] * 100000000",
        "x = (1, 2, 3) * 300000000",
        "x = list(range(1000000000))",
        "x = sorted(range(20000000))",
        "x = \"ab\" * 10000000\ny = x.replace(\"a\", x)",
        "x = 3\nfor i in range(60):\n    x = x * x",
        "x = 1 << 500000000",
    ] {
        let outcome = attack(body);
        assert_eq!(outcome.decision, Ruling::Block, "{body}: {outcome:?}");
    }
}

#[test]
fn searching_large_strings_again_and_again() {
    fails_with(
        Cause::OutOfFuel,
        "x = \"a\" * 4000000 + \"b\"\nfor i in range(100000):\n    y = \"ab\" * 100 in x",
    );
}

#[test]
fn a_script_that_recurses_for_ever() {
    let script = "def f(n):\n    return f(n + 1)\n\ndef handle(event, payload):\n    return f(0)";
    let outcome = Project::script(script).dispatch("tool.pre", command("ls"));
    assert_eq!(outcome.decision, Ruling::Block);
    let row = &outcome.trace[0];
    assert!(
        matches!(row.cause, Some(Cause::HookError | Cause::Stack)),
        "{:?}",
        row.error
    );
}

#[test]
fn a_script_that_returns_a_gigabyte() {
    let outcome = attack("return block(\"x\" * 1000000000)");
    assert_eq!(outcome.decision, Ruling::Block);
    assert!(outcome.reason.unwrap().len() < 1_000);
}

#[test]
fn a_script_that_returns_more_than_an_answer_may_have() {
    let outcome = fails_with(Cause::BadAnswer, "return block((\"x\" * 1000) * 5000)");
    assert!(outcome.reason.unwrap().len() < 1_000);
    fails_with(
        Cause::BadAnswer,
        "return modify({\"args\": {\"command\": (\"x\" * 1000) * 5000}})",
    );
}

#[test]
fn a_script_that_logs_for_ever() {
    let outcome = attack("for i in range(1000000000):\n    log(\"line\")");
    assert!(
        matches!(
            outcome.trace[0].cause,
            Some(Cause::HostCalls | Cause::OutOfFuel)
        ),
        "{:?}",
        outcome.trace[0].error
    );
    assert_eq!(outcome.logs.len(), 1_000);
}

#[test]
fn a_script_that_makes_a_million_metrics() {
    let outcome = attack("for i in range(1000000):\n    metrics.incr(\"m\" + str(i))");
    assert_eq!(outcome.decision, Ruling::Block);
    assert_eq!(outcome.metrics.len(), 1_000);
    assert!(outcome.warnings.len() <= 21, "{}", outcome.warnings.len());
}

#[test]
fn a_script_that_fills_the_cache() {
    let outcome = attack_with(
        "limits: { fuel: 20g }",
        "x = (\"x\" * 1000) * 100\nfor i in range(1000000):\n    cache.set(\"k\" + str(i), x)",
    );
    assert_eq!(outcome.trace[0].cause, Some(Cause::HookError));
    let reason = outcome.reason.unwrap();
    assert!(
        reason.contains("the cache namespace \"hook/probe\" is full"),
        "{reason}"
    );
}

#[test]
fn source_nested_very_deep_is_refused_when_it_loads() {
    for (open, close) in [("(", ")"), ("[", "]"), ("-", ""), ("not ", "")] {
        let nested = open.repeat(100_000) + "1" + &close.repeat(100_000);
        let errors = Project::script(&format!("x = {nested}")).errors();
        assert_eq!(errors.len(), 1, "{open}");
        assert!(
            errors[0].starts_with(".harness/hooks/probe.md:5:3: "),
            "{}",
            &errors[0][..200.min(errors[0].len())]
        );
    }
}

#[test]
fn a_when_nested_very_deep_is_refused_when_it_loads() {
    let when = "(".repeat(50_000) + "1" + &")".repeat(50_000);
    let errors = Project::with(&[(
        "probe",
        &hook_file(
            "tool.pre",
            &format!("when: {when}"),
            "def handle(e, p):\n    return allow()",
        ),
    )])
    .errors();
    assert_eq!(errors.len(), 1);
}

#[test]
fn a_pattern_that_makes_other_engines_hang_ends_at_once() {
    let outcome = attack("x = re.match(\"(a+)+$\", \"a\" * 10000 + \"b\")\nlog(str(x))");
    assert_eq!(outcome.decision, Ruling::Allow);
    assert_eq!(outcome.logs[0].message, "None");
}

#[test]
fn a_pattern_that_is_too_large_is_an_error() {
    fails_with(Cause::HookError, "re.match(\"(a{1000}){1000}\", \"a\")");
}

#[test]
fn a_when_that_never_ends_closes_the_gate() {
    let outcome = Project::with(&[(
        "probe",
        &hook_file(
            "tool.pre",
            "priority: 1\nwhen: len([x for x in range(100000) for y in range(100000)]) > 0",
            "def handle(event, payload):\n    return allow()",
        ),
    )])
    .dispatch("tool.pre", command("ls"));
    assert_eq!(outcome.decision, Ruling::Block);
    let cause = outcome.trace[0].cause;
    assert!(
        matches!(cause, Some(Cause::OutOfFuel | Cause::OutOfMemory)),
        "{cause:?}"
    );
    assert!(
        outcome.stages.dispatch.is_empty(),
        "handle is not called after such a when"
    );
}

#[test]
fn a_hook_that_emits_itself() {
    let emit =
        "def handle(event, payload):\n    emit(\"custom.again\", payload)\n    return allow()";
    let project = Project::with(&[
        ("first", &hook_file("tool.pre", "priority: 1", emit)),
        ("again", &hook_file("custom.again", "priority: 1", emit)),
    ]);
    let outcome = project.dispatch("tool.pre", command("ls"));
    let all = outcome.warnings.join("\n");
    assert!(
        all.contains("tool.pre → custom.again → custom.again"),
        "{all}"
    );
}

#[test]
fn events_emitted_from_events_without_end() {
    let project = Project::new();
    for depth in 0..20 {
        let script = format!(
            "def handle(event, payload):\n    return modify(emit(\"custom.e{}\", payload))",
            depth + 1
        );
        let event = if depth == 0 {
            "tool.pre".to_owned()
        } else {
            format!("custom.e{depth}")
        };
        let more = "priority: 1\non_error: block";
        project.hook(&format!("h{depth}"), &hook_file(&event, more, &script));
    }
    let outcome = project.dispatch("tool.pre", command("ls"));
    assert_eq!(outcome.decision, Ruling::Block);
    assert!(outcome.reason.unwrap().contains("nested 8 deep"));
}

#[test]
fn a_chain_of_emits_is_bounded_by_the_time_of_the_first() {
    let project = Project::with(&[
        (
            "first",
            &hook_file(
                "tool.pre",
                "priority: 1\nlimits: { wall_time: 300ms }",
                "def handle(event, payload):\n    for i in range(10000):\n        emit(\"custom.slow\", i)\n    return allow()",
            ),
        ),
        (
            "slow",
            &hook_file(
                "custom.slow",
                "priority: 1\nlimits: { fuel: 20g, wall_time: 60s }",
                "def handle(event, payload):\n    for i in range(2000000000):\n        pass",
            ),
        ),
    ]);
    let outcome = project.dispatch("tool.pre", command("ls"));
    assert_eq!(outcome.decision, Ruling::Block);
    assert_eq!(outcome.trace[0].cause, Some(Cause::Deadline));
}

#[test]
fn payloads_that_are_none() {
    let project = Project::script("def handle(event, payload):\n    return allow()");
    let deep = "[".repeat(10_000) + &"]".repeat(10_000);
    for (payload, expected) in [
        ("", "give JSON, @FILE, or - for standard input"),
        ("hello", "a string needs its quotes"),
        ("{\"name\":", "EOF while parsing"),
        ("{\"name\":\"a\",\"name\":\"b\"}", "duplicate key \"name\""),
        ("{\"name\":\"\\ud800\"}", "unexpected end of hex escape"),
        ("{\"name\":\"a\"} x", "trailing characters"),
        (deep.as_str(), "recursion limit exceeded"),
        ("[]", "must be an object with the tool's \"name\""),
        (
            "@/nowhere/payload.json",
            "/nowhere/payload.json cannot be read",
        ),
    ] {
        let path = project.path().to_str().unwrap();
        let output =
            support::hookbox(&["run", "tool.pre", "--project", path, "--payload", payload]);
        assert_eq!(output.status.code(), Some(1), "{payload}");
        let stderr = String::from_utf8(output.stderr).unwrap();
        assert!(stderr.contains(expected), "{expected}: {stderr}");
        assert!(stderr.starts_with("error: "), "{stderr}");
    }
}

#[test]
fn a_payload_of_fifty_megabytes() {
    let project = Project::script("def handle(event, payload):\n    return allow()");
    let payload = format!(
        "{{\"name\":\"x\",\"args\":{{\"a\":\"{}\"}}}}",
        "x".repeat(50 << 20)
    );
    project.file("big.json", payload);
    let file = format!("@{}", project.path().join("big.json").display());
    let path = project.path().to_str().unwrap();
    let output = support::hookbox(&["run", "tool.pre", "--project", path, "--payload", &file]);
    assert_eq!(output.status.code(), Some(1));
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(
        stderr.contains("over the limit of 4194304 bytes"),
        "{stderr}"
    );
    let error = project
        .runtime()
        .dispatch(
            "tool.pre",
            json!({"name": "x", "args": {"a": "x".repeat(5 << 20)}}),
        )
        .unwrap_err();
    assert!(error.to_string().contains("raise `payload`"), "{error}");
}

#[test]
fn a_payload_of_one_megabyte_is_nothing_special() {
    let project = Project::script(
        "def handle(event, payload):\n    log(str(len(payload[\"args\"][\"a\"])))\n    return modify({\"args\": {\"b\": payload[\"args\"][\"a\"]}})",
    );
    let text = "é\"\\\n".repeat(125_000);
    let outcome = project.dispatch("tool.pre", json!({"name": "x", "args": {"a": text}}));
    assert_eq!(outcome.decision, Ruling::Modify, "{:?}", outcome.reason);
    assert_eq!(outcome.payload.value()["args"]["b"], Value::from(text));
    assert_eq!(outcome.logs[0].message, "500000");
}

#[test]
fn a_payload_that_cannot_be_parsed_within_the_limits_closes_the_gate() {
    let project = Project::with(&[(
        "probe",
        &hook_file(
            "tool.pre",
            "priority: 1\nwhen: payload[\"name\"] == \"run_command\"",
            "def handle(event, payload):\n    return block(\"seen\")",
        ),
    )]);
    // A million small values: far more memory decoded than as text.
    let many: Vec<u8> = vec![1; 1_000_000];
    let outcome = project.dispatch(
        "tool.pre",
        json!({"name": "run_command", "args": {"a": many}}),
    );
    assert_eq!(
        outcome.decision,
        Ruling::Block,
        "a guard that cannot look does not let pass"
    );
}

#[test]
fn ten_thousand_hooks_load_and_run() {
    let project = Project::new();
    for index in 0..10_000 {
        project.hook(
            &format!("h{index:05}"),
            "---\nevent: turn.start\npriority: 1\n---\n",
        );
    }
    project.hook(
        "z",
        &hook_file(
            "tool.pre",
            "priority: 1",
            "def handle(e, p):\n    return block(\"z\")",
        ),
    );
    let runtime = project.runtime();
    assert_eq!(runtime.hooks().len(), 10_001);
    let outcome = runtime.dispatch("turn.start", json!("hello")).unwrap();
    assert_eq!(
        (outcome.decision, outcome.trace.len()),
        (Ruling::Allow, 10_000)
    );
    assert_eq!(
        runtime.dispatch("tool.pre", command("x")).unwrap().decision,
        Ruling::Block
    );
}

#[cfg(unix)]
#[test]
fn links_out_of_the_project_are_refused() {
    use std::os::unix::fs::symlink;
    let outside = Project::script("def handle(event, payload):\n    return allow()");
    let target = outside.path().join(".harness/hooks/probe.md");

    let linked_file = Project::new();
    linked_file.file(".harness/hooks/.keep", "");
    symlink(&target, linked_file.path().join(".harness/hooks/a.md")).unwrap();
    let errors = linked_file.errors();
    assert!(
        errors[0].starts_with(".harness/hooks/a.md: cannot be read: "),
        "{errors:?}"
    );

    let linked_folder = Project::new();
    linked_folder.file(".harness/.keep", "");
    symlink(
        target.parent().unwrap(),
        linked_folder.path().join(".harness/hooks"),
    )
    .unwrap();
    let errors = linked_folder.errors();
    assert!(
        errors[0].starts_with(".harness/hooks: cannot be read: "),
        "{errors:?}"
    );

    let linked_harness = Project::new();
    let harness = outside.path().join(".harness");
    symlink(&harness, linked_harness.path().join(".harness")).unwrap();
    let errors = linked_harness.errors();
    assert!(
        errors[0].starts_with(".harness: cannot be read: "),
        "{errors:?}"
    );

    let dangling = Project::new();
    symlink("nowhere", dangling.path().join(".harness")).unwrap();
    let errors = dangling.errors();
    assert!(
        errors[0].starts_with(".harness: cannot be read: "),
        "{errors:?}"
    );

    let loop_of_links = Project::new();
    loop_of_links.file(".harness/hooks/.keep", "");
    symlink("a.md", loop_of_links.path().join(".harness/hooks/a.md")).unwrap();
    assert_eq!(loop_of_links.errors().len(), 1);

    let inside = Project::new();
    inside.file("policies/a.md", "---\nevent: tool.pre\n---\n");
    inside.file(".harness/hooks/.keep", "");
    symlink(
        "../../policies/a.md",
        inside.path().join(".harness/hooks/a.md"),
    )
    .unwrap();
    assert_eq!(
        inside.runtime().hooks().len(),
        1,
        "links within the project are fine"
    );
}

#[cfg(unix)]
#[test]
fn what_a_hook_file_says_cannot_steer_the_terminal() {
    let project = Project::with(&[(
        "loud",
        "---\nevent: tool.pre\npriority: 1\nwhen: \"True or '\\e[2J'\"\n---\n\x1b[31mred\x1b[2J\n",
    )]);
    let path = project.path().to_str().unwrap();
    for verb in [&["explain"][..], &["validate", "-v"]] {
        let arguments = [verb, &["--color", "always", "--project", path]].concat();
        let told = String::from_utf8(support::hookbox(&arguments).stdout).unwrap();
        assert!(!told.contains("\x1b[2J"), "{told:?}");
    }
    let named = Project::with(&[("a\x1b[2J", "---\nevent: tool.pre\npriority: 1\n---\n")]);
    assert!(named.errors()[0].contains("must not have control characters"));
}

#[cfg(unix)]
#[test]
fn a_pipe_instead_of_a_hook_file_does_not_hang() {
    let project = Project::new();
    project.file(".harness/hooks/.keep", "");
    let pipe = project.path().join(".harness/hooks/pipe.md");
    assert!(
        std::process::Command::new("mkfifo")
            .arg(&pipe)
            .status()
            .unwrap()
            .success()
    );
    let errors = project.errors();
    assert_eq!(
        errors,
        [".harness/hooks/pipe.md: cannot be read: it is not a regular file"]
    );
}

#[test]
fn files_that_are_not_hooks() {
    let project = Project::new();
    project.file(".harness/hooks/binary.md", b"---\nevent: \xff\xfe\n---\n");
    project.file(
        ".harness/hooks/big.md",
        "---\n".to_owned() + &"# x\n".repeat(2_500_000),
    );
    project.file(".harness/hooks/empty.md", "");
    project.file(".harness/hooks/folder.md/x", "");
    let errors = project.errors();
    assert_eq!(
        errors,
        [
            ".harness/hooks/big.md: cannot be read: it is larger than 1024 KiB",
            ".harness/hooks/binary.md: the file is not UTF-8: line 2 has a byte that does not fit",
            ".harness/hooks/empty.md:1:1: parse hook empty.md: markdown file must start with --- frontmatter delimiter",
            ".harness/hooks/folder.md: cannot be read: it is a directory, not a file",
        ]
    );
    let output = support::hookbox(&[
        "run",
        "tool.pre",
        "--project",
        project.path().to_str().unwrap(),
    ]);
    assert_eq!(
        output.status.code(),
        Some(1),
        "a missing guard is an open gate"
    );
}
