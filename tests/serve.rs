//! `hookbox serve`, as agents, programs and attackers on the same machine see it.

#![cfg(unix)]

mod support;

use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, mpsc};
use std::time::Duration;

use serde_json::{Value, json};
use support::server::{Server, ok};
use support::serving::{Left, Serving, command, hook, read, request, send};
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

fn until(what: &str, holds: impl Fn() -> bool) {
    for _ in 0..6_000 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("{what} never came");
}

/// Checks a value against the part of JSON Schema that the API's schema uses.
fn fits(schema: &Value, rule: &Value, value: &Value, place: &str) {
    if let Some(name) = rule["$ref"].as_str() {
        let name = name.strip_prefix("#/$defs/").unwrap();
        let rule = &schema["$defs"][name];
        assert!(rule.is_object(), "no {name}");
        return fits(schema, rule, value, place);
    }
    if let Some(any) = rule["anyOf"].as_array() {
        let null = any.iter().any(|rule| rule["type"] == "null");
        assert!(null, "{place}");
        if !value.is_null() {
            fits(schema, &any[0], value, place);
        }
        return;
    }
    let kind = match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::Number(number) if number.is_f64() => "number",
        Value::Number(_) => "integer",
    };
    let is = |wanted: &Value| wanted == kind || wanted == "number" && kind == "integer";
    let typed = match &rule["type"] {
        Value::Array(kinds) => kinds.iter().any(is),
        Value::Null => true,
        wanted => is(wanted),
    };
    assert!(typed, "{place}: {value} is not {}", rule["type"]);
    if let Some(words) = rule["enum"].as_array() {
        assert!(words.contains(value), "{place}: {value}");
    }
    for (index, item) in value.as_array().into_iter().flatten().enumerate() {
        fits(schema, &rule["items"], item, &format!("{place}[{index}]"));
    }
    let Some(object) = value.as_object() else {
        return;
    };
    for key in rule["required"].as_array().into_iter().flatten() {
        assert!(
            object.contains_key(key.as_str().unwrap()),
            "{place}: no {key}"
        );
    }
    for (key, value) in object {
        let place = format!("{place}.{key}");
        match (&rule["properties"][key], &rule["additionalProperties"]) {
            (Value::Null, Value::Bool(false)) => panic!("{place} is not known"),
            (Value::Null, more) => fits(schema, more, value, &place),
            (known, _) => fits(schema, known, value, &place),
        }
    }
}

