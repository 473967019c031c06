//! Polytoken on the command line: exit codes, the answer in its own form, and what people
//! read about a project.

use insta::assert_snapshot;
use serde_json::{Value, json};

use crate::support::programs::{Place, Says};
use crate::support::{Project, hookbox, session};
use crate::{bash, every_event, project, write};

/// Two scripts and a component.
fn studio() -> Project {
    let project = Project::new();
    let quiet = Says::new(r#"{"outcome":"suppress"}"#, "", 0);
    let quiet = quiet.polytoken(&project, Place::Component, "quiet");
    // The component is compiled before anything is compared.
    write(
        &project,
        json!([{"name": "quiet", "event": "notification", "handler": quiet}]),
    );
    drop(crate::load(&project));
    project.file(
        ".polytoken/hooks.json",
        r#"[
  {"name": "protect-changelog", "event": "pre_tool_use", "matcher": "file_edit_*",
   "handler": {"bash": "test \"$(jq -r .input.path)\" = CHANGELOG.md && { echo generated; exit 2; }; exit 0"}},
  {"name": "log-edits", "event": "post_tool_use", "handler": {"bash": "cat >> edits.log"}},
  {"name": "quiet", "event": "notification", "handler": {"wasm": "quiet.wasm"}}
]
"#,
    );
    project
}

