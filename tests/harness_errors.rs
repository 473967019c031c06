//! What becomes of a hook that fails: who is told, and where in the file it
//! happened.

mod support;

use hookbox::Outcome;
use hookbox::Ruling::{Allow, Block};
use hookbox::failure::Cause;
use serde_json::{Value, json};
use support::{Project, command, hook_file, hookbox};

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

/// What fails where, and what the harness makes of it.
#[test]
fn a_hook_that_fails_closes_what_gates_and_opens_what_is_over() {
    for (event, payload, closed) in [
        ("turn.start", json!("x"), true),
        ("tool.pre", json!({"name": "t"}), true),
        ("completion.pre", json!({}), true),
        ("delegation.pre", json!({}), true),
        ("delegation.post_verify", json!({}), true),
        ("agent.stop", json!({}), true),
        ("meta.x", json!({}), true),
        ("session.start", Value::Null, false),
        ("session.end", Value::Null, false),
        ("turn.end", json!({}), false),
        ("tool.post", json!({"name": "t"}), false),
        ("completion.post", json!({}), false),
        ("delegation.post", json!({}), false),
        ("error", json!({}), false),
        ("custom.x", json!({}), false),
    ] {
        for (more, closed) in [
            ("priority: 1", closed),
            ("priority: 1\non_error: block", true),
            ("priority: 1\non_error: allow", false),
        ] {
            let project =
                Project::with(&[("probe", &hook_file(event, more, &handle("return 1 // 0")))]);
            let outcome = project.dispatch(event, payload.clone());
            let message = "hook error: .harness/hooks/probe.md:";
            assert_eq!(
                outcome.decision,
                if closed { Block } else { Allow },
                "{event} {more}"
            );
            assert_eq!(
                outcome.warnings.len(),
                usize::from(!closed),
                "{event} {more}"
            );
            let said = outcome
                .reason
                .or(outcome.warnings.first().cloned())
                .unwrap();
            assert!(
                said.starts_with("hook \"probe\" failed") && said.contains(message),
                "{said}"
            );
            assert!(
                outcome.trace[0]
                    .error
                    .as_ref()
                    .unwrap()
                    .starts_with(message)
            );
            assert_eq!(outcome.trace[0].cause, Some(Cause::HookError));
        }
    }
}

#[test]
fn a_hook_that_fails_open_does_not_keep_the_next_one_from_blocking() {
    let project = Project::with(&[
        (
            "a",
            &hook_file(
                "tool.pre",
                "priority: 1\non_error: allow",
                &handle("return 1 // 0"),
            ),
        ),
        ("b", &hook(2, "return block('b')")),
    ]);
    let outcome = project.dispatch("tool.pre", command("ls"));
    assert_eq!(
        (outcome.reason.as_deref(), outcome.warnings.len()),
        (Some("b"), 1)
    );
}

/// Line and column of the one place where a text stands, in characters.
fn place_of(needle: &str, text: &str) -> String {
    assert_eq!(text.matches(needle).count(), 1, "{text}");
    let before = text
        .split(needle)
        .next()
        .unwrap()
        .trim_start_matches('\u{feff}');
    let line = before.rsplit('\n').next().unwrap();
    format!(
        "{}:{}",
        before.matches('\n').count() + 1,
        line.chars().count() + 1
    )
}

/// However a script is written in YAML, an error in it is shown where it stands.
const STYLES: [&str; 18] = [
    // Literal.
    "script: |\n  def handle(event, payload):\n    return 1 // 0\n",
    "script: |\n  # é🦀\n\n\n  def handle(event, payload):\n\n    y = \"é🦀\"; z = 1 // 0\n    return allow()\n",
    "script: |-\n        def handle(event, payload):\n          return [\n            1 // 0,\n          ]",
    "script: |+\n\n\n  def handle(event, payload):\n    return 1 // 0\n\n\n",
    "script: |2\n  def handle(event, payload):\n      return 1 // 0\n",
    "script: |2-\n\n  def handle(event, payload):\n      return 1 // 0\n",
    "script: !!str |\n def handle(event, payload):\n  return 1 // 0\n",
    "script: &s |  # a comment\n    def handle(event, payload):\n        return 1 // 0\n",
    "text: &s |\n  def handle(event, payload):\n    return 1 // 0\nscript: *s\n",
    // Folded: lines that are indented further keep their breaks.
    "script: >\n  def handle(event, payload):\n    x = 1\n    return 1 // 0\n",
    "script: >-\n  X = 1 +\n  2\n\n  def handle(event, payload):\n    return 1 // 0\n",
    "script: >\n  X = (1 +\n  2 + 1 // 0)\n",
    // Quoted.
    "script: \"def handle(event, payload):\\n  x = \\\"\\u00e9é\\\"\\n  return 1 // 0\\n\"\n",
    "script: \"def handle(event, payload):\\n\\\n  \\  return 1 // 0\"\n",
    "script: \"X = (1 +\n  2 + 1 // 0)\"\n",
    "script: 'X = [''é'', ''🦀'', 1 // 0]'\n",
    // Plain.
    "script: def handle(event, payload):return 1 // 0\n",
    "script: X = (1 +\n  2 + 1 // 0)\n",
];