#[test]
fn every_answer_is_what_the_schema_says() {
    let project = guarded();
    let path = project.path().to_str().unwrap();
    let serving = Serving::start(&["--project", path]);
    let schema = serving.get("/v1/schema");
    assert!(schema.head.contains("application/schema+json"));
    assert_eq!(schema.body, include_str!("../docs/serve.schema.json"));
    let schema = schema.json();
    let check = |name: &str, value: &Value| {
        fits(
            &schema,
            &json!({"$ref": format!("#/$defs/{name}")}),
            value,
            name,
        );
    };

    for command in ["ls", "rm -rf build", "deploy", "tidy", "boom"] {
        let asked = event(project.path(), command);
        check("dispatch", &serde_json::from_str(&asked).unwrap());
        let answer = serving.post("/v1/dispatch", asked);
        assert_eq!(answer.status, 200, "{answer:?}");
        check("outcome", &answer.json());
    }
    // The only project of the server need not be named.
    let asked =
        r#"{"event":"tool.pre","payload":{"name":"run_command","args":{"command":"tidy"}}}"#;
    let outcome = serving.post("/v1/dispatch", asked).json();
    assert_eq!(outcome["decision"], "modify");
    assert_eq!(outcome["payload"]["args"]["command"], "tidy --safely");

    let reply = serving.post("/v1/hook/claude-code", bash(project.path(), "rm -rf build"));
    check("hook-reply", &reply.json());
    assert_eq!(reply.json()["code"], 2);
    assert!(reply.head.contains("hookbox-version: "));

    let path = "/v1/agents/claude-code/PreToolUse";
    let reply = serving
        .post(path, bash(project.path(), "rm -rf build"))
        .json();
    check("agent-reply", &reply);
    assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "deny");
    assert_eq!(serving.post(path, bash(project.path(), "ls")).body, "{}");

    let health = serving.get("/v1/health").json();
    check("health", &health);
    assert_eq!(health["version"], env!("CARGO_PKG_VERSION"));
    let reloaded = serving.post("/v1/reload", "").json();
    check("reload", &reloaded);
    assert_eq!(reloaded["projects"][0]["hooks"], 3);

    let wrong: &[(&str, &str, &str)] = &[
        ("/v1/nothing", "", "404 path"),
        ("/v1/hook/nobody", "{}", "404 agent"),
        ("/v1/health", "", "405 method"),
        ("/v1/dispatch", "{", "400 json"),
        ("/v1/dispatch", "[]", "400 request"),
        ("/v1/dispatch", "{\"event\":\"tool.pre\"}", "400 request"),
        (
            "/v1/dispatch",
            "{\"event\":1,\"payload\":{}}",
            "400 request",
        ),
        (
            "/v1/dispatch",
            "{\"event\":\"a\",\"event\":\"b\"}",
            "400 json",
        ),
        (
            "/v1/dispatch",
            "{\"event\":\"x\",\"payload\":{},\"y\":1}",
            "400 request",
        ),
        (
            "/v1/dispatch",
            "{\"event\":\"nope\",\"payload\":{}}",
            "422 unknown_event",
        ),
        (
            "/v1/dispatch",
            "{\"event\":\"tool.pre\",\"payload\":7}",
            "422 payload",
        ),
        (
            "/v1/dispatch",
            "{\"event\":\"tool.pre\",\"payload\":{},\"project\":\"/no/such\"}",
            "404 project",
        ),
        ("/v1/dispatch?project=/x", "{}", "400 request"),
        ("/v1/hook/claude-code?project=relative", "{}", "400 request"),
        ("/v1/hook/claude-code?deadline=soon", "{}", "400 request"),
        (
            "/v1/hook/claude-code?event=Stop&event=Stop",
            "{}",
            "400 request",
        ),
        ("/v1/reload?project=/no/such", "", "404 project"),
    ];
    for (target, body, kind) in wrong {
        let answer = serving.post(target, body);
        assert_eq!(answer.kind(), *kind, "{target} {body}: {answer:?}");
        check("error", &answer.json());
    }
}

#[test]
fn who_does_not_know_the_token_learns_nothing() {
    let project = guarded();
    let serving = Serving::start(&[]);
    let good = &serving.token;
    let heads = [
        String::new(),
        "Authorization: Bearer\r\n".to_owned(),
        "Authorization: Bearer \r\n".to_owned(),
        format!("Authorization: Bearer {}\r\n", "0".repeat(good.len())),
        format!("Authorization: Bearer {}\r\n", &good[1..]),
        format!("Authorization: Bearer {good}0\r\n"),
        format!("Authorization: Basic {good}\r\n"),
        format!("Authorization: Bearer {good}\r\nAuthorization: Bearer x\r\n"),
        format!("X-Authorization: Bearer {good}\r\n"),
    ];
    for head in heads {
        let head = format!("Host: localhost\r\n{head}");
        for line in [
            "GET /v1/health",
            "GET /metrics",
            "GET /v1/schema",
            "GET /v1/nothing",
            "POST /v1/dispatch",
            "POST /v1/reload",
            "POST /v1/hook/claude-code",
        ] {
            let body = event(project.path(), "ls");
            let request = request(line, &head, body.as_bytes());
            for answer in [
                send(&mut serving.connect(), &request),
                send(&mut serving.connect_port(), &request),
            ] {
                assert_eq!(answer.kind(), "401 token", "{head}{line}");
            }
        }
        // An agent would take a 401 for a broken hook, and go on.
        let body = bash(project.path(), "ls");
        let line = "POST /v1/agents/claude-code/PreToolUse";
        let answer = send(
            &mut serving.connect_port(),
            &request(line, &head, body.as_bytes()),
        );
        assert_eq!(answer.status, 200);
        let specific = &answer.json()["hookSpecificOutput"];
        assert_eq!(specific["permissionDecision"], "deny", "{answer:?}");
    }
    // The project was not even looked at.
    assert_eq!(serving.get("/v1/health").json()["projects"], json!([]));
}

