//! `hookbox hook` beyond its encoders: what is kept between calls, what was reviewed, what
//! is recorded, what defends itself, and what people are told about it.
#![cfg(unix)]

mod support;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

use hookbox::agent::table;
use serde_json::{Value, json};
use support::Project;
use tempfile::TempDir;

/// A project with a place of its own for everything that hookbox keeps.
struct Desk {
    project: Project,
    home: TempDir,
}

impl Desk {
    fn new(hooks: &[(&str, &str)]) -> Self {
        Self {
            project: Project::with(hooks),
            home: tempfile::tempdir().unwrap(),
        }
    }

    fn path(&self) -> PathBuf {
        self.project.path().canonicalize().unwrap()
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hookbox"));
        command
            .args(arguments)
            .env("HOOKBOX_CONFIG_DIR", self.home.path().join("config"))
            .env("HOOKBOX_SERVE", "off")
            .current_dir(self.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    fn run(&self, arguments: &[&str], input: &str) -> Output {
        let mut child = self.command(arguments).spawn().unwrap();
        // One that does not read its input is none of this test's business.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        child.wait_with_output().unwrap()
    }

    /// Asks about a tool call of Claude Code, and returns exit code and both outputs.
    fn ask(&self, tool: &str, input: &Value) -> (i32, String) {
        let said = json!({
            "hook_event_name": "PreToolUse", "session_id": "s", "cwd": self.path(),
            "tool_name": tool, "tool_input": input, "tool_use_id": "u",
        });
        let project = self.path().display().to_string();
        let arguments = [
            "hook",
            "claude-code",
            "--event",
            "PreToolUse",
            "--project",
            &project,
        ];
        let output = self.run(&arguments, &said.to_string());
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        (output.status.code().unwrap(), text.into_owned())
    }

    fn shell(&self, command: &str) -> (i32, String) {
        self.ask("Bash", &json!({"command": command}))
    }
}

fn guard(word: &str) -> String {
    format!(
        "---\nevent: tool.pre\npriority: 10\nwhen: payload[\"name\"] == \"run_command\"\nscript: |\n  def handle(event, payload):\n      if \"{word}\" in payload[\"args\"][\"command\"]:\n          return block(\"no {word}\")\n      return allow()\n---\n# guard\n"
    )
}

/// Longer than the grain of the clock of files, after which hooks are kept.
fn settle() {
    std::thread::sleep(Duration::from_millis(3_100));
}

#[test]
fn kept_hooks_decide_the_same_and_notice_every_change() {
    let desk = Desk::new(&[("guard", &guard("aaa"))]);
    settle();
    for _ in 0..3 {
        assert_eq!(desk.shell("echo aaa").0, 2);
        assert_eq!(desk.shell("echo bbb").0, 0);
    }
    // The same size, and the old time of modification.
    let file = desk.path().join(".harness/hooks/guard.md");
    let old = std::fs::metadata(&file).unwrap().modified().unwrap();
    std::fs::write(&file, guard("bbb")).unwrap();
    let opened = std::fs::File::options().write(true).open(&file).unwrap();
    opened.set_modified(old).unwrap();
    assert_eq!(desk.shell("echo aaa").0, 0);
    assert_eq!(desk.shell("echo bbb").0, 2);
    settle();
    assert_eq!(desk.shell("echo bbb").0, 2);
    // A new file, a replaced one, one that does not load, and one that is gone.
    desk.project.hook("other", &guard("ccc"));
    assert_eq!(desk.shell("echo ccc").0, 2);
    settle();
    assert_eq!(desk.shell("echo ccc").0, 2);
    let new = desk.path().join("new.md");
    std::fs::write(&new, guard("ddd")).unwrap();
    std::fs::rename(&new, desk.path().join(".harness/hooks/other.md")).unwrap();
    assert_eq!(desk.shell("echo ccc").0, 0);
    assert_eq!(desk.shell("echo ddd").0, 2);
    desk.project.hook("other", "---\nevent: nonsense\n---\n");
    assert_eq!(desk.shell("echo fine").0, 2);
    std::fs::remove_file(desk.path().join(".harness/hooks/other.md")).unwrap();
    assert_eq!(desk.shell("echo fine").0, 0);
    // Hooks of another dialect come into being.
    desk.project.file(
        "settings.json",
        r#"{"hooks": {"PreToolUse": [{"path": "missing.sh"}]}}"#,
    );
    assert_eq!(desk.shell("echo fine").0, 2);
}

#[test]
fn hooks_that_a_kept_one_causes_are_there() {
    let caller = "---\nevent: tool.pre\npriority: 1\nscript: |\n  def handle(event, payload):\n      answer = events.emit(\"custom.check\", {\"command\": payload[\"args\"][\"command\"]})\n      return block(\"asked: \" + str(answer))\n---\n# caller\n";
    let called = "---\nevent: custom.check\npriority: 1\nscript: |\n  def handle(event, payload):\n      return modify({\"seen\": \"by the other\"})\n---\n# called\n";
    let desk = Desk::new(&[("caller", caller), ("called", called)]);
    settle();
    for _ in 0..2 {
        let (code, text) = desk.shell("ls");
        assert_eq!(code, 2);
        assert!(text.contains("by the other"), "{text}");
    }
}

#[test]
fn what_changed_since_the_review_is_told_and_blocks_where_it_is_strict() {
    let desk = Desk::new(&[("guard", &guard("aaa"))]);
    let trust = |flags: &[&str]| {
        let arguments: Vec<&str> = ["trust"].into_iter().chain(flags.iter().copied()).collect();
        desk.run(&arguments, "").status.code().unwrap()
    };
    assert_eq!(trust(&["--check"]), 1, "nobody reviewed it yet");
    assert_eq!(trust(&[]), 0);
    assert_eq!(trust(&["--check"]), 0);
    assert_eq!(desk.shell("ls"), (0, String::new()));
    desk.project.hook("new", &guard("bbb"));
    let (code, text) = desk.shell("ls");
    assert_eq!(code, 0);
    assert!(text.contains(".harness/hooks/new.md was added"), "{text}");
    assert_eq!(trust(&["--check"]), 1);
    assert_eq!(trust(&["--strict"]), 0);
    assert_eq!(desk.shell("ls"), (0, String::new()));
    desk.project.hook("guard", &guard("ccc"));
    let (code, text) = desk.shell("ls");
    assert_eq!(code, 2);
    assert!(
        text.contains(".harness/hooks/guard.md was changed"),
        "{text}"
    );
    assert!(text.contains("hookbox trust"), "{text}");
    // Strictness stays until it is revoked.
    assert_eq!(trust(&[]), 0);
    std::fs::remove_file(desk.path().join(".harness/hooks/new.md")).unwrap();
    assert_eq!(desk.shell("ls").0, 2);
    assert_eq!(trust(&["--revoke"]), 0);
    assert_eq!(desk.shell("ls").0, 0);
}

#[test]
fn a_changed_entry_in_the_agents_settings_is_noticed() {
    let desk = Desk::new(&[("guard", &guard("aaa"))]);
    let installed = desk.run(&["install", "claude-code", "--project"], "");
    assert!(installed.status.success(), "{installed:?}");
    assert!(desk.run(&["trust", "--strict"], "").status.success());
    assert_eq!(desk.shell("ls").0, 0);
    let settings = desk.path().join(".claude/settings.json");
    let text = std::fs::read_to_string(&settings).unwrap();
    // What is not hookbox's does not count.
    let other = text.replacen('{', "{\n  \"model\": \"x\",", 1);
    std::fs::write(&settings, &other).unwrap();
    assert_eq!(desk.shell("ls").0, 0);
    std::fs::write(&settings, other.replace("\"block\"", "\"continue\"")).unwrap();
    let (code, told) = desk.shell("ls");
    assert_eq!(code, 2, "{told}");
    assert!(told.contains("the entry for claude-code"), "{told}");
}

#[test]
fn an_agent_cannot_change_what_guards_it() {
    let desk = Desk::new(&[("guard", &guard("aaa"))]);
    let hook = desk.path().join(".harness/hooks/guard.md");
    for (tool, input) in [
        ("Bash", json!({"command": "rm -rf .harness"})),
        (
            "Bash",
            json!({"command": "echo x > .har\"\"ness/hooks/guard.md"}),
        ),
        ("Bash", json!({"command": "hookbox trust"})),
        ("Write", json!({"file_path": hook, "content": ""})),
        (
            "Edit",
            json!({"file_path": ".claude/settings.json", "old_string": "a", "new_string": "b"}),
        ),
    ] {
        let (code, text) = desk.ask(tool, &input);
        assert_eq!(code, 2, "{input}");
        assert!(text.contains("hookbox.self_defence"), "{text}");
    }
    for (tool, input) in [
        ("Bash", json!({"command": "cat .harness/hooks/guard.md"})),
        ("Read", json!({"file_path": hook})),
        (
            "Write",
            json!({"file_path": "notes.md", "content": "edit .harness/ later"}),
        ),
    ] {
        assert_eq!(desk.ask(tool, &input).0, 0, "{input}");
    }
    desk.project.file("hookbox.toml", "self_defence = false\n");
    assert_eq!(desk.shell("rm -rf .harness").0, 0);
}

#[test]
fn a_project_can_record_every_event() {
    let desk = Desk::new(&[("guard", &guard("aaa"))]);
    desk.project.file(".hookbox/config.toml", "record = true\n");
    assert_eq!(desk.shell("echo aaa").0, 2);
    assert_eq!(desk.shell("echo bbb").0, 0);
    let tapes = desk.path().join(".hookbox/tapes");
    let tape = std::fs::read_dir(&tapes)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let tape = tape.display().to_string();
    for arguments in [["tape", "verify", &tape].as_slice(), &["replay", &tape]] {
        let output = desk.run(arguments, "");
        assert!(output.status.success(), "{output:?}");
    }
    // Today's hooks decide the same, hookbox's own among them.
    let checked = desk.run(&["replay", &tape, "--check", "--project", "."], "");
    assert!(checked.status.success(), "{checked:?}");
    let shown = desk.run(&["replay", &tape, "--json"], "");
    let text = String::from_utf8_lossy(&shown.stdout);
    assert!(text.contains("hookbox.self_defence"), "{text}");
    // Two places for one file of settings is one too many.
    desk.project.file("hookbox.toml", "");
    assert_eq!(desk.shell("echo bbb").0, 2);
}

#[test]
fn what_defends_itself_says_the_same_on_another_machine() {
    let desk = Desk::new(&[("guard", &guard("aaa"))]);
    desk.project.file(".hookbox/config.toml", "record = true\n");
    // A link that the other machine does not have, and a place where that has nothing.
    std::os::unix::fs::symlink(".harness", desk.path().join("innocent")).unwrap();
    let named = desk.path().join(".harness/hooks/guard.md");
    for command in [
        format!("rm {}", named.display()),
        "rm -r innocent/*".to_owned(),
    ] {
        let (code, text) = desk.shell(&command);
        assert_eq!(code, 2, "{command}");
        assert!(text.contains("hookbox.self_defence"), "{text}");
    }
    assert_eq!(desk.shell("rm -r guilty/*").0, 0);
    let other = Desk::new(&[("guard", &guard("aaa"))]);
    std::os::unix::fs::symlink(".harness", other.path().join("guilty")).unwrap();
    let tapes = desk.path().join(".hookbox/tapes").display().to_string();
    for (how, told) in [
        (
            ["--check", "--project", "."].as_slice(),
            "today's hooks do the same",
        ),
        (&["--against", "."], "3  kept"),
    ] {
        let output = other.run(&[&["replay", &tapes], how].concat(), "");
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{how:?}: {text}");
        assert!(text.contains(told), "{how:?}: {text}");
    }
}

#[test]
fn a_tape_that_cannot_be_written_blocks_only_where_it_is_required() {
    let desk = Desk::new(&[("guard", &guard("aaa"))]);
    desk.project.file("file", "");
    desk.project
        .file("hookbox.toml", "record = \"file/tapes\"\n");
    let (code, text) = desk.shell("ls");
    assert_eq!(code, 0);
    assert!(text.contains("tape"), "{text}");
    desk.project.file(
        "hookbox.toml",
        "record = \"file/tapes\"\ntape = \"required\"\n",
    );
    assert_eq!(desk.shell("ls").0, 2);
}

#[test]
fn an_agent_that_leaves_its_project_is_guarded_all_the_same() {
    let desk = Desk::new(&[("guard", &guard("aaa"))]);
    let elsewhere = tempfile::tempdir().unwrap();
    let said = json!({
        "hook_event_name": "PreToolUse", "cwd": elsewhere.path(), "tool_name": "Bash",
        "tool_input": {"command": "echo aaa"}, "tool_use_id": "u",
    });
    let asked = |started_in: Option<&Path>| {
        let mut command = desk.command(&["hook", "claude-code", "--event", "PreToolUse"]);
        command.current_dir(elsewhere.path());
        match started_in {
            Some(path) => command.env("CLAUDE_PROJECT_DIR", path),
            None => command.env_remove("CLAUDE_PROJECT_DIR"),
        };
        let mut child = command.spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(said.to_string().as_bytes()).unwrap();
        drop(stdin);
        child.wait_with_output().unwrap().status.code()
    };
    assert_eq!(asked(Some(&desk.path())), Some(2));
    assert_eq!(asked(None), Some(0), "there is no project here");
    // Nor do hooks count that it finds, or made, elsewhere.
    std::fs::create_dir_all(elsewhere.path().join(".harness/hooks")).unwrap();
    assert_eq!(asked(Some(&desk.path())), Some(2));
}

#[test]
fn an_entry_that_is_not_understood_refuses_what_it_guards() {
    let desk = Desk::new(&[("guard", &guard("aaa"))]);
    for (arguments, code, told) in [
        (
            [
                "hook",
                "claude-code",
                "--event",
                "PreToolUse",
                "--newer",
                "x",
            ]
            .as_slice(),
            2,
            "deny",
        ),
        (
            &["hook", "codex", "--event", "PreToolUse", "--project"],
            2,
            "install",
        ),
        (&["hook", "codex", "--event"], 2, "install"),
        (
            &["hook", "cline", "--event", "PreToolUse", "--newer"],
            0,
            "\"cancel\":true",
        ),
        (
            &["hook", "claude-code", "--event", "SessionEnd", "--newer"],
            0,
            "understood",
        ),
        (&["hook", "nobody", "--event", "PreToolUse"], 2, "nobody"),
        (&["hook"], 2, "understood"),
        (&["hook", "--help"], 0, "Usage"),
    ] {
        let output = desk.run(arguments, "{}");
        let text =
            String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {text}");
        assert!(text.contains(told), "{arguments:?}: {text}");
    }
}

#[test]
fn a_project_whose_hooks_are_gone_refuses_and_not_only_without_its_folders() {
    let desk = Desk::new(&[("guard", &guard("aaa"))]);
    desk.project.file("hookbox.toml", "");
    settle();
    assert_eq!(desk.shell("ls").0, 0);
    std::fs::remove_file(desk.path().join(".harness/hooks/guard.md")).unwrap();
    for _ in 0..2 {
        let (code, text) = desk.shell("ls");
        assert_eq!(code, 2);
        assert!(text.contains("there are no hooks in"), "{text}");
    }
}

#[test]
fn tapes_stay_in_the_project() {
    let desk = Desk::new(&[("guard", &guard("aaa"))]);
    for folder in ["/tmp/elsewhere", "../elsewhere", "", "a/../../b"] {
        desk.project
            .file("hookbox.toml", format!("record = {folder:?}\n"));
        let (code, text) = desk.shell("ls");
        assert_eq!(code, 2, "{folder}");
        assert!(text.contains("record must be"), "{text}");
    }
}

#[test]
fn run_shows_what_an_agent_would_be_told() {
    let desk = Desk::new(&[("guard", &guard("aaa"))]);
    let said = json!({
        "hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": desk.path(),
        "tool_input": {"command": "echo aaa"}, "tool_use_id": "u",
    });
    desk.project.file("captured.json", said.to_string());
    let output = desk.run(
        &["run", "--agent", "codex", "--payload", "@captured.json"],
        "",
    );
    assert_eq!(output.status.code(), Some(2));
    insta::assert_snapshot!("run_agent", String::from_utf8_lossy(&output.stdout));
    let output = desk.run(
        &[
            "run",
            "PreToolUse",
            "--agent",
            "claude-code",
            "--payload",
            "@captured.json",
            "--json",
        ],
        "",
    );
    let reply: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(reply["code"], 2);
    assert!(reply["stdout"].as_str().unwrap().contains("deny"));
}

#[test]
fn all_that_an_agent_says_of_a_prompt_can_be_seen() {
    let hook = |body: &str| {
        format!(
            "---\nevent: custom.prompt\npriority: 1\nscript: |\n  def handle(event, payload):\n      {body}\n---\n# prompt\n"
        )
    };
    let seen = hook(
        "return block(payload[\"prompt\"] + \" in \" + payload[\"agent\"][\"payload\"][\"session_id\"])",
    );
    let ask = |desk: &Desk| {
        let said = json!({
            "hook_event_name": "UserPromptSubmit", "session_id": "s1", "cwd": desk.path(),
            "prompt": "hello",
        });
        let arguments = ["hook", "claude-code", "--event", "UserPromptSubmit"];
        let output = desk.run(&arguments, &said.to_string());
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code().unwrap(), text)
    };
    let desk = Desk::new(&[("guard", &guard("aaa")), ("prompt", &seen)]);
    settle();
    for _ in 0..3 {
        let (code, text) = ask(&desk);
        assert_eq!(code, 2, "{text}");
        assert!(text.contains("hello in s1"), "{text}");
    }
    // It waits for the answer, so one that fails is a no.
    let desk = Desk::new(&[("prompt", &hook("fail(\"on purpose\")"))]);
    assert_eq!(ask(&desk).0, 2);
    let desk = Desk::new(&[("prompt", &hook("return allow()"))]);
    assert_eq!(ask(&desk), (0, String::new()));
}

#[test]
fn explain_says_what_an_agent_cannot_be_told() {
    let desk = Desk::new(&[("guard", &guard("aaa"))]);
    let output = desk.run(&["explain", "--agent", "codex"], "");
    insta::assert_snapshot!("explain_agent", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn the_page_about_agents_has_the_tables_of_the_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/agents.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let (start, end) = ("<!-- tables: generated -->\n", "<!-- end of tables -->");
    let (head, rest) = page.split_once(start).unwrap();
    let (tables, tail) = rest.split_once(end).unwrap();
    let wanted = format!("\n{}", table::markdown());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(&path, format!("{head}{start}{wanted}{end}{tail}")).unwrap();
        return;
    }
    assert!(
        tables == wanted,
        "docs/agents.md is out of date: run this test with UPDATE_DOCS=1"
    );
}

/// Starts a call that waits for its input, and lets it abort as a full stack does.
#[cfg(target_os = "linux")]
fn aborted(desk: &Desk, event: &str, patience: Duration) -> Output {
    let project = desk.path();
    let arguments = ["hook", "claude-code", "--event", event, "--project"];
    let mut command = desk.command(&arguments);
    let mut child = command
        .arg(project)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let status = format!("/proc/{}/status", child.id());
    let is_ready = || {
        let status = std::fs::read_to_string(&status).unwrap();
        let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = u64::from_str_radix(caught.unwrap().trim(), 16).unwrap();
        caught & (1 << 5) != 0
    };
    let until = std::time::Instant::now() + patience;
    while !is_ready() && std::time::Instant::now() < until {
        std::thread::sleep(Duration::from_millis(5));
    }
    let killed = Command::new("kill")
        .args(["-ABRT", &child.id().to_string()])
        .status();
    assert!(killed.unwrap().success());
    let input = child.stdin.take();
    let output = child.wait_with_output().unwrap();
    drop(input);
    output
}

#[cfg(target_os = "linux")]
#[test]
fn attack_a_call_that_aborts_is_a_no_where_an_action_waits() {
    let desk = Desk::new(&[]);
    let output = aborted(&desk, "PreToolUse", Duration::from_secs(60));
    assert_eq!(output.status.code(), Some(2), "{output:?}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_call_that_aborts_where_nothing_waits_is_no_answer() {
    let desk = Desk::new(&[]);
    let output = aborted(&desk, "SessionEnd", Duration::from_millis(300));
    assert_eq!(output.status.code(), None, "{output:?}");
}
