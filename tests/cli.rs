//! The command line as a person and as a program sees it.

mod support;

use std::io::Write as _;
use std::process::{Command, Stdio};

use insta::assert_snapshot;
use serde_json::Value;
use support::{Project, answer, component, component_project, hook_file, session};

const GUARD: &str = r#"def handle(event, payload):
    command = payload["args"].get("command", "")
    if "rm -rf /" in command:
        metrics.incr("denied")
        log.warn("denied: " + command)
        return block("dangerous command")
    return allow()"#;

fn guarded() -> Project {
    Project::with(&[
        (
            "guard",
            &hook_file(
                "tool.pre",
                "priority: 10\nwhen: payload[\"name\"] == \"run_command\"",
                GUARD,
            ),
        ),
        (
            "tidy",
            &hook_file(
                "tool.pre",
                "priority: 40\nwhen: payload[\"name\"] == \"tidy\"",
                "def handle(event, payload):\n    return modify({\"args\": {\"tidy\": True}})",
            ),
        ),
    ])
}

#[test]
fn a_blocked_event_is_one_line_and_exit_code_2() {
    let project = guarded();
    let payload = r#"{"name":"run_command","args":{"command":"rm -rf /"}}"#;
    assert_snapshot!(session(project.path(), &["run", "tool.pre", "--payload", payload]), @r#"
    ✗ blocked tool.pre by guard: dangerous command
    [exit code 2]
    "#);
}

#[test]
fn an_allowed_event_is_one_line_and_exit_code_0() {
    let project = guarded();
    let payload = r#"{"name":"run_command","args":{"command":"ls"}}"#;
    assert_snapshot!(session(project.path(), &["run", "tool.pre", "--payload", payload]), @r#"
    ✓ allowed tool.pre (1 of 2 hooks called)
    [exit code 0]
    "#);
}

#[test]
fn a_modified_event_shows_the_payload() {
    let project = guarded();
    let payload = r#"{"id":"c1","name":"tidy","args":{"tidy":false}}"#;
    assert_snapshot!(session(project.path(), &["run", "tool.pre", "--payload", payload]), @r#"
    ✓ modified tool.pre by tidy
    {
      "id": "c1",
      "name": "tidy",
      "args": {
        "tidy": true
      },
      "arguments": "{\"tidy\":true}"
    }
    [exit code 0]
    "#);
}

#[test]
fn a_question_that_nobody_can_answer_is_a_no() {
    let project = component_project(&component(&answer(3, "really?")), "");
    let payload = r#"{"name":"deploy"}"#;
    assert_snapshot!(session(project.path(), &["run", "tool.pre", "--payload", payload]), @r#"
    ✗ blocked tool.pre by probe: nobody could be asked: really?
    [exit code 2]
    "#);
    let later = ["run", "tool.pre", "--payload", payload, "--ask", "later"];
    assert_snapshot!(session(project.path(), &later), @r#"
    ? ask tool.pre by probe: really?
    [exit code 3]
    "#);
}

#[test]
fn a_payload_comes_from_a_file_or_from_standard_input() {
    let project = guarded();
    let payload = r#"{"name":"run_command","args":{"command":"rm -rf /"}}"#;
    project.file("payload.json", payload);
    let from_file = session(
        project.path(),
        &["run", "tool.pre", "--payload", "@payload.json"],
    );
    assert!(from_file.ends_with("[exit code 2]\n"), "{from_file}");
    let mut child = Command::new(env!("CARGO_BIN_EXE_hookbox"))
        .args(["run", "tool.pre", "--payload", "-"])
        .current_dir(project.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(payload.as_bytes())
        .unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(2));
}

#[test]
fn ah_068_json_is_one_object_with_all_that_happened() {
    let project = guarded();
    let payload = r#"{"id":"c1","name":"run_command","args":{"command":"rm -rf /"}}"#;
    let path = project.path().to_str().unwrap();
    let output = support::hookbox(&[
        "run",
        "tool.pre",
        "--project",
        path,
        "--payload",
        payload,
        "--json",
    ]);
    assert_eq!(output.status.code(), Some(2));
    let mut object: Value = serde_json::from_slice(&output.stdout).unwrap();
    for row in object["trace"].as_array_mut().unwrap() {
        for number in ["fuel", "when_fuel", "memory_bytes", "duration_us"] {
            let found = row[number].take();
            row[number] = if found.is_null() {
                "null".into()
            } else {
                "a number".into()
            };
        }
    }
    insta::assert_json_snapshot!(object);
}

#[test]
fn json_says_also_why_nothing_was_decided() {
    let project = Project::with(&[("bad", "---\nevent: tool.before\npriority: 1\n---\n")]);
    assert_snapshot!(session(project.path(), &["run", "tool.pre", "--json"]));
}

#[test]
fn a_project_that_does_not_load_does_not_run() {
    let project = guarded();
    project.hook(
        "broken",
        &hook_file(
            "tool.pre",
            "priority: 5",
            "def handle(event, payload:\n    return allow()",
        ),
    );
    let payload = r#"{"name":"run_command","args":{"command":"ls"}}"#;
    assert_snapshot!(session(
        project.path(),
        &["run", "tool.pre", "--payload", payload]
    ));
}

#[test]
fn a_failing_hook_says_where_and_closes_the_gate() {
    let project = Project::script(
        "def _look(payload):\n    return payload[\"missing\"]\n\ndef handle(event, payload):\n    return _look(payload)",
    );
    let payload = r#"{"name":"x"}"#;
    let told = session(
        project.path(),
        &["run", "tool.pre", "-v", "--payload", payload],
    );
    let told: Vec<&str> = told
        .lines()
        .map(|line| line.split("  (").next().unwrap())
        .collect();
    assert_snapshot!(told.join("\n"));
}

#[test]
fn warnings_go_to_standard_error() {
    let project = Project::script("def handle(event, payload):\n    return 42");
    assert_snapshot!(session(
        project.path(),
        &["run", "tool.pre", "--payload", r#"{"name":"x"}"#]
    ));
}

#[test]
fn an_empty_project_lets_everything_pass_and_says_so() {
    let project = Project::new();
    let told = session(project.path(), &["run", "session.start"]);
    assert_snapshot!(told, @r#"
    ✓ allowed session.start (0 of 0 hooks called)
    --- stderr ---
    warning: no hooks were found in .: every event passes
    [exit code 0]
    "#);
}

#[test]
fn mistakes_on_the_command_line_say_what_to_do_and_never_exit_with_2() {
    let project = guarded();
    for arguments in [
        &["run", "tool.per"][..],
        &["run", "nonsense"],
        &["run"],
        &["run", "tool.pre"],
        &["run", "turn.start", "--payload", "hello"],
        &["run", "tool.pre", "--payload", "@nowhere.json"],
        &["run", "tool.pre", "--project", "nowhere"],
        &["explain", "tool.per"],
        &["valdate"],
        &[],
    ] {
        let told = session(project.path(), arguments);
        insta::with_settings!({ description => format!("hookbox {}", arguments.join(" ")) }, {
            assert_snapshot!(told);
        });
        assert!(told.ends_with("[exit code 1]\n"), "{told}");
    }
}

#[test]
fn validate_shows_what_the_runtime_sees() {
    let project = guarded();
    project.hook(
        "typo",
        &hook_file(
            "tool.post",
            "prioritty: 5",
            "def handle(event, payload):\n    return allow()",
        ),
    );
    assert_snapshot!(session(project.path(), &["validate", "-v"]));
    assert_snapshot!(session(project.path(), &["validate", "--strict"]));
    assert_snapshot!(session(project.path(), &["validate", "--json"]));
}

#[test]
fn explain_reads_like_a_list() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    assert_snapshot!(session(
        root,
        &["explain", "--project", "examples/governed-agent"]
    ));
    assert_snapshot!(session(
        root,
        &[
            "explain",
            "tool.pre",
            "--project",
            "examples/governed-agent"
        ]
    ));
    assert_snapshot!(session(
        root,
        &["explain", "error", "--project", "examples/governed-agent"]
    ));
}

#[test]
fn ah_019_events_lists_the_catalogue() {
    let project = Project::new();
    assert_snapshot!(session(project.path(), &["events"]));
    let json = support::hookbox(&["events", "--json"]);
    let events: Value = serde_json::from_slice(&json.stdout).unwrap();
    let experimental: Vec<&Value> = events
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["experimental"] == true)
        .map(|event| &event["name"])
        .collect();
    assert_eq!(experimental, ["agent.stop"]);
}

#[test]
fn help_is_helpful() {
    let project = Project::new();
    for arguments in [
        &["--help"][..],
        &["run", "--help"],
        &["validate", "--help"],
        &["explain", "--help"],
        &["events", "--help"],
    ] {
        assert_snapshot!(session(project.path(), arguments));
    }
}

#[test]
fn colours_are_for_terminals_only() {
    let project = guarded();
    let payload = r#"{"name":"run_command","args":{"command":"rm -rf /"}}"#;
    let run = |more: &[&str]| {
        let arguments = [&["run", "tool.pre", "--payload", payload], more].concat();
        session(project.path(), &arguments)
    };
    assert!(!run(&[]).contains('\x1b'));
    assert!(!run(&["--color", "never"]).contains('\x1b'));
    assert!(run(&["--color", "always"]).contains("\x1b[31m"));
}

#[test]
fn a_reader_that_goes_away_is_no_reason_to_panic() {
    let project = guarded();
    let mut child = Command::new(env!("CARGO_BIN_EXE_hookbox"))
        .args(["validate", "--json", "--project"])
        .arg(project.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    let stderr = String::from_utf8(output.stderr).unwrap();
    assert!(!stderr.contains("panicked"), "{stderr}");
}