#[test]
fn pages_in_a_browser_are_refused() {
    let serving = Serving::start(&[]);
    let token = format!("Authorization: Bearer {}\r\n", serving.token);
    let ask = |head: &str| {
        let request = request("GET /v1/health", &format!("{token}{head}"), b"");
        send(&mut serving.connect_port(), &request)
    };
    for own in ["localhost", "LOCALHOST:80", "127.0.0.1:4711", "[::1]:4711"] {
        assert_eq!(ask(&format!("Host: {own}\r\n")).status, 200, "{own}");
    }
    for foreign in ["evil.example", "localhost.evil.example", "10.0.0.1", ""] {
        let answer = ask(&format!("Host: {foreign}\r\n"));
        assert_eq!(answer.kind(), "403 host", "{foreign}");
    }
    assert_eq!(ask("").kind(), "403 host");
    let both = "Host: localhost\r\nHost: evil.example\r\n";
    assert_eq!(ask(both).kind(), "403 host");
    for origin in ["http://localhost", "https://evil.example", "null"] {
        let answer = ask(&format!("Host: localhost\r\nOrigin: {origin}\r\n"));
        assert_eq!(answer.kind(), "403 origin");
    }
    let line = "GET http://evil.example/v1/health";
    let request = request(line, &format!("Host: localhost\r\n{token}"), b"");
    let answer = send(&mut serving.connect_port(), &request);
    assert_eq!(answer.kind(), "403 host");
}

#[test]
fn clients_that_are_too_large_slow_or_gone_hold_nobody_up() {
    let project = guarded();
    let serving = Serving::start(&[]);
    let head = format!(
        "Host: localhost\r\nAuthorization: Bearer {}\r\n",
        serving.token
    );
    let size = (64 << 20) + 1;
    let large = format!("POST /v1/dispatch HTTP/1.1\r\n{head}Content-Length: {size}\r\n\r\n");
    let answer = send(&mut serving.connect(), large.as_bytes());
    assert_eq!(answer.kind(), "413 too_large");
    // To an agent that is a no, like everything else.
    let large = large.replace("/v1/dispatch", "/v1/agents/claude-code/PreToolUse");
    let answer = send(&mut serving.connect(), large.as_bytes());
    assert!(
        answer.status == 200 && answer.body.contains("deny"),
        "{answer:?}"
    );
    // A head without an end.
    let endless = format!("GET /v1/health HTTP/1.1\r\nX: {}", "x".repeat(1 << 20));
    let answer = send(&mut serving.connect(), endless.as_bytes());
    assert_eq!(answer.status, 431);

    let whole = serving.request("POST /v1/dispatch", event(project.path(), "ls").as_bytes());
    for cut in [0, 1, 20, whole.len() / 2, whole.len() - 1] {
        let mut stream = serving.connect();
        stream.write_all(&whole[..cut]).unwrap();
    }
    let slow: Vec<_> = (0..100)
        .map(|index| {
            let mut stream = serving.connect_port();
            let cut = whole.len() * index / 100;
            stream.write_all(&whole[..cut]).unwrap();
            stream
        })
        .collect();
    assert_eq!(serving.get("/v1/health").status, 200);
    let health = serving.request("GET /v1/health", b"");
    assert_eq!(send(&mut serving.connect_port(), &health).status, 200);
    for (index, mut stream) in slow.into_iter().enumerate() {
        match read(&mut stream) {
            // Whoever sent a head is told what is missing.
            Some(answer) => assert_eq!(answer.kind(), "408 slow", "{index}"),
            None => assert_eq!(stream.read(&mut [0]).unwrap_or(0), 0, "{index}"),
        }
    }
    assert_eq!(
        reason(&serving, &project, "rm -rf build"),
        "dangerous command"
    );
}

#[test]
fn one_connection_takes_many_requests() {
    let project = guarded();
    let serving = Serving::start(&[]);
    let mut stream = serving.connect();
    for command in ["ls", "rm -rf build", "ls"] {
        let body = event(project.path(), command);
        let answer = send(
            &mut stream,
            &serving.request("POST /v1/dispatch", body.as_bytes()),
        );
        let wanted = if command == "ls" { "allow" } else { "block" };
        assert_eq!(answer.json()["decision"], wanted);
    }
}