#[test]
fn an_error_is_shown_where_it_stands_in_the_file() {
    for style in STYLES {
        let file = format!("---\nevent: tool.pre\npriority: 1\n{style}\n---\nbody\n");
        for file in [
            file.clone(),
            file.replace('\n', "\r\n"),
            format!("\u{feff}{file}"),
        ] {
            let outcome = Project::with(&[("x", &file)]).dispatch("tool.pre", command("ls"));
            let place = place_of("1 // 0", &file);
            let wanted = format!(" .harness/hooks/x.md:{place}: Floor division by zero: 1 // 0");
            let reason = outcome.reason.unwrap();
            assert!(
                reason.ends_with(&wanted),
                "{reason}, not {place} in\n{file}"
            );
        }
    }
}

#[test]
fn an_error_is_shown_where_it_stands_in_a_list_of_hooks() {
    for file in [
        "---\nhooks:\n  - handler: x\n    event: tool.pre\n    priority: 1\n    script: |\n      def handle(event, payload):\n        return 1 // 0\n---\n",
        "---\nhooks: [{handler: x, event: tool.pre, priority: 1, script: \"def handle(e, p):\\n  return 1 // 0\"}]\n---\n",
    ] {
        let project = Project::new();
        project.file("harness.md", file);
        let reason = project.dispatch("tool.pre", command("ls")).reason.unwrap();
        assert!(
            reason.contains(&format!("harness.md:{}: ", place_of("1 // 0", file))),
            "{reason}"
        );
    }
}

#[test]
fn a_stack_has_a_line_for_each_function_with_its_place_in_the_file() {
    let script = "def inner(x):\n  y = x[\"no\"]\n  return y\n\ndef outer(x):\n  z = inner(x)\n  return z\n\ndef handle(event, payload):\n  return outer(payload)";
    let outcome = Project::script(script).dispatch("tool.pre", command("ls"));
    assert_eq!(
        outcome.trace[0].stack.as_deref(),
        Some(
            "  .harness/hooks/probe.md:14:12 in handle\n  .harness/hooks/probe.md:10:9 in outer\n  .harness/hooks/probe.md:6:9 in inner\n"
        )
    );
    assert_eq!(
        outcome.reason.unwrap(),
        "hook \"probe\" failed: hook error: .harness/hooks/probe.md:6:9: Key `\"no\"` was not found"
    );
}

/// The interpreter puts a function that only returns an expression into its
/// caller, so the error is where the call is.
#[test]
fn a_function_of_one_expression_is_part_of_its_caller() {
    let script =
        "def inner(x):\n  return x[\"no\"]\n\ndef handle(event, payload):\n  return inner(payload)";
    let outcome = Project::script(script).dispatch("tool.pre", command("ls"));
    assert_eq!(
        outcome.trace[0].stack.as_deref(),
        Some("  .harness/hooks/probe.md:9:12 in handle\n")
    );
    assert!(outcome.reason.unwrap().contains("probe.md:9:12: "));
}

#[test]
fn a_stack_shows_built_ins_and_functions_they_call() {
    let outcome = decide("return sorted([1, 2], key = lambda x: x // 0)");
    assert_eq!(
        outcome.trace[0].stack.as_deref(),
        Some(
            "  .harness/hooks/probe.md:6:12 in handle\n  .harness/hooks/probe.md in sorted\n  .harness/hooks/probe.md:6:43 in lambda\n"
        )
    );
}

#[test]
fn a_script_that_calls_itself_without_end_is_stopped() {
    let script = "def again(n):\n  x = again(n + 1)\n  return x\n\ndef handle(event, payload):\n  return again(0)";
    let outcome = Project::script(script).dispatch("tool.pre", command("ls"));
    assert_eq!(
        (outcome.decision, outcome.trace[0].cause),
        (Block, Some(Cause::HookError))
    );
    assert!(
        outcome
            .reason
            .unwrap()
            .ends_with("probe.md:6:9: Starlark call stack overflow")
    );
}

#[test]
fn what_a_hook_says_cannot_steer_the_terminal() {
    let text = r"\x1b[2J\x1b]0;title\x07 no\r\n✓ allowed";
    for body in [
        format!("return block(\"{text}\")"),
        format!("fail(\"{text}\")"),
        format!("log(\"{text}\")\nreturn allow()"),
    ] {
        let project = Project::script(&handle(&body));
        let path = project.path().to_str().unwrap();
        let payload = command("ls").to_string();
        let arguments = ["run", "tool.pre", "-v", "--color", "always"];
        let more = ["--project", path, "--payload", &payload];
        let output = hookbox(&[&arguments[..], &more[..]].concat());
        let shown = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
        assert!(shown.contains("title"), "{shown:?}");
        for steering in ["\u{1b}[2J", "\u{1b}]0;", "\u{7}", "\r", "\n✓ allowed\n"] {
            assert!(!shown.contains(steering), "{steering:?} is in {shown:?}");
        }
    }
}