#[test]
fn explain_shows_what_runs_where_and_what_nobody_waits_for() {
    let project = studio();
    assert_snapshot!(session(project.path(), &["explain", "--allow-process"]), @r#"
    tool.pre  before a tool runs
    └── protect-changelog  # polytoken pre_tool_use  (when file_edit_*)
          runs outside of the sandbox: bash: test "$(jq -r .input.path)" = CHANGELOG.md && { echo generated; ex …
    tool.post  after a tool succeeded
    └── log-edits  # polytoken post_tool_use
          runs outside of the sandbox: bash: cat >> edits.log
          runs in the background; nobody waits for it
    notification  a notification would be raised
    └── quiet  # polytoken notification
    [exit code 0]
    "#);
}

#[test]
fn validate_shows_every_hook_as_the_runtime_sees_it() {
    let project = studio();
    assert_snapshot!(session(project.path(), &["validate", "-v", "--allow-process"]), @r#"
    warning: hook "protect-changelog" runs outside of the sandbox
     --> .polytoken/hooks.json:3:24
      |
    3 |    "handler": {"bash": "test \"$(jq -r .input.path)\" = CHANGELOG.md && { echo generated; exit 2; }; exit 0"}},
      |                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: as a component it could reach only what it is granted

    warning: hook "log-edits" runs outside of the sandbox
     --> .polytoken/hooks.json:4:71
      |
    4 |   {"name": "log-edits", "event": "post_tool_use", "handler": {"bash": "cat >> edits.log"}},
      |                                                                       ^^^^^^^^^^^^^^^^^^
      |
      = help: as a component it could reach only what it is granted

    protect-changelog
      dialect   polytoken
      event     pre_tool_use
      priority  0
      when      file_edit_*
      handler   process, outside of the sandbox
      on error  block
      file      .polytoken/hooks.json

    log-edits
      dialect   polytoken
      event     post_tool_use
      priority  0
      when      always
      handler   process, outside of the sandbox
      on error  allow
      file      .polytoken/hooks.json

    quiet
      dialect   polytoken
      event     notification
      priority  0
      when      always
      handler   command
      on error  allow
      file      .polytoken/hooks.json

    ✓ valid .: 3 hooks, 2 warnings
    [exit code 0]
    "#);
}

#[test]
fn without_leave_for_processes_the_project_does_not_load() {
    let project = studio();
    assert_snapshot!(session(project.path(), &["validate"]), @r#"
    error: hook "protect-changelog" is a program of this machine and would run outside of the sandbox
     --> .polytoken/hooks.json:3:24
      |
    3 |    "handler": {"bash": "test \"$(jq -r .input.path)\" = CHANGELOG.md && { echo generated; exit 2; }; exit 0"}},
      |                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: allow it with --allow-process, or with `process = "allow"` in hookbox.toml; or make it a component

    error: hook "log-edits" is a program of this machine and would run outside of the sandbox
     --> .polytoken/hooks.json:4:71
      |
    4 |   {"name": "log-edits", "event": "post_tool_use", "handler": {"bash": "cat >> edits.log"}},
      |                                                                       ^^^^^^^^^^^^^^^^^^
      |
      = help: allow it with --allow-process, or with `process = "allow"` in hookbox.toml; or make it a component

    ✗ invalid .: 2 errors, 0 warnings
    [exit code 1]
    "#);
    assert_snapshot!(session(project.path(), &["run", "notification"]), @r#"
    --- stderr ---
    error: hook "protect-changelog" is a program of this machine and would run outside of the sandbox
     --> .polytoken/hooks.json:3:24
      |
    3 |    "handler": {"bash": "test \"$(jq -r .input.path)\" = CHANGELOG.md && { echo generated; exit 2; }; exit 0"}},
      |                        ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
      |
      = help: allow it with --allow-process, or with `process = "allow"` in hookbox.toml; or make it a component

    error: hook "log-edits" is a program of this machine and would run outside of the sandbox
     --> .polytoken/hooks.json:4:71
      |
    4 |   {"name": "log-edits", "event": "post_tool_use", "handler": {"bash": "cat >> edits.log"}},
      |                                                                       ^^^^^^^^^^^^^^^^^^
      |
      = help: allow it with --allow-process, or with `process = "allow"` in hookbox.toml; or make it a component

    error: the project does not load, so nothing was decided
    [exit code 1]
    "#);
}

#[test]
fn pt_012_a_malformed_hook_is_shown_where_it_is() {
    let project = Project::new();
    project.file(
        ".polytoken/hooks.json",
        "[\n  {\"name\": \"guard\", \"event\": \"pre_tool\", \"handler\": {\"bash\": \"exit 2\"}},\n  \"!log-edits\"\n]\n",
    );
    assert_snapshot!(session(project.path(), &["validate", "--allow-process"]), @r#"
    error: hook "guard": there is no event "pre_tool"
     --> .polytoken/hooks.json:2:30
      |
    2 |   {"name": "guard", "event": "pre_tool", "handler": {"bash": "exit 2"}},
      |                              ^^^^^^^^^^
      |
      = help: did you mean `pre_tool_use`?

    warning: hook "guard" runs outside of the sandbox
     --> .polytoken/hooks.json:2:62
      |
    2 |   {"name": "guard", "event": "pre_tool", "handler": {"bash": "exit 2"}},
      |                                                              ^^^^^^^^
      |
      = help: as a component it could reach only what it is granted

    error: there is no global hook "log-edits" to switch off
     --> .polytoken/hooks.json:3:3
      |
    3 |   "!log-edits"
      |   ^^^^^^^^^^^^
      |
      = help: there are no global hooks; give their directory with --config-dir

    ✗ invalid .: 2 errors, 1 warning
    [exit code 1]
    "#);
    let run = hookbox(&[
        "run",
        "stop",
        "--allow-process",
        "-p",
        project.path().to_str().unwrap(),
    ]);
    assert_eq!(run.status.code(), Some(1), "nothing was decided");
}

fn run(project: &Project, arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut all = vec!["run"];
    all.extend(arguments);
    all.extend([
        "--allow-process",
        "--project",
        project.path().to_str().unwrap(),
    ]);
    let output = hookbox(&all);
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (
        output.status.code(),
        text(output.stdout),
        text(output.stderr),
    )
}

#[test]
fn the_answer_in_its_own_form_is_one_line_and_the_exit_code_says_the_rest() {
    let project = studio();
    let payload = r#"{"tool_name":"file_edit_insert","input":{"path":"CHANGELOG.md"}}"#;
    assert_eq!(
        run(
            &project,
            &["pre_tool_use", "--native", "--payload", payload]
        ),
        (
            Some(2),
            "{\"outcome\":\"deny\",\"reason\":\"generated\",\"stdout\":\"generated\"}\n".to_owned(),
            String::new()
        )
    );
    let payload = r#"{"tool_name":"file_edit_insert","input":{"path":"README.md"}}"#;
    assert_eq!(
        run(
            &project,
            &["pre_tool_use", "--native", "--payload", payload]
        ),
        (
            Some(0),
            "{\"outcome\":\"allow\"}\n".to_owned(),
            String::new()
        )
    );
    assert_eq!(
        run(&project, &["notification", "--native"]),
        (
            Some(2),
            "{\"outcome\":\"suppress\",\"reason\":\"suppressed\"}\n".to_owned(),
            String::new()
        )
    );
    // Before the command ends, what runs in the background has run.
    let (code, stdout, _) = run(
        &project,
        &["post_tool_use", "--native", "--payload", payload],
    );
    assert_eq!(
        (code, stdout.as_str()),
        (Some(0), "{\"outcome\":\"acknowledged\"}\n")
    );
    let log = std::fs::read_to_string(project.path().join("edits.log")).unwrap();
    let logged: Value = serde_json::from_str(&log).unwrap();
    assert_eq!(logged["tool_name"], "file_edit_insert");
}

#[test]
fn every_event_can_be_run_from_the_command_line() {
    for (event, payload) in every_event() {
        let project = project(json!([bash("a", event, "exit 0")]));
        let (code, stdout, stderr) = run(
            &project,
            &[event, "--native", "--payload", &payload.to_string()],
        );
        assert_eq!(code, Some(0), "{event}: {stderr}");
        let answer: Value = serde_json::from_str(&stdout).unwrap();
        assert!(answer["outcome"].is_string(), "{event}: {stdout}");
    }
}

#[test]
fn pt_058_what_failed_in_the_background_is_on_standard_error() {
    let project = project(json!([bash("a", "facet_switch", "echo boom >&2; exit 1")]));
    let (code, stdout, stderr) = run(&project, &["facet_switch", "--native"]);
    assert_eq!(
        (code, stdout.as_str()),
        (Some(0), "{\"outcome\":\"acknowledged\"}\n")
    );
    assert!(stderr.contains("boom"), "{stderr}");
}

#[test]
fn pt_061_an_error_that_lets_the_event_pass_is_seen_somewhere() {
    let project = project(json!([bash(
        "a",
        "pre_user_prompt",
        "echo boom >&2; exit 1"
    )]));
    let payload = r#"{"prompt":"x"}"#;
    let (code, _, stderr) = run(&project, &["pre_user_prompt", "--payload", payload]);
    assert_eq!(code, Some(0));
    assert!(stderr.contains("boom"), "{stderr}");
    // The answer alone is on standard output; that a hook failed is no part of it.
    let (code, stdout, _) = run(
        &project,
        &["pre_user_prompt", "--native", "--payload", payload],
    );
    assert_eq!(
        (code, stdout.as_str()),
        (Some(0), "{\"outcome\":\"accept\"}\n")
    );
}

#[test]
fn pt_001_the_directory_of_the_global_hooks_is_a_flag() {
    let project = project(json!([]));
    project.file(
        "config/hooks.json",
        json!([bash("g", "stop", "echo go on; exit 2")]).to_string(),
    );
    let folder = project.path().join("config");
    let folder = folder.to_str().unwrap();
    let (code, stdout, _) = run(&project, &["stop", "--native", "--config-dir", folder]);
    assert_eq!(
        (code, stdout.as_str()),
        (
            Some(2),
            "{\"outcome\":\"continue\",\"reason\":\"go on\",\"stdout\":\"go on\"}\n"
        )
    );
    // A relative one starts where the command runs, as every path of a command does.
    let told = session(
        project.path(),
        &[
            "run",
            "stop",
            "--native",
            "--allow-process",
            "--config-dir",
            "config",
        ],
    );
    assert!(told.contains("\"continue\""), "{told}");
    write(&project, json!(["!g"]));
    let (code, _, _) = run(
        &project,
        &[
            "stop",
            "--dialect",
            "polytoken",
            "--native",
            "--config-dir",
            folder,
        ],
    );
    assert_eq!(code, Some(0));
}