#[test]
fn two_agents_work_in_one_project_at_once() {
    let project = guarded();
    let serving = Serving::start(&[]);
    std::thread::scope(|scope| {
        for agent in ["claude-code", "codex"] {
            for _ in 0..4 {
                let (serving, project) = (&serving, &project);
                scope.spawn(move || {
                    for round in 0..10 {
                        let command = if round % 2 == 0 { "ls" } else { "rm -rf build" };
                        let target = format!("/v1/hook/{agent}");
                        let answer = serving.post(&target, bash(project.path(), command));
                        assert_eq!(answer.status, 200);
                        let refused = answer.body.contains("dangerous command");
                        assert_eq!(refused, round % 2 == 1, "{answer:?}");
                    }
                });
            }
        }
    });
    let metrics = serving.get("/metrics").body;
    for line in [
        "hookboxserve_requests_total{route=\"hook\",status=\"200\"} 80",
        "hookboxserve_decision_seconds_count{agent=\"codex\",event=\"PreToolUse\",decision=\"block\"} 20",
        "hookboxserve_decision_seconds_count{agent=\"claude-code\",event=\"PreToolUse\",decision=\"pass\"} 20",
        "hookboxserve_projects 1",
    ] {
        assert!(metrics.contains(line), "{line}\n{metrics}");
    }
    let path = project.path().canonicalize().unwrap();
    let denied = format!(
        "hookbox_denied_total{{name=\"denied\",project=\"{}\"}} 40",
        path.display()
    );
    assert!(metrics.contains(&denied), "{metrics}");
}

#[test]
fn an_edit_holds_from_the_next_event_on() {
    let project = Project::with(&[("guard", &saying("one"))]);
    let serving = Serving::start(&["--project", project.path().to_str().unwrap()]);
    assert_eq!(reason(&serving, &project, "ls"), "one");
    // Of the same length, at once, and again.
    for words in ["two", "six", "ten", "two"] {
        project.hook("guard", &saying(words));
        assert_eq!(reason(&serving, &project, "ls"), words);
    }
    let allowing = "def handle(event, payload):\n    metrics.incr('seen')\n    return allow()";
    project.hook("guard", &hook_file("tool.pre", "priority: 10", allowing));
    project.hook(
        "late",
        &hook_file("tool.pre", "priority: 20", &{
            "def handle(event, payload):\n    return block(str(metrics.get('seen')))".to_owned()
        }),
    );
    assert_eq!(reason(&serving, &project, "ls"), "1");
    // What hooks counted stays.
    assert_eq!(serving.post("/v1/reload", "").status, 200);
    assert_eq!(reason(&serving, &project, "ls"), "2");
    std::fs::remove_file(project.path().join(".harness/hooks/late.md")).unwrap();
    let answer = serving.post("/v1/dispatch", event(project.path(), "ls"));
    assert_eq!(answer.json()["decision"], "allow");
}

#[test]
fn a_hook_file_elsewhere_is_watched_as_well() {
    let project = Project::new();
    project.file("hookbox.toml", "hooks = [\"policies/guard.md\"]\n");
    project.file("policies/guard.md", saying("one"));
    let serving = Serving::start(&[]);
    assert_eq!(reason(&serving, &project, "ls"), "one");
    project.file("policies/guard.md", saying("two"));
    assert_eq!(reason(&serving, &project, "ls"), "two");
}

#[test]
fn a_broken_project_says_no_until_it_is_repaired() {
    let project = Project::with(&[("guard", "---\nevent: nonsense\n---\n")]);
    let path = project.path().to_str().unwrap();
    let serving = Serving::start(&["--project", path, "--project", "/no/such/project"]);
    let agent = "/v1/agents/claude-code/PreToolUse";
    for round in 0..2 {
        let answer = serving.post("/v1/dispatch", event(project.path(), "ls"));
        assert_eq!(answer.kind(), "503 load");
        let answer = serving.post(agent, bash(project.path(), "ls"));
        assert_eq!(answer.status, 200);
        assert!(answer.body.contains("\"deny\"") && answer.body.contains("does not load"));
        let answer = serving.post("/v1/hook/claude-code", bash(project.path(), "ls"));
        assert_eq!(answer.json()["code"], 2, "{answer:?}");
        let answer = serving.post("/v1/reload", "");
        assert_eq!(answer.status, 503);
        assert_eq!(answer.json()["projects"][0]["error"]["kind"], "load");
        project.hook("guard", &saying("repaired"));
        assert_eq!(reason(&serving, &project, "ls"), "repaired");
        assert_eq!(serving.post("/v1/reload", "").status, 200);
        if round == 0 {
            project.hook("guard", "---\nevent: tool.pre\nscript: |\n  def\n---\n");
        }
    }
}

