//! `hookbox serve`, as agents, programs and attackers on the same machine see it.

#![cfg(unix)]

mod support;

#[path = "serve/answers.rs"]
mod answers;
#[path = "serve/asked_by_hook.rs"]
mod asked_by_hook;
#[path = "serve/attackers.rs"]
mod attackers;
#[path = "serve/life.rs"]
mod life;
#[path = "serve/reload.rs"]
mod reload;
#[path = "serve/started.rs"]
mod started;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use serde_json::{Value, json};
use support::server::{Server, ok};
use support::serving::{Answer, Left, Serving, command, hook, left, read, request, send};
use support::{Project, hook_file, warm_up};

const GUARD: &str = r#"def handle(event, payload):
    command = payload["args"].get("command", "")
    if command == "boom":
        fail("it broke")
    if "rm -rf" in command:
        metrics.incr("denied")
        return block("dangerous command")
    if command == "deploy":
        return ask("deploy now?")
    if command == "tidy":
        return modify({"args": {"command": "tidy --safely"}})
    return allow()"#;

const PROMPT: &str = r#"def handle(event, payload):
    if "secret" in json.encode(payload):
        return block("no secrets")
    return allow()"#;

fn guarded() -> Project {
    Project::with(&[
        ("guard", &hook_file("tool.pre", "priority: 10", GUARD)),
        ("prompt", &hook_file("turn.start", "priority: 10", PROMPT)),
    ])
}

/// A hook that says no in these words.
fn saying(words: &str) -> String {
    let script = format!("def handle(event, payload):\n    return block(\"{words}\")");
    hook_file("tool.pre", "priority: 10", &script)
}

fn bash(project: &Path, command: &str) -> String {
    json!({
        "hook_event_name": "PreToolUse", "session_id": "s", "cwd": project,
        "tool_name": "Bash", "tool_input": {"command": command},
    })
    .to_string()
}

fn event(project: &Path, command: &str) -> String {
    let payload = support::command(command);
    json!({"event": "tool.pre", "payload": payload, "project": project}).to_string()
}

/// Why the project's hooks say no to a command.
fn reason(serving: &Serving, project: &Project, command: &str) -> String {
    let answer = serving.post("/v1/dispatch", event(project.path(), command));
    assert_eq!(answer.status, 200, "{answer:?}");
    let outcome = answer.json();
    assert_eq!(outcome["decision"], "block", "{outcome}");
    outcome["reason"].as_str().unwrap().to_owned()
}

/// The cache that all tests share, whatever home some of them pretend to have.
fn common_cache() -> PathBuf {
    match std::env::var_os("HOOKBOX_CACHE_DIR") {
        Some(given) => given.into(),
        None => dirs::cache_dir().unwrap().join("hookbox"),
    }
}

fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{what} never came");
}

/// A hook that waits for a server of the test, which waits for the test.
fn waiting() -> (Project, Server, mpsc::Sender<()>) {
    let (go, going) = mpsc::channel::<()>();
    let going = Mutex::new(going);
    let server = Server::serving(move |_, stream| {
        let _ = going.lock().unwrap().recv();
        let _ = stream.write_all(&ok("go"));
    });
    let more = format!(
        "priority: 10\nlimits: {{ wall_time: 60s }}\ngrant:\n  http: [{{ allow: \"GET {}\", timeout: 50s }}]",
        server.url("/*")
    );
    let script = format!(
        "def handle(event, payload):\n    return block(http.get('{}')['body'])",
        server.url("/")
    );
    let project = Project::with(&[("probe", &hook_file("tool.pre", &more, &script))]);
    (project, server, go)
}

fn refused_to_start(folder: &Path, arguments: &[&str]) -> String {
    let output = command(folder, arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}