#[test]
fn a_question_is_the_outcome_for_a_program_and_goes_on_to_an_agents_person() {
    let project = guarded();
    let serving = Serving::start(&[]);
    // In turns, so that the same threads do both.
    for _ in 0..3 {
        let answer = serving.post("/v1/dispatch", event(project.path(), "deploy"));
        assert_eq!(answer.json()["decision"], "ask");
        assert_eq!(answer.json()["reason"], "deploy now?");
        let agent = "/v1/agents/claude-code/PreToolUse";
        let answer = serving.post(agent, bash(project.path(), "deploy")).json();
        assert_eq!(answer["hookSpecificOutput"]["permissionDecision"], "ask");
    }
}

#[test]
fn hook_answers_the_same_with_and_without_a_server() {
    let project = guarded();
    let root = project.path();
    let elsewhere = tempfile::tempdir().unwrap();
    let serving = Serving::start(&[]);
    let gone = root.join("gone").display().to_string();
    let named = root.display().to_string();
    let prompt = |text: &str, event: &str| {
        json!({"hook_event_name": event, "session_id": "s", "cwd": root, "prompt": text})
            .to_string()
    };
    let pre: &[&str] = &["claude-code", "--event", "PreToolUse"];
    let in_gone: &[&str] = &["claude-code", "--project", &gone];
    let in_named: &[&str] = &["claude-code", "--project", &named];
    let table: Vec<(&[&str], String)> = vec![
        (pre, bash(root, "ls")),
        (pre, bash(root, "rm -rf build")),
        (pre, bash(root, "deploy")),
        (pre, bash(root, "tidy")),
        (pre, bash(root, "boom")),
        (pre, bash(elsewhere.path(), "rm -rf build")),
        (pre, String::new()),
        (pre, "no JSON".to_owned()),
        (pre, "[1, 2]".to_owned()),
        (pre, "{\"a\":1,\"a\":2}".to_owned()),
        (pre, prompt("hello", "UserPromptSubmit")),
        (
            pre,
            json!({"hook_event_name": "PreToolUse", "cwd": root}).to_string(),
        ),
        (&["claude-code"], bash(root, "rm -rf build")),
        (&["claude-code"], "{}".to_owned()),
        (&["claude-code"], prompt("a secret", "UserPromptSubmit")),
        (&["claude-code"], prompt("hello", "UserPromptSubmit")),
        (&["claude-code"], prompt("x", "Notification")),
        (&["claude-code"], prompt("x", "NoSuchEvent")),
        (&["claude-code", "--event", "Nonsense"], prompt("x", "Stop")),
        (in_gone, bash(root, "ls")),
        (in_named, bash(elsewhere.path(), "rm -rf build")),
        (
            &["claude-code", "--project", "."],
            bash(elsewhere.path(), "rm -rf build"),
        ),
        (&["claude-code", "--project", "gone"], bash(root, "ls")),
        (&["codex"], bash(root, "rm -rf build")),
        (&["codex"], bash(root, "deploy")),
        (&["codex"], bash(root, "tidy")),
        (
            &["gemini"],
            bash(root, "rm -rf build").replace("PreToolUse", "BeforeTool"),
        ),
    ];
    let known: Vec<&str> = hookbox::agent::ALL.iter().map(|agent| agent.name).collect();
    let mut served = 0;
    for (arguments, input) in &table {
        if !known.contains(&arguments[0]) {
            continue;
        }
        let here = serving.hook(false, arguments, input.as_bytes(), root);
        let there = serving.hook(true, arguments, input.as_bytes(), root);
        assert_eq!(here, there, "{arguments:?} {input}");
        served += u32::from(!arguments.contains(&"gone"));
    }
    // And it was the server that answered.
    let counted =
        format!("hookboxserve_requests_total{{route=\"hook\",status=\"200\"}} {served}\n");
    let metrics = serving.get("/metrics").body;
    assert!(metrics.contains(&counted), "{counted}{metrics}");
}

#[test]
fn hooks_that_see_the_surroundings_see_the_agents_own() {
    let script = "def handle(event, payload):\n    return block(env('HOOKBOX_SERVE'))";
    let more = "priority: 10\ngrant: { env: [HOOKBOX_SERVE] }";
    let project = Project::with(&[("probe", &hook_file("tool.pre", more, script))]);
    let serving = Serving::start(&[]);
    let input = bash(project.path(), "ls");
    let answer = serving.post("/v1/hook/claude-code", &input);
    assert_eq!(answer.kind(), "409 environment");
    let left = serving.hook(true, &["claude-code"], input.as_bytes(), project.path());
    assert!(
        left.stderr.contains(serving.socket.to_str().unwrap()),
        "{left:?}"
    );
}

#[test]
fn a_dead_server_is_done_without_and_replaced() {
    let project = guarded();
    let mut serving = Serving::start(&[]);
    let input = bash(project.path(), "rm -rf build");
    let ask =
        |serving: &Serving| serving.hook(true, &["claude-code"], input.as_bytes(), project.path());
    let before = ask(&serving);
    assert_eq!(before.code, Some(2));
    serving.signal("-KILL");
    serving.wait();
    assert!(serving.socket.exists(), "a killed server cannot clean up");
    assert_eq!(ask(&serving), before);

    let empty = tempfile::tempdir().unwrap();
    let folder = std::mem::replace(&mut serving.folder, empty);
    let old = serving.token.clone();
    let again = Serving::start_in(folder, &[]);
    assert_ne!(again.token, old);
    assert_eq!(ask(&again), before);
    assert!(
        again
            .get("/metrics")
            .body
            .contains("route=\"hook\",status=\"200\"} 1\n")
    );
}

#[test]
fn a_broken_answer_is_none() {
    warm_up();
    let project = guarded();
    let input = bash(project.path(), "rm -rf build");
    let version = env!("CARGO_PKG_VERSION");
    let allows = r#"{"stdout":"","stderr":"","code":0}"#;
    let whole = |status: &str, version: &str, body: &str| {
        let length = body.len();
        format!(
            "HTTP/1.1 {status}\r\nhookbox-version: {version}\r\ncontent-length: {length}\r\n\r\n{body}"
        )
    };
    let good = whole("200 OK", version, allows);
    let mut answers = vec![
        String::new(),
        "nonsense\r\n\r\n".to_owned(),
        good[..good.len() - 1].to_owned(),
        good[..good.len() / 2].to_owned(),
        whole("500 Broken", version, allows),
        whole("404 Not Found", version, allows),
        whole("200 OK", "9.9.9", allows),
        whole("200 OK", version, "{}"),
        whole("200 OK", version, "null"),
        whole("200 OK", version, r#"{"stdout":"","stderr":"","code":"0"}"#),
        whole(
            "200 OK",
            version,
            r#"{"stdout":"","stderr":"","code":0,"more":1}"#,
        ),
        good.replace("hookbox-version", "x"),
        good.replace("content-length", "x"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let socket = folder.path().join("serve.sock");
    let listener = UnixListener::bind(&socket).unwrap();
    let mode = |path: &Path, mode: u32| {
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(mode)).unwrap();
    };
    mode(&socket, 0o600);
    let token = folder.path().join("serve.token");
    std::fs::write(&token, "t".repeat(64)).unwrap();
    mode(&token, 0o600);
    let next = Arc::new(Mutex::new(String::new()));
    let seen = Arc::new(Mutex::new(0));
    let (says, counts) = (Arc::clone(&next), Arc::clone(&seen));
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = stream.unwrap();
            let mut room = [0; 64 << 10];
            let _ = stream.read(&mut room);
            *counts.lock().unwrap() += 1;
            let _ = stream.write_all(says.lock().unwrap().as_bytes());
        }
    });
    let ask = || {
        hook(
            socket.to_str().unwrap(),
            &["claude-code"],
            input.as_bytes(),
            project.path(),
        )
    };
    let refused = |left: &Left| left.code == Some(2) && left.stderr.contains("dangerous command");
    for answer in answers.drain(..) {
        next.lock().unwrap().clone_from(&answer);
        let left = ask();
        assert!(refused(&left), "{answer}\n{left:?}");
    }
    assert_eq!(*seen.lock().unwrap(), 13);
    // What this is a test of: a whole answer counts.
    *next.lock().unwrap() = good;
    assert_eq!(ask().code, Some(0));

    // Where somebody else could have put it, nobody is asked.
    for (path, loose, tight) in [
        (folder.path(), 0o777, 0o700),
        (&socket, 0o666, 0o600),
        (&token, 0o644, 0o600),
    ] {
        mode(path, loose);
        let left = ask();
        assert!(refused(&left), "{}: {left:?}", path.display());
        mode(path, tight);
    }
    assert_eq!(ask().code, Some(0));
    assert_eq!(*seen.lock().unwrap(), 15);
}

#[test]
fn another_version_is_not_answered() {
    let serving = Serving::start(&[]);
    let head = format!(
        "Host: localhost\r\nAuthorization: Bearer {}\r\nHookbox-Version: 0.0.1\r\n",
        serving.token
    );
    let request = request("POST /v1/hook/claude-code", &head, b"{}");
    assert_eq!(send(&mut serving.connect(), &request).kind(), "409 version");
}

fn refused_to_start(folder: &Path, arguments: &[&str]) -> String {
    let output = command(folder, arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn what_others_could_reach_does_not_start() {
    let folder = tempfile::tempdir().unwrap();
    let here = folder.path();
    let told = refused_to_start(here, &["--listen", "0.0.0.0:0"]);
    assert!(told.contains("not a loopback address"), "{told}");
    let told = refused_to_start(here, &["--listen", "[::]:0"]);
    assert!(told.contains("not a loopback address"), "{told}");

    let token = here.join("token");
    let file = token.to_str().unwrap();
    std::fs::write(&token, "t".repeat(64)).unwrap();
    for mode in [0o644, 0o640, 0o602] {
        std::fs::set_permissions(&token, std::fs::Permissions::from_mode(mode)).unwrap();
        let told = refused_to_start(here, &["--token-file", file]);
        assert!(told.contains("other users can read or write it"), "{told}");
    }
    std::fs::write(&token, "short").unwrap();
    std::fs::set_permissions(&token, std::fs::Permissions::from_mode(0o600)).unwrap();
    let told = refused_to_start(here, &["--token-file", file]);
    assert!(told.contains("at least 32 printable characters"), "{told}");

    let open = here.join("open");
    std::fs::create_dir(&open).unwrap();
    std::fs::set_permissions(&open, std::fs::Permissions::from_mode(0o777)).unwrap();
    let told = refused_to_start(&open, &[]);
    assert!(told.contains("other users can write to it"), "{told}");
    std::fs::write(here.join("serve.sock"), "a file").unwrap();
    let told = refused_to_start(here, &[]);
    assert!(told.contains("is not a socket"), "{told}");
}

#[test]
fn a_second_server_says_so_and_harms_nobody() {
    let serving = Serving::start(&[]);
    let told = refused_to_start(serving.folder.path(), &[]);
    assert!(told.contains("a server already listens on"), "{told}");
    assert_eq!(serving.get("/v1/health").status, 200);
    let file = serving.socket.with_extension("token");
    assert_eq!(std::fs::read_to_string(file).unwrap().trim(), serving.token);
}

#[test]
fn files_are_the_users_own_and_go_with_the_server() {
    let mode = |path: &Path| path.symlink_metadata().unwrap().permissions().mode() & 0o777;
    let folder = tempfile::tempdir().unwrap();
    let own = folder.path().join("token");
    let mut serving = Serving::start_in(folder, &["--token-file", own.to_str().unwrap()]);
    let beside = serving.socket.with_extension("token");
    assert_eq!(mode(&serving.socket), 0o600);
    for file in [&beside, &own] {
        assert_eq!(mode(file), 0o600);
        let text = std::fs::read_to_string(file).unwrap();
        assert_eq!(text.trim(), serving.token);
        assert_eq!(text.trim().len(), 64);
    }
    serving.signal("-INT");
    assert!(serving.wait().success());
    assert!(!serving.socket.exists() && !beside.exists() && own.exists());
    // The next one takes the same token.
    let folder = std::mem::replace(&mut serving.folder, tempfile::tempdir().unwrap());
    let again = Serving::start_in(folder, &["--token-file", own.to_str().unwrap()]);
    assert_eq!(again.token, serving.token);
    assert_eq!(again.get("/v1/health").status, 200);
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

#[test]
fn what_runs_is_finished_when_the_server_is_told_to_end() {
    let (project, server, go) = waiting();
    let mut serving = Serving::start(&[]);
    let idle = serving.connect();
    let mut stream = serving.connect();
    let body = event(project.path(), "ls");
    let request = serving.request("POST /v1/dispatch", body.as_bytes());
    stream.write_all(&request).unwrap();
    until("the hook's request", || !server.arrived().is_empty());
    serving.signal("-TERM");
    until("the end of the socket", || !serving.socket.exists());
    go.send(()).unwrap();
    let answer = read(&mut stream).unwrap();
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["reason"], "go");
    assert!(serving.wait().success());
    drop(idle);
}

#[test]
fn a_server_that_dies_with_the_question_is_done_without() {
    let (project, server, go) = waiting();
    let mut serving = Serving::start(&[]);
    let socket = serving.socket.display().to_string();
    let input = bash(project.path(), "ls");
    let left = std::thread::scope(|scope| {
        let asked =
            scope.spawn(|| hook(&socket, &["claude-code"], input.as_bytes(), project.path()));
        until("the hook's request", || server.arrived().len() == 1);
        serving.signal("-KILL");
        serving.wait();
        // The same hook, in the process that asked.
        until("the second request", || server.arrived().len() == 2);
        go.send(()).unwrap();
        go.send(()).unwrap();
        asked.join().unwrap()
    });
    assert_eq!(left.code, Some(2));
    assert!(left.stderr.starts_with("go"), "{left:?}");
}

#[test]
fn an_answer_comes_in_time_whatever_the_hooks_do() {
    let (project, _server, go) = waiting();
    let serving = Serving::start(&[]);
    let input = bash(project.path(), "ls");
    let late = "no decision within 300ms";
    let target = "/v1/hook/claude-code?event=PreToolUse&deadline=300";
    let reply = serving.post(target, &input).json();
    assert_eq!(reply["code"], 2);
    assert!(reply["stderr"].as_str().unwrap().contains(late), "{reply}");
    let target = "/v1/agents/claude-code/PreToolUse?deadline=300";
    let reply = serving.post(target, &input).json();
    assert_eq!(reply["hookSpecificOutput"]["permissionDecision"], "deny");
    let answer = serving.post("/v1/dispatch?deadline=300", event(project.path(), "ls"));
    assert_eq!(answer.kind(), "504 late");
    let arguments = ["claude-code", "--event", "PreToolUse", "--deadline", "300"];
    let left = serving.hook(true, &arguments, input.as_bytes(), project.path());
    assert!(
        left.code == Some(2) && left.stderr.contains(late),
        "{left:?}"
    );
    assert!(serving.get("/metrics").body.contains("decision=\"late\""));
    drop(go);
}

#[test]
fn by_default_the_server_is_in_the_users_own_cache() {
    warm_up();
    let base = tempfile::tempdir().unwrap();
    let cache = base.path().join("cache");
    let own = std::env::var_os("HOOKBOX_CACHE_DIR")
        .map(std::path::PathBuf::from)
        .unwrap_or_else(|| dirs::cache_dir().unwrap().join("hookbox"));
    // Compiling the interpreter once for all tests is enough.
    std::fs::create_dir_all(cache.join("compiled")).unwrap();
    for entry in std::fs::read_dir(own.join("compiled")).unwrap() {
        let from = entry.unwrap().path();
        if from
            .extension()
            .is_some_and(|extension| extension == "cwasm")
        {
            let to = cache.join("compiled").join(from.file_name().unwrap());
            // Others come and go while tests run.
            let _ = std::fs::hard_link(&from, &to).or_else(|_| std::fs::copy(&from, &to).map(drop));
        }
    }
    let mut server = Command::new(env!("CARGO_BIN_EXE_hookbox"))
        .arg("serve")
        .env("HOOKBOX_CACHE_DIR", &cache)
        .stdin(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let socket = cache.join("run/serve.sock");
    until("the socket", || socket.exists());
    let directory = cache.join("run").symlink_metadata().unwrap();
    assert_eq!(directory.permissions().mode() & 0o777, 0o700);
    let project = guarded();
    let ask = |project: &Project| {
        let mut child = Command::new(env!("CARGO_BIN_EXE_hookbox"))
            .args(["hook", "claude-code"])
            .env("HOOKBOX_CACHE_DIR", &cache)
            .env_remove("HOOKBOX_SERVE")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let input = bash(project.path(), "rm -rf build");
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(input.as_bytes()).unwrap();
        drop(stdin);
        child.wait_with_output().unwrap().status.code()
    };
    assert_eq!(ask(&project), Some(2));
    let id = server.id().to_string();
    assert!(Command::new("kill").arg(&id).status().unwrap().success());
    let mut said = String::new();
    server
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert!(server.wait().unwrap().success());
    let real = cache.canonicalize().unwrap();
    let wanted = format!(
        "listening on {0}/run/serve.sock; the token is in {0}/run/serve.token\n",
        real.display()
    );
    assert_eq!(said, wanted);
    assert_eq!(ask(&project), Some(2));
}
